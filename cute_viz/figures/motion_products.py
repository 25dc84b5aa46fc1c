"""The steps that memory shows: where copies of a block go, what a complement fills; what the steps of operations are drawn with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, TypeAlias

from cute_viz.algebra import ops
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, as_layout, domain
from cute_viz.algebra.inttuple import modes, product, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.table import offsets
from cute_viz.errors import FigureError
from cute_viz.figures.model import Paint, Panel, Ruler, Shape
from cute_viz.figures.options import FigureOptions, check_cells
from cute_viz.figures.paint import boxes_of
from cute_viz.records import dataclass

HUES = (0, 3, 2, 4, 6, 5, 7)  # of tiles; red is a conflict
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
        """Boxes around items."""
        for top, first, end, last in boxes_of([n for n, item in enumerate(self.order) if item in lit], self.cols):
            yield Shape("box", ((first, top), (last, end)), look="strong")


def grid_of(layout: AnyLayout) -> Laid:
    """The cells of a layout: the first mode down, all others to the right; of one mode a row."""
    extents = [product(mode) for mode in modes(domain(layout).shape)]
    rows = extents[0] if len(extents) > 1 else 1
    cols = product(tuple(extents)) // rows
    return Laid([r + c * rows for r in range(rows) for c in range(cols)], cols)


def line_of(places: int, options: FigureOptions) -> Laid:
    """The places of memory one after the other, in lines of the same length."""
    check_cells(places, f"the line of {places} places", options)
    cols = min(LINE, places)
    return Laid([*range(places), *[-1] * (-places % cols)], cols, True)


INSTEAD = "`view=operation` draws it"
LISTED = 12  # places that a line below a panel names
_TOGETHER = {"blocked_product": "; copies stand side by side", "raked_product": "; copies interleave"}
Steps: TypeAlias = "tuple[str, list[Panel]]"


def _copies(name: str, block: AnyLayout, tiler: Any, result: AnyLayout, options: FigureOptions) -> Steps:
    """A product: the block, and of each mode of the tiler where copies may begin and where it lets them, the result."""
    inner, by_mode = domain(block), isinstance(tiler, tuple) and name not in _TOGETHER  # there a shape is a layout
    tiler = tiler if by_mode else as_layout(tiler)
    parts = list(zip(_modes(inner), map(as_layout, tiler), strict=False)) if by_mode else [(inner, tiler)]
    if not all(isinstance(part, Layout) for _, part in parts):
        raise FigureError(f"the steps of {name} are drawn of a tiler of layouts", hint=INSTEAD)
    own, found = offsets(block), offsets(result)
    zipped: list[Any] = offsets(ops.find("zipped_product").call([block, tiler], ()))
    order = _order(name, inner, parts, by_mode)
    if found != [zipped[n] for n in order]:
        raise FigureError(f"the copies of {show(block)} are not followed into {show(result)}", hint=INSTEAD)
    cells, before = grid_of(block), " (the swizzle comes last)" * (inner is not block)
    panels = [cells.panel(f"A  {show(block)}", own, [0] * len(own))]
    for n, (mode, one) in enumerate(parts):
        mine: list[Any] = offsets(mode)
        rest = ops.find("complement").call([mode, len(mine) * (max(offsets(one)) + 1)], ())
        begins: list[Any] = offsets(ops.find("composition").call([rest, one], ()))
        may = set(offsets(rest))
        whole = range(1 + max(x + y for x in mine for y in (*may, *begins)))
        line, where = line_of(len(whole), options), f"Mode {n}: copies" if by_mode else "Copies"
        of = {x + y: k for k, y in reversed([*enumerate(begins)]) for x in mine}
        panels += [
            line.panel(
                f"{where} may begin in its complement{before}  {show(rest)}",
                whole,
                [0 if x in mine else 1 if x in may else BEHIND for x in whole],
            ),
            line.panel(
                f"{f'Mode {n}: t' if by_mode else 'T'}he tiler takes, in this order  {show(one)}",
                [begins.index(x) if x in begins else x for x in whole],
                [of[x] % FADED + (0 if x in begins else FADED) if x in of else BEHIND for x in whole],
                foot=f"a copy begins at {', '.join(map(str, begins[:LISTED]))}{' ...' if len(begins) > LISTED else ''}",
            ),
        ]
    cell_of = cells.cell_of()
    hues, back = [n // len(own) % FADED for n in order], [cell_of[n % len(own)] for n in order]
    panels.append(grid_of(result).panel(f"The result  {show(result)}", found, hues, came=back))
    shared = len(found) - len({*found})
    words = f"; copies overlap: {len(found)} cells, {len(found) - shared} offsets" if shared else _TOGETHER.get(name, "")
    return f"{name} repeats A {len(found) // len(own)} times{words}", panels


def _order(name: str, block: Layout, parts: Sequence[tuple[Layout, Layout]], by_mode: bool) -> Sequence[int]:
    """Which element of the zipped product each element of a product is: of a copy of so many elements one after the other."""
    if name in _TOGETHER:
        plain: list[Any] = offsets(ops.find(name).call([Layout(block.shape), Layout(parts[0][1].shape)], ()))
        return plain
    whole = product(block.shape)
    if not by_mode or name != "logical_product":
        return range(whole * prod(product(one.shape) for _, one in parts))
    out, each, copies = [0], 1, 1
    for n, extent in enumerate(product(mode) for mode in modes(block.shape)):
        times = product(parts[n][1].shape) if n < len(parts) else 1
        out = [x + i * each + c * copies * whole for c in range(times) for i in range(extent) for x in out]
        each, copies = each * extent, copies * times
    return out


def _modes(block: Layout) -> list[Layout]:
    return [Layout(*pair) for pair in zip(modes(block.shape), modes(block.stride), strict=True)]


def _complement(name: str, a: AnyLayout, tiler: Any, result: AnyLayout, options: FigureOptions) -> Steps:
    own, inner, rest = offsets(a), domain(a), domain(result)
    pair = Layout((inner.shape, rest.shape), (inner.stride, rest.stride))
    every: list[Any] = offsets(replace(a, inner=pair) if isinstance(a, ComposedLayout) else pair)
    starts = every[:: len(own)]
    places = range(max(every) + 1)
    copy = {x: n // len(own) for n, x in reversed([*enumerate(every)])}
    came = {x: own[n % len(own)] for n, x in reversed([*enumerate(every)])}
    line = line_of(len(places), options)
    both = [copy[x] % FADED if x in copy else BEHIND for x in places]
    again = [hue if hue == BEHIND or x in starts else hue + FADED for x, hue in zip(places, both, strict=True)]
    reached = f"{len(copy)} of {len(places)} places"
    panels = [
        line.panel(f"A reaches  {show(a)}", places, [0 if x in own else BEHIND for x in places]),
        line.panel(f"The complement begins again  {show(result)}", places, again),
        line.panel("Together", places, both, foot=f"{len(own)} × {len(starts)} = {reached}", came=[came.get(x) for x in places]),
    ]
    once = ", each once" if len(every) == len(copy) else ""
    return f"A and its complement reach {reached}{once}", panels


def _back(name: str, a: AnyLayout, tiler: Any, result: AnyLayout, options: FigureOptions) -> Steps:
    """An inverse: A, the index of its element at each offset, the result."""
    every: list[Any] = offsets(a)
    back: list[Any] = offsets(result)
    first = {x: i for i, x in reversed(list(enumerate(every)))}
    places = range(max(*every, len(back) - 1) + 1)
    cells, line = grid_of(a), line_of(len(places), options)
    hue = [i // (len(every) // cells.cols) % FADED for i in range(len(every))]  # the column of A
    if name == "right_inverse":
        held = sum(i < len(every) and every[i] == j for j, i in enumerate(back))
        letter, words = "R", f"A(R(j)) = j for {'all' if held == len(set(every)) else 'the first'} {held} offsets of A"
    else:
        held = sum(x < len(back) and back[x] == i for i, x in enumerate(every))
        letter, words = "L", f"L(A(i)) = i for {'all' if held == len(every) else 'only'} {held} elements of A"
    came = [first.get(j) for j in range(len(back))]
    one = next(
        (i for i, x in enumerate(every) if i != x and 0 <= x < len(back) and back[x] == i), None
    )  # one element, there and back
    way = [] if one is None else [{one}, {every[one]}, {every[one]}]
    a_of, back_of = (f"A({one}) = {every[one]}", f"{letter}({every[one]}) = {one}") if one is not None else ("", "")
    traced = f"outlined: {back_of} and {a_of}" if letter == "R" else f"outlined: {a_of} and {back_of}"
    shown = [list(laid.outline(its)) for laid, its in zip((cells, line, grid_of(result)), way, strict=False)] or [[], [], []]
    cell_of, hued = cells.cell_of(), [BEHIND if x not in first else hue[first[x]] for x in places]
    panels = [
        cells.panel(
            f"A(i)  {show(a)}", every, hue, shown[0], foot="hue: the column" + (f", mod {FADED}" if cells.cols > FADED else "")
        ),
        line.panel(
            "At each offset, the index i that is there",
            [first.get(x, "") for x in places],
            hued,
            shown[1],
            foot="A counts down its columns: i = row + rows * column",
        ),
        grid_of(result).panel(
            f"The result  {letter} = {show(result)}",
            back,
            [PAPER if i is None else hue[i] for i in came],
            shown[2],
            foot="; ".join([traced] * bool(way) + [f"white: {letter} has a value where A has no offset"] * (None in came)),
            came=[None if i is None else cell_of[i] for i in came],
        ),
    ]
    return words, panels


PRODUCTS = ("logical_product", "zipped_product", "tiled_product", "flat_product", "blocked_product", "raked_product")
BY_OFFSET: Mapping[str, Callable[[str, AnyLayout, Any, AnyLayout, FigureOptions], Steps]] = {
    **dict.fromkeys(PRODUCTS, _copies),
    "complement": _complement,
    **dict.fromkeys(("right_inverse", "left_inverse"), _back),
}
