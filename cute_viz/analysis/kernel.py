"""What the copies of a kernel cost: the instructions that all threads of a block execute, their wavefronts and sectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from cute_viz.algebra.copy import Copy_Atom, ThrCopy, TiledCopy
from cute_viz.algebra.inttuple import X, modes
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.modes import get
from cute_viz.algebra.shares import Share, sliced_share
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import SPACES
from cute_viz.analysis.access import WarpAccess, global_request, instruction_of, warp_instructions
from cute_viz.analysis.banks import LANES, width
from cute_viz.analysis.vectorize import auto_width
from cute_viz.analysis.verdict import AUTO, verdict
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.limits import limit, over

SECTOR = 32  # bytes
ASYNC = "CP_ASYNC"
_CURES = 400  # swizzles and paddings that are tried
_WORK = 1 << 23  # elements whose places are tried in all


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a copy: a share whose threads' elements, in the order `order`, make instructions.

    atom: the most elements of one instruction. name: of the instruction, where the copy says it. store: it is written. like:
    what the instruction is called, where that is another name: `cp.async.128`.
    """

    share: Share
    type: str
    order: tuple[int, ...]
    atom: int
    name: str | None = None
    store: bool = False
    like: str = ""

    def instructions(self, move: Any = None) -> list[WarpAccess]:
        """The instructions of every warp; `move` takes an offset in elements to another one."""
        bits = self.share.tensor(self.type).bits
        if bits % 8:
            raise AlgebraError(f"elements of {bits} bits are not whole bytes, so accesses are not counted")
        starts = self.share.starts
        if not starts:
            raise AlgebraError("the thread that moves each element is unknown: the tensor is not a thread's part of another")
        if len(starts) * len(self.order) > limit("accesses"):
            raise over("accesses", f"the statement touches {len(starts) * len(self.order)} elements")
        table = [int(o) for o in offsets(self.share.layout)]
        layout = [table[n] for n in self.order]
        plain = replace(self.share, swizzle=None) if move is not None else self.share
        rows = [[place * bits // 8 for place in _moved(plain.places(layout, start, bits), move)] for start in starts]
        out = []
        for first in range(0, len(rows), LANES):
            lanes = rows[first : first + LANES]
            found = warp_instructions(lanes, bits // 8, self.atom, self.name, self.store)
            out += [WarpAccess(first // LANES, step, *one) for step, one in enumerate(found)]
        return out


def _moved(places: list[int], move: Any) -> list[int]:
    return places if move is None else [move(place) for place in places]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one statement costs, once for a thread block.

    instruction: such as `ldmatrix.x4`, `st.shared.128`, `cp.async.128`. elements: of a thread. instructions: that warps execute.
    wavefronts, ideal: of shared memory, None of global memory; sectors, ideal_sectors: of global memory, None of shared.
    sides: what is counted, for other layouts of the same tile. why: what keeps the copy from being wider.
    """

    instruction: str
    elements: int
    instructions: int
    wavefronts: int | None
    ideal: int | None
    sectors: int | None
    ideal_sectors: int | None
    side: Side | None
    why: tuple[str, ...] = ()

    @property
    def ways(self) -> float:
        """Wavefronts for one that is ideal."""
        return self.wavefronts / self.ideal if self.wavefronts is not None and self.ideal else 1.0


def costs(name: str, operands: list[Any]) -> list[Cost]:
    """The costs of `copy(...)`, `copy_if(...)` or `gemm(...)`, one for each memory that it touches; empty where it moves registers.

    A `copy` of another namespace counts as CuTe's where a tiled copy, a source and a destination are its first operands.
    Raises: the error of an unknown operand; AlgebraError for any other function of another namespace, for what CuTe refuses, and
    for tensors that are no parts of threads.

    >>> from cute_viz.algebra.layout import Layout
    >>> from cute_viz.algebra.shares import local_share, share
    >>> column = local_share(share("sA", "smem", "float", Layout((32, 32), (32, 1))), Layout((32, 1)))
    >>> registers = share("r", "rmem", "float", Layout((1, 32)))
    >>> [(cost.instruction, cost.wavefronts, cost.ideal) for cost in costs("copy", [column, registers])]
    [('ld.shared.32', 1024, 32)]
    """
    foreign, _, name = name.rpartition("::")
    if foreign and (name == "gemm" or not isinstance(operands[0] if operands else None, (Copy_Atom, TiledCopy, ThrCopy))):
        raise AlgebraError(f"{foreign}::{name} is not CuTe's: what it does is not in this statement")
    if name == "gemm":
        return _gemm(operands)
    tiled = [x for x in operands[:1] if isinstance(x, (Copy_Atom, TiledCopy, ThrCopy))]
    rest = operands[len(tiled) :]
    if not tiled and name != "copy_if" and len(operands) > 2 and isinstance(operands[0], CuteVizError):
        raise operands[0]
    if name == "copy_if":
        rest = rest[1:]
    pair = rest[:2]
    for operand in pair:
        if isinstance(operand, CuteVizError):
            raise operand
    if len(pair) < 2 or not all(isinstance(x, Share) for x in pair):
        raise AlgebraError("this does not copy between two tensors that can be evaluated")
    return _copy(tiled[0] if tiled else None, pair[0], pair[1])


def _copy(copy: Any, src: Share, dst: Share) -> list[Cost]:
    tiled = copy.tiled if isinstance(copy, ThrCopy) else copy
    atom = tiled.atom if isinstance(tiled, TiledCopy) else tiled
    if atom is not None and ("TMA" in atom.name or "BULK" in atom.name):
        raise AlgebraError(f"{atom.name}: one thread copies a box of a tensor, which no warp accesses")
    kind = src.type or dst.type or (atom.value_type if atom is not None else "") or (str(atom.bits) if atom is not None else "")
    if not kind:
        raise AlgebraError("the element type is unknown")
    types = [src.type or kind, dst.type or kind]
    tensors = [side.tensor(type_) for side, type_ in zip((src, dst), types, strict=True)]
    if size(src.layout) * max(1, len(src.starts), len(dst.starts)) > limit("accesses"):
        raise over("accesses", f"the statement touches {size(src.layout)} elements per thread")
    if size(src.layout) != size(dst.layout):
        raise AlgebraError(f"the source has {size(src.layout)} elements per thread, the destination {size(dst.layout)}")
    if atom is None or AUTO.match(atom.name):
        operands = tensors if atom is None else [atom, *tensors]
        found = verdict("copy", operands)
        together = max(1, found.bits // tensors[1].bits)
        order, together = _order(src, dst, together)
        names: list[str | None] = [None, None]
        atoms = [together, together]
        reasons = found.reasons
    else:
        verdict("copy", [atom, *tensors])
        order = tuple(range(size(src.layout)))
        names = [instruction_of(atom, False), instruction_of(atom, True)]
        atoms = [size(get(layout, 1)) for layout in (atom.layout_src, atom.layout_dst)]
        reasons = ()
    like = ASYNC in atom.name if atom is not None else False
    out = []
    for n, (side, type_) in enumerate(zip((src, dst), types, strict=True)):
        if side.space in ("smem", "gmem"):
            out.append(_cost(Side(side, type_, order, atoms[n], names[n], n == 1, "cp.async" if like else ""), reasons))
        elif side.space == "tmem":
            raise AlgebraError(f"{SPACES['tmem']} has its own instructions, which are not counted")
    return _joined(out) if like and len(out) == 2 else out


def _joined(pair: list[Cost]) -> list[Cost]:
    """cp.async is one instruction with a side in each memory."""
    read, written = pair
    return [replace(written, sectors=read.sectors, ideal_sectors=read.ideal_sectors)]


def _order(src: Share, dst: Share, together: int) -> tuple[tuple[int, ...], int]:
    """The elements so that those of one instruction follow each other, and how many these are."""
    tables = [[int(o) for o in offsets(side.layout)] for side in (src, dst)]
    order = sorted(range(len(tables[0])), key=lambda n: tables[1][n]) if together > 1 else list(range(len(tables[0])))
    while together > 1:
        runs = [order[n : n + together] for n in range(0, len(order), together)]
        if len(order) % together == 0 and all(
            table[run[i]] == table[run[0]] + i for run in runs for table in tables for i in range(together)
        ):
            break
        together //= 2
        order = order if together > 1 else list(range(len(order)))
    return tuple(order), together


def _gemm(operands: list[Any]) -> list[Cost]:
    """The operands of a gemm that are in memory: each mode of K is copied to registers first (cute/algorithm/gemm.hpp)."""
    tensors = [x for x in operands if isinstance(x, Share)]
    if len(tensors) < 3:
        error = next((x for x in operands if isinstance(x, CuteVizError)), None)
        raise error or AlgebraError("this does not multiply tensors that can be evaluated")
    a, b = tensors[-3:-1]
    out = []
    for x in (a, b):
        if x.space not in ("smem", "gmem"):
            continue
        if not x.starts:
            raise AlgebraError("the MMA itself reads shared memory through a descriptor")
        if size(x.layout) * len(x.starts) > limit("accesses"):
            raise over("accesses", f"the statement touches {size(x.layout)} elements per thread")
        rank = len(modes(x.layout.shape))
        last = size(get(x.layout, rank - 1)) if rank > 1 else 1
        part = sliced_share(x, (*[X] * (rank - 1), 0)) if rank > 1 else x
        if not x.type:
            raise AlgebraError("the element type is unknown")
        registers = replace(part, space="rmem", layout=_compact(part), swizzle=None, offset=0, starts=())
        width_ = auto_width(part.tensor(x.type), registers.tensor(x.type), None)
        order, together = _order(part, registers, max(1, width_.bits // part.tensor(x.type).bits))
        one = _cost(Side(part, x.type, order, together), width_.reasons)
        out.append(_times(one, last))
    return out


def _compact(x: Share) -> Layout:
    out: Layout = mark_static(Layout(x.layout.shape))
    return out


def _times(cost: Cost, n: int) -> Cost:
    many: dict[str, Any] = {name: None if (value := getattr(cost, name)) is None else value * n for name in _COUNTS}
    return replace(cost, **many)


_COUNTS = ("elements", "instructions", "wavefronts", "ideal", "sectors", "ideal_sectors")


def _cost(side: Side, why: tuple[str, ...]) -> Cost:
    found = side.instructions()
    first = found[0].instruction
    shared = side.share.space == "smem"
    plain = first if "matrix" in first else f"{side.like}.{first.split('.')[1]}" if side.like else ""
    name = plain or f"{first[:2]}.{'shared' if shared else 'global'}.{first.split('.')[1]}"
    if not shared:
        name = f"{name.rpartition('.')[0]}.{8 * found[0].width}" if "matrix" not in name else name
    wavefronts = ideal = sectors = least = None
    if shared:
        wavefronts, ideal = sum(x.wavefronts for x in found), sum(x.ideal for x in found)
    else:
        sectors = sum(global_request(x.begins, x.width, x.mask).sectors for x in found)
        least = sum(_least(x) for x in found)
    return Cost(name, len(side.order), len(found), wavefronts, ideal, sectors, least, side, why)


def _least(x: WarpAccess) -> int:
    """The sectors of an access whose bytes lie together."""
    active = {begin for lane, begin in enumerate(x.begins) if x.mask >> lane & 1}
    return -(-len(active) * x.width // SECTOR)


def cure(sides: list[Side]) -> tuple[str, int, int] | None:
    """For accesses of one shared tile with conflicts: the swizzle, or else the padding, that costs the fewest wavefronts.

    Gives its name in CuTe's notation, the wavefronts that are left, and the ideal; None where nothing that is tried is better.

    >>> from cute_viz.algebra.layout import Layout
    >>> from cute_viz.algebra.shares import local_share, share
    >>> column = local_share(share("sA", "smem", "float", Layout((32, 32), (32, 1))), Layout((32, 1)))
    >>> cure([Side(column, "float", tuple(range(32)), 1)])
    ('Sw<5,0,5>', 32, 32)
    """
    now = [side.instructions() for side in sides]
    ideal, best = sum(x.ideal for one in now for x in one), sum(x.wavefronts for one in now for x in one)
    if best <= ideal:
        return None
    names = [one[0].instruction for one in now]
    units = [max(1, 8 * width(name) // side.share.tensor(side.type).bits) for name, side in zip(names, sides, strict=True)]
    least = max(units).bit_length() - 1
    top = max(max(side.share.starts) + side.share.offset + max(map(int, offsets(side.share.layout))) for side in sides)
    out: tuple[str, int, int] | None = None
    tries = _WORK // max(1, sum(len(side.share.starts) * len(side.order) for side in sides))
    for name, move in _moves(least, top.bit_length())[:tries]:
        count = _total(sides, move, best, names)
        if count is not None and count < best:
            best, out = count, (name, count, ideal)
            if best == ideal:
                break
    return out


def _moves(least: int, total: int) -> list[tuple[str, Any]]:
    """Swizzles and paddings, the simplest first."""
    out: list[tuple[str, Any]] = []
    for bits in (3, 2, 1, 4, 5):
        for shift in range(bits, max(bits, total)):
            if least + bits + shift <= total:
                out.append((str(Swizzle(bits, least, shift)), Swizzle(bits, least, shift)))
    for row in range(3, total):
        pad = 1 << least
        out.append((f"{pad} elements of padding after every {1 << row}", _padding(1 << row, pad)))
    return out[:_CURES]


def _padding(row: int, pad: int) -> Any:
    return lambda place: place + place // row * pad


def _total(sides: list[Side], move: Any, most: int, names: list[str]) -> int | None:
    """The wavefronts with another layout, None where an instruction becomes another one, and where there are more than `most`."""
    total = 0
    for side, name in zip(sides, names, strict=True):
        found = replace(side, name=name if "matrix" in name else side.name).instructions(move)
        if not found or found[0].instruction != name:
            return None
        for x in found:
            total += x.wavefronts
            if total > most:
                return None
    return total
