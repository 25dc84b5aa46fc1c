"""The integers of CuTe that nobody knows, with their cause; nothing is ever guessed. Those that are known are `marks`."""

from __future__ import annotations

from itertools import count
from math import gcd, inf
from typing import Any, NoReturn, TypeGuard

from cute_viz.errors import CuteVizError, NotationError, Span
from cute_viz.records import pattern
from cute_viz.values.examples import hint_for
from cute_viz.values.marks import MulticastMask as MulticastMask
from cute_viz.values.marks import Runtime as Runtime
from cute_viz.values.marks import Static as Static
from cute_viz.values.marks import is_constant as is_constant
from cute_viz.values.marks import is_one as is_one
from cute_viz.values.marks import is_static as is_static

_DIV, _WIDE = pattern(r"div=(\d{1,18})\b"), pattern(r"\bi64\b")
_MOST = 32  # products in a sum: a longer one is an integer of its own
_LONG = 2000  # characters of what an integer is computed from
_Terms = dict[tuple[str, ...], int]
_serial = count()


class Unknown:
    """A run-time integer whose number nobody knows: a name, `M`, a `?` of a print, or what is computed from these.

    It is symbolic: a sum of products of integers that are not known, and of what is computed of such a sum in other ways, each for
    itself. Two are equal where their sums are the same; a sum without them is a number. Whatever has to look at the number of an
    integer, to compare it or to count up to it, is refused with its cause.

    name: how it prints where it is not computed. written: how the text has it that it comes from. div: a number that divides it,
    wide: it has 64 bits, as the types of CuTe's compiler have them (the sum may tell more). plain: an int of a program, not one of
    a layout: its type does not keep what divides it. kind: bits of an int of a program, and whether it is signed. made: the
    function and the operands that it is computed of. ends: its least and greatest number.
    """

    __slots__ = (
        *("cause", "div", "ends", "key", "kind", "leaves", "made", "name", "plain", "span", "terms", "text", "wide", "written"),
    )

    def __init__(
        self,
        name: str = "?",
        text: str | None = None,
        span: Span | None = None,
        written: str = "",
        *,
        plain: bool = False,
        key: str = "",
        cause: CuteVizError | None = None,
    ) -> None:
        """key: what tells it from others, where the name does not; cause: why it is not known, where `written` does not say."""
        self.name, self.text, self.span, self.written = name, text, span, written or name
        found = _DIV.search(name)
        self.div = max(1, int(found[1])) if found else 1
        self.wide, self.plain, self.cause = _WIDE.search(name) is not None, plain, cause
        self.key = key or (name if name[0] != "?" else f"?{next(_serial)}")
        self.kind, self.ends = (32, True), (-inf, inf)
        self.made: tuple[str, tuple[Any, ...]] | None = None
        self.terms: _Terms = {(self.key,): 1}
        self.leaves: dict[str, Unknown] = {self.key: self}

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__

    def error(self) -> CuteVizError:
        """The error of what needs its number, with the names that would tell it; the caller raises it."""
        error = self.cause or self._unsaid()
        needs = tuple(dict.fromkeys(name for leaf in self.leaves.values() for name in (leaf.cause or leaf._unsaid()).needs))
        return error.but(needs=needs) if len(self.leaves) > 1 else error

    def _unsaid(self) -> CuteVizError:
        if self.written[-1] == ")":  # a call
            return NotationError(f"{self.written} is a run-time value", text=self.text, span=self.span)
        if self.written[0] != "?":
            hint = hint_for(self.written, default="512")
            needs = (self.written,)
            return NotationError(f"{self.written!r} has no value", text=self.text, span=self.span, hint=hint, needs=needs)
        return NotationError(
            f"{self.written!r} is a run-time value, whose number is not in the print",
            text=self.text,
            span=self.span,
            hint="give a number: `let=?=512`; for several, in their order: `let=?=(512,64)`",
            needs=("?",),
        )

    def turned(self, *, plain: bool | None = None, bits: int = 0, div: int = 0, written: str = "", key: str = "") -> Unknown:
        """The same integer of another type: what is not given stays; another one where it has a key of its own."""
        div, wide = div or self.div, bits == 64 if bits else self.wide
        known = [*(["i64"] if wide else []), *([f"div={div}"] if div > 1 else [])]
        name = f"?{{{' '.join(known)}}}" if known else "?"
        out = Unknown(name, self.text, self.span, written or self.written, key=key or self.key, cause=self.cause)
        out.plain, out.kind = self.plain if plain is None else plain, self.kind
        if not key:
            same = self.leaves.get(self.key, self)
            out.made, out.ends = same.made, same.ends
            out.terms, out.leaves = self.terms, self.leaves if len(self.leaves) > 1 or self.key not in self.leaves else out.leaves
        return out

    def renamed(self, cause: CuteVizError) -> Unknown:
        """The same integer, which is not known for another reason: a parameter that is given what nobody knows."""
        out = self.turned()
        out.cause = cause
        if out.key not in out.leaves:
            out.leaves = {key: leaf.renamed(cause) for key, leaf in self.leaves.items()}
        return out

    def applied(self, word: str, *others: object, div: int = 1) -> Unknown:
        """Another integer that a function gives of it and of others: the same for the same ones."""
        key = f"{word}({','.join(_key(x) for x in (self, *others))})"
        both = [x for x in (self, *others) if isinstance(x, Unknown)]
        out = self._computed(div, both, key if len(key) <= _LONG else f"?{next(_serial)}")
        out.made = (word, (self, *others)) if len(key) <= _LONG else None
        return out

    def _computed(self, div: int, of: list[Unknown], key: str) -> Unknown:
        """An integer of its own, which other ones tell: the names that these need are its needs."""
        plain = all(x.plain for x in of)
        first = next((x for x in of if x.error().needs), self) if len(of) > 1 else self
        out = first.turned(plain=plain, bits=64 if any(x.wide for x in of) else 32, div=1 if plain else div, key=key)
        needs = tuple(dict.fromkeys(name for x in of for name in x.error().needs))
        if needs != first.error().needs:
            out.cause = first.error().but(needs=needs)
        return out

    def _sum(self, terms: _Terms, div: int, other: object = None) -> object:
        """The integer that a sum of products is: a number where it has no integers that are not known."""
        terms = {product: factor for product, factor in terms.items() if factor}
        if not terms.keys() - {()}:
            return Runtime(terms.get((), 0))
        of = [self, other] if isinstance(other, Unknown) and other is not self else [self]
        key = "+".join(f"{factor}*{'*'.join(product)}" for product, factor in sorted(terms.items()))
        if len(terms) == 1 and list(terms.values()) == [1] and len(next(iter(terms))) == 1:
            key = next(iter(terms))[0]
        if len(terms) > _MOST or len(key) > _LONG:
            return self._computed(div, of, f"?{next(_serial)}")
        out = self._computed(div, of, key)
        known = {**self.leaves, **(other.leaves if isinstance(other, Unknown) else {})}
        out.leaves = {name: known[name] for product in terms for name in product}
        out.terms = terms
        return out

    @property
    def divisor(self) -> int:
        """The greatest number that is proven to divide it."""
        out = self.div
        whole = 0
        for product, factor in self.terms.items():
            for name in product:
                factor *= self.leaves[name].div
            whole = gcd(whole, factor)
        return out * whole // gcd(out, whole)

    def __add__(self, other: Any) -> Any:
        if type(other).__name__ == "Fraction":
            return self + int(other) if other.denominator == 1 else self.applied("+", other)
        if not isinstance(other, (int, Unknown)):
            return NotImplemented
        if isinstance(other, int) and other == 0:
            return self
        terms = dict(self.terms)
        for product, factor in _terms(other).items():
            terms[product] = terms.get(product, 0) + factor
        return self._sum(terms, gcd(self.div, other.div if isinstance(other, Unknown) else int(other)), other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: object) -> Any:
        return -self + other

    def __neg__(self) -> Any:
        return self._sum({product: -factor for product, factor in self.terms.items()}, self.div)

    def __mul__(self, other: Any) -> Any:
        if type(other).__name__ == "Fraction":
            div = max(1, int(self.div * abs(other))) if (self.div * other).denominator == 1 else 1
            return self * int(other) if other.denominator == 1 else self.applied("*", other, div=div)
        if not isinstance(other, (int, Unknown)):
            return NotImplemented
        if isinstance(other, int) and other in (0, 1):
            return self if other == 1 else 0 * other  # 0 of the kind that it is
        terms: _Terms = {}
        for a, n in self.terms.items():
            for b, m in _terms(other).items():
                product = tuple(sorted(a + b))
                terms[product] = terms.get(product, 0) + n * m
        return self._sum(terms, self.div * (other.div if isinstance(other, Unknown) else abs(int(other))), other)

    __rmul__ = __mul__

    def __floordiv__(self, other: object) -> Any:
        quotient = quotient_rest(self, other, "//")[0]
        return quotient.turned(div=1) if isinstance(quotient, Unknown) and quotient is not self else quotient

    def __rfloordiv__(self, other: object) -> Any:
        return quotient_rest(other, self, "//")[0]

    def __mod__(self, other: object) -> Any:
        return quotient_rest(self, other, "//")[1]

    def __rmod__(self, other: object) -> Any:
        return quotient_rest(other, self, "//")[1]

    def __abs__(self) -> Any:
        return self.applied("abs", div=self.div)

    def __eq__(self, other: object) -> bool:
        """Whether they are proven to be the same; `compared` refuses what neither is nor cannot be."""
        return isinstance(other, Unknown) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    __lt__, __le__, __gt__, __ge__ = map(lambda word: lambda self, other: compared(word, self, other), ("<", "<=", ">", ">="))

    def bit_length(self) -> int:
        """The bits that were written of it: none."""
        return 0

    def _needed(self, *_: object) -> NoReturn:
        raise self.error()

    __bool__ = __int__ = __index__ = __divmod__ = __rdivmod__ = _needed
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _needed


