"""The memory that a kernel's tensors take: buffers of shared memory, fragments in registers, columns of tensor memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from cute_viz.algebra.composed import domain, inner_of
from cute_viz.algebra.descriptor import behind
from cute_viz.algebra.inttuple import leaves, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import rank, size
from cute_viz.algebra.modes import get, take
from cute_viz.algebra.tensor import Tensor, tensors_in
from cute_viz.algebra.tmem import places
from cute_viz.analysis.relocate import span_of
from cute_viz.errors import CuteVizError, boundary
from cute_viz.spelling import count as plural

if TYPE_CHECKING:
    from cute_viz.source.model import SourceFile
    from cute_viz.source.moves import Move

# KB of shared memory for a block and for a multiprocessor, which keeps 1 KB for each block (CUDA C++ Programming Guide, table
# of technical specifications by compute capability)
_SHARED = {"SM70": (96, 96), "SM75": (64, 64), "SM80": (163, 164), "SM89": (99, 100), "SM90": (227, 228), "SM100": (227, 228)}
_SHARED |= {"SM120": (99, 100)}
COLUMNS = 512  # of tensor memory, which is allocated in powers of 2 from 32 (PTX ISA, tcgen05.alloc)
REGISTERS = 255  # of a thread
_FEW = 6  # parts of a memory in a line of text


class Buffer(NamedTuple):
    """A buffer of one launch: its words in the source, the tensors that are views of it, its size in bytes, 32-bit registers of
    a thread or columns; the type and the shape of the largest view; its stages, where statements take one at a time."""

    launch: str
    base: str
    names: tuple[str, ...]
    size: int
    type: str
    shape: str
    stages: int = 1

    @property
    def title(self) -> str:
        """The name of its first view, or its own words."""
        return self.names[0] if self.names else self.base

    def as_dict(self, unit: str) -> dict[str, Any]:
        """The buffer for JSON. unit: what its size counts."""
        head = {"launch": self.launch or None, "buffer": self.base, "tensors": list(self.names)}
        return {**head, unit: self.size, "type": self.type, "shape": self.shape, "stages": self.stages}


class Memory(NamedTuple):
    """The buffers of shared memory, the fragments of a thread and those in tensor memory. arch: of the newest instruction, as
    `SM90`, "" where none says it. overlaps: some may lie in the same bytes, so that the sum is the most. partial: some
    statements were not evaluated, so that there may be more."""

    shared: tuple[Buffer, ...]
    registers: tuple[Buffer, ...]
    tensor: tuple[Buffer, ...]
    arch: str = ""
    overlaps: bool = False
    partial: bool = False

    def limits(self) -> tuple[int, int] | None:
        """Bytes of shared memory for a block, and for a multiprocessor."""
        block, whole = _SHARED.get(self.arch, (0, 0))
        return (1024 * block, 1024 * whole) if block else None

    def totals(self) -> dict[str, int]:
        """The bytes of shared memory of each launch."""
        return {name: sum(part.size for part in parts) for name, parts in by_launch(self.shared).items()}

    def as_dict(self) -> dict[str, Any]:
        """The map for JSON."""
        limits = self.limits()
        out: dict[str, Any] = {
            name: [x.as_dict(unit) for x in buffers]
            for name, unit, buffers in (
                ("shared", "bytes", self.shared),
                ("registers", "registers", self.registers),
                ("tensor", "columns", self.tensor),
            )
        }
        out["arch"] = self.arch or None
        out["overlaps"], out["partial"] = self.overlaps, self.partial
        out["shared_limit"] = limits[0] if limits else None
        if limits is not None and not self.partial:
            out["blocks_per_sm"] = {name: limits[1] // (total + 1024) for name, total in self.totals().items()}
        if self.tensor:
            columns = max(32, sum(x.size for x in self.tensor))
            out["tensor_allocated"] = 1 << (columns - 1).bit_length()
        return out

    def lines(self, everything: bool = True) -> Iterator[str]:
        """The map in lines of text. everything: the registers of every launch, and not only the most."""
        limits = self.limits()
        alike: dict[tuple[MemoryPart, ...], list[str]] = {}
        for name, each in by_launch(self.shared).items():
            alike.setdefault(tuple(each), []).append(name)
        for parts, names in alike.items():
            total, name = sum(part.size for part in parts), names[0] + f" and {len(names) - 1} more" * (len(names) > 1)
            blocks = f", {plural(limits[1] // (total + 1024), 'block')} per SM" if limits and not self.partial else ""
            if limits and total > limits[0]:
                blocks = ", more than a block may have: some overlap, or are of different kernels"
            most = f" of {limits[0]:,} bytes ({self.arch.lower()}){blocks}" if limits else " bytes"
            overlap = ", if none overlap" if self.overlaps and len(parts) > 1 else ""
            head = f"Shared memory{f' of {name}' if len(alike) > 1 else ''}: {'at least ' * self.partial}{total:,}"
            yield f"{head}{most}{overlap}: {_listed(parts)}"
        alike_ = dict.fromkeys(map(tuple, by_launch(self.registers).values()))  # in several launches: once
        counts = sorted(((sum(part.size for part in held), held) for held in alike_), key=lambda one: -one[0])
        for count, held in counts[: None if everything else 1]:
            once = " if all live at once," if count > REGISTERS else ""
            most = "at most " * (len(counts) > 1 and not everything)
            yield f"Registers of fragments, a thread: {most}{count}{once} of {REGISTERS}: {_listed(held)}"
        if self.tensor:
            columns = [MemoryPart(x.title, x.size) for x in self.tensor]
            yield f"Tensor memory: {sum(part.size for part in columns)} of {COLUMNS} columns: {_listed(columns)}"


class MemoryPart(NamedTuple):
    """A part of a memory: its name, its size, and how many stages that is."""

    name: str
    size: int
    stages: int = 1

    def __str__(self) -> str:
        return f"{self.name} {self.size:,}" + f" ({self.stages} stages)" * (self.stages > 1)


def by_launch(buffers: Sequence[Buffer]) -> dict[str, list[MemoryPart]]:
    """The parts that buffers are of a memory, by launch."""
    out: dict[str, list[MemoryPart]] = {}
    for x in buffers:
        out.setdefault(x.launch, []).append(MemoryPart(x.title, x.size, x.stages))
    return out


def _listed(parts: Sequence[MemoryPart]) -> str:
    few = sorted(parts, key=lambda part: -part.size)[:_FEW]
    more = f" and {len(parts) - len(few)} more" * (len(parts) > len(few))
    return ", ".join(str(part) for part in parts if part in few) + more


def memory_of(
    file: SourceFile,
    read: tuple[tuple[Move, list[object] | None], ...],
    instructions: list[str],
    called: Callable[[Move], str] = lambda move: "",
    partial: bool = False,
) -> Memory:
    """The memory of a file's tensors, by the operands of its statements and its definitions. called: what launches a statement."""
    seen: list[tuple[str, Tensor]] = []
    for move, operands in read:
        seen += [(called(move), x) for x in tensors_in(map(behind, operands or ()))]
    launches = list(dict.fromkeys(name for name, _ in seen))
    if len(launches) == 1:
        seen += [(launches[0], x) for move, _ in read for x in move.memory()]
    whole = [
        entry
        for entry in (file.own if file.compiled else file.entries)
        if re.search(r"make_tensor|partition|fragment|allocate|get_tensor", entry.text)
    ]
    asked = [(launches[0], entry.read, entry.tensor) for entry in whole] if len(launches) == 1 else []
    paths = {(called(move), move.scope[-1]) for move, _ in read if move.call and move.scope}
    names = {x.pointer.name for _, x in seen if x.pointer.space in ("smem", "rmem")}
    for name, scope in sorted(path for path in paths if path[0]) if file.asked is not None else ():
        for tensor in sorted(names):
            with suppress(CuteVizError):  # one that is called by way of others has no such path
                entry = file.asked(f"{name.partition(',')[0]}::{scope}::{tensor}") if file.asked is not None else None
                asked += [(name, entry.read, entry.tensor)] if entry is not None else []
    lost: list[Callable[[], Any]] = []
    for name, value, tensor_of in asked:
        try:
            with boundary():
                value()
                x = tensor_of() if tensor_of is not None else None
        except CuteVizError:
            lost.append(value)
            continue
        if isinstance(x, Tensor) and x.pointer.space:
            seen.append((name, x))
    stored = {id(entry.read) for entry in whole if re.search(r"\.(allocate|get_tensor)", entry.text)}
    partial = partial or any(id(value) in stored for value in lost)  # a slice of it does not tell how many stages it has
    spaces = {space: _buffers([(name, x) for name, x in seen if x.pointer.space == space]) for space in ("smem", "rmem", "tmem")}
    words = " ".join([*instructions, *re.findall(r"\bSM\d+_", file.text)])
    archs = sorted({int(n) for n in re.findall(r"SM(\d+)_", words) if f"SM{n}" in _SHARED})
    overlaps = "union" in file.text or any(x.base.startswith("?") for x in spaces["smem"])  # begins nobody knows where
    return Memory(spaces["smem"], spaces["rmem"], spaces["tmem"], f"SM{archs[-1]}" if archs else "", overlaps, partial)


