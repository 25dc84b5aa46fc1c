"""The kernels that a script of the CuTe DSL compiles: their IR is kept, and each has a report."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from cute_viz.api import report
from cute_viz.errors import CuteVizError
from cute_viz.files import read_text, write
from cute_viz.records import dataclass

if TYPE_CHECKING:
    from cute_viz.engine.kernel_rows import Report

_DSL = "CUTE_DSL_"
_PAGES = (".html", ".htm")


@dataclass(slots=True)
class Recorded:
    """What was recorded: the text of the IR of each kernel, in the order in which they were compiled, and their reports."""

    texts: list[tuple[str, str]] = field(default_factory=list)

    @property
    def reports(self) -> dict[str, Report]:
        """A report for each kernel with copies, by its name."""
        out = {}
        for name, text in self.texts:
            try:
                out[name] = report(text)
            except CuteVizError as error:
                if not error.message.startswith("there is no `copy`"):
                    raise
        return out

    def add(self, folder: str) -> None:
        """Take the IR that the DSL's compiler wrote to a folder."""
        files = [entry for entry in os.scandir(folder) if entry.name.endswith(".mlir")]
        for entry in sorted(files, key=lambda entry: entry.stat().st_mtime_ns):
            text = read_text(entry.path)
            names = [name for name, _ in self.texts]
            kernel = _kernel(text) or entry.name.removesuffix(".mlir")
            again = sum(name == kernel or name.startswith(f"{kernel} (") for name in names)
            self.texts.append((f"{kernel} ({again + 1})" if again else kernel, text))

    def save(self, path: str | os.PathLike[str]) -> list[str]:
        """Write the reports as pages of HTML: of one kernel to the path, of several to `NAME-2.html` and so on, too. Raises:
        CuteVizError for another suffix."""
        from cute_viz.engine.kernel_page import page_of

        base, suffix = os.path.splitext(os.fspath(path))
        if suffix not in _PAGES:
            raise CuteVizError("a report is written as .html", name=os.fspath(path))
        out = []
        for n, (name, found) in enumerate(self.reports.items(), 1):
            out.append(f"{base}{f'-{n}' if n > 1 else ''}{suffix}")
            write(page_of(found, name), out[-1])
        return out


def _kernel(text: str) -> str:
    """The name of the kernel of a text of IR, without what the compiler adds."""
    import re

    found = re.search(r"\b(?:cuda\.kernel|gpu\.func|func\.func)\b[^@\n]*@(?:\"([^\"\n]+)\"|([\w$.-]+))", text)
    return re.sub(r"^kernel_cutlass_|_object_at_.*|_\d+$", "", found[1] or found[2]) if found is not None else ""


@contextmanager
def record(path: str | os.PathLike[str] | None = None, arch: str | None = None) -> Iterator[Recorded]:
    """Keep the IR of every kernel that the CuTe DSL compiles inside the block, and write their reports to a page.

        with cute_viz.record("out.html") as recorded:
            cute.compile(kernel, ...)

    arch: for which it compiles, such as sm_90a, where no GPU says it. Nothing is run but what the block runs.

    >>> with record() as recorded:
    ...     pass  # cute.compile(kernel, ...)
    >>> list(recorded.reports)
    []
    """
    recorded = Recorded()
    with TemporaryDirectory() as folder:
        new = _variables(folder, arch, os.environ)
        before = {key: os.environ.get(key) for key in new}
        wanted = {"keep_ir": True, "lineinfo": True, "dump_dir": folder}
        settings = [(one, name, getattr(one, name), value) for one in _settings() for name, value in wanted.items()]
        os.environ.update(new)
        for one, name, _, value in settings:
            setattr(one, name, value)
        try:
            yield recorded
        finally:
            for key, old in before.items():
                os.environ.pop(key) if old is None else os.environ.__setitem__(key, old)
            for one, name, value, _ in settings:
                setattr(one, name, value)
            recorded.add(folder)
    if path is not None:
        recorded.save(path)


def run(script: str, args: Sequence[str], arch: str | None = None) -> tuple[Recorded, int]:
    """Run a script with this Python and keep the IR of every kernel that it compiles; its exit status. Raises: CuteVizError for
    a script that is not there."""
    if not os.path.isfile(script):
        raise CuteVizError("there is no such script", name=script)
    recorded = Recorded()
    with TemporaryDirectory() as folder:
        status = subprocess.call([sys.executable, script, *args], env={**os.environ, **_variables(folder, arch, os.environ)})
        recorded.add(folder)
    return recorded, status


def _variables(folder: str, arch: str | None, now: Mapping[str, str]) -> dict[str, str]:
    """The variables that have the DSL keep its IR, with the lines of Python."""
    kept = now.get(f"{_DSL}KEEP", "")
    keep = kept if "ir-debug" in kept.split(",") else ",".join(filter(None, (kept, "ir-debug")))
    told = {"KEEP": keep, "LINEINFO": "1", "DUMP_DIR": folder, **({"ARCH": arch} if arch else {})}
    return {f"{_DSL}{key}": value for key, value in told.items()}


def _settings() -> list[Any]:
    """The settings of a DSL that was imported before, which reads no variables any more."""
    import gc

    module = next((m for name, m in sys.modules.items() if name.endswith("base_dsl.env_manager")), None)
    kind = getattr(module, "EnvironmentVarManager", None)
    return [] if kind is None else [one for one in gc.get_objects() if isinstance(one, kind)]
