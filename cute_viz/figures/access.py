"""One instruction over shared memory: what its lanes access, on the map of banks, and below it the wavefronts that serve them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cute_viz.errors import FigureError
from cute_viz.figures.memory import CHUNK
from cute_viz.figures.model import CONFLICT, Arrow, Figure, Legend, LegendEntry, Paint, Panel, Ruler, Shape
from cute_viz.figures.options import FigureOptions, check_cells
from cute_viz.figures.paint import numbered
from cute_viz.figures.phases import BANKS, lane_words, lanes_of
from cute_viz.records import dataclass
from cute_viz.spelling import count

LINE = 128  # bytes that the banks hold side by side
MOST_LINES = 24  # of the map; of more, those that are accessed
WIDE = 8  # columns up to which plain and swizzled stand side by side
HUES = 8
SHADES = 4  # of phases
INSET = 0.06  # of a cell, so that what is free leaves the frame seen
IDLE, WAITS, SERVED = HUES, HUES + 1, HUES + 2  # paints, behind those of the chunks; SERVED is that of the first phase


@dataclass(frozen=True, slots=True)
class Accessed:
    """An access of a tile.

    name: `plain`, `swizzled` or "". source: the layout. elements: byte -> (row, column) of the element that begins there.
    begins: the first byte of each active lane. width: bytes that a lane moves. phases: analysis.banks.Phase. letter: what a lane is
    called: `T`, or `r` of a row that no lane names.
    counted: by what rule, where it is another's. ideal: the wavefronts without a conflict. what: what a lane moves, in words.
    instruction: what accesses. size: bytes of an element; down: whether elements of a column lie side by side, else those of a row.
    """

    name: str
    source: str
    elements: Mapping[int, tuple[int, int]]
    begins: Mapping[int, int]
    width: int
    phases: Sequence[Any]
    ideal: int
    letter: str = "T"
    what: str = "words"
    instruction: str = ""
    size: int = 2
    down: bool = False
    counted: str = ""

    @property
    def wavefronts(self) -> int:
        """How many wavefronts all phases take."""
        return sum(phase.wavefronts for phase in self.phases)

    @property
    def ways(self) -> int:
        """The most words that one bank is asked for in a phase."""
        return max((phase.wavefronts for phase in self.phases), default=0)


def access(layout: Any, options: FigureOptions) -> Figure:
    """The map of banks under an access, outlined, and the wavefronts below; of a swizzled layout the plain one beside it.
    Raises: FigureError without an access in `by`, which the engine makes of the words."""
    parts = options.by
    if not isinstance(parts, tuple) or not all(isinstance(part, Accessed) for part in parts):
        raise FigureError("`view=access` needs `by=`, who accesses the tile", hint="example: ldmatrix.x4, or a TiledCopy")
    check_cells(len(parts[0].elements), f"the layout {parts[0].source}", options)
    wide = parts[0].width
    cols = LINE // max(4, wide)
    across = cols <= WIDE
    rows = max(part.wavefronts for part in parts) if across else 0
    silent = parts[0].letter != "T"  # no lanes, whose order nobody knows
    panels: list[Panel] = []
    arrows: list[Arrow] = []
    for n, part in enumerate(parts):
        places = ((0, n), (1, n)) if across else ((2 * n, 0), (2 * n + 1, 0))
        lines, strip = _map(part, cols, places[0]), _strip(part, cols, max(rows, part.wavefronts), places[1])
        panels.append(lines)
        if silent:
            continue
        for c in range(cols):
            waits = [r for r in range(part.wavefronts) if strip.paints[r * cols + c] != IDLE]
            if across and waits:
                late = any(strip.paints[r * cols + c] == WAITS for r in waits)
                box = (0, c, 1, c + 1)
                arrows.append(Arrow(2 * n, 2 * n + 1, (lines.rows - 1, c, lines.rows, c + 1), box, look="alarm" if late else ""))
        panels.append(strip)
    title = options.title or (_groups(parts, cols) if silent else _title(parts))
    one = parts[-1]
    drawn, every = panels[-1 if silent else -2].rows, len({byte // LINE for byte in one.elements})
    phases = len(one.phases)
    who = "lanes" if one.letter == "T" else one.what
    does = "writes" if one.instruction.startswith(("st", "cp.async")) else "reads"
    caption = f"{one.instruction} {does} {one.width} bytes for each of {len(one.begins)} {who}"
    if silent:
        caption = f"{one.instruction} accesses {len(one.begins)} {who} of {one.width} bytes"
    if phases > 1 and not silent:
        lane = f"{one.letter}{min(one.phases[1].lanes)}"
        caption += f" in {phases} phases, lighter is later (1·{lane}: {lane}, in phase 1)"
    caption += ": by bank, where they lie" + "; by wave, which of them are served" * (not silent)
    if drawn < every:
        caption += f"; {drawn} of the {every} lines of 128 bytes are drawn"
    painted = [min(paint, SERVED) for panel in panels[not silent :: 2 - silent] for paint in panel.paints]
    entries = ((SERVED, f"{one.instruction} accesses it" if silent else "served at once"), (WAITS, "waits: the bank is taken"))
    legend = Legend("hue: what a bank does", tuple(LegendEntry(p, words) for p, words in entries if p in painted))
    told = "; ".join(f"{part.name or part.source}: {count(part.wavefronts, 'wavefront')}, {part.ideal} ideal" for part in parts)
    known = {f"wavefronts{f' {part.name}' if part.name else ''}": part.wavefronts for part in parts} | {"ideal": one.ideal}
    later = [Paint(0, shade, SHADES) for shade in range(SHADES)]
    paints = (*[Paint(n, faded=True) for n in range(HUES)], Paint(-1), Paint(CONFLICT), *later)
    return Figure(
        kind="access",
        title=title,
        source=one.source,
        caption=caption,
        description=f"{title}{'.' if silent else f' {told}.'} {caption}.",
        paints=paints,
        legends=(legend,),
        panels=tuple(panels),
        notes=(one.counted,) if one.counted else (),
        facts={} if silent else known,
        arrows=tuple(arrows),
        flow="grid",
    )


def _groups(parts: Sequence[Accessed], cols: int) -> str:
    """In how many of the bank groups the bytes lie, and those of the swizzled tile; of all alike, how many in each."""
    every = [Counter(begin % LINE * cols // LINE for begin in part.begins.values()) for part in parts]
    reached = [len(groups) for groups in every]
    if all(len(groups) == cols and len({*groups.values()}) == 1 for groups in every):
        words = f"{count(len(parts[0].begins), parts[0].what[:-1])} fill all {cols} bank groups evenly"
        return words + ", swizzled or not" * (len(parts) > 1)
    words = f"{len(parts[0].begins)} {parts[0].what} in {reached[0]} of {count(cols, 'bank group')}"
    return words + (f". Swizzled: in {reached[-1]}." if len(parts) > 1 else "")


def _title(parts: Sequence[Accessed]) -> str:
    """What the access costs, and why."""
    first, last = parts[0], parts[-1]
    where = "one bank group" if first.width > 4 else "one bank"
    if first.ways > 1 and first.wavefronts > first.ideal:
        some = "up to " * (len({phase.wavefronts for phase in first.phases}) > 1)
        phase = " a phase" * (len(first.phases) > 1)
        words = f"{some.capitalize()}{first.ways} {first.what}{phase} in {where}: {count(first.wavefronts, 'wavefront')}"
    else:
        words = f"Conflict-free: {count(first.wavefronts, 'wavefront')}"
    return words + (f". Swizzled: {last.wavefronts}." if len(parts) > 1 else "")


def _map(part: Accessed, cols: int, place: tuple[int, int]) -> Panel:
    """The lines of memory that are accessed, a column for each group of banks, hue by the chunk of the tile that lies there."""
    unit = LINE // cols
    wanted: dict[int, list[int]] = {}  # cell of memory -> lanes
    for lane, begin in part.begins.items():
        for byte in range(begin // unit * unit, begin + part.width, unit):
            wanted.setdefault(byte // unit, []).append(lane)
    touched = sorted({cell // cols for cell in wanted})
    lines = list(range(touched[0], touched[-1] + 1))
    lines = lines if len(lines) <= MOST_LINES else touched[: 2 * MOST_LINES]
    labels, paints, shapes, names = [], [], [], []
    for r, line in enumerate(lines):
        found = {part.elements[byte][0] for byte in range(line * LINE, (line + 1) * LINE) if byte in part.elements}
        names.append(str(found.pop()) if len(found) == 1 else "")
        for c in range(cols):
            cell = line * cols + c
            hue = _chunk(part, cell * unit)
            labels.append(_lanes(part, wanted.get(cell, []), cols, True))
            paints.append(_served(part, wanted[cell], c * BANKS // cols) if cell in wanted else IDLE if hue is None else hue)
            if cell in wanted:
                shapes.append(Shape("box", ((c, r), (c + 1, r + 1)), "", "strong"))
    held = [wanted.get(line * cols + c) for line in lines for c in range(cols)]
    banks = [tuple(range(c * BANKS // cols, (c + 1) * BANKS // cols)) if cols < BANKS else c for c in range(cols)]
    by_row = len(set(names)) == len(names) and all(names)
    if not by_row:
        names = [str(line * LINE) for line in lines]
    heading = {"plain": "Plain", "swizzled": "Swizzled"}.get(part.name, part.name)
    return Panel(
        caption=f"{heading}  {part.source}",
        labels=tuple(labels),
        paints=tuple(paints),
        row_ruler=numbered("row" if by_row else "byte", lines, names),
        col_ruler=Ruler("bank", tuple(str(c * unit // 4) for c in range(cols))),
        data={
            "byte": tuple(line * LINE + c * unit for line in lines for c in range(cols)),
            "bank": tuple(banks) * len(lines),
            **({} if part.letter != "T" else {"thread": tuple([one[0] if one else None for one in held])}),
        },
        shapes=tuple(shapes),
        place=place,
        unit=(1.15 if len(part.phases) == 1 else 1.7, 0.8) if cols <= WIDE else (0.9, 0.7) if cols < BANKS else (0.52, 0.5),
    )


def _served(part: Accessed, lanes: Sequence[int], bank: int) -> int:
    """The paint of a cell of memory that lanes access: whether the first wavefront of their phase serves it."""
    if part.letter != "T":
        return SERVED
    n, phase = next(((n, phase) for n, phase in enumerate(part.phases) if lanes[0] in phase.lanes), (0, part.phases[0]))
    waves = phase.banks[bank]
    return SERVED + n % SHADES if not waves or lanes[0] in waves[0][1] else WAITS


def _chunk(part: Accessed, byte: int) -> int | None:
    """The number, modulo 8, of the 16 bytes of its row (or column) of the tile that lie at a byte; None where nothing lies."""
    at = part.elements.get(byte // part.size * part.size)
    return None if at is None else at[0 if part.down else 1] * part.size // CHUNK % HUES


def _lanes(part: Accessed, lanes: Sequence[int], cols: int, with_phase: bool = False) -> str:
    """The lanes of a cell in few letters: `T3`, with its phase `1·T9`; where columns are narrow, the number alone."""
    words = lane_words(sorted(set(lanes))).replace("T", part.letter if cols <= WIDE else "", 1)
    phase = next((n for n, phase in enumerate(part.phases) if lanes and lanes[0] in phase.lanes), 0)
    return f"{phase}·{words}" if words and with_phase and part.letter == "T" and len(part.phases) > 1 and cols <= WIDE else words


def _strip(part: Accessed, cols: int, rows: int, place: tuple[int, int]) -> Panel:
    """A row for each wavefront, with the lanes that it serves, and the number of them in free room."""
    labels, paints, names, levels = [], [], [], []
    for n, phase in enumerate(part.phases):
        for wave in range(phase.wavefronts):
            names.append(f"{n}.{wave}" if len(part.phases) > 1 else str(wave + 1))
            levels.append(int(wave == 0 and n > 0))
            for lanes in lanes_of(phase, wave, BANKS // cols):
                labels.append(_lanes(part, lanes, cols))
                paints.append(IDLE if not lanes else WAITS if wave else SERVED + n % SHADES)
    more = rows - len(names)
    labels += [""] * more * cols
    paints += [IDLE] * more * cols
    worse = part.wavefronts > part.ideal
    busy = "all 32 banks busy" if part.wavefronts == 1 and IDLE not in paints[:cols] else "the ideal"
    words = f"{part.ideal} would be ideal" if worse else busy
    sentence = f"{'wavefront' if part.wavefronts == 1 else 'wavefronts'}: {words}"
    r0, c0, r1, c1 = _free(paints, rows, cols)
    look = "big alarm" if worse else "big"
    free = (r1 - r0) >= 4 and (c1 - c0) * 8 >= 4 * cols
    (left, right), (top, bottom) = (
        (a + (a == 0) * INSET, b - (b == end) * INSET) for a, b, end in ((c0, c1, cols), (r0, r1, rows))
    )
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    words = f"{part.wavefronts}\n{sentence.replace(': ', chr(10), 1)}"
    text = [Shape("area", corners, look="paper"), Shape("text", ((c0, r0), (c1, r1)), words, look)] if free else []
    return Panel(
        labels=tuple(labels),
        paints=tuple(paints),
        row_ruler=Ruler("wave", tuple(names) + ("",) * more, (*levels, *[0] * more, 0)),
        col_ruler=Ruler("", ("",) * cols),
        shapes=tuple(text),
        foot="" if free else f"{part.wavefronts} {sentence}",
        place=place,
        unit=(1.15 if len(part.phases) == 1 else 1.7, 0.62) if cols <= WIDE else (0.9, 0.5) if cols < BANKS else (0.52, 0.4),
    )


def _free(paints: Sequence[int], rows: int, cols: int) -> tuple[int, int, int, int]:
    """The largest rectangle of idle cells."""
    best, tall = (0, 0, 0, 0), [0] * cols
    for r in range(rows):
        tall = [tall[c] + 1 if paints[r * cols + c] == IDLE else 0 for c in range(cols)]
        for c in range(cols):
            low = tall[c]
            for end in range(c, cols):
                low = min(low, tall[end])
                if low * (end + 1 - c) > (best[2] - best[0]) * (best[3] - best[1]):
                    best = (r + 1 - low, c, r + 1, end + 1)
    return best
