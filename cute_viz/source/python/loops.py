"""Loops of Python's statements: followed round by round where their rounds are known, else once, with what they carry unknown."""

from __future__ import annotations

import ast
from collections.abc import Callable

from cute_viz.errors import CuteVizError, LimitError
from cute_viz.source.python.branches import BREAKS, GOES_ON, RAISES, RETURNS, Open, joined, lose, split
from cute_viz.source.python.expressions import bind, iterate
from cute_viz.source.python.machine import Frame, Machine, Rounds, need_whole
from cute_viz.source.python.operators import truth
from cute_viz.source.python.tree import stored
from cute_viz.source.python.values import Items, Lost, same

_ROUNDS = 64  # of a loop that are followed one by one
_TRIES = 4  # rounds of a loop of which nobody knows how often it runs, until one changes nothing else


def follow_for(machine: Machine, node: ast.For, frame: Frame) -> str:
    """Follow a loop round by round, if what it goes through is known and short."""
    try:
        through = need_whole(machine.value(node.iter, frame))
        rounds = iterate(machine, through, node.iter)
        content = through.items if isinstance(through, Items) else None
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
            if isinstance(through, Items) and through.content["items"] is not content:
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
    rounds, if that is known, and nothing leaves it.
    """
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
