"""The report of a kernel: every copy and multiplication of a file, what it costs a thread block, and what would cure it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.descriptor import DescriptorTensor
from cute_viz.algebra.measure import size
from cute_viz.algebra.shares import Given
from cute_viz.algebra.static import is_marked
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tma import TmaCopy
from cute_viz.algebra.transfer import Transfer
from cute_viz.analysis.banks import LANES
from cute_viz.analysis.cost import Cost
from cute_viz.analysis.kernel import costs
from cute_viz.analysis.multiply import issued
from cute_viz.analysis.transfer import cost_of
from cute_viz.engine.kernel_advice import advice
from cute_viz.engine.kernel_edit import Edit
from cute_viz.engine.kernel_elements import Element, elements
from cute_viz.engine.kernel_fix import Fix, Fixer, launches
from cute_viz.engine.kernel_memory import Memory, memory_of
from cute_viz.errors import CuteVizError, boundary
from cute_viz.records import dataclass

if TYPE_CHECKING:
    from cute_viz.source.model import Move, SourceFile


@dataclass(frozen=True, slots=True)
class Access:
    """A row of the report: a statement, what it costs in one of the memories that it touches, and the fix of its buffer.

    nth: which row of its statement it is. unfixed: why a row with conflicts has no fix. tensors: the operands of the statement.
    """

    move: Move
    cost: Cost
    nth: int = 0
    tensors: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    fix: Fix | None = None
    unfixed: str = ""

    @property
    def key(self) -> tuple[str, int, str, int]:
        """Which row it is, before and after an edit."""
        return self.move.file, self.move.line, self.move.call, self.nth

    @property
    def boxed(self) -> bool:
        """Whether it is a TMA that takes more instructions than its tile needs."""
        return self.cost.boxes is not None and self.cost.boxes < self.cost.instructions

    @property
    def left(self) -> int | None:
        """The wavefronts, or instructions of a TMA, that the fix leaves; None without one."""
        after = (
            next((row.cost for row in self.fix.after.accesses if row.key == self.key), None)
            if self.fix and self.fix.after
            else None
        )
        return None if after is None else after.wavefronts if after.boxes is None else after.instructions

    @property
    def ratio(self) -> str:
        """How much it costs: `4-way` of a conflict, `2x` of sectors and instructions, `ideal`."""
        cost = self.cost
        if self.lost <= 0:
            return "ideal"
        if self.boxed and cost.boxes:
            return f"{_short(cost.instructions / cost.boxes)}x"
        return f"{_short(cost.ways)}-way" if cost.ways > 1 else f"{_short((cost.sectors or 0) / max(1, cost.ideal_sectors or 1))}x"

    @property
    def operands(self) -> list[dict[str, Any]]:
        """The tensors of the statement: name, memory, type of the elements, and a thread's part of the layout."""
        tensors = [x.tensor if isinstance(x, DescriptorTensor) else x for x in self.tensors]
        return [
            {"name": x.pointer.name or None, "memory": x.pointer.space or None, "type": x.pointer.element, "layout": str(x.layout)}
            for x in tensors
            if isinstance(x, Tensor)
        ]

    @property
    def basis(self) -> dict[str, Any]:
        """What the figures rest on: the addresses, `proven` or `assumed`, and what is assumed; the model of the instruction,
        `counted` by a device or `documented`.
        """
        side, assumes = self.cost.side, []
        if side is not None:
            if not (is_marked(side.tensor.layout) and is_marked(getattr(side.tensor.part, "layout", side.tensor.layout))):
                assumes = [f"{name}={value}" for name, (value, _) in self.move.assumed.items()]
            if side.tensor.pointer.space == "gmem" and side.tensor.pointer.align is None:
                assumes.append("a buffer aligned to 32 bytes")
            elif side.tensor.pointer.swizzle is not None and not side.tensor.pointer.align:
                assumes.append("a buffer aligned to the swizzle's period")
        counted = self.cost.instruction.partition(".")[0] in ("ld", "st", "ldmatrix", "stmatrix", "cp")
        known = "assumed" if assumes else "proven" if side is not None else "none"
        return {"address": known, "assumes": assumes, "model": "counted" if counted else "documented"}

    @property
    def accepted(self) -> bool:
        """Whether it is a store or cp.async that takes up to twice the ideal, for which there is no fix."""
        stores = self.cost.instruction.startswith(("st.", "stmatrix", "cp.async"))
        return self.fix is None and stores and 1 < self.cost.ways <= 2

    def as_dict(self) -> dict[str, Any]:
        """The row for JSON."""
        cost = self.cost
        return {
            "line": self.move.line,
            "file": self.move.file or None,
            "scope": "::".join(self.move.scope),
            "call": self.move.call or None,
            "statement": self.move.text,
            "instruction": cost.instruction,
            "elements": cost.elements,
            "instructions": cost.instructions,
            "wavefronts": cost.wavefronts,
            "ideal": cost.ideal,
            "sectors": cost.sectors,
            "ideal_sectors": cost.ideal_sectors,
            "operands": self.operands,
            "tile": cost.side.tensor.pointer.name if cost.side is not None else None,
            "fewest_instructions": cost.boxes,
            "fix": None if self.fix is None else {**self.fix.as_dict(), "left": self.left},
            "unfixed": self.unfixed or None,
            "accepted": self.accepted,
            "basis": self.basis,
            "reasons": list(cost.why),
            "written": None if cost.written is None else _written(cost.written),
        }

    @property
    def lost(self) -> int:
        """Wavefronts and sectors beyond the ideal."""
        cost = self.cost
        boxes = 64 * (cost.instructions - cost.boxes) if cost.boxes is not None else 0
        return (cost.wavefronts or 0) - (cost.ideal or 0) + (cost.sectors or 0) - (cost.ideal_sectors or 0) + boxes


