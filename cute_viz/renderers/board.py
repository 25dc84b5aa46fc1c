"""A board: panels of any size, the shapes over them and what goes from one to the next, as large as the target lets them be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cute_viz.errors import FigureError
from cute_viz.figures.model import Arrow, Figure, Panel
from cute_viz.renderers import Options
from cute_viz.renderers import primitives as p
from cute_viz.renderers.frame import Detail
from cute_viz.renderers.legend import Key, Words, prose, told
from cute_viz.renderers.placed import Page, Place
from cute_viz.renderers.shapes import arrows as pointed
from cute_viz.renderers.shapes import broad
from cute_viz.renderers.sheet import UNDER, Sheet, Size
from cute_viz.renderers.targets import target_of

WIDTH, HEIGHT = 700.0, 900.0  # px of a target that has no such measure
LARGEST, SMALLEST = 38.0, 0.25  # px of a cell
LARGE = 28.0  # px of one than which none needs to be larger
TITLE = 17.0  # px of the title
SLIM = 420.0  # px of a place in which few panels stand beside each other
BELOW = 14.0  # px above the legend, and above the notes
GAP, WEDGE, SIGN = 26.0, 44.0, 40.0  # px between panels, where a wedge is, where a sign stands


def board_of(figure: Figure, options: Options) -> Page:
    """The page of a figure that is a board: of the ways to arrange its panels the one that lets them be largest. Raises:
    FigureError for panels that are too many for the page."""
    target = target_of(options)
    width, height = min(target.width or WIDTH, options.width or 20000), target.height or HEIGHT
    inside, margin = width - 2 * target.margin, target.margin
    words = [Words(figure.title, TITLE, p.TEXT, weight=600), Words(figure.caption, UNDER)]
    head = prose(words if target.head else [], inside, margin, margin)
    legends = told(figure) if target.legend else []
    key = Key(legends, inside, False) if legends else None
    notes = prose([Words(note, UNDER) for note in figure.notes if target.notes], inside, 0, margin)
    top = (head[-1].y + 16 if head else margin) + 2
    key_h = key.height + BELOW if key else 0.0
    below = key_h + (notes[-1].y + BELOW if notes else 0.0)
    room = inside, height - top - margin - below
    words_w = max([0.0, *(line.x - margin + broad(line) for line in (*head, *notes))])
    best: tuple[tuple[float, ...], _Laid] | None = None
    for lines in _arrangements(figure, target.is_landscape, inside < SLIM):
        laid = _largest(figure, lines, room, options.cell, target.least)
        if laid is None:
            continue
        mute = sum(sheet.is_mute for line in laid.lines for sheet in line)
        wide = laid.width if target.is_landscape else max(laid.width, words_w)
        apart = len(lines) == len(laid.sheets) > 1 and any(arrow.look == "wide" for arrow in figure.arrows)  # no wedge is drawn
        rank = (apart, mute, -round(min(laid.size.cell, LARGE), 2), wide * laid.height)
        if best is None or rank < best[0]:
            best = rank, laid
    if best is None:
        raise FigureError(
            f"{len(figure.panels)} panels do not fit {width:.0f} x {height:.0f} px", hint="`width=`, or fewer objects"
        )
    laid = best[1]
    at = top + laid.height + BELOW
    swatches, entries = key.placed(margin, at) if key else ([], [])
    notes = [line._replace(y=line.y + at + key_h) for line in notes]
    inner = max([laid.width, words_w, *(line.x - margin + broad(line) for line in entries)])
    wide = width if target.is_landscape else min(width, inner + 2 * target.margin)
    left = target.margin + (max(0.0, (wide - 2 * target.margin - laid.width) / 2) if target.is_landscape else 0)

    def items() -> Iterator[p.Primitive]:
        yield from swatches
        yield from [*head, *entries, *notes]
        yield from _links(figure.arrows, laid, left, top, below=True)
        for sheet, (x, y) in zip(laid.sheets, laid.places, strict=True):
            yield from sheet.put(left + x, top + y)
        yield from _links(figure.arrows, laid, left, top, below=False)

    flat = [(sheet, place) for sheet, place in zip(laid.sheets, laid.places, strict=True) if sheet.is_flat]
    panels = tuple(
        [
            Place(s.panels[0], Detail.FULL, p.Grid(s.panels[0].rows, s.panels[0].cols, left + x, top + y, s.w, s.h))
            for s, (x, y) in flat
        ]
    )
    return Page(figure, wide, top + laid.height + below + margin, panels, lambda: list(items()))


class _Laid(NamedTuple):
    """Sheets in lines, where the first cell of each is, and the size of all."""

    lines: list[list[Sheet]]
    sheets: list[Sheet]
    places: list[tuple[float, float]]
    width: float
    height: float
    size: Size


def _groups(figure: Figure) -> list[list[Panel]]:
    """The panels, those of one cube together."""
    out: list[list[Panel]] = []
    for panel in figure.panels:
        if panel.face and out and out[-1][0].face and len(out[-1]) < 3:
            out[-1].append(panel)
        else:
            out.append([panel])
    return out


def _arrangements(figure: Figure, landscape: bool, slim: bool) -> Iterator[list[list[int]]]:
    """Ways to put the groups of panels into lines, as their numbers. slim: where those of a zoom may differ."""
    groups = _groups(figure)
    if figure.flow == "grid":
        by_row: dict[int, list[int]] = {}
        for n, group in enumerate(groups):
            by_row.setdefault(group[0].place[0], []).append(n)
        lines = [sorted(line, key=lambda n: groups[n][0].place[1]) for _, line in sorted(by_row.items())]
        yield lines
        if any(arrow.look in ("", "alarm") for arrow in figure.arrows):
            yield [[*range(len(groups))]] if landscape else [[n] for n in range(len(groups))]  # arrows go down
            return
        if len({len(line) for line in lines}) == 1 and len(lines) > 1:
            yield [list(column) for column in zip(*lines, strict=True)]
        if len(lines) > 1:
            yield [[n for line in lines for n in line]]
        return
    for each in range(1, len(groups) + 1):
        lines = [list(range(n, min(n + each, len(groups)))) for n in range(0, len(groups), each)]
        if len(lines) > 1 and 1 < len(lines[-1]) + 1 <= each and any(arrow.look == "wide" for arrow in figure.arrows) and not slim:
            continue  # levels of a zoom
        yield lines


def _largest(
    figure: Figure, lines: Sequence[Sequence[int]], room: tuple[float, float], cell: float | None, least: float
) -> _Laid | None:
    """The panels as large as there is room for; None where there is none."""
    groups, size = _groups(figure), cell or LARGEST
    while size >= SMALLEST:
        sizes = [Size(size, least, room[0] if len(line) == 1 else 0.0) for line in lines]  # beside one there is free room
        sheets = [[Sheet(groups[n], mine) for n in line] for line, mine in zip(lines, sizes, strict=True)]
        laid = _laid(figure, sheets, lines, sizes[0])
        if cell is not None or (laid.width <= room[0] and laid.height <= room[1]):
            return laid
        over = max(laid.width / room[0], laid.height / max(1.0, room[1]))
        size *= max(0.6, min(0.97, 1 / over))
    return None


def _laid(figure: Figure, lines: list[list[Sheet]], numbers: Sequence[Sequence[int]], size: Size) -> _Laid:
    """Sheets in lines: columns and rows line up by the first cell of their panels."""
    wedge = any(a.look == "wide" for a in figure.arrows)
    gap = WEDGE if wedge else SIGN if any(a.look not in ("", "alarm") for a in figure.arrows) else GAP
    count = max(map(len, lines))
    aligned = all(len(line) == count for line in lines[:-1])
    lefts, rights = [0.0] * count, [0.0] * count
    for line in lines:
        for n, sheet in enumerate(line):
            lefts[n] = max(lefts[n], sheet.left)
            rights[n] = max(rights[n], sheet.width - sheet.left if n < len(line) - 1 or len(line) == count else 0.0)
    places: dict[int, tuple[float, float]] = {}
    y = width = 0.0
    for row, line in enumerate(lines):
        above, below, x = max(s.above for s in line), max(s.below for s in line), 0.0
        for n, sheet in enumerate(line):
            sheet.above = above  # so that captions stand side by side
            own = sheet.width - sheet.left
            left, right = (lefts[n], max(rights[n], own)) if aligned else (sheet.left, own)
            places[numbers[row][n]] = x + left, y + above
            x += left + right + gap
        y, width = y + above + below + gap, max(width, x - gap)
    order = sorted(places)
    by_number = {number: sheet for line, ns in zip(lines, numbers, strict=True) for number, sheet in zip(ns, line, strict=True)}
    return _Laid(lines, [by_number[n] for n in order], [places[n] for n in order], width, y - gap, size)


def _links(arrows: Sequence[Arrow], laid: _Laid, left: float, top: float, below: bool) -> Iterator[p.Primitive]:
    """What goes from one panel to another: areas that widen, below the panels; arrows and signs, above them."""
    for link in arrows:
        (x0, y0, x1, y1), (u0, v0, u1, v1) = (
            _span(laid, number, box, left, top) for number, box in ((link.source, link.start), (link.target, link.end))
        )
        if link.look == "wide":
            if u0 > x1:  # the next one of its line; numbers lead to those of others
                yield from _wedge((x0, y0, x1, y1), (u0 - laid.sheets[link.target].side, v0, u1, v1), below)
        elif not below and link.look not in ("", "alarm"):
            at = ((x1 + u0) / 2, (v0 + v1) / 2) if u0 > x1 else ((x0 + x1) / 2, (y1 + v0) / 2)
            yield p.Line(link.look, *at, 20, p.TEXT, anchor=p.MIDDLE)
        elif not below and u0 < x1 and v0 > y1:
            start, end = ((x0 + x1) / 2, y1 + 3), ((u0 + u1) / 2, v0 - laid.sheets[link.target].own - 3)
            yield from pointed([[start, end]], p.ALARM if link.look else p.MUTED, 1.6 if link.look else 1.1)


def _wedge(a: tuple[float, float, float, float], b: tuple[float, float, float, float], below: bool) -> Iterator[p.Primitive]:
    """The area from the cells a to the panel b, which shows them enlarged, below the panels, and its edges above them."""
    (_, y0, x1, y1), (u0, v0, _, v1) = a, b
    points = [(x1, y0), (u0, v0), (u0, v1), (x1, y1)]
    yield p.Path([points], p.TEXT, 0.0, p.MUTED, 0.14) if below else p.Path([points[:2], points[2:]], p.MUTED, 0.9)


def _span(laid: _Laid, number: int, box: tuple[float, ...], left: float, top: float) -> tuple[float, float, float, float]:
    """The px of some cells of a panel, or of all."""
    panels = [panel for sheet in laid.sheets for panel in sheet.panels]
    sheets = [(sheet, place) for sheet, place in zip(laid.sheets, laid.places, strict=True) for _ in sheet.panels]
    (sheet, (x, y)), panel = sheets[number], panels[number]
    r0, c0, r1, c1 = box or (0, 0, panel.rows, panel.cols)
    return left + x + c0 * sheet.w, top + y + r0 * sheet.h, left + x + c1 * sheet.w, top + y + r1 * sheet.h
