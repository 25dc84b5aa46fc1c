"""The levels of a partition: the thread in one tile, the tiles over the tensor, the rest of its modes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cute_viz.algebra.inttuple import product, show
from cute_viz.figures.model import Panel, Ruler
from cute_viz.figures.rulers import ruler
from cute_viz.figures.trim import cut, regridded

SMALL = 256  # cells of a tile that is drawn whole


@dataclass(frozen=True, slots=True)
class Elements:
    """What a thread holds of a tensor. extents, names: of the modes of the partition. held: of each cell, row by row, its place
    in the modes after the first, as one number, and its value; None of what others hold. paints: of each cell; paper: the paint
    of what others hold."""

    extents: Sequence[int]
    names: Sequence[str]
    held: Sequence[tuple[int, int] | None]
    paints: Sequence[int]
    paper: int

    def panel(self, rows: int, cols: int, titles: tuple[str, str], wanted: Callable[[int], bool]) -> Panel:
        """The tensor, with the elements of those places that are wanted."""
        held = [mine if mine is not None and wanted(mine[0]) else None for mine in self.held]
        return Panel(
            labels=tuple(["" if mine is None else f"V{mine[1]}\n{self._coordinate(mine[0])}" for mine in held]),
            paints=tuple([self.paper if mine is None else paint for mine, paint in zip(held, self.paints, strict=True)]),
            row_ruler=ruler(titles[0], rows),
            col_ruler=ruler(titles[1], cols),
            data={"value": tuple([None if mine is None else mine[1] for mine in held])},
        )

    def first(self, rows: int, cols: int, titles: tuple[str, str], tile: tuple[int, int]) -> Panel:
        """The values of the first mode in one tile; rows and columns without any are one where it is large."""
        panel = self.panel(rows, cols, titles, lambda place: place == 0)
        mine = [divmod(n, cols) for n, label in enumerate(panel.labels) if label]
        high, wide = (1 + max(cell[axis] for cell in mine) for axis in (0, 1))
        whole = high <= tile[0] <= rows and wide <= tile[1] <= cols
        part = cut(panel, 0, tile[0] if whole else high, 0, tile[1] if whole else wide)
        part = replace(part, labels=tuple([label.partition("\n")[0] for label in part.labels]))
        return replace(
            part if whole and product(tile) <= SMALL else collapsed(part),
            caption=f"1. {self.names[0]}, one tile of {tile[0]} × {tile[1]}",
        )

    def tiles(self, begins: Sequence[Any]) -> list[Panel]:
        """Where the thread's part of each tile begins, mode 1 down and mode 2 right; and of each of the rest, where there are more.

        begins: the offset of the first value at each place.
        """
        rows, cols = self.extents[1], self.extents[2]
        paint = {mine[0]: self.paints[n] for n, mine in reversed(list(enumerate(self.held))) if mine is not None}
        out = [
            self._offsets(
                f"2. {self.names[1]} × {self.names[2]}, the tiles over the tensor",
                [[r + c * rows for c in range(cols)] for r in range(rows)],
                (self.names[1], self.names[2]),
                begins,
                paint,
            )
        ]
        rest = self.extents[3:]
        if product(tuple(rest)) > 1:
            step = rows * cols
            places = [[step * (r + c * rest[0]) for c in range(product(tuple(rest[1:])))] for r in range(rest[0])]
            words = " × ".join(self.names[3:])
            out.append(self._offsets(f"3. {words}, the rest", places, (self.names[3], ", ".join(self.names[4:])), begins, {}))
        return [replace(panel, place=(0, n)) for n, panel in enumerate(out, 1)]

    def _offsets(
        self, caption: str, places: list[list[int]], titles: tuple[str, str], begins: Sequence[Any], paint: dict[int, int]
    ) -> Panel:
        rows, cols = len(places), len(places[0])
        flat = [place for line in places for place in line]
        return Panel(
            caption=caption,
            labels=tuple([f"ptr + {show(begins[place])}" for place in flat]),
            paints=tuple([paint.get(place, self.paper) for place in flat]),
            row_ruler=ruler(titles[0], rows),
            col_ruler=ruler(titles[1], cols),
            data={"offset": tuple([begins[place] for place in flat])} if isinstance(begins[0], int) else {},
        )

    def _coordinate(self, place: int) -> str:
        where = []
        for extent in self.extents[1:]:
            where.append(place % extent)
            place //= extent
        return f"({','.join(map(str, where))})"


def collapsed(panel: Panel) -> Panel:
    """The panel with each run of empty rows, or columns, as one; the panel itself where there are none to speak of."""
    held = [divmod(n, panel.cols) for n, label in enumerate(panel.labels) if label]
    rows, cols = (_lines({cell[axis] for cell in held}, count) for axis, count in ((0, panel.rows), (1, panel.cols)))
    if 2 * len(rows) * len(cols) > panel.rows * panel.cols:
        return panel
    down, right = (
        Ruler(old.title, tuple([label for _, label in lines])) for old, lines in ((panel.row_ruler, rows), (panel.col_ruler, cols))
    )
    return regridded(panel, [r * panel.cols + c for r, _ in rows for c, _ in cols], down, right)


def _lines(used: set[int], count: int) -> list[tuple[int, str]]:
    """The lines that are drawn, each with its label: those that are used, and the first of each run of others."""
    return [(n, str(n) if n in used else "…") for n in range(count) if n in used or not n or n - 1 in used]
