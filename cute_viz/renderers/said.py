"""What is said of a figure beside its picture: of text that no cell has at the size of the page, nothing."""

from __future__ import annotations

from dataclasses import replace

from cute_viz.figures.model import Figure
from cute_viz.renderers import Options
from cute_viz.renderers.page import page_of


def described(figure: Figure, options: Options) -> Figure:
    """The figure with the caption and the alt text that are true of its page."""
    if options.style == "cutlass" or figure.mute is None:
        return figure
    said = page_of(figure, options).figure
    return replace(figure, caption=said.caption, description=said.description)
