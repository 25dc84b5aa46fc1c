"""Which names of a file may be tensors in memory: views, arrays in shared memory, and what points there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from cute_viz.source.cpp.assembly import of_function
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.pointed import KERNEL, calls, says
from cute_viz.source.cpp.scopes import Declaration, Param, Range, Scope
from cute_viz.source.cpp.spots import Spot, spot_of

_VIEWS = re.compile(
    r"partition|local_tile|make_tensor(?!_like| <)|group_modes|recast|retile|domain_offset|flatten|coalesce|zipped_divide|filter"
)
TO_ADDRESS = re.compile(r"__cvta_generic_to_shared|cast_smem_ptr_to_uint")
_FOLLOWED = re.compile(
    r"if|while|for|switch|sizeof|return|make_\w+|\w+_ptr|\w+_cast|(co)?size\w*|print\w*|is_\w+|alignas|__align__|assert"
)

ASSIGNED = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))
_COMPARED = frozenset(("==", "!=", "<", ">", "<=", ">=", "!"))


def arrays(reader: Declarer) -> dict[str, list[Declaration]]:
    """The names of a file that may be tensors in memory: views, arrays in shared memory and what is named after them: pointers,
    references, parameters of functions that are called with them, one for each such call."""
    out: dict[str, list[Declaration]] = {}
    aliases: dict[str, list[Declaration]] = {}  # what is in shared memory, and what is named after it
    addresses: dict[str, list[Declaration]] = {}  # integers
    for scope in dict.fromkeys((reader.file, *reader.scopes)):
        for x in scope.declarations if scope.local or scope is reader.file else ():
            words = [token.text for token in reader.tokens[slice(*(x.init or (0, 0)))]]
            view = words[:1] != [] and words[0] in out  # a slice of one
            view = view or (_VIEWS.search(" ".join(words)) is not None and not re.search("fragment|_like", " ".join(words)))
            plain = is_shared(reader, x) or (not x.array and is_alias(reader, x) and _mentions(words, aliases, scope))
            if x.kind == "variable" and (plain or (not x.array and view)):
                out.setdefault(x.name, []).append(x)
            address = any(map(TO_ADDRESS.search, words)) and _mentions(words, aliases, scope)
            address = (address or _mentions(words, addresses, scope)) and is_address(reader, x)
            if not plain and address and x.kind == "variable":
                addresses.setdefault(x.name, []).append(x)
                out.setdefault(x.name, []).append(x)
            elif x.kind == "variable" and plain:
                aliases.setdefault(x.name, []).append(x)
    while more := [x for x in _handed(reader, aliases) if all(x.init != y.init for y in aliases.get(x.name, ()))]:
        for x in more:
            out.setdefault(x.name, []).append(x)
            aliases.setdefault(x.name, []).append(x)
    return out


def _mentions(words: Iterable[str], names: Mapping[str, list[Declaration]], scope: Scope) -> bool:
    """Whether some words name what is declared around a scope."""
    return any(scope.inside(x.scope) for word in words for x in names.get(word, ()))


def is_alias(reader: Declarer, x: Declaration) -> bool:
    """Whether a variable is a pointer, a reference, or what `auto` makes of its initializer."""
    return reader.tokens[x.token - 1].kind in ("*", "&", "&&") or (x.type is not None and reader.tokens[x.type[0]].text == "auto")


def _handed(reader: Declarer, names: Mapping[str, list[Declaration]]) -> Iterator[Declaration]:
    """The parameters of functions that calls give one of some names, with what they give."""
    for function in [x for x in dict.fromkeys(reader.scopes) if x.kind == "function"]:
        taken = [(n, param) for n, param in enumerate(function.arguments) if _points(reader, param)]
        for use in calls(reader, function) if taken and not says(reader, function, KERNEL) else ():
            for n, param in taken:
                part = use.arguments[n] if n < len(use.arguments) else (0, 0)
                away = _escapes(reader, function, param.name) or of_function(reader, function.name, n) != (None, False)
                if not away and _mentions((x.text for x in reader.tokens[slice(*part)]), names, use.scope):
                    yield Declaration("variable", param.name, param.token, function, param.type, part, pointer=True)


def _escapes(reader: Declarer, function: Scope, name: str) -> bool:
    """Whether something is made of a parameter's address that is not followed, `__cvta_generic_to_shared(p)`."""
    opening = reader.find(function.token, ("{", ";"))
    return any(reader.tokens[n].text == name and taken(reader, n) is not None for n in range(opening, reader.match[opening]))


def taken(reader: Declarer, n: int) -> Range | None:
    """The argument of a function that the file does not have, where a pointer at a token is passed on in it."""
    part = argument(reader, n)
    word = part[0] - 1 if part is not None else n
    while part is not None and reader.tokens[word].kind != "(":
        word = (reader.match[word] if reader.tokens[word].kind in (")", "]", "}") else word) - 1
    word -= 1
    if reader.tokens[word].kind == ">":
        word = next((k - 1 for k in range(word, max(0, word - 20), -1) if reader.tokens[k].kind == "<"), word)
    name = reader.tokens[word]
    if part is None or name.kind != "name" or _FOLLOWED.fullmatch(name.text) or name.text in {x.name for x in reader.functions}:
        return None
    return part


