"""A script of the DSL that is run without arguments: what its ArgumentParser and torch give its kernel, and `--let` instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cute_viz import cli
from cute_viz.engine.kernel import report_of
from cute_viz.engine.reading import Reading
from cute_viz.engine.request import Request, Source
from cute_viz.live.questions import answer

SCRIPT = """
import argparse
import torch
import cutlass
import cutlass.cute as cute
from cutlass.torch import dtype as torch_dtype
from cutlass.cute.runtime import from_dlpack

class Copy:
    def __init__(self, dtype: type, rows: int):
        self.dtype = dtype
        self.rows = rows

    @cute.jit
    def __call__(self, mA: cute.Tensor):
        atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), self.dtype)
        tiled = cute.make_tiled_copy_tv(atom, cute.make_layout((32, 1)), cute.make_layout((1, 4)))
        self.kernel(mA, tiled).launch(grid=(1, 1, 1), block=(32, 1, 1))

    @cute.kernel
    def kernel(self, mA: cute.Tensor, tiled: cute.TiledCopy):
        tidx, _, _ = cute.arch.thread_idx()
        smem = cutlass.utils.SmemAllocator()
        sA = smem.allocate_tensor(self.dtype, cute.make_layout((self.rows, 8), stride=(8, 1)), 16)
        part = tiled.get_slice(tidx).partition_D(sA)
        gA = tiled.get_slice(tidx).partition_S(cute.local_tile(mA, (self.rows, 8), (0, 0)))
        for k in range(cute.size(mA, mode=[0]) // self.rows):
            cute.copy(tiled, gA, part)

def run(m, dtype, major, rows):
    if not torch.cuda.is_available():
        raise RuntimeError("no GPU")
    a = torch.empty((m, 64), dtype=torch.float32, device="cuda").random_(-2, 3).to(dtype=torch_dtype(dtype))
    if major == "m":
        a = torch.empty((64, m), dtype=torch_dtype(dtype), device="cuda").permute(1, 0)
    a_ = from_dlpack(a, assumed_align=16)
    compiled = cute.compile[cute.GenerateLineInfo(True)](Copy(dtype, rows), a_ if major == "m" else a)
    compiled(a_)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="a copy")
    parser.add_argument("--m", type=int, default=256, help="rows")
    parser.add_argument("--dtype", type=cutlass.dtype, default=cutlass.Float16)
    parser.add_argument("-j", "--major", choices=["m", "k"], default="k")
    parser.add_argument("--tile-rows", type=int, default=32)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--quiet", action="store_true")
    args = parser.parse_args()
    run(args.m, args.dtype, args.major, args.tile_rows)
"""


def analyze(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        cli.main(["analyze", str(folder / "script.py"), "--json", *words])
    assert not left.value.code
    return json.loads(capsys.readouterr().out)


def told(found: Any) -> list[Any]:
    return [
        (row["instruction"], row["wavefronts"], row["sectors"], row["often"]["times"])
        for row in sorted(found["accesses"], key=lambda row: row["instruction"])
    ]


def test_a_script_is_run_without_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its kernel has the tensor that torch would make, the type and the sizes of its defaults, in as many rounds."""
    found = analyze(tmp_path, capsys)
    assert not found["unknown"]
    assert {name: value["value"] for name, value in found["assumed"].items()} == {
        "m": "256",
        "dtype": "Float16",
        "major": "k",
        "tile_rows": "32",
    }
    lines = SCRIPT.splitlines()
    assert lines[found["assumed"]["major"]["line"] - 1].strip().startswith('parser.add_argument("-j"')
    # the same kernel with its values given by hand
    by_hand = analyze(
        tmp_path, capsys, "--let", "mA=make_tensor(make_gmem_ptr<half_t>(0), (256,64):(64,1))", "--let", "dtype=Float16",
        "--let", "rows=32",
    )  # fmt: skip
    assert told(found) == told(by_hand)
    assert [row[3] for row in told(found)] == [8, 8]


def test_its_arguments_may_be_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = analyze(tmp_path, capsys, "--let", "major=m", "--let", "m=128", "--let", "dtype=Float32", "--let", "tile_rows=64")
    rows = told(found)
    assert [row[0] for row in rows] == ["ld.global.32", "st.shared.32"]
    assert [row[3] for row in rows] == [2, 2]
    assert rows[0][2] == 64 * 8 * 4 // 32, "columns are contiguous: each sector is used whole"


