"""C++ files with run-time extents, TMA, builders, several callers: what CuTe prints, and `?` for what no text tells."""

from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from cute_viz.algebra.inttuple import show
from cute_viz.cli import main
from cute_viz.engine import Request, Source, ask
from cute_viz.errors import CuteVizError
from cute_viz.source.cpp import read
from cute_viz.source.model import Given
from cute_viz.source.text import read as read_text
from cute_viz.spec.library import resolve
from tests import commands

DATA = Path(__file__).parent / "data"
PRINTED = json.loads(gzip.decompress((DATA / "cpp_source.json.gz").read_bytes()))
BUILDERS = json.loads(gzip.decompress((DATA / "builders.json.gz").read_bytes()))
TRUTH = PRINTED["tensors"]
TENSORS = (DATA / "tensors.cu").read_text()
RUN = {"first": {"lda": "128"}, "second": {"lda": "512"}}
SIZES = {"T": "half_t", "m": "512", "n": "256", "k": "128"}


def value(text: str, name: str, **let: str) -> str:
    return " ".join(show(read(text, Given(let, resolve)).find(name).read()).split())


def error(text: str, name: str, **let: str) -> CuteVizError:
    with pytest.raises(CuteVizError) as caught:
        read(text, Given(let, resolve)).find(name).read()
    return caught.value


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_a_kernel_has_the_values_that_its_compiler_prints(name: str) -> None:
    caller = name.split("::")[0]
    let = SIZES | RUN[caller] if caller in RUN else {}
    found = value(TENSORS, name, **let)
    assert (found.rpartition("(unset) o ")[2] if name.endswith("::to") else found) == TRUTH[name]  # of this tensor its layout


@pytest.mark.parametrize("text", sorted(PRINTED["origins"]))
def test_tensors_of_coordinates_begin_where_cute_prints_it(text: str) -> None:
    file = read(text, Given({}, resolve))
    assert {name: show(file.find(name).read()) for name in PRINTED["origins"][text]} == PRINTED["origins"][text]
    at_once = read_text(text, resolve=resolve).values
    assert {name: show(at_once[name]) for name in PRINTED["origins"][text]} == PRINTED["origins"][text]


@pytest.mark.parametrize(
    ("name", "told"), [("t", b"in tensor memory"), ("p", b"in tensor memory"), ("a", b"10040"), ("b", b"10040")]
)
def test_one_line_and_a_file_say_the_same_of_a_tensor(name: str, told: bytes) -> None:
    text = b"""auto t = make_tensor(make_tmem_ptr<int>(0), Layout<Shape<Shape<_128,_64>,_2>,Stride<Stride<Int<65536>,_1>,_64>>{});
    auto p = make_tmem_copy(SM100_TMEM_LOAD_16dp256b2x{}, t).get_slice(Int<1>{}).partition_S(t);
    auto s = make_tensor(make_smem_ptr<half_t>((void*)1024), tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64,_64>{}));
    auto thr = make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>{}).get_slice(0);
    auto a = thr.make_fragment_A(thr.partition_A(s)); auto b = thr.partition_fragment_B(s);"""
    file, line = (commands.run("show", "-", "--name", name, "--json", stdin=x).stdout for x in (text, text.replace(b"\n", b" ")))
    assert file == line
    assert told in file


@pytest.mark.parametrize(
    ("expression", "printed"),  # as g++ prints it with CUTLASS's headers; "" of what it refuses
    [
        *[(f"{name}(t)", "") for name in ("cosize", "get<0>", "select<0>", "append<3>", "coshape", "right_inverse", "complement")],
        ("cosize(local_tile(t, Shape<_2,_2>{}, make_coord(0, 1)))", ""),
        ("cosize(t.layout())", "_32"),
        *[(f"{name}(t{of})", "_4:_1@0") for name, of in (("get<0>", ".layout()"), ("layout<0>", ""))],
        ("tensor<0>(t)", "ArithTuple(_0,_0) o _4:_1@0"),
        ("take<0,1>(t)", "ArithTuple(_0,_0) o (_4):(_1@0)"),
        *[(f"{name}(t)", "ArithTuple(_0,_0) o (_4,_8):(_1@0,_1@1)") for name in ("coalesce", "flatten", "filter")],
        *[("shape<0>(t)", "_4"), ("stride<0>(t)", "_1@0"), ("size(t)", "_32")],
    ],
)
def test_a_tensor_of_coordinates_takes_what_cute_has_of_tensors(expression: str, printed: str) -> None:
    text = f"auto t = make_identity_tensor(Shape<_4,_8>{{}}); auto x = {expression};"
    at_once = read_text(text, resolve=resolve)
    if printed:
        assert value(text, "x") == show(at_once.values["x"]) == printed
    else:
        assert error(text, "x").message
        assert "x" not in at_once.values


