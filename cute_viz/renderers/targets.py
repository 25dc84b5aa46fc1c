"""Where a picture will appear: how wide it may be there, how small its letters, and what surrounds its panels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cute_viz.options import TARGETS as WORDS
from cute_viz.records import dataclass
from cute_viz.renderers import Options
from cute_viz.renderers.geometry import FONT

LEAST = 8.0  # px, 6 pt: the smallest letter that print bears


@dataclass(frozen=True, slots=True)
class Target:
    """A place for pictures: how much room there is, how small letters may be, how many labels are looked at there. width,
    height: px (.75 pt each); None for as many as the labels need, up to `page.HIGHEST`. head, notes, legend: whether the title
    with source and caption, the notes with the facts, and the legends are on the page. margin: px around all. least: px of the
    smallest letter. labels: of cells or boxes, at most. grows: by how much the cells of a small picture may grow. fragment:
    whether TeX is for an input, without a preamble."""

    width: float | None = None
    height: float | None = None
    head: bool = True
    notes: bool = True
    legend: bool = True
    margin: float = 20.0
    least: float = LEAST
    labels: int = 1200
    grows: float = 1.0
    fragment: bool = False

    @property
    def is_landscape(self) -> bool:
        """Whether there is more width than height, so that panels are better beside each other."""
        return self.width is not None and self.height is not None and self.width > self.height

    @property
    def is_whole(self) -> bool:
        """Whether the page says all that a reader should know; else a caption beside it does."""
        return self.head and self.notes and self.legend


_PRINT: dict[str, Any] = {"head": False, "notes": False, "margin": 2.0, "fragment": True}
TARGETS = {
    "screen": Target(),
    "readme": Target(700, 900, grows=1.5),
    "column": Target(318, 700, **_PRINT),  # 3.3 in, of a two-column paper; 9.1 in of text less the caption
    "page": Target(624, 700, **_PRINT),  # 6.5 in, a text width; 8 in less two lines of a caption
    "slide": Target(900, 506, notes=False, margin=14.0, least=11.0, labels=160, grows=2.0),  # 16:9; letters of 12 pt
    "terminal": Target(),
}
assert tuple(TARGETS) == WORDS


def target_of(options: Options) -> Target:
    """The target that options ask for, without its surroundings where they want the panels bare."""
    found = TARGETS[options.target or "screen"]
    if found.height is not None:
        found = replace(found, height=found.height - options.below)
    if options.letters is not None:  # `page_of` scales it, with what options have in px
        scale = options.letters / FONT
        room = {name: px / scale for name in ("width", "height", "margin") if (px := getattr(found, name)) is not None}
        found = replace(found, least=float(FONT), grows=1.0, **room)
    if options.width is not None:
        found = replace(found, width=options.width)
    return replace(found, head=False, notes=False, legend=False, margin=2.0) if options.bare else found
