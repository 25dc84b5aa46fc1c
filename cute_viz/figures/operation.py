"""An operation of the algebra as linked panels, one colour for each tile in all of them; a slice is lit within its parent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from string import ascii_uppercase
from typing import Any

from cute_viz.algebra import ops
from cute_viz.algebra.common import Operation
from cute_viz.algebra.composed import AnyLayout, as_layout, domain, is_layout
from cute_viz.algebra.inttuple import leaves, modes, product, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.slicing import slice_and_offset
from cute_viz.algebra.table import offsets
from cute_viz.errors import CuteVizError, FigureError
from cute_viz.figures.findings import of_picked
from cute_viz.figures.grid import grid
from cute_viz.figures.machine import of_groups, of_result
from cute_viz.figures.model import HOLE, Figure, LegendEntry, Paint, Panel
from cute_viz.figures.motion import motion
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.page import page
from cute_viz.figures.paint import HUES, Painting, by_group, by_order, in_turns, painted, receding, steps_of, with_borders
from cute_viz.spelling import count as count_of

TILES = "hue: the tile"
WIDEST = 48  # columns that stand beside each other
Key = Callable[[int], "int | None"]  # a panel's offset -> its group


def operation(call: Operation, options: FigureOptions) -> Figure:
    """The figure of an operation: its layouts, and its result.

    Divides and products: hue is the tile (or the copy), the same in all panels. Complement: its steps on the line of memory.
    Composition: hue is the place that an element has in A. Everything else: hue is the offset.

    Raises: FigureError for a result that is not a layout, or whose values are coordinates, which have no colour here.
    """
    found = ops.find(call.name)
    if found.name in PARENTS:
        return selection(call, options)
    if found.name == "complement" and options.labels == "auto" and not options.coords:
        with suppress(CuteVizError):  # of coordinates, and of a long line, the layouts are drawn
            return motion(call, options)
    result = found.call(list(call.operands), call.template)
    taken, _ = found.fitted(list(call.operands), call.template)  # the shape of a block, or of its copies, is a layout
    pairs = enumerate(zip(call.operands, taken[: len(call.operands)], strict=True))
    operands = [as_layout(x) if n == 0 else y if is_layout(y) else x for n, (x, y) in pairs]
    drawn = [("A", operands[0])] if operands and is_layout(operands[0]) else []
    drawn += [(_name(found.name, n), x) for n, x in enumerate(operands[1:], 1) if is_layout(x)]
    if found.name.endswith("divide") and len(operands) == 2 and (first := _first_tile(operands)) is not None:
        drawn.insert(1, ("first tile", first))
    if not is_layout(result):
        raise FigureError(f"{found.name} gives {show(result)}, which is not a layout that can be drawn")
    drawn.append(("result", result))
    plain = replace(options, view=None, color_by="none", title=None)
    parts = [(name, grid(x, plain)) for name, x in drawn]
    if found.name.endswith("divide") and len(operands) == 2:
        parts[0] = (parts[0][0], _with_tiles(parts[0][1], operands[1]))
    keys, count, title = _keys(found.name, operands, drawn)
    figures, painting = _painted([figure for _, figure in parts], keys, count, title, steps_of(drawn[0][1]))
    source = str(replace(call, name=found.name))
    picked = set(offsets(result)) if found.name == "composition" and not count else set()
    if picked:
        lit = [x in picked for panel in figures[0].panels for x in panel.data["offset"]]
        paints, cells = receding(painting.paints, [p for panel in figures[0].panels for p in panel.paints], lit)
        figures[:1] = painted(figures[:1], cells, paints)
        painting = replace(painting, paints=paints)
    shown = [(f"{name}: {show(x)}", figure) for (name, x), figure in zip(drawn, figures, strict=True)]
    across = 3 if sum(panel.cols for figure in figures for panel in figure.panels) <= WIDEST else 2
    last = figures[-1].panels
    tiles = count and found.name != "composition" and len(last) == 1
    groups = [keys[-1](x) for x in last[0].data.get("offset", ())] if tiles else []
    where = of_groups(groups, last[0].cols, "tile" if title == TILES else "copy")
    told = _finding(found.name, drawn, count, where)
    if found.name == "composition" and "A(B(i))" not in told:
        told = of_picked(figures[0].panels, last) or told
    name, first = f"{found.name}: {found.summary.partition(';')[0]}", parts[0][1]
    caption, mute = (". ".join(filter(None, (name * bool(told), words))) for words in (first.caption, first.mute))
    out = page(options.title or told or name, shown, across, source, caption)
    panels = [replace(panel, legends=None) for panel in out.panels]
    if where and "interleaved" not in where:
        panels[-1] = _parted(panels[-1], groups)
    if any(painting.paints[p].faded for p in panels[0].paints if p != HOLE):
        faded = "what is not picked of A is faded"
        caption, mute = f"{caption}; {faded}", "; ".join(filter(None, (mute, faded)))
    return replace(
        out, kind="operation", caption=caption, mute=mute, paints=painting.paints, legends=painting.legends, panels=tuple(panels)
    )


def _finding(name: str, drawn: list[tuple[str, Any]], count: int, where: str) -> str:
    """What came of it: tiles or copies, the same offsets in another shape, a choice of them, each once together with the rest."""
    if drawn[0][0] != "A":
        return ""
    a, result = list(offsets(drawn[0][1])), list(offsets(dict(drawn)["result"]))
    if name in ("right_inverse", "left_inverse") and isinstance(drawn[0][1], Layout) and all(isinstance(x, int) for x in result):
        first, second = (result, a) if name == "right_inverse" else (a, result)
        if all(isinstance(x, int) and 0 <= x < len(second) and second[x] == n for n, x in enumerate(first)):
            return f"{'A(result(i))' if name == 'right_inverse' else 'result(A(i))'} is i, for all {len(first)} i"
    b, function = dict(drawn).get("B"), drawn[0][1]
    if name == "composition" and isinstance(function, Layout) and isinstance(b, Layout):
        same = (
            [x == function(i) for x, i in zip(result, offsets(b), strict=True)]
            if all(isinstance(i, int) for i in offsets(b))
            else []
        )
        if False in same:
            return f"result(i) is not A(B(i)), for {same.count(False)} of {len(same)} i"
        if same and (len({*result}) < len(result) or not {*result} <= {*a}):
            return f"result(i) is A(B(i)), for all {len(same)} i"
    told = of_result(name, a, result, count, len(result) // count if count else 0, where)
    before, after = (len([*leaves(as_layout(dict(drawn)[x]).shape)]) for x in ("A", "result"))
    if name == "coalesce" and told and after < before:
        return f"{count_of(before, 'mode')} become{'s' * (before == 1)} {after}; {told[0].lower()}{told[1:]}"
    return told


def _first_tile(operands: list[Any]) -> Any:
    """What a tiler that is not a layout picks of A; None where that is not a layout."""
    if is_layout(operands[1]):
        return None
    try:
        first = ops.find("composition").call(list(operands), ())
    except CuteVizError:
        return None
    return first if is_layout(first) else None


def _with_tiles(figure: Figure, tiler: Any) -> Figure:
    """The figure of A, its rulers with the borders of the tiles that a tiler of extents cuts."""
    down, right = (*(tiler if isinstance(tiler, tuple) else (tiler,)), 0, 0)[:2]
    rows, cols = (x if isinstance(x, int) and not isinstance(x, bool) else 0 for x in (down, right))
    panels = [
        replace(panel, row_ruler=with_borders(panel.row_ruler, rows), col_ruler=with_borders(panel.col_ruler, cols))
        for panel in figure.panels
    ]
    return replace(figure, panels=tuple(panels))


def _parted(panel: Panel, groups: Sequence[object]) -> Panel:
    """A panel with borders between its groups, in the places of those between its modes. groups: of its cells, row by row."""
    lines = [tuple(groups[n : n + panel.cols]) for n in range(0, len(groups), panel.cols)]
    down, right = ((0, *[int(a != b) for a, b in pairwise(every)], 0) for every in (lines, [*zip(*lines, strict=True)]))
    return replace(panel, row_ruler=replace(panel.row_ruler, levels=down), col_ruler=replace(panel.col_ruler, levels=right))


def _name(operation: str, n: int) -> str:
    """What operand n (from 0) is called: `tiler`, or a letter while there are letters."""
    if operation.endswith("divide"):
        return "tiler"
    return ascii_uppercase[n] if n < len(ascii_uppercase) else f"operand {n + 1}"


def _keys(name: str, operands: list[Any], drawn: list[tuple[str, Any]]) -> tuple[list[Key], int, str]:
    """For each panel, the group of an offset; how many groups there are (0: ordered by the offset itself), and the legend."""
    a = operands[0] if operands else None
    if name.endswith(("divide", "product")) and len(operands) == 2:
        zipped = "zipped_divide" if name.endswith("divide") else "zipped_product"
        try:
            both = ops.find(zipped).call(list(operands), ())
        except CuteVizError:
            both = None
        if isinstance(both, Layout):
            inside, outside = (product(mode) for mode in modes(both.shape))
            of: dict[int, int] = {}
            for n, offset in enumerate(offsets(both)):
                of.setdefault(offset, n // inside)
            if name.endswith("divide"):
                keys: list[Key] = [of.get for _ in drawn]
                if is_layout(operands[1]):
                    keys[1] = lambda offset: None  # the tiler lies in every tile
                return keys, outside, TILES
            second = drawn[1][1] if len(drawn) == 3 else None
            copies = {} if second is None else {offset: n for n, offset in reversed(list(enumerate(offsets(second))))}
            block: list[Key] = [lambda offset: 0, *([copies.get] if second is not None else []), of.get]
            return block, outside, "hue: the copy of A"
    if name == "composition" and isinstance(a, Layout) and (landed := _landed(a, drawn[-1][1])):
        where, lines, word = landed
        table = offsets(a)
        keys = [where.get, *[lambda x: where.get(table[x] if 0 <= x < len(table) else a(x))] * (len(drawn) - 2), where.get]
        return keys, lines, f"hue: the {word} of the result"
    if name == "composition" and len(drawn) == 3 and isinstance(a, Layout):
        table = offsets(a)
        if not all(isinstance(x, int) for x in table):  # coordinates have no order of colours: the tiler's offsets, places of A, do
            return [lambda x: x] * 3, 0, "hue: the place in A"
        return [lambda x: x, lambda x: table[x] if 0 <= x < len(table) else a(x), lambda x: x], 0, "hue: the value of A"
    return [lambda x: x for _ in drawn], 0, "hue: offset"


def _landed(a: Layout, result: Any) -> tuple[dict[int, int], int, str] | None:
    """For each offset the column of the result where it lands, or the row, of which there are fewer; how many there are, and their
    name. None of a line, of a slice of slices, and of what is there twice or is not of A.
    """
    values = offsets(result)
    extents = [product(mode) for mode in modes(result.shape)] if isinstance(result, Layout) else []
    if (
        len(extents) != 2
        or min(extents) < 2
        or max(extents) > 1 << 12
        or min(extents) > 2 * HUES
        or len({*values}) < len(values)
        or not {*values} <= {*offsets(a)}
    ):
        return None
    rows, cols = extents
    in_order = [values[c * rows + r] for r in range(rows) for c in range(cols)] == [*offsets(a)]
    by_row = in_order or rows < cols or cols > 2 * HUES
    where = {x: n % rows if by_row else n // rows for n, x in enumerate(values)}
    return where, rows if by_row else cols, "row" if by_row else "column"


def _painted(
    figures: Sequence[Figure], keys: list[Key], count: int, title: str, steps: Sequence[int]
) -> tuple[list[Figure], Painting]:
    """The figures with the paints of one painting."""
    every: list[int | None] = []
    for figure, key in zip(figures, keys, strict=True):
        for panel in figure.panels:
            column = panel.data.get("offset")
            every += [None] * (panel.rows * panel.cols) if column is None else [key(x) for x in column]
    known = [x for x in every if x is not None]
    if count:
        shapes = [(panel.rows, panel.cols) for figure in figures for panel in figure.panels]
        prefix = title.split()[2] + " " if "result" in title or "tile" in title else "copy "
        painting = by_group(every, count, title, prefix, turns=in_turns(every, shapes))
    else:
        painting = by_order(every, title, steps=steps)
    if not known:
        raise FigureError("there is nothing to color")
    cells = list(painting.cells)
    paints = painting.paints
    if None in every:  # what belongs to no group is paper, not a hole
        paints = (*paints, Paint(-1, faded="result" in title))
        cells = [len(paints) - 1 if key is None else cell for key, cell in zip(every, cells, strict=True)]
    return painted(figures, cells, paints), Painting(tuple(cells), paints, painting.legends)


PARENTS = {"slice": 1, "local_tile": 0, "local_partition": 0}  # which operand of an operation is the parent


def selection(call: Operation, options: FigureOptions) -> Figure:
    """The figure of a slice, a local_tile or a local_partition. Raises: FigureError for a result or a parent that is not a
    layout of integers."""
    found = ops.find(call.name)
    at = PARENTS[found.name]
    parent = as_layout(call.operands[at])
    result = found.call(list(call.operands), call.template)
    if not all(is_layout(x) for x in (parent, result)):
        raise FigureError(f"{found.name} gives {show(result)}, which is not a layout that can be drawn")
    plain = replace(options, view=None, color_by="none", title=None)
    whole, part = grid(parent, plain), grid(result, plain)
    if not all("offset" in panel.data for panel in (*whole.panels, *part.panels)):
        raise FigureError("values that are coordinates have no offset to color by")
    base = slice_and_offset(call.operands[0], parent)[1] if found.name == "slice" else 0
    chosen = _chosen(call, found, at, parent)
    of_whole = [offset for panel in whole.panels for offset in panel.data["offset"]]
    of_part = [offset + base for panel in part.panels for offset in panel.data["offset"]]
    painting = by_order([*of_whole, *of_part], "hue: offset", steps=steps_of(parent))
    rows, cols = whole.panels[0].rows, whole.panels[0].cols
    lit = [n // (rows * cols) * rows * cols + n // cols % rows + n % cols * rows in chosen for n in range(len(of_whole))]
    paints, cells = receding(painting.paints, painting.cells, [*lit, *[True] * len(of_part)])
    figures = painted((whole, part), cells, paints)
    words = f"A{_coordinate(call.operands[0])}" if found.name == "slice" else _words(found.name, call)
    beyond = f", at offset {base} of A" if base else ""
    shown = [(f"A: {show(parent)}", figures[0]), (f"{words}: {show(result)}{beyond}", figures[1])]
    out = page(options.title or f"{words}: {len(chosen)} of {product(domain(parent).shape)} elements of A", shown, 3, str(call))
    (legend,) = painting.legends
    hues = {paints[paint].hue for paint in cells[len(of_whole) :]}
    entries = [e for e in legend.entries if paints[e.paint].hue in hues]
    if any(paints[paint].faded for paint in cells if paint != HOLE):
        entries.append(LegendEntry(len(painting.paints), "not selected, faded"))
    legends = (replace(legend, entries=tuple(entries)),)
    panels_ = tuple([replace(panel, legends=None) for panel in out.panels])
    caption = "The selected elements of A are highlighted; each keeps its color in the panel of the selection"
    return replace(out, kind="operation", paints=paints, legends=legends, panels=panels_, caption=caption)


def _chosen(call: Operation, found: Any, at: int, parent: AnyLayout) -> set[int]:
    """The indices, counted down the columns, of the elements of the parent that an operation takes."""
    numbered = Layout(domain(parent).shape)
    operands = [numbered if n == at else operand for n, operand in enumerate(call.operands)]
    if found.name == "slice":
        part, base = slice_and_offset(operands[0], numbered)
        return {base + index for index in offsets(part)}
    return set(offsets(found.call(operands, call.template)))


def _coordinate(crd: Any) -> str:
    return show(crd) if isinstance(crd, tuple) else f"({show(crd)})"


def _words(name: str, call: Operation) -> str:
    """`local_tile(A, (4,3), (1,1))`."""
    rest = ", ".join(show(operand) for operand in call.operands[1:])
    return f"{name}(A, {rest})"
