// Keys of MLA, CTA_TILE_KV = 64 rows of HEAD_DIM_CKV = 512, and the same bytes as values, read transposed: flashinfer 1078.
auto sKV = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _512>{}, Step<_2, _1>{});
auto sVt = tile_to_shape(GMMA::Layout_MN_SW128_Atom<half_t>{}, Shape<_512, _64>{});
auto dKV = make_gmma_desc<GMMA::Major::K>(local_tile(make_tensor(make_smem_ptr<half_t>((void*)0), sKV), Shape<_64, _16>{}, make_coord(0, 0)));
auto dV = make_gmma_desc<GMMA::Major::MN>(local_tile(make_tensor(make_smem_ptr<half_t>((void*)0), sVt), Shape<_256, _16>{}, make_coord(0, 0)));
// K of 8-bit elements, in rows of 128 bytes: SageAttention 178.
auto sK = make_tensor(make_smem_ptr<int8_t>((void*)0), tile_to_shape(GMMA::Layout_K_SW128_Atom<int8_t>{}, Shape<_64, _128>{}));
auto dK = make_gmma_desc<GMMA::Major::K>(local_tile(sK, Shape<_64, _32>{}, make_coord(0, 1)));
// Scale factors of 128 x 128 blocks, in both orders: DeepGEMM 289.
auto rows = make_tensor(make_gmem_ptr<float>((void*)0), make_layout(make_shape(1024, 8), GenRowMajor{}));
auto cols = make_tensor(make_gmem_ptr<float>((void*)0), make_layout(make_shape(1024, 8)));
auto kMajor = make_tma_copy(SM90_TMA_LOAD{}, rows, Layout<Shape<_128, _1>>{}, Shape<_128, _1>{}, _1{});
auto mnMajor = make_tma_copy(SM90_TMA_LOAD{}, cols, Layout<Shape<_128, _1>>{}, Shape<_128, _1>{}, _1{});
// The extra mode of 4 in tensor memory: CUTLASS 2961.
auto mma = SM100_MMA_MXF8F6F4_SS<float_e4m3_t, float_e4m3_t, float, float_ue8m0_t, 128, 128, UMMA::Major::K, UMMA::Major::K>{};
auto sSFA = Sm1xxBlockScaledConfig<32>::deduce_smem_layoutSFA(mma, Shape<_128, _128, _128>{});
auto tSFA = make_tensor<typename decltype(mma)::FrgTypeSFA>(shape(sSFA));
// One tile of B, its atoms in two orders: CUTLASS 2381.
auto gB = make_tensor(make_gmem_ptr<half_t>((void*)0), make_layout(make_shape(1024, 512)));
auto sB = tile_to_shape(GMMA::Layout_MN_SW128_Atom<half_t>{}, Shape<_256, _64>{});
auto sB2 = tile_to_shape(GMMA::Layout_MN_SW128_Atom<half_t>{}, Shape<_256, _64>{}, Step<_2, _1>{});
auto many = make_tma_copy(SM90_TMA_LOAD{}, gB, sB, Shape<_256, _64>{}, _1{});
auto few = make_tma_copy(SM90_TMA_LOAD{}, gB, sB2, Shape<_256, _64>{}, _1{});
// The metadata of a sparse MMA in tensor memory.
auto spmma = make_tiled_mma(SM100_MMA_F16BF16_SS_SPARSE<half_t, half_t, float, 128, 128, UMMA::Major::K, UMMA::Major::K>{});
auto tE = make_tensor<typename decltype(spmma)::FrgTypeE>(partition_shape_A(spmma, make_shape(_128{}, _128{})));
// A and B of a cluster of 1 x 2 CTAs, which share the rows of A: CUTLASS 2381, too.
using TileMNK = Shape<_128, _256, _64>;
auto gA = make_tensor(make_gmem_ptr<half_t>((void*)0), make_layout(make_shape(1024, 512), GenRowMajor{}));
auto sA = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_128, _64>{});
auto tmaA = make_tma_copy_A_sm90(SM90_TMA_LOAD_MULTICAST{}, gA, sA, TileMNK{}, Shape<_1, _2, _1>{});
auto maskA = create_tma_multicast_mask<1>(make_layout(Shape<_1, _2, _1>{}), make_coord(0, 1, 0));
// A box that CuTe accepts, and the driver does not: 4 halves are 8 bytes.
auto narrow = make_tma_copy(SM90_TMA_LOAD{}, gA, Layout<Shape<_8, _4>, Stride<_4, _1>>{}, Shape<_8, _4>{}, _1{});
// B of tf32 along N, in an atom that tcgen05.mma does not take for it.
auto dT = make_umma_desc<UMMA::Major::MN>(make_tensor(make_smem_ptr<tfloat32_t>((void*)0), tile_to_shape(UMMA::Layout_MN_SW128_Atom<tfloat32_t>{}, Shape<_128, _8>{})));
// B of a pair of CTAs: CUTLASS 3314.
auto pair = make_tiled_mma(SM100_MMA_F16BF16_2x1SM_SS<half_t, half_t, float, 256, 256, UMMA::Major::K, UMMA::Major::K>{});
auto sPairB = UMMA::tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<half_t>{}, partition_shape_B(pair, make_shape(_256{}, _64{})));
// Two stages of keys, 64 rows of 576: FlashMLA 67.
auto sKeys = make_tensor(make_smem_ptr<bfloat16_t>((void*)0), tile_to_shape(GMMA::Layout_K_SW128_Atom<bfloat16_t>{}, Shape<_64, _576, _2>{}));
auto group = make_tiled_mma(SM90_64x64x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::K>{}).get_slice(0);
auto tKeys = group.make_fragment_B(group.partition_B(sKeys));
