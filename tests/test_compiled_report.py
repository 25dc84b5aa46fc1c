"""Reports of kernels that a compiler reads: fixes as edits of definitions, after which the unit was compiled again; loops."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cute_viz.cli import main
from cute_viz.headers import cuda_headers, cute_headers
from cute_viz.source import compiled
from tests.test_kernel_loops import CHOICES, HEAD, body, runs_of
from tests.test_kernel_mistakes import KERNEL as KERNEL_OF_MISTAKES

pytest.importorskip("clang", reason="pip install 'cute-viz[compiler]'")
_HEADERS = pytest.mark.skipif(cute_headers() is None or not cuda_headers(), reason="pip install 'cute-viz[compiler]'")
pytestmark = [pytest.mark.oracle, _HEADERS]

KERNEL = """#include <cute/tensor.hpp>
#include "traits.h"
using namespace cute;
struct Storage { alignas(128) float v[4096]; float o[4096]; };
template <class T, class View>
__device__ void store(View sV, int tid) {
  auto part = local_partition(sV, Layout<Shape<_1, _32>>{}, tid);
  copy(make_fragment_like(part), part);
}
template <class T>
__global__ void kernel() {
  extern __shared__ char raw[];
  Storage& storage = *reinterpret_cast<Storage*>(raw);
  auto sV = make_tensor(make_smem_ptr(storage.v), typename T::Smem{});
  store<T>(sV, threadIdx.x);
  auto sVt = make_tensor(%s, typename T::Read{});
  auto single = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_32, _1>>{}, Layout<Shape<_1, _1>>{});
  auto columns = single.get_slice(threadIdx.x).partition_S(sVt);
  copy(single, columns, make_fragment_like(columns));
  %s
}
void host() { kernel<Traits<32>><<<1, 32>>>(); }
"""
TRAITS = """#pragma once
#include <cute/layout.hpp>
template <int N> struct Traits {
  using Smem = cute::Layout<cute::Shape<cute::_32, cute::Int<N>>, cute::Stride<cute::Int<N>, cute::_1>>;
  using Read = %s;
};
"""
SAME = "cute::Layout<cute::Shape<cute::_32, cute::Int<N>>, cute::Stride<cute::Int<N>, cute::_1>>"


def report(
    folder: Path, capsys: pytest.CaptureFixture[str], pointer: str, read: str, more: str = "", *words: str
) -> tuple[dict[str, Any], str]:
    (folder / "k.cu").write_text(KERNEL % (pointer, more), encoding="utf-8")
    (folder / "traits.h").write_text(TRAITS % read, encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        main(["analyze", str(folder / "k.cu"), "--flags", "-arch=sm_80", *(words or ("--json",))])
    assert not left.value.code
    out = capsys.readouterr().out
    return ({} if words else json.loads(out)), out


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests: a unit that was compiled is kept for the next."""
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture(autouse=True)
def _cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))


