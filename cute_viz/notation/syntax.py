"""The syntax tree of an expression: what was written, each piece with its span in the text.

Every dialect is read into these nodes, and one evaluator (`notation.evaluate`) gives them meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from cute_viz.errors import Span


@dataclass(frozen=True, slots=True)
class Number:
    """`8`, `-1`, or a static `_8`."""

    span: Span
    value: int
    static: bool = False


@dataclass(frozen=True, slots=True)
class Ratio:
    """`1/2`, the value of a basis element of a recast coordinate."""

    span: Span
    numerator: int
    denominator: int


@dataclass(frozen=True, slots=True)
class Blank:
    """`_`: a whole mode."""

    span: Span


@dataclass(frozen=True, slots=True)
class Sequence:
    """`(a,b)`, `<a,b>` or `[a;b]`; `bracket` is the opening character."""

    span: Span
    bracket: str
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """`shape:stride`."""

    span: Span
    shape: Node
    stride: Node


@dataclass(frozen=True, slots=True)
class At:
    """`value@i@j`: a scaled basis element; `path` as written, innermost first."""

    span: Span
    value: Number | Ratio
    path: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pointer:
    """`smem_ptr[16b](unset)`: the pointer of a flagged layout or a tensor."""

    span: Span
    space: str
    bits: int
    address: str


@dataclass(frozen=True, slots=True)
class Name:
    """A name: of a binding, of a library entry."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """`name<template>(args)`; `args` is None where nothing was called, as in `Sw<3,4,3>`."""

    span: Span
    name: str
    template: tuple[Node, ...]
    args: tuple[Node, ...] | None


@dataclass(frozen=True, slots=True)
class Apply:
    """A layout called on a coordinate: `(A)(1,2)`."""

    span: Span
    function: Node
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """`a o b o c`."""

    span: Span
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Infix:
    """`a ⊘ b` or `a ⊗ b`."""

    span: Span
    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Statement:
    """`name = value`, or a value alone."""

    name: str | None
    value: Node


Node: TypeAlias = "Number | Ratio | Blank | Sequence | Pair | At | Pointer | Name | Call | Apply | Chain | Infix"
