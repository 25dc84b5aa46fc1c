"""Figures beside each other, and what differs between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel
from cute_viz.figures.page import page

_SAME, _OTHER = 0, 1  # of _PAINTS
# What a cell holds, by the columns that tell it in full; labels may be words for something else (`index`, `coord`).
_HELD: tuple[tuple[str, ...], ...] = (("offset",), ("coordinate",), ("thread", "value"), ("row", "column"))
_PAINTS = (Paint(-1), Paint(1))  # of a difference


def side_by_side(figures: Sequence[Figure], title: str | None = None) -> Figure:
    """One figure of several, each under its title; wide ones on top of each other.

    >>> from cute_viz.algebra.layout import Layout
    >>> from cute_viz.figures import build
    >>> side_by_side([build(Layout((2, 2))), build(Layout((2, 2), (2, 1)))]).title
    'Column-major: each column is contiguous | Row-major: each row is contiguous'
    """
    if len(figures) > 1 and all(figure.flow and len(figure.panels) == 1 for figure in figures):
        return _boards(figures, title)
    parts = [(figure.source or figure.title, figure) for figure in figures]
    widest = max(panel.cols for figure in figures for panel in figure.panels)
    columns = max(1, min(len(figures) * 2, 48 // widest))
    titles = list(dict.fromkeys(figure.title for figure in figures))
    names = " | ".join(heading for heading, _ in parts)
    return replace(page(title or " | ".join(titles), parts, columns, names), caption=figures[0].caption)


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
    captions = {figure.caption for figure in figures}
    return replace(both, flow="row", caption=captions.pop() if len(captions) == 1 else "")


def difference(a: Figure, b: Figure, title: str | None = None) -> Figure:
    """Both figures, the cells that hold different things coloured and boxed, whatever their labels say.

    Raises: FigureError for figures whose panels do not have the same cells; figures without labels, which do not show what differs.

    >>> from cute_viz.algebra.layout import Layout
    >>> from cute_viz.figures import build
    >>> difference(build(Layout((2, 2))), build(Layout((2, 2), (2, 1)))).notes
    ('2 of 4 cells differ.',)
    """
    shapes = [[(panel.rows, panel.cols) for panel in figure.panels] for figure in (a, b)]
    if shapes[0] != shapes[1]:
        one, two = (", ".join(f"{rows} x {cols}" for rows, cols in shape) for shape in shapes)
        raise FigureError(f"--diff compares cell by cell; {one} and {two} do not have the same cells")
    for figure in (a, b):
        if not all(panel.labels for panel in figure.panels) or not any(any(panel.labels) for panel in figure.panels):
            raise FigureError(
                f"--diff compares labels; {figure.source} is drawn without labels",
                hint="draw a slice, and leave out `labels=none`",
            )
    other = [_differing(p, q) for p, q in zip(a.panels, b.panels, strict=True)]
    count, every = sum(map(sum, other)), sum(map(len, other))
    cuts = [_cuts(p, q, flags) for p, q, flags in zip(a.panels, b.panels, other, strict=True)]
    panels = _marked(a.panels, other, cuts), _marked(_from_to(a.panels, b.panels, other), other, cuts)
    parts = [replace(f, panels=mine, paints=_PAINTS, legends=(), notes=()) for f, mine in zip((a, b), panels, strict=True)]
    both = side_by_side(parts, title)
    entries = (LegendEntry(_SAME, "the same", every - count), LegendEntry(_OTHER, "differs (boxed)", count))
    words = f"{count} of {every} cells differ." if count else f"All {every} cells are the same."
    return replace(
        both,
        kind="difference",
        panels=tuple([replace(panel, legends=None) for panel in both.panels]),
        title=title or f"What differs: {count} of {every} cells",
        legends=(Legend("hue: the difference", entries),),
        notes=(words,),
        description=f"{a.source} beside {b.source}. {words}",
    )


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


def _from_to(old: Sequence[Panel], new: Sequence[Panel], other: Sequence[Sequence[bool]]) -> list[Panel]:
    """The new panels; a cell that differs tells the old label, too: `288` over `was 3`."""
    out = []
    for was, now, flags in zip(old, new, other, strict=True):
        pairs = zip(was.labels, now.labels, flags, strict=True)
        labels = [f"{_line(b)}\nwas {_line(a)}" if flag and a != b else b for a, b, flag in pairs]
        out.append(replace(now, labels=tuple(labels)))
    return out


def _line(label: str) -> str:
    return label.replace("\n", " ") or "nothing"


def _cuts(a: Panel, b: Panel, flags: Sequence[bool]) -> set[int]:
    """The cells that differ before which either panel stops counting by one, so that boxes between them are ranges; none where
    such a box would be a cell.
    """
    numbers = [[int(x) if x.isdecimal() else None for x in panel.labels] for panel in (a, b)]
    cells = [n for n, flag in enumerate(flags) if flag]
    if any(mine[n] is None for mine in numbers for n in cells):
        return set()
    starts = {n for n in cells if any(mine[n - 1] is None or mine[n] != mine[n - 1] + 1 for mine in numbers)}  # type: ignore[operator]
    alone = sum(not flags[n - 1] or n % a.cols == 0 or n in starts for n in cells)
    return starts if 2 * alone <= len(cells) else set()


def _marked(panels: Sequence[Panel], other: Sequence[Sequence[bool]], cuts: Sequence[set[int]]) -> tuple[Panel, ...]:
    """The panels with paper where nothing differs, a box around each run of cells that do, and which they are as data."""
    out = []
    for panel, flags, starts in zip(panels, other, cuts, strict=True):
        boxes = []
        for r in range(panel.rows):
            row, start = flags[r * panel.cols : (r + 1) * panel.cols], None
            for c in range(panel.cols + 1):
                inside = c < panel.cols and row[c]
                if inside and start is None:
                    start = c
                elif start is not None and (not inside or r * panel.cols + c in starts):
                    boxes.append((r, start, r + 1, c))
                    start = c if inside else None
        paints = tuple([_OTHER if flag else _SAME for flag in flags])
        out.append(
            replace(
                panel,
                paints=paints,
                boxes=tuple(boxes),
                owners=(),
                data={**panel.data, "differs": tuple(map(int, flags))},
                legends=None,
            )
        )
    return tuple(out)
