"""The legends of a page, measured and placed: a column beside the panels, or rows below them."""

from __future__ import annotations

from collections.abc import Sequence

from cute_viz.figures.model import Figure, Legend, LegendEntry
from cute_viz.renderers.geometry import BOLD, CHAR, PROSE, counted, wrap
from cute_viz.renderers.primitives import MUTED, TEXT, Line, Swatch

LEGEND_WIDTH = 230.0  # of a column
ROW = 20.0  # height of an entry of one line
LINE = 14.0  # height of each further line
INDENT = 22.0  # from a swatch to its label
SWATCH = (14.0, 2.0, 0.6)  # size, radius and stroke of a swatch
SIZES = (12, 11)  # px of a label, and of a number of cells


class Key:
    """The legends of a figure in a width: in one column, or in as many as fit; a long label takes several lines.

    counts: with how many cells there are of each.

    >>> from cute_viz import figure
    >>> key = Key(figure("(2,2):(2,1)", color_by="row"), LEGEND_WIDTH, column=True)
    >>> key.height, [line.text for line in key.placed(0, 0)[1]]
    (78.0, ['hue: row', 'row 0', '2 cells', 'row 1', '2 cells'])
    """

    def __init__(self, figure: Figure, width: float, column: bool, counts: bool = True) -> None:
        letter = SIZES[0] * PROSE
        words = [(legend, e, count_words(figure, legend, e) if counts else "") for legend in figure.legends for e in legend.entries]
        widest = max(
            (INDENT + (22 if count else 8) + (len(e.label) + (2 + len(count) if count else 0)) * letter for _, e, count in words),
            default=width,
        )
        self.columns = 1 if column else max(1, int(width // widest))
        self.step = min(widest, width)
        self.legends: list[tuple[list[str], list[list[tuple[LegendEntry, list[str], str]]]]] = []
        for legend in figure.legends:
            mine = [(e, wrap(e.label, width - INDENT, letter), count) for own, e, count in words if own is legend]
            rows = [mine[n : n + self.columns] for n in range(0, len(mine), self.columns)]
            self.legends.append((wrap(legend.title, width, letter), rows))

    @property
    def height(self) -> float:
        """px of all legends."""
        return float(sum(len(title) * 18 + 20 + sum(map(_height, rows)) for title, rows in self.legends))

    def placed(self, x: float, y: float) -> tuple[list[Swatch], list[Line]]:
        """Swatches; headings, meanings and counts, from a corner on."""
        lines: list[Line] = []
        swatches: list[Swatch] = []
        for title, rows in self.legends:
            for text in title:
                lines.append(Line(text, x, y + 8, 12))
                y += 18
            y += 6
            for row in rows:
                for n, (entry, label, count) in enumerate(row):
                    left = x + n * self.step
                    swatches.append(Swatch(left, y, *SWATCH, entry.paint))
                    lines += [Line(text, left + INDENT, y + 7 + LINE * k, SIZES[0], TEXT) for k, text in enumerate(label)]
                    if count:
                        at = left + INDENT + 10 + len(label[-1]) * SIZES[0] * PROSE
                        lines.append(Line(count, at, y + 7 + LINE * (len(label) - 1), SIZES[1], MUTED))
                y += _height(row)
            y += 14
        return swatches, lines


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
    shared = any(panel.owners and legend in figure.legends_of(panel) for panel in figure.panels)
    return "" if shared else counted(entry.count)


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
