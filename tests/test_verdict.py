"""Whether a copy compiles, and how wide it is: what CUTLASS's compiler says of the same statements."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from cute_viz import explain
from cute_viz.cli import main

ROWS = json.loads(gzip.decompress((Path(__file__).parent / "data" / "copies.json.gz").read_bytes()))["rows"]

COMPILED = json.loads(gzip.decompress((Path(__file__).parent / "data" / "verdicts.json.gz").read_bytes()))["rows"]
EVERY = 2  # of what was compiled, each second is tried here


class Pasted:
    """A standard input that holds a text."""

    def __init__(self, text: str) -> None:
        self.buffer = io.BytesIO(text.encode())

    def isatty(self) -> bool:
        return False


def explained(text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any, str]:
    monkeypatch.setattr("sys.stdin", Pasted(text))
    with pytest.raises(SystemExit) as left:
        main(["explain", "-", "--json"])
    out, err = capsys.readouterr()
    return int(left.value.code or 0), json.loads(out) if out else None, err


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_cute_compiles_what_is_accepted(row: Any, monkeypatch: Any, capsys: Any) -> None:
    status, answer, err = explained(row["cpp"], monkeypatch, capsys)
    if not row["accepted"]:
        assert (status, answer, err[:7]) == (1, None, "error: ")
        return
    assert (status, answer["accepted"]) == (0, True), err
    for key, mine in (("common", "max_common_vector"), ("bits", "bits")):
        assert key not in row or answer[mine] == row[key]


@pytest.mark.parametrize("kind", sorted({kind for kind, *_ in COMPILED}))
def test_random_statements(kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Copies by atoms, of tiles and fragments, retiles, partitions and gemms that CuTe's headers accepted or refused."""
    wrong = []
    for _, text, wanted in [row for row in COMPILED if row[0] == kind][::EVERY]:
        if isinstance(wanted, str):
            monkeypatch.setattr("sys.stdin", Pasted(text))
            with pytest.raises(SystemExit):
                main(["eval", "-", "--name", "p"])
            found: Any = capsys.readouterr().out.strip()
            found = found.rpartition(" o ")[2] if "@" in wanted else found  # less the origin, which print(layout) leaves out
        else:
            status, answer, _ = explained(text, monkeypatch, capsys)
            found = status == 0
            if found and isinstance(wanted, list):
                found = [answer["max_common_vector"], answer["bits"]]
        if found != wanted:
            wrong.append((text, wanted, found))
    assert not wrong


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("auto p = thr.partition_C(g);", "cut into atoms"),
        ("auto p = thr.partition_fragment_C(g);", "partition_C: what one thread has of it"),
        ("auto p = make_fragment_like(thr.partition_C(g));", "make_fragment_like"),
        ("auto p = thr.partition_C(g)(_,0,0);", "cut into atoms"),
        ("auto p = recast<uint32_t>(g);", "128 elements: (m,n) is at m + 16*n"),
        ("auto a = GMMA::ss_op_selector<half_t,half_t,float,Shape<_64,_64,_16>>();", "SM90_64x64x16_F32F16F16_SS"),
    ],
)
def test_methods_of_names_and_what_is_chosen_are_explained(
    text: str, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = "auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}); auto thr = mma.get_slice(1);"
    before += " auto g = make_tensor(make_gmem_ptr<float>((void*)0), Layout<Shape<_16,_8>>{}); "
    status, answer, err = explained(before + text, monkeypatch, capsys)
    assert (status, answer["accepted"]) == (0, True), err
    assert words in answer["steps"][0]["words"]


def test_there_are_refusals_and_widths() -> None:
    assert sum(not row["accepted"] for row in ROWS) >= 12
    assert {row["bits"] for row in ROWS if "bits" in row} >= {8, 16, 32, 64, 128}


GMEM = "make_tensor(make_gmem_ptr<half_t>(0), {})"
SMEM = "make_tensor(make_smem_ptr<half_t>(0), {})"


@pytest.mark.parametrize(
    ("src", "dst", "words"),
    [
        ("(_8,_8):(_8,_1)", "(_8,_8):(_1,_8)", "stride 1 is in mode 1 of the source but in mode 0 of the destination"),
        ("(_8,_8):(_8,_1)", "(_8,_8):(_9,_1)", "a stride of 9 elements of the destination is 18 bytes"),
        ("(_8,_8):(_16,_2)", "(_8,_8):(_8,_1)", "no mode of the source has stride 1"),
        ("(_4,_8):(_1,_16)", "(_4,_8):(_1,_4)", "only 4 elements are contiguous in both"),
        ("make_shape(8,8), make_stride(8,1)", "make_shape(8,8), make_stride(8,1)", "run-time integers"),
    ],
)
def test_a_narrow_copy_says_why(src: str, dst: str, words: str, monkeypatch: Any, capsys: Any) -> None:
    text = f"copy({GMEM.format(src)}, {SMEM.format(dst)})"
    _, answer, _ = explained(text, monkeypatch, capsys)
    assert any(words in reason for reason in answer["reasons"]), answer["reasons"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("copy((8,8):(8,1), (8,8):(8,1))", "has no known memory and element type"),
        (f"copy({GMEM.format('(_8,_8)')})", "copy takes 2 tensors"),
        (
            f"copy(Copy_Atom<UniversalCopy<uint128_t>,half_t>{{}}, {GMEM.format('((_8,_1),_4):((_1,_0),_8)')},"
            f" {SMEM.format('((_8,_1),_2):((_1,_0),_8)')})",
            "has 4 vectors",
        ),
        (
            "gemm(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}),"
            " make_tensor(make_rmem_ptr<half_t>(0), ((_2,_2,_2),_2,_2)), make_tensor(make_rmem_ptr<half_t>(0), ((_2,_2),_4,_4)),"
            " make_tensor(make_rmem_ptr<float>(0), ((_2,_2),_2,_4)))",
            "mode K differs",
        ),
    ],
)
def test_a_refusal_has_the_numbers_of_both_sides(text: str, words: str, monkeypatch: Any, capsys: Any) -> None:
    status, answer, err = explained(text, monkeypatch, capsys)
    assert (status, answer) == (1, None)
    assert words in err


