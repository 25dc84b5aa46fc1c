"""How functions come to be called, out to one that nothing calls; the elements of pointers, and which overload they choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any

from cute_viz.source.cpp.context import Use, function_of, is_another, takes, use_at
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.elements import Array
from cute_viz.source.cpp.lookup import Found, Meaning, opened, within
from cute_viz.source.cpp.scopes import Declaration, Range, Scope, outward
from cute_viz.source.cpp.tree import Binary, Cast, CppCall, Id, Member, Node, Unary
from cute_viz.source.cpp.unknown import tried
from cute_viz.source.cpp.values import Class, Env, External, Value
from cute_viz.source.moves import CALL, CALLED
from cute_viz.values.types import Pointer, ValueType

MOST = 64  # ways that are told apart
_DEEP = 12  # calls in calls
KERNEL = frozenset(("__global__", "CUTLASS_GLOBAL"))
DEVICE = KERNEL | {"__device__", "CUTE_DEVICE", "CUTLASS_DEVICE", "CUTE_HOST_DEVICE", "CUTLASS_HOST_DEVICE"}
_STOPS = (";", "{", "}", "end")

Path = tuple[tuple[Scope, Use], ...]  # functions and where they are called, the innermost first


def paths(reader: Declarer, function: Scope) -> list[Path]:
    """The ways to a function, each from a function that nothing calls; one empty way where nothing calls the function itself. At
    most MOST are given. A call within the function itself is none."""
    out: list[Path] = []
    known: dict[Scope, list[Use]] = {}
    waiting: list[tuple[Scope | None, Path]] = [(function, ())]
    while waiting and len(out) < MOST:
        at, path = waiting.pop()
        uses: list[Use] = []
        if at is not None and len(path) < _DEEP and all(scope is not at for scope, _ in path):
            if at not in known:
                known[at] = list({said(reader, at, use): use for use in reversed(calls(reader, at))}.values())
            uses = known[at]
        if at is None or not uses:
            out.append(path)
        else:
            waiting += [(_caller(reader, use.scope), (*path, (at, use))) for use in uses]
    return out


def _caller(reader: Declarer, scope: Scope) -> Scope | None:
    """The function that a scope is in, or the lambda that is called by its name; None outside of both."""
    around = (
        x
        for x in outward(scope)
        if x.kind not in ("block", "lambda") or (x.kind == "lambda" and x.name and (x.arguments or x.params))
    )
    found = next((x for x in around if x.kind != "lambda" or calls(reader, x)), scope)
    return found if found.kind in ("function", "lambda") else None


def said(reader: Declarer, function: Scope, use: Use) -> tuple[object, ...]:
    """What a call says of a function: those of the host that say the same are followed once, others run one after the other."""
    host = function_of(use.scope)
    if host is None or (not says(reader, function, KERNEL) and says(reader, host, DEVICE)):
        return function, use.token
    dims = [(use.token, use.arguments[0][0])] if use.arguments and reader.tokens[use.token + 1].kind in ("<", "<<<") else []
    parts = tuple(reader.words(part) for part in (*use.template, *use.arguments, *dims))
    return function, host, parts, tuple(_equal(reader, use.scope))


def says(reader: Declarer, function: Scope, wanted: frozenset[str]) -> bool:
    """Whether one of some words stands before a function's name."""
    declared, tokens = next((x.token for x in overloads(function) if x.inner is function), function.token), reader.tokens
    at, depth = declared - 1, 0  # `__launch_bounds__(size(TiledMMA{}))` has braces of its own
    while at >= 0 and (depth or tokens[at].kind not in (";", "{", "}")):
        if tokens[at].text in wanted:
            return True
        depth += (tokens[at].kind == ")") - (tokens[at].kind == "(")
        at -= 1
    return False


def overloads(function: Scope) -> list[Declaration]:
    """The functions of one name of a scope that have bodies."""
    around = function.parent.names.get(function.name, ()) if function.parent is not None else ()
    return [x for x in around if x.kind == "function" and x.inner is not None and x.static]


def calls(reader: Declarer, function: Scope) -> list[Use]:
    """The calls of a function, those of its overloads with as many arguments; explicit instantiations where nothing calls it."""
    declared = {x.token for x in (function.parent.names.get(function.name, ()) if function.parent is not None else ())}
    found: list[Use] = []
    made: list[Use] = []
    for place in reader.places().get(function.name, ()):
        if _instantiates(reader, place):
            use = use_at(reader, function, place)
            if use is not None and use.template:
                made.append(Use(reader.file, use.template, (), place))
        elif (
            place not in declared
            and not is_another(reader, function, place)
            and (use := use_at(reader, function, place)) is not None
        ):
            found.append(use)
    called = [use for use in found if use.called and takes(function, len(use.arguments))]
    return called or [use for use in found if use.template] or (made if len({x.token for x in overloads(function)}) == 1 else [])


