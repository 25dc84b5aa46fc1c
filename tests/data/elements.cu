// Element loops through CuTe tensors: which instructions, which wavefronts.
#include <cute/tensor.hpp>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace cute;

// 1: coordinates of a whole tensor, from threadIdx: a transposing store and a row-wise read
template <class Smem>
__global__ void coordinates(float const* in, float* out, Smem smem_layout) {
  __shared__ float buffer[cosize_v<Smem>];
  Tensor gA = make_tensor(make_gmem_ptr(in), Layout<Shape<_32, _32>, Stride<_32, _1>>{});
  Tensor gB = make_tensor(make_gmem_ptr(out), Layout<Shape<_32, _32>, Stride<_32, _1>>{});
  Tensor sV = make_tensor(make_smem_ptr(buffer), smem_layout);
  int r = threadIdx.x / 32;
  int c = threadIdx.x % 32;
  for (int i = 0; i < 4; ++i) {
    sV(c, r + 8 * i) = gA(r + 8 * i, c);
  }
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    gB(r + 8 * i, c) = sV(r + 8 * i, c);
  }
}

// 2: elements of partitions, with one index
template <class Smem>
__global__ void parts(float const* in, float* out, Smem smem_layout) {
  __shared__ float buffer[cosize_v<Smem>];
  Tensor gA = make_tensor(make_gmem_ptr(in), Layout<Shape<_32, _32>, Stride<_32, _1>>{});
  Tensor gB = make_tensor(make_gmem_ptr(out), Layout<Shape<_32, _32>, Stride<_32, _1>>{});
  Tensor sA = make_tensor(make_smem_ptr(buffer), smem_layout);
  Tensor tAgA = local_partition(gA, Layout<Shape<_8, _32>, Stride<_32, _1>>{}, threadIdx.x);
  Tensor tAsA = local_partition(sA, Layout<Shape<_8, _32>, Stride<_32, _1>>{}, threadIdx.x);
  Tensor tBsA = local_partition(sA, Layout<Shape<_32, _8>>{}, threadIdx.x);
  Tensor tBgB = local_partition(gB, Layout<Shape<_32, _8>>{}, threadIdx.x);
  CUTE_UNROLL
  for (int i = 0; i < size(tAsA); ++i) {
    tAsA(i) = tAgA(i);
  }
  __syncthreads();
  CUTE_UNROLL
  for (int i = 0; i < size(tBsA); ++i) {
    tBgB(i) = 2.0f * tBsA(i);
  }
}

// 3: a fragment, element by element, of values that lie together: which width does the compiler take?
__global__ void together(half_t const* in, half_t* out) {
  __shared__ alignas(128) half_t buffer[64 * 64];
  Tensor gA = make_tensor(make_gmem_ptr(in), Layout<Shape<_64, _64>, Stride<_64, _1>>{});
  Tensor gB = make_tensor(make_gmem_ptr(out), Layout<Shape<_64, _64>, Stride<_64, _1>>{});
  Tensor sA = make_tensor(make_smem_ptr(buffer), Layout<Shape<_64, _64>, Stride<_64, _1>>{});
  auto tiled = make_tiled_copy(Copy_Atom<UniversalCopy<half_t>, half_t>{}, Layout<Shape<_16, _8>, Stride<_8, _1>>{}, Layout<Shape<_1, _8>>{});
  auto thr = tiled.get_slice(threadIdx.x);
  Tensor tg = thr.partition_S(gA);
  Tensor ts = thr.partition_D(sA);
  Tensor to = thr.partition_D(gB);
  Tensor r = make_tensor_like(ts);
  for (int i = 0; i < size(r); ++i) {
    r(i) = tg(i);
  }
  for (int i = 0; i < size(r); ++i) {
    ts(i) = r(i);
  }
  __syncthreads();
  Tensor col = local_partition(sA, Layout<Shape<_2, _64>>{}, threadIdx.x);
  Tensor cog = local_partition(gB, Layout<Shape<_2, _64>>{}, threadIdx.x);
  CUTE_UNROLL
  for (int m = 0; m < size<0>(col); ++m) {
    CUTE_UNROLL
    for (int n = 0; n < size<1>(col); ++n) {
      cog(m, n) = col(m, n);
    }
  }
}

// 4: a plain pointer, a condition, and an increment
__global__ void pointer(float const* in, float* out) {
  __shared__ float buffer[32 * 33];
  Tensor sA = make_tensor(make_smem_ptr(buffer), Layout<Shape<_32, _32>, Stride<Int<33>, _1>>{});
  Tensor gB = make_tensor(make_gmem_ptr(out), Layout<Shape<_32, _32>, Stride<_32, _1>>{});
  for (int i = threadIdx.x; i < 1024; i += 256) {
    buffer[(i % 32) * 33 + i / 32] = in[i];
  }
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    int at = threadIdx.x + 256 * i;
    if (i < 3) {
      sA(at / 32, at % 32) += 1.0f;
    }
    gB(at) = sA(at % 32, at / 32);
  }
}

int main(int argc, char** argv) {
  std::vector<float> host(1024), back(1024);
  for (int i = 0; i < 1024; ++i) host[i] = float(i);
  float *in, *out;
  half_t *hin, *hout;
  cudaMalloc(&in, 4096);
  cudaMalloc(&out, 4096);
  cudaMalloc(&hin, 8192);
  cudaMalloc(&hout, 8192);
  cudaMemcpy(in, host.data(), 4096, cudaMemcpyHostToDevice);
  cudaMemset(hin, 0, 8192);
  coordinates<<<1, 256>>>(in, out, Layout<Shape<_32, _32>, Stride<_32, _1>>{});
  cudaMemcpy(back.data(), out, 4096, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < 1024; ++i) wrong += back[i] != host[(i % 32) * 32 + i / 32];
  coordinates<<<1, 256>>>(in, out, Layout<Shape<_32, _32>, Stride<Int<33>, _1>>{});
  parts<<<1, 256>>>(in, out, Layout<Shape<_32, _32>, Stride<_32, _1>>{});
  parts<<<1, 256>>>(in, out, composition(Swizzle<5, 0, 5>{}, Layout<Shape<_32, _32>, Stride<_32, _1>>{}));
  together<<<1, 128>>>(hin, hout);
  pointer<<<1, 256>>>(in, out);
  printf("loops: %s, %d wrong\n", cudaGetErrorString(cudaDeviceSynchronize()), wrong);
  return wrong != 0;
}
