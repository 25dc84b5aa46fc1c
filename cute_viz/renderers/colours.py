"""The colours of a page besides the palette, light and dark: paper, text, muted text, borders, arrows, conflicts, holes.

Formats that carry both themes (SVG, HTML) write the light ones and replace them by a style sheet.
"""

from __future__ import annotations

from cute_viz.renderers import Options
from cute_viz.renderers.palette import PAGES, RED, Palette, palette

PAPER, TEXT, MUTED, LINE, BORDER = PAGES[0], "#1a1a1a", "#57606a", "#000000", "#111111"
LIGHT = {"p": PAPER, "t": TEXT, "m": MUTED, "b": BORDER, "x": "#b5121b"}
DARK = {"p": PAGES[1], "t": "#e6edf3", "m": "#9aa4ae", "b": "#e6edf3", "x": "#ff7b72"}
BETWEEN = "#6e7681"  # of lines in the dark, which are seen on paper and on hues
HOLE_COLOUR = "#d0d4d8"  # of a cell without owner where it is too small to be hatched

HATCH = ("#9aa4ae", 0.8)  # colour and stroke of a diagonal through each hole, of formats without patterns


def page_palette(options: Options) -> Palette:
    """The palette that a page is drawn in: the one asked for, or that of the theme."""
    return palette(options.palette or ("grey" if options.theme == "print" else None))


def roles(options: Options, dark: bool = False) -> dict[str, str]:
    """The colours of the roles of a page; of a conflict, in a palette of greys, that of its cells."""
    grey = {"x": RED[1]} if page_palette(options).is_flat else {}
    return DARK if dark else LIGHT | grey
