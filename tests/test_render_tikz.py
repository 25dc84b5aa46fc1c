"""Our own TikZ: what it asks of TeX, and compiled where pdflatex is installed; `test_writers.py` reads it back."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cute_viz import figure, parse, render
from cute_viz.errors import FigureError
from cute_viz.figures import build
from cute_viz.figures.options import FigureOptions
from cute_viz.renderers.palette import palette
from cute_viz.renderers.tex import escape

MMA = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (128,128,32))"
CASES = [
    ("(8,8):(8,1)", {}),
    ("((2,2),(2,4)):((1,4),(2,8))", {"coords": True, "labels": "coord"}),
    ("(2,3,4)", {}),
    ("((4,8),(2,2)):((32,1),(16,8))", {"tile": (16, 8), "view": "both"}),
    ("(8,4):(0,4)", {"tile": (4, 8)}),
]


def test_a_fragment_stands_in_a_group_and_says_what_it_needs():
    text = render("(8,4):(0,4)", "tikz", fragment=True, tile=(4, 8)).decode()
    assert text.startswith("% needs \\usepackage{tikz}\n\\begingroup\\setbox")
    assert text.endswith("\\endgroup\n")
    assert "documentclass" not in text
    assert not re.search(r"\\(?:gdef|xdef|global|new\w+|usetikzlibrary)\b", text)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("place", ["aspectratio=169", "aspectratio=43"])
def test_a_fragment_for_a_slide_fits_it(place: str, tmp_path: Path) -> None:
    """In the whole text of a frame and in a column of it; in a document as large as the picture it keeps its size."""
    (tmp_path / "wide.tex").write_bytes(render(MMA, "tikz", fragment=True, target="slide"))
    (tmp_path / "high.tex").write_bytes(render("(32,4)", "tikz", fragment=True))
    frames = []
    for name in ("wide", "high"):
        halves = f"\\begin{{columns}}\\column{{.5\\textwidth}}\\input{{{name}}}\\column{{.5\\textwidth}}words\\end{{columns}}"
        frames += [f"\\begin{{frame}}{{Title}}{body}\\end{{frame}}\n" for body in (f"\\input{{{name}}}", halves)]
    head = f"\\documentclass[{place}]{{beamer}}\\usepackage{{tikz}}\\begin{{document}}\n"
    compile_tex((head + "".join(frames) + "\\end{document}\n").encode(), tmp_path)
    assert "Overfull" not in (tmp_path / "x.log").read_text(errors="replace")
    assert "\\resizebox" in (tmp_path / "wide.tex").read_text()
    measured = "\\setbox0\\hbox{\\input{wide}}\\typeout{wide \\the\\wd0}\\box0"
    page = f"\\documentclass{{standalone}}\\usepackage{{tikz}}\\begin{{document}}{measured}\\end{{document}}"
    compile_tex(page.encode(), tmp_path)
    (px,) = re.findall(r"box \(0,0\) rectangle \(([\d.]+),", (tmp_path / "wide.tex").read_text())
    (pt,) = re.findall(r"(?m)^wide ([\d.]+)pt", (tmp_path / "x.log").read_text(errors="replace"))
    assert abs(float(pt) - 0.75 * float(px)) < 0.1
    assert float(pt) > 500  # more than its text is wide


@pytest.mark.slow
def test_pages_that_are_too_much_for_pdflatex_ask_for_lualatex():
    for source, options in (("(256,256)", {"labels": "full"}), ("(128,128)", {}), (MMA, {}), (MMA, {"labels": "full"})):
        assert render(source, "tikz", **options).startswith(b"\\RequirePackage{fix-cm}\n\\documentclass")
    assert render("(400,256)", "tikz", labels="full", max_cells=1 << 17).startswith(b"% !TeX program = lualatex\n\\RequirePackage")


def test_what_tex_cannot_hold_is_refused():
    with pytest.raises(FigureError, match=r"too long for TeX\n  hint: width=, cell="):
        render("(2,2000)", "tikz", cell=40)
    image = build(parse("Sw<3,0,9> o 0 o (1024,1024):(1,1024)"), FigureOptions(heat=True, max_cells=4))
    striped = replace(image, panels=(replace(image.panels[0], paints=bytes([0, 1]) * (1 << 19)),))
    with pytest.raises(FigureError, match="1048576 changes of color is too large for TeX"):
        render(striped, "tikz")


def test_a_page_is_as_wide_as_asked_for():
    drawn = figure("((16,8),8):((64,1),8)", tile=(8, 128))
    for width in (460, 900):
        text = render(drawn, "tikz", width=width).decode()
        (found,) = re.findall(r"\\useasboundingbox \(0,0\) rectangle \(([\d.]+),", text)
        assert float(found) <= width + 1


def test_themes():
    light, dark, grey = (render("(2,2)", "tikz", theme=theme).decode() for theme in ("light", "dark", "print"))
    assert "\\fill[cvp]" in dark
    assert "\\fill[cvp]" not in light
    assert light == render("(2,2)", "tikz").decode()
    assert palette("grey").hues[0][1:].upper() in grey


def test_cutlass_style_has_no_fragment():
    with pytest.raises(FigureError):
        render("(2,2)", "tikz", style="cutlass", fragment=True)


@given(st.text(max_size=40) | st.text("éÀñßøçÅŽ\\\\{}", max_size=9))
def test_escaped_text_holds_no_command(text):
    letters = r"\\(?:[`'^~\"]|[rcv])\{[A-Za-z]\}|\\(?:ss|ae|AE|oe|OE|o|O|l|L)\{\}|"
    signs = r"\\textbackslash\{\}|\\textasciicircum\{\}|\\textasciitilde\{\}|\\ldots\{\}|\\[{}$&#_%]|\$(?:\\[a-z]+|[<>|])\$"
    known = letters + signs
    rest = re.sub(known, "", escape(text))
    assert not re.search(r"[\\{}$&#_%^~]", rest)
    assert rest.isascii()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize(
    ("source", "options"),
    [
        *CASES,
        ("(128,128):(128,1)", {"labels": "offset"}),
        ("((16,8),8):((64,1),8)", {"tile": (8, 128)}),
        (MMA, {"labels": "full"}),
        ("(512,512):(512,1)", {"max_cells": 1 << 17}),
        ("Sw<3,3,3>", {}),
    ],
)
def test_it_compiles(source, options, tmp_path: Path):
    compile_tex(
        render(source, "tikz", title=r"\input{/etc/passwd} \write18{x} 50% $y_1^2$ #&~ ×→é Größe Øß ç Ž ł 字", **options),
        tmp_path,
    )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("options", [{}, {"labels": "full"}, {"theme": "dark"}, {"cell": 2}])
def test_options_of_a_page_compile(options, tmp_path: Path):
    compile_tex(render("((16,8),8):((64,1),8)", "tikz", **options, tile=(8, 128)), tmp_path)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_a_fragment_compiles_twice_in_one_document(tmp_path: Path):
    part = render("(8,4):(0,4)", "tikz", fragment=True, width=460, tile=(4, 8)).decode()
    head = "\\documentclass{article}\\usepackage{tikz}\\begin{document}\n\\noindent\n"
    compile_tex(
        (head + part + "\n\\noindent\n" + part + "\\ifdefined\\cvgrid\\undefined\\fi\n\\end{document}\n").encode(), tmp_path
    )
    assert "Overfull" not in (tmp_path / "x.log").read_text(errors="replace")


def compile_tex(source: bytes, folder: Path) -> None:
    (folder / "x.tex").write_bytes(source)
    command = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "x.tex"]
    result = subprocess.run(command, cwd=folder, capture_output=True, timeout=120)
    assert result.returncode == 0, result.stdout[-2000:].decode(errors="replace")
    assert (folder / "x.pdf").stat().st_size > 1000