def _short(ratio: float) -> str:
    return f"{ratio:.1f}".removesuffix(".0")


def _written(cost: Cost) -> dict[str, Any]:
    keys = ("instruction", "instructions", "wavefronts", "ideal", "sectors", "ideal_sectors")
    return {key: getattr(cost, key) for key in keys}


@dataclass(frozen=True, slots=True)
class Report:
    """What is known of a file's copies, the costliest first, and the statements that could not be evaluated, with the causes.

    notes: what was taken for granted, and what the compiler said. elements: accesses that are no statements, which are not
    counted. fixed: the report with all fixes. memory: what its tensors take. read: every statement with its operands, None of
    what was not read. compiled: a compiler read the file. cpp: it was read as it is
    written in C++. launched: for each way in
    which a statement is reached the launch of its kernel.
    """

    accesses: tuple[Access, ...]
    unknown: tuple[tuple[Move, CuteVizError], ...]
    notes: tuple[str, ...] = ()
    elements: tuple[Element, ...] = ()
    fixed: Report | None = None
    memory: Memory | None = None
    read: tuple[tuple[Move, list[Any] | None], ...] = field(default=(), compare=False, repr=False)
    compiled: bool = False
    cpp: bool = False
    launched: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def assumed(self) -> dict[str, tuple[str, int]]:
        """The numbers that hold where the program is run without arguments, by name: the value and its line."""
        moves = [row.move for row in self.accesses] + [move for move, _ in self.unknown]
        return {name: told for move in moves for name, told in move.assumed.items()}

    @property
    def ways(self) -> float:
        """The worst conflict: wavefronts for one that is ideal."""
        return max((access.cost.ways for access in self.accesses), default=1.0)

    def launch(self, move: Move) -> str:
        """The launch of the kernel that a statement is reached in; "" where there is one only."""
        return self.launched.get(move.call, move.call)

    def called(self, move: Move) -> str:
        """What launches the kernel of a statement, in as few words as distinguish it."""
        label = self.launch(move)
        parts = [part.split(", called in ") for part in set(self.launched.values())]
        mine = label.split(", called in ")
        for words in ([x[0].partition(",")[0] for x in (mine, *parts)], [x[0] for x in (mine, *parts)]):
            if words.count(words[0]) == 2:  # itself, and once among all
                return words[0]
        return f"{mine[0]} ... {mine[-1]}" if len(mine) > 2 else label

    @property
    def totals(self) -> dict[str, tuple[int, int | None, int]]:
        """For each launch the wavefronts of its statements, each once: now, with all fixes, without a conflict."""
        out: dict[str, tuple[int, int | None, int]] = {}
        after = {row.key: row.cost.wavefronts or 0 for row in self.fixed.accesses} if self.fixed is not None else None
        for row in self.accesses:
            if row.cost.wavefronts is not None:
                name = self.called(row.move)
                now, fixed, ideal = out.get(name, (0, 0 if after is not None else None, 0))
                more = None if after is None or fixed is None else fixed + after.get(row.key, 0)
                out[name] = now + row.cost.wavefronts, more, ideal + (row.cost.ideal or 0)
        return out

    def as_dict(self) -> dict[str, Any]:
        """The report for JSON."""
        missing = [
            {
                "line": move.line,
                "file": move.file or None,
                "call": move.call or None,
                "statement": move.text,
                "error": error.message,
                "needs": list(error.needs),
            }
            for move, error in self.unknown
        ]
        return {
            "accesses": [access.as_dict() for access in self.accesses],
            "unknown": missing,
            "fixes": list({str(edit): edit for row in self.accesses if row.fix for edit in row.fix.as_dict()["edits"]}.values()),
            "elements": [
                {"line": one.line, "file": one.file or None, "text": one.text, "tensor": one.name} for one in self.elements
            ],
            "assumed": {name: {"value": value, "line": line} for name, (value, line) in self.assumed.items()},
            "totals": {name: dict(zip(("now", "fixed", "ideal"), row, strict=True)) for name, row in self.totals.items()},
            "memory": None if self.memory is None else self.memory.as_dict(),
            "advice": [{"lines": list(lines), "text": text} for text, lines in advice(self)],
            "ways": round(self.ways, 3),
            "notes": list(self.notes),
        }


