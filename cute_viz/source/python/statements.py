"""Python's statements: what they bind, which branch runs, how often a loop does; what cannot be followed is unknown after it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.source.python.branches import (
    BREAKS,
    CONTINUES,
    GOES_ON,
    RAISES,
    RETURNS,
    bury,
    follow_for,
    follow_if,
    follow_try,
    follow_while,
    forget,
    lose,
    split,
)
from cute_viz.source.python.machine import Frame, Machine, need_whole
from cute_viz.source.python.operators import binary, compare, iterate, truth
from cute_viz.source.python.tree import NOTHING, defaults_of, dotted, stored, symbol
from cute_viz.source.python.values import Lost, Mutable, Object, PyClass, PyFunction, SizedInt, Symbol, decorators
from cute_viz.values.integer import Unknown


def execute(machine: Machine, body: list[ast.stmt], frame: Frame) -> str:
    """Follow statements; how the block ends. What is unreadable is skipped, and what it binds is unknown."""
    for n, node in enumerate(body):
        ended = _statement(machine, node, frame)
        if ended != GOES_ON:
            if not machine.loops:
                bury(machine, body[n + 1 :], machine.fail("this line is not reached", node))
            return ended
    return GOES_ON


def _statement(machine: Machine, node: ast.stmt, frame: Frame) -> str:
    machine.step(node)
    follow = _FOLLOW.get(type(node))
    if follow is not None:
        return follow(machine, node, frame) or GOES_ON
    raise machine.fail(f"Python's {type(node).__name__} is not supported here", node)


# Assignments


def _assign(machine: Machine, node: ast.Assign, frame: Frame) -> None:
    value = machine.attempt(node.value, frame)
    for target in node.targets:
        assign(machine, target, value, frame, node)


def _annotated(machine: Machine, node: ast.AnnAssign, frame: Frame) -> None:
    if node.value is not None:
        assign(machine, node.target, machine.attempt(node.value, frame), frame, node)


def _augmented(machine: Machine, node: ast.AugAssign, frame: Frame) -> None:
    left: Any = None
    try:
        load = ast.copy_location(type(node.target)(**{**vars(node.target), "ctx": ast.Load()}), node.target)
        left = machine.value(load, frame)
        value = binary(machine, node, need_whole(left), need_whole(machine.value(node.value, frame)))
        if isinstance(left, Mutable) and isinstance(value, Mutable):  # the list itself changes
            machine.store.write(left.content, "items", value.items)
            value = left
    except CuteVizError as error:
        forget(machine, left, error)
        value = Lost(error)
    assign(machine, node.target, value, frame, node)


def assign(machine: Machine, target: ast.expr, value: object, frame: Frame, node: ast.AST) -> None:
    """Bind a target to a value: a name, an attribute, names in a tuple; what was given for a name wins."""
    if isinstance(target, (ast.Tuple, ast.List)):
        _unpack(machine, target, value, frame, node)
        return
    name = dotted(target)
    local = isinstance(target, ast.Name) and frame is not machine.module and not isinstance(value, (Lost, Unknown))
    given = machine.let(name, frame, binds="local" if local else "") if name and not _goes_on(name, frame, node) else NOTHING
    if given is not NOTHING:
        value = given
    elif isinstance(value, Lost) and name and not value.error.needs and machine.tree is machine.main:
        value = Lost(value.error.but(needs=(name,)), value.path)
    elif isinstance(value, Unknown) and name and not value.error().needs and machine.tree is machine.main:
        value = value.turned(plain=value.plain, written=name)
    elif isinstance(value, Tensor) and name and value.pointer.space and not value.pointer.base:
        value = replace(value, pointer=replace(value.pointer, base=name))
    elif isinstance(value, SizedInt) and name and not value.written and machine.tree is machine.main:
        value = SizedInt.of(value, value.bits, name)
    match target:
        case ast.Name(name):
            machine.record(target, value)
            machine.store.write(frame.outside.get(name, frame).names, name, value)
        case ast.Attribute(of, name):
            owner = machine.attempt(of, frame)
            machine.record(target, value)
            if isinstance(owner, (Object, PyClass)):
                machine.store.write(owner.names, name, value)
            elif isinstance(owner, Lost):
                forget(machine, owner, owner.error)
        case ast.Subscript():
            _put(machine, target, value, frame)
        case ast.Starred(several):
            assign(machine, several, value, frame, node)


def _goes_on(name: str, frame: Frame, node: ast.AST) -> bool:
    """Whether a statement computes a parameter's new value from the given one, `x = f(x)`, or one for the None that was given."""
    if name not in frame.begun or (source := getattr(node, "value", None)) is None:
        return False
    if frame.names[name] is None or isinstance(node, ast.AugAssign):
        return True
    return any(isinstance(item, ast.Name) and item.id == name for item in ast.walk(source))


