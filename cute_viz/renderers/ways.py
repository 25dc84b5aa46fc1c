"""Arrangements of panels: shelves, panels that belong together, one panel for a source and destination that are equal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cute_viz.figures.model import HOLE, Figure, Panel, Ruler
from cute_viz.figures.trim import regridded

FRAMES = 3  # of a column, where there is no room for all of them


def blocks(panels: Sequence[Panel]) -> list[tuple[Panel, ...]]:
    """Panels that stand beside each other, and those of an MMA: the row of its B alone has nothing at the left."""
    rows: dict[int, list[Panel]] = {}
    for panel in panels:
        rows.setdefault(panel.place[0], []).append(panel)
    out: dict[int, list[Panel]] = {}
    for row, line in sorted(rows.items(), reverse=True):
        below = row + 1 if row + 1 in rows and min(panel.place[1] for panel in line) else row
        out.setdefault(below, []).extend(line)
    return [tuple(sorted(block, key=panels.index)) for _, block in sorted(out.items())]


def shelves(sizes: Sequence[tuple[float, float]], room: float, gap: float) -> tuple[list[tuple[float, float]], float, float]:
    """Where things stand in rows, in their order, low ones on top of each other beside a high one; the size of all."""
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


def once(figure: Figure) -> Figure:
    """A copy whose source and destination are equal, with one panel for both."""
    if figure.kind != "copy" or len(figure.panels) < 2:
        return figure
    source, destination, *more = figure.panels
    words = f"{'predicate true: ' * bool(more)}source and destination: who moves"
    alike = replace(destination, caption=words, place=source.place) == replace(source, caption=words)
    rest = [replace(panel, place=(n, 0)) for n, panel in enumerate(more, 1)]
    return replace(figure, panels=(replace(source, caption=words), *rest)) if alike else figure


def passed_on(figure: Figure) -> Figure:
    """A page in which a panel and the next, to which an arrow leads from it, are one where their cells have the same hues.
    Labels tell them apart, such as the addresses that ldmatrix is given from the fragments that it fills; blocks do not."""
    hues = [(panel.cols, [HOLE if p == HOLE else figure.paints[p].hue for p in panel.paints]) for panel in figure.panels]
    joined = {(a.source, a.target) for a in figure.arrows if a.head and not a.start and not a.end}
    gone = [n for n in range(1, len(hues)) if figure.kind == "page" and (n - 1, n) in joined and hues[n] == hues[n - 1]]
    kept = [n for n in range(len(hues)) if n not in gone]
    if not gone:
        return figure
    panels = []
    for number, n in enumerate(kept, 1):
        words, more = (figure.panels[k].caption.partition(". ")[2] if k < len(hues) else "" for k in (n, n + 1))
        words = f"{words.partition(',')[0]}, to {more}" if n + 1 in gone else words
        panels.append(replace(figure.panels[n], caption=f"{number}. {words}"))
    left = [
        n
        for k, n in enumerate(kept)
        if figure.panels[n].place[1] == 0 or figure.panels[kept[k - 1]].place[0] != figure.panels[n].place[0]
    ]
    rows = [sum(m <= n for m in left) - 1 for n in kept]
    places = [(row, n - rows.index(row)) for n, row in enumerate(rows)]
    at = [kept.index(n - (n in gone)) for n in range(len(hues))]
    arrows = [replace(a, source=at[a.source], target=at[a.target]) for a in figure.arrows]
    panels = [replace(panel, place=place) for panel, place in zip(panels, places, strict=True)]
    return replace(figure, panels=tuple(panels), arrows=tuple([a for a in arrows if a.source != a.target]))


def sampled(figure: Figure) -> Figure:
    """Frames, each of two panels that lines join, with the first two and the last of each column; what stands below them stays."""
    pairs = sorted({(arrow.source, arrow.target) for arrow in figure.arrows if not arrow.head})
    columns: dict[int, list[tuple[int, int]]] = {}
    for pair in pairs:
        columns.setdefault(figure.panels[pair[0]].place[1], []).append(pair)
    gone = {n for its in columns.values() for pair in its[FRAMES - 1 : -1] for n in pair}
    kept = [n for n in range(len(figure.panels)) if n not in gone]
    rows = {row: n for n, row in enumerate(sorted({figure.panels[n].place[0] for n in kept}))}
    panels = [replace(figure.panels[n], place=(rows[figure.panels[n].place[0]], figure.panels[n].place[1])) for n in kept]
    arrows = [
        replace(arrow, source=kept.index(arrow.source), target=kept.index(arrow.target))
        for arrow in figure.arrows
        if arrow.source not in gone
    ]
    notes = (f"Of each column the first {FRAMES - 1} wavefronts and the last are drawn.",) if gone else ()
    return replace(figure, panels=tuple(panels), arrows=tuple(arrows), notes=(*notes, *figure.notes))


def squared(figure: Figure) -> Figure:
    """Four matrices of 8 x 8, of ldmatrix or stmatrix, in their square: 0 above 1 at the left, 2 above 3 at the right."""
    if figure.facts.get("matrices of 8 × 8") != 4 or any((panel.rows, panel.cols) != (32, 8) for panel in figure.panels):
        return figure
    order = [(16 * (c // 8) + r) * 8 + c % 8 for r in range(16) for c in range(16)]  # the old cell of each new one
    where = {old: new for new, old in enumerate(order)}
    names, levels = tuple(str(n % 8) for n in range(16)), (0,) * 8 + (1,) + (0,) * 8
    panels = []
    for panel in figure.panels:
        boxes = []
        for r0, c0, r1, c1 in panel.boxes:
            row, col = divmod(where[r0 * 8 + c0], 16)
            boxes.append((row, col, row + r1 - r0, col + c1 - c0))
        whole = all(r1 - r0 <= 8 and r0 // 8 == (r1 - 1) // 8 for r0, _, r1, _ in panel.boxes)
        rulers = Ruler("row", names, levels), Ruler("column", names, levels)
        panels.append(regridded(panel, order, *rulers, tuple(boxes) if whole else ()))
    words = "Matrices 0 and 1 stand at the left, 2 and 3 at the right"
    mute = None if figure.mute is None else ". ".join(filter(None, (figure.mute, words)))
    return replace(figure, panels=tuple(panels), caption=f"{figure.caption}. {words}", mute=mute)


def unshaded(figure: Figure) -> Figure:
    """The figure without shades, which in greys would be other hues; their legends are left out, since labels have what they
    tell."""
    paints = tuple([paint if paint.hue < 0 else replace(paint, shade=0) for paint in figure.paints])
    kept = [n for n, legend in enumerate(figure.legends) if not legend.title.startswith("shade")]
    legends = [figure.legends[n] for n in kept]
    panels = [
        p if p.legends is None else replace(p, legends=tuple([kept.index(n) for n in p.legends if n in kept]))
        for p in figure.panels
    ]
    return replace(figure, paints=paints, legends=tuple(legends), panels=tuple(panels))
