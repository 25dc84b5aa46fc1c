"""A figure for a narrow window, such as a phone's: its panels below each other, and wide ones in bands."""

from __future__ import annotations

from dataclasses import replace

from cute_viz.figures import trim
from cute_viz.figures.model import Figure
from cute_viz.renderers.levels import arranged, is_product
from cute_viz.renderers.targets import TARGETS

NARROW = 600  # px
_WIDEST = 48  # columns that stand side by side in a narrow window
_BANDS = range(36, 15, -1)  # columns of a band: as many as divide the panel, else as _BAND
_BAND = 32
_LONGEST = 512  # rows of all bands


def narrowed(figure: Figure, width: float) -> Figure:
    """The figure as a window of so many px is best filled; any wider than a phone's leaves it as it is."""
    if not 0 < width < NARROW or figure.flow or figure.notes_on or figure.kind in ("journey", "file"):
        return figure
    if is_product(figure) or figure.outer:  # whose cells would be too small for their labels, side by side
        panels = [replace(panel, place=(n, 0)) for n, panel in enumerate(figure.panels)]
        figure = replace(figure, panels=tuple(panels), outer=())
    ways = arranged(figure, TARGETS["column"])
    figure = next((way for way in ways if all(panel.place[1] == 0 for panel in way.panels)), figure)
    wide = [panel.cols for panel in figure.panels if panel.cols > _WIDEST and panel.cols >= 2 * panel.rows]
    wide = wide if sum(panel.rows * panel.cols for panel in figure.panels) <= _BAND * _LONGEST else []
    if not wide or figure.arrows:
        return figure
    band = next((n for n in _BANDS if max(wide) % n == 0), _BAND)
    return trim.fold(replace(figure, series=()), band)
