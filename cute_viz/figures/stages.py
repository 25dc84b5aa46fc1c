"""The stages of a kernel on a page, numbered: from the tensor by TMA through shared memory and descriptors to the accumulator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, as_layout
from cute_viz.algebra.copy import Copy_Atom, CopyOp, ThrCopy, TiledCopy
from cute_viz.algebra.descriptor import MODES, DescriptorTensor, SmemDescriptor
from cute_viz.algebra.inttuple import leaves, modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA
from cute_viz.algebra.staged import Stages
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tma import TmaCopy
from cute_viz.algebra.tmem import WARP, TensorMemory
from cute_viz.figures.descriptor import descriptor, swizzle_of
from cute_viz.figures.gemm import unit_of
from cute_viz.figures.highlight import LOWEST
from cute_viz.figures.journey import in_tensor_memory, journey
from cute_viz.figures.lanes import instruction_of, is_lanes
from cute_viz.figures.model import HOLE, Arrow, Figure, Legend, Paint, Panel
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.page import page
from cute_viz.figures.paint import HUES
from cute_viz.figures.tma import tma
from cute_viz.figures.tmem import STEP, rows_of_lanes
from cute_viz.figures.trim import cut
from cute_viz.values.instruction import Instruction


def stages(obj: Stages, options: FigureOptions, rows: Iterable[int] = ()) -> Figure:
    """The page of the stages, a heading with a number each.

    rows: of C, which are to be seen in memory; without, those where another warp's begin.

    >>> from cute_viz import parse
    >>> text = "stages(GMMA::Layout_K_SW128_Atom<half_t>{}, SM100_TMEM_LOAD_16dp64b1x{})"
    >>> [panel.caption[:33] for panel in stages(parse(text), FigureOptions()).panels[:2]]
    ['1. the tile in shared memory', '2. tensor memory to registers: te']
    """
    obj, rows = settled(obj), tuple(rows)
    figures = drawn_parts(obj, options, rows)
    parts = [(f"{n + 1}. {_heading(part)}", figure) for n, (part, figure) in enumerate(zip(obj.parts, figures, strict=True))]
    title = options.title or "The stages of a kernel"
    drawn = page(title, parts, 2, str(obj), "In the order in which a kernel uses them")
    ends = [*accumulate(len(figure.panels) for _, figure in parts)]
    known = next((found for part, figure in zip(obj.parts, figures, strict=True) if (found := _hues(part, figure))), {})
    bits = next((panel for panel in drawn.panels if "bit" in panel.data), None)
    lanes = journey(obj, known, rows)
    if lanes is not None and bits is not None:
        of_bits = [drawn.legends[n] for n in bits.legends or ()]
        bits = replace(bits, caption=f"The descriptor of A: {bits.caption.rpartition(': ')[2]}", legends=(1,))
        lanes = replace(lanes, legends=(*lanes.legends, *of_bits[:1]), panels=(*lanes.panels, bits))
    if lanes is not None and options.title:
        lanes = replace(lanes, caption=f"{options.title}. {lanes.caption}")
    return replace(drawn, arrows=tuple([Arrow(end - 1, end) for end in ends[:-1]]), lanes=lanes)


def drawn_parts(obj: Stages, options: FigureOptions, rows: Iterable[int] = ()) -> list[Figure]:
    """The figure of each stage, in one code of colours. rows: as of `stages`.

    >>> from cute_viz import parse
    >>> [len(figure.panels) for figure in drawn_parts(parse("stages(GMMA::Layout_K_SW128_Atom<half_t>{})"), FigureOptions())]
    [1]
    """
    from cute_viz.figures import build

    plain = replace(options, title=None)
    shown = [unit_of(part) if isinstance(part, (Layout, ComposedLayout)) else part for part in settled(obj).parts]
    held = {n: build(part, replace(plain, operand="C")) for n, part in enumerate(shown) if isinstance(part, (MMA_Atom, TiledMMA))}
    first: dict[int, int] = {}
    for row, hue in sorted(next((hues for n, part in enumerate(shown) if (hues := _hues(part, held.get(n)))), {}).items()):
        first.setdefault(hue, row)
    rows = tuple(rows)
    wanted = rows or tuple(first.values())
    figures, white = [], of_b(obj.parts)
    for n, part in enumerate(shown):
        mine = () if n in white else wanted
        if isinstance(part, TmaCopy) and part.im2col is None:
            figures.append(tma(part, plain, mine))
        elif isinstance(part, (SmemDescriptor, DescriptorTensor)):
            figures.append(descriptor(part, plain, mine))
        else:
            figure = held.get(n) or build(part, plain)
            figures.append(_few_lanes(figure) if first and not rows and is_lanes(part) else figure)
    return _one_code(obj.parts, figures)


def _few_lanes(figure: Figure) -> Figure:
    """The figure of tcgen05.ld or .st with its first 16 lanes and threads, where these hold what the others do not."""
    memory, registers = figure.panels
    few = STEP * memory.cols
    if memory.rows <= STEP or set(memory.data["thread"][:few]) != set(range(STEP)):
        return figure
    note = f"The first {STEP} lanes and threads are shown; the others of the warp follow."
    panels = [cut(panel, 0, STEP, 0, panel.cols) for panel in (memory, registers)]
    return replace(figure, panels=tuple(panels), notes=(note, *figure.notes))


OF_ALL = "B, white, is for the rows of all warps."


def settled(obj: Stages) -> Stages:
    """The stages, a shape among them as its layout, a copy of tensor memory as its instruction.

    >>> from cute_viz import parse
    >>> tensor = "t = make_tensor(make_tmem_ptr<float>(0), (128,64):(65536,1)); "
    >>> str(settled(parse(tensor + "stages((4,8), make_tmem_copy(SM100_TMEM_LOAD_32dp32b8x{}, t))")))
    '(4,8):(1,4); SM100_TMEM_LOAD_32dp32b8x'
    """
    parts = map(as_layout, obj.parts)
    copies = (Copy_Atom, TiledCopy, ThrCopy)
    return Stages(tuple(instruction_of(x) if isinstance(x, copies) and _op(x).lanes else x for x in parts))


def _op(obj: Copy_Atom | TiledCopy | ThrCopy) -> Instruction:
    tiled = obj.tiled if isinstance(obj, ThrCopy) else obj
    return (tiled.atom if isinstance(tiled, TiledCopy) else tiled).instruction


SHARED = "the tile in shared memory"
CORE, CHUNK = 8, 16  # rows of a core matrix; bytes of a chunk of shared memory
Box = tuple[int, int, int, int]
PAINTS = (*(Paint(hue) for hue in range(HUES)), Paint(-1), Paint(-1, 1, 2))
PAPER, GREY = HUES, HUES + 1


def of_b(parts: Sequence[Any]) -> set[int]:
    """The numbers of the parts that hold B, whose rows are no rows of C: its descriptors, and the loads of as many elements, which
    come in their order.

    >>> from cute_viz import parse
    >>> s = "s = make_tensor(make_smem_ptr<half_t>(0), tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (64,64))); "
    >>> mma = "mma = make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>{}); "
    >>> of_b([parse(mma + s + f"mma.make_fragment_{x}(mma.get_slice(0).partition_{x}(s))") for x in "AB"])
    {1}
    """
    fragments = [part for part in parts if isinstance(part, DescriptorTensor)]
    out, loads = set(), Counter[int]()
    for n, part in enumerate(parts):
        if isinstance(part, DescriptorTensor) and part.tensor.name == "B":
            out.add(n)
        if isinstance(part, TmaCopy) and part.op.instruction.home("S") == "gmem":
            elements = size(part.cta_v_map)
            same = [x for x in fragments if product(modes(x.tensor.layout.shape)[:3]) == elements]
            if same and same[min(loads[elements], len(same) - 1)].tensor.name == "B":
                out.add(n)
            loads[elements] += 1
    return out


def _one_code(parts: Sequence[Any], figures: Sequence[Figure]) -> list[Figure]:
    """The figures of the stages with one meaning of hue: what it means in the accumulator, in memory that of the row of C.

    Without an accumulator that threads hold every figure has its own.
    """
    pairs = list(zip(parts, figures, strict=True))
    known = next(((figure, hues) for part, figure in pairs if (hues := _hues(part, figure))), None)
    if known is None:
        return list(figures)
    (own, *_), hues = known[0].legends, known[1]
    what = "hue: warp" if isinstance(parts[figures.index(known[0])], Tensor) else own.title.removesuffix(LOWEST)
    title = f"{what}; in memory, the one that holds the row of C"
    named = [(known[0].paints[e.paint].hue, e) for e in own.entries]
    out = []
    white = of_b(parts)
    for n, (part, figure) in enumerate(pairs):
        if figure.legends and figure.legends[0].title == own.title and (figure is known[0] or isinstance(part, TiledCopy)):
            first = figure.legends[0]
            legends = [replace(first, title=title, entries=tuple(e for e in first.entries if figure.paints[e.paint].hue >= 0))]
            if plain := tuple(e for e in first.entries if figure.paints[e.paint].hue < 0):
                legends.append(Legend("plain", plain))
            out.append(replace(figure, legends=(*legends, *figure.legends[1:])))
            continue
        panels, legends = [_in_code(part, k, panel, {} if n in white else hues) for k, panel in enumerate(figure.panels)], []
        counts = Counter(p for panel in panels if "field" not in panel.data for p in panel.paints)
        legends.append(Legend(title, tuple(replace(e, paint=hue, count=counts[hue]) for hue, e in named if counts[hue])))
        for k, panel in enumerate(figure.panels):
            if "field" in panel.data:
                paints, legend = _fields(figure, panel)
                panels[k] = replace(panel, paints=paints, legends=(len(legends),))
                legends.append(legend)
        notes = (*figure.notes, *([OF_ALL] if n in white else []))
        out.append(replace(figure, paints=PAINTS, legends=tuple(legends), panels=tuple(panels), notes=notes))
    return out


def _in_code(part: Any, number: int, panel: Panel, hues: Mapping[int, int]) -> Panel:
    """A panel of memory, each cell in the hue of the row that lies there, of several the first; others are plain."""
    paints = [PAPER if p != HOLE else HOLE for p in panel.paints]
    repeats = isinstance(part, (Layout, ComposedLayout)) and panel.rows <= max(
        hues, default=0
    )  # and stands for the rows of several
    for row in sorted(hues, reverse=True) if not repeats else ():
        for r0, c0, r1, c1 in boxes_of(part, panel, number, [row], row):
            for n in (r * panel.cols + c for r in range(r0, r1) for c in range(c0, c1)):
                paints[n] = hues[row] if paints[n] != HOLE else HOLE
    return replace(panel, paints=tuple(paints), legends=(0,))


def _hues(part: Any, figure: Figure | None) -> dict[int, int]:
    """The hue of each row of an accumulator that threads hold: that of its first column; of any other part nothing."""
    for _, tensor in in_tensor_memory(part)[:1]:
        return {row: lane // WARP for lane, rows in sorted(rows_of_lanes(tensor).items(), reverse=True) for row in rows}
    if figure is None or not isinstance(part, (MMA_Atom, TiledMMA, ThrMMA)):
        return {}
    panel = figure.panels[0]
    firsts = panel.paints[:: panel.cols]
    return {row: figure.paints[p].hue for row, p in enumerate(firsts) if p != HOLE and figure.paints[p].hue >= 0}


def _heading(part: Any) -> str:
    """What a stage does, in words."""
    if isinstance(part, TmaCopy):
        return "shared to global memory by TMA" if part.op.instruction.home("S") == "smem" else "global to shared memory by TMA"
    if isinstance(part, (SmemDescriptor, DescriptorTensor)):
        return f"{part.tensor.name or 'the operand'} as the instruction sees it"
    if isinstance(part, (Tensor, TensorMemory)):
        return "the accumulator in tensor memory"
    if isinstance(part, CopyOp):
        return "registers to tensor memory" if "STORE" in part.name else "tensor memory to registers"
    if isinstance(part, (MMA_Atom, TiledMMA, ThrMMA)):
        return "the accumulator in registers"
    return "the epilogue's copy" if isinstance(part, TiledCopy) else SHARED


def _fields(figure: Figure, panel: Panel) -> tuple[tuple[int, ...], Legend]:
    """The bits of a descriptor without hues, its fields white and grey in turns; bits of no field are hatched."""
    of_bits = panel.data["field"]
    turn = {name: (PAPER, GREY)[n % 2] for n, name in enumerate(dict.fromkeys(name for name in of_bits[::-1] if name))}
    told = {of_bits[panel.paints.index(e.paint)]: e for e in figure.legends_of(panel)[0].entries if e.paint in panel.paints}
    entries = tuple(replace(told[name], paint=turn[name]) for name in turn if name in told)
    return tuple(HOLE if name is None else turn[name] for name in of_bits), Legend("fields of the descriptor, from bit 0", entries)


def boxes_of(part: Any, panel: Panel, number: int, rows: list[int], thread: int) -> tuple[Box, ...]:
    """What of a panel has to do with the rows, or with the thread.

    >>> from cute_viz import parse
    >>> from cute_viz.figures import build
    >>> atom = parse("SM80_16x8x16_F32F16F16F32_TN")
    >>> boxes_of(atom, build(atom).panels[0], 0, [], 5)[:2]
    ((1, 2, 2, 4), (9, 2, 10, 4))
    """
    if isinstance(part, TmaCopy):
        return _of_tma(part, panel, rows)
    if isinstance(part, (SmemDescriptor, DescriptorTensor)):
        if number == 0:
            return _lines(panel, [row // _deep(part) for row in rows])
        cores, inner = panel.data.get("core", ()), panel.data.get("row", ())
        lit = [
            n
            for n, (core, row) in enumerate(zip(cores, inner, strict=True))
            if core is not None and row is not None and set(_rows_of(part, core, row)) & set(rows)
        ]
        return _cells(panel, lit)
    if isinstance(part, (MMA_Atom, TiledMMA, ThrMMA)):
        return _cells(panel, [n for n, t in enumerate(panel.data.get("thread", ())) if t == thread])
    if isinstance(part, Tensor):
        found = rows_of_lanes(part)
        lines = {lane // STEP for lane, its in found.items() if set(its) & set(rows)}
        return _cells(panel, [n for n, label in enumerate(panel.labels) if label and n // panel.cols in lines])
    if isinstance(part, CopyOp):
        lanes = [n for n, t in enumerate(panel.data.get("thread", ())) if t == thread % WARP]
        return _cells(panel, lanes) if number == 0 else _lines(panel, [thread % WARP])
    return _lines(panel, sorted({row % panel.rows for row in rows})) if number == 0 else ()


def _deep(part: SmemDescriptor | DescriptorTensor) -> int:
    """How many rows of the operand a core matrix has: of an MN-major one the elements of 16 bytes."""
    first = part.first if isinstance(part, DescriptorTensor) else part
    return CORE if first.major == "K" else 128 // first.bits


def _rows_of(part: SmemDescriptor | DescriptorTensor, core: int, line: int) -> range:
    """The rows of the operand that lie in one line of a core matrix; each line of an MN-major one has all of them."""
    first = part.first if isinstance(part, DescriptorTensor) else part
    shape, deep = modes(part.tensor.layout.shape), _deep(part)
    depth = product(modes(shape[0])[1]) * product(shape[2]) if isinstance(part, DescriptorTensor) else product(shape[1])
    if first.major == "K":
        row = core // max(1, depth * first.bits // 128) * CORE + line
        return range(row, row + 1)
    row = core // max(1, depth // MODES[first.kind][swizzle_of(first)][3]) * deep
    return range(row, row + deep)


def _of_tma(part: TmaCopy, panel: Panel, rows: list[int]) -> tuple[Box, ...]:
    """The rows in the tensor, and in shared memory; dimension 0 of the tensor map holds them where the tile is MN-major."""
    step = next(iter(leaves(part.g_stride)), None)
    across = isinstance(step, Basis) and step.path[:1] == (0,)
    if "dim" in panel.row_ruler.title:
        starts = [int(label) for label in (panel.col_ruler if across else panel.row_ruler).labels]
        found = {max((n for n, start in enumerate(starts) if start <= row), default=0) for row in rows}
        lit = [n for n, label in enumerate(panel.labels) if label and divmod(n, panel.cols)[1 if across else 0] in found]
        return _cells(panel, lit)
    wide = max(1, CHUNK * 8 // part.tensor.bits) if across else 1
    wanted = {str(row // wide * wide) for row in rows}
    return _cells(panel, [n for n, label in enumerate(panel.labels) if label.split(",")[0] in wanted])


def _lines(panel: Panel, lines: list[int]) -> tuple[Box, ...]:
    return tuple((line, 0, line + 1, panel.cols) for line in dict.fromkeys(lines) if 0 <= line < panel.rows)


def _cells(panel: Panel, cells: list[int]) -> tuple[Box, ...]:
    """Boxes around cells, those that follow each other in a row together."""
    out: list[Box] = []
    for n in cells:
        row, col = divmod(n, panel.cols)
        if out and out[-1][0] == row and out[-1][3] == col:
            out[-1] = (row, out[-1][1], row + 1, col + 1)
        else:
            out.append((row, col, row + 1, col + 1))
    return tuple(out)
