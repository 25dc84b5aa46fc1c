"""Scale factors of block-scaled MMAs: each by its row and block of K, where it lies in memory, and what lies at each byte.

A block of 128 rows x 4 scale factors is 512 bytes, 16 bytes for rows 32 apart; tensor memory holds them in 32 lanes x 4 columns,
four times, for each warp's own lanes (cutlass/detail/sm100_blockscaled_layout.hpp; PTX ISA, "Scale factor layouts" of tcgen05.mma).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cute_viz.algebra.composed import AnyLayout
from cute_viz.algebra.inttuple import leaves, modes, product, show, tuple_rank
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.modes import get
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tmem import make_fragment_sf, place
from cute_viz.errors import FigureError
from cute_viz.figures.machine import of_scales
from cute_viz.figures.model import HOLE, Figure, Panel, Ruler
from cute_viz.figures.options import FigureOptions, check_cells, not_run
from cute_viz.figures.paint import borders, by_group
from cute_viz.values.instruction import Instruction

ROWS, PER_ROW, LANES, LINE = 128, 4, 32, 16  # rows and factors of a block; lanes of a copy, and bytes of a line of memory
WHAT = {32: "MXF8 and MXF4, ue8m0", 16: "NVF4, ue4m3 or ue8m0"}
# Which bytes of a column one tcgen05.mma reads, by its .scale_vec and the scale factor ID of its instruction descriptor: PTX ISA,
# "Scale factor A ID"; its tables 54 and 55 have types and K, which is twice as large where A is sparse.
READ = {
    32: "One tcgen05.mma reads 1 of the 4 bytes of a column for MXF8, 2 for MXF4, 3 with K = 96 (SM103), from its byte ID on.",
    16: "One tcgen05.mma of NVF4 reads all 4 bytes of a column; with K = 96 (SM103) 6, from its byte ID on.",
}


class Scales(NamedTuple):
    """A layout of scale factors: rows, factors of a row, the elements of K that share one, and the layouts of rows and of K."""

    rows: int
    factors: int
    vector: int
    m: Layout
    k: Layout

    def byte(self, row: int, factor: int) -> int:
        """Where a scale factor lies."""
        return int(self.m(row)) + int(self.k(factor * self.vector))


def scales(layout: AnyLayout, options: FigureOptions) -> Figure:
    """The figure of a layout of scale factors: its first block of 128 x 4, both ways. Raises: FigureError for a layout in which
    no elements of K share a scale factor."""
    if not isinstance(layout, Layout):
        raise FigureError(f"{show(layout)} is not a layout of scale factors", hint="example: SfAtom(32)")
    x = _read(layout)
    check_cells(2 * ROWS * PER_ROW + x.rows // ROWS * x.factors // PER_ROW, f"the layout {show(layout)}", options)
    rows, factors = min(x.rows, ROWS), min(x.factors, PER_ROW)
    first = {(m, k): x.byte(m, k) for m in range(rows) for k in range(factors)}
    start = min(first.values())
    held = {byte: place for place, byte in first.items()}
    lines = (max(first.values()) - start) // LINE + 1
    order: list[tuple[int, int] | None] = [(m, k) for m in range(rows) for k in range(factors)]
    memory = [held.get(start + n) for n in range(lines * LINE)]
    keys = [None if place is None else place[0] // LANES for place in order] + [
        None if place is None else place[0] // LANES for place in memory
    ]
    painting = by_group(keys, -(-rows // LANES), "hue: 32 rows, which share their 32 lanes of tensor memory", "")
    legend = painting.legends[0]
    told = [replace(e, label=f"rows {int(e.label) * LANES}..{int(e.label) * LANES + LANES - 1}") for e in legend.entries]
    painting = replace(painting, legends=(replace(legend, entries=tuple(told)),))
    boxes = _of_one_row(memory, PER_ROW, LINE)
    whole = (
        len(boxes) * PER_ROW == len(memory)
        and len({tuple([at and at[1] for at in memory[n : n + LINE]]) for n in range(0, len(memory), LINE)}) == 1
    )
    column = [str(at[1]) if whole and at else f"+{n}" for n, at in enumerate(memory[:LINE])]
    panels = [
        Panel(
            caption=f"factors of each row: their bytes in memory, one for {x.vector} elements of K",
            labels=tuple("" if place is None else str(first[place]) for place in order),
            paints=painting.cells[: len(order)],
            row_ruler=Ruler("row", tuple(map(str, range(rows))), borders(rows, LANES)),
            col_ruler=Ruler("factor", tuple(map(str, range(factors)))),
            boxes=_of_one_row(order, factors, factors),
            data={"byte": tuple(None if place is None else first[place] for place in order)},
            place=(0, 0),
        ),
        Panel(
            caption="memory, 16 bytes per line; in tensor memory a line is a lane, 4 bytes per column",
            labels=tuple(f"row {at[0]}" if whole and at else ",".join(map(str, at or ())) for at in memory),
            paints=painting.cells[len(order) :],
            row_ruler=Ruler("byte", tuple(str(start + r * LINE) for r in range(lines))),
            col_ruler=Ruler("factor" if whole else "column 0-3, 4 bytes each", tuple(column), borders(LINE, PER_ROW)),
            boxes=boxes,
            data={name: tuple(None if p is None else p[n] for p in memory) for n, name in enumerate(("row", "factor"))},
            place=(0, 1),
        ),
    ]
    if x.rows > ROWS or x.factors > PER_ROW:
        panels.append(_blocks(x))
    title = options.title or of_scales([None if place is None else place[0] for place in memory], LINE)
    caption = f"Scale factors of {x.rows} rows × {x.factors * x.vector} of K, one byte each"
    notes = [
        f"One scale factor for {x.vector} elements of K" + (f": {WHAT[x.vector]}." if x.vector in WHAT else "."),
        *([READ[x.vector]] if x.vector in READ else []),
        "tcgen05.cp .32x128b.warpx4 copies the 32 lines to lanes 0..31 of tensor memory and again to 32, 64 and 96: four copies, "
        "one for each warp. " + not_run(),
    ]
    if HOLE in painting.cells:
        notes.append("Hatched: bytes of other factors, or unused ones.")
    facts = {"rows": x.rows, "factors of a row": x.factors, "elements of a factor": x.vector, "bytes": x.m.cosize + x.k.cosize - 1}
    return painting.figure("scales", (title, show(layout), caption), panels, notes, facts)


def _of_one_row(cells: Sequence[tuple[int, int] | None], wide: int, cols: int) -> tuple[tuple[int, int, int, int], ...]:
    """The boxes of so many cells side by side that are factors of one row."""
    parts = [(n, {place and place[0] for place in cells[n : n + wide]}) for n in range(0, len(cells), wide)]
    return tuple(
        [(n // cols, n % cols, n // cols + 1, n % cols + wide) for n, rows in parts if len(rows) == 1 and None not in rows]
    )


def _read(layout: Layout) -> Scales:
    """A layout (M,K,...), or ((M,(vector,factors)),M_MMAs,K_MMAs,...) of shared memory, its first batch or stage."""
    shape, stride = modes(layout.shape), modes(layout.stride)
    if len(shape) > 2 and tuple_rank(shape[0]) == 2 and isinstance(stride[0], tuple) and _vector(stride[0][1], shape[0][1]):
        inner, steps = modes(shape[0]), modes(stride[0])
        m, k = Layout((inner[0], shape[1]), (steps[0], stride[1])), Layout((inner[1], shape[2]), (steps[1], stride[2]))
    elif len(shape) > 1:
        m, k = Layout(shape[0], stride[0]), Layout(shape[1], stride[1])
    else:
        raise FigureError(f"{show(layout)} has no rows and factors", hint="example: SfAtom(32)")
    vector = _vector(k.stride, k.shape)
    if not vector:
        raise FigureError(f"{show(layout)}: no elements of K share a scale factor", hint="their stride is 0, as in SfAtom(32)")
    rows, factors = product(m.shape), product(k.shape) // vector
    return Scales(rows, factors, vector, m, k)


def _vector(stride: Any, shape: Any) -> int:
    """How many elements share a factor: the extents of stride 0 that come first; 0 where there are none."""
    out = 1
    for extent, step in zip(leaves(shape), leaves(stride), strict=True):
        if step != 0:
            break
        out *= extent
    return out if out > 1 else 0


def _blocks(x: Scales) -> Panel:
    """Where each block of 128 x 4 begins."""
    rows, cols = -(-x.rows // ROWS), -(-x.factors // PER_ROW)
    starts = [x.byte(r * ROWS, c * PER_ROW) for r in range(rows) for c in range(cols)]
    return Panel(
        caption="blocks of 128 rows × 4 factors: their first byte",
        labels=tuple(map(str, starts)),
        paints=(0,) * len(starts),
        row_ruler=Ruler("row", tuple(str(r * ROWS) for r in range(rows))),
        col_ruler=Ruler("K", tuple(str(c * PER_ROW * x.vector) for c in range(cols))),
        data={"byte": tuple(starts)},
        place=(1, 1),
        legends=(),
    )


class Held(NamedTuple):
    """What a column of 32 bits holds in the lanes of one warp: factors of which rows, in which of its bytes."""

    rows: set[int]
    bytes: set[int]


def in_tensor_memory(op: Instruction, extents: tuple[int, int], vector: int, count: int) -> list[tuple[str, list[Held]]]:
    """Each column of SFA and of SFB of one MMA, and what it holds for each warp's lanes: `count` factors of each of so many
    rows. Source: UMMA::tmem_sf_frg, of blocks of 128 rows."""
    out = []
    for operand, extent in zip(("SFA", "SFB"), extents, strict=True):
        whole = -(-extent // ROWS) * ROWS
        fragment = make_fragment_sf(op, operand, "float_ue8m0_t", ((whole, (vector, count)), 1, 1))
        held: dict[int, list[Held]] = {}
        for n, value in enumerate(offsets(get(fragment.layout, 0))):
            if (row := n % whole) < extent:
                where = place(value, fragment.bits)
                told = held.setdefault(where.column, [Held(set(), set()) for _ in range(ROWS // LANES)])[where.lane // LANES]
                told.rows.add(row)
                told.bytes.add(where.bit // fragment.bits)
        out += [(f"{operand} {column}", held[column]) for column in sorted(held)]
    return out
