import cutlass
import cutlass.cute as cute


def is_fp8_dtype(dtype):
    return dtype in (cutlass.Float8E4M3FN, cutlass.Float8E5M2)


def create_cute_tensor_for_fp8(array, dtype, leading_dim, source_f32_tensor=None, assumed_align=16, mark_dynamic_layout=True):
    layout = cute.make_layout(array.shape, stride=array.strides)
    return cute.make_tensor(cute.make_ptr(dtype, 0, cute.AddressSpace.gmem, assumed_align=assumed_align), layout)
