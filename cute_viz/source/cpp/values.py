"""What C++ means beyond the values of the algebra: run-time integers, classes, enumerators, functions, names of other files.

Inside the reader a plain int is a static integer, `Int<8>{}`, and a `Runtime` is C++'s int, known or not at
compile time: CuTe prints them apart. `finished` gives the values that other rooms know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from cute_viz.algebra.static import each_integer
from cute_viz.algebra.swizzle import MixedBits
from cute_viz.errors import CuteVizError, NotationError, raised_again
from cute_viz.limits import Budget
from cute_viz.records import dataclass
from cute_viz.source.cpp.scopes import Declaration, Scope
from cute_viz.source.cpp.unknown import certain, unknown
from cute_viz.values.integer import MulticastMask, Runtime, Static, Unknown
from cute_viz.values.marks import Sized, TypedStatic
from cute_viz.values.types import ValueType

if TYPE_CHECKING:
    from fractions import Fraction

    from cute_viz.algebra.composed import ComposedLayout, PointerFlag
    from cute_viz.algebra.copy import Copy_Atom, CopyOp, ThrCopy, TiledCopy
    from cute_viz.algebra.descriptor import DescriptorTensor
    from cute_viz.algebra.inttuple import Underscore
    from cute_viz.algebra.layout import Layout
    from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA
    from cute_viz.algebra.stride import F2, Basis, StaticRatio
    from cute_viz.algebra.swizzle import Swizzle
    from cute_viz.algebra.tensor import Tensor
    from cute_viz.values.types import Pointer


_T = TypeVar("_T")
# What an expression of C++ is: integers that are static, run-time ones, those that are not known; tuples of all of these.
Value: TypeAlias = (
    "int | float | Fraction | str | tuple[Value, ...] | Unknown | Layout | ComposedLayout | Swizzle | Tensor | Pointer"
    " | PointerFlag | Basis | F2 | StaticRatio | Underscore | ValueType | Class | Enumerator | Function | Closure | Template"
    " | External | Items | Thread | MMA_Atom | TiledMMA | ThrMMA | Copy_Atom | CopyOp | TiledCopy | ThrCopy"
    " | DescriptorTensor | None"
)


def finished(value: _T) -> _T:
    """A value of the reader as other rooms have it: static integers marked, others not; those that are not known are `?`."""
    found: _T = each_integer(lambda n: n if isinstance(n, MixedBits) else int(n) if isinstance(n, Runtime) else Static(n), value)
    return found


def taken(value: _T) -> _T:
    """A value of other rooms as the reader has it."""
    found: _T = each_integer(lambda n: n if isinstance(n, MixedBits) else int(n) if isinstance(n, Static) else Runtime(n), value)
    return found


def as_int(value: Value) -> Value:
    """A number as an int of C++; one that is not known stays so, and what is none."""
    return Runtime(value) if isinstance(value, int) and not isinstance(value, (bool, MulticastMask)) else value


def argument(value: Value) -> Value:
    """A value as the argument of a template: an int is static, and the type of a layout of run-time integers stays one."""
    match value:
        case Unknown():
            raise value.error()
        case Sized(kind=kind):
            return TypedStatic.of(value, kind)
        case Runtime():
            return int(value)
    return value


def static(value: _T) -> _T:
    """A value whose integers are all static, such as one that was given for a type."""
    found: _T = each_integer(int, certain(value))
    return found


class SpelledInt(ValueType):
    """An integer's type in a layout that was spelled by another program, with the integer, if that is known."""

    __slots__ = ("number",)

    def __init__(self, number: int | Unknown) -> None:
        super().__init__("int")
        self.number = number if isinstance(number, Unknown) else Runtime(number)


def zeroed(kind: Value, error: CuteVizError) -> Value:
    """What `T{}` is: a number is 0; of a shape, whose integers only stand for what they are later, they are not known."""
    return typed(kind, error) if element_type(kind) is None else Runtime(0)


def element_type(value: Value) -> ValueType | None:
    """The type of elements, or of numbers, that a value is; None of anything else."""
    return value if isinstance(value, ValueType) else None


def typed(kind: Value, error: CuteVizError, part: str = "") -> Value:
    """An object of a type, of which nothing else is known: its integers that are not static are not known, each for itself."""
    match kind:
        case SpelledInt():
            return kind.number
        case ValueType():
            return unknown(error, part=part)
    return tuple(typed(item, error, f"{part}.{n}") for n, item in enumerate(kind)) if type(kind) is tuple else kind


class Env:
    """A scope with values for its parameters: the class of a template with its arguments, a call of a function. args: values by
    name, or an error, or a function that gives the value when it is asked for. memo: of its declarations. cells: the variables
    of a function that runs, the members of an object; None where nothing changes."""

    __slots__ = ("args", "asking_bases", "cells", "children", "memo", "parent", "scope")

    def __init__(self, scope: Scope, parent: Env | None, args: dict[str, Later] | None = None) -> None:
        self.scope = scope
        self.parent = parent
        self.args: dict[str, Later] = args or {}
        self.memo: dict[Any, Any] = {}
        self.children: dict[Any, Env] = {}
        self.asking_bases = False
        self.cells: dict[str, Cell] | None = None