def _instantiates(reader: Declarer, place: int) -> bool:
    """Whether a name stands in `template type name<...>(...);`."""
    at = place
    while at > 0 and reader.tokens[at - 1].kind not in _STOPS:
        at -= 1
    return reader.tokens[at].text == "template" and reader.tokens[at + 1].kind != "<"


def conditions(reader: Declarer, path: Path) -> dict[tuple[Scope, str], Range]:
    """What must hold for a path to be taken, of `if (a == 'N' && b == 4)` around its calls: literals by function and name. A
    condition on a parameter is one on the variable that the caller hands over."""
    out: dict[tuple[Scope, str], Range] = {}
    for n, (_, use) in enumerate(path):
        for name, literal in _equal(reader, use.scope):
            word: str | None = name
            for scope, where in ((function_of(use.scope), None), *path[n + 1 :]):
                if word is None or scope is None:
                    break
                if where is not None:
                    word, scope = _handed(reader, scope, where, word), function_of(where.scope)
                if word is not None and scope is not None:
                    out.setdefault((scope, word), literal)
    return out


def _handed(reader: Declarer, function: Scope, use: Use, name: str) -> str | None:
    place = next((n for n, param in enumerate(function.arguments) if param.name == name), None)
    if place is None or place >= len(use.arguments):
        return None
    begin, end = use.arguments[place]
    token = reader.tokens[begin]
    return token.text if end - begin == 1 and token.kind == "name" else None


def _equal(reader: Declarer, scope: Scope) -> list[tuple[str, Range]]:
    """The names that the conditions around a place hold to literals."""
    out = []
    for around in takewhile(lambda x: x.kind == "block", outward(scope)):
        held = around.holder
        if held is not None and held.kind == "if" and held.yes is around and held.value is not None:
            out += _conjuncts(reader, *held.value)
    return out


def _conjuncts(reader: Declarer, begin: int, end: int) -> list[tuple[str, Range]]:
    """Of `a == 'N' && b == 4` the names with their literals; none of what has other operators."""
    tokens = reader.tokens
    out = []
    for at in range(begin, end + 1):
        if at < end and tokens[at].kind in ("||", "(", "!", "?"):
            return []
        if at == end or tokens[at].kind == "&&":
            kinds = [token.kind for token in tokens[begin:at]]
            if kinds in (["name", "==", "char"], ["name", "==", "number"]):
                out.append((tokens[begin].text, (begin + 2, begin + 3)))
            begin = at + 1
    return out


def told_apart(found: list[Path], line: Callable[[int], int]) -> list[str]:
    """A label for each path: where the function is called, and from where that is called as far as that tells them apart. line:
    of a token."""
    places: dict[tuple[Scope, str], set[int]] = {}
    for scope, use in (step for path in found for step in path):
        places.setdefault((scope, _where(use, line)), set()).add(use.token)

    def where(scope: Scope, use: Use) -> str:
        place = _where(use, line)
        several = sorted(places[scope, place])
        return place + (f" {CALL}{several.index(use.token) + 1}" if len(several) > 1 else "")

    deep = 1
    while True:
        out = [CALLED.join(where(*step) for step in path[:deep]) for path in found]
        if len(set(out)) == len(out) or deep > _DEEP:
            return out
        deep += 1


def _where(use: Use, line: Callable[[int], int]) -> str:
    path = "::".join(use.scope.path)
    return f"{path}, line {line(use.token)}" if path else f"line {line(use.token)}"


_POINTER_WORDS = frozenset(("*", "&", "const", "__restrict__", "volatile"))


def element(meaning: Meaning, node: Node) -> str:
    """The type of what a plain pointer points to; "" where the file does not tell."""
    return tried(lambda: _element(meaning, node), "")


