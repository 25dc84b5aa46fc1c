"""wgmma as a kernel: the instruction of an atom's name, its PTX, and its operands in shared memory (PTX ISA, "wgmma.mma_async")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.mma import MMA_Atom
from cute_viz.check.elements import Element, element_of, pack
from cute_viz.check.job import In, Kernel, Launch, Out, Word

GROUP = 128  # threads of a warp group
B_AT = 32 << 10  # where B begins in shared memory
SHARED = B_AT + (34 << 10)
STEP = 32  # bytes of K in one instruction


@dataclass(frozen=True, slots=True)
class Wgmma:
    """A wgmma instruction: its types, N, whether A is in registers, and the majors that its operands have."""

    a: Element
    b: Element
    c: Element
    n: int
    registers: bool = False
    saturate: bool = False
    transposed: tuple[int, int] = (0, 0)

    @property
    def k(self) -> int:
        """K of one instruction."""
        return STEP * 8 // self.a.bits

    @property
    def results(self) -> int:
        """Registers of the accumulator in a thread."""
        return self.n * self.c.bits // 64

    @property
    def base(self) -> int:
        """Of the digits in which a probe writes numbers: each is exact in both operands."""
        return min(128, self.a.exact, self.b.exact)

    def digits(self, numbers: Any) -> Any:
        """The numbers digit by digit [digit, ...], each digit exact in both operands' types."""
        base, largest, out = self.base, int(numbers.max()), []
        while largest:
            out.append(numbers % base)
            numbers, largest = numbers // base, largest // base
        return np.stack(out)

    def text(self, accumulators: str, a: str, b: str) -> str:
        """The instruction; the accumulators are added to."""
        return self.line("wgmma.mma_async", self.k, f"{accumulators}, {a}, {b}")

    def line(self, stem: str, k: int, operands: str) -> str:
        """The instruction of these types under a stem, `.sp` or not, with its K and its operands."""
        kinds = f"{self.c.name}.{self.a.name}.{self.b.name}"
        name = f"{stem}.sync.aligned.m64n{self.n}k{k}.{kinds}{'.satfinite' if self.saturate else ''}"
        majors = self.transposed[self.registers :] if self.a.bits == 16 else ()
        tail = "" if self.a.whole else ", 1, 1" + "".join(f", {t}" for t in majors)
        return f"{name} {operands}, 1{tail};"


def instruction(atom: MMA_Atom) -> Wgmma | str:
    """The instruction that an atom is, or the reason why none is probed.

    >>> from cute_viz.spec.library import resolve
    >>> instruction(resolve("SM90_64x8x16_F32F16F16_SS")).text("{d}", "a", "b")
    'wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d}, a, b, 1, 1, 1, 0, 0;'
    """
    op, known = atom.instruction, [element_of(kind) for kind in atom.types[:3]]
    a, b, c = known if len(known) == 3 else (None, None, None)
    if op.kind != "wgmma" or a is None or b is None or c is None:
        return f"no kernel for {atom.name or 'an atom without a name'}"
    if "MN" in op.majors or "Neg" in op.arguments.values():
        which = "of a sparse atom is not probed" if op.sparse > 1 else "of an atom is not probed here"
        return f"a transposed or negated operand {which}; the checks of GMMA layouts decide the majors"
    return Wgmma(a, b, c, op.shape[1], op.home("A") == "rmem", "saturate" in op.words)


def kernel(made: Wgmma, entry: str) -> Kernel:
    """The kernel (a, b, d, desc_a, desc_b, na, nb, steps, b_move) of one warp group a block.

    a: for each blockIdx.x the 16-byte pieces (na) of the A tile, or each thread's 4 registers. b: for each blockIdx.y the pieces
    (nb) of the B tile. d: each thread's accumulators, blocks x fastest. desc: the descriptors less their start address.
    steps: instructions along K, A 32 bytes further each, B b_move bytes.

    >>> from cute_viz.spec.library import resolve
    >>> kernel(instruction(resolve("SM90_64x8x16_F32F16F16_SS")), "k").exact
    True
    """
    d, zero, store = accumulators(made)
    load_a, a = loaded(made)
    return Kernel(
        entry,
        f""".extern .shared .align 1024 .b8 {entry}_smem[];
.visible .entry {entry}(.param .u64 a, .param .u64 b, .param .u64 d, .param .u64 desc_a, .param .u64 desc_b,
 .param .u32 na, .param .u32 nb, .param .u32 steps, .param .u32 b_move)
{{
.reg .pred %p;
.reg .b32 %t, %i, %j, %g, %n, %s, %x, %k, %r<4>, %d<{made.results}>;
.reg .b64 %by, %pa, %pb, %q, %w0, %w1;
mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mov.u32 %j, %ctaid.y; mov.u32 %g, %nctaid.x; mov.u32 %s, {entry}_smem;
add.u32 %s, %s, 1023; and.b32 %s, %s, 0xFFFFFC00; // swizzles act on address bits
{load_a}
{fill("B", "b", "%j", "nb", B_AT)}
fence.proxy.async.shared::cta;
bar.sync 0;
{described("%pa", "desc_a", 0)}
{described("%pb", "desc_b", B_AT)}
{zero}
ld.param.u32 %n, [steps];
wgmma.fence.sync.aligned;
AGAIN:
{made.text(d, a, "%pb")}
ld.param.u32 %x, [b_move]; shr.u32 %x, %x, 4; cvt.u64.u32 %q, %x;
add.u64 %pa, %pa, {STEP >> 4}; add.u64 %pb, %pb, %q;
sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra AGAIN;
{store}
ret;
}}""",
        (8, 0) if made.a.name == made.b.name else (8, 4),
        90,
        exact=True,
    )