def _buffers(seen: list[tuple[str, Tensor]]) -> tuple[Buffer, ...]:
    most: dict[tuple[str, str], tuple[int, Tensor]] = {}
    names: dict[tuple[str, str], dict[str, None]] = {}
    for name, x in seen:
        key = (name, x.pointer.base or x.pointer.name)
        try:
            count = _size(x)
        except (CuteVizError, TypeError, ValueError):
            continue
        names.setdefault(key, {})[x.pointer.name or x.name or key[1] or "unnamed"] = None
        if key not in most or count > most[key][0]:
            most[key] = count, x
    out = []
    for (name, base), (count, x) in most.items():
        views = [view for launch, view in seen if (launch, view.pointer.base or view.pointer.name) == (name, base)]
        stages = _stages(x, views) if x.pointer.space == "smem" else 1
        out.append(Buffer(name, base, tuple(names[name, base]), count, x.pointer.element, show(domain(_whole(x)).shape), stages))
    return tuple(out)


def _stages(x: Tensor, views: Sequence[Tensor]) -> int:
    """How many tiles the last mode of a buffer's layout has that lie apart, where a statement stays within one."""
    whole = _whole(x)
    if rank(whole) < 3:
        return 1
    last, tile = domain(get(whole, rank(whole) - 1)), span_of(domain(take(whole, 0, rank(whole) - 1)))
    parts = [(view, inner_of(view.layout)) for view in views]
    within = (isinstance(part, Layout) and max(view.starts, default=0) + span_of(part) <= tile for view, part in parts)
    steps = [int(step) for n, step in zip(leaves(last.shape), leaves(last.stride), strict=True) if n != 1]
    return int(size(last)) if min(steps, default=0) >= tile and any(within) else 1


def _size(x: Tensor) -> int:
    whole = _whole(x)
    if x.pointer.space == "rmem":
        return -(-min(size(x.layout), span_of(domain(x.layout))) * x.bits // 32)
    if x.pointer.space == "tmem":
        from cute_viz.algebra.table import offsets

        columns = {where.column for where in places(x, map(int, offsets(x.layout)))}
        return max(columns) - min(columns) + 1
    apart = "+" in x.pointer.base  # a tile that begins elsewhere in a buffer counts alone
    begin = int(x.offset) if isinstance(x.offset, int) and x.pointer.placed and whole is x.layout and not apart else 0
    return -(-(begin + span_of(whole)) * x.bits // 8)


def _whole(x: Tensor) -> Layout:
    """The layout of the tensor that threads have parts of, without a swizzle, which stays within its tile."""
    both = [inner_of(layout) for layout in (x.root, x.layout)]
    return max((layout for layout in both if isinstance(layout, Layout)), key=size)
