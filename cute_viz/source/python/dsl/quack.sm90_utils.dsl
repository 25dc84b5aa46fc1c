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
