"""Fixes of a kernel's buffers: what is offered is an edit after which all of the kernel was evaluated again."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cute_viz as cv
from cute_viz import cli
from cute_viz.engine import Request, ask
from cute_viz.engine.kernel import report_of
from cute_viz.engine.kernel_fix import Fixer
from cute_viz.testing import assert_no_bank_conflicts
from tests.commands import run
from tests.test_kernel_report import GEMM, LDMATRIX, PLAIN, line_of

VIEWS = """
__global__ void k(half_t* p) {{
  __shared__ half_t sm[4096];
  auto g = make_tensor(make_gmem_ptr(p), Layout<Shape<_64,_64>,Stride<_64,_1>>{{}});
  auto sV = make_tensor(make_smem_ptr(sm), Layout<Shape<_64,_64>,Stride<_64,_1>>{{}});
  auto sVt = make_tensor(sV.data(), {second});
  auto tc = make_tiled_copy(Copy_Atom<UniversalCopy<half_t>,half_t>{{}}, Layout<Shape<_32,_4>>{{}}, Layout<Shape<_1,_1>>{{}});
  auto thr = tc.get_slice(threadIdx.x);
  copy(tc, thr.partition_S(g), thr.partition_D(sV));
  auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{{}}, Layout<Shape<_4,_1,_1>>{{}}, Tile<_64,_16,_16>{{}});
  auto s2r = make_tiled_copy_B(Copy_Atom<SM75_U16x8_LDSM_T,half_t>{{}}, mma);
  auto th2 = s2r.get_slice(threadIdx.x);
  auto r = mma.get_slice(threadIdx.x).partition_fragment_B(sVt);
  copy(s2r, th2.partition_S(sVt), th2.retile_D(r));
  {more}
}}
"""
ROWS = "Layout<Shape<_64,_64>,Stride<_1,_64>>{}"

TMA = """
template <class Tma, class L, class Mma> __global__ void device(Tma tma, L layout, Mma mma) {
  extern __shared__ half_t smem[];
  Tensor sA = make_tensor(make_smem_ptr(smem), layout);
  auto gA = tma.get_tma_tensor(Shape<_128,_64>{});
  auto [tAgA, tAsA] = tma_partition(tma, Int<0>{}, Layout<_1>{}, group_modes<0,2>(sA), group_modes<0,2>(gA));
  copy(tma, tAgA, tAsA);
  auto thr = mma.get_slice(threadIdx.x);
  auto tCrA = thr.make_fragment_A(thr.partition_A(sA));
  auto tCrB = thr.make_fragment_B(thr.partition_B(sA));
  auto acc = partition_fragment_C(mma, Shape<_128,_128>{});
  gemm(mma, tCrA, tCrB, acc);
}
int main() {
  half_t* p;
  auto mma = make_tiled_mma(SM90_64x64x16_F16F16F16_SS<GMMA::Major::MN,GMMA::Major::MN>{});
  auto sA = tile_to_shape(GMMA::Layout_MN_SW128_Atom<half_t>{}, Shape<_128,_64>{});
  auto tma = make_tma_copy(SM90_TMA_LOAD{}, make_tensor(make_gmem_ptr(p), Layout<Shape<_128,_64>>{}), sA);
  device<<<1, 128>>>(tma, sA, mma);
}
"""


def analyze(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, *words: str, status: int = 0) -> str:
    path = tmp_path / "kernel.cu"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        cli.main(["analyze", str(path), *words])
    assert int(left.value.code or 0) == status
    return capsys.readouterr().out


def rows(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> list[Any]:
    found: list[Any] = json.loads(analyze(tmp_path, capsys, text, "--json"))["accesses"]
    return found


def test_a_fix_is_the_edit_of_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An H200 counts 128 and 32 wavefronts for CUTLASS's sgemm_2 TN before and after this edit; it is one token."""
    named = "auto bM = Int<128>{};\n  auto sA = make_layout(make_shape(bM"
    text = GEMM.replace("Int<129>{}", "bM+Int<1>{}").replace("auto sA = make_layout(make_shape(Int<128>{}", named)
    text = text.replace("copy(tArA, unheard_of);", "")
    line = line_of(text, "bM+Int<1>{}")
    said = analyze(tmp_path, capsys, text)
    assert f"fix  {line}  make_stride(Int<1>{{}}, bM+Int<1>{{}})  ->  bM+Int<4>{{}}" in said
    assert "st.shared.32: 128 wavefronts, 32 with the fix, 32 ideal" in said
    assert "T3, T10, T17 and T24\n            share bank 3" in said
    assert len(said.splitlines()) <= 30
    fixed = analyze(tmp_path, capsys, text.replace("bM+Int<1>{}", "bM+Int<4>{}"), "--max-ways", "1")
    assert "fix" not in fixed.replace("fixed", "")
    narrow = text.replace("smemA[cosize_v<ASmemLayout>]", "smemA[1031]")
    assert {row["fix"]["bytes"] for row in rows(tmp_path, capsys, narrow) if row["fix"]} == {0}, "an array does not grow by itself"


