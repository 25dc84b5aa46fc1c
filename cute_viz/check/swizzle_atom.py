"""The swizzled layout atoms of GMMA and TMA (cute/atom/mma_traits_sm90_gmma.hpp), and their pictures as rows of memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, PointerFlag, domain
from cute_viz.algebra.layout import flat_modes
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.check.job import Sheet
from cute_viz.figures.model import Panel

ROWS = 8  # of a swizzle atom
BITS = (8, 16, 32)  # of an element


@dataclass(frozen=True, slots=True)
class Atom:
    """A swizzle atom: 8 rows of `16 << swizzle` bytes.

    swizzle: 0..3 for none, 32, 64, 128 bytes. bits: of an element. mn_major: rows run along k, and M or N is contiguous.
    """

    swizzle: int
    bits: int
    mn_major: bool

    @property
    def pitch(self) -> int:
        """Elements of a row."""
        return (16 << self.swizzle) * 8 // self.bits


def recognise(layout: AnyLayout) -> Atom | None:
    """The atom that a layout is, flagged (Sw<b,4,3> on bytes) or on elements; None for any other layout.

    >>> from cute_viz.notation import parse
    >>> recognise(parse("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)"))
    Atom(swizzle=3, bits=16, mn_major=False)
    >>> recognise(parse("Sw<3,3,3> o 0 o (64,8):(1,64)"))
    Atom(swizzle=3, bits=16, mn_major=True)
    """
    if not isinstance(layout, ComposedLayout) or not isinstance(layout.outer, Swizzle) or layout.outer.shift != 3:
        return None
    if isinstance(layout.inner, (ComposedLayout, Swizzle)):
        return None
    swizzle, base = layout.outer.bits, layout.outer.base
    if isinstance(layout.offset, PointerFlag):
        bits = layout.offset.bits if base == 4 else 0
    else:
        bits = 8 << (4 - base) if layout.offset == 0 and swizzle and base <= 4 else 0
    if bits not in BITS or swizzle > 3:
        return None
    pitch = (16 << swizzle) * 8 // bits
    parts = [(int(extent), int(stride)) for extent, stride in flat_modes(domain(layout))]
    if parts == [(ROWS, pitch), (pitch, 1)]:
        return Atom(swizzle, bits, False)
    return Atom(swizzle, bits, True) if parts == [(pitch, 1), (ROWS, pitch)] else None


def places(atom: Atom, panel: Panel) -> tuple[Any, Any]:
    """For each element of the rows of memory, row by row: its cell of the picture, and its drawn offset.

    >>> from cute_viz import figure, parse
    >>> layout = parse("Sw<3,3,3> o 0 o (64,8):(1,64)")
    >>> cells, offsets = places(recognise(layout), figure(layout).panels[0])
    >>> cells[:3].tolist(), offsets[64:67].tolist()
    ([0, 8, 16], [72, 73, 74])
    """
    cells = np.arange(panel.rows * panel.cols).reshape(panel.rows, panel.cols)
    by_row = (cells.T if atom.mn_major else cells).reshape(-1)
    offsets = np.array(panel.data["offset"], np.int64)
    return by_row, offsets[by_row]


def sheet(panel: Panel, cells: Any, drawn: Sequence[str], seen: Sequence[str], ok: Any) -> Sheet:
    """The picture's cells, of what is known element by element: cells[i] is the cell of element i.

    >>> from cute_viz import figure
    >>> panel = figure("(2,1)").panels[0]
    >>> sheet(panel, np.array([1, 0]), ["b", "a"], ["b", "x"], [True, False]).seen
    ('x', 'b')
    """
    order = np.argsort(cells)
    return Sheet(
        panel.caption,
        panel.rows,
        panel.cols,
        tuple(drawn[i] for i in order),
        tuple(seen[i] for i in order),
        tuple(bool(ok[i]) for i in order),
    )


def swapped(offsets: Any) -> Any:
    """The offsets with two exchanged, in rows of their own: what no hardware agrees with.

    >>> swapped(np.arange(12)).tolist()
    [9, 1, 2, 3, 4, 5, 6, 7, 8, 0, 10, 11]
    """
    wrong = offsets.copy()
    wrong[[0, 9]] = wrong[[9, 0]]
    return wrong
