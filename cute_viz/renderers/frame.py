"""How panels are fitted onto a page: their level of detail, the size of their cells, the room for their rulers.

The levels, from large cells to small ones: every label; one label for what a thread moves in one access; colour with the
names of large groups; a raster, a pixel a cell. `page.py` chooses one; all page formats share it, so that a figure looks the
same in each.
"""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import NamedTuple

from cute_viz.figures.model import Figure, Panel
from cute_viz.records import dataclass
from cute_viz.renderers.geometry import ALL_COLUMNS, BOLD, CAPTION, CHAR, FONT, SMALL, CellLabels, cell_labels, wrap
from cute_viz.renderers.marks import Mark, vector_cell, vector_marks
from cute_viz.renderers.names import group_marks

LARGEST = 26.0  # px of a cell without a label
GAP = 28.0  # between panels, and between panels and legend
LEAST_NAMED = 0.25  # px of cells whose groups may have names
THIN, THINNEST = 26.0, 8192  # px at least of an object of a file across and down, of so many cells
OF_PAIRS = 3.0  # px more beside a label of several numbers, so that it is told from its neighbor
NAME_HIDES = 24.0  # px of a box than which one that lies below the name of a group is not lower
SLIGHT = 20.0  # px across of a box which is less than any name, whose plate would cut several
HIDDEN = 0.25  # of the width of a group that its name may take where it hides boxes
ROOM_IN_BOX = 6.0  # px of a cell beside its label where a box has its outline between them
ARROW_ROOM = 6.0  # px below a label in whose cell an arrow along the row begins
LETTERS = 2  # of the title of the rows that there is room for beside a tight panel; a longer one stands above it


class Fit(NamedTuple):
    """The room that a page leaves around what is written, in px.

    small: of the second line of a label. narrow: that a caption has at least. pad, cell, ruler: beside a box's label, a cell's,
    and row labels. gap: between panels. line: the label of a box is one line, `T5 V0-7`. thick: long rows and columns are.
    high, exact: of a cell without a label, at
    least, and as it is. low: of one in a high box, whose label is in the middle. caption: of a letter of it. lines: that it has.
    """

    small: float = SMALL
    narrow: float = 170.0
    pad: float = 10.0
    cell: float = 9.0
    ruler: float = 12.0
    gap: float = GAP
    line: bool = False
    thick: bool = False
    high: float = 0.0
    exact: float = 0.0
    low: float = 8.0
    caption: float = CAPTION
    lines: int = 9


LOOSE, TIGHT = Fit(), Fit(SMALL, 116.0, 8.0, 4.0, 7.0, 12.0)
TIGHTEST = TIGHT._replace(low=5.0)


class Detail(IntEnum):
    """What a cell still shows."""

    FULL = 0
    VECTOR = 1
    COLOUR = 2
    RASTER = 3


