"""The types of C++'s integers: promotions, conversions, and what their operators give; overflow gives nothing."""

from __future__ import annotations

from collections.abc import Callable
from operator import add, and_, mul, or_, sub, xor

from cute_viz.algebra.inttuple import div_rem
from cute_viz.errors import AlgebraError
from cute_viz.source.cpp.tree import COMPARE
from cute_viz.source.cpp.values import Value
from cute_viz.values.integer import Runtime, Unknown
from cute_viz.values.marks import INT, Kind, Sized, TypedStatic
from cute_viz.values.types import ValueType

SIZE: Kind = (64, False)
BOOL: Kind = (1, False)


def is_static(value: Value) -> bool:
    """Whether a value is a static integer: none of C++'s, known or not."""
    return isinstance(value, int) and not is_of_run_time(value)


def is_of_run_time(value: Value) -> bool:
    """Whether a value is a known integer of C++, or a bool."""
    return isinstance(value, (bool, Runtime))


def is_numeric(value: Value) -> bool:
    """Whether a value is a number, known or not."""
    return isinstance(value, (int, float, Unknown))


def number(value: int, kind: Kind) -> Runtime:
    """A number in a type: its last bits."""
    value = _wrapped(int(value), kind)
    if kind == INT:
        return Runtime(value)
    out = Sized(value)
    out.kind = kind
    return out


def kind_of(value: object) -> Kind:
    """The type of a number; a static one that an operation computed of wider ones is as wide."""
    if isinstance(value, bool):
        return BOOL
    wide = isinstance(value, int) and value != _wrapped(value, INT)
    return value.kind if isinstance(value, (Sized, TypedStatic, Unknown)) else (64, True) if wide else INT


def kind_named(kind: ValueType) -> Kind:
    """The type of integers that a name stands for."""
    unsigned = "unsigned" in kind.name or kind.kind == "unsigned" or "uint" in kind.name
    return kind.bits, not unsigned


def literal(value: int, text: str) -> Runtime:
    """A literal as it is written: `4u`, `0xffffffff`, `4ll`."""
    suffix = text.lower()[len(text.lower().rstrip("ulz")) :]
    decimal = text[:1] != "0" or len(text) == 1
    kinds: list[Kind] = [(32, True), (32, False), (64, True), (64, False)]
    if "u" in suffix:
        kinds = [kind for kind in kinds if not kind[1]]
    elif decimal:
        kinds = [kind for kind in kinds if kind[1]]
    if "l" in suffix or "z" in suffix:
        kinds = [kind for kind in kinds if kind[0] == 64]
    return number(value, next((kind for kind in kinds if _wrapped(value, kind) == value), kinds[-1]))


def _wrapped(value: int, kind: Kind) -> int:
    bits, signed = kind
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def promoted(kind: Kind) -> Kind:
    """The type that an operator computes a smaller one in."""
    return kind if kind[0] >= 32 else INT


def common(a: Kind, b: Kind) -> Kind:
    """The usual arithmetic conversions."""
    a, b = promoted(a), promoted(b)
    return (a[0], a[1] and b[1]) if a[0] == b[0] else max(a, b)


_EXACT: dict[str, Callable[[int, int], int]] = {"+": add, "-": sub, "*": mul, "&": and_, "|": or_, "^": xor}


def computed(operator: str, a: int, b: int) -> Runtime:
    """An operator of two numbers that are known. Raises: AlgebraError where it has no defined result."""
    if operator in ("<<", ">>"):
        kind = promoted(kind_of(a))
        if not 0 <= b < kind[0]:
            raise AlgebraError("this shift is too far")
        return number(_wrapped(int(a), kind) << int(b) if operator == "<<" else _wrapped(int(a), kind) >> int(b), kind)
    kind = common(kind_of(a), kind_of(b))
    x, y = _wrapped(int(a), kind), _wrapped(int(b), kind)
    if operator in "/%":
        if y == 0:
            raise AlgebraError("division by zero")
        result = div_rem(x, y)[operator == "%"]
    else:
        result = _EXACT[operator](x, y)
    if (kind[1] and _wrapped(result, kind) != result) or (operator == "%" and kind[1] and y == -1 and -x != _wrapped(-x, kind)):
        raise AlgebraError(f"{x} {operator} {y} overflows an int of {kind[0]} bits, which C++ leaves undefined")
    return number(result, kind)


def holds(operator: str, a: int, b: int) -> bool:
    """A comparison of two numbers that are known, in the type that they are converted to."""
    kind = common(kind_of(a), kind_of(b))
    return bool(COMPARE[operator](_wrapped(int(a), kind), _wrapped(int(b), kind)))


def negated(operator: str, value: int) -> Runtime:
    """`-x`, `+x`, `~x`. Raises: AlgebraError for -x of the least number."""
    kind = promoted(kind_of(value))
    result = {"-": -int(value), "+": int(value), "~": ~int(value)}[operator]
    if kind[1] and _wrapped(result, kind) != result:
        raise AlgebraError(f"-({int(value)}) overflows an int of {kind[0]} bits, which C++ leaves undefined")
    return number(result, kind)


_CHARS = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11}


def character(text: str) -> Value:
    """The number that a character in quotes is; its text, where it is more than one."""
    inside = text[1:-1]
    if len(inside) == 2 and inside[0] == "\\":
        return number(_CHARS.get(inside[1], ord(inside[1])), (8, True))
    return number(ord(inside), (8, True)) if len(inside) == 1 and text[0] == "'" and ord(inside) < 128 else text
