"""Rulers of a mode: a label for each index, and the borders of the tiles that its nesting makes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from cute_viz.algebra.composed import AnyLayout, domain
from cute_viz.algebra.inttuple import leaves, product, show
from cute_viz.algebra.layout import idx2crd
from cute_viz.figures.model import Ruler


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
