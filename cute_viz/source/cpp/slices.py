"""Parts of layouts and tensors: a tensor's pointer moves, and what does not depend on where is known though the place is not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.composed import ComposedLayout, PointerFlag, domain, has_origin
from cute_viz.algebra.inttuple import X, has_underscore, leaves, map_leaves, show
from cute_viz.algebra.layout import Layout, is_coordinate_layout, printed_value
from cute_viz.algebra.measure import size
from cute_viz.algebra.static import is_marked
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor, exact_part
from cute_viz.errors import AlgebraError, CuteVizError, Span
from cute_viz.source.cpp.lookup import Meaning
from cute_viz.source.cpp.threads import order_of
from cute_viz.source.cpp.tree import Node
from cute_viz.source.cpp.unknown import attempted, tried, unknown
from cute_viz.source.cpp.values import Thread, Value, finished, taken
from cute_viz.values.integer import Runtime, Unknown

if TYPE_CHECKING:
    from cute_viz.algebra.descriptor import DescriptorTensor
    from cute_viz.algebra.shares import Division


def known_part(value: Value, lost: list[CuteVizError]) -> Value:
    """A value, of a Thread its view, whose error is added to `lost`."""
    if isinstance(value, Thread):
        lost.append(value.error)
        value = value.view
    return value


def is_layout(value: Value) -> bool:
    """Whether a value is a layout, composed or not."""
    return isinstance(value, (Layout, ComposedLayout))


def layout_of(value: Value) -> Value:
    """The layout of a tensor; anything else as it is."""
    return value.layout if isinstance(value, Tensor) else value


def coordinate(meaning: Meaning, node: Node, lost: list[CuteVizError]) -> Value:
    """The value of a coordinate; an integer that is not known is 0, and its error is added to `lost`."""
    return zeroed_place(meaning.solid(node), lost)


def zeroed_place(value: Value, lost: list[CuteVizError]) -> Value:
    """A coordinate with 0 for what is not known, whose errors are added to `lost`."""
    match value:
        case Unknown():
            lost.append(value.error())
            return Runtime(0)
        case tuple():
            return tuple(zeroed_place(item, lost) for item in value)
    return value


def index(meaning: Meaning, node: Node, lost: list[CuteVizError]) -> Value:
    """The number of a thread, which is an integer whatever it is."""
    found = attempted(lambda: coordinate(meaning, node, lost))
    if not isinstance(found, CuteVizError):
        return found
    lost.append(found)
    return Runtime(0)


def called_layout(meaning: Meaning, function: Value, args: tuple[Node, ...], span: Span) -> Value:
    """A layout, tensor or swizzle at a coordinate, or its slice."""
    lost: list[CuteVizError] = []
    unplaced = isinstance(function, Thread)
    function = known_part(function, lost)
    values = tuple(coordinate(meaning, item, lost) for item in args)
    at = values[0] if len(values) == 1 else values
    layout, blank = layout_of(function), has_underscore(values)
    if lost and (isinstance(layout, Swizzle) or not blank):
        raise lost[0]
    if isinstance(layout, Swizzle):
        if not isinstance(at, int):
            raise meaning.fail(f"{layout} takes one integer", span)
        return layout(at)
    if not blank and isinstance(layout, Layout) and is_coordinate_layout(layout):
        return printed_value(at, layout)  # type: ignore[return-value]
    whole: Any = layout if blank or not isinstance(function, Tensor) else function.whole
    found: Value = whole(*values)
    if not blank or not isinstance(function, Tensor):
        return placed(found, lost) if blank else found
    if isinstance(layout, Layout):
        begin = layout(*map_leaves(lambda c: 0 if c is X else c, values))
        lost = lost if meaning.context.apart is None else []
        return replace(function, layout=found, pointer=function.pointer.moved(begin, not lost))
    out = viewed(function, found, lost)
    return out if unplaced or all(leaf is X for leaf in leaves(values)) else _parted(out, "slice", [at, layout])


def called_descriptors(meaning: Meaning, fragment: Any, args: tuple[Node, ...]) -> Value:
    """A descriptor of a fragment, or the fragment of a slice; where it begins is not said of an index that is not known."""
    lost: list[CuteVizError] = []
    values = tuple(coordinate(meaning, item, lost) for item in args)
    if lost and not has_underscore(values):
        raise lost[0]
    found: DescriptorTensor = fragment(*values)
    return found.unplaced() if lost else found


def viewed(tensor: Tensor, found: Value, lost: list[CuteVizError], part: Division | None = None) -> Value:
    """What an operation made of a tensor's layout, as a tensor again: where it begins is the pointer's. part: how it was divided
    among threads, of which it is not known which one this is."""
    part, tensor = part or tensor.part, replace(tensor, sliced=None)
    match found:
        case (Layout() | ComposedLayout() as layout, begin):  # domain_offset
            return replace(tensor, layout=layout, pointer=tensor.pointer.moved(begin, not lost))
        case ComposedLayout(outer=Layout(), inner=Layout()) if not has_origin(found):
            return replace(tensor, layout=found.inner, pointer=tensor.pointer.moved(found.offset, not lost), part=part)
        case ComposedLayout(outer=Layout(), inner=Layout()):
            return placed(found, lost)
        case Layout() | ComposedLayout():
            out = replace(tensor, layout=found, part=part, pointer=tensor.pointer.moved(0, not lost))
            return Thread(out, lost[0]) if lost and isinstance(found, ComposedLayout) else out
    return placed(found, lost)


def joined(x: Tensor) -> Tensor:
    """A tensor of other rooms as the reader has it: a swizzle of element offsets is its layout's."""
    if x.swizzle is None:
        return x
    return replace(x, layout=x.whole, swizzle=None, sliced=None, pointer=replace(x.pointer, offset=0))