@dataclass(frozen=True, slots=True)
class PanelFrame:
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
    def named(self) -> float:
        """The share of the cells that have a label, or lie in a group with a name on it."""
        cells = self.panel.rows * self.panel.cols
        return 1.0 if self.detail < Detail.COLOUR else sum((m.r1 - m.r0) * (m.c1 - m.c0) for m in self.marks) / cells

    @property
    def is_boxed(self) -> bool:
        """Whether each cell is in a box that has a label, so that lines between cells would only run through these."""
        held = sum((r1 - r0) * (c1 - c0) for r0, c0, r1, c1 in self.panel.boxes)
        return self.detail == Detail.VECTOR and held == self.panel.rows * self.panel.cols == sum(
            (m.r1 - m.r0) * (m.c1 - m.c0) for m in self.marks
        )

    @property
    def is_outlined(self) -> bool:
        """Whether boxes whose cells all have labels are outlined, if there are any."""
        return self.detail != Detail.FULL or not self.panel.boxes or self.corner > 0

    @property
    def corner(self) -> float:
        """px of the radius of a box's corners; 0 where boxes are not drawn, since they would hide the cells, or cut their words."""
        boxes, cells = {*self.panel.boxes}, self.panel.rows * self.panel.cols
        if not boxes:
            return 0.0
        whole = sum((r1 - r0) * (c1 - c0) for r0, c0, r1, c1 in boxes) == cells
        lowest = min(r1 - r0 for r0, _, r1, _ in boxes) * self.cell_h
        narrowest = min(c1 - c0 for _, c0, _, c1 in boxes) * self.cell_w
        hidden = any(m[:4] not in boxes and m.width > HIDDEN * (m.c1 - m.c0) * self.cell_w for m in self.marks)
        hidden = hidden or (narrowest < SLIGHT and any(m[:4] not in boxes for m in self.marks))
        if self.detail == Detail.COLOUR and lowest < NAME_HIDES and hidden and "thread" in self.panel.data:
            return 0.0
        if whole and self.detail == Detail.FULL and self.labels.widths[0] * CHAR * FONT > self.cell_w - ROOM_IN_BOX:
            return 0.0
        smallest = min(lowest, narrowest)
        if smallest < (12 if self.detail == Detail.COLOUR else 8):
            return 0.0
        return 4.0 if smallest >= 12 else 2.0

    def middle(self, line: int) -> float:
        """px from the top of a cell to the middle of a line of its label; an arrow along a row has room below it."""
        lines = self.labels.depth
        across = lines > 1 and any(r0 == r1 for r0, _, r1, _ in self.panel.arrows)
        return (self.cell_h - ARROW_ROOM * across) * (line + 1) / (lines + 1) + (0 if lines == 1 else (line - 0.5) * 1.5)


def frames(figure: Figure, detail: Detail, cell: float | None = None, fit: Fit = LOOSE) -> list[PanelFrame]:
    """The frames of a figure's panels at one level of detail.

    cell: px of a cell, in place of what its labels need; a box with a label is never lower than its text. fit: the room around
    what is written.
    """
    return [_frame(figure, panel, detail, cell, fit) for panel in figure.panels]


def resized(figure: Figure, frame: PanelFrame, size: tuple[float, float, float, float]) -> PanelFrame:
    """The frame with another cell width and height, room at the left and above; groups that are larger now may have names."""
    w, h, left, top = size
    grown = frame.detail >= Detail.COLOUR and (w, h) != (frame.cell_w, frame.cell_h)
    marks = _named(figure, frame.panel, w, h, frame.fit) if grown else frame.marks
    return replace(frame, marks=marks, cell_w=w, cell_h=h, left=left, top=top)


def _named(figure: Figure, panel: Panel, w: float, h: float, fit: Fit) -> tuple[Mark, ...]:
    return group_marks(figure, panel, w, h, (3.0, 18.0) if fit == LOOSE else (2.0, 15.0))


