"""Where a picture will appear: how wide it may be there, how small its letters, and what surrounds its panels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cute_viz.options import TARGETS as WORDS
from cute_viz.records import dataclass
from cute_viz.renderers import Options

LEAST = 8.0  # px, 6 pt: the smallest letter that print bears


@dataclass(frozen=True, slots=True)
class Target:
    """A place for pictures.

    width: px (.75 pt each) that there are, None for as many as the labels need. head, notes, legend: whether the title with source
    and caption, the notes with the facts, and the legends are on the page. margin: px around all. shrinks: letters may be made
    as small as print bears. height: px that there are, which labels are given up for; None for as many as it takes. likes: px
    that it is better to keep to. counts: whether legends say how many cells there are. fragment: whether TeX is for an input,
    without a preamble.
    """

    width: float | None = None
    head: bool = True
    notes: bool = True
    legend: bool = True
    margin: float = 20.0
    shrinks: bool = False
    height: float | None = None
    likes: float = 864.0
    counts: bool = True
    fragment: bool = False

    @property
    def is_landscape(self) -> bool:
        """Whether there is more width than height, so that panels are better beside each other."""
        return self.width is not None and self.height is not None and self.width > self.height

    @property
    def is_whole(self) -> bool:
        """Whether the page says all that a reader should know; else a caption beside it does."""
        return self.head and self.notes and self.legend


SHEET, CAPTIONED = 820.0, 700.0  # px, 8.5 in: a page of text less two lines of a caption; less a caption of ten
SLIDE = 506.0  # px: 9/16 of the width
_PRINT: dict[str, Any] = {"head": False, "notes": False, "margin": 2.0, "shrinks": True, "counts": False, "fragment": True}
TARGETS = {
    "screen": Target(),
    "readme": Target(700),
    "column": Target(318, height=SHEET, likes=CAPTIONED, **_PRINT),  # 3.3 in, of a two-column paper
    "page": Target(624, height=SHEET, likes=CAPTIONED, **_PRINT),  # 6.5 in, a text width
    # 16:9; scaled up to the slide's width, letters are 12 pt
    "slide": Target(900, notes=False, margin=8, shrinks=True, height=SLIDE, likes=SLIDE, counts=False),
    "terminal": Target(),
}
assert tuple(TARGETS) == WORDS


def target_of(options: Options) -> Target:
    """The target that options ask for, without its surroundings where they want the panels bare.

    >>> target_of(Options(target="column", bare=True)).legend, target_of(Options()).width
    (False, None)
    """
    found = TARGETS[options.target or "screen"]
    if options.width is not None:
        found = replace(found, width=options.width)
    return replace(found, head=False, notes=False, legend=False, margin=2.0) if options.bare else found
