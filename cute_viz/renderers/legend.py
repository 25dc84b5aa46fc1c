"""The legends of a page, measured and placed: a column beside the panels, or rows below them."""

from __future__ import annotations

from collections.abc import Sequence

from cute_viz.figures.model import Figure, Legend, LegendEntry
from cute_viz.renderers.geometry import BOLD, CHAR, PROSE, counted, is_shared, wrap
from cute_viz.renderers.primitives import MUTED, TEXT, Line, Swatch
from cute_viz.renderers.ways import shelves

LEGEND_WIDTH = 230.0  # of a column
BLOCK = 400.0  # of a legend without counts, of which several stand beside each other
SEVERAL = 4  # legends, of which one of a single entry is left out where there is no room for counts
ROW = 20.0  # height of an entry of one line
LINE = 14.0  # height of each further line
INDENT = 22.0  # from a swatch to its label
SWATCH = (14.0, 2.0, 0.6)  # size, radius and stroke of a swatch
SIZES = (12, 11)  # px of a label, and of a number of cells


class Key:
    """The legends of a figure in a width: in one column, or in as many as fit; a long label takes several lines.

    counts: with how many cells there are of each; without, what is meant stands in lines, and what is repeated, or of several
    legends tells nothing apart, is left out.

    >>> from cute_viz import figure
    >>> key = Key(figure("(2,2):(2,1)", color_by="row"), LEGEND_WIDTH, column=True)
    >>> key.height, [line.text for line in key.placed(0, 0)[1]]
    (78.0, ['hue: row', 'row 0', '2 cells', 'row 1', '2 cells'])
    >>> [line.text for line in Key(figure("(2,2):(2,1)", color_by="row"), 200, False, counts=False).placed(0, 0)[1]]
    ['hue: row', 'row 0', '1']
    """

    def __init__(self, figure: Figure, width: float, column: bool, counts: bool = True) -> None:
        letter = SIZES[0] * PROSE
        words = [(legend, e, count_words(figure, legend, e) if counts else "") for legend in figure.legends for e in legend.entries]
        widest = max(
            (INDENT + (22 if count else 8) + (len(e.label) + (2 + len(count) if count else 0)) * letter for _, e, count in words),
            default=width,
        )
        columns = 1 if column else max(1, int(width // widest))
        self.step = min(widest, width) if counts else 0.0
        self.width = width if counts or column else min(width, BLOCK)
        self.legends: list[tuple[list[str], list[list[tuple[LegendEntry, list[str], str]]]]] = []
        few = counts or len(figure.legends) < SEVERAL
        for legend in [legend for legend in figure.legends if few or len(legend.entries) > 1]:
            labels = [e.label for e in legend.entries] if counts else _unrepeated([e.label for e in legend.entries])
            own = [count for mine, _, count in words if mine is legend]
            mine = [
                (e, wrap(label, self.width - INDENT, letter), count)
                for e, label, count in zip(legend.entries, labels, own, strict=True)
            ]
            rows = [mine[n : n + columns] for n in range(0, len(mine), columns)] if counts else _lines(mine, self.width)
            self.legends.append((wrap(legend.title, self.width, letter), rows))
        sizes = [(self.width, len(title) * 18 + 20.0 + sum(map(_height, rows))) for title, rows in self.legends]
        self.corners, _, self.height = shelves(sizes, width, 0.0)

    def placed(self, x: float, y: float) -> tuple[list[Swatch], list[Line]]:
        """Swatches; headings, meanings and counts, from a corner on."""
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
                for entry, label, count in row:
                    swatches.append(Swatch(left, top, *SWATCH, entry.paint))
                    lines += [Line(text, left + INDENT, top + 7 + LINE * k, SIZES[0], TEXT) for k, text in enumerate(label)]
                    if count:
                        at = left + INDENT + 10 + len(label[-1]) * SIZES[0] * PROSE
                        lines.append(Line(count, at, top + 7 + LINE * (len(label) - 1), SIZES[1], MUTED))
                    left += self.step or _across(label)
                top += _height(row)
        return swatches, lines


def _across(label: Sequence[str]) -> float:
    """px from an entry without a count to the next of its line."""
    return INDENT + max(map(len, label)) * SIZES[0] * PROSE + 12


def _lines(entries: Sequence[tuple[LegendEntry, list[str], str]], width: float) -> list[list[tuple[LegendEntry, list[str], str]]]:
    """Entries in lines of a width."""
    out: list[list[tuple[LegendEntry, list[str], str]]] = [[]]
    for entry in entries:
        if out[-1] and sum(_across(label) for _, label, _ in [*out[-1], entry]) - 12 > width:
            out.append([])
        out[-1].append(entry)
    return out


def _unrepeated(labels: Sequence[str]) -> list[str]:
    """Labels of a word and a number, all of the same word, with the word once.

    >>> _unrepeated(["chunk 0", "chunk 1"]), _unrepeated(["warp 0", "free"])
    (['chunk 0', '1'], ['warp 0', 'free'])
    """
    words = {label.rpartition(" ")[0] for label in labels}
    alike = len(words) == 1 and all(label.rpartition(" ")[2].isdigit() for label in labels)
    return [*labels[:1], *[label.rpartition(" ")[2] for label in labels[1:]]] if alike else [*labels]


def _height(row: Sequence[tuple[LegendEntry, list[str], str]]) -> float:
    return ROW + LINE * (max(len(label) for _, label, _ in row) - 1)


def narrowest(figure: Figure) -> float:
    """px of a column of the legends without counts: as wide as the longest label, within reason.

    >>> from cute_viz import figure
    >>> narrowest(figure("(2,2):(2,1)", color_by="row"))
    110.0
    """
    longest = max((len(entry.label) for legend in figure.legends for entry in legend.entries), default=0)
    return float(min(LEGEND_WIDTH, max(110.0, INDENT + longest * SIZES[0] * PROSE)))


def count_words(figure: Figure, legend: Legend, entry: LegendEntry) -> str:
    """How many cells have an entry's paint, in words; none where cells of the legend have several owners, as only one is shown.

    >>> from cute_viz import figure
    >>> drawn = figure("(2,2):(2,1)", tile=(2, 2)), figure("(2,2):(0,1)", tile=(1, 2))
    >>> [count_words(one, one.legends[0], one.legends[0].entries[0]) for one in drawn]
    ['2 cells', '']
    """
    return "" if is_shared(figure, legend) else counted(entry.count)


def free_corner(figure: Figure, sizes: list[tuple[float, float]], column: float, counts: bool) -> bool:
    """Whether the upper left place of the panels is empty, and has room for the legend.

    >>> from cute_viz import figure
    >>> free_corner(figure("SM80_16x8x16_F32F16F16F32_TN"), [(400, 500)] * 3, LEGEND_WIDTH, True)
    True
    """
    places = [panel.place for panel in figure.panels]
    if not figure.legends or (0, 0) in places or not any(p[0] == 0 for p in places) or not any(p[1] == 0 for p in places):
        return False
    width = max(w for place, (w, _) in zip(places, sizes, strict=True) if place[1] == 0)
    height = max(h for place, (_, h) in zip(places, sizes, strict=True) if place[0] == 0)
    return width >= column and height >= Key(figure, column, True, counts).height


def heading(figure: Figure) -> list[Line]:
    """What stands above the panels: the title, the source and the caption.

    >>> from cute_viz import figure
    >>> heading(figure("(2,4)"))[1].text
    '(2,4):(1,2)'
    """
    return [
        Line(figure.title, 0, 0, 17, TEXT, weight=700),
        Line(figure.source, 0, 0, 12.5, TEXT, mono=True),
        Line(figure.caption, 0, 0, 12.5),
    ]


def prose(lines: list[Line], width: float, y: float, x: float) -> list[Line]:
    """Lines of text cut to the width, from y down.

    >>> [line.y for line in prose([Line("one two", 0, 0, 10)], 40, 0, 0)]
    [8.0]
    """
    out = []
    for line in lines:
        letter = line.size * (CHAR if line.mono else BOLD if line.weight > 400 else PROSE)
        for text in wrap(line.text, width, letter, line.mono):
            if text:
                out.append(line._replace(text=text, x=x, y=y + line.size * 0.8))
                y += line.size * 1.6
    return out
