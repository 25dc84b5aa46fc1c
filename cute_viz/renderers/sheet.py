"""Panels of a board that are drawn in one place: a grid with its shapes, its rulers and words, or the faces of a cube."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import hypot
from typing import NamedTuple

from cute_viz.figures.model import Panel
from cute_viz.records import dataclass
from cute_viz.renderers import primitives as p
from cute_viz.renderers.geometry import BOLD, CHAR, FONT, PROSE, balanced, cell_runs, column_step, row_step, split_lines, wrap
from cute_viz.renderers.shapes import breadth, broad, drawn, reach
from cute_viz.renderers.targets import LEAST

UNDER = 12.0  # px of what is below a title, or a panel
HEADING, SIDE = 12.0, 10.0  # px of a panel's caption, of its rulers and its notation
TOP = 17.0  # px of the labels of columns
NARROW = 84.0  # px that a caption has at least
LINE, FINE = 0.7, 5.0  # px of a line between cells, and of a cell without one
SLANT = (0.866, 0.5)  # of the edges of a cube


class Size(NamedTuple):
    """How large panels are drawn: px of a cell of the figure, of the smallest letter, and that a panel with its words may take."""

    cell: float
    least: float = LEAST
    broad: float = 0.0

    @property
    def side(self) -> float:
        """px of rulers and notations."""
        return max(SIDE, self.least)


class Sheet:
    """Panels that are drawn in one place, measured: a grid, or the three faces of a cube."""

    def __init__(self, panels: Sequence[Panel], size: Size) -> None:
        self.panels, self.size = panels, size
        first = panels[0]
        self.is_flat = not first.face
        beside = [shape.points[0] for shape in first.shapes if shape.kind == "text" and shape.points[0][0] > first.cols]
        lowest = FONT if len(beside) >= first.rows else 0.0  # of a row with words beside it
        self.w, self.h = size.cell * first.unit[0], max(lowest, size.cell * first.unit[1])
        self.lines: tuple[tuple[str, ...], ...] = ()
        self.font = float(FONT)
        if self.is_flat:
            self.lines, self.font = _fitting(first, self.w, self.h, size.least)
        rows, cols = first.row_ruler, first.col_ruler
        sides = [breadth(label, size.side, True) + 8 for label in rows.labels if label]
        if rows.title and (told := [label for label in rows.labels if label]):
            sides.append(breadth(f"{rows.title} {told[0]}", size.side, True) + 8)
        self.top, self.side = TOP if any(cols.labels) else 0.0, max(sides, default=0.0)
        if cols.title and self.top:
            sides.append(breadth(cols.title, size.side, True) + 14)
        xs, ys = [], []
        for panel in panels:
            at = self.at(panel)
            corners = [at(x, y) for x in (0, panel.cols) for y in (0, panel.rows)]
            corners += [point for shape in panel.shapes for point in reach(shape, at)]
            xs += [x for x, _ in corners]
            ys += [y for _, y in corners]
        self.left, self.right = max([0.0, -min(xs), *sides]), max(xs)
        self.over, self.under = max(self.top, -min(ys)), max(ys)
        room = max(NARROW, self.right, size.broad - self.left)
        self.heading = _heading(first.caption, room, size.side)
        self.above = self.over + (self.heading[-1].y + 13 if self.heading else 0)
        self.own = self.above
        self.foot = balanced(first.foot, room, UNDER * PROSE) if first.foot else []
        self.below = self.under + (4 + 15 * len(self.foot) if self.foot else 0)
        widest = max([0.0, *(line.x + broad(line) for line in self.heading)])
        self.width = self.left + max(self.right, widest, *(breadth(line, UNDER) for line in self.foot or [""]))
        self.height = self.above + self.below

    @property
    def is_mute(self) -> bool:
        """Whether there are labels for which the cells are too small."""
        panel = self.panels[0]
        return self.is_flat and not self.lines and any(panel.labels) and all(s.kind != "line" for s in panel.shapes)

    def at(self, panel: Panel, x: float = 0.0, y: float = 0.0) -> _At:
        """Where points of a panel are, when the corner of the first cell is at (x, y)."""
        w, h = (self.w, self.h) if self.is_flat else (self.size.cell * panel.unit[0], self.size.cell * panel.unit[1])
        c, s = SLANT
        if panel.face == "left":
            return _At(x, y, (w * c, w * s), (0, h))
        if panel.face == "top":
            return _At(x, y, (w * c, -w * s), (h * c, h * s))
        if panel.face == "right":
            far = self.panels[0].cols * self.panels[0].unit[0] * self.size.cell
            return _At(x + far * c, y + far * s, (w * c, -w * s), (0, h))
        texts = [s for s in panel.shapes if s.kind == "text" and panel.cols < s.points[0][0] <= panel.cols + 1]
        aside = max([0.0, *(breadth(s.text, FONT, "mono" in s.look, "bold" in s.look) for s in texts)])
        return _At(x, y, (w, 0), (0, h), self.side, self.top + 7, panel.cols + 1, aside)

    def put(self, x: float, y: float) -> Iterator[p.Primitive]:
        """The primitives of the panels, the corner of the first cell at (x, y)."""
        for line in self.heading:
            yield line._replace(x=x + line.x, y=y - self.above + line.y)
        for panel in self.panels:
            at = self.at(panel, x, y)
            yield from (
                _flat(panel, p.Grid(panel.rows, panel.cols, x, y, self.w, self.h), self)
                if self.is_flat
                else _slanted(panel, at, self.size.least)
            )
            for shape in panel.shapes:
                yield from drawn(shape, at, min(self.w, self.h) if self.is_flat else self.size.cell)
        for n, text in enumerate(self.foot):
            yield p.Line(text, x, y + self.under + 14 + 15 * n, UNDER, p.MUTED)


@dataclass(frozen=True, slots=True)
class _At:
    """An affine map from cells to px. What is beside the cells, or above them, is so beyond the rulers, which take side and top;
    what is beyond the column `edge` is so beyond the texts that stand before it, which take aside."""

    x: float
    y: float
    right: tuple[float, float]
    down: tuple[float, float]
    side: float = 0.0
    top: float = 0.0
    edge: float = 1e9
    aside: float = 0.0

    def __call__(self, x: float, y: float) -> tuple[float, float]:
        if not self.right[1]:
            further = -self.side if x < 0 else self.aside if x > self.edge else 0.0
            return self.x + x * self.right[0] + further, self.y + y * self.down[1] - (y < 0) * self.top
        return self.x + x * self.right[0] + y * self.down[0], self.y + x * self.right[1] + y * self.down[1]


def _fitting(panel: Panel, w: float, h: float, least: float) -> tuple[tuple[tuple[str, ...], ...], float]:
    """The lines of the labels and their size, where they fit the cells; no lines where they do not."""
    if not any(panel.labels) or any(shape.kind == "line" for shape in panel.shapes):
        return (), FONT  # a line runs where labels would be
    lines = split_lines(panel.labels)
    longest = max(len(label) for line in lines for label in line)
    font = min(float(FONT), (w - 3) / (longest * CHAR), (h - 1) / (1.05 * len(lines)))
    return (lines, font) if font >= least else ((), FONT)


def _heading(caption: str, room: float, side: float) -> list[p.Line]:
    """The caption of a panel from (0, 0) on: what follows two spaces is notation, behind or below."""
    words, _, notation = caption.partition("  ")
    names = wrap(words, room, HEADING * BOLD) if words else []
    out = [p.Line(name, 0.0, 15 * n + 7, HEADING, p.TEXT, False, 600) for n, name in enumerate(names)]
    x = breadth(names[-1], HEADING, bold=True) + 8 if names else 0.0
    if notation and names and x + breadth(notation, side, True) <= room:
        return [*out, p.Line(notation, x, out[-1].y, side, p.MUTED, True)]
    below = wrap(notation, room, side * CHAR, commas=True) if notation else []
    return [*out, *(p.Line(text, 0.0, 15 * (len(names) + n) + 7, side, p.MUTED, True) for n, text in enumerate(below))]


def _flat(panel: Panel, grid: p.Grid, sheet: Sheet) -> Iterator[p.Primitive]:
    """Cells, lines, labels and rulers of a grid."""
    found = cell_runs(panel.paints, grid.cols)
    yield from (p.Cells(grid, paint, *found[paint]) for paint in sorted(found))
    edges, levels = (grid.ys(), grid.xs()), (panel.row_ruler.levels, panel.col_ruler.levels)
    for wanted, role, width, opacity in ((0, p.CELL, LINE, 0.16), (1, p.TILE, 1.2, 1.0)):
        if wanted == 0 and min(grid.cell_w, grid.cell_h) < FINE:
            continue
        across, down = (
            [edge for level, edge in zip(mine[1:-1], where[1:-1], strict=True) if min(level, 1) == wanted]
            for mine, where in zip(levels, edges, strict=True)
        )
        if across or down:
            yield p.Strokes(grid, role, width, across, down, opacity)
    yield p.Border(grid, 1.2)
    tall = 1.05 * sheet.font
    for n, texts in enumerate(sheet.lines):
        dy = grid.cell_h / 2 + (n - (len(sheet.lines) - 1) / 2) * tall
        bold = 600 if len(sheet.lines) > 1 and n == 0 else 400
        yield p.Labels(grid, dy, texts, panel.paints, round(sheet.font, 2), bold, 1.0)
    rows, cols = panel.row_ruler, panel.col_ruler
    size = min(sheet.size.side, max(sheet.size.least, sheet.font))
    every = column_step(cols.labels, CHAR * size, grid.cell_w)
    if shown := [c for c in range(0, grid.cols, every) if cols.labels[c]]:
        middles = grid.middles()
        yield _ruler([middles[c] for c in shown], [grid.top - 10] * len(shown), [cols.labels[c] for c in shown], p.MIDDLE, size)
        if cols.title:
            yield p.Line(cols.title, grid.left - 8, grid.top - 10, sheet.size.side, p.MUTED, False, 400, p.END)
    every = row_step(size, grid.cell_h)
    if shown := [r for r in range(0, grid.rows, every) if rows.labels[r]]:
        names = [f"{rows.title} {rows.labels[r]}" if rows.title and r == shown[0] else rows.labels[r] for r in shown]
        ys = [grid.top + (r + 0.5) * grid.cell_h for r in shown]
        yield _ruler([grid.left - 6] * len(shown), ys, names, p.END, size)


def _ruler(xs: list[float], ys: list[float], texts: Sequence[str], anchor: str, size: float) -> p.Texts:
    return p.Texts(xs, ys, texts, [size] * len(texts), size, None, anchor, 400)


def _slanted(panel: Panel, at: _At, least: float) -> Iterator[p.Primitive]:
    """The cells of a face of a cube, their lines and its outline; labels where all have room in letters of that size."""
    areas: dict[int, list[list[tuple[float, float]]]] = {}
    found = cell_runs(panel.paints, panel.cols)
    for paint, (rows, starts, lengths) in found.items():
        for r, c, n in zip(rows, starts, lengths, strict=True):
            areas.setdefault(paint, []).append([at(c, r), at(c + n, r), at(c + n, r + 1), at(c, r + 1)])
    for paint in sorted(areas):
        yield p.Path(areas[paint], p.INK, 0.0, paint)
    (right, down), cells = (at.right, at.down), [n for n, label in enumerate(panel.labels) if label]
    lines = [[at(0, r), at(panel.cols, r)] for r in range(1, panel.rows) if hypot(*down) >= FINE]
    lines += [[at(c, 0), at(c, panel.rows)] for c in range(1, panel.cols) if hypot(*right) >= FINE]
    if lines:
        yield p.Path(lines, p.TEXT, 0.5, None, 0.25)
    corners = [at(0, 0), at(panel.cols, 0), at(panel.cols, panel.rows), at(0, panel.rows)]
    yield p.Path([[*corners, corners[0]]], p.TEXT, 1.4)
    size = least + 0.5
    half = max(map(len, panel.labels)) * size * CHAR / 2
    room = half / right[0] + size / 2.4 / abs(right[1]) if down[0] else max(2 * half / right[0], size / down[1])  # of a diamond
    if cells and room <= 0.9:
        places = [at(n % panel.cols + 0.5, n // panel.cols + 0.5) for n in cells]
        texts, paints = [panel.labels[n] for n in cells], [panel.paints[n] for n in cells]
        yield p.Texts([x for x, _ in places], [y for _, y in places], texts, [size] * len(texts), size, paints, p.MIDDLE, 600)
