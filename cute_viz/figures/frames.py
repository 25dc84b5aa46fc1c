"""The wavefronts of accesses as a small multiple: a frame each, its lanes joined to its banks, accesses side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cute_viz.errors import FigureError
from cute_viz.figures.model import CONFLICT, Arrow, Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.paint import borders
from cute_viz.figures.phases import BANKS, lanes_of
from cute_viz.spelling import count

MOST = 8  # frames of the longest access; of the others as many in proportion, as the eye compares their lengths
_IDLE, _FIRST, _LATER, _DONE = range(4)


def frames(
    title: str, source: str, parts: Sequence[tuple[str, Sequence[Any]]], note: str = "", xors: Sequence[Sequence[int]] = ()
) -> Figure:
    """The figure of accesses, each a heading and its phases (analysis.banks.Phase), in columns; a frame is two panels.

    Of every access the same phase is drawn, the one that costs the first access most; below stand the wavefronts of all phases
    as a bar. Of more than eight wavefronts the first are drawn, of each access the same share.
    xors: for each access what a swizzle XORs into the bank of each lane; () where there is none.

    Raises: FigureError for an access that no lane takes part in.
    """
    if not all(phase for _, phase in parts):
        raise FigureError("no lane takes part in this access")
    panels: list[Panel] = []
    joins: list[Arrow] = []
    notes = [note] if note else []
    costs = [[phase.wavefronts for phase in phases] for _, phases in parts]
    drawn = costs[0].index(max(costs[0]))
    deepest = max(cost[min(drawn, len(cost) - 1)] for cost in costs)
    whole = deepest > MOST or max(map(len, costs)) > 1
    for column, ((heading, phases), cost) in enumerate(zip(parts, costs, strict=True)):
        at = min(drawn, len(phases) - 1)
        phase, name = phases[at], [heading] if heading else []
        if len(phases) > 1:
            name.append(f"phase {at + 1} of {len(phases)}")
        few = cost[at] if deepest <= MOST else max(1, cost[at] * MOST // deepest)
        if few < cost[at]:
            notes.append(f"{heading or 'Drawn'}: the first {few} of {cost[at]} wavefronts.")
        lanes = max(BANKS, 1 + max(lane for one in phases for lane in one.lanes))
        done: set[int] = set()
        for wave in range(few):
            served = lanes_of(phase, wave)
            count_ = f"{wave + 1} of {cost[at]}"
            caption = count_ if wave else ": ".join([*([", ".join(name)] if name else []), f"wavefront {count_}"])
            caption = caption if heading else caption.capitalize()
            now = {lane for mine in served for lane in mine}
            hue = _LATER if wave else _FIRST
            paints = [hue if lane in now else _DONE if lane in done else _IDLE for lane in range(lanes)]
            panels.append(_line(caption, "lanes", paints, (2 * wave, column), {"thread": tuple(range(lanes))}))
            xor = xors[column] if column < len(xors) else ()
            if xor:
                panels[-1] = _with_xors(panels[-1], xor, now, hue)
            data: dict[str, Any] = {"bank": tuple(range(BANKS)), "lanes": tuple(served)}
            panels.append(_line("", "banks", [hue if mine else _IDLE for mine in served], (2 * wave + 1, column), data))
            for bank, mine in enumerate(served):
                for lane in mine:
                    start = (panels[-2].rows - 1, lane, panels[-2].rows, lane + 1)
                    joins.append(Arrow(len(panels) - 2, len(panels) - 1, start, (0, bank, 1, bank + 1), False))
            done |= now
        if whole:
            panels.append(_whole(heading, cost, max(BANKS, *map(sum, costs)), (2 * min(MOST, deepest), column)))
    paints = [paint for panel in panels for paint in panel.paints]
    words = ("first wavefront of its phase", "further: a conflict", "lane that was served before")
    entries = tuple(LegendEntry(paint, word) for paint, word in enumerate(words, _FIRST) if paint in paints)
    caption = "A frame is a wavefront: the 32 banks serve a word each, to every lane that is joined to it"
    caption += "; XOR: what the swizzle XORs into the lane's bank" if any(xors) else ""
    return Figure(
        kind="frames",
        title=title,
        source=source,
        caption=caption,
        paints=(Paint(-1), Paint(0), Paint(CONFLICT), Paint(0, faded=True)),
        legends=(Legend("hue: what a lane or bank does", entries),),
        panels=tuple(panels),
        notes=tuple(notes),
        arrows=tuple(joins),
    )


def _whole(heading: str, costs: Sequence[int], cols: int, place: tuple[int, int]) -> Panel:
    """The wavefronts of all phases as a bar, a cell each."""
    every = f"all {len(costs)} phases" if len(costs) > 1 else "the whole"
    name = f"{heading}, {every}" if heading else every.capitalize()
    waves = [wave for cost in costs for wave in range(cost)]
    left = cols - len(waves)
    bar = _line(
        f"{name}: {count(sum(costs), 'wavefront')}",
        "time",
        [*[_LATER if wave else _FIRST for wave in waves], *[_IDLE] * left],
        place,
        {},
    )
    levels = (*[int(wave == 0 and n > 0) for n, wave in enumerate(waves)], int(left > 0), *[0] * left)
    labels = (*[str(n + 1) for n in range(len(waves))], *[""] * left)
    return replace(bar, labels=labels, col_ruler=replace(bar.col_ruler, levels=levels))


def _with_xors(lanes: Panel, xor: Sequence[int], now: set[int], hue: int) -> Panel:
    """The panel of lanes with a row of what is XORed into the bank of those that are served now, lit where it is not 0."""
    labels = tuple(str(x) if lane in now else "" for lane, x in enumerate(xor))
    return replace(
        lanes,
        rows=2,
        labels=(*lanes.labels, *labels),
        paints=(*lanes.paints, *[hue if lane in now and x else _IDLE for lane, x in enumerate(xor)]),
        row_ruler=Ruler("", ("lanes", "XOR"), (0, 0, 0)),
        data={"thread": lanes.data["thread"] * 2},
    )


def _line(name: str, what: str, paints: Sequence[int], place: tuple[int, int], data: dict[str, Any]) -> Panel:
    """Lanes or banks side by side."""
    cells = range(len(paints))
    numbers = tuple(map(str, cells))
    return Panel(
        caption=name,
        labels=numbers,
        paints=tuple(paints),
        row_ruler=Ruler("", (what,), (0, 0)),
        col_ruler=Ruler("", ("",) * len(paints), borders(len(paints), 8)),
        data=data,
        place=place,
    )
