"""Parts of layouts and tensors: a tensor's pointer moves, and what does not depend on where is known though the place is not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.composed import ComposedLayout, PointerFlag, domain, has_origin
from cute_viz.algebra.inttuple import Underscore, leaves, map_leaves, show
from cute_viz.algebra.layout import Layout, is_coordinate_layout, printed_value
from cute_viz.algebra.measure import size
from cute_viz.algebra.static import is_marked
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor, exact_part
from cute_viz.errors import AlgebraError, CuteVizError, LimitError, Span
from cute_viz.records import dataclass
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.threads import order_of
from cute_viz.source.cpp.tree import Node
from cute_viz.source.cpp.unknown import unknown
from cute_viz.source.cpp.values import finished, taken
from cute_viz.values.integer import Runtime, Unknown

if TYPE_CHECKING:
    from cute_viz.algebra.descriptor import DescriptorTensor
    from cute_viz.algebra.shares import Division


@dataclass(frozen=True, slots=True)
class Thread:
    """One thread's view of a tiling, or a swizzled tensor at a place, though it is not known which: `view` is the first. order:
    threads.order_of the index of the thread. sliced: of a part of a tensor at a known place, how it was made, as of Tensor.
    """

    view: Any
    error: CuteVizError
    order: tuple[int, ...] | None = ()
    sliced: tuple[str, list[Any]] | None = None

    def __str__(self) -> str:
        return str(self.view)


def known_part(value: Any, lost: list[CuteVizError]) -> Any:
    """A value, of a Thread its view, whose error is added to `lost`."""
    if not isinstance(value, Thread):
        return value
    lost.append(value.error)
    return value.view


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
    """A layout, tensor or swizzle at a coordinate, or its slice."""
    lost: list[CuteVizError] = []
    unplaced = isinstance(function, Thread)
    function = known_part(function, lost)
    values = tuple(coordinate(meaning, item, lost) for item in args)
    layout = function.layout if isinstance(function, Tensor) else function
    if isinstance(layout, Swizzle):
        if lost:
            raise lost[0]
        if len(values) != 1 or not isinstance(values[0], int):
            raise meaning.fail(f"{layout} takes one integer", span)
        return layout(values[0])
    if not any(isinstance(leaf, Underscore) for leaf in leaves(values)):
        if lost:
            raise lost[0]
        if isinstance(layout, Layout) and is_coordinate_layout(layout):
            return printed_value(values[0] if len(values) == 1 else values, layout)
        if isinstance(function, Tensor):
            layout = replace(function, layout=layout).whole
        return layout(*values)
    found = layout(*values)
    if not isinstance(function, Tensor):
        return placed(found, lost)
    if isinstance(layout, Layout):
        begin = layout(*map_leaves(lambda c: 0 if isinstance(c, Underscore) else c, values))
        return replace(function, layout=found, pointer=function.pointer.moved(begin, not lost))
    out = viewed(function, found, lost)
    if unplaced or all(isinstance(leaf, Underscore) for leaf in leaves(values)):
        return out
    return _parted(out, "slice", [values[0] if len(values) == 1 else values, layout])


def called_descriptors(meaning: Meaning, fragment: DescriptorTensor, args: tuple[Node, ...], span: Span) -> Any:
    """A descriptor of a fragment, or the fragment of a slice; where it begins is not said of an index that is not known."""
    lost: list[CuteVizError] = []
    values = tuple(coordinate(meaning, item, lost) for item in args)
    if lost and not any(isinstance(leaf, Underscore) for leaf in leaves(values)):
        raise lost[0]
    found = fragment(*values)
    return found.unplaced() if lost else found


def viewed(tensor: Tensor, found: Any, lost: list[CuteVizError], part: Division | None = None) -> Any:
    """What an operation made of a tensor's layout, as a tensor again: where it begins is the pointer's. part: how it was divided
    among threads, of which it is not known which one this is.
    """
    part, tensor = part or tensor.part, replace(tensor, sliced=None)
    if isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], Layout):  # domain_offset
        return replace(tensor, layout=found[0], pointer=tensor.pointer.moved(found[1], not lost))
    if isinstance(found, ComposedLayout) and isinstance(found.outer, Layout) and isinstance(found.inner, Layout):
        if has_origin(found):
            return placed(found, lost)
        return replace(tensor, layout=found.inner, pointer=tensor.pointer.moved(found.offset, not lost), part=part)
    if not isinstance(found, (Layout, ComposedLayout)):
        return placed(found, lost)
    out = replace(tensor, layout=found, part=part, pointer=tensor.pointer.moved(0, not lost))
    return Thread(out, lost[0]) if lost and isinstance(found, ComposedLayout) else out


def joined(x: Tensor) -> Tensor:
    """A tensor of other rooms as the reader has it: a swizzle of element offsets is its layout's."""
    if x.swizzle is None:
        return x
    return replace(x, layout=x.whole, swizzle=None, sliced=None, pointer=replace(x.pointer, offset=0))


