"""`python -m tests.mutations ROOM N --seed S`: N mistakes planted in a room, one at a time, and whether the tests notice.

A mistake is a number that is one off, an operator, a comparison or a condition that is another one, in a copy of the project. The
tests that run its line, as `tests/mutants.py` has learned, are asked, the quickest first. Each that lives is listed with the
tests that should have failed; those of `LIVE` live for a reason. docs/explain/mutations.md has the last rates.
"""

from __future__ import annotations

import ast
import json
import random
import re
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

ROOT = Path(__file__).parent.parent
ROOMS: dict[str, tuple[str, ...]] = {  # the modules of a room
    "algebra": ("cute_viz/algebra/*.py",),
    "hardware": (
        *("cute_viz/analysis/hardware.py", "cute_viz/analysis/banks.py"),
        *("cute_viz/algebra/descriptor.py", "cute_viz/algebra/tmem.py", "cute_viz/algebra/umma.py"),
        *("cute_viz/source/cpp/atoms.py", "cute_viz/source/cpp/cutlass.py", "layouts/*/sm*.yaml"),
    ),
    "figures": ("cute_viz/figures/*.py",),
    "renderers": ("cute_viz/renderers/*.py",),
}
LIVE: dict[tuple[str, str], str] = {  # a part of a path and of a line: why no test can notice a mistake there
    ("source/cpp/atoms.py", "x <= 32"): "32 is a multiple of 16, too",
    ("algebra/copy.py", "reference, Layout(1, 0))"): "the third mode has one place",
    ("algebra/dsl.py", "isinstance(layout, Layout) and"): "what is composed is refused before, and no coordinate is 0",
    ("algebra/mma.py", "thr = Layout((1, 1, 1), (0, 0, 0))"): "its modes have one place each",
    ("figures/operation.py", "if count else 0"): "without groups nobody asks how large they are",
    ("figures/compare.py", "here = slice(r * panel.cols"): "what is behind the row is not looked at",
    ("renderers/panel.py", 'head = ("→" if'): "an arrow is between two cells",
    ("figures/machine.py", "len(times) != 1 or"): "cells without owners are not in these pictures",
}
_OPERATORS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "//", ast.FloorDiv: "*", ast.Mod: "//", ast.LShift: ">>", ast.RShift: "<<"}
_OPERATORS |= {ast.BitXor: "&", ast.BitAnd: "|", ast.BitOr: "&"}
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.LShift: "<<", ast.RShift: ">>"}
_SIGNS |= {ast.BitXor: "^", ast.BitAnd: "&", ast.BitOr: "|"}
_COMPARED = {"<=": "<", ">=": ">", "==": "!=", "!=": "==", "<": "<=", ">": ">="}


class Mistake(NamedTuple):
    """A place of a file and what stands there instead; the lines of its statement."""

    path: str
    start: int
    end: int
    text: str
    line: int
    was: str
    first: int
    last: int

    def planted(self, before: bytes) -> bytes:
        """The file with it."""
        return before[: self.start] + self.text.encode() + before[self.end :]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.was!r} -> {self.text!r}"


def mistakes(path: str) -> list[Mistake]:
    """Every mistake that can be planted in a file.

    >>> [one.text for one in mistakes("cute_viz/records.py")] != []
    True
    """
    source = (ROOT / path).read_text("utf-8")
    if path.endswith(".yaml"):
        found = re.finditer(r"(?<![\w.#])\d+(?![\w.])", re.sub(r"#[^\n]*", lambda m: " " * len(m[0]), source))
        return [
            Mistake(path, one.start(), one.end(), str(int(one[0]) + 1), source.count("\n", 0, one.start()) + 1, one[0], 0, 0)
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
        out.append(Mistake(path, first, last, text, node.lineno, data[first:last].decode(), *within[node]))

    tree = ast.parse(source)
    within = _statements(tree)
    for node in _running(tree):
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
                (isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("over", "refuse"))
                or (isinstance(node, ast.keyword) and node.arg == "strict")  # of `zip`, a guard
            ):
                yield node
                yield from _running(node)


def _statements(tree: ast.AST) -> dict[ast.AST, tuple[int, int]]:
    """The lines of the statement of each node, those of its head where it has a body."""
    out: dict[ast.AST, tuple[int, int]] = {}

    def walk(node: ast.AST, lines: tuple[int, int]) -> None:
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            lines = (node.lineno, max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno)
        out[node] = lines
        for child in ast.iter_child_nodes(node):
            walk(child, lines)

    walk(tree, (0, 0))
    return out


