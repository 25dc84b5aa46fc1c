// Stand-in for a parser where PyTorch is not installed.
#pragma once
#include <cstdint>
#include <tuple>
#include <c10/cuda/CUDAException.h>
namespace at {
struct PhiloxCudaState { union Payload { uint64_t val; int64_t* ptr; }; Payload seed_, offset_; uint32_t offset_intragraph_; bool captured_; };
struct Generator; struct CUDAGeneratorImpl { PhiloxCudaState philox_cuda_state(uint64_t); };
namespace cuda { namespace philox { __device__ __host__ std::tuple<uint64_t, uint64_t> unpack(PhiloxCudaState); } }
}
