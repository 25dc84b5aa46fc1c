"""`python -m tests.choosing SECONDS FILE`: which further pictures of `tests/drawn.py` meet the limits that those it has do not.

A picture does not test a comparison that would have come out the same with `<=`, or with a limit that is one larger. Each
comparison, condition, `min`, `max` and slice of the rooms is worked out with each mistake of `tests/mutations.py`, too, while
pictures are drawn: FILE keeps which came out otherwise for which picture, and a further run goes on with it. Then those that add
something are written into `drawn.CHOSEN`, until `ENOUGH` of them tell each mistake that any picture tells; `python -m tests.drawn`
follows.
"""

from __future__ import annotations

import ast
import builtins
import gc
import json
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests import mutants, mutations

ENOUGH = 3  # pictures that tell a mistake
TOGETHER = 20  # pictures of one process
TRIES = 300  # times that one mistake is worked out for a picture
TARGETS = (ast.Compare, ast.BoolOp)
SPREAD = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Starred)  # that do something else a second time
NAMED = re.compile(r"_?[A-Z][A-Z_0-9]+")  # a constant of a module

told: set[int] = set()
tries: Counter[int] = Counter()
busy: list[bool] = []


def _worked_out(own: Callable[[], Any], condition: bool, *others: tuple[int, Callable[[], Any]]) -> Any:
    """The value of an expression; of each mistake in it that gives another one the number is told."""
    value = own()
    if not busy:
        busy.append(True)
        for number, other in others:
            if number not in told and tries[number] < TRIES:
                tries[number] += 1
                try:
                    found = other()
                    same = bool(found) == bool(value) if condition else type(found) is type(value) and found == value
                except Exception:
                    same = False
                if not same:
                    told.add(number)
        busy.pop()
    return value


def _is_target(node: ast.AST) -> bool:
    of_two = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max")
    part = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and isinstance(node.ctx, ast.Load)
    return (isinstance(node, TARGETS) or of_two or part) and not any(isinstance(one, SPREAD) for one in ast.walk(node))


class Told(ast.NodeTransformer):
    """A file whose expressions are worked out with the mistakes in them; `names` gets those."""

    def __init__(self, path: str, names: list[str]) -> None:
        self.source, self.names, self.inside = (mutations.ROOT / path).read_bytes(), names, False
        self.mistakes = mutations.mistakes(path)
        self.starts = [0]
        for line in self.source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        for node in ast.walk(ast.parse(self.source)):
            if isinstance(node, ast.Name) and NAMED.fullmatch(node.id) and isinstance(node.ctx, ast.Load):
                first, last = self.span(node)
                self.mistakes.append(mutations.Mistake(path, first, last, f"({node.id} + 1)", node.lineno, node.id, 0, 0))

    def span(self, node: ast.expr) -> tuple[int, int]:
        """Where an expression begins and ends."""
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        was, self.inside = self.inside, True
        node.body = [self.visit(one) for one in node.body]
        self.inside = was
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        was, self.inside = self.inside, False
        node.body = [self.visit(one) for one in node.body]
        self.inside = was
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return node

    visit_JoinedStr = visit_Raise  # type: ignore[assignment]

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not (self.inside and isinstance(node, ast.expr) and _is_target(node)):
            return super().generic_visit(node)
        first, last = self.span(node)
        inner = [self.span(one) for one in ast.walk(node) if one is not node and isinstance(one, ast.expr) and _is_target(one)]
        own = [
            one
            for one in self.mistakes
            if first <= one.start and one.end <= last and not any(a <= one.start and one.end <= b for a, b in inner)
        ]
        others: list[ast.expr] = []
        for one in own:
            text = (self.source[first : one.start] + one.text.encode() + self.source[one.end : last]).decode()
            others.append(ast.Tuple([ast.Constant(len(self.names)), _later(ast.parse(f"({text})", mode="eval").body)], ast.Load()))
            self.names.append(mutations.described(one))
        done = super().generic_visit(node)
        if not others:
            return done
        call = ast.Call(ast.Name("_worked_out", ast.Load()), [_later(done), ast.Constant(isinstance(node, TARGETS)), *others], [])
        return ast.copy_location(call, node)


def _later(value: ast.AST) -> ast.Lambda:
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), value)  # type: ignore[arg-type]


def drawn_apart(parts: dict[str, Iterator[tuple[str, str]]], until: float, kept: Path) -> None:
    """Draw a few at a time in a process of their own, and keep what each tells."""
    from tests import drawn

    had = {json.loads(line)[0] for line in kept.read_text("utf-8").splitlines()[1:]}
    gc.freeze()
    left = [name for name in parts if name not in had]
    while left and time.monotonic() < until:
        few, left = left[:TOGETHER], left[TOGETHER:]
        child = os.fork()
        if not child:
            try:
                for name in few:
                    told.clear()
                    tries.clear()
                    signal.alarm(60)
                    drawn.digest(parts[name])
                    with kept.open("a") as file:
                        file.write(json.dumps([name, sorted(told)]) + "\n")
            finally:
                os._exit(0)
        os.waitpid(child, 0)


def chosen(rows: list[tuple[str, set[int]]], held: set[str]) -> list[str]:
    """Those that add something to what is held, the ones that add most first.

    >>> chosen([("a", {1, 2}), ("b", {1}), ("c", {1, 2, 3}), ("d", {1})], {"a"})
    ['c', 'b']
    """
    count = Counter(number for name, tells in rows if name in held for number in tells)
    left, out = [row for row in rows if row[0] not in held], []
    while left:
        gain = {name: sum(count[number] < ENOUGH for number in tells) for name, tells in left}
        left = sorted((row for row in left if gain[row[0]]), key=lambda row: -gain[row[0]])
        if left:
            name, tells = left.pop(0)
            out.append(name)
            count.update(tells)
    return out


def main() -> None:
    """Draw for some seconds, and choose."""
    seconds, kept, names = float(sys.argv[1]), Path(sys.argv[2]).resolve(), list[str]()
    with TemporaryDirectory() as folder:
        top = mutants.copied(mutations.ROOT, Path(folder))
        for path in (one for one in mutations.files_of(mutations.ROOMS) if one.endswith(".py")):
            tree = Told(path, names).visit(ast.parse((top / path).read_bytes()))
            (top / path).write_text(ast.unparse(ast.fix_missing_locations(tree)), "utf-8")
        builtins._worked_out = _worked_out  # type: ignore[attr-defined]
        from tests import drawn

        if not kept.exists():
            kept.write_text(json.dumps(names) + "\n", "utf-8")
        held = drawn.parts()
        every = list((drawn.further() | held).items())
        random.Random(0).shuffle(every)
        drawn_apart(dict(every), time.monotonic() + seconds, kept)
        more = drawn.further().keys()
    rows = [(name, set(tells)) for name, tells in map(json.loads, kept.read_text("utf-8").splitlines()[1:])]
    never = set(range(len(names))) - {number for _, tells in rows for number in tells}
    print(*(names[number] for number in sorted(never)), sep="\n")
    found = chosen(rows, set(held))
    print(f"{len(names)} mistakes, {len(never)} that no picture tells; {len(found)} pictures are chosen", file=sys.stderr)
    kinds: dict[str, list[str]] = {}
    for name in (*(held.keys() & more), *found):
        kind, number = name.split()
        kinds.setdefault(kind, []).append(number)
    text = "".join(f"{kind}: {' '.join(sorted(several, key=int))}\n" for kind, several in sorted(kinds.items()))
    (mutations.ROOT / "tests" / "data" / "chosen.txt").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
