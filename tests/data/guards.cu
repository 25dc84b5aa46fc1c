// Guards, masks of lanes, loops that begin at a thread's index, halving, early exits.
#include <cute/tensor.hpp>
#include <cuda_runtime.h>
#include <cstdio>
using namespace cute;

// 1: a guarded transpose through CuTe tensors of a size that only a run knows
__global__ void guarded(float const* in, float* out, int rows, int cols) {
  __shared__ float buffer[32 * 32];
  Tensor sT = make_tensor(make_smem_ptr(buffer), Layout<Shape<_32, _32>, Stride<_32, _1>>{});
  int r = threadIdx.y, c = threadIdx.x;
  for (int i = 0; i < 32; i += 8) {
    if (r + i < rows && c < cols) {
      sT(r + i, c) = in[(r + i) * cols + c];
    }
  }
  __syncthreads();
  for (int i = 0; i < 32; i += 8) {
    if (r + i < cols && c < rows) {
      out[(r + i) * rows + c] = sT(c, r + i);
    }
  }
}

// 2: the lanes of half a warp, of every other lane, of one warp
__global__ void lanes(float* out) {
  __shared__ float s[1024];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  if (t < 16) s[t * 32] = 1.f;
  if (t % 2 == 0) s[t * 8 % 1024] = 2.f;
  __syncthreads();
  float x = t < 64 ? s[t * 2] : 0.f;
  if (t >= 96 && t < 128) x += s[(t - 96) * 4];
  if (!(t & 1)) x += s[1023 - t];
  out[t] = x;
}

// 3: a loop from the thread's index, with a stride of the block, and one down
__global__ void strided(float const* in, float* out, int n) {
  __shared__ float s[32 * 33];
  for (int i = threadIdx.x; i < 1000; i += blockDim.x) {
    s[(i % 32) * 33 + i / 32] = in[i];
  }
  __syncthreads();
  float x = 0.f;
  for (int i = threadIdx.x; i < n; i += 256) {
    x += s[(i % 32) * 32 + i / 32 % 32];
  }
  for (int k = 31; k >= 0; k -= 4) {
    x += s[threadIdx.x % 32 * 32 + k];
  }
  out[threadIdx.x] = x;
}

// 4: halves in a tensor of CuTe with an odd pitch, and a while loop
template <class L>
__global__ void halves(float* out, L layout) {
  __shared__ float buffer[cosize_v<L>];
  Tensor s = make_tensor(make_smem_ptr(buffer), layout);
  int x = threadIdx.x, y = threadIdx.y;
  s(y, x) = float(x * y);
  __syncthreads();
  for (int h = blockDim.y / 2; h > 0; h >>= 1) {
    if (y < h) s(y, x) += s(y + h, x);
    __syncthreads();
  }
  int w = 16;
  while (w > 0) {
    if (y == 0 && x < w) s(0, x) += s(0, x + w);
    __syncthreads();
    w /= 2;
  }
  if (x != 0 || y != 0) return;
  *out = s(0, 0);
}

// 5: a warp for each column
__global__ void columns(float const* in, float* out) {
  __shared__ float tile[32][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int j = warp; j < 32; j += 4) tile[j][lane] = in[j * 32 + lane];
  __syncthreads();
  for (int j = warp; j < 32; j += 4) {
    float x = tile[lane][j];
    if (lane < 8) x += tile[lane * 4][j];
    out[j * 32 + lane] = x;
  }
}

int main() {
  float *in, *out;
  cudaMalloc(&in, 1 << 16);
  cudaMalloc(&out, 1 << 16);
  cudaMemset(in, 0, 1 << 16);
  guarded<<<1, dim3(32, 8)>>>(in, out, 32, 32);
  lanes<<<1, 128>>>(out);
  strided<<<1, 256>>>(in, out, 1024);
  halves<<<1, dim3(32, 8)>>>(out, Layout<Shape<_8, _32>, Stride<_32, _1>>{});
  halves<<<1, dim3(32, 8)>>>(out, Layout<Shape<_8, _32>, Stride<_1, _8>>{});
  columns<<<1, 128>>>(in, out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
