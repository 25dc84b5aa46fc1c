"""Copy atoms and TiledCopy: who reads which element of the source, and who writes which of the destination."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from cute_viz.algebra.common import WARP
from cute_viz.algebra.construct import make_identity_layout
from cute_viz.algebra.copy import Copy_Atom, CopyOp, ThrCopy, TiledCopy, layout_in_tile, make_copy_atom, spanned_tile
from cute_viz.algebra.inttuple import product, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import cosize, size
from cute_viz.algebra.modes import get
from cute_viz.algebra.recast import recast_layout
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.table import offsets
from cute_viz.algebra.views import atom_of
from cute_viz.errors import AlgebraError
from cute_viz.figures.findings import of_owners
from cute_viz.figures.highlight import highlight_notes, owners_of, paint_held
from cute_viz.figures.memory import CTA, memory_of, owner
from cute_viz.figures.model import Figure, Paint, Panel
from cute_viz.figures.options import FigureOptions, check_cells, left_out, operands
from cute_viz.figures.owners import LISTED, TVMap, ownership_notes, places_of, replicas, tile_panel
from cute_viz.spelling import count
from cute_viz.values.instruction import Instruction
from cute_viz.values.types import SPACES

# movmatrix.m8n8.trans of 16-bit elements, (thread, bit) -> bit of the matrix, row by row (PTX ISA); CuTe's traits have the identity
TRANSPOSED, HALF = Layout(((4, 8), (16, 2)), ((256, 16), (1, 128))), 16
SIDE_BY_SIDE = 32  # columns up to which source and destination stand next to each other
_SIDES = {"S": "source", "D": "destination"}
_NAMES = {"S": "source: who reads", "D": "destination: who writes"}
_MATRIX = {"ldmatrix": "SD", "stmatrix": "DS"}  # whose lanes read or write for each other: the sides of addresses and of registers
_EXCHANGES = ("movmatrix", "shfl")  # from registers to those of other threads
_EXCHANGE = {"S": "source: who gives", "D": "destination: who gets"}
_LANES = {"S": "tensor memory: the register that each value comes from", "D": "tensor memory: the register that each value goes to"}
CAPTION = "Each cell shows its owner T,V: value V of thread T, which moves it"
CTA_CAPTION = "Each cell shows the CTA whose part of the copy moves the element, and the number V of the element in that part"


def copy(obj: Copy_Atom | CopyOp | TiledCopy | ThrCopy, options: FigureOptions) -> Figure:
    r"""The figure of a copy atom, a TiledCopy, or one thread's view of it. Raises: FigureError for a side that a copy does not
    have; LimitError for more cells than the options allow."""
    if isinstance(obj, ThrCopy):
        options = replace(options, thread=options.thread or range(obj.thr_idx, obj.thr_idx + 1))
        obj = obj.tiled
    obj = as_run(obj)
    if isinstance(obj, CopyOp):
        obj = _of_words(obj)
    wide = _vector(obj)
    if isinstance(obj, Copy_Atom) and wide > 1:
        obj = replace(obj, layout_src=(vector := Layout((1, wide), (0, 1))), layout_dst=vector)
    asked = options.operand
    if isinstance(obj, Copy_Atom) and options.heat and options.operand is None and obj.instruction.lanes:
        # the rows of the registers' panel are its lanes
        options = replace(options, operand="S" if memory_of(obj.instruction, "D") else "D")
    sides = operands(options.operand, "SD", "a copy has the sides S (source) and D (destination)")
    tile = spanned_tile(obj) if isinstance(obj, TiledCopy) else ()
    maps = _tile_maps(obj, tile, sides, options) if isinstance(obj, TiledCopy) else _atom_maps(obj, sides, options)
    owners = dict(zip(sides, owners_of([maps[x] for x in sides], options), strict=True))
    atom = atom_of(obj)
    op = atom.instruction
    memory = {x: where for x in sides if (where := memory_of(op, x))}
    cells, painting = paint_held(maps, owners, memory, options)
    beside = maps[sides[0]].cols <= SIDE_BY_SIDE
    titles = ("M", "N")
    if not isinstance(obj, TiledCopy) and (memory or op.lanes):
        titles = ("lane", "value of the lane") if op.lanes else ("row", "value")
    if op.kind == "movmatrix":
        titles = ("row", "column")
    panels = [
        tile_panel(
            maps[x],
            owners[x],
            cells[x],
            options,
            _heading(x, memory, op, len(sides) == 1),
            titles,
            place,
            named=0 < replicas(owners[x]) <= LISTED,
        )
        for x, place in zip(sides, [(0, 0), (0, 1) if beside else (1, 0)], strict=False)
    ]
    notes = _notes(sides, maps, owners, memory, op) + highlight_notes(options, owner(op))
    if asked and len(sides) == 1 and not options.part:
        other = "S" if sides == "D" else "D"
        notes += left_out({f"the {_SIDES[other]}": SPACES[op.home(other)] if op.memory else ""})
        notes += [f"Threads give the addresses of the rows of the {_SIDES[other]}."] * _addresses(op, other)
    if len(tile) > 2:
        notes = [*notes, f"A row has the {product(tile[2:])} slices of {tile[1]} columns of the tile {show(tile)} side by side."]
    first = maps[sides[0]]
    name = atom.name or "copy atom"
    kind = atom.value_type or f"{atom.bits}-bit values"
    shape = f"{first.rows} × {first.cols} {'tile' if isinstance(obj, TiledCopy) else 'values'}"
    if not isinstance(obj, TiledCopy) and "matrix" in op.kind and first.cols == 8 and first.rows % 16 == 0:
        shape = f"{first.rows // 8} matrices of 8 × 8 values"
    of_ctas = owner(op) == CTA
    holders = count(first.threads, "CTA" if of_ctas else "thread")
    whole = f"{name}, {kind}: {holders} over {shape}"
    one = options.thread.start if options.thread is not None and len(options.thread) == 1 else None
    homes = op.home("S"), op.home("D")
    stores = "S" in sides and homes[0] == "rmem" != homes[1]  # it is the registers that tell who has what
    verb = "stores" if stores else "gets" if homes[1] == "rmem" != homes[0] and "D" in sides else "moves"
    told = of_owners(panels[0 if stores else -1], "", one, verb, options.value) if not of_ctas else ""
    if op.kind in _EXCHANGES and len(sides) == 2 and one is None and options.value is None:
        words = [of_owners(panel, "", None, verb) for panel, verb in zip(panels, ("gives", "gets"), strict=True)]
        if all(words) and words[0].removeprefix("Each thread gives ") != (gets := words[1].removeprefix("Each thread gets ")):
            told = f"{words[0]} and gets {gets}"
    if "zfill" in op.words and told and options.value is None:
        told = f"{told}, or writes zeros"
        painting = replace(painting, paints=(*painting.paints, Paint(-1)))
        panels.append(_zeros(panels[-1], len(painting.paints) - 1))
    if wide > 1:
        told = f"copy() moves up to {wide} elements at once, where both layouts allow"
        notes.append(
            "The traits have one element; copy() takes the longest vector that source, destination and alignment share: drawn is "
            f"the longest of all, {wide} elements."
        )
    title = options.title or told or whole
    caption = CTA_CAPTION if of_ctas else CAPTION
    mute = whole * (title != whole)
    caption = f"{caption} ({whole})" if mute else caption
    source = (
        f"TiledLayout_TV {obj.layout_tv}, Tiler_MN {show(obj.tiler_mn)}"
        if isinstance(obj, TiledCopy)
        else f"Src {obj.layout_src}, Dst {obj.layout_dst}"
    )
    values = dict((f"{x} in", memory[x]) if x in memory else (f"values of {x}", maps[x].values) for x in sides)
    facts = {"CTAs" if of_ctas else "threads": first.threads, **values, "bits of a value": atom.bits}
    if not isinstance(obj, TiledCopy) and "matrix" in op.kind and first.cols == 8 and first.rows in (8, 32):
        facts["matrices of 8 × 8"] = first.rows // 8
    drawn = _drawn(obj, sides) if isinstance(obj, TiledCopy) else {}
    return painting.figure("copy", (title, source, caption), panels, notes, {**facts, **drawn}, mute)


def as_run(obj: CopyOp | Copy_Atom | TiledCopy) -> CopyOp | Copy_Atom | TiledCopy:
    """An atom as the hardware runs it: movmatrix transposes, where CuTe's traits have the identity; any other as it is."""
    if isinstance(obj, TiledCopy) or obj.instruction.kind != "movmatrix":
        return obj
    if isinstance(obj, CopyOp):
        return replace(obj, dst=TRANSPOSED)
    return replace(obj, layout_dst=recast_layout(TRANSPOSED, 1, obj.bits)) if obj.bits <= HALF else obj


