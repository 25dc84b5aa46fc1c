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
