"""Matrix instructions on registers: the instruction of an atom's name (PTX ISA, "mma"), and the kernel of one warp a block."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cute_viz.algebra.mma import MMA_Atom
from cute_viz.check.elements import Element, element_of
from cute_viz.check.job import Kernel

WARP = 32


@dataclass(frozen=True, slots=True)
class Instruction:
    """A matrix instruction on registers: its PTX opcode, the types of A, B and C, and what it needs.

    xor: the multiplication of bits is an exclusive or, so that a 1 in A counts where B has a 0.
    """

    opcode: str
    a: Element
    b: Element
    c: Element
    version: tuple[int, int]
    target: int
    xor: bool = False

    def registers(self, operand: str, values: int) -> int:
        """How many registers hold so many values of operand "a", "b" or "c"."""
        element: Element = getattr(self, operand)
        return -(-values * element.bits // element.register)


def instruction(atom: MMA_Atom) -> Instruction | str:
    """The instruction that an atom's name stands for (PTX ISA, "mma"); or the reason why none does.

    >>> from cute_viz.spec.library import resolve
    >>> instruction(resolve("SM80_16x8x16_F32BF16BF16F32_TN")).opcode
    'mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32'
    """
    op = atom.instruction
    kinds = [found for kind in atom.types if (found := element_of(kind)) is not None]
    if op.kind == "dp4a":
        return Instruction(op.opcode, kinds[0], kinds[1], kinds[2], (7, 0), 61)
    if op.kind == "dp2a":
        return "CuTe writes dp2a without .lo or .hi, which PTX does not have"
    if op.name == "UniversalFMA":
        if len(set(atom.types)) > 1 or not kinds or kinds[0].name not in ("f32", "f64"):
            return f"no kernel for fma of {', '.join(atom.types)}"
        return Instruction(f"fma.rn.{kinds[0].name}", kinds[0], kinds[0], kinds[0], (7, 0), 70)
    arch = int(re.sub(r"\D", "", op.arch) or 0)
    if op.kind != "mma" and arch < 100:
        return f"no kernel for {op.name or 'an atom without a name'}"
    if any(kind.endswith("c64") for kind in atom.types):
        return "complex numbers: CuTe builds this from the F64 instruction of the same shape"
    if arch >= 100 or len(kinds) != 4:
        return f"needs an instruction of sm_{arch}"
    version = {89: (8, 7) if kinds[2].name == "f16" else (8, 4), 90: (7, 8)}.get(arch, (7, 1))
    return Instruction(op.opcode, kinds[0], kinds[1], kinds[2], version, arch, "xorpopc" in op.words)


def kernel(made: Instruction, entry: str, values: tuple[int, int, int]) -> Kernel:
    """The kernel (A, B, C, D) of one warp a block: A and D by blockIdx.x, B and D by blockIdx.y, C the same for all.

    values: of A, B and C in a thread. Registers lie lane by lane.

    >>> from cute_viz.spec.library import resolve
    >>> "mma.sync.aligned.m16n8k8" in kernel(instruction(resolve("SM80_16x8x8_F16F16F16F16_TN")), "k", (4, 2, 4)).body
    True
    """
    counts = [made.registers(x, n) for x, n in zip("abc", values, strict=True)]
    widths = [made.a.register, made.b.register, made.c.register]
    lists = ["{" + ",".join(f"%{x}{j}" for j in range(n)) + "}" for x, n in zip("abcd", [*counts, counts[2]], strict=True)]
    if not made.opcode.startswith("mma"):
        lists = [text.strip("{}") for text in lists]
    declared = "\n".join(
        f".reg .b{width} %{x}<{n}>;" for x, n, width in zip("abcd", [*counts, counts[2]], [*widths, widths[2]], strict=True)
    )
    loads = "\n".join(
        _move("ld", x, place, n, width) for x, place, n, width in zip("abc", ("%i", "%p", "0"), counts, widths, strict=True)
    )
    body = f"""// {made.opcode}
.visible .entry {entry}(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)
{{
.reg .b32 %lane, %i, %p, %g, %k;
.reg .b64 %at, %by;
{declared}
mov.u32 %lane, %tid.x; mov.u32 %i, %ctaid.x; mov.u32 %p, %ctaid.y; mov.u32 %g, %nctaid.x;
{loads}
{made.opcode} {lists[3]}, {lists[0]}, {lists[1]}, {lists[2]};
mad.lo.u32 %p, %p, %g, %i;
{_move("st", "d", "%p", counts[2], widths[2])}
ret;
}}"""
    return Kernel(entry, body, made.version, made.target)


def _move(which: str, operand: str, block: str, count: int, width: int) -> str:
    """Load or store the registers of one operand."""
    lines = [
        f"mad.lo.u32 %k, {block}, {WARP}, %lane; mul.wide.u32 %by, %k, {count * width // 8};",
        f"ld.param.u64 %at, [{operand}]; add.u64 %at, %at, %by;",
    ]
    for j in range(count):
        register, place = f"%{operand}{j}", f"[%at+{j * width // 8}]"
        lines.append(f"ld.global.b{width} {register}, {place};" if which == "ld" else f"st.global.b{width} {place}, {register};")
    return "\n".join(lines)
