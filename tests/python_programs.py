"""Random functions of plain Python on integers, whose values CPython itself gives: what a reader says of them must be so."""

from __future__ import annotations

import random
import sys
from typing import Any

_NAMES = ("a", "b", "c", "d", "e")
_HEAD = """
from dataclasses import dataclass, field
from enum import Enum

LIMIT = 5
TABLE = [3, 1, 4, 1, 5]

class Kind(Enum):
    LOW = 1
    HIGH = 2

@dataclass(frozen=True)
class Point:
    x: int
    y: int = 7

    @property
    def both(self):
        return self.x + self.y

    def moved(self, n=1):
        return Point(self.x + n, self.y)

class Counter:
    step = 2
    made = 0

    def __init__(self, start=0):
        self.value = start
        self.log = []

    def add(self, n=None):
        self.value += self.step if n is None else n
        self.log.append(self.value)
        return self

    @classmethod
    def twice(cls, n):
        return cls(2 * n)

    @staticmethod
    def half(n):
        return n // 2

class Faster(Counter):
    step = 3

    def add(self, n=None):
        super().add(n)
        self.value += 1
        return self

def swapped(x, y=2, *rest, key=1, **more):
    return y + key + len(rest) + sum(rest) - x + len(more)

def counted(items=[]):
    items.append(len(items))
    return len(items)

def later():
    fs = []
    for i in range(3):
        fs.append(lambda: i)
    return fs[0]()

def opaque(x):
    return int(f"{x:d}")

def bump(items):
    items[0] += 1
    return items
"""


