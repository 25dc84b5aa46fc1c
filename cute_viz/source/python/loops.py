"""Loops of Python's statements: followed round by round where their rounds are known, else once, with what they carry unknown."""

from __future__ import annotations

import ast

from cute_viz.errors import CuteVizError, LimitError
from cute_viz.source.python.branches import BREAKS, GOES_ON, RAISES, RETURNS, Open, joined, lose
from cute_viz.source.python.expressions import bind, iterate
from cute_viz.source.python.machine import Frame, Machine, need_whole
from cute_viz.source.python.operators import truth
from cute_viz.source.python.tree import stored
from cute_viz.source.python.values import Unknown, same

_ROUNDS = 64  # of a loop that are followed one by one


def follow_for(machine: Machine, node: ast.For, frame: Frame) -> str:
    """Follow a loop round by round, if what it goes through is known and short."""
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
            ended = machine.parts.block(machine, node.body, frame)
            if ended == BREAKS:
                return GOES_ON
            if ended in (RETURNS, RAISES):
                return ended
    except Open:
        machine.store.undo(mark)
        return _some_rounds(machine, node, frame, machine.fail("cannot determine how often this loop runs", node.iter))
    return machine.parts.block(machine, node.orelse, frame)


def follow_while(machine: Machine, node: ast.While, frame: Frame) -> str:
    """Follow a loop as long as its condition is known."""
    mark = machine.store.mark()
    try:
        for _ in range(_ROUNDS * 16):
            if not truth(machine, need_whole(machine.value(node.test, frame)), node.test):
                return machine.parts.block(machine, node.orelse, frame)
            ended = machine.parts.block(machine, node.body, frame)
            if ended == BREAKS:
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
    machine.store.undo(mark)
    return _some_rounds(machine, node, frame, cause)


def _some_rounds(machine: Machine, node: ast.For | ast.While, frame: Frame, cause: CuteVizError) -> str:
    """A loop of which the number of rounds is not known: what a round changes is unknown in it, as far as the loop carries it."""
    if id(node) not in machine.stored:
        machine.stored[id(node)] = stored(node.body) | (stored([node.target]) if isinstance(node, ast.For) else set())
    changing = machine.stored[id(node)]
    mark = machine.store.mark()
    depends = joined(machine, cause, node)
    for name in changing:
        if name in frame.names or "." in name:
            lose(machine, name, frame, depends(name).error)
    if isinstance(node, ast.For):
        for name in stored([node.target]):
            lose(machine, name, frame, machine.fail(f"{name!r} differs from round to round", node.target, needs=(name,)))
    machine.loops += 1
    returned = len(frame.returned)
    try:
        ended = machine.parts.block(machine, node.body, frame)
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
