"""Calls: functions and methods of the text are followed with their arguments, classes give objects, all else is the library's."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.source.python.branches import RAISES, forget
from cute_viz.source.python.given import Missing, as_compiled, is_compiled, parameter
from cute_viz.source.python.library import call_library
from cute_viz.source.python.machine import DEPTH, Frame, Machine, need
from cute_viz.source.python.statements import execute
from cute_viz.source.python.subscripts import underscores
from cute_viz.source.python.tree import NOTHING, REST, YIELDS, Tree, defaults_of, stored
from cute_viz.source.python.values import (
    Bound,
    EnumMember,
    Lost,
    Mutable,
    Object,
    Partial,
    PyClass,
    PyFunction,
    SizedInt,
    Super,
    Symbol,
    decorators,
    either,
    same,
    tensor_of,
)
from cute_viz.values.examples import hint_for
from cute_viz.values.integer import Unknown
from cute_viz.values.types import Pointer, ValueType

_KEEPS = {"jit", "kernel", "staticmethod", "classmethod", "property", "dsl_user_op", "lru_cache", "cache", "abstractmethod"}
_KEEPS |= {"override", "no_grad", "overload", "cached_property", "final", "wraps", "constexpr_function", ""}


def call(machine: Machine, function: object, args: list[object], named: dict[str, object], node: ast.expr) -> Any:
    """The value of a call. Raises: NotationError for what is unknown, and for what the library refuses."""
    if REST in named and not isinstance(function, (Bound, PyFunction, PyClass)):
        raise machine.fail("these arguments are parameters", node)
    match function:
        case Bound(inside, target):
            return call(machine, inside, [target, *args], named, node)
        case Partial(inside, first, more):
            return call(machine, inside, [*first, *args], {**more, **named}, node)
        case PyFunction():
            return follow(machine, function, args, named, node)
        case PyClass():
            return make(machine, function, args, named, node)
        case Object() if isinstance(method := function.cls.find("__call__"), PyFunction):
            return follow(machine, method, [function, *args], named, node)
        case Symbol("@python.super") if len(args) == 2 and isinstance(args[0], PyClass):
            return Super(args[0], args[1])
        case Symbol():
            return call_library(machine, function, args, named, node)
        case ValueType():
            return _number(machine, function, args, node)
        case Layout() | ComposedLayout() | Swizzle():
            if not (coord := underscores(tuple(need(arg) for arg in args))):
                raise machine.fail("a layout is called with a coordinate", node)
            return function(*coord)
    cause = function.error if isinstance(function, Lost) else machine.fail("cannot determine what is called here", node)
    for value in (function, *args, *named.values()):
        forget(machine, value, cause)
    raise cause


def _number(machine: Machine, kind: ValueType, args: list[object], node: ast.expr) -> Any:
    """`cutlass.Int32(4)`: the number."""
    value = need(args[0]) if len(args) == 1 else None
    if isinstance(value, Unknown) and kind.kind in ("signed", "unsigned") and kind.bits in (32, 64):
        same_width = ("i64" in value.name) == (kind.bits == 64)
        return value if same_width else machine.staged(node, value.written, kind.bits)
    if not isinstance(value, (int, float)):
        raise machine.fail(f"this value of {kind.short} is a run-time value", node)
    if kind.kind in ("signed", "unsigned") and kind.bits in (32, 64):
        return SizedInt.of(int(value), kind.bits)
    return float(value) if kind.kind == "float" else bool(value) if kind.short == "pred" else int(value)


def make(machine: Machine, cls: PyClass, args: list[object], named: dict[str, object], node: ast.expr) -> Any:
    """An object of a class: its `__init__` followed, or the fields of a dataclass."""
    if cls.is_enum():
        for name, value in cls.names.items():
            if len(args) == 1 and same(value, args[0]):
                return EnumMember(cls.name, name, value)
        raise machine.fail(f"cannot determine which member of {cls.name} this is", node)
    out = Object(cls)
    init = cls.find("__init__")
    if isinstance(init, PyFunction):
        follow(machine, init, [out, *args], named, node)
        return out
    if REST in named:
        raise machine.fail("these arguments are parameters", node)
    named_fields = {
        item.target.id: item
        for one in reversed(cls.lineage())
        for item in one.node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and "ClassVar" not in ast.unparse(item.annotation)
    }
    fields = list(named_fields.values())
    plain = "dataclass" in decorators(cls.node) or any(getattr(base, "last", "") == "NamedTuple" for base in cls.bases)
    if "struct" in decorators(cls.node):  # memory that is seen as the struct
        return out
    if (args or named) and not plain:
        raise machine.fail(f"how {cls.name} is made is not in this file", node)
    rest = list(args)
    for item in fields:
        assert isinstance(item.target, ast.Name)
        name = item.target.id
        default, asked = _field(machine, item, cls)
        if asked and rest:
            default = rest.pop(0)
        elif asked and name in named:
            default = named[name]
        machine.store.write(out.names, name, default)
    after = cls.find("__post_init__")
    if isinstance(after, PyFunction):
        follow(machine, after, [out], {}, node)
    return out


def _field(machine: Machine, item: ast.AnnAssign, cls: PyClass) -> tuple[Any, bool]:
    """The default of a dataclass's field, and whether an argument may give it."""
    assert isinstance(item.target, ast.Name)
    name = item.target.id
    if item.value is None:
        return machine.unknown(f"{cls.name} is made without {name}", item, needs=(name,)), True
    if not isinstance(item.value, ast.Call) or not ast.unparse(item.value.func).endswith("field"):
        return cls.find(name), True
    words = {keyword.arg: keyword.value for keyword in item.value.keywords}
    asked = not (isinstance(words.get("init"), ast.Constant) and getattr(words["init"], "value", True) is False)
    if "default" in words:
        return machine.attempt(words["default"], machine.module), asked
    return machine.unknown(f"{cls.name} is made without {name}", item, needs=(name,)), asked


