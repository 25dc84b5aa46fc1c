"""The report of a kernel: every copy and multiplication of a file, what it costs a thread block, and what would cure it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.shares import Given
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tma import TmaCopy
from cute_viz.algebra.transfer import Transfer
from cute_viz.analysis.banks import LANES, WORD, width
from cute_viz.analysis.cost import Cost, Side
from cute_viz.analysis.kernel import costs, cure
from cute_viz.analysis.multiply import issued
from cute_viz.analysis.transfer import cost_of
from cute_viz.errors import CuteVizError, boundary
from cute_viz.figures.phases import strip

if TYPE_CHECKING:
    from cute_viz.source.model import Move, SourceFile

HEAD = ("line", "statement", "instruction", "elements", "instructions", "wavefronts", "ideal", "sectors", "ideal")
_PICTURES = 24  # of the costliest rows


@dataclass(frozen=True, slots=True)
class Access:
    """A row of the report: a statement, what it costs, and the cure of its tile: a layout, what is left with it, the ideal."""

    move: Move
    cost: Cost
    cure: tuple[str, int, int] | None = None

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
            "tile": cost.side.tensor.pointer.name if cost.side is not None else None,
            "cure": None if self.cure is None else {"layout": self.cure[0], "wavefronts": self.cure[1], "ideal": self.cure[2]},
            "reasons": list(cost.why),
            "written": None if cost.written is None else _written(cost.written),
        }

    @property
    def cells(self) -> tuple[str, ...]:
        """The row in words, below HEAD."""
        cost = self.cost
        counts = (cost.elements, cost.instructions, cost.wavefronts, cost.ideal, cost.sectors, cost.ideal_sectors)
        return place(self.move), self.move.text, cost.instruction, *("" if x is None else str(x) for x in counts)

    @property
    def lost(self) -> int:
        """Wavefronts and sectors beyond the ideal."""
        cost = self.cost
        return (cost.wavefronts or 0) - (cost.ideal or 0) + (cost.sectors or 0) - (cost.ideal_sectors or 0)


def _written(cost: Cost) -> dict[str, Any]:
    keys = ("instruction", "instructions", "wavefronts", "ideal", "sectors", "ideal_sectors")
    return {key: getattr(cost, key) for key in keys}


@dataclass(frozen=True, slots=True)
class Report:
    """What is known of a file's copies, the costliest first, and the statements that could not be evaluated, with the causes.

    notes: what was taken for granted, and what the compiler said.
    """

    accesses: tuple[Access, ...]
    unknown: tuple[tuple[Move, CuteVizError], ...]
    notes: tuple[str, ...] = ()

    @property
    def assumed(self) -> dict[str, tuple[str, int]]:
        """The numbers that hold where the program is run without arguments, by name: the value and its line."""
        moves = [row.move for row in self.accesses] + [move for move, _ in self.unknown]
        return {name: told for move in moves for name, told in move.assumed.items()}

    @property
    def ways(self) -> float:
        """The worst conflict: wavefronts for one that is ideal."""
        return max((access.cost.ways for access in self.accesses), default=1.0)

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
            "assumed": {name: {"value": value, "line": line} for name, (value, line) in self.assumed.items()},
            "ways": round(self.ways, 3),
            "notes": list(self.notes),
        }


def report_of(file: SourceFile) -> Report | None:
    """The report of a file; None of one without copies.

    >>> from cute_viz.source import read
    >>> from cute_viz.source.model import Given
    >>> report_of(read("struct A {\\n  using L = Layout<_4>;\\n};\\n", "cpp", Given())) is None
    True
    """
    moves = file.moves()
    if not moves:
        return None
    found: list[tuple[Move, Cost]] = []
    unknown = []
    for move in moves:
        try:
            with boundary():
                found += [(move, cost) for cost in _costs(move, file.compiled)]
        except CuteVizError as error:
            unknown.append((move, _uncalled(move, error)))
    cures = _cures(found)
    rows = [Access(move, cost, cures.get(_tile(move, cost)) if cost.ways > 1 else None) for move, cost in found]
    rows.sort(key=lambda row: -row.lost)
    return Report(tuple(rows), tuple(unknown), tuple(file.given.notes) if file.compiled else ())


def _costs(move: Move, compiled: bool) -> list[Cost]:
    """What a statement costs; where that depends on an index that only a run knows, the most that it may be.

    compiled: a multiplication of registers is a row, too.
    """
    first = move.read()
    if first and isinstance(first[0], Transfer):
        return [cost_of(one) for one in first]
    if compiled and move.name.startswith("copy") and _is_lost(first):
        return [
            replace(cost, wavefronts=None, ideal=None, sectors=None, ideal_sectors=None, why=_LOST) for cost in _alone(move, first)
        ]
    worst = costs(move.name, first)
    if not worst and compiled and move.name == "gemm":
        return [issued(first)]
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


def _tile(move: Move, cost: Cost) -> tuple[str, str, str]:
    """Which shared tile an access is of."""
    side = cost.side
    return (move.scope[0] if move.scope else "", move.call, side.tensor.pointer.base if side is not None else "")


def _cures(found: list[tuple[Move, Cost]]) -> dict[tuple[str, str, str], tuple[str, int, int]]:
    """For every shared tile with conflicts the layout that would cost the fewest wavefronts of all its accesses."""
    tiles: dict[tuple[str, str, str], list[Cost]] = {}
    for move, cost in found:
        if cost.wavefronts is not None and cost.side is not None:
            tiles.setdefault(_tile(move, cost), []).append(cost)
    out = {}
    known: dict[tuple[Side, ...], tuple[str, int, int] | None] = {}  # several calls of a kernel have tiles of the same accesses
    for tile, those in tiles.items():
        if any(cost.ways > 1 for cost in those):
            named = [replace(cost.side, tensor=_unnamed(cost.side.tensor)) for cost in those if cost.side is not None]
            sides = tuple(dict.fromkeys(named))
            if sides not in known:
                known[sides] = cure(list(sides))
            if (best := known[sides]) is not None:
                out[tile] = best
    return out


def _unnamed(x: Tensor) -> Tensor:
    return replace(x, pointer=replace(x.pointer, base="", name=""))


def page_of(report: Report, title: str) -> bytes:
    """The report as a page of HTML; the rows with conflicts open the picture of their costliest instruction.

    >>> b"<table>" in page_of(Report((), ()), "kernel.cu")
    True
    """
    from cute_viz.renderers.report import Line, page

    lines = [
        Line((*row.cells, _fix(row)), row.move.call, _picture(row) if n < _PICTURES else "", row.lost > 0)
        for n, row in enumerate(report.accesses)
    ]
    missing = [(place(move), move.text, error.message) for move, error in report.unknown]
    return page(title, _MEANING, (*HEAD, "fix"), lines, assumption(report), missing)


def place(move: Move) -> str:
    """The line of a statement, behind the included file that it is in.

    >>> from cute_viz.source.model import Move
    >>> place(Move("copy", 7, (), "", list)), place(Move("copy", 7, (), "", list, file="a.cuh"))
    ('7', 'a.cuh:7')
    """
    return f"{move.file}:{move.line}" if move.file else str(move.line)


def assumption(report: Report) -> str:
    """What was taken for granted, in words; "" where nothing was.

    >>> assumption(Report((), ()))
    ''
    """
    told = ", ".join(f"{name} = {value} (line {line})" for name, (value, line) in report.assumed.items())
    return f"the sizes are those of the program without arguments: {told}" if told else ""


_MEANING = "Each row: one execution of the statement by all threads of a block. A wavefront is one round of shared memory."


def _fix(row: Access) -> str:
    return f"{row.cure[0]}: {row.cure[1]} of {row.cure[2]}" if row.cure else ""


def _picture(row: Access) -> str:
    """The wavefronts of the costliest instruction, as SVG; "" where there is none."""
    side = row.cost.side
    if side is None or row.cost.wavefronts is None:
        return ""
    worst = max(side.instructions(), key=lambda a: a.wavefronts)
    title = f"{worst.instruction} of warp {worst.warp}, step {worst.step}: {worst.wavefronts} wavefronts, {worst.ideal} are ideal"
    figure = strip(title, str(side.tensor.layout), [("", worst.phases())], width(worst.instruction) // WORD)
    return figure.render("svg", fragment=True).decode()
