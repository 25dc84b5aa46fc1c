"""tcgen05.mma with the descriptors and tensor memory that we compute: products must be exact, at the drawn lanes and columns.

Needs a device of compute capability 10.0; the kernels assemble for sm_100a (PTX ISA, "tcgen05.mma", "tcgen05.commit").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from cute_viz.algebra.descriptor import DescriptorTensor
from cute_viz.algebra.instruction import make_instr_desc
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.mma import TiledMMA
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tmem import fragments_of, make_fragment, place
from cute_viz.algebra.umma import home, majors
from cute_viz.algebra.with_operands import MmaOperands
from cute_viz.check.elements import UNSIGNED, decode, element_of, encode
from cute_viz.check.job import Check, In, Item, Kernel, Launch, Out, Outcome, Sheet, Undecided, Word, entry_name
from cute_viz.check.wgmma_ptx import B_AT, GROUP, SHARED, described, fill
from cute_viz.notation import parse
from cute_viz.spec.library import resolve

LANES = 128
LARGEST = 3  # elements are 0 to 3, so that every sum is exact
KINDS = {"F16BF16": "f16", "TF32": "tf32", "F8F6F4": "f8f6f4", "S8": "i8"}


def checks(obj: MmaOperands, name: str) -> list[Item]:
    """The check of an MMA with both operands in shared memory: one CTA, its k-blocks one after the other.

    >>> item = checks(next(subjects())[1], "x")[0]
    >>> item.kind, item.kernel.target, item.kernel.exact
    ('tcgen05.mma', 100, True)
    """
    atom = obj.mma.atom
    if not atom.name.startswith("SM100_MMA_"):
        return [Undecided("tcgen05.mma", name, "the operands of wgmma have checks of their own")]
    kind = atom.name.removeprefix("SM100_MMA_").partition("_")[0]
    both = isinstance(obj.a, DescriptorTensor) and isinstance(obj.b, DescriptorTensor)
    if kind not in KINDS or fragments_of(atom.name).sms > 1 or home(atom.name, "A") != "smem" or "SPARSE" in atom.name or not both:
        return [Undecided("tcgen05.mma", name, "only dense MMAs of one CTA, with A and B in shared memory, are tried")]
    if any(element_of(word) is None for word in atom.types[:3]):
        return [Undecided("tcgen05.mma", name, f"elements of {', '.join(atom.types[:2])} are not tried")]
    job = Job(obj, KINDS[kind], entry_name("umma", name))
    if any(len(set(job.moves(x))) > 1 for x in "AB"):
        return [Undecided("tcgen05.mma", name, "the k-blocks are not equally far apart: give a tile of one swizzle atom")]
    return [Check("tcgen05.mma", name, job.kernel(), job.launches, job.judge)]


@dataclass(frozen=True, slots=True)
class Job:
    """One launch, and one whose A has two rows exchanged, and their judgement."""

    obj: MmaOperands
    kind: str
    entry: str

    @property
    def mma(self) -> TiledMMA:
        """The MMA."""
        return self.obj.mma

    @property
    def extents(self) -> tuple[int, int]:
        """M and N."""
        m, n, _ = (product(mode) for mode in self.mma.atom.shape_mnk)
        return m, n

    def described(self, operand: str) -> DescriptorTensor:
        """The descriptors of an operand."""
        found = {"A": self.obj.a, "B": self.obj.b}[operand]
        assert isinstance(found, DescriptorTensor)
        return found

    def layout(self, operand: str) -> Layout:
        """(row, k) -> element of shared memory, through the k-blocks of the first stage."""
        whole = self.described(operand).tensor.layout
        shape, stride = modes(whole.shape), modes(whole.stride)
        (mn, k), (mn_step, k_step) = modes(shape[0]), modes(stride[0])
        return Layout((mn, (k, shape[2])), (mn_step, (k_step, stride[2])))

    def kernel(self) -> Kernel:
        """The kernel (a, b, d, desc_a, desc_b, na, nb, idesc, steps, a_move, b_move) of one CTA of 128 threads.

        d: each lane's columns. desc: the descriptors less their start; move: how far the next k-block's start, 16 bytes each.
        """
        _, n = self.extents
        taken = max(32, 1 << (n - 1).bit_length())
        read = "\n".join(
            f"add.u32 %z, %m, {c}; tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%y}}, [%z]; tcgen05.wait::ld.sync.aligned; "
            f"st.global.b32 [%q+{4 * c}], %y;"
            for c in range(n)
        )
        return Kernel(
            self.entry,
            f""".extern .shared .align 1024 .b8 {self.entry}_smem[];
