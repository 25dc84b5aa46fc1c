"""`python -m tests.fuzz.run TARGET [libFuzzer options]`: fuzz one target for as long as wanted, guided by coverage.

Needs atheris (`pip install -e '.[fuzz]'`). `-runs=N` or `-max_total_time=SECONDS` ends it; an input that takes more than 2
seconds, more than 300 MB, or raises anything but a CuteVizError is written to crash-... and ends it too.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import tempfile


def main() -> None:
    import atheris

    with atheris.instrument_imports(include=["cute_viz"]):
        from tests.fuzz.targets import CORPUS, TARGETS, attempt

        _import_all()  # what is imported later, when it is needed, would not guide
    from tests.fuzz.mutate import mutate_json

    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        sys.exit(f"which target? one of {', '.join(TARGETS)}")
    target = sys.argv.pop(1)
    found = tempfile.mkdtemp(prefix=f"fuzz-{target}-")

    def one(data: bytes) -> None:
        attempt(target, data.decode("utf-8", "replace"))

    def structured(data: bytes, max_size: int, seed: int) -> bytes:
        """Every other mutation keeps JSON JSON."""
        if seed % 2:
            return atheris.Mutate(data, max_size)
        return mutate_json(data.decode("utf-8", "replace"), seed).encode("utf-8", "replace")[:max_size]

    more = {"custom_mutator": structured} if target == "figure" else {}
    longest = 8000 if target == "figure" else 2000
    limits = ["-timeout=2", "-rss_limit_mb=600", f"-max_len={longest}"]  # the instrumented process itself takes 300 MB
    atheris.Setup([sys.argv[0], found, str(CORPUS / target), *limits, *sys.argv[1:]], one, **more)
    atheris.Fuzz()


def _import_all() -> None:
    import cute_viz

    for module in pkgutil.walk_packages(cute_viz.__path__, "cute_viz."):
        importlib.import_module(module.name)


if __name__ == "__main__":
    main()
