// A TMA load and an accumulator in tensor memory, as kernels write them. Nothing of it is run.
#include <cute/tensor.hpp>
using namespace cute;

void host() {
  auto gA = make_tensor(make_gmem_ptr<half_t>(0), make_layout(make_shape(100, 120), GenRowMajor{}));
  auto sA = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _128>{});
  auto tma = make_tma_copy(SM90_TMA_LOAD{}, gA, sA, Shape<_64, _128>{}, _1{});
  auto mma = make_tiled_mma(SM100_MMA_F16BF16_SS<half_t, half_t, float, 128, 256, UMMA::Major::K, UMMA::Major::K>{});
  auto tCtAcc = mma.make_fragment_C(partition_shape_C(mma, Shape<_128, _256>{}));
}
