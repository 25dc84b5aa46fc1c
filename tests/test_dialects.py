"""What people have: C++ blocks, the Python DSL, and printed dumps, each read as the objects that they name."""

from __future__ import annotations

import time

import pytest
from hypothesis import given

from cute_viz.algebra.inttuple import show
from cute_viz.errors import CuteVizError
from cute_viz.notation.write import TARGETS, write
from cute_viz.spec import read
from tests.strategies import any_layouts

BLOCK = """
  // Define CTA tile sizes (static)
  auto bM = Int<128>{};
  auto bK = Int< 64>{};
  auto bP = Int<3>{};  // Pipeline

  auto swizzle_atom = composition(Swizzle<3,3,3>{},
                                  Layout<Shape <_8,Shape <_8, _8>>,
                                         Stride<_8,Stride<_1,_64>>>{});
  auto sA = tile_to_shape(swizzle_atom, make_shape(bM,bK,bP));
  TiledCopy copyA = make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint128_t>, cute::half_t>{},
                                    Layout<Shape<_16,_8>,Stride<_8,_1>>{},
                                    Layout<Shape< _1,_8>>{});
  TiledMMA mmaC = make_tiled_mma(SM80_16x8x8_F16F16F16F16_TN{}, Layout<Shape<_2,_2>>{}, Tile<_32,_32,_16>{});
  Copy_Atom<SM75_U32x4_LDSM_N, half_t> s2r_atom_A;
  int smem_size = int(sizeof(SharedStorage<cute::half_t, decltype(sA)>));
  gemm_device<<<dimGrid, dimBlock, smem_size, stream>>>(prob_shape, A, dA, sA, copyA);
  CUTE_CHECK_LAST();
"""

DSL = '''
import cutlass.cute as cute

bM, bK = 128, 64

@cute.jit
def kernel(self):
    """A docstring."""
    sA_atom = cute.make_composed_layout(cute.make_swizzle(3, 3, 3), 0, cute.make_ordered_layout((8, 64), order=(1, 0)))
    self.sA = cute.tile_to_shape(sA_atom, (bM, bK, 3), order=(0, 1, 2))
    g2s = cute.make_copy_atom(cute.nvgpu.cpasync.CopyG2SOp(), cutlass.Float16, num_bits_per_copy=128)
    copy_a = cute.make_tiled_copy_tv(g2s, cute.make_ordered_layout((16, 8), order=(1, 0)), cute.make_layout((1, 8)))
    op = cute.nvgpu.warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16))
    mma = cute.make_tiled_mma(op, cute.make_layout((2, 2, 1)), permutation_mnk=(32, 32, 16))
    s2r = cute.make_copy_atom(cute.nvgpu.warp.LdMatrix8x8x16bOp(False, 4), cutlass.Float16)
    copy_s = cute.make_tiled_copy_A(s2r, mma)
    cute.copy(g2s, a, b)
'''

LOG = (
    "[12:00:01] \x1b[32mINFO\x1b[0m sA layout: Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)\n"
    "make[1]: Entering directory '/tmp'\n"
    "ratio 16:9, 3 warnings\n"
    "rank 0: tCsA: smem_ptr[16b](0x7fff00) o ((_2,_2),_2,_2):((_1,_8),_16,_32)\n"
    "TiledMMA\n"
    "  ThrLayoutVMNK:  (_32,_2,_2,_1):(_1,_32,_64,_0)\n"
    "  PermutationMNK: (_32,_32,_16)\n"
    "MMA_Atom\n"
    "  ThrID:      _32:_1\n"
    "  Shape_MNK:  (_16,_8,_16)\n"
    "  LayoutA_TV: ((_4,_8),(_2,_2,_2)):((_32,_1),(_16,_8,_128))\n"
    "  LayoutB_TV: ((_4,_8),(_2,_2)):((_16,_1),(_8,_64))\n"
    "  LayoutC_TV: ((_4,_8),(_2,_2)):((_32,_1),(_16,_8))\n"
    "done.\n"
)


def test_a_block_of_a_kernel():
    document = read(BLOCK)
    printed = {name: show(value) for name, value in document.values.items()}
    assert printed["sA"] == "Sw<3,3,3> o _0 o ((_8,_16),((_8,_8),_1),(_1,_3)):((_8,_512),((_1,_64),_0),(_0,_8192))"
    assert printed["copyA"].startswith("TiledCopy\n  Tiler_MN:       (_16,_64)\n")
    assert "ThrLayoutVMNK:  (_32,_2,_2,_1):(_1,_32,_64,_0)" in printed["mmaC"]
    assert document.last == "s2r_atom_A"
    assert "SharedStorage" in document.failures["smem_size"].message
    assert document.pick("sA") == document.values["sA"]


