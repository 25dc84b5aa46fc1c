// Operands of a wgmma and an accumulator in tensor memory, as kernels write them. Nothing of it is run.
#include <cute/tensor.hpp>
using namespace cute;

void host() {
  auto sA = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _128>{});
  auto mma = make_tiled_mma(SM100_MMA_F16BF16_SS<half_t, half_t, float, 128, 256, UMMA::Major::K, UMMA::Major::K>{});
  auto tCtAcc = mma.make_fragment_C(partition_shape_C(mma, Shape<_128, _256>{}));
  // The epilogue: what thread 37 loads, and which (m,n) that is.
  auto load = make_tmem_copy(SM100_TMEM_LOAD_32dp32b16x{}, tCtAcc);
  auto mn = load.get_slice(37).partition_D(mma.get_slice(0).partition_C(make_identity_tensor(Shape<_128, _256>{})));
}
