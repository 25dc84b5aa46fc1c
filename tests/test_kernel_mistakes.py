"""What a newcomer does wrong and known values prove: each beside a neighbor that just fits, and what nobody knows says nothing."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from cute_viz.engine import Request, ask
from tests.commands import run

KERNEL = """
template <class SL, class TC>
__global__ void kern(float const* A, int M, int N, SL sl, TC tc, bool flag) {
  __shared__ float smem[4096];
  extern __shared__ float raw[];
  Tensor mA = make_tensor(make_gmem_ptr(A), make_shape(M, N), make_stride(N, Int<1>{}));
  Tensor gA = local_tile(mA, make_shape(Int<128>{}, Int<32>{}), make_coord(blockIdx.x, _));
  Tensor sA = make_tensor(make_smem_ptr(smem), sl);
  auto thr = tc.get_slice(threadIdx.x);
  Tensor tAgA = thr.partition_S(gA);
  Tensor tAsA = thr.partition_D(sA);
  Tensor pred = make_tensor<bool>(shape(tAsA));
  for (int k = 0; k < size<3>(tAgA); ++k) {
    copy(tc, tAgA(_,_,_,k), tAsA);
    __syncthreads();
  }
}
int main() {
  int M = 1024, N = 128;
  float *A = nullptr;
  bool flag;
  auto sl = make_layout(make_shape(Int<128>{}, Int<32>{}), make_stride(Int<32>{}, Int<1>{}));
  using Threads = Layout<Shape<_32,_8>,Stride<_8,_1>>;
  auto tc = make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, float>{}, Threads{}, Layout<Shape<_1,_4>>{});
  dim3 grid(ceil_div(M, 128));
  kern<<<grid, 256, 16384>>>(A, M, N, sl, tc, flag);
}
"""
TILE = "__shared__ float tile[32][33]; "
COPY = "copy(tc, tAgA(_,_,_,k), tAsA)"
LAUNCH = "kern<<<grid, 256, 16384>>>"


def mistakes(text: str) -> list[str]:
    report = ask(Request((text,))).report()
    return [] if report is None else [one.text for _, one in report.mistakes]


def edited(*pairs: tuple[str, str]) -> str:
    text = KERNEL
    for old, new in pairs:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


TWO = "auto two = tc.get_slice(threadIdx.x + 128); copy(tc, two.partition_S(gA)(_,_,_,k), two.partition_D(sA))"
TOO_FEW = "A is divided among 256 threads, and the block has 128."
TOO_MANY = "A is divided among 256 threads, and threads 256 to 511 of the block take parts, too."


@pytest.mark.parametrize(
    ("edits", "found"),
    [
        ([], []),
        ([("M = 1024", "M = 1025")], ["Mode 0 of mA has 1,025 elements, and block (8,0,0) reaches index 1,151."]),
        ([("N = 128", "N = 127")], ["Mode 1 of mA has 127 elements, and this reaches index 127."]),
        ([("k < size", "k <= size")], ["Mode 1 of mA has 128 elements, and this reaches index 159."]),
        ([("smem[4096]", "smem[4095]")], ["smem has 16,380 bytes, and the layout over it takes 16,384."]),
        ([("make_smem_ptr(smem)", "make_smem_ptr(raw)")], []),
        (
            [("make_smem_ptr(smem)", "make_smem_ptr(raw)"), ("16384", "4095 * sizeof(float)")],
            ["raw has 16,380 bytes, and the layout over it takes 16,384."],
        ),
        ([("grid, 256", "grid, 128")], [f"m{TOO_FEW}"]),
        ([("grid, 256", "grid, 512")], [f"m{TOO_MANY}"]),
        ([("grid, 256", "grid, 512"), (COPY, f"{COPY}; tAsA(k) = 0; __syncthreads()")], [f"m{TOO_MANY}"]),
        # what keeps it from being wrong
        ([("M = 1024", "M = 1025"), ("dim3 grid(ceil_div(M, 128))", "dim3 grid(M / 128)")], []),
        ([("M = 1024", "M = 1025"), (COPY, "copy_if(tc, pred, tAgA(_,_,_,k), tAsA)")], []),
        ([("M = 1024", "M = 1025"), ("dim3 grid", "if (M % 128) return 1;\n  dim3 grid")], []),
        ([("M = 1024", "M = 1025"), ("dim3 grid", "assert(M % 128 == 0);\n  dim3 grid")], []),
        ([("M = 1024", "M = 1025"), (COPY, f"if (128 * (blockIdx.x + 1) <= M) {{ {COPY}; }}")], []),
        ([("grid, 256", "grid, 512"), (COPY, f"if (threadIdx.x < 256) {{ {COPY}; }}")], []),
        ([("grid, 256", "grid, 512"), ("auto thr", "if (threadIdx.x >= 256) { return; }\n  auto thr")], []),
        ([("grid, 256", "grid, 512"), ("get_slice(threadIdx.x)", "get_slice(threadIdx.x % 256)")], []),
        (
            [
                ("grid, 256", "grid, 128"),
                (
                    COPY,
                    f"{COPY}; {TWO}",
                ),
            ],
            [],
        ),
        # what nobody knows
        ([("grid, 256", "grid, 512"), ("auto thr", "if (flag) { if (threadIdx.x >= 256) { return; } }\n  auto thr")], []),
        ([("M = 1024", "M = atoi(argv[1])")], []),
        ([("M = 1024", "M = 1025"), (COPY, f"if (flag) {{ {COPY}; }}")], []),
        ([("make_smem_ptr(smem)", "make_smem_ptr(raw)"), ("16384", "bytes()")], []),
        ([("make_smem_ptr(smem)", "make_smem_ptr(smem + offset)"), ("smem[4096]", "smem[4095]")], []),
        # single elements
        ([(COPY, f"{TILE} tile[threadIdx.x / 8][threadIdx.x % 8 + 25] = 0")], []),
        (
            [(COPY, f"{TILE} tile[threadIdx.x / 8][threadIdx.x % 8 + 26] = 0")],
            ["tile has 1,056 elements, and this reaches index 1,056."],
        ),
        ([(COPY, f"{TILE} for (int i = threadIdx.x; i < n; i += blockDim.x) {{ tile[i][32] = 0; }}")], []),
        ([(COPY, f"{TILE} if (threadIdx.x < 255) tile[threadIdx.x / 8][threadIdx.x % 8 + 26] = 0")], []),
        ([(COPY, "sA(threadIdx.x % 128, threadIdx.x / 128 + 30) = 0; __syncthreads()")], []),
        (
            [(COPY, "sA(threadIdx.x % 128, threadIdx.x / 128 + 31) = 0; __syncthreads()")],
            ["Mode 1 of sA has 32 elements, and this reaches index 32."],
        ),
    ],
)
def test_a_mistake_and_its_neighbor(edits: list[tuple[str, str]], found: list[str]) -> None:
    assert mistakes(edited(*edits)) == found


def test_extents_are_those_that_a_walk_over_all_threads_leaves() -> None:
    random = Random(35)
    for _ in range(12):
        m, n, threads = random.randrange(1, 400), random.choice([32, 33, 60, 64, 96]), random.choice([32, 96, 255, 256])
        blocks = random.choice([1, 2, -(-m // 128)])
        rows = max(128 * b + t // 8 + 32 * i for b in (0, blocks - 1) for t in range(threads) for i in range(4))
        columns = max(32 * k + 4 * (t % 8) + v for k in (0, (n - 1) // 32) for t in range(threads) for v in range(4))
        text = edited(("M = 1024, N = 128", f"M = {m}, N = {n}"), (LAUNCH, f"kern<<<{blocks}, {threads}, 16384>>>"))
        said = [one.partition(" of ")[0] for one in mistakes(text) if "reaches" in one]
        assert sorted(said) == ["Mode 0"] * (rows >= m) + ["Mode 1"] * (columns >= n), (m, n, threads, blocks)


def test_members_of_shared_storage() -> None:
    storage = "struct Storage { cute::array_aligned<float, %d> A; };\n"
    pairs = (
        ("  extern __shared__ float raw[];", "  __shared__ Storage storage;"),
        ("make_smem_ptr(smem)", "make_smem_ptr(storage.A.data())"),
    )
    assert mistakes(storage % 4096 + edited(*pairs)) == []
    assert mistakes(storage % 4095 + edited(*pairs)) == ["A has 16,380 bytes, and the layout over it takes 16,384."]


def test_a_mistake_fails_in_ci_where_nobody_accepts_it(tmp_path: Path) -> None:
    path, before = tmp_path / "k.cu", tmp_path / "r.json"
    path.write_text(edited(("smem[4096]", "smem[4095]")), encoding="utf-8")
    line = KERNEL[: KERNEL.index(COPY)].count("\n") + 1
    assert f"wrong  {line:<4} {COPY};\n       why  smem has 16,380 bytes" in run("analyze", str(path)).stdout.decode()
    assert run("analyze", str(path), "--max-ways", "1").stderr.decode().startswith(f"error: line {line}: smem has 16,380 bytes")
    assert run("analyze", str(path), "--max-ways", "1", "--accept", str(line)).returncode == 0
    before.write_text(run("analyze", str(path), "--json").stdout.decode(), encoding="utf-8")
    (one,) = json.loads(before.read_text(encoding="utf-8"))["mistakes"]
    assert (one["line"], one["kind"], one["statement"]) == (line, "array", COPY)
    assert run("analyze", str(path), "--baseline", str(before)).returncode == 0
    (result,) = json.loads(run("analyze", str(path), "--format", "sarif").stdout)["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("mistake", "error")
    assert run("analyze", str(path), "--format", "github").stdout.decode().startswith("::error file=")
    run("analyze", str(path), "-o", str(tmp_path / "r.html"))
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "smem has 16,380 bytes" in page
    assert "<b>1</b> statement is wrong." in page
