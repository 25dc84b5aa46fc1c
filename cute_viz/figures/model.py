"""The picture model: what is drawn, with no word of how.

A `Figure` is made of panels; a `Panel` is a grid of cells, held as columns of plain values so that a quarter of
a million cells stay cheap. Colour is not here: a cell names a *paint*, a paint names a hue slot and a shade, and
the palette of the renderer turns those into colours. Everything that a renderer needs is in the figure; it never
asks an earlier stage. The JSON form is the model itself, versioned: `to_dict` gives it, `load.from_dict` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from cute_viz.display import Drawn
from cute_viz.errors import FigureError
from cute_viz.records import dataclass

VERSION = 3  # 1 had neither Panel.legends nor Paint.faded, 2 no Figure.arrows; both are read all the same
WARP = {"warp": 32, "warp_name": "warp"}  # what panels have that say no other
UNWRITTEN = ("series", "page", "outer", "insets", "lanes")  # fields of a figure that its JSON leaves out
HOLE = -1  # the paint of a cell that no value lands on
CONFLICT = -2  # the hue of what waits for another access: red, and nothing else is


class Frozen(dict[str, Any]):
    """A mapping that does not change, and has a hash.

    >>> hash(Frozen(size=8)) == hash(Frozen(size=8))
    True
    """

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("this mapping does not change")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return Frozen, (dict(self),)


@dataclass(frozen=True, slots=True)
class Paint:
    """A hue slot (0, 1, ...) and a shade: 0 is the full hue, shades-1 the lightest. hue -1 is no colour: paper, and grey
    as its second shade; CONFLICT is red.

    faded: a tint of the hue and muted ink, of what recedes behind a highlight.
    """

    hue: int
    shade: int = 0
    shades: int = 1
    faded: bool = False


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One row of a legend: the paint shown (an index into the figure's paints), its meaning, and how many cells are painted so.

    A cell of several owners is painted, and counted, for the first; its panel's `owners` have the others.
    """

    paint: int
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Legend:
    """What colour means: a heading and its entries."""

    title: str
    entries: tuple[LegendEntry, ...]


