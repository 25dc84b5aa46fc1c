"""Several figures as one: their panels side by side on one page, colours and legends kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cute_viz.errors import FigureError
from cute_viz.figures.model import HOLE, Arrow, Figure, Legend, LegendEntry, Paint, Panel

WIDE = 32  # columns of a panel that has a row of its own


def page(title: str, parts: Sequence[tuple[str, Figure]], columns: int, source: str = "", caption: str = "") -> Figure:
    """One figure of several, each with a heading, in rows of `columns`. A legend that several parts have appears once; where
    colours mean something else in each part, a legend says of which it is. Raises: FigureError without a figure."""
    if not parts:
        raise FigureError("a page needs a figure")
    paints: list[Paint] = []
    panels: list[Panel] = []
    arrows: list[Arrow] = []
    legends: list[tuple[Legend, list[str]]] = []  # with the headings of the parts that it is of
    row = col = 0
    for heading, figure in parts:
        number = [_index(paint, paints) for paint in figure.paints]
        its: list[int] = []  # where each legend of the part is told
        for legend in figure.legends:
            entries = tuple(replace(entry, paint=number[entry.paint]) for entry in legend.entries)
            its.append(_join(legends, replace(legend, entries=entries), heading, paints))
        deep = max(p.place[0] for p in figure.panels) + 1
        wide = max(p.place[1] for p in figure.panels) + 1
        alone = deep > 1 or max(p.cols for p in figure.panels) > WIDE
        if col and (alone or col + wide > columns):
            row, col = row + 1, 0
        arrows += [replace(a, source=a.source + len(panels), target=a.target + len(panels)) for a in figure.arrows]
        for panel in figure.panels:
            panels.append(
                replace(
                    panel,
                    caption=": ".join(part for part in (heading, panel.caption) if part),
                    paints=tuple([HOLE if p == HOLE else number[p] for p in panel.paints]),
                    place=(row + panel.place[0], col + panel.place[1]),
                    legends=tuple(its) if panel.legends is None else tuple([its[n] for n in panel.legends]),
                )
            )
        row, col = (row + deep, 0) if alone else (row, col + wide)
    every = [note for _, figure in parts for note in figure.notes]
    notes = [
        f"{heading}: {note}" if heading and every.count(note) == 1 else note for heading, figure in parts for note in figure.notes
    ]
    named = [(heading, figure.title or "; ".join(panel.caption for panel in figure.panels)) for heading, figure in parts]
    words = " ".join(": ".join(filter(None, pair)) + "." for pair in named)
    return Figure(
        kind="page",
        title=title,
        source=source,
        caption=caption,
        description=f"{title}. {words}",
        paints=tuple(paints),
        legends=tuple(_told_apart(legends)),
        panels=tuple(panels),
        notes=tuple(dict.fromkeys(notes)),
        arrows=tuple(arrows),
    )


def _index(paint: Paint, paints: list[Paint]) -> int:
    if paint not in paints:
        paints.append(paint)
    return paints.index(paint)


def _join(legends: list[tuple[Legend, list[str]]], legend: Legend, heading: str, paints: Sequence[Paint]) -> int:
    """Add a legend; to one of the same title whose colours mean the same, as further entries. Gives its index."""

    def look(entry: LegendEntry) -> tuple[int, int]:
        return paints[entry.paint].hue, paints[entry.paint].shade

    for n, (other, headings) in enumerate(legends):
        known = {entry.label: entry for entry in other.entries}
        looks = {look(entry) for entry in other.entries}
        agree = all(look(e) == look(known[e.label]) if e.label in known else look(e) not in looks for e in legend.entries)
        if agree and other.title == legend.title:
            for e in legend.entries:
                known.setdefault(e.label, e)
            legends[n] = replace(other, entries=tuple(known.values())), [*headings, heading]
            return n
    legends.append((legend, [heading]))
    return len(legends) - 1


def _told_apart(legends: Sequence[tuple[Legend, list[str]]]) -> list[Legend]:
    """The legends; those of the same title say of which part they are, and of how many more."""
    titles = [legend.title for legend, _ in legends]
    out = []
    for legend, headings in legends:
        more = f" and {len(headings) - 1} more" if len(headings) > 1 else ""
        apart = headings[0] and titles.count(legend.title) > 1
        out.append(replace(legend, title=f"{legend.title} (of {headings[0]}{more})") if apart else legend)
    return out
