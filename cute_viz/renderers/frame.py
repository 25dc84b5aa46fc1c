"""How one panel is fitted onto a page: its level of detail, the size of its cells, the room for its rulers.

The levels, from large cells to small ones: every label; one label for what a thread moves in one access; colour with the
names of large groups; a raster, a pixel a cell. `page.py` chooses one; all page formats share it, so that a figure looks the
same in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple

from cute_viz.figures.model import Figure, Panel
from cute_viz.renderers.geometry import ALL_COLUMNS, BOLD, CAPTION, CHAR, FONT, SMALL, CellLabels, cell_labels, wrap
from cute_viz.renderers.marks import Mark, group_marks, has_vectors, vector_cell, vector_marks

LARGEST = 26.0  # px of a cell without a label
SMALL_STAGE = (600.0, 420.0)  # px that the cells of a stage take at most with labels
LETTERS = 2  # of the title of the rows that there is room for beside a tight panel; a longer one stands above it


class Fit(NamedTuple):
    """The room that a page leaves around what is written, in px.

    small: of the second line of a label. narrow: that a caption has at least. pad, cell, ruler: beside a box's label, a cell's,
    and row labels. gap: between panels. line: the label of a box is one line, `T5 V0-7`.
    """

    small: float = SMALL
    narrow: float = 170.0
    pad: float = 7.0
    cell: float = 9.0
    ruler: float = 12.0
    gap: float = 28.0
    line: bool = False


LOOSE, TIGHT = Fit(), Fit(SMALL, 116.0, 4.6, 4.0, 7.0, 12.0)


class Detail(IntEnum):
    """What a cell still shows."""

    FULL = 0
    VECTOR = 1
    COLOUR = 2
    RASTER = 3


@dataclass(frozen=True, slots=True)
class Frame:
    """A panel on the page: cell size, the room for rulers at the left and above, and what is written into the cells."""

    panel: Panel
    detail: Detail
    labels: CellLabels
    marks: tuple[Mark, ...]
    caption: tuple[str, ...]
    cell_w: float
    cell_h: float
    left: float
    top: float
    fit: Fit = LOOSE

    @property
    def width(self) -> float:
        """px of the whole panel, the room for its ruler at the left included."""
        title = self.panel.col_ruler.title
        heading = 2 + self.shift + (len(title) + 2) * CHAR * FONT if title else self.shift
        return self.left + max(self.panel.cols * self.cell_w, heading, self.fit.narrow if self.caption else 0.0) + 2

    @property
    def shift(self) -> float:
        """px to the right by which the title of the rows, where it stands above the panel, moves that of the columns; else 0."""
        title = self.panel.row_ruler.title
        wide = title_width(title) + 8 if title and self.fit != LOOSE else 0.0
        return wide - self.left + 4 if wide > self.left + 1 else 0.0

    @property
    def height(self) -> float:
        """px of the whole panel, the room for its ruler and caption above included."""
        return self.top + self.panel.rows * self.cell_h + 2

    @property
    def corner(self) -> float:
        """px of the radius of a box's corners; 0 where boxes are not drawn, since they would hide the cells."""
        sizes = {(r1 - r0, c1 - c0) for r0, c0, r1, c1 in self.panel.boxes}
        smallest = min((min(rows * self.cell_h, cols * self.cell_w) for rows, cols in sizes), default=0)
        if smallest < (12 if self.detail == Detail.COLOUR else 8):
            return 0.0
        return 4.0 if smallest >= 12 else 2.0

    def middle(self, line: int) -> float:
        """px from the top of a cell to the middle of a line of its label."""
        lines = self.labels.depth
        return self.cell_h * (line + 1) / (lines + 1) + (0 if lines == 1 else (line - 0.5) * 1.5)


def frames(figure: Figure, detail: Detail, cell: float | None = None, fit: Fit = LOOSE) -> list[Frame]:
    """The frames of a figure's panels at one level of detail.

    cell: px of a cell, in place of what its labels need; a box with a label is never lower than its text. fit: the room around
    what is written.

    >>> from cute_viz.algebra.layout import Layout
    >>> from cute_viz.figures import build
    >>> [frame] = frames(build(Layout((2, 4))), Detail.COLOUR, cell=8)
    >>> frame.cell_w, frame.cell_h
    (8, 8)
    """
    return [_frame(figure, panel, detail, cell, fit) for panel in figure.panels]


def resized(frame: Frame, size: tuple[float, float, float, float]) -> Frame:
    """The frame with another cell width and height, room at the left and above.

    >>> from cute_viz.algebra.layout import Layout
    >>> from cute_viz.figures import build
    >>> [frame] = frames(build(Layout((2, 4))), Detail.FULL)
    >>> resized(frame, (40, 30, 50, 20)).height
    82
    """
    w, h, left, top = size
    return replace(frame, cell_w=w, cell_h=h, left=left, top=top)


