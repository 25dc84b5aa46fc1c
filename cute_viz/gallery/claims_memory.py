"""What titles claim of banks, of bits, of copies in bulk and of the lanes of a kernel, held against the cells of the model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from cute_viz.figures.model import Figure, Panel

CHUNK, LINE, FULL, LANES = 16, 128, 8, 128  # bytes of a chunk, and of a line of all banks; paints in full hue; lanes


def _firsts(panel: Panel, bits: int, unit: int) -> list[int]:
    """The chunk, or bank, of a line in which each row of the tile begins, by the label at its first column or by where it lies."""
    if panel.row_ruler.title == "byte":
        cells = {int(label.partition(",")[0]): n for n, label in enumerate(panel.labels) if re.fullmatch(r"\d+,0", label)}
        return [n % panel.cols * bits // 8 % LINE // unit for _, n in sorted(cells.items())]
    return [int(label) * 4 // unit for label in panel.labels[:: panel.cols]]


def _banks(figure: Figure, found: re.Match[str]) -> bool:
    """Rows, groups of banks (or banks) and ways of each panel, plain and swizzled."""
    unit = CHUNK if found[3] == "bank group" else 4
    columns = [_firsts(panel, figure.facts["bits of an element"], unit)[: int(found[1])] for panel in figure.panels]
    ways = 1 if found[5] == "conflict-free" else int(re.findall(r"\d+", found[5])[0])
    groups = [int(found[2]), *([int(found[4])] if found[4] else [])]
    counted = [len({*column}) for column in columns]
    return len(columns[0]) == int(found[1]) and counted == groups and max(Counter(columns[-1]).values()) == ways


def _bits(figure: Figure, found: re.Match[str]) -> bool:
    """The swizzle and its bits, from the sums of two in the row that comes out."""
    pairs = sorted([(int(a), int(b)) for label in figure.panels[0].labels for a, b in re.findall(r"b(\d+)⊕b(\d+)", label)])
    changed, read = ([pair[n] for pair in pairs] for n in (0, 1))
    told = [int(n) for n in found.groups() if n is not None]
    spans = [x for ends in (read, changed) for x in (ends if len(ends) == 1 else [ends[0], ends[-1]])]
    return told == [len(pairs), min(*changed, *read), read[0] - changed[0], *spans]


def _bulk(figure: Figure, found: re.Match[str]) -> bool:
    """The CTAs that issue, the bytes of the values in shared memory, and what the tensor shows: a box, rows, pixels or a line."""
    values = [int(n) for panel in figure.panels for label in panel.labels for n in re.findall(r"\bV(?:\d+-)?(\d+)", label)]
    ctas = {label.partition("\n")[0] for label in figure.panels[0].labels}
    total = int(found["bytes"]) * int(found["rows"] or 1)
    whole = (
        not values
        or any("lines of" in note for note in figure.notes)
        or (max(values) + 1) * figure.facts["bits of a value"] == 8 * total
    )
    _, reads, writes, *_ = [*(panel.caption.partition(": ")[2] for panel in figure.panels), ""]
    led = found["from"] is None or (reads.startswith(f"{found['from']} memory") and writes.startswith(f"{found['to']} memory"))
    tensor = next(panel for panel in figure.panels if panel.caption.partition(": ")[2].startswith("global memory"))
    rows = sum(re.fullmatch(r"r\d", label) is not None for label in tensor.labels)
    flat = [label[1:] for label in tensor.labels if re.fullmatch(r"\+\d+", label)] == ["0", str(total - 1)]
    shown = bool(tensor.boxes) and not rows and not flat, rows, flat, any(re.fullmatch(r"p\d+", x) for x in tensor.labels)
    told = bool(found["box"]), int(found["rows"] or 0), bool(found["flat"]), bool(found["walk"])
    adds = any("+=" in label for label in tensor.labels) == bool(found["adds"])
    pair = len(ctas) == int(found[1] or 1) and ("cta_group::2" in figure.caption) == (found[1] == "2")
    return whole and led and adds and pair and shown == told


def _lit(panel: Panel, axis: int) -> list[int]:
    return sorted({divmod(n, panel.cols)[axis] for n, paint in enumerate(panel.paints) if 0 <= paint < FULL})


def _of_thread(figure: Figure, found: re.Match[str]) -> bool:
    """The cells `m,n` in full hue of C, and of A those of the same rows and of the k that the instruction's arrow names."""
    rows, thread, asked, each, columns = found.groups()
    told = [int(x) for x in re.findall(r"\d+", rows)]
    named = {entry.label for entry in figure.legends[0].entries}
    deep = next(int(n) for arrow in figure.arrows for n in re.findall(r"k 0\.\.(\d+)", arrow.label))
    for panel in [panel for panel in figure.panels if "bit" not in panel.data]:
        cells = [[int(x) for x in label.split(",")] for label in panel.labels if re.fullmatch(r"\d+,\d+", label)]
        shown = [panel.labels[n] for n, p in enumerate(panel.paints) if 0 <= p < FULL]
        if not all(re.fullmatch(r"\d+,\d+", label) for label in shown):
            return False
        lit = [[int(x) for x in label.split(",")] for label in shown]
        mine = [cell for cell in cells if cell[0] in told]
        if sorted({m for m, _ in lit}) != told:
            return False
        wide = min(b - a for a, b in pairwise(sorted({n for _, n in mine})))  # columns of a cell
        if panel in figure.panels[:2]:
            wanted = [cell for cell in mine if cell[1] <= deep]
        elif panel.col_ruler.title == "register":
            wanted = mine
        elif each:
            ends = {n % int(each) for _, n in lit}
            if [f"{n + k}" for n in sorted(ends) for k in range(wide)] != asked.split(", "):
                return False
            wanted = [cell for cell in mine if cell[1] % int(each) in ends]
        else:
            wanted = [cell for cell in mine if int(columns.partition("..")[0]) <= cell[1] <= int(columns.partition("..")[2])]
        if sorted(lit) != sorted(wanted):
            return False
    return f"thread {thread}" in named