def test_the_python_dsl():
    document = read(DSL)
    assert show(document.pick("self.sA")) == "Sw<3,3,3> o 0 o ((8,16),(64,1),(1,3)):((64,512),(1,0),(0,8192))"
    assert document.pick("copy_a") == read(BLOCK).pick("copyA")
    assert document.last == "copy_s"
    assert list(document.values)[:2] == ["bM", "bK"]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("cute.make_layout((4, 8), stride=(8, 1))", "(4,8):(8,1)"),
        ("cute.make_layout(shape=(4, 8), stride=(8, 1))", "(4,8):(8,1)"),
        ("cute.make_ordered_layout((4, 8), order=(1, 0))", "(4,8):(8,1)"),
        ("tiler, tv = cute.make_layout_tv(cute.make_layout((4,8),stride=(8,1)), cute.make_layout((1,8)))", "((8,4),8):((32,1),4)"),
        ("cute.slice_(cute.make_layout((4, 8)), (None, 2))", "(4):(1)"),
        ("cute.recast_layout(16, 8, cute.make_layout((8, 4)))", "(4,4):(1,4)"),
        # as the DSL 4.8.1 prints them: of a block that is not injective
        *(
            (f"cute.{name}(cute.make_layout((2,4), stride=(1,1)), cute.make_layout({tiler}))", printed)
            for name, tiler, printed in (
                ("logical_product", "1, stride=0", "((2,4),1):((1,1),0)"),
                ("logical_product", "2, stride=0", "((2,4),2):((1,1),0)"),
                ("logical_product", "(1,1), stride=(0,0)", "((2,4),(1,1)):((1,1),(0,0))"),
                ("zipped_product", "1, stride=0", "((2,4),1):((1,1),0)"),
                ("blocked_product", "1, stride=0", "((2,1),(4,1)):((1,0),(1,0))"),
                ("raked_product", "1, stride=0", "(2,4):(1,1)"),
            )
        ),
        ("cute.size(cute.make_layout((4, 8)), mode=[1])", "8"),
        ("cute.size(cute.make_layout((4, 8)), mode=[1]) * 2 // 3 + cutlass.Float16.width", "21"),
        ("a = cute.make_layout((4, 8))\na.shape[1]", "8"),
        ("cute.group_modes(cute.make_layout((2, 3, 4)), 0, 2)", "((2,3),4):((1,2),6)"),
        ("cute.make_layout((4, 8), stride=(cute.ScaledBasis(2, 0), cute.E(1)))", "(4,8):(2@0,1@1)"),
        ("    a = cute.make_layout(8)\n    b = cute.composition(a, cute.make_layout(4, stride=2))", "4:2"),
    ],
)
def test_dsl_expressions(text, printed):
    assert show(read(text).pick()) == printed


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("constexpr int BM = 128; using L = Layout<Shape<Int<BM/2>,C<8>>, Stride<_1,Int<BM>>>; L{}", "(_64,_8):(_1,_128)"),
        (
            "using A = decltype(composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{}));",
            "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)",
        ),
        ("auto const& x = make_layout(Shape<_4,_8>{}, GenRowMajor{});", "(_4,_8):(_8,_1)"),
        ("Layout<Shape<_4,_8>>{}(2,3)", "14"),
        ("size(Layout<Shape<_4,_8>>{}) * 2 - 1", "63"),
        ("cosize_v<decltype(Layout<Shape<_4,_8>,Stride<_9,_1>>{})>", "35"),
        (
            "Tensor t = make_tensor(make_gmem_ptr(reinterpret_cast<half_t*>(0x1000)), make_shape(4,8), make_stride(8,1));",
            "(4,8):(8,1)",
        ),
        ("make_layout(make_shape(4,8)).shape()", "(4,8)"),
        ("layout = (4,8):(8,1); layout.shape", "(4,8)"),
        (
            "local_tile((64,64):(64,1), make_shape(16,8,4), make_coord(1,0,_), Step<_1,X,_1>{})",
            "_4096:_1 o 1024 o (16,4,16):(_64,_1,4)",
        ),
        ("cute::Shape<cute::_128,cute::_64>{}", "(_128,_64)"),
        ("using Tile = cute::Shape<cute::_8,cute::_4>; make_layout(Tile{})(cute::_, cute::_1{})", "(_8):(_1)"),
        (
            "cute::ComposedLayout<cute::Swizzle<3,4,3>, cute::smem_ptr_flag, cute::Layout<cute::tuple<cute::C<8>,cute::C<64> > > >",
            "Sw<3,4,3> o smem_ptr[1b](unset) o (_8,_64):(_1,_8)",
        ),
        (
            "ComposedLayout<Swizzle<3,4,3>,smem_ptr_flag_bits<16>,Layout<Shape<_8,_64>,Stride<_64,_1>>>{}",
            "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)",
        ),
        ("Layout<cute::tuple<cute::constant<int, 8> >, tuple<integral_constant<int,1>>>{}", "(_8):(_1)"),
    ],
)
def test_cplusplus(text, printed):
    assert show(read(text).pick()) == printed


