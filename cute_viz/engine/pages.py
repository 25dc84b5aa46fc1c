"""Every object that a whole file defines as a figure: one by one, or on one page in the order of their definition."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.inttuple import show
from cute_viz.engine.request import Request
from cute_viz.engine.subject import file_in
from cute_viz.engine.whole import drawable, wanted
from cute_viz.errors import CuteVizError, FigureError
from cute_viz.figures import build
from cute_viz.figures.options import options_of
from cute_viz.figures.page import page
from cute_viz.options.words import read_all
from cute_viz.renderers import FORMATS

if TYPE_CHECKING:
    from cute_viz.figures.model import Figure
    from cute_viz.source.model import Entry

ACROSS = 2  # panels beside each other on the page of a file


@dataclass(frozen=True, slots=True)
class Drawing:
    """One object of a file and its figure."""

    entry: Entry
    value: Any
    figure: Figure


def drawings(request: Request) -> tuple[list[Drawing], list[CuteVizError]]:
    """The figures of all that can be drawn in the one source, a file, and the errors of what cannot, its name before each.

    A tuple alone is a shape, whose picture would show nothing.

    Raises: FigureError where the file has nothing to draw.
    """
    (source,) = request.sources
    words = read_all({name: word for name, word in request.options.items() if name != "title"})
    heat = all(FORMATS[name].pages for name in request.formats if name in FORMATS)
    out, failed, unread = [], list[CuteVizError](), list[CuteVizError]()
    for entry, value in drawable(file_in(source, request), unread):
        if isinstance(value, tuple):
            continue
        try:
            out.append(Drawing(entry, value, build(value, replace(options_of(words, heat), wave=request.library.together))))
        except CuteVizError as error:
            (unread if error.needs else failed).append(_named(error, entry))
    needs = wanted(unread)
    if not out:
        hint = "'cute-viz list FILE' shows what it defines, and which values are missing"
        alone = FigureError("nothing in this file can be drawn", hint=hint)
        if needs is not None:
            alone = alone.but(message=f"nothing in this file can be drawn yet: {needs.message}", hint=needs.hint)
        raise failed[0] if failed else alone
    return out, [*failed, *([needs] if needs is not None else [])]


def _named(error: CuteVizError, entry: Entry) -> CuteVizError:
    """The error of an object with its name, and with its place where it has none."""
    words = f"{entry.path}: {error.message}"
    return error.but(message=words, name=error.name or f"line {entry.line}" if error.span is None else error.name)


def one_page(drawn: list[Drawing], title: str) -> Figure:
    """All figures on one page, each under the names of its object; equal objects are drawn once, of several stages the first."""
    names: dict[str, list[str]] = {}
    for one in drawn:
        names.setdefault(show(one.value), []).append(f"{one.entry.path} (line {one.entry.line})")
    parts = []
    for one in drawn:
        if same := names.pop(show(one.value), []):
            parts.append((", ".join(same), _first_stage(one.figure)))
    return page(title, parts, ACROSS)


def _first_stage(figure: Figure) -> Figure:
    """A figure whose panels are slices with the first of them alone."""
    if figure.kind != "grid" or len(figure.panels) < 2:
        return figure
    first = replace(
        figure.panels[0], place=(0, 0), caption=f"{figure.panels[0].caption}, the first of {len(figure.panels)} like it"
    )
    return replace(figure, panels=(first,))
