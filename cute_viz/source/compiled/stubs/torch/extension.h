// Stand-in for a parser where PyTorch is not installed.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <string>
#include <vector>
#include <ATen/cuda/CUDAContext.h>
namespace at {
enum ScalarType { kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble, kBFloat16, kFloat8_e4m3fn, kFloat8_e5m2, kInt32, kFloat32, kFloat16, kInt8, kUInt8, kInt64, kInt16, kFloat64, kBool };
enum DeviceType { kCPU, kCUDA };
struct Device { Device(DeviceType, int = 0); int index() const; bool is_cuda() const; DeviceType type() const; };
struct TensorOptions {
  template <class... A> TensorOptions(A&&...); template <class T> TensorOptions dtype(T&&) const; template <class T> TensorOptions device(T&&) const; ScalarType dtype() const; Device device() const;
  template <class... A> TensorOptions device(DeviceType, A&&...) const; template <class T> TensorOptions layout(T&&) const; template <class T> TensorOptions requires_grad(T&&) const;
};
struct IntArrayRef {
  IntArrayRef(std::initializer_list<int64_t>); IntArrayRef(const std::vector<int64_t>&); IntArrayRef(int64_t);
  int64_t operator[](size_t) const; size_t size() const; bool operator==(const IntArrayRef&) const; bool operator!=(const IntArrayRef&) const;
};
std::ostream& operator<<(std::ostream&, const IntArrayRef&);
struct Tensor {
  template <class T = void> T* data_ptr() const;
  template <class T = void> T* mutable_data_ptr() const;
  template <class T = void> const T* const_data_ptr() const;
  int64_t size(int64_t) const; int64_t stride(int64_t) const; int64_t numel() const; int64_t dim() const; int64_t element_size() const;
  IntArrayRef sizes() const; IntArrayRef strides() const; ScalarType scalar_type() const; ScalarType dtype() const;
  bool is_cuda() const; bool is_contiguous() const; bool defined() const; int get_device() const;
  template <class... A> Tensor to(A&&...) const; Tensor contiguous() const; template <class... A> Tensor view(A&&...) const; template <class... A> Tensor transpose(A&&...) const;
  TensorOptions options() const; Device device() const; Tensor clone() const; Tensor cuda() const; Tensor cpu() const; Tensor t() const; Tensor& zero_();
  template <class... A> Tensor reshape(A&&...) const; template <class... A> Tensor slice(A&&...) const; template <class... A> Tensor& fill_(A&&...);
  template <class T = void> T item() const; template <class... A> Tensor permute(A&&...) const; int64_t nbytes() const; template <class T> Tensor operator[](T) const;
};
template <class... A> Tensor empty(A&&...); template <class... A> Tensor zeros(A&&...); template <class... A> Tensor ones(A&&...);
Tensor empty(std::initializer_list<int64_t>, TensorOptions = {}); Tensor zeros(std::initializer_list<int64_t>, TensorOptions = {});
Tensor ones(std::initializer_list<int64_t>, TensorOptions = {}); template <class... A> Tensor rand(A&&...); template <class... A> Tensor randn(A&&...);
template <class... A> Tensor arange(A&&...); template <class... A> Tensor from_blob(A&&...); template <class... A> Tensor empty_strided(A&&...);
template <class... A> Tensor empty_like(A&&...); template <class... A> Tensor zeros_like(A&&...); template <class... A> Tensor full(A&&...);

}
namespace c10 { using at::ScalarType; using at::IntArrayRef; using at::TensorOptions; using at::Device; using at::DeviceType; template <class T> using optional = std::optional<T>; using std::nullopt; }
namespace torch { using namespace at; using at::Tensor; using Dtype = at::ScalarType; }
namespace pybind11 {
struct arg { arg(const char*); template <class T> arg& operator=(T&&); };
struct module_ { template <class... A> module_& def(A&&...); };
}
namespace py = pybind11;
#define PYBIND11_MODULE(NAME, M) static void __cute_viz_module(pybind11::module_& M)
#define TORCH_LIBRARY(NAME, M) static void __cute_viz_library(pybind11::module_& M)
#define TORCH_LIBRARY_IMPL(NAME, KEY, M) static void __cute_viz_library_##KEY(pybind11::module_& M)
#define TORCH_CHECK_EQ(...) (void)0
#define TORCH_INTERNAL_ASSERT(...) (void)0
