"""A kernel's file -> what the zoom of its MMA begins with: the tile of C that a CTA computes, and the grid of CTAs."""

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

Extents: TypeAlias = "tuple[int, int]"


def launched(file: SourceFile) -> tuple[Extents, Extents] | None:
    """The tile of C and the grid of CTAs, where the file, as its launch runs it, cuts one tensor of two modes into such tiles.

    C is what `local_tile` cuts into a tile of two modes: tiles of A and B have a third, over K. None where nothing is cut so, or
    several are that differ.

    >>> from cute_viz.source import read
    >>> from cute_viz.source.model import Given
    >>> text = "void f(float* p) {\\n  auto mC = make_tensor(p, make_shape(512, 256));\\n  auto gC = local_tile(mC, "
    >>> launched(read(text + "make_shape(Int<128>{}, Int<64>{}), make_coord(0, 0));\\n}\\n", "cpp", Given()))
    ((128, 64), (4, 4))
    """
    found = set(_cuts(file))
    return found.pop() if len(found) == 1 else None


def _cuts(file: SourceFile) -> Iterator[tuple[Extents, Extents]]:
    for entry in file.entries:
        if (match := _CUT.search(entry.text)) is None:
            continue
        whole_of = [other for other in file.entries if other.name == match[1] and other.scope == entry.scope]
        tile = _extents(entry)
        c = _extents(whole_of[-1]) if whole_of else None
        if tile is not None and c is not None:
            yield tile, (-(-c[0] // tile[0]), -(-c[1] // tile[1]))


def _extents(entry: Entry) -> Extents | None:
    """The extents of a value of two modes, both known."""
    try:
        value = whole(value_of(entry))
    except CuteVizError:
        return None
    shape = modes(value.shape) if isinstance(value, Layout) else ()
    extents = [product(mode) for mode in shape]
    if len(extents) != 2 or not all(isinstance(extent, int) for extent in extents):
        return None
    return int(extents[0]), int(extents[1])
