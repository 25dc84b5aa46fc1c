"""What a TiledMMA and a TiledCopy have alike: one thread's view, the tile (cute/atom/mma_atom.hpp, copy_atom.hpp)."""

from __future__ import annotations

from math import prod
from typing import Any

from cute_viz.algebra import copy as _copy
from cute_viz.algebra import mma as _mma
from cute_viz.algebra.common import told_outside
from cute_viz.algebra.coords import get_flat_coord
from cute_viz.algebra.copy import ThrCopy, TiledCopy, as_tiled_copy
from cute_viz.algebra.inttuple import modes, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import ThrMMA, TiledMMA, as_tiled_mma
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import Unknown


def get_slice(tiled: Any, thread: int) -> Any:
    """One thread's view of a TiledMMA or a TiledCopy.

    Raises: AlgebraError for a thread that the tiling does not have, where its part would be drawn.

    >>> fma = _mma.MMA_Atom(Layout(1, 0), (1, 1, 1), *[Layout((1, 1), (0, 0))] * 3)
    >>> get_slice(_mma.make_tiled_mma(fma, (16, 16, 1)), 33).thr_vmnk
    (0, 1, 2, 0)
    """
    some = isinstance(thread, Unknown)  # the view of any thread
    if not some and (not isinstance(thread, int) or thread < 0):
        raise AlgebraError(f"get_slice needs a thread index, not {show(thread)}", hint="get_slice(tiled_mma, 0)")
    given = tiled
    if getattr(tiled, "tiling", "") == "tma":
        tiled = tiled.tiled  # of make_tma_copy
    if not isinstance(tiled, (TiledMMA, TiledCopy)):
        hint = "make_tma_copy makes a TiledCopy" if given is not tiled else "make_tiled_mma and make_tiled_copy make one"
        raise AlgebraError(f"get_slice needs a TiledMMA or a TiledCopy, not {show(given)}", hint=hint)
    if not some and thread >= tiled.thr_layout.size:
        words = f"thread {thread} is not in this {type(tiled).__name__} of {tiled.thr_layout.size} threads"
        if not told_outside(f"{words}: CuTe compiles it, and gives this"):
            raise AlgebraError(words)
    if isinstance(tiled, TiledCopy):
        return ThrCopy(tiled, thread)
    return ThrMMA(tiled, modes(get_flat_coord(tiled.thr_layout, thread)))


def get_thr_layout_vmnk(mma: object) -> Layout:
    """(thread of the atom, atom along M, along N, along K) -> thread index.

    >>> str(get_thr_layout_vmnk(parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")))
    '(_32,_2,_2,_1):(_1,_32,_64,_0)'
    """
    return as_tiled_mma(mma).thr_layout_vmnk


def tile_shape(tiled: object) -> tuple[int, ...]:
    """The extents of the tile: (M, N, K) of a TiledMMA, those of the tiler of a TiledCopy.

    >>> tile_shape(parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))"))
    (32, 16, 16)
    """
    return _copy.tile_of(as_tiled_copy(tiled)) if isinstance(tiled, (TiledCopy, ThrCopy)) else _mma.tile_shape(as_tiled_mma(tiled))


def tile_size(tiled: object, mode: int | None = None) -> int:
    """One extent of the tile, or the product of all: M x N x K of a TiledMMA.

    Raises: AlgebraError for a mode that the tile does not have.

    >>> mma = parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")
    >>> tile_size(mma, 0), tile_size(mma)
    (32, 8192)
    """
    extents = tile_shape(tiled)
    if mode is None:
        return prod(extents)
    if not 0 <= mode < len(extents):
        raise AlgebraError(f"the tile {show(extents)} has no mode {mode}")
    return extents[mode]
