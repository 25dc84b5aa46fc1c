// Stand-in for a parser where PyTorch is not installed.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <ATen/cuda/CUDAContext.h>
namespace at {
enum ScalarType { kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble, kBFloat16, kFloat8_e4m3fn, kFloat8_e5m2, kInt32, kFloat32, kFloat16, kInt8, kUInt8 };
struct IntArrayRef { template <class... A> IntArrayRef(A&&...); int64_t operator[](size_t) const; size_t size() const; };
struct Tensor {
  template <class T = void> T* data_ptr() const;
  template <class T = void> T* mutable_data_ptr() const;
  template <class T = void> const T* const_data_ptr() const;
  int64_t size(int64_t) const; int64_t stride(int64_t) const; int64_t numel() const; int64_t dim() const; int64_t element_size() const;
  IntArrayRef sizes() const; IntArrayRef strides() const; ScalarType scalar_type() const; ScalarType dtype() const;
  bool is_cuda() const; bool is_contiguous() const; bool defined() const; int get_device() const;
  template <class... A> Tensor to(A&&...) const; Tensor contiguous() const; template <class... A> Tensor view(A&&...) const; template <class... A> Tensor transpose(A&&...) const;
  struct Options { template <class... A> Options dtype(A&&...) const; template <class... A> Options device(A&&...) const; } options() const;
};
template <class... A> Tensor empty(A&&...); template <class... A> Tensor zeros(A&&...); template <class... A> Tensor ones(A&&...);
template <class... A> Tensor empty_like(A&&...); template <class... A> Tensor zeros_like(A&&...); template <class... A> Tensor full(A&&...);

}
namespace c10 { using at::ScalarType; using at::IntArrayRef;  }
namespace torch { using namespace at; using at::Tensor; using Dtype = at::ScalarType; }
