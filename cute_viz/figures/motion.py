"""An operation of the algebra step by step: what A is, what is picked of it, how often, and what comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from cute_viz.algebra import ops
from cute_viz.algebra.call import Operation
from cute_viz.algebra.composed import as_layout
from cute_viz.algebra.inttuple import modes, product, show
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.table import offsets
from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Paint, Panel, Ruler, Shape
from cute_viz.figures.options import FigureOptions, check_cells

HUES = (0, 2, 5, 3, 4, 6, 7)  # of tiles; red is a conflict
PAPER = 2 * len(HUES)  # paints: hues, then faded, then paper, and paper whose labels recede
BEHIND = PAPER + 1
DIVIDES = ("logical_divide", "zipped_divide", "tiled_divide", "flat_divide")


def motion(call: Any, options: FigureOptions) -> Figure:
    """The steps of a divide, a composition or a complement; every number is that of the layouts themselves.

    Raises: FigureError for another operation, and for operands of more than two modes or values that repeat.

    >>> drawn = motion(Operation("logical_divide", (Layout((4, 8), (8, 1)), (2, 4))), FigureOptions())
    >>> drawn.title, drawn.panels[2].caption
    ('logical_divide cuts A into 4 tiles and moves nothing', '3 The complement repeats it  2:2, 2:4')
    """
    if not isinstance(call, Operation):
        raise FigureError("steps are those of an operation", hint="example: logical_divide((4,8):(8,1), (2,4))")
    found = ops.find(call.name)
    if found.name not in (*DIVIDES, "composition", "complement"):
        raise FigureError(f"the steps of {found.name} are not drawn", hint=f"{', '.join(DIVIDES)}, composition, complement")
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
    else:
        raise FigureError(f"the steps of a composition are drawn where B is a layout, not {show(call.operands[1])}")
    title = options.title or title
    paints = (*[Paint(h) for h in HUES], *[Paint(h, faded=True) for h in HUES], Paint(-1), Paint(-1, faded=True))
    told = " ".join(f"{panel.caption}." for panel in panels)
    return Figure("motion", title, str(call), str(call), f"{title}. {told}", paints, (), tuple(panels), flow="row")


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


def _panel(
    caption: str, labels: Sequence[str], paints: Sequence[int], cols: int, shapes: Sequence[Shape] = (), foot: str = ""
) -> Panel:
    rows = len(labels) // cols
    lines = Ruler("", ("",) * rows, (0,) * (rows + 1)), Ruler("", ("",) * cols, (0,) * (cols + 1))
    return Panel(caption, rows, cols, tuple(labels), tuple(paints), *lines, shapes=tuple(shapes), foot=foot)


def _outline(lit: Sequence[bool], cols: int) -> list[Shape]:
    """Boxes around the cells that are picked: runs of a row, and of rows that have the same."""
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


def _extents(a: Layout) -> tuple[int, int]:
    shape = modes(a.shape)
    return (product(shape[0]), product(shape[1])) if len(shape) > 1 else (1, product(shape[0]))


def _rows(a: Layout) -> tuple[list[int], int]:
    """The offsets of a layout row by row, and how many columns there are."""
    rows, cols = _extents(a)
    found: Any = offsets(a)
    return [found[r + c * rows] for r in range(rows) for c in range(cols)], cols


def _divide(name: str, a: Layout, tiler: tuple[Layout, ...], result: Layout) -> tuple[str, list[Panel]]:
    table, cols = _rows(a)
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
    shape = modes(result.shape)
    wide = product(shape[1:]) if len(shape) > 1 else product(shape)
    tall = product(result.shape) // wide
    values: Any = offsets(result)
    ordered = [values[r + c * tall] for r in range(tall) for c in range(wide)]
    many = len(origins[0]) * len(origins[1])
    same = Counter(ordered) == Counter(table)
    panels = [
        _panel(f"1 A  {a}", words, [PAPER] * len(cells), cols, _outline(picked, cols)),
        _panel(f"2 The tiler picks  {', '.join(map(str, tiler))}", words, [0 if lit else BEHIND for lit in picked], cols),
        _panel(
            f"3 The complement repeats it  {', '.join(map(str, rest))}",
            words,
            [h if lit else h + len(HUES) for h, lit in zip(hue, starts, strict=True)],
            cols,
            arcs,
        ),
        _panel(f"4 The result  {result}", list(map(str, ordered)), [by_offset[x] for x in ordered], wide),
    ]
    return f"{name} cuts A into {many} tiles{' and moves nothing' if same else ''}", panels


def _compose(a: Layout, b: Layout, result: Layout) -> tuple[str, list[Panel]]:
    table, cols = _rows(a)
    rows = len(table) // cols
    picks: list[Any] = list(offsets(b))
    if max(picks) >= len(table):
        raise FigureError(f"{b} reaches beyond the {len(table)} elements of {a}", hint="`view=operation` draws it")
    wanted = {index: i for i, index in reversed(list(enumerate(picks)))}
    index = [r + c * rows for r in range(rows) for c in range(cols)]
    order = [f"{wanted[x]}" if x in wanted else "" for x in index]
    values, wide = _rows(result)
    tall = len(values) // wide
    lit = [wanted[x] // tall % len(HUES) if x in wanted else BEHIND for x in index]  # the column of R where it lands
    panels = [
        _panel(f"1 A  {a}", list(map(str, table)), [PAPER] * len(table), cols, _outline([word != "" for word in order], cols)),
        _panel(f"2 B picks, in this order  {b}", order, lit, cols),
        _panel("3 Of these, A's offsets", list(map(str, table)), lit, cols),
        _panel(f"4 R(i) = A(B(i))  {result}", list(map(str, values)), [n % wide % len(HUES) for n in range(len(values))], wide),
    ]
    exact = list(offsets(result)) == [a(x) for x in picks]
    held = f"B picks {len(wanted)} of the {len(table)} elements of A"
    return held + (": R(i) = A(B(i))" if exact else "; R differs from A(B(i)) somewhere"), panels


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
        _panel(f"1 A reaches  {a}", words, lit, size),
        _panel(f"2 The complement begins again  {result}", words, again, size),
        _panel("3 Together", words, both, size, foot=f"{len(own)} x {len(starts)} = {len(copy)} of {size} places"),
    ]
    once = ", each once" if len(own) * len(starts) == len(copy) else ""
    return f"A and its complement reach {len(copy)} of {size} places{once}", panels
