"""Accesses of single elements beside what Nsight Compute counted on an H200, of files of tests/data built by nvcc 13.0."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cute_viz.engine.kernel import report_of
from cute_viz.engine.kernel_rows import Report
from cute_viz.engine.kernel_why import why
from cute_viz.engine.reading import Reading
from cute_viz.engine.request import Request, Source
from cute_viz.errors import CuteVizError

KERNELS = (Path(__file__).parent / "data" / "elements.cu").read_text()
# for each line and call: instructions that all warps executed, their wavefronts (of shared memory) or sectors, and the ideal
COUNTED = {
    ("20", "109"): {("st.shared.32", 32, 1024, 32), ("ld.global.32", 32, 128, 128)},
    ("24", "109"): {("ld.shared.32", 32, 32, 32), ("st.global.32", 32, 128, 128)},
    ("20", "113"): {("st.shared.32", 32, 32, 32), ("ld.global.32", 32, 128, 128)},
    ("24", "113"): {("ld.shared.32", 32, 32, 32), ("st.global.32", 32, 128, 128)},
    ("41", "114"): {("st.shared.32", 32, 32, 32), ("ld.global.32", 32, 128, 128)},
    ("46", "114"): {("ld.shared.32", 32, 1024, 32), ("st.global.32", 32, 1024, 128)},
    ("41", "115"): {("st.shared.32", 32, 32, 32), ("ld.global.32", 32, 128, 128)},
    ("46", "115"): {("ld.shared.32", 32, 32, 32), ("st.global.32", 32, 1024, 128)},
    ("63", ""): {("ld.global.16", 128, 2048, 256)},
    ("66", ""): {("st.shared.128", 16, 64, 64)},  # neighbors at once
    ("75", ""): {("ld.shared.16", 128, 256, 128), ("st.global.16", 128, 256, 256)},
    ("86", ""): {("st.shared.32", 32, 32, 32)},  # from the thread's index on
    ("92", ""): {("ld.shared.32", 24, 24, 24), ("st.shared.32", 24, 24, 24)},  # in three of four rounds
    ("94", ""): {("ld.shared.32", 32, 32, 32), ("st.global.32", 32, 1024, 128)},
}


def report(text: str) -> Report:
    found = report_of(Reading(Source(text, "elements.cu"), Request(())).file)
    assert found is not None
    return found


@pytest.mark.slow
def test_elements_cost_what_nsight_counted() -> None:
    found: dict[tuple[str, str], set[tuple[str, int, int, int]]] = {}
    for row in report(KERNELS).accesses:
        cost, times = row.cost, row.often.times
        assert times is not None
        paid, least = (cost.wavefronts, cost.ideal) if cost.wavefronts is not None else (cost.sectors, cost.ideal_sectors)
        assert paid is not None
        assert least is not None
        key = row.move.place, row.move.call.removeprefix("main, line ")
        found.setdefault(key, set()).add((cost.instruction, times * cost.instructions, times * paid, times * least))
    assert found == COUNTED


GUARDS = (Path(__file__).parent / "data" / "guards.cu").read_text()
# of tests/data/guards.cu, for each line, call and kind of access: wavefronts and ideal, of all warps
GUARDED = {
    ("14", "", "st"): (32, 32),
    ("20", "", "ld"): (1024, 32),
    ("29", "", "st"): (4, 4),
    ("31", "", "st"): (16, 1),
    ("32", "", "st"): (32, 4),
    ("34", "", "ld"): (4, 2),
    ("35", "", "ld"): (4, 1),
    ("36", "", "ld"): (4, 4),
    ("44", "", "st"): (32, 32),
    ("49", "", "ld"): (1024, 32),
    ("52", "", "ld"): (2048, 64),
    ("63", "100", "st"): (8, 8),
    ("66", "100", "ld"): (14, 14),
    ("66", "100", "st"): (7, 7),
    ("71", "100", "ld"): (10, 10),
    ("71", "100", "st"): (5, 5),
    ("76", "100", "ld"): (1, 1),
    ("63", "101", "st"): (64, 8),
    ("66", "101", "ld"): (112, 14),
    ("66", "101", "st"): (56, 7),
    ("71", "101", "ld"): (18, 10),
    ("71", "101", "st"): (9, 5),
    ("76", "101", "ld"): (1, 1),
    ("83", "", "st"): (32, 32),
    ("86", "", "ld"): (1024, 32),
    ("87", "", "ld"): (256, 32),
}


@pytest.mark.slow
def test_masks_of_lanes_cost_what_nsight_counted() -> None:
    found: dict[tuple[str, str, str], tuple[int, int]] = {}
    for row in report(GUARDS).accesses:
        if row.cost.wavefronts is not None and row.cost.ideal is not None:
            key = row.move.place, row.move.call.removeprefix("main, line "), row.cost.instruction[:2]
            times = row.often.inside(None) or 0
            now, ideal = found.get(key, (0, 0))
            found[key] = now + times * row.cost.wavefronts, ideal + times * row.cost.ideal
    assert found == GUARDED


ALIASES = (Path(__file__).parent / "data" / "aliases.cu").read_text()
# of tests/data/aliases.cu, by line: the wavefronts of what g++ 12 traced of all threads (-fsanitize=thread), warp by warp
TRACED = {8: 22, 13: 4, 22: 8, 23: 16, 24: 32, 26: 40, 38: 4, 43: 12, 44: 28, 45: 5, 46: 32, 49: 1, 50: 2, 51: 8}


def test_pointers_references_and_members_access_what_a_trace_shows() -> None:
    found, told = dict.fromkeys(TRACED, 0), report(ALIASES)
    for row in (row for row in told.accesses if row.cost.wavefronts is not None):
        found[row.move.line] += row.cost.wavefronts * (row.often.times or 0)
    assert found == TRACED
    assert not told.elements
    moved = report(ALIASES.replace("g[t] = p[256]", "++p; g[t] = p[256]"))
    assert [one.line for one in moved.elements] == [43, 44]


@pytest.mark.slow
def test_a_condition_that_only_a_run_knows_is_said() -> None:
    text = GUARDS.replace("guarded<<<1, dim3(32, 8)>>>(in, out, 32, 32)", "guarded<<<1, dim3(32, 8)>>>(in, out, atoi(in), 32)")
    rows = {row.move.line: row for row in report(text).accesses if row.move.line in (14, 20)}
    assert rows[14].basis["assumes"] == ["r + i < rows"]
    assert rows[14].basis["address"] == "assumed"


def test_each_call_of_a_helper_has_its_own_arguments() -> None:
    """Also where the first is in a loop: as if it were written out, on one line each."""
    texts = ["s[at(LOOP / 8, t % 8)] = *in;", "__syncthreads();", "*in = s[at(t % 16, t / 16)];", "s[at(t / 8, t % 8)] = 0;"]
    head = "__device__ int at(int r, int c) { return r * 64 + c; }\n__global__ void k(float* in) {\n__shared__ float s[9999];\n"
    for loop in ("int t = threadIdx.x; {", "int t = threadIdx.x; for (int i = 0; i < 4; ++i) {"):
        body = head + f"{loop}\n{texts[0].replace('LOOP', 'i * 32 + t' if 'for' in loop else 't')}\n__syncthreads(); }}\n"
        body += "\n".join(texts[1:]) + "\n}\nint main() { k<<<1, 32>>>(nullptr); }"
        inline = re.sub(r"(?<=s\[)at\((.*?), (.*?)\)", r"(\1) * 64 + (\2)", body)
        found, wanted = ([(x.move.place, x.cost.wavefronts) for x in report(text).accesses] for text in (body, inline))
        assert found == wanted
        assert [ways for place, ways in found if place in ("8", "9") and ways] == [16, 4]


PLACES = """__global__ void f(float const* in, float* out) {
  __shared__ ALIGN TYPE s[1024];
  LOOP
  __syncthreads();
}
int main() { f<<<1, 32>>>(nullptr, nullptr); }
"""


def test_what_is_not_counted_is_said_of_its_launches() -> None:
    text = "template <bool Wild> __global__ void f(float* p) {\n__shared__ float s[32];\ns[threadIdx.x] = 0;\n__syncthreads();\n"
    text += "s[Wild ? int(p[0]) : threadIdx.x] = 1;\n}"
    main = "\nint main() { f<true><<<1, 32>>>(0);\nf<false><<<1, 32>>>(0); }"
    assert "Not counted: a single element launched by main, line 7," in str(report(text + main))
    assert "Not counted: a single element, s[Wild" in str(report(text + main.replace("<false>", "<true>")))


def test_a_conflict_says_how_many_accesses_have_it() -> None:
    text = PLACES.replace("LOOP", "out[threadIdx.x] = s[threadIdx.x * 2] + s[threadIdx.x * 2 + 64];").replace("ALIGN TYPE", "float")
    lines = [line.strip() for line in str(report(text)).splitlines()]
    assert "2x ld.shared.32, each: 2 wavefronts, 1 ideal" in lines
    assert "all    4      -      2" in lines


@pytest.mark.parametrize(
    ("loop", "row"),
    [  # what nvcc 13.0 made of siboehm/SGEMM_CUDA: neighboring words are loaded at once, not stored; those of outer loops maybe
        ("for (int i = 0; i < 8; ++i) out[i] += s[threadIdx.x * 8 + i];", ("ld.shared.128", 2)),
        ("for (int i = 0; i < 8; ++i) s[threadIdx.x * 8 + i] = in[i];", ("st.shared.32", 8)),
        ("reinterpret_cast<float4 *>(&s[threadIdx.x * 4])[0] = *reinterpret_cast<const float4*>(in);", ("st.shared.128", 1)),
        ("float4 x = (reinterpret_cast<float4*>(&(s[threadIdx.x * 4]))[0]); out[0] = x.x;", ("ld.shared.128", 1)),
        ("float4 x = (reinterpret_cast<float4*>(&(s[threadIdx.x * 3]))[0]); out[0] = x.x;", "not aligned"),
        ("*(volatile int4*)&s[threadIdx.x * 4] = *(const int4*)in;", ("st.shared.128", 1)),
        ("*(unsigned int*)(s + threadIdx.x) = *(const unsigned*)in;", ("st.shared.32", 1)),
        ("float4 x = ((const float4*)s)[threadIdx.x]; out[0] = x.x;", ("ld.shared.128", 1)),
        ("using V = cutlass::AlignedArray<float, 4>; *((V*)&s[4] + threadIdx.x) = *(V*)in;", ("st.shared.128", 1)),
        ("float4 x = *(float4*)(s + threadIdx.x * 2); out[0] = x.x;", "not aligned"),
        ("X& all = *reinterpret_cast<X*>(s); *(unsigned int*)(s + threadIdx.x) = 0;", ("st.shared.32", 1)),
        ("*(X*)&s[threadIdx.x] = *(X*)in;", "the type of its cast, X, is not known"),
        ("out[0] = ((const float4*)s)[threadIdx.x].x;", "for one member is not known"),
        ("for (int i = 0; i < 8; ++i) for (int j = 0; j < 4; ++j) out[i] += s[(threadIdx.x * 4 + j) * 8 + i];", "outer loop"),
        ("for (int i = 0; i < 8; ++i) s[threadIdx.x] += in[i];", "the loop around it has no barrier"),
        ("s[threadIdx.x] = 0; for (int i = 0; i < 8; ++i) { s[threadIdx.x] += in[i]; __syncthreads(); }", "no barrier is between"),
        ("if (in[threadIdx.x] > 0) s[threadIdx.x] = 0;", "which threads take part"),
        ("for (int i = 0; i < *in; ++i) { s[threadIdx.x * i] = 0; }", "the elements differ from round to round"),
    ],
)
def test_what_a_compiler_makes_of_words(loop: str, row: str | tuple[str, int]) -> None:
    found = report(PLACES.replace("LOOP", loop).replace("TYPE", "float").replace("ALIGN ", ""))
    if isinstance(row, tuple):
        assert {(one.cost.instruction, one.cost.instructions) for one in found.accesses} == {row}
    else:
        assert any(row in one.why for one in found.elements)


ASSEMBLY = """__device__ unsigned at(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ int swizzled(int r, int c) { return r * 64 + ((c / 8) ^ (r % 4)) * 8 + c % 8; }
__device__ void load(unsigned (&r)[4], const void* p) {
  unsigned a = at(p);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a));
}
__device__ void copy16(void* d, const void* s) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2;" :: "r"(at(d)), "l"(s), "n"(16));
}
"""
X1 = 'asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(ADDRESS));'


@pytest.mark.parametrize(
    ("line", "row"),
    [  # an address in a function's, a variable's or its own assembly; what is not sure has no count
        ("unsigned r[4]; load(r, &s[threadIdx.x % 16 * 64 + threadIdx.x / 16 * 8]);", ("ldmatrix.x4", 1, 32, 4)),
        ("unsigned r; " + X1.replace("ADDRESS", "at(&s[threadIdx.x % 8 * 64])"), ("ldmatrix.x1", 1, 8, 1)),
        ("unsigned r, a = (unsigned)at(&s[threadIdx.x * 8]); " + X1.replace("ADDRESS", "a"), ("ldmatrix.x1", 1, 1, 1)),
        ("copy16(&s[threadIdx.x * 8], in);", ("cp.async.128", 1, 4, 4)),
        # two functions of one name and other variables: rows 128 bytes apart, whose chunks are XORed by two bits
        ("for (int k = 0; k < 4; ++k) { int r = k + threadIdx.x / 8, c = threadIdx.x % 8 * 8; copy16(&s[swizzled(r, c)], in); } "
         "for (int k = 0; k < 4; ++k) { int r = threadIdx.x % 16, c = k * 16 + threadIdx.x / 16 * 8; unsigned q[4]; "
         "load(q, &s[swizzled(r, c)]); }",
         ("ldmatrix.x4", 4, 32, 16)),
        ("unsigned a = __cvta_generic_to_shared(&s[threadIdx.x * 8]), r[2]; for (int i = 0; i < 2; ++i) { "
         "unsigned b = a + i * 128; " + X1.replace("(r)", "(r[i])").replace("ADDRESS", "b") + "}",
         ("ldmatrix.x1", 2, 2, 2)),  # it changes r, neither i nor b
        ("unsigned r, a = at(&s[threadIdx.x * 8]); a += 16; " + X1.replace("ADDRESS", "a"), "goes elsewhere"),
        ("unsigned r, a = at(&s[threadIdx.x * 8]); for (int i = 0; i < 4; ++i) " + X1.replace("ADDRESS", "a"), "goes elsewhere"),
        ("other(&s[threadIdx.x * 8]);", "goes elsewhere"),
    ],
)  # fmt: skip
def test_addresses_of_inline_assembly(line: str, row: str | tuple[str, int, int, int]) -> None:
    found = report(ASSEMBLY + PLACES.replace("LOOP", line).replace("TYPE", "half").replace("ALIGN", "alignas(16)"))
    if isinstance(row, tuple):
        cost = next(one.cost for one in reversed(found.accesses) if one.cost.instruction == row[0])
        assert (cost.instruction, cost.instructions, cost.wavefronts, cost.ideal) == row
    else:
        assert any(row in one.why for one in found.elements)


def test_cp_async_of_which_only_shared_addresses_are_known_has_no_lines_of_global_memory() -> None:
    line = "for (int k = 0; k < 2; ++k) copy16(&s[threadIdx.x / 2 * 64 + threadIdx.x % 2 * 32 + k * 8], in);"
    found = report(ASSEMBLY + PLACES.replace("LOOP", line).replace("TYPE", "half").replace("ALIGN", "alignas(16)"))
    row = next(one for one in found.accesses if one.cost.instruction == "cp.async.128")
    assert (row.cost.wavefronts, row.cost.ideal) == (32, 8)
    assert "share bank" in why(row)
    assert str(row.unfixed).startswith("Sw<")


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("s(n) = 1.f;", "the value of 'n' depends"),
        ("auto row = s(threadIdx.x, _); row(2) = 1.f;", "where row begins depends on the thread"),
        ("for (int k = 0; k < 128; ++k) r += s(threadIdx.x, k % 32);", "how many neighbors a compiler"),
    ],
)
def test_no_count_where_the_places_are_not_known(line: str, cause: str) -> None:
    text = (
        "__global__ void f(int m) {\n  __shared__ float buffer[1024];\n  int n = 0; while (n < m) n += 3;\n"
        "  auto s = make_tensor(make_smem_ptr(buffer), Layout<Shape<_32, _32>, Stride<_32, _1>>{});\n"
        f"  copy(make_tensor<float>(Layout<_32>{{}}), local_partition(s, Layout<_32>{{}}, threadIdx.x));\n  {line}\n}}\n"
        "int main() { f<<<1, 32>>>(7); }\n"
    )
    found = report(text)
    assert {row.move.line for row in found.accesses} == {5}
    assert [one.line for one in found.elements] == [6] * len(found.elements)
    assert found.elements[0].why.startswith(cause)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"), [("alignas(128) ", ""), ("    ts(i) = r(i);", "    ts(i) = ts(i) * r(i);"), ("ts(i) = r(i);", "ts(i) += r(i);")]
)
def test_nvcc_takes_no_neighbors_at_once(old: str, new: str) -> None:
    """Of an array that is not declared to be aligned, and between loads and stores of one buffer: `st.shared.u16` in its PTX."""
    rows = [row for row in report(KERNELS.replace(old, new)).accesses if row.move.line == 66]
    assert {(row.cost.instruction, row.cost.instructions) for row in rows if "st" in row.cost.instruction} == {
        ("st.shared.16", 128)
    }


PLAIN = """__global__ void transpose(float* in, float* out) {
  __shared__ float tile[32][PITCH];
  int x = threadIdx.x, y = threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[y + j][x] = in[(y + j) * 32 + x];
  __syncthreads();
  if (x < 16) tile[x][0] = 0;
  for (int j = 0; j < 32; j += 8) out[(y + j) * 32 + x] = tile[x][y + j];
}
int main() { transpose<<<1, dim3(32, 8)>>>(nullptr, nullptr); }
"""


@pytest.mark.parametrize(("pitch", "wavefronts"), [(32, 1024), (33, 32)])
def test_arrays_of_plain_cuda(pitch: int, wavefronts: int) -> None:
    """The transpose of CUDA's own guide, whose padding by one is well known; a condition switches lanes off."""
    found = report(PLAIN.replace("PITCH", str(pitch)))
    rows = {row.move.line: (row.cost.instruction, row.cost.wavefronts, row.cost.ideal) for row in found.accesses}
    column = 128 if pitch == 32 else 8
    assert rows == {4: ("st.shared.32", 32, 32), 6: ("st.shared.32", column, 8), 7: ("ld.shared.32", wavefronts, 32)}
    assert not found.elements
    assert found.memory is not None
    assert found.memory.shared[0].size == 32 * pitch * 4


