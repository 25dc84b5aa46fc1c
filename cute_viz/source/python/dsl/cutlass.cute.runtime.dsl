import cutlass.cute as cute


def from_dlpack(array, assumed_align=None, use_32bit_stride=False, enable_tvm_ffi=False):
    layout = cute.make_layout(array.shape, stride=array.strides)
    return cute.make_tensor(cute.make_ptr(array.dtype, 0, cute.AddressSpace.gmem, assumed_align=assumed_align), layout)
