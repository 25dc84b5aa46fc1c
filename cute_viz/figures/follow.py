"""One thread's way through a GEMM: global memory, shared memory by address, registers, accumulator, global memory again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import gcd
from typing import NamedTuple

from cute_viz.algebra.common import WARP
from cute_viz.algebra.copy import TiledCopy
from cute_viz.algebra.gemm import Gemm
from cute_viz.algebra.measure import size
from cute_viz.errors import FigureError
from cute_viz.figures.follow_steps import (
    ACCESS,
    LINE,
    ROWS_OF,
    Cell,
    Shared,
    Steps,
    instruction,
    shared_of,
    steps_of,
    swizzle_words,
)
from cute_viz.figures.held import of_thread
from cute_viz.figures.memory import per_chunk
from cute_viz.figures.model import Arrow, Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.options import FigureOptions, check_cells
from cute_viz.figures.paint import HUES, numbered
from cute_viz.spelling import count

MOST = 1024  # threads of a slider
TOGETHER = 8  # rows (or columns) that are drawn where one of them is used
WIDEST = 32  # columns of a panel of elements
PAPER = Paint(-1)
OF_C = Paint(-1, 1, 2)  # a thread's elements of C: a grey, since every hue may be one of the operand's
Box = tuple[int, int, int, int]


class _Cells(NamedTuple):
    """What the cells of a panel show, row by row, the boxes around some, and the legend that tells their colours."""

    labels: list[str]
    paints: list[int]
    boxes: list[Box]
    legend: int = 0


def follow(obj: Gemm, options: FigureOptions) -> Figure:
    """The picture of a Gemm's work as one thread does it. The panels show the same rows: those that concern the thread, eight
    together. What repeats is drawn once. Where the format has a slider, the figure comes with those of the threads asked for, or
    of the thread's warp. Raises: FigureError for no thread or several, and for an operand that is neither A nor B."""
    threads, operand = _asked(options)
    drawn = _followed(obj, options, threads[0], operand)
    if not options.series:
        return drawn
    if len(threads) == 1:
        first = threads[0] // WARP[0] * WARP[0]
        threads = range(first, min(first + WARP[0], size(obj.mma.thr_layout_vmnk)))
    return replace(drawn, series=tuple([_followed(obj, options, thread, operand) for thread in threads]))