def accumulators(made: Wgmma) -> tuple[str, str, str]:
    """The registers of the accumulator, PTX that clears them, and PTX that waits for the instruction and stores them to [d].

    >>> accumulators(Wgmma(element_of("f16"), element_of("f16"), element_of("f32"), 8))[0]
    '{%d0,%d1,%d2,%d3}'
    """
    names = [f"%d{j}" for j in range(made.results)]
    store = "\n".join(f"st.global.b32 [%q+{4 * j}], {name};" for j, name in enumerate(names))
    return (
        "{" + ",".join(names) + "}",
        "\n".join(f"mov.b32 {name}, 0;" for name in names),
        f"""wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
mad.lo.u32 %x, %j, %g, %i; mul.lo.u32 %x, %x, {GROUP}; add.u32 %x, %x, %t; mul.wide.u32 %by, %x, {4 * made.results};
ld.param.u64 %q, [d]; add.u64 %q, %q, %by;
{store}""",
    )


def loaded(made: Wgmma) -> tuple[str, str]:
    """PTX that brings A of a block to registers, or to shared memory, and the operand that it then is.

    >>> loaded(Wgmma(element_of("f16"), element_of("f16"), element_of("f32"), 8))[1]
    '%pa'
    """
    if not made.registers:
        return fill("A", "a", "%i", "na", 0), "%pa"
    four = "{%r0,%r1,%r2,%r3}"
    return (
        f"""mul.lo.u32 %x, %i, {GROUP}; add.u32 %x, %x, %t; mul.wide.u32 %by, %x, 16; ld.param.u64 %q, [a];
add.u64 %q, %q, %by; ld.global.v4.b32 {four}, [%q];""",
        four,
    )


def fill(label: str, operand: str, block: str, count: str, at: int) -> str:
    """PTX that copies a tile's 16-byte pieces into shared memory, with labels of its own.

    >>> fill("A", "a", "%i", "na", 0).splitlines()[-1]
    'FULL_A:'
    """
    return f"""ld.param.u32 %n, [{count}]; mul.lo.u32 %x, {block}, %n; mul.wide.u32 %by, %x, 16; ld.param.u64 %pa, [{operand}];
add.u64 %pa, %pa, %by; mov.u32 %k, %t;
FILL_{label}: setp.ge.u32 %p, %k, %n; @%p bra FULL_{label};
mul.wide.u32 %by, %k, 16; add.u64 %q, %pa, %by; ld.global.v2.b64 {{%w0,%w1}}, [%q];
mul.lo.u32 %x, %k, 16; add.u32 %x, %x, %s; st.shared.v2.b64 [%x+{at}], {{%w0,%w1}}; add.u32 %k, %k, {GROUP}; bra FILL_{label};
FULL_{label}:"""


def described(register: str, parameter: str, at: int) -> str:
    """PTX that makes a descriptor in a register: a parameter's bits, and where the tile begins.

    >>> described("%pa", "desc_a", 0).splitlines()[1]
    'ld.param.u64 %q, [desc_a]; or.b64 %pa, %pa, %q;'
    """
    return f"""add.u32 %x, %s, {at}; and.b32 %x, %x, 0x3FFFF; shr.u32 %x, %x, 4; cvt.u64.u32 {register}, %x;
ld.param.u64 %q, [{parameter}]; or.b64 {register}, {register}, %q;"""


def descriptor(swizzle: int, leading: int, stride: int) -> int:
    """A matrix descriptor less its start address (PTX ISA, "Matrix Descriptor"): offsets in bytes, swizzle 0..3 for none..128B.

    >>> hex(descriptor(3, 16, 1024))
    '0x4000004000010000'
    """
    mode = {0: 0, 1: 3, 2: 2, 3: 1}[swizzle]
    return mode << 62 | stride >> 4 << 32 | leading >> 4 << 16


def plain_tile(elements: Any, bits: int) -> bytes:
    """Tiles [tile, row, k] of 32 bytes a row as core matrices of 8 rows x 16 bytes, K-major without a swizzle.

    >>> rows = np.arange(8, dtype=np.uint64)[None, :, None] * np.ones((1, 1, 16), np.uint64)  # 8 rows of 16 elements
    >>> np.frombuffer(plain_tile(rows, 16), np.uint16)[::8].tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]
    """
    packed = pack(elements, bits).astype(np.uint32)
    tiles, rows, words = packed.shape
    cores = packed.reshape(tiles, rows // 8, 8, words // 4, 4).transpose(0, 1, 3, 2, 4)
    return np.ascontiguousarray(cores).tobytes()


PLAIN = descriptor(0, 128, 256)  # of plain_tile: the next 16 bytes of K are 128 bytes on, the next 8 rows 256


def launch(made: Wgmma, entry: str, a: bytes, b: bytes, blocks: tuple[int, int]) -> Launch:
    """The launch of one instruction a block: block (x, y) multiplies A tile x, or the registers x, with B tile y, all plain.

    >>> launch(Wgmma(element_of("f16"), element_of("f16"), element_of("f32"), 8), "k", bytes(2048), bytes(256), (1, 1)).grid
    (1, 1, 1)
    """
    words = (Word(PLAIN, 8), Word(PLAIN, 8), Word(64 * STEP // 16), Word(made.n * STEP // 16), Word(1), Word(0))
    out = Out(blocks[0] * blocks[1] * GROUP * made.results * 4)
    return Launch(entry, (*blocks, 1), GROUP, (In(a), In(b), out, *words), SHARED)
