"""`analyze FILE`: what the copies of a kernel cost, held to the same copies counted alone and to what a device counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cute_viz import cli

# A matrix product as the first tutorial has it, called for column-major and for row-major tiles.
GEMM = """
template <class AStride, class ASmemLayout, class TiledCopyA, class AThreads>
__global__ void device(float const* A, AStride dA, ASmemLayout sA_layout, TiledCopyA copy_a, AThreads tA)
{
  using namespace cute;
  Tensor gA = make_tensor(make_gmem_ptr(A), make_shape(Int<128>{}, Int<8>{}), dA);
  __shared__ float smemA[cosize_v<ASmemLayout>];
  Tensor sA = make_tensor(make_smem_ptr(smemA), sA_layout);
  ThrCopy thr_copy_a = copy_a.get_slice(threadIdx.x);
  Tensor tAgA = thr_copy_a.partition_S(gA);
  Tensor tAsA = thr_copy_a.partition_D(sA);
  Tensor tArA = make_fragment_like(tAsA);
  copy(copy_a, tAgA, tArA);
  copy(tArA, tAsA);
  Tensor tBgA = local_partition(gA, tA, threadIdx.x);
  Tensor tBsA = local_partition(sA, tA, threadIdx.x);
  for (int k = 0; k < 4; ++k)
    copy(tBgA, tBsA);
  copy(tArA, unheard_of);
}

void nt(float const* A) {
  auto dA = make_stride(Int<1>{}, Int<4096>{});
  auto sA = make_layout(make_shape(Int<128>{}, Int<8>{}));
  TiledCopy copyA = make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, float>{},
                                    Layout<Shape<_32,_8>>{}, Layout<Shape<_4,_1>>{});
  auto tA = make_layout(make_shape(Int<32>{}, Int<8>{}));
  device<<<1, 256>>>(A, dA, sA, copyA, tA);
}

void tn(float const* A) {
  auto dA = make_stride(Int<4096>{}, Int<1>{});
  auto sA = make_layout(make_shape(Int<128>{}, Int<8>{}), make_stride(Int<1>{}, Int<129>{}));
  TiledCopy copyA = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{},
                                    Layout<Shape<_32,_8>,Stride<_8,_1>>{}, Layout<Shape<_1,_1>>{});
  auto tA = make_layout(make_shape(Int<32>{}, Int<8>{}), LayoutRight{});
  device<<<1, 256>>>(A, dA, sA, copyA, tA);
}
"""

LDMATRIX = """
template <class SmemLayout, class Mma>
__global__ void device(half_t const* A, SmemLayout layout, Mma mma)
{{
  extern __shared__ half_t smem[];
  Tensor sA = make_tensor(make_smem_ptr(smem), layout);
  auto thr_mma = mma.get_slice(threadIdx.x);
  Tensor tCrA = thr_mma.partition_fragment_A(sA);
  auto s2r = make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{{}}, mma);
  auto thr = s2r.get_slice(threadIdx.x);
  Tensor tXsA = thr.partition_S(sA);
  Tensor tXrA = thr.retile_D(tCrA);
  cute::copy(s2r, tXsA, tXrA);
}}
void host(half_t const* A) {{
  auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{{}}, Layout<Shape<_2,_2>>{{}}, Tile<_32,_32,_16>{{}});
  auto layout = {layout};
  device<<<1, 128>>>(A, layout, mma);
}}
"""
SWIZZLED = "tile_to_shape(composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{}), Shape<_128,_64>{})"
PLAIN = "Layout<Shape<_128,_64>,Stride<_64,_1>>{}"

DSL = """
import cutlass
import cutlass.cute as cute

@cute.kernel
def kernel(mA: cute.Tensor, sA_layout: cute.Layout, tiled_copy: cute.TiledCopy, tiled_mma: cute.TiledMma):
    tidx, _, _ = cute.arch.thread_idx()
    smem = cutlass.utils.SmemAllocator()
    sA = smem.allocate_tensor(cutlass.Float16, sA_layout, 16{swizzle})
    gA = cute.local_tile(mA, (128, 64), (0, None))
    thr_copy = tiled_copy.get_slice(tidx)
    tAgA = thr_copy.partition_S(gA)
    tAsA = thr_copy.partition_D(sA)
    cute.copy(tiled_copy, tAgA[None, None, None, 0], tAsA)
    atom = cute.make_copy_atom(cute.nvgpu.warp.LdMatrix8x8x16bOp(False, 4), cutlass.Float16)
    s2r = cute.make_tiled_copy_A(atom, tiled_mma)
    thr_s2r = s2r.get_slice(tidx)
    tCsA = thr_s2r.partition_S(sA)
    tCrA = thr_s2r.retile(tiled_mma.make_fragment_A(tiled_mma.get_slice(tidx).partition_A(sA)))
    cute.copy(s2r, tCsA, tCrA)

@cute.jit
def host(mA: cute.Tensor):
    atom = cute.make_copy_atom(cute.nvgpu.cpasync.CopyG2SOp(), cutlass.Float16, num_bits_per_copy=128)
    tiled_copy = cute.make_tiled_copy_tv(atom, cute.make_layout((16, 8), stride=(8, 1)), cute.make_layout((1, 8)))
    op = cute.nvgpu.warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16))
    tiled_mma = cute.make_tiled_mma(op, (2, 2, 1), permutation_mnk=(32, 32, 16))
    kernel(mA, cute.make_layout((128, 64), stride=(64, 1)), tiled_copy, tiled_mma).launch(grid=(1, 1, 1), block=(128, 1, 1))
