"""The report of a kernel, as `cute-viz analyze` says and judges it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click

from cute_viz.cli import output
from cute_viz.engine.kernel_ci import failures, github, sarif
from cute_viz.engine.kernel_ncu import compared, counted
from cute_viz.engine.kernel_page import page_of
from cute_viz.engine.kernel_rows import Report
from cute_viz.engine.kernel_text import text_of, totals_of
from cute_viz.engine.kernel_what_if import differences
from cute_viz.engine.kernel_what_if import what_if as with_other
from cute_viz.errors import CuteVizError, one_line
from cute_viz.files import read_text
from cute_viz.spelling import spelled

if TYPE_CHECKING:
    from cute_viz.engine import Answer

_SUFFIXES = {".html": "html", ".htm": "html", ".json": "json", ".sarif": "sarif", ".txt": "text"}


def compare(report: Report, counters: str, source: str) -> None:
    """A report beside what Nsight Compute has counted, in a file of its source page."""
    output.table([list(row) for row in compared(report, counted(read_text(counters), source))])


def what_if(answer: Answer, settings: tuple[str, ...], as_json: bool) -> None:
    """The difference that other definitions make."""
    pairs = dict(word.partition("=")[::2] for word in settings)
    if not all(pairs.values()):
        raise click.UsageError("--set takes NAME=EXPR")
    reading = answer.readings[0]
    if reading.file is None:
        raise click.UsageError("--set needs the file of a kernel")
    before, after, wrong = with_other(reading.file, pairs, reading.query)
    if as_json:
        output.echo(output.data({"before": before.as_dict(), "after": after.as_dict(), "wrong": wrong or None}))
        return
    for line in [*differences(before, after, wrong), "", *totals_of(after, before)]:
        output.say(line, err=False)


def say(
    report: Report, source: str, text: str, kind: str | None, path: str | None, everything: bool, accept: tuple[str, ...]
) -> None:
    """The report of a kernel, as text, JSON or for CI, or as a page of HTML. kind: None for what the file's suffix means."""
    file = output.file_of(path)
    if file is not None:
        named = _SUFFIXES.get(os.path.splitext(file)[1].lower())
        kind = named if named == "html" or kind is None else kind
        if kind is None:
            suffixes = ", ".join(_SUFFIXES)
            raise click.UsageError(f"the report of a kernel is written as {suffixes}; --format writes it to any file")
    if kind == "html":
        output.write(page_of(report, source, text), file)
        return
    if kind == "json":
        lines = [output.data(report.as_dict())]
    elif kind in (None, "text"):
        lines = [one_line(line) for line in text_of(report, source, everything, frozenset(accept))]
    else:
        lines = [spelled(sarif(report, source) if kind == "sarif" else github(report, source), "cli")]
    if file is not None:
        output.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"), file)
        return
    for line in lines:
        output.echo(line)


def before(path: str) -> dict[str, Any]:
    """The report of a kernel that is in a file. Raises: CuteVizError for a file without one."""
    try:
        found = json.loads(read_text(path))
    except ValueError:
        raise CuteVizError("this is not JSON", name=path, hint="cute-viz analyze kernel.cu --json > report.json") from None
    return found if isinstance(found, dict) else {}


def judge(report: Report, max_ways: float | None, accept: tuple[str, ...], baseline: dict[str, Any] | None) -> None:
    """Raises: CuteVizError where an access is worse than it may be, or than in an earlier report."""
    if max_ways is None and baseline is None:
        if accept:
            raise click.UsageError("--accept needs --max-ways or --baseline")
        return
    if wrong := failures(report, max_ways, accept, baseline):
        more = f"; {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise CuteVizError(wrong[0] + more, hint="`accept=LINE` allows one; without `max_ways=` all are listed")