def test_views_of_one_buffer_have_one_fix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is written through one view is read through the other: the definitions of both change, or none does."""
    text = VIEWS.format(second=ROWS, more="")
    found = [row for row in rows(tmp_path, capsys, text) if row["wavefronts"]]
    lines = [line_of(text, "auto sV ="), line_of(text, "auto sVt =")]
    assert [(row["wavefronts"], row["fix"]["left"]) for row in found] == [(4096, 512), (2048, 256)]
    assert {tuple(edit["line"] for edit in row["fix"]["edits"]) for row in found} == {tuple(lines)}
    assert {edit["new"].split("{")[0] for row in found for edit in row["fix"]["edits"]} == {"composition(Swizzle<3,3,3>"}
    derived = VIEWS.format(second="composition(sV.layout(), Layout<Shape<_64,_64>,Stride<_64,_1>>{})", more="")
    (edits,) = {tuple(edit["line"] for edit in row["fix"]["edits"]) for row in rows(tmp_path, capsys, derived) if row["fix"]}
    assert edits == (line_of(derived, "auto sV ="),)


def test_what_was_not_evaluated_stands_beside_a_fix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = VIEWS.format(second=ROWS, more="copy(sVt(_, n), r);\n  for (int i = 0; i < 8; ++i) {\n    sV(i, i) = half_t(0); }")
    unless = [str(line_of(text, part)) for part in ("copy(sVt(_, n)", "sV(i, i)")]
    assert {tuple(row["fix"]["unless"]) for row in rows(tmp_path, capsys, text) if row["fix"]} == {tuple(unless)}
    said = analyze(tmp_path, capsys, text)
    assert f"if lines {', '.join(unless)}, not evaluated, follow the edit" in said
    assert "Not counted: a single element, sV(i, i) = half_t(0): how many threads the block has is not" in said


def test_boxes_of_a_tma(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """16 instructions of 64 x 8 elements where 2 of 64 x 64 do, as CUTLASS's wgmma_tma_sm90 NT has them."""
    (load,) = [row for row in rows(tmp_path, capsys, TMA) if row["instruction"] == "SM90_TMA_LOAD"]
    assert (load["instructions"], load["fewest_instructions"], load["fix"]["left"]) == (16, 2, 2)
    assert load["fix"]["edits"][0]["new"].endswith("Shape<_128,_64>{}, Step<_2,_1>{})")
    ordered = TMA.replace("Shape<_128,_64>{});\n  auto tma", "Shape<_128,_64>{}, Step<_2,_1>{});\n  auto tma")
    assert "ideal" in analyze(tmp_path, capsys, ordered).splitlines()[2]


