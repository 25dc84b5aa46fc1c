"""wgmma and tcgen05.mma with their operands where they lie: core matrices of shared memory beside C and its owners, pairs of CTAs.

PTX ISA, "wgmma.mma_async" and "tcgen05.mma"; cute/atom/mma_traits_sm90_gmma.hpp, mma_traits_sm100.hpp.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from math import gcd
from typing import Any, NamedTuple

from cute_viz.algebra.descriptor import DescriptorTensor, SmemDescriptor
from cute_viz.algebra.instruction import issued
from cute_viz.algebra.inttuple import product
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tmem import AHEAD, LANES, WARP, data_path, is_sparse, make_fragment, place, sparse_words
from cute_viz.algebra.umma import MmaOperands
from cute_viz.figures.descriptor import descriptor
from cute_viz.figures.fields import instruction
from cute_viz.figures.machine import of_parts
from cute_viz.figures.model import HOLE, Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.options import NOT_RUN, FigureOptions, not_run
from cute_viz.figures.page import page
from cute_viz.figures.paint import HUES
from cute_viz.figures.scales import in_tensor_memory
from cute_viz.figures.trim import transposed

CORE = 8  # rows and columns of a block in registers
STEP, WIDE = 16, 32  # rows and columns at most of a cell that stands for many
LONG_K = 96  # K of the block-scaled MMAs of SM103: 48 bytes of 4 bits, where all others have 32 bytes
PLACES = {"C": (1, 1), "A": (1, 0), "B": (0, 1), "SF": (2, 0), "D": (3, 0)}  # the last two alone, so that A stays close to C
OF_WARP = "hue: warp that reaches the row of C in tensor memory; light: the same rows of A, which no warp reads"
LIGHT = HUES + 1  # where the paints of rows that no warp reads begin
UNSHOWN = ("Only the first", "Of shared memory", "Hatched", "A box")  # notes on what is not drawn of a descriptor here
SPANS = {"C": ("M", "N"), "A": ("M", "K"), "B": ("K", "N")}


class Where(NamedTuple):
    """Where an element of an operand lies: the CTA, and of tensor memory the lane and the column."""

    cta: int
    lane: int = -1
    column: int = -1


def operands(obj: MmaOperands, options: FigureOptions) -> Figure:
    """The figure of an MMA with its operands in the places of a matrix product."""
    atom, plain = obj.mma.atom, replace(options, title=None)
    op = atom.instruction
    of_tensor_memory = op.kind == "tcgen05.mma"
    parts: list[tuple[str, Figure, tuple[int, int]]] = []
    for x in "CAB":
        described = {"A": obj.a, "B": obj.b}.get(x)
        if described is not None:
            drawn = _in_shared(described, x, plain)
        elif of_tensor_memory or op.described(x):
            drawn = _blocks(obj.mma, x)
        else:
            drawn = _registers(obj.mma, x)
        parts.append(("", drawn, PLACES[x]))
    if of_tensor_memory and (scales := _scales(obj.mma)):
        parts.append(("", scales, PLACES["SF"]))
    if of_tensor_memory and (told := issued(atom)):
        parts.append(("", instruction(told, plain), PLACES["D"]))
    called = op.called or op.name
    whole = f"{called}: {' × '.join(str(product(mode)) for mode in atom.shape_mnk)}, operands where they lie"
    by = [x for x, part in (("A", obj.a), ("B", obj.b)) if isinstance(part, DescriptorTensor)]
    first = {x: figure.panels[0] for x, (_, figure, _) in zip("CAB", parts, strict=False)}
    title = options.title or _finding(obj.mma, first, by) or whole
    shift = len({p for x in by for p in first[x].paints}) if op.home("C") == "rmem" else 0  # so that warps have hues of their own
    parts[0] = ("", _shifted(parts[0][1], shift), PLACES["C"]) if by else parts[0]
    joined = page(title, [(heading, figure) for heading, figure, _ in parts], 3, str(obj))
    placed, n = [], 0
    for _, figure, at in parts:
        for panel in joined.panels[n : n + len(figure.panels)]:
            placed.append(replace(panel, place=at))
        n += len(figure.panels)
    notes = list(joined.notes)
    if sparse := sparse_words(op):
        notes.append(f"A: {sparse}.")
    if of_tensor_memory and op.vector and not any(panel.place == PLACES["SF"] for panel in placed):
        notes.append("SFA and SFB lie in tensor memory; where, for this shape, is not drawn.")
    if "ultra" in op.words:
        notes.append(f"A, B: {AHEAD}.")
    if path := data_path(op):
        notes.append(f"C: {path}.")
    if of_tensor_memory:
        notes = [note for note in notes if NOT_RUN not in note] + [not_run(atom.name[:5])]
    facts: dict[str, Any] = {f"{x} in": _memory(op.home(x)) for x in "CAB"}
    cores = any(label.startswith("core ") for panel in placed for label in panel.labels)
    said = [
        "" if title == whole else whole.removeprefix(f"{op.name}: "),
        "core r,c: core matrix r,c of 8 rows × 16 bytes, counted along both modes" if cores else "",
    ]
    return replace(
        joined, kind="operands", caption="; ".join(filter(None, said)), panels=tuple(placed), notes=tuple(notes), facts=facts
    )


def _finding(mma: TiledMMA, panels: dict[str, Panel], described: list[str]) -> str:
    """Where C lies; of descriptors, which part of the operands each reads; else who holds how much of each operand."""
    if described:
        slices = {x: panels[x].cols if x == "A" else panels[x].rows for x in described}
        blocks = {len({p for p in panels[x].paints if p >= 0}) for x in slices}
        if len(blocks) == 1 and (n := blocks.pop()) > 1:
            return f"Descriptor n reads block n along K of {' and of '.join(described)}: {n} instructions"
    if mma.atom.instruction.home("C") == "tmem" and size(mma.atom.thr_id) == 1:
        rows, _, held = _places(mma, "C")
        if all((where.lane, where.column) == (n % rows, n // rows) for n, where in enumerate(held)):
            return "C(m, n) lies in lane m, column n of tensor memory"
    extents = {"A": mma.atom.held("A"), "B": mma.atom.held("B")[::-1], "C": mma.atom.held("C")}
    units = {x: (extents[x][0] // panel.rows, extents[x][1] // panel.cols) for x, panel in panels.items()}
    if size(mma.atom.thr_id) == 2:
        return of_parts(panels, units, "CTA", "holds")
    own = {x: panel for x, panel in panels.items() if mma.atom.instruction.home(x) != "smem"}
    return of_parts(own, units, "warp", "reaches" if mma.atom.instruction.home("C") == "tmem" else "holds")


def _shifted(figure: Figure, by: int) -> Figure:
    """The figure in hues that are further on."""
    return replace(figure, paints=tuple([replace(p, hue=(p.hue + by) % HUES) if p.hue >= 0 else p for p in figure.paints]))


def _memory(where: str) -> str:
    return {"smem": "shared memory", "tmem": "tensor memory", "rmem": "registers"}[where]


def _in_shared(x: DescriptorTensor | SmemDescriptor, operand: str, options: FigureOptions) -> Figure:
    """An operand as core matrices, as the picture of its descriptor has them; B lies, K down and N across."""
    drawn = descriptor(x, options)
    first = x.first if isinstance(x, DescriptorTensor) else x
    panel = replace(drawn.panels[0], caption=f"{operand} in shared memory, {first.mode}: core matrices, their first byte")
    rows = "M" if operand == "A" else "N"
    panel = replace(panel, row_ruler=replace(panel.row_ruler, title=rows), boxes=())  # which would cut what a descriptor reads
    shown = [note.replace(", a box", "") for note in drawn.notes if not note.startswith(UNSHOWN)]
    notes = tuple([f"{operand}: {note}" for note in shown])
    return replace(drawn, panels=(transposed(panel) if operand == "B" else panel,), legends=drawn.legends[:1], notes=notes)


def _places(mma: TiledMMA, operand: str) -> tuple[int, int, list[Where]]:
    """Rows, columns, and where each element of an operand of one atom lies, column by column."""
    atom = mma.atom
    layout = atom.layout(operand)
    ctas = size(get(layout, 0)) if atom.instruction.kind == "tcgen05.mma" else 1
    rows, cols = atom.held(operand)
    table = offsets(layout)  # (CTA, value) -> element; of wgmma the group's 128 threads see the same
    values, threads = size(get(layout, 1)), size(get(layout, 0))
    held = [Where(0)] * (rows * cols)
    lanes = _lanes(mma, operand, rows // ctas, cols) if atom.instruction.home(operand) == "tmem" else None
    for cta in range(ctas):
        for value in range(values):
            element = table[cta + threads * value]
            held[element] = Where(cta, *lanes[value]) if lanes else Where(cta)
    return rows, cols, held


def _lanes(mma: TiledMMA, operand: str, rows: int, cols: int) -> list[tuple[int, int]]:
    """Lane and column of each value of a CTA's part in tensor memory."""
    atom = mma.atom
    kind = atom.types["ABC".index(operand)] if len(atom.types) > 2 else "float"
    fragment = make_fragment(atom.instruction, operand, kind, ((rows, cols), 1, 1))
    return [(where.lane, where.column) for where in (place(value, fragment.bits) for value in offsets(get(fragment.layout, 0)))]


