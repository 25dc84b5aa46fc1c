"""The words that begin a declaration of C++: namespace, class, enum, using, template."""

from __future__ import annotations

from collections.abc import Callable

from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.scopes import Declaration, Param, Scope

_Params = tuple[Param, ...] | None


def _namespace(reader: Declarer, scope: Scope, at: int, params: _Params) -> int:
    tokens = reader.tokens
    names = []
    at += 1
    while tokens[at].kind in ("name", "::", "["):
        if tokens[at].kind == "[":
            at = reader.match[at]
        elif tokens[at].kind == "name" and tokens[at].text != "inline":
            names.append(tokens[at].text)
        at += 1
        if tokens[at].kind == "(":
            at = reader.match[at] + 1
    if tokens[at].kind != "{":
        return reader.skip(scope, at)
    for name in names or [""]:
        known = next((other for other in scope.names.get(name, ()) if other.kind == "namespace"), None)
        if known is not None and known.inner is not None and name:
            scope = known.inner
            continue
        inner = Scope("namespace", name, scope, at, (name,) if name else ())
        scope.add(Declaration("namespace", name, at, scope, inner=inner))
        if not name:
            scope.using.append("")
        scope = inner
    return reader.body(scope, at + 1)


def _template(reader: Declarer, scope: Scope, at: int, params: _Params) -> int:
    tokens = reader.tokens
    at += 1
    if tokens[at].kind != "<":  # an explicit instantiation
        return reader.skip(scope, at)
    behind = reader.angles(at)
    if behind is None:
        return reader.skip(scope, at)
    own = reader.template_params(at + 1, behind - 1)
    at = behind
    if tokens[at].text == "requires":
        at += 1
        while tokens[at].kind in ("(", "name", "::", "<", "&&", "||", "!"):
            if tokens[at].text in ("struct", "class", "using", "static", "constexpr", "auto", "void", "inline", "__global__"):
                break
            if tokens[at].kind == "(":
                at = reader.match[at]
            elif tokens[at].kind == "<":
                at = (reader.angles(at) or at + 1) - 1
            at += 1
            if tokens[at].kind == "name" and tokens[at - 1].kind in ("name", ">", ")"):
                break
    return reader.statement(scope, at, own if not params else (*params, *own))


def _using(reader: Declarer, scope: Scope, at: int, params: _Params) -> int:
    tokens = reader.tokens
    at += 1
    if tokens[at].text == "namespace":
        end = reader.find(at, (";",))
        scope.using.append(reader.words((at + 1, end)).replace(" ", ""))
        return end + (tokens[end].kind == ";")
    end = reader.find(at, (";",))
    equals = min(at + 1, end)
    while tokens[equals].kind == "[":
        equals = reader.match[equals] + 1
    if tokens[at].kind == "name" and tokens[equals].kind == "=":
        declaration = Declaration("alias", tokens[at].text, at, scope, None, (equals + 1, end), "=", params)
        reader.declare(declaration)
        reader.bodies(scope, equals + 1, end)
    else:
        for begin, stop in reader.split(at, end):
            if stop > begin and tokens[stop - 1].kind == "name":
                reader.declare(Declaration("using", tokens[stop - 1].text, stop - 1, scope, None, (begin, stop), "="))
    return end + (tokens[end].kind == ";")


def _typedef(reader: Declarer, scope: Scope, at: int, params: _Params) -> int:
    if reader.tokens[at + 1].text in ("struct", "class", "union", "enum"):
        return reader.statement(scope, at + 1, params)
    return reader.grammar.declaration(reader, scope, at, params)


