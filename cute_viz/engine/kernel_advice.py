"""What a kernel could do with fewer or wider instructions: narrow accesses, copies by way of registers, no ldmatrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cute_viz.algebra.mma import TiledMMA
from cute_viz.algebra.static import is_marked
from cute_viz.algebra.tensor import tensors_in
from cute_viz.analysis.banks import LANES
from cute_viz.analysis.cost import SECTOR, Cost, Side

if TYPE_CHECKING:
    from cute_viz.engine.kernel_rows import Report

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
        elif kind.rpartition(".")[2].isdigit() and int(kind.rpartition(".")[2]) < _WIDEST and _is_known(row.cost.why, side):
            found.setdefault(f"{kind}: {row.cost.why[0]}", {})[row.move.place] = None
    yield from ((text, tuple(lines)) for text, lines in found.items())


def remedy(cost: Cost) -> str:
    """What would make an access of global memory fill its sectors, "" of one that does."""
    side = cost.side
    if side is None or (cost.sectors or 0) <= (cost.ideal_sectors or 0) or not cost.ideal_sectors:
        return ""
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
