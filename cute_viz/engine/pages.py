"""Every object that a whole file defines as a figure: one by one, or on one page in the order of their definition."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.composed import ComposedLayout, inner_of
from cute_viz.algebra.inttuple import modes, product, show, tuple_rank
from cute_viz.algebra.layout import Layout
from cute_viz.engine.reading import Reading
from cute_viz.engine.whole import drawable, wanted
from cute_viz.errors import CuteVizError, FigureError
from cute_viz.figures import build
from cute_viz.figures.model import Figure
from cute_viz.figures.options import options_of
from cute_viz.figures.page import page
from cute_viz.limits import limit, over
from cute_viz.options.words import read_all
from cute_viz.renderers import FORMATS
from cute_viz.renderers.ways import once

if TYPE_CHECKING:
    from cute_viz.source.model import Entry

NAMES = 3  # that the heading of an object gives
STRIP = 8  # rows and columns of the smallest tile of an instruction


@dataclass(frozen=True, slots=True)
class DrawnObject:
    """One object of a file and its figure."""

    entry: Entry
    value: Any
    figure: Figure


def drawings(reading: Reading) -> tuple[list[DrawnObject], list[CuteVizError]]:
    """The figures of all that can be drawn in the one source, a file, and the errors of what cannot, its name before each. A
    tuple alone is a shape, whose picture would show nothing. Raises: FigureError where the file has nothing to draw."""
    request = reading.request
    words = read_all({name: word for name, word in request.options.items() if name != "title"})
    heat = all(FORMATS[name].pages for name in request.formats if name in FORMATS)
    options = replace(options_of(words, heat), wave=request.library.together)
    out, failed, unread = [], list[CuteVizError](), list[CuteVizError]()
    figures, cells, over_room = dict[str, Figure](), 0, list[str]()
    for entry, value in drawable(reading.listed, unread):
        if isinstance(value, tuple):
            continue
        try:
            matrix = _matrix(value) if request.options.get("view") is None else None
            if (figure := figures.get(show(value))) is None:
                if cells > limit("page-cells"):
                    over_room.append(entry.path)
                    continue
                figure = build(value if matrix is None else matrix, options)
                figures[show(value)] = figure
                cells += sum(panel.rows * panel.cols for panel in figure.panels)
            if matrix is not None:
                figure = replace(figure, source=show(value), notes=(*figure.notes, f"{entry.name}: {_AS_MATRIX}"))
            out.append(DrawnObject(entry, value, figure))
        except CuteVizError as error:
            (unread if error.needs else failed).append(_named(error, entry))
    needs = wanted(unread)
    if not out:
        hint = "'cute-viz list FILE' shows what it defines, and which values are missing"
        alone = FigureError("nothing in this file can be drawn", hint=hint)
        if needs is not None:
            alone = alone.but(message=f"nothing in this file can be drawn yet: {needs.message}", hint=needs.hint)
        raise failed[0] if failed else alone
    if over_room:
        said = f"{over_room[0]}, and {len(over_room) - 1} more: the pictures before have {cells} cells"
        failed.append(over("page-cells", said, instead="draw these by their names"))
    return out, [*failed, *([needs] if needs is not None else [])]


def _named(error: CuteVizError, entry: Entry) -> CuteVizError:
    """The error of an object with its name, and with its place where it has none."""
    words = f"{entry.path}: {error.message}"
    return error.but(message=words, name=error.name or f"line {entry.place}" if error.span is None else error.name)


_AS_MATRIX = "its first mode is the tile of an instruction; drawn as a matrix, its modes ((0,0),1) go down, ((0,1),2) right"


def _matrix(value: object) -> object:
    """An operand partitioned for an MMA, ((MN,K),MMA_MN,MMA_K,...), as (MN,K,...); None of what is not, or no strip without it."""
    inner = inner_of(value)
    if not isinstance(inner, Layout):
        return None
    shape = modes(inner.shape)
    if len(shape) < 3 or tuple_rank(shape[0]) != 2 or product(shape[0]) < STRIP * product(shape[1]) * STRIP:
        return None

    def regrouped(parts: object) -> Any:
        (mn, k), mma_mn, mma_k, *rest = modes(parts)
        return ((mn, mma_mn), (k, mma_k), *rest)

    matrix = Layout(regrouped(inner.shape), regrouped(inner.stride))
    return replace(value, inner=matrix) if isinstance(value, ComposedLayout) else matrix


def one_page(drawn: list[DrawnObject], title: str) -> Figure:
    """All figures on one page, each under the names of its object and its notation; equal objects are drawn once, of several stages
    the first."""
    same: dict[str, list[DrawnObject]] = {}
    for one in drawn:
        same.setdefault(show(one.value), []).append(one)
    parts = [(_heading([one.entry for one in alike]), _noted(_first_stage(once(alike[0].figure)))) for alike in same.values()]
    return replace(page(title, parts, 1), kind="file")


def _heading(entries: list[Entry]) -> str:
    """The names of an object, those of one scope together, and where they are: `gemm::sA, sB (lines 3, 4)`."""
    scopes: dict[str, list[str]] = {}
    for entry in entries[:NAMES]:
        scope, _, name = re.sub(r"<[^<>]*>", "", entry.path).rpartition("::")
        scopes.setdefault(scope, []).append(name)
    names = "; ".join("::".join(filter(None, (scope, ", ".join(dict.fromkeys(names))))) for scope, names in scopes.items())
    more = f" and {len(entries) - NAMES} more" if len(entries) > NAMES else ""
    lines = ", ".join(dict.fromkeys(entry.place for entry in entries))
    return f"{names}{more} (line{'s' if ',' in lines else ''} {lines})"


def _noted(figure: Figure) -> Figure:
    """A figure of one panel that has no words of its own, with its notation for them."""
    if len(figure.panels) != 1 or figure.panels[0].caption:
        return figure
    return replace(figure, panels=(replace(figure.panels[0], caption=figure.source),))


def _first_stage(figure: Figure) -> Figure:
    """A figure whose panels are slices with the first of them alone."""
    if figure.kind != "grid" or len(figure.panels) < 2:
        return figure
    first = replace(
        figure.panels[0], place=(0, 0), caption=f"{figure.panels[0].caption}, the first of {len(figure.panels)} like it"
    )
    return replace(figure, panels=(first,))
