"""A request of global memory: the lines of 128 bytes that it touches, sector by sector, and the lanes that want them."""

from __future__ import annotations

from collections.abc import Sequence

from cute_viz.figures.machine import of_sectors
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.paint import numbered
from cute_viz.figures.phases import lane_words

SECTOR, LINE = 32, 128  # bytes
_NONE, _WHOLE, _PART = range(3)


def sectors(where: str, source: str, begins: Sequence[int], width: int, mask: int) -> Figure:
    """The figure of a warp's request: which it is, where the bytes of each lane begin, how many they are, which lanes are
    active."""
    lanes: dict[int, set[int]] = {}
    asked: dict[int, set[int]] = {}
    for lane, begin in enumerate(begins):
        for byte in range(begin, begin + width) if mask >> lane & 1 else ():
            lanes.setdefault(byte // SECTOR, set()).add(lane)
            asked.setdefault(byte // SECTOR, set()).add(byte)
    lines = sorted({sector * SECTOR // LINE for sector in lanes})
    per = LINE // SECTOR
    labels, paints = [], []
    for line in lines:
        for sector in range(line * per, (line + 1) * per):
            mine = asked.get(sector, ())
            labels.append(f"{lane_words(sorted(lanes[sector]))}\n{len(mine)} of {SECTOR} B" if mine else "")
            paints.append(_NONE if not mine else _WHOLE if len(mine) == SECTOR else _PART)
    moved, useful = len(lanes) * SECTOR, sum(map(len, asked.values()))
    title = of_sectors(len(lanes), -(-useful // SECTOR))
    mute = f"{where}. A row is a line of 128 bytes, a cell a sector"
    entries = tuple(map(LegendEntry, (_NONE, _WHOLE, _PART), ("not moved", "fully requested", "partly requested")))
    panel = Panel(
        labels=tuple(labels),
        paints=tuple(paints),
        row_ruler=numbered("byte", lines, [str(line * LINE) for line in lines]),
        col_ruler=Ruler("sector", tuple(map(str, range(per)))),
    )
    note = f"{moved} bytes are moved, {useful} of them requested: {useful / moved:.0%}."
    return Figure(
        kind="sectors",
        title=title,
        source=source,
        caption=f"{mute}; it shows the lanes that request it, and how many of its bytes",
        mute=mute,
        paints=(Paint(-1), Paint(0, 1, 2), Paint(1)),
        legends=(Legend("hue: sectors that are moved", entries),),
        panels=(panel,),
        notes=(note,),
        facts={"lines": len(lines), "sectors": len(lanes)},
    )
