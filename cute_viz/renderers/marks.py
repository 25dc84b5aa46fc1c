"""Labels of several cells at once, where a single cell is too small for one: of boxes, and of groups of one hue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cute_viz.figures.model import HOLE, Figure, Panel
from cute_viz.renderers.geometry import CHAR, FONT

BOX_HEIGHT = 30.0  # px, of a box with two lines of text


@dataclass(frozen=True, slots=True)
class Mark:
    """A label of several cells: rows r0..r1, columns c0..c1 (half-open), its lines, and the paint below it."""

    r0: int
    c0: int
    r1: int
    c1: int
    lines: tuple[str, ...]
    paint: int

    @property
    def width(self) -> float:
        """px of the longest line, with some room at both ends."""
        return max(map(len, self.lines)) * FONT * CHAR + 8

    def middle(self, line: int) -> float:
        """px from the middle of the cells down to the middle of a line."""
        return (line - (len(self.lines) - 1) / 2) * 12


def has_vectors(figure: Figure) -> bool:
    """Whether boxes hold most cells of every panel, several each, so that a label a box tells nearly all.

    >>> from cute_viz import figure
    >>> has_vectors(figure("(2,4):(1,2)", tile=(2, 4))), has_vectors(figure("(4,4)"))
    (True, False)
    """
    for panel in figure.panels:
        held = sum((r1 - r0) * (c1 - c0) for r0, c0, r1, c1 in panel.boxes)
        if not panel.boxes or not panel.labels or 2 * held < panel.rows * panel.cols or held < 2 * len(panel.boxes):
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


def vector_cell(marks: Sequence[Mark]) -> tuple[float, float]:
    """The smallest cell such that the label of every box fits into it.

    >>> from cute_viz import figure
    >>> vector_cell(vector_marks(figure("(2,4):(1,2)", tile=(2, 4)).panels[0]))
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
