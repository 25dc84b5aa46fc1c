"""The report of a kernel as a page of HTML: what it says, in the words and figures of `renderers.report`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.measure import rank
from cute_viz.algebra.static import clear_static
from cute_viz.analysis.access import WarpAccess
from cute_viz.analysis.banks import BANKS, LANES, Phase
from cute_viz.analysis.relocate import root_of
from cute_viz.engine.access import cells_of
from cute_viz.engine.kernel_loops import LoopCost, steps, told
from cute_viz.engine.kernel_memory import REGISTERS, by_launch
from cute_viz.engine.kernel_rows import Access, Report
from cute_viz.engine.kernel_text import head, missing, why
from cute_viz.renderers.report import Bar, LaneTable, ReportPage, ReportRow, page
from cute_viz.spelling import spelled

if TYPE_CHECKING:
    from cute_viz.analysis.cost import Side

_PICTURES = 48  # rows with conflicts that have pictures
_FIGURES = 4
_COLUMNS = 8  # of lanes in a picture


def page_of(report: Report, name: str, source: str = "") -> bytes:
    """The report as a page of HTML. name: of the file. source: its text, which stands beside the rows.

    >>> b"<h1>kernel.cu</h1>" in page_of(Report((), ()), "kernel.cu")
    True
    """
    bad = [row for row in report.accesses if row.lost > 0]
    fixes = len({change[:2] for row in bad if row.fix for change in row.fix.changes})
    launch, (now, after, ideal) = _worst(report)
    figure, verdict = "", "Every access that was evaluated is ideal."
    if now > ideal:
        figure, verdict = f"{100 * (now - ideal) / now:.0f}%", "of shared-memory wavefronts are conflicts."
    elif bad:
        figure, verdict = str(len(bad)), f"access{'es cost' if len(bad) > 1 else ' costs'} more than the ideal."
    note = f"In {launch}, the worst of {len(report.totals)} launches. " if len(report.totals) > 1 and now > ideal else ""
    note += f"{fixes} edit{'s fix' if fixes != 1 else ' fixes'} what can be fixed." if fixes else ""
    sectors = [(row.cost.sectors or 0, row.cost.ideal_sectors or 0) for row in report.accesses]
    total, least = sum(a for a, _ in sectors), sum(b for _, b in sectors)
    count = len({(row.move.file, row.move.line, row.move.call) for row in report.accesses})
    figures = [
        *(_figure(step) for step in steps(report) if step.launch == launch and step.loop is not None and not report.mixed),
        ("Wavefronts of shared memory", f"{now:,}", f"{after:,}" if after != now else "", f"{ideal:,} ideal"),
        ("Sectors of global memory", f"{total:,}", "", f"{least:,} ideal"),
        ("Evaluated", f"{count} of {count + len(report.unknown)}", "", "statements"),
    ]
    figures = [one for one in figures if now or "avefronts" not in one[0]][-_FIGURES:]
    rows = [_row(row, n < _PICTURES, report) for n, row in enumerate(bad)]
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
            [spelled(line, "cli") for line in missing(report, everything=True)],
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
    if parts := held.get(launch) or max(held.values(), key=lambda parts: sum(size for _, size in parts), default=[]):
        told = f"{'at least ' * memory.partial}{sum(size for _, size in parts):,} of {most:,} bytes{' (no opt-in)' * (not limits)}"
        told += ", if none overlap" * (memory.overlaps and len(parts) > 1)
        out.append(Bar("Shared memory", told, most, parts))
    if registers := max(by_launch(memory.registers).values(), key=lambda parts: sum(size for _, size in parts), default=[]):
        told = f"{sum(size for _, size in registers)} of {REGISTERS} for fragments, a thread"
        out.append(Bar("Registers", told, REGISTERS, registers))
    if memory.tensor:
        columns = [(x.title, x.size) for x in memory.tensor]
        out.append(Bar("Tensor memory", f"{sum(size for _, size in columns)} of 512 columns", 512, columns))
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
            out.append(_lanes(title, side if one is found or after is None else after, one[n], here, marked))
    return out


def _lanes(title: str, side: Side, access: WarpAccess, phase: Phase, marked: frozenset[str]) -> LaneTable:
    """The lanes of a phase and their banks, in the order of the tile where each has a place of its own in a few columns of it."""
    banks: dict[int, list[int]] = {}
    for bank, words in enumerate(phase.banks):
        for _, lanes in words:
            for lane in lanes:
                banks.setdefault(lane, []).append(bank)
    layout, swizzle = root_of(side.tensor)
    plain = None if layout is None else clear_static(layout)
    whole = plain if swizzle is None or plain is None else ComposedLayout(swizzle, 0, plain)
    where: dict[int, tuple[int, int]] = {}
    if plain is not None and rank(plain) == 2 and side.tensor.bits % 8 == 0:
        for cell in cells_of(whole, access, side.tensor.bits):
            where.setdefault(cell.thread - access.warp * LANES, (cell.row, cell.col))
    places = {where[lane] for lane in phase.lanes if lane in where}
    rows, cols = ({at[n] for at in places} for n in (0, 1))
    grid = len(phase.lanes) == len(places) == len(rows) * len(cols) and 1 < len(cols) <= _COLUMNS
    order = sorted(phase.lanes, key=lambda lane: where[lane]) if grid else list(phase.lanes)
    cells = [(_name(access, lane), tuple(banks.get(lane, (0,)))) for lane in order]
    cost = f"{phase.wavefronts} wavefront{'s' * (phase.wavefronts > 1)}"
    words_of = [len(words) for words in phase.banks] or [0] * BANKS
    axes = (tuple(map(str, sorted(rows))), tuple(map(str, sorted(cols)))) if grid else ((), ())
    return LaneTable(title, cost, cells, marked, words_of, "" if whole is None else str(whole), *axes)


def _name(access: WarpAccess, lane: int) -> str:
    return f"T{access.warp * LANES + lane}"
