"""How wide a copy between two tensors is: what `cute::copy` makes of their layouts and alignments, and what keeps it from more.

Source: cute/algorithm/copy.hpp (AutoFilter, AutoVectorizingCopyWithAssumedAlignment), cute/tensor_impl.hpp (max_common_vector,
max_alignment).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, domain, inner_of, lifted, swizzle_of
from cute_viz.algebra.divide import zipped_divide
from cute_viz.algebra.inttuple import X, all_static, leaves, map_leaves, show
from cute_viz.algebra.inverse import max_common_vector, nullspace
from cute_viz.algebra.layout import Layout, flat_modes
from cute_viz.algebra.measure import cosize, size
from cute_viz.algebra.modes import get
from cute_viz.algebra.ops import find
from cute_viz.algebra.recast import max_alignment, recast_layout
from cute_viz.algebra.slicing import settled, slice_and_offset
from cute_viz.algebra.static import check_owning, is_marked
from cute_viz.algebra.tensor import Tensor, part_of, tensors_in
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import Static, Unknown, is_static
from cute_viz.values.types import alike

WIDEST = 128  # bits of one access
BYTE = 8
_APART = 1 << 40  # for what is not known when the kernel is compiled
SIDES = ("source", "destination")


@dataclass(frozen=True, slots=True)
class Width:
    """How a copy moves its elements.

    common: elements that lie together in both (max_common_vector). bits: of one access. accesses: how many it takes. element: bits
    of an element. reasons: what keeps it from WIDEST, a sentence each.
    """

    common: int
    bits: int
    accesses: int
    element: int
    reasons: tuple[str, ...] = ()


def auto_width(src: Tensor, dst: Tensor, most: int | None = None, filtered: bool = True) -> Width:
    """The width of `copy(src, dst)`, or with `most` of a copy whose pointers are aligned to so many bits.

    filtered: what the destination takes at one place is copied once, as without an atom (AutoFilter).

    Raises: AlgebraError where CuTe refuses, for a destination that takes several elements of the source at one place; layouts
    whose composition is refused.
    """
    seen = _seen(src), _seen(dst)
    static = all(known for _, known in seen)
    shaped = is_static_shape(src) and is_static_shape(dst)
    assumed = most if most is not None else WIDEST if static else BYTE
    whole = layouts = seen[0][0], seen[1][0]
    if filtered and shaped and size(src.layout) == size(dst.layout):
        layouts = _filtered(*layouts)
    element = dst.bits
    fits = alike(src.pointer.type, dst.pointer.type)
    common = _common(*layouts, static, shaped) if fits else 0
    aligned = [gcd(_pointer(side), alignment(layout, static) * element) for side, layout in zip((src, dst), layouts, strict=True)]
    bits = element
    if common > 1:
        vector = gcd(common * element, *aligned, assumed)
        if vector % BYTE == 0 and vector > element:
            bits = vector
            for layout in layouts:
                recast_layout(layout, element, bits)
    moved = size(layouts[1]) * element
    if fits and layouts is not whole:
        common = _told(whole, static, shaped, common)
    reasons = () if bits >= WIDEST else tuple(_reasons((src, dst), layouts, common, aligned, assumed, bits))
    return Width(int(common), bits, -(-moved // bits), element, reasons)


def _seen(x: Tensor) -> tuple[AnyLayout, bool]:
    """The layout of a tensor's elements, without the swizzle of its pointer, and whether all of it is known at compile time."""
    static = is_marked(x.layout)
    if x.swizzle is None:
        return x.layout, static
    swizzled = ComposedLayout(x.swizzle, x.offset, x.layout)
    part = None if x.sliced is None else part_of(*x.sliced, known=False)
    if part is None or size(part) != size(x.layout):
        return swizzled if x.sliced is None else settled(swizzled)[0], static
    inner, composed = domain(part), part if isinstance(part, ComposedLayout) else None
    static = static and not any(isinstance(n, Unknown) for n in (*leaves(inner.stride), composed and composed.offset))
    if is_marked(x.layout):  # a stride that is not known follows nothing
        strides = map_leaves(lambda d: _APART if isinstance(d, Unknown) else Static(d), inner.stride)
        inner = Layout(map_leaves(Static, inner.shape), strides)
    return (replace(composed, offset=0, inner=inner) if composed else inner), static


