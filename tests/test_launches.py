"""Launches of kernels: listed first, chosen by number or name, and what a project keeps of them; TTGIR as files."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest

import cute_viz.source.cpp.files
from cute_viz.algebra.transfer import Transfer
from cute_viz.analysis.transfer import cost_of
from cute_viz.cli import main
from cute_viz.errors import CuteVizError
from cute_viz.source.compiled.commands import is_allowed
from cute_viz.source.moves import Launch, chosen
from cute_viz.spec.project import project_of

KERNEL = """
using namespace cute;
enum class Mode { Read, Write };
template <class Smem>
__global__ void move(float const* in, Smem) {
  __shared__ float memory[4096];
  auto s = make_tensor(make_smem_ptr(memory), Smem{});
  auto part = local_partition(s, Layout<Shape<_32, _4>>{}, threadIdx.x);
  auto r = make_tensor<float>(shape(part));
  copy(part, r);
}
void base(float* p, int n, Mode mode) {
  if (mode == Mode::Read) {
    move<<<n / 32, 128>>>(p, Layout<Shape<_32, _64>, Stride<_64, _1>>{});
  } else {
    auto kernel = &move<Layout<Shape<_32, _64>>>;
    kernel<<<dim3(n, 2), 128>>>(p, Layout<Shape<_32, _64>>{});
  }
}
void write(float* p) { base(p, 64, Mode::Write); }
"""
READ = "void read(float* p) { base(p, 64, Mode::Read); }\n"
BOTH = KERNEL + READ


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([*argv])
    said = capsys.readouterr()
    return int(stop.value.code or 0), said.out, said.err


def rows(capsys: pytest.CaptureFixture[str], *argv: str) -> list[int]:
    code, out, err = run(capsys, "analyze", *argv, "--json")
    assert code == 0, err
    return sorted(row["wavefronts"] for row in json.loads(out)["accesses"])


def test_a_branch_that_no_call_takes_is_no_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL)
    assert rows(capsys, str(path)) == [64]  # columns, as `write` has it: no conflict
    path.write_text(BOTH)
    assert rows(capsys, str(path)) == [64, 2048]
    path.write_text(BOTH.replace("Mode::Read); }", "Mode(which())); }"))
    assert rows(capsys, str(path)) == [64, 64, 2048]  # what is unknown keeps both


def test_launches_are_listed_and_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.cu"
    path.write_text(BOTH)
    _, out, _ = run(capsys, "list", str(path))
    first, second, *_ = out.splitlines()
    assert first.split()[:4] == ["14", "move", "launch", "1"]
    assert "<<<n / 32, 128>>>" in first
    assert "<<<dim3(n, 2), 128>>>" in second
    listed = json.loads(run(capsys, "list", str(path), "--json")[1])
    assert [row["kind"] for row in listed[:2]] == ["launch 1", "launch 2"]
    assert rows(capsys, str(path), "--launch", "1") == [2048]
    assert rows(capsys, str(path), "--launch", "dim3(n, 2)") == [64]
    assert run(capsys, "eval", f"{path}::move::s", "--launch", "2")[1] == "(_32,_64):(_1,_32)\n"
    code, _, err = run(capsys, "analyze", str(path), "--launch", "3")
    assert code == 1
    assert "there is no launch '3'" in err
    assert "1 move" in err
    code, _, err = run(capsys, "analyze", str(path), "--launch", "move")
    assert (code, "2 launches are called 'move'" in err) == (1, True)
    short, long = (Launch(("n", name), "", "1", "32", 1) for name in ("k", "k_plain"))
    assert [chosen([long, short], word) for word in ("k", "n::k", "_p")] == [short, short, long]  # a whole name wins over a part


MACROS = """
#include "launch.h"
#ifndef BIN
#define GO(n) { k<n><<<1, 32>>>(a); }
void f(float* a) { CHECK(a) CHECK(a) constexpr int S = 2; GO(S) }
#else
#define GO(n, m) { dim3 block(m); k<(n)><<<1, block>>>(a); }
void g(float* a, int stages) {
  CHECK(a)
  constexpr int S = 32;
  switch (stages) { case 2: GO(S, 64); break; }
}
#endif
template <int S> __global__ void k(float* a) { __shared__ float s[4096]; s[threadIdx.x * S] = a[0]; }
"""


def test_macros_that_launch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each branch has its own macro of a name; a folder around the file that alone has what it includes is searched."""
    path = tmp_path / "src" / "k.cu"
    for folder in ("src", "utils", "docs"):
        (tmp_path / folder).mkdir()
    path.write_text(MACROS)
    (tmp_path / "utils" / "launch.h").write_text("#define CHECK(x) if (x == nullptr) { throw 1; }\n")
    assert rows(capsys, str(path)) == [2, 64]
    (tmp_path / "docs" / "launch.h").write_text("")  # two of them: neither is meant
    assert rows(capsys, str(path)) == []


