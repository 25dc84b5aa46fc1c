"""Where the statements of a file index tensors and arrays, `sV(c, r) = x`, `s[i]`: by its tokens, nothing is evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cute_viz.source.cpp.assembly import Assembly, taken_by
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.scopes import Declaration, Param, Range, Scope, outward
from cute_viz.source.moves import ADDRESS

_VIEWS = re.compile(
    r"partition|local_tile|make_tensor(?!_like| <)|group_modes|recast|retile|domain_offset|flatten|coalesce|zipped_divide|filter"
)
_OTHERS = frozenset(("for", "while", "if", "switch", "template", "using"))  # whose heads are not statements
ASSIGNED = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))
_BY_VALUE = re.compile(  # intrinsics, CUDA's mathematical functions, conversions
    r"__\w+|(fast_)?(f?max|f?min|f?abs|f?mod|fdim|fma|exp(2|10|m1)?|log(2|10|1p)?|pow|r?sqrt|r?cbrt|hypot|erfc?|lgamma|tgamma|copysign"
    r"|a?(sin|cos|tan)h?|(sin|cos)pi|l?l?r(ou|i)nd|l?l?rint|floor|ceil|trunc|nearbyint|is(nan|inf|finite)|h[a-z]+\d*)f?"
    r"|float|double|int|half|[A-Z]\w*|\w+_t|static_cast"
)
# operators whose results no reference can be to
_COMPUTED = frozenset(("+", "-", "*", "/", "%", "^", "|", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||"))
_QUALIFIERS = ("const", "volatile", "__restrict__")
_CAST = "reinterpret_cast"


class Spot(NamedTuple):
    """An element in a statement: its first token and the one behind it, the tokens of each index, and the one behind
    all of these.
    cast: the tokens of the type that its address is cast to, if it is. step: of an index behind that cast, which counts in it."""

    left: int
    right: int
    indices: tuple[Range, ...]
    close: int
    cast: Range | None = None
    step: Range | None = None


class Indexed(NamedTuple):
    """One access in a statement: where it stands, the name of what it indexes, whether it stores, and whether the statement both
    loads and stores elements of that name. tests: the conditions in the statement, and what they must be. why: not counted. by:
    the assembly that its address goes to."""

    token: int
    place: Spot
    name: str
    store: bool
    both: bool
    tests: tuple[tuple[Range, bool], ...] = ()
    why: str = ""
    by: Assembly | None = None


def arrays(reader: Declarer) -> dict[str, list[Declaration]]:
    """The names of a file that may be tensors in memory: views, and arrays in shared memory."""
    out: dict[str, list[Declaration]] = {}
    for scope in dict.fromkeys(reader.scopes):
        for x in scope.declarations if scope.local else ():
            words = " ".join(token.text for token in reader.tokens[slice(*(x.init or (0, 0)))])
            view = _VIEWS.search(words) and "fragment" not in words and "_like" not in words
            view = view or (x.init is not None and reader.tokens[x.init[0]].text in out)  # a slice of one
            if x.kind == "variable" and (is_shared(reader, x) if x.array else view):
                out.setdefault(x.name, []).append(x)
    return out


def is_shared(reader: Declarer, x: Declaration) -> bool:
    """Whether a declaration of an array puts it into shared memory."""
    begin = x.type[0] if x.type is not None else x.token
    return "__shared__" in {token.text for token in reader.tokens[max(0, begin - 6) : x.token]}


def accesses(reader: Declarer, names: Mapping[str, list[Declaration]], begin: int, scope: Scope) -> Iterator[Indexed]:
    """The elements that a statement of a scope loads and stores, each once."""
    tokens, end = reader.tokens, reader.find(begin, (";", "{"))
    if tokens[begin].text in _OTHERS or any(x.text == "for" for x in tokens[begin:end]):
        return
    at, assigned = begin, None
    while at < end and assigned is None:
        assigned = at if tokens[at].text in ASSIGNED else None
        at = reader.match[at] + 1 if tokens[at].kind in ("(", "[", "{") else at + 1
    met = set()

    def both(name: str) -> bool:
        return tokens[begin].text == name and (
            tokens[assigned or begin].text != "=" or name in {x.text for x in tokens[assigned or begin : end]}
        )

    for n in range(begin, end):
        if tokens[n].text not in names or tokens[n - 1].kind in (".", "->", "::"):
            continue
        mine = [x for x in names[tokens[n].text] if scope.inside(x.scope)]
        if not mine or any(x.token == n for x in mine):  # a parameter; it is declared
            continue
        place = _spot(reader, n)
        words = {token.text for part in place.indices for token in tokens[slice(*part)]}
        first = place.left == begin and assigned == place.right
        if not (place.indices or place.step) or any(a == b for a, b in place.indices) or _is_slice(words, scope):
            continue
        part = place.cast is not None and tokens[place.right].kind == "."
        why = "how much of it a compiler loads for one member is not known" if part else ""
        by = None
        if not (first or place.cast or _is_value(reader, begin, n, place.close)):
            by = taken_by(reader, scope, place.left - 1, place.right) if tokens[place.left - 1].text == "&" else None
            why = "" if by is not None else ADDRESS
        kinds = (
            [by.store]
            if by is not None
            else [True, *[False] * (tokens[assigned].text != "=")]
            if first and assigned is not None
            else [False]
        )
        for store in kinds:
            key = tokens[n].text, " ".join(token.text for token in tokens[n : place.right]), store
            if key not in met:
                met.add(key)
                tests = _tests(reader, begin, n)
                twice = assigned is not None and both(tokens[n].text)
                yield Indexed(n, place, tokens[n].text, store, twice, tests, why, by)


def _is_slice(words: set[str], scope: Scope) -> bool:
    """Whether `_`, or an `X` that the file does not declare, is among the words of an index."""
    return "_" in words or ("X" in words and not any("X" in (*x.names, *_params(x)) for x in outward(scope)))


def _params(scope: Scope) -> list[str]:
    return [param.name for param in (*(scope.params or ()), *scope.arguments)]


def _spot(reader: Declarer, n: int) -> Spot:
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

    indices, close = brackets(reader, n)
    plain = Spot(n, close, indices, close)
    left, right = outside(n, close)
    if tokens[left - 1].text == "&":
        left, right = outside(left - 1, right)
    else:
        left, right, added = summand(left, right)
        indices = indices if added is None else (*indices, added)
    cast = _cast_before(reader, left)
    if cast is None:
        return plain
    left, right, step = summand(*outside(cast[0], right))
    if step is None and tokens[right].kind == "[":
        right, step = match[right] + 1, (right + 1, match[right])
    elif tokens[left - 1].text == "*":
        left -= 1
    else:
        return plain
    close = max([close, *(part[1] for part in (*indices[-1:], step) if part is not None)])
    return Spot(*outside(left, right), indices, close, cast[1], step)


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


def _tests(reader: Declarer, begin: int, n: int) -> tuple[tuple[Range, bool], ...]:
    """The conditions of `a ? b : c`, `a && b` and `a || b` in a statement that decide whether a place in it is reached."""
    tokens, out, depth, wanted = reader.tokens, list[tuple[Range, bool]](), 0, True
    ends: list[tuple[int, bool]] = []  # of conditions that are not begun yet
    for at in range(n - 1, begin - 2, -1):
        text, kind = (tokens[at].text, tokens[at].kind) if at >= begin else (";", ";")
        depth += (kind in (")", "]", "}")) - (kind in ("(", "[", "{") and depth > 0)
        if depth or (kind in ("(", "[", "{") and tokens[reader.match[at]].start < tokens[n].start):
            continue
        if text in ("(", "[", "{", ",", "return", ";") or text in ASSIGNED:
            out += [((at + 1, end), held) for end, held in ends]
            ends, wanted = [], True
        elif text in ("?", "&&", "||"):
            ends.append((at, wanted if text == "?" else text == "&&"))
            wanted = True
        elif text == ":":
            wanted = False
    return tuple(out)


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


def _is_value(reader: Declarer, begin: int, n: int, close: int) -> bool:
    """Whether a place in a statement is read as a value: no address, no argument of a function that may take a reference."""
    tokens = reader.tokens
    if tokens[n - 1].kind in ("&", "++", "--") or tokens[close].kind in ("++", "--", ".", "->"):
        return False
    values, depth = begin != n, 0  # a statement that is only an element does nothing
    for at in range(n - 1, begin, -1):
        depth += (tokens[at].kind in (")", "]", "}")) - (tokens[at].kind in ("(", "[", "{"))
        if depth < 0:
            depth, word = 0, at - 1
            if tokens[word].kind == ">":
                word = next((k - 1 for k in range(word, begin, -1) if tokens[k].kind == "<"), word)
            if tokens[at].kind == "(" and tokens[word].kind == "name":
                values = values and (_BY_VALUE.fullmatch(tokens[word].text) is not None or _is_copied(reader, word, at, n))
    return values


def _is_copied(reader: Declarer, word: int, opening: int, n: int) -> bool:
    """Whether an argument of a call is a value: operators compute it, or each function of that name in the file takes one."""
    tokens, parts = reader.tokens, reader.split(opening + 1, reader.match[opening])
    k, (a, b) = next((k, part) for k, part in enumerate(parts) if part[0] <= n < part[1])
    at = a
    while at < b:
        if tokens[at].kind in _COMPUTED:
            return True
        at = reader.match[at] + 1 if tokens[at].kind in ("(", "[", "{") else at + 1
    mine = [x.arguments for x in reader.scopes if x.kind == "function" and x.name == tokens[word].text]
    return bool(mine) and all(k < len(x) and not _is_reference(reader, x[k]) for x in mine)


def _is_reference(reader: Declarer, param: Param) -> bool:
    begin = (param.type or (param.token, 0))[0]
    return any(token.kind in ("&", "&&") for token in reader.tokens[begin : param.token])
