"""Copies of boxes, TMA and its like, which one thread issues: how many instructions, and how many there need be."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import product as places_of
from math import prod

from cute_viz.algebra.composed import domain
from cute_viz.algebra.copy import Copy_Atom, CopyOp
from cute_viz.algebra.inttuple import leaves, modes
from cute_viz.algebra.inverse import max_common_vector
from cute_viz.algebra.layout import Layout, flat_modes
from cute_viz.algebra.measure import size
from cute_viz.algebra.modes import get
from cute_viz.algebra.static import unknowns
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.tensor import behind, tensors_in
from cute_viz.algebra.tma import TmaCopy
from cute_viz.analysis.access import BOX
from cute_viz.analysis.cost import SECTOR, Cost
from cute_viz.errors import AlgebraError, CuteVizError, first_error
from cute_viz.limits import limit, over


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