def test_a_log_with_objects_in_it():
    document = read(LOG)
    assert list(document.values) == ["sA", "tCsA", "object3"]
    assert show(document.pick("sA")) == "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)"
    assert show(document.pick("tCsA")) == "((_2,_2),_2,_2):((_1,_8),_16,_32)"
    assert document.pick() == read("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))").pick()


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("sA : (4,8):(8,1)", "(4,8):(8,1)"),
        ("sA: tensor<ptr<f16, smem, align<16>> o (8,64):(64,1)>", "(8,64):(64,1)"),
        (
            "tensor<ptr<f16, smem, align<1024>, S<3,4,3>> o (8,64):(64,1)>",
            "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)",
        ),
        ("sA = tensor<ptr<tf32, smem, S<2,4,3>> o (8,32):(32,1)>", "Sw<2,4,3> o smem_ptr[32b](unset) o (8,32):(32,1)"),
        ("Sw<3,4,3>_smem_ptr[16b](0x1000) o (_8,_64):(_64,_1)", "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)"),
        ("counting_iter(0) o (4,8):(8,1)", "(4,8):(8,1)"),
        ("ptr[32b](0x7ff) o (_2,_2):(_1,_2):\n    0.00e+00    1.0\n    2.0  3.0\n", "(_2,_2):(_1,_2)"),
        (
            "Tiled Copy\n  Tiler MN:        (16:1,64:1)\n  TV Layout tiled: ((8,16),8):((128,1),16)\nCopy Atom\n"
            "  ThrID:           1:0\n  TV Layout Src:   (1,8):(0,1)\n  TV Layout Dst:   (1,8):(0,1)\n  Value type:      f16\n",
            None,
        ),
    ],
)
def test_prints(text, printed):
    value = read(text).pick()
    assert value == read(BLOCK).pick("copyA") if printed is None else show(value) == printed


@pytest.mark.parametrize(
    "message",
    [
        'k.cu(12): warning #177-D: variable "x" was declared\n      auto x = make_layout(4);\n           ^',
        "k.cu:12:8: error: no x\n   12 |   auto x = make_layout((4,8):(8,1));\n      |        ^~~~",
        "\x1b[1m/a/k.hpp:12:8: \x1b[0mnote: x\n  auto x = (4,8):(8,1); // here\n       ^",
    ],
)
def test_source_that_a_compiler_quotes_is_no_print(message):
    document = read(f"{message}\nsA : (_4,_8):(_8,_1)\nsB : (_4,_16):(_16,_1)\n")
    assert list(document.values) == ["sA", "sB"]
    assert read("// warning: a note\nauto a = 4:2;\nauto b = a;  // error: none\n").values.keys() == {"a", "b"}


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("tensor<ptr<f16, smem, align<1024>, S<9,4,3>> o (8,64):(64,1)>", "ptr<f16", "Sw<9,4,3> is not a swizzle"),
    ],
)
def test_prints_that_cannot_be_drawn(text, place, words):
    with pytest.raises(CuteVizError) as caught:
        read(text).pick()
    assert words in caught.value.message
    assert caught.value.span.start == text.index(place)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ThrID: (_8,_1)", "thrid of this CopyAtom must be a layout of threads, not (_8,_1)"),
        ("ValLayoutSrc: (_1,_2)", "layout of integers with 2 modes, not (_1,_2)"),
        ("ValLayoutSrc: (_1,_2):(_1@0,_1@1)", "layout of integers with 2 modes"),
        ("ValueType: 0b", "at least 1 bit wide"),
        (f"ValueType: {'9' * 5000}b", "not a value type"),
    ],
)
def test_a_print_with_a_line_that_no_atom_has(line, words):
    lines = ["ThrID: _1:_0", *(f"ValLayout{x}: (_1,_2):(_0,_1)" for x in ("Src", "Dst", "Ref")), "ValueType: 16b"]
    label = line.partition(":")[0]
    text = "\n  ".join(["Copy_Atom", *(line if known.startswith(label) else known for known in lines)])
    with pytest.raises(CuteVizError) as caught:
        read(text).pick()
    assert words in caught.value.message


