// Helpers of CUTLASS and CuTe that kernels call by name: read behind a text that names one. cute_viz_check(condition, words, values...)
// refuses in those words. Sources: cutlass/gemm/collective/builders/sm90_common.inl, sm100_common.inl, cute/atom/mma_traits_*.hpp.
namespace cute_viz_helpers {

// Layout atoms of shared memory for a major, a type and a block

template <int mode, class Atom, class... More> constexpr auto cute_viz_widest(int extent, const char* words) {
  if constexpr (sizeof...(More) > 0) {
    if constexpr (extent % size<mode>(Atom{}) != 0) { return cute_viz_widest<mode, More...>(extent, words); }
  }
  return cute_viz_check(extent % size<mode>(Atom{}) == 0, words) ? Atom{} : Atom{};
}

template <auto major, class BLK_MN, class BLK_K> constexpr bool cute_viz_blocks() {
  return cute_viz_check(major == GMMA::Major::MN || major == GMMA::Major::K || major == 0 || major == 1, "% is not a major", major)
      && cute_viz_check(size<0>(BLK_MN{}) % 8 == 0, "BLK_MN0 must be a multiple of 8.")
      && cute_viz_check(size<0>(BLK_K{}) % 8 == 0, "BLK_K0 must be a multiple of 8.");
}

template <class T, class BLK_K> constexpr auto cute_viz_k_major(const char* words) {
  return cute_viz_widest<1, GMMA::Layout_K_SW128_Atom<T>, GMMA::Layout_K_SW64_Atom<T>, GMMA::Layout_K_SW32_Atom<T>, GMMA::Layout_K_INTER_Atom<T>>(size<0>(BLK_K{}), words);
}

template <class T, int S, class BLK_K> constexpr auto cute_viz_k_major_sparse(const char* words) {
  return cute_viz_widest<1, GMMA::Layout_K_SW128_SpAtom<T, S>, GMMA::Layout_K_SW64_SpAtom<T, S>, GMMA::Layout_K_SW32_SpAtom<T, S>, GMMA::Layout_K_INTER_SpAtom<T, S>>(size<0>(BLK_K{}), words);
}

template <class T, class BLK_MN> constexpr auto cute_viz_mn_major(const char* words) {
  return cute_viz_widest<0, GMMA::Layout_MN_SW128_Atom<T>, GMMA::Layout_MN_SW64_Atom<T>, GMMA::Layout_MN_SW32_Atom<T>, GMMA::Layout_MN_INTER_Atom<T>>(size<0>(BLK_MN{}), words);
}

template <class T, int S, class BLK_MN> constexpr auto cute_viz_mn_major_sparse(const char* words) {
  return cute_viz_widest<0, GMMA::Layout_MN_SW128_SpAtom<T, S>, GMMA::Layout_MN_SW64_SpAtom<T, S>, GMMA::Layout_MN_SW32_SpAtom<T, S>, GMMA::Layout_MN_INTER_SpAtom<T, S>>(size<0>(BLK_MN{}), words);
}

template <auto major, class T, class BLK_MN, class BLK_K> constexpr auto ss_smem_selector() {
  if constexpr (!cute_viz_blocks<major, BLK_MN, BLK_K>()) { return 0; }
  if constexpr (major == GMMA::Major::MN || major == 1) {
    if constexpr (size<0>(BLK_MN{}) % size<0>(GMMA::Layout_MN_SW32_Atom<T>{}) == 0) { return cute_viz_mn_major<T, BLK_MN>(""); }
    return cute_viz_widest<0, GMMA::Layout_MN_INTER_Atom<T>>(size(BLK_MN{}), "BLK_MN must be a multiple of size<0>(GMMA::Layout_MN_INTER_Atom<ElementType>{})");
  }
  return cute_viz_k_major<T, BLK_K>("BLK_K0 must be a multiple of size<1>(GMMA::Layout_K_INTER_Atom<ElementType>{})");
}

template <auto major, class T, class BLK_MN, class BLK_K, class Sparsity> constexpr auto ss_smem_selector_sparse() {
  if constexpr (!cute_viz_blocks<major, BLK_MN, BLK_K>()) { return 0; }
  if constexpr (major == GMMA::Major::MN || major == 1) {
    return cute_viz_mn_major_sparse<T, Sparsity{}, BLK_MN>("BLK_MN0 must be a multiple of size<0>(GMMA::Layout_MN_INTER_Atom<ElementType>{})");
  }
  return cute_viz_k_major_sparse<T, Sparsity{}, BLK_K>("BLK_K0 must be a multiple of size<1>(GMMA::Layout_K_INTER_Atom<ElementType>{})");
}

template <auto major, class T, class BLK_MN, class BLK_K, bool transposed = false> constexpr auto rs_smem_selector() {
  if constexpr (!cute_viz_blocks<major, BLK_MN, BLK_K>()) { return 0; }
  if constexpr (major == GMMA::Major::MN || major == 1) {
    if constexpr (sizeof(T) % 4 == 0 && transposed) {
      return cute_viz_widest<0, GMMA::Layout_MN_SW32_Atom<T>>(size<0>(BLK_MN{}), "BLK_MN0 must be a multiple of size<0>(GMMA::Layout_MN_SW32_Atom<ElementType>{})");
    }
    if constexpr (sizeof(T) % 4 == 0) {
      return cute_viz_widest<0, GMMA::Layout_MN_SW32_Atom<T>, GMMA::Layout_MN_INTER_Atom<T>>(size<0>(BLK_MN{}), "BLK_MN0 must be a multiple of size<0>(GMMA::Layout_MN_INTER_Atom<ElementType>{})");
    }
    if constexpr (sizeof(T) == 1 && transposed) {
      return cute_viz_widest<0, GMMA::Layout_MN_SW128_Atom<T>>(size<0>(BLK_MN{}), "BLK_MN0 must be a multiple of size<0>(GMMA::Layout_MN_128_Atom<ElementType>{})");
    }
    return cute_viz_mn_major<T, BLK_MN>("BLK_MN0 must be a multiple of size<0>(GMMA::Layout_MN_INTER_Atom<ElementType>{})");
  }
  return cute_viz_k_major<T, BLK_K>("BLK_K0 must be a multiple of size<1>(GMMA::Layout_K_INTER_Atom<ElementType>{})");
}

template <auto major, class T, class BLK_MN, class BLK_K> constexpr auto sm100_smem_selector() {
  if constexpr (!cute_viz_blocks<major, BLK_MN, BLK_K>()) { return 0; }
  if constexpr (major == GMMA::Major::MN || major == 1) {
    if constexpr (sizeof(T) == 4) {
      return cute_viz_widest<0, UMMA::Layout_MN_SW128_32B_Atom<T>>(size<0>(BLK_MN{}), "for mn-major tf32 operands, SW128_32B is the only available smem layout");
    }
    return cute_viz_mn_major<T, BLK_MN>("BLK_MN0 must be a multiple of size<0>(UMMA::Layout_MN_INTER_Atom<ElementType>{})");
  }
  return cute_viz_k_major<T, BLK_K>("BLK_K0 must be a multiple of size<1>(UMMA::Layout_K_INTER_Atom<ElementType>{})");
}

template <auto major, class T, class BLK_MN, class BLK_K, class Sparsity> constexpr auto sm100_smem_selector_sparse() {
  if constexpr (!cute_viz_blocks<major, BLK_MN, BLK_K>()) { return 0; }
  if constexpr (major == GMMA::Major::MN || major == 1) {
    if constexpr (sizeof(T) == 4 && size<0>(BLK_MN{}) % size<0>(UMMA::Layout_MN_SW128_32B_SpAtom<T, Sparsity{}>{}) == 0) {
      return UMMA::Layout_MN_SW128_32B_SpAtom<T, Sparsity{}>{};
    }
    return cute_viz_mn_major_sparse<T, Sparsity{}, BLK_MN>("BLK_MN0 must be a multiple of size<0>(UMMA::Layout_MN_INTER_SpAtom<ElementType, Sparsity{}>{})");
  }
  return cute_viz_k_major_sparse<T, Sparsity{}, BLK_K>("BLK_K0 must be a multiple of size<1>(UMMA::Layout_K_INTER_SpAtom<ElementType, Sparsity{}>{})");
}

template <class Atom, class Shape_, class Order = GenColMajor> constexpr auto tile_to_mma_shape(Atom const& atom, Shape_ const& mma_tile, Order const& order = Order{}) {
  auto mn_shape = cute::tuple_cat(zip(shape<0>(mma_tile), take<1, 3>(mma_tile)), take<3, rank_v<Shape_>>(mma_tile));
  return tiled_divide(tile_to_shape(atom, mn_shape, order), product_each(shape<0>(mma_tile)));
}

// Strides and majors of a matrix: cutlass/gemm/gemm.h, cutlass/detail/layout.hpp, the builders' sm90_common.inl and sm1xx_common.inl

template <int mode, class S> constexpr bool is_major(S = {}) { return is_constant<1, decltype(front(get<mode>(S{})))>::value; }

template <class L> struct cute_viz_strides { using A = L; using B = L; };
template <class L> struct cute_viz_strides<L*> : cute_viz_strides<L> {};  // of an array of problems
template <> struct cute_viz_strides<cutlass::layout::RowMajor> { using A = Stride<int64_t, _1, int64_t>; using B = Stride<_1, int64_t, int64_t>; };
template <> struct cute_viz_strides<cutlass::layout::ColumnMajor> { using A = Stride<_1, int64_t, int64_t>; using B = Stride<int64_t, _1, int64_t>; };

template <class S, class Rows, class Columns> using cute_viz_tag = conditional_t<is_major<1, S>(), Rows,
    conditional_t<cute_viz_check(is_major<0, S>(), "% is not that of a row- or column-major matrix", S), Columns, void>>;
template <class S> using StrideToLayoutTagA_t = cute_viz_tag<S, cutlass::layout::RowMajor, cutlass::layout::ColumnMajor>;
template <class S> using StrideToLayoutTagB_t = cute_viz_tag<S, cutlass::layout::ColumnMajor, cutlass::layout::RowMajor>;
template <class S> using StrideToLayoutTagC_t = StrideToLayoutTagA_t<S>;

template <class E> constexpr bool cute_viz_turned() { return sizeof_bits_v<E> > 8 && !is_same_v<E, tfloat32_t>; }  // what wgmma transposes
template <class S> constexpr bool is_mn_major() { return is_major<0, S>(); }
template <class S> constexpr bool is_k_major() { return is_major<1, S>(); }

template <class L> using TagToStrideA_t = typename cute_viz_strides<L>::A;
template <class L> constexpr bool is_mn_major_A() { return is_major<0, TagToStrideA_t<L>>(); }
template <class L> constexpr bool is_k_major_A() { return is_major<1, TagToStrideA_t<L>>(); }
template <class L> constexpr auto gmma_rs_tag_to_major_A() { return is_mn_major_A<L>() ? GMMA::Major::MN : GMMA::Major::K; }
template <class E, class L> constexpr auto gmma_ss_tag_to_major_A() { return is_mn_major_A<L>() && cute_viz_turned<E>() ? GMMA::Major::MN : GMMA::Major::K; }
template <class L> constexpr auto tag_to_umma_major_A() {
  if constexpr (is_mn_major_A<L>()) { return UMMA::Major::MN; }
  return cute_viz_check(is_k_major_A<L>(), "Invalid layout.") ? UMMA::Major::K : UMMA::Major::K;
}

template <class L> using TagToStrideB_t = typename cute_viz_strides<L>::B;
template <class L> constexpr bool is_mn_major_B() { return is_major<0, TagToStrideB_t<L>>(); }
template <class L> constexpr bool is_k_major_B() { return is_major<1, TagToStrideB_t<L>>(); }
template <class L> constexpr auto gmma_rs_tag_to_major_B() { return is_mn_major_B<L>() ? GMMA::Major::MN : GMMA::Major::K; }
template <class E, class L> constexpr auto gmma_ss_tag_to_major_B() { return is_mn_major_B<L>() && cute_viz_turned<E>() ? GMMA::Major::MN : GMMA::Major::K; }
template <class L> constexpr auto tag_to_umma_major_B() {
  if constexpr (is_mn_major_B<L>()) { return UMMA::Major::MN; }
  return cute_viz_check(is_k_major_B<L>(), "Invalid layout.") ? UMMA::Major::K : UMMA::Major::K;
}
template <class L> using TagToStrideC_t = TagToStrideA_t<L>;

// Copies that builders choose: cutlass/gemm/collective/builders/sm90_common.inl, cutlass/epilogue/collective/builders/sm90_common.inl

template <class E> constexpr auto sm90_cluster_shape_to_tma_atom(E extent) {
  if constexpr (size(extent) == 1) { return SM90_TMA_LOAD{}; }
  return SM90_TMA_LOAD_MULTICAST{};
}

template <class Tile> constexpr bool cute_viz_columns() {
  return cute_viz_check(size<1>(Tile{}) % 8 == 0, "the columns of the epilogue's tile must be a multiple of 8, not %", size<1>(Tile{}));
}

template <class S, class E, class Tile> constexpr auto sm90_get_smem_store_op_for_accumulator() {
  if constexpr (sizeof_bits_v<E> == 16 && (is_major<0, S>() || is_major<1, S>())) {
    if constexpr (!cute_viz_columns<Tile>()) { return 0; }
    if constexpr (is_major<0, S>() && size<1>(Tile{}) % 16 == 0) { return SM90_U16x8_STSM_T{}; }
    if constexpr (is_major<0, S>()) { return SM90_U16x4_STSM_T{}; }
    if constexpr (size<1>(Tile{}) % 16 == 0) { return SM90_U32x4_STSM_N{}; }
    return SM90_U32x2_STSM_N{};
  }
  return AutoVectorizingCopyWithAssumedAlignment<128>{};
}

template <class S, class E, class Tile> constexpr auto sm90_get_smem_load_op_for_source() {
  if constexpr (sizeof_bits_v<E> == 16 && (is_major<0, S>() || is_major<1, S>())) {
    if constexpr (!cute_viz_columns<Tile>()) { return 0; }
    if constexpr (is_major<0, S>() && size<1>(Tile{}) % 16 == 0) { return SM75_U16x8_LDSM_T{}; }
    if constexpr (is_major<0, S>()) { return SM75_U16x4_LDSM_T{}; }
    if constexpr (size<1>(Tile{}) % 16 == 0) { return SM75_U32x4_LDSM_N{}; }
    return SM75_U32x2_LDSM_N{};
  }
  return AutoVectorizingCopyWithAssumedAlignment<128>{};
}

template <class T> constexpr auto cute_viz_scale_config(T tile) {
  return cutlass::detail::Sm1xxBlockwiseScaleConfig<size<0>(T{}), size<1>(T{}), size<2>(T{})>{};
}
template <class T> constexpr auto sm90_trivial_blockwise_scale_config(T tile) { return cute_viz_scale_config(tile); }
template <class T> constexpr auto sm100_trivial_blockwise_scale_config(T tile) { return cute_viz_scale_config(tile); }
template <class T> constexpr auto sm120_trivial_blockwise_scale_config(T tile) { return cute_viz_scale_config(tile); }

// Layouts of CuTe's traits

using SM70_QuadPair = Layout<Shape<_4, _2>, Stride<_1, _16>>;
using SM70_8x4_Row = Layout<Shape<_8, _4>, Stride<_1, _8>>;
using SM70_8x4_Col = Layout<Shape<Shape<_4, _2>, _4>, Stride<Stride<_8, _4>, _1>>;
using SM70_8x8_16b = Layout<Shape<_8, _8>, Stride<_1, _8>>;
using SM70_8x8_32b = Layout<Shape<Shape<_2, _2, _2>, Shape<_2, _2, _2>>, Stride<Stride<_1, _16, _4>, Stride<_8, _2, _32>>>;
using SM80_8x4 = Layout<Shape<Shape<_4, _8>, _1>, Stride<Stride<_8, _1>, _0>>;
using SM80_8x8_Row = Layout<Shape<Shape<_4, _8>, _2>, Stride<Stride<_16, _1>, _8>>;
using SM80_8x16_Row = Layout<Shape<Shape<_4, _8>, _4>, Stride<Stride<_32, _1>, _8>>;
using SM80_16x8_Row = Layout<Shape<Shape<_4, _8>, Shape<_2, _2>>, Stride<Stride<_32, _1>, Stride<_16, _8>>>;
using ALayout_64x8 = Layout<Shape<Shape<_4, _8, _4>, Shape<_2, _2>>, Stride<Stride<_64, _1, _16>, Stride<_8, _256>>>;
using ALayout_64x16 = Layout<Shape<Shape<_4, _8, _4>, Shape<_2, _2, _2>>, Stride<Stride<_128, _1, _16>, Stride<_64, _8, _512>>>;
using ALayout_64x32 = Layout<Shape<Shape<_4, _8, _4>, Shape<_4, _2, _2>>, Stride<Stride<_256, _1, _16>, Stride<_64, _8, _1024>>>;
using ALayout_64x64 = Layout<Shape<Shape<_4, _8, _4>, Shape<_8, _2, _2>>, Stride<Stride<_512, _1, _16>, Stride<_64, _8, _2048>>>;
template <int M, int K> using ABLayout = Layout<Shape<_128, Shape<Int<M>, Int<K>>>, Stride<_0, Stride<_1, Int<M>>>>;
template <int N> using CLayout_64xN = Layout<Shape<Shape<_4, _8, _4>, Shape<_2, _2, Int<N / 8>>>, Stride<Stride<_128, _1, _16>, Stride<_64, _8, _512>>>;
using CLayout_64x8 = CLayout_64xN<8>; using CLayout_64x16 = CLayout_64xN<16>; using CLayout_64x24 = CLayout_64xN<24>; using CLayout_64x32 = CLayout_64xN<32>;
using CLayout_64x40 = CLayout_64xN<40>; using CLayout_64x48 = CLayout_64xN<48>; using CLayout_64x56 = CLayout_64xN<56>; using CLayout_64x64 = CLayout_64xN<64>;
using CLayout_64x72 = CLayout_64xN<72>; using CLayout_64x80 = CLayout_64xN<80>; using CLayout_64x88 = CLayout_64xN<88>; using CLayout_64x96 = CLayout_64xN<96>;
using CLayout_64x104 = CLayout_64xN<104>; using CLayout_64x112 = CLayout_64xN<112>; using CLayout_64x120 = CLayout_64xN<120>; using CLayout_64x128 = CLayout_64xN<128>;
using CLayout_64x136 = CLayout_64xN<136>; using CLayout_64x144 = CLayout_64xN<144>; using CLayout_64x152 = CLayout_64xN<152>; using CLayout_64x160 = CLayout_64xN<160>;
using CLayout_64x168 = CLayout_64xN<168>; using CLayout_64x176 = CLayout_64xN<176>; using CLayout_64x184 = CLayout_64xN<184>; using CLayout_64x192 = CLayout_64xN<192>;
using CLayout_64x200 = CLayout_64xN<200>; using CLayout_64x208 = CLayout_64xN<208>; using CLayout_64x216 = CLayout_64xN<216>; using CLayout_64x224 = CLayout_64xN<224>;
using CLayout_64x232 = CLayout_64xN<232>; using CLayout_64x240 = CLayout_64xN<240>; using CLayout_64x248 = CLayout_64xN<248>; using CLayout_64x256 = CLayout_64xN<256>;
}  // namespace cute_viz_helpers