"""


def main(words: list[str]) -> int:
    with pytest.raises(SystemExit) as left:
        cli.main(words)
    return int(left.value.code or 0)


def report(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, *words: str, name: str = "kernel.cu") -> Any:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert main(["analyze", str(path), "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


def rows(found: Any, line: int) -> list[Any]:
    """Of the accesses of a line (call, instruction, instructions, wavefronts, ideal, sectors, ideal sectors)."""
    keys = ("call", "instruction", "instructions", "wavefronts", "ideal", "sectors", "ideal_sectors")
    return sorted([tuple(row[key] for key in keys) for row in found["accesses"] if row["line"] == line], key=str)


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_each_call_of_a_kernel_has_its_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An H200 counts 2,048 wavefronts where 512 are ideal for the stores of TN, and none too many for those of NT."""
    found = report(tmp_path, capsys, GEMM)
    assert rows(found, line_of(GEMM, "copy(copy_a,")) == [
        ("nt, line 28", "ld.global.128", 8, None, None, 128, 128),
        ("tn, line 37", "ld.global.32", 32, None, None, 128, 128),
    ]
    assert rows(found, line_of(GEMM, "copy(tArA, tAsA)")) == [
        ("nt, line 28", "st.shared.128", 8, 32, 32, None, None),
        ("tn, line 37", "st.shared.32", 32, 128, 32, None, None),
    ]
    assert rows(found, line_of(GEMM, "copy(tBgA, tBsA)"))[2:] == [
        ("tn, line 37", "ld.global.32", 32, None, None, 128, 128),
        ("tn, line 37", "st.shared.32", 32, 128, 32, None, None),
    ]
    assert found["accesses"][0]["wavefronts"] == 128, "the worst comes first"
    assert found["accesses"][0]["fix"]["wavefronts"] < 128 * 3
    assert [row["line"] for row in found["unknown"]] == [line_of(GEMM, "copy(tArA, unheard_of)")] * 2


@pytest.mark.parametrize("layout", [SWIZZLED, PLAIN])
def test_a_copy_of_a_kernel_is_counted_as_the_copy_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str], layout: str) -> None:
    (row,) = report(tmp_path, capsys, LDMATRIX.format(layout=layout))["accesses"]
    mma = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))"
    alone = layout.replace("composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{})", "Sw<3,3,3> o 0 o (8,64):(64,1)")
    alone = alone.replace("Shape<_128,_64>{}", "(128,64)") if "Sw<" in alone else "(128,64):(64,1)"
    access = f"make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N,half_t>{{}}, {mma})"
    assert main(["analyze", alone, "--access", access, "--type", "f16", "--json"]) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert row["instruction"] == "ldmatrix.x4"
    assert row["instructions"] == len(steps)
    assert row["wavefronts"] == sum(step["wavefronts"] for step in steps)
    assert row["ideal"] == sum(step["ideal"] for step in steps)
    assert (row["wavefronts"] > row["ideal"]) == (layout is PLAIN)
    assert (row["fix"] or {}).get("what") == (None if layout is SWIZZLED else "Sw<3,3,3>")


@pytest.mark.parametrize(("swizzle", "wavefronts"), [("", 2048), (", cute.make_swizzle(3, 4, 3)", 256)])
def test_a_kernel_of_the_dsl(tmp_path: Path, capsys: pytest.CaptureFixture[str], swizzle: str, wavefronts: int) -> None:
    """The swizzle of a pointer acts on byte addresses."""
    found = report(tmp_path, capsys, DSL.format(swizzle=swizzle), "--let", "mA=(1024,1024):(1024,1)", name="kernel.py")
    assert not found["unknown"]
    by_name = {row["instruction"]: row for row in found["accesses"]}
    assert by_name["cp.async.128"]["sectors"] == by_name["cp.async.128"]["ideal_sectors"] == 512
    assert (by_name["ldmatrix.x4"]["wavefronts"], by_name["ldmatrix.x4"]["ideal"]) == (wavefronts, 256)


HELPER = """
    params = SimpleNamespace(s2r=s2r, tCsA=tCsA, tCrA=tCrA)
    step(params, tAgA)

@cute.jit
def step(params: SimpleNamespace, tAgA: cute.Tensor):
    crd = (None, None, 1)
    cute.copy(params.s2r, params.tCsA[crd], params.tCrA[None, None, 1])

@cute.jit
def host("""


