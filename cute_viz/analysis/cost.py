"""What one statement costs a thread block: the instructions of its threads on one side, their wavefronts and sectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor
from cute_viz.analysis.access import WarpAccess, global_request
from cute_viz.analysis.banks import BANKS, LANES
from cute_viz.analysis.lanes import warp_instructions, whole_bytes
from cute_viz.errors import AlgebraError
from cute_viz.limits import limit, over

SECTOR = 32  # bytes


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a copy: a tensor whose threads' elements, in the order `order`, make instructions.

    atom: the most elements of one instruction. name: of the instruction, where the copy says it. store: it is written. like:
    what the instruction is called, where that is another name: `cp.async.128`. fixed: the atom whose calls are an access each.
    """

    tensor: Tensor
    order: tuple[int, ...]
    atom: int
    name: str | None = None
    store: bool = False
    like: str = ""
    fixed: str = ""

    def places(self, swizzled: bool = True) -> list[list[int]]:
        """Where the elements of each thread lie in their buffer, in elements: as they are, or as without any swizzle."""
        starts = self.tensor.starts
        if not starts:
            raise AlgebraError("the thread that moves each element is unknown: the tensor is not a thread's part of another")
        if len(starts) * len(self.order) > limit("accesses"):
            raise over("accesses", f"the statement touches {len(starts) * len(self.order)} elements")
        table = [int(o) for o in offsets(self.tensor.layout)]
        layout = [table[n] for n in self.order]
        bare = replace(self.tensor, swizzle=None, pointer=replace(self.tensor.pointer, swizzle=None))
        return [(self.tensor if swizzled else bare).places(layout, start) for start in starts]

    def instructions(self, places: list[list[int]] | None = None) -> list[WarpAccess]:
        """The instructions of every warp, with the elements of each thread at their places, or at others."""
        bits = self.tensor.bits
        rows, bytes_, each = whole_bytes([[place * bits for place in row] for row in places or self.places()], bits, self.store)
        out = []
        active = self.tensor.part.active
        for first in range(0, len(rows), LANES):
            lanes = rows[first : first + LANES]
            some = sum(1 << n for n, takes in enumerate(active[first : first + LANES]) if takes)
            if active and not some:  # the warp branches around it
                continue
            found = warp_instructions(lanes, bytes_, max(1, self.atom // each), self.name, self.store, fixed=self.fixed)
            steps = [WarpAccess(first // LANES, step, *one) for step, one in enumerate(found)]
            out += [replace(one, mask=one.mask & some) for one in steps] if active else steps
        return out


@dataclass(frozen=True, slots=True)
class Cost:
    """What one statement costs, once for a thread block.

    instruction: such as `ldmatrix.x4`, `st.shared.128`, `cp.async.128`. elements: of a thread. instructions: that warps execute.
    wavefronts, ideal: of shared memory, None of global memory; sectors, ideal_sectors: of global memory, None of shared.
    side: what is counted, for other layouts of the same tile. why: what keeps the copy from being wider.
    written: what it costs as CuTe writes it, where the compiler takes elements together that CuTe moves one by one.
    boxes: of a TMA, the fewest instructions that copy such a tile.
    """

    instruction: str
    elements: int
    instructions: int
    wavefronts: int | None = None
    ideal: int | None = None
    sectors: int | None = None
    ideal_sectors: int | None = None
    side: Side | None = field(default=None, repr=False)
    why: tuple[str, ...] = field(default=(), repr=False)
    written: Cost | None = field(default=None, repr=False)
    boxes: int | None = None

    @property
    def ways(self) -> float:
        """Wavefronts for one that is ideal."""
        return self.wavefronts / self.ideal if self.wavefronts is not None and self.ideal else 1.0


def ordered(src: Tensor, dst: Tensor, together: int, copied: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """The elements that are copied so that those of one instruction follow each other, and how many these are."""
    tables = [[int(o) for o in offsets(side.layout)] for side in (src, dst)]
    order = sorted(copied, key=lambda n: tables[1][n]) if together > 1 else list(copied)
    while together > 1:
        runs = [order[n : n + together] for n in range(0, len(order), together)]
        if len(order) % together == 0 and all(
            table[run[i]] == table[run[0]] + i for run in runs for table in tables for i in range(together)
        ):
            break
        together //= 2
        order = order if together > 1 else list(copied)
    return tuple(order), together


def times(cost: Cost, n: int) -> Cost:
    """What a statement costs that is executed `n` times."""
    many: dict[str, Any] = {name: None if (value := getattr(cost, name)) is None else value * n for name in _COUNTS}
    return replace(cost, **many)


def summed(costs: list[Cost]) -> Cost:
    """What several executions of a statement cost together, which show the worst one."""
    worst = max(costs, key=lambda cost: ((cost.wavefronts or 0) - (cost.ideal or 0), cost.sectors or 0))
    many: dict[str, Any] = {
        name: None if getattr(worst, name) is None else sum(getattr(cost, name) for cost in costs) for name in _COUNTS
    }
    return replace(worst, **many)


_COUNTS = ("elements", "instructions", "wavefronts", "ideal", "sectors", "ideal_sectors")


def cost_of(side: Side, why: tuple[str, ...]) -> Cost:
    """What one side of a copy costs."""
    found = side.instructions()
    first = found[0].called
    shared = side.tensor.pointer.space == "smem"
    plain = first if "matrix" in first else f"{side.like}.{first.split('.')[1]}" if side.like else ""
    name = plain or f"{first[:2]}.{'shared' if shared else 'global'}.{first.split('.')[1]}"
    wavefronts = ideal = sectors = least = None
    if shared:
        wavefronts, ideal = sum(x.wavefronts for x in found), sum(x.ideal for x in found)
    else:
        sectors = sum(global_request(x.begins, x.width, x.mask).sectors for x in found)
        least = sum(_least(x) for x in found)
    return Cost(name, len(side.order), len(found), wavefronts, ideal, sectors, least, side, why)


def meeting(found: Sequence[WarpAccess], store: bool, ways: float = 0) -> str:
    """Which threads ask one bank for most words, of some instructions, in a sentence. ways: wavefronts for one that is ideal."""
    worst = max(found, key=lambda x: x.wavefronts / max(1, x.ideal))
    phase = max(worst.phases(), key=lambda phase: phase.wavefronts)
    bank, words = max(enumerate(phase.banks), key=lambda one: len(one[1]))
    does = "write to" if store else "read"
    if len(words) < 2:
        return f"No two of the threads that are served together {does} different words of one bank."
    lanes = sorted(worst.warp * LANES + each[0] for _, each in words)
    names = [f"T{lane}" for lane in lanes[:4]]
    told = ", ".join(names[:-1]) + (" ... and " if len(lanes) > 4 else " and ") + (f"T{lanes[-1]}" if len(lanes) > 4 else names[-1])
    mean = f" ({ways:.1f} on average)".replace(".0 ", " ") * (0 < round(ways, 1) < len(words))
    if "matrix" in worst.instruction:
        return f"Up to {len(words)} rows{mean} lie in one bank, bank {bank % BANKS}: those whose addresses {told} give."
    return f"Up to {len(words)} threads of a warp{mean} {does} different words of one bank: {told} share bank {bank % BANKS}."


def _least(x: WarpAccess) -> int:
    """The sectors of an access whose bytes lie together."""
    active = {begin for lane, begin in enumerate(x.begins) if x.mask >> lane & 1}
    return -(-len(active) * x.width // SECTOR)
