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

VERSION = 5  # 1 had neither Panel.legends nor Paint.faded, 2 no Figure.arrows, 3 no Panel.shapes, 5 no counts; all are read
WARP = {"warp": 32, "warp_name": "warp"}  # what panels have that say no other
_PLAIN = (("shapes", ()), ("foot", ""), ("unit", (1.0, 1.0)), ("face", ""))  # of a panel, which its JSON leaves out
UNWRITTEN = ("series", "page", "outer", "insets")  # fields of a figure that its JSON leaves out
HOLE = -1  # the paint of a cell that no value lands on
CONFLICT = -2  # the hue of what waits for another access: red, and nothing else is


class Frozen(dict[str, Any]):
    """A mapping that does not change, and has a hash."""

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
    """One row of a legend: the paint shown (an index into the figure's paints), and its meaning."""

    paint: int
    label: str


@dataclass(frozen=True, slots=True)
class Legend:
    """What colour means: a heading and its entries."""

    title: str
    entries: tuple[LegendEntry, ...]


@dataclass(frozen=True, slots=True)
class Ruler:
    """One edge of a panel: a title such as `M` or `thread`, a label for each row (or column), and border levels. `levels[i]` is
    the weight of the line before row i; there is one more entry than rows. 0 is a cell line, 1 and more are borders of ever
    larger tiles; () for cell lines alone. The outer frame is not part of levels; renderers always draw it."""

    title: str
    labels: tuple[str, ...]
    levels: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.levels:
            object.__setattr__(self, "levels", (0,) * (len(self.labels) + 1))


NO_RULER = Ruler("", ())


@dataclass(frozen=True, slots=True)
class Shape:
    """Something drawn over the cells of a panel, or beside them.

    kind: `line` through its points, `arrow`, `arc` (an arrow that leaves the line between its two points), `area` within its
        points, `box` around two opposite corners, `dot`, `text`, `brace` beside the line between two points, its text beyond.
    points: (x, y) in cells from the panel's upper left corner, fractions included; the middle of the first cell is (0.5, 0.5).
        Left of the cells and above them is beyond the rulers; more than a cell to the right, beyond the texts that stand there.
    look: words, in any order. Of lines and boxes `thin`, `strong`, `dashed`, `alarm` (a conflict) or `muted`; of a box on painted
        cells `ink`, dark on every page; of an arc `plain` (without a head); of an arc and a brace `up`, `down`, `left` or `right`;
        of a text `bold`, `mono`, `small`, `head`, `big`, `muted`, `alarm`, and `start` or `end` for the end that stands at its
        point. Of an area `paper` hides what is below.
        A text of two points stands between these corners, as large as they allow.
    paint: what fills an area, a box or a dot, an index into the figure's paints; HOLE for nothing, of a dot for ink.
    """

    kind: str
    points: tuple[tuple[float, float], ...]
    text: str = ""
    look: str = ""
    paint: int = HOLE


