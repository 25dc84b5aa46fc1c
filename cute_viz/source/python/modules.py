"""Names of modules that are not of the text: which part of the DSL a dotted name means."""

from __future__ import annotations

from typing import Any

from cute_viz.source.python.values import Member, Symbol, element

# The enumerations of the DSL, whose members are what they are called.
ENUMS = {
    "LayoutEnum",
    "OperandMajorMode",
    "OutputMajorMode",
    "OperandSource",
    "CtaGroup",
    "SmemLayoutAtomKind",
    "LoadCacheMode",
    "StoreCacheMode",
    "Repetition",
    "Pack",
    "Unpack",
    "AddressSpace",
    "TransformMode",
    "TmemLoadRedOp",
    "ReductionOp",
    "Field",
}
# The module that a part of a path stands for, if the last of its words is known.
_FAMILIES = {
    "hopper_helpers": "sm90",
    "sm90": "sm90",
    "blackwell_helpers": "sm100",
    "sm100": "sm100",
    "blockscaled_layout": "blockscaled",
    "warp": "warp",
    "warpgroup": "warpgroup",
    "tcgen05": "tcgen05",
    "cpasync": "cpasync",
    "arch": "arch",
    "pipeline": "pipeline",
    "testing": "testing",
    "experimental": "experimental",
    "runtime": "runtime",
    "utils": "utils",
    "nvgpu": "cute",
    "cute": "cute",
    "cutlass": "cutlass",
}

# Names that files import as these; a piece of a file may lack the import.
USUAL = {
    "cute": "cutlass.cute",
    "cutlass": "cutlass",
    "utils": "cutlass.utils",
    "pipeline": "cutlass.pipeline",
    "sm90_utils": "cutlass.utils.hopper_helpers",
    "sm100_utils": "cutlass.utils.blackwell_helpers",
    "blockscaled_utils": "cutlass.utils.blockscaled_layout",
    "LayoutEnum": "cutlass.utils.LayoutEnum",
    "nvgpu": "cutlass.cute.nvgpu",
    "warp": "cutlass.cute.nvgpu.warp",
    "warpgroup": "cutlass.cute.nvgpu.warpgroup",
    "tcgen05": "cutlass.cute.nvgpu.tcgen05",
    "cpasync": "cutlass.cute.nvgpu.cpasync",
    "OperandMajorMode": "cutlass.cute.nvgpu.OperandMajorMode",
    "const_expr": "cutlass.const_expr",
    "range_constexpr": "cutlass.range_constexpr",
    "math": "math",
}
_WORDS = (
    "abs all any bool dict divmod enumerate filter float getattr hasattr int isinstance issubclass len list map max min pow print "
    "range reversed round set setattr sorted str sum super tuple type zip object frozenset repr format slice property "
    "staticmethod classmethod NotImplementedError ValueError TypeError Exception RuntimeError"
)
BUILTINS = frozenset(_WORDS.split())