def test_an_edit_of_a_header(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a template parameter decides is written in a header, in a helper, and read through another view of the same alias."""
    found, _ = report(folder, capsys, "sV.data()", "Smem")
    (read,) = [row for row in found["accesses"] if row["instruction"] == "ld.shared.32"]
    assert (read["wavefronts"], read["ideal"], read["fix"]["left"]) == (1024, 32, 32)
    (edit,) = read["fix"]["edits"]
    assert (edit["file"], edit["line"]) == ("traits.h", 4)
    text = (folder / "traits.h").read_text(encoding="utf-8")
    assert text == TRAITS % "Smem", "nothing is written"
    assert edit["old"] in text
    (folder / "traits.h").write_text(text.replace(edit["old"], edit["new"], 1), encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["analyze", str(folder / "k.cu"), "--flags", "-arch=sm_80", "--json"])
    again = json.loads(capsys.readouterr().out)
    assert {row["wavefronts"] for row in again["accesses"] if row["wavefronts"]} == {32}


def test_views_of_one_buffer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two aliases over one array of a storage, by data() or by its own pointer: both change, or there is no fix."""
    found, _ = report(folder, capsys, "make_smem_ptr(storage.v)", SAME)
    (read,) = [row for row in found["accesses"] if row["instruction"] == "ld.shared.32"]
    assert {edit["line"] for edit in read["fix"]["edits"]} == {4, 5}
    found, _ = report(folder, capsys, "make_smem_ptr(storage.o)", SAME)
    (read,) = [row for row in found["accesses"] if row["instruction"] == "ld.shared.32"]
    assert {edit["line"] for edit in read["fix"]["edits"]} == {5}


def test_what_was_not_evaluated_stands_beside_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pointer that is computed may lead anywhere; an element is no statement."""
    more = "float* p = storage.o + threadIdx.y; auto sX = make_tensor(make_smem_ptr(p), Layout<_32>{});\n"
    more += "  copy(sX, make_fragment_like(sX));\n  sVt(0, threadIdx.x) = 0.f;"
    found, _ = report(folder, capsys, "sV.data()", "Smem", more)
    (read,) = [row for row in found["accesses"] if row["instruction"] == "ld.shared.32" and row["fix"]]
    lines = (KERNEL % ("sV.data()", more)).splitlines()
    beside = [str(n) for n, line in enumerate(lines, 1) if "copy(sX" in line or "sVt(0," in line]
    assert read["fix"]["unless"] == beside


def test_another_definition(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--set as compiled: what would differ."""
    padded = SAME.replace("cute::Stride<cute::Int<N>", "cute::Stride<cute::Int<N + 1>")
    _, said = report(folder, capsys, "sV.data()", "Smem", "", "--set", f"Smem={padded}")
    assert "1024 -> 32 wavefronts" in said


def test_parts_are_divided_and_copied_by_one_thread(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = """
  auto one = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_1, _1>>{}, Layout<Shape<_1, _1>>{});
  auto lane = one.get_slice(0).partition_D(local_partition(sV, Layout<Shape<_1, _32>>{}, threadIdx.x));
  copy(one, make_fragment_like(lane), lane);
  auto sW = make_tensor(make_smem_ptr(storage.o), composition(Swizzle<5, 0, 5>{}, Layout<Shape<_32, _32>, Stride<_32, _1>>{}));
  auto halves = logical_divide(single.get_slice(threadIdx.x).partition_S(sW), Shape<Underscore, Underscore, Int<2>>{});
  auto half = halves(_, _, make_coord(_, 3));
  copy(single, half, make_fragment_like(half));"""
    found, _ = report(folder, capsys, "make_smem_ptr(storage.v)", "cute::Layout<cute::Shape<cute::_32, cute::Int<N>>>", more)
    assert found["unknown"] == []
    rows = {row["statement"]: row for row in found["accesses"]}
    lane, half = rows["copy(one, make_fragment_like(lane), lane)"], rows["copy(single, half, make_fragment_like(half))"]
    assert (lane["elements"], lane["wavefronts"], lane["ideal"]) == (32, 32, 32)  # a row of 32 banks each
    assert (half["elements"], half["wavefronts"]) == (2, 2)  # a column, which the swizzle spreads over all banks


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_loops_as_compiled(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of random loops each number is the one that a program counts; a bound may be a static integer."""
    programs = [[*body(seed), "copy(r, part);"] for seed in range(12)]
    counted = runs_of(programs, folder)
    text, first = "#include <cute/tensor.hpp>\nusing namespace cute;\n", []
    for n, lines in enumerate(programs):
        text += HEAD.replace(" k(", f" k{n}(")
        first.append(text.count("\n") + 1)
        text += "\n".join(lines) + "\n}\n"
    text += """__global__ void last(float* p, int n) {
  __shared__ float sm[128];
  auto s = make_tensor(make_smem_ptr(sm), make_layout(Shape<_32,_4>{}));
  auto part = local_partition(s, Layout<_32>{}, threadIdx.x);
  constexpr int kSteps = 3;
  for (int tile = blockIdx.x; tile < n; tile += gridDim.x) {
    for (int k = 0; k < size<1>(s) * kSteps; ++k) {
      if (k == size<1>(s) - 1) { copy(make_fragment_like(part), part); }
    }
  }
}
"""
    launches = "".join(f"k{n}<<<1, 32>>>(p, 4); " for n in range(len(programs)))
    text += f"void host(float* p) {{ {launches} last<<<1, 32>>>(p, 4); }}\n"
    (folder / "loops.cu").write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["analyze", str(folder / "loops.cu"), "--flags", "-arch=sm_80", "--json"])
    found = json.loads(capsys.readouterr().out)
    known = 0
    for row in found["accesses"]:
        n = next((n for n in reversed(range(len(first))) if row["line"] >= first[n]), 0)
        times = row["often"]["times"]
        if row["statement"].startswith("if"):
            assert [(loop["rounds"], loop["runs"]) for loop in row["often"]["loops"]] == [(None, None), (12, 1)]
            continue
        assert times in (None, counted[n, row["line"] - first[n]]), (programs[n], row["line"] - first[n])
        known += times is not None
    assert known > 15, "`for` loops with constant bounds; of `while` and of remainders nothing is known"


def test_alternatives_as_compiled(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The alternatives of a file as compiled are those of the file as it is written."""
    text = CHOICES.replace("template <bool Causal>", "template <class T>").replace("if constexpr (Causal)", "if (flag && n < 4)")
    text += "void host(float* p, int n) { k<int><<<1, 32>>>(p, n, n > 4, n); }\n"
    (folder / "choices.cu").write_text(f"#include <cute/tensor.hpp>\nusing namespace cute;\n{text}", encoding="utf-8")
    told = []
    for words in ((), ("--flags", "-arch=sm_80")):
        with pytest.raises(SystemExit):
            main(["analyze", str(folder / "choices.cu"), *words, "--json"])
        found = json.loads(capsys.readouterr().out)
        ways = [
            [(one["condition"], one["branch"], bool(one["group"])) for one in row["often"]["conditions"]]
            for row in found["accesses"]
        ]
        told.append((sorted(zip((row["line"] for row in found["accesses"]), ways, strict=True)), [*found["totals"].values()]))
    assert told[1] == told[0]


CHOSEN = """#include <cute/tensor.hpp>
using namespace cute;
__global__ void k(float const* g, int n) {
  __shared__ float left[1024];
  __shared__ float right[1024];
  auto rows = make_layout(make_shape(_32{}, _32{}), make_stride(_32{}, _1{}));
  auto source = make_tensor(make_gmem_ptr(g), make_layout(make_shape(_32{}, _32{}), make_stride(_1{}, _32{})));
  auto sL = make_tensor(make_smem_ptr(left), rows);
  auto sR = make_tensor(make_smem_ptr(right), rows);
  auto mine = local_partition(source, Layout<Shape<_32, _8>>{}, threadIdx.x);
  auto tL = local_partition(sL, Layout<Shape<_32, _8>>{}, threadIdx.x);
  auto tR = local_partition(sR, Layout<Shape<_32, _8>>{}, threadIdx.x);
  copy(mine, n > 4 ? tL : tR);
  auto either = n > 4 ? tL : tR;
  copy(mine, either);
  copy(mine, local_partition(n > 4 ? sL : sR, Layout<Shape<_32, _8>>{}, threadIdx.x));
  copy(mine, true ? tL : tR);
}
void host(float* p, int n) { k<<<1, 256>>>(p, n); }
"""


def test_a_choice_of_two_tensors_as_compiled(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`copy(mine, a ? b : c)` counts either side, as it does where the file is read as it is written."""
    (folder / "chosen.cu").write_text(CHOSEN, encoding="utf-8")
    told = []
    for words in ((), ("--flags", "-arch=sm_80")):
        with pytest.raises(SystemExit):
            main(["analyze", str(folder / "chosen.cu"), *words, "--json"])
        found = json.loads(capsys.readouterr().out)
        assert not found["unknown"]
        told.append(sorted((row["line"], row["instruction"], row["wavefronts"] or row["sectors"]) for row in found["accesses"]))
    assert told[1] == told[0]
    assert (13, "st.shared.32", 1024) in told[0]


TRANSPOSE = """#include <cute/tensor.hpp>
#include <cutlass/array.h>
template <class Source, class Tile, class Threads, class Vector>
__global__ void transpose(Source source, Tile, Threads, Vector) {
  using Element = typename Source::value_type;
  __shared__ Element shared[cute::cosize(Tile{})];
  auto cache{cute::make_tensor(cute::make_smem_ptr(shared), Tile{})};
  auto tile{source(cute::make_coord(cute::_, cute::_), blockIdx.y, blockIdx.x)};
  using Atom = cute::Copy_Atom<cute::UniversalCopy<cutlass::AlignedArray<Element, cute::size(Vector{})>>, Element>;
  auto copy_{cute::make_tiled_copy(Atom{}, Threads{}, Vector{})};
  auto thread{copy_.get_thread_slice(threadIdx.x)};
  cute::copy(copy_, thread.partition_S(tile), thread.partition_D(cache));
  auto column{cute::local_partition(cache, cute::Layout<cute::Shape<cute::_32, cute::_8>>{}, threadIdx.x)};
  auto registers{cute::make_fragment_like(column)};
  cute::copy(column, registers);
}
template <class T, int Pitch>
void launch(T const* p, unsigned M, unsigned N) {
  using namespace cute;
  auto const whole{make_tensor(make_gmem_ptr(p), make_layout(make_shape(M, N), GenRowMajor{}))};
  constexpr auto block{make_shape(_32{}, _128{})};
  auto const tiles{tiled_divide(whole, block)};
  auto const tile{make_layout(block, make_stride(Int<Pitch>{}, _1{}))};
  transpose<<<1, 256>>>(tiles, tile, Layout<Shape<_8, _32>, Stride<_32, _1>>{}, Layout<Shape<_1, Int<16 / sizeof(T)>>>{});
}
template void launch<float, 128>(float const*, unsigned, unsigned);
template void launch<float, 132>(float const*, unsigned, unsigned);
template void launch<double, 130>(double const*, unsigned, unsigned);
"""


def test_variables_in_braces_and_parts_of_one_type(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`auto x{f(y)}` is read, arrays are values of a copy, and what differs by the pitch of its tile alone has rows of its own."""
    (folder / "t.cu").write_text(TRANSPOSE, encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        main(["analyze", str(folder / "t.cu"), "--flags", "-arch=sm_80", "--json"])
    assert not left.value.code
    found = json.loads(capsys.readouterr().out)
    rows = [(row["instruction"], row["wavefronts"] or row["sectors"]) for row in found["accesses"]]

    def column(pitch: int, words: int) -> int:
        """Wavefronts of 128 reads of 32 rows: half-warps of elements of two words."""
        lanes = [[words * lane * pitch + word for word in range(words)] for lane in range(32 // words)]
        banks = [word % 32 for lane in lanes for word in lane]
        return 128 * words * max(banks.count(bank) for bank in banks)

    wanted = []
    for pitch, words in ((128, 1), (132, 1), (130, 2)):
        bits = 32 * words
        wanted += [("ld.global.128", 512 * words), ("st.shared.128", 128 * words), (f"ld.shared.{bits}", column(pitch, words))]
    assert not found["unknown"]
    assert sorted(rows) == sorted(wanted)


TWO = """#include <cute/tensor.hpp>
using namespace cute;
__global__ void kernel() {
  __shared__ float left[1024];
  __shared__ float right[1024];
  auto first = make_layout(make_shape(_32{}, _32{}), make_stride(_32{}, _1{}));
  auto second = make_layout(make_shape(_32{}, _32{}), make_stride(_32{}, _1{}));
  auto sL = make_tensor(make_smem_ptr(left), %s);
  auto sR = make_tensor(make_smem_ptr(right), %s);
  auto column = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_32, _1>>{}, Layout<Shape<_1, _1>>{});
  auto mine = column.get_slice(threadIdx.x);
  copy(column, mine.partition_S(sL), make_fragment_like(mine.partition_S(sL)));
  copy(column, mine.partition_S(sR), make_fragment_like(mine.partition_S(sR)));
}
void host() { kernel<<<1, 32>>>(); }
"""


@pytest.mark.parametrize("names", [("first", "second"), ("second", "first")])
def test_the_fixes_of_all_buffers_are_compiled_at_once(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, names: tuple[str, str]
) -> None:
    """Each edit is of the definition that its buffer is made of, whose layout and kind of name the other's has, too."""
    parsed: list[str] = []
    parse = compiled.parse
    monkeypatch.setattr(compiled, "parse", lambda path, text, *more: parsed.append(text) or parse(path, text, *more))
    (folder / "two.cu").write_text(TWO % names, encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        main(["analyze", str(folder / "two.cu"), "--flags", "-arch=sm_80", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert not left.value.code
    assert [(row["wavefronts"], row["fix"]["left"]) for row in found["accesses"]] == [(1024, 32), (1024, 32)]
    edits = {row["line"]: [edit["line"] for edit in row["fix"]["edits"]] for row in found["accesses"]}
    assert edits == {12 + n: [{"first": 6, "second": 7}[name]] for n, name in enumerate(names)}
    assert len(parsed) == 2


EPILOGUE = """#include <cute/tensor.hpp>
using namespace cute;
__global__ void kernel() {
  extern __shared__ char raw[];
  auto atom = composition(Swizzle<3, 3, 3>{}, Layout<Shape<_8, _64>, Stride<_64, _1>>{});
  auto sO = make_tensor(make_smem_ptr(reinterpret_cast<half_t*>(raw)), tile_to_shape(atom, Shape<_128, _128>{}));
  TiledMMA<MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>, Layout<Shape<_4, _1, _1>>, Tile<_64, _16, _16>> mma;
  auto rO = make_tensor<half_t>(partition_fragment_C(mma, Shape<_128, _128>{}).layout());
  auto tiled = make_tiled_copy_C(Copy_Atom<AutoVectorizingCopy, half_t>{}, mma);
  auto mine = tiled.get_slice(threadIdx.x);
  auto part = mine.partition_D(sO);
  copy(tiled, mine.retile_S(rO), part);
}
void host() { kernel<<<1, 128, 32768>>>(); }
"""


def test_a_swizzled_part_is_aligned_as_its_type_says(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The type splits a mode where the swizzle does: 64 stores of two elements by each of 4 warps, as `max_alignment` has it."""
    (folder / "epilogue.cu").write_text(EPILOGUE, encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        main(["analyze", str(folder / "epilogue.cu"), "--flags", "-arch=sm_80", "--json"])
    assert not left.value.code
    found = json.loads(capsys.readouterr().out)
    (row,) = found["accesses"]
    assert (row["instruction"], row["instructions"], row["wavefronts"]) == ("st.shared.32", 256, 256)
    assert {one["buffer"]: one["registers"] for one in found["memory"]["registers"]} == {"rO": 64}


def test_a_mistake_is_proven_as_compiled(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the file as it is written, of the statement in that line; flags that define one of its names prove nothing."""
    text = KERNEL_OF_MISTAKES.replace("float const* A", "float* A").replace("grid, 256", "grid, 128")
    (folder / "few.cu").write_text(f"#include <cute/tensor.hpp>\nusing namespace cute;\n{text}", encoding="utf-8")
    for macro, wanted in (("OTHER", ["mA is divided among 256 threads, and the block has 128."]), ("gA=gA", [])):
        with pytest.raises(SystemExit) as left:
            main(["analyze", str(folder / "few.cu"), "--flags", f"-arch=sm_80 -D{macro}", "--json"])
        assert not left.value.code
        assert [one["text"] for one in json.loads(capsys.readouterr().out)["mistakes"]] == wanted
