"""What Nsight Compute counted beside what was predicted: by instruction, and by line as far as the file tells it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

from cute_viz.engine.kernel_rows import Access, Report
from cute_viz.errors import CuteVizError
from cute_viz.limits import limit, over
from cute_viz.records import dataclass

_EXECUTED = "Instructions Executed"
_SHARED, _SECTORS = "L1 Wavefronts Shared", "L2 Theoretical Sectors Global"
_RECIPE = "ncu --section SourceCounters -o r ./kernel; ncu -i r.ncu-rep --page source --print-source sass --csv"
_OPS = {"LDS": "ld.shared", "STS": "st.shared", "LDG": "ld.global", "STG": "st.global", "LDGSTS": "cp.async"}
_MATRIX = {"LDSM": "ldmatrix", "STSM": "stmatrix"}


@dataclass(frozen=True, slots=True)
class Counted:
    """An instruction that was counted: its name as reports have it, its line or 0, how often warps executed it, and what all that
    took: wavefronts of shared memory and their ideal, sectors of global memory and theirs.
    """

    instruction: str
    line: int
    executed: int
    wavefronts: int
    ideal: int
    sectors: int
    ideal_sectors: int


def counted(text: str, name: str = "") -> list[Counted]:
    """The memory instructions of a page of sources in CSV; `cuda,sass` has lines, of which those of the file `name` count.
    Raises: CuteVizError for a text that is no such page."""
    found: dict[str, Counted] = {}
    columns: dict[str, int] = {}
    path, line, own, width = "", 0, False, 0
    for row in _rows(text):
        if _EXECUTED in row and "Source" in row:
            columns, width = {word: n for n, word in enumerate(row)}, len(row)
            own = "Line No" in row
        elif row[:1] == ["File Path"]:
            path = row[1] if len(row) > 1 else ""
        elif columns and len(row) >= width and (at := columns.get("Address")) is not None:
            if own and re.fullmatch(r"[0-9]{1,9}", row[0]):
                line = int(row[0])
            sass = "".join(row[at + 1 : at + 2]) if own else row[columns["Source"]]
            space = row[columns["Address Space"]].lower() if "Address Space" in columns else ""
            instruction = _name(sass, space)
            if not row[at].startswith("0x") or not instruction:
                continue
            here = line if own and re.split(r"[\\/]", path)[-1] == re.split(r"[\\/]", name)[-1] else 0
            numbers = [
                _number(row, columns, word) for word in (_EXECUTED, _SHARED, f"{_SHARED} Ideal", _SECTORS, f"{_SECTORS} Ideal")
            ]
            if row[at] not in found or here:
                found[row[at]] = Counted(instruction, here, *numbers)
    if not columns:
        raise CuteVizError("this is not a source page exported by Nsight Compute", hint=_RECIPE)
    return list(found.values())


def _rows(text: str) -> Iterator[list[str]]:
    """The rows of a table. Raises: CuteVizError for a text that is none, such as a quote that is never closed."""
    if len(text) > limit("log"):
        raise over("log", f"the table has {len(text)} characters")
    try:
        yield from csv.reader(io.StringIO(text))
    except csv.Error as error:
        raise CuteVizError(f"this is not a table in CSV: {error}", hint=_RECIPE) from None


def _number(row: Sequence[str], columns: dict[str, int], word: str) -> int:
    cell = row[columns[word]].replace(",", "") if word in columns else "0"
    return int(float(cell)) if re.fullmatch(r"[0-9]{1,18}(\.[0-9]*)?", cell) else 0


def _name(sass: str, space: str = "") -> str:
    """The name that reports have for an instruction of SASS, "" for what moves no tensors. space: where it counted."""
    found = re.match(r"\s*(?!@!U?PT\b)(?:@!?U?P\w+\s+)?(\w+)((?:\.\w+)*)", sass)
    if found is None:
        return ""
    op, parts = found[1], found[2].split(".")
    if op in _MATRIX:
        count = next((part for part in reversed(parts) if part in ("1", "2", "4")), "1")
        return f"{_MATRIX[op]}.x{count}" + ".trans" * any("MT" in part for part in parts)
    generic = f"{op.lower()}.{space}" if op in ("LD", "ST") and space in ("shared", "global") else ""
    if op in _OPS or generic:
        width = next((part.lstrip("US") for part in parts if part.lstrip("US") in ("8", "16", "64", "128")), "32")
        return f"{generic or _OPS[op]}.{width}"
    return {"UTMALDG": "TMA load", "UTMASTG": "TMA store"}.get(op, "")


def compared(report: Report, seen: Sequence[Counted]) -> Iterator[tuple[str, ...]]:
    """For each instruction: its lines, predicted and counted wavefronts or sectors for each time that a warp executes it, how
    often that was, and what a difference means."""
    mine: dict[str, list[Access]] = {}
    for row in report.accesses:
        kind = row.cost.instruction
        if "TMA" in kind and "TMEM" not in kind:
            kind = "TMA store" if "STORE" in kind else "TMA load"
        elif row.cost.side is None:  # an MMA, or a copy of tensor memory: no counter is about it
            continue
        mine.setdefault(kind, []).append(row)
    theirs: dict[str, list[Counted]] = {}
    for one in seen:
        if one.executed:
            theirs.setdefault(one.instruction, []).append(one)
    yield ("instruction", "lines", "executed", "predicted", "counted", "")
    for kind in dict.fromkeys([*mine, *theirs]):
        rows, counts = mine.get(kind, []), theirs.get(kind, [])
        lines = ", ".join(dict.fromkeys(row.move.place for row in rows))
        executed = sum(one.executed for one in counts)
        shared = any(row.cost.wavefronts is not None for row in rows) or any(one.wavefronts for one in counts)
        said = {_ratio(row.cost.wavefronts if shared else row.cost.sectors, row.cost.instructions) for row in rows} - {""}
        saw = {_ratio(one.wavefronts if shared else one.sectors, one.executed) for one in counts} - {""}
        if kind.startswith("TMA"):
            said, saw = set(), set()
        yield kind, lines, f"{executed:,}", _range(said), _range(saw), _meaning(kind, rows, executed, said, saw)


def _ratio(count: int | None, times: int) -> str:
    return f"{count / times:.2f}".rstrip("0").rstrip(".") if count is not None and times else ""


def _range(words: set[str]) -> str:
    return " or ".join(sorted(words, key=float)) if len(words) < 4 else f"{min(words, key=float)} to {max(words, key=float)}"


def _meaning(kind: str, rows: list[Access], executed: int, said: set[str], saw: set[str]) -> str:
    if not rows:
        return "no row: it is of no copy or gemm that was evaluated"
    if not executed:
        return "not executed: a condition was false, or the compiler removed it or chose another width"
    if kind.startswith("TMA"):
        return f"{max(row.cost.instructions for row in rows)} a tile"
    if said == saw:
        return "as predicted"
    if saw < said:
        return "as predicted, of the rows that ran"
    low, high = min(map(float, saw), default=0), max(map(float, saw), default=0)
    if said and high > max(map(float, said)):
        return "counted more: an address or an alignment is not what was assumed"
    return "counted less: lanes are switched off, or addresses meet" if said and low < min(map(float, said)) else "between the rows"
