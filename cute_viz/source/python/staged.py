"""Integers that only runs know, as the DSL has them: what is computed with them, and what prints."""

from __future__ import annotations

import math
from typing import Any

from cute_viz.source.python.values import SizedInt
from cute_viz.values.integer import Unknown


def unstaged(value: Any) -> Any:
    """Run-time integers as layouts have them, of which the DSL keeps what divides them."""
    if isinstance(value, Unknown):
        return value.turned(plain=False) if value.name[0] == "?" else value
    if isinstance(value, SizedInt):
        return Unknown("?{i64}" if value.bits == 64 else "?", written=value.written or f"Int{value.bits}({int(value)})")
    return tuple(map(unstaged, value)) if type(value) is tuple else value


def narrowed(value: Any) -> Any:
    """The plain run-time numbers in a value as if they had 32 bits."""
    if isinstance(value, Unknown):
        return value.turned(plain=True, bits=32) if value.plain else value
    return tuple(map(narrowed, value)) if type(value) is tuple else value


def computed(word: str, a: Any, b: Any, *others: Any) -> Any:
    """Arithmetic of run-time integers, of which the DSL keeps the width, and of a layout's a number that divides them. Raises:
    NotationError for what gives no integer.

    >>> print(computed("*", Unknown(plain=True), 8), computed("*", Unknown(), 8), computed("//", Unknown("?{i64 div=8}"), 2))
    ? ?{div=8} ?{i64 div=4}
    """
    known = [x for x in (a, b) if isinstance(x, Unknown)]
    made = known[0].applied(f"{word}{len(known) if known[0] is a else 'r'}", *(x for x in (a, b, *others) if x is not known[0]))
    first, number = known[0], next((int(x) for x in (a, b) if isinstance(x, int)), None)
    if len(known) + (number is not None) < 2 or word in ("/", "@"):
        raise first.error()
    widths = {"i64" in x.name for x in known}
    large = number is not None and number.bit_length() > 31
    kept = word in ("+", "-", "*", "//", "%") and len(widths) == 1 and not large and not all(x.plain for x in known)
    if not kept or (widths == {True} and (number == 0 or word == "%")):
        return made.turned(plain=True, bits=64 if large or True in widths else 32, div=1)
    left, right = (x.div if isinstance(x, Unknown) else abs(int(x)) for x in (a, b))
    if word == "*":
        return 0 if number == 0 else made.turned(plain=False, div=left * right)
    if word in "+-":
        return made.turned(plain=False, div=math.gcd(left, right))
    if number is None or number < 1 or isinstance(a, int):
        return made.turned(plain=False, div=1)
    if word == "%":
        return 0 if left % number == 0 else made.turned(plain=False, div=math.gcd(left, number))
    return made.turned(plain=False, div=left // number if left % number == 0 else 1)
