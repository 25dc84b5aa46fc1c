"""Tensor memory: what lies in its 128 lanes and 512 columns of 32 bits, and which lanes a warp reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd
from typing import NamedTuple

from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import unmarked
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tmem import (
    COLUMNS,
    LANES,
    WARP,
    TensorMemory,
    find_tmem_tensor_col_offset,
    metadata_words,
    places,
    rows_of_scales,
)
from cute_viz.errors import FigureError
from cute_viz.figures.machine import Place, Span, of_metadata, of_tensor_memory
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.options import FigureOptions, check_cells, not_run, runs
from cute_viz.figures.paint import HUES, borders, by_group
from cute_viz.spelling import count

STEP = 16  # lanes that a cell stands for
FEWEST, MOST = 8, 64  # columns of cells of the picture


class Region(NamedTuple):
    """One of the tensors: what it is called, and the elements (m,n) at each lane and column: the least m and n, and the largest."""

    name: str
    tensor: Tensor
    held: dict[Place, Span]

    @property
    def stage(self) -> int:
        """How many columns of the tile a stage of an accumulator has, ((M,N),MMA_M,MMA_N,stages); 0 of one, and of factors."""
        shape = modes(self.tensor.layout.shape)
        stages = product(shape[3:] or 1) if self.name in ("", "C") or self.name.startswith("C ") else 1
        return (
            product(shape) // product(modes(shape[0])[0]) // product(shape[1:2] or 1) // stages
            if stages > 1 and isinstance(shape[0], tuple)
            else 0
        )

    @property
    def columns(self) -> tuple[int, int]:
        """The first column that it takes, and the first one behind it."""
        taken = [column for _, column in self.held]
        return min(taken), max(taken) + 1


def tmem(obj: Tensor | TensorMemory, options: FigureOptions) -> Figure:
    """The figure of a tensor in tensor memory, or of several that lie there together. Raises: FigureError for what does not fit
    into tensor memory."""
    if isinstance(obj, Tensor) and metadata_words(obj):
        return _metadata(obj, options)
    tensors = obj.parts if isinstance(obj, TensorMemory) else (("", obj),)
    for _, tensor in tensors:
        check_cells(product(tensor.layout.shape), f"the tensor {tensor.layout}", options)
    parts = [_part(name, tensor) for name, tensor in tensors]
    wide = _step(parts)
    several = len(parts) > 1
    rows, cols = LANES // STEP, COLUMNS // wide
    labels, paints, keys = [], [], []
    for r in range(rows):
        for c in range(cols):
            held, part = _cell(parts, r, c, wide)
            keys.append(part)
            name = parts[part].name if part is not None and several else ""
            labels.append(_words(held, name, parts[part].stage if part is not None else 0))
            paints.append(HUES if part is None else part % HUES if several else r * STEP // WARP)
    used = {column for part in parts for _, column in part.held}
    legend = _legend(parts, paints, several)
    free = COLUMNS - len(used)
    told = f"{len(parts)} tensors take {len(used)} of {COLUMNS} columns: {free} stay free"
    title = options.title or (told if several else of_tensor_memory(parts[0].held, COLUMNS, parts[0].stage))
    cell = f"{STEP} lanes × {count(wide, 'column')}"
    mute = f"Tensor memory of one CTA. A cell is {cell}"
    caption = f"{mute}; it shows the rows and columns of the tile that lie there, m,n"
    panel = Panel(
        labels=tuple(labels),
        paints=tuple(paints),
        row_ruler=Ruler("lane", tuple(str(r * STEP) for r in range(rows)), borders(rows, WARP // STEP)),
        col_ruler=Ruler("column", tuple(str(c * wide) for c in range(cols)), borders(cols, 0)),
        boxes=_boxes(parts, wide) if several or parts[0].stage else (),
        data={"part": tuple(keys)},
    )
    notes = [f"A warp reaches 32 lanes only: warp w of four the lanes 32w to 32w + 31. {not_run()}"]
    if any(rows_of_scales(tensor) for _, tensor in tensors):
        notes.insert(0, "Scale factors stand four times, once in the 32 lanes of each warp.")
    return Figure(
        kind="tmem",
        title=title,
        source="; ".join(f"{part.name} {unmarked(part.tensor.layout)}".strip() for part in parts),
        caption=caption,
        mute=mute,
        description=f"{title}. {'. '.join(unmarked(part.tensor.layout) for part in parts)}. {caption}.",
        paints=(*(Paint(hue) for hue in range(HUES)), Paint(-1)),
        legends=(legend,),
        panels=(panel,),
        notes=tuple(notes),
        facts={
            **{f"columns of {part.name or 'the tensor'}": find_tmem_tensor_col_offset(part.tensor) for part in parts},
            "free columns": free,
        },
    )


def _metadata(tensor: Tensor, options: FigureOptions) -> Figure:
    """The figure of the metadata of a sparse MMA: for every 32 bits of tensor memory the elements of A that they are for."""
    layout = _matrix(tensor.layout)
    check_cells(product(layout.shape), f"the metadata of {tensor.layout}", options)
    rows, depth = product(modes(layout.shape)[0]), product(modes(modes(layout.shape)[1])[0])
    pieces: dict[tuple[int, int], dict[int, dict[int, None]]] = {}
    for n, where in enumerate(places(tensor, (value + tensor.offset for value in offsets(layout)))):
        pieces.setdefault((where.lane, where.column), {}).setdefault(n % rows, {})[n // rows] = None
    wide = max(column for _, column in pieces) + 1
    cells = [pieces.get((lane, column), {}) for lane in range(LANES) for column in range(wide)]
    blocks = [None if not held else min(held) // LANES * MOST + min(held[min(held)]) // depth for held in cells]
    order = {block: n for n, block in enumerate(sorted({x for x in blocks if x is not None}))}
    painting = by_group([None if x is None else order[x] for x in blocks], len(order), "hue: one tcgen05.mma", "MMA ")
    labels = tuple(map(_kept, cells))
    words = metadata_words(tensor)
    each = max(max(ks) - min(ks) + 1 for held in cells for ks in held.values())
    title = options.title or of_metadata(cells, each)
    mute = "Metadata of a sparse tcgen05.mma"
    caption = f"{mute}. A cell shows the rows m and columns k of A that its bits are for, lowest first"
    unit = next(n for n in (8, 16, WARP, 2 * WARP, LANES) if _goes_on(cells, blocks, n, n * wide))
    further = (f"Lanes {unit} further on are for rows {unit} further on.",) if unit < LANES else ()
    notes = (*further, f"{words[0].upper()}{words[1:]}. {not_run()}")
    return Figure(
        kind="tmem",
        title=title,
        source=unmarked(tensor.layout),
        caption=caption,
        mute=mute,
        description=f"{title}. {caption}. {' '.join(notes)}",
        paints=painting.paints,
        legends=painting.legends,
        panels=tuple(
            Panel(
                caption=f"lanes {lanes[0]} to {lanes[-1]}{f' of {LANES}' * (unit < LANES)}",
                labels=labels[(part := slice(lanes[0] * wide, (lanes[-1] + 1) * wide))],
                paints=painting.cells[part],
                row_ruler=Ruler("lane", tuple(map(str, lanes)), borders(len(lanes), 0)),
                col_ruler=Ruler("column", tuple(map(str, range(wide))), borders(wide, 0)),
                place=(0, lanes[0] // WARP) if wide <= 8 else (lanes[0] // WARP, 0),
            )
            for lanes in (range(first, min(first + WARP, unit)) for first in range(0, unit, WARP))
        ),
        notes=notes,
        facts={"columns of the tensor": find_tmem_tensor_col_offset(tensor), "free columns": COLUMNS - wide},
    )


def _kept(held: Mapping[int, Mapping[int, None]]) -> str:
    """The rows and columns of A in 32 bits of metadata, rows of the same columns together."""
    spans = {row: _span(min(ks), max(ks)) for row, ks in held.items()}
    rows = {ks: [str(row) for row in held if spans[row] == ks] for ks in spans.values()}
    return "\n".join(f"m {', '.join(its)}\nk {ks}" for ks, its in rows.items())


def _goes_on(cells: Sequence[Mapping[int, object]], blocks: Sequence[int | None], rows: int, apart: int) -> bool:
    """Whether every cell has what the one so many cells before it has, of so many rows further on."""
    later = zip(cells[:-apart], cells[apart:], strict=True)
    return blocks[:-apart] == blocks[apart:] and all({r + rows: ks for r, ks in one.items()} == other for one, other in later)


def rows_of_lanes(tensor: Tensor) -> dict[int, tuple[int, ...]]:
    """The rows of a tensor that lie in each lane of tensor memory."""
    out: dict[int, set[int]] = {}
    for (lane, _), (first, _, last, _) in _part("", tensor).held.items():
        out.setdefault(lane, set()).update((first, last))
    return {lane: tuple(sorted(rows)) for lane, rows in out.items()}


def held_by(name: str, tensor: Tensor) -> dict[Place, Span]:
    """The elements of a tensor in each lane and column of tensor memory, (lane, column): first row and column, last ones."""
    return _part(name, tensor).held


def _part(name: str, tensor: Tensor) -> Region:
    """Where the elements of a tensor lie: (lane, column) -> the elements (m,n) there."""
    layout, first = _matrix(tensor.layout), (tensor.pointer.address or 0) & 0xFFFF
    rows, real = product(modes(layout.shape)[0]), rows_of_scales(tensor)
    per, begin = tensor.pointer.per_word, tensor.offset
    held: dict[tuple[int, int], tuple[int, int, int, int]] = {}
    for n, value in enumerate(offsets(layout)):
        word = (value + begin) // per  # lane << 16 | column, counted from where the tensor begins
        col, row = divmod(n, rows)
        if real:  # of a scale factor that stands four times
            row = row // (LANES // WARP * real) * real + row % real
        m0, n0, m1, _ = held.get(where := (word >> 16, (word & 0xFFFF) + first), (row, col, row, col))
        held[where] = (row if row < m0 else m0, n0, row if row > m1 else m1, col)
    for lane, column in held:
        if not 0 <= lane < LANES or not 0 <= column < COLUMNS:
            raise FigureError(f"{tensor.layout} reaches lane {lane}, column {column}: tensor memory has {LANES} and {COLUMNS}")
    return Region(name, tensor, held)


def _matrix(layout: Layout) -> Layout:
    """A fragment ((M,N),MMA_M,MMA_N,...) as (M,N): the rows of all tiles, then their columns, then the stages."""
    shape, stride = modes(layout.shape), modes(layout.stride)
    inner = modes(shape[0]) if isinstance(shape[0], tuple) and len(shape) > 2 else ()
    if len(inner) != 2:
        return Layout((shape[0], shape[1:] or 1), (stride[0], stride[1:] or 0))
    steps = modes(stride[0])
    return Layout(((inner[0], shape[1]), (inner[1], *shape[2:])), ((steps[0], stride[1]), (steps[1], *stride[2:])))


def _step(parts: Sequence[Region]) -> int:
    """How many columns a cell stands for: as many as every border allows, and the picture can show."""
    step = COLUMNS // FEWEST // 2
    for part in parts:
        first, last = part.columns
        step = gcd(step, gcd(first, last))
    return max(step, COLUMNS // MOST)


def _cell(parts: Sequence[Region], row: int, col: int, wide: int) -> tuple[list[tuple[int, int, int, int]], int | None]:
    """The elements in a cell, and which tensor's they are."""
    for n, part in enumerate(parts):
        found = [
            part.held[place]
            for lane in range(row * STEP, (row + 1) * STEP)
            for column in range(col * wide, (col + 1) * wide)
            if (place := (lane, column)) in part.held
        ]
        if found:
            return found, n
    return [], None


