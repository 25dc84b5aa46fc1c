"""Our own TikZ: read back by its macros, and compiled where pdflatex is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cute_viz import figure, render
from cute_viz.errors import FigureError
from cute_viz.figures.model import HOLE
from cute_viz.figures.palette import palette
from cute_viz.renderers import Options
from cute_viz.renderers.tex import escape

CASES = [
    ("(8,8):(8,1)", {}),
    ("((2,2),(2,4)):((1,4),(2,8))", {"coords": True, "labels": "coord"}),
    ("(2,3,4)", {}),
    ("((4,8),(2,2)):((32,1),(16,8))", {"tile": (16, 8), "view": "both"}),
    ("(8,4):(0,4)", {"tile": (4, 8)}),
]


@pytest.mark.parametrize(("source", "options"), CASES)
def test_rows_of_rules_and_labels_are_the_model(source, options):
    drawn = figure(source, **options)
    text = render(drawn, "tikz").decode()
    colours = dict(re.findall(r"\\definecolor\{(cv\d+)\}\{HTML\}\{(\w+)\}", text))
    assert colours == {f"cv{n}": palette().fill(p)[1:].upper() for n, p in enumerate(drawn.paints)}
    rows = re.findall(r"^\\cvrow\{(.*)\}%$", text, re.MULTILINE)
    assert len(rows) == sum(panel.rows for panel in drawn.panels)
    at = iter(rows)
    for panel in drawn.panels:
        for r in range(panel.rows):
            rules, labels = _split(next(at))
            lengths = re.findall(r"\\cvrun\{cv(\d+)\}\{([\d.]+)\}|\\kern([\d.]+)pt", rules)
            total = sum(float(a or b) for _, a, b in lengths)
            paints = []
            for paint, a, b in lengths:
                paints += [int(paint) if paint else HOLE] * round(float(a or b) * panel.cols / total)
            assert tuple(paints) == panel.paints[r * panel.cols : (r + 1) * panel.cols]
            shown = re.findall(r"\\cvone\{(.*?)\}|\\cvtwo\{(.*?)\}\{(.*?)\}|(\\kern\\cvw)", labels)
            words = [a or (f"{b}\n{c}" if b else "") for a, b, c, _ in shown]
            expected = [label.split(" ×")[0] for label in panel.labels[r * panel.cols : (r + 1) * panel.cols]]
            assert [word.split(" $")[0] for word in words] == expected


def _split(row: str) -> tuple[str, str]:
    """The two arguments of \\cvrow, parted where the braces of the first close."""
    depth = 0
    for n, c in enumerate(row):
        depth += (c == "{") - (c == "}")
        if depth < 0:
            return row[:n], row[n + 2 :]
    raise AssertionError(row)


def test_a_fragment_stands_in_a_group_and_says_what_it_needs():
    text = render("(8,4):(0,4)", "tikz", Options(fragment=True), tile=(4, 8)).decode()
    assert text.startswith("% needs \\usepackage{tikz} \\usetikzlibrary{patterns}\n\\begingroup\n")
    assert text.endswith("\\endgroup\n")
    assert "documentclass" not in text


def test_very_large_grids_ask_for_lualatex():
    assert render("(128,128)", "tikz").startswith(b"\\documentclass")
    assert render("(129,128)", "tikz").startswith(b"% !TeX program = lualatex\n")


def test_cutlass_style_has_no_fragment():
    with pytest.raises(FigureError):
        render("(2,2)", "tikz", Options(style="cutlass", fragment=True))


@given(st.text(max_size=40) | st.text("éÀñßøçÅŽ\\\\{}", max_size=9))
def test_escaped_text_holds_no_command(text):
    letters = r"\\(?:[`'^~\"]|[rcv])\{[A-Za-z]\}|\\(?:ss|ae|AE|oe|OE|o|O|l|L)\{\}|"
    signs = r"\\textbackslash\{\}|\\textasciicircum\{\}|\\textasciitilde\{\}|\\ldots\{\}|\\[{}$&#_%]|\$(?:\\[a-z]+|[<>|])\$"
    known = letters + signs
    rest = re.sub(known, "", escape(text))
    assert not re.search(r"[\\{}$&#_%^~]", rest)
    assert rest.isascii()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize(
    ("source", "options"),
    [*CASES, ("(128,128):(128,1)", {}), ("((16,8),8):((64,1),8)", {"tile": (8, 128)})],
)
def test_it_compiles(source, options, tmp_path: Path):
    compile_tex(
        render(figure(source, title=r"\input{/etc/passwd} \write18{x} 50% $y_1^2$ #&~ ×→é Größe Øß ç Ž ł 字", **options), "tikz"),
        tmp_path,
    )


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_a_fragment_compiles_twice_in_one_document(tmp_path: Path):
    part = render("(8,4):(0,4)", "tikz", Options(fragment=True), tile=(4, 8)).decode()
    head = "\\documentclass{article}\\usepackage{tikz}\\usetikzlibrary{patterns}\\begin{document}\n"
    compile_tex((head + part + part + "\\end{document}\n").encode(), tmp_path)


def compile_tex(source: bytes, folder: Path) -> None:
    (folder / "x.tex").write_bytes(source)
    command = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "x.tex"]
    result = subprocess.run(command, cwd=folder, capture_output=True, timeout=120)
    assert result.returncode == 0, result.stdout[-2000:].decode(errors="replace")
    assert (folder / "x.pdf").stat().st_size > 1000
