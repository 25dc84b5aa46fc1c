// What a CUDA compiler declares by itself, for a parser that has only CUDA's public headers: attributes, thread indices, intrinsics.
// Nothing here is ever run; the types of results are what matters.
#pragma once
#pragma clang force_cuda_host_device begin
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <crt/host_defines.h>
#undef __host__
#undef __device__
#undef __global__
#undef __shared__
#undef __constant__
#undef __managed__
// Only kernels are told apart: a parser has no use for the difference of host and device code, nor for the errors that come of it.
#define __host__
#define __device__
#define __global__ __attribute__((global))
#define __shared__
#define __constant__
#define __managed__
#undef __launch_bounds__
#undef __grid_constant__
#undef __cluster_dims__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__ __attribute__((grid_constant))
#define __cluster_dims__(...)
#define __block_size__(...)
#include <cuda.h>
#include <cuda_runtime.h>  // now, as its device functions are declared below
#include <vector_functions.h>

template <class T, int N> struct __cute_viz_alias { enum type : char {}; };  // tells the type of an alias
struct __cute_viz_index {
  unsigned x, y, z;
  __host__ __device__ operator uint3() const;
  __host__ __device__ operator dim3() const;
};
extern const __cute_viz_index threadIdx, blockIdx, blockDim, gridDim;
const int warpSize = 32;

cudaError_t __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void* = nullptr);
cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, void* = nullptr);
template <class F> cudaError_t cudaFuncSetAttribute(F*, cudaFuncAttribute, int);
template <class F> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, F*);
template <class F> cudaError_t cudaFuncSetCacheConfig(F*, cudaFuncCache);
template <class F> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, F*, int, size_t);
template <class F> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int*, F*, int, size_t, unsigned);
template <class F> cudaError_t cudaOccupancyMaxActiveClusters(int*, F*, const cudaLaunchConfig_t*);
void cudaTriggerProgrammaticLaunchCompletion(); void cudaGridDependencySynchronize();
template <class T> cudaError_t cudaMalloc(T**, size_t);
template <class T> cudaError_t cudaMallocManaged(T**, size_t, unsigned);
template <class T> cudaError_t cudaMallocHost(T**, size_t, unsigned);
template <class F, class... A> cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t*, F, A&&...);
template <class T> cudaError_t cudaMemcpyToSymbol(const T&, const void*, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice);
template <class T> cudaError_t cudaMemcpyFromSymbol(void*, const T&, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost);

