"""The odd one out: a label, a paint, a number of a ruler that breaks the rule of all the others, as a reader's eye catches it.

Layouts are regular: numbers of cells are A(row) + B(column), or an XOR of the two; a paint goes with a part of what a cell says.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from math import prod

import numpy as np
import numpy.typing as npt

from cute_viz.figures.model import CONFLICT, HOLE, Figure, Paint, Panel, Ruler

Table = npt.NDArray[np.int64]
NONE = -(1 << 40)  # of a cell that says nothing
FEWEST = 3  # cells alike, of which one is odd


def one_breaks(table: Table, modulus: int = 0) -> tuple[int, int] | None:
    """The only cell for which a table is neither A(row) + B(column) nor an XOR of them; None of a table of another kind."""
    known = table != NONE
    whole = known[:-1, :-1] & known[:-1, 1:] & known[1:, :-1] & known[1:, 1:]
    least = 3 if whole.shape[0] and whole.shape[1] else 99
    a, b, c, d = table[:-1, :-1], table[:-1, 1:], table[1:, :-1], table[1:, 1:]
    odd = []
    for wrong in ((a - b - c + d) % modulus != 0 if modulus else a - b - c + d != 0, a ^ b ^ c ^ d != 0):
        broken = np.argwhere(wrong & whole)
        if not len(broken):
            return None
        if len(broken) <= 4 and whole.sum() >= len(broken) + least:
            common = set.intersection(*({(r, c), (r, c + 1), (r + 1, c), (r + 1, c + 1)} for r, c in broken.tolist()))
            odd += [(r, c) for r, c in sorted(common) if whole[max(0, r - 1) : r + 1, max(0, c - 1) : c + 1].sum() == len(broken)]
    return odd[0] if odd else None


def one_of_a_line(numbers: Sequence[int]) -> bool:
    """Whether one number of a line breaks its rule: equal steps, or those of a table of some width."""
    n = len(numbers)
    if n < 3:
        return False
    steps = Counter(b - a for a, b in pairwise(numbers))
    if len(steps) == 1:
        return False
    found = False
    for wide in (w for w in range(2, n // 2 + 1) if n % w == 0):
        table = np.array(numbers, np.int64).reshape(-1, wide)
        minors = table[:-1, :-1] - table[:-1, 1:] - table[1:, :-1] + table[1:, 1:]
        if not minors.any():
            return False
        found |= one_breaks(table) is not None
    most = max(steps.values())
    return found or (n - 2 <= most + 1 and most > 1) or (n == 3 and 0 in (numbers[0], *steps))


def labels(panel: Panel) -> Iterator[str]:
    """Of labels with the same words, each number in turn."""
    for words, slots in _slots(panel.labels, panel.cols):
        for slot in slots:
            if panel.rows > 1 and panel.cols > 1:
                if at := one_breaks(slot):
                    yield f"{words!r} of cell {at} breaks the rule of the others"
                known = [row[row != NONE].tolist() for row in slot]
                known = [row for row in known if row] if panel.row_ruler.title != "bits" else []
                if len(known) < 3 and any(one_of_a_line(row) for row in known if len(row) == panel.cols > 3):
                    yield f"one of the labels {words!r} of a row breaks the rule of the others"
            elif NONE not in slot and one_of_a_line(slot.ravel().tolist()):
                yield f"one of the labels {words!r} breaks the rule of the others"


@cache
def _slots(texts: tuple[str, ...], cols: int) -> list[tuple[str, list[Table]]]:
    """Tables of the numbers of labels, for each way in which labels are worded."""
    cells: dict[str, dict[int, list[int]]] = defaultdict(dict)
    for n, text in enumerate(texts):
        if numbers := re.findall(r"\d+", text):
            cells[re.sub(r"\d+", "#", text)][n] = [*map(int, numbers)]
    out = []
    for words, mine in cells.items():
        tables = [np.full(len(texts), NONE, np.int64) for _ in range(words.count("#"))]
        for n, numbers in mine.items():
            for table, number in zip(tables, numbers, strict=True):
                table[n] = number
        out.append((words, [table.reshape(-1, cols) for table in tables]))
    return out


def paints(figure: Figure, panel: Panel) -> Iterator[str]:
    """A paint that goes with a part of a number, with a row or a column, in all cells but one; hues that a swizzle turns."""
    mine = [figure.paints[p] if p != HOLE else Paint(-9) for p in panel.paints]
    plain = [re.sub(r"\d+", "#", label) for label in panel.labels] or [""] * len(mine)
    channels = [[(p.hue, p.shade, p.faded) for p in mine]]
    if len({p.faded for p in mine}) > 1 and len({p.shade for p in mine}) == 1:
        channels += [[p.hue for p in mine], [p.faded for p in mine]]
    for name, key in _keys(panel) if figure.kind != "zoom" and CONFLICT not in {p.hue for p in mine} else ():
        for channel in channels:
            classes: dict[tuple[str, int], Counter[object]] = defaultdict(Counter)
            for words, k, paint in zip(plain, key, channel, strict=True):
                if k != NONE:
                    classes[words, k][paint] += 1
            mixed = [counts for counts in classes.values() if len(counts) > 1]
            few = FEWEST + name.startswith("numbers")
            if len(mixed) == 1 and len(mixed[0]) == 2 and min(mixed[0].values()) == 1 and mixed[0].total() >= few:
                yield f"one paint of {name} is not that of the others"
                return
    for faded in (False, True) if panel.rows > 1 and panel.cols > 1 else ():
        table = np.array([p.hue if p.hue >= 0 and p.faded == faded else NONE for p in mine], np.int64)
        if one_breaks(table.reshape(panel.rows, -1), 8):
            yield "the hue of one cell breaks the rule of the others"


def _keys(panel: Panel) -> Iterator[tuple[str, Sequence[int]]]:
    """What a paint may go with: nothing, the row, the column, parts of the numbers of a cell."""
    count = len(panel.paints)
    places = {"all cells": [0] * count, "a row": [n // panel.cols for n in range(count)]}
    yield from (places | {"a column": [n % panel.cols for n in range(count)]}).items()
    several = [slot.ravel() for _, slots in _slots(tuple(panel.labels), panel.cols) for slot in slots] if panel.labels else []
    columns = {name: column for name, column in panel.data.items() if all(x is None or isinstance(x, int) for x in column)}
    tables = [np.array([NONE if x is None else int(x) for x in column], np.int64) for column in columns.values()]
    for table in [*several, *tables]:
        known = table != NONE
        for bits in range(8):
            yield f"numbers / {1 << bits}", np.where(known, table >> bits, NONE).tolist()
            if bits:
                yield f"numbers mod {1 << bits}", np.where(known, table & (1 << bits) - 1, NONE).tolist()


def ruler(of: Ruler) -> bool:
    """Whether one number of a ruler breaks its rule, or the only one is not the first."""
    worded: dict[str, list[tuple[int, list[int]]]] = defaultdict(list)
    for n, label in enumerate(of.labels):
        if numbers := re.findall(r"\d+", label):
            worded[re.sub(r"\d+", "#", label)].append((n, [*map(int, numbers)]))
    for words, mine in worded.items() if len(worded) == 1 else ():
        at = [n for n, _ in mine]
        even = len({b - a for a, b in pairwise(at)}) < 2
        for slot in range(words.count("#")):
            numbers = [its[slot] for _, its in mine]
            if (even or len(at) > 5) and one_of_a_line(numbers):
                return True
    tuples = [tuple(map(int, re.findall(r"\d+", label))) for label in of.labels if re.fullmatch(r"\(\d+(,\d+)+\)", label)]
    if len(tuples) == len(of.labels) > 1 and prod(max(column) + 1 for column in zip(*tuples, strict=True)) != len({*tuples}):
        return True
    return (
        len(of.labels) == 1
        and of.title != "wave"
        and any(its != [0] * len(its) and len(its) == 1 for mine in worded.values() for _, its in mine)
    )


def spans(of: Ruler) -> bool:
    """Whether ranges of a ruler, `0-3`, are of one length and follow each other."""
    found = [re.fullmatch(r"(\d+)(?:-|\.\.)(\d+)", label) for label in of.labels]
    pairs = [(int(x[1]), int(x[2])) for x in found if x]
    return (
        len(pairs) < len(found) or len(pairs) < 3 or all(abs(b[0] - a[1]) == 1 or abs(b[1] - a[0]) == 1 for a, b in pairwise(pairs))
    )


def odd(figure: Figure) -> Iterator[str]:
    """What stands out of each panel."""
    for n, panel in enumerate(figure.panels):
        yield from (f"panel {n}: {flaw}" for flaw in (*labels(panel), *paints(figure, panel)))
        for of in (panel.row_ruler, panel.col_ruler):
            if (ruler(of) or not spans(of)) and "picked" not in panel.caption:
                yield f"panel {n}: a number of the ruler {of.title!r} is odd: {of.labels}"