class Writer:
    """One function of random statements, which ends with the values of its names."""

    def __init__(self, rng: random.Random, dark: float = 0) -> None:
        """dark: how often a value is one that no reader knows."""
        self.rng, self.dark = rng, dark
        self.lines: list[str] = []
        self.deep, self.made = 1, 0

    def put(self, text: str) -> None:
        self.lines.append("    " * self.deep + text)

    def name(self) -> str:
        return self.rng.choice(_NAMES)

    def number(self, deep: int = 2) -> str:
        """An expression of an integer."""
        r = self.rng
        if deep == 0 or r.random() < 0.25:
            return r.choice((self.name(), self.name(), str(r.randint(-4, 9)), "n", "LIMIT"))
        a, b = self.number(deep - 1), self.number(deep - 1)
        return r.choice(
            (
                f"({a} {r.choice('+-*')} {b})",
                f"({a} // {r.randint(1, 7)})",
                f"({a} % {r.choice((2, 3, 5, 8, -3))})",
                f"({a} {r.choice(('&', '|', '^'))} {b})",
                f"(-{a})",
                f"(~{a})",
                f"abs({a})",
                f"min({a}, {b})",
                f"max({a}, {b})",
                f"({a} if {self.test()} else {b})",
                f"len({self.items()})",
                f"sum({self.items()})",
                f"{self.items()}[{r.choice((0, -1))}]",
                f"sum(x * 2 for x in {self.items()} if x % 2)",
                f"({self.test()} and {a} or {b})",
                f"int({self.test()})",
                f"Point({a}).both",
                f"Point({a}, y={b}).moved().x",
                f"Counter({a}).add().add({b}).value",
                f"Faster({a}).add().value",
                f"Counter.twice({a}).value",
                f"Counter.half({a})",
                f"swapped({a}, *({b}, 1))",
                f"swapped({a}, key={b}, other=3)",
                f"swapped(*[{a}, {b}, 4], **{{'key': 2}})",
                f"(lambda x, y={a}: x - y)({b})",
                f"divmod({a}, 7)[1]",
                f"{{1: {a}, 2: {b}}}[{r.choice((1, 2))}]",
                f"{{'k': {a}}}.get('{r.choice('kz')}', {b})",
                f"Kind.{r.choice(('LOW', 'HIGH'))}.value",
                f"TABLE[{r.randint(-5, 4)}]",
                f"({a} << {r.randint(0, 3)} >> {r.randint(0, 2)})",
                f"({a}, {b})[{r.randint(0, 1)}]",
                f"(y := {a}) + y",
                "counted()" if r.random() < 0.1 else "later()",
                f"bump([{a}, {b}])[0]",
                f"sorted([{a}, {b}])[0]",
                f"list(range({r.randint(0, 4)}, 9, 2))[0]",
                f"[{a}, {b}][::-1][0]",
                f"[*{self.items()}, {a}][0]",
                f"max({self.items()}, default=0)",
                f"opaque({a})" if r.random() < self.dark else a,
                f"list(zip([{a}], [{b}]))[0][1]",
                f"next(iter([{a}]))" if r.random() < 0.1 else a,
            )
        )

    def test(self) -> str:
        """A condition."""
        r = self.rng
        a, b = self.number(0), self.number(0)
        return r.choice(
            (
                f"{a} {r.choice(('<', '<=', '>', '>=', '==', '!='))} {b}",
                f"{a} < {b} <= 9",
                f"{a} in ({b}, 3)",
                f"{a} not in [{b}, 1]",
                f"not {a}",
                f"{a} % 2",
                f"isinstance({a}, int)",
                f"bool({self.items()})",
                f"any(x > 2 for x in {self.items()})",
                f"all(x > 0 for x in {self.items()})",
                f"({self.name()} is None)",
                f"({a} > 0 or {b} > 0)",
                f"opaque({a}) > 1" if r.random() < self.dark else f"{a} > 1",
                f"opaque({a})" if r.random() < self.dark else f"{b} > 1",
                f"({self.name()} == True)",
            )
        )

    def items(self) -> str:
        r = self.rng
        return r.choice(
            ("p", "q", f"[{self.name()}, 2]", f"({self.name()}, 1, 2)", "[x + 1 for x in p]", "list(range(3))", "TABLE")
        )

    def block(self, count: int) -> None:
        self.deep += 1
        for _ in range(self.rng.randint(1, count)):
            self.statement()
        self.deep -= 1

    def statement(self) -> None:
        r = self.rng
        kind = r.randrange(34)
        if kind < 7 or self.deep > 4:
            self.put(f"{self.name()} = {self.number()}")
        elif kind < 10:
            self.put(f"{self.name()} {r.choice(('+=', '-=', '*=', '|='))} {self.number(1)}")
        elif kind < 11:
            self.put(f"{self.name()}, {self.name()} = {self.number(1)}, {self.number(1)}")
        elif kind < 12:
            self.put(f"{self.name()} = {self.name()} = {self.number(1)}")
        elif kind < 13:
            self.put(f"p.append({self.number(1)})")
        elif kind < 14:
            self.put(f"p[{r.choice((0, -1))}] = {self.number(1)}")
        elif kind < 15:
            self.put(f"p[0] += {self.number(1)}")
        elif kind < 16:
            self.put(
                r.choice(
                    ("q = p", "q = list(p)", "q = p[:]", "q = p + [1]", "q += [2]", "q = [*p]", "q = p.copy()", "p.extend(q[:2])")
                )
            )
        elif kind < 20:
            self.put(f"if {self.test()}:")
            self.block(3)
            if r.random() < 0.4:
                self.put(f"elif {self.test()}:")
                self.block(2)
            if r.random() < 0.6:
                self.put("else:")
                self.block(3)
        elif kind < 23:
            through = r.choice((f"range({r.randint(0, 4)})", "p[:3]", "(1, 2)", "range(3, 0, -1)", "range(len(q[:3]))"))
            self.put(f"for {r.choice(('i', self.name()))} in {through}:")
            self.loop()
        elif kind < 25:
            self.made += 1
            counter = f"w{self.made}"
            self.put(f"{counter} = {r.randint(0, 4)}")
            self.put(f"while {counter} > 0{r.choice(('', f' and {self.test()}'))}:")
            self.deep += 1
            self.put(f"{counter} -= 1")
            self.deep -= 1
            self.loop()
        elif kind < 26:
            self.made += 1
            f = f"f{self.made}"
            self.put(f"def {f}(x, y={self.number(1)}):")
            self.deep += 1
            if r.random() < 0.4:
                self.put("nonlocal a")
                self.put(f"a = {self.number(1)}")
            else:
                self.put(f"e = {self.number(1)}")
            if r.random() < 0.4:
                self.put(f"if {self.test()}:")
                self.put(f"    return {self.number(1)}")
            self.put(f"return x + y + {r.choice(('b', 'c', 'len(p)'))}")
            self.deep -= 1
            self.put(f"{self.name()} = {f}({self.number(1)})")
        elif kind < 27:
            self.put("try:")
            self.block(2)
            if r.random() < 0.5:
                self.put(f"    if {self.test()}: raise ValueError('no')")
            self.put("except (ValueError, IndexError):")
            self.block(1)
            if r.random() < 0.5:
                self.put("finally:")
                self.block(1)
        elif kind < 28 and sys.version_info >= (3, 10):
            self.put(f"match {self.number(1)}:")
            self.deep += 1
            self.put(f"case {r.randint(0, 3)}:")
            self.block(1)
            self.put(f"case x if x > {r.randint(0, 5)}:")
            self.block(1)
            self.put("case _:")
            self.block(1)
            self.deep -= 1
        elif kind < 29:
            self.put(f"if {self.test()}: return ({self.name()}, {self.name()}, *p, 77)")
        elif kind < 30:
            self.put(f"o = Counter({self.number(1)})")
            self.put("u = o")
            self.put(f"u.add({self.number(1)})")
            self.put(f"{self.name()} = o.value + len(o.log)")
        elif kind < 31:
            self.put(f"{self.name()} = [{self.name()} for {self.name()} in p][-1]")
        elif kind < 32:
            self.put("assert p")
            self.put(f"{self.name()}, *q = (*p, 1)")
        elif kind < 33:
            self.put(
                r.choice(
                    ("del q[1:]", "p.sort()", "p.reverse()", "q.insert(0, 5)", "p.pop() if len(p) > 1 else 0", "q = sorted(p)")
                )
            )
        else:
            self.made += 1
            self.put(f"def h{self.made}():")
            self.put("    global LIMIT")
            self.put(f"    LIMIT = {self.number(0)}")
            self.put(f"h{self.made}()")

    def loop(self) -> None:
        r = self.rng
        self.block(2)
        self.deep += 1
        if r.random() < 0.4:
            self.put(f"if {self.test()}: {r.choice(('break', 'continue'))}")
            self.put(f"{self.name()} += 1")
        self.deep -= 1
        if r.random() < 0.2:
            self.put("else:")
            self.block(1)


