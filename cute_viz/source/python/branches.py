"""Branches and loops of Python's statements: the one taken, or all joined; loops round by round, or once."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from cute_viz.errors import CuteVizError, LimitError
from cute_viz.source.python.alternatives import choice
from cute_viz.source.python.machine import Changes, Frame, Machine, Rounds, need_whole
from cute_viz.source.python.operators import bind, iterate, truth
from cute_viz.source.python.tree import is_library, stored
from cute_viz.source.python.values import Bound, Lost, Mutable, Object, PyFunction, same

# How a block ends.
GOES_ON, RETURNS, RAISES, BREAKS, CONTINUES = "goes on", "returns", "raises", "breaks", "continues"


class Open(Exception):
    """A loop whose end depends on what is not known."""


def lose(machine: Machine, name: str, frame: Frame, error: CuteVizError) -> None:
    """A name, `self.x` among them, whose value is not known from here on."""
    head, _, attribute = name.rpartition(".")
    if not head:
        machine.store.write(frame.names, name, Lost(error))
        return
    target = frame.names.get(head)
    if isinstance(target, Object):
        machine.store.write(target.names, attribute, Lost(error))


def forget(machine: Machine, value: object, error: CuteVizError) -> None:
    """A list or an object that something unknown may change: what is in it is not known from here on."""
    todo, seen = [value], set[int]()
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Lost):
            todo += one.among
        elif isinstance(one, tuple):
            todo += one
        elif isinstance(one, Bound):
            todo.append(one.target)
        elif isinstance(one, Mutable) and not isinstance(one.content["items"], Lost):
            todo += one.content["items"].values() if isinstance(one.content["items"], dict) else one.content["items"]
            machine.store.write(one.content, "items", Lost(error))
        elif isinstance(one, Object):
            todo += one.names.values()
            shared = {name for cls in one.cls.lineage() for name, value in cls.names.items() if not isinstance(value, PyFunction)}
            for name in {*one.names, *shared}:
                machine.store.write(one.names, name, Lost(error))


def follow_if(machine: Machine, node: ast.If, frame: Frame) -> str:
    """Follow the branch that is taken, or where that is not known both."""
    try:
        test = truth(machine, need_whole(machine.value(node.test, frame)), node.test)
    except CuteVizError as error:
        if machine.tree.ours:  # a helper does nothing that is not known
            raise
        return split(machine, [node.body, node.orelse], frame, error, node)
    taken, dead = (node.body, node.orelse) if test else (node.orelse, node.body)
    if dead and not machine.loops:
        word = "true" if test else "false"
        bury(machine, dead, machine.fail(f"this line does not run: the condition is {word}", node.test))
    return machine.parts.block(machine, taken, frame)


def bury(machine: Machine, body: list[ast.stmt], why: CuteVizError) -> None:
    """Keep why statements do not run."""
    if machine.quiet:
        return
    for statement in body:
        machine.dead.setdefault(id(statement), why)


def split(
    machine: Machine,
    bodies: list[list[ast.stmt]],
    frame: Frame,
    cause: CuteVizError,
    node: ast.AST,
    begun: list[Changes] | None = None,
) -> str:
    """Follow several ways, of which one is taken, and join what they bind. begun: what may change before all but the first."""
    outcomes: list[tuple[str, Changes, list[Any]]] = []
    for n, body in enumerate(bodies):
        mark, before, pending = machine.store.mark(), len(frame.returned), len(frame.pending)
        for changes in begun or () if n else ():
            machine.store.lose(changes, joined(machine, cause, node))
        way, outer = choice(machine.tree, frame.node, node, n), machine.choices
        machine.splits, machine.choices = machine.splits + 1, outer if way is None else (*outer, way)
        try:
            ended = machine.parts.block(machine, body, frame)
        finally:
            machine.splits, machine.choices = machine.splits - 1, outer
        frame.pending[pending:] = [(mark, machine.store.since(mark, *one)) for one in frame.pending[pending:]]
        outcomes.append((ended, machine.store.undo(mark), frame.returned[before:]))
        machine.left = [min(place, mark) for place in machine.left]
        if ended == RETURNS:
            del frame.returned[before:]
    alive = [one for one in outcomes if one[0] != RAISES]
    if not alive:
        return RAISES
    depends = joined(machine, cause, node)
    machine.thrown += [one[1] for one in outcomes if one[0] == RAISES]
    if away := [one for one in alive if one[0] in (BREAKS, CONTINUES)]:
        if not machine.loops:
            raise Open
        alive = [one for one in alive if one not in away]
        for one in away:  # what these ways change, another round or the end of the loop sees
            machine.store.lose(one[1], depends)
        if not alive:
            return CONTINUES
        machine.left.append(machine.store.mark())
    on = [one for one in alive if one[0] == GOES_ON]
    left = [one for one in alive if one[0] == RETURNS]
    mark = machine.store.mark()  # a way that returns has nothing of what the others change from here on
    machine.store.join([one[1] for one in (on or left)], depends)
    for _, changes, values in left:
        frame.returned += values or [None]
        if on:
            frame.pending.append((mark, changes))
    return GOES_ON if on else RETURNS


def joined(machine: Machine, cause: CuteVizError, node: ast.AST) -> Callable[[str], Any]:
    """The value of a name that depends on the way: the cause is what the condition lacks."""
    place = f" (line {machine.tree.line(machine.span(node).start)})"

    def unknown(name: str) -> Lost:
        message = f"the value of {name!r} depends on control flow{place}: {cause.message}"
        return Lost(cause.but(message=message))

    return unknown


def follow_try(machine: Machine, node: ast.Try, frame: Frame) -> str:
    """Follow a `try`, which may end in each of its handlers."""
    cause = machine.fail("cannot determine whether this raises", node)
    ways = [[*node.body, *node.orelse], *(handler.body for handler in node.handlers)]
    if all(isinstance(statement, (ast.Import, ast.ImportFrom)) for way in ways[:2] for statement in way):
        ways.sort(key=lambda way: not all(_is_there(machine, statement) for statement in way))  # the first that can be imported
        sure = True
    else:
        sure = not node.handlers or all(_is_there(machine, statement) for statement in node.body)
    if sure:
        ended = machine.parts.block(machine, ways[0], frame)
    else:  # a handler begins where any part of the body has run
        mark, thrown, machine.thrown = machine.store.mark(), machine.thrown, []
        quiet, machine.quiet = machine.quiet, machine.quiet + 1
        before = len(frame.returned), len(frame.pending)
        try:
            machine.parts.block(machine, node.body, frame)
        except Open:
            pass
        finally:
            machine.quiet = quiet
        begun = [machine.store.undo(mark), *machine.thrown]
        machine.thrown = thrown
        del frame.returned[before[0] :], frame.pending[before[1] :]
        ended = split(machine, ways, frame, cause, node, begun)
    last = machine.parts.block(machine, node.finalbody, frame)
    return ended if last == GOES_ON else last


def _is_there(machine: Machine, node: ast.stmt) -> bool:
    """Whether a statement imports the DSL, or a file beside this one, which are there."""
    if isinstance(node, ast.ImportFrom):
        paths = ["." * node.level + (node.module or "")]
    else:
        paths = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    beside = machine.given.beside or (lambda module, origin: None)
    return bool(paths) and all(is_library(path) or beside(path, machine.tree.name) is not None for path in paths)


_ROUNDS = 64  # of a loop that are followed one by one
_TRIES = 4  # rounds of a loop of which nobody knows how often it runs, until one changes nothing else


def follow_for(machine: Machine, node: ast.For, frame: Frame) -> str:
    """Follow a loop round by round, if what it goes through is known and short."""
    try:
        through = need_whole(machine.value(node.iter, frame))
        rounds = iterate(machine, through, node.iter)
        content = through.items if isinstance(through, Mutable) else None
    except CuteVizError as error:
        return _some_rounds(machine, node, frame, error)
    count = len(rounds)
    if count > _ROUNDS:
        return _some_rounds(machine, node, frame, machine.fail(f"{count} rounds are too many to follow", node.iter), count)
    mark, pending, calls = machine.store.mark(), len(frame.pending), len(machine.made_calls)
    outer, loop = machine.around, _loop(machine, node, count)
    try:
        for n, value in enumerate(rounds):
            machine.around = (*outer, (loop, n))
            try:
                bind(machine, node.target, value, frame)
            except CuteVizError as error:
                machine.around = outer
                return _some_rounds(machine, node, frame, error)
            ended = machine.parts.block(machine, node.body, frame)
            if ended == BREAKS:
                return GOES_ON
            if ended in (RETURNS, RAISES):
                return ended
            if isinstance(through, Mutable) and through.content["items"] is not content:
                raise Open  # a round changes what the loop goes through
    except Open:
        machine.store.undo(mark)
        del frame.pending[pending:]
        machine.unmoved(calls)
        machine.around = outer
        return _some_rounds(machine, node, frame, machine.fail("cannot determine how often this loop runs", node.iter), count)
    finally:
        machine.around = outer
    return machine.parts.block(machine, node.orelse, frame)


def follow_while(machine: Machine, node: ast.While, frame: Frame) -> str:
    """Follow a loop as long as its condition is known."""
    mark, pending, calls = machine.store.mark(), len(frame.pending), len(machine.made_calls)
    outer, loop = machine.around, _loop(machine, node, None)
    try:
        for n in range(_ROUNDS * 16):
            machine.around = (*outer, (loop, n))
            if not truth(machine, need_whole(machine.value(node.test, frame)), node.test):
                machine.around, loop.count = outer, n
                return machine.parts.block(machine, node.orelse, frame)
            ended = machine.parts.block(machine, node.body, frame)
            if ended == BREAKS:
                loop.count = n + 1
                return GOES_ON
            if ended in (RETURNS, RAISES):
                return ended
        cause: CuteVizError = machine.fail("this loop has too many rounds to follow", node.test)
    except Open:
        cause = machine.fail("cannot determine how often this loop runs", node.test)
    except LimitError:
        raise
    except CuteVizError as error:
        cause = error
    finally:
        machine.around = outer
    machine.store.undo(mark)
    del frame.pending[pending:]
    machine.unmoved(calls)
    return _some_rounds(machine, node, frame, cause)


def _loop(machine: Machine, node: ast.For | ast.While, count: int | None) -> Rounds:
    return Rounds(machine.tree.line(machine.span(node).start), machine.tree.name, count)


def _some_rounds(machine: Machine, node: ast.For | ast.While, frame: Frame, cause: CuteVizError, count: int | None = None) -> str:
    """A loop whose rounds are not followed: what a round changes is unknown in it, as far as the loop carries it. count: of its
    rounds, if that is known, and nothing leaves it."""
    left = any(isinstance(item, (ast.Break, ast.Return)) for part in node.body for item in ast.walk(part))
    outer, calls = machine.around, len(machine.made_calls)
    machine.around = (*outer, (_loop(machine, node, None if left else count), None))
    try:
        return _any_round(machine, node, frame, cause, calls)
    finally:
        machine.around = outer


def _any_round(machine: Machine, node: ast.For | ast.While, frame: Frame, cause: CuteVizError, calls: int) -> str:
    if id(node) not in machine.stored:
        machine.stored[id(node)] = stored(node.body) | (stored([node.target]) if isinstance(node, ast.For) else set())
    changing = machine.stored[id(node)]
    depends = joined(machine, cause, node)
    start, pending, values = machine.store.mark(), len(frame.pending), len(frame.returned)
    for again in range(_TRIES):  # what else a round changes, lists and objects, is unknown in it, too
        mark = machine.store.mark()
        outcome = _one_round(machine, node, frame, changing, depends)
        before, after = machine.store.before(mark), machine.store.changes(mark)
        found = {
            key: pair
            for key, pair in after.items()
            if key in before and not isinstance(before[key], Lost) and not same(before[key], pair[1]) and key[1] not in changing
        }
        if not found or again == _TRIES - 1:
            break
        machine.store.undo(mark)
        machine.unmoved(calls)
        del frame.pending[pending:], frame.returned[values:]
        machine.store.lose(found, depends)
    ended, returned = outcome
    before = machine.store.before(start)
    for (where, name), (names, value) in machine.store.changes(start).items():
        old = before.get((where, name), value)
        if not isinstance(value, Lost) and not same(old, value):
            machine.store.write(names, name, depends(name))
    if ended == RETURNS:
        frame.returned[returned:] = [Lost(cause)]
        frame.pending.append((machine.store.mark(), {}))
    if node.orelse:
        left = any(isinstance(item, ast.Break) for part in node.body for item in ast.walk(part))
        if not left:
            return machine.parts.block(machine, node.orelse, frame)
        return split(machine, [node.orelse, []], frame, cause, node)
    return GOES_ON


def _one_round(
    machine: Machine, node: ast.For | ast.While, frame: Frame, changing: set[str], depends: Callable[[str], Lost]
) -> tuple[str, int]:
    """One round of any: how it ends, and how many values the call had returned before."""
    for name in changing:
        if name in frame.names or "." in name:
            lose(machine, name, frame, depends(name).error)
    if isinstance(node, ast.For):
        for name in stored([node.target]):
            lose(machine, name, frame, machine.fail(f"{name!r} differs from round to round", node.target, needs=(name,)))
    machine.loops += 1
    returned, outer, machine.left = len(frame.returned), machine.left, []
    try:
        ended = machine.parts.block(machine, node.body, frame)
    finally:
        machine.loops -= 1
        places, machine.left = machine.left, outer
    for place in places:  # what is changed behind `continue` or `break` may not be
        before = machine.store.before(place)
        for key, (names, value) in machine.store.changes(place).items():
            if key in before and not same(before[key], value):
                machine.store.write(names, key[1], depends(key[1]))
    return ended, returned