def _frame(figure: Figure, panel: Panel, detail: Detail, cell: float | None, fit: Fit) -> Frame:
    marks: tuple[Mark, ...] = ()
    labels = CellLabels((), {})
    if detail == Detail.FULL:
        labels = cell_labels(panel)
        w, h = _full(panel, labels, fit)
    elif detail == Detail.VECTOR:
        marks = vector_marks(panel, fit.line)
        w, h = vector_cell(marks, fit.pad, (20.0, 30.0) if fit == LOOSE else (16.0, 28.5))
    else:
        w = h = LARGEST
    if cell is not None:
        w, h = cell, max(cell, h) if detail == Detail.VECTOR else cell
    if detail == Detail.COLOUR:
        marks = group_marks(figure, panel, w, h, (3.0, 18.0) if fit == LOOSE else (2.0, 15.0))
    rows = panel.row_ruler
    tight = fit != LOOSE
    beside = bool(rows.title) and not (tight and len(rows.title) > LETTERS)
    left = max(max(map(len, rows.labels)), len(rows.title) + 2 if beside else 0) * CHAR * FONT + fit.ruler
    if tight and not rows.title and not any(rows.labels):
        left = 3.0  # of a panel whose neighbour is ruled for both
    left = max(left, title_width(rows.title) + 8 if beside else 0.0)  # which is not monospaced
    caption = tuple(wrap(panel.caption, max(panel.cols * w, fit.narrow), CAPTION * BOLD, commas=True)) if panel.caption else ()
    titled = panel.col_ruler.title or (rows.title and not beside)
    top = 24.0 + (18 if titled else 0) + (CAPTION * 1.5 * len(caption) + 6 if caption else 0)
    return Frame(panel, detail, labels, marks, caption, w, h, float(round(left)), top, fit)


def title_width(title: str) -> float:
    """px of a ruler's title and its arrow: of sans letters capitals are wide.

    >>> round(title_width("M"))
    22
    """
    return sum(0.87 if letter.isupper() else 0.64 for letter in title) * FONT + 1.17 * FONT


def caption_width(caption: str) -> float:
    """px of the longest part of a caption that a line should not break: a word, or a name between `::`.

    >>> caption_width("Traits::SmemLayoutQ (line 3)") == len("SmemLayoutQ") * CAPTION * BOLD
    True
    """
    return max(map(len, caption.replace("::", ":: ").split(" "))) * CAPTION * BOLD


def _full(panel: Panel, labels: CellLabels, fit: Fit) -> tuple[float, float]:
    """The size of a cell that has room for every label."""
    lines = labels.depth
    widths = [labels.widths[0] * CHAR * FONT, labels.widths[1] * CHAR * fit.small]
    tight = fit.cell < LOOSE.cell
    h = 4.0 + 12.0 * lines if tight else 26.0 if lines == 1 else 14.0 + 13.0 * lines
    if panel.cols <= ALL_COLUMNS:  # few columns: room for every column's label
        widths.append(max(map(len, panel.col_ruler.labels)) * CHAR * FONT - 3)
    least = 0.0 if tight else h if lines == 1 else 36.0
    pad = fit.cell + (4 if panel.boxes and lines > 1 and not tight else 0)  # an outline stands between a label and the line
    return float(round(max(least, max(widths) + pad))), h


def of_stage(figure: Figure, panel: Panel, cell: float, fit: Fit, most: tuple[float, float] = SMALL_STAGE) -> Frame:
    """The frame of a stage: with its labels where they take little room, else in colours.

    most: px of little room.

    >>> from cute_viz import figure
    >>> drawn = figure("ampere_gemm")
    >>> [of_stage(drawn, panel, 10.0, LOOSE).detail.name for panel in drawn.panels[:2]]
    ['COLOUR', 'VECTOR']
    """
    alone = replace(figure, panels=(panel,))
    details = [Detail.FULL] * any(panel.labels) + [Detail.VECTOR] * has_vectors(alone)
    for detail in details:
        (frame,) = frames(alone, detail, fit=fit)
        if panel.cols * frame.cell_w <= most[0] and panel.rows * frame.cell_h <= most[1]:
            return frame
    return frames(alone, Detail.RASTER if cell < 3 else Detail.COLOUR, cell=cell, fit=fit)[0]


def left_out(fitted: Sequence[Frame]) -> list[str]:
    """What the level of detail does not show, in words.

    >>> from cute_viz import figure
    >>> left_out(frames(figure("(2,4):(1,2)"), Detail.COLOUR, 4.0))
    ['The labels of 8 cells are left out at this size.']
    """
    cells = sum(frame.panel.rows * frame.panel.cols for frame in fitted)
    if fitted and (smallest := min(frame.cell_w for frame in fitted)) < 1:
        step = round(1 / smallest)
        return [f"A pixel is the first of {step} × {step} cells."]
    if (
        not fitted
        or fitted[0].detail == Detail.FULL
        or not fitted[0].panel.labels
        or not any(any(frame.panel.labels) for frame in fitted)
    ):
        return []
    if fitted[0].detail == Detail.VECTOR:
        return ["A label in a box is that of all cells in it."]
    return [f"The labels of {cells} cells are left out at this size."]
