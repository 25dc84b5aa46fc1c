"""Who asks shared memory for what: the warp-wide accesses that a copy, an MMA operand or a TV layout makes of a tile.

The tile's layout gives element offsets; the element type turns them into bytes; the accessing object gives, for each
thread, its values in order. Values that lie next to each other go into one instruction, as wide as the object allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from typing import Any

from cute_viz.algebra.composed import AnyLayout, as_layout, domain, pointer_bits, position_independent
from cute_viz.algebra.copy import Copy_Atom, TiledCopy, layout_sd, tile_of
from cute_viz.algebra.inttuple import modes, product, show
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, TiledMMA, as_tiled_mma, layout_tv, tile_shape
from cute_viz.algebra.modes import get
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tma import TmaCopy
from cute_viz.algebra.views import atom_of, tiled_of
from cute_viz.analysis.banks import ACCESSES, BANKS, LANES, REDUCTIONS, REMOTE, WORD, Phase, SharedMemory, ideal_wavefronts, phases
from cute_viz.analysis.lanes import WIDTHS, fixed_name, warp_instructions, whole_bytes
from cute_viz.errors import AlgebraError
from cute_viz.limits import limit, over
from cute_viz.values.types import bits_of

STORES = (*[access for access in ACCESSES if access.startswith("st")], *REMOTE, *REDUCTIONS)
MODES = "each of its modes is free of conflicts, and a tile in another mode gives it other elements: incorrect, not merely slow"
BOX = (
    "one thread copies a box of a tensor, which no warp accesses: its swizzles are free of conflicts, and a tile in another mode is"
    " filled with other elements: incorrect, not merely slow"
)
_TURN = BANKS * WORD  # bytes after which the banks begin again


@dataclass(frozen=True, slots=True)
class WarpAccess:
    """One instruction of one warp: 32 byte addresses (row addresses of ldmatrix and stmatrix), and the active lanes.

    memory: of a machine with waves of its own, whose lanes have an address each.

    step: which instruction of the warp it is, from 0. begins, width: where the bytes of each lane begin, and how many there are;
    of elements smaller than a word, for which banks serve the word at `addresses`, these are the bytes of the element. value: the
    number of the first of each lane's values that it moves.
    """

    warp: int
    step: int
    instruction: str
    addresses: tuple[int, ...]
    mask: int
    begins: tuple[int, ...]
    width: int
    memory: SharedMemory | None = None
    value: int = 0

    @property
    def called(self) -> str:
        """The instruction by the bits of a lane, `ld.16`, of which banks serve the word around them."""
        if self.width >= WORD:
            return self.instruction
        narrow = self.instruction.replace("read_b", "read_u")  # ds_read_u16, but ds_write_b16
        return f"{narrow.removesuffix('32')}{8 * self.width}"

    def phases(self) -> list[Phase]:
        """The phases in which it is served."""
        return phases(self.addresses, self.instruction, self.mask, self.memory)

    @property
    def wavefronts(self) -> int:
        """What it costs."""
        return self._counted()[0]

    @property
    def ideal(self) -> int:
        """What it would cost without a conflict."""
        return self._counted()[1]

    def _counted(self) -> tuple[int, int]:
        if self.memory is not None:
            return _counted.__wrapped__(self.addresses, self.instruction, self.mask, self.memory)
        begin = max(0, min(self.addresses)) // _TURN * _TURN  # as near to 0 as the banks let it be
        return _counted(tuple([place - begin for place in self.addresses]), self.instruction, self.mask)


@lru_cache(maxsize=1 << 12)
def _counted(addresses: tuple[int, ...], instruction: str, mask: int, memory: SharedMemory | None = None) -> tuple[int, int]:
    """Wavefronts, and those without a conflict: kept, as the warps of a kernel and the layouts tried for it ask again and again."""
    cost = sum(phase.wavefronts for phase in phases(addresses, instruction, mask, memory))
    return cost, ideal_wavefronts(addresses, instruction, mask, memory)


def accesses(
    smem: AnyLayout,
    bits: int | None,
    by: Any,
    *,
    instruction: str | None = None,
    operand: str | None = None,
    store: bool = False,
    memory: SharedMemory | None = None,
    space: str = "smem",
) -> list[WarpAccess]:
    """The accesses of a shared-memory tile.

    smem: (m, n) -> element offset. bits: of an element; None for that of `element_bits`. by: a TiledCopy (its source side, with
    `store` its destination), a TiledMMA (its `operand`), or a layout (thread, value) -> index into the column-major tile.
    instruction: one of banks.ACCESSES, instead of the one that follows from the copy atom and the layout; a store's name says
    `store`, too.

    space: where the tile is, smem or gmem; of a copy that reaches it on one side only, this is the side.

    Raises: AlgebraError for a copy that does not reach it, and for a tile that the accessing object, of two modes, does not divide;
    a tile of more elements than the limit `accesses`, or an access that touches more; elements whose size is not a power of 2
    bytes, or differs from the copy's values or the pointer's; an operand of an object that is not an MMA; and an instruction that
    reads where the tile is written, is wider than a lane's values, narrower than one, or needs another alignment.
    """
    known, lanes_ = (tuple(dict.fromkeys((*ACCESSES, *STORES))), LANES) if memory is None else (tuple(memory.groups), memory.lanes)
    if instruction is not None and instruction not in known:
        raise AlgebraError(f"there is no access {instruction!r}", hint=f"accesses: {', '.join(known)}")
    if instruction is not None and instruction.startswith(("ld", "ds_read")) and store:
        raise AlgebraError(f"{instruction} reads, and the tile is written", hint=f"a store is one of {', '.join(STORES)}")
    store = store or instruction in STORES or (instruction or "").startswith("ds_write")
    copy = tiled_of(by)
    if instruction is None and isinstance(copy, TiledCopy) and (reached := copy.atom.instruction.memory):
        store = store or reached[0] != space == reached[1]  # cp.async writes the tile, which nobody has to say
        copy.atom.instruction.check_reach(*(("", space) if store else (space, "")))
    smem = as_layout(smem)
    extents = extents_of(smem)
    tv, tile, count, wanted = _view(by, extents, operand, store)
    bits = element_bits(smem, by, operand=operand, given=bits)
    if bits & (bits - 1) or bits > max(WIDTHS):
        hint = f"recast the layout to elements of 1, 2, 4, 8, 16, 32, 64 or {max(WIDTHS)} bits"
        raise AlgebraError(f"elements of {bits} bits cannot be moved by a single instruction", hint=hint)
    smem = position_independent(smem)
    if len(tile) != 2:
        raise AlgebraError(
            f"the tile {show(tile)} of the access is of rank {len(tile)}", hint="a shared-memory tile has two, (m,n)"
        )
    if any(whole % part for whole, part in zip(extents, tile, strict=True)):
        raise AlgebraError(f"the tile {show(tile)} of the access does not divide the shared-memory tile {show(extents)}")
    if memory is not None and wanted is not None:
        raise AlgebraError(
            f"{wanted} is not an instruction of this GPU", hint="leave out `arch=`, or give a layout of threads and values"
        )
    fixed = fixed_name(tiled_of(by)) if instruction is None and memory is None else ""
    instruction = instruction or wanted
    threads, values = (size(get(tv, n)) for n in (0, 1))
    repeats = product(extents) // product(tile)
    if threads * values * repeats > limit("accesses"):
        raise over("accesses", f"the access touches {threads * values * repeats} elements")
    if product(extents) > limit("accesses"):  # each has a row in the table below, touched or not
        raise over("accesses", f"the shared-memory tile has {product(extents)} elements", instead="give the layout of one tile")
    table = [offset * bits for offset in offsets(smem)]  # by index into the column-major tile
    places = offsets(tv)
    for n, place in enumerate(places):
        if not isinstance(place, int) or not 0 <= place < product(tile):
            raise AlgebraError(
                f"value {n // threads} of thread {n % threads} is at {show(place)}, outside the {tile[0]} x {tile[1]} tile",
                hint="the layout of an access maps (thread, value) to an index into the column-major tile, 0 and up",
            )
    out: list[WarpAccess] = []
    steps = dict.fromkeys(range(-(-threads // lanes_)), 0)
    for row0 in range(0, extents[0], tile[0]):
        for col0 in range(0, extents[1], tile[1]):
            where = [table[row0 + p % tile[0] + (col0 + p // tile[0]) * extents[0]] for p in places]
            rows, bytes_, each = whole_bytes([where[t::threads] for t in range(threads)], bits, store)  # in the order of values
            for warp in steps:
                lanes = rows[warp * lanes_ : (warp + 1) * lanes_]
                for n, found in enumerate(warp_instructions(lanes, bytes_, count // each, instruction, store, memory, fixed)):
                    out.append(WarpAccess(warp, steps[warp], *found, memory, n * found[-1] // bytes_ * each))
                    steps[warp] += 1
    return out


def element_bits(smem: AnyLayout, by: Any = None, *, operand: str | None = None, given: int | None = None) -> int:
    """The width of a tile's elements: given, else of the pointer of a flagged layout, of a TiledCopy's values, or of the operand
    that an MMA reads. Raises: AlgebraError where nothing says it, where the widths of the layout, the copy and the argument
    differ, for an MMA without an operand, and for an operand of unknown type. An MMA's operand may be stored as another type
    than it is multiplied as; the argument decides."""
    by = tiled_of(by)
    known = [("the given type", given)] if given is not None else []
    if (flagged := pointer_bits(smem)) is not None:
        known.append(("the pointer of the shared-memory layout", flagged))
    if isinstance(by, TiledCopy):
        known.append(("a value of the copy", by.atom.bits))
    for who, bits in known:
        if bits != known[0][1]:
            words = f"{known[0][0]} has {known[0][1]} bits, but {who} has {bits}"
            raise AlgebraError(words, hint="a tile has elements of one width: leave out the type, or give the right one")
    if known:
        return known[0][1]
    atom = atom_of(by)
    if isinstance(atom, MMA_Atom) and atom.types:
        which = atom.types["ABC".index(_operand(operand))]
        try:
            return bits_of(which)
        except AlgebraError as error:
            raise error.but(hint="give the width of an element: `type=`") from None
    raise AlgebraError("the width of an element is not known", hint="give the type of the elements: `type=`")


def extents_of(smem: AnyLayout) -> tuple[int, int]:
    """The rows and columns of a tile in memory; one mode is a column. Raises: AlgebraError for a layout of more than two modes,
    or of coordinates."""
    shape = modes(domain(smem).shape)
    if is_coordinate_layout(domain(smem)):
        raise AlgebraError(f"the values of {smem} are coordinates, not offsets in shared memory")
    if len(shape) > 2:
        raise AlgebraError(f"the layout {smem} has {len(shape)} modes", hint="give the layout of one tile, (m,n)")
    return product(shape[:1]), product(shape[1:])


def _view(
    by: object, extents: tuple[int, int], operand: str | None, store: bool
) -> tuple[Layout, tuple[int, ...], int, str | None]:
    """(TV layout, its tile, values of one atom, the instruction that the atom names) of what accesses the tile."""
    by = tiled_of(by)
    if operand is not None and not isinstance(by, (TiledMMA, MMA_Atom)):
        raise AlgebraError(f"only an MMA has an operand {operand}", hint="leave out the operand: a copy or a layout has one tile")
    if isinstance(by, TiledCopy):
        side = "D" if store else "S"
        layout = by.atom.layout_dst if store else by.atom.layout_src
        return layout_sd(by, side), tile_of(by), size(get(layout, 1)), instruction_of(by.atom, store)
    if isinstance(by, (TiledMMA, MMA_Atom)):
        tiled = as_tiled_mma(by)
        which = _operand(operand)
        op = tiled.atom.instruction
        if op.described(which):
            raise AlgebraError(
                f"{op.name} reads {which} through descriptors, and no warp accesses it: {MODES}",
                hint=f"`explain 'make_{'gmma' if op.kind == 'wgmma' else 'umma'}_desc<...>(tensor)'` shows which mode a tile is in",
            )
        m, n, k = tile_shape(tiled)
        tile = {"A": (m, k), "B": (n, k), "C": (m, n)}[which]
        tv = layout_tv(tiled, which)
        return tv, tile, size(get(tv, 1)), None
    if isinstance(by, TmaCopy):
        raise AlgebraError(f"{by.op.name}: {BOX}", hint="`explain` and `show` of the TMA show its box and its swizzle")
    by = as_layout(by)
    if isinstance(by, Layout) and by.rank in (1, 2):
        by = by if by.rank == 2 else Layout((by.shape, 1), (by.stride, 0))  # a value each
        return by, extents, size(get(by, 1)), None
    if isinstance(by, Copy_Atom):
        raise AlgebraError(
            "a copy atom does not cover a tile; tile it", hint="make a tiled copy of it: make_tiled_copy(atom, thr, val)"
        )
    raise AlgebraError(f"{show(by)} is not an access", hint="a TiledCopy, a TiledMMA with an operand, or a layout (thread, value)")


def _operand(operand: str | None) -> str:
    """The chosen operand of an MMA, in capitals. Raises: AlgebraError for anything but A, B and C."""
    which = (operand or "").upper()
    if which not in ("A", "B", "C"):
        asked = f"an MMA has no operand {operand} that has a layout" if operand else "the operand of the MMA is missing"
        raise AlgebraError(asked, hint="give `operand=A`, B or C")
    return which


def instruction_of(atom: Copy_Atom, store: bool) -> str | None:
    """The access that a copy atom's name stands for; None where the layout decides."""
    op = atom.instruction
    if not op.matrices or (op.kind == "stmatrix") != store:
        return None
    if "packed" in op.words:
        raise AlgebraError(f"{atom.name} reads rows of 16 elements with padding behind each, whose wavefronts were not measured")
    return op.access


@dataclass(frozen=True, slots=True)
class GlobalRequest:
    """One warp-wide request to global memory.

    sectors: distinct 32-byte sectors; lines: distinct 128-byte lines; efficiency: bytes asked for over bytes moved;
    alignment: the largest power of two, up to 128, that divides every address, in bytes.
    """

    sectors: int
    lines: int
    efficiency: float
    alignment: int


def global_request(addresses: Sequence[int], width: int, mask: int = 0xFFFFFFFF) -> GlobalRequest:
    """The sectors and lines of a request; width: bytes a lane."""
    active = [a for lane, a in enumerate(addresses) if mask >> lane & 1]
    touched = {byte for a in active for byte in range(a // 32, (a + width - 1) // 32 + 1)}
    asked = len({byte for a in active for byte in range(a, a + width)})
    efficiency = asked / (32 * len(touched)) if touched else 1.0
    return GlobalRequest(len(touched), len({s // 4 for s in touched}), efficiency, gcd(128, *active))
