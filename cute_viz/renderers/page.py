"""A figure laid out on a page: the primitives that it is made of, each measured and placed, in px from the upper left.

SVG, PNG, PDF, HTML and TikZ write the same page; none of them measures or places anything itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cute_viz.figures.model import Figure
from cute_viz.renderers import Options
from cute_viz.renderers.arrows import arrows, crossed, undrawn
from cute_viz.renderers.board import board_of
from cute_viz.renderers.frame import GAP, LOOSE, TIGHT, Detail, Fit, Frame, fit_panels, has_text
from cute_viz.renderers.geometry import BOLD, FONT, SMALL, fact_line, keeping, kept
from cute_viz.renderers.legend import LEGEND_WIDTH, SIZES, Key, free_corner, heading, narrowest, prose
from cute_viz.renderers.panel import draw
from cute_viz.renderers.placed import Page, Place
from cute_viz.renderers.primitives import TEXT, Grid, Line, Plates, Primitive, scaled
from cute_viz.renderers.targets import LEAST, TARGETS, Target, target_of
from cute_viz.renderers.ways import arranged, has_groups, in_brief, once

SIDE_LEGEND = 900.0  # panels wider than this have their legend below
NARROW = 76.0  # px of the caption of a unit
TITLE_LETTER = 17 * BOLD  # px of a letter of the title
NARROWEST = 420.0  # of what stands between the margins
TALLEST = 2000.0  # px of the stages of a kernel with every label
STAGE = 10.0  # px of a cell of a higher one
LONGEST = 1500.0  # px of the stages in a README
ROOMIER = (160.0, 200.0)  # px of captions on shelves
WORD = 97.0  # px of a caption with the longest word that one has


Rank = tuple[bool, bool, bool, bool, bool, bool, float]


@kept()
def page_of(figure: Figure, options: Options) -> Page:
    """The page of a figure as options want it: of a target with letters as small as it bears, wide panels folded.

    >>> from cute_viz import figure
    >>> page = page_of(figure("((16,8),8):((64,1),8)", tile=(8, 128)), Options(target="column"))
    >>> page.width <= 318, len(page.panels), page.panels[0].detail.name
    (True, 2, 'VECTOR')
    """
    if figure.flow:
        return board_of(figure, options)
    with keeping():
        return _chosen(figure, options)


def _chosen(figure: Figure, options: Options) -> Page:
    """The page that its target bears best of those that are tried."""
    target = target_of(options)
    if figure.kind == "file":
        return lay_out(figure, width=target.width, cell=options.cell, full=options.full, target=target)
    if figure.kind == "page" and figure.arrows and not options.full and options.cell is None and not target.shrinks:
        return _of_stages(figure, target)
    freely = target.shrinks or bool(figure.arrows)
    if target.width is None or options.cell is not None or not freely:
        as_it_is = lay_out(figure, width=target.width, cell=options.cell, full=options.full, target=target)
        if target.width is None or options.cell is not None or not (_is_mute(as_it_is) and has_text(figure)):
            return as_it_is
        if not _is_nameless(as_it_is) and (options.target in (None, "screen") or has_groups(figure)):
            return as_it_is
    best: tuple[Rank, Page] | None = None
    unit = None
    for drawn, line in arranged(figure, target.is_landscape):
        if best is not None and not any(best[0][:4]) and (not any(best[0][4:6]) or best[1].figure is unit):
            break  # as it is, with labels, or as the unit that repeats
        unit = drawn if len(drawn.paints) > len(figure.paints) else None
        for scale in (1.0, 9 / 11, LEAST / FONT) if target.shrinks else (1.0,):
            fit = TIGHT._replace(
                small=SMALL if scale * SMALL >= LEAST else FONT, line=line, narrow=NARROW if unit else TIGHT.narrow
            )
            page = lay_out(drawn, width=target.width / scale, full=options.full, target=target, fit=fit)
            rank = _rank(page, figure, drawn, scale, target)
            if page.width * scale <= target.width + 1 and (best is None or rank < best[0]):
                best = rank, page if scale == 1 else _scaled(page, scale)
    if best is not None and best[0][0] and not options.full:
        return _grown(_low(figure, target, best[1]), target)
    if options.target in (None, "screen") and not freely and (best is None or best[1].height > TALLEST):
        return as_it_is
    if best is not None and (freely or not _is_mute(best[1]) or not _is_nameless(best[1])):
        return _grown(best[1], target)
    return lay_out(figure, width=target.width, full=options.full, target=target)


def _grown(page: Page, target: Target) -> Page:
    """The page of a slide as large as the slide is, and never upright; any other as it is."""
    if not target.is_landscape or target.width is None or target.height is None:
        return page
    grown = _scaled(page, max(1.0, min(target.width / page.width, target.height / page.height)))
    return replace(grown, width=max(grown.width, target.width if grown.width < grown.height * 4 / 3 else 0.0))


def _of_stages(figure: Figure, target: Target) -> Page:
    """The page of a kernel's stages, with every label where that is not too much, else in colours where a panel has many cells."""
    page = lay_out(figure, width=target.width, target=target)
    if page.height <= TALLEST and (target.width is None or page.width <= target.width + 1):
        return page
    if target.width is None:
        return lay_out(figure, cell=STAGE, target=target)
    best = page
    for size in (STAGE, 8.0, 6.0):
        for drawn, line in arranged(in_brief(figure)):
            if not line:
                page = lay_out(drawn, width=target.width, cell=size, target=target, fit=LOOSE._replace(narrow=TIGHT.narrow))
                if page.width <= target.width + 1 and (best.width > target.width + 1 or page.height < best.height):
                    best = page
                if best is page and page.height <= LONGEST:
                    return page
    return best


