"""One address, `FILE::SCOPE::NAME@LINE(slice)`, in every interface; and one environment: every command binds the same names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cute_viz
from cute_viz.errors import CuteVizError
from cute_viz.live.questions import answer
from cute_viz.source.address import Folder, address_of, query_of
from cute_viz.testing import assert_conflict_free, assert_covers, assert_same
from tests.commands import fails, run

KERNEL = """#include "traits.h"
using namespace cute;
template <class T> __global__ void gemm_tn(T* p) {
  auto sA = make_tensor(make_smem_ptr((half_t*)0), make_layout(make_shape(Int<8>{}, Int<16>{}, Int<3>{})));
  int stage = 1;
  auto tile = sA(_,_,stage);
}
void other() {
  auto sA = Layout<Shape<_4,_8>>{};
  auto sB = Layout<Shape<Int<N>, Width>>{};
  auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{});
  auto smem = composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{});
  auto tv = Layout<Shape<Shape<_8,_4>,_8>,Stride<Stride<_1,_64>,_8>>{};
}
"""
TRAITS = "using Width = _32;\nusing Wrong = Layout<Shape<Missing>>;\n"
PYTHON = """import cutlass.cute as cute

class Kernel:
    def __call__(self):
        sQ = cute.make_layout((4, 8, 2), stride=(8, 1, 32))
        return sQ
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A kernel, the header that it includes, and one in Python."""
    (tmp_path / "kernel.cu").write_text(KERNEL)
    (tmp_path / "traits.h").write_text(TRAITS)
    (tmp_path / "flash.py").write_text(PYTHON)
    return tmp_path


def out(folder: Path, *args: str) -> str:
    """What a command prints in a folder."""
    result = run(*args, cwd=folder)
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout.decode().rstrip("\n")


VALUES = [
    ("kernel.cu::gemm_tn::sA", "(_8,_16,_3):(_1,_8,_128)"),
    ("kernel.cu::gemm_tn::sA(_,_,0)", "(_8,_16):(_1,_8)"),
    ("kernel.cu::gemm_tn::sA(_,_,stage)", "(_8,_16):(_1,_8)"),
    ("kernel.cu::sA@4[None,None,0]", "(_8,_16):(_1,_8)"),
    ("kernel.cu::sA@4(_,_,0)(_,3)", "(_8):(_1)"),
    ("kernel.cu::sA@9", "(_4,_8):(_1,_4)"),
    ("kernel.cu::other.sA", "(_4,_8):(_1,_4)"),
    ("kernel.cu::Width", "_32"),
    ("flash.py::Kernel.__call__.sQ@5", "(4,8,2):(8,1,32)"),
    ("flash.py::sQ(_,_,1)", "(4,8):(8,1)"),
]


@pytest.mark.parametrize(("address", "value"), VALUES)
def test_its_value(folder: Path, address: str, value: str) -> None:
    assert out(folder, "eval", address) == value
    file, _, name = address.partition("::")
    assert out(folder, "eval", file, "--name", name) == value


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("kernel.cu::sA", "'sA' is defined 2 times\n  hint: gemm_tn::sA (line 4), other::sA (line 9)"),
        ("kernel.cu::none::sA", "nothing here is named 'none::sA'\n  hint: the file has gemm_tn::sA (line 4), other::sA (line 9)"),
        ("kernel.cu::sA@5", "the file has gemm_tn::sA (line 4), other::sA (line 9)"),
        ("kernel.cu::stge", "did you mean stage?"),
        ("kernel.cu::gemm_tn::sA(_,_)", "the slice (_,_) does not fit (_8,_16,_3):(_1,_8,_128)"),
        ("kernel.cu::gemm_tn::sA(_,_,k)", "'k'"),
        ("kernel.cu::sB", "--let N="),
        ("kernel.cu::Wrong", f"traits.h:2:28: {'Missing'!r}"),
        ("no.cu::sA", "no.cu: No such file"),
    ],
)
def test_what_is_wrong(folder: Path, word: str, words: str) -> None:
    assert words in fails(run("eval", word, cwd=folder), 1)


def test_an_address_and_a_name_are_one_too_many(folder: Path) -> None:
    assert "leave out --name sA" in fails(run("eval", "kernel.cu::sA", "--name", "sA", cwd=folder), 2)


@pytest.mark.parametrize(
    "word",
    ["GMMA::Layout_K_SW128_Atom<half_t>{}", "SM90::GMMA::Layout_K_SW128_Atom<half_t>{}", "cute::Layout<_4>{}", "(4,8):(8,1)"],
)
def test_words_of_cpp_are_no_files(word: str, tmp_path: Path) -> None:
    for name in ("GMMA", "SM90", "cute"):
        (tmp_path / name).write_text("")
    assert address_of(word) is None
    assert run("eval", word, cwd=tmp_path).returncode == 0


def test_its_parts() -> None:
    assert address_of("C:\\src\\k.cu::f::g") == ("C:\\src\\k.cu", "f::g")
    assert address_of("a b/k.cu::g") is None  # no such file, and no name of one without blanks
    assert query_of("A<a::b>::operator()::sA@12:3(_,size<0>(x))(1)") == (
        ("A<a::b>", "operator()", "sA"),
        "12:3",
        "(_,size<0>(x))(1)",
    )
    assert query_of("a@b") is None


def test_a_file_with_blanks_in_its_name(folder: Path) -> None:
    (folder / "my kernel (1).cu").write_text("auto a = Layout<_4>{};\n")
    assert out(folder, "eval", "./my kernel (1).cu::a") == "_4:_1"


LAYOUT, TV = "kernel.cu::smem", "kernel.cu::tv"
COMMANDS = {
    "show": (["show", "kernel.cu::other::sA"], "(_4,_8):(_1,_4)"),
    "fmt": (["fmt", "kernel.cu::other::sA", "--as", "dsl"], "cute.make_layout((4, 8), stride=(1, 4))"),
    "explain": (["explain", LAYOUT], "XOR"),
    "analyze": (["analyze", LAYOUT], "Sw<3,3,3> of elements"),
    "access": (["analyze", LAYOUT, "--access", TV, "--instruction", "ldmatrix.x4", "--type", "f16"], "4 are ideal: no conflicts"),
    "own": (["analyze", LAYOUT, "--access", "tv", "--instruction", "ldmatrix.x4", "--type", "f16"], "4 are ideal: no conflicts"),
    "elsewhere": (["analyze", "(8,64):(64,1)", "--access", TV, "--instruction", "ldmatrix.x4", "--type", "f16"], "up to 8-way"),
    "list": (["list", "kernel.cu::gemm_tn"], "gemm_tn::tile"),
    "slice": (["list", "kernel.cu::gemm_tn::sA(_,_,0)"], "(_8,_16):(_1,_8)"),
    "swizzle": (["swizzle", "kernel.cu::smem", "--read", "ldmatrix", "--top", "1"], "Sw<3,3,3>"),
    "check": (["check", "kernel.cu::other::sA", "--emit", "ptx"], ".entry"),
    "render": (["render", "kernel.cu::other::sA"], "(_4,_8):(_1,_4)"),
    "several": (["render", "kernel.cu::other::sA", "flash.py::sQ(_,_,0)", "-T", "json"], '"page"'),
    "all": (["render", "kernel.cu::gemm_tn", "--all", "-T", "json"], "gemm_tn::sA"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command(folder: Path, name: str) -> None:
    argv, words = COMMANDS[name]
    assert words in out(folder, *argv)


def test_a_filter_leaves_others_out(folder: Path) -> None:
    assert [row["path"] for row in json.loads(out(folder, "list", "kernel.cu::other::sA", "--json"))] == ["other::sA"]
    assert "other" not in out(folder, "list", "kernel.cu::gemm_tn")


@pytest.mark.parametrize("layout", ["(2,4):(4,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)", "(2,3,4):(1,2,6)", "16:2", "(3,2):(0,1)"])
def test_a_table_of_a_layout_is_solved(layout: str) -> None:
    assert run("solve", "-", stdin=run("fmt", layout, "--as", "table").stdout).stdout.decode().strip() == layout


def test_in_python(folder: Path) -> None:
    path = str(folder / "kernel.cu")
    assert str(cute_viz.parse(f"{path}::gemm_tn::sA(_,_,0)")) == "(_8,_16):(_1,_8)"
    assert str(cute_viz.parse(f"{path}::sB", {"N": 4})) == "(_4,_32):(_1,_4)"
    assert cute_viz.figure(f"{path}::other::sA").panels[0].rows == 4
    assert cute_viz.render(f"{path}::other::sA", "text").startswith(b"(_4,_8):(_1,_4)")


def test_in_assertions(folder: Path) -> None:
    path = str(folder / "kernel.cu")
    assert_conflict_free(f"{path}::smem", f"{path}::tv", "f16", instruction="ldmatrix.x4")
    assert_same(f"{path}::sB", "(4,32)", let={"N": 4})
    with pytest.raises(AssertionError):
        assert_same(f"{path}::other::sA", "(4,8):(8,1)")
    with pytest.raises(AssertionError):
        assert_covers(f"{path}::other::sA", "8x8")


SPEC = "let: {N: 4}\nlayout: src/kernel.cu::sB\nexpect: {same: '(4,32)'}\n"


def test_in_a_spec(folder: Path) -> None:
    (folder / "src").mkdir()
    for name in ("kernel.cu", "traits.h"):
        (folder / name).rename(folder / "src" / name)
    (folder / "pictures.yaml").write_text(SPEC)
    assert out(folder, "eval", "src/kernel.cu::sB", "--let", "N=4") in out(folder, "render", "pictures.yaml")
    assert run("check-spec", "pictures.yaml", cwd=folder).returncode == 0
    (folder / "src" / "traits.h").write_text("using Width = _16;\n")
    assert "same does not hold: (_4,_16):(_1,_4)" in fails(run("check-spec", "pictures.yaml", cwd=folder), 1)


def out_of(folder: Path, *args: str) -> str:
    """What a command prints, whether it fails or not."""
    return run(*args, cwd=folder).stdout.decode()


@pytest.mark.parametrize("place", ["../kernel.cu", "link.cu", "linked/kernel.cu", "{absolute}"])
def test_a_spec_does_not_leave_its_folder(folder: Path, place: str) -> None:
    inside = folder / "specs"
    inside.mkdir()
    (inside / "link.cu").symlink_to(folder / "kernel.cu")
    (inside / "linked").symlink_to(folder)
    (inside / "x.yaml").write_text(f"layout: {place.format(absolute=folder / 'kernel.cu')}::other::sA\n")
    (inside / "x.md").write_text(
        f"<!-- cute-viz: {place.format(absolute=folder / 'kernel.cu')}::other::sA -->\n<!-- /cute-viz -->\n"
    )
    assert "leads out of the folder" in fails(run("render", "specs/x.yaml", cwd=folder), 1)
    assert "leads out of the folder" in fails(run("embed", "specs/x.md", cwd=folder), 1)
    if place == "../kernel.cu":  # of a gallery of the folder around it, it is inside
        assert run("gallery", ".", "-o", "gallery", cwd=folder).returncode == 0


def test_an_include_does_not_lead_out_either(folder: Path) -> None:
    inside = folder / "specs"
    inside.mkdir()
    (inside / "k.cu").write_text('#include "traits.h"\nusing A = Layout<Width>;\n')
    (inside / "x.yaml").write_text("layout: k.cu::A\n")
    assert out(folder, "eval", "specs/k.cu::A") == "_32:_1"
    assert "'Width' is not defined" in fails(run("render", "specs/x.yaml", cwd=folder), 1)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        *((name, True) for name in ("s_d.h", "../s_c.h", "s_c.h", "../../../s_a.h", "s_a.h", "l_d.h", "l_c.h")),
        *((name, False) for name in ("s_top.h", "../../../../s_top.h", "l_top.h", "../l_top.h")),
    ],
)
def test_includes_climb_three_folders_and_no_link_leads_further(name: str, read: bool, tmp_path: Path) -> None:
    deep = tmp_path / "top" / "a" / "b" / "c" / "d"
    deep.mkdir(parents=True)
    for folder in (deep, *list(deep.parents)[:4]):
        (folder / f"s_{folder.name}.h").write_text("using S = _8;\n")
    for link, to in (("l_d", deep / "s_d.h"), ("l_c", deep.parent / "s_c.h"), ("l_top", tmp_path / "top" / "s_top.h")):
        (deep / f"{link}.h").symlink_to(to)
    (deep.parent / "l_top.h").symlink_to(tmp_path / "top" / "s_top.h")
    (deep / "k.cu").write_text(f'#include "{name}"\nusing A = Layout<S>;\n')
    done = run("eval", "k.cu::A", cwd=deep)
    assert (out(deep, "eval", "k.cu::A") == "_8:_1") if read else "'S' is not defined" in fails(done, 1)


def test_a_gallery_follows_the_kernel(folder: Path) -> None:
    (folder / "specs").mkdir()
    for name in ("kernel.cu", "traits.h"):
        (folder / name).rename(folder / "specs" / name)
    (folder / "specs" / "b.yaml").write_text("let: {N: 4}\nlayout: kernel.cu::sB\n")
    (folder / "specs" / "plain.yaml").write_text("layout: (2,2)\n")
    gallery = ("gallery", "specs", "-o", "pictures")
    assert run(*gallery, cwd=folder).returncode == 0
    assert run(*gallery, "--check", cwd=folder).returncode == 0
    (folder / "specs" / "traits.h").write_text("using Width = _16;\n")
    assert "differs: b.svg" in out_of(folder, *gallery, "--check")
    assert "1 drawn" in run(*gallery, cwd=folder).stderr.decode()
    assert "16" in (folder / "pictures" / "b.svg").read_text()
    assert run(*gallery, "--check", cwd=folder).returncode == 0


def test_a_document_follows_the_kernel(folder: Path) -> None:
    text = "<!-- cute-viz: kernel.cu::sB | let=N:4 name=b -->\n<!-- /cute-viz -->\n"
    (folder / "x.md").write_text(text)
    assert run("embed", "x.md", cwd=folder).returncode == 0
    assert "(_4,_32):(_1,_4)" in (folder / "b.svg").read_text()
    assert run("embed", "x.md", "--check", cwd=folder).returncode == 0
    (folder / "traits.h").write_text("using Width = _16;\n")
    assert "b.svg is out of date" in out_of(folder, "embed", "x.md", "--check")
    (folder / "traits.h").unlink()
    assert "'Width'" in run("embed", "x.md", "--check", cwd=folder).stderr.decode()


def test_a_site_of_markdown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cute_viz.ext.markdown import formatter

    monkeypatch.chdir(folder)
    assert "(_4,_32):(_1,_4)" in formatter("kernel.cu::sB", "cute-viz", "cute-viz", {"let": "N:4"}, None)
    assert "leads out of the folder" in formatter("/etc/x.cu::sB", "cute-viz", "cute-viz", {}, None)


@pytest.mark.slow
def test_sphinx(folder: Path) -> None:
    pytest.importorskip("sphinx")
    (folder / "conf.py").write_text('extensions = ["cute_viz.ext.sphinx"]\n')
    (folder / "index.rst").write_text("Kernels\n=======\n\n.. cute-viz:: kernel.cu::sB\n   :let: N:4\n")
    command = [sys.executable, "-m", "sphinx", "-W", str(folder), str(folder / "_build")]
    environment = {**os.environ, "PYTHONPATH": str(Path(cute_viz.__file__).parents[1])}

    def build() -> str:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr.decode()
        return (folder / "_build" / "index.html").read_text()

    assert "(_4,_32):(_1,_4)" in build()
    (folder / "traits.h").write_text("using Width = _16;\n")
    assert "(_4,_16):(_1,_4)" in build()


def test_in_questions(folder: Path) -> None:
    """Those of the page and the tools of assistants: only files of the folder that a server was given."""
    where = Folder(str(folder), str(folder))
    for kind, part in (
        ("draw", "svg"),
        ("tool.show", "layout"),
        ("tool.render", "base64"),
        ("facts", "facts"),
        ("tool.explain", "steps"),
    ):
        assert part in answer({"ask": kind, "source": "kernel.cu::smem"}, folder=where), kind
    assert answer({"ask": "tool.eval", "source": "kernel.cu::sB", "let": {"N": 4}}, folder=where)["value"] == "(_4,_32):(_1,_4)"
    words = {
        "ask": "tool.analyze",
        "source": "kernel.cu::smem",
        "access": "kernel.cu::tv",
        "instruction": "ldmatrix.x4",
        "type": "f16",
    }
    assert answer(words, folder=where)["wavefronts"] == 4
    assert answer({"ask": "tool.swizzle", "source": "kernel.cu::smem"}, folder=where)["winner"] == "Sw<3,3,3>"
    listed = answer({"ask": "tool.list", "source": "kernel.cu::gemm_tn"}, folder=where)["objects"]
    assert [row["path"] for row in listed] == [f"gemm_tn::{name}" for name in ("sA", "tile")]
    for source in ("../kernel.cu::smem", str(folder / "kernel.cu") + "::smem"):
        assert "error" in answer({"source": source}, folder=Folder(str(folder / "in"), str(folder / "in")))
    assert "cannot be read here" in answer({"source": "kernel.cu::smem"})["error"]["message"]
    assert "error" in answer({"source": "(4,8)", "options": {"thread": "0", "tensor": str(folder / "kernel.cu::smem")}})


LAUNCHED = """#include <cute/tensor.hpp>
using namespace cute;
template <class TmaX, class SL>
__global__ void k1(const __grid_constant__ TmaX tma_x, SL, int m, int k) {
  auto gX = tma_x.get_tma_tensor(make_shape(m, k));
  auto btma = tma_x.get_slice(0);
  auto tXg = btma.partition_S(gX);
}
void launch(half_t* p, int m, int k, int n) {
  auto X = make_tensor(make_gmem_ptr(p), make_shape(m, k), make_stride(k, Int<1>{}));
  auto sl = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64,_64>{});
  auto tma_x = make_tma_copy(SM90_TMA_LOAD{}, X, sl);
  @
}
"""
HELD = "auto kernel = k1<decltype(tma_x), decltype(sl)>;\n  "
LAUNCHES = {
    "at once": "k1<decltype(tma_x), decltype(sl)><<<1, 128, 0>>>(tma_x, sl, m, k);",
    "a variable": HELD + "kernel<<<1, 128, 0>>>(tma_x, sl, m, k);",
    "dim3": HELD + "int sz = 4; kernel<<<dim3(std::min(132, n)), 128, sz>>>(tma_x, sl, m, k);",
    "twice": HELD + "kernel<<<1, 128>>>(tma_x, sl, m, k);\n  kernel<<<2, 128>>>(tma_x, sl, m, k);",
}


@pytest.mark.parametrize("how", LAUNCHES)
def test_a_launch_binds_the_same_for_all(folder: Path, how: str) -> None:
    (folder / "a.cu").write_text(LAUNCHED.replace("@", LAUNCHES[how]))
    let = ("--let", "m=128", "--let", "k=64")
    value = "ArithTuple(_0,_0) o (((_64,_64),_1),2,1):(((_1@0,_1@1),_0),_64@1,_64@0)"
    rows = {row["name"]: row for row in json.loads(out(folder, "list", "a.cu", "--json", *let))}
    assert rows["tXg"]["value"] == out(folder, "eval", "a.cu::tXg", *let) == value
    without = {row["name"]: row for row in json.loads(out(folder, "list", "a.cu", "--json"))}
    assert without["tXg"]["needs"] == ["m", "k", "tma_x"]


def test_a_variable_that_is_launched_in_two_ways_is_no_guess(folder: Path) -> None:
    two = HELD + "kernel<<<1, 1>>>(tma_x, sl, m, k);\n  kernel<<<1, 1>>>(tma_x, sl, m, n);"
    (folder / "a.cu").write_text(LAUNCHED.replace("@", two))
    rows = {row["name"]: row for row in json.loads(out(folder, "list", "a.cu", "--json", "--let", "m=128", "--let", "k=64"))}
    assert rows["tXg"]["value"] is None


def test_an_include_is_read_by_all(folder: Path) -> None:
    (folder / "traits.h").write_text("template <int D> struct Traits { using SmemLayout = Layout<Shape<_64,Int<D>>>; };\n")
    (folder / "k.cu").write_text(
        '#include "traits.h"\nusing T = Traits<64>;\n__global__ void k() { using L = typename T::SmemLayout; }\n'
    )
    value = "(_64,_64):(_1,_64)"
    assert [(row["path"], row["value"]) for row in json.loads(out(folder, "list", "k.cu", "--json"))][-1] == ("k::L", value)
    assert out(folder, "eval", "k.cu", "--name", "L") == out(folder, "eval", "k.cu::Traits<64>::SmemLayout") == value
    assert value in out(folder, "render", "k.cu", "--all", "-T", "svg")
    assert value in out(folder, "analyze", "k.cu::L")
    (served,) = [
        row
        for row in answer({"ask": "objects", "source": (folder / "k.cu").read_text()}, path=str(folder / "k.cu"))["objects"]
        if row["name"] == "L"
    ]
    assert served["value"] == value


TAGGED = """template <class Tag> struct Pick { using L = Layout<Shape<Int<Tag::n>>>; };
template <int N> struct LaunchCfg { static constexpr int n = N; };
template <class cfg_tag> void k() {
  auto s = make_tensor(make_smem_ptr((half_t*)0), typename Pick<cfg_tag>::L{});
  auto r = make_tensor_like(s);
  copy(s, r);
}
"""


def test_values_of_classes_are_taken_by_all(folder: Path) -> None:
    (folder / "k.cu").write_text(TAGGED)
    let = ("--let", "cfg_tag=LaunchCfg<8>")
    value = "(_8):(_1)"
    rows = {row["name"]: row for row in json.loads(out(folder, "list", "k.cu", "--json", *let))}
    assert rows["s"]["value"] == out(folder, "eval", "k.cu::s", *let) == value
    assert out(folder, "show", "k.cu::s", *let).splitlines()[0].split()[-1] == value
    assert "cfg_tag" not in out(folder, "analyze", "k.cu", *let)


DEFAULTS = """__global__ void k(int m) { auto a = make_layout(make_shape(m, _8{})); }
int main(int argc, char** argv) {
  int m = 512;
  if (argc >= 2) sscanf(argv[1], "%d", &m);
  k<<<1, 1>>>(m);
}
"""


def test_sizes_of_main_are_those_without_arguments_for_all_and_said(folder: Path) -> None:
    (folder / "k.cu").write_text(DEFAULTS)
    said = b"note: m = 512 (line 3), as without arguments; --let m=... gives another"
    value = b"(512,_8):(_1,512)"
    for argv in (["list", "k.cu"], ["list", "k.cu", "--json"], ["eval", "k.cu::a"], ["render", "k.cu::a"], ["show", "k.cu::a"]):
        result = run(*argv, cwd=folder)
        assert value in result.stdout, argv
        assert said in result.stderr, argv
    assert b"(64,_8):(_1,64)" in run("eval", "k.cu::a", "--let", "m=64", cwd=folder).stdout
    found = answer({"ask": "tool.list", "source": DEFAULTS})
    assert [row["value"] for row in found["objects"] if row["path"].endswith("a")] == [value.decode()]
    assert found["notes"] == ['m = 512 (line 3), as without arguments; let {"m": "..."} gives another']


def test_what_a_file_includes_never_makes_it_too_long(tmp_path: Path) -> None:
    from cute_viz.limits import raised
    from cute_viz.source.opened import with_includes

    for n in range(60):
        (tmp_path / f"h{n}.h").write_text(f'#include "h{n + 1}.h"\n' + "int x;\n" * 8)
    with raised({"input": 2000}):
        text = with_includes(str(tmp_path / "k.cu"), '#include "h0.h"\nint a;\n', files := {})
    assert 1 < len(files) < 60
    assert len(text) <= 2000


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """A repository of two commits: the second changes what the kernel includes, and a module that is imported."""
    for name in ("csrc/kernels", "include", "py/lib"):
        (tmp_path / name).mkdir(parents=True)
    git(tmp_path, "init", "-q", "-b", "main")
    for key, value in (("user.email", "a@b"), ("user.name", "n"), ("commit.gpgsign", "false")):
        git(tmp_path, "config", key, value)
    kernel = '#include "include/traits.h"\n__global__ void f() {\n  auto sA = Layout<Shape<_8, Int<W>>>{};\n}\n'
    (tmp_path / "csrc/kernels/k.cu").write_text(kernel)
    (tmp_path / "py/lib/__init__.py").write_text("")
    (tmp_path / "py/k.py").write_text("from lib import sizes\n\ndef f():\n    sA = cute.make_layout((8, sizes.W))\n")
    for value in (32, 64):
        (tmp_path / "include/traits.h").write_text(f"constexpr int W = {value};\n")
        (tmp_path / "py/lib/sizes.py").write_text(f"W = {value}\n")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", str(value))
    git(tmp_path, "tag", "v2")
    return tmp_path


def test_a_revision_has_what_it_included_then(history: Path) -> None:
    first = git(history, "rev-parse", "--short", "HEAD~1").strip()
    (history / "include/traits.h").write_text("constexpr int W = 128;\n")
    for where, there in (
        (history, "csrc/kernels/k.cu"),
        (history / "csrc/kernels", "k.cu"),
        (history, str(history / "csrc/kernels/k.cu")),
    ):
        for at, wide in (("", 128), ("@HEAD", 64), ("@v2", 64), ("@HEAD~1", 32), (f"@{first}", 32), ("@HEAD^", 32)):
            assert out(where, "eval", f"{there}{at}::f::sA") == f"(_8,_{wide}):(_1,_8)"
    (history / "csrc/kernels/k.cu").unlink()
    assert out(history, "eval", "csrc/kernels/k.cu@HEAD~1::sA(_,0)") == "(_8):(_1)"
    for at, wide in (("", 64), ("@HEAD~1", 32)):
        assert out(history, "eval", f"py/k.py{at}::sA") == f"(8,{wide}):(1,8)"


def test_two_revisions_side_by_side(history: Path) -> None:
    found = json.loads(out(history, "render", "py/k.py@HEAD~1::sA", "py/k.py::sA", "--diff", "-T", "json"))
    assert found["title"] == "256 of 512 cells differ, 256 are new or gone"
    assert [panel["cols"] for panel in found["panels"]] == [64, 64]


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("csrc/kernels/k.cu@HEAD~9::sA", "csrc/kernels/k.cu@HEAD~9: the repository has no revision 'HEAD~9'"),
        ("csrc/kernels/none.cu@HEAD::sA", "csrc/kernels/none.cu@HEAD: the file was not there"),
        ("k.cu@HEAD::sA", "the file was not there\n  hint: there was csrc/kernels/k.cu"),
        ("csrc/kernels/k.cu@HEAD::none", "csrc/kernels/k.cu@HEAD: nothing here is named 'none'"),
        ("../x.cu@HEAD::sA", "this is not in a Git repository"),
        ("link.cu@HEAD::sA", "link.cu@HEAD: the file was not there"),
    ],
)
def test_what_is_wrong_with_a_revision(history: Path, word: str, words: str) -> None:
    (history / "link.cu").symlink_to("/etc/passwd")
    git(history, "add", "-A")
    git(history, "commit", "-q", "-m", "a link")
    assert words in fails(run("eval", word, cwd=history), 1)


def test_a_revision_runs_nothing_of_the_repository(history: Path) -> None:
    """Hooks, filters, text conversions, monitors and aliases of a repository are somebody else's programs."""
    mark = history / "ran"
    (history / "bad").write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    (history / "bad").chmod(0o755)
    (history / ".gitattributes").write_text("* filter=bad diff=bad\n")
    git(history, "add", ".gitattributes")
    git(history, "commit", "-q", "-m", "attributes")
    for key in ("filter.bad.smudge", "filter.bad.clean", "diff.bad.textconv", "diff.external", "core.fsmonitor", "core.pager"):
        git(history, "config", key, str(history / "bad"))
    for hook in ("post-checkout", "pre-commit", "post-index-change", "reference-transaction"):
        (history / ".git/hooks" / hook).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (history / ".git/hooks" / hook).chmod(0o755)
    assert out(history, "eval", "csrc/kernels/k.cu@HEAD~1::sA") == "(_8,_64):(_1,_8)"
    assert not mark.exists()


def test_a_server_and_documents_read_no_revisions(history: Path) -> None:
    from cute_viz.engine import Request, ask

    with pytest.raises(CuteVizError, match="revisions are not read here"):
        str(ask(Request(("csrc/kernels/k.cu@HEAD::sA",), folder=Folder(str(history), str(history)))).obj)


def test_an_attribute_of_ir_is_found_as_ir_spells_it(tmp_path: Path) -> None:
    blocked = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>"
    text = f"#blocked = {blocked}\nmodule {{\n  %0 = tt.splat %a : f16 -> tensor<4x16xf16, #blocked>\n}}\n"
    (tmp_path / "k.ttgir").write_text(text, "utf-8")
    answers = [run("eval", f"{tmp_path}/k.ttgir::{name}").stdout for name in ("blocked", "#blocked")]
    assert answers == [b"((8,4),2):((8,1),4)\n"] * 2
