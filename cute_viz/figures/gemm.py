"""The layouts of one GEMM on a page: global tile, shared tile, fragments of A and B, accumulator, epilogue."""

from __future__ import annotations

from collections.abc import Sequence
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
from cute_viz.figures.findings import of_reuse
from cute_viz.figures.grid import grid
from cute_viz.figures.highlight import LOWEST, highlight_notes
from cute_viz.figures.mma import mma
from cute_viz.figures.model import HOLE, Arrow, Figure, Legend, LegendEntry, Paint
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.page import page
from cute_viz.figures.paint import receding
from cute_viz.figures.trim import transposed


def gemm(obj: Gemm, options: FigureOptions) -> Figure:
    """The page of a Gemm. Each panel shows the smallest tile that repeats; its heading says how often it does."""
    plain = replace(options, title=None, operand=None, part=True)
    m, n, k = obj.tile
    parts: list[tuple[str, Figure, str]] = []  # heading, figure, and the stage as `_FROM` calls it
    moved: dict[str, Figure] = {}  # the copies to shared memory
    for name, side, extents in (("A", obj.g2s_a, (m, k)), ("B", obj.g2s_b, (n, k))):
        if side is not None and not (name == "B" and side == obj.g2s_a):
            both = " and B" if name == "A" and side == obj.g2s_b else ""
            heading = f"{_how(side)}: {name}{both}, global to shared memory{_times(tile_of(side), extents)}"
            drawn = _named(copy(side, replace(plain, operand="S")), name + ("B" if both else ""))
            moved[name] = drawn
            parts.append((heading, drawn, f"load {name}{both[-1:]}"))
    for name, smem, extents in (("A", obj.smem_a, (m, k)), ("B", obj.smem_b, (n, k))):
        if not (name == "B" and smem == obj.smem_a):
            both = " and B" if name == "A" and smem == obj.smem_b else ""
            unit = unit_of(smem)
            shape = tuple(product(mode) for mode in modes(domain(unit).shape))
            drawn = _named(grid(unit, plain), name + ("B" if both else ""))
            source = moved.get(name, moved.get("A") if obj.g2s_a == obj.g2s_b else None)
            drawn = _filled(drawn, source) if source is not None else drawn
            drawn = _in_code(drawn, source) if options.color_by is None else drawn
            if highlight_notes(options):
                drawn = _lit(drawn, source)
            parts.append((f"shared memory: {name}{both}{_times(shape, extents)}", drawn, f"smem {name}{both[-1:]}"))
    tm, tn, tk = tile_shape(obj.mma)
    ways = (("A", obj.s2r_a, (tm, tk), (m, k)), ("B", obj.s2r_b, (tn, tk), (n, k)), ("C", None, (tm, tn), (m, n)))
    for name, ldsm, part, whole in ways:
        if ldsm is not None:
            heading = f"{_how(ldsm)}: {name}, shared memory to registers{_times(tile_of(ldsm), whole)}"
            parts.append((heading, _named(copy(ldsm, replace(plain, operand="S")), name), f"read {name}"))
        what = "accumulator C" if name == "C" else f"fragments of {name}"
        what += ", in registers"
        drawn = mma(obj.mma, replace(plain, operand=name))
        if name == "B":  # as it lies in memory: N down, K right
            drawn = replace(drawn, panels=tuple(map(transposed, drawn.panels)))
        parts.append((f"{what}{_times(part, whole)}", _named(drawn, name), f"mma {name}"))
    if isinstance(obj.epilogue, TiledCopy):
        heading = f"epilogue: C, registers to global memory{_times(tile_of(obj.epilogue), (m, n))}"
        drawn = _named(copy(obj.epilogue, replace(plain, operand="D")), "C")
        if drawn.panels[0].data == parts[-1][1].panels[0].data:  # each thread stores the tile that it holds
            parts[-1] = (f"{what}, as the epilogue stores it{_times((tm, tn), (m, n))}", *parts[-1][1:])
        else:
            parts.append((heading, drawn, "store C"))
    fragments = {stage: figure.panels[0] for _, figure, stage in parts if stage in ("mma A", "mma B")}
    title = options.title or of_reuse([figure.panels[0] for figure in moved.values()], fragments)
    title = title or f"GEMM {m} × {n} × {k} with {obj.mma.atom.name or 'an MMA atom'}"
    words = f"PermutationMNK {show(obj.mma.permutation_mnk)}, ThrLayoutVMNK {obj.mma.thr_layout_vmnk}, smem {obj.smem_a}"
    caption = "From global memory to registers and back: each panel is the smallest tile that repeats"
    drawn = page(title, [(f"{n}. {heading}", figure) for n, (heading, figure, _) in enumerate(parts, 1)], 4, words, caption)
    return replace(_one_legend(drawn), arrows=_arrows([stage for _, _, stage in parts]), notes=_notes(parts))


def _notes(parts: Sequence[tuple[str, Figure, str]]) -> tuple[str, ...]:
    """The notes of the stages, each once, with the operands that it is about."""
    about: dict[str, list[str]] = {}
    for _, figure, stage in parts:
        for note in figure.notes:
            said = note.partition(": ")[2] or note
            about.setdefault(said, []).extend(x for x in stage.split()[1] if said != note)
    names = {said: " and ".join(dict.fromkeys(operands)) for said, operands in about.items()}
    return tuple([f"{names[said]}: {said}" if names[said] else said for said in about])


_FROM = {"smem": ("load",), "read": ("smem",), "mma": ("read", "smem"), "store": ("mma",)}  # what a stage goes on from