def test_tensors_that_a_helper_of_the_dsl_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A field of a parameter is what the callers put there; a tensor that is given with its pointer keeps its type."""
    text = DSL.format(swizzle="").replace("\n@cute.jit\ndef host(", HELPER, 1)
    given = "mA=make_tensor(make_gmem_ptr<half_t>(0), (1024,1024):(1024,1))"
    found = report(tmp_path, capsys, text, "--let", given, name="kernel.py")
    assert not found["unknown"]
    whole, part = (rows(found, line_of(text, f"cute.copy({name}")) for name in ("s2r", "params.s2r"))
    assert [row[1:4] for row in whole] == [("ldmatrix.x4", 64, 2048)]
    assert [row[1:4] for row in part] == [("ldmatrix.x4", 16, 512)]
    another = text.replace(
        "    step(params, tAgA)", "    step(params, tAgA)\n    step(SimpleNamespace(s2r=s2r, tCsA=sA, tCrA=tCrA), tAgA)"
    )
    lost = report(tmp_path, capsys, another, "--let", given, name="kernel.py")["unknown"]
    assert [row["line"] for row in lost] == [line_of(another, "cute.copy(params.s2r")]


def test_an_instruction_does_not_reach_every_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """ldmatrix of global memory compiles, and fails when it runs: a report says so in the words of `--access`."""
    path = tmp_path / "kernel.cu"
    path.write_text(
        "__global__ void k(half_t const* p) {\n"
        "  Tensor gA = make_tensor(make_gmem_ptr<half_t>(p), Layout<Shape<_16,_16>,Stride<_16,_1>>{});\n"
        "  auto loads = make_tiled_copy(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, Layout<Shape<_16,_2>>{}, Layout<Shape<_1,_8>>{});\n"
        "  auto thr = loads.get_slice(threadIdx.x);\n"
        "  copy(loads, thr.partition_S(gA), make_fragment_like(thr.partition_D(gA)));\n}\n"
    )
    main(["analyze", str(path)])
    said = "SM75_U32x4_LDSM_N copies from shared memory to registers, not from global memory"
    assert said in " ".join(capsys.readouterr().out.split())
    access = "make_tiled_copy(Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}, (16,2), (1,8))"
    assert main(["analyze", "(16,16):(16,1)", "--access", access, "--global"]) == 1
    assert said in capsys.readouterr().err


def test_a_check_for_ci(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kernel.cu"
    for layout, status in ((SWIZZLED, 0), (PLAIN, 1)):
        path.write_text(LDMATRIX.format(layout=layout), encoding="utf-8")
        assert main(["analyze", str(path), "--max-ways", "1"]) == status
        said = capsys.readouterr()
        assert "ldmatrix.x4" in said.out
        assert ("8 times its ideal" in said.err) == bool(status)
    line = str(line_of(path.read_text(), "cute::copy("))
    assert main(["analyze", str(path), "--max-ways", "1", "--accept", line]) == 0
    assert "(accepted)" in capsys.readouterr().out
    assert main(["analyze", str(path), "--max-ways", "1", "--accept", "1"]) == 1
    assert "no access in line 1" in capsys.readouterr().err
    assert main(["analyze", str(path), "--json"]) == 0
    before = tmp_path / "before.json"
    before.write_text(capsys.readouterr().out, encoding="utf-8")
    path.write_text("// moved\n" + LDMATRIX.format(layout=PLAIN), encoding="utf-8")
    assert main(["analyze", str(path), "--baseline", str(before)]) == 0
    before.write_text(before.read_text().replace('"wavefronts": 2048', '"wavefronts": 256'), encoding="utf-8")
    assert main(["analyze", str(path), "--baseline", str(before), "--format", "github"]) == 1
    said = capsys.readouterr()
    assert "2048 wavefronts, 256 in the baseline" in said.err
    assert f"::warning file={str(path)[1:]},line={int(line) + 1},title=bank-conflict::8-way ldmatrix.x4" in said.out.replace(
        "file=/", "file="
    )
    assert main(["analyze", str(path), "--format", "sarif"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert (result["ruleId"], result["locations"][0]["physicalLocation"]["region"]) == (
        "bank-conflict",
        {"startLine": int(line) + 1},
    )
    assert main(["analyze", str(path), "-o", str(tmp_path / "report.html")]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<details") == 1
    now, fixed = page.split('<svg class="cv"')[1:]
    assert (">T1 b0-3<" in now, ">T1 b4-7<" in fixed) == (True, True)
    capsys.readouterr()
    for name, words in (("r.json", ["--json"]), ("r.sarif", ["--format", "sarif"]), ("r.txt", [])):  # by its suffix
        assert main(["analyze", str(path), "-o", str(tmp_path / name)]) == 0 == main(["analyze", str(path), *words])
        assert (tmp_path / name).read_text(encoding="utf-8") == capsys.readouterr().out
    assert main(["analyze", str(path), "--format", "github", "-o", str(tmp_path / "r.log")]) == 0
    assert (tmp_path / "r.log").read_text(encoding="utf-8").startswith("::warning ")
    assert main(["analyze", str(path), "--baseline", str(tmp_path / "r.json"), "-o", str(tmp_path / "r.pdf")]) == 2
    assert "written as .html, .htm, .json, .sarif, .txt" in capsys.readouterr().err
    assert main(["analyze", "(8,64):(64,1)", "--max-ways", "1"]) == 2


def test_several_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A report each; a file that has none, or is too slow, is told, and the others are read."""
    for name, text in (("a", LDMATRIX.format(layout=PLAIN)), ("b", "int x;"), ("c", LDMATRIX.format(layout=SWIZZLED))):
        (tmp_path / f"{name}.cu").write_text(text, encoding="utf-8")
    names = [str(tmp_path / f"{name}.cu") for name in "abc"]
    assert main(["analyze", names[0], names[2]]) == 0
    both = capsys.readouterr().out
    apart = []
    for name in (names[0], names[2]):
        assert main(["analyze", name]) == 0
        apart.append(capsys.readouterr().out)
    assert both == "\n".join(apart)
    assert main(["analyze", *names, "--max-ways", "1", "--format", "github"]) == 1
    said = capsys.readouterr()
    assert said.out.count("::warning") == said.err.count("8 times its ideal") == said.err.count("b.cu: there is no") == 1
    for words in (["--json"], ["--format", "sarif"], ["-o", str(tmp_path / "r.html")]):
        assert main(["analyze", *names, *words]) == 2
        assert "one file" in capsys.readouterr().err


def test_a_baseline_knows_two_launches_of_one_line_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, before = tmp_path / "k.cu", tmp_path / "b.json"
    text = (
        "template <int P> __global__ void t(float* o) {\n  __shared__ float s[32][32 + P];\n  s[threadIdx.y][threadIdx.x] = 0;\n"
        "  __syncthreads();\n  o[threadIdx.x] = s[threadIdx.x][threadIdx.y];\n}\n"
        "int main() { float* o; t<0><<<1, dim3(32, 8)>>>(o); t<1><<<1, dim3(32, 8)>>>(o); }\n"
    )
    path.write_text(text, encoding="utf-8")
    assert main(["analyze", str(path), "--json"]) == 0
    before.write_text(capsys.readouterr().out, encoding="utf-8")
    for now, status in (
        (text, 0),
        (text.replace("32 + P", "33 - P"), 1),  # one better, one worse
        (text.replace("t<1><<<1, dim3(32, 8)>>>(o); ", ""), 0),
        (text.replace("t<0><<<1, dim3(32, 8)>>>(o); ", ""), 0),
    ):
        path.write_text(now, encoding="utf-8")
        assert main(["analyze", str(path), "--baseline", str(before)]) == status, now
        assert ("256 wavefronts, 8 in the baseline" in capsys.readouterr().err) is (status == 1)


