"""What formats measure alike: fonts, lines of text and labels, runs of equal cells, thinned rulers, panels in rows and columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from itertools import groupby, repeat
from typing import Any, ParamSpec, TypeAlias, TypeVar

from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Panel
from cute_viz.limits import limit
from cute_viz.records import dataclass, pattern

P = ParamSpec("P")
T = TypeVar("T")
Sizes: TypeAlias = "tuple[float, float, float, float]"  # of a panel: cell width and height, room at the left and above

SANS = "system-ui, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif"  # what SVG asks for, of prose
FONT = 11  # px, of a cell's first line
SMALL = 9  # px, of the lines after it
CAPTION = 12  # px, of a panel's caption
BOLD = 0.64  # width of an average letter of bold prose, in font sizes, on the safe side
ORPHAN = 0.34  # of the first line, than which the last is not shorter where its text can be cut otherwise
PROSE = 0.6  # width of an average letter of prose, in font sizes, on the safe side
CHAR = 0.61  # width of a monospace character, in font sizes
ALL_COLUMNS = 32  # up to so many columns, cells are made wide enough for every column's label
_THINGS = pattern(r"((?:free )?\w+?)(s|ies|ices)\b", re.ASCII)  # what facts count
_ONE = {"s": "", "ies": "y", "ices": "ix"}

_KEPT: ContextVar[dict[Any, Any] | None] = ContextVar("kept", default=None)


@contextmanager
def keeping() -> Iterator[None]:
    """Keep what is measured of figures and panels until the end of the outermost block: a page tries many arrangements of them."""
    token = _KEPT.set({} if _KEPT.get() is None else _KEPT.get())
    try:
        yield
    finally:
        _KEPT.reset(token)


def kept(*fields: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A function whose result is kept while `keeping`: of the first argument it reads these fields alone, or all."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **words: P.kwargs) -> T:
            found = _KEPT.get()
            if found is None or words:
                return function(*args, **words)
            parts = [getattr(args[0], field) for field in fields] or [args[0]]
            key = (function, *map(id, parts), *args[1:])
            if key not in found:
                found[key] = (function(*args, **words), parts)  # whose ids are theirs as long as they are held here
            result: T = found[key][0]
            return result

        return call

    return decorate


@dataclass(frozen=True, slots=True)
class CellLabels:
    """The labels of a panel line by line, `lines[n][cell]`, and the cells to be marked as having several owners."""

    lines: tuple[tuple[str, ...], ...]
    shared: dict[int, int]

    @property
    def depth(self) -> int:
        """How many lines the tallest label has."""
        return len(self.lines)

    @property
    @kept("lines")
    def widths(self) -> tuple[int, int]:
        """Characters of the longest first line, and of the longest line after it."""
        longest = [max(map(len, set(line)), default=0) for line in self.lines]
        return longest[0], max(longest[1:], default=0)


@kept("labels", "owners", "rows", "cols")
def cell_labels(panel: Panel) -> CellLabels:
    """The labels of a panel; a cell with several owners says how many, `×n`, on its last line."""
    shared = shared_cells(panel)
    labels = texts(panel)
    if shared:
        marked = list(labels)
        for cell, count in shared.items():
            if marked[cell]:
                marked[cell] += f" ×{count}"
        labels = marked
    return CellLabels(split_lines(labels), shared)


def split_lines(labels: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    r"""Labels line by line; one of fewer lines than the others has empty ones below."""
    breaks = set(map(str.count, labels, repeat("\n")))
    if breaks == {0}:
        return (tuple(labels),)
    if breaks == {1}:  # nearly always one or the other; one split does for all
        parts = "\n".join(labels).split("\n")
        return tuple(parts[::2]), tuple(parts[1::2])
    split = {label: label.split("\n") for label in set(labels)}
    depth = 1 + max(breaks)
    padded = {label: [*parts, *[""] * (depth - len(parts))] for label, parts in split.items()}
    return tuple(tuple([padded[label][n] for label in labels]) for n in range(depth))


def texts(panel: Panel) -> Sequence[str]:
    """The label of every cell; of a panel without labels, empty ones. Raises: FigureError for an image of more cells than a
    figure has; only formats that draw pixels show it."""
    cells = panel.rows * panel.cols
    if panel.labels or cells <= limit("cells"):
        return panel.labels or ("",) * cells
    raise FigureError(f"an image of {cells} cells has no text to write", hint="svg, png, pdf, html and tikz show it")


@kept("labels", "owners", "rows", "cols")
def shared_cells(panel: Panel) -> dict[int, int]:
    """Cells to be marked as having several owners, with how many; none whose label names them all (`T0,64`)."""
    labels = texts(panel) if panel.owners else ()
    return {cell: len(owners) for cell, owners in panel.owners if labels[cell] and labels[cell].count(",") + 1 < len(owners)}


def fact_line(figure: Figure) -> str:
    """The figure's facts in one line, less those that only CuTe's own printers need."""
    facts = {name: value for name, value in figure.facts.items() if not name.startswith("drawn")}
    each = ", ".join(f"{name[10:]} {value}" for name, value in facts.items() if name.startswith("values of "))
    words = [_counted(name, value) for name, value in facts.items() if not name.startswith("values of ")]
    return " · ".join(words + ([f"values per {'CTA' if 'CTAs' in facts else 'thread'}: {each}"] if each else []))


def _counted(name: str, value: object) -> str:
    """A fact in words, a number of things before their name: `32 threads`, `1 column`, `cosize 12`."""
    found = _THINGS.match(name)
    if found is None or not isinstance(value, int):
        return f"{name} {value}"
    one = found[1] + _ONE[found[2]]
    return f"{value} {one if value == 1 else found[0]}{name[found.end() :]}"


def shared_sizes(panels: Sequence[Panel], sizes: Sequence[Sizes]) -> list[Sizes]:
    """Cell sizes and ruler rooms such that panels of one figure line up: rows with rows, columns with columns. Panels that stand
    side by side share the room above, and the height of their cells if they have as many rows; panels on top of each other that
    have as many columns, their cells' width and the room at the left."""
    tops = {
        at: max(top for p, (*_, top) in zip(panels, sizes, strict=True) if p.place[0] == at) for at, _ in (p.place for p in panels)
    }
    out = [(w, h, left, tops[p.place[0]]) for p, (w, h, left, _) in zip(panels, sizes, strict=True)]
    for axis in (0, 1):
        groups: dict[tuple[int, int], list[int]] = {}
        for n, panel in enumerate(panels):
            groups.setdefault((panel.place[axis], panel.rows if axis == 0 else panel.cols), []).append(n)
        for members in groups.values():
            for n in members:
                w, h, left, top = out[n]
                if axis == 0:
                    h = max(out[m][1] for m in members)
                else:
                    w, left = max(out[m][0] for m in members), max(out[m][2] for m in members)
                out[n] = (w, h, left, top)
    return out


