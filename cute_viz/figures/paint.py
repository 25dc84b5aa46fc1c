"""Which cells share a hue, and which shade: the meaning of colour, explained by a legend.

Keys (an offset, a thread ...) are put into at most eight groups of equal size, in order, one hue each; keys whose borders must be
seen (tiles, copies, warps), where there are more than eight, take turns with the hues, so that neighbours differ.
A second key may order the cells inside a group: it becomes the shade, the lighter the higher.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any, TypeAlias

from cute_viz.algebra.composed import AnyLayout, domain
from cute_viz.algebra.inttuple import leaves, product, show
from cute_viz.algebra.layout import idx2crd
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.figures.model import HOLE, Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.records import dataclass

HUES = 8
Words: TypeAlias = "tuple[str, str, str] | tuple[str, str, str, str]"
SHADES = 4


@dataclass(frozen=True, slots=True)
class Painting:
    """The paint of each cell, the paints that they index, and the legend."""

    cells: tuple[int, ...]
    paints: tuple[Paint, ...]
    legends: tuple[Legend, ...]

    def figure(
        self,
        kind: str,
        words: Words,
        panels: Iterable[Panel],
        notes: Iterable[str],
        facts: Mapping[str, object],
        mute: str | None = None,
    ) -> Figure:
        """The figure of panels with these paints. words: title, source, caption and, where it is not made of these, description.
        mute: as of `Figure`."""
        title, source, caption, *rest = words
        description = rest[0] if rest else ""
        mine = self.paints, self.legends, tuple(panels), tuple(notes), facts
        return Figure(kind, title, source, caption, description, *mine, mute=mute)


def bands(low: int, high: int, steps: Sequence[int] = (), apart: bool = False) -> tuple[int, int, int]:
    """How hues and shades share out the numbers low..high: numbers to a hue, shades of a hue, numbers to a shade.

    steps: strides of a layout, from which a band is taken where it can be, so that hues change where a mode goes on: the least that
    needs no more hues than there are, or as many of the largest. apart: numbers are left out; then each of the largest strides of
    a band has a shade, so that a line of cells has one paint.
    """
    least = band = -(-(high - low + 1) // HUES)
    if usable := sorted({abs(step) for step in steps if step}):
        largest = usable[-1]
        band = next((step for step in usable if step >= least), -(-least // largest) * largest)
        band = band if 2 * band <= high - low + 1 else least  # of one hue nothing can be told
        if apart and largest < band <= SHADES * largest and band % largest == 0:
            return band, band // largest, largest
    shades = min(SHADES, band)
    return band, shades, -(-band // shades)


def span(first: int, last: int, prefix: str = "") -> str:
    """The numbers from first to last, in words."""
    if first < last and prefix.endswith(" "):
        return f"{prefix[:-1]}s {first}..{last}"
    return f"{prefix}{first}" if first >= last else f"{prefix}{first}..{prefix}{last}"


def listed(numbers: Sequence[int], prefix: str = "", most: int = 3) -> str:
    """Some numbers, the first few of many."""
    return prefix + ", ".join(map(str, numbers[:most])) + (" …" if len(numbers) > most else "")


def in_turns(keys: Sequence[int | None], shapes: Sequence[tuple[int, int]]) -> dict[int, int]:
    """A hue for each key: the key modulo eight, or the next hue that none of its neighbours has.

    keys: of the cells of panels, row by row, one panel after the other; shapes: rows and columns of each panel.
    """
    near: dict[int, set[int]] = {key: set() for key in sorted({key for key in keys if key is not None})}
    at = 0
    for rows, cols in shapes:
        for r in range(rows):
            row = keys[at + r * cols : at + (r + 1) * cols]
            below = keys[at + (r + 1) * cols : at + (r + 2) * cols] if r + 1 < rows else ()
            for a, b in {*pairwise(row), *zip(row, below, strict=False)}:
                if a != b and a is not None and b is not None:
                    near[a].add(b)
                    near[b].add(a)
        at += rows * cols
    out: dict[int, int] = {}
    for key, others in near.items():
        taken = {out[other] for other in others if other in out}
        out[key] = next((hue for n in range(HUES) if (hue := (key + n) % HUES) not in taken), key % HUES)
    return out


def unpainted(count: int) -> Painting:
    """Every cell on plain paper."""
    return Painting((0,) * count, (Paint(-1),), ())


def receding(paints: Sequence[Paint], cells: Iterable[int], lit: Iterable[bool]) -> tuple[tuple[Paint, ...], list[int]]:
    """Paints with their faded twins behind them, and cells with the twin wherever nothing is lit."""
    count = len(paints)
    faded = [cell if bright or cell == HOLE else cell + count for cell, bright in zip(cells, lit, strict=True)]
    return (*paints, *[replace(paint, faded=True) for paint in paints]), faded


def painted(figures: Sequence[Figure], cells: Iterable[int], paints: Sequence[Paint]) -> list[Figure]:
    """The figures with paints of one painting, cell after cell through all their panels, and without their own legends."""
    rest = iter(cells)
    panels = [[replace(p, paints=tuple(islice(rest, len(p.paints)))) for p in figure.panels] for figure in figures]
    return [replace(f, panels=tuple(mine), paints=tuple(paints), legends=()) for f, mine in zip(figures, panels, strict=True)]


def by_order(keys: Sequence[int | None], title: str, prefix: str = "", steps: Sequence[int] = ()) -> Painting:
    """Hue and shade both from one ordered key: eight bands of equal width at most, each from dark to light; steps: as of
    `bands`."""
    known = [k for k in keys if k is not None]
    low, high = (min(known), max(known)) if known else (0, 0)
    band, shades, step = bands(low, high, steps, len({*known}) <= high - low)

    def paint(key: int) -> tuple[int, int]:
        hue, rest = divmod(key - low, band)
        return hue, rest // step

    def label(pair: tuple[int, int]) -> str:
        hue, _ = pair
        return span(low + hue * band, min(high, low + (hue + 1) * band - 1), prefix)

    return _painting(keys, paint, shades, label, title + ("; shade: lighter is higher" if any(paint(k)[1] for k in known) else ""))


def by_group(
    keys: Sequence[int | None],
    count: int,
    title: str,
    prefix: str = "",
    order: Sequence[int | None] | None = None,
    order_count: int = 1,
    order_title: str = "",
    order_prefix: str = "",
    turns: Mapping[int, int] | None = None,
) -> Painting:
    """Hue from a key in 0..count-1; shade, if there is an order, from a second key in 0..order_count-1.

    turns: the hue of each key, where there are more keys than hues and neighbours must differ (`in_turns`); of twice as many at
    most, the second key of a hue has a lighter shade.
    """
    per = -(-count // HUES)
    hues = {key: key // per for key in range(count)} if turns is None or count <= HUES else turns
    taking: dict[int, list[int]] = {}  # hue -> the keys that take it
    for key, hue in hues.items():
        taking.setdefault(hue, []).append(key)
    most = max(map(len, taking.values()), default=1)
    if hues is turns and order is None and count <= 2 * HUES and most <= SHADES:
        places = {key: (hue, taking[hue].index(key)) for key, hue in hues.items()}
        return _painting(keys, places.__getitem__, most, lambda pair: f"{prefix}{taking[pair[0]][pair[1]]}", title, apart=True)
    shades = min(SHADES, order_count) if order is not None else 1
    step = -(-order_count // shades)
    merged: Sequence[int | None] = keys
    if order is not None and shades > 1:
        merged = [None if k is None or o is None else k * order_count + o for k, o in zip(keys, order, strict=True)]

    def paint(key: int) -> tuple[int, int]:
        if shades == 1:
            return hues[key], 0
        group, rest = divmod(key, order_count)
        return hues[group], rest // step

    def label(pair: tuple[int, int]) -> str:
        hue, _ = pair
        if hues is turns:
            return listed(taking[hue], prefix)
        return span(hue * per, min(count, (hue + 1) * per) - 1, prefix)

    painting = _painting(merged, paint, shades, label, title)
    if shades == 1:
        return painting
    first = next((n for n, p in enumerate(painting.paints) if p.shade == 0), 0)
    hue = painting.paints[first].hue if painting.paints else 0
    paints = list(painting.paints)
    entries = []
    for shade in range(shades):
        sample = Paint(hue, shade, shades)
        if sample not in paints:
            paints.append(sample)
        label_ = span(shade * step, min(order_count, (shade + 1) * step) - 1, order_prefix)
        if shade * step < order_count:
            entries.append(LegendEntry(paints.index(sample), label_))
    return Painting(painting.cells, tuple(paints), (*painting.legends, Legend(order_title, tuple(entries))))


def _painting(
    keys: Sequence[int | None],
    paint: Callable[[int], tuple[int, int]],
    shades: int,
    label: Callable[[tuple[int, int]], str],
    title: str,
    apart: bool = False,
) -> Painting:
    """Paints numbered by (hue, shade), cells pointing at them, one legend entry a hue that occurs; apart: one a shade."""
    pair_of = {key: paint(key) for key in set(keys) if key is not None}
    pairs = sorted(set(pair_of.values()))
    number = {pair: n for n, pair in enumerate(pairs)}
    paint_of: dict[int | None, int] = {key: number[pair] for key, pair in pair_of.items()}
    paint_of[None] = HOLE
    cells = tuple([paint_of[key] for key in keys])
    first = dict(sorted(pair_of.items())) if apart else {pair[0]: pair for pair in reversed(pairs)}
    entries = tuple(LegendEntry(number[first[key]], label(first[key])) for key in sorted(first))
    return Painting(cells, tuple(Paint(hue, shade, shades) for hue, shade in pairs), (Legend(title, entries),))


def chunks(swizzle: Swizzle | None, order: Sequence[int], rows: int, cols: int) -> tuple[tuple[int, int, int, int], ...]:
    """The runs of consecutive offsets that a swizzle moves as one, along the direction that has more."""
    if swizzle is None or not swizzle.bits or not (kept := min(swizzle.changed, swizzle.read)):
        return ()
    whole = 1 << kept
    step = cols if rows > 1 and order[cols] == order[0] + 1 else 1
    out = []
    for start, offset in enumerate(order):
        if offset % whole:
            continue
        run = order[start : start + whole * step : step]
        r, c = divmod(start, cols)
        fits = r + whole <= rows if step == cols else c + whole <= cols
        if fits and [*run] == list(range(offset, offset + whole)):
            out.append((r, c, r + whole, c + 1) if step == cols else (r, c, r + 1, c + whole))
    return tuple(out)


def levels(shape: Any) -> tuple[int, ...]:
    """The weight of the line before each index of a mode: how many of its inner tiles begin there."""
    count = product(shape)
    tiles, extent = set(), 1
    for leaf in leaves(shape):
        extent *= leaf
        if 1 < extent < count:
            tiles.add(extent)
    out = [0] * (count + 1)
    for tile in tiles:
        for i in range(tile, count, tile):
            out[i] += 1
    return tuple(out)


def ruler(title: str, shape: Any, *, nested: bool = False, prefix: str = "") -> Ruler:
    """The ruler of a mode; with `nested`, labels are the mode's own coordinates."""
    count = product(shape)
    if nested and isinstance(shape, tuple):
        labels = tuple(show(idx2crd(i, shape)) for i in range(count))
    else:
        labels = tuple(f"{prefix}{i}" for i in range(count))
    return Ruler(title, labels, levels(shape))


