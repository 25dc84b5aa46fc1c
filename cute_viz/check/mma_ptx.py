"""Matrix instructions on registers: the instruction of an atom's name (PTX ISA, "mma"), and the kernel of one warp a block."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cute_viz.algebra.mma import MMA_Atom
from cute_viz.check.elements import Element, element_of
from cute_viz.check.job import Kernel
from cute_viz.check.kernels import kernel

WARP = 32


@dataclass(frozen=True, slots=True)
class WarpMma:
    """A matrix instruction on registers: its PTX opcode, the types of A, B and C, and the version and target that it needs.

    xor: the multiplication of bits is an exclusive or, so that a 1 in A counts where B has a 0.
    """

    opcode: str
    a: Element
    b: Element
    c: Element
    needs: str
    xor: bool = False

    def kernel(self, file: str, entry: str, values: tuple[int, ...], **holes: int) -> Kernel:
        """A kernel of the instruction; values: of A, B and C in a thread.

        kernels/mma.ptx (A, B, C, D): one warp a block, A and D by blockIdx.x, B and D by blockIdx.y, C the same for all.
        """
        for letter, element, count in zip("abc", (self.a, self.b, self.c), values, strict=True):
            holes[letter] = -(-count * element.bits // element.register)
            holes[f"{letter}_bytes"] = element.register // 8
        return kernel(file, entry, self.needs, opcode=self.opcode, braces=self.opcode.startswith("mma"), **holes)


def instruction(atom: MMA_Atom) -> WarpMma | str:
    """The instruction that an atom's name stands for (PTX ISA, "mma"); or the reason why none does.

    >>> from cute_viz.spec.library import resolve
    >>> instruction(resolve("SM80_16x8x16_F32BF16BF16F32_TN")).opcode
    'mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32'
    """
    op = atom.instruction
    kinds = [found for kind in atom.types if (found := element_of(kind)) is not None]
    if op.kind == "dp4a":
        return WarpMma(op.opcode, kinds[0], kinds[1], kinds[2], "7.0 61")
    if op.kind == "dp2a":
        return "CuTe writes dp2a without .lo or .hi, which PTX does not have"
    if op.name == "UniversalFMA":
        if len(set(atom.types)) > 1 or not kinds or kinds[0].name not in ("f32", "f64"):
            return f"no kernel for fma of {', '.join(atom.types)}"
        return WarpMma(f"fma.rn.{kinds[0].name}", kinds[0], kinds[0], kinds[0], "7.0 70")
    arch = int(re.sub(r"\D", "", op.arch) or 0)
    if op.kind != "mma" and arch < 100:
        return f"no kernel for {op.name or 'an atom without a name'}"
    if any(kind.endswith("c64") for kind in atom.types):
        return "complex numbers: CuTe builds this from the F64 instruction of the same shape"
    if arch >= 100 or len(kinds) != 4:
        return f"needs an instruction of sm_{arch}"
    version = {89: "8.7" if kinds[2].name == "f16" else "8.4", 90: "7.8"}.get(arch, "7.1")
    return WarpMma(op.opcode, kinds[0], kinds[1], kinds[2], f"{version} {arch}", "xorpopc" in op.words)
