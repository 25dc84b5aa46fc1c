"""wgmma: the instruction of an atom's name, dense or sparse, its kernel and launches, its operands, its accumulator.

PTX ISA, "wgmma.mma_async", "wgmma.mma_async.sp".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.mma import MMA_Atom
from cute_viz.check.elements import ElementType, element_of, integers, pack, unpack
from cute_viz.check.job import Array, In, Kernel, KernelRun, Out, Scalar, kernel, registers

GROUP = 128  # threads of a warp group
B_AT = 32 << 10  # where B begins in shared memory
SHARED = B_AT + (34 << 10)
STEP = 32  # bytes of K in one instruction, as A holds it


def descriptor(swizzle: int, leading: int, stride: int) -> int:
    """A matrix descriptor less its start address (PTX ISA, "Matrix Descriptor"): offsets in bytes, swizzle 0..3 for none..128B."""
    return -swizzle % 4 << 62 | stride >> 4 << 32 | leading >> 4 << 16


PLAIN = descriptor(0, 128, 256)  # of plain_tile: the next 16 bytes of K are 128 bytes on, the next 8 rows 256
DENSE = descriptor(0, 128, 512)  # of rows of 64 bytes, which B of a sparse product has


@dataclass(frozen=True, slots=True)
class Wgmma:
    """A wgmma instruction: its types, N, whether A is in registers, and the majors that its operands have.

    group: of a sparse one, the elements of a row of A that one nibble of metadata is for, half of which A holds; 0 of a dense one.
    selectors: how many threads hold the same nibble, of which the sparsity selector asks one.
    """

    a: ElementType
    b: ElementType
    c: ElementType
    n: int
    registers: bool = False
    saturate: bool = False
    transposed: tuple[int, int] = (0, 0)
    group: int = 0
    selectors: int = 1

    @property
    def held(self) -> int:
        """The elements of a row that A holds."""
        return STEP * 8 // self.a.bits

    @property
    def k(self) -> int:
        """K of one instruction."""
        return 2 * self.held if self.group else self.held

    @property
    def results(self) -> int:
        """Registers of the accumulator in a thread."""
        return self.n * self.c.bits // 64

    @property
    def base(self) -> int:
        """Of the digits in which a probe writes numbers: each is exact in both operands."""
        return min(128, self.a.exact, self.b.exact)

    def digits(self, numbers: Array) -> Array:
        """The numbers digit by digit [digit, ...], each digit exact in both operands' types."""
        base, largest, out = self.base, int(numbers.max()), []
        while largest:
            out.append(numbers % base)
            numbers, largest = numbers // base, largest // base
        return np.stack(out)

    def number(self, digits: Any) -> Any:
        """The numbers that `digits` took apart."""
        return sum(digit * self.base**p for p, digit in enumerate(digits))

    def text(self, selector: int = 0) -> str:
        """The instruction; the accumulators are added to."""
        kinds = f"{self.c.name}.{self.a.name}.{self.b.name}"
        stem = "wgmma.mma_async.sp" if self.group else "wgmma.mma_async"
        name = f"{stem}.sync.aligned.m64n{self.n}k{self.k}.{kinds}{'.satfinite' if self.saturate else ''}"
        a = registers("r", 4) if self.registers else "%pa"
        majors = self.transposed[self.registers :] if self.a.bits == 16 else ()
        tail = "" if self.a.whole else ", 1, 1" + "".join(f", {t}" for t in majors)
        return f"{name} {registers('d', self.results)}, {a}, %pb{f', %e, {selector}' if self.group else ''}, 1{tail};"

    def kernel(self, entry: str) -> Kernel:
        """The kernel (a, b, d, desc_a, desc_b, na, nb, steps, b_move) of one warp group a block; a sparse one's: kernels/wgmma.ptx.

        a: for each blockIdx.x the 16-byte pieces (na) of the A tile, or each thread's 4 registers. b: for each blockIdx.y the
        pieces (nb) of the B tile. d: each thread's accumulators, blocks x fastest. desc: the descriptors less their start address.
        steps: instructions along K, A 32 bytes further each, B b_move bytes. Of a sparse one, e: each thread's metadata, the same
        in all blocks.
        """
        version = "8.4" if self.a.name != self.b.name else "8.2" if self.group else "8.0"
        issues = {"issue": self.text(), "higher": self.text(1) if self.selectors > 1 else ""}
        form = {"results": self.results, "registers": self.registers, "sparse": bool(self.group), "b_at": B_AT}
        return kernel("wgmma.ptx", entry, f"{version} 90a", **issues, **form)

    def launch(
        self,
        entry: str,
        a: bytes,
        b: bytes,
        blocks: tuple[int, int],
        descs: tuple[int, int] = (PLAIN, PLAIN),
        metadata: bytes = b"",
        tail: tuple[int, ...] = (1, 0),
    ) -> KernelRun:
        """Block (x, y) multiplies A tile x, or the registers x, with B tile y. tail: steps and b_move; the selector."""
        counts = (len(a) // 16 // blocks[0], len(b) // 16 // blocks[1], *tail)
        words = [*(Scalar(desc, 8) for desc in descs), *map(Scalar, counts)]
        out = Out(blocks[0] * blocks[1] * GROUP * self.results * 4)
        told = [In(metadata)] if metadata else []
        return KernelRun(entry, (*blocks, 1), GROUP, (In(a), In(b), *told, out, *words), SHARED)

    def values(self, data: bytes) -> Any:
        """[block, thread, value]: the accumulators that came back, as integers; -1 for what is none."""
        return integers(unpack(np.frombuffer(data, np.uint32).reshape(-1, GROUP, self.results), self.c.bits), self.c.name)


def instruction(atom: MMA_Atom, group: int = 0, selectors: int = 1) -> Wgmma | str:
    """The instruction that an atom's name stands for, or the reason why none is probed. group, selectors: of a sparse one."""
    op, known = atom.instruction, [element_of(kind) for kind in atom.types[:3]]
    a, b, c = known if len(known) == 3 else (None, None, None)
    if op.kind != "wgmma" or a is None or b is None or c is None:
        return f"no kernel for {atom.name or 'an atom without a name'}"
    if "MN" in op.majors or "Neg" in op.arguments.values():
        which = "of a sparse atom is not probed" if op.sparse > 1 else "of an atom is not probed here"
        return f"a transposed or negated operand {which}; the checks of GMMA layouts decide the majors"
    return Wgmma(a, b, c, op.shape[1], op.home("A") == "rmem", "saturate" in op.words, group=group, selectors=selectors)


def plain_tile(elements: Array, bits: int) -> bytes:
    """Tiles [tile, row, k] of 32 or 64 bytes a row as core matrices of 8 rows x 16 bytes, K-major without a swizzle."""
    packed = pack(elements, bits).astype(np.uint32)
    tiles, rows, words = packed.shape
    cores = packed.reshape(tiles, rows // 8, 8, words // 4, 4).transpose(0, 1, 3, 2, 4)
    return np.ascontiguousarray(cores).tobytes()


def accumulator(values: int) -> tuple[Array, Array]:
    """[thread, value] -> row and column of an accumulator of so many values a thread (PTX ISA, "wgmma D fragment")."""
    t, v = np.meshgrid(np.arange(GROUP), np.arange(values), indexing="ij")
    return t // 32 * 16 + t % 32 // 4 + v // 2 % 2 * 8, t % 4 * 2 + v % 2 + v // 4 * 8