# What FlashAttention and others take from `quack`, in the DSL's words; read where no file of that name lies beside the source.
KNOWN = {
    "quack.layout_utils": """
import cutlass.cute as cute
def select(a, mode):
    return cute.make_tensor(a.iterator, cute.select(a.layout, mode=mode))
def transpose_view(a):
    order = (1, 0, *range(2, cute.rank(a)))
    return cute.composition(a, cute.make_ordered_layout(tuple(a.shape[n] for n in order), order=order))
def expand(a, dim, size):
    put = lambda modes, new: (*modes[:dim], new, *modes[dim:])
    return cute.make_tensor(a.iterator, cute.make_layout(put(a.shape, size), stride=put(a.layout.stride, 0)))
def _rows_and_columns(modes):
    first = modes[0]
    return ((first[1], modes[1]), (first[0], *first[2:], modes[2]), *modes[3:])
def reshape_acc_to_mn(acc, transpose=False):
    whole = cute.make_layout(acc.shape)
    shape, stride = _rows_and_columns(whole.shape), _rows_and_columns(whole.stride)
    if transpose:
        shape, stride = (shape[1], shape[0], *shape[2:]), (stride[1], stride[0], *stride[2:])
    return cute.make_tensor(acc.iterator, cute.composition(acc.layout, cute.make_layout(shape, stride=stride)))
make_acc_tensor_mn_view = reshape_acc_to_mn
def _operand(modes, halved):
    first = modes[0]
    if halved:
        return ((first[0], first[1], first[2][0]), modes[1], (first[2][1], modes[2]))
    return ((first[0], first[1], modes[2][0]), modes[1], modes[2][1])
def reshape_acc_to_frgA(acc):
    warps = cute.rank(acc.shape[0]) == 3
    pairs = (2 if acc.shape[0][2] % 2 == 0 else 1) if warps else 2
    cut = cute.logical_divide(acc.layout, ((None, None, pairs), None, None) if warps else (None, None, pairs))
    return cute.make_tensor(acc.iterator, cute.make_layout(_operand(cut.shape, warps), stride=_operand(cut.stride, warps)))
def mma_partition_C_vec(sVec, thr_mma, expand_shape, is_colvec):
    parts = reshape_acc_to_mn(thr_mma.partition_C(expand(sVec, 1 if is_colvec else 0, expand_shape)))
    return parts[None, 0, None] if is_colvec else parts[0, None, None]
""",
    "quack.sm90_utils": """
import cutlass
import cutlass.cute as cute
import cutlass.utils.hopper_helpers as helpers
from cutlass.cute.nvgpu import warpgroup
def make_smem_layout(dtype, layout, tile, stage=None, major_mode_size=None):
    shape = cute.product_each(cute.shape(tile))
    rows = layout.is_n_major_c()
    extent = (shape[1] if rows else shape[0]) if major_mode_size is None else major_mode_size
    atom = warpgroup.make_smem_layout_atom(helpers.get_smem_layout_atom(layout, dtype, extent), dtype)
    order = (0, 1, 2) if rows else (1, 0, 2)
    return cute.tile_to_shape(atom, shape if stage is None else (*shape, stage), order=order[:2] if stage is None else order)
def partition_fragment_ABC(thr_mma, shape_mnk, sA, sB, swap_AB=False):
    m, n, k = (shape_mnk[1], shape_mnk[0], shape_mnk[2]) if swap_AB else shape_mnk
    first, second = (sB, sA) if swap_AB else (sA, sB)
    acc = cute.make_rmem_tensor(thr_mma.partition_shape_C((m, n)), cutlass.Float32)
    held = thr_mma.op.a_src == warpgroup.OperandSource.RMEM
    a = thr_mma.make_fragment_A(thr_mma.partition_shape_A((m, k)) if held else thr_mma.partition_A(first))
    b = thr_mma.make_fragment_B(thr_mma.partition_B(second))
    return (acc, b, a) if swap_AB else (acc, a, b)
def gemm_zero_init(tiled_mma, shape, tCrA, tCrB, A_idx=None, B_idx=None, wg_wait=-1, swap_AB=False):
    shape = (shape[1], shape[0]) if swap_AB else shape
    return cute.make_rmem_tensor(tiled_mma.partition_shape_C(shape), cutlass.Float32)
""",
    "quack.copy_utils": """
import cutlass.cute as cute
from cutlass.cute.nvgpu import cpasync
def _atom(dtype, count, is_async):
    op = cpasync.CopyG2SOp() if is_async else cute.nvgpu.CopyUniversalOp()
    return cute.make_copy_atom(op, dtype, num_bits_per_copy=count * dtype.width)
def tiled_copy_1d(dtype, num_threads, num_copy_elems=1, is_async=False):
    threads, values = cute.make_layout(num_threads), cute.make_layout(num_copy_elems)
    return cute.make_tiled_copy_tv(_atom(dtype, num_copy_elems, is_async), threads, values)
def tiled_copy_2d(dtype, threads_per_row, num_threads, num_copy_elems=1, is_async=False):
    threads = cute.make_ordered_layout((num_threads // threads_per_row, threads_per_row), order=(1, 0))
    return cute.make_tiled_copy_tv(_atom(dtype, num_copy_elems, is_async), threads, cute.make_layout((1, num_copy_elems)))
""",
}


def is_library(path: str) -> bool:
    """Whether a dotted name is the DSL's.

    >>> is_library("cutlass.cute.size"), is_library("flash_attn.cute.utils")
    (True, False)
    """
    return path.partition(".")[0] in ("cutlass", "cute")


def family(path: str) -> str:
    """The part of the DSL that a name of it belongs to.

    >>> family("cutlass.utils.hopper_helpers.make_smem_layout_a"), family("cutlass.cute.nvgpu.warp.mma.MmaF16BF16Op")
    ('sm90', 'warp')
    """
    for word in reversed(path.split(".")[:-1]):
        if word in _FAMILIES:
            return _FAMILIES[word]
    return ""


def symbol(path: str) -> Any:
    """What a dotted name of a module is: an element type, a member of an enumeration, or the name itself.

    >>> symbol("cutlass.Float16").bits, symbol("cutlass.utils.LayoutEnum.ROW_MAJOR").name, symbol("torch.half")
    (16, 'ROW_MAJOR', Symbol(path='torch.half'))
    """
    if not is_library(path):
        return Symbol(path)
    head, _, last = path.rpartition(".")
    enum = head.rpartition(".")[2]
    if enum in ENUMS and last[:1].isalpha() and not last.startswith("from_"):
        value = (
            {"ONE": 1, "TWO": 2}.get(last)
            if enum == "CtaGroup"
            else int(last[1:])
            if enum == "Repetition" and last[1:].isdecimal()
            else None
        )
        return Member(enum, last, value)
    if (kind := element(last)) is not None and last[:1].isupper():
        return kind
    return Symbol(path)