def test_an_origin_that_is_not_known_is_no_zero() -> None:
    text = """__global__ void f() { auto c = make_identity_tensor(Shape<_64, _32>{});
        auto t = local_tile(c, Shape<_16, _16>{}, make_coord(blockIdx.x, 1)); auto first = get<0>(t(2, 3)); }"""
    assert value(text, "t") == "(_16,_16):(_1@0,_1@1)"
    assert value(text, "first") == "?"
    assert value(text, "t", **{"blockIdx.x": "3"}) == "ArithTuple(48,16) o (_16,_16):(_1@0,_1@1)"
    assert value(text, "first", **{"blockIdx.x": "3"}) == "50"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("first::whole", "(?,?):(?,_1)"),
        ("first::device_gemm::plain", "(?,?):(?,_1)"),
        ("first::device_gemm::tiles", "(_128,_64,?):(?,_1,_64)"),
        ("second::device_gemm::tiles", "(_128,_64,?):(_1,?,?)"),
        ("first::device_gemm::words", "(_128,_32,?):(?,_1,_32)"),
        ("device_gemm::sums", "((_2,_2,_8),_1,_1):((_1,_2,_4),_0,_0)"),
    ],
)
def test_what_no_text_tells_is_a_question_mark(name: str, expected: str) -> None:
    assert value(TENSORS, name, T="half_t") == expected


def test_a_number_is_asked_for_where_it_matters() -> None:
    assert error(TENSORS, "first::tma", T="half_t").needs == ("m", "k", "lda")
    text = "void f(int n, int m) {{ auto a = make_layout(make_shape(n, m)); auto b = {}; }}"
    for asked in ("Layout<Int<size(a)>>{}", "make_layout(n > 4 ? Int<2>{} : Int<3>{})", "size(a)", "a(n, 0)"):
        assert error(text.format(asked), "b").needs[0] in ("n", "m")
    assert value(text.format("make_layout(make_shape(n - n + 2, m * 0 + 8))"), "b") == "(2,8):(_1,2)"
    constant = "void f() { constexpr int n = unread(); auto a = make_layout(make_shape(n, 4)); }"
    assert "unread" in error(constant, "a").message


OPERATIONS = (
    "make_layout(make_shape(n, Int<{a}>{{}}))",
    "make_layout(make_shape(Int<{a}>{{}}, n), make_stride(n, Int<1>{{}}))",
    "zipped_divide({x}, make_shape(Int<{a}>{{}}, Int<{b}>{{}}))",
    "logical_divide({x}, make_tile(Int<{a}>{{}}))",
    "tiled_divide({x}, make_shape(Int<{b}>{{}}))",
    "local_tile(make_tensor(p, {x}), make_shape(Int<{a}>{{}}, Int<{b}>{{}}), make_coord(1, _))",
    "composition({x}, make_tile(Int<{a}>{{}}, Int<{b}>{{}}))",
    "composition({x}, Layout<Shape<Int<{a}>, _2>, Stride<_1, Int<{b}>>>{{}})",
    "coalesce({x})",
    "flatten({x})",
    "group_modes<0, 2>({x})",
    "append({x}, make_layout(n))",
    "select<1, 0>({x})",
    "logical_product({x}, Layout<Shape<_2, Int<{b}>>>{{}})",
    "raked_product(Layout<Shape<Int<{a}>, _2>>{{}}, make_layout(make_shape(n, Int<{b}>{{}})))",
    "filter({x})",
    "make_layout({x}, make_layout(make_shape(Int<{a}>{{}}, 2)))",
    "make_layout_like({x})",
    "upcast<2>({x})",
)


def program(rng: random.Random) -> str:
    text = rng.choice(OPERATIONS[:2])
    numbers = {"a": rng.choice((1, 2, 4, 16)), "b": rng.choice((1, 2, 3, 8))}
    text = text.format(x="", **numbers)
    for _ in range(rng.randint(1, 2)):
        text = rng.choice(OPERATIONS).format(x=text, a=rng.choice((1, 2, 4, 16)), b=rng.choice((1, 2, 3, 8)))
    return f"void f(int n, float* p) {{ auto a = {text}; }}"


def test_a_question_mark_stands_for_whatever_number() -> None:
    """What is printed beside `?` is the same for every number: values of random programs, with and without it."""
    rng = random.Random(5)
    compared = 0
    for _ in range(150):
        text = program(rng)
        try:
            symbolic = value(text, "a")
        except CuteVizError:
            continue
        pattern = re.compile(re.escape(symbolic).replace(r"\?", r"-?\d+"))
        for n in (1, 3, 8, 64, 100, 128, 4096):
            try:
                concrete = value(text, "a", n=str(n))
            except CuteVizError:  # a number that does not divide, where CuTe's assertions are off
                continue
            compared += 1
            assert pattern.fullmatch(concrete), (text, n, symbolic, concrete)
    assert compared > 300


CALLED = """
template <class L, class M> void kernel(L l, M m) { auto a = make_layout(l, Layout<_2>{}); auto b = M{}; }
void g() { kernel(Layout<_4>{}, Layout<_8>{}); }
void h() { kernel(Layout<_5>{}, Layout<_8>{}); }
"""


