// A GEMM's layouts, as kernels write them: what `cute-viz list kernel.cu` opens. Nothing in it is run.
#include <cute/tensor.hpp>
using namespace cute;

template <class Element>
__global__ void gemm_tn(Element const* A, float* C, int M, int N, int K) {
  auto sA = tile_to_shape(Layout<Shape<_8, _64>, Stride<_64, _1>>{}, Shape<_128, _64>{});
  auto sB = tile_to_shape(composition(Swizzle<3, 3, 3>{}, Layout<Shape<_8, _64>, Stride<_64, _1>>{}), Shape<_128, _64>{});
  auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2, _1>>{}, Tile<_32, _32, _16>{});
  auto copy_A = make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint128_t>, half_t>{},
                                Layout<Shape<_16, _8>, Stride<_8, _1>>{}, Layout<Shape<_1, _8>>{});
  auto read_A = make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, mma);
  auto gA = make_tensor(make_gmem_ptr(A), make_shape(M, K), LayoutRight{});
}
