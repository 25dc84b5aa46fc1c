"""TMA: the box in the tensor, what of it is out of bounds, the tile as it lands in shared memory, who issues what."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from math import gcd, prod
from typing import Any

from cute_viz.algebra.inttuple import leaves, modes, product, show
from cute_viz.algebra.measure import get_swizzle_portion, size
from cute_viz.algebra.static import unmarked
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor_map import ATOM_64B, SWIZZLE_NAMES
from cute_viz.algebra.tma import ROWS, TmaCopy
from cute_viz.errors import FigureError
from cute_viz.figures.machine import of_boxes, of_moved
from cute_viz.figures.memory import CHUNK, LINE, in_chunks, per_chunk
from cute_viz.figures.model import HOLE, Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.options import FigureOptions, check_cells, not_run
from cute_viz.figures.paint import HUES, numbered
from cute_viz.figures.tma_pieces import Piece, dimensions_of, elements_of, flat, pieces_at, tma_coord
from cute_viz.figures.trim import some_lines
from cute_viz.spelling import count

MOST_PLANES = 4  # of the first two dimensions that are drawn
PARTS = 4  # cells that a box has along a dimension, where they divide it
FINEST = 16  # and at most
EXAMPLE = (7, 389)  # of a gather: the row that it picks first, and how far on it picks the next


def tma(obj: TmaCopy, options: FigureOptions) -> Figure:
    """The figure of a TMA copy of one tile. Raises: FigureError for a coordinate that the tensor does not have; LimitError for
    more cells than the options allow."""
    if obj.im2col is not None:
        from cute_viz.figures.im2col import im2col

        return im2col(obj, options)
    check_cells(size(obj.cta_v_map), f"the tile {obj.cta_v_map}", options)
    corner = _coord(obj, options.coord)
    pieces = pieces_at(obj, corner)
    hues = [piece.cta if obj.ctas > 1 else piece.instruction for piece in pieces]
    memory, outside = _shared(obj, corner, hues)
    box = _by(obj.map.box_dim[: obj.map.rank])
    total = size(obj.cta_v_map) * obj.tensor.bits // 8
    told = of_moved("tensor", outside * obj.tensor.bits // 8, total, _is_written(obj)) or of_boxes(
        len(pieces) // obj.ctas, box, obj.ctas, ROWS if obj.gathers else 0, memory
    )
    memory, some = some_lines(memory, _starts(memory), LINE)
    planes = _planes(obj, pieces)
    if obj.gathers:
        drawn = [_picked_rows(obj, pieces, hues)]
    else:
        drawn = [_tensor_panel(obj, pieces, hues, plane, options) for plane in planes[:MOST_PLANES]]
    below = -(-len(drawn) // 2)  # planes stand in rows of two
    panels = [replace(panel, place=divmod(n, 2)) for n, panel in enumerate(drawn)]
    panels.append(replace(memory, place=(0, 1) if len(drawn) == 1 else (below, 0)))
    if obj.ctas > 1:
        panels.append(replace(_multicast(obj), place=(below + (len(drawn) > 1), 0)))
    paints = (*(Paint(hue) for hue in range(HUES)), Paint(-1))
    used = sorted({hue % HUES for hue in hues})
    what = "the CTA that issues the load" if obj.ctas > 1 else "the instruction of the tile"
    entries = tuple(LegendEntry(h, _hue_words(obj, hues, h)) for h in used)
    extents = _by(product(mode) for mode in modes(obj.cta_v_map.shape))
    title = options.title or told
    each = f", {ROWS} of them to an instruction" if obj.gathers else ""
    mute = f"{obj.op.name}: a tile of {extents} {obj.tensor.pointer.element}. A box is {box} elements, innermost first{each}"
    caption = f"{mute}; in memory a cell is 16 bytes and shows the coordinate{_order(obj)} of its first element"
    notes = _notes(obj, pieces, outside, len(planes), some)
    return Figure(
        kind="tma",
        title=title,
        source=f"{unmarked(obj.tensor.layout)} -> {unmarked(obj.smem)}",
        caption=caption,
        mute=mute,
        description=f"{title}. {obj}. {caption}. {' '.join(notes)}",
        paints=paints,
        legends=(Legend(f"hue: {what}{', mod 8' * (max(hues) >= HUES)}", entries),),
        panels=tuple(panels),
        notes=tuple(notes),
        facts={
            "globalDim, elements": show(obj.map.global_dim[: obj.map.rank]),
            "globalStrides, bytes": show(obj.map.global_strides[: obj.map.rank - 1] or (0,)),
            "boxDim, elements": show(obj.map.box_dim[: obj.map.rank]),
            "swizzle": SWIZZLE_NAMES[obj.map.swizzle],
            "instructions": len(pieces),
            "bytes out of bounds": outside * obj.tensor.bits // 8,
        },
    )


def _by(extents: Any) -> str:
    return " × ".join(str(int(extent)) for extent in extents)


def _coord(obj: TmaCopy, word: str | None) -> tuple[int, ...]:
    """The coordinate where the tile begins, a number for each extent of the tensor; the word has one for each mode."""
    shape: Any = obj.tensor.layout.shape
    extents = modes(shape)
    if word is None:
        return (0,) * len(list(leaves(shape)))
    parts = word.strip("() ").split(",")
    if len(parts) != len(extents) or not all(part.strip().lstrip("-").isdecimal() and len(part) < 12 for part in parts):
        hint = f"the tensor {show(obj.tensor.layout.shape)} has {count(len(extents), 'mode')}: {','.join('0' * len(extents))}"
        raise FigureError(f"`coord={word}` is not a coordinate of the tensor", hint=hint)
    out: list[int] = []
    for number, mode in zip(map(int, parts), extents, strict=True):
        *first, _ = leaves(mode)
        for extent in first:
            out.append(number % int(extent))
            number //= int(extent)
        out.append(number)
    return tuple(out)


def _label(obj: TmaCopy, coord: Sequence[int]) -> str:
    """A coordinate as a number for each mode; a nested mode in which it has none in full."""
    rest, out = list(coord), []
    for mode in modes(obj.tensor.layout.shape):
        extents = [int(extent) for extent in leaves(mode)]
        mine, rest = rest[: len(extents)], rest[len(extents) :]
        if any(not 0 <= x < extent for x, extent in zip(mine[:-1], extents, strict=False)):
            out.append(show(tuple(mine)))
        else:
            out.append(str(sum(x * prod(extents[:n]) for n, x in enumerate(mine))))
    return ",".join(out)


def _order(obj: TmaCopy) -> str:
    """The dimensions of the numbers of a coordinate, where it has one for each: ` (dim 1, dim 0)`."""
    dims = [d for d, _ in dimensions_of(obj)]
    plain = len(dims) == len(modes(obj.tensor.layout.shape)) and len({*dims}) == len(dims) > 1
    return f" ({', '.join(f'dim {d}' for d in dims)})" if plain else ""


def _box(obj: TmaCopy) -> tuple[int, ...]:
    """The box of an instruction; of a gather or scatter its four rows together."""
    box = obj.map.box_dim
    return (box[0], ROWS, *box[2:]) if obj.gathers else box


def _planes(obj: TmaCopy, pieces: Sequence[Piece]) -> list[tuple[int, ...]]:
    """Where the tile stands in dimensions 2 and up: a plane each that the boxes reach."""
    box = _box(obj)
    found: set[tuple[int, ...]] = set()
    for piece in pieces:
        found.update(itertools.product(*(range(x, x + extent) for x, extent in zip(piece.start[2:], box[2:], strict=False))))
    return sorted(found)


def _tensor_panel(
    obj: TmaCopy, pieces: Sequence[Piece], hues: Sequence[int], plane: tuple[int, ...], options: FigureOptions
) -> Panel:
    """The tensor around the boxes: dimension 0 across, dimension 1 down; what lies outside of it is hatched."""
    dims, box = obj.map.global_dim, _box(obj)
    there = all(0 <= x < extent for x, extent in zip(plane, dims[2:], strict=False))
    steps, lows, highs = [], [], []
    for d in range(2):
        starts = [piece.start[d] if d < len(piece.start) else 0 for piece in pieces]
        low, high = min(starts), max(starts) + box[d]
        step = gcd(max(1, box[d] // PARTS), box[d], *(s - low for s in starts), dims[d] - low)
        step = max(step, max(1, box[d] // FINEST))
        steps.append(step)
        lows.append(low - (step * 2 if low > 0 else 0))
        highs.append(max(high, min(high + step * 2, dims[d])))
    cols, rows = (-(-(high - low) // step) for low, high, step in zip(lows, highs, steps, strict=True))
    check_cells(rows * cols, f"the tensor around the tile {obj.cta_v_map}", options)
    reached = [(n, piece) for n, piece in enumerate(pieces) if _is_in_plane(piece, box, plane)]
    first: dict[tuple[int, int], int] = {}  # of a cell that a box covers: the first piece
    for n, piece in reached:
        across, down = (
            range(-(-(start - low) // step), -(-(start + extent - low) // step))
            for start, low, step, extent in zip((*piece.start, 0), lows, steps, box, strict=False)
        )
        for cell in itertools.product(down, across):
            first.setdefault(cell, n)
    labels, paints = [], []
    for r in range(rows):
        for c in range(cols):
            x, y = lows[0] + c * steps[0], lows[1] + r * steps[1]
            inside = there and 0 <= x < dims[0] and 0 <= y < dims[1]
            number = first.get((r, c))
            if number is None:
                paints.append(HUES if inside else HOLE)
                labels.append("")
            else:
                paints.append(hues[number] % HUES if inside else HOLE)
                name = f"CTA {pieces[number].cta}" if obj.ctas > 1 else f"TMA {pieces[number].instruction}"
                labels.append(name if inside else "")
    boxes = []
    for _, piece in reached:
        c0, r0 = (piece.start[d] - lows[d] if d < len(piece.start) else 0 for d in range(2))
        bottom, right = -(-(r0 + box[1]) // steps[1]), -(-(c0 + box[0]) // steps[0])
        boxes.append((max(0, r0 // steps[1]), max(0, c0 // steps[0]), min(rows, bottom), min(cols, right)))
    where = "".join(f", dim {n} at {x}" for n, x in enumerate(plane, 2))
    return Panel(
        caption=f"the tensor{where}, {steps[1]} × {steps[0]} elements per cell",
        labels=tuple(labels),
        paints=tuple(paints),
        row_ruler=Ruler("dim 1", tuple(str(lows[1] + r * steps[1]) for r in range(rows)), _edge(rows, lows[1], steps[1], dims[1])),
        col_ruler=Ruler("dim 0", tuple(str(lows[0] + c * steps[0]) for c in range(cols)), _edge(cols, lows[0], steps[0], dims[0])),
        boxes=tuple(dict.fromkeys(boxes)),
        place=(0, 0),
    )


def _picked(obj: TmaCopy, row: int) -> int:
    """The row of the tensor that an example of a gather has in the place of a row of the tile: scattered, each another."""
    return (EXAMPLE[0] + EXAMPLE[1] * row) % obj.map.global_dim[1]


def _picked_rows(obj: TmaCopy, pieces: Sequence[Piece], hues: Sequence[int]) -> Panel:
    """The tensor of a gather or scatter: the rows that its instructions pick, each by the row of its box; others as ellipses."""
    wide = obj.map.box_dim[0]
    starts = sorted({piece.start[0] for piece in pieces})
    cols = len(starts) + (obj.map.global_dim[0] > starts[-1] + wide)
    picks: dict[int, list[tuple[int, int]]] = {}
    for k, piece in enumerate(pieces):
        for n in range(ROWS):
            picks.setdefault(_picked(obj, piece.start[1] + n), []).append((k, n))
    rows = sorted(picks)
    labels, paints = [""] * (len(rows) * cols), [HUES] * (len(rows) * cols)
    for r, row in enumerate(rows):
        for k, n in picks[row]:
            cell = r * cols + starts.index(pieces[k].start[0])
            labels[cell], paints[cell] = f"TMA {pieces[k].instruction}, row {n}", hues[k] % HUES
    across = [f"{start}..{start + wide - 1}" for start in starts] + [f"{starts[-1] + wide}.."]
    return Panel(
        caption="the rows of the tensor that are picked",
        labels=tuple(labels),
        paints=tuple(paints),
        row_ruler=numbered("dim 1", rows),
        col_ruler=Ruler("dim 0", tuple(across[:cols])),
    )


def _is_written(obj: TmaCopy) -> bool:
    """Whether the tensor is what is written, from shared memory."""
    return obj.op.instruction.home("D") == "gmem"


def _edge(lines: int, low: int, step: int, extent: int) -> tuple[int, ...]:
    """A border where the tensor begins and ends."""
    return tuple(1 if 0 < n < lines and low + n * step in (0, extent) else 0 for n in range(lines + 1))


def _is_in_plane(piece: Piece, box: Sequence[int], plane: Sequence[int]) -> bool:
    """Whether a piece's box reaches a plane of the first two dimensions."""
    return all(start <= z < start + extent for start, z, extent in zip(piece.start[2:], plane, box[2:], strict=False))


