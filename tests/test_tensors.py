"""Tensors keep their type, memory, buffer and place from the source to the report: no width, thread or function is guessed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from cute_viz import cli, parse
from cute_viz.algebra.inttuple import show
from cute_viz.source.cpp import read
from cute_viz.source.model import Given
from cute_viz.source.text import read as read_text
from cute_viz.spec.library import resolve

HEAD = """#include <cute/tensor.hpp>
using namespace cute;
__global__ void k(half_t* p, float* q, int m) {
  auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_2,_1>>{});
  auto thr = mma.get_slice(threadIdx.x);
  auto gC = make_tensor(make_gmem_ptr(p), Layout<Shape<_64,_64>,Stride<_64,_1>>{});
  auto tCgC = thr.partition_C(gC);
"""


def report(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> Any:
    path = tmp_path / "kernel.cu"
    path.write_text(text)
    with pytest.raises(SystemExit) as status:
        cli.main(["analyze", str(path), "--json"])
    out = capsys.readouterr()
    assert status.value.code == 0, out.err
    return json.loads(out.out)


def rows(found: Any) -> list[tuple[str, int, int | None]]:
    return [(row["instruction"], row["instructions"], row["wavefronts"]) for row in found["accesses"]]


@pytest.mark.parametrize(
    ("fragment", "instruction"),
    [
        ("thr.make_fragment_C(tCgC)", "st.global.16"),  # f32 in registers: CuTe's max_common_vector is 0
        ("thr.partition_fragment_C(gC)", "st.global.16"),
        ("partition_fragment_C(mma, Shape<_64,_64>{})", "st.global.16"),
        ("make_tensor_like<float>(tCgC)", "st.global.16"),
        ("make_fragment_like<float>(tCgC)", "st.global.16"),
        ("make_tensor<float>(shape(tCgC))", "st.global.16"),
        ("make_fragment_like(thr.make_fragment_C(tCgC))", "st.global.16"),
        ("make_fragment_like<half_t>(thr.make_fragment_C(tCgC))", "st.global.32"),
        ("make_fragment_like(tCgC)", "st.global.32"),
        ("make_tensor_like(tCgC)", "st.global.32"),
        ("make_tensor<half_t>(tCgC.layout().shape())", "st.global.32"),
    ],
)
def test_registers_have_a_type(fragment: str, instruction: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = report(tmp_path, capsys, f"{HEAD}  auto r = {fragment};\n  copy(r, tCgC);\n}}\n")
    assert [row[0] for row in rows(found)] == [instruction]


@pytest.mark.parametrize(
    ("index", "wavefronts"),
    [
        ("idx", 512),
        ("idx % 128", 512),
        ("idx & 127", 512),
        ("idx - 128", 512),
        ("idx ^ 1", 512),  # neighbours change places
        ("127 - idx", 512),
        ("(idx % 32) * 4 + (idx / 32)", 256),  # a warp has the same columns of all: rows 0 to 7, 16 to 23, ...
        ("idx / 4", None),
        ("2 * idx", None),
        ("idx >> 2", None),
        ("idx * idx", None),
    ],
)
def test_whose_part_it_is_follows_from_the_index(
    index: str, wavefronts: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """__global__ void k() {
  int idx = threadIdx.x;
  auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_4,_1>>{});
  auto t = mma.get_slice(INDEX).partition_C(make_tensor(make_smem_ptr<float>(0), Shape<_64,_64>{}));
  copy(make_fragment_like(t), t);
}
"""
    found = report(tmp_path, capsys, text.replace("INDEX", index))
    if wavefronts is None:
        assert found["accesses"] == []
        assert "thread that moves each element is unknown" in found["unknown"][0]["error"]
    else:
        assert rows(found)[0][2] == wavefronts


@pytest.mark.parametrize(
    ("before", "known"),
    [
        ("if (idx >= 128) { idx -= 128; }", True),
        ("if (m > 3) { idx = 0; }", False),
        ("if (m > 3) { idx = threadIdx.x / 2; }", False),
        ("if (idx >= 128) { idx = 7; } else", True),  # what follows is the other branch
    ],
)
def test_an_index_that_changes_is_no_silent_guess(
    before: str, known: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"""__global__ void k(int m) {{
  int idx = threadIdx.x;
  {before}
  {{
  auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{{}}, Layout<Shape<_4,_1>>{{}});
  auto t = mma.get_slice(idx).partition_C(make_tensor(make_smem_ptr<float>(0), Shape<_64,_64>{{}}));
  copy(make_fragment_like(t), t);
  }}
}}
"""
    found = report(tmp_path, capsys, text)
    assert bool(found["accesses"]) is known
    assert bool(found["unknown"]) is not known


NAMESPACES = """#include <cute/tensor.hpp>
using namespace cute;
namespace flash {
template <class TC, class S, class D>
__device__ void copy(TC tc, S const& s, D& d) {
  for (int m = 0; m < size<1>(s); ++m) cute::copy(tc, s(_, m, 0), d(_, m, 0));
}
__global__ void k(half_t* p) {
  __shared__ half_t sm[4096];
  auto tc = make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>,half_t>{}, Layout<Shape<_16,_8>,Stride<_8,_1>>{},
                            Layout<Shape<_1,_8>>{});
  auto g = make_tensor(make_gmem_ptr(p), Layout<Shape<_64,_64>,Stride<_64,_1>>{});
  auto s = make_tensor(make_smem_ptr(sm), Layout<Shape<_64,_64>,Stride<_64,_1>>{});
  auto tg = tc.get_slice(threadIdx.x).partition_S(g); auto ts = tc.get_slice(threadIdx.x).partition_D(s);
  CALL(tc, tg, ts);
}
}
"""


@pytest.mark.parametrize(("call", "lines"), [("cute::copy", {15}), ("flash::copy", {6}), ("::flash::copy", {6})])
def test_a_call_through_a_namespace_is_that_function(
    call: str, lines: set[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = report(tmp_path, capsys, NAMESPACES.replace("CALL", call))
    assert {row["line"] for row in found["accesses"]} == lines


@pytest.mark.parametrize("space", ["SM100::TMEM::LOAD::", "cute::SM100::TMEM::LOAD::", "cute::", ""])
def test_an_instruction_of_tensor_memory_is_itself_in_its_namespace(
    space: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"#include <cute/tensor.hpp>\nusing A = Copy_Atom<{space}SM100_TMEM_LOAD_32dp32b64x, float>;\n"
    path = tmp_path / "kernel.cu"
    path.write_text(text)
    with pytest.raises(SystemExit):
        cli.main(["list", str(path)])
    assert capsys.readouterr().out.split(maxsplit=2) == ["2", "A", "Copy_Atom  SM100_TMEM_LOAD_32dp32b64x of float\n"]


def test_a_view_of_another_type_begins_where_its_elements_do(capsys: pytest.CaptureFixture[str]) -> None:
    text = "t = make_tensor(make_smem_ptr<half_t>((void*)1024), Layout<_64>{}); recast<uint8_t>(local_tile(t, Layout<_16>{}, 2))"
    assert str(parse(text)) == "96:1 o 64 o (_32):(_1)"  # byte 64, as of 16-bit elements the 32nd
    with pytest.raises(SystemExit):
        cli.main(["eval", text])
    assert capsys.readouterr().out == "(_32):(_1)\n"  # print(tensor.layout()): where it begins is the pointer's


@pytest.mark.parametrize(
    "expression",
    [
        "local_tile(t, _8{}, 2)",
        "local_partition(t, Layout<_8>{}, 3)",
        "t(_)",
        "domain_offset(4, t)",
        "recast<uint64_t>(local_tile(t, _8{}, 1))",
        "local_tile(make_tensor(make_smem_ptr<half_t>(0), make_layout(make_shape(_16{}, 8))), make_shape(_4{}, _4{}), "
        "make_coord(1, 1))",
    ],
)
def test_a_part_of_a_tensor_is_the_same_in_a_line_and_in_a_file(
    expression: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = "auto t = make_tensor(make_gmem_ptr<float>(p), make_layout(_64{}));"
    path = tmp_path / "kernel.cu"
    path.write_text(f"void f(float* p) {{ {made} auto x = {expression}; }}")
    told = []
    for command in (["eval", f"{made} {expression}"], ["eval", f"{made} auto x = {expression};"], ["eval", f"{path}::x"]):
        with pytest.raises(SystemExit) as left:
            cli.main(command)
        told.append((left.value.code, capsys.readouterr().out))
    assert told[0] == told[1] == told[2]
    assert told[0][0] == 0


@pytest.mark.parametrize("kind", ["float", "half_t", "uint8_t"])
@pytest.mark.parametrize("named", [True, False])
def test_the_width_of_a_tensor_is_that_of_its_type(
    kind: str, named: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A column of a tile of 32 words a row is one bank; of halves each second row begins in the middle of the 32 banks."""
    path = tmp_path / "kernel.cu"
    path.write_text(f"""#include <cute/tensor.hpp>
__global__ void k() {{
  __shared__ {kind} smem[1024];
  using namespace cute;
  auto s = make_tensor(make_smem_ptr(smem), Layout<Shape<_32,_32>,Stride<_32,_1>>{{}});
}}
""")
    text = f"make_tensor(make_smem_ptr<{kind}>(0), Layout<Shape<_32,_32>,Stride<_32,_1>>{{}})"
    source = [str(path), "--name", "s"] if named else [text]
    with pytest.raises(SystemExit):
        cli.main(["analyze", *source, "--access", "(32,1):(1,0)"])
    ways = {"float": 32, "half_t": 16, "uint8_t": 8}[kind]
    assert f"{ways} wavefronts in 1 instruction, 1 is ideal" in capsys.readouterr().out