def test_several_calls_tell_what_they_agree_on() -> None:
    assert value(CALLED, "kernel::b") == "_8:_1"
    assert value(CALLED, "g::kernel::a") == "(_4,_2):(_1,_1)"
    assert value(CALLED, "h::kernel::a") == "(_5,_2):(_1,_1)"
    found = error(CALLED, "kernel::a")
    assert "differs between the calls of kernel in g (line 3) and h (line 4)" in found.message
    assert "`name=g::kernel::NAME`" in (found.hint or "")
    (row,) = (x for x in ask(Request((Source(CALLED, "a.cu"),))).rows if x.path == "kernel::a")
    assert row.brief == "differs by caller, for example g::kernel::a"
    assert value(CALLED, "kernel::a", l="Layout<_3>{}") == "(_3,_2):(_1,_1)"
    other = CALLED.replace("Layout<_5>{}", "make_layout(4)")  # as many, but not known when the code is compiled
    assert "differs" in error(other, "kernel::a").message


def test_numbers_that_a_call_hands_over_are_the_same_and_others_are_not() -> None:
    text = """
    void kernel(int n, int ld) { auto a = make_layout(ld - 2 * n + 4); auto b = make_layout(ld - n + 4); }
    void host(int m) { kernel(m, 2 * m); }
    void apart(Shape<int, int> s, int m) {
      auto c = make_layout(get<0>(s) / get<1>(s) + 4); auto d = make_layout((m & 0x80) + 4); auto e = make_layout(m - m + 4);
    }
    void read() { int p = params.p; int q = params.q; auto f = make_layout(p / q + 4); auto g = make_layout(p - p + 4); }
    """
    assert [value(text, name) for name in "aeg"] == ["4:_1"] * 3
    assert [value(text, name) for name in "bcdf"] == ["?:_1"] * 4


def test_an_enumerator_of_a_number_that_is_not_known_is_none() -> None:
    text = """
    enum class Role { Load, Math };
    void f(int warp) {
      Role role = static_cast<Role>(warp);
      auto a = Layout<Int<role == Role::Load ? 2 : 3>>{}; auto b = Layout<Int<role == Role::Math ? 2 : 3>>{};
    }
    """
    assert error(text, "a").needs == error(text, "b").needs == ("warp",)
    assert value(text, "a", warp="0") == value(text, "b", warp="1") == "_2:_1"


def test_a_call_of_another_function_of_the_name_tells_nothing() -> None:
    text = """
    template <class L> void gemm(char how, L l) { auto a = L{}; }
    void f() { auto x = Layout<_4>{}; cute::gemm(x, x, x); gemm('N', x); }
    """
    assert value(text, "a") == "_4:_1"


def test_a_default_does_not_count_where_a_call_tells() -> None:
    text = "template <class L = Layout<_2>> void f(L l) { auto a = L{}; } void g() { f(unread); }"
    assert "unread" in error(text, "a").message
    two = "template <class L = Layout<_2>> void f(int n, L l = L{}) { auto a = L{}; } void g() { f(1); f(1, Layout<_3>{}); }"
    assert "differs" in error(two, "a").message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "auto a = make_tensor(make_gmem_ptr<half_t>(p), Layout<Shape<_8,_4>>{}); auto b = recast<uint32_t>(a);",
            "(_4,_4):(_1,_4)",
        ),
        ("auto b = upcast<4>(make_layout(make_shape(Int<8>{}, Int<4>{}), make_stride(Int<1>{}, 64)));", "(_2,_4):(_1,16)"),
        ("auto b = recast_layout<half_t, float>(Layout<Shape<_8,_4>>{});", "(_4,_4):(_1,_4)"),
        (
            "auto a = make_tensor<float>(Shape<_4,_8>{}); using V = decltype(a)::value_type; auto b = Layout<Int<sizeof(V)>>{};",
            "_4:_1",
        ),
        ("auto b = Layout<Int<CUTE_STATIC_V(size(Shape<_2,_3>{}))>>{};", "_6:_1"),
        ("auto b = TMEM::tmem_load_to_store(SM100_TMEM_LOAD_16dp64b2x_16b{});", "SM100_TMEM_STORE_16dp64b2x_16b"),
        ("using b = std::conditional_t<(cutlass::arch::Sm90::kMinComputeCapability >= 90), Layout<_9>, Layout<_8>>;", "_9:_1"),
        ("using P = MainloopSm80CpAsync<3, Shape<_1,_1,_1>>; auto b = Layout<Int<P::Stages>>{};", "_3:_1"),
        (
            "using S = cutlass::gemm::TagToStrideB_t<layout::RowMajor>; auto b = Layout<Int<is_major<0, S>() ? 2 : 3>>{};",
            "_2:_1",
        ),
    ],
)
def test_what_real_files_contain(text: str, expected: str) -> None:
    assert value(f"void f(void* p) {{ {text} }}", "b") == expected


