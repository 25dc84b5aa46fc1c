"""tcgen05.ld, .st and .cp: the lanes and columns of tensor memory beside registers or shared memory, cell by cell.

PTX ISA, "tcgen05.ld" and "tcgen05.st": the shapes .16x64b, .16x128b, .16x256b, .32x32b; as CuTe's traits have them, whose ValID
says where a bit lies in tensor memory (cute/atom/copy_traits_sm100.hpp).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from cute_viz.algebra.copy import Copy_Atom, CopyOp, ThrCopy, TiledCopy
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.modes import get
from cute_viz.algebra.recast import recast_layout
from cute_viz.algebra.static import clear_static
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tmem import LANES, WARP, WORD, place
from cute_viz.algebra.views import atom_of, tiled_of
from cute_viz.errors import FigureError
from cute_viz.figures.highlight import highlight_notes
from cute_viz.figures.machine import of_filled, of_lanes
from cute_viz.figures.model import HOLE, Arrow, Figure, LegendEntry, Panel, Ruler
from cute_viz.figures.options import FigureOptions, check_cells, not_run
from cute_viz.figures.paint import Painting, by_group, receding
from cute_viz.spelling import count

_COUNTED = re.compile(
    r"(?<=\bT)\d+|(?<=\bthread )\d+|(?<=\blane )\d+|(?<=\d\.\.)\d+|^\d+(?=,)", re.MULTILINE
)  # threads and lanes of a warp


def is_lanes(obj: Any) -> bool:
    """Whether an object is an instruction that moves tensor memory to or from registers."""
    return isinstance(obj, CopyOp) and obj.instruction.lanes > 0 and obj.val_id is not None


def held(op: CopyOp) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
    """What each 32-bit register (thread, register) holds: the (lane, column, first bit) of each piece, from its lowest bit."""
    store = op.instruction.kind == "tcgen05.st"
    registers: Layout = op.src if store else op.dst
    assert op.val_id is not None
    threads, bits = size(get(registers, 0)), size(get(registers, 1))
    piece = WORD // 2 if "16b" in op.instruction.words else WORD
    out: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for thread in range(threads):
        for first in range(0, bits, piece):
            where = place(op.val_id(registers(thread, first)), 1)
            out.setdefault((thread, first // WORD), []).append((where.lane, where.column, where.bit))
    return out


def copied(op: CopyOp) -> dict[tuple[int, int], tuple[int, int]]:
    """What tcgen05.cp puts into each 32-bit column (lane, column): the row of shared memory, and its word in the row."""
    assert op.val_id is not None
    shape: Any = op.val_id.shape
    rows, bits, out = int(shape[0]), int(shape[1]), {}
    bit_at = offsets(op.val_id)
    for source, target in zip(offsets(get(op.src, 1)), offsets(get(op.dst, 1)), strict=True):
        where = place(bit_at[target], 1)
        row, bit = source % rows + source // (rows * bits) * rows, source // rows % bits
        if where.bit == 0:
            out[where.lane, where.column] = (row, bit // WORD)
    order = {row: n for n, row in enumerate(sorted({row for row, _ in out.values()}))}  # of four rows, those that are there
    return {at: (order[row], word) for at, (row, word) in out.items()}


def _filled(op: CopyOp, options: FigureOptions) -> Figure:
    """The figure of tcgen05.cp: rows of shared memory, and below them the lanes that they fill, those of each warp side by side."""
    found = copied(op)
    filled, wide = sorted({lane for lane, _ in found}), max(column for _, column in found) + 1
    rows = max(row for row, _ in found.values()) + 1
    check_cells((len(filled) + rows) * wide, op.name, options)
    each = len(found) // (rows * wide)
    cells = [(row, word) for row in range(rows) for word in range(wide)]
    there = [found[lane, column] for lane in filled for column in range(wide)]
    painting = by_group([row for row, _ in (*cells, *there)], rows, "hue: row of shared memory", "row ")
    chunks = [(range(first, min(first + WARP, rows)), 0) for first in range(0, rows, WARP)]
    warps = [filled[n : n + WARP] for n in range(0, len(filled), WARP)]
    panels: list[Panel] = []
    at = 0
    for names, down in (*chunks, *((lanes, 1) for lanes in warps)):
        count_, before = len(names) * wide, sum(panel.place[0] == down for panel in panels)
        panels.append(
            Panel(
                caption=f"{('rows', 'lanes')[down]} {names[0]} to {names[-1]}" if before else _FILLED[down],
                labels=tuple(f"{row},{word}" for row, word in (*cells, *there)[at : at + count_]),
                paints=painting.cells[at : at + count_],
                row_ruler=Ruler(("row", "lane")[down], tuple(map(str, names))),
                col_ruler=Ruler(("word", "column")[down], tuple(map(str, range(wide)))),
                place=(down, before),
            )
        )
        at += count_
    high = f"lanes {', '.join(map(str, filled))}" if len(filled) < WARP else f"{len(filled)} lanes"
    name = f"{op.name} (tcgen05.cp): {count(rows, 'row')} to {high} × {count(wide, 'column')}"
    title = options.title or of_filled(rows, len(filled), each)
    times = "" if each == 1 else f" Every row goes to {each} lanes: {_same(found)}."
    pair = " Each CTA of the pair copies from its own shared memory to its own tensor memory." if op.instruction.ctas == 2 else ""
    notes = (f"One thread issues it; it runs before the tcgen05.mma behind it.{times}{pair} {not_run()}",)
    caption = (
        f"{name}. A cell of shared memory shows its row and word. A cell of tensor memory shows the row and word that it receives"
    )
    told = title, f"ValID {op.val_id}, Src {op.src}", caption, f"{title}. {name}. {' '.join(notes)}"
    return painting.figure(
        "lanes", told, panels, notes, {"rows": rows, "lanes": len(filled), "columns": wide, "copies": each}, name
    )


_FILLED = ("shared memory: rows × words of 32 bits", "tensor memory: the row,word that each column receives")


def _same(found: dict[tuple[int, int], tuple[int, int]]) -> str:
    """The lanes of which warps hold the same rows: `the lanes of warps 0 and 2 hold the same, and so do those of warps 1 and 3`."""
    groups: dict[frozenset[int], list[str]] = {}
    for warp in range(LANES // WARP):
        held = frozenset(row for (lane, _), (row, _) in found.items() if lane // WARP == warp)
        groups.setdefault(held, []).append(str(warp))
    return ", and so do ".join(
        f"{'those' if n else 'the lanes'} of warps {', '.join(warps[:-1])} and {warps[-1]}{'' if n else ' hold the same'}"
        for n, warps in enumerate(groups.values())
    )


def instruction_of(obj: CopyOp | Copy_Atom | TiledCopy | ThrCopy) -> CopyOp:
    """The instruction of an atom or of a copy of four warps, its layouts in bits again."""
    if isinstance(obj, CopyOp):
        return obj
    tiled = tiled_of(obj)
    x = clear_static(atom_of(tiled))
    src, dst, ref = (recast_layout(layout, x.bits, 1) for layout in (x.layout_src, x.layout_dst, x.layout_ref))
    return CopyOp(x.name, x.thr_id, src, dst, ref, clear_static(x.in_tmem), instruction=x.instruction)


def lanes(obj: CopyOp | Copy_Atom | TiledCopy | ThrCopy, options: FigureOptions) -> Figure:
    """The figure of an instruction between tensor memory and the registers of a warp, or from shared to tensor memory. Of
    make_tmem_copy that of one of its warps: the one of the thread that is asked for, or the first. Raises: FigureError for
    threads of several warps; LimitError for more cells than the options allow."""
    op = instruction_of(obj)
    tiled = tiled_of(obj)
    if not isinstance(tiled, TiledCopy) or op.instruction.kind == "tcgen05.cp":
        return _lanes(op, options)
    if isinstance(obj, ThrCopy) and isinstance(obj.thr_idx, int):
        options = replace(options, thread=range(obj.thr_idx, obj.thr_idx + 1))
    threads, asked = size(tiled.thr_layout), options.thread or range(1)
    if asked.start < 0 or asked.stop > threads or asked.start // WARP != (asked.stop - 1) // WARP:
        raise FigureError(f"`thread={asked.start}..{asked.stop - 1}`: a picture is of one warp", hint=f"threads 0 to {threads - 1}")
    base = asked.start // WARP * WARP
    own = options if options.thread is None else replace(options, thread=range(asked.start - base, asked.stop - base))
    return _of_warp(_lanes(op, own), base, threads // WARP)


def _of_warp(figure: Figure, base: int, warps: int) -> Figure:
    """The figure of an instruction as that of one of the warps of a copy, whose threads and lanes begin at `base`."""

    def moved(text: str) -> str:
        return _COUNTED.sub(lambda found: str(int(found[0]) + base), text)

    panels = []
    for panel in figure.panels:
        names = (str(int(x) + base) if x.isdecimal() else moved(x) for x in panel.row_ruler.labels)
        ruler = replace(panel.row_ruler, labels=tuple(names))
        data = {name: tuple(None if x is None else x + base for x in column) for name, column in panel.data.items()}
        panels.append(replace(panel, labels=tuple(map(moved, panel.labels)), row_ruler=ruler, data=data))
    legends = tuple(replace(x, entries=tuple(replace(e, label=moved(e.label)) for e in x.entries)) for x in figure.legends)
    words = f"warp {base // WARP} of {warps}"
    each = f"Each of the {warps} warps does this on its own 32 lanes, and again for what else the tensor has."
    notes = (*(moved(note) if "faded" in note else note for note in figure.notes), each)
    title = f"{moved(figure.title)}, {words}"
    description = f"{title}. {figure.caption}. {' '.join(notes)}"
    return replace(figure, title=title, panels=tuple(panels), legends=legends, notes=notes, description=description)


def _lanes(op: CopyOp, options: FigureOptions) -> Figure:
    """The figure of one instruction, the threads and lanes of a warp counted from 0."""
    if op.instruction.kind == "tcgen05.cp":
        if highlight_notes(options):
            name = "thread" if options.thread is not None else "value"
            hint = "ask the tcgen05.ld that reads these lanes, for example SM100_TMEM_LOAD_32dp32b8x"
            raise FigureError(f"`{name}=` does not apply to tcgen05.cp: no thread holds a part of it", hint=hint)
        return _filled(op, options)
    pieces = held(op)
    threads, registers = (max(key[n] for key in pieces) + 1 for n in (0, 1))
    high, wide = (max(part[n] for parts in pieces.values() for part in parts) + 1 for n in (0, 1))
    check_cells(high * wide + threads * registers, op.name, options)
    owner: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for (thread, register), parts in pieces.items():
        for half, (lane, column, _) in enumerate(parts):
            owner.setdefault((lane, column), []).append((thread, register, half if len(parts) > 1 else -1))
    first = [owner.get((lane, column)) for lane in range(high) for column in range(wide)]
    keys = [None if found is None else found[0][0] for found in first] + [t for t in range(threads) for _ in range(registers)]
    painting = by_group(keys, threads, "hue: thread of the warp", "T")
    if highlight_notes(options):
        pairs = [None if found is None else found[0][:2] for found in first]
        painting = _lit(painting, [*pairs, *[(t, r) for t in range(threads) for r in range(registers)]], options)
    left = tuple("" if found is None else _owned(found[0]) for found in first)
    every = [pieces[t, r] for t in range(threads) for r in range(registers)]
    right = tuple("\n".join(f"{lane},{column}" for lane, column, _ in parts) for parts in every)
    reduced = "stat" in op.instruction.words  # a further register of each thread holds the maximum of the others
    load = op.instruction.kind == "tcgen05.ld"
    cells = high * wide
    beside, ways = wide + registers <= 32, ("from", "to")[:: 1 if load else -1]
    panels = [
        Panel(
            caption=f"{ways[0]} tensor memory, 32 bits a cell",
            labels=left,
            paints=painting.cells[:cells],
            row_ruler=Ruler("lane", tuple(map(str, range(high)))),
            col_ruler=Ruler("column", tuple(map(str, range(wide)))),
            boxes=tuple(_runs(first, wide)),
            data={"thread": tuple(None if found is None else found[0][0] for found in first)},
        ),
        Panel(
            caption=f"{ways[1]} registers",
            labels=right,
            paints=painting.cells[cells:],
            row_ruler=Ruler("thread", tuple(f"T{t}" for t in range(threads))),
            col_ruler=Ruler("register", tuple(f"r{r}" for r in range(registers))),
        ),
    ]
    name = ("tcgen05.ld.red" if reduced else "tcgen05.ld") if load else "tcgen05.st"
    reached: dict[int, set[tuple[int, int]]] = {}
    for (thread, _), parts in pieces.items():
        reached.setdefault(thread, set()).update((lane, column) for lane, column, _ in parts)
    whole = f"{op.name} ({name}): {high} lanes × {count(wide, 'column')}, {count(registers, 'register')} per thread"
    told = of_lanes(reached, wide, load)
    title = options.title or (f"{told}, and their maximum" if told and reduced else told or whole)
    caption = "A cell of tensor memory shows thread T and register r. "
    caption += "A cell of registers shows its lane and column, from the given address"
    mute = whole * (title != whole)
    caption = f"{mute}. {caption}" if mute else caption
    panels += [_maximum(panels[1])] * reduced
    panels = [replace(panel, place=(0, n) if beside else (n, 0)) for n, panel in enumerate(panels[:: 1 if load else -1])]
    notes = [
        f"The lanes are those of the warp's own 32: warp w of four begins at lane 32w. {not_run('SM103' if reduced else 'SM100')}"
    ]
    if "16b" in op.instruction.words:
        notes.insert(0, "A register packs the low 16 bits of two neighboring columns; the lower half comes first.")
    if reduced:
        notes.insert(0, "max is one more f32 of each thread: the largest of its values.")
    if HOLE in painting.cells:
        notes.append("Hatched: columns that the instruction does not touch.")
    notes[:0] = highlight_notes(options)
    source = f"ValID {op.val_id}, {'Dst' if load else 'Src'} {op.dst if load else op.src}"
    facts = {"threads": threads, "registers a thread": registers, "lanes": high, "columns": wide}
    drawn = painting.figure("lanes", (title, source, caption, f"{title}. {caption}. {' '.join(notes)}"), panels, notes, facts, mute)
    return replace(drawn, arrows=tuple([Arrow(n, n + 1) for n in range(len(panels) - 1)]))


def _lit(painting: Painting, pairs: Sequence[tuple[int, int] | None], options: FigureOptions) -> Painting:
    """The painting with all cells faded but those of the threads and registers, (thread, register), that are asked for."""
    for n, (name, wanted) in enumerate((("thread", options.thread), ("value", options.value))):
        last = max(pair[n] for pair in pairs if pair is not None)
        if wanted is not None and (wanted.start < 0 or wanted.stop > last + 1):
            raise FigureError(f"`{name}={wanted.start}`: there are {name}s 0 to {last}", hint="a value is a register")
    asked_for = options.thread, options.value
    lit = [pair is None or all(w is None or x in w for x, w in zip(pair, asked_for, strict=True)) for pair in pairs]
    paints, cells = receding(painting.paints, painting.cells, lit)
    (legend,) = painting.legends
    asked = highlight_notes(options)[0].removeprefix("All but ").removesuffix(" is faded.")
    entries = [replace(e, label=f"{e.label}: {asked}") for e in legend.entries if e.paint in cells]
    if rest := [x for x in cells if x >= len(painting.paints)]:
        entries.append(LegendEntry(rest[0], "others, faded"))
    return Painting(tuple(cells), paints, (replace(legend, entries=tuple(entries)),))


def _maximum(panel: Panel) -> Panel:
    """The register that tcgen05.ld.red adds to those of each thread."""
    labels, ruler = tuple([f"max of T{t}" for t in range(panel.rows)]), Ruler("", ("max",))
    return replace(panel, caption="their maximum", cols=1, labels=labels, paints=panel.paints[:: panel.cols], col_ruler=ruler)


def _runs(first: Sequence[list[tuple[int, int, int]] | None], wide: int) -> Iterator[tuple[int, int, int, int]]:
    """Boxes around what registers of a thread that follow each other have side by side in a lane; none where halves are packed."""
    keys = [None if found is None else (n // wide, found[0][0], found[0][1] - n) for n, found in enumerate(first)]
    if all(found is None or found[0][2] < 0 for found in first):
        for _, group in groupby(range(len(keys)), key=keys.__getitem__):
            run = [*group]
            if keys[run[0]] is not None:
                yield run[0] // wide, run[0] % wide, run[0] // wide + 1, run[-1] % wide + 1


def _owned(found: tuple[int, int, int]) -> str:
    thread, register, half = found
    return f"T{thread}\nr{register}" + ("" if half < 0 else (".lo", ".hi")[half])
