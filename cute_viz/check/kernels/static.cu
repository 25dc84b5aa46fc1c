{headers}
constexpr auto object = {expression};
template <int N> constexpr bool holds(long long const (&drawn)[N], int first) {
  for (int i = 0; i < N; ++i) if ((long long)(object(first + i)) != drawn[i]) return false;
  return true;
}
{asserts}
