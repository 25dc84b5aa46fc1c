"""A figure that fades all but single cells, with the labels of these alone, where there is no room for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cute_viz.figures.model import HOLE, Figure, Paint, Panel
from cute_viz.figures.repeats import with_ellipses
from cute_viz.figures.trim import cut
from cute_viz.renderers.marks import ROOMY


def lit(figure: Figure) -> Iterator[Figure]:
    """The figure with labels of what is not faded, less the line that all have in common; then the part of it that has any. None
    where boxes of several cells are not faded, which have labels of their own."""
    if not any(paint.faded for paint in figure.paints) or not any(any(panel.labels) for panel in figure.panels):
        return
    every = [
        [
            label.split("\n") if label and paint != HOLE and not figure.paints[paint].faded else []
            for label, paint in zip(panel.labels, panel.paints, strict=True)
        ]
        for panel in figure.panels
    ]
    boxes = [
        (mine[r0 * p.cols + c0], (r1 - r0) * (c1 - c0))
        for p, mine in zip(figure.panels, every, strict=True)
        for r0, c0, r1, c1 in p.boxes
    ]
    if any(lines and cells > 1 for lines, cells in boxes):
        return
    alike = next((n for n in (1, 0) if len({lines[n] for mine in every for lines in mine if len(lines) > 1}) == 1), None)
    panels = []
    for panel, mine in zip(figure.panels, every, strict=True):
        labels = ["\n".join([line for n, line in enumerate(lines) if n != alike or len(lines) == 1]) for lines in mine]
        panels.append(replace(panel, labels=tuple(labels), boxes=tuple(_boxes(panel, labels))))
    yield (whole := replace(figure, panels=tuple(panels), caption=""))
    paints = (*figure.paints, Paint(-1))
    parts = tuple([_part(panel, panels, len(figure.paints)) for panel in panels])
    if parts != whole.panels:
        yield replace(whole, panels=parts, paints=paints)


def _boxes(panel: Panel, labels: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """For each box with a label what its thread has beside it, where that is much."""
    threads = panel.data.get("thread", ())
    for r0, c0, _, _ in panel.boxes:
        at = r0 * panel.cols + c0
        for step, low, high in ((1, at - c0, at - c0 + panel.cols), (panel.cols, c0, len(labels))) if labels[at] else ():
            start = end = at
            while start - step >= low and threads[start - step] == threads[at]:
                start -= step
            while end + step < high and threads[end + step] == threads[at]:
                end += step
            if end - start >= (ROOMY - 1) * step:
                yield (*divmod(start, panel.cols), end // panel.cols + 1, end % panel.cols + 1)
                break


def _part(panel: Panel, panels: Sequence[Panel], paper: int) -> Panel:
    """From border to border the rows and columns with labels, in this panel or in one beside it, and ellipses behind them."""
    ends: list[tuple[int, int]] = []
    names: list[str | None] = []
    for axis, ruler in enumerate((panel.row_ruler, panel.col_ruler)):
        extent = len(ruler.labels)
        beside = [p for p in panels if (p.place[axis], (p.rows, p.cols)[axis]) == (panel.place[axis], extent)]
        full = [divmod(n, p.cols)[axis] for p in beside for n, label in enumerate(p.labels) if label] or [0, extent - 1]
        borders = [0, *[n for n in range(1, extent) if ruler.levels[n]], extent]
        ends.append((max(n for n in borders if n <= min(full)), min(n for n in borders if n > max(full))))
        last = ruler.labels[-1]
        names.append(None if ends[axis][1] == extent else last and f"..{last}")
    return with_ellipses(cut(panel, *ends[0], *ends[1]), names[0], names[1], paper)