def _low(figure: Figure, target: Target, best: Page) -> Page:
    """The page with cells so low that it fits the height of its target; the lowest where none does."""
    scale = LEAST / FONT
    assert target.width is not None
    assert target.height is not None
    brief = in_brief(figure)
    ways = [drawn for drawn, line in arranged(brief, target.is_landscape) if not line]
    if figure.kind in ("page", "follow") and figure.arrows:
        ways.append(replace(brief, kind="file"))
    most = (target.height + target.likes) / 2 if figure.kind == "page" else target.height  # whose captions are long
    lowest = best
    for size in (16.0, 12.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0):
        for drawn in ways:
            for narrow in (TIGHT.narrow, WORD, *ROOMIER * (drawn.kind == "file"))[: 1 + 3 * (len(drawn.panels) > 1)]:
                page = lay_out(drawn, width=target.width / scale, cell=size, target=target, fit=TIGHT._replace(narrow=narrow))
                if page.width * scale <= target.width + 1 and page.height * scale <= most:
                    return _scaled(page, scale)
                if page.width * scale <= target.width + 1 and page.height * scale < lowest.height:
                    lowest = _scaled(page, scale)
    return lowest


def _is_mute(page: Page) -> bool:
    """Whether the cells of a page have no labels at the detail that it has."""
    return max(place.detail for place in page.panels) >= Detail.COLOUR


def _is_nameless(page: Page) -> bool:
    """Whether no group of cells has its name on it, either."""
    return not any(isinstance(item, Plates) for item in page.items)


def _rank(page: Page, figure: Figure, drawn: Figure, scale: float, target: Target) -> Rank:
    """The lower, the better: no higher than its place, with labels, or names of groups, as high as it likes, whole;
    then in detail and large, or, of what is arranged anew, in little height. Where only groups have names,
    small letters beside the cells are best.
    """
    detail = max(place.detail for place in page.panels)
    mute = _is_mute(page) and has_text(page.figure)
    height = page.height * scale
    tall = height > target.likes
    abridged = len(drawn.panels) == len(figure.panels) and drawn.panels[0].rows < figure.panels[0].rows
    as_it_is = drawn is figure or target.is_landscape
    return (
        target.height is not None and height > target.height,
        mute,
        mute and _is_nameless(page),
        tall,
        abridged and bool(figure.arrows),
        not as_it_is and not tall,
        height if tall else scale if mute else detail - scale / 10 if drawn is figure else -scale if as_it_is else height,
    )