def test_run_time_values_are_given():
    assert show(read("(4,?):(1,?{div=4})", {"?": (8, 4)}).pick()) == "(4,8):(1,4)"
    assert show(read("(M,N*2):(1,M)", {"M": 4, "N": 8}).pick()) == "(4,16):(1,4)"
    assert show(read("make_layout(make_shape(blockDim.x, 8))", {"blockDim.x": 4}).pick()) == "(4,8):(_1,4)"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("size((4,?):(1,4)) / 2", "?", '"?": 512'),
        ("make_layout(make_shape(blockIdx.x, 8))", "blockIdx.x", '"blockIdx.x": 0'),
        ("a = 4:2\nb = compositon(a, 2)\n", "compositon(a, 2)", "did you mean composition"),
        ("a = (4,8):(8,1)\nb = (4,8):(8,1,)\n", ",)", "a mode is missing"),
        ("cute.make_layout((4, 8), stride=(8, 1, 2))", "cute.make_layout", "do not have the same nesting"),
        ("x = cute.make_layout((4, 8), stride=(8, 'a'))", "cute.make_layout", "(8,a) is not a shape"),
        ("x = cute.make_layout([i for i in y], stride=3)", "y]", "'y'"),
        ("def f():\n  return cute.make_layout((4,), stride=(1,)\n", "(", "this is not Python"),
        ("cute.nvgpu.warp.LdMatrix8x8x16bOp(False, 'x')", "cute", "num_matrices = 'x' is not in the library"),
        ("cute.nvgpu.warp.LdMatrix8x8x16bOp(False, (1, 2))", "cute", "num_matrices is 1, 2, 4"),
        (
            "cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Float16, num_bits_per_copy=None)",
            "cute",
            "num_bits_per_copy must be an integer, not None",
        ),
        ("cute.nvgpu.warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, ((1, 2), 8, 16))", "cute", "shape_mnk = ((1,2),8,16)"),
        (
            "cute.nvgpu.warpgroup.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, instruction_shape=(64, 8, 16, 1))",
            "cute",
            "shape_mnk = (64,8,16,1)",
        ),
    ],
)
def test_errors_point_into_the_text(text, place, words):
    with pytest.raises(CuteVizError) as caught:
        read(text).pick()
    error = caught.value
    assert words in error.explain()
    assert error.span is not None
    if "Python" not in words:
        assert text[error.span.start :].startswith(place)


def test_a_name_that_is_not_there():
    with pytest.raises(CuteVizError, match="nothing here is named 'sB'"):
        read(BLOCK).pick("sB")


def test_a_forced_dialect():
    assert show(read("x y z (4,8):(8,1) and more", dialect="dump").pick()) == "(4,8):(8,1)"
    with pytest.raises(CuteVizError, match="not Python"):
        read("(4,8):(8,1)", dialect="dsl")
    with pytest.raises(CuteVizError, match="no layout"):
        read("nothing at all", dialect="dump")


def test_python_is_never_run():
    with pytest.raises(CuteVizError):
        read("cute.make_layout(__import__('os').system('false'), stride=1)").pick()


GARBAGE = ("lorem (ipsum:dolor) sit [1:2] ", "((((((((", "auto x = f(", "a:b,c<d>e{f}", "\x1b[31m(4,8):", "1:1 2:2 ")


