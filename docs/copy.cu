auto gA = make_tensor(make_gmem_ptr<half_t>(0), make_layout(make_shape(_16{}, _8{})));
auto sA = make_tensor(make_smem_ptr<half_t>(0), make_layout(make_shape(_16{}, _8{}), LayoutRight{}));
copy(gA, sA);
