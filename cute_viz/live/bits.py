"""A layout -> the matrix over F2 that it is, if it is one: which bit of the coordinate moves which bit of the offset."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.composed import as_layout, position_independent
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.table import offsets
from cute_viz.errors import CuteVizError

MOST = 1 << 14  # elements of a layout that is tried


def matrix(obj: Any) -> dict[str, Any] | None:
    """The matrix of a layout: a name and the offset for each bit of the coordinate; None where the layout is not linear over F2.

    Linear: the offset of i ^ j is the XOR of the offsets of i and j, for all of them, which is tried.

    >>> from cute_viz.algebra.layout import Layout
    >>> matrix(Layout((4, 2), (2, 1)))
    {'columns': [['mode 0 bit 0', 2], ['mode 0 bit 1', 4], ['mode 1 bit 0', 1]], 'rows': 3}
    >>> matrix(Layout((4, 2), (3, 1))) is None
    True
    """
    try:
        layout = position_independent(as_layout(obj))
        extents = [product(mode) for mode in modes(layout.shape)]
        count = product(tuple(extents))
        if not 1 < count <= MOST or any(extent & (extent - 1) for extent in extents):
            return None
        table = offsets(layout)
    except (CuteVizError, AttributeError, TypeError):
        return None
    if not all(isinstance(offset, int) and offset >= 0 for offset in table) or table[0]:
        return None
    if any(table[i] != table[i & (i - 1)] ^ table[i & -i] for i in range(1, count)):
        return None
    names = [f"mode {n} bit {bit}" for n, extent in enumerate(extents) for bit in range(extent.bit_length() - 1)]
    return {
        "columns": [[name, table[1 << n]] for n, name in enumerate(names)],
        "rows": max(max(table).bit_length(), 1),
    }
