"""The panel of a lane with other rows: one for all that are alike, and those of both CTAs of a pair."""

from __future__ import annotations

import re
from dataclasses import replace

from cute_viz.figures.model import Panel
from cute_viz.figures.paint import HUES, span
from cute_viz.figures.trim import picked

WARPS = 4  # of a CTA
FAINT, GREY = HUES, 2 * HUES  # where the paints of what recedes begin; that of what belongs to all rows


def banded(panel: Panel) -> Panel:
    """The panel with one row for all that stand together and are alike, so that a single one in full hue is as high as they are."""
    lines = [panel.paints[r * panel.cols : (r + 1) * panel.cols] for r in range(panel.rows)]
    lit = [any(0 <= paint < FAINT for paint in line) for line in lines]
    starts = [r for r in range(panel.rows) if r == 0 or lit[r] or lines[r] != lines[r - 1]]
    old, ends = panel.row_ruler.labels, [*starts[1:], panel.rows]
    names = [span(a, b - 1) if old[a] else "" for a, b in zip(starts, ends, strict=True)]
    whole = picked(panel, starts, range(panel.cols))
    alone = [n for n, (a, b) in enumerate(zip(starts, ends, strict=True)) if b == a + 1]
    labels = [label if n // panel.cols in alone else "" for n, label in enumerate(whole.labels)]
    ruler = replace(whole.row_ruler, labels=tuple(names), levels=(0,) * (len(names) + 1))
    return replace(whole, labels=tuple(labels), row_ruler=ruler)


def twice(panel: Panel) -> Panel:
    """The panel of one CTA of a pair as that of both: below it the rows of the other, in the hues of its own warps."""

    def other(paint: int) -> int:
        return paint + WARPS if 0 <= paint < GREY else paint

    labels = panel.row_ruler.labels
    rows = max([panel.rows, *(int(end) + 1 for label in labels for end in re.findall(r"\d+", label))])  # one may stand for several
    more = tuple([re.sub(r"\d+", lambda digits: str(int(digits[0]) + rows), label) for label in labels])
    ruler = replace(panel.row_ruler, labels=labels + more, levels=(*panel.row_ruler.levels[:-1], 1, *panel.row_ruler.levels[1:]))
    paints = (*panel.paints, *map(other, panel.paints))
    return replace(panel, rows=2 * panel.rows, labels=panel.labels * 2, paints=paints, row_ruler=ruler)
