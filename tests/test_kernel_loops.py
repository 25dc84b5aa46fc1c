"""How often a block runs a statement: by loops as they are written, held to the same loops when they run."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cute_viz import cli

HEAD = """
__global__ void k(float* p, int n) {
  __shared__ float sm[128];
  auto s = make_tensor(make_smem_ptr(sm), make_layout(Shape<_32,_4>{}));
  auto part = local_partition(s, Layout<_32>{}, threadIdx.x);
  auto r = make_fragment_like(part);
"""


def report(folder: Path, capsys: pytest.CaptureFixture[str], text: str, *words: str, name: str = "kernel.cu") -> Any:
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        cli.main(["analyze", str(folder / name), "--json", *words])
    assert not left.value.code
    return json.loads(capsys.readouterr().out)


def body(seed: int) -> list[str]:
    """Loops and conditions over numbers, with copies in them."""
    draw, names = random.Random(seed), iter("abcdefghij")
    out: list[str] = []

    def block(deep: int, mine: tuple[str, ...]) -> None:
        for _ in range(draw.randint(1, 2)):
            kind = draw.choice(["copy", "for", "for", "down", "if", "while"] if deep < 3 else ["copy"])
            if kind == "copy":
                out.append("copy(r, part);")
                continue
            if kind == "if":
                test = f"{mine[-1]} % {draw.randint(1, 3)} == {draw.randint(0, 1)}" if mine else f"{draw.randint(0, 1)} == 0"
                out.append(f"if ({test}) {{")
                block(deep + 1, mine)
                out.append("} else {" if draw.random() < 0.3 else "}")
                if out[-1] != "}":
                    block(deep + 1, mine)
                    out.append("}")
                continue
            name, low, high, step = next(names, "z"), draw.randint(-2, 2), draw.randint(0, 5), draw.randint(1, 3)
            if kind == "for":
                word = draw.choice(["<", "<="])
                out.append(f"for (int {name} = {low}; {name} {word} {high}; {draw.choice([f'{name} += {step}', f'++{name}'])}) {{")
                block(deep + 1, (*mine, name))
            elif kind == "down":
                out.append(f"for (int {name} = {high}; {low} < {name}; {name}--) {{")
                block(deep + 1, (*mine, name))
            else:
                out.append(f"{{ int {name} = {high}; for (int y = 0; y < {step}; ++y) {{ {name} += 2; }} while ({name} > {low}) {{")
                block(deep + 1, mine)
                out.append(f"{name} -= {step}; }}")
            out.append("}")

    block(0, ())
    return out


def runs_of(programs: list[list[str]], folder: Path) -> dict[tuple[int, int], int]:
    """How often each line of each program runs, as g++ has it."""
    run = "#include <cstdio>\nint main() {\n"
    for n, lines in enumerate(programs):
        run += "{ int count[99] = {0};\n"
        run += "\n".join(re.sub(r"copy\(r, part\);", f"count[{line}]++;", text) for line, text in enumerate(lines))
        run += f'\nfor (int i = 0; i < {len(lines)}; ++i) printf("{n} %d %d\\n", i, count[i]); }}\n'
    (folder / "run.cpp").write_text(run + "}\n", encoding="utf-8")
    subprocess.run(["g++", "-O0", "-o", str(folder / "run"), str(folder / "run.cpp")], check=True)
    counted = {}
    for line in subprocess.run([str(folder / "run")], check=True, capture_output=True, text=True).stdout.splitlines():
        program, at, times = map(int, line.split())
        counted[program, at] = times
    return counted


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_loops_run_as_often_as_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of random loops each number of times is the one that the compiled program counts, and most are known."""
    known = all_ = 0
    programs = [[*body(seed), "copy(r, part);"] for seed in range(24)]
    counted = runs_of(programs, tmp_path)
    for n, lines in enumerate(programs):
        found = report(tmp_path, capsys, HEAD + "\n".join(lines) + "\n}\n")
        first = HEAD.count("\n") + 1
        for row in found["accesses"]:
            times = row["often"]["times"]
            assert times in (None, counted[n, row["line"] - first]), (n, lines, row["line"] - first)
            known, all_ = known + (times is not None), all_ + 1
    assert known > 0.9 * all_ > 20


def test_each_call_of_a_helper_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Calls side by side run one after the other, whatever their text; those of one kernel are no launches."""
    kernel = """__device__ void g(float* s) { s[threadIdx.x * 4] = 1.f; }
__device__ void f(float* s, int o) { s[o + threadIdx.x * 2] = 1.f; g(s); }
__global__ void k(float* out) {
  __shared__ float s[2048];
  int o = 0;
  f(s, o); f(s, 64);
  o += 64;
  f(s, o);
  f(s, 64);
}
__global__ void k2(float* out) { __shared__ float s2[2048]; f(s2, 0); }
int main() { k<<<1, 128>>>(nullptr); k<<<1, 256>>>(nullptr); k2<<<1, 128>>>(nullptr); k2<<<1, 128>>>(nullptr); }
"""
    found = report(tmp_path, capsys, kernel)
    ways = [f"k, line {line}, called in main, line 12 call {n}" for n in (1, 2) for line in ("6 call 1", "6 call 2", 9)]
    rows = sorted((row["call"], row["wavefronts"]) for row in found["accesses"] if row["scope"] == "f")
    assert rows == sorted([(way, 8 * int(way[-1])) for way in ways] + [("k2, line 11", 8)])
    assert len([row for row in found["accesses"] if row["scope"] == "g"]) == 9
    assert {name: total["now"] for name, total in found["totals"].items()} == {
        "main, line 12 call 1": 3 * 8 + 4 * 16,
        "main, line 12 call 2": 2 * (3 * 8 + 4 * 16),
        "k2": 8 + 16,
    }
    assert [one["line"] for one in found["elements"]] == [2] * 2


@pytest.mark.parametrize(
    ("inside", "sure", "loops"),
    [
        ("for (int i = 0; i < n; ++i) copy(r, part);", True, [[None, None]]),
        ("for (int i = 0; i < 4; ++i) { if (p[i] > 0) break; copy(r, part); }", True, [[None, None]]),
        ("for (int i = 0; i < 4; ++i) { if (p[i] > 0) { copy(r, part); } }", False, [[4, 4]]),
        ("for (int i = 0; i < 4; i = next(i)) copy(r, part);", True, [[None, None]]),
        ("for (int i = 0; i < 4; ++i) { i += n; copy(r, part); }", True, [[None, None]]),
        ("for (auto x : p) copy(r, part);", True, [[None, None]]),
        ("for_each(p, [&](auto i) { copy(r, part); });", True, [[None, None]]),
        ("switch (n) { case 4: copy(r, part); }", False, []),
        ("if (threadIdx.x < 32) { copy(r, part); }", False, []),
        ("for (int i = 0; i < size<1>(s); ++i) { copy(r, part); }", True, [[4, 4]]),
    ],
)
def test_what_is_not_known_has_no_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], inside: str, sure: bool, loops: list[list[int | None]]
) -> None:
    (row,) = report(tmp_path, capsys, HEAD + inside + "\n}\n")["accesses"]
    assert row["often"]["sure"] is sure
    assert [[loop["rounds"], loop["runs"]] for loop in row["often"]["loops"]] == loops


KERNEL = """
import cutlass
import cutlass.cute as cute

@cute.kernel
def kernel(mA: cute.Tensor, n: cutlass.Int32):
    tidx, _, _ = cute.arch.thread_idx()
    smem = cutlass.utils.SmemAllocator()
    sA = smem.allocate_tensor(cutlass.Float32, cute.make_layout((32, 4)), 16)
    part = cute.local_partition(sA, cute.make_layout(32), tidx)
    r = cute.make_fragment_like(part)
    for k in cutlass.range(100):
        cute.autovec_copy(part, r)
        for j in range(4):
            if cutlass.const_expr(j == 2):
                cute.autovec_copy(r, part)
    for k in cutlass.range(n):
        helper(part, r)
    if n > 4:
        cute.autovec_copy(part, r)
    else:
        cute.autovec_copy(r, part)
    if cute.arch.warp_idx() == 0:
        cute.autovec_copy(part, r)
    else:
        cute.autovec_copy(r, part)

@cute.jit
def helper(part: cute.Tensor, r: cute.Tensor):
    for i in cutlass.range_constexpr(3):
        cute.autovec_copy(part, r)

@cute.jit
def host(mA: cute.Tensor, n: cutlass.Int32):
    for twice in range(2):
        kernel(mA, n).launch(grid=(1, 1, 1), block=(32, 1, 1))
"""


def test_loops_of_the_dsl(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rounds that are followed, those that one stands for, those of a caller; the host's launch the kernel anew."""
    found = report(tmp_path, capsys, KERNEL, name="kernel.py")
    told = [
        (row["often"]["times"], row["often"]["sure"], [(loop["rounds"], loop["runs"]) for loop in row["often"]["loops"]])
        for row in sorted(found["accesses"], key=lambda row: row["line"])
    ]
    assert told == [
        (100, True, [(100, 100)]),
        (100, True, [(100, 100), (4, 1)]),
        *[(None, False, [])] * 4,
        (None, True, [(None, None), (3, 3)]),
    ]
    rows = sorted(found["accesses"], key=lambda row: row["line"])[2:6]
    ways = [(one["branch"], one["condition"], bool(one["group"])) for row in rows for one in row["often"]["conditions"]]
    assert ways[:2] == [("if", "n > 4", True), ("else", "n > 4", True)]
    assert [(branch, group) for branch, _, group in ways[2:]] == [("if", False), ("else", False)], "each warp takes its own"
    assert found["totals"]["kernel"]["now"] == sum(row["wavefronts"] for row in found["accesses"]) - rows[0]["wavefronts"]


CHOICES = (
    HEAD.replace("void k(float* p, int n)", "void k(float* p, int n, bool flag, int mode)").replace(
        "__global__", "template <bool Causal>\n__global__"
    )
    + """
  if constexpr (Causal) {
    copy(r, part);
    copy(r, part);
  } else copy(part, r);
  if (flag) copy(r, part);
  else if (mode == 3) {
    copy(part, r);
    copy(part, r);
  } else copy(part, r);
  switch (mode) {
    case 0: copy(part, r);
    case 1: copy(part, r); break;
    default: copy(part, r);
  }
  const int warp = threadIdx.x / 32;
  if (warp == 0) copy(part, r); else copy(r, part);
  flag ? copy(r, part) : copy(part, r);
  if (n > 4) { copy(part, r); return; }
  copy(part, r);
  copy(part, r);
}
"""
)


def test_alternatives_of_a_condition_count_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of each condition that nobody knows the larger alternative; where threads of a block may take either, both."""
    text = CHOICES.replace("  if (n > 4)", "  copy(blockIdx.x == 4 ? part : part, r);\n  if (n > 4)")
    found = report(tmp_path, capsys, text)
    rows = sorted(found["accesses"], key=lambda row: row["line"])
    ways = [", ".join(f"{one['branch']} {one['condition']}" for one in row["often"]["conditions"]) for row in rows]
    lines = [row["line"] - rows[0]["line"] for row in rows]
    told = {n: sorted(way for at, way in zip(lines, ways, strict=True) if at == n) for n in lines}
    assert told == {
        0: ["if Causal"],
        1: ["if Causal"],
        2: ["else Causal"],
        3: ["if flag"],
        5: ["else flag, if mode == 3"],
        6: ["else flag, if mode == 3"],
        7: ["else flag, else mode == 3"],
        9: ["case 0, 1 mode"],
        10: ["case 0, 1 mode"],
        11: ["default mode"],
        14: ["else warp == 0", "if warp == 0"],
        15: ["else flag", "if flag"],
        16: ["else blockIdx.x == 4", "if blockIdx.x == 4"],
        17: ["if n > 4"],
        18: ["else n > 4"],
        19: ["else n > 4"],
    }
    assert found["totals"][""]["now"] == rows[0]["wavefronts"] * (2 + 2 + 2 + 2 + 1 + 1 + 2)
    assert found["alternatives"]
    known = report(tmp_path, capsys, text + "int main() { k<true><<<1, 32>>>(0, 4, false, 1); }\n")
    lines = sorted(row["line"] - rows[0]["line"] for row in known["accesses"])
    assert lines == [0, 1, 7, 10, 14, 14, 15, 16, 16, 18, 19]


def test_arguments_tell_whether_threads_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A parameter of a kernel through the member of a class that a template names; a thread's index the same way."""
    text = HEAD.replace(
        "__global__ void k(float* p, int n)",
        "struct Params { bool flag; };\nstruct A {\nstatic __device__ void run(Params q, int t)",
    )
    text += "if (q.flag) copy(part, r);\nelse copy(r, part);\nif (t == 0) copy(part, r);\nelse copy(r, part);\n}\n};\n"
    text += "template <class K> __global__ void entry(Params q) { K::run(q, threadIdx.x); }\n"
    found = report(tmp_path, capsys, text)
    ways = {(one["condition"], one["group"] is not None) for row in found["accesses"] for one in row["often"]["conditions"]}
    assert ways == {("q.flag", True), ("t == 0", False)}
    assert found["totals"][""]["now"] == 3 * found["accesses"][0]["wavefronts"]


def test_rounds_add_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An H200 counts 262,144 wavefronts of 16 blocks for two such stores of 64 k-tiles: 128 a store."""
    text = (
        HEAD
        + "for (int k = 0; k < 64; ++k) {\n  copy(r, part);\n  for (int j = 0; j < 2; ++j) copy(part, r);\n}\ncopy(r, part);\n}\n"
    )
    found = report(tmp_path, capsys, text)
    steps = [(step["loop"], step["now"], step["ideal"]) for step in found["steps"]]
    assert steps == [(HEAD.count("\n") + 1, 12, 12), (None, 64 * 12 + 4, 64 * 12 + 4)]
    with pytest.raises(SystemExit):
        cli.main(["analyze", str(tmp_path / "kernel.cu")])
    said = capsys.readouterr().out
    assert "(64 rounds)   12" in said
    assert re.search(r"in all +772 ", said)
