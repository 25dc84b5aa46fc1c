"""The picture model: what is drawn, with no word of how.

A `Figure` is made of panels; a `Panel` is a grid of cells, held as columns of plain values so that a quarter of
a million cells stay cheap. Colour is not here: a cell names a *paint*, a paint names a hue slot and a shade, and
the palette of the renderer turns those into colours. Everything that a renderer needs is in the figure; it never
asks an earlier stage. The JSON form (`to_dict`, `from_dict`) is the model itself, versioned.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from cute_viz.display import Shown
from cute_viz.errors import FigureError

VERSION = 1
HOLE = -1  # the paint of a cell that no value lands on


@dataclass(frozen=True, slots=True)
class Paint:
    """A hue slot (0, 1, ...) and a shade: 0 is the full hue, shades-1 the lightest. hue -1 is no colour (paper)."""

    hue: int
    shade: int = 0
    shades: int = 1


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One row of a legend: the paint shown (an index into the figure's paints), its meaning, and how many cells have it."""

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
    more are borders of ever larger tiles. The outer frame is not told by levels; renderers always draw it.
    """

    title: str
    labels: tuple[str, ...]
    levels: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One grid of cells with its caption.

    labels, paints: one entry a cell, row by row (index row * cols + col). A label may hold several lines, parted by
        newlines; the paint is an index into the figure's paints, or HOLE. A panel of very many cells has no labels at all
        (an empty tuple), and its paints may be bytes.
    owners: for cells that more than one (thread, value) owns: (cell, every (thread, value)), lowest thread first.
    boxes: rectangles (row0, col0, row1, col1), half-open, around cells that belong together, such as the
        consecutive values of one thread.
    data: further columns, one entry a cell, by name (`offset`, `thread`, `value` ...); None where a cell has none.
    place: (row, column) of the panel in the figure; panels of one figure stand in a grid of panels.
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
    data: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    place: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
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
class Figure(Shown):
    """A picture: title, source in CuTe notation, caption, description (the alt text), paints, legends, panels, notes.

    kind: `grid`, `tv` ... : what the picture is of.
    source: the object drawn, in CuTe notation, exactly as CuTe's print shows it.
    facts: small facts of the object (size, cosize, threads ...), strings or integers, in reading order.
    notes: sentences that a reader must not miss (something left out, a cell with several owners ...).
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
    facts: dict[str, Any] = field(default_factory=dict)


def to_dict(figure: Figure) -> dict[str, Any]:
    """The figure as JSON-ready values, with the model's version.

    >>> to_dict(Figure("grid", "a title", "4:1", "", "", (), (), ()))["cute_viz_figure"]
    1
    """
    return {"cute_viz_figure": VERSION, **asdict(figure)}


def from_dict(data: Any) -> Figure:
    """The figure that `to_dict` wrote; anything else is a FigureError that names the key.

    >>> from_dict({"cute_viz_figure": 1, "kind": "grid"})
    Traceback (most recent call last):
    cute_viz.errors.FigureError: figure lacks the key 'title'
    """
    if not isinstance(data, dict) or "cute_viz_figure" not in data:
        raise FigureError("this JSON is not a cute-viz figure: it has no key cute_viz_figure")
    if data["cute_viz_figure"] != VERSION:
        raise FigureError(f"this figure has model version {data['cute_viz_figure']!r}; this cute-viz reads version {VERSION}")
    figure = _build(Figure, {k: v for k, v in data.items() if k != "cute_viz_figure"}, "figure")
    assert isinstance(figure, Figure)
    if not figure.panels:
        raise FigureError("figure.panels is empty: there is nothing to draw")
    for paint in figure.paints:
        if paint.hue < -1 or not 0 <= paint.shade < max(1, paint.shades):
            raise FigureError(f"figure.paints holds {paint}, which is no hue slot and shade")
    if any(not 0 <= entry.paint < len(figure.paints) for legend in figure.legends for entry in legend.entries):
        raise FigureError("figure.legends names a paint that the figure does not have")
    for n, panel in enumerate(figure.panels):
        _check_panel(panel, f"figure.panels[{n}]")
        if any(not HOLE <= paint < len(figure.paints) for paint in panel.paints):
            raise FigureError(f"figure.panels[{n}].paints names a paint that the figure does not have")
    return figure


