"""What names of Python source stand for beside the objects of the algebra: unknown values, functions, tensors, instructions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.descriptor import DescriptorTensor
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import unknowns
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError
from cute_viz.values.integer import Unknown
from cute_viz.values.types import Pointer, ValueType, named


@dataclass(frozen=True, slots=True, eq=False)
class Lost:
    """A value that cannot be known, with the first cause. path: where it comes from, `mA.shape`, if a parameter is the cause.
    among: the lists and objects that it may be.
    """

    error: CuteVizError
    path: str = ""
    among: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        self.error.__traceback__ = self.error.__context__ = None  # it is raised again and again


@dataclass(frozen=True, slots=True, eq=False)
class Mutable:
    """A list or a dictionary: a value that changes. Its `content` is one entry of a store that is journaled."""

    content: dict[str, Any]

    @property
    def items(self) -> Any:
        """The list or dictionary now. Raises: what made it unknown."""
        inside = self.content["items"]
        if isinstance(inside, Lost):
            raise inside.error
        return inside


@dataclass(frozen=True, slots=True, eq=False)
class PyFunction:
    """A function of the text, or a lambda, with the names that it sees; of a class the one that defines it. defaults: of
    parameters, as they were when it was defined."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    frame: Any
    owner: Any = None
    defaults: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name that it was defined with."""
        return getattr(self.node, "name", "lambda")

    @property
    def decorators(self) -> set[str]:
        """The last words of its decorators."""
        return decorators(self.node)


@dataclass(frozen=True, slots=True, eq=False)
class PyClass:
    """A class of the text: its own names, and its bases as far as they are known."""

    node: ast.ClassDef
    names: dict[str, Any]
    bases: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """The name that it was defined with."""
        return self.node.name

    def find(self, name: str) -> Any:
        """What a name of the class is, here or in a base of the same text; None for another."""
        return next((cls.names[name] for cls in self.lineage() if name in cls.names), None)

    def lineage(self) -> list[PyClass]:
        """It and the bases of the same text, theirs too, each once, in the order in which names are looked up."""
        out: dict[PyClass, None] = {}
        waiting = [self]
        while waiting:
            cls = waiting.pop()
            if cls not in out:
                out[cls] = None
                waiting += [base for base in reversed(cls.bases) if isinstance(base, PyClass)]
        return list(out)

    def is_whole(self) -> bool:
        """Whether every base is known, so that a name that is not found is not there."""
        return all(isinstance(base, PyClass) or _is_plain(base) for cls in self.lineage() for base in cls.bases)

    def is_enum(self) -> bool:
        """Whether it is an enumeration, by the name of a base."""
        last = [base.path.rpartition(".")[2] for base in self.bases if isinstance(base, Symbol)]
        return any(name in ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag") for name in last)


def _is_plain(base: object) -> bool:
    return isinstance(base, Symbol) and base.path.rpartition(".")[2] in ("object", "ABC", "Protocol", "NamedTuple", "Generic")


class Attributes(dict[str, Any]):
    """The attributes of an object; those of its class are `inherited`."""

    inherited: Callable[[str], Any] = staticmethod(lambda name: None)


class Object:
    """An object of a class of the text: its attributes so far."""

    def __init__(self, cls: PyClass, names: dict[str, object] | None = None) -> None:
        self.cls, self.names = cls, Attributes(names or {})
        self.names.inherited = cls.find


def lone_self() -> Object:
    """What `self` is in a method that was pasted without its class: an object that has what the text sets."""
    return Object(PyClass(ast.ClassDef("self", [ast.Name("Unknown")], [], [], []), {}, (Symbol("?"),)))


@dataclass(frozen=True, slots=True)
class Bound:
    """A function with the object that it is called on."""

    function: Any
    target: Any


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """A function with some of its arguments: `functools.partial(f, 4, n=8)`."""

    function: Any
    args: tuple[Any, ...]
    named: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name of a module that is not of this text: `cutlass.cute.make_layout`, `math.log2`. origin: the file that imports it."""

    path: str
    origin: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        return self.path.removeprefix("@python.")

    @property
    def last(self) -> str:
        """Its last word."""
        return self.path.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class EnumMember:
    """A member of an enumeration: `LayoutEnum.ROW_MAJOR`. value: what a class of the text assigns to it."""

    enum: str
    name: str
    value: Any = field(default=None, compare=False)


