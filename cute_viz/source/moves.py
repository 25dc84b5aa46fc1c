"""What a file runs: its launches, the statements that copy or multiply tensors, and how often a block runs one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from math import prod
from operator import eq, ge, gt, le, lt, ne
from typing import Any, NamedTuple

from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError
from cute_viz.records import dataclass

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


_MANY = 12  # launches that an error lists

ADDRESS = "its address, or a reference to it, goes elsewhere"  # why an element is not counted


CALLED = ", called in "
CALL = "call "  # before the number of one of several on a line


class Loop(NamedTuple):
    """A loop around a statement: its line, its file ("" of the file itself), how many rounds it has, and in how many of them the
    statement runs; None where that is not known."""

    line: int
    file: str
    rounds: int | None
    runs: int | None


class Alternative(NamedTuple):
    """A condition that nobody knows, and the alternative of it that a statement is in.

    branch: `if`, `else`, `case 3`, `default`. line, file: where the condition stands, "" of the file itself. group: a word for all
    alternatives of which a block runs one; "" where its threads may run several. behind: what the condition guards leaves, and the
    statement is behind that.
    """

    condition: str
    branch: str
    line: int
    file: str
    group: str
    behind: bool = False

    def __str__(self) -> str:
        return f"{self.branch}{' of' * (self.branch != 'if')} {self.condition}"


class Often(NamedTuple):
    """How often a block runs a statement: the loops around it, outermost first. sure: no other condition decides whether it runs.
    choices: the alternatives of conditions that nobody knows that it is in, outermost first.
    """

    loops: tuple[Loop, ...] = ()
    sure: bool = True
    choices: tuple[Alternative, ...] = ()

    @property
    def times(self) -> int | None:
        """How often it runs, None where that is not known."""
        return _product(self.loops) if self.sure else None

    def within(self, outer: Often) -> Often:
        """How often it runs where what has it is run so often itself."""
        return Often((*outer.loops, *self.loops), self.sure and outer.sure, (*outer.choices, *self.choices))

    def inside(self, loop: Loop | None) -> int | None:
        """How often it runs at most in one round of a loop around it, in all of the block for None."""
        at = 0 if loop is None else next(n for n, one in enumerate(self.loops, 1) if one[:2] == loop[:2])
        return _product(self.loops[at:])


def worst(rows: Iterable[tuple[Sequence[Alternative], int]]) -> int:
    """What numbers add up to, of alternatives the larger."""
    whole, groups = 0, dict[str, dict[str, list[tuple[Sequence[Alternative], int]]]]()
    for choices, number in rows:
        if ways := [one for one in choices if one.group]:
            groups.setdefault(ways[0].group, {}).setdefault(ways[0].branch, []).append((ways[1:], number))
        else:
            whole += number
    return whole + sum(max(map(worst, branches.values())) for branches in groups.values())


def _product(loops: Iterable[Loop]) -> int | None:
    runs = [loop.runs for loop in loops]
    return None if None in runs else prod(n or 0 for n in runs)


class Mistake(NamedTuple):
    """What a statement does that it must not, proven from known values. kind: `extent`, `array` or `threads`; text: a sentence;
    key: what tells it from other mistakes of the statement. of: the tiling of threads that are missing.
    """

    kind: str
    text: str
    key: str = ""
    of: str = ""


@dataclass(frozen=True, slots=True)
class Move:
    """A statement that moves or multiplies tensors.

    name: of MOVES, behind its namespace where that is not CuTe's. scope: as of an Entry. call: where the function is called,
    of one that the file calls several times, "" else. read: the operands, behind the template's of cooperative_copy: an atom
    or a tiling, a Tensor with the parts of all threads for each tensor, a CuteVizError for what is not known. text: the statement.
    assumed: once it was read, the numbers that hold where the program is run without arguments, by name: value and line.
    idle: the function that nothing runs in which the only way to it begins, "" of what may run; None, for a reader alone, where
    that was launched. file: the included file that it is in, "" else. again: the operands at other values of the indices that
    only a run knows, where these may matter to its cost.
    often: how often a block runs it. launch: its kernel, where the reader says it. own: how many steps of `call` are within the
    kernel, None where the reader does not say it. made: where the definitions stand that each
    operand is made of, of a reader that knows. mistakes: what is proven to be wrong. memory: the whole fragments that its
    operands are parts of, of a reader whose definitions do not tell them.
    """

    name: str
    line: int
    scope: tuple[str, ...]
    call: str
    read: Callable[[], list[Any]] = field(repr=False)
    text: str = ""
    assumed: Mapping[str, tuple[str, int]] = field(default_factory=dict, compare=False, repr=False)
    idle: str | None = ""
    file: str = ""
    again: Callable[[], Iterable[list[Any]]] = field(default=tuple, compare=False, repr=False)
    often: Callable[[], Often] = field(default=Often, compare=False, repr=False)
    launch: str = ""
    own: int | None = None
    made: Callable[[], Sequence[frozenset[tuple[str, int]]]] = field(default=tuple, compare=False, repr=False)
    mistakes: Callable[[], Iterable[Mistake]] = field(default=tuple, compare=False, repr=False)
    memory: Callable[[], Iterable[Tensor]] = field(default=tuple, compare=False, repr=False)

    @property
    def place(self) -> str:
        """Its line, behind the included file that it is in."""
        return f"{self.file}:{self.line}" if self.file else str(self.line)

    @property
    def helpers(self) -> str:
        """The way to it within its kernel: "" where it stands in the kernel, or one way leads there."""
        return CALLED.join(self.call.split(CALLED)[: self.own or 0])


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch of a kernel: its path, the arguments that tell it apart, its grid and block as the source writes them, its line.

    file: the included file that it is in, "" else. caller: the function that launches it. call: where that is called. key: what
    its reader knows it by. nth: which call of its line it is, where there are several.
    """

    kernel: tuple[str, ...]
    args: str
    grid: str
    block: str
    line: int
    file: str = ""
    call: str = ""
    key: Any = field(default=None, compare=False)
    caller: str = ""
    nth: str = ""

    @property
    def name(self) -> str:
        """The kernel with its arguments."""
        return "::".join(self.kernel) + (f"<{self.args}>" if self.args else "")

    @property
    def label(self) -> str:
        """What statements have for the way to it."""
        place = f"{self.file}:{self.line}" if self.file else str(self.line)
        return f"{self.caller}, line {place}{self.nth}" + (CALLED + self.call if self.call else "")

    def __str__(self) -> str:
        dims = f" <<<{self.grid or '?'}, {self.block or '?'}>>>" if self.grid or self.block else ""
        return f"{self.name}{dims}" + (CALLED + self.call if self.call else "")


def chosen(launches: Iterable[Launch], word: str) -> Launch:
    """The launch that a number, counted from 1, the function that launches it, its kernel or a part of its text means: the first of
    these that there is. Raises: CuteVizError where none or several are meant."""
    all_ = list(launches)
    if word.isdecimal() and 0 < int(word) <= len(all_):
        return all_[int(word) - 1]
    plain = "".join(word.split())
    called = (lambda x: plain == x.caller, lambda x: plain in (x.name, x.kernel[-1]), lambda x: plain in "".join(str(x).split()))
    found = next(filter(None, (list(filter(means, all_)) for means in called)), [])
    if len(found) == 1 and not word.isdecimal():
        return found[0]
    told = "; ".join(f"{n} {str(one)[:80]}{f' by {one.caller}' * bool(one.caller)}" for n, one in enumerate(all_[:_MANY], 1))
    count = f"{len(found)} launches are called" if found and not word.isdecimal() else "there is no launch"
    raise CuteVizError(f"{count} {word!r}", hint=f"there are: {told}" if all_ else "this file launches no kernel")
