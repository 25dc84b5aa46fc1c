"""Descriptors that we compute, as the hardware takes them: wgmma multiplies a tile through each one, and the product must be exact.

The tile is put into shared memory as its layout says, swizzle included; the other operand is a plain tile that other checks have
decided. Each k-block of a fragment is multiplied through its own descriptor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cute_viz.algebra.descriptor import UNIT, DescriptorTensor, SmemDescriptor
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor
from cute_viz.check.elements import ELEMENTS, UNSIGNED, element_of, encode
from cute_viz.check.job import Array, Kernel, KernelRun, Outcome, Outputs, entry_name, sheet
from cute_viz.check.wgmma_ptx import PLAIN, Wgmma, accumulator, plain_tile

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
