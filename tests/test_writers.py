"""Every writer of a page draws the same primitives, and the primitives are the model's."""

from __future__ import annotations

from itertools import pairwise

import pytest

from cute_viz import figure
from cute_viz.figures.compare import side_by_side
from cute_viz.figures.model import HOLE
from cute_viz.figures.trim import fold
from cute_viz.renderers import Options, render
from cute_viz.renderers.frame import Detail
from cute_viz.renderers.page import lay_out
from cute_viz.renderers.palette import palette
from cute_viz.renderers.ways import unshaded
from tests import readback

TV = "((16,8),8):((64,1),8)"
CASES = [
    ("(8,8):(8,1)", {}, {}),
    ("((2,2),(2,4)):((1,4),(2,8))", {"coords": True, "labels": "coord"}, {}),
    ("(2,3,4)", {}, {"theme": "dark"}),
    ("((4,8),(2,2)):((32,1),(16,8))", {"tile": (16, 8), "view": "both"}, {"theme": "print"}),
    ("(8,4):(0,4)", {"tile": (4, 8)}, {}),
    ("(9,4):(1,9)", {"tile": (6, 8)}, {"palette": "viridis"}),
    (TV, {"tile": (8, 128)}, {}),
    (TV, {"tile": (8, 128)}, {"full": True}),
    (TV, {"tile": (8, 128)}, {"cell": 9}),
    ("(64,64):(64,1)", {"color_by": "mod8"}, {"width": 500}),
    ("SM80_16x8x16_F32F16F16F32_TN", {}, {}),
    ("Sw<3,3,3> o 0 o (8,64):(64,1)", {"view": "banks", "type": 16}, {"palette": "okabe-ito"}),
    ("((2,2,2),(2,2,2)):((1,2,4),(8,16,32))", {}, {"cell": 30}),
    ("(3,17):(17,1)", {"labels": "none", "title": "50% of {x}_1 & <b>"}, {}),
]


def same(ours: list[tuple], theirs: list[tuple]) -> None:
    """Both hold the same things, at the same places but for what the digits of a format cannot tell apart."""
    assert len(ours) == len(theirs)
    groups: dict[tuple, tuple[list, list]] = {}
    for n, items in enumerate((ours, theirs)):
        for item in items:
            words = tuple(part for part in item if isinstance(part, str))
            groups.setdefault(words, ([], []))[n].append([part for part in item if not isinstance(part, str)])
    for words, (mine, others) in groups.items():
        assert len(mine) == len(others), words
        for item in mine:
            near = [other for other in others if all(abs(x - y) < 0.03 for x, y in zip(item, other, strict=True))]
            assert near, (words, item)
            others.remove(near[0])


@pytest.mark.parametrize(("source", "options", "how"), CASES)
def test_svg_html_and_tikz_show_the_same(source, options, how):
    drawn = figure(source, **options)
    svg = readback.svg(render(drawn, "svg", Options(**how)).decode())
    html = readback.html(render(drawn, "html", Options(**how)).decode())
    assert html == svg
    tikz = readback.tikz(render(drawn, "tikz", Options(**how)).decode())
    assert (tikz.width, tikz.height) == (svg.width, svg.height)
    for place in lay_out(drawn, **{key: how[key] for key in ("width", "cell", "full") if key in how}).panels:
        grid = place.grid
        for r in range(grid.rows):
            for c in range(0, grid.cols, 1 if grid.cols < 64 else 7):
                x, y = grid.left + (c + 0.5) * grid.cell_w, grid.top + (r + 0.5) * grid.cell_h
                assert svg.colour(x, y) == tikz.colour(x, y) is not None
    light = {"#e6edf3": "#1a1a1a", "#9aa4ae": "#57606a"}  # SVG has the colours of the dark in its style sheet
    texts = [(*item[:-1], light.get(item[-1], item[-1])) for item in tikz.texts]
    same(svg.texts, texts)
    same(svg.lines, tikz.lines)
    same(svg.boxes, tikz.boxes)
    same(svg.ears, tikz.ears)
    same(svg.swatches, tikz.swatches)