def argument(reader: Declarer, n: int) -> Range | None:
    """The argument of a call, or of inline assembly, that a pointer at a token is passed on in; None where it is accessed."""
    tokens, place = reader.tokens, spot_of(reader, n)
    if place.indices or place.step or place.deref or tokens[n + 1].kind not in (",", ")", "+", "-"):
        return None
    opening = n - 1
    while tokens[opening].kind not in ("(", ";", "{", "}", "=", "["):
        opening = (reader.match[opening] if tokens[opening].kind in (")", "]", "}") else opening) - 1
    called = tokens[opening].kind == "(" and tokens[opening - 1].kind in ("name", ">", "string")
    return (
        next((part for part in reader.split(opening + 1, reader.match[opening]) if part[0] <= n < part[1]), None)
        if called
        else None
    )


def follows(reader: Declarer, names: Mapping[str, list[Declaration]], n: int, place: Spot | None = None) -> bool:
    """Whether a token is in what a pointer or a reference begins with, whose own accesses are found; of an element, whether it is
    all that a reference begins with."""
    inside = [x for found in names.values() for x in found if x.init is not None and x.init[0] <= n < x.init[1]]
    if place is not None:
        inside = [x for x in inside if reader.tokens[place.left - 1].kind == "&" or (_is_own(reader, x) and x.init == place[:2])]
    return any(x.pointer or is_alias(reader, x) or is_address(reader, x) for x in inside)


def is_followed(reader: Declarer, names: Mapping[str, list[Declaration]], begin: int, n: int) -> bool:
    """Whether what a statement does with a pointer at a token loads and stores nothing, or moves a pointer that is followed."""
    tokens, at = reader.tokens, n
    near = tokens[n - 1], tokens[n + 1]
    if any(x.kind in _COMPARED or x.text == "++" or x.text == "--" for x in near):
        return True
    inside = [x for found in names.values() for x in found if x.init is not None and x.init[0] <= n < x.init[1]]
    if any(x.opens == "=" and x.init is not None and tokens[x.init[0]].kind != "{" for x in inside):
        return True
    while at >= begin:
        if tokens[at].text in ASSIGNED or tokens[at + 1].text in ASSIGNED:
            return tokens[at - (tokens[at].text in ASSIGNED)].text in names
        if tokens[at].kind == "(":
            word = at - 1
            if tokens[word].kind == ">":
                word = next((k - 1 for k in range(word, max(0, word - 20), -1) if tokens[k].kind == "<"), word)
            if tokens[word].kind == "name" and not tokens[word].text.endswith("_cast"):
                return tokens[word].text != "return" and _FOLLOWED.fullmatch(tokens[word].text) is not None
        at = (reader.match[at] if tokens[at].kind in (")", "]", "}") and reader.match[at] < at else at) - 1
    return False


def _is_own(reader: Declarer, x: Declaration) -> bool:
    """Whether a variable has no value of its own: a pointer, a reference."""
    return x.pointer or reader.tokens[x.token - 1].kind in ("*", "&", "&&")


def is_single(reader: Declarer, x: Declaration) -> bool:
    """Whether a declaration is of one element in shared memory, or a reference, which may be to one."""
    begins = reader.tokens[x.token - 1].kind
    return x.kind == "variable" and not x.array and begins != "*" and (begins in ("&", "&&") or is_shared(reader, x))


def is_plain(reader: Declarer, names: Mapping[str, list[Declaration]], x: Declaration) -> bool:
    """Whether a declaration is of an array in shared memory, or of a pointer there, and not of a view, or of an integer."""
    words = [token.text for token in reader.tokens[slice(*(x.init or (0, 0)))]]
    calls = re.findall(r"(\w+) (?:< [^()]* > )?\(", " ".join(words))
    if x.pointer or is_shared(reader, x) or not is_alias(reader, x) or not all(name.endswith("_cast") for name in calls):
        return x.pointer or is_shared(reader, x)
    around = [y for word in words for y in names.get(word, ()) if x.scope.inside(y.scope) and y.token < x.token]
    return any(is_plain(reader, names, y) for y in around)


def is_address(reader: Declarer, x: Declaration) -> bool:
    """Whether a variable is an integer, which an address may be."""
    first = reader.tokens[x.type[0]].text if x.type is not None and not x.array else ""
    return first in ("unsigned", "uint32_t", "uint64_t", "size_t", "int", "auto") or (first == "const" and not x.pointer)


def waits(name: str) -> bool:
    """Whether it is a barrier by its name, which no statement loads or stores."""
    return "bar" in name.lower()


def _points(reader: Declarer, param: Param) -> bool:
    """Whether a parameter is a pointer, or an array."""
    at = (param.type or (param.token, 0))[0]
    kinds = {x.kind for x in reader.tokens[at : param.token]}
    return "*" in kinds or reader.tokens[param.token + 1].kind == "[" or {"(", "&"} <= kinds


def is_shared(reader: Declarer, x: Declaration) -> bool:
    """Whether a declaration puts what it declares into shared memory."""
    at = x.token
    while at > 0 and reader.tokens[at].kind not in (";", "{", "}"):
        if reader.tokens[at].text == "__shared__":
            return True
        at -= 1
    return False
