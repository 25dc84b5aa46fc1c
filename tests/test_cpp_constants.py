"""Constant code of C++ beside g++ -std=c++20: functions, macros, expressions; never another value, hardly one that is not read."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest

from cute_viz.errors import CuteVizError
from cute_viz.source.cpp import read
from cute_viz.source.model import Given
from tests.constants import Maker, by_compiler, by_reader

CORPUS = json.loads(gzip.decompress((Path(__file__).parent / "data" / "cpp_constants.json.gz").read_bytes()))


@pytest.mark.parametrize("program", CORPUS["programs"], ids=lambda program: f"seed {program['seed']}")
def test_what_gpp_computed(program: dict[str, object]) -> None:
    text, truth = program["text"], program["values"]
    assert isinstance(text, str)
    assert isinstance(truth, dict)
    found = by_reader(text, list(truth))
    assert {name: value for name, value in found.items() if isinstance(value, int) and value != truth[name]} == {}
    assert sum(isinstance(value, str) for value in found.values()) <= len(truth) // 20


@pytest.mark.oracle
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_new_programs_beside_gpp(tmp_path: Path) -> None:
    """3,000 values: none wrong, nearly all read. CUTE_VIZ_SEED takes others; a fuzzer takes new ones every night."""
    start, refused = int(os.environ.get("CUTE_VIZ_SEED", "410270")), 0
    for seed in range(start, start + 20):
        text, names = Maker(seed).program(150)
        truth, found = by_compiler(text, names, tmp_path), by_reader(text, names)
        assert {k: (seed, found[k], truth[k]) for k in names if isinstance(found[k], int) and found[k] != truth[k]} == {}
        refused += sum(isinstance(value, str) for value in found.values())
    assert refused < 60


def number(text: str, name: str = "c") -> object:
    value = read(text, Given()).find(name).read()
    return value if isinstance(value, (bool, str)) else int(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("constexpr int f(int n) { if (n > 64) n = 64; return n; } constexpr int c = f(128);", 64),
        ("#define ADD(a,b) a+b\nconstexpr int c = ADD(1,2)*3;", 7),
        ("#define CAT(a, b) a ## b\n#define N(x) CAT(1, x)\nconstexpr int c = N(2) + CAT(0x, ff);", 267),
        ("#define S(x) #x\n#define F(n) sizeof(n)\nconstexpr char const* s = S(a + 1); constexpr int c = F(int);", 4),
        ("#define V(a, ...) a __VA_OPT__(+) __VA_ARGS__\nconstexpr int c = V(1) * V(2, 3);", 5),
        ("constexpr int f(bool z) { size_t v = 3; return (z * v - 4) % 1000; } constexpr int c = f(false);", 612),
        ("#define self self + 1\nconstexpr int self = 3; constexpr int c = 2;", 2),
        ("#define N 4\n#undef N\n#define N 8\nconstexpr int c = N;", 8),
        ("#define SHIFT N >> 1\n#define N 8\nconstexpr int c = SHIFT;", 4),
        ("constexpr bool c = -1 < 1u;", False),
        ("constexpr bool c = -1 < 1;", True),
        ("constexpr auto c = 1u - 2;", 4294967295),
        ("constexpr auto c = sizeof(int) - 5 > 0;", True),
        ("constexpr auto c = (unsigned char)300 + 'a';", 141),
        ("constexpr auto c = true ? -1 : 1u;", 4294967295),
        ("enum E { A = 3, B, C = B * 2 }; constexpr int c = C + A;", 11),
        (
            "struct S { int x, y = 3; constexpr int sum() const { return x + y; } }; constexpr S s{4}; "
            "constexpr int c = s.sum() * s.x;",
            28,
        ),
        (
            "template <int N> constexpr int f() { if constexpr (N > 1) return N * f<N - 1>(); else return 1; } "
            "constexpr int c = f<6>();",
            720,
        ),
        ("struct T { static constexpr int k = 5; }; constexpr int f(int n) { n += T::k; return n; } constexpr int c = f(2);", 7),
        ("constexpr int c = [](int n) { int s = 0; while (n) { s += n & 1; n >>= 1; } return s; }(255);", 8),
        (
            "constexpr void up(int& r) { ++r; } constexpr int f(int n) { up(n); int& r = n; r *= 2; return n; } "
            "constexpr int c = f(3);",
            8,
        ),
        (
            "constexpr int g(int& x, int const& y) { x += 1; return y; } constexpr int f(int n) { return g(n, n); }"
            " constexpr int c = f(3);",
            4,
        ),
        (
            "constexpr int g(int& x) { return x *= 2; } constexpr int f(int n) { int k = g(++n); return k + n; }"
            " constexpr int c = f(3);",
            16,
        ),
    ],
)
def test_what_the_language_says(text: str, value: object) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "constexpr int f(int n) { int x = 2147483647; x += n; return x; } constexpr int c = f(1);",  # overflow
        "constexpr int c = 1 << 40;",
        "auto c = make_composed_layout(133, 0, Layout<_2>{});",
        "constexpr int f(int n) { return 4 / n; } constexpr int c = f(0);",
        "constexpr int f() { int x; return x; } constexpr int c = f();",
        "constexpr int f(int n) { for (;;) n = n ^ 1; return n; } constexpr int c = f(0);",
        "constexpr int f(int n) { int* p = &n; *p = 7; return n; } constexpr int c = f(0);",
        "constexpr int f(int n) { goto out; n = 4; out: return n; } constexpr int c = f(0);",
        "constexpr int f(int n) { try { n = 4; } catch (...) {} return n; } constexpr int c = f(0);",
        "void g(int&); int f(int n) { g(n); return n; } int c = f(3);",
        "int f(int n) { auto up = [&n] { unknown(n); }; up(); return n; } int c = f(3);",
        "int f(int n) { int m = 3; for (int i = 0; i < unknown; ++i) { m = i; } return m; } int c = f(3);",
        "int f(int n) { if (unknown) n = 4; return n; } int c = f(3);",
        "int g = 3; void up() { g = 4; } int f(int n) { return n + g; } int c = f(3);",
        "int f(int n) { static int k = 0; k += n; return k; } int c = f(3);",
        'int f(int n) { asm("add" : "+r"(n)); return n; } int c = f(3);',
        "#define STEP(x) do { x += unknown; } while (0)\nint f(int n) { STEP(n); return n; } int c = f(3);",
        "struct S { int x; S(int n) : x(n + 1) {} }; int f(int n) { S s(n); s.x += 1; return s.x; } int c = f(3);",
        "int f(int n) { int a[2] = {1, 2}; a[n] = 5; return a[0]; } int c = f(7);",
    ],
)
def test_what_is_not_read_has_no_value(text: str) -> None:
    with pytest.raises(CuteVizError):
        number(text)


def test_a_kernel_forgets_what_may_have_changed() -> None:
    text = """
    void up(int& r);
    void set(int n);
    template <class F> void each(F f) { f(); }
    void kernel() {
      int a = 4, b = 4, c = 4, d = 4, e = 4;
      int& r = b;
      r = 5;
      up(c);
      auto change = [&] { d = 7; };
      each(change);
      std::swap(a, e);
      int k = 4;
      set(k);
      auto la = make_layout(a); auto lb = make_layout(b); auto lc = make_layout(c);
      auto ld = make_layout(d); auto lk = make_layout(k);
    }
    """
    file = read(text, Given())
    assert [str(file.find(f"kernel::{name}").read()) for name in ("la", "lb", "lc", "ld", "lk")] == ["?:_1"] * 4 + ["4:_1"]