def registers_of(values: Layout, t: Tensor, width: int) -> tuple[int | None, str]:
    """How many registers of so many bits the values of a tensor are, None where they are none, and that in words."""
    try:
        whole = _seen(replace(t, layout=values))[0]
        mixed = len({is_static(step) for step in leaves(values.stride)}) > 1  # a run-time stride of 1 joins nothing
        held = size(find("recast_layout").call([whole, t.bits, width]) if mixed else recast_layout(whole, t.bits, width))
    except AlgebraError as error:
        return None, error.message
    return held, f"they make {held} of {width} bits"


def check_registers(tensors: list[object], beside: list[object]) -> None:
    """Refuse registers of run-time extents, where any extent of a tensor says that it is static; what has an address is a view."""
    told = any(is_static(n) for x in tensors_in(beside) for n in leaves(x.layout.shape))
    for tensor in tensors_in(tensors, "rmem"):
        if tensor.pointer.address is None:
            check_owning(tensor.layout, told)


def is_static_shape(x: Tensor) -> bool:
    """Whether the shape of a layout is known when the kernel is compiled."""
    return all_static(x.layout.shape)


def alignment(layout: AnyLayout, static: bool = True) -> int:
    """The elements to whose multiples the vectors of a layout are aligned, as far as it is known when the kernel is compiled.

    static: all of the layout is known then; otherwise its marked integers are.
    """
    if static:
        return max_alignment(layout)
    plain = _plain(layout)
    modes = [(n if is_static(n) else 1, d if is_static(d) else 0) for n, d in flat_modes(plain)]
    known = Layout(tuple(n for n, _ in modes), tuple(d for _, d in modes))
    return max_alignment(lifted(lambda _: known)(layout))


def _plain(layout: AnyLayout) -> Layout:
    """A layout without its swizzle."""
    if not isinstance(inner := inner_of(layout), Layout):
        raise AlgebraError(f"{show(layout)} is not a layout that a copy can vectorize", hint="a layout, or a swizzled one")
    return inner


def _pointer(x: Tensor) -> int:
    """The alignment of a pointer in bits, 0 where nothing limits it: a swizzled one is aligned to what it leaves in one piece."""
    swizzle = x.pointer.swizzle
    return 0 if swizzle is None else BYTE << swizzle.base


def _common(src: AnyLayout, dst: AnyLayout, static: bool, shaped: bool) -> int:
    """max_common_vector, as far as it is known when the kernel is compiled; `shaped` where extents are, `static` where all is."""
    if static or isinstance(src, ComposedLayout) or isinstance(dst, ComposedLayout):
        return max_common_vector(src, dst) if static or shaped else 1
    return max_common_vector(_compiled(src, open_ended=True), _compiled(dst, open_ended=False))


def _compiled(layout: Layout, open_ended: bool) -> Layout:
    """A layout as the compiler sees it: a stride that is not known follows nothing, an extent that is not known ends all.

    open_ended: the extent of the last mode does not matter, as of the layout that is composed with the inverse of the other.
    """
    modes = flat_modes(layout)
    out: list[tuple[int, int]] = []
    for n, (extent, stride) in enumerate(modes):
        apart = _APART << n
        if not is_static(extent):
            known = open_ended and n == len(modes) - 1 and is_static(stride)
            out.append((_APART, stride if known else apart))
            break
        out.append((extent, stride if is_static(stride) else apart))
    return layout if all(is_static(n) for mode in modes for n in mode) else Layout(*map(tuple, zip(*out, strict=True)))


def _told(layouts: tuple[AnyLayout, AnyLayout], static: bool, shaped: bool, otherwise: int) -> int:
    """max_common_vector of the tensors as they were given; where CuTe refuses that, of what the copy makes of them."""
    try:
        return _common(*layouts, static, shaped)
    except AlgebraError:
        return otherwise


def _filtered(src: AnyLayout, dst: AnyLayout) -> tuple[AnyLayout, AnyLayout]:
    """Both without the modes along which the destination stays at one place (AutoFilter)."""
    null = nullspace(dst)
    cut = [zipped_divide(layout, null) for layout in (src, dst)]
    if cosize(get(cut[0], 0)) != 1:
        raise AlgebraError(
            f"ambiguous race: {show(dst)} receives {size(null)} different source elements at one offset",
            hint="a destination's stride of 0 needs a source that is constant there",
        )
    first, second = (slice_and_offset((0, X), layout)[0] for layout in cut)
    return first, second