def test_a_name_of_the_file_is_no_underscore() -> None:
    text = (
        "template <int X> __global__ void k(float* o) {\n  __shared__ float t[32][32];\n  o[threadIdx.x] = t[threadIdx.x][X];\n}\n"
    )
    found = report(text + "void go(float* o) { k<3><<<1, 32>>>(o); }\n")
    assert {(row.cost.instruction, row.cost.wavefronts) for row in found.accesses} >= {("ld.shared.32", 32)}


@pytest.mark.slow
def test_a_reference_that_a_function_takes_is_no_access() -> None:
    text = KERNELS.replace("tAsA(i) = tAgA(i);", "other(tAsA(1)); tAsA(i) = max(tAgA(i), 0.f);")
    rows = [(row.cost.instruction, row.move.text) for row in report(text).accesses if row.move.line == 41]
    assert {kind for kind, _ in rows} == {"st.shared.32", "ld.global.32"}


HELPERS = """struct Pair { float* p; int ld; __device__ void set(int i) { p[i * ld] = 1; } };
struct Store { float x[8]; int flag; };
template <int N> struct Tile {
  float d[32 * N];
  __device__ float& operator()(int r, int c) { return d[r * N + c]; }
  __device__ float& operator[](int i) { return d[i]; }
};
#define PUT(p, v) do { (p) = (v); } while (0)
#define BOTH() s[t] = 1; s[t + 32] = 2
__device__ float* row(float* d, int r) { return d + r * 32; }
__device__ void put(float* d, int i, float v) { d[i] = v; }
__device__ void put(float* d, int i, float4 v) { d[i * 4] = v.x; }
template <int N> __device__ void again(float* d, int i) { d[i * N] = N; if constexpr (N > 1) again<N / 2>(d, i); }
template <int N> struct Sized { __device__ static void run(float* d, int i) { d[i * N] = N; } };
template <> struct Sized<1> { __device__ static void run(float* d, int i) { d[i] = 1; } };
"""


