"""Layouts at coordinates: what does not depend on where is known though the coordinate is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, PointerFlag, domain, has_origin
from cute_viz.algebra.descriptor import DescriptorTensor
from cute_viz.algebra.inttuple import Underscore, leaves, map_leaves, show
from cute_viz.algebra.layout import Layout, is_coordinate_layout, printed_value
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, LimitError, Span
from cute_viz.source.cpp.located import begin, located, moved, plain, pointer_of
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.tree import Node
from cute_viz.source.cpp.unknown import unknown
from cute_viz.source.cpp.values import finished
from cute_viz.values.integer import Runtime, Unknown
from cute_viz.values.pointer import Pointer
from cute_viz.values.types import named


@dataclass(frozen=True, slots=True)
class Thread:
    """One thread's view of a tiling or of a swizzled tensor, though it is not known which thread: `view` is that of thread 0."""

    view: Any
    error: CuteVizError

    def __str__(self) -> str:
        return str(self.view)


def coordinate(meaning: Meaning, node: Node, lost: list[CuteVizError]) -> Any:
    """The value of a coordinate; an integer that is not known is 0, and its error is added to `lost`."""
    return zeroed_place(meaning.solid(node), lost)


def zeroed_place(value: Any, lost: list[CuteVizError]) -> Any:
    """A coordinate with 0 for what is not known, whose errors are added to `lost`."""
    if isinstance(value, Unknown):
        lost.append(value.error())
        return Runtime(0)
    return tuple(zeroed_place(item, lost) for item in value) if isinstance(value, tuple) else value


def index(meaning: Meaning, node: Node, lost: list[CuteVizError]) -> Any:
    """The number of a thread, which is an integer whatever it is."""
    try:
        return coordinate(meaning, node, lost)
    except LimitError:
        raise
    except CuteVizError as error:
        lost.append(error)
        return Runtime(0)


def called_layout(meaning: Meaning, function: Any, args: tuple[Node, ...], span: Span) -> Any:
    """A layout or swizzle at a coordinate, or its slice: of a tensor the layout, as CuTe prints it."""
    lost: list[CuteVizError] = []
    if isinstance(function, Thread):
        lost.append(function.error)
        function = function.view
    values = tuple(coordinate(meaning, item, lost) for item in args)
    if isinstance(function, Tensor):
        if lost:
            raise lost[0]
        return function(*finished(values))
    pointer, function = pointer_of(function), plain(function)
    if isinstance(function, Swizzle):
        if lost:
            raise lost[0]
        if len(values) != 1 or not isinstance(values[0], int):
            raise meaning.fail(f"{function} takes one integer", span)
        return function(values[0])
    if not any(isinstance(leaf, Underscore) for leaf in leaves(values)):
        if lost:
            raise lost[0]
        if isinstance(function, Layout) and is_coordinate_layout(function):
            return printed_value(values[0] if len(values) == 1 else values, function)
        return function(*values)
    if isinstance(function, ComposedLayout) and isinstance(function.offset, PointerFlag):
        inner = domain(function)(*values)  # the pointer moves, and its swizzle stays
        part = ComposedLayout(function.outer, function.offset, inner) if isinstance(inner, Layout) else inner
        return located(part, _sliced(pointer, domain(function), values, lost))
    if isinstance(function, Layout):
        pointer = _sliced(pointer, function, values, lost)
    return located(placed(function(*values), lost), pointer)


def called_descriptors(meaning: Meaning, fragment: DescriptorTensor, args: tuple[Node, ...], span: Span) -> Any:
    """A descriptor of a fragment, or the fragment of a slice; where it begins is not said of an index that is not known."""
    lost: list[CuteVizError] = []
    values = tuple(coordinate(meaning, item, lost) for item in args)
    if lost and not any(isinstance(leaf, Underscore) for leaf in leaves(values)):
        raise lost[0]
    found = fragment(*values)
    return found.unplaced() if lost else found


