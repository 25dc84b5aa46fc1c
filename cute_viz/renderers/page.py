"""A figure laid out on a page: the primitives that it is made of, each measured and placed, in px from the upper left.

SVG, PNG, PDF, HTML and TikZ write the same page; none of them measures or places anything itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cute_viz.figures.model import Figure, Panel
from cute_viz.figures.repeats import repeated
from cute_viz.figures.trim import in_bands
from cute_viz.renderers import Options
from cute_viz.renderers.arrows import arrows, crossed
from cute_viz.renderers.frame import LARGEST, LOOSE, TIGHT, Detail, Fit, Frame, frames, resized
from cute_viz.renderers.geometry import BOLD, CHAR, FONT, PROSE, SMALL, arrange, fact_line, shared_sizes, wrap
from cute_viz.renderers.legend import LEGEND_WIDTH, Key
from cute_viz.renderers.marks import has_vectors, vector_width
from cute_viz.renderers.panel import draw
from cute_viz.renderers.primitives import TEXT, Grid, Line, Plates, Primitive, scaled
from cute_viz.renderers.targets import LEAST, TARGETS, Target, target_of

BANDS = (2, 3, 4, 6, 8)  # that a panel too wide for its target is folded into
TALLEST = 864.0  # px, 9 in: what a sheet of paper holds
GAP = 28.0  # between panels, and between panels and legend
SIDE_LEGEND = 900.0  # panels wider than this have their legend below
NARROW = 76.0  # px of the caption of a unit
NARROWEST = 420.0  # of what stands between the margins
WIDEST = 2600.0  # px that panels with every label may take before labels are left out
VECTORS_FROM = 1400.0  # px from which on a label for each box is better than one for each cell, where boxes tell all
ROOMY = 1600.0  # px that panels of colours take
MANY = 2048  # cells, of which the unit that repeats is tried: what an instruction holds is drawn whole
IMAGE = 2048  # px that an image of cells takes at least, where there are so many
MOST_CELLS = 100_000  # more are pixels of an image, unless their text was asked for


Rank = tuple[bool, bool, bool, bool, float]


@dataclass(frozen=True, slots=True)
class Place:
    """A panel on the page: its level of detail, and where its cells are."""

    panel: Panel
    detail: Detail
    grid: Grid


@dataclass(frozen=True, slots=True)
class Page:
    """A laid out figure: its size, where its panels are, and all that is drawn, in drawing order."""

    figure: Figure
    width: float
    height: float
    panels: tuple[Place, ...]
    items: tuple[Primitive, ...]


def page_of(figure: Figure, options: Options) -> Page:
    """The page of a figure as options want it: of a target with letters as small as it bears, wide panels folded.

    >>> from cute_viz import figure
    >>> page = page_of(figure("((16,8),8):((64,1),8)", tile=(8, 128)), Options(target="column"))
    >>> page.width <= 318, len(page.panels), page.panels[0].detail.name
    (True, 2, 'VECTOR')
    """
    target = target_of(options)
    arranged = target.shrinks or bool(figure.arrows)
    if target.width is None or options.cell is not None or not arranged:
        as_it_is = lay_out(figure, width=target.width, cell=options.cell, full=options.full, target=target)
        if target.width is None or options.cell is not None or not (_is_mute(as_it_is) and _has_text(figure)):
            return as_it_is
        if options.target in (None, "screen") or (_has_groups(figure) and not _is_nameless(as_it_is)):
            return as_it_is
    best: tuple[Rank, Page] | None = None
    unit = None
    for drawn, line in _arranged(figure):
        if best is not None and not any(best[0][:3]) and (not best[0][3] or best[1].figure is unit):
            break  # as it is, with labels, or as the unit that repeats
        unit = drawn if len(drawn.paints) > len(figure.paints) else None
        for scale in (1.0, 9 / 11, LEAST / FONT) if target.shrinks else (1.0,):
            fit = TIGHT._replace(
                small=SMALL if scale * SMALL >= LEAST else FONT, line=line, narrow=NARROW if unit else TIGHT.narrow
            )
            page = lay_out(drawn, width=target.width / scale, full=options.full, target=target, fit=fit)
            rank = _rank(page, drawn is figure, scale)
            if page.width * scale <= target.width + 1 and (best is None or rank < best[0]):
                best = rank, page if scale == 1 else _scaled(page, scale)
    if best is not None and (arranged or not _is_mute(best[1]) or not _is_nameless(best[1])):
        return best[1]
    return lay_out(figure, width=target.width, full=options.full, target=target)


def _is_mute(page: Page) -> bool:
    """Whether the cells of a page have no labels at the detail that it has."""
    return max(place.detail for place in page.panels) >= Detail.COLOUR


def _is_nameless(page: Page) -> bool:
    """Whether no group of cells has its name on it, either."""
    return not any(isinstance(item, Plates) for item in page.items)


def _has_groups(figure: Figure) -> bool:
    """Whether panels belong together as those of an MMA do: apart, without labels, groups of owners still tell what is where."""
    return len(figure.panels) > 1 and any("thread" in panel.data for panel in figure.panels)


def _rank(page: Page, as_it_is: bool, scale: float) -> Rank:
    """The lower, the better: with labels, or names of groups, no higher than a sheet, as it is; then in detail and large, or, of
    what is arranged anew, in little height. A page without labels has the names of groups, for which letters are best small beside
    the cells.
    """
    detail = max(place.detail for place in page.panels)
    mute = _is_mute(page) and _has_text(page.figure)
    tall = page.height * scale > TALLEST
    return (
        mute,
        mute and _is_nameless(page),
        tall,
        not as_it_is,
        page.height * scale if tall else scale if mute else detail - scale / 10 if as_it_is else page.height * scale,
    )


def _arranged(figure: Figure) -> Iterator[tuple[Figure, bool]]:
    """The figure as it is, in bands, in shorter rows, its panels on top of each other; with labels of two lines, and of one."""
    if any(not arrow.head for arrow in figure.arrows):  # frames, each of two panels that lines join
        return ((drawn, line) for drawn in (figure, _in_one_column(figure)) for line in (False, True))
    return ((drawn, line) for drawn in _ways(figure) for line in (False, True))


def _ways(figure: Figure) -> Iterator[Figure]:
    """The arrangements, the likely ones first; of very many cells the unit that they repeat is one."""
    yield figure
    if sum(len(panel.paints) for panel in figure.panels) > MANY and (unit := repeated(figure)) is not None:
        yield from [unit, *filter(None, (in_bands(unit, n) for n in BANDS[:3]))]
    if figure.arrows:
        yield from (_in_rows(figure, n) for n in (3, 2))
    if (aside := _side_by_side(figure)) is not None:
        yield aside
    stacked = replace(figure, panels=tuple([replace(panel, place=(n, 0)) for n, panel in enumerate(figure.panels)]))
    yield stacked
    yield from filter(None, (in_bands(figure if _has_groups(figure) else stacked, n) for n in BANDS))


def _in_one_column(figure: Figure) -> Figure:
    """The figure with its columns of panels below each other."""
    deep = 1 + max(panel.place[0] for panel in figure.panels)
    return replace(
        figure, panels=tuple([replace(panel, place=(panel.place[0] + deep * panel.place[1], 0)) for panel in figure.panels])
    )


def _side_by_side(figure: Figure) -> Figure | None:
    """The operands of an MMA with A beside C, whose rows are the same and ruled once, and B below; None of other figures."""
    at = {panel.place: panel for panel in figure.panels}
    if at.keys() != {(0, 1), (1, 0), (1, 1)}:
        return None
    a, b, c = at[1, 0], at[0, 1], at[1, 1]
    if a.row_ruler.labels != c.row_ruler.labels:
        return None
    unruled = replace(c.row_ruler, title="", labels=("",) * c.rows)
    return replace(figure, panels=(replace(a, place=(0, 0)), replace(c, place=(0, 1), row_ruler=unruled), replace(b, place=(1, 0))))


def _in_rows(figure: Figure, columns: int) -> Figure:
    """The figure with so many panels to a row: steps, whose order their numbers tell."""
    return replace(figure, panels=tuple([replace(panel, place=divmod(n, columns)) for n, panel in enumerate(figure.panels)]))


def _scaled(page: Page, scale: float) -> Page:
    panels = tuple([replace(place, grid=place.grid.scaled(scale)) for place in page.panels])
    items = tuple([scaled(item, scale) for item in page.items])
    return replace(page, width=page.width * scale, height=page.height * scale, panels=panels, items=items)


def lay_out(
    figure: Figure,
    *,
    width: float | None = None,
    cell: float | None = None,
    full: bool = False,
    target: Target = TARGETS["screen"],
    fit: Fit = LOOSE,
) -> Page:
    """The page of a figure.

    width: px that the page may take; cell: px of a cell; without either, the level of detail is the highest that keeps
    the page readable. full: labels were asked for by name, so they are never left out. target: what surrounds the panels.
    fit: the room around what is written.

    >>> from cute_viz.algebra.layout import Layout
    >>> from cute_viz.figures import build
    >>> page = lay_out(build(Layout((2, 4))))
    >>> page.width, page.panels[0].detail.name
    (470.0, 'FULL')
    """
    figure = _once(figure)
    margin, legends = target.margin, figure.legends if target.legend else ()
    fitted, places, panels_w, panels_h = _fit(figure, (width - 2 * margin) if width else None, cell, full, fit)
    sizes = [(frame.width, frame.height) for frame in fitted]
    corner = bool(legends) and _free_corner(figure, sizes)
    room = width - 2 * margin if width else SIDE_LEGEND + GAP + LEGEND_WIDTH
    beside = bool(legends) and not corner and panels_w + GAP + LEGEND_WIDTH <= room
    inner = panels_w + (GAP + LEGEND_WIDTH if beside else 0)
    if target.head or target.notes:
        inner = max(inner, min(NARROWEST, room))
    elif legends:
        inner = max(inner, room)
    head = _prose(_heading(figure), inner, margin, margin) if target.head else []
    top = (head[-1].y + head[-1].size * 0.8 + 10) if head else margin + (10 if target.head else 0)
    legend = Key(figure, LEGEND_WIDTH if beside or corner else inner, beside or corner)
    legend_h = 0.0 if corner or not legends else legend.height + (0 if beside else GAP)
    body_h = max(panels_h, legend_h) if beside else panels_h + legend_h
    said = (*figure.notes, *_left_out(fitted), fact_line(figure)) if target.notes else ()
    notes = _prose([Line(note, 0, 0, 12) for note in said if note], inner, 0, margin)
    notes = [line._replace(y=line.y + top + body_h + 12) for line in notes]
    height = top + body_h + (sum(line.size * 1.6 for line in notes) + 12 if notes else 0) + margin
    at = (margin, top) if corner else (margin + panels_w + GAP, top) if beside else (margin, top + panels_h + GAP)
    swatches, entries = legend.placed(*at) if legends else ([], [])
    drawn: list[Primitive] = []
    panels: list[Place] = []
    for n, (frame, (x, y)) in enumerate(zip(fitted, places, strict=True)):
        x, y = margin + x, top + y
        grid = Grid(frame.panel.rows, frame.panel.cols, x + frame.left, y + frame.top, frame.cell_w, frame.cell_h)
        panels.append(Place(frame.panel, frame.detail, grid))
        drawn += draw(frame, grid, x, y, crossed(figure.arrows, n, figure.panels))
    drawn += arrows(figure.arrows, fitted, [place.grid for place in panels])
    return Page(figure, inner + 2 * margin, height, tuple(panels), (*drawn, *swatches, *head, *entries, *notes))


def _once(figure: Figure) -> Figure:
    """A copy whose source and destination are equal, with one panel for both."""
    if figure.kind != "copy" or len(figure.panels) != 2:
        return figure
    source, destination = figure.panels
    words = f"{source.caption}; {destination.caption}"
    alike = replace(destination, caption=words, place=source.place) == replace(source, caption=words)
    return replace(figure, panels=(replace(source, caption=words),)) if alike else figure


Fitted = tuple[list[Frame], list[tuple[float, float]], float, float]


def _fit(figure: Figure, room: float | None, cell: float | None, full: bool, fit: Fit) -> Fitted:
    """The frames at the highest level of detail whose cells have the size that is wanted, or that keeps the page readable."""
    every = sum(panel.rows * panel.cols for panel in figure.panels)
    vectors = _has_text(figure) and not (full and cell is None) and has_vectors(figure)
    if cell is None and (full or (_has_text(figure) and every <= 4 * MOST_CELLS)):
        fitted = _aligned(figure, frames(figure, Detail.FULL, fit=fit))
        if full or fitted[2] <= (room or (VECTORS_FROM if vectors else WIDEST)):
            return fitted
    if cell is not None and _has_text(figure):
        fitted = _aligned(figure, frames(figure, Detail.FULL, fit=fit))
        if all(frame.cell_w <= cell for frame in fitted[0]):
            return _aligned(figure, frames(figure, Detail.FULL, cell=cell, fit=fit))
    most = cell * max(panel.cols for panel in figure.panels) if cell else room or WIDEST
    if vectors and max(vector_width(panel, fit.pad) for panel in figure.panels) <= most:
        fitted = _aligned(figure, frames(figure, Detail.VECTOR, fit=fit))
        if cell is None and fitted[2] <= (room or WIDEST):
            return fitted
        if cell is not None and all(frame.cell_w <= cell for frame in fitted[0]):
            return _aligned(figure, frames(figure, Detail.VECTOR, cell=cell, fit=fit))
    if cell is not None:
        detail = Detail.RASTER if cell < 3 or every > MOST_CELLS else Detail.COLOUR
        return _aligned(figure, frames(figure, detail, cell=cell, fit=fit))
    return _colours(figure, room or ROOMY, every, fit)


def _has_text(figure: Figure) -> bool:
    """Whether any cell of the figure has a label at all."""
    return any(any(panel.labels) for panel in figure.panels)


def _colours(figure: Figure, room: float, every: int, fit: Fit) -> Fitted:
    """Cells of colour, as large as the room allows; all panels have cells of one size."""
    first = _aligned(figure, frames(figure, Detail.RASTER, cell=10.0, fit=fit))
    across: dict[int, tuple[int, float]] = {}
    for panel, frame in zip(figure.panels, first[0], strict=True):
        cols, left = across.get(panel.place[1], (0, 0.0))
        across[panel.place[1]] = max(cols, panel.cols), max(left, frame.left)
    cols = sum(cols for cols, _ in across.values())
    used = sum(left for _, left in across.values()) + fit.gap * (len(across) - 1) + 2 * len(across)
    size = min(LARGEST, max((room - used) / cols, 1 / -(-cols // IMAGE)))
    size = float(int(size)) if size >= 1 else size
    detail = Detail.RASTER if size < 3 or every > MOST_CELLS else Detail.COLOUR
    return _aligned(figure, frames(figure, detail, cell=size, fit=fit))


def _aligned(figure: Figure, found: list[Frame]) -> Fitted:
    """The frames with sizes such that panels line up, where they stand, and the size of all."""
    shared = shared_sizes(figure.panels, [(f.cell_w, f.cell_h, f.left, f.top) for f in found])
    found = [resized(frame, size) for frame, size in zip(found, shared, strict=True)]
    places, w, h = arrange(
        [panel.place for panel in figure.panels],
        [(frame.width, frame.height) for frame in found],
        found[0].fit.gap if found else GAP,
    )
    return found, places, w, h


def _left_out(fitted: list[Frame]) -> list[str]:
    """What the level of detail does not show, in words."""
    cells = sum(frame.panel.rows * frame.panel.cols for frame in fitted)
    if fitted and fitted[0].cell_w < 1:
        step = round(1 / fitted[0].cell_w)
        return [f"A pixel is the first of {step} × {step} cells."]
    if not fitted or fitted[0].detail == Detail.FULL or not any(any(frame.panel.labels) for frame in fitted):
        return []
    if fitted[0].detail == Detail.VECTOR:
        return ["A box is labelled as a whole."]
    return [f"The labels of {cells} cells are left out at this size."]


def _free_corner(figure: Figure, sizes: list[tuple[float, float]]) -> bool:
    """Whether the upper left place of the panels is empty, and has room for the legend."""
    places = [panel.place for panel in figure.panels]
    if not figure.legends or (0, 0) in places or not any(p[0] == 0 for p in places) or not any(p[1] == 0 for p in places):
        return False
    width = max(w for place, (w, _) in zip(places, sizes, strict=True) if place[1] == 0)
    height = max(h for place, (_, h) in zip(places, sizes, strict=True) if place[0] == 0)
    return width >= LEGEND_WIDTH and height >= Key(figure, LEGEND_WIDTH, True).height


def _heading(figure: Figure) -> list[Line]:
    return [
        Line(figure.title, 0, 0, 17, TEXT, weight=700),
        Line(figure.source, 0, 0, 12.5, TEXT, mono=True),
        Line(figure.caption, 0, 0, 12.5),
    ]


def _prose(lines: list[Line], width: float, y: float, x: float) -> list[Line]:
    """Lines of text cut to the width, from y down."""
    out = []
    for line in lines:
        letter = line.size * (CHAR if line.mono else BOLD if line.weight > 400 else PROSE)
        for text in wrap(line.text, width, letter, line.mono):
            if text:
                out.append(line._replace(text=text, x=x, y=y + line.size * 0.8))
                y += line.size * 1.6
    return out
