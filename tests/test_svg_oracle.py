"""SVG as another program draws it: resvg's pixels hold the colours and the labels where the model has them."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import pytest
from matplotlib.image import imread

from cute_viz import figure, render
from cute_viz.figures.model import HOLE
from cute_viz.renderers.frame import Detail
from cute_viz.renderers.page import lay_out
from cute_viz.renderers.palette import palette
from cute_viz.renderers.panel import LINES_FROM

pytestmark = pytest.mark.oracle
resvg = pytest.importorskip("resvg_py", reason="resvg_py is not installed")
CASES = [
    ("(8,8):(8,1)", {}),
    ("(256,256):(256,1)", {}),
    ("((16,8),8):((64,1),8)", {"tile": (8, 128)}),
    ("(8,4):(0,4)", {"tile": (4, 8)}),
    ("Sw<3,3,3> o 0 o (8,64):(64,1)", {"view": "banks", "type": 16}),
    ("SM80_16x8x16_F32F16F16F32_TN", {}),
    ("(400,400):(400,1)", {}),
]


def pixels(svg: bytes):
    return (imread(BytesIO(resvg.svg_to_bytes(svg_string=svg.decode()))) * 255).round().astype(int)


@pytest.mark.parametrize(
    ("source", "options", "theme"), [*((*case, "auto") for case in CASES), (*CASES[0], "light"), (*CASES[5], "print")]
)
def test_cells_have_their_colours(source, options, theme):
    drawn = figure(source, **options)
    array = pixels(render(drawn, "svg", theme=theme))
    colours = palette("grey" if theme == "print" else None)
    checked = 0
    for place in lay_out(drawn).panels:
        panel, grid = place.panel, place.grid
        w, h = grid.cell_w, grid.cell_h
        if place.detail == Detail.COLOUR and w < LINES_FROM + 1:
            continue  # lines cover most of the cell
        for cell in range(0, panel.rows * panel.cols, max(1, panel.rows * panel.cols // 499)):
            r, c = divmod(cell, panel.cols)
            edge = r in (0, panel.rows - 1) or c in (0, panel.cols - 1)
            if panel.paints[cell] == HOLE or (edge and w < LINES_FROM):  # the frame covers small cells
                continue
            # left of the labels and right of the cell's line, and inside of any box
            px, py = grid.left + c * w + (4.5 if w > 20 else 0.5 * w), grid.top + r * h + 0.5 * h
            if any(a <= r < e and b <= c < d for a, b, e, d in panel.boxes) and w <= 20:
                continue
            found = "#" + "".join(f"{v:02x}" for v in array[int(py), int(px)][:3])
            paint = drawn.paints[panel.paints[cell]]
            wanted = colours.fill(replace(paint, shade=0) if colours.is_flat else paint)  # greys have no shades
            assert found == wanted, (cell, px, py)
            checked += 1
    assert checked or source.startswith(("((16,8)", "(256", "Sw"))


def test_every_label_leaves_ink_in_its_cell():
    drawn = figure("(8,8):(8,1)", color_by="none")
    array = pixels(render(drawn, "svg"))
    grid = lay_out(drawn).panels[0].grid
    for cell in range(64):
        r, c = divmod(cell, 8)
        left, top = int(grid.left + c * grid.cell_w), int(grid.top + r * grid.cell_h)
        inside = array[top + 4 : top + int(grid.cell_h) - 4, left + 3 : left + int(grid.cell_w) - 3, :3]
        assert inside.min() < 120
