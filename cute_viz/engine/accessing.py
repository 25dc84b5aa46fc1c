"""Who accesses a tile and how: every instruction of it, and the costliest as what its picture needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, domain, position_independent
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets
from cute_viz.analysis.access import WarpAccess, accesses, element_bits, extents_of
from cute_viz.analysis.banks import ACCESSES, LANES, width
from cute_viz.analysis.memories import memory_of
from cute_viz.analysis.swizzles import MATRICES
from cute_viz.errors import UsageError
from cute_viz.figures.access import Accessed
from cute_viz.options.words import read

# the map of banks over the wavefronts; a row a wavefront; a frame a wavefront, lanes joined to banks; the part of the tile
DRAWN = ("access", "phases", "frames", "tile")
UNITS = ("wgmma", "tcgen05", "tma")  # what accesses shared memory without lanes
ASYNC = {f"cp.async.{bits}": f"st.{bits}" for bits in (32, 64, 128)}  # what each writes as (PTX ISA: 4, 8 or 16 bytes a lane)
NAMED = (*UNITS, *ASYNC)
PATTERNS = (*MATRICES, "ldmatrix.x4", "stmatrix.x4", "rows", "column")  # as `find swizzle` has them, of a tile in any order


@dataclass(frozen=True, slots=True)
class Accessor:
    """Who accesses a tile and how, in words of the command line.

    by: a TiledCopy, a TiledMMA with its operand, a TV layout; None for the facts of the layout alone. element: the type; None for
    that of `by`, or of the layout's pointer. instruction: instead of the one that follows. store: the tile is written.
    sectors: global memory: sectors and lines in the place of banks. arch: the machine, where its waves are of their own.
    draw: of `DRAWN`, the picture of the costliest step. thread, wavefront: what the picture of the tile lights.
    """

    by: Any = None
    element: str | int | None = None
    instruction: str | None = None
    operand: str | None = None
    store: bool = False
    sectors: bool = False
    arch: str = ""
    draw: str = "phases"
    thread: range | None = None
    wavefront: int | None = None


def plain_of(layout: Any) -> Any:
    """A swizzled layout without its swizzle; None where there is none.

    >>> from cute_viz import parse
    >>> str(plain_of(parse("Sw<3,3,3> o 0 o (8,64):(64,1)")))
    '(8,64):(64,1)'
    """
    if isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle):
        return domain(layout)
    return None


def patterned(layout: Any, access: Accessor, bits: int | None) -> Accessor:
    """An access whose `by` is one of `PATTERNS`, by a layout of threads and values; any other as it is.

    A matrix instruction moves 16 bytes a lane, along the contiguous mode. Raises: UsageError where it does not fit the tile.

    >>> print(patterned(Layout((64, 64), (64, 1)), Accessor("ldmatrix"), 16).by)
    ((16,2),(8,(4,4))):((1,512),(64,(16,1024)))
    """
    if not isinstance(access.by, str):
        return access
    name, extents = access.by, extents_of(layout)
    if memory_of(access.arch) is not None:
        raise UsageError(f"`access={name}` is for waves of 32 threads", hint="give a layout (thread, value)")
    bits = element_bits(layout, None, given=bits or (16 if name in MATRICES or ".x" in name else None))
    if name in ("rows", "column"):
        strides = (1, extents[0]) if name == "column" else (extents[0], 1)
        sizes = extents if name == "column" else extents[::-1]
        lanes = min(LANES, sizes[0])
        far = sizes[1] // 2 if sizes[1] % 2 == 0 else 1  # one value is not beside the next, which a lane would move with it
        if sizes[0] % lanes or (far == 1 and sizes[1] == 2 and bits < 32):
            raise UsageError(f"{name} does not fit a tile of {extents[0]} x {extents[1]} elements of {bits} bits")
        values = (sizes[0] // lanes, (sizes[1] // far, far))
        by = Layout((lanes, values), (strides[0], (lanes * strides[0], (far * strides[1], strides[1]))))
        return replace(
            access,
            by=by,
            element=bits,
            instruction=access.instruction or (f"{'st' if access.store else 'ld'}.{bits}" if bits >= 32 else None),
        )
    table = offsets(position_independent(layout))
    strides = (1, extents[0]) if table[1:2] != [table[0] + 1] else (extents[0], 1)  # across the contiguous mode, along it
    down, across = MATRICES[name.removesuffix(".x4")]
    wide = 128 // bits
    sizes = extents if strides[0] == 1 else extents[::-1]
    if 128 % bits or sizes[0] % down or sizes[1] % (across * wide):
        raise UsageError(f"{name} does not fit a tile of {extents[0]} x {extents[1]} elements of {bits} bits")
    repeats = (sizes[0] // down, sizes[1] // (across * wide))
    steps = (down * strides[0], across * wide * strides[1])
    by = Layout(((down, across), (wide, repeats)), ((strides[0], wide * strides[1]), (strides[1], steps)))
    instruction = access.instruction or (name if ".x" in name else f"{name}.x4")
    return replace(access, by=by, element=bits, instruction=instruction)


def found_of(layout: Any, access: Accessor, bits: int | None) -> list[Any]:
    """Every instruction of every warp that accesses a tile.

    >>> from cute_viz.algebra.layout import Layout
    >>> len(found_of(Layout((8, 64), (64, 1)), Accessor(Layout((32, 16))), 16))
    16
    """
    memory = None if access.sectors else memory_of(access.arch)
    return accesses(
        layout,
        bits,
        access.by,
        instruction=access.instruction,
        operand=access.operand,
        store=access.store,
        memory=memory,
        space="gmem" if access.sectors else "smem",
    )


def accessed(layout: Any, access: Accessor) -> tuple[Accessed, ...]:
    """The costliest access of a tile, for its picture; of a swizzled tile that of the plain one first.

    access: its `by` may be the name of an instruction, of which each lane has a row of the tile, or one of `UNITS`.

    >>> from cute_viz.algebra.layout import Layout
    >>> [one.wavefronts for one in accessed(Layout((8, 64), (64, 1)), Accessor("ldmatrix.x1", "f16"))]
    [8]
    """
    plain = plain_of(layout)
    named = isinstance(access.by, str)
    if named and access.operand is not None:
        raise UsageError(f"`operand=` applies to an MMA, not to {access.by}")
    bits = read("type", access.element)
    size = element_bits(
        layout,
        None if named else access.by,
        operand=access.operand,
        given=bits or (16 if named and ("matrix" in access.by or access.by in NAMED) else None),
    )
    if size % 8:
        raise UsageError("the picture of an access needs elements of whole bytes")
    tiles = [layout] if plain is None else [plain, layout]
    steps = [[_by_name(tile, access.by, size)] if named else found_of(tile, access, size) for tile in tiles]
    worst = max(range(len(steps[0])), key=lambda n: steps[0][n].wavefronts)
    out = []
    for name, tile, found in zip(("plain", "swizzled") if len(tiles) > 1 else ("",), tiles, steps, strict=True):
        one = found[worst] if worst < len(found) else max(found, key=lambda a: a.wavefronts)
        rows, _ = extents_of(tile)
        where: dict[int, tuple[int, int]] = {}
        for index, offset in enumerate(offsets(position_independent(tile))):
            where.setdefault(offset * size // 8, (index % rows, index // rows))
        served = {lane for phase in one.phases() for lane in phase.lanes}
        lanes = {lane: byte for lane, byte in enumerate(one.begins) if lane in served}
        unit = access.by in UNITS if named else False
        what = "chunks" if access.by == "tma" else "rows" if "matrix" in one.instruction else "words"
        letter = "c" if unit and access.by == "tma" else "r" if unit else "T"
        down = next((x[1] == y[1] for x, y in [(where.get(0), where.get(size // 8))] if x is not None and y is not None), False)
        called = access.by if named and access.by in NAMED else one.instruction
        counted = _counted(called, what)
        made = Accessed(
            name, show(tile), where, lanes, one.width, one.phases(), one.ideal, letter, what, called, size // 8, down, counted
        )
        out.append(made)
    return tuple(out)


def _counted(called: str, what: str) -> str:
    """By which rule an access was counted that has none of its own; "" where it has."""
    if called in UNITS:
        return f"Counted as ldmatrix would be: no source gives the order in which {called} serves its {what}."
    if called in ASYNC:
        return f"Counted as {ASYNC[called]}, as if the lanes of a phase read one line of global memory; else it takes more."
    return ""


def _by_name(tile: Any, name: str, bits: int) -> WarpAccess:
    """The access of an instruction of which each lane has a row of the tile; the second matrix lies below the first, others beside.

    wgmma and tcgen05: the 8 rows of 16 bytes of a core matrix; tma: 4 rows of 128 bytes.
    """
    rows, cols = extents_of(tile)
    table = [offset * bits // 8 for offset in offsets(position_independent(tile))]
    down = cols == 1 or (rows > 1 and table[1] - table[0] == bits // 8)  # the tile is contiguous along its rows' number
    if down:
        rows, cols = cols, rows
    per = max(1, (16 if name in UNITS or "matrix" in name else width(ASYNC.get(name, name))) * 8 // bits)
    instruction = {"tma": "ldmatrix.x4", **ASYNC}.get(name, "ldmatrix.x1" if name in UNITS else name)
    if instruction not in ACCESSES:
        raise UsageError(f"there is no access {name!r}", hint=f"one of {', '.join((*NAMED, *ACCESSES))}")
    lanes = 8 * int(instruction.split(".")[1][1]) if "matrix" in instruction else LANES
    band = min(rows, 16 if "matrix" in name else LANES)
    begins = []
    for lane in range(lanes):
        r, c = (lane // 8, lane % 8) if name == "tma" else (lane % band, lane // band)
        if r >= rows or c * per + per > cols:
            raise UsageError(f"{name} does not fit a tile of {rows} x {cols} elements of {bits} bits")
        begins.append(table[c * per + r * cols] if down else table[r + c * per * rows])
    wide = width(instruction)
    begins = [byte // wide * wide if byte % wide else byte for byte in begins]
    whole = (*begins, *[0] * (LANES - lanes))
    return WarpAccess(0, 0, instruction, whole, (1 << lanes) - 1, whole, wide)
