"""Wavefronts of cp.async, which reads lines of the L1 cache and writes banks of shared memory in one instruction.

The model agrees with what Nsight Compute counts of LDGSTS on an H100 (layouts/verified/kernels): words that lie in the same place
of several lines are read one after the other, as words of one bank are written, and what is written waits for what is read.
Of 100 other patterns of 4 and 8 bytes counted there it is exact for 64 (54 of 60 regular ones, 10 of 40 scattered ones), and else
off by one to four wavefronts.
"""

from __future__ import annotations

from collections.abc import Sequence

from cute_viz.analysis.access import WarpAccess
from cute_viz.analysis.banks import BANKS, WORD


def async_wavefronts(read: WarpAccess, written: WarpAccess) -> int:
    """The wavefronts of one cp.async of a warp: `read` of global memory, `written` of shared memory.

    In every phase, each wavefront that is written takes one, or as many as there are lines to be read for it first.

    >>> def access(name, places):
    ...     return WarpAccess(0, 0, name, tuple(places), 0xFFFFFFFF, tuple(places), 16)
    >>> written = access("st.128", range(0, 512, 16))
    >>> async_wavefronts(access("ld.128", range(0, 512, 16)), written)
    4
    >>> async_wavefronts(access("ld.128", [256 * (lane // 4) + 16 * (lane % 4) for lane in range(32)]), written)
    8
    """
    total = 0
    for phase in written.phases():
        reads = _turns(phase.lanes, read.begins, read.width)
        writes = _turns(phase.lanes, written.begins, written.width)
        known: set[int] = set()
        for turn in range(max(writes.values()) + 1):
            wanted = {reads[lane] for lane in phase.lanes if writes[lane] == turn}
            total += max(1, len(wanted - known))
            known |= wanted
    return total


def _turns(lanes: Sequence[int], begins: Sequence[int], width: int) -> dict[int, int]:
    """In which turn each lane is served where each of 32 banks gives one word at a time, the lowest lane's first."""
    banks: list[dict[int, int]] = [{} for _ in range(BANKS)]
    out = {}
    for lane in lanes:
        words = range(begins[lane] // WORD, (begins[lane] + width - 1) // WORD + 1)
        out[lane] = max(banks[word % BANKS].setdefault(word, len(banks[word % BANKS])) for word in words)
    return out