def _reasons(
    tensors: tuple[Tensor, Tensor], layouts: tuple[AnyLayout, AnyLayout], common: int, aligned: list[int], assumed: int, bits: int
) -> list[str]:
    """What keeps an access from WIDEST bits, and what would help."""
    src, dst = tensors
    element = dst.bits
    if common == 0:
        return [f"the source holds {src.pointer.element}, the destination {dst.pointer.element}: each element is converted"]
    if assumed == BYTE and all(_seen(x)[1] for x in tensors):
        return [
            f"DefaultCopy assumes an alignment of only {assumed} bits; AutoVectorizingCopyWithAssumedAlignment<128> assumes more"
        ]
    if assumed == BYTE:
        return [
            f"shapes or strides are run-time integers: CuTe assumes an alignment of only {assumed} bits and does not combine"
            " elements; make them static (Int<8>{}), or call copy_aligned"
        ]
    out = []
    if common < WIDEST // element:
        out += _short_run(layouts, common)
    for side, tensor, layout, known in zip(SIDES, tensors, layouts, aligned, strict=True):
        if known and known < WIDEST and known <= max(bits, element):
            out.append(_misaligned(side, tensor, layout, known))
    return out


def _short_run(layouts: tuple[AnyLayout, AnyLayout], common: int) -> list[str]:
    """Which mode of which side ends the run of elements that lie together."""
    runs = [_run(layout) for layout in layouts]
    out = []
    for side, layout in zip(SIDES, layouts, strict=True):
        if (swizzle := swizzle_of(layout)) is not None and 1 << swizzle.base == common:
            out.append(f"{swizzle} of the {side} keeps {common} elements contiguous")
    if out:
        return out
    plain = [_plain(layout) for layout in layouts]
    firsts = [next((n for n, (extent, stride) in enumerate(flat_modes(x)) if stride == 1 and extent > 1), None) for x in plain]
    if None not in firsts and firsts[0] != firsts[1]:
        return [
            f"stride 1 is in mode {firsts[0]} of the source but in mode {firsts[1]} of the destination: {_together(common)}."
            " Give both the same order, or copy through another layout"
        ]
    for side, layout, first, run in zip(SIDES, plain, firsts, runs, strict=True):
        if first is None:
            steps = ", ".join(f"{d}".removeprefix("_") for n, d in flat_modes(layout) if n > 1)
            out.append(f"no mode of the {side} has stride 1 (they are {steps}): no two elements are contiguous")
        elif run <= common:
            extent, _ = flat_modes(layout)[first]
            following = [(n, d) for n, d in flat_modes(layout) if n > 1 and d != 1]
            wide = f" and no other continues at {run}" if following else ""
            out.append(f"mode {first} of the {side} has {int(extent)} elements of stride 1{wide}: {_together(common)}")
    return out or [f"the two sides order their modes differently: {_together(common)}"]


def _together(common: int) -> str:
    return f"only {int(common)} elements are contiguous in both" if common > 1 else "no two elements are contiguous in both"


def _run(layout: AnyLayout) -> int:
    """How many elements of a layout lie together, whichever its first mode is."""
    run = 1
    for extent, stride in sorted(flat_modes(_plain(layout)), key=lambda mode: (mode[1], mode[0])):
        if extent > 1 and stride == run:
            run *= extent
    return run


def _misaligned(side: str, x: Tensor, layout: AnyLayout, known: int) -> str:
    if x.pointer.swizzle is not None and BYTE << x.pointer.swizzle.base == known:
        return f"{x.pointer.swizzle} of the {side}'s address leaves {known // BYTE} bytes together"
    odd = [d for n, d in flat_modes(_plain(layout)) if n > 1 and d not in (0, 1) and (d * x.bits) % WIDEST]
    if odd:
        step = odd[0]
        unit = WIDEST // x.bits
        padded = -(-step // unit) * unit
        return (
            f"a stride of {step} elements of the {side} is {step * x.bits // BYTE} bytes, so that only {known // BYTE or 1}-byte"
            f" alignment is certain; {padded} would be {WIDEST // BYTE}-byte aligned"
        )
    return f"the {side} is aligned to {known} bits"
