"""Copy atoms and TiledCopy: the instruction moves numbered elements, and each must arrive where the picture says.

What a thread reads of memory is put into a slot of its own, slots in scrambled order, filled as the drawn source says; what
arrives is compared with the drawn destination, cell by cell. Numbers too large for an element go digit by digit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.copy import Copy_Atom, CopyOp, TiledCopy
from cute_viz.algebra.measure import size
from cute_viz.algebra.modes import get
from cute_viz.algebra.views import atom_of
from cute_viz.check.digest import owners, role
from cute_viz.check.elements import pack, unpack
from cute_viz.check.job import Array, In, Job, Kernel, KernelRun, Out, Outcome, Outputs, entry_name, kernel, registers, sheet, text
from cute_viz.figures.model import Figure, Panel
from cute_viz.values.instruction import Instruction

WARP = 32
IDLE = 0xFFFFFFFF  # the slot of a lane that takes no part


@dataclass(frozen=True, slots=True)
class CopyInstruction:
    """A copy instruction. source, target: `memory` (a row of bytes at an address of the lane's own) or `registers`. ptx: the
    instruction, with its registers %s0 ... or %d0 ..., and the addresses %from and %to, %from32 and %to32 in shared memory.
    needs: version and target of the PTX. shared: which of the two sides is in shared memory (`source`, `target` or empty)."""

    source: str
    target: str
    ptx: str
    needs: str = "7.0 70"
    shared: str = ""


_WORDS = {8: "b8 %w8", 16: "b16 %w16", 32: "b32 %w32", 64: "b64 %w0", 128: "v2.b64 {%w0,%w1}"}


def move(op: Instruction, bits: int) -> CopyInstruction | str:
    """The instruction of an atom that moves `bits` a thread; or the reason why there is none here."""
    if op.matrices:
        return _of_matrices(op)
    if op.kind == "movmatrix":
        return CopyInstruction("registers", "registers", f"{op.ptx} %d0, %s0;", "7.8 75")
    if op.kind == "shfl":
        return CopyInstruction("registers", "registers", text("shuffle.ptx", x=op.name[-1]))
    if op.kind == "cp.async":
        where = op.opcode.split(".")[2]
        if bits not in (32, 64, 128) or (where == "cg" and bits != 128):
            return f"cp.async.{where} does not copy {bits // 8} bytes"
        tail = f", {bits // 8}" if "zfill" in op.words else ""
        ptx = f"cp.async.{where}.shared.global [%to32], [%from], {bits // 8}{tail};\ncp.async.wait_all;"
        return CopyInstruction("memory", "memory", ptx, "7.0 80", "target")
    if op.kind in ("copy", "auto"):
        if bits not in _WORDS:
            return f"the atom moves {bits} bits; the tensors decide how many accesses that is"
        word, _, regs = _WORDS[bits].partition(" ")
        return CopyInstruction("memory", "memory", f"ld.global.{word} {regs}, [%from];\nst.global.{word} [%to], {regs};")
    if op.kind.startswith("cp.async.bulk"):
        return "box and swizzle are in a descriptor that the atom does not hold; the checks of GMMA layouts run TMA"
    return f"no kernel for {op.name or 'an atom without a name'}"


def _of_matrices(op: Instruction) -> CopyInstruction | str:
    if "packed" in op.words:
        return "the gaps of packed elements in shared memory are not drawn"
    store, of_bytes = op.kind == "stmatrix", op.ptx.endswith(".b8")
    needs = "8.6 100a" if of_bytes else "7.8 90" if store else "7.0 75"
    if store:
        return CopyInstruction("registers", "memory", f"{op.ptx} [%to32], {registers('s', op.matrices)};", needs, "target")
    # Of each 16 x 16 bytes CuTe pairs the low halves of both registers, and the high ones (cute/arch/copy_sm100.hpp).
    paired = "".join(
        f"\nprmt.b32 %x, %d{j}, %d{j + 1}, 0x5410; prmt.b32 %d{j + 1}, %d{j}, %d{j + 1}, 0x7632; mov.b32 %d{j}, %x;"
        for j in range(0, op.matrices if of_bytes else 0, 2)
    )
    return CopyInstruction("memory", "registers", f"{op.ptx} {registers('d', op.matrices)}, [%from32];{paired}", needs, "source")


@dataclass(frozen=True, slots=True)
class DrawnSide:
    """One drawn side: cells[t, v] is the cell of value v of thread t, -1 where there is none."""

    panel: Panel
    cells: Any


def _side(figure: Figure, name: str) -> DrawnSide:
    panel = next(panel for panel in figure.panels if role(panel) == name)
    values = int(figure.facts[f"values of {name[0].upper()}"])
    threads = 1 + max(t for mine in owners(panel) for t, _ in mine)
    cells = np.full((threads, values), -1, np.int64)
    for cell, mine in enumerate(owners(panel)):
        for t, v in mine:
            cells[t, v] = cell
    return DrawnSide(panel, cells)


def job(obj: CopyOp | Copy_Atom | TiledCopy, figure: Figure, name: str) -> Job | str:
    """The check of a drawn copy, or the reason why it cannot be decided."""
    atom = atom_of(obj)
    bits = int(figure.facts["bits of a value"])
    layouts = (atom.src, atom.dst) if isinstance(atom, CopyOp) else (atom.layout_src, atom.layout_dst)
    unit = 1 if isinstance(atom, CopyOp) else bits
    wide = [size(get(layout, 1)) * unit for layout in layouts]  # bits of one thread, source and target
    made = move(atom.instruction, wide[0])
    if isinstance(made, str):
        return made
    source, target = _side(figure, "source"), _side(figure, "destination")
    counts = [w // bits for w in wide]
    if any(side.cells.shape[1] % n for side, n in zip((source, target), counts, strict=True)) or bits > 64:
        return f"values of {bits} bits do not make up the instruction"
    return _Moves(made, bits, source, target, counts, wide, entry_name("copy", name))


@dataclass(frozen=True, slots=True)
class _Moves:
    """The instances of one instruction: for each digit, each repetition and each warp, a block of 32 lanes."""

    made: CopyInstruction
    bits: int
    source: DrawnSide
    target: DrawnSide
    counts: list[int]
    wide: list[int]
    entry: str

    def kernel(self) -> Kernel:
        """The kernel (first, sslots, tslots, out), one warp a block.

        first: the rows or registers of the source. sslots, tslots: the slot of each lane, IDLE for a lane that takes no part on
        that side. out: the rows by slot, or each lane's registers.
        """
        made = self.made
        sides = {"from_memory": made.source == "memory", "to_memory": made.target == "memory"}
        alone = all(sides.values())  # per lane; the others are of the whole warp
        sides |= {"from_shared": made.shared == "source", "to_shared": made.shared == "target"}
        s, d = (-(-bits // 32) for bits in self.wide)
        given, row = (bits // 8 for bits in self.wide)
        counts = {"s": s, "d": d, "given": given, "row": row, "words": -(-row // 4)}
        title = made.ptx.splitlines()[0]
        return kernel("copy.ptx", self.entry, made.needs, title=title, ptx=made.ptx, alone=alone, **sides, **counts)

    @property
    def base(self) -> int:
        return 1 << min(self.bits, 30)

    @property
    def digits(self) -> int:
        """How many digits number the cells, from 1."""
        total, n = int(self.source.panel.rows * self.source.panel.cols), 1
        while self.base**n <= total:
            n += 1
        return n

    def groups(self, side: DrawnSide, count: int) -> Any:
        """The cells of a side as [repetition, warp, lane, value], -1 for lanes that do not exist."""
        threads, values = side.cells.shape
        warps = -(-threads // WARP)
        padded = np.full((warps * WARP, values), -1, np.int64)
        padded[:threads] = side.cells
        return padded.reshape(warps, WARP, values // count, count).transpose(2, 0, 1, 3)

    def numbers(self) -> Array:
        """What the source holds, as raw elements [digit, repetition, warp, lane, value]: digits of the cell's number."""
        cells = self.groups(self.source, self.counts[0]) + 1
        return np.stack([cells // self.base**p % self.base for p in range(self.digits)]).astype(np.uint64)

    def slots(self, side: DrawnSide, count: int) -> Array:
        """Each lane's slot [repetition, warp, lane]: lanes with the same cells share one, the order is scrambled."""
        groups = self.groups(side, count)
        out = np.full(groups.shape[:3], IDLE, np.uint32)
        for r, w in np.ndindex(groups.shape[:2]):
            seen: dict[tuple[int, ...], int] = {}
            for lane in range(WARP):
                row = tuple(groups[r, w, lane].tolist())
                if row[0] >= 0:
                    out[r, w, lane] = seen.setdefault(row, (lane * 11 + 5) % WARP)
        return out

    def by_slot(self, rows: Array) -> Array:
        """Rows of bytes [digit, repetition, warp, lane, byte] moved to their lanes' slots."""
        slots = np.broadcast_to(self.slots(self.source, self.counts[0]), rows.shape[:4])
        out = np.zeros_like(rows)
        for at in zip(*np.nonzero(slots != IDLE), strict=True):
            out[at[0], at[1], at[2], int(slots[at])] = rows[at]
        return out

    def launches(self) -> tuple[KernelRun, ...]:
        """One launch: rows or registers of the source, and the slots of the sides that are in memory."""
        numbers = self.numbers()
        data = pack(numbers, self.bits).astype(np.uint32) if self.bits < 64 else numbers.view(np.uint32)
        blocks = int(np.prod(numbers.shape[:3]))
        first = data.reshape(blocks, WARP, -1) if self.made.source == "registers" else _rows(data, self.wide[0])
        if self.made.source == "memory" and self.made.shared != "source":
            first = self.by_slot(first)
        slots = []
        for side, count in ((self.source, self.counts[0]), (self.target, self.counts[1])):
            every = np.ascontiguousarray(np.broadcast_to(self.slots(side, count), numbers.shape[:4]))
            slots.append(In(every.tobytes()))
        row = self.wide[1] // 8 if self.made.target == "memory" else 4 * -(-self.wide[1] // 32)
        arguments = (In(first.tobytes()), slots[0], slots[1], Out(blocks * WARP * row))
        return (KernelRun(self.entry, (blocks, 1, 1), WARP, arguments),)

    def judge(self, outputs: Outputs) -> Outcome:
        """The cell that each drawn place of the destination received."""
        groups = self.groups(self.target, self.counts[1])
        seen = self.received(outputs[0][0], groups.shape)
        places = groups >= 0
        cells, got = groups[places], seen[places]
        wrong = cells.copy()
        wrong[[0, -1]] = wrong[[-1, 0]]
        control = bool((wrong != got).any()) if (cells != cells[0]).any() else bool((got != 1).any())
        sides = (("destination", self.target.panel), ("source", self.source.panel))
        sheets = tuple(sheet(label, (panel.rows, panel.cols), cells, got, cells=cells) for label, panel in sides)
        return Outcome(sheets, control, {"cells written once": int((np.bincount(cells) == 1).sum())})

    def received(self, data: bytes, shape: tuple[int, ...]) -> Any:
        """The number that came back at each [repetition, warp, lane, value] of the target."""
        count = self.counts[1]
        if self.made.target == "registers":
            raw = np.frombuffer(data, np.uint32).reshape(self.digits, *shape[:3], -1)
        else:
            rows = np.frombuffer(data, np.uint8).reshape(self.digits, *shape[:2], WARP, self.wide[1] // 8)
            slots = self.slots(self.target, count)
            lanes = np.where(slots == IDLE, 0, slots).astype(np.int64)
            own = np.take_along_axis(rows, np.broadcast_to(lanes[None, ..., None], (*rows.shape[:4], 1)), axis=3)
            padded = np.zeros((*own.shape[:4], -(-own.shape[4] // 8) * 8), np.uint8)
            padded[..., : own.shape[4]] = own
            raw = padded.view(np.uint32)
        elements = unpack(raw, self.bits) if self.bits < 64 else np.ascontiguousarray(raw).view(np.uint64)
        total = sum(elements[p][..., :count].astype(np.int64) * self.base**p for p in range(self.digits))
        return total - 1


def _rows(data: Array, wide: int) -> Array:
    """Packed words [..., lane, word] as rows of `wide` bits."""
    rows = np.ascontiguousarray(data).view(np.uint8)
    return np.ascontiguousarray(rows.reshape(*rows.shape[:-1], -1)[..., : wide // 8])
