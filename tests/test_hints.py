"""What a user is told of a word that names nothing: the hint is true, and obeying it works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cute_viz as cv
from tests.commands import run

EXAMPLES = re.compile(r"for example ([^;]+); '(cute-viz list \w+ [^']+)'")


def told(*args: str, cwd: Path | None = None) -> str:
    """What a command that fails says."""
    done = run(*args, cwd=cwd)
    assert done.returncode == 1, done
    return done.stderr.decode()


@pytest.mark.parametrize(
    "word",
    [
        "ldmatrix",
        "stmatrix",
        "wgmma",
        "tcgen05",
        "tcgen05.mma",
        "mma.m16n8k16",
        "mma",
        "mfma",
        "LDSM",
        "HMMA",
        "HGMMA.64x64x16.F32",
        "LDGSTS",
        "UTMALDG",
        "TMEM_LOAD",
    ],
)
def test_a_part_of_the_name_of_instructions_gives_their_names(word: str) -> None:
    """Each example is an atom, and the command in the hint lists it; nothing suggests a value for the word."""
    text = told("render", word)
    found = EXAMPLES.search(text)
    assert found, text
    assert "--let" not in text
    listed = run(*found[2].split()[1:]).stdout.decode()
    names = found[1].split(", ")
    assert names
    for whole in names:
        name, _, args = whole.partition("<")
        assert (args and args != "uint128_t>") or cv.parse(whole) is not None
        pattern = re.sub(r"\d+", r"(\\\\d+|\\{\\w+\\})", re.escape(name)).replace("\\\\d", "\\d")
        assert re.search(rf"(?m)^{pattern}\b", listed), (name, listed[:300])


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("SW128", "GMMA::Layout_K_SW128_Atom<half_t>{}"),
        ("SWIZZLE_64B", "GMMA::Layout_K_SW64_Atom<half_t>{}"),
        ("Layout_MN_SW32_Atom", "GMMA::Layout_MN_SW32_Atom<half_t>{}"),
        ("128B", "GMMA::Layout_K_SW128_Atom<half_t>{}"),
        ("swizzle 64B", "GMMA::Layout_K_SW64_Atom<half_t>{}"),
        ("Sw333", "Sw<3,3,3>"),
        ("ampere", "ampere_gemm"),
        ("cute.make_layout", "make_layout((4,8), LayoutRight)"),
        ("right_inverse", "right_inverse((4,8):(8,1))"),
        ("M", "--let 'M=(4,8):(8,1)'"),
    ],
)
def test_what_a_word_may_mean(word: str, hint: str) -> None:
    """What the hint names can be drawn as it stands."""
    text = told("render", word)
    assert hint in text, text
    words = [word, "--let", f"{word}=(4,8):(8,1)"] if hint.startswith("--let") else [hint]
    assert run("render", *words).returncode == 0


def test_a_file_or_a_type_that_was_meant(tmp_path: Path) -> None:
    (tmp_path / "kernel.cu").write_text("auto sA = make_layout(make_shape(4, 8));\n")
    assert "did you mean the file kernel.cu?" in told("render", "kernel", cwd=tmp_path)
    assert "--type half_t" in told("render", "half_t")
    assert "'cute-viz explain \"copy(src, dst)\"'" in told("render", "cute.copy")
    assert "no mma atom has 'nothing'" in told("list", "mma", "nothing")


def test_a_descriptor_is_decoded() -> None:
    """The fields of the 64 bits of wgmma and of tcgen05; what has no field is shown."""
    facts = run("show", "0x4000004000000000").stdout.decode()
    assert re.search(r"kind +GMMA descriptor", facts)
    assert re.search(r"layout_type_name +B128\n", facts)
    assert re.search(r"stride offset +1024 bytes", facts)
    made = "make_umma_desc<UMMA::Major::K>(tile_to_shape(UMMA::Layout_K_SW128_Atom<half_t>{}, (128,64)))"
    own, word = (dict(re.findall(r"(?m)^(\S[^\n]*?)  +(.*)$", run("show", x).stdout.decode())) for x in (made, str(cv.parse(made))))
    assert word.keys() - {"kind"} <= own.keys()
    assert all(own[key] == value for key, value in word.items() if key not in ("kind", "start address"))
    assert "bits outside of the fields" in run("show", "0x2000004000000000").stdout.decode()
    assert "cute-viz show 0x4000004000000000" in told("render", "0x4000004000000000")


def test_a_value_in_a_hint_has_the_type_that_is_needed(tmp_path: Path) -> None:
    """A number for an integer, a tiling for an MMA, a place holder for a type that nothing tells; a thread is not 0."""
    kernel = tmp_path / "k.cu"
    kernel.write_text(
        "template <class Cfg> void k(Cfg cfg_tag, int tma_k, bool flag, auto mma) {\n"
        "  auto a = make_layout(make_shape(Int<8>{}, tma_k));\n  auto b = make_layout(make_shape(threadIdx.x, 8));\n"
        "  auto c = partition_shape_A(mma, Shape<_32,_32>{});\n  auto d = make_layout(cfg_tag);\n"
        "  auto e = make_layout(flag);\n}\n"
    )
    hints = {name: told("render", f"{kernel}::{name}").partition("hint: ")[2] for name in "abcde"}
    assert "--let tma_k=128" in hints["a"]
    assert hints["b"].startswith("for the part of one thread: --let threadIdx.x=5")
    assert "mma=TiledMMA<" in hints["c"]
    assert "=..." in hints["d"]
    assert "tile=(128,128,64)" in told("eval", "cute.make_layout(self.tile, stride=(64,1))")
    assert "atom=(8,64):(64,1)" not in told("render", "tile_to_shape(A, (8,8), (1,0,2))")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(32,):(1,)", "(32):(1)"),
        ("cute.make_layout((32,), stride=(1,))", "(32):(1)"),
        ("cute.slice_((8,64):(64,1), (None, 0))", "(8):(64)"),
        ("a = (8,64):(64,1); a[(None, 0)]", "(8):(64)"),
        ("a = (8,64):(64,1); a[2, 0]", "128"),
        ("X = (4,8,2):(1,4,32); X(_,_,1)", "(4,8):(1,4)"),
    ],
)
def test_python_in_an_expression(text: str, value: str) -> None:
    assert run("eval", text).stdout.decode().strip() == value


def test_a_slice_is_named_and_a_method_is_pasted() -> None:
    """`--name` takes a slice of an object of a text; a method without its class keeps what it sets."""
    drawn = run("render", "Y = (4,8,2):(1,4,32)", "--name", "Y(_,_,1)").stdout.decode()
    assert drawn.startswith("(4,8):(1,4)\n")
    loose = "self.tile = (8, 64)\nself.sA = cute.make_layout(self.tile)\nx = self.sA[None, 3]\n"
    method = "def __call__(self, mA):\n" + "".join(f"    {line}\n" for line in loose.splitlines())
    assert "(8):(1)" in run("list", "-", stdin=method.encode()).stdout.decode()
    assert run("render", "-", "--name", "sA", stdin=loose.encode()).stdout.decode().startswith("(8,64):(1,8)\n")


def test_quotes_that_cmd_leaves_are_dropped() -> None:
    """cmd.exe hands single quotes on; a title in quotes, and half a text, stay what they are."""
    bare = run("eval", "(4,8):(8,1)").stdout
    assert run("eval", "'(4,8):(8,1)'").stdout == bare
    assert run("eval", "(M,8):(8,1)", "--let", "'M=4'").stdout == bare
    assert "use double quotes" in told("eval", "'Sw<3,3,3>")
    assert b'"title": "\'mine\'"' in run("render", "(4,8):(8,1)", "--title", "'mine'", "-T", "json").stdout


@pytest.mark.parametrize(
    ("option", "ours"), [("--gray", ["--theme", "print"]), ("--dark", ["--theme", "dark"]), ("--tikz", ["-T", "tikz"])]
)
def test_an_option_of_other_tools_is_named_as_ours(option: str, ours: list[str]) -> None:
    done = run("render", "(4,8):(8,1)", option)
    assert done.returncode == 2
    assert f"hint: use {' '.join(ours)}; " in done.stderr.decode()
    assert b"Did you mean" not in done.stderr
    assert run("render", "(4,8):(8,1)", *([] if ours[0] == "-T" else ["-T", "svg"]), *ours).returncode == 0


def test_a_palette_is_found_in_american_spelling() -> None:
    gray, grey, other = (
        re.findall(rb"#[0-9a-f]{6}", run("render", "(4,8):(8,1)", "--palette", name, "-T", "svg").stdout)
        for name in ("gray", "grey", "viridis")
    )
    assert gray == grey != other


def test_a_word_that_list_does_not_know() -> None:
    assert "did you mean palettes?" in told("list", "palette")
    text = told("list", "ldmatrix")
    assert "neither a file nor one of mma, copy, specs, ops, views, formats, palettes, themes, targets, limits" in text
    assert run("list", "copy", "ldmatrix").stdout
    assert "'cute-viz list copy ldmatrix'" in text


def test_plain_cuda_is_shown_how_to_count(tmp_path: Path) -> None:
    """The command in the hint works as it stands, and 33 columns are without conflicts."""
    (tmp_path / "plain.cu").write_text("__global__ void k(float *p) { __syncthreads(); }\n")
    found = re.search(r"cute-viz (analyze '.*' --access column --type f32)", told("analyze", str(tmp_path / "plain.cu")))
    assert found
    assert b"no conflicts" in run(*found[1].replace("'", "").split()).stdout


def test_who_holds_an_element_and_what_a_thread_holds() -> None:
    """The atom's own layout, evaluated coordinate by coordinate, has the same answer in both directions."""
    name = "SM80_16x8x16_F32F16F16F32_TN"
    layout = cv.parse("((4,8),(2,2)):((32,1),(16,8))")  # CLayout of mma_traits_sm80.hpp
    holds = {layout(t, v): (t, v) for t in range(32) for v in range(4)}
    for m, n in ((0, 0), (5, 3), (8, 7), (15, 2)):
        t, v = holds[m + 16 * n]
        assert run("show", name, "--who", f"C({m},{n})").stdout.decode() == f"C({m},{n}): T{t} V{v}\n"
        assert f"C({m},{n})" in run("show", name, "--who", f"T{t} V{v}").stdout.decode()
    tiled = run("show", "((16,8),8):((64,1),8)", "--tile", "8x128", "--who", "(3,5)").stdout.decode()
    assert tiled.strip().endswith("T48 V5"), tiled
    assert "--tile needs --who" in run("show", "(4,8)", "--tile", "4x8").stderr.decode()
    assert run("show", name, "--who", "D(1,1)").returncode == 2


