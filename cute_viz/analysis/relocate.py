"""Other places for the elements of a buffer of shared memory: swizzles and strides, and what its accesses would cost there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from cute_viz.algebra.composed import AnyLayout, ComposedLayout
from cute_viz.algebra.inttuple import leaves, map_leaves
from cute_viz.algebra.layout import Layout, flat_modes
from cute_viz.algebra.static import unknowns
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor
from cute_viz.analysis.banks import BANKS, LANES, WORD, width
from cute_viz.analysis.cost import Side
from cute_viz.errors import CuteVizError
from cute_viz.records import dataclass

_TRIES = 400  # swizzles and strides
_WORK = 1 << 23  # elements whose places are tried in all
_KEPT = 2  # of each kind


@dataclass(frozen=True, slots=True)
class Places:
    """Another place for each element of a buffer: a swizzle of its offset, or `step` for what lies `row` elements apart."""

    swizzle: Swizzle | None = None
    row: int = 1
    step: int = 1

    def __call__(self, places: Iterable[int]) -> list[int]:
        """Where the elements of some places are put."""
        if self.swizzle is not None:
            return self.swizzle.each(places)
        return [place // self.row * self.step + place % self.row for place in places]

    def of(self, layout: Layout) -> AnyLayout | None:
        """A layout with these places; None where no strides give them."""
        if self.swizzle is not None:
            return ComposedLayout(self.swizzle, 0, layout)
        inside = 1
        for extent, stride in flat_modes(layout):
            if stride >= self.row and stride % self.row:
                return None
            inside += (extent - 1) * stride if stride < self.row else 0
        if inside > self.row:
            return None
        return Layout(layout.shape, map_leaves(lambda d: d if d < self.row else d // self.row * self.step, layout.stride))

    def __str__(self) -> str:
        return str(self.swizzle) if self.swizzle is not None else f"a stride of {self.step} instead of {self.row}"


def root_of(x: Tensor) -> tuple[Layout | None, Swizzle | None]:
    """The layout of the whole tensor that threads have parts of, None where a launch decides its extents; the swizzle of its
    element offsets."""
    layout, swizzle = x.root, x.swizzle
    if swizzle is None and x.pointer.swizzle is not None:
        swizzle = x.pointer.swizzle.rescaled(x.bits.bit_length() - 4)
    return (layout if isinstance(layout, Layout) and next(unknowns(layout), None) is None else None), swizzle


def better(sides: list[Side]) -> tuple[list[tuple[Places, int]], int, int]:
    """Other places for the elements of one buffer, by the accesses of it: the best first, with the wavefronts that they leave;
    the wavefronts of now; the ideal. Every access keeps its instruction, and with it its width and alignment."""
    every = [side.instructions() for side in sides]
    ideal = sum(x.ideal for one in every for x in one)
    now = sum(side.wavefronts(one) for side, one in zip(sides, every, strict=True))
    names = [one[0].instruction for one in every]
    if now <= ideal or len({side.tensor.bits for side in sides}) > 1:
        return [], now, ideal
    bits = sides[0].tensor.bits
    unit = max(max(1, 8 * width(name) // bits) for name in names)
    parts = [(x, x.offset + int(place)) for side in sides for x in (side.tensor,) for place in offsets(x.layout)]
    used = {start + place for x, place in parts for start in x.starts}
    plain = [side.places(swizzled=False) for side in sides]
    tries = min(_TRIES, _WORK // max(1, sum(len(side.tensor.starts) * len(side.order) for side in sides)))
    roots = [root_of(side.tensor) for side in sides]
    row = (8 * BANKS * WORD // bits).bit_length() - 1
    kinds = [_swizzles(unit.bit_length() - 1, row, max(used).bit_length()), _strides(roots, unit, bits, sides)]
    if any(layout is not None and _padded(layout) for layout, _ in roots):
        kinds.reverse()  # what the definition can express comes first
    out: list[tuple[int, int, int, Places]] = []
    for n, kind in enumerate(kinds):
        found: list[tuple[int, int, int, Places]] = []
        for places in kind:
            moved = dict(zip(used, places(used), strict=True))
            count = _total(sides, [[[moved[place] for place in row] for row in rows] for rows in plain], now, names)
            if count is not None and count < now:
                found.append((count, n, max(moved.values()) - max(used), places))
            tries -= 1
            if tries < 0 or count == ideal:
                break
        out += sorted(found, key=lambda one: one[:3])[:_KEPT]
    return [(places, count) for count, _, _, places in sorted(out, key=lambda one: one[:3])], now, ideal


def _strides(roots: list[tuple[Layout | None, Swizzle | None]], unit: int, bits: int, sides: list[Side]) -> Iterator[Places]:
    layouts = [layout for layout, _ in roots if layout is not None]
    if any(swizzle is not None for _, swizzle in roots):
        return
    rows = sorted({int(d) for layout in layouts for _, d in flat_modes(layout) if d > 1})
    if not rows:  # an array without rows, but in its indices: threads beside one another are rows apart
        apart = (abs(b - a) for side in sides for a, b in pairwise(side.tensor.starts[:LANES]))
        rows, layouts = [row for row, _ in Counter(d for d in apart if d > 1).most_common(_KEPT)], []
    elif len(layouts) < len(roots):
        return
    for row in rows:
        if any(Places(row=row, step=row).of(layout) is None for layout in layouts):
            continue
        least = max((1 + sum((n - 1) * int(d) for n, d in flat_modes(layout) if d < row) for layout in layouts), default=row)
        for step in range(-(-least // unit) * unit, row + 8 * BANKS * WORD // bits + 1, unit):
            if step != row:
                yield Places(row=row, step=step)


def _padded(layout: Layout) -> bool:
    """Whether some elements of the buffer belong to nothing."""
    reach = 1
    for extent, stride in sorted(flat_modes(layout), key=lambda mode: int(mode[1])):
        if extent > 1 and stride > reach:
            return True
        reach = max(reach, int(extent * stride))
    return False


def _swizzles(least: int, row: int, total: int) -> Iterator[Places]:
    """Those that keep `1 << least` neighbors together, first as few; of `1 << row`, all banks, they would change no bank."""
    for base in range(least, max(least + 1, row)):
        for bits in (3, 2, 1, 4, 5):
            for shift in range(bits, max(bits, total)):
                if base + bits + shift <= total:
                    yield Places(Swizzle(bits, base, shift))


def _total(sides: list[Side], places: list[list[list[int]]], most: int, names: list[str]) -> int | None:
    """The wavefronts with other places; None where an instruction becomes another one, or there are more than `most`."""
    total = 0
    for side, rows, name in zip(sides, places, names, strict=True):
        try:
            found = replace(side, name=name if "matrix" in name else side.name, fixed="").instructions(rows)
        except CuteVizError:  # rows of ldmatrix that would not lie together
            return None
        if not found or found[0].instruction != name:
            return None
        total += side.wavefronts(found)
        if total > most:
            return None
    return total


def relocated(before: Any, after: Any) -> Iterator[tuple[int, int]]:
    """For each element of a tensor that all threads have a part of its bit address in its buffer, and the one in another layout."""
    tables, bits, wide = [[int(o) for o in offsets(x.layout)] for x in (before, after)], before.bits, after.bits
    for starts in dict.fromkeys(zip(before.starts or (0,), after.starts or (0,), strict=True)):
        old, new = (x.places(table, start) for x, table, start in zip((before, after), tables, starts, strict=True))
        yield from zip([place * bits for place in old], [place * wide for place in new], strict=True)


def span_of(layout: Layout) -> int:
    """How many elements a buffer of a layout has."""
    return 1 + sum((int(n) - 1) * int(d) for n, d in zip(leaves(layout.shape), leaves(layout.stride), strict=True))
