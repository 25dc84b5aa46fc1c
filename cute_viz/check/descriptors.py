"""Descriptors that we compute, as the hardware takes them: wgmma multiplies a tile through each one, and the product must be exact.

The tile is put into shared memory as its layout says, swizzle included; the other operand is a plain tile that other checks have
decided. Each k-block of a fragment is multiplied through its own descriptor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cute_viz.algebra.descriptor import UNIT, DescriptorTensor, SmemDescriptor
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.table import offsets
from cute_viz.check import wgmma_ptx
from cute_viz.check.digest import digest
from cute_viz.check.elements import ELEMENTS, UNSIGNED, decode, element_of, encode, unpack
from cute_viz.check.job import Check, In, Item, Launch, Out, Outcome, Sheet, Undecided, Word, entry_name
from cute_viz.figures.model import Figure
from cute_viz.notation import parse
from cute_viz.spec.library import resolve

ATOM = 1024  # bytes after which every swizzle repeats
ROWS = 64  # of the tile: M of a wgmma, and the N that is tried
RESULTS = {"f16": "f32", "bf16": "f32", "tf32": "f32", "e4m3": "f32", "e5m2": "f32", "s8": "s32", "u8": "s32"}
LARGEST = 3  # elements are 0 to 3, so that every sum is exact


def checks(obj: SmemDescriptor | DescriptorTensor, figure: Figure, name: str) -> list[Item]:
    """The checks of a drawn descriptor, or of all of a fragment: as operand A, and as operand B.

    >>> from cute_viz import figure, parse
    >>> smem = "make_tensor(make_smem_ptr<half_t>(0), tile_to_shape(GMMA::Layout_K_SW32_Atom<half_t>{}, (64,16)))"
    >>> made = parse(f"make_gmma_desc<GMMA::Major::K>({smem})")
    >>> [item.kind for item in checks(made, figure(made), "x")]
    ['wgmma descriptor', 'wgmma descriptor']
    """
    first = obj.first if isinstance(obj, DescriptorTensor) else obj
    if first.kind != "GMMA":
        return [Undecided("wgmma descriptor", name, "tcgen05.mma needs a device of compute capability 10.0")]
    element = element_of(str(first.tensor.pointer.type))
    if element is None or element.name not in RESULTS:
        return [Undecided("wgmma descriptor", name, f"no wgmma reads elements of {first.tensor.pointer.element}")]
    if first.major == "MN" and element.bits != 16:
        return [Undecided("wgmma descriptor", name, f"wgmma reads {element.name} only K-major")]
    mn = product(modes(first.tensor.layout.shape)[0])
    if mn != ROWS:
        return [Undecided("wgmma descriptor", name, f"{mn} rows are tried as {ROWS}: give a tile of {ROWS} rows")]
    out: list[Item] = []
    for operand in "AB":
        job = Job(obj, first, element.name, operand, entry_name(f"descriptor_{operand}", name))
        kernel = wgmma_ptx.kernel(job.made, job.entry)
        out.append(Check("wgmma descriptor", f"{name} as {operand}", kernel, job.launches, job.judge, digest(figure)))
    return out


@dataclass(frozen=True, slots=True)
class Job:
    """The launches of one operand and their judgement: a launch a k-block, and one whose memory has two rows exchanged."""

    obj: SmemDescriptor | DescriptorTensor
    first: SmemDescriptor
    kind: str
    operand: str
    entry: str

    @property
    def made(self) -> wgmma_ptx.Wgmma:
        """The instruction: N = 64, the operand in its own major, the other K-major."""
        element = ELEMENTS[self.kind]
        turned = int(self.first.major == "MN")
        majors = (turned, 0) if self.operand == "A" else (0, turned)
        return wgmma_ptx.Wgmma(element, element, ELEMENTS[RESULTS[self.kind]], ROWS, transposed=majors)

    def layout(self) -> Layout:
        """(row, k) -> element of shared memory, of the first stage; k goes through the k-blocks."""
        whole: Layout = self.obj.tensor.layout
        if isinstance(self.obj, SmemDescriptor):
            return whole
        shape, stride = modes(whole.shape), modes(whole.stride)
        (mn, k), (mn_step, k_step) = modes(shape[0]), modes(stride[0])
        return Layout((mn, (k, shape[2])), (mn_step, (k_step, stride[2])))

    def starts(self) -> list[int]:
        """Where the descriptor of each k-block begins, in bytes from that of the first."""
        if isinstance(self.obj, SmemDescriptor):
            return [0]
        fragment = self.obj.blocks
        rest = [0] * (len(modes(fragment.shape)) - 3)
        return [int(fragment(0, 0, k, *rest)) * UNIT for k in range(product(modes(fragment.shape)[2]))]

    def numbers(self) -> tuple[Any, Any]:
        """The tile [row, k] of the operand, and that of the other one [row, k of a block]: the same in every run."""
        random = np.random.default_rng(64)
        depth = product(modes(self.layout().shape)[1])
        return random.integers(0, LARGEST + 1, (ROWS, depth)), random.integers(0, LARGEST + 1, (ROWS, self.made.k))

    def image(self, tile: Any) -> Any:
        """Shared memory from the 1024-byte line on in which the tile begins, holding it as its layout says."""
        bits, tensor = self.first.bits, self.first.tensor
        swizzle = tensor.pointer.swizzle
        start, base = tensor.address, tensor.address - tensor.address % ATOM
        table = offsets(self.layout())  # column by column: row, then k
        at = [start + offset * bits // 8 for offset in table]
        places = [((swizzle(byte) if swizzle else byte) - base) * 8 // bits for byte in at]
        memory = np.zeros((-(-(max(places) + 1) * bits // 8 // ATOM)) * ATOM * 8 // bits, UNSIGNED[bits])
        memory[places] = encode(tile, self.kind).T.reshape(-1)
        return memory

    def launches(self) -> tuple[Launch, ...]:
        """A launch a k-block, and the control."""
        tile, other = self.numbers()
        swapped = tile.copy()
        swapped[[0, 9]] = swapped[[9, 0]]
        starts = self.starts()
        plain = wgmma_ptx.plain_tile(encode(other, self.kind)[None], self.first.bits)
        return (
            *tuple(self._launch(self.image(tile), start, plain) for start in starts),
            self._launch(self.image(swapped), 0, plain),
        )

    def _launch(self, memory: Any, start: int, plain: bytes) -> Launch:
        """The product through the descriptor that begins so many bytes on: whole lines in front of it are left out."""
        begin = self.first.tensor.address % ATOM + start
        cut = begin - begin % ATOM
        data = memory.tobytes()[cut:]
        described = self.first.desc & ~0x3FFF | (begin - cut) // UNIT
        pairs = [(data, described), (plain, wgmma_ptx.PLAIN)]
        (a, desc_a), (b, desc_b) = pairs if self.operand == "A" else pairs[::-1]
        out = Out(wgmma_ptx.GROUP * self.made.results * 4)
        words = (Word(desc_a, 8), Word(desc_b, 8), Word(len(a) // 16), Word(len(b) // 16), Word(1), Word(0))
        return Launch(self.entry, (1, 1, 1), wgmma_ptx.GROUP, (In(a), In(b), out, *words), wgmma_ptx.SHARED)

    def product(self, data: bytes) -> Any:
        """[m, n]: the accumulators where the PTX ISA's figure "wgmma D fragment" has them."""
        made = self.made
        registers = np.frombuffer(data, np.uint32).reshape(wgmma_ptx.GROUP, made.results)
        values = decode(unpack(registers, made.c.bits), made.c.name)
        t, v = np.meshgrid(np.arange(wgmma_ptx.GROUP), np.arange(values.shape[1]), indexing="ij")
        row, col = t // 32 * 16 + t % 32 // 4 + v // 2 % 2 * 8, t % 4 * 2 + v % 2 + v // 4 * 8
        out = np.zeros((ROWS, ROWS), np.int64)
        out[row, col] = np.nan_to_num(values, nan=-1, posinf=-1, neginf=-1)
        return out

    def judge(self, outputs: Sequence[Sequence[bytes]]) -> Outcome:
        """Every sum of every k-block against the exact product."""
        tile, other = self.numbers()
        blocks = [tile[:, n * self.made.k : (n + 1) * self.made.k] for n in range(len(self.starts()))]
        right = [block @ other.T if self.operand == "A" else other @ block.T for block in blocks]
        got = [self.product(data[0]) for data in outputs]
        control = bool((got[-1] != right[0]).any())
        sheets = []
        for n, (drawn, seen) in enumerate(zip(right, got[:-1], strict=True)):
            words = [tuple(map(str, table.reshape(-1).tolist())) for table in (drawn, seen)]
            same = tuple((drawn == seen).reshape(-1).tolist())
            sheets.append(Sheet(f"C of k-block {n}", ROWS, ROWS, words[0], words[1], same))
        return Outcome(tuple(sheets), control, {"sums": ROWS * ROWS * len(blocks)})