def split(x: Value) -> Value:
    """A tensor of the reader as other rooms have it; anything else as it is."""
    match x:
        case Tensor(layout=ComposedLayout(outer=Swizzle() as swizzle, offset=offset, inner=Layout() as inner)):
            at_start = not isinstance(x.pointer.offset, Unknown) and not x.pointer.offset  # the offset keeps its mark
            where = replace(x.pointer, offset=offset) if at_start else x.pointer.moved(offset)
            return replace(x, layout=inner, swizzle=swizzle, pointer=where)
    return x


def cut(
    meaning: Meaning, name: str, operands: list[Value], at: int, lost: list[CuteVizError], part: Division | None = None
) -> Value:
    """An operation that takes a part of the operand at a place, of a tensor its layout: the pointer moves. lost: why it is not
    known where the part begins. part: as of viewed."""
    lost = lost if meaning.context.apart is None else []  # the first place is the least that there may be
    unplaced = isinstance(operands[at], Thread)
    tensor = operands[at] = known_part(operands[at], lost)
    if not isinstance(tensor, Tensor):
        return placed(meaning.operate(name, operands), lost)
    around = tensor.layout
    given = [*operands[:at], around, *operands[at + 1 :]]
    swizzled = isinstance(around, ComposedLayout) and isinstance(around.outer, Swizzle)
    if not (lost or tensor.part is not None) or not swizzled:
        out = viewed(tensor, meaning.operate(name, given), lost, part)
        return _parted(out, name, given) if swizzled else out
    if isinstance(around.inner, ComposedLayout):
        raise AlgebraError(f"{show(around)} swizzles twice: where the parts of it begin is not known")
    # no swizzle is settled where the place is not known
    found: Any = meaning.operate(name, [*operands[:at], around.inner, *operands[at + 1 :]])
    begin, inner = (found.offset, found.inner) if isinstance(found, ComposedLayout) else (0, found)
    out = viewed(tensor, ComposedLayout(around.outer, around.offset + begin, inner), lost, part)
    return _parted(out, name, given) if isinstance(out, Thread) and not unplaced else out


def _parted(out: Value, name: str, operands: list[Value]) -> Value:
    """A part of a swizzled tensor as CuTe leaves it: the offset that the swizzle does not touch is the pointer's, and the layout
    is plain where no two bits of it are swizzled together. Of a thread that is not known, how it was made."""
    made: tuple[str, list[Any]] = (name, list(finished(tuple(operands))))
    if isinstance(out, Thread):
        return replace(out, sliced=made)
    if not isinstance(out, Tensor):
        return out
    exact = finished(out.layout)
    swizzled = isinstance(exact, ComposedLayout) and isinstance(exact.outer, Swizzle) and isinstance(exact.inner, Layout)
    found = exact_part(name, made[1], swizzled and is_marked(exact.inner))
    if found is None:
        return out
    exact = found[0] if swizzled and not isinstance(exact.offset, Unknown) else exact
    kept = None if isinstance(exact, Layout) else made
    return replace(out, layout=taken(exact), pointer=out.pointer.moved(found[1]), sliced=kept)


def placed(value: Value, lost: list[CuteVizError]) -> Value:
    """The layout of a tensor that was cut: the offset is the pointer's. A swizzled one that begins nobody knows where is a
    Thread's; the origin of coordinates is not known, then. Raises: the error of a coordinate that a number depends on."""
    match value:
        case ComposedLayout(offset=PointerFlag()):
            return value
        case ComposedLayout() if has_origin(value):
            origin = map_leaves(lambda _: unknown(lost[0]), value.offset) if lost else value.offset
            return ComposedLayout(value.outer, origin, value.inner)
        case ComposedLayout(outer=Layout(), inner=Layout() as inner):
            return inner
        case ComposedLayout() if lost:
            return Thread(value, lost[0])
        case int() | tuple() if lost:
            raise lost[0]
    return value


SHAPES = frozenset(["shape", "size", "rank", "depth", "make_fragment_like", "make_tensor_like", "make_rmem_tensor_like"])


def shaped(name: str, value: Value) -> Value:
    """A swizzled tensor that begins nobody knows where, for what asks for its shape alone. Raises: its error for all else."""
    match value:
        case Thread(view=ComposedLayout() | Tensor() as view) if name in SHAPES:
            return view
        case Thread():
            raise value.error
    return value


def sliced(meaning: Meaning, tiled: Value, node: Node) -> Value:
    """One thread's view of a tiling, of one that is not known, too."""
    lost: list[CuteVizError] = []
    view: Any = meaning.operate("get_slice", [tiled, index(meaning, node, lost)])
    if not lost:
        return view  # type: ignore[no-any-return]
    which = tried(lambda: meaning.solid(node), None)
    return Thread(view, lost[0], order_of(meaning, node, int(size(view.tiled.thr_layout))), index=which)


def of_thread(meaning: Meaning, name: str, thread: Value, operands: list[Value]) -> Value:
    """What a thread has of a tensor."""
    lost: list[CuteVizError] = []
    view: Any = known_part(thread, lost)
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

        order, which = (thread.order, thread.index) if isinstance(thread, Thread) else ((), None)
        layout = finished(domain(tensor.layout))
        part = None if order is None else Division(finished(view.tiled), side, layout, order=order, index=which)
    return cut(meaning, name, [view, *operands], 1, lost, part)


def _whole_cta(view: Value) -> bool:
    """Whether a part is the tile of a CTA, which its threads share."""
    tiled = getattr(view, "tiled", None)
    return tiled is None or (tiled.tiling == "mma" and tiled.atom.instruction.kind == "tcgen05.mma")
