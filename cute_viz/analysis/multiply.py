"""What the operands of a gemm cost that are in memory: as CuTe copies them, and as the compiler may take them together."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from cute_viz.algebra.inttuple import Static, X, leaves, modes
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA
from cute_viz.algebra.modes import get
from cute_viz.algebra.shares import Share, sliced_share
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.table import offsets
from cute_viz.analysis.banks import LANES
from cute_viz.analysis.cost import Cost, Side, cost_of, ordered, times
from cute_viz.analysis.vectorize import auto_width
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.limits import limit, over

_DESCRIBED = re.compile(r"(SM90)_64x|(SM100)_MMA")
_MODES = "each of its modes is free of conflicts, and a tile in another mode gives it other elements, it is wrong and not slow"


def multiplied(operands: list[Any]) -> list[Cost]:
    """The operands of a gemm that are in memory: each mode of K is copied to registers first (cute/algorithm/gemm.hpp).

    Raises: AlgebraError for operands that are no tensors, for what an MMA reads through descriptors, and for unknown element types.

    >>> from cute_viz.algebra.shares import local_share, share
    >>> rows = local_share(share("sA", "smem", "float", mark_static(Layout((16, 8), (8, 1)))), Layout((16, 2), (1, 0)), (1, X))
    >>> rows = replace(rows, layout=mark_static(rows.layout))
    >>> registers = share("r", "rmem", "float", Layout((1, 8)))
    >>> found = multiplied([rows, registers, registers])[0]
    >>> found.instruction, found.written.instruction
    ('ld.shared.128', 'ld.shared.32')
    """
    _no_descriptors(operands[0] if operands else None)
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
        order, together = ordered(part, registers, max(1, width_.bits // part.tensor(x.type).bits))
        one = cost_of(Side(part, x.type, order, together), width_.reasons)
        written = times(one, last)
        out.append(_together(x, written) or written)
    return out


def _no_descriptors(mma: Any) -> None:
    """Raises: AlgebraError for an MMA that reads shared memory itself, by no threads."""
    tiled = mma.tiled if isinstance(mma, ThrMMA) else mma
    atom = tiled.atom if isinstance(tiled, TiledMMA) else tiled
    if isinstance(atom, MMA_Atom) and (kind := _DESCRIBED.match(atom.name)) is not None:
        raise AlgebraError(
            f"{atom.name.partition('<')[0]} reads shared memory through descriptors: {_MODES}",
            hint=f"show the descriptor and its layout: explain 'make_{'gmma' if kind[1] == 'SM90' else 'umma'}_desc<...>(tensor)'",
        )


def _together(x: Share, written: Cost) -> Cost | None:
    """An operand as the compiler reads it, which unrolls all modes: neighbours in shared memory at once where all threads' are
    aligned, as nvcc 13.0 does; None where that changes nothing."""
    strides = [*leaves(x.layout.shape), *leaves(x.layout.stride)]
    if x.space != "smem" or x.swizzle is not None or not all(isinstance(n, Static) for n in strides):
        return None
    bits = x.tensor(x.type).bits
    table = [int(n) for n in offsets(x.layout)]
    order = tuple(sorted(range(len(table)), key=lambda n: table[n]))
    if len(set(table)) < len(table):
        return None
    for wide in (128, 64, 32):
        count = wide // bits
        if count * written.instructions <= written.elements * len(x.starts) // LANES or len(table) % count or count < 2:
            continue
        runs = [[table[n] for n in order[at : at + count]] for at in range(0, len(order), count)]
        begins = [run[0] + x.offset + start for run in runs for start in x.starts]
        if all(run[-1] - run[0] == count - 1 for run in runs) and not any(begin % count for begin in begins):
            words = f"{written.instructions} {written.instruction} as it is written: {count} elements of a thread lie together"
            one = cost_of(Side(x, x.type, order, count), (f"{words}, which nvcc reads at once", *written.why))
            return replace(one, written=written)
    return None


def _compact(x: Share) -> Layout:
    out: Layout = mark_static(Layout(x.layout.shape))
    return out
