"""Palettes: the only place where a hue slot and a shade become a colour.

A palette is a few hues for labelled cells. Shades of a hue are the hue mixed with white, so that dark ink stays
readable on every one of them; what recedes is mixed with the page, which may be dark. `MEANINGS` is the one table of what each
channel means; docs/explain/colours.md shows it.
"""

from __future__ import annotations

from dataclasses import replace

from cute_viz.errors import FigureError
from cute_viz.figures.model import CONFLICT, Paint
from cute_viz.records import dataclass, rows

LIGHTEST = 0.62  # how much white the lightest shade of a hue has
FADED = 0.82  # how much white a faded paint has, as what an HTML page puts over the cells behind a highlight
PAGES = ("#ffffff", "#0d1117")  # the page, light and dark
FADED_INKS = ("#5f6771", "#9aa4ae")
PAPERS = (("#ffffff", "#d4d8de"), ("#161b22", "#30363d"))  # the two shades of no hue; unlike every hue of the palettes
PAPER_INK = "#e6edf3"  # on the dark ones
RED = ("#c1121f", "#333333")  # of a conflict, in colour and in grey
MEANINGS = {row[0]: row[1] for row in rows(__file__, "meanings.txt")}


@dataclass(frozen=True, slots=True)
class Palette:
    """A named list of hues (#rrggbb), and where they come from. What is promised, and held by tests/test_palettes.py: every
    label has a contrast of 4.5:1 (WCAG 2, AA) on every hue and shade. Any two hues of the default palette differ by a CIEDE2000
    of 9, of 10 for readers without green cones, of 7.5 for other colour-blind readers, and of 2.9 in grey print; shades of two
    that follow each other differ by 10 without green cones. Since greys that close are hard to tell apart, groups are also
    outlined and labelled."""

    name: str
    hues: tuple[str, ...]
    source: str

    @property
    def is_flat(self) -> bool:
        """Whether hues are greys, which shades would make each other's."""
        return all(len(set(rgb(hue))) == 1 for hue in self.hues)

    def fill(self, paint: Paint, dark: bool = False) -> str:
        """The colour of a paint, #rrggbb, on a light page or a dark one; slots past the last hue start again."""
        if paint.faded:
            return mixed(self.fill(replace(paint, faded=False), dark), FADED, PAGES[dark])
        if paint.hue == CONFLICT:
            return RED[self.is_flat]
        if paint.hue < 0:
            return PAPERS[dark][paint.shade > 0]
        hue = self.hues[paint.hue % len(self.hues)]
        if paint.shade == 0 or paint.shades < 2:
            return hue
        return mixed(hue, LIGHTEST * paint.shade / (paint.shades - 1))

    def ink(self, paint: Paint, dark: bool = False) -> str:
        """Black or white, whichever reads better on the paint: at a luminance of 0.179 their contrasts are equal; faded, a grey."""
        if paint.faded:
            return FADED_INKS[dark]
        if dark and paint.hue == -1:
            return PAPER_INK
        return "#000000" if luminance(self.fill(paint, dark)) > 0.179 else "#ffffff"


def mixed(colour: str, share: float, page: str = "#ffffff") -> str:
    """A colour mixed with that of a page, from 0 (as it is) to 1 (the page)."""
    return "#" + "".join(f"{round(c + (to - c) * share):02x}" for c, to in zip(rgb(colour), rgb(page), strict=True))


def rgb(colour: str) -> tuple[int, int, int]:
    """The three channels, 0 to 255, of #rrggbb."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:], 16)


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2, from 0 (black) to 1 (white)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


PALETTES = {name: Palette(name, tuple(hues.split()), source) for name, hues, source in rows(__file__, "palettes.txt")}
DEFAULT = "tol-even"


def palette(name: str | None = None) -> Palette:
    """The palette of that name (the default one without a name). Raises: FigureError for an unknown palette."""
    try:
        return PALETTES[(name or DEFAULT).replace("gray", "grey")]
    except KeyError:
        raise FigureError(f"there is no palette {name!r}", hint=f"palettes: {', '.join(PALETTES)}") from None
