template <size_t N> auto f1() { return N - 5; }
template <uint32_t N> auto f2() { return N - 5; }
template <auto N> auto f3() { return N - 5; }
template <int N> auto f4() { return N - 5; }
template <uint8_t N> auto f6() { return N + 1; }
template <bool B> auto f7() { return B + 1; }
template <size_t N> struct S { static constexpr auto v = N - 7; static constexpr int w = N - 7; };
template <class I> auto f9(I i) { return i - C<6>{}; }
template <auto N> auto g1() { return C<N>{} - C<6>{}; }
template <int N> auto g2() { return C<N>{} - C<6>{}; }
template <auto N> auto g3(C<N> c) { return N - 6; }
void f() {
  auto a = f1<3>();  // 18446744073709551614
  auto b = f2<3>();  // 4294967294
  auto c = f3<3>();  // -2
  auto d = f3<3u>();  // 4294967294
  auto e = f4<3u>();  // -2
  auto g = f4<sizeof(int)>();  // -1
  auto j = f6<255>();  // 256
  auto k = f7<true>();  // 2
  auto m = S<3>::v;  // 18446744073709551612
  auto n = S<3>::w;  // -4
  auto o = f9(C<5u>{});  // _4294967295
  auto p = f9(C<sizeof(int)>{});  // _18446744073709551614
  auto q = f9(Int<sizeof(int)>{});  // _-2
  auto r = g1<5u>();  // _4294967295
  auto s = g2<5u>();  // _-1
  auto t = std::integral_constant<size_t,5>{} - 6;  // 18446744073709551615
  auto u = integral_constant<size_t,5>{} - C<6>{};  // _18446744073709551615
  auto v = cute::constant<unsigned,5>{} - C<6>{};  // _4294967295
  auto w = g3(C<5u>{});  // 4294967295
  auto x = C<sizeof(double)>{};  // _8
  auto y = make_shape(C<sizeof(double)>{}, C<sizeof(double)*2>{});  // (_8,_16)
}
