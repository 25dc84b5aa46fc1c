"""An operation of the algebra step by step: what A is, what is picked of it, how often, and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from cute_viz.algebra import ops
from cute_viz.algebra.common import Operation
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, as_layout, domain, is_layout
from cute_viz.algebra.inttuple import X, modes, product, show
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.measure import cosize
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets
from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Panel, Shape
from cute_viz.figures.motion_products import BEHIND, BY_OFFSET, FADED, INSTEAD, PAINTS, PAPER, Laid, grid_of, line_of
from cute_viz.figures.options import FigureOptions, check_cells

LARGER = 2.0  # times as large as those of a line are cells of a grid, at most
ELEMENTS = 64  # whose ways are steps of their own
DIVIDES = ("logical_divide", "zipped_divide", "tiled_divide", "flat_divide")


def motion(call: Any, options: FigureOptions) -> Figure:
    """The steps of a divide, a composition, a complement, a product or an inverse; every number is that of the layouts
    themselves. The last panel's data `source` has, of each cell, the cell of the first panel that came there. Raises:
    FigureError for another operation, and for tiles that do not cover A or copies that overlap."""
    if not isinstance(call, Operation):
        raise FigureError("steps are those of an operation", hint="example: logical_divide((4,8):(8,1), (2,4))")
    found = ops.find(call.name)
    known = (*DIVIDES, "composition", *BY_OFFSET)
    if found.name not in known:
        raise FigureError(f"the steps of {found.name} are not drawn", hint=", ".join(known))
    a, *others = map(as_layout, call.operands)
    tiler = call.operands[1] if others and isinstance(call.operands[1], tuple) else others[0] if others else None
    if isinstance(a, Swizzle) and isinstance(tiler, Layout):
        a = ComposedLayout(a, 0, Layout(cosize(tiler)))
    result = found.call([a, *call.operands[1:]], call.template)
    if not all(is_layout(x) for x in (a, result)):
        raise FigureError(f"the steps of {found.name} are drawn of layouts")
    places = product(domain(a).shape) * (product(result.shape) if found.name == "complement" else 1)
    check_cells(max(places, product(domain(result).shape)) * 4, f"the steps of {call}", options)
    if (by_offset := BY_OFFSET.get(found.name)) is not None:
        if any(is_coordinate_layout(domain(x)) for x in (a, result)):
            raise FigureError(f"the steps of {found.name} are drawn only for layouts whose values are offsets", hint=INSTEAD)
        title, panels = by_offset(found.name, a, tiler, result, options)
    else:
        title, panels = (_divide if found.name in DIVIDES else _compose)(found.name, a, tiler, result, options)
    title = options.title or title
    broad = max([0, *(panel.cols for panel in panels if "place" in panel.data)])  # a line of memory, beside which grids are larger
    scales = [max(1.0, min(LARGER, broad / panel.cols)) if "place" not in panel.data else 1.0 for panel in panels]
    panels = [
        replace(panel, caption=f"{n} {panel.caption}", unit=(scale, scale))
        for n, (panel, scale) in enumerate(zip(panels, scales, strict=True), 1)
    ]
    told = " ".join(f"{panel.caption}." for panel in panels)
    facts = {"step": len(panels)}
    drawn = Figure("motion", title, str(call), str(call), f"{title}. {told}", PAINTS, (), tuple(panels), facts=facts, flow="row")
    return replace(drawn, series=tuple(_series(drawn))) if options.series else drawn


def _series(whole: Figure) -> Iterator[Figure]:
    """The figure step by step, then the way of each element, one after the other, as long as they are not too many."""
    for n in range(1, len(whole.panels) + 1):
        later = [replace(p, labels=("",) * len(p.labels), paints=(PAPER,) * len(p.paints), shapes=()) for p in whole.panels[n:]]
        yield replace(whole, panels=(*whole.panels[:n], *later), facts={"step": n})
    first, *between, last = whole.panels
    ways = [(n, cell) for n, cell in enumerate(last.data.get("source", ())) if cell is not None]
    ways.sort(key=lambda way: (way[0] % last.cols, way[0] // last.cols))  # as the layout counts
    for step, (n, cell) in enumerate(ways if len(ways) <= ELEMENTS else (), len(whole.panels) + 1):
        words = f"A{_name(first, cell)}, {first.labels[cell]}, goes to {_name(last, n)} of the result, {last.labels[n]}"
        panels = (_lit(first, cell), *between, _lit(last, n))
        yield replace(whole, panels=panels, facts={"step": step}, description=f"{words}. {whole.description}")


def _name(panel: Panel, cell: int) -> str:
    """The coordinate of a cell."""
    r, c = divmod(cell, panel.cols)
    return f"({panel.data['place'][cell]})" if "place" in panel.data else f"({c})" if panel.rows == 1 else f"({r},{c})"


def _lit(panel: Panel, cell: int) -> Panel:
    """A panel with one cell outlined."""
    r, c = divmod(cell, panel.cols)
    return replace(panel, shapes=(*panel.shapes, Shape("box", ((c, r), (c + 1, r + 1)), look="strong")))


def _cells(layout: AnyLayout, options: FigureOptions) -> Laid:
    """The cells of A or of the result; a swizzle of a line stands in lines."""
    alone = isinstance(layout, ComposedLayout) and len(modes(domain(layout).shape)) == 1
    return line_of(product(domain(layout).shape), options) if alone else grid_of(layout)


def _numbered(layout: AnyLayout, far: int) -> tuple[Layout, Callable[[int], int | None]]:
    """The indices of a layout as values, far apart by mode (or 0: one after the other), and the index of a value; None beyond
    it."""
    shape = domain(layout).shape
    if not far:
        return Layout(shape), lambda value: value if 0 <= value < product(shape) else None
    extents = [product(mode) for mode in modes(shape)]
    steps = [far**n for n in range(len(extents))]
    parts = [
        ops.find("composition").call([Layout(far, step), Layout(mode)], ()) for step, mode in zip(steps, modes(shape), strict=True)
    ]

    def index(value: int) -> int | None:
        where = [value // step % far for step in steps]
        inside = all(i < n for i, n in zip(where, extents, strict=True))
        return sum(i * prod(extents[:n]) for n, i in enumerate(where)) if inside else None

    return ops.find("make_layout").call(parts, ()), index


def _divide(name: str, a: AnyLayout, tiler: Any, result: AnyLayout, options: FigureOptions) -> tuple[str, list[Panel]]:
    shape, by_mode = domain(a).shape, isinstance(tiler, tuple)
    extents = [product(mode) for mode in modes(shape)] if by_mode else [product(shape)]
    given = [*(tiler if by_mode else (tiler,))]
    named = len(given)
    given += [1] * (len(extents) - named)  # modes that the tiler does not have are repeated
    tilers = [Layout(n) if t is X else as_layout(t) for t, n in zip(given, extents, strict=True)]
    if not all(isinstance(t, Layout) for t in tilers):
        raise FigureError(f"the tiler {show(tiler)} is not drawn step by step", hint=INSTEAD)
    rest = [ops.find("complement").call([t, extent], ()) for t, extent in zip(tilers, extents, strict=True)]
    numbers, index = _numbered(a, 4 * (max(extents) + max(map(cosize, tilers))) if by_mode else 0)
    again = tuple(tilers) if by_mode else tiler
    zipped = [index(n) for n in offsets(ops.find("zipped_divide").call([numbers, again], ()))]
    table, many, each = offsets(a), product(tuple(r.shape for r in rest)), product(tuple(t.shape for t in tilers))
    beyond, starts = zipped.count(None), zipped[::each]
    if sorted(n for n in zipped if n is not None) != [*range(len(table))]:
        raise FigureError(f"the tiles of {', '.join(map(show, tilers))} do not cover {show(a)} exactly", hint=INSTEAD)
    tile = {at: n // each for n, at in enumerate(zipped)}
    hue = {at: n % FADED for at, n in tile.items()}
    picked = {n for n in zipped[:each] if n is not None}
    came, cells, everything = _came(name, numbers, tiler, index), _cells(a, options), range(len(table))
    arcs: dict[str, Shape] = {}
    cell_of, step = cells.cell_of(), 1
    for one in rest:
        if (tiles := product(one.shape)) > 1 and (second := starts[step]) is not None:
            r, c = divmod(cell_of[second], cells.cols)
            side, points = ("left", ((-0.05, 0.5), (-0.05, r + 0.5))) if r else ("up", ((0.5, -0.05), (c + 0.5, -0.05)))
            words = f"+{table[second] - table[0]}" if isinstance(table[0], int) else ""
            if not (r and c):
                arcs.setdefault(side, Shape("arc", points, words, f"{side} bold"))
        step *= tiles
    panels = [
        cells.panel(f"A  {show(a)}", table, [PAPER] * len(table), list(cells.outline(picked))),
        cells.panel(
            f"The tiler picks  {', '.join(map(show, tilers[:named]))}", table, [0 if n in picked else BEHIND for n in everything]
        ),
        cells.panel(
            f"The complement repeats it  {', '.join(map(show, rest))}",
            table,
            [hue[n] + (0 if n in starts else FADED) for n in everything],
            list(arcs.values()),
        ),
        _landed(result, [BEHIND if n is None else hue[n] for n in came], came, cell_of, options),
    ]
    if beyond:
        return f"{name} cuts A into {many} tiles; {beyond} of their {len(zipped)} cells lie beyond it", panels
    columns = [{tile[n] for n in came[first : first + each]} for first in range(0, len(came), each)]
    stands = ": each column of the result is one tile" if panels[-1].rows == each and max(map(len, columns)) == 1 else ""
    return f"{name} cuts A into {many} tiles{' and moves nothing' if came == [*everything] else stands}", panels


def _compose(name: str, a: AnyLayout, tiler: Any, result: AnyLayout, options: FigureOptions) -> tuple[str, list[Panel]]:
    table, values, by_mode = offsets(a), offsets(result), not isinstance(tiler, Layout)
    numbers, index = _numbered(a, 4 * max(len(table), len(values)) ** 2 if isinstance(tiler, tuple) else 0)
    came = _came(name, numbers, tiler, index) if by_mode else [index(n) if isinstance(n, int) else None for n in offsets(tiler)]
    wanted = {at: n for n, at in reversed(list(enumerate(came))) if at is not None}
    if not wanted:
        raise FigureError(f"{show(tiler)} picks none of the {len(table)} elements of {show(a)}", hint=INSTEAD)
    cells, tall = _cells(a, options), len(values) // grid_of(result).cols
    lit = [wanted[n] // tall % FADED if n in wanted else BEHIND for n in range(len(table))]  # the column of R where it lands
    order = [str(wanted.get(n, "")) for n in range(len(table))]
    panels = [
        cells.panel(f"A  {show(a)}", table, lit, list(cells.outline(wanted)), foot="hue: the column of R"),
        cells.panel(f"{'Of each mode, the tiler' if by_mode else 'B'} picks, in this order  {show(tiler)}", order, lit),
        _landed(
            result,
            [BEHIND if at is None else n // tall % FADED for n, at in enumerate(came)],
            came,
            cells.cell_of(),
            options,
            "R" if by_mode else "R(i) = A(B(i))",
        ),
    ]
    far = f", and goes beyond {came.count(None)} times" if None in came else ""
    held = f"{'The tiler' if by_mode else 'B'} picks {len(wanted)} of the {len(table)} elements of A{far}"
    rule = "R has A's offsets there" if by_mode else "R(i) = A(B(i))"
    same = all(at is None or value == table[at] for value, at in zip(values, came, strict=True))
    return held + (f": {rule}" if same else "; R differs from A(B(i)) somewhere"), panels


def _came(name: str, numbers: Layout, tiler: Any, index: Callable[[int], int | None]) -> list[int | None]:
    """Which index of A each element of a result came from."""
    return [index(n) for n in offsets(ops.find(name).call([numbers, tiler], ()))]


def _landed(
    result: AnyLayout,
    hues: Sequence[int],
    came: Sequence[int | None],
    cell_of: Mapping[int, int],
    options: FigureOptions,
    called: str = "The result",
) -> Panel:
    back = [None if n is None else cell_of[n] for n in came]
    return _cells(result, options).panel(f"{called}  {show(result)}", offsets(result), hues, came=back)
