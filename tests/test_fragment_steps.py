"""The steps of a retile and of fragments: what they say is what the operations give."""

from __future__ import annotations

from typing import Any

import pytest

from cute_viz.algebra.composed import domain
from cute_viz.algebra.table import offsets
from cute_viz.analysis.explain import explain
from cute_viz.cli import main
from cute_viz.source.text import parse
from cute_viz.spec.library import resolve

MMA = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))"
COPIES = ("SM75_U32x4_LDSM_N", "SM75_U32x2_LDSM_N", "SM75_U16x8_LDSM_T", "UniversalCopy<uint32_t>")


def value(text: str, **names: Any) -> Any:
    return parse(text, names, resolve=resolve)


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("operand", "AB")
def test_a_retile_tells_the_registers_of_its_values(copy: str, operand: str) -> None:
    mma = value(MMA)
    fragment = value(f"partition_fragment_{operand}(mma, (64,32))", mma=mma)
    tiled = value(f"make_tiled_copy_{operand}(Copy_Atom<{copy},half_t>{{}}, mma)", mma=mma)
    steps = explain("retile_D", [tiled, fragment])
    result = value("retile_D(tc, f)", tc=tiled, f=fragment)
    assert steps[-1].value == result
    told = steps[-1].words.rpartition("register ")[2].removesuffix(", ...")
    assert [int(n) for n in told.split(", ")] == [int(n) for n in offsets(domain(result))[:8]]
    assert [step.words.split()[3] for step in steps if "  mode" in step.words] == [
        *("MMA:", "MMA_MN:", "MMA_K:"),
        *("CPY:", "CPY_M:", "CPY_K:"),
    ]


@pytest.mark.parametrize("name", ["partition_fragment_A", "partition_fragment_B", "partition_fragment_C"])
def test_a_fragment_is_the_shape_of_a_part(name: str) -> None:
    mma = value(MMA)
    steps = explain(name, [mma, (64, 64)])
    shapes = [step.words.partition(" with ")[2].partition(":")[0] for step in steps if "  mode" in step.words]
    assert shapes[:3] == shapes[3:]
    assert f"{64 * 64 // (128 if name[-1] == 'C' else 64)} registers" in next(
        step.words for step in steps if step.value is not None
    )


KERNEL = """template <class T> __global__ void kernel(T const* A, int M, int K) {
  auto bM = Int<128>{};
  auto sA_layout = tile_to_shape(composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{}), make_shape(bM, Int<64>{}));
  Tensor mA = make_tensor(make_gmem_ptr(A), make_shape(M, K), make_stride(K, Int<1>{}));
  Tensor gA = local_tile(mA, make_shape(bM, _32{}), make_coord(blockIdx.x, _));
  auto comp = complement(make_layout(4, 2), 8);
  TiledMMA mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_2,_1>>{});
  __shared__ T smem[128*64];
  Tensor sA = make_tensor(make_smem_ptr(smem), sA_layout);
  Tensor tCrA = mma.get_slice(threadIdx.x).partition_fragment_A(sA);
  auto s2r = make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, mma);
  auto thr = s2r.get_slice(threadIdx.x);
  Tensor tXsA = thr.partition_S(sA);
  Tensor tXrA = thr.retile_D(tCrA);
  Tensor part = tXsA(_,_,0);
  auto sh = make_shape(bM, Int<8>{});
  auto lay = make_layout(sh, LayoutRight{});
}
"""
DSL = """import cutlass.cute as cute
@cute.jit
def f():
    a = cute.make_layout((6, 2), stride=(8, 2))
    b = cute.make_layout((4, 3), stride=(3, 1))
    c = cute.composition(a, b)
    h = cute.zipped_divide(a, (2, 1))
    s = h[None, 0]
"""


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        (KERNEL, "sA_layout", ["kernel::sA_layout, line 3: tile_to_shape(", "Sw<3,3,3> stays in front", "logical_product"]),
        (KERNEL, "comp", ["known only at run time", "(2,1):(_1,8)"]),
        (KERNEL, "gA", ["the tiler (_128,_32)", "mode 0 is BLK_M: 128 with _128:?", "(_128,_32,?):(?,_1,_32)"]),
        (KERNEL, "gA(_,_,0)", ["mode 2, ?:_32, is at 0", "(_128,_32):(?,_1)"]),
        (
            KERNEL,
            "tXsA",
            [
                "each tile as (thread,",
                "thread 0 begins at (m, k) = (0, 0)",
                "Sw<3,3,3> o 0 o ((_8,_1),_4,_4)",
                "((_8,_1),_4,(_2,_2)):((_1,_0),_2048,(16,32))",
            ],
        ),
        (KERNEL, "tXrA", ["the fragment has 8 values", "((_8,_1),_4,_4):((_1,_0),_8,_32)"]),
        (KERNEL, "part", ["a slice of", "mode 2, (_2,_2):(16,32), is at 0", "((_8,_1),_4):((_1,_0),_2048)"]),
        (KERNEL, "lay", ["line 17: make_layout(sh, LayoutRight{})", "sh, line 16, is (_128,_8)", "(m,n) is at 8*m + n"]),
        (DSL, "c", ["4:3 of B picks 4 elements of A, 3 apart", "((2,2),3):((24,2),8)"]),
        (DSL, "s", ["mode 1, (3,2):(16,2), is at 0", "((2,1)):((8,0))"]),
    ],
)
def test_a_definition_of_a_file_is_told_step_by_step(text: str, name: str, words: list[str], capsys: Any, tmp_path: Any) -> None:
    path = tmp_path / ("f.py" if text is DSL else "f.cu")
    path.write_text(text)
    with pytest.raises(SystemExit) as left:
        main(
            ["explain", str(path), "--name", name, "--let", "T=half_t"]
            if text is KERNEL
            else ["explain", str(path), "--name", name]
        )
    out = capsys.readouterr().out
    assert left.value.code in (0, None)
    assert [one for one in words if one not in out] == []


def test_the_last_statement_is_explained_or_refused_and_no_earlier_one(capsys: Any, tmp_path: Any) -> None:
    path = tmp_path / "f.cu"
    texts = {
        "print(complement(make_layout(4, 2), 8)); return 0;": "(2,1):(_1,8)",
        "auto a = make_layout(8, 1);\n  composition(make_layout(32), a);\n  cudaDeviceSynchronize();": "A = 32:_1",
        "auto a = Layout<_4>{};\n  auto b = composition(missing, a);": "'missing' is not defined in this file",
    }
    for text, words in texts.items():
        path.write_text(f"int main() {{\n  auto x = logical_divide(Layout<_8>{{}}, _2{{}});\n  {text}\n}}\n")
        with pytest.raises(SystemExit) as left:
            main(["explain", str(path)])
        out, err = capsys.readouterr()
        assert words in out + err
        assert (left.value.code == 1) is ("missing" in text)