def test_launches_of_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Several hosts of a file hold their kernel in variables of one name."""
    forms = [
        "auto kernel = k<%d>;\n  kernel<<<1, 32>>>(p, 5);",
        "auto* kernel = &k<%d>;\n  cudaLaunchKernelEx(&config, kernel, p, 7);",
        "cudaLaunchKernelEx(&config, k<%d>, p, 7);",
        "void const* kernel = (void const*) &k<%d>;\n  cutlass::launch_kernel_on_cluster({1, 2, 3}, kernel, p, 7);",
        "void* kernel = (void*)k<%d>;\n  cutlass::ClusterLauncher::launch(g, c, b, 0, nullptr, kernel, p, 1);",
        "k<%d><<<dim3(2), 32>>>(p, 1);",
        "void* args[] = {&p, &m};\n  cudaLaunchKernel((void*)k<%d>, dim3(3), 32, args, 0, 0);",
        "auto kernel = k<%d>;\n  void* args[2]{(void*)&p, (void*)(&m)};\n  cudaLaunchKernel((void*)kernel, dim3(3), 32, args);",
        "void* args[] = {&p, &m};\n  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(&k<%d>), dim3(3), 32, args);",
    ]
    hosts = "".join(f"void host{n}(float* p) {{\n  int m = 5;\n  {form % (8 << n)}\n}}\n" for n, form in enumerate(forms))
    hosts += "void last(int m) {\n  void* args[] = {&m};\n  cudaLaunchKernel((void*)plain, 1, 32, args, 0, 0);\n}\n"
    path = tmp_path / "forms.cu"
    kernel = "template <int N> __global__ void k(float* p, int n) {\n  auto s = cute::make_layout(cute::Int<N>{});\n"
    kernel += "  auto t = cute::make_layout(n);\n}\n"
    kernel += "__global__ void plain(int n) {\n  auto u = cute::make_layout(n);\n}\n"
    path.write_text(f"#include <cute/tensor.hpp>\n{kernel}{hosts}")
    code, out, err = run(capsys, "list", str(path), "--json")
    listed = [row for row in json.loads(out) if (row["kind"] or "").startswith("launch")]
    assert code == 0, err
    assert [row["brief"].split()[0].rstrip(",") for row in listed] == [*(f"<{8 << n}>" for n in range(len(forms))), "<<<1"]
    assert [row["brief"].partition(" ")[2] for row in listed[6:9]] == [f"<<<dim3(3), 32>>>, launched by host{n}" for n in (6, 7, 8)]
    assert [row["brief"].rpartition(", launched by ")[2] for row in listed[:9]] == [row["caller"] for row in listed[:9]]
    assert run(capsys, "eval", f"{path}::k::s", "--launch", "host2")[1] == "_32:_1\n"  # the function that launches it
    for n in ("7", "8", "9"):
        said = run(capsys, "list", str(path), "--launch", n, "--json")[1]
        assert [row["value"] for row in json.loads(said) if row["name"] == "t"] == ["5:_1"], n


@pytest.mark.parametrize(
    "body",
    [
        "auto go = [&](auto smem) { move<<<2, 128>>>(p, smem); }; go(Slow{}); go(Fast{});",
        "auto go = [&]<class S>(S) { move<<<2, 128>>>(p, S{}); }; go(Slow{}); go(Fast{});",
        "auto go = [&]<class S>() { auto k = &move<S>; k<<<2, 128>>>(p, S{}); };"
        "go.template operator()<Slow>(); go.operator()<Fast>();",
        "auto go = [p](auto k, auto s) { k<<<2, 128>>>(p, s); }; go(move<Slow>, Slow{}); go(move<Fast>, Fast{});",
        "auto go = [&](auto s) { auto in = [&](int n) { move<<<2, n>>>(p, s); }; in(128); }; go(Slow{}); if (p) { go(Fast{}); }",
    ],
)
def test_a_lambda_that_launches_has_rows_for_each_call(tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str) -> None:
    path = tmp_path / "k.cu"
    layouts = "using Slow = Layout<Shape<_32, _64>, Stride<_64, _1>>; using Fast = Layout<Shape<_32, _64>>;\n"
    path.write_text(f"{KERNEL[: KERNEL.index('void base')]}{layouts}void host(float* p) {{\n  {body}\n}}\n")
    assert rows(capsys, str(path)) == [64, 2048]


def test_list_binds_what_a_launch_gives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.cu"
    one = BOTH.replace("__global__ void", "__global__ static __launch_bounds__(decltype(size(Smem{}))::value) void")
    one = one[: one.index("  } else {")] + "  }\n}\n" + READ
    path.write_text(one)
    assert run(capsys, "eval", f"{path}::move::s")[1] == "(_32,_64):(_64,_1)\n"
    path.write_text(BOTH + "void other(float* p) { move<<<1, 128>>>(p, Layout<_8>{}); }\n")
    listed = json.loads(run(capsys, "list", str(path), "--json")[1])
    assert {row["value"] for row in listed if row["path"] == "other::move::s"} == {"_8:_1"}


def test_launches_of_the_dsl(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        "import cutlass.cute as cute\n@cute.jit\ndef host(a):\n    kernel(a).launch(grid=(4, 1, 1), block=[128, 1, 1])\n"
    )
    out = run(capsys, "list", str(path))[1]
    assert out.split(maxsplit=4) == ["4", "kernel", "launch", "1", "<<<(4, 1, 1), [128, 1, 1]>>>\n"]


class TestProject:
    def write(self, folder: Path, text: str, name: str = "cute-viz.yaml") -> str:
        (folder / ".git").mkdir(exist_ok=True)
        (folder / "src").mkdir(exist_ok=True)
        (folder / "src" / "k.cu").write_text(BOTH)
        (folder / name).write_text(text)
        return str(folder / "src" / "k.cu")

    def test_says_launches_and_values(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = self.write(tmp_path, "launches: {'src/*.cu': dim3}\nlet: {n: 64, other: 3}\n")
        assert rows(capsys, path) == [64]
        assert rows(capsys, path, "--launch", "1") == [2048]

    def test_in_pyproject(self, tmp_path: Path) -> None:
        pytest.importorskip("tomllib")
        path = self.write(tmp_path, "[tool.cute-viz]\nflags = '-DN=4 @more.txt'\n", "pyproject.toml")
        found = project_of(path)
        assert found.build is not None
        assert (found.build.flags, found.build.root) == ("-DN=4 @more.txt", str(tmp_path))

    def test_is_read_in_its_own_folder_only(self, tmp_path: Path) -> None:
        (tmp_path / "cute-viz.yaml").write_text("flags: -DX\n")
        inner = tmp_path / "clone"
        inner.mkdir()
        assert project_of(self.write(inner, "", "other.yaml")).build is None  # .git of the clone ends the search
        (tmp_path / "k.cu").write_text("")
        assert project_of(str(tmp_path / "k.cu")).path == str(tmp_path / "cute-viz.yaml")

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("build: ../elsewhere", "leads out of the folder"),
            ("run: make", "no field 'run'"),
            ("let: 4", "let must be a mapping"),
            ("flags: [-I, x]", "flags must be a text"),
            ("build: b\nflags: -I.", "exclude each other"),
            ("- 4", "not a mapping"),
        ],
    )
    def test_that_is_none(self, tmp_path: Path, text: str, why: str) -> None:
        with pytest.raises(CuteVizError, match=why):
            project_of(self.write(tmp_path, text))

    def test_reads_nothing_outside(self, tmp_path: Path) -> None:
        from cute_viz.source.address import Build
        from cute_viz.source.compiled.commands import unit_of

        own = str(tmp_path / "p")
        os.makedirs(own)
        build = Build(f"-Iinc -I{tmp_path} -include /etc/passwd -DX", None, None, own)
        assert unit_of(build, "k.cu")[1].words == ("-I", os.path.join(own, "inc"), "-D", "X")
        (tmp_path / "flags.txt").write_text("-DY")
        with pytest.raises(CuteVizError, match=r"leads out"):
            unit_of(Build("@../flags.txt", None, None, own), "k.cu")
        os.symlink("/etc", os.path.join(own, "link"))
        assert not is_allowed(os.path.join(own, "link", "passwd"), own)


HEADER = """#pragma once
#include <cute/tensor.hpp>
template <int kM, int kN, int kStages = 3, bool kTrans = false>
struct Traits {
  static_assert(kN == 128 || kN == 64);
  using Tile = Shape<Int<kM>, Int<kN>>;
  using SmemLayout = decltype(make_layout(make_shape(Int<kM>{}, Int<kN>{}, Int<kStages>{})));
};
template <class Tr, int kThreads, bool kCausal, typename T>
__global__ void kern(T const* g, int M, int N, int ld) {
  extern __shared__ char raw[];
  auto sA = make_tensor(make_smem_ptr(reinterpret_cast<T*>(raw)), typename Tr::SmemLayout{});
  auto gA = make_tensor(make_gmem_ptr(g), make_shape(M, N), make_stride(ld, _1{}));
  auto t = local_partition(sA(_, _, 0), Layout<Int<kThreads>>{}, threadIdx.x);
  auto tile = local_tile(gA, typename Tr::Tile{}, make_coord(blockIdx.x, 0));
  auto tg = local_partition(tile, Layout<Int<kThreads>>{}, threadIdx.x);
  auto r = make_fragment_like(t);
  copy(t, r);
  copy(tg, r);
}
"""
SCRIPT = """import cutlass
import cutlass.cute as cute
from typing import Type

