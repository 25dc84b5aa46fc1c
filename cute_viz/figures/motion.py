"""An operation of the algebra step by step: what A is, what is picked of it, how often, and what comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cute_viz.algebra import ops
from cute_viz.algebra.call import Operation
from cute_viz.algebra.composed import as_layout
from cute_viz.algebra.inttuple import modes, product, show
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.table import offsets
from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Panel, Shape
from cute_viz.figures.motion_parts import BEHIND, HUES, PAINTS, PAPER, outline, panel_of, rows_of
from cute_viz.figures.motion_products import INVERSES, PRODUCTS, by_inverse, by_product
from cute_viz.figures.options import FigureOptions, check_cells

ELEMENTS = 64  # whose ways are steps of their own
DIVIDES = ("logical_divide", "zipped_divide", "tiled_divide", "flat_divide")


def motion(call: Any, options: FigureOptions) -> Figure:
    """The steps of a divide, a composition, a complement, a product or an inverse; every number is that of the layouts themselves.

    The last panel's data `source` has, of each cell, the cell of the first panel that came there.

    Raises: FigureError for another operation, and for operands of more than two modes or values that repeat.

    >>> drawn = motion(Operation("logical_divide", (Layout((4, 8), (8, 1)), (2, 4))), FigureOptions())
    >>> drawn.title, drawn.panels[2].caption
    ('logical_divide cuts A into 4 tiles and moves nothing', '3 The complement repeats it  2:2, 2:4')
    """
    if not isinstance(call, Operation):
        raise FigureError("steps are those of an operation", hint="example: logical_divide((4,8):(8,1), (2,4))")
    found = ops.find(call.name)
    known = (*DIVIDES, "composition", "complement", *PRODUCTS, *INVERSES)
    if found.name not in known:
        raise FigureError(f"the steps of {found.name} are not drawn", hint=", ".join(known))
    result = found.call(list(call.operands), call.template)
    a = as_layout(call.operands[0])
    if not isinstance(a, Layout) or is_coordinate_layout(a) or not isinstance(result, Layout) or len(modes(a.shape)) > 2:
        raise FigureError(f"the steps of {found.name} are drawn of layouts of one or two modes, whose values are offsets")
    places = product(a.shape) * (product(result.shape) if found.name == "complement" else 1)
    check_cells(max(places, product(result.shape)) * 4, f"the steps of {call}", options)
    if found.name in DIVIDES:
        title, panels = _divide(found.name, a, tilers_of(call.operands[1]), result)
    elif found.name == "composition" and isinstance(b := call.operands[1], Layout):
        title, panels = _compose(a, b, result)
    elif found.name == "complement":
        title, panels = _complement(a, result)
    elif found.name in PRODUCTS:
        title, panels = by_product(found.name, a, call.operands[1], result)
    elif found.name in INVERSES:
        title, panels = by_inverse(found.name, a, result)
    else:
        raise FigureError(f"the steps of a composition are drawn where B is a layout, not {show(call.operands[1])}")
    title = options.title or title
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
    for step, (n, cell) in enumerate(ways if len(ways) <= ELEMENTS else ()):
        r, c = divmod(cell, first.cols)
        where = f"A({c})" if first.rows == 1 else f"A({r},{c})"
        to = f"({n % last.cols})" if last.rows == 1 else f"({n // last.cols},{n % last.cols})"
        words = f"{where}, {first.labels[cell]}, goes to {to} of the result, {last.labels[n]}"
        panels = (_lit(first, cell), *between, _lit(last, n))
        yield replace(
            whole, panels=panels, facts={"step": len(whole.panels) + 1 + step}, description=f"{words}. {whole.description}"
        )


def _lit(panel: Panel, cell: int) -> Panel:
    """A panel with one cell outlined."""
    r, c = divmod(cell, panel.cols)
    return replace(panel, shapes=(*panel.shapes, Shape("box", ((c, r), (c + 1, r + 1)), look="strong")))


def tilers_of(tiler: Any) -> tuple[Layout, ...]:
    """A tiler as a layout for each mode: (2,4) is 2:1 and 4:1.

    >>> [str(mode) for mode in tilers_of((2, Layout(4, 2)))]
    ['2:1', '4:2']
    """
    parts = tiler if isinstance(tiler, tuple) else (tiler,)
    out = [part if isinstance(part, Layout) else Layout(part, 1) for part in parts]
    if any(not isinstance(part, Layout) for part in out):
        raise FigureError(f"the tiler {show(tiler)} is not drawn step by step")
    return tuple(out)


def _divide(name: str, a: Layout, tiler: tuple[Layout, ...], result: Layout) -> tuple[str, list[Panel]]:
    table, cols = rows_of(a)
    rows = len(table) // cols
    if len(set(table)) < len(table):
        raise FigureError(f"{a} repeats offsets, so that a tile cannot be told by them", hint="`view=operation` draws it")
    if len(tiler) > len(modes(a.shape)):
        raise FigureError(f"a tiler of {len(tiler)} modes does not fit {a}")
    extents = (rows, cols) if len(modes(a.shape)) > 1 else (cols,)
    full = [*tiler, *[Layout(extent, 1) for extent in extents[len(tiler) :]]]
    rest = [ops.find("complement").call([t, extent], ()) for t, extent in zip(full, extents, strict=True)]
    picks: list[list[Any]] = [list(offsets(t)) for t in full]
    origins: list[list[Any]] = [list(offsets(r)) for r in rest]
    if len(extents) == 1:
        picks, origins = [[0], *picks], [[0], *origins]
    tile_of = {
        (i + p, j + q): n * len(origins[1]) + m
        for n, i in enumerate(origins[0])
        for m, j in enumerate(origins[1])
        for p in picks[0]
        for q in picks[1]
    }
    if tile_of.keys() != {(r, c) for r in range(rows) for c in range(cols)}:
        raise FigureError(f"the tiles of {', '.join(map(str, tiler))} do not cover {a} exactly", hint="`view=operation` draws it")
    cells = [(r, c) for r in range(rows) for c in range(cols)]
    hue = [tile_of[cell] % len(HUES) for cell in cells]
    words = list(map(str, table))
    picked = [r in picks[0] and c in picks[1] for r, c in cells]
    starts = [r in origins[0] and c in origins[1] for r, c in cells]
    arcs = []
    for axis, side in ((1, "up"), (0, "left")):
        if len(origins[axis]) > 1:
            far = origins[axis][1]
            end = (far, 0) if axis == 0 else (0, far)
            step = table[end[0] * cols + end[1]] - table[0]
            points = ((-0.05, 0.5), (-0.05, far + 0.5)) if axis == 0 else ((0.5, -0.05), (far + 0.5, -0.05))
            arcs.append(Shape("arc", points, f"+{step}", f"{side} bold"))
    by_offset = dict(zip(table, hue, strict=True))
    cell_of = {x: n for n, x in enumerate(table)}
    shape = modes(result.shape)
    wide = product(shape[1:]) if len(shape) > 1 else product(shape)
    tall = product(result.shape) // wide
    values: Any = offsets(result)
    ordered = [values[r + c * tall] for r in range(tall) for c in range(wide)]
    many = len(origins[0]) * len(origins[1])
    same = Counter(ordered) == Counter(table)
    panels = [
        panel_of(f"1 A  {a}", words, [PAPER] * len(cells), cols, outline(picked, cols)),
        panel_of(f"2 The tiler picks  {', '.join(map(str, tiler))}", words, [0 if lit else BEHIND for lit in picked], cols),
        panel_of(
            f"3 The complement repeats it  {', '.join(map(str, rest))}",
            words,
            [h if lit else h + len(HUES) for h, lit in zip(hue, starts, strict=True)],
            cols,
            arcs,
        ),
        panel_of(
            f"4 The result  {result}",
            list(map(str, ordered)),
            [by_offset.get(x, PAPER) for x in ordered],
            wide,
            source=[cell_of.get(x) for x in ordered],
        ),
    ]
    return f"{name} cuts A into {many} tiles{' and moves nothing' if same else ''}", panels


def _compose(a: Layout, b: Layout, result: Layout) -> tuple[str, list[Panel]]:
    table, cols = rows_of(a)
    rows = len(table) // cols
    picks: list[Any] = list(offsets(b))
    if max(picks) >= len(table):
        raise FigureError(f"{b} reaches beyond the {len(table)} elements of {a}", hint="`view=operation` draws it")
    wanted = {index: i for i, index in reversed(list(enumerate(picks)))}
    index = [r + c * rows for r in range(rows) for c in range(cols)]
    order = [f"{wanted[x]}" if x in wanted else "" for x in index]
    values, wide = rows_of(result)
    tall = len(values) // wide
    lit = [wanted[x] // tall % len(HUES) if x in wanted else BEHIND for x in index]  # the column of R where it lands
    panels = [
        panel_of(f"1 A  {a}", list(map(str, table)), [PAPER] * len(table), cols, outline([word != "" for word in order], cols)),
        panel_of(f"2 B picks, in this order  {b}", order, lit, cols),
        panel_of("3 Of these, A's offsets", list(map(str, table)), lit, cols),
        panel_of(
            f"4 R(i) = A(B(i))  {result}",
            list(map(str, values)),
            [n % wide % len(HUES) for n in range(len(values))],
            wide,
            source=[_cell(picks[n // wide + n % wide * tall], rows, cols) for n in range(len(values))],
        ),
    ]
    exact = list(offsets(result)) == [a(x) for x in picks]
    held = f"B picks {len(wanted)} of the {len(table)} elements of A"
    return held + (": R(i) = A(B(i))" if exact else "; R differs from A(B(i)) somewhere"), panels


def _cell(index: int, rows: int, cols: int) -> int:
    """The cell, row by row, of an index that counts down the columns."""
    return index % rows * cols + index // rows


def _complement(a: Layout, result: Layout) -> tuple[str, list[Panel]]:
    own: list[Any] = list(offsets(a))
    starts: list[Any] = list(offsets(result))
    size = max(x + y for x in own for y in starts) + 1
    copy = {x + y: n for n, y in enumerate(starts) for x in own}
    places = list(range(size))
    words = list(map(str, places))
    lit = [0 if x in own else BEHIND for x in places]
    again = [copy[x] % len(HUES) + (0 if x in starts else len(HUES)) if x in copy else BEHIND for x in places]
    both = [copy[x] % len(HUES) if x in copy else BEHIND for x in places]
    panels = [
        panel_of(f"1 A reaches  {a}", words, lit, size),
        panel_of(f"2 The complement begins again  {result}", words, again, size),
        panel_of(
            "3 Together",
            words,
            both,
            size,
            foot=f"{len(own)} x {len(starts)} = {len(copy)} of {size} places",
            source=[x - starts[copy[x]] if x in copy else None for x in places],
        ),
    ]
    once = ", each once" if len(own) * len(starts) == len(copy) else ""
    return f"A and its complement reach {len(copy)} of {size} places{once}", panels