def _kept(figure: Figure, found: re.Match[str]) -> bool:
    """One hue for each row wherever it is, so many rows of one; or each row in the lane of its number. Lines of shared memory
    have chunks of their row in another order where that is told, and no other panel has."""
    hues, moved = dict[int, int](), set[int]()
    for n, panel in enumerate(panel for panel in figure.panels if "bit" not in panel.data):
        for cell, (label, paint) in enumerate(zip(panel.labels, panel.paints, strict=True)):
            if not (at := re.fullmatch(r"(\d+),(\d+)", label)):
                continue
            row, lane = int(at[1]), cell // panel.cols
            if hues.setdefault(row, figure.paints[paint].hue) != figure.paints[paint].hue:
                return False
            if found["lanes"] and panel.rows == LANES and "swizzled" not in panel.caption and row != lane:
                return False
            before = panel.labels[cell - 1].partition(",") if cell % panel.cols else ("", "", "")
            if before[0] == at[1] and int(before[2]) > int(at[2]) and "stages" not in panel.caption:
                moved.add(n)
    each = {*Counter(hues.values()).values()}
    shared = {n for n, panel in enumerate(figure.panels) if ", swizzled" in panel.caption}
    return (
        (not found["rows"] or each == {int(found["rows"])})
        and (moved <= shared if found["bent"] else True)
        and bool(moved) >= bool(found["bent"])
    )


def _behind(figure: Figure, found: re.Match[str]) -> bool:
    """The columns, 8 a cell, whose cells are of scale factors, after all of C's."""
    panel = next(panel for panel in figure.panels if "SFA" in panel.labels)
    cells = {what: {n % panel.cols for n, x in enumerate(panel.labels) if (x[:2] == "SF") == what and x} for what in (False, True)}
    first = int(panel.col_ruler.labels[min(cells[True])])
    return max(cells[False]) < min(cells[True]) and (first, first + 8 * len(cells[True]) - 1) == (int(found[1]), int(found[2]))


def _in_lane(figure: Figure, found: re.Match[str]) -> bool:
    """The cells in full hue are of that row wherever they are, and the thread has their name."""
    row, *others = map(int, found.groups())
    lit = {panel.labels[n].partition(",")[0] for panel in figure.panels for n, p in enumerate(panel.paints) if 0 <= p < FULL}
    return others == [row] * 3 and lit == {str(row)} and figure.legends[0].entries[0].label == f"thread {row}"


def _waves(figure: Figure, found: re.Match[str]) -> bool:
    """Rows of the panels of wavefronts in which a lane is served."""
    idle = next(n for n, paint in enumerate(figure.paints) if paint.hue == -1)
    strips = [panel for panel in figure.panels if panel.row_ruler.title == "wave"]
    used = [sum({*p.paints[r * p.cols : (r + 1) * p.cols]} != {idle} for r in range(p.rows)) for p in strips]
    return used == [int(n) for n in found.groups() if n]


def _alike(figure: Figure, found: re.Match[str]) -> bool:
    offsets = [x for panel in figure.panels for x in panel.data["offset"]]
    return (len(offsets), {*offsets}) == (int(found[1]), {int(found[2])})


CLAIMS: dict[str, Callable[[Figure, Any], bool]] = {
    r"(?:Down a column,|The first (?:chunk|element)s of) (\d+) rows lie in (\d+) (bank|bank group)s?(?:; swizzled, in (\d+))?: "
    r"(conflict-free|an? \d+-way conflict)": _banks,
    r"Sw<(\d+),(\d+),(-?\d+)> XORs bits? (\d+)(?:\.\.(\d+))? into bits? (\d+)(?:\.\.(\d+))?": _bits,
    r"One thread(?: of each of (\d+) CTAs)? (?:copies|prefetches|(?P<adds>adds)) (?:(?P<box>a box) of |(?P<rows>\d+) rows of )?"
    r"(?P<bytes>\d+)(?P<flat> contiguous)? bytes?(?:, (?P<walk>pixel) by pixel)?,?(?: of \w+ memory to \w+ memory)?"
    r"(?: from (?P<from>\w+) to (?P<to>\w+) memory)?": _bulk,
    r"Rows? ([\d, and]+?) of \w+ gives? thread (\d+) columns (?:([\d, ]+) of each (\d+)|(\d+\.\.\d+)) of C": _of_thread,
    r"(?:A warp keeps its (?P<rows>\d+) rows from \w+ to \w+|(?P<lanes>Row r is lane r and thread r))"
    r"(?:; only the swizzle (?P<bent>bends) \w+)?": _kept,
    r"SFA and SFB lie in columns (\d+)\.\.(\d+), behind the accumulator": _behind,
    r"Row (\d+) of \w+ becomes row (\d+) of C, in lane (\d+) and then in thread (\d+)": _in_lane,
    r"\d+ rows? in one bank group: (\d+) wavefronts?(?:\. Swizzled: (\d+)\.)?": _waves,
    r"All (\d+) cells have offset (-?\d+)": _alike,
}
