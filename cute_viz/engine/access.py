"""What an access of memory costs: the report of every step of every warp, and the picture of the costliest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cute_viz.algebra.inttuple import show
from cute_viz.analysis.access import accesses, element_bits
from cute_viz.analysis.facts import layout_facts, memory_facts
from cute_viz.analysis.memories import memory_of
from cute_viz.analysis.reports import global_report, shared_report
from cute_viz.errors import UsageError
from cute_viz.figures.model import Figure
from cute_viz.figures.phases import strip
from cute_viz.options.words import read


@dataclass(frozen=True, slots=True)
class Access:
    """Who accesses a tile and how, in words of the command line.

    by: a TiledCopy, a TiledMMA with its operand, a TV layout; None for the facts of the layout alone. element: the type; None for
    that of `by`, or of the layout's pointer. instruction: instead of the one that follows. store: the tile is written.
    sectors: global memory: sectors and lines in the place of banks. arch: the machine, where its waves are of their own.
    """

    by: Any = None
    element: str | int | None = None
    instruction: str | None = None
    operand: str | None = None
    store: bool = False
    sectors: bool = False
    arch: str = ""


def report_of(layout: Any, access: Access) -> dict[str, Any]:
    """The facts of a layout in memory, or what the access of each step costs, ready for JSON.

    Raises: UsageError for words that contradict each other; CuteVizError for an access that does not fit the layout.

    >>> from cute_viz.algebra.layout import Layout
    >>> report_of(Layout((8, 64), (64, 1)), Access(element="f16"))["bytes"]
    1024
    """
    _check(access)
    bits = read("type", access.element)
    if access.by is None:
        return {**layout_facts(layout), **memory_facts(layout, element_bits(layout, given=bits))}
    found = _found(layout, access, bits)
    if access.sectors:
        return global_report(found)
    report, memory = shared_report(found), memory_of(access.arch)
    return report if memory is None else {**report, "summary": f"{report['summary']} ({memory.claim})", "claim": memory.claim}


def picture_of(layout: Any, access: Access) -> Figure:
    """The phases of the costliest access, a row each.

    Raises: as `report_of`; UsageError for global memory, which has no banks.
    """
    _check(access)
    if access.sectors:
        raise UsageError("the picture shows the banks of shared memory: drop `global=`")
    found = _found(layout, access, read("type", access.element))
    worst = max(found, key=lambda a: a.wavefronts)
    title = f"{worst.instruction} of warp {worst.warp}, step {worst.step}: {worst.wavefronts} wavefronts, {worst.ideal} are ideal"
    memory = memory_of(access.arch)
    note = "The label of a row is the phase and its wavefronts: the words in its fullest bank." + (
        f" {memory.claim}." if memory else ""
    )
    return strip(title, show(layout), worst.phases(), note)


def _found(layout: Any, access: Access, bits: int | None) -> list[Any]:
    memory = None if access.sectors else memory_of(access.arch)
    return accesses(
        layout, bits, access.by, instruction=access.instruction, operand=access.operand, store=access.store, memory=memory
    )


def _check(access: Access) -> None:
    if access.by is None:
        given = {"instruction": access.instruction, "operand": access.operand, "store": access.store, "global": access.sectors}
        if name := next((name for name, value in given.items() if value), None):
            raise UsageError(f"`{name}=` goes with `access=`")
    word = access.instruction or ""
    if access.store and word.startswith("ld"):
        raise UsageError(f"`store=` and `instruction={word}` contradict each other: it reads")
    if access.sectors and "matrix" in word:
        raise UsageError(f"{word} accesses shared memory; drop `global=`")
