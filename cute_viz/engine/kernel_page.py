"""The report of a kernel as a page of HTML: what it says, in the words and figures of `renderers.report`."""

from __future__ import annotations

import os

from cute_viz.engine.answer import ask
from cute_viz.engine.kernel_loops import LoopCost, steps, told
from cute_viz.engine.kernel_memory import REGISTERS, MemoryPart, by_launch
from cute_viz.engine.kernel_picture import picture_of, sides_of
from cute_viz.engine.kernel_rows import Access, Report
from cute_viz.engine.kernel_text import head, missing, mistakes, wanted
from cute_viz.engine.kernel_why import why
from cute_viz.engine.request import Request
from cute_viz.renderers.inline import inlined
from cute_viz.renderers.report import Bar, ReportPage, ReportRow, page
from cute_viz.source.moves import worst
from cute_viz.spelling import spelled

_PICTURES = 48  # rows with conflicts that have pictures
_FIGURES = 4
_WIDE = 310  # px of a picture


def page_of(report: Report, name: str, source: str = "") -> bytes:
    """The report as a page of HTML. name: of the file. source: its text, which stands beside the rows."""
    bad = [row for row in report.accesses if row.lost > 0]
    fixes = len({change[:2] for row in bad if row.fix for change in row.fix.changes})
    launch, (now, after, ideal) = _worst(report)
    figure, verdict = "", "Every access that was evaluated is ideal."
    if now > ideal:
        figure, verdict = f"{100 * (now - ideal) / now:.0f}%", "of shared-memory wavefronts are conflicts."
    elif bad:
        figure, verdict = str(len(bad)), f"access{'es cost' if len(bad) > 1 else ' costs'} more than the ideal."
    if wrong := mistakes(report):
        figure, verdict = str(len(wrong)), f"statement{'s are' if len(wrong) > 1 else ' is'} wrong."
    note = f"In {launch}, the worst of {len(report.totals)} launches. " if len(report.totals) > 1 and now > ideal else ""
    note += f"{fixes} edit{'s fix' if fixes != 1 else ' fixes'} what can be fixed." if fixes else ""
    note += " Of alternatives the larger counts." * report.grouped
    total = worst((row.often.choices, row.cost.sectors or 0) for row in report.accesses)
    least = worst((row.often.choices, row.cost.ideal_sectors or 0) for row in report.accesses)
    count = len({(row.move.file, row.move.line, row.move.call) for row in report.accesses})
    figures = [
        *(_figure(step) for step in steps(report) if step.launch == launch and step.loop is not None and not report.mixed),
        ("Wavefronts of shared memory", f"{now:,}", f"{after:,}" if after != now else "", f"{ideal:,} ideal"),
        ("Sectors of global memory", f"{total:,}", "", f"{least:,} ideal"),
        ("Evaluated", f"{count} of {count + len(report.unknown)}", "", "statements"),
    ]
    figures = [one for one in figures if now or "avefronts" not in one[0]][-_FIGURES:]
    rows = [
        ReportRow(
            move.line, move.file, move.text, report.called(move), "", None, None, "", "wrong", why=" ".join(x.text for x in each)
        )
        for move, each in wrong
    ]
    rows += [_row(row, n < _PICTURES, report) for n, row in enumerate(bad)]
    alike: dict[tuple[object, ...], list[Access]] = {}
    for row in report.accesses:
        if row.lost <= 0:
            alike.setdefault((row.move.place, row.move.text, row.cost.instruction, row.paid, str(row.basis)), []).append(row)
    rows += [_row(several[0], False, report, len(several)) for several in alike.values()]
    short = os.path.basename(name)
    about = spelled(head(report, name), "cli").removeprefix(short).strip()
    return page(
        ReportPage(
            short,
            about,
            figure,
            verdict,
            note,
            figures,
            _bars(report, launch),
            rows,
            source,
            [spelled(line, "cli") for line in (*missing(report), *wanted(report))],
        )
    )


