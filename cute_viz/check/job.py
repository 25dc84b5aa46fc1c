"""What a check is made of: a kernel as text, launches with their buffers, and the judgement of what comes back.

Everything here is a value; nothing runs. Each kind of check is a `Job`, which says what to run and what to expect; `device.py`
executes launches, and the job's `judge` reads the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from math import prod
from typing import Any, Protocol, TypeAlias

import numpy as np

_HOLE = re.compile(r"\{%(\w+)<([\w*+]+)>\}|\{([a-z0-9][\w*+]*)\}")


def kernel(file: str, entry: str, needs: str = "", /, **holes: object) -> Kernel:
    """The kernel of a file, its entry under that name, its holes filled.

    needs: version and target, where the file leaves them open.
    """
    body = text(file, entry=entry, needs=needs, **holes)
    if not body.startswith("#needs"):
        return Kernel(entry, body, cuda=True)
    head, _, body = body.partition("\n")
    _, version, target = head.split()
    major, _, minor = version.partition(".")
    return Kernel(entry, body, (int(major), int(minor)), int(target.rstrip("a")), target.endswith("a"))


def text(file: str, **holes: object) -> str:
    """A file with its holes filled."""
    return "\n".join(_filled(_lines(file), holes))


def registers(letter: str, count: int) -> str:
    """So many registers as one operand."""
    return "{" + ",".join(f"%{letter}{n}" for n in range(count)) + "}"


@lru_cache(maxsize=64)
def _lines(file: str) -> tuple[str, ...]:
    return tuple((files("cute_viz.check") / "kernels" / file).read_text("utf-8").splitlines())


def _filled(lines: Sequence[str], holes: dict[str, object]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        word, *rest = line.split() if line.startswith("#") else ("",)
        if word == "#use":
            more = (_HOLE.sub(lambda found: _hole(found, holes), part).split("=") for part in rest[1:])
            yield from _filled(_lines(rest[0]), {**holes, **{key: int(x) if x.isdigit() else x for key, x in more}})
        elif word in ("#if", "#each"):
            turn, end = _block(lines, at)
            if word == "#each":
                for n in range(_number(rest[1], holes)):
                    yield from _filled(lines[at:end], {**holes, rest[0]: n})
            else:
                true = bool(holes[rest[0].lstrip("!")]) != rest[0].startswith("!")
                yield from _filled(lines[at:turn] if true else lines[turn + 1 : end], holes)
            at = end + 1
        elif filled := _HOLE.sub(lambda found: _hole(found, holes), line):
            yield filled


def _block(lines: Sequence[str], at: int) -> tuple[int, int]:
    """Where the block that begins there has its #else, or without one its end, and where it ends."""
    depth, turn = 1, -1
    for n in range(at, len(lines)):
        word = lines[n].partition(" ")[0]
        depth += (word in ("#if", "#each")) - (word == "#end")
        if not depth:
            return (n if turn < 0 else turn), n
        if word == "#else" and depth == 1:
            turn = n
    raise ValueError(f"a block has no end: {lines[at - 1]}")


def _hole(found: re.Match[str], holes: dict[str, object]) -> str:
    if found[1]:
        return registers(found[1], _number(found[2], holes))
    return str(_number(found[3], holes))


def _number(words: str, holes: dict[str, Any]) -> Any:
    """A hole's value, or a sum of products of numbers and holes."""
    if words in holes:
        return holes[words]
    return sum(prod(int(word) if word.isdigit() else holes[word] for word in term.split("*")) for term in words.split("+"))


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
class Scalar:
    """A scalar argument of 4 or 8 bytes."""

    value: int
    size: int = 4


@dataclass(frozen=True, slots=True)
class Map:
    """A tensor map of the buffer argument `of`, as cuTensorMapEncodeTiled takes it: dimension 0 first, strides in bytes.
    swizzle, data_type: numbers of CUtensorMapSwizzle and CUtensorMapDataType. steps: the element strides. corners: the lower and
    the upper one of cuTensorMapEncodeIm2col, which takes the map then; box is (channels, pixels)."""

    of: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int
    data_type: int
    rank: int
    steps: tuple[int, ...] = (1, 1, 1, 1, 1)
    corners: tuple[tuple[int, ...], tuple[int, ...]] | None = None


