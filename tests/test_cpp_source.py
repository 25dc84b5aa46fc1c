"""C++ files are read as their compiler reads them: values against what CuTe prints; what is not known is said so, in its place."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest

from cute_viz.algebra.inttuple import show
from cute_viz.algebra.ops import ALIASES, OPS
from cute_viz.algebra.static import clear_static
from cute_viz.engine import Request, ask
from cute_viz.errors import CuteVizError, LimitError, NotationError
from cute_viz.source.cpp import read
from cute_viz.source.cpp.calls import CALLS
from cute_viz.source.model import Given, SourceFile
from cute_viz.spec.library import resolve
from tests.commands import run

DATA = Path(__file__).parent / "data"
TRUTH = json.loads(gzip.decompress((DATA / "cpp_source.json.gz").read_bytes()))
KERNELS = (DATA / "kernels.cu").read_text()
LETS = {"Wide": {"kM": "128", "kN": "256"}, "Odd": {"kM": "64", "kN": "96", "T": "bfloat16_t"}}


def file(text: str, **let: str) -> SourceFile:
    return read(text, Given(let, resolve))


def value(text: str, name: str, **let: str) -> str:
    return show(file(text, **let).find(name).read()).rstrip("\n")


def error(text: str, name: str, **let: str) -> CuteVizError:
    with pytest.raises(CuteVizError) as caught:
        file(text, **let).find(name).read()
    return caught.value


@pytest.mark.parametrize("name", sorted(TRUTH["kernels"]))
def test_a_file_has_the_values_that_its_compiler_prints(name: str) -> None:
    scope, member = name.split("::")
    if scope in LETS and member in ("kElements", "kThreads"):  # of the base, whose parameters the class gives
        text = KERNELS + f"\nconstexpr int asked = kernels::Traits<{', '.join(LETS[scope].values())}>::{member};"
        assert value(text, "asked") == TRUTH["kernels"][name]
        return
    query = name if scope not in LETS or member == "Copy" else f"Traits::{member}"
    assert value(KERNELS, query, **LETS.get(scope, {})) == TRUTH["kernels"][name]


@pytest.mark.parametrize(("name", "source", "expected"), TRUTH["selectors"])
def test_selectors_choose_what_cutlass_chooses(name: str, source: str, expected: str | None) -> None:
    text = f"void f() {{\n{source}\n}}"
    if expected is None:
        error(text, name)
        return
    found = file(text).find(name).read()
    if name == "op":
        parts = {"Shape_MNK": found.shape_mnk, "A": found.layout_a, "B": found.layout_b, "C": found.layout_c}
        assert "\n".join(f"  {key}: {show(part)}" for key, part in parts.items()) == expected
    else:
        assert show(found) == expected


def test_every_entry_has_its_scope_name_and_line() -> None:
    entries = {entry.path: entry for entry in file(KERNELS).entries}
    lines = KERNELS.splitlines()
    assert "kernels::Traits::SmemA" in entries
    assert "kernels::host::inner" in entries
    for entry in entries.values():
        assert entry.name in lines[entry.line - 1]
        assert KERNELS[entry.span.start : entry.span.end] == entry.name


# What is given.

TRAITS = """
template <int kM, class T, bool kSwap = false, class Shape_ = Shape<_64, Int<kM>>>
struct Traits {
  using Element = T;
  static constexpr int kN = kSwap ? 8 : 16;
  using Plain = Layout<Shape<Int<kM>, Int<kN>>>;
  using Typed = Layout<Shape<Int<kM>, Int<16 / sizeof(Element)>>>;
  using Shaped = Layout<Shape_>;
};
"""


def test_a_missing_type_hides_only_what_depends_on_it() -> None:
    assert value(TRAITS, "Plain", kM="32") == "(_32,_16):(_1,_32)"
    missing = error(TRAITS, "Typed", kM="32")
    assert missing.needs == ("T",)
    assert "`let=T=half_t`" in (missing.hint or "")
    assert error(TRAITS, "Plain").needs == ("kM",)


@pytest.mark.parametrize(
    ("let", "name", "expected"),
    [
        ({"kM": "32", "kSwap": "true"}, "Plain", "(_32,_8):(_1,_32)"),
        ({"kM": "32", "kSwap": "1"}, "Plain", "(_32,_8):(_1,_32)"),
        ({"kM": "32", "kN": "4"}, "Plain", "(_32,_4):(_1,_32)"),
        ({"kM": "32", "Traits::kN": "4"}, "Plain", "(_32,_4):(_1,_32)"),
        ({"kM": "32", "Element": "float"}, "Typed", "(_32,_4):(_1,_32)"),
        ({"Shape_": "(4,(2,2))"}, "Shaped", "(_4,(_2,_2)):(_1,(_4,_8))"),
        ({"Shape_": "Shape<_4,Int<kN>>"}, "Shaped", "(_4,_16):(_1,_4)"),
        ({"Plain": "(4,8):(8,1)"}, "Plain", "(_4,_8):(_8,_1)"),
    ],
)
def test_what_is_given_wins_over_the_source(let: dict[str, str], name: str, expected: str) -> None:
    given = Given(let, resolve)
    assert show(read(TRAITS, given).find(name).read()) == expected
    assert given.used == set(let)


def test_an_atom_can_be_given_and_a_name_of_another_file() -> None:
    text = (
        "template <class Atom> struct S { using A = decltype(tile_to_shape(Atom{}, Shape<_64, _64>{})); using B = Layout<Foo>; };"
    )
    assert value(text, "A", Atom="GMMA::Layout_K_SW128_Atom<half_t>").startswith(
        "Sw<3,4,3> o smem_ptr[16b](unset) o ((_8,_8),(_64,_1))"
    )
    assert value(text, "B", Foo="(2,2)") == "(_2,_2):(_1,_2)"
    assert error(text, "B").needs == ("Foo",)
    base = "struct S : Base { using L = Layout<Shape<_8, Int<Base::kWidth>>>; };"
    assert value(base, "L", **{"Base::kWidth": "4"}) == "(_8,_4):(_1,_8)"
    params = "void f(Params params) { auto l = make_layout(make_shape(params.m, Int<4>{})); }"
    assert value(params, "l", **{"params.m": "12"}) == "(12,_4):(_1,12)"
    assert error(params, "l").needs == ("params.m",)


def test_a_bad_value_is_an_error_of_what_was_given() -> None:
    assert error(TRAITS, "Plain", kM="nonsense(").name == "`let=kM`"
    assert "itself" in error(TRAITS, "Plain", kM="kM").message


# No guess.


def test_two_definitions_are_two_entries() -> None:
    text = "void f() { auto a = Layout<_4>{}; }\nvoid g() { auto a = Layout<_8>{}; }"
    with pytest.raises(NotationError, match="defined 2 times"):
        file(text).find("a")
    assert value(text, "f::a") == "_4:_1"
    assert value(text, "a@2") == "_8:_1"


def test_a_specialisation_is_enabled_by_what_stands_before_it() -> None:
    text = """
    template <class T, class E = void> struct A { using L = Layout<_1>; };
    template <class T> struct A<T, cute::enable_if_t<cute::is_same_v<T, half_t>>> { using L = Layout<_8>; };
    using X = A<half_t>::L;
    using Y = A<float>::L;
    """
    assert [value(text, name) for name in ("X", "Y")] == ["_8:_1", "_1:_0"]


def test_specialisations_and_overloads_have_names() -> None:
    text = """
    template <class T, int N> struct S { using A = Layout<Int<N>>; };
    template <> struct S<half_t, 4> { using A = Layout<_9>; };
    template <int N> struct S<float, N> { using A = Layout<Shape<_2, Int<N>>>; };
    template <class T> void f(T x) { auto a = Layout<_3>{}; }
    void f(int x) { auto a = Layout<_5>{}; }
    using B = S<half_t, 4>::A; using C = S<float, 6>::A; using D = S<half_t, 5>::A;
    """
    assert value(text, "S<half_t, 4>::A") == value(text, "S<half_t,4>::A") == value(text, "B") == "_9:_1"
    assert value(text, "S::A", N="7") == "_7:_1"
    assert value(text, "C") == "(_2,_6):(_1,_2)"
    assert value(text, "D") == "_5:_1"
    assert value(text, "f::a") == "_5:_1"
    assert value(text, "f<T>::a") == "_3:_1"


@pytest.mark.parametrize(
    "body",
    [
        "int n = 4; for (int i = 0; i < argc; ++i) { n *= 2; }",
        "int n = 4; n = unknown();",
        "int n = 4; n++;",
        "int n; std::cin >> n;",
    ],
)
def test_what_depends_on_the_run_is_unknown(body: str) -> None:
    text = f"int main(int argc, char** argv) {{ {body} auto l = make_layout(make_shape(n, 2)); auto m = Layout<_4>{{}}; }}"
    assert value(text, "l") == "(?,2):(_1,?)"
    number = text.replace("auto m", "auto k = Layout<Int<size(l)>>{}; auto m")
    assert error(number, "k").needs in (("n",), ("unknown",), ())
    assert value(text, "m") == "_4:_1"
    assert value(text, "l", n="6") == "(6,2):(_1,6)"


@pytest.mark.parametrize("body", ["int n = 4; if (argc > 1) n = 8;", 'int n = 4; sscanf(argv[1], "%d", &n);'])
def test_what_arguments_would_change_is_as_without_them_and_said(body: str) -> None:
    given = Given()
    file = read(f"int main(int argc, char** argv) {{ {body} auto l = make_layout(make_shape(n, 2)); }}", given)
    assert not given.notes
    assert str(file.find("l").read()) == "(4,2):(_1,4)"
    assert list(given.notes) == ["n = 4 (line 1), as without arguments; `let=n=...` gives another"]


def test_a_plain_assignment_is_followed() -> None:
    text = """void f() {
      auto a = Int<4>{}; auto x = Layout<decltype(a)>{};
      int n = 2; n = 3; auto y = make_layout(n);
      { int n = 7; } auto z = make_layout(n);
    }"""
    assert [value(text, name) for name in "xyz"] == ["_4:_1", "3:_1", "3:_1"]


def test_a_position_moves_a_pointer_and_nothing_else() -> None:
    text = """
    __global__ void kernel(int n, int stage) {
      auto tensor = make_tensor(make_smem_ptr(p), Layout<Shape<_64, _64, _3>>{});
      auto tile = local_tile(tensor, make_shape(Int<16>{}, Int<64>{}, _), make_coord(blockIdx.x, 0, _));
      auto stage_ = tensor(_, _, stage);
      auto coord = make_coord(threadIdx.x / 32, _, _);
      auto row = tensor(coord);
      auto bad = make_layout(make_shape(threadIdx.x, 2));
      auto swizzled = composition(Swizzle<3, 3, 3>{}, Layout<Shape<_64, _64>, Stride<_64, _1>>{});
      auto moved = swizzled(stage, _);
    }
    """
    assert value(text, "stage_") == "(_64,_64):(_1,_64)"
    assert value(text, "row") == "(_64,_3):(_64,_4096)"
    assert value(text, "bad") == "(?,2):(_1,?)"
    assert error(text, "moved").needs == ("stage",)
    assert value(text, "bad", **{"threadIdx.x": "3"}) == "(3,2):(_1,3)"


def test_a_thread_is_a_question_mark_where_its_number_does_not_matter() -> None:
    text = """
    void kernel(int n) {
      int idx = threadIdx.x / 32;
      auto mma = make_tiled_mma(SM80_16x8x16_F16F16F16F16_TN{}, Layout<Shape<_2, _1, _1>>{}).get_slice(threadIdx.x);
      auto copy = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<_32>{}, Layout<_4>{}).get_slice(idx);
    }
    """
    assert value(text, "idx") == "?"
    assert value(text, "mma").startswith("ThrMMA\n  Thr VMNK: (?,?,_0,_0)\nTiledMMA")
    assert value(text, "mma", **{"threadIdx.x": "33"}).startswith("ThrMMA\n  Thr VMNK: (1,1,_0,_0)\nTiledMMA")
    assert value(text, "copy").startswith("ThrCopy\n  ThrIdx: ?\n")


def test_hints_are_of_what_is_missing() -> None:
    text = """
    template <class T> void kernel(T const* p) { using A = decltype(GMMA::Layout_K_SW128_Atom<T>{}); }
    template <class TA> void one(TA const* p) { kernel<TA>(p); }
    template <class TA> void two(TA const* p) { kernel<TA>(p); }
    #ifdef BLOCK
    constexpr int kB = BLOCK;
    #else
    constexpr int kB = 64;
    #endif
    using B = Layout<Int<kB>>;
    """
    missing = error(text, "kernel::A")
    assert missing.needs[0] == "TA"
    assert "`let=TA=half_t`" in (missing.hint or "")
    assert value(text, "kernel::A", TA="float") == "Sw<3,4,3> o smem_ptr[32b](unset) o (_8,_32):(_32,_1)"
    assert "`let=BLOCK=128`, or 0" in (error(text, "B").hint or "")
    assert [value(text, "B", BLOCK=x) for x in ("32", "0")] == ["_32:_1", "_64:_1"]


def test_preprocessor_branches() -> None:
    text = """
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
using A = Layout<_8>;
#else
using A = Layout<_4>;
#endif
#ifdef FEATURE
using B = Layout<_2>;
#else
using B = Layout<_3>;
#endif
#ifdef OTHER
using C = Layout<_5>;
#endif
#if 0
using D = Layout<_1>;
#endif
#define N 6
using E = Layout<Int<N>>;
using F = Layout<Int<
#ifdef FEATURE
  1
