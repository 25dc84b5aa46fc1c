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
}
