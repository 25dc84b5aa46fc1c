"""The make_tiled_copy family: a TiledCopy of threads and values, of an operand of a TiledMMA, like another copy (copy_atom.hpp)."""

from __future__ import annotations

from dataclasses import replace

from cute_viz.algebra.common import WARP, refuse
from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import as_layout
from cute_viz.algebra.copy import Copy_Atom, TiledCopy, layout_sd
from cute_viz.algebra.inttuple import modes, show
from cute_viz.algebra.inverse import left_inverse
from cute_viz.algebra.layout import Layout, make_layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import TiledMMA, layout_tv, tile_shape
from cute_viz.algebra.modes import get
from cute_viz.algebra.partition import make_layout_tv
from cute_viz.algebra.shapes import product_each
from cute_viz.algebra.simplify import coalesce, filter_
from cute_viz.errors import AlgebraError


def make_tiled_copy_impl(atom: Copy_Atom, tv: Layout, tiler: object) -> TiledCopy:
    """A TiledCopy of a thread-value layout and its tile.

    Raises: AlgebraError for fewer threads or values than the atom has, or a number that is not a multiple of them.

    >>> from cute_viz.algebra.copy import CopyOp, make_copy_atom
    >>> op = CopyOp("UniversalCopy<uint32_t>", Layout(1, 0), *[Layout((1, 32), (0, 1))] * 3)
    >>> copy = make_tiled_copy_impl(make_copy_atom(op, 16), Layout((8, 4), (4, 1)), (4, 8))
    >>> str(copy.layout_tv), copy.tiler_mn
    ('(8,4):(4,1)', (4, 8))
    """
    if not isinstance(atom, Copy_Atom):
        raise AlgebraError(
            f"a tiled copy needs a copy atom, not {show(atom)}", hint="example: Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}"
        )
    if not isinstance(tv, Layout) or len(modes(tv.shape)) != 2:
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
    if not isinstance(mma, TiledMMA):
        raise AlgebraError(f"make_tiled_copy_{operand} needs a TiledMMA, not {show(mma)}")
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
    if not isinstance(tiled, TiledCopy):
        raise AlgebraError(f"make_tiled_copy_{operand} needs a TiledCopy, not {show(tiled)}")
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
