"""An integer that only runs know, `?` in what CuTe's compiler and the DSL print, or a name without a value: it is never guessed.

Sums and products of it are unknown, too, except for a number that divides them, as in CuTe's compiler. Whatever must look at its
value, to compare, to count or to divide evenly, is refused with its place. In an operation that CuTe computes on types, it is not
"the constant 1" or any other (`is_constant` of cute/numeric/integral_constant.hpp).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import gcd
from typing import Any, NoReturn

from cute_viz.errors import NotationError, Span

_DIV, _WIDE = re.compile(r"div=(\d{1,18})\b"), re.compile(r"\bi64\b")
_on_types: ContextVar[bool] = ContextVar("on types", default=False)


class Unknown:
    """One run-time integer: `?`, `?{i64 div=8}`, or a name, `M`. written: how the text has it that it comes from.

    >>> x = Unknown("?{div=8}")
    >>> str(x), str(2 * x), 0 * x, x == x
    ('?{div=8}', '?{div=16}', 0, True)
    >>> x < 4
    Traceback (most recent call last):
    cute_viz.errors.NotationError: '?{div=8}' is a run-time value, whose number is not in the print
      hint: give a number: let={"?": 512}; for several, in their order: let={"?": (512,64)}
    >>> Unknown("M") == Unknown("M"), str(8 * Unknown("M"))
    (True, '?{div=8}')
    """

    __slots__ = ("name", "span", "text", "written")

    def __init__(self, name: str = "?", text: str | None = None, span: Span | None = None, written: str = "") -> None:
        self.name, self.text, self.span, self.written = name, text, span, written or name

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__

    def error(self) -> NotationError:
        """The error of what needs its number; the caller raises it."""
        if self.written[-1] == ")":  # a call
            return NotationError(f"{self.written} is a run-time value", text=self.text, span=self.span)
        if self.written[0] != "?":
            hint = f"give it a value: `let={self.written}=512`"
            needs = (self.written,)
            return NotationError(f"{self.written!r} has no value", text=self.text, span=self.span, hint=hint, needs=needs)
        return NotationError(
            f"{self.written!r} is a run-time value, whose number is not in the print",
            text=self.text,
            span=self.span,
            hint="give a number: `let=?=512`; for several, in their order: `let=?=(512,64)`",
            needs=("?",),
        )

    def derived(self, div: int = 1, other: Any = None) -> Unknown:
        """What is computed from it: another run-time integer, of which at most its width and a number that divides it are known."""
        wide = next((found[0] for x in (self, other) if isinstance(x, Unknown) and (found := _WIDE.search(x.name))), "")
        known = " ".join([*([wide] if wide else []), *([f"div={div}"] if div > 1 else [])])
        return Unknown(f"?{{{known}}}" if known else "?", self.text, self.span, self.written)

    @property
    def div(self) -> int:
        """A number that divides it.

        >>> Unknown("?{i64 div=8}").div, Unknown().div, str(4 * Unknown("?{i64 div=8}") + 16)
        (8, 1, '?{i64 div=16}')
        """
        found = _DIV.search(self.name)
        return max(1, int(found[1])) if found else 1

    @property
    def wide(self) -> bool:
        """Whether it has 64 bits."""
        return _WIDE.search(self.name) is not None

    def __add__(self, other: Any) -> Any:
        if type(other).__name__ == "Fraction":
            return self + int(other) if other.denominator == 1 else self.derived(1)
        if not isinstance(other, (int, Unknown)):
            return NotImplemented
        if isinstance(other, Unknown):
            return self.derived(gcd(self.div, other.div), other)
        return self if other == 0 else self.derived(gcd(self.div, int(other)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + other

    def __rsub__(self, other: Any) -> Any:
        return self.derived(gcd(self.div, int(other))) if isinstance(other, int) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        if type(other).__name__ == "Fraction":
            return self.derived(max(1, int(self.div * abs(other))) if (self.div * other).denominator == 1 else 1)
        if not isinstance(other, (int, Unknown)):
            return NotImplemented
        if isinstance(other, int) and other in (0, 1):
            return self if other else 0
        return self.derived(self.div * (other.div if isinstance(other, Unknown) else abs(int(other))), other)

    __rmul__ = __mul__

    def bit_length(self) -> int:
        """The bits that were written of it: none."""
        return 0

    def __neg__(self) -> Any:
        return self.derived(self.div)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, int) and not _on_types.get():
            raise self.error()
        return isinstance(other, Unknown) and self.name[0] != "?" and self.name == other.name

    def __hash__(self) -> int:
        return id(self) if self.name[0] == "?" else hash(self.name)

    def _needed(self, *_: Any) -> NoReturn:
        raise self.error()

    def __floordiv__(self, other: Any) -> Any:
        quotient = self._divided(self, other)[0]
        return quotient.derived() if isinstance(quotient, Unknown) and quotient is not self else quotient

    def __rfloordiv__(self, other: Any) -> Any:
        return self._divided(other, self)[0]

    def __mod__(self, other: Any) -> Any:
        return self._divided(self, other)[1]

    def __rmod__(self, other: Any) -> Any:
        return self._divided(other, self)[1]

    def _divided(self, a: Any, b: Any) -> tuple[Any, Any]:
        """The quotient and the rest: of types another run-time integer each; as a number nobody knows them."""
        if not _on_types.get():
            raise self.error()
        return quotient_rest(a, b)

    __lt__ = __le__ = __gt__ = __ge__ = __divmod__ = __rdivmod__ = _needed
    __abs__ = __bool__ = __and__ = __rand__ = __xor__ = __rxor__ = __lshift__ = __rshift__ = __int__ = __index__ = _needed


def quotient_rest(a: Any, b: Any) -> tuple[Any, Any]:
    """The quotient and the rest where one of two integers is a run-time one.

    >>> quotient_rest(Unknown(), 4), quotient_rest(0, Unknown()), quotient_rest(Unknown("?{i64}"), 1)
    ((?, ?), (0, 0), (?{i64}, 0))
    >>> quotient_rest(Unknown("?{div=64}"), 16)
    (?{div=4}, 0)
    """
    if isinstance(a, int) and a == 0:
        return 0, 0
    if isinstance(b, int) and b == 1:
        return a, 0
    if isinstance(a, Unknown) and isinstance(b, int) and b > 0 and a.div % b == 0:
        return a.derived(a.div // int(b)), 0
    either, other = (a, b) if isinstance(a, Unknown) else (b, a)
    return either.derived(1, other), either.derived(1, other)


def arith(operator: str, a: Any, b: Any) -> Any:
    """The sum, difference or product where one operand is a run-time integer. Raises: NotationError for other operators.

    >>> arith("*", 4, Unknown()), arith("-", Unknown(), 0)
    (?{div=4}, ?)
    """
    if operator == "+":
        return a + b
    if operator == "-":
        return a - b
    if operator == "*":
        return a * b
    raise (a if isinstance(a, Unknown) else b).error()


class OpenBits(Unknown):
    """A run-time integer some of whose bits are known: CuTe's MixedBits (cute/swizzle.hpp).

    >>> str(OpenBits(8, 96))
    '?{div=8}'
    """

    __slots__ = ("known", "open")

    def __init__(self, known: int, open: int) -> None:
        super().__init__(Unknown().derived((known | open) & -(known | open)).name)
        self.known, self.open = known, open


class MixedBits(int):
    """A number of which CuTe's types know some bits, as it prints it: `M_8|(32&96)=40`. It computes like any int.

    >>> x = MixedBits.of(40, OpenBits(8, 96))
    >>> str(x), x + 1
    ('M_8|(32&96)=40', 41)
    """

    known: int
    open: int

    @classmethod
    def of(cls, value: int, bits: Unknown) -> int:
        """A number, of which these bits are known; a plain one where nobody says which."""
        if not isinstance(bits, OpenBits):
            return int(value)
        out = cls(value)
        out.known, out.open = bits.known, bits.open
        return out

    def __str__(self) -> str:
        return f"M_{self.known}|({self & self.open}&{self.open})={int(self)}"


def unknowns(value: Any) -> Iterator[Unknown]:
    """The run-time integers in a value: in tuples, layouts, basis elements.

    >>> from cute_viz.algebra.layout import Layout
    >>> [str(x) for x in unknowns((Layout(4, Unknown()), 8))]
    ['?']
    """
    if isinstance(value, Unknown):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            if not isinstance(item, int):
                yield from unknowns(item)
    else:
        for name in ("shape", "stride", "outer", "offset", "inner", "value"):
            part = getattr(value, name, None)
            if part is not None and not isinstance(part, int):
                yield from unknowns(part)


@contextmanager
def on_types() -> Iterator[None]:
    """While an operation is computed as CuTe computes types: a run-time integer is none of the constants.

    >>> with on_types():
    ...     Unknown() == 1
    False
    """
    token = _on_types.set(True)
    try:
        yield
    finally:
        _on_types.reset(token)
