"""The stages of a kernel on a page, numbered: from the tensor by TMA through shared memory and descriptors to the accumulator."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, as_layout
from cute_viz.algebra.copy import CopyOp, TiledCopy
from cute_viz.algebra.descriptor import DescriptorTensor, SmemDescriptor
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA
from cute_viz.algebra.staged import Stages
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tma import TmaCopy
from cute_viz.algebra.tmem import TensorMemory
from cute_viz.figures.gemm import unit_of
from cute_viz.figures.model import Arrow, Figure
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.page import page


def stages(obj: Stages, options: FigureOptions) -> Figure:
    """The page of the stages, a heading with a number each.

    >>> from cute_viz import parse
    >>> text = "stages(GMMA::Layout_K_SW128_Atom<half_t>{}, SM100_TMEM_LOAD_16dp64b1x{})"
    >>> [panel.caption[:33] for panel in stages(parse(text), FigureOptions()).panels[:2]]
    ['1. the tile in shared memory', '2. tensor memory to registers: te']
    """
    from cute_viz.figures import build

    plain = replace(options, title=None)
    parts = []
    for n, part in enumerate(map(as_layout, obj.parts)):
        own = replace(plain, operand="C") if isinstance(part, (MMA_Atom, TiledMMA)) else plain
        drawn = unit_of(part) if isinstance(part, (Layout, ComposedLayout)) else part
        parts.append((f"{n + 1}. {_heading(part)}", build(drawn, own)))
    title = options.title or "The stages of a kernel"
    drawn = page(title, parts, 2, str(obj), "In the order in which a kernel uses them")
    ends = [*accumulate(len(figure.panels) for _, figure in parts)]
    return replace(drawn, arrows=tuple([Arrow(end - 1, end) for end in ends[:-1]]))


SHARED = "the tile in shared memory"


def _heading(part: Any) -> str:
    """What a stage does, in words."""
    if isinstance(part, TmaCopy):
        return "shared to global memory by TMA" if "STORE" in part.op.name else "global to shared memory by TMA"
    if isinstance(part, (SmemDescriptor, DescriptorTensor)):
        return "the operand as the instruction sees it"
    if isinstance(part, (Tensor, TensorMemory)):
        return "the accumulator in tensor memory"
    if isinstance(part, CopyOp):
        return "registers to tensor memory" if "STORE" in part.name else "tensor memory to registers"
    if isinstance(part, (MMA_Atom, TiledMMA, ThrMMA)):
        return "the accumulator in registers"
    return "the epilogue's copy" if isinstance(part, TiledCopy) else SHARED
