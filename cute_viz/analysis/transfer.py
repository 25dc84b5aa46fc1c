"""What an operation of Triton costs: the instructions that it becomes, their wavefronts, and why they are not wider."""

from __future__ import annotations

from collections.abc import Iterator

from cute_viz.algebra.transfer import Transfer
from cute_viz.analysis.access import WarpAccess
from cute_viz.analysis.banks import FULL, LANES, SharedMemory, memory_of
from cute_viz.analysis.cost import Cost, meeting
from cute_viz.analysis.lanes import warp_instructions, whole_bytes
from cute_viz.errors import AlgebraError
from cute_viz.limits import limit, over

_MATRIX = 16  # bytes of a row of ldmatrix


def cost_of(move: Transfer) -> Cost:
    """The cost of an operation for a thread block. Raises: AlgebraError for a machine whose phases are not documented. Triton
    widens an access to as many registers as lie together and aligned in memory, up to 128 bits, and takes ldmatrix and stmatrix
    where lanes and registers are those of 8x8 matrices (lib/Conversion/TritonGPUToLLVM, TritonNVIDIAGPUToLLVM)."""
    if move.kind in ("issued", "convert"):
        why = (move.why,) if move.why else ()
        return Cost(move.name, move.elements, move.count, why=why)
    if len(move.registers) + len(move.lanes) + len(move.warps) > limit("accesses").bit_length():
        raise over("accesses", "the tile of this operation")
    memory = memory_of(move.arch)
    if memory is not None and move.kind == "async":
        raise AlgebraError(f"how {move.arch} copies from global memory to shared memory is not known")
    trans = None if memory is not None else _matrix(move)
    found = list(_plain(move, memory) if trans is None else _matrices(move, trans))
    first = found[0]
    name = first.instruction
    if memory is None and trans is None:
        name = f"{'cp.async' if move.kind == 'async' else f'{name[:2]}.shared'}.{8 * first.width}"
    wavefronts, ideal = sum(one.wavefronts for one in found), sum(one.ideal for one in found)
    told = (
        memory.claim
        if memory is not None
        else meeting(found, move.kind != "load", wavefronts / ideal)
        if wavefronts > ideal
        else ""
    )
    return Cost(name, move.elements, len(found), wavefronts, ideal, None, None, None, (told,) if told else ())


def _plain(move: Transfer, memory: SharedMemory | None) -> Iterator[WarpAccess]:
    """The instructions of each warp, as wide as registers lie together and aligned in memory."""
    together = [move.registers.index(1 << n) for n in range(len(move.registers)) if 1 << n in move.registers]
    order = [*together, *(n for n in range(len(move.registers)) if n not in together)]
    turns = [sum(1 << bit for n, bit in enumerate(order) if turn >> n & 1) for turn in range(move.elements)]
    lanes, store = range(1 << len(move.lanes)), move.kind != "load"
    for warp in range(1 << len(move.warps)):
        places = [[move.place(register, lane, warp) * move.bits for register in turns] for lane in lanes]
        rows, bytes_, _ = whole_bytes(places, move.bits, store)
        for step, one in enumerate(warp_instructions(rows, bytes_, len(rows[0]), None, store, memory)):
            yield WarpAccess(warp, step, *one, memory)


def _matrix(move: Transfer) -> bool | None:
    """Whether the registers are those of transposed 8x8 matrices; None where they are not matrices."""
    if not move.matrices or len(move.lanes) != 5 or move.kind == "async" or move.bits > 32 or move.paddings:
        return None
    words = (32 // move.bits).bit_length() - 1  # bits of the register within 32 bits
    row = 8 * _MATRIX // move.bits
    low, high = (*move.registers[:words], *move.lanes[:2]), move.lanes[2:]
    rest = (*move.registers[words:], *move.warps)
    if low == tuple(1 << n for n in range(words + 2)) and not any(step % row for step in (*high, *rest)):
        return False
    across = move.bits == 16 and high == (1, 2, 4) and not any(step % row for step in (*low, *rest))
    return True if across else None


def _matrices(move: Transfer, trans: bool) -> Iterator[WarpAccess]:
    """The row addresses of each ldmatrix or stmatrix of each warp: of up to 4 matrices."""
    words = (32 // move.bits).bit_length() - 1
    rest = len(move.registers) - words
    count = min(4, 1 << rest)
    access = f"{'ld' if move.kind == 'load' else 'st'}matrix.x{count}{'.trans' if trans else ''}"
    for warp in range(1 << len(move.warps)):
        for turn in range(0, 1 << rest, count):
            places = []
            for lane in range(LANES):
                matrix, row = turn + lane // 8 % count, lane % 8
                register = matrix << words
                lanes = row << 2
                if trans:  # a row is a register bit and two of the lane
                    register, lanes = register | (row & 1), row >> 1
                places.append(move.place(register, lanes, warp) * move.bits // 8)
            yield WarpAccess(warp, turn, access, tuple(places), FULL, tuple(places), _MATRIX)