def test_members_of_structs_without_a_name_have_elements() -> None:
    """As SharedStorage of CUTLASS's Blackwell tutorials has them: what an ArrayEngine of one begins with is of its type."""
    text = """template <class T, class L> struct Storage {
  alignas(128) union {
    alignas(128) struct { alignas(128) cute::ArrayEngine<T, cute::cosize_v<L>> A; } mainloop;
    alignas(128) cute::ArrayEngine<float, 64> C;
  } tensors;
  auto sA() { return make_tensor(make_smem_ptr(tensors.mainloop.A.begin()), L{}); }
  auto sC() { return make_tensor(make_smem_ptr(tensors.C.begin()), Layout<_64>{}); }
};
void f(Storage<half_t, Layout<Shape<_8,_8>>>& s) {
  int a = sizeof(make_tensor_like(s.sA())), c = sizeof(make_tensor_like(s.sC()));
}
"""
    assert [value(text, name) for name in "ac"] == ["128", "256"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("auto s = make_tensor(make_smem_ptr<half_t>((void*)1024), Layout<Shape<_8,_64>,Stride<_64,_1>>{});", "1024"),
        ("auto s = make_tensor(make_smem_ptr((half_t*)1024 + 8), Layout<Shape<_8,_64>,Stride<_64,_1>>{});", "1040"),
        (
            "auto t = make_tensor(make_smem_ptr<half_t>((void*)1024), make_layout(make_shape(_64{}, _64{}), LayoutRight{})); "
            "auto s = local_tile(t, Shape<_8,_64>{}, make_coord(1, 0));",
            "2048",
        ),
        (
            "auto t = make_tensor(make_smem_ptr<half_t>((void*)0), "
            "make_layout(make_shape(_8{}, _64{}, 3), make_stride(_64{}, _1{}, 512))); "
            "auto s = t(_, _, 2)(_, _);",
            "2048",
        ),
    ],
)
def test_a_descriptor_begins_where_its_tensor_does(text: str, expected: str) -> None:
    from cute_viz.analysis.hardware import hardware_facts

    file = read(f"{text}\nauto d = make_gmma_desc<GMMA::Major::MN>(s);\n", Given({}, resolve))
    assert f"{expected} bytes" in str(hardware_facts(file.find("d").read()))


def test_numbers_wrap_macros_join_and_a_launch_tells_its_kernel() -> None:
    text = (
        "#define ATOM(M, N) SM80_##M##x##N##x16_F32F16F16F32_TN\n"
        "constexpr int log(int x) { return x == 1 ? 0 : x > 1 ? 1 + log(x / 2) : (throw 1, 0); }\n"
        "template <class L> void kern(L l, int n) { auto c = n; auto d = l; }\n"
        "void host() {\n  constexpr uint32_t big = 3u - 5u; auto l = Layout<Int<log(64)>>{}; using A = MMA_Atom<ATOM(16, 8)>;\n"
        "  void const* k = (void const*)kern<decltype(l)>;\n  launch_kernel_on_cluster(params, k, l, 5);\n}\n"
    )
    assert [value(text, name) for name in ("big", "kern::c", "kern::d")] == ["4294967294", "5", "_6:_1"]
    assert "Shape_MNK: (_16,_8,_16)" in value(text, "A")


def test_a_helper_of_examples_puts_an_operand_into_registers() -> None:
    text = "using SS = decltype(make_tiled_mma(GMMA::ss_op_selector<half_t,half_t,float,Shape<_128,_64,_64>>(), Layout<_2>{}));"
    text += "using RS = decltype(convert_to_gmma_rs(SS{})); using No = decltype(convert_to_gmma_rs(Layout<_2>{}));"
    own = text.replace(
        "convert_to_gmma_rs(SS", "make_tiled_mma(GMMA::rs_op_selector<half_t,half_t,float,Shape<_128,_64,_64>>(), Layout<_2>"
    )
    assert value(text, "RS") == value(own, "RS") != value(text, "SS")
    assert "from shared memory" in error(text, "No").message


def test_a_macro_chooses_further_shapes() -> None:
    text = "auto op = GMMA::ss_op_selector<{0},{0},{1},Shape<_64,Int<{2}>,_64>>();"
    given = {"CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED": "1"}
    assert "(_64,_16,_16)" in value(text.format("half_t", "float", 176), "op")
    assert "(_64,_176,_16)" in value(text.format("half_t", "float", 176), "op", **given)
    assert "(_64,_24,_32)" in value(text.format("int8_t", "int", 168), "op", **given)


BUILT = "using M = typename cutlass::gemm::collective::CollectiveBuilder<{}>::CollectiveOp;"
ARGUMENTS = (
    "cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, half_t, cutlass::layout::RowMajor, 8, half_t, "
    "cutlass::layout::RowMajor, 8, float, Shape<_128,_128,_64>, Shape<_1,_1,_1>, {}, {}"
)