@pytest.mark.parametrize(("source", "options", "how"), CASES)
def test_the_page_is_the_model(source, options, how):
    """Without the layout's own words: a label lies in its cell, a line between its cells, a box around its own."""
    drawn = figure(source, **options)
    page = lay_out(drawn, **{key: how[key] for key in ("width", "cell", "full") if key in how})
    found = readback.tikz(render(drawn, "tikz", Options(**how)).decode())
    colours = palette(how.get("palette") or ("grey" if how.get("theme") == "print" else None))
    drawn = unshaded(drawn) if colours.is_flat else drawn
    for place in page.panels:
        panel, grid = place.panel, place.grid
        w, h = grid.cell_w, grid.cell_h
        right, bottom = grid.left + panel.cols * w, grid.top + panel.rows * h
        assert (right <= page.width, bottom <= page.height, grid.left >= 20, grid.top >= 20) == (True,) * 4
        inside = {}
        for text, x, y, size, anchor, colour in found.texts:
            if anchor == "middle" and grid.left < x < right and grid.top < y < bottom:
                inside.setdefault((int((y - grid.top) // h), int((x - grid.left) // w)), []).append((y, text, size, colour))
        for cell, paint in enumerate(panel.paints):
            r, c = divmod(cell, panel.cols)
            fill = readback.HOLE if paint == HOLE else colours.fill(drawn.paints[paint])
            if c % 5 == r % 5:
                assert found.colour(grid.left + (c + 0.5) * w, grid.top + (r + 0.5) * h) == fill
            if place.detail == Detail.FULL:
                mine = sorted(inside.get((r, c), ()))
                shown = "\n".join(text for _, text, _, _ in mine)
                assert shown.split(" ×")[0] == panel.labels[cell]
                if paint != HOLE:
                    assert {colour for *_, colour in mine} <= {colours.ink(drawn.paints[paint])}
                assert all(b[0] - a[0] >= 9 for a, b in pairwise(mine))
                for y, _, size, _ in mine:  # the letters are inside of the cell
                    assert r * h < y - grid.top - size * 0.4 < y - grid.top + size * 0.4 < (r + 1) * h
        widths: dict[int, set[float]] = {}
        held = sum((r1 - r0) * (c1 - c0) for r0, c0, r1, c1 in panel.boxes)
        boxed = (
            place.detail == Detail.VECTOR and held == panel.rows * panel.cols
        )  # lines would only run through the labels of boxes
        for levels, start, step, at in ((panel.row_ruler.levels, grid.top, h, 1), (panel.col_ruler.levels, grid.left, w, 0)):
            ends = {0: (grid.top, bottom), 1: (grid.left, right)}[at]
            for n, level in enumerate(levels[1:-1], 1):
                there = [
                    line[4]
                    for line in found.lines
                    if line[at] == line[at + 2]
                    and abs(line[at] - start - n * step) < 0.02
                    and abs(line[1 - at] - ends[0]) < 0.02
                    and abs(line[3 - at] - ends[1]) < 0.02
                ]
                assert len(there) == (1 if level or (min(w, h) >= 5 and not boxed) else 0)
                assert not level or there[0] > 0.8
                if there:  # small cells have no lines between them
                    widths.setdefault(min(level, 2), set()).update(there)
        assert [max(widths[level]) for level in sorted(widths)] == sorted({max(found) for found in widths.values()})
        for cell, owners in panel.owners:
            r, c = divmod(cell, panel.cols)
            marked = any(abs(x - grid.left - (c + 1) * w) < 0.02 and abs(y - grid.top - r * h) < 0.02 for x, y in found.ears)
            assert marked == (place.detail == Detail.FULL and panel.labels[cell].count(",") + 1 < len(owners))
        if place.detail == Detail.VECTOR:
            for r0, c0, r1, c1 in panel.boxes:
                cells = [lines for (r, c), lines in inside.items() if r0 <= r < r1 and c0 <= c < c1]
                shown = [text for _, text, *_ in sorted(line for lines in cells for line in lines)]
                wanted = panel.labels[r0 * panel.cols + c0].split("\n")
                assert [text.split("-")[0] for text in shown] == wanted
        if found.boxes:
            for r0, c0, r1, c1 in panel.boxes:
                x0, y0, x1, y1 = grid.left + c0 * w, grid.top + r0 * h, grid.left + c1 * w, grid.top + r1 * h
                mine = [
                    box
                    for box in found.boxes
                    if x0 < box[0] < x0 + 3 and y0 < box[1] < y0 + 3 and box[0] + box[2] < x1 and box[1] + box[3] < y1
                ]
                assert len(mine) == 1
                assert mine[0][0] + mine[0][2] > x1 - 3
                assert mine[0][1] + mine[0][3] > y1 - 3
        for label, n in ((label, n) for n, label in enumerate(panel.row_ruler.labels)):
            at = [
                y
                for text, x, y, _, anchor, _ in found.texts
                if anchor == "end" and text == label and grid.left - 20 < x < grid.left
            ]
            assert any(abs(y - grid.top - (n + 0.5) * h) < 0.02 for y in at) or h < 13
    legends = {(entry.label, colours.fill(drawn.paints[entry.paint])) for legend in drawn.legends for entry in legend.entries}
    texts = {text for text, *_ in found.texts}
    assert {colour for colour, _, _ in found.swatches} <= {colour for _, colour in legends}
    for label, colour in legends:  # beside its swatch, or on the cells
        known = colour in {its for its, _, _ in found.swatches} or label in texts or label.partition("..")[0] + ".." in texts
        assert known, label
    for colour, x, y in found.swatches:
        labels = {label for label, its in legends if its == colour} | {
            label.rpartition(" ")[2] for label, its in legends if its == colour
        }
        assert any(text in labels and x + 14 < tx < x + 30 and y < ty < y + 14 for text, tx, ty, *_ in found.texts)
    texts = [text for text, *_ in found.texts]
    if len(drawn.title) < 40:
        assert drawn.title in texts
    for note in drawn.notes:
        assert note.split()[0] in " ".join(texts).split()


def test_nothing_overlaps():
    """Panels, headings, legends and notes of a page of several stand apart, and inside of the page."""
    for drawn in (
        side_by_side([figure("(4,8):(8,1)"), figure("(2,3,4)"), figure("(9,4):(1,9)", tile=(6, 8))]),
        fold(figure(TV, tile=(8, 128)), 32),
        figure("SM80_16x8x16_F32F16F16F32_TN"),
    ):
        page = lay_out(drawn)
        grids = [place.grid for place in page.panels]
        for n, one in enumerate(grids):
            for other in grids[n + 1 :]:
                apart = one.right < other.left or other.right < one.left or one.bottom < other.top or other.bottom < one.top
                assert apart
        found = readback.svg(render(drawn, "svg").decode())
        areas = [(grid.left, grid.top, grid.right, grid.bottom) for grid in grids]
        areas += [(x, y, x + 14, y + 14) for _, x, y in found.swatches]
        for text, x, y, size, anchor, _ in found.texts:
            width = len(text) * size * 0.5
            left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
            assert 0 <= left < left + width <= page.width
            assert 0 < y < page.height
            if not any(x0 < x < x1 and y0 < y < y1 for x0, y0, x1, y1 in areas[: len(grids)]):  # else in a cell
                areas.append((left, y - size / 2, left + width, y + size / 2))
        outside = areas[len(grids) :]
        for n, (x0, y0, x1, y1) in enumerate(outside):
            for a0, b0, a1, b1 in [*areas[: len(grids)], *outside[n + 1 :]]:
                assert x1 <= a0 or a1 <= x0 or y1 <= b0 or b1 <= y0