@dataclass(frozen=True, slots=True)
class Panel:
    """One grid of cells with its caption.

    rows, cols: 0 for as many as the rulers have labels.
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
    shapes: what is drawn over and beside the cells. foot: a sentence below them.
    unit: how wide and how high a cell is, in cells of the figure. face: of a cube that is drawn, `left`, `top` or `right`.
    """

    caption: str = ""
    rows: int = 0
    cols: int = 0
    labels: tuple[str, ...] = ()
    paints: tuple[int, ...] = ()
    row_ruler: Ruler = NO_RULER
    col_ruler: Ruler = NO_RULER
    owners: tuple[tuple[int, tuple[tuple[int, int], ...]], ...] = ()
    boxes: tuple[tuple[int, int, int, int], ...] = ()
    data: Mapping[str, tuple[Any, ...]] = field(default_factory=Frozen)
    place: tuple[int, int] = (0, 0)
    legends: tuple[int, ...] | None = None
    warp: int = 32
    warp_name: str = "warp"
    arrows: tuple[tuple[int, int, int, int], ...] = ()
    arrow_labels: tuple[str, ...] = ()
    shapes: tuple[Shape, ...] = ()
    foot: str = ""
    unit: tuple[float, float] = (1.0, 1.0)
    face: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.data, Frozen):
            object.__setattr__(self, "data", Frozen(self.data))
        for name, ruler in (("rows", self.row_ruler), ("cols", self.col_ruler)):
            if not getattr(self, name):
                object.__setattr__(self, name, len(ruler.labels))
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


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from one panel to another, each an index into the figure's panels.

    start, end: the cells that it leaves and points at, (row0, col0, row1, col1) half-open, or a part of one; () for the panel as a
        whole.
    head: an arrow has one; without, it is a straight line down that joins the two.
    look: `wide` for an area that widens from `start` to the whole of the target, which shows it enlarged; `alarm` for a conflict;
        any other word is written between the two, such as `×`. label: what moves, and how much, in two lines.
    """

    source: int
    target: int
    start: tuple[float, ...] = ()
    end: tuple[float, ...] = ()
    head: bool = True
    look: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Words on cells of a panel: its index, where they are in words, the text, and boxes (row0, col0, row1, col1), half-open."""

    panel: int
    where: str
    text: str
    boxes: tuple[tuple[int, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Figure(Drawn):
    """A picture: title, source in CuTe notation, caption, description (the alt text), paints, legends, panels, notes.

    kind: `grid`, `tv` ... : what the picture is of.
    source: the object drawn, in CuTe notation, exactly as CuTe's print shows it.
    mute: the caption of a page on which no cell has room for its label; None for the same one.
    description: the alt text; "" for title, source, caption and notes, and what colour means.
    facts: small facts of the object (size, cosize, threads ...), strings or integers, in reading order.
    notes: sentences that a reader must not miss (something left out, a cell with several owners ...).
    arrows: which panel, or cells of it, go on in which.
    series: the pictures that it is one of, such as those of other threads, for a format with a slider; no part of the JSON.
    page: the page options that its spec asks for, unless whoever writes it gives others; nor is this.
    notes_on: notes on cells.
    flow: how a board of panels of any size is filled: `grid`, each at its place; `row`, one after the other, as many in a line as
        there is room for. "" for a page of grids.
    outer: of panels in a grid, the rulers of its rows and columns, which then stand for the captions; nor is this.
    insets: strips of bits below the panels; nor these.
    """

    kind: str
    title: str
    source: str = ""
    caption: str = ""
    description: str = ""
    paints: tuple[Paint, ...] = ()
    legends: tuple[Legend, ...] = ()
    panels: tuple[Panel, ...] = ()
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=Frozen)
    arrows: tuple[Arrow, ...] = ()
    series: tuple[Figure, ...] = ()
    page: Mapping[str, Any] = field(default_factory=Frozen, compare=False)
    flow: str = ""
    notes_on: tuple[Note, ...] = ()
    outer: tuple[Ruler, ...] = field(default=(), compare=False)
    insets: tuple[Panel, ...] = field(default=(), compare=False)
    mute: str | None = None

    def __repr__(self) -> str:
        return f"<Figure {self.kind}: {self.title}>"

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", Frozen(self.facts))
        object.__setattr__(self, "page", Frozen(self.page))
        if not self.description:
            told = ". ".join(filter(None, (self.title, self.source, self.caption)))
            colours = [f"Color, {legend.title}." for legend in self.legends]
            object.__setattr__(self, "description", " ".join([f"{told}.", *self.notes, *colours]))

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
    """The figure as JSON-ready values, with the model's version."""
    out = _plain(figure)
    for arrow in out["arrows"]:
        for name in [name for name, plain in (("head", True), ("look", ""), ("label", "")) if arrow[name] == plain]:
            del arrow[name]
    for name in [name for name, plain in (("flow", ""), ("notes_on", ()), ("mute", None)) if out[name] == plain]:
        del out[name]
    for panel in out["panels"]:
        if WARP.items() <= panel.items():
            del panel["warp"], panel["warp_name"]
        for name in [name for name, plain in _PLAIN if panel[name] == plain]:
            del panel[name]
    return {"cute_viz_figure": VERSION, **out}