def _check_panel(panel: Panel, where: str) -> None:
    """What builders get right by construction, and a file may get wrong."""
    cells = panel.rows * panel.cols
    if len(panel.place) != 2 or not all(isinstance(x, int) and 0 <= x < 1 << 16 for x in panel.place):
        raise FigureError(f"{where}.place is a row and a column")
    for ruler in (panel.row_ruler, panel.col_ruler):
        if any(not isinstance(level, int) or level < 0 for level in ruler.levels):
            raise FigureError(f"{where} has a ruler whose levels are not integers of 0 or more")
    for box in panel.boxes:
        if not isinstance(box, tuple) or len(box) != 4 or not all(isinstance(x, int) for x in box):
            raise FigureError(f"{where}.boxes holds something else than row0, col0, row1, col1")
        if not (0 <= box[0] < box[2] <= panel.rows and 0 <= box[1] < box[3] <= panel.cols):
            raise FigureError(f"{where}.boxes holds {box}, which is not inside the panel")
    for entry in panel.owners:
        if not isinstance(entry, tuple) or len(entry) != 2 or not isinstance(entry[0], int) or not isinstance(entry[1], tuple):
            raise FigureError(f"{where}.owners holds something else than a cell and its owners")
        if not 0 <= entry[0] < cells or not all(isinstance(owner, tuple) and len(owner) == 2 for owner in entry[1]):
            raise FigureError(f"{where}.owners holds a cell outside of the panel, or an owner that is no (thread, value)")


_PARTS: dict[tuple[str, str], type] = {
    ("Figure", "paints"): Paint,
    ("Figure", "legends"): Legend,
    ("Figure", "panels"): Panel,
    ("Legend", "entries"): LegendEntry,
    ("Panel", "row_ruler"): Ruler,
    ("Panel", "col_ruler"): Ruler,
}
_KINDS: dict[str, type] = {"int": int, "str": str}


def _build(cls: type, data: Any, where: str) -> Any:
    """A dataclass of the model from a JSON object, each value checked against the field's type."""
    if not isinstance(data, dict):
        raise FigureError(f"{where} should be an object")
    known = {f.name: str(f.type) for f in fields(cls)}
    for name in data:
        if name not in known:
            raise FigureError(f"{where} has an unknown key {name!r}", hint=f"known: {', '.join(known)}")
    values: dict[str, Any] = {}
    for name, kind in known.items():
        if name not in data:
            if name in ("owners", "boxes", "data", "place", "notes", "facts", "shade", "shades"):
                continue
            raise FigureError(f"{where} lacks the key {name!r}")
        value, here = data[name], f"{where}.{name}"
        part = _PARTS.get((cls.__name__, name))
        if kind in _KINDS:
            if not isinstance(value, _KINDS[kind]) or isinstance(value, bool):
                raise FigureError(f"{here} should be {'an integer' if kind == 'int' else 'a string'}")
        elif kind.startswith("dict"):
            if not isinstance(value, dict):
                raise FigureError(f"{here} should be an object")
            value = {k: _freeze(v) for k, v in value.items()}
        elif part is not None and kind.startswith("tuple"):
            if not isinstance(value, (list, tuple)):
                raise FigureError(f"{here} should be a list")
            value = tuple(_build(part, item, f"{here}[{i}]") for i, item in enumerate(value))
        elif part is not None:
            value = _build(part, value, here)
        else:
            value = _column(value, kind, here)
        values[name] = value
    return cls(**values)


def _column(value: Any, kind: str, where: str) -> tuple[Any, ...]:
    """A list of integers, strings or nested lists of integers, as the field's type says."""
    if not isinstance(value, (list, tuple)):
        raise FigureError(f"{where} should be a list")
    leaf, nested = str if "str" in kind else int, kind.count("tuple") > 1
    frozen: tuple[Any, ...] = _freeze(value)
    stack: list[Any] = list(frozen)
    while stack:
        item = stack.pop()
        if isinstance(item, tuple) and nested:
            stack.extend(item)
        elif not isinstance(item, leaf) or isinstance(item, bool):
            raise FigureError(f"{where} should hold {'strings' if leaf is str else 'integers'} only")
    return frozen


def _freeze(value: Any) -> Any:
    return tuple(map(_freeze, value)) if isinstance(value, (list, tuple)) else value
