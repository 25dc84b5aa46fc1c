"""Indices that each thread computes in unsigned, int, size_t and narrower types, beside the arithmetic of C++ for every thread."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

import pytest

from cute_viz.algebra.shares import Starts
from cute_viz.algebra.tensor import Tensor
from cute_viz.engine.kernel import report_of
from cute_viz.engine.kernel_ci import failures
from cute_viz.source.cpp import read
from cute_viz.source.model import Given

BLOCK = (16, 4)
SIZE = 4093  # words of the array: a prime, so that no bit of an index is lost
TYPES = {
    "int": (32, True),
    "unsigned": (32, False),
    "uint32_t": (32, False),
    "size_t": (64, False),
    "long long": (64, True),
    "uint8_t": (8, False),
    "short": (16, True),
}
COMPARED: dict[str, Callable[[int, int], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class UndefinedError(Exception):
    pass


class Expr(NamedTuple):
    """An expression: its text, its type and its number in each thread."""

    text: str
    kind: tuple[int, bool]
    numbers: list[int]


def wrapped(n: int, kind: tuple[int, bool]) -> int:
    n %= 2 ** kind[0]
    return n - 2 ** kind[0] if kind[1] and n >= 2 ** (kind[0] - 1) else n


def common(a: Expr, b: Expr) -> tuple[int, bool]:
    one, two = ((32, True) if x.kind[0] < 32 else x.kind for x in (a, b))
    if one[0] == two[0]:
        return one[0], one[1] and two[1]
    return max(one, two)


def cast(x: Expr, kind: tuple[int, bool], text: str) -> Expr:
    return Expr(text, kind, [wrapped(n, kind) for n in x.numbers])


def apply(word: str, a: int, b: int) -> int:
    if word in "/%":
        if b == 0:
            raise UndefinedError
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if word == "/" else a - b * quotient
    return {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}[word]


def binary(word: str, a: Expr, b: Expr) -> Expr:
    text = f"({a.text} {word} {b.text})"
    if word in ("<<", ">>"):
        kind, (by,) = (32, True) if a.kind[0] < 32 else a.kind, set(b.numbers)
        numbers = [n << by if word == "<<" else n >> by for n in a.numbers]
    else:
        kind = common(a, b)
        numbers = [apply(word, wrapped(x, kind), wrapped(y, kind)) for x, y in zip(a.numbers, b.numbers, strict=True)]
    if kind[1] and any(wrapped(n, kind) != n for n in numbers):
        raise UndefinedError
    return Expr(text, kind, [wrapped(n, kind) for n in numbers])


class Maker:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        x = [n % BLOCK[0] for n in range(BLOCK[0] * BLOCK[1])]
        y = [n // BLOCK[0] for n in range(BLOCK[0] * BLOCK[1])]
        names = {"i": ("int", x), "t": ("unsigned", x), "u": ("uint32_t", y), "z": ("size_t", x), "b": ("uint8_t", y)}
        self.atoms = [Expr(name, TYPES[kind], numbers) for name, (kind, numbers) in names.items()]
        self.atoms += [Expr("threadIdx.x", (32, False), x), Expr("threadIdx.y", (32, False), y)]

    def number(self, n: int) -> Expr:
        suffix, kind = self.random.choice([("", "int"), ("", "int"), ("u", "unsigned"), ("ull", "size_t")])
        return Expr(f"{n}{suffix}", TYPES[kind], [n] * (BLOCK[0] * BLOCK[1]))

    def expr(self, deep: int) -> Expr:
        if deep == 0:
            return self.random.choice(self.atoms) if self.random.random() < 0.7 else self.number(self.random.randrange(1, 70))
        match self.random.choice("aaaaaassdcn"):
            case "a":
                return binary(self.random.choice("+-*&|^"), self.expr(deep - 1), self.expr(deep - 1))
            case "s":
                return binary(self.random.choice(["<<", ">>"]), self.expr(deep - 1), self.number(self.random.randrange(6)))
            case "d":
                return binary(self.random.choice("/%"), self.expr(deep - 1), self.number(self.random.randrange(1, 40)))
            case "c":
                name, inside = self.random.choice(list(TYPES)), self.expr(deep - 1)
                return cast(inside, TYPES[name], f"static_cast<{name}>({inside.text})")
        inside, word = self.expr(deep - 1), self.random.choice("-~")
        zero = Expr("0", (32, True), [0] * len(inside.numbers))
        out = binary("-", zero, inside) if word == "-" else binary("^", inside, Expr("", (32, True), [-1] * len(inside.numbers)))
        return out._replace(text=f"({word}{inside.text})")

    def defined(self) -> Expr:
        while True:
            try:
                return self.expr(self.random.randrange(1, 4))
            except UndefinedError:
                continue


@pytest.mark.parametrize("seed", range(4))
def test_every_thread_has_the_index_that_c_computes(seed: int) -> None:
    maker, lines, wanted = Maker(seed), list[str](), {}
    for n in range(60):
        name = maker.random.choice(list(TYPES))
        index, left, right, word = maker.defined(), maker.defined(), maker.defined(), maker.random.choice(list(COMPARED))
        value = cast(index, TYPES[name], f"v{n}")
        kind = common(left, right)
        held = [COMPARED[word](wrapped(a, kind), wrapped(b, kind)) for a, b in zip(left.numbers, right.numbers, strict=True)]
        held = held if n % 2 and any(held) else [True] * len(held)
        guard = "" if all(held) else f"if ({left.text} {word} {right.text}) "
        number = binary("%", value, Expr(f"{SIZE}u", (32, False), [SIZE] * len(held))).numbers
        lines.append(f"{name} v{n} = {index.text}; {guard}s[v{n} % {SIZE}u] = 0.f;")
        wanted[n + 3] = [place for place, takes in zip(number, held, strict=True) if takes]
    head = (
        f"__global__ void k() {{ __shared__ float s[{SIZE}]; int i = threadIdx.x; unsigned t = threadIdx.x; "
        "\nuint32_t u = threadIdx.y; size_t z = threadIdx.x; uint8_t b = threadIdx.y;\n"
    )
    text = head + "\n".join(lines) + f"}}\nint main() {{ k<<<1, dim3{BLOCK}>>>(); }}"
    found = {}
    for move in read(text, Given()).moves():
        (x,) = move.read()
        assert isinstance(x, Tensor)
        assert isinstance(x.part, Starts)
        held = list(x.part.active) or [True] * len(x.part.starts)
        found[move.line] = [place for place, takes in zip(x.part.starts, held, strict=True) if takes]
    wrong = {lines[n - 3]: (found.get(n), places) for n, places in wanted.items() if found.get(n) != places}
    assert wrong == {}


def test_an_index_that_nobody_knows_fails_unless_accepted() -> None:
    text = "__global__ void k(int* q) { __shared__ float s[256]; unsigned t = threadIdx.x; unsigned row = t / 8, col = t % 8;\n"
    text += "unsigned off = col * 32 + row; s[off] = 1.f;\n__syncthreads();\ns[q[t]] = 2.f;\n__syncthreads();\n"
    text += "atomicAdd(&s[t], 1.f); }\n"
    found = report_of(read(text + "int main() { k<<<1, 64>>>(nullptr); }", Given()))
    assert found is not None
    assert [(row.move.line, row.cost.wavefronts, row.cost.ideal) for row in found.accesses] == [(2, 16, 2)]
    told = [
        "line 2: st.shared.32 takes 8 times its ideal wavefronts; the limit is 1",
        "line 4: s[q[t]] = 2.f could not be evaluated",
    ]
    assert failures(found, 1, (), None) == told
    assert failures(found, 1, ("2", "4"), None) == []
    assert failures(found, None, (), found.as_dict()) == []
