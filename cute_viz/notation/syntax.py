"""The syntax tree of an expression: what was written, each piece with its span in the text; and whether pieces are congruent.

Every dialect is read into these nodes, and one evaluator (`notation.evaluate`) gives them meaning. They are plain
slotted classes: making a dozen dataclasses would cost every cold start 6 ms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from cute_viz.errors import CuteVizError, NotationError, Span

Resolver: TypeAlias = "Callable[[str, tuple[str, ...]], Any]"


class Passage(NamedTuple):
    """A text, and what it is read with.

    names: bindings that the text may use. warnings: where they are added; None checks for none. dialect: one of
    `notation.DIALECTS`. resolve: the atom of a name and its template arguments, or None. shape: of a tensor, for
    encodings whose text does not say it; () where it is not given. free: whether names without a value are run-time integers in
    an expression of its own.
    """

    text: str
    names: Mapping[str, Any] = {}
    warnings: list[str] | None = None
    dialect: str = "auto"
    resolve: Resolver | None = None
    shape: tuple[int, ...] = ()
    free: bool = False

    def of(self, text: str) -> Passage:
        """Another text that is read with the same."""
        return self._replace(text=text)

    def seeing(self, names: Mapping[str, object]) -> Passage:
        """The same text with other bindings."""
        return self._replace(names=names)


class _Slotted(type):
    """Classes whose annotations are their slots."""

    __slots__: tuple[str, ...]

    def __new__(cls, name: str, bases: tuple[type, ...], own: dict[str, Any]) -> type:
        return super().__new__(cls, name, bases, {"__slots__": tuple(own.get("__annotations__", ())), **own})


class Spanned(metaclass=_Slotted):
    """A node of a tree: its span, then the values of its own annotations in order."""

    span: Span

    def __init__(self, span: Span, *values: object) -> None:
        self.span = span
        for name, value in zip(type(self).__slots__, values, strict=True):
            setattr(self, name, value)

    def children(self) -> Iterator[Any]:
        """The nodes directly inside, as written."""
        for name in type(self).__slots__:
            value = getattr(self, name)
            yield from (item for item in (value if isinstance(value, tuple) else (value,)) if isinstance(item, Spanned))


class Number(Spanned):
    """`8`, `-1`, or a static `_8`."""

    value: int
    static: bool


class Ratio(Spanned):
    """`1/2`, the value of a basis element of a recast coordinate; static as `_1/_2`."""

    numerator: int
    denominator: int
    static: bool


class Blank(Spanned):
    """`_`: a whole mode."""


class Sequence(Spanned):
    """`(a,b)`, `<a,b>` or `[a;b]`; `bracket` is the opening character."""

    bracket: str
    items: tuple[Node, ...]


class Pair(Spanned):
    """`shape:stride`."""

    shape: Node
    stride: Node


class At(Spanned):
    """`value@i@j`: a scaled basis element; `path` as written, innermost first."""

    value: Number | Ratio | Name
    path: tuple[int, ...]


class FlaggedPointer(Spanned):
    """`smem_ptr[16b](unset)`: the pointer of a flagged layout or a tensor; where it points does not matter."""

    space: str
    bits: int
    sparsity: int


class Name(Spanned):
    """A name: of a binding, of a library entry."""

    text: str


class Call(Spanned):
    """`name<template>(args)`; `args` is None where nothing was called, as in `Sw<3,4,3>`. Python's keyword arguments are
    `Keyword` nodes among the arguments."""

    name: str
    template: tuple[Node, ...]
    args: tuple[Node, ...] | None


class Apply(Spanned):
    """A layout called on a coordinate: `(A)(1,2)`."""

    function: Node
    args: tuple[Node, ...]


class Chain(Spanned):
    """`a o b o c`."""

    items: tuple[Node, ...]


class Infix(Spanned):
    """`a ⊘ b` or `a ⊗ b`; between whole expressions `a == b` or `a != b`."""

    operator: str
    left: Node
    right: Node


class Arith(Spanned):
    """`a + b`, `a - b`, `a * b`, `a / b`, `a % b`, as in C++; Python's `a // b` and `a % b` are `//` and `mod`."""

    operator: str
    left: Node
    right: Node


class Item(Spanned):
    """`x[i]`: an entry of a tuple, a mode or slice of a layout (Python)."""

    value: Node
    index: Node


class Statement:
    """`name = value`, or a value alone; one that could not be read carries its error instead of a value."""

    __slots__ = ("error", "name", "span", "value", "word")

    def __init__(self, name: str | None, value: Node | None, span: Span, word: str = "", error: CuteVizError | None = None) -> None:
        self.name = name
        self.value = value
        self.span = span
        self.word = word  # what it begins with
        self.error = error


Node: TypeAlias = (
    "Number | Ratio | Blank | Sequence | Pair | At | FlaggedPointer | Name | Call | Apply | Chain | Infix | Arith | Item"
)


def source(text: str, node: Node) -> str:
    """The text of a node, without blanks."""
    return "".join(text[node.span.start : node.span.end].split())


def short(name: str) -> str:
    """A name without `cute::`, `cute.`, `GMMA::` and the like."""
    return name.replace("::", ".").rsplit(".", 1)[-1]


_NAMES = (  # how names begin
    r"(?:ld|st)matrix\.|SM\d+_|GMMA_|MMA_\d|\d+x\d+x\d|Universal|Auto(?:Vec|CopyAsync)|DefaultCopy|U(16|32)x\d|XE_|"
    r"(?i:v_|__builtin_amdgcn_)?(?i:s?w?m(fma|fmac|ma|mac)_)|[fi]\d+_\d+x\d+x\d"
)


def is_atom_name(short: str) -> bool:
    """Whether a name could be an atom's: SM80_..., GMMA_..., UniversalCopy, 16x8x16_..."""
    return re.match(_NAMES, short) is not None


_HINT = "every integer of the shape needs one stride, in the same parentheses"


def check_congruent(text: str, shape: Node, stride: Node) -> None:
    """Refuse `shape:stride` of one text where their nesting differs; names and calls may come to anything and pass."""
    shape, stride = without_parentheses(shape), without_parentheses(stride)
    if isinstance(shape, Sequence) and isinstance(stride, Sequence):
        if len(shape.items) != len(stride.items):
            message = f"the stride {source(text, stride)} has {_modes(stride)}, its shape {source(text, shape)} has {_modes(shape)}"
            raise NotationError(message, text=text, span=stride.span, hint=_HINT)
        for s, d in zip(shape.items, stride.items, strict=True):
            check_congruent(text, s, d)
    elif isinstance(shape, Sequence) and isinstance(stride, (Number, At)):
        message = f"the shape {source(text, shape)} has {_modes(shape)}, its stride {source(text, stride)} is one number"
        raise NotationError(message, text=text, span=stride.span, hint=_HINT)
    elif isinstance(shape, Number) and isinstance(stride, Sequence):
        number = source(text, shape)
        message = f"the shape {number} is one number, its stride {source(text, stride)} is a tuple"
        hint = f"a tuple of one mode is written ({number}); one stride belongs to {number}"
        raise NotationError(message, text=text, span=stride.span, hint=hint)


def without_parentheses(node: Node) -> Node:
    """What parentheses around one expression hold; other nodes as they are. (4) is a tuple of one mode."""
    if isinstance(node, Sequence) and node.bracket == "(" and len(node.items) == 1:
        inside = node.items[0]
        return inside if isinstance(inside, (Chain, Infix, Call, Apply, Arith)) else node
    return node


def _modes(node: Sequence) -> str:
    return f"{len(node.items)} mode{'' if len(node.items) == 1 else 's'}"
