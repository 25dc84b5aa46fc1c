"""What a TiledMMA and a TiledCopy have alike, and copies of either (cute/atom/mma_atom.hpp, copy_atom.hpp)."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

from cute_viz.algebra import copy as _copy
from cute_viz.algebra import mma as _mma
from cute_viz.algebra.common import WARP, needed, refuse, told_outside
from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import as_layout
from cute_viz.algebra.copy import Copy_Atom, CopyOp, ThrCopy, TiledCopy, layout_sd, make_copy_atom
from cute_viz.algebra.inttuple import modes, show
from cute_viz.algebra.inverse import left_inverse
from cute_viz.algebra.layout import Layout, make_layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import ThrMMA, TiledMMA, as_tiled_mma, layout_tv
from cute_viz.algebra.modes import coalesce, filter_, get
from cute_viz.algebra.partition import make_layout_tv
from cute_viz.algebra.recast import upcast
from cute_viz.algebra.shapes import product_each
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tmem import WARP as LANES
from cute_viz.algebra.tmem import as_tmem, lane_stride
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
    return tiled.of_thread(thread)


def tiled_of(x: object) -> Any:
    """A copy or an MMA, of one thread's view of it the whole."""
    return x.tiled if isinstance(x, (ThrCopy, ThrMMA)) else x


def atom_of(x: Any) -> Any:
    """The atom of a copy or an MMA, however it is tiled."""
    tiled = tiled_of(x)
    return tiled.atom if isinstance(tiled, (TiledCopy, TiledMMA)) else tiled


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
    whole = tiled_of(tiled)
    return _copy.tile_of(whole) if isinstance(whole, TiledCopy) else _mma.tile_shape(as_tiled_mma(whole))


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


def make_tiled_copy_impl(atom: Copy_Atom, tv: Layout, tiler: object) -> TiledCopy:
    """A TiledCopy of a thread-value layout and its tile.

    Raises: AlgebraError for fewer threads or values than the atom has, or a number that is not a multiple of them.

    >>> from cute_viz.algebra.copy import CopyOp, make_copy_atom
    >>> op = CopyOp("UniversalCopy<uint32_t>", Layout(1, 0), *[Layout((1, 32), (0, 1))] * 3)
    >>> copy = make_tiled_copy_impl(make_copy_atom(op, 16), Layout((8, 4), (4, 1)), (4, 8))
    >>> str(copy.layout_tv), copy.tiler_mn
    ('(8,4):(4,1)', (4, 8))
    """
    needed(Copy_Atom, atom, "a tiled copy needs a copy atom", "example: Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}")
    if not isinstance(tv, Layout) or tv.rank != 2:
        refuse("make_tiled_copy", (tv,), "the TV layout must have two modes: threads and values")
    for n, what in enumerate(("thrs", "vals")):
        have, need = size(get(tv, n)), size(get(atom.layout_ref, n))
        if have % need:
            refuse(
                "make_tiled_copy", (tv,), f"TiledCopy uses too few {what} for selected CopyAtom: {have}, but the atom has {need}"
            )
    return TiledCopy(atom, tv, tiler)


def make_tiled_copy(atom: Copy_Atom, thr: object, val: object = None) -> TiledCopy:
    """Threads and their values laid over a tile: (m,n) -> thread, and (m,n) -> value of each.

    Raises: AlgebraError for layouts that together are not one-to-one; see make_tiled_copy_impl.

    >>> from cute_viz.algebra.copy import CopyOp, make_copy_atom
    >>> op = CopyOp("UniversalCopy<uint32_t>", Layout(1, 0), *[Layout((1, 32), (0, 1))] * 3)
    >>> copy = make_tiled_copy(make_copy_atom(op, 16), Layout((4, 8), (8, 1)), (1, 2))
    >>> copy.tiler_mn, str(copy.layout_tv)
    ((4, 16), '((8,4),2):((8,1),4)')
    """
    tiler, tv = make_layout_tv(_layout(thr), _layout(1 if val is None else val))
    return make_tiled_copy_impl(atom, tv, tiler)