def test_reports_in_python(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(GEMM.replace("copy(tArA, unheard_of);", ""), encoding="utf-8")
    found: cv.Report = cv.report(path)
    stores = {row.move.line for row in found.accesses if row.cost.ways > 1}
    assert stores == {line_of(GEMM, "copy(tArA, tAsA)"), line_of(GEMM, "copy(tBgA, tBsA)")}
    assert found.memory is not None
    assert found.memory.totals() == {"nt": 4096, "tn": 4124}
    assert_no_bank_conflicts(path, launch="nt")
    with pytest.raises(AssertionError, match=r"4 times its ideal wavefronts(.|\n)*-> "):
        assert_no_bank_conflicts(path)
    assert_no_bank_conflicts(path, accept=stores)


SASS = """"Address","Source","Instructions Executed","L1 Wavefronts Shared","L1 Wavefronts Shared Ideal",\
"L2 Theoretical Sectors Global"
"0x10","  @!P0 STS [R7], R16","8,192","{0}","8,192","0"
"0x20","  STS [R7+0x80], R82","8192","{0}","8192","0"
"0x30","  LDG.E R4, desc[UR10][R96.64]","100","0","0","400"
"0x40","  LDSM.16.M88.4 R8, [R2]","10","40","40","0"
"0x50","  IADD3 R1, R2, R3, RZ","10","0","0","0"
"""


def test_beside_what_nsight_compute_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By instruction, for each time that a warp executes it; what a difference means."""
    text = GEMM.replace("copy(tArA, unheard_of);", "")
    for wavefronts, meaning in ((32768, "4        as predicted"), (65536, "8        counted more")):
        (tmp_path / "r.csv").write_text(SASS.format(wavefronts), encoding="utf-8")
        rows_ = analyze(tmp_path, capsys, text, "--name", "tn", "--ncu", str(tmp_path / "r.csv")).splitlines()
        (stores,) = [row for row in rows_ if row.startswith("st.shared.32")]
        assert meaning in stores
        assert [row.split()[0] for row in rows_ if "as predicted" in row and "global" in row] == ["ld.global.32"]
        assert [row.split()[0] for row in rows_ if "no row" in row] == ["ldmatrix.x4"]
    (tmp_path / "r.csv").write_text("a,b\n", encoding="utf-8")
    assert "--print-source sass" in analyze_error(tmp_path, capsys, text, "--ncu", str(tmp_path / "r.csv"))


@pytest.mark.parametrize(
    "table",
    [
        '"' * 200_000,
        SASS.format(1).replace('"Source"', '"Other"'),
        SASS.format("9" * 500) + '"0x60","  STS [R2], R4","1.2.3",".","\u0663","1e999",""\n',
        "".join(f'"{word}",' * 3 for word in ("Instructions Executed", "Source", "Line No", "Address"))
        + '\n"\u00b2","0x1","LDS"\n' * 3,
        "\0" * 300,
    ],
    ids=("a quote", "no source", "numbers", "columns twice", "zeros"),
)
def test_a_table_of_strangers_is_read_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str) -> None:
    (tmp_path / "r.csv").write_text(table, encoding="utf-8")
    (tmp_path / "kernel.cu").write_text(GEMM, encoding="utf-8")
    try:
        cli.main(["analyze", str(tmp_path / "kernel.cu"), "--ncu", str(tmp_path / "r.csv")])
        status = 0
    except SystemExit as left:
        status = left.code
    said = capsys.readouterr().err
    assert (status in (0, None)) or (status == 1 and said.count("error: ") == 1)


def test_what_if(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another definition, of several lines or one: what differs; a view that is left behind breaks the kernel."""
    text = GEMM.replace("Int<8>{}), make_stride", "Int<8>{}),\n    make_stride").replace("copy(tArA, unheard_of);", "")
    said = analyze(tmp_path, capsys, text, "--set", "tn::sA=make_layout(make_shape(Int<128>{}, Int<8>{}), Stride<_1,_132>{})")
    line = line_of(text, "copy(tArA, tAsA)")
    assert said.splitlines()[0] == f"line {line}: copy(tArA, tAsA): 128 -> 32 wavefronts"
    assert f"tn, a round of line {line_of(text, 'for (int k = 0')} (4 rounds)     128   32     32" in said
    assert "tn, in all                            640  160    160" in said
    assert "4,124 -> 4,208 bytes" in said
    views = VIEWS.format(second=ROWS, more="")
    broken = analyze(tmp_path, capsys, views, "--set", "sV=composition(Swizzle<3,3,3>{}, Layout<Shape<_64,_64>,Stride<_64,_1>>{})")
    assert broken.startswith("This breaks the kernel: sV is read by another layout than it is written by")
    assert "nothing here is named" in analyze_error(tmp_path, capsys, views, "--set", "other=4")
    plain = (
        "#define N 32  // a side\n__global__ void t(float* p) {\n  __shared__ float s[N][N];\n"
        "  int x = threadIdx.x, y = threadIdx.y;\n  s[y][x] = p[y * N + x];\n  __syncthreads();\n  p[y * N + x] = s[x][y];\n}\n"
        "void f(float* p) { t<<<1, dim3(N, N)>>>(p); }\n"
    )
    for extents in ("float[32][33]", "[N][N + 1]"):  # of an array; a macro's text
        assert "line 7: p[y * N + x] = s[x][y]: 1024 -> 32 wavefronts" in analyze(tmp_path, capsys, plain, "--set", f"s={extents}")
    assert "line 7: p[y * N + x] = s[x][y]: 32 -> 8 instructions" in analyze(tmp_path, capsys, plain, "--set", "N=16")
    assert "give its extents: --set s=[N][N]" in analyze_error(tmp_path, capsys, plain, "--set", "s=4")


def analyze_error(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, *words: str) -> str:
    (tmp_path / "kernel.cu").write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        cli.main(["analyze", str(tmp_path / "kernel.cu"), *words])
    assert left.value.code == 1
    return capsys.readouterr().err


def test_what_could_be_wider(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By way of registers, element by element, and 16-bit operands of an MMA that ldmatrix would read."""
    text = GEMM.replace("copy(tArA, unheard_of);", "")
    said = json.loads(analyze(tmp_path, capsys, text, "--json"))["advice"]
    first, second = str(line_of(text, "copy(copy_a,")), str(line_of(text, "copy(tArA, tAsA)"))
    assert said[0]["lines"] == [first, second]
    assert "cp.async" in said[0]["text"]
    narrow = text.replace("Copy_Atom<UniversalCopy<uint128_t>, float>{}", "Copy_Atom<UniversalCopy<float>, float>{}")
    found = json.loads(analyze(tmp_path, capsys, narrow, "--json"))
    told = [tip["text"] for tip in found["advice"] if tip["lines"] == [first]]
    told += [row["unfixed"] or "" for row in found["accesses"] if str(row["line"]) == first]
    assert sum("32 bits of a thread, of which 128 lie together" in text for text in told) == 1
    assert not any("lie together" in tip["text"] for tip in said), "where the atom is 128 bits wide, or nothing lies together"
    plain = LDMATRIX.format(layout=PLAIN).replace("SM75_U32x4_LDSM_N, half_t", "DefaultCopy, half_t")
    assert not any("run-time" in tip["text"] for tip in json.loads(analyze(tmp_path, capsys, plain, "--json"))["advice"])
    assert f"wider  {first}, {second}  tArA goes through registers" in analyze(tmp_path, capsys, narrow)


HELPERS = """
import cutlass
import cutlass.cute as cute

@cute.kernel
def kernel():
    tidx, _, _ = cute.arch.thread_idx()
    smem = cutlass.utils.SmemAllocator()
    sA = smem.allocate_tensor(cutlass.Float32, cute.make_layout((32, 32), stride=(32, 1)), 16)
    sB = smem.allocate_tensor(cutlass.Float32, cute.make_layout((32, 64), stride=(64, 1)), 16)
    row = cute.local_partition(sA, cute.make_layout((1, 32)), tidx)
    r = cute.make_fragment_like(row)
    cute.autovec_copy(r, row)
    read(sA, 32, r, tidx)
    read(sB, 64, r, tidx)

@cute.jit
def read(sX: cute.Tensor, n: cutlass.Constexpr, r: cute.Tensor, tidx: cutlass.Int32):
    view = cute.make_tensor(sX.iterator, cute.make_layout((32, 32), stride=(n, 1)))
    atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Float32, num_bits_per_copy=32)
    tiled = cute.make_tiled_copy_tv(atom, cute.make_layout((32, 1)), cute.make_layout((1, 1)))
    column = tiled.get_slice(tidx).partition_S(view)
    cute.copy(tiled, column, cute.make_fragment_like(column))

@cute.jit
def host():
    kernel().launch(grid=(1, 1, 1), block=(32, 1, 1))
"""


def test_a_helper_reads_what_its_kernel_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A view that a helper makes is one of the kernel's buffer: an edit of one of both definitions alone is no fix."""
    (tmp_path / "kernel.py").write_text(HELPERS, encoding="utf-8")
    with pytest.raises(SystemExit):
        cli.main(["analyze", str(tmp_path / "kernel.py"), "--json"])
    found = json.loads(capsys.readouterr().out)
    reads = [row for row in found["accesses"] if row["instruction"] == "ld.shared.32"]
    assert [row["wavefronts"] for row in reads] == [1024, 1024]
    (told,) = [row["unfixed"] for row in reads if row["tile"] == "sA"]
    assert told.startswith("sA is read by another layout than it is written by; 128 bits of a thread at once would take 256")
    assert list(found["totals"]) == ["kernel"], "a helper is no launch of its own"
    alone = HELPERS.replace("    read(sA, 32, r, tidx)\n", "").replace("    read(sB, 64", "    read(sA, 32")
    (tmp_path / "kernel.py").write_text(alone.replace("cute.make_layout((32, 32), stride=(n, 1))", "sX.layout"), encoding="utf-8")
    with pytest.raises(SystemExit):
        cli.main(["analyze", str(tmp_path / "kernel.py"), "--json"])
    (read,) = [row for row in json.loads(capsys.readouterr().out)["accesses"] if row["instruction"] == "ld.shared.32"]
    assert read["fix"]["left"] == 32, "where the view has the buffer's own layout one edit serves both"


def test_what_has_no_text_has_no_edit() -> None:
    """Of a compiler's own text, and of a unit of many kernels, the report says what places would help, and edits nothing."""
    file = ask(Request((VIEWS.format(second=ROWS, more=""),))).readings[0].file
    assert file is not None
    written = report_of(file)
    assert written is not None
    assert any(row.fix for row in written.accesses)
    for other in (replace(file, compiled=True), replace(file, compiled=True, again=lambda texts: file)):
        found = report_of(other)
        assert found is not None
        bad = [row for row in found.accesses if row.cost.ways > 1]
        assert all(row.fix is None for row in bad)
        assert {"would leave" in row.unfixed for row in bad} == {True}


TILES = """
__global__ void k(float* out) {
  extern __shared__ float shm[];
  auto* first = shm;
  auto* second = first + 1024;
  Tensor sA = make_tensor(make_smem_ptr(first), Layout<Shape<_32,_32>>{});
  Tensor sB = make_tensor(make_smem_ptr(second), Layout<Shape<_32,_32>>{});
  Tensor sBt = make_tensor(make_smem_ptr(second), Layout<Shape<_32,_32>,Stride<_32,_1>>{});
  Tensor gA = make_tensor(make_gmem_ptr(out), Layout<Shape<_32,_32>>{});
  auto rows = Layout<Shape<_32,_8>>{};
  copy(local_partition(gA, rows, threadIdx.x), local_partition(sA, rows, threadIdx.x));
  copy(local_partition(gA, rows, threadIdx.x), local_partition(sB, rows, threadIdx.x));
  copy(local_partition(sBt, rows, threadIdx.x), local_partition(gA, rows, threadIdx.x));
}
int main() { k<<<1, 256>>>(nullptr); }
"""


def test_two_views_behind_the_beginning_of_a_buffer_are_edited_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(analyze(tmp_path, capsys, TILES, "--json"))
    (bad,) = [row for row in found["accesses"] if row["wavefronts"] and row["wavefronts"] > row["ideal"]]
    assert sorted(edit["line"] for edit in bad["fix"]["edits"]) == [line_of(TILES, "sB = "), line_of(TILES, "sBt = ")]
    assert [(one["buffer"], one["bytes"]) for one in found["memory"]["shared"]] == [("shm", 4096), ("shm+4096", 4096)]


def test_what_an_edit_would_lose_is_named_with_the_edit() -> None:
    lines = ["void f(half_t* p) {", "  auto s = make_tensor(make_smem_ptr(p), make_layout(Shape<_64,_64>{}, Stride<_64,_1>{}));"]
    lines += ["  auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{});"]
    lines += ["  auto c = make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, mma);"]
    lines += ["  auto src = c.get_slice(threadIdx.x).partition_S(s);", *["  copy(c, src, make_fragment_like(src));"] * 2, "}"]
    answer = ask(Request(("\n".join(lines),)))
    file, report = answer.readings[0].file, answer.kernel
    assert file is not None
    assert report is not None
    row = report.accesses[0]
    assert row.fix is not None
    less = replace(report, accesses=tuple(one for one in report.accesses if one.move.line == 6))
    said = Fixer(file, report, lambda _: report)._against([row], less, row.fix.edits)
    assert said == f"with {row.fix.changes[0][3]} in line 2, line 7 could no longer be evaluated"
    told = str(report)
    assert "Up to 8 rows lie in one bank, bank 0: those whose addresses T0, T1, T2 ... and T7\n            give." in told
    assert "Shared-memory wavefronts per block, the sum of the counts of all statements\n" in told


def test_a_layout_that_swizzles_twice_has_no_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = TILES.replace("Layout<Shape<_32,_32>,Stride<_32,_1>>{}", "SW(SW(Layout<Shape<_32,_32>,Stride<_32,_1>>{}))")
    found = json.loads(analyze(tmp_path, capsys, twice.replace("SW(", "composition(Swizzle<5,0,5>{}, "), "--json"))
    assert ["swizzles twice" in row["error"] for row in found["unknown"]] == [True]


LAUNCHES = """
template <int N> struct Config { using Smem = decltype(make_layout(Shape<_32,Int<N>>{}, GenRowMajor{})); };
template <class C> __global__ void k(float* out) {
  __shared__ float buffer[cosize_v<typename C::Smem>];
  auto layout = typename C::Smem{};
  Tensor sA = make_tensor(make_smem_ptr(buffer), layout);
  Tensor tAsA = local_partition(sA, Layout<Shape<_32,_8>>{}, threadIdx.x);
  Tensor r = make_fragment_like(tAsA);
  copy(tAsA, r);
}
template <int N> void launch(float* out) { k<Config<N>><<<1, 256>>>(out); }
int main() {
  launch<32>(nullptr);
  launch<64>(nullptr);
}
"""


def test_a_definition_has_an_edit_though_launches_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The layout of each launch is found by what its parameters are there."""
    found = [row for row in rows(tmp_path, capsys, LAUNCHES) if row["wavefronts"]]
    assert len(found) == 2
    assert [row["fix"]["left"] == row["ideal"] < row["wavefronts"] for row in found] == [True, True]


STORE = """
template <class SmemLayout>
__global__ void gemm_device(float const* A, SmemLayout sA_layout) {
  __shared__ float smemA[cosize_v<SmemLayout>];
  auto sA = make_tensor(make_smem_ptr(smemA), sA_layout);
  auto all = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_32,_8>,Stride<_8,_1>>{});
  auto tAsA = all.get_slice(threadIdx.x).partition_D(sA);
  auto tArA = make_fragment_like(tAsA);
  copy(tArA, tAsA);
}
void gemm_tn(float const* A) {
  auto bM = Int<128>{};
  auto sA = make_layout(make_shape(bM, Int<8>{}), make_stride(Int<1>{}, bM + Int<1>{}));
  gemm_device<<<1, 256>>>(A, sA);
}
"""


def test_the_edit_is_where_a_layout_is_made_not_where_it_is_used(tmp_path: Path) -> None:
    """Also of a kernel that is launched once, whose tensor has the name of the layout."""
    (tmp_path / "store.cu").write_text(STORE)
    text = run("analyze", str(tmp_path / "store.cu")).stdout.decode()
    assert "fix  13  make_stride(Int<1>{}, bM + Int<1>{})  ->  bM + Int<4>{}" in text
    assert "Not evaluated: none; the access was counted." in text


TRANSPOSE = """
template <class SL> __global__ void k(float const* in, float* out, SL sl) {{
  __shared__ float smem[cosize_v<SL>];
  Tensor s = make_tensor(make_smem_ptr(smem), sl);
  Tensor g = make_tensor(make_gmem_ptr(in), make_shape(Int<32>{{}}, Int<32>{{}}), LayoutRight{{}});
  Tensor o = make_tensor(make_gmem_ptr(out), make_shape(Int<32>{{}}, Int<32>{{}}), LayoutLeft{{}});
  auto rows = make_layout(make_shape(Int<8>{{}}, Int<32>{{}}), LayoutRight{{}});
  auto columns = make_layout(make_shape(Int<32>{{}}, Int<8>{{}}));
  copy(local_partition(g, rows, threadIdx.x), local_partition(s, rows, threadIdx.x));
  copy(local_partition(s, columns, threadIdx.x), local_partition(o, columns, threadIdx.x));
}}
{before}
int main() {{
  float *a, *b;
  {launch};
}}
"""
STATIC = "Layout<Shape<_32,_32>,Stride<_32,_1>>"
MADE = "make_layout(make_shape(Int<32>{}, Int<32>{}), LayoutRight{})"


@pytest.mark.parametrize(
    ("before", "launch", "old", "new"),
    [
        ("", f"k<<<1, 256>>>(a, b, {MADE})", MADE, f"composition(Swizzle<5,0,5>{{}}, {MADE})"),
        (
            "",
            f"auto unused = {MADE}; k<<<1, 256>>>(a, b, {STATIC}{{}})",
            STATIC + "{}",
            f"composition(Swizzle<5,0,5>{{}}, {STATIC}{{}})",
        ),
        (
            "template <class L> void go(float* a, float* b) { k<L><<<1, 256>>>(a, b, L{}); }",
            f"go<{STATIC}>(a, b)",
            STATIC,
            f"decltype(composition(Swizzle<5,0,5>{{}}, {STATIC}{{}}))",
        ),
        (
            "template <class L> void go(float* a, float* b, L sl) { k<<<1, 256>>>(a, b, sl); }",
            "go(a, b, make_layout(make_shape(Int<32>{}, Int<32>{}), make_stride(Int<34>{}, Int<1>{})))",
            "make_stride(Int<34>{}, Int<1>{})",
            "make_stride(Int<33>{}, Int<1>{})",
        ),
    ],
    ids=("made", "type", "argument", "stride"),
)  # fmt: skip
def test_a_layout_that_a_launch_is_given_is_edited_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], before: str, launch: str, old: str, new: str
) -> None:
    text = TRANSPOSE.format(before=before, launch=launch)
    (bad,) = [row for row in rows(tmp_path, capsys, text) if row["wavefronts"] and row["wavefronts"] > row["ideal"]]
    assert (bad["fix"]["left"], bad["fix"]["edits"]) == (
        32,
        [{"file": None, "line": line_of(text, launch), "old": old, "new": new}],
    )


def test_a_launch_has_the_bytes_of_a_layout_that_grows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What follows from the layout by itself stays: `cosize(sA)`."""
    text = GEMM.replace("copy(tArA, unheard_of);", "").replace(
        "__shared__ float smemA[cosize_v<ASmemLayout>]", "extern __shared__ float smemA[]"
    )
    for nt, tn, count in (("4096", "1027 * 4", 1), ("4 * cosize(sA)", "cosize(sA) * 4", 0), ("4096", "cosize(sA) * 4", 0)):
        first, second = text.replace("<<<1, 256>>>", f"<<<1, 256, {nt}>>>", 1).rsplit("<<<1, 256>>>", 1)
        bad = [
            row
            for row in rows(tmp_path, capsys, f"{first}<<<1, 256, {tn}>>>{second}")
            if row["wavefronts"] and row["wavefronts"] > row["ideal"]
        ]
        edits = [edit for edit in bad[0]["fix"]["edits"] if "+ 84" in edit["new"]]
        assert len(edits) == count, edits


