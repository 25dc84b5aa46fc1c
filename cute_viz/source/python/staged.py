"""Integers that only runs know, as the DSL has them: what is computed with them, and what prints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from cute_viz.algebra.unknown import Unknown as RunTime
from cute_viz.errors import Span
from cute_viz.source.python.values import Typed


class Staged(RunTime):
    """An integer of the DSL that only runs know: `M: Int32` of a function that is compiled, `cute.arch.thread_idx()`.

    plain: it is a number, not of a layout: the DSL keeps nothing about what it computes with it, not even that 8 divides 8 * M.
    """

    __slots__ = ("plain",)

    def __init__(
        self, name: str = "?", text: str | None = None, span: Span | None = None, written: str = "", plain: bool = False
    ) -> None:
        super().__init__(name, text, span, written)
        self.plain = plain

    def turned(self, *, plain: bool, bits: int = 0, div: int = 0, written: str = "") -> Staged:
        """The same, of other facts: 0 bits keep its width, 0 keeps what divides it."""
        wide = bits == 64 if bits else "i64" in self.name
        known = [*(["i64"] if wide else []), *([f"div={div or self.div}"] if (div or self.div) > 1 else [])]
        return Staged(f"?{{{' '.join(known)}}}" if known else "?", self.text, self.span, written or self.written, plain)


def unstaged(value: Any) -> Any:
    """Run-time integers as layouts have them, of which the DSL keeps what divides them."""
    if isinstance(value, Staged):
        return RunTime(value.name, value.text, value.span, value.written)
    if isinstance(value, Typed):
        return RunTime("?{i64}" if value.bits == 64 else "?", written=value.written or f"Int{value.bits}({int(value)})")
    return tuple(map(unstaged, value)) if isinstance(value, tuple) and any(True for _ in _within(value)) else value


def narrowed(value: Any) -> Any:
    """The plain run-time numbers in a value as if they had 32 bits."""
    if isinstance(value, Staged):
        return value.turned(plain=True, bits=32) if value.plain else value
    return tuple(map(narrowed, value)) if type(value) is tuple else value


def _within(value: Any) -> Iterator[Staged | Typed]:
    if isinstance(value, (Staged, Typed)):
        yield value
    elif type(value) is tuple:
        for item in value:
            yield from _within(item)


def computed(word: str, a: Any, b: Any) -> Any:
    """Arithmetic of run-time integers, of which the DSL keeps the width, and of a layout's a number that divides them.

    Raises: NotationError for what gives no integer.

    >>> print(computed("*", Staged(plain=True), 8), computed("*", Staged(), 8), computed("//", Staged("?{i64 div=8}"), 2))
    ? ?{div=8} ?{i64 div=4}
    """
    a, b = (Staged(x.name, x.text, x.span, x.written) if type(x) is RunTime else x for x in (a, b))
    known = [x for x in (a, b) if isinstance(x, Staged)]
    first, number = known[0], next((int(x) for x in (a, b) if isinstance(x, int)), None)
    if len(known) + (number is not None) < 2 or word in ("/", "@"):
        raise first.error()
    widths = {"i64" in x.name for x in known}
    large = number is not None and number.bit_length() > 31
    kept = word in ("+", "-", "*", "//", "%") and len(widths) == 1 and not large and not all(x.plain for x in known)
    if not kept or (widths == {True} and (number == 0 or word == "%")):
        return first.turned(plain=True, bits=64 if large or True in widths else 32, div=1)
    left, right = (x.div if isinstance(x, Staged) else abs(int(x)) for x in (a, b))
    if word == "*":
        return 0 if number == 0 else first.turned(plain=False, div=left * right)
    if word in "+-":
        return first.turned(plain=False, div=math.gcd(left, right))
    if number is None or number < 1 or isinstance(a, int):
        return first.turned(plain=False, div=1)
    if word == "%":
        return 0 if left % number == 0 else first.turned(plain=False, div=math.gcd(left, number))
    return first.turned(plain=False, div=left // number if left % number == 0 else 1)
