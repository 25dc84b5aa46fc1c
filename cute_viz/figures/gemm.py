"""The layouts of one GEMM on a page: global tile, shared tile, fragments of A and B, accumulator, epilogue."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, domain
from cute_viz.algebra.copy import TiledCopy, tile_of
from cute_viz.algebra.gemm import Gemm
from cute_viz.algebra.inttuple import X, modes, product, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import tile_shape
from cute_viz.algebra.slicing import slice_
from cute_viz.figures.copy import copy
from cute_viz.figures.grid import grid
from cute_viz.figures.mma import mma
from cute_viz.figures.model import Figure
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.page import page


def gemm(obj: Gemm, options: FigureOptions) -> Figure:
    """The page of a Gemm. Each panel shows the smallest tile that repeats; its heading says how often it does.

    >>> from cute_viz import parse
    >>> from cute_viz.algebra.gemm import make_gemm
    >>> tiled = parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")
    >>> figure = gemm(make_gemm(tiled, (64, 64, 64), Layout((8, 64), (64, 1))), FigureOptions())
    >>> figure.panels[0].caption
    'shared tile of A and B (one of 8 × 1)'
    """
    plain = replace(options, title=None, operand=None)
    m, n, k = obj.tile
    parts: list[tuple[str, Figure]] = []
    for name, side, extents in (("A", obj.g2s_a, (m, k)), ("B", obj.g2s_b, (n, k))):
        if side is not None and not (name == "B" and side == obj.g2s_a):
            both = " and B" if name == "A" and side == obj.g2s_b else ""
            heading = f"global tile of {name}{both}, by the copy to shared memory{_times(tile_of(side), extents)}"
            parts.append((heading, _named(copy(side, replace(plain, operand="S")), name + ("B" if both else ""))))
    for name, smem, extents in (("A", obj.smem_a, (m, k)), ("B", obj.smem_b, (n, k))):
        if not (name == "B" and smem == obj.smem_a):
            both = " and B" if name == "A" and smem == obj.smem_b else ""
            unit = unit_of(smem)
            shape = tuple(product(mode) for mode in modes(domain(unit).shape))
            parts.append(
                (f"shared tile of {name}{both}{_times(shape, extents)}", _named(grid(unit, plain), name + ("B" if both else "")))
            )
    for name, ldsm, extents in (("A", obj.s2r_a, (m, k)), ("B", obj.s2r_b, (n, k))):
        if ldsm is not None:
            heading = f"{name} from shared memory to registers: who reads{_times(tile_of(ldsm), extents)}"
            parts.append((heading, _named(copy(ldsm, replace(plain, operand="S")), name)))
    tm, tn, tk = tile_shape(obj.mma)
    for name, part, whole in (("A", (tm, tk), (m, k)), ("B", (tn, tk), (n, k)), ("C", (tm, tn), (m, n))):
        what = "the accumulator" if name == "C" else f"fragments of {name} in registers"
        parts.append((f"{what}{_times(part, whole)}", mma(obj.mma, replace(plain, operand=name))))
    if isinstance(obj.epilogue, TiledCopy):
        heading = f"epilogue, by the copy to global memory{_times(tile_of(obj.epilogue), (m, n))}"
        parts.append((heading, copy(obj.epilogue, replace(plain, operand="D"))))
    title = options.title or f"GEMM {m} × {n} × {k} with {obj.mma.atom.name or 'an MMA atom'}"
    source = f"PermutationMNK {show(obj.mma.permutation_mnk)}, ThrLayoutVMNK {obj.mma.thr_layout_vmnk}, smem {obj.smem_a}"
    caption = "from global memory to registers and back: each panel is the smallest tile that repeats"
    return page(title, parts, 3, source, caption)


def _named(figure: Figure, operands: str) -> Figure:
    """The figure of a tile of A (M,K), of B (N,K), or of both."""
    rows = {"A": "M", "B": "N"}.get(operands, "M or N")
    panels = [
        replace(panel, row_ruler=replace(panel.row_ruler, title=rows), col_ruler=replace(panel.col_ruler, title="K"))
        for panel in figure.panels
    ]
    return replace(figure, panels=tuple(panels))


def _times(part: tuple[Any, ...], whole: tuple[int, ...]) -> str:
    """How often a part stands in the whole, in words."""
    counts = [b // a for a, b in zip(part, whole, strict=False)]
    return f" (one of {' × '.join(map(str, counts))})" if prod(counts) > 1 else ""


def unit_of(smem: Any) -> Any:
    """The first slice of a shared-memory layout with a pipeline mode; of a tile of many rows, its first swizzle atom's.

    >>> from cute_viz import parse
    >>> str(unit_of(parse("Sw<3,3,3> o 0 o ((8,8),64):((64,512),1)")).inner)
    '(8,64):(64,1)'
    """
    plain = domain(smem)
    shape = modes(plain.shape)
    if len(shape) > 2:
        smem = slice_((X, X, *[0] * (len(shape) - 2)), smem)
        plain = domain(smem)
        shape = modes(plain.shape)
    first = shape[0]
    if isinstance(smem, ComposedLayout) and isinstance(first, tuple) and len(first) > 1:  # (rows of the atom, atoms)
        inner = Layout((first[0], *shape[1:]), (modes(plain.stride)[0][0], *modes(plain.stride)[1:]))
        return replace(smem, inner=inner)
    return smem