def test_a_name_of_a_layout_does_not_make_its_array_grow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a kernel takes a layout by a name, a swizzle keeps the array's extent; a longer stride would leave it behind."""
    text = TRANSPOSE.format(before="template <int N> auto made() { return LAYOUT; }", launch="k<<<1, 256>>>(a, b, made<32>())")
    text = text.replace("LAYOUT", "make_layout(Shape<Int<N>,Int<N>>{}, GenRowMajor{})")
    (bad,) = [row for row in rows(tmp_path, capsys, text) if row["wavefronts"] and row["wavefronts"] > row["ideal"]]
    assert bad["fix"]["bytes"] == 0
    assert "Swizzle<5,0,5>" in bad["fix"]["edits"][0]["new"]
    text = GEMM.replace("copy(tArA, unheard_of);", "").replace(
        "void nt(", "template <int N> auto made() { return LAYOUT; }\nvoid nt("
    )
    text = text.replace("auto sA = make_layout(make_shape(Int<128>{}, Int<8>{}), make_stride(Int<1>{}, Int<129>{}));", "")
    text = text.replace("dA, sA, copyA, tA);\n}\n\nvoid tn", "dA, sA, copyA, tA);  //\n}\n\nvoid tn")
    text = text.replace("dA, sA, copyA, tA);\n", "dA, made<129>(), copyA, tA);\n").replace(
        "LAYOUT", "Layout<Shape<_128,_8>,Stride<_1,Int<N>>>{}"
    )
    bad = [row for row in rows(tmp_path, capsys, text) if row["wavefronts"] and row["wavefronts"] > row["ideal"]]
    assert {edit["line"] for row in bad for edit in row["fix"]["edits"]} == {line_of(text, "auto made")}


