"""Spec files: what they may say, what they give, and that a mistake has its line and column."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cute_viz as cv
from cute_viz.documents.draw import name_of, picture
from cute_viz.engine import Request, ask
from cute_viz.errors import CuteVizError, LimitError
from cute_viz.options.views import LABELS, VIEWS
from cute_viz.spec import Library
from cute_viz.spec.build import read_specs
from cute_viz.spec.schema import FIGURE, KINDS, document, json_schema
from cute_viz.spec.yaml import read_yaml, write_yaml
from tests.commands import run as run_command

ROOT = Path(__file__).parent.parent
SPECS = sorted((ROOT / "layouts" / "specs").glob("*.yaml"))


def run(*args):
    """A command, its output as text."""
    out = run_command(*args)
    return SimpleNamespace(returncode=out.returncode, stdout=out.stdout.decode(), stderr=out.stderr.decode())


def test_check_spec_refuses_names_that_a_gallery_would(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    one = "{layout: '(2,2)'}"
    path.write_text(f"specs:\n  ../up: {one}\n  A: {one}\n  a: {one}\n  index: {{layout: '(2,2)', formats: [html]}}\n  b: {one}\n")
    done = run("check-spec", str(path))
    assert done.returncode == 1
    told = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert [line.removeprefix(f"error: {path}:").partition(" ")[0] for line in told] == ["2:3:", "4:3:", "5:3:"]
    assert "'../up' cannot be the name of a file" in told[0]
    assert "a.svg is taken by" in told[1]


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_the_specs_of_the_library_can_be_drawn(path):
    out = run("check-spec", str(path))
    assert out.returncode == 0, out.stderr
    assert "fine" in out.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_each_kind(kind):
    (spec,) = read_specs(KINDS[kind].example)
    assert spec.kind == kind
    assert spec.obj is not None


def test_the_schema_and_the_reference_are_those_of_the_code():
    schema, reference = ROOT / "layouts" / "schema.json", ROOT / "layouts" / "SCHEMA.md"
    for same, words in (
        (json.loads(schema.read_text()) == json_schema(), "--schema > layouts/schema.json"),
        (reference.read_text() == document(), "--doc > layouts/SCHEMA.md"),
    ):
        assert same, f"a row of the code has changed: cute-viz gallery {words} prints this anew"


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("layout: 8:1", "8:1"),
        ("layout: 64:1", "64:1"),
        ("layout: {shape: '(4,8)', stride: '(8,1)'}", "(4,8):(8,1)"),
        ("layout: cute.make_layout((4, 8), stride=(8, 1))", "(4,8):(8,1)"),
        ("let: {M: 4}\nlayout: (M,8):(8,1)", "(4,8):(8,1)"),
        ("specs:\n  a: {layout: '(4,8):(8,1)'}", "(4,8):(8,1)"),
        ("swizzle: {bits: 3, base: 3, shift: 3, layout: '(8,64):(64,1)'}", "Sw<3,3,3> o 0 o (8,64):(64,1)"),
        ("x: &a 1", None),
        ("mma_atom: 16x8x16_F32F16F16F32", "SM80_16x8x16_F32F16F16F32_TN"),
        ("copy_atom: {op: SM75_U32x4_LDSM_N, type: 16}", "Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}"),
        (
            "mma_atom:\n  Shape_MNK: (1,1,1)\n  ThrID: 1:0\n  ALayout: (1,1):(0,0)\n  BLayout: (1,1):(0,0)\n  CLayout: (1,1):(0,0)",
            "UniversalFMA<float>",
        ),
        (
            "tiled_mma: {atom: SM80_16x8x16_F32F16F16F32_TN, layout: '(2,2,1)', permutation: '(32,32,16)'}",
            "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))",
        ),
        (
            "tiled_copy:\n  atom: {op: SM75_U32x4_LDSM_N, type: half_t}\n  operand: A\n  mma: {atom: SM80_16x8x16_F32F16F16F32_TN}",
            "make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}, make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}))",
        ),
        (
            "tiled_copy:\n  atom: {op: UniversalCopy<float>, type: float}\n  tv: ((4,4),(2,2)):((16,1),(8,4))\n  tiler: (8,8)",
            "make_tiled_copy_impl(Copy_Atom<UniversalCopy<float>,float>{}, ((4,4),(2,2)):((16,1),(8,4)), (8,8))",
        ),
    ],
)
def test_what_a_spec_gives(text, expression):
    if expression is None:
        with pytest.raises(CuteVizError, match="has no field"):
            read_specs(text)
        return
    assert read_specs(text)[0].obj == cv.parse(expression)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("layout: (4,8):(8,1\n", "1:15", "never closed"),
        ("title: x\nlayout: (4,8):(8,1,2)\n", "2:15", "has 3 modes"),
        ("layout: '(4,8):(8,x)'\n", "1:19", "let: {x: 512}"),
        ("layot: 8:1\n", "1:1", "did you mean layout"),
        ("layout: 8:1\nlayout: 4:1\n", "2:1", "given twice"),
        ("layout: 8:1\nswizzle: 4:1\n", "2:1", "both layout and swizzle"),
        ("title: x\n", "1:1", "no object"),
        ("layout: {a: 1}\n", "1:10", "no field 'a'"),
        ("tiled_mma: {layout: '(2,2,1)'}\n", "1:12", "lacks the field 'atom'"),
        ("layout: 8:1\nfigure: {view: gird}\n", "2:16", "did you mean grid"),
        ("layout: 8:1\nfigure: {veiw: grid}\n", "2:10", "did you mean view"),
        ("layout: [8:1]\n", "1:9", "quote a layout"),
        ("layout: [(4,8):(8,1)]\n", "1:10", "write it in quotes: '(4,8):(8,1)'"),
        ("tiled_mma: {atom: A, layout: (4,1,1), permutation: (64,32,16)}\n", "1:30", "write it in quotes: '(4,1,1)'"),
        ("layout: !!python/object:os.system x\n", "1:9", "tag"),
        ("layout: 8:1\n  x: 2\n", "2:4", "not YAML"),
        ("- 1\n", "1:1", "must be a mapping"),
        ("specs: {a: 1}\n", "1:12", "must be a mapping"),
        ("specs: {a: {layout: 8:1}}\nlayout: 1\n", "2:1", "cannot be combined with specs"),
        ("specs: {a: {layout: 8:1}}\ntheme: dark\n", "2:1", "write figure: {theme: ...}"),
        ("palette: tol-light\nfigure: {veiw: grid}\nspecs: {a: {layout: 8:1}}\n", "2:10", "did you mean view"),
        ("gemm:\n  mma: SM80_16x8x16_F32F16F16F32_TN\n  tile: (128,128,64)\n  smem_a: (8,64):(64,1)\n", "2:3", "TiledMMA"),
        ("copy_atom: {op: SM75_U32x4_LDSM_N, type: nope}\n", "1:42", "not a value type"),
    ],
)
def test_mistakes_have_their_place(text, place, words):
    with pytest.raises(CuteVizError) as caught:
        read_specs(text, "spec.yaml")
    assert words in caught.value.explain("spec")
    assert caught.value.line().startswith(f"spec.yaml:{place}:")


def test_the_mistakes_of_other_specs_do_not_matter(tmp_path, monkeypatch):
    path = tmp_path / "mine.yaml"
    path.write_text("specs:\n  good:\n    layout: (4,8):(8,1)\n  bad:\n    layot: 8:1\n")
    monkeypatch.setenv("CUTE_VIZ_LAYOUTS", str(tmp_path))
    library = Library.of_environment()
    assert name_of(picture("good", library=library)) == "good"
    assert run("render", "good").stdout == run("render", str(path), "--name", "good").stdout == run("render", "(4,8):(8,1)").stdout
    assert "holds 2 specs\n  hint: pick one with --name: good, bad" in run("render", str(path)).stderr
    with pytest.raises(CuteVizError, match=r"mine.yaml holds 2 specs\n  hint: pick one with name=: good, bad"):
        picture("mine", library=library)


def test_a_lone_spec_has_the_name_of_its_file_too(tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").write_text("specs:\n  own:\n    layout: (4,8):(8,1)\n")
    monkeypatch.setenv("CUTE_VIZ_LAYOUTS", str(tmp_path))
    library = Library.of_environment()
    assert picture("mine", library=library).figure == picture("own", library=library).figure


def test_the_fields_of_a_lone_spec_are_no_names(tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").write_text("let:\n  sA: 4:2\nspecs:\n  one:\n    layout: sA\n")
    monkeypatch.setenv("CUTE_VIZ_LAYOUTS", str(tmp_path))
    library = Library.of_environment()
    assert library.spec_file("one") == str(tmp_path / "mine.yaml")
    assert (
        library.spec_file("sA") is library.spec_file("tile") is library.spec_file("mma") is None
    )  # ampere_gemm.yaml holds one spec with these fields
    assert not {"sA", "tile", "mma"} & set(library.spec_names())
    with pytest.raises(CuteVizError, match="'tile'"):
        picture("tile", library=library)
    assert run("render", "mma", "--let", "mma=(4,8):(8,1)").stdout == run("render", "(4,8):(8,1)").stdout


def test_aliases_do_not_grow_without_bound():
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{c}: &{c} [{','.join(['*' + p] * 9)}]\n" for p, c in zip("abcdefgh", "bcdefghi", strict=True)
    )
    with pytest.raises(LimitError, match="YAML nodes"):
        read_yaml(bomb)


def test_aliases_are_the_same_values():
    assert read_yaml("a: &x 8:1\nb: *x") == {"a": "8:1", "b": "8:1"}


def test_fmt_tidies_a_spec_and_changes_nothing(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("# mine\nfigure: {tile: 8x8, view: 'tv'}\nlayout: '(8,8):(8,1)'\n")
    out = run("fmt", str(path))
    assert out.stdout == "# mine\nlayout: (8,8):(8,1)\nfigure:\n  tile: 8x8\n  view: tv\n"
    assert read_specs(out.stdout)[0] == read_specs(path.read_text())[0]
    assert run("fmt", str(path), "--as", "cpp").stdout.startswith("make_layout(")


@given(
    st.recursive(
        st.text(max_size=12), lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=6), x, max_size=3)
    )
)
def test_yaml_that_is_written_reads_back(value):
    text = json.dumps(value)
    try:
        first = read_yaml(text)
    except CuteVizError:
        return  # YAML is a little less than JSON: surrogates, control characters
    assert read_yaml(write_yaml(first)) == first


def test_a_spec_by_name_and_one_of_several():
    alone = run("render", "GMMA::Layout_K_SW128_Atom<half_t>").stdout
    assert run("render", "gmma_k_sw128").stdout == alone  # without a title of its own
    several = str(ROOT / "layouts" / "specs" / "swizzles.yaml")
    assert run("render", several, "--name", "smem_128x64_sw333").stdout == run("render", "smem_128x64_sw333").stdout
    out = run("render", several)
    assert out.returncode == 1
    assert "pick one with --name" in out.stderr


def test_a_folder_of_ones_own(tmp_path):
    (tmp_path / "mine.yaml").write_text("specs:\n  my_tile:\n    layout: (3,5):(5,1)\n")
    assert run("render", "my_tile", "--layouts", str(tmp_path)).stdout == run("render", "(3,5):(5,1)").stdout
    assert run("render", "my_tile").returncode == 1


def test_options_of_the_command_line_win(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("title: mine\nlayout: ((4,8),(2,2)):((32,1),(16,8))\nfigure: {tile: 16x8}\n")
    model = json.loads(run("render", str(path), "-T", "json").stdout)
    assert (model["title"], model["kind"]) == ("mine", "tv")
    assert json.loads(run("render", str(path), "-T", "json", "--title", "yours").stdout)["title"] == "yours"


def test_the_six_layouts_of_a_gemm():
    model = json.loads(run("render", "ampere_gemm", "-T", "json").stdout)
    captions = " ".join(panel["caption"] for panel in model["panels"])
    for words in (
        "cp.async: A and B, global to shared memory, the first of 8 tiles",
        "shared memory: A and B, the first of 16 tiles",
        "fragments of A",
        "fragments of B",
        "accumulator",
        "epilogue",
    ):
        assert words in captions
    assert len(model["panels"]) == 7  # C is stored as it is held


def test_a_spec_may_say_what_the_command_line_may():
    choices = {field.name: set(field.choices) for field in FIGURE}
    assert choices["labels"] == set(LABELS)
    assert choices["view"] == set(VIEWS)


WHOLE = {
    "mma_atom": {
        "ThrID": "32:1",
        "Shape_MNK": "(16,8,8)",
        "ALayout": "((4,8),(2,2)):((16,1),(8,64))",
        "BLayout": "((4,8),2):((16,1),8)",
        "CLayout": "((4,8),(2,2)):((32,1),(16,8))",
    },
    "layout": {"shape": "(4,8)", "stride": "(8,1)"},
    "swizzle": {"bits": "3", "base": "3", "shift": "3", "layout": "(8,64):(64,1)"},
    "copy_atom": {"op": "SM75_U32x4_LDSM_N", "type": "half_t"},
    "tiled_mma": {"atom": "SM80_16x8x16_F32F16F16F32_TN", "layout": "(2,2,1)", "permutation": "(32,32,16)"},
    "tiled_copy": {"atom": "Copy_Atom<UniversalCopy<float>, float>{}", "thr": "(4,8)", "val": "(1,1)"},
    "gemm": {
        "mma": "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))",
        "tile": "(64,64,64)",
        "smem_a": "(8,64):(64,1)",
        "g2s_a": "make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, (16,8):(8,1), (1,8))",
        "epilogue": "make_tiled_copy(Copy_Atom<UniversalCopy<uint64_t>, float>{}, (8,8):(8,1), (1,2))",
    },
}
ODD = [
    "4", "0", "-1", "()", "(16,8)", "f16", "_", "half_t", "(4,8):(8,1)", "(4,8):(1@0,1@1)", "Sw<3,3,3>", "1/2@0", "[1]", "{a: 1}",
    "SM75_U32x4_LDSM_N", "SM80_16x8x16_F32F16F16F32_TN", "Copy_Atom<UniversalCopy<float>, float>{}", "(4,8):(0,-1)",
    "make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, (4,8), (1,1))", "99999999999999999999",
]  # fmt: skip


@pytest.mark.parametrize("kind", WHOLE)
def test_fields_of_the_wrong_kind_have_their_place(kind):
    def spec(fields):
        lines = [f"  {key}: {value if value[0] in '[{' else json.dumps(value)}" for key, value in fields.items()]
        return f"{kind}:\n" + "\n".join(lines)

    read_specs(spec(WHOLE[kind]), "f.yaml")
    errors = []
    for key in WHOLE[kind]:
        for odd in ODD:
            try:
                ask(Request((read_specs(spec({**WHOLE[kind], key: odd}), "f.yaml")[0],))).figure  # noqa: B018
            except CuteVizError as error:
                errors.append(error)
    assert len(errors) > len(ODD)
    assert all(error.span is None or error.place().startswith("f.yaml:") for error in errors)


def test_the_looks_of_all_specs_of_a_file():
    text = "palette: grey\nformats: png\nfigure: {view: banks, type: f16, theme: dark}\nspecs:\n  a: {layout: '(8,8)'}\n"
    text += "  b: {layout: '(8,8)', palette: mono, figure: {view: address}}\n"
    a, b = read_specs(text)
    assert (a.palette, a.formats, a.figure) == ("grey", ("png",), {"view": "banks", "type": "f16", "theme": "dark"})
    assert (b.palette, b.formats, b.figure) == ("mono", ("png",), {"view": "address", "type": "f16", "theme": "dark"})


def test_a_spec_has_the_words_for_the_machine_and_the_tensor(tmp_path):
    """Beside the object, or beside `specs` for all; they do what the keywords of Python do, which win."""
    copy = "make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>,half_t>{}, (64,2), (1,8))"
    encoding = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>"
    shared = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
    file = tmp_path / "f.yaml"
    file.write_text(
        f"arch: gfx942\nspecs:\n  waves: {{layout: '{copy}', figure: {{color_by: warp}}}}\n"
        f"  warps: {{layout: '{copy}', wave: 16, figure: {{color_by: warp}}}}\n  ambiguous: {{layout: v_mfma_f32_16x16x16_f16}}\n"
        f"  encoding: {{layout: '{encoding}', shape: 64x32}}\n  shared: {{layout: '{shared}', shape: 64x64, bits: 16}}\n"
    )
    same = {
        "waves": (copy, {"arch": "gfx942", "color_by": "warp"}),
        "warps": (copy, {"wave": 16, "color_by": "warp"}),
        "ambiguous": ("v_mfma_f32_16x16x16_f16", {"arch": "gfx942"}),
        "encoding": (encoding, {"shape": (64, 32)}),
        "shared": (shared, {"shape": "64x64", "bits": 16}),
    }
    for name, (source, words) in same.items():
        assert cv.figure(str(file), name=name).panels == cv.figure(source, **words).panels, name
    assert cv.figure(str(file), name="waves").panels != cv.figure(str(file), name="warps").panels
    asked = cv.figure(str(file), name="warps", wave=64)
    assert asked.panels == cv.figure(copy, wave=64, color_by="warp").panels
    for line, words in (("wave: x", "wave: invalid value 'x'"), ("shape: 4y4", "shape: invalid value '4y4'")):
        with pytest.raises(CuteVizError, match=words) as failed:
            read_specs(f"layout: (4,8)\n{line}", "f.yaml")
        assert failed.value.explain().splitlines()[0].startswith("f.yaml:2:")
