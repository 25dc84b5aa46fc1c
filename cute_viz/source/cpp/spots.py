"""Elements in the text of a statement: a name, its members and indices, and the casts around them."""

from __future__ import annotations

from typing import NamedTuple

from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.scopes import Range

_QUALIFIERS = ("const", "volatile", "__restrict__")
_CAST = "reinterpret_cast"


class Spot(NamedTuple):
    """An element in a statement: its first token and the one behind it, the tokens of each index, and the one behind
    all of these.
    cast: the tokens of the type that its address is cast to, if it is. step: of an index behind that cast, which counts in it.
    deref: whether a `*` stands before it. member: the token behind its name, or behind the members that it is an element of.
    field: the token of the member of the element that is meant, `x` of `p[t].x`; inner: the tokens of the indices of that."""

    left: int
    right: int
    indices: tuple[Range, ...]
    close: int
    cast: Range | None = None
    step: Range | None = None
    deref: bool = False
    member: int = 0
    field: int | None = None
    inner: tuple[Range, ...] = ()


def spot_of(reader: Declarer, n: int) -> Spot:
    """The element of the name at a token, with what takes its address and reads it as of another type: `((float4*)s)[i]`,
    `*(float4*)(s + i)`, `reinterpret_cast<float4*>(&s[i])[0]`."""
    tokens, match = reader.tokens, reader.match

    def outside(left: int, right: int) -> Range:
        while tokens[left - 1].kind == "(" and tokens[right].kind == ")":
            left, right = left - 1, right + 1
        return left, right

    def summand(left: int, right: int) -> tuple[int, int, Range | None]:
        """With what is added in parentheses: `(s + i)`."""
        if tokens[right].text != "+" or tokens[left - 1].kind != "(":
            return left, right, None
        close = match[left - 1]
        return *outside(left - 1, close + 1), (right + 1, close)

    behind = n
    while tokens[behind + 1].kind in (".", "->") and tokens[behind + 2].kind == "name" and tokens[behind + 3].kind != "(":
        behind += 2
    indices, close = brackets(reader, behind)
    close = close if indices or behind == n else behind + 1
    plain = Spot(n, close, indices, close, member=behind + 1)
    left, right = outside(n, close)
    if tokens[left - 1].text == "&":
        left, right = outside(left - 1, right)
    else:
        left, right, added = summand(left, right)
        indices = indices if added is None else (*indices, added)
    cast = _cast_before(reader, left)
    if cast is None:
        before = tokens[left - 2]
        binary = before.kind in ("name", "number", ")", "]") and before.text not in ("return", "else", "do")
        if tokens[left - 1].text != "*" or binary:
            return plain
        close = max(close, *(part[1] for part in indices)) if indices else close
        return Spot(*outside(left - 1, right), indices, close, deref=True, member=behind + 1)
    left, right, step = summand(*outside(cast[0], right))
    if step is None and tokens[right].kind == "[":
        right, step = match[right] + 1, (right + 1, match[right])
    elif tokens[left - 1].text == "*":
        left -= 1
    else:
        return plain
    close = max([close, *(part[1] for part in (*indices[-1:], step) if part is not None)])
    return Spot(*outside(left, right), indices, close, cast[1], step, member=behind + 1)


def with_field(reader: Declarer, place: Spot) -> Spot:
    """An element, or the member of it that is meant; a call of a function of it is none."""
    at, inner, tokens = place.right, list[Range](), reader.tokens
    if place.cast is not None or place.deref or not place.indices:
        return place
    while [x.kind for x in tokens[at : at + 2]] == [".", "name"] and tokens[at + 2].kind not in ("(", "<"):
        parts, at = brackets(reader, at + 1)
        inner += parts
    return place._replace(right=at, close=at, field=place.right + 1, inner=tuple(inner)) if at > place.right else place


def _cast_before(reader: Declarer, left: int) -> tuple[int, Range] | None:
    """Where a cast to a pointer begins that ends before a token, `(const int4*)` or `reinterpret_cast<int4*>`, and the type."""
    tokens, begin, end = reader.tokens, left - 2, left - 1
    while begin > 0 and tokens[begin].kind in ("name", "::", "<", ">", ",", "number", "*") and tokens[begin].text != _CAST:
        begin -= 1
    first = begin
    if tokens[end].kind == ">" and tokens[begin].text == _CAST:
        begin += 1
    elif tokens[end].kind != ")" or tokens[begin].kind != "(":
        return None
    begin += 1
    while tokens[end - 1].text in _QUALIFIERS:
        end -= 1
    while tokens[begin].text in _QUALIFIERS:
        begin += 1
    return (first, (begin, end - 1)) if begin < end - 1 and tokens[end - 1].text == "*" else None


def brackets(reader: Declarer, n: int) -> tuple[tuple[Range, ...], int]:
    """The indices behind a name, `(i, j)` or `[i][j]`, and the token behind them."""
    at = n + 1
    if reader.tokens[at].kind == "(":
        return tuple(reader.split(at + 1, reader.match[at])), reader.match[at] + 1
    out = []
    while reader.tokens[at].kind == "[":
        out.append((at + 1, reader.match[at]))
        at = reader.match[at] + 1
    return tuple(out), at