def _arrows(stages: Sequence[str]) -> tuple[Arrow, ...]:
    """From each stage to the next of the same operand; to C from the fragments of A and B."""
    out = []
    for n, stage in enumerate(stages):
        what, of = stage.split()
        wanted, of = (("mma",), "AB") if stage == "mma C" else (_FROM.get(what, ()), of)
        for word in wanted:
            found = [m for m, other in enumerate(stages[:n]) if other.startswith(word) and {*of} & {*other.split()[1]}]
            out += [Arrow(m, n) for m in found]
            if found:
                break
    return tuple(out)


def _one_legend(figure: Figure) -> Figure:
    """The figure with one legend where hues mean the same in all panels: of what several warps hold, the first one's."""
    titles = [legend.title.partition(" (of ")[0].removesuffix(LOWEST) for legend in figure.legends]
    order = list(dict.fromkeys(titles))
    legends = []
    for title in order:
        entries = [entry for own, legend in zip(titles, figure.legends, strict=True) if own == title for entry in legend.entries]
        named: dict[tuple[int, int], LegendEntry] = {}
        for entry in sorted(entries, key=lambda entry: "," in entry.label):
            paint = figure.paints[entry.paint]
            named.setdefault((paint.hue, paint.shade), entry)
        several = LOWEST if len(named) < len({entry.label for entry in entries}) else ""
        legends.append(Legend(title + several, tuple(named.values())))
    panels = [
        replace(panel, legends=None if panel.legends is None else tuple(order.index(titles[n]) for n in panel.legends))
        for panel in figure.panels
    ]
    return replace(figure, legends=tuple(legends), panels=tuple(panels))


def _named(figure: Figure, operands: str) -> Figure:
    """The figure of a tile of A (M,K), of B (N,K), of both, or of C; the heading says the rest."""
    rows = {"A": "M", "B": "N"}.get(operands, "M or N")
    if operands == "C":
        return replace(figure, panels=tuple([replace(panel, caption="") for panel in figure.panels]))
    panels = [
        replace(panel, caption="", row_ruler=replace(panel.row_ruler, title=rows), col_ruler=replace(panel.col_ruler, title="K"))
        for panel in figure.panels
    ]
    return replace(figure, panels=tuple(panels))


def _how(tiled: TiledCopy) -> str:
    """The instruction of a copy, as PTX calls it; `copy` for others."""
    kind = tiled.atom.instruction.kind
    return "TMA" if kind == "cp.async.bulk.tensor" else kind if kind in ("cp.async", "ldmatrix", "stmatrix") else "copy"


def _filled(figure: Figure, source: Figure) -> Figure:
    """A tile of shared memory with the (thread, value) that fill each cell, in it or in a tile that repeats it, as a column."""
    (panel,) = figure.panels
    filled: list[list[tuple[int, int]]] = [[] for _ in panel.paints]
    for other in source.panels:
        several = dict(other.owners)
        for n, first in enumerate(zip(other.data["thread"], other.data["value"], strict=True)):
            if first[0] is not None:
                filled[n // other.cols % panel.rows * panel.cols + n % other.cols % panel.cols] += several.get(n, (first,))
    return replace(figure, panels=(replace(panel, data={**panel.data, "filled": tuple(map(tuple, filled))}),))


def _in_code(figure: Figure, source: Figure | None) -> Figure:
    """A tile of shared memory in the hues of the copy that fills it, those of the threads: the offsets are told by the labels."""
    (panel,) = figure.panels
    hues: dict[int, int] = {}  # of each thread
    for other in source.panels if source is not None else ():
        for thread, p in zip(other.data["thread"], other.paints, strict=True):
            if thread is not None and p != HOLE:
                hues.setdefault(thread, source.paints[p].hue)  # type: ignore[union-attr]
    paper = max(hues.values(), default=-1) + 1
    owners = panel.data.get("filled", ((),) * len(panel.paints))
    paints = [
        p if p == HOLE else hues.get(mine[0][0], paper) if mine else paper for p, mine in zip(panel.paints, owners, strict=True)
    ]
    legends: tuple[Legend, ...] = ()
    if source is not None and hues:
        told, whole = source.legends[0], source.paints
        own = [(whole[e.paint].hue, e) for e in told.entries if whole[e.paint].hue >= 0 and not whole[e.paint].faded]
        legends = (replace(told, entries=tuple(replace(e, paint=hue) for hue, e in own)),)
    panel = replace(panel, paints=tuple(paints), legends=None)
    return replace(figure, paints=(*map(Paint, range(paper)), Paint(-1)), legends=legends, panels=(panel,))


def _lit(figure: Figure, source: Figure | None) -> Figure:
    """A tile of shared memory with the elements lit that are lit in the copy that fills it; all else is faded. The tile repeats,
    so that an element of a later one is lit where it would stand in the first."""
    (panel,) = figure.panels
    lit: set[tuple[int, int]] = set()
    for other in source.panels if source is not None else ():
        cells = (n for n, p in enumerate(other.paints) if p != HOLE and not source.paints[p].faded)  # type: ignore[union-attr]
        lit |= {(n // other.cols % panel.rows, n % other.cols % panel.cols) for n in cells}
    paints, shown = receding(figure.paints, panel.paints, [divmod(n, panel.cols) in lit for n in range(len(panel.paints))])
    return replace(figure, paints=paints, panels=(replace(panel, paints=tuple(shown)),))


def _times(part: tuple[Any, ...], whole: tuple[int, ...]) -> str:
    """Of how many tiles a part is the first, in words."""
    count_ = prod(b // a for a, b in zip(part, whole, strict=False))
    return f", the first of {count_} tiles" if count_ > 1 else ""


def unit_of(smem: Any) -> Any:
    """The first slice of a shared-memory layout with a pipeline mode; of a tile of many rows, its first swizzle atom's."""
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
