"""Kernels as compiled: flags of builds, types, units by libclang, what is kept of them, and reports without a value given."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cute_viz import kept
from cute_viz.cli import main
from cute_viz.errors import CuteVizError
from cute_viz.headers import cuda_headers, cute_headers
from cute_viz.live.page import fragment
from cute_viz.source.address import Build
from cute_viz.source.compiled import commands
from cute_viz.source.compiled.clang import words
from cute_viz.source.compiled.flags import Flags, flags
from cute_viz.source.compiled.meaning import Reached, UnitMeaning, frames
from cute_viz.source.compiled.unit import CallSite, Instance, Node, Unit, Variable, data_of, unit_from
from cute_viz.source.compiled.values import value_of
from cute_viz.spec.project import project_of

FLAGS = ("--flags", "-arch=sm_80")
KERNEL = """#include <cute/tensor.hpp>
#include "traits.h"
using namespace cute;
namespace mine {
template <class Layout, class Copy>
__device__ void store(Copy copy_, Layout layout, float* from, float* to) {
  auto s = make_tensor(make_smem_ptr(to), layout);
  auto g = make_tensor(make_gmem_ptr(from), Layout{});
  auto thr = copy_.get_slice(threadIdx.x);
  cute::copy(copy_, thr.partition_S(g), thr.partition_D(s));
}
}
template <class T, int N>
__global__ void kernel(float* from, int n) {
  __shared__ float to[4096];
  auto wide = make_layout(make_shape(n, Int<N>{}), make_stride(Int<N>{}, Int<1>{}));
  auto copy_ = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, typename T::Threads{}, Layout<Shape<_1, _1>>{});
  mine::store(copy_, Layout<Shape<_32, Int<N>>, Stride<Int<N>, _1>>{}, from, to);
}
template __global__ void kernel<Traits, 64>(float*, int);
void host(float* p, int n) {
  kernel<Traits, 32><<<1, 128>>>(p, n);
}
"""
TRAITS = """#pragma once
#include <cute/layout.hpp>
struct Traits {
  using Threads = cute::Layout<cute::Shape<cute::_32, cute::_4>>;
};
"""


WHOLE = """#include <cute/tensor.hpp>
#include <cute/atom/mma_atom.hpp>
using namespace cute;
struct Mine {};
namespace cute {
template <> struct MMA_Traits<Mine> {
  using ValTypeD = float; using ValTypeA = half_t; using ValTypeB = half_t; using ValTypeC = float;
  using Shape_MNK = Shape<_16, _8, _16>; using ThrID = Layout<_32>;
  using ALayout = Layout<Shape<Shape<_4, _8>, Shape<_2, _2, _2>>, Stride<Stride<_32, _1>, Stride<_16, _8, _128>>>;
  using BLayout = Layout<Shape<Shape<_4, _8>, Shape<_2, _2>>, Stride<Stride<_16, _1>, Stride<_8, _64>>>;
  using CLayout = SM80_16x8_Row;
};
}
template <int kD> struct Traits {
  static constexpr int kBlock = kD * 2;
  using NeverNamed = Layout<Shape<_8, Int<kBlock>>, Stride<Int<kBlock>, _1>>;
};
template <class Eng, class Lay> __device__ auto part(Tensor<Eng, Lay> const& t, int tid) {
  return local_partition(t, Layout<Shape<_32, _4>>{}, tid);
}
namespace inner {
template <class T> __global__ void kernel(float* from, int n) {
  __shared__ float to[32 * 64];
  auto s = make_tensor(make_smem_ptr(to), Layout<Shape<_32, _64>, Stride<_64, _1>>{});
  auto g = make_tensor(make_gmem_ptr(from), Layout<Shape<_32, _64>, Stride<_64, _1>>{});
  using Mma = TiledMMA<MMA_Atom<Mine>, Layout<Shape<_2, _2, _1>>>;
  auto ts = part(s, threadIdx.x);
  auto r = make_fragment_like(ts);
  auto body = [&](auto i) { copy(ts, r); };
  body(_0{});
  for_each(make_seq<2>{}, [&](auto i) { copy(r, part(g, threadIdx.x)); });
  auto never = [&]() { copy(r, ts); };
  auto column = make_tensor(make_smem_ptr(to), make_layout(make_shape(n, Int<4>{})));
  auto row = make_coord(threadIdx.x, _); copy(column(row), make_tensor<float>(Int<4>{}));
  if (!sizeof(T)) { body(_0{}); } else cooperative_copy<128>(threadIdx.x, g, s);
  copy(Copy_Traits<SM90_BULK_COPY_AUTO>{}.with(*(uint64_t*)to), g, s);
}
template __global__ void kernel<Traits<32>>(float*, int);
}
void host(float* p, int n) {
  auto k = &inner::kernel<Traits<64>>;
  k<<<dim3(n / 4, 2), 128>>>(p, n);
  auto bad = composition(Layout<Shape<_3, _5>, Stride<_5, _7>>{}, Layout<_5, _2>{});
}
"""


@pytest.fixture
def unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("clang", reason="pip install 'cute-viz[compiler]'")
    if cute_headers() is None or not cuda_headers():
        pytest.skip("no headers of CuTe or CUDA: pip install 'cute-viz[compiler]'")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "k.cu").write_text(KERNEL)
    (tmp_path / "traits.h").write_text(TRAITS)
    return tmp_path / "k.cu"


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([*argv])
    said = capsys.readouterr()
    return int(stop.value.code or 0), said.out, said.err


class TestFlags:
    @pytest.mark.parametrize(
        ("text", "expected", "arch"),
        [
            ("-gencode arch=compute_80,code=sm_80 -gencode=arch=compute_90a,code=[sm_90a,compute_90a]", (), "90a"),
            ("-arch=sm_100a -O3 -G --expt-relaxed-constexpr -Xcompiler -fPIC -ccbin g++", (), "100a"),
            ("--gpu-architecture sm_75 -lineinfo -o x.o -c", (), "75"),
            ("-DN=4 -D M -UX --std=c++20", ("-D", "N=4", "-D", "M", "-U", "X", "-std=c++20"), ""),
            ("-I include -isystem=/opt/x -Irel/../y", ("-I", "/src/include", "-isystem", "/opt/x", "-I", "/src/y"), ""),
            ("-include pre.h -Xcompiler=-Wall,-DNO -t 4 -MF x.d", ("-include", "/src/pre.h"), ""),
            ("-march=native --cuda-gpu-arch=sm_86", (), "86"),
        ],
    )
    def test_of_compilers(self, text: str, expected: tuple[str, ...], arch: str) -> None:
        assert flags(text, "/src") == Flags(expected, arch)

    def test_of_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "f.txt").write_text("-DA=1 '-DB=a b'")
        assert flags("@f.txt -DC", str(tmp_path)).words == ("-D", "A=1", "-D", "B=a b", "-D", "C")
        assert flags("--options-file f.txt", str(tmp_path)).words == ("-D", "A=1", "-D", "B=a b")
        (tmp_path / "loop.txt").write_text("@loop.txt -DX")
        assert "X" in flags("@loop.txt", str(tmp_path)).words  # ends

    @pytest.mark.parametrize("text", ["'-DA", "-I", "-D"])
    def test_that_are_none(self, text: str) -> None:
        with pytest.raises(CuteVizError):
            flags(text, "/")

    def test_newer_architectures_are_told_by_macros(self) -> None:
        said = list(words(Flags((), "100a")))
        assert "-D__CUDA_ARCH__=1000" in said
        assert "-DCUTLASS_ARCH_MMA_SM100_SUPPORTED=1" in said


class TestCommands:
    def write(self, folder: Path, rows: Any) -> str:
        (folder / "compile_commands.json").write_text(json.dumps(rows))
        return str(folder)

    def test_find_the_file(self, tmp_path: Path) -> None:
        command = "nvcc -arch=sm_80 -Iinc -c a.cu -o a.o"
        place = self.write(tmp_path, [{"directory": str(tmp_path), "command": command, "file": "a.cu"}])
        unit, found = commands.unit_of(Build(None, place), str(tmp_path / "a.cu"))
        assert (os.path.basename(unit), found) == ("a.cu", Flags(("-I", str(tmp_path / "inc")), "80"))

    def test_find_a_unit_that_includes_a_header(self, tmp_path: Path) -> None:
        (tmp_path / "a.cu").write_text("int a;")
        (tmp_path / "b.cu").write_text('#include "x/k.h"\n')
        rows = [{"directory": str(tmp_path), "arguments": ["nvcc", f"-DF={n}"], "file": f"{n}.cu"} for n in "ab"]
        unit, found = commands.unit_of(Build(None, self.write(tmp_path, rows)), str(tmp_path / "x" / "k.h"))
        assert (os.path.basename(unit), found.words) == ("b.cu", ("-D", "F=b"))
        with pytest.raises(CuteVizError, match=r"no command in compile_commands\.json compiles this file") as error:
            commands.unit_of(Build(None, str(tmp_path)), str(tmp_path / "other.h"))
        assert "a.cu, b.cu" in str(error.value.hint)

    @pytest.mark.parametrize("rows", [{}, [1], [{"file": 1}], [{"directory": "x"}]])
    def test_that_are_none(self, tmp_path: Path, rows: Any) -> None:
        with pytest.raises(CuteVizError, match=r"not a compile_commands\.json"):
            commands.unit_of(Build(None, self.write(tmp_path, rows)), "a.cu")


@pytest.mark.parametrize(
    ("type_", "space", "element", "printed"),
    [
        ("cute::Tensor<cute::ArrayEngine<float, 4>, cute::Layout<cute::C<4>, cute::C<1>>>", "rmem", "f32", "_4:_1"),
        (
            "const cute::Tensor<cute::ViewEngine<cute::gmem_ptr<const cutlass::half_t *>>, cute::Layout<cute::tuple<int, int>,"
            " cute::tuple<int, cute::C<1>>>> &",
            "gmem",
            "f16",
            "(?,?):(?,_1)",
        ),
        (
            "cute::Tensor<cute::ViewEngine<cute::swizzle_ptr<cute::Swizzle<3, 4, 3>, cute::smem_ptr<cutlass::half_t *>>>,"
            " cute::Layout<cute::tuple<cute::C<8>, cute::C<64>>, cute::tuple<cute::C<64>, cute::C<1>>>>",
            "smem",
            "f16",
            "(_8,_64):(_64,_1)",
        ),
        ("cute::Tensor<cute::ViewEngine<cute::tmem_ptr<float>>, cute::Layout<cute::C<8>>>", "tmem", "f32", "_8:_1"),
    ],
)
def test_types_of_tensors(type_: str, space: str, element: str, printed: str) -> None:
    value = value_of(type_.removeprefix("const ").rstrip("& "), None)
    assert (value.pointer.space, value.pointer.element, str(value)) == (space, element, printed)


def test_defaults_that_a_compiler_leaves_out() -> None:
    from cute_viz.spec import resolve

    assert str(value_of("cute::Layout<cute::tuple<cute::C<2>, cute::C<1>, cute::C<4>>>", None)) == "(_2,_1,_4):(_1,_0,_2)"
    threads = "cute::Layout<cute::tuple<cute::C<2>, cute::C<2>, cute::C<1>>>"
    mma = str(value_of(f"cute::TiledMMA<cute::MMA_Atom<cute::SM80_16x8x16_F32F16F16F32_TN>, {threads}>", resolve))
    assert mma.splitlines()[1:3] == ["  ThrLayoutVMNK:  (_32,_2,_2,_1):(_1,_32,_64,_0)", "  PermutationMNK: (_,_,_)"]


def test_types_of_a_sparse_mma_and_of_strides_that_users_define() -> None:
    flag = "cute::smem_sparse_ptr_flag_bits<2, 16>"
    atom = "cute::Layout<cute::tuple<cute::C<8>, cute::C<2>>, cute::tuple<cute::C<2>, cute::C<1>>>"
    assert str(value_of(f"cute::ComposedLayout<cute::Swizzle<3, 4>, {flag}, {atom}>", None)) == (
        "Sw<3,4,3> o smem_sparse<2>_ptr[16b](unset) o (_8,_2):(_2,_1)"
    )
    strides = "cute::tuple<cute::ScaledBasis<cute::R<1, 2>, 0>, cute::ScaledBasis<int, 1>>"
    assert str(value_of(f"cute::Layout<cute::tuple<cute::C<4>, int>, {strides}>", None)) == "(_4,?):(_1/_2@0,?@1)"
    own = "mine::CustomStride<mine::Gather<unsigned int>, cute::C<64>>"
    outer = f"cute::Layout<cute::tuple<cute::C<1>, cute::C<1>>, cute::tuple<{own}, cute::C<1>>>"
    bases = "cute::tuple<cute::ScaledBasis<cute::C<9>, 0>, cute::ScaledBasis<cute::C<1>, 1>>"
    inner = f"cute::Layout<cute::tuple<int, cute::C<4>>, {bases}>"
    gathered = value_of(f"cute::ComposedLayout<{outer}, cute::ArithmeticTuple<int, cute::C<0U>>, {inner}>", None)
    assert str(gathered) == "(_1,_1):(?,_1) o (?,_0) o (?,_4):(_9@0,_1@1)"
    stored = "cute::sparse_ptr<2, cute::sparse_elem<2, cutlass::half_t> *>"
    tensor = value_of(
        f"cute::Tensor<cute::ViewEngine<cute::swizzle_ptr<cute::Swizzle<3, 4>, cute::smem_ptr<{stored}>>>, {atom}>", None
    )
    assert (tensor.pointer.space, str(tensor.pointer.swizzle), tensor.bits) == ("smem", "Sw<3,4,3>", 8)


def test_a_zipped_tensor_multiplies_as_its_data() -> None:
    from cute_viz.spec import resolve

    bits = "cutlass::integer_subbyte<4, false>"
    layouts = ", ".join(
        f"cute::Layout<cute::tuple<cute::C<{n}>, cute::C<2>>, cute::tuple<cute::C<1>, cute::C<{n}>>>" for n in (8, 4)
    )
    registers = f"cute::Tensor<cute::ArrayEngine<{bits}, 16>, {layouts.partition(', cute::Layout')[0]}>"
    zipped = f"cute::ViewEngine<cute::ZipIterator<cute::subbyte_iterator<{bits}>, cutlass::float_ue4m3_t *>>"
    node = Node(
        "call", "make_zip_tensor", 3, f"cute::Tensor<{zipped}, cute::ZipLayout<{layouts}>>", (Node("ref", "a", 2, registers),)
    )
    found = UnitMeaning(Unit((Instance(("k",), (), True, ()),), (), ()), resolve, {}).operand(Reached(0), node)
    assert (str(found.layout), found.pointer.element, found.bits) == ("(_8,_2):(_1,_8)", "u4", 4)


def test_a_copy_without_the_argument_that_is_its_default() -> None:
    from cute_viz.spec import resolve

    unit = Unit((Instance(("k",), (), True, ()),), (), ())
    auto = [UnitMeaning(unit, resolve, {}).object(f"cute::AutoVectorizingCopyWithAssumedAlignment<{n}>") for n in ("", "128", "64")]
    assert auto[0] == auto[1] != auto[2]


def test_a_copy_of_so_many_bits() -> None:
    from cute_viz.spec import resolve

    traits = "cute::Copy_Traits<cute::SM90_TMA_LOAD_OP, cute::C<131072>, cute::Other<cute::C<1>>>"
    atom = value_of(f"cute::Copy_Atom<{traits}, cutlass::half_t>", resolve)
    assert str(atom.layout_src) == "(_1,_8192):(_0,_1)"
    assert value_of("cute::Copy_Traits<cute::SM80_CP_ASYNC_CACHEGLOBAL<cutlass::uint128_t>>", resolve) is not None


TILE = "cute::Layout<cute::tuple<cute::C<32>, cute::C<32>>, cute::tuple<cute::C<32>, cute::C<1>>>"
SHARED = f"cute::Tensor<cute::ViewEngine<cute::smem_ptr<float *>>, {TILE}>"
THREADS = "cute::Layout<cute::tuple<cute::C<32>, cute::C<4>>, cute::tuple<cute::C<1>, cute::C<32>>>"
PART = "cute::Layout<cute::tuple<cute::C<1>, cute::C<8>>, cute::tuple<cute::C<0>, cute::C<4>>>"


def hand_made(part: str = PART) -> Unit:
    """A unit whose kernel hands a tensor of shared memory to a function, which takes a part of it."""
    tensor = Node("ref", "s", 3, SHARED)
    threads = Node("ref", "t", 4, THREADS)
    type_ = f"cute::Tensor<cute::ViewEngine<cute::smem_ptr<float *>>, {part}>"
    whole = Node("call", "make_tensor", 3, SHARED, (Node("", "", 0, ""), Node("", "p", 0, "float *")))
    divided = Node(
        "call", "local_partition", 5, type_, (Node("", "", 0, ""), Node("ref", "x", 2, SHARED), threads, Node("", "", 0, "int"))
    )
    kernel = Instance(
        ("kernel",), (), True, (Variable("s", "k.cu", 3, SHARED, "var", whole),), (), (CallSite("f", "k.cu", 9, (tensor,), 1),)
    )
    inner = Instance(
        ("f",),
        (),
        False,
        (Variable("x", "k.cu", 2, SHARED, "param"),),
        (CallSite("cute::copy", "k.cu", 6, (divided, divided)),),
    )
    return Unit((kernel, inner), (), ())


def test_a_part_is_followed_through_calls() -> None:
    unit = hand_made()
    meaning = UnitMeaning(unit, None, {})
    outer, inner = frames(unit)
    assert (outer.number, inner.number, inner.lines(unit)) == (0, 1, (9,))
    found = meaning.operand(inner, unit.instances[1].calls[0].args[0])
    assert (found.name, found.pointer.base, found.pointer.space, str(found.layout)) == ("s", "?s", "smem", "(_1,_8):(_0,_4)")
    assert found.starts[:5] == (0, 32, 64, 96, 128)


def test_what_is_not_the_compilers_type_is_a_mistake() -> None:
    unit = hand_made(PART.replace("cute::C<4>", "cute::C<5>"))
    inner = list(frames(unit))[1]
    error = UnitMeaning(unit, None, {}).operand(inner, unit.instances[1].calls[0].args[0])
    assert isinstance(error, CuteVizError)
    assert "a mistake in cute-viz" in error.message


def test_what_is_kept_is_what_was_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    header = tmp_path / "x.h"
    header.write_text("int x;")
    unit = Unit(hand_made().instances, (("k.cu", 1, "why"),), (str(header),))
    kept.keep("key", data_of(unit), unit.files)
    assert unit_from(kept.found("key")) == unit
    header.write_text("int y;")  # as long as before
    assert kept.found("key") is None
    (tmp_path / "cute-viz" / "compiled" / "key.json.gz").write_bytes(b"no archive")
    assert kept.found("key") is None
    os.chmod(tmp_path / "cute-viz" / "compiled", 0o777)
    kept.keep("other", data_of(unit), unit.files)
    assert kept.found("other") is None  # others may write there


@pytest.mark.oracle
class TestUnits:
    def test_every_command_reads_a_unit(
        self, unit: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        code, out, _ = run(capsys, "list", str(unit), "--flags", "-arch=sm_80", "--json")
        rows = json.loads(out)
        assert code == 0
        wide = {row["value"] for row in rows if row["name"] == "wide"}
        assert wide == {"(?,_32):(_32,_1)", "(?,_64):(_64,_1)"}
        threads = next(row for row in rows if row["name"] == "Threads")
        assert (threads["path"], threads["line"], threads["file"]) == ("Traits::Threads", 4, "traits.h")
        assert {row["value"] for row in rows if row["path"].startswith("mine::store<") and row["name"] == "s"} == {
            "(_32,_32):(_32,_1)",
            "(_32,_64):(_64,_1)",
        }
        code, out, _ = run(capsys, "analyze", str(unit), "--flags", "-arch=sm_80", "--json")
        report = json.loads(out)
        assert (code, report["unknown"]) == (0, [])
        stores = sorted(row["wavefronts"] for row in report["accesses"] if row["instruction"] == "st.shared.32")
        assert stores == [32 * 32, 64 * 32]  # a column of a row-major tile, a row of 128 or 256 bytes: 32-way
        monkeypatch.setattr("cute_viz.source.compiled.parse", None)  # the unit is kept
        told = run(capsys, "analyze", str(unit), *FLAGS)
        with monkeypatch.context() as nothing:
            nothing.setattr("cute_viz.cli.analyze.ask", None)  # and what was said of it
            assert run(capsys, "analyze", str(unit), *FLAGS) == told
            for more in (("--all",), ("--let", "M=4"), ("--launch", "1")):
                with pytest.raises(TypeError):
                    run(capsys, "analyze", str(unit), *FLAGS, *more)
            (unit.parent / "cute-viz.yaml").write_text("let: {n: 64}")  # the project says more
            with pytest.raises(TypeError):
                run(capsys, "analyze", str(unit), *FLAGS)
            (unit.parent / "cute-viz.yaml").unlink()
            assert run(capsys, "analyze", str(unit), *FLAGS) == told
            (unit.parent / "traits.h").write_text(TRAITS.replace("_32", "_64"))
            with pytest.raises(TypeError):
                run(capsys, "analyze", str(unit), *FLAGS)
        (unit.parent / "traits.h").write_text(TRAITS)
        code, out, _ = run(capsys, "eval", f"{unit}::Threads", "--flags", "-arch=sm_80")
        assert (code, out) == (0, "(_32,_4):(_1,_32)\n")

    def test_what_an_extension_of_python_calls_is_read(self, unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Without PyTorch and cuBLAS, whose headers it includes."""
        unit.write_text(
            "#include <cute/tensor.hpp>\n#include <cublas_v2.h>\n#include <torch/types.h>\nusing namespace cute;\n"
            "#ifdef __CUDACC__\ntemplate <int N> __global__ void k(float* p) {\n"
            "  auto s = make_tensor(make_smem_ptr(p), Layout<Shape<_32, Int<N>>>{});\n}\n#endif\n"
            "template <int N> torch::Tensor run(torch::Tensor a) {\n  cublasHandle_t handle; cublasCreate(&handle);\n"
            "  auto c = torch::zeros({N, 4}, torch::TensorOptions().dtype(torch::kFloat).device(torch::kCUDA));\n"
            "  if (a.sizes() != torch::IntArrayRef({N, 4})) throw 1;\n  k<N><<<1, 32>>>(c.data_ptr<float>());\n  return c;\n}\n"
            'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run<8>, py::arg("a")); }\n'
        )
        code, out, err = run(capsys, "list", str(unit), *FLAGS, "--json")
        assert (code, err) == (0, "")
        assert [row["value"] for row in json.loads(out) if row["name"] == "s"] == ["(_32,_8):(_1,_32)"]

    def test_a_tensor_is_drawn_as_its_layout(self, unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """In the width of its elements, as the text's own reader draws it."""
        unit.write_text(
            "#include <cute/tensor.hpp>\nusing namespace cute;\n__global__ void k() {\n  __shared__ half_t p[512];\n"
            "  auto plain = Layout<Shape<_8, _64>, Stride<_64, _1>>{};\n"
            "  auto s = make_tensor(make_smem_ptr(p), composition(Swizzle<3, 3, 3>{}, plain));\n}\n"
            "void f() { k<<<1, 32>>>(); }\n"
        )
        for name, more in (("written", ()), ("compiled", FLAGS)):
            assert run(capsys, "render", f"{unit}::s", "-o", str(unit.parent / f"{name}.svg"), *more)[0] == 0
        assert (unit.parent / "written.svg").read_bytes() == (unit.parent / "compiled.svg").read_bytes()

    def test_a_zoom_has_the_tile_and_the_launch(self, unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """The tile and its K are the compiler's; the grid is the text's, as the extents of C are a run's."""
        unit.write_text(
            "#include <cute/tensor.hpp>\n#include <cute/atom/mma_atom.hpp>\nusing namespace cute;\n"
            "template <class Tiler, class Mma> __global__ void gemm(Tiler tiler, Mma mma, int m, int n, float* c) {\n"
            "  auto mC = make_tensor(make_gmem_ptr(c), make_shape(m, n), make_stride(_1{}, m));\n"
            "  auto mA = make_tensor(make_gmem_ptr(c), make_shape(m, 512), make_stride(_1{}, m));\n"
            "  auto gC = local_tile(mC, tiler, make_coord(blockIdx.x, blockIdx.y, _), Step<_1, _1, X>{});\n"
            "  auto gA = local_tile(mA, tiler, make_coord(blockIdx.x, blockIdx.y, _), Step<_1, X, _1>{});\n"
            "  auto thr_mma = mma.get_slice(threadIdx.x);\n}\n"
            "void f() {\n  auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2>>{});\n"
            "  gemm<<<dim3(4, 3), 128>>>(Shape<_64, _128, _32>{}, mma, 256, 384, nullptr);\n}\n"
        )
        drawn = []
        for more in ((), FLAGS):
            words = ("render", f"{unit}::thr_mma", "--launch", "1", "--view", "zoom", "-o", str(unit.parent / "zoom.json"), *more)
            assert run(capsys, *words)[0] == 0
            drawn.append(json.loads((unit.parent / "zoom.json").read_text()))
        assert drawn[0] == drawn[1]
        assert drawn[1]["caption"].startswith("4x3 CTAs of 64x128x32 = 2x2 warps of 32x64 = 2x8 atoms of 16x8")

    def test_a_page_follows_a_unit(self, unit: Path, tmp_path: Path) -> None:
        """Each version that is saved is compiled before the page hears of it, so that no question waits for the compiler."""
        words = [sys.executable, "-m", "cute_viz", "serve", "--port", "0", "--no-browser", str(unit), *FLAGS, "--launch", "2"]
        running = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        try:
            assert running.stderr is not None
            found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)(#z\S+)\n", running.stderr.readline())
            assert found
            assert found[3] == fragment({"launch": "2", "file": True})
            assert len(list((tmp_path / "cache" / "cute-viz" / "compiled").iterdir())) == 1

            def ask(kind: str, **more: str | bool) -> dict[str, Any]:
                connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=60)
                given = {"Content-Type": "application/json", "Cookie": f"cute-viz-{found[1]}={found[2]}"}
                connection.request("POST", "/ask", json.dumps({"ask": kind, "file": True, **more}), given)
                answer: dict[str, Any] = json.loads(connection.getresponse().read())
                connection.close()
                return answer

            listed = ask("objects")
            assert listed["compiled"] is True
            assert {row["value"] for row in listed["objects"] if row["name"] == "wide"} == {"(?,_32):(_32,_1)", "(?,_64):(_64,_1)"}
            assert sorted(
                row["wavefronts"] for row in ask("report", quick=True)["accesses"] if row["instruction"] == "st.shared.32"
            ) == [
                32 * 32,
                64 * 32,
            ]
            assert ask("copy", **{"as": "command"})["text"] == f"cute-viz render {unit} --flags -arch=sm_80"
            assert "flags" in ask("copy", **{"as": "spec"})["error"]["message"]
            unit.write_text(KERNEL.replace("Traits, 32", "Traits, 16"))
            until = time.monotonic() + 60
            while time.monotonic() < until and (rows := ask("objects")["objects"]):
                if any(row["value"] == "(?,_16):(_16,_1)" for row in rows):
                    break
                time.sleep(0.2)
            else:
                pytest.fail("the page does not have what was saved")
            assert len(list((tmp_path / "cache" / "cute-viz" / "compiled").iterdir())) == 2
        finally:
            running.send_signal(signal.SIGINT)
            _, err = running.communicate(timeout=20)
        assert (running.returncode, err) == (0, "")

    def test_what_a_unit_has(self, unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
        unit.write_text(WHOLE)
        code, out, err = run(capsys, "list", str(unit), "--flags", "-arch=sm_80", "--json")
        rows = json.loads(out)
        assert code == 0
        assert "k.cu:43: CuTe refuses this: Shape Divisibility Condition" in err
        assert "k.cu:43: composition((_3,_5):(_5,_7), _5:_2): " in err  # why, in our words
        assert {row["value"] for row in rows if row["name"] == "NeverNamed"} == {"(_8,_64):(_64,_1)", "(_8,_128):(_128,_1)"}
        assert next(row for row in rows if row["name"] == "Mma")["brief"] == "Mine, 128 threads, tile 32x16x16"
        assert [(row["line"], row["brief"]) for row in rows if row["kind"].startswith("launch")] == [
            (38, "<T=Traits<32>>"),
            (41, "<T=Traits<64>> <<<dim3(n / 4, 2), 128>>>"),
        ]
        code, out, _ = run(capsys, "analyze", str(unit), "--flags", "-arch=sm_80", "--launch", "Traits<64>", "--json")
        report = json.loads(out)
        found = sorted((row["line"], row["instruction"], row["wavefronts"]) for row in report["accesses"])
        assert (code, report["unknown"]) == (0, [])
        assert found == [
            (29, "ld.shared.32", 2048),  # in a lambda, of a part that a function gives back
            (31, "st.global.32", None),  # in a lambda that for_each calls
            (32, "st.shared.32", 2048),
            (34, "ld.shared.32", None),  # which row a thread reads is known at run time only
            (35, "ld.global.32", None),  # and nothing is called in the branch that never runs
            (35, "st.shared.32", 64),
            (36, "SM90_BULK_COPY_AUTO", None),
        ]
        bulk = next(row for row in report["accesses"] if row["line"] == 36)
        assert bulk["reasons"][0].startswith("SM90_BULK_COPY_AUTO: one thread copies")

    def test_a_binary_names_instances(self, unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
        symbol = "void a::k<float, 64, true>(float*, a::P)"
        (unit.parent / "names.txt").write_text(f"0000000000000010 T main\n0000000000000000 W {symbol}\n")
        kernel = "namespace a { struct P {}; template <class T, int N, bool B>\n"
        kernel += "__global__ void k(T* p, P) { auto s = cute::Layout<cute::C<N>>{}; } }"
        unit.write_text(f"#include <cute/tensor.hpp>\n{kernel}\n")
        names = ("--instances", str(unit.parent / "names.txt"))
        code, out, _ = run(capsys, "list", str(unit), "--flags", "-arch=sm_80", *names)
        assert code == 0
        assert [line.split() for line in out.splitlines()] == [["3", "a::k", "launch", "1"], ["3", "a::k::s", "layout", "_64:_1"]]
        if shutil.which("g++") is None or shutil.which("nm") is None:
            pytest.skip("no g++ or nm, which make and read a binary")
        host = "namespace a { struct P {}; template <class T, int N, bool B> void k(T*, P) {}\n"
        host += "template void k<float, 64, true>(float*, P); }"
        made = unit.parent / "k.o"
        subprocess.run(["g++", "-x", "c++", "-c", "-", "-o", str(made)], input=host, text=True, check=True)
        code, again, _ = run(capsys, "list", str(unit), "--flags", "-arch=sm_80", "--instances", str(made))
        assert (code, again) == (0, out)
        made.write_bytes(b"\x7fELF, and no more")
        code, _, err = run(capsys, "list", str(unit), "--flags", "-arch=sm_80", "--instances", str(made))
        assert (code, "nm finds no symbols in this binary" in err) == (1, True)

    def test_words_that_nvcc_does_without_are_added(self, unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
        unit.write_text(
            "#include <cute/tensor.hpp>\nusing namespace cute;\n"
            "struct Sum { template <bool First, class T> __device__ void add(T const& t) { copy(t, make_fragment_like(t)); } };\n"
            "struct Traits { using Rows = _8; };\n"
            "template <class Rows, class A> __device__ void body(A& a, float* p) {\n"
            "  auto s = make_tensor(make_smem_ptr(p), Layout<Shape<Rows, _4>>{});\n  a.add<true>(s);\n}\n"
            "template <class T, class A> __global__ void kernel(float* p) {\n  A a;\n  body<T::Rows>(a, p);\n}\n"
            "void host(float* p) { kernel<Traits, Sum><<<1, 32>>>(p); }\n"
        )
        code, out, err = run(capsys, "analyze", str(unit), "--flags", "-arch=sm_80", "--json")
        assert (code, err) == (0, "")
        assert [(row["line"], row["elements"]) for row in json.loads(out)["accesses"]] == [(3, 32)]

    def test_what_tells_the_types_of_aliases_changes_no_class(self, unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
        unit.write_text(
            "#include <cute/tensor.hpp>\n#include <type_traits>\n"
            "template <class T> struct Small { char a; using L = cute::Layout<T>; char b; };\n"
            "template <class T> struct Empty {\n  using L = decltype(cute::make_layout(\n    T{},  // {\n"
            "    cute::GenRowMajor{}));\n"
            "#if 0\n  struct Inner {\n#else\n  class Inner {\n#endif\n  typedef cute::Layout<T, cute::C<2>> M; };\n"
            "  Inner inner; };\n"
            "template <class T> struct Bits { unsigned a : 3; using L = cute::Layout<T>; };\n"
            "using S = Small<cute::C<4>>; using E = Empty<cute::C<8>>;\n"
            "static_assert(sizeof(S) == 2 && alignof(S) == 1 && std::is_aggregate_v<S> && std::is_standard_layout_v<S>);\n"
            "static_assert(std::is_empty_v<decltype(E::inner)> && sizeof(Bits<cute::C<4>>) == 4);\n"
            "__global__ void k(S s, E e) { auto [a, b] = S{1, 2}; }\nvoid host() { k<<<1, 1>>>(S{'a', 'b'}, E{}); }\n"
        )
        code, out, err = run(capsys, "list", str(unit), "--flags", "-arch=sm_80", "--json")
        assert (code, err) == (0, "")
        found = {(row["line"], row["path"], row["value"]) for row in json.loads(out)}
        assert {(3, "Small::L", "_4:_1"), (5, "Empty::L", "_8:_1"), (13, "Empty::Inner::M", "_8:_2")} <= found

    def test_a_macro_instantiates(self, unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
        body = "template <class T, int N> void run(T* p) { auto s = cute::Layout<cute::C<N>>{}; }\n"
        macro = "#define INST(T, N) \\\n  template void \\\n  run<T, N>(T* p)\n#define OTHER(x) (x)\n"
        unit.write_text(f"#include <cute/layout.hpp>\n{body}{macro}INST(float, 32);\n// INST(int, 8);\nINST(cute::half_t, 64);\n")
        code, out, _ = run(capsys, "list", str(unit), "--flags", "-arch=sm_80", "--json")
        assert (code, [row["value"] for row in json.loads(out)]) == (0, ["_32:_1", "_64:_1"])

    def test_a_header_is_read_through_a_unit(self, unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
        rows = [{"directory": str(unit.parent), "command": "nvcc -arch=sm_80 -c k.cu", "file": "k.cu"}]
        (unit.parent / "compile_commands.json").write_text(json.dumps(rows))
        code, out, _ = run(capsys, "eval", str(unit.parent / "traits.h"), "-p", str(unit.parent), "--name", "Threads")
        assert (code, out) == (0, "(_32,_4):(_1,_32)\n")

    @pytest.mark.parametrize(
        ("text", "limits", "why"),
        [
            ('#include "pipe"\n', (), "for a file that does not come"),
            ('#include "/dev/zero"\n', ("unit-memory=100000000",), "libclang"),  # it may refuse a file of 2 GB before
            (
                "".join(f"#define A{n + 1} A{n} A{n} A{n} A{n}\n" for n in range(20)) + "#define A0 int x;\nA20\n",
                ("unit-seconds=1",),
                "more than 1 second",
            ),
            ("template <class T> struct P : P<P<T>> {}; P<int> p;\n" + "(" * 400_000, ("unit-seconds=60",), "k.cu"),
        ],
        ids=("a pipe", "a device", "macros", "nested deeply"),
    )
    def test_what_never_ends_is_one_line(
        self,
        unit: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        text: str,
        limits: tuple[str, ...],
        why: str,
    ) -> None:
        if "pipe" in text:  # a busy machine lets others wait that long
            monkeypatch.setattr("cute_viz.source.compiled.apart.PATIENCE", 1.0)
        os.mkfifo(unit.parent / "pipe")
        unit.write_text(text)
        options = [word for one in limits for word in ("--limit", one)]
        code, out, err = run(capsys, *options, "list", str(unit), "--flags", "-arch=sm_80")
        assert (code, out) == (1, "")
        assert why in err
        assert "Traceback" not in err
        assert err.count("error: ") == 1

    def test_a_project_has_no_plugin_run(self, unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """What the flags of a stranger's project ask of a compiler beyond folders, macros and the standard is left out."""
        hostile = "-fplugin=./x.so -Xclang -load -Xclang ./x.so -load ./x.so --config=x -ivfsoverlay x -o out -U -fplugin=x"
        (unit.parent / ".git").mkdir()
        (unit.parent / "cute-viz.yaml").write_text(f"flags: {hostile} -arch=sm_80 -include /etc/hostname -I/etc\n")
        found = project_of(str(unit)).build
        assert found is not None
        assert commands.unit_of(found, str(unit))[1] == Flags(("-U", "-fplugin=x"), "80")  # the value of -U
        code, out, _ = run(capsys, "eval", f"{unit}::Threads")
        assert (code, out) == (0, "(_32,_4):(_1,_32)\n")
        assert not (unit.parent / "out").exists()

    def test_the_compilers_errors_are_told(self, unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
        unit.write_text("int f() { return x; }\n")
        code, _, err = run(capsys, "list", str(unit), "--flags", "-arch=sm_80")
        assert code == 1
        assert "k.cu:1: use of undeclared identifier 'x'" in err
        unit.write_text("#include <cute/layout.hpp>\n#include <nowhere.h>\nauto s = cute::Layout<cute::C<4>>{};\n")
        code, _, err = run(capsys, "analyze", str(unit), "--flags", "-arch=sm_80")
        assert code == 1
        assert "k.cu:2: 'nowhere.h' file not found" in err


def test_without_libclang_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "clang", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "k.cu").write_text("int x;\n")
    code, out, err = run(capsys, "list", str(tmp_path / "k.cu"), "--flags", "-arch=sm_80")
    assert (code, out) == (1, "")
    assert "pip install 'cute-viz[compiler]'" in err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize("words", ["flags: '@pipe'", "build: pipe", "build: .", "flags: -DX\nthrough: pipe"])
def test_a_pipe_that_a_project_names_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: str) -> None:
    for name in ("pipe", "compile_commands.json"):
        os.mkfifo(tmp_path / name)
    (tmp_path / ".git").mkdir()
    (tmp_path / "k.cu").write_text("int x;\n")
    (tmp_path / "cute-viz.yaml").write_text(f"{words}\n")
    code, out, err = run(capsys, "list", str(tmp_path / "k.cu"))
    assert (code, out) == (1, "")
    assert "this is a pipe or a device, not a file" in err


def test_flags_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "list", "k.cu", "--flags", "-DX", "-p", ".")[0] == 2
    assert run(capsys, "list", "k.cu", "--through", "x.cu")[0] == 2
    assert run(capsys, "list", "mma", "--flags", "-DX")[0] == 2
