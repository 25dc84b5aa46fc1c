// Stand-in for a parser where cuBLAS is not installed.
#pragma once
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <library_types.h>
struct cublasContext;
using cublasHandle_t = cublasContext*;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13, CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15 };
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
enum cublasMath_t { CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_PEDANTIC_MATH = 2, CUBLAS_TF32_TENSOR_OP_MATH = 3 };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };
enum cublasComputeType_t { CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77, CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_32I = 72 };
#define CUTE_VIZ_CUBLAS(NAME) template <class... A> cublasStatus_t cublas##NAME(A&&...);
CUTE_VIZ_CUBLAS(Create) CUTE_VIZ_CUBLAS(Destroy) CUTE_VIZ_CUBLAS(SetStream) CUTE_VIZ_CUBLAS(SetMathMode) CUTE_VIZ_CUBLAS(SetPointerMode)
CUTE_VIZ_CUBLAS(Hgemm) CUTE_VIZ_CUBLAS(Sgemm) CUTE_VIZ_CUBLAS(Dgemm) CUTE_VIZ_CUBLAS(Cgemm) CUTE_VIZ_CUBLAS(Zgemm)
CUTE_VIZ_CUBLAS(HgemmStridedBatched) CUTE_VIZ_CUBLAS(SgemmStridedBatched) CUTE_VIZ_CUBLAS(DgemmStridedBatched)
CUTE_VIZ_CUBLAS(GemmEx) CUTE_VIZ_CUBLAS(GemmStridedBatchedEx) CUTE_VIZ_CUBLAS(GemmBatchedEx) CUTE_VIZ_CUBLAS(SgemmEx)
CUTE_VIZ_CUBLAS(Strsm) CUTE_VIZ_CUBLAS(Dtrsm) CUTE_VIZ_CUBLAS(Ctrsm) CUTE_VIZ_CUBLAS(Ztrsm)
#undef CUTE_VIZ_CUBLAS
inline const char* cublasGetStatusString(cublasStatus_t) { return ""; }
