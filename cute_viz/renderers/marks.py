"""Labels of several cells at once, where a single cell is too small for one: of boxes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil, inf
from typing import NamedTuple

from cute_viz.figures.model import Figure, Panel
from cute_viz.records import pattern
from cute_viz.renderers.geometry import CHAR, FONT, kept, split_lines

NARROWEST = 3.0  # px, of a cell in a box with a label
_PAIR = pattern(r"([0-9]+),([0-9]+)", re.ASCII)  # `3,8`: a coordinate
ROOMY = 4  # cells of a box with room for a label beside one of them
_NUMBERS = pattern(r"([^0-9]*)([0-9]+)(?:-([0-9]+))?", re.ASCII)  # `V7`, `12`, `6-7`


class Mark(NamedTuple):
    """A label of several cells: rows r0..r1, columns c0..c1 (half-open), its lines, the paint below it, and whether its lines are
    those of one name, in letters of one size."""

    r0: int
    c0: int
    r1: int
    c1: int
    lines: tuple[str, ...]
    paint: int
    even: bool = False

    @property
    def width(self) -> float:
        """px of the longest line, with some room at both ends."""
        return max(map(len, self.lines)) * FONT * CHAR + 8

    def middle(self, line: int) -> float:
        """px from the middle of the cells down to the middle of a line."""
        return (line - (len(self.lines) - 1) / 2) * 12


def has_vectors(figure: Figure, most: float = inf, pad: float = 10.0) -> bool:
    """Whether boxes hold most cells of every panel, several each, so that one label per box says nearly everything.

    most: px that a panel may take with those labels. pad: as of `vector_width`.
    """
    for panel in figure.panels:
        held = sum((r1 - r0) * (c1 - c0) for r0, c0, r1, c1 in panel.boxes)
        if not panel.boxes or not panel.labels or 2 * held < panel.rows * panel.cols or held < 2 * len(panel.boxes):
            return False
        if vector_width(panel, pad) > most or not all(box_lines(panel)):
            return False
    return bool(figure.panels)


@kept("boxes", "labels", "cols", "paints")
def vector_marks(panel: Panel, line: bool = False) -> tuple[Mark, ...]:
    """A label for each box, `T5` over `V0-7`, or in one line, from the labels of its cells."""
    marks = []
    for box, lines in zip(panel.boxes, box_lines(panel), strict=True):
        if lines:
            r0, c0, r1, c1 = _beside(panel, *box)
            marks.append(Mark(r0, c0, r1, c1, (" ".join(lines),) if line else lines, panel.paints[r0 * panel.cols + c0]))
    return tuple(marks)


def _beside(panel: Panel, r0: int, c0: int, r1: int, c1: int) -> tuple[int, int, int, int]:
    """Where the label of a box stands: in all of it, or where one cell alone has a label in the longer part beside that cell."""
    cells = [r * panel.cols + c for r in range(r0, r1) for c in range(c0, c1)]
    if len(cells) < ROOMY or (panel.labels[cells[0]] and panel.labels[cells[-1]]) or (r1 - r0 > 1 and c1 - c0 > 1):
        return r0, c0, r1, c1
    at = next(n for n, cell in enumerate(cells) if panel.labels[cell])
    first, last = (at + 1, len(cells)) if 2 * at < len(cells) else (0, at)
    return (r0 + first, c0, r0 + last, c1) if c1 - c0 == 1 else (r0, c0 + first, r1, c0 + last)


@kept("boxes", "labels", "cols")
def box_lines(panel: Panel) -> list[tuple[str, ...]]:
    """The lines of the label of each box; none where the labels of its cells are not the same, a run, or in one alone."""
    cols, lines = panel.cols, split_lines(panel.labels)
    spans: dict[tuple[str, ...], str | None] = {}  # `V0-7` is what many boxes have
    out = []
    for r0, c0, r1, c1 in panel.boxes:
        found: list[str] = []
        for line in lines:
            labels = line[r0 * cols + c0 : r0 * cols + c1]
            for r in range(r0 + 1, r1):
                labels += line[r * cols + c0 : r * cols + c1]
            if len({*labels} - {""}) == 1:
                span: str | None = max(labels)  # of all, or of those that have one
            elif labels in spans:
                span = spans[labels]
            else:
                span = spans[labels] = _span(labels)
            if span is None:
                found = []
                break
            if span:
                found.append(span)
        out.append(tuple(found))
    return out


def _span(labels: Sequence[str]) -> str | None:
    """`V0-7` of V0, V1 ... V7, the one label of all, or None: a range is told of consecutive numbers alone."""
    if labels.count(labels[0]) == len(labels):
        return labels[0]
    prefix = labels[0].rstrip("0123456789")
    digits = labels[0][len(prefix) :]
    if prefix.isalpha() and digits and [*labels] == [f"{prefix}{n}" for n in range(int(digits), int(digits) + len(labels))]:
        return f"{labels[0]}-{int(digits) + len(labels) - 1}"  # nearly always
    if pairs := [found for label in labels if (found := _PAIR.fullmatch(label))]:
        return _pair_span([(found[1], found[2]) for found in pairs]) if len(pairs) == len(labels) else None
    first = _NUMBERS.fullmatch(labels[0])
    if not first:
        return None
    head, last = first[1], int(first[3] or first[2])
    for label in labels[1:]:
        found = _NUMBERS.fullmatch(label)
        if not found or found[1] != head or not last <= int(found[2]) <= last + 1:
            return None
        last = int(found[3] or found[2])
    return f"{head}{first[2]}-{last}"


def _pair_span(pairs: Sequence[tuple[str, str]]) -> str | None:
    """`3,8-15` of coordinates along a row, `0-7,2` of those down a column."""
    rows, cols = ([pair[axis] for pair in pairs] for axis in (0, 1))
    if len(set(rows)) > 1 and len(set(cols)) > 1:
        return None
    spans = _span(rows), _span(cols)
    return None if None in spans else ",".join(map(str, spans))


@kept()
def _extents(marks: tuple[Mark, ...]) -> tuple[set[tuple[int, int]], int, int]:
    """Of labelled boxes the columns and letters, each pair once, the fewest rows and the most lines."""
    widths = {(m.c1 - m.c0, max(map(len, m.lines))) for m in marks}
    return widths, min((m.r1 - m.r0 for m in marks), default=1), max((len(m.lines) for m in marks), default=1)


def vector_cell(
    marks: tuple[Mark, ...], pad: float = 10.0, heights: tuple[float, float] = (20.0, 30.0), low: float = 8.0
) -> tuple[float, float]:
    """The smallest cell such that the label of every box fits into it, with `pad` px to spare.

    heights: px of a box of one line, and of two. low: px of a cell at least.
    """
    widths, tall, lines = _extents(marks)
    w = max((NARROWEST, *((letters * CHAR * FONT + pad) / cols for cols, letters in widths)))
    steps = 4 if pad >= 10 else 64  # of a px: where the room is tight, a quarter of one in each of 64 columns is a label's
    return ceil(steps * w) / steps, float(max(low, -int(-(heights[lines > 1] + 12 * max(0, lines - 2)) / tall)))


@kept("boxes", "labels", "cols")
def vector_width(panel: Panel, pad: float = 10.0) -> float:
    """px that the panel's cells take at least when every box has a label: its first line decides, and is quickly found."""
    need = NARROWEST
    for r0, c0, _, c1 in panel.boxes:
        label = panel.labels[r0 * panel.cols + c0]
        end = label.find("\n")
        need = max(need, ((len(label) if end < 0 else end) * CHAR * FONT + pad) / (c1 - c0))
    return need * panel.cols
