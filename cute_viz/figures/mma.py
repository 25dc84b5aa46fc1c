"""MMA atoms and TiledMMA: A, B and C in the places of a matrix product, A left of C and B above it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from math import prod

from cute_viz.algebra.common import WARP
from cute_viz.algebra.construct import make_identity_layout
from cute_viz.algebra.inttuple import X, modes, product, same_profile, show
from cute_viz.algebra.layout import Layout, crd2idx, flat_modes
from cute_viz.algebra.measure import get_flat_coord, size
from cute_viz.algebra.mma import (
    OPERANDS,
    MMA_Atom,
    ThrMMA,
    TiledMMA,
    as_tiled_mma,
    layout_tv,
    make_tiled_mma,
    operand_tile,
    permutation,
    tile_shape,
)
from cute_viz.algebra.modes import get
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tmem import is_sparse, make_fragment_e, sparse_words
from cute_viz.algebra.umma import MmaOperands
from cute_viz.errors import AlgebraError, FigureError
from cute_viz.figures.findings import of_operands, of_owners, of_warps
from cute_viz.figures.highlight import highlight_notes, owners_of, paint_held
from cute_viz.figures.machine import of_memory, of_metadata_bits
from cute_viz.figures.memory import CTA, SHARED, memory_of, owner
from cute_viz.figures.metadata import has_metadata, metadata_map, metadata_notes
from cute_viz.figures.model import Figure, Panel
from cute_viz.figures.options import PLAIN, FigureOptions, check_cells, left_out
from cute_viz.figures.options import operands as operands_of
from cute_viz.figures.owners import LISTED, NAMED, TVMap, ownership_notes, places_of, replicas, tile_panel
from cute_viz.spelling import count
from cute_viz.values.types import SPACES, bits_of

_PLACES = {"C": (1, 1), "A": (1, 0), "B": (0, 1), "E": (1, 2)}
_SPANS = {"C": ("M", "N"), "A": ("M", "K"), "B": ("K", "N"), "E": ("M", "group of K")}
CAPTION = "Each cell shows its owner T,V: value V of thread T"
CTA_CAPTION = "Each cell shows the CTA whose memory holds the element, and the number V of the element in that CTA's part"


def mma(obj: MMA_Atom | TiledMMA | ThrMMA, options: FigureOptions) -> Figure:
    """The figure of an MMA atom, a TiledMMA, or one thread's view of it."""
    if options.heat and isinstance(obj, MMA_Atom) and owner(obj.instruction) == CTA and _is_plain(options):
        from cute_viz.figures.mma_operands import operands as in_memory

        return in_memory(MmaOperands(make_tiled_mma(obj)), options)
    if isinstance(obj, ThrMMA):
        options = replace(options, thread=options.thread or range(thread_of(obj), thread_of(obj) + 1))
        tiled = obj.tiled
    else:
        tiled = as_tiled_mma(obj)
    if options.operand == "E" and is_sparse(tiled.atom.instruction):
        from cute_viz.figures.tmem import tmem

        m, _, k = map(product, tiled.atom.shape_mnk)
        return tmem(make_fragment_e(tiled.atom.instruction, ((m // size(tiled.atom.thr_id), k), 1, 1)), options)
    single = isinstance(obj, MMA_Atom) or tuple(map(product, tiled.atom.shape_mnk)) == tile_shape(tiled)
    by_half = tiled.atom.instruction.sparse > 1 and tiled.atom.stored == 1
    sparse, of_tcgen05 = single and has_metadata(tiled.atom), is_sparse(tiled.atom.instruction)
    more = "E" if sparse else ""
    words = f"an MMA has the operands A, B and C{', its metadata is E' if sparse or of_tcgen05 else ''}"
    operands = operands_of(options.operand, f"CAB{more}", words)
    _check_congruent(tiled.atom)
    tile = tile_shape(tiled)
    shown, operands = operands, operands.replace("E", "")
    for x in operands:
        check_cells(prod(operand_tile(tiled, x)), f"operand {x} of the tile {show(tile)}", options)
    layouts = {x: layout_tv(tiled, x) for x in operands}
    maps = {x: metadata_map(tiled.atom) if x == "E" else _map(tiled, x, layouts[x], options) for x in shown}
    owners = dict(zip(shown, owners_of([maps[x] for x in shown], options), strict=True))
    memory = {x: where for x in operands if (where := _memory(tiled.atom, x, maps[x]))}
    cells, painting = paint_held(maps, owners, memory, options)
    panels = []
    for x, paints in cells.items():
        rows, cols = maps[x].rows, maps[x].cols
        atom = (0, 0) if x == "E" else _block_extents(tiled.atom, x) if single else _atom_extents(tiled, x)
        what = (
            f"{rows} × {cols} groups of K, the metadata of A"
            if x == "E"
            else _size(tiled.atom, x, rows, cols) + _role(tiled.atom, x) + ", half of them stored" * (by_half and x == "A")
        )
        what = f"{x}: {what}" + (f", in {memory[x]}" if x in memory else "")
        core = _core(tiled.atom, x, memory.get(x, "")) if single else None
        if core:
            atom, what = core, f"{what}: core matrices of 8 × 16 bytes"
        place = _PLACES[x] if len(shown) > 1 else (0, 0)
        named = 0 < replicas(owners[x]) <= (NAMED if x == "E" else LISTED)
        panel = tile_panel(maps[x], owners[x], paints, options, what, _SPANS[x], place, atom, named)
        panel = _with_offsets(panel, x, core) if core and options.labels in ("auto", "full") else panel
        panels.append(_by_block(panel, x, tiled.atom.blocks) if single and x in "AB" else panel)
    notes = [note for x in operands for note in _notes(x, maps[x], owners[x], memory.get(x, ""))]
    if any("LBO" in label for panel in panels for label in panel.labels[:64]):
        notes.append(
            "Without a swizzle a core matrix begins SBO after its neighbor along M or N, LBO after that along K; within a swizzle "
            "atom 16 bytes after that along the major mode."
        )
    notes += metadata_notes(tiled.atom) if "E" in shown else []
    if tiled.atom.instruction.sparse > 1 and "A" in shown:
        half = "V counts places of the dense matrix; half of them are stored, and the metadata selects which"
        notes.append(f"A: {sparse_words(tiled.atom.instruction) or half}.")
    if "C" in operands and size(get(tiled.thr_layout_vmnk, 3)) > 1:
        notes.append("Atoms along K hold partial sums of the same elements of C.")
    if options.operand and not options.part:
        tiles = {x: operand_tile(tiled, x)[:: -1 if x == "B" else 1] for x in "ABC" if x not in shown}
        homes = {f"{x} ({rows} × {cols})": SPACES[tiled.atom.instruction.home(x)] for x, (rows, cols) in tiles.items()}
        notes += left_out(homes)
    notes += highlight_notes(options, owner(tiled.atom.instruction))
    name = tiled.atom.name or "MMA atom"
    threads = size(tiled.thr_layout_vmnk)
    of_ctas = owner(tiled.atom.instruction) == CTA
    holders = count(threads, "CTA" if of_ctas else "thread")
    words = " × ".join(tiled.atom.types[:2]) + f" → {tiled.atom.types[-1]}" if len(tiled.atom.types) > 2 else ""
    called = ", ".join(filter(None, (tiled.atom.instruction.called, words)))
    title = f"{called}: {holders}" if single and tiled.atom.instruction.called else ""
    whole = title or f"{name}{'' if single else ' tiled'}: {' × '.join(map(str, tile))}, {holders}"
    one = options.thread.start if options.thread is not None and len(options.thread) == 1 else None
    held = {x: panel for x, panel in zip(shown, panels, strict=True) if x not in memory and x != "E"}
    first = next(iter(held), "")
    verb = "covers" if by_half and first == "A" else "holds"
    told = of_owners(held[first], first, one, verb, options.value) if held and not of_ctas else ""
    told += "; half of them are stored" * (told != "" and verb == "covers" and options.value is None)
    if one is None is options.value and not of_ctas:
        told = (
            (_of_many(tiled.atom, panels[0], shown) if first == "C" else "") or (of_operands(held) if len(held) > 1 else "") or told
        )
    told = of_metadata_bits(panels[0]) if shown == "E" else of_memory(memory) if of_ctas and shown == "CAB" and memory else told
    title = options.title or told or whole
    caption = CTA_CAPTION if of_ctas else CAPTION
    mute = whole.removeprefix(name).lstrip(": ") if title != whole else ""
    caption = f"{caption} ({mute})" if mute else caption
    facts = {"CTAs" if of_ctas else "threads": threads, **dict(_fact(x, maps[x], memory.get(x, "")) for x in operands)}
    if by_half and (places := maps["A"].values if "A" in maps and "A" not in memory else 0):
        facts |= {"places of A a thread": places, "values of A": places // tiled.atom.instruction.sparse}
    told_by = title, _source(tiled, single), caption
    return painting.figure("mma", told_by, panels, notes, {**facts, **_drawn(tiled, operands)}, mute)


def _of_many(atom: MMA_Atom, panel: Panel, shown: str) -> str:
    """What a picture of an MMA says that is not one of threads with a part of C each: one thread, several products, many warps."""
    m, n, k = map(product, atom.shape_mnk)
    if (panel.rows, panel.cols) == (m, n) and size(atom.thr_id) == 1 and shown == "CAB":
        return f"One thread adds {count(k, 'product')} of A and B to {'each element' if m * n > 1 else 'one element'} of C"
    if atom.blocks > 1 and panel.cols == n * atom.blocks:
        return f"{atom.blocks} products of {m} × {n} × {k}, each in {count(size(atom.thr_id) // atom.blocks, 'thread')}"
    return of_warps(panel, "C", atom.warp[1])


def _is_plain(options: FigureOptions) -> bool:
    """Whether nothing is asked for but the picture, so that of tensor memory's MMA blocks and their places tell more than cells."""
    by_cta = options.color_by in (None, "thread")
    return (
        by_cta
        and replace(options, title=None, view=None, color_by=None, heat=False, part=False, max_cells=PLAIN.max_cells) == PLAIN
    )


def thread_of(thr: ThrMMA) -> int:
    """The number of the thread whose view it is."""
    vmnk = thr.tiled.thr_layout_vmnk
    return int(crd2idx(thr.thr_vmnk, vmnk.shape, vmnk.stride))


def _check_congruent(atom: MMA_Atom) -> None:
    """Refuse an atom with a layout whose stride is nested otherwise than its shape: no coordinate has a value."""
    for x in "ABC":
        layout = atom.layout(x)
        if not same_profile(layout.shape, layout.stride):
            raise FigureError(
                f"the {x} layout of {atom.name or 'this atom'}, {layout}, has a stride whose nesting differs from its shape",
                hint="CuTe defines it this way, and cannot evaluate it either; `operand=` picks another operand",
            )


def _map(tiled: TiledMMA, operand: str, layout: Layout, options: FigureOptions) -> TVMap:
    """The evaluated layout; the tile of B is drawn transposed, K down and N across."""
    threads, values = (size(get(layout, n)) for n in (0, 1))
    rows, cols = operand_tile(tiled, operand)
    of_threads = get(layout, 0)
    alike = isinstance(of_threads, Layout) and not any(stride for extent, stride in flat_modes(of_threads) if extent > 1)
    everyone = operand != "C" and alike and threads > NAMED and values == rows * cols
    what = f"the layout of operand {operand}, {threads} threads by {values} values,"
    check_cells(max(threads, values) if everyone else threads * values, what, options)
    real = frozenset(offsets(tiled.thr_layout_vmnk))
    indices = offsets(get(layout, 1) if everyone else layout)
    if operand == "C" and size(get(tiled.thr_layout_vmnk, 3)) > 1:
        indices = _shared_along_k(tiled, indices, threads)
    who = owner(tiled.atom.instruction)
    warp, row = tiled.atom.warp, lanes_of_a_row(tiled.atom)
    held = who == CTA or not (everyone or memory_of(tiled.atom.instruction, operand))
    if operand == "B":
        return TVMap(threads, values, cols, rows, indices, real, everyone, who, held, warp, row)
    return TVMap(threads, values, rows, cols, places_of(indices, rows, cols), real, everyone, who, held, warp, row)


def _shared_along_k(tiled: TiledMMA, indices: list[int], threads: int) -> list[int]:
    """The places of C with atoms along K: those of one row of such atoms hold partial sums of the same elements. CuTe's
    get_layoutC_TV runs out of the tile there; each thread is given the places of the one at the beginning of its row."""
    vmnk = tiled.thr_layout_vmnk
    first = list(range(threads))
    for t in range(min(threads, size(vmnk))):
        v, m, n, _ = modes(get_flat_coord(vmnk, t))
        first[t] = int(crd2idx((v, m, n, 0), vmnk.shape, vmnk.stride))
    return [indices[first[k % threads] + k // threads * threads] for k in range(len(indices))]


def _atom_extents(tiled: TiledMMA, operand: str) -> tuple[int, int]:
    """Rows and columns of one atom in the panel, where its tile is not permuted."""
    i, j = OPERANDS[operand]
    extents = []
    for mode in (i, j):
        given = permutation(tiled, mode)
        plain = given is X or isinstance(given, int)
        extents.append(product(tiled.atom.shape_mnk[mode]) if plain else 0)
    return (extents[1], extents[0]) if operand == "B" else (extents[0], extents[1])


def _size(atom: MMA_Atom, operand: str, rows: int, cols: int) -> str:
    """Rows and columns of a panel, in words, with the blocks that stand in it side by side."""
    if atom.blocks == 1:
        return ("stored as " if operand == "A" and atom.stored > 1 else "") + f"{rows} × {cols}"
    one = (rows // atom.blocks, cols) if operand == "B" else (rows, cols // atom.blocks)
    return f"{atom.blocks} blocks of {one[0]} × {one[1]}"


def lanes_of_a_row(atom: MMA_Atom) -> int:
    """The lanes of a wider wave that hold a row of C together; 1 where a wave has 32 lanes or fewer, whose lanes are
    distinguished."""
    if atom.warp[0] <= WARP[0] or size(atom.thr_id) != atom.warp[0]:
        return 1
    extent, _ = flat_modes(atom.layout_c[0])[0]
    return int(extent) if extent < atom.warp[0] else 1


def _block_extents(atom: MMA_Atom, operand: str) -> tuple[int, int]:
    """Rows and columns of a block in the panel of an instruction of several, whose borders are drawn; 0 of one alone."""
    if atom.blocks == 1:
        return (0, 0)
    rows, cols = atom.held(operand)
    return (cols // atom.blocks, rows) if operand == "B" else (rows, cols // atom.blocks)


def _by_block(panel: Panel, operand: str, blocks: int) -> Panel:
    """The panel of an instruction of several blocks, its ruler of K with the block and the k of each, as `block 1, k 0`."""
    if blocks == 1:
        return panel
    old = panel.row_ruler if operand == "B" else panel.col_ruler
    deep = len(old.labels) // blocks
    ruler = replace(
        old, title=f"block of {deep} k", labels=tuple([str(n // deep) if n % deep == 0 else "" for n in range(len(old.labels))])
    )
    return replace(panel, row_ruler=ruler) if operand == "B" else replace(panel, col_ruler=ruler)


def _core(atom: MMA_Atom, operand: str, memory: str) -> tuple[int, int] | None:
    """Rows and columns of a core matrix of wgmma's operand in shared memory in its panel; None of others.

    PTX ISA, "Asynchronous warpgroup level matrix shared memory layout"; of an operand that is MN-major, which has 16-bit elements,
    8 x 16 bytes are 8 x 8 both ways.
    """
    if memory != SHARED or owner(atom.instruction) == CTA or len(atom.types) < 3:
        return None
    run = 128 // bits_of(atom.types["AB".index(operand)])
    return (run, 8) if operand == "B" else (8, run)


def _with_offsets(panel: Panel, operand: str, core: tuple[int, int]) -> Panel:
    """A panel of wgmma's operand with a box for each core matrix, and where it begins: SBO along M and N, LBO along K.
    cute/atom/mma_traits_sm90_gmma.hpp, `make_gmma_desc`, LayoutType::INTERLEAVE of both majors."""
    labels, boxes = list(panel.labels), []
    for row, col in itertools.product(range(0, panel.rows, core[0]), range(0, panel.cols, core[1])):
        at = row // core[0], col // core[1]
        outer, k = at[::-1] if operand == "B" else at
        parts = [f"+{n if n > 1 else ''}{name}" for n, name in ((outer, "SBO"), (k, "LBO")) if n]
        labels[row * panel.cols + col] = "\n".join(parts) or "+0"
        boxes.append((row, col, min(row + core[0], panel.rows), min(col + core[1], panel.cols)))
    return replace(panel, labels=tuple(labels), boxes=tuple(boxes))


def _role(atom: MMA_Atom, operand: str) -> str:
    kinds = dict(zip("ABCD", atom.types, strict=False))
    kind = f" of {kinds[operand]}" if operand in kinds else ""
    return f"{kind}, accumulator" if operand == "C" else kind


def _memory(atom: MMA_Atom, operand: str, tv_map: TVMap) -> str:
    """Where an operand lies that no thread holds; of an atom without a name, what an operand that all threads see whole means."""
    return memory_of(atom.instruction, operand) or (SHARED if tv_map.everyone and size(atom.thr_id) > 1 else "")


def _notes(operand: str, tv_map: TVMap, owners: list[list[int]], memory: str) -> list[str]:
    """For an operand in memory, how the instruction reaches it; else cells without an owner and shared cells."""
    if tv_map.everyone and tv_map.real is not None and not memory:
        return [f"{operand} is seen whole by all {len(tv_map.real)} threads."]
    if memory:
        how = ", which the instruction reads through a descriptor" if memory == SHARED else ""
        return [f"{operand} lies in {memory}{how}: no thread holds a part of it."]
    return ownership_notes(tv_map.rows * tv_map.cols, owners, tv_map.values, f"{operand}: ", named=True)


def _fact(operand: str, tv_map: TVMap, memory: str) -> tuple[str, int | str]:
    """How many values a thread holds of an operand, or where it lies."""
    return (f"{operand} in", memory) if memory else (f"values of {operand}", tv_map.values)


def _source(tiled: TiledMMA, single: bool) -> str:
    name = tiled.atom.name or "MMA_Atom"
    if single:
        return name
    return f"{name}, ThrLayoutVMNK {tiled.thr_layout_vmnk}, PermutationMNK {show(tiled.permutation_mnk)}"


def _drawn(tiled: TiledMMA, operands: str) -> dict[str, str]:
    """What CuTe's printers write above their pictures: the TV layouts of coordinate tensors."""
    out = {"drawn tile": show(mark_static(tile_shape(tiled)))}
    for x in operands:
        try:
            tv = layout_tv(tiled, x, make_identity_layout(operand_tile(tiled, x)))
        except AlgebraError:
            return {}
        out[f"drawn {x}"] = f"ArithTuple(_0,_0) o {mark_static(tv)}"
    return out
