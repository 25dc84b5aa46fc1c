"""Shared-memory wavefronts of one warp-wide access: how often the memory must be asked, and why.

The model was fitted to, and agrees with, the hardware counter
`l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{ld,st}` of an NVIDIA H200 on 741 of 741 measured patterns:

- a bank is 4 bytes wide, and there are 32: bank = (byte address / 4) mod 32;
- an access is served in phases: all lanes for 32 bits, half-warps for 64, quarter-warps for 128; ldmatrix and
  stmatrix in one phase for each 8 row addresses of 16 bytes;
- a phase takes as many wavefronts as the fullest bank has distinct 4-byte words;
- loads of 64 and 128 bits double the width of their phases when, for x = 1 or x = 2, every lane i shares its
  address with lane i ^ x (an inactive lane matches anything).

A reduction of 32-bit integers, red.32, is served in one phase, in which every lane takes a turn of its bank, lanes that add to one
word included: 91 of 91 patterns that an H100 counted (`..._mem_shared_op_atom`). st.async, to another block of the cluster, took
what a plain store of its width takes for 104 of 256 patterns, and more for the others, never less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cute_viz.errors import AlgebraError


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """The shared memory of a machine whose waves have so many lanes.

    groups: of each access the lanes that are served together. claim: on what this rests.
    """

    lanes: int
    groups: Mapping[str, tuple[tuple[int, ...], ...]]
    claim: str

    def access(self, bits: int, store: bool) -> str:
        """The name of the access of a width."""
        return f"ds_{'write' if store else 'read'}_b{bits}"


def _runs(size: int) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(range(n, n + size)) for n in range(0, 64, size))


def _read_b128() -> tuple[tuple[int, ...], ...]:
    """Four lanes of one half of 16, and four of the other that lie across from them."""
    pairs = ((0, 20), (4, 16), (8, 28), (12, 24))
    return tuple((*range(h + a, h + a + 4), *range(h + b, h + b + 4)) for h in (0, 32) for a, b in pairs)


_CDNA = SharedMemory(
    64,
    {
        "ds_read_b32": _runs(32),
        "ds_read_b64": _runs(16),
        "ds_read_b128": _read_b128(),
        "ds_write_b32": _runs(32),
        "ds_write_b64": _runs(16),
        "ds_write_b128": _runs(8),
    },
    "32 banks and the phases of a wave as AMD documents them; not confirmed on a device",
)
_OF_ARCH = {"gfx908": _CDNA, "gfx90a": _CDNA, "gfx940": _CDNA, "gfx941": _CDNA, "gfx942": _CDNA}


def has_warps(arch: str) -> bool:
    """Whether an architecture, or none, has the warps of 32 threads whose accesses were measured."""
    return not arch or arch.startswith("sm")


def memory_of(arch: str) -> SharedMemory | None:
    """The memory of an architecture; None for one whose warps have 32 threads and whose wavefronts were measured, and for none.
    Raises: AlgebraError for an architecture whose phases are not documented."""
    if has_warps(arch):
        return None
    if arch not in _OF_ARCH:
        known = ", ".join(_OF_ARCH)
        raise AlgebraError(f"the shared-memory phases of {arch} are not known", hint=f"known: {known}, and sm80 to sm120")
    return _OF_ARCH[arch]


INSTRUCTIONS = tuple(_CDNA.groups)


LANES = 32
BANKS = 32
WORD = 4  # bytes
ROW = 16  # bytes that one row address of ldmatrix and stmatrix stands for
FULL = 0xFFFFFFFF

_MATRIX = [f"{op}.{x}{trans}" for op in ("ldmatrix", "stmatrix") for x in ("x1", "x2", "x4") for trans in ("", ".trans")]
ACCESSES = ("ld.32", "ld.64", "ld.128", "st.32", "st.64", "st.128", *_MATRIX)
REMOTE = ("st.async.32", "st.async.64", "st.async.128")  # to the shared memory of another block of the cluster
REDUCTIONS = ("red.32", "red.64", "red.128")
CLAIMS = {  # what is to be said of a number of wavefronts that is not as the hardware counts
    **dict.fromkeys(
        REMOTE, "a lower bound, as for a plain store; an H100 counts more where lanes share a word or touch several lines"
    ),
    "red.32": "of integers; to add floats is a loop of compare and swap, which takes longer",
}


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of an access.

    lanes: the active lanes that are served.
    banks: for each of the 32 banks, the lanes' distinct words in it, as (word index, lanes that want it).
    """

    lanes: tuple[int, ...]
    banks: tuple[tuple[tuple[int, tuple[int, ...]], ...], ...]

    @property
    def wavefronts(self) -> int:
        """How many wavefronts the phase takes: the words in its fullest bank."""
        return max(map(len, self.banks))

    @property
    def conflicts(self) -> tuple[int, ...]:
        """The banks that hold more than one word."""
        return tuple(bank for bank, words in enumerate(self.banks) if len(words) > 1)