def follow(
    machine: Machine,
    function: PyFunction,
    args: list[object],
    named: dict[str, object],
    node: ast.AST,
    missing: Missing | None = None,
) -> Any:
    """The value of a function of the text: its statements followed with these arguments. missing: what a parameter without an
    argument is; without it that is an error."""
    if machine.depth >= DEPTH:
        raise machine.fail("calls are nested too deeply to follow", node)
    if (tree := _tree_of(function.frame)) is not machine.tree:
        before, machine.tree = machine.tree, tree
        try:
            return follow(machine, function, args, named, function.node, missing)
        finally:
            machine.tree = before
    if REST in named:  # what is not given here is a parameter of the caller's
        named = {word: value for word, value in named.items() if word != REST}
        missing = missing or parameter(machine)
    scope = (*(function.frame.scope), *((function.owner.name,) if function.owner else ()), function.name)
    frame = Frame({}, function.frame, scope, function.node, function.owner)
    _bind_parameters(machine, function, args, named, frame, node, missing)
    if isinstance(function.node, ast.Lambda):
        machine.depth += 1
        try:
            return machine.value(function.node.body, frame)
        finally:
            machine.depth -= 1
    inside = _stored_in(machine, function.node)
    frame.local = frozenset(inside)
    key = id(function.node)
    if machine.splits > (before_it := machine.active.get(key, machine.splits)):
        for value in (*args, *named.values()):
            forget(machine, value, machine.fail("cannot determine what this call does to it", node))
        raise machine.fail(f"{function.name} calls itself, and how often is not known", node)
    machine.calls[key] = machine.calls.get(key, 0) + 1
    machine.depth += 1
    again, machine.active[key] = key in machine.active, machine.splits
    returned = machine.store.mark()
    lazy = YIELDS in inside or isinstance(function.node, ast.AsyncFunctionDef)
    path, around = machine.path, machine.scope
    if machine.depth > 1:
        machine.path = (*path, ("::".join(around), machine.tree.line(machine.span(node).start)))
    machine.scope = scope
    held = machine.around, machine.outside, machine.kernel, machine.choices
    if "kernel" in function.decorators:
        machine.around, machine.outside, machine.choices = (), machine.splits, ()
        machine.kernel = function.name, machine.path[-1][1] if machine.path else 0
    try:
        ended = execute(machine, function.node.body, frame)
    except RecursionError:
        raise machine.fail("this is nested too deeply to follow", node) from None
    finally:
        machine.path, machine.scope = path, around
        machine.around, machine.outside, machine.kernel, machine.choices = held
        machine.depth -= 1
        if again:
            machine.active[key] = before_it
        else:
            del machine.active[key]
    if lazy:  # it runs when it is asked for a value
        cause = machine.fail(f"{function.name} is a generator", node)
        machine.store.lose(machine.store.undo(returned), lambda name: Lost(cause))
        return Lost(cause)
    _settle(machine, frame, node, returned)
    machine.end(function.node, frame.names)
    for name in inside:
        head, _, attribute = name.partition(".")
        target = frame.names.get(head)
        if attribute and isinstance(target, Object) and attribute in target.names:
            machine.end(function.node, {attribute: target.names[attribute]}, head + ".")
    if ended == RAISES and not frame.returned:
        raise machine.fail(f"{function.name} raises an error for these arguments", node)
    return _result(machine, function, frame, ended, node)


