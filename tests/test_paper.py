"""What an author of a paper does: the how-to followed to the letter, captions, specs, and words that stand beside pictures."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from cute_viz import figure, render
from cute_viz.spec.build import read_specs
from tests.commands import fails, run
from tests.test_render_tikz import compile_tex

ROOT = Path(__file__).parent.parent
MMA = "SM80_16x8x16_F32F16F16F32_TN"
ARTICLE = "\\documentclass[twocolumn,10pt]{article}\\usepackage{tikz}\\usepackage[margin=.75in]{geometry}\\begin{document}\n"


def article(folder: Path, *parts: str) -> str:
    """The log of a two-column article with these parts."""
    compile_tex((ARTICLE + "\n".join(parts) + "\nwords\\end{document}\n").encode(), folder)
    return (folder / "x.log").read_text(errors="replace")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_how_to_of_a_paper_followed_to_the_letter(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "howto" / "paper.md").read_text()
    (command,) = [line.strip() for line in text.splitlines() if line.endswith("-o fragment.tex")]
    words = shlex.split(command)[1:]
    assert run(*words[:-1], f"{tmp_path}/fragment.tex").returncode == 0
    figure_, *_ = re.findall(r"```latex\n(.*?)```", text, re.S)
    log = article(tmp_path, figure_)
    assert "too large" not in log
    assert not re.search(r"Overfull \\hbox \((?:[1-9]\d|[2-9])", log)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_no_float_is_too_large(tmp_path: Path) -> None:
    """Nine inches of text, as most styles have: the picture of a column and its caption are a float that fits."""
    parts = []
    for n, words in enumerate(([MMA], ["ampere_gemm", "--follow", "13"], ["SM80_16x8x8_F32TF32TF32F32_TN"])):
        assert run("render", *words, "--for", "column", "-o", f"{tmp_path}/p{n}.tex").returncode == 0
        parts.append(f"\\begin{{figure}}\\centering\\input{{p{n}}}\\input{{p{n}.caption}}\\end{{figure}}\n")
    assert "too large" not in article(tmp_path, *parts)


def blocks() -> list[str]:
    """The specs that README and the documentation show."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [block for page in pages for block in re.findall(r"```yaml\n(specs:\n.*?)```", page.read_text(), re.S)]


def test_the_documentation_shows_specs() -> None:
    assert len(blocks()) >= 2
    assert "layouts/SCHEMA.md" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("text", blocks())
def test_the_specs_of_the_documentation_are_drawn(text: str, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(text)
    shutil.copy(ROOT / "docs" / "kernel.cu", tmp_path)  # whose objects some name
    drawn = run("gallery", f"{tmp_path}/s.yaml", "-o", f"{tmp_path}/out")
    assert drawn.returncode == 0, drawn.stderr.decode()


def test_a_gallery_writes_captions_beside_and_fragments(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        f"specs:\n  mma:\n    mma_atom: {MMA}\n    formats: [tikz, svg]\n    figure: {{target: column}}\n"
        "  grid:\n    layout: (4,8):(8,1)\n    formats: [tikz, png]\n    figure: {fragment: yes}\n"
        "  whole:\n    layout: (4,8):(8,1)\n    formats: [tikz]\n"
    )
    out = tmp_path / "out"
    assert run("gallery", f"{tmp_path}/s.yaml", "-o", f"{out}").returncode == 0
    files = {path.name for path in out.iterdir()}
    assert {"mma.tex", "mma.svg", "mma.caption.tex", "mma.caption.md", "grid.tex"} <= files
    assert not {"grid.caption.tex", "grid.caption.md"} & files
    assert ["documentclass" in (out / f"{name}.tex").read_text() for name in ("mma", "grid", "whole")] == [False, False, True]
    for name in ("mma.tex", "mma.caption.tex"):
        assert run("render", MMA, "--for", "column", "-o", f"{tmp_path}/mma.tex").returncode == 0
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes()
    assert run("gallery", f"{tmp_path}/s.yaml", "-o", f"{out}", "--check").returncode == 0
    assert "0 drawn, 3 unchanged" in run("gallery", f"{tmp_path}/s.yaml", "-o", f"{out}").stderr.decode()
    (out / "mma.caption.md").unlink()
    missing = run("gallery", f"{tmp_path}/s.yaml", "-o", f"{out}", "--check")
    assert (missing.returncode, b"mma.caption.md" in missing.stdout + missing.stderr) == (1, True)
    (tmp_path / "s.yaml").write_text("specs:\n  whole:\n    layout: (4,8):(8,1)\n    formats: [tikz]\n")
    assert run("gallery", f"{tmp_path}/s.yaml", "-o", f"{out}", "--prune").returncode == 0
    assert not {path.name for path in out.iterdir()} & {"mma.caption.tex", "mma.caption.md", "mma.tex"}


@pytest.mark.parametrize(("more", "told"), [((), False), (("--bare",), True)])
def test_the_meaning_of_colours_is_told_once(more: tuple[str, ...], told: bool, tmp_path: Path) -> None:
    assert run("render", MMA, "--for", "column", *more, "-o", f"{tmp_path}/m.tex").returncode == 0
    picture, caption = ((tmp_path / name).read_text() for name in ("m.tex", "m.caption.tex"))
    assert ("T0..T3" in caption, "The hue is" in picture) == (told, not told)  # names of groups on their cells apart
    assert "\nmma.m16n8k16, " in caption or more  # an instruction is no word


def test_a_caption_names_every_layout(tmp_path: Path) -> None:
    layouts = ("(8,64):(64,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)")
    assert run("render", *layouts, "--for", "column", "-o", f"{tmp_path}/two.svg").returncode == 0
    words = (tmp_path / "two.caption.md").read_text().replace("\\", "")
    assert all(layout in words for layout in layouts)
    assert "Row-major: each row is contiguous | The swizzle reorders 7 of 8 rows, each within itself" in words
    texts = re.findall(r"<text[^>]*>([^<]*)", (tmp_path / "two.svg").read_text())
    assert not any("columns" in text for text in texts)  # whole panels, two of them


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("(4,8):(8,1)", {}),
        ("8:1", {}),
        ("((4,8),(2,2)):((32,1),(16,8))", {"tile": (16, 8)}),
        ("((4,8),(2,2)):((32,1),(16,8))", {"tile": (16, 8), "view": "table"}),
        ("((4,8),(2,2)):((32,1),(16,8))", {"tile": (16, 8), "view": "both"}),
        ("Sw<3,3,3>", {}),
        ("Sw<3,3,3> o 0 o (8,64):(64,1)", {"view": "banks", "type": 16}),
        ("Sw<3,3,3> o 0 o (8,64):(64,1)", {"view": "address", "type": 16}),
        (MMA, {}),
        ("SM75_U32x4_LDSM_N", {}),
        ("ampere_gemm", {}),
        ("ampere_gemm", {"follow": 13}),
    ],
)
def test_every_sentence_of_an_alt_text_begins_with_a_capital(source: str, options: dict[str, object]) -> None:
    drawn = figure(source, **options)
    assert not drawn.caption[:1].islower()
    assert f". {drawn.caption}" in drawn.description or not drawn.caption or drawn.kind == "page"


