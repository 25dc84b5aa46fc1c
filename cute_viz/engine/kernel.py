"""The report of a kernel: every copy and multiplication of a file, what it costs a thread block, and what would fix it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cute_viz.algebra.measure import size
from cute_viz.algebra.shares import Division, Starts
from cute_viz.algebra.tensor import Tensor, tensors_in
from cute_viz.algebra.tma import TmaCopy
from cute_viz.algebra.transfer import Transfer
from cute_viz.analysis.banks import LANES
from cute_viz.analysis.cost import Cost
from cute_viz.analysis.kernel import costs
from cute_viz.analysis.multiply import issued
from cute_viz.analysis.transfer import cost_of
from cute_viz.engine.kernel_advice import remedy
from cute_viz.engine.kernel_elements import Element, elements, together
from cute_viz.engine.kernel_expression import Edit
from cute_viz.engine.kernel_fix import Fix, Fixer, launches
from cute_viz.engine.kernel_loops import names_of
from cute_viz.engine.kernel_memory import memory_of
from cute_viz.engine.kernel_rows import Access, Report
from cute_viz.engine.kernel_sizes import sized
from cute_viz.errors import CuteVizError, UncountedError, boundary
from cute_viz.source.moves import Often
from cute_viz.values.instruction import ELEMENTS

if TYPE_CHECKING:
    from cute_viz.source.model import SourceFile
    from cute_viz.source.moves import Mistake, Move

Detail: TypeAlias = Literal["costs", "memory", "fixes"]


def report_of(file: SourceFile, of: str | None = None, detail: Detail = "fixes") -> Report | None:
    """The report of a file; None of one without copies.

    of: a kernel, or the function that launches it, whose statements alone are meant; None where nothing has that name.
    detail: what is in it: what statements cost, that and the memory and the loops, or that and the fixes of the buffers.
    """
    if one_thread := [name for name in file.given.let if "threadIdx" in name.split(".")[0].split("::")]:
        hint = "leave it out: `render` and `eval` take it, for the part of one thread"
        why = "a report counts all threads of a block, each of which has its own"
        raise CuteVizError(f"{why} {one_thread[0]}", name=f"`let={one_thread[0]}`", hint=hint)
    asked = [move for move in file.moves() if of is None or _is_of(move, of)]
    moves = [move for move in asked if not move.idle] or asked
    others, single = ([x for x in moves if (x.name in ELEMENTS) is which] for which in (False, True))
    moves = [*(_instances(others) if file.compiled else others), *together(single)]
    launched = launches(moves)
    rows: list[Access] = []
    unknown, operands = [], []
    uncounted: dict[tuple[str, int, str, str], Element] = {}
    nth = Counter[tuple[str, int, str]]()  # rows of one line
    for move in moves:
        mine = None
        try:
            with boundary():
                mine, taken = sized(move.read())
                move = replace(move, assumed={**move.assumed, **taken}) if taken else move
                found = _costs(move, mine, file.compiled)
                often = move.often() if found and detail != "costs" else Often()
                at = (move.file, move.line, move.call) if move.name in ELEMENTS else ("", 0, "")
                rows += [Access(move, cost, n, tuple(mine), often=often) for n, cost in enumerate(found, nth[at])]
                nth[at] += len(found) * (move.name in ELEMENTS)
        except CuteVizError as raised:
            of_threads = raised.needs[:1] and raised.needs[0].startswith("threadIdx")
            error = raised.but(hint=None) if of_threads else raised  # no value of one thread is that of all
            if move.name in ELEMENTS:
                why = f"{error.message}; {error.hint}" if error.hint else error.message
                one = Element(
                    move.line,
                    move.file,
                    move.text,
                    error.name or "",
                    error.name or "",
                    why,
                    move.launch or launched.get(move.call, ""),
                    not isinstance(error, UncountedError),
                )
                key = move.file, move.line, one.name, one.launch
                if one.lost or key not in uncounted:
                    uncounted[key] = one
            else:
                unknown.append((move, error))
        operands.append((move, mine))
    if not rows and all(move.name in ELEMENTS for move in moves) and not any(one.name for one in uncounted.values()):
        return None
    rows = _placed(rows)
    rows.sort(key=lambda row: (row.cost.ways <= 1 and not row.boxed, -row.lost))
    notes = tuple(file.given.notes) if file.compiled else ()
    report = Report(
        tuple(rows),
        tuple(unknown),
        notes,
        read=tuple(operands),
        compiled=file.compiled,
        launched=launched,
        named=names_of({*launched.values()}),
        idle=tuple(move for move in asked if move.idle) if any(not move.idle for move in asked) else (),
    )
    if detail != "costs":
        memory = memory_of(
            file,
            report.read,
            [row.cost.instruction for row in rows],
            report.called,
            bool(unknown) or bool(uncounted) or (file.compiled and len({move.call for move in moves}) > 2),
        )
        left = [*dict.fromkeys(elements(file, report.read)), *(one for one in uncounted.values() if one.name)]
        report = replace(report, elements=tuple(left), memory=memory, mistakes=_mistakes(report))
    if detail == "fixes" and any(row.cost.ways > 1 or row.boxed for row in rows):
        report = _fixed(file, report, of)
    if detail == "costs":
        return report
    never = {id(row) for row in report.accesses if row.often.inside(None) == 0}
    told = [
        replace(row, unfixed="; ".join(filter(None, (row.unfixed or _of_compiler(row, detail), "" if row.fix else remedy(row)))))
        for row in report.accesses
        if id(row) not in never
    ]
    idle = sorted((row.move for row in report.accesses if id(row) in never), key=lambda move: (move.file, move.line))
    return replace(report, accesses=tuple(told), never=tuple(dict.fromkeys(move.place for move in idle)))


NO_GAIN = "the fix of its buffer changes nothing here"


def _of_compiler(row: Access, detail: str) -> str:
    """Why a conflict between encodings has no fix: no definition is searched."""
    known = detail != "fixes" or row.fix is not None or row.cost.ways <= 1 or row.cost.side is not None
    return "" if known else "Triton's compiler chose the encoding; a kernel in Gluon gives another one itself"


def _placed(rows: list[Access]) -> list[Access]:
    """The rows without the conditions behind whose exit they are, where no other row is under these."""
    before = {one.group or one[:4] for row in rows for one in row.often.choices if not one.behind}
    kept = [tuple(one for one in row.often.choices if not one.behind or one.group in before) for row in rows]
    return [replace(row, often=row.often._replace(choices=ways)) for row, ways in zip(rows, kept, strict=True)]


def _mistakes(report: Report) -> tuple[tuple[Move, Mistake], ...]:
    """What is proven to be wrong, each once. Threads that a tiling lacks may have parts in another statement."""
    ways: dict[tuple[str, str], set[object]] = {}
    for move, operands in report.read:
        for x in tensors_in(operands):
            if isinstance(x.part, Division):
                ways.setdefault((report.launch(move), str(x.part.tiling)), set()).add(getattr(x.part.index, "key", x.part.index))
    out: dict[tuple[str, str, Mistake], Move] = {}
    for move, _ in report.read:
        for one in move.mistakes():
            if one.key != "few" or len(ways.get((report.launch(move), one.of), ())) < 2:
                out.setdefault((move.place if one.kind != "array" else "", report.called(move), one), move)
    found = [(move, one) for (_, _, one), move in out.items()]
    return tuple(sorted(found, key=lambda pair: (pair[0].file, pair[0].line)))


def _fixed(file: SourceFile, report: Report, of: str | None) -> Report:
    """The report with the fix of every buffer with conflicts; buffers of equal accesses in other calls have the same."""
    fixer = Fixer(file, report, lambda other: report_of(other, of, "costs") or Report((), ()))
    buffers: dict[tuple[str, str, int], list[Access]] = {}
    tmas: dict[tuple[str, str], list[Access]] = {}
    for row in report.accesses:
        if row.cost.wavefronts is not None and row.cost.side is not None:
            buffers.setdefault(_tile(report, row.move, row.cost), []).append(row)
        if row.boxed and (not file.compiled or row.move.launch):
            tmas.setdefault((report.launch(row.move), row.move.text.partition(",")[0]), []).append(row)
    wanted = [(rows, _beside(report, rows)) for rows in buffers.values() if any(row.cost.ways > 1 for row in rows)]
    wanted += [(rows, ()) for rows in tmas.values()]
    out: dict[tuple[str, int, str, int], Fix | str] = {}
    for (rows, _), found in zip(wanted, fixer.search(wanted), strict=True):
        out |= dict.fromkeys((row.key for row in rows if row.cost.ways > 1 or row.boxed), found)
    told, chosen = [], dict[tuple[int, int], Edit]()
    for row in report.accesses:  # the worst first: where two launches want a definition otherwise, it has the fix
        one = out.get(row.key, "")
        if isinstance(one, str):
            told.append(replace(row, unfixed=one))
            continue
        better = replace(row, fix=one)
        gains = better.left is not None and better.left < row.paid[0]
        told.append(better if gains else replace(row, unfixed=NO_GAIN))
        places = {(edit.start, edit.end): edit for edit in one.edits}
        if all(chosen.get(at, edit) == edit for at, edit in places.items()):
            chosen |= places
    fixed = fixer.together(tuple(chosen.values())) if chosen else None
    return replace(report, accesses=tuple(told), fixed=fixed)


def _beside(report: Report, rows: list[Access]) -> tuple[str, ...]:
    """The lines that may access a buffer and have no row: statements that were not evaluated, and single elements."""
    where, base, _ = _tile(report, rows[0].move, rows[0].cost)
    read = {id(move): operands for move, operands in report.read}
    out = []
    for move, _ in report.unknown:
        if report.launch(move) != where and report.launch(move) and where:
            continue
        operands = [x for x in read.get(id(move)) or [None] if x is None or isinstance(x, (Tensor, CuteVizError))]
        if any(not isinstance(x, Tensor) or x.pointer.base == base for x in operands):
            out.append(move.place)
    for move, found in report.read:  # as compiled, what lies nobody knows where
        bases = {x.pointer.base for x in tensors_in(found, "smem")} - {base}
        if report.launch(move) == where and any("?" in (other[:1], base[:1]) for other in bases):
            out.append(move.place)
    seen = {x.pointer.base for move, found in report.read if move.name not in ELEMENTS for x in tensors_in(found)}
    for move, found in report.read if report.compiled else ():  # elements as they are written, of a buffer by another name
        if move.name in ELEMENTS and any(x.pointer.space == "smem" and x.pointer.base not in {base, *seen} for x in found or ()):
            out.append(move.place)
    mine = [one for one in report.elements if one.base == base and where in (one.launch or where, "")]
    out += [f"{one.file}:{one.line}" if one.file else str(one.line) for one in mine]
    return tuple(dict.fromkeys(out))


def _instances(moves: list[Move]) -> list[Move]:
    """The statements of a unit as compiled, those of each instance of a template under a name of its own."""
    keys = [(move.file, move.line, move.text, move.call) for move in moves]
    many, seen, out = Counter(keys), Counter[tuple[str, int, str, str]](), []
    for move, key in zip(moves, keys, strict=True):
        seen[key] += 1
        label = ", called in ".join(filter(None, (move.call, f"instance {seen[key]}")))
        out.append(replace(move, call=label) if many[key] > 1 else move)
    return out


def _is_of(move: Move, name: str) -> bool:
    """Whether a statement is of a kernel, or of what a function launches."""
    own = [scope.partition("<")[0] for scope in move.scope]
    return (
        name in own
        or name in move.scope
        or name in [part.partition(",")[0].split("::")[-1] for part in move.call.split("called in ")]
    )


def _costs(move: Move, first: list[Any], compiled: bool) -> list[Cost]:
    """What a statement costs; where that depends on an index that only a run knows, the most that it may be.

    compiled: a multiplication of registers is a row, too.
    """
    if first and isinstance(first[0], Transfer):
        return [cost_of(one) for one in first]
    if compiled and move.name.startswith("copy") and _is_lost(first):
        return [
            replace(cost, wavefronts=None, ideal=None, sectors=None, ideal_sectors=None, why=_LOST) for cost in _alone(move, first)
        ]
    worst = costs(move.name, first)
    if not worst and compiled and move.name == "gemm":
        return [issued(first)]
    if not worst and compiled:
        each = [size(x.layout) for x in tensors_in(first)]
        return [Cost("mov", min(each, default=0), 0, why=("registers to registers: no memory is touched",))]
    for operands in move.again():
        other = costs(move.name, operands)
        if len(other) == len(worst):
            worst = [
                max(pair, key=lambda cost: (cost.wavefronts or 0, cost.sectors or 0)) for pair in zip(worst, other, strict=True)
            ]
    return worst


_LOST = ("which element a thread moves is decided when the kernel runs: instructions of one warp, neither banks nor sectors",)


def _is_lost(operands: list[object]) -> bool:
    """Whether a copy by threads is of tensors in memory of which nothing says what each of them has."""
    first = operands[0] if operands else None
    tensors = tensors_in(operands[-2:])
    if getattr(getattr(first, "instruction", None), "kind", "").startswith("cp.async.bulk") or isinstance(first, TmaCopy):
        return False
    return len(tensors) == 2 and any(x.pointer.space in ("smem", "gmem") and not x.starts for x in tensors)


def _alone(move: Move, operands: list[object]) -> list[Cost]:
    """What a copy costs if all threads of a warp moved the same."""
    return costs(
        move.name,
        [replace(x, part=Starts((0,) * LANES)) if isinstance(x, Tensor) and x.pointer.space != "rmem" else x for x in operands],
    )


def _tile(report: Report, move: Move, cost: Cost) -> tuple[str, str, int]:
    """Which buffer an access is of; what lies in the same bytes as elements of another width is other data."""
    side = cost.side
    return (report.launch(move), side.tensor.pointer.base, side.tensor.bits) if side is not None else ("", "", 0)