def subjects() -> Iterator[tuple[str, Any]]:
    """(name, fragment) of every major, mode and type that CuTe accepts for wgmma: a tile of 64 rows and one swizzle atom of K.

    >>> name, fragment = next(subjects())
    >>> name, str(fragment.first)
    ('descriptor of half_t, K-major INTER', '0x0000000800400000')
    """
    kinds = {"half_t": "F16F16", "bfloat16_t": "BF16BF16", "tfloat32_t": "TF32TF32", "float_e4m3_t": "E4M3E4M3"}
    kinds |= {"float_e5m2_t": "E5M2E5M2", "int8_t": "S8S8", "uint8_t": "U8U8"}
    for kind, types in kinds.items():
        element = element_of(kind)
        assert element is not None
        for major in ("K", "MN") if element.bits == 16 else ("K",):
            for n, mode in enumerate(("INTER", "SW32", "SW64", "SW128")):
                deep = wgmma_ptx.STEP * 8 // element.bits  # K of one instruction
                depth = max(deep, (16 << n) * 8 // element.bits) if major == "K" else 2 * deep
                result = RESULTS[element.name].upper()
                tail = f"<GMMA::Major::K,GMMA::Major::{major}>" if element.bits == 16 else "_TN"
                atom = f"SM90_64x64x{deep}_{result}{types}_SS{tail}{{}}"
                tile = f"tile_to_shape(GMMA::Layout_{major}_{mode}_Atom<{kind}>{{}}, (64,{depth}))"
                smem = f"make_tensor(make_smem_ptr<{kind}>(0), {tile})"
                text = f"mma = make_tiled_mma({atom}); mma.make_fragment_B(mma.get_slice(0).partition_B({smem}))"
                yield f"descriptor of {kind}, {major}-major {mode}", parse(text, resolve=resolve)
