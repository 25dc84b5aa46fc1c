// Stand-in for a parser where PyTorch is not installed.
#pragma once
#include <ATen/cuda/CUDAGeneratorImpl.h>
namespace at { namespace cuda {
struct CUDAStream { operator cudaStream_t() const; cudaStream_t stream() const; };
template <class... A> CUDAStream getCurrentCUDAStream(A...);
cudaDeviceProp* getCurrentDeviceProperties();
} }
namespace c10 { namespace cuda { using at::cuda::getCurrentCUDAStream; using at::cuda::CUDAStream; } }