def _frame(figure: Figure, panel: Panel, detail: Detail, cell: float | None, fit: Fit) -> PanelFrame:
    marks: tuple[Mark, ...] = ()
    labels = CellLabels((), {})
    if detail == Detail.FULL:
        labels = cell_labels(panel)
        w, h = _full(panel, labels, fit)
    elif detail == Detail.VECTOR:
        marks = vector_marks(panel, fit.line)
        w, h = vector_cell(marks, fit.pad, (20.0, 30.0) if fit == LOOSE else (16.0, 28.5), fit.low)
    else:
        w = h = LARGEST
    if cell is not None:
        w, h = cell, max(cell, h) if detail == Detail.VECTOR else cell
    if detail >= Detail.COLOUR:
        h = fit.exact or max(h, fit.high)
        if panel.boxes and any(paint.faded for paint in figure.paints):  # what recedes needs no outlines
            lit = [box for box in panel.boxes if not _is_faded(figure, panel, box)]
            panel = replace(panel, boxes=tuple(lit))
        if fit.thick and panel.rows * panel.cols <= THINNEST:  # of a few long rows or columns, whose colours are to be seen
            detail, w, h = Detail.COLOUR, max(w, THIN / panel.cols), max(h, THIN / panel.rows)
        if w >= LEAST_NAMED or h >= LEAST_NAMED:
            marks = _named(figure, panel, w, h, fit)
    rows = panel.row_ruler
    tight = fit != LOOSE
    beside = bool(rows.title) and not (tight and len(rows.title) > LETTERS)
    left = max(max(map(len, rows.labels)), len(rows.title) + 2 if beside else 0) * CHAR * FONT + fit.ruler
    if tight and not rows.title and not any(rows.labels):
        left = 3.0  # of a panel whose neighbour is ruled for both
    left = max(left, title_width(rows.title) + 8 if beside else 0.0)  # which is not monospaced
    caption = tuple(_brief(panel.caption, max(panel.cols * w, fit.narrow), fit)) if panel.caption else ()
    titled = panel.col_ruler.title or (rows.title and not beside)
    top = 24.0 + (18 if titled else 0) + (fit.caption * 1.5 * len(caption) + 6 if caption else 0)
    return PanelFrame(panel, detail, labels, marks, caption, w, h, float(round(left)), top, fit)


def _brief(caption: str, width: float, fit: Fit) -> list[str]:
    """A caption in few lines: what explains it, behind a colon or a comma, is left out from the end on."""
    found = wrap(caption, width, fit.caption * BOLD, commas=True)
    while len(found) > fit.lines and (cut := max(caption.rfind(": "), caption.rfind(", "), caption.rfind("; "))) > 0:
        caption = caption[:cut]
        found = wrap(caption, width, fit.caption * BOLD, commas=True)
    return found


def _is_faded(figure: Figure, panel: Panel, box: tuple[int, int, int, int]) -> bool:
    paint = panel.paints[box[0] * panel.cols + box[1]]
    return paint >= 0 and figure.paints[paint].faded


def title_width(title: str) -> float:
    """px of a ruler's title and its arrow: of sans letters capitals are wide."""
    return sum(0.87 if letter.isupper() else 0.64 for letter in title) * FONT + 1.17 * FONT


def caption_width(caption: str) -> float:
    """px of the longest part of a caption that a line should not break: a word, or a name between `::`."""
    return max(map(len, caption.replace("::", ":: ").split(" "))) * CAPTION * BOLD


def _full(panel: Panel, labels: CellLabels, fit: Fit) -> tuple[float, float]:
    """The size of a cell that has room for every label."""
    lines = labels.depth
    widths = [labels.widths[0] * CHAR * FONT, labels.widths[1] * CHAR * fit.small]
    tight = fit.cell < LOOSE.cell
    h = (
        (1.5 if fit.low < LOOSE.low else 3.5) + 12.0 * lines + 2.0 * (lines > 2)
        if tight
        else 26.0
        if lines == 1
        else 14.0 + 13.0 * lines
    )
    if panel.cols <= ALL_COLUMNS:  # few columns: room for every column's label
        widths.append(max(map(len, panel.col_ruler.labels)) * CHAR * FONT - 3)
    h += ARROW_ROOM if lines > 1 and any(r0 == r1 for r0, _, r1, _ in panel.arrows) else 0.0
    least = 0.0 if tight else h if lines == 1 else 36.0
    pairs = tight and any(label.find("\n") > 2 or not label.replace("\n", "").isalnum() for label in {*panel.labels[:64]} - {""})
    pad = fit.cell + OF_PAIRS * pairs
    pad += 4 if panel.boxes and lines > 1 and not tight else 0  # an outline stands between a label and the line
    beside = 2 * ARROW_ROOM if any(r0 < r1 for r0, _, r1, _ in panel.arrows) else 0.0
    return float(round(max(least, max(widths) + pad + beside))), h
