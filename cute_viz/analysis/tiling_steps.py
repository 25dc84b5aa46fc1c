"""How a tiling comes about, step by step: a TiledCopy or a TV layout of threads and values, a TiledMMA of atoms."""

from __future__ import annotations

from math import prod
from typing import Any

from cute_viz.algebra.copy import TiledCopy, tiler_shape
from cute_viz.algebra.inttuple import modes, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import TiledMMA, tile_shape
from cute_viz.algebra.modes import get
from cute_viz.algebra.products import raked_product
from cute_viz.algebra.shapes import product_each
from cute_viz.algebra.static import clear_static
from cute_viz.analysis.steps import Step
from cute_viz.spelling import count

TILINGS = ("make_tiled_copy", "make_layout_tv", "make_tiled_mma")


def tiling_steps(name: str, operands: list[Any], result: Any) -> list[Step]:
    """The steps of an operation of TILINGS with its result; none for operands that they are not told of."""
    if isinstance(result, TiledMMA):
        return _of_atoms(result)
    thr, val = (*operands[-2:], Layout(1))[:2] if name == "make_layout_tv" else (*operands[1:], Layout(1))[:2]
    if not isinstance(thr, Layout) or not isinstance(val, Layout):
        return []
    tv = result.layout_tv if isinstance(result, TiledCopy) else result[1]
    tile = product_each(tiler_shape(result.tiler_mn) if isinstance(result, TiledCopy) else result[0])
    return [*_of_threads(thr, val, tv, tile), *_of_copy(result)]


def _of_threads(thr: Layout, val: Layout, tv: Layout, tile: object) -> list[Step]:
    """The raked product of threads and values, and its inverse."""
    words = f"raked_product: {size(thr)} threads, each with a block of {count(size(val), 'value')}; the tile is {_times(tile)}"
    raked = clear_static(raked_product(thr, val))
    steps = [Step(f"{words}, and a coordinate of it gives thread + {size(thr)} * value", raked)]
    words = f"its inverse is the TV layout, cut into {size(thr)} threads x {count(size(val), 'value')}"
    thread = min(1, size(thr) - 1)
    places = [int(tv((thread, value))) for value in range(min(4, size(val)))]
    rows = int(modes(tile)[0]) if isinstance(tile, tuple) else 0
    told = [f"({place % rows},{place // rows})" if rows else str(place) for place in places]
    dots = " ..." if size(val) > len(told) else ""
    plain = not isinstance(tile, tuple) or len(tile) == 2
    where = f"; thread {thread} has {', '.join(told)}{dots}" if plain else ""
    return [*steps, Step(f"{words}{where}", clear_static(tv))]


def _of_copy(result: object) -> list[Step]:
    """How often a thread issues the atom for one tile."""
    if not isinstance(result, TiledCopy):
        return []
    values, each = size(get(result.layout_tv, 1)), size(get(result.atom.layout_ref, 1))
    name = result.atom.name or "the atom"
    return [Step(f"{name} moves {count(each, 'value')} of a thread at once: {count(values // each, 'instruction')} for a tile")]


def _of_atoms(mma: TiledMMA) -> list[Step]:
    """The atoms side by side, and how often the tile repeats them."""
    atom = [int(extent) for extent in modes(mma.atom.shape_mnk)]
    threads, *atoms = [size(get(mma.thr_layout_vmnk, n)) for n in range(4)]
    covered = [extent * times for extent, times in zip(atom, atoms, strict=True)]
    who = "CTA" if mma.atom.instruction.issued else "thread"
    steps = [Step(f"one atom is {_times(atom)} (M x N x K), of {count(threads, who)}")]
    if prod(atoms) > 1:
        words = f"{_times(atoms)} atoms with {who}s of their own, {size(mma.thr_layout_vmnk)} in all, cover {_times(covered)}"
        layout = clear_static(mma.thr_layout_vmnk)
        steps.append(Step(f"{words}: ({who} of the atom, atom along M, N, K) to {who}", layout))
    tile = [int(extent) for extent in tile_shape(mma)]
    repeats = [extent // times for extent, times in zip(tile, covered, strict=True)]
    if prod(repeats) > 1:
        words = f"the permutation {show(mma.permutation_mnk)} makes the tile {_times(tile)}"
        steps.append(Step(f"{words}: each {who} has {_times(repeats)} atoms of it"))
    return steps


def _times(extents: object) -> str:
    return " x ".join(str(int(extent)) for extent in (extents if isinstance(extents, (list, tuple)) else (extents,)))
