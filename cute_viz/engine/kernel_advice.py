"""What a kernel could do with fewer or wider instructions: narrow accesses, copies by way of registers, no ldmatrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import TiledMMA
from cute_viz.algebra.static import is_marked
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import tensors_in
from cute_viz.analysis.banks import LANES
from cute_viz.analysis.cost import SECTOR, Cost, Side, cost_of

if TYPE_CHECKING:
    from cute_viz.engine.kernel_rows import Access, Report

_WIDEST = 128


def advice(report: Report) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What could be wider or shorter, in a sentence, and the lines that it is of."""
    found: dict[str, dict[str, None]] = {}
    loaded: dict[str, str] = {}
    for move, operands in report.read:
        pair = tensors_in(operands or ())
        if move.name not in ("copy", "copy_if", "copy_aligned") or len(pair) != 2:
            continue
        src, dst = (x.pointer for x in pair)
        if not (src.name or src.base):
            continue
        if (src.space, dst.space) == ("gmem", "rmem"):
            loaded[dst.base or dst.name] = move.place
        elif (src.space, dst.space) == ("rmem", "smem") and (line := loaded.get(src.base or src.name)) is not None:
            text = f"{src.name or src.base} goes through registers; cp.async or TMA could skip them"
            found.setdefault(text, {}).update({line: None, move.place: None})
    for row in report.accesses:
        kind, side = row.cost.instruction, row.cost.side
        if side is None:
            continue
        tiling = _tiling(side)
        if (
            kind.startswith("ld.shared")
            and side.tensor.bits == 16
            and isinstance(tiling, TiledMMA)
            and tiling.atom.instruction.kind == "mma"
        ):
            words = "operands of an MMA are read one by one: ldmatrix reads 8 x 8 of them at once"
            found.setdefault(words, {})[row.move.place] = None
        elif kind.startswith(("ldmatrix.x1", "ldmatrix.x2", "stmatrix.x1", "stmatrix.x2")) and row.cost.elements % 8 == 0:
            found.setdefault(f"{kind}: a thread has enough values for {kind[:8]}.x4, a half or a quarter of the instructions", {})[
                row.move.place
            ] = None
        elif row.unfixed and row.cost.why and row.cost.why[0] in row.unfixed:
            continue
        elif kind.rpartition(".")[2].isdigit() and int(kind.rpartition(".")[2]) < _WIDEST and _is_known(row.cost.why, side):
            found.setdefault(f"{kind}: {row.cost.why[0]}", {})[row.move.place] = None
    yield from ((text, tuple(lines)) for text, lines in found.items())


def remedy(row: Access) -> str:
    """What would make an access of global memory fill its sectors, or one of shared memory with conflicts shorter; "" of others."""
    cost, side = row.cost, row.cost.side
    if side is None or (cost.ways <= 1 and (cost.sectors or 0) <= (cost.ideal_sectors or 0)):
        return ""
    wide, told = _wider(row, side), ""
    if wide is not None:
        count = f"{wide.sectors:,} sectors" if wide.sectors is not None else f"{wide.wavefronts or 0:,} wavefronts"
        told = f"{wide.instruction.rpartition('.')[2]} bits of a thread at once would take {count}"
        told += f" ({cost.why[0]})" if cost.why else ""
    if not cost.ideal_sectors or (wide is not None and wide.sectors == cost.ideal_sectors):
        return told
    return f"{told}; {_filled(side)}" if told else _filled(side)


def _wider(row: Access, side: Side) -> Cost | None:
    """What the access costs with the widest instruction that its elements allow, None where none is better."""
    x, bits = side.tensor, row.cost.instruction.rpartition(".")[2]
    registers = next((t for t in tensors_in(row.tensors, "rmem", "") if size(t.layout) == size(x.layout)), None)
    if registers is None or not bits.isdigit():
        return None
    held, table = ([int(n) for n in offsets(t.layout)] for t in (registers, x))
    order = sorted(side.order, key=lambda n: table[n])
    for wide in (bits_ for bits_ in (128, 64, 32, 16) if bits_ > int(bits) and not len(order) * x.bits % bits_):
        runs = [order[n : n + wide // x.bits] for n in range(0, len(order), wide // x.bits)]
        if any(held[n] - held[run[0]] != at for run in runs for at, n in enumerate(run)):
            continue
        places = [x.places([table[n] for n in run], start) for run in runs for start in x.starts]
        if all(not one[0] % len(one) and one == [*range(one[0], one[0] + len(one))] for one in places):
            found = cost_of(Side(x, tuple(order), wide // x.bits, None, side.store), ())
            return found if (found.wavefronts or found.sectors or 0) < (row.cost.wavefronts or row.cost.sectors or 0) else None
    return None


def _filled(side: Side) -> str:
    """How an access of global memory fills its sectors with elements as wide as they are."""
    every = side.instructions()
    first = [x for x in every if x.warp == every[0].warp]
    touched = {begin + n for x in first for lane, begin in enumerate(x.begins) if x.mask >> lane & 1 for n in range(x.width)}
    sectors = {byte // SECTOR for byte in touched}
    if SECTOR * len(sectors) == len(touched):
        how = "through shared memory, then rows of 16 bytes a thread, or TMA" if isinstance(_tiling(side), TiledMMA) else (
            "another layout of threads, or a way through shared memory, gives neighboring threads neighboring bytes"
        )  # fmt: skip
        return f"the statement as a whole fills its sectors: {how}"
    if all(max(x.begins) - min(x.begins) < LANES * x.width for x in first):
        return f"rows that begin at multiples of {SECTOR} bytes would fill them"
    return "threads along its contiguous mode would fill them; through shared memory, where the other side has another one"


def _tiling(side: Side) -> object:
    return side.tensor.part.tiling


def _is_known(why: tuple[str, ...], side: Side) -> bool:
    """Whether there is a reason, that is not one of run-time integers for a layout that is static."""
    return bool(why) and not (why[0].startswith("shapes or strides are run-time") and is_marked(side.tensor.layout))
