"""A figure laid out on a page: the primitives that it is made of, each measured and placed, in px from the upper left.

SVG, PNG, PDF, HTML and TikZ write the same page; none of them measures or places anything itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, pairwise

from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure
from cute_viz.renderers import Options, lanes
from cute_viz.renderers.arrows import arrows, crossed, undrawn
from cute_viz.renderers.board import board_of
from cute_viz.renderers.colours import page_palette
from cute_viz.renderers.fitting import ROOMY, Fitted, aligned, fit_panels
from cute_viz.renderers.frame import GAP, LARGEST, LOOSE, TIGHT, Detail, Fit, PanelFrame, frames
from cute_viz.renderers.geometry import BOLD, FONT, SMALL, fact_line, keeping, kept
from cute_viz.renderers.legend import LEGEND_WIDTH, SIZES, Key, Words, columns, free_place, heading, prose, told
from cute_viz.renderers.levels import (
    Drawing,
    arranged,
    cell_of,
    drawings,
    excerpts,
    further,
    is_comparison,
    prepared,
    stretched,
    units,
)
from cute_viz.renderers.lit import lit
from cute_viz.renderers.names import joined
from cute_viz.renderers.outer import Outer
from cute_viz.renderers.panel import draw, on_paper
from cute_viz.renderers.placed import Page, Place, as_drawn
from cute_viz.renderers.primitives import TEXT, Grid, Line, Primitive, scaled
from cute_viz.renderers.remarks import with_notes
from cute_viz.renderers.strip import strips, with_insets
from cute_viz.renderers.targets import TARGETS, Target, target_of
from cute_viz.renderers.ways import once, passed_on, sampled, unshaded

SIDE_LEGEND = 900.0  # panels wider than this have their legend below
TITLE_LETTER = 17 * BOLD  # px of a letter of the title
NARROWEST = 432.0  # of what stands between the margins
LOWEST = 110.0  # px of a lane beside which there is no inset
NAMED_SHARE = 0.4  # of cells that have a label, or a name
NAMED = 15.5  # px of a row that holds the name of a group
SEEN_FROM = 3.0  # px of a cell whose colour is seen
MOST_RUNS = 8192  # of cells of one colour, more of which are an image where they are small
HIGHEST = 4096.0  # px of a page that nobody gives a size
SCREEN = (1000.0, 620.0)  # px of lanes that have no place


@kept()
def page_of(figure: Figure, options: Options) -> Page:
    """The page of a figure as options want it: of a place with a height, the richest drawing that fits it."""
    if options.letters is None:
        return as_drawn(_page_of(figure, options))
    scale = options.letters / FONT  # the page is laid out with letters of FONT px
    given = {name: px / scale for name in ("width", "cell") if (px := getattr(options, name)) is not None}
    return as_drawn(_scaled(_page_of(figure, replace(options, **given)), scale))


def _page_of(figure: Figure, options: Options) -> Page:
    if figure.notes_on:
        return with_notes(figure, options, _page_of)
    if figure.flow:
        return board_of(figure, options)
    with keeping():
        return _chosen(unshaded(figure) if page_palette(options).is_flat else figure, options)


def _chosen(figure: Figure, options: Options) -> Page:
    """The page of the richest drawing that its target holds; of none, the lowest."""
    target = target_of(options)
    if figure.kind == "journey" and not options.full and options.cell is None:
        place = replace(target, width=target.width or SCREEN[0], height=target.height or SCREEN[1])
        return _in_lanes(lanes.placed(with_insets(figure), place), place)
    plain = options.cell is not None or options.full or target.width is None or target.height is None
    if figure.kind == "file" or plain:
        whole = lay_out(figure, width=target.width, cell=options.cell, full=options.full, target=target)
        asked = figure.kind == "file" or target.width or options.cell is not None or options.full
        if asked or whole.height <= HIGHEST:
            return whole
        target = replace(target, width=max(ROOMY, whole.width), height=HIGHEST)
    figure = prepared(with_insets(once(figure)))
    if not figure.panels:
        return _grown(lay_out(figure, width=target.width, target=target, fitted=([], [], 0.0, 0.0)), target)
    named = all("thread" in panel.data for panel in figure.panels)  # by labels, which then tell what their legend does
    ways = [target, replace(target, legend=False)] if named and target.legend else [target]
    others = chain(_flat(figure), lit(figure))
    for shown, way in chain(((figure, way) for way in ways), ((other, target) for other in others)):
        bare: Page | None = None  # one whose cells are too small for the outlines of its boxes, which one label for each box leaves
        for drawn in drawings(shown, way):
            if bare is not None and (Detail.VECTOR not in drawn.details or max(drawn.details) >= Detail.COLOUR):
                continue
            richest = shown is figure and way is target
            page = _tried(drawn, way) if richest or max(drawn.details) < Detail.COLOUR else None
            if page is not None and _fits(page, target):
                if any(place.detail == Detail.COLOUR and place.named < NAMED_SHARE for place in page.panels):
                    high = _tried(drawn._replace(fit=drawn.fit._replace(high=NAMED)), target)
                    page = high if high is not None and _fits(high, target) and high.named > page.named else page
                if all(place.outlined for place in page.panels):
                    return _grown(page, target)
                bare = bare or page
        if bare is not None:
            return _grown(bare, target)
    if figure.kind == "exercise":
        words = "the letters of the blanks have no room here"
        raise FigureError(words, hint="a larger place, or fewer cells")
    blocks = _in_blocks(figure, target)
    poor = blocks.named < NAMED_SHARE or not _fits(blocks, target)
    unit = units(figure, target) if poor else None
    for part in filter(None, (unit, further(figure, not poor), *excerpts(figure))):
        for way in ways:
            for drawn in drawings(part, way):
                page = _tried(drawn, way) if way is target or max(drawn.details) < Detail.COLOUR else None
                if page is not None and _fits(page, target):
                    return _grown(page, target)
    if unit is not None:
        of_unit = _in_blocks(unit, target)
        if _fits(of_unit, target) and not (of_unit.named < NAMED_SHARE and _fits(blocks, target)):
            blocks = of_unit
    if not _fits(blocks, target) and len((few := sampled(figure)).panels) < len(figure.panels):
        return _chosen(few, options)
    if target.legend and not _fits(blocks, target):
        bare = _in_blocks(figure, replace(target, legend=False))  # whose names stand on the cells, or beside the picture
        blocks = bare if _fits(bare, target) else blocks
    return _grown(blocks, target)


def _flat(figure: Figure) -> list[Figure]:
    """The figure with the two lines of every label in one, wide and low; none where boxes have labels, or no label has two."""
    if figure.kind != "exercise" and any(panel.boxes for panel in figure.panels):
        return []
    panels = [replace(panel, labels=tuple([label.replace("\n", " ") for label in panel.labels])) for panel in figure.panels]
    return [replace(figure, panels=tuple(panels))] if panels != [*figure.panels] else []


def _in_lanes(figure: Figure, target: Target) -> Page:
    """The page of a journey: its lanes as high as the rest leaves room for."""
    assert target.width is not None
    assert target.height is not None
    room, every = target.width - 2 * target.margin, {entry.label for legend in figure.legends for entry in legend.entries}
    for own in [replace(target, legend=False)] * target.head + [target]:
        high = target.height / 2
        for _ in range(3):
            fitted = lanes.fitted(figure, room, high, target.least)
            page = lay_out(figure, width=target.width, target=own, fitted=fitted)
            high += target.height - page.height - 1
        if every <= {joined(mark.lines) for frame in fitted[0] for mark in frame.marks}:  # are told where they are
            break
    lowest = LOWEST * (target.height / 506 if target.is_landscape else 1)
    low = min(place.grid.bottom - place.grid.top for place in page.panels) < lowest
    return _in_lanes(replace(figure, insets=()), target) if low and figure.insets else page


def _fits(page: Page, target: Target) -> bool:
    assert target.width is not None
    assert target.height is not None
    return page.width <= target.width + 0.5 and page.height <= target.height + 0.5


def _tried(drawn: Drawing, target: Target) -> Page | None:
    """The page of a drawing; None where its panels alone are too large."""
    assert target.width is not None
    assert target.height is not None
    found = [
        frames(replace(drawn.figure, panels=(panel,)), detail, *cell_of(drawn, panel, detail))[0]
        for panel, detail in zip(drawn.figure.panels, drawn.details, strict=True)
    ]
    if "matrices of 8 × 8" in drawn.figure.facts and len({(f.panel.rows, f.panel.cols) for f in found}) == 1:
        wide, exact = max(f.cell_w for f in found), max(f.cell_h for f in found)  # what is copied has one size on both sides
        found = [
            frames(replace(drawn.figure, panels=(f.panel,)), f.detail, wide, drawn.fit._replace(exact=exact))[0] for f in found
        ]
    if is_comparison(drawn.figure) and len({(f.cell_w, f.cell_h) for f in found}) > 1:
        return None  # of what is compared a cell has one size
    fitted = aligned(drawn.figure, found)
    insets = sum(strip.height for strip in strips(drawn.figure.insets, target.width - 2 * target.margin, target.least))
    if fitted[2] * drawn.scale > target.width - 2 * target.margin or fitted[3] * drawn.scale + insets > target.height:
        return None
    return lay_out(drawn.figure, width=target.width, target=target, fit=drawn.fit, fitted=fitted, scale=drawn.scale)


def _in_blocks(figure: Figure, target: Target) -> Page:
    """The page in blocks of colour: of the arrangements that fit one whose groups have names, and whose cells are the largest."""
    found = [_blocks(way, target, high) for way in arranged(passed_on(figure), target) for high in (0.0, NAMED)]
    fitting = [page for page in found if _fits(page, target)]
    if not fitting:
        return min(found, key=lambda page: page.height * page.width)

    def rank(page: Page) -> tuple[bool, int, float]:
        rows = max(place.panel.place[0] for place in page.panels) if figure.arrows else 0  # arrows have room beside panels
        return page.named >= NAMED_SHARE, -rows, min(place.grid.cell_w for place in page.panels)

    return max(fitting, key=rank)


def _blocks(figure: Figure, target: Target, high: float = 0.0) -> Page:
    """The page in blocks whose cells are as large as width and height allow: one size for all panels.

    high: px of a cell, at least.
    """
    assert target.width is not None
    assert target.height is not None
    fit = TIGHT._replace(small=max(SMALL, target.least), thick=True, high=high, lines=2)
    ends: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for panel in figure.panels:
        for most, at, extent in zip(ends, panel.place[::-1], (panel.cols, panel.rows), strict=True):
            most[at] = max(most.get(at, extent), extent)
    cols, rows = (sum(most.values()) for most in ends)
    many = sum(1 for panel in figure.panels for a, b in pairwise(panel.paints) if a != b) > MOST_RUNS
    size = min(LARGEST * target.grows, target.width / cols, target.height / rows)
    while True:
        size = float(int(size)) if size >= 8 else int(4 * size) / 4 if size >= 1 else 1 / -(-1 // size)
        found = frames(figure, Detail.RASTER if size < 3 and many else Detail.COLOUR, cell=size, fit=fit)
        page = lay_out(figure, width=target.width, target=target, fit=fit, fitted=aligned(figure, found))
        over = (page.width - target.width) / cols
        over = over if over > 0.5 / cols else (page.height - target.height) / rows  # which depends on where the legend has room
        if over <= 0.5 / max(cols, rows) or size <= 0.02:
            for wide, tall in stretched(figure, target, size) if size >= SEEN_FROM or not many else ():
                found = frames(figure, Detail.COLOUR, cell=wide * size, fit=fit._replace(exact=tall * size))
                other = lay_out(figure, width=target.width, target=target, fit=fit, fitted=aligned(figure, found))
                if _fits(other, target):
                    return other
            return page
        size -= min(max(over, 0.02 * size), size / 3)


def _grown(page: Page, target: Target) -> Page:
    """The page of a slide as large as the slide is; any other, and one whose letters have a size, as it is."""
    if not target.is_landscape or target.grows == 1 or target.width is None or target.height is None:
        return page
    grown = _scaled(page, max(1.0, min(target.width / page.width, target.height / page.height)))
    return replace(grown, width=max(grown.width, target.width if grown.width < grown.height * 4 / 3 else 0.0))


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
    fitted: Fitted | None = None,
    scale: float = 1.0,
) -> Page:
    """The page of a figure.

    width: px that the page may take; cell: px of a cell; without either, the level of detail is the highest that keeps
    the page readable. full: labels were asked for by name, so they are never left out. target: what surrounds the panels.
    fit: the room around what is written. fitted: the frames, where they are known, and scale: of them and their letters.
    """
    figure = once(figure)
    margin = target.margin
    found = fitted or fit_panels(figure, (width - 2 * margin) if width else None, cell, full, fit)
    framed, places, panels_w, panels_h = found
    places, panels_w, panels_h = [(x * scale, y * scale) for x, y in places], panels_w * scale, panels_h * scale
    outer = Outer(figure, framed, places, scale)
    places, panels_w, panels_h = [(x + outer.left, y + outer.top) for x, y in places], panels_w + outer.left, panels_h + outer.top
    sizes = [(frame.width * scale, frame.height * scale) for frame in framed]
    named = {joined(mark.lines) for frame in framed for mark in frame.marks}
    labelled = all(frame.detail < Detail.COLOUR for frame in framed)
    legends = told(figure, named, labelled) if target.legend else []
    words = [legend.title for legend in legends if not legend.entries] if target.head else []  # whose names stand on the cells
    legends = [legend for legend in legends if legend.title not in words]
    below = strips(figure.insets, (width or SIDE_LEGEND) - 2 * margin, target.least)
    if below:
        panels_w = max(panels_w, *(strip.width for strip in below))
    places_h = panels_h + (GAP / 2 if panels_h and below else 0.0)
    panels_h = places_h + sum(strip.height for strip in below)
    room = width - 2 * margin if width else SIDE_LEGEND + GAP + LEGEND_WIDTH
    wide, column = columns(legends)
    corner = free_place(figure, legends, places, sizes, column)
    column = wide if corner is None and panels_w + GAP + wide <= room else column
    beside = bool(legends) and corner is None and panels_w + GAP + column <= room
    inner = panels_w + (GAP + column if beside else 0)
    if target.is_landscape and target.head:
        inner = max(inner, min(room, TITLE_LETTER * len(figure.title), 2 * NARROWEST))
    elif target.head or target.notes:
        inner = max(inner, min(NARROWEST, room))
    elif legends:
        inner = max(inner, room)
    journey = figure.kind == "journey"  # whose cells are too many for labels, which text and HTML have
    mute = not journey and all(frame.detail >= Detail.COLOUR and any(frame.panel.labels) for frame in framed)
    blocks = [frame.panel.caption for frame in framed if frame.detail >= Detail.COLOUR]
    head = prose(heading(figure, not mute, words, blocks), inner, margin, margin) if target.head else []
    top = (head[-1].y + head[-1].size * 0.8 + 10) if head else margin + (10 if target.head else 0)
    legend = Key(legends, corner[2] if corner else column if beside else inner, beside or corner is not None)
    legend_h = 0.0 if corner or not legends else legend.height + (0 if beside else GAP)
    order = "" if journey else undrawn(figure.arrows, framed)
    if order:
        steps = Line(f"Steps {order}", margin, top + panels_h + GAP / 2, SIZES[0], TEXT)
        panels_h += GAP
    body_h = max(panels_h, legend_h) if beside else panels_h + legend_h
    sentences = (*figure.notes, *(() if journey else _left_out(framed)), fact_line(figure)) if target.notes else ()
    notes = prose([Words(note, 12) for note in sentences], inner, 0, margin)
    notes = [line._replace(y=line.y + top + body_h + 12) for line in notes]
    height = top + body_h + (sum(line.size * 1.6 for line in notes) + 12 if notes else 0) + margin
    dx, dy = corner[:2] if corner else ((panels_w + GAP, 0.0) if beside else (0.0, panels_h + GAP))
    swatches, entries = legend.placed(margin + dx, top + dy) if legends else ([], [])
    origins = [((margin + x) / scale, (top + y) / scale) for x, y in places]  # in px before they are scaled
    cells = [(x + f.left, y + f.top, f.cell_w, f.cell_h) for f, (x, y) in zip(framed, origins, strict=True)]
    grids = [Grid(panel.rows, panel.cols, *where) for panel, where in zip(figure.panels, cells, strict=True)]

    def items() -> list[Primitive]:
        drawn: list[Primitive] = []
        for n, (frame, grid, (_, y)) in enumerate(zip(framed, grids, origins, strict=True)):
            drawn += draw(frame, grid, y, crossed(figure.arrows, n, figure.panels))
        if journey and fitted is not None:
            drawn += lanes.movements(figure.arrows, framed, grids, target.least)
        else:
            drawn += arrows(figure.arrows, framed, grids)
            for n, (frame, grid) in enumerate(zip(framed, grids, strict=True)):
                drawn += on_paper(frame, grid, crossed(figure.arrows, n, figure.panels))
        drawn = drawn if scale == 1 else [scaled(item, scale) for item in drawn]
        at = top + places_h
        for strip in below:
            drawn += strip.items(margin, at)
            at += strip.height
        return [*drawn, *outer.lines(margin, top), *swatches, *head, *([steps] if order else ()), *entries, *notes]

    panels = tuple(
        [Place(f.panel, f.detail, grid.scaled(scale), f.named, f.is_outlined) for f, grid in zip(framed, grids, strict=True)]
    )
    return Page(figure, inner + 2 * margin, height, panels, items)


def _left_out(fitted: Sequence[PanelFrame]) -> list[str]:
    """What the level of detail does not show, in words."""
    cells = sum(frame.panel.rows * frame.panel.cols for frame in fitted)
    if (smallest := min((frame.cell_w for frame in fitted if frame.detail == Detail.RASTER), default=1.0)) < 1:
        step = round(1 / smallest)
        return [f"A pixel is the first of {step} × {step} cells."]
    if any(frame.detail == Detail.FULL for frame in fitted) or not any(any(frame.panel.labels) for frame in fitted):
        return []
    if fitted[0].detail == Detail.VECTOR or any(frame.marks for frame in fitted):
        return []
    return [f"The labels of {cells} cells are left out at this size."]
