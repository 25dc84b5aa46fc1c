"""Fragments step by step: the registers of a thread's part, and how a copy reads the registers of an MMA."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra import ops
from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import domain
from cute_viz.algebra.copy import as_tiled_copy, tiler_shape
from cute_viz.algebra.divide import zipped_divide
from cute_viz.algebra.inttuple import modes, show
from cute_viz.algebra.inverse import right_inverse
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import ThrMMA, TiledMMA, make_tiled_mma
from cute_viz.algebra.modes import get
from cute_viz.algebra.recast import upcast
from cute_viz.algebra.shapes import product_each
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import whole
from cute_viz.analysis.partition_steps import MODES, named
from cute_viz.analysis.steps import Step

FRAGMENTS = ("retile", "retile_S", "retile_D", *(f"{kind}_fragment_{x}" for kind in ("partition", "make") for x in "ABC"))
_COPY = ("CPY", "CPY_M", "CPY_K")
_FEW = 8  # registers that are told


def fragment_steps(name: str, operands: list[Any], result: Any) -> list[Step]:
    """The steps of an operation of FRAGMENTS with its result; none for operands that they are not told of.

    >>> text = "make_tiled_copy(Copy_Atom<UniversalCopy<uint64_t>, float>{}, (4,8), (2,2))"
    >>> copy, fragment = parse(text), Layout((1, 2, 4))
    >>> fragment_steps("retile_D", [copy, fragment], parse(f"retile_D({text}, (1,2,4))"))[-1].words
    'value 0, 1, 2, ... of the copy is register 0, 1, 2, 3, 4, 5, 6, 7'
    """
    if len(operands) != 2:
        return []
    first, second = operands
    return _retile(first, second, result) if name.startswith("retile") else _registers(name, first, second, result)


def _retile(copy: Any, fragment: Any, result: Any) -> list[Step]:
    tiled = as_tiled_copy(copy)
    plain = domain(fragment)
    if not isinstance(plain, Layout) or len(modes(plain.shape)) < 2:
        return []
    values = size(get(plain, 0))
    steps = named(
        fragment, ("MMA", "MMA_MN", "MMA_K"), f"the fragment has {values} values of one atom of the MMA in its first mode"
    )
    tile = product_each(tiler_shape(tiled.tiler_mn))
    by_place = composition(right_inverse(tiled.layout_tv), Layout(tiler_shape(tiled.tiler_mn)))
    threads = size(get(tiled.layout_tv, 0))
    blocks = upcast(by_place, threads * values)
    shape = product_each(domain(blocks).shape)
    own = size(get(tiled.layout_tv, 1))
    words = f"the copy's tile {show(tile)} has {own} values of each thread, which are {show(shape)} atoms of the MMA"
    steps.append(Step(words, blocks))
    words = "the fragment is cut into as many atoms as one tile of the copy has: ((values, atoms of a tile), rest)"
    steps.append(Step(words, zipped_divide(fragment, (values, *modes(shape)))))
    count = size(get(tiled.atom.layout_ref, 1))
    steps += named(
        result, _COPY, f"the values of a tile are taken {count} at a time, as {tiled.atom.name or 'the atom'} moves them"
    )
    return [*steps, _order(result)]


def _order(result: Any) -> Step:
    plain = domain(result)
    told = [int(n) for n in offsets(plain)[:_FEW]] if isinstance(plain, Layout) and size(plain) <= 1 << 12 else []
    dots = ", ..." if size(plain) > _FEW else ""
    return Step(f"value 0, 1, 2, ... of the copy is register {', '.join(map(str, told))}{dots}", result)


def _registers(name: str, mma: Any, layout: Any, result: Any) -> list[Step]:
    tiled = mma.tiled if isinstance(mma, ThrMMA) else mma
    side, result = name[-1], whole(result)
    if not isinstance(result, Layout) or not isinstance(domain(layout), (Layout, tuple)):
        return []
    part = layout
    steps: list[Step] = []
    if name.startswith("partition"):
        thread = mma if isinstance(mma, ThrMMA) else ops.find("get_slice").call([_tiled(tiled), 0])
        part = ops.find(f"partition_{side}").call([thread, layout])
        steps += named(part, MODES[side], f"partition_{side}: what one thread has of it")
    elif isinstance(layout, Layout):
        steps += named(layout, MODES[side], "what one thread has")
    steps += named(result, MODES[side], "registers of the same shape, the values of an atom first")
    return [*steps, Step(f"{size(result)} registers without holes", result)]


def _tiled(mma: Any) -> Any:
    return mma if isinstance(mma, TiledMMA) else make_tiled_mma(mma)
