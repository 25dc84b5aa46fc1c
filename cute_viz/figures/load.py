"""JSON -> a figure: every key, type and number checked, for a file may hold anything."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from cute_viz.errors import FigureError, Span
from cute_viz.figures.model import (
    CONFLICT,
    HOLE,
    UNWRITTEN,
    VERSION,
    Arrow,
    Figure,
    Legend,
    LegendEntry,
    Note,
    Paint,
    Panel,
    Ruler,
    Shape,
)
from cute_viz.limits import limit, over


def from_json(text: str) -> Figure:
    """The figure of a JSON text, as the format json writes it. Raises: FigureError with the place, for anything but the JSON of
    a figure."""
    import json

    if len(text) > limit("json"):
        raise over("json", f"this JSON has {len(text)} characters")

    def integer(digits: str) -> int:
        if len(digits) > limit("digits"):
            raise over("digits", f"an integer of {len(digits)} digits")
        return int(digits)

    def fields_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) < len(pairs):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise FigureError(f"the key {twice!r} appears twice in one object")
        return out

    try:
        data = json.loads(text, parse_int=integer, object_pairs_hook=fields_of)
    except json.JSONDecodeError as error:
        at = Span(error.pos, error.pos + 1)
        raise FigureError(f"this is not JSON: {error.msg}", text=text, span=at) from None
    except RecursionError:
        raise FigureError("this JSON is nested too deeply to be a figure") from None
    return from_dict(data)


def from_dict(data: Any) -> Figure:
    """The figure that `to_dict` wrote; anything else is a FigureError that names the key."""
    if not isinstance(data, dict) or "cute_viz_figure" not in data:
        raise FigureError("this JSON is not a cute-viz figure: it has no key cute_viz_figure")
    version = data["cute_viz_figure"]
    if isinstance(version, bool) or version not in range(1, VERSION + 1):
        raise FigureError(f"this figure has model version {version!r}; this cute-viz reads versions 1 to {VERSION}")
    figure = _build(Figure, {k: v for k, v in data.items() if k != "cute_viz_figure"}, "figure")
    assert isinstance(figure, Figure)
    if not figure.panels:
        raise FigureError("figure.panels is empty: there is nothing to draw")
    for paint in figure.paints:
        if paint.hue < CONFLICT or not 0 <= paint.shade < max(1, paint.shades):
            raise FigureError(f"figure.paints holds {paint}, which is not a hue slot and shade")
    if any(not 0 <= entry.paint < len(figure.paints) for legend in figure.legends for entry in legend.entries):
        raise FigureError("figure.legends names a paint that the figure does not have")
    for n, panel in enumerate(figure.panels):
        _check_panel(panel, f"figure.panels[{n}]")
        if any(not 0 <= legend < len(figure.legends) for legend in panel.legends or ()):
            raise FigureError(f"figure.panels[{n}].legends names a legend that the figure does not have")
        if any(not HOLE <= paint < len(figure.paints) for paint in (*panel.paints, *(shape.paint for shape in panel.shapes))):
            raise FigureError(f"figure.panels[{n}].paints names a paint that the figure does not have")
    if figure.flow and len(figure.panels) > MOST_PANELS:
        raise FigureError(f"a board of {len(figure.panels)} panels is too large", hint=f"at most {MOST_PANELS}")
    if figure.flow not in ("", "grid", "row"):
        raise FigureError(f"figure.flow is {figure.flow[:20]!r}", hint="grid or row")
    for n, note in enumerate(figure.notes_on):
        known = 0 <= note.panel < len(figure.panels) and note.boxes
        if not known or not all(isinstance(box, tuple) and _is_inside(box, figure.panels[note.panel]) for box in note.boxes):
            raise FigureError(f"figure.notes_on[{n}] names a panel, or cells, that the figure does not have")
    for n, arrow in enumerate(figure.arrows):
        for which, box in ((arrow.source, arrow.start), (arrow.target, arrow.end)):
            if not 0 <= which < len(figure.panels) or (box and not _is_inside(box, figure.panels[which])):
                raise FigureError(f"figure.arrows[{n}] names a panel, or cells, that the figure does not have")
    return figure


def _is_near(x: Any) -> bool:
    return isinstance(x, (int, float)) and abs(x) < 1 << 20


def _is_inside(box: tuple[float, ...], panel: Panel) -> bool:
    return len(box) == 4 and 0 <= box[0] < box[2] <= panel.rows and 0 <= box[1] < box[3] <= panel.cols


def _check_panel(panel: Panel, where: str) -> None:
    """What builders get right by construction, and a file may get wrong."""
    cells = panel.rows * panel.cols
    if len(panel.place) != 2 or not all(isinstance(x, int) and 0 <= x < 1 << 16 for x in panel.place):
        raise FigureError(f"{where}.place is a row and a column")
    if not 0 < panel.warp < 1 << 16 or not panel.warp_name.isidentifier():
        raise FigureError(f"{where}.warp must be the number of threads of a warp, and warp_name what it is called")
    for ruler in (panel.row_ruler, panel.col_ruler):
        if any(not isinstance(level, int) or level < 0 for level in ruler.levels):
            raise FigureError(f"{where} has a ruler whose levels are not integers of 0 or more")
    if len(panel.unit) != 2 or not all(0 < x < 1 << 16 for x in panel.unit) or panel.face not in ("", "left", "top", "right"):
        raise FigureError(f"{where} has a unit that is not a width and a height, or a face that is not left, top or right")
    for shape in panel.shapes:
        pairs = [isinstance(point, tuple) and len(point) == 2 and all(map(_is_near, point)) for point in shape.points]
        if not pairs or not all(pairs) or (len(pairs) < 2 and shape.kind not in ("text", "dot")):
            raise FigureError(f"{where}.shapes holds a {shape.kind[:20]!r} whose points are not x and y")
        if shape.kind not in SHAPES:
            raise FigureError(f"{where}.shapes holds {shape.kind[:20]!r}", hint=f"one of {', '.join(SHAPES)}")
    for box in panel.boxes:
        if not isinstance(box, tuple) or len(box) != 4 or not all(isinstance(x, int) for x in box):
            raise FigureError(f"{where}.boxes holds something else than row0, col0, row1, col1")
        if not _is_inside(box, panel):
            raise FigureError(f"{where}.boxes holds {box}, which is not inside the panel")
    for arrow in panel.arrows:
        if not isinstance(arrow, tuple) or len(arrow) != 4 or not all(isinstance(x, int) for x in arrow):
            raise FigureError(f"{where}.arrows holds something else than row0, col0, row1, col1")
        inside = all(0 <= r < panel.rows and 0 <= c < panel.cols for r, c in (arrow[:2], arrow[2:]))
        if not inside or (arrow[0] != arrow[2] and arrow[1] != arrow[3]):
            raise FigureError(f"{where}.arrows holds {arrow}, which is not inside the panel, along a row or a column")
    for entry in panel.owners:
        if not isinstance(entry, tuple) or len(entry) != 2 or not isinstance(entry[0], int) or not isinstance(entry[1], tuple):
            raise FigureError(f"{where}.owners holds something else than a cell and its owners")
        if not 0 <= entry[0] < cells or not all(isinstance(owner, tuple) and len(owner) == 2 for owner in entry[1]):
            raise FigureError(f"{where}.owners holds a cell outside the panel, or an owner that is not (thread, value)")


MOST_PANELS = 64  # of a board, of which every arrangement is tried
SHAPES = ("line", "arrow", "arc", "area", "box", "dot", "text", "brace")
_PARTS: dict[tuple[str, str], type] = {
    ("Figure", "paints"): Paint,
    ("Figure", "legends"): Legend,
    ("Figure", "panels"): Panel,
    ("Figure", "arrows"): Arrow,
    ("Figure", "notes_on"): Note,
    ("Legend", "entries"): LegendEntry,
    ("Panel", "shapes"): Shape,
    ("Panel", "row_ruler"): Ruler,
    ("Panel", "col_ruler"): Ruler,
}
_GONE = {LegendEntry: "count", Ruler: "marks"}  # what older versions have: how many cells are painted so, which lines are marked
_KINDS: dict[str, tuple[type, str]] = {
    "int": (int, "an integer"),
    "str": (str, "a string"),
    "str | None": (str, "a string"),
    "bool": (bool, "true or false"),
}


def _build(cls: type, data: Any, where: str) -> Any:
    """A dataclass of the model from a JSON object, each value checked against the field's type."""
    if not isinstance(data, dict):
        raise FigureError(f"{where} should be an object")
    known = {f.name: f for f in fields(cls) if f.name not in UNWRITTEN}
    data = {name: value for name, value in data.items() if name != _GONE.get(cls)}
    for name in data:
        if name not in known:
            raise FigureError(f"{where} has an unknown key {name!r}", hint=f"known: {', '.join(known)}")
    values: dict[str, Any] = {}
    for name, one in known.items():
        if name not in data:
            if one.default is not MISSING or one.default_factory is not MISSING:
                continue
            raise FigureError(f"{where} lacks the key {name!r}")
        kind, value, here = str(one.type), data[name], f"{where}.{name}"
        part = _PARTS.get((cls.__name__, name))
        if kind in _KINDS:
            wanted, words = _KINDS[kind]
            if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
                raise FigureError(f"{here} should be {words}")
        elif kind.startswith("Mapping"):
            if not isinstance(value, dict):
                raise FigureError(f"{here} should be an object")
            value = {k: _freeze(v) for k, v in value.items()}
        elif part is not None and kind.startswith("tuple"):
            if not isinstance(value, (list, tuple)):
                raise FigureError(f"{here} should be a list")
            value = tuple(_build(part, item, f"{here}[{i}]") for i, item in enumerate(value))
        elif part is not None:
            value = _build(part, value, here)
        elif value is not None or not kind.endswith("None"):
            value = _column(value, kind, here)
        values[name] = value
    return cls(**values)


def _column(value: Any, kind: str, where: str) -> tuple[Any, ...]:
    """A list of numbers, strings or nested lists of numbers, as the field's type says."""
    if not isinstance(value, (list, tuple)):
        raise FigureError(f"{where} should be a list")
    leaf: Any = str if "str" in kind else (int, float) if "float" in kind else int
    nested = kind.count("tuple") > 1
    frozen: tuple[Any, ...] = _freeze(value)
    stack: list[Any] = list(frozen)
    while stack:
        item = stack.pop()
        if isinstance(item, tuple) and nested:
            stack.extend(item)
        elif not isinstance(item, leaf) or isinstance(item, bool):
            raise FigureError(f"{where} should hold {'strings' if leaf is str else 'integers' if leaf is int else 'numbers'} only")
    return frozen


def _freeze(value: Any) -> Any:
    return tuple(map(_freeze, value)) if isinstance(value, (list, tuple)) else value
