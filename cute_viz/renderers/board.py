"""A board: panels of any size, the shapes over them and what goes from one to the next, as large as the target lets them be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cute_viz.errors import FigureError
from cute_viz.figures.model import Arrow, Figure, Panel
from cute_viz.records import dataclass
from cute_viz.renderers import Options
from cute_viz.renderers import primitives as p
from cute_viz.renderers.frame import Detail
from cute_viz.renderers.geometry import BOLD, CHAR, FONT, PROSE, cell_runs, column_step, row_step, split_lines, wrap
from cute_viz.renderers.legend import Key, prose, told
from cute_viz.renderers.placed import Page, Place
from cute_viz.renderers.shapes import arrows as pointed
from cute_viz.renderers.shapes import breadth, drawn, reach
from cute_viz.renderers.targets import LEAST, target_of

WIDTH, HEIGHT = 700.0, 900.0  # px of a target that has no such measure
LARGEST, SMALLEST = 38.0, 0.25  # px of a cell
LARGE = 28.0  # px of one than which none needs to be larger
TITLE, UNDER = 17.0, 12.0  # px of the title and of what is below it
HEADING, SIDE = 12.0, 10.0  # px of a panel's caption, of its rulers and its notation
BELOW = 14.0  # px above the legend, and above the notes
TOP = 17.0  # px of the labels of columns
GAP, WEDGE, SIGN = 26.0, 44.0, 40.0  # px between panels, where a wedge is, where a sign stands
NARROW = 96.0  # px that a caption has at least
LINE = 0.7  # px of a line between cells, and how dark it is
SLANT = (0.866, 0.5)  # of the edges of a cube


class Size(NamedTuple):
    """How large panels are drawn: px of a cell of the figure, and of the smallest letter."""

    cell: float
    least: float = LEAST

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
        self.w, self.h = size.cell * first.unit[0], size.cell * first.unit[1]
        self.lines: tuple[tuple[str, ...], ...] = ()
        self.font = float(FONT)
        if self.is_flat:
            self.lines, self.font = _fitting(first, self.w, self.h, size.least)
        rows, cols = first.row_ruler, first.col_ruler
        sides = [breadth(label, size.side, True) + 8 for label in rows.labels if label]
        if rows.title and rows.labels:
            sides.append(breadth(f"{rows.title} {rows.labels[0]}", size.side, True) + 8)
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
        self.heading = _heading(first.caption, max(NARROW, self.right), size.side)
        self.above = self.over + (self.heading[-1].y + 13 if self.heading else 0)
        self.own = self.above
        self.foot = wrap(first.foot, max(NARROW, self.right), UNDER * PROSE) if first.foot else []
        self.below = self.under + (4 + 15 * len(self.foot) if self.foot else 0)
        widest = max([0.0, *(line.x + breadth(line.text, line.size, line.mono, line.weight > 400) for line in self.heading)])
        self.width = self.left + max(self.right, widest, *(breadth(line, UNDER) for line in self.foot or [""]))
        self.height = self.above + self.below

    @property
    def is_mute(self) -> bool:
        """Whether there are labels for which the cells are too small."""
        panel = self.panels[0]
        return self.is_flat and not self.lines and any(panel.labels) and all(s.kind != "line" for s in panel.shapes)

    def at(self, panel: Panel, x: float = 0.0, y: float = 0.0) -> _At:
        """Where points of a panel are, when the corner of the first cell is at (x, y)."""
        w, h = self.size.cell * panel.unit[0], self.size.cell * panel.unit[1]
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
                _flat(panel, p.Grid(panel.rows, panel.cols, x, y, self.w, self.h), self) if self.is_flat else _slanted(panel, at)
            )
            for shape in panel.shapes:
                yield from drawn(shape, at, min(self.w, self.h) if self.is_flat else self.size.cell)
        for n, text in enumerate(self.foot):
            yield p.Line(text, x, y + self.under + 14 + 15 * n, UNDER, p.MUTED)


@dataclass(frozen=True, slots=True)
class _At:
    """An affine map from cells to px. What is beside the cells, or above them, is so beyond the rulers, which take side and top;
    what is beyond the column `edge` is so beyond the texts that stand before it, which take aside.
    """

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


def board_of(figure: Figure, options: Options) -> Page:
    """The page of a figure that is a board: of the ways to arrange its panels the one that lets them be largest.

    Raises: FigureError for panels that are too many for the page.

    >>> from cute_viz import figure
    >>> page = board_of(figure("(8,8):(8,1)", view="path"), Options())
    >>> page.width <= 700, page.panels[0].grid.cell_w
    (True, 38.0)
    """
    target = target_of(options)
    width, height = min(target.width or WIDTH, options.width or 20000), target.height or HEIGHT
    inside, margin = width - 2 * target.margin, target.margin
    words = [p.Line(figure.title, 0, 0, TITLE, p.TEXT, weight=600), p.Line(figure.caption, 0, 0, UNDER)]
    head = prose(words if target.head else [], inside, margin, margin)
    key = Key(figure, inside, False) if target.legend and told(figure) else None
    notes = prose([p.Line(note, 0, 0, UNDER) for note in figure.notes if target.notes], inside, 0, margin)
    top = (head[-1].y + 16 if head else margin) + 2
    key_h = key.height + BELOW if key else 0.0
    below = key_h + (notes[-1].y + BELOW if notes else 0.0)
    room = inside, height - top - margin - below
    best: tuple[tuple[float, ...], _Laid] | None = None
    for lines in _arrangements(figure, target.is_landscape):
        laid = _largest(figure, lines, room, options.cell, target.least)
        if laid is None:
            continue
        mute = sum(sheet.is_mute for line in laid.lines for sheet in line)
        rank = (mute, -round(min(laid.size.cell, LARGE), 2), laid.width * laid.height)
        if best is None or rank < best[0]:
            best = rank, laid
    if best is None:
        raise FigureError(
            f"{len(figure.panels)} panels do not fit {width:.0f} x {height:.0f} px", hint="`width=`, or fewer objects"
        )
    laid = best[1]
    at = top + laid.height + BELOW
    swatches, entries = key.placed(margin, at) if key else ([], [])
    notes = [line._replace(y=line.y + at + key_h) for line in notes]
    ends = [line.x - margin + breadth(line.text, line.size, line.mono, line.weight > 400) for line in (*head, *entries, *notes)]
    inner = max([laid.width, *ends])
    wide = width if target.is_landscape else min(width, inner + 2 * target.margin)
    left = target.margin + (max(0.0, (wide - 2 * target.margin - laid.width) / 2) if target.is_landscape else 0)

    def items() -> Iterator[p.Primitive]:
        yield from swatches
        yield from [*head, *entries, *notes]
        yield from _links(figure.arrows, laid, left, top, below=True)
        for sheet, (x, y) in zip(laid.sheets, laid.places, strict=True):
            yield from sheet.put(left + x, top + y)
        yield from _links(figure.arrows, laid, left, top, below=False)

    flat = [(sheet, place) for sheet, place in zip(laid.sheets, laid.places, strict=True) if sheet.is_flat]
    panels = tuple(
        [
            Place(s.panels[0], Detail.FULL, p.Grid(s.panels[0].rows, s.panels[0].cols, left + x, top + y, s.w, s.h))
            for s, (x, y) in flat
        ]
    )
    return Page(figure, wide, top + laid.height + below + margin, panels, lambda: list(items()))


class _Laid(NamedTuple):
    """Sheets in lines, where the first cell of each is, and the size of all."""

    lines: list[list[Sheet]]
    sheets: list[Sheet]
    places: list[tuple[float, float]]
    width: float
    height: float
    size: Size


def _groups(figure: Figure) -> list[list[Panel]]:
    """The panels, those of one cube together."""
    out: list[list[Panel]] = []
    for panel in figure.panels:
        if panel.face and out and out[-1][0].face and len(out[-1]) < 3:
            out[-1].append(panel)
        else:
            out.append([panel])
    return out


def _arrangements(figure: Figure, landscape: bool) -> Iterator[list[list[int]]]:
    """Ways to put the groups of panels into lines, as their numbers."""
    groups = _groups(figure)
    if figure.flow == "grid":
        by_row: dict[int, list[int]] = {}
        for n, group in enumerate(groups):
            by_row.setdefault(group[0].place[0], []).append(n)
        lines = [sorted(line, key=lambda n: groups[n][0].place[1]) for _, line in sorted(by_row.items())]
        yield lines
        if any(arrow.look in ("", "alarm") for arrow in figure.arrows):
            yield [[*range(len(groups))]] if landscape else [[n] for n in range(len(groups))]  # arrows go down
            return
        if len({len(line) for line in lines}) == 1 and len(lines) > 1:
            yield [list(column) for column in zip(*lines, strict=True)]
        if len(lines) > 1:
            yield [[n for line in lines for n in line]]
        return
    for each in range(1, len(groups) + 1):
        lines = [list(range(n, min(n + each, len(groups)))) for n in range(0, len(groups), each)]
        if len(lines) > 1 and 1 < len(lines[-1]) + 1 <= each and any(arrow.look == "wide" for arrow in figure.arrows):
            continue  # levels of a zoom: lines as long as each other
        yield lines


def _largest(
    figure: Figure, lines: Sequence[Sequence[int]], room: tuple[float, float], cell: float | None, least: float
) -> _Laid | None:
    """The panels as large as there is room for; None where there is none."""
    groups, size = _groups(figure), cell or LARGEST
    while size >= SMALLEST:
        laid = _laid(figure, [[Sheet(groups[n], Size(size, least)) for n in line] for line in lines], lines, Size(size, least))
        if cell is not None or (laid.width <= room[0] and laid.height <= room[1]):
            return laid
        over = max(laid.width / room[0], laid.height / max(1.0, room[1]))
        size *= max(0.6, min(0.97, 1 / over))
    return None


def _laid(figure: Figure, lines: list[list[Sheet]], numbers: Sequence[Sequence[int]], size: Size) -> _Laid:
    """Sheets in lines: columns and rows line up by the first cell of their panels."""
    wedge = any(a.look == "wide" for a in figure.arrows)
    gap = WEDGE if wedge else SIGN if any(a.look not in ("", "alarm") for a in figure.arrows) else GAP
    count = max(map(len, lines))
    aligned = all(len(line) == count for line in lines[:-1])
    lefts, rights = [0.0] * count, [0.0] * count
    for line in lines:
        for n, sheet in enumerate(line):
            lefts[n], rights[n] = max(lefts[n], sheet.left), max(rights[n], sheet.width - sheet.left)
    places: dict[int, tuple[float, float]] = {}
    y = width = 0.0
    for row, line in enumerate(lines):
        above, below, x = max(s.above for s in line), max(s.below for s in line), 0.0
        for n, sheet in enumerate(line):
            sheet.above = above  # so that captions stand side by side
            left, right = (lefts[n], rights[n]) if aligned else (sheet.left, sheet.width - sheet.left)
            places[numbers[row][n]] = x + left, y + above
            x += left + right + gap
        y, width = y + above + below + gap, max(width, x - gap)
    order = sorted(places)
    by_number = {number: sheet for line, ns in zip(lines, numbers, strict=True) for number, sheet in zip(ns, line, strict=True)}
    return _Laid(lines, [by_number[n] for n in order], [places[n] for n in order], width, y - gap, size)


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
        if wanted == 0 and min(grid.cell_w, grid.cell_h) < 5:
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


def _slanted(panel: Panel, at: _At) -> Iterator[p.Primitive]:
    """The cells of a face of a cube, their lines and its outline."""
    areas: dict[int, list[list[tuple[float, float]]]] = {}
    found = cell_runs(panel.paints, panel.cols)
    for paint, (rows, starts, lengths) in found.items():
        for r, c, n in zip(rows, starts, lengths, strict=True):
            areas.setdefault(paint, []).append([at(c, r), at(c + n, r), at(c + n, r + 1), at(c, r + 1)])
    for paint in sorted(areas):
        yield p.Path(areas[paint], p.INK, 0.0, paint)
    lines = [[at(0, r), at(panel.cols, r)] for r in range(1, panel.rows)]
    lines += [[at(c, 0), at(c, panel.rows)] for c in range(1, panel.cols)]
    if lines:
        yield p.Path(lines, p.TEXT, 0.5, None, 0.25)
    corners = [at(0, 0), at(panel.cols, 0), at(panel.cols, panel.rows), at(0, panel.rows)]
    yield p.Path([[*corners, corners[0]]], p.TEXT, 1.4)
    if any(panel.labels):
        cells = [n for n, label in enumerate(panel.labels) if label]
        places = [at(n % panel.cols + 0.5, n // panel.cols + 0.5) for n in cells]
        size = LEAST + 0.5
        texts, paints = [panel.labels[n] for n in cells], [panel.paints[n] for n in cells]
        yield p.Texts([x for x, _ in places], [y for _, y in places], texts, [size] * len(texts), size, paints, p.MIDDLE, 600)


def _links(arrows: Sequence[Arrow], laid: _Laid, left: float, top: float, below: bool) -> Iterator[p.Primitive]:
    """What goes from one panel to another: areas that widen, below the panels; arrows and signs, above them."""
    for link in arrows:
        (x0, y0, x1, y1), (u0, v0, u1, v1) = (
            _span(laid, number, box, left, top) for number, box in ((link.source, link.start), (link.target, link.end))
        )
        if link.look == "wide":
            if u0 > x1:  # the next one of its line; numbers lead to those of others
                yield from _wedge((x0, y0, x1, y1), (u0 - laid.sheets[link.target].side, v0, u1, v1), below)
        elif not below and link.look not in ("", "alarm"):
            at = ((x1 + u0) / 2, (v0 + v1) / 2) if u0 > x1 else ((x0 + x1) / 2, (y1 + v0) / 2)
            yield p.Line(link.look, *at, 20, p.TEXT, anchor=p.MIDDLE)
        elif not below and u0 < x1 and v0 > y1:
            start, end = ((x0 + x1) / 2, y1 + 3), ((u0 + u1) / 2, v0 - laid.sheets[link.target].own - 3)
            yield from pointed([[start, end]], p.ALARM if link.look else p.MUTED, 1.6 if link.look else 1.1)


def _wedge(a: tuple[float, float, float, float], b: tuple[float, float, float, float], below: bool) -> Iterator[p.Primitive]:
    """The area from the cells a to the panel b, which shows them enlarged, below the panels, and its edges above them."""
    (_, y0, x1, y1), (u0, v0, _, v1) = a, b
    points = [(x1, y0), (u0, v0), (u0, v1), (x1, y1)]
    yield p.Path([points], p.TEXT, 0.0, p.MUTED, 0.14) if below else p.Path([points[:2], points[2:]], p.MUTED, 0.9)


def _span(laid: _Laid, number: int, box: tuple[int, ...], left: float, top: float) -> tuple[float, float, float, float]:
    """The px of some cells of a panel, or of all."""
    panels = [panel for sheet in laid.sheets for panel in sheet.panels]
    sheets = [(sheet, place) for sheet, place in zip(laid.sheets, laid.places, strict=True) for _ in sheet.panels]
    (sheet, (x, y)), panel = sheets[number], panels[number]
    r0, c0, r1, c1 = box or (0, 0, panel.rows, panel.cols)
    return left + x + c0 * sheet.w, top + y + r0 * sheet.h, left + x + c1 * sheet.w, top + y + r1 * sheet.h
