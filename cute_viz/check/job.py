"""What a check is made of: kernels as PTX text, launches with their buffers, and the judgement of what comes back.

Everything here is a value; nothing runs. `device.py` executes launches, and a check's own `judge` reads the bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

POISON = 0xCD  # what every byte of an output holds before the launch


@dataclass(frozen=True, slots=True)
class In:
    """A buffer that the kernel reads."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Out:
    """A buffer that comes back: `size` bytes, each holding `fill` before the launch."""

    size: int
    fill: int = POISON


@dataclass(frozen=True, slots=True)
class Word:
    """A scalar argument of 4 or 8 bytes."""

    value: int
    size: int = 4


@dataclass(frozen=True, slots=True)
class Tensor:
    """A TMA descriptor of the matrix in buffer argument `of`: rows x cols elements of `bits`, a box of them, a swizzle mode.

    swizzle: 0, 1, 2, 3 for none, 32, 64 and 128 bytes (CUtensorMapSwizzle).
    """

    of: int
    rows: int
    cols: int
    box: tuple[int, int]
    swizzle: int
    bits: int


@dataclass(frozen=True, slots=True)
class Map:
    """A tensor map of the buffer argument `of`, as cuTensorMapEncodeTiled takes it: dimension 0 first, strides in bytes.

    swizzle, data_type: numbers of CUtensorMapSwizzle and CUtensorMapDataType. steps: the element strides. corners: the lower and
    the upper one of cuTensorMapEncodeIm2col, which takes the map then; box is (channels, pixels).
    """

    of: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int
    data_type: int
    rank: int
    steps: tuple[int, ...] = (1, 1, 1, 1, 1)
    corners: tuple[tuple[int, ...], tuple[int, ...]] | None = None


Argument: TypeAlias = "In | Out | Word | Tensor | Map"


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch: the entry, blocks in x, y, z, threads of a block, arguments in order, bytes of dynamic shared memory."""

    entry: str
    grid: tuple[int, int, int]
    block: int
    arguments: tuple[Argument, ...]
    shared: int = 0


@dataclass(frozen=True, slots=True)
class Kernel:
    """One PTX entry, less the head of the module; or the text of a CUDA C++ file with that entry.

    version: of the PTX ISA. target: the number of the sm_ that it needs. exact: it needs that very architecture (sm_90a).
    """

    entry: str
    body: str
    version: tuple[int, int] = (7, 0)
    target: int = 70
    exact: bool = False
    cuda: bool = False

    def runs_on(self, capability: int) -> bool:
        """Whether a device of compute capability 90 (for 9.0) can run it."""
        return capability == self.target if self.exact else capability >= self.target


def module(kernels: Sequence[Kernel]) -> str:
    """The kernels as one PTX module, with the least version and target that all of them accept; CUDA C++ as it is.

    >>> print(module([Kernel("a", "A", target=75), Kernel("b", "B", (7, 8))]))
    .version 7.8
    .target sm_75
    .address_size 64
    A
    B
    <BLANKLINE>
    """
    if any(kernel.cuda for kernel in kernels):
        return "\n".join(kernel.body for kernel in kernels)
    version = max(kernel.version for kernel in kernels)
    target = max(kernel.target for kernel in kernels)
    suffix = "a" if any(kernel.exact for kernel in kernels) else ""
    bodies = dict.fromkeys(kernel.body for kernel in kernels)
    head = f".version {version[0]}.{version[1]}\n.target sm_{target}{suffix}\n.address_size 64\n"
    return head + "\n".join(bodies) + "\n"


@dataclass(frozen=True, slots=True)
class Sheet:
    """One panel of a picture, judged cell by cell.

    role: what the panel is called (`C`, `source`, or its whole caption). drawn, seen: a text a cell, what the picture says and what
    the device showed; None in `seen` for a cell that nothing decided. ok: whether the two agree.
    """

    role: str
    rows: int
    cols: int
    drawn: tuple[str, ...]
    seen: tuple[str | None, ...]
    ok: tuple[bool | None, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a judgement found.

    sheets: the panels. control: whether the corrupted table was caught. facts: further counts, such as incidences.
    """

    sheets: tuple[Sheet, ...]
    control: bool
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def cells(self) -> int:
        """The cells that were decided."""
        return sum(len(sheet.ok) - sheet.ok.count(None) for sheet in self.sheets)

    @property
    def agree(self) -> int:
        """The decided cells in which picture and device agree."""
        return sum(sheet.ok.count(True) for sheet in self.sheets)


@dataclass(frozen=True, slots=True)
class Check:
    """One check, ready to run.

    kind: a key of `promises.PROVES`. name: of the object. digest: of the mapping drawn; None where the check is of no picture.
    launches: makes the launches (late: the buffers are large). judge: the outputs, launch by launch -> the outcome.
    known: what CuTe is known to have wrong, in words, where the table of the hardware is checked instead; empty for nearly all.
    """

    kind: str
    name: str
    kernel: Kernel
    launches: Callable[[], tuple[Launch, ...]]
    judge: Callable[[Sequence[Sequence[bytes]]], Outcome]
    digest: str | None = None
    known: str = ""


@dataclass(frozen=True, slots=True)
class Undecided:
    """Something that cannot be decided, and why."""

    kind: str
    name: str
    reason: str


Item: TypeAlias = "Check | Undecided"


@lru_cache(maxsize=512)
def places(rows: int, cols: int, transposed: bool = False) -> tuple[str, ...]:
    """The coordinates of a panel's cells as text, row by row; transposed: as (column, row).

    >>> places(1, 2)
    ('(0,0)', '(0,1)')
    """
    return tuple(f"({c},{r})" if transposed else f"({r},{c})" for r in range(rows) for c in range(cols))


def entry_name(kind: str, name: str) -> str:
    """A PTX identifier from free text.

    >>> entry_name("layout", "(4,8):(8,1)")
    'layout__4_8___8_1_'
    """
    safe = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    return f"{kind}_{safe[:80]}"