@pytest.mark.parametrize("filler", GARBAGE)
@pytest.mark.parametrize("lines", [100, 4000])
def test_garbage_has_an_answer(filler, lines):
    text = "\n".join([filler * (200 // len(filler))] * lines)
    message = "x"
    try:
        read(text).pick()
    except CuteVizError as error:
        message = error.explain()
    assert 0 < len(message) < 2000


@given(any_layouts())
def test_what_is_written_reads_back(layout):
    for target in TARGETS:
        try:
            text = write(layout, target)
        except CuteVizError:
            continue
        assert read(text).pick() == layout


@pytest.mark.parametrize(
    "text",
    [
        "(_4,_8):(_8,_1)",
        "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)",
        "(_,(2,3):(1,2))",
        "(4:1,8:2)",
        "GMMA::Layout_K_SW128_Atom<half_t>{}",
        "SM80_16x8x16_F32BF16BF16F32_TN",
        "Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}",
        "make_tiled_mma(SM80_16x8x16_F32BF16BF16F32_TN{}, (2,2,1), (32,(8,2,2):(1,16,8),16))",
        "make_tiled_mma(SM70_8x8x4_F32F16F16F32_NT{}, (2,2):(2,1), ((4,4,2):(1,8,4),32,4))",
        "make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint128_t>, half_t>{}, (16,8):(8,1), (1,8))",
    ],
)
def test_every_language_that_can_say_it(text):
    value = read(text).pick()
    said = 0
    for target in TARGETS:
        try:
            written = write(value, target)
        except CuteVizError:
            continue
        said += 1
        assert read(written).pick() == value
    assert said >= 2


@pytest.mark.parametrize("last", ["b = (a, c)", "b = a o 3:5", "(a o 3:5)", "a(1,2,3)", "b = ((a,a),(a,d))"])
def test_a_mistake_in_source_is_told_although_an_earlier_line_looks_like_a_print(last: str) -> None:
    """What was meant is the last line: a picture of the first one would be a wrong picture."""
    with pytest.raises(CuteVizError) as error:
        read(f"a = (4,8):(8,1)\n{last}").pick()
    assert error.value.place().startswith("2:")


def test_a_log_may_hold_what_is_over_a_limit() -> None:
    assert str(read(f"sA: (4,8):(8,1)\nhash {'9' * 500}\n{'(' * 80}").pick()) == "(4,8):(8,1)"


# Source is read from above, each statement once; a value that this would guess is an error where it is used.
MOVING = {
    "augmented": ("x = 8\nx //= 2\nx += 1\nL = cute.make_layout((x, 4))", "(5,4):(1,5)"),
    "floor division": ("L = cute.make_layout((-7 // 2 + 10, -7 % 3 + 10))", "(6,12):(1,6)"),
    "two targets": ("a = b = 4\nL = cute.make_layout((a, b))", "(4,4):(1,4)"),
    "C++, augmented": ("int x = 8;\nx *= 2;\nauto L = make_layout(x);", "the value of 'x' depends on"),
    "C++, incremented": ("int x = 8;\nx++;\nauto L = make_layout(x);", "the value of 'x' depends on"),
    "C++, read": ("int x = 8;\nstd::cin >> x;\nauto L = make_layout(x);", "the value of 'x' depends on"),
    "C++, by its address": ("int x = 8;\nfoo(&x);\nauto L = make_layout(x);", "the value of 'x' depends on"),
    "target of a loop": ("a = 3\nfor a in range(5): pass\nL = cute.make_layout(a)", "4:1"),
    "as of a with": ("a = 3\nwith f() as a: pass\nL = cute.make_layout(a)", "nothing named 'f'"),
    "import": ("a = 3\nimport a\nL = cute.make_layout(a)", "is not a shape"),
    "walrus": ("a = 3\nf((a := 4))\nL = cute.make_layout(a)", "4:1"),
    "loop": ("x = 8\nfor i in range(2): x = x * 2\nL = cute.make_layout(x)", "32:1"),
    "C++ loop": ("auto L = make_layout(4);\nfor (;;) L = make_layout(8);\nauto K = L;", "the value of 'L' depends on"),
    "either branch": ("if a:\n    L = cute.make_layout(4)\nelse:\n    L = cute.make_layout(8)", "the value of 'L' depends on"),
    "except": ("try:\n    a = 4\nexcept X:\n    a = 5\nL = cute.make_layout((a, 2))", "the value of 'a' depends on"),
    "one branch": ("if a:\n    t = 4\n    L = cute.make_layout(t)", "4:1"),
    "C++ branch": ("auto L = make_layout(4);\nif (x) {\n  L = make_layout(8);\n}\nauto K = L;", "the value of 'L' depends on"),
    "preprocessor": (
        "#if N > 2\nauto L = make_layout(4);\n#else\nauto L = make_layout(5);\n#endif\nauto K = L;",
        "the value of 'L' depends on",
    ),
    "decided by the preprocessor": (
        "#if 1\nauto L = make_layout(4);\n#else\nauto L = make_layout(5);\n#endif\nauto K = L;",
        "4:_1",
    ),
    "C++ scope": ("auto L = make_layout(4);\n{\n  auto L = make_layout(8);\n}\nauto K = make_layout(size(L));", "4:_1"),
    "C++ parameter": ("int M = 4;\nvoid f(int M) {\n  auto A = make_layout(M);\n}", "'M' has no value"),
    "function": ("M = 4\ndef f():\n    M = 16\ndef g():\n    B = cute.make_layout(M)", "4:1"),
    "parameter": ("L = cute.make_layout(9)\ndef f(L):\n    K = cute.make_layout(cute.size(L))", "'L' is a parameter here"),
    "attribute": (
        "class K:\n    def f(self):\n        self.m = 8\n    def g(self):\n        L = cute.make_layout(self.m)",
        "'self.m' has no value here",
    ),
    "C++ comments": (
        "auto L = /* 1 */ make_layout(4); /* auto L = make_layout(5);\nauto L = make_layout(6); */\nauto K = L;",
        "4:_1",
    ),
    "again": ("a = 4:2\na = a(3)\nb = (a, 2)", "(6,2)"),
}


@pytest.mark.parametrize(("text", "expected"), MOVING.values(), ids=MOVING)
def test_no_value_is_guessed(text, expected):
    try:
        value = show(read(text).pick())
    except CuteVizError as error:
        value = error.message
    assert expected in value


def test_a_colour_is_no_part_of_a_line():
    assert show(read("\x1b[32m(8,8):(8,1)\x1b[0m").pick()) == "(8,8):(8,1)"


@pytest.mark.parametrize(
    "text",
    [
        "gA: gmem_ptr[16b](0x7f) o (?,_64):(?{i64},_1)",
        "gA: tensor<ptr<f16, gmem, align<16>> o (?,_64):(?{i64},_1)>",
        "gA: (?,_64):(?,_1)",
    ],
)
def test_a_print_with_run_time_values_in_one_line(text):
    assert show(read(text, {"?": 8}).pick()) == "(8,_64):(8,_1)"
    assert show(read(text).pick()) == text[max(text.find("(?"), 0) :].rstrip(">")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("sA:\n(_8,_64):(_64,_1)\n", {"sA": "(_8,_64):(_64,_1)"}),
        ("[0] sA layout =\n  (8,64):(64,1)\n\n(4,_2):(_1,4)", {"sA": "(8,64):(64,1)", "object2": "(4,_2):(_1,4)"}),
        ("done:\nall of it\n(_8,_64):(_64,_1)\n", {"object1": "(_8,_64):(_64,_1)"}),
        ("sA=tensor<ptr<f16, smem, align<1024>> o (8,64):(64,1)>\n", {"sA": "(8,64):(64,1)"}),
        (
            "gA tensor(raw_ptr(0x00007f7be8000000: f32, gmem, align<16>) o (8,64):(64,1), data=\n  [[ 0.1,  0.2],\n   [ 1, 2]])\n",
            {"gA": "(8,64):(64,1)"},
        ),
        (
            "raw_ptr(0x0: f16, smem, align<1024>, S<3,4,3>) o (8,64):(64,1)\n",
            {"object1": "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)"},
        ),
        (
            'Traceback (most recent call last):\n  File "x.py", line 10, in kernel\n    cute.copy(a, b)\n'
            "ValueError: got tensor<ptr<f16, smem, align<16>> o (8,64):(64,1)> and tensor<ptr<f16, gmem> o (8,32):(32,1)>\n",
            {"object1": "(8,64):(64,1)", "object2": "(8,32):(32,1)"},
        ),
        ("step 1\nsA:\n(_8,_4):(_4,_1)\nstep 2\nsA:\n(_8,_4):(_4,_1)\n", {"sA": "(_8,_4):(_4,_1)"}),
    ],
)  # fmt: skip
def test_prints_as_people_write_them(text, found):
    from cute_viz.source.model import Given
    from cute_viz.source.prints import read as read_prints

    entries = read_prints(text, Given()).entries
    assert {entry.name: show(entry.read()) for entry in entries} == found
    assert [entry.line for entry in entries] == sorted(text.count("\n", 0, entry.span.start) + 1 for entry in entries)
    assert {name: show(value) for name, value in read(text, dialect="dump").values.items()} == found


def test_a_print_behind_much_else_is_found_at_once():
    for before in (" " * 15_000, "a" * 15_000, "a " * 7_500, "[" * 15_000, ": " * 7_500):
        begun = time.process_time()
        read(f"{before} (_8,_4):(_4,_1)", dialect="dump")
        assert time.process_time() - begun < 2