class Kernel:
    def __init__(self, dtype: Type[cutlass.Numeric], stages: int, threads=256):
        self.dtype, self.stages, self.threads = dtype, stages, threads

    @cute.kernel
    def kernel(self, gA: cute.Tensor):
        tidx, _, _ = cute.arch.thread_idx()
        smem = cutlass.utils.SmemAllocator()
        sA = smem.allocate_tensor(self.dtype, cute.make_layout((64, 64, self.stages), stride=(64, 1, 4096)), 16)
        tA = cute.local_partition(sA[None, None, 0], cute.make_layout(self.threads), tidx)
        r = cute.make_fragment_like(tA)
        cute.autovec_copy(tA, r)
"""


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("k.cuh", HEADER, {"Tr": "type Traits<128, 128>", "kThreads": "int 128", "T": "type half_t"}),
        (
            "k.cuh",
            HEADER + "using Used = Traits<128, 64, 4>;",
            {"Tr": "type Traits<128, 64, 4>", "kThreads": "int 128", "T": "type half_t"},
        ),
        ("k.py", SCRIPT, {"stages": "int 3", "dtype": "Type[cutlass.Numeric] cutlass.Float16"}),
    ],
)
def test_all_values_are_asked_for_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, told: dict[str, str]
) -> None:
    """Typed, those too that are asked for once others are given, with candidates of the file; with them nothing is left."""
    (tmp_path / name).write_text(text)
    found = json.loads(run(capsys, "analyze", str(tmp_path / name), "--json")[1])["asked"]
    tries = {one["name"]: (one["candidates"] or [one["like"]])[0] for one in found}
    assert {one["name"]: f"{one['type']} {tries[one['name']]}" for one in found} == told
    together = run(capsys, "analyze", str(tmp_path / name))[1].partition("together: ")[2].partition(";")[0]
    report = json.loads(run(capsys, "analyze", str(tmp_path / name), *shlex.split(together), "--json")[1])
    assert report["unknown"] == report["asked"] == []
    assert report["accesses"]
    taken = {key: one["value"] for key, one in report["assumed"].items()}
    assert taken == ({"ld": "8192"} if name == "k.cuh" else {})  # a stride of global memory that nothing gives
    given = " ".join(f"--let {key}={value}" for key, value in taken.items())
    same = json.loads(run(capsys, "analyze", str(tmp_path / name), *shlex.split(f"{together} {given}"), "--json")[1])
    assert [{**row, "basis": None} for row in same["accesses"]] == [{**row, "basis": None} for row in report["accesses"]]
    (tmp_path / ".git").mkdir()
    (tmp_path / "cute-viz.yaml").write_text("let:\n" + "".join(f"  {key}: {value!r}\n" for key, value in tries.items()))
    assert json.loads(run(capsys, "analyze", str(tmp_path / name), "--json")[1])["asked"] == []


TTGIR = """
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#never = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:80"} {
  tt.func public @gemm(%arg0: !tt.ptr<f16>) {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<3x128x32xf16, #shared, #smem, mutable>
    %3 = ttg.async_copy_global_to_local %10, %2 : tensor<128x32x!tt.ptr<f16>, #blocked> -> <128x32xf16, #shared, #smem, mutable>
    %4 = ttg.local_load %2 : !ttg.memdesc<128x32xf16, #shared, #smem> -> tensor<128x32xf16, #a>
    %5 = ttg.local_load %2 : !ttg.memdesc<128x32xf16, #plain, #smem> -> tensor<128x32xf16, #a>
    %6 = tt.dot %4, %7, %8 : tensor<128x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<128x128xf32, #mma>
    %9 = ttg.convert_layout %6 : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #wide>
    ttg.local_store %9, %11 : tensor<128x128xf32, #wide> -> !ttg.memdesc<128x128xf32, #plain, #smem, mutable>
  }
}
"""


class TestTtgir:
    @pytest.mark.parametrize("name", ["k.ttgir", "k.mlir"])
    def test_no_encoding_vanishes(self, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
        path = tmp_path / name
        path.write_text(TTGIR)
        code, out, err = run(capsys, "list", str(path), "--json")
        assert (code, err) == (0, "")
        found = {row["name"]: row for row in json.loads(out)}
        assert {"blocked", "wide", "mma", "shared_3x128x32", "shared_128x32", "plain_128x32", "never"} <= set(found)
        assert found["shared_3x128x32"]["value"] == found["shared_128x32"]["value"] == "Sw<2,3,3> o 0 o (128,32):(32,1)"
        assert "needs the shape of its tensor" in found["never"]["error"]
        assert (found["blocked"]["line"], found["mma"]["line"]) == (2, 4)

    def test_what_moves_has_a_row(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "k.ttgir"
        path.write_text(TTGIR)
        report = json.loads(run(capsys, "analyze", str(path), "--json")[1])
        found = {
            row["line"]: (row["instruction"], row["instructions"], row["wavefronts"], row["ideal"]) for row in report["accesses"]
        }
        assert report["unknown"] == []
        assert found == {
            14: ("cp.async.128", 16, 64, 64),
            15: ("ldmatrix.x4", 32, 128, 128),
            16: ("ldmatrix.x4", 32, 512, 128),  # rows of 64 bytes without a swizzle: 4-way
            17: ("mma.m16n8k16", 256, None, None),
            18: ("st.shared + ld.shared", 256, None, None),
            19: ("st.shared.128", 128, 1024, 512),  # 16 of each 32 bytes: 2-way
        }
        code, _, err = run(capsys, "analyze", str(path), "--max-ways", "4")
        assert (code, err.splitlines()[0].partition("%9")[0]) == (1, "error: line 18: ttg.convert_layout %6 could not be evaluated")
        assert run(capsys, "analyze", str(path), "--max-ways", "4", "--accept", "18")[0] == 0
        (kept := tmp_path / "kept.json").write_text(json.dumps(report))
        assert run(capsys, "analyze", str(path), "--baseline", str(kept))[0] == 0

    def test_types_in_lines_of_their_own(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """As Triton's own tests of tcgen05 are written; 128 x 128 x 128 of f16 are 8 instructions there, too."""
        path = tmp_path / "k.ttgir"
        path.write_text(
            "#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>\n"
            "#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
            "#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>\n"
            'module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {\n  tt.func @f(%a: !tt.ptr<f16>) {\n'
            "    ttng.tc_gen5_mma %a, %b, %c, %acc, %pred, %barrier[%other] {is_async} :\n"
            "       !ttg.memdesc<128x128xf16, #shared, #ttg.shared_memory>,\n"
            "       !ttg.memdesc<128x128xf16, #shared, #ttg.shared_memory>,\n"
            "       !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>,\n"
            "       !ttg.memdesc<1xi64, #bar, #ttg.shared_memory>\n    tt.return\n  }\n}\n"
        )
        report = json.loads(run(capsys, "analyze", str(path), "--json")[1])
        assert report["unknown"] == []
        assert [(row["line"], row["instruction"], row["instructions"]) for row in report["accesses"]] == [(6, "tcgen05.mma", 8)]

    def test_what_amd_and_gluon_write(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Encodings that are decided later are none; an amd_wmma without a shape has 16 x 16 x 16; TDM copies boxes as TMA does."""
        path = tmp_path / "k.ttgir"
        dot = "tensor<32x32xf16, #ttg.dot_op<{{opIdx = {}, parent = #mma, kWidth = 16}}>>"
        path.write_text(
            "#mma = #ttg.amd_wmma<{version = 2, isTranspose = true, warpsPerCTA = [1, 1]}>\n"
            "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"
            'module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx1250"} {\n  tt.func @f() {\n'
            "    %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #gluon.auto_encoding>\n"
            f"    %1 = tt.dot %a, %b, %c : {dot.format(0)} * {dot.format(1)} -> tensor<32x32xf32, #mma>\n"
            "    %2 = amdg.async_tdm_copy_global_to_local %d[%i, %j] into %e, %p : !tt.tensordesc<tensor<16x64xf16, #shared>> -> "
            "!ttg.memdesc<16x64xf16, #shared, #smem, mutable>\n    tt.return\n  }\n}\n"
        )
        report = json.loads(run(capsys, "analyze", str(path), "--json")[1])
        assert report["unknown"] == []
        found = [(row["line"], row["instruction"], row["instructions"]) for row in report["accesses"]]
        assert found == [(6, "wmma.m16n16k16", 8), (7, "tdm_copy_global_to_local", 1)]

    def test_the_dialects_old_names(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "k.mlir"
        values = {}
        for text in (
            TTGIR,
            TTGIR.replace("ttg.", "triton_gpu.").replace("swizzled_shared", "shared").replace(", instrShape = [16, 8]", ""),
        ):
            path.write_text(text)
            code, out, _ = run(capsys, "list", str(path), "--json")
            report = json.loads(run(capsys, "analyze", str(path), "--json")[1])
            rows = [(row["line"], row["instruction"], row["wavefronts"]) for row in report["accesses"]]
            values[text] = code, {row["name"]: row["value"] for row in json.loads(out)}, rows, report["unknown"]
        assert values[TTGIR] == values[text]

    def test_widths(self) -> None:
        lanes = (8, 16, 32, 64, 128)
        assert cost_of(Transfer("load", 16, (1, 2, 4), lanes)).instruction == "ld.shared.128"
        assert cost_of(Transfer("load", 16, (1, 2, 4), lanes, paddings=((64, 4),))).instruction == "ld.shared.64"
        assert cost_of(Transfer("store", 8, (), (1, 2, 4, 8, 16))).instruction == "st.shared.8"
        trans = Transfer("load", 16, (64, 1024), (128, 256, 1, 2, 4), matrices=True)
        assert cost_of(trans).instruction == "ldmatrix.x2.trans"
        assert cost_of(Transfer("store", 16, (64, 1024), (128, 256, 1, 2, 4))).instruction == "st.shared.16"

    @pytest.mark.parametrize("arch", ["gfx90a", "gfx942"])
    def test_waves_of_amd(self, arch: str) -> None:
        """64 lanes, in the groups that AMD documents: 0..3 with 20..23 and so on; 16 rows of 64 bytes, 4 lanes each."""
        lanes = (32, 64, 128, 256, 8, 16)  # elements of 2 bytes: 16 rows, then 4 chunks of a row
        found = cost_of(Transfer("load", 16, (1, 2, 4), lanes, arch=arch))
        places = [64 * (lane % 16) + 16 * (lane // 16) for lane in range(64)]
        wavefronts = 0
        for half in (0, 32):
            for low, far in ((0, 20), (4, 16), (8, 28), (12, 24)):
                group = [half + low + n for n in range(4)] + [half + far + n for n in range(4)]
                banks = [(places[lane] // 4 + word) % 32 for lane in group for word in range(4)]
                wavefronts += max(banks.count(bank) for bank in banks)
        assert (found.instruction, found.instructions, found.wavefronts, found.ideal) == ("ds_read_b128", 1, wavefronts, 8)
        assert wavefronts > 8
        assert "as AMD documents" in found.why[0]

    @pytest.mark.parametrize(("kind", "arch", "words"), [("load", "gfx1201", "not known"), ("async", "gfx942", "not known")])
    def test_what_amd_does_not_document(self, kind: str, arch: str, words: str) -> None:
        with pytest.raises(CuteVizError, match=words):
            cost_of(Transfer(kind, 16, (1, 2, 4), (8, 16, 32, 64, 128), arch=arch))


def test_a_report_finds_launches_once(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """However many names it asks for: each time takes as long as the whole outline."""
    calls: list[object] = []
    found = cute_viz.source.cpp.files.launches
    monkeypatch.setattr(cute_viz.source.cpp.files, "launches", lambda *args: calls.append(args) or found(*args))
    copies = "".join(f"auto s{n} = make_tensor(make_smem_ptr(m + {8 * n}), Layout<_8>{{}}); copy(s{n}, r);\n" for n in range(4))
    body = f"__device__ void f() {{ auto r = make_tensor<float>(Int<8>{{}}); __shared__ float m[64];\n{copies}}}\n"
    for kernels in (2, 6):
        calls.clear()
        called = "".join(f"__global__ void k{n}() {{ f(); }}\n" for n in range(kernels))
        (tmp_path / "x.cu").write_text(f"{body}{called}void h() {{ {''.join(f'k{n}<<<1, 32>>>();' for n in range(kernels))} }}\n")
        code, out, _ = run(capsys, "analyze", str(tmp_path / "x.cu"), "--json")
        assert (code, len(json.loads(out)["memory"]["shared"])) == (0, 4 * kernels)
        assert len(calls) <= 3
