"""Where a TMA copy begins: the coordinates that its instructions take, and those of each element of shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import domain
from cute_viz.algebra.inttuple import leaves
from cute_viz.algebra.inverse import right_inverse
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import get_nonswizzle_portion, size
from cute_viz.algebra.tma import TmaCopy, get_tma_tensor


class Piece(NamedTuple):
    """What one instruction of one CTA moves: its number, the CTA, where its box begins in TMA dimensions, and in shared memory."""

    instruction: int
    cta: int
    start: tuple[int, ...]
    element: int


def dimensions_of(obj: TmaCopy) -> list[tuple[int, int]]:
    """Of each extent of the tensor, the dimension of the tensor map that counts it, and what a step is there."""
    tensor: Any = domain(get_tma_tensor(obj, obj.tensor.layout.shape))
    return [(0, 0) if isinstance(basis, int) else (basis.path[0], int(basis.value)) for basis in leaves(tensor.stride)]


def tma_coord(obj: TmaCopy, coord: Sequence[int], dimensions: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """A coordinate of the tensor, a number for each extent, as the instruction takes it, innermost dimension first."""
    out = [0] * obj.map.rank
    for number, (dimension, step) in zip(coord, dimensions, strict=True):
        out[dimension] += number * step
    return tuple(out)


def elements_of(obj: TmaCopy) -> Layout:
    """Element of shared memory, before the swizzle -> coordinate of the tile in the tensor."""
    out: Layout = composition(obj.cta_v_map, right_inverse(get_nonswizzle_portion(obj.smem)))
    return out


def pieces_at(obj: TmaCopy, corner: tuple[int, ...]) -> list[Piece]:
    """What each instruction of each CTA moves of the tile at a coordinate of the tensor, a number for each extent."""
    where, dimensions = elements_of(obj), dimensions_of(obj)
    per, total = obj.bits // obj.tensor.bits, size(obj.cta_v_map)
    out = []
    for n in range(max(1, total // per)):
        for cta in range(obj.ctas):
            element = n * per + cta * (per // obj.ctas)
            tile = flat(where(element), obj.tensor.layout.shape)
            start = tma_coord(obj, [a + b for a, b in zip(corner, tile, strict=True)], dimensions)
            out.append(Piece(n, cta, start, element))
    return out


def place_pieces(obj: TmaCopy) -> list[tuple[int, ...]]:
    """The coordinate in the tile, a number for each extent of the tensor, of each element of shared memory before the swizzle."""
    where, shape = elements_of(obj), obj.tensor.layout.shape
    return [flat(where(n), shape) for n in range(size(obj.cta_v_map))]


def flat(coord: Any, shape: Any) -> tuple[int, ...]:
    """A coordinate of the tensor, a number for each extent: what a coordinate does not name is 0."""
    if not isinstance(shape, tuple):
        return (next((int(leaf) for leaf in leaves(coord)), 0),)
    entries = coord if isinstance(coord, tuple) else (coord,)
    return tuple(x for n, mode in enumerate(shape) for x in flat(entries[n] if n < len(entries) else 0, mode))