@pytest.mark.parametrize("built", [PRINTED["builders"], BUILDERS])
def test_builders_make_what_the_headers_do(built: dict[str, Any]) -> None:
    file = read(built["text"], Given({}, resolve))
    for name, printed in built["printed"].items():
        assert show(file.find(name).read()).rstrip() == printed, name


def test_a_builder_refuses_what_it_does_not_read() -> None:
    auto = BUILT.format(
        ARGUMENTS.format("cutlass::gemm::collective::StageCountAuto", "cutlass::gemm::collective::KernelScheduleAuto")
    )
    assert "(_1,_7)" in value(auto, "M::SmemLayoutA")
    assert error(auto.replace("Sm90", "Sm120"), "M::TiledMma").message.endswith("::Sm90 and Sm100, not for Sm120")
    assert "Sparse" in error(auto.replace("OpClassTensorOp", "OpClassSparseTensorOp"), "M::TiledMma").message
    assert "StageCount" in error(auto.replace("StageCountAuto", "Mine"), "M::SmemLayoutA").message + "StageCount"
    assert "TiledMMA" in value(auto.replace("StageCountAuto", "Mine"), "M::TiledMma")
    assert "KernelOdd" in error(auto.replace("KernelScheduleAuto", "KernelOdd"), "M::TiledMma").message
    eight = auto.replace("half_t", "float_e4m3_t")
    assert "TMA cannot align" in error(eight, "M::TiledMma").message
    fits = eight.replace("RowMajor, 8", "RowMajor, 16")
    assert "Shape_MNK: (_64,_128,_32)" in value(fits, "M::TiledMma")  # A through registers, for B has no other way
    fast = fits.replace("KernelScheduleAuto", "KernelTmaWarpSpecializedFP8FastAccum")
    assert "contiguous in K" in error(fast, "M::TiledMma").message
    scaled = fits.replace("OpClassTensorOp", "OpClassBlockScaledTensorOp").replace("Sm90", "Sm100")
    assert "not a type of scaled elements" in error(scaled, "M::TiledMma").message
    for text in (BUILT.format("1, 2"), auto.replace("_128,_128,_64", "_100,_128,_64"), auto.replace("Shape<_128,_128,_64>", "int")):
        error(text, "M::TiledMma")


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(argv))
    out = capsys.readouterr()
    return int(stop.value.code or 0), out.out, out.err


def test_the_command_line_on_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = str(DATA / "tensors.cu")
    code, out, err = run(capsys, path)
    assert (code, out) == (2, "")
    assert f"cute-viz list '{path}'" in err
    code, out, _ = run(capsys, "list", path, "--let", "T=half_t")
    assert code == 0
    assert "hopper::Mainloop::SmemLayoutA" in out
    assert "hopper::second::whole" in out
    assert "::ArchTag " not in out
    code, out, _ = run(capsys, "explain", path, "--name", "Mainloop::SmemLayoutA")
    assert code == 0
    code, out, _ = run(capsys, "explain", path, "--name", "second::stride")
    assert (code, "second::stride, line" in out) == (0, True)
    code, out, _ = run(capsys, "explain", path, "--name", "first::smem", "--let", "T=half_t")
    assert code == 0
    assert "Sw<3,4,3>" in out


TMA = """void host(half_t* p) {
  auto g = make_tensor(make_gmem_ptr(p), make_shape(512, 256), make_stride(256, Int<1>{}));
  auto s = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_128, _128>{});
  auto many = make_tma_atom(SM90_TMA_LOAD_MULTICAST{}, g, s, Shape<_128, _128>{}, Int<2>{});
  auto one = make_tma_atom(SM90_TMA_LOAD{}, g, s, Shape<_128, _128>{});
  auto tiled = make_tma_copy(SM90_TMA_LOAD{}, g, s);
  auto gA = local_tile(one.get_tma_tensor(make_shape(512, 256)), Shape<_128, _128>{}, make_coord(0, _));
  auto sA = make_tensor(make_smem_ptr(p), s);
  int rank = cute::block_rank_in_cluster();
  auto [a, b] = tma_partition(many, rank, Layout<_2>{}, group_modes<0, 2>(sA), group_modes<0, 2>(gA));
  auto [c, d] = tma_partition(one, group_modes<0, 2>(sA), group_modes<0, 2>(gA));
  auto like = make_tensor_like(sA);
  auto place = make_coord(blockIdx.x % Int<1>{}, Int<0>{} * blockIdx.x, Int<0>{} / 4, 7 & Int<0>{}, 7 % Int<2>{});
}
"""
ATOM = "Copy_Atom ThrID: _1:_0" + "".join(f" ValLayout{x}: (_1,_8192):(_0,_1)" for x in ("Src", "Dst", "Ref")) + " ValueType: 16b"
OF_TMA = {  # as CuTe prints them
    "many": ATOM,
    "one": ATOM,
    "tiled": "TiledCopy Tiler_MN: (_128,_128) TiledLayout_TV: (_1,(((_64,_128),_2))):(_0,(((_128,_1),_8192))) " + ATOM,
    "a": "(((_64,_128),_2),2):(((_1@0,_1@1),_64@0),_128@0)",  # it begins where the block of the cluster says
    "c": "ArithTuple(_0,0) o (((_64,_128),_2),2):(((_1@0,_1@1),_64@0),_128@0)",
    **dict.fromkeys("bd", "((_8192,_2)):((_1,_8192))"),
    "like": "((_8,_16),(_64,_2)):((_64,_512),(_1,_8192))",
    "place": "(_0,_0,_0,_0,1)",
    "rank": "?",
}


