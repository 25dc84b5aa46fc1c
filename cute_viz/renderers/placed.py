"""A figure that is laid out: its size, where its panels are, and what is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from cute_viz.figures.model import Figure, Panel
from cute_viz.records import dataclass
from cute_viz.renderers.frame import Detail
from cute_viz.renderers.primitives import Grid, Primitive


@dataclass(frozen=True, slots=True)
class Place:
    """A panel on the page: its level of detail, and where its cells are; the share of them that have a label, or a name."""

    panel: Panel
    detail: Detail
    grid: Grid
    named: float = 1.0


@dataclass(frozen=True)
class Page:
    """A laid out figure: its size, and where its panels are. draw: gives what `items` holds."""

    figure: Figure
    width: float
    height: float
    panels: tuple[Place, ...]
    draw: Callable[[], Sequence[Primitive]]

    @cached_property
    def items(self) -> tuple[Primitive, ...]:
        """All that is drawn, in drawing order; of a page that is only tried nobody asks for it."""
        return tuple(self.draw())
