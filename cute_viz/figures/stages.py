"""The stages of a kernel: lanes, where TMA loads a tile that ends in an accumulator; else a numbered page of their pictures."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Any

from cute_viz.algebra.composed import as_layout, is_layout
from cute_viz.algebra.copy import Copy_Atom, CopyOp, ThrCopy, TiledCopy
from cute_viz.algebra.descriptor import DescriptorTensor, SmemDescriptor
from cute_viz.algebra.gemm import Stages
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tma import TmaCopy
from cute_viz.algebra.tmem import WARP, TensorMemory
from cute_viz.algebra.views import atom_of, tiled_of
from cute_viz.errors import FigureError
from cute_viz.figures import build
from cute_viz.figures.gemm import unit_of
from cute_viz.figures.journey import LANES, PAPER, in_tensor_memory, journey
from cute_viz.figures.lane_rows import GREY
from cute_viz.figures.lanes import held, instruction_of, is_lanes
from cute_viz.figures.machine import Place
from cute_viz.figures.model import HOLE, Arrow, Figure, Legend, Panel
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.page import page
from cute_viz.figures.tmem import held_by, rows_of_lanes
from cute_viz.values.instruction import Instruction


def stages(obj: Stages, options: FigureOptions) -> Figure:
    """The stages in lanes; where these have no load or no accumulator, as a page with a heading for each."""
    obj = settled(obj)
    if (lanes := _lanes(obj, options, ())) is not None:
        return lanes
    plain = replace(options, title=None)
    shown = [unit_of(part) if is_layout(part) else part for part in obj.parts]
    figures = [build(part, plain) for part in shown]
    parts = [(f"{n + 1}. {_heading(part)}", figure) for n, (part, figure) in enumerate(zip(obj.parts, figures, strict=True))]
    drawn = page(options.title or "The stages of a kernel", parts, 2, str(obj), "In the order in which a kernel uses them")
    ends = [*accumulate(len(figure.panels) for figure in figures)]
    return replace(drawn, arrows=tuple([Arrow(end - 1, end) for end in ends[:-1]]))


def follow(obj: Stages, options: FigureOptions) -> Figure:
    """The lanes with what one thread holds of C.

    Raises: FigureError for none or several threads, and for stages without an accumulator that threads hold.
    """
    if options.follow is None or len(options.follow) != 1:
        raise FigureError("`follow=` is one thread", hint="example: `follow=13`")
    thread, obj = options.follow.start, settled(obj)
    mine = frozenset(_held(obj, thread))
    lanes = _lanes(obj, options, mine)
    if lanes is None:
        raise FigureError("these stages have no TMA load, so no row can be followed", hint="leave out `follow=`")
    rows = ",".join(map(str, sorted({m for m, _ in mine})))
    facts = {"thread": thread, "warp": thread // WARP, "lane": thread % WARP, "rows of C": rows}
    return replace(lanes, facts=facts)


def _lanes(obj: Stages, options: FigureOptions, mine: Collection[Place]) -> Figure | None:
    """The lanes, with the bits of the first descriptor below; None of stages without a load, or without an accumulator."""
    plain = replace(options, title=None, follow=None)
    thread = options.follow.start if options.follow else None
    found = journey(obj, next((hues for part in obj.parts if (hues := _hues(part, plain))), {}), mine, thread)
    if found is None:
        return None
    described = next((part for part in obj.parts if isinstance(part, (SmemDescriptor, DescriptorTensor))), None)
    if described is not None:
        drawn = build(described, plain)
        bits = next(panel for panel in drawn.panels if "bit" in panel.data)
        paints, legend = _fields(drawn, bits)
        caption = f"The descriptor of {obj.names[0] if obj.names else 'A'}: {bits.caption.rpartition(': ')[2]}"
        bits = replace(bits, caption=caption, paints=paints, legends=(1,), place=(1, 0))
        found = replace(found, legends=(*found.legends, legend), panels=(*found.panels, bits))
    words = f"{options.title}. {found.caption}" if options.title else found.caption
    return replace(found, caption=words, description=f"{found.title}. {words}. {obj}.")


def settled(obj: Stages) -> Stages:
    """The stages, a shape among them as its layout, a copy of tensor memory as its instruction."""
    parts = map(as_layout, obj.parts)
    copies = (Copy_Atom, TiledCopy, ThrCopy)
    return replace(obj, parts=tuple(instruction_of(x) if isinstance(x, copies) and _op(x).lanes else x for x in parts))


def _op(obj: Copy_Atom | TiledCopy | ThrCopy) -> Instruction:
    tiled = tiled_of(obj)
    instruction: Instruction = atom_of(tiled).instruction
    return instruction


SHARED = "the tile in shared memory"


def _hues(part: Any, options: FigureOptions) -> Mapping[int, int]:
    """The warp of each row of an accumulator that threads hold: that of its first column; of any other part nothing."""
    for _, tensor in in_tensor_memory(part)[:1]:
        return {row: lane // WARP for lane, rows in sorted(rows_of_lanes(tensor).items(), reverse=True) for row in rows}
    if _in_registers(part) is None:
        return {}
    figure = build(part, replace(options, operand="C", part=True))
    firsts = figure.panels[0].paints[:: figure.panels[0].cols]
    return {row: figure.paints[p].hue for row, p in enumerate(firsts) if p != HOLE and figure.paints[p].hue >= 0}


def _heading(part: Any) -> str:
    """What a stage does, in words."""
    if isinstance(part, TmaCopy):
        return "shared to global memory by TMA" if part.op.instruction.home("S") == "smem" else "global to shared memory by TMA"
    if isinstance(part, (SmemDescriptor, DescriptorTensor)):
        return f"{part.tensor.name or 'the operand'} as the instruction sees it"
    if isinstance(part, (Tensor, TensorMemory)):
        return "the accumulator in tensor memory"
    if isinstance(part, CopyOp):
        return "registers to tensor memory" if "STORE" in part.name else "tensor memory to registers"
    if isinstance(part, (MMA_Atom, TiledMMA, ThrMMA)):
        return "the accumulator in registers" if _in_registers(part) else "the MMA of one thread"
    return "the epilogue's copy" if isinstance(part, TiledCopy) else SHARED


def _fields(figure: Figure, panel: Panel) -> tuple[tuple[int, ...], Legend]:
    """The bits of a descriptor without hues, its fields white and gray in turns; bits of no field are hatched."""
    of_bits = panel.data["field"]
    turn = {name: (PAPER, GREY)[n % 2] for n, name in enumerate(dict.fromkeys(name for name in of_bits[::-1] if name))}
    told = {of_bits[panel.paints.index(e.paint)]: e for e in figure.legends_of(panel)[0].entries if e.paint in panel.paints}
    entries = tuple(replace(told[name], paint=turn[name]) for name in turn if name in told)
    return tuple(HOLE if name is None else turn[name] for name in of_bits), Legend("fields of the descriptor, from bit 0", entries)


def _held(obj: Stages, thread: int) -> set[Place]:
    """The elements (m,n) of C that a thread holds; of tensor memory those of all its loads, of the first stage."""
    for part in obj.parts:
        if (atom := _in_registers(part)) is not None:
            threads, m = size(get(atom.layout_c, 0)), product(atom.shape_mnk[0])
            _check(thread, threads)
            return {(element % m, element // m) for element in offsets(atom.layout_c)[thread::threads]}
    load = next((part for part in obj.parts if is_lanes(part) and "LOAD" in part.name), None)
    accumulator = next((tensor for part in obj.parts for _, tensor in in_tensor_memory(part)[:1]), None)
    if load is None or accumulator is None:
        raise FigureError("these stages have no accumulator that a thread holds", hint="leave out `follow=`")
    _check(thread, LANES)
    lanes = {lane + thread // WARP * WARP for (t, _), parts in held(load).items() if t == thread % WARP for lane, _, _ in parts}
    every, stages_ = held_by("C", accumulator), product(modes(accumulator.layout.shape)[3:] or 1)
    wide = (1 + max(n for _, n, _, _ in every.values())) // stages_
    return {(m, n) for (lane, _), (m, n, _, _) in every.items() if lane in lanes and n < wide}


def _in_registers(part: Any) -> MMA_Atom | None:
    """The atom of an MMA whose C threads hold; None of one whose C is in tensor memory, and of anything else."""
    tiled = tiled_of(part)
    atom = atom_of(tiled)
    return atom if isinstance(atom, MMA_Atom) and atom.instruction.home("C") == "rmem" else None


def _check(thread: int, threads: int) -> None:
    if not 0 <= thread < threads:
        raise FigureError(f"`follow={thread}`: there are {threads} threads", hint=f"0 to {threads - 1}")
