"""How often a block runs a statement, whoever read it: the rounds of the loops around it, and those that conditions select."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from cute_viz.source.model import Loop, Often

_TRIED = 4096  # rounds whose conditions are evaluated


class Round(NamedTuple):
    """A loop around a statement: its rounds, its variable, and the values of that, where only the loop itself changes it."""

    line: int
    file: str
    name: str = ""
    rounds: int | None = None
    values: Sequence[int] | None = None


class Gate(NamedTuple):
    """A condition around a statement: the names in it, and whether it is as it must be where one of them, or none (""), has a
    value; None where that is not known.
    """

    names: Sequence[str]
    holds: Callable[[str, int], bool | None]


def often(around: Iterable[Round | Gate], sure: bool = True) -> Often:
    """How often a statement runs in one call of its function, by what is around it, outermost first.

    >>> around = [Round(3, "", "k"), Round(4, "", "j", 4, range(4)), Gate(("j",), lambda name, value: value == 0)]
    >>> often(around).loops
    (Loop(line=3, file='', rounds=None, runs=None), Loop(line=4, file='', rounds=4, runs=1))
    """
    loops: list[Loop] = []
    known: dict[str, tuple[int, Sequence[int] | None]] = {}
    for one in around:
        if isinstance(one, Round):
            known[one.name] = len(loops), one.values
            loops.append(Loop(one.line, one.file, one.rounds, one.rounds))
            continue
        mine = [name for name in known if name and name in one.names]
        at, values = known[mine[0]] if len(mine) == 1 else (0, None)
        if values is None or len(values) > _TRIED:
            sure = sure and not mine and one.holds("", 0) is True
            continue
        held = [one.holds(mine[0], value) for value in values]
        sure = sure and None not in held
        values = [value for value, holds in zip(values, held, strict=True) if holds is not False]
        known[mine[0]] = at, values
        loops[at] = loops[at]._replace(runs=len(values))
    return Often(tuple(loops), sure)


def stepped(begin: int | None, word: str, bound: int | None, step: int | None) -> range | None:
    """The values of a variable that a loop begins with, compares by a word with a bound, and steps; None where they are not known,
    or have no end.

    >>> stepped(0, "<=", 8, 4), stepped(0, "!=", 8, 3), stepped(8, ">", 0, -3), stepped(0, "<", 8, -1)
    (range(0, 9, 4), None, range(8, 0, -3), None)
    """
    if begin is None or bound is None or not step:
        return None
    if word == "!=":
        return range(begin, bound, step) if (bound - begin) % step == 0 and (bound - begin) * step >= 0 else None
    if word not in ("<", "<=", ">", ">=") or (word[0] == "<") != (step > 0):
        return None
    return range(begin, bound + (1 if step > 0 else -1) * (len(word) > 1), step)