@pytest.mark.parametrize(
    "baseline",
    [
        "[]",
        "{}",
        '{"accesses": [1]}',
        '{"accesses": [], "unknown": {"a": 1}}',
        '{"accesses": [{"file": [], "statement": {}, "wavefronts": "x"}], "unknown": [null]}',
        '{"accesses": [{"wavefronts": {}}], "unknown": []}',
        "[" * 100_000,
        "1e999",
    ],
    ids=range(8),
)
def test_a_baseline_of_strangers_is_read_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], baseline: str) -> None:
    (tmp_path / "kernel.cu").write_text(LDMATRIX.format(layout=PLAIN), encoding="utf-8")
    (tmp_path / "b.json").write_text(baseline, encoding="utf-8")
    assert main(["analyze", str(tmp_path / "kernel.cu"), "--baseline", str(tmp_path / "b.json")]) == 1
    assert capsys.readouterr().err.count("error: ") == 1


def test_a_path_of_strangers_is_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In SARIF a URI, in annotations one line, in HTML a text."""
    path = tmp_path / "k<script>,x;y::error::%25.cu"
    path.write_text(LDMATRIX.format(layout=PLAIN), encoding="utf-8")
    assert main(["analyze", str(path), "--format", "sarif"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.endswith("k%3Cscript%3E%2Cx%3By%3A%3Aerror%3A%3A%2525.cu")
    assert main(["analyze", str(path), "--format", "github"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert "k<script>%2Cx;y%3A%3Aerror%3A%3A%2525.cu,line=" in line
    assert main(["analyze", str(path), "-o", str(tmp_path / "r.html")]) == 0
    assert "k<script" not in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_what_is_written_in_a_file_is_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names of a stranger's file do not become markup."""
    path = tmp_path / "kernel.cu"
    path.write_text('void f() {\n  copy(a, b<"<script>alert(2)">);\n  copy("<script>alert(1)</script>", b);\n}\n', encoding="utf-8")
    main(["analyze", str(path), "-o", str(tmp_path / "report.html")])
    capsys.readouterr()
    assert "<script>alert" not in (tmp_path / "report.html").read_text(encoding="utf-8")


# A program: its kernel is called through two functions, with sizes that its arguments may change, and a copy of it by nothing.
PROGRAM = """
template <class TA, class Shape, class AStride, class ALayout, class Copy>
__global__ void device(Shape shape, TA const* A, AStride dA, ALayout sA_layout, Copy copy_a)
{
  Tensor gA = local_tile(make_tensor(make_gmem_ptr(A), shape, dA), make_shape(Int<64>{}, Int<32>{}), make_coord(blockIdx.x, 0));
  __shared__ TA smem[cosize_v<ALayout>];
  Tensor sA = make_tensor(make_smem_ptr(smem), sA_layout);
  auto thr = copy_a.get_slice(threadIdx.x);
  copy(copy_a, thr.partition_S(gA), thr.partition_D(sA));
}
template <class T> __global__ void never(T t) { copy(t, t); }
template <class Tensor_> __global__ void typed(Tensor_ S)
{
  using T = typename Tensor_::value_type;
  auto tc = make_tiled_copy(Copy_Atom<UniversalCopy<uint_byte_t<4 * sizeof(T)>>, T>{}, Layout<_32>{}, Layout<_4>{});
  auto part = tc.get_slice(threadIdx.x).partition_S(S);
  auto registers = make_fragment_like(part);
  copy(tc, part, registers);
  copy(registers, make_fragment_like(registers));
}
template <class TA> void rows(int m, int k, TA const* A, int ldA) {
  auto sA = make_layout(make_shape(Int<64>{}, Int<32>{}), make_stride(Int<32>{}, Int<1>{}));
  auto tc = make_tiled_copy(Copy_Atom<UniversalCopy<TA>, TA>{}, Layout<Shape<_4,_32>,Stride<_32,_1>>{});
  auto kernel = device<TA, decltype(make_shape(m, k)), decltype(make_stride(ldA, Int<1>{})), decltype(sA), decltype(tc)>;
  kernel<<<m / 64, 128>>>(make_shape(m, k), A, make_stride(ldA, Int<1>{}), sA, tc);
}
template <class TA> void columns(int m, int k, TA const* A, int ldA) {
  auto sA = make_layout(make_shape(Int<64>{}, Int<32>{}));
  auto tc = make_tiled_copy(Copy_Atom<UniversalCopy<TA>, TA>{}, Layout<Shape<_32,_4>>{});
  device<<<m / 64, 128>>>(make_shape(m, k), A, make_stride(Int<1>{}, ldA), sA, tc);
}
template <class TA> void choose(char trans, int m, int k, TA const* A, int ldA) {
  if (trans == 'T') { rows(m, k, A, ldA); }
  if (trans == 'N') { columns(m, k, A, ldA); }
}
int main(int argc, char** argv) {
  int m = 130, k = 66;
  if (argc >= 2) sscanf(argv[1], "%d", &m);
  char trans = 'N';
  if (argc >= 3) sscanf(argv[2], "%c", &trans);
  int ld = 0;
  if (trans == 'N') { ld = m; } else if (trans == 'T') { ld = k; }
  thrust::host_vector<float> h(m * k);
  thrust::device_vector<float> d = h;
  choose(trans, m, k, d.data().get(), ld);
  choose(trans, m, k, d.data().get(), ld);
  typed<<<1, 32>>>(make_tensor(make_gmem_ptr<half_t>(nullptr), Layout<Shape<_128>>{}));
}
"""