def test_a_width_that_nothing_says_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as status:
        cli.main(["analyze", "(32,32):(32,1)", "--access", "(32,1):(1,0)"])
    assert status.value.code == 1
    assert "the width of an element is not known" in capsys.readouterr().err


CORPUS = json.loads(gzip.decompress((Path(__file__).parent / "data" / "tensor_copies.json.gz").read_bytes()))["rows"]


def test_types_and_common_vectors_are_those_of_the_headers_in_a_file() -> None:
    lines = [f"void f{n}() {{ {row[0]} auto v = max_common_vector(a, b); }}" for n, row in enumerate(CORPUS)]
    file = read("#include <cute/tensor.hpp>\nusing namespace cute;\n" + "\n".join(lines), Given({}, resolve))
    for n, (text, *wanted) in enumerate(CORPUS):
        a, b, v = (file.find(f"f{n}::{name}") for name in "abv")
        found = [int(v.read()), show(a.read()), show(b.read()), a.tensor().bits, b.tensor().bits]  # type: ignore[misc]
        assert found == wanted, text


@pytest.mark.parametrize("start", range(6))
def test_types_and_common_vectors_are_those_of_the_headers_in_a_line(start: int) -> None:
    for text, *wanted in CORPUS[start::6]:
        values = read_text(f"{text} auto v = max_common_vector(a, b);", resolve=resolve)
        a, b = (values.tensors[name] for name in "ab")
        assert [int(values.values["v"]), show(a.layout), show(b.layout), a.bits, b.bits] == wanted, text
