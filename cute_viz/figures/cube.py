"""The cube of one MMA: A on the left, B on top, C on the right, with what one thread, or CTA, has of each, and what its C needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from cute_viz.algebra.gemm import Gemm
from cute_viz.algebra.inttuple import product
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, TiledMMA, as_tiled_mma, layout_tv, tile_shape
from cute_viz.algebra.modes import get
from cute_viz.algebra.table import offsets
from cute_viz.algebra.views import tiled_of
from cute_viz.errors import FigureError
from cute_viz.figures.memory import CTA, memory_of, owner
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel, Ruler, Shape
from cute_viz.figures.options import FigureOptions, check_cells

LABELED = 32  # extents up to which values are named
LONGEST = 2.2  # times that the longest side of the cube is as long as the shortest, at most
HUE = {"A": 0, "B": 3, "C": 2}


def cube(obj: Any, options: FigureOptions) -> Figure:
    """The three faces of an instruction or a tile, M x N x K. Raises: FigureError for anything but an MMA, and for a thread that
    it does not have."""
    obj = obj.mma if isinstance(obj, Gemm) else tiled_of(obj)
    if not isinstance(obj, (TiledMMA, MMA_Atom)):
        raise FigureError("the cube view needs an MMA", hint="example: SM80_16x8x16_F32F16F16F32_TN")
    tiled = as_tiled_mma(obj)
    m, n, k = tile_shape(tiled)
    check_cells(m * n + n * k + m * k, f"the tile {m} x {n} x {k}", options)
    op = tiled.atom.instruction
    places = {x: layout_tv(tiled, x) for x in "ABC"}
    threads = size(get(places["C"], 0))
    by_cta = owner(op) == CTA
    thread = options.thread[0] if options.thread else 0 if by_cta else min(5, threads - 1)
    if threads == 1 and by_cta and options.thread:
        raise FigureError("no thread holds an operand of this MMA, and there is one CTA", hint="leave out `thread=`")
    if thread >= threads:
        raise FigureError(f"there is no thread {thread} among {threads}", hint="`thread=0`")
    what = {x: memory_of(op, x) for x in "ABC"}
    held: dict[str, dict[tuple[int, int], int]] = {"A": {}, "B": {}, "C": {}}
    width = {"A": k, "B": k, "C": n}
    for x, rows in (("A", m), ("B", n), ("C", m)):
        values = offsets(places[x])
        width[x] = max(values) // rows + 1  # of A of AMD's sparse MMAs what is stored: half of K
        for v, place in enumerate(values[thread::threads]) if by_cta or not what[x] else ():
            held[x].setdefault((place % rows, place // rows), v)
    ms, ns = {r for r, _ in held["C"]}, {c for _, c in held["C"]}
    needed = {x: {(r, c) for r in lines for c in range(width[x])} for x, lines in (("A", ms), ("B", ns))} | {"C": set()}
    title = options.title or _finding(
        f"CTA {thread}" if by_cta else f"Thread {thread}", held, needed, what, size(tiled.atom.thr_id) if by_cta else 0
    )
    longest = max(m, n, k)
    units = {x: max(extent, longest / LONGEST) / extent for x, extent in (("m", m), ("n", n), ("k", k))}
    units = {x: unit * 16 / longest for x, unit in units.items()}
    stored = k / width["A"]
    words = f" of {k}" if stored != 1 else ""
    sides = (("A", "left", m, width["A"], ("k", "m")), ("B", "top", k, n, ("n", "k")), ("C", "right", m, n, ("n", "m")))
    panels = []
    for x, face, rows, cols, (across, down) in sides:
        turn = x == "B"  # its tile is (N,K), drawn K down
        mine = {(c, r) if turn else (r, c): v for (r, c), v in held[x].items()}
        wanted = {(c, r) if turn else (r, c) for r, c in needed[x]}
        panels.append(
            _face(x, face, rows, cols, mine, wanted, (units[across] * (stored if x == "A" else 1), units[down]), by_cta, words)
        )
    who = f"CTA {thread} has" if by_cta else f"thread {thread} holds"
    entries = [LegendEntry(3 * n + 2, f"{x}: {who} it") for n, x in enumerate("ABC") if held[x]]
    entries += [LegendEntry(3 * n + 1, f"{x}: its C needs it") for n, x in enumerate("AB") if needed[x] - held[x].keys()]
    caption = f"{tiled.atom.name or 'An MMA'}: M = {m}, N = {n}, K = {k}; A on the left, B on top, C on the right"
    paints = [Paint(HUE[x], shade, 4, faded=shade == 3) for x in "ABC" for shade in (3, 2, 0)]
    return Figure(
        kind="cube",
        title=title,
        source=str(tiled.atom.name or tiled.atom),
        caption=caption,
        description=f"{title}. {caption}. C needs rows {sorted(ms)} of A and columns {sorted(ns)} of B.",
        paints=tuple(paints),
        legends=(Legend("hue: the operand", tuple(entries)),),
        panels=tuple(panels),
        facts={
            "CTAs" if by_cta else "threads": product(size(tiled.thr_layout_vmnk)),
            **{f"values of {x}": len(held[x]) for x in "ABC"},
        },
        flow="row",
    )


def _finding(
    who: str,
    held: Mapping[str, Mapping[tuple[int, int], int]],
    needed: Mapping[str, Collection[tuple[int, int]]],
    what: Mapping[str, str],
    ctas: int,
) -> str:
    """How much of what C needs its holder has; of CTAs, of what it has nothing elsewhere, which memory has it."""
    has = {x: sum(cell in held[x] for cell in needed[x]) for x in "AB"}
    if ctas == 1:
        together = f"A and B are in {what['A']}" if what["A"] == what["B"] else f"A is in {what['A']}, B in {what['B']}"
        return f"No thread holds an operand: {together}, C in {what['C']}"
    if ctas:
        parts = [f"{_share(has[x], len(needed[x]))} of the {x}" for x in "AB"]
        return f"{who} has {' and '.join(parts)} elements that its C needs"
    parts = [f"{has[x] or 'none'} of the {len(needed[x])} {x}" for x in "AB" if not what[x]]
    stay = [f"{x} stays in {what[x]}" for x in "AB" if what[x]]
    if what["A"] == what["B"] and stay:
        stay = [f"A and B stay in {what['A']}"]
    first = (
        f"{who} holds {' and '.join(parts)} elements that its C needs" if parts else f"{who} holds {len(held['C'])} elements of C"
    )
    return "; ".join([first, *stay])


def _share(part: int, whole: int) -> str:
    """A part of a whole in words."""
    return {whole: "all", whole / 2: "half"}.get(part, f"{part} of {whole}")


def _face(
    x: str,
    face: str,
    rows: int,
    cols: int,
    held: dict[tuple[int, int], int],
    needed: Collection[tuple[int, int]],
    unit: tuple[float, float],
    plain: bool,
    stored: str,
) -> Panel:
    """A face with its cells; plain: without the numbers of values; stored: words behind its K."""
    cells = [(r, c) for r in range(rows) for c in range(cols)]
    first = 3 * "ABC".index(x)
    small = max(rows, cols) <= LABELED and not plain
    corner = {"left": (0.09 * cols, 0.9 * rows), "top": (0.85 * cols, 0.12 * rows), "right": (0.88 * cols, 0.9 * rows)}[face]
    edges = {
        "left": ((cols / 2, rows * 1.05, f"K = {cols}{stored}", "end"),),
        "right": ((cols / 2, rows * 1.05, f"N = {cols}", "start"), (cols * 1.03, rows / 2, f"M = {rows}", "start")),
    }
    shapes = [Shape("text", ((a, b),), words, f"muted {anchor}") for a, b, words, anchor in edges.get(face, ())]
    outline = [Shape("box", ((c, r), (c + 1, r + 1)), "", "thin") for r, c in held] if small else []
    return Panel(
        labels=tuple([f"V{held[cell]}" if cell in held and small else "" for cell in cells]),
        paints=tuple([first + (2 if cell in held else 1 if cell in needed else 0) for cell in cells]),
        row_ruler=Ruler("", ("",) * rows),
        col_ruler=Ruler("", ("",) * cols),
        data={"held": tuple([int(cell in held) for cell in cells]), "needed": tuple([int(cell in needed) for cell in cells])},
        shapes=(*outline, *shapes, Shape("text", (corner,), x, "head bold")),
        unit=unit,
        face=face,
    )
