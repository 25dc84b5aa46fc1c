"""A figure for lines of so many letters: what a thread moves at once is one cell, `T0 V0-7`, and wide panels are cut into bands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cute_viz.figures.model import Figure, Panel, Ruler
from cute_viz.figures.trim import cut
from cute_viz.renderers.marks import box_lines

Measure = Callable[[Panel], tuple[int, int]]  # of a panel: letters beside the cells, and of a cell


def narrowed(figure: Figure, columns: int, measure: Measure) -> Figure:
    """The figure with panels that need more columns merged, where boxes say everything, and then cut."""
    out: list[Panel] = []
    for panel in figure.panels:
        beside, cell = measure(panel)
        if beside + panel.cols * cell <= columns:
            out.append(panel)
            continue
        panel = merged(panel) or panel
        beside, cell = measure(panel)
        per = _even(panel.cols, max(1, (columns - beside) // cell))
        starts = range(0, panel.cols, per)
        caption = "" if len(starts) > 1 else panel.caption
        for c in starts:
            part = cut(panel, 0, panel.rows, c, min(c + per, panel.cols))
            out.append(replace(part, caption=panel.caption if c == 0 else caption))
    return replace(figure, panels=tuple(out))


def _even(cols: int, most: int) -> int:
    """How many columns a band has: a power of two where that is not much less than fit, else such that bands are alike."""
    two = 1 << most.bit_length() - 1
    return two if cols > most and 3 * two > 2 * most else -(-cols // -(-cols // most))


def merged(panel: Panel) -> Panel | None:
    """The panel with a cell for each box; None where its boxes are not all alike, do not fill it, or have no label of their own."""
    sizes = {(r1 - r0, c1 - c0) for r0, c0, r1, c1 in panel.boxes}
    if len(sizes) != 1 or "differs" in panel.data or not panel.labels:
        return None
    ((rows, cols),) = sizes
    places = {(r0 // rows, c0 // cols): n for n, (r0, c0, _, _) in enumerate(panel.boxes) if not (r0 % rows or c0 % cols)}
    down, right = panel.rows // rows, panel.cols // cols
    if len(places) != down * right or (down * rows, right * cols) != (panel.rows, panel.cols) or len(panel.boxes) != len(places):
        return None
    lines = box_lines(panel)
    if not all(lines):
        return None
    order = [(r, c) for r in range(down) for c in range(right)]
    corners = [r * rows * panel.cols + c * cols for r, c in order]
    return replace(
        panel,
        rows=down,
        cols=right,
        labels=tuple([" ".join(lines[places[place]]) for place in order]),
        paints=tuple([panel.paints[corner] for corner in corners]),
        row_ruler=_every(panel.row_ruler, rows),
        col_ruler=_every(panel.col_ruler, cols),
        owners=(),
        boxes=(),
        data={},
    )


def _every(ruler: Ruler, step: int) -> Ruler:
    """The ruler of every so many lines; a border between them is lost where a box crosses it."""
    return Ruler(ruler.title, ruler.labels[::step], ruler.levels[::step])
