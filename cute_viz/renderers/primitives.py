"""What a page is made of: the few kinds of things that a writer of a format can put down, in px from the upper left.

The layout (`page.py`, `panel.py`) has measured and placed all of them; what is left to a writer is syntax and colour. Of what
there may be many, columns are held, not a value each: a page of 65,536 labels is a handful of these. `paint` is an index into
the figure's paints, or HOLE. A text stands with its middle at its `y`. They are named tuples, since a dozen dataclasses would
cost each cold start five milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn, TypeAlias

MIDDLE, START, END = "middle", "start", "end"  # of a text: which part of it stands at its x
TEXT, MUTED, ALARM = "t", "m", "x"  # roles of text; ALARM of a conflict
PAPER = "p"  # a role of areas
INK = "i"  # a role of paths: dark in every theme, for what lies over cells
CELL, TILE = "l", "tile"  # roles of lines: between cells, between tiles


class Grid(NamedTuple):
    """Where the cells of a panel are: how many, the upper left corner of the first, the size of each."""

    rows: int
    cols: int
    left: float
    top: float
    cell_w: float
    cell_h: float

    @property
    def right(self) -> float:
        """px of the right edge."""
        return self.left + self.cols * self.cell_w

    @property
    def bottom(self) -> float:
        """px of the lower edge."""
        return self.top + self.rows * self.cell_h

    def scaled(self, k: float) -> Grid:
        """The grid on a page that is k times as large."""
        return Grid(self.rows, self.cols, *[x * k for x in self[2:]])

    def xs(self) -> list[float]:
        """The left edge of each column, and the right edge of the last."""
        return [self.left + c * self.cell_w for c in range(self.cols + 1)]

    def ys(self) -> list[float]:
        """The upper edge of each row, and the lower edge of the last."""
        return [self.top + r * self.cell_h for r in range(self.rows + 1)]

    def middles(self) -> list[float]:
        """The middle of each column."""
        return [self.left + (c + 0.5) * self.cell_w for c in range(self.cols)]


class Cells(NamedTuple):
    """All cells of one paint: runs in a row, each by its row, its first column and its length. Those of HOLE are hatched."""

    grid: Grid
    paint: int
    rows: Sequence[int]
    starts: Sequence[int]
    lengths: Sequence[int]

    def runs(self) -> Iterator[tuple[int, int, int]]:
        """(row, first column, length) of each run."""
        return zip(self.rows, self.starts, self.lengths, strict=True)

    def diagonals(self) -> list[tuple[tuple[float, float], tuple[float, float]]]:
        """The line from the lower left to the upper right corner of each cell."""
        xs, ys = self.grid.xs(), self.grid.ys()
        return [((xs[c], ys[r + 1]), (xs[c + 1], ys[r])) for r, start, n in self.runs() for c in range(start, start + n)]


class Image(NamedTuple):
    """Cells as an image, from the paint of each, row by row; it shows every `step`-th of every `step`-th row."""

    grid: Grid
    paints: Sequence[int]
    step: int


class Strokes(NamedTuple):
    """Straight lines through a whole panel: across at each of ys, down at each of xs."""

    grid: Grid
    role: str
    width: float
    ys: Sequence[float]
    xs: Sequence[float]
    opacity: float = 1.0


class Border(NamedTuple):
    """The line around a panel."""

    grid: Grid
    width: float


class Boxes(NamedTuple):
    """Outlines with round corners: the upper left corner and the size of each."""

    xs: Sequence[float]
    ys: Sequence[float]
    ws: Sequence[float]
    hs: Sequence[float]
    radius: float
    width: float

    def by_size(self) -> dict[tuple[float, float], list[tuple[float, float]]]:
        """The corners of the boxes of each size: few sizes, many boxes."""
        out: dict[tuple[float, float], list[tuple[float, float]]] = {}
        for x, y, w, h in zip(self.xs, self.ys, self.ws, self.hs, strict=True):
            out.setdefault((w, h), []).append((x, y))
        return out


class Swatch(NamedTuple):
    """An outlined square of a paint in the legend."""

    x: float
    y: float
    size: float
    radius: float
    width: float
    paint: int


class Labels(NamedTuple):
    """A line of the labels of a panel's cells, row by row, empty ones included: monospaced, in the ink of each cell's paint.

    dy: px from the top of a cell to the middle of the line.
    """

    grid: Grid
    dy: float
    texts: Sequence[str]
    paints: Sequence[int]
    size: float
    weight: int
    opacity: float


class Texts(NamedTuple):
    """Short monospaced texts of one weight: in the ink of a paint each, or (paints is None) all muted.

    size: of most of them; sizes: of each.
    """

    xs: Sequence[float]
    ys: Sequence[float]
    texts: Sequence[str]
    sizes: Sequence[float]
    size: float
    paints: Sequence[int] | None
    anchor: str
    weight: int


class Line(NamedTuple):
    """A line of prose: its text, where it is, its size and weight, its role (TEXT or MUTED), and whether it is monospaced."""

    text: str
    x: float
    y: float
    size: float
    role: str = MUTED
    mono: bool = False
    weight: int = 400
    anchor: str = START


class Path(NamedTuple):
    """Lines through points, or, filled, the areas within: each line is a sequence of (x, y).

    role: of the stroke, TEXT, MUTED, ALARM or INK. fill: a paint, a role, or None for no area. dash: px of a dash, 0 for none.
    """

    lines: Sequence[Sequence[tuple[float, float]]]
    role: str = INK
    width: float = 1.2
    fill: int | str | None = None
    opacity: float = 1.0
    dash: float = 0.0


Primitive: TypeAlias = "Path | Cells | Image | Strokes | Border | Boxes | Swatch | Labels | Texts | Line"


_LENGTHS = {"x", "y", "w", "h", "xs", "ys", "ws", "hs", "dy", "radius", "width", "size", "sizes", "dash"}  # px, or columns of px


def scaled(item: Primitive, k: float) -> Primitive:
    """A primitive of a page that is k times as large."""
    if isinstance(item, Path):
        return item._replace(
            lines=[[(x * k, y * k) for x, y in line] for line in item.lines], width=item.width * k, dash=item.dash * k
        )
    return item._replace(**_scaled(item._asdict(), k))


def _scaled(fields: dict[str, Any], k: float) -> dict[str, Any]:
    out = {
        name: [x * k for x in value] if isinstance(value, Sequence) else value * k
        for name, value in fields.items()
        if name in _LENGTHS
    }
    return out | ({"grid": fields["grid"].scaled(k)} if "grid" in fields else {})


def missing(item: NoReturn) -> NoReturn:
    """What a writer does with a kind of primitive that it does not know; the type checker holds that there is none."""
    raise TypeError(f"{item} is not a primitive of a page")