def test_a_scope_is_not_an_object(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("void gemm_tn() { auto sA = make_layout(make_shape(4, 8)); }\n")
    assert "'gemm_tn' is a scope, not an object" in (text := told("render", "k.cu::gemm_tn", cwd=tmp_path))
    assert "--name gemm_tn::NAME" in text


def test_newcomers_are_told_what_to_type(tmp_path: Path) -> None:
    """What a first try got wrong: each hint is obeyed, and works."""
    assert "((4,8):(8,1))(2,3)" in told("eval", "(4,8):(8,1) (2,3)")
    assert run("eval", "((4,8):(8,1))(2,3)").stdout == b"19\n"
    assert "(4,8):(8,1)" in told("eval", "(4,8)(8,1)")
    assert "--let '?=512'" in told("render", "Layout<tuple<C<8>, int>, tuple<C<1>, C<8>>>")
    assert run("eval", "Layout<tuple<C<8>, int>, tuple<C<1>, C<8>>>", "--let", "?=512").stdout == b"(_8,512):(_1,_8)\n"
    twice = run("eval", "M", "--let", "M=8,K=8")
    assert twice.returncode == 2
    assert "write --let again for K" in twice.stderr.decode()
    assert run("eval", "M*K", "--let", "M=8", "--let", "K=8").stdout == b"64\n"
    keyword = run("eval", "A", "--let", "A=make_layout((4,8), stride=(8,1))").stderr.decode()
    assert "two names" not in keyword
    (tmp_path / "a.yaml").write_text("name: mine\nlayout: (4,8):(8,1)\n")
    assert "its key below `specs:`" in told("gallery", "a.yaml", "--validate", cwd=tmp_path)
    for source in ("(4,8)", "a.cu::sA"):
        done = run("eval", source, "--as", "yaml", cwd=tmp_path)
        assert done.returncode == 2
        assert "tidies a spec file" in done.stderr.decode()
    assert "No such file" in told("eval", "none.yaml", "--as", "yaml", cwd=tmp_path)


def test_a_layout_answers_who_with_its_offset_and_its_banks(tmp_path: Path) -> None:
    """A cell that nobody owns has an offset; a bank needs the type of the elements."""
    assert run("show", "(8,8):(8,1)", "--who", "(5,3)").stdout == b"(5,3): offset 43\n"
    assert run("show", "(8,8):(8,1)", "--who", "offset 43").stdout == b"(5,3)\n"
    done = run("show", "(8,8):(8,1)", "--who", "bank 3")
    assert done.returncode == 2
    assert "give the type of the elements: --type f16" in done.stderr.decode()
    asked = run("show", "(8,8):(8,1)", "--who", "bank 3", "--type", "f16").stdout
    assert asked == b"(0,6); (0,7)\n"
    assert "only layouts in memory do" in run("show", "SM75_U32x4_LDSM_N", "--who", "byte 3").stderr.decode()
    assert run("render", "(8,8):(8,1)", "--view", "banks", "--type", "f16", "-o", "banks.json", cwd=tmp_path).returncode == 0
    assert run("show", "banks.json", "--who", "bank 3", cwd=tmp_path).stdout == asked


@pytest.mark.parametrize("name", ["ldmatrix", "ldmatrix.x4", "ldmatrix.trans", "ldmatrix.x4.trans", "stmatrix.x2.trans"])
def test_find_and_analyze_know_an_access_by_all_its_names(name: str) -> None:
    """`.x4` and `.trans` change no address: the same swizzle, and as many wavefronts."""
    found = run("find", "swizzle", "64x64", "--read", name, "--top", "1")
    assert b"Sw<3,3,3>  64          64" in found.stdout, found
    access = run("analyze", "(64,64):(64,1)", "--type", "f16", "--access", name).stdout
    assert access.splitlines()[-1].startswith(b"512 wavefronts in "), access
    wrong = told("find", "swizzle", "64x64", "--read", "rows.trans")
    assert "there is no access 'rows.trans'" in wrong
    wrong = told("analyze", "(64,64):(64,1)", "--type", "f16", "--access", "diagonal")
    assert "there is no access 'diagonal'" in wrong
    assert "ldmatrix" in wrong
    assert "--let" not in wrong


def test_a_table_of_a_spreadsheet_has_commas_or_semicolons(tmp_path: Path) -> None:
    for sign in (",", ";", " "):
        (tmp_path / "t.csv").write_text("0;1;2\r\n3;4;5\r\n".replace(";", sign), newline="")
        assert run("find", "layout", "t.csv", cwd=tmp_path).stdout == b"(2,3):(3,1)\n"


def test_the_quotes_that_cmd_leaves_around_a_file_are_none_of_its_name(tmp_path: Path) -> None:
    """cmd.exe passes single quotes on, around a file as around notation."""
    (tmp_path / "a.cu").write_text("auto sA = make_layout(Shape<_4,_8>{});\r\n")
    for file in ("a.cu", "'a.cu'", "'a.cu::sA'"):
        assert b"(_4,_8):(_1,_4)" in run("eval", file, cwd=tmp_path).stdout


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        (("eval", "'logical_divide((8,6),", "(4,3))'"), "((4,2),(3,2)):((1,4),(8,24))"),  # of cmd.exe, in parts
        (("eval", "(4,6):(6,1)(2,3)", "8:2(3)"), "15\n6"),
        (("show", "(4,4):(1,3)"), "repeats          offset 3 at (3,0) and (0,1)"),
        (("list", "ops", "zipped", "divide"), "zipped_divide(A, T)"),
        (("list", "views", "bank"), "banks "),
        (("analyze", "32:3", "--access", "32:1", "--type", "f32", "--global"), "12 sectors"),  # 96 words of 4 bytes
        (("show", "mma.m16n8k8.tf32", "--who", "C(11,2)"), "T13 V2"),
        (("eval", "Sw<2,0,3> o 0 o (8,8):(8,1)(3,5)"), "30"),  # 29 ^ 3
        (("eval", "cute::Layout<cute::tuple<int, int>, cute::tuple<int, cute::C<1>>>", "--let", "?=(4,8,8)"), "(4,8):(8,_1)"),
        (("show", "cute::Layout<cute::tuple<int, int>, cute::tuple<int, cute::C<1>>>"), "(?,?):(?,_1)"),
    ],
)
def test_what_was_tried_first_works(args: tuple[str, ...], shown: str) -> None:
    done = run(*args)
    assert shown in done.stdout.decode(), done


