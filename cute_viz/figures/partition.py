"""The partition view: what one thread holds of a whole tensor, each element with its coordinate in the partition; its levels."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cute_viz.algebra import copy as copies
from cute_viz.algebra import mma as mmas
from cute_viz.algebra.composed import ComposedLayout, as_layout, domain, is_layout
from cute_viz.algebra.construct import make_identity_layout
from cute_viz.algebra.copy import ThrCopy, TiledCopy
from cute_viz.algebra.inttuple import leaves, modes, product, show
from cute_viz.algebra.layout import Layout, idx2crd
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA, make_tiled_mma
from cute_viz.algebra.table import offsets
from cute_viz.algebra.views import get_slice
from cute_viz.errors import FigureError
from cute_viz.figures.mma import thread_of
from cute_viz.figures.model import HOLE, Figure, Legend, Paint, Panel, Ruler
from cute_viz.figures.options import FigureOptions, an, check_cells
from cute_viz.figures.paint import by_group, in_turns, ruler
from cute_viz.figures.trim import cut, regridded

FEW = 512  # cells of a tensor that is drawn whole
_MODES = {"A": ("MMA", "MMA_M", "MMA_K"), "B": ("MMA", "MMA_N", "MMA_K"), "C": ("MMA", "MMA_M", "MMA_N")}
_COPY = ("CPY", "CPY_M", "CPY_N")
_TITLES = {"A": ("M", "K"), "B": ("N", "K"), "C": ("M", "N")}


def partition(obj: Any, options: FigureOptions) -> Figure:
    """The figure of partition_A, _B, _C, _S or _D of the tensor in the options, for one thread. Raises: FigureError for a tensor
    that does not have two modes, for no thread or more than one, and for an operand that the object lacks."""
    thr, operand = _view(obj, options)
    tensor = as_layout(options.tensor)
    if not is_layout(tensor):
        raise FigureError(f"`tensor=`: {show(tensor)} is not a layout", hint="example: `tensor=(128,64):(64,1)`")
    shape = domain(tensor).shape
    if len(modes(shape)) < 2:
        raise FigureError(f"the tensor {tensor} has one mode; the picture needs at least two", hint="give one tile: (M,K)")
    rows, cols, *rest = (product(mode) for mode in modes(shape))
    check_cells(product(shape), f"the tensor {tensor}", options)
    part = _part(thr, operand, tensor)
    coordinates = coordinates_of(_part(thr, operand, make_identity_layout((rows, cols, *rest))))
    own = domain(part)
    extents = [product(mode) for mode in modes(own.shape)]
    names = (_MODES.get(operand, _COPY) + tuple(f"REST_{n}" for n in range(8)))[: len(extents)]
    titles = _TITLES.get(operand, ("M", "N"))
    held: list[tuple[int, int] | None] = [None] * (rows * cols)  # of a cell: the place in the modes after the first, and the value
    thread = _thread(thr)
    for n, (m, k, *others) in enumerate(coordinates):
        if not (0 <= m < rows and 0 <= k < cols):
            raise FigureError(
                f"thread {thread} holds ({m},{k}), which is outside the {rows} x {cols} tensor",
                hint="give a tensor whose extents are multiples of the tile",
            )
        if not any(others):
            held[m * cols + k] = divmod(n, extents[0])
    groups = max(1, len(coordinates) // extents[0])
    heading, shades = f"hue: {', '.join(names[1:])}", f"shade: value of {names[0]}"
    places = [None if mine is None else mine[0] for mine in held]
    values = [None if mine is None else mine[1] for mine in held]
    painting = by_group(places, groups, heading, "", values, extents[0], shades, "V", in_turns(places, [(rows, cols)]))
    paper = len(painting.paints)
    legends = (_by_coordinate(painting.legends[0], extents[1:]), *painting.legends[1:])
    every = Elements(extents, names, held, tuple([paper if p == HOLE else p for p in painting.cells]), paper)
    begins = [offset for n, offset in enumerate(offsets(part)) if n % extents[0] == 0]
    whole = every.panel(rows, cols, titles, lambda place: True)
    panel = collapsed(whole) if rows * cols > FEW else whole
    dense = ("Rows and columns without an element of the thread are drawn as …",) if panel is not whole else ()
    panels = [replace(panel, caption=f"all of it: {rows} × {cols}" + (", the rest 0" if rest else ""), place=(1, 0))]
    if len(extents) > 2 and groups > 1:
        panels = [every.first(rows, cols, titles, _tile(thr, operand)), *every.tiles(begins), *panels]
    else:
        panels = [replace(panel, caption="", place=(0, 0))]
    name = f"partition_{operand} of thread {thread}: {an(rows)} × {cols} tensor"
    share = f", {extents[0]} in each of {groups} places" if groups > 1 else ""
    title = options.title or f"T{thread} holds {len(coordinates)} of {product(shape)} elements{share}"
    spelt = ", ".join(f"{name} {show(mode)}" for name, mode in zip(names, modes(own.shape), strict=True))
    mute = f"{name}. ({','.join(names)}) = {show(own.shape)}: {spelt}"
    origin = part.offset if isinstance(part, ComposedLayout) and isinstance(part.outer, Layout) else None
    source = f"ptr + {origin} o {show(own)}" if isinstance(origin, int) and origin else show(part)
    return Figure(
        kind="partition",
        title=title,
        source=source,
        caption=f"{mute}; a cell shows its value and its place in the other modes",
        mute=mute,
        paints=(*painting.paints, Paint(-1)),
        legends=legends,
        panels=tuple(panels),
        notes=(*dense, f"tensor {show(tensor)}"),
        facts={"elements": len(coordinates), **dict(zip(names, extents, strict=True))},
    )


def _by_coordinate(legend: Legend, extents: Sequence[int]) -> Legend:
    """A legend whose numbers of places are told as coordinates in the modes after the first: `0, 8` is `(0,0), (0,2)`."""

    def coordinate(found: re.Match[str]) -> str:
        return show(idx2crd(int(found[0]), tuple(extents)))

    if len(extents) < 2:
        return legend
    entries = [replace(entry, label=re.sub(r"\d+", coordinate, entry.label)) for entry in legend.entries]
    return replace(legend, entries=tuple(entries))


def _view(obj: Any, options: FigureOptions) -> tuple[Any, str]:
    """The thread's view, and which operand of it."""
    letters = "SD" if isinstance(obj, (TiledCopy, ThrCopy)) else "ABC"
    operand = (options.operand or ("S" if letters == "SD" else "C")).upper()
    if operand not in tuple(letters):
        raise FigureError(f"`operand={options.operand}`: a tensor needs one of {', '.join(letters)}")
    if isinstance(obj, (ThrMMA, ThrCopy)):
        if options.thread not in (None, range(own := _thread(obj), own + 1)):
            raise FigureError(
                f"`thread=` cannot be combined with the view of thread {own}", hint="leave it out, or give the whole tiling"
            )
        return obj, operand
    if not isinstance(obj, (MMA_Atom, TiledMMA, TiledCopy)):
        raise FigureError(
            "a copy atom does not partition a tensor", hint="make a tiled copy of it: make_tiled_copy(atom, thr, val)"
        )
    if options.thread is None or len(options.thread) != 1:
        raise FigureError("`tensor=` needs `thread=`", hint="example: `thread=0`")
    tiled = make_tiled_mma(obj) if isinstance(obj, MMA_Atom) else obj
    return get_slice(tiled, options.thread.start), operand