def test_the_swizzle_of_an_atom_is_edited_where_it_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = LDMATRIX.format(layout="typename Traits<64>::Smem")
    text = """template <int N> struct Traits {
  using Atom = decltype(composition(Swizzle<0, 3, 3>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{}));
  using Smem = decltype(tile_to_shape(Atom{}, Shape<Int<N>,_64>{}));
};
""" + text  # fmt: skip
    bad = [row for row in rows(tmp_path, capsys, text) if row["wavefronts"] and row["wavefronts"] > row["ideal"]]
    assert bad
    assert {(edit["line"], edit["new"]) for row in bad for edit in row["fix"]["edits"]} == {(2, "Swizzle<3, 3, 3>")}


DSL = """
import cutlass
import cutlass.cute as cute

def made(n, bits):
    return cute.make_layout((n, n), stride=(n, 1)), cute.make_swizzle(bits, 2, 5)

@cute.kernel
def kernel(gA: cute.Tensor, sl: cute.Layout, sw: cute.Swizzle):
    tidx, _, _ = cute.arch.thread_idx()
    smem = cutlass.utils.SmemAllocator()
    sA = TENSOR
    rows = cute.make_layout((8, 32), stride=(32, 1))
    columns = cute.make_layout((32, 8), stride=(1, 32))
    r = cute.make_fragment_like(cute.local_partition(sA, rows, tidx))
    cute.autovec_copy(r, cute.local_partition(sA, rows, tidx))
    cute.autovec_copy(cute.local_partition(sA, columns, tidx), r)

@cute.jit
def host(mA: cute.Tensor):
    sl, sw = made(32, 0)
    kernel(mA, LAYOUT, sw).launch(grid=(1, 1, 1), block=(256, 1, 1))
"""
ROW = "cute.make_layout((32, 32), stride=(32, 1))"
SWIZZLED = f"cute.make_composed_layout(cute.make_swizzle(5,0,5), 0, {ROW})"