def runs(row: Sequence[T]) -> list[tuple[T, int]]:
    """Runs of equal entries as (entry, length)."""
    return [(value, len(list(group))) for value, group in groupby(row)]


def cell_runs(paints: Sequence[int], cols: int) -> dict[int, tuple[list[int], list[int], list[int]]]:
    """Cells by their paint: the row, the first column and the length of each run of equal cells in a row."""
    out: dict[int, tuple[list[int], list[int], list[int]]] = {}
    for r in range(len(paints) // cols):
        c = 0
        for paint, n in runs(paints[r * cols : (r + 1) * cols]):
            rows, starts, lengths = out.setdefault(paint, ([], [], []))
            rows.append(r)
            starts.append(c)
            lengths.append(n)
            c += n
    return out


def lattices(points: Iterable[tuple[float, float]]) -> list[tuple[float, float, int, float, int, float]]:
    """Points as (x, y, how many across, how far apart, how many down, how far apart): lines that are alike become one."""
    lines: dict[float, list[float]] = {}
    for x, y in points:
        lines.setdefault(y, []).append(x)
    heads: dict[tuple[float, int, float], list[float]] = {}  # (x, how many across, how far apart) -> the ys
    for y, xs in sorted(lines.items()):
        for x, n, dx in _steps(sorted(xs)):
            heads.setdefault((x, n, dx), []).append(y)
    return sorted((x, y, n, dx, m, dy) for (x, n, dx), ys in heads.items() for y, m, dy in _steps(ys))


def _steps(values: Sequence[float]) -> list[tuple[float, int, float]]:
    """Rising numbers as (first, how many, how far apart): runs of one step."""
    out, at = [], 0
    while at < len(values):
        step = values[at + 1] - values[at] if at + 1 < len(values) else 0
        stop = at + 1
        while stop < len(values) and abs(values[stop] - values[stop - 1] - step) < 1e-6:
            stop += 1
        out.append((values[at], stop - at, step if stop - at > 1 else 0))
        at = stop
    return out


def wrap(text: str, width: float, letter: float, commas: bool = False) -> list[str]:
    """The text in lines of a width, cut at spaces (or after commas and colons); a word that is too long after an _, or anywhere."""
    most = max(8, int(width / letter))
    out = []
    while len(text) > most:
        cut = space = text.rfind(" ", 0, most + 1)
        if commas and cut <= most // 3:
            cut = text.rfind(",", 0, most) + 1
            cut = cut if cut > most // 3 else text.rfind(":", 0, most) + 1
        word = text.find(" ", space + 1)
        whole = space > 0 and (word if word > 0 else len(text)) - space <= most  # the next word fits into a line
        part = text.rfind("_", 0, most) + 1 if commas else 0
        cut = cut if cut > most // 3 else space if whole else part if part > most // 3 else most
        out.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*out, text] if text or not out else out


