"""PDF through matplotlib."""

from __future__ import annotations

from cute_viz.figures.model import Figure
from cute_viz.renderers import Options


def render(figure: Figure, options: Options) -> bytes:
    """The figure as the bytes of a PDF; equal input gives equal bytes."""
    from cute_viz.renderers.mpl import write

    return write(figure, options, "pdf")