@pytest.mark.parametrize(
    ("tensor", "layout", "old", "new"),
    [
        (f"smem.allocate_tensor(cutlass.Float32, {ROW}, 16)", "sl", ROW, SWIZZLED),
        (f"smem.allocate_tensor(cutlass.Float32, layout={ROW})", "sl", ROW, SWIZZLED),
        ("smem.allocate_tensor(cutlass.Float32, sl)", ROW, ROW, SWIZZLED),
        ("smem.allocate_tensor(cutlass.Float32, sl, 128, sw)", "sl", "cute.make_swizzle(bits, 2, 5)", "cute.make_swizzle(5, 2, 5)"),
    ],
    ids=("inside", "by name", "at the launch", "swizzle of the pointer"),
)  # fmt: skip
def test_a_script_is_edited_where_its_layout_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tensor: str, layout: str, old: str, new: str
) -> None:
    """Never the tensor: its layout, or the swizzle of its pointer, which counts in bytes."""
    (tmp_path / "kernel.py").write_text(DSL.replace("TENSOR", tensor).replace("LAYOUT", layout), encoding="utf-8")
    with pytest.raises(SystemExit):
        cli.main(["analyze", str(tmp_path / "kernel.py"), "--json"])
    found = json.loads(capsys.readouterr().out)["accesses"]
    (bad,) = [row for row in found if row["wavefronts"] and row["wavefronts"] > row["ideal"]]
    assert [(edit["old"], edit["new"]) for edit in bad["fix"]["edits"]] == [(old, new)]


