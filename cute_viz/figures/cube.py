"""The cube of one MMA: A on the left, B on top, C on the right, with what one thread holds of each, and what its C needs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from cute_viz.algebra.inttuple import product
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA, layout_tv, make_tiled_mma, tile_shape
from cute_viz.algebra.modes import get
from cute_viz.algebra.table import offsets
from cute_viz.errors import FigureError
from cute_viz.figures.memory import memory_of
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel, Ruler, Shape
from cute_viz.figures.options import FigureOptions, check_cells

LABELED = 32  # extents up to which values are named
LONGEST = 2.2  # times that the longest side of the cube is as long as the shortest, at most
HUE = {"A": 0, "B": 2, "C": 5}


def cube(obj: Any, options: FigureOptions) -> Figure:
    """The three faces of an instruction or a tile, M x N x K.

    Raises: FigureError for anything but an MMA, and for a thread that it does not have.

    >>> figure("SM80_16x8x16_F32F16F16F32_TN", view="cube", thread=5).title
    'Thread 5 holds 8 of the 32 A and none of the 32 B elements that its C needs'
    """
    if isinstance(obj, ThrMMA):
        obj = obj.tiled
    if not isinstance(obj, (TiledMMA, MMA_Atom)):
        raise FigureError("a cube is that of an MMA", hint="example: SM80_16x8x16_F32F16F16F32_TN")
    tiled = make_tiled_mma(obj) if isinstance(obj, MMA_Atom) else obj
    m, n, k = tile_shape(tiled)
    check_cells(m * n + n * k + m * k, f"the tile {m} x {n} x {k}", options)
    thread = options.thread[0] if options.thread else 5
    held: dict[str, dict[tuple[int, int], int]] = {}
    for x, rows in (("A", m), ("B", n), ("C", m)):
        tv = layout_tv(tiled, x)
        threads = size(get(tv, 0))
        if thread >= threads:
            raise FigureError(f"there is no thread {thread} among {threads}", hint="`thread=0`")
        held[x] = {}
        if x == "C" or not memory_of(tiled.atom.instruction, x):
            for v, place in enumerate(offsets(tv)[thread::threads]):
                held[x].setdefault((place % rows, place // rows), v)
    ms, ns = {r for r, _ in held["C"]}, {c for _, c in held["C"]}
    needed = {"A": {(r, c) for r in ms for c in range(k)}, "B": {(r, c) for r in ns for c in range(k)}, "C": set[tuple[int, int]]()}
    has = {x: len(needed[x] & held[x].keys()) for x in "AB"}
    what = {x: memory_of(tiled.atom.instruction, x) for x in "AB"}
    parts = [f"{has[x] or 'none'} of the {len(needed[x])} {x}" for x in "AB" if not what[x]]
    stay = [f"{x} stays in {what[x]}" for x in "AB" if what[x]]
    if what["A"] == what["B"] and stay:
        stay = [f"A and B stay in {what['A']}"]
    title = f"Thread {thread} holds {' and '.join(parts)} elements that its C needs" if parts else ""
    title = "; ".join(filter(None, (title or f"Thread {thread} holds {len(held['C'])} elements of C", *stay)))
    title = options.title or title
    longest = max(m, n, k)
    units = {x: max(extent, longest / LONGEST) / extent for x, extent in (("m", m), ("n", n), ("k", k))}
    scale = max(m * units["m"], n * units["n"], k * units["k"]) / 16
    units = {x: unit / scale for x, unit in units.items()}
    sides = (("A", "left", m, k, ("k", "m")), ("B", "top", k, n, ("n", "k")), ("C", "right", m, n, ("n", "m")))
    panels = []
    for x, face, rows, cols, (across, down) in sides:
        turn = x == "B"  # its tile is (N,K), drawn K down
        mine = {(c, r) if turn else (r, c): v for (r, c), v in held[x].items()}
        wanted = {(c, r) if turn else (r, c) for r, c in needed[x]}
        panels.append(_face(x, face, rows, cols, mine, wanted, (units[across], units[down])))
    entries = [LegendEntry(3 * n + 2, f"{x}: thread {thread} holds it") for n, x in enumerate("ABC") if held[x]]
    entries += [LegendEntry(3 * n + 1, f"{x}: its C needs it") for n, x in enumerate("AB")]
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
        facts={"threads": product(size(tiled.thr_layout_vmnk)), **{f"values of {x}": len(held[x]) for x in "ABC"}},
        flow="row",
    )


def _face(
    x: str,
    face: str,
    rows: int,
    cols: int,
    held: dict[tuple[int, int], int],
    needed: Collection[tuple[int, int]],
    unit: tuple[float, float],
) -> Panel:
    cells = [(r, c) for r in range(rows) for c in range(cols)]
    first = 3 * "ABC".index(x)
    small = max(rows, cols) <= LABELED
    corner = {"left": (0.09 * cols, 0.9 * rows), "top": (0.85 * cols, 0.12 * rows), "right": (0.88 * cols, 0.9 * rows)}[face]
    extents = {"left": ((cols / 2, rows * 1.08, f"K = {cols}"),), "right": ((cols / 2, rows * 1.08, f"N = {cols}"),)}.get(face, ())
    shapes = [Shape("text", ((a, b),), words, "muted") for a, b, words in extents]
    if face == "right":
        shapes.append(Shape("text", ((cols * 1.03, rows / 2),), f"M = {rows}", "muted start"))
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
