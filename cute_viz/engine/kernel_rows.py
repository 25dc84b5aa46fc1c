"""What a report of a kernel has: its rows, each an access with its cost and its fix, and what follows from them all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.descriptor import behind
from cute_viz.algebra.static import is_marked
from cute_viz.algebra.tensor import Tensor
from cute_viz.analysis.cost import SECTOR, Cost
from cute_viz.display import Shown
from cute_viz.engine.kernel_advice import advice
from cute_viz.engine.kernel_elements import Element
from cute_viz.engine.kernel_fix import Fix
from cute_viz.engine.kernel_loops import added, steps
from cute_viz.engine.kernel_memory import Memory
from cute_viz.errors import CuteVizError
from cute_viz.records import dataclass
from cute_viz.source.moves import Often
from cute_viz.spelling import count

if TYPE_CHECKING:
    from cute_viz.source.model import Asked
    from cute_viz.source.moves import Mistake, Move


@dataclass(frozen=True, slots=True)
class Access:
    """A row of the report: a statement, what it costs in one of the memories that it touches, and the fix of its buffer.

    nth: which row of its statement it is. unfixed: why a row with conflicts has no fix. tensors: the operands of the statement.
    often: how often a block runs it.
    """

    move: Move
    cost: Cost
    nth: int = 0
    tensors: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    fix: Fix | None = None
    unfixed: str = ""
    often: Often = field(default=Often(), compare=False)

    def __repr__(self) -> str:
        paid, ideal, unit = self.paid
        return f"Access: line {self.move.place}, {self.cost.instruction}, {self.ratio}, {paid} {unit}, ideal {ideal}"

    @property
    def line(self) -> int:
        """The line of its statement."""
        return self.move.line

    @property
    def file(self) -> str:
        """The included file that its statement is in, "" for the one that was asked for."""
        return self.move.file

    @property
    def text(self) -> str:
        """Its statement, as written."""
        return self.move.text

    @property
    def wavefronts(self) -> int | None:
        """The wavefronts of shared memory, for all warps of a block; None of what has none."""
        return self.cost.wavefronts

    @property
    def ideal(self) -> int | None:
        """The wavefronts without a conflict."""
        return self.cost.ideal

    @property
    def ways(self) -> float:
        """Wavefronts for one that is ideal: 4.0 of a 4-way conflict."""
        return self.cost.ways

    @property
    def key(self) -> tuple[str, int, str, int]:
        """Which row it is, before and after an edit."""
        return self.move.file, self.move.line, self.move.call, self.nth

    @property
    def boxed(self) -> bool:
        """Whether it is a TMA that takes more instructions than its tile needs."""
        return self.cost.boxes is not None and self.cost.boxes < self.cost.instructions

    @property
    def fixed(self) -> Access | None:
        """The row with the fix; None without one."""
        rows = self.fix.after.accesses if self.fix is not None and self.fix.after is not None else ()
        return next((row for row in rows if row.key == self.key), None)

    @property
    def paid(self) -> tuple[int, int | None, str]:
        """What it costs, the ideal (None of what has none), and in which unit: wavefronts, sectors or instructions."""
        cost = self.cost
        if self.boxed or cost.wavefronts is cost.sectors is None:
            return cost.instructions, cost.boxes, "instructions"
        if cost.wavefronts is None:
            return cost.sectors or 0, cost.ideal_sectors, "sectors"
        return cost.wavefronts, cost.ideal, "wavefronts"

    @property
    def told(self) -> str:
        """Why it has no fix, or what no edit of a definition does, as the beginning of a sentence."""
        return f"No fix: {self.unfixed}" if self.cost.wavefronts is not None else f"Fix: {self.unfixed}"

    @property
    def left(self) -> int | None:
        """The wavefronts, or instructions of a TMA, that the fix leaves; None without one."""
        cost = None if self.fixed is None else self.fixed.cost
        return None if cost is None else cost.wavefronts if cost.boxes is None else cost.instructions

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
        tensors = [behind(x) for x in self.tensors]
        return [
            {"name": x.pointer.name or None, "memory": x.pointer.space or None, "type": x.pointer.element, "layout": str(x.layout)}
            for x in tensors
            if isinstance(x, Tensor)
        ]

    @property
    def basis(self) -> dict[str, Any]:
        """What the figures rest on: the addresses, `proven` or `assumed`, and what is assumed; the model of the instruction,
        `counted` by a device or `documented`."""
        side, assumes = self.cost.side, []
        if side is not None:
            if not (is_marked(side.tensor.layout) and is_marked(side.tensor.root)):
                assumes = [f"{name}={value}" for name, (value, _) in self.move.assumed.items()]
            assumes += side.tensor.part.assumes
            if side.tensor.pointer.space == "gmem" and (side.tensor.pointer.align or 1) % SECTOR:
                assumes.append("a buffer aligned to 32 bytes")
            elif (s := side.tensor.pointer.swizzle) is not None and (side.tensor.pointer.align or 1) % (
                1 << s.bits + s.base + s.shift
            ):
                assumes.append("a buffer aligned to the swizzle's period")
        counted = self.cost.instruction.partition(".")[0] in ("ld", "st", "ldmatrix", "stmatrix", "cp")
        known = "assumed" if assumes else "proven" if side is not None else "none"
        return {"address": known, "assumes": assumes, "model": "counted" if counted else "documented"}

    @property
    def hidden(self) -> bool:
        """Whether it goes through shared memory that a compiler lays out, whose wavefronts are not counted."""
        return self.cost.wavefronts is None and "shared" in self.cost.instruction

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
            **_counts(cost),
            "operands": self.operands,
            "tile": cost.side.tensor.pointer.name if cost.side is not None else None,
            "fewest_instructions": cost.boxes,
            "fix": None if self.fix is None else {**self.fix.as_dict(), "left": self.left},
            "unfixed": self.unfixed or None,
            "accepted": self.accepted,
            "basis": self.basis,
            "reasons": list(cost.why),
            "often": {
                "times": self.often.times,
                "sure": self.often.sure,
                "conditions": [
                    {**one._asdict(), "file": one.file or None, "group": one.group or None} for one in self.often.choices
                ],
                "loops": [{**loop._asdict(), "file": loop.file or None} for loop in self.often.loops],
            },
            "written": None if cost.written is None else _counts(cost.written),
        }

    @property
    def lost(self) -> int:
        """Wavefronts and sectors beyond the ideal."""
        cost = self.cost
        boxes = 64 * (cost.instructions - cost.boxes) if cost.boxes is not None else 0
        return (cost.wavefronts or 0) - (cost.ideal or 0) + (cost.sectors or 0) - (cost.ideal_sectors or 0) + boxes


def _short(ratio: float) -> str:
    return f"{ratio:.1f}".removesuffix(".0")


def _counts(cost: Cost) -> dict[str, object]:
    keys = ("instruction", "elements", "instructions", "wavefronts", "ideal", "sectors", "ideal_sectors")
    return {key: getattr(cost, key) for key in keys}


@dataclass(frozen=True, slots=True)
class Report(Shown):
    """What is known of a file's copies, the costliest first, and the statements that could not be evaluated, with the causes.

    notes: what was taken for granted, and what the compiler said. elements: accesses that are not statements, which are not
    counted. fixed: the report with all fixes. memory: what its tensors take. read: every statement with its operands, None of
    what was not read. idle: the statements of functions that nothing runs, while others are launched. compiled: a compiler read
    the file. launched: for each way in which a statement is reached the launch of its kernel; named: that in as few words as
    distinguish it. never: the lines of statements in loops without a round, which have no row. mistakes: statements with what is
    proven to be wrong. name: of the file, for its text.
    """

    accesses: tuple[Access, ...]
    unknown: tuple[tuple[Move, CuteVizError], ...]
    notes: tuple[str, ...] = ()
    elements: tuple[Element, ...] = ()
    fixed: Report | None = None
    memory: Memory | None = None
    read: tuple[tuple[Move, list[Any] | None], ...] = field(default=(), compare=False, repr=False)
    compiled: bool = False
    launched: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    named: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    idle: tuple[Move, ...] = field(default=(), compare=False, repr=False)
    never: tuple[str, ...] = ()
    mistakes: tuple[tuple[Move, Mistake], ...] = ()
    asked: tuple[Asked, ...] = ()
    name: str = field(default="kernel", compare=False)

    def __str__(self) -> str:
        from cute_viz.engine.kernel_text import text_of

        return "\n".join(text_of(self, self.name))

    def __repr__(self) -> str:
        worst = max(self.accesses, key=lambda row: row.cost.ways, default=None)
        told = "" if worst is None else ", all ideal" if worst.lost <= 0 else f", worst {worst.ratio} at line {worst.move.place}"
        left = f", {count(len(self.unknown), 'statement')} not evaluated" if self.unknown else ""
        return f"Report: {len(self.accesses)} access{'es' * (len(self.accesses) != 1)}{told}{left}"

    @property
    def assumed(self) -> dict[str, tuple[str, int]]:
        """The numbers that hold where the program is run without arguments, by name: the value and its line; those that sizes count
        as which nothing gives, with line 0."""
        moves = [row.move for row in self.accesses] + [move for move, _ in self.unknown]
        return {name: told for move in moves for name, told in move.assumed.items()}

    @property
    def mixed(self) -> bool:
        """Whether its rows are of more kernels than are told apart, each once, whichever of them have it."""
        return any("instance " in row.move.call and not row.move.launch for row in self.accesses)

    @property
    def unrun(self) -> tuple[str, ...]:
        """The functions with copies that nothing runs, while other kernels are launched."""
        return tuple(dict.fromkeys(move.idle for move in self.idle if move.idle))

    @property
    def ways(self) -> float:
        """The worst conflict: wavefronts for one that is ideal."""
        return max((access.cost.ways for access in self.accesses), default=1.0)

    def launch(self, move: Move) -> str:
        """The launch of the kernel that a statement is reached in; "" where there is one only."""
        return move.launch or self.launched.get(move.call, move.call)

    def called(self, move: Move) -> str:
        """What launches the kernel of a statement, in as few words as distinguish it."""
        label = self.launch(move)
        return self.named.get(label, label)

    @property
    def totals(self) -> dict[str, tuple[int, int | None, int]]:
        """For each launch the counts of its statements added up, in wavefronts: now, with all fixes, without a conflict. Of the
        alternatives of a condition that nobody knows the larger counts.
        """
        out: dict[str, list[Access]] = {}
        for row in self.accesses:
            if row.cost.wavefronts is not None:
                out.setdefault(self.called(row.move), []).append(row)
        return {name: added(rows, self.after, [1] * len(rows)) for name, rows in out.items()}

    @property
    def after(self) -> dict[tuple[str, int, str, int], int] | None:
        """The wavefronts of each row with all fixes; None without one."""
        return {row.key: row.cost.wavefronts or 0 for row in self.fixed.accesses} if self.fixed is not None else None

    @property
    def grouped(self) -> bool:
        """Whether its totals have one alternative of several."""
        ways = [(one.group, one.branch) for row in self.accesses for one in row.often.choices if one.group]
        return len({group for group, _ in ways}) < len({*ways})

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
            "mistakes": [
                {
                    "line": move.line,
                    "file": move.file or None,
                    "launch": self.called(move) or None,
                    "statement": move.text,
                    "kind": one.kind,
                    "text": one.text,
                }
                for move, one in self.mistakes
            ],
            "unknown": missing,
            "fixes": list({str(edit): edit for row in self.accesses if row.fix for edit in row.fix.as_dict()["edits"]}.values()),
            "elements": [one.as_dict(self.named) for one in self.elements],
            "idle": {name: sorted({move.place for move in self.idle if move.idle == name}) for name in self.unrun},
            "never": list(self.never),
            "asked": [{**one._asdict(), "like": one.like or None} for one in self.asked],
            "assumed": {name: {"value": value, "line": line or None} for name, (value, line) in self.assumed.items()},
            "alternatives": self.grouped,
            "totals": {name: dict(zip(("now", "fixed", "ideal"), row, strict=True)) for name, row in self.totals.items()},
            "steps": [
                {**step._asdict(), "launch": step.launch or None, "loop": None if step.loop is None else step.loop.line}
                for step in steps(self)
            ],
            "memory": None if self.memory is None else self.memory.as_dict(),
            "advice": [{"lines": list(lines), "text": text} for text, lines in advice(self)],
            "ways": round(self.ways, 3),
            "notes": list(self.notes),
        }