def _chunk(mma: TiledMMA, operand: str) -> int:
    """Elements of K that are 16 bytes of a row in shared memory: tcgen05.mma takes 32 bytes of K at once, with K = 96 48, and of a
    sparse MMA 64 of B, since A is stored by half."""
    k = product(mma.atom.shape_mnk[2])
    return k // (3 if k == LONG_K else 4 if operand == "B" and is_sparse(mma.atom.instruction) else 2)


def _blocks(mma: TiledMMA, operand: str) -> Figure:
    """An operand in blocks of rows and columns: which CTA or warp they are of, and where they lie. In shared memory a block is
    told by its core matrices, in tensor memory by its lanes and columns. Column n of B is as wide as that of C."""
    rows, cols, held = _places(mma, operand)
    ctas = size(mma.atom.thr_id)
    across, chunk = gcd(product(mma.atom.shape_mnk[1]) // ctas, WIDE), _chunk(mma, operand)
    high, wide = across if operand == "B" else gcd(rows, STEP), across if operand == "C" else chunk
    warps = {} if ctas > 1 or operand == "B" else _warps(mma)
    labels, paints = [], []
    for r in range(0, rows, high):
        for c in range(0, cols, wide):
            cells = [held[i + j * rows] for j in range(c, c + wide) for i in range(r, r + high)]
            core = "" if cells[0].lane >= 0 else _core(mma, operand, range(r, r + high), range(c, c + wide))
            labels.append(_words(cells, ctas) or core)
            light = LIGHT if warps and operand == "A" and cells[0].lane < 0 else 0
            paints.append(cells[0].cta if ctas > 1 else warps[r] + light if warps else HUES)
    if ctas > 1:
        note = "Each CTA of the pair holds the part of its color; CTA 0 issues the instruction for both."
        holders = ("cta", "CTA", "hue: CTA whose memory holds the block")
    else:
        note = "" if cells[0].lane >= 0 else "B, white, is for the rows of all warps."
        holders = ("warp", "warp", OF_WARP)
    return _of_blocks(mma, operand, (rows, cols, high, wide), labels, paints, holders, note)


def _warps(mma: TiledMMA) -> dict[int, int]:
    """The warp of four that reaches each row of C, which reads 32 lanes of tensor memory."""
    rows, _, held = _places(mma, "C")
    return {row: held[row].lane // WARP for row in range(rows)}


def _core(mma: TiledMMA, operand: str, rows: range, cols: range) -> str:
    """`core 0-1,0`: the core matrices of a block of shared memory; those of complex elements are not told."""
    op, chunk = mma.atom.instruction, _chunk(mma, operand)
    if "interleaved" in op.words:
        return ""
    stored = 2 if operand == "A" and is_sparse(op) else 1  # of so many elements along K one is stored
    deep = (CORE, chunk) if op.majors["AB".index(operand)] == "K" else (chunk // stored, CORE * stored)
    return f"core {','.join(_span([n // each for n in lines]) for lines, each in zip((rows, cols), deep, strict=True))}"


def _span(numbers: Iterable[int]) -> str:
    low, high = min(found := list(numbers)), max(found)
    return str(low) if low == high else f"{low}-{high}"


def _scales(mma: TiledMMA) -> Figure | None:
    """The scale factors of a block-scaled MMA in tensor memory, by lanes of a warp and columns: first those of A, then those of
    B. None for K = 96, and where N is padded between the halves of a pair."""
    atom, ctas = mma.atom, size(mma.atom.thr_id)
    vector, (m, n, k) = atom.instruction.vector, map(product, atom.shape_mnk)
    if not vector or k == LONG_K or (ctas == 2 and m == LANES and n % LANES):
        return None
    warps = _warps(mma) if ctas == 1 else {}
    columns = in_tensor_memory(atom.instruction, (m // ctas, n), vector, k // vector)
    cells = [(name, bands[band]) for band in range(LANES // WARP) for name, bands in columns]
    first = [min(told.rows, default=-1) for _, told in cells]
    paints = [LIGHT + warps[row] if name[2] == "A" and row in warps else HUES for (name, _), row in zip(cells, first, strict=True)]
    split = [int(a[:3] != b[:3]) for (a, _), (b, _) in pairwise(columns)]
    pair = f" (CTA 1: m + {m // 2}, the same n)" if ctas > 1 else ""
    panel = Panel(
        caption=f"SFA and SFB in tensor memory, 32 lanes × 1 column a cell: whose rows{pair}",
        labels=tuple(
            f"{'m' if name[2] == 'A' else 'n'} {_span(told.rows)}\nbyte {_span(told.bytes)}" if told.rows else ""
            for name, told in cells
        ),
        paints=tuple(p if row >= 0 else HOLE for p, row in zip(paints, first, strict=True)),
        row_ruler=Ruler("lane", tuple(str(band * WARP) for band in range(LANES // WARP))),
        col_ruler=Ruler("column of", tuple(name for name, _ in columns), (0, *split, 0)),
        data={"first": tuple(None if row < 0 else row for row in first)},
    )
    last = 4 - k // vector
    note = "byte: of the 4 of a column, what the MMA reads with a_sf_id = b_sf_id = 0"
    note += f"; with {last} it reads {_span(range(last, 4))}." if last else "."
    return _figure(panel, OF_WARP, "warp", note)


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
        caption=f"{operand}: {rows} × {cols}{kind}, {mma.atom.instruction.home(operand)}",
        labels=tuple(labels),
        paints=tuple(paints),
        row_ruler=Ruler(mode, tuple(str(r * high) for r in range(down))),
        col_ruler=Ruler(other, tuple(str(c * wide) for c in range(across))),
        data={column: tuple([p % LIGHT for p in paints])},
    )
    return _figure(transposed(panel) if operand == "B" else panel, title, word, note)


def _figure(panel: Panel, title: str, word: str, note: str) -> Figure:
    """The figure of one panel, whose paints are numbers of what has the word, or HUES: paper, of what all have."""
    paints = panel.paints
    entries = tuple(LegendEntry(n, f"{word} {n}") for n in sorted({p % LIGHT for p in paints if p not in (HOLE, HUES)}))
    return Figure(
        kind="operands",
        title="",
        paints=(*(Paint(n) for n in range(HUES)), Paint(-1), *(Paint(n, 2, 3) for n in range(HUES))),
        legends=(Legend(title, entries),) if entries else (),
        panels=(panel,),
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
    note = "In a block in registers each quad of lanes holds a row; the picture of the MMA shows every lane."
    return _of_blocks(mma, operand, (rows, cols, CORE, wide), labels, paints, holders, note)


def _words(cells: list[Where], ctas: int) -> str:
    """`CTA 1`, of a pair, and of tensor memory lanes and columns."""
    lines = [f"CTA {','.join(map(str, sorted({where.cta for where in cells})))}"] if ctas > 1 else []
    if cells[0].lane >= 0:
        lines += [f"lane {_span([where.lane for where in cells])}", f"col {_span([where.column for where in cells])}"]
    return "\n".join(lines)