#else
  2
#endif
>>;
using G = B;
"""
    assert value(text, "A") == "_8:_1"
    assert error(text, "G").needs == ("FEATURE",)
    assert value(text, "G", FEATURE="1") == "_2:_1"
    assert value(text, "G", FEATURE="0") == "_3:_1"
    assert value(text, "C") == "_5:_1"
    assert "D" not in {entry.name for entry in file(text).entries}
    assert value(text, "E") == "_6:_1"
    assert error(text, "F").needs == ("FEATURE",)
    assert value(text, "F", FEATURE="0") == "_2:_1"


def test_the_only_call_of_a_kernel_tells_its_parameters() -> None:
    kernel = """template <class L, class C> __global__ void k(L layout, C copy, int n) {
      auto a = make_layout(layout, layout); auto b = C{};
    }
    """
    launch = "void h() { auto x = Layout<_4>{}; k<<<1, 2>>>(x, Layout<_2>{}, 5); }"
    assert value(kernel + launch, "k::a") == "(_4,_4):(_1,_1)"
    assert value(kernel + launch, "k::b") == "_2:_1"
    assert error(kernel + launch + "void g() { k<<<1, 2>>>(Layout<_8>{}, 1, 2); }", "k::a").needs
    assert value(kernel + launch, "k::a", L="Layout<_3>", layout="Layout<_3>{}") == "(_3,_3):(_1,_1)"


def test_traits_of_the_file_are_atoms() -> None:
    text = """
    struct Mine {};
    namespace cute {
    template <> struct MMA_Traits<Mine> {
      using ThrID = Layout<_32>; using Shape_MNK = Shape<_16, _8, _16>;
      using ALayout = Layout<Shape<Shape<_4, _8>, Shape<_2, _2, _2>>, Stride<Stride<_32, _1>, Stride<_16, _8, _128>>>;
      using BLayout = Layout<Shape<Shape<_4, _8>, Shape<_2, _2>>, Stride<Stride<_16, _1>, Stride<_8, _64>>>;
      using CLayout = SM80_16x8_Row;
    };
    }
    using Mma = TiledMMA<MMA_Atom<Mine>, Layout<Shape<_2, _2>>>;
    """
    library = "using Mma = TiledMMA<MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>, Layout<Shape<_2, _2>>>;"
    assert value(text, "Mma") == value(library, "Mma")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("using A = Layout<Shape<Int<0b101>, Int<1'0>>>;", "(_5,_10):(_1,_5)"),
        ("using A = Layout<Int<(3u << 2) % 5>>;", "_2:_1"),
        ("auto a = make_layout(4, 8); using A = decltype(make_layout(make_shape(4, _8{})));", "(4,_8):(_1,4)"),
        ("typedef Layout<_4> A;", "_4:_1"),
        ("template <class... Ts> struct P { using T = Shape<Ts...>; }; using A = Layout<P<_2, _3>::T>;", "(_2,_3):(_1,_2)"),
        ("template <class T, class U = T> using Pair = Shape<T, U>; using A = Layout<Pair<_4>>;", "(_4,_4):(_1,_4)"),
        ("namespace a::b { constexpr int n = 3; } using namespace a::b; using A = Layout<Int<n>>;", "_3:_1"),
        ("struct S { enum { kA = 3, kB }; }; using A = Layout<Int<S::kB>>;", "_4:_1"),
        ("constexpr int f(int a, int b = 2) { return a > b ? a : b; } using A = Layout<Int<f(1)>>;", "_2:_1"),
        ("using A = Layout<Int<cute::max(2, std::min(7, 9))>>;", "_7:_1"),
        ("using A = std::conditional_t<(sizeof(half_t) < 4), Layout<_5>, Missing>;", "_5:_1"),
        ("template <int N> constexpr int twice = 2 * N; using A = Layout<Int<twice<4>>>;", "_8:_1"),
        ("struct B { using L = Layout<_6>; }; struct D : B {}; using A = typename D::L;", "_6:_1"),
        ("struct S { static constexpr auto f() { return Layout<_9>{}; } }; using A = decltype(S::f());", "_9:_1"),
        ("using A = Layout</* rows */ Shape<_2, // two\n _4>>;", "(_2,_4):(_1,_2)"),
        ("template <class T> struct X; template <> struct X<float> { using L = Layout<_4>; }; using A = X<float>::L;", "_4:_1"),
        ("DEVICE int f(int q) { return q; } struct S { using L = Layout<_4>; }; using A = S::L;", "_4:_1"),
        ("DEVICE Tensor<int> f(int q) { return q; } struct S { using L = Layout<_4>; }; using A = S::L;", "_4:_1"),
        ("Status Gemm<T>::run(int q) { return q; } struct S { using L = Layout<_4>; }; using A = S::L;", "_4:_1"),
        ("WRAP(C) foo bar(int q) const { ; } struct S { using L = Layout<_4>; }; using A = S::L;", "_4:_1"),
        ("K_GLOBAL __launch_bounds__(N, 1) void f(int q) { ; } struct S { using L = Layout<_4>; }; using A = S::L;", "_4:_1"),
        ("namespace cutlass { struct S {}; } using A = Layout<Int<cutlass::sizeof_bits<half_t>::value>>;", "_16:_1"),
        ("using A = Layout<Shape<int32_t,Shape<_8,int>>, Stride<_1,Stride<int64_t,_4>>>;", "(?,(_8,?)):(_1,(?,_4))"),
        ("using A = decltype(make_layout(repeat_like(Stride<int,_1>{}, int32_t(0)), Stride<_2,_1>{}));", "(?,?):(_2,_1)"),
        ("using A = Layout<Int<cutlass::log2_down<9>::value + 4 * cutlass::log2_up<9>::value>>;", "_19:_1"),
        ("using A = Layout<Int<cutlass::bits_to_bytes(33)>>;", "_5:_1"),
        ("using A = Layout<Int<int(tag_to_umma_major_A<cutlass::layout::ColumnMajor>()) + 4>>;", "_5:_1"),
        ("using A = Layout<Int<int(gmma_ss_tag_to_major_A<int8_t, cutlass::layout::ColumnMajor>()) + 4>>;", "_4:_1"),
        (f"enum E {{ {', '.join(f'e{n}' for n in range(90))} }}; using A = Layout<Int<e89>>;", "_89:_1"),
        (f"auto t = make_tuple(1, 3); using A = Layout<Int<{'get<0>(make_tuple(' * 20}_5{{}}{'))' * 20}>>;", "_5:_1"),
    ],
)
def test_what_cpp_writes(text: str, expected: str) -> None:
    assert value(text, "A") == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("using A = A;", "not defined in this file"),
        ("struct S { using A = B; using B = A; };", "refers to itself"),
        ("using A = Layout<Int<4 / 0>>;", "division by zero"),
        ("template <int N> struct F { static constexpr int v = F<N + 1>::v; }; using A = Int<F<0>::v>;", "deep"),
        ("constexpr int f(int n) { return f(n); } using A = Int<f(1)>;", "deep"),
        ("using A = Layout<Shape<_4, _8>, Stride<_8>>;", "nesting"),
        ("using A = Unknown<int>::type;", "not defined in this file"),
        ("using A = Layout<Int<(4>>;", "closed"),
        ("void f() { auto A = cute::printf(1); }", "not defined in this file"),
        ("auto A = abs(1, 2);", "abs takes 1 number, not 2"),
        ("auto A = gcd(1e400, 3);", "gcd is for integers"),
        ("auto A = int(1e400);", "inf is not an integer"),
        (f"auto A = 0x{'f' * 5000};", "cannot be read as a number"),
        ("template <class T> struct D : D<D<T>> {}; using A = D<int>::F;", "more than 200 bases"),
        ("using d::e; using e::d; auto A = d;", "refers to itself"),
    ],
)
def test_what_cannot_be_read_says_why_and_where(text: str, words: str) -> None:
    found = error(text, "A")
    assert words in found.message
    assert found.span is not None
    assert found.text == text


HOSTILE: dict[str, str] = {
    "parentheses": "int a = " + "(" * 50_000 + ";",
    "angles": "using A = " + "X<" * 30_000 + ";",
    "comparisons": "int a = " + "a<" * 30_000 + "a;",
    "braces": "{" * 50_000,
    "classes": "struct a {" * 20_000,
    "conditions": "#if A\n" * 20_000,
    "comments": "/*" * 50_000,
    "strings": 'R"(' * 50_000 + '"' * 50_000,
    "sums": "constexpr int a = " + "1+" * 9_000 + "1;",
    "doubling": "using A0 = Shape<_2,_2>;" + "".join(f"using A{n + 1} = Shape<A{n},A{n}>;" for n in range(60)),
    "macros": "#define A0 1\n" + "".join(f"#define A{n + 1} (A{n}+A{n})\n" for n in range(60)) + "constexpr int a = A60;",
    "bases": "".join(f"struct B{n + 1} : B{n}, B{n} {{}};" for n in range(100)) + "using A = B100::x;",
    "namespaces": "using namespace a; namespace a { using namespace b; namespace b { using namespace a; } } using X = y;",
    "calls": "constexpr int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); } constexpr int a = f(40);",
    "else": "void f() { " + "if (1) ; else " * 3_000 + "; }",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end(name: str) -> None:
    start = time.process_time()
    with contextlib.suppress(LimitError):
        for entry in file(HOSTILE[name]).entries:
            with contextlib.suppress(CuteVizError):
                entry.read()
    assert time.process_time() - start < 5


def test_values_are_read_once() -> None:
    entries = file("using A = B; using B = C;").entries
    errors: list[Any] = []
    for entry in [*entries, *entries]:
        with pytest.raises(CuteVizError) as caught:
            entry.read()
        errors.append(caught.value)
    assert errors[0] is errors[2]
    assert errors[0].span == errors[1].span  # the first cause


def test_a_template_of_another_file_may_lend_its_name() -> None:
    text = "template <class K> void f() { using Main = Main<K>; using L = typename Main::L; auto a = make_layout(_4{}, _8{}); }"
    assert error(text, "L").needs
    text = "void f() { int n = 2; n = n + 3; auto a = make_layout(n); }"
    assert value(text, "a") == "5:_1"


def test_a_member_of_a_template_with_arguments_can_be_asked_for() -> None:
    for query in ("Traits<32, half_t>::Typed", "kernels::Traits<128,256>::Rows", "Wide::SmemA"):
        text = TRAITS if query.endswith("Typed") else KERNELS
        expected = "(_32,_8):(_1,_32)" if text is TRAITS else TRUTH["kernels"][f"Wide::{query.rpartition('::')[2]}"]
        assert value(text, query) == expected
    with pytest.raises(NotationError, match="nothing here is named"):
        file(TRAITS).find("Traits<32, half_t>::Nothing")


def test_nothing_that_a_run_may_change_is_taken_for_known() -> None:
    text = """