class SizedInt(int):
    """`Int32(4)`: a number that is known where it is written, and which layouts that are made of it have as a run-time integer."""

    bits = 32
    written = ""  # the name that it has

    @classmethod
    def of(cls, value: int, bits: int, written: str = "") -> SizedInt:
        """A number of a type of so many bits."""
        out = cls(value)
        out.bits, out.written = bits, written
        return out


@dataclass(frozen=True, slots=True)
class DslOp:
    """An operation of the DSL, `warp.MmaF16BF16Op(...)`, by its module, its name and its arguments."""

    module: str
    name: str
    arguments: dict[str, Any] = field(hash=False)

    def get(self, name: str) -> Any:
        """An argument, or None."""
        return self.arguments.get(name)


@dataclass(frozen=True, slots=True)
class Atom:
    """An atom, a tiling of atoms or a thread's view of one, with the instruction that it was made of. tma: of an atom of TMA its
    tensor map, where that is known."""

    value: Any
    op: DslOp | None = None
    element: Any = None
    tma: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Slice:
    """One thread's view of a tiling, of whichever thread: what depends on the thread is not known of it."""

    atom: Atom
    cause: Lost


@dataclass(frozen=True, slots=True, eq=False)
class Super:
    """`super()` in a method: what the bases of a class know, for an object."""

    owner: PyClass
    target: Any


def element(name: str) -> ValueType | None:
    """The element type of a name in the DSL, in C++ or in PTX; None for another name."""
    found = named(name)
    return None if found is None else ValueType(found.dsl or found.cpp)


def tensor_of(layout: object, pointer: Pointer | None = None, offset: object = 0) -> Tensor:
    """A layout behind a pointer, as the DSL shows it. offset: of a tensor of coordinates where they begin."""
    return Tensor(replace(pointer or Pointer(), offset=offset), layout)


def as_tensor(value: object) -> Any:
    """A fragment of descriptors as the tensor that it counts as; anything else as it is."""
    return tensor_of(value.layout) if isinstance(value, DescriptorTensor) else value


def kind_of(value: object) -> object:
    """An element type, or None for anything else."""
    return value if isinstance(value, ValueType) else None


def decorators(node: object) -> set[str]:
    """The last words of the decorators of a function or class."""
    out = set()
    for item in getattr(node, "decorator_list", []):
        item = item.func if isinstance(item, ast.Call) else item
        out.add(item.attr if isinstance(item, ast.Attribute) else getattr(item, "id", ""))
    return out


def run_times(value: object) -> Iterator[Unknown]:
    """The run-time integers in a value of the source."""
    if isinstance(value, tuple):
        for item in value:
            yield from run_times(item)
    elif isinstance(value, (Unknown, Layout, ComposedLayout, Tensor)):
        yield from unknowns(value.layout if isinstance(value, Tensor) else value)


def alike(a: object, b: object) -> bool:
    """Whether two values are the same, or print the same run-time integers."""
    if same(a, b):
        return True
    known = type(a) is type(b) and next(run_times(a), None) is not None and next(run_times(b), None) is not None
    return known and str(a) == str(b)


def same(a: Any, b: Any) -> bool:
    """Whether two values are surely the same."""
    if a is b:
        return True
    a, b = (int(x) if isinstance(x, SizedInt) else x for x in (a, b))
    if type(a) is not type(b) or isinstance(a, Lost):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (Tensor, Pointer)):
        a, b = map(_anywhere, (a, b))
    return bool(a == b)


def _anywhere(x: Any) -> Any:
    """A tensor or a pointer, of whichever memory that is like its own."""
    if isinstance(x, Tensor):
        return replace(x, pointer=_anywhere(x.pointer), part=None)
    return replace(x, base="", part=None, offset=None if isinstance(x.offset, Unknown) else x.offset)


def either(values: list[Any], error: CuteVizError, path: str = "") -> object:
    """One of several values, nobody knows which: the value that all are, a run-time integer where all are, else unknown."""
    first = values[0]
    if all(same(first, value) for value in values[1:]):
        return first
    if all(isinstance(value, Unknown) and value.name == first.name for value in values):
        return Unknown(first.name, first.text, first.span, first.written, plain=first.plain)
    return Lost(error, path, tuple(values))
