"""The part of a tile that one instruction of a warp touches: thread, value and bank of each cell, hue by wavefront."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.options import PLAIN, check_cells
from cute_viz.figures.paint import HUES, by_group, listed, receding, span

BESIDE = 16  # columns up to which tiles stand side by side


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


def served(
    title: str,
    source: str,
    parts: Sequence[tuple[str, Sequence[Served]]],
    thread: range | None = None,
    wavefront: int | None = None,
    note: str = "",
) -> Figure:
    """The figure of accesses, each a heading and its cells, beside each other, wide ones on top of each other.

    thread, wavefront: what is not of them fades; wavefronts count from 0.

    Raises: FigureError for a wavefront, or threads, that are not there.

    >>> cells = [Served(0, n, n, 0, 128 * n, 32, n) for n in range(2)]
    >>> served("two words of a bank", "", [("", cells)]).panels[0].labels
    ('T0\\nV0\\nb0', 'T1\\nV0\\nb0')
    """
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
    caption = "A cell shows the thread that asks for it, as which value, and its bank" + (
        f"; lit: {', '.join(wanted)}" if wanted else ""
    )
    return Figure(
        kind="served",
        title=title,
        source=source,
        caption=caption,
        paints=paints,
        legends=(Legend("hue: wavefront", tuple(entries)),),
        panels=tuple(panels),
        notes=(note,) if note else (),
    )


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
        row_ruler=_ruler("m", rows),
        col_ruler=_ruler("n", cols),
        boxes=_runs(found, len(rows), len(cols)),
        data={
            name: tuple([None if cell is None else getattr(cell, name) for cell in found])
            for name in ("thread", "value", "bank", "byte", "wavefront")
        },
        place=(0, place) if len(cols) <= BESIDE else (place, 0),
    )


def _ruler(title: str, numbers: Sequence[int]) -> Ruler:
    return Ruler(title, tuple(map(str, numbers)), (0, *[int(b != a + 1) for a, b in pairwise(numbers)], 0))


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