@pytest.mark.parametrize(
    ("line", "counted"),
    [  # what may be anything is never taken for the thread's index; an array of registers behind one in shared memory is none
        ("int q = (int)sqrtf(t); out[0] = s[q];", None),
        ("int q = t % 2 ? 0 : 8; out[0] = s[q];", 1),
        ("extern __shared__ float d[]; float r[4]; r[t] = 1; d[t] = 1;", 1),
        ("unsigned r, a = __cvta_generic_to_shared(s) + t * 16; " + X1.replace("ADDRESS", "a"), 1),
        ("other(s + t);", None),
        # the wavefronts are those of a trace of all threads by g++ (-fsanitize=thread)
        ("(s)[t * 4] = 1;", None),
        ("(s[t * 4]) = 1;", 4),
        ("s[t * 2] = 1, s[t * 4 + 512] = 2;", 6),
        ("out[t] = s[t * 2] = 1;", 2),
        ("s[t * 4]++; --s[t * 2 + 1];", 12),
        ("float w[2] = {s[t * 2], s[t * 4]}; out[t] = w[0] + w[1];", 6),
        ("float& r = s[t * 8]; r = 1;", 8),
        ("__shared__ float mean; if (t == 3) mean = in[0]; __syncthreads(); out[t] = mean * t;", 2),
        ("__shared__ Store all; if (t == 3) all.flag = 1; __syncthreads(); out[t] = all.flag;", 2),
        ("float (*r)[32] = reinterpret_cast<float (*)[32]>(s); r[t][0] = 1;", None),
        ("__shared__ float d[4][40]; (*(d + 1))[t] = 1;", None),
        ("float* each[2] = {s, s + 64}; each[0][t * 2] = 1;", None),
        ("Pair p{s, 4}; p.set(t);", None),
        ("Pair p; p.p = s; p.ld = 4;", None),
        ("row(s, t)[1] = 1;", None),
        ("put(s, t, 1.f);", None),
        ("again<4>(s, t);", None),
        ("Sized<4>::run(s, t);", None),
        ("[](float* d, int i) { d[i * 4] = 1; }(s, t);", None),
        ("int ld = 2; auto at = [&](int i) { return i * ld; }; ld = 4; s[at(t)] = 1;", None),
        ("int ld = 2; auto at = [&](int i) { return i * ld; }; s[at(t)] = 1;", 2),
        ("PUT(s[t * 4], 1);", None),
        ("BOTH();", 2),
        ("for (int i = s[t]; i < s[t + 1]; ++i) out[i] = 1;", None),
        ("float v = 0; while (s[t * 2] > v) v += 1;", None),
        ("float v = 0; do { v += 1; } while (s[t * 2] > v);", None),
        ("if (t > 7) goto end; s[t * 2] = 1; end:;", None),
        ("if (t < 24) { if (t < 8) return; } s[t * 2] = 1;", None),
        ("if (t < 24) { return; } else { out[t] = 1; } s[t * 2] = 1;", None),
        ("if (t < 24) return; s[t * 2] = 1;", 1),
        ("for (int i = 0; i < 2; ++i) { if (t < 8) continue; out[t] = 1; } s[t * 2] = 1;", 2),
        ("for (int i = 0; i < 2; ++i) { if (t < 8) { if (i) continue; } s[t * 2 + i] = 1; __syncthreads(); }", None),
        ("for (int i = 0; i < 4; ++i) for (int j = 0; j <= i; ++j) { s[t * 2 + j] = 1; __syncthreads(); }", 20),
        ("for (int i = 4; i > 0; --i) for (int j = i; j < 5; ++j) { s[t * 2] = 1; __syncthreads(); }", 20),
        ("for (int i = 0; i < 3; ++i) for (int j = i; j < 5; ++j) for (int k = 0; k < j; ++k) { s[t] = 1; __syncthreads(); }", 29),
        ("__shared__ Tile<33> p; p(t, 0) = 1; out[t] = p(t, 3);", None),
        ("__shared__ Tile<33> p; p[t * 32] = 1;", None),
        ("__shared__ Tile<33> p; Tile<33>& q = p; q[t * 32] = 1;", None),
        ("__pipeline_memcpy_async(&s[t * 4], in + t * 4, 16);", 4),
        ("__pipeline_memcpy_async(s + t * 2, in, sizeof(float2));", 2),
        ("__pipeline_memcpy_async(s, in, 12);", None),
        ("s[t / warpSize * 8 + t % warpSize * 4] = 1;", 4),
    ],
)
def test_what_is_in_shared_memory_is_counted_or_named(line: str, counted: int | None) -> None:
    text = PLACES.replace("LOOP", f"int t = threadIdx.x;\n  {line}").replace("TYPE", "float").replace("ALIGN", "alignas(16)")
    found = report(HELPERS + text)
    rows = [row.cost.wavefronts * (row.often.times or 0) for row in found.accesses if row.cost.wavefronts]
    assert sum(rows) == (counted or 0)
    assert bool(found.elements) is (counted is None)


