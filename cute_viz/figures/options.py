"""What a reader may ask of a figure: the view, the tile, what colour and text mean, and the size limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cute_viz.errors import LimitError

MAX_CELLS = 1 << 18
LABELS = ("auto", "offset", "coord", "index", "none")
VIEWS = ("grid", "tv", "table", "both")


@dataclass(frozen=True, slots=True)
class FigureOptions:
    """How to draw an object.

    view: `grid` (offsets), `tv` (each tile cell's owner), `table` (thread by value), `both`; None: `tv` with a tile, else `grid`.
    tile: (M, N), the tile that a TV layout covers; needed when its values are indices.
    color_by: what hue means; None for the view's own choice.
    labels: the text of a cell: `auto`, `offset`, `coord`, `index`, `none`.
    coords: rulers show the nested coordinates of hierarchical modes.
    title: instead of the one made from the object.
    thread, warp, value: colour these alone (half-open ranges), the rest stays paper.
    operand: of a TiledMMA or TiledCopy only these panels, such as "C" or "AB" or "S".
    tensor: a tensor's layout: draw what the highlighted thread holds of it.
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


def check_cells(count: int, what: str, options: FigureOptions) -> None:
    """Refuse what is too large to draw before anything is computed."""
    if count > options.max_cells:
        raise LimitError(
            f"{what} has {count} cells; the limit is {options.max_cells}",
            hint="draw a slice or a smaller tile, or raise the limit with --max-cells",
        )