def _shared(obj: TmaCopy, corner: tuple[int, ...], hues: Sequence[int]) -> tuple[Panel, int]:
    """Shared memory as the tile lands in it, and how many of all its elements are out of bounds."""
    where, dimensions = elements_of(obj), dimensions_of(obj)
    swizzle, bits = get_swizzle_portion(obj.smem), obj.tensor.bits
    per, total = obj.bits // bits // obj.ctas, size(obj.cta_v_map)
    wide = per_chunk(bits)
    cells: dict[int, tuple[str, int]] = {}
    outside = 0
    for element in range(0, total, wide):
        tile = flat(where(element), obj.tensor.layout.shape)
        coord = tuple(a + b for a, b in zip(corner, tile, strict=True))
        inner = tma_coord(obj, coord, dimensions)
        inside = all(0 <= x < extent for x, extent in zip(inner, obj.map.global_dim, strict=False))
        fits = max(0, min(wide, obj.map.global_dim[0] - inner[0]) - max(0, -inner[0])) if inside or _rest_inside(obj, inner) else 0
        outside += wide - fits
        if obj.gathers:
            coord = tuple([_picked(obj, x) if d == 1 else x for x, (d, _) in zip(coord, dimensions, strict=True)])
        byte = element * bits // 8
        place = swizzle(byte) if isinstance(swizzle, Swizzle) else byte
        cells[place // CHUNK] = (_label(obj, coord), hues[element // per] % HUES if inside else HOLE)
    lines = max(cells) // (LINE // CHUNK) + 1
    shown = [cells.get(n) for n in range(lines * LINE // CHUNK)]
    caption = f"shared memory, swizzle {SWIZZLE_NAMES[obj.map.swizzle]}: 16 bytes, 4 banks, per cell"
    return in_chunks(caption, shown, (0, 1), 8), outside


def _starts(memory: Panel) -> set[int]:
    """The lines where another colour begins."""
    first = {paint: n for n, paint in reversed(list(enumerate(memory.paints)))}
    return {n // memory.cols for n in first.values()}


def _rest_inside(obj: TmaCopy, inner: Sequence[int]) -> bool:
    """Whether all but the innermost dimension is inside of the tensor."""
    return all(0 <= x < extent for x, extent in zip(inner[1:], obj.map.global_dim[1:], strict=False))


def _multicast(obj: TmaCopy) -> Panel:
    """Who issues and who receives: every CTA issues its part, and all of the mask receive it at the same place."""
    n, mask = obj.ctas, (1 << obj.ctas) - 1
    return Panel(
        caption=f"multicast: the CTA of a row loads its part for all of mask 0b{mask:0{n}b} = 0x{mask:x}",
        labels=tuple(f"part {row}" for row in range(n) for _ in range(n)),
        paints=tuple(row % HUES for row in range(n) for _ in range(n)),
        row_ruler=Ruler("issues", tuple(f"CTA {row}" for row in range(n))),
        col_ruler=Ruler("receives", tuple(f"CTA {col}" for col in range(n))),
        place=(1, 0),
    )


def _hue_words(obj: TmaCopy, hues: Sequence[int], hue: int) -> str:
    its = sorted({x for x in hues if x % HUES == hue})
    name = "CTA" if obj.ctas > 1 else "TMA"
    return f"{name} {', '.join(map(str, its[:3]))}" + (" …" if len(its) > 3 else "")


def _notes(obj: TmaCopy, pieces: Sequence[Piece], outside: int, planes: int, some: str) -> list[str]:
    out = []
    if outside:
        out.append(
            f"Hatched: outside of the tensor; {'not written' if _is_written(obj) else 'the barrier counts these zeros, too'}."
        )
    out += [f"cuTensorMapEncodeTiled fails: {words}." for words in obj.map.refused]
    out += [f"{ATOM_64B}."] if SWIZZLE_NAMES[obj.map.swizzle] == "128B_ATOM_64B" else []
    if planes > MOST_PLANES:
        out.append(f"The tile touches {planes} planes of dimensions 0 and 1; only the first {MOST_PLANES} are drawn.")
    if obj.gathers:
        out.append(f"The indices of the {ROWS} rows are operands of the instruction; those drawn are an example. {not_run()}")
    if obj.ctas > 1:
        counted = "" if obj.op.instruction.ctas > 1 else "; the barrier of each CTA counts the whole tile"
        out.append(f"Each of the {obj.ctas} CTAs loads its part of the tile for all{counted}.")
    elif len(pieces) > 1 and not obj.gathers:
        out.append(f"{count(len(pieces), 'instruction')} move the tile: a box is at most what is contiguous in both memories.")
    if some:
        out.append(some)
    if obj.op.instruction.ctas > 1:
        out.append("Each CTA of a pair loads its own half; both halves arrive at the barrier of CTA 0. " + not_run())
    return out
