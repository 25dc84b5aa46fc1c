// Plain pointers, references, members and parameters that point into shared memory.
struct Storage {
  float a[32][33];
  float b[64];
};

__device__ void fill(float* p, float v, int stride) {
  p[threadIdx.x * stride] = v;
}

template <int N>
__device__ void put(float (&a)[N][33], int r, int c, float v) {
  a[r][c] = v;
}

__global__ void parts(float* g) {
  extern __shared__ float buf[];
  float* A = buf;
  float* B = A + 32 * 33;
  float* C = &B[64];
  int tx = threadIdx.x, ty = threadIdx.y;
  A[tx * 33 + ty] = g[tx];
  B[tx * 2 + ty * 2] = g[ty];
  C[ty * 32 + tx * 4] = 1.f;
  __syncthreads();
  g[ty * 32 + tx] = A[ty * 33 + tx] + B[tx * 4];
}

__global__ void calls(float* g) {
  __shared__ float s[1024];
  __shared__ float m[32][33];
  __shared__ Storage x;
  int t = threadIdx.x, lane = t % 32;
  fill(s, 1.f, 1);
  fill(s + 3, 2.f, 4);
  if (t < 32) fill(s, 3.f, 2);
  put(m, lane, t / 32, 1.f);
  x.a[lane][t / 32] = 1.f;
  __syncthreads();
  float* p = s + t;
  int even = t % 2 == 0 ? t : 4 * t, far = t < 64 && t >= 32 ? 2 * t : t;
  bool some = t < 10;
  g[t] = p[256] + x.b[2 * lane];
  g[t] = *(p + 1) + s[even] + s[far];
  if (some) g[t] = s[t * 16];
  if (s[t * 8] > 1.f) g[t] = 1.f;
  __syncthreads();
  switch (t / 32) {
    case 0: s[t] = 1; break;
    case 1: s[(t - 32) * 2] = 2; break;
    default: s[lane * 4] = 3;
  }
}

void run(float* a, float* b) {
  parts<<<1, dim3(32, 8), 64000>>>(a);
  calls<<<1, 128>>>(a);
}
