"""Integers that are not known are never guessed: what is called known is so whatever the numbers are."""

from __future__ import annotations

import random
from typing import Any

import pytest

from cute_viz.algebra import ops
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import div_rem
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.stride import Basis
from cute_viz.errors import CuteVizError
from cute_viz.source.cpp import read
from cute_viz.source.model import Given
from cute_viz.values.integer import Runtime, Unknown, compared, greatest, is_known, least

NUMBERS = [
    (m, n) for m in (-640, -9, -1, 0, 1, 2, 3, 5, 7, 8, 64, 100, 128, 4096, 5120) for n in (-128, -3, 1, 2, 4, 6, 16, 127, 513)
]


def _expression(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(["M", "N", "M", "N", str(rng.choice([1, 2, 3, 4, 7, 8, 16, 64, 128]))])
    kind = rng.randrange(9)
    a, b = _expression(rng, depth - 1), _expression(rng, depth - 1)
    if kind < 6:
        return f"({a} {'+-**+-'[kind]} {b})"
    number = rng.choice([1, 2, 3, 4, 8, 16, 128])
    return f"({a} {'/%'[kind - 6]} {number})" if kind < 8 else f"cute::{rng.choice(['min', 'max'])}({a}, {b})"


def _naive(text: str, m: int, n: int) -> int:
    """C++'s arithmetic, by Python's parser with `/` and `%` toward zero."""

    class Int(int):
        def __add__(self, other: int) -> Int:
            return Int(int(self) + other)

        def __sub__(self, other: int) -> Int:
            return Int(int(self) - other)

        def __mul__(self, other: int) -> Int:
            return Int(int(self) * other)

        def __truediv__(self, other: int) -> Int:  # type: ignore[override]
            return Int(abs(int(self)) // other * (1 if self >= 0 else -1))

        def __mod__(self, other: int) -> Int:
            return Int(int(self) - other * int(self / other))

    import re

    wrapped = re.sub(r"\b(\d+|[MN])\b", r"I(\1)", text.replace("cute::", ""))
    return int(eval(wrapped, {"I": Int, "M": m, "N": n, "min": min, "max": max}))


@pytest.mark.slow
def test_what_a_file_of_cpp_calls_known_is_so_for_all_numbers() -> None:
    rng = random.Random(33)
    texts = [_expression(rng, 3) for _ in range(300)]
    lines = "\n".join(f"  auto a{k} = make_shape({text} + 7, Int<8>{{}});" for k, text in enumerate(texts))
    file = read(f"void kernel(int M, int N) {{\n{lines}\n}}", Given())
    known = 0
    for k, text in enumerate(texts):
        number = file.find(f"kernel::a{k}").read()[0]
        naive = {_naive(text, m, n) + 7 for m, n in NUMBERS}
        if isinstance(number, Unknown):
            continue
        known += 1
        assert naive == {int(number)}, (text, number)
    assert 18 < known < 75  # those without M and N, and those in which they cancel out


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("M / 128 % 2 + 7", "?"),
        ("(threadIdx.x / 32) % 2", "?"),
        ("M - M", "0"),
        ("0 * M + 3", "3"),
        ("8 * M % 8 + 1", "1"),
        ("(8 * M + 4) % 8", "?"),  # -4 where M is less than 0
        ("(8 * M) & 7", "0"),
        ("M ^ M", "0"),
        ("(M << 3) / 8 - M", "0"),
        ("M * 8 == 8 * M ? 4 : 5", "4"),
        ("2 * M == 2 * N + 1 ? 4 : 5", "5"),
        ("M % 1 + 2", "2"),
        ("min(M, M + 1) - M + 2", "2"),
    ],
)
def test_what_is_proven(text: str, shown: str) -> None:
    file = read(f"void kernel(int M, int N) {{ auto a = make_shape({text}, Int<8>{{}}); }}", Given())
    assert str(file.find("kernel::a").read()[0]) == shown


@pytest.mark.parametrize("text", ["M == 4 ? 1 : 2", "M < M + 1 ? 1 : 2", "M && N ? 1 : 2", "M / 0", "8 * M == 16 ? 1 : 2"])
def test_what_is_not_proven_is_asked_for(text: str) -> None:
    file = read(f"void kernel(int M, int N) {{ auto a = make_shape({text}, Int<8>{{}}); }}", Given())
    with pytest.raises(CuteVizError) as caught:
        file.find("kernel::a").read()
    assert "zero" in caught.value.message or caught.value.needs == ("M",)