def split(x: Any) -> Any:
    """A tensor of the reader as other rooms have it; anything else as it is.

    >>> x = Tensor(Pointer("smem", "float"), ComposedLayout(Swizzle(3, 2, 3), 8, Layout(64)))
    >>> split(x).swizzle, split(x).offset
    (Swizzle(bits=3, base=2, shift=3), 8)
    """
    layout = x.layout if isinstance(x, Tensor) else None
    if not isinstance(layout, ComposedLayout) or not isinstance(layout.outer, Swizzle) or not isinstance(layout.inner, Layout):
        return x
    at_start = not isinstance(x.pointer.offset, Unknown) and not x.pointer.offset  # the offset keeps its mark
    where = replace(x.pointer, offset=layout.offset) if at_start else x.pointer.moved(layout.offset)
    return replace(x, layout=layout.inner, swizzle=layout.outer, pointer=where)


def cut(meaning: Meaning, name: str, operands: list[Any], at: int, lost: list[CuteVizError], part: Division | None = None) -> Any:
    """An operation that takes a part of the operand at a place, of a tensor its layout: the pointer moves. lost: why it is not
    known where the part begins. part: as of viewed.
    """
    unplaced = isinstance(operands[at], Thread)
    tensor = operands[at] = known_part(operands[at], lost)
    if not isinstance(tensor, Tensor):
        return placed(meaning.operate(name, operands), lost)
    around = tensor.layout
    swizzled = isinstance(around, ComposedLayout) and isinstance(around.outer, Swizzle)
    if not (lost or tensor.part is not None) or not swizzled:
        given = [*operands[:at], around, *operands[at + 1 :]]
        out = viewed(tensor, meaning.operate(name, given), lost, part)
        return _parted(out, name, given) if swizzled else out
    assert isinstance(around, ComposedLayout)
    if isinstance(around.inner, ComposedLayout):
        raise AlgebraError(f"{show(around)} swizzles twice: where the parts of it begin is not known")
    # no swizzle is settled where the place is not known
    found = meaning.operate(name, [*operands[:at], around.inner, *operands[at + 1 :]])
    begin, inner = (found.offset, found.inner) if isinstance(found, ComposedLayout) else (0, found)
    before: Any = around.offset
    out = viewed(tensor, ComposedLayout(around.outer, before + begin, inner), lost, part)
    return _parted(out, name, [*operands[:at], around, *operands[at + 1 :]]) if isinstance(out, Thread) and not unplaced else out


def _parted(out: Any, name: str, operands: list[Any]) -> Any:
    """A part of a swizzled tensor as CuTe leaves it: the offset that the swizzle does not touch is the pointer's, and the layout
    is plain where no two bits of it are swizzled together. Of a thread that is not known, how it was made.
    """
    made = (name, list(finished(tuple(operands))))
    if isinstance(out, Thread):
        return replace(out, sliced=made)
    if not isinstance(out, Tensor):
        return out
    layout: Any = finished(out.layout)
    inner = layout.inner if isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle) else None
    found = exact_part(*made, isinstance(inner, Layout) and is_marked(inner))
    if found is None:
        return out
    followed = isinstance(inner, Layout) and not isinstance(layout.offset, Unknown)
    exact = found[0] if followed else layout
    kept = None if isinstance(exact, Layout) else made
    return replace(out, layout=taken(exact), pointer=out.pointer.moved(found[1]), sliced=kept)


def placed(value: Any, lost: list[CuteVizError]) -> Any:
    """The layout of a tensor that was cut: the offset is the pointer's. A swizzled one that begins nobody knows where is a
    Thread's; the origin of coordinates is not known, then. Raises: the error of a coordinate that a number depends on.
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
    if name not in SHAPES or not isinstance(value.view, (ComposedLayout, Tensor)):
        raise value.error
    return value.view


def sliced(meaning: Meaning, tiled: Any, node: Node) -> Any:
    """One thread's view of a tiling, of one that is not known, too."""
    lost: list[CuteVizError] = []
    view = meaning.operate("get_slice", [tiled, index(meaning, node, lost)])
    return Thread(view, lost[0], order_of(meaning, node, int(size(view.tiled.thr_layout)))) if lost else view


def of_thread(meaning: Meaning, name: str, thread: Any, operands: list[Any]) -> Any:
    """What a thread has of a tensor."""
    lost: list[CuteVizError] = []
    view = known_part(thread, lost)
    if "fragment" in name or not operands:
        if name.startswith("make_fragment_") and operands and isinstance(operands[0], Tensor):
            from cute_viz.algebra.mma import as_tiled_mma
            from cute_viz.algebra.umma import check_partitioned

            check_partitioned(as_tiled_mma(view), name[-1], operands[0])
        return meaning.operate(name, [view, *[known_part(x, []) for x in operands]])
    tensor, side = known_part(operands[0], []), name[-1]
    part = None
    if lost and isinstance(tensor, Tensor) and not _whole_cta(view) and name.startswith("partition_"):
        if tensor.part is not None:
            raise meaning.fail("this is a thread's part already", Span(0, 0))
        from cute_viz.algebra.shares import Division

        order = thread.order if isinstance(thread, Thread) else ()
        part = None if order is None else Division(finished(view.tiled), side, finished(domain(tensor.layout)), order=order)
    return cut(meaning, name, [view, *operands], 1, lost, part)


def _whole_cta(view: Any) -> bool:
    """Whether a part is the tile of a CTA, which its threads share."""
    tiled = getattr(view, "tiled", None)
    return tiled is None or (tiled.tiling == "mma" and tiled.atom.instruction.kind == "tcgen05.mma")
