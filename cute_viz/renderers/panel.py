"""One panel as primitives: caption, cells, lines, boxes, labels and rulers, each where it is on the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from cute_viz.renderers import primitives as p
from cute_viz.renderers.frame import Detail, PanelFrame
from cute_viz.renderers.geometry import CHAR, FONT, cell_runs, column_step, row_step
from cute_viz.renderers.marks import Mark
from cute_viz.renderers.shapes import arrows as pointed

LINES_FROM = 5.0  # px: smaller cells have no lines between them
CELL_LINE = (0.8, 0.16)  # width and opacity of a line between cells
BORDERS = (2.2, 3.0)  # px: stroke of a tile border, and of one of larger tiles; the outer frame has the first
MOST_BORDER = 0.4  # of a cell's width that a tile border may take
BOX = 1.1  # px: stroke of a box
INSET = 1.6  # px from the edge of the cells to their box, so that neighbours stay apart
EAR = (8.0, 0.55)  # size and opacity of a dog-ear
AROUND = 6.0  # px of a label's room in which no letter is
PLATE = 16.0  # height of what lies below the name of a group, so that no line runs through it
RULER = (11.0, 8.0)  # px from the cells up to the column labels, and left to the row labels
RULER_TITLE = (29.0, 2.0)  # px up to the columns' title, and from the left edge to it
ARROW, ARROW_AT = 2.0, 0.9  # stroke of an arrow; where it runs in the height of a cell, so that no label is in its way
LINE_HEIGHT = 1.5  # of a caption, in font sizes
BOLD, PLAIN = 600, 400


def draw(frame: PanelFrame, grid: p.Grid, y: float, crossed: Sequence[int] = ()) -> Iterator[p.Primitive]:
    """The primitives of a panel whose upper edge is at y and whose cells are the grid, in drawing order.

    crossed: rows whose label an arrow goes through; `on_paper` puts it above that.
    """
    for n, line in enumerate(frame.caption):
        yield p.Line(line, grid.left, y + frame.fit.caption * (LINE_HEIGHT * n + 0.7), frame.fit.caption, p.TEXT, weight=BOLD)
    paints = frame.panel.paints
    if frame.detail == Detail.RASTER:
        yield p.Image(grid, paints, max(1, round(1 / grid.cell_w)))
    else:
        found = cell_runs(paints, grid.cols)
        yield from (p.Cells(grid, paint, *found[paint]) for paint in sorted(found))
    yield from _lines(frame, grid)
    yield from _boxes(frame, grid)
    yield from _labels(frame, grid)
    yield from _marks(frame, grid)
    yield from _arrows(frame, grid)
    yield from _rulers(frame, grid, crossed)


def _lines(frame: PanelFrame, grid: p.Grid) -> Iterator[p.Primitive]:
    """Cell lines, tile borders by level, and the frame."""
    edges = (grid.ys(), grid.xs())
    rows, cols = ([(m.r0, m.r1) for m in frame.marks], [(m.c0, m.c1) for m in frame.marks])
    rulers = (frame.panel.row_ruler.levels, rows), (frame.panel.col_ruler.levels, cols)
    levels = [_outside(ruler, spans) if frame.detail == Detail.COLOUR else ruler for ruler, spans in rulers]
    known = {*levels[0][1:-1], *levels[1][1:-1]}
    for level in range(3):
        wanted = {mine for mine in known if min(mine, 2) == level}
        if not wanted or (level == 0 and (min(grid.cell_w, grid.cell_h) < LINES_FROM or frame.is_boxed)):
            continue
        across, down = (
            [edge for mine, edge in zip(found[1:-1], places[1:-1], strict=True) if mine in wanted]
            for found, places in zip(levels, edges, strict=True)
        )
        if level:
            yield p.Strokes(grid, p.TILE, min(BORDERS[level - 1], MOST_BORDER * grid.cell_w), across, down)
        else:
            yield p.Strokes(grid, p.CELL, CELL_LINE[0], across, down, CELL_LINE[1])
    yield p.Border(grid, BORDERS[0])


def _outside(levels: Sequence[int], named: Sequence[tuple[int, int]]) -> list[int]:
    """Borders without those that run through what has a name, and end nothing that has one."""
    ends = {end for span in named for end in span}
    return [0 if i not in ends and any(a < i < b for a, b in named) else level for i, level in enumerate(levels)]


def _boxes(frame: PanelFrame, grid: p.Grid) -> Iterator[p.Primitive]:
    """Rounded outlines; none where they would hide the cells."""
    boxes, w, h = frame.panel.boxes, grid.cell_w, grid.cell_h
    if frame.corner and boxes:
        xs, ys = [x + INSET for x in grid.xs()], [y + INSET for y in grid.ys()]
        widths = [(c1 - c0) * w - 2 * INSET for _, c0, _, c1 in boxes]
        heights = [(r1 - r0) * h - 2 * INSET for r0, _, r1, _ in boxes]
        yield p.Boxes([xs[box[1]] for box in boxes], [ys[box[0]] for box in boxes], widths, heights, frame.corner, BOX)


def _labels(frame: PanelFrame, grid: p.Grid) -> Iterator[p.Primitive]:
    """What stands in the cells, and a dog-ear on each cell that has several owners."""
    if frame.labels.shared:
        places = [divmod(cell, grid.cols) for cell in frame.labels.shared]
        xs, ys = grid.xs(), grid.ys()
        corners = [(xs[c + 1], ys[r]) for r, c in places]
        yield p.Path([[(x - EAR[0], y), (x, y), (x, y + EAR[0])] for x, y in corners], p.INK, 0.0, p.INK, EAR[1])
    lines = frame.labels.lines
    for n, texts in enumerate(lines):
        size, weight, opacity = (FONT, BOLD if len(lines) > 1 else PLAIN, 1.0) if n == 0 else (frame.fit.small, PLAIN, 0.8)
        yield p.Labels(grid, frame.middle(n), texts, frame.panel.paints, size, weight, opacity)


def _marks(frame: PanelFrame, grid: p.Grid) -> Iterator[p.Primitive]:
    """A text for each label of several cells, in their middle; on a plate, where a border would run through it."""
    if not frame.marks:
        return
    levels = (frame.panel.row_ruler.levels, frame.panel.col_ruler.levels)
    borders = [[i for i, level in enumerate(mine) if level] for mine in levels]
    spans = ({(mark.r0, mark.r1) for mark in frame.marks}, {(mark.c0, mark.c1) for mark in frame.marks})
    across, down = ({(a, b): any(a < i < b for i in mine) for a, b in span} for span, mine in zip(spans, borders, strict=True))
    plates: dict[int, list[list[tuple[float, float]]]] = {}
    rows = []
    for mark in frame.marks:
        tall, wide = PLATE + 12 * (len(mark.lines) - 1), mark.width
        edges = _edges(frame, mark) if frame.detail == Detail.COLOUR else borders
        x = grid.left + _clear(mark.c0, mark.c1, edges[1], (wide - AROUND) / grid.cell_w) * grid.cell_w
        y = grid.top + _clear(mark.r0, mark.r1, edges[0], tall / grid.cell_h) * grid.cell_h
        if frame.detail == Detail.COLOUR or across[mark.r0, mark.r1] or down[mark.c0, mark.c1]:
            w, h = min(wide, (mark.c1 - mark.c0) * grid.cell_w - BORDERS[0]) / 2, tall / 2
            h = min(h, (mark.r1 - mark.r0) * grid.cell_h / 2)
            plates.setdefault(mark.paint, []).append([(x - w, y - h), (x + w, y - h), (x + w, y + h), (x - w, y + h)])
        small = FONT if mark.even else frame.fit.small
        rows += [(x, y + mark.middle(n), line, small if n else FONT, mark.paint) for n, line in enumerate(mark.lines)]
    yield from (p.Path(areas, p.INK, 0.0, paint) for paint, areas in plates.items())
    xs, ys, texts, sizes, paints = zip(*rows, strict=True)
    yield p.Texts(xs, ys, texts, sizes, FONT, paints, p.MIDDLE, BOLD)


def _edges(frame: PanelFrame, mark: Mark) -> tuple[list[int], list[int]]:
    """Rows and columns within a group at which a border, the outline of a box or another shade begins."""
    panel, (r0, c0, r1, c1, *_) = frame.panel, mark
    rows = [panel.paints[r * panel.cols + c0 : r * panel.cols + c1] for r in range(r0, r1)]
    boxes = panel.boxes if frame.corner else ()
    down = {edge for box in boxes for edge in box[::2]} | {i for i, level in enumerate(panel.row_ruler.levels) if level}
    right = {edge for box in boxes for edge in box[1::2]} | {i for i, level in enumerate(panel.col_ruler.levels) if level}
    down |= {r0 + n for n in range(1, len(rows)) if rows[n] != rows[n - 1]}
    lines = [*zip(*rows, strict=True)]
    right |= {c0 + n for n in range(1, len(lines)) if lines[n] != lines[n - 1]}
    return sorted(down), sorted(right)


def _clear(r0: int, r1: int, borders: Sequence[int], tall: float) -> float:
    """Where, in rows or columns, the middle of a text stands: that of r0..r1, or of the band between borders that is next to it."""
    middle = (r0 + r1) / 2
    edges = [r0, *[i for i in borders if r0 < i < r1], r1]
    bands = [(a + b) / 2 for a, b in pairwise(edges) if b - a >= tall]
    return min(bands, key=lambda band: abs(band - middle), default=middle)


def _arrows(frame: PanelFrame, grid: p.Grid) -> Iterator[p.Primitive]:
    """A line from one cell to another, and its head; its words are in the label of the cell where it begins."""
    arrows = frame.panel.arrows
    if not arrows or frame.detail >= Detail.COLOUR:
        return
    ways = []
    for r0, c0, r1, c1 in arrows:
        across, down = (0.5, ARROW_AT) if r0 == r1 else (1 - ARROW_AT, 0.5)
        ways.append(
            [(grid.left + (c + across) * grid.cell_w, grid.top + (r + down) * grid.cell_h) for r, c in ((r0, c0), (r1, c1))]
        )
    yield from pointed(ways, p.INK, ARROW)


def _rulers(frame: PanelFrame, grid: p.Grid, crossed: Sequence[int] = ()) -> Iterator[p.Primitive]:
    """Row labels at the left, column labels on top, as many as fit, and the titles with arrows."""
    rows, cols = frame.panel.row_ruler, frame.panel.col_ruler
    above, beside = grid.top - RULER[0], grid.left - RULER[1]
    every = column_step(cols.labels, CHAR * FONT, grid.cell_w)
    middles = grid.middles()
    if shown := [c for c in range(0, grid.cols, every) if cols.labels[c]]:
        yield _ruler([middles[c] for c in shown], [above] * len(shown), [cols.labels[c] for c in shown], p.MIDDLE)
    every = row_step(FONT, grid.cell_h)
    if shown := [r for r in range(0, grid.rows, every) if r not in crossed and rows.labels[r]]:
        ys = [grid.top + (r + 0.5) * grid.cell_h for r in shown]
        yield _ruler([beside] * len(shown), ys, [rows.labels[r] for r in shown], p.END)
    over = grid.top - RULER_TITLE[0]
    if rows.title:
        at = (grid.left - frame.left + 1, over) if frame.shift else (beside, above)
        yield p.Line(f"{rows.title} ↓", *at, FONT, p.MUTED, anchor=p.START if frame.shift else p.END)
    if cols.title:
        yield p.Line(f"{cols.title} →", grid.left + RULER_TITLE[1] + frame.shift, over, FONT, p.MUTED)


def on_paper(frame: PanelFrame, grid: p.Grid, rows: Sequence[int]) -> Iterator[p.Primitive]:
    """The labels of rows through which an arrow goes, above it."""
    x = grid.left - RULER[1]
    for row in rows:
        label, y = frame.panel.row_ruler.labels[row], grid.top + (row + 0.5) * grid.cell_h
        left, high = x - len(label) * CHAR * FONT - 2, FONT * 0.7
        yield p.Path([[(left, y - high), (x + 2, y - high), (x + 2, y + high), (left, y + high)]], p.INK, 0.0, p.PAPER)
        yield _ruler([x], [y], [label], p.END)


def _ruler(xs: list[float], ys: list[float], texts: Sequence[str], anchor: str) -> p.Texts:
    return p.Texts(xs, ys, texts, [FONT] * len(texts), FONT, None, anchor, PLAIN)