def _sliced(pointer: Pointer | None, layout: Any, values: tuple[Any, ...], lost: list[CuteVizError]) -> Pointer | None:
    """Where the slice of a tensor at a coordinate begins."""
    if pointer is None or pointer.address is None:
        return pointer
    first = map_leaves(lambda c: 0 if isinstance(c, Underscore) else c, values)
    return moved(pointer, layout(*first), not lost)


def placed(value: Any, lost: list[CuteVizError]) -> Any:
    """The layout of a tensor that was cut: the offset is the pointer's.

    A swizzled one that begins nobody knows where is a Thread's; the origin of coordinates is not known, then.
    Raises: the error of a coordinate that a number depends on.
    """
    if isinstance(value, ComposedLayout) and not isinstance(value.offset, PointerFlag):
        if has_origin(value):
            origin = map_leaves(lambda _: unknown(lost[0]), value.offset) if lost else value.offset
            return ComposedLayout(value.outer, origin, value.inner)
        if isinstance(value.outer, Layout) and isinstance(value.inner, Layout):
            return value.inner
        if lost:
            return Thread(value, lost[0])
    if lost and isinstance(value, (int, tuple)):
        raise lost[0]
    return value


SHAPES = frozenset(["shape", "size", "rank", "depth", "make_fragment_like", "make_tensor_like", "make_rmem_tensor_like"])


def shaped(name: str, value: Any) -> Any:
    """A swizzled tensor that begins nobody knows where, for what asks for its shape alone. Raises: its error for all else."""
    if not isinstance(value, Thread):
        return value
    if name not in SHAPES or not isinstance(value.view, ComposedLayout):
        raise value.error
    return value.view


def sliced(meaning: Meaning, tiled: Any, node: Node) -> Any:
    """One thread's view of a tiling, of one that is not known, too."""
    lost: list[CuteVizError] = []
    view = meaning.operate("get_slice", [tiled, index(meaning, node, lost)])
    return Thread(view, lost[0]) if lost else view


def of_thread(meaning: Meaning, name: str, thread: Any, operands: list[Any]) -> Any:
    """What a thread has of a tensor."""
    lost = [thread.error] if isinstance(thread, Thread) else []
    view = thread.view if isinstance(thread, Thread) else thread
    pointer = pointer_of(operands[0]) if operands and name.startswith(("partition_", "retile")) else None
    pointer = _fragment(name, view) if "fragment" in name else pointer
    flagged = any(isinstance(operand, ComposedLayout) and isinstance(operand.offset, PointerFlag) for operand in operands)
    if flagged and not name.startswith("make_fragment_") and not _of_descriptors(name, view):
        part, offset = _flagged(meaning, name, view, operands)
        return located(part, moved(pointer, offset, not lost))
    found = meaning.operate(name, [view, *operands])
    return located(placed(found, lost), moved(pointer, begin(found), not lost))


def _fragment(name: str, view: Any) -> Pointer | None:
    """The pointer of an MMA's fragment in registers, whose elements are of the atom's types."""
    types, place = getattr(getattr(getattr(view, "tiled", None), "atom", None), "types", ()), "ABC".find(name[-1])
    short = named(types[place]) if 0 <= place < len(types) else None
    return Pointer("rmem", short.cpp) if short is not None else None


def _of_descriptors(name: str, view: Any) -> bool:
    """Whether what partition_fragment_A or _B gives are descriptors, which begin where the tensor does."""
    if name not in ("partition_fragment_A", "partition_fragment_B"):
        return False
    reads: bool = view.tiled.atom.instruction.described(name[-1])
    return reads


def _flagged(meaning: Meaning, name: str, view: Any, operands: list[Any]) -> tuple[Any, Any]:
    """The part of a tensor whose pointer carries the swizzle, and where it begins: its layout alone is cut."""
    tensor = operands[0]
    found = meaning.operate(name, [view, domain(tensor)])
    part = placed(found, [])
    if not isinstance(part, Layout):
        raise meaning.fail(f"{name} of {show(tensor)} is not supported", Span(0, 0))
    whole = name.startswith("partition_") and "fragment" not in name
    return (ComposedLayout(tensor.outer, tensor.offset, part) if whole else part), begin(found)
