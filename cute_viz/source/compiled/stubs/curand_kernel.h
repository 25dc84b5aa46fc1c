// Stand-in for a parser where cuRAND is not installed.
#pragma once
struct curandState {};
using curandState_t = curandState;
using curandStatePhilox4_32_10_t = curandState;
template <class... A> __device__ void curand_init(A&&...);
template <class T> __device__ unsigned curand(T*);
template <class T> __device__ float curand_uniform(T*);
template <class T> __device__ float curand_normal(T*);
template <class T> __device__ float4 curand_uniform4(T*);
template <class T> __device__ float4 curand_normal4(T*);
template <class T> __device__ double curand_uniform_double(T*);
template <class T> __device__ double curand_normal_double(T*);
