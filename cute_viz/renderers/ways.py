"""The arrangements of a figure's panels that a place is tried with: in rows, in columns, in bands, in the unit that repeats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cute_viz.figures.model import Figure, Panel
from cute_viz.figures.repeats import repeated
from cute_viz.figures.trim import abridged, in_bands

WIDE = 32  # columns of a panel of a page that has a row of its own
BANDS = (2, 3, 4, 6, 8)  # that a panel too wide for its target is folded into
MANY = 2048  # cells, of which the unit that repeats is tried: what an instruction holds is drawn whole


def arranged(figure: Figure, landscape: bool = False) -> Iterator[tuple[Figure, bool]]:
    """The figure as it is, in bands, in shorter rows, its panels on top of each other; with labels of two lines, and of one.

    landscape: with all panels in one row first.

    >>> from cute_viz import figure
    >>> [len(drawn.panels) for drawn, line in arranged(figure("(2,8):(8,1)")) if not line]
    [1, 1, 2, 3, 4, 4, 8]
    """
    if any(not arrow.head for arrow in figure.arrows):  # frames, each of two panels that lines join
        return ((drawn, line) for drawn in (figure, _in_one_column(figure)) for line in (False, True))
    return ((drawn, line) for drawn in _ways(figure, landscape) for line in (False, True))


def _ways(figure: Figure, landscape: bool) -> Iterator[Figure]:
    """The arrangements, the likely ones first; of very many cells the unit that they repeat is one."""
    yield figure
    if figure.kind == "heat":  # an image may be in bands, without its corner
        figure = replace(figure, panels=figure.panels[:1])
    of_stages = figure.kind == "page" and bool(figure.arrows)
    if landscape and len(figure.panels) > 1 and not of_stages:
        yield _in_one_row(figure)
    if sum(len(panel.paints) for panel in figure.panels) > MANY and (unit := repeated(figure)) is not None:
        yield from [unit, *filter(None, (in_bands(unit, n) for n in BANDS[:3]))]
    if of_stages:
        if landscape:
            yield _flowed(figure, len(figure.panels), 2 * WIDE)
        yield from (_flowed(figure, n) for n in (len(figure.panels), 3, 2))
    elif figure.arrows:
        for drawn in (figure, abridged(figure)):
            yield from (*(_in_rows(drawn, n) for n in (len(drawn.panels), 3, 2)), _paired(drawn))
    if (aside := _side_by_side(figure)) is not None:
        yield aside
    stacked = replace(figure, panels=tuple([replace(panel, place=(n, 0)) for n, panel in enumerate(figure.panels)]))
    yield stacked
    yield from filter(None, (in_bands(figure if has_groups(figure) else stacked, n) for n in BANDS))


def _in_one_column(figure: Figure) -> Figure:
    """The figure with its columns of panels below each other."""
    deep = 1 + max(panel.place[0] for panel in figure.panels)
    return replace(
        figure, panels=tuple([replace(panel, place=(panel.place[0] + deep * panel.place[1], 0)) for panel in figure.panels])
    )


def _in_one_row(figure: Figure) -> Figure:
    """The figure with all panels beside each other: as they are numbered, A, B and C of an MMA in the order of the alphabet."""
    places = [panel.place for panel in figure.panels]
    order = sorted(places, key=lambda place: place[::-1] if _is_product(figure) else place)
    row = [n if figure.arrows or len(set(places)) < len(places) else order.index(place) for n, place in enumerate(places)]
    return replace(figure, panels=tuple([replace(panel, place=(0, n)) for panel, n in zip(figure.panels, row, strict=True)]))


def _paired(figure: Figure) -> Figure:
    """The figure with the last two panels beside each other, in columns of their own, the others each in a row."""
    last = len(figure.panels) - 1
    places = [*[(n, 0) for n in range(last - 1)], (last - 1, 1), (last - 1, 2)][-last - 1 :]
    return replace(figure, panels=tuple([replace(panel, place=p) for panel, p in zip(figure.panels, places, strict=True)]))


def _is_product(figure: Figure) -> bool:
    """Whether three panels stand as the operands of an MMA do."""
    return {panel.place for panel in figure.panels} == {(0, 1), (1, 0), (1, 1)}


def _side_by_side(figure: Figure) -> Figure | None:
    """The operands of an MMA with A beside C, whose rows are the same and ruled once, and B below; None of other figures."""
    at = {panel.place: panel for panel in figure.panels}
    if not _is_product(figure):
        return None
    a, b, c = at[1, 0], at[0, 1], at[1, 1]
    if a.row_ruler.labels != c.row_ruler.labels:
        return None
    unruled = replace(c.row_ruler, title="", labels=("",) * c.rows)
    return replace(figure, panels=(replace(a, place=(0, 0)), replace(c, place=(0, 1), row_ruler=unruled), replace(b, place=(1, 0))))


def _in_rows(figure: Figure, columns: int) -> Figure:
    """The figure with so many panels to a row: steps, whose order their numbers tell."""
    return replace(figure, panels=tuple([replace(panel, place=divmod(n, columns)) for n, panel in enumerate(figure.panels)]))


def _flowed(figure: Figure, columns: int, wide: int = WIDE) -> Figure:
    """The figure with so many panels to a row; one of more than `wide` columns has its own."""
    places, row, col, before = [], 0, 0, 0
    for panel in figure.panels:
        if col and (col == columns or panel.cols > wide or (panel.cols > WIDE) != (before > WIDE)):
            row, col = row + 1, 0
        places.append((row, col))
        row, col = (row + 1, 0) if panel.cols > wide else (row, col + 1)
        before = panel.cols
    return replace(figure, panels=tuple([replace(panel, place=at) for panel, at in zip(figure.panels, places, strict=True)]))


def blocks(panels: Sequence[Panel]) -> list[tuple[Panel, ...]]:
    """Panels that stand beside each other, and those of an MMA: the row of its B alone has nothing at the left.

    >>> from cute_viz import figure
    >>> [len(block) for block in blocks(figure("SM80_16x8x16_F32F16F16F32_TN").panels)]
    [3]
    """
    rows: dict[int, list[Panel]] = {}
    for panel in panels:
        rows.setdefault(panel.place[0], []).append(panel)
    out: dict[int, list[Panel]] = {}
    for row, line in sorted(rows.items(), reverse=True):
        below = row + 1 if row + 1 in rows and min(panel.place[1] for panel in line) else row
        out.setdefault(below, []).extend(line)
    return [tuple(sorted(block, key=panels.index)) for _, block in sorted(out.items())]


def shelves(sizes: Sequence[tuple[float, float]], room: float, gap: float) -> tuple[list[tuple[float, float]], float, float]:
    """Where things stand in rows, in their order, low ones on top of each other beside a high one; the size of all.

    >>> shelves([(10, 30), (10, 10), (10, 10), (30, 5)], 40, 2)
    ([(0.0, 0.0), (12.0, 0.0), (12.0, 12.0), (0.0, 32.0)], 30.0, 37.0)
    """
    places: list[tuple[float, float]] = []
    x = y = wide = deep = high = across = 0.0  # of the column at hand: its left, width and depth; of the row: its top and height
    for w, h in sizes:
        if places and deep + gap + h <= high and x + max(w, wide) <= room:
            places.append((x, y + deep + gap))
            deep, wide = deep + gap + h, max(wide, w)
        elif not places or x + wide + gap + w <= room:
            x = x + wide + gap if places else 0.0
            places.append((x, y))
            wide, deep, high = w, h, max(high, h)
        else:
            x, y = 0.0, y + high + gap
            places.append((x, y))
            wide, deep, high = w, h, h
        across = max(across, x + wide)
    return places, across, y + high


def has_groups(figure: Figure) -> bool:
    """Whether panels belong together as those of an MMA do: apart, without labels, groups of owners still tell what is where.

    >>> from cute_viz import figure
    >>> has_groups(figure("SM80_16x8x16_F32F16F16F32_TN")), has_groups(figure("(2,8):(8,1)"))
    (True, False)
    """
    return len(figure.panels) > 1 and any("thread" in panel.data for panel in figure.panels)


def in_brief(figure: Figure) -> Figure:
    """The figure with captions of few words.

    >>> from cute_viz import figure
    >>> in_brief(figure("ampere_gemm")).panels[2].caption
    '3. ldmatrix: A, tile 1 of 4 × 4'
    """
    panels, told = [], ""
    for panel in figure.panels:
        caption = _brief(panel.caption)
        stage, _, what = caption.partition(": ")
        number = stage.partition(". ")[0]
        if what and stage == told and number.isdigit():  # the panel before it says of which stage it is
            caption = f"{number}. {what}"
        panels.append(replace(panel, caption=caption))
        told = stage
    return replace(figure, panels=tuple(panels))


def _brief(caption: str) -> str:
    """A caption in few words: the middle of a list is left out, and what a second colon explains.

    >>> _brief("3. ldmatrix: A, shared memory to registers, tile 1 of 4 × 4"), _brief("2. sA: banks, 4 bytes: the first")
    ('3. ldmatrix: A, tile 1 of 4 × 4', '2. sA: banks')
    """
    parts = caption.split(": ")
    first, *more = ": ".join(parts[:2]).split(", ")
    return ", ".join([first, *more[-1:]]) if len(parts) < 3 else first


def once(figure: Figure) -> Figure:
    """A copy whose source and destination are equal, with one panel for both.

    >>> from cute_viz import figure
    >>> [len(drawn.panels) for one in ("UniversalCopy<uint32_t>", "SM75_U32x1_LDSM_N") for drawn in [once(figure(one))]]
    [1, 2]
    """
    if figure.kind != "copy" or len(figure.panels) != 2:
        return figure
    source, destination = figure.panels
    words = f"{source.caption}; {destination.caption}"
    alike = replace(destination, caption=words, place=source.place) == replace(source, caption=words)
    return replace(figure, panels=(replace(source, caption=words),)) if alike else figure
