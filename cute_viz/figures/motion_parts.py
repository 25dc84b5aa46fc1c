"""What the steps of an operation are drawn with: cells without rulers, outlines of what is picked, one set of paints."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from cute_viz.algebra.composed import AnyLayout, domain
from cute_viz.algebra.inttuple import modes, product, show
from cute_viz.figures.model import Paint, Panel, Ruler, Shape
from cute_viz.figures.options import FigureOptions, check_cells
from cute_viz.records import dataclass

HUES = (0, 2, 5, 3, 4, 6, 7)  # of tiles; red is a conflict
FADED = len(HUES)  # paints: hues, then faded, then paper, and paper whose labels recede
PAPER, BEHIND = 2 * FADED, 2 * FADED + 1
PAINTS = (*[Paint(h) for h in HUES], *[Paint(h, faded=True) for h in HUES], Paint(-1), Paint(-1, faded=True))
LINE = 32  # places of memory in a line


@dataclass(frozen=True, slots=True)
class Laid:
    """Which item is in each cell, row by row: an index of a layout, counted down its columns, or a place in memory; -1 is none."""

    order: Sequence[int]
    cols: int
    is_line: bool = False

    def cell_of(self) -> dict[int, int]:
        """The cell of each item."""
        return {item: cell for cell, item in enumerate(self.order)}

    def panel(
        self,
        caption: str,
        labels: Sequence[Any],
        paints: Sequence[int],
        shapes: Sequence[Shape] = (),
        foot: str = "",
        came: Sequence[int | None] = (),
    ) -> Panel:
        """The panel of labels and paints by item. came: of each item, the cell of the first panel that it came from."""
        rows, cols = len(self.order) // self.cols, self.cols
        held = [n if 0 <= n < len(labels) else None for n in self.order]
        data: dict[str, tuple[Any, ...]] = {"source": tuple([None if n is None else came[n] for n in held])} if came else {}
        return Panel(
            caption=caption,
            labels=tuple(["" if n is None else show(labels[n]) if isinstance(labels[n], tuple) else str(labels[n]) for n in held]),
            paints=tuple([BEHIND if n is None else paints[n] for n in held]),
            row_ruler=Ruler("", ("",) * rows),
            col_ruler=Ruler("", ("",) * cols),
            data=data | ({"place": tuple(held)} if self.is_line else {}),
            shapes=tuple(shapes),
            foot=foot,
        )

    def outline(self, lit: Collection[int]) -> Iterator[Shape]:
        """Boxes around items: runs of a row, and of rows that have the same.

        >>> [box.points for box in Laid(range(6), 3).outline({0, 1, 3, 4})]
        [((0, 0), (2, 2))]
        """
        runs: list[tuple[int, int, int]] = []  # row, columns
        for r, c in (divmod(n, self.cols) for n, item in enumerate(self.order) if item in lit):
            if runs and (runs[-1][0], runs[-1][2]) == (r, c):
                runs[-1] = (r, runs[-1][1], c + 1)
            else:
                runs.append((r, c, c + 1))
        tops: dict[tuple[int, int, int], int] = {}  # by where they end
        for r, first, last in runs:
            tops[r + 1, first, last] = tops.pop((r, first, last), r)
        for (end, first, last), top in tops.items():
            yield Shape("box", ((first, top), (last, end)), look="strong")


def grid_of(layout: AnyLayout) -> Laid:
    """The cells of a layout: the first mode down, all others to the right; of one mode a row.

    >>> grid_of(Layout((2, 2))).order, grid_of(Layout(8)).cols
    ([0, 2, 1, 3], 8)
    """
    extents = [product(mode) for mode in modes(domain(layout).shape)]
    rows = extents[0] if len(extents) > 1 else 1
    cols = product(tuple(extents)) // rows
    return Laid([r + c * rows for r in range(rows) for c in range(cols)], cols)


def line_of(places: int, options: FigureOptions) -> Laid:
    """The places of memory one after the other, in lines of the same length.

    >>> line_of(33, FigureOptions()).order[-31:] == [-1] * 31
    True
    """
    check_cells(places, f"the line of {places} places", options)
    cols = min(LINE, places)
    return Laid([*range(places), *[-1] * (-places % cols)], cols, True)
