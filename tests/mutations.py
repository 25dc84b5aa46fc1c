"""`python -m tests.mutations ROOM N --seed S`: N mistakes planted in a room, one at a time, and whether the tests notice.

A mistake is a number that is one off, an operator, a comparison or a condition that is another one, in a copy of the project. Each
that lives is listed with the tests that should have failed: those of its module. Those of `LIVE` live for a reason.
"""

from __future__ import annotations

import ast
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

ROOT = Path(__file__).parent.parent
PATIENCE = 240  # seconds for the tests of one mistake; what they have not noticed by then is not counted
ROOMS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # the modules of a room, and its tests, the quickest first
    "algebra": (
        ("cute_viz/algebra/*.py",),
        (
            *("algebra_vectors", "layout_values", "coordinates", "tensors", "ops", "xor_inverse", "hardware", "library", "verdict"),
            *("cpp_tensors", "mixed", "algebra_laws", "layout_programs", "dsl_programs", "figure_hardware", "kernel_report"),
        ),
    ),
    "hardware": (
        (
            *("cute_viz/analysis/hardware.py", "cute_viz/analysis/banks.py", "cute_viz/analysis/memories.py"),
            *("cute_viz/algebra/descriptor.py", "cute_viz/algebra/tmem.py", "cute_viz/algebra/umma.py"),
            *("cute_viz/source/cpp/selectors.py", "cute_viz/source/cpp/collective*.py", "layouts/*/sm*.yaml"),
        ),
        (
            "hardware",
            "tables",
            "library",
            "banks",
            "access",
            "hardware_random",
            "vendors",
            "verdict",
            "cpp_source",
            "figure_hardware",
        ),
    ),
    "figures": (
        ("cute_viz/figures/*.py",),
        ("figure_grid", "figure_tv", "figure_hardware", "follow", "boards", "tilings", "views", "pictures", "gallery"),
    ),
    "renderers": (
        ("cute_viz/renderers/*.py",),
        (
            "render_svg",
            "render_text",
            "render_tikz",
            "render_html",
            "targets",
            "writers",
            "pages",
            "palettes",
            "pictures",
            "gallery",
        ),
    ),
}
LIVE: dict[str, str] = {  # module: what of it no test can notice, and why
    "renderers/mpl.py": "sizes of what anti-aliasing rounds: two versions of matplotlib differ by more",
    "algebra/table.py": "thresholds from which a quicker way gives the same table",
    "figures/heat.py": "from how many cells on a sample is enough",
}
_OPERATORS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "//", ast.FloorDiv: "*", ast.Mod: "//", ast.LShift: ">>", ast.RShift: "<<"}
_OPERATORS |= {ast.BitXor: "&", ast.BitAnd: "|", ast.BitOr: "&"}
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.LShift: "<<", ast.RShift: ">>"}
_SIGNS |= {ast.BitXor: "^", ast.BitAnd: "&", ast.BitOr: "|"}
_COMPARED = {"<=": "<", ">=": ">", "==": "!=", "!=": "==", "<": "<=", ">": ">="}


class Mistake(NamedTuple):
    """A place of a file and what stands there instead."""

    path: str
    start: int
    end: int
    text: str
    line: int
    was: str


def mistakes(path: str) -> list[Mistake]:
    """Every mistake that can be planted in a file.

    >>> [one.text for one in mistakes("cute_viz/records.py")] != []
    True
    """
    source = (ROOT / path).read_text("utf-8")
    if path.endswith(".yaml"):
        found = re.finditer(r"(?<![\w.#])\d+(?![\w.])", re.sub(r"#[^\n]*", lambda m: " " * len(m[0]), source))
        return [
            Mistake(path, one.start(), one.end(), str(int(one[0]) + 1), source.count("\n", 0, one.start()) + 1, one[0])
            for one in found
            if re.search(r"Layout|ThrID|ThrId", source[source.rfind("\n", 0, one.start()) : one.start()])
        ]
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    data = source.encode()
    out: list[Mistake] = []

    def put(node: ast.expr, text: str, begin: int | None = None, end: int | None = None) -> None:
        first = starts[node.lineno - 1] + node.col_offset if begin is None else begin
        last = starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0) if end is None else end
        out.append(Mistake(path, first, last, text, node.lineno, data[first:last].decode()))

    for node in _running(ast.parse(source)):
        if isinstance(node, ast.Constant) and type(node.value) is int and 0 <= node.value < 1 << 20:
            put(node, str(node.value + 1))
        elif isinstance(node, ast.Constant) and type(node.value) is bool:
            put(node, str(not node.value))
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            _between(put, data, starts, node.left, node.right, _SIGNS[type(node.op)], _OPERATORS[type(node.op)])
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = node.left, node.comparators[0]
            for sign, other in _COMPARED.items():
                _between(put, data, starts, left, right, sign, other)
        elif isinstance(node, ast.BoolOp):
            word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            _between(put, data, starts, node.values[0], node.values[1], word, other)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            put(node, "", end=starts[node.lineno - 1] + node.col_offset + 3)
    return out