def _followed(obj: Gemm, options: FigureOptions, thread: int, operand: str) -> Figure:
    steps, shared = steps_of(obj, operand, thread), shared_of(obj, operand)
    drawing = _Drawing(obj, operand, thread, steps, shared, options)
    drawing.draw()
    legends = drawing.legends()
    m, n, k = obj.tile
    of_a = "" if operand == "A" else f", by way of {operand}"
    whole = f"Thread {thread} through a GEMM of {m} × {n} × {k}{of_a}"
    copied, held = sorted({row for part in steps.written for row, _ in part}), [row for row, _ in steps.held]
    title = options.title or of_thread(thread, operand, copied, held, "row" if operand == "A" else "column") or whole
    called = obj.mma.atom.instruction.called or obj.mma.atom.name or "an MMA atom"
    smem = obj.smem_a if operand == "A" else obj.smem_b
    caption = f"{whole}. {operand} of {shared.bits}-bit elements; {called}; the same rows everywhere, one instruction of each kind"
    return Figure(
        kind="follow",
        title=title,
        source=f"shared memory {smem}",
        caption=caption,
        description=f"{title}. {caption}. {' '.join([panel.caption + '.' for panel in drawing.panels] + steps.notes)}",
        paints=tuple(drawing.paints),
        legends=legends,
        panels=tuple(drawing.panels),
        notes=(*steps.notes, *drawing.notes),
        facts={"thread": thread, "warp": thread // 32, "lane": thread % 32},
        arrows=tuple(drawing.arrows),
    )


def _asked(options: FigureOptions) -> tuple[range, str]:
    """The thread, or those of a series, and the operand."""
    if options.follow is None or (len(options.follow) != 1 and not options.series):
        raise FigureError("`follow=` is one thread", hint="example: `follow=13`; html has a slider for several")
    if len(options.follow) > MOST:
        raise FigureError(f"`follow=`: a slider has up to {MOST} threads")
    operand = (options.operand or "A").upper()
    if operand not in ROWS_OF:
        raise FigureError(f"`operand={options.operand}`: a thread is followed by way of A or B")
    return options.follow, operand


class _Drawing:
    """The panels and arrows under way."""

    def __init__(self, gemm: Gemm, operand: str, thread: int, steps: Steps, shared: Shared, options: FigureOptions) -> None:
        self.gemm, self.operand, self.thread, self.steps, self.shared = gemm, operand, thread, steps, shared
        self.paints: list[Paint] = [PAPER]
        self.panels: list[Panel] = []
        self.arrows: list[Arrow] = []
        self.notes: list[str] = []
        i, j = ROWS_OF[operand]
        self.extents = gemm.tile[i], gemm.tile[j]
        self.names = "MNK"[i], "MNK"[j]
        self.across = "N" if operand == "A" else "M"
        used = [*steps.written, *steps.given, *steps.got, steps.held]
        self.rows = _window({r for part in used for r, _ in part}, self.extents[0])
        check_cells(len(self.rows) * self.extents[1], f"{operand}, of {len(self.rows)} rows", options)
        self.unit = per_chunk(shared.bits)  # elements of 16 bytes
        self.along_k = shared.cols < 2 or shared.plain[shared.rows] - shared.plain[0] == 1

    def draw(self) -> None:
        """Every step that the thread has a part in."""
        steps = self.steps
        written = self._global() if steps.written else None
        landed = self._memory()
        if written and landed:
            self._arrow(0, written, 1, landed)
        before = len(self.panels) - 1
        if steps.got:
            self._registers()
            self._row_arrows(before, steps.got[0], True)
            before += 1
        self._held(before)

    def legends(self) -> tuple[Legend, Legend]:
        """What hue means: the 16 bytes of the operand's tile; of C, what is the thread's."""
        cols = self.extents[1] if self.along_k else self.extents[0]
        entries = []
        for n in range(min(HUES, -(-cols // self.unit))):
            label = f"{self.names[1 if self.along_k else 0].lower()} {n * self.unit}..{(n + 1) * self.unit - 1}"
            label += " and further" if cols > HUES * self.unit else ""
            paints = self._paint(n, False), self._paint(n, True)
            entries.append(LegendEntry(paints[0], label))
        own = LegendEntry(self._index(OF_C), f"thread {self.thread}")
        return Legend(f"hue: which 16 bytes of {self.operand}; faded: of other threads", tuple(entries)), Legend("of C", (own,))

    def _paint(self, hue: int, faded: bool) -> int:
        return self._index(Paint(hue % HUES, faded=faded))

    def _index(self, paint: Paint) -> int:
        if paint not in self.paints:
            self.paints.append(paint)
        return self.paints.index(paint)

    def _hue(self, cell: Cell) -> int:
        return (cell[1] if self.along_k else cell[0]) // self.unit

    def _arrow(self, source: int, start: Box, target: int, end: tuple[int, ...]) -> None:
        self.arrows.append(Arrow(source, target, start, end))

    def _add(self, caption: str, numbers: Sequence[int], cols: Sequence[int], cells: _Cells, titles: tuple[str, str]) -> None:
        """One more panel; a border parts rows that do not follow each other."""
        panel = Panel(
            caption=f"{len(self.panels) + 1}. {caption}",
            labels=tuple(cells.labels),
            paints=tuple(cells.paints),
            row_ruler=numbered(titles[0], numbers),
            col_ruler=Ruler(titles[1], tuple(map(str, cols))),
            boxes=tuple(cells.boxes),
            data={  # of the cells that are the thread's
                "thread": tuple(self.thread if label else None for label in cells.labels),
                "value": tuple(int(found[0]) if (found := re.findall(r"V(\d+)", label)) else None for label in cells.labels),
            },
            place=(0, len(self.panels)),
            legends=(cells.legend,),
        )
        self.panels.append(panel)

    def _global(self) -> Box:
        """The operand in global memory: what the thread copies."""
        (part,) = self.steps.written
        wide = _along_row(part)
        cols = range(0, self.extents[1], wide)
        mine = {(r, c // wide) for r, c in part}
        labels, paints = [], []
        for r in self.rows:
            for n, c in enumerate(cols):
                labels.append(f"T{self.thread}" if (r, n) in mine else "")
                paints.append(self._paint(self._hue((r, c)), (r, n) not in mine))
        box = _around([(self.rows.index(r), n) for r, n in mine])
        copy = self.gemm.g2s_a if self.operand == "A" else self.gemm.g2s_b
        caption = (
            f"{instruction(copy)}, {len(part) * self.shared.bits // 8} bytes of global {self.operand}: {_words(part, self.names)}"
        )
        self._add(caption, self.rows, cols, _Cells(labels, paints, [box]), self.names)
        return box

    def _memory(self) -> Box | None:
        """Shared memory by address: where that lands, and where what the thread gets comes from."""
        shared = self.shared
        into = {shared.chunk(cell) for part in self.steps.written for cell in part}
        out_of: dict[Cell, list[int]] = {}
        for part in self.steps.got:
            for value, element in enumerate(part):
                out_of.setdefault(shared.chunk(element), []).append(value)
        at: dict[Cell, Cell] = {}  # the first element of each chunk
        for k in range(self.extents[1]):
            for r in self.rows:
                at.setdefault(shared.chunk((r, k)), (r, k))
        last = 1 + max(line for line, _ in (*at, *into, *out_of))
        lines = _window({line for line, _ in (*into, *out_of)} or {0}, last)
        labels, paints = [], []
        for line in lines:
            for chunk in range(LINE // ACCESS):
                place = (line, chunk)
                cell = at.get(place)
                label = [f"T{self.thread}"] if place in into else []
                labels.append("\n".join([*label, *([_values(out_of[place])] if place in out_of else [])]))
                paints.append(0 if cell is None else self._paint(self._hue(cell), not labels[-1]))
        xor = swizzle_words(shared, self.steps.written[0][0]) if self.steps.written else ""
        repeats = "" if (shared.rows, shared.cols) == self.extents else f", {shared.rows} × {shared.cols} of it"
        caption = f"shared memory{repeats} in lines of {LINE // 8} bytes{': ' + xor if xor else ''}"
        boxes = [_around([(lines.index(line), chunk)]) for line, chunk in sorted({*into, *out_of})]
        self._add(caption, lines, range(0, 32, 4), _Cells(labels, paints, boxes), ("line", "bank"))
        return _around([(lines.index(line), chunk) for line, chunk in into]) if into else None

    def _registers(self) -> None:
        """What the thread gets of the operand; whose address it gave is a note."""
        (part,) = self.steps.got
        given = [cell for one in self.steps.given for cell in one]
        copy = self.gemm.s2r_a if self.operand == "A" else self.gemm.s2r_b
        cols = _window({c for _, c in part}, self.extents[1])[:WIDEST]
        how = f"{instruction(copy)} to registers" if copy is not None else "registers"
        if copy is not None and given and copy.atom.instruction.matrices:
            words = f"T{self.thread} gives {instruction(copy)} the address of {_words(given, self.names)}"
            self.notes.append(f"{words}; the instruction deals these 16 bytes out to several threads.")
        self._elements(f"{how}: {_rows(part, self.names[0])}", part, cols, self.names[1], True)

    def _held(self, before: int) -> None:
        """The accumulator, and what is stored of it; arrows go from row to row."""
        held = self.steps.held
        cols = _window({c for _, c in held}, self.gemm.tile[1 if self.operand == "A" else 0])[:WIDEST]
        if held and held[-1][1] > cols[-1]:
            self.notes.append(f"{len(held)} elements of C are the thread's; those of the first {WIDEST} columns are drawn.")
        called = self.gemm.mma.atom.instruction.called or "mma"
        self._elements(f"{called}: {_words(held, ('m', 'n') if self.operand == 'A' else ('n', 'm'))} of C", held, cols, self.across)
        if self.steps.got:
            self._row_arrows(before, self.steps.got[0])
        stored = [cell for part in self.steps.stored for cell in part]
        if not stored:
            return
        epilogue = self.gemm.epilogue
        assert isinstance(epilogue, TiledCopy)
        wide = len(self.steps.stored[0]) * epilogue.atom.bits // 8
        many = count(len(self.steps.stored), "store") + f" of {wide} bytes"
        same = set(stored) <= set(held)
        rows = self.rows
        if not same:
            self.rows = _window({r for r, _ in stored}, self.extents[0])
            cols = _window({c for _, c in stored}, self.gemm.tile[1 if self.operand == "A" else 0])[:WIDEST]
        self._elements(f"epilogue, to global C: {many}", stored, cols, self.across, False)
        self.rows = rows
        if same:
            self._row_arrows(len(self.panels) - 2, held)

    def _elements(self, caption: str, part: list[Cell], cols: list[int], title: str, hued: bool = False) -> None:
        """A panel of elements: the thread's, with the numbers of its values; a cell is as many as stand together everywhere."""
        value = {cell: n for n, cell in reversed(list(enumerate(part)))}
        runs = [run for run in _runs(part) if all(c in cols for _, c in run)]
        each = gcd(*[n for run in runs for n in (len(run), cols.index(run[0][1]))], len(cols))
        labels, paints = [], []
        for r in self.rows:
            for c in cols[::each]:
                mine = value.get((r, c))
                labels.append("" if mine is None else _values(range(mine, mine + each)))
                colour = Paint(self._hue((r, c)) % HUES) if hued else OF_C
                paints.append(0 if mine is None else self._index(colour))
        places = [[(self.rows.index(r), cols.index(c) // each) for r, c in run] for run in runs]
        cells = _Cells(labels, paints, [_around(its) for its in places], 0 if hued else 1)
        self._add(caption, self.rows, cols[::each], cells, (self.names[0], title))

    def _row_arrows(self, source: int, part: list[Cell], lines: bool = False) -> None:
        """From the last of a thread's values in each row, or in its line of memory, to the first in the panel after."""
        left, right = self.panels[source], self.panels[source + 1]
        for r, c in sorted(dict(sorted(part, reverse=True)).items()):
            row = self.rows.index(r)
            line = left.row_ruler.labels.index(str(self.shared.chunk((r, c))[0])) if lines else row
            starts = [box for box in left.boxes if box[0] == line and "V" in left.labels[line * left.cols + box[1]]]
            ends = [box for box in right.boxes if box[0] == row]
            if starts and ends:
                self._arrow(source, max(starts, key=lambda box: box[3]), source + 1, min(ends, key=lambda box: box[1]))


def _window(used: set[int], extent: int) -> list[int]:
    """The lines that are drawn: those that are used, and those that stand with them."""
    starts = sorted({n // TOGETHER * TOGETHER for n in used})
    return [n for start in starts for n in range(start, min(start + TOGETHER, extent))]


def _around(cells: Sequence[Cell]) -> Box:
    rows, cols = [r for r, _ in cells], [c for _, c in cells]
    return min(rows), min(cols), max(rows) + 1, max(cols) + 1


def _values(numbers: Sequence[int]) -> str:
    """`V0-1` of values that follow each other, else `V0,2`."""
    run = len(numbers) > 1 and [*numbers] == [*range(numbers[0], numbers[-1] + 1)]
    return f"V{f'{numbers[0]}-{numbers[-1]}' if run else ','.join(map(str, numbers))}"


def _runs(part: Sequence[Cell]) -> list[list[Cell]]:
    """Neighbours in a row that follow each other as values."""
    out: list[list[Cell]] = []
    for cell in part:
        if out and out[-1][-1] == (cell[0], cell[1] - 1):
            out[-1].append(cell)
        else:
            out.append([cell])
    return out


def _along_row(part: Sequence[Cell]) -> int:
    """How many elements a cell holds where a thread's are one aligned vector of a row; else 1."""
    first = part[0]
    whole = list(part) == [(first[0], first[1] + n) for n in range(len(part))]
    return len(part) if whole and first[1] % len(part) == 0 else 1


def _rows(part: Iterable[Cell], name: str) -> str:
    return f"{name.lower()} {', '.join(map(str, sorted({r for r, _ in part})))}"


def _words(part: Sequence[Cell], names: tuple[str, str]) -> str:
    """Elements in words: rows and columns."""
    out = []
    for axis, name in enumerate(names):
        found = sorted({cell[axis] for cell in part})
        run = found == list(range(found[0], found[-1] + 1)) and len(found) > 1
        some = ", ".join(map(str, found[:4])) + (" …" if len(found) > 4 else "")
        out.append(f"{name.lower()} {f'{found[0]}..{found[-1]}' if run else some}")
    return ", ".join(out)
