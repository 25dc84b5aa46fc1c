"""What an operation of Triton costs: the instructions that it becomes, their wavefronts, and why they are no wider."""

from __future__ import annotations

from collections.abc import Iterator

from cute_viz.algebra.transfer import Transfer
from cute_viz.analysis.banks import LANES, ideal_wavefronts, shared_wavefronts
from cute_viz.analysis.cost import Cost
from cute_viz.limits import limit, over

_WIDEST = 128  # bits of an access
_MATRIX = 16  # bytes of a row of ldmatrix


def cost_of(move: Transfer) -> Cost:
    """The cost of an operation for a thread block.

    Triton widens an access to as many registers as lie together and aligned in memory, up to 128 bits, and takes ldmatrix and
    stmatrix where lanes and registers are those of 8x8 matrices (lib/Conversion/TritonGPUToLLVM, TritonNVIDIAGPUToLLVM).

    >>> column = Transfer("load", 32, (1,), (32, 64, 128, 256, 512), ())
    >>> found = cost_of(column)
    >>> found.instruction, found.wavefronts, found.ideal
    ('ld.shared.64', 32, 2)
    """
    if move.kind in ("issued", "convert"):
        why = (move.why,) if move.why else ()
        return Cost(move.name, move.elements, move.count, None, None, None, None, None, why)
    if len(move.registers) + len(move.lanes) + len(move.warps) > limit("accesses").bit_length():
        raise over("accesses", "the tile of this operation")
    trans = _matrix(move)
    groups = list(_plain(move) if trans is None else _matrices(move, trans))
    access = groups[0][0]
    wavefronts = sum(shared_wavefronts(places, access) for _, places in groups)
    ideal = sum(ideal_wavefronts(places, access) for _, places in groups)
    return Cost(_named(move, access), move.elements, len(groups), wavefronts, ideal, None, None, None)


def _named(move: Transfer, access: str) -> str:
    if "matrix" in access:
        return access
    bits = min(int(access.partition(".")[2]), move.bits << _together(move))
    return f"cp.async.{bits}" if move.kind == "async" else f"{access.partition('.')[0]}.shared.{bits}"


def _together(move: Transfer) -> int:
    """How many of the lowest bits of the register lie together in memory, where every other bit keeps them aligned."""
    many = 0
    while move.bits << (many + 1) <= _WIDEST and 1 << many in move.registers:
        many += 1
    others = [step for step in (*move.registers, *move.lanes, *move.warps) if step not in [1 << n for n in range(many)]]
    others += [number for pair in move.paddings for number in pair]
    while many and any(step % (1 << many) for step in others):
        many -= 1
        others.append(1 << many)
    return many


def _plain(move: Transfer) -> Iterator[tuple[str, list[int]]]:
    """The byte addresses of the lanes for each instruction of each warp."""
    many = _together(move)
    inner = [move.registers.index(1 << n) for n in range(many)]
    rest = [n for n in range(len(move.registers)) if n not in inner]
    width = max(4, (move.bits << many) // 8)
    access = f"{'ld' if move.kind == 'load' else 'st'}.{8 * width}"
    for warp in range(1 << len(move.warps)):
        for turn in range(1 << len(rest)):
            register = sum(1 << rest[n] for n in range(len(rest)) if turn >> n & 1)
            places = [move.place(register, lane, warp) * move.bits // 8 for lane in range(LANES)]
            yield access, [place // width * width for place in places]


def _matrix(move: Transfer) -> bool | None:
    """Whether the registers are those of transposed 8x8 matrices; None where they are no matrices."""
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


def _matrices(move: Transfer, trans: bool) -> Iterator[tuple[str, list[int]]]:
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
            yield access, places
