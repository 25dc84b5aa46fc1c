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
