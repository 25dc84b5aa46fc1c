template <class T> auto f1(T t) { return coalesce(t.layout()); }
template <class T> struct A { static constexpr auto v = coalesce(T{}); };
template <class M> auto f2(M m) { return m.get_layoutC_TV(); }
struct Pair { int a; auto get() const { return make_layout(make_shape(a, 2)); } };
template <class S> struct Q { S s; auto get() const { return make_layout(s); } };
template <class S> auto f3(Q<S> q) { return q.get(); }
template <class... T> auto f4(T... t) { return make_layout(make_shape(t...)); }
auto f5 = [](auto x, auto y) { return make_layout(make_shape(x, y)); };
template <class F, class S> auto f6(F f, S s) { return f(s); }
template <class S> auto f7(S const& s) { auto g = [&](auto i) { return make_layout(s)(i); }; return g(3); }
void f() {
  auto a = f1(make_tensor(make_smem_ptr<float>(nullptr), make_layout(make_shape(4,8))));  // (4,8):(_1,4)
  auto b = f1(make_tensor(make_smem_ptr<float>(nullptr), make_layout(make_shape(_4{},_8{}))));  // _32:_1
  auto c = f3(Q<decltype(make_shape(4,8))>{make_shape(4,8)});  // (4,8):(_1,4)
  auto d = f3(Q<decltype(make_shape(_4{},_8{}))>{make_shape(_4{},_8{})});  // (_4,_8):(_1,_4)
  auto e = f3(Q<decltype(make_shape(4,8))>{make_shape(2,8)});  // (2,8):(_1,2)
  auto g = f4(4, 8);  // (4,8):(_1,4)
  auto h = f4(_4{}, _8{});  // (_4,_8):(_1,_4)
  auto i = f4(_4{}, 8);  // (_4,8):(_1,_4)
  auto j = f5(4, 8);  // (4,8):(_1,4)
  auto k = f5(_4{}, _8{});  // (_4,_8):(_1,_4)
  auto l = f5(4, _8{});  // (4,_8):(_1,4)
  auto m = f6([](auto s) { return make_layout(s); }, make_shape(4, 8));  // (4,8):(_1,4)
  auto n = f6([](auto s) { return make_layout(s); }, make_shape(_4{}, _8{}));  // (_4,_8):(_1,_4)
  auto o = f6([](auto s) { return size(s); }, make_shape(_4{}, _8{}));  // _32
  auto p = f6([](auto s) { return size(s); }, make_shape(4, _8{}));  // 32
  auto q = f7(make_shape(4, 8));  // 3
  auto r = f7(make_shape(_4{}, _8{}));  // 3
  auto s = f7(make_shape(make_shape(_4{}, _2{}), _8{}));  // 3
  auto t = Pair{4}.get();  // (4,2):(_1,4)
  auto u = Pair{5}.get();  // (5,2):(_1,5)
  auto v = f1(make_tensor(make_gmem_ptr<float>(nullptr), make_shape(4,8), make_stride(8,1)));  // (4,8):(8,1)
  auto w = f1(make_tensor(make_gmem_ptr<float>(nullptr), make_shape(4,8), make_stride(_8{},1)));  // (4,8):(_8,1)
  auto x = f1(make_tensor(make_gmem_ptr<float>(nullptr), make_shape(_4{},8), make_stride(_8{},_1{})));  // (_4,8):(_8,_1)
  auto y = f2(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}));  // ((_4,_8),((_2,_2),(_1,_1))):((_32,_1),((_16,_8),(_0,_0)))
  auto z = f2(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_1>>{}));  // ((_4,_8,_2),((_2,_2),(_1,_1))):((_64,_1,_16),((_32,_8),(_0,_0)))
}
