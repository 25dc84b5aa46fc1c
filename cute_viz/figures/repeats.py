"""A panel whose pattern repeats as its unit, with an ellipsis and how often it does: `× 4`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cute_viz.figures.model import Figure, Paint, Panel, Ruler
from cute_viz.figures.trim import cut, regridded

KINDS = ("grid", "tv", "mma", "copy", "banks")  # of one object, not of several that are compared
MOST = 1 << 16  # cells that are compared


def repeated(figure: Figure) -> Figure | None:
    """The figure with each panel as the unit that repeats; None where nothing does.

    The threads repeat, or without any the hues of boxes. What is left out has other values or offsets; a note says how many units
    there are.

    >>> found = repeated(build(parse("tile_to_shape(Sw<2,1,3> o 0 o (4,8):(8,1), (16,32))")))
    >>> found and [(panel.rows, panel.cols, panel.col_ruler.labels[-1]) for panel in found.panels]
    [(9, 9, '× 4')]
    """
    if figure.kind not in KINDS or sum(len(panel.paints) for panel in figure.panels) > MOST:
        return None
    paper = len(figure.paints)
    panels, notes = [], []
    for panel in figure.panels:
        rows, cols = _unit(figure, panel)
        down, right = panel.rows // rows, panel.cols // cols
        if down * right > 1:
            what = f"{panel.caption.partition(':')[0]}: " if panel.caption else ""
            words = " and ".join(f"× {n} {way}" for n, way in ((down, "down"), (right, "right")) if n > 1)
            notes.append(f"{what}the first {rows} × {cols} of {panel.rows} × {panel.cols}; the pattern repeats {words}.")
            panel = _with_ellipses(cut(panel, 0, rows, 0, cols), down, right, paper)
        panels.append(panel)
    if not notes:
        return None
    return replace(figure, panels=tuple(panels), paints=(*figure.paints, Paint(-1)), notes=(*notes, *figure.notes))


def _unit(figure: Figure, panel: Panel) -> tuple[int, int]:
    """The rows and columns of the least part that repeats, cut through no box; the panel's own where none does."""
    if "thread" not in panel.data and not panel.boxes:
        return panel.rows, panel.cols  # a hue alone tells little: offsets of a plain layout go on
    threads = panel.data.get("thread", (None,) * len(panel.paints))
    several = dict(panel.owners)
    keys = [
        (thread, tuple(t for t, _ in several[n])) if n in several else (thread, -1 if paint < 0 else figure.paints[paint].hue)
        for n, (thread, paint) in enumerate(zip(threads, panel.paints, strict=True))
    ]
    lines = [tuple(keys[r * panel.cols : (r + 1) * panel.cols]) for r in range(panel.rows)]
    columns = list(zip(*lines, strict=True))
    rows = _period(lines, {edge for a, _, b, _ in panel.boxes for edge in range(a + 1, b)})
    cols = _period(columns, {edge for _, a, _, b in panel.boxes for edge in range(a + 1, b)})
    return (rows, cols) if rows * cols > 1 else (panel.rows, panel.cols)


def _period(lines: Sequence[object], inside: set[int]) -> int:
    """After how many lines all begins anew, at no line inside of a box.

    >>> _period("abab", set()), _period("abab", {2}), _period("abba", set())
    (2, 4, 4)
    """
    for n in range(1, len(lines) // 2 + 1):
        if len(lines) % n == 0 and n not in inside and all(line == lines[k % n] for k, line in enumerate(lines)):
            return n
    return len(lines)


def _with_ellipses(panel: Panel, down: int, right: int, paper: int) -> Panel:
    """The panel with a row, and a column, of ellipses after those that repeat so often."""
    more_rows, more_cols = int(down > 1), int(right > 1)
    rows, cols = panel.rows + more_rows, panel.cols + more_cols
    at = [r * panel.cols + c if r < panel.rows and c < panel.cols else None for r in range(rows) for c in range(cols)]
    return regridded(panel, at, _further(panel.row_ruler, down), _further(panel.col_ruler, right), panel.boxes, "…", paper)


def _further(ruler: Ruler, times: int) -> Ruler:
    if times < 2:
        return ruler
    return replace(ruler, labels=(*ruler.labels, f"× {times}"), levels=(*ruler.levels[:-1], 1, 0))
