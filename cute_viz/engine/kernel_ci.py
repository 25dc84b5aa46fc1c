"""The report of a kernel for continuous integration: what fails, SARIF, and annotations of GitHub."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any
from urllib.parse import quote

from cute_viz.engine.kernel_rows import Access, Report
from cute_viz.engine.kernel_why import why
from cute_viz.errors import CuteVizError

RULES = {
    "mistake": "Known values prove that a statement leaves its tensor, its array or its threads",
    "bank-conflict": "An access of shared memory takes more wavefronts than its ideal",
    "sectors": "An access of global memory touches more sectors than its bytes fill",
    "tma-boxes": "A TMA copy takes more instructions than its tile needs",
    "not-evaluated": "A statement could not be evaluated",
}
_LEVELS = {"not-evaluated": ("note", "notice"), "mistake": ("error",)}  # of SARIF, of GitHub; others are warnings


def failures(report: Report, most: float | None, accept: Collection[str], baseline: dict[str, object] | None) -> list[str]:
    """What is worse than it may be, a line each.

    most: times its ideal that an access may cost. accept: lines whose accesses may cost anything, `201` or `FILE:201`. baseline: a
    report as JSON: only what costs more than there fails.

    Raises: CuteVizError for a line without a row, and for a baseline that is not a report.
    """
    missed = [(move.place, str(move.file or None), move.text) for move, _ in report.unknown]
    missed += dict.fromkeys((one.place, str(one.file or None), one.text) for one in report.elements if one.lost)
    missed += [(row.move.place, str(row.move.file or None), row.move.text) for row in report.accesses if row.hidden]
    places = {row.move.place for row in report.accesses} | {place for place, *_ in missed}
    places |= {move.place for move, _ in report.mistakes}
    if lost := [line for line in accept if line not in places]:
        raise CuteVizError(f"there is no access in line {lost[0]}", hint=f"lines with one: {', '.join(sorted(places)[:12])}")
    rows = [row for row in report.accesses if row.move.place not in accept]
    before = _before([row.as_dict() for row in rows], _listed(baseline, "accesses")) if baseline is not None else [None] * len(rows)
    old_ones = {
        (str(x.get("file")), str(x.get("statement")), str(x.get("text")))
        for x in _listed({"mistakes": [], **(baseline or {})}, "mistakes")
    }
    out = [
        f"line {move.place}: {one.text}"
        for move, one in report.mistakes
        if move.place not in accept and (str(move.file or None), move.text, one.text) not in old_ones
    ]
    for row, old in zip(rows, before, strict=True):
        told = f"line {row.move.place}: {row.cost.instruction}"
        now = row.as_dict()
        if baseline is not None:
            worse = [key for key in ("wavefronts", "sectors", "instructions") if old and (now[key] or 0) > _count(old, key)]
            out += [f"{told} takes {now[key]} {key}, {_count(old, key)} in the baseline" for key in worse if old]
            if old is None and row.cost.ways > (most or 1) and not row.accepted:
                out.append(f"{told} takes {row.cost.ways:g} times its ideal wavefronts, and is not in the baseline")
        elif most is not None and row.cost.ways > most and not row.accepted:
            out.append(f"{told} takes {row.cost.ways:g} times its ideal wavefronts; the limit is {most:g}")
    unknown = [*_listed(baseline, "unknown"), *_listed({"elements": [], **baseline}, "elements")] if baseline is not None else []
    unknown += _listed(baseline, "accesses") if baseline is not None else []  # those that a compiler lays out among them
    known = {(str(row.get("file")), str(row.get("statement", row.get("text")))) for row in unknown}
    for place, *statement in missed:
        if place not in accept and tuple(statement) not in known:
            out.append(f"line {place}: {statement[1]} could not be evaluated")
    return list(dict.fromkeys(out))


def _before(now: Sequence[dict[str, Any]], old: Sequence[dict[str, Any]]) -> list[dict[str, Any] | None]:
    """For each row the one that it was, None of a new one. Those of a statement that several calls lead to are in the order of
    their calls where there are as many as before, else the dearest are held to the dearest."""
    out: list[dict[str, Any] | None] = [None] * len(now)
    mine, known = dict[tuple[str, ...], list[int]](), dict[tuple[str, ...], list[dict[str, Any]]]()
    for n, row in enumerate(now):
        mine.setdefault(_identity(row), []).append(n)
    for row in old:
        known.setdefault(_identity(row), []).append(row)
    for key, places in mine.items():
        then = known.get(key, [])
        order = _calls if len(then) == len(places) else _cost
        for n, row in zip(sorted(places, key=lambda n: order(now[n])), sorted(then, key=order), strict=False):
            out[n] = row
    return out


def _identity(row: dict[str, Any]) -> tuple[str, ...]:
    """What names a row where lines moved."""
    return *(str(row.get(key)) for key in ("file", "scope", "statement", "tile")), str(row.get("instruction"))[:2]


def _calls(row: dict[str, Any]) -> tuple[list[int], int]:
    return [int(word) for word in re.findall(r"\d+", str(row.get("call") or ""))][::-1], _cost(row)


def _cost(row: dict[str, Any]) -> int:
    return -(_count(row, "wavefronts") or _count(row, "sectors") or _count(row, "instructions"))


def _listed(baseline: dict[str, object], key: str) -> list[dict[str, Any]]:
    """The rows of a baseline. Raises: CuteVizError for JSON that is not a report."""
    rows = baseline.get(key)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise CuteVizError("the baseline is not a report", hint="cute-viz analyze kernel.cu --json > report.json")
    return rows


def _count(row: dict[str, object], key: str) -> int:
    value = row.get(key)
    return value if isinstance(value, int) else 0


def findings(report: Report) -> Iterator[tuple[str, str, int, str]]:
    """What there is to report: rule, included file, line, message; what is wrong first, then what has a fix."""
    for move, mistake in report.mistakes:
        yield "mistake", move.file, move.line, f"{move.text}: {mistake.text}"
    for row in report.accesses:
        if row.lost > 0:
            rule = "tma-boxes" if row.boxed else "sectors" if row.cost.wavefronts is None else "bank-conflict"
            yield rule, row.move.file, row.move.line, _message(row)
    for move, error in report.unknown:
        yield "not-evaluated", move.file, move.line, f"{move.text}: {error.message}"
    lost = dict.fromkeys((one.file, one.line, f"{one.text}: {one.why}") for one in report.elements if one.lost)
    yield from (("not-evaluated", *one) for one in lost)


def _message(row: Access) -> str:
    out = f"{row.ratio} {row.cost.instruction}: {why(row)}"
    if row.fix is not None:
        edits = "; ".join(f"{f'{file}:' * bool(file)}{line}: {old} -> {new}" for file, line, old, new in row.fix.changes)
        out += f" Fix: {edits} ({row.left} left)."
    elif row.unfixed:
        out += f" {row.told}."
    return out


def sarif(report: Report, path: str) -> str:
    """The report in SARIF 2.1.0. path: of the source."""
    results = [
        {
            "ruleId": rule,
            "level": _LEVELS.get(rule, ("warning",))[0],
            "message": {"text": message},
            "locations": [
                {"physicalLocation": {"artifactLocation": {"uri": quote(_path(path, file))}, "region": {"startLine": max(1, line)}}}
            ],
        }
        for rule, file, line, message in dict.fromkeys(findings(report))
    ]
    rules = [{"id": name, "shortDescription": {"text": text}} for name, text in RULES.items()]
    driver = {"name": "cute-viz", "rules": rules}
    run = {"tool": {"driver": driver}, "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=1)


def github(report: Report, path: str) -> str:
    """The report as annotations of GitHub's workflows, a line each."""
    lines = []
    for rule, file, line, message in dict.fromkeys(findings(report)):
        kind = _LEVELS.get(rule, ("warning",))[-1]
        where = f"file={_escaped(_path(path, file), ':,')},line={line},title={rule}"
        lines.append(f"::{kind} {where}::{_escaped(message)}")
    return "\n".join(lines)


def _path(path: str, file: str) -> str:
    whole = os.path.join(os.path.dirname(path), file) if file else path
    return os.path.normpath(whole).replace(os.sep, "/")


def _escaped(text: str, more: str = "") -> str:
    for letter in f"%\r\n{more}":
        text = text.replace(letter, f"%{ord(letter):02X}")
    return text
