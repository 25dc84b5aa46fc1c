"""Descriptors that we compute, as the hardware takes them: wgmma multiplies a tile through each one, and the product must be exact.

The tile is put into shared memory as its layout says, swizzle included; the other operand is a plain tile that other checks have
decided. Each k-block of a fragment is multiplied through its own descriptor.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.copy import CopyOp
from cute_viz.algebra.descriptor import UNIT, DescriptorTensor, SmemDescriptor
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tmem import WARP, WORD
from cute_viz.check.elements import ELEMENTS, UNSIGNED, element_of, encode
from cute_viz.check.job import Array, In, Kernel, KernelRun, Out, Outcome, Outputs, Scalar, entry_name, kernel, sheet
from cute_viz.check.wgmma_ptx import B_AT, GROUP, PLAIN, SHARED, Wgmma, accumulator, plain_tile
from cute_viz.figures.lanes import copied, held

ATOM = 1024  # bytes after which every swizzle repeats
ROWS = 64  # of the tile: M of a wgmma, and the N that is tried
RESULTS = {"f16": "f32", "bf16": "f32", "tf32": "f32", "e4m3": "f32", "e5m2": "f32", "s8": "s32", "u8": "s32"}
LARGEST = 3  # elements are 0 to 3, so that every sum is exact


def jobs(obj: SmemDescriptor | DescriptorTensor, name: str) -> dict[str, Blocks] | str:
    """The checks of a descriptor, or of all of a fragment, as operand A and as operand B; or why there are none."""
    first = obj.first if isinstance(obj, DescriptorTensor) else obj
    if first.kind != "GMMA":
        return "tcgen05.mma needs a device of compute capability 10.0"
    element = element_of(str(first.tensor.pointer.type))
    if element is None or element.name not in RESULTS:
        return f"no wgmma reads elements of {first.tensor.pointer.element}"
    if first.major == "MN" and element.bits != 16:
        return f"wgmma reads {element.name} only K-major"
    mn = product(modes(first.tensor.layout.shape)[0])
    if mn != ROWS:
        return f"{mn} rows are tried as {ROWS}: give a tile of {ROWS} rows"
    return {operand: Blocks(obj, first, element.name, operand, entry_name(f"descriptor_{operand}", name)) for operand in "AB"}


def whole(fragment: DescriptorTensor) -> Layout:
    """(row, k) -> element of shared memory, of the first stage; k goes through the k-blocks."""
    shape, stride = modes(fragment.tensor.layout.shape), modes(fragment.tensor.layout.stride)
    (mn, k), (mn_step, k_step) = modes(shape[0]), modes(stride[0])
    return Layout((mn, (k, shape[2])), (mn_step, (k_step, stride[2])))


def starts(fragment: DescriptorTensor) -> list[int]:
    """Where the descriptor of each k-block begins, in 16 bytes from that of the first."""
    shape = modes(fragment.blocks.shape)
    return [int(fragment.blocks(0, 0, k, *[0] * (len(shape) - 3))) for k in range(product(shape[2]))]


def image(tensor: Tensor, layout: Layout, patterns: Array, start: int = 0) -> bytes:
    """Shared memory from a 1024-byte line on, in which a tile [row, k] of patterns lies from `start` on as its layout says."""
    bits, swizzle = tensor.bits, tensor.pointer.swizzle
    places = []
    for offset in offsets(layout):  # column by column: row, then k
        byte = start + offset * bits // 8
        places.append((swizzle(byte) if swizzle else byte) * 8 // bits + offset % max(1, 8 // bits))
    memory = np.zeros(-(-(max(places) + 1) * bits // (8 * ATOM)) * 8 * ATOM // bits, UNSIGNED[max(bits, 8)])
    memory[places] = patterns.T.reshape(-1)
    return (memory[0::2] | memory[1::2] << 4 if bits == 4 else memory).tobytes()


@dataclass(frozen=True, slots=True)
class Blocks:
    """The launches of one operand and their judgement: a launch a k-block, and one whose memory has two rows exchanged."""

    obj: SmemDescriptor | DescriptorTensor
    first: SmemDescriptor
    kind: str
    operand: str
    entry: str

    @property
    def made(self) -> Wgmma:
        """The instruction: N = 64, the operand in its own major, the other K-major."""
        element = ELEMENTS[self.kind]
        turned = int(self.first.major == "MN")
        majors = (turned, 0) if self.operand == "A" else (0, turned)
        return Wgmma(element, element, ELEMENTS[RESULTS[self.kind]], ROWS, transposed=majors)

    @property
    def layout(self) -> Layout:
        """(row, k) -> element of shared memory."""
        out: Layout = self.obj.tensor.layout if isinstance(self.obj, SmemDescriptor) else whole(self.obj)
        return out

    @property
    def starts(self) -> list[int]:
        """Where the descriptor of each k-block begins, in bytes from that of the first."""
        return [0] if isinstance(self.obj, SmemDescriptor) else [UNIT * start for start in starts(self.obj)]

    def kernel(self) -> Kernel:
        """The kernel of the instruction."""
        return self.made.kernel(self.entry)

    def numbers(self) -> tuple[Array, Array]:
        """The tile [row, k] of the operand, and that of the other one [row, k of a block]: the same in every run."""
        random = np.random.default_rng(64)
        depth = product(modes(self.layout.shape)[1])
        return random.integers(0, LARGEST + 1, (ROWS, depth)), random.integers(0, LARGEST + 1, (ROWS, self.made.k))

    def launches(self) -> tuple[KernelRun, ...]:
        """A launch a k-block, and the control."""
        tile, other = self.numbers()
        swapped = tile.copy()
        swapped[[0, 9]] = swapped[[9, 0]]
        plain = plain_tile(encode(other, self.kind)[None], self.first.bits)
        return (*(self._launch(tile, start, plain) for start in self.starts), self._launch(swapped, 0, plain))

    def _launch(self, tile: Array, start: int, plain: bytes) -> KernelRun:
        """The product through the descriptor that begins so many bytes on: whole lines in front of it are left out."""
        inside = self.first.tensor.address % ATOM
        begin = inside + start
        cut = begin - begin % ATOM
        data = image(self.first.tensor, self.layout, encode(tile, self.kind), inside)[cut:]
        described = self.first.desc & ~0x3FFF | (begin - cut) // UNIT
        operands = [(data, described), (plain, PLAIN)]
        (a, desc_a), (b, desc_b) = operands if self.operand == "A" else operands[::-1]
        return self.made.launch(self.entry, a, b, (1, 1), (desc_a, desc_b))

    def judge(self, outputs: Outputs) -> Outcome:
        """Every sum of every k-block against the exact product."""
        tile, other = self.numbers()
        blocks = [tile[:, n * self.made.k : (n + 1) * self.made.k] for n in range(len(self.starts))]
        right = [block @ other.T if self.operand == "A" else other @ block.T for block in blocks]
        got = np.zeros((len(outputs), ROWS, ROWS), np.int64)
        for n, (data,) in enumerate(outputs):
            values = self.made.values(data)[0]
            got[n][accumulator(values.shape[1])] = values
        sheets = [sheet(f"C of k-block {n}", (ROWS, ROWS), drawn, got[n]) for n, drawn in enumerate(right)]
        return Outcome(tuple(sheets), bool((got[-1] != right[0]).any()), {"sums": ROWS * ROWS * len(blocks)})


LANES, THREADS = 32, 32  # of the one warp that runs tcgen05.ld or tcgen05.st
STEP = 32  # bytes that tell of one asynchronous instruction


def tmem_job(op: CopyOp, name: str) -> Lanes | Rows | str:
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
