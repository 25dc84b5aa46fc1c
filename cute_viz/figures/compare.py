"""Figures beside each other, and what differs between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel
from cute_viz.figures.page import page

_SAME, _OTHER = 0, 1  # of _PAINTS
_PAINTS = (Paint(-1), Paint(1))  # of a difference


def side_by_side(figures: Sequence[Figure], title: str | None = None) -> Figure:
    """One figure of several, each under its title; wide ones on top of each other.

    >>> from cute_viz.algebra.layout import Layout
    >>> from cute_viz.figures import build
    >>> side_by_side([build(Layout((2, 2))), build(Layout((2, 2), (2, 1)))]).title
    '2 × 2 layout | 2 × 2 layout'
    """
    parts = [(figure.source or figure.title, figure) for figure in figures]
    widest = max(panel.cols for figure in figures for panel in figure.panels)
    columns = max(1, min(len(figures) * 2, 48 // widest))
    name = title or " | ".join(figure.title for figure in figures)
    return replace(page(name, parts, columns), caption=figures[0].caption)


def difference(a: Figure, b: Figure, title: str | None = None) -> Figure:
    """Both figures, the cells whose labels differ coloured and boxed.

    Refused: figures whose panels do not have the same cells; figures without labels, which have nothing to compare.

    >>> from cute_viz.algebra.layout import Layout
    >>> from cute_viz.figures import build
    >>> difference(build(Layout((2, 2))), build(Layout((2, 2), (2, 1)))).notes
    ('2 of 4 cells differ.',)
    """
    shapes = [[(panel.rows, panel.cols) for panel in figure.panels] for figure in (a, b)]
    if shapes[0] != shapes[1]:
        one, two = (", ".join(f"{rows} x {cols}" for rows, cols in shape) for shape in shapes)
        raise FigureError(f"--diff compares cell by cell; {one} and {two} do not have the same cells")
    for figure in (a, b):
        if not all(panel.labels for panel in figure.panels) or not any(any(panel.labels) for panel in figure.panels):
            raise FigureError(
                f"--diff compares labels; {figure.source} is drawn without any", hint="draw a slice, and leave out --labels none"
            )
    other = [[x != y for x, y in zip(p.labels, q.labels, strict=True)] for p, q in zip(a.panels, b.panels, strict=True)]
    count, every = sum(map(sum, other)), sum(map(len, other))
    both = side_by_side([replace(f, panels=_marked(f.panels, other), paints=_PAINTS, legends=(), notes=()) for f in (a, b)], title)
    entries = (LegendEntry(_SAME, "the same", every - count), LegendEntry(_OTHER, "differs (boxed)", count))
    words = f"{count} of {every} cells differ." if count else f"All {every} cells are the same."
    return replace(
        both,
        kind="difference",
        title=title or f"What differs: {count} of {every} cells",
        legends=(Legend("hue: the difference", entries),),
        notes=(words,),
        description=f"{a.source} beside {b.source}. {words}",
    )


def _marked(panels: Sequence[Panel], other: Sequence[Sequence[bool]]) -> tuple[Panel, ...]:
    """The panels with paper where nothing differs, a box around each run of cells that do, and which they are as data."""
    out = []
    for panel, flags in zip(panels, other, strict=True):
        boxes = []
        for r in range(panel.rows):
            row, start = flags[r * panel.cols : (r + 1) * panel.cols], None
            for c in range(panel.cols + 1):
                inside = c < panel.cols and row[c]
                if inside and start is None:
                    start = c
                elif not inside and start is not None:
                    boxes.append((r, start, r + 1, c))
                    start = None
        paints = tuple([_OTHER if flag else _SAME for flag in flags])
        out.append(
            replace(panel, paints=paints, boxes=tuple(boxes), owners=(), data={**panel.data, "differs": tuple(map(int, flags))})
        )
    return tuple(out)
