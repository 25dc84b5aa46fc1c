"""The types of integers of C++ that are not known, and their ends: a conversion keeps a number that is proven to fit."""

from __future__ import annotations

import re
from copy import copy
from math import inf, isinf
from typing import Any

from cute_viz.errors import CuteVizError
from cute_viz.source.cpp.numbers import kind_of, number
from cute_viz.source.cpp.unknown import unknown
from cute_viz.values.integer import Unknown
from cute_viz.values.marks import Kind

_Ends = tuple[float, float]
_OF_NUMBER = re.compile(r"(-?\d+)(\D+)")  # an operator whose first operand is a number
_MOST = {"threadIdx": 1023, "blockDim": 1024}


def index_of(name: str, error: CuteVizError) -> Unknown:
    """`threadIdx.x`, `gridDim.y`: an unsigned int that only a run knows."""
    out = unknown(error)
    out.kind, out.ends = (32, False), (0, _MOST.get(name.partition(".")[0], inf))
    return out


def typed(x: Any, kind: Kind) -> int | Unknown:
    """The same integer of another type, which it need not fit."""
    if not isinstance(x, Unknown):
        return number(x, kind)
    out = x if x.kind == kind else copy(x)
    out.kind = kind
    return out


def ends_of(kind: Kind) -> tuple[int, int]:
    """The least and the greatest number of a type."""
    bits, signed = kind
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)


def kind_of_word(word: str) -> Kind | None:
    """The type that a conversion makes, by its word; None of another function."""
    return (int(word[1:]), word[0] == "i") if word[:1] in ("i", "u") and word[1:].isdigit() else None


def converted(x: Any, kind: Kind | None = None) -> int | Unknown:
    """An integer in a type, its own where none is given: its last bits, or itself where it is proven to fit. What nothing bounds
    is taken to fit its own type, and a signed one."""
    own = kind_of(x)
    kind = kind or own
    if not isinstance(x, Unknown):
        return number(x, kind)
    bits, signed = kind
    least, most = ends_of(kind)
    whole = _opened(x, bits)
    for one in (whole, x):
        low, high = _ends(one)
        if least <= low and high <= most:
            return typed(one, kind)
    endless = isinf(low) or (isinf(high) and low >= least)
    if endless and whole is x and (own == kind or (signed and bits >= 32)):
        return typed(x, kind)
    return typed(whole.applied(f"{'ui'[signed]}{bits}"), kind)


def _opened(x: Unknown, bits: int) -> Any:
    """An integer with the same last bits, without conversions that keep these."""
    out: Any = 0
    if not any(_keeps(leaf, bits) for leaf in x.leaves.values()):
        return x
    for names, factor in x.terms.items():
        term: Any = factor
        for leaf in (x.leaves[name] for name in names):
            term = term * (leaf.made[1][0] if leaf.made is not None and _keeps(leaf, bits) else leaf)
        out = term + out
    return out


def _keeps(leaf: Unknown, bits: int) -> bool:
    kind = kind_of_word(leaf.made[0]) if leaf.made is not None else None
    return kind is not None and kind[0] >= bits


def _ends(x: Any) -> _Ends:
    """Between which numbers an integer is proven to lie, infinite ones where nothing bounds it."""
    if not isinstance(x, Unknown):
        return (int(x), int(x)) if isinstance(x, int) else (-inf, inf)
    low: float = 0
    high: float = 0
    for names, factor in x.terms.items():
        span: _Ends = (factor, factor)
        for name in names:
            products = [a and b and a * b for a in span for b in _leaf_ends(x.leaves[name])]
            span = min(products), max(products)
        low, high = low + span[0], high + span[1]
    return low, high


def made_of(leaf: Unknown) -> tuple[str, tuple[Any, ...]]:
    """The function and the operands that an integer is computed of, "" of one that is not."""
    word, operands = leaf.made or ("", ())
    first = _OF_NUMBER.fullmatch(word)
    return (word, operands) if first is None else (first[2], (int(first[1]), *operands))


def _leaf_ends(leaf: Unknown) -> _Ends:
    word, operands = made_of(leaf)
    if (kind := kind_of_word(word)) is not None:
        return ends_of(kind)
    if len(operands) == 2 and leaf.ends == (-inf, inf):  # else they are known already
        leaf.ends = _computed_ends(word, *map(_ends, operands))
    return leaf.ends


def _computed_ends(word: str, left: _Ends, right: _Ends) -> _Ends:
    (low, high), (least, most) = left, right
    size = max(-low, high)
    match word:
        case "min":
            return min(low, least), min(high, most)
        case "max":
            return max(low, least), max(high, most)
        case "mod" if least > 0:
            return 0, most - 1
        case "%" if least > 0 and low >= 0:
            return 0, min(high, most - 1)
        case "//" if least > 0:
            return min(low, 0), max(0, high)
        case "/" if least > 0 and low >= 0:
            return 0, high if isinf(high) else high // least
        case "/" | "%":
            return -size, size
        case ">>":
            return min(low, 0), max(high, 0)
        case "<<" if least >= 0 and most < 64 and not isinf(size):
            return min(low, 0) * 2**most, max(high, 0) * 2**most
        case "&" if low >= 0 or least >= 0:
            return 0, min(end for begin, end in ((low, high), (least, most)) if begin >= 0)
        case "&" | "|" | "^" if not isinf(size := max(size, -least, most)):
            power = 1 << int(size).bit_length()
            return (0 if low >= 0 and least >= 0 else -power), power - 1
    return -inf, inf