def _tree_of(frame: Frame) -> Tree:
    while frame.parent is not None:
        frame = frame.parent
    assert frame.tree is not None
    return frame.tree


def _stored_in(machine: Machine, node: ast.AST) -> set[str]:
    cache = machine.stored
    if id(node) not in cache:
        cache[id(node)] = stored(getattr(node, "body", []))
    return cache[id(node)]


def _result(machine: Machine, function: PyFunction, frame: Frame, ended: str, node: ast.AST) -> object:
    values = list(frame.returned)
    if ended == "goes on" and values:
        values.append(None)
    if not function.decorators <= _KEEPS:
        return machine.unknown(f"its decorator changes the result of {function.name}", node)
    if not values:
        return None
    known = next((value for value in values if isinstance(value, Lost)), None)
    error = machine.fail(f"cannot determine which value {function.name} returns", node) if known is None else known.error
    return either(values, error, "" if known is None else known.path)


def _settle(machine: Machine, frame: Frame, node: ast.AST, start: int) -> None:
    """What was changed after a way that may have ended the call is unknown after it, unless that way changed it alike."""
    for mark, changes in reversed(frame.pending):
        now = machine.store.changes(mark)
        before = machine.store.before(mark)
        for key in {**now, **changes}:
            names, name = (now.get(key) or changes[key])[0], key[1]
            if names is frame.names:
                continue
            other = changes[key][1] if key in changes else before.get(key, NOTHING)
            if other is not NOTHING and not same(other, names.get(name)):
                machine.store.write(names, name, machine.unknown(f"the value of {name!r} depends on where the call returns", node))


def _as_annotated(machine: Machine, item: ast.arg, value: object, frame: Frame) -> object:
    """A layout that was given for a tensor as a tensor, of the element type that was given, `mA.element_type`."""
    if not isinstance(value, (Layout, ComposedLayout)):
        return value
    path = f"{item.arg}.element_type"
    kind = machine.let(path, frame)
    if kind is NOTHING and not (item.annotation is not None and "Tensor" in ast.unparse(item.annotation)):
        return value
    if kind is NOTHING:
        kind = machine.unknown(f"the element type of {item.arg!r} is not known", item, hint_for(path), (path,), path)
    return tensor_of(value, Pointer(type=kind))


def _bind_parameters(
    machine: Machine,
    function: PyFunction,
    args: list[object],
    named: dict[str, object],
    frame: Frame,
    node: ast.AST,
    missing: Missing | None,
) -> None:
    """Give parameters their arguments, what was given for them, or their defaults."""
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    defaults = dict(defaults_of(function.node))
    rest = dict(named)
    compiled = is_compiled(machine, function, missing is not None)
    for n, item in enumerate([*positional, *spec.kwonlyargs]):
        if n < len(args) and n < len(positional):
            value = args[n]
        elif item.arg in rest:
            value = rest.pop(item.arg)
        elif missing is not None:
            value = missing(item, defaults.get(item.arg))
            if isinstance(value, Lost) and item.arg in machine.lets.by_last and machine.lets.elsewhere(item.arg, frame.scope):
                name = f"{function.name}.{item.arg}"
                value = Lost(value.error.but(needs=(name,), hint=hint_for(name)), name)
        elif item.arg in function.defaults:
            value = function.defaults[item.arg]
        else:
            value = machine.unknown(f"{function.name} is called without {item.arg}", node)
        if compiled:
            value = as_compiled(machine, item, value)
        known = missing is None and not isinstance(value, (Lost, Unknown))
        if isinstance(value, (Layout, ComposedLayout)):
            value = _as_annotated(machine, item, value, frame)
        asked = missing is not None
        if (given := machine.let(item.arg, frame, binds="parameter" if known else "", asked=asked)) is not NOTHING:
            value = _as_annotated(machine, item, given, frame)
            frame.begun.add(item.arg)
        if isinstance(value, Tensor) and not (value.pointer.base and value.pointer.space):
            kept = value.pointer.space or ("gmem" if "kernel" in function.decorators else "")  # what a kernel is given
            value = replace(value, pointer=replace(value.pointer, space=kept, base=value.pointer.base or item.arg))
        frame.names[item.arg] = value
    if spec.vararg is not None:
        frame.names[spec.vararg.arg] = (
            tuple(args[len(positional) :]) if missing is None else machine.unknown("these are parameters", spec.vararg, path=REST)
        )
    if spec.kwarg is not None:
        frame.names[spec.kwarg.arg] = (
            Mutable({"items": rest}) if missing is None else machine.unknown("these are parameters", spec.kwarg, path=REST)
        )
