"""What a picture of hardware says, in one sentence: computed from the cells and numbers that are drawn, never from a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from cute_viz.figures.model import HOLE, Panel
from cute_viz.figures.paint import span
from cute_viz.figures.words import numbered
from cute_viz.spelling import count

Place = tuple[int, int]
Span = tuple[int, int, int, int]  # first row and column, last row and column


def of_moved(label: str, outside: int, total: int, written: bool) -> str:
    """How much of what an instruction moves is not there; "" of what is all there. label: of what it is outside.

    >>> of_moved("tensor", 7744, 16384, False), of_moved("tensor", 0, 16384, False)
    ("7744 of the tile's 16384 bytes lie outside the tensor and arrive as zeros", '')
    """
    end = "are not written" if written else "arrive as zeros"
    return f"{outside} of the tile's {total} bytes lie outside the {label} and {end}" if outside else ""


def of_boxes(instructions: int, box: str, ctas: int, gathered: int, memory: Panel) -> str:
    """How a tile is moved: by how many instructions or CTAs, and where a swizzle puts the beginnings of its rows.

    gathered: rows that an instruction picks, 0 of a box. memory: a cell for 16 bytes, labelled by the coordinate in the tensor.

    >>> of_boxes(1, "64 × 64", 4, 0, figure("tma_multicast").panels[1])
    'Each of 4 CTAs loads a part of the tile, and all 4 get it whole'
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

    >>> figure("gmma_desc_interleave").title
    'LBO leads 1024 bytes on along K, SBO leads 128 bytes on along M or N'
    """
    steps = {b - a for a, b in pairwise(starts)}
    if len(starts) > 1:
        each = f"each {steps.pop()} bytes after the last" if len(steps) == 1 else "one for each block"
        return f"{len(starts)} descriptors, {each}"
    found = []
    for (r0, c0, r1, c1), words in zip(panel.arrows, panel.arrow_labels, strict=True):
        data = panel.data["byte"]
        step = data[r1 * panel.cols + c1] - data[r0 * panel.cols + c0]
        found.append(f"{words.partition(' ')[0]} leads {count(step, 'byte')} on along {'K' if r0 == r1 else along}")
    return ", ".join(found) or "One swizzle atom holds the operand: no offset is used"


def of_instruction(words: Mapping[str, str]) -> str:
    """What an instruction descriptor asks for. words: its fields in words, `N = 256, in units of 8`.

    >>> of_instruction({"m_dim": "M = 128, in units of 16", "n_dim": "N = 8, in", "a_format": "f16", "b_format": "f16"})
    '32 bits ask for M = 128, N = 8, f16 by f16'
    """
    extents = ", ".join(words[name].partition(",")[0] for name in ("m_dim", "n_dim"))
    into = f" into {words['c_format']}" if "c_format" in words else ""
    scaled = f", scaled by {words['scale_format']}" if "scale_format" in words else ""
    return f"32 bits ask for {extents}, {words['a_format']} by {words['b_format']}{into}{scaled}"


def of_tensor_memory(held: Mapping[Place, Span], columns: int, stage: int = 0) -> str:
    """Where the elements of a tensor lie in the lanes and columns of tensor memory. held: by (lane, column); stage: columns of one.

    >>> of_tensor_memory({(0, 0): (0, 0, 0, 0), (1, 0): (1, 0, 1, 0)}, 512)
    'Row m, column n lies in lane m, column n: 1 of 512 columns'
    >>> of_tensor_memory({(0, 4): (0, 0, 0, 0), (32, 4): (1, 0, 1, 0)}, 512)
    'Each warp reaches 1 row in 1 of 512 columns'
    """
    taken = len({column for _, column in held})
    first = min(column for _, column in held)
    if all(span == (lane, column - first, lane, column - first) for (lane, column), span in held.items()):
        moved = f"column n + {first}" if first else "column n"
        if stage:
            return f"Row m lies in lane m, column n of stage s in {moved} + {stage}s: {taken} of {columns} columns"
        return f"Row m, column n lies in lane m, {moved}: {taken} of {columns} columns"
    warps: dict[int, set[int]] = {}
    for (lane, _), (m0, _, m1, _) in held.items():
        warps.setdefault(lane // 32, set()).update((m0, m1))
    sizes = {len(rows) for rows in warps.values()}
    rows = count(sizes.pop(), "row") if len(sizes) == 1 else "other rows"
    return f"Each warp reaches {rows} in {taken} of {columns} columns"


def of_lanes(threads: Mapping[int, AbstractSet[int]], lanes: Mapping[int, AbstractSet[int]], wide: int, load: bool) -> str:
    """Which threads get, or write, the columns of a lane. threads: of each lane. lanes: of each thread.

    >>> of_lanes({0: {0}, 1: {1}}, {0: {0}, 1: {1}}, 8, True)
    'Thread t gets 8 columns of lane t'
    >>> of_lanes({0: {0, 1}}, {0: {0}, 1: {0}}, 8, False)
    '2 threads write each lane; each thread writes 1 lane'
    """
    verb = ("gets", "get") if load else ("writes", "write")
    if all(its == {lane} for lane, its in threads.items()):
        return f"Thread t {verb[0]} {count(wide, 'column')} of lane t"
    sharing, reached = ({len(its) for its in one.values()} for one in (threads, lanes))
    if len(sharing) > 1 or len(reached) > 1:
        return ""
    many = count(sharing.pop(), "thread")
    each = count(reached.pop(), "lane")
    return f"{many} share each lane; each thread gets {each}" if load else f"{many} write each lane; each thread writes {each}"


def of_filled(rows: int, lanes: int, times: int) -> str:
    """What tcgen05.cp does.

    >>> of_filled(32, 128, 4), of_filled(128, 128, 1)
    ('32 rows fill 128 lanes: each row goes to 4 of them', 'Each of 128 rows goes to one lane')
    """
    return (
        f"Each of {rows} rows goes to one lane"
        if times == 1
        else f"{rows} rows fill {lanes} lanes: each row goes to {times} of them"
    )


def of_scales(rows: Sequence[int | None], line: int) -> str:
    """Which rows share a line of memory. rows: of each byte, in order; line: bytes of one.

    >>> of_scales([0, 0, 32, 32, 1, 1, 33, 33], 4)
    'Rows r and r + 32 share a line of 4 bytes'
    """
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
    """How many rows of A the 32 bits of a lane and column are for.

    >>> of_metadata([{0: 1, 8: 1}], 16)
    'Each 32 bits are for 16 columns of 2 rows of A'
    """
    (rows, *other) = {len(held) for held in cells if held}
    return "" if other else f"Each 32 bits are for {wide} columns of {count(rows, 'row')} of A"


def of_parts(panels: Mapping[str, Panel], units: Mapping[str, Place], word: str, verb: str) -> str:
    """How many rows or columns of each operand one CTA or warp holds. units: rows and columns of a cell.

    >>> figure("umma_pair_256").title
    'Each CTA holds 128 rows of A and C and 128 columns of B'
    """
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
    """What an access of shared memory costs: plain and swizzled, or as it is, beside what would do.

    >>> of_wavefronts("ldmatrix.x4", [32, 4], 4), of_wavefronts("ld.shared.32", [8], 1)
    ('ldmatrix.x4: the swizzle turns 32 wavefronts into 4', 'ld.shared.32: 8 wavefronts where 1 would do')
    >>> of_wavefronts("ld.shared.32", [1], 1)
    'ld.shared.32: 1 wavefront, no conflict'
    """
    *before, cost = costs
    rest = "" if cost == ideal else f", {ideal} would do" if before else f" where {ideal} would do"
    if before and before[0] > cost:
        return f"{instruction}: the swizzle turns {count(before[0], 'wavefront')} into {cost}{rest}"
    return f"{instruction}: {count(cost, 'wavefront')}{rest or ', no conflict'}"


def of_sectors(moved: int, ideal: int) -> str:
    """What a request of global memory moves, beside what would do.

    >>> of_sectors(32, 4), of_sectors(4, 4)
    ('32 sectors are moved where 4 would do', '4 sectors are moved, as few as can be')
    """
    return (
        f"{count(moved, 'sector')} are moved where {ideal} would do"
        if moved > ideal
        else f"{count(moved, 'sector')} {'is' if moved == 1 else 'are'} moved, as few as can be"
    )


def of_metadata_bits(panel: Panel) -> str:
    """How many threads give the four bits of a cell; "" of what is not alike.

    >>> of_metadata_bits(figure("wgmma_sparse_metadata").panels[0])
    'The 4 bits of each cell are in 2 threads; a selector picks one'
    """
    times = {len({t for t, _ in owners}) for _, owners in panel.owners}
    if len(times) != 1 or len(panel.owners) != len(panel.paints):
        return ""
    return f"The 4 bits of each cell are in {times.pop()} threads; a selector picks one"


def of_shared(columns: Mapping[str, AbstractSet[int]], every: int) -> str:
    """What lies together in tensor memory. columns: of each tensor; every: columns that there are.

    >>> of_shared({"C": {0, 1}, "SFA": {2}, "SFB": {3}}, 512)
    'C, SFA and SFB share tensor memory: 4 of 512 columns'
    """
    *names, last = columns
    taken = len(set().union(*columns.values()))
    return f"{', '.join(names)} and {last} share tensor memory: {taken} of {every} columns"


def of_chain(c: Sequence[Sequence[Place]], a: Sequence[Sequence[Place]], deep: int, wide: int) -> tuple[str, str]:
    """Whether the accumulator of an MMA is where the next one reads it as A; where nothing moves, in which values thread 0 has it.

    c, a: the cells (m,n) and (m,k) of each thread in the order of its values, a of the first k. deep: k of an instruction; wide: n.

    >>> of_chain([[(0, 0), (0, 1)], [(0, 2), (0, 3)]], [[(0, 0)], [(0, 2)]], 4, 4)[1]
    ', which T0 holds as V0 of C and reads as V0'
    >>> of_chain([[(0, 0)], [(0, 1)]], [[(0, 1)], [(0, 0)]], 2, 2)
    ('2 of 2 elements of the next A are in another thread', '')
    """
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
    return STAYS, f", which T0 holds as {mine} of C and reads as {its}"


STAYS = "The accumulator already is A of the next MMA: no data moves between threads"


def of_thread(thread: int, operand: str, copied: Sequence[int], ks: Sequence[int], held: Sequence[int], word: str) -> str:
    """What a thread copies of an operand of a GEMM, beside what it holds of C: other rows, as a rule; "" of nothing that is held.

    ks: of what it copies.

    >>> of_thread(13, "A", [1], [40, 41], [3, 11], "row")
    'Thread 13 copies k 40..41 of row 1 of A, and holds rows 3 and 11 of C'
    >>> of_thread(0, "B", [], [], [0], "column")
    'Thread 0 holds column 0 of C'
    """
    if not held or max(len(held), len(copied)) > FEW:
        return ""
    own = f"holds {numbered(held, word)} of C"
    k = span(ks[0], ks[-1]) if ks and len(ks) == ks[-1] - ks[0] + 1 else f"{len(ks)} elements"
    first = f"copies k {k} of {numbered(copied, 'row')} of {operand}, and " if copied else ""
    return f"Thread {thread} {first}{own}"


FEW = 4  # rows that a sentence lists


def of_memory(where: Mapping[str, str]) -> str:
    """Where the operands of an MMA lie that no thread holds.

    >>> of_memory({"C": "tensor memory", "A": "shared memory", "B": "shared memory"})
    'A and B lie in shared memory, C lies in tensor memory: the CTA holds them, no thread'
    """
    names = {home: sorted(x for x in where if where[x] == home) for home in sorted(set(where.values()))}
    lie = [f"{' and '.join(its)} {'lie' if len(its) > 1 else 'lies'} in {home}" for home, its in names.items()]
    return f"{', '.join(lie)}: the CTA holds them, no thread"


def of_groups(groups: Sequence[object], cols: int, word: str = "tile") -> str:
    """How tiles or copies stand in a grid, row by row: a column each, as blocks, or interleaved; "" of no groups.

    >>> of_groups([0, 1, 0, 1], 2), of_groups([0, 0, 1, 1, 0, 0, 1, 1], 4), of_groups([0, 1, 0, 1], 4)
    (': each column of the result is one tile', ', each a block of the result', ', interleaved')
    """
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
    """What an operation made of A: tiles, copies, a choice or the same offsets in another shape; "" of what has no such relation.

    a, result: the offsets. groups, size: of tiles or copies, and their elements; 0 where there are none. where: how these stand.

    >>> of_result("logical_divide", range(8), range(8), 2, 4), of_result("coalesce", range(8), range(8), 0, 0)
    ('2 tiles of 4 elements', 'All 8 offsets stay in their order')
    >>> of_result("composition", range(8), [0, 4], 0, 0), of_result("composition", range(2), [1, 0], 0, 0)
    ('The result has 2 of the 8 elements of A', 'The result has all 2 elements of A in another order')
    """
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
