"""tcgen05.ld, tcgen05.st and tcgen05.cp as they are drawn: numbered words through an instruction of any shape.

Needs a device of compute capability 10.0; the kernels assemble for sm_100a (PTX ISA, "tcgen05.ld", "tcgen05.st", "tcgen05.cp").
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.copy import CopyOp
from cute_viz.algebra.tmem import WARP, WORD
from cute_viz.check.job import Check, In, Item, Kernel, Launch, Out, Outcome, Sheet, Undecided, Word, entry_name
from cute_viz.check.wgmma_ptx import B_AT, GROUP, SHARED, fill
from cute_viz.figures.lanes import copied, held

LANES, THREADS = 32, 32  # of the one warp that runs tcgen05.ld or tcgen05.st
STEP = 32  # bytes that tell of one asynchronous instruction


def checks(op: CopyOp, name: str) -> list[Item]:
    """The check of an instruction between tensor memory and registers, or from shared memory to tensor memory.

    >>> from cute_viz import parse
    >>> (item,) = checks(parse("SM100_TMEM_LOAD_16dp256b1x_16b{}"), "x")
    >>> item.kind, item.kernel.target, item.kernel.exact
    ('tcgen05', 100, True)
    """
    entry = entry_name("tcgen05", name)
    said = op.instruction
    if said.lanes and "stat" not in said.words:
        job: Job | CpJob = Job(op, ".".join(said.ptx.split(".")[4:6]), said.kind == "tcgen05.st", entry)
    elif said.kind == "tcgen05.cp" and said.ctas == 1 and ".4x256b" not in said.ptx:
        job = CpJob(op, said.ptx.split(".", 3)[3], entry)
    else:
        return [
            Undecided(
                "tcgen05",
                name,
                f"{op.name} is not checked: loads with a maximum, copies of a pair of CTAs and copies of four rows are not",
            )
        ]
    return [Check("tcgen05", name, job.kernel(), job.launches, job.judge)]


@dataclass(frozen=True, slots=True)
class Job:
    """One launch of one warp, and its judgement: every register, or every lane and column, shows its number.

    A packed instruction has two numbers of 16 bits in a register, and one in the low half of a column.
    """

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
        taken = max(32, 1 << (columns - 1).bit_length())
        given = "{" + ",".join(f"%r{n}" for n in range(registers)) + "}"
        split = f", {columns // 2}" if "bx2" in self.shape else ""  # the column at which the second half of the lanes begins
        number = "mul.lo.u32 %x, %t, {0}; add.u32 %x, %x, {1};"
        if self.store:
            each = self.halves * registers
            fill = "\n".join(
                f"{number.format(each, self.halves * n + 1)} mov.b32 %r{n}, %x;"
                + (f" add.u32 %x, %x, 1; shl.b32 %x, %x, 16; or.b32 %r{n}, %r{n}, %x;" if self.halves > 1 else "")
                for n in range(registers)
            )
            how = ".unpack::16b" if self.halves > 1 else ""
            run = f"{fill}\ntcgen05.st.sync.aligned.{self.shape}{how}.b32 [%m]{split}, {given};\ntcgen05.wait::st.sync.aligned;"
            back, count = _read(columns), columns
        else:
            how = ".pack::16b" if self.halves > 1 else ""
            run = f"tcgen05.ld.sync.aligned.{self.shape}{how}.b32 {given}, [%m]{split};\ntcgen05.wait::ld.sync.aligned;"
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

    def judge(self, outputs: Sequence[Sequence[bytes]]) -> Outcome:
        """Every value against what is drawn."""
        right = self.right()
        seen = np.frombuffer(outputs[0][0], np.uint32).reshape(right.shape)
        if self.store and self.halves > 1:
            seen = seen & 0xFFFF  # what the other half of a column holds is not said
        return _judged("tensor memory" if self.store else "registers", right, seen)


def _judged(role: str, right: Any, seen: Any) -> Outcome:
    """Every number of a table against the right one; the control has them one row lower."""
    words = [tuple(map(str, table.reshape(-1).tolist())) for table in (right, seen)]
    (rows, cols), same = right.shape, tuple((right == seen).reshape(-1).tolist())
    sheet = Sheet(role, rows, cols, words[0], words[1], same)
    return Outcome((sheet,), bool((np.roll(right, 1, axis=0) != seen).any()))


def _read(columns: int) -> str:
    """PTX that stores a lane's columns of tensor memory at %q."""
    each = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%y}, [%z]; tcgen05.wait::ld.sync.aligned;"
    return "\n".join(f"add.u32 %z, %m, {c}; {each} st.global.b32 [%q+{4 * c}], %y;" for c in range(columns))


