"""tcgen05.ld and tcgen05.st as they are drawn: numbered lanes and columns of tensor memory through an instruction of any shape.

Needs a device of compute capability 10.0; the kernels assemble for sm_100a (PTX ISA, "tcgen05.ld", "tcgen05.st", "tcgen05.alloc").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.copy import CopyOp
from cute_viz.check.job import Check, Item, Kernel, Launch, Out, Outcome, Sheet, Undecided, entry_name
from cute_viz.figures.lanes import held

LANES, THREADS = 32, 32  # of the one warp that runs
_NAME = re.compile(r"SM100_TMEM_(LOAD|STORE)_(\d+)dp(\d+)b(\d+)x(_16b)?")


def checks(op: CopyOp, name: str) -> list[Item]:
    """The check of an instruction between tensor memory and registers.

    >>> from cute_viz import parse
    >>> (item,) = checks(parse("SM100_TMEM_LOAD_16dp256b1x{}"), "x")
    >>> item.kind, item.kernel.target, item.kernel.exact
    ('tcgen05', 100, True)
    """
    match = _NAME.fullmatch(op.name)
    if match is None or match[2] + match[3] == "1632" or match[5]:
        return [Undecided("tcgen05", name, f"{op.name} is not tried: two halves, or packed")]
    job = Job(op, f"{match[2]}x{match[3]}b.x{match[4]}", match[1] == "STORE", entry_name("tcgen05", name))
    return [Check("tcgen05", name, job.kernel(), job.launches, job.judge)]


@dataclass(frozen=True, slots=True)
class Job:
    """One launch of one warp, and its judgement: every register, or every lane and column, shows its number."""

    op: CopyOp
    shape: str
    store: bool
    entry: str

    def extents(self) -> tuple[int, int]:
        """Columns that are reached, and registers of a thread."""
        pieces = held(self.op)
        return max(part[1] for parts in pieces.values() for part in parts) + 1, max(r for _, r in pieces) + 1

    def kernel(self) -> Kernel:
        """The kernel (out): tensor memory numbered by .32x32b, the instruction, and what it brought, a thread's values together."""
        columns, registers = self.extents()
        taken = max(32, 1 << (columns - 1).bit_length())
        given = "{" + ",".join(f"%r{n}" for n in range(registers)) + "}"
        number = "mul.lo.u32 %x, %t, {0}; add.u32 %x, %x, {1};"
        if self.store:
            fill = "\n".join(f"mul.lo.u32 %x, %t, {registers}; add.u32 %r{n}, %x, {n + 1};" for n in range(registers))
            run = f"{fill}\ntcgen05.st.sync.aligned.{self.shape}.b32 [%m], {given};\ntcgen05.wait::st.sync.aligned;"
            each, count = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%y}, [%z]; tcgen05.wait::ld.sync.aligned;", columns
            back = "\n".join(f"add.u32 %z, %m, {c}; {each} st.global.b32 [%q+{4 * c}], %y;" for c in range(columns))
        else:
            run = f"tcgen05.ld.sync.aligned.{self.shape}.b32 {given}, [%m];\ntcgen05.wait::ld.sync.aligned;"
            back, count = "\n".join(f"st.global.b32 [%q+{4 * n}], %r{n};" for n in range(registers)), registers
        clear = "0" if self.store else "%x"
        numbered = "\n".join(
            f"{number.format(columns, c + 1)} add.u32 %z, %m, {c}; mov.b32 %y, {clear}; "
            "tcgen05.st.sync.aligned.32x32b.x1.b32 [%z], {%y};"
            for c in range(columns)
        )
        return Kernel(
            self.entry,
            f""".visible .entry {self.entry}(.param .u64 out)
{{
.shared .align 16 .b32 where;
.reg .b32 %t, %m, %x, %y, %z, %r<{registers}>;
.reg .b64 %q, %by;
mov.u32 %t, %tid.x; mov.u32 %x, where;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%x], {taken};
tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
bar.sync 0; ld.shared.b32 %m, [where];
{numbered}
tcgen05.wait::st.sync.aligned;
{run}
mul.wide.u32 %by, %t, {4 * count}; ld.param.u64 %q, [out]; add.u64 %q, %q, %by;
{back}
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %m, {taken};
ret;
}}""",
            (8, 6),
            100,
            exact=True,
        )

    def launches(self) -> tuple[Launch, ...]:
        """The launch of one warp."""
        columns, registers = self.extents()
        return (Launch(self.entry, (1, 1, 1), THREADS, (Out(THREADS * 4 * (columns if self.store else registers)),)),)

    def right(self) -> Any:
        """What comes back: the number of each register's lane and column; of a store that of the register in each of these."""
        columns, registers = self.extents()
        out = np.zeros((LANES, columns if self.store else registers), np.uint32)
        for (thread, register), ((lane, column, _),) in held(self.op).items():
            if self.store:
                out[lane, column] = thread * registers + register + 1
            else:
                out[thread, register] = lane * columns + column + 1
        return out

    def judge(self, outputs: Sequence[Sequence[bytes]]) -> Outcome:
        """Every value against what is drawn."""
        right = self.right()
        seen = np.frombuffer(outputs[0][0], np.uint32).reshape(right.shape)
        words = [tuple(map(str, table.reshape(-1).tolist())) for table in (right, seen)]
        role = "tensor memory" if self.store else "registers"
        rows, cols = right.shape
        sheet = Sheet(role, rows, cols, words[0], words[1], tuple((right == seen).reshape(-1).tolist()))
        return Outcome((sheet,), bool((np.roll(right, 1, axis=0) != seen).any()))
