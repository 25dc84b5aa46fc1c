"""The stages of a kernel in lanes, one for each memory: the tile of A on its way to C and back, by the rows of C.

Every panel has the rows of the tile, or the lines of 128 bytes that these are in memory; hue is the warp that holds the row of C.
What one instruction reads or writes is in full hue, or what one thread has to do with; the rest recedes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import gcd
from typing import Any, TypeAlias

from cute_viz.algebra.copy import CopyOp
from cute_viz.algebra.descriptor import DescriptorTensor, SmemDescriptor
from cute_viz.algebra.gemm import Stages
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tma import TmaCopy
from cute_viz.algebra.tmem import WARP, TensorMemory, metadata_words
from cute_viz.algebra.views import atom_of
from cute_viz.figures.held import of_held, of_way
from cute_viz.figures.lane_rows import FAINT, GREY, WARPS, banded, twice
from cute_viz.figures.lanes import held, is_lanes
from cute_viz.figures.machine import Place, Span, of_chain
from cute_viz.figures.memory import CHUNK, LINE, per_chunk
from cute_viz.figures.model import HOLE, Arrow, Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.paint import HUES, span
from cute_viz.figures.tmem import held_by

GROUP = 8  # columns of C side by side
LANES, COLUMNS = 128, 512  # of tensor memory
Lit: TypeAlias = Callable[[int, int], bool]  # whether a row and a column are in full hue
PAPER = GREY + 1
PAINTS = (*(Paint(hue) for hue in range(HUES)), *(Paint(hue, faded=True) for hue in range(HUES)), Paint(-1, 1, 2), Paint(-1))


def journey(obj: Stages, hues: Mapping[int, int], mine: Collection[Place] = (), thread: int | None = None) -> Figure | None:
    """The lanes of stages that load a tile of A and hold its C; None of others.

    hues: of each row of C. mine: the elements (m,n) of C that a thread holds; then these are in full hue, and of A what one
    instruction reads for them.
    """
    load = next(
        (x for x in obj.parts if isinstance(x, TmaCopy) and x.op.instruction.home("S") == "gmem" and x.im2col is None), None
    )
    store = next((x for x in obj.parts if isinstance(x, TmaCopy) and x.op.instruction.home("S") == "smem"), None)
    if load is None or not hues:
        return None
    pair = load.op.instruction.ctas == 2
    described = next((x for x in obj.parts if isinstance(x, (DescriptorTensor, SmemDescriptor))), None)
    deep = _depth(described, load)
    rows = sorted({m for m, _ in mine})
    unit = _unit(mine)
    a, b, c, again, v, d = obj.names or ("A", "", "Accumulator", "", "", "D")

    def is_read(m: int, k: int) -> bool:
        return k < deep and (m in rows or not rows)

    def is_held(m: int, n: int) -> bool:
        return (m, n) in mine or not mine

    path = [("global", _tile(f"Tile of {a}", load, hues, is_read, "k"), _moved("TMA load", load, pair))]
    atoms = [atom_of(x) for x in obj.parts if isinstance(x, (MMA_Atom, TiledMMA))]
    mmas = [x for x in atoms if x.instruction.home("C") == "rmem"]
    path.append(
        (
            "shared",
            _lines(a, load, hues, is_read),
            f"{'wgmma' if mmas else 'tcgen05.mma'}\n{f'with {b}' if b else f'k 0..{deep - 1}'}",
        )
    )
    wide, k, told = 0, 0, ("", "")
    if mmas:
        following = mmas[1] if len(mmas) > 1 and mmas[1].instruction.home("A") == "rmem" else None
        told = _chained(mmas[0], following) if following else ("", "")
        k = product(following.shape_mnk[2]) if following else 0

        def is_next(m: int, n: int) -> bool:
            return is_held(m, n) and (n < k or not k)

        head = "First product" if k and not again else c
        path.append(("registers", _of_rows(head, hues, _columns(mmas[0], unit), is_next), "store"))
        if following:
            stays = "softmax\nin place" if again else "in place\nno copy"
            path[-1] = (*path[-1][:2], stays if told[1] else "moved\nto A")
            kept = _of_rows(again or "A of the next", hues, _columns(mmas[0], unit), is_next, "k")
            path.append(("registers", kept, f"wgmma\n{f'with {v}' if v else f'k 0..{k - 1}'}"))
            last = f"{d} += {again}{v}" if again else "Next product"
            path.append(("registers", _of_rows(last, hues, _columns(following, unit), is_held), "store"))
    tensors = next((in_tensor_memory(x) for x in obj.parts if in_tensor_memory(x)), ())
    every = [held_by(name, tensor) for name, tensor in tensors]
    if tensors and not mmas:
        ld = next((x for x in obj.parts if isinstance(x, CopyOp) and is_lanes(x)), None)
        wide = 1 + max(r for _, r in held(ld)) if ld is not None else wide
        loads = -(-len({n for _, n in mine}) // (wide or 1))
        many = f"{loads} × {wide} columns" if loads > 1 else f"{wide} columns"
        path.append(("tensor memory", _tensor_memory(tensors, every, wide, mine), f"tcgen05.ld\n{many}" if wide else ""))
        if wide:

            def is_register(m: int, _: int) -> bool:
                return m in rows or not rows

            head = f"C, {wide} of {len({n for _, n in mine})} of the thread" if mine else "C, by thread"
            path.append(("registers", _of_rows(head, hues, (wide, 1), is_register, "register"), "store"))
    if store is not None and len(path) > 2:

        def is_stored(m: int, n: int) -> bool:
            return is_held(m, n) and (n < wide or not wide or bool(mine))

        each = product(modes(tensors[0][1].layout.shape)[3:] or 1) if tensors else 1
        across = len({n for its in every[:1] for _, n, _, _ in its.values()}) // each
        part = f", n 0..{_extents(store)[1] - 1}" * (across > _extents(store)[1])
        path.append(("shared", _lines(d, store, hues, is_stored, unit), _moved("TMA store", store, pair)))
        path.append(("global", _tile(f"{d}{part}" if part else f"Tile of {d}", store, hues, is_stored, "n", unit), ""))
    if len(path) < 3:
        return None
    named = [replace(panel, caption=f"{panel.caption}: {memory}") for memory, panel, _ in path]
    named = [banded(panel) if rows else panel for panel in named]
    panels = tuple([replace(twice(panel) if pair else panel, place=(0, n)) for n, panel in enumerate(named)])
    arrows = tuple([Arrow(n, n + 1, label=path[n][2]) for n, _ in pairwise(range(len(path)))])
    cells = [paint for panel in panels for paint in panel.paints]
    warps = sorted(set(hues.values()))
    names = [(hue, f"warp {hue}") for hue in warps]
    if pair:
        names = [(hue + WARPS * cta, f"CTA {cta} warp {hue}") for cta in range(2) for hue in warps]
    entries = tuple([LegendEntry(hue, f"thread {thread}" if rows else name) for hue, name in names if hue in cells])
    if rows:
        entries += tuple([LegendEntry(FAINT + hue, name) for hue, name in names if FAINT + hue in cells])
    behind = [
        (name.partition(" ")[0], sorted({column for _, column in its})) for (name, _), its in zip(tensors, every, strict=True)
    ][1:]
    if GREY in cells:
        factors = "; ".join(f"{name} in {span(at[0], at[-1], 'column ')}" for name, at in behind)
        entries = (*entries, LegendEntry(GREY, f"scale factors: {factors}"))
    if len(rows) == 1:  # A's is no thread's
        panels = tuple([replace(panel, legends=()) if n < 2 else panel for n, panel in enumerate(panels)])
    in_hue = f"what one tcgen05.ld reads of C, on to {d}" if wide else "all of C"
    words = f"In full hue: k 0..{deep - 1} of {a}, which one instruction reads, and {in_hue}. Hue: warp"
    if mine:
        lanes = [lane for its in every[:1] for (lane, _), (m, *_) in its.items() if m in rows]
        title = of_held(thread or 0, mine, a, *({*lanes} if len({*lanes}) == 1 else ()))
        words = f"In full hue: what thread {thread} holds of C, and k 0..{deep - 1} of {a}, which one instruction reads for it"
    elif told[0]:
        title = f"{c.partition(' ')[0]} already lies in registers as {again} must: {again} skips shared memory"
        title = title if again and told[1] else told[0]
        words = f"In full hue: k 0..{k - 1} of {again or 'the next A'}{told[1]}. Hue: warp"
    elif pair:
        title = f"One instruction of two CTAs: each loads, holds and stores its own {panels[0].rows // 2} rows"
    else:
        in_place = bool(wide) and all(lane == first == last for (lane, _), (first, _, last, _) in every[0].items())
        title = of_way(hues, (a, d if store is not None else "C"), in_place, _is_bent(panels[1]), behind)
        words += "; gray: scale factors, which tcgen05.cp brings" * bool(behind)
    return Figure(
        kind="journey",
        title=title,
        caption=words,
        description=f"{title}. {words}.",
        paints=PAINTS,
        legends=(Legend("hue: warp that holds the row of C", entries),),
        panels=panels,
        arrows=arrows,
    )


def _chained(first: MMA_Atom, second: MMA_Atom) -> tuple[str, str]:
    """What threads hold of C of an MMA, beside what the next one reads of it as A; in words, and for one thread."""
    cells = []
    for atom, operand in ((first, "C"), (second, "A")):
        layout, rows = atom.layout(operand), atom.held(operand)[0]
        threads, table = size(get(layout, 0)), offsets(layout)
        cells.append([[(x % rows, x // rows) for x in table[t::threads]] for t in range(threads)])
    return of_chain(cells[0], cells[1], product(second.shape_mnk[2]), product(first.shape_mnk[1]))


def _is_bent(shared: Panel) -> bool:
    """Whether what is in full hue stands in more chunks of the lines of shared memory than one line has of it."""
    lit = [n % shared.cols for n, paint in enumerate(shared.paints) if 0 <= paint < FAINT]
    return len({*lit}) > len(lit) / shared.rows + 0.5


def _depth(described: Any, load: TmaCopy) -> int:
    """How many k an instruction reads: of the operand's fragment, else of a row of the tile."""
    if isinstance(described, DescriptorTensor):
        return product(modes(modes(described.tensor.layout.shape)[0])[1])
    return min(product(modes(load.smem.shape)[1]), 256 // load.tensor.bits)


def _moved(word: str, part: TmaCopy, pair: bool) -> str:
    return f"{word}\n{'2 × ' * pair}{size(part.smem) * part.tensor.bits // 8 // 1024 or '<1'} KB"


def _paint(hue: int, lit: bool) -> int:
    return hue if lit else FAINT + hue


def _extents(part: TmaCopy) -> tuple[int, int]:
    shape = modes(part.smem.shape)
    return product(shape[0]), product(shape[1])


def _unit(mine: Collection[Place]) -> int:
    """How many columns of C a cell has, so that a thread holds all of it or nothing; 8 at most."""
    ends = {n + side for m, n in mine for side, other in ((0, n - 1), (1, n + 1)) if (m, other) not in mine}
    return gcd(GROUP, *ends)


def _tile(caption: str, part: TmaCopy, hues: Mapping[int, int], lit: Lit, mode: str, unit: int = GROUP) -> Panel:
    """The tile in global memory, a cell for 16 bytes of a row, or for so many elements."""
    m, k = _extents(part)
    chunk = per_chunk(part.tensor.bits)
    each = chunk if unit == GROUP else min(unit, chunk)
    cols = -(-k // each)
    paints = [_paint(hues.get(r, 0), lit(r, c * each)) for r in range(m) for c in range(cols)]
    labels = tuple([str(c * each) if c * each % (2 * chunk) == 0 else "" for c in range(cols)])
    words = [f"{r},{c * each}" for r in range(m) for c in range(cols)]
    return _panel(caption, m, paints, _of_m(m), (mode, labels), words)


def _of_m(rows: int) -> Ruler:
    return Ruler("m", tuple(map(str, range(rows))))


def _lines(name: str, part: TmaCopy, hues: Mapping[int, int], lit: Lit, unit: int = GROUP) -> Panel:
    """The tile in lines of 128 bytes of shared memory, a cell for each chunk of 16, or so many elements: the first in it."""
    m, k = _extents(part)
    bits, table = part.tensor.bits, offsets(part.smem)
    size_ = CHUNK if unit == GROUP else min(CHUNK, max(1, unit * bits // 8))
    first: dict[int, int] = {}
    asked: set[int] = set()  # cells of which any element is in full hue
    for n in range(m * k):
        first.setdefault(cell := int(table[n]) * bits // 8 // size_, n)
        if lit(n % m, n // m):
            asked.add(cell)
    per = LINE // size_
    lines = max(first) // per + 1
    paints: list[int] = []
    for cell in range(lines * per):
        if (at := first.get(cell)) is None:
            paints.append(HOLE)
        else:
            paints.append(_paint(hues.get(at % m, 0), cell in asked))
    swizzled = not isinstance(part.smem, Layout) and part.map.swizzle != 0
    ruler = Ruler("", ("",) * lines)
    words = [f"{first[n] % m},{first[n] // m}" if n in first else "" for n in range(lines * per)]
    across = "16-byte chunk", tuple([str(n * size_ // CHUNK) if n * size_ % CHUNK == 0 else "" for n in range(per)])
    panel = _panel(f"{name}, {'swizzled' if swizzled else 'plain'}", lines, paints, ruler, across, words)
    inside = swizzled and not _is_bent(panel) and all({*paints[n : n + per]} == {paints[n]} for n in range(0, len(paints), per))
    return replace(panel, caption=f"{panel.caption} within rows") if inside else panel  # whose cells look as without a swizzle


def _columns(atom: MMA_Atom, unit: int) -> tuple[int, int]:
    """The cells of a row of C, and how many columns each has."""
    return -(-product(atom.shape_mnk[1]) // unit), unit


def _of_rows(caption: str, hues: Mapping[int, int], across: tuple[int, int], lit: Lit, mode: str = "n") -> Panel:
    """C in registers by rows, so many cells of so many columns across."""
    m, (cols, each) = max(hues) + 1, across
    paints = [_paint(hues.get(r, 0), lit(r, c * each)) for r in range(m) for c in range(cols)]
    labels = tuple([str(c * each) if c * each % GROUP == 0 or mode == "register" else "" for c in range(cols)])
    words = [f"{r},{c * each}" for r in range(m) for c in range(cols)]
    return _panel(caption, m, paints, _of_m(m), (mode, labels), words)


def in_tensor_memory(part: Any) -> tuple[tuple[str, Tensor], ...]:
    """The accumulator in tensor memory, and what lies there beside it; of any other part nothing."""
    if isinstance(part, TensorMemory):
        return part.parts if part.parts[0][0].startswith("C ") else ()
    return (("C", part),) if isinstance(part, Tensor) and part.pointer is not None and not metadata_words(part) else ()


def _tensor_memory(
    parts: Sequence[tuple[str, Tensor]], every: Sequence[dict[Place, Span]], wide: int, mine: Collection[Place]
) -> Panel:
    """Tensor memory by its lanes and true columns, 8 a cell: C in hue, in full hue what one tcgen05.ld reads; the rest is grey."""
    (_, accumulator), *_ = parts
    taken = sorted({column for its in every for _, column in its})
    starts = range(taken[0] // GROUP * GROUP, taken[-1] + 1, GROUP)
    shape = modes(accumulator.layout.shape)
    each = len({column for _, column in every[0]}) // product(shape[3:] or 1)
    first = min(column for _, column in every[0])
    paints, of_column, words = [], [], []
    for start in starts:
        n = next((n for n, its in enumerate(every) if any(start <= column < start + GROUP for _, column in its)), -1)
        of_column.append((n, (start - first) // each if n == 0 else 0))
    for lane in range(LANES):
        for (n, stage), start in zip(of_column, starts, strict=True):
            span = next((every[n][lane, x] for x in range(start, start + GROUP) if (lane, x) in every[n]), None) if n >= 0 else None
            words.append("" if span is None else f"{span[0]},{span[1]}" if n == 0 else parts[n][0].partition(" ")[0])
            if span is None:
                paints.append(HOLE)
            elif n:
                paints.append(GREY)
            else:
                lit = span[:2] in mine if mine else start - first < (wide or each)
                paints.append(_paint(lane // WARP, lit and stage == 0))
    steps = [int(a != b) for a, b in pairwise(of_column)]
    ruler = Ruler("", ("",) * LANES)
    others = [name.partition(" ")[0] for name, _ in parts[1:]]
    stages = len({stage for n, stage in of_column if n == 0})
    head = ", ".join(["C, by lane" if not others and stages == 1 else "C", *[f"{stages} stages"] * (stages > 1), *others])
    panel = _panel(head, LANES, paints, ruler, ("column", tuple(map(str, starts))), words)
    return replace(panel, col_ruler=replace(panel.col_ruler, levels=(0, *steps, 0)))


def _panel(
    caption: str, rows: int, paints: list[int], ruler: Ruler, across: tuple[str, tuple[str, ...]], words: Sequence[str]
) -> Panel:
    title, labels = across
    down = Ruler(title, labels)
    return Panel(caption, rows, len(labels), tuple(words), tuple(paints), ruler, down, legends=(0,))