#define CV_D __device__ __host__
#define CV_F(R, name) template <class... A> CV_D R name(A...);
#define CV_T(name) template <class T, class... A> CV_D T name(T*, A...);
// votes, shuffles, barriers
CV_F(unsigned, __ballot_sync) CV_F(unsigned, __activemask) CV_F(int, __any_sync) CV_F(int, __all_sync) CV_F(unsigned, __match_any_sync)
CV_F(unsigned, __reduce_add_sync) CV_F(unsigned, __reduce_max_sync) CV_F(unsigned, __reduce_min_sync) CV_F(unsigned, __reduce_or_sync)
template <class T, class... A> CV_D T __shfl_sync(unsigned, T, A...);
template <class T, class... A> CV_D T __shfl_up_sync(unsigned, T, A...);
template <class T, class... A> CV_D T __shfl_down_sync(unsigned, T, A...);
template <class T, class... A> CV_D T __shfl_xor_sync(unsigned, T, A...);
CV_F(void, __syncwarp) CV_F(void, __syncthreads) CV_F(int, __syncthreads_or) CV_F(int, __syncthreads_and) CV_F(int, __syncthreads_count)
CV_F(void, __threadfence) CV_F(void, __threadfence_block) CV_F(void, __threadfence_system)
CV_F(void, __trap) CV_F(void, __brkpt) CV_F(void, __nanosleep) CV_F(long long, clock64) CV_F(int, clock) CV_F(void, __prof_trigger)
CV_F(bool, __isGlobal) CV_F(bool, __isShared) CV_F(bool, __isClusterShared) CV_F(void, __barrier_sync) CV_F(unsigned, __fns)
// atomics
CV_T(atomicAdd) CV_T(atomicSub) CV_T(atomicCAS) CV_T(atomicMax) CV_T(atomicMin) CV_T(atomicExch) CV_T(atomicOr) CV_T(atomicAnd) CV_T(atomicXor) CV_T(atomicInc) CV_T(atomicDec)
CV_T(atomicAdd_block) CV_T(atomicAdd_system) CV_T(atomicCAS_block) CV_T(atomicCAS_system) CV_T(atomicExch_block) CV_T(atomicExch_system)
// integers
CV_F(unsigned, __byte_perm) CV_F(int, __popc) CV_F(int, __popcll) CV_F(int, __ffs) CV_F(int, __ffsll) CV_F(int, __clz) CV_F(int, __clzll) CV_F(unsigned, __brev)
CV_F(unsigned long long, __brevll)
CV_F(int, __dp4a) CV_F(int, __dp2a_lo) CV_F(int, __dp2a_hi) CV_F(unsigned, __umulhi) CV_F(int, __mulhi) CV_F(unsigned long long, __umul64hi) CV_F(int, __mul24)
CV_F(unsigned, __funnelshift_l) CV_F(unsigned, __funnelshift_r) CV_F(int, __viaddmin_s32) CV_F(int, __viaddmax_s32) CV_F(int, __vimax3_s32)
CV_F(unsigned, __vmins2) CV_F(unsigned, __vminu2) CV_F(unsigned, __vmaxs2) CV_F(unsigned, __vmaxu2) CV_F(unsigned, __vadd2) CV_F(unsigned, __vcmpeq4) CV_F(unsigned, __vabs4) CV_F(unsigned, __vsub4) CV_F(unsigned, __vsubss4) CV_F(int, __sad)
// floating point
CV_F(float, __fmaf_rn) CV_F(float, __fmaf_ieee_rn) CV_F(float, rsqrtf) CV_F(double, rsqrt) CV_F(float, __expf) CV_F(float, __exp10f) CV_F(float, __logf) CV_F(float, __log2f) CV_F(float, __log10f) CV_F(float, __exp2f)
CV_F(float, __sinf) CV_F(float, __cosf) CV_F(float, __tanf) CV_F(float, __powf)
CV_F(float, __fdividef) CV_F(float, __frcp_rn) CV_F(float, __fmul_rn) CV_F(float, __fadd_rn) CV_F(float, __fsub_rn) CV_F(float, __fdiv_rn) CV_F(float, __fsqrt_rn) CV_F(float, __frsqrt_rn)
CV_F(float, __saturatef) CV_F(unsigned, __float_as_uint) CV_F(int, __float_as_int) CV_F(float, __int_as_float) CV_F(float, __uint_as_float)
CV_F(long long, __double_as_longlong) CV_F(double, __longlong_as_double)
#define CV_R(R, name) CV_F(R, name##_rn) CV_F(R, name##_rz) CV_F(R, name##_rd) CV_F(R, name##_ru)
CV_R(int, __float2int) CV_R(unsigned, __float2uint) CV_R(long long, __float2ll) CV_R(unsigned long long, __float2ull)
CV_R(float, __int2float) CV_R(float, __uint2float) CV_R(float, __ll2float) CV_R(float, __ull2float) CV_R(float, __double2float)
CV_R(int, __double2int) CV_R(unsigned, __double2uint) CV_R(long long, __double2ll) CV_R(unsigned long long, __double2ull)
CV_R(double, __ll2double) CV_R(double, __ull2double) CV_F(double, __int2double_rn) CV_F(double, __uint2double_rn) CV_R(double, __fma)
// addresses and memory
CV_F(size_t, __cvta_generic_to_shared) CV_F(size_t, __cvta_generic_to_global) CV_F(size_t, __cvta_generic_to_local)
CV_F(void*, __cvta_shared_to_generic) CV_F(void*, __cvta_global_to_generic)
template <class T> CV_D T __ldg(const T*);
template <class T> CV_D T __ldcg(const T*);
template <class T> CV_D T __ldca(const T*);
template <class T> CV_D T __ldcs(const T*);
template <class T> CV_D T __ldlu(const T*);
template <class T> CV_D T __ldcv(const T*);
template <class T> CV_D void __stcs(T*, T);
template <class T> CV_D void __stcg(T*, T);
template <class T> CV_D void __stwb(T*, T);
template <class T> CV_D void __stwt(T*, T);
using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;
using std::max;
using std::min;
#undef CV_R
#undef CV_F
#undef CV_T
#define __CUDACC__ 1  // which selects the code that users write for the compiler
