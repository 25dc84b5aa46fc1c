"""Tensor memory: what lies in its 128 lanes and 512 columns of 32 bits, and which lanes a warp reaches."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import NamedTuple

from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import unmarked
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tmem import COLUMNS, LANES, WARP, WORD, TensorMemory, find_tmem_tensor_col_offset, lane_stride
from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.options import FigureOptions, check_cells
from cute_viz.figures.paint import HUES
from cute_viz.figures.words import count

STEP = 16  # lanes that a cell stands for
FEWEST, MOST = 8, 64  # columns of cells of the picture
RUN = "not run on hardware"


class Part(NamedTuple):
    """One of the tensors: what it is called, and the element (m,n) that lies at each lane and column."""

    name: str
    tensor: Tensor
    held: dict[tuple[int, int], tuple[int, int]]

    @property
    def columns(self) -> tuple[int, int]:
        """The first column that it takes, and the first one behind it."""
        taken = [column for _, column in self.held]
        return min(taken), max(taken) + 1


def tmem(obj: Tensor | TensorMemory, options: FigureOptions) -> Figure:
    """The figure of a tensor in tensor memory, or of several that lie there together.

    Raises: FigureError for what does not fit into tensor memory.

    >>> from cute_viz import parse
    >>> mma = "SM100_MMA_F16BF16_SS<half_t,half_t,float,128,256,UMMA::Major::K,UMMA::Major::K>{}"
    >>> figure = tmem(parse(f"make_fragment_C({mma}, ((128,256),1,1))"), FigureOptions())
    >>> figure.panels[0].labels[:2], figure.facts["free columns"]
    (('0-15,0-31', '0-15,32-63'), 256)
    """
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
            keys.append(None if part is None else part)
            labels.append(_words(held, parts[part].name if part is not None and several else ""))
            paints.append(HUES if part is None else part % HUES if several else r * STEP // WARP)
    used = {column for part in parts for _, column in part.held}
    legend = _legend(parts, paints, several)
    title = options.title or f"Tensor memory of one CTA: {LANES} lanes × {COLUMNS} columns of {WORD} bits"
    caption = f"A cell is {STEP} lanes × {count(wide, 'column')}; it shows the rows and columns of the tile that lie there, m,n"
    panel = Panel(
        caption="",
        rows=rows,
        cols=cols,
        labels=tuple(labels),
        paints=tuple(paints),
        row_ruler=Ruler("lane", tuple(str(r * STEP) for r in range(rows)), _borders(rows, WARP // STEP)),
        col_ruler=Ruler("column", tuple(str(c * wide) for c in range(cols)), _borders(cols, 0)),
        boxes=_boxes(parts, wide) if several else (),
        data={"part": tuple(keys)},
    )
    notes = [f"A warp reaches 32 lanes only: warp w of four the lanes 32w to 32w + 31. SM100: {RUN}."]
    return Figure(
        kind="tmem",
        title=title,
        source="; ".join(f"{part.name} {unmarked(part.tensor.layout)}".strip() for part in parts),
        caption=caption,
        description=f"{title}. {'. '.join(unmarked(part.tensor.layout) for part in parts)}. {caption}.",
        paints=(*(Paint(hue) for hue in range(HUES)), Paint(-1)),
        legends=(legend,),
        panels=(panel,),
        notes=tuple(notes),
        facts={
            **{f"columns of {part.name or 'the tensor'}": find_tmem_tensor_col_offset(part.tensor) for part in parts},
            "free columns": COLUMNS - len(used),
        },
    )


def rows_of_lanes(tensor: Tensor) -> dict[int, tuple[int, ...]]:
    """The rows of a tensor that lie in each lane of tensor memory.

    >>> from cute_viz import parse
    >>> mma = "SM100_MMA_F16BF16_SS<half_t,half_t,float,64,64,UMMA::Major::K,UMMA::Major::K>{}"
    >>> rows_of_lanes(parse(f"make_fragment_C({mma}, ((64,64),2,1))"))[33]
    (17,)
    """
    out: dict[int, set[int]] = {}
    for (lane, _), (row, _) in _part("", tensor).held.items():
        out.setdefault(lane, set()).add(row)
    return {lane: tuple(sorted(rows)) for lane, rows in out.items()}


def _part(name: str, tensor: Tensor) -> Part:
    """Where the elements of a tensor lie: (lane, column) -> the first element (m,n) there."""
    layout, first = _matrix(tensor.layout), (tensor.pointer.address or 0) & 0xFFFF
    rows = product(modes(layout.shape)[0])
    step, per = lane_stride(tensor.bits), WORD // tensor.bits
    held: dict[tuple[int, int], tuple[int, int]] = {}
    for n, value in enumerate(offsets(layout)):
        lane, rest = divmod(value + tensor.offset, step)
        column = rest // per + first
        if not 0 <= lane < LANES or not 0 <= column < COLUMNS:
            raise FigureError(f"{tensor.layout} reaches lane {lane}, column {column}: tensor memory has {LANES} and {COLUMNS}")
        held.setdefault((lane, column), (n % rows, n // rows))
    return Part(name, tensor, held)


def _matrix(layout: Layout) -> Layout:
    """A fragment ((M,N),MMA_M,MMA_N,...) as (M,N): the rows of all tiles, then their columns, then the stages."""
    shape, stride = modes(layout.shape), modes(layout.stride)
    inner = modes(shape[0]) if isinstance(shape[0], tuple) and len(shape) > 2 else ()
    if len(inner) != 2:
        return Layout((shape[0], shape[1:] or 1), (stride[0], stride[1:] or 0))
    steps = modes(stride[0])
    return Layout(((inner[0], shape[1]), (inner[1], *shape[2:])), ((steps[0], stride[1]), (steps[1], *stride[2:])))


def _step(parts: Sequence[Part]) -> int:
    """How many columns a cell stands for: as many as every border allows, and the picture can show."""
    step = COLUMNS // FEWEST // 2
    for part in parts:
        first, last = part.columns
        step = gcd(step, gcd(first, last))
    return max(step, COLUMNS // MOST)


def _cell(parts: Sequence[Part], row: int, col: int, wide: int) -> tuple[list[tuple[int, int]], int | None]:
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


def _words(held: Sequence[tuple[int, int]], name: str) -> str:
    """`0-15,32-63`: the rows and columns of the tile in a cell; of several tensors with the name."""
    if not held:
        return ""
    (m0, m1), (n0, n1) = ((min(values), max(values)) for values in zip(*held, strict=True))
    words = ",".join(str(low) if low == high else f"{low}-{high}" for low, high in ((m0, m1), (n0, n1)))
    return f"{name}\n{words}" if name else words


def _legend(parts: Sequence[Part], paints: Sequence[int], several: bool) -> Legend:
    if several:
        entries = [
            LegendEntry(n % HUES, f"{part.name}: columns {part.columns[0]}-{part.columns[1] - 1}", paints.count(n % HUES))
            for n, part in enumerate(parts)
        ]
    else:
        warps = sorted({paint for paint in paints if paint != HUES})
        entries = [LegendEntry(w, f"warp {w}: lanes {w * WARP}-{w * WARP + WARP - 1}", paints.count(w)) for w in warps]
    if HUES in paints:
        entries.append(LegendEntry(HUES, "free", paints.count(HUES)))
    return Legend("hue: tensor" if several else "hue: the warp that reaches these lanes", tuple(entries))


def _boxes(parts: Sequence[Part], wide: int) -> tuple[tuple[int, int, int, int], ...]:
    out = []
    for part in parts:
        lanes = [lane // STEP for lane, _ in part.held]
        first, last = part.columns
        out.append((min(lanes), first // wide, max(lanes) + 1, -(-last // wide)))
    return tuple(out)


def _borders(count_: int, every: int) -> tuple[int, ...]:
    return tuple(1 if every and 0 < n < count_ and n % every == 0 else 0 for n in range(count_ + 1))