struct Options { int m = 512; static constexpr int kN = 4; };
struct Pair { int a; int b; };
constexpr int pick() {
#ifdef FAST
  return 1;
#else
  return 2;
#endif
}
void f(Options options) {
  int n = 4;
#ifdef FAST
  n = 8;
#endif
  auto a = make_layout(n);
  auto b = make_layout(options.m);
  auto c = make_layout(Int<options.kN>{});
  auto d = make_layout(Int<pick()>{});
  Pair pair{3, 5};
  auto e = make_layout(pair.b);
  auto g = right_inverse(make_layout(make_shape(4, 8)));
}
"""
    assert error(text, "f::a").needs == ("FAST",)
    assert error(text, "f::b").needs == ("m",)
    assert value(text, "f::b", **{"options.m": "6"}) == "6:_1"
    assert value(text, "f::c") == "_4:_1"
    assert error(text, "f::d").needs == ("FAST",)
    assert value(text, "f::d", FAST="0") == "_2:_1"
    assert value(text, "f::e") == "5:_1"
    assert value(text, "f::g") == "4:_1"  # CuTe does not look at what a run-time stride is


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["sm75", "sm80", "sm89"])
def test_the_traits_of_cutlass_are_those_of_the_library(name: str) -> None:
    library = pytest.importorskip("cutlass_library", reason="the headers are in the nvidia-cutlass wheel")
    header = Path(str(library.__file__)).parent / f"source/include/cute/atom/mma_traits_{name}.hpp"
    if not header.exists():
        pytest.skip("this wheel has no headers")
    parts = {"ALayout": "layout_a", "BLayout": "layout_b", "CLayout": "layout_c", "Shape_MNK": "shape_mnk", "ThrID": "thr_id"}
    same = different = 0
    for entry in file(header.read_text()).entries:
        match = re.fullmatch(r"MMA_Traits<(SM\w+)>", entry.scope[-1]) if entry.scope else None
        if match is None or entry.name not in parts:
            continue
        with contextlib.suppress(CuteVizError):
            expected = getattr(resolve(match[1]), parts[entry.name])
            if show(clear_static(entry.read())) == show(clear_static(expected)):
                same += 1
            else:
                different += 1
    assert same >= 5
    assert different <= (name == "sm80")  # 4.2.0 has a B layout that a later one corrects


def test_a_text_may_end_anywhere_and_nest_far() -> None:
    text = "template <class T> requires X<T> struct C : D<T> { using F [[a]] = int; enum K : int { a = 1 }; operator int(); };"
    text += (
        "void f(int (&a)[3]) { try { using x; } catch (...) { } do case 1: while (c); auto [p, q] = r; auto l = [&](auto x) {}; }"
    )
    for end in range(len(text)):
        read(text[:end], Given())
    for end in range(0, len(text), 3):
        read("int a = 1, " + text[:end] + ",\n#if 0\n", Given())  # nothing closes it
    chain = "void f() { " + "if (1) {} else " * 4000 + "{} auto l = Layout<_4>{}; }"
    assert show(read(chain, Given()).find("l").read()) == "_4:_1"


@pytest.mark.parametrize(
    "end",
    [
        *(
            "x.",
            "x->",
            "x[",
            "x.y.",
            "cute::template",
            "a<b",
            "auto f(int *",
            "T x = alignas",
            "operator",
            "struct A { B::template",
            "~",
            "x >",
        )
    ],
)
def test_a_text_may_end_anywhere(end: str) -> None:
    """What is cut off is not understood, and what was before it is."""
    file = read(f"using L = Layout<Shape<_4,_8>>;\nvoid f() {{ auto x = L{{}};\n {end}", Given())
    assert str(next(entry.read() for entry in file.entries if entry.name == "L")) == "(_4,_8):(_1,_4)"


def test_the_arguments_of_a_type_do_not_make_it_foreign() -> None:
    text = (
        "template <class T> struct S { using Big = Layout<Shape<_4, Int<sizeof(T)>>>; }; void f() { typename S<float>::Big v{}; }"
    )
    assert str(file(text).find("f::v").read()) == "(_4,_4):(_1,_4)"


ARRAYS = """
constexpr int P = 33;
__global__ void k(const float* in) {
  __shared__ float s[32][P];
  extern __shared__ char all[];
  __shared__ __align__(16) half_t t[2][8][8];
  float r[4];
  auto sA = make_tensor(make_smem_ptr(t[0][0]), Layout<Shape<_8,_8>>{});
}
"""


def test_an_array_in_shared_memory_is_an_object(tmp_path: Path) -> None:
    """With its type and its memory, for every command; an array of registers, and one without an extent, are none."""
    file = tmp_path / "k.cu"
    file.write_text(ARRAYS)
    rows = {row["name"]: row["value"] for row in json.loads(run("list", str(file), "--json").stdout)}
    assert rows["s"] == "(_32,_33):(_33,_1)"
    assert rows["t"] == "(_2,_8,_8):(_64,_8,_1)"
    assert not rows.keys() & {"all", "r"}
    column = run("analyze", f"{file}::s", "--access", "column").stdout.decode()
    assert "ld.32" in column
    assert column.endswith("no conflicts\n"), column
    assert run("eval", f"{file}::s(_,0)").stdout == b"(_32):(_33)\n"


ARGUMENTS = {
    "cpp": (
        *("(4,8):(8,1)", "_4", "(4,8)", "3", "1.5", "true", "_", "nullptr", '"a"', "half_t{}", "LayoutLeft{}", "Swizzle<3,3,3>{}"),
        *("SM80_16x8x16_F32F16F16F32_TN{}", "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{})", "make_counting_tensor((4,4))"),
        "make_tensor(make_gmem_ptr<half_t>(0), (64,64):(64,1))",
    ),
    "dsl": (
        *("cute.make_layout((4,8),stride=(8,1))", "4", "(4,8)", "(4,(2,None))", "1.5", "True", "None", "'a'", "[1]", "{}", "()"),
        *("cute.make_identity_tensor((4,4))", "cute.make_swizzle(3,3,3)", "cute.E(0)", "mode=[0]", "cutlass.Float16"),
        "cute.make_composed_layout(cute.make_swizzle(3,3,3),0,cute.make_layout((8,8)))",
    ),
}
TEMPLATES = {"cpp": ("", "<>", "<0>", "<0,1>", "<-1>", "<8>", "<half_t>", "<half_t,float>"), "dsl": ("",) * 4}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name"), [("cpp", name) for name in sorted(CALLS)] + [("dsl", f"cute.{x}") for x in sorted({*OPS, *ALIASES})]
)
def test_a_function_of_any_arguments_has_a_value_or_is_refused(kind, name):
    chance = random.Random(name)
    for template, count in itertools.product(TEMPLATES[kind], range(5)):
        text = f"{name}{template}({', '.join(chance.choice(ARGUMENTS[kind]) for _ in range(count))})"
        with contextlib.suppress(CuteVizError):
            assert ask(Request((text,))).printed is not None


LAUNCHED = """
template <int N> __global__ void k(float* x) { auto a = make_layout(Shape<Int<N>, _8>{}); copy(x, x); }
template <class T> void run(T* x, int n) { auto f = &k<4>; k<4><<<dim3(n), 32>>>(x); f<<<1, 32, 0, s>>>(x); run<int>(x, 3); }
"""


def test_a_report_of_a_launch_without_any_one_of_its_tokens_is_there_or_refused(tmp_path):
    tokens = re.findall(r"\w+|<<<|>>>|\s+|[^\w\s]", LAUNCHED)
    for at in range(len(tokens)):
        for kept in (tokens[:at] + tokens[at + 1 :], tokens[:at], tokens[: at + 1] + tokens[at:]):
            (tmp_path / "a.cu").write_text("".join(kept))
            with contextlib.suppress(CuteVizError):
                ask(Request((str(tmp_path / "a.cu"),), files=True)).report(False)


PARAMS = """
struct Base { long row; };
struct Params : Base { long other; Layout<Shape<_4,_8>,Stride<_8,_1>> smem; };
template <bool V> struct Info {
  template <class P> Info(P const& p, int b) : begin(b), scale(2.f) {}
  int const begin;
  float scale;
};
template <class T> void change(T& tensor) { tensor(0) = 0; }
template <class P> __global__ void k(P const params) {
  Info<true> const info(params, blockIdx.x);
  auto g = make_layout(make_shape(_8{}, _8{}), make_stride(params.other, _1{}));
  auto h = make_layout(make_shape(_8{}, _8{}), make_stride(params.row, _1{}));
  auto from = make_layout(make_shape(info.begin, _8{}));
  auto lost = info.scale;
  Tensor r = make_tensor<float>(Shape<_2,_2>{});
  for (int n = 0; n < 4; ++n) { change(r); }
  auto same = r.layout();
}
void host(Params& p) { k<<<1, 32>>>(p); Params a{1, {}}; auto b = a.smem; }
"""


def test_members_of_what_a_kernel_is_given() -> None:
    """A member may be given, also of the class itself; braces stand for what its type is; what a constructor makes of it is not
    known; a reference to a tensor leaves its layout as it is.
    """
    assert [value(PARAMS, name, other="16", row="32") for name in ("k::g", "k::h")] == ["(_8,_8):(16,_1)", "(_8,_8):(32,_1)"]
    plain = PARAMS.replace(": Base ", "").replace("params.row", "params.other")
    assert value(plain, "host::b") == "(_4,_8):(_8,_1)"
    assert value(PARAMS, "k::from") == "(?,_8):(_1,?)"
    assert error(PARAMS, "k::lost").message == "cannot determine how an object of Info is constructed"
    assert value(PARAMS, "k::same") == "(_2,_2):(_1,_2)"