def borders(lines: int, every: int) -> tuple[int, ...]:
    """The levels of so many lines with a border at every so many of them, such as those of a warp; 0 for none."""
    return tuple([int(every > 0 and 0 < n < lines and n % every == 0) for n in range(lines + 1)])


def with_borders(ruler: Ruler, every: int) -> Ruler:
    """A ruler with a border at every so many lines, such as those of an atom; 0 for none."""
    if every < 1:
        return ruler
    last = len(ruler.levels) - 1
    levels = tuple(max(level, 1) if 0 < i < last and i % every == 0 else level for i, level in enumerate(ruler.levels))
    return replace(ruler, levels=levels)


def numbered(title: str, numbers: Sequence[int], labels: Sequence[str] = ()) -> Ruler:
    """A ruler of numbers, or of their labels, with a border where some are left out."""
    return Ruler(title, tuple(labels or map(str, numbers)), (0, *[int(b != a + 1) for a, b in pairwise(numbers)], 0))


def boxes_of(cells: Iterable[int], cols: int) -> list[tuple[int, int, int, int]]:
    """Boxes around cells, in their order: runs of a row, and of rows below each other that have the same."""
    runs: list[tuple[int, int, int]] = []  # row, columns
    for r, c in (divmod(n, cols) for n in cells):
        if runs and (runs[-1][0], runs[-1][2]) == (r, c):
            runs[-1] = (r, runs[-1][1], c + 1)
        else:
            runs.append((r, c, c + 1))
    tops: dict[tuple[int, int, int], int] = {}  # by where they end
    for r, first, last in runs:
        tops[r + 1, first, last] = tops.pop((r, first, last), r)
    return [(top, first, end, last) for (end, first, last), top in tops.items()]


def steps_of(layout: AnyLayout) -> tuple[int, ...]:
    """The strides of a layout at which a larger tile of memory begins, as integers; none where they are not integers."""
    plain = domain(layout)
    pairs = zip(leaves(plain.shape), leaves(plain.stride), strict=True)
    strides = [stride for extent, stride in pairs if extent > 1]
    return tuple(strides) if all(isinstance(stride, int) for stride in strides) else ()