def make_tiled_copy_operand(atom: Copy_Atom, mma: TiledMMA, operand: str) -> TiledCopy:
    """A copy of a TiledMMA's operand "A", "B" or "C", as its threads hold it (make_tiled_copy_A ...).

    Raises: AlgebraError for anything but a TiledMMA, and for an operand whose values per thread are not a multiple of the atom's.

    >>> mma = parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")
    >>> atom = parse("Copy_Atom<SM75_U32x2_LDSM_N, half_t>{}")
    >>> [make_tiled_copy_operand(atom, mma, operand).tiler_mn for operand in "AB"]
    [(32, 16), (16, 16)]
    """
    needed(TiledMMA, mma, f"make_tiled_copy_{operand} needs a TiledMMA")
    m, n, k = tile_shape(mma)
    if isinstance(atom, Copy_Atom) and atom.warp == WARP:  # of any machine, as UniversalCopy is: its threads are those of the MMA
        atom = replace(atom, warp=mma.atom.warp)
    return make_tiled_copy_impl(atom, layout_tv(mma, operand), {"A": (m, k), "B": (n, k), "C": (m, n)}[operand])


def make_tiled_copy_like(atom: Copy_Atom, tiled: object, operand: str) -> TiledCopy:
    """A copy whose reference is the source "S" or the destination "D" of another (make_tiled_copy_S, make_tiled_copy_D).

    Raises: AlgebraError for anything but a TiledCopy; see make_tiled_copy_impl.

    >>> copy = parse("make_tiled_copy(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, (16,2), (1,8))")
    >>> str(make_tiled_copy_like(parse("Copy_Atom<UniversalCopy<float>, half_t>{}"), copy, "D").layout_tv)
    '((16,2),(8,1)):((1,128),(16,0))'
    """
    tiled = needed(TiledCopy, tiled, f"make_tiled_copy_{operand} needs a TiledCopy")
    return make_tiled_copy_impl(atom, layout_sd(tiled, operand), tiled.tiler_mn)


def make_tiled_copy_C_atom(atom: Copy_Atom, mma: TiledMMA) -> TiledCopy:
    """The smallest copy that takes the accumulator apart: one atom's values, on a tile of the elements these cover.

    Raises: AlgebraError for an atom of more values than a thread of the MMA holds.

    >>> mma = parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (1,1,1), (16,16,16))")
    >>> atom = parse("Copy_Atom<UniversalCopy<uint64_t>, float>{}")
    >>> from cute_viz.algebra.copy import tile_of
    >>> tile_of(make_tiled_copy_operand(atom, mma, "C")), tile_of(make_tiled_copy_C_atom(atom, mma))
    ((16, 16), (8, 8))
    """
    if not isinstance(mma, TiledMMA) or not isinstance(atom, Copy_Atom):
        raise AlgebraError("make_tiled_copy_C_atom needs a copy atom and a TiledMMA")
    whole = layout_tv(mma, "C")
    values = size(get(atom.layout_src, 1))
    if values > size(get(whole, 1)):
        refuse("make_tiled_copy_C_atom", (), f"the atom has {values} values, but a thread of the MMA has {size(get(whole, 1))}")
    tv = composition(whole, Layout((size(get(whole, 0)), values)))
    return _restrided(atom, tile_shape(mma)[:2], tv)


def make_cotiled_copy(atom: Copy_Atom, atom_tv: Layout, data: Layout) -> TiledCopy:
    """A copy of threads and values that are given as offsets of a data layout.

    Raises: AlgebraError for offsets that the data layout does not have, and composed layouts.

    >>> from cute_viz.algebra.copy import CopyOp, make_copy_atom
    >>> op = CopyOp("UniversalCopy<uint32_t>", Layout(1, 0), *[Layout((1, 32), (0, 1))] * 3)
    >>> copy = make_cotiled_copy(make_copy_atom(op, 16), Layout((32, 2), (2, 1)), Layout((8, 16), (16, 1)))
    >>> show(copy.tiler_mn), str(copy.layout_tv)
    ('(4:1,(8,2):(2,1))', '((8,4),2):((4,1),32)')
    """
    if not isinstance(atom_tv, Layout) or not isinstance(data, Layout):
        refuse("make_cotiled_copy", (atom_tv, data), "the data layout must be plain")
    inverse = make_layout(left_inverse(data), Layout(1, 0))
    tv = composition(inverse, atom_tv)
    reached = composition(make_layout(data, Layout(1, 0)), get(tv, 1))
    if coalesce(reached) != coalesce(get(atom_tv, 1)):
        refuse("make_cotiled_copy", (atom_tv, data), "The memory pointed to by AtomTVLayout does not exist in the DataLayout.")
    return _restrided(atom, product_each(data.shape), tv)


