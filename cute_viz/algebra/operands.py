"""What an operand is, and what each operation takes: the check of a call, before the operation sees it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from cute_viz.algebra.composed import ComposedLayout, PointerFlag, as_layout, domain, is_layout
from cute_viz.algebra.inttuple import Major, Underscore, leaves, show
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.static import each_integer, is_tiling
from cute_viz.algebra.stride import F2, Basis, step_of
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor, behind, viewed, whole
from cute_viz.values.integer import Runtime, Static, Unknown, is_static
from cute_viz.values.types import ValueType, alike

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


_RECASTS = ("upcast", "downcast", "recast_layout")


# Operations that look at another part, or another order, of the same tensor.
VIEWS = frozenset(
    f"{operation}{of}"
    for operations, operands in (
        ("outer_partition", " "),
        ("local_tile local_partition slice group take select append prepend coalesce flatten filter filter_zeros composition", " "),
        ("domain_offset logical_divide zipped_divide tiled_divide flat_divide", " "),
        ("partition_", "ABCSD"),
        ("retile_ tidfrg_", "SD"),
        ("thrfrg_", "ABC"),
    )
    for operation in operations.split()
    for of in (operands.strip() or [""])
)


def entered(name: str, operands: list[object]) -> list[object]:
    """The operands of an operation, with both kinds of integers told apart; as they are where no `_` was written."""
    if not any(type(x) is Static for y in operands for x in _integers(y)):
        return operands
    # Strides below 0 are written without a mark; of recasts they are static: a run-time one CuTe would divide to 0.
    below = name in _RECASTS

    def told(x: int) -> int:
        return Static(x) if is_static(x) or (below and x < 0) else Runtime(x)

    # An atom and a tiling of it are types; which thread looks at it is not.
    types = [is_type(y) for y in operands]
    found = [each_integer(Static if of_type else told, y) for y, of_type in zip(operands, types, strict=True)]
    return [_of_thread(y, told) if of_type else y for y, of_type in zip(found, types, strict=True)]


def is_type(value: object) -> bool:
    """Whether a value is a type of C++'s, whose integers are static: an atom, a tiling."""
    return is_tiling(value) and not isinstance(value, Tensor)


def static_of_types(operands: list[object]) -> bool:
    """Whether what is made of operands is static, as they are types, and no integer is beside them."""
    return any(map(is_type, operands)) and not any(True for y in operands for _ in _integers(y))


def _of_thread(view: Any, told: Callable[[int], int]) -> object:
    for name in ("thr_idx", "thr_vmnk"):
        if hasattr(view, name):
            return replace(view, **{name: each_integer(told, getattr(view, name))})
    return view


def is_mixed(operands: list[object]) -> bool:
    """Whether an integer of the operands is known only when code runs."""
    return any(isinstance(x, Runtime) for operand in operands for x in _integers(operand))


def left(value: object) -> Any:
    """The result of an operation on entered operands: what is known is static, and prints so."""
    if isinstance(value, bool):
        return Static(value)
    return each_integer(lambda x: int(x) if isinstance(x, Runtime) else Static(x), value)


def _integers(value: object) -> Iterator[object]:
    """Every integer of an operand."""
    match value:
        case tuple():
            for item in leaves(value):
                yield from (item,) if isinstance(item, int) else _integers(item)
        case Layout(shape, stride):
            for part in (shape, stride):
                yield from map(step_of, leaves(part))
        case ComposedLayout(_, _, inner) | Tensor(_, inner):
            yield from _integers(inner)
        case int():
            yield value


def through(operation: Any, args: list[object], template: tuple[object, ...]) -> Any:
    """An operation that some of whose operands are tensors: a view of the first, or what it is of their layouts."""
    first = next(x for x in args if isinstance(x, Tensor))
    if operation.name == "layout" and len(args) == 1 and not template and first.swizzle is None:
        return first.layout  # what is the pointer's is not part of it
    types = [x.pointer.known if isinstance(x, Tensor) else None for x in args]
    if operation.name.startswith("max_common_") and len(args) == 2 and not alike(*types):  # each element is converted
        return 0 if operation.name == "max_common_vector" else Layout(Static(1), Static(0))
    if operation.name in VIEWS and not is_coordinate_layout(first.layout):
        plain = [x.layout if x is first else whole(x) for x in args]
        out = viewed(first, operation.call(plain, template))
        part = operation.name.startswith(("local_", "outer_", "partition_", "slice"))
        if part and first.swizzle is not None and isinstance(out, Tensor):
            out = replace(out, sliced=(operation.name, [whole(x) for x in args]))
        return out
    of_layouts = operation.name.endswith("_like") or operation.name.startswith("max_common_")
    if of_layouts and first.swizzle is None:  # where it begins does not matter
        return operation.call([behind(x) for x in args], template)
    return operation.call([whole(x) for x in args], template)