def test_its_definitions_have_the_values_of_a_run_without_arguments(tmp_path: Path) -> None:
    """As those given by hand; what a parameter decides is told, and may be given; other values given, nothing is assumed."""

    def listed(**let: str) -> tuple[dict[str, str | None], list[str]]:
        found = answer({"ask": "objects", "source": SCRIPT, "let": let})
        return {row["path"]: row["value"] for row in found["objects"]}, found.get("notes", [])

    values, notes = listed()
    assert values["Copy::kernel::sA"] == "(32,8):(8,1)"
    assert values["Copy::kernel::gA"] == "((1,4),1,2):((0,1),0,4)"
    assert {note.partition(" (")[0] for note in notes} == {"m = 256", "dtype = Float16", "major = k", "tile_rows = 32"}
    given, _ = listed(tile_rows="64", major="m")
    assert given["Copy::kernel::sA"] == "(64,8):(8,1)"
    assert given["Copy::kernel::gA"] == "((1,4),2,2):((0,256),32,1024)"
    by_hand, nothing = listed(mA="make_tensor(make_gmem_ptr<half_t>(0), (256,64):(64,1))", dtype="Float16", rows="32")
    assert by_hand["Copy::kernel::sA"] == values["Copy::kernel::sA"]
    assert by_hand["Copy::kernel::gA"] == values["Copy::kernel::gA"]
    assert nothing == []
    assert listed(rows="32")[0]["Copy::kernel::gA"] is None
    short = answer({"ask": "tool.list", "source": SCRIPT, "let": {"rows": "32"}})
    assert short["objects"][0]["path"] == "kernel"
    assert "Copy::kernel::gA" in [path for cause in short["unknown"] for path in cause["paths"]]
    assert all(row["value"] is not None for row in short["objects"])


WIDTHS = """
import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import make_fake_compact_tensor

@cute.kernel
def kernel(gA: cute.Tensor):
    tidx, _, _ = cute.arch.thread_idx()
    smem = cutlass.utils.SmemAllocator()
    sA = smem.allocate_tensor(cutlass.Float32, cute.make_layout((32, 32), stride=(32, 1)), SHARED)
    atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Float32)
    tiled = cute.make_tiled_copy_tv(atom, cute.make_layout((32, 1)), cute.make_layout((1, 8)))
    mine = tiled.get_slice(tidx)
    tA, tS = mine.partition_S(gA), mine.partition_D(sA)
    r = cute.make_fragment_like(tS)
    p = cute.make_rmem_tensor(tA.shape, cutlass.Boolean)
    COPY

@cute.jit
def host(mA: cute.Tensor):
    kernel(mA).launch(grid=(1, 1, 1), block=(32, 1, 1))

a = make_fake_compact_tensor(cutlass.Float32, (32, 32), stride_order=(1, 0), assumed_align=ALIGN)
cute.compile(host, a)
"""


@pytest.mark.parametrize(
    ("copy", "align", "instruction"),
    [
        ("cute.copy(tiled, tA, r)", "16", "ld.global.128"),
        ("cute.copy(atom, tA, r)", "8", "ld.global.64"),
        ("cute.copy(tiled, tA, r)", "4", "ld.global.32"),
        ("cute.copy(tiled, tA, r)", "None", "ld.global.32"),
        ("cute.copy(tiled, tA, r, pred=p)", "16", "ld.global.32"),
        ("cute.autovec_copy(tA, r)", "16", "ld.global.128"),
        ("cute.autovec_copy(tA, r)", "4", "ld.global.32"),
        ("cute.copy(tiled, r, tS)", "16", "st.shared.128"),
        ("cute.copy(tiled, tS, r)", "8", "ld.shared.64"),
        ("cute.autovec_copy(r, tS)", "128", "st.shared.128"),
        ("cute.basic_copy(r, tS)", "1", "st.shared.32"),
    ],
)
def test_what_the_compiler_of_the_dsl_takes_at_once(copy: str, align: str, instruction: str) -> None:
    """As the DSL 4.8.1 writes PTX of such kernels: as many neighbors as are known to be aligned, one by one with a predicate."""
    text = WIDTHS.replace("COPY", copy).replace("ALIGN", align).replace("SHARED", align)
    found = report_of(Reading(Source(text, "widths.py"), Request(())).file)
    assert found is not None
    assert [row.cost.instruction for row in found.accesses] == [instruction]