def _class(reader: Declarer, scope: Scope, at: int, params: _Params) -> int:
    tokens = reader.tokens
    start = at
    at += 1
    while True:
        if tokens[at].text in ("alignas", "__align__", "__attribute__") and tokens[at + 1].kind == "(":
            at = reader.match[at + 1] + 1
        elif tokens[at].kind == "[":
            at = reader.match[at] + 1
        elif (
            tokens[at].kind == "name"
            and tokens[at + 1].kind == "name"
            and tokens[at + 1].text != "final"
            and tokens[at].text.isupper()
        ):
            at += 1
        else:
            break
    named = tokens[at].kind == "name"
    name, place = (tokens[at].text, at) if named else ("", at)
    at += named
    outer = scope
    while tokens[at].kind == "::" and tokens[at + 1].kind == "name":
        name, place, at = tokens[at + 1].text, at + 1, at + 2
    spec = None
    if tokens[at].kind == "<" and (behind := reader.angles(at)) is not None:
        spec = (at + 1, behind - 1)
        at = behind
    if tokens[at].text == "final":
        at += 1
    if tokens[at].kind not in (":", "{", ";"):  # `struct X* p`, `struct X y = ...`
        return reader.grammar.declaration(reader, scope, start + 1, params)
    if tokens[at].kind == ";":
        if params and spec is None:
            known = scope.names.get(name, ())
            if not any(other.kind in ("class", "forward") for other in known):
                reader.declare(Declaration("forward", name, place, scope, params=params))
        return at + 1
    inner = Scope("class", name, scope, place, params=params, spec=spec)
    inner.words = (name + (f"<{reader.words(spec)}>" if spec else ""),) if name else ()
    if tokens[at].kind == ":":
        opening = _bases_end(reader, at + 1)
        for begin, end in reader.split(at + 1, opening):
            while tokens[begin].text in ("public", "private", "protected", "virtual", "typename"):
                begin += 1
            inner.bases.append((begin, end))
        at = opening
    if tokens[at].kind != "{":
        return reader.skip(scope, at)
    declaration = Declaration("class", name or "", place, scope, params=params, inner=inner)
    if spec is None:
        forward = next((other for other in scope.names.get(name, ()) if other.kind == "forward"), None)
        if forward is not None and params and forward.params and len(forward.params) == len(params):
            for own, other in zip(params, forward.params, strict=True):
                own.default = own.default or other.default
        reader.declare(declaration)
    else:
        declaration.branch = reader.source.branch(place)
        reader.specialisations.setdefault((scope, name), []).append(inner)
        scope.declarations.append(declaration)
        reader.named(name, True)
    after = reader.body(inner, at + 1)
    if not name and tokens[after].kind == ";" and outer.kind == "class":
        for member, those in inner.names.items():  # of an anonymous struct or union they are seen outside
            outer.names.setdefault(member, []).extend(those)
    if tokens[after].kind == "name" or tokens[after].kind in ("*", "&"):
        while tokens[after].kind not in (";", "end", "}"):
            if tokens[after].kind == "name" and tokens[after + 1].kind in (";", ",", "[", "=", "{"):
                if tokens[start - 1].text == "typedef":
                    alias = Declaration("class", tokens[after].text, after, scope, params=params, inner=inner)
                    inner.words = (tokens[after].text,)
                    reader.declare(alias)
                else:
                    reader.declare(Declaration("object", tokens[after].text, after, scope, inner=inner))
            after = reader.match[after] + 1 if tokens[after].kind in ("{", "(", "[") else after + 1
    return after + (tokens[after].kind == ";")


def _bases_end(reader: Declarer, at: int) -> int:
    """The brace that opens a class behind its bases."""
    tokens = reader.tokens
    while tokens[at].kind not in ("{", ";", "end", "}"):
        if tokens[at].kind == "(":
            at = reader.match[at]
        elif tokens[at].kind == "<" and (behind := reader.angles(at)) is not None:
            at = behind - 1
        at += 1
    return at


def _enum(reader: Declarer, scope: Scope, at: int, params: _Params) -> int:
    tokens = reader.tokens
    at += 1
    scoped = tokens[at].text in ("class", "struct")
    at += scoped
    while tokens[at].kind == "[":
        at = reader.match[at] + 1
    name, place = (tokens[at].text, at) if tokens[at].kind == "name" else ("", at)
    at += bool(name)
    if tokens[at].kind == ":":
        at = reader.find(at, ("{", ";")) if tokens[at + 1].kind != "{" else at + 1
    if tokens[at].kind != "{":
        return reader.skip(scope, at)
    inner = Scope("enum", name, scope, place, (name,) if name else ())
    reader.declare(Declaration("enum", name, place, scope, inner=inner))
    for number, (begin, end) in enumerate(reader.split(at + 1, reader.match[at])):
        if tokens[begin].kind != "name":
            continue
        init = (begin + 2, end) if tokens[begin + 1].kind == "=" else None
        value = Declaration("enumerator", tokens[begin].text, begin, inner, None, init, place=number)
        reader.declare(value)
        if not scoped:
            scope.names.setdefault(value.name, []).append(value)
    return reader.skip(scope, reader.match[at] + 1)


def _extern(reader: Declarer, scope: Scope, at: int, params: _Params) -> int:
    if reader.tokens[at + 1].kind == "string":
        if reader.tokens[at + 2].kind == "{":
            return reader.body(Scope("namespace", "", scope, at), at + 3)
        at += 1
    return reader.statement(scope, at + 1, params)


def _skip(reader: Declarer, scope: Scope, at: int, params: _Params) -> int:
    return reader.skip(scope, at)


WORDS: dict[str, Callable[[Declarer, Scope, int, _Params], int]] = {
    "namespace": _namespace,
    "template": _template,
    "using": _using,
    "typedef": _typedef,
    "struct": _class,
    "class": _class,
    "union": _class,
    "enum": _enum,
    "extern": _extern,
    "static_assert": _skip,
    "friend": _skip,
    "inline": lambda reader, scope, at, params: (
        reader.statement(scope, at + 1, params)
        if reader.tokens[at + 1].text == "namespace"
        else reader.grammar.declaration(reader, scope, at, params)
    ),
}
