"""The memories that threads of a group share, by machine: how many threads ask together, and in which phases they are served.

Sources for the LDS of CDNA: AMD's OpenCL optimization guide (32 banks of 4 bytes; 32-bit accesses by half-waves, 64-bit
ones by quarter-waves), the Composable Kernel documentation, "Understanding AMD GPU LDS and Bank Conflicts" (ds_read_b128 and
ds_write_b128). No device has decided these here.
"""

from __future__ import annotations

from collections.abc import Mapping
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
