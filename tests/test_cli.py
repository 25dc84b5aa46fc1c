"""The command line, as a user meets it: exit status, streams, files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.commands import fails, run

TV = "((16,8),8):((64,1),8)"


def test_the_main_job(tmp_path: Path) -> None:
    out = tmp_path / "tv.svg"
    result = run("render", TV, "--tile", "8x128", "-o", str(out))
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")
    assert ElementTree.parse(out).getroot().tag.endswith("svg")
    assert os.listdir(tmp_path) == ["tv.svg"]


def test_text_goes_to_stdout() -> None:
    result = run("render", "(2,4):(4,1)")
    assert result.stdout.startswith(b"(2,4):(4,1)\n")
    assert b" 1  | 4 | 5 | 6 | 7 |" in result.stdout
    assert result.stderr == b""


def test_a_file_is_left_alone_when_nothing_changes(tmp_path: Path) -> None:
    out = tmp_path / "x.svg"
    run("render", "(2,4)", "-o", str(out))
    os.utime(out, (1, 1))
    run("render", "(2,4)", "-o", str(out))
    assert out.stat().st_mtime == 1
    run("render", "(4,4)", "-o", str(out))
    assert out.stat().st_mtime > 1


def test_json_draws_the_same_picture_again(tmp_path: Path) -> None:
    model = tmp_path / "f.json"
    for args in (["(4,8):(8,1)"], [TV, "--tile", "8x128", "--view", "both"], ["(2,3,4)"]):
        assert run("render", *args, "-o", str(model)).returncode == 0
        for format_ in ("text", "svg", "tikz", "json"):
            again = run("render", str(model), "-T", format_)
            assert again.returncode == 0, again.stderr
            assert again.stdout == run("render", *args, "-T", format_).stdout


def test_stdin() -> None:
    assert run("render", "-", stdin=b"(2,4):(4,1)\n").stdout == run("render", "(2,4):(4,1)").stdout
    figure = run("render", "(2,4)", "-T", "json").stdout
    assert run("render", "-", stdin=figure).stdout == run("render", "(2,4)").stdout
    assert run("analyze", "-", stdin=b"(2,4):(4,1)\n").stdout == run("analyze", "(2,4):(4,1)").stdout
    assert "UTF-8" in fails(run("render", "-", stdin=b"\xff\xfe("), 1)
    assert "nothing to read" in fails(run("render", "-", stdin=b""), 1)


@pytest.mark.parametrize(
    ("args", "status", "words"),
    [
        (["render", "(4,8,)"], 1, "a mode is missing"),
        (["render", "(2,2,2)", "--tile", "2x4"], 1, "two modes"),
        (["render", "(4,8)", "--tile", "3x4"], 1, "outside the 3 x 4 tile"),
        (["render", "(1000000,1000000)"], 1, "--max-cells"),
        (["render", "(4,8)", "--palette", "neon"], 1, "tol-light"),
        (["render", "(4,8)", "-o", "missing/x.svg"], 1, "missing/x.svg: No such file"),
        (["render", "nothing.json"], 1, "nothing.json: No such file"),
        (["render", "(4,8)", "-T", "gif"], 2, "invalid value 'gif' for -T; one of text, svg"),
        (["render", "(4,8)", "-o", "x.gif"], 2, "unknown file suffix '.gif'"),
        (["render", "(4,8)", "-T", "svg", "-o", "x.tex"], 2, "does not match the suffix"),
        (["render", "(4,8)", "--tile", "4by8"], 2, "rows x columns"),
        (["render", "(4,8)", "--tile", "0x8"], 2, "rows x columns"),
        (["render"], 2, "Missing argument"),
        (["rander", "(4,8)"], 2, "did you mean 'render'"),
        (["(4,8):(8,1)"], 2, "cute-viz render '(4,8):(8,1)'"),
        (["eval", "(4,8):8"], 1, "one number"),
        (["show", "(4:1,8:1)"], 1, "not a layout"),
    ],
)
def test_bad_input(args: list[str], status: int, words: str, tmp_path: Path) -> None:
    assert words in fails(run(*args, cwd=tmp_path, env={"PYTHONPATH": os.getcwd()}), status)
    assert os.listdir(tmp_path) == []


def test_no_half_file_when_a_folder_cannot_be_written(tmp_path: Path) -> None:
    target = tmp_path / "folder.svg"
    target.mkdir()
    assert "folder.svg" in fails(run("render", "(4,8)", "-o", str(target)), 1)
    assert os.listdir(tmp_path) == ["folder.svg"]


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m cute_viz render '(200,200)' | head -1"
    result = subprocess.run(["bash", "-c", command + "; exit ${PIPESTATUS[0]}"], capture_output=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout == b"(200,200):(1,200)\n"


def test_color_choices() -> None:
    plain = run("render", "(2,4)").stdout
    assert b"\x1b[" not in plain
    assert b"\x1b[" in run("render", "(2,4)", "--color", "always").stdout
    assert b"\x1b[" in run("render", "(2,4)", env={"FORCE_COLOR": "1"}).stdout
    assert run("render", "(2,4)", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout == plain
    assert b"\x1b[" in run("render", "(2,4)", "--color", "always", env={"NO_COLOR": "1"}).stdout
    assert run("render", "(2,4)", "--color", "never", env={"FORCE_COLOR": "1"}).stdout == plain


def test_eval() -> None:
    result = run("eval", "a = (4,8):(8,1); a(2,3)", "a", "((_2,_2)):((_1,_2))")
    assert result.stdout == b"19\n(4,8):(8,1)\n((_2,_2)):((_1,_2))\n"


def test_eval_compares() -> None:
    lines = ["coalesce((4,8):(1,4)) == 32:1", "(4,8):(8,1) == (4,8):(1,4)", "(4,8):(8,1) != 32:1", "(_4,8) == (4,8)"]
    assert run("eval", *lines).stdout == b"1\n0\n1\n1\n"
    assert "unexpected '=='" in fails(run("eval", "4:1 == 4:1 == 4:1"), 1)
    for text in ("A = (?,4):(4,1); A == (8,4):(4,1)", "(?,4):(4,1) == (8,4):(4,1)"):
        assert "cannot determine" in fails(run("eval", text), 1)


def test_eval_of_lines() -> None:
    lines = ["(4,8):(8,1)", "(4,8,)", "", "a = 4:2", "a(3)", "nobody(", "\x1b", "(_4):(_2)"]
    result = run("eval", "-", stdin="\n".join(lines).encode())
    out = result.stdout.decode().splitlines()
    assert len(out) == len(lines)
    assert out[0] == "(4,8):(8,1)"
    assert out[1].startswith("error: ")
    assert out[2:5] == ["", "4:2", "6"]
    assert out[5].startswith("error: ")
    assert out[6].startswith("error: ")
    assert out[7] == "(_4):(_2)"
    assert (result.returncode, result.stderr) == (1, b"")
    assert run("eval", "-", stdin=b"4:1\n").returncode == 0
    assert run("eval", "-", stdin=b"\xff\n").stdout.startswith(b"error: ")


def test_show() -> None:
    facts = json.loads(run("show", "--json", "(4,8):(9,1)").stdout)
    assert facts["cosize"] == 35
    assert facts["injective"] is True
    assert facts["contiguous"] is False
    assert b"cosize" in run("show", "(4,8):(9,1)").stdout
    assert run("show", "(1000000,1000000)").returncode == 0


def test_help_has_examples() -> None:
    for command in ("render", "eval", "show", "list"):
        text = run(command, "--help").stdout.decode()
        assert "Examples:" in text
        assert f"cute-viz {command}" in text


@pytest.mark.parametrize("topic", ["formats", "palettes", "ops", "views", "themes", "targets", "limits"])
def test_list(topic: str) -> None:
    result = run("list", topic)
    assert result.returncode == 0
    assert len(result.stdout.splitlines()) >= 4


def test_shell_completion() -> None:
    script = run(env={"_CUTE_VIZ_COMPLETE": "bash_source"})
    assert b"cute" in script.stdout


@pytest.mark.parametrize(
    ("words", "word", "offered"),
    [
        (["render"], "SM80_16x8x16_F32F16", ("plain", "SM80_16x8x16_F32F16F16F32_TN")),
        (["render"], "l", ("file", "l")),  # a spec begins so, too, and hides no file
        (["render"], "docs/kernel.cu::gemm_tn::s", ("plain", "docs/kernel.cu::gemm_tn::sA")),
        (["explain", "docs/kernel.cu", "--name"], "", ("plain", "gemm_tn::copy_A")),
        (["show", "docs/kernel.cu", "--name"], "gemm_tn::m", ("plain", "gemm_tn::mma")),
        (["analyze", "x.cu", "--type"], "bf", ("plain", "bf16")),
        (["render", "(4,8)", "-o"], "x", ("file", "x")),
        (["render", "(4,8)", "--palette"], "t", ("plain", "tol-light")),
        (["render"], "kern", ("file", "kern")),
        (["list", "k.cu", "-p"], "b", ("dir", "b")),
        (["render", "no such file.cu", "--name"], "", None),
    ],
)
def test_what_a_shell_offers(words: list[str], word: str, offered: tuple[str, str] | None) -> None:
    line = " ".join(f"'{w}'" for w in ["cute-viz", *words, word])
    given = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) + 1), "_CUTE_VIZ_COMPLETE": "bash_complete"}
    answer = run(env=given, cwd=Path(__file__).parent.parent)
    found = [tuple(found.split(",", 1)) for found in answer.stdout.decode().splitlines() if found]
    assert answer.stderr == b""
    assert offered in found if offered else not found


def test_completion_in_powershell() -> None:
    """The script names the variables that the answers are asked for with; a help is never empty, for PowerShell refuses that."""
    script = run(env={"_CUTE_VIZ_COMPLETE": "powershell_source"}).stdout.decode()
    assert "Register-ArgumentCompleter -Native -CommandName cute-viz" in script
    asked = set(re.findall(r"\$env:(\w+) = ", script))

    def answers(words: list[str], word: str) -> list[list[str]]:
        given = {"COMP_WORDS": "\n".join(words), "COMP_CWORD": word, "_CUTE_VIZ_COMPLETE": "powershell_complete"}
        assert asked == set(given)
        return [line.split("\t", 2) for line in run(env=given).stdout.decode().splitlines()]

    assert [value for _, value, _ in answers(["cute-viz"], "re")] == ["render", "record"]
    assert answers(["cute-viz", "render", "(4,8)", "--for"], "re")[0][:2] == ["plain", "readme"]
    atoms = answers(["cute-viz", "render"], "SM80_16x8x16_F32F16")
    assert "SM80_16x8x16_F32F16F16F32_TN" in [value for _, value, _ in atoms]
    assert all(text.strip() for *_, text in atoms)
    assert answers(["cute-viz", "render", "(4,8)", "-o"], "x")[0][0] == "file"
    assert answers(["cute-viz", "render", "(4,8)", "--theme"], "'da") == [["plain", "dark", "dark"]]


@pytest.mark.parametrize(
    ("args", "absent"),
    [
        (["render", TV, "--tile", "8x128", "-T", "text"], {"matplotlib", "yaml", "numpy", "rich", "svgwrite"}),
        (["render", TV, "--tile", "8x128", "-T", "svg"], {"matplotlib", "yaml", "numpy", "rich"}),
    ],
)
def test_a_cold_render_imports_only_what_it_needs(args: list[str], absent: set[str]) -> None:
    program = (
        "import sys; from cute_viz.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", program, *args], capture_output=True, timeout=60)
    loaded = set(result.stderr.decode().split())
    assert "cute_viz.renderers" in loaded
    assert not absent & loaded


def test_explain_and_the_warning_of_a_composition(tmp_path: Path) -> None:
    steps = run("explain", "complement(4:2, 24)")
    assert steps.returncode == 0
    assert steps.stdout.decode().splitlines()[-1].strip() == "(2,3):(1,8)"
    failed = run("explain", "composition((3,5,7):(35,7,1), (1):(7))")
    assert failed.returncode == 1
    assert b"Stride Divisibility Condition" in failed.stdout
    assert b"4 elements: (m) is at m" in run("explain", "4:1").stdout
    (tmp_path / "notes.txt").write_text("hello\nworld is (4,\n")
    assert "notes.txt:2:7: unexpected 'is'" in fails(run("explain", str(tmp_path / "notes.txt")), 1)
    warned = run("eval", "composition((4,6,8):(2,3,5),6:3)", "composition((8,2):(1,8), 4:2)")
    assert (warned.returncode, warned.stdout) == (0, b"(2,3):(6,3)\n4:2\n")
    assert warned.stderr.decode().count("warning: ") == 1


M = "SM80_16x8x16_F32F16F16F32_TN"
BLOCK_SCALED = "SM100_MMA_MXF8F6F4_SS<float_e4m3_t,float_e4m3_t,float,float_ue8m0_t,128,128,UMMA::Major::K,UMMA::Major::K>{}"
DENSE = "half_t, half_t, float, 128, 256, UMMA::Major::K, UMMA::Major::K"
GMEM = "make_tensor(make_gmem_ptr<float>(0), (64,32):(32,1))"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["explain", "a\nb"], "'a' is undefined"),
        (["show", "Swizzle<3,2,-3> o 2 o _4:-8@1"], "the offset is an integer and the values are coordinates"),
        (["show", "1:1 o 2 o 4:8@1"], "the offset 2 does not fit 1:1"),
        (["eval", "evenly_divides((8,4),(4,_))"], "_ has no size to divide by"),
        (
            ["eval", f"deduce_smem_layoutSFA({BLOCK_SCALED}, (128,128,128), 0)"],
            "one scale factor covers 16, 32, 64 elements",
        ),
        (["eval", f"make_instr_desc<{DENSE}, One, One, False, false, Shift8>()"], "Shift8 is not a shift"),
        (["eval", f"get_slice(make_tma_atom(SM90_TMA_LOAD{{}}, {GMEM}, (8,32):(32,1)), 0)"], "make_tma_copy makes a TiledCopy"),
        (
            ["explain", "cooperative_copy<7, 128>(0, {0}, {0})".format(GMEM.replace("(64,32):(32,1)", "(_8192,_8192)"))],
            "one by one",
        ),
    ],
)
def test_operands_that_do_not_go_together_are_no_mistake_of_ours(args: list[str], words: str) -> None:
    assert words in fails(run(*args), 1)


@pytest.mark.parametrize(
    ("args", "status", "words"),
    [
        (
            ["analyze", "(4,8):(8,1)", "--access", "((4,8),(2,2)):((32,1),(16,8))", "--type", "f16"],
            1,
            "thread 1 is at 32, outside",
        ),
        (["analyze", "(8,8):(8,1)", "--access", "(32,2):(-1,2)", "--type", "f32"], 1, "is at -1, outside"),
        (["analyze", "(8,8):(8,1)", "--access", "(4,8):(1@0,1@1)", "--type", "f16"], 1, "is at (0,0), outside"),
        (["analyze", "(8,8):(1@0,1@1)", "--access", "(4,8)"], 1, "are coordinates"),
        (["analyze", "(8,8):(8,1)", "-o", "x.svg"], 2, "-o needs --access"),
        (["analyze", "(8,8):(8,1)", "--store"], 2, "--store needs --access"),
        (
            ["render", M, "--thread", "5", "--tensor", "(4,8):(8,1)"],
            1,
            "thread 5 holds (9,2), which is outside",
        ),
        (["render", "(4,8):(1@0,1@1)", "--view", "banks"], 1, "are coordinates"),
        (["render", "make_layout(())", "--view", "banks"], 1, "0 modes"),
        (["render", f"make_tiled_mma({M}{{}}, (8,64), 32:1)", "-T", "svg"], 1, "outside the 32 x 512 tile"),
        (["render", "(4,4)", "--cell", "nan", "-T", "svg"], 2, "it must be a number from 0.01 to 400, not 'nan'"),
        (["render", "(4,4)", "--width", "nan", "-T", "svg"], 2, "it must be a number from 200 to 20000, not 'nan'"),
        (["render", "8:1@0@1 * Copy_Atom<UniversalCopy<float>, float>{}"], 1, "'*' is for integers"),
        (["render", "2@0 * 1@1"], 1, "'*' is for integers"),
        (["explain", "logical_divide((8,6))"], 1, "does not take 1 operand"),
        (["explain", "composition((8,6))"], 1, "does not take 1 operand"),
        (["render", "(4,4)", "--thread", "1"], 1, "--thread does not apply to a grid"),
        (["render", "ampere_gemm", "--view", "pipeline"], 1, "apply to a layout, not to a GEMM"),
        (
            ["analyze", "(8,64):(64,1)", "--access", "rows", "--instruction", "ld.32"],
            2,
            "does not apply to --access rows: it is for a",
        ),
        (["analyze", "docs/kernel.cu"], 1, "cute-viz analyze 32:2 --access 32:1 --global --type f32"),
        (["render", "(4,4)", "--type", "f16"], 1, "it applies to the views banks, address"),
        (["render", "(4,4)", "--view", "banks", "--tile", "2x2"], 1, "--tile does not apply to --view banks"),
        (["render", "(4,4)", "--style", "cutlass", "-T", "html"], 1, "CuTe has no printer for html"),
        (["render", "(4,4)", "--fragment"], 2, "--fragment applies to svg, tikz"),
        (["render", "(4,4)", "--width", "500"], 2, "--width applies to svg"),
        (["render", "(4,4)", "(4,4):(4,1)", "--diff", "--color-by", "row"], 2, "--color-by cannot be combined with --diff"),
        (["render", M, M, "--diff", "--thread", "1"], 2, "--thread cannot be combined with --diff"),
        (["render", M, M, "--diff", "--warp", "0"], 2, "--warp cannot be combined with --diff"),
        (["render", M, M, "--diff", "--value", "0"], 2, "--value cannot be combined with --diff"),
        (["render", "coalesce((4,4))", "--view", "operation", "--name", "x"], 2, "--name cannot be combined with --view operation"),
        (["render", "coalesce((4,4))", "--view", "operation", "--dialect", "dsl"], 2, "--dialect cannot be combined"),
        (["check", M, "--emit", "cuda"], 3, "there is no cuda kernel for this"),
        (["check", "(4,8)", "--emit", "ptx", "--static"], 2, "--static compiles CUDA C++: use --emit cuda"),
        (["check", "(4,8)", "--emit", "ptx", "--with-cute"], 2, "--with-cute compiles CUDA C++: use --emit cuda"),
        (["check", "(4,8)", "--emit", "ptx", "--counters"], 2, "--counters reads the hardware"),
        (["check", "(4,8)", "--emit", "cuda", "--counters"], 2, "--counters reads the hardware"),
        (["check", "(4,8)", "--static", "--with-cute"], 2, "--with-cute cannot be combined with --static"),
        (["check", "(4,8)", "--static", "--tile", "4x8"], 2, "--tile cannot be combined with --static"),
        (["check", "--all", "--tile", "4x8"], 2, "--tile needs a layout"),
        (["check", "(4,8):(8,1)", "--tile", "2x2", "--emit", "ptx"], 1, "outside the 2 x 2 tile"),
        (["check", M, "--tile", "16x8", "--emit", "ptx"], 1, "apply to a layout, not to an MMA"),
        (["render", M, "--view", "banks"], 1, "--operand picks panels; its views: zoom, cube"),
        (["render", "ampere_gemm", "--view", "pipeline"], 1, "example: (128,64,3)"),
        (["render", M, "--type", "f16"], 1, "its name has its types"),
        (["render", "SM75_U32x4_LDSM_N", "--type", "f16"], 1, "--bits 16 gives the bits of a value"),
        (["embed", "."], 1, "name its documents"),
        (["check", "nope"], 1, "'nope' is undefined"),
        (["check", M, "--static", "--emit", "cuda"], 3, "only layouts can be decided while compiling"),
        (["check", "--all", "(4,8)"], 2, "leave out the SOURCEs"),
        (["check", M, "--emit", "ptx", "--json"], 2, "runs no check"),
        (["render", "tests"], 1, "tests: this is a folder"),
        (["render", "/proc/self/mem"], 1, "/proc/self/mem: Input/output error"),
        (["render", "(8,8):(-8,1)", "--view", "banks"], 1, "no memory before its pointer"),
        (["eval", "make_layout((010,4))"], 1, "010 is octal in C++"),
        (["eval", "a" * 100_000], 1, "characters; the limit is 65536"),
        (["list", "ops", "--arch", "sm80"], 2, "--arch and --type apply to mma and copy"),
        (["list", "mma", "--arch", "sm81"], 1, "no mma atoms of sm81"),
        (["list", "mma", "--type", "f99"], 1, "no mma atom has the type f99"),
        (["check-spec"], 2, "name a spec file, or give --schema"),
        (["swizzle"], 2, "the tile is missing: give ROWSxCOLS"),
        (["swizzle", "64x64", "--list", "-o", "f.svg"], 2, "--list only lists the accesses: leave out --output"),
        (["swizzle", "--list", "--json"], 2, "leave out --json"),
        (["swizzle", "--list", "--type", "f16"], 2, "leave out --type"),
        (["render", "(4,8)", "--let", "M"], 2, "write NAME=VALUE"),
        (["render", "(4,8)", "--crop", "abc"], 2, "'abc' is not a tile"),
        (
            ["render", "(4,8)", "--type", "f8"],
            2,
            "'f8' is not a value type that is known here; floats of 8 bits: e4m3, e5m2, ue8m0",
        ),
        (["render", "(4,8)", "--type", "f99"], 2, "'f99' is not a value type that is known here; give its width in bits"),
        (["render", "(4,8)", "--type", "0"], 2, "'--type': a value type must be at least 1 bit wide"),
        (["explain", "size((4,8))", "-o", "x.svg"], 1, "no step gives a layout to draw"),
        (["gallery", "layouts/specs/swizzles.yaml", "-o", "README.md"], 1, "README.md is not a folder"),
        (["show", "(4,_)"], 1, "(4,_) is not a layout"),
        (["--layouts", "x", "show", "y"], 2, "the options of a command go after its name"),
        (["eval", "128 // 2"], 1, "'//' begins a comment, as in C++"),
        (["eval", "make_gmma_desc"], 1, "example: make_gmma_desc<GMMA::Major::K>("),
        (
            ["eval", "make_fragment_C(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}))"],
            1,
            "of an MMA takes the partitioned tensor, too",
        ),
        (["eval", "get_hier_coord(SfAtom(32), 37)"], 1, "filter_zeros(A)"),
        (["eval", "create_tma_multicast_mask<1>((8,8,1), (1,1,0))"], 1, "the mask has 16 bits"),
        (["eval", "(128 // 2, 4)"], 1, "--dialect dsl reads Python's '//'"),
        (["eval", "n = 128 // 2; (n, 4)"], 1, "'//' begins a comment"),
        (["render", "(M,4)", "--let", "M=128 // 2"], 1, "--let M:1:5: '//' begins a comment"),
    ],
)
def test_what_does_not_fit_together_is_told(args: list[str], status: int, words: str) -> None:
    assert words in fails(run(*args, cwd=Path(__file__).parent.parent), status)


@pytest.mark.parametrize(
    ("obj", "facts"),
    [
        (f"make_tiled_mma({M}{{}}, (2,2,1))", {"ThrLayoutVMNK": "(32,2,2,1):(1,32,64,0)", "tile": "(32,16,16)", "threads": "128"}),
        (f"get_slice(make_tiled_mma({M}{{}}, (2,2,1)), 5)", {"tile": "(32,16,16)", "CLayout": "((4,8),(2,2)):((32,1),(16,8))"}),
        (
            "make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, (4,8), (1,1))",
            {"Tiler_MN": "(4,8)", "TiledLayout_TV": "(32,1):(1,0)", "layoutD_TV": "(32,(1,1)):(1,(0,0))", "value type": "float"},
        ),
        ("Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}", {"NumValSrc": "8", "ValLayoutDst": "(32,(2,4)):(2,(1,64))", "arch": "SM75"}),
        ("SM75_U32x4_LDSM_N", {"ThrID": "32:1", "RefLayout": "(32,(32,4)):(32,(1,1024))"}),
        ("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", {"swizzle": "Sw<3,4,3> of bytes: Sw<3,3,3> of elements of 16 bits"}),
        ("Sw<1,0,3> o smem_ptr[32b](unset) o (8,64):(64,1)", {"swizzle": "Sw<1,0,3> of bytes: none of elements of 32 bits"}),
        ("Sw<3,3,3> o 0 o (8,64):(64,1)", {"swizzle": "Sw<3,3,3> of elements"}),
        ("Sw<2,3,3>", {"acts on": "offsets of elements; bytes behind a pointer"}),
        ("Sw<2,3,3>", {"reads bits": "0b11000000", "changes bits": "0b11000"}),
        ("(4,8):(1@0,1@1)", {"coshape": "(4,8)", "injective": "yes", "distinct values": "32"}),
    ],
)
def test_show_tells_the_facts_of_every_object(obj: str, facts: dict[str, str]) -> None:
    told = dict(re.split(r"  +", line, maxsplit=1) for line in run("show", obj).stdout.decode().splitlines())
    assert {key: told.get(key) for key in facts} == facts


def test_a_finished_figure_takes_a_title_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(run("render", "(4,8):(8,1)", "-T", "json").stdout)
    assert json.loads(run("render", str(path), "--title", "mine", "-T", "json").stdout)["title"] == "mine"
    assert run("render", str(path)).stdout == run("render", "(4,8):(8,1)").stdout
    assert "--coords cannot be applied to a finished figure" in fails(run("render", str(path), "--coords"), 1)


def test_words_that_help_gives_as_examples_are_taken() -> None:
    import click

    from cute_viz.cli import COMMANDS, cli

    asked = 0
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        for option in (p for p in command.params if isinstance(p, click.Option) and isinstance(p.type, click.Choice)):
            _, colon, words = (option.help or "").partition(": ")
            for word in words.split(", ") if colon else ():
                assert word.split("  [")[0] in option.type.choices, (name, option.opts, word)
                asked += 1
    assert asked >= 3


def test_an_instruction_of_a_row_a_lane_implies_its_access() -> None:
    words = ["analyze", "(64,64):(64,1)", "--type", "f16", "--json"]
    implied = run(*words, "--instruction", "ldmatrix.x4").stdout
    assert implied == run(*words, "--access", "ldmatrix.x4").stdout
    assert json.loads(implied)["wavefronts"] == 512
    for way in (("--instruction", "ldmatrix.x4"), ("--access", "ldmatrix")):
        assert "reads; drop --store" in fails(run(*words, *way, "--store"), 2)


def test_the_patterns_of_accesses_are_listed() -> None:
    lines = run("swizzle", "--list").stdout.decode().splitlines()
    assert lines
    for name in (line.split()[0] for line in lines):
        assert run("swizzle", "8x64", "--read", name, "--top", "1").returncode in (0, 1)


def test_what_reads_as_a_file_is_read(tmp_path: Path) -> None:
    for command in ("render", "show"):
        piped = ["bash", "-c", f"'{sys.executable}' -m cute_viz {command} <(echo '(4,8):(8,1)')"]
        done = subprocess.run(piped, capture_output=True, cwd=Path(__file__).parent.parent, timeout=60)
        assert (done.returncode, done.stdout) == (0, run(command, "(4,8):(8,1)").stdout)
    utf16 = tmp_path / "x.txt"
    utf16.write_text("(4,8)", encoding="utf-16")
    assert run("render", str(utf16)).stdout == run("render", "(4,8)").stdout  # as PowerShell 5 writes what `>` takes
    utf16.write_bytes(b"\xff\xfe\x00\xd8")
    assert "this is not UTF-16 text" in fails(run("render", str(utf16)), 1)
    (notes := tmp_path / "notes.md").write_text("# Notes", encoding="utf-16")
    assert "save it as UTF-8" in fails(run("embed", str(notes)), 1)


def test_text_says_what_a_picture_says() -> None:
    assert run("render", "(4,8):(8,1)", "--crop", "2x3").stdout.endswith(b"... 2 more rows and 5 more columns\n")
    assert run("render", "(4,8):(8,1)", "--title", "Mine").stdout.startswith(b"Mine\n(4,8):(8,1)\n")
    marked = run("render", "(2,2):(2,1)", "(2,2):(1,2)", "--diff").stdout.decode()
    assert marked.count("*") == 4
    assert ("|  0 | 1* |" in marked, "|  0 | 2* |" in marked) == (True, True)


def test_a_typing_error_for_a_colon_is_noted() -> None:
    done = run("render", "(8,8);(8,1)")
    assert (done.returncode, done.stderr) == (0, b"note: only the last statement after ';' is drawn; was ':' meant?\n")
    assert run("eval", "a = (8,8); a").stderr == b""


def test_a_log_of_more_objects_than_are_read_names_the_limit() -> None:
    log = "".join(f"in {n}: ({n},2):(1,{n})\n" for n in range(1, 4100)).encode()
    assert "the limit is 4000" in fails(run("render", "-", stdin=log), 1)
    assert run("--limit", "prints=5000", "render", "-", "--name", "in", stdin=log).returncode in (0, 1)


def test_mistakes_of_yaml_in_words(tmp_path: Path) -> None:
    spec = tmp_path / "s.yaml"
    for text, words in (
        ("layout: (4,8)\n\ttitle: x\n", "2:1: this is not YAML: this line is indented with a tab"),
        ("layout: (4,8)\n---\nlayout: (4,8)\n", "2:1: this is not YAML: there are two documents"),
        ('title: x\nlayout: "(4\0,8)"\n', "2:12: this is not YAML: U+0000"),
        ("layout: " + "[" * 60000, "nested too deeply; the limit is 64"),
        ("- " * 60000, "nested too deeply; the limit is 64"),
        ("layout: (4,8)\nfigure: {tile: 4x}", "2:16: tile: 4x is not a tile"),
        ("layout: (4,8)\npalette: nope", "2:10: there is no palette 'nope'"),
        ("layout: (4,8)\nformats: [svg, exe]", "2:10: there is no format 'exe'"),
        ("layout: (4,8)\nfigure: {max_cells: -1}", "2:21: max_cells: must be a number of 1 or more, not '-1'"),
    ):
        spec.write_text(text)
        done = run("check-spec", str(spec))
        assert (done.returncode, b"Traceback" in done.stderr) == (1, False)
        assert f"error: {spec}:{words}" in done.stderr.decode() or words in done.stderr.decode().splitlines()[0], words


def test_a_spec_is_drawn_although_another_of_its_file_is_broken(tmp_path: Path) -> None:
    spec = tmp_path / "s.yaml"
    spec.write_text("specs:\n  a: {layout: '(4,8'}\n  b: {layout: '(4,8)'}\n  c: {layout: '(4,8)', figure: {tile: 4x}}\n")
    assert run("render", str(spec), "--name", "b").returncode == 0
    told = run("check-spec", str(spec)).stderr.decode()
    assert told.count("error: ") == 2
    assert "s.yaml:2:16: " in told
    assert "s.yaml:4:39: " in told


def test_help_without_a_command_is_no_error() -> None:
    done = run()
    assert b"Usage: cute-viz" in done.stdout + done.stderr
    assert b"error" not in done.stderr


@pytest.mark.parametrize("command", ["show", "analyze", "fmt"])
def test_a_picture_has_no_object(command: str, tmp_path: Path) -> None:
    figure = tmp_path / "f.json"
    figure.write_bytes(run("render", "(4,8):(8,1)", "-T", "json").stdout)
    assert "does not contain the object" in fails(run(command, str(figure)), 1)


@pytest.mark.parametrize("name", ["kernel.cu", "no/such/log.txt", "a.hpp"])
def test_a_file_that_is_not_there(name: str, tmp_path: Path) -> None:
    assert f"{name}: No such file" in fails(run("render", name, cwd=tmp_path), 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"cute_viz_figure": 1, "title": "a", "title": "b"}', "the key 'title' appears twice"),
        ('{"cute_viz_figure": ' + "9" * 10_000 + "}", "an integer of 10000 digits; the limit is 400"),
        (
            '{"cute_viz_figure": 1,}',
            f"f.json:1:{23 - (sys.version_info >= (3, 13))}: this is not JSON",
        ),
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_json_that_is_no_figure(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text(text)
    assert words in fails(run("render", "f.json", cwd=tmp_path), 1)


def test_a_title_that_nobody_would_see() -> None:
    said = fails(run("render", "(4,8):(8,1)", "--style", "cutlass", "-T", "tikz", "--title", "x"), 2)
    assert "leave out --title" in said


def test_a_difference_of_partitions_says_whose() -> None:
    shown = run("render", M, M, "--tensor", "(16,8):(8,1)", "--thread", "1", "--diff").stdout
    assert b"All 128 cells are the same" in shown


def test_a_line_that_breaks_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of whatever kind the mistake is, a fault of ours among them: one line in, one line out."""
    from cute_viz.cli import evaluate as door

    evaluate = door.evaluate

    def faulty(text: str, *args: object, **more: object) -> object:
        return {}["fault"] if text == "fault" else evaluate(text, *args, **more)

    monkeypatch.setattr(door, "evaluate", faulty)
    monkeypatch.delenv("CUTE_VIZ_DEBUG")
    bad = ["(4,8", "fault", "4:2 o", "composition(6:1, 4:2))", "(4,8):8", "size()", "(" * 3000, "9" * 9000, "1/0", "\x00", "x"]
    lines = [line for mistake in bad for line in (mistake, "a = (4,8):(8,1); a(1,2)")]
    done = run("eval", "-", stdin="\n".join(lines).encode() + b"\n")
    printed = done.stdout.decode().splitlines()
    assert done.returncode == 70
    assert printed[1::2] == ["10"] * len(bad)
    assert all(line.startswith("error: ") for line in printed[::2])