def _tile(thr: Any, operand: str) -> tuple[int, int]:
    """The rows and columns of the tile that is partitioned."""
    if isinstance(thr, ThrMMA):
        return mmas.operand_tile(thr.tiled, operand)
    down, right = (*copies.tile_of(thr.tiled), 1)[:2]
    return down, right


def _thread(thr: Any) -> int:
    return thr.thr_idx if isinstance(thr, ThrCopy) else thread_of(thr)


def _part(thr: Any, operand: str, tensor: Any) -> Any:
    return mmas.partition(thr, operand, tensor) if isinstance(thr, ThrMMA) else copies.partition(thr, operand, tensor)


def coordinates_of(part: Any) -> list[tuple[int, ...]]:
    """The tensor coordinates of a partition of an identity tensor, in the order of the partition's indices."""
    offset = part.offset if isinstance(part, ComposedLayout) else (0, 0)
    base = tuple(leaves(offset)) if isinstance(offset, tuple) else (0, 0)
    out = []
    for coordinate in offsets(domain(part)):
        own = coordinate if isinstance(coordinate, tuple) else (coordinate, 0)
        wide = max(2, len(own), len(base))
        out.append(tuple(a + b for a, b in zip((*own, *(0,) * wide)[:wide], (*base, *(0,) * wide)[:wide], strict=True)))
    return out


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
