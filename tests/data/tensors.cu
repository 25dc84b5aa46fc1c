// A file in the manner of Hopper's kernels, written for these tests: one kernel with several callers, TMA, a builder, recasts.
#include <cute/tensor.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/epilogue/collective/collective_builder.hpp>

using namespace cute;

namespace hopper {

template <class ArchTag_, class Element_, int kStages, class TileShape_>
struct Collective {
  using ArchTag = ArchTag_;
  using Element = Element_;
  using TileShape = TileShape_;
  static constexpr bool kNew = ArchTag::kMinComputeCapability >= 90;
  static constexpr int kRows = CUTE_STATIC_V(size<0>(TileShape{}));
  using StrideO = Stride<int64_t, _1, int64_t>;
  using AtomNew = decltype(cutlass::gemm::collective::detail::ss_smem_selector<
      GMMA::Major::K, Element, decltype(get<0>(TileShape{})), decltype(get<2>(TileShape{}))>());
  using AtomOld = decltype(composition(Swizzle<3, 3, 3>{}, Layout<Shape<_8, _64>, Stride<_64, _1>>{}));
  using SmemAtom = std::conditional_t<ArchTag::kMinComputeCapability >= 90, AtomNew, AtomOld>;
  using Smem = decltype(tile_to_shape(SmemAtom{}, Shape<Int<kRows>, decltype(get<2>(TileShape{})), Int<kStages>>{}));
  using StoreOp = std::conditional_t<
      kNew,
      decltype(cutlass::epilogue::collective::detail::sm90_get_smem_store_op_for_accumulator<
               StrideO, Element, decltype(select<0, 1>(TileShape{}))>()),
      AutoVectorizingCopyWithAssumedAlignment<128>>;
  using StoreAtom = Copy_Atom<StoreOp, Element>;
  using Cluster = decltype(cutlass::gemm::collective::detail::sm90_cluster_shape_to_tma_atom(_2{}));
};

template <class Shape_, class Tiler, class T, class StrideT, class SmemLayout, class Tma, class Mma>
__global__ void device_gemm(Shape_ shape, Tiler tiler, T const* a, StrideT stride, SmemLayout smem_layout,
                            CUTE_GRID_CONSTANT Tma const tma, Mma mma) {
  auto [M, N, K] = shape;
  Tensor plain = make_tensor(make_gmem_ptr(a), make_shape(M, K), stride);
  Tensor tiles = local_tile(plain, select<0, 2>(tiler), make_coord(blockIdx.x, _));
  Tensor words = recast<uint32_t>(tiles);
  Tensor coords = tma.get_tma_tensor(make_shape(M, K));
  Tensor tile = local_tile(coords, tiler, make_coord(blockIdx.x, blockIdx.y, _), Step<_1, X, _1>{});
  T* buffer = nullptr;
  Tensor smem = make_tensor(make_smem_ptr(buffer), SmemLayout{});
  auto [from, to] = tma_partition(tma, Int<0>{}, Layout<_1>{}, group_modes<0, 2>(smem), group_modes<0, 2>(tile));
  auto count = size<1>(from);
  ThrMMA thread = mma.get_slice(threadIdx.x);
  Tensor operand = thread.make_fragment_A(thread.partition_A(smem));
  Tensor sums = thread.partition_fragment_C(make_tensor(make_gmem_ptr(a), select<0, 1>(tiler)));
  Tensor pairs = recast<double>(sums);
  // end of device_gemm
}

template <class T>
void first(T const* a, int m, int n, int k, int lda) {
  auto shape = make_shape(m, n, k);
  auto tiler = make_shape(Int<128>{}, Int<64>{}, Int<64>{});
  auto stride = make_stride(lda, Int<1>{});
  auto smem = tile_to_shape(GMMA::Layout_K_SW128_Atom<T>{}, make_shape(Int<128>{}, Int<64>{}, Int<3>{}));
  TiledMMA mma = make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>{}, Layout<Shape<_2>>{});
  Tensor whole = make_tensor(a, make_shape(m, k), stride);
  Copy_Atom tma = make_tma_atom(SM90_TMA_LOAD{}, whole, smem(_, _, 0), make_shape(Int<128>{}, Int<64>{}));
  device_gemm<<<1, 256>>>(shape, tiler, a, stride, smem, tma, mma);
}

template <class T>
void second(T const* a, int m, int n, int k, int lda) {
  auto shape = make_shape(m, n, k);
  auto tiler = make_shape(Int<128>{}, Int<64>{}, Int<64>{});
  auto stride = make_stride(Int<1>{}, lda);
  auto smem = tile_to_shape(GMMA::Layout_MN_SW128_Atom<T>{}, make_shape(Int<128>{}, Int<64>{}, Int<3>{}));
  TiledMMA mma = make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::MN, GMMA::Major::K>{}, Layout<Shape<_2>>{});
  Tensor whole = make_tensor(a, make_shape(m, k), stride);
  Copy_Atom tma = make_tma_atom(SM90_TMA_LOAD{}, whole, smem(_, _, 0), make_shape(Int<128>{}, Int<64>{}));
  device_gemm<<<1, 256>>>(shape, tiler, a, stride, smem, tma, mma);
}

using Tile = Shape<_128, _128, _64>;
using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Shape<_2, _1, _1>,
    cutlass::epilogue::collective::EpilogueTileAuto, float, float, half_t, cutlass::layout::RowMajor, 8, half_t,
    cutlass::layout::RowMajor, 8, cutlass::epilogue::TmaWarpSpecializedCooperative>::CollectiveOp;
using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, half_t, cutlass::layout::RowMajor, 8, half_t,
    cutlass::layout::RowMajor, 8, float, Tile, Shape<_2, _1, _1>,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>,
    cutlass::gemm::KernelTmaWarpSpecializedCooperative>::CollectiveOp;
using EightBits = typename cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, float_e4m3_t, cutlass::layout::RowMajor, 16, float_e4m3_t,
    cutlass::layout::ColumnMajor, 16, float, Shape<_64, _128, _128>, Shape<_1, _1, _1>,
    cutlass::gemm::collective::StageCount<5>, cutlass::gemm::KernelTmaWarpSpecializedPingpong>::CollectiveOp;

}  // namespace hopper
