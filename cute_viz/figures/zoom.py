"""A GEMM in levels, each a part of the one before: the CTAs of C, the tile of a CTA, the atoms of a warp, a thread's values."""

from __future__ import annotations

from collections import Counter
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
from cute_viz.figures.levels import BESIDE, HUES, LIT, ORDER, PAPER, by, cluster, clustered, ctas, level, opened, outline
from cute_viz.figures.memory import CTA, owner
from cute_viz.figures.model import Arrow, Figure, Paint, Panel, Shape
from cute_viz.figures.options import FigureOptions, check_cells
from cute_viz.spelling import count

ELEMENTS = 512  # of an atom that are drawn one by one
PART = 8  # rows and columns of the part of a larger atom
LANES = 128  # of tensor memory, PTX ISA: row i of an accumulator of 128 rows a CTA is in lane i; a warp reads 32 of them
FINEST = 64  # of the sides of a panel is a mark at least
DOTS = 1024  # values of a thread that are drawn in the atoms of its warp
Owners: TypeAlias = "dict[tuple[int, int], tuple[int, int]]"  # the thread of each cell, and its value


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
    if options.cluster and product(options.cluster) > 1 and options.thread is None:
        pair = " pair" * (by_cta and size(tiled.atom.thr_id) > 1)
        panel, title = cluster(options, f"CTA{pair}")
        facts = dict(zip("MN", options.cluster, strict=True))
        return _figure(tiled, (m, n, k), f"CTA{pair}", title, f"; {tiled.atom.name}", (panel,), (), facts, options)
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
    at = opened(options)
    warps, part = _tile(owners, (m, n), (tm, tn), _block(owners, (am, an), together), together, group, called)
    alone = len({t // together for t in real}) == 1  # whose part is the tile itself
    within = f"2 CTA tile {m} × {n}  1 {called}, " if alone else f"3 {called.capitalize()} {group}  "
    atoms = _atoms(downs, rights, (am, an), (tm, tn), held, within)
    holding = {(r // am, c // an) for r, c, _ in held}
    own = [(i, j) for i, r in enumerate(downs) for j, c in enumerate(rights) if (r % (tm // am), c % (tn // an)) in holding]
    i, j = min(own, key=lambda one: (one[0], -one[1]))  # at the edge, so that no line to the next panel runs over others
    origin = at[0] * m + downs[i] * am, at[1] * n + rights[j] * an
    of_it = downs[i] % (tm // am), rights[j] % (tn // an)
    inside = [(r % am, c % an, v) for r, c, v in held if (r // am, c // an) == of_it]
    inside = [(r, c, v % len(inside)) for r, c, v in inside]  # as the atom counts them, not the TiledMMA
    shown = _part((am, an), inside)
    opening = i + shown[0] / am, j + shown[1] / an, i + shown[2] / am, j + shown[3] / an
    atoms = replace(atoms, shapes=(*atoms.shapes, outline(*opening)))
    panels = [*([] if alone else [warps]), atoms, _atom((am, an), inside, origin, f"{3 if alone else 4} Thread {thread}", shown)]
    arrows = [Arrow(1, 2, opening, look="wide")] if alone else [Arrow(1, 2, part, look="wide"), Arrow(2, 3, opening, look="wide")]
    spread = tm // am // len(rows), tn // an // len(cols)  # groups along M and N
    parts = f" = {by(*spread, called)} of {m // spread[0]}x{n // spread[1]} = {by(len(downs), len(rights), 'atom')} of {am}x{an}"
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
    title, (r, c), whole = options.title or title, opened(options), len(panels) == 1
    panels = ctas(extents[:2], options, called, whole), *panels
    grid = f"{by(*options.grid, called)} of " if options.grid else f"{called}s of " * whole
    caption = f"{grid}{'x'.join(str(x) for x in extents if x)}{parts}"
    return Figure(
        kind="zoom",
        title=title,
        source=str(tiled.atom.name or tiled.atom),
        caption=caption,
        description=f"{title}. {caption}. {' '.join(panel.caption + ': ' + panel.foot + '.' for panel in panels)}",
        paints=(*[Paint(h) for h in ORDER], *[Paint(h, faded=True) for h in ORDER], Paint(-1)),
        panels=panels,
        facts=facts,
        arrows=(Arrow(0, 1, clustered(options) if whole else (r, c, r + 1, c + 1), look="wide"), *arrows),
        flow="row",
    )


def _in_tmem(tiled: TiledMMA, owners: Owners, extents: tuple[int, int, int], options: FigureOptions) -> Figure:
    """The levels of an accumulator in tensor memory: the tile by CTAs, and the lanes that each warp reads of it."""
    tile = m, n = extents[:2]
    tm, tn, _ = tile_shape(tiled)
    thread = options.thread[0] if options.thread else 69
    pair, rows = size(tiled.atom.thr_id), tm // size(tiled.atom.thr_id)
    if rows != LANES or (m, n) != (tm, tn) or thread >= LANES:
        hint = "an atom of M = 128 for one CTA, or 256 for two, its tile, and `thread=` below 128"
        raise FigureError("where the rows of this accumulator lie in tensor memory is not drawn", hint=hint)
    warp, (tiles, part) = thread // 32, _tile(owners, tile, (tm, tn), _block(owners, (tm, tn), 1), 1, pair - 1, "CTA")
    called = "CTA pair" if pair > 1 else "CTA"
    lanes = level(
        (1, 1),
        (4, 1),
        (32, n),
        f"3 Tensor memory of CTA {pair - 1}  {LANES} lanes x {n} columns",
        f"thread {thread} reads lane {thread}: row {thread} of its CTA, {count(n, 'value')}",
        [(f"warp {w}\nlanes {32 * w}..{32 * w + 31}", LIT if w == warp else BESIDE) for w in range(4)],
        (outline(thread / 32, 0, (thread + 1) / 32, 1),),
    )
    title = f"A CTA holds {rows} rows in tensor memory; a thread reads one of them, {count(n, 'value')}"
    parts = f" = {count(pair, 'CTA')} of {rows}x{n} = 4 warps of 32 lanes"
    words = f"{parts}; {tiled.atom.instruction.called or tiled.atom.name or 'an MMA'}"
    arrow, found = Arrow(1, 2, part, look="wide"), {"CTAs": pair, "values": n}
    return _figure(tiled, extents, called, title, words, (tiles, lanes), (arrow,), found, options)


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
) -> tuple[Panel, tuple[int, ...]]:
    """The tile of a CTA, hue by the group that owns each block; the cells of the group, where they are one rectangle."""
    groups = len({t // together for t, _ in owners.values()})
    (m, n), (bm, bn) = tile, block = tile, block if groups > 1 else tile
    who = [[owners[r % mma[0], c % mma[1]][0] // together for c in range(0, n, bn)] for r in range(0, m, bm)]
    while len(who) % 2 == 0 and who[::2] == who[1::2]:
        who, bm = who[::2], 2 * bm
    while len(who[0]) % 2 == 0 and all(row[::2] == row[1::2] for row in who):
        who, bn = [row[::2] for row in who], 2 * bn
    rows, cols = len(who), len(who[0])
    mine = [(r, c) for r, row in enumerate(who) for c, g in enumerate(row) if g == group]
    (top, left), (bottom, right) = mine[0], mine[-1]
    part = (top, left, bottom + 1, right + 1) if len(mine) == (bottom - top + 1) * (right - left + 1) else ()
    foot = f"by {called}: {called} {group} is highlighted" if groups > 1 else f"{called} {group} has all of it"
    shown = [
        (f"{called} {g}" if groups == rows * cols else str(g), LIT if g == group else (g - group - 1) % (HUES - 1) + 1 + HUES)
        for row in who
        for g in row
    ]
    shapes = [outline(*part)] if part and groups > 1 else []
    return level((0, 1), (rows, cols), (bm, bn), f"2 CTA tile {m} × {n}  {count(groups, called)}", foot, shown, shapes), part


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
    lines = Counter((r // am, c // an, r) for r, c, _ in held)  # the values of each row of an atom
    atoms, each = {line[:2] for line in lines}, {*lines.values()}
    many = f": {count(len(lines) // len(atoms), 'row')} of {each.pop()} in each atom" if len(each) == 1 else ""
    caption, foot = f"{within}{rows} × {cols} atoms", f"all values of the thread are marked{many}" * shown
    return level((1, 1), (rows, cols), atom, caption, foot, [("", BESIDE)] * (rows * cols), shapes if shown else ())


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
    down, across = _ruled(top, rows, {r for r, _ in values}), _ruled(left, cols, {c for _, c in values})
    foot = f"V{values[r0 - top, c0 - left]} is C({origin[0] + r0}, {origin[1] + c0})"
    shown = [(f"V{values[cell]}", LIT) if cell in values else ("", PAPER) for cell in cells]
    return level((1, 0), (rows, cols), (cols, rows), name, foot, shown, (), down, across)


def _ruled(begin: int, extent: int, held: set[int]) -> list[str]:
    """The numbers of the rows or columns that hold a value, and of the outer ones, if none beside it has one."""
    outer = {n for n in (0, extent - 1) if not held & {n - 1, n + 1}}
    return [str(begin + n) if n in held | outer else "" for n in range(extent)]