def test_each_place_of_a_layout_has_its_edit(capsys: pytest.CaptureFixture[str]) -> None:
    """Its four kernels ran on an H100, each in a file of its own, with these edits: docs/explain/counters.md."""
    path = Path(__file__).parent / "data" / "edits.cu"
    with pytest.raises(SystemExit):
        cli.main(["analyze", str(path), "--all"])
    out = capsys.readouterr().out
    edits = [
        "7  Layout<Shape<_64,_64>,Stride<_64,_1>>  ->  decltype(composition(Swizzle<5,0,6>{}, ...{}))",
        "9  Swizzle<2,0,4>  ->  Swizzle<5,0,6>",
        "59  make_layout(make_shape(tile, tile), make_stride(tile, Int<1>{}))",
        "45  (ty + j) * 32 + tx  ->  (ty + j) * 33 + tx",
        "47  tx * 32 + ty + j  ->  tx * 33 + ty + j",
        "63  32 * 32 * sizeof(float)  ->  32 * 32 * sizeof(float) + 124",
    ]
    assert [edit for edit in edits if f"       fix  {edit}" not in out] == []
    rows = {
        line.split()[0]: line.split()[1:]
        for line in out.splitlines()
        if line.startswith(("in_struct ", "swizzled ", "by_host ", "plain "))
    }
    assert rows == {
        **{name: ["4,224", "256", "256"] for name in ("in_struct", "swizzled", "by_host")},
        "plain": ["1,056", "64", "64"],
    }


