"""Figures beside each other, and what differs between two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import gcd
from typing import Any

from cute_viz.errors import FigureError
from cute_viz.figures.model import HOLE, Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.page import page
from cute_viz.figures.paint import HUES, span
from cute_viz.figures.trim import regridded
from cute_viz.spelling import count

_SAME, _OTHER = 0, 1  # of _PAINTS
# What a cell holds, by the columns that tell it in full; labels may be words for something else (`index`, `coord`).
_HELD: tuple[tuple[str, ...], ...] = (("offset",), ("coordinate",), ("thread", "value"), ("row", "column"))
_PAINTS = (Paint(-1), Paint(3))  # of a difference
_ORDERS = ("within their rows", "within their columns", ": the same offsets, in another order")


def side_by_side(figures: Sequence[Figure], title: str | None = None) -> Figure:
    """One figure of several, each under its title; wide ones on top of each other."""
    if len(figures) > 1 and all(figure.flow and len(figure.panels) == 1 for figure in figures):
        return _boards(figures, title)
    parts = [(figure.source or figure.title, figure) for figure in figures]
    widest = max(panel.cols for figure in figures for panel in figure.panels)
    columns = max(1, min(len(figures) * 2, 48 // widest))
    titles = list(dict.fromkeys(figure.title for figure in figures))
    names = " | ".join(heading for heading, _ in parts)
    return replace(page(title or " | ".join(titles), parts, columns, names), caption=figures[0].caption, mute=figures[0].mute)


def _boards(figures: Sequence[Figure], title: str | None) -> Figure:
    """One board of several: of each its name above, and what it found below."""
    parts = []
    for figure in figures:
        name, _, finding = figure.title.partition(": ")
        words = "; ".join(filter(None, (finding, figure.panels[0].foot)))
        parts.append(("", replace(figure, panels=(replace(figure.panels[0], caption=f"{name}  {figure.source}", foot=words),))))
    cells = {panel.rows * panel.cols for figure in figures for panel in figure.panels}
    same = len(cells) == 1 and {figure.kind for figure in figures} == {"path"}
    name = f"{len(figures)} ways through the same {cells.pop()} cells" if same else " | ".join(figure.title for figure in figures)
    both = page(title or name, parts, len(parts))
    told = {(figure.caption, figure.mute) for figure in figures}
    caption, mute = told.pop() if len(told) == 1 else ("", None)
    return replace(both, flow="row", caption=caption, mute=mute)


def difference(a: Figure, b: Figure, title: str | None = None) -> Figure:
    """Both figures in one geometry, the cells that hold different things coloured and boxed, whatever their labels say; the
    title says what changed. A cell that only one of them has is hatched in the other. Raises: FigureError for figures of several
    panels that are not as many; figures without labels, which do not show what differs."""
    if len(a.panels) != len(b.panels):
        one, two = (f"{figure.source or figure.title}: {count(len(figure.panels), 'panel')}" for figure in (a, b))
        raise FigureError(f"--diff compares panel by panel; {one}, {two}", hint="`operand=` picks one")
    for figure in (a, b):
        if not all(panel.labels for panel in figure.panels) or not any(any(panel.labels) for panel in figure.panels):
            raise FigureError(
                f"--diff compares labels; {figure.source} is drawn without labels",
                hint="compare a tile of each, local_tile(A, (32,32), (0,0)), and leave out `labels=none`",
            )
    pairs = [_in_one_frame(p, q) for p, q in zip(a.panels, b.panels, strict=True)]
    olds, news = [old for old, _ in pairs], [new for _, new in pairs]
    other = [_differing(p, q) for p, q in pairs]
    alone = [[(HOLE in (x, y)) and x != y for x, y in zip(p.paints, q.paints, strict=True)] for p, q in pairs]
    found, every = sum(map(sum, other)), sum(map(len, other))
    cuts = [_cuts(p, q, flags) for (p, q), flags in zip(pairs, other, strict=True)]
    groups, legend = _groups(pairs, other, cuts)
    if groups:  # a box has one hue, and a cell needs no box
        hues = [[groups[x] for x in panel.data["offset"]] for panel in pairs[0]]
        cuts = [cuts[0] | {n for mine in hues for n, (x, y) in enumerate(pairwise(mine), 1) if x != y}]
    paints = _PAINTS if not groups else (Paint(-1), *[Paint(hue) for hue in range(len(legend.entries) - 1)])
    panels = _marked(olds, other, cuts, groups), _marked(news, other, cuts, groups)
    parts = [replace(f, panels=mine, paints=paints, legends=(), notes=()) for f, mine in zip((a, b), panels, strict=True)]
    both = side_by_side(parts, title)
    words = f"{found} of {every} cells differ." if found else f"All {every} cells are the same."
    if only := sum(map(sum, alone)):
        words += f" Of these, {count(only, 'cell')} {'is' if only == 1 else 'are'} only in one of the two."
    given, title = (
        title,
        title or (_changed(pairs, other, found, every) if not only else f"{found} of {every} cells differ, {only} are new or gone"),
    )
    runs = [c1 - c0 for panel in both.panels for _, c0, _, c1 in panel.boxes] if groups else []
    if not given and runs and runs == runs[:1] * (2 * found // runs[0]):
        title += f", in runs of {runs[0]}"
    return replace(
        both,
        kind="difference",
        panels=tuple([replace(panel, legends=None) for panel in both.panels]),
        title=title,
        legends=(legend,),
        notes=(words,) if given else (),
        description=f"{title}. {a.source} beside {b.source}. {words}",
    )


def _changed(pairs: Sequence[tuple[Panel, Panel]], other: Sequence[Sequence[bool]], found: int, every: int) -> str:
    """What changed from the one to the other, in a sentence."""
    if not found:
        return f"All {every} cells are the same"
    for name, words in (("thread", "thread"), ("value", "value"), ("offset", "offset"), ("bank", "bank")):
        if all(name in panel.data for pair in pairs for panel in pair):
            moved = sum(x != y for p, q in pairs for x, y in zip(p.data[name], q.data[name], strict=True))
            if moved:
                way = _order(pairs) if name == "offset" else ""
                return f"{moved} of {every} " + (f"offsets move {way}" if "within" in way else f"cells have another {words}{way}")
    return f"{found} of {every} cells differ"


def _order(pairs: Sequence[tuple[Panel, Panel]]) -> str:
    """Where offsets went, where they are the same ones; else what became of the cosize."""
    for by, words in enumerate(_ORDERS):
        lines: list[list[tuple[int, Any]]] = [[], []]
        for panels in pairs:
            for mine, panel in zip(lines, panels, strict=True):
                mine += [((*divmod(n, panel.cols), 0)[by], x) for n, x in enumerate(panel.data["offset"]) if x is not None]
        if sorted(lines[0]) == sorted(lines[1]):
            return words
    ends = [max(x for _, x in mine) + 1 for mine in lines]
    return f": cosize {ends[0]} becomes {ends[1]}" if ends[0] != ends[1] else ""


def _in_one_frame(a: Panel, b: Panel) -> tuple[Panel, Panel]:
    """Two panels of as many rows and columns: what one does not have is a hole."""
    rows, cols = max(a.rows, b.rows), max(a.cols, b.cols)
    rulers = max(a, b, key=lambda p: p.rows).row_ruler, max(a, b, key=lambda p: p.cols).col_ruler
    return _padded(a, rows, cols, *rulers), _padded(b, rows, cols, *rulers)


def _padded(panel: Panel, rows: int, cols: int, row_ruler: Ruler, col_ruler: Ruler) -> Panel:
    if (panel.rows, panel.cols) == (rows, cols):
        return panel
    cells = [r * panel.cols + c if r < panel.rows and c < panel.cols else None for r in range(rows) for c in range(cols)]
    rulers = row_ruler if panel.rows < rows else panel.row_ruler, col_ruler if panel.cols < cols else panel.col_ruler
    return regridded(panel, cells, *rulers, panel.boxes)


def _differing(a: Panel, b: Panel) -> list[bool]:
    """For each cell, whether the panels hold different things: values, where both have them, or labels."""
    names = [next((names for names in _HELD if all(name in panel.data for name in names)), ()) for panel in (a, b)]
    if not all(names):
        return [x != y for x, y in zip(a.labels, b.labels, strict=True)]
    if names[0] != names[1]:
        return [True] * len(a.labels)
    cells: list[list[Any]] = [list(zip(*(panel.data[name] for name in names[0]), strict=True)) for panel in (a, b)]
    for mine, panel in zip(cells, (a, b), strict=True):
        for cell, owners in panel.owners:  # of several owners a label names the first
            mine[cell] = frozenset(owners)
    return [x != y for x, y in zip(*cells, strict=True)]


def _cuts(a: Panel, b: Panel, flags: Sequence[bool]) -> set[int]:
    """The cells that differ before which either panel stops counting by one, so that boxes between them are ranges; none where
    such a box would be a cell."""
    numbers = [[int(x) if x.isdecimal() else None for x in panel.labels] for panel in (a, b)]
    cells = [n for n, flag in enumerate(flags) if flag]
    if any(mine[n] is None and panel.paints[n] != HOLE for mine, panel in zip(numbers, (a, b), strict=True) for n in cells):
        return set()
    starts = {n for n in cells if any(not _goes_on(mine[n - 1], mine[n]) for mine in numbers)}
    alone = sum(not flags[n - 1] or n % a.cols == 0 or n in starts for n in cells)
    return starts if 2 * alone <= len(cells) else set()


def _groups(
    pairs: Sequence[tuple[Panel, Panel]], other: Sequence[Sequence[bool]], cuts: Sequence[set[int]]
) -> tuple[dict[int, int], Legend]:
    """Where offsets only move, the paint of each by its column in the first panel, or by its row where it keeps its column: so
    that one sees where it went; else none, and one hue for what differs."""
    plain = Legend("hue: the difference", (LegendEntry(_SAME, "the same"), LegendEntry(_OTHER, "differs")))
    ((one, two), *more), way = pairs, ""
    if not more and all("offset" in panel.data for panel in (one, two)):
        way = _order(pairs)
    first = one.data["offset"] if way in _ORDERS else ()
    if not any(other[0]) or len({*first}) < one.rows * one.cols or None in first:
        return {}, plain
    by_row = way == _ORDERS[1]
    lines = [n // one.cols if by_row else n % one.cols for n in range(len(first))]
    many = one.rows if by_row else one.cols
    each = 1 if by_row or not cuts[0] else gcd(many, *[n % one.cols for n in cuts[0]])
    each = each if many <= HUES * each else -(-many // HUES)
    bands = [span(n, min(n + each, many) - 1) for n in range(0, many, each)]
    entries = [LegendEntry(n, words) for n, words in enumerate(["not moved", *bands])]
    return {x: 1 + n // each for x, n in zip(first, lines, strict=True)}, Legend(
        f"hue: the {'row' if by_row else 'column'} in the first", tuple(entries)
    )


def _goes_on(before: int | None, now: int | None) -> bool:
    return now is None if before is None else now == before + 1


def _marked(
    panels: Sequence[Panel], other: Sequence[Sequence[bool]], cuts: Sequence[set[int]], groups: Mapping[int, int]
) -> tuple[Panel, ...]:
    """The panels with paper where nothing differs, a box around each run of cells that do, and which they are as data."""
    out = []
    for panel, flags, starts in zip(panels, other, cuts, strict=True):
        boxes = []
        for r in range(panel.rows):
            here = slice(r * panel.cols, (r + 1) * panel.cols)
            row = [flag and p != HOLE for flag, p in zip(flags[here], panel.paints[here], strict=True)]
            start = None
            for c in range(panel.cols + 1):
                inside = c < panel.cols and row[c]
                if inside and start is None:
                    start = c
                elif start is not None and (not inside or r * panel.cols + c in starts):
                    boxes += [(r, start, r + 1, c)] if c > start + 1 or not groups else []
                    start = c if inside else None
        hues = [groups[x] for x in panel.data["offset"]] if groups else [_OTHER] * len(flags)
        paints = [HOLE if p == HOLE else hue if flag else _SAME for p, flag, hue in zip(panel.paints, flags, hues, strict=True)]
        out.append(
            replace(
                panel,
                paints=tuple(paints),
                boxes=tuple(boxes),
                owners=(),
                shapes=tuple([replace(shape, paint=HOLE if shape.paint == HOLE else _SAME) for shape in panel.shapes]),
                data={**panel.data, "differs": tuple(map(int, flags))},
                legends=None,
            )
        )
    return tuple(out)
