"""What a kernel would cost with other definitions: its report again, and what differs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cute_viz.engine.kernel import report_of
from cute_viz.engine.kernel_edit import as_written, read_again
from cute_viz.engine.kernel_expression import Edit, expression
from cute_viz.engine.kernel_fix import consistent
from cute_viz.engine.kernel_rows import Access, Report
from cute_viz.errors import CuteVizError, line_of

if TYPE_CHECKING:
    from cute_viz.source.model import SourceFile


def what_if(file: SourceFile, settings: Mapping[str, str], of: str | None = None) -> tuple[Report, Report, str]:
    """The report of a file, the report with other expressions for the names of some definitions, and what no longer holds, ""
    else. Raises: CuteVizError for a name that no definition has, or several, and for a file without copies."""
    written = as_written(file)
    edits = [_set(written, name, value) for name, value in settings.items()]
    before = report_of(file, of, "memory")
    after = report_of(read_again(file, written, tuple(edits)), of)
    if before is None or after is None:
        raise CuteVizError("there is no `copy` or `gemm` statement to report")
    return before, after, consistent(before, after, alike=False)[0]


def _set(written: SourceFile, name: str, value: str) -> Edit:
    """The edit that gives a definition another expression, an array other extents, a macro another text."""
    text = written.text
    if macro := re.search(rf"^[ \t]*#[ \t]*define[ \t]+{re.escape(name)}[ \t]+(\S.*?)[ \t]*(?://.*)?$", text, re.MULTILINE):
        return Edit(*macro.span(1), value, *line_of(text, macro.start(1)))
    entry = written.find(name)
    if (at := expression(text, entry)) is not None:
        return Edit(*at, value, entry.line, entry.file)
    array = re.compile(rf"\b{re.escape(entry.name)}\s*((?:\[[^\]\n]*\]\s*)+)").search(text, entry.span.start)
    given = re.fullmatch(r"[\w:\s]*((?:\[[^\[\]]+\]\s*)+)", value)
    if array is None or line_of(text, array.start()) != (entry.line, entry.file):
        raise CuteVizError(f"the definition of {name} is not one expression", name=f"`set={name}`")
    if given is None:
        hint = f"give its extents: `set={name}={array[1].strip()}`"
        raise CuteVizError(f"{name} is an array, and {value} has no extents", name=f"`set={name}`", hint=hint)
    return Edit(*array.span(1), given[1], entry.line, entry.file)


def differences(before: Report, after: Report, wrong: str) -> Iterator[str]:
    """What differs between two reports of one kernel, a line each."""
    if wrong:
        yield f"This breaks the kernel: {wrong}"
    others = {row.key: row for row in after.accesses}
    same = True
    for row in sorted(before.accesses, key=lambda row: (row.move.file, row.move.line, row.nth)):
        other = others.get(row.key)
        if other is None:
            told = next((error.message for move, error in after.unknown if move.line == row.move.line), "it has no row")
            yield f"line {row.move.place}: {row.cost.instruction}: no longer evaluated: {told}"
        elif changes := list(_changes(row, other)):
            yield f"line {row.move.place}: {row.move.text}: {', '.join(changes)}"
        else:
            continue
        same = False
    sizes = [report.memory.totals() if report.memory is not None else {} for report in (before, after)]
    for name in sizes[1]:
        if sizes[0].get(name, sizes[1][name]) != sizes[1][name]:
            yield f"shared memory{f' of {name}' * bool(name)}: {sizes[0][name]:,} -> {sizes[1][name]:,} bytes"
    if same and not wrong:
        yield "Every access costs what it did."


def _changes(row: Access, other: Access) -> Iterator[str]:
    if row.cost.instruction != other.cost.instruction:
        yield f"{row.cost.instruction} -> {other.cost.instruction}"
    for word in ("instructions", "wavefronts", "sectors"):
        now, then = getattr(row.cost, word), getattr(other.cost, word)
        if now != then:
            yield f"{now} -> {then} {word}"