def test_a_word_of_other_libraries_is_told_in_cute() -> None:
    assert "select<1,0>(A)" in told("eval", "transpose((4,6):(6,1))")
    assert "select<1,0>(A)" in told("list", "ops", "transpose")


def test_an_access_by_name_is_expected_to_be_conflict_free(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("layout: Sw<3,3,3> o 0 o (8,64):(64,1)\nexpect: {conflict_free: ldmatrix}\n")
    assert run("gallery", str(path), "--validate").returncode == 0
    path.write_text("layout: (8,64):(64,1)\nexpect: {conflict_free: ldmatrix}\n")
    assert "takes 32 wavefronts, 4 are ideal" in told("gallery", str(path), "--validate")
    path.write_text("layout: (8,64):(64,1)\nexpect: {conflict_free: rowz}\n")
    assert "is not an access" in told("gallery", str(path), "--validate")
    path.write_text("layout: (8,64):(64,1)\nfigure: {target: readme}\n")
    before = run("render", str(path), "-T", "svg").stdout
    path.write_text("layout: (8,64):(64,1)\nfigure: {for: readme}\n")
    assert run("render", str(path), "-T", "svg").stdout == before != run("render", "(8,64):(64,1)", "-T", "svg").stdout


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        # printed by a tutorial, and by the DSL's verifier; what a reader asks is what the last one is
        (
            "tCrA: GMMA::DescriptorIterator o (_1,_2):(_0,_1024)\ntCrB: GMMA::DescriptorIterator o (_1,_4):(_0,_2)\n",
            "(_1,_4):(_0,_2)",
        ),
        ("'cute.gemm' op invalid layout of A/B/D. A: (1,1):(0,0), D:((2,2),1,1):((1,2),0,0)\n", "((2,2),1,1):((1,2),0,0)"),
        # C++'s comma operator takes its last operand: the tuple that was meant needs make_shape
        ("auto a = make_shape(Int<4>{}, (Int<8>{}, Int<2>{}));\n", "(Int<8>{},Int<2>{}) is "),
        (
            "auto p = local_partition(make_layout(make_shape(Int<128>{}, Int<8>{})), make_layout(make_shape(Int<16>{}, Int<16>{})),"
            " threadIdx.x, Step<_1, X>{});\n",
            "out of the threads: (_16,_16):(_1,_16) is (_16):(_1)",
        ),
        ("Layout_K_SW128_Atom_Bits", "GMMA::Layout_K_SW128_Atom<half_t>{}"),
    ],
)
def test_what_is_pasted_from_a_question_is_explained(text: str, shown: str) -> None:
    done = run("explain", "-", stdin=text.encode())
    assert shown in (done.stdout + done.stderr).decode()


