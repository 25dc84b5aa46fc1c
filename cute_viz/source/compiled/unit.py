"""A unit of CUDA as a compiler has it: the variables, calls and types of each instance of a function; and that as JSON has it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from cute_viz.source.moves import COMPARED

NEVER = "never"


@dataclass(frozen=True, slots=True)
class Node:
    """An expression with its type, as the compiler spells it.

    kind: `ref` of a variable that is declared in `line`; `call`, whose first part is the object of a method, and whose other parts
    are the arguments; `field` of its first part; `number`; `choice`, whose parts are a condition and its two sides; "" of others.
    """

    kind: str
    text: str
    line: int
    type: str
    parts: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """A name and its type, as the compiler spells it. kind: var, param, binding, alias or field. init: what it begins with."""

    name: str
    file: str
    line: int
    type: str
    kind: str
    init: Node | None = None


@dataclass(frozen=True, slots=True)
class Around:
    """A loop or a condition around a call.

    word: "" of a loop, whose numbers are where it begins, where it ends and its step, or none; of a condition how the variable
    compares with its number, "?" where that is not read, NEVER where a constant leaves the branch out. wanted: what it must be.
    text, test: the condition; branch: `if`, `else`, `case 3`; behind: what it guards leaves, and the call is behind that.
    """

    line: int
    name: str = ""
    word: str = ""
    numbers: tuple[int, ...] = ()
    wanted: bool = True
    text: str = ""
    branch: str = ""
    test: tuple[Node, ...] = ()
    behind: bool = False

    def holds(self, name: str, value: int) -> bool | None:
        """Whether a condition on a variable of that name passes with a value, None where that is not known."""
        if self.behind:
            return True
        return COMPARED[self.word](value, self.numbers[0]) is self.wanted if name and self.word in COMPARED else None


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call: of a function that moves or multiplies tensors, or of an instance of the unit, by its number; "&" is no call yet.

    around: the loops and conditions that it is in.
    """

    name: str
    file: str
    line: int
    args: tuple[Node, ...]
    instance: int = -1
    around: tuple[Around, ...] = ()


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance of a function or class: its path, its template arguments by name, what it has in the order of the text.

    kernel: whether it is one. calls: that move or multiply; uses: of other instances of the unit. returns: the tensors that it
    gives back. foreign: of a library, walked for the user's functions that it calls.
    """

    scope: tuple[str, ...]
    args: tuple[tuple[str, str], ...]
    kernel: bool
    variables: tuple[Variable, ...]
    calls: tuple[CallSite, ...] = ()
    uses: tuple[CallSite, ...] = ()
    returns: tuple[Node, ...] = ()
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class Unit:
    """A parsed unit. errors: of the compiler, in the user's own files, with their places. files: all that it read.

    refused: the calls of CuTe's functions in lines where CuTe refuses something.
    """

    instances: tuple[Instance, ...]
    errors: tuple[tuple[str, int, str], ...]
    files: tuple[str, ...]
    refused: tuple[CallSite, ...] = ()


def data_of(unit: Unit) -> dict[str, Any]:
    """A unit as JSON has it, each text once."""
    table: dict[str, int] = {}

    def packed(value: Any) -> Any:
        if isinstance(value, str):
            return table.setdefault(value, len(table))
        if isinstance(value, tuple):
            return [*map(packed, value)]
        return [packed(getattr(value, field.name)) for field in fields(value)] if is_dataclass(value) else value

    return {"unit": packed(unit), "words": list(table)}


def unit_from(data: dict[str, Any]) -> Unit:
    """The unit that `data_of` has written."""
    words = [str(word) for word in data["words"]]

    @cache
    def reader(kind: Any) -> Callable[[Any], Any]:
        parts = get_args(kind)
        if get_origin(kind) is tuple and parts[-1] is ...:
            return lambda row: tuple(map(reader(parts[0]), row))
        inner = [reader(part) for part in parts if part is not type(None)]
        if get_origin(kind) is tuple:
            return lambda row: tuple(read(x) for read, x in zip(inner, row, strict=True))
        if inner:  # one of these, or None
            return lambda row: None if row is None else inner[0](row)
        if isinstance(kind, type) and is_dataclass(kind):
            members = [reader(hint) for hint in get_type_hints(kind).values()]
            return lambda row: kind(*(read(x) for read, x in zip(members, row, strict=True)))
        return words.__getitem__ if kind is str else kind

    unit: Unit = reader(Unit)(data["unit"])
    return unit
