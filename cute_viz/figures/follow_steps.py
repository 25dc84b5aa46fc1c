"""What one thread does in a GEMM, step by step, as elements of the tile: the facts that `follow.py` draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cute_viz.algebra import copy as copies
from cute_viz.algebra import mma as mmas
from cute_viz.algebra.composed import domain, swizzle_of
from cute_viz.algebra.construct import make_identity_layout
from cute_viz.algebra.copy import TiledCopy
from cute_viz.algebra.gemm import Gemm
from cute_viz.algebra.inttuple import X, modes, product
from cute_viz.algebra.measure import size
from cute_viz.algebra.modes import get
from cute_viz.algebra.slicing import slice_
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets
from cute_viz.algebra.views import get_slice
from cute_viz.errors import CuteVizError, FigureError
from cute_viz.figures.memory import THREAD, memory_of, owner
from cute_viz.figures.partition import coordinates_of
from cute_viz.values.types import bits_of

Cell = tuple[int, int]
ROWS_OF = {"A": (0, 2), "B": (1, 2)}  # the modes of the tile (M, N, K) that an operand spans
LINE, ACCESS = 1024, 128  # bits: of a line of the 32 banks, and of the widest access of a thread


@dataclass(frozen=True, slots=True)
class Shared:
    """The shared-memory tile of an operand: its rows and columns, the offset of each element, and the bits of one.

    plain: the offsets before the swizzle. rows, cols: of the layout, an atom of which repeats over the operand's tile.
    """

    rows: int
    cols: int
    bits: int
    table: list[int]
    plain: list[int]
    swizzle: Swizzle | None

    def offset(self, cell: Cell) -> int:
        """The offset of an element, in elements."""
        return self.table[cell[0] % self.rows + self.rows * (cell[1] % self.cols)]

    def chunk(self, cell: Cell) -> Cell:
        """The line of 128 bytes and the chunk of 16 bytes in it where an element lies."""
        line, bit = divmod(self.offset(cell) * self.bits, LINE)
        return line, bit // ACCESS

    def exclusive_or(self, cell: Cell) -> tuple[int, int, int] | None:
        """The bits of an element's offset that the swizzle changes, those that it reads, and what they become; None without one."""
        if self.swizzle is None or not self.swizzle.bits:
            return None
        plain = self.plain[cell[0] % self.rows + self.rows * (cell[1] % self.cols)]
        mask = (1 << self.swizzle.bits) - 1
        changed, read = plain >> self.swizzle.changed & mask, plain >> self.swizzle.read & mask
        return changed, read, changed ^ read


@dataclass(frozen=True, slots=True)
class Steps:
    """A thread's part of each step, a list of elements (row, column) for each instruction; empty where it has none.

    written: from global to shared memory. given: the rows whose addresses it gives to ldmatrix, or the elements that it reads
    itself. got: the registers that come of it, in the order of its values. held: of the accumulator, by the first instruction.
    stored: of C, by as many stores as hold those, or by the first.
    """

    written: list[list[Cell]]
    given: list[list[Cell]]
    got: list[list[Cell]]
    held: list[Cell]
    stored: list[list[Cell]]
    notes: list[str]


def shared_of(gemm: Gemm, operand: str) -> Shared:
    """The shared-memory tile of an operand, its first stage. Raises: FigureError for elements of unknown width."""
    layout: Any = gemm.smem_a if operand == "A" else gemm.smem_b
    rank = len(modes(domain(layout).shape))
    if rank > 2:
        layout = slice_((X, X, *[0] * (rank - 2)), layout)
    rows, cols = (product(mode) for mode in modes(domain(layout).shape))
    swizzle = swizzle_of(layout)
    table = offsets(layout)
    plain = table
    if swizzle is not None:
        plain = [offset + layout.offset for offset in offsets(layout.inner)]
    return Shared(rows, cols, _bits(gemm, operand), table, plain, swizzle)


def _bits(gemm: Gemm, operand: str) -> int:
    for copy in (gemm.g2s_a, gemm.s2r_a) if operand == "A" else (gemm.g2s_b, gemm.s2r_b):
        if copy is not None:
            return copy.atom.bits
    kinds = dict(zip("ABC", gemm.mma.atom.types, strict=False))
    try:
        return bits_of(kinds[operand])
    except (KeyError, CuteVizError):
        hint = f"give g2s_{operand.lower()}, the copy that fills it"
        raise FigureError(f"the width of an element of {operand} is unknown", hint=hint) from None


