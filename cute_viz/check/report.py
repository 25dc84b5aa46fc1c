"""What came back -> verdicts, JSON, the compact evidence that is kept, and the picture of a disagreement. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cute_viz.check.cuda import StaticTable
from cute_viz.check.job import Check, Outcome, PanelCheck, Undecided
from cute_viz.errors import FigureError
from cute_viz.figures.model import HOLE, Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.records import rows

_ROWS = rows(__file__, "promises.txt")
PROVES = {kind: (proves, beyond) for kind, proves, beyond, *_ in _ROWS}
# The kinds in which the hardware itself decides; of these, the checks that carry a digest let a name be called verified
# (report.evidence).
CLAIMS = tuple(kind for kind, _, _, *hardware in _ROWS if hardware)


VERDICTS = ("agree", "differ", "known", "undecided")
EXAMPLES = 16  # differing cells that a report spells out
UNDECIDED = "not decidable here"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check's result.

    verdict: `agree`; `differ`; `known`, a difference between CuTe and hardware that is on record and was seen again;
    `undecided`. cells, agree: decided cells, and those in which picture and device agree. control: whether a corrupted table
    was caught. differences: (panel, row, column, drawn, seen) of the first ones. sheets: of what differs, for the picture.
    """

    kind: str
    name: str
    verdict: str
    cells: int = 0
    agree: int = 0
    control: bool | None = None
    reason: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    digest: str | None = None
    differences: tuple[tuple[str, int, int, str, str], ...] = ()
    sheets: tuple[PanelCheck, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All that one run of checks found.

    machine: device, driver, versions. verdicts: in the order of the checks. more: further findings, such as bandwidths.
    """

    machine: dict[str, Any]
    verdicts: tuple[CheckResult, ...]
    more: dict[str, Any] = field(default_factory=dict)


def judged(check: Check, outcome: Outcome) -> CheckResult:
    """The verdict on a check that ran. A check whose control was not caught proves nothing, and counts as a difference."""
    return verdict_of(check.kind, check.name, outcome, check.digest, check.known)


def verdict_of(kind: str, name: str, outcome: Outcome, digest: str | None = None, known: str = "") -> CheckResult:
    """The verdict that follows from an outcome."""
    different = outcome.cells != outcome.agree
    reason = known
    if not outcome.control:
        verdict, reason = "differ", "the control failed: a corrupted table was not caught"
    elif outcome.cells == 0:
        verdict, reason = "undecided", "no cell of the picture was decided"
    else:
        verdict = "differ" if different else "known" if known else "agree"
    return CheckResult(
        kind,
        name,
        verdict,
        outcome.cells,
        outcome.agree,
        outcome.control,
        reason,
        outcome.facts,
        digest,
        tuple(_differences(outcome.sheets))[:EXAMPLES] if different else (),
        outcome.sheets if different else (),
    )


def compiled(item: StaticTable, wrong: Sequence[tuple[int, int]], control: bool) -> CheckResult:
    """The verdict on a table that a compiler compared: the ranges that it refused, and whether it refused a corrupted entry."""
    cells = len(item.table)
    agree = cells - sum(last + 1 - first for first, last in wrong)
    verdict = "agree" if control and not wrong else "differ"
    reason = "; ".join(f"something differs in the entries {first} to {last}" for first, last in wrong)
    return CheckResult("static", item.name, verdict, cells, agree, control, reason)


def undecided(item: Check | Undecided, reason: str = "") -> CheckResult:
    """The verdict on what was not run, with the reason."""
    return CheckResult(item.kind, item.name, "undecided", reason=reason or getattr(item, "reason", ""))


def _differences(sheets: Sequence[PanelCheck]) -> list[tuple[str, int, int, str, str]]:
    return [
        (sheet.role, *divmod(cell, sheet.cols), sheet.drawn[cell], sheet.seen[cell] or "")
        for sheet in sheets
        for cell, ok in enumerate(sheet.ok)
        if ok is False
    ]


def status(verdicts: Sequence[CheckResult]) -> int:
    """The exit status: 1 with a difference, 3 when nothing at all could be decided, else 0."""
    found = {verdict.verdict for verdict in verdicts}
    return 1 if "differ" in found else 0 if found & {"agree", "known"} else 3


def counts(verdicts: Sequence[CheckResult]) -> dict[str, dict[str, int]]:
    """For each kind: how many checks came to each verdict, the cells decided and agreeing, the controls caught."""
    out: dict[str, dict[str, int]] = {}
    for kind in dict.fromkeys(verdict.kind for verdict in verdicts):
        mine = [verdict for verdict in verdicts if verdict.kind == kind]
        by = Counter(verdict.verdict for verdict in mine)
        out[kind] = {
            **{word: by[word] for word in VERDICTS},
            "cells": sum(verdict.cells for verdict in mine),
            "cells agreeing": sum(verdict.agree for verdict in mine),
            "controls caught": sum(verdict.control is True for verdict in mine),
        }
    return out


def document(report: CheckReport) -> dict[str, Any]:
    """The whole report, ready for JSON."""
    checks = [
        {
            "kind": v.kind,
            "name": v.name,
            "verdict": v.verdict,
            **({"cells": v.cells, "agree": v.agree, "control caught": v.control} if v.cells else {}),
            **({"reason": v.reason} if v.reason else {}),
            **v.facts,
            **({"digest": v.digest} if v.digest else {}),
            **({"differences": [dict(zip(_COLUMNS, d, strict=True)) for d in v.differences]} if v.differences else {}),
        }
        for v in report.verdicts
    ]
    return {"cute_viz_check": 1, **report.machine, **report.more, "counts": counts(report.verdicts), "checks": checks}


_COLUMNS = ("panel", "row", "column", "drawn", "seen")


_NAMED = re.compile(r"no (kernel|check) for .*", re.S)  # a reason that names one


def evidence(report: CheckReport) -> dict[str, Any]:
    """The compact form that is kept: counts, what is known to differ, why what was left out was, name -> digest of what agrees.
    Only the kinds in `CLAIMS`: only where hardware itself decides may a name be called verified."""
    verdicts = report.verdicts
    reasons: dict[str, list[str]] = {}
    doubted = {v.name for v in verdicts if v.verdict == "differ"}
    for v in verdicts:
        if v.verdict == "undecided":
            reasons.setdefault(_NAMED.sub(r"no \1", v.reason), []).append(v.name)
    return {
        "cute_viz_check": 1,
        **report.machine,
        **report.more,
        "counts": counts(verdicts),
        "known": {v.name: v.reason for v in verdicts if v.verdict == "known"},
        "differ": {v.name: v.reason or f"{v.agree} of {v.cells} cells agree" for v in verdicts if v.verdict == "differ"},
        UNDECIDED: {reason: len(names) for reason, names in reasons.items()},
        "agree": {
            v.name: v.digest for v in verdicts if v.verdict == "agree" and v.digest and v.kind in CLAIMS and v.name not in doubted
        },
    }


def lines(verdict: CheckResult) -> str:
    """A verdict in words."""
    if verdict.verdict == "undecided":
        return f"{UNDECIDED}: {verdict.reason}"
    told = f"{verdict.agree} of {verdict.cells} cells agree"
    control = "the control was caught" if verdict.control else "THE CONTROL WAS NOT CAUGHT"
    return "; ".join([told, control, *([verdict.reason] if verdict.reason else [])])


_PAINTS = (Paint(3, 2, 3), Paint(0), Paint(-1))  # agrees, differs, undecided
_MEANING = ("agrees", "differs: drawn ≠ seen", UNDECIDED)


def picture(verdict: CheckResult) -> Figure:
    r"""The picture of a disagreement: every cell as drawn, the differing ones marked and with what the device showed. Raises:
    FigureError for a verdict without a difference."""
    if not verdict.sheets:
        raise FigureError(f"{verdict.name}: there is no difference to draw")
    panels, used = [], Counter[int]()
    for column, sheet in enumerate(verdict.sheets):
        paints = [
            HOLE if ok is None and not drawn else 1 if ok is False else 2 if ok is None else 0
            for ok, drawn in zip(sheet.ok, sheet.drawn, strict=True)
        ]
        used.update(paints)
        labels = [
            f"{drawn}\n≠{seen}" if ok is False else drawn for drawn, seen, ok in zip(sheet.drawn, sheet.seen, sheet.ok, strict=True)
        ]
        marks = [divmod(cell, sheet.cols) for cell, ok in enumerate(sheet.ok) if ok is False]
        wrong = len(marks)
        panels.append(
            Panel(
                caption=f"{sheet.role}: {wrong} of {len(labels)} cells differ".removeprefix(": "),
                labels=tuple(labels),
                paints=tuple(paints),
                row_ruler=_ruler(sheet.rows),
                col_ruler=_ruler(sheet.cols),
                boxes=tuple((row, col, row + 1, col + 1) for row, col in marks),
                data={"agrees": sheet.ok, "seen": sheet.seen},
                place=(0, column),
            )
        )
    entries = tuple(LegendEntry(n, words) for n, words in enumerate(_MEANING) if used[n])
    title = f"{verdict.name}: {verdict.cells - verdict.agree} of {verdict.cells} cells differ from the device"
    caption = "what was drawn; marked cells also show what the device did (≠)"
    return Figure(
        kind="check",
        title=title,
        source=verdict.name,
        caption=caption,
        paints=_PAINTS,
        legends=(Legend("hue: picture and device", entries),),
        panels=tuple(panels),
        notes=(verdict.reason,) if verdict.reason else (),
        facts={"kind of check": verdict.kind},
    )


def _ruler(count: int) -> Ruler:
    return Ruler("", tuple(map(str, range(count))))
