"""An operation step by step, as CuTe's documentation teaches it: words, layouts, the modes and elements of tiles and partitions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cute_viz.algebra import copy as copies
from cute_viz.algebra import mma as mmas
from cute_viz.algebra import ops
from cute_viz.algebra.common import Operation
from cute_viz.algebra.compose import composition
from cute_viz.algebra.composed import domain
from cute_viz.algebra.copy import ThrCopy, as_tiled_copy, tidfrg, tiler_shape
from cute_viz.algebra.divide import zipped_divide
from cute_viz.algebra.inttuple import modes, show
from cute_viz.algebra.inverse import right_inverse
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import ThrMMA, TiledMMA, make_tiled_mma, thrfrg
from cute_viz.algebra.modes import get
from cute_viz.algebra.operands import entered, is_mixed
from cute_viz.algebra.recast import upcast
from cute_viz.algebra.shapes import product_each
from cute_viz.algebra.slicing import dice_tuple
from cute_viz.algebra.static import unknowns
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor, check_like, whole
from cute_viz.algebra.tma_parts import instruction_order
from cute_viz.algebra.views import tiled_of
from cute_viz.analysis.algebra_steps import WRITERS, OperationSteps
from cute_viz.analysis.steps import Step
from cute_viz.analysis.tiling_steps import TILINGS, tiling_steps
from cute_viz.analysis.verdict import Verdict
from cute_viz.errors import AlgebraError, CuteVizError

PARTITIONS = ("local_tile", "local_partition", "tma_partition", *(f"partition_{operand}" for operand in "SDABC"))
_TOLD = 4  # elements that are told
_PROJECTED = "the projection {} leaves the mode at its X, here _, out of"
MODES = {"A": ("MMA", "MMA_M", "MMA_K"), "B": ("MMA", "MMA_N", "MMA_K"), "C": ("MMA", "MMA_M", "MMA_N")}
_MODES = ("CPY", "CPY_M", "CPY_K")
_COORDS = {"A": "(m, k)", "B": "(n, k)"}


def partition_steps(name: str, operands: list[Any], result: Any) -> list[Step]:
    """The steps of an operation of PARTITIONS with its result; none for other operands."""
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
        steps += named(result, _MODES, f"thread {thread.thr_idx}: its part")
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


def _tile(operands: list[object], result: object) -> list[Step]:
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
    """A step in words and a name for each mode of the result; those behind the named ones are `rest`."""
    plain = domain(result)
    steps = [Step(words)]
    if not isinstance(plain, Layout) or not isinstance(plain.shape, tuple):
        return steps
    for n, (shape, stride) in enumerate(zip(modes(plain.shape), modes(plain.stride), strict=True)):
        name = names[n] if n < len(names) else "rest"
        steps.append(Step(f"  mode {n} is {name}: {size(Layout(shape))} with {show(shape)}:{show(stride)}"))
    return steps


def _begins(who: str, result: object, coordinates: object, names: str) -> Step:
    """The first elements in words, as far as they are known."""
    try:
        return _first(who, result, coordinates, names)
    except CuteVizError:  # of a run-time stride or index
        return Step(f"the part of {who}", result)


def _first(who: str, result: Any, coordinates: Any, names: str) -> Step:
    count = size(domain(result))
    dots = " ..." if count > _TOLD else ""
    told = ", ".join(show(result(n)) for n in range(min(count, _TOLD))) + dots
    if coordinates is None:
        return Step(f"{who} begins at offset {show(result(0))}: {told}", result)
    places = [show(coordinates(n)) for n in range(min(count, _TOLD))]
    begin = places[0].replace(",", ", ")
    words = f"{who} begins at {names} = {begin}: offsets {told}; its coordinates are {', '.join(places)}{dots}"
    return Step(words, result)


FRAGMENTS = ("retile", "retile_S", "retile_D", *(f"{kind}_fragment_{x}" for kind in ("partition", "make") for x in "ABC"))
_COPY = ("CPY", "CPY_M", "CPY_K")
_FEW = 8  # registers that are told


def fragment_steps(name: str, operands: list[object], result: object) -> list[Step]:
    """The steps of an operation of FRAGMENTS with its result; none for operands that they are not told of."""
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
    tiled = tiled_of(mma)
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


def _tiled(mma: object) -> object:
    return mma if isinstance(mma, TiledMMA) else make_tiled_mma(mma)


DESCRIPTORS = ("make_gmma_desc", "make_umma_desc")


def explain(name: str, operands: list[object], template: tuple[object, ...] = ()) -> list[Step]:
    """The steps of an operation by its name; the last step holds the result, or the condition that failed. Integers keep the
    marks of static ones, and operands of both kinds are computed as CuTe does. template: the arguments in angle brackets, as in
    take<0,1>(A)."""
    operation = ops.find(name)
    operands = _fitting(operation.name, operation.kinds, operands)
    if operation.name in DESCRIPTORS:
        from cute_viz.analysis.descriptor_steps import descriptor_steps

        return descriptor_steps(operation.name, *operation.fitted(operands, template)[0])
    unknown = next(unknowns(tuple(operands)), None) is not None
    given = entered(operation.name, operands)
    told = OperationSteps(operation.name, given is not operands or is_mixed(operands))
    failure: CuteVizError | None = None
    try:
        steps = _steps(operation, operands, given, told, template)
    except CuteVizError as error:
        steps, failure = [], error
    try:
        result = operation.call(operands, template)
    except AlgebraError:
        if failure is None or unknown or not told.steps:
            raise
        return [*told.steps, Step(f"this fails: {failure.message}")]
    if not steps:
        return [Step(f"{Operation(operation.name, tuple(operands), template)}: {operation.summary}", result)]
    if steps[-1].value == result or show(steps[-1].value) == show(result):  # less the marks of static integers
        return [*steps[:-1], Step(steps[-1].words, result, steps[-1].title)]
    return [*steps, Step("the result", result)]


_OF_RESULTS = ((PARTITIONS, partition_steps), (FRAGMENTS, fragment_steps), (TILINGS, tiling_steps))  # told with their result


def _steps(
    operation: ops.Op, operands: list[object], given: list[object], told: OperationSteps, template: tuple[object, ...]
) -> list[Step]:
    """The steps of an operation that has any. Raises: AlgebraError where a condition fails, behind what was told so far."""
    write = next((write for names, write in _OF_RESULTS if operation.name in names), None)
    if write is not None:
        steps = write(operation.name, operation.fitted(given, template)[0], operation.call(operands, template))
        return [replace(step, value=told.left(step.value)) for step in steps]
    if operation.name in WRITERS and not template:
        told.write(*operation.fitted(given)[0])
    return told.steps


def _fitting(name: str, kinds: str, operands: list[Any]) -> list[object]:
    """The operands as an operation explains them: tensors where it asks for tensors, the layouts of tensors elsewhere."""
    if name.endswith("_like"):  # for which it does not matter where a tensor begins
        for x in operands:
            check_like(x)
        operands = [x.layout if isinstance(x, Tensor) and x.swizzle is None else x for x in operands]
    kept = [kinds[n : n + 1] == "U" or not isinstance(x, Tensor) or x.pointer.space == "tmem" for n, x in enumerate(operands)]
    return [x if keep else x.whole for x, keep in zip(operands, kept, strict=True)]


def steps_of_verdict(found: Verdict) -> list[Step]:
    """A verdict in sentences."""
    times = "1 instruction" if found.count == 1 else f"{found.count} instructions"
    out = [Step(f"CuTe accepts it: {times} per thread, {found.instruction}")]
    if found.common is not None:
        out.append(Step(f"max_common_vector is {found.common}: this many elements are contiguous in both source and destination"))
    return [*out, *(Step(f"  {reason}") for reason in found.reasons)]
