"""What a reader may ask of a figure: the view, the tile, what colour and text mean, and the size limit."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cute_viz.algebra.recast import bits_of
from cute_viz.errors import FigureError
from cute_viz.limits import LIMITS, limit, over

MAX_CELLS = LIMITS["cells"].value
LABELS = ("auto", "full", "offset", "coord", "index", "none")


@dataclass(frozen=True, slots=True)
class FigureOptions:
    """How to draw an object.

    view: one of `figures.views.VIEWS`; None: what the object asks for, of a layout `tv` with a tile, else `grid`.
    tile: (M, N), the tile that a TV layout covers; needed when its values are indices.
    color_by: what hue means; None for the view's own choice.
    labels: the text of a cell: `auto`, `offset`, `coord`, `index`, `none`; `full` is `auto` that is never left out.
    coords: rulers show the nested coordinates of hierarchical modes.
    title: instead of the one made from the object.
    thread, warp, value: colour these alone (a number, or a half-open range), the rest stays paper.
    operand: of a TiledMMA or TiledCopy only these panels, such as "C" or "AB" or "S".
    tensor: a tensor's layout: draw what the highlighted thread holds of it.
    heat: so many cells that no label fits may be drawn as an image.
    bits: of an element in shared memory, for the views of banks and addresses; 16 where nothing else tells.
    max_cells: more cells than this are refused.
    """

    view: str | None = None
    tile: tuple[int, int] | None = None
    color_by: str | None = None
    labels: str = "auto"
    coords: bool = False
    title: str | None = None
    max_cells: int = MAX_CELLS
    thread: range | None = None
    warp: range | None = None
    value: range | None = None
    operand: str | None = None
    tensor: Any = None
    bits: int | None = None
    heat: bool = False

    def __post_init__(self) -> None:
        for name in ("thread", "warp", "value"):
            wanted: Any = getattr(self, name)
            if isinstance(wanted, int) and not isinstance(wanted, bool):
                object.__setattr__(self, name, range(wanted, wanted + 1))
            elif wanted is not None and not (isinstance(wanted, range) and wanted.step == 1):
                raise FigureError(f"{name} is a number or a range, not {wanted!r}", hint="such as range(0, 4)")
        tile: Any = self.tile
        if tile is not None and not (isinstance(tile, tuple) and len(tile) == 2 and all(map(_is_positive, tile))):
            raise FigureError(f"a tile is (rows, columns), not {tile!r}", hint="such as (8, 128)")
        for name in ("view", "labels", "color_by", "operand", "title"):
            if not isinstance(getattr(self, name), (str, type(None))):
                raise FigureError(f"{name} is text, not {getattr(self, name)!r}")
        for name in ("bits", "max_cells"):
            if getattr(self, name) is not None and not _is_positive(getattr(self, name)):
                raise FigureError(f"{name} is a number of 1 or more, not {getattr(self, name)!r}")
        if len(self.title or "") > limit("title"):
            raise over("title", f"a title of {len(self.title or '')} characters")


def parse_tile(text: str) -> tuple[int, int]:
    """A tile as it is written: 8x128, (8,128).

    >>> parse_tile("8x128"), parse_tile("(_8,_128)")
    ((8, 128), (8, 128))
    """
    match = re.fullmatch(r"\s*\(?\s*_?(\d{1,18})\s*[x×*,]\s*_?(\d{1,18})\s*\)?\s*", text)
    if match is None or 0 in (tile := (int(match[1]), int(match[2]))):
        raise FigureError(f"{text!r} is not a tile; write rows x columns, such as 8x128")
    return tile


def parse_range(text: str) -> range:
    """One number, or the first and the last.

    >>> parse_range("5"), parse_range("0..3")
    (range(5, 6), range(0, 4))
    """
    match = re.fullmatch(r"\s*(\d{1,9})\s*(?:(?:\.\.|-)\s*(\d{1,9}))?\s*", text)
    if match is None or int(match[2] or match[1]) < int(match[1]):
        raise FigureError(f"{text!r} is not a number or a range; write 5 or 0..3")
    return range(int(match[1]), int(match[2] or match[1]) + 1)


def from_words(words: dict[str, Any]) -> dict[str, Any]:
    """The fields of FigureOptions from the words of a spec; what is no text is taken as it is, and `type` becomes `bits`.

    >>> from_words({"tile": "8x128", "thread": "5", "coords": True})
    {'tile': (8, 128), 'thread': range(5, 6), 'coords': True}
    """
    readers: dict[str, Callable[[str], Any]] = {"tile": parse_tile, "max_cells": _positive, "bits": bits_of}
    readers |= dict.fromkeys(("thread", "warp", "value"), parse_range)
    out: dict[str, Any] = {}
    for key, word in words.items():
        key = "bits" if key == "type" else key
        try:
            out[key] = readers[key](word) if key in readers and isinstance(word, str) else word
        except ValueError:
            raise FigureError(f"{key}: {word!r} is not a number") from None
    return out


def _is_positive(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _positive(text: str) -> int:
    if not text.isdecimal() or len(text) > 18 or int(text) < 1:
        raise FigureError(f"{text[:40]!r} is not a number of 1 or more")
    return int(text)


def operands(wanted: str | None, known: str, what: str) -> str:
    """The letters of --operand in the order in which they are drawn; all without any.

    Refused: a letter that is not known, with `what` there is instead.

    >>> operands(None, "SD", "a copy has S and D"), operands("ba", "CAB", "an MMA has A, B and C")
    ('SD', 'AB')
    """
    letters = (wanted or known).upper()
    if set(letters) - set(known):
        raise FigureError(f"--operand {wanted}: {what}")
    return "".join(x for x in known if x in letters)


def check_cells(count: int, what: str, options: FigureOptions) -> None:
    """Refuse what is too large to draw before anything is computed.

    >>> check_cells(9, "the layout (3,3)", FigureOptions(max_cells=8))
    Traceback (most recent call last):
    cute_viz.errors.LimitError: the layout (3,3) has 9 cells; the limit is 8
      hint: draw a slice or a smaller tile; --max-cells N (max_cells in a spec) raises it
    """
    if count > options.max_cells:
        raise over("cells", f"{what} has {count} cells", most=options.max_cells, instead="draw a slice or a smaller tile")