def issued(entry: str, instruction: str, columns: int, more: int = 0, sms: int = 1) -> Kernel:
    """The kernel (a, b, t, d, s, na, nb, steps) of one CTA or a pair, 128 threads each, that issues asynchronous instructions.

    a, b: na and nb 16-byte pieces of shared memory. t: columns of tensor memory behind the first ones, lane by lane. d: the first
    columns of each lane in the end. s: for each instruction the descriptors %pa and %pb less where a and b begin, the instruction
    descriptor %d, and two addresses of tensor memory, %f and %g.

    >>> "cta_group::2" in issued("k", "tcgen05.mma.cta_group::2.kind::f16 [%m], %pa, %pb, %d, %more;", 64, 0, 2).body
    True
    """
    taken = max(32, 1 << (columns + more - 1).bit_length())
    group = f"cta_group::{sms}"
    together = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" if sms > 1 else "bar.sync 0;"
    commit = (
        "mov.b16 %h, 3; tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%w], %h;"
        if sms > 1
        else "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%w];"
    )
    put = "\n".join(
        f"ld.global.b32 %y, [%q+{4 * c}]; add.u32 %z, %x, {columns + c}; tcgen05.st.sync.aligned.32x32b.x1.b32 [%z], {{%y}};"
        for c in range(more)
    )
    mine = "mad.lo.u32 %x, %i, 128, %t; mul.wide.u32 %by, %x, {}; ld.param.u64 %q, [{}]; add.u64 %q, %q, %by;"
    return Kernel(
        entry,
        f""".extern .shared .align 1024 .b8 {entry}_smem[];
.visible .entry {entry}(.param .u64 a, .param .u64 b, .param .u64 t, .param .u64 d, .param .u64 s,
 .param .u32 na, .param .u32 nb, .param .u32 steps){f" .reqnctapercluster {sms}, 1, 1" if sms > 1 else ""}
{{
.shared .align 8 .b64 barrier;
.shared .align 16 .b32 where;
.reg .pred %p, %more;
.reg .b16 %h;
.reg .b32 %t, %i, %k, %m, %n, %s, %x, %y, %z, %w, %d, %f, %g, %lane;
.reg .b64 %by, %pa, %pb, %q, %w0, %w1, %ba, %bb;
mov.u32 %t, %tid.x; mov.u32 %i, %cluster_ctarank; mov.u32 %s, {entry}_smem; mov.u32 %w, barrier;
add.u32 %s, %s, 1023; and.b32 %s, %s, 0xFFFFFC00;
{fill("A", "a", "%i", "na", 0)}
{fill("B", "b", "%i", "nb", B_AT)}
setp.ge.u32 %p, %t, 32; @%p bra PLACED;
mov.u32 %x, where;
tcgen05.alloc.{group}.sync.aligned.shared::cta.b32 [%x], {taken};
tcgen05.relinquish_alloc_permit.{group}.sync.aligned;
setp.ne.u32 %p, %t, 0; @%p bra PLACED;
mbarrier.init.shared::cta.b64 [%w], 1; fence.mbarrier_init.release.cluster;
PLACED: fence.proxy.async.shared::cta; tcgen05.fence::before_thread_sync;
bar.sync 0; tcgen05.fence::after_thread_sync; ld.shared.b32 %m, [where];
shr.u32 %x, %t, 5; shl.b32 %lane, %x, 21; // a warp reaches its own 32 lanes
{mine.format(4 * more, "t") if more else ""}
add.u32 %x, %m, %lane;
{put}
tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync;
{together} tcgen05.fence::after_thread_sync;
add.u32 %x, %t, %i; setp.ne.u32 %p, %x, 0; @%p bra WAIT; // the first thread of the first CTA issues
and.b32 %x, %s, 0x3FFFF; shr.u32 %x, %x, 4; cvt.u64.u32 %ba, %x;
add.u32 %x, %s, {B_AT}; and.b32 %x, %x, 0x3FFFF; shr.u32 %x, %x, 4; cvt.u64.u32 %bb, %x;
ld.param.u32 %n, [steps]; ld.param.u64 %q, [s]; mov.u32 %x, 0; setp.ne.u32 %more, %x, 0; // the first replaces what was there
AGAIN: ld.global.v2.b64 {{%pa,%pb}}, [%q]; ld.global.v4.b32 {{%d,%f,%g,%y}}, [%q+16];
add.u64 %pa, %pa, %ba; add.u64 %pb, %pb, %bb; add.u32 %f, %f, %m; add.u32 %g, %g, %m;
{instruction}
setp.eq.u32 %more, %x, 0; add.u64 %q, %q, {STEP}; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra AGAIN;
{commit}
WAIT: mov.u32 %x, 0;
POLL: mbarrier.try_wait.parity.shared::cta.b64 %p, [%w], 0; @%p bra DONE;
add.u32 %x, %x, 1; setp.lt.u32 %p, %x, 1000000; @%p bra POLL;
DONE: {together} tcgen05.fence::after_thread_sync;
{mine.format(4 * columns, "d")}
add.u32 %m, %m, %lane;
{_read(columns)}
tcgen05.fence::before_thread_sync; {together}
setp.ge.u32 %p, %t, 32; @%p bra END;
ld.shared.b32 %m, [where]; tcgen05.dealloc.{group}.sync.aligned.b32 %m, {taken};
END: ret;
}}""",
        (8, 7),
        100,
        exact=True,
    )


