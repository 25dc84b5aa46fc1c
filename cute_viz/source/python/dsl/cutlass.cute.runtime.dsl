import cutlass.cute as cute


def from_dlpack(array, assumed_align=None, use_32bit_stride=False, enable_tvm_ffi=False):
    layout = cute.make_layout(array.shape, stride=array.strides)
    return cute.make_tensor(cute.make_ptr(array.dtype, 0, cute.AddressSpace.gmem, assumed_align=assumed_align), layout)


def make_fake_compact_tensor(dtype, shape, stride_order=None, memspace=cute.AddressSpace.gmem, assumed_align=None, use_32bit_stride=False):
    layout = cute.make_layout(shape) if stride_order is None else cute.make_ordered_layout(shape, order=stride_order)
    return cute.make_tensor(cute.make_ptr(dtype, 0, memspace, assumed_align=assumed_align), layout)


def make_fake_tensor(dtype, shape, stride, memspace=cute.AddressSpace.gmem, assumed_align=None):
    return cute.make_tensor(cute.make_ptr(dtype, 0, memspace, assumed_align=assumed_align), cute.make_layout(shape, stride=stride))
