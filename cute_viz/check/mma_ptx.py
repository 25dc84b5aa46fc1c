"""Matrix instructions on registers: the instruction of an atom's name (PTX ISA, "mma"), and the kernel of one warp a block."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cute_viz.algebra.mma import MMA_Atom
from cute_viz.check.elements import ELEMENTS, Element, element_of
from cute_viz.check.job import Kernel
from cute_viz.check.kernels import kernel

WARP = 32


@dataclass(frozen=True, slots=True)
class Instruction:
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


def instruction(atom: MMA_Atom) -> Instruction | str:
    """The instruction that an atom's name stands for (PTX ISA, "mma"); or the reason why none does.

    >>> from cute_viz.spec.library import resolve
    >>> instruction(resolve("SM80_16x8x16_F32BF16BF16F32_TN")).opcode
    'mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32'
    """
    name = atom.name.partition("<")[0]
    kinds = [found for kind in atom.types if (found := element_of(kind)) is not None]
    if name == "SM61_DP4A":
        return Instruction("dp4a.s32.s32", ELEMENTS["s8"], ELEMENTS["s8"], ELEMENTS["s32"], "7.0 61")
    if name == "SM61_DP2A":
        return "CuTe writes dp2a without .lo or .hi, which PTX does not have"
    if name == "UniversalFMA":
        if len(set(atom.types)) > 1 or not kinds or kinds[0].name not in ("f32", "f64"):
            return f"no kernel for fma of {', '.join(atom.types)}"
        return Instruction(f"fma.rn.{kinds[0].name}", kinds[0], kinds[0], kinds[0], "7.0 70")
    match = re.fullmatch(r"SM(\d+)_(\d+)x(\d+)x(\d+)_\w+?_([TN])([TN])(_\w+)?", name)
    if match is None or len(atom.types) != 4:
        return f"no kernel for {name or 'an atom without a name'}"
    if any(kind.endswith("c64") for kind in atom.types):
        return "complex numbers: CuTe builds this from the F64 instruction of the same shape"
    arch = int(match[1])
    if arch >= 100 or len(kinds) != 4:
        return f"needs an instruction of sm_{arch}"
    a, b, c, _ = kinds
    majors = {"T": ("row", "row"), "N": ("col", "col")}
    layout = f"{majors[match[5]][0]}.{majors[match[6]][1]}"
    tail = match[7] or ""
    saturate = ".satfinite" if tail == "_SATURATE" else ""
    popc = {"_XORPOPC": ".xor.popc", "_ANDPOPC": ".and.popc"}.get(tail, "")
    shape = f"m{match[2]}n{match[3]}k{match[4]}"
    opcode = f"mma.sync.aligned.{shape}.{layout}{saturate}.{c.name}.{a.name}.{b.name}.{c.name}{popc}"
    version = {89: "8.7" if c.name == "f16" else "8.4", 90: "7.8"}.get(arch, "7.1")
    return Instruction(opcode, a, b, c, f"{version} {arch}", tail == "_XORPOPC")
