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