def _element(meaning: Meaning, node: Node) -> str:
    match node:
        case Cast():
            return element_name(meaning.value(node.type.value if isinstance(node.type, Unary) else node.type))
        case Binary():
            return _element(meaning, node.left)
        case Unary():
            return _element(meaning, node.value)
        case CppCall(function=Member() as method):
            return _element(meaning, method.object)
        case CppCall() if node.args:
            return _element(meaning, node.args[0])
        case Member():
            found = member_of(meaning, node)
            part = found.declarations[0].type if found is not None and found.declarations else None
        case Id():
            found = meaning.lookup.find(node.parts[0].name, meaning.env, meaning.position(node.span))
            params = [param for param in found.env.scope.arguments if param.name == node.parts[0].name] if found is not None else []
            own = (found.declarations[0] if found.declarations else params[0] if params else None) if found is not None else None
            part = own.type if own is not None else None
        case _:
            return ""
    return pointed_type(meaning.inside(found.env), part) if found is not None and part is not None else ""


def member_of(meaning: Meaning, node: Member) -> Found | None:
    """What a member of an object means, whose value need not be known; None where its class is not."""
    owner = _inside(meaning, node.object)
    return meaning.lookup.member(node.part.name, owner) if owner is not None else None


def _inside(meaning: Meaning, node: Node) -> Env | None:
    """The scope of the members of an object, which may be of a struct or union without a name."""
    found = None
    match node:
        case Member():
            found = member_of(meaning, node)
        case Id(parts=(part,)):
            found = meaning.lookup.find(part.name, meaning.env, meaning.position(node.span))
    own = found.declarations[0] if found is not None and found.declarations else None
    if found is not None and own is not None and own.kind == "object" and own.inner is not None:
        return within(found.env, own.inner)
    value = meaning.value(node)
    return value.env if isinstance(value, Class) else None


def pointed_type(meaning: Meaning, part: Range) -> str:
    """The element type that the tokens of a type tell: of a pointer, an array, or CuTe's array of elements."""
    tokens = meaning.context.reader.tokens
    begin, end = part
    while end > begin + 1 and tokens[end - 1].text in _POINTER_WORDS:
        end -= 1
    while begin < end - 1 and tokens[begin].text in _POINTER_WORDS:
        begin += 1
    return element_name(meaning.of((begin, end), meaning.env))


def element_name(value: Value) -> str:
    """The name of an element type, or of what a type has for elements; "" where it is none."""
    match value:
        case Pointer(type=kind) if kind is not None:
            value = kind
    match value:
        case External(args=(ValueType() as kind, *_)):
            value = kind
    while isinstance(value, Array):
        value = value.element
    return str(value) if isinstance(value, ValueType) else ""


def pointers(caller: Meaning, scope: Scope, use: Use, values: list[Value]) -> None:
    """Put the pointers among the arguments of a call into `values`, with the types of their elements where the file tells them."""
    tokens = caller.context.reader.tokens
    for n, (param, part) in enumerate(zip(scope.arguments, use.arguments, strict=False)):
        known = Pointer() if values[n] is None else values[n]
        bare = isinstance(known, Pointer) and known.type is None
        if bare and param.type is not None and any(token.text == "*" for token in tokens[slice(*param.type)]):
            tree = tried(partial(caller.context.tree, part), None)
            if kind := "" if tree is None else element(caller, tree):
                values[n] = replace(known, type=ValueType(kind))  # type: ignore[type-var]


def means(meaning: Meaning, scope: Scope, use: Use) -> bool:
    """Whether a call of an overloaded name may mean this function: of those that fit one with the fewest template parameters."""
    fitting = meant(meaning, scope, use)
    return not fitting or any(own.inner is scope for own in fitting)


def meant(meaning: Meaning, scope: Scope, use: Use) -> list[Declaration]:
    """The overloads that a call may mean, as far as its pointers tell."""
    fitting = [own for own in overloads(scope) if own.inner is not None and _fits(meaning, own.inner, use)]
    least = min((len(own.params or ()) for own in fitting), default=0)
    return [own for own in fitting if len(own.params or ()) == least]


def _fits(meaning: Meaning, scope: Scope, use: Use) -> bool:
    """Whether the pointers of a call are of the types of a function's parameters, as far as both are known."""
    if len(use.arguments) > len(scope.arguments) or scope.parent is None:
        return False
    values: list[Any] = [None] * len(use.arguments)
    pointers(meaning.inside(opened(meaning.context, use.scope)), scope, use, values)
    inside = meaning.inside(opened(meaning.context, scope.parent))
    names = {param.name for param in scope.params or ()}
    tokens = meaning.context.reader.tokens
    for param, value in zip(scope.arguments, values, strict=False):
        words = {token.text for token in tokens[slice(*param.type)]} if param.type is not None else set()
        if isinstance(value, Pointer) and param.type is not None and not words & names:
            wanted = tried(partial(pointed_type, inside, param.type), None)
            if wanted is None:
                continue
            if wanted and wanted != str(value.type):
                return False
    return True
