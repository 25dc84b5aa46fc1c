"""Template arguments: bound to parameters, matched with the patterns of specialisations, deduced from the arguments of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import leaves
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import each_integer, unknowns
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, NotationError, Span
from cute_viz.source.cpp.elements import kind_of_type, same, type_of
from cute_viz.source.cpp.lookup import Meaning, opened
from cute_viz.source.cpp.numbers import BOOL, kind_of, number
from cute_viz.source.cpp.scopes import Param, Scope, outward
from cute_viz.source.cpp.tokens import INTEGRALS, TUPLES
from cute_viz.source.cpp.tree import Brace, Decltype, Id, Member, Node, Unary
from cute_viz.source.cpp.unknown import tried
from cute_viz.source.cpp.values import (
    Class,
    Closure,
    Env,
    External,
    Function,
    Items,
    Later,
    Lazy,
    Pack,
    Template,
    Value,
    argument,
    as_int,
    asked,
    integer,
    solid,
)
from cute_viz.values.integer import Runtime, Unknown
from cute_viz.values.marks import INT
from cute_viz.values.types import Pointer


def as_argument(meaning: Meaning, value: Value, param: Param, args: Mapping[str, Later]) -> Value:
    """A value as the argument of a template: static, but for a number, which computes as one of C++ of the parameter's type. args:
    those before it, of which one may be that type."""
    value = argument(value)
    if param.kind != "value" or param.type is None or type(as_int(value)) is not Runtime:
        return as_int(value) if param.kind == "value" else value
    if meaning.context.reader.tokens[param.type[0]].text == "auto":
        return number(integer(value), kind_of(value))
    word = meaning.context.reader.words(param.type)
    kind = kind_of_type(tried(lambda: asked(args[word]) if word in args else meaning.value(meaning.context.tree(param.type)), None))
    return as_int(value) if kind in (None, BOOL) else number(integer(value), kind or INT)


def bound(meaning: Meaning, params: tuple[Param, ...], given: list[Later], span: Span) -> dict[str, Later]:
    """The parameters of a template by name, as far as they are given; values or Lazy ones. Raises: NotationError for more
    arguments than parameters."""
    out: dict[str, Later] = {}
    position = 0
    for param in params:
        if param.pack:
            out[param.name] = Pack(as_argument(meaning, asked(x), param, out) for x in given[position:])
            position = len(given)
        elif position < len(given):
            out[param.name] = _later(meaning, given[position], param, out)
            position += 1
    if position < len(given):
        raise meaning.fail(f"{len(given)} template arguments, but there are {len(params)} parameters", span)
    return out


def _later(meaning: Meaning, value: Later, param: Param, args: Mapping[str, Later]) -> Later:
    if isinstance(value, Lazy):
        return Lazy(lambda: as_argument(meaning, value(), param, args))
    return as_argument(meaning, value, param, args)


def defaulted(meaning: Meaning, params: tuple[Param, ...], args: dict[str, Later], env: Env) -> None:
    """Add the defaults of the parameters that nothing binds, evaluated when they are asked for; they see no member of a class."""
    head = header(env)
    for param in params:
        if param.name not in args and param.default is not None:
            args[param.name] = Lazy(lambda param=param: as_argument(meaning, meaning.of(param.default, head), param, args))  # type: ignore[misc]


def header(env: Env) -> Env:
    """The parameters of an environment without what its scope declares."""
    known = env.memo.get("header")
    if known is None:
        scope = env.scope
        head = Scope("header", scope.name, scope.parent, scope.token, scope.words, params=scope.params, arguments=scope.arguments)
        known = env.memo["header"] = Env(head, env.parent, env.args)
    own: Env = known
    return own


def key_of(values: Sequence[Later]) -> tuple[Any, ...]:
    """What distinguishes instances of a template: whatever its values print, which of them are static, and their types."""
    out: list[Any] = []
    for each in values:
        try:
            value = asked(each)
        except CuteVizError as error:
            out.append(error)
            continue
        match value:
            case Class():
                out.append(value.env)
            case Closure():
                out.append((value.scope, value.env))
            case Template():
                out.append((value.declaration, value.env))
            case Function():
                out.append((*value.declarations, value.env, *key_of(value.args)))
            case Pointer():
                out.append(("Pointer", *key_of([value.type])))
            case tuple():
                out.append(key_of(value))
            case _:
                kinds: list[object] = [(x.key, x.kind) for x in unknowns(value)]  # which all print alike
                each_integer(partial(_noted, kinds), value)
                out.append((type(value).__name__, str(value), *kinds))
    return tuple(out)


def _noted(kinds: list[object], number: int) -> int:
    kinds.append((type(number), kind_of(number)))
    return number


def key_of_call(values: list[Value]) -> tuple[Any, ...] | None:
    """What distinguishes calls of a function: where the pointers that it is given point, too. None where it is given what may
    change, or sees what does."""
    parts = list(leaves(tuple(values)))
    if any(isinstance(x, Items) or (isinstance(x, (Class, Closure, Function)) and sees_cells(x.env)) for x in parts):
        return None
    begins = [where for x in parts if isinstance(where := getattr(x, "pointer", x), Pointer)]
    return *key_of(values), *((x.base, x.name, str(x.offset)) for x in begins)


def sees_cells(env: Env | None) -> bool:
    """Whether a function may read what changes: of a lambda, of an object."""
    return any(around.cells is not None for around in outward(env))


def matched(meaning: Meaning, scope: Scope, values: list[Later]) -> dict[str, Later] | None:
    """The parameters of a specialisation for the arguments of a template; None where it is not for them. Raises: the error of an
    argument that is not known; NotationError where it is not known whether two types are the same."""
    assert scope.spec is not None
    parts = meaning.context.reader.split(*scope.spec)
    env = within_parent(meaning, scope)
    out: dict[str, Later] = {}
    names = {param.name: param for param in scope.params or ()}
    patterns = [meaning.context.tree(part) for part in parts]
    return out if _all(meaning.inside(env), patterns, values, names, out) else None


def within_parent(meaning: Meaning, scope: Scope) -> Env:
    """The environment around a scope of the file."""
    return opened(meaning.context, scope.parent)


def _all(meaning: Meaning, patterns: list[Node], values: list[Later], names: dict[str, Param], out: dict[str, Later]) -> bool:
    for n, pattern in enumerate(patterns):
        if isinstance(of := pattern.pack, Id) and of.text in names:
            out[of.text] = Pack(asked(x) for x in values[n:])
            return True
        if of is not None:
            return False
        if n >= len(values) or not fits(meaning, pattern, asked(values[n]), names, out):
            return False
    return len(patterns) == len(values)


def fits(meaning: Meaning, pattern: Node, value: Value, names: dict[str, Param], out: dict[str, Later]) -> bool:
    """Whether a value is what a pattern says, whose names are added to `out`."""
    match pattern:
        case Unary(operator="T&" | "T&&"):
            return fits(meaning, pattern.value, value, names, out)
        case Unary(operator="T*"):
            return isinstance(value, Pointer) and value.type is not None and fits(meaning, pattern.value, value.type, names, out)
        case Brace(type=kind, args=()) if kind is not None:
            return fits(meaning, kind, value, names, out)
    if not isinstance(pattern, Id):
        return _is(meaning, pattern, value)
    last = pattern.parts[-1]
    if pattern.plain in names:
        if last.name in out:
            return bool(same(asked(out[last.name]), value))
        out[last.name] = as_argument(meaning, value, names[last.name], out)
        return True
    if last.args is None or not _free(pattern, names):
        return _is(meaning, pattern, value)
    if last.name in ("enable_if_t", "enable_if"):  # of parameters that stand before it
        within = meaning.inside(Env(meaning.env.scope, meaning.env, out))
        return bool(within.truth(last.args[0]) and _is(within, pattern, value))
    inside = _inside(last.name, value)
    return inside is not None and _all(meaning, list(last.args), inside, names, out)


def _free(node: Node, names: dict[str, Param]) -> bool:
    """Whether a parameter stands anywhere in a pattern."""
    parts = node.parts if isinstance(node, (Id, Decltype)) else (node.part,) if isinstance(node, Member) else ()
    named = isinstance(node, Id) and any(part.name in names for part in parts)
    return named or any(_free(item, names) for item in (*node.children(), *(arg for part in parts for arg in part.args or ())))


def _is(meaning: Meaning, pattern: Node, value: Value) -> bool:
    wanted = argument(meaning.value(pattern))
    found = same(wanted, argument(value))
    if found is None:
        solid(wanted)
        solid(value)
        raise meaning.fail(f"cannot determine whether {wanted if isinstance(wanted, External) else value} is meant", pattern.span)
    return found


def _inside(name: str, value: Value) -> list[Later] | None:
    """The arguments of a type whose template is named; None where it is of another."""
    match value:
        case Class() if value.env.scope.name == name and value.env.scope.params is not None:
            params = value.env.scope.params
            return [value.env.args[param.name] for param in params if param.name in value.env.args]
        case External() if value.short == name:
            return list(value.args or ())
        case tuple() if name in TUPLES:
            return list(value)
        case Layout() if name == "Layout":
            return [value.shape, value.stride]
        case ComposedLayout() if name == "ComposedLayout":
            return [value.outer, value.offset, value.inner]
        case Tensor() if name == "Tensor":
            return [External("Engine", None, NotationError("the engine of a tensor is not known")), value.layout]
        case Swizzle() if name == "Swizzle":
            return [value.bits, value.base, value.shift]
        case Runtime():
            return None
        case int() if name in INTEGRALS:
            return [value]
    return None


def deduced(meaning: Meaning, scope: Scope, args: list[Value], out: dict[str, Later]) -> bool:
    """Deduce the template parameters of a function from the values of a call; False where a parameter is of another type."""
    names = {param.name: param for param in scope.params or ()}
    if not names:
        return True
    for param, value in zip(scope.arguments, args, strict=False):
        if param.type is None:
            continue
        begin, end = param.type
        tokens = meaning.context.reader.tokens
        while begin < end and tokens[begin].text in ("const", "typename", "volatile", "__grid_constant__"):
            begin += 1
        while end > begin and tokens[end - 1].text in ("const", "&", "&&", "...", "volatile", "__restrict__", "__restrict"):
            end -= 1
        if isinstance(value, Pointer) and value.type is not None and end > begin and tokens[end - 1].text == "*":
            value, end = value.type, end - 1
            while end > begin and tokens[end - 1].text in ("const", "volatile"):
                end -= 1
        if end - begin == 1:
            name = tokens[begin].text
            if name in names and name not in out:
                out[name] = Pack() if param.pack else type_of(value) if isinstance(value, (Runtime, Unknown)) else value
            continue
        if end <= begin or param.pack or not any(token.text in names for token in tokens[begin:end]):
            continue
        try:
            tree = meaning.context.tree((begin, end))
            found = fits(meaning, tree, value, names, out)
        except CuteVizError:
            continue
        if not found and isinstance(tree, Id) and _inside(tree.parts[-1].name, value) is None:
            return False
    return True
