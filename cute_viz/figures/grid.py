"""The grid of a layout: where each coordinate lies, mode 0 down, mode 1 right; rank 3 and more as slices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product as cartesian
from typing import Any

from cute_viz.algebra.composed import AnyLayout, ComposedLayout, domain, pointer_bits, position_independent, swizzle_of
from cute_viz.algebra.inttuple import leaves, modes, product, show
from cute_viz.algebra.layout import Layout, idx2crd
from cute_viz.algebra.swizzle import Swizzle, chunks_in_words
from cute_viz.algebra.table import offsets
from cute_viz.errors import FigureError
from cute_viz.figures.findings import of_offsets
from cute_viz.figures.model import Figure, Panel, Ruler
from cute_viz.figures.options import PLAIN, FigureOptions, check_cells
from cute_viz.figures.paint import HUES, Painting, by_group, by_order, chunks, in_turns, ruler, steps_of, unpainted
from cute_viz.limits import limit, over
from cute_viz.values.integer import Static

ROOM = 64  # columns of slices side by side, more of which are in several rows
PIXELS = 100_000  # cells of a swizzled layout from which on each would be a pixel


def grid(layout: AnyLayout, options: FigureOptions) -> Figure:
    """The figure of a layout's offsets (or coordinates)."""
    drawn = pad_to_rank2(position_independent(layout))
    shape = modes(drawn.shape)
    rows, cols, rest = product(shape[0]), product(shape[1]), shape[2:]
    moved = swizzle_of(drawn) is not None
    most = (
        PIXELS if moved and options == replace(PLAIN, heat=True, title=options.title) and len(shape) == 2 else options.max_cells
    )  # a swizzle of so many cells is told by an image and its corner
    if options.heat and product(drawn.shape) > most and options.labels in ("auto", "none"):
        from cute_viz.figures.heat import heat

        return heat(drawn, options)
    check_cells(product(drawn.shape), f"the layout {layout}", options)
    if product(rest) > limit("slices"):
        raise over("slices", f"{layout} has {product(rest)} slices", instead="fix a mode with a slice: L(_,_,0)")
    values = offsets(drawn)
    plane = rows * cols
    order = []  # row by row, slice by slice; `values` runs down the columns
    for start in range(0, len(values), plane):
        for r in range(rows):
            order += values[start + r : start + plane : rows]
    is_int = not values or isinstance(values[0], int)
    painting = _painting(drawn, order, rows, cols, options, is_int)
    labels = _labels(order, drawn, rows, cols, options.labels)

    row_ruler = ruler("mode 0", shape[0], nested=options.coords)
    one = len(modes(layout.shape)) < 2  # a second mode 1:0 is drawn, of which there is nothing to tell
    col_ruler = ruler("" if one else "mode 1", shape[1], nested=options.coords)
    panels = []
    columns = product(rest[0]) if rest else 1
    in_grid = len(rest) > 1 or (rest and columns * cols <= ROOM)
    across = columns if in_grid else max(1, 32 // cols)
    for n, crd in enumerate(_slices(rest)):
        cells = slice(n * plane, (n + 1) * plane)
        panels.append(
            Panel(
                caption=f"(_,_,{','.join(crd)})" if rest else "",
                labels=tuple(labels[cells]),
                paints=painting.cells[cells],
                row_ruler=row_ruler,
                col_ruler=col_ruler,
                boxes=chunks(_swizzle(drawn, options), order[cells], rows, cols) if is_int else (),
                data={"offset": tuple(order[cells])} if is_int else {"coordinate": tuple(order[cells])},
                place=divmod(n, across),
            )
        )
    extents = " × ".join(str(product(mode)) for mode in modes(layout.shape))
    kind = "coordinate" if not is_int else "offset"
    shown = {"auto": f"its {kind}", "offset": f"its {kind}", "coord": "its own coordinate", "index": "its index", "none": "no text"}
    shown |= {"swizzle": "its offset before and after the swizzle", "all": f"its {kind}, its index and its own coordinate"}
    cell = "i" if one else f"({','.join('ijklmnop'[: 2 + len(rest)])})"
    caption, mute = f"Cell {cell} shows {shown[options.labels]}", ""
    if isinstance(layout, ComposedLayout) and (bits := pointer_bits(layout)) is not None and isinstance(drawn, ComposedLayout):
        mute = f"offsets count elements of {bits} bits, as does {drawn.outer}; {layout.outer} acts on bytes"
        caption = f"{caption}; {mute}"
    facts: dict[str, Any] = {"drawn": show(drawn), "size": product(layout.shape)}
    if is_int:
        facts["cosize"] = domain(drawn).cosize
    swizzle = swizzle_of(drawn)
    tile = None if one else (_inner(shape[0]), _inner(shape[1]))
    told = of_offsets(order, 1 if one else rows, rows if one else cols, swizzle, tile) if is_int else ""
    own = told or f"{extents} layout of coordinates"
    if not is_int and len(shape) == 2:
        places = [(idx2crd(r, shape[0]), idx2crd(c, shape[1])) for r in range(rows) for c in range(cols)]
        own = "Identity: each cell holds its own coordinate" if order == places else own
    facts["drawn title"] = own  # which CuTe's own printers do not write
    drawing = painting.figure("grid", (options.title or own, show(layout), caption), panels, (), facts, mute)
    return replace(drawing, outer=_outer(rest)) if in_grid else drawing


def _outer(rest: tuple[Any, ...]) -> tuple[Ruler, Ruler]:
    """The rulers of a grid of slices: mode 2 right, the modes after it down."""
    down = [",".join(map(str, crd)) for crd in cartesian(*map(range, map(product, rest[:0:-1])))]
    titles = ", ".join(f"mode {n}" for n in range(len(rest) + 1, 2, -1))
    return (
        Ruler(titles, tuple(down)),
        Ruler("mode 2", tuple(map(str, range(product(rest[0]))))),
    )


def _swizzle(drawn: AnyLayout, options: FigureOptions) -> Swizzle | None:
    """The swizzle whose chunks are told: the layout's own, or that of a layout beside it."""
    own = swizzle_of(drawn)
    return own or (options.beside if isinstance(options.beside, Swizzle) else None)


def pad_to_rank2(layout: AnyLayout) -> AnyLayout:
    """A rank-1 layout with a second mode 1:0, as print_latex draws it; others as they are."""
    if isinstance(layout, ComposedLayout):
        if len(modes(layout.shape)) > 1:
            return layout
        inner = layout.inner
        if isinstance(inner, Swizzle):
            raise FigureError(f"{layout} has no shape to draw")
        return ComposedLayout(layout.outer, layout.offset, pad_to_rank2(inner))
    shape, stride = modes(layout.shape), modes(layout.stride)
    if len(shape) != 1:
        return layout if shape else Layout((1, 1), (0, 0))
    one, zero = (Static(1), Static(0)) if any(isinstance(s, Static) for s in leaves(shape)) else (1, 0)
    return Layout((*shape, one), (*stride, zero))


def _slices(rest: tuple[Any, ...]) -> list[tuple[str, ...]]:
    """The coordinates of the modes past the second, mode 2 fastest, as text."""
    ranges = [[show(idx2crd(i, mode)) for i in range(product(mode))] for mode in rest]
    return [crd[::-1] for crd in cartesian(*ranges[::-1])]


def _labels(order: list[Any], drawn: AnyLayout, rows: int, cols: int, labels: str) -> list[str]:
    if labels in ("auto", "offset"):
        return list(map(str, order)) if order and isinstance(order[0], int) else [show(value) for value in order]
    if labels == "none":
        return [""] * len(order)
    if labels == "swizzle":
        if (swizzle := swizzle_of(drawn)) is None or not isinstance(order[0], int):
            raise FigureError(
                f"{drawn} has no swizzle, so no offsets before it to show for `labels=swizzle`",
                hint="choices: auto, offset, coord, index",
            )
        return [f"{swizzle(value)} → {value}" for value in order]  # which undoes itself
    if labels == "all":
        return [
            "\n".join(lines)
            for lines in zip(*(_labels(order, drawn, rows, cols, one) for one in ("offset", "index", "coord")), strict=True)
        ]
    plane = rows * cols
    if labels == "index":
        return [str(start + r + rows * c) for start in range(0, len(order), plane) for r in range(rows) for c in range(cols)]
    shape = modes(drawn.shape)
    down = [show(idx2crd(r, shape[0])) for r in range(rows)]
    right = [show(idx2crd(c, shape[1])) for c in range(cols)]
    out = []
    for crd in _slices(shape[2:]):
        tail = "".join(f",{c}" for c in crd)
        out += [f"({d},{r}{tail})" for d in down for r in right]
    return out


def _painting(drawn: AnyLayout, order: list[Any], rows: int, cols: int, options: FigureOptions, is_int: bool) -> Painting:
    """What hue means: by default the place in memory, or the chunk that a swizzle moves, of a layout beside this one, too."""
    swizzle = _swizzle(drawn, options) if is_int else None
    color_by = options.color_by
    nested = any(_inner(mode) > 1 for mode in modes(drawn.shape)[:2])
    choice = color_by or ("chunk" if swizzle and swizzle.bits else "offset" if is_int else "tile" if nested else "row")
    if choice == "none":
        return unpainted(len(order))
    if choice in ("offset", "mod8", "chunk") and not is_int:
        raise FigureError(f"the values of {drawn} are coordinates; they have no {choice}", hint="choices: row, column, tile, none")
    if choice == "offset":
        like = options.beside if isinstance(options.beside, Layout) else drawn
        return by_order(order, "hue: offset", steps=steps_of(like))
    if choice == "mod8":
        return by_group([x % HUES for x in order], HUES, "hue: offset mod 8")
    if choice == "chunk":
        if swizzle is None:
            raise FigureError(f"{drawn} has no swizzle, so no chunk to color by", hint="choices: offset, mod8, row, column")
        base, count = swizzle.changed, 1 << max(swizzle.bits, abs(swizzle.shift))
        title = f"hue: {chunks_in_words(swizzle, count)}"
        keys = [(x >> base) % count for x in order]
        return by_group(keys, count, title, "chunk ", turns=_turns(keys, rows, cols))
    return _by_position(len(order), rows, cols, modes(drawn.shape), choice)


def _by_position(total: int, rows: int, cols: int, shape: tuple[Any, ...], choice: str) -> Painting:
    """Hue by row, by column, or by the innermost tile that the nesting of the shape makes."""
    tile_rows, tile_cols = (_inner(mode) if choice == "tile" else 1 for mode in shape[:2])
    down, right = -(-rows // tile_rows), -(-cols // tile_cols)
    keys: Callable[[int, int], int]
    if choice == "row":
        count, keys, word = rows, (lambda r, c: r), "row "
    elif choice == "column":
        count, keys, word = cols, (lambda r, c: c), "column "
    else:
        count, keys, word = down * right, (lambda r, c: r // tile_rows + down * (c // tile_cols)), "tile "
        title = f"hue: tile of {tile_rows} × {tile_cols}, the innermost modes"
    title = title if choice == "tile" else f"hue: {word.strip()}"
    plane = [keys(r, c) for r in range(rows) for c in range(cols)]
    painted = plane * (total // (rows * cols))
    return by_group(painted, count, title, word, turns=_turns(plane, rows, cols))


def _turns(keys: list[int], rows: int, cols: int) -> dict[int, int]:
    """Hues such that neighbours differ, in each slice of rows x cols."""
    return in_turns(keys, [(rows, cols)] * (len(keys) // (rows * cols)))


def _inner(mode: Any) -> int:
    """The extent of a mode's innermost tile: its first leaf that is not 1; 1 for a mode without nesting."""
    extents = [extent for extent in leaves(mode) if extent > 1]
    return extents[0] if len(extents) > 1 else 1
