"""What titles claim of bits, of paths, of differences, of steps, of a cube and of machines side by side, held against the cells."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from cute_viz.figures.model import HOLE, Figure, Panel


def _lines(panel: Panel, column: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    return [column[n : n + panel.cols] for n in range(0, len(column), panel.cols)]


def _xors(figure: Figure, found: re.Match[str]) -> bool:
    """Bits of the address that more than one bit sets."""
    panel = figure.panels[0]
    several = sum(line.count("1") > 1 for line in _lines(panel, panel.labels))
    return several == int(found[1]) and (found[3] == "bank" or panel.rows == int(found[2]))


def _neighbors(figure: Figure, found: re.Match[str]) -> bool:
    """Steps from an address to the next that go to the cell beside, above or below."""
    panel = figure.panels[0]
    order = [divmod(n, panel.cols) for n in sorted(range(len(panel.paints)), key=panel.data["offset"].__getitem__)]
    near = [abs(r - row) + abs(c - col) == 1 for (r, c), (row, col) in pairwise(order)]
    return (sum(near), len(near)) == (int(found[1]), int(found[2]))


def _unused(figure: Figure, found: re.Match[str]) -> bool:
    offsets = {*figure.panels[0].data["offset"]}
    return (max(offsets) + 1 - len(offsets), max(offsets) + 1) == (int(found[1]), int(found[2]))


def _moved(figure: Figure, found: re.Match[str]) -> bool:
    """Cells whose offsets differ; each row has the same ones on both sides."""
    one, other = figure.panels
    a, b = one.data["offset"], other.data["offset"]
    rows = zip(_lines(one, a), _lines(other, b), strict=True)
    alike = all(sorted(mine) == sorted(its) for mine, its in rows)
    runs = {n for n, x in enumerate(b) if n % other.cols == 0 or x != b[n - 1] + 1} if found[3] else set()
    if any(n % int(found[3]) for n in runs):
        return False
    return alike and (sum(x != y for x, y in zip(a, b, strict=True)), len(a)) == (int(found[1]), int(found[2]))


def _cut(figure: Figure, found: re.Match[str]) -> bool:
    """Hues of the result."""
    return len({figure.paints[p].hue for p in figure.panels[-1].paints if p != HOLE}) == int(found[1])


def _picked(figure: Figure, found: re.Match[str]) -> bool:
    """Cells of the result, and of A."""
    sizes = [sum(map(bool, panel.labels)) for panel in figure.panels]
    return (sizes[-1], max(sizes)) == (int(found[1]), int(found[2] or sizes[-1]))


def _shares(figure: Figure, found: re.Match[str]) -> bool:
    """Of the cells of A and B that a thread's C needs, those that it holds."""
    told = [(found[1], found[2]), (found[3], found[4])]
    for panel, (held, needed) in zip(figure.panels, told, strict=False):
        its = [mine for mine, need in zip(panel.data["held"], panel.data["needed"], strict=True) if need]
        if len(its) != int(needed) or sum(its) != {"none": 0, "all": len(its)}.get(held, int(held) if held.isdecimal() else -1):
            return False
    return True


def _row(figure: Figure, found: re.Match[str]) -> bool:
    """Threads of the first row of each panel."""
    counts = [len({*panel.data["thread"][: panel.cols]}) for panel in figure.panels]
    return counts == [int(n) for n in re.findall(r"\d+", found[0])]


def _atoms(figure: Figure, found: re.Match[str]) -> bool:
    return (int(found[1]) * int(found[2]), int(found[2])) == (figure.facts["values"], figure.facts["atoms"])


CLAIMS: dict[str, Callable[[Figure, Any], bool]] = {
    r"(\d+) of (\d+) (bank|address) bits are (?:XORs|a column bit XOR a row bit)": _xors,
    r"(?:Row|Column)-major: (\d+) of (\d+) steps go to a neighbor": _neighbors,
    r"(?:Row|Column)-major: (\d+) of (\d+) addresses are unused": _unused,
    r"(\d+) of (\d+) offsets move within their rows(?:, in runs of (\d+))?": _moved,
    r"\w+ (?:cuts A into (?=\d)|repeats A (?=\d))(\d+) (?:tiles|times).*": _cut,
    r"The tiler picks (\d+) of the (\d+) elements of A: .*": _picked,
    r"A\(R\(j\)\) = j for all (\d+)() offsets of A": _picked,
    r"Thread \d+ holds (\w+) of the (\d+) A and (\w+) of the (\d+) B elements that its C needs": _shares,
    r"A row of C is in \d+ threads?(?:,? (?:and )?\d+)? of .*": _row,
    r"One thread holds (\d+) values in each of (\d+) atoms": _atoms,
}
