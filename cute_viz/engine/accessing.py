"""Who accesses a tile and how: every instruction of it, and the costliest as what its picture needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cute_viz.algebra.composed import AnyLayout, domain, pointer_bits, position_independent, swizzle_of
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.table import offsets
from cute_viz.analysis.access import accesses, element_bits, extents_of
from cute_viz.analysis.banks import memory_of
from cute_viz.analysis.patterns import UNITS, named_accesses, usual_bits
from cute_viz.errors import UsageError
from cute_viz.figures.access import Accessed
from cute_viz.options.words import read

# the map of banks over the wavefronts; a row a wavefront; a frame a wavefront, lanes joined to banks; the part of the tile
DRAWN = ("access", "phases", "frames", "tile")
_UNCOUNTED = "No document gives the order in which {} serves its {}: the picture shows their banks, and counts no wavefronts."
_ASYNC = "Counted as st.{}, as if the lanes of a phase read one line of global memory; else it takes more."


@dataclass(frozen=True, slots=True)
class Accessor:
    """Who accesses a tile and how, in words of the command line.

    by: a TiledCopy, a TiledMMA with its operand, a TV layout; None for the facts of the layout alone. element: the type; None for
    that of `by`, or of the layout's pointer. instruction: instead of the one that follows. store: the tile is written.
    sectors: global memory: sectors and lines in the place of banks. arch: the machine, where its waves are of their own.
    draw: of `DRAWN`, the picture of the costliest step, or of the one that `step` counts to. thread, wavefront: what the picture of
    the tile lights.
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
    step: int | None = None


def plain_of(layout: AnyLayout) -> Layout | None:
    """A swizzled layout without its swizzle; None where there is none."""
    return None if swizzle_of(layout) is None else domain(layout)


def width_of(layout: AnyLayout, access: Accessor, bits: int | None) -> int:
    """The width of a tile's elements in bits: given, of what accesses it, or 16 of what moves 16 bytes a lane."""
    if not isinstance(access.by, str):
        return element_bits(layout, access.by, operand=access.operand, given=bits)
    return element_bits(layout, given=bits or pointer_bits(layout) or usual_bits(access.by))


def found_of(layout: AnyLayout, access: Accessor, bits: int | None) -> list[Any]:
    """Every instruction of every warp that accesses a tile, or that a pattern makes of it."""
    memory = None if access.sectors else memory_of(access.arch)
    if isinstance(access.by, str):
        return named_accesses(layout, access.by, width_of(layout, access, bits), access.store, memory)
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


def accessed(layout: AnyLayout, access: Accessor) -> tuple[Accessed, ...]:
    """The costliest access of a tile, for its picture, or the one of `step`; of a swizzled tile that of the plain one first.

    access: its `by` may be the name of an instruction, of which each lane has a row of the tile, or one of `UNITS`.
    """
    plain = plain_of(layout)
    named = isinstance(access.by, str)
    if named and access.operand is not None:
        raise UsageError(f"`operand=` applies to an MMA, not to {access.by}")
    bits = read("type", access.element)
    unit = access.by if named and access.by in UNITS else ""
    size = width_of(layout, access, bits)
    if size % 8:
        raise UsageError("the picture of an access needs elements of whole bytes")
    tiles = [layout] if plain is None else [plain, layout]
    steps = [found_of(tile, access, size) for tile in tiles]
    worst = access.step if access.step is not None else max(range(len(steps[0])), key=lambda n: steps[0][n].wavefronts)
    out = []
    for name, tile, found in zip(("plain", "swizzled") if len(tiles) > 1 else ("",), tiles, steps, strict=True):
        one = found[worst] if worst < len(found) else max(found, key=lambda a: a.wavefronts)
        rows, _ = extents_of(tile)
        where: dict[int, tuple[int, int]] = {}
        for index, offset in enumerate(offsets(position_independent(tile))):
            where.setdefault(offset * size // 8, (index % rows, index // rows))
        served = {lane for phase in one.phases() for lane in phase.lanes}
        lanes = {lane: byte for lane, byte in enumerate(one.begins) if lane in served}
        what = "chunks" if unit == "tma" else "rows" if "matrix" in one.instruction else "words"
        down = next((x[1] == y[1] for x, y in [(where.get(0), where.get(size // 8))] if x is not None and y is not None), False)
        called = access.by if unit or (named and access.by.startswith("cp")) else one.called
        said = _UNCOUNTED.format(unit, what) if unit else _ASYNC.format(8 * one.width) if called.startswith("cp") else ""
        letter = unit and what[0]
        made = Accessed(
            name, show(tile), where, lanes, one.width, one.phases(), one.ideal, letter or "T", what, called, size // 8, down, said
        )
        out.append(made)
    return tuple(out)