def test_no_thread_stands_for_all_in_a_report() -> None:
    text = PLACES.replace("LOOP", "int t = threadIdx.x;\n  out[0] = s[abs(t - 8)];").replace("TYPE", "float").replace("ALIGN", "")
    (lost,) = report(text).elements
    assert lost.why == "how abs(t-8) is computed of threadIdx.x is not followed"
    reading = Reading(Source(text, "elements.cu"), Request((), let={"threadIdx.x": "5"}))
    with pytest.raises(CuteVizError, match="a report counts all threads of a block"):
        report_of(reading.file)


def test_what_may_be_one_load_across_unrolled_rounds_is_assumed_not_to_be() -> None:
    """nvcc takes four rounds of k at once where 17 * i + k begins at a multiple of 4."""
    for index, basis in (
        ("(t * 4 + i) * 17 + k", "assumed"),
        ("(t + i) * 17 + k", "proven"),
        ("(t * 4 + i) * 17 + 2 * k", "proven"),
    ):
        loop = f"int t = threadIdx.x;\n  for (int k = 0; k < 8; ++k) for (int i = 0; i < 4; ++i) out[i] = s[{index}];"
        found = report(PLACES.replace("LOOP", loop).replace("TYPE", "float").replace("ALIGN", ""))
        (row,) = [one for one in found.accesses if one.cost.wavefronts]
        assert row.basis["address"] == basis, index


