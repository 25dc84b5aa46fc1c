"""Large figures made to fit: folded into bands of columns, cropped, without rows that nothing happens in, some lines of memory."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from cute_viz.errors import FigureError
from cute_viz.figures.model import HOLE, Arrow, Figure, Panel, Ruler
from cute_viz.spelling import count


def fold(figure: Figure, columns: int) -> Figure:
    """The figure with panels of more columns cut into bands on top of each other. Raises: FigureError for bands without a
    column."""
    if columns < 1:
        raise FigureError("a band has at least one column")
    panels: list[Panel] = []
    row = 0
    for line in sorted({panel.place[0] for panel in figure.panels}):
        here = [panel for panel in figure.panels if panel.place[0] == line]
        deepest = 1
        for panel in here:
            bands = [(c, min(c + columns, panel.cols)) for c in range(0, panel.cols, columns)]
            for n, (c0, c1) in enumerate(bands):
                words = f"columns {c0}..{c1 - 1}" if len(bands) > 1 else ""
                caption = ": ".join(part for part in (panel.caption, words) if part)
                panels.append(replace(cut(panel, 0, panel.rows, c0, c1), caption=caption, place=(row + n, panel.place[1])))
            deepest = max(deepest, len(bands))
        row += deepest
    whole = len(panels) == len(figure.panels)  # in bands, the numbers of panels are other ones
    return replace(figure, panels=tuple(panels), arrows=figure.arrows if whole else ())


def crop(figure: Figure, rows: int, columns: int) -> Figure:
    """The upper left corner of every panel; a note says what was left out."""
    notes = []
    for panel in figure.panels:
        more = [(panel.rows - rows, "row"), (panel.cols - columns, "column")]
        words = " and ".join(count(n, f"more {what}") for n, what in more if n > 0)
        if words:
            notes.append(f"{panel.caption + ': ' if panel.caption else ''}... {words}")
    panels = tuple(cut(panel, 0, min(rows, panel.rows), 0, min(columns, panel.cols)) for panel in figure.panels)
    arrows = tuple(
        [arrow for arrow in figure.arrows if _has(panels[arrow.source], arrow.start) and _has(panels[arrow.target], arrow.end)]
    )
    return replace(figure, panels=panels, notes=(*notes, *figure.notes), arrows=arrows)


def _has(panel: Panel, box: tuple[float, ...]) -> bool:
    return not box or (box[2] <= panel.rows and box[3] <= panel.cols)


def cut(panel: Panel, r0: int, r1: int, c0: int, c1: int) -> Panel:
    """The rows r0..r1-1 and columns c0..c1-1 of a panel."""
    return picked(panel, range(r0, r1), range(c0, c1))


def picked(panel: Panel, rows: Sequence[int], cols: Sequence[int]) -> Panel:
    """The panel with these rows and columns alone; a border stands where some are left out, and boxes are as large as what is
    left."""
    boxes = []
    for r0, c0, r1, c1 in panel.boxes:
        a, c = bisect_left(rows, r0), bisect_left(rows, r1)
        b, d = bisect_left(cols, c0), bisect_left(cols, c1)
        if a < c and b < d:
            boxes.append((a, b, c, d))
    rulers = _lines(panel.row_ruler, rows), _lines(panel.col_ruler, cols)
    return regridded(panel, [r * panel.cols + c for r in rows for c in cols], *rulers, tuple(boxes))


def regridded(
    panel: Panel,
    cells: Sequence[int | None],
    row_ruler: Ruler,
    col_ruler: Ruler,
    boxes: tuple[tuple[int, int, int, int], ...] = (),
    label: str = "",
    paint: int = HOLE,
) -> Panel:
    """The panel with other cells, row by row: each the number of an old one, or None of one with this label and paint."""
    number = {cell: n for n, cell in enumerate(cells) if cell is not None}

    def full(column: Sequence[Any], empty: Any) -> tuple[Any, ...]:
        return tuple([empty if cell is None else column[cell] for cell in cells])

    return replace(
        panel,
        rows=len(row_ruler.labels),
        cols=len(col_ruler.labels),
        labels=full(panel.labels, label) if panel.labels else (),
        paints=full(panel.paints, paint),
        row_ruler=row_ruler,
        col_ruler=col_ruler,
        owners=tuple(sorted([(number[cell], mine) for cell, mine in panel.owners if cell in number])),
        boxes=boxes,
        data={name: full(column, None) for name, column in panel.data.items()},
    )


def _lines(ruler: Ruler, kept: Sequence[int]) -> Ruler:
    """The ruler of some lines."""
    old = ruler.levels
    inner = [old[b] if b == a + 1 else max(1, *old[a + 1 : b + 1]) for a, b in pairwise(kept)]
    levels = (old[kept[0]], *inner, old[kept[-1] + 1])
    return Ruler(ruler.title, tuple([ruler.labels[n] for n in kept]), levels)


TALL = 8  # times as high as wide: of a copy, whose modes have no places of their own


def lying(figure: Figure) -> Figure:
    """The figure, its panels as one row each where they are a grid of one mode; a single tall panel of a copy likewise."""
    lone = [panel.cols == 1 and not panel.col_ruler.title for panel in figure.panels]
    if figure.kind == "copy" and len(lone) == 1:
        lone = [figure.panels[0].rows >= TALL * figure.panels[0].cols]
        if lone[0] and (found := re.fullmatch(r"((?:Each|One) thread .* of one )(row|column)", figure.title)):
            figure = replace(figure, title=found[1] + ("column" if found[2] == "row" else "row"))
    elif figure.kind != "operation" and not (figure.kind == "grid" and all(lone)):
        return figure
    return replace(figure, panels=tuple([transposed(p) if flat else p for p, flat in zip(figure.panels, lone, strict=True)]))


def transposed(panel: Panel) -> Panel:
    """A panel with rows and columns exchanged, arrows and boxes too."""
    turn = str.maketrans("→↓", "↓→")
    turned = regridded(
        panel,
        [r * panel.cols + c for c in range(panel.cols) for r in range(panel.rows)],
        panel.col_ruler,
        panel.row_ruler,
        tuple([(c0, r0, c1, r1) for r0, c0, r1, c1 in panel.boxes]),
    )
    arrows = tuple([(c0, r0, c1, r1) for r0, c0, r1, c1 in panel.arrows])
    return replace(turned, labels=tuple([label.translate(turn) for label in turned.labels]), arrows=arrows)


def abridged(figure: Figure) -> Figure:
    """The figure with the rows that have labels or boxes, of panels with as many rows the same; borders where some are not."""
    kept: dict[int, set[int]] = {}
    for panel in figure.panels:
        kept.setdefault(panel.rows, set()).update(_busy(panel))
    alone = {extent: {r + 1 for r in mine if r + 2 in mine} for extent, mine in kept.items()}  # a single row between two
    rows = {extent: sorted(mine | alone[extent]) or list(range(extent)) for extent, mine in kept.items()}
    panels = tuple([picked(panel, rows[panel.rows], range(panel.cols)) for panel in figure.panels])

    def moved(box: tuple[float, ...], panel: int) -> tuple[float, ...]:
        at = rows[figure.panels[panel].rows].index
        return (at(int(box[0])), box[1], at(int(box[2]) - 1) + 1, box[3]) if box else box

    arrows: list[Arrow] = [
        replace(arrow, start=moved(arrow.start, arrow.source), end=moved(arrow.end, arrow.target)) for arrow in figure.arrows
    ]
    return replace(figure, panels=panels, arrows=tuple(arrows))


def _busy(panel: Panel) -> set[int]:
    """The rows with a label or a box."""
    busy = {cell // panel.cols for cell, label in enumerate(panel.labels) if label}
    busy |= {r for r0, _, r1, _ in panel.boxes for r in range(r0, r1)}
    return busy


MOST_LINES = 16  # of memory that are shown
RUNS = 4  # of neighbouring lines, at most


def some_lines(panel: Panel, wanted: Iterable[int], line: int) -> tuple[Panel, str]:
    """A panel of memory with 16 of its lines of so many bytes, and a sentence that says which: runs that begin at wanted lines."""
    starts = sorted({*wanted}) or [0]
    if panel.rows <= MOST_LINES:
        return panel, ""
    if len(starts) > RUNS:
        starts = [starts[n * len(starts) // RUNS] for n in range(RUNS)]
    each = MOST_LINES
    while len(runs := sorted({start // each for start in starts})) * each > MOST_LINES:
        each //= 2
    rows = [n for run in runs for n in range(run * each, min((run + 1) * each, panel.rows))]
    if rows == list(range(MOST_LINES)):
        return picked(
            panel, rows, range(panel.cols)
        ), f"Only the first {MOST_LINES} lines of {line} bytes of shared memory are shown."
    first = [panel.row_ruler.labels[run * each] for run in runs]
    words = f"each of the bytes {', '.join(first[:-1])} and {first[-1]}" if len(first) > 1 else f"byte {first[0]}"
    return picked(panel, rows, range(panel.cols)), f"Of shared memory {each} lines of {line} bytes are shown from {words} on."
