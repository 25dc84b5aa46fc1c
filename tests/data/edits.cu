// Transposes of n x n floats, read from shared memory 32-way; each has its layout where another kind of edit is needed.
#include <cute/tensor.hpp>

using namespace cute;

struct Traits {
  using Smem = Layout<Shape<_64,_64>,Stride<_64,_1>>;
};
using Swizzled = Swizzle<2,0,4>;
using Rows = Layout<Shape<_8,_32>,Stride<_32,_1>>;
using Columns = Layout<Shape<_32,_8>,Stride<_1,_32>>;

template <class Smem>
__device__ void turned(float const* A, float* B, int n, float* buffer, Smem layout) {
  Tensor mA = make_tensor(make_gmem_ptr(A), make_shape(n, n), make_stride(n, Int<1>{}));
  Tensor mB = make_tensor(make_gmem_ptr(B), make_shape(n, n), make_stride(Int<1>{}, n));
  Tensor gA = local_tile(mA, Shape<_64,_64>{}, make_coord(blockIdx.y, blockIdx.x));
  Tensor gB = local_tile(mB, Shape<_64,_64>{}, make_coord(blockIdx.y, blockIdx.x));
  Tensor sA = make_tensor(make_smem_ptr(buffer), layout);
  copy(local_partition(gA, Rows{}, threadIdx.x), local_partition(sA, Rows{}, threadIdx.x));
  __syncthreads();
  copy(local_partition(sA, Columns{}, threadIdx.x), local_partition(gB, Columns{}, threadIdx.x));
}

template <class T>
__global__ void in_struct(float const* A, float* B, int n) {
  __shared__ float buffer[cosize_v<typename T::Smem>];
  turned(A, B, n, buffer, typename T::Smem{});
}

__global__ void swizzled(float const* A, float* B, int n) {
  __shared__ float buffer[64 * 64];
  turned(A, B, n, buffer, composition(Swizzled{}, Layout<Shape<_64,_64>,Stride<_64,_1>>{}));
}

template <class Smem>
__global__ void by_host(float const* A, float* B, int n, Smem layout) {
  extern __shared__ float buffer[];
  turned(A, B, n, buffer, layout);
}

__global__ void plain(float const* A, float* B, int n) {
  extern __shared__ float tile[];
  int tx = threadIdx.x % 32, ty = threadIdx.x / 32, x = blockIdx.x * 32, y = blockIdx.y * 32;
  for (int j = 0; j < 32; j += 8) { tile[(ty + j) * 32 + tx] = A[size_t(y + ty + j) * n + x + tx]; }
  __syncthreads();
  for (int j = 0; j < 32; j += 8) { B[size_t(x + ty + j) * n + y + tx] = tile[tx * 32 + ty + j]; }
}

int main() {
  int n = 8192;
  float *A, *B;
  cudaMalloc(&A, 4ull * n * n);
  cudaMalloc(&B, 4ull * n * n);
  dim3 grid(n / 64, n / 64);
  in_struct<Traits><<<grid, 256>>>(A, B, n);
  swizzled<<<grid, 256>>>(A, B, n);
  auto launch = [&](auto tile) {
    auto layout = make_layout(make_shape(tile, tile), make_stride(tile, Int<1>{}));
    by_host<<<grid, 256, cosize(layout) * sizeof(float)>>>(A, B, n, layout);
  };
  launch(Int<64>{});
  plain<<<dim3(n / 32, n / 32), 256, 32 * 32 * sizeof(float)>>>(A, B, n);
  return cudaDeviceSynchronize();
}