def test_what_a_call_takes_by_value_is_an_access() -> None:
    head = "__device__ float same(float x) { return x; }\n__device__ float more(float& x) { return x += 1; }\n"
    calls = ("same(@)", "__float2half(fmaxf(0, @))", "unknown(1, @ * 2)")
    for call, counted in [*((x, True) for x in calls), ("more(@)", False), ("unknown(@, &@)", False)]:
        found = report(head + PLAIN.replace("PITCH", "33").replace("= tile[x][y + j]", f"= {call.replace('@', 'tile[x][y + j]')}"))
        assert any(row.cost.instruction == "ld.shared.32" for row in found.accesses) is counted, call
        assert bool(found.elements) is not counted, call


def test_the_block_may_be_given() -> None:
    text = PLAIN.replace("PITCH", "33").partition("int main")[0]
    kept = report_of(Reading(Source(text, "k.cu"), Request(())).file)
    assert kept is not None
    assert {one.why for one in kept.elements} == {
        "how many threads the block has is not known: nothing here launches the kernel; give it: `let=blockDim.x=32`"
        " `let=blockDim.y=8`"
    }
    half = report_of(Reading(Source(text, "k.cu"), Request((), let={"blockDim.x": "32"})).file)
    assert half is not None
    assert not half.accesses, "a kernel that names two directions of a block needs both"
    found = report_of(Reading(Source(text, "k.cu"), Request((), let={"blockDim.x": "32", "blockDim.y": "8"})).file)
    assert found is not None
    assert {row.move.line: row.cost.wavefronts for row in found.accesses} == {4: 32, 6: 8, 7: 32}


