"""The report of a kernel as a page of HTML: what it says, in the words and figures of `renderers.report`."""

from __future__ import annotations

import os

from cute_viz.analysis.access import WarpAccess
from cute_viz.analysis.banks import BANKS, LANES, Phase
from cute_viz.engine.kernel_loops import steps, told
from cute_viz.engine.kernel_memory import REGISTERS, by_launch
from cute_viz.engine.kernel_rows import Access, Report
from cute_viz.engine.kernel_text import head, missing, why
from cute_viz.renderers.report import Bar, LaneTable, ReportPage, ReportRow, page
from cute_viz.spelling import spelled

_PICTURES = 48  # rows with conflicts that have pictures


def page_of(report: Report, name: str, source: str = "") -> bytes:
    """The report as a page of HTML. name: of the file. source: its text, which stands beside the rows.

    >>> b"<h1>kernel.cu</h1>" in page_of(Report((), ()), "kernel.cu")
    True
    """
    totals = report.totals.values()
    now, ideal = sum(x[0] for x in totals), sum(x[2] for x in totals)
    after = sum(x[0] if x[1] is None else x[1] for x in totals)
    bad = [row for row in report.accesses if row.lost > 0]
    fixes = len({str(row.fix.changes) for row in bad if row.fix})
    figure, verdict = "", "Every access that was evaluated is ideal."
    if now > ideal:
        figure, verdict = f"{100 * (now - ideal) / now:.0f}%", "of shared-memory wavefronts are conflicts."
    elif bad:
        figure, verdict = str(len(bad)), f"access{'es cost' if len(bad) > 1 else ' costs'} more than the ideal."
    note = f"{fixes} edit{'s fix' if fixes != 1 else ' fixes'} what can be fixed." if fixes else ""
    sectors = [(row.cost.sectors or 0, row.cost.ideal_sectors or 0) for row in report.accesses]
    total, least = sum(a for a, _ in sectors), sum(b for _, b in sectors)
    count = len({(row.move.file, row.move.line, row.move.call) for row in report.accesses})
    figures = [
        ("Wavefronts of shared memory", f"{now:,}", f"{after:,}" if after != now else "", f"{ideal:,} ideal"),
        ("Sectors of global memory", f"{total:,}", "", f"{least:,} ideal"),
        ("Evaluated", f"{count} of {count + len(report.unknown)}", "", "statements"),
    ]
    for step in steps(report)[:4]:
        if step.loop is not None:
            words = f"Wavefronts{f' of {step.launch}' if len(report.totals) > 1 else ''}, a round of line {step.loop.line}"
            fixed = f"{step.fixed:,}" if step.fixed not in (None, step.now) else ""
            figures.insert(1, (words, f"{step.now:,}", fixed, f"{step.ideal:,} ideal"))
    figures = figures[not now :]
    rows = [_row(row, n < _PICTURES, report) for n, row in enumerate(report.accesses)]
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
            _bars(report),
            rows,
            source,
            [spelled(line, "cli") for line in missing(report, everything=True)],
        )
    )


def _bars(report: Report) -> list[Bar]:
    memory = report.memory
    if memory is None or report.mixed:
        return []
    out, limits, shared = [], memory.limits(), by_launch(memory.shared)
    most = limits[0] if limits else 48 * 1024
    for name, parts in shared.items():
        told = f"{'at least ' * memory.partial}{memory.totals()[name]:,} of {most:,} bytes" + " that need no opt-in" * (not limits)
        told += ", if none overlap" * (memory.overlaps and len(parts) > 1)
        out.append(Bar(f"Shared memory{f' of {name}' if len(shared) > 1 else ''}", told, most, parts))
    for parts in list(by_launch(memory.registers).values())[:1]:
        told = f"{sum(size for _, size in parts)} of {REGISTERS} for fragments, a thread"
        out.append(Bar("Registers", told, REGISTERS, parts))
    if memory.tensor:
        parts = [(x.title, x.size) for x in memory.tensor]
        out.append(Bar("Tensor memory", f"{sum(size for _, size in parts)} of 512 columns", 512, parts))
    return out


def _row(row: Access, pictured: bool, report: Report) -> ReportRow:
    cost, fix, basis = row.cost, row.fix, row.basis
    now, ideal, unit = row.paid
    several = len({report.launch(move) for move, _ in report.read}) > 1
    call = report.launch(row.move).partition(", called in")[0] if several else ""
    reason, after, edits = "", "", []
    if row.lost > 0:
        reason = why(row) + (f" {row.told}." if row.unfixed else "")
    if fix is not None:
        edits = [(f"{file}:{line}" if file else str(line), old, new) for file, line, old, new in fix.changes]
        after = f"All accesses of the buffer: {fix.wavefronts[0]:,} now, {fix.wavefronts[1]:,} with the fix, {fix.ideal:,} ideal."
        after += f" It grows by {fix.bytes:,} bytes." if fix.bytes else ""
        after += f" Lines {', '.join(fix.beside)} were not evaluated and must follow the edit." if fix.beside else ""
    rests = []
    if cost.side is not None:
        assumes = f"assumes {', '.join(basis['assumes'])}" if basis["assumes"] else "proven: the layouts are static"
        rests = [
            ("Addresses", assumes),
            ("Model", "the phases of this instruction were counted by a device" * (basis["model"] == "counted") or "documented"),
        ]
        rests += [("Width", reason) for reason in cost.why[:1]]
    if times := told(row.often):
        rests.append(("Runs", times))
    pictures = _pictures(row) if pictured and cost.wavefronts is not None and cost.ways > 1 else []
    return ReportRow(
        row.move.line, row.move.file, row.move.text, call, cost.instruction, now, ideal, unit,
        row.ratio, fix.what if fix is not None else "", reason, edits, after, rests, pictures,
    )  # fmt: skip


def _pictures(row: Access) -> list[LaneTable]:
    """The costliest phase of the costliest instruction, and the same instruction with the fix."""
    side = row.cost.side
    assert side is not None
    found = side.instructions()
    n = max(range(len(found)), key=lambda n: found[n].wavefronts / max(1, found[n].ideal))
    phase = max(range(len(found[n].phases())), key=lambda k: found[n].phases()[k].wavefronts)
    marked: frozenset[str] = frozenset()
    out = []
    after = None if row.fixed is None else row.fixed.cost.side
    for title, one in (("Now", found), ("Fixed", after.instructions() if after is not None else [])):
        if n < len(one):
            phases = one[n].phases()
            here = phases[min(phase, len(phases) - 1)]
            if not marked:
                worst = max(here.banks, key=len)
                marked = frozenset(_name(one[n], lane) for _, lanes in worst for lane in lanes[:1])
            out.append(_lanes(title, one[n], here, marked))
    return out


def _lanes(title: str, access: WarpAccess, phase: Phase, marked: frozenset[str]) -> LaneTable:
    banks: dict[int, list[int]] = {}
    for bank, words in enumerate(phase.banks):
        for _, lanes in words:
            for lane in lanes:
                banks.setdefault(lane, []).append(bank)
    cells = [(_name(access, lane), tuple(banks.get(lane, (0,)))) for lane in phase.lanes]
    cost = f"{phase.wavefronts} wavefront{'s' * (phase.wavefronts > 1)}"
    words_of = [len(words) for words in phase.banks] or [0] * BANKS
    return LaneTable(title, cost, cells, marked, words_of)


def _name(access: WarpAccess, lane: int) -> str:
    return f"T{access.warp * LANES + lane}"