def test_algebra_of_integers() -> None:
    rng = random.Random(4)
    for _ in range(600):
        values: list[tuple[Any, dict[tuple[int, int], int]]] = [
            (Unknown("M"), {(m, n): m for m, n in NUMBERS}),
            (Unknown("N") * 8 + 4, {(m, n): 8 * n + 4 for m, n in NUMBERS}),
            (4, dict.fromkeys(NUMBERS, 4)),
        ]
        for _ in range(4):
            (a, x), (b, y) = rng.choice(values), rng.choice(values)
            word = rng.choice(["+", "-", "*", "//", "%", "/", "rest", "min", "max"])
            d = rng.choice([1, 2, 4, 8, 3])
            of: dict[str, tuple[Any, Any]] = {
                "+": (a + b, lambda p, q: p + q),
                "-": (a - b, lambda p, q: p - q),
                "*": (a * b, lambda p, q: p * q),
                "min": (least(a, b), min),
                "max": (greatest(a, b), max),
            }
            if word in of:
                values.append((of[word][0], {k: of[word][1](x[k], y[k]) for k in NUMBERS}))
            elif word in ("//", "%"):
                values.append(
                    (a // d, {k: x[k] // d for k in NUMBERS}) if word == "//" else (a % d, {k: x[k] % d for k in NUMBERS})
                )
            else:
                values.append((div_rem(a, d)[word == "rest"], {k: div_rem(x[k], d)[word == "rest"] for k in NUMBERS}))
            found, naive = values[-1]
            if isinstance(found, int):
                assert set(naive.values()) == {int(found)}
            else:
                assert all(value % found.divisor == 0 for value in naive.values())
                for other, numbers in values[:-1]:
                    if found == other:
                        assert numbers == naive
                    try:
                        answer = compared("==", found, other)
                    except CuteVizError:
                        continue
                    assert {numbers[k] == naive[k] for k in NUMBERS} == {answer}


def _tuple(rng: random.Random, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.4:
        return rng.choice([1, 2, 3, 4, 5, 8, 16, "M", "N", "8*M"])
    return tuple(_tuple(rng, depth - 1) for _ in range(rng.randint(1, 3)))


def _filled(x: Any, numbers: dict[str, Any]) -> Any:
    if isinstance(x, str):
        return numbers[x[-1]] * 8 if x[0] == "8" else numbers[x]
    if isinstance(x, list):
        return Layout(*(_filled(part, numbers) for part in x))
    return tuple(_filled(item, numbers) for item in x) if isinstance(x, tuple) else x


def _strides(shape: Any, rng: random.Random) -> Any:
    return tuple(_strides(s, rng) for s in shape) if isinstance(shape, tuple) else rng.choice([0, 1, 2, 4, 8, "M", "N"])


def _holds(a: Any, b: Any, numbers: dict[str, int]) -> bool:
    """Whether a value with integers that are not known is that of numbers, as far as it is said."""
    if isinstance(a, Unknown):
        if any(key not in numbers for product in a.terms for key in product):
            return isinstance(b, int) and int(b) % a.divisor == 0
        total = 0
        for product, factor in a.terms.items():
            for key in product:
                factor *= numbers[key]
            total += factor
        return isinstance(b, int) and total == int(b)
    if isinstance(a, int):
        return isinstance(b, int) and int(a) == int(b)
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(_holds(x, y, numbers) for x, y in zip(a, b, strict=True))
    if isinstance(a, Basis):
        return isinstance(b, Basis) and a.path == b.path and _holds(a.value, b.value, numbers)
    if isinstance(a, Layout):
        return isinstance(b, Layout) and _holds(a.shape, b.shape, numbers) and _holds(a.stride, b.stride, numbers)
    if isinstance(a, ComposedLayout):
        b = b if isinstance(b, ComposedLayout) else ComposedLayout(a.outer, 0, b)  # it begins at its pointer
        return _holds(a.offset, b.offset, numbers) and _holds(a.inner, b.inner, numbers)
    return bool(a == b)


@pytest.mark.parametrize("operation", [op for op in ops.OPS.values() if not set(op.kinds) & set("XUFVJB")], ids=lambda op: op.name)
def test_what_an_operation_calls_known_is_so_for_all_numbers(operation: ops.Op) -> None:
    """The operation on types, beside that of run-time integers whose numbers are known: the same nesting, no other number."""
    rng = random.Random(operation.name)
    for _ in range(60):
        operands = []
        kinds = operation.kinds.rstrip("*")
        for n in range(rng.randint(operation.least, len(kinds))):
            shape = _tuple(rng, 2)
            if kinds[n] == "N":
                operands.append(rng.choice([0, 1, 2, "M"]))
            elif kinds[n] in "SIMDPC" or rng.random() < 0.3:
                operands.append(shape)
            else:
                operands.append([shape, _strides(shape, rng)])
        try:
            found = operation.call([_filled(x, {"M": Unknown("M", plain=True), "N": Unknown("N", plain=True)}) for x in operands])
        except CuteVizError:
            continue
        for _ in range(4):
            numbers = {name: rng.choice([1, 2, 4, 8, 64, 96, 128, 640]) for name in "MN"}
            try:
                made = operation.call([_filled(x, {name: Runtime(n) for name, n in numbers.items()}) for x in operands])
            except CuteVizError:
                continue
            assert _holds(found, made, numbers), (operation.name, operands, numbers, str(found), str(made))


def test_kinds() -> None:
    assert [is_known(x) for x in (4, Runtime(4), Unknown("M"))] == [True, False, False]
