"""What an operand is, and what each operation takes: the check of a call, before the operation sees it."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, NamedTuple

from cute_viz.algebra.composed import ComposedLayout, PointerFlag, as_layout, domain, is_layout
from cute_viz.algebra.inttuple import Major, Underscore, leaves, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.stride import F2, Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.values.integer import Unknown
from cute_viz.values.types import ValueType

_SHAPES = {"an integer", "integers"}
_LAYOUTS = {"a layout", "a composed layout"}
_CRD = {*_SHAPES, "no integers", "_", "integers and _"}
_TILERS = {*_CRD, *_LAYOUTS, "a swizzle", "a tiler"}


class Kind(NamedTuple):
    """What stands in one place of a call.

    words: what it is called in an error.
    takes: what it may be, in the words of `what`.
    without: kinds of strides that its layouts must not have, in the words of `strides`.
    as_layout, as_shape: a shape is taken as the compact layout of it, a layout for its shape.
    of_layout: a layout is as good as an integer, and a name that nobody has bound is not an integer.
    """

    words: str
    takes: set[str]
    without: tuple[str, ...] = ()
    as_layout: bool = False
    as_shape: bool = False
    of_layout: bool = False


KINDS = {
    "L": Kind("a layout", {*_SHAPES, *_LAYOUTS}, as_layout=True),
    "A": Kind("a layout", {*_SHAPES, *_LAYOUTS, "a swizzle"}, as_layout=True),  # or a swizzle
    "H": Kind("a layout", {*_SHAPES, *_LAYOUTS}, ("XOR",), as_layout=True),  # whose values add up
    "R": Kind("a layout", {*_SHAPES, *_LAYOUTS}, ("XOR", "fractional"), as_layout=True),  # whose strides have an order
    "T": Kind("a tiler", _TILERS, ("XOR", "fractional")),
    "O": Kind("a layout, a tiler or an offset", {*_TILERS, "a pointer"}, ("XOR", "fractional")),
    "N": Kind("an integer", {"an integer"}),
    "I": Kind("an integer or a tuple of integers", {*_SHAPES, "no integers"}),
    "S": Kind("a shape", {*_SHAPES, "no integers", *_LAYOUTS}, as_shape=True),
    "Q": Kind("a shape or a layout", {*_SHAPES, "no integers", *_LAYOUTS, "an atom or a tiling"}, of_layout=True),
    "E": Kind("a shape or a layout", {*_SHAPES, "no integers", *_LAYOUTS}, ("XOR",), of_layout=True),
    "C": Kind("a coordinate", _CRD),
    "D": Kind("strides", {*_SHAPES, "no integers", "strides"}),
    "P": Kind("a profile", {*_CRD, "strides"}),
    "M": Kind("an order", {*_SHAPES, "no integers", "a major order"}),
    "B": Kind("an offset", {*_SHAPES, "a pointer"}),
    "Y": Kind("an element type", {"an integer", "an element type"}),
    "G": Kind("a layout or a tuple", {*_CRD, *_LAYOUTS, "strides", "a tiler", "a tuple"}, of_layout=True),
    "W": Kind("a tuple", {*_CRD, *_LAYOUTS, "strides", "a tiler", "a tuple"}),
    "Z": Kind("a value", {*_TILERS, "strides", "a tuple", "a tensor", "an element type", "an atom or a tiling", "a pointer"}),
    "K": Kind("a shape, strides or a layout", {*_SHAPES, *_LAYOUTS, "no integers", "strides", "a swizzle", "a major order"}),
    "U": Kind("a tensor", {"a tensor", *_LAYOUTS}),
    "F": Kind("a tensor, a layout or a shape", {"a tensor", *_LAYOUTS, *_SHAPES, "an atom or a tiling"}),
    "V": Kind("a tensor, a layout or a shape", {"a tensor", *_LAYOUTS, *_SHAPES}),
    "J": Kind("a type, a word or an integer", {"an element type", "an integer"}),
    "X": Kind("an atom or a tiling", {"an atom or a tiling"}),
}


def check_named(operands: list[object], kinds: str, free: Container[str]) -> None:
    """Raises: the error of a name without a value where a layout stands: it is not an integer. free: such names."""
    for operand, letter in zip(operands, kinds.rstrip("*"), strict=False):
        if isinstance(operand, Unknown) and operand.name in free and (KINDS[letter].as_layout or KINDS[letter].of_layout):
            raise operand.error().but(needs=())


def what(value: object) -> str:
    """What a value is, in the words that `Kind.takes` has."""
    if isinstance(value, tuple):
        return _tuple({what(leaf) for leaf in leaves(value)})
    for kinds, words in _VALUES:
        if isinstance(value, kinds):
            return "something else" if isinstance(value, bool) else words
    if type(value).__name__ in ("Fraction", "StaticRatio"):
        return "strides"
    return "an atom or a tiling" if getattr(value, "tiling", "") else "something else"


_VALUES: tuple[tuple[Any, str], ...] = (
    ((int, Unknown), "an integer"),
    (Tensor, "a tensor"),
    (Layout, "a layout"),
    (ComposedLayout, "a composed layout"),
    (Swizzle, "a swizzle"),
    (Underscore, "_"),
    ((Basis, F2), "strides"),
    (Major, "a major order"),
    (PointerFlag, "a pointer"),
    ((ValueType, str), "an element type"),
)


def _tuple(parts: set[str]) -> str:
    """What a tuple of these leaves is."""
    if not parts:
        return "no integers"
    for words, of in (
        ("integers", {"an integer"}),
        ("integers and _", {"an integer", "_"}),
        ("strides", {"an integer", "strides"}),
        ("a tiler", {"an integer", "_", *_LAYOUTS, "a swizzle"}),
    ):
        if parts <= of:
            return words
    return "something else" if "something else" in parts else "a tuple"


def strides(value: object) -> set[str]:
    """The kinds of the strides of all layouts in a value; 0 is of every kind."""
    match value:
        case tuple():
            return {kind for item in value for kind in strides(item)}
        case ComposedLayout(outer, _, inner):
            return strides(outer) | strides(inner)
        case Layout(_, stride):
            return {kind for leaf in leaves(stride) if (kind := _stride(leaf))}
    return set()


def _stride(leaf: object) -> str:
    match leaf:
        case F2():
            return "XOR"
        case Unknown():
            return "integer"
        case int():
            return "integer" if leaf else ""
        case Basis(int() | Unknown()):
            return "coordinate"
    return "fractional"


def problem(value: object, kind: Kind) -> str | None:
    """Why a value is not of a kind, in words; None where it is."""
    if what(value) not in kind.takes:
        return f"{show(value)} is not {kind.words}"
    for words in kind.without:
        if words in strides(value):
            return f"{show(value)} has {words} strides, which this operation cannot step through"
    return None


def converted(value: object, kind: Kind) -> object:
    """A value of a kind in the form that operations take."""
    if kind.as_layout:
        return as_layout(value)
    return domain(value).shape if kind.as_shape and is_layout(value) else value