def steps_of(gemm: Gemm, operand: str, thread: int) -> Steps:
    """What a thread does for an operand, A or B, and for C. Raises: FigureError for a thread that the MMA does not have, and for
    an MMA whose operands no thread holds."""
    threads = size(gemm.mma.thr_layout_vmnk)
    if not 0 <= thread < threads:
        raise FigureError(f"`follow={thread}`: there are threads 0 to {threads - 1}")
    if owner(gemm.mma.atom.instruction) != THREAD:
        hint = "leave out `follow=`"
        raise FigureError(f"{gemm.mma.atom.name} is issued by one thread for its CTA: no thread holds a part of it", hint=hint)
    i, j = ROWS_OF[operand]
    extents = (gemm.tile[i], gemm.tile[j])
    notes: list[str] = []
    s2r = gemm.s2r_a if operand == "A" else gemm.s2r_b
    if s2r is not None:
        given, got = (_instructions(s2r, side, thread, extents, notes)[:1] for side in "SD")
        given = _addressed(s2r, thread, given, notes)
    elif memory := memory_of(gemm.mma.atom.instruction, operand):
        given, got = [], []
        notes.append(f"{operand} stays in {memory}: the instruction reads it there.")
    else:
        got = [_fragment(gemm, operand, thread, extents)]
        given = got
    held = _fragment(gemm, "C", thread, gemm.tile[:2])
    turned = [(n, m) for m, n in held] if operand == "B" else held
    g2s = gemm.g2s_a if operand == "A" else gemm.g2s_b
    written = [] if g2s is None else _instructions(g2s, "D", thread, extents, notes)
    rows = {r // 8 for part in (*given, *got, turned) for r, _ in part}
    near = [part for part in written if {r // 8 for r, _ in part} <= rows] or written
    stored = _stores(gemm, thread, held, notes)
    if operand == "B":
        stored = [[(n, m) for m, n in part] for part in stored]
    if len(written) > 1:
        notes.append(f"It copies {len(written)} times for a tile of {operand}; one of them is drawn.")
    return Steps(near[:1], given, got, turned, stored, notes)


def _addressed(s2r: TiledCopy, thread: int, given: list[list[Cell]], notes: list[str]) -> list[list[Cell]]:
    """The rows that a thread's address is of; none where the instruction takes the addresses of other lanes (PTX ISA, ldmatrix)."""
    op = s2r.atom.instruction
    if not op.opcode.endswith(".b16") or not op.matrices or thread % 32 < 8 * op.matrices:
        return given
    notes.append(f"{op.access} takes the addresses of lanes 0 to {8 * op.matrices - 1}: not of this one.")
    return []


def instruction(copy: TiledCopy | None) -> str:
    """The instruction of a copy, as PTX calls it; `copy` for others."""
    if copy is None:
        return "copy"
    op = copy.atom.instruction
    return op.access or _CALLED.get(op.kind, "copy")


_CALLED = {"cp.async": "cp.async", "cp.async.bulk.tensor": "TMA"}


def _instructions(copy: TiledCopy, side: str, thread: int, extents: Cell, notes: list[str]) -> list[list[Cell]]:
    """The elements of a tile that a thread moves with each instruction of a copy."""
    if owner(copy.atom.instruction) != THREAD:
        note = "The bulk copy moves the tile as a whole: no thread has a part of it."
        notes += [] if note in notes else [note]
        return []
    if thread >= size(get(copy.layout_tv, 0)):
        notes.append(f"A copy has {size(get(copy.layout_tv, 0))} threads: this thread takes no part.")
        return []
    part = copies.partition(get_slice(copy, thread), side, make_identity_layout(extents))
    every = [(r, c) for r, c, *_ in coordinates_of(part)]
    values = size(get(copy.atom.layout_src if side == "S" else copy.atom.layout_dst, 1))
    return [every[n : n + values] for n in range(0, len(every), values)]


def _fragment(gemm: Gemm, operand: str, thread: int, extents: Cell) -> list[Cell]:
    """The elements that the first instruction of the MMA takes, or gives, in a thread's registers."""
    part = mmas.partition(get_slice(gemm.mma, thread), operand, make_identity_layout(extents))
    every = [(r, c) for r, c, *_ in coordinates_of(part)]
    return every[: size(get(gemm.mma.atom.layout(operand), 1))]


def _stores(gemm: Gemm, thread: int, held: list[Cell], notes: list[str]) -> list[list[Cell]]:
    if not isinstance(gemm.epilogue, TiledCopy):
        return []
    every = _instructions(gemm.epilogue, "D", thread, gemm.tile[:2], notes)
    own = [part for part in every if set(part) <= set(held)]
    if every and not own:
        notes.append("It stores other elements than it computes: they are exchanged through shared memory.")
    return own or every[:1]


def swizzle_words(shared: Shared, cell: Cell) -> str:
    """The XOR of an element's offset, in words; "" without a swizzle."""
    found = shared.exclusive_or(cell)
    return f"chunk {found[0]} ^ {found[1]} = {found[2]}" if found else ""
