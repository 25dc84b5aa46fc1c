"""A kernel's file -> what its boards begin with: the tile of C that a CTA computes, the grid of CTAs, the tiles of K."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.tensor import whole
from cute_viz.engine.whole import value_of
from cute_viz.errors import CuteVizError

if TYPE_CHECKING:
    from cute_viz.source.model import Entry, SourceFile

_CUT = re.compile(r"\blocal_tile\s*\(\s*(\w+)\s*,")  # gC = local_tile(mC, tiler, coord, Step<_1,_1,X>{})

Pair: TypeAlias = "tuple[int, int]"


def launched(file: SourceFile) -> tuple[Pair, Pair] | None:
    """The tile of C and the grid of CTAs, where the file, as its launch runs it, cuts one tensor of two modes into such tiles.

    C is what `local_tile` cuts into a tile of two modes: tiles of A and B have a third, over K. None where nothing is cut so, or
    several are that differ.

    >>> from cute_viz.source import read
    >>> text = "void f(float* p) {\\n  auto mC = make_tensor(p, make_shape(512, 256));\\n  auto gC = local_tile(mC, "
    >>> launched(read(text + "make_shape(Int<128>{}, Int<64>{}), make_coord(0, 0));\\n}\\n", "cpp", Given()))
    ((128, 64), (4, 4))
    """
    found: set[tuple[Pair, Pair]] = set()
    for (m, n), name, scope in _cuts(file, 2):
        whole_of = [other for other in file.entries if other.name == name and other.scope == scope]
        if whole_of and len(c := _extents(whole_of[-1])) == 2:
            found.add(((m, n), (-(-c[0] // m), -(-c[1] // n))))
    return found.pop() if len(found) == 1 else None


def tiles_of_k(file: SourceFile) -> int | None:
    """How many tiles of K a CTA goes through: the third mode of what `local_tile` cuts of A and B; None where they differ.

    >>> from cute_viz.source import read
    >>> text = "void f(float* p) {\\n  auto mA = make_tensor(p, make_shape(512, 256));\\n  auto gA = local_tile(mA, "
    >>> tiles_of_k(read(text + "make_shape(Int<128>{}, Int<64>{}), make_coord(0, _));\\n}\\n", "cpp", Given()))
    4
    """
    found = {tile[2] for tile, *_ in _cuts(file, 3)}
    return found.pop() if len(found) == 1 else None


def _cuts(file: SourceFile, rank: int) -> Iterator[tuple[tuple[int, ...], str, tuple[str, ...]]]:
    """The extents of each tile of that rank, and the name and the scope of what it is cut from."""
    for entry in file.entries:
        if (match := _CUT.search(entry.text)) is not None and len(tile := _extents(entry)) == rank:
            yield tile, match[1], entry.scope


def _extents(entry: Entry) -> tuple[int, ...]:
    """The extents of a value whose modes are all known; none of any other."""
    try:
        value = whole(value_of(entry))
    except CuteVizError:
        return ()
    extents = [product(mode) for mode in modes(value.shape)] if isinstance(value, Layout) else []
    return tuple(extents) if all(isinstance(extent, int) for extent in extents) else ()
