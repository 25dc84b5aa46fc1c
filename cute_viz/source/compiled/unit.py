"""A unit of CUDA as a compiler has it: each instance of a function with its variables, calls and their types."""

from __future__ import annotations

from dataclasses import dataclass

from cute_viz.source.compiled.loops import Around


@dataclass(frozen=True, slots=True)
class Node:
    """An expression with its type, as the compiler spells it.

    kind: `ref` of a variable that is declared in `line`; `call`, whose first part is the object of a method, and whose other parts
    are the arguments; `field` of its first part; `number`; "" of anything else.
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
