"""A layout as a matrix over F2, where it is one: the offset that each bit of the coordinate makes, the others being XORs."""

from __future__ import annotations

from cute_viz.algebra.composed import AnyLayout, domain
from cute_viz.algebra.inttuple import modes, product, show
from cute_viz.algebra.table import offsets
from cute_viz.errors import AlgebraError


def bit_counts(layout: AnyLayout) -> list[int]:
    """How many bits the coordinate of each mode has. Raises: AlgebraError for an extent that is not a power of 2.

    >>> bit_counts(Layout((4, (2, 4))))
    [2, 3]
    """
    extents = [product(mode) for mode in modes(domain(layout).shape)]
    if odd := next((extent for extent in extents if extent & (extent - 1)), None):
        raise AlgebraError(f"{show(layout)} has an extent of {odd}; bits need extents that are powers of 2")
    return [extent.bit_length() - 1 for extent in extents]


def bit_columns(table: list[int]) -> tuple[list[int], int | None]:
    """The columns of the matrix of a table of offsets, and the first coordinate whose offset is not the XOR of its bits', or None.

    >>> bit_columns([0, 2, 4, 6, 1, 3, 5, 7]), bit_columns([0, 3, 6, 9])
    (([2, 4, 1], None), ([3, 6], 3))
    """
    columns = [table[1 << n] for n in range(len(table).bit_length() - 1)]
    return columns, next((i for i in range(len(table)) if table[i] != table[i & (i - 1)] ^ table[i & -i]), None)


def bit_matrix(layout: AnyLayout) -> tuple[list[int], list[int]] | None:
    """The columns of its matrix, and how many of them are of each mode; None where offsets are no XORs. Raises: as bit_counts.

    >>> bit_matrix(Layout((4, 2), (2, 1))), bit_matrix(Layout((4, 2), (3, 1)))
    (([2, 4, 1], [2, 1]), None)
    """
    counts, table = bit_counts(layout), offsets(layout)
    if not all(isinstance(offset, int) and offset >= 0 for offset in table):
        return None
    columns, wrong = bit_columns(table)
    return (columns, counts) if wrong is None else None
