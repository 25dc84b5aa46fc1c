"""A GEMM in levels, each a part of the one before: the CTAs of C, the tile of a CTA, the atoms of a warp, a thread's values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from cute_viz.algebra.gemm import Gemm, Stages
from cute_viz.algebra.inttuple import product
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA, as_tiled_mma, layout_tv, tile_shape
from cute_viz.algebra.modes import get
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tma import TmaCopy
from cute_viz.errors import FigureError
from cute_viz.figures.memory import CTA, owner
from cute_viz.figures.model import Arrow, Figure, Paint, Panel, Ruler, Shape
from cute_viz.figures.options import FigureOptions, check_cells
from cute_viz.spelling import count

SIDE = 8.0  # cells of the figure that the longer side of a panel takes
ELEMENTS = 512  # of an atom that are drawn one by one
PART = 16  # rows and columns of the part of a larger atom
LANES = 128  # of tensor memory, PTX ISA: row i of an accumulator of 128 rows a CTA is in lane i; a warp reads 32 of them
FINEST = 64  # of the sides of a panel is a mark at least
DOTS = 1024  # values of a thread that are drawn in the atoms of its warp
HUES = 8
CTAS, MOST_CTAS = 8, 64  # of a launch along one side that are drawn, and that can be opened
LIT, BESIDE, PAPER = 0, HUES, 2 * HUES  # paints: of the group that is opened, its own faded, and none; the other groups' between
Owners: TypeAlias = "dict[tuple[int, int], tuple[int, int]]"  # the thread of each cell, and its value
IN_CLUSTER = 16  # CTAs of a cluster at most (CUDA: 8, 16 where a kernel asks for them)


def zoom(obj: Any, options: FigureOptions) -> Figure:
    """C of a GEMM from the grid of CTAs to the values of one thread; `tile` is that of a CTA, `coord` which CTA is opened.
    Raises: FigureError for anything but an MMA or a GEMM, and for a tile that the MMA does not divide."""
    tiled, (m, n), k = _of(obj, options)
    tv = layout_tv(tiled, "C")
    tm, tn, _ = tile_shape(tiled)
    if m % tm or n % tn:
        raise FigureError(f"the MMA covers {tm} x {tn}, which does not divide the tile {m} x {n}", hint="example: `tile=128x128`")
    check_cells(m * n, f"the tile {m} x {n}", options)
    am, an = (product(x) for x in tiled.atom.shape_mnk[:2])
    threads, by_cta = size(get(tv, 0)), owner(tiled.atom.instruction) == CTA
    warp, word = tiled.atom.warp
    together = 1 if by_cta else max(size(tiled.atom.thr_id), warp)
    called = f"{word} group" if together > warp else word
    owners: Owners = {}
    for index, place in enumerate(offsets(tv)):
        owners.setdefault((place % tm, place // tm), (index % threads, index // threads))
    if any(column >= tn for _, column in owners):
        words = f"{tiled.atom.name} computes several blocks of C, of which a zoom shows one"
        raise FigureError(words, hint="leave out `view=zoom`")
    real = sorted({t for t, _ in owners.values()})  # of quad pairs, not all
    last = [t for t in real if t // together == real[-1] // together]
    thread = options.thread[0] if options.thread else last[min(5, len(last) - 1)]
    if by_cta:
        return _in_tmem(tiled, owners, (m, n, k), options)
    if thread not in real:
        raise FigureError(f"thread {thread} holds nothing of C", hint=f"threads {real[0]} to {real[-1]} do")
    group = thread // together
    held = [(r, c, v) for (r, c), (t, v) in owners.items() if t == thread]
    mine = sorted({(r // am, c // an) for (r, c), (t, _) in owners.items() if t // together == group})
    rows, cols = (sorted({at[axis] for at in mine}) for axis in (0, 1))
    downs = [x + rep * (tm // am) for rep in range(m // tm) for x in rows]
    rights = [x + rep * (tn // an) for rep in range(n // tn) for x in cols]
    at = _cta(options)
    warps = _tile(owners, (m, n), (tm, tn), _block(owners, (am, an), together), together, group, called)
    alone = len({t // together for t in real}) == 1  # whose part is the tile itself
    within = f"2 CTA tile {m} × {n}  1 {called}, " if alone else f"3 {called.capitalize()} {group}  "
    atoms = _atoms(downs, rights, (am, an), (tm, tn), held, within)
    holding = {(r // am, c // an) for r, c, _ in held}
    own = [(i, j) for i, r in enumerate(downs) for j, c in enumerate(rights) if (r % (tm // am), c % (tn // an)) in holding]
    i, j = min(own, key=lambda one: (one[0], -one[1]))  # at the edge, so that no line to the next panel runs over others
    origin = at[0] * m + downs[i] * am, at[1] * n + rights[j] * an
    opened = downs[i] % (tm // am), rights[j] % (tn // an)
    inside = [(r % am, c % an, v) for r, c, v in held if (r // am, c // an) == opened]
    inside = [(r, c, v % len(inside)) for r, c, v in inside]  # as the atom counts them, not the TiledMMA
    shown = _part((am, an), inside)
    opening = i + shown[0] / am, j + shown[1] / an, i + shown[2] / am, j + shown[3] / an
    atoms = replace(atoms, shapes=(*atoms.shapes, _outline(*opening)))
    panels = [*([] if alone else [warps]), atoms, _atom((am, an), inside, origin, f"{3 if alone else 4} Thread {thread}", shown)]
    arrows = [Arrow(1, 2, opening, look="wide")] if alone else [Arrow(1, 2, look="wide"), Arrow(2, 3, opening, look="wide")]
    spread = tm // am // len(rows), tn // an // len(cols)  # groups along M and N
    parts = f"{_by(*spread, called)} of {m // spread[0]}x{n // spread[1]} = {_by(len(downs), len(rights), 'atom')} of {am}x{an}"
    found = {"threads": threads, "values": len(inside) * len(own), "atoms": len(own)}
    words = f"{parts}; {tiled.atom.name or 'an MMA atom'}, thread {thread}"
    where = f"in each of {len(own)} atoms" if len(own) > 1 else f"of {am} × {an}"
    title = f"One thread holds {count(len(inside), 'value')} {where}"
    return _figure(tiled, (m, n, k), "CTA", title, words, panels, arrows, found, options)


def _figure(
    tiled: TiledMMA,
    extents: tuple[int, int, int],
    called: str,
    title: str,
    parts: str,
    panels: Sequence[Panel],
    arrows: Sequence[Arrow],
    facts: dict[str, int],
    options: FigureOptions,
) -> Figure:
    """The figure of levels behind the grid of CTAs; arrows: behind that to the first of them."""
    title, (r, c) = options.title or _shared(options.cluster, called) or title, _cta(options)
    panels = _grid((r, c), extents[:2], options, called), *panels
    grid = f"{_by(*options.grid, called)} of " if options.grid else ""
    caption = f"{grid}{'x'.join(str(x) for x in extents if x)} = {parts}"
    return Figure(
        kind="zoom",
        title=title,
        source=str(tiled.atom.name or tiled.atom),
        caption=caption,
        description=f"{title}. {caption}. {' '.join(panel.caption + ': ' + panel.foot + '.' for panel in panels)}",
        paints=(*[Paint(h) for h in _ORDER], *[Paint(h, faded=True) for h in _ORDER], Paint(-1)),
        panels=panels,
        facts=facts,
        arrows=(Arrow(0, 1, (r, c, r + 1, c + 1), look="wide"), *arrows),
        flow="row",
    )


def _in_tmem(tiled: TiledMMA, owners: Owners, extents: tuple[int, int, int], options: FigureOptions) -> Figure:
    """The levels of an accumulator in tensor memory: the tile by CTAs, and the lanes that each warp reads of it."""
    tile = m, n = extents[:2]
    tm, tn, _ = tile_shape(tiled)
    thread = options.thread[0] if options.thread else 69
    ctas, rows = size(tiled.atom.thr_id), tm // size(tiled.atom.thr_id)
    if rows != LANES or (m, n) != (tm, tn) or thread >= LANES:
        hint = "an atom of M = 128 for one CTA, or 256 for two, its tile, and `thread=` below 128"
        raise FigureError("where the rows of this accumulator lie in tensor memory is not drawn", hint=hint)
    warp, tiles = thread // 32, _tile(owners, tile, (tm, tn), _block(owners, (tm, tn), 1), 1, ctas - 1, "CTA")
    called = "CTA pair" if ctas > 1 else "CTA"
    lanes = _panel(
        (1, 1),
        (4, 1),
        (32, n),
        f"3 Tensor memory of CTA {ctas - 1}  {LANES} lanes x {n} columns",
        f"thread {thread} reads lane {thread}: row {thread} of its CTA, {count(n, 'value')}",
        [(f"warp {w}\nlanes {32 * w}..{32 * w + 31}", LIT if w == warp else BESIDE) for w in range(4)],
        (_outline(thread / 32, 0, (thread + 1) / 32, 1),),
    )
    title = f"A CTA holds {rows} rows in tensor memory; a thread reads one of them, {count(n, 'value')}"
    parts = f"{count(ctas, 'CTA')} of {rows}x{n} = 4 warps of 32 lanes"
    words = f"{parts}; {tiled.atom.instruction.called or tiled.atom.name or 'an MMA'}"
    arrow, found = Arrow(1, 2, look="wide"), {"CTAs": ctas, "values": n}
    return _figure(tiled, extents, called, title, words, (tiles, lanes), (arrow,), found, options)


_ORDER = (0, 3, 4, 6, 2, 5, 7, 6)  # hues, of the group that is opened first; red is a conflict


def _of(obj: Any, options: FigureOptions) -> tuple[TiledMMA, tuple[int, int], int]:
    """The MMA, the tile of C that a CTA computes, and its K, 0 where nobody says it."""
    if isinstance(obj, Stages):
        return _of_stages(obj, options)
    if isinstance(obj, Gemm):
        if options.tile is not None:
            raise FigureError("a GEMM has a tile of its own: leave out `tile=`")
        return obj.mma, obj.tile[:2], obj.tile[2]
    if not isinstance(obj, (TiledMMA, MMA_Atom, ThrMMA)):
        raise FigureError("a zoom shows an MMA or a GEMM", hint="example: SM80_16x8x16_F32F16F16F32_TN with `tile=128x128`")
    tiled = as_tiled_mma(obj)
    return tiled, options.tile or tile_shape(tiled)[:2], options.k or 0


def _of_stages(obj: Stages, options: FigureOptions) -> tuple[TiledMMA, tuple[int, int], int]:
    """The first MMA of stages; K is that of the tile of A which their load brings."""
    mma = next((x for x in obj.parts if isinstance(x, (MMA_Atom, TiledMMA, ThrMMA))), None)
    if mma is None:
        raise FigureError("a zoom of stages begins with their MMA, and these have none", hint="stages(load, smem, mma, store)")
    tiled, tile, _ = _of(mma, options)
    load = next((x for x in obj.parts if isinstance(x, TmaCopy) and x.op.instruction.home("S") == "gmem"), None)
    rows = tile_shape(tiled)[0] // (size(tiled.atom.thr_id) if owner(tiled.atom.instruction) == CTA else 1)
    return tiled, tile, size(load.smem) // rows if load is not None else 0


def _cta(options: FigureOptions) -> tuple[int, int]:
    """The coordinates of the CTA that is opened, one of the launch where there is one."""
    coord, grid = options.coord, options.grid or (MOST_CTAS, MOST_CTAS)
    most = min(grid[0], MOST_CTAS), min(grid[1], MOST_CTAS)
    parts = (coord or f"{min(2, most[0] - 1)},{min(_near(options) - 1, most[1] - 1)}").replace(" ", "").split(",")
    if len(parts) != 2 or not all(part.isdecimal() and int(part[:9]) < end for part, end in zip(parts, most, strict=True)):
        words = f"`coord={coord}`: the CTA of this zoom is a row below {most[0]} and a column below {most[1]}"
        raise FigureError(words, hint=f"example: {min(2, most[0] - 1)},{min(3, most[1] - 1)}")
    return int(parts[0]), int(parts[1])


def _near(options: FigureOptions) -> int:
    """How many CTAs of a launch are drawn along one side: of clusters few, so that those of one have room for what they share."""
    return max(CTAS // 2, *options.cluster) if options.cluster else CTAS


def _shared(cluster: tuple[int, int] | None, called: str = "CTA") -> str:
    """What TMA multicast saves a cluster: its CTAs of a row have the same tile of A, those of a column the same of B."""
    m, n = cluster or (1, 1)
    of = (("A and B", m),) if m == n else (("A", n), ("B", m))
    parts = [f"each tile of {x} once, not {'twice' if k == 2 else f'{k} times'}" for x, k in of if k > 1]
    return f"A cluster of {m} × {n} {called}s loads {', and '.join(parts)}" if parts else ""


def _by(rows: int, cols: int, what: str) -> str:
    """So many things in rows and columns: `2x2 warps`, `1 warp`."""
    return f"{rows}x{cols} {what}s" if rows * cols > 1 else f"1 {what}"


def _panel(
    place: tuple[int, int],
    extents: tuple[int, int],
    cell: tuple[int, int],
    caption: str,
    foot: str,
    cells: Sequence[tuple[str, int]],
    shapes: Sequence[Shape] = (),
    down: Sequence[str] = (),
    across: Sequence[str] = (),
) -> Panel:
    """A level: labels and paints of its cells, and how many elements each is high and broad. Its longer side is as long as that
    of any other, no side less than a quarter of it."""
    (rows, cols), (tall, wide) = extents, cell
    long = max(rows * tall, cols * wide)
    return Panel(
        caption=caption,
        labels=tuple([label for label, _ in cells]),
        paints=tuple([paint for _, paint in cells]),
        row_ruler=Ruler("", tuple(down) or ("",) * rows),
        col_ruler=Ruler("", tuple(across) or ("",) * cols),
        shapes=tuple(shapes),
        foot=foot,
        place=place,
        unit=(max(wide * cols, long / 4) * SIDE / long / cols, max(tall * rows, long / 4) * SIDE / long / rows),
    )


def _grid(at: tuple[int, int], tile: tuple[int, int], options: FigureOptions, called: str) -> Panel:
    """The CTAs of a launch; of one that is not known, or has many, the first. The cluster of the CTA that is opened is outlined."""
    grid, cluster = options.grid, options.cluster or (1, 1)
    if cluster[0] * cluster[1] > IN_CLUSTER or (grid is not None and (grid[0] % cluster[0] or grid[1] % cluster[1])):
        words = f"`cluster={cluster[0]}x{cluster[1]}`: a cluster has at most {IN_CLUSTER} CTAs and divides the grid"
        raise FigureError(words, hint="`cluster=2x1`")
    rows = cols = max(near := _near(options), -(-(max(at) + 1) // max(cluster)) * max(cluster))
    words = f"{rows} × {cols} {called}s and on"
    if grid is not None:
        rows, cols = (min(grid[n], max(near, -(-(at[n] + 1) // cluster[n]) * cluster[n])) for n in (0, 1))
        words = f"{grid[0]} × {grid[1]} {called}s" + ("" if (rows, cols) == grid else f", the first {rows} × {cols}")
    cells = [(r, c) for r in range(rows) for c in range(cols)]
    top, left = (at[axis] // cluster[axis] * cluster[axis] for axis in (0, 1))
    mine = [(r, c) for r in range(top, top + cluster[0]) for c in range(left, left + cluster[1])]
    shared = {(r, c): f"A{r}\nB{c}" for r, c in mine if len(mine) > 1}
    outline = [Shape("box", ((left, top), (left + cluster[1], top + cluster[0])), "", "strong dashed")] if shared else []
    foot = f"{called} ({at[0]}, {at[1]}) begins at C({at[0] * tile[0]}, {at[1] * tile[1]})"
    if shared:
        need = [f"{n} need {tile}" for n, tile in zip(cluster[::-1], (f"A{at[0]}", f"B{at[1]}"), strict=True) if n > 1]
        foot += f"; dashed: its cluster, of which {' and '.join(need)}"
    labels = shared or {at: f"{at[0]},{at[1]}"}
    shown = [(labels.get(cell, ""), LIT if cell == at else BESIDE if cell in shared else PAPER) for cell in cells]
    shapes = *outline, _outline(*at, at[0] + 1, at[1] + 1)
    return _panel((0, 0), (rows, cols), (1, 1), f"1 Grid  {words}", foot, shown, shapes)


def _block(owners: Owners, atom: tuple[int, int], together: int) -> tuple[int, int]:
    """The largest part of an atom that one group owns everywhere."""
    am, an = atom
    for bm, bn in ((am, an), (am // 2, an), (am, 8), (16, 8), (8, 8), (8, 2), (1, 2)):
        if am % bm == 0 and an % bn == 0:
            seen: dict[tuple[int, int], int] = {}
            if all(seen.setdefault((r // bm, c // bn), t // together) == t // together for (r, c), (t, _) in owners.items()):
                return bm, bn
    return 1, 1


def _tile(
    owners: Owners,
    tile: tuple[int, int],
    mma: tuple[int, int],
    block: tuple[int, int],
    together: int,
    group: int,
    called: str,
) -> Panel:
    """The tile of a CTA, hue by the group that owns each block."""
    groups = len({t // together for t, _ in owners.values()})
    (m, n), (bm, bn) = tile, block = tile, block if groups > 1 else tile
    rows, cols = m // bm, n // bn
    who = [owners[r * bm % mma[0], c * bn % mma[1]][0] // together for r in range(rows) for c in range(cols)]
    foot = f"by {called}: {called} {group} is highlighted" if groups > 1 else f"{called} {group} has all of it"
    paints = [LIT if g == group else (g - group - 1) % (HUES - 1) + 1 + HUES for g in who]
    shown = [(f"{called} {g}" if groups == len(who) else str(g), paint) for g, paint in zip(who, paints, strict=True)]
    return _panel((0, 1), (rows, cols), block, f"2 CTA tile {m} × {n}  {count(groups, called)}", foot, shown)


def _atoms(
    downs: Sequence[int],
    rights: Sequence[int],
    atom: tuple[int, int],
    mma: tuple[int, int],
    held: Sequence[tuple[int, int, int]],
    within: str,
) -> Panel:
    """The atoms of a group beside each other, with the values of the thread; within: the panel's words before them."""
    (am, an), rows, cols = atom, len(downs), len(rights)
    shapes = []
    for i, down in enumerate(downs):
        for j, right in enumerate(rights):
            for r, c, _ in held:
                if (r // am, c // an) == (down % (mma[0] // am), right % (mma[1] // an)):
                    x, y = j + c % an / an, i + r % am / am
                    wide, tall = max(1 / an, cols / FINEST), max(1 / am, rows / FINEST)
                    corners = ((x, y), (x + wide, y), (x + wide, y + tall), (x, y + tall))
                    shapes.append(Shape("area", corners, paint=LIT))
    shown = len(shapes) <= DOTS
    caption, foot = f"{within}{rows} × {cols} atoms", "all values of the thread are marked" * shown
    return _panel((1, 1), (rows, cols), atom, caption, foot, [("", BESIDE)] * (rows * cols), shapes if shown else ())


def _outline(top: float, left: float, bottom: float, right: float) -> Shape:
    return Shape("box", ((left, top), (right, bottom)), "", "strong")


def _part(atom: tuple[int, int], held: Sequence[tuple[int, int, int]]) -> tuple[int, int, int, int]:
    """The rows and columns of an atom that are drawn, half-open: all, or of a large one those of the first value, at the right."""
    if atom[0] * atom[1] <= ELEMENTS:
        return 0, 0, *atom
    rows, cols = (min(extent, PART) for extent in atom)
    top = min(held, key=lambda one: one[2])[0] // rows * rows
    left = max(c for r, c, _ in held if r // rows == top // rows) // cols * cols
    return top, left, top + rows, left + cols


def _atom(
    atom: tuple[int, int],
    held: Sequence[tuple[int, int, int]],
    origin: tuple[int, int],
    called: str,
    part: tuple[int, int, int, int],
) -> Panel:
    """The part of an atom with the values of the thread."""
    (am, an), (top, left, bottom, right) = atom, part
    r0, c0, _ = min((one for one in held if top <= one[0] < bottom and left <= one[1] < right), key=lambda one: one[2])
    rows, cols = bottom - top, right - left
    whole = (rows, cols) == atom
    values = {(r - top, c - left): v for r, c, v in held}
    cells = [(r, c) for r in range(rows) for c in range(cols)]
    name = f"{called}  " + (f"atom of {am} × {an}" if whole else f"{rows} × {cols} of atom {am} × {an}")
    every = [str(top + r) if r in {y for y, _ in values} or r in (0, rows - 1) else "" for r in range(rows)]
    across = [str(left + c) if c in {x for _, x in values} or c in (0, cols - 1) else "" for c in range(cols)]
    foot = f"V{values[r0 - top, c0 - left]} is C({origin[0] + r0}, {origin[1] + c0})"
    shown = [(f"V{values[cell]}", LIT) if cell in values else ("", PAPER) for cell in cells]
    return _panel((1, 0), (rows, cols), (1, 1), name, foot, shown, (), every, across)
