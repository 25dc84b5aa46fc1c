"""How often a block runs a statement, whoever read it: the rounds of the loops around it, and those that conditions select."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import eq, ge, gt, le, lt, ne
from typing import NamedTuple

from cute_viz.source.moves import Alternative, Loop, Often

_TRIED = 4096  # rounds whose conditions are evaluated
NO, ROUND, ALWAYS = range(3)  # whether threads of a block agree: no, or nobody knows; in a round of a loop; in all of a launch
COMPUTED = frozenset(  # words of an expression that are alike in all threads where its operands are
    (
        *("size", "cosize", "rank", "depth", "shape", "stride", "get", "min", "max", "abs", "ceil_div", "round_up", "value"),
        *("is_same", "is_same_v", "is_static", "is_static_v", "sizeof", "decltype", "static_cast", "cute", "std", "Int", "C"),
        *("auto", "const", "bool", "int", "unsigned", "long", "short", "char", "int32_t", "uint32_t", "int64_t", "uint64_t"),
    )
)
COMPARED: dict[str, Callable[[int, int], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge, "!=": ne, "==": eq}


class Round(NamedTuple):
    """A loop around a statement: its rounds, its variable, and the values of that, where only the loop itself changes it."""

    line: int
    file: str
    name: str = ""
    rounds: int | None = None
    values: Sequence[int] | None = None


class Gate(NamedTuple):
    """A condition around a statement: the names in it, and whether it is as it must be where one of them, or none (""), has a
    value; None where that is not known. choice: the alternative that it is then. behind: what the condition guards leaves, and
    the statement is behind that."""

    names: Sequence[str]
    holds: Callable[[str, int], bool | None]
    choice: Callable[[], Alternative] | None = None
    behind: bool = False


def often(around: Iterable[Round | Gate], sure: bool = True) -> Often:
    """How often a statement runs in one call of its function, by what is around it, outermost first."""
    loops: list[Loop] = []
    choices: list[Alternative] = []
    known: dict[str, tuple[int, Sequence[int] | None]] = {}
    for one in around:
        if isinstance(one, Round):
            known[one.name] = len(loops), one.values
            loops.append(Loop(one.line, one.file, one.rounds, one.rounds))
            continue
        mine = [name for name in known if name and name in one.names]
        at, values = known[mine[0]] if len(mine) == 1 else (0, None)
        if values is None or len(values) > _TRIED:
            held = [None if mine else one.holds("", 0)]
            sure = sure and held == [True]
        else:
            held = [one.holds(mine[0], value) for value in values]
            sure = sure and None not in held
            values = [value for value, holds in zip(values, held, strict=True) if holds is not False]
            known[mine[0]] = at, values
            loops[at] = loops[at]._replace(runs=len(values))
        if one.choice is not None and (None in held or one.behind):
            choices.append(one.choice())
    return Often(tuple(loops), sure, tuple(choices))


class Pace(NamedTuple):
    """What a loop does to its variable in each round: how, `+`, `*` or `/`, and with which number."""

    word: str
    number: int

    def after(self, value: int) -> int:
        """The next value."""
        return value + self.number if self.word == "+" else value * self.number if self.word == "*" else value // self.number


def step_of(word: str, number: int | None) -> Pace | None:
    """The step that an operator makes, `+=` or `>>=`; None of any other."""
    if word in ("++", "--"):
        return Pace("+", 1 if word == "++" else -1)
    if number is None or word not in ("+=", "-=", "*=", "/=", "<<=", ">>="):
        return None
    if word in ("+=", "-="):
        return Pace("+", number if word == "+=" else -number)
    return Pace("*" if word[0] in "*<" else "/", number if word[0] in "*/" else 1 << number) if 0 < number < 64 else None


def stepped(begin: int | None, word: str, bound: int | None, step: Pace | None) -> Sequence[int] | None:
    """The values of a variable that a loop begins with, compares by a word with a bound, and steps; None where they are not
    known, or have no end."""
    if begin is None or bound is None or step is None or word not in COMPARED:
        return None
    if step.word != "+":
        values = [begin]
        while len(values) <= _TRIED and COMPARED[word](values[-1], bound):
            values.append(step.after(values[-1]))
        return tuple(values[:-1]) if len(values) <= _TRIED else None
    by = step.number
    if word == "!=":
        return range(begin, bound, by) if by and (bound - begin) % by == 0 and (bound - begin) * by >= 0 else None
    if word == "==" or not by or (word[0] == "<") != (by > 0):
        return None
    return range(begin, bound + (1 if by > 0 else -1) * (len(word) > 1), by)
