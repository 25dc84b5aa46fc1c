"""PNG, PDF and compiled TikZ show one page: the same colour at the middle of each cell's border, labels in the same places."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from pathlib import Path

import matplotlib.image
import numpy
import pytest

from cute_viz import figure, render
from cute_viz.renderers import Options
from cute_viz.renderers.colours import page_palette
from cute_viz.renderers.page import page_of
from cute_viz.renderers.primitives import Cells, Labels
from tests.test_render_tikz import compile_tex

needs_tex = pytest.mark.skipif(
    shutil.which("pdflatex") is None or shutil.which("pdftoppm") is None, reason="needs pdflatex and poppler"
)
needs_poppler = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs poppler")
SCALE = 2  # pixels of a px of the page


def pixels(png: bytes) -> numpy.ndarray:
    return (matplotlib.image.imread(io.BytesIO(png))[..., :3] * 255).round().astype(int)


def rasterised(pdf: Path, tmp_path: Path) -> numpy.ndarray:
    """The page in pixels; what is a pt of a CSS pixel is one of TeX there, of which 72.27 make an inch."""
    subprocess.run(
        ["pdftoppm", "-r", str(96 * SCALE * 72.27 / 72), "-png", "-singlefile", str(pdf), str(tmp_path / "page")], check=True
    )
    return pixels((tmp_path / "page.png").read_bytes())


def cell_colours(image: numpy.ndarray, page) -> numpy.ndarray:
    """The colour of each cell a little below its upper left corner, where no label is."""
    out = []
    for place in page.panels:
        grid = place.grid
        for y in grid.ys()[:-1]:
            for x in grid.xs()[:-1]:
                r, c = int((y + 5.5) * SCALE), int((x + 5.5) * SCALE)
                out.append(numpy.median(image[r - 1 : r + 2, c - 1 : c + 2].reshape(-1, 3), axis=0))
    return numpy.array(out)


SOURCES = [
    ("(8,8):(8,1)", {}),
    ("SM80_16x8x16_F32F16F16F32_TN", {"thread": 5}),
    ("Sw<2,2,2> o 0 o (8,16):(16,1)", {"view": "grid"}),
]


@pytest.mark.slow
@needs_tex
@pytest.mark.parametrize(("source", "options"), SOURCES)
def test_compiled_tikz_and_png_agree(source, options, tmp_path: Path):
    page = page_of(figure(source, **options), Options(theme="light"))
    png = pixels(render(source, "png", theme="light", **options))
    compile_tex(render(source, "tikz", theme="light", **options), tmp_path)
    tex = rasterised(tmp_path / "x.pdf", tmp_path)
    sizes = numpy.array([png.shape[:2], tex.shape[:2]])
    assert abs(sizes[0] - sizes[1]).max() <= 4, sizes
    colours = [cell_colours(image, page) for image in (png, tex)]
    assert abs(colours[0] - colours[1]).max() <= 3  # of 255: the two writers round colours on their own
    h, w = sizes.min(axis=0)
    ink = [(image[:h, :w].sum(axis=2) < 200).reshape(h, w) for image in (png, tex)]
    blocks = [one[: h // 8 * 8, : w // 8 * 8].reshape(h // 8, 8, w // 8, 8).mean(axis=(1, 3)) for one in ink]
    assert numpy.corrcoef(blocks[0].ravel(), blocks[1].ravel())[0, 1] > 0.7  # letters differ in shape, not in place


@pytest.mark.parametrize("source", ["hopper_gemm", "gmma_desc_k_sw128", "instr_desc", "blackwell_gemm"])
def test_a_png_has_the_paints_of_its_page(source):
    """A page in lanes, and one with bits below, has other paints than the figure; the PNG once had those of the figure."""
    drawn = figure(source)
    options = Options(target="readme", theme="light")
    page = page_of(drawn, options)
    image = pixels(render(drawn, "png", target="readme", theme="light"))
    found = tuple(tuple(int(page_palette(options).fill(paint)[n : n + 2], 16) for n in (1, 3, 5)) for paint in page.figure.paints)
    seen = []
    for item in page.items:
        if isinstance(item, Cells) and item.paint >= 0 and min(item.grid.cell_w, item.grid.cell_h) >= 1.2:
            for row, start in list(zip(item.rows, item.starts, strict=True))[:50]:
                x, y = item.grid.xs()[start] + min(2.0, item.grid.cell_w / 2), item.grid.ys()[row] + min(2.0, item.grid.cell_h / 2)
                mine = image[int(y * SCALE), int(x * SCALE)]
                seen.append(abs(mine - found[item.paint]).max() <= 3)
    assert len(seen) > 20
    assert sum(seen) > 0.85 * len(seen)  # a line or a letter may be there


@needs_poppler
def test_labels_of_a_pdf_stand_in_the_middle_of_their_cells(tmp_path: Path):
    """As poppler finds the words; they stood a quarter of their width to the left."""
    source = "(8,8):(640,80)"
    (tmp_path / "page.pdf").write_bytes(render(source, "pdf"))
    html = subprocess.run(
        ["pdftotext", "-bbox", str(tmp_path / "page.pdf"), "-"], check=True, capture_output=True, text=True
    ).stdout
    words = re.findall(r'xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">([^<]*)<', html)
    page = page_of(figure(source), Options())
    (labels,) = [item for item in page.items if isinstance(item, Labels)]
    grid = page.panels[0].grid
    for cell, text in enumerate(labels.texts):
        x, y = grid.middles()[cell % 8], grid.ys()[cell // 8] + labels.dy
        near = [
            (float(x0) + float(x1)) / 2 / 0.75 - x
            for x0, y0, x1, y1, word in words
            if word == text and abs((float(y0) + float(y1)) / 2 / 0.75 - y) < 6
        ]
        assert min(map(abs, near)) < 0.5, (text, near)
