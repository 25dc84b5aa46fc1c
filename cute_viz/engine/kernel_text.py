"""The report of a kernel as text for a terminal: the worst first, why, the fix, totals, and what was not counted."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

from cute_viz.algebra.tensor import tensors_in
from cute_viz.engine.kernel_advice import advice
from cute_viz.engine.kernel_expression import arguments
from cute_viz.engine.kernel_loops import LoopCost, steps
from cute_viz.engine.kernel_loops import told as often_told
from cute_viz.engine.kernel_why import why
from cute_viz.source.moves import ADDRESS
from cute_viz.spelling import count, middle, spelled

if TYPE_CHECKING:
    from cute_viz.engine.kernel_rows import Access, Report
    from cute_viz.source.moves import Mistake, Move

_SCREEN = 40  # lines
_SHOWN = 4  # statements in full
_ROWS = 16  # of a report without conflicts
_TOTALS = 6
_WIDE = 96  # columns


def text_of(
    report: Report, name: str, everything: bool = False, allowed: frozenset[str] = frozenset(), spelling: str = "cli"
) -> list[str]:
    """The report in lines. name: of the file. everything: every statement, and every line of what was not counted; else what a
    screen holds, the worst first. allowed: the lines that were accepted. spelling: how the interface writes its options."""
    for most in range(_SHOWN, 0, -1):
        lines = _in_lines(report, name, None if everything else most, allowed)
        if everything or len(lines) <= _SCREEN:
            break
    return [spelled(line, spelling) for line in lines]


def _in_lines(report: Report, name: str, most: int | None, allowed: frozenset[str]) -> list[str]:
    """The report in lines. most: how many statements it shows in full, and what else there is of a kind; None for all."""
    everything = most is None
    files = {row.move.file for row in report.accesses}
    only = f"{files.pop()}:" if len(files) == 1 and files != {""} else ""  # is named once

    def long(text: str, indent: int, lines: int | None = None) -> list[str]:
        return _wrapped(text.replace(only, "") if only else text, indent, None if everything else lines)

    def few(told: list[str], room: int, what: str) -> list[str]:
        """What there is room for; in a line how much more there is."""
        more = len(told) - room if not everything and len(told) > room + 1 else 0
        return told[: len(told) - more] + [f"... {more} more {what}; `all=` lists them"] * (more > 0)

    out = [*long(head(report, name), 2), *[f"lines of {only[:-1]}"] * bool(only)]
    wrong = mistakes(report)
    for move, several in wrong[:most]:
        called = f"  launched by {report.called(move)}" if report.called(move) else ""
        out += ["", f"wrong  {move.place:<4} {_statement(move, 60)}{called}"]
        out += [line for one in several for line in _folded("why", one.text)]
    if more := wrong[len(wrong) if most is None else most :]:
        lines = ", ".join(dict.fromkeys(move.place for move, _ in more))
        out += ["", _cut(f"wrong  {lines}", f"    {len(more)} more; `all=` lists them")]
    groups = problems(report)
    before: dict[tuple[str, str], int] = {}
    for group in groups[:most]:
        out += ["", *_problem(group, before, report, allowed)]
    if left := groups[len(groups) if most is None else most :]:
        lines = ", ".join(dict.fromkeys(group[0].move.place for group in left))
        out += ["", _cut(f"more   {lines}".replace(only, ""), f"    {len(left)} more; `all=` lists them")]
    good = [row for row in report.accesses if row.lost <= 0]
    if good:
        lines = ", ".join(dict.fromkeys(row.move.place for row in sorted(good, key=lambda row: (row.move.file, row.move.line))))
        out += [
            "",
            _cut(f"ideal  {lines}".replace(only, ""), f"    {len(good)} {'more ' * bool(groups)}access{'es' * (len(good) > 1)}"),
        ]
        out[-1] += "; `all=` lists them" * (not everything and bool(groups))
    if everything or not groups:
        out += few(list(_table(row for row in good if everything or row.cost.instructions)), _ROWS, "rows")
    if tips := list(advice(report)):
        told = [f"wider  {', '.join(lines[: None if everything else 4])}  {text}" for text, lines in tips]
        told[0] += f"    {len(told) - 1} more; `all=` lists them" * (len(told) > 1 and not everything)
        out += ["", *(line for one in told[: None if everything else 1] for line in long(one, 7, 2))]
    if report.mixed:
        out += ["", "Totals and memory: `launch=N` gives those of one kernel"]
    elif totals := totals_of(report, only=only):
        out += ["", *few(totals, _TOTALS + 2, "rows")]
    if report.memory is not None and not report.mixed and (held := list(report.memory.lines(everything))):
        out += ["", *(line for one in few(held, most or 0, "lines") for line in long(one, 2))]
    out += ["", *(line for one in missing(report, most) for line in long(one, 2, 3))]
    out += wanted(report)
    return [line.replace(only, "") if only else line for line in out]


def _table(rows: Iterable[Access]) -> Iterator[str]:
    """A line for each row, equal ones once: its line, instruction, count, what that rests on, the statement, and its condition."""
    told = [(row, middle(str(row.often.choices[-1]), 28) if row.often.choices else "") for row in rows]
    wide = 24 if any(way for _, way in told) else 48
    same = Counter(
        (row.move.place, row.cost.instruction, _count(row), *_basis(row), _statement(row.move, wide), way) for row, way in told
    )
    cells = [(*one[:5], f"{n}x" if n > 1 else "", *one[5:]) for one, n in same.items()]
    widths = [max(map(len, column)) for column in list(zip(*cells, strict=True))[:7]]
    if sum(widths) > _WIDE:  # files and atoms of long names
        cells = [(middle(one[0], 22), middle(one[1], 24), *one[2:]) for one in cells]
        widths[:2] = [min(pair) for pair in zip(widths, (22, 24), strict=False)]
    for one in cells:
        line = "  ".join(f"{cell:<{w}}" for cell, w in zip(one, (*widths, 0), strict=True) if w or cell).rstrip()
        yield f"       {line if len(line) <= _WIDE + 7 else f'{line[: _WIDE + 4]}...'}"


def _basis(row: Access) -> tuple[str, str]:
    """In a word each what the addresses and the model of a row rest on, "" for a row without addresses."""
    return ("" if row.basis["address"] == "none" else row.basis["address"]), row.basis["model"]


def head(report: Report, name: str) -> str:
    """The file, its kernels, their threads and types, and the sizes that were taken for granted."""
    kernels = list(dict.fromkeys(move.scope[-1] for move, _ in report.read if move.scope))
    threads = sorted({len(row.cost.side.tensor.starts) for row in report.accesses if row.cost.side is not None} - {0})
    types = list(
        dict.fromkeys(
            x.pointer.element
            for _, xs in report.read
            for x in tensors_in(xs, "smem", "gmem")
            if x.pointer.known and not getattr(x.part, "name", "")  # the bytes of an address in inline assembly are no type
        )
    )
    parts = (
        [", ".join(middle(name, 72) for name in kernels[:3]) + f" and {len(kernels) - 3} more" * (len(kernels) > 3)]
        if kernels
        else []
    )
    parts += [f"{' or '.join(map(str, threads[-2:]))} threads"] * bool(threads) + [", ".join(types[:3])] * bool(types)
    for told, whence in ((True, "(from main; `let=` gives others)"), (False, "(nothing here gives it; `let=` does)")):
        if values := [f"{name}={value}" for name, (value, line) in report.assumed.items() if (line > 0) is told]:
            more = f" and {len(values) - 4} more" * (len(values) > 4 and not told)
            parts.append(f"{' '.join(values if told else values[:4])}{more} {whence}")
    return "  ".join([os.path.basename(name), ", ".join(parts)]).rstrip()


def mistakes(report: Report) -> list[tuple[Move, list[Mistake]]]:
    """The statements that are proven to be wrong, each once with why."""
    out: dict[tuple[str, str], tuple[Move, list[Mistake]]] = {}
    for move, one in report.mistakes:
        out.setdefault((move.place, report.called(move)), (move, []))[1].append(one)
    return list(out.values())


def problems(report: Report) -> list[list[Access]]:
    """The rows that cost more than their ideal, those of one statement with the same fix together, the worst first."""
    groups: dict[tuple[str, int, str, str, str], list[Access]] = {}
    for row in report.accesses:
        if row.lost > 0:
            edits = str(row.fix.changes) if row.fix else ""
            groups.setdefault((row.move.file, row.move.line, row.cost.instruction[:2], row.ratio, edits), []).append(row)
    return list(groups.values())


def _problem(group: list[Access], before: dict[tuple[str, str], int], report: Report, allowed: frozenset[str]) -> Iterator[str]:
    """One statement: how bad, where, why, the fix, and the figures."""
    row = group[0]

    def calls_of(one: Access) -> tuple[str, str]:
        return report.launch(one.move), report.called(one.move)

    ways = dict.fromkeys(calls_of(one) for one in group if one.move.call)
    calls = [short if ", called in " in label else label for label, short in ways]
    several = len({report.launch(move) for move, _ in report.read}) > 1
    calls = calls if several else list(filter(None, dict.fromkeys(one.move.helpers for one in group)))
    more = f" and {len(calls) - 1} more" * (len(calls) > 1)
    where = f"{'launched by' if several else 'called in'} {middle(calls[0])}{more}" if calls else ""
    begin = f"{row.ratio:<6} {row.move.place:<4} {_statement(row.move, 64 if len(where) < 40 else 40)}"
    yield f"{begin:<56}{where}".rstrip() if len(begin) < 55 else f"{begin}  {where}".rstrip()
    reason, what = why(row), str(row.fix.changes) if row.fix is not None else row.unfixed
    known, fixed = ("why", reason) in before, ("fix", what) in before
    like, fixed_like = (before.setdefault(key, row.move.line) for key in (("why", reason), ("fix", what)))
    again = "As above." if like == row.move.line else f"The same pattern as line {like}."
    yield from _folded("why", again if known else reason)
    if fixed and (row.fix is not None or (what and not known)):
        same = "The same edit." if row.fix is not None else "As above."
        yield from _folded("fix", same if fixed_like == row.move.line else f"As for line {fixed_like}.")
    elif row.fix is not None:
        for file, line, old, new in row.fix.changes:
            begin = f"       fix  {f'{file}:' * bool(file)}{line}  {old}"
            after = _different(old, new)
            yield from [f"{begin}  ->  {after}"] if len(begin) + len(after) < _WIDE + 14 else [begin, f"            ->  {after}"]
        if row.fix.beside:
            yield from _folded("", f"if {_lines(row.fix.beside)}, not evaluated, follow{'s' * (len(row.fix.beside) == 1)} the edit")
    elif what and not fixed:
        yield from _folded("fix", f"{'none: ' * (row.cost.wavefronts is not None)}{row.unfixed}")
    mine = Counter((one.cost.instruction, _count(one), often_told(one.often)) for one in group if calls_of(one) == calls_of(row))
    accepted = "  (accepted)" if row.move.place in allowed else "  (no fix: `max_ways=` passes it)" * row.accepted
    for (instruction, counted, often), times in mine.items():
        figures = f"            {f'{times}x ' * (times > 1)}{instruction}{', each' * (times > 1)}: {counted}"
        told = f"; {often}" * bool(often)
        short = told.partition(": ")[0] if len(figures + told + accepted) > _WIDE + 7 else told
        yield figures + short + accepted


def _different(old: str, new: str) -> str:
    """What is new of an expression, as far as that is clear: the argument that changed, or all of it."""
    for x in (old, new):
        if len(x) > 200:
            return new
    if old and old in new:
        return new.replace(old, "..." if len(old) > 36 else old)
    parts: list[list[str]] = [[x[slice(*part)] for part in arguments(x, x.find("(") + 1, len(x))] for x in (old, new)]
    if old.partition("(")[0] == new.partition("(")[0] and len(parts[0]) == len(parts[1]):
        changed = [b for a, b in zip(*parts, strict=True) if a != b]
        return changed[0] if len(changed) == 1 and len(changed[0]) > 7 else new
    return new


def _count(row: Access) -> str:
    now, ideal, unit = row.paid
    if ideal is None:
        return f"{now:,} {unit[: -1 if now == 1 else None]}"
    after = f", {row.left:,} with the fix" if row.left is not None else ""
    return f"{now:,} {unit[: -1 if now == 1 else None]}{after}, {ideal:,} ideal"


def totals_of(report: Report, before: Report | None = None, only: str = "") -> list[str]:
    """Wavefronts of shared memory in all, for rounds of loops and the block, or the counts of all statements added up: now, with
    the fixes, ideal. before: those of another report first. only: the file that lines are of without saying so."""
    several, earlier = len(report.totals) > 1, {} if before is None else {step.key: step.now for step in steps(before)}
    rows: list[tuple[str, int | None, int | None, int]] = []
    for step in (found := steps(report)):
        name = ", ".join(filter(None, (middle(step.launch) if several else "", _of(step).replace(f"line {only}", "line "))))
        counts = (step.now, step.fixed) if before is None else (earlier.get(step.key), step.now)
        rows.append((name, *counts, step.ideal))
    for name, (now, after, ideal) in report.totals.items() if not found else ():
        old = None if before is None or name not in before.totals else before.totals[name][0]
        rows.append((middle(name) or "all", *((now, after) if before is None else (old, now)), ideal))
    if not rows:
        return []
    table: list[tuple[str, ...]] = [("", "now", "fixed", "ideal") if before is None else ("", "before", "now", "ideal")]
    for name, *pair, least in rows:
        shown = (pair[0], None if before is None and pair[0] == pair[1] else pair[1])
        table.append((name, *("-" if x is None else f"{x:,}" for x in shown), f"{least:,}"))
    wide = [max(len(row[n]) for row in table) for n in range(4)]
    lines = [f"{a:<{wide[0]}}  {b:>{wide[1]}}  {c:>{wide[2]}}  {d:>{wide[3]}}" for a, b, c, d in table]
    how = ", the sum of the counts of all statements" * (not found) + ", of alternatives the larger" * report.grouped
    return [f"Shared-memory wavefronts per block{how}", *lines]


def _of(step: LoopCost) -> str:
    most = "" if step.sure else ", at most"
    if step.loop is None:
        return f"in all{most}"
    place = f"{step.loop.file}:{step.loop.line}" if step.loop.file else step.loop.line
    rounds = "" if step.loop.rounds is None else f" ({step.loop.rounds:,} round{'s' * (step.loop.rounds != 1)})"
    return f"a round of line {place}{rounds}{most}"


def missing(report: Report, most: int | None = None) -> Iterator[str]:
    """What was not evaluated, a line for each cause, with what would help; what is not counted. most: causes; None for all."""
    total, everything = len(report.accesses), most is None
    hidden = [row for row in report.accesses if row.hidden]
    if hidden:
        lines = tuple(dict.fromkeys(row.move.place for row in hidden))
        yield f"Not in the sums: {_lines(lines, None if everything else 6)}, through shared memory that the compiler lays out"
    elif not report.unknown and not report.elements:
        yield f"Not evaluated: none; {'the access was' if total == 1 else f'all {total} accesses were'} counted."
    if report.unrun:
        more = f" and {len(report.unrun) - len(report.unrun[:most])} more" * (len(report.unrun) > len(report.unrun[:most]))
        yield f"Not run here: {', '.join(report.unrun[:most])}{more}; `name=` gives the report of one"
    if report.never:
        yield f"No round of their loop is run here: {_lines(report.never, None if everything else 6)}"
    several = len({report.launch(move) for move, _ in report.read}) > 1

    def launched(labels: Iterable[str]) -> str:
        """Which launches a cause is of, where there are others."""
        names = list(dict.fromkeys(report.named.get(label, label) for label in labels if label))
        return f" launched by {names[0]}{f' and {len(names) - 1} more' * (len(names) > 1)}" if several and names else ""

    causes: dict[str, list[Move]] = {}
    for move, error in report.unknown:
        hint = f" ({error.hint})" if error.hint and not (report.asked and "`let=" in error.hint) else ""
        causes.setdefault(f"{error.message}{hint}", []).append(move)
    ordered = sorted(causes.items(), key=lambda one: -len(one[1]))
    for cause, moves in ordered[:most]:
        lines = tuple(dict.fromkeys(move.place for move in moves))
        of = launched(report.launch(move) for move in moves)
        yield f"Not evaluated: {count(len(moves), 'statement')}{of}: {cause}: {_lines(lines, None if everything else 6)}"
    if left := ordered[len(ordered) if most is None else most :]:
        rest = sum(len(moves) for _, moves in left)
        yield f"Not evaluated: {rest} more, for {count(len(left), 'other cause')}; `all=` lists them"
    for cause in list(dict.fromkeys(one.why for one in report.elements))[:most]:
        mine = [one for one in report.elements if one.why == cause]
        lines = tuple(dict.fromkeys(one.place for one in mine))
        number = len({(one.place, one.name) for one in mine})
        many = f"{number} single elements" if number > 1 else "a single element"
        text = mine[0].text if everything or len(mine[0].text) < 48 else f"{mine[0].text[:45]}..."
        many += launched(one.launch for one in mine)
        yield f"Not counted: {many}, {text}: {f'{cause}: ' * bool(cause)}{_lines(lines, None if everything else 6)}"
        if cause == ADDRESS:
            yield "  cute-viz find layout FILE::FUNCTION --tile 64x64 has an index's layout; `access=ldmatrix` counts it"


def wanted(report: Report) -> Iterator[str]:
    """The values that statements wait for, all of them: what each may be, and a command's words that give them."""
    if not report.asked:
        return
    yield "Values for all of it:"
    wide = [max(len(one.name) for one in report.asked), max(len(one.type) for one in report.asked)]
    for one in report.asked:
        told = f"{', '.join(one.candidates)} stand{'s' * (len(one.candidates) == 1)} in the file" if one.candidates else ""
        told = told or (f"for example {one.like}" if one.like else "the file has no value for it")
        yield f"  {one.name:<{wide[0]}}  {one.type:<{wide[1]}}  {told}"
    values = " ".join(f"`let={one.name}={value}`" for one in report.asked if (value := one.trial))
    if values:
        yield f"  together: {values}; cute-viz.yaml can keep them"


