"""What a thread copies and holds of a GEMM, in one sentence: computed from its elements."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cute_viz.figures.machine import Place
from cute_viz.figures.paint import span
from cute_viz.figures.words import numbered
from cute_viz.spelling import count

FEW = 4  # rows that a sentence lists
GROUP = 8  # columns in which an accumulator repeats


def of_thread(thread: int, operand: str, copied: Sequence[int], ks: Sequence[int], held: Sequence[int], word: str) -> str:
    """What a thread copies of an operand of a GEMM, beside what it holds of C: other rows, as a rule; "" of nothing that is held.

    ks: of what it copies. held: the row of each element.
    """
    lines = sorted({*held})
    if not held or max(len(lines), len(copied)) > FEW:
        return ""
    own = f"holds {count(len(held), 'element')} of C in {numbered(lines, word)}"
    k = span(ks[0], ks[-1]) if ks and len(ks) == ks[-1] - ks[0] + 1 else f"{len(ks)} elements"
    first = f"copies k {k} of {numbered(copied, 'row')} of {operand}, and " if copied else ""
    return f"Thread {thread} {first}{own}"


def of_held(thread: int, mine: Collection[Place]) -> str:
    """What a thread holds of C. mine: its elements (m,n)."""
    rows = sorted({m for m, _ in mine})
    of_row = [sorted(n for m, n in mine if m == row) for row in rows]
    told, ns = numbered(rows, "row"), of_row[0]
    if any(its != ns for its in of_row) or len(rows) > FEW:
        return f"Thread {thread} holds {len(mine)} elements of C in {count(len(rows), 'row')}"
    if ns == [*range(ns[0], ns[-1] + 1)] and len(ns) > GROUP:
        return f"Thread {thread} holds {told} of C, columns {span(ns[0], ns[-1])}"
    each = sorted({n % GROUP for n in ns})
    if len(ns) > len(each) and ns == [n for n in range(ns[-1] + 1) if n % GROUP in each]:
        return f"Thread {thread} holds columns {', '.join(map(str, each))} of each {GROUP} in {told} of C"
    return f"Thread {thread} holds {len(mine)} elements of C, in {told}"
