"""wgmma and tcgen05.mma with their operands where they lie: core matrices of shared memory beside C and its owners, pairs of CTAs.

PTX ISA, "wgmma.mma_async" and "tcgen05.mma"; cute/atom/mma_traits_sm90_gmma.hpp, mma_traits_sm100.hpp.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd
from typing import Any, NamedTuple

from cute_viz.algebra.descriptor import DescriptorTensor, SmemDescriptor
from cute_viz.algebra.instruction import issued
from cute_viz.algebra.inttuple import product
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tmem import data_path, make_fragment, place, sparsity
from cute_viz.algebra.umma import home
from cute_viz.algebra.with_operands import MmaOperands
from cute_viz.figures.descriptor import descriptor
from cute_viz.figures.instruction import instruction
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.page import page
from cute_viz.figures.words import NOT_RUN, not_run, ptx_name

CORE = 8  # rows and columns of a block in registers
STEP, WIDE = 16, 32  # rows and columns at most of a cell that stands for many
PLACES = {"C": (1, 1), "A": (1, 0), "B": (0, 1), "D": (0, 0)}
SPANS = {"C": ("M", "N"), "A": ("M", "K"), "B": ("K", "N")}


class Where(NamedTuple):
    """Where an element of an operand lies: the CTA, and of tensor memory the lane and the column."""

    cta: int
    lane: int = -1
    column: int = -1


def operands(obj: MmaOperands, options: FigureOptions) -> Figure:
    """The figure of an MMA with its operands in the places of a matrix product.

    >>> from cute_viz import parse
    >>> name = "SM100_MMA_F16BF16_2x1SM_SS<half_t,half_t,float,256,64,UMMA::Major::K,UMMA::Major::K>"
    >>> figure = operands(parse(f"mma_operands({name}{{}})"), FigureOptions())
    >>> [panel.labels[-1].splitlines()[0] for panel in figure.panels if panel.place == (1, 1)]
    ['CTA 1']
    """
    atom, plain = obj.mma.atom, replace(options, title=None)
    of_tensor_memory = atom.name.startswith("SM10")
    parts: list[tuple[str, Figure, tuple[int, int]]] = []
    for x in "CAB":
        described = {"A": obj.a, "B": obj.b}.get(x)
        if described is not None:
            drawn = _in_shared(described, x, plain)
        elif of_tensor_memory or home(atom.name, x) == "smem":
            drawn = _blocks(obj.mma, x)
        else:
            drawn = _registers(obj.mma, x)
        parts.append(("", drawn, PLACES[x]))
    if of_tensor_memory and (told := issued(atom)):
        parts.append(("", instruction(told, plain), PLACES["D"]))
    called = ptx_name(atom.name) or atom.name
    title = options.title or f"{called}: {' × '.join(str(product(mode)) for mode in atom.shape_mnk)}, operands where they lie"
    joined = page(title, [(heading, figure) for heading, figure, _ in parts], 3, str(obj), "A left of C, B above it")
    placed, n = [], 0
    for _, figure, at in parts:
        for panel in joined.panels[n : n + len(figure.panels)]:
            placed.append(replace(panel, place=at))
        n += len(figure.panels)
    notes = list(joined.notes)
    if sparse := sparsity(atom.name):
        notes.append(f"A: {sparse}.")
    if path := data_path(atom.name, product(atom.shape_mnk[0])):
        notes.append(f"C: {path}.")
    if of_tensor_memory:
        notes = [note for note in notes if NOT_RUN not in note] + [not_run(atom.name[:5])]
    facts: dict[str, Any] = {f"{x} in": _memory(home(atom.name, x)) for x in "CAB"}
    return replace(joined, kind="operands", panels=tuple(placed), notes=tuple(notes), facts=facts)


def _memory(where: str) -> str:
    return {"smem": "shared memory", "tmem": "tensor memory", "rmem": "registers"}[where]


def _in_shared(x: DescriptorTensor | SmemDescriptor, operand: str, options: FigureOptions) -> Figure:
    """An operand as core matrices, as the picture of its descriptor has them; B lies, K down and N across."""
    drawn = descriptor(x, options)
    first = x.first if isinstance(x, DescriptorTensor) else x
    panel = replace(drawn.panels[0], caption=f"{operand} in shared memory, {first.mode}: core matrices, their first byte")
    rows = "M" if operand == "A" else "N"
    panel = replace(panel, row_ruler=replace(panel.row_ruler, title=rows))
    notes = tuple(f"{operand}: {note}" for note in drawn.notes if not note.startswith(("Only the first", "Hatched")))
    return replace(drawn, panels=(transposed(panel) if operand == "B" else panel,), legends=drawn.legends[:1], notes=notes)


def transposed(panel: Panel) -> Panel:
    """A panel with rows and columns exchanged, arrows and boxes too.

    >>> line = Ruler("m", ("0", "1"), (0, 0, 0)), Ruler("k", ("0",), (0, 0))
    >>> turned = transposed(Panel("", 2, 1, ("a →", "b"), (0, 0), *line, arrows=((0, 0, 1, 0),), arrow_labels=("",)))
    >>> turned.rows, turned.labels, turned.arrows
    (1, ('a ↓', 'b'), ((0, 0, 0, 1),))
    """
    order = [r * panel.cols + c for c in range(panel.cols) for r in range(panel.rows)]
    number = {cell: n for n, cell in enumerate(order)}
    turn = str.maketrans("→↓", "↓→")
    return replace(
        panel,
        rows=panel.cols,
        cols=panel.rows,
        labels=tuple(panel.labels[n].translate(turn) for n in order) if panel.labels else (),
        paints=tuple(panel.paints[n] for n in order),
        row_ruler=panel.col_ruler,
        col_ruler=panel.row_ruler,
        owners=tuple(sorted((number[cell], mine) for cell, mine in panel.owners)),
        boxes=tuple((c0, r0, c1, r1) for r0, c0, r1, c1 in panel.boxes),
        data={name: tuple(column[n] for n in order) for name, column in panel.data.items()},
        arrows=tuple((c0, r0, c1, r1) for r0, c0, r1, c1 in panel.arrows),
    )


def _places(mma: TiledMMA, operand: str) -> tuple[int, int, list[Where]]:
    """Rows, columns, and where each element of an operand of one atom lies, column by column."""
    atom = mma.atom
    layout = atom.layout(operand)
    ctas = size(get(layout, 0)) if atom.name.startswith("SM10") else 1
    rows, cols = atom.held(operand)
    table = offsets(layout)  # (CTA, value) -> element; of wgmma the group's 128 threads see the same
    values, threads = size(get(layout, 1)), size(get(layout, 0))
    held = [Where(0)] * (rows * cols)
    lanes = _lanes(mma, operand, rows // ctas, cols) if home(atom.name, operand) == "tmem" else None
    for cta in range(ctas):
        for value in range(values):
            element = table[cta + threads * value]
            held[element] = Where(cta, *lanes[value]) if lanes else Where(cta)
    return rows, cols, held


def _lanes(mma: TiledMMA, operand: str, rows: int, cols: int) -> list[tuple[int, int]]:
    """Lane and column of each value of a CTA's part in tensor memory."""
    atom = mma.atom
    kind = atom.types["ABC".index(operand)] if len(atom.types) > 2 else "float"
    fragment = make_fragment(atom.name, operand, kind, ((rows, cols), 1, 1))
    return [(where.lane, where.column) for where in (place(value, fragment.bits) for value in offsets(get(fragment.layout, 0)))]


