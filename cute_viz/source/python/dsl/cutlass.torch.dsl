import torch
from cutlass.cute.runtime import from_dlpack


def dtype(kind):
    return kind


def create_and_permute_torch_tensor(shape, dtype, permute_order=None, init_type=None, init_config=None, device=None):
    made = torch.empty(shape, dtype=dtype)
    return made if permute_order is None else made.permute(permute_order)


def matrix(l, mode0, mode1, is_mode0_major, cutlass_dtype, init_type=None, init_config=None, device=None):
    shape = (l, mode1, mode0) if is_mode0_major else (l, mode0, mode1)
    return torch.empty(shape, dtype=cutlass_dtype).permute((2, 1, 0) if is_mode0_major else (1, 2, 0))


def convert_cute_tensor(array, cute_tensor, dtype, is_dynamic_layout=True, enable_tvm_ffi=False):
    return cute_tensor


def cute_tensor_like(array, cutlass_dtype, is_dynamic_layout, assumed_align=None, enable_tvm_ffi=False):
    made = array.to(dtype=cutlass_dtype)
    return from_dlpack(made, assumed_align=assumed_align), made