@dataclass(frozen=True, slots=True)
class Ruler:
    """One edge of a panel: a title such as `M` or `thread`, a label for each row (or column), and border levels.

    `levels[i]` is the weight of the line before row i; there is one more entry than rows. 0 is a cell line, 1 and
    more are borders of ever larger tiles. The outer frame is not part of levels; renderers always draw it.
    marks: the rows (or columns) that are marked, such as those of the first tile.
    """

    title: str
    labels: tuple[str, ...]
    levels: tuple[int, ...]
    marks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """One grid of cells with its caption.

    labels, paints: one entry a cell, row by row (index row * cols + col). A label may hold several lines, separated by
        newlines; the paint is an index into the figure's paints, or HOLE, which pages hatch and text shows as · in the place
        of a label. A panel of very many cells has no labels at all
        (an empty tuple), and its paints may be bytes.
    owners: for cells that more than one (thread, value) owns: (cell, every (thread, value)), lowest thread first.
    boxes: rectangles (row0, col0, row1, col1), half-open, around cells that belong together, such as the
        consecutive values of one thread.
    data: further columns, one entry a cell, by name (`offset`, `thread`, `value` ...); None where a cell has none.
    place: (row, column) of the panel in the figure; panels of one figure stand in a grid of panels.
    legends: which of the figure's legends explain colour here, as indices; None for all of them.
    warp, warp_name: how many threads run together, and what they are called.
    arrows: from one cell to another along a row or a column: (row0, col0, row1, col1); `arrow_labels` has the words of each,
        which a label tells, too.
    """

    caption: str
    rows: int
    cols: int
    labels: tuple[str, ...]
    paints: tuple[int, ...]
    row_ruler: Ruler
    col_ruler: Ruler
    owners: tuple[tuple[int, tuple[tuple[int, int], ...]], ...] = ()
    boxes: tuple[tuple[int, int, int, int], ...] = ()
    data: Mapping[str, tuple[Any, ...]] = field(default_factory=Frozen)
    place: tuple[int, int] = (0, 0)
    legends: tuple[int, ...] | None = None
    warp: int = 32
    warp_name: str = "warp"
    arrows: tuple[tuple[int, int, int, int], ...] = ()
    arrow_labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.data, Frozen):
            object.__setattr__(self, "data", Frozen(self.data))
        if len(self.arrows) != len(self.arrow_labels):
            raise FigureError(f"{len(self.arrows)} arrows have {len(self.arrow_labels)} labels")
        if self.rows < 1 or self.cols < 1:
            raise FigureError(f"a panel has at least one cell, not {self.rows} x {self.cols}")
        cells = self.rows * self.cols
        sizes = {"labels": len(self.labels) or cells, "paints": len(self.paints)}
        sizes |= {f"data.{name}": len(column) if isinstance(column, tuple) else 0 for name, column in self.data.items()}
        for name, length in sizes.items():
            if length != cells:
                raise FigureError(f"a panel of {self.rows} x {self.cols} cells has {length} entries in {name}")
        for name, ruler, count in (("row_ruler", self.row_ruler, self.rows), ("col_ruler", self.col_ruler, self.cols)):
            if len(ruler.labels) != count or len(ruler.levels) != count + 1:
                raise FigureError(f"{name} of {count} lines has {len(ruler.labels)} labels and {len(ruler.levels)} levels")
            if ruler.marks and not 0 <= min(ruler.marks) <= max(ruler.marks) < count:
                raise FigureError(f"{name} of {count} lines marks others: {ruler.marks}")


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from one panel to another, each an index into the figure's panels.

    start, end: the cells that it leaves and points at, (row0, col0, row1, col1) half-open; () for the panel as a whole.
    head: an arrow has one; without, it is a straight line down that joins the two. label: what moves, and how much, in two lines.
    """

    source: int
    target: int
    start: tuple[int, ...] = ()
    end: tuple[int, ...] = ()
    head: bool = True
    label: str = ""


@dataclass(frozen=True, slots=True)
class Figure(Drawn):
    """A picture: title, source in CuTe notation, caption, description (the alt text), paints, legends, panels, notes.

    kind: `grid`, `tv` ... : what the picture is of.
    source: the object drawn, in CuTe notation, exactly as CuTe's print shows it.
    facts: small facts of the object (size, cosize, threads ...), strings or integers, in reading order.
    notes: sentences that a reader must not miss (something left out, a cell with several owners ...).
    arrows: which panel, or cells of it, go on in which.
    series: the pictures that it is one of, such as those of other threads, for a format with a slider; no part of the JSON.
    page: the page options that its spec asks for, unless whoever writes it gives others; nor is this.
    outer: of panels in a grid, the rulers of its rows and columns, which then stand for the captions; nor is this.
    insets: strips of bits below the panels. lanes: the drawing in one lane for each memory, for places with a height; nor these.
    """

    kind: str
    title: str
    source: str
    caption: str
    description: str
    paints: tuple[Paint, ...]
    legends: tuple[Legend, ...]
    panels: tuple[Panel, ...]
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=Frozen)
    arrows: tuple[Arrow, ...] = ()
    series: tuple[Figure, ...] = ()
    page: Mapping[str, Any] = field(default_factory=Frozen, compare=False)
    outer: tuple[Ruler, ...] = field(default=(), compare=False)
    insets: tuple[Panel, ...] = field(default=(), compare=False)
    lanes: Figure | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", Frozen(self.facts))
        object.__setattr__(self, "page", Frozen(self.page))

    def legends_of(self, panel: Panel) -> tuple[Legend, ...]:
        """The legends that explain colour in a panel.

        >>> line = Ruler("", ("0",), (0, 0))
        >>> panel = Panel("", 1, 1, ("",), (0,), line, line, legends=(1,))
        >>> figure = Figure("grid", "", "", "", "", (Paint(0),), (Legend("left", ()), Legend("right", ())), (panel,))
        >>> [legend.title for legend in figure.legends_of(panel)]
        ['right']
        """
        return self.legends if panel.legends is None else tuple(self.legends[n] for n in panel.legends)


def _plain(part: Any) -> Any:
    """A dataclass and its parts as dictionaries. A tuple holds only parts or only values; values, of which there may be a
    million, are passed on as they are (dataclasses.asdict copies each)."""
    if hasattr(part, "__dataclass_fields__"):
        return {f: _plain(getattr(part, f)) for f in part.__dataclass_fields__ if f not in UNWRITTEN}
    if isinstance(part, tuple) and part and hasattr(part[0], "__dataclass_fields__"):
        return tuple(map(_plain, part))
    return part


def to_dict(figure: Figure) -> dict[str, Any]:
    """The figure as JSON-ready values, with the model's version.

    >>> to_dict(Figure("grid", "a title", "4:1", "", "", (), (), ()))["cute_viz_figure"]
    3
    """
    out = _plain(figure)
    for arrow in out["arrows"]:
        if arrow["head"]:
            del arrow["head"]
        if not arrow["label"]:
            del arrow["label"]
    for panel in out["panels"]:
        if WARP.items() <= panel.items():
            del panel["warp"], panel["warp_name"]
        for ruler in (panel["row_ruler"], panel["col_ruler"]):
            if not ruler["marks"]:
                del ruler["marks"]
    return {"cute_viz_figure": VERSION, **out}
