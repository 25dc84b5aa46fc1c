"""How one panel is fitted onto a page: its level of detail, the size of its cells, the room for its rulers.

The level follows from the cell's size: every label; one label for what a thread moves in one access; colour with the
names of large groups; a raster, a pixel a cell. All page formats share it, so that a figure looks the same in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from cute_viz.figures.model import HOLE, Figure, Panel
from cute_viz.renderers.geometry import ALL_COLUMNS, CellLabels, cell_labels

FONT = 11  # px, of a cell's first line
SMALL = 9  # px, of the lines after it
CAPTION = 12  # px, of a panel's caption
BOLD = 0.64  # width of an average letter of bold prose, in font sizes, on the safe side
CHAR = 0.61  # width of a monospace character, in font sizes
NARROW = 170.0  # a caption has at least this room
LINES_FROM = 5.0  # px: smaller cells have no lines between them
BOX_HEIGHT = 30.0  # px, of a box with two lines of text


class Detail(IntEnum):
    """What a cell still shows."""

    FULL = 0
    VECTOR = 1
    COLOUR = 2
    RASTER = 3


@dataclass(frozen=True, slots=True)
class Mark:
    """A label of several cells: rows r0..r1, columns c0..c1 (half-open), its lines, and the paint below it."""

    r0: int
    c0: int
    r1: int
    c1: int
    lines: tuple[str, ...]
    paint: int


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

    @property
    def width(self) -> float:
        """px of the whole panel, the room for its ruler at the left included."""
        return self.left + max(self.panel.cols * self.cell_w, NARROW if self.caption else 0.0) + 2

    @property
    def height(self) -> float:
        """px of the whole panel, the room for its ruler and caption above included."""
        return self.top + self.panel.rows * self.cell_h + 2


def frames(figure: Figure, detail: Detail, room: float | None = None, cell: float | None = None) -> list[Frame]:
    """The frames of a figure's panels at one level of detail.

    room: px that the widest panel's cells may take, for levels below FULL. cell: px of a cell, instead.

    >>> from cute_viz.algebra.layout import Layout
    >>> from cute_viz.figures import build
    >>> [frame] = frames(build(Layout((2, 4))), Detail.COLOUR, cell=8)
    >>> frame.cell_w, frame.cell_h
    (8, 8)
    """
    return [_frame(figure, panel, detail, room, cell) for panel in figure.panels]


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


def _frame(figure: Figure, panel: Panel, detail: Detail, room: float | None, cell: float | None) -> Frame:
    marks: tuple[Mark, ...] = ()
    if detail == Detail.FULL:
        labels = cell_labels(panel)
        w, h = _full(panel, labels)
    else:
        labels = CellLabels((), {})
        if detail == Detail.VECTOR:
            marks = vector_marks(panel)
            w, h = vector_cell(panel, marks)
        else:
            w = h = 26.0
        if room is not None and detail != Detail.VECTOR:
            w = h = max(min(w, room / panel.cols), 1.0 if detail == Detail.RASTER else 0.0)
            w = h = float(int(w)) if w >= 4 else w
    if cell is not None:
        w, h = cell, cell if detail != Detail.VECTOR or h <= cell else max(cell, h)
    if detail == Detail.COLOUR:
        marks = group_marks(figure, panel, w, h)
    rows = panel.row_ruler
    left = max(max(map(len, rows.labels)), len(rows.title) + 2) * CHAR * FONT + 12
    caption = tuple(wrap(panel.caption, max(panel.cols * w, NARROW), CAPTION * BOLD, commas=True)) if panel.caption else ()
    top = 24.0 + (18 if panel.col_ruler.title else 0) + (CAPTION * 1.5 * len(caption) + 6 if caption else 0)
    return Frame(panel, detail, labels, marks, caption, w, h, float(round(left)), top)


def _full(panel: Panel, labels: CellLabels) -> tuple[float, float]:
    """The size of a cell that has room for every label."""
    lines = labels.depth
    widths = [labels.widths[0] * CHAR * FONT, labels.widths[1] * CHAR * SMALL]
    h = 26.0 if lines == 1 else 14.0 + 13.0 * lines
    if panel.cols <= ALL_COLUMNS:  # few columns: room for every column's label
        widths.append(max(map(len, panel.col_ruler.labels)) * CHAR * FONT - 3)
    return float(round(max(h if lines == 1 else 36.0, max(widths) + 9))), h


def has_text(figure: Figure) -> bool:
    """Whether any cell of the figure has a label at all.

    >>> from cute_viz.algebra.layout import Layout
    >>> from cute_viz.figures import build
    >>> from cute_viz.figures.options import FigureOptions
    >>> has_text(build(Layout((2, 4)))), has_text(build(Layout((2, 4)), FigureOptions(labels="none")))
    (True, False)
    """
    return any(any(panel.labels) for panel in figure.panels)


def has_vectors(figure: Figure) -> bool:
    """Whether boxes hold most cells of every panel, several each, so that a label a box tells nearly all.

    >>> from cute_viz import figure
    >>> has_vectors(figure("(2,4):(1,2)", tile=(2, 4))), has_vectors(figure("(4,4)"))
    (True, False)
    """
    for panel in figure.panels:
        held = sum((r1 - r0) * (c1 - c0) for r0, c0, r1, c1 in panel.boxes)
        if not panel.boxes or 2 * held < panel.rows * panel.cols or held < 2 * len(panel.boxes):
            return False
    return bool(figure.panels)


def vector_marks(panel: Panel) -> tuple[Mark, ...]:
    """A label for each box, `T5` over `V0-7`, from the labels of its first and last cell.

    >>> from cute_viz import figure
    >>> [mark.lines for mark in vector_marks(figure("(2,4):(1,2)", tile=(2, 4)).panels[0])]
    [('T0', 'V0-3'), ('T1', 'V0-3')]
    """
    out = []
    for r0, c0, r1, c1 in panel.boxes:
        first = panel.labels[r0 * panel.cols + c0].split("\n")
        last = panel.labels[(r1 - 1) * panel.cols + c1 - 1].split("\n")
        lines = [a if a == b else _span(a, b) for a, b in zip(first, last, strict=False)]
        paint = panel.paints[r0 * panel.cols + c0]
        if any(lines):
            out.append(Mark(r0, c0, r1, c1, tuple(lines), paint))
    return tuple(out)


def _span(a: str, b: str) -> str:
    """`V0-7` of V0 and V7."""
    head = 0
    while head < min(len(a), len(b)) and not a[head].isdigit() and a[head] == b[head]:
        head += 1
    return f"{a}-{b[head:]}"


def vector_cell(panel: Panel, marks: Sequence[Mark]) -> tuple[float, float]:
    """The smallest cell such that the label of every box fits into it.

    >>> from cute_viz import figure
    >>> [panel] = figure("(2,4):(1,2)", tile=(2, 4)).panels
    >>> vector_cell(panel, vector_marks(panel))
    (8.0, 30.0)
    """
    w = 8.0
    for mark in {(m.c1 - m.c0, m.r1 - m.r0, max(map(len, m.lines))) for m in marks}:
        w = max(w, (mark[2] * CHAR * FONT + 7) / mark[0])
    tall = min((m.r1 - m.r0 for m in marks), default=1)
    lines = max((len(m.lines) for m in marks), default=1)
    return float(-int(-w)), float(max(8, -int(-(BOX_HEIGHT if lines > 1 else 20) / tall)))


def vector_width(panel: Panel) -> float:
    """px that the panel's cells take at least when every box has a label: its first line decides, and is quickly found.

    >>> from cute_viz import figure
    >>> vector_width(figure("(2,4):(1,2)", tile=(2, 4)).panels[0])
    32.0
    """
    need = 8.0
    for r0, c0, _, c1 in panel.boxes:
        label = panel.labels[r0 * panel.cols + c0]
        end = label.find("\n")
        need = max(need, ((len(label) if end < 0 else end) * CHAR * FONT + 7) / (c1 - c0))
    return need * panel.cols


def group_marks(figure: Figure, panel: Panel, w: float, h: float) -> tuple[Mark, ...]:
    """The names of the groups on rectangles of one hue that are large enough: what the legend calls the hue.

    >>> from cute_viz import figure
    >>> drawn = figure("(2,4):(1,2)", tile=(2, 4))
    >>> [(mark.lines, mark.r0, mark.c1) for mark in group_marks(drawn, drawn.panels[0], 20, 20)]
    [(('T0',), 0, 4), (('T1',), 1, 4)]
    """
    if not figure.legends:
        return ()
    names = {figure.paints[entry.paint].hue: entry.label for entry in figure.legends[0].entries}
    hue = [paint.hue for paint in figure.paints] + [HOLE]  # HOLE is -1, the last
    owners = dict(panel.owners)
    alive: dict[tuple[int, int, int], int] = {}  # (start, stop, hue) of a run -> the row where it began
    out = []
    for r in range(panel.rows + 1):
        now: dict[tuple[int, int, int], int] = {}
        if r < panel.rows:
            start, row = 0, [hue[p] for p in panel.paints[r * panel.cols : (r + 1) * panel.cols]]
            for c in range(1, panel.cols + 1):
                if c == panel.cols or row[c] != row[start]:
                    key = (start, c, row[start])
                    now[key] = alive.get(key, r)
                    start = c
        for (c0, c1, mine), r0 in alive.items():
            name = names.get(mine, "")
            if owners and name.startswith("warp "):
                name = _warps(owners, r0 * panel.cols + c0, (r - 1) * panel.cols + c1 - 1) or name
            if (c0, c1, mine) not in now and name and (c1 - c0) * w >= len(name) * CHAR * FONT + 8 and (r - r0) * h >= 18:
                out.append(Mark(r0, c0, r, c1, (name,), panel.paints[r0 * panel.cols + c0]))
        alive = now
    return tuple(out)


def _warps(owners: dict[int, tuple[tuple[int, int], ...]], first: int, last: int) -> str:
    """`warp 0, 2` where the threads of several warps hold the cells of a rectangle; "" where one does."""
    both = [sorted({thread // 32 for thread, _ in owners.get(cell, ())}) for cell in (first, last)]
    return f"warp {', '.join(map(str, both[0]))}" if both[0] == both[1] and 1 < len(both[0]) <= 4 else ""


def wrap(text: str, width: float, letter: float, commas: bool = False) -> list[str]:
    """The text in lines of a width, cut at spaces (or after commas and colons), or anywhere in a word that is too long.

    >>> wrap("one two three", 40, 5)
    ['one two', 'three']
    """
    limit = max(8, int(width / letter))
    out = []
    while len(text) > limit:
        cut = text.rfind(" ", 0, limit + 1)
        if commas and cut <= limit // 3:
            cut = max(text.rfind(",", 0, limit), text.rfind(":", 0, limit)) + 1
        cut = cut if cut > limit // 3 else limit
        out.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*out, text] if text or not out else out
