"""The drawings of a figure that a place is tried with, the richest first: its cells, its blocks, the unit that repeats.

*Cells*: a label for each cell, or for each box of them. *Blocks*: colour, with the name of what a warp, a band of offsets, a tile
or a core matrix covers. *Unit x N*: the part that repeats, and how often. Panels of one product keep their places and share the
size of their cells at every level; others may differ in level, so that a large panel does not take the labels of a small one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from cute_viz.figures.model import Arrow, Figure, Panel, Ruler
from cute_viz.figures.repeats import repeated, threads_of
from cute_viz.figures.trim import abridged, cut, lying
from cute_viz.renderers.arrows import ROOM
from cute_viz.renderers.fitting import has_text
from cute_viz.renderers.frame import LARGEST, LOOSE, TIGHT, TIGHTEST, Detail, Fit
from cute_viz.renderers.geometry import CAPTION, CHAR, FONT, SMALL
from cute_viz.renderers.marks import has_vectors
from cute_viz.renderers.targets import Target
from cute_viz.renderers.ways import squared

SCALES = (1.5, 1.25, 1.1, 1.0, 0.9, 9 / 11, 8 / 11)  # of cells and letters
SIZES = (24.0, 18.0, 14.0, 10.0, 8.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0)  # px of cells beside panels with labels
NAMED = 2  # owners of a cell that its label names; of more it has how many
SEEN = 10.0  # of these, what is seen well
MOST_MIXED = 6  # panels of which some have labels, and some are blocks
WORDED = ("difference", "exercise")  # kinds of figures whose labels are the point: all or none of them, however many
FEWEST = 8, 4  # rows, and columns, of an excerpt
NARROW = 420.0  # px of a place, in which what is compared may stand in rows of two
STRETCH = (3.0, 2.5, 2.0, 1.5)  # of cells where one side of a place has room left
FLAT, WIDEST_FLAT = 4, 256  # times as wide as high is a flat panel; columns of one whose cells are seen
AROUND = 6.0  # px beside the names of blocks
MANY = 2048  # cells, of which the unit that repeats is tried; fewer where few labels are read


class Drawing(NamedTuple):
    """One way to draw a figure: of each panel its level of detail; the size of cells in blocks; scale of cells and letters."""

    figure: Figure
    details: tuple[Detail, ...]
    fit: Fit
    scale: float = 1.0
    cell: float | None = None


def drawings(figure: Figure, target: Target) -> Iterator[Drawing]:
    """The drawings with labels, the richest first; what fits none of them is drawn in blocks, whose size follows from the place."""
    scales = [s for s in SCALES if s <= target.grows and s * FONT >= target.least - 1e-6]
    ways = list(arranged(figure, target))
    slices = figure.kind == "operation" and any("(_,_" in panel.caption for panel in figure.panels)
    slices = slices or figure.kind == "bulk"  # which stand side by side, if only in a smaller size
    tries = [([way], scales) for way in ways] if slices else [(ways, scales)]
    if figure.kind == "operation" and not slices:  # operands and result in a row, as one reads them, before in larger cells
        tries[:0] = [([figure], [scale for scale in scales if scale >= 1])]
    for some, tried in tries:
        for scale in tried:
            for fit in (LOOSE, TIGHT, TIGHTEST) if scale == 1 and tried is scales else (LOOSE,) if scale >= 1 else (TIGHT,):
                gap = max(fit.gap, ROOM) if figure.kind == "follow" else fit.gap
                fit = fit._replace(small=max(SMALL, target.least / scale), caption=CAPTION / max(1.0, scale), lines=2, gap=gap)
                for details in _labelled(figure, target.labels if figure.kind not in WORDED else 1 << 16):
                    for line in (False, True)[: 1 + (Detail.VECTOR in details)]:
                        yield from (Drawing(way, details, fit._replace(line=line), scale) for way in some)
    if is_product(figure) or not 1 < len(figure.panels) <= MOST_MIXED or figure.outer or is_comparison(figure):
        return
    if figure.kind in WORDED:
        return
    fit = TIGHT._replace(lines=2)
    order = sorted(range(len(figure.panels)), key=lambda n: -figure.panels[n].rows * figure.panels[n].cols)
    for few in range(1, len(order)):
        rest = replace(figure, panels=tuple([figure.panels[n] for n in sorted(order[few:])]))
        for details in _labelled(rest, target.labels):
            told = dict(zip(sorted(order[few:]), details, strict=True))
            every = tuple([told.get(n, Detail.COLOUR) for n in range(len(order))])
            sizes = [(scale, size) for scale in sorted({1.0, scales[-1]}, reverse=True) for size in SIZES]
            for scale, size in sorted(sizes, key=lambda pair: pair[1] < SEEN):  # before blocks are slivers, letters are smaller
                for way in ways:
                    yield Drawing(way, every, fit._replace(small=max(SMALL, target.least / scale)), scale, size)


def _labelled(figure: Figure, most: int) -> Iterator[tuple[Detail, ...]]:
    """Levels of detail at which every panel with labels shows them, all cells first: none where that is too many."""
    choices: list[list[Detail]] = []
    counts = [0, 0]
    for panel in figure.panels:
        if not any(panel.labels):
            choices.append([Detail.COLOUR, Detail.COLOUR])
            continue
        boxed = figure.kind != "exercise" and has_vectors(replace(figure, panels=(panel,)))  # whose key has what each blank is
        full = len(panel.labels) - panel.labels.count("")
        many = len(panel.boxes) if boxed else full
        boxed &= len(panel.boxes) > 1  # what one owner has all of, it has by its values
        crowded = any(len(mine) > NAMED for _, mine in panel.owners)  # whose cells have a number of owners each
        once = boxed and (crowded or _is_repeated(panel))  # the name of each box, as often as it has cells
        choices.append([Detail.VECTOR if once else Detail.FULL, Detail.VECTOR if boxed else Detail.FULL])
        counts = [counts[0] + (many if once else full), counts[1] + many]
    if not has_text(figure):
        return
    for n, count in enumerate(counts):
        if count <= most and (n == 0 or choices != [[first, first] for first, _ in choices]):
            yield tuple([mine[n] for mine in choices])


def _is_repeated(panel: Panel) -> bool:
    """Whether the cells of each box, several of them, have one label, if any."""
    for r0, c0, r1, c1 in panel.boxes:
        labels = {label for r in range(r0, r1) for label in panel.labels[r * panel.cols + c0 : r * panel.cols + c1]}
        if (r1 - r0) * (c1 - c0) < 2 or len(labels - {""}) != 1:
            return False
    return True


def cell_of(drawn: Drawing, panel: Panel, detail: Detail) -> tuple[float | None, Fit]:
    """The width of a cell, and the room around: in blocks of few columns beside labels it is as wide as their names ask for."""
    if detail < Detail.COLOUR or drawn.cell is None:
        return None, drawn.fit
    names = [len(entry.label) for legend in drawn.figure.legends_of(panel)[:1] for entry in legend.entries]
    wide = (max(names, default=0) * CHAR * FONT + AROUND) / panel.cols
    if wide <= drawn.cell or panel.rows < FLAT * panel.cols:
        return drawn.cell, drawn.fit
    return wide, drawn.fit._replace(exact=drawn.cell)


def units(figure: Figure, target: Target) -> Figure | None:
    """The figure as the unit that it repeats; None of few cells, of cells without labels, and where nothing repeats."""
    many = sum(len(panel.paints) for panel in figure.panels) > min(MANY, target.labels)
    return repeated(figure) if many and has_text(figure) else None


def further(figure: Figure, whole: bool) -> Figure | None:
    """The figure as the unit whose threads are further on in the next; None of none. whole: of a single panel, its warps alone."""
    if (whole and len(figure.panels) > 1) or not has_text(figure):
        return None
    unit = repeated(figure, further=True)
    cells = unit.panels[0] if unit else None
    return unit if cells and (not whole or 1 + max(t for mine in threads_of(cells) for t in mine) == cells.warp) else None


def excerpts(figure: Figure) -> Iterator[Figure]:
    """Of what differs between two objects ever smaller parts, each with the first cell that does; none of other figures."""
    if figure.kind != "difference":
        return
    sizes = {(panel.rows, panel.cols) for panel in figure.panels}
    differs = next((panel.data["differs"] for panel in figure.panels if any(panel.data["differs"])), ())
    if len(sizes) > 1 or not differs:
        return
    rows, cols = whole = sizes.pop()
    r, c = divmod(differs.index(1), cols)
    while rows > FEWEST[0] or cols > FEWEST[1]:
        rows, cols = (max(FEWEST[0], rows // 2), cols) if rows > FEWEST[0] else (rows, max(FEWEST[1], cols // 2))
        top, left = r // rows * rows, c // cols * cols
        bottom, right = min(top + rows, whole[0]), min(left + cols, whole[1])
        words = [f"rows {top}..{bottom - 1} of {whole[0]}"] * (rows < whole[0]) + [f"columns {left}..{right - 1} of {whole[1]}"] * (
            cols < whole[1]
        )
        yield replace(
            figure,
            panels=tuple(
                [
                    replace(
                        cut(panel, top, bottom, left, right), caption=": ".join(filter(None, (panel.caption, ", ".join(words))))
                    )
                    for panel in figure.panels
                ]
            ),
        )


def arranged(figure: Figure, target: Target) -> Iterator[Figure]:
    """The figure as it is; where its panels are not a product, in a row, in shorter rows and below each other."""
    yield figure
    n = len(figure.panels)
    if n == 1 or is_product(figure) or figure.outer:
        return
    if any(not arrow.head for arrow in figure.arrows):  # frames, each of two panels that lines join
        deep = 1 + max(panel.place[0] for panel in figure.panels)
        yield _placed(figure, [(row + deep * col, 0) for row, col in (panel.place for panel in figure.panels)])
        return
    if n > 2 and figure.kind == "operation":  # A above the others
        yield _placed(figure, [(0, 0), *[(1, k) for k in range(n - 1)]])
    if figure.kind == "page" and figure.arrows and not is_comparison(figure):  # two wide ones are as wide as several others
        yield _placed(figure, _rows_of([panel.cols for panel in figure.panels]))
    across = sorted({n, *range(1, 7)}, reverse=target.is_landscape or bool(figure.arrows))
    even = (
        (1, n) if is_comparison(figure) and (target.width or NARROW) >= NARROW else (1, 2, n) if is_comparison(figure) else across
    )
    for shown in [figure, abridged(figure)] if figure.kind == "follow" else [figure]:
        for columns in [columns for columns in across if columns <= n and columns in even]:
            places = [divmod(k, columns) for k in range(n)]
            if shown.kind == "follow":  # there and back, so that each goes on in one beside or below it
                yield _wound(shown, places, columns)
            if shown is not figure or places != [panel.place for panel in figure.panels]:
                yield _placed(shown, places)


def _rows_of(widths: Sequence[int]) -> list[tuple[int, int]]:
    """Places in rows that are as wide as two of the widest, at most."""
    places, row, wide = list[tuple[int, int]](), 0, 0
    for width in widths:
        row, wide = (row + 1, 0) if wide + width > 2 * max(widths) else (row, wide)
        places.append((row, sum(place[0] == row for place in places)))
        wide += width
    return places


def _placed(figure: Figure, places: Sequence[tuple[int, int]]) -> Figure:
    return replace(figure, panels=tuple([replace(panel, place=at) for panel, at in zip(figure.panels, places, strict=True)]))


def _wound(figure: Figure, places: Sequence[tuple[int, int]], columns: int) -> Figure:
    """The figure with every other row of panels from right to left, and one arrow down from each row to the next."""
    turned = [(row, columns - 1 - col if row % 2 else col) for row, col in places]
    down = {(a.source, a.target) for a in figure.arrows if turned[a.source][0] != turned[a.target][0]}
    arrows = [_leftward(figure, a) if turned[a.target][1] < turned[a.source][1] else a for a in figure.arrows]
    arrows = [a for a in arrows if (a.source, a.target) not in down]
    return replace(_placed(figure, turned), arrows=(*arrows, *[Arrow(*pair) for pair in sorted(down)]))


def _leftward(figure: Figure, arrow: Arrow) -> Arrow:
    """An arrow to a panel at the left: from the first box of its row to the last."""
    ends = [
        [box for box in figure.panels[n].boxes if box[0] == at[0] and at]
        for n, at in ((arrow.source, arrow.start), (arrow.target, arrow.end))
    ]
    return (
        replace(arrow, start=min(ends[0], key=lambda box: box[1]), end=max(ends[1], key=lambda box: box[3])) if all(ends) else arrow
    )


def is_comparison(figure: Figure) -> bool:
    """Whether panels of several objects have as many rows and columns, so that their cells are compared."""
    return figure.kind == "page" and len({(panel.rows, panel.cols) for panel in figure.panels}) == 1


def is_product(figure: Figure) -> bool:
    """Whether panels stand as the operands of a product do: A at the left, B above, C between; further ones below or beside."""
    return {(0, 1), (1, 0), (1, 1)} <= {panel.place for panel in figure.panels} and (0, 0) not in {p.place for p in figure.panels}


def stretched(figure: Figure, target: Target, size: float) -> list[tuple[float, float]]:
    """How much wider, or higher, than the square that fits cells may be: where panels leave a slide empty, and of few long rows."""
    one, *more = figure.panels
    if not more and FLAT * one.rows <= one.cols <= WIDEST_FLAT:
        return [(1.0, share) for share in (6.0, 4.0, *STRETCH) if share * size <= LARGEST]
    return [(share, 1.0) for share in STRETCH] if target.is_landscape and (not more or is_product(figure)) else []


def prepared(figure: Figure) -> Figure:
    """The figure as a place with a height has it: what has one mode lies flat, rulers side by side are one, and labels that are the
    names of hues stand on blocks of these."""
    panels = list(lying(squared(figure)).panels)
    names = {(entry.paint, entry.label) for legend in figure.legends for entry in legend.entries if " " in entry.label}
    panels = [replace(p, labels=()) if {*zip(p.paints, p.labels, strict=False)} <= names else p for p in panels]
    if figure.outer:
        panels = [replace(panel, caption="") for panel in panels]
    if not is_product(figure) and not figure.outer:  # modes are named once
        told = [(panel.row_ruler.title, panel.col_ruler.title) for panel in panels]
        for n in [n for n, titles in enumerate(told) if titles in told[:n]]:
            rulers = replace(panels[n].row_ruler, title=""), replace(panels[n].col_ruler, title="")
            panels[n] = replace(panels[n], row_ruler=rulers[0], col_ruler=rulers[1])
    if is_product(figure) or figure.outer:
        beside: dict[tuple[int, int], Ruler] = {}
        above: dict[tuple[int, int], Ruler] = {}
        for n in sorted(range(len(panels)), key=lambda n: panels[n].place):
            panel, (row, col) = panels[n], panels[n].place
            rows, cols = beside.get((row, panel.rows)), above.get((col, panel.cols)) if figure.outer else None
            beside.setdefault((row, panel.rows), panel.row_ruler)
            above.setdefault((col, panel.cols), panel.col_ruler)
            panels[n] = replace(
                panel,
                row_ruler=_mute(rows, panel.row_ruler) if rows else panel.row_ruler,
                col_ruler=_mute(cols, panel.col_ruler)
                if cols
                else replace(panel.col_ruler, title="")
                if figure.outer and col
                else panel.col_ruler,
            )
    return replace(figure, panels=tuple(panels))


def _mute(told: Ruler, ruler: Ruler) -> Ruler:
    """A ruler without words, where the one at its side has the same."""
    same = (told.title, told.labels) == (ruler.title, ruler.labels)
    return Ruler("", ("",) * len(ruler.labels), ruler.levels) if same else ruler
