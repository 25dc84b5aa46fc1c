"""What a picture of hardware says, in one sentence: computed from the cells and numbers that are drawn, never from a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from cute_viz.figures.model import HOLE, Panel
from cute_viz.figures.options import lie, runs
from cute_viz.figures.paint import span
from cute_viz.spelling import count

Place = tuple[int, int]
Span = tuple[int, int, int, int]  # first row and column, last row and column


def of_moved(label: str, outside: int, total: int, written: bool) -> str:
    """How much of what an instruction moves is not there; "" of what is all there. label: of what it is outside."""
    end = "are not written" if written else "arrive as zeros"
    return f"{outside} of the tile's {total} bytes lie outside the {label} and {end}" if outside else ""


def of_boxes(instructions: int, box: str, ctas: int, gathered: int, memory: Panel) -> str:
    """How a tile is moved: by how many instructions or CTAs, and where a swizzle puts the beginnings of its rows.

    gathered: rows that an instruction picks, 0 of a box. memory: a cell for 16 bytes, labelled by the coordinate in the tensor.
    """
    if ctas > 1:
        return f"Each of {ctas} CTAs loads a part of the tile, and all {ctas} get it whole"
    if gathered:
        return f"{count(instructions, 'instruction')} {'gathers' if instructions == 1 else 'gather'} {gathered} rows each"
    many = "One instruction moves the tile" if instructions == 1 else f"{instructions} instructions move the tile, {box} each"
    groups = _groups(memory)
    return f"{many}; 8 rows of a column lie in {groups} bank groups" if groups > 1 else many


def _groups(memory: Panel) -> int:
    """In how many chunks of a line the first eight rows of a column begin; 0 where the lines of memory hold something else."""
    first = memory.labels[0].rpartition(",")[2]
    found = [n for n, label in enumerate(memory.labels[: 8 * memory.cols]) if label and label.rpartition(",")[2] == first]
    rows = {n // memory.cols for n in found}
    return len({n % memory.cols for n in found}) if len(found) == len(rows) == 8 else 0


def of_descriptors(panel: Panel, starts: Sequence[int], along: str) -> str:
    """Where a descriptor leads: to the next one of a fragment, or by its offsets to the next core matrix.

    panel: core matrices with their first byte, and the offsets as arrows. starts: bytes of the first ones of each descriptor.
    """
    steps = {b - a for a, b in pairwise(starts)}
    if len(starts) > 1:
        each = f"each {steps.pop()} bytes after the last" if len(steps) == 1 else "one for each block"
        return f"{len(starts)} descriptors, {each}"
    found: list[str] = []
    for (r0, c0, r1, c1), words in zip(panel.arrows, panel.arrow_labels, strict=True):
        data = panel.data["byte"]
        step = data[r1 * panel.cols + c1] - data[r0 * panel.cols + c0]
        to = "" if found else " to the next core matrix" if r1 - r0 + c1 - c0 == 1 else " to the next swizzle atom"
        found.append(f"{words.partition(' ')[0]}: {count(step, 'byte')}{to} along {'K' if r0 == r1 else along}")
    return "; ".join(found) or "One swizzle atom holds the operand: no offset is used"


def of_instruction(words: Mapping[str, str]) -> str:
    """What an instruction descriptor asks for. words: its fields in words, `N = 256, in units of 8`."""
    extents = ", ".join(words[name].partition(",")[0] for name in ("m_dim", "n_dim"))
    into = f" into {words['c_format']}" if "c_format" in words else ""
    scaled = f", scaled by {words['scale_format']}" if "scale_format" in words else ""
    return f"32 bits ask for {extents}, {words['a_format']} by {words['b_format']}{into}{scaled}"


def of_tensor_memory(held: Mapping[Place, Span], columns: int, stage: int = 0) -> str:
    """Where the elements of a tensor lie in the lanes and columns of tensor memory. held: by (lane, column); stage: columns of
    one."""
    taken = len({column for _, column in held})
    first = min(column for _, column in held)
    if all(span == (lane, column - first, lane, column - first) for (lane, column), span in held.items()):
        moved = f"column n + {first}" if first else "column n"
        if stage:
            return f"Row m lies in lane m, column n of stage s in {moved} + {stage}s: {taken} of {columns} columns"
        return f"Row m, column n lies in lane m, {moved}: {taken} of {columns} columns"
    if told := _twice(held):
        return told
    warps: dict[int, set[int]] = {}
    for (lane, _), (m0, _, m1, _) in held.items():
        warps.setdefault(lane // 32, set()).update((m0, m1))
    sizes = {len(rows) for rows in warps.values()}
    rows = count(sizes.pop(), "row") if len(sizes) == 1 else "other rows"
    return f"Each warp reaches {rows} in {taken} of {columns} columns"


def _twice(held: Mapping[Place, Span]) -> str:
    """Rows of which the lower half of the lanes has the first columns, and the upper half the last; "" of others."""
    halves: list[tuple[set[int], set[int]]] = []
    for first in (0, 64):
        its = [span_ for (lane, _), span_ in held.items() if first <= lane < first + 64]
        halves.append(({m for m, _, _, _ in its}, {n for _, n, _, _ in its}))
    (rows, left), (others, right) = halves
    if not rows or rows != others or left & right or any(len(x) != max(x) - min(x) + 1 for x in (rows, left, right)):
        return ""
    own = [f"n {span(min(ns), max(ns))} in lanes {first}..{first + 63}" for first, ns in ((0, left), (64, right))]
    return f"The two halves of N are stacked, each of rows {span(min(rows), max(rows))}: {', '.join(own)}"


def of_lanes(cells: Mapping[int, AbstractSet[Place]], wide: int, load: bool) -> str:
    """Which threads get, or write, the columns of a lane. cells: the lanes and columns of each thread. wide: columns of a lane."""
    verb = "gets" if load else "writes"
    reached = {thread: {lane for lane, _ in its} for thread, its in cells.items()}
    if all(lanes == {thread} for thread, lanes in reached.items()):
        return f"Thread t {verb} {count(wide, 'column')} of lane t"
    columns = {sum(lane == one for one, _ in its) for thread, its in cells.items() for lane in reached[thread]}
    sharing = {sum(lane in its for its in reached.values()) for lane in set().union(*reached.values())}
    if len(columns) > 1 or len(sharing) > 1 or len(each := {len(lanes) for lanes in reached.values()}) > 1:
        return ""
    which = "one lane" if each == {1} else f"each of {each.pop()} lanes"
    mine = sorted(thread for thread, its in reached.items() if 0 in its)
    names = [f"T{a}" if a == b else f"T{a} to T{b}" for a, b in runs(mine)]
    names = [f"T{t}" for t in mine] if len(mine) < 3 else names
    share = f"{' and '.join((', '.join(names[:-1]), names[-1])[len(names) == 1 :])} share{'s' * (len(mine) == 1)}"
    return f"Each thread {verb} {count(columns.pop(), 'column')} of {which}; {share} lane 0"


def of_filled(rows: int, lanes: int, times: int) -> str:
    """What tcgen05.cp does."""
    return (
        f"Each of {rows} rows goes to one lane"
        if times == 1
        else f"{rows} rows fill {lanes} lanes: each row goes to {times} of them"
    )


def of_scales(rows: Sequence[int | None], line: int) -> str:
    """Which rows share a line of memory. rows: of each byte, in order; line: bytes of one."""
    shared = {
        tuple(sorted({row - found[0] for row in found}))
        for n in range(0, len(rows), line)
        if (found := sorted({row for row in rows[n : n + line] if row is not None}))
    }
    if len(shared) == 1 and len(apart := shared.pop()) > 1:
        names = ["r", *(f"r + {step}" for step in apart[1:])]
        return f"Rows {', '.join(names[:-1])} and {names[-1]} share a line of {line} bytes"
    return f"A scale factor is a byte; {line} of them are a line"


def of_metadata(cells: Iterable[Mapping[int, object]], wide: int) -> str:
    """How many rows of A the 32 bits of a lane and column are for."""
    (rows, *other) = {len(held) for held in cells if held}
    return "" if other else f"Each 32 bits of metadata are for {wide} columns of {count(rows, 'row')} of A"


def of_parts(panels: Mapping[str, Panel], units: Mapping[str, Place], word: str, verb: str) -> str:
    """How many rows or columns of each operand one CTA or warp holds. units: rows and columns of a cell."""
    told: dict[str, list[str]] = {}
    for name, panel in panels.items():
        paints = [p for p in panel.paints if p != HOLE]
        if len(set(paints)) < 2:
            continue
        for axis, what in enumerate(("row", "column")):
            lines = (panel.rows, panel.cols)[axis]
            of_line = [{p for n, p in enumerate(panel.paints) if divmod(n, panel.cols)[axis] == line} for line in range(lines)]
            counts = {sum(mine == {p} for mine in of_line) * units[name][axis] for p in set(paints)}
            if len(counts) == 1 and (each := counts.pop()):
                told.setdefault(count(each, what), []).append(name)
    words = [f"{size} of {' and '.join(sorted(names))}" for size, names in told.items()]
    return f"Each {word} {verb} {' and '.join(words)}" if words else ""


def of_wavefronts(instruction: str, costs: Sequence[int], ideal: int) -> str:
    """What an access of shared memory costs: plain and swizzled, or as it is, beside what would do."""
    *before, cost = costs
    rest = "" if cost == ideal else f", {ideal} would do" if before else f" where {ideal} would do"
    if before and before[0] > cost:
        return f"{instruction}: the swizzle turns {count(before[0], 'wavefront')} into {cost}{rest}"
    return f"{instruction}: {count(cost, 'wavefront')}{rest or ', no conflict'}"


def of_sectors(moved: int, ideal: int) -> str:
    """What a request of global memory moves, beside what would do."""
    return (
        f"{count(moved, 'sector')} are moved where {ideal} would do"
        if moved > ideal
        else f"{count(moved, 'sector')} {'is' if moved == 1 else 'are'} moved, as few as can be"
    )


def of_metadata_bits(panel: Panel) -> str:
    """Which threads give the four bits of a cell; "" of what is not alike."""
    apart = {tuple(sorted({t - owners[0][0] for t, _ in owners})) for _, owners in panel.owners}
    if len(apart) != 1 or len(panel.owners) != len(panel.paints) or len(steps := apart.pop()) != 2:
        return ""
    return f"Threads t and t + {steps[1]} hold the same bits; the selector picks whose are read"


def of_chain(c: Sequence[Sequence[Place]], a: Sequence[Sequence[Place]], deep: int, wide: int) -> tuple[str, str]:
    """Whether the accumulator of an MMA is where the next one reads it as A; where nothing moves, in which values thread 0 has
    it. c, a: the cells (m,n) and (m,k) of each thread in the order of its values, a of the first k. deep: k of an instruction;
    wide: n."""
    held, total, stays = [set(cells) for cells in c], 0, 0
    for first in range(0, wide, deep):
        for thread, cells in enumerate(a):
            total += len(cells)
            stays += sum((m, first + k) in held[thread] for m, k in cells)
    if stays < total:
        return f"{total - stays} of {total} elements of the next A are in another thread", ""
    places = [c[0].index(cell) for cell in a[0]]
    if places != [*range(places[0], places[0] + len(places))]:
        return STAYS, ", which each thread holds as C in another order"
    mine, its = (f"V{low}" if len(places) == 1 else f"V{low}..{low + len(places) - 1}" for low in (places[0], 0))
    return STAYS, f", which thread 0 holds as {mine} of C and reads as {its}"


STAYS = "The accumulator already is A of the next MMA: it skips shared memory"


def of_memory(where: Mapping[str, str]) -> str:
    """Where the operands of an MMA lie that no thread holds."""
    return f"{lie(dict(sorted(where.items(), key=lambda pair: pair[::-1])))}: the CTA holds them, no thread"


def of_groups(groups: Sequence[object], cols: int, word: str = "tile") -> str:
    """How tiles or copies stand in a grid, row by row: a column each, as blocks, or interleaved; "" of no groups."""
    lines: dict[object, list[Place]] = {}
    for n, group in enumerate(groups):
        lines.setdefault(group, []).append(divmod(n, cols))
    if not lines or None in lines:
        return ""
    if all(len({c for _, c in cells}) == 1 for cells in lines.values()) and len(lines) == cols:
        return f": each column of the result is one {word}"
    spans = [(max(x) - min(x) + 1 for x in zip(*cells, strict=True)) for cells in lines.values()]
    whole = all(high * wide == len(cells) for (high, wide), cells in zip(spans, lines.values(), strict=True))
    return ", each a block of the result" if whole else ", interleaved"


def of_result(called: str, a: Sequence[object], result: Sequence[object], groups: int, size: int, where: str = "") -> str:
    """What an operation made of A: tiles, copies, a choice or the same offsets in another shape; "" of what has no such
    relation. a, result: the offsets. groups, size: of tiles or copies, and their elements; 0 where there are none. where: how
    these stand."""
    if called.endswith("divide") and groups:
        return f"{count(groups, 'tile')} of {count(size, 'element')}{where}"
    if called.endswith("product") and groups:
        return f"{groups} copies of A{where}" if groups > 1 else "One copy of A"
    if [*a] == [*result]:
        return f"All {len(a)} offsets stay in their order"
    if called == "composition" and set(result) <= set(a):
        if len(result) < len(a):
            return f"The result has {len(result)} of the {len(a)} elements of A"
        return f"The result has all {len(a)} elements of A in another order" if len(result) == len(a) else ""
    return ""