def _vector(obj: Copy_Atom | TiledCopy) -> int:
    """How many elements copy() moves at once at most, by the alignment that an atom is told to assume; 0 of other atoms."""
    if isinstance(obj, TiledCopy) or obj.instruction.kind != "auto":
        return 0
    return int(obj.instruction.arguments.get("align", 0)) // obj.bits


def _of_words(op: CopyOp) -> Copy_Atom:
    """An instruction alone, in its own elements, or the widest words up to 16 bits that it keeps together."""
    plain = replace(op, of_bits=None)
    if op.instruction.matrices:
        return make_copy_atom(plain, 16 if op.instruction.opcode.endswith(".b16") else 8)
    for bits in (16, 8) if max(cosize(op.src), cosize(op.dst)) % 16 == 0 else ():
        with suppress(AlgebraError):
            return make_copy_atom(plain, bits)
    return make_copy_atom(plain, 1)


def _tile_maps(tiled: TiledCopy, tile: tuple[int, ...], sides: str, options: FigureOptions) -> dict[str, TVMap]:
    rows, cols = tile[0], int(product(tile[1:]))  # further modes go on to the right
    check_cells(rows * cols, f"the {rows} x {cols} tile", options)
    out = {}
    for x in sides:
        layout = layout_in_tile(tiled, x, Layout(tile))
        threads, values = (size(get(layout, n)) for n in (0, 1))
        check_cells(threads * values, f"the {x} layout", options)
        places, warp = places_of(offsets(layout), rows, cols), options.wave or tiled.atom.warp
        out[x] = TVMap(threads, values, rows, cols, places, who=owner(tiled.atom.instruction), warp=warp)
    return out


