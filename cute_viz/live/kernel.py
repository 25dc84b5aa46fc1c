"""The report of a kernel for the page: a row for each access with its fix as edits of the text, and the picture of one of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cute_viz.engine.kernel_picture import picture_of, sides_of
from cute_viz.engine.kernel_why import plainly, why
from cute_viz.errors import UsageError
from cute_viz.live.faults import units
from cute_viz.renderers.windows import NARROW
from cute_viz.spelling import spelled

if TYPE_CHECKING:
    from cute_viz.engine.kernel_rows import Access, Report
    from cute_viz.live.question import Question


def report(question: Question) -> dict[str, Any]:
    """The rows of a kernel, each with its cause, and its fix with the places of its edits; no `accesses` of any other source."""
    found = _report(question)
    if found is None:
        return {"accesses": None}
    whole = found.as_dict()
    for row, said in zip(found.accesses, whole["accesses"], strict=True):
        said |= {"id": _id(row), "ratio": row.ratio, "lost": row.lost, "place": row.move.place, "why": why(row)}
        if row.fix is not None:
            text, edits = question.source, row.fix.edits
            spans = [{"span": [units(text, edit.start), units(text, edit.end)], "text": edit.new} for edit in edits]
            said["fix"]["spans"] = [] if any(edit.file for edit in edits) else spans
    for (_, error), said in zip(found.unknown, whole["unknown"], strict=True):
        said["error"] = spelled(error.message, "page")
    return {**whole, "summary": _summary(found)}


def access(question: Question) -> dict[str, Any]:
    """The picture of one row's costliest instruction over its tile, with that of the fix beside it, on a phone in its place
    (`fixed`); of a row that has no tile what it means, in sentences. Raises: UsageError where the report has no such row."""
    found = _report(question)
    row = next((one for one in found.accesses if _id(one) == question.more.get("access")), None) if found is not None else None
    if row is None:
        raise UsageError("the kernel has no such access any more", hint="pick a row of the report")
    if row.cost.side is None:
        return {"title": f"{row.cost.instruction}: no thread gives an address", "told": plainly(row)}
    figure, width = picture_of(row), float(question.options.get("width") or 0)
    sides = sides_of(figure) if 0 < width < NARROW and row.fixed is not None else []
    if len(sides) == 2:
        return question.pictured(sides[bool(question.more.get("fixed"))]) | {"labels": [("", "Now"), ("fixed", "Fixed")]}
    return question.pictured(figure)


_known: dict[str, Report | None] = {}  # the last ones of this process


def _report(question: Question) -> Report | None:
    """The report of the whole kernel, whichever object is drawn, with its fixes where nobody is in a hurry; kept."""
    quick, question = bool(question.more.get("quick")), replace(question, name=None)
    of = question.source, question.let, question.dialect, question.library, question.path, question.launch
    key = repr((quick, of))
    if key not in _known:
        while len(_known) > 3:
            del _known[next(iter(_known))]
        _known[key] = question.answer().report(fixes=not quick)
    return _known[key]


def _id(row: Access) -> str:
    return "/".join(map(str, row.key))


def _summary(found: Report) -> str:
    """The wavefronts of all launches: now, and with all fixes."""
    told = []
    for name, (now, fixed, ideal) in found.totals.items():
        after = f"; {fixed:,} with the fixes" if fixed is not None and fixed < now else ""
        where = f"{name}: " if name and len(found.totals) > 1 else ""
        told.append(f"{where}{now:,} shared-memory wavefronts{after}; {ideal:,} ideal")
    return ". ".join(told) or f"{len(found.accesses)} accesses"
