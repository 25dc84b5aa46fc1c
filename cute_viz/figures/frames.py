"""The wavefronts of accesses as a small multiple: a frame each, its lanes joined to its banks, accesses side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cute_viz.errors import FigureError
from cute_viz.figures.model import Arrow, Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.rulers import borders
from cute_viz.figures.words import count

BANKS = 32
MOST = 8  # frames of an access
_IDLE, _FIRST, _LATER, _DONE = range(4)


def frames(
    title: str, source: str, parts: Sequence[tuple[str, Sequence[Any]]], note: str = "", xors: Sequence[Sequence[int]] = ()
) -> Figure:
    """The figure of accesses, each a heading and its phases (analysis.banks.Phase), in columns; a frame is two panels.

    xors: for each access what a swizzle XORs into the bank of each lane; () where there is none.

    Of an access of more than eight wavefronts the first phase is drawn where all phases take as many, else its first eight.

    Raises: FigureError for an access that no lane takes part in.

    >>> from cute_viz.analysis.banks import phases
    >>> drawn = frames("Two words of a bank", "", [("plain", phases([0, 128] + [0] * 30, "ld.32"))])
    >>> [panel.caption for panel in drawn.panels if panel.caption], len(drawn.arrows)
    (['plain: 1 of 2', '2 of 2'], 32)
    """
    panels: list[Panel] = []
    joins: list[Arrow] = []
    notes = [note] if note else []
    for column, (heading, phases) in enumerate(parts):
        waves, left_out = _waves(phases)
        if not waves:
            raise FigureError("no lane takes part in this access")
        if left_out:
            notes.append(f"{heading or 'Drawn'}: {left_out}.")
        lanes = max(BANKS, 1 + max(lane for phase in phases for lane in phase.lanes))
        done: set[int] = set()
        for row, (first, served) in enumerate(waves):
            caption = f"{row + 1} of {sum(phase.wavefronts for phase in phases)}"
            caption = f"{heading}: {caption}" if heading and row == 0 else caption
            now = {lane for mine in served for lane in mine}
            hue = _FIRST if first else _LATER
            paints = [hue if lane in now else _DONE if lane in done else _IDLE for lane in range(lanes)]
            data: dict[str, Any] = {"thread": tuple(range(lanes))}
            panels.append(_line(caption, "lanes", paints, (2 * row, column), True, data))
            xor = xors[column] if column < len(xors) else ()
            if xor:
                panels[-1] = _with_xors(panels[-1], xor, now, hue)
            data = {"bank": tuple(range(BANKS)), "lanes": tuple(served)}
            panels.append(_line("", "banks", [hue if mine else _IDLE for mine in served], (2 * row + 1, column), False, data))
            for bank, mine in enumerate(served):
                for lane in mine:
                    start = (panels[-2].rows - 1, lane, panels[-2].rows, lane + 1)
                    joins.append(Arrow(len(panels) - 2, len(panels) - 1, start, (0, bank, 1, bank + 1), False))
            done |= now
    paints = [paint for panel in panels for paint in panel.paints]
    words = ("idle", "first wavefront of its phase", "further: a conflict", "lane that was served before")
    entries = tuple(LegendEntry(paint, word, paints.count(paint)) for paint, word in enumerate(words) if paint in paints)
    caption = "A frame is a wavefront: the 32 banks serve a word each, to every lane that is joined to it"
    caption += "; XOR: what the swizzle XORs into the lane's bank" if any(xors) else ""
    return Figure(
        kind="frames",
        title=title,
        source=source,
        caption=caption,
        description=f"{title}. {caption}. {' '.join(notes)}".rstrip(),
        paints=(Paint(-1), Paint(0, 1, 2), Paint(1), Paint(0, faded=True)),
        legends=(Legend("hue: what a lane or bank does", entries),),
        panels=tuple(panels),
        notes=tuple(notes),
        arrows=tuple(joins),
    )


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


def _waves(phases: Sequence[Any]) -> tuple[list[tuple[bool, list[tuple[int, ...]]]], str]:
    """(whether it is the first of its phase, the lanes that each bank serves) of the wavefronts to draw, and what is left out."""
    every = [
        (wave == 0, [tuple(sorted(set(words[wave][1]))) if wave < len(words) else () for words in phase.banks])
        for phase in phases
        for wave in range(phase.wavefronts)
    ]
    if len(every) <= MOST:
        return every, ""
    each = {phase.wavefronts for phase in phases}
    if len(each) == 1 and (per := each.pop()) <= MOST:
        return every[:per], f"the first of {len(phases)} phases; each takes {count(per, 'wavefront')}"
    return every[:MOST], f"the first {MOST} of {len(every)} wavefronts"


def _line(name: str, what: str, paints: Sequence[int], place: tuple[int, int], ruled: bool, data: dict[str, Any]) -> Panel:
    """Lanes or banks side by side; only the lanes have a ruler above, as joins come in to the banks there."""
    cells = range(len(paints))
    numbers = tuple(map(str, cells))
    return Panel(
        caption=name,
        rows=1,
        cols=len(paints),
        labels=numbers,
        paints=tuple(paints),
        row_ruler=Ruler("", (what,), (0, 0)),
        col_ruler=Ruler(
            "",
            numbers if ruled else ("",) * len(paints),
            borders(len(paints), 8),
        ),
        data=data,
        place=place,
    )
