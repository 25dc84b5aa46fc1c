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