def _unpack(machine: Machine, target: ast.Tuple | ast.List, value: object, frame: Frame, node: ast.AST) -> None:
    count = len(target.elts)
    star = next((n for n, item in enumerate(target.elts) if isinstance(item, ast.Starred)), None)
    try:
        values = iterate(machine, need_whole(value), node)
        if star is not None and len(values) >= count - 1:
            rest = len(values) - count + 1
            values = [*values[:star], Mutable({"items": values[star : star + rest]}), *values[star + rest :]]
        if len(values) != count:
            raise machine.fail(f"{len(values)} values for {count} names", node)
    except CuteVizError as error:
        values = [Lost(error)] * count
    for item, one in zip(target.elts, values, strict=True):
        assign(machine, item, one, frame, node)


def _put(machine: Machine, target: ast.Subscript, value: object, frame: Frame) -> None:
    """`items[i] = value` of a list or dictionary; of a tensor the memory, which is not followed."""
    owner = machine.attempt(target.value, frame)
    if not isinstance(owner, Mutable):
        cause = owner.error if isinstance(owner, Lost) else machine.fail("this entry is not known", target)
        return forget(machine, owner, cause)
    try:
        changed = owner.items.copy()
        changed[machine.known(target.slice, frame)] = value
    except (CuteVizError, IndexError, TypeError) as error:
        cause = error if isinstance(error, CuteVizError) else machine.fail("this entry is not known", target)
        changed = Lost(cause)
    machine.store.write(owner.content, "items", changed)


# Definitions


