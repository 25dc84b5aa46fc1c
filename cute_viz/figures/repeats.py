"""A panel whose pattern repeats as its unit, with an ellipsis and how often it does: `× 4`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from cute_viz.figures.model import Figure, Paint, Panel, Ruler
from cute_viz.figures.trim import cut, regridded

KINDS = ("grid", "tv", "mma", "copy", "banks")  # of one object, not of several that are compared
MOST = 1 << 16  # cells that are compared
FEW = 4  # threads, than which a unit whose threads are further on has no fewer
T = TypeVar("T")


def repeated(figure: Figure, further: bool = False) -> Figure | None:
    """The figure with each panel as the unit that repeats; None where nothing does. The threads repeat, or without any the hues
    of boxes. further: threads follow that are so many further on, such as those of the next warp. What is left out has other
    values or offsets; a note says how many units there are."""
    if figure.kind not in KINDS or sum(len(panel.paints) for panel in figure.panels) > MOST:
        return None
    paper = len(figure.paints)
    panels, notes, units = [], [], set[tuple[int, int]]()
    for panel in figure.panels:
        rows, cols, threads = _unit_further(figure, panel) if further else _unit(figure, panel)
        down, right = panel.rows // rows, panel.cols // cols
        units.add((down * right, threads))
        if down * right > 1:
            what = f"{panel.caption.partition(':')[0]}: " if panel.caption else ""
            words = " and ".join(f"× {n} {way}" for n, way in ((down, "down"), (right, "right")) if n > 1)
            words += f", each with the next {threads} threads" if threads else ""
            notes.append(f"{what}the first {rows} × {cols} of {panel.rows} × {panel.cols}; the pattern repeats {words}.")
            times = [f"× {n}" if n > 1 else None for n in (down, right)]
            panel = with_ellipses(cut(panel, 0, rows, 0, cols), times[0], times[1], paper)
        panels.append(panel)
    if not notes:
        return None
    if len(notes) > 1 and len(units) == 1 and further:  # the rulers have the way
        ((many, threads),) = units
        notes = [f"Each panel has the first of {many} units, each with the next {threads} threads."]
    return replace(figure, panels=tuple(panels), paints=(*figure.paints, Paint(-1)), notes=(*notes, *figure.notes))


def _unit(figure: Figure, panel: Panel) -> tuple[int, int, int]:
    """The rows and columns of the least part that repeats, cut through no box; the panel's own where none does."""
    if "thread" not in panel.data and not panel.boxes:
        return panel.rows, panel.cols, 0  # a hue alone tells little: offsets of a plain layout go on
    threads = panel.data.get("thread", (None,) * len(panel.paints))
    several = dict(panel.owners)
    keys = [
        (thread, tuple(t for t, _ in several[n])) if n in several else (thread, -1 if paint < 0 else figure.paints[paint].hue)
        for n, (thread, paint) in enumerate(zip(threads, panel.paints, strict=True))
    ]
    rows, cols = map(_period, _lines_of(keys, panel.cols), _inside(panel))
    return (rows, cols, 0) if rows * cols > 1 else (panel.rows, panel.cols, 0)


def _unit_further(figure: Figure, panel: Panel) -> tuple[int, int, int]:
    """The part after which the same begins with further threads, in one direction, and by how many; 0 where there is none."""
    threads = threads_of(panel)
    if all(threads) and not any(paint.faded for paint in figure.paints):
        for axis, (lines, inside) in enumerate(zip(_lines_of(threads, panel.cols), _inside(panel), strict=True)):
            n, step = _shifted(lines, inside)
            if step:
                return (n, panel.cols, step) if axis == 0 else (panel.rows, n, step)
    return panel.rows, panel.cols, 0


def threads_of(panel: Panel) -> list[tuple[int, ...]]:
    """The threads of each cell, the lowest first; none of a cell without a thread."""
    several = dict(panel.owners)
    lone = panel.data.get("thread", (None,) * len(panel.paints))
    return [
        tuple([t for t, _ in several[n]]) if n in several else () if thread is None else (thread,) for n, thread in enumerate(lone)
    ]


def _inside(panel: Panel) -> tuple[set[int], set[int]]:
    """The rows, and the columns, that begin inside of a box."""
    rows, cols = ({edge for box in panel.boxes for edge in range(box[axis] + 1, box[axis + 2])} for axis in (0, 1))
    return rows, cols


def _lines_of(keys: Sequence[T], cols: int) -> tuple[list[tuple[T, ...]], list[tuple[T, ...]]]:
    """The rows and the columns of cells."""
    rows = [tuple(keys[n : n + cols]) for n in range(0, len(keys), cols)]
    return rows, list(zip(*rows, strict=True))


def _period(lines: Sequence[object], inside: set[int]) -> int:
    """After how many lines all begins anew, at no line inside of a box."""
    for n in range(1, len(lines) // 2 + 1):
        if len(lines) % n == 0 and n not in inside and all(line == lines[k % n] for k, line in enumerate(lines)):
            return n
    return len(lines)


def _shifted(lines: Sequence[Sequence[tuple[int, ...]]], inside: set[int]) -> tuple[int, int]:
    """After how many lines all begins anew with threads that are further on, and by how many: those of a unit; 0 where it does
    not."""
    for n in range(1, len(lines) // 2 + 1):
        step = lines[n][0][0] - lines[0][0][0]
        if len(lines) % n or n in inside or step < FEW:
            continue
        held = {t for line in lines[:n] for cell in line for t in cell}
        alike = all([*line] == [tuple([t + k // n * step for t in cell]) for cell in lines[k % n]] for k, line in enumerate(lines))
        if alike and step == len(held) == max(held) + 1:
            return n, step
    return len(lines), 0


def with_ellipses(panel: Panel, down: str | None, right: str | None, paper: int) -> Panel:
    """The panel with a row, and a column, of ellipses in that paint behind the others, named so; none for None."""
    rows, cols = panel.rows + (down is not None), panel.cols + (right is not None)
    at = [r * panel.cols + c if r < panel.rows and c < panel.cols else None for r in range(rows) for c in range(cols)]
    return regridded(panel, at, _further(panel.row_ruler, down), _further(panel.col_ruler, right), panel.boxes, "…", paper)


def _further(ruler: Ruler, name: str | None) -> Ruler:
    return ruler if name is None else replace(ruler, labels=(*ruler.labels, name), levels=(*ruler.levels[:-1], 1, 0))
