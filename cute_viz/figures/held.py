"""What a thread copies and holds of a GEMM, in one sentence: computed from its elements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from cute_viz.figures.machine import Place
from cute_viz.figures.options import numbered
from cute_viz.figures.paint import span
from cute_viz.spelling import count

FEW = 4  # rows that a sentence lists
GROUP = 8  # columns in which an accumulator repeats


def of_thread(thread: int, operand: str, copied: Sequence[int], held: Sequence[int], word: str) -> str:
    """What a thread copies of an operand of a GEMM, beside what it holds of C: other rows, as a rule; "" of nothing that is held.

    held: the row of each element.
    """
    lines = sorted({*held})
    if not held or max(len(lines), len(copied)) > FEW:
        return ""
    where = numbered(lines, word)
    if not copied:
        return f"Thread {thread} holds {count(len(held), 'element')} of C in {where}"
    but = "and" if {*copied} == {*lines} else "but"
    return f"Thread {thread} copies {numbered(copied, 'row')} of {operand}, {but} holds C in {where}"


def of_held(thread: int, mine: Collection[Place], a: str = "A", lane: int | None = None) -> str:
    """What a thread holds of C, and of which rows of A that is. mine: its elements (m,n). a: what A is called. lane: of tensor
    memory, if all of C's row lies in one."""
    rows = sorted({m for m, _ in mine})
    if lane is not None and len(rows) == 1:
        return f"Row {rows[0]} of {a} becomes row {rows[0]} of C, in lane {lane} and then in thread {thread}"
    of_row = [sorted(n for m, n in mine if m == row) for row in rows]
    ns = of_row[0]
    if any(its != ns for its in of_row) or len(rows) > FEW:
        return f"Thread {thread} holds {len(mine)} elements of C in {count(len(rows), 'row')}"
    each = sorted({n % GROUP for n in ns})
    columns = f"{len(ns)} columns"
    if ns == [*range(ns[0], ns[-1] + 1)]:
        columns = span(ns[0], ns[-1], "column ")
    elif len(ns) > len(each) and ns == [n for n in range(ns[-1] + 1) if n % GROUP in each]:
        columns = f"columns {', '.join(map(str, each))} of each {GROUP}"
    rows_of_a = numbered(rows, "row")
    return f"{rows_of_a[0].upper()}{rows_of_a[1:]} of {a} give{'s' * (len(rows) == 1)} thread {thread} {columns} of C"


def of_way(
    warps: Mapping[int, int], ends: tuple[str, str], lanes: bool, bent: bool, beside: Sequence[tuple[str, Sequence[int]]] = ()
) -> str:
    """Whose the rows of a tile are on its way through the memories.

    warps: of each row. ends: what the way leads from and to. lanes: each row is the lane of its number, and the thread. bent:
    shared memory has the chunks of a row in another order. beside: what else is in tensor memory, and its columns; then the
    sentence is of these.
    """
    (each, *others) = {*Counter(warps.values()).values()}
    kept = f"A warp keeps its {'' if others else f'{each} '}rows from {ends[0]} to {ends[1]}"
    head, it = ("Row r is lane r and thread r", "it") if lanes else (kept, "them")
    if beside:
        columns = sorted(at for _, its in beside for at in its)
        return f"{' and '.join(name for name, _ in beside)} lie in columns {columns[0]}..{columns[-1]}, behind the accumulator"
    return f"{head}; only the swizzle bends {it}" if bent else head
