// Operands of a wgmma and an accumulator in tensor memory, as kernels write them. Nothing of it is run.
#include <cute/tensor.hpp>
using namespace cute;

void host() {
  auto sA = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _128>{});
  auto mma = make_tiled_mma(SM100_MMA_F16BF16_SS<half_t, half_t, float, 128, 256, UMMA::Major::K, UMMA::Major::K>{});
  auto tCtAcc = mma.make_fragment_C(partition_shape_C(mma, Shape<_128, _256>{}));
}
