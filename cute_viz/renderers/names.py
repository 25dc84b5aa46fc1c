"""Names of groups of cells, and labels of what is highlighted, on cells that are too small for labels of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import ceil

from cute_viz.figures.model import HOLE, Figure, Paint, Panel
from cute_viz.renderers.geometry import CHAR, FONT, kept
from cute_viz.renderers.marks import Mark, vector_marks

FEW = 32  # boxes that have labels beside them
SEVERAL = 4  # owners that the name of a group lists
NAMELESS = -3  # in the place of a hue, of cells that bear no name of a group; -1 is paper, -2 a conflict


def group_marks(figure: Figure, panel: Panel, w: float, h: float, least: tuple[float, float] = (3.0, 18.0)) -> tuple[Mark, ...]:
    """The names of the groups on rectangles of one hue that are large enough: what the legend calls the hue.

    least: px that a rectangle is wider than a name, and px of its height.
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
        own = names.get(figure.paints[panel.paints[r0 * panel.cols + c0]] if apart else hue, "")
        name = _owners(panel, (r0, c0, r1, c1), owner) if by_owner and hue >= 0 else own
        if own and "offset" in panel.data and re.fullmatch(r"hue: offset(; shade.*)?", legends[0].title):
            every = (panel.data["offset"][r * panel.cols + c] for r in range(r0, r1) for c in range(c0, c1))
            here = [offset for offset in every if offset is not None]  # of a band those that lie here
            name = own if not here else str(here[0]) if min(here) == max(here) else f"{min(here)}..{max(here)}"
        for lines in _in_lines(name):
            tall = least[1] + 12 * (len(lines) - 1)
            if (c1 - c0) * w >= max(map(len, lines)) * CHAR * FONT + least[0] and (r1 - r0) * h >= tall:
                out.append(Mark(r0, c0, r1, c1, lines, panel.paints[r0 * panel.cols + c0], even=True))
                break
    return (*_plain_marks(figure, panel, w, h, least), *_once(out, _lit_marks(figure, panel, w, h, least)))


def _once(groups: Sequence[Mark], lit: Sequence[Mark]) -> Iterator[Mark]:
    """Marks of groups and of what is highlighted; where both stand on the same cells, the name of whom it is tells more of several
    owners, and of one the value."""
    places = {mark[:4] for mark in lit}
    several = len({mark.lines for mark in groups if mark[:4] in places}) > 1
    if any(_overlap(a, b) for a in groups for b in lit if a[:4] != b[:4]):
        lit, places = (), set()
    taken = {mark[:4] for mark in groups}
    yield from (mark for mark in groups if several or mark[:4] not in places)
    yield from (mark for mark in lit if not several or mark[:4] not in taken)


def _lit_marks(figure: Figure, panel: Panel, w: float, h: float, least: tuple[float, float]) -> tuple[Mark, ...]:
    """The labels of boxes that are highlighted, `T5 V0-1` or `V0-1`, where they have room."""
    if not panel.labels or not any(paint >= 0 and figure.paints[paint].faded for paint in {*panel.paints}):
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
    beside = [_next_to(panel, mark, text, (w, h), lit) for mark, text in zip(lit[:FEW], words, strict=False)]
    found = tuple([mark for mark in beside if mark])
    return found if len(found) == len(lit) and not any(_overlap(a, b) for a, b in combinations(found, 2)) else ()


def _overlap(a: Mark, b: Mark) -> bool:
    return a.r0 < b.r1 and b.r0 < a.r1 and a.c0 < b.c1 and b.c0 < a.c1


def _next_to(panel: Panel, mark: Mark, text: str, size: tuple[float, float], lit: Sequence[Mark]) -> Mark | None:
    """The label of a box on the faded cells at its right, or at its left; None where other boxes, or borders, are."""
    wide, more = ceil((len(text) * CHAR * FONT + 3) / size[0]), max(0, ceil((FONT / size[1] - mark.r1 + mark.r0) / 2))
    high = mark.r1 - mark.r0 + 2 * more
    top = max(0, min(mark.r0 - more, panel.rows - high))
    if high > panel.rows:
        return None
    for c0 in (mark.c1, mark.c0 - wide):
        if 0 <= c0 <= panel.cols - wide and not any(panel.col_ruler.levels[c0 + 1 : c0 + wide]):
            found = Mark(top, c0, top + high, c0 + wide, (text,), panel.paints[mark.r0 * panel.cols + c0])
            if not any(_overlap(found, other) for other in lit if other is not mark):
                return found
    return None


def _in_lines(name: str) -> list[tuple[str, ...]]:
    """A name in one line, and a range, words or whose it is and what, in two: none of none."""
    head, dots, last = name.partition("..")
    word, space, number = name.partition(" ")
    who, colon, what = name.partition(": ")
    pair = re.fullmatch(r"(\w+ \d+) (\w+ \d+)", name)  # `CTA 0 warp 0`
    two = [(who + ":", what)] if colon else [(head + dots, last)] if dots else [(word, number)] if space else []
    two = [(pair[1], pair[2])] if pair else two
    return [(name,), *two] if name else []


def joined(lines: Sequence[str]) -> str:
    """The name whose lines these are."""
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
