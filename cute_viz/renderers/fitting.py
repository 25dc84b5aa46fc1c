"""Frames of panels at the level of detail that keeps a page readable, and where they stand: on a page without a height."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from cute_viz.figures.model import Figure, Panel
from cute_viz.renderers.frame import GAP, LARGEST, Detail, Fit, PanelFrame, caption_width, frames, resized
from cute_viz.renderers.geometry import arrange, shared_sizes
from cute_viz.renderers.marks import has_vectors
from cute_viz.renderers.ways import blocks, shelves

SHELF = 1560.0  # px of the objects of a file side by side
OBJECT = (560.0, 320.0, 12.0)  # px that the cells of one take at most, and one cell without a label
MOST_CELLS = 100_000  # more are pixels of an image, unless their text was asked for
VECTORS_FROM = 1400.0  # px from which on a label for each box is better than one for each cell, where boxes tell all
ROOMY = 1600.0  # px that panels of colours take
IMAGE = 2048, 200.0  # px that an image of cells takes at least, where there are so many: in any room, and in the narrowest
WIDEST = 2600.0  # px that panels with every label may take before labels are left out
SMALL_STAGE = (600.0, 420.0)  # px that the cells of a stage take at most with labels
FEW = (110.0, 240.0)  # px across and down that the cells of a stage take where they are few


def of_stage(figure: Figure, panel: Panel, cell: float, fit: Fit, most: tuple[float, float] = SMALL_STAGE) -> PanelFrame:
    """The frame of a stage: with its labels where they take little room, else in colours.

    most: px of little room.
    """
    alone = replace(figure, panels=(panel,))
    few = min(2 * cell, LARGEST, *(float(int(room / n)) for room, n in zip(FEW, (panel.cols, panel.rows), strict=True)))
    details = [Detail.FULL] * any(panel.labels) + [Detail.VECTOR] * has_vectors(alone)
    for detail in details:
        (frame,) = frames(alone, detail, fit=fit)
        if panel.cols * frame.cell_w <= most[0] and panel.rows * frame.cell_h <= most[1]:
            larger = detail == Detail.VECTOR and frame.cell_w < few
            return frames(alone, detail, cell=few, fit=fit)[0] if larger else frame
    size = max(cell, few) if cell >= 3 else cell
    return frames(alone, Detail.RASTER if cell < 3 else Detail.COLOUR, cell=size, fit=fit)[0]


FLOWS, ARROW = ("bulk", "lanes"), 28.0  # kinds whose panels arrows join, and px between these
Fitted = tuple[list[PanelFrame], list[tuple[float, float]], float, float]


def fit_panels(figure: Figure, room: float | None, cell: float | None, full: bool, fit: Fit) -> Fitted:
    """The frames at the highest level of detail whose cells have the size that is wanted, or that keeps the page readable.

    room: px beside each other; cell, full, fit: as of `page.lay_out`. With the frames, where they stand, and the size of all.
    """
    every = sum(panel.rows * panel.cols for panel in figure.panels)
    if figure.kind == "heat" and [bool(panel.labels) for panel in figure.panels] == [False, True]:
        return _inset(figure, room, cell, fit)
    if figure.kind == "file" and not full:
        return _shelved(figure, room or SHELF, cell, fit)
    text, whole = has_text(figure), None
    if cell is None and (full or (text and every <= 4 * MOST_CELLS)):
        whole = aligned(figure, frames(figure, Detail.FULL, fit=fit))
        if full or whole[2] <= (room or VECTORS_FROM):
            return whole
    most = cell * max(panel.cols for panel in figure.panels) if cell else room or WIDEST
    vectors = text and has_vectors(figure, most, fit.pad)
    if whole is not None and not room and not vectors and whole[2] <= WIDEST:
        return whole
    if cell is not None:
        for detail in [Detail.FULL] * text + [Detail.VECTOR] * vectors:
            if all(frame.cell_w <= cell for frame in frames(figure, detail, fit=fit)):
                return aligned(figure, frames(figure, detail, cell=cell, fit=fit))
        if figure.kind == "page" and figure.arrows and fit.gap == GAP:
            return aligned(figure, [of_stage(figure, panel, cell, fit) for panel in figure.panels])
        detail = Detail.RASTER if cell < 3 or every > MOST_CELLS else Detail.COLOUR
        return aligned(figure, frames(figure, detail, cell=cell, fit=fit))
    if vectors:
        fitted = aligned(figure, frames(figure, Detail.VECTOR, fit=fit))
        if fitted[2] <= (room or WIDEST):
            return fitted
    return _colours(figure, room or ROOMY, every, fit)


def _inset(figure: Figure, room: float | None, cell: float | None, fit: Fit) -> Fitted:
    """The frames of an image, and of a corner of it with its labels, or in colours where these have no room."""
    image = replace(figure, panels=figure.panels[:1])
    first = fit_panels(image, room, cell, False, fit)[0][0]
    most = room or max(first.width, WIDEST / 2)
    corner = of_stage(figure, figure.panels[1], LARGEST, fit, (most - first.left, IMAGE[0] / 2))
    if corner.width > most:
        size = float(max(1, int((most - corner.left - 2) / corner.panel.cols)))
        (corner,) = frames(replace(figure, panels=figure.panels[1:]), Detail.COLOUR, cell=size, fit=fit)
    return aligned(figure, [first, corner])


def _shelved(figure: Figure, room: float, cell: float | None, fit: Fit) -> Fitted:
    """The frames of all objects of a file, each as small as it can be read, on shelves."""
    found: list[PanelFrame] = []
    within: list[list[tuple[float, float]]] = []
    sizes = []
    narrow = min(1.0, max(0.55, room / SHELF))
    for block in blocks(figure.panels):
        part = replace(figure, kind="page", panels=block)
        across, down = [
            sum(max(size for at, size in ends if at == place) for place in {at for at, _ in ends})
            for ends in ([(p.place[1], p.cols) for p in block], [(p.place[0], p.rows) for p in block])
        ]
        most = min(room - 60 * len({p.place[1] for p in block}), OBJECT[0])
        fits: tuple[float, ...] = (min(most, OBJECT[0] * narrow) / across, OBJECT[1] * narrow / down)
        if cell:  # and more where that takes no room
            fits = (max(min(cell, 28 * cell / down), min(fit.narrow / across, 16 * cell / down)),)
        size = min(OBJECT[2], *fits)
        size = float(int(size)) if size >= 1 else 1 / ceil(1 / size)
        own = fit._replace(narrow=min(max(fit.narrow, *(caption_width(p.caption) for p in block)), room / 2))
        mine = [] if cell else [of_stage(part, panel, size, own, (most, OBJECT[1])) for panel in block]
        if cell or max(frame.detail for frame in mine) >= Detail.COLOUR:
            mine = frames(part, Detail.RASTER if size < 3 else Detail.COLOUR, cell=size, fit=own._replace(thick=len(mine) == 1))
        mine, places, w, h = aligned(part, mine)
        found += mine
        within.append(places)
        sizes.append((w, h))
    corners, w, h = shelves(sizes, room, fit.gap)
    return found, [(x + dx, y + dy) for (x, y), inner in zip(corners, within, strict=True) for dx, dy in inner], w, h


def has_text(figure: Figure) -> bool:
    """Whether any cell of the figure has a label at all."""
    return any(any(panel.labels) for panel in figure.panels)


def _colours(figure: Figure, room: float, every: int, fit: Fit) -> Fitted:
    """Cells of colour, as large as the room allows; all panels have cells of one size."""
    first = aligned(figure, frames(figure, Detail.RASTER, cell=10.0, fit=fit))
    across: dict[int, tuple[int, float]] = {}
    for panel, frame in zip(figure.panels, first[0], strict=True):
        cols, left = across.get(panel.place[1], (0, 0.0))
        across[panel.place[1]] = max(cols, panel.cols), max(left, frame.left)
    cols = sum(cols for cols, _ in across.values())
    used = sum(left for _, left in across.values()) + fit.gap * (len(across) - 1) + 2 * len(across)
    size = min(LARGEST, max((room - used) / cols, 1 / ceil(cols / min(IMAGE[0], max(room - used, IMAGE[1])))))
    size = float(int(size)) if size >= 1 else size
    detail = Detail.RASTER if size < 3 or every > MOST_CELLS else Detail.COLOUR
    return aligned(figure, frames(figure, detail, cell=size, fit=fit))


def aligned(figure: Figure, found: list[PanelFrame]) -> Fitted:
    """The frames with sizes such that panels line up, where they stand, and the size of all."""
    shared = shared_sizes(figure.panels, [(f.cell_w, f.cell_h, f.left, f.top) for f in found])
    found = [resized(figure, frame, size) for frame, size in zip(found, shared, strict=True)]
    places, w, h = arrange(
        [panel.place for panel in figure.panels],
        [(frame.width, frame.height) for frame in found],
        max(found[0].fit.gap, ARROW * (figure.kind in FLOWS)) if found else GAP,
        figure.kind == "page" and bool(figure.arrows),
    )
    return found, places, w, h