def _scaled(page: Page, scale: float) -> Page:
    panels = tuple([replace(place, grid=place.grid.scaled(scale)) for place in page.panels])
    return Page(page.figure, page.width * scale, page.height * scale, panels, lambda: [scaled(item, scale) for item in page.items])


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
    figure = once(figure)
    margin, legends = target.margin, figure.legends if target.legend else ()
    fitted, places, panels_w, panels_h = fit_panels(figure, (width - 2 * margin) if width else None, cell, full, fit)
    sizes = [(frame.width, frame.height) for frame in fitted]
    column = LEGEND_WIDTH if target.counts else narrowest(figure)
    corner = bool(legends) and free_corner(figure, sizes, column, target.counts)
    room = width - 2 * margin if width else SIDE_LEGEND + GAP + LEGEND_WIDTH
    beside = bool(legends) and not corner and panels_w + GAP + column <= room
    inner = panels_w + (GAP + column if beside else 0)
    if target.is_landscape and target.head:
        inner = max(inner, min(room, TITLE_LETTER * len(figure.title), 2 * NARROWEST))
    elif target.head or target.notes:
        inner = max(inner, min(NARROWEST, room))
    elif legends:
        inner = max(inner, room)
    head = prose(heading(figure), inner, margin, margin) if target.head else []
    top = (head[-1].y + head[-1].size * 0.8 + 10) if head else margin + (10 if target.head else 0)
    legend = Key(figure, column if beside or corner else inner, beside or corner, target.counts)
    legend_h = 0.0 if corner or not legends else legend.height + (0 if beside else GAP)
    if order := undrawn(figure.arrows, fitted):
        steps = Line(f"Steps {order}", margin, top + panels_h + GAP / 2, SIZES[0], TEXT)
        panels_h += GAP
    body_h = max(panels_h, legend_h) if beside else panels_h + legend_h
    sentences = (*figure.notes, *_left_out(fitted), fact_line(figure)) if target.notes else ()
    notes = prose([Line(note, 0, 0, 12) for note in sentences if note], inner, 0, margin)
    notes = [line._replace(y=line.y + top + body_h + 12) for line in notes]
    height = top + body_h + (sum(line.size * 1.6 for line in notes) + 12 if notes else 0) + margin
    at = (margin, top) if corner else (margin + panels_w + GAP, top) if beside else (margin, top + panels_h + GAP)
    swatches, entries = legend.placed(*at) if legends else ([], [])
    origins = [(margin + x, top + y) for x, y in places]
    cells = [(x + f.left, y + f.top, f.cell_w, f.cell_h) for f, (x, y) in zip(fitted, origins, strict=True)]
    grids = [Grid(panel.rows, panel.cols, *where) for panel, where in zip(figure.panels, cells, strict=True)]

    def items() -> list[Primitive]:
        drawn: list[Primitive] = []
        for n, (frame, grid, (_, y)) in enumerate(zip(fitted, grids, origins, strict=True)):
            drawn += draw(frame, grid, y, crossed(figure.arrows, n, figure.panels))
        return [*drawn, *arrows(figure.arrows, fitted, grids), *swatches, *head, *([steps] if order else ()), *entries, *notes]

    panels = tuple([Place(frame.panel, frame.detail, grid) for frame, grid in zip(fitted, grids, strict=True)])
    return Page(figure, inner + 2 * margin, height, panels, items)


def _left_out(fitted: Sequence[Frame]) -> list[str]:
    """What the level of detail does not show, in words."""
    cells = sum(frame.panel.rows * frame.panel.cols for frame in fitted)
    if (smallest := min((frame.cell_w for frame in fitted if frame.detail == Detail.RASTER), default=1.0)) < 1:
        step = round(1 / smallest)
        return [f"A pixel is the first of {step} × {step} cells."]
    if (
        not fitted
        or fitted[0].detail == Detail.FULL
        or not fitted[0].panel.labels
        or not any(any(frame.panel.labels) for frame in fitted)
    ):
        return []
    if fitted[0].detail == Detail.VECTOR:
        return ["A label in a box is that of all cells in it."]
    return [f"The labels of {cells} cells are left out at this size."]
