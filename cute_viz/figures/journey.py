"""The stages of a kernel in lanes, one for each memory: the tile of A on its way to C and back, by the rows of C.

Every panel has the rows of the tile, or the lines of 128 bytes that these are in memory; hue is the warp that holds the row of C.
What one instruction reads or writes is in full hue, or what one thread has to do with; the rest recedes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from cute_viz.algebra.composed import AnyLayout
from cute_viz.algebra.copy import CopyOp
from cute_viz.algebra.descriptor import DescriptorTensor, SmemDescriptor
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, TiledMMA
from cute_viz.algebra.staged import Stages
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tma import TmaCopy
from cute_viz.algebra.tmem import WARP
from cute_viz.figures.lanes import held, is_lanes
from cute_viz.figures.model import HOLE, Arrow, Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.paint import HUES
from cute_viz.figures.tmem import rows_of_lanes

LINE, CHUNK = 128, 16  # bytes of a line of shared memory, and of a chunk
GROUP = 8  # columns of C side by side
FAINT, PAPER = HUES, 2 * HUES  # where the paints of what recedes begin; that of what nobody asks about
PAINTS = (*(Paint(hue) for hue in range(HUES)), *(Paint(hue, faded=True) for hue in range(HUES)), Paint(-1))


def journey(obj: Stages, hues: Mapping[int, int], rows: Collection[int] = ()) -> Figure | None:
    """The lanes of stages that load a tile of A and hold its C; None of others. hues: of each row of C. rows: those of a thread.

    >>> from cute_viz import figure
    >>> lanes = figure("hopper_gemm").lanes
    >>> lanes and [(panel.caption, panel.rows) for panel in lanes.panels][:5]
    [('Tile of A', 64), ('A, swizzled', 64), ('Accumulator', 64), ('D, swizzled', 64), ('Tile of D', 64)]
    >>> [arrow.label for arrow in lanes.arrows]
    ['TMA load\\n8 KB', 'wgmma\\nk 0..15', 'store', 'TMA store\\n8 KB']
    """
    load = next(
        (x for x in obj.parts if isinstance(x, TmaCopy) and x.op.instruction.home("S") == "gmem" and x.im2col is None), None
    )
    store = next((x for x in obj.parts if isinstance(x, TmaCopy) and x.op.instruction.home("S") == "smem"), None)
    if load is None or not hues:
        return None
    described = next((x for x in obj.parts if isinstance(x, (DescriptorTensor, SmemDescriptor))), None)
    deep = _depth(described, load)
    lit = set(range(deep))
    path = [("global", _tile("Tile of A", load, hues, lit, rows, "k"), _moved("TMA load", load))]
    name = "wgmma" if any(isinstance(x, (MMA_Atom, TiledMMA)) for x in obj.parts) else "tcgen05.mma"
    path.append(("shared", _lines("A", load, hues, lit, rows), f"{name}\nk 0..{deep - 1}"))
    columns: set[int] | None = None
    for part in obj.parts:
        if isinstance(part, (MMA_Atom, TiledMMA)):
            atom = part.atom if isinstance(part, TiledMMA) else part
            path.append(("registers", _accumulator("Accumulator", hues, product(atom.shape_mnk[1]), rows), "store"))
        elif isinstance(part, Tensor) and part.pointer is not None and path[-1][0] == "shared":
            ld = next((x for x in obj.parts if isinstance(x, CopyOp) and is_lanes(x)), None)
            wide = 1 + max((r for _, r in held(ld)), default=0) if ld is not None else 0
            columns = set(range(wide))
            path.append(("tensor memory", _tensor_memory(part, wide, rows), f"tcgen05.ld\n{wide} columns" if wide else ""))
            if wide:
                path.append(("registers", _registers(hues, wide, rows), "store"))
    if store is not None and len(path) > 2:
        path.append(("shared", _lines("D", store, hues, columns, rows), _moved("TMA store", store)))
        path.append(("global", _tile("Tile of D", store, hues, columns, rows, "n"), ""))
    if len(path) < 3:
        return None
    panels = tuple([replace(panel, place=(0, n)) for n, (_, panel, _) in enumerate(path)])
    memories = Ruler("", tuple([memory for memory, _, _ in path]), (0,) * (len(path) + 1))
    arrows = tuple([Arrow(n, n + 1, label=path[n][2]) for n, _ in pairwise(range(len(path)))])
    cells = [paint for panel in panels for paint in panel.paints]
    warps = sorted(set(hues.values()))
    entries = tuple([LegendEntry(hue, f"warp {hue}", cells.count(hue)) for hue in warps])
    title, words = _finding(panels, rows, deep)
    return Figure(
        kind="journey",
        title=title,
        source="",
        caption=words,
        description=f"{title}. {words}.",
        paints=PAINTS,
        legends=(Legend("hue: warp that holds the row of C", entries),),
        panels=panels,
        arrows=arrows,
        outer=(Ruler("", ("",), (0, 0)), memories),
    )


def _finding(panels: tuple[Panel, ...], rows: Collection[int], deep: int) -> tuple[str, str]:
    """What is seen: where the k slice stands in shared memory, or how many lines the rows of a thread are in."""
    shared = panels[1]
    lit = [n for n, paint in enumerate(shared.paints) if 0 <= paint < FAINT]
    chunks = sorted({n % shared.cols for n in lit})
    if rows:
        lines = sorted({n // shared.cols for n in lit})
        several = "rows" if len(rows) > 1 else "row"
        told = f"{several} {', '.join(map(str, rows))}"
        return f"One thread's {told} of C: {len(lines)} lines of shared memory on the way", f"In full hue: {told}"
    lone = f"k 0..{deep - 1} of A"
    spread = f"{lone} is spread over {len(chunks)} of {shared.cols} chunks by the swizzle; the descriptor undoes it"
    plain = f"{lone} stands in {len(chunks)} of {shared.cols} chunks of each line"
    return spread if len(chunks) > len(
        lit
    ) / shared.rows + 0.5 else plain, f"In full hue: {lone}, which one instruction reads. Hue: warp"


def _depth(described: Any, load: TmaCopy) -> int:
    """How many k an instruction reads: of the operand's fragment, else of a row of the tile."""
    if isinstance(described, DescriptorTensor):
        return product(modes(modes(described.tensor.layout.shape)[0])[1])
    return min(product(modes(_tile_of(load).shape)[1]), 256 // load.tensor.bits)


def _tile_of(part: TmaCopy) -> AnyLayout:
    return part.smem


def _moved(word: str, part: TmaCopy) -> str:
    return f"{word}\n{size(part.smem) * part.tensor.bits // 8 // 1024 or '<1'} KB"


def _paint(hue: int, lit: bool) -> int:
    return hue if lit else FAINT + hue


def _extents(part: TmaCopy) -> tuple[int, int]:
    shape = modes(part.smem.shape)
    return product(shape[0]), product(shape[1])


def _tile(caption: str, part: TmaCopy, hues: Mapping[int, int], lit: set[int] | None, rows: Collection[int], mode: str) -> Panel:
    """The tile in global memory, a cell for 16 bytes of a row."""
    m, k = _extents(part)
    each = max(1, CHUNK * 8 // part.tensor.bits)
    cols = -(-k // each)
    paints = [_paint(hues.get(r, 0), r in rows if rows else lit is None or c * each in lit) for r in range(m) for c in range(cols)]
    labels = tuple([f"{mode} {c * each}" if c % 2 == 0 else "" for c in range(cols)])
    told = mode == "k"  # the first panel's rows are those of all
    ruler = Ruler("m" if told else "", tuple([str(r) if told else "" for r in range(m)]), (0,) * (m + 1))
    return _panel(caption, m, cols, paints, ruler, labels)


def _lines(name: str, part: TmaCopy, hues: Mapping[int, int], lit: set[int] | None, rows: Collection[int]) -> Panel:
    """The tile in lines of 128 bytes of shared memory, a cell for each chunk of 16: the first element that lies there."""
    m, k = _extents(part)
    bits, table = part.tensor.bits, offsets(part.smem)
    first: dict[int, int] = {}
    for n in range(m * k):
        first.setdefault(int(table[n]) * bits // 8 // CHUNK, n)
    per = LINE // CHUNK
    lines = max(first) // per + 1
    paints: list[int] = []
    for chunk in range(lines * per):
        if (at := first.get(chunk)) is None:
            paints.append(HOLE)
        else:
            paints.append(_paint(hues.get(at % m, 0), at % m in rows if rows else lit is None or at // m in lit))
    swizzled = not isinstance(part.smem, Layout) and part.map.swizzle != 0
    ruler = Ruler("", ("",) * lines, (0,) * (lines + 1))
    return _panel(f"{name}, swizzled" if swizzled else f"{name}, plain", lines, per, paints, ruler, tuple(map(str, range(per))))


def _accumulator(caption: str, hues: Mapping[int, int], n: int, rows: Collection[int]) -> Panel:
    """C in registers by rows, a cell for 8 columns."""
    m, cols = max(hues) + 1, -(-n // GROUP)
    paints = [_paint(hues.get(r, 0), not rows or r in rows) for r in range(m) for _ in range(cols)]
    labels = tuple([f"n {c * GROUP}" for c in range(cols)])
    return _panel(caption, m, cols, paints, Ruler("", ("",) * m, (0,) * (m + 1)), labels)


def _tensor_memory(part: Tensor, wide: int, rows: Collection[int]) -> Panel:
    """C in tensor memory: its lanes, and its columns of the first stage, 8 a cell; in full hue those of one tcgen05.ld."""
    lanes = rows_of_lanes(part)
    shape = modes(part.layout.shape)
    n = product(modes(shape[0])[1]) if len(modes(shape[0])) > 1 else product(shape[1])
    cols = -(-n // GROUP)
    paints = []
    for lane in range(128):
        for c in range(cols):
            here = bool(set(lanes.get(lane, ())) & {*rows}) if rows else c * GROUP < (wide or n)
            paints.append(_paint(lane // WARP, here) if lane in lanes else HOLE)
    labels = tuple([str(c * GROUP) for c in range(cols)])
    return _panel("C, by lane", 128, cols, paints, Ruler("", ("",) * 128, (0,) * 129), labels)


def _registers(hues: Mapping[int, int], wide: int, rows: Collection[int]) -> Panel:
    """What one tcgen05.ld of each warp gives: a row for each thread, a column for each register."""
    m = max(hues) + 1
    paints = [_paint(hues.get(r, 0), not rows or r in rows) for r in range(m) for _ in range(wide)]
    return _panel("C, by thread", m, wide, paints, Ruler("", ("",) * m, (0,) * (m + 1)), tuple([f"r{c}" for c in range(wide)]))


def _panel(caption: str, rows: int, cols: int, paints: list[int], ruler: Ruler, labels: tuple[str, ...]) -> Panel:
    down = Ruler("", labels, (0,) * (cols + 1))
    return Panel(caption, rows, cols, ("",) * (rows * cols), tuple(paints), ruler, down, legends=(0,))