def _restrided(atom: Copy_Atom, extents: object, tv: object) -> TiledCopy:
    """A TiledCopy of the elements that a TV layout reaches in a tensor: the tiler that extracts them, and the TV layout on it."""
    extents = modes(extents)
    tiler = tuple(
        filter_(composition(Layout(extents, tuple(int(n == i) for n in range(len(extents)))), tv)) for i in range(len(extents))
    )
    tile_to_data = composition(Layout(extents), tiler)
    return make_tiled_copy_impl(atom, composition(left_inverse(tile_to_data), tv), tiler)


def _layout(x: object) -> Layout:
    layout = as_layout(x)
    if not isinstance(layout, Layout):
        raise AlgebraError(f"{show(x)} is not a layout of threads or values", hint="example: (16,8):(8,1)")
    return layout


def make_tmem_copy(op: object, tensor: object) -> TiledCopy:
    """The copy of four warps between registers and a tensor of tensor memory, each on its own 32 lanes.

    Raises: AlgebraError for an operation that reaches beyond the tensor, and for anything but a tensor in tensor memory.

    >>> tmem = Tensor(Pointer("tmem", "float", 0), Layout((128, 64), (65536, 1)))
    >>> str(make_tmem_copy(parse("SM100_TMEM_LOAD_32dp32b8x{}"), tmem).layout_tv)
    '((32,4),(8,32)):((0,1),(128,4))'
    """
    tmem = as_tmem("make_tmem_copy", tensor)
    return of_tmem(_atom("make_tmem_copy", op, tmem), tmem.layout)


def of_tmem(atom: Copy_Atom, data: Layout) -> TiledCopy:
    """The tiling of an atom that reaches tensor memory over a layout of it: four warps, or the threads that issue a tcgen05.cp."""
    assert atom.in_tmem is not None
    copied = atom.instruction.kind == "tcgen05.cp"
    threads = Layout(size(atom.thr_id), 0) if copied else Layout((LANES, 4), (0, LANES * lane_stride(atom.bits)))
    values: Any = coalesce(upcast(atom.in_tmem, atom.bits))
    return make_cotiled_copy(atom, make_layout(threads, values), data)


def make_utccp_copy(op: object, tensor: object) -> TiledCopy:
    """The copy of tcgen05.cp from shared memory to a tensor of tensor memory; one thread issues it.

    >>> tmem = Tensor(Pointer("tmem", "float", 0), Layout((128, 64), (65536, 1)))
    >>> str(make_utccp_copy(parse("SM100_UTCCP_128dp256bit_1cta{}"), tmem).layout_tv)
    '(1,(128,8)):(0,(1,128))'
    """
    tmem = as_tmem("make_utccp_copy", tensor)
    needed(CopyOp, op, "make_utccp_copy needs a copy operation", "SM100_UTCCP_4x32dp128bit_1cta{}")
    return of_tmem(_atom("make_utccp_copy", op, tmem), tmem.layout)


def _atom(name: str, op: object, tmem: Tensor) -> Copy_Atom:
    if not isinstance(op, CopyOp) or op.val_id is None:
        raise AlgebraError(f"{name} needs a copy of tensor memory, not {show(op)}", hint="example: SM100_TMEM_LOAD_32dp32b32x{}")
    return make_copy_atom(op, tmem.bits, str(tmem.pointer.type))
