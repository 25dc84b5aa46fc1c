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
from cute_viz.source.python.machine import Frame, Machine, need, need_whole
from cute_viz.source.python.operators import (
    binary,
    compare,
    comprehension,
    computed,
    dictionary,
    iterate,
    sequence,
    truth,
    unstaged,
)
from cute_viz.source.python.subscripts import subscript
from cute_viz.source.python.tree import BUILTINS, NOTHING, REST, USUAL, defaults_of, dotted
from cute_viz.source.python.values import (
    Bound,
    EnumMember,
    Lost,
    Mutable,
    Object,
    PyClass,
    PyFunction,
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


def evaluate(machine: Machine, node: ast.expr, frame: Frame) -> object:
    """The value of an expression, which may be unknown. Raises: NotationError for what cannot be read, and the errors of the
    algebra."""
    reader = _READERS.get(type(node))
    if reader is None:
        raise machine.fail(f"Python's {type(node).__name__} is not supported here", node)
    return reader(machine, node, frame)


def _constant(machine: Machine, node: ast.Constant, frame: Frame) -> object:
    value = node.value
    if isinstance(value, int) and value.bit_length() > 4 * limit("digits"):
        raise over("digits", "an integer of too many digits", text=machine.tree.text, span=machine.span(node))
    if value is ... or isinstance(value, (bytes, complex)):
        raise machine.fail(f"{value!r} is not supported here", node)
    return value


def lookup(machine: Machine, name: str, node: ast.expr, frame: Frame) -> object:
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


def _name(machine: Machine, node: ast.Name, frame: Frame) -> object:
    found = lookup(machine, node.id, node, frame)
    return machine.parts.outside(machine, found) if isinstance(found, Symbol) else found


def _attribute(machine: Machine, node: ast.Attribute, frame: Frame) -> object:
    target = machine.attempt(node.value, frame)
    paths = [path for path in (dotted(node), f"{target.path}.{node.attr}" if isinstance(target, Lost) else "") if path]
    if isinstance(target, Object):
        paths.append(f"self.{node.attr}")
    given = next((found for path in paths if (found := machine.let(path, frame)) is not NOTHING), NOTHING)
    if given is not NOTHING and isinstance(target, (Object, PyClass, Lost, EnumMember)):
        return given
    try:
        found = machine.parts.attribute(machine, need_whole(target) if not isinstance(target, Lost) else target, node.attr, node)
    except CuteVizError:
        if given is NOTHING:
            raise
        return given
    return given if given is not NOTHING and isinstance(found, Lost) else found


def _binary(machine: Machine, node: ast.BinOp, frame: Frame) -> object:
    return binary(machine, node, need_whole(machine.value(node.left, frame)), need_whole(machine.value(node.right, frame)))


def _unary(machine: Machine, node: ast.UnaryOp, frame: Frame) -> Any:
    value = need_whole(machine.value(node.operand, frame))
    match node.op, value:
        case ast.Not(), _:
            return not truth(machine, value, node.operand)
        case ast.Invert(), int():
            return ~value
        case ast.USub(), int() | float():
            return -value
        case ast.UAdd(), int() | float():
            return +value
        case _, Unknown():
            return computed(type(node.op).__name__, value, 1)  # a number of which nothing is kept
        case ast.USub(), Basis():
            return value * -1
    raise machine.fail("signs are for numbers", node)


def _boolean(machine: Machine, node: ast.BoolOp, frame: Frame) -> object:
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


def _perhaps(machine: Machine, node: ast.expr, frame: Frame, error: CuteVizError) -> object:
    mark = machine.store.mark()
    value = machine.attempt(node, frame)
    machine.store.lose(machine.store.undo(mark), lambda name: Lost(error))
    return value


def _compare(machine: Machine, node: ast.Compare, frame: Frame) -> object:
    left = machine.value(node.left, frame)
    for op, item in zip(node.ops, node.comparators, strict=True):
        right = machine.value(item, frame)
        if not compare(machine, op, left, right, node):
            return False
        left = right
    return True


def _conditional(machine: Machine, node: ast.IfExp, frame: Frame) -> object:
    try:
        test = truth(machine, need_whole(machine.value(node.test, frame)), node.test)
    except CuteVizError as error:
        return either([_perhaps(machine, part, frame, error) for part in (node.body, node.orelse)], error)
    return machine.value(node.body if test else node.orelse, frame)


def _subscript(machine: Machine, node: ast.Subscript, frame: Frame) -> object:
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
        elif not isinstance(target, (Symbol, Mutable, tuple)):
            need(index)
    return subscript(machine, target, index, node)


def _call(machine: Machine, node: ast.Call, frame: Frame) -> object:
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
        if not isinstance(content, Mutable) or not isinstance(content.items, dict):
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


def _first_argument(frame: Frame) -> object:
    arguments = getattr(frame.node, "args", None)
    return frame.names.get(arguments.args[0].arg) if arguments is not None and arguments.args else None


def _lambda(machine: Machine, node: ast.Lambda, frame: Frame) -> object:
    return PyFunction(node, frame, defaults={name: machine.attempt(value, frame) for name, value in defaults_of(node)})


def _text(machine: Machine, node: ast.JoinedStr, frame: Frame) -> object:
    parts = []
    for part in node.values:
        value = need(machine.value(part.value if isinstance(part, ast.FormattedValue) else part, frame))
        value = value.short if isinstance(value, ValueType) and machine.tree.ours else value
        if type(value) not in (str, int) or (isinstance(part, ast.FormattedValue) and (part.format_spec or part.conversion != -1)):
            raise machine.fail("formatted text is not supported here", node)
        parts.append(str(value))
        machine.made(getsizeof(parts[-1]), node)
    return "".join(parts)


def _walrus(machine: Machine, node: ast.NamedExpr, frame: Frame) -> object:
    value = machine.attempt(node.value, frame)
    machine.record(node.target, value)
    frame = frame.inside or frame
    machine.store.write(frame.outside.get(node.target.id, frame).names, node.target.id, value)
    return value


_READERS: dict[type, Callable[[Machine, Any, Frame], Any]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Tuple: sequence,
    ast.List: sequence,
    ast.Set: sequence,
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
    ast.ListComp: comprehension,
    ast.GeneratorExp: comprehension,
    ast.SetComp: comprehension,
    ast.DictComp: comprehension,
    ast.Dict: dictionary,
}
