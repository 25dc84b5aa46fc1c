"""A TMA or bulk copy atom alone: one thread issues, a box is read, lines are written, a barrier counts the bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cute_viz.algebra.copy import Copy_Atom, CopyOp, make_copy_atom
from cute_viz.algebra.measure import size
from cute_viz.algebra.modes import get
from cute_viz.algebra.tma import GATHERS
from cute_viz.figures.memory import GLOBAL, SHARED, memory_of
from cute_viz.figures.model import Arrow, Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.options import FigureOptions, check_cells
from cute_viz.spelling import count
from cute_viz.values.instruction import Instruction

LINE = 128  # bytes of a line of shared memory
MOST_LINES = 8
WALK = (3, 4)  # rows and columns of the box of a sketch, through whose pixels an im2col load walks
PIXELS, DEEP = 10, 128  # of that walk, at most; bits of a pixel at least
AROUND, ACROSS = 1, 3  # cells of the tensor around the box, and that the box has across
GATHERED = (0, 2, 3, 6)  # rows of a sketch that a gather takes: any four
PAPER = 4  # the paint behind four hues


def bulk(obj: Copy_Atom | CopyOp, options: FigureOptions) -> Figure:
    r"""The figure of a TMA or bulk copy atom; the tensor is a sketch, since the atom does not know its tensor map. Raises:
    LimitError for more cells than the options allow. Source: PTX ISA, "cp.async.bulk.tensor"; cute/arch/copy_sm90_tma.hpp,
    copy_sm100_tma.hpp."""
    atom = make_copy_atom(obj, 1 if size(get(obj.src, 1)) % 8 else 8) if isinstance(obj, CopyOp) else obj
    layout, bits, name, op = atom.layout_src, atom.bits, atom.name, atom.instruction
    ctas, values = (size(get(layout, n)) for n in (0, 1))
    total = -(-values * bits // 8)
    four = bool(GATHERS & op.words)
    check_cells(ctas * min(values, MOST_LINES), f"the copy of {count(values, 'value')}", options)
    issue = _cell(f"1 thread{' of each' if ctas > 1 else ''}", [f"CTA {n}\n1 thread" for n in range(ctas)])
    pixels = next((n for n in range(PIXELS, 0, -1) if values % n == 0 and values // n * bits >= DEEP), 1)
    walk = "im2col" in op.words
    shared = _landed(values, pixels) if walk else _shared(op, values, bits, ctas, four)
    tensor = _walk(pixels) if walk else _tensor(op, ctas, four, total)
    prefetch = "prefetch" in op.words
    load = memory_of(op, "S") == GLOBAL
    stages = [
        issue,
        *([tensor, _cell("only the L2 cache", ["L2"])] if prefetch else [tensor, shared] if load else [shared, tensor]),
    ]
    if not prefetch:
        stages.append(_done(op, total * ctas, ctas, load))
    adds = "reduce" in op.words
    verbs = ("issues", "reads", "adds to" if adds else "writes", "completes")
    panels = [replace(panel, caption=f"{n + 1}. {verbs[n]}: {panel.caption}", place=(0, n)) for n, panel in enumerate(stages)]
    each = f"One thread of each of {ctas} CTAs" if ctas > 1 else "One thread"
    bytes_ = count(total, "byte")
    flat = bytes_.replace(" ", " contiguous ") if op.kind == "cp.async.bulk" else f"a box of {bytes_}"
    what = f"4 rows of {count(total // 4, 'byte')}" if four else f"{bytes_}, pixel by pixel," if walk else flat
    way = "" if prefetch else f" from {memory_of(op, 'S').removesuffix(' memory')} to {memory_of(op, 'D')}"
    told = f"adds {what} of {SHARED} to {GLOBAL}" if adds else f"{'prefetches' if prefetch else 'copies'} {what}{way}"
    title = options.title or f"{each} {told}".removesuffix(",")
    what = count(values, f"{bits}-bit value")
    caption = f"{name}: {_instruction(op)}. {each} issues; the hardware moves {what}, V0 first"
    notes = _notes(op, values * bits, ctas, f" and so are its {pixels} pixels of {values // pixels} channels," * walk)
    words, hues = ("row of the gather", 4) if four else ("the CTA that issues the copy", ctas)
    names = [f"row r{n}" for n in range(4)] if four else [f"CTA {n}" for n in range(ctas)]
    entries = tuple(LegendEntry(n, names[n]) for n in range(hues))
    source = f"Src {layout}, Dst {atom.layout_dst}"
    return Figure(
        kind="bulk",
        title=title,
        source=source,
        caption=caption,
        paints=(*map(Paint, range(4)), Paint(-1)),
        legends=(Legend(f"hue: {words}", entries),) if hues > 1 else (),
        panels=tuple(panels),
        notes=tuple(notes),
        facts={"CTAs": ctas, "bytes": total * ctas, "bits of a value": bits},
        arrows=tuple(Arrow(n, n + 1) for n in range(len(panels) - 1)),
    )


def _instruction(op: Instruction) -> str:
    """What PTX calls it."""
    base = op.kind.replace("cp.", "cp.reduce.", 1) if "reduce" in op.words else op.kind
    base = base.replace(".bulk", ".bulk.prefetch") if "prefetch" in op.words else base
    words = {"im2col": "im2col", "gather4": "tile::gather4", "scatter4": "tile::scatter4", "multicast": "multicast"}
    told = [base, *(word for key, word in words.items() if key in op.words)]
    return ", ".join([*told, *(["cta_group::2"] if op.ctas > 1 else [])])


def _cell(caption: str, labels: Sequence[str]) -> Panel:
    """Words in cells below each other."""
    rows = len(labels)
    plain = Ruler("", ("",), (0, 0))
    return Panel(caption, rows, 1, tuple(labels), tuple(range(rows)), Ruler("", ("",) * rows), plain)


def _done(op: Instruction, total: int, ctas: int, load: bool) -> Panel:
    """How the thread learns that it is done."""
    if not load:
        return _cell("the bulk group", ["bulk group\ncommit, wait"])
    whose = "\nof each CTA" if "multicast" in op.words else "\nof CTA 0" if ctas > 1 else ""
    return _cell("the mbarrier", [f"mbarrier{whose}\n{f'{ctas} × ' * (ctas > 1)}{total // ctas} bytes"])


def _tensor(op: Instruction, ctas: int, four: bool, total: int) -> Panel:
    """A sketch of the tensor in global memory with the box that is moved."""
    if op.kind == "cp.async.bulk":
        return Panel(
            caption=f"{GLOBAL}, contiguous",
            labels=("+0", *("…",) * (ACROSS - 2), f"+{total - 1}"),
            paints=(0,) * ACROSS,
            row_ruler=Ruler("", ("",), (0, 0)),
            col_ruler=Ruler("byte", ("",) * ACROSS),
            boxes=((0, 0, 1, ACROSS),),
        )
    high, cols = 1 if four else 3 if ctas == 1 else 2, ACROSS + 2 * AROUND
    tops = [AROUND + x for x in GATHERED] if four else [AROUND + high * n for n in range(ctas)]
    rows = tops[-1] + high + AROUND
    owner = {row: n for n, top in enumerate(tops) for row in range(top, top + high)}
    inside = [owner.get(row, PAPER) if AROUND <= col < cols - AROUND else PAPER for row in range(rows) for col in range(cols)]
    words = [f"r{n}" if four else f"CTA {n}" if ctas > 1 else "+= box" if "reduce" in op.words else "box" for n in range(len(tops))]
    named = {(top + (high - 1) // 2, AROUND + ACROSS // 2): words[n] for n, top in enumerate(tops)}
    labels = [named.get((row, col), "") for row in range(rows) for col in range(cols)]
    marks = {top: f"r{n}" if four else "c1" for n, top in enumerate(tops) if four or not n}
    return Panel(
        caption=f"{GLOBAL}, {'4 rows' if four else 'a box'}",
        labels=tuple(labels),
        paints=tuple(inside),
        row_ruler=Ruler("dim 1", tuple(marks.get(row, "") for row in range(rows))),
        col_ruler=Ruler("dim 0", tuple("c0" if col == AROUND else "" for col in range(cols)), (0,) * (cols + 1)),
        boxes=tuple((top, AROUND, top + high, cols - AROUND) for top in tops),
    )


def _walk(pixels: int) -> Panel:
    """A sketch of an image of which an im2col load takes so many pixels one after the other, w first, within a box."""
    rows, cols = WALK[0] + 2 * AROUND, WALK[1] + 2 * AROUND
    box = [(row, col) for row in range(AROUND, rows - AROUND) for col in range(AROUND, cols - AROUND)]
    walk = {cell: f"p{n}" for n, cell in enumerate(box[WALK[1] // 2 :][:pixels])}
    cells = [(row, col) for row in range(rows) for col in range(cols)]
    return Panel(
        caption=f"{GLOBAL}, pixels one by one",
        labels=tuple(walk.get(cell, "") for cell in cells),
        paints=tuple(0 if cell in walk else PAPER for cell in cells),
        row_ruler=Ruler("h", ("",) * rows),
        col_ruler=Ruler("w", ("",) * cols, (0,) * (cols + 1)),
    )


def _landed(values: int, pixels: int) -> Panel:
    """A sketch of shared memory with the channels of one pixel after those of another."""
    each = values // pixels
    labels = [f"p{n}: V{n * each}-{(n + 1) * each - 1}" for n in range(pixels)]
    return replace(_cell(f"{SHARED}, in their order", labels), paints=(0,) * pixels)


def _shared(op: Instruction, values: int, bits: int, ctas: int, four: bool) -> Panel:
    """The values as they lie in shared memory, in lines of 128 bytes; shorter ones of a gather whose rows are shorter."""
    total = -(-values * bits // 8)
    line = max(1, min(LINE, total // 4)) if four else LINE
    rows = min(MOST_LINES, -(-total // line))
    spans = [(n * line * 8 // bits, min(((n + 1) * line * 8 - 1) // bits, values - 1)) for n in range(rows)]
    labels = [f"V{first}" + (f"-{last}" if last > first else "") for first, last in spans]
    return Panel(
        caption=f"{SHARED} of each CTA in the mask" if "multicast" in op.words else SHARED,
        labels=tuple(label for label in labels for _ in range(ctas)),
        paints=tuple(n * line * 4 // total if four else cta for n in range(rows) for cta in range(ctas)),
        row_ruler=Ruler("byte" * (rows > 1), tuple(str(row * line) * (rows > 1) for row in range(rows))),
        col_ruler=Ruler("", tuple(f"CTA {n}" if ctas > 1 else "" for n in range(ctas)), (0, *(1,) * (ctas - 1), 0)),
        data={"byte": tuple(n * line for n in range(rows) for _ in range(ctas))},
    )


def _notes(op: Instruction, bits: int, ctas: int, pixels: str) -> list[str]:
    told = f"The tensor is a sketch,{pixels} since an atom does not know the extents of its tensor map."
    out = [] if op.kind == "cp.async.bulk" else [told]
    if (lines := -(-bits // (8 * LINE))) > MOST_LINES and "prefetch" not in op.words:
        out.append(f"Only the first {MOST_LINES} of {lines} lines of {LINE} bytes are shown.")
    if "prefetch" not in op.words and op.kind != "cp.async.bulk":
        out.append("Within a line the swizzle of the tensor map XORs the numbers of the 16-byte chunks.")
    if "multicast" in op.words:
        out.append("Every CTA in the mask receives the same bytes at the same offset of its shared memory and of its mbarrier.")
    if ctas > 1:
        out.append("Each CTA of the pair loads its own part; both parts count on the mbarrier of the leader, the even CTA.")
    if "reduce" in op.words:
        out.append("What arrives is added to what lies in global memory (+=), element by element.")
    if "im2col" in op.words:
        out.append("Of each pixel p some channels are taken; the walk goes along w, then h, within the box of the tensor map.")
    who = "A template argument" if op.kind == "cp.async.bulk" else "make_tma_copy"
    out.append(f"{who} sets the size of the atom: here {bits} bits{' per CTA' if ctas > 1 else ''}.")
    return out
