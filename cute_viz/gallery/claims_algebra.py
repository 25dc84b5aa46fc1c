"""What titles claim of operations of the algebra, of planes and of several products, held against the cells of the model."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from cute_viz.figures.model import Figure


def _tiles(figure: Figure, found: re.Match[str]) -> bool:
    """Tiles or copies by their hues in the result, as many times as the rest of the sentence has it."""
    panel = figure.panels[-1]
    count, size = int(found[1]), int(found[2] or 0)
    if len(set(panel.data.get("offset", ()))) != len(panel.paints):
        return True  # of what is shared, nothing is counted
    if not size and count * len(figure.panels[0].paints) != len(panel.paints):
        return False
    if size and count * size != sum(len(p.paints) for p in figure.panels if p.caption.startswith("result")):
        return False
    columns = [{*panel.paints[c :: panel.cols]} for c in range(panel.cols)]
    if found[4] == "each a block of the result":
        places = [[divmod(n, panel.cols) for n, p in enumerate(panel.paints) if p == paint] for paint in {*panel.paints}]
        sizes = [(max(x) - min(x) + 1 for x in zip(*cells, strict=True)) for cells in places]
        return all(high * wide == len(cells) for (high, wide), cells in zip(sizes, places, strict=True))
    return found[3] is None or (len(columns) == count and all(len(its) == 1 for its in columns))


def _once(figure: Figure, found: re.Match[str]) -> bool:
    """Each place that A reaches from a place where its complement begins, once; both as they are lit on the line."""
    faded = next(n for n, paint in enumerate(figure.paints) if paint.faded)
    own, rest = ([n for n, paint in enumerate(panel.paints) if paint < faded] for panel in figure.panels[:2])
    reached = [a + b for a in own for b in rest]
    return len(reached) == len({*reached}) == int(found[1]) and max(reached) + 1 == int(found[2])


def _same_order(figure: Figure, found: re.Match[str]) -> bool:
    """Both have the same offsets, and modes as their captions do; the order of a panel's cells need not be that of the layout."""
    told = re.match(r"(\d+) modes become (\d+)", found[0])
    modes = [len(re.findall(r"\d+", figure.panels[n].caption.split(":")[1])) for n in (0, -1)]
    if told and [int(n) for n in told.groups()] != modes:
        return False
    first, last = (sorted(figure.panels[n].data["offset"]) for n in (0, -1))
    return len(figure.panels) > 2 or (first == last and len(first) == int(found[1]))


def _chosen(figure: Figure, found: re.Match[str]) -> bool:
    result, a = figure.panels[-1].data["offset"], figure.panels[0].data["offset"]
    return (len(result), len(a)) == (int(found[1]), int(found[2] or found[1])) and {*result} <= {*a}


def _picked(figure: Figure, found: re.Match[str]) -> bool:
    """The cells of A in these rows and columns are those of the result, each with a hue; nothing else of A has one."""
    a, result = figure.panels[0], figure.panels[-1]
    told = []
    for words, extent in zip(found.groups(), (a.rows, a.cols), strict=True):
        numbers = [int(n) for n in re.findall(r"\d+", words)]
        if words.startswith("all"):
            lines = [*range(extent)] if numbers == [extent] else []
        else:
            by = re.search(r"\d+ to (\d+)(?: by (\d+))?", words)
            lines = numbers if by is None else [*range(numbers[0], numbers[1] + 1, int(by[2] or 1))]
            lines = lines if by is None or lines[-1:] == [int(by[1])] else []
        told.append(lines)
    cells = [n for n in range(len(a.paints)) if n // a.cols in told[0] and n % a.cols in told[1]]
    return sorted(a.data["offset"][n] for n in cells) == sorted(result.data["offset"]) and all(
        (n in cells) == (not figure.paints[p].faded) for n, p in enumerate(a.paints)
    )


def _in_order(figure: Figure, found: re.Match[str]) -> bool:
    """The result, read by rows or by columns, is A read by columns, as CuTe counts."""
    a, result = figure.panels[0], figure.panels[-1]
    values, first = result.data["offset"], a.data["offset"]
    read = values if found[1] == "Row by row" else [x for c in range(result.cols) for x in values[c :: result.cols]]
    return [*read] == [x for c in range(a.cols) for x in first[c :: a.cols]] and len(values) == int(found[2])


def _pointwise(figure: Figure, found: re.Match[str]) -> bool:
    """The result is A at the offsets of B, as far as these are places of A; each read by columns."""
    read = [[x for c in range(p.cols) for x in p.data["offset"][c :: p.cols]] for p in figure.panels]
    if len(read) != 3:
        return True  # planes stand beside each other
    a, b, result = read
    wrong = [i for i, x in enumerate(b) if 0 <= x < len(a) and result[i] != a[x]]
    return len(result) == len(b) == int(found[3]) and (not wrong if found[2] is None else len(wrong) <= int(found[2]) < len(b) + 1)


def _planes(figure: Figure, found: re.Match[str]) -> bool:
    tables = [panel.data["offset"] for panel in figure.panels]
    return all(b == a + int(found[1]) for one, two in pairwise(tables) for a, b in zip(one, two, strict=True))


def _products(figure: Figure, found: re.Match[str]) -> bool:
    """Blocks of C beside each other, of which no thread has a part of two."""
    many, m, n, k, threads = map(int, found.groups())
    c, a = (next(panel for panel in figure.panels if panel.caption.startswith(f"{x}:")) for x in "CA")
    if c.cols != n * many or c.rows != m:
        return False
    held = [{c.data["thread"][r * c.cols + x] for r in range(m) for x in range(first, first + n)} for first in range(0, c.cols, n)]
    sizes = [len(mine) for mine in held]
    return (len(a.paints), len(set().union(*held))) == (m * k * many, threads * many) and sizes == [threads] * many


def _added(figure: Figure, found: re.Match[str]) -> bool:
    """The k of A's panel, and the cells of C's."""
    c, a, *_ = figure.panels
    return a.cols == int(found[1]) and (len(c.paints) == 1) == (found[2] == "one") and {*c.data["thread"]} == {0}


CLAIMS: dict[str, Callable[[Figure, Any], bool]] = {
    r"(\d+) (?:tiles?|copies of A)(?: of (\d+) elements?)?(: each column of the result is one (?:tile|copy))?(?:, (.*))?": _tiles,
    r"A and its complement reach (\d+) of (\d+) places, each once": _once,
    r"(?:\d+ modes become \d+; a|A)ll (\d+) offsets stay in their order": _same_order,
    r"The result has (?:all )?(\d+)(?: of the (\d+))? elements of A(?: in another order)?": _chosen,
    r"The result is (.*) of A, in (.*)": _picked,
    r"(Row by row|Column by column), the result has all (\d+) elements of A in their order": _in_order,
    r"result\(i\) is (not )?A\(B\(i\)\), for (?:all|(\d+) of) (\d+) i": _pointwise,
    r"From plane to plane, each offset grows by (\d+)": _planes,
    r"(\d+) products of (\d+) × (\d+) × (\d+), each in (\d+) threads": _products,
    r"One thread adds (\d+) products? of A and B to (one|each) element of C": _added,
}