def test_a_program_tells_what_its_kernels_are_called_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Types and sizes by the calls from main, each call in its branch, as if there were no arguments."""
    found = report(tmp_path, capsys, PROGRAM)
    line = line_of(PROGRAM, "copy(copy_a, thr")
    mine = [row for row in rows(found, line) if "global" in row[1]]
    assert [(row[0].partition(",")[0], *row[1:3], *row[5:]) for row in mine] == [
        ("columns", "ld.global.32", 64, 304, 256),  # 16 of 64 columns begin at a sector; the others touch 5 for 128 bytes
        ("rows", "ld.global.32", 64, 304, 256),
    ]
    assert found["assumed"] == {"m": {"value": "130", "line": line_of(PROGRAM, "int m = 130")}}
    assert [row["instruction"] for row in found["accesses"] if row["line"] == line_of(PROGRAM, "copy(tc, part")] == ["ld.global.64"]
    assert (found["unknown"], found["idle"]) == ([], {"never": [str(line_of(PROGRAM, "copy(t, t)"))]})
    aligned = report(tmp_path, capsys, PROGRAM, "--let", "m=128", "--let", "k=64")
    assert aligned["assumed"] == {}
    assert [row[5:] for row in rows(aligned, line) if "global" in row[1]] == [(256, 256)] * 2


STORAGE = """
template <class T, class L> struct Plain { alignas(128) T smem[cosize_v<L>]; };
template <class T, class L> struct Joined {
  union { struct { cute::array_aligned<T, cosize_v<L>, 1024> smem_q; }; cute::array_aligned<T, cosize_v<L>> smem_o; };
};
template <class T, class L> struct Nested {
  using Arr = cutlass::AlignedBuffer<T, cosize_v<L>>;
  struct Tensors { Arr a; } tensors;
};
namespace own {
template <class To, class Engine, class Layout> __device__ auto convert_type(Tensor<Engine, Layout> const& tensor) {
  auto frag = convert(tensor.data());
  return make_tensor(make_rmem_ptr<To>(&frag), tensor.layout());
}
}
using L = Layout<Shape<_32,_32>>;
template <class S> __device__ void each(S const& sS) {
  Tensor p = local_partition(sS, Layout<Shape<_32,_1>>{}, threadIdx.x);
  copy(own::convert_type<half_t>(make_tensor<float>(shape(p))), p);
}
__global__ void plain() {
  extern __shared__ char m[];
  Plain<half_t, L>& s = reinterpret_cast<Plain<half_t, L>&>(m);
  each(make_tensor(make_smem_ptr(s.smem), L{}));
}
__global__ void joined() {
  extern __shared__ char m[];
  auto& s = *reinterpret_cast<Joined<half_t, L>*>(m);
  each(make_tensor(make_smem_ptr(s.smem_q.data()), L{}));
}
__global__ void nested() {
  extern __shared__ char m[];
  auto& s = *reinterpret_cast<Nested<half_t, L>*>(m);
  each(make_tensor(make_smem_ptr(s.tensors.a.data()), L{}));
}
"""


def test_tensors_in_shared_storage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Arrays of a structure in shared memory are memory of their elements; what a function of the file gives may be registers."""
    found = report(tmp_path, capsys, STORAGE)
    assert not found["unknown"]
    assert [row[0].split(",")[0] for row in rows(found, line_of(STORAGE, "copy(own"))] == ["joined", "nested", "plain"]
    assert {row[1:5] for row in rows(found, line_of(STORAGE, "copy(own"))} == {("st.shared.16", 32, 32, 32)}


