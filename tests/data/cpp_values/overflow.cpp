void f() {
  auto a = C<65536>{} * C<65536>{};  // undefined
  auto b = C<2147483647>{} + C<1>{};  // undefined
  auto l = make_layout(make_shape(C<65536>{},C<65536>{},C<4>{}));  // undefined
  auto m = make_layout(make_shape(65536,65536,4));  // undefined
  auto c = C<65536L>{} * C<65536>{};  // _4294967296
  auto d = size(l);  // undefined
  auto e = size(m);  // undefined
  auto g = make_layout(make_shape(C<65536>{},C<65536>{}), make_stride(_0{},_0{}));  // (_65536,_65536):(_0,_0)
  auto h = size(g);  // undefined
  auto i = cosize(make_layout(make_shape(C<65536>{},C<65536>{})));  // undefined
  auto j = make_layout(make_shape(65536L,65536,4));  // (65536,65536,4):(_1,65536,4294967296)
  auto n = C<-2147483647>{} - C<2>{};  // undefined
  auto o = make_shape(C<4294967296>{}, 2);  // (_4294967296,2)
  auto p = make_layout(o);  // (_4294967296,2):(_1,_4294967296)
  auto q = Int<1073741824>{} * 2;  // undefined
  auto r = -C<(-2147483647-1)>{};  // undefined
  auto t = abs(C<-5>{});  // _5
  auto u = C<1>{} << C<31>{};  // _-2147483648
  auto v = C<1u>{} << C<31>{};  // _2147483648
  auto w = C<4294967295u>{} + C<1>{};  // _0
  auto x = blocked_product(make_layout(make_shape(C<65536>{},_2{})), make_layout(make_shape(C<65536>{},_2{})));  // undefined
  auto y = logical_product(make_layout(make_shape(C<65536>{},_2{})), make_layout(make_shape(C<65536>{},_2{})));  // undefined
  auto z = product(make_shape(C<65536>{},C<65536>{}));  // undefined
}
