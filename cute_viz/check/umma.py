"""tcgen05.mma with the descriptors and tensor memory that we compute: products must be exact, at the drawn lanes and columns.

Operands in shared or in tensor memory, one CTA or a pair, scale factors. Needs a device of compute capability 10.0; the kernels
assemble for sm_100a (PTX ISA, "tcgen05.mma", "tcgen05.commit").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.descriptor import DescriptorTensor
from cute_viz.algebra.instruction import make_instr_desc, make_instr_desc_block_scaled
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.mma import MMA_Atom
from cute_viz.algebra.scale_factors import deduce_smem_layout
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tmem import address, find_tmem_tensor_col_offset, make_fragment, make_fragment_sf, place
from cute_viz.algebra.umma import MmaOperands
from cute_viz.check.descriptors import image, issued, starts, step, whole
from cute_viz.check.elements import element_of, encode, integers
from cute_viz.check.job import Array, In, Kernel, KernelRun, Out, Outcome, Outputs, Scalar, entry_name, sheet
from cute_viz.check.wgmma_ptx import GROUP, SHARED
from cute_viz.values.types import named

LANES, COPIES = 128, 4  # of tensor memory; of each scale factor in it
LARGEST = 3  # elements are 0 to 3, so that every sum is exact
E2M1 = np.array([0, 2, 4, 5], np.uint8)  # 0 to 3 in 4 bits
KINDS = {"F16BF16": "f16", "TF32": "tf32", "F8F6F4": "f8f6f4", "S8": "i8", "MXF8F6F4": "mxf8f6f4.block_scale.scale_vec::1X"}
KINDS |= {"MXF4 32": "mxf4.block_scale.scale_vec::2X", "MXF4 16": "mxf4nvf4.block_scale.scale_vec::4X"}
POWERS = {"ue8m0": (127, 128), "ue4m3": (0x38, 0x40)}  # the scale factors 1 and 2


def job(obj: MmaOperands, name: str) -> UmmaRuns | str:
    """The check of an MMA with its operands: one CTA or a pair, the k-blocks one after the other."""
    atom = obj.mma.atom
    op = atom.instruction
    if op.kind != "tcgen05.mma":
        return "the operands of wgmma have checks of their own"
    if op.sparse > 1 or op.words & {"ultra", "interleaved"} or "scale_c" in op.arguments:
        return "sparse, interleaved and scaling MMAs are not checked"
    if not isinstance(obj.b, DescriptorTensor) or op.described("A") != isinstance(obj.a, DescriptorTensor):
        return "give the tiles of the operands that are in shared memory"
    vector, called = op.vector, op.name.split("_")[2]
    kind = KINDS.get(called) or KINDS.get(f"{called} {vector}")
    narrow = op.ctas == 2 and product(atom.shape_mnk[0]) == 128  # its scale factors of B stand in another order
    four = [(found := named(word)) is not None and found.short == "e2m1" for word in atom.types[:2]]
    other = any(element_of(word) is None for word in atom.types[:3]) and not all(four)
    if kind is None or other or (all(four) and called != "MXF4") or (vector and narrow):
        return f"{called} of {', '.join(atom.types[:2])} is not checked"
    return UmmaRuns(obj, kind, vector, entry_name("umma", name))


@dataclass(frozen=True, slots=True)
class UmmaRuns:
    """One launch, and one whose A has two rows exchanged, and their judgement."""

    obj: MmaOperands
    kind: str
    vector: int
    entry: str

    @property
    def atom(self) -> MMA_Atom:
        """The MMA's atom."""
        return self.obj.mma.atom

    @property
    def sms(self) -> int:
        """How many CTAs there are."""
        return self.atom.instruction.ctas

    @property
    def extents(self) -> tuple[int, int]:
        """M and N of all CTAs."""
        m, n, _ = (product(mode) for mode in self.atom.shape_mnk)
        return m, n

    @property
    def steps(self) -> int:
        """How many k-blocks there are."""
        found = self.given("B")
        assert found is not None
        return len(starts(found))

    def given(self, operand: str) -> DescriptorTensor | None:
        """Operand A or B, where shared memory holds it."""
        found = {"A": self.obj.a, "B": self.obj.b}[operand]
        return found if isinstance(found, DescriptorTensor) else None

    def accumulator(self) -> Tensor:
        """C of a CTA in tensor memory."""
        m, n = self.extents
        return make_fragment(self.atom.instruction, "C", self.atom.types[2], ((m // self.sms, n), 1, 1))

    def columns(self) -> int:
        """The columns of the accumulator."""
        return find_tmem_tensor_col_offset(self.accumulator())

    def behind(self) -> list[tuple[str, Tensor]]:
        """What stands in tensor memory behind the accumulator: A, or the scale factors of A and of B."""
        m, _ = self.extents
        k = product(self.atom.shape_mnk[2])
        if self.atom.instruction.home("A") == "tmem":
            shape = ((m // self.sms, k), 1, self.steps)
            return [("A", make_fragment(self.atom.instruction, "A", self.atom.types[0], shape))]
        if not self.vector:
            return []
        tile, kind = (*self.extents, k * self.steps), self.atom.instruction.arguments["SF"]
        shapes = {x: deduce_smem_layout(self.obj.mma, x, tile, self.vector).shape for x in ("SFA", "SFB")}
        return [(x, make_fragment_sf(self.atom.instruction, x, kind, shape)) for x, shape in shapes.items()]

    def kernel(self) -> Kernel:
        """The kernel, with the instruction of this MMA."""
        a = "[%f]" if self.atom.instruction.home("A") == "tmem" else "%pa"
        scales = ", [%f], [%g]" if self.vector else ""
        text = f"tcgen05.mma.cta_group::{self.sms}.kind::{self.kind} [%m], {a}, %pb, %d{scales}, %more;"
        more = sum(find_tmem_tensor_col_offset(tensor) for _, tensor in self.behind())
        return issued(self.entry, text, self.columns(), more, self.sms)

    def tile(self, operand: str) -> Array:
        """The numbers of an operand of all CTAs [row, k]: the same in every run."""
        rows, depth = self.extents["AB".index(operand)], product(self.atom.shape_mnk[2]) * self.steps
        return np.random.default_rng(100 + "AB".index(operand)).integers(0, LARGEST + 1, (rows, depth))

    def powers(self, operand: str) -> Array:
        """The scale factors of an operand as powers of two [row, k / vector]: 0 or 1, the same in every run."""
        tile = self.tile(operand[-1])
        return np.random.default_rng(200 + ord(operand[-1])).integers(0, 2, (tile.shape[0], tile.shape[1] // self.vector))

    def image(self, operand: str, tile: Array) -> bytes:
        """A CTA's shared memory from a 1024-byte line on, holding its rows of the operand as their layout says."""
        found = self.given(operand)
        if found is None:
            return bytes(1024)
        return image(found.first.tensor, whole(found), self._patterns(self.atom.types["AB".index(operand)], tile))

    @staticmethod
    def _patterns(kind: str, tile: Array) -> Array:
        found = element_of(kind)
        return E2M1[tile] if found is None else encode(tile, found.name)

    def words(self, tile: Any, cta: int) -> Any:
        """The 32-bit words [lane, column] behind a CTA's accumulator."""
        rows, parts, out = self.extents[0] // self.sms, [], np.zeros((LANES, 0), np.uint32)
        for name, tensor in self.behind():
            table = np.zeros((LANES, find_tmem_tensor_col_offset(tensor)), np.uint32)
            if name == "A":
                values = self._patterns(self.atom.types[0], tile[cta * rows : (cta + 1) * rows])
                every: Iterator[tuple[int, int]] = zip(offsets(tensor.layout), values.T.reshape(-1).tolist(), strict=True)
            else:
                powers = self.powers(name)[cta * rows :][:rows] if name == "SFA" else self.powers(name)
                every = self._scales(tensor, powers)
            for value, bits in every:
                where = place(value, tensor.bits)
                table[where.lane, where.column] |= np.uint32(int(bits) << where.bit)
            parts.append(table)
        return np.hstack([out, *parts])

    def _scales(self, tensor: Tensor, powers: Array) -> Iterator[tuple[int, int]]:
        """Each scale factor's places in tensor memory, and what stands there; rows that the MMA pads with have none."""
        kind = named(tensor.pointer.type)
        assert kind is not None
        (mn, (_, count)), _, blocks = modes(tensor.layout.shape)
        rows = product(mn) // COPIES
        for k in range(product(blocks)):
            for s in range(product(count)):
                for row in range(min(rows, len(powers))):
                    for copy in range(COPIES):
                        at = tensor.layout((row + rows * copy, (0, s)), 0, k)
                        yield int(at), POWERS[kind.short][powers[row, k * product(count) + s]]

    def described(self) -> bytes:
        """For each k-block the descriptors, the instruction's, and the addresses behind the accumulator."""
        (m, n), op = self.extents, self.atom.instruction
        if self.vector:
            idesc = make_instr_desc_block_scaled(*self.atom.types[:3], op.arguments["SF"], m, n, *op.majors).desc
        else:
            idesc = make_instr_desc(*self.atom.types[:3], m, n, *op.majors).desc
        out = []
        for k in range(self.steps):
            descs, first, at = [], self.columns(), []
            for found in map(self.given, "AB"):
                descs.append((found.first.desc & ~0x3FFF) + starts(found)[k] if found else 0)
            for _, tensor in self.behind():
                at.append(first + address(place(int(tensor.layout((0, 0), 0, k)), tensor.bits)))
                first += find_tmem_tensor_col_offset(tensor)
            a, b, *_ = *at, 0, 0
            ids = (a >> 30) << 29 | (b >> 30) << 4 if self.vector else 0
            out.append(step(descs[0], descs[1], idesc | ids, a, b))
        return b"".join(out)

    def launches(self) -> tuple[KernelRun, ...]:
        """The product, and the control."""
        swapped = self.tile("A").copy()
        swapped[[0, 9]] = swapped[[9, 0]]
        return self._launch(self.tile("A")), self._launch(swapped)

    def _launch(self, tile: Array) -> KernelRun:
        pieces = {}
        for operand, numbers in (("A", tile), ("B", self.tile("B"))):
            rows = len(numbers) // self.sms
            pieces[operand] = [self.image(operand, numbers[cta * rows : (cta + 1) * rows]) for cta in range(self.sms)]
        behind = b"".join(self.words(tile, cta).tobytes() for cta in range(self.sms))
        buffers: list[Any] = [In(b"".join(part)) for part in pieces.values()]
        counts = [Scalar(len(part[0]) // 16) for part in pieces.values()]
        out = Out(self.sms * LANES * self.columns() * 4)
        data = (*buffers, In(behind or bytes(16)), out, In(self.described()))
        return KernelRun(self.entry, (self.sms, 1, 1), GROUP, (*data, *counts, Scalar(self.steps)), SHARED)

    def product(self) -> Any:
        """The exact result [row, column]."""
        a, b = self.tile("A"), self.tile("B")
        if self.vector:
            a, b = (x << np.repeat(self.powers(f"SF{name}"), self.vector, axis=1) for x, name in ((a, "A"), (b, "B")))
        return a @ b.T

    def right(self) -> tuple[Any, Any]:
        """[lane of every CTA, column] of what is drawn of the accumulator, and where it holds an element."""
        rows, fragment, total = self.extents[0] // self.sms, self.accumulator(), self.product()
        shape = (self.sms, LANES, self.columns())
        out, held = np.zeros(shape, np.int64), np.zeros(shape, bool)
        for element, value in enumerate(offsets(fragment.layout)):
            where, (column, row) = place(value, fragment.bits), divmod(element, rows)
            out[:, where.lane, where.column] = total[row::rows, column]
            held[:, where.lane, where.column] = True
        return out.reshape(-1, shape[2]), held.reshape(-1, shape[2])

    def judge(self, outputs: Outputs) -> Outcome:
        """Every accumulator in tensor memory against the exact product at its drawn place."""
        right, held = self.right()
        kind = element_of(self.atom.types[2])
        assert kind is not None
        raw = (np.frombuffer(data, np.uint32).reshape(right.shape)[held] for (data,) in outputs)
        seen, wrong = (integers(x & 0xFFFF if kind.bits == 16 else x, kind.name) for x in raw)  # of f16 the low half of a word
        found = sheet("tensor memory", right.shape, right[held], seen, cells=np.flatnonzero(held))
        return Outcome((found,), bool((wrong != right[held]).any()), {"accumulators": int(held.sum())})