.visible .entry {self.entry}(.param .u64 a, .param .u64 b, .param .u64 d, .param .u64 desc_a, .param .u64 desc_b,
 .param .u32 na, .param .u32 nb, .param .u32 idesc, .param .u32 steps, .param .u32 a_move, .param .u32 b_move)
{{
.shared .align 8 .b64 barrier;
.shared .align 16 .b32 where;
.reg .pred %p, %more;
.reg .b32 %t, %i, %k, %m, %n, %s, %x, %y, %z, %w, %d;
.reg .b64 %by, %pa, %pb, %q, %w0, %w1, %ma, %mb;
mov.u32 %t, %tid.x; mov.u32 %i, 0; mov.u32 %s, {self.entry}_smem; mov.u32 %w, barrier;
add.u32 %s, %s, 1023; and.b32 %s, %s, 0xFFFFFC00;
{fill("A", "a", "%i", "na", 0)}
{fill("B", "b", "%i", "nb", B_AT)}
setp.ge.u32 %p, %t, 32; @%p bra PLACED;
mov.u32 %x, where;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%x], {taken};
tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
setp.ne.u32 %p, %t, 0; @%p bra PLACED;
mbarrier.init.shared::cta.b64 [%w], 1;
PLACED: fence.proxy.async.shared::cta; tcgen05.fence::before_thread_sync;
bar.sync 0; tcgen05.fence::after_thread_sync; ld.shared.b32 %m, [where];
setp.ne.u32 %p, %t, 0; @%p bra WAIT;
{described("%pa", "desc_a", 0)}
{described("%pb", "desc_b", B_AT)}
ld.param.u32 %n, [steps]; ld.param.u32 %d, [idesc]; ld.param.u32 %x, [a_move]; cvt.u64.u32 %ma, %x;
ld.param.u32 %x, [b_move]; cvt.u64.u32 %mb, %x; mov.u32 %x, 0; setp.ne.u32 %more, %x, 0; // the first replaces what was there
AGAIN: tcgen05.mma.cta_group::1.kind::{self.kind} [%m], %pa, %pb, %d, %more;
setp.eq.u32 %more, %x, 0; add.u64 %pa, %pa, %ma; add.u64 %pb, %pb, %mb;
sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra AGAIN;
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%w];
WAIT: mov.u32 %x, 0;
POLL: mbarrier.try_wait.parity.shared::cta.b64 %p, [%w], 0; @%p bra DONE;
add.u32 %x, %x, 1; setp.lt.u32 %p, %x, 1000000; @%p bra POLL;
DONE: bar.sync 0; tcgen05.fence::after_thread_sync;
shr.u32 %x, %t, 5; shl.b32 %x, %x, 21; add.u32 %m, %m, %x; // a warp reaches its own 32 lanes
mul.wide.u32 %by, %t, {4 * n}; ld.param.u64 %q, [d]; add.u64 %q, %q, %by;
{read}
bar.sync 0; setp.ge.u32 %p, %t, 32; @%p bra END;
ld.shared.b32 %m, [where]; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %m, {taken};
END: ret;
}}""",
            (8, 6),
            100,
            exact=True,
        )

    def tile(self, operand: str) -> Any:
        """The numbers of an operand [row, k]: the same in every run."""
        rows, depth = (product(mode) for mode in modes(self.layout(operand).shape))
        return np.random.default_rng(100 + "AB".index(operand)).integers(0, LARGEST + 1, (rows, depth))

    def image(self, operand: str, tile: Any) -> bytes:
        """Shared memory from a 1024-byte line on, holding the operand as its layout says."""
        first = self.described(operand).first
        kind = element_of(first.tensor.pointer.type)
        assert kind is not None
        bits, swizzle = first.bits, first.tensor.pointer.swizzle
        at = [offset * bits // 8 for offset in offsets(self.layout(operand))]
        places = [(swizzle(byte) if swizzle else byte) * 8 // bits for byte in at]
        memory = np.zeros(-(-(max(places) + 1) * bits // 8192) * 8192 // bits, UNSIGNED[bits])
        memory[places] = encode(tile, kind.name).T.reshape(-1)
        return memory.tobytes()

    def launches(self) -> tuple[Launch, ...]:
        """The product, and the control."""
        swapped = self.tile("A").copy()
        swapped[[0, 9]] = swapped[[9, 0]]
        return self._launch(self.tile("A")), self._launch(swapped)

    def _launch(self, tile: Any) -> Launch:
        atom, (m, n) = self.mma.atom, self.extents
        told = make_instr_desc(*atom.types[:3], m, n, *majors(atom.name)).desc
        a, b = self.image("A", tile), self.image("B", self.tile("B"))
        descs, moves = [], []
        for operand in "AB":
            descs.append(Word(self.described(operand).first.desc & ~0x3FFF, 8))
            moves.append(Word((self.moves(operand) or [0])[0]))
        words = (*descs, Word(len(a) // 16), Word(len(b) // 16), Word(told), Word(self.steps), *moves)
        return Launch(self.entry, (1, 1, 1), GROUP, (In(a), In(b), Out(LANES * n * 4), *words), SHARED)

    def moves(self, operand: str) -> list[int]:
        """How far each k-block's descriptor starts behind the one before, in units of 16 bytes."""
        fragment = self.described(operand).layout
        rest = [0] * (len(modes(fragment.shape)) - 3)
        starts = [int(fragment(0, 0, k, *rest)) for k in range(product(modes(fragment.shape)[2]))]
        return [b - a for a, b in pairwise(starts)]

    @property
    def steps(self) -> int:
        """How many k-blocks there are."""
        return product(modes(self.described("A").layout.shape)[2])

    def right(self) -> tuple[Any, Any]:
        """[lane, column] of what is drawn of the accumulator, and where it holds an element."""
        m, n = self.extents
        kind = self.mma.atom.types[2]
        fragment = make_fragment(self.mma.atom.name, "C", kind, ((m, n), 1, 1))
        total = self.tile("A") @ self.tile("B").T
        out, held = np.zeros((LANES, n), np.int64), np.zeros((LANES, n), bool)
        for element, value in enumerate(offsets(fragment.layout)):
            where = place(value, fragment.bits)
            out[where.lane, where.column], held[where.lane, where.column] = total[element % m, element // m], True
        return out, held

    def judge(self, outputs: Sequence[Sequence[bytes]]) -> Outcome:
        """Every accumulator in tensor memory against the exact product at its drawn place."""
        right, held = self.right()
        kind = element_of(self.mma.atom.types[2])
        assert kind is not None
        seen, wrong = (self._decoded(data[0], kind.name, right.shape) for data in outputs)
        words = [tuple(str(x) if ok else "" for x, ok in zip(t.flat, held.flat, strict=True)) for t in (right, seen)]
        same = tuple(bool(a == b) if ok else None for a, b, ok in zip(right.flat, seen.flat, held.flat, strict=True))
        rows, cols = right.shape
        sheet = Sheet("tensor memory", rows, cols, tuple(words[0]), tuple(words[1]), same)
        return Outcome((sheet,), bool((wrong != right)[held].any()), {"accumulators": int(held.sum())})

    def _decoded(self, data: bytes, kind: str, shape: tuple[int, ...]) -> Any:
        """The columns as integers; of f16 the low half of a word."""
        raw = np.frombuffer(data, np.uint32).reshape(shape)
        values = decode(raw & 0xFFFF if kind == "f16" else raw, kind)
        return np.nan_to_num(values, nan=-1, posinf=-1, neginf=-1).astype(np.int64)


def subjects() -> Iterator[tuple[str, Any]]:
    """(name, MMA with operands) of every kind, M of 64 and 128, and swizzle of both majors.

    >>> next(subjects())[0]
    'tcgen05.mma F16BF16 of half_t, 128 x 64, K-major SW128'
    """
    deep = {"SW128": 64, "SW64": 32, "SW32": 16, "INTER": 64}
    cases = [("F16BF16", "half_t", "float", 128, 64, "K", mode, depth) for mode, depth in deep.items()]
    cases += [("F16BF16", "half_t", "float", 128, 64, "MN", mode, 64) for mode in deep]
    cases += [
        ("F16BF16", "bfloat16_t", "float", 64, 128, "K", "SW128", 64),
        ("TF32", "tfloat32_t", "float", 128, 64, "K", "SW128", 32),
        ("F8F6F4", "float_e4m3_t", "float", 128, 256, "K", "SW128", 128),
        ("S8", "int8_t", "int32_t", 128, 64, "K", "SW128", 128),
    ]
    for kind, element, result, m, n, major, mode, depth in cases:
        name = f"SM100_MMA_{kind}_SS<{element},{element},{result},{m},{n},UMMA::Major::{major},UMMA::Major::{major}>"
        text = f"mma = {name}{{}}; "
        for operand, extent in (("A", m), ("B", n)):
            shape = f"partition_shape_{operand}(mma, ({extent},{depth}))"
            atom = f"UMMA::Layout_{major}_{mode}_Atom<{element}>{{}}"
            text += f"s{operand} = make_tensor(make_smem_ptr<{element}>(0), tile_to_mma_shape({atom}, {shape})); "
        what = f"tcgen05.mma {kind} of {element}, {m} x {n}, {major}-major {mode}"
        yield what, parse(f"{text}mma_operands(mma, sA, sB)", resolve=resolve)