def report_of(file: SourceFile, fixes: bool = True, of: str | None = None, whole: bool = False) -> Report | None:
    """The report of a file, with the fixes of its buffers; None of one without copies.

    of: a kernel, or the function that launches it, whose statements alone are meant; None where nothing has that name.
    whole: with its memory, though without fixes.

    >>> from cute_viz.source import read
    >>> from cute_viz.source.model import Given
    >>> report_of(read("struct A {\\n  using L = Layout<_4>;\\n};\\n", "cpp", Given())) is None
    True
    """
    moves = [move for move in file.moves() if of is None or _is_of(move, of)]
    if not moves:
        return None
    if file.compiled:
        moves = _instances(moves)
    rows: list[Access] = []
    unknown, operands = [], []
    for move in moves:
        mine = None
        try:
            with boundary():
                mine = move.read()
                rows += [Access(move, cost, n, tuple(mine)) for n, cost in enumerate(_costs(move, mine, file.compiled))]
        except CuteVizError as error:
            unknown.append((move, _uncalled(move, error)))
        operands.append((move, mine))
    rows.sort(key=lambda row: (row.cost.ways <= 1 and not row.boxed, -row.lost))
    notes = tuple(file.given.notes) if file.compiled else ()
    report = Report(
        tuple(rows),
        tuple(unknown),
        notes,
        read=tuple(operands),
        compiled=file.compiled,
        cpp=file.language == "cpp" and not file.compiled,
        launched=launches(moves),
    )
    if whole or fixes:
        memory = memory_of(
            file,
            report.read,
            [row.cost.instruction for row in rows],
            report.called,
            bool(unknown) or (file.compiled and len({move.call for move in moves}) > 2),
        )
        report = replace(report, elements=tuple(dict.fromkeys(elements(file, report.read))), memory=memory)
    return _fixed(file, report, of) if fixes and any(row.cost.ways > 1 or row.boxed for row in rows) else report