def _worst(report: Report) -> tuple[str, tuple[int, int, int]]:
    """The launch that loses most wavefronts, and those: now, with all fixes, ideal; in all of a block, as far as that is known."""
    whole = {step.launch: (step.now, step.fixed, step.ideal) for step in steps(report) if step.loop is None}
    found = {} if report.mixed else {name: whole.get(name, total) for name, total in report.totals.items()}
    name, (now, after, ideal) = max(found.items(), key=lambda one: one[1][0] - one[1][2], default=("", (0, None, 0)))
    return name, (now, now if after is None else after, ideal)


def _figure(step: LoopCost) -> tuple[str, str, str, str]:
    """A round of a loop as a figure of the page."""
    fixed = f"{step.fixed:,}" if step.fixed not in (None, step.now) else ""
    return f"A round of line {step.loop.line if step.loop else ''}", f"{step.now:,}", fixed, f"{step.ideal:,} ideal"


def _bars(report: Report, launch: str) -> list[Bar]:
    memory = report.memory
    if memory is None or report.mixed:
        return []
    out, limits, held = [], memory.limits(), by_launch(memory.shared)
    most = limits[0] if limits else 48 * 1024
    if parts := held.get(launch) or max(held.values(), key=lambda parts: sum(part.size for part in parts), default=[]):
        told = (
            f"{'at least ' * memory.partial}{sum(part.size for part in parts):,} of {most:,} bytes{' (no opt-in)' * (not limits)}"
        )
        told += ", if none overlap" * (memory.overlaps and len(parts) > 1)
        out.append(Bar("Shared memory", told, most, parts))
    if registers := max(by_launch(memory.registers).values(), key=lambda parts: sum(part.size for part in parts), default=[]):
        told = f"{sum(part.size for part in registers)} of {REGISTERS} for fragments, a thread"
        out.append(Bar("Registers", told, REGISTERS, registers))
    if memory.tensor:
        columns = [MemoryPart(x.title, x.size) for x in memory.tensor]
        out.append(Bar("Tensor memory", f"{sum(part.size for part in columns)} of 512 columns", 512, columns))
    return out


def _row(row: Access, pictured: bool, report: Report, alike: int = 1) -> ReportRow:
    cost, fix, basis = row.cost, row.fix, row.basis
    now, ideal, unit = row.paid
    several = len({report.launch(move) for move, _ in report.read}) > 1
    call = f"{report.called(row.move)}{f', {alike} alike' * (alike > 1)}" if several else ""
    reason, after, edits = "", "", []
    if row.lost > 0:
        reason = why(row) + (f" {row.told}." if row.unfixed else "")
    if fix is not None:
        edits = [(f"{file}:{line}" if file else str(line), old, new) for file, line, old, new in fix.changes]
        after = f"All accesses of the buffer: {fix.wavefronts[0]:,} now, {fix.wavefronts[1]:,} with the fix, {fix.ideal:,} ideal."
        after += f" It grows by {fix.bytes:,} bytes." if fix.bytes else ""
        after += f" Lines {', '.join(fix.beside)} were not evaluated and must follow the edit." if fix.beside else ""
    assumes = f"assumes {', '.join(basis['assumes'])}" if basis["assumes"] else "proven: the layouts are static"
    rests = [("Addresses", assumes)] if cost.side is not None else []
    rests.append(
        ("Model", "the phases of this instruction were counted by a device" * (basis["model"] == "counted") or "documented")
    )
    rests += [("Width", reason) for reason in cost.why[:1] if cost.side is not None]
    if times := told(row.often):
        rests.append(("Runs", times))
    pictures = _pictures(row) if pictured and cost.wavefronts is not None and cost.ways > 1 else []
    return ReportRow(
        row.move.line, row.move.file, row.move.text, call, cost.instruction, now, ideal, unit,
        row.ratio, fix.what if fix is not None else "", reason, edits, after, rests, pictures,
    )  # fmt: skip


def _pictures(row: Access) -> list[str]:
    """The costliest instruction over its tile, and the same instruction with the fix, each as SVG."""
    how = {"bare": True, "fragment": True, "width": _WIDE}
    drawn = [ask(Request((side,), how, formats=("svg",))) for side in sides_of(picture_of(row))]
    return [inlined(one.write("svg").decode()) for one in drawn]
