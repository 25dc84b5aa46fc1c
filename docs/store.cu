// The store of CUTLASS's sgemm_2.cu, gemm_tn, in a few lines.
template <class SmemLayout>
__global__ void gemm_device(float const* A, SmemLayout sA_layout) {
  __shared__ float smemA[cosize_v<SmemLayout>];
  auto sA = make_tensor(make_smem_ptr(smemA), sA_layout);
  auto thr = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_32,_8>,Stride<_8,_1>>{}).get_slice(threadIdx.x);
  auto tAsA = thr.partition_D(sA);
  auto tArA = make_fragment_like(tAsA);
  copy(tArA, tAsA);
}

void gemm_tn(float const* A) {
  auto bM = Int<128>{};
  auto bK = Int<8>{};
  auto sA = make_layout(make_shape(bM, bK), make_stride(Int<1>{}, bM + Int<1>{}));
  gemm_device<<<1, 256>>>(A, sA);
}
