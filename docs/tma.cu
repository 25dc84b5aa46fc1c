auto gA = make_tensor(make_gmem_ptr<half_t>((void*)0), make_layout(make_shape(100, 120), GenRowMajor{}));
auto sA = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _128>{});
auto tma = make_tma_copy(SM90_TMA_LOAD{}, gA, sA, Shape<_64, _128>{}, _1{});
