"""Tensor memory of SM100: where accumulators, A and scale factors lie in it, and the copies that reach them.

A layout of tensor memory counts elements: a lane (data path) is 65536 of them at 32 bits, 131072 at 16, 262144 at 8. The hardware's
address is lane << 16 | column, a column being 32 bits, and the part of a word in bits 30 and 31.
Sources: cute/atom/mma_traits_sm100.hpp, copy_traits_sm100.hpp; cute/arch/tmem_allocator_sm100.hpp; cute/pointer.hpp, tmem_ptr;
cutlass/detail/sm100_tmem_helper.hpp.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from cute_viz.algebra.common import refuse
from cute_viz.algebra.compose import composition
from cute_viz.algebra.inttuple import IntTuple, map_leaves, product, ranked
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import cosize
from cute_viz.algebra.products import tiled_product
from cute_viz.algebra.recast import upcast
from cute_viz.algebra.tensor import Tensor
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError
from cute_viz.values.instruction import Instruction
from cute_viz.values.types import Pointer, bits_of, sparse

LANES, COLUMNS, WORD = 128, 512, 32  # data paths, columns, bits of a column
WARP = 32  # lanes that one warp of four reaches
CAPACITY = LANES * COLUMNS * WORD  # bits
BYTE_BIT = 30  # the first bit of an address that tells the part of a word


class TmemPlace(NamedTuple):
    """Where an element lies: the lane, the column, and the first bit in the column's 32."""

    lane: int
    column: int
    bit: int


