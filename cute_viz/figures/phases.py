"""The wavefronts of an access of shared memory: a row each, with the lanes that it serves at each bank."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from cute_viz.figures.model import CONFLICT, Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.figures.options import runs

BANKS = 32
LISTED = 4  # runs of lanes that a label lists
_IDLE, _FIRST, _LATER = range(3)


def strip(
    title: str,
    source: str,
    parts: Sequence[tuple[str, Sequence[Any]]],
    wide: int,
    note: str = "",
    xors: Sequence[Sequence[int]] = (),
) -> Figure:
    """The figure of accesses, each with a heading and its phases (analysis.banks.Phase), on top of each other.

    A row is a wavefront: of each bank of a phase it serves one word, so that a phase takes as many as its fullest bank has words.
    wide: banks that a lane asks for together, which are a column. xors: for each access what a swizzle XORs into the byte address
    of each lane; () where there is none.
    """
    panels = [_panel(heading, phases, wide, n, xors[n] if n < len(xors) else ()) for n, (heading, phases) in enumerate(parts)]
    entries = tuple(map(LegendEntry, (_IDLE, _FIRST, _LATER), ("idle", "first of its phase", "further: a conflict")))
    banks = "a bank" if wide == 1 else f"{wide} banks"
    mute = f"A row is a wavefront, a column {banks}"
    return Figure(
        kind="phases",
        title=title,
        source=source,
        caption=f"{mute}; a cell shows the lanes that are served there",
        mute=mute,
        paints=(Paint(-1), Paint(0, 1, 2), Paint(CONFLICT)),
        legends=(Legend("hue: what a bank does", entries),),
        panels=tuple(panels),
        notes=(note,) if note else (),
    )


def _panel(heading: str, phases: Sequence[Any], wide: int, place: int, xor: Sequence[int]) -> Panel:
    cols = BANKS // wide
    labels, levels, cells, paints, served = [], [], [], [], []
    for n, phase in enumerate(phases):
        for wave in range(phase.wavefronts):
            labels.append(f"{n}.{wave}")
            levels.append(1 if wave == 0 and n else 0)
            for lanes in lanes_of(phase, wave, wide):
                cells.append(lane_words(lanes))
                served.append(lanes)
                paints.append(_IDLE if not lanes else _LATER if wave else _FIRST)
    every = tuple(str(n * wide) if wide == 1 else f"{n * wide}-{(n + 1) * wide - 1}" for n in range(cols))
    return Panel(
        caption=heading,
        labels=tuple(cells),
        paints=tuple(paints),
        row_ruler=Ruler("phase.wavefront", tuple(labels), (*levels, 0)),
        col_ruler=Ruler("bank" if wide == 1 else "banks", every, tuple(int(c * wide % 8 == 0 < c < cols) for c in range(cols + 1))),
        data={"lanes": tuple(served), **({"xor": tuple(tuple(xor[lane] for lane in mine) for mine in served)} if xor else {})},
        place=(place, 0),
    )


def lanes_of(phase: Any, wave: int, wide: int = 1) -> list[tuple[int, ...]]:
    """The lanes that a wavefront of a phase serves at each bank, or at each so many banks that one lane asks for together."""
    return [tuple(sorted(set(words[wave][1]))) if wave < len(words) else () for words in phase.banks[::wide]]


def lane_words(lanes: Sequence[int]) -> str:
    """Lanes in order, in few letters: runs, and of more than four of these the first two and the last, or how many more there
    are."""
    found = runs(lanes)
    steps = {b - a for a, b in pairwise(lanes)}
    if len(found) > LISTED:
        return f"T{lanes[0]},{lanes[1]}..{lanes[-1]}" if len(steps) == 1 else f"T{lanes[0]},{lanes[1]} and {len(lanes) - 2} more"
    return "T" + ",".join(str(a) if a == b else f"{a}-{b}" for a, b in found) if found else ""
