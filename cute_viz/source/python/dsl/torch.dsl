import cutlass

float32 = cutlass.Float32
float16 = cutlass.Float16
bfloat16 = cutlass.BFloat16
uint8 = cutlass.Uint8
int8 = cutlass.Int8
int32 = cutlass.Int32


class Cuda:
    def is_available(self):
        return True


cuda = Cuda()


def compact(shape):
    stride = []
    step = 1
    for n in reversed(shape):
        stride = [step] + stride
        step = step * n
    return tuple(stride)


class Array:
    def __init__(self, shape, stride, dtype):
        self.shape = shape
        self.strides = stride
        self.dtype = dtype

    def permute(self, *order):
        order = order[0] if isinstance(order[0], (tuple, list)) else order
        return Array(tuple(self.shape[n] for n in order), tuple(self.strides[n] for n in order), self.dtype)

    def to(self, dtype=None, device=None):
        return Array(self.shape, self.strides, self.dtype if dtype is None else dtype)

    def clone(self):
        return self

    def contiguous(self):
        return Array(self.shape, compact(self.shape), self.dtype)

    def transpose(self, a, b):
        order = [b if n == a else a if n == b else n for n in range(len(self.shape))]
        return self.permute(*order)

    def t(self):
        return self.permute(1, 0)

    def size(self, n):
        return self.shape[n]

    def random_(self, *args):
        return self

    def cuda(self):
        return self

    def fill_(self, value):
        return self


def manual_seed(seed):
    return None


def empty(*shape, dtype=float32, device=None, requires_grad=False):
    shape = shape[0] if isinstance(shape[0], (tuple, list)) else shape
    return Array(tuple(shape), compact(shape), dtype)


def randint(low, high, size, dtype=int32, device=None):
    return empty(size, dtype=dtype)


def zeros_like(array, dtype=None):
    return array.to(dtype)


def randn(*shape, dtype=float32, device=None, requires_grad=False):
    return empty(*shape, dtype=dtype)


def rand(*shape, dtype=float32, device=None, requires_grad=False):
    return empty(*shape, dtype=dtype)


def zeros(*shape, dtype=float32, device=None):
    return empty(*shape, dtype=dtype)


def ones(*shape, dtype=float32, device=None):
    return empty(*shape, dtype=dtype)
