"""Several figures as one: their panels side by side on one page, colours and legends kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cute_viz.errors import FigureError
from cute_viz.figures.model import HOLE, Figure, Legend, Paint, Panel

WIDE = 32  # columns of a panel that has a row of its own


def page(title: str, parts: Sequence[tuple[str, Figure]], columns: int, source: str = "", caption: str = "") -> Figure:
    """One figure of several, each with a heading, in rows of `columns`.

    A legend that several parts have is told once, with the counts of all.

    Refused: no figure.

    >>> from cute_viz.algebra.layout import Layout
    >>> from cute_viz.figures import build
    >>> two = page("two", [("left", build(Layout((2, 2)))), ("right", build(Layout((2, 2), (2, 1))))], columns=2)
    >>> [(panel.caption, panel.place) for panel in two.panels]
    [('left', (0, 0)), ('right', (0, 1))]
    """
    if not parts:
        raise FigureError("a page needs a figure")
    paints: list[Paint] = []
    panels: list[Panel] = []
    legends: list[Legend] = []
    row = col = 0
    for heading, figure in parts:
        number = [_index(paint, paints) for paint in figure.paints]
        deep = max(p.place[0] for p in figure.panels) + 1
        wide = max(p.place[1] for p in figure.panels) + 1
        alone = deep > 1 or max(p.cols for p in figure.panels) > WIDE
        if col and (alone or col + wide > columns):
            row, col = row + 1, 0
        for panel in figure.panels:
            panels.append(
                replace(
                    panel,
                    caption=": ".join(part for part in (heading, panel.caption) if part),
                    paints=tuple([HOLE if p == HOLE else number[p] for p in panel.paints]),
                    place=(row + panel.place[0], col + panel.place[1]),
                )
            )
        row, col = (row + deep, 0) if alone else (row, col + wide)
        for legend in figure.legends:
            entries = tuple(replace(entry, paint=number[entry.paint]) for entry in legend.entries)
            _join(legends, replace(legend, entries=entries), heading)
    notes = [f"{heading}: {note}" if heading else note for heading, figure in parts for note in figure.notes]
    words = " ".join(f"{heading}: {figure.title}." for heading, figure in parts)
    return Figure(
        kind="page",
        title=title,
        source=source,
        caption=caption,
        description=f"{title}. {words}",
        paints=tuple(paints),
        legends=tuple(legends),
        panels=tuple(panels),
        notes=tuple(dict.fromkeys(notes)),
    )


def _index(paint: Paint, paints: list[Paint]) -> int:
    if paint not in paints:
        paints.append(paint)
    return paints.index(paint)


def _join(legends: list[Legend], legend: Legend, heading: str) -> None:
    """Add a legend; to one of the same title whose colours mean the same, as further entries and counts."""
    for n, other in enumerate(legends):
        known = {e.label: e for e in other.entries}
        meaning = {e.paint: e.label for e in other.entries}
        agree = all(known[e.label].paint == e.paint if e.label in known else e.paint not in meaning for e in legend.entries)
        if agree and other.title.partition(" (of ")[0] == legend.title:
            for e in legend.entries:
                known[e.label] = replace(e, count=e.count + (known[e.label].count if e.label in known else 0))
            legends[n] = replace(other, entries=tuple(known.values()))
            return
    clash = any(other.title == legend.title for other in legends)
    legends.append(replace(legend, title=f"{legend.title} (of {heading})") if clash and heading else legend)
