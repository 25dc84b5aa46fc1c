struct C1 { int v; int w = 2; };
int get(C1 const& c) { return c.v * 10 + c.w; }
template <class F> int apply(F f, int x) { return f(x); }
template <class F> int applyr(F const& f, int x) { return f(x); }
int g1() { int n = 1; auto g = [&](int x) { return x + n; }; int a = apply(g, 3); n = 5; int b = apply(g, 3); return a * 100 + b; }
int g2() { int n = 1; auto g = [=](int x) { return x + n; }; int a = apply(g, 3); n = 5; int b = apply(g, 3); return a * 100 + b; }
int g3() { C1 c{1}; int a = get(c); c.v = 2; int b = get(c); return a * 100 + b; }
int g4() { C1 c{1}; C1 d = c; int a = get(c); d.v = 2; int b = get(d); return a * 100 + b; }
int g5() { int s = 0; for (int i = 0; i < 3; ++i) { auto g = [i](int x) { return x * i; }; s += apply(g, 3); } return s; }
int g6() { int s = 0; for (int i = 0; i < 3; ++i) { C1 c{i}; s += get(c); } return s; }
int g7() { int a[3] = {1,2,3}; auto sum = [](int const* p) { return p[0] + p[1]; }; int s = a[0]; a[0] = 5; return s * 10 + a[0]; }
int h1(int const (&p)[3]) { return p[0] + p[1]; }
int g8() { int a[3] = {1,2,3}; int s = h1(a); a[0] = 5; return s * 100 + h1(a); }
template <class F, class G> int comp(F f, G g, int x) { return f(g(x)); }
int g9() { return comp([](int x){ return x+1; }, [](int x){ return x*2; }, 3) * 100 + comp([](int x){ return x*2; }, [](int x){ return x+1; }, 3); }
struct Fn { int k; int operator()(int x) const { return x * k; } };
int ga() { return apply(Fn{2}, 3) * 100 + apply(Fn{3}, 3); }
int dbl(int x) { return 2 * x; } int trp(int x) { return 3 * x; }
int gb() { return apply(dbl, 3) * 100 + apply(trp, 3); }
template <int (*F)(int)> int ft(int x) { return F(x); }
int gc() { return ft<dbl>(3) * 100 + ft<trp>(3); }
template <class T> int name(T) { return sizeof(T); }
int gd() { return name(1) * 1000 + name(1L) * 100 + name('a') * 10 + name(true); }
template <class T> auto hlf(T x) { return x / 2; }
auto ge() { return hlf(3.0) * 100 + hlf(3); }
auto gf() { return hlf(-3) * 100 + hlf(3u); }
int gg() { return 0; }
void f() {
  auto a = g1();  // 408
  auto b = g2();  // 404
  auto c = g3();  // 1222
  auto d = g4();  // 1222
  auto e = g5();  // 9
  auto g = g6();  // 36
  auto h = g7();  // 15
  auto j = g9();  // 708
  auto k = ga();  // 609
  auto l = gb();  // 609
  auto n = gd();  // 4811
  auto o = int(ge());  // 151
  auto p = gf();  // 4294967197
  auto q = gg();  // 0
}
