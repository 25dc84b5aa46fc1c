"""Python's statements: what they bind, which branch runs, how often a loop does; what cannot be followed is unknown after it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from cute_viz.errors import CuteVizError, LimitError
from cute_viz.source.python.expressions import bind, iterate, need_whole
from cute_viz.source.python.lets import NOTHING
from cute_viz.source.python.machine import Frame, Machine
from cute_viz.source.python.modules import symbol
from cute_viz.source.python.operators import binary, truth
from cute_viz.source.python.store import Changes
from cute_viz.source.python.tree import dotted, stored
from cute_viz.source.python.values import Class, Function, Instance, Items, Symbol, Unknown, same

# How a block ends.
GOES_ON, RETURNS, RAISES, BREAKS, CONTINUES = "goes on", "returns", "raises", "breaks", "continues"
_ROUNDS = 64  # of a loop that are followed one by one


class _Open(Exception):
    """A loop whose end hangs on what is not known."""


def execute(machine: Machine, body: list[ast.stmt], frame: Frame) -> str:
    """Follow statements; how the block ends. What is unreadable is skipped, and what it binds is unknown."""
    for n, node in enumerate(body):
        ended = _statement(machine, node, frame)
        if ended != GOES_ON:
            if not machine.loops:
                _bury(machine, body[n + 1 :], machine.fail("this line is not reached", node))
            return ended
    return GOES_ON


def _statement(machine: Machine, node: ast.stmt, frame: Frame) -> str:
    machine.step(node)
    follow = _FOLLOW.get(type(node))
    if follow is not None:
        return follow(machine, node, frame) or GOES_ON
    for name in stored([node]):
        lose(machine, name, frame, machine.fail(f"Python's {type(node).__name__} is not read here", node))
    return GOES_ON


def lose(machine: Machine, name: str, frame: Frame, error: CuteVizError) -> None:
    """A name, `self.x` among them, whose value is not known from here on."""
    head, _, attribute = name.rpartition(".")
    if not head:
        machine.store.write(frame.names, name, Unknown(error))
        return
    target = frame.names.get(head)
    if isinstance(target, Instance):
        machine.store.write(target.names, attribute, Unknown(error))


# Assignments


def _assign(machine: Machine, node: ast.Assign, frame: Frame) -> None:
    value = machine.attempt(node.value, frame)
    for target in node.targets:
        assign(machine, target, value, frame, node)


def _annotated(machine: Machine, node: ast.AnnAssign, frame: Frame) -> None:
    if node.value is not None:
        assign(machine, node.target, machine.attempt(node.value, frame), frame, node)


def _augmented(machine: Machine, node: ast.AugAssign, frame: Frame) -> None:
    try:
        load = ast.copy_location(type(node.target)(**{**vars(node.target), "ctx": ast.Load()}), node.target)
        left = need_whole(machine.value(load, frame))
        value = binary(machine, node, left, need_whole(machine.value(node.value, frame)))
    except CuteVizError as error:
        value = Unknown(error)
    assign(machine, node.target, value, frame, node)


def assign(machine: Machine, target: ast.expr, value: Any, frame: Frame, node: ast.AST) -> None:
    """Bind a target to a value: a name, an attribute, names in a tuple; what was given for a name wins."""
    if isinstance(target, (ast.Tuple, ast.List)):
        _unpack(machine, target, value, frame, node)
        return
    name = dotted(target)
    given = machine.let(name, frame) if name else NOTHING
    if given is not NOTHING:
        value = given
    elif isinstance(value, Unknown) and name and not value.error.needs:
        value = Unknown(value.error.but(needs=(name,)), value.path)
    if isinstance(target, ast.Name):
        machine.record(target, value)
        machine.store.write(frame.names, target.id, value)
    elif isinstance(target, ast.Attribute):
        owner = machine.attempt(target.value, frame)
        machine.record(target, value)
        if isinstance(owner, (Instance, Class)):
            machine.store.write(owner.names, target.attr, value)
    elif isinstance(target, ast.Subscript):
        _put(machine, target, value, frame)
    elif isinstance(target, ast.Starred):
        assign(machine, target.value, value, frame, node)


def _unpack(machine: Machine, target: ast.Tuple | ast.List, value: Any, frame: Frame, node: ast.AST) -> None:
    count = len(target.elts)
    star = next((n for n, item in enumerate(target.elts) if isinstance(item, ast.Starred)), None)
    try:
        values = iterate(machine, need_whole(value), node)
        if star is not None and len(values) >= count - 1:
            rest = len(values) - count + 1
            values = [*values[:star], Items({"items": values[star : star + rest]}), *values[star + rest :]]
        if len(values) != count:
            raise machine.fail(f"{len(values)} values for {count} names", node)
    except CuteVizError as error:
        values = [Unknown(error)] * count
    for item, one in zip(target.elts, values, strict=True):
        assign(machine, item, one, frame, node)


def _put(machine: Machine, target: ast.Subscript, value: Any, frame: Frame) -> None:
    """`items[i] = value` of a list or dictionary; of a tensor the memory, which is not followed."""
    owner = machine.attempt(target.value, frame)
    if not isinstance(owner, Items):
        return
    content = owner.items
    try:
        changed = content.copy()
        changed[machine.known(target.slice, frame)] = value  # type: ignore[arg-type]
    except (CuteVizError, IndexError, TypeError) as error:
        cause = error if isinstance(error, CuteVizError) else machine.fail("this entry is not known", target)
        changed = Unknown(cause)
    machine.store.write(owner.content, "items", changed)


# Definitions


def _function(machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
    machine.store.write(frame.names, node.name, Function(node, frame, frame.owner if frame.node is frame.owner else None))


def _class(machine: Machine, node: ast.ClassDef, frame: Frame) -> None:
    bases = tuple(machine.attempt(base, frame) for base in node.bases)
    cls = Class(node, {}, bases)
    inner = Frame(cls.names, frame, (*frame.scope, node.name), node, cls)
    machine.store.write(frame.names, node.name, cls)
    for statement in node.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            machine.store.write(cls.names, statement.name, Function(statement, frame, cls))
        else:
            _statement(machine, statement, inner)
    machine.end(node, cls.names)


def _import(machine: Machine, node: ast.Import, frame: Frame) -> None:
    for alias in node.names:
        path = alias.name if alias.asname else alias.name.partition(".")[0]
        machine.store.write(frame.names, alias.asname or path, Symbol(path))


def _import_from(machine: Machine, node: ast.ImportFrom, frame: Frame) -> None:
    module = "." * node.level + (node.module or "")
    for alias in node.names:
        if alias.name == "*":
            continue
        machine.store.write(frame.names, alias.asname or alias.name, symbol(f"{module}.{alias.name}"))


# Branches


def _if(machine: Machine, node: ast.If, frame: Frame) -> str:
    try:
        test = truth(machine, need_whole(machine.value(node.test, frame)), node.test)
    except CuteVizError as error:
        return split(machine, [node.body, node.orelse], frame, error, node)
    taken, dead = (node.body, node.orelse) if test else (node.orelse, node.body)
    if dead and not machine.loops:
        word = "true" if test else "false"
        _bury(machine, dead, machine.fail(f"this line does not run: the condition is {word}", node.test))
    return execute(machine, taken, frame)


def _bury(machine: Machine, body: list[ast.stmt], why: CuteVizError) -> None:
    """Keep why statements do not run."""
    if machine.quiet:
        return
    for statement in body:
        machine.dead.setdefault(id(statement), why)


def split(machine: Machine, bodies: list[list[ast.stmt]], frame: Frame, cause: CuteVizError, node: ast.AST) -> str:
    """Follow several ways, of which one is taken, and join what they bind."""
    outcomes: list[tuple[str, Changes, list[Any]]] = []
    for body in bodies:
        mark, before = machine.store.mark(), len(frame.returned)
        ended = execute(machine, body, frame)
        outcomes.append((ended, machine.store.undo(mark), frame.returned[before:]))
        if ended == RETURNS:
            del frame.returned[before:]
    alive = [one for one in outcomes if one[0] != RAISES]
    if not alive:
        return RAISES
    if any(one[0] in (BREAKS, CONTINUES) for one in alive):
        if not machine.loops:
            raise _Open
        alive = [one for one in alive if one[0] not in (BREAKS, CONTINUES)]
        if not alive:
            return CONTINUES
    on = [one for one in alive if one[0] == GOES_ON]
    left = [one for one in alive if one[0] == RETURNS]
    machine.store.join([one[1] for one in (on or left)], _joined(machine, cause, node))
    for _, changes, values in left:
        frame.returned += values or [None]
        if on:
            frame.pending.append((machine.store.mark(), changes))
    return GOES_ON if on else RETURNS


def _joined(machine: Machine, cause: CuteVizError, node: ast.AST) -> Callable[[str], Any]:
    """The value of a name that depends on the way: the cause is what the condition lacks."""
    place = f" (line {machine.tree.line(machine.span(node).start)})"

    def unknown(name: str) -> Unknown:
        message = f"what {name!r} is depends on which branch runs{place}: {cause.message}"
        return Unknown(cause.but(message=message))

    return unknown


def _try(machine: Machine, node: ast.Try, frame: Frame) -> str:
    cause = machine.fail("whether this raises is not known", node)
    ways = [[*node.body, *node.orelse], *(handler.body for handler in node.handlers)]
    ended = split(machine, ways, frame, cause, node) if node.handlers else execute(machine, ways[0], frame)
    last = execute(machine, node.finalbody, frame)
    return ended if last == GOES_ON else last


def _with(machine: Machine, node: ast.With, frame: Frame) -> str:
    for item in node.items:
        value = machine.attempt(item.context_expr, frame)
        if item.optional_vars is not None:
            cause = machine.fail("what this gives is not read here", item.context_expr)
            assign(machine, item.optional_vars, value if isinstance(value, Unknown) else Unknown(cause), frame, node)
    return execute(machine, node.body, frame)


# Loops


def _for(machine: Machine, node: ast.For, frame: Frame) -> str:
    try:
        rounds = iterate(machine, need_whole(machine.value(node.iter, frame)), node.iter)
        if len(rounds) > _ROUNDS:
            raise machine.fail(f"{len(rounds)} rounds are too many to follow", node.iter)
    except CuteVizError as error:
        return _some_rounds(machine, node, frame, error)
    mark = machine.store.mark()
    try:
        for value in rounds:
            try:
                bind(machine, node.target, value, frame, machine.store.write)
            except CuteVizError as error:
                return _some_rounds(machine, node, frame, error)
            ended = execute(machine, node.body, frame)
            if ended == BREAKS:
                return GOES_ON
            if ended in (RETURNS, RAISES):
                return ended
    except _Open:
        machine.store.undo(mark)
        return _some_rounds(machine, node, frame, machine.fail("how often this loop runs is not known", node.iter))
    return execute(machine, node.orelse, frame)


def _while(machine: Machine, node: ast.While, frame: Frame) -> str:
    mark = machine.store.mark()
    try:
        for _ in range(_ROUNDS * 16):
            if not truth(machine, need_whole(machine.value(node.test, frame)), node.test):
                return execute(machine, node.orelse, frame)
            ended = execute(machine, node.body, frame)
            if ended == BREAKS:
                return GOES_ON
            if ended in (RETURNS, RAISES):
                return ended
        cause: CuteVizError = machine.fail("this loop has too many rounds to follow", node.test)
    except _Open:
        cause = machine.fail("how often this loop runs is not known", node.test)
    except LimitError:
        raise
    except CuteVizError as error:
        cause = error
    machine.store.undo(mark)
    return _some_rounds(machine, node, frame, cause)


def _some_rounds(machine: Machine, node: ast.For | ast.While, frame: Frame, cause: CuteVizError) -> str:
    """A loop of which the number of rounds is not known: what a round changes is unknown in it, as far as the loop carries it."""
    changing = stored(node.body) | (stored([node.target]) if isinstance(node, ast.For) else set())
    mark = machine.store.mark()
    depends = _joined(machine, cause, node)
    for name in changing:
        if name in frame.names or "." in name:
            lose(machine, name, frame, depends(name).error)
    if isinstance(node, ast.For):
        for name in stored([node.target]):
            lose(machine, name, frame, machine.fail(f"{name!r} differs from round to round", node.target, needs=(name,)))
    machine.loops += 1
    returned = len(frame.returned)
    try:
        ended = execute(machine, node.body, frame)
    finally:
        machine.loops -= 1
    before = machine.store.before(mark)
    for (where, name), (names, value) in machine.store.changes(mark).items():
        old = before.get((where, name), value)
        if not isinstance(value, Unknown) and not same(old, value):
            machine.store.write(names, name, depends(name))
        elif isinstance(value, Unknown) and name in ("", *changing):
            machine.store.write(names, name, value)
    if ended == RETURNS:
        frame.returned[returned:] = [Unknown(cause)]
    return GOES_ON


# Ends


def _return(machine: Machine, node: ast.Return, frame: Frame) -> str:
    frame.returned.append(None if node.value is None else machine.attempt(node.value, frame))
    return RETURNS


def _expression(machine: Machine, node: ast.Expr, frame: Frame) -> None:
    if not isinstance(node.value, ast.Constant):
        machine.attempt(node.value, frame)


def _outside(machine: Machine, node: ast.Global | ast.Nonlocal, frame: Frame) -> None:
    """A function that binds names around it: from its call on, these are not known."""
    for name in node.names:
        at = frame.parent
        while at is not None and name not in at.names:
            at = at.parent
        if at is not None:
            lose(machine, name, at, machine.fail(f"{name!r} is bound by a function, which is not followed", node, needs=(name,)))


def _delete(machine: Machine, node: ast.Delete, frame: Frame) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            lose(machine, target.id, frame, machine.fail(f"{target.id!r} was deleted", node))


_FOLLOW: dict[type, Callable[[Machine, Any, Frame], str | None]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.If: _if,
    ast.Try: _try,
    ast.With: _with,
    ast.For: _for,
    ast.While: _while,
    ast.Return: _return,
    ast.Expr: _expression,
    ast.Delete: _delete,
    ast.Raise: lambda machine, node, frame: RAISES,
    ast.Break: lambda machine, node, frame: BREAKS,
    ast.Continue: lambda machine, node, frame: CONTINUES,
    ast.Pass: lambda machine, node, frame: None,
    ast.Assert: lambda machine, node, frame: None,
    ast.Global: _outside,
    ast.Nonlocal: _outside,
}