def test_what_four_threads_hold_has_a_short_label() -> None:
    drawn = figure(f"make_tiled_mma({MMA}{{}}, (4,1,1), (64,16,16))")
    b = next(panel for panel in drawn.panels if panel.caption.startswith("B"))
    assert max(len(line) for label in b.labels for line in label.split("\n")) <= 4
    assert "B: every element is held by 4 threads; the lowest is shown, ×4." in drawn.notes
    assert b"\xc3\x974" in render(drawn, "svg")
    two = figure(f"make_tiled_mma({MMA}{{}}, (2,2,1), (32,32,16))")
    assert any("T0,64" in label for panel in two.panels for label in panel.labels)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (f"mma: {MMA}", "did you mean mma_atom"),
        ("gemm: ampere_gemm", "cute-viz render ampere_gemm"),
        ("gemm: my_gemm", "gemm: {mma:"),
        ("layout: ampere_gemm", "cute-viz render ampere_gemm"),
    ],
)
def test_a_spec_that_is_wrong_is_told_how_it_is_written(text: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(text + "\n")
    assert hint in fails(run("render", f"{tmp_path}/s.yaml"), 1)


def test_a_spec_asks_for_a_fragment() -> None:
    assert read_specs("layout: (4,8):(8,1)\nfigure: {fragment: yes}")[0].figure == {"fragment": True}


BOARDS = [
    ("(8,8):(10,1)", "path"),
    ("Sw<3,3,3> o 0 o (8,64):(64,1)", "matrix"),
    ("SM80_16x8x16_F32F16F16F32_TN", "cube"),
    ("SM80_16x8x16_F32F16F16F32_TN", "zoom"),
    ("logical_divide((4,8):(8,1), (2,4))", "steps"),
    ("raked_product((2,2):(2,1), (2,3):(1,2))", "steps"),
    ("(64,64,4)", "pipeline"),
]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_every_board_compiles_in_a_column(tmp_path: Path) -> None:
    parts = []
    for n, (source, view) in enumerate(BOARDS):
        more = ("--note", "(0,0): a note") if view in ("path", "pipeline") else ()
        assert run("render", source, "--view", view, "--for", "column", "-o", f"{tmp_path}/b{n}.tex", *more).returncode == 0
        parts.append(f"\\begin{{figure}}\\input{{b{n}}}\\end{{figure}}\n")
    assert "Overfull" not in article(tmp_path, *parts)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_a_document_gives_its_own_colors_and_fonts(tmp_path: Path) -> None:
    """By \\cvsetup, as the how-to shows; a document without one has ours."""
    text = (ROOT / "docs" / "howto" / "paper.md").read_text()
    (setup,) = re.findall(r"```latex\n(\\newcommand\\cvsetup.*?)```", text, re.S)
    run("render", "(8,8):(8,1)", "--for", "column", "-o", f"{tmp_path}/a.tex")
    run("render", "4", "--view", "pipeline", "--for", "column", "-o", f"{tmp_path}/b.tex")
    body = "\\begin{document}\\pagestyle{empty}\\input{a}\\par\\input{b}\\end{document}\n"
    plain = "\\documentclass{article}\\pdfcompresslevel=0 \\pdfobjcompresslevel=0 \\usepackage{tikz}\n"
    red = b"1 0 0 rg"  # FF0000
    fonts = []
    for head in (plain, plain + setup):
        compile_tex((head + body).encode(), tmp_path)
        pdf = (tmp_path / "x.pdf").read_bytes()
        fonts.append({name.decode() for name in re.findall(rb"/FontName ?/\w{6}\+(\w+)", pdf)})
        assert (red in pdf) == (head != plain)
    assert any(name.startswith("CMTT") for name in fonts[0])
    assert not any(name.startswith(("CMTT", "CMSS")) for name in fonts[1])
    assert len({re.sub(r"\D", "", name) for name in fonts[1] if name.startswith(("CMR", "CMBX"))}) == 1  # one size
