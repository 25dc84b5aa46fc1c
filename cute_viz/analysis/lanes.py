"""The instructions of one warp: which of its threads' values one access moves, as wide as they lie together and are aligned."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from cute_viz.algebra.copy import Copy_Atom
from cute_viz.algebra.views import atom_of
from cute_viz.analysis.banks import LANES, ROW, SharedMemory, width
from cute_viz.errors import AlgebraError

WIDTHS = (128, 64, 32)  # bits of plain loads and stores that are modelled


def whole_bytes(rows: list[list[int]], bits: int, store: bool) -> tuple[list[list[int]], int, int]:
    """Of the bit addresses of each thread's elements the byte addresses of what is moved at once: (these, its bytes, its
    elements). Elements smaller than a byte that fill bytes in every thread move as such; others are read with the byte that they
    are in. Raises: AlgebraError for elements that fill no bytes, and for those that would be written with their byte, which
    other threads share (cute/container/array_subbyte.hpp reads it first)."""
    if bits % 8 == 0:
        return [[place // 8 for place in row] for row in rows], bits // 8, 1
    if 8 % bits:
        raise AlgebraError(f"elements of {bits} bits do not fill whole bytes, so they cannot be accessed one by one")
    each = 8 // bits
    firsts = range(0, len(rows[0]), each) if rows else range(0)
    if rows and len(rows[0]) % each == 0:
        packed = all(row[n] % 8 == 0 and _is_run(row, n, each, bits) for row in rows for n in firsts)
        if packed:
            return [[row[n] // 8 for n in firsts] for row in rows], 1, each
    if store:
        raise AlgebraError(
            f"{each} elements of {bits} bits share a byte, and no thread writes whole bytes: each write reads the byte first,"
            " and another thread's write is lost",
            hint=f"give each thread {each} contiguous elements",
        )
    return [[place // 8 for place in row] for row in rows], 1, 1


def fixed_name(copy: object) -> str:
    """The name of a copy atom whose every call is one access, "" of all else: of AutoVectorizingCopy the layouts decide."""
    atom = atom_of(copy)
    return atom.name if isinstance(atom, Copy_Atom) and atom.instruction.kind in ("copy", "cp.async") and "<" in atom.name else ""


def warp_instructions(
    lanes: Sequence[list[int]],
    bytes_: int,
    atom: int,
    instruction: str | None,
    store: bool,
    memory: SharedMemory | None = None,
    fixed: str = "",
) -> list[tuple[str, tuple[int, ...], int, tuple[int, ...], int]]:
    """(instruction, addresses, active lanes, where their bytes begin, how many bytes) of one warp for one tile.

    lanes: of each thread the byte addresses of its values. bytes_: of a value. atom: the most values of one plain access. fixed:
    the copy atom whose accesses have all of these. Raises: AlgebraError where they do not fit.
    """
    mask = (1 << len(lanes)) - 1
    values = len(lanes[0])
    if instruction is not None:
        _check_fit(lanes, bytes_, instruction)
    if instruction is not None and "matrix" in instruction:
        begins = [_padded([row[n] for row in lanes]) for n in range(0, values, ROW // bytes_)]
        return [(instruction, places, mask, places, ROW) for places in begins]
    bits = 8 * width(instruction) if instruction else _widest(lanes, bytes_, atom)
    per = max(1, bits // 8 // bytes_)
    if fixed and instruction is None and bits < 8 * bytes_ * atom <= max(WIDTHS):
        raise _apart(fixed, lanes, bytes_, atom)
    plain = f"{'st' if store else 'ld'}.{max(bits, 32)}" if memory is None else memory.access(max(bits, 32), store)
    name, all_lanes = instruction or plain, LANES if memory is None else memory.lanes
    unit = width(name)  # of elements smaller than a word, the word is loaded
    begins = [_padded([row[n] for row in lanes], all_lanes) for n in range(0, values, per)]
    return [(name, tuple([place // unit * unit for place in places]), mask, places, per * bytes_) for places in begins]


def _apart(fixed: str, lanes: Sequence[list[int]], bytes_: int, atom: int) -> AlgebraError:
    """Why an access of so many values at once is none."""
    whole = bytes_ * atom
    for lane, row in enumerate(lanes):
        for n in range(0, len(row), atom):
            if not _is_run(row, n, min(atom, len(row) - n), bytes_):
                words = f"{fixed} moves {whole} contiguous bytes; those of lane {lane} do not"
                return AlgebraError(
                    f"{words}: what it moves is wrong", hint="a swizzle's M keeps the elements of one access together"
                )
            if row[n] % whole:
                words = f"{fixed} moves {whole} bytes, aligned to {whole}; lane {lane} begins at byte {row[n]}"
                return AlgebraError(
                    f"{words}: the device stops with a misaligned address",
                    hint=f"pad strides to multiples of {whole} bytes, or move {gcd(row[n], whole)} bytes at once",
                )
    return AlgebraError(f"{fixed} moves {whole} bytes at once, which the values of a thread do not fill")


def _check_fit(lanes: Sequence[list[int]], bytes_: int, instruction: str) -> None:
    """Whether the values of every lane make whole instructions: neighbours in memory, aligned, none left over. lanes, bytes_: as
    of `warp_instructions`. Raises: AlgebraError for all else, and rows that only lanes beyond those of an x1 or x2 ask for."""
    whole, values = width(instruction), len(lanes[0])
    what = f"{instruction} needs " + (f"rows of {whole} bytes" if "matrix" in instruction else f"{whole} bytes of a lane")
    if bytes_ > whole:
        raise AlgebraError(f"{what}; an element has {bytes_}")
    per = whole // bytes_
    if values % per:
        hint = "leave out the instruction: one that fits is found"
        raise AlgebraError(f"{what}; a thread has {values} values of {bytes_} bytes, not a multiple of {per}", hint=hint)
    rows = 8 * int(instruction.split(".")[1][1]) if "matrix" in instruction else len(lanes)
    if len(lanes) < rows:
        raise AlgebraError(f"{instruction} needs the addresses of {rows} rows, one per lane; the warp has {len(lanes)} lanes")
    for lane, row in enumerate(lanes):
        for n in range(0, values, per):
            if lane >= rows and row[n] not in [first[n] for first in lanes[:rows]]:
                raise AlgebraError(f"{instruction} takes its {rows} rows from the first {rows} lanes; lane {lane} asks for another")
            if not _is_run(row, n, per, bytes_):
                raise AlgebraError(f"{what}; values {n}..{n + per - 1} of lane {lane} are not next to each other")
            if row[n] % whole:
                raise AlgebraError(f"{what}, aligned to {whole}; lane {lane} begins at byte {row[n]}")


def _widest(lanes: Sequence[list[int]], bytes_: int, atom: int) -> int:
    """The widest access, in bits, whose values are next to each other and aligned in every thread."""
    values = len(lanes[0])
    for bits in WIDTHS:
        per = bits // 8 // bytes_
        if per == 1:  # whatever lies next to it
            return bits
        if per < 1 or values % per or per > atom:
            continue
        if all(row[n] % (bits // 8) == 0 and _is_run(row, n, per, bytes_) for row in lanes for n in range(0, values, per)):
            return bits
    return bytes_ * 8


def _is_run(row: list[int], first: int, count: int, step: int) -> bool:
    """Whether `count` places of a lane from the `first` on lie `step` apart, in their order."""
    return row[first : first + count] == [*range(row[first], row[first] + count * step, step)]


def _padded(addresses: list[int], lanes: int = LANES) -> tuple[int, ...]:
    return tuple(addresses + [addresses[0]] * (lanes - len(addresses)))
