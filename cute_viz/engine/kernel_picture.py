"""The picture of one row of a kernel's report: its costliest instruction over its tile, now and with the fix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.measure import rank
from cute_viz.algebra.modes import group
from cute_viz.algebra.static import clear_static
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.analysis.banks import WORD, width
from cute_viz.analysis.relocate import root_of
from cute_viz.engine.access import cells_of
from cute_viz.engine.kernel_why import why
from cute_viz.errors import FigureError
from cute_viz.figures.phases import strip
from cute_viz.figures.sectors import sectors
from cute_viz.figures.served import Crowd, crowded
from cute_viz.spelling import count

if TYPE_CHECKING:
    from cute_viz.analysis.access import WarpAccess
    from cute_viz.analysis.cost import Side
    from cute_viz.engine.kernel_rows import Access
    from cute_viz.figures.model import Figure

OUTLINED = 8  # threads that meet in one bank, which are outlined up to so many


def picture_of(row: Access) -> Figure:
    """The costliest instruction of a row over its tile: how many words are asked of each bank, now and with the fix; of global
    memory its sectors. Raises: FigureError for a row that has no tile."""
    side = row.cost.side
    if side is None:
        raise FigureError(f"{row.cost.instruction} has no tile that could be drawn", hint="its figures are in the report")
    worst = _worst(side)
    does = f"Line {row.move.place} {'writes' if side.store else 'reads'} {side.tensor.pointer.name or 'a buffer'}"
    title = why(row).partition(": ")[0].rstrip(".") if row.lost > 0 else f"{row.cost.instruction}: ideal"
    if row.cost.wavefronts is None:
        return replace(sectors(title, str(side.tensor.layout), worst.begins, worst.width, worst.mask), caption=does)
    sides = [("Now", side)]
    if row.fixed is not None and row.fixed.cost.side is not None:
        sides.append(("Fixed", row.fixed.cost.side))
    tiles, strips, met, told, of = list[Crowd](), [], list[int](), "", ""
    for name, one in sides:
        same = [x for x in one.instructions() if (x.warp, x.step) == (worst.warp, worst.step)]
        shown, (layout, swizzle) = (same or [_worst(one)])[0], root_of(one.tensor)
        layout = None if layout is None else clear_static(layout)
        whole = layout if swizzle is None or layout is None else ComposedLayout(swizzle, 0, layout)
        head = f"{name}: {count(shown.wavefronts, 'wavefront')}  {whole or ''}"
        phases, first = shown.phases(), shown.warp * len(shown.begins)
        phase = max(phases, key=lambda phase: phase.wavefronts)
        asked = {(first + t, bank): len(x) for p in phases for bank, x in enumerate(p.banks) for _, lanes in x for t in lanes}
        met = met or sorted({first + lanes[0] for _, lanes in max(phase.banks, key=len)})
        own = {thread: bank for thread, bank in reversed(asked) if thread in met}
        here = _names(own[thread] for thread in met if thread in own)
        told += f"; with the fix they have banks {here}" if told else f"{_names(met, 'T')} share bank {own[met[0]]}"
        strips.append((head, phases))
        cells = []
        if layout is not None and rank(layout) > 1:  # stages of a pipeline are columns
            tile = layout if rank(layout) == 2 else group(layout, 1, rank(layout))
            begins = [0] + [one.tensor.offset] * isinstance(one.tensor.offset, int)  # a part of the whole, or of a slice of it
            views = [ComposedLayout(swizzle or Swizzle(0, 4, 3), begin, tile) for begin in begins]
            cells = max([cells_of(view, shown, one.tensor.bits) for view in views], key=len)
            of = of or f", a {' × '.join(str(product(mode)) for mode in modes(layout.shape))} tile of {one.tensor.pointer.element}"
        tiles.append(Crowd(head, cells, asked, [len(words) for words in phase.banks], own if 1 < len(met) <= OUTLINED else {}))
    crowd = len(met)
    if crowd > 1:
        title = f"Up to {crowd} threads compete for one bank"
    caption = f"{does}{of}"
    if worst.ideal < worst.wavefronts or row.lost <= 0:
        caption += f". Warp {worst.warp} needs {count(worst.wavefronts, 'wavefront')}"
        caption += f"; {worst.ideal} {'is' if worst.ideal == 1 else 'are'} enough" if worst.ideal < worst.wavefronts else ""
    if all(len(tile.cells) == len(tiles[0].cells) > 0 for tile in tiles):
        return crowded(title, row.move.text, caption, tiles, f"{told}." if crowd > 1 else "")
    return strip(title, row.move.text, strips, width(worst.instruction) // WORD, caption)


def sides_of(figure: Figure) -> list[Figure]:
    """The panels of such a picture, each as a picture of its own: now, and with the fix."""
    return [replace(figure, panels=(replace(panel, place=(0, 0)),)) for panel in figure.panels]


def _worst(side: Side) -> WarpAccess:
    return max(side.instructions(), key=lambda x: (x.wavefronts, len({begin // 32 for begin in x.begins})))


def _names(numbers: Iterable[int], letter: str = "") -> str:
    """Numbers in words, of more than six the first five and the last."""
    names = [f"{letter}{n}" for n in numbers]
    if len(names) > 6:
        return f"{', '.join(names[:5])} ... {names[-1]}"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