def test_tma_operations_print_as_in_cute(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(TMA)
    for name, expected in OF_TMA.items():
        code, out, _ = run(capsys, "eval", str(path), "--name", name)
        assert (code, " ".join(out.split())) == (0, expected), name


def test_what_a_file_includes_is_read_where_it_is_needed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    common = """template <class L, class S> constexpr auto staged(L l, S s) {
      return composition(l, prepend<decltype(rank(l))::value>(make_layout(s), _));
    }"""
    (tmp_path / "a" / "b" / "c" / "d").mkdir(parents=True)
    (tmp_path / "a" / "common.h").write_text(common)
    (tmp_path / "far.h").write_text("using Far = Layout<_4>;")
    path = tmp_path / "a" / "b" / "c" / "d" / "kernel.cu"
    text = '#include "common.h"\n#include "far.h"\n#include "../../../../far.h"\nusing Own = Layout<_8>;\n'
    path.write_text(text + "using Three = decltype(staged(Layout<Shape<_4,_8,Shape<_1,_3>>>{}, _2{}));\n")
    for name, printed in {"Three": "(_4,_8,_2):(_1,_4,_32)", "Own": "_8:_1"}.items():
        assert run(capsys, "eval", str(path), "--name", name)[:2] == (0, printed + "\n")
    assert run(capsys, "eval", str(path), "--name", "Far")[0] == 1  # four folders up is too far
    path.write_text(text.replace("common", "none") + "using Three = decltype(staged(Layout<_4>{}, _2{}));\n")
    assert "'staged' is not defined in this file" in run(capsys, "eval", str(path), "--name", "Three")[2]


def test_what_eval_prints_of_a_tensor_is_its_layout(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text("""
    using Smem = decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _64>{}));
    void f(half_t* p) {
      auto sA = make_tensor(make_smem_ptr(p), Smem{});
      auto part = sA(_, 0);
      auto layout = sA.layout();
      auto apart = as_position_independent_swizzle_tensor(sA);
    }
    using Wide = decltype(make_tiled_mma(GMMA::ss_op_selector<half_t, half_t, float, Shape<_64, Int<176>, _64>>()));
    """)
    rows = {"Smem": "Sw<3,4,3> o smem_ptr[16b](unset) o ((_8,_8),(_64,_1)):((_64,_512),(_1,_0))"}
    rows |= dict.fromkeys(("sA", "layout"), "((_8,_8),(_64,_1)):((_64,_512),(_1,_0))")
    rows |= {"part": "((_8,_8)):((_64,_512))", "apart": "Sw<3,3,3> o _0 o ((_8,_8),(_64,_1)):((_64,_512),(_1,_0))"}
    for name, expected in rows.items():
        assert run(capsys, "eval", str(path), "--name", name)[:2] == (0, expected + "\n"), name
    code, out, _ = run(capsys, "explain", str(path), "--name", "sA", "--json")
    assert (code, "Sw<3,3,3>" in out) == (0, True)  # which the picture shows
    assert "SM90_64x16x16_F32F16F16_SS, as CUTE_SM90_EXTENDED" in run(capsys, "eval", str(path), "--name", "Wide")[2]
    with path.open("a") as file:
        file.write("using Tile = decltype(composition(Swizzle<3,3,3>{}, Layout<Shape<_16,_64>, Stride<_64,_1>>{}));\n")
        file.write("struct K { using Mma = decltype(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{})); };\n")
    access = ("--access", "make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, K::Mma{})")  # a name of the file in it
    assert "are ideal: no conflicts" in run(capsys, "analyze", str(path), "--name", "Tile", *access)[1]
    given = ("--let", "CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED=1")
    assert run(capsys, "eval", str(path), "--name", "Wide", *given)[2] == ""


def test_what_a_file_draws_without_a_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "void f(int n) {\n  auto a = Layout<Shape<_2,_3>>{};\n  auto b = make_layout(make_shape(n, 4));\n"
        "  auto c = make_shape(n, 2);\n}\n"
    )
    code, out, err = run(capsys, "eval", str(path))
    assert (code, out) == (0, "(_2,_3):(_1,_2)\n")
    assert "f::a (line 2)" in err


def test_a_descriptor_of_a_kernel_says_that_its_address_is_not_known(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "void f(half_t* smem) {\n"
        "  auto l = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_128,_64>{});\n"
        "  auto s = make_tensor(make_smem_ptr<half_t>(smem), l);\n"
        "  auto k = local_tile(s, Shape<_128,_16>{}, make_coord(0, 1));\n"
        "  auto d = GMMA::make_gmma_desc<GMMA::Major::K>(k);\n}\n"
    )
    with pytest.raises(SystemExit):
        main(["show", str(path), "--name", "d", "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert (facts["stride_byte_offset"], facts["layout_type_name"]) == (64, "B128")
    assert facts["start address"].startswith("not known")


def test_the_bytes_of_a_transaction_are_those_of_what_owns_its_elements() -> None:
    text = """auto g = make_tensor(make_gmem_ptr<half_t>(nullptr), make_layout(make_shape(100, 120), GenRowMajor{}));
auto l = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _64, _3>{});
auto tma = make_tma_atom(SM90_TMA_LOAD{}, g, l(_,_,0), Shape<_64, _64>{});
auto s = make_tensor(make_smem_ptr((half_t*)0), l);
auto tile = local_tile(tma.get_tma_tensor(make_shape(100, 120)), Shape<_64, _64>{}, make_coord(0, _));
auto [from, to] = tma_partition(tma, Int<0>{}, Layout<_1>{}, group_modes<0,2>(s), group_modes<0,2>(tile));
int bytes = sizeof(make_tensor_like(tensor<0>(to)));
int few = sizeof(make_tensor_like(make_tensor<half_t>(Shape<_3>{})));
"""
    assert [value(text, name) for name in ("bytes", "few")] == ["8192", "16"]  # array_aligned<T,N> is of 16 bytes


def test_the_rank_of_a_block_in_its_cluster_can_be_given() -> None:
    text = """void k() {
  auto cluster = make_layout(Shape<_2, _2, _1>{});
  auto crd = cluster.get_flat_coord(int(cute::block_rank_in_cluster()));
  uint16_t mask = create_tma_multicast_mask<1>(cluster, crd);
}
"""
    assert [value(text, "mask", block_rank_in_cluster=str(rank)) for rank in range(4)] == ["5", "10", "5", "10"]
    assert value(text, "mask") == "?"


# What CUTLASS 4.7 prints of these, built with g++; of z, w and s3 it prints numbers that depend on the thread.
SWIZZLED = """
auto L = composition(Swizzle<3, 3, 3>{}, Layout<Shape<_64, _64>, Stride<_64, _1>>{});
auto c = make_tensor(make_gmem_ptr<half_t>(0), L);
auto mma = make_tiled_mma(SM80_16x8x16_F16F16F16F16_TN{}, Layout<Shape<_4, _1, _1>>{});
auto r = mma.get_slice(0).partition_C(c);             // ((_2,_2),_1,(_2,_2,_2)):((_1,_512),_0,(8,16,32))
auto r5 = mma.get_slice(5).partition_C(c);            // ((_2,_2),_1,(_2,_2,_2)):((_1,_512),_0,(-8,16,32))
auto s = c(0, _);                                     // ((_8,_2,_2,_2)):((_1,8,16,32))
auto s1 = c(1, _);                                    // ((_8,_2,_2,_2)):((_1,-8,16,32))
auto t = local_tile(c, make_shape(_32{}, _8{}), make_coord(1, 2));        // ((_2,_2,_2,_4),_8):((72,112,288,_512),_1)
auto u = local_partition(c, make_layout(make_shape(_8{}, _8{})), 9);      // (_8,(_2,_2,_2)):(_512,(-8,16,32))
auto a1 = r(_, 0, _);                                 // ((_2,_2),(_2,_2,_2)):((_1,_512),(8,16,32))
auto a2 = r5(_, _, 3);                                // ((_2,_2),_1):((_1,_512),_0)
auto a3 = t(_, 3);                                    // ((_2,_2,_2,_4)):((72,112,288,_512))
auto a5 = u(2, _);                                    // ((_2,_2,_2)):((-8,16,32))
auto a6 = local_tile(t, make_shape(_8{}, _8{}), make_coord(1, 0));        // ((_2,_2,_2),_8):((72,112,288),_1)
auto st = make_tensor(make_gmem_ptr<half_t>(0), tile_to_shape(L, make_shape(_128{}, _64{}, _3{})));
auto b1 = st(_, _, 1);                                // Sw<3,3,3> o _0 o ((_64,_2),(_64,_1)):((_64,_4096),(_1,_0))
auto b2 = b1(_, 5);                                   // (((_2,_2,_2,_8),_2)):(((72,144,288,_512),_4096))
auto b3 = local_tile(b1, make_shape(_64{}, _32{}), make_coord(1, _));     // Sw<3,3,3> o _0 o (_64,_32,_2):(_64,_1,_32)
auto b4 = b3(_, _, 1);                                // Sw<3,3,3> o M_0|(32&32)=32 o (_64,_32):(_64,_1)
auto b5 = mma.get_slice(37).partition_C(b4);          // ((_2,_2),_1,(_2,_2)):((_1,_512),_0,(-8,16))
auto b6 = group_modes<0, 2>(b4);                      // Sw<3,3,3> o M_0|(32&32)=32 o ((_64,_32)):((_64,_1))
auto eight = make_layout(make_shape(_8{}, _8{}));
auto w = local_partition(c, eight, threadIdx.x);      // (_8,(_2,_2,_2)):(_512,(?{div=8},?{div=16},?{div=32}))
auto z = mma.get_slice(threadIdx.x).partition_C(c);   // ((_2,_2),_1,(_2,_2,_2)):((_1,_512),_0,(?{div=8},?{div=16},?{div=32}))
auto s3 = c(threadIdx.x, _);                          // ((_8,_2,_2,_2)):((_1,?{div=8},?{div=16},?{div=32}))
"""


@pytest.mark.parametrize(("name", "printed"), re.findall(r"^auto (\w+) = .*// (.*)$", SWIZZLED, re.M))
def test_parts_of_swizzled_tensors_are_what_slice_leaves(name: str, printed: str) -> None:
    assert value(SWIZZLED, name) == printed


def test_stages_that_no_swizzle_divides_are_refused() -> None:
    """CUTLASS's question 1876: three stages of a swizzle of single bits; four are fine."""
    text = """
    auto atom = composition(Swizzle<3, 7, 3>{}, make_layout(make_shape(_8{}, _128{}), make_stride(_128{}, _1{})));
    auto s = make_tensor(make_smem_ptr<uint1b_t>(0), tile_to_shape(atom, make_shape(_8{}, _128{}, Int<STAGES>{})));
    using Atom = Copy_Atom<UniversalCopy<uint128_t>, uint1b_t>;
    auto copy = make_tiled_copy(Atom{}, Layout<Shape<_8, _1>>{}, Layout<Shape<_1, _128>>{});
    auto t = copy.get_slice(0).partition_D(s);
    """
    assert value(text.replace("STAGES", "4"), "t") == "((_128,_1),_1,_1,(_1,(_2,_2))):((_1,_0),_0,_0,(_0,(1152,2304)))"
    assert "Shape Divisibility Condition" in str(error(text.replace("STAGES", "3"), "t"))


@pytest.mark.parametrize(
    ("name", "printed"),
    [("a", "ptr[32b] 0"), ("b", "smem_ptr[16b] 8"), ("c", "ptr[16b] 0"), ("d", "gmem_ptr[16b] 16"), ("e", "ptr[32b] 4")],
)
def test_arrays_decay_to_pointers_and_an_element_has_its_address(name: str, printed: str) -> None:
    text = (
        "__global__ void k(half_t* g) {\n  int v[6];\n  __shared__ half_t w[64];\n  half_t r[64];\n  auto m = Layout<_4>{};\n"
        "  print_layout(m);\n  auto a = make_tensor(v, m);\n  auto b = make_tensor(make_smem_ptr(&w[8]), m);\n"
        "  auto c = make_tensor(&r[0], m);\n  auto d = make_tensor(make_gmem_ptr(&g[16]), m);\n  auto e = make_tensor(v + 4, m);\n}"
    )
    entry = read(text, Given({}, resolve)).find(name)
    layout = entry.read()
    assert entry.tensor is not None
    tensor = entry.tensor()
    assert tensor is not None
    space = {"": "ptr", "smem": "smem_ptr", "gmem": "gmem_ptr"}[tensor.pointer.space]
    assert (f"{space}[{tensor.bits}b] {int(tensor.pointer.offset)}", show(layout)) == (printed, "_4:_1")


def test_printing_changes_nothing_in_a_function_that_returns(tmp_path: Path) -> None:
    text = (
        "int main() {\n  auto m = make_layout(make_shape(Int<2>{}, Int<3>{}));\n  print_layout(m);\n  std::vector<int> v(6);\n"
        "  auto src = make_tensor(v.data(), m);\n  for (int t = 0; t < size(m); t++) {\n    src[t] = t;\n  }\n"
        "  copy(src, src);\n  return 0;\n}\n"
    )
    (tmp_path / "main.cpp").write_text(text)
    found = commands.run("explain", str(tmp_path / "main.cpp"))
    assert (found.returncode, b"3 instructions per thread, a load and a store of 64 bits" in found.stdout) == (0, True)


def test_a_note_tells_why_the_last_definition_is_not_the_one(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(
        "auto a = Layout<_4>{};\nauto b = composition(Layout<Shape<_4,_6>, Stride<_6,_1>>{}, Layout<_5,_1>{});\n"
    )
    found = commands.run("eval", str(tmp_path / "a.cu"))
    assert (found.stdout, b"b (line 2) cannot be read: " in found.stderr) == (b"_4:_1\n", True)