def _lines(lines: tuple[str, ...], most: int | None = 8) -> str:
    shown = lines[:most]
    more = f" and {len(lines) - len(shown)} more" if len(lines) > len(shown) else ""
    return f"line{'s' * (len(lines) > 1)} {', '.join(shown)}{more}"


def _statement(move: Move, wide: int) -> str:
    text = (
        f"{move.text};" if not move.text.endswith(";") and not (move.text.startswith("cute.") and ".py" in move.file) else move.text
    )
    return text if len(text) <= wide else f"{text[: wide - 3]}..."


def _folded(label: str, text: str) -> Iterator[str]:
    """A sentence in lines of the terminal's width, behind a word."""
    head = f"       {label:<3}  "
    yield from wrap(
        text, _WIDE, initial_indent=head, subsequent_indent=" " * len(head), break_long_words=False, break_on_hyphens=False
    )


def _wrapped(text: str, indent: int, most: int | None = None) -> list[str]:
    """A sentence in lines of the terminal's width, in so many at most; one that is a little longer as it is."""
    return [text] if len(text) < _WIDE + 14 else wrap(
        text, _WIDE, subsequent_indent=" " * indent, max_lines=most, placeholder=" ...",
        break_long_words=False, break_on_hyphens=False, drop_whitespace=True,
    )  # fmt: skip


def _cut(text: str, end: str, wide: int = _WIDE) -> str:
    room = wide - len(end)
    return (text if len(text) <= room else f"{text[: room - 4].rpartition(',')[0] or text[: room - 4]}, ...") + end
