"""What a kernel could do with fewer or wider instructions: narrow accesses, copies by way of registers, no ldmatrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cute_viz.algebra.mma import TiledMMA
from cute_viz.algebra.static import is_marked
from cute_viz.algebra.tensor import Tensor
from cute_viz.analysis.cost import Side

if TYPE_CHECKING:
    from cute_viz.engine.kernel_rows import Report

_WIDEST = 128


def advice(report: Report) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What could be wider or shorter, in a sentence, and the lines that it is of.

    >>> from cute_viz.source import read
    >>> from cute_viz.engine.kernel import report_of
    >>> text = "void f(float* p) {\\n  auto s = make_tensor(make_smem_ptr(p), make_layout(Shape<_32,_4>{}));\\n"
    >>> text += "  copy(make_tensor<float>(_4{}), local_partition(s, Layout<_32>{}, threadIdx.x));\\n}"
    >>> [lines for _, lines in advice(report_of(read(text, "cpp", Given())))]
    [('3',)]
    """
    found: dict[str, dict[str, None]] = {}
    loaded: dict[str, str] = {}
    for move, operands in report.read:
        pair = [x for x in operands or () if isinstance(x, Tensor)]
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
        tiling = getattr(side.tensor.part, "tiling", None)
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


def _is_known(why: tuple[str, ...], side: Side) -> bool:
    """Whether there is a reason, that is not one of run-time integers for a layout that is static."""
    return bool(why) and not (why[0].startswith("shapes or strides are run-time") and is_marked(side.tensor.layout))
