"""Words that figures share: `1 thread`, `32 threads`, `an 8`, and what colour means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cute_viz.figures.model import Legend


def an(number: int) -> str:
    """A number with its article."""
    return f"{'an' if str(number)[0] == '8' or number in (11, 18) else 'a'} {number}"


def numbered(numbers: Iterable[int], what: str) -> str:
    """Numbers with what they number."""
    *first, last = map(str, numbers)
    return f"{what}s {', '.join(first)} and {last}" if first else f"{what} {last}"


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Rising numbers as runs without gaps: the first and the last of each."""
    out: list[tuple[int, int]] = []
    for n in numbers:
        out[-1:] = [(out[-1][0], n)] if out and n == out[-1][1] + 1 else [*out[-1:], (n, n)]
    return out


def lie(where: Mapping[str, str]) -> str:
    """Where things lie, those of one memory together. where: their memories by their names."""
    told = []
    for home in dict.fromkeys(where.values()):
        its = [name for name in where if where[name] == home]
        told.append(f"{' and '.join(its)} {'lie' if len(its) > 1 else 'lies'} in {home}")
    return ", ".join(told)


def left_out(others: Mapping[str, str]) -> list[str]:
    """A note on what a picture of some operands leaves out. others: their memories, by what they are called."""
    homes = {home: [name for name, where in others.items() if where == home] for home in others.values()}
    told = " and ".join(" and ".join(its) + f", in {home}," * bool(home) for home, its in homes.items())
    return [f"{told[0].upper()}{told[1:]} {'are' if len(others) > 1 else 'is'} not drawn."] if told else []


NOT_RUN = "not run on hardware"  # what a figure says of machines; check/digest.py, `told`, takes it back where a report is kept


def not_run(machine: str = "SM100") -> str:
    """That nothing drawn was run on a machine."""
    return f"{machine}: {NOT_RUN}."


def colours(legends: Iterable[Legend]) -> str:
    """What colour means, for a description; it follows a sentence."""
    return "".join(f" Color, {legend.title}." for legend in legends)
