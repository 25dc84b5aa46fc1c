"""tcgen05.ld, tcgen05.st and tcgen05.cp as they are drawn: numbered words through an instruction of any shape.

Needs a device of compute capability 10.0; the kernels assemble for sm_100a (PTX ISA, "tcgen05.ld", "tcgen05.st", "tcgen05.cp").
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.copy import CopyOp
from cute_viz.algebra.tmem import WARP, WORD
from cute_viz.check.job import Array, In, Kernel, KernelRun, Out, Outcome, Outputs, Scalar, entry_name, sheet
from cute_viz.check.kernels import kernel
from cute_viz.check.wgmma_ptx import B_AT, GROUP, SHARED
from cute_viz.figures.lanes import copied, held

LANES, THREADS = 32, 32  # of the one warp that runs tcgen05.ld or tcgen05.st
STEP = 32  # bytes that tell of one asynchronous instruction


def job(op: CopyOp, name: str) -> Lanes | Rows | str:
    """The check of an instruction between tensor memory and registers, or from shared memory to tensor memory, or why not."""
    entry, said = entry_name("tcgen05", name), op.instruction
    if said.lanes and "stat" not in said.words:
        return Lanes(op, ".".join(said.ptx.split(".")[4:6]), said.kind == "tcgen05.st", entry)
    if said.kind == "tcgen05.cp" and said.ctas == 1 and ".4x256b" not in said.ptx:
        return Rows(op, said.ptx.split(".", 3)[3], entry)
    return f"{op.name} is not checked: loads with a maximum, copies of a pair of CTAs and copies of four rows are not"


@dataclass(frozen=True, slots=True)
class Lanes:
    """One launch of one warp, and its judgement: every register, or every lane and column, shows its number. A packed
    instruction has two numbers of 16 bits in a register, and one in the low half of a column."""

    op: CopyOp
    shape: str
    store: bool
    entry: str

    @property
    def halves(self) -> int:
        """How many values a register has."""
        return 2 if "16b" in self.op.instruction.words else 1

    def extents(self) -> tuple[int, int]:
        """Columns that are reached, and registers of a thread."""
        pieces = held(self.op)
        return max(part[1] for parts in pieces.values() for part in parts) + 1, max(r for _, r in pieces) + 1

    def kernel(self) -> Kernel:
        """The kernel (out): tensor memory numbered by .32x32b, the instruction, and what it brought, a thread's values together."""
        columns, registers = self.extents()
        packed = self.halves > 1
        how = (".unpack::16b" if self.store else ".pack::16b") if packed else ""
        split = f", {columns // 2}" if "bx2" in self.shape else ""  # the column at which the second half of the lanes begins
        form = {"columns": columns, "registers": registers, "halves": self.halves, "packed": packed, "store": self.store}
        words = {"shape": self.shape + how, "split": split, "held": "0" if self.store else "%x"}
        return kernel("tmem.ptx", self.entry, taken=_taken(columns), **form, **words)

    def launches(self) -> tuple[KernelRun, ...]:
        """The launch of one warp."""
        return (KernelRun(self.entry, (1, 1, 1), THREADS, (Out(self.right().nbytes),)),)

    def right(self) -> Any:
        """What comes back: the numbers of each register's lanes and columns; of a store those of the register in each of these."""
        columns, registers = self.extents()
        out = np.zeros((LANES, columns if self.store else registers), np.uint32)
        for (thread, register), parts in held(self.op).items():
            for half, (lane, column, _) in enumerate(parts):
                if self.store:
                    out[lane, column] = (thread * registers + register) * self.halves + half + 1
                else:
                    out[thread, register] |= lane * columns + column + 1 << 16 * half
        return out

    def judge(self, outputs: Outputs) -> Outcome:
        """Every value against what is drawn; what the other half of a column holds is not said."""
        mask = 0xFFFF if self.store and self.halves > 1 else 0xFFFFFFFF
        return _judged("tensor memory" if self.store else "registers", self.right(), outputs, mask)


def _judged(role: str, right: Array, outputs: Outputs, mask: int = 0xFFFFFFFF) -> Outcome:
    """Every number of a table against the right one; the control has them one row lower."""
    seen = np.frombuffer(outputs[0][0], np.uint32).reshape(right.shape) & np.uint32(mask)
    return Outcome((sheet(role, right.shape, right, seen),), bool((np.roll(right, 1, axis=0) != seen).any()))


def _taken(columns: int) -> int:
    """How many columns of tensor memory are allocated for so many."""
    return max(32, 1 << (columns - 1).bit_length())


def issued(entry: str, instruction: str, columns: int, more: int = 0, sms: int = 1) -> Kernel:
    """The kernel (a, b, t, d, s, na, nb, steps) of one CTA or a pair, 128 threads each, that issues asynchronous instructions.
    a, b: na and nb 16-byte pieces of shared memory. t: columns of tensor memory behind the first ones, lane by lane. d: the
    first columns of each lane in the end. s: for each instruction the descriptors %pa and %pb less where a and b begin, the
    instruction descriptor %d, and two addresses of tensor memory, %f and %g."""
    form = {"columns": columns, "more": more, "sms": sms, "many": sms > 1, "taken": _taken(columns + more)}
    return kernel("tcgen05.ptx", entry, instruction=instruction, b_at=B_AT, step=STEP, **form)


def step(a: int = 0, b: int = 0, instruction: int = 0, first: int = 0, second: int = 0) -> bytes:
    """What the kernel reads for one instruction."""
    return struct.pack("<QQIIII", a, b, instruction, first, second, 0)


@dataclass(frozen=True, slots=True)
class Rows:
    """tcgen05.cp of numbered words of shared memory, and where each is found in tensor memory."""

    op: CopyOp
    shape: str
    entry: str

    def extents(self) -> tuple[int, int]:
        """Rows and words of a row in shared memory."""
        rows, bits = (int(x) for x in self.shape.partition("b")[0].split("x"))
        return rows, bits // WORD

    def kernel(self) -> Kernel:
        """The kernel of one CTA."""
        return issued(self.entry, f"tcgen05.cp.cta_group::1.{self.shape} [%m], %pa;", self.extents()[1])

    def launches(self) -> tuple[KernelRun, ...]:
        """The launch: rows in core matrices of 8 x 16 bytes, those of a row side by side, no swizzle."""
        rows, words = self.extents()
        pieces = words * WORD // 128
        numbers = np.arange(1, rows * words + 1, dtype=np.uint32).reshape(rows // 8, 8, pieces, 4).transpose(0, 2, 1, 3)
        descriptor = 1 << 46 | 8 * pieces << 32 | (8 if pieces > 1 else 1) << 16
        data = (In(numbers.tobytes()), In(bytes(16)), In(bytes(16)), Out(4 * WARP * LANES * words), In(step(descriptor)))
        return (KernelRun(self.entry, (1, 1, 1), GROUP, (*data, Scalar(rows * pieces), Scalar(0), Scalar(1)), SHARED),)

    def right(self) -> Any:
        """[lane, column] -> the number of the word that is drawn there."""
        out = np.zeros((4 * WARP, self.extents()[1]), np.uint32)
        for where, (row, word) in copied(self.op).items():
            out[where] = row * self.extents()[1] + word + 1
        return out

    def judge(self, outputs: Outputs) -> Outcome:
        """Every word against what is drawn."""
        return _judged("tensor memory", self.right(), outputs)