def reason(mistake: Mistake) -> str:
    """Why a mistake may live; "" of one that may not."""
    line = (ROOT / mistake.path).read_text("utf-8").splitlines()[mistake.line - 1]
    return next((why for (path, part), why in LIVE.items() if path in mistake.path and part in line), "")


def described(mistake: Mistake) -> str:
    """A mistake wherever its line is."""
    line = (ROOT / mistake.path).read_text("utf-8").splitlines()[mistake.line - 1]
    return f"{mistake.path}: {line.strip()}: {mistake.was!r} -> {mistake.text!r}"


def files_of(rooms: Iterable[str]) -> list[str]:
    """The files of rooms, none twice."""
    found = (str(path.relative_to(ROOT)) for room in rooms for pattern in ROOMS[room] for path in ROOT.glob(pattern))
    return sorted(set(found))


def sampled(room: str, count: int, seed: int) -> list[Mistake]:
    """So many mistakes of a room, each as likely as any other, none twice."""
    every = [one for path in files_of([room]) for one in mistakes(path)]
    return random.Random(f"{room} {seed}").sample(every, min(count, len(every)))


@click.command()
@click.argument("room", type=click.Choice(list(ROOMS)))
@click.argument("count", type=click.IntRange(1))
@click.option("--seed", default=1, show_default=True)
@click.option("--minutes", type=float, default=600.0, help="Begin no further one after so long.")
@click.option("--known", type=click.Path(dir_okay=False, path_type=Path), help="Where it is kept what the tests run.")
@click.option(
    "--again", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="What an earlier run printed: only what lived."
)
@click.option(
    "--told", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="What tests/choosing.py kept: asked first."
)
def main(room: str, count: int, seed: int, minutes: float, known: Path | None, again: Path | None, told: Path | None) -> None:
    """Plant mistakes; exit status 1 where more than 5 of 100 live for no reason that is known."""
    from tests import mutants

    chosen = sampled(room, count, seed)
    if again is not None:
        lived = {line.removesuffix(": LIVES") for line in again.read_text("utf-8").splitlines() if line.endswith(": LIVES")}
        chosen = [one for one in chosen if str(one) in lived]
    why = {one: reason(one) for one in chosen}
    pictures: dict[str, list[str]] = {}  # of mistakes as they are described
    names, *rows = map(json.loads, told.read_text("utf-8").splitlines()) if told is not None else [[]]
    wanted = {described(one) for one in chosen}
    for picture, numbers in rows:
        for told_ in wanted & {names[number] for number in numbers}:
            pictures.setdefault(told_, []).append(f"{mutants.DRAWN_KEPT}[{picture}]")
    since, asked, live, excused, endless = time.monotonic(), 0, 0, 0, 0
    with TemporaryDirectory() as folder:
        top = mutants.copied(ROOT, Path(folder))
        asker = mutants.Asker(top, mutants.learn(top, known or Path(folder) / "known.json", files_of(ROOMS)))
        for one in chosen:
            if time.monotonic() - since > 60 * minutes:
                break
            begun = time.monotonic()
            planted = one.planted((top / one.path).read_bytes())
            verdict = asker.about(one.path, planted, one.first, one.last, pictures.get(described(one), ()))
            asked, endless = asked + 1, endless + verdict.endless
            lives = not verdict.by and not verdict.endless
            live, excused = live + lives, excused + (lives and bool(why[one]))
            if lives:
                said = f"lives ({why[one]})" if why[one] else "LIVES"
            else:
                said = f"fails {verdict.by}" if verdict.by else "never ends"
            click.echo(f"{one}: {said}")
            if lives and not why[one]:
                near = asker.known.tests(one.path, [(one.path, line) for line in range(one.first, one.last + 1)])[:4]
                click.echo(
                    f"    {verdict.asked} asked in {time.monotonic() - begun:.0f} s: {' '.join(near) or 'no test runs this line'}"
                )
        asker.close()
    click.echo(f"{room}: {asked - live} of {asked} noticed ({endless} by never ending), {excused} live for a reason; seed {seed}")
    sys.exit(1 if live - excused > asked / 20 else 0)


if __name__ == "__main__":
    main()
