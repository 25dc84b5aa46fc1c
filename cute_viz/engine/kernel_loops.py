"""What a kernel's loops make of its rows: wavefronts of shared memory in one round of each loop, and in all of a block; and what
its launches are called.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations_with_replacement
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

from cute_viz.source.moves import Loop, Often, worst
from cute_viz.spelling import middle

if TYPE_CHECKING:
    from cute_viz.engine.kernel_rows import Access, Report


class LoopCost(NamedTuple):
    """Wavefronts of a launch: in a round of a loop, or, for None, in all of a block. fixed: with all fixes, None where there are
    none. sure: every statement runs as often as is counted; else a condition may switch some of them off."""

    launch: str
    loop: Loop | None
    now: int
    fixed: int | None
    ideal: int
    sure: bool

    @property
    def key(self) -> tuple[str, str, int]:
        """Which step it is, in the report of another version of the file, too."""
        return self.launch, *(("", 0) if self.loop is None else (self.loop.file, self.loop.line))


def steps(report: Report) -> list[LoopCost]:
    """For each launch a round of each loop that is outermost, or whose rounds are not known; and the block, where all rounds are
    known. Empty where no statement with wavefronts is in a loop, of any launch."""
    after = report.after
    launches: dict[str, list[Access]] = {}
    for row in report.accesses:
        if row.cost.wavefronts is not None:
            launches.setdefault(report.called(row.move), []).append(row)
    out = []
    looped = any(row.often.loops for rows in launches.values() for row in rows)
    for name, rows in launches.items():
        shown: dict[tuple[tuple[int, str], ...], Loop] = {}
        for row in rows:
            for n, loop in enumerate(row.often.loops):
                if n == 0 or loop.rounds is None:
                    shown[_chain(row.often, n + 1)] = loop
        for chain, loop in sorted(shown.items()):
            mine = [row for row in rows if chain == _innermost(row.often, shown)]
            if mine:
                out.append(_step(name, loop._replace(runs=loop.rounds), mine, after))
        if looped and all(row.often.inside(None) is not None for row in rows):
            out.append(_step(name, None, rows, after))
    return out


def _chain(often: Often, most: int) -> tuple[tuple[int, str], ...]:
    return tuple((loop.line, loop.file) for loop in often.loops[:most])


def _innermost(often: Often, shown: dict[tuple[tuple[int, str], ...], Loop]) -> tuple[tuple[int, str], ...]:
    chains = (_chain(often, n) for n in range(len(often.loops), -1, -1))
    return next((chain for chain in chains if chain in shown), ())


def _step(name: str, loop: Loop | None, rows: list[Access], after: Mapping[tuple[str, int, str, int], int] | None) -> LoopCost:
    times = [row.often.inside(loop) or 0 for row in rows]
    return LoopCost(name, loop, *added(rows, after, times), all(row.often.sure for row in rows))


def added(
    rows: Sequence[Access], after: Mapping[tuple[str, int, str, int], int] | None, times: Sequence[int]
) -> tuple[int, int | None, int]:
    """What rows add up to in wavefronts, each so many times, of alternatives the larger: now, with the fixes, ideal.

    after: the wavefronts of each row with the fixes, None where there are none.
    """
    ways = [row.often.choices for row in rows]
    now = [row.cost.wavefronts or 0 for row in rows]
    fixed = None if after is None else [after.get(row.key, 0) for row in rows]
    ideal = [row.cost.ideal or 0 for row in rows]

    def total(counts: list[int]) -> int:
        return worst(zip(ways, map(mul, times, counts), strict=True))

    return total(now), None if fixed is None else total(fixed), total(ideal)


def told(often: Often) -> str:
    """How often a block runs a statement, in words; "" of one that it runs once."""
    words = []
    for loop in often.loops:
        place = f"line {loop.file}:{loop.line}" if loop.file else f"line {loop.line}"
        if loop.rounds is None:
            words.append(f"each round of {place}")
        elif loop.runs != loop.rounds:
            words.append(f"{loop.runs:,} of {loop.rounds:,} of {place}")
        else:
            words.append(f"{loop.rounds:,} round{'s' * (loop.rounds != 1)} of {place}")
    condition = [middle(str(one)) for one in often.choices] or ([] if often.sure else ["under a condition"])
    whole = often.inside(None)
    head = f"{whole:,} times: " if whole is not None and len(often.loops) > 1 else ""
    return head + ", ".join(words + condition)


def names_of(labels: Collection[str]) -> dict[str, str]:
    """Launches in as few words as distinguish them: of the functions on the way to one, those that launch it first, a function
    that is on no other way; or one with its line."""
    ways = {label: label.split(", called in ") for label in labels}
    bare = {step: step.rpartition(", line ")[0].split("::")[-1] for way in ways.values() for step in way}
    names = Counter(name for way in ways.values() for name in {bare[step] for step in way})
    pairs = Counter(pair for way in ways.values() for pair in {*combinations_with_replacement(way, 2)})

    def short(label: str, way: list[str]) -> str:
        for n, step in enumerate(way):
            if names[bare[step]] == 1 and bare[step]:
                return bare[step]
            if pairs[step, step] == 1:
                around = next((bare[one] for one in way[n::-1] if bare[one]), "")
                return f"{around}, {step.rpartition(', ')[2]}".removeprefix(", ")
        several = (pair for pair in combinations_with_replacement(way, 2) if pairs[pair] == 1)
        return next((f"{bare[a] or a}, {b.rpartition(', ')[2]}" for a, b in several), label)

    return {label: short(label, way) for label, way in ways.items()}