def lane_stride(bits: int) -> int:
    """The step of one lane in elements of a width: TMEM::DP<T>."""
    if bits < 1 or WORD % bits:
        raise AlgebraError(f"tensor memory holds elements of 32 bits, or of a half, a quarter and so on of that, not of {bits}")
    return (1 << 16) * (WORD // bits)


def place(value: int, bits: int) -> TmemPlace:
    """Where the element at a value of a tensor-memory layout lies."""
    lane, rest = divmod(value, lane_stride(bits))
    column, part = divmod(rest, WORD // bits)
    return TmemPlace(lane, column, part * bits)


def places(tensor: Tensor, values: Iterable[int]) -> Iterator[TmemPlace]:
    """Where the elements at values of the layout of a tensor lie, counted from where the tensor begins."""
    per = tensor.pointer.per_word
    for value in values:
        lane, rest = divmod(value, per << 16)
        column, part = divmod(rest, per)
        yield TmemPlace(lane, column, part * WORD // per)


def address(where: TmemPlace) -> int:
    """The 32-bit address of a place: lane << 16 | column, the byte of a word in bits 30 and 31."""
    return (where.bit // 8) << BYTE_BIT | where.lane << 16 | where.column


def make_fragment(op: Instruction, operand: str, value_type: str, shape: IntTuple) -> Tensor:
    """The tensor memory of operand "A" or "C" of an MMA, for a shape ((M,N),MMA_M,MMA_N,...) as partition_shape gives it.
    Raises: AlgebraError for more than tensor memory has, extents that the MMA has not. Source: UMMA::tmem_frg."""
    if op.home(operand) != "tmem":
        raise AlgebraError(f"{op.name or 'this MMA'} has no operand in tensor memory", hint="example: SM100_MMA_F16BF16_SS<...>")
    bits, from_tmem = bits_of(value_type), op.home("A") == "tmem"
    storage = bits if operand == "A" else WORD
    if product(shape) * storage > CAPACITY:
        refuse(f"make_fragment_{operand}", (shape,), "Requesting more TMEM than is available.")
    if not isinstance(shape, tuple) or not ranked(shape[0], 2):
        refuse(f"make_fragment_{operand}", (shape,), "Expected post-partitioned shape ((M_MMA,N_MMA),...).")
    m, n = map(product, shape[0])
    single = op.ctas == 1
    if m not in ((64, 128) if single else (32, 64, 128)):
        words = "UMMA_1SM M-mode size should be 64 or 128." if single else "UMMA_2SM M-mode size should be 32 or 64 or 128."
        refuse(f"make_fragment_{operand}", (shape,), words)
    atom, step = Layout((m, n), (1, LANES)), 1
    if single and m == 64:
        atom, step = Layout(((16, 4), n), ((1, 32), LANES)), 2 if from_tmem else 1
    elif m == 64 and not (operand == "A" and from_tmem):
        atom = Layout((64, (n // 2, 2)), (1, (LANES, 64)))
    elif m == 64:
        atom = Layout((128, n), (1, LANES))
    elif m == 32:
        atom = Layout((32, (n // 4, 4)), (1, (LANES, 32)))
    return Tensor(Pointer("tmem", value_type, 0), _allocated(atom, shape[1:], bits, storage // bits, step), name=operand)


def make_fragment_sf(op: Instruction, operand: str, value_type: str, shape: Any) -> Tensor:
    """The tensor memory of the scale factors "SFA" or "SFB", for the shape of their layout in shared memory: four copies of
    each. Source: UMMA::tmem_sf_frg. CuTe makes it of `make_tensor<typename TiledMma::FrgTypeSFA>(shape)`."""
    if not op.vector:
        raise AlgebraError(f"{op.name} has no scale factors", hint="SM100_MMA_MXF8F6F4_SS<...> has")
    try:
        (mn, (vector, count)), rest = shape[0], shape[1:]
        extent, vector, count = product(mn), product(vector), product(count)
    except (TypeError, ValueError, IndexError):
        refuse(
            f"make_fragment_{operand}", (shape,), "Expected an MMA-SF partitioned tensor ((MMA_MN,(VecSize,NSF)),MMA_MN,MMA_K,...)"
        )
    if operand == "SFB" and op.ctas == 2 and op.shape[0] == 128:
        atom = Layout((((32, extent // 64), 2, 2), (vector, count)), (((1, 512), 64, 32), (0, LANES)))
    else:
        atom = Layout((((32, extent // 32), 4), (vector, count)), (((1, 512), 32), (0, LANES)))
    return Tensor(Pointer("tmem", value_type, 0), _allocated(atom, rest, bits_of(value_type), 1, 1), name=operand)


# By K of a sparse MMA: the elements of A that a byte of metadata is for, and where they lie in lanes and columns of 128.
_METADATA = {
    16: (4, Layout(((8, 2, 8), (8, 2)), ((1, 1024, 16), (128, 8)))),  # TF32
    32: (8, Layout(((8, 2, 8), (16, 2)), ((1, 2048, 16), (128, 8)))),  # F16BF16
    64: (8, Layout((128, 64), (1, 128))),  # of bytes
    128: (16, Layout((128, 128), (1, 128))),  # MXF4NVF4
}
_RATIOS = {16: "1:2 sparse", 128: "4:8 sparse, in pairs"}  # by K: PTX ISA, "Sparse matrices"; 2:4 of all other kinds


def sparse_words(op: Instruction) -> str:
    """What the sparse A of a tcgen05.mma is; "" of any other MMA."""
    if not is_sparse(op):
        return ""
    ratio = _RATIOS.get(op.shape[2], "2:4 sparse")
    return f"{ratio}; shared memory holds half of K, tensor memory holds the metadata, which selects the half (make_fragment_E)"


# K = 96 of SM103 runs on from one buffer into the next (mma_traits_sm100.hpp, SM103::mma_unpack).
AHEAD = "issued with lbo_mode 1: leading_byte_offset is the start address of the next buffer, into which K = 96 runs on"


def is_sparse(op: Instruction) -> bool:
    """Whether it is a tcgen05.mma that takes a sparse A."""
    return op.kind == "tcgen05.mma" and op.sparse > 1


def data_path(op: Instruction) -> str:
    """Where a tcgen05.mma keeps its accumulator, as the PTX ISA has it ("Data path layout organization"); "" of other
    instructions."""
    if op.kind != "tcgen05.mma":
        return ""
    letter = {256: "A", 128: "C" if is_sparse(op) else "B"} if op.ctas == 2 else {128: "D", 64: "F"}
    m = op.shape[0]
    return f"layout {letter[m]} of the PTX ISA: {_PATHS[letter[m]]}" if m in letter else ""


_PATHS = {
    "A": "row r in lane r mod 128 of CTA r / 128",
    "B": "row r of 64 of a CTA in lane r, and in lane 64 + r the right half of its columns",
    "C": "row r of 64 of a CTA in lane 32 (r / 16) + r mod 16, where CuTe's fragment has layout B",
    "D": "row r in lane r",
    "F": "row r in lane 32 (r / 16) + r mod 16, or 16 further where A and D begin at lane 16",
}


def make_fragment_e(op: Instruction, shape: object) -> Tensor:
    """The tensor memory of the metadata of a sparse MMA, for the shape ((M,K),MMA_M,MMA_K,...) of A: elements are those of A.
    Raises: AlgebraError for a dense MMA, and for M other than 128 a CTA. Source: UMMA::tmem_e_frg. CuTe makes it of
    `make_tensor<typename TiledMma::FrgTypeE>(shape)`."""
    if not is_sparse(op):
        raise AlgebraError(f"{op.name or 'this MMA'} has no metadata", hint="example: SM100_MMA_F16BF16_SS_SPARSE<...>")
    k = op.shape[2]
    each, atom = _METADATA[k]
    if not isinstance(shape, tuple) or not ranked(shape[0], 2):
        refuse("make_fragment_E", (shape,), "Expected post-partitioned shape ((M_MMA,N_MMA),...).")
    if (rows := product(shape[0][0])) != LANES:
        refuse("make_fragment_E", (shape,), "Only 128 implemented right now.", hint=f"M is {rows} rows of each CTA")
    if product(shape[0][1]) != k:
        refuse("make_fragment_E", (shape,), f"N_MMA == {k}: the K of this MMA", hint="partition_shape_A(mma, (M, K))")
    pointer = Pointer("tmem", f"sparse_elem<{each},uint8_t>", 0)
    depth = 2 * 16384 if each == 16 else 16384
    out: Layout = composition(Layout((LANES, depth), (pointer.per_word << 16, 1)), tiled_product(atom, Layout(shape[1:])))
    return Tensor(pointer, out, name="E")


def metadata_words(tensor: Tensor) -> str:
    """What the bits of the metadata of a sparse MMA say; "" of any other tensor. Source: LogicalElemsAPerChunk of
    cutlass/gemm/collective/builders/sm1xx_sparse_config.inl."""
    packed = sparse(tensor.pointer.type)
    if packed is None:
        return ""
    of, kept = {4: (2, "1 is"), 8: (4, "2 are")}.get(packed[0], (8, "2 of 4 pairs are"))
    return f"4 bits for {of} neighboring elements of a row of A: which {kept} kept"


def _allocated(atom: Layout, rest: Any, bits: int, column: int, step: int) -> Layout:
    tiles = Layout(rest, map_leaves(lambda d: d * step, Layout(rest).stride))
    tiled = tiled_product(atom, tiles)
    out: Layout = composition(Layout((LANES, 16384), (lane_stride(bits), column)), tiled)
    return out


def rows_of_scales(tensor: Tensor) -> int:
    """How many rows of scale factors one MMA has, each of which stands four times in tensor memory; 0 of any other tensor."""
    row: Any = tensor.layout.shape
    step: Any = tensor.layout.stride
    while isinstance(row, tuple) and isinstance(row[0], tuple):
        if ranked(row, 2) and row[1] == LANES // WARP and step[1] == WARP * lane_stride(tensor.bits):
            return product(row[0])
        row, step = row[0], step[0]
    return 0


def find_tmem_tensor_col_offset(tensor: object) -> int:
    """How many columns a tensor of tensor memory takes: where the next one can begin.

    >>> find_tmem_tensor_col_offset(Tensor(Pointer("tmem", "float", 0), Layout((128, 64), (65536, 1))))
    64
    """
    tmem = as_tmem("find_tmem_tensor_col_offset", tensor)
    return cosize(upcast(tmem.layout, tmem.pointer.per_word)) & 0xFFFF


@dataclass(frozen=True, slots=True)
class TensorMemory(Shown):
    """Several tensors in tensor memory at once, each with its name; one after another, as a kernel allocates them."""

    tiling: ClassVar[str] = "tmem"
    parts: tuple[tuple[str, Tensor], ...]

    def __str__(self) -> str:
        return "\n".join(f"{name}: column {tensor.pointer.address or 0}: {tensor.layout}" for name, tensor in self.parts)


def tensor_memory(*tensors: object) -> TensorMemory:
    """Tensors one after another in tensor memory: each begins where find_tmem_tensor_col_offset says that the one before ends.

    The name is ours. Raises: AlgebraError for more columns than there are.

    >>> c = Tensor(Pointer("tmem", "float", 0), Layout((128, 256), (65536, 1)))
    >>> [tensor.pointer.address for _, tensor in tensor_memory(c, c).parts]
    [0, 256]
    """
    placed = [as_tmem("tensor_memory", given) for given in tensors]
    taken = [find_tmem_tensor_col_offset(tensor) for tensor in placed]
    if sum(taken) > COLUMNS:
        words = f"{' + '.join(map(str, taken))} = {sum(taken)}" if len(taken) > 1 else str(sum(taken))
        raise AlgebraError(f"tensor_memory: {words} columns exceed the {COLUMNS} of tensor memory")
    parts, column = [], 0
    names = [getattr(tensor, "name", "") for tensor in tensors]
    for n, (tensor, columns) in enumerate(zip(placed, taken, strict=True)):
        name = names[n] if names[n] and names.count(names[n]) == 1 else f"{names[n] or 'tensor'} {n}"
        name = f"{name} of {tensor.pointer.element}"
        parts.append((name, replace(tensor, pointer=replace(tensor.pointer, address=column))))
        column += columns
    return TensorMemory(tuple(parts))


def as_tmem(name: str, x: object) -> Tensor:
    """A tensor of tensor memory. Raises: AlgebraError for anything else."""
    if not isinstance(x, Tensor) or x.pointer.space != "tmem":
        raise AlgebraError(f"{name}: Expected TMEM tensor.", hint="mma.make_fragment_C(partition_shape_C(mma, shape)) makes one")
    return x