Argument: TypeAlias = "In | Out | Scalar | Map"
Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
Outputs: TypeAlias = "Sequence[Sequence[bytes]]"  # of each launch its outputs, in order


@dataclass(frozen=True, slots=True)
class KernelRun:
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
    """The kernels as one PTX module, with the least version and target that all of them accept; CUDA C++ as it is."""
    if any(kernel.cuda for kernel in kernels):
        return "\n".join(kernel.body for kernel in kernels)
    version = max(kernel.version for kernel in kernels)
    target = max(kernel.target for kernel in kernels)
    suffix = "a" if any(kernel.exact for kernel in kernels) else ""
    bodies = dict.fromkeys(kernel.body for kernel in kernels)
    head = f".version {version[0]}.{version[1]}\n.target sm_{target}{suffix}\n.address_size 64\n"
    return head + "\n".join(bodies) + "\n"


@dataclass(frozen=True, slots=True)
class PanelCheck:
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

    sheets: tuple[PanelCheck, ...]
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


class Job(Protocol):
    """One kind of check of one object: a pure description of what runs, and how what comes back is judged."""

    def kernel(self) -> Kernel:
        """The kernel."""

    def launches(self) -> tuple[KernelRun, ...]:
        """The launches: made late, as the buffers are large."""

    def judge(self, outputs: Outputs) -> Outcome:
        """The outputs, launch by launch, against what is drawn; with a control, something corrupted that must be caught."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check, ready to run.

    kind: a key of `report.PROVES`. name: of the object. digest: of the mapping drawn; None where the check is of no picture.
    known: what CuTe is known to have wrong, in words, where the table of the hardware is checked instead; empty for nearly all.
    """

    kind: str
    name: str
    job: Job
    digest: str | None = None
    known: str = ""
    kernel: Kernel = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", self.job.kernel())

    def launches(self) -> tuple[KernelRun, ...]:
        """What runs."""
        return self.job.launches()

    def judge(self, outputs: Outputs) -> Outcome:
        """What the outputs, launch by launch, show."""
        return self.job.judge(outputs)


@dataclass(frozen=True, slots=True)
class Undecided:
    """Something that cannot be decided, and why."""

    kind: str
    name: str
    reason: str


Item: TypeAlias = "Check | Undecided"


def sheet(role: str, shape: tuple[int, int], drawn: Any, seen: Any, ok: Any = None, cells: Any = None) -> PanelCheck:
    """A panel of what is known of its cells, or of those of them that `cells` numbers; of a cell with several, what is wrong.
    drawn, seen: numbers or texts. ok: whether they agree; without it, whether they are equal."""
    total = shape[0] * shape[1]
    words = [""] * total
    told: list[str | None] = [None] * total
    fine: list[bool | None] = [None] * total
    right = np.ravel(np.asarray(drawn) == np.asarray(seen) if ok is None else ok).tolist()
    places = range(total) if cells is None else np.ravel(cells).tolist()
    for cell, one, other, same in zip(places, _words(drawn), _words(seen), right, strict=True):
        if fine[cell] is not False:
            words[cell], told[cell], fine[cell] = one, other, same
    return PanelCheck(role, *shape, tuple(words), tuple(told), tuple(fine))


def _words(table: Array) -> list[str]:
    return [f"{x:g}" if isinstance(x, float) else str(x) for x in np.ravel(table).tolist()]


def pairs(rows: Any, cols: Any) -> list[str]:
    """Coordinates as texts."""
    return [f"({row},{col})" for row, col in zip(rows.tolist(), cols.tolist(), strict=True)]


def entry_name(kind: str, name: str) -> str:
    """A PTX identifier from free text."""
    safe = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    return f"{kind}_{safe[:80]}"
