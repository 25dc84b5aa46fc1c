"""The part of a tile that one instruction of a warp touches: thread, value and bank of each cell, hue by wavefront."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel, Shape
from cute_viz.figures.options import PLAIN, check_cells
from cute_viz.figures.paint import HUES, by_group, listed, numbered, receding, span
from cute_viz.figures.trim import transposed

BESIDE = 16  # columns up to which tiles stand side by side
LIES = 4  # times as high as wide is a tile that lies
CROWDS = (Paint(0, 1, 2), Paint(3, 1, 2), Paint(1, 1, 2), Paint(1))  # of a bank that one word is asked of, two, three, more


@dataclass(frozen=True, slots=True)
class Served:
    """A cell of the tile: its row and column, who asks for it as which value, its first byte, and the wavefront that serves it."""

    row: int
    col: int
    thread: int
    value: int
    byte: int
    bits: int
    wavefront: int

    @property
    def bank(self) -> int:
        """The bank of 4 bytes where the cell begins."""
        return self.byte // 4 % 32

    @property
    def banks(self) -> str:
        """`b7`, or `b6-7` of an element that spans banks."""
        last = (self.byte + max(1, self.bits // 8) - 1) // 4 % 32
        return f"b{self.bank}" if last == self.bank else f"b{self.bank}-{last}"


class Crowd(NamedTuple):
    """An access: its heading, the cells that it touches, how many words are asked at once of the bank of a (thread, bank), how
    many of each bank in its costliest phase, and the threads that are outlined, with their banks."""

    heading: str
    cells: Sequence[Served]
    words: Mapping[tuple[int, int], int]
    banks: Sequence[int]
    marked: Mapping[int, int]


def served(
    title: str,
    source: str,
    parts: Sequence[tuple[str, Sequence[Served]]],
    thread: range | None = None,
    wavefront: int | None = None,
    note: str = "",
) -> Figure:
    """The figure of accesses, each a heading and its cells, beside each other, wide ones on top of each other. thread,
    wavefront: what is not of them fades; wavefronts count from 0. Raises: FigureError for a wavefront, or threads, that are not
    there."""
    every = [cell for _, cells in parts for cell in cells]
    if not every:
        raise FigureError("nothing of the tile is touched")
    _check(every, thread, wavefront)
    count = 1 + max(cell.wavefront for cell in every)
    lit = [cell for cell in every if _is_lit(cell, thread, wavefront)]
    keys = [cell.wavefront for cell in every]
    painting = by_group(keys, count, "hue: wavefront", turns={n: n % HUES for n in range(count)})
    of = dict(zip(keys, painting.cells, strict=True))
    twins, cells_ = receding(painting.paints, painting.cells, [_is_lit(cell, thread, wavefront) for cell in every])
    paints, rest = (*twins, Paint(-1)), iter(cells_)
    panels = []
    for n, (heading, cells) in enumerate(parts):
        panels.append(_panel(heading, cells, {(c.row, c.col): next(rest) for c in cells}, len(paints) - 1, n))
    entries = []
    for paint in dict.fromkeys(of.values()):
        if mine := sorted({cell.wavefront for cell in lit if of[cell.wavefront] == paint}):
            entries.append(LegendEntry(of[mine[0]], listed(mine)))
    if len(lit) < len(every):
        entries.append(LegendEntry(len(painting.paints), "not asked for, faded"))
    wanted = [f"thread {span(thread.start, thread.stop - 1)}"] if thread is not None else []
    wanted += [f"wavefront {wavefront}"] if wavefront is not None else []
    mute = f"lit: {', '.join(wanted)}" if wanted else ""
    caption = "; ".join(filter(None, ("A cell shows the thread that asks for it, as which value, and its bank", mute)))
    return Figure(
        kind="served",
        title=title,
        source=source,
        caption=caption,
        mute=mute,
        paints=paints,
        legends=(Legend("hue: wavefront", tuple(entries)),),
        panels=tuple(panels),
        notes=(note,) if note else (),
    )


def crowded(title: str, source: str, caption: str, parts: Sequence[Crowd], note: str = "") -> Figure:
    """The figure of accesses as `served`, hue by how many words are asked of the bank of a cell at once; below, those of each
    bank."""
    most = max(1, *(max(part.banks) for part in parts))
    panels = []
    for n, part in enumerate(parts):
        painted = {(c.row, c.col): min(part.words.get((c.thread, c.bank), 1), len(CROWDS)) - 1 for c in part.cells}
        tile = _panel(part.heading, part.cells, painted, len(CROWDS), n)
        if len({cell.value for cell in part.cells}) == 1:
            told = ["" if t is None else f"T{t}\nb{b}" for t, b in zip(tile.data["thread"], tile.data["bank"], strict=True)]
            tile = replace(tile, labels=tuple(told))
        if tile.rows >= LIES * tile.cols:
            tile = transposed(tile)
        names = list(_names(tile))
        if names:
            tile = replace(tile, labels=("",) * len(tile.labels))
        panels.append(replace(tile, shapes=(*names, *_outlines(tile, part.marked), *_bars(tile, part, most))))
    drawn = sorted({paint for panel in panels for paint in panel.paints} - {len(CROWDS)})
    entries = [LegendEntry(n, f"{n + 1}{' and more' * (n == len(CROWDS) - 1 and most > n + 1)}") for n in drawn]
    return Figure(
        kind="served",
        title=title,
        source=source,
        caption=caption,
        paints=(*CROWDS, Paint(-1)),
        legends=(Legend("words of one bank", tuple(entries)),),
        panels=tuple(panels),
        notes=(note,) if note else (),
        flow="row",
    )


def _names(panel: Panel) -> Iterator[Shape]:
    """The thread and the banks of each box of neighbors, in its middle."""
    for top, left, bottom, right in panel.boxes:
        first, last = top * panel.cols + left, (bottom - 1) * panel.cols + right - 1
        begin, end = panel.data["bank"][first], panel.data["bank"][last]
        banks = f"b{begin}" if begin == end else f"b{begin}-{end}"
        yield Shape("text", ((left, top), (right, bottom)), f"T{panel.data['thread'][first]} {banks}", "ink")


def _outlines(panel: Panel, marked: Collection[int]) -> Iterator[Shape]:
    """A box around the cells of each marked thread that follow each other in a row."""
    for row in range(panel.rows):
        threads = enumerate(panel.data["thread"][row * panel.cols : (row + 1) * panel.cols])
        for thread, run in groupby(threads, key=lambda one: one[1]):
            cols = [col for col, _ in run]
            if thread in marked:
                yield Shape("box", ((cols[0], row), (cols[-1] + 1, row + 1)), look="strong ink")


def _bars(panel: Panel, part: Crowd, most: int) -> Iterator[Shape]:
    """The words that are asked of each bank, on top of each other, below a panel; those of marked threads are outlined."""
    step = max(1.0, max(panel.rows, panel.cols) / BESIDE)  # cells that a line of words takes
    wide = max(panel.cols, 8) / len(part.banks)
    high = min(wide * panel.unit[0], 4 * step / most)
    tallest = most if panel.cols < BESIDE else max(part.banks)  # beside each other they stand on one line
    base, marks = panel.rows + 0.9 * step + tallest * high, Counter(part.marked.values())
    yield Shape(
        "text",
        ((wide * len(part.banks), panel.rows + 0.4 * step),),
        f"words of each of the {len(part.banks)} banks",
        "small muted end",
    )
    for bank, count in enumerate(part.banks):
        for n in range(count):
            corners = ((bank + 0.06) * wide, base - n * high), ((bank + 0.94) * wide, base - (n + 0.9) * high)
            (x, y), (right, top) = corners
            yield Shape("area", ((x, y), (right, y), (right, top), (x, top)), paint=min(count, len(CROWDS)) - 1)
            if n < marks[bank]:
                yield Shape("box", corners)
    for bank in (*range(0, len(part.banks), 8), len(part.banks) - 1):
        yield Shape("text", (((bank + 0.5) * wide, base + 0.3 * step),), str(bank), "small muted mono")


def _is_lit(cell: Served, thread: range | None, wavefront: int | None) -> bool:
    return (thread is None or cell.thread in thread) and wavefront in (None, cell.wavefront)


def _check(cells: Sequence[Served], thread: range | None, wavefront: int | None) -> None:
    last = max(cell.wavefront for cell in cells)
    if wavefront is not None and not 0 <= wavefront <= last:
        raise FigureError(f"there is no wavefront {wavefront}", hint=f"they are 0..{last}")
    threads = sorted({cell.thread for cell in cells})
    if thread is not None and not any(t in thread for t in threads):
        raise FigureError(
            f"thread {span(thread.start, thread.stop - 1)} has no part in it", hint=f"threads {threads[0]}..{threads[-1]} have"
        )


def _panel(heading: str, cells: Sequence[Served], painted: dict[tuple[int, int], int], paper: int, place: int) -> Panel:
    """The rows and columns that the cells are in; a border where some are left out."""
    at = {(cell.row, cell.col): cell for cell in reversed(cells)}
    rows, cols = (sorted({where[axis] for where in at}) for axis in (0, 1))
    check_cells(len(rows) * len(cols), "what the access touches", PLAIN)
    found = [at.get((r, c)) for r in rows for c in cols]
    return Panel(
        caption=heading,
        labels=tuple(["" if cell is None else f"T{cell.thread}\nV{cell.value}\n{cell.banks}" for cell in found]),
        paints=tuple([painted.get((r, c), paper) for r in rows for c in cols]),
        row_ruler=numbered("m", rows),
        col_ruler=numbered("n", cols),
        boxes=_runs(found, len(rows), len(cols)),
        data={
            name: tuple([None if cell is None else getattr(cell, name) for cell in found])
            for name in ("thread", "value", "bank", "byte", "wavefront")
        },
        place=(0, place) if len(cols) <= BESIDE else (place, 0),
    )


def _runs(found: Sequence[Served | None], rows: int, cols: int) -> tuple[tuple[int, int, int, int], ...]:
    """Neighbours in a row (or, where there are none, in a column) that one thread asks for one after the other."""
    for across in (True, False):
        out = []
        for line in range(rows if across else cols):
            cells = list(found[line * cols : (line + 1) * cols] if across else found[line::cols])
            start = 0
            for n in range(1, len(cells) + 1):
                a, b = cells[n - 1], cells[n] if n < len(cells) else None
                if a is not None and b is not None and (b.thread, b.value, b.wavefront) == (a.thread, a.value + 1, a.wavefront):
                    continue
                if a is not None and n - start > 1:
                    out.append((line, start, line + 1, n) if across else (start, line, n, line + 1))
                start = n
        if out:
            return tuple(out)
    return ()
