"""Pictures for a place: as wide as it is, no letter under 6 pt, every owner still named; what is left out stands beside."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from cute_viz import figure, render
from cute_viz.renderers import Options
from cute_viz.renderers.frame import Detail
from cute_viz.renderers.page import page_of
from cute_viz.renderers.targets import TARGETS
from tests import readback
from tests.commands import fails, run
from tests.test_render_tikz import compile_tex

TV = ("((16,8),8):((64,1),8)", {"tile": (8, 128)})
MMA = ("SM80_16x8x16_F32F16F16F32_TN", {})
BANKS = ("Sw<3,3,3> o 0 o (8,64):(64,1)", {"view": "banks", "type": 16})
SWIZZLE = ("Sw<3,3,3> o 0 o (8,64):(64,1)", {})
TILED = ("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))", {})
ATOM = ("GMMA::Layout_K_SW128_Atom<half_t>", {})
EVERY = [TV, MMA, BANKS, SWIZZLE, TILED, ATOM]


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("target", ["column", "page", "readme", "slide"])
@pytest.mark.parametrize(("source", "options"), EVERY)
def test_it_fits_and_can_be_read(source, options, target, bare):
    drawn = figure(source, **options)
    shown = readback.svg(render(drawn, "svg", target=target, bare=bare).decode())
    assert shown.width <= TARGETS[target].width + 1
    assert min(size for _, _, _, size, _, _ in shown.texts) >= 8 - 1e-6  # px, 6 pt
    page = page_of(drawn, Options(target=target, bare=bare))
    if source != TILED[0]:
        assert all(place.detail < Detail.COLOUR for place in page.panels)
    texts = " ".join(text for text, *_ in shown.texts)
    owned = [panel for panel in drawn.panels if "thread" in panel.data]
    for panel in owned if source != TILED[0] else ():
        assert {f"T{t}" for t in panel.data["thread"]} <= set(texts.split())
    if source == TILED[0]:
        assert {"warp 0", "warp 1", "warp 2", "warp 3"} <= {text for text, *_ in shown.texts}
    assert (drawn.title in texts) == (target in ("readme", "slide") and not bare)


def test_text_stays_inside_of_its_box():
    for source, options in EVERY:
        page = page_of(figure(source, **options), Options(target="column", bare=True))
        shown = readback.svg(render(figure(source, **options), "svg", target="column", bare=True).decode())
        for x, y, w, h in shown.boxes:
            inside = [(text, size) for text, tx, ty, size, anchor, _ in shown.texts if x < tx < x + w and y < ty < y + h]
            assert all(len(text) * size * 0.602 <= w for text, size in inside), (source, inside, w)
        assert page.width <= 318


def test_every_format_has_the_same_page():
    drawn = figure(TV[0], **TV[1])
    page = page_of(drawn, Options(target="column"))
    svg, tikz = (render(drawn, name, target="column").decode() for name in ("svg", "tikz"))
    one, two = readback.svg(svg), readback.tikz(tikz)
    assert (one.width, one.height) == (two.width, two.height) == (round(page.width, 2), round(page.height, 2))
    assert sorted(text for text, *_ in one.texts) == sorted(text for text, *_ in two.texts)
    assert len(one.boxes) == len(two.boxes) == 128


def test_the_caption_stands_beside(tmp_path: Path):
    assert run("render", MMA[0], "--for", "column", "-o", f"{tmp_path}/m.tex", "--fragment").returncode == 0
    assert run("render", MMA[0], "--bare", "-o", f"{tmp_path}/m.svg").returncode == 0
    assert run("render", MMA[0], "-o", f"{tmp_path}/whole.svg").returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"m.tex", "m.caption.tex", "m.svg", "m.caption.md", "whole.svg"}
    drawn = figure(MMA[0])
    for name in ("m.caption.md", "m.caption.tex"):
        words = re.sub(r"\\allowbreak\{\}|\\", "", (tmp_path / name).read_text())
        assert drawn.title.split(",")[0] in words
        assert all(entry.label in words for legend in drawn.legends for entry in legend.entries)
        assert "Verified on" in words
    assert "text, not to svg" in fails(run("render", "(4,8)", "--for", "terminal", "-T", "svg"), 2)
    assert "not to text" in fails(run("render", "(4,8)", "--for", "column"), 2)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_a_paper_of_two_columns_compiles(tmp_path: Path):
    parts = []
    for n, (source, options) in enumerate([TV, TILED]):
        words = [word for name, value in options.items() for word in (f"--{name}", "x".join(map(str, value)))]
        assert run("render", source, *words, "--for", "column", "--fragment", "-o", f"{tmp_path}/p{n}.tex").returncode == 0
        parts.append(f"\\begin{{figure}}\\centering\\input{{p{n}}}\\input{{p{n}.caption}}\\end{{figure}}\n")
    head = "\\documentclass[twocolumn,10pt]{article}\\usepackage{tikz}\\usepackage[margin=.75in]{geometry}\\begin{document}\n"
    compile_tex((head + "".join(parts) + "words\\end{document}\n").encode(), tmp_path)
    assert not re.search(r"Overfull \\hbox \((?:[1-9]\d|[2-9])", (tmp_path / "x.log").read_text(errors="replace"))