def _blocks(mma: TiledMMA, operand: str) -> Figure:
    """An operand in blocks of rows and columns: which CTA holds them, and of tensor memory which lanes and columns."""
    rows, cols, held = _places(mma, operand)
    high, wide = gcd(rows, STEP), gcd(max(cols // 2, 1), WIDE)
    down, across = rows // high, cols // wide
    labels, paints = [], []
    ctas = 1 + max(where.cta for where in held)
    for r in range(down):
        for c in range(across):
            cells = [held[i + j * rows] for j in range(c * wide, (c + 1) * wide) for i in range(r * high, (r + 1) * high)]
            labels.append(_words(cells))
            paints.append(cells[0].cta)
    note = "Each CTA of the pair holds the part of its colour; CTA 0 issues the instruction for both." if ctas > 1 else ""
    holders = ("cta", "CTA", "hue: CTA whose memory holds the block")
    return _of_blocks(mma, operand, (rows, cols, high, wide), labels, paints, holders, note)


def _of_blocks(
    mma: TiledMMA,
    operand: str,
    extents: tuple[int, int, int, int],
    labels: list[str],
    paints: list[int],
    holders: tuple[str, str, str],
    note: str,
) -> Figure:
    """The figure of an operand in blocks. extents: its rows and columns, and those of a block. paints: who holds each block.

    holders: of those who hold them, the column of the data, the word, and the title of the legend.
    """
    (rows, cols, high, wide), (column, word, title), types = extents, holders, mma.atom.types
    down, across = rows // high, cols // wide
    kind = f" of {types['ABC'.index(operand)]}" if len(types) > 2 else ""
    mode, other = SPANS[operand] if operand != "B" else ("N", "K")
    panel = Panel(
        caption=f"{operand}: {rows} × {cols}{kind}, in {_memory(home(mma.atom.name, operand))}; a cell {high} × {wide}",
        rows=down,
        cols=across,
        labels=tuple(labels),
        paints=tuple(paints),
        row_ruler=Ruler(mode, tuple(str(r * high) for r in range(down)), (0,) * (down + 1)),
        col_ruler=Ruler(other, tuple(str(c * wide) for c in range(across)), (0,) * (across + 1)),
        data={column: tuple(paints)},
    )
    entries = tuple(LegendEntry(n, f"{word} {n}", paints.count(n)) for n in sorted(set(paints)))
    return Figure(
        kind="operands",
        title="",
        source="",
        caption="",
        description="",
        paints=tuple(Paint(n) for n in range(max(paints) + 1)),
        legends=(Legend(title, entries),),
        panels=(transposed(panel) if operand == "B" else panel,),
        notes=(note,) if note else (),
    )


def _registers(mma: TiledMMA, operand: str) -> Figure:
    """An operand in registers, in blocks of 8 x 8: which warp holds them, in which of its values."""
    atom = mma.atom
    layout, (rows, cols) = atom.layout(operand), atom.held(operand)
    threads, wide = size(get(layout, 0)), gcd(cols, CORE)
    owner: dict[int, tuple[int, int]] = {}
    for n, element in enumerate(offsets(layout)):
        owner.setdefault(element, (n % threads, n // threads))
    down, across = rows // CORE, cols // wide
    labels, paints = [], []
    for r in range(down):
        for c in range(across):
            cells = [owner[i + j * rows] for j in range(c * wide, (c + 1) * wide) for i in range(r * CORE, (r + 1) * CORE)]
            warps, values = sorted({t // 32 for t, _ in cells}), sorted({v for _, v in cells})
            labels.append(f"warp {','.join(map(str, warps))}\nV{values[0]}-{values[-1]}")
            paints.append(warps[0])
    holders = ("warp", "warp", "hue: warp of the group whose registers hold the block")
    note = "Of a block in registers each quad of lanes holds a row; the picture of the MMA alone shows every lane."
    return _of_blocks(mma, operand, (rows, cols, CORE, wide), labels, paints, holders, note)


def _words(cells: list[Where]) -> str:
    """`CTA 1`, and of tensor memory its lanes and columns."""
    found = sorted({where.cta for where in cells})
    label = f"CTA {','.join(map(str, found))}"
    if cells[0].lane < 0:
        return label
    spans = []
    for name, numbers in (("lane", [where.lane for where in cells]), ("col", [where.column for where in cells])):
        low, high = min(numbers), max(numbers)
        spans.append(f"{name} {low}" if low == high else f"{name} {low}-{high}")
    return "\n".join([label, *spans])
