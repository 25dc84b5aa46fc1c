"""Functions of modules that files import, in the DSL's words: of `quack`, and of the DSL's helpers that are made of others.

What lies beside a source under the name of `quack` is read instead. Sources: quack's layout_utils.py, sm90_utils.py and
copy_utils.py; cutlass/utils/blackwell_helpers.py, gemm/sm100.py and mixed_input_helpers.py of the Python DSL 4.8.
"""

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
    "cutlass.utils.blackwell_helpers": """
import cutlass.cute as cute
def _by_thread(scales, mma, mn, held):
    sizes, tile, threads = mma.shape_mnk, mma.permutation_mnk, mma.thr_layout_vmnk
    atoms = cute.zipped_divide(
        cute.logical_divide(scales, (tile[mn], tile[2])), (cute.make_layout(sizes[mn]), cute.make_layout(sizes[2]))
    )
    parts = (cute.make_layout(cute.size(threads, mode=[mn + 1])), cute.make_layout(cute.size(threads, mode=[3])))
    return cute.zipped_divide(cute.composition(atoms, (held, None)), (None, parts))
def thrfrg_SFA(sfa_tensor, tiled_mma):
    k = tiled_mma.shape_mnk[2]
    depth, step = ((k, 1), (16, 0)) if k == 32 else (k, 16)
    return _by_thread(sfa_tensor, tiled_mma, 0, cute.make_layout(((2, 2, 8), depth), stride=((8, 0, 1), step)))
def thrfrg_SFB(sfb_tensor, tiled_mma):
    k = tiled_mma.shape_mnk[2]
    depth, step = ((k, 1), (8, 0)) if k == 32 else (k, 8)
    return _by_thread(sfb_tensor, tiled_mma, 1, cute.make_layout(((4, 8), depth), stride=((0, 1), step)))
def _table(cut, extents, mma, rows):
    threads = mma.thr_layout_vmnk
    pair = cute.make_layout((cute.size(threads, mode=[1]), cute.size(threads, mode=[2])), stride=(1, 0) if rows else (0, 1))
    by_place = cute.composition(cut(cute.make_layout(extents), mma), ((None, (pair, None)), None))
    return cute.composition(by_place, (cute.right_inverse(threads), None))
def get_layoutSFA_TV(tiled_mma):
    tile = tiled_mma.permutation_mnk
    return _table(thrfrg_SFA, (cute.size(tile[0]), cute.size(tile[2])), tiled_mma, True)
def get_layoutSFB_TV(tiled_mma):
    tile = tiled_mma.permutation_mnk
    return _table(thrfrg_SFB, (cute.size(tile[1]), cute.size(tile[2])), tiled_mma, False)
def _fragment(cut, scales, mma, mn, tidx):
    at = mma.thr_layout_vmnk.get_flat_coord(tidx)
    part = cute.make_tensor(scales.iterator, cut(scales.layout, mma))[(at[0], (at[mn + 1], at[3])), (None, None)]
    return cute.group_modes(cute.flatten(part), 0, 2)
def partition_fragment_SFA(sfa_tensor, thr_mma, tidx):
    return cute.make_fragment_like(_fragment(thrfrg_SFA, sfa_tensor, thr_mma, 0, tidx))
def partition_fragment_SFB(sfb_tensor, thr_mma, tidx):
    return cute.make_fragment_like(cute.group_modes(_fragment(thrfrg_SFB, sfb_tensor, thr_mma, 1, tidx), 1, 3))
""",
    "cutlass.utils.gemm.sm100": """
import cutlass.cute as cute
import cutlass.utils.blackwell_helpers as helpers
from cutlass.cute.nvgpu import tcgen05
def _rows_and_columns(modes):
    return ((modes[0][0], modes[1]), (modes[0][1], modes[2]), *modes[3:])
def transform_partitioned_tensor_layout(tensor):
    whole = tensor.layout
    plain = whole.outer if isinstance(whole, cute.ComposedLayout) else whole
    turned = cute.make_layout(_rows_and_columns(plain.shape), stride=_rows_and_columns(plain.stride))
    if isinstance(whole, cute.ComposedLayout):
        turned = cute.make_composed_layout(whole.inner, whole.offset, turned)
    return cute.make_tensor(tensor.iterator, turned)
def epilogue_tmem_copy_and_partition(gemm_kernel, tidx, tAcc, tCgC, epi_tile, use_2cta_instrs):
    k = gemm_kernel
    warps = getattr(k, "tmem_warp_shape_mn", None)
    load = helpers.get_tmem_load_op(
        k.cta_tile_shape_mnk, k.c_layout, k.c_dtype, k.acc_dtype, epi_tile, use_2cta_instrs, tmem_warp_shape_mn=warps
    )
    tiles = cute.flat_divide(tAcc, epi_tile)
    copy = tcgen05.make_tmem_copy(load, tiles[None, None, 0, 0, 0])
    mine = copy.get_slice(tidx)
    outside = mine.partition_D(cute.flat_divide(tCgC, epi_tile))
    held = cute.make_rmem_tensor(outside[None, None, None, 0, 0, 0, 0, 0].shape, k.acc_dtype)
    return copy, mine.partition_S(tiles), held
def epilogue_smem_copy_and_partition(gemm_kernel, tiled_copy_t2r, tTR_rC, tidx, sC):
    k = gemm_kernel
    copy = cute.make_tiled_copy_D(helpers.get_smem_store_op(k.c_layout, k.c_dtype, k.acc_dtype, tiled_copy_t2r), tiled_copy_t2r)
    return copy, copy.retile(tTR_rC), copy.get_slice(tidx).partition_D(sC)
""",
    "cutlass.utils.mixed_input_helpers": """
import cutlass
import cutlass.cute as cute
import cutlass.utils.blackwell_helpers as helpers
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, tcgen05
def get_transform_a_source(a_major_mode):
    return tcgen05.OperandSource.TMEM if a_major_mode == OperandMajorMode.K else tcgen05.OperandSource.SMEM
def get_tma_atom_kind(mcast, use_2cta_instrs, is_b):
    group = tcgen05.CtaGroup.TWO if use_2cta_instrs and is_b else tcgen05.CtaGroup.ONE
    return cpasync.CopyBulkTensorTileG2SMulticastOp(group) if mcast else cpasync.CopyBulkTensorTileG2SOp(group)
def get_copy_atom_a_transform(mma_dtype, use_2cta_instrs, transform_a_source, a_smem_shape, a_dtype):
    if transform_a_source != tcgen05.OperandSource.TMEM:
        return cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), a_dtype, num_bits_per_copy=32)
    if cute.size(a_smem_shape[0][0]) == 64 and not use_2cta_instrs:
        return cute.make_copy_atom(tcgen05.St16x256bOp(tcgen05.Repetition(1), tcgen05.Unpack.NONE), mma_dtype)
    return cute.make_copy_atom(tcgen05.St32x32bOp(tcgen05.Repetition(8), tcgen05.Unpack.NONE), mma_dtype)
def compute_smem_layout(tiled_mma, mma_tiler_mnk, a_dtype, b_dtype, load2trans_stage_count, trans2mma_stage_count):
    stages = load2trans_stage_count
    return (
        helpers.make_smem_layout_a(tiled_mma, mma_tiler_mnk, a_dtype, stages),
        helpers.make_smem_layout_a(tiled_mma, mma_tiler_mnk, tiled_mma.op.a_dtype, trans2mma_stage_count),
        helpers.make_smem_layout_b(tiled_mma, mma_tiler_mnk, b_dtype, stages),
    )
def get_gmem_layout_scale(scale_shape_mkl, scale_granularity_m, scale_granularity_k, scale_major_mode):
    m, k, l = scale_shape_mkl
    rows, columns = cute.ceil_div(m, scale_granularity_m), cute.ceil_div(k, scale_granularity_k)
    steps = ((0, 1), (0, rows)) if scale_major_mode == OperandMajorMode.MN else ((0, columns), (0, 1))
    shape = ((scale_granularity_m, rows), (scale_granularity_k, columns))
    return cute.make_layout((*shape, l), stride=(*steps, cute.cosize(cute.make_layout(shape, stride=steps))))
def get_smem_layout_scale(
    mma_tiler,
    use_2cta_instrs,
    scale_granularity_m,
    scale_granularity_k,
    scale_major_mode,
    a_scale_dtype,
    num_scale_load2trans_stage,
):
    tile = (cute.size(mma_tiler[0]) // (2 if use_2cta_instrs else 1), cute.size(mma_tiler[2]))
    alike = (min(scale_granularity_m, tile[0]), min(scale_granularity_k, tile[1]))
    rows, columns = cute.ceil_div(tile[0], alike[0]), cute.ceil_div(tile[1], alike[1])
    steps = ((0, 1), (0, rows)) if scale_major_mode == OperandMajorMode.MN else ((0, columns), (0, 1))
    inside = cute.make_layout(((alike[0], rows), (alike[1], columns)), stride=steps)
    one = cute.make_composed_layout(cute.make_swizzle(0, 4, 3), 0, inside)
    return tile, one, cute.append(one, cute.make_layout(num_scale_load2trans_stage, stride=cute.cosize(inside)))
def _with_rest(part):
    shape, stride = part.layout.shape, part.layout.stride
    return cute.make_tensor(part.iterator, cute.make_layout(((shape[0], 1), *shape[1:]), stride=((stride[0], 0), *stride[1:])))
def scale_tma_partition(tCsS, tCgS, tma_atom_s, block_in_cluster_coord_vmnk, scale_cta_layout):
    at = block_in_cluster_coord_vmnk[2]
    sides = cute.group_modes(tCsS, 0, 3), cute.group_modes(tCgS, 0, 3)
    shared, outside = cpasync.tma_partition(tma_atom_s, at, scale_cta_layout, sides[0], sides[1])
    return _with_rest(shared), _with_rest(outside)
def transform_partition(source, scale_mode, copy_atom_a_input, copy_atom_a_transform, sA_input, A_transform, transform_local_tidx):
    inside = A_transform[None, None, None, 0]
    if source == tcgen05.OperandSource.TMEM:
        copy = out = tcgen05.make_tmem_copy(copy_atom_a_transform, inside)
        if cute.size(A_transform, mode=[0, 0]) == 128 and cute.size(sA_input, mode=[0, 0]) == 64:
            twice = ((cute.make_layout(2, stride=0), None), None, None, None)
            sA_input = cute.make_tensor(sA_input.iterator, cute.logical_product(sA_input.layout, twice))
    else:
        copy, out = cute.make_cotiled_copy(copy_atom_a_transform, cute.make_layout((128, 8), stride=(8, 1)), inside.layout), None
    mine = copy.get_slice(transform_local_tidx)
    first = cute.make_tiled_copy_S(copy_atom_a_input, copy) if scale_mode == cutlass.utils.TransformMode.ConvertScale else None
    return first, out, mine.partition_S(sA_input), mine.partition_D(A_transform)
def scale_partition(src_copy_a, tCsS, transform_local_tidx, mma_dtype):
    mine = src_copy_a.get_slice(transform_local_tidx)
    parts = mine.partition_S(tCsS)
    stage = parts[None, None, None, None, 0].layout
    held = cute.make_rmem_tensor(cute.filter_zeros(stage).shape, mma_dtype)
    return mine, parts, held, cute.make_tensor(held.iterator, cute.make_layout(stage.shape, stride=held.layout.stride))
def epilog_tmem_copy_and_partition(cta_tile_shape_mnk, c_layout, c_dtype, acc_dtype, tidx, tAcc, gC_mnl, epi_tile, use_2cta_instrs):
    load = helpers.get_tmem_load_op(cta_tile_shape_mnk, c_layout, c_dtype, acc_dtype, epi_tile, use_2cta_instrs)
    tiles = cute.flat_divide(tAcc[(None, None), 0, 0, None], epi_tile)
    copy = tcgen05.make_tmem_copy(load, tiles[None, None, 0, 0, 0])
    mine = copy.get_slice(tidx)
    outside = mine.partition_D(cute.flat_divide(gC_mnl[(None, None), 0, 0, None, None, None], epi_tile))
    held = cute.make_rmem_tensor(outside[None, None, None, 0, 0, 0, 0, 0].shape, acc_dtype)
    return copy, mine.partition_S(tiles), held
def epilog_smem_copy_and_partition(c_layout, c_dtype, acc_dtype, tiled_copy_t2r, tTR_rC, tidx, sC):
    store = helpers.get_smem_store_op(c_layout, c_dtype, acc_dtype, tiled_copy_t2r)
    copy = cute.make_tiled_copy_D(store, tiled_copy_t2r)
    return copy, copy.retile(tTR_rC), copy.get_slice(tidx).partition_D(sC)
def epilog_gmem_copy_and_partition(c_dtype, tidx, tma_atom_c, tiled_copy_t2r, gC_mnl_tma, gC_mnl_simt, epi_tile, sC):
    shared = outside = plain = mine = None
    if tma_atom_c is not None:
        tiles = cute.flat_divide(gC_mnl_tma[(None, None), 0, 0, None, None, None], epi_tile)
        sides = cute.group_modes(sC, 0, 2), cute.group_modes(tiles, 0, 2)
        shared, outside = cpasync.tma_partition(tma_atom_c, 0, cute.make_layout(1), sides[0], sides[1])
    if tiled_copy_t2r is not None:
        tiles = cute.flat_divide(gC_mnl_simt[(None, None), 0, 0, None, None, None], epi_tile)
        plain, mine = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), c_dtype), tiled_copy_t2r.get_slice(tidx).partition_D(tiles)
    return tma_atom_c, shared, outside, plain, mine
""",
}
