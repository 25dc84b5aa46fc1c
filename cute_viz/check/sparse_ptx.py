"""Sparse wgmma as a kernel: one instruction with its metadata in a register of each thread (PTX ISA, "wgmma.mma_async.sp")."""

from __future__ import annotations

from dataclasses import dataclass

from cute_viz.algebra.mma import MMA_Atom
from cute_viz.check import wgmma_ptx
from cute_viz.check.job import Kernel
from cute_viz.check.wgmma_ptx import B_AT, Wgmma, accumulators, described, descriptor, fill, loaded

DENSE = descriptor(0, 128, 512)  # of rows of 64 bytes as plain core matrices: K goes on 128 bytes further, 8 rows 512


@dataclass(frozen=True, slots=True)
class SparseWgmma:
    """A sparse wgmma: the dense one of as many bytes of A, whose B is twice as deep.

    group: elements of a row of A that one nibble of metadata is for. kept: how many of them A holds. selectors: how many
    threads hold the same nibble, of which the sparsity selector asks one.
    """

    made: Wgmma
    group: int
    selectors: int

    @property
    def kept(self) -> int:
        """The elements of a group that A holds."""
        return self.group // 2

    @property
    def k(self) -> int:
        """K of one instruction, of B."""
        return 2 * self.made.k

    def text(self, accumulators: str, a: str, b: str, metadata: str, selector: int) -> str:
        """The instruction; the accumulators are added to."""
        return self.made.line("wgmma.mma_async.sp", self.k, f"{accumulators}, {a}, {b}, {metadata}, {selector}")


def instruction(atom: MMA_Atom, group: int, selectors: int) -> SparseWgmma | str:
    """The instruction that an atom's name stands for, or the reason why none does.

    >>> from cute_viz import parse
    >>> made = instruction(parse("GMMA_64x8x32_F32F16F16_SS"), 4, 2)
    >>> made.text("{d}", "a", "b", "e", 1)
    'wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {d}, a, b, e, 1, 1, 1, 1, 0, 0;'
    """
    made = wgmma_ptx.instruction(atom)
    return made if isinstance(made, str) else SparseWgmma(made, group, selectors)


def kernel(sparse: SparseWgmma, entry: str) -> Kernel:
    """The kernel (a, b, e, d, desc_a, desc_b, na, nb, selector) of one warp group a block.

    a: for each blockIdx.x the 16-byte pieces (na) of the A tile, or each thread's 4 registers. b: for each blockIdx.y the pieces
    (nb) of the B tile. e: each thread's metadata, the same in all blocks. d: each thread's accumulators, blocks x fastest.

    >>> from cute_viz import parse
    >>> kernel(instruction(parse("GMMA_64x8x64_S32S8S8_SS_TN"), 4, 1), "k").body.count("wgmma.mma_async.sp")
    1
    """
    made = sparse.made
    d, zero, store = accumulators(made)
    load_a, a = loaded(made)
    issue = sparse.text(d, a, "%pb", "%e", 0)
    if sparse.selectors > 1:
        issue = f"""ld.param.u32 %x, [selector]; setp.ne.u32 %p, %x, 0; @%p bra HIGHER;
{issue}
bra.uni ISSUED;
HIGHER:
{sparse.text(d, a, "%pb", "%e", 1)}
ISSUED:"""
    return Kernel(
        entry,
        f""".extern .shared .align 1024 .b8 {entry}_smem[];
.visible .entry {entry}(.param .u64 a, .param .u64 b, .param .u64 e, .param .u64 d, .param .u64 desc_a, .param .u64 desc_b,
 .param .u32 na, .param .u32 nb, .param .u32 selector)
{{
.reg .pred %p;
.reg .b32 %t, %i, %j, %g, %n, %s, %x, %k, %e, %r<4>, %d<{made.results}>;
.reg .b64 %by, %pa, %pb, %q, %w0, %w1;
mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mov.u32 %j, %ctaid.y; mov.u32 %g, %nctaid.x; mov.u32 %s, {entry}_smem;
add.u32 %s, %s, 1023; and.b32 %s, %s, 0xFFFFFC00;
{load_a}
{fill("B", "b", "%j", "nb", B_AT)}
mul.wide.u32 %by, %t, 4; ld.param.u64 %q, [e]; add.u64 %q, %q, %by; ld.global.b32 %e, [%q];
fence.proxy.async.shared::cta;
bar.sync 0;
{described("%pa", "desc_a", 0)}
{described("%pb", "desc_b", B_AT)}
{zero}
wgmma.fence.sync.aligned;
{issue}
{store}
ret;
}}""",
        (8, 2) if made.a.name == made.b.name else (8, 4),
        90,
        exact=True,
    )