TEMPLATE = """
template <int N, int K> __global__ void k(float* p) {
  using L = decltype(composition(Swizzle<3,3,3>{}, Layout<Shape<_8,Int<K>>,Stride<Int<K>,_1>>{}));
  __shared__ float buf[8 * K];
  auto s = make_tensor(make_smem_ptr(buf), L{});
  auto t = local_partition(s, Layout<Shape<_8,_4>>{}, threadIdx.x);
  auto r = make_tensor<float>(make_shape(Int<N>{}, Int<K / 4>{}));
  for (int n = 0; n < N; ++n) copy(t(0, _), r(n, _));
}
void small(float* p) { k<1, 64><<<1, 32>>>(p); }
"""
BIG = "void big(float* p) { k<2, 32><<<1, 32>>>(p); }\n"


def of(tmp_path: Path, text: str, *options: str) -> Any:
    path = tmp_path / "k.cu"
    path.write_text(text)
    return json.loads(run("analyze", str(path), "--json", *options).stdout)


def test_a_launch_has_whole_fragments_and_takes_what_is_given(tmp_path: Path) -> None:
    held = {None: {("small", 16), ("big", 16)}, "small": {("small", 16)}, "big": {("big", 16)}}
    for name, wanted in held.items():
        found = of(tmp_path, TEMPLATE + BIG, *(["--name", name] if name else []))["memory"]["registers"]
        assert {(x["launch"].partition(",")[0], x["registers"]) for x in found} == wanted
    for options in ([], ["--launch", "1"], ["--launch", "2"]):  # of a kernel's template, a value wins over those of launches
        shared = of(tmp_path, TEMPLATE + BIG, "--let", "K=16", *options)["memory"]["shared"]
        assert {x["bytes"] for x in shared} == {8 * 16 * 4}


def test_a_swizzle_may_keep_more_together_than_an_access_is_wide(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(TEMPLATE)
    told = run("analyze", str(path)).stdout.decode()
    assert "fix  3  Swizzle<3,3,3>  ->  Swizzle<" in told
    assert re.search(r"ld.shared.32: (\d+) wavefronts, (\d+) with the fix, \2 ideal", told), told


def test_a_report_stands_without_fixes_that_take_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "k.cu"
    path.write_text(TEMPLATE)
    monkeypatch.setattr("cute_viz.limits.taken", iter(range(0, 1 << 50, 1 << 30)).__next__)  # a GB more at each look
    told = str(cv.report(str(path)))
    assert "fix none: fixes of all kernels take too long to search" in " ".join(told.split())
