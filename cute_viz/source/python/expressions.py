"""Python's expressions -> values: names, attributes, arithmetic, conditions, subscripts, comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from sys import getsizeof
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import leaves
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError
from cute_viz.limits import limit, over
from cute_viz.source.python.lets import NOTHING
from cute_viz.source.python.machine import Frame, Machine, need, need_whole
from cute_viz.source.python.modules import BUILTINS, USUAL
from cute_viz.source.python.operators import binary, compare, computed, truth, unstaged
from cute_viz.source.python.subscripts import subscript
from cute_viz.source.python.tree import REST, defaults_of, dotted
from cute_viz.source.python.values import (
    Bound,
    Class,
    EnumMember,
    Function,
    Items,
    Lost,
    Object,
    Symbol,
    as_tensor,
    either,
    element,
    lone_self,
    run_times,
    tensor_of,
)
from cute_viz.values.examples import hint_for
from cute_viz.values.integer import Unknown
from cute_viz.values.types import ValueType

_ROUNDS = 4096  # of a range that are listed


def evaluate(machine: Machine, node: ast.expr, frame: Frame) -> Any:
    """The value of an expression, which may be unknown. Raises: NotationError for what cannot be read, and the errors of the
    algebra.
    """
    reader = _READERS.get(type(node))
    if reader is None:
        raise machine.fail(f"Python's {type(node).__name__} is not supported here", node)
    return reader(machine, node, frame)


def _constant(machine: Machine, node: ast.Constant, frame: Frame) -> Any:
    value = node.value
    if isinstance(value, int) and value.bit_length() > 4 * limit("digits"):
        raise over("digits", "an integer of too many digits", text=machine.tree.text, span=machine.span(node))
    if value is ... or isinstance(value, (bytes, complex)):
        raise machine.fail(f"{value!r} is not supported here", node)
    return value


def lookup(machine: Machine, name: str, node: ast.expr, frame: Frame) -> Any:
    """What a name is where it is: what was given for it, what was assigned, a function or module, a builtin."""
    at: Frame | None = frame
    while at is not None:
        if name in at.names:
            bound = at.names[name]
            if (
                not isinstance(bound, (Lost, Unknown, Symbol)) or name in at.begun
            ):  # what was given for it counted when it was bound
                return bound
            given = machine.let(name, frame)
            return bound if given is NOTHING else given
        if name in at.local and at is frame and name not in at.outside:
            return machine.unknown(f"{name!r} has no value here", node, hint=hint_for(name), needs=(name,))
        at = at.parent
    if (given := machine.let(name, frame)) is not NOTHING:
        return given
    if name in BUILTINS:
        return Symbol(f"@python.{name}")
    if name in USUAL:
        return Symbol(USUAL[name])
    if (kind := element(name)) is not None:
        return kind
    if name == "self":
        machine.store.write(machine.module.names, name, found := lone_self())
        return found
    if machine.pasted is not None and (found := machine.pasted(name, node)) is not None:
        return found
    hint = hint_for(name)
    return machine.unknown(f"nothing named {name!r} is in this file", node, hint=hint, needs=(name,))


def _name(machine: Machine, node: ast.Name, frame: Frame) -> Any:
    found = lookup(machine, node.id, node, frame)
    return machine.parts.outside(machine, found) if isinstance(found, Symbol) else found


def _attribute(machine: Machine, node: ast.Attribute, frame: Frame) -> Any:
    target = machine.attempt(node.value, frame)
    paths = [path for path in (dotted(node), f"{target.path}.{node.attr}" if isinstance(target, Lost) else "") if path]
    if isinstance(target, Object):
        paths.append(f"self.{node.attr}")
    given = next((found for path in paths if (found := machine.let(path, frame)) is not NOTHING), NOTHING)
    if given is not NOTHING and isinstance(target, (Object, Class, Lost, EnumMember)):
        return given
    try:
        found = machine.parts.attribute(machine, need_whole(target) if not isinstance(target, Lost) else target, node.attr, node)
    except CuteVizError:
        if given is NOTHING:
            raise
        return given
    return given if given is not NOTHING and isinstance(found, Lost) else found


def _sequence(machine: Machine, node: ast.Tuple | ast.List | ast.Set, frame: Frame) -> Any:
    out: list[Any] = []
    for item in node.elts:
        if isinstance(item, ast.Starred):
            out += iterate(machine, need_whole(machine.value(item.value, frame)), item)
        else:
            out.append(machine.attempt(item, frame))
    machine.bound(out, node)
    return _collected(machine, node, out)


def _collected(machine: Machine, node: ast.expr, out: list[Any]) -> Any:
    if isinstance(node, (ast.Set, ast.SetComp)):
        return Items({"items": frozenset(_hashable(machine, need(item), node) for item in out)})
    return tuple(out) if isinstance(node, (ast.Tuple, ast.GeneratorExp)) else Items({"items": out})


def iterate(machine: Machine, value: object, node: ast.AST) -> list[Any]:
    """The entries of an iterable. Raises: NotationError for anything else, and for too many entries."""
    if isinstance(value, Items):
        value = value.items
    if isinstance(value, range) and value[_ROUNDS:]:
        raise machine.fail(f"more than {_ROUNDS} rounds are too many to follow", node)
    if isinstance(value, (tuple, list, range, str, dict)):
        machine.made(8 * len(value), node)
        return list(value)
    raise machine.fail("cannot determine what this iterates over", node)


def _binary(machine: Machine, node: ast.BinOp, frame: Frame) -> Any:
    return binary(machine, node, need_whole(machine.value(node.left, frame)), need_whole(machine.value(node.right, frame)))


def _unary(machine: Machine, node: ast.UnaryOp, frame: Frame) -> Any:
    value = need_whole(machine.value(node.operand, frame))
    if isinstance(node.op, ast.Not):
        return not truth(machine, value, node.operand)
    if isinstance(value, int) and isinstance(node.op, ast.Invert):
        return ~value
    if isinstance(value, (int, float)) and not isinstance(node.op, ast.Invert):
        return -value if isinstance(node.op, ast.USub) else +value
    if isinstance(value, Unknown):
        return computed(type(node.op).__name__, value, 1)  # a number of which nothing is kept
    if isinstance(value, Basis) and isinstance(node.op, ast.USub):
        return value * -1
    raise machine.fail("signs are for numbers", node)


def _boolean(machine: Machine, node: ast.BoolOp, frame: Frame) -> Any:
    """`and`, `or`: one operand may decide whatever the others are."""
    wanted = isinstance(node.op, ast.Or)
    cause: CuteVizError | None = None
    value: Any = None
    flags = True  # those that are not known are True or False
    for item in node.values:
        try:
            value = need_whole(machine.value(item, frame) if cause is None else _perhaps(machine, item, frame, cause))
            if truth(machine, value, item) is wanted:
                if cause is None or (flags and isinstance(value, bool)):
                    return value
                raise cause
        except CuteVizError as error:
            cause = cause or error
            flags = flags and (isinstance(item, ast.Compare) or (isinstance(item, ast.UnaryOp) and isinstance(item.op, ast.Not)))
    if cause is not None:
        raise cause
    return value


def _perhaps(machine: Machine, node: ast.expr, frame: Frame, error: CuteVizError) -> Any:
    mark = machine.store.mark()
    value = machine.attempt(node, frame)
    machine.store.lose(machine.store.undo(mark), lambda name: Lost(error))
    return value


def _compare(machine: Machine, node: ast.Compare, frame: Frame) -> Any:
    left = machine.value(node.left, frame)
    for op, item in zip(node.ops, node.comparators, strict=True):
        right = machine.value(item, frame)
        if not compare(machine, op, left, right, node):
            return False
        left = right
    return True


def _conditional(machine: Machine, node: ast.IfExp, frame: Frame) -> Any:
    try:
        test = truth(machine, need_whole(machine.value(node.test, frame)), node.test)
    except CuteVizError as error:
        return either([_perhaps(machine, part, frame, error) for part in (node.body, node.orelse)], error)
    return machine.value(node.body if test else node.orelse, frame)


def _subscript(machine: Machine, node: ast.Subscript, frame: Frame) -> Any:
    target = as_tensor(machine.value(node.value, frame))
    if isinstance(target, Lost) or (isinstance(target, Symbol) and target.path == "cutlass.cute.compile"):  # its options
        return target
    if isinstance(node.slice, ast.Slice):
        parts = (node.slice.lower, node.slice.upper, node.slice.step)
        index: Any = slice(*(None if part is None else machine.known(part, frame) for part in parts))
    else:
        index = machine.value(node.slice, frame)
        if isinstance(target, (Layout, ComposedLayout)) and isinstance(index, tuple):
            target = tensor_of(target)  # a layout has no slices: it was given for a tensor
        if isinstance(target, Tensor):
            index = unstaged(index)
        elif not isinstance(target, (Symbol, Items, tuple)):
            need(index)
    return subscript(machine, target, index, node)


def _call(machine: Machine, node: ast.Call, frame: Frame) -> Any:
    function = machine.value(node.func, frame)
    args: list[Any] = []
    named: dict[str, Any] = {}
    for item in node.args:
        if isinstance(item, ast.Starred):
            many = machine.value(item.value, frame)
            if isinstance(many, Lost) and many.path == REST:
                named[REST] = True
                continue
            args += iterate(machine, need_whole(many), item)
        else:
            args.append(machine.attempt(item, frame))
    for keyword in node.keywords:
        if keyword.arg is not None:
            named[keyword.arg] = machine.attempt(keyword.value, frame)
            continue
        content = machine.value(keyword.value, frame)
        if isinstance(content, Lost) and content.path == REST:
            named[REST] = True
            continue
        content = need_whole(content)
        if not isinstance(content, Items) or not isinstance(content.items, dict):
            raise machine.fail("cannot determine the arguments of **", keyword.value)
        named |= {str(key): value for key, value in content.items.items()}
    named.pop("loc", None)
    named.pop("ip", None)
    if isinstance(function, Symbol) and function.path == "@python.super":
        args = [frame.owner, _first_argument(frame)]
    try:
        return machine.parts.call(machine, function, args, named, node)
    except CuteVizError as error:
        if (
            error.needs
            or not isinstance(function, (Symbol, Bound))
            or any(isinstance(x, Lost) for x in leaves((*args, *named.values())))
        ):
            raise  # what is unknown is the cause
        needs = [name for value in (*args, *named.values()) for x in run_times(value) for name in x.error().needs]
        raise error.but(needs=tuple(dict.fromkeys(needs))) if needs else error from None


def _first_argument(frame: Frame) -> Any:
    arguments = getattr(frame.node, "args", None)
    return frame.names.get(arguments.args[0].arg) if arguments is not None and arguments.args else None


def _lambda(machine: Machine, node: ast.Lambda, frame: Frame) -> Any:
    return Function(node, frame, defaults={name: machine.attempt(value, frame) for name, value in defaults_of(node)})


def _text(machine: Machine, node: ast.JoinedStr, frame: Frame) -> Any:
    parts = []
    for part in node.values:
        value = need(machine.value(part.value if isinstance(part, ast.FormattedValue) else part, frame))
        value = value.short if isinstance(value, ValueType) and machine.tree.ours else value
        if type(value) not in (str, int) or (isinstance(part, ast.FormattedValue) and (part.format_spec or part.conversion != -1)):
            raise machine.fail("formatted text is not supported here", node)
        parts.append(str(value))
        machine.made(getsizeof(parts[-1]), node)
    return "".join(parts)


def _walrus(machine: Machine, node: ast.NamedExpr, frame: Frame) -> Any:
    value = machine.attempt(node.value, frame)
    machine.record(node.target, value)
    frame = frame.inside or frame
    machine.store.write(frame.outside.get(node.target.id, frame).names, node.target.id, value)
    return value


def _comprehension(machine: Machine, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp, frame: Frame) -> Any:
    out: list[Any] = []
    inner = Frame(dict[str, Any](), frame, frame.scope, frame.node, frame.owner, inside=frame.inside or frame)
    _generators(machine, list(node.generators), node, inner, out)
    if isinstance(node, ast.DictComp):
        return Items({"items": dict(out)})
    return _collected(machine, node, out)


def _generators(machine: Machine, rest: list[ast.comprehension], node: Any, frame: Frame, out: list[Any]) -> None:
    if not rest:
        if isinstance(node, ast.DictComp):
            out.append((need(machine.value(node.key, frame)), machine.attempt(node.value, frame)))
        else:
            out.append(machine.attempt(node.elt, frame))
        if len(out) > limit("modes") * 4:
            raise over("modes", "too many entries", text=machine.tree.text, span=machine.span(node))
        return
    first, *others = rest
    for value in iterate(machine, need_whole(machine.value(first.iter, frame)), first.iter):
        bind(machine, first.target, value, frame)
        if all(truth(machine, need_whole(machine.value(test, frame)), test) for test in first.ifs):
            _generators(machine, others, node, frame, out)


def bind(machine: Machine, target: ast.expr, value: object, frame: Frame) -> None:
    """Bind names of a comprehension or a loop."""
    if isinstance(target, ast.Name):
        machine.store.write(frame.outside.get(target.id, frame).names, target.id, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        values = [value] * len(target.elts) if isinstance(value, Lost) else iterate(machine, value, target)
        if len(values) != len(target.elts):
            raise machine.fail(f"{len(values)} values for {len(target.elts)} names", target)
        for item, one in zip(target.elts, values, strict=True):
            bind(machine, item, one, frame)
    else:
        raise machine.fail("this target is not supported here", target)


def _dictionary(machine: Machine, node: ast.Dict, frame: Frame) -> Any:
    out: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            raise machine.fail("cannot determine the arguments of **", value)
        out[_hashable(machine, need(machine.value(key, frame)), key)] = machine.attempt(value, frame)
    return Items({"items": out})


def _hashable(machine: Machine, value: object, node: ast.expr) -> Any:
    if isinstance(value, (int, str, float, tuple, ValueType, EnumMember, type(None))):
        return value
    raise machine.fail("this key is not supported here", node)


_READERS: dict[type, Callable[[Machine, Any, Frame], Any]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Tuple: _sequence,
    ast.List: _sequence,
    ast.Set: _sequence,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Subscript: _subscript,
    ast.Call: _call,
    ast.Lambda: _lambda,
    ast.JoinedStr: _text,
    ast.NamedExpr: _walrus,
    ast.ListComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.Dict: _dictionary,
}
