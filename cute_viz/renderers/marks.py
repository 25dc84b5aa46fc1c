"""Labels of several cells at once, where a single cell is too small for one: of boxes, and of groups of one hue."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import ceil, inf
from typing import NamedTuple

from cute_viz.figures.model import HOLE, Figure, Paint, Panel
from cute_viz.records import pattern
from cute_viz.renderers.geometry import CHAR, FONT, kept, split_lines

NARROWEST = 3.0  # px, of a cell in a box with a label
_PAIR = pattern(r"([0-9]+),([0-9]+)", re.ASCII)  # `3,8`: a coordinate
SEVERAL = 4  # owners that the name of a group lists
NAMELESS = -3  # in the place of a hue, of cells that bear no name of a group; -1 is paper, -2 a conflict
_NUMBERS = pattern(r"([^0-9]*)([0-9]+)(?:-([0-9]+))?", re.ASCII)  # `V7`, `12`, `6-7`


class Mark(NamedTuple):
    """A label of several cells: rows r0..r1, columns c0..c1 (half-open), its lines, and the paint below it."""

    r0: int
    c0: int
    r1: int
    c1: int
    lines: tuple[str, ...]
    paint: int

    @property
    def width(self) -> float:
        """px of the longest line, with some room at both ends."""
        return max(map(len, self.lines)) * FONT * CHAR + 8

    def middle(self, line: int) -> float:
        """px from the middle of the cells down to the middle of a line."""
        return (line - (len(self.lines) - 1) / 2) * 12


def has_vectors(figure: Figure, most: float = inf, pad: float = 10.0) -> bool:
    """Whether boxes hold most cells of every panel, several each, so that one label per box says nearly everything.

    most: px that a panel may take with those labels. pad: as of `vector_width`.

    >>> has_vectors(figure("(2,4):(1,2)", tile=(2, 4))), has_vectors(figure("(4,4)"))
    (True, False)
    """
    for panel in figure.panels:
        held = sum((r1 - r0) * (c1 - c0) for r0, c0, r1, c1 in panel.boxes)
        if not panel.boxes or not panel.labels or 2 * held < panel.rows * panel.cols or held < 2 * len(panel.boxes):
            return False
        if vector_width(panel, pad) > most or not all(box_lines(panel)):
            return False
    return bool(figure.panels)


@kept("boxes", "labels", "cols", "paints")
def vector_marks(panel: Panel, line: bool = False) -> tuple[Mark, ...]:
    """A label for each box, `T5` over `V0-7`, or in one line, from the labels of its cells.

    >>> [mark.lines for mark in vector_marks(figure("(2,4):(1,2)", tile=(2, 4)).panels[0])]
    [('T0', 'V0-3'), ('T1', 'V0-3')]
    """
    boxes = zip(panel.boxes, box_lines(panel), strict=True)
    return tuple(
        [
            Mark(*box, (" ".join(lines),) if line else lines, panel.paints[box[0] * panel.cols + box[1]])
            for box, lines in boxes
            if lines
        ]
    )


@kept("boxes", "labels", "cols")
def box_lines(panel: Panel) -> list[tuple[str, ...]]:
    """The lines of the label of each box; none where the labels of its cells are not the same, a run, or in the first alone.

    >>> box_lines(figure("(2,4):(1,2)", tile=(2, 4)).panels[0])
    [('T0', 'V0-3'), ('T1', 'V0-3')]
    """
    cols, lines = panel.cols, split_lines(panel.labels)
    spans: dict[tuple[str, ...], str | None] = {}  # `V0-7` is what many boxes have
    out = []
    for r0, c0, r1, c1 in panel.boxes:
        found: list[str] = []
        for line in lines:
            labels = line[r0 * cols + c0 : r0 * cols + c1]
            for r in range(r0 + 1, r1):
                labels += line[r * cols + c0 : r * cols + c1]
            if labels.count(labels[0]) == len(labels) or (labels[0] and not any(labels[1:])):
                span: str | None = labels[0]  # of all, or written once
            elif labels in spans:
                span = spans[labels]
            else:
                span = spans[labels] = _span(labels)
            if span is None:
                found = []
                break
            if span:
                found.append(span)
        out.append(tuple(found))
    return out


def _span(labels: Sequence[str]) -> str | None:
    """`V0-7` of V0, V1 ... V7, the one label of all, or None: a range is told of consecutive numbers alone.

    >>> _span(["V0", "V1", "V2"]), _span(["7", "7"]), _span(["288", "280", "287"]), _span(["0-1", "2-3"])
    ('V0-2', '7', None, '0-3')
    """
    if labels.count(labels[0]) == len(labels):
        return labels[0]
    prefix = labels[0].rstrip("0123456789")
    digits = labels[0][len(prefix) :]
    if prefix.isalpha() and digits and [*labels] == [f"{prefix}{n}" for n in range(int(digits), int(digits) + len(labels))]:
        return f"{labels[0]}-{int(digits) + len(labels) - 1}"  # nearly always
    if pairs := [found for label in labels if (found := _PAIR.fullmatch(label))]:
        return _pair_span([(found[1], found[2]) for found in pairs]) if len(pairs) == len(labels) else None
    first = _NUMBERS.fullmatch(labels[0])
    if not first:
        return None
    head, last = first[1], int(first[3] or first[2])
    for label in labels[1:]:
        found = _NUMBERS.fullmatch(label)
        if not found or found[1] != head or not last <= int(found[2]) <= last + 1:
            return None
        last = int(found[3] or found[2])
    return f"{head}{first[2]}-{last}"


def _pair_span(pairs: Sequence[tuple[str, str]]) -> str | None:
    """`3,8-15` of coordinates along a row, `0-7,2` of those down a column.

    >>> _pair_span([("3", "8"), ("3", "9")]), _pair_span([("0", "2"), ("1", "2")]), _pair_span([("0", "0"), ("1", "1")])
    ('3,8-9', '0-1,2', None)
    """
    rows, cols = ([pair[axis] for pair in pairs] for axis in (0, 1))
    if len(set(rows)) > 1 and len(set(cols)) > 1:
        return None
    spans = _span(rows), _span(cols)
    return None if None in spans else ",".join(map(str, spans))


def vector_cell(marks: Sequence[Mark], pad: float = 10.0, heights: tuple[float, float] = (20.0, 30.0)) -> tuple[float, float]:
    """The smallest cell such that the label of every box fits into it, with `pad` px to spare.

    heights: px of a box of one line, and of two.

    >>> vector_cell(vector_marks(figure("(2,4):(1,2)", tile=(2, 4)).panels[0]))
    (9.25, 30.0)
    """
    w = NARROWEST
    for mark in {(m.c1 - m.c0, m.r1 - m.r0, max(map(len, m.lines))) for m in marks}:
        w = max(w, (mark[2] * CHAR * FONT + pad) / mark[0])
    tall = min((m.r1 - m.r0 for m in marks), default=1)
    lines = max((len(m.lines) for m in marks), default=1)
    steps = 4 if pad >= 10 else 64  # of a px: where the room is tight, a quarter of one in each of 64 columns is a label's
    return ceil(steps * w) / steps, float(max(8, -int(-(heights[lines > 1] + 12 * max(0, lines - 2)) / tall)))


@kept("boxes", "labels", "cols")
def vector_width(panel: Panel, pad: float = 10.0) -> float:
    """px that the panel's cells take at least when every box has a label: its first line decides, and is quickly found.

    >>> vector_width(figure("(2,4):(1,2)", tile=(2, 4)).panels[0])
    23.42
    """
    need = NARROWEST
    for r0, c0, _, c1 in panel.boxes:
        label = panel.labels[r0 * panel.cols + c0]
        end = label.find("\n")
        need = max(need, ((len(label) if end < 0 else end) * CHAR * FONT + pad) / (c1 - c0))
    return need * panel.cols


def group_marks(figure: Figure, panel: Panel, w: float, h: float, least: tuple[float, float] = (3.0, 18.0)) -> tuple[Mark, ...]:
    """The names of the groups on rectangles of one hue that are large enough: what the legend calls the hue.

    least: px that a rectangle is wider than a name, and px of its height.

    >>> drawn = figure("(2,4):(1,2)", tile=(2, 4))
    >>> [(mark.lines, mark.r0, mark.c1) for mark in group_marks(drawn, drawn.panels[0], 20, 20)]
    [(('T0',), 0, 4), (('T1',), 1, 4)]
    """
    legends = figure.legends_of(panel)
    if not legends:
        return ()
    named = [(figure.paints[entry.paint], entry.label) for entry in legends[0].entries]
    named = [(paint, label) for paint, label in named if not paint.faded and "," not in label]  # "tile 0, 8": of several groups
    apart = len({paint.hue for paint, _ in named}) < len(named)  # by shades
    names = {paint if apart else paint.hue: label for paint, label in named}
    owner = legends[0].title.removeprefix("hue: ").partition(" ")[0] if "thread" in panel.data else ""
    by_owner = owner in ("thread", panel.warp_name)
    out = []
    for r0, c0, r1, c1, hue in _rectangles(panel, figure.paints):
        if (r1 - r0) * h < least[1] or (c1 - c0) * w < CHAR * FONT + least[0]:
            continue
        own = names.get(figure.paints[panel.paints[r0 * panel.cols + c0]] if apart else hue, "")
        name = _owners(panel, (r0, c0, r1, c1), owner) if by_owner and hue >= 0 else own
        if own and "offset" in panel.data and re.fullmatch(r"hue: offset(; shade.*)?", legends[0].title):
            every = (panel.data["offset"][r * panel.cols + c] for r in range(r0, r1) for c in range(c0, c1))
            here = [offset for offset in every if offset is not None]  # of a band those that lie here
            name = own if not here else str(here[0]) if min(here) == max(here) else f"{min(here)}..{max(here)}"
        for lines in _in_lines(name):
            tall = least[1] + 12 * (len(lines) - 1)
            if (c1 - c0) * w >= max(map(len, lines)) * CHAR * FONT + least[0] and (r1 - r0) * h >= tall:
                out.append(Mark(r0, c0, r1, c1, lines, panel.paints[r0 * panel.cols + c0]))
                break
    return (*_plain_marks(figure, panel, w, h, least), *_once(out, _lit_marks(figure, panel, w, h, least)))


def _once(groups: Sequence[Mark], lit: Sequence[Mark]) -> Iterator[Mark]:
    """Marks of groups and of what is highlighted; where both stand on the same cells, the name of whom it is tells more of several
    owners, and of one the value."""
    places = {mark[:4] for mark in lit}
    several = len({mark.lines for mark in groups if mark[:4] in places}) > 1
    taken = {mark[:4] for mark in groups}
    yield from (mark for mark in groups if several or mark[:4] not in places)
    yield from (mark for mark in lit if not several or mark[:4] not in taken)


def _lit_marks(figure: Figure, panel: Panel, w: float, h: float, least: tuple[float, float]) -> tuple[Mark, ...]:
    """The labels of boxes that are highlighted, `T5 V0-1` or `V0-1`, where they have room."""
    if not panel.labels or not any(paint.faded for paint in figure.paints):
        return ()
    lit = [mark for mark in vector_marks(panel) if mark.paint >= 0 and not figure.paints[mark.paint].faded]
    one = len({mark.lines[-1] for mark in lit}) == 1 < len({mark.lines[0] for mark in lit})  # value of many threads
    for words in ([" ".join(mark.lines) for mark in lit], [mark.lines[0 if one else -1] for mark in lit]):
        rooms = [((mark.c1 - mark.c0) * w, (mark.r1 - mark.r0) * h) for mark in lit]
        fits = [
            len(text) * CHAR * FONT + least[0] <= wide and high >= least[1] for text, (wide, high) in zip(words, rooms, strict=True)
        ]
        if all(fits):  # the same words everywhere
            return tuple([mark._replace(lines=(text,)) for mark, text in zip(lit, words, strict=True)])
    return ()


def _in_lines(name: str) -> list[tuple[str, ...]]:
    """A name in one line, and a range or words in two: none of none.

    >>> _in_lines("128..255"), _in_lines("T0")
    ([('128..255',), ('128..', '255')], [('T0',)])
    """
    head, dots, last = name.partition("..")
    word, space, number = name.partition(" ")
    two = [(head + dots, last)] if dots else [(word, number)] if space else []
    return [(name,), *two] if name else []


def joined(lines: Sequence[str]) -> str:
    """The name whose lines these are.

    >>> joined(("128..", "255")), joined(("warp", "0"))
    ('128..255', 'warp 0')
    """
    return "".join(lines) if lines[0].endswith("..") else " ".join(lines)


def _plain_marks(figure: Figure, panel: Panel, w: float, h: float, least: tuple[float, float]) -> tuple[Mark, ...]:
    """The labels of boxes without a hue, where all are large enough, such as those of core matrices."""
    if not panel.labels or not panel.boxes or any(figure.paints[p].hue >= 0 for p in set(panel.paints) - {HOLE}):
        return ()
    marks = vector_marks(panel)
    fits = all(
        (mark.r1 - mark.r0) * h >= least[1] + 12 * (len(mark.lines) - 1) and (mark.c1 - mark.c0) * w >= mark.width - 8 + least[0]
        for mark in marks
    )
    return marks if fits else ()


@kept("paints", "cols")
def _rectangles(panel: Panel, paints: tuple[Paint, ...]) -> list[tuple[int, int, int, int, int]]:
    """The rectangles of one hue, (row0, col0, row1, col1, hue), by where they end; NAMELESS is what is faded or no cell."""
    hue = [NAMELESS if paint.faded else paint.hue for paint in paints] + [NAMELESS]  # HOLE is -1, the last
    alive: dict[tuple[int, int, int], int] = {}  # (start, stop, hue) of a run -> the row where it began
    out = []
    for r in range(panel.rows + 1):
        now: dict[tuple[int, int, int], int] = {}
        if r < panel.rows:
            start, row = 0, [hue[p] for p in panel.paints[r * panel.cols : (r + 1) * panel.cols]]
            for c in range(1, panel.cols + 1):
                if c == panel.cols or row[c] != row[start]:
                    key = (start, c, row[start])
                    now[key] = alive.get(key, r)
                    start = c
        out += [(r0, c0, r, c1, mine) for (c0, c1, mine), r0 in alive.items() if (c0, c1, mine) not in now]
        alive = now
    return out


@kept("data", "owners", "cols", "warp", "warp_name")
def _owners(panel: Panel, box: tuple[int, int, int, int], what: str) -> str:
    """Who holds a rectangle: `T0..T3`, or `warp 0, 2` where each cell is held by both; "" where no few words tell it."""
    r0, c0, r1, c1 = box
    cells = [i for row in range(r0, r1) for i in range(row * panel.cols + c0, row * panel.cols + c1)]
    owners = _several(panel)
    threads = panel.data["thread"]
    width, word = panel.warp, panel.warp_name
    if what == word:
        several = {owners.get(cell, ((threads[cell], 0),)) for cell in cells}
        each = {frozenset([t // width for t, _ in mine]) for mine in several}
        held = sorted(each.pop()) if len(each) == 1 else []
        if 2 < len(held) == held[-1] - held[0] + 1:
            return f"{word} {held[0]}..{held[-1]}"
        return f"{word} {', '.join(map(str, held))}" if 0 < len(held) <= SEVERAL else ""
    if any(cell in owners for cell in cells):
        return ""
    mine = {threads[cell] for cell in cells}
    low, high = min(mine), max(mine)
    return "" if high - low >= len(mine) else f"T{low}" if low == high else f"T{low}..T{high}"


@kept("owners")
def _several(panel: Panel) -> dict[int, tuple[tuple[int, int], ...]]:
    return dict(panel.owners)
