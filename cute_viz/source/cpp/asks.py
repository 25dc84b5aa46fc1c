"""What a file says of a name that has no value: its type, and the values that it has elsewhere in the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.scopes import Param, Range, Scope
from cute_viz.source.cpp.shown import scopes_of
from cute_viz.source.model import Asked
from cute_viz.values.examples import example_type, example_value

_MOST = 6  # values of one name
_FEW = 64  # declarations of one name that are looked at
_NUMBERS = frozenset(("int", "unsigned", "bool", "long", "short", "float", "double", "size_t", "auto", "char", "uint", "const"))


def asks(reader: Declarer, names: Iterable[str], functions: Iterable[str]) -> list[Asked]:
    """What the file says of names that need a value, those that are parameters: of templates, or numbers of functions; of functions
    the types of their templates.
    """
    scopes = scopes_of(reader)
    wanted = {param.name for scope in scopes if scope.name in functions for param in scope.params or () if param.kind == "type"}
    out = []
    for name in dict.fromkeys((*names, *sorted(wanted))):
        found = [(scope, param) for scope in scopes for param in _params(scope) if param.name == name]
        found = [pair for pair in found if pair[1] in (pair[0].params or ()) or _is_number(reader, pair[1])]
        others = [scope for scope in scopes if scope.kind != "enum" and name in scope.names]
        if found and not others:
            out.append(_asked(reader, scopes, name, found))
        elif found:  # a plain name would be given for those, too
            named = [(scope, param) for scope, param in found if scope.name and scope.kind == "function"]
            out += [_asked(reader, scopes, name, [pair])._replace(name=f"{pair[0].name}::{name}") for pair in named[:_MOST]]
    return out


def _is_number(reader: Declarer, param: Param) -> bool:
    words = [token.text for token in reader.tokens[slice(*param.type)]] if param.type else []
    return bool(words) and all(word in _NUMBERS or word.endswith("_t") for word in words)


def _asked(reader: Declarer, scopes: list[Scope], name: str, found: list[tuple[Scope, Param]]) -> Asked:
    kinds = [param.kind if param.type is None else reader.words(param.type) for _, param in found]
    type_ = next((kind for kind in kinds), "")
    values = [value for scope, param in found for value in _given(reader, scope, param)]
    values += [reader.words(param.default) for _, param in found if param.default is not None]
    values += _compared(reader, name)
    values += ["false", "true"] if type_.split()[-1:] == ["bool"] else []
    values += [f"{x.name}::{one}" for x in scopes if x.kind == "enum" and x.name == type_ for one in x.names]
    like = example_type(name).replace("...", "") if type_ in ("type", "template") else example_value(name)
    for value, stands in _with_members(reader, scopes, name) if type_ == "type" and len(found) < _FEW else ():
        like = like if stands else value
        values += [value] * stands
    line = reader.text.count("\n", 0, reader.tokens[found[0][1].token].start) + 1
    return Asked(name, type_, tuple(dict.fromkeys(values))[:_MOST], like, line)


def _params(scope: Scope) -> tuple[Param, ...]:
    return (*(scope.params or ()), *scope.arguments)


def _given(reader: Declarer, scope: Scope, param: Param) -> Iterator[str]:
    """The arguments that uses of a template, and calls of a function, have for a parameter, but those that depend on others."""
    templated = param in (scope.params or ())
    place = (scope.params or ()).index(param) if templated else scope.arguments.index(param)
    for at in reader.places().get(scope.name, ()) if scope.name else ():
        behind = reader.angles(at + 1) if reader.tokens[at + 1].kind == "<" else at + 1
        if behind is None:
            continue
        inside = (at + 2, behind - 1) if templated else (behind + 1, reader.match[behind])
        if inside[0] > inside[1] or (not templated and reader.tokens[behind].kind != "("):
            continue
        parts = reader.split(*inside)
        if place < len(parts) and _is_constant(reader, parts[place], templated and param.kind == "type"):
            yield reader.words(parts[place])


def _is_constant(reader: Declarer, part: Range, is_type: bool) -> bool:
    """Whether an expression names no parameter, and as a value nothing but literals and enumerators."""
    tokens = reader.tokens[slice(*part)]
    params = {param.name for scope in scopes_of(reader) for param in _params(scope)}
    if not tokens or any(token.text in params for token in tokens):
        return False
    return (
        is_type
        or all(token.kind in ("number", "char", "::", "-") or token.text in ("true", "false") for token in tokens)
        or (len(tokens) > 2 and tokens[1].kind == "::")
    )


def _compared(reader: Declarer, name: str) -> Iterator[str]:
    """The literals that a name is held to: `kN == 128`, `kM % 64 == 0`, the cases of a switch."""
    tokens = reader.tokens
    for at in reader.places().get(name, ()):
        words = [token.text for token in tokens[at + 1 : at + 3]]
        literal = tokens[at + 2].kind in ("number", "char") or words[1:] in (["true"], ["false"])
        if words[:1] and words[0] in ("==", "!=", "%") and literal:
            yield words[1]
        elif words[:1] == [")"] and [token.text for token in tokens[at - 2 : at]] == ["switch", "("] and tokens[at + 2].kind == "{":
            inside = range(at + 3, reader.match[at + 2])
            yield from (tokens[n + 1].text for n in inside if tokens[n].text == "case" and tokens[n + 1].kind == "number")


def _with_members(reader: Declarer, scopes: list[Scope], name: str) -> Iterator[tuple[str, bool]]:
    """The classes of the file, as they are used, that have all members that a type is asked for; one that is only declared with
    likely arguments. Whether it stands there.
    """
    tokens = reader.tokens
    classes = {scope.name: scope for scope in scopes if scope.kind == "class" and scope.spec is None}
    wanted = {tokens[n + 2].text for n in reader.places().get(name, ()) if tokens[n + 1].kind == "::"}
    for scope in classes.values():
        owners = [scope, *(classes[token.text] for base in scope.bases for token in tokens[slice(*base)] if token.text in classes)]
        if (
            not wanted
            or not wanted <= {one for owner in owners for one in owner.names}
            or name in [x.name for x in scope.params or ()]
        ):
            continue
        if not scope.params:
            yield scope.name, True
            continue
        uses = [reader.angles(at + 1) if tokens[at + 1].kind == "<" else None for at in reader.places().get(scope.name, ())]
        found = False
        for at, behind in zip(reader.places().get(scope.name, ()), uses, strict=True):
            parts = [] if behind is None else reader.split(at + 2, behind - 1)
            if parts and all(_is_constant(reader, part, True) for part in parts):
                yield f"{scope.name}<{', '.join(map(reader.words, parts))}>", True
                found = True
        needed = [param for param in scope.params if param.default is None and not param.pack]
        if not found and all(param.kind == "value" for param in needed):
            likely = [_asked(reader, scopes, param.name, [(scope, param)]).trial for param in needed]
            yield f"{scope.name}<{', '.join(likely)}>", False
