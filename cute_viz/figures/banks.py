"""Shared memory: which bank each element of a tile lies in, and, the other way round, what lies at each address.

A bank is 4 bytes wide and there are 32; a chunk is 16 bytes, what one lane of a 128-bit access moves, so that a 128-byte row
has 8 chunks. Hue is the chunk, in both views and before and after a swizzle alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cute_viz.algebra.composed import AnyLayout, domain, pointer_bits, position_independent, swizzle_of
from cute_viz.algebra.inttuple import modes, product, show
from cute_viz.algebra.layout import is_coordinate_layout
from cute_viz.algebra.table import offsets
from cute_viz.errors import FigureError
from cute_viz.figures.findings import of_banks
from cute_viz.figures.memory import CHUNK, per_chunk
from cute_viz.figures.model import HOLE, Figure, Panel, Ruler
from cute_viz.figures.options import FigureOptions, an, check_cells
from cute_viz.figures.paint import Painting, by_group, ruler, with_borders

ROW = 128  # bytes that the 32 banks hold side by side


def banks(layout: AnyLayout, options: FigureOptions) -> Figure:
    """Each cell of a tile by its bank; of a swizzled layout the plain one above, in the same colours."""
    bits = element_bits(layout, options)
    layout = position_independent(layout)
    rows, cols = _extents(layout, options)
    parts: list[tuple[str, AnyLayout]] = [("", layout)]
    if swizzle_of(layout) is not None:
        parts = [(f"before: {domain(layout)}", domain(layout)), (f"after: {show(layout)}", layout)]
    shape = modes(domain(layout).shape)
    row_ruler = ruler("m", shape[0], nested=options.coords)
    col_ruler = ruler("n", shape[1] if len(shape) > 1 else 1, nested=options.coords)
    firsts = [_row_major([offset * bits for offset in offsets(part)], rows, cols) for _, part in parts]  # bits
    _check_memory(layout, min(map(min, firsts)))
    tables = [[first // 8 for first in table] for table in firsts]
    keys = [byte % ROW // CHUNK for table in tables for byte in table]
    painting = by_group(keys, ROW // CHUNK, "hue: 16-byte chunk of the 128 bytes of all banks (4 banks)", "chunk ")
    panels = []
    for n, ((caption, _), first, table) in enumerate(zip(parts, firsts, tables, strict=True)):
        panels.append(
            Panel(
                caption=caption,
                labels=tuple([_bank(bit, bits) for bit in first]) if options.labels != "none" else ("",) * len(table),
                paints=painting.cells[n * rows * cols : (n + 1) * rows * cols],
                row_ruler=row_ruler,
                col_ruler=col_ruler,
                boxes=_chunks(table, rows, cols),
                data={"byte": tuple(table), "bank": tuple([byte // 4 % 32 for byte in table])},
                place=(n, 0),
            )
        )
    found = _found([table[::cols] for table in tables], bits)
    title = options.title or found or f"Banks of {an(rows)} × {cols} tile of {bits}-bit elements"
    return _figure(layout, (title, "The numbers are banks; a box is one 16-byte chunk", None), painting, panels, bits)


def address(layout: AnyLayout, options: FigureOptions) -> Figure:
    """Memory in order, 128 bytes per line: each cell shows which element (m,n) lies there. Raises: FigureError for elements that
    are not whole bytes, or do not fill a line."""
    bits = element_bits(layout, options)
    layout = position_independent(layout)
    rows, cols = _extents(layout, options)
    if bits % 8 or ROW * 8 % bits:
        raise FigureError(
            f"elements of {bits} bits are not drawn by address: a line is {ROW} bytes of whole elements of whole bytes",
            hint="recast to elements of 8, 16, 32, 64, 128, 256, 512 or 1024 bits",
        )
    per = ROW * 8 // bits
    where: dict[int, tuple[int, int]] = {}
    several = 0
    for index, offset in enumerate(offsets(layout)):
        several += offset in where
        where.setdefault(offset, (index % rows, index // rows))
    _check_memory(layout, min(where))
    lines = max(where) // per + 1
    check_cells(lines * per, f"the memory of {show(layout)}", options)
    width = per_chunk(bits)
    places = [where.get(k) for k in range(lines * per)]
    if len({at[1] // width for at in places if at}) > 1 or rows == 1:
        keys, what = (
            [None if at is None else at[1] // width % 8 for at in places],
            f"n / {width} mod 8, the chunk of its row of the tile",
        )
    else:  # of rows of one chunk, which of them
        keys, what = [None if at is None else at[0] % 8 for at in places], "m mod 8, the row of the tile"
    painting = by_group(keys, 8, f"hue: {what}", "")
    panel = Panel(
        labels=tuple([",".join(map(str, where[k])) if k in where else "" for k in range(lines * per)]),
        paints=painting.cells,
        row_ruler=Ruler("byte", tuple(str(r * ROW) for r in range(lines))),
        col_ruler=with_borders(ruler("element of the line", per), width),
        boxes=tuple(
            (k // per, k % per, k // per + 1, k % per + width)
            for k in range(0, lines * per, width)
            if width > 1 and all(n in where for n in range(k, k + width))
        ),
        data={"m": tuple([where[k][0] if k in where else None for k in range(lines * per)])},
    )
    begins = [k * bits // 8 for k, at in sorted(where.items(), key=lambda x: x[1]) if at[1] == 0]
    whole = f"Memory of {an(rows)} × {cols} tile of {bits}-bit elements, 128 bytes per line of memory"
    title = options.title or _found([begins], bits, True) or whole
    mute = f"{whole}. Each cell is an address, in order"
    boxes = f"; a box is one {CHUNK}-byte chunk, and boxes above each other one bank group" if panel.boxes else ""
    words = title, f"{mute}; it shows the element m,n that lies there{boxes}", mute + boxes
    shared = f"{several} elements share an address with another; the first is shown."
    return _figure(layout, words, painting, [panel], bits, shared if several else "")


def _found(columns: Sequence[Sequence[int]], bits: int, lines: bool = False) -> str:
    """What an access of the first column meets, in each panel: 8 lanes of 16 bytes, or, where rows begin beside chunks, 32 lanes
    of an element each; "" where nothing is said, since rows share a chunk, or elements are wider than a bank.
    lines: of a picture of lines of memory."""
    aligned = all(byte % CHUNK == 0 for column in columns for byte in column[:8])
    if not aligned and bits > 32:
        return ""
    unit, lanes, what = (CHUNK, 8, "bank group") if aligned else (4, 32, "bank")
    asked = [[byte // unit for byte in column[:lanes]] for column in columns]
    chunks = [[byte // CHUNK for byte in column[:8]] for column in columns]
    if len(columns[0]) < 2 or any(len(set(column)) < len(column) for column in (*asked, *chunks)):
        return ""
    return of_banks([[n % (ROW // unit) for n in column] for column in asked], what, lines)


def element_bits(layout: AnyLayout, options: FigureOptions) -> int:
    """The width of an element: given, or that of a flagged shared-memory layout, or 16."""
    if options.bits is not None:
        return options.bits
    return pointer_bits(layout) or 16


def _extents(layout: AnyLayout, options: FigureOptions) -> tuple[int, int]:
    shape = modes(domain(layout).shape)
    if is_coordinate_layout(domain(layout)):
        raise FigureError(
            f"the values of {show(layout)} are coordinates, not offsets in shared memory", hint="`view=grid` shows coordinates"
        )
    if not 1 <= len(shape) <= 2:
        raise FigureError(f"{show(layout)} has {len(shape)} modes; a bank map has two", hint="draw a slice: A(_,_,0)")
    rows, cols = product(shape[0]), product(shape[1]) if len(shape) > 1 else 1
    check_cells(rows * cols, f"the layout {show(layout)}", options)
    return rows, cols


def _check_memory(layout: AnyLayout, lowest: int) -> None:
    if lowest < 0:
        raise FigureError(f"{show(layout)} has negative offsets: there is no memory before its pointer")


def _row_major(values: Sequence[int], rows: int, cols: int) -> list[int]:
    return [values[r + c * rows] for r in range(rows) for c in range(cols)]


def _bank(bit: int, bits: int) -> str:
    """`7`, or `6-7` of an element, from this bit on, that spans banks."""
    first, last = bit // 32, (bit + bits - 1) // 32
    if last - first > 30:
        return "0-31"
    return str(first % 32) if first == last else f"{first % 32}-{last % 32}"


def _chunks(table: Sequence[int], rows: int, cols: int) -> tuple[tuple[int, int, int, int], ...]:
    """Runs of cells along a row, or down a column, that lie in one 16-byte chunk."""
    out = []
    across = cols > 1 and table[0] // CHUNK == table[1] // CHUNK
    for line in range(rows if across else cols):
        count, start = (cols if across else rows), 0
        cells = [table[line * cols + n] if across else table[n * cols + line] for n in range(count)]
        for n in range(1, count + 1):
            if n == count or cells[n] // CHUNK != cells[start] // CHUNK:
                if n - start > 1:
                    out.append((line, start, line + 1, n) if across else (start, line, n, line + 1))
                start = n
    return tuple(out)


def _figure(
    layout: Any, words: tuple[str, str, str | None], painting: Painting, panels: list[Panel], bits: int, note: str = ""
) -> Figure:
    """The figure of panels of memory. words: title, caption and, where no cell has room for its label, caption."""
    title, caption, mute = words
    holes = sum(panel.paints.count(HOLE) for panel in panels)
    notes = (f"{holes} places hold nothing." if holes else "", note)
    facts = {"bits of an element": bits, "bytes": -(-(max(map(int, offsets(layout))) + 1) * bits // 8)}
    return painting.figure("banks", (title, show(layout), caption), panels, filter(None, notes), facts, mute)
