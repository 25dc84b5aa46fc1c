"""cooperative_copy: how the threads of a block divide a copy of shared or global memory (cute/algorithm/cooperative_copy.hpp)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import product as places_of
from math import gcd, prod
from typing import Any

from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, domain
from cute_viz.algebra.copy import Copy_Atom, CopyOp
from cute_viz.algebra.inttuple import X, leaves, modes, show
from cute_viz.algebra.inverse import max_common_vector, right_inverse
from cute_viz.algebra.layout import Layout, flat_modes
from cute_viz.algebra.measure import size
from cute_viz.algebra.modes import coalesce, get
from cute_viz.algebra.ops import find
from cute_viz.algebra.recast import max_alignment, recast_layout
from cute_viz.algebra.shapes import compatible
from cute_viz.algebra.shares import MOST
from cute_viz.algebra.slicing import slice_, slice_and_offset
from cute_viz.algebra.static import clear_static, mark_static, unknowns
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor, behind, tensors_in
from cute_viz.algebra.tma import TmaCopy
from cute_viz.analysis.access import BOX
from cute_viz.analysis.cost import SECTOR, Cost
from cute_viz.analysis.vectorize import auto_width, is_static_shape
from cute_viz.errors import AlgebraError, CuteVizError, first_error
from cute_viz.limits import limit, over
from cute_viz.values.integer import Static, Unknown
from cute_viz.values.types import SPACES, alike


def boxes(tma: TmaCopy, pair: list[object]) -> Cost:
    """A TMA, whose instructions one thread issues: the sectors of global memory that its boxes are, the first one's times all.
    Where the operands are not known it copies the tile that it was made for."""
    for operand in pair:
        if isinstance(operand, CuteVizError) and operand.needs:
            raise operand
    tiles = [domain(behind(x)) for x in pair if not isinstance(x, CuteVizError)]
    values = max(1, tma.bits // tma.tensor.bits)  # of an instruction, all CTAs that share it
    whole = size(tma.cta_v_map) if len(tiles) < 2 else max(size(tile) for tile in tiles)
    count = max(1, whole // values)
    why = [f"{tma.op.name}: {BOX}"]
    if len(tiles) < 2:
        why.append(
            f"counted for one tile of {whole} elements: {pair[0].message if pair and isinstance(pair[0], CuteVizError) else ''}"
        )
    if tma.ctas > 1:
        why.append(f"{tma.ctas} CTAs issue a part of the box each, and all of them receive it")
    sectors = least = boxes = None
    if tma.im2col is None and not tma.gathers:
        sectors, least = (count * n for n in _sectors(tma))
        boxes = min(count, max(1, whole // size(tma.cta_v_map)) * _fewest_of(tma))
        if boxes < count:
            why.append(_NARROW.format("x".join(map(str, tma.map.box_dim[: tma.map.rank]))))
    return Cost(tma.op.name, count * values // tma.ctas, count, None, None, sectors, least, None, tuple(why), None, boxes)


_NARROW = (
    "Boxes of {} elements: the tile in shared memory continues along a different mode than the tensor, so one instruction copies"
    " less than a full box."
)
_UNKNOWN = 1 << 30


def _fewest_of(tma: TmaCopy) -> int:
    """The instructions of the tile of a TMA whose boxes are as large as they may be."""
    inside = {basis.path for basis in leaves(modes(tma.gbasis.stride)[0]) if isinstance(basis, Basis)}
    return _fewest(flat_modes(tma.cta_v_map), tma.map.swizzle, tma.map.bits, inside) if inside else _UNKNOWN


def _fewest(tile: Iterable[tuple[int, object]], swizzle: int, bits: int, inside: Collection[tuple[int, ...]]) -> int:
    """The instructions of a tile of coordinates whose boxes are as large as they may be: 256 elements a mode, and of those
    inside, which lie together, the width of the swizzle."""
    reach: dict[tuple[int, ...], int] = {}
    for extent, step in tile:
        if not isinstance(step, Basis) or not isinstance(step.value, int):
            return _UNKNOWN
        reach[step.path] = reach.get(step.path, 1) + (int(extent) - 1) * step.value
    inner = (128 << 3 >> (3 - swizzle)) // bits if swizzle else 256
    return prod(-(-extent // (inner if path in inside else 256)) for path, extent in reach.items())


def bulk(atom: Copy_Atom | CopyOp, pair: list[object]) -> Cost:
    """A copy of boxes or of bytes in one piece whose tensor map is not known: how many instructions its tensors are."""
    tiles = [domain(behind(x)) for x in pair if not isinstance(x, CuteVizError)]
    sizes = [size(tile) for tile in tiles if next(unknowns(tile), None) is None]
    if not sizes:
        raise first_error(pair) or AlgebraError(f"{atom.name}: {BOX}")
    if isinstance(atom, Copy_Atom):
        whole, values = max(sizes), size(get(atom.layout_src, 1))
    else:  # what lies together in both tensors (copy of SM90_BULK_COPY_AUTO)
        whole = min(sizes)
        values = max_common_vector(*tiles) if len(sizes) == 2 else whole
    count, why = max(1, whole // max(1, values)), [f"{atom.name}: {BOX}"]
    shared = next((x for x in tensors_in(pair, "smem") if x.pointer.known), None)
    far = [mode for x in pair if isinstance(x, Layout) for mode in flat_modes(x) if isinstance(mode[0], int)]
    boxes = None
    if shared is not None and far and not re.search("IM2COL|MULTICAST|GATHER", atom.name) and prod(n for n, _ in far) == whole:
        swizzle = shared.pointer.swizzle
        boxes = min(count, _fewest(far, 0 if swizzle is None else swizzle.bits, shared.bits, {(0,)}))
        why += [_NARROW.format(f"{values:,}")] * (boxes < count)
    return Cost(atom.name, min(values, whole) * count, count, why=tuple(why), boxes=boxes)


def _sectors(tma: TmaCopy) -> tuple[int, int]:
    """The sectors of the box at the origin, and of as many bytes that lie together."""
    box, row = tma.map.box_dim[: tma.map.rank], tma.map.box_dim[0] * tma.map.bits
    strides = tma.map.global_strides[: tma.map.rank - 1]
    if (rows := prod(box[1:])) > limit("accesses"):
        raise over("accesses", f"a box of {rows} rows")
    begins = [sum(n * step for n, step in zip(at, strides, strict=True)) for at in places_of(*map(range, box[1:]))]
    touched = {sector for begin in begins for sector in range(begin // SECTOR, (begin + max(1, row // 8) - 1) // SECTOR + 1)}
    return len(touched), -(-len(begins) * row // (8 * SECTOR))


_WIDTHS = (8, 16, 32, 64, 128)


@dataclass(frozen=True, slots=True)
class Cooperation:
    """How threads divide a copy.

    common: elements that lie together in both, in the order that is taken. bits: of one access. count: accesses of a thread.
    even: all threads have as many. parts: for each pass over the tensors the source's and the destination's share: the layout of
    a thread's elements, those of an access first, and where each thread's begin; empty where these are not a layout.
    """

    common: int
    bits: int
    count: int
    even: bool
    parts: tuple[tuple[tuple[Layout, tuple[int, ...]], tuple[Layout, tuple[int, ...]]], ...]


def cooperation(threads: Any, most: Any, src: Tensor, dst: Tensor) -> Cooperation:
    """What `cooperative_copy<threads, most>(tid, src, dst)` gives each thread; without `most` an access is one element. Raises:
    AlgebraError for what CuTe refuses, with its condition in words; LimitError for more elements than the limit `elements` that
    do not divide by the threads."""
    bits, total = src.bits, size(src.layout)
    _check(threads, most, src, dst)
    most = most or bits
    inverse = _op("right_inverse", _judge(src, dst).layout)
    cut = [_op("coalesce", _op("logical_divide", x.layout, inverse), (Static(1), Static(1))) for x in (src, dst)]
    first, second = (replace(x, layout=layout, sliced=None) for x, layout in zip((src, dst), cut, strict=True))
    common = auto_width(first, second, filtered=False).common
    if total % threads:
        aligned = [bits * (max_alignment(layout) if x.swizzle is None else 1) for x, layout in zip((src, dst), cut, strict=True)]
        width = bits
        if common > 1 and most > bits:
            width = gcd(*aligned, most)
            _check_width(width, bits)
        for x, layout in zip((src, dst), cut, strict=True):
            recast_layout(_swizzled(x, layout), bits, width)
        return Cooperation(common, width, -(-total * bits // width // threads), False, _passes(cut, width // bits, threads))
    width = max(bits, gcd(common * bits, most, total * bits // threads))
    _check_width(width, bits)
    each = width // bits
    used = min(threads, total // each)
    domains = [_distributed(layout, each * used) for layout in cut]
    if any(size(found) != each * used for found in domains):
        raise AlgebraError(
            f"the {each * used} elements that {used} threads take at once do not divide {show(cut[0])} and {show(cut[1])}"
        )
    fits = compatible(domains[0].shape, domains[1].shape)
    if not fits and not compatible(domains[1].shape, domains[0].shape):
        raise AlgebraError(f"the parts of the threads, {show(domains[0])} and {show(domains[1])}, are not compatible")
    tiler = composition(domains[1] if fits else domains[0], Layout((each, used)))
    pairs: list[Any] = []
    for x, layout in zip((src, dst), cut, strict=True):
        if x.swizzle is not None:  # a thread that is not known must not split the bits of the swizzle
            slice_and_offset(((X, Unknown()), X), _op("logical_divide", _swizzled(x, layout), mark_static(tiler)))
        divided = clear_static(_op("logical_divide", layout, mark_static(tiler)))
        part = slice_(((X, 0), X), divided)
        pairs.append((part, tuple([divided(((0, thread), 0)) for thread in range(used)])))
    return Cooperation(common, width, total // (each * used), True, ((pairs[0], pairs[1]),))


def _swizzled(x: Tensor, layout: Layout) -> AnyLayout:
    """A layout of a tensor's elements behind the swizzle that the tensor's layout has."""
    return layout if x.swizzle is None else ComposedLayout(x.swizzle, x.offset, layout)


def _op(name: str, *operands: object) -> Any:
    """An operation on both kinds of integers."""
    return find(name).call(list(operands))


def _check(threads: object, most: object, src: Tensor, dst: Tensor) -> None:
    if not isinstance(threads, int) or not 1 <= threads <= MOST:
        raise AlgebraError("cooperative_copy needs its number of threads", hint="cooperative_copy<128, 128>(threadIdx.x, src, dst)")
    if not is_static_shape(src) or not is_static_shape(dst):
        raise AlgebraError("cooperative_copy needs static extents: Int<64>{}")
    if size(src.layout) != size(dst.layout):
        raise AlgebraError(f"the source has {size(src.layout)} elements, the destination {size(dst.layout)}")
    if not alike(src.pointer.type, dst.pointer.type):
        raise AlgebraError(f"the source has elements of {src.pointer.element}, the destination of {dst.pointer.element}")
    if most is not None and most != src.bits and most not in _WIDTHS:
        raise AlgebraError(f"Expected MaxVecBits to be value size or 8 or 16 or 32 or 64 or 128, not {most}")
    for side, x in (("source", src), ("destination", dst)):
        if x.pointer.space not in ("gmem", "smem"):
            raise AlgebraError(
                f"cooperative_copy expects a shared gmem or smem {side} tensor; this is in {SPACES[x.pointer.space]}"
            )


def _check_width(width: int, bits: int) -> None:
    if width % bits or width < 8:
        raise AlgebraError(f"No support for subbyte copying: an access would have {width} bits", hint="a contiguous tile")


def _judge(src: Tensor, dst: Tensor) -> Tensor:
    """The side whose order is taken: the swizzled one, or else that in shared memory, or else that with more elements together."""
    reach = [size(right_inverse(x.layout)) for x in (src, dst)]
    score = []
    for n, x in enumerate((src, dst)):
        swizzled = x.swizzle is not None or x.pointer.swizzle is not None
        score.append(4 * swizzled + 2 * (x.pointer.space == "smem") + (reach[n] > reach[1 - n]))
    return src if score[0] >= score[1] else dst


def _distributed(layout: Layout, elements: int) -> Layout:
    """So many elements of a layout's domain, as many of each mode as divide what is left (domain_distribute)."""
    shape, steps, step = [], [], 1
    for extent in leaves(layout.shape):
        shape.append(gcd(extent, elements))
        elements //= shape[-1]
        steps.append(step)
        step *= extent
    return coalesce(Layout(tuple(shape), tuple(steps)))  # type: ignore[return-value]


def _passes(cut: list[Layout], each: int, threads: int) -> Any:
    """Where the elements do not divide by the threads: the rest first, a thread one access, and then all threads in turn."""
    total = size(cut[0]) // each
    first, turns = total % threads, total // threads
    flat = [clear_static(layout) for layout in cut]
    out = []
    for begin, some, times in ((0, first, 1), (first, threads, turns)):
        if some and times:
            pair = tuple(_taken(layout, each, begin, some, times) for layout in flat)
            if None in pair:
                return ()
            out.append(pair)
    return tuple(out)


def _taken(layout: Layout, each: int, begin: int, threads: int, times: int) -> tuple[Layout, tuple[int, ...]] | None:
    starts = tuple([layout((begin + thread) * each) for thread in range(threads)])
    if times == 1:
        return Layout((each, 1), (1, 0)), starts
    table = offsets(layout)
    step = table[(begin + threads) * each] - starts[0]
    places = (
        table[(begin + turn * threads + n) * each] - start - turn * step for turn in range(times) for n, start in enumerate(starts)
    )
    return None if any(places) else (Layout((each, times), (1, step)), starts)