def step(a: int = 0, b: int = 0, instruction: int = 0, first: int = 0, second: int = 0) -> bytes:
    """What the kernel reads for one instruction.

    >>> len(step()) == STEP
    True
    """
    return struct.pack("<QQIIII", a, b, instruction, first, second, 0)


@dataclass(frozen=True, slots=True)
class CpJob:
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

    def launches(self) -> tuple[Launch, ...]:
        """The launch: rows in core matrices of 8 x 16 bytes, those of a row side by side, no swizzle."""
        rows, words = self.extents()
        pieces = words * WORD // 128
        numbers = np.arange(1, rows * words + 1, dtype=np.uint32).reshape(rows // 8, 8, pieces, 4).transpose(0, 2, 1, 3)
        descriptor = 1 << 46 | 8 * pieces << 32 | (8 if pieces > 1 else 1) << 16
        data = (In(numbers.tobytes()), In(bytes(16)), In(bytes(16)), Out(4 * WARP * LANES * words), In(step(descriptor)))
        return (Launch(self.entry, (1, 1, 1), GROUP, (*data, Word(rows * pieces), Word(0), Word(1)), SHARED),)

    def right(self) -> Any:
        """[lane, column] -> the number of the word that is drawn there."""
        out = np.zeros((4 * WARP, self.extents()[1]), np.uint32)
        for where, (row, word) in copied(self.op).items():
            out[where] = row * self.extents()[1] + word + 1
        return out

    def judge(self, outputs: Sequence[Sequence[bytes]]) -> Outcome:
        """Every word against what is drawn."""
        right = self.right()
        return _judged("tensor memory", right, np.frombuffer(outputs[0][0], np.uint32).reshape(right.shape))