def test_kernels_of_included_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files of the folder and around it, each once, with their own lines; what is not there is not read."""
    header, caller = GEMM.split("void nt(")
    (tmp_path / "detail").mkdir()
    (tmp_path / "detail" / "device.cuh").write_text(f'#pragma once\n#include "../kernel.cu"\n{header}', encoding="utf-8")
    (tmp_path.parent / "outside.cuh").write_text("void f() { copy(a, b); }\n", encoding="utf-8")
    main_file = f'#include "detail/device.cuh"\n#include "../outside.cuh"\n#include "none.h"\nvoid nt({caller}'
    found = report(tmp_path, capsys, main_file)
    whole = report(tmp_path, capsys, GEMM, name="whole.cu")
    assert [{**row, "line": row["line"] - 2, "file": None, "call": None, "fix": None, "often": 0} for row in found["accesses"]] == [
        {**row, "call": None, "fix": None, "often": 0} for row in whole["accesses"]
    ]
    assert [row["often"]["times"] for row in found["accesses"]] == [row["often"]["times"] for row in whole["accesses"]]
    assert [(row["fix"]["edits"][0]["file"], row["fix"]["edits"][0]["line"]) for row in found["accesses"][:1]] == [
        (None, line_of(main_file, "make_layout(make_shape(Int<128>{}, Int<8>{}), make_stride"))
    ]
    assert {row["file"] for row in found["accesses"]} == {"detail/device.cuh"}
    assert found["idle"] == {"f": ["../outside.cuh:1"]}  # of which nothing is launched
    assert {row["call"] for row in found["accesses"]} == {f"nt, line {line_of(main_file, 'device<<<')}", "tn, line 19"}
    assert main(["analyze", str(tmp_path / "kernel.cu")]) == 0
    assert "lines of detail/device.cuh" in capsys.readouterr().out


def test_a_kernel_that_is_called_in_too_many_ways_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """60 calls in each of 13 functions: as many ways are followed as are shown, and no more are looked at."""
    calls = "".join(
        f"template <class T> void f{n}(T t) {{ {' '.join(f'f{n - 1}({k});' for k in range(60))} }}\n" for n in range(1, 14)
    )
    found = report(tmp_path, capsys, "template <class T> void f0(T t) { copy(t, t); }\n" + calls)
    assert len(found["unknown"]) == 64


LOOP = """
template <class TMA> __global__ void load(TMA tma, Layout<Shape<_64,_32>> l) {
  __shared__ uint64_t barriers[2];
  float* p;
  Tensor sA = make_tensor(make_smem_ptr<half_t>(p), make_layout(make_shape(_64{}, _32{}, _2{})));
  int stage = 0;
  for (int k = 0; k < 8; ++k) {
    copy(tma.with(barriers[stage]), tma.get_tma_tensor(shape(l)), sA(_, _, stage));
    stage = 1 - stage;
  }
}
int main() {
  Layout<Shape<_64,_32>> l;
  load(make_tma_copy(SM90_TMA_LOAD{}, make_tensor(make_gmem_ptr<half_t>(nullptr), l), l), l);
}
"""


BOXES = """
int main() {{
  half_t* p;
  auto s = Layout<Shape<{0}>>{{}};
  auto tma = make_tma_copy(SM90_TMA_LOAD{{}}, make_tensor(make_gmem_ptr(p), s), s);
  auto thr = tma.get_slice(0);
  copy(tma, thr.partition_S(tma.get_tma_tensor(shape(s))), thr.partition_D(make_tensor(make_smem_ptr(p), s)));
}}
"""


def test_a_copy_by_tma_says_so_whatever_its_barrier_and_a_loop_settles_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = report(tmp_path, capsys, LOOP)
    (row,) = found["accesses"]
    assert (row["line"], row["instruction"], row["elements"]) == (line_of(LOOP, "copy(tma"), "SM90_TMA_LOAD", 64 * 32)
    assert (row["instructions"], row["wavefronts"], row["sectors"], row["ideal_sectors"]) == (1, None, 128, 128)
    assert row["reasons"][0].startswith("SM90_TMA_LOAD: one thread copies a box")
    assert not found["unknown"]
    assert "stage" not in found["assumed"]
    vast = BOXES.format(",".join(["_256"] * 5))
    assert ["a box of 4294967296 rows" in row["error"] for row in report(tmp_path, capsys, vast)["unknown"]] == [True]


NO_WARP = """
template <class T, class ALayout, class CLayout> struct Storage {
  alignas(128) cute::ArrayEngine<T, cute::cosize_v<ALayout>> A;
  alignas(128) union { cute::ArrayEngine<float, 8192> C; } tensors;
  auto tensor_sA() { return make_tensor(make_smem_ptr(A.begin()), ALayout{}); }
  auto tensor_sC() { return make_tensor(make_smem_ptr(tensors.C.begin()), CLayout{}); }
};
int main() {
  using Op = SM100_MMA_F16BF16_SS<half_t, half_t, float, 128, 256, UMMA::Major::K, UMMA::Major::K>;
  auto mma = make_tiled_mma(Op{});
  auto thr = mma.get_slice(0);
  auto al = UMMA::tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<half_t>{}, partition_shape_A(mma, Shape<_128,_64>{}));
  auto bl = UMMA::tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<half_t>{}, partition_shape_B(mma, Shape<_256,_64>{}));
  auto cl = tile_to_shape(UMMA::Layout_K_SW128_Atom<float>{}, Shape<_128,_64>{});
  Storage<half_t, decltype(al), decltype(cl)> shared;
  half_t* p; float* q;
  auto gA = make_tensor(make_gmem_ptr(p), Layout<Shape<Shape<_128,_16>,_1,_4>,Stride<Stride<_64,_1>,_0,_16>>{});
  auto gC = make_tensor(make_gmem_ptr(q), Layout<Shape<_128,_256>,Stride<_256,_1>>{});
  auto sA = shared.tensor_sA();
  auto sB = make_tensor(make_smem_ptr<half_t>(p), bl);
  cooperative_copy<128>(threadIdx.x, gA, sA);
  auto tA = thr.make_fragment_A(sA);
  auto tB = thr.make_fragment_B(sB);
  auto acc = thr.make_fragment_C(thr.partition_C(gC));
  for (int k = 0; k < 4; ++k) { gemm(mma, tA(_,_,k), tB(_,_,k), acc); }
  auto load = make_tmem_copy(SM100_TMEM_LOAD_32dp32b8x{}, acc);
  auto mine = load.get_slice(threadIdx.x);
  auto regs = make_fragment_like(mine.partition_D(thr.partition_C(gC)));
  copy(load, mine.partition_S(acc), regs);
  auto tC = local_partition(shared.tensor_sC(), Layout<_128>{}, threadIdx.x);
  auto like = make_tensor_like(tC);
  copy_aligned(tC, like);
}
"""


def test_what_no_warp_accesses_is_counted_without_wavefronts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """tcgen05.mma and its memory; tensors of a storage's methods, whose swizzle is the pointer's (CUTLASS's tutorials 01, 05)."""
    found = report(tmp_path, capsys, NO_WARP)
    assert not found["unknown"], found["unknown"]
    rows = {(row["instruction"], row["instructions"], row["wavefronts"], row["sectors"]) for row in found["accesses"]}
    assert rows >= {("SM100_MMA_F16BF16_SS", 1, None, None), ("SM100_TMEM_LOAD_32dp32b8x", 4 * 256 // 8, None, None)}
    assert {name for name, *_ in rows} >= {"ld.shared.128", "st.shared.16", "ld.global.16"}
    assert main(["analyze", str(tmp_path / "kernel.cu"), "--max-ways", "32"]) == 0


HOPPER = """
import cutlass
import cutlass.cute as cute
import cutlass.utils.hopper_helpers as sm90_utils
from cutlass.cute.nvgpu import cpasync, warpgroup

@cute.kernel
def kernel(atom: cute.CopyAtom, mA: cute.Tensor, sA_layout: cute.ComposedLayout, mma: cute.TiledMma):
    tidx, _, _ = cute.arch.thread_idx()
    smem = cutlass.utils.SmemAllocator()
    sA = smem.allocate_tensor(cutlass.Float16, sA_layout.outer, 128, sA_layout.inner)
    gA = cute.local_tile(mA, (128, 64, 64), (0, 0, None), proj=(1, None, 1))
    tAsA, tAgA = cpasync.tma_partition(atom, 0, cute.make_layout(1), cute.group_modes(sA, 0, 2), cute.group_modes(gA, 0, 2))
    cute.copy(atom, tAgA[(None, 0)], tAsA[None, 0])
    thr = mma.get_slice(tidx)
    tCrA = mma.make_fragment_A(thr.partition_A(sA))
    acc = cute.make_rmem_tensor(mma.partition_shape_C((128, 128)), cutlass.Float32)
    crd = (None, None, 0, 0)
    cute.gemm(mma, acc, tCrA[crd], tCrA[crd], acc)

@cute.jit
def host(mA: cute.Tensor):
    layout = sm90_utils.make_smem_layout_a(cutlass.utils.LayoutEnum.ROW_MAJOR, (128, 128, 64), cutlass.Float16, 2)
    stage = cute.slice_(layout, (None, None, 0))
    atom, tensor = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), mA, stage, (128, 64))
    k = warpgroup.OperandMajorMode.K
    op = warpgroup.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (64, 128, 16), warpgroup.OperandSource.SMEM, k, k)
    kernel(atom, tensor, layout, cute.make_tiled_mma(op, (2, 1, 1))).launch(grid=(1, 1, 1), block=(256, 1, 1))
"""


def test_what_no_warp_accesses_in_the_dsl(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A box by one thread, of the tile at a coordinate; a wgmma by each warp of two warpgroups."""
    given = "mA=make_tensor(make_gmem_ptr<half_t>(0), (1024,1024):(1024,1))"
    found = report(tmp_path, capsys, HOPPER, "--let", given, name="kernel.py")
    kinds = [(row["instruction"], row["elements"], row["instructions"], row["wavefronts"]) for row in found["accesses"]]
    assert kinds == [("SM90_TMA_LOAD", 8192, 1, None), ("SM90_64x128x16_F32F16F16_SS", 64, 8, None)]
    assert not found["unknown"]


def test_what_many_statements_lack_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.cu").write_text(
        "template <class Traits> void f() {\n" + "  copy(typename Traits::Copy{}, a, b);\n" * 3 + "  copy(other, a, b);\n}\n"
    )
    assert main(["analyze", str(tmp_path / "a.cu")]) == 0
    out = capsys.readouterr().out
    assert "Not evaluated: 3 statements: " in out
    assert " 2, 3, 4\n" in out


TOGETHER = """
void kernel(half_t* A, float alpha, float beta) {
  __shared__ half_t smem[64*64];
  auto sA = make_tensor(make_smem_ptr(smem), make_layout(Shape<_64,_64>{}, Stride<_64,_1>{}));
  auto gA = make_tensor(make_gmem_ptr(A), make_layout(Shape<_64,_64>{}, Stride<_64,_1>{}));
  cooperative_copy<128, 128>(threadIdx.x, gA, sA);
  cooperative_copy<128, 128>(threadIdx.x, gA, sA, AutoCopyAsync{});
  cooperative_copy<96, 128>(threadIdx.x, gA, sA);
  auto tA = local_partition(gA, Layout<Shape<_2,_64>,Stride<_64,_1>>{}, threadIdx.x);
  auto tS = local_partition(sA, Layout<Shape<_2,_64>,Stride<_64,_1>>{}, threadIdx.x);
  copy(AutoCopyAsync{}, tA, tS);
  axpby(alpha, tS, beta, tA);
}
"""


def test_copies_of_a_whole_block_and_axpby(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """8,192 bytes are 512 accesses of 128 bits, 4 of each of 128 threads; of 96 threads 32 do one more than 5."""
    (tmp_path / "a.cu").write_text(TOGETHER)
    with pytest.raises(SystemExit):
        cli.main(["analyze", str(tmp_path / "a.cu"), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert not found["unknown"]
    rows = sorted(
        (row["line"], row["instruction"], row["instructions"], row["wavefronts"], row["sectors"]) for row in found["accesses"]
    )
    assert rows == [
        (6, "ld.global.128", 16, None, 256),
        (6, "st.shared.128", 16, 64, None),
        (7, "cp.async.128", 16, 64, 256),
        (8, "ld.global.128", 1, None, 16),
        (8, "ld.global.128", 15, None, 240),
        (8, "st.shared.128", 1, 4, None),
        (8, "st.shared.128", 15, 60, None),
        (11, "ld.global.16", 128, None, 256),
        (11, "st.shared.16", 128, 128, None),
        (12, "ld.global.16", 128, None, 256),
        (12, "ld.shared.16", 128, 128, None),
        (12, "st.global.16", 128, None, 256),
    ]


def test_the_heading_of_a_page_is_its_file(tmp_path: Path) -> None:
    """Also of a kernel with loops, whose rounds have figures of their own."""
    text = "void f(float* p) {\n  auto s = make_tensor(make_smem_ptr(p), make_layout(Shape<_32,_4>{}));\n"
    text += (
        "  for (int k = 0; k < 8; ++k)\n    copy(make_tensor<float>(_4{}), local_partition(s, Layout<_32>{}, threadIdx.x));\n}\n"
    )
    (tmp_path / "loop.cu").write_text(text, encoding="utf-8")
    assert main(["analyze", str(tmp_path / "loop.cu"), "-o", str(tmp_path / "r.html")]) == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h1>loop.cu</h1>" in page
    assert "A round of line 3" in page


def test_an_operation_is_not_a_policy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """copy.hpp has a static_assert, "Unrecognized CopyPolicy.", for what is neither an atom nor one of a few policies."""
    ops = ("SM90_TMA_LOAD", "SM90_TMA_STORE", "SM75_U32x4_LDSM_N", "SM100_TMEM_LOAD_32dp32b1x", "SM100_TMA_2SM_LOAD_MULTICAST")
    copies = "\n".join(f"{call}({op}{{}}, {'a, ' * (call == 'copy_if')}a, a);" for op in ops for call in ("copy", "copy_if"))
    (tmp_path / "x.cu").write_text(f"""
__global__ void k() {{
  auto a = make_tensor(make_smem_ptr((half_t*)nullptr), Layout<Shape<_8,_8>>{{}});
{copies}
copy(AutoVectorizingCopyWithAssumedAlignment<64>{{}}, a, a);
copy(AutoCopyAsync{{}}, a, a);
}}
""")
    assert main(["analyze", str(tmp_path / "x.cu"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    said = [one["error"] for one in found["unknown"]][: 2 * len(ops)]
    assert said == [f"unrecognized CopyPolicy {op}" for op in ops for _ in range(2)]
    assert [one["shape"] for one in found["memory"]["shared"]] == ["(_8,_8)"]


@pytest.mark.parametrize(
    ("layout", "slice_", "told"),
    [
        ("Layout<Shape<_32,_8,_3>>", "(_,_,k % 3)", "s 3,072 (3 stages)"),
        ("Layout<Shape<_32,_8,Shape<_1,_3>>,Stride<_1,_36,Stride<_0,_288>>>", "(_,_,k % 3)", "s 3,440 (3 stages)"),  # padded
        ("Layout<Shape<_32,_8,_3>>", "", "s 3,072"),  # taken as a whole
        ("Layout<Shape<_32,_8,_3>,Stride<_3,_96,_1>>", "(_,_,k % 3)", "s 3,072"),  # interleaved
        ("Layout<Shape<_32,_24>>", "", "s 3,072"),
    ],
)
def test_stages_of_a_buffer(tmp_path: Path, capsys: pytest.CaptureFixture[str], layout: str, slice_: str, told: str) -> None:
    (tmp_path / "x.cu").write_text(f"""
__global__ void k(int k) {{
  __shared__ float buffer[4096];
  auto s = make_tensor(make_smem_ptr(buffer), {layout}{{}});
  auto part = local_partition(s, Layout<Shape<_32,_1{",_1" * ("_24" not in layout)}>>{{}}, threadIdx.x);
  auto taken = part{slice_};
  auto r = make_tensor<float>(shape(taken));
  copy(taken, r);
}}
""")
    assert main(["analyze", str(tmp_path / "x.cu")]) == 0
    assert capsys.readouterr().out.partition("Shared memory: ")[2].partition("bytes: ")[2].splitlines()[0] == told


def test_a_page_has_the_launch_that_loses_most_and_folds_what_is_ideal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = report(tmp_path, capsys, GEMM)
    assert main(["analyze", str(tmp_path / "kernel.cu"), "-o", str(tmp_path / "r.html")]) == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    steps = {step["launch"]: step for step in found["steps"] if step["loop"] is None} or found["totals"]
    name, worst = max(steps.items(), key=lambda one: one[1]["now"] - one[1]["ideal"])
    assert f"<b>{100 * (worst['now'] - worst['ideal']) / worst['now']:.0f}%</b> of shared-memory wavefronts are conflicts." in page
    assert f"In {name}, the worst of {len(found['totals'])} launches." in page
    bad, rest = page.split("<details class='rest'>")
    assert (bad.count("class='good'>ideal<"), rest.count("class='worse'")) == (0, 0)
    assert "(_128,_8)" not in page, "layouts without marks"
    assert bad.index(">T0<") < bad.index(">T1<") < bad.index(">T8<"), "lanes as they lie in the tile"
    assert "words of each of the 32 banks" in bad


NARROW = """
__global__ void k(half_t* out) {
  __shared__ float s[4096];
  Tensor sA = make_tensor(make_smem_ptr(s), Layout<Shape<_32, Shape<_16, _4>>, Stride<_4, Stride<_0, _1>>>{});
  auto column = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_32, _1>>{}, Layout<Shape<_1, _1>>{});
  Tensor src = column.get_slice(threadIdx.x).partition_S(sA);
  Tensor held = make_tensor<float>(src.layout());
  copy(column, src, held);
  copy(AutoVectorizingCopyWithAssumedAlignment<128>{}, src, held);
  Tensor gO = make_tensor(make_gmem_ptr(out), Layout<Shape<_16, _64>, Stride<_64, _1>>{});
  auto rows = make_tiled_copy(Copy_Atom<DefaultCopy, half_t>{}, Layout<Shape<_4, _8>, Stride<_8, _1>>{}, Layout<Shape<_1, _8>>{});
  Tensor part = rows.get_slice(threadIdx.x).partition_D(gO);
  copy(rows, make_tensor<half_t>(part.shape()), part);
}
int main() { k<<<1, 32>>>(nullptr); }
"""


def test_what_stays_at_one_place_is_copied_once_and_a_wider_copy_is_a_fix(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Of 64 floats 4 differ: so many calls of an atom, as g++ counts them. Stores of 2 bytes where 16 lie in a row."""
    path = tmp_path / "narrow.cu"
    path.write_text(NARROW, encoding="utf-8")
    with pytest.raises(SystemExit):
        cli.main(["analyze", str(path), "--json"])
    found = json.loads(capsys.readouterr().out)
    rows = {row["line"]: row for row in found["accesses"]}
    assert [(rows[line]["instructions"], rows[line]["wavefronts"], rows[line]["sectors"]) for line in (8, 9, 13)] == [
        (4, 16, None), (64, 256, None), (32, None, 512),
    ]  # fmt: skip
    assert "; 128 bits of a thread at once would take 4 wavefronts" in rows[8]["unfixed"]
    assert {one["tensors"][0]: one["registers"] for one in found["memory"]["registers"]} == {"held": 4, "unnamed": 16}
    assert rows[13]["unfixed"].startswith("128 bits of a thread at once would take 64 sectors (DefaultCopy assumes")