class Foreign(TypedStatic):
    """A std::integral_constant, static in a layout; operators that are CuTe's give no static integer of it."""


CELL = 64  # bytes of a variable


class Cell:
    """A variable of a function that runs: its value, or the error of one that is not known; its type, if it is one of numbers."""

    __slots__ = ("kind", "value")

    def __init__(self, value: Value | CuteVizError, kind: ValueType | None = None) -> None:
        self.value, self.kind = value, kind

    def read(self) -> Value:
        """The value. Raises: the error of one that is not known."""
        return raised_again(self.value)

    def copy(self, budget: Budget) -> Cell:
        """Another variable of the same value."""
        return Cell(self.value if isinstance(self.value, CuteVizError) else copied(self.value, budget), self.kind)


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """An array of a function that runs."""

    cells: list[Cell]

    def __str__(self) -> str:
        return "an array"


class Lazy:
    """An argument that is evaluated when it is asked for."""

    __slots__ = ("_busy", "_error", "_get", "_value")

    def __init__(self, get: Callable[[], Value]) -> None:
        self._get: Callable[[], Value] | None = get
        self._value: Value = None
        self._error: CuteVizError | None = None
        self._busy = False

    def __call__(self) -> Value:
        """The value, or its error. Raises: NotationError while it is being evaluated."""
        if self._busy:
            raise NotationError("this argument refers to itself")
        if self._get is not None:
            self._busy = True
            try:
                self._value = self._get()
            except CuteVizError as error:
                self._error = error
            finally:
                self._busy = False
            self._get = None
        if self._error is not None:
            raise self._error
        return self._value


Later: TypeAlias = "Value | Lazy"


def asked(value: Later) -> Value:
    """The value of an argument. Raises: its error."""
    return value() if isinstance(value, Lazy) else value


OURS = "cute_viz_cutlass"  # the namespace of what cutlass.hpp defines
HELPERS = "cute_viz_helpers"  # and that of helpers.hpp


@dataclass(frozen=True, slots=True, eq=False)
class Class:
    """A class of the file, with its template arguments; an object of it is the same."""

    env: Env

    def __str__(self) -> str:
        return "::".join(name for name in self.env.scope.path if name != OURS)


@dataclass(frozen=True, slots=True)
class Enumerator:
    """A value of an enumeration: `GMMA::Major::K`."""

    kind: str
    name: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind}::{self.name}"

    @property
    def word(self) -> str:
        """As operations and the library take it, whatever namespaces the text has before it: `GMMA::Major::K`."""
        return "::".join([*self.kind.split("::")[-2:], self.name])


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """Functions of one name in the file, where they are, and template arguments that were given."""

    declarations: tuple[Declaration, ...]
    env: Env
    args: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"the function {self.declarations[0].name}"


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A lambda where it is."""

    scope: Scope
    env: Env

    def __str__(self) -> str:
        return "a lambda"


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """A template of the file by its name alone."""

    declaration: Declaration
    env: Env

    def __str__(self) -> str:
        return f"the template {self.declaration.name}"


@dataclass(frozen=True, slots=True)
class External:
    """A name that this file does not define, with template arguments: a tag such as `layout::RowMajor`, or what was missing."""

    name: str
    args: tuple[Any, ...] | None = None
    error: CuteVizError | None = field(default=None, compare=False)

    @property
    def short(self) -> str:
        """The name without what it is in."""
        return self.name.rsplit("::", 1)[-1]

    def __str__(self) -> str:
        return self.name + (f"<{', '.join(map(str, self.args))}>" if self.args else "")


@dataclass(frozen=True, slots=True)
class Thread:
    """One thread's view of a tiling, or a swizzled tensor at a place, though it is not known which: `view` is the first. order:
    threads.order_of the index of the thread, which is index. sliced: of a part of a tensor at a known place, how it was made, as
    of Tensor."""

    view: Value
    error: CuteVizError
    order: tuple[int, ...] | None = ()
    sliced: tuple[str, list[Any]] | None = None
    index: Value = None

    def __str__(self) -> str:
        return str(self.view)


def solid(value: Value) -> Value:
    """A value that is known. Raises: the error of one that is not."""
    if isinstance(value, External) and value.error is not None:
        raise value.error
    return value


class Pack(tuple[Any, ...]):
    """The arguments of a parameter pack."""

    __slots__ = ()


def integer(value: Value) -> Any:
    """The number of an enumerator; any other value as it is. Raises: the error of an integer that is not known."""
    return value.number if isinstance(value, Enumerator) else certain(value)


def copied(value: Value, budget: Budget) -> Value:
    """A value of its own: objects and arrays are copied, and counted."""
    match value:
        case Items(cells=cells):
            budget.made(CELL * len(cells))
            return Items([cell.copy(budget) for cell in cells])
        case Class(env=Env(cells=dict() as members) as of):
            env = Env(of.scope, of.parent, of.args)
            budget.made(CELL * len(members))
            env.cells = {name: cell.copy(budget) for name, cell in members.items()}
            return Class(env)
    return value