def _between(put, data, starts, left, right, sign, other) -> None:  # type: ignore[no-untyped-def]
    first = starts[left.end_lineno - 1] + left.end_col_offset
    last = starts[right.lineno - 1] + right.col_offset
    if data[first:last].decode().strip(" ()\n") == sign:
        at = data.index(sign.encode(), first)
        put(left, other, at, at + len(sign))


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that compute something: no types, no words of errors, no documentation."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "type_comment", "decorator_list") or isinstance(tree, (ast.Raise, ast.JoinedStr)):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST) and not (
                isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("over", "refuse")
            ):
                yield node
                yield from _running(node)


def tests_of(room: str, path: str) -> list[str]:
    """The tests that should notice a mistake in a module: its own examples, those that name it, those of the room."""
    words = Path(path).stem
    named = [f"tests/test_{name}.py" for name in ROOMS[room][1] if (ROOT / f"tests/test_{name}.py").is_file()]
    said = [name for name in named if re.search(rf"\b{words}\b", (ROOT / name).read_text("utf-8"))]
    return [*([path] if path.endswith(".py") else []), *dict.fromkeys([*said, *named])]


def noticed(top: Path, room: str, mistake: Mistake) -> str | None:
    """The test that fails of a mistake planted in a copy of the project; None where all pass, "" where time ran out."""
    file = top / mistake.path
    before = file.read_bytes()
    file.write_bytes(before[: mistake.start] + mistake.text.encode() + before[mistake.end :])
    env = {**os.environ, "PYTHONPATH": str(top), "PYTHONDONTWRITEBYTECODE": "1", "CUTE_VIZ_DEBUG": "1"}
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-n0",
        "-x",
        "-q",
        "--no-header",
        "-p",
        "no:cacheprovider",
        *tests_of(room, mistake.path),
    ]
    try:
        done = subprocess.run(words, cwd=top, env=env, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return ""
    finally:
        file.write_bytes(before)
    if done.returncode == 0:
        return None
    failed = re.search(r"(?m)^(?:FAILED|ERROR) (\S+)", done.stdout)
    return failed[1] if failed else (done.stdout + done.stderr).strip().splitlines()[-1][:100]


@click.command()
@click.argument("room", type=click.Choice(list(ROOMS)))
@click.argument("count", type=click.IntRange(1))
@click.option("--seed", default=1, show_default=True)
@click.option("--minutes", type=float, default=600.0, help="Begin no further one after so long.")
def main(room: str, count: int, seed: int, minutes: float) -> None:
    """Plant mistakes; exit status 1 where more than 5 of 100 live for no reason that is known."""
    chance, since = random.Random(f"{room} {seed}"), time.monotonic()
    paths = sorted(str(path.relative_to(ROOT)) for pattern in ROOMS[room][0] for path in ROOT.glob(pattern))
    known = {path: mistakes(path) for path in paths}
    paths = [path for path in paths if known[path]]
    weights = [len(known[path]) for path in paths]
    lived, asked, excused = 0, 0, 0
    with TemporaryDirectory() as folder:
        top = Path(folder) / "project"
        shutil.copytree(ROOT, top, ignore=shutil.ignore_patterns(".git", "__pycache__", ".*_cache"))
        for _ in range(count):
            if time.monotonic() - since > 60 * minutes:
                break
            mistake = chance.choice(known[chance.choices(paths, weights)[0]])
            by = noticed(top, room, mistake)
            asked += by != ""
            reason = next((why for name, why in LIVE.items() if mistake.path.endswith(name)), "")
            lived, excused = lived + (by is None), excused + (by is None and bool(reason))
            what = f"{mistake.path}:{mistake.line}: {mistake.was!r} -> {mistake.text!r}"
            words = (
                f"lives ({reason})"
                if by is None and reason
                else "LIVES"
                if by is None
                else f"fails {by}"
                if by
                else "not decided in time"
            )
            click.echo(f"{what}: {words}")
            if by is None and not reason:
                click.echo(f"    should fail: {' '.join(tests_of(room, mistake.path)[:4])}")
    click.echo(f"{room}: {asked - lived} of {asked} noticed, {excused} live for a reason; seed {seed}")
    sys.exit(1 if lived - excused > asked / 20 else 0)


if __name__ == "__main__":
    main()
