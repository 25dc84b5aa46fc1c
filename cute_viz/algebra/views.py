"""What a TiledMMA or TiledCopy makes of a tensor, one function for each of CuTe's names (cute/atom/mma_atom.hpp, copy_atom.hpp)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from cute_viz.algebra import copy as _copy
from cute_viz.algebra import mma as _mma
from cute_viz.algebra.common import told_outside
from cute_viz.algebra.composed import AnyLayout
from cute_viz.algebra.coords import get_flat_coord
from cute_viz.algebra.copy import ThrCopy, TiledCopy
from cute_viz.algebra.inttuple import modes, show
from cute_viz.algebra.layout import Layout, size
from cute_viz.algebra.mma import ThrMMA, TiledMMA
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import Unknown


def as_tiled_mma(x: Any) -> TiledMMA:
    """A TiledMMA: for a thread's view the whole one, for an atom its 1 x 1 x 1 tiling.

    Raises: AlgebraError for anything else.

    >>> from cute_viz import parse
    >>> tile_shape(as_tiled_mma(parse("SM80_16x8x16_F32F16F16F32_TN{}")))
    (16, 8, 16)
    """
    if isinstance(x, ThrMMA):
        return x.tiled
    if isinstance(x, _mma.MMA_Atom):
        return _mma.make_tiled_mma(x)
    if not isinstance(x, TiledMMA):
        raise AlgebraError(f"{show(x)} is not a TiledMMA", hint="make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")
    return x


def as_tiled_copy(x: Any) -> TiledCopy:
    """A TiledCopy: for a thread's view the whole one.

    Raises: AlgebraError for anything else.

    >>> from cute_viz import parse
    >>> copy = parse("make_tiled_copy(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, (16,2), (1,8))")
    >>> as_tiled_copy(ThrCopy(copy, 3)) == copy
    True
    """
    if isinstance(x, ThrCopy):
        return x.tiled
    if not isinstance(x, TiledCopy):
        raise AlgebraError(f"{show(x)} is not a TiledCopy", hint="make_tiled_copy(atom, (4,8), (1,4))")
    return x


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
    if getattr(type(tiled), "tiling", "") == "tma":
        tiled = tiled.tiled  # of make_tma_copy
    if not isinstance(tiled, (TiledMMA, TiledCopy)):
        hint = "make_tma_copy makes a TiledCopy" if given is not tiled else "make_tiled_mma and make_tiled_copy make one"
        raise AlgebraError(f"get_slice needs a TiledMMA or a TiledCopy, not {show(given)}", hint=hint)
    if not some and thread >= size(tiled.thr_layout):
        words = f"thread {thread} is not in this {type(tiled).__name__} of {size(tiled.thr_layout)} threads"
        if not told_outside(f"{words}: CuTe compiles it, and gives this"):
            raise AlgebraError(words)
    if isinstance(tiled, TiledCopy):
        return ThrCopy(tiled, thread)
    return ThrMMA(tiled, modes(get_flat_coord(tiled.thr_layout, thread)))


def _partition(
    kind: type, function: Callable[..., AnyLayout], tiled: str, operands: str
) -> Iterator[Callable[[Any, AnyLayout], AnyLayout]]:
    def of(operand: str) -> Callable[[Any, AnyLayout], AnyLayout]:
        def partition(thr: Any, layout: AnyLayout) -> AnyLayout:
            if not isinstance(thr, kind):
                raise AlgebraError(f"partition_{operand} needs one thread", hint=f"partition_{operand}(get_slice({tiled}, 0), A)")
            return function(thr, operand, layout)

        partition.__doc__ = f"The part of a tensor of {operand} that a thread of a {tiled} has, and its offset."
        return partition

    return map(of, operands)


partition_A, partition_B, partition_C = _partition(ThrMMA, _mma.partition, "tiled_mma", "ABC")
partition_S, partition_D = _partition(ThrCopy, _copy.partition, "tiled_copy", "SD")


def retile_S(copy: Any, layout: AnyLayout) -> AnyLayout:
    """A fragment of an MMA as the values of a copy, source or destination: (CPY,CPY_M,CPY_N,...).

    >>> from cute_viz import parse
    >>> mma = parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")
    >>> from cute_viz.algebra.make_copy import make_tiled_copy_B
    >>> copy = make_tiled_copy_B(parse("Copy_Atom<SM75_U32x1_LDSM_N, half_t>{}"), mma)
    >>> str(retile_S(copy, Layout(((2, 2), 4, 2))))
    '((2,2),4,2):((1,2),4,16)'
    """
    return _copy.retile(as_tiled_copy(copy), layout)


retile_D = retile_S


def _of(
    convert: Callable[[Any], Any], function: Callable[..., Any], operands: str, words: str, unary: bool = False
) -> Iterator[Any]:
    def of(operand: str) -> Callable[..., Any]:
        def one(tiled: Any) -> Any:
            return function(convert(tiled), operand)

        def two(tiled: Any, x: Any) -> Any:
            return function(convert(tiled), operand, x)

        made: Callable[..., Any] = one if unary else two
        made.__doc__ = words.format(operand)
        return made

    return map(of, operands)


_TV = "(thread, value) -> index into the column-major tile of {}."
partition_shape_A, partition_shape_B, partition_shape_C = _of(
    as_tiled_mma, _mma.partition_shape, "ABC", "The shape of a thread's part of {}."
)
thrfrg_A, thrfrg_B, thrfrg_C = _of(as_tiled_mma, _mma.thrfrg, "ABC", "A tensor of operand {} as (Thr,Frg); see algebra.mma.thrfrg.")
tidfrg_S, tidfrg_D = _of(as_tiled_copy, _copy.tidfrg, "SD", "A tensor on side {} as (Thr,(FrgV,FrgX),(RestM,RestN,...)).")
get_layoutA_TV, get_layoutB_TV, get_layoutC_TV = _of(as_tiled_mma, _mma.layout_tv, "ABC", _TV, unary=True)
get_layoutS_TV, get_layoutD_TV = _of(as_tiled_copy, _copy.layout_sd, "SD", _TV, unary=True)


def get_thr_layout_vmnk(mma: Any) -> Layout:
    """(thread of the atom, atom along M, along N, along K) -> thread index.

    >>> from cute_viz import parse
    >>> str(get_thr_layout_vmnk(parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")))
    '(_32,_2,_2,_1):(_1,_32,_64,_0)'
    """
    return as_tiled_mma(mma).thr_layout_vmnk


def tile_shape(tiled: Any) -> tuple[int, ...]:
    """The extents of the tile: (M, N, K) of a TiledMMA, those of the tiler of a TiledCopy.

    >>> from cute_viz import parse
    >>> tile_shape(parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))"))
    (32, 16, 16)
    """
    return _copy.tile_of(as_tiled_copy(tiled)) if isinstance(tiled, (TiledCopy, ThrCopy)) else _mma.tile_shape(as_tiled_mma(tiled))


def tile_size(tiled: Any, mode: int | None = None) -> int:
    """One extent of the tile, or the product of all: M x N x K of a TiledMMA.

    Raises: AlgebraError for a mode that the tile does not have.

    >>> from cute_viz import parse
    >>> mma = parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")
    >>> tile_size(mma, 0), tile_size(mma)
    (32, 8192)
    """
    from math import prod

    extents = tile_shape(tiled)
    if mode is None:
        return prod(extents)
    if not 0 <= mode < len(extents):
        raise AlgebraError(f"the tile {show(extents)} has no mode {mode}")
    return extents[mode]