def shared_wavefronts(
    addresses: Sequence[int], access: str = "ld.128", mask: int = FULL, memory: SharedMemory | None = None
) -> int:
    """The wavefronts of one warp-wide shared-memory access.

    addresses: 32 byte offsets, one a lane (for ldmatrix and stmatrix the row addresses; x1 uses the first 8 lanes, x2 the
    first 16). access: one of ACCESSES. mask: the active lanes, bit i for lane i.
    """
    return sum(phase.wavefronts for phase in phases(addresses, access, mask, memory))


def ideal_wavefronts(addresses: Sequence[int], access: str = "ld.128", mask: int = FULL, memory: SharedMemory | None = None) -> int:
    """The wavefronts that the same phases would take with no conflict: one for each phase with an active lane, or more where a
    phase asks for more bytes than the 128 that one wavefront carries."""
    per_wavefront = BANKS * WORD
    out = 0
    for phase in phases(addresses, access, mask, memory):
        words = sum(map(len, phase.banks))
        out += -(-words * WORD // per_wavefront)
    return out


def phases(addresses: Sequence[int], access: str = "ld.128", mask: int = FULL, memory: SharedMemory | None = None) -> list[Phase]:
    """The phases in which an access is served, in lane order; phases with no active lane are left out.

    memory: of a machine with waves of its own; the access is one of its.
    """
    known, count = ((*ACCESSES, *REMOTE, REDUCTIONS[0]), LANES) if memory is None else (tuple(memory.groups), memory.lanes)
    if memory is None and access in REDUCTIONS[1:]:
        raise AlgebraError(
            f"{access} on shared memory is a compare-and-swap loop; its rounds depend on the values in the lanes",
            hint="red.32 of integers is one instruction; of global memory, with `global=`, the sectors are counted",
        )
    if access not in known:
        raise AlgebraError(f"there is no access {access!r}", hint=f"accesses: {', '.join(known)}")
    if len(addresses) != count:
        raise AlgebraError(f"a warp has {count} addresses, not {len(addresses)}")
    width_ = width(access)
    wrong = next((a for a in addresses if a < 0 or a % width_), None)
    if wrong is not None:
        raise AlgebraError(f"{access} needs addresses that are multiples of {width_}, 0 or more; {wrong} is not")
    if memory is not None:
        active = (tuple(lane for lane in group if mask >> lane & 1) for group in memory.groups[access])
        return [Phase(lanes, _banks(addresses, lanes, width_)) for lanes in active if lanes]
    if "matrix" in access:
        group, count = 8, 8 * int(access.split(".")[1][1])
    else:
        group, count = _phase_width(addresses, access, mask), LANES
    out = []
    for start in range(0, count, group):
        lanes = tuple(lane for lane in range(start, start + group) if mask >> lane & 1)
        if lanes:
            banks = _turns(addresses, lanes) if access in REDUCTIONS else _banks(addresses, lanes, width_)
            out.append(Phase(lanes, banks))
    return out


def width(access: str) -> int:
    """The bytes at one address of an access."""
    return ROW if "matrix" in access else int(access.replace("_b", ".").rpartition(".")[2]) // 8


def _phase_width(addresses: Sequence[int], access: str, mask: int) -> int:
    """How many lanes one phase of a plain load or store serves."""
    lanes = LANES * WORD // width(access)
    if access.startswith("ld.") and lanes < LANES and any(_paired(addresses, mask, x) for x in (1, 2)):
        return 2 * lanes
    return lanes


def _paired(addresses: Sequence[int], mask: int, x: int) -> bool:
    """Whether every lane i has the address of lane i ^ x, where both are active."""
    both = [(i, i ^ x) for i in range(LANES) if mask >> i & 1 and mask >> (i ^ x) & 1]
    return all(addresses[i] == addresses[j] for i, j in both)


def _banks(addresses: Sequence[int], lanes: tuple[int, ...], width: int) -> tuple[tuple[tuple[int, tuple[int, ...]], ...], ...]:
    words: dict[int, list[int]] = {}
    for lane in lanes:
        for word in range(addresses[lane] // WORD, (addresses[lane] + width) // WORD):
            words.setdefault(word, []).append(lane)
    banks: list[list[tuple[int, tuple[int, ...]]]] = [[] for _ in range(BANKS)]
    for word in sorted(words):
        banks[word % BANKS].append((word, tuple(words[word])))
    return tuple(map(tuple, banks))


def _turns(addresses: Sequence[int], lanes: tuple[int, ...]) -> tuple[tuple[tuple[int, tuple[int, ...]], ...], ...]:
    """Every lane by itself, as lanes that add to one word take turns."""
    banks: list[list[tuple[int, tuple[int, ...]]]] = [[] for _ in range(BANKS)]
    for lane in sorted(lanes, key=lambda lane: addresses[lane]):
        banks[addresses[lane] // WORD % BANKS].append((addresses[lane] // WORD, (lane,)))
    return tuple(map(tuple, banks))
