"""The legends of a page, measured and placed: a column beside the panels, or rows below them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from cute_viz.figures.model import HOLE, Figure, Legend, LegendEntry, Paint
from cute_viz.renderers.geometry import BOLD, CHAR, PROSE, balanced, wrap
from cute_viz.renderers.primitives import MUTED, TEXT, Line, Swatch
from cute_viz.renderers.ways import shelves

LEGEND_WIDTH = 230.0  # of a column
BLOCK = 400.0  # of a legend, of which several stand beside each other
SEVERAL = 4  # legends, of which one of a single entry is left out
ROW = 20.0  # height of an entry of one line
LINE = 14.0  # height of each further line
INDENT = 22.0  # from a swatch to its label
SWATCH = (14.0, 2.0, 0.6)  # size, radius and stroke of a swatch
SIZES = (12, 11)  # px of a label, and of smaller words
Look: TypeAlias = "tuple[int, int, bool]"
Entry: TypeAlias = "tuple[LegendEntry, list[str]]"  # and its label in lines


class Key:
    """Legends, as `told` has them, in a width: a column of entries, or lines of them; a long label takes several lines."""

    def __init__(self, legends: Sequence[Legend], width: float, column: bool) -> None:
        letter = SIZES[0] * PROSE
        self.legends: list[tuple[list[str], list[list[Entry]]]] = []
        self.width = width if column or len(legends) < 2 else min(width, BLOCK)
        for legend in legends:
            labels = _unrepeated([e.label for e in legend.entries])
            mine = [(e, wrap(label, self.width - INDENT, letter)) for e, label in zip(legend.entries, labels, strict=True)]
            rows = [[one] for one in mine] if column else _lines(mine, self.width)
            self.legends.append((balanced(legend.title, self.width, letter), rows))
        sizes = [(self.width, len(title) * 18 + 20.0 + sum(map(_height, rows))) for title, rows in self.legends]
        self.corners, _, self.height = shelves(sizes, width, 0.0)

    def placed(self, x: float, y: float) -> tuple[list[Swatch], list[Line]]:
        """Swatches; headings and meanings, from a corner on."""
        lines: list[Line] = []
        swatches: list[Swatch] = []
        for (title, rows), (dx, dy) in zip(self.legends, self.corners, strict=True):
            start, top = x + dx, y + dy
            for text in title:
                lines.append(Line(text, start, top + 8, 12))
                top += 18
            top += 6
            for row in rows:
                left = start
                for entry, label in row:
                    swatches.append(Swatch(left, top, *SWATCH, entry.paint))
                    lines += [Line(text, left + INDENT, top + 7 + LINE * k, SIZES[0], TEXT) for k, text in enumerate(label)]
                    left += _across(label)
                top += _height(row)
        return swatches, lines


def _across(label: Sequence[str]) -> float:
    """px from an entry to the next of its line."""
    return INDENT + max(map(len, label)) * SIZES[0] * PROSE + 12


def _lines(entries: Sequence[Entry], width: float) -> list[list[Entry]]:
    """Entries in lines of a width."""
    out: list[list[Entry]] = [[]] if entries else []
    for entry in entries:
        if out[-1] and sum(_across(label) for _, label in [*out[-1], entry]) - 12 > width:
            out.append([])
        out[-1].append(entry)
    return out


def _unrepeated(labels: Sequence[str]) -> list[str]:
    """Labels of a word and a number, all of the same word, with the word once."""
    words = {label.rpartition(" ")[0] for label in labels}
    alike = len(words) == 1 and all(label.rpartition(" ")[2].isdigit() for label in labels)
    return [*labels[:1], *[label.rpartition(" ")[2] for label in labels[1:]]] if alike else [*labels]


def _height(row: Sequence[Entry]) -> float:
    return ROW + LINE * (max(len(label) for _, label in row) - 1)


def told(figure: Figure, named: Collection[str] = (), labelled: bool = False) -> list[Legend]:
    """The legends that tell something: entries of cells that there are; of many legends those of several entries.

    named: what stands on cells; of a legend whose entries all do, a sentence is left, or nothing. labelled: whether each cell has
    its label, so that a legend that repeats them, or tells nothing apart, is left out.
    """
    found = []
    for n, legend in enumerate(figure.legends):
        drawn = {p for panel in figure.panels if panel.legends is None or n in panel.legends for p in set(panel.paints)} - {HOLE}
        looks = {_look(figure.paints[p]) for p in drawn}
        lit = {p for p in drawn if not figure.paints[p].faded} or drawn
        shades = {figure.paints[p].shade for p in lit}
        entries = [e for e in legend.entries if _is_drawn(figure.paints[e.paint], looks, shades, legend.title)]
        entries = entries if len(entries) > 1 or not (legend.title.startswith("shade") and lit < drawn) else []
        title = legend.title if any(shades) else legend.title.partition("; shade:")[0]
        found.append(replace(legend, title=title, entries=tuple(entries)))
    several = len(found) >= SEVERAL
    found = [legend for legend in found if legend.entries and not (several and len(legend.entries) == 1)]
    if labelled:
        found = [legend for legend in found if not _is_plain(figure, legend)]
    every = [legend for legend in found if legend.title.startswith("hue")]
    of = {legend.title: _operands(figure, legend) if len(every) > 1 else "" for legend in found}
    found = [_named(legend, of[legend.title]) if {e.label for e in legend.entries} <= {*named} else legend for legend in found]
    found = [legend for legend in found if legend.title]
    if not several:
        return found
    shaded = [legend for legend in found if legend.title.startswith("shade: value")]
    found = [legend for legend in found if legend.entries and legend not in shaded]
    return [*found, Legend("shade: value; lighter is higher", ())] if len(shaded) > 1 else [*found, *shaded]


def _operands(figure: Figure, legend: Legend) -> str:
    """` of A and B`: the operands whose panels a legend explains, where it explains no other panel."""
    at = next(n for n, other in enumerate(figure.legends) if other.title.startswith(legend.title))
    mine = [panel.caption for panel in figure.panels if at in (panel.legends or ())]
    names = sorted({found[0] for caption in mine if (found := re.match(r"[A-D]\b", caption))})
    return f" of {' and '.join(names)}" if len(names) == len(mine) else ""


def _named(legend: Legend, of: str = "") -> Legend:
    """A legend whose entries stand on the cells, as a sentence; without words where these names say it, `warp 0` of warps."""
    word, _, what = legend.title.partition(": ")
    thing, _, more = what.partition(" (")
    if all(entry.label.startswith(f"{thing} ") for entry in legend.entries) and (not more or more.endswith("threads)")):
        return Legend("", ())
    return Legend(f"The {word}{of} is {'' if what.startswith(('the ', 'what ')) else 'the '}{what}.", ())


def _is_plain(figure: Figure, legend: Legend) -> bool:
    """Whether a legend of hues has what the labels of the cells have, or one hue that all cells share."""
    if not legend.title.startswith("hue"):
        return False
    names = {figure.paints[entry.paint].hue: entry.label for entry in legend.entries}
    cells = {(p, label) for panel in figure.panels for p, label in zip(panel.paints, panel.labels or ("",), strict=False)}
    hues = {figure.paints[p].hue if p != HOLE else p for p, label in cells if label != "…"}
    if len(hues) == len(names) == 1:
        return not any(paint.faded for paint in figure.paints)
    return all(p != HOLE and names.get(figure.paints[p].hue) == label for p, label in cells)


def _is_drawn(paint: Paint, looks: Collection[Look], shades: Collection[int], title: str) -> bool:
    """Whether any cell has the hue, or in a legend of shades the shade, of an entry."""
    if title.startswith("shade"):
        return paint.shade in shades
    return _look(replace(paint, faded=True)) in looks or _look(paint) in looks


def _look(paint: Paint) -> Look:
    """What tells a paint from others in a legend of hues: without a hue its shade does."""
    return paint.hue, paint.shade if paint.hue < 0 else 0, paint.faded


def columns(legends: Sequence[Legend]) -> list[float]:
    """px of a column of legends: such that headings have two lines, and as narrow as the longest label, within reason."""
    letter = SIZES[0] * PROSE
    longest = max((len(entry.label) for legend in legends for entry in legend.entries), default=0)
    least = max(110.0, INDENT + longest * letter + 1)  # in which that label has a line
    wide = max((len(legend.title) for legend in legends), default=0) * letter / 2 + 3 * letter
    return [min(LEGEND_WIDTH, max(least, wide)), min(LEGEND_WIDTH, least)]


def free_place(
    figure: Figure,
    legends: Sequence[Legend],
    corners: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    column: float,
) -> tuple[float, float, float] | None:
    """The first place among the panels that is empty and has room for the legend: its corner and its width; None where none is.
    corners, sizes: px of the panels. column: px that the legend takes at least."""
    places = [panel.place for panel in figure.panels]
    if not legends or figure.arrows:  # whose words and lines need the room
        return None
    rows, cols = (sorted({place[axis] for place in places}) for axis in (0, 1))
    for row, col in [(row, col) for row in rows for col in cols if (row, col) not in places]:
        x, wide = max((corners[n][0], sizes[n][0]) for n, place in enumerate(places) if place[1] == col)
        y = max(corners[n][1] for n, place in enumerate(places) if place[0] == row)
        high = max(h for (_, h), place in zip(sizes, places, strict=True) if place[0] == row)
        taken = any(
            x < at + w and at < x + wide and y < top + h and top < y + high
            for (at, top), (w, h) in zip(corners, sizes, strict=True)
        )
        if wide >= column and not taken and high >= Key(legends, wide, True).height:
            return x, y, wide
    return None


class Words(NamedTuple):
    """What a `Line` says before it is known where: its text, size, role, whether it is monospaced, its weight."""

    text: str
    size: float = 12.5
    role: str = MUTED
    mono: bool = False
    weight: int = 400


def heading(figure: Figure, labelled: bool = True, colours: Sequence[str] = (), blocks: Sequence[str] = ()) -> list[Words]:
    """What stands above the panels: the title, the source and the caption, of cells without labels the one that explains none.

    colours: what hue or shade is, of which the cells have the names. blocks: captions of the panels whose cells have no labels: no
    `A cell of NAME shows ...` is told of these.
    """
    cells = [(text, re.match("A cell of (.*?) shows", text)) for text in figure.caption.split(". ")]
    told = ". ".join([text for text, found in cells if not (found and any(name.startswith(found[1]) for name in blocks))])
    return [
        Words(figure.title, 17, TEXT, weight=700),
        Words(figure.source, role=TEXT, mono=True),
        Words(told if labelled else figure.mute or ""),
        Words(" ".join(f"{words[0].upper()}{words[1:].removesuffix('.')}." for words in colours)),
    ]


def prose(lines: list[Words], width: float, y: float, x: float) -> list[Line]:
    """Lines of text cut to the width, from y down."""
    out = []
    for line in lines:
        letter = line.size * (CHAR if line.mono else BOLD if line.weight != 400 else PROSE)
        for text in balanced(line.text, width, letter, line.mono):
            if text:
                out.append(Line(text, x, y + line.size * 0.8, *line[1:]))
                y += line.size * 1.6
    return out
