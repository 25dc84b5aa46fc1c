// What kernels write, in every way that they write it: read by tests/test_cpp_source.py, which knows what CuTe prints of it.
#include <cute/tensor.hpp>
#define STAGES 3
#define BYTES(bits, n) ((bits) / 8 * (n))

namespace kernels {
using namespace cute;

enum class Mode : int { Plain = 2, Fancy, Last = 0b101 };
enum { kRows = 1'6, kColumns = 0x10 };

constexpr int log2_of(int n) { return n <= 1 ? 0 : 1 + log2_of(n / 2); }

template <bool Wide>
constexpr auto thread_shape() {
  if constexpr (Wide) {
    return make_shape(Int<16>{}, Int<8>{});
  } else {
    auto rows = Int<32>{};
    return make_shape(rows, Int<4>{});
  }
}

template <class T, int N>
struct Base {
  using Element = T;
  static constexpr int kElements = 16 / sizeof(T), kThreads = N * 32;
  template <int Stages>
  using Smem = decltype(tile_to_shape(
      GMMA::Layout_K_SW128_Atom<T>{}, Shape<Int<N * 16>, Int<64>, Int<Stages>>{}));
};

template <class T, class Major>
struct Atom;

template <>
struct Atom<half_t, GenRowMajor> { using type = Layout<Shape<_8, _64>, Stride<_64, _1>>; };

template <class T>
struct Atom<T, GenColMajor> {
  using type = Layout<Shape<Int<128 / sizeof(T)>, _8>>;
};

template <int kM, int kN, class T = half_t, class B = Base<T, kM / 16>>
struct Traits : public B {
  using Element = typename B::Element;
  static constexpr int kBlockK = kN % 64 == 0 ? 64 : 32;
  static constexpr bool kSplit = kM > 64 && !(kN < 128) || false;
  static constexpr int kSwizzle = log2_of(kBlockK / 8);
  static constexpr int kSmem = BYTES(sizeof_bits_v<T>, kM) * kBlockK;
  using SmemAtom = decltype(
      composition(Swizzle<kSwizzle, 3, 3>{},
                  Layout<Shape<_8, Int<kBlockK>>, Stride<Int<kBlockK>, _1>>{}));
  using SmemA = decltype(tile_to_shape(SmemAtom{}, Shape<Int<kM>, Int<kBlockK>>{}));
  using SmemT = decltype(composition(SmemA{}, make_layout(Shape<Int<kBlockK>, Int<kM>>{}, GenRowMajor{})));
  using Staged = typename B::template Smem<STAGES>;
  using MmaAtom = std::conditional_t<std::is_same_v<Element, bfloat16_t>,
                                     MMA_Atom<SM80_16x8x16_F32BF16BF16F32_TN>,
                                     MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>>;
  using Mma = TiledMMA<
      MmaAtom,
      Layout<Shape<Int<kM / 32>, _2, _1>>,
      Tile<Int<16 * (kM / 32)>, _32, _16>>;
  using Gmem = decltype(make_tiled_copy(
      Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, Element>{},
      Layout<Shape<Int<B::kThreads / 8>, _8>, Stride<_8, _1>>{},
      Layout<Shape<_1, Int<B::kElements>>>{}));
  using Rows = typename Atom<half_t, GenRowMajor>::type;
  using Columns = typename Atom<Element, GenColMajor>::type;
};

using Wide = Traits<128, 256>;
struct Odd : Traits<64, 96, bfloat16_t> {
  using Copy = decltype(make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, bfloat16_t>{}, Mma{}));
};

template <class Tiler>
auto device(Tiler tiler, float const* a, int m, int k) {
  auto mA = make_tensor(make_gmem_ptr(a), make_shape(m, k), make_stride(k, Int<1>{}));
  auto coord = make_coord(2, _);
  Tensor gA = local_tile(mA, select<0, 2>(tiler), coord);
  auto thr = make_layout(Shape<_32, _4>{});
  Tensor tA = local_partition(gA(_, _, 0), thr, 5);
  return tA;
}

inline void host() {
  auto bM{Int<128>{}};
  constexpr int kK{64}, kPad = 8u;
  auto const tiler = make_shape(bM, Int<32>{}, C<(int)kK>{});
  auto [tM, tN, tK] = tiler;
  auto padded = make_layout(make_shape(tM, tK), make_stride(tK + Int<kPad>{}, Int<1>{}));
  auto sized = make_layout(make_shape(1'024, 512), LayoutRight{});
  auto tiled = zipped_divide(sized, make_shape(tM, tN));
  auto threads = make_layout(thread_shape<true>(), LayoutRight{});
  auto few = make_layout(thread_shape<int(Mode::Last) == 4>());
  auto twice = [](auto layout) { return make_layout(layout, Layout<_2>{}); };
  auto lambda = twice(threads);
  auto mode = Int<static_cast<int>(Mode::Fancy)>{};
  auto shifted = Int<(kRows << 2 | 1) % kColumns>{};
  auto best = make_shape(cute::max(tN, Int<48>{}), cute::min(Int<8>{}, mode), ceil_div(bM, Int<48>{}));
  TiledMMA mma = make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K, (GMMA::Major)0>{});
  auto ids = typename decltype(mma)::AtomThrID{};
  auto mnk = tile_shape(mma);
  auto acc = partition_shape_C(mma, select<0, 1>(tiler));
  { auto inner = Layout<Shape<_2, _2>>{}; auto outer = logical_product(inner, Layout<_3>{}); (void)outer; }
  auto result = device(tiler, (float const*)nullptr, 512, 256);
  (void)result;
}
}  // namespace kernels
