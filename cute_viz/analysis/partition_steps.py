"""Tiles and partitions step by step: the names of their modes, and the first elements of the thread in words."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra import copy as copies
from cute_viz.algebra import mma as mmas
from cute_viz.algebra import ops
from cute_viz.algebra.composed import domain
from cute_viz.algebra.copy import ThrCopy, tidfrg
from cute_viz.algebra.divide import zipped_divide
from cute_viz.algebra.inttuple import modes, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import ThrMMA, thrfrg
from cute_viz.algebra.shapes import product_each
from cute_viz.algebra.slicing import dice_tuple
from cute_viz.algebra.tensor import whole
from cute_viz.algebra.tma_parts import instruction_order
from cute_viz.analysis.steps import Step
from cute_viz.errors import CuteVizError

PARTITIONS = ("local_tile", "local_partition", "tma_partition", *(f"partition_{operand}" for operand in "SDABC"))
_FEW = 4  # elements that are told
_PROJECTED = "the projection {} leaves the mode at its X, here _, out of"
MODES = {"A": ("MMA", "MMA_M", "MMA_K"), "B": ("MMA", "MMA_N", "MMA_K"), "C": ("MMA", "MMA_M", "MMA_N")}
_COPY = ("CPY", "CPY_M", "CPY_K")
_COORDS = {"A": "(m, k)", "B": "(n, k)"}


def partition_steps(name: str, operands: list[Any], result: Any) -> list[Step]:
    """The steps of an operation of PARTITIONS with its result; none for other operands.

    >>> steps = partition_steps("local_partition", [Layout((8, 8), (8, 1)), Layout((2, 4), (4, 1)), 5], parse(
    ...     "local_partition((8,8):(8,1), (2,4):(4,1), 5)"))
    >>> steps[-1].words
    'thread 5 begins at (m, n) = (1, 1): offsets 9, 25, 41, 57 ...; its coordinates are (1,1), (3,1), (5,1), (7,1) ...'
    """
    if name == "local_tile":
        return _tile(operands, result) if len(operands) in (3, 4) else []
    if name == "local_partition":
        return _local(operands, result) if len(operands) in (3, 4) else []
    if name == "tma_partition":
        return _of_tma(operands, result)
    side = name.rpartition("_")[2]
    thread, layout = operands[:2]
    steps: list[Step] = []
    identity = ops.find("make_identity_layout").call([product_each(domain(layout).shape)])
    if isinstance(thread, ThrCopy):
        steps.append(_divided(layout, thread.tiled.tiler_mn, "the copy's tile"))
        words = "each tile as (thread, (values of an atom, of further atoms), rest), by the TV layout of the copy"
        steps.append(Step(words, tidfrg(thread.tiled, side, layout)))
        steps += named(result, _COPY, f"thread {thread.thr_idx}: its part")
        coordinates = copies.partition(thread, side, identity)
        return [*steps, _begins(f"thread {thread.thr_idx}", result, coordinates, "(m, k)")]
    if isinstance(thread, ThrMMA):
        words = "cut into atoms, each as ((thread of the atom, atoms along the modes), (values, rest))"
        steps.append(Step(words, thrfrg(thread.tiled, side, layout)))
        who = f"the thread (V,M,N,K) = {show(thread.thr_vmnk)}"
        steps += named(result, MODES[side], f"{who}: its part")
        return [*steps, _begins(who, result, mmas.partition(thread, side, identity), _COORDS.get(side, "(m, n)"))]
    return []


def _divided(layout: Any, tiler: Any, what: str) -> Step:
    return Step(f"cut into tiles by {what} {show(tiler)}: ((tile), (rest))", zipped_divide(layout, tiler))


def _tile(operands: list[Any], result: Any) -> list[Step]:
    layout, tiler, coord, *more = operands
    steps: list[Step] = []
    if more and isinstance(more[0], tuple):
        tiler, coord = dice_tuple(more[0], tiler), dice_tuple(more[0], coord)
        words = f"{_PROJECTED.format(show(more[0]))} tiler and coordinate"
        steps.append(Step(f"{words}: {show(operands[1])} is {show(tiler)}, {show(operands[2])} is {show(coord)}"))
    steps.append(_divided(layout, tiler, "the tiler"))
    rank = len(tiler) if isinstance(tiler, tuple) else 1
    names = ("BLK_M", "BLK_N", "BLK_K")[:rank] if rank < 4 else ()
    return [*steps, *named(result, names, f"the tile {show(coord)} of the rest"), _begins("the tile", result, None, "")]


def _local(operands: list[Any], result: Any) -> list[Step]:
    layout, tile, index, *more = operands
    if not isinstance(tile, Layout) or not isinstance(index, int):
        return []
    steps: list[Step] = []
    if more and isinstance(more[0], tuple):
        tile = ops.find("dice").call([more[0], tile])
        steps.append(Step(f"{_PROJECTED.format(show(more[0]))} the threads: {show(operands[1])} is {show(tile)}"))
    steps.append(_divided(layout, product_each(tile.shape), "the shape of the threads"))
    identity = ops.find("make_identity_layout").call([product_each(domain(layout).shape)])
    who = f"thread {show(index)}"
    steps += named(result, ("THR_M", "THR_N", "THR_K"), f"{who} takes its element of every tile")
    try:
        return [*steps, _first(who, result, ops.find("local_partition").call([identity, tile, index]), "(m, n)")]
    except CuteVizError:  # of a run-time stride or index
        return [*steps, Step(f"the part of {who}", result)]


def _of_tma(operands: list[Any], result: Any) -> list[Step]:
    """The order in which an instruction takes the tile, and both parts in it."""
    tma, cta, ctas, smem, _ = operands
    cut, moved = instruction_order(tma, cta, ctas, smem)
    steps = [Step("the tile by addresses of shared memory, cut into instructions: (element, instruction) to index", cut)]
    if size(ctas) > 1:
        steps.append(Step(f"  CTA {show(cta)} of {size(ctas)} moves a part of each instruction, from element {show(moved)} on"))
    for part, words in zip(result, ("the coordinates of global memory in that order", "shared memory in that order"), strict=True):
        first, *more = named(whole(part), ("TMA",), words)
        steps += [Step(first.words, whole(part)), *more]
    return [*steps, Step("both parts, of global memory and of shared memory", result)]


def named(result: Any, names: tuple[str, ...], words: str) -> list[Step]:
    """A step in words and a name for each mode of the result; those behind the named ones are `rest`.

    >>> [step.words for step in named(Layout((2, 3, 4)), ("BLK_M", "BLK_N"), "the tile")][1:]
    ['  mode 0 is BLK_M: 2 with 2:1', '  mode 1 is BLK_N: 3 with 3:2', '  mode 2 is rest: 4 with 4:6']
    """
    plain = domain(result)
    steps = [Step(words)]
    if not isinstance(plain, Layout) or not isinstance(plain.shape, tuple):
        return steps
    for n, (shape, stride) in enumerate(zip(modes(plain.shape), modes(plain.stride), strict=True)):
        name = names[n] if n < len(names) else "rest"
        steps.append(Step(f"  mode {n} is {name}: {size(Layout(shape))} with {show(shape)}:{show(stride)}"))
    return steps


def _begins(who: str, result: Any, coordinates: Any, names: str) -> Step:
    """The first elements in words, as far as they are known."""
    try:
        return _first(who, result, coordinates, names)
    except CuteVizError:  # of a run-time stride or index
        return Step(f"the part of {who}", result)


def _first(who: str, result: Any, coordinates: Any, names: str) -> Step:
    count = size(domain(result))
    dots = " ..." if count > _FEW else ""
    told = ", ".join(show(result(n)) for n in range(min(count, _FEW))) + dots
    if coordinates is None:
        return Step(f"{who} begins at offset {show(result(0))}: {told}", result)
    places = [show(coordinates(n)) for n in range(min(count, _FEW))]
    begin = places[0].replace(",", ", ")
    words = f"{who} begins at {names} = {begin}: offsets {told}; its coordinates are {', '.join(places)}{dots}"
    return Step(words, result)