def balanced(text: str, width: float, letter: float, commas: bool = False) -> list[str]:
    """The text in as many lines as `wrap` has, narrower where the last would else be short."""
    found = best = wrap(text, width, letter, commas)
    while len(found) == len(best) > 1 and len(found[-1]) < ORPHAN * len(found[0]) and width > 8 * letter:
        best, width = found, width - letter
        found = wrap(text, width, letter, commas)
    return found if len(found) == len(best) else best


def column_step(labels: Sequence[str], letter: float, width: float) -> int:
    """Every how many columns a ruler's label has room: a power of two."""
    return _power(-(-(max(map(len, labels)) * letter + 6) // width))


def row_step(font: float, height: float) -> int:
    """Every how many rows a ruler's label has room: a power of two."""
    return _power(-(-(font + 1) // height))


def _power(count: float) -> int:
    """The smallest power of two that is not less."""
    return 1 << max(0, int(count) - 1).bit_length()


def arrange(
    places: Sequence[tuple[int, int]], sizes: Sequence[tuple[float, float]], gap: float, apart: bool = False
) -> tuple[list[tuple[float, float]], float, float]:
    """Where panels stand, and the size of all: columns as wide, and rows as high, as their largest panel. A panel that is alone
    in its row does not widen its column. apart: each row has columns of its own."""
    if apart:
        lines = [[n for n, place in enumerate(places) if place[0] == row] for row in sorted({row for row, _ in places})]
        at, y, width = [(0.0, 0.0)] * len(places), 0.0, 0.0
        for line in lines:
            x = 0.0
            for n in sorted(line, key=lambda n: places[n][1]):
                at[n] = x, y
                x += sizes[n][0] + gap
            y, width = y + max(sizes[n][1] for n in line) + gap, max(width, x - gap)
        return at, width, y - gap
    widths: dict[int, float] = {}
    heights: dict[int, float] = {}
    rows = [row for row, _ in places]
    alone = [rows.count(row) == 1 and len(set(rows)) > 1 and col == 0 for row, col in places]
    if all(alone):
        alone = [False] * len(alone)
    for (row, col), (width, height), own in zip(places, sizes, alone, strict=True):
        widths[col] = max(widths.get(col, 0), 0 if own else width)
        heights[row] = max(heights.get(row, height), height)
    xs = {col: sum(w + gap for c, w in widths.items() if c < col and w) for col in widths}
    ys = {row: sum(h + gap for r, h in heights.items() if r < row) for row in heights}
    beside = sum(widths.values()) + gap * (len([w for w in widths.values() if w]) - 1)
    total = (
        max([beside, *(w for (w, _), own in zip(sizes, alone, strict=True) if own)]),
        sum(heights.values()) + gap * (len(heights) - 1),
    )
    return [(xs[col], ys[row]) for row, col in places], *total


@lru_cache(maxsize=1 << 13)  # the cells of a page share their lines
def number(x: float) -> str:
    """A coordinate with two digits at most and no trailing zeros."""
    return f"{x:.2f}".rstrip("0").rstrip(".") if x != int(x) else str(int(x))
