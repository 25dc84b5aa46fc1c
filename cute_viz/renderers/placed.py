"""A figure that is laid out: its size, where its panels are, what is drawn, and what is said of that."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from cute_viz.figures.model import Figure, Panel
from cute_viz.records import dataclass
from cute_viz.renderers.frame import Detail
from cute_viz.renderers.primitives import Grid, Primitive

BLOCKS = "A block shows its range of offsets"
_OF_OFFSETS = re.compile(r"hue: offset(; shade.*)?")


@dataclass(frozen=True, slots=True)
class Place:
    """A panel on the page: its level of detail, and where its cells are; the share of them that have a label, or a name.

    outlined: whether the boxes are drawn."""

    panel: Panel
    detail: Detail
    grid: Grid
    named: float = 1.0
    outlined: bool = True


@dataclass(frozen=True)
class Page:
    """A laid out figure: its size, and where its panels are. draw: gives what `items` holds."""

    figure: Figure
    width: float
    height: float
    panels: tuple[Place, ...]
    draw: Callable[[], Sequence[Primitive]]

    @property
    def named(self) -> float:
        """The share of the cells that have a label, or lie in a group with a name."""
        cells = [place.panel.rows * place.panel.cols for place in self.panels]
        return sum(n * place.named for n, place in zip(cells, self.panels, strict=True)) / sum(cells)

    @cached_property
    def items(self) -> tuple[Primitive, ...]:
        """All that is drawn, in drawing order; of a page that is only tried nobody asks for it."""
        return tuple(self.draw())


def as_drawn(page: Page) -> Page:
    """The page with the caption and the alt text of what is drawn: cells that have no room for labels are not said to show any."""
    figure = page.figure
    written = [place for place in page.panels if any(place.panel.labels)]
    if figure.mute is None or not written or any(place.detail < Detail.COLOUR for place in written):
        return page
    banded = figure.kind == "grid" and any(
        place.named and "offset" in place.panel.data and _OF_OFFSETS.fullmatch(legend.title)
        for place in written
        for legend in figure.legends_of(place.panel)[:1]
    )
    caption = "; ".join(filter(None, (BLOCKS * banded, figure.mute)))
    words = figure.description.replace(f"{figure.caption}.", f"{caption}." if caption else "")
    return replace(page, figure=replace(figure, caption=caption, description=" ".join(words.split())))
