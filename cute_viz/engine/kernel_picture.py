"""The picture of one row of a kernel's report: its costliest instruction over its tile, now and with the fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.measure import rank
from cute_viz.algebra.static import clear_static
from cute_viz.analysis.banks import WORD, width
from cute_viz.analysis.relocate import root_of
from cute_viz.engine.access import cells_of
from cute_viz.errors import FigureError
from cute_viz.figures.phases import strip
from cute_viz.figures.sectors import sectors
from cute_viz.figures.served import served
from cute_viz.figures.words import count

if TYPE_CHECKING:
    from cute_viz.analysis.access import WarpAccess
    from cute_viz.analysis.cost import Side
    from cute_viz.engine.kernel_rows import Access
    from cute_viz.figures.model import Figure


def picture_of(row: Access, title: str) -> Figure:
    """The costliest instruction of a row over its tile: who meets in which bank, now and with the fix; of global memory its
    sectors.

    Raises: FigureError for a row that has no tile.

    >>> from cute_viz.engine import Request, ask
    >>> tile = "auto s = make_tensor(make_smem_ptr<float>(0), Layout<Shape<_32,_4>,Stride<_4,_1>>{});\\n"
    >>> kernel = tile + "copy(make_tensor<float>(_4{}), local_partition(s, Layout<_32>{}, threadIdx.x));"
    >>> row = ask(Request((kernel,))).kernel.accesses[0]
    >>> [panel.caption for panel in picture_of(row, "Four threads meet").panels][0]
    'Now (32,4):(4,1): 4 wavefronts'
    """
    side = row.cost.side
    if side is None:
        raise FigureError(f"{row.cost.instruction} has no tile that could be drawn", hint="its figures are in the report")
    worst = _worst(side)
    if row.cost.wavefronts is None:
        return sectors(title, str(side.tensor.layout), worst.begins, worst.width, worst.mask)
    sides = [("Now", side)]
    if row.fixed is not None and row.fixed.cost.side is not None:
        sides.append(("Fixed", row.fixed.cost.side))
    tiles, strips = [], []
    for name, one in sides:
        same = [x for x in one.instructions() if (x.warp, x.step) == (worst.warp, worst.step)]
        shown, (layout, swizzle) = (same or [_worst(one)])[0], root_of(one.tensor)
        layout = None if layout is None else clear_static(layout)
        whole = layout if swizzle is None or layout is None else ComposedLayout(swizzle, 0, layout)
        head = f"{name} {'' if whole is None else whole}: {count(shown.wavefronts, 'wavefront')}"
        strips.append((head, shown.phases()))
        tiles.append((head, cells_of(whole, shown, one.tensor.bits) if layout is not None and rank(layout) == 2 else []))
    if all(len(cells) == len(tiles[0][1]) > 0 for _, cells in tiles):
        return served(title, row.move.text, tiles)
    return strip(title, row.move.text, strips, width(worst.instruction) // WORD)


def _worst(side: Side) -> WarpAccess:
    return max(side.instructions(), key=lambda x: (x.wavefronts, len({begin // 32 for begin in x.begins})))