def _atom_maps(atom: Copy_Atom, sides: str, options: FigureOptions) -> dict[str, TVMap]:
    """An atom's values in the order in which its wider side holds them: a row for each of that side's threads. In a copy between
    registers and tensor memory a row is a lane of tensor memory, whose values follow each other in CuTe's order."""
    layouts = {"S": atom.layout_src, "D": atom.layout_dst}
    total = max(cosize(layout) for layout in layouts.values())
    cols = max(size(get(layout, 1)) for layout in layouts.values())
    cols = cols if total % cols == 0 and cols <= 256 else min(total, 64)
    if atom.instruction.kind == "movmatrix":
        cols = total // 8  # a row of the matrix, of 16 bytes
    rows = -(-total // cols)
    if (deep := atom.instruction.lanes) and total % deep == 0:
        rows, cols = deep, total // deep
    out = {}
    for x in sides:
        threads, values = (size(get(layouts[x], n)) for n in (0, 1))
        check_cells(threads * values, f"the {x} layout", options)
        whole = bool(deep) and bool(memory_of(atom.instruction, x)) and values == total
        places = offsets(get(layouts[x], 1) if whole else layouts[x])
        warp = options.wave or atom.warp
        out[x] = TVMap(threads, values, rows, cols, places, everyone=whole, who=owner(atom.instruction), held=not whole, warp=warp)
    return out


def _heading(side: str, memory: dict[str, str], op: Instruction, alone: bool) -> str:
    """What a panel shows: who reads or writes, or the memory that no thread holds."""
    if op.kind in _EXCHANGES:
        return _EXCHANGE[side]
    if op.kind in _MATRIX and side not in memory:
        return f"{_NAMES[side].partition(':')[0]}: who {'gives the address' if _addresses(op, side) else 'holds it'}"
    if alone and op.lanes and side not in memory:
        return _LANES[side]
    return f"{_NAMES[side].partition(':')[0]}: {memory[side]}" if side in memory else _NAMES[side]


def _zeros(panel: Panel, paint: int) -> Panel:
    """What cp.async writes where the predicate is false: src-size is 0, so that nothing is read (PTX ISA, cp.async)."""
    cells, (row, col) = len(panel.paints), panel.place
    words, place = "predicate false: nothing is read, zeros are written", (row, col + 1) if col else (row + 1, 0)
    return replace(panel, caption=words, labels=("0",) * cells, paints=(paint,) * cells, boxes=(), owners=(), data={}, place=place)


def _addresses(op: Instruction, side: str) -> bool:
    """Whether the threads give the addresses of rows on a side, and have other elements in their registers."""
    return _MATRIX.get(op.kind, "").startswith(side)


def _notes(
    sides: str, maps: dict[str, TVMap], owners: dict[str, list[list[int]]], memory: dict[str, str], op: Instruction
) -> list[str]:
    names = {"S": "Source: ", "D": "Destination: "}
    notes = []
    for x in sides:
        copies = replicas(owners[x])
        if _addresses(op, x) and copies and copies * op.matrices * 8 == WARP[0]:  # PTX ISA, ldmatrix: threads 0 to 7 of .x1
            notes.append(f"{names[x]}each address is given by {copies} threads; the instruction uses that of the lowest.")
        elif maps[x].held:
            notes += ownership_notes(maps[x].rows * maps[x].cols, owners[x], maps[x].values, names[x], named=True)
    notes += [f"{names[x]}{memory[x]}, which the threads of the warp reach together." for x in memory if not maps[x].held]
    if (
        len(sides) == 2
        and "zfill" not in op.words
        and maps["S"].places == maps["D"].places
        and maps["S"].values == maps["D"].values
    ):
        notes.append("Source and destination are alike: each thread writes what it reads.")
    return notes


def _drawn(tiled: TiledCopy, sides: str) -> dict[str, str]:
    """What print_latex writes above its picture: the TV layouts of a coordinate tensor of the tile."""
    tile = spanned_tile(tiled)
    out = {}
    for x in sides:
        try:
            out[f"drawn {x}"] = f"ArithTuple(_0,_0) o {mark_static(layout_in_tile(tiled, x, make_identity_layout(tile)))}"
        except AlgebraError:
            return {}
    return out