def program(seed: int, functions: int = 4) -> str:
    """The text of random functions, and of a call of each: r0, r1, ..."""
    rng = random.Random(seed)
    out = [_HEAD]
    for f in range(functions):
        w = Writer(rng, rng.choice((0, 0.3, 1)))
        w.put(f"a, b, c, d, e = {', '.join(str(rng.randint(-3, 9)) for _ in range(5))}")
        w.put(f"p = [{', '.join(str(rng.randint(0, 6)) for _ in range(rng.randint(1, 4)))}]")
        w.put("q = [1, 2]")
        for _ in range(rng.randint(4, 10)):
            w.statement()
        w.put("return (a, b, c, d, e, tuple(p), tuple(q))")
        out.append(f"def g{f}(n):\n" + "\n".join(w.lines) + "\n")
        out.append(f"r{f} = g{f}({rng.randint(-2, 6)})\n")
    return "\n".join(out)


def values_of(text: str) -> dict[str, Any]:
    """The values that CPython gives r0, r1, ..., up to the first function that raises."""
    scope: dict[str, Any] = {"__name__": __name__}
    exec(compile(_HEAD, "head", "exec"), scope)
    for chunk in _chunks(text.removeprefix(_HEAD)):
        try:
            exec(compile(chunk, "program", "exec"), scope)
        except Exception:
            break
    return {name: value for name, value in scope.items() if name[0] == "r" and name[1:].isdigit()}


def _chunks(text: str) -> list[str]:
    """The functions, and the calls of them, one by one."""
    out: list[str] = []
    for line in text.splitlines():
        if line.startswith(("def ", "r")) or not out:
            out.append(line)
        else:
            out[-1] += "\n" + line
    return out