def test_a_gemm_counts_its_instructions(monkeypatch: Any, capsys: Any) -> None:
    text = (
        "gemm(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}), make_tensor(make_rmem_ptr<half_t>(0), ((_2,_2,_2),_2,_4)),"
        " make_tensor(make_rmem_ptr<half_t>(0), ((_2,_2),_3,_4)), make_tensor(make_rmem_ptr<float>(0), ((_2,_2),_2,_3)))"
    )
    status, answer, _ = explained(text, monkeypatch, capsys)
    assert (status, answer["instructions"]) == (0, 24)


def test_wgmma_of_partitions_of_shared_memory(monkeypatch: Any, capsys: Any) -> None:
    """As clang accepts it with CUTLASS 4.7: CuTe makes the descriptors; 64 of K are 4 instructions."""
    text = (
        "auto mma = make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>{});\n"
        "auto s = make_tensor(make_smem_ptr<half_t>(0), tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _64>{}));\n"
        "auto t = mma.get_slice(0);\n"
        "gemm(mma, t.partition_A(s), t.partition_B(s), partition_fragment_C(mma, Shape<_64, _64>{}));\n"
    )
    status, answer, _ = explained(text, monkeypatch, capsys)
    assert (status, answer["instructions"]) == (0, 4)


PASTED = {  # as people paste them: whole, in a function, with what is not CuTe's
    "accumulator": (
        """#include <cute/tensor.hpp>
int main() {
    using namespace cute;
    half_t *M = new half_t[64 * 64];
    Tensor gC = make_tensor(M, make_layout(make_shape(_64{}, _64{}), LayoutRight{}));
    using mma_atom = MMA_Atom<SM80_16x8x8_F32F16F16F32_TN>;
    TiledMMA mma = make_tiled_mma(mma_atom{}, make_layout(make_shape(_1{}, _1{})), Tile<_64, _64>{});
    Tensor tCrC = mma.get_slice(0).make_fragment_C(mma.get_slice(0).partition_C(gC));
    using atom = Copy_Atom<UniversalCopy<uint32_t>, half_t>;
    ThrCopy thr = make_tiled_copy_C(atom{}, mma).get_slice(threadIdx.x);
    copy(atom{}, thr.retile_S(tCrC), thr.partition_D(gC));
}""",
        "src failed to vectorize into registers",
    ),
    "vectors": (
        """int main() {
    auto layout = make_layout(make_shape(Int<2>{}, Int<3>{}));
    std::vector<int> from(size(layout)), to(size(layout));
    auto src = make_tensor(from.data(), layout);
    auto dst = make_tensor(to.data(), layout);
    copy(src, dst);
    print_tensor(dst);
    return 0;
}""",
        "3 instructions per thread, a load and a store of 64 bits",
    ),
    "body": (
        """auto g = make_tensor(make_gmem_ptr<half_t>(0), make_shape(64, 64), make_stride(64, 1));
auto s = make_tensor(make_smem_ptr<half_t>(0), Layout<Shape<_64,_64>,Stride<_64,_1>>{});
using Threads = Layout<Shape<_16,_8>,Stride<_8,_1>>;
auto tc = make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, Threads{}, Layout<Shape<_1,_8>>{});
copy(tc, tc.get_slice(threadIdx.x).partition_S(g), tc.get_slice(threadIdx.x).partition_D(s));""",
        "the stride 1 is a run-time integer",
    ),
}


@pytest.mark.parametrize("name", PASTED)
def test_what_is_pasted_is_judged_as_it_is(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, words = PASTED[name]
    path = tmp_path / "main.cu"
    path.write_text(text)
    with pytest.raises(SystemExit) as left:
        main(["explain", str(path)])
    out, err = capsys.readouterr()
    assert words in out + err
    assert left.value.code == (0 if name == "vectors" else 1)


def test_the_reason_of_default_copy_is_its_alignment_where_all_is_static() -> None:
    source, destination = (f"make_tensor(make_{space}_ptr<half_t>(0), _8{{}})" for space in ("gmem", "smem"))
    made = explain(f"copy(Copy_Atom<DefaultCopy,half_t>{{}}, {source}, {destination})")
    assert "DefaultCopy assumes an alignment of only 8 bits" in str(made)
    assert "run-time" not in str(made)


def test_an_instruction_is_explained_by_its_operands() -> None:
    told = explain("SM75_U32x4_LDSM_N").numbered
    shown = ["(_32,_128):(_128,_1)", "(_32,(_32,_4)):(_32,(_1,_1024))"]  # cute/atom/copy_traits_sm75.hpp
    assert [str(value) for _, _, value in told if value is not None] == shown
    assert (3, "it copies from smem to rmem", None) in told
    assert any("1 thread with 8192 bits each" in words for _, words, _ in explain("SM90_TMA_LOAD").numbered)
