"""What the steps of an operation are drawn with: panels without rulers, outlines of what is picked, one set of paints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.table import offsets
from cute_viz.figures.model import Paint, Panel, Ruler, Shape

HUES = (0, 2, 5, 3, 4, 6, 7)  # of tiles; red is a conflict
PAPER = 2 * len(HUES)  # paints: hues, then faded, then paper, and paper whose labels recede
BEHIND = PAPER + 1
PAINTS = (*[Paint(h) for h in HUES], *[Paint(h, faded=True) for h in HUES], Paint(-1), Paint(-1, faded=True))


def panel_of(
    caption: str,
    labels: Sequence[str],
    paints: Sequence[int],
    cols: int,
    shapes: Sequence[Shape] = (),
    foot: str = "",
    source: Sequence[int | None] = (),
) -> Panel:
    """A panel of cells without rulers. source: of each cell, which cell of the first panel came there.

    >>> panel_of("1 A", ["0", "1"], [PAPER, PAPER], 2).rows
    1
    """
    rows = len(labels) // cols
    lines = Ruler("", ("",) * rows, (0,) * (rows + 1)), Ruler("", ("",) * cols, (0,) * (cols + 1))
    data = {"source": tuple(source)} if source else {}
    return Panel(caption, rows, cols, tuple(labels), tuple(paints), *lines, data=data, shapes=tuple(shapes), foot=foot)


def outline(lit: Sequence[bool], cols: int) -> list[Shape]:
    """Boxes around the cells that are picked: runs of a row, and of rows that have the same.

    >>> [box.points for box in outline([True, True, False, True, True, False], 3)]
    [((0, 0), (2, 2))]
    """
    out: list[tuple[int, int, int, int]] = []  # row0, col0, row1, col1
    for n in [n for n, mine in enumerate(lit) if mine]:
        r, c = divmod(n, cols)
        if out and (out[-1][0], out[-1][3]) == (r, c):
            out[-1] = (r, out[-1][1], r + 1, c + 1)
        else:
            out.append((r, c, r + 1, c + 1))
    merged: dict[tuple[int, int, int], tuple[int, int, int, int]] = {}  # by where they end
    for r0, c0, r1, c1 in out:
        above = merged.pop((r0, c0, c1), (r0, c0, r1, c1))
        merged[r1, c0, c1] = (above[0], c0, r1, c1)
    return [Shape("box", ((c0, r0), (c1, r1)), look="strong") for r0, c0, r1, c1 in merged.values()]


def extents(a: Layout) -> tuple[int, int]:
    """The rows and columns of a layout of one or two modes.

    >>> extents(Layout(8)), extents(Layout((4, (2, 3))))
    ((1, 8), (4, 6))
    """
    shape = modes(a.shape)
    return (product(shape[0]), product(shape[1])) if len(shape) > 1 else (1, product(shape[0]))


def rows_of(a: Layout) -> tuple[list[int], int]:
    """The offsets of a layout row by row, and how many columns there are.

    >>> rows_of(Layout((2, 2)))
    ([0, 2, 1, 3], 2)
    """
    rows, cols = extents(a)
    found: Any = offsets(a)
    return [found[r + c * rows] for r in range(rows) for c in range(cols)], cols
