"""A number as a strip of bits: hexadecimal digits above, a bracket below each field with its name and value; never cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from cute_viz.figures.model import Figure, Paint, Panel, Ruler
from cute_viz.renderers.geometry import BOLD, CAPTION, PROSE
from cute_viz.renderers.primitives import MIDDLE, MUTED, START, TEXT, Border, Boxes, Cells, Grid, Line, Primitive, Strokes, Texts

ONE, ZERO, NONE = Paint(0), Paint(0, 3, 4), Paint(-1)  # a bit that is set, one that is not, one of no field
HIGH, WIDEST = 22.0, 22.0  # px of the strip, and of a bit at most
ABOVE, BELOW = 42.0, 9.0  # px of the caption and the digits above, and down to the end of a bracket
NAME, VALUE, DIGIT = 11.0, 10.0, 9.0  # px of letters
INDENT = 16.0  # px from a stem to its name, and on to the value
LINE, APART = 14.0, 8.0  # px from line to line of a field's words, and between the words of two


def is_strip(panel: Panel) -> bool:
    """Whether a panel shows the bits of a number by field."""
    return "field" in panel.data and "bit" in panel.data


def with_insets(figure: Figure) -> Figure:
    """The figure with the bits of numbers as insets, one row each, set bits strong; their legends become words below the bits."""
    bits = [panel for panel in figure.panels if is_strip(panel)]
    if not bits:
        return figure
    if figure.kind == "operands":  # whose instruction has a picture of its own
        bits = []
    first = len(figure.paints)
    insets = []
    for panel in bits:
        words = {e.label.split(" ")[0]: e.label for legend in figure.legends_of(panel) for e in legend.entries}
        runs = []
        at = 0
        for name, group in groupby(panel.data["field"]):
            n = len(list(group))
            if name is not None:
                runs.append((at, at + n, _words(name, words)))
            at += n
        cells = zip(panel.labels, panel.data["field"], strict=True)
        insets.append(
            replace(
                panel,
                rows=1,
                cols=len(panel.labels),
                paints=tuple([first + (2 if name is None else 0 if label == "1" else 1) for label, name in cells]),
                row_ruler=Ruler("", ("",), (0, 0)),
                col_ruler=Ruler("", tuple([str(bit) for bit in panel.data["bit"]]), (0,) * (len(panel.labels) + 1)),
                boxes=tuple([(0, a, 0, b) for a, b, _ in runs]),
                data={
                    **panel.data,
                    "words": tuple([next((w for a, _, w in runs if a == n), None) for n in range(len(panel.labels))]),
                },
                legends=(),
            )
        )
    rest = [panel for panel in figure.panels if not is_strip(panel)]
    stays = figure.panels[: len(rest)] == tuple(rest) and all(max(a.source, a.target) < len(rest) for a in figure.arrows)
    told = [n for n in range(len(figure.legends)) if any(panel.legends is None or n in panel.legends for panel in rest)]
    rest = [p if p.legends is None else replace(p, legends=tuple([told.index(n) for n in p.legends])) for p in rest]
    legends = tuple([figure.legends[n] for n in told])
    arrows = figure.arrows if stays else ()
    paints = (*figure.paints, ONE, ZERO, NONE)
    return replace(figure, panels=tuple(rest), legends=legends, arrows=arrows, paints=paints, insets=tuple(insets))


def _words(name: str, words: dict[str, str]) -> str:
    """The name of a field and its value, in two lines: its legend begins with the name, or with a short one of it."""
    short = {"start_address": "start", "leading_byte_offset": "LBO", "stride_byte_offset": "SBO", "layout_type": "layout"}
    label = words.get(name) or words.get(short.get(name, ""), name)
    return f"{label.split(' ')[0]}\n{label.partition(' ')[2]}".replace("_", " ")


class Strip:
    """A strip of bits in a width: how high it is, and what it is made of."""

    def __init__(self, panel: Panel, width: float, least: float) -> None:
        self.panel, self.name, self.value, self.digit = panel, max(NAME, least), max(VALUE, least), max(DIGIT, least)
        fields = [(a, b, [line for line in panel.data["words"][a].split("\n") if line]) for _, a, _, b in panel.boxes]
        wide = [
            max(len(x) * (self.value if n else self.name) * (PROSE if n else BOLD) for n, x in enumerate(w)) for *_, w in fields
        ]
        self.bit = min(WIDEST, float(int(4 * width / panel.cols)) / 4)
        middles = [min(max((a + b) / 2 * self.bit, own / 2), width - own / 2) for (a, b, _), own in zip(fields, wide, strict=True)]
        halves = [(middle - own / 2, middle + own / 2) for middle, own in zip(middles, wide, strict=True)]
        self.centred = all(one[1] + APART <= other[0] for one, other in pairwise(halves))
        self.words: list[tuple[int, int, list[str], float, int]] = []
        if self.centred:
            self.words = [(a, b, words, middle, 0) for (a, b, words), middle in zip(fields, middles, strict=True)]
        else:  # words stand in one line at a stem, those of the right above those of the left, so that none is crossed
            wide = [sum(map(self._long, w, (0, 1))) + INDENT for *_, w in fields]
            self.bit = min(self.bit, float(int(4 * (width - (wide[-1] if wide else 0)) / panel.cols)) / 4)
            placed: list[tuple[float, float, int]] = []
            for (a, b, words), own in reversed(list(zip(fields, wide, strict=True))):
                stem = (a + b) / 2 * self.bit
                below = [level for at, _, level in placed if at < stem + own + APART]
                level = max(below) + 1 if below else 0
                placed.append((stem, stem + own, level))
                self.words.insert(0, (a, b, words, stem, level))
        long = len(panel.caption) * CAPTION * BOLD > width
        self.caption = panel.caption.partition(": ")[0] if long else panel.caption
        self.levels = 1 + max((level for *_, level in self.words), default=0)
        self.step = 2 * LINE + 4 if self.centred else LINE + 2
        self.width = max(
            self.bit * panel.cols,
            *(0.0 if self.centred else stem + own for (*_, stem, _), own in zip(self.words, wide, strict=True)),
        )

    def _long(self, text: str, line: int) -> float:
        """px of the first line of a field's words, or of the second."""
        return len(text) * (self.value * PROSE if line else self.name * BOLD)

    @property
    def height(self) -> float:
        """px from its caption to the last words."""
        return ABOVE + HIGH + BELOW + self.levels * self.step + 4

    def grid(self, x: float, y: float) -> Grid:
        """Where the bits are, of a strip whose upper left corner is at x, y."""
        return Grid(1, self.panel.cols, x, y + ABOVE, self.bit, HIGH)

    def items(self, x: float, y: float) -> list[Primitive]:
        """The primitives of the strip at a corner."""
        grid, cols, labels = self.grid(x, y), self.panel.cols, self.panel.labels
        out: list[Primitive] = [Line(self.caption, x, y + 8, CAPTION, TEXT, weight=600)]
        for paint in sorted(set(self.panel.paints)):
            cells = [c for c in range(cols) if self.panel.paints[c] == paint]
            out.append(Cells(grid, paint, [0] * len(cells), cells, [1] * len(cells)))
        out += [Strokes(grid, "l", 0.6, [], grid.xs()[1:-1], 0.2), Border(grid, 1.6)]
        for c in range(0, cols, 4):
            digit = f"{int(''.join(labels[c : c + 4]), 2):x}"
            middle = x + (c + 2) * self.bit
            out.append(
                Line(
                    digit,
                    middle,
                    grid.top - 10,
                    self.name,
                    TEXT if digit != "0" else MUTED,
                    True,
                    400 + 200 * (digit != "0"),
                    MIDDLE,
                )
            )
        ones = [c for c in range(cols) if labels[c] == "1"] if self.bit >= self.digit else []
        if ones:
            middles, paints, few = [grid.middles()[c] for c in ones], [self.panel.paints[c] for c in ones], len(ones)
            out.append(
                Texts(middles, [grid.top + HIGH / 2] * few, ["1"] * few, [self.digit] * few, self.digit, paints, MIDDLE, 400)
            )
        lines: list[tuple[float, float, float, float]] = []
        for a, b, words, middle, level in self.words:
            left, right, at = x + a * self.bit + 1.5, x + b * self.bit - 1.5, grid.bottom + BELOW
            top = at + level * self.step
            lines += [(left, at, right - left, 0.6), (left, at - 4, 0.6, 4), (right, at - 4, 0.6, 4)]
            if not self.centred:
                lines.append((x + middle, at, 0.6, top - at + LINE))
            for n, text in enumerate(words):
                size, weight = (self.value, 400) if n else (self.name, 600)
                role, at_x, line = MUTED if n else TEXT, x + middle, LINE * (n + 0.7)
                if not self.centred:
                    at_x, line = at_x + 4 + n * (self._long(words[0], 0) + INDENT - 2), LINE * 0.7
                out.append(Line(text, at_x, top + line, size, role, weight=weight, anchor=MIDDLE if self.centred else START))
        xs, ys, ws, hs = zip(*lines, strict=True) if lines else ((), (), (), ())
        return [*out, Boxes(xs, ys, ws, hs, 0.0, 0.6)]


def strips(insets: Sequence[Panel], width: float, least: float) -> list[Strip]:
    """The strips of a page."""
    return [Strip(panel, width, least) for panel in insets]
