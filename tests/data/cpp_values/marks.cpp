template <class S> auto f3(S s) { return make_layout(s); }
template <class S, class T> auto f4(S s, T t) { return make_layout(s, t); }
template <class L> auto f5(L l) { return coalesce(l); }
template <class L> auto f6(L l, int i) { return l(i); }
template <class L> auto f7(L i) { return i - 6; }
void f() {
  auto a = f3(make_shape(4, 8));  // (4,8):(_1,4)
  auto b = f3(make_shape(_4{}, _8{}));  // (_4,_8):(_1,_4)
  auto c = f3(make_shape(_4{}, 8));  // (_4,8):(_1,_4)
  auto d = f4(make_shape(4, 8), make_stride(8, 1));  // (4,8):(8,1)
  auto e = f4(make_shape(4, 8), make_stride(_8{}, _1{}));  // (4,8):(_8,_1)
  auto g = f5(make_layout(make_shape(4, 8)));  // (4,8):(_1,4)
  auto h = f5(make_layout(make_shape(_4{}, _8{})));  // _32:_1
  auto i = f6(make_layout(make_shape(4, 8), make_stride(_0{},_0{})), 3);  // _0
  auto j = f6(make_layout(make_shape(4, 8), make_stride(0,0)), 3);  // 0
  auto k = f7(5u);  // 4294967295
  auto l = f7(size_t(5));  // 18446744073709551615
  auto m = f7(5);  // -1
  auto n = f7(C<5>{});  // -1
  auto o = f7(C<5u>{});  // 4294967295
  auto p = f7(C<sizeof(int)+1>{});  // 18446744073709551615
  auto q = f3(make_shape(5u, 2));  // (5,2):(_1,5)
  auto sa = local_partition(make_tensor(make_smem_ptr<uint8_t>(nullptr), composition(Swizzle<2,3,3>{}, make_layout(make_shape(32, _32{}), LayoutRight{}))), Layout<Shape<_8,_4>>{}, 5).layout();  // (4,(_2,_2,_2)):(_256,(_4,8,-16))
  auto sb = local_tile(make_tensor(make_gmem_ptr<uint8_t>(nullptr), composition(Swizzle<1,3,3>{}, make_layout(make_shape(128, Int<64>{}), LayoutRight{}))), make_shape(_8{}, _16{}), make_coord(_, _)).layout();  // Sw<1,3,3> o _0 o (_8,_16,16,_4):(_64,_1,_512,_16)
  auto sc = domain_offset(make_coord(1, 2), make_tensor(make_smem_ptr<uint8_t>(nullptr), composition(Swizzle<2,3,3>{}, make_layout(make_shape(32, _32{}), LayoutRight{})))).layout();  // Sw<2,3,3> o 34 o (32,_32):(_32,_1)
}