def _words(held: Sequence[tuple[int, int, int, int]], name: str, stage: int) -> str:
    """`0-15,32-63`: rows and columns of the tile in a cell, `0-15…96-111` of rows with gaps; of several tensors with the name, of
    an accumulator with stages, of so many columns each, with the number of its own."""
    if not held:
        return ""
    m0, n0, m1, n1 = (end(values) for end, values in zip((min, min, max, max), zip(*held, strict=True), strict=True))
    if stage and n0 // stage == n1 // stage:
        name = f"{name} stage {n0 // stage}".strip()
        n0, n1 = n0 % stage, n1 % stage
    gaps = runs(sorted({row for first, _, last, _ in held for row in (first, last)}))
    rows = "…".join(_span(*run) for run in dict.fromkeys((gaps[0], gaps[-1])))
    words = f"{rows if len(gaps) > 1 else _span(m0, m1)},{_span(n0, n1)}"
    return f"{name}\n{words}" if name else words


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def _legend(parts: Sequence[Region], paints: Sequence[int], several: bool) -> Legend:
    every = ""
    if several:
        entries = [
            LegendEntry(n % HUES, f"{part.name}: columns {part.columns[0]}-{part.columns[1] - 1}") for n, part in enumerate(parts)
        ]
    else:
        warps = sorted({paint for paint in paints if paint != HUES})
        (part,) = parts
        spans = [[span for (lane, _), span in part.held.items() if lane // WARP == w] for w in warps]
        words = [_words(mine, "", 0).partition(",") for mine in spans]
        gaps = [len(runs(sorted({m for first, _, last, _ in mine for m in (first, last)}))) for mine in spans]
        alike = max(gaps) > 1 and len({columns for _, _, columns in words}) == 1
        every = f", each with n {words[0][2]}" if alike else ""
        entries = [
            LegendEntry(w, f"warp {w}: m {rows.replace('…', ' and ' if n == 2 else '…')}{'' if alike else f' n {columns}'}")
            for w, n, (rows, _, columns) in zip(warps, gaps, words, strict=True)
        ]
    if HUES in paints:
        entries.append(LegendEntry(HUES, "free"))
    return Legend("hue: tensor" if several else f"hue: the warp that reaches these lanes{every}", tuple(entries))


def _boxes(parts: Sequence[Region], wide: int) -> tuple[tuple[int, int, int, int], ...]:
    """Around each tensor, and of one with stages, ((M,N),MMA_M,MMA_N,stages), around each of these."""
    out = []
    for part in parts:
        each = part.stage
        places: dict[int, list[tuple[int, int]]] = {}
        for place, (_, n, _, _) in part.held.items():
            places.setdefault(n // each if each else 0, []).append(place)
        for its in places.values():
            lanes, columns = ([line[k] for line in its] for k in (0, 1))
            out.append((min(lanes) // STEP, min(columns) // wide, max(lanes) // STEP + 1, max(columns) // wide + 1))
    return tuple(out)