def _fixed(file: SourceFile, report: Report, of: str | None) -> Report:
    """The report with the fix of every buffer with conflicts; buffers of equal accesses in other calls have the same."""
    fixer = Fixer(file, report, lambda other: report_of(other, False, of) or Report((), ()))
    buffers: dict[tuple[str, str, int], list[Access]] = {}
    for row in report.accesses:
        if row.cost.wavefronts is not None and row.cost.side is not None:
            buffers.setdefault(_tile(report, row.move, row.cost), []).append(row)
    out: dict[tuple[str, int, str, int], Fix | str] = {}
    for rows in buffers.values():
        if any(row.cost.ways > 1 for row in rows):
            found = fixer.fix(rows, _beside(report, rows))
            out |= {row.key: found for row in rows if row.cost.ways > 1}
    tmas: dict[tuple[str, str], list[Access]] = {}
    for row in report.accesses:
        if row.boxed and not file.compiled:
            tmas.setdefault((report.launch(row.move), row.move.text.partition(",")[0]), []).append(row)
    for rows in tmas.values():
        found = fixer.boxes(rows, ())
        out |= {row.key: found for row in rows}
    told = []
    for row in report.accesses:
        one = out.get(row.key, "")
        if not isinstance(one, str):
            better = replace(row, fix=one)
            gains = better.left is not None and better.left < (row.cost.instructions if row.boxed else row.cost.wavefronts or 0)
            told.append(better if gains else replace(row, unfixed="the fix of its buffer leaves it as it is"))
        else:
            told.append(replace(row, unfixed=one))
    chosen: dict[tuple[int, int], Edit] = {}
    for row in report.accesses:  # the worst first: where two launches want a definition otherwise, it has the fix
        one = out.get(row.key, "")
        places = {(edit.start, edit.end): edit for edit in one.edits} if not isinstance(one, str) else {}
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
            out.append(place(move))
    out += [f"{one.file}:{one.line}" if one.file else str(one.line) for one in report.elements if one.base == base]
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
        each = [size(x.layout) for x in first if isinstance(x, Tensor)]
        return [
            Cost("mov", min(each, default=0), 0, None, None, None, None, None, ("registers to registers: no memory is touched",))
        ]
    for operands in move.again():
        other = costs(move.name, operands)
        if len(other) == len(worst):
            worst = [
                max(pair, key=lambda cost: (cost.wavefronts or 0, cost.sectors or 0)) for pair in zip(worst, other, strict=True)
            ]
    return worst


_LOST = ("which element a thread moves is decided when the kernel runs: instructions of one warp, neither banks nor sectors",)


def _is_lost(operands: list[Any]) -> bool:
    """Whether a copy by threads is of tensors in memory of which nothing says what each of them has."""
    first = operands[0] if operands else None
    tensors = [x for x in operands[-2:] if isinstance(x, Tensor)]
    if getattr(getattr(first, "instruction", None), "bulk", False) or isinstance(first, TmaCopy):
        return False
    return len(tensors) == 2 and any(x.pointer.space in ("smem", "gmem") and not x.starts for x in tensors)


def _alone(move: Move, operands: list[Any]) -> list[Cost]:
    """What a copy costs if all threads of a warp moved the same."""
    return costs(
        move.name,
        [replace(x, part=Given((0,) * LANES)) if isinstance(x, Tensor) and x.pointer.space != "rmem" else x for x in operands],
    )


def _uncalled(move: Move, error: CuteVizError) -> CuteVizError:
    """The cause, which of a function that nothing calls is that one."""
    if move.uncalled is None or not set(error.needs) & set(move.uncalled):
        return error
    return error.but(message=f"nothing in this file calls {move.scope[-1]}: {error.message}")


def _tile(report: Report, move: Move, cost: Cost) -> tuple[str, str, int]:
    """Which buffer an access is of; what lies in the same bytes as elements of another width is other data."""
    side = cost.side
    return (report.launch(move), side.tensor.pointer.base, side.tensor.bits) if side is not None else ("", "", 0)


def place(move: Move) -> str:
    """The line of a statement, behind the included file that it is in.

    >>> from cute_viz.source.model import Move
    >>> place(Move("copy", 7, (), "", list)), place(Move("copy", 7, (), "", list, file="a.cuh"))
    ('7', 'a.cuh:7')
    """
    return f"{move.file}:{move.line}" if move.file else str(move.line)