BESIDE = """
__global__ void turn(float const* in, float* out) {
  __shared__ float tile[64][PITCH];
  int x = threadIdx.x, y = threadIdx.y;
  tile[4 * y][x] = in[x];
  tile[4 * y + 1][x] = in[x + 16];
  tile[4 * y + 2][x] = in[x + 32];
  tile[4 * y + 3][x] = in[x + 48];
  __syncthreads();
  float4 v;
  v.x = tile[4 * x + y / 4][y % 4 * 4];
  v.y = tile[4 * x + y / 4][y % 4 * 4 + 1];
  v.z = tile[4 * x + y / 4][y % 4 * 4 + 2];
  v.w = tile[4 * x + y / 4][y % 4 * 4 + 3];
  reinterpret_cast<float4*>(out)[16 * y + x] = v;
}
int main() { turn<<<1, dim3(16, 16)>>>(nullptr, nullptr); }
"""


@pytest.mark.parametrize(
    (
        "pitch",
        "loads",
        "stores",
    ),  # as an H100 counted them of LeetCUDA's mat_transpose_f32x4_shared_row2col2d: wavefronts of a warp
    [
        ("16", {11: ("ld.shared.128", 32)}, 2),
        ("17", dict.fromkeys((11, 12, 13, 14), ("ld.shared.32", 4)), 2),
        ("20", {11: ("ld.shared.128", 16)}, 1),
    ],
)
def test_neighbors_in_statements_beside_one_another_are_one_load(
    pitch: str, loads: dict[int, tuple[str, int]], stores: int
) -> None:
    found = report(BESIDE.replace("PITCH", pitch)).accesses
    each = {
        row.move.line: (row.cost.instruction, (row.cost.wavefronts or 0) // row.cost.instructions)
        for row in found
        if row.cost.wavefronts is not None
    }
    assert each == loads | dict.fromkeys((5, 6, 7, 8), ("st.shared.32", stores))


def test_an_array_in_a_comment_has_no_edit() -> None:
    text = BESIDE.replace("[PITCH];", "[16];\n  // __shared__ float tile[64][20];")
    edits = {str(row.fix.changes) for row in report(text).accesses if row.fix}
    assert edits == {str((("", 3, "tile[64][16]", "tile[64][20]"),))}


def test_dynamic_shared_memory_is_counted() -> None:
    """No place depends on the extent that only a launch knows."""
    text = """
__global__ void k(float* out, const float* in) {
  extern __shared__ float s[];
  s[threadIdx.x * 4] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}
__global__ void rows(float* out) {
  extern __shared__ float s[][32];
  out[threadIdx.x] = s[threadIdx.x][1];
}
void go(float* p) { k<<<1, 64, 1024>>>(p, p); rows<<<1, 64, 8192>>>(p); }
"""
    found = report(text)
    assert found.unknown == ()
    assert {(x.move.place, x.cost.instruction, x.cost.wavefronts, x.cost.ideal) for x in found.accesses} >= {
        ("4", "st.shared.32", 8, 2),
        ("6", "ld.shared.32", 2, 2),
        ("10", "ld.shared.32", 64, 2),
    }


ROWS = """
template <int BK> __global__ void k(float const* in, float* out) {
  ARRAY
  constexpr int LD = BK;
  for (int y = threadIdx.y; y < 32; y += 8) tile[y * ROW + threadIdx.x] = in[y * 32 + threadIdx.x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8) out[y * 32 + threadIdx.x] = tile[threadIdx.x * ROW + y];
}
int main() {
  float *a, *b;
  int bytes = 32 * 32 * sizeof(float);
  k<32><<<1, dim3(32, 8), BYTES>>>(a, b);
}
"""


@pytest.mark.parametrize(
    ("array", "row", "bytes", "new"),
    [
        ("extern __shared__ float tile[];", "32", "32 * 32 * sizeof(float)", {12: "32 * 32 * sizeof(float) + 124"}),
        ("extern __shared__ float tile[];", "LD", "bytes", {11: "32 * 32 * sizeof(float) + 124"}),
        ("__shared__ float tile[32 * 32];", "32", "0", {3: "33 * 32"}),
        ("__shared__ float tile[BK * 32];", "BK", "0", {3: "(BK + 1) * 32"}),
    ],
)
def test_rows_that_only_indices_have_are_longer_in_all_of_them(array: str, row: str, bytes: str, new: dict[int, str]) -> None:
    """Each index, and what holds the rows: the extent of the array, or the bytes of the launch."""
    text = ROWS.replace("ARRAY", array).replace("ROW", row).replace("BYTES", bytes)
    (bad,) = [one for one in report(text).accesses if one.cost.wavefronts and one.cost.ways > 1]
    longer = "33" if row == "32" else f"({row} + 1)"
    indices = {5: f"y * {longer} + threadIdx.x", 7: f"threadIdx.x * {longer} + y"}
    assert bad.fix is not None
    assert {edit.line: edit.new for edit in bad.fix.edits} == indices | new
    assert (bad.cost.wavefronts, bad.left) == (1024, 32)


def test_rows_in_indices_stay_where_nobody_sees_the_launch() -> None:
    text = ROWS.replace("ARRAY", "extern __shared__ float tile[];").replace("ROW", "32")
    text = text.replace("k<32><<<1, dim3(32, 8), BYTES>>>(a, b);", "")
    given = {"BK": "32", "blockDim.x": "32", "blockDim.y": "8"}
    found = report_of(Reading(Source(text, "rows.cu"), Request((), let=given)).file)
    assert found is not None
    (bad,) = [one for one in found.accesses if one.cost.wavefronts and one.cost.ways > 1]
    assert (bad.fix, bad.unfixed) == (None, "a stride of 33 instead of 32 needs 124 bytes more than tile has")


MEMBERS = """struct P { float x, y, z, m; };
struct Odd { char c; double d; short s[3]; unsigned char e; };
struct alignas(16) Apart { float x; };
__global__ void k(float* out, P p) {
  __shared__ P sp[128]; __shared__ float4 sq[128]; __shared__ Odd so[128]; __shared__ Apart sa[128]; __shared__ ushort2 su[128];
  int t = threadIdx.x;
  sp[t].x = out[t];
  __syncthreads();
  out[t] = sp[127 - t].m + sq[t].w;
  __syncthreads();
  out[t] = so[t].d + su[t].y;
  __syncthreads();
  out[t] = so[t].e;
  __syncthreads();
  sp[t] = p;
  out[t] = sq[t].x * sq[t].w;
  sa[t].x = 1;
  read(&so[t].d);
}
union Same { float f; int i; };
struct Mixed { union { float f; int i; }; unsigned char a : 4, b : 4; float g; };
struct Deep : Mixed { float2 p; half2 h; float m[3][3]; };
#pragma pack(push, 1)
struct Tight { char c; int i; };
#pragma pack(pop)
struct Taken { void (*f)(int); float x; };
__global__ void n(float* out) {
  __shared__ Same ss[128]; __shared__ Mixed sm[128]; __shared__ Deep sd[128]; __shared__ Tight st[128]; __shared__ Taken sk[128];
  int t = threadIdx.x;
  ss[t].i = out[t];
  sm[t].g = 1;
  sd[t].m[1][t % 2] = out[t];  __syncthreads();
  sd[t].p = make_float2(1, 2);
  st[t].c = out[t];
  st[t].i = out[t];
  sk[t].x = out[t];
  sm[t].a = out[t];
}
int main() { k<<<1, 128>>>(0, {}); n<<<1, 128>>>(0); }
"""


def test_members_of_structs_and_vectors_are_accesses_of_their_width() -> None:
    """By hand: an element of P and float4 has 4 words, of Odd 6 (x86 and CUDA align alike: d at 8, s at 16, e at 22),
    of Apart 4; of Mixed 3, of Deep 16 (p at 16, m at 28), of Tight 5 bytes."""
    found = report(MEMBERS)
    costs = {
        (row.move.line, row.cost.instruction, row.cost.wavefronts, row.cost.ideal)
        for row in found.accesses
        if row.cost.wavefronts is not None
    }
    assert costs == {
        (7, "st.shared.32", 16, 4), (9, "ld.shared.32", 16, 4), (11, "ld.shared.64", 8, 8), (11, "ld.shared.16", 4, 4),
        (13, "ld.shared.8", 8, 4), (17, "st.shared.32", 16, 4),
        (30, "st.shared.32", 4, 4), (31, "st.shared.32", 4, 4), (32, "st.shared.32", 64, 4), (33, "st.shared.64", 64, 8),
        (34, "st.shared.8", 8, 4),
    }  # fmt: skip
    assert {x.title: x.size for x in found.memory.shared if x.launch == "n"} == {"ss": 512, "sm": 1536, "sd": 8192, "st": 640}
    assert found.mistakes == ()
    lost = {(one.line, one.why) for one in found.elements if one.lost and one.name != "out"}
    assert {line for line, _ in lost} == {15, 16, 18, 35, 36, 37}  # each fails `max_ways=`
    assert (16, "how many members of an element of sq a compiler takes at once is not known") in lost