def _function(machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
    machine.store.write(frame.names, node.name, PyFunction(node, frame, defaults=_evaluated(machine, node, frame)))


def _evaluated(machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> dict[str, Any]:
    return {name: machine.attempt(value, frame) for name, value in defaults_of(node)}


def _class(machine: Machine, node: ast.ClassDef, frame: Frame) -> None:
    bases = tuple(machine.attempt(base, frame) for base in node.bases)
    cls = PyClass(node, {}, bases)
    inner = Frame(cls.names, frame, (*frame.scope, node.name), node, cls)
    machine.store.write(frame.names, node.name, cls)
    for statement in node.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            method = PyFunction(statement, frame, cls, _evaluated(machine, statement, inner))
            machine.store.write(cls.names, statement.name, method)
        elif isinstance(statement, ast.AnnAssign) and "struct" in decorators(node) and isinstance(statement.target, ast.Name):
            machine.store.write(cls.names, statement.target.id, machine.attempt(statement.annotation, inner))
        else:
            _statement(machine, statement, inner)
    machine.end(node, cls.names)


def _import(machine: Machine, node: ast.Import, frame: Frame) -> None:
    for alias in node.names:
        path = alias.name if alias.asname else alias.name.partition(".")[0]
        machine.store.write(frame.names, alias.asname or path, Symbol(path, machine.tree.name))


def _import_from(machine: Machine, node: ast.ImportFrom, frame: Frame) -> None:
    module = "." * node.level + (f"{node.module}." if node.module else "")
    for alias in node.names:
        if alias.name == "*":
            continue
        found = symbol(f"{module}{alias.name}")
        found = Symbol(found.path, machine.tree.name) if isinstance(found, Symbol) else found
        machine.store.write(frame.names, alias.asname or alias.name, found)


# Ends


def _with(machine: Machine, node: ast.With, frame: Frame) -> str:
    for item in node.items:
        value = machine.attempt(item.context_expr, frame)
        if item.optional_vars is not None:
            cause = machine.fail("cannot determine what this gives", item.context_expr)
            assign(machine, item.optional_vars, value if isinstance(value, Lost) else Lost(cause), frame, node)
    return execute(machine, node.body, frame)


def _return(machine: Machine, node: ast.Return, frame: Frame) -> str:
    value = None if node.value is None else machine.attempt(node.value, frame)
    if machine.pasted is not None:
        machine.record(node, value)
    frame.returned.append(value)
    return RETURNS


def _raise(machine: Machine, node: ast.Raise, frame: Frame) -> str:
    if machine.tree.ours and isinstance(node.exc, ast.Call):
        raise AlgebraError(machine.known(node.exc.args[0], frame))
    return RAISES


def _expression(machine: Machine, node: ast.Expr, frame: Frame) -> None:
    if not isinstance(node.value, ast.Constant):
        value = machine.attempt(node.value, frame)
        if machine.pasted is not None:
            machine.record(node, value)


def _outside(machine: Machine, node: ast.Global | ast.Nonlocal, frame: Frame) -> None:
    for name in node.names:
        at = frame.parent
        while at is not None and at.parent is not None and (isinstance(node, ast.Global) or name not in at.names):
            at = at.parent
        if at is not None:
            frame.outside[name] = at


def _delete(machine: Machine, node: ast.Delete, frame: Frame) -> None:
    for target in node.targets:
        error = machine.fail("this was deleted", node)
        if isinstance(target, ast.Name):
            lose(machine, target.id, frame, error)
        elif isinstance(target, (ast.Subscript, ast.Attribute)):
            forget(machine, machine.attempt(target.value, frame), error)


def _match(machine: Machine, node: ast.Match, frame: Frame) -> str:
    """The first case whose pattern fits: a value, a name, a tuple of such, several of these."""
    subject = machine.attempt(node.subject, frame)
    for n, case in enumerate(node.cases):
        try:
            fits = _fits(machine, case.pattern, subject, frame)
            if fits and (case.guard is None or truth(machine, need_whole(machine.value(case.guard, frame)), case.guard)):
                return execute(machine, case.body, frame)
        except CuteVizError as error:
            for name in stored([part.pattern for part in node.cases[n:]]):
                lose(machine, name, frame, error)
            return split(machine, [*(part.body for part in node.cases[n:]), []], frame, error, node)
    return GOES_ON


def _fits(machine: Machine, pattern: ast.pattern, value: object, frame: Frame) -> bool:
    match pattern:
        case ast.MatchAs(inside, name):
            if inside is not None and not _fits(machine, inside, value, frame):
                return False
            if name is not None:
                machine.store.write(frame.outside.get(name, frame).names, name, value)
            return True
        case ast.MatchOr(several):
            return any(_fits(machine, part, value, frame) for part in several)
        case ast.MatchValue(one):
            return compare(machine, ast.Eq(), value, machine.value(one, frame), pattern)
        case ast.MatchSingleton(one):
            return compare(machine, ast.Is(), value, one, pattern)
        case ast.MatchSequence(several) if not any(isinstance(part, ast.MatchStar) for part in several):
            parts = iterate(machine, need_whole(value), pattern)
            fits = len(parts) == len(several) and not isinstance(value, str)
            return fits and all(_fits(machine, part, one, frame) for part, one in zip(several, parts, strict=True))
    raise machine.fail("this pattern is not supported here", pattern)


_FOLLOW: dict[type, Callable[[Machine, Any, Frame], str | None]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.If: follow_if,
    ast.Try: follow_try,
    ast.With: _with,
    ast.Match: _match,
    ast.For: follow_for,
    ast.While: follow_while,
    ast.Return: _return,
    ast.Expr: _expression,
    ast.Delete: _delete,
    ast.Raise: _raise,
    ast.Break: lambda machine, node, frame: BREAKS,
    ast.Continue: lambda machine, node, frame: CONTINUES,
    ast.Pass: lambda machine, node, frame: None,
    ast.Assert: lambda machine, node, frame: None,
    ast.Global: _outside,
    ast.Nonlocal: _outside,
}
