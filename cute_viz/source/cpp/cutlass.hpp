// What CUTLASS's builders make of elements, layouts, a tile and a cluster, for Hopper and Blackwell: read as a file's own text.
// cute_viz_check(condition, words, values...) refuses in those words, with a value in the place of each %.
// Sources: cutlass/gemm/collective/builders/sm90_gmma_builder.inl, sm100_umma_builder.inl, sm100_blockscaled_umma_builder.inl,
// sm100_common.inl, sm1xx_common.inl, sm100_pipeline_carveout.inl; cutlass/epilogue/collective/builders/sm90_builder.inl,
// sm100_builder.inl; the collectives that these make.
namespace cute_viz_cutlass {

constexpr int Capacity = 232448;  // sm90_smem_capacity_bytes, sm100_smem_capacity_bytes

constexpr int up(int n, int to) { return (n + to - 1) / to * to; }

template <class T> struct Operand { using type = T; static constexpr bool tuple = false; static constexpr int scales = 0; };
template <class T> struct Operand<cute::tuple<T>> { using type = T; static constexpr bool tuple = true; static constexpr int scales = 0; };
template <class T, class S> struct Operand<cute::tuple<T, S>> {
  using type = T; using Scale = S; static constexpr bool tuple = true; static constexpr int scales = sizeof_bits_v<S>;
};
template <class T, class S, class Z> struct Operand<cute::tuple<T, S, Z>> {
  using type = T; using Scale = S; static constexpr bool tuple = true; static constexpr int scales = sizeof_bits_v<S> + sizeof_bits_v<Z>;
};
template <class T> using Multiplied = conditional_t<is_same_v<T, float>, tfloat32_t, T>;

template <class S> struct Stages { static constexpr int count = 0; static constexpr int taken = cute_viz_check(false, "how many stages % is is not known", S); };
template <> struct Stages<StageCountAuto> { static constexpr int count = 0; static constexpr int taken = 0; };
template <int N> struct Stages<StageCount<N>> { static constexpr int count = N; static constexpr int taken = 0; };
template <int N> struct Stages<StageCountAutoCarveout<N>> { static constexpr int count = 0; static constexpr int taken = N; };
template <class E> struct Stages<StageCountAutoCarveoutEpilogue<E>> { static constexpr int count = 0; static constexpr int taken = sizeof(typename E::SharedStorage); };
template <class E> struct Stages<StageCountAutoCarveoutEpi<E>> { static constexpr int count = 0; static constexpr int taken = sizeof(typename E::SharedStorage); };

template <class F> struct Linear { static constexpr bool value = false; };  // whether a fusion is the default
template <class... T> struct Linear<LinearCombination<T...>> { static constexpr bool value = true; };

template <class P, class M, class E, class... More> struct GemmUniversal {
  using ProblemShape = P;
  using CollectiveMainloop = M;
  using CollectiveEpilogue = E;
  using TileShape = typename M::TileShape;
  using TiledMma = typename M::TiledMma;
  using ElementA = typename M::ElementA;
  using ElementB = typename M::ElementB;
  using StrideA = typename M::StrideA;
  using StrideB = typename M::StrideB;
  using InternalStrideA = typename M::StrideA;
  using InternalStrideB = typename M::StrideB;
  using ElementAccumulator = typename M::ElementAccumulator;
  using DispatchPolicy = typename M::DispatchPolicy;
  using ElementC = typename E::ElementC;
  using ElementD = typename E::ElementD;
  using StrideC = typename E::StrideC;
  using StrideD = typename E::StrideD;
  using InternalStrideC = typename E::StrideC;
  using InternalStrideD = typename E::StrideD;
};
template <class K, class... More> struct GemmUniversalAdapter : K { using GemmKernel = K; };

// Hopper

template <class Arch, class Kind, class A_, class LayoutA, int AlignA, class B_, class LayoutB, int AlignB, class Acc, class Tile,
          class Cluster, class StageType, class Asked>
struct Mainloop90 {
  using RawA = typename Operand<A_>::type;
  using RawB = typename Operand<B_>::type;
  using A = Multiplied<RawA>;
  using B = Multiplied<RawB>;
  static constexpr int bitsA = sizeof_bits_v<A>;
  static constexpr int bitsB = sizeof_bits_v<B>;
  static constexpr int M = size<0>(Tile{});
  static constexpr int N = size<1>(Tile{});
  static constexpr int K = size<2>(Tile{});
  using Schedule = conditional_t<is_same_v<Asked, KernelScheduleAuto>,
      conditional_t<M == 64, KernelTmaWarpSpecializedPingpong, KernelTmaWarpSpecializedCooperative>, Asked>;
  static constexpr bool fast = is_any_of_v<Schedule, KernelTmaWarpSpecializedFP8FastAccum, KernelTmaWarpSpecializedCooperativeFP8FastAccum,
      KernelTmaWarpSpecializedPingpongFP8FastAccum, KernelPtrArrayTmaWarpSpecializedCooperativeFP8FastAccum,
      KernelPtrArrayTmaWarpSpecializedPingpongFP8FastAccum>;
  static constexpr bool blockwise = is_any_of_v<Schedule, KernelTmaWarpSpecializedCooperativeFP8Blockwise,
      KernelTmaWarpSpecializedPingpongFP8Blockwise, KernelPtrArrayTmaWarpSpecializedCooperativeFP8Blockwise,
      KernelPtrArrayTmaWarpSpecializedPingpongFP8Blockwise>;
  static constexpr bool grouped = is_any_of_v<Schedule, KernelPtrArrayTmaWarpSpecializedCooperative, KernelPtrArrayTmaWarpSpecializedPingpong>;
  static constexpr bool array = grouped || is_any_of_v<Schedule, KernelPtrArrayTmaWarpSpecializedCooperativeFP8FastAccum,
      KernelPtrArrayTmaWarpSpecializedPingpongFP8FastAccum, KernelPtrArrayTmaWarpSpecializedCooperativeFP8Blockwise,
      KernelPtrArrayTmaWarpSpecializedPingpongFP8Blockwise>;
  static constexpr bool plain = is_any_of_v<Schedule, KernelTmaWarpSpecialized, KernelTmaWarpSpecializedCooperative, KernelTmaWarpSpecializedPingpong>;
  static constexpr int groups = is_any_of_v<Schedule, KernelTmaWarpSpecializedCooperative, KernelPtrArrayTmaWarpSpecializedCooperative,
      KernelTmaWarpSpecializedCooperativeFP8FastAccum, KernelPtrArrayTmaWarpSpecializedCooperativeFP8FastAccum,
      KernelTmaWarpSpecializedCooperativeFP8Blockwise, KernelPtrArrayTmaWarpSpecializedCooperativeFP8Blockwise> ? 2 : 1;
  using TagA = conditional_t<blockwise, tuple_element_t<0, LayoutA>, LayoutA>;
  using TagB = conditional_t<blockwise, tuple_element_t<0, LayoutB>, LayoutB>;
  using StrideA = TagToStrideA_t<TagA>;
  using StrideB = TagToStrideB_t<TagB>;
  static constexpr bool columnsA = is_major<0, StrideA>();
  static constexpr bool columnsB = is_major<0, StrideB>();
  static constexpr bool mixed = bitsA != bitsB;
  static constexpr bool tuples = Operand<A_>::tuple || Operand<B_>::tuple;
  static constexpr bool loaded = mixed || tuples || ((bitsA != 16 || bitsB != 16) && (columnsA || columnsB));  // is_use_rmem_A
  static constexpr bool scaledB = !Operand<A_>::tuple && (Operand<B_>::tuple || bitsB < bitsA);
  static constexpr bool swapped = loaded && (mixed ? scaledB : !columnsA && columnsB);
  static constexpr bool turned = loaded && !mixed && columnsA && columnsB;
  static constexpr bool checked = cute_viz_check(rank(Tile{}) == 3, "the tile must be (M,N,K), not %", Tile)
      && cute_viz_check(plain || grouped || fast || blockwise, "what a builder makes for % is not supported", Schedule)
      && cute_viz_check(!is_same_v<Asked, KernelScheduleAuto> || (sizeof_bits_v<RawA> * AlignA % 128 == 0 && sizeof_bits_v<RawB> * AlignB % 128 == 0),
               "elements that TMA cannot align are copied in another way, which is not supported")
      && cute_viz_check(!loaded || !(fast || blockwise || (grouped && !mixed)), "% is for operands of one width that are contiguous in K", Schedule)
      && cute_viz_check(!mixed || !columnsA || !columnsB, "Mixed input GEMM does not support WS transpose B.");
  static constexpr auto GmmaMajorA = columnsA ? GMMA::Major::MN : GMMA::Major::K;
  static constexpr auto GmmaMajorB = columnsB ? GMMA::Major::MN : GMMA::Major::K;
  using TileM = decltype(get<0>(Tile{}));
  using TileN = decltype(get<1>(Tile{}));
  using TileK = decltype(get<2>(Tile{}));
  using SmemLayoutAtomA = decltype(loaded ? rs_smem_selector<GmmaMajorA, A, TileM, TileK, turned>() : ss_smem_selector<GmmaMajorA, A, TileM, TileK>());
  using SmemLayoutAtomB = decltype(loaded ? rs_smem_selector<GmmaMajorB, B, TileN, TileK, turned>() : ss_smem_selector<GmmaMajorB, B, TileN, TileK>());
  using First = conditional_t<swapped, B, A>;
  using Second = conditional_t<swapped, A, B>;
  using Left = conditional_t<mixed, Second, First>;
  using AtomLayoutMNK = Layout<Shape<Int<groups>, _1, _1>>;
  using TiledMma = decltype(make_tiled_mma(
      loaded ? rs_op_selector<Left, Second, Acc, Tile, GMMA::Major::K, GMMA::Major::K>() : ss_op_selector<Left, Second, Acc, Tile, GmmaMajorA, GmmaMajorB>(),
      AtomLayoutMNK{}));
  using GmemTiledCopyA = decltype(sm90_cluster_shape_to_tma_atom(get<1>(Cluster{})));
  using GmemTiledCopyB = decltype(sm90_cluster_shape_to_tma_atom(get<0>(Cluster{})));
  using HeldA = conditional_t<swapped && mixed, B, A>;
  using HeldB = conditional_t<swapped && mixed, A, B>;
  static constexpr int reserved = array ? 128 * (mixed ? 4 : 2) + (is_pointer_v<TagA> ? 128 : 0) : 0;
  static constexpr int scales = mixed ? (scaledB ? Operand<B_>::scales : Operand<A_>::scales) * M / 8 : 0;
  template <class L> static constexpr int factors(int side) { return sizeof_bits_v<Acc> * side / size<0, 0>(remove_pointer_t<tuple_element_t<1, L>>{}) / 8; }
  static constexpr int stage = (sizeof_bits_v<HeldA> * M * K + 7) / 8 + (sizeof_bits_v<HeldB> * N * K + 7) / 8 + scales
      + (blockwise ? factors<LayoutA>(M) + factors<LayoutB>(N) : 0);
  static constexpr int align = loaded
      ? max(128 << decltype(SmemLayoutAtomA{}.layout_a())::num_bits, 128 << decltype(SmemLayoutAtomB{}.layout_a())::num_bits) : 128;
  static constexpr int PipelineStages = Stages<StageType>::count ? Stages<StageType>::count
      : ((Capacity - reserved) / align * align - up(Stages<StageType>::taken, align)) / (up(stage, align) + 16);  // PipelineTmaAsync<1>::SharedStorage
  static constexpr bool placedA = swapped ? columnsB : columnsA;
  static constexpr bool placedB = swapped ? columnsA : columnsB;
  using SmemLayoutA = decltype(tile_to_shape(conditional_t<swapped, SmemLayoutAtomB, SmemLayoutAtomA>{}, Shape<TileM, TileK, Int<PipelineStages>>{},
      conditional_t<placedA, Step<_2, _1, _3>, Step<_1, _2, _3>>{}));
  using SmemLayoutB = decltype(tile_to_shape(conditional_t<swapped, SmemLayoutAtomA, SmemLayoutAtomB>{}, Shape<TileN, TileK, Int<PipelineStages>>{},
      conditional_t<placedB, Step<_2, _1, _3>, Step<_1, _2, _3>>{}));
  static constexpr bool factored = cute_viz_check(mixed, "this GEMM has no scale factors");
  using Scaled = conditional_t<factored, conditional_t<scaledB, SmemLayoutAtomB, SmemLayoutAtomA>, void>;
  using SmemLayoutScale = decltype(tile_to_shape(Layout<Shape<decltype(get<0>(Scaled{}.shape())), _1>>{}, Shape<TileM, _1, Int<PipelineStages>>{}));
  using TileShape = Tile;
  using ElementA = RawA;
  using ElementB = RawB;
  using ElementAccumulator = Acc;
  struct DispatchPolicy { static constexpr int Stages = PipelineStages; using ClusterShape = Cluster; };
  using CollectiveOp = Mainloop90;
};

template <class Arch, class Kind, class Tile, class Cluster, class EpiTile, class Acc, class Compute, class C, class LayoutC, int AlignC,
          class D, class LayoutD, int AlignD, class Schedule = EpilogueScheduleAuto, class Fusion = LinearCombination<void>>
struct Epilogue90 {
  using ElementC = C;
  using ElementD = D;
  static constexpr bool empty = is_any_of_v<Schedule, EpilogueScheduleAuto, NoSmemWarpSpecialized, PtrArrayNoSmemWarpSpecialized>;
  static constexpr bool array = is_any_of_v<Schedule, PtrArrayTmaWarpSpecialized, PtrArrayTmaWarpSpecializedCooperative, PtrArrayTmaWarpSpecializedPingpong>;
  static constexpr bool cooperative = is_any_of_v<Schedule, TmaWarpSpecializedCooperative, PtrArrayTmaWarpSpecializedCooperative>;
  static constexpr bool checked = cute_viz_check(empty || array || cooperative || is_any_of_v<Schedule, TmaWarpSpecialized, TmaWarpSpecializedPingpong>,
      "what a builder makes for % is not supported", Schedule);
  static constexpr bool none = is_same_v<C, void>;
  using StrideC = TagToStrideC_t<conditional_t<none, LayoutD, LayoutC>>;
  using StrideD = TagToStrideC_t<LayoutD>;
  static constexpr int M = size<0>(Tile{});
  static constexpr int N = size<1>(Tile{});
  static constexpr int fine = !cooperative && sizeof_bits_v<D> == 8 && N % 64 == 0 ? 64 : 32;
  static constexpr bool given = cute_viz_check(is_tuple_v<EpiTile> || is_same_v<EpiTile, EpilogueTileAuto>, "the epilogue's tile must be a shape or EpilogueTileAuto, not %", EpiTile);
  static constexpr bool staged = cute_viz_check(!empty, "this epilogue has no shared memory");
  using EpilogueTile = conditional_t<staged, conditional_t<given, conditional_t<is_tuple_v<EpiTile>, EpiTile,
      Shape<Int<min(cooperative ? 128 : 64, M)>, Int<gcd(min(fine, N), N)>>>, void>, void>;
  using CtaTileMNK = Tile;
  using Held = conditional_t<none, D, C>;
  static constexpr auto MajorC = is_major<1, StrideC>() ? GMMA::Major::K : GMMA::Major::MN;
  static constexpr auto MajorD = is_major<1, StrideD>() ? GMMA::Major::K : GMMA::Major::MN;
  using Rows = decltype(get<0>(EpilogueTile{}));
  using Columns = decltype(get<1>(EpilogueTile{}));
  using SmemLayoutAtomC = decltype(ss_smem_selector<MajorC, Held, Rows, Columns>());
  using SmemLayoutAtomD = decltype(ss_smem_selector<MajorD, D, Rows, Columns>());
  using CopyOpR2S = decltype(sm90_get_smem_store_op_for_accumulator<StrideD, D, EpilogueTile>());
  using CopyOpS2R = decltype(sm90_get_smem_load_op_for_source<StrideC, C, EpilogueTile>());
  static constexpr int c = none ? 0 : sizeof_bits_v<C>;  // bits
  static constexpr int d = is_same_v<D, void> ? 0 : sizeof_bits_v<D>;
  static constexpr int area = size<0>(EpilogueTile{}) * size<1>(EpilogueTile{});
  static constexpr int steps = M * N / area;
  static constexpr bool reused = c == d && d > 8;
  static constexpr int out = min(steps, 2);
  static constexpr int into = reused ? max(min(steps, 4), out + 1) : min(steps, 4);
  static constexpr int alignC = c ? 128 << decltype(SmemLayoutAtomC{}.layout_a())::num_bits : 1;
  static constexpr int alignD = d && !reused ? 128 << decltype(SmemLayoutAtomD{}.layout_a())::num_bits : 1;
  static constexpr int align = max(128, max(alignC, alignD));
  static constexpr int heldC = c ? c * area * into / 8 : 0;
  static constexpr int held = alignD > 1 ? up(heldC, alignD) + d * area * out / 8 : heldC;
  static constexpr int maps = array ? 128 * (is_same_v<Schedule, PtrArrayTmaWarpSpecialized> ? 2 : 3) : 0;
  struct SharedStorage {
    static constexpr int size_of = empty ? 1
        : cute_viz_check(Linear<Fusion>::value, "how much shared memory the fusion of this epilogue takes is not supported") * (up(held, align) + align + up(maps + 16, align));
  };
  using CollectiveOp = Epilogue90;
};

// Blackwell

constexpr int Dense = 0, Blockwise = 1, BlockScaled = 2, Nvf4 = 3, Mxf4 = 4, Mxf8f6f4 = 5;  // what a schedule is for
template <int n, int of, bool grouped> struct Flag {
  static constexpr bool known = true; static constexpr int ctas = n; static constexpr int kind = of; static constexpr bool array = grouped;
};
template <class S> struct Flags { static constexpr bool known = false; static constexpr int ctas = 0; static constexpr int kind = Dense; };
template <> struct Flags<KernelScheduleAuto> : Flag<0, Dense, false> {};
template <> struct Flags<KernelScheduleSm100Blockwise> : Flag<0, Blockwise, false> {};
template <> struct Flags<KernelTmaWarpSpecialized1SmSm100> : Flag<1, Dense, false> {};
template <> struct Flags<KernelPtrArrayTmaWarpSpecialized1SmSm100> : Flag<1, Dense, true> {};
template <> struct Flags<KernelTmaWarpSpecialized2SmSm100> : Flag<2, Dense, false> {};
template <> struct Flags<KernelPtrArrayTmaWarpSpecialized2SmSm100> : Flag<2, Dense, true> {};
template <> struct Flags<KernelTmaWarpSpecializedBlockwise1SmSm100> : Flag<1, Blockwise, false> {};
template <> struct Flags<KernelPtrArrayTmaWarpSpecializedBlockwise1SmSm100> : Flag<1, Blockwise, true> {};
template <> struct Flags<KernelTmaWarpSpecializedBlockwise2SmSm100> : Flag<2, Blockwise, false> {};
template <> struct Flags<KernelPtrArrayTmaWarpSpecializedBlockwise2SmSm100> : Flag<2, Blockwise, true> {};
template <> struct Flags<KernelTmaWarpSpecialized1SmBlockScaledSm100> : Flag<1, BlockScaled, false> {};
template <> struct Flags<KernelPtrArrayTmaWarpSpecialized1SmBlockScaledSm100> : Flag<1, BlockScaled, true> {};
template <> struct Flags<KernelTmaWarpSpecialized2SmBlockScaledSm100> : Flag<2, BlockScaled, false> {};
template <> struct Flags<KernelPtrArrayTmaWarpSpecialized2SmBlockScaledSm100> : Flag<2, BlockScaled, true> {};
template <> struct Flags<KernelTmaWarpSpecialized1SmNvf4Sm100> : Flag<1, Nvf4, false> {};
template <> struct Flags<KernelPtrArrayTmaWarpSpecialized1SmNvf4Sm100> : Flag<1, Nvf4, true> {};
template <> struct Flags<KernelTmaWarpSpecialized2SmNvf4Sm100> : Flag<2, Nvf4, false> {};
template <> struct Flags<KernelPtrArrayTmaWarpSpecialized2SmNvf4Sm100> : Flag<2, Nvf4, true> {};
template <> struct Flags<KernelTmaWarpSpecialized1SmMxf4Sm100> : Flag<1, Mxf4, false> {};
template <> struct Flags<KernelPtrArrayTmaWarpSpecialized1SmMxf4Sm100> : Flag<1, Mxf4, true> {};
template <> struct Flags<KernelTmaWarpSpecialized2SmMxf4Sm100> : Flag<2, Mxf4, false> {};
template <> struct Flags<KernelPtrArrayTmaWarpSpecialized2SmMxf4Sm100> : Flag<2, Mxf4, true> {};
template <> struct Flags<KernelTmaWarpSpecialized1SmMxf8f6f4Sm100> : Flag<1, Mxf8f6f4, false> {};
template <> struct Flags<KernelPtrArrayTmaWarpSpecialized1SmMxf8f6f4Sm100> : Flag<1, Mxf8f6f4, true> {};
template <> struct Flags<KernelTmaWarpSpecialized2SmMxf8f6f4Sm100> : Flag<2, Mxf8f6f4, false> {};
template <> struct Flags<KernelPtrArrayTmaWarpSpecialized2SmMxf8f6f4Sm100> : Flag<2, Mxf8f6f4, true> {};

template <class T, int kind> struct Scaled { static constexpr bool known = false; };
template <class T, int kind> struct Scaled<nv_float4_t<T>, kind> { static constexpr bool known = true; using type = T; using Factor = float_ue4m3_t; static constexpr int size = 16; };
template <class T, int kind> struct Scaled<mx_float4_t<T>, kind> { static constexpr bool known = true; using type = T; using Factor = float_ue8m0_t; static constexpr int size = 32; };
template <class T, int kind> struct Scaled<mx_float6_t<T>, kind> { static constexpr bool known = true; using type = T; using Factor = float_ue8m0_t; static constexpr int size = 32; };
template <class T, int kind> struct Scaled<mx_float8_t<T>, kind> { static constexpr bool known = true; using type = T; using Factor = float_ue8m0_t; static constexpr int size = 32; };
template <class T, class S, int kind> struct Scaled<cute::tuple<T, S>, kind> {
  static constexpr bool known = kind >= Nvf4; using type = T; using Factor = S; static constexpr int size = kind == Nvf4 ? 16 : 32;
};
template <class T, class S, int N, int kind> struct Scaled<cute::tuple<T, S, Int<N>>, kind> {
  static constexpr bool known = true; using type = T; using Factor = S; static constexpr int size = N;
};

template <class T> constexpr bool narrow() { return is_any_of_v<T, float_e4m3_t, float_e5m2_t, float_e2m3_t, float_e3m2_t, float_e2m1_t>; }

template <class C> struct Fixed {  // whether the shape of a cluster is known when it is compiled
  static constexpr bool checked = cute_viz_check(is_tuple_v<C> && rank(C{}) == 3, "the cluster must be a shape of three modes, not %", C);
  static constexpr bool value = checked && is_static_v<tuple_element_t<0, C>> && is_static_v<tuple_element_t<1, C>> && is_static_v<tuple_element_t<2, C>>;
};

template <class Arch, class Kind, class A_, class LayoutA, int AlignA, class B_, class LayoutB, int AlignB, class Acc, class Tile,
          class Cluster, class StageType, class Schedule>
struct Mainloop100 {
  using Of = Flags<Schedule>;
  static constexpr bool scaled = is_same_v<Kind, OpClassBlockScaledTensorOp>;
  static constexpr bool automatic = is_same_v<Schedule, KernelScheduleAuto>;
  static constexpr int kind = Of::kind;
  using ScaledA = Scaled<A_, kind>;
  using ScaledB = Scaled<B_, kind>;
  static constexpr int M = size<0>(Tile{});
  static constexpr int N = size<1>(Tile{});
  static constexpr int K = size<2>(Tile{});
  static constexpr bool fixed = Fixed<Cluster>::value;
  static constexpr bool chosen = fixed && size<0>(Cluster{}) % 2 == 0 && (scaled ? M == 256 : M % 128 == 0);
  static constexpr int ctas = Of::ctas ? Of::ctas : chosen ? 2 : 1;
  using TagA = conditional_t<kind == Blockwise, tuple_element_t<0, LayoutA>, LayoutA>;
  using TagB = conditional_t<kind == Blockwise, tuple_element_t<0, LayoutB>, LayoutB>;
  using StrideA = TagToStrideA_t<TagA>;
  using StrideB = TagToStrideB_t<TagB>;
  static constexpr bool columnsA = is_major<0, StrideA>();
  static constexpr bool columnsB = is_major<0, StrideB>();
  static constexpr bool checked = cute_viz_check(rank(Tile{}) == 3, "the tile must be (M,N,K), not %", Tile)
      && cute_viz_check(Of::known && (scaled ? automatic || kind >= BlockScaled : kind < BlockScaled), "what a builder makes for % is not supported", Schedule)
      && (!scaled || (cute_viz_check(ScaledA::known, "% is not a type of scaled elements", A_) && cute_viz_check(ScaledB::known, "% is not a type of scaled elements", B_)));
  using RawA = conditional_t<scaled, typename ScaledA::type, A_>;
  using RawB = conditional_t<scaled, typename ScaledB::type, B_>;
  using A = Multiplied<RawA>;
  using B = Multiplied<RawB>;
  static constexpr auto MajorA = columnsA ? UMMA::Major::MN : UMMA::Major::K;
  static constexpr auto MajorB = columnsB ? UMMA::Major::MN : UMMA::Major::K;
  static constexpr bool packed = scaled && kind != Mxf8f6f4
      && (kind == Nvf4 || kind == Mxf4 || (sizeof_bits_v<A> == 4 && sizeof_bits_v<B> == 4 && !columnsA && !columnsB));
  static constexpr bool dense = cute_viz_check((M == 64 * ctas || M == 128 * ctas) && N % 8 == 0 && N <= 256, "a tile of %x% is not one of % SM: M must be % or %, N at most 256", M, N, ctas, 64 * ctas, 128 * ctas);
  static constexpr bool blocks = cute_viz_check(is_same_v<typename ScaledA::Factor, typename ScaledB::Factor> && ScaledA::size == ScaledB::size,
      "Scale factor types for A and B should be the same.") && cute_viz_check(M == 128 * ctas && N % 64 == 0 && 64 <= N && N <= 256,
      "a tile of %x% is not block-scaled by % SM: M must be %, N 64, 128, 192 or 256", M, N, ctas, 128 * ctas);
  using Narrow = conditional_t<ctas == 2, SM100_MMA_F8F6F4_2x1SM_SS<A, B, Acc, M, N, MajorA, MajorB>, SM100_MMA_F8F6F4_SS<A, B, Acc, M, N, MajorA, MajorB>>;
  using Float = conditional_t<ctas == 2, SM100_MMA_TF32_2x1SM_SS<A, B, Acc, M, N, MajorA, MajorB>, SM100_MMA_TF32_SS<A, B, Acc, M, N, MajorA, MajorB>>;
  using Half = conditional_t<ctas == 2, SM100_MMA_F16BF16_2x1SM_SS<A, B, Acc, M, N, MajorA, MajorB>, SM100_MMA_F16BF16_SS<A, B, Acc, M, N, MajorA, MajorB>>;
  using Byte = conditional_t<ctas == 2, SM100_MMA_S8_2x1SM_SS<A, B, Acc, M, N, MajorA, MajorB>, SM100_MMA_S8_SS<A, B, Acc, M, N, MajorA, MajorB>>;
  static constexpr bool known = narrow<A>() && narrow<B>()
      || cute_viz_check(is_same_v<A, B> && is_any_of_v<A, tfloat32_t, half_t, bfloat16_t, int8_t, uint8_t>, "what a builder makes of % and % is not supported", A, B);
  using Plain = conditional_t<narrow<A>() && narrow<B>(), Narrow, conditional_t<is_same_v<A, tfloat32_t>, Float,
      conditional_t<is_any_of_v<A, half_t, bfloat16_t>, Half, Byte>>>;
  using Factor = typename ScaledA::Factor;
  using Four = conditional_t<ctas == 2, SM100_MMA_MXF4_2x1SM_SS<A, B, Acc, Factor, M, N, ScaledA::size, MajorA, MajorB>,
      SM100_MMA_MXF4_SS<A, B, Acc, Factor, M, N, ScaledA::size, MajorA, MajorB>>;
  using Eight = conditional_t<ctas == 2, SM100_MMA_MXF8F6F4_2x1SM_SS<A, B, Acc, Factor, M, N, MajorA, MajorB>,
      SM100_MMA_MXF8F6F4_SS<A, B, Acc, Factor, M, N, MajorA, MajorB>>;
  using Operation = conditional_t<scaled, conditional_t<blocks, conditional_t<packed, Four, Eight>, void>, conditional_t<dense, conditional_t<known, Plain, void>, void>>;
  using TiledMma = decltype(make_tiled_mma(Operation{}));
  using HeldA = conditional_t<scaled ? !packed : sizeof_bits_v<A> < 8, uint8_t, A>;
  using HeldB = conditional_t<scaled ? !packed : sizeof_bits_v<B> < 8, uint8_t, B>;
  using PartsA = decltype(partition_shape_A(TiledMma{}, Shape<Int<M>, Int<K>>{}));
  using PartsB = decltype(partition_shape_B(TiledMma{}, Shape<Int<N>, Int<K>>{}));
  using SmemLayoutAtomA = decltype(sm100_smem_selector<MajorA, HeldA, Int<M / ctas>, Int<K>>());
  using SmemLayoutAtomB = decltype(sm100_smem_selector<MajorB, HeldB, Int<N / ctas>, Int<K>>());
  using Sm1xxBlkScaledConfig = Sm1xxBlockScaledConfig<ScaledA::size>;
  using SmemLayoutAtomSFA = decltype(Sm1xxBlockScaledConfig<ScaledA::size>::deduce_smem_layoutSFA(TiledMma{}, Tile{}));
  using SmemLayoutAtomSFB = decltype(Sm1xxBlockScaledConfig<ScaledA::size>::deduce_smem_layoutSFB(TiledMma{}, Tile{}));
  static constexpr int filledA = scaled ? size(filter_zeros(SmemLayoutAtomSFA{})) : 0;
  static constexpr int filledB = scaled ? size(filter_zeros(SmemLayoutAtomSFB{})) : 0;
  using Other = conditional_t<kind == Blockwise, remove_pointer_t<tuple_element_t<1, LayoutA>>, void>;
  using OtherB = conditional_t<kind == Blockwise, remove_pointer_t<tuple_element_t<1, LayoutB>>, void>;
  static constexpr bool factored = cute_viz_check(scaled || kind == Blockwise, "this GEMM has no scale factors");
  using LayoutSFA = conditional_t<factored, conditional_t<scaled, typename Sm1xxBlockScaledConfig<ScaledA::size>::LayoutSFA, Other>, void>;
  using LayoutSFB = conditional_t<factored, conditional_t<scaled, typename Sm1xxBlockScaledConfig<ScaledA::size>::LayoutSFB, OtherB>, void>;
  using InternalLayoutSFA = LayoutSFA;
  using InternalLayoutSFB = LayoutSFB;
  static constexpr int operands = sizeof_bits_v<HeldA> * size(PartsA{}) / 8 + sizeof_bits_v<HeldB> * size(PartsB{}) / 8;
  static constexpr bool groups = is_pointer_v<TagA> || is_pointer_v<TagB>;
  static constexpr int fits = M > 64 ? 128 * 512 / (M / ctas * N) : 512 / N * 2;  // accumulators in tensor memory
  static constexpr int accumulators = scaled ? (N == 256 ? 1 : 2) : kind == Blockwise ? fits : min(4, fits);
  static constexpr int scheduled = kind == Blockwise ? (groups ? 1 : fits + 1) : groups ? 8 : 2;
  static constexpr int deep = K / size<1, 0>(OtherB{});
  static constexpr int sides = sizeof_bits_v<Acc> * deep * (M / size<0, 0>(Other{})) / 8 + sizeof_bits_v<Acc> * deep * (N / size<0, 0>(OtherB{})) / 8;
  static constexpr int stage = scaled ? operands + 128 + filledA + filledB : kind == Blockwise ? up(operands + sides, 128) + 32 : operands + 16;
  // Sm100DenseGemmTmaUmmaCarveout: accumulators, scheduler, load order, deallocation; throttle, responses, pointers; tensor maps
  static constexpr int responses = Of::array ? 2 : 1;
  static constexpr int barriers = 16 * accumulators + 16 * scheduled * responses + 24 + 16 * scheduled + 16 * scheduled * responses + 4 * scheduled
      + (Of::array ? 128 * (scaled ? 4 : 2) * 5 + 16 * scheduled : 0);
  static constexpr int PipelineStages = Stages<StageType>::count ? Stages<StageType>::count : (Capacity - barriers - Stages<StageType>::taken) / stage;
  using SmemLayoutA = decltype(UMMA::tile_to_mma_shape(SmemLayoutAtomA{}, append(PartsA{}, Int<PipelineStages>{}), conditional_t<columnsA, Step<_2, _1, _3>, Step<_1, _2, _3>>{}));
  using SmemLayoutB = decltype(UMMA::tile_to_mma_shape(SmemLayoutAtomB{}, append(PartsB{}, Int<PipelineStages>{}), conditional_t<columnsB, Step<_2, _1, _3>, Step<_1, _2, _3>>{}));
  using SmemLayoutSFA = decltype(append(SmemLayoutAtomSFA{}, Layout<Int<PipelineStages>, Int<filledA>>{}));
  using SmemLayoutSFB = decltype(append(SmemLayoutAtomSFB{}, Layout<Int<PipelineStages>, Int<filledB>>{}));
  using Single = decltype(sm90_cluster_shape_to_tma_atom(conditional_t<fixed, tuple_element_t<1, Cluster>, _2>{}));
  using SingleB = decltype(sm90_cluster_shape_to_tma_atom(conditional_t<fixed, tuple_element_t<0, Cluster>, _2>{}));
  using GmemTiledCopyA = conditional_t<ctas == 1, Single, conditional_t<fixed && size<1>(Cluster{}) == 1, SM100_TMA_2SM_LOAD, SM100_TMA_2SM_LOAD_MULTICAST>>;
  using GmemTiledCopyB = conditional_t<ctas == 1, SingleB, conditional_t<fixed && size<0>(Cluster{}) == 2, SM100_TMA_2SM_LOAD, SM100_TMA_2SM_LOAD_MULTICAST>>;
  using AtomThrShapeMNK = Shape<Int<ctas>, _1, _1>;
  using CtaTileShape_MNK = decltype(shape_div(Tile{}, AtomThrShapeMNK{}));
  using TileShape = Tile;
  using ElementA = conditional_t<scaled, A, A_>;
  using ElementB = conditional_t<scaled, B, B_>;
  using ElementSF = Factor;
  using ElementAccumulator = Acc;
  struct DispatchPolicy { static constexpr int Stages = PipelineStages; using ClusterShape = Cluster; };
  using CollectiveOp = Mainloop100;
};

template <class T> constexpr int contiguous() { return is_layout_v<T> ? size(coalesce(right_inverse(T{}))) : size(T{}); }  // what TMA copies as one

template <class Arch, class Kind, class Tile, class Cluster, class EpiTile, class Acc, class Compute, class C, class LayoutC, int AlignC,
          class D, class LayoutD, int AlignD, class Schedule = EpilogueScheduleAuto, class Fusion = LinearCombination<void>>
struct Epilogue100 {
  static constexpr bool scaled = is_same_v<Kind, OpClassBlockScaledTensorOp>;
  static constexpr int M = size<0>(Tile{});
  static constexpr int N = size<1>(Tile{});
  static constexpr bool none = is_same_v<C, void>;
  static constexpr bool direct = is_any_of_v<Schedule, NoSmemWarpSpecialized1Sm, NoSmemWarpSpecialized2Sm>;
  static constexpr bool array = is_any_of_v<Schedule, PtrArrayTmaWarpSpecialized1Sm, PtrArrayTmaWarpSpecialized2Sm>;
  static constexpr bool automatic = is_same_v<Schedule, EpilogueScheduleAuto>;
  static constexpr bool two = is_any_of_v<Schedule, TmaWarpSpecialized2Sm, PtrArrayTmaWarpSpecialized2Sm>;
  static constexpr bool even = Fixed<Cluster>::checked && is_static_v<tuple_element_t<0, Cluster>> && size<0>(Cluster{}) % 2 == 0;
  static constexpr bool pair = automatic ? even && (M == 256 || (M == 128 && !scaled)) : two;
  using ElementC = C;
  using ElementD = D;
  using Held = conditional_t<none, D, C>;
  using StrideC = TagToStrideC_t<conditional_t<none, LayoutD, LayoutC>>;
  using StrideD = TagToStrideC_t<LayoutD>;
  static constexpr bool checked = cute_viz_check(direct || automatic || array || two || is_same_v<Schedule, TmaWarpSpecialized1Sm>,
      "what a builder makes for % is not supported", Schedule)
      && (direct || cute_viz_check(sizeof_bits_v<Held> != 6 && sizeof_bits_v<D> != 6, "elements of 6 bits of C and D are not supported"));
  static constexpr int rows = pair ? M / 2 : M;
  static constexpr int across = pair && M == 128 ? 2 : 1;  // warps along N
  static constexpr int down = pair && M == 128 ? 2 : 4;
  static constexpr int high = min(rows, 32 * down);
  static constexpr int widest = max(sizeof_bits_v<Held>, sizeof_bits_v<D>);
  static constexpr int wanted = none ? (widest == 4 ? 8192 : 4096) / high : widest == 32 ? (rows > 64 && N <= 128 ? 16 : 32) : widest == 16 && N <= 128 ? 32 : 64;
  static constexpr int leastC = none || is_major<0, StrideC>() ? 8 * across : 128 / sizeof_bits_v<Held> * across;
  static constexpr int leastD = is_major<0, StrideD>() ? 8 * across : 128 / sizeof_bits_v<D> * across;
  static constexpr int most = min(N, max(wanted, max(leastC, leastD)));
  static constexpr int count = N % most == 0 ? most : N;
  static constexpr bool read = cute_viz_check(cute_viz_is_plain_fusion<Fusion>(), "which tile an epilogue with this fusion takes is not supported");
  using Spread = decltype(coalesce(Layout<Shape<Int<count / across>, Int<across>>, Stride<_1, Int<N / across>>>{}));
  static constexpr bool staged = cute_viz_check(!direct, "this epilogue has no shared memory");
  using EpilogueTile = conditional_t<staged, conditional_t<is_tuple_v<EpiTile>, EpiTile, conditional_t<scaled && N == 256, Shape<Int<high>, _128>,
      cute::tuple<Layout<Int<high>>, conditional_t<read, Spread, void>>>>, void>;
  using Rows = tuple_element_t<0, EpilogueTile>;
  using Columns = tuple_element_t<1, EpilogueTile>;
  static constexpr auto MajorC = is_major<1, StrideC>() ? UMMA::Major::K : UMMA::Major::MN;
  static constexpr auto MajorD = is_major<1, StrideD>() ? UMMA::Major::K : UMMA::Major::MN;
  using SmemLayoutAtomC = decltype(sm100_smem_selector<MajorC, Held, Int<contiguous<Rows>()>, Int<contiguous<Columns>()>>());
  using SmemLayoutAtomD = decltype(sm100_smem_selector<MajorD, D, Int<contiguous<Rows>()>, Int<contiguous<Columns>()>>());
  using CtaTileShape = conditional_t<pair, Shape<Int<rows>, Int<N>, decltype(get<2>(Tile{}))>, Tile>;
  static constexpr int area = size(Rows{}) * size(Columns{});
  static constexpr int c = sizeof_bits_v<Held> * area;
  static constexpr int d = sizeof_bits_v<D> * area;
  static constexpr int steps = rows * N / area;
  static constexpr int out = min(steps, 2);
  static constexpr bool reused = !none && sizeof_bits_v<C> > 8;
  static constexpr int into = reused ? max(min(steps, 4), out + 1) : min(steps, 4);
  static constexpr int alignC = 128 << decltype(SmemLayoutAtomC{}.layout_a())::num_bits;
  static constexpr int alignD = 128 << decltype(SmemLayoutAtomD{}.layout_a())::num_bits;
  static constexpr int align = none ? alignD : max(alignC, alignD);
  static constexpr int heldC = none ? 0 : (reused ? max(c, d) : c) * into / 8;
  static constexpr int held = reused ? heldC : up(heldC, alignD) + d * out / 8;
  struct SharedStorage {
    static constexpr int size_of = direct ? 32
        : cute_viz_check(Linear<Fusion>::value, "how much shared memory the fusion of this epilogue takes is not supported")
          * (up(held, align) + align + up((array ? 256 : 0) + 16, align));  // the fusion's; maps and barriers
  };
  using CollectiveOp = Epilogue100;
};

}  // namespace cute_viz_cutlass