def test_the_names_of_prints_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("tCrA: GMMA::DescriptorIterator o (_1,_2):(_0,_1024)\nA: (4,8):(8,1)\n")
    listed = run("list", str(path)).stdout.decode().split()
    assert "tCrA" in listed
    assert "A" in listed


def test_words_select_the_definitions_of_a_file() -> None:
    """As they select the rows of a kind; a word that no row has is an error."""
    source = str(Path(__file__).parent.parent / "docs" / "kernel.cu")
    shown = run("list", source, "TiledCopy").stdout.decode().splitlines()
    assert len(shown) == 2
    assert all("TiledCopy" in line for line in shown)
    assert "no definition has 'zzz' in its row" in told("list", source, "zzz")


def test_equal_functions_with_other_shapes_are_noted() -> None:
    """CuTe's == compares shapes and strides, which is seldom what is asked."""
    found = run("eval", "(2,4):(1,2) == 8:1")
    assert found.stdout == b"0\n"
    assert b"have the same offset at every index" in found.stderr
    assert run("eval", "(2,4):(1,2) == (2,4):(4,1)").stderr == b""


def test_an_operation_that_is_looked_for_in_the_package_is_in_its_algebra() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'composition'; it is cute_viz\.algebra\.composition$"):
        _ = cv.composition
    with pytest.raises(AttributeError, match=r"no attribute 'nothing'$"):
        _ = cv.nothing