def _terms(x: Any) -> _Terms:
    return x.terms if isinstance(x, Unknown) else {(): int(x)}


def _key(x: object) -> str:
    return x.key if isinstance(x, Unknown) else str(x)


def compared(word: str, a: Any, b: Any) -> bool:
    """Whether `a < b`, `a == b` ... Raises: the cause of an integer that is not known, where the answer depends on it."""
    rest = a - b
    if isinstance(rest, Unknown):
        apart = word in ("==", "!=") and (rest - rest.terms.get((), 0)).divisor
        if apart and rest.terms.get((), 0) % apart:
            return word == "!="
        raise rest.error()
    table = {"==": rest == 0, "!=": rest != 0, "<": rest < 0, "<=": rest <= 0, ">": rest > 0, ">=": rest >= 0}
    return bool(table[word])


def quotient_rest(a: Any, b: Any, word: str = "/") -> tuple[Any, Any]:
    """The quotient and the rest where one of two integers is not known; `//` rounds down, `/` toward zero."""
    if isinstance(a, int) and a == 0:
        return a, a
    if isinstance(b, int) and b == 1:
        return a, b - b
    if isinstance(a, Unknown) and isinstance(b, int) and b > 0 and a.divisor % b == 0:
        none, b = Runtime(0) if a.plain else 0, int(b)  # a type that keeps what divides it tells it, too
        if all(factor % b == 0 for factor in a.terms.values()):
            exact = a._sum({product: factor // b for product, factor in a.terms.items()}, max(1, a.div // b))
            return exact, none
        return a.applied(word, b, div=a.div // b if a.div % b == 0 else 1), none
    rest = {"/": "%", "//": "mod"}[word]
    if not isinstance(a, Unknown):
        return b.applied(f"{a}{word}"), b.applied(f"{a}{rest}")
    common = gcd(a.divisor, int(b)) if isinstance(b, int) else 1
    return a.applied(word, b), a.applied(rest, b, div=common)


def is_known(x: object) -> bool:
    """Whether a number, or a basis element's, is known when code is compiled."""
    if type(x) is int:
        return True
    return not isinstance(x, (Runtime, Unknown)) and not isinstance(getattr(x, "value", None), (Runtime, Unknown))


def is_integer(x: object) -> TypeGuard[int]:
    """Whether something is an integer, known or not."""
    return isinstance(x, (int, Unknown))


def least(a: object, b: object) -> Any:
    """The smaller of two integers, which is known where both are."""
    return _extreme("min", a, b)


def greatest(a: object, b: object) -> object:
    """The greater of two integers, which is known where both are."""
    return _extreme("max", a, b)


def _extreme(word: str, a: Any, b: Any) -> object:
    if not isinstance(a, Unknown) and not isinstance(b, Unknown):
        found = min(a, b) if word == "min" else max(a, b)
        return found if is_known(a) and is_known(b) else Runtime(found)
    rest = a - b
    if not isinstance(rest, Unknown):
        return a if (rest <= 0) is (word == "min") else b
    first, second = sorted((a, b), key=_key)
    either, other = (first, second) if isinstance(first, Unknown) else (second, first)
    div = gcd(either.div, other.div if isinstance(other, Unknown) else int(other))
    return either.applied(word, other, div=div)
