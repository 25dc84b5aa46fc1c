"""What a picture says, in one sentence: computed from the cells that are drawn, never from a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from typing import NamedTuple

from cute_viz.algebra.swizzle import Swizzle
from cute_viz.figures.model import Panel
from cute_viz.figures.paint import span
from cute_viz.spelling import count

FEW = 3  # offsets that a sentence lists
PARTS = {1: "one", 2: "half a", 4: "a quarter of a", 8: "an eighth of a"}  # row or column is what a thread holds
MANY = 1200  # cells, of which warps are seen and not threads


def of_offsets(
    order: Sequence[int], rows: int, cols: int, swizzle: Swizzle | None = None, tile: tuple[int, int] | None = None
) -> str:
    """What the offsets of cells, row by row (and slice by slice), have to tell; cols: of a row. rows: 1 of what has one mode.
    tile: the blocks that the picture outlines."""
    counts = Counter(order)
    low, high = min(order), max(order)
    if len(counts) == 1:
        return f"All {len(order)} cells have offset {low}" if len(order) > 1 else f"One cell, at offset {low}"
    lines = [order[start : start + cols] for start in range(0, len(order), cols)]
    columns = [order[plane + c : plane + rows * cols : cols] for plane in range(0, len(order), rows * cols) for c in range(cols)]
    if len(counts) < len(order):
        for word, every in (("row", lines), ("column", columns)):
            if rows > 1 and cols > 1 and all(len(set(line)) == 1 for line in every):
                return f"Broadcast: each {word} is one offset"
        shared = sorted(offset for offset, n in counts.items() if n > 1)
        times = {counts[offset] for offset in shared}
        by = f"{times.pop()} cells" if len(times) == 1 else "several cells"
        if len(shared) > FEW:
            return f"{len(shared)} of {len(counts)} offsets are shared by {by}"
        words = ", ".join(map(str, shared[:-1])) + (" and " if len(shared) > 1 else "") + str(shared[-1])
        return f"Offset{'s' * (len(shared) > 1)} {words} {'are' if len(shared) > 1 else 'is'} shared by {by}"
    if swizzle is not None and swizzle.bits and rows > 1:
        for word, every in (("row", lines), ("column", columns)):
            moved = sum(any(b < a for a, b in pairwise(line)) for line in every)
            if moved and len(every) > 1 and all(sorted(line) == [*range(min(line), min(line) + len(line))] for line in every):
                which = f"all {moved} {word}s" if moved == len(every) else f"{moved} of {len(every)} {word}s"
                return f"The swizzle reorders {which}, each within itself"
    if rows == 1 and len(order) == cols:
        steps = {b - a for a, b in pairwise(order)}
        if len(steps) == 1:
            step = steps.pop()
            word = "Contiguous: offsets" if step == 1 else f"Every {_ordinal(step)} offset, from" if step > 0 else "Backwards, from"
            return f"{word} {order[0]}..{order[-1]}" if step == 1 else f"{word} {order[0]} to {order[-1]}"
    elif swizzle is None:
        for word, every, other in (("row", lines, columns), ("column", columns, lines)):
            if len(every[0]) > 1 and all(b - a == 1 for line in every for a, b in pairwise(line)):
                pitch = {b - a for line in other[:1] for a, b in pairwise(line)}
                wide = next(iter(pitch)) if len(pitch) == 1 and len(every) == len(other[0]) else len(every[0])
                holes = " with gaps" if high - low + 1 > len(counts) else ""
                padded = f" with a pitch of {wide}" if wide > len(every[0]) else holes
                return f"{word.capitalize()}-major{padded}: each {word} is contiguous"
    every_one = high - low + 1 == len(counts)
    if swizzle is None and len(order) == rows * cols and (block := _block(lines, tile)):
        return f"Each {block[0]} × {block[1]} block holds {block[0] * block[1]} consecutive offsets"
    for word, every in (("row", lines), ("column", columns)) if len(order) == rows * cols and swizzle is None else ():
        pitch = {min(b) - min(a) if max(a) < min(b) else 0 for a, b in pairwise(every)}
        if len(pitch) == 1 and 0 not in pitch and len(every[0]) > 1:
            if all(max(line) - min(line) < len(line) for line in every):
                return f"Each {word} holds {len(every[0])} consecutive offsets, in another order"
            return f"Each {word} begins {pitch.pop()} offsets after the last"
    plane = rows * cols
    if len(order) > plane > 1 and all(b - a == 1 for a, b in zip(order, order[plane:], strict=False)):
        return "From plane to plane, each offset grows by 1"
    return _in_runs(sorted(counts)) or (
        f"Every offset from {low} to {high}, once"
        if every_one
        else f"{len(counts)} of the offsets {low}..{high} are used, each once"
    )


def _in_runs(offsets: Sequence[int]) -> str:
    """Where offsets, in order, lie in several runs of one length."""
    starts = [x for n, x in enumerate(offsets) if n == 0 or offsets[n - 1] + 1 < x]
    each, rest = divmod(len(offsets), len(starts))
    held = set(offsets)
    if len(starts) < 2 or each < 2 or rest or any(x + each - 1 not in held for x in starts):
        return ""
    if len(starts) == 2:
        return f"The offsets lie in 2 runs: {' and '.join(span(x, x + each - 1) for x in starts)}"
    return f"The offsets lie in {len(starts)} {'pairs' if each == 2 else f'runs of {each}'}, with gaps between"


def _block(lines: Sequence[Sequence[int]], tile: tuple[int, int] | None) -> tuple[int, int] | None:
    """Rows and columns of a tile of a grid, more than a line of it and less than all, that has consecutive offsets: of the one
    that is outlined, else of the smallest."""
    rows, cols = len(lines), len(lines[0])
    for r, c in [*([] if tile is None else [tile]), *product(range(2, rows + 1), range(2, cols + 1))]:
        if min(r, c) < 2 or rows % r or cols % c or r * c == rows * cols:
            continue
        tiles = (
            sorted([x for line in lines[a : a + r] for x in line[b : b + c]]) for a in range(0, rows, r) for b in range(0, cols, c)
        )
        if all(tile == [*range(tile[0], tile[0] + r * c)] for tile in tiles):
            return r, c
    return None


def _ordinal(n: int) -> str:
    """A number as one in order."""
    ending = "th" if 10 < n % 100 < 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def of_owners(panel: Panel, what: str = "", thread: int | None = None, verb: str = "holds", values: range | None = None) -> str:
    """What each thread, or one, has of a panel: how many elements, and in how long runs along a row; "" of what is not alike.

    values: of its values these alone.
    """
    held = _held(panel, thread, values)
    if (part := _part(panel, held)) is None:
        return ""
    who = f"T{thread}" if thread is not None else "Each thread" if len(held) > 1 else "One thread"
    if values is not None:
        who, verb = (
            f"{span(values[0], values[-1], 'V')} of {who if thread is not None else who.lower()}",
            "is" if len(values) == 1 else "are",
        )
    head = f"{who} {verb} {count(part.size, 'element')}{f' of {what}' if what else ''}"
    if part.size == 1 or (part.word and not part.run):
        return head
    if not part.word:
        return head + (f", in {lines}" if (lines := _every(panel, held)) else ", apart from each other")
    if part.share and what and values is None and part.size > 2:
        return f"{who} {verb} {part.share} {part.word} of {what}"
    if part.runs == 1:
        return (
            f"{head}, {'side by side' if part.word == 'row' else 'one above the other'}" if what else f"{head} of one {part.word}"
        )
    each = ", each of one column" if part.word == "column" and not what else ""
    return f"{head}, in {_in_words(part)}{each}"


def of_operands(panels: Mapping[str, Panel]) -> str:
    """What each thread has of each of several operands: `Each thread holds a row of A, a column of B and 4 pairs of C`; "" where
    the threads are not alike."""
    told: dict[str, list[str]] = {}
    for name in sorted(panels):
        if (part := _part(panels[name], _held(panels[name]))) is None or (part.word and not part.run):
            return ""
        words = f"{part.share.replace('one', 'a')} {part.word}" if part.share in ("one", "half a") else _in_words(part)
        told.setdefault(words, []).append(name)
    *before, last = [
        f"{words} of {' and of '.join((', of '.join(names[:-1]), names[-1])[len(names) == 1 :])}" for words, names in told.items()
    ]
    comma = "," * any(len(names) > 1 for names in told.values())
    return f"Each thread holds {', '.join(before)}{f'{comma} and ' * bool(before)}{last}"


class _Part(NamedTuple):
    """What each thread has of a panel: so many elements in so many runs of one length (0 of several) along a row or a column
    ("" of single ones), and which share of it, if these are all that it has."""

    size: int
    run: int
    runs: int
    word: str
    share: str


def _in_words(part: _Part) -> str:
    if not part.word:
        return f"{part.size} single elements" if part.size > 1 else "one element"
    if part.runs == 1:
        return "a pair" if part.run == 2 else f"a run of {part.run}"
    return f"{part.runs} " + ("pairs" if part.run == 2 else f"runs of {part.run}")


def _held(panel: Panel, thread: int | None = None, values: range | None = None) -> dict[int, list[int]]:
    """The cells of each thread, or of one, in order. values: of its values these alone."""
    owners, several = panel.data.get("thread", ()), dict(panel.owners)
    held: dict[int, list[int]] = {}
    for cell, (one, v) in enumerate(zip(owners, panel.data.get("value", (0,) * len(owners)), strict=True)):
        mine = several.get(cell, () if one is None or v is None else ((one, v),))
        for t in {t for t, v in mine if (values is None or v in values) and thread in (None, t)}:
            held.setdefault(t, []).append(cell)
    return held


def _part(panel: Panel, held: Mapping[int, Sequence[int]]) -> _Part | None:
    """What is alike of all threads: None of what is not."""
    shapes = set()
    for cells in held.values():
        across = _runs(cells, panel.cols, 1) if panel.cols > 1 else [1] * len(cells)
        down = _runs(sorted(cells, key=lambda n: (n % panel.cols, n)), panel.cols, panel.cols)
        along, word = (across, "row") if max(across) >= max(down) else (down, "column")
        shapes.add((len(cells), max(along) if len({*along}) == 1 else 0, len(along), word if max(along) > 1 else ""))
    if len(shapes) != 1:
        return None
    ((size, run, runs, word),) = shapes
    whole = panel.rows if word == "column" else panel.cols
    starts = [min(cells) // (panel.cols if word == "column" else 1) % whole for cells in held.values()]
    shared = runs == 1 and size > 1 and whole % size == 0 and all(x % size == 0 for x in starts)
    return _Part(size, run, runs, word, PARTS.get(whole // size, "") if shared else "")


def _every(panel: Panel, held: Mapping[int, Sequence[int]]) -> str:
    """`every 4th column of 2 rows`: where each thread has single elements at even steps; "" of others."""
    found = set()
    for cells in held.values():
        lines = [sorted({n // panel.cols for n in cells}), sorted({n % panel.cols for n in cells})]
        steps = [{b - a for a, b in pairwise(line)} for line in lines]
        if len(cells) != len(lines[0]) * len(lines[1]) or any(len(step) > 1 for step in steps):
            return ""
        found.add((len(lines[0]), len(lines[1]), *(step.pop() if step else 0 for step in steps)))
    (rows, cols, down, right), *more = found
    if more or (cols > 1 and cols * right != panel.cols) or (cols < 2 and rows * down != panel.rows):
        return ""
    words = ("column", right, count(rows, "row")) if cols > 1 else ("row", down, "one column")
    return f"every {_ordinal(words[1])} {words[0]} of {words[2]}"


def of_picked(a: Sequence[Panel], result: Sequence[Panel]) -> str:
    """What of A, a grid, is in the result of a composition: rows and columns; or all of it, in order along rows or columns."""
    if len(a) > 1 or len(result) > 1:
        return ""
    tables = [panel.data.get("offset", ()) for panel in (*a, *result)]
    cells = [n for n, x in enumerate(tables[0]) if x in {*tables[1]}]
    if len({*tables[0]}) < len(tables[0]) or len(cells) != len(tables[1]) or not cells:
        return ""
    width = a[0].cols
    rows, cols = sorted({n // width for n in cells}), sorted({n % width for n in cells})
    if len(cells) == len(tables[0]):
        order = [tables[0][r * width + c] for c in cols for r in rows]
        by_row = list(tables[1])
        by_column = [x for c in range(result[0].cols) for x in tables[1][c :: result[0].cols]]
        for way, mine in (("Column by column", by_column), ("Row by row", by_row)):
            if mine == order and min(result[0].rows, result[0].cols) > 1:
                return f"{way}, the result has all {len(order)} elements of A in their order"
        return ""
    if len(rows) * len(cols) != len(cells) or len(rows) == 1:
        return ""
    down, right = _lines(rows, a[0].rows, "row"), _lines(cols, width, "column")
    return f"The result is {down} of A, in {right}" if down and right else ""


def _lines(numbers: Sequence[int], every: int, word: str) -> str:
    """Rows or columns by number, or by their step; "" of many without one."""
    steps = {b - a for a, b in pairwise(numbers)}
    if len(numbers) == every:
        return f"all {every} {word}s"
    if len(numbers) == 1:
        return f"{word} {numbers[0]}"
    if len(numbers) > FEW:
        by = "" if steps == {1} else f" by {min(steps)}"
        return f"{word}s {numbers[0]} to {numbers[-1]}{by}" if len(steps) == 1 else ""
    return f"{word}s {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def of_warps(panel: Panel, what: str, word: str) -> str:
    """What each warp has of a panel of many cells: its rows and columns; "" of few cells, and of what is no rectangle."""
    threads = panel.data.get("thread", ())
    if panel.rows * panel.cols <= MANY or None in threads or panel.owners:
        return ""
    held: dict[int, list[tuple[int, int]]] = {}
    for n, thread in enumerate(threads):
        held.setdefault(thread // panel.warp, []).append(divmod(n, panel.cols))
    sizes = {tuple([max(x) - min(x) + 1 for x in zip(*cells, strict=True)]) for cells in held.values()}
    ((high, wide), *more) = sizes
    if more or len(held) < 2 or high * wide * len(held) != len(threads):
        return ""
    return f"Each of {len(held)} {word}s holds {high} × {wide} of {what}"


def _runs(cells: Sequence[int], cols: int, step: int) -> list[int]:
    """How long the runs of cells are that follow each other by a step, in one line."""
    out: list[int] = []
    last = None
    for n in cells:
        together = last is not None and n == last + step and (step == cols or n % cols)
        out[-1:] = [out[-1] + 1] if together else [*out[-1:], 1]
        last = n
    return out


def of_banks(banks: Sequence[Sequence[int]], what: str = "bank group", lines: bool = False) -> str:
    """What the first column of 16-byte chunks of each panel meets: its rows by the bank where a chunk begins; or of words.
    lines: the picture has lines of memory, whose columns are banks."""
    groups = [len(set(column)) for column in banks]
    ways = [max(Counter(column).values()) for column in banks]
    rows = len(banks[0])
    subject = (
        f"The first {'chunks' if what == 'bank group' else 'elements'} of {rows} rows" if lines else f"Down a column, {rows} rows"
    )
    head = f"{subject} lie in {groups[0]} {what}{'s' * (groups[0] > 1)}"

    def verdict(n: int) -> str:
        return "conflict-free" if n == 1 else f"{'an' if n in (8, 11, 18) or 80 <= n < 90 else 'a'} {n}-way conflict"

    return f"{head}; swizzled, in {groups[1]}: {verdict(ways[1])}" if len(banks) > 1 else f"{head}: {verdict(ways[0])}"


def of_reuse(copies: Sequence[Panel], fragments: Mapping[str, Panel]) -> str:
    """How many warps copy each element of A and of B, and how many read it; "" where those are not one number of each. copies: to
    shared memory. fragments: of A, then of B."""
    copied = {_warps_of_each(panel) for panel in copies}
    times = [_warps_of_each(panel) for panel in fragments.values()]
    if len(times) != 2 or 0 in times:
        return ""
    a, b = times
    if copied != {1}:
        return f"Each element of A goes to {count(a, 'warp')}, of B to {b}"
    read = f"{count(a, 'warp')} read{'s' * (a == 1)} it"
    return f"One warp copies each element, and {read}" if a == b else f"One warp copies each element; of A {read}, of B {b}"


def _warps_of_each(panel: Panel) -> int:
    """How many warps have each cell of a panel; 0 where that is not one number."""
    several, threads = dict(panel.owners), panel.data.get("thread", (None,))
    each = {len({t // panel.warp for t, _ in several.get(n, ((t, 0),))}) for n, t in enumerate(threads) if t is not None}
    return each.pop() if len(each) == 1 and None not in threads else 0
