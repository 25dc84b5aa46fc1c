"""The steps of an operation as a strip of numbered panels, one scale of colours in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cute_viz.algebra.inttuple import show
from cute_viz.errors import FigureError
from cute_viz.figures.grid import grid
from cute_viz.figures.model import HOLE, Figure, Paint, Panel
from cute_viz.figures.options import FigureOptions, colours
from cute_viz.figures.paint import by_order, painted, steps_of

ACROSS = 4  # panels to a row
WIDE = 24  # columns of a panel that has a row of its own


@dataclass(frozen=True, slots=True)
class StepLayout:
    """A layout of a step: its numbers as the steps are told (`3`, `1-3`; "" of what goes in), a title, and whether it begins a
    row."""

    numbers: str
    title: str
    layout: Any
    begins: bool = False


def steps(title: str, source: str, parts: Sequence[StepLayout], told: Sequence[str]) -> Figure:
    """The figure of steps: hue is the offset, of all panels on one scale.

    told: every step in a sentence, with its number, for the notes.

    Raises: FigureError where no step gives a layout.
    """
    if not parts:
        raise FigureError("no step gives a layout to draw")
    plain = FigureOptions(color_by="none")
    figures = [grid(part.layout, plain) for part in parts]
    every: list[int | None] = []
    for panel in (panel for figure in figures for panel in figure.panels):
        every += panel.data.get("offset", (None,) * len(panel.paints))  # coordinates have no place on the scale
    far = [max(one.panels[0].data.get("offset", (-1,))) for one in figures]
    scale = parts[far.index(max(far))].layout
    painting = by_order(every, "hue: offset, on one scale in every step", steps=steps_of(scale))
    paints = (*painting.paints, Paint(-1))
    cells = [len(painting.paints) if paint == HOLE else paint for paint in painting.cells]
    panels, firsts = _placed(parts, painted(figures, cells, paints))
    legends = tuple(legend for legend in painting.legends if legend.entries)
    return Figure(
        kind="steps",
        title=title,
        source=source,
        caption="A cell shows what the layout above it gives",
        mute="",
        description=f"{title}. {' '.join(panels[n].caption + '.' for n in firsts)} {' '.join(told)}{colours(legends)}",
        paints=paints,
        legends=legends,
        panels=tuple(panels),
        notes=tuple(told),
    )


def _placed(parts: Sequence[StepLayout], figures: Sequence[Figure]) -> tuple[list[Panel], list[int]]:
    """The panels in rows, and which is the first of each step."""
    panels: list[Panel] = []
    firsts: list[int] = []
    row = col = 0
    for part, figure in zip(parts, figures, strict=True):
        deep, wide = (max(panel.place[axis] for panel in figure.panels) + 1 for axis in (0, 1))
        alone = deep > 1 or wide > 1 or figure.panels[0].cols > WIDE
        if col and (part.begins or alone or col == ACROSS):
            row, col = row + 1, 0
        firsts.append(len(panels))
        for n, panel in enumerate(figure.panels):
            caption = f"{part.numbers}{'. ' if part.numbers else ''}{part.title}: {show(part.layout)}" if n == 0 else ""
            caption = ", ".join(words for words in (caption, panel.caption) if words)
            panels.append(replace(panel, caption=caption, place=(row + panel.place[0], col + panel.place[1]), legends=None))
        row, col = (row + deep, 0) if alone else (row, col + 1)
    return panels, firsts
