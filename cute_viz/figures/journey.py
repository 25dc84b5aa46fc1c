"""The stages of a kernel in lanes, one for each memory: the tile of A on its way to C and back, by the rows of C.

Every panel has the rows of the tile, or the lines of 128 bytes that these are in memory; hue is the warp that holds the row of C.
What one instruction reads or writes is in full hue, or what one thread has to do with; the rest recedes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from cute_viz.algebra.copy import CopyOp
from cute_viz.algebra.descriptor import DescriptorTensor, SmemDescriptor
from cute_viz.algebra.gemm import Stages
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tma import TmaCopy
from cute_viz.algebra.tmem import WARP, TensorMemory, metadata_words
from cute_viz.algebra.views import atom_of
from cute_viz.figures.lanes import held, is_lanes
from cute_viz.figures.machine import Place, Span, of_chain, of_shared
from cute_viz.figures.model import HOLE, Arrow, Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.paint import HUES, span
from cute_viz.figures.tmem import held_by
from cute_viz.figures.trim import picked
from cute_viz.figures.words import numbered
from cute_viz.spelling import count

LANES, COLUMNS = 128, 512  # of tensor memory
LINE, CHUNK = 128, 16  # bytes of a line of shared memory, and of a chunk
GROUP = 8  # columns of C side by side
WARPS = 4  # of a CTA
FAINT, GREY = HUES, 2 * HUES  # where the paints of what recedes begin; that of what belongs to all rows
PAPER = GREY + 1
PAINTS = (*(Paint(hue) for hue in range(HUES)), *(Paint(hue, faded=True) for hue in range(HUES)), Paint(-1, 1, 2), Paint(-1))


def journey(obj: Stages, hues: Mapping[int, int], rows: Collection[int] = (), thread: int | None = None) -> Figure | None:
    """The lanes of stages that load a tile of A and hold its C; None of others. hues: of each row of C. rows: those of a thread."""
    load = next(
        (x for x in obj.parts if isinstance(x, TmaCopy) and x.op.instruction.home("S") == "gmem" and x.im2col is None), None
    )
    store = next((x for x in obj.parts if isinstance(x, TmaCopy) and x.op.instruction.home("S") == "smem"), None)
    if load is None or not hues:
        return None
    pair = load.op.instruction.ctas == 2
    described = next((x for x in obj.parts if isinstance(x, (DescriptorTensor, SmemDescriptor))), None)
    deep = _depth(described, load)
    lit = set(range(deep))
    path = [("global", _tile("Tile of A", load, hues, lit, rows, "k"), _moved("TMA load", load, pair))]
    atoms = [atom_of(x) for x in obj.parts if isinstance(x, (MMA_Atom, TiledMMA))]
    mmas = [x for x in atoms if x.instruction.home("C") == "rmem"]
    path.append(("shared", _lines("A", load, hues, lit, rows), f"{'wgmma' if mmas else 'tcgen05.mma'}\nk 0..{deep - 1}"))
    columns: set[int] | None = None
    told = "", ""
    k = 0
    if mmas:
        following = mmas[1] if len(mmas) > 1 and mmas[1].instruction.home("A") == "rmem" else None
        told = _chained(mmas[0], following) if following else ("", "")
        k = product(following.shape_mnk[2]) if following else 0
        path.append(("registers", _of_rows("First product" if k else "Accumulator", hues, _columns(mmas[0]), k, rows), "store"))
        if following:
            path[-1] = (*path[-1][:2], "in place\nno copy" if told[1] else "moved\nto A")
            kept = _of_rows("A of the next", hues, _columns(mmas[0]), k, rows, "k")
            path.append(("registers", kept, f"wgmma\nk 0..{k - 1}"))
            path.append(("registers", _of_rows("Next product", hues, _columns(following), 0, rows), "store"))
    tensors = next((in_tensor_memory(x) for x in obj.parts if in_tensor_memory(x)), ())
    every = [held_by(name, tensor) for name, tensor in tensors]
    if tensors and not mmas:
        ld = next((x for x in obj.parts if isinstance(x, CopyOp) and is_lanes(x)), None)
        wide = 1 + max((r for _, r in held(ld)), default=0) if ld is not None else 0
        columns = set(range(wide))
        path.append(("tensor memory", _tensor_memory(tensors, every, wide, rows), f"tcgen05.ld\n{wide} columns" if wide else ""))
        if wide:
            path.append(("registers", _of_rows("C, by thread", hues, (wide, 1), 0, rows, "register"), "store"))
    if store is not None and len(path) > 2:
        path.append(("shared", _lines("D", store, hues, columns, rows), _moved("TMA store", store, pair)))
        path.append(("global", _tile("Tile of D", store, hues, columns, rows, "n"), ""))
    if len(path) < 3:
        return None
    named = [replace(panel, caption=f"{panel.caption}: {memory}") for memory, panel, _ in path]
    named = [_banded(panel) for panel in named] if rows else named
    panels = tuple([replace(_twice(panel) if pair else panel, place=(0, n)) for n, panel in enumerate(named)])
    arrows = tuple([Arrow(n, n + 1, label=path[n][2]) for n, _ in pairwise(range(len(path)))])
    cells = [paint for panel in panels for paint in panel.paints]
    warps = sorted(set(hues.values()))
    names = [(hue, f"warp {hue}") for hue in warps]
    if pair:
        names = [(hue + WARPS * cta, f"CTA {cta} warp {hue}") for cta in range(2) for hue in warps]
    entries = tuple([LegendEntry(hue, f"thread {thread}" if rows else name) for hue, name in names if hue in cells])
    if rows:
        entries += tuple([LegendEntry(FAINT + hue, name) for hue, name in names if FAINT + hue in cells])
    if GREY in cells:
        entries = (*entries, LegendEntry(GREY, "scale factors"))
    title, words = _finding(panels, rows, thread, deep, "what one tcgen05.ld reads of C, on to D" if columns else "all of C")
    if not rows and told[0]:
        title, words = told[0], f"In full hue: k 0..{k - 1} of the next A{told[1]}. Hue: warp"
    elif not rows and len(tensors) > 1:
        title, words = (
            of_shared(
                {name.partition(" ")[0]: {column for _, column in its} for (name, _), its in zip(tensors, every, strict=True)},
                COLUMNS,
            ),
            f"{words}; gray: scale factors, which tcgen05.cp brings",
        )
    elif not rows and pair:
        title = f"One instruction of two CTAs: each loads, holds and stores its own {panels[0].rows // 2} rows"
    return Figure(
        kind="journey",
        title=title,
        caption=words,
        description=f"{title}. {words}.",
        paints=PAINTS,
        legends=(Legend("hue: warp that holds the row of C", entries),),
        panels=panels,
        arrows=arrows,
    )


def _banded(panel: Panel) -> Panel:
    """The panel with one row for all that stand together and are alike, so that a single one in full hue is as high as they are."""
    lines = [panel.paints[r * panel.cols : (r + 1) * panel.cols] for r in range(panel.rows)]
    lit = [any(0 <= paint < FAINT for paint in line) for line in lines]
    starts = [r for r in range(panel.rows) if r == 0 or lit[r] or lines[r] != lines[r - 1]]
    old, ends = panel.row_ruler.labels, [*starts[1:], panel.rows]
    names = [span(a, b - 1) if old[a] else "" for a, b in zip(starts, ends, strict=True)]
    whole = picked(panel, starts, range(panel.cols))
    alone = [n for n, (a, b) in enumerate(zip(starts, ends, strict=True)) if b == a + 1]
    labels = [label if n // panel.cols in alone else "" for n, label in enumerate(whole.labels)]
    ruler = replace(whole.row_ruler, labels=tuple(names), levels=(0,) * (len(names) + 1))
    return replace(whole, labels=tuple(labels), row_ruler=ruler)


def _twice(panel: Panel) -> Panel:
    """The panel of one CTA of a pair as that of both: below it the rows of the other, in the hues of its own warps."""

    def other(paint: int) -> int:
        return paint + WARPS if 0 <= paint < GREY else paint

    labels = panel.row_ruler.labels
    rows = max([panel.rows, *(int(end) + 1 for label in labels for end in re.findall(r"\d+", label))])  # one may stand for several
    more = tuple([re.sub(r"\d+", lambda digits: str(int(digits[0]) + rows), label) for label in labels])
    ruler = replace(panel.row_ruler, labels=labels + more, levels=(*panel.row_ruler.levels[:-1], 1, *panel.row_ruler.levels[1:]))
    paints = (*panel.paints, *map(other, panel.paints))
    return replace(panel, rows=2 * panel.rows, labels=panel.labels * 2, paints=paints, row_ruler=ruler)


def _chained(first: MMA_Atom, second: MMA_Atom) -> tuple[str, str]:
    """What threads hold of C of an MMA, beside what the next one reads of it as A; in words, and for one thread."""
    cells = []
    for atom, operand in ((first, "C"), (second, "A")):
        layout, rows = atom.layout(operand), atom.held(operand)[0]
        threads, table = size(get(layout, 0)), offsets(layout)
        cells.append([[(x % rows, x // rows) for x in table[t::threads]] for t in range(threads)])
    return of_chain(cells[0], cells[1], product(second.shape_mnk[2]), product(first.shape_mnk[1]))


def _finding(panels: tuple[Panel, ...], rows: Collection[int], thread: int | None, deep: int, of_c: str) -> tuple[str, str]:
    """What is seen: where the k slice stands in shared memory, or how many lines the rows of a thread are in."""
    shared = panels[1]
    lit = [n for n, paint in enumerate(shared.paints) if 0 <= paint < FAINT]
    chunks = sorted({n % shared.cols for n in lit})
    if rows:
        lines = len({n // shared.cols for n in lit})
        told = numbered(rows, "row")
        return f"Thread {thread} holds {told} of C: {count(lines, 'line')} of shared memory", f"In full hue: {told}"
    lone = f"k 0..{deep - 1}"
    words = f"In full hue: {lone} of A, which one instruction reads, and {of_c}. Hue: warp"
    if len(chunks) > len(lit) / shared.rows + 0.5:
        which = f"all {len(chunks)} chunks" if len(chunks) == shared.cols else f"{len(chunks)} of {shared.cols} chunks"
        return f"The swizzle spreads {lone} over {which}", words
    return f"{lone} of A stands in {len(chunks)} of {shared.cols} chunks of each line", words


def _depth(described: Any, load: TmaCopy) -> int:
    """How many k an instruction reads: of the operand's fragment, else of a row of the tile."""
    if isinstance(described, DescriptorTensor):
        return product(modes(modes(described.tensor.layout.shape)[0])[1])
    return min(product(modes(load.smem.shape)[1]), 256 // load.tensor.bits)


def _moved(word: str, part: TmaCopy, pair: bool) -> str:
    return f"{word}\n{'2 × ' * pair}{size(part.smem) * part.tensor.bits // 8 // 1024 or '<1'} KB"


def _paint(hue: int, lit: bool) -> int:
    return hue if lit else FAINT + hue


def _extents(part: TmaCopy) -> tuple[int, int]:
    shape = modes(part.smem.shape)
    return product(shape[0]), product(shape[1])


def _tile(caption: str, part: TmaCopy, hues: Mapping[int, int], lit: set[int] | None, rows: Collection[int], mode: str) -> Panel:
    """The tile in global memory, a cell for 16 bytes of a row."""
    m, k = _extents(part)
    each = max(1, CHUNK * 8 // part.tensor.bits)
    cols = -(-k // each)
    paints = [_paint(hues.get(r, 0), r in rows if rows else lit is None or c * each in lit) for r in range(m) for c in range(cols)]
    labels = tuple([str(c * each) if c % 2 == 0 else "" for c in range(cols)])
    told = mode == "k"  # the first panel's rows are those of all
    ruler = Ruler("m" if told else "", tuple([str(r) if told else "" for r in range(m)]))
    words = [f"{r},{c * each}" for r in range(m) for c in range(cols)]
    return _panel(caption, m, paints, ruler, (mode, labels), words)


def _lines(name: str, part: TmaCopy, hues: Mapping[int, int], lit: set[int] | None, rows: Collection[int]) -> Panel:
    """The tile in lines of 128 bytes of shared memory, a cell for each chunk of 16: the first element that lies there."""
    m, k = _extents(part)
    bits, table = part.tensor.bits, offsets(part.smem)
    first: dict[int, int] = {}
    asked: set[int] = set()  # chunks of which any element is in full hue
    for n in range(m * k):
        first.setdefault(chunk := int(table[n]) * bits // 8 // CHUNK, n)
        if n % m in rows if rows else lit is None or n // m in lit:
            asked.add(chunk)
    per = LINE // CHUNK
    lines = max(first) // per + 1
    paints: list[int] = []
    for chunk in range(lines * per):
        if (at := first.get(chunk)) is None:
            paints.append(HOLE)
        else:
            paints.append(_paint(hues.get(at % m, 0), chunk in asked))
    swizzled = not isinstance(part.smem, Layout) and part.map.swizzle != 0
    ruler = Ruler("", ("",) * lines)
    words = [f"{first[n] % m},{first[n] // m}" if n in first else "" for n in range(lines * per)]
    across = "16-byte chunk", tuple(map(str, range(per)))
    return _panel(f"{name}, {'swizzled' if swizzled else 'plain'}", lines, paints, ruler, across, words)


def _columns(atom: MMA_Atom) -> tuple[int, int]:
    """The cells of a row of C, and how many columns each has."""
    return -(-product(atom.shape_mnk[1]) // GROUP), GROUP


def _of_rows(
    caption: str, hues: Mapping[int, int], across: tuple[int, int], lit: int, rows: Collection[int], mode: str = "n"
) -> Panel:
    """C in registers by rows, so many cells of so many columns across; in full hue the first `lit` columns, or all."""
    m, (cols, each) = max(hues) + 1, across
    paints = [_paint(hues.get(r, 0), r in rows if rows else not lit or c * each < lit) for r in range(m) for c in range(cols)]
    labels = tuple([str(c * each) for c in range(cols)])
    words = [f"{r},{c * each}" for r in range(m) for c in range(cols)]
    return _panel(caption, m, paints, Ruler("", ("",) * m), (mode, labels), words)


def in_tensor_memory(part: Any) -> tuple[tuple[str, Tensor], ...]:
    """The accumulator in tensor memory, and what lies there beside it; of any other part nothing."""
    if isinstance(part, TensorMemory):
        return part.parts if part.parts[0][0].startswith("C ") else ()
    return (("C", part),) if isinstance(part, Tensor) and part.pointer is not None and not metadata_words(part) else ()


def _tensor_memory(
    parts: Sequence[tuple[str, Tensor]], every: Sequence[dict[Place, Span]], wide: int, rows: Collection[int]
) -> Panel:
    """Tensor memory by its lanes and true columns, 8 a cell: C in hue, in full hue what one tcgen05.ld reads; the rest is grey."""
    (_, accumulator), *_ = parts
    taken = sorted({column for its in every for _, column in its})
    starts = range(taken[0] // GROUP * GROUP, taken[-1] + 1, GROUP)
    shape = modes(accumulator.layout.shape)
    each = len({column for _, column in every[0]}) // product(shape[3:] or 1)
    first = min(column for _, column in every[0])
    paints, of_column, words = [], [], []
    for start in starts:
        n = next((n for n, its in enumerate(every) if any(start <= column < start + GROUP for _, column in its)), -1)
        of_column.append((n, (start - first) // each if n == 0 else 0))
    for lane in range(LANES):
        for (n, stage), start in zip(of_column, starts, strict=True):
            span = next((every[n][lane, x] for x in range(start, start + GROUP) if (lane, x) in every[n]), None) if n >= 0 else None
            words.append("" if span is None else f"{span[0]},{span[1]}" if n == 0 else parts[n][0].partition(" ")[0])
            if span is None:
                paints.append(HOLE)
            elif n:
                paints.append(GREY)
            else:
                mine = {span[0], span[2]} & {*rows} if rows else start - first < (wide or each)
                paints.append(_paint(lane // WARP, bool(mine) and stage == 0))
    steps = [int(a != b) for a, b in pairwise(of_column)]
    ruler = Ruler("", ("",) * LANES)
    panel = _panel("C, by lane", LANES, paints, ruler, ("column", tuple(map(str, starts))), words)
    return replace(panel, col_ruler=replace(panel.col_ruler, levels=(0, *steps, 0)))


def _panel(
    caption: str, rows: int, paints: list[int], ruler: Ruler, across: tuple[str, tuple[str, ...]], words: Sequence[str]
) -> Panel:
    title, labels = across
    down = Ruler(title, labels)
    return Panel(caption, rows, len(labels), tuple(words), tuple(paints), ruler, down, legends=(0,))
