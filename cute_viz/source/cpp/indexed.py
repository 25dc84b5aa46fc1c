"""Where the statements of a file index tensors and arrays, `sV(c, r) = x`, `s[i]`: by its tokens, nothing is evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cute_viz.source.cpp.assembly import Assembly, taken_by
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.scopes import Declaration, Param, Range, Scope, outward
from cute_viz.source.cpp.shared import ASSIGNED, argument, follows, is_address, is_followed, is_plain, is_single, taken, waits
from cute_viz.source.cpp.spots import Spot, spot_of, with_field
from cute_viz.source.moves import ADDRESS

_OTHERS = frozenset(("case", "default", "template", "using", "{", "try", "struct", "class", "union", "else"))  # no statements
_HEADS = frozenset(("if", "switch", "while", "for"))  # whose conditions are read
_BY_VALUE = re.compile(  # intrinsics, CUDA's mathematical functions, conversions
    r"__\w+|(fast_)?(f?max|f?min|f?abs|f?mod|fdim|fma|exp(2|10|m1)?|log(2|10|1p)?|pow|r?sqrt|r?cbrt|hypot|erfc?|lgamma|tgamma|copysign"
    r"|a?(sin|cos|tan)h?|(sin|cos)pi|l?l?r(ou|i)nd|l?l?rint|floor|ceil|trunc|nearbyint|is(nan|inf|finite)|h[a-z]+\d*)f?"
    r"|float|double|int|half|get|[A-Z]\w*|\w+_t|static_cast"
)
# operators whose results no reference can be to
_COMPUTED = frozenset(("+", "-", "*", "/", "%", "^", "|", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||"))


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


def accesses(reader: Declarer, names: Mapping[str, list[Declaration]], begin: int, scope: Scope) -> Iterator[Indexed]:
    """The elements that a statement of a scope loads and stores, each once, and what it does with an array that is not followed."""
    tokens, met = reader.tokens, set()
    word = next((x.text for x in tokens[begin : begin + 2] if x.text in _HEADS), tokens[begin].text)
    if word in _OTHERS:
        return
    if word == "do":
        begin, end = next((x.value for x in scope.statements if x.token == begin and x.value is not None), (begin, begin))
    else:
        begin = reader.find(begin, ("(",)) if word in _HEADS else begin
        end = reader.match[begin] if word in _HEADS else reader.find(begin, (";",))
    for n in _outside(reader, begin, end):  # macros of several statements stand as they are
        for name in {x.text for macro in reader.source.macros.get(tokens[n].text, ()) for x in macro.body} & names.keys():
            if any(scope.inside(x.scope) and is_plain(reader, names, x) for x in names[name]):
                yield Indexed(n, Spot(n, n + 1, (), n + 1), name, False, False, why="what its macro does is not followed")
    mentions = [n for n in _outside(reader, begin, end) if tokens[n].text in names and tokens[n - 1].kind not in (".", "->", "::")]
    spots = {n: with_field(reader, spot_of(reader, n)) for n in mentions}
    stores = {n: stored(reader, place) for n, place in spots.items()}
    for n, place in spots.items():
        name = tokens[n].text
        mine = [x for x in names[name] if scope.inside(x.scope)]
        if not mine or any(x.token == n for x in mine):  # a parameter; it is declared
            continue
        words = {token.text for part in place.indices for token in tokens[slice(*part)]}
        one = not (mine[0].pointer or mine[0].array) and is_single(reader, mine[0])
        auto = mine[0].type is None or tokens[mine[0].type[0]].text == "auto"
        if (auto or not one) and (part := argument(reader, n)) is not None and not waits(name):
            by = taken_by(reader, scope, *part)
            plain = any(x.array or x.pointer for x in mine) and taken(reader, n) is not None
            away = plain or any(is_address(reader, x) and x.type is not None and tokens[x.type[0]].text != "auto" for x in mine)
            if (by is not None or away) and not follows(reader, names, n):
                spot, store = Spot(*part, (), part[1], deref=True, member=part[1]), by is not None and by.store
                why = ADDRESS if by is None else ""
                yield Indexed(part[0], spot, name, store, False, _tests(reader, begin, n), why, by)
                continue
        if mine[0].pointer is mine[0].array is False and _is_method(reader, n):
            yield Indexed(n, place, name, False, False, why="what a function of its type accesses is not followed")
        if any(a == b for a, b in place.indices) or _is_slice(words, scope):
            continue
        if not (one or place.indices or place.step or place.deref):
            if (
                not waits(name)
                and any(is_plain(reader, names, x) for x in mine)
                and not (follows(reader, names, n) or is_followed(reader, names, begin, n))
            ):
                yield Indexed(n, place, name, False, False, why=ADDRESS)
            continue
        member = place.cast is not None and tokens[place.right].kind == "."
        why = "how much of it a compiler loads for one member is not known" if member else ""
        why = "what lies in a part of it is not followed" if not place.cast and tokens[place.right].kind == "[" else why
        why = "what the head of a loop reads is not counted" if word in ("for", "while", "do") else why
        by, operator = None, stores[n]
        if follows(reader, names, n, place):  # its own accesses are found
            continue
        if not (operator or place.cast or _is_value(reader, begin, n, place.close)):
            by = taken_by(reader, scope, place.left - 1, place.right) if tokens[place.left - 1].text == "&" else None
            why = "" if by is not None else ADDRESS
            if why and (waits(name) or (one and tokens[n + 1].kind in (".", "->"))):
                continue
        kinds = [by.store] if by is not None else [True, *[False] * (operator != "=")] if operator else [False]
        for kind in kinds:
            key = name, " ".join(token.text for token in tokens[n : place.right]), kind
            if key not in met:
                met.add(key)
                ways = [stores[m] for m in mentions if tokens[m].text == name]
                twice = any(way and way != "=" for way in ways) or (any(ways) and not all(ways))
                yield Indexed(n, place, name, kind, twice, _tests(reader, begin, n), why, by)


def _outside(reader: Declarer, begin: int, end: int) -> Iterator[int]:
    """The tokens of a statement, without those of lambdas, whose statements are their own."""
    n = begin
    while n < end:
        yield n
        n = reader.match[reader.find(reader.match[n] + 1, ("{",))] if n in reader.lambdas else n + 1


def stored(reader: Declarer, place: Spot) -> str:
    """The operator that stores to an element, "" where none does; `++` is one that loads it, too."""
    tokens, left, right = reader.tokens, place.left, place.right
    while tokens[left - 1].kind == "(" and tokens[right].kind == ")" and tokens[left - 2].kind not in ("name", ">", "]"):
        left, right = left - 1, right + 1
    moves = place.deref and right == place.right and tokens[right - 1].kind != ")"
    steps = tokens[left - 1].kind in ("++", "--") or (tokens[right].kind in ("++", "--") and not moves)
    return tokens[right].text if tokens[right].text in ASSIGNED else "++" if steps else ""


def _is_method(reader: Declarer, n: int) -> bool:
    """Whether a function that the file has of the type of an object is called."""
    tokens = reader.tokens
    method = tokens[n + 2].text if tokens[n + 1].kind in (".", "->") and tokens[n + 3].kind == "(" else ""
    inside = (x for x in reader.functions if method == x.name and x.parent is not None and x.parent.kind == "class")
    return any(tokens[k].kind == "[" for x in inside for k in range(x.token, reader.match[reader.find(x.token, ("{",))]))


def _is_slice(words: set[str], scope: Scope) -> bool:
    """Whether `_`, or an `X` that the file does not declare, is among the words of an index."""
    return "_" in words or ("X" in words and not any("X" in (*x.names, *_params(x)) for x in outward(scope)))


def _params(scope: Scope) -> list[str]:
    return [param.name for param in (*(scope.params or ()), *scope.arguments)]


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
                copied = _BY_VALUE.fullmatch(tokens[word].text) is not None or _is_copied(reader, word, at, n)
                values = values and copied and tokens[word].text not in reader.source.macros
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
