"""What a page shows at which size, in every format; figures of several figures; what is left out is told."""

from __future__ import annotations

import json
import re
import struct
import zlib
from io import BytesIO
from xml.etree import ElementTree

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cute_viz import figure, parse, render
from cute_viz.algebra import ops
from cute_viz.algebra.common import Operation
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets, offsets_numpy
from cute_viz.errors import AlgebraError, CuteVizError, FigureError, LimitError, UsageError
from cute_viz.figures import build
from cute_viz.figures.compare import difference, side_by_side
from cute_viz.figures.heat import heat
from cute_viz.figures.load import from_dict
from cute_viz.figures.model import HOLE, Paint
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.trim import crop, fold
from cute_viz.renderers import FORMATS
from cute_viz.renderers.colours import HOLE_COLOUR
from cute_viz.renderers.fitting import WIDEST
from cute_viz.renderers.frame import Detail
from cute_viz.renderers.marks import vector_marks
from cute_viz.renderers.names import group_marks
from cute_viz.renderers.page import lay_out
from cute_viz.renderers.palette import palette
from tests.commands import fails, run

TV = "((16,8),8):((64,1),8)"
SIZES = ["(8,8):(8,1)", "(64,64):(64,1)", "(256,256):(256,1)"]


class TestDetail:
    @pytest.mark.parametrize(
        ("source", "options", "detail"),
        [
            ("(8,8):(8,1)", {}, Detail.FULL),
            ("(64,64):(64,1)", {}, Detail.FULL),
            ("(256,256):(256,1)", {}, Detail.COLOUR),
            ("(512,512):(512,1)", {"max_cells": 1 << 20}, Detail.RASTER),
            (TV, {"tile": (8, 128)}, Detail.VECTOR),
        ],
    )
    def test_the_level_follows_from_the_size(self, source, options, detail):
        page = lay_out(figure(source, **options))
        assert {place.detail for place in page.panels} == {detail}
        assert page.width <= WIDEST + 60
        assert all(place.named > 0.4 for place in page.panels)

    @given(st.sampled_from([200.0, 400.0, 800.0, 1600.0, 3200.0]), st.sampled_from([*SIZES, "(16,96):(96,1)"]))
    @settings(deadline=None, max_examples=30)
    def test_a_page_is_as_wide_as_asked_for(self, width, source):
        page = lay_out(figure(source), width=width)
        assert page.width <= max(width, 460) + 1 or page.panels[0].grid.cell_w <= 1

    @pytest.mark.parametrize(("cell", "detail"), [(60, Detail.FULL), (12, Detail.VECTOR), (4, Detail.COLOUR), (2, Detail.RASTER)])
    def test_a_cell_shows_what_its_size_allows(self, cell, detail):
        page = lay_out(figure(TV, tile=(8, 128)), cell=cell)
        (place,) = page.panels
        assert (place.detail, place.grid.cell_w) == (detail, cell)

    def test_labels_that_were_asked_for_stay(self):
        page = lay_out(figure("(256,256):(256,1)"), full=True)
        assert page.panels[0].detail == Detail.FULL

    def test_labels_of_vectors(self):
        panel = figure(TV, tile=(8, 128)).panels[0]
        marks = vector_marks(panel)
        assert len(marks) == 128
        for mark in marks:
            cells = [panel.labels[mark.r0 * 128 + c] for c in range(mark.c0, mark.c1)]
            thread, first = cells[0].split("\n")
            assert mark.lines == (thread, f"{first}-{cells[-1].split('V')[1]}")
            assert len({cell.split("\n")[0] for cell in cells}) == 1

    def test_names_of_groups_lie_inside_of_their_group(self):
        drawn = figure("(256,256):(256,1)")
        panel = drawn.panels[0]
        marks = group_marks(drawn, panel, 6, 6)
        names = {drawn.paints[entry.paint].hue: entry.label for entry in drawn.legends[0].entries}
        assert len(marks) == 8
        for mark in marks:
            hues = {drawn.paints[panel.paints[r * 256 + c]].hue for r in range(mark.r0, mark.r1) for c in range(mark.c0, mark.c1)}
            assert [names[hue] for hue in hues] == list(mark.lines)


def png(data: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height and rows of an indexed PNG without filters, for example ours."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0]
        chunks[kind] = chunks.get(kind, b"") + body
        at += 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    raw = zlib.decompress(chunks[b"IDAT"])
    palette_ = [chunks[b"PLTE"][n : n + 3] for n in range(0, len(chunks[b"PLTE"]), 3)]
    rows = [b"".join(palette_[p] for p in raw[r * (width + 1) + 1 : (r + 1) * (width + 1)]) for r in range(height)]
    return width, height, rows


def sampled(drawn, obj, step=9973):
    """Paints of an image, and the hue that each should have: the chunk that a swizzle moves, or the band that the legend tells."""
    panel, table = drawn.panels[0], offsets(obj)
    outer = obj.outer if isinstance(getattr(obj, "outer", None), Swizzle) else None
    low = min(table)
    ends = [int(entry.label.split("..")[-1]) for entry in drawn.legends[0].entries] if outer is None else []
    band = ends[0] - low + 1 if ends else 0
    for index in range(0, len(table), step):
        r, c = index % panel.rows, index // panel.rows
        hue = (table[index] - low) // band if outer is None else (table[index] >> outer.changed) % min(8, 1 << abs(outer.shift))
        yield panel.paints[r * panel.cols + c], hue


class TestRaster:
    def test_every_pixel_of_an_image_is_its_cell(self):
        from base64 import b64decode

        drawn = figure("(300,400):(400,1)", max_cells=1 << 20)
        root = ElementTree.fromstring(render(drawn, "svg", cell=2))
        (image,) = root.iter("{http://www.w3.org/2000/svg}image")
        width, height, rows = png(b64decode(image.attrib["{http://www.w3.org/1999/xlink}href"].split(",")[1]))
        assert (width, height) == (800, 600)
        panel, colours = drawn.panels[0], palette()
        for r, c in [(0, 0), (17, 333), (299, 399), (150, 0), (149, 399)]:
            fill = bytes.fromhex(colours.fill(drawn.paints[panel.paints[r * 400 + c]])[1:])
            assert rows[2 * r + 1][3 * (2 * c) : 3 * (2 * c + 1)] == fill

    @given(st.sampled_from([(512, 1024), (1024, 512), (7, 40000)]), st.booleans())
    @settings(deadline=None, max_examples=6)
    def test_heat_bands_are_those_of_the_offsets(self, extents, swizzled):
        rows, cols = extents
        layout = Layout((rows, cols), (cols, 1))
        obj = parse(f"Sw<3,3,3> o 0 o {layout}") if swizzled else layout
        drawn = heat(obj, FigureOptions())
        assert all(band_of(drawn.paints[paint]) == band for paint, band in sampled(drawn, obj))

    @pytest.mark.parametrize(
        "text",
        [
            "(64,64):(-64,1)",
            "(64,64):(F1,F3)",
            "(64,(64,1)):(1,(64,99999999999999999999999))",
            "Sw<3,3,3> o 0 o Sw<2,4,4> o 4 o (64,64):(64,1)",
            "Sw<2,3,-3> o -5 o (64,64):(64,1)",
            "Sw<1,0,62> o 0 o (64,64):(64,1)",
            "(64,64):(64,1) o 9 o (64,64):(1,64)",
            f"(64,64):(1,{(1 << 62) // 64})",
        ],
    )
    def test_an_image_has_the_bands_of_the_offsets(self, text):
        obj = parse(text)
        table, drawn = offsets(obj), heat(obj, FigureOptions())
        assert len(drawn.legends[0].entries) <= 8
        assert [band_of(drawn.paints[paint]) for paint, _ in sampled(drawn, obj, 1)] == [band for _, band in sampled(drawn, obj, 1)]
        assert numpy.array_equal(offsets_numpy(obj, numpy), table)

    @pytest.mark.parametrize(
        "text",
        [
            "(4096,4096):(1,2300000000000000)",
            "(4096,4096):(1,99999999999999999999999)",
            "(1024,1024):(-9000000000000000,9000000000000000)",
            "Sw<3,3,3> o 0 o (1024,1024):(1,1152921504606846976)",
            "Sw<1,0,-62> o 0 o (1024,1024):(1,1024)",
            "(1024,1024):(1,1024) o 99999999999999999999999 o (64,64):(1,1024)",
            "(64,64):(F1,F99999999999999999999999)",
        ],
    )
    def test_offsets_past_62_bits_are_no_image(self, text):
        with pytest.raises(FigureError, match=r"exceed 62 bits(.|\n)*a grid"):
            heat(parse(text), FigureOptions())
        with pytest.raises(AlgebraError, match="exceed 62 bits"):
            offsets_numpy(parse(text), numpy)

    def test_coordinates_are_no_image(self):
        for text in ("(64,64):(1@0,1@1)", "(64,64):(1@0,1@1) o 0 o (64,64)"):
            with pytest.raises(FigureError, match="coordinates"):
                heat(parse(text), FigureOptions())
            with pytest.raises(AlgebraError, match="coordinates"):
                offsets_numpy(parse(text), numpy)

    def test_only_pictures_draw_so_many_cells(self, tmp_path):
        out = tmp_path / "huge.png"
        assert run("render", "(1024,1024):(1024,1)", "-o", str(out)).returncode == 0
        assert out.stat().st_size > 1000
        assert "the limit is" in fails(run("render", "(1024,1024):(1024,1)"), 1)
        assert b"\\vrule" in run("render", "(1024,1024):(1024,1)", "-T", "tikz").stdout
        assert "image-cells" in fails(run("render", "(100000,100000):(100000,1)", "-T", "png"), 1)
        assert "has two" in fails(run("render", "(1024,1024,2)", "-T", "png"), 1)
        assert "coordinates" in fails(run("render", "(1024,1024):(1@0,1@1)", "-T", "png"), 1)

    def test_a_page_of_too_many_pixels_is_refused(self):
        with pytest.raises(LimitError, match="pixels"):
            render("(256,512):(512,1)", "png", cell=200, labels="full")


@pytest.mark.parametrize("format_", ["png", "pdf"])
class TestMatplotlib:
    # that bytes do not depend on the process is held by tests/test_faults.py
    @pytest.mark.slow
    @pytest.mark.parametrize(("source", "theme"), [("(4,8):(8,1)", "print"), ("SM80_16x8x16_F32F16F16F32_TN", "dark")])
    def test_equal_input_gives_equal_bytes(self, format_, source, theme):
        drawn = figure(source)
        assert render(drawn, format_, theme=theme) == render(drawn, format_, theme=theme)

    @pytest.mark.slow
    def test_every_kind_of_figure(self, format_):
        for source, options in [
            ("(8,4):(0,4)", {"tile": (4, 8)}),
            ("(9,4):(1,9)", {"tile": (6, 8)}),
            ("((2,2),(2,4)):((1,4),(2,8))", {"coords": True}),
            ("Sw<3,3,3> o 0 o (8,64):(64,1)", {"view": "banks", "type": 16}),
            ("(300,300):(300,1)", {}),
        ]:
            data = render(figure(source, **options), format_)
            assert data.startswith(b"\x89PNG" if format_ == "png" else b"%PDF")


def pixels(data: bytes):
    image = pytest.importorskip("matplotlib.image")
    return (image.imread(BytesIO(data)) * 255).round().astype(int)


def test_png_cells_have_their_colours():
    drawn = figure("(9,4):(1,9)", tile=(6, 8), labels="none")
    page = lay_out(drawn)
    array = pixels(render(drawn, "png"))
    scale = array.shape[1] / page.width
    panel, grid = drawn.panels[0], page.panels[0].grid
    for cell, paint in enumerate(panel.paints):
        r, c = divmod(cell, panel.cols)
        px, py = grid.left + (c + 0.25) * grid.cell_w, grid.top + (r + 0.35) * grid.cell_h
        found = "#" + "".join(f"{v:02x}" for v in array[int(py * scale), int(px * scale)][:3])
        assert found == (HOLE_COLOUR if paint == HOLE else palette().fill(drawn.paints[paint]))


@pytest.mark.slow
def test_svg_and_png_have_the_same_size():
    for source in SIZES:
        drawn = figure(source)
        root = ElementTree.fromstring(render(drawn, "svg"))
        width, height = struct.unpack(">II", render(drawn, "png")[16:24])
        assert abs(width / height - float(root.attrib["width"]) / float(root.attrib["height"])) < 0.01


class TestSeveral:
    def test_legends_of_several_say_of_which_they_are(self):
        """Equal colours that mean something else are not put into one legend."""
        both = side_by_side([figure("(2,3,4)"), figure("(4,8):(8,1)")])
        assert [legend.title.partition("(of ")[2] for legend in both.legends] == ["(2,3,4):(1,2,6))", "(4,8):(8,1))"]
        for legend in both.legends:
            looks = [both.paints[entry.paint].hue for entry in legend.entries]
            assert len(looks) == len(set(looks))
        alike = figure("(4,8):(8,1)", "(4,8):(1,4)")  # of several at once colours have one code
        assert [legend.title.count("(of ") for legend in alike.legends] == [0]

    def test_a_plain_layout_beside_a_swizzled_one_has_its_code(self):
        both = figure("(8,64):(64,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)")
        assert len(both.legends) == 1
        for panel in both.panels:
            for offset, paint in zip(panel.data["offset"], panel.paints, strict=True):
                assert both.paints[paint].hue == offset // 8 % 8

    def test_side_by_side(self):
        both = side_by_side([figure("(4,8):(8,1)"), figure("(4,8):(1,4)")])
        assert [panel.caption for panel in both.panels] == ["(4,8):(8,1)", "(4,8):(1,4)"]
        assert [panel.place for panel in both.panels] == [(0, 0), (0, 1)]
        for one, panel in zip(("(4,8):(8,1)", "(4,8):(1,4)"), both.panels, strict=True):
            alone = figure(one)
            assert [both.paints[p] for p in panel.paints] == [alone.paints[p] for p in alone.panels[0].paints]

    def test_a_difference_marks_the_cells_that_differ(self):
        a, b = figure("(8,64):(64,1)"), figure("Sw<3,3,3> o 0 o (8,64):(64,1)")
        found = difference(a, b)
        other = [x != y for x, y in zip(a.panels[0].labels, b.panels[0].labels, strict=True)]
        assert found.description.endswith(f"{sum(other)} of 512 cells differ.")
        for panel in found.panels:
            hues = [Paint(offset % 64 // 8) for offset in panel.data["offset"]]
            assert [found.paints[p] == hue for p, hue in zip(panel.paints, hues, strict=True)] == other
            boxed = {(r, c) for r0, c0, r1, c1 in panel.boxes for r in range(r0, r1) for c in range(c0, c1)}
            assert boxed == {divmod(n, 64) for n, flag in enumerate(other) if flag}

    @pytest.mark.parametrize("labels", ["auto", "coord", "index"])
    def test_a_difference_is_of_what_cells_hold(self, labels):
        tile = {"tile": (4, 8)}
        for one, two, options, count in (
            ("(4,8):(8,1)", "(4,8):(1,4)", {}, 30),
            ("(4,8):(1,4)", "((2,2),8):((1,2),4)", {}, 0),  # other coordinates, the same offsets
            ("(4,8):(1@0,1@1)", "(4,8):(1@0,1@1)", {}, 0),
            ("(4,8):(1@0,1@1)", "(4,8):(1,4)", {}, 32),
            ("(4,8):(8,1)", "(4,8):(1,4)", tile, 30),
            ("(4,8):(8,1)", "(4,8):(1,4)", {"view": "table", **tile}, 30),
            ("((2,2),2):((1,0),2)", "((2,2),2):((0,1),2)", {"tile": (2, 2)}, 4),  # T0,T2 | T1,T3 and T0,T1 | T2,T3
            ("SM80_16x8x8_F32F16F16F32_TN", "SM80_16x8x8_F32F16F16F32_TN", {}, 0),
        ):
            a, b = (figure(text, labels=labels, **options) for text in (one, two))
            assert sum(sum(panel.data["differs"]) for panel in difference(a, b).panels[: len(a.panels)]) == count, one
        smaller = difference(figure("(4,8)", view="banks", type=8), figure("(4,8):(8,1)", view="banks", type=8))
        assert smaller.description.endswith("28 of 32 cells differ.")

    @pytest.mark.parametrize(
        ("one", "two"),
        [
            ("(4,8):(8,1)", "(8,4):(4,1)"),
            ("(8,8):(8,1)", "(8,12):(12,1)"),
            ("(4,6):(1,4)", "(4,6):(6,1)"),
            ("(2,9):(1,2)", "(9,2):(1,9)"),
        ],
    )
    def test_a_difference_has_one_geometry(self, one, two):
        layouts = [parse(text) for text in (one, two)]
        rows, cols = (max(layout.shape[axis] for layout in layouts) for axis in (0, 1))

        def at(layout, r, c):
            return r * layout.stride[0] + c * layout.stride[1] if r < layout.shape[0] and c < layout.shape[1] else None

        want = [[at(layout, r, c) for r in range(rows) for c in range(cols)] for layout in layouts]
        found = difference(figure(one), figure(two))
        assert [(panel.rows, panel.cols) for panel in found.panels] == [(rows, cols)] * 2
        differ = [x != y for x, y in zip(*want, strict=True)]
        for panel, mine in zip(found.panels, want, strict=True):
            assert list(panel.data["offset"]) == mine
            assert [p == HOLE for p in panel.paints] == [x is None for x in mine]
            boxed = {(r, c) for r0, c0, r1, c1 in panel.boxes for r in range(r0, r1) for c in range(c0, c1)}
            moved = one == "(4,6):(1,4)"  # in hues, not in boxes
            assert boxed == {divmod(n, cols) for n, flag in enumerate(differ) if flag and mine[n] is not None and not moved}
        assert found.title.startswith(f"{sum(differ)} of {rows * cols} cells ")

    @pytest.mark.parametrize(
        ("one", "two", "title"),
        [
            ("(8,64):(64,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)", "448 of 512 offsets move within their rows, in runs of 8"),
            ("(4,8):(8,1)", "(4,8):(1,4)", "30 of 32 cells have another offset: the same offsets, in another order"),
            ("(8,8):(8,1)", "(8,8):(9,1)", "56 of 64 cells have another offset: cosize 64 becomes 71"),
            ("(4,8):(1,4)", "((2,2),8):((1,2),4)", "All 32 cells are the same"),
        ],
    )
    def test_a_difference_says_what_changed(self, one, two, title):
        assert difference(figure(one), figure(two)).title == title

    def test_what_cannot_be_compared(self):
        with pytest.raises(FigureError, match=r"1 panel, .*: 3 panels"):
            difference(figure("(4,8)"), figure("SM80_16x8x8_F32F16F16F32_TN"))
        image = build(Layout((4, 8)), FigureOptions(heat=True, max_cells=8))
        for bare in (image, figure("(4,8)", labels="none")):  # an image; cells without text
            with pytest.raises(FigureError, match=r"\(4,8\):\(1,4\) is drawn without labels"):
                difference(figure("(4,8)"), bare)
        assert "two sources" in fails(run("render", "(4,8)", "--diff"), 2)

    def test_on_the_command_line(self):
        shown = json.loads(run("render", "(8,8):(8,1)", "(8,8):(1,8)", "--diff", "-T", "json").stdout)
        assert shown["description"].endswith("56 of 64 cells differ.")


class TestTrim:
    @given(st.integers(1, 9), st.integers(1, 40), st.integers(1, 12))
    def test_folding_keeps_every_cell(self, rows, cols, width):
        drawn = figure(f"({rows},{cols}):({cols},1)")
        folded = fold(drawn, width)
        panel = drawn.panels[0]
        cells = {}
        for n, band in enumerate(folded.panels):
            for cell, label in enumerate(band.labels):
                r, c = divmod(cell, band.cols)
                cells[r, n * width + c] = (label, band.paints[cell])
                assert band.col_ruler.labels[c] == str(n * width + c)
        assert cells == {divmod(n, cols): x for n, x in enumerate(zip(panel.labels, panel.paints, strict=True))}

    def test_cropping_says_what_is_missing(self):
        cut = crop(figure(TV, tile=(8, 128)), 4, 32)
        assert cut.notes[0] == "... 4 more rows and 96 more columns"
        assert (cut.panels[0].rows, cut.panels[0].cols) == (4, 32)
        assert all(0 <= a < c <= 4 and 0 <= b < d <= 32 for a, b, c, d in cut.panels[0].boxes)
        assert crop(figure("(2,2)"), 8, 8) == figure("(2,2)")

    def test_on_the_command_line(self, tmp_path):
        out = tmp_path / "f.svg"
        assert run("render", TV, "--tile", "8x128", "--fold", "32", "--crop", "8x96", "-o", str(out)).returncode == 0
        text = out.read_text()
        assert "... 32 more columns" in text
        assert "columns 64..95" in text


OPERATIONS = [
    ("logical_divide", ("(8,6):(1,8)", "(4,3)")),
    ("zipped_divide", ("(8,6):(6,1)", "(4,3)")),
    ("tiled_divide", ("(8,6):(6,1)", "(2,3)")),
    ("flat_divide", ("(8,6):(6,1)", "(2,3)")),
    ("logical_divide", ("(4,2,3):(2,1,8)", "4:2")),
    ("logical_product", ("(2,2):(4,1)", "6:1")),
    ("blocked_product", ("(2,5):(5,1)", "(3,4):(1,3)")),
    ("raked_product", ("(2,5):(5,1)", "(3,4):(1,3)")),
    ("zipped_product", ("(2,2):(2,1)", "(3,4):(1,3)")),
    ("composition", ("(6,2):(8,2)", "(4,3):(3,1)")),
    ("complement", ("4:2", "24")),
    ("right_inverse", ("(4,8):(8,1)",)),
]


class TestOperations:
    @pytest.mark.parametrize(("name", "operands"), OPERATIONS)
    def test_a_tile_has_one_colour_in_every_panel(self, name, operands):
        values = tuple(parse(text) for text in operands)
        drawn = build(Operation(name, values))
        result = ops.find(name).call(list(values), ())
        if name == "complement":  # together they reach every place once, each copy in a hue
            both = drawn.panels[-1]
            assert both.labels == tuple(map(str, range(24)))
            for n, start in enumerate(offsets(result)):
                assert {both.paints[start + offset] for offset in offsets(values[0])} == {n}
            return
        shown = sorted(x for panel in drawn.panels if panel.caption.startswith("result") for x in panel.data["offset"])
        assert shown == sorted(offsets(result))
        if not name.endswith("divide"):
            return
        colour = {}  # of a value of A; the tiler's panel is paper
        for panel in drawn.panels:
            if panel.caption.startswith("first tile"):
                assert {drawn.paints[p] for p in panel.paints} == {drawn.paints[panel.paints[0]]}
            if not panel.caption.startswith("tiler"):
                for offset, paint in zip(panel.data["offset"], panel.paints, strict=True):
                    assert colour.setdefault(offset, paint) == paint
        inside = len(colour) // len({drawn.paints[p] for p in colour.values()})
        assert inside >= 1

    def test_the_blocks_of_a_product_are_the_copies(self):
        block, tiling = parse("(2,5):(5,1)"), parse("(3,4):(1,3)")
        drawn = build(Operation("blocked_product", (block, tiling)))
        result = drawn.panels[-1]
        hues = [[drawn.paints[result.paints[r * 20 + c]] for c in range(20)] for r in range(6)]
        for r in range(6):
            for c in range(20):
                assert hues[r][c] == hues[r // 2 * 2][c // 5 * 5]  # one copy, one colour
        assert (result.rows, result.cols) == (6, 20)

    def test_every_operand_has_a_name(self):
        operands = tuple(parse(f"2:{2**n}") for n in range(28))
        captions = [panel.caption for panel in build(Operation("make_layout", operands[:7])).panels]
        assert captions[:2] + captions[6:7] == ["A: 2:1", "B: 2:2", "G: 2:64"]
        with pytest.raises(LimitError):  # more operands than letters, and more cells than a figure has
            build(Operation("make_layout", operands))

    def test_a_slice_is_lit_within_its_parent(self):
        for text, lit in (
            ("a = (4,8):(8,1); a(2,_)", {(2, c) for c in range(8)}),
            ("a = (4,8):(0,1); a(2,_)", {(2, c) for c in range(8)}),  # its offsets are those of every row
            ("a = Sw<1,0,2> o 0 o (4,2); a(_,1)", {(r, 1) for r in range(4)}),
            ("local_tile((6,8):(8,1), (3,4), (1,0))", {(r, c) for r in (3, 4, 5) for c in range(4)}),
            ("local_partition((4,6):(6,1), (2,3):(3,1), 4)", {(r, c) for r in (1, 3) for c in (1, 4)}),
        ):
            drawn = figure(text)
            whole, part = drawn.panels
            assert {divmod(n, whole.cols) for n, p in enumerate(whole.paints) if not drawn.paints[p].faded} == lit, text
            assert len(part.paints) == len(lit)
            colours = {whole.paints[r * whole.cols + c] for r, c in lit}
            assert set(part.paints) == colours
        assert figure("a = (4,8):(8,1); a(2,_)", view="grid").kind == "grid"
        assert figure("a = (4,8):(1@0,1@1); a(2,_)").kind == "grid"  # coordinates have no place in memory
        assert run("render", "a = (4,8):(8,1); a(2,_)").stdout.startswith(b"(8,1):(1,0)\n")

    def test_on_the_command_line(self):
        shown = run("render", "logical_divide((8,6), (4:1,3:1))", "--view", "operation", "-T", "svg").stdout
        assert b">result: " in shown
        assert b">tiler: " not in shown  # of a tiler of several layouts the tile that it picks is a panel
        assert b">first tile:" in shown
        assert "is not an operation" in fails(run("render", "(4,8)", "--view", "operation"), 1)
        assert "is not a layout" in fails(run("render", "size((4,8))", "--view", "operation"), 1)

    def test_steps_as_a_strip(self, tmp_path):
        out = tmp_path / "steps.svg"
        result = run("explain", "logical_product((2,2):(2,1), (2,2))", "-o", str(out))  # A, then the layout of each step
        assert result.returncode == 0
        words = re.sub(r"<[^>]*>", " ", out.read_text())
        assert words.index("1 A ") < words.index("The result")
        assert "copies overlap: 16 cells, 7 offsets" in " ".join(words.split())
        assert 'class="a"' not in out.read_text()  # no arrow joins neighbors
        assert run("explain", "complement(4:2, 24)", "-o", str(out)).returncode == 0
        drawn = run("render", "complement(4:2, 24)", "--view", "steps", "-T", "svg").stdout.decode()
        assert "2 The complement begins again" in drawn
        assert re.findall("<text.*", drawn) == re.findall("<text.*", out.read_text())

    @pytest.mark.parametrize("text", ["composition((4,8):(8,1), (2,4):(2,4))", "composition((9,4):(4,1), (3:3,2:2))"])
    def test_what_is_not_picked_is_faded(self, text):
        drawn = figure(text)
        a, result = drawn.panels[0], drawn.panels[-1]
        lit = {offset for offset, paint in zip(a.data["offset"], a.paints, strict=True) if not drawn.paints[paint].faded}
        assert lit == {*result.data["offset"]} < {*a.data["offset"]}
        assert drawn.caption.endswith("what is not picked of A is faded")
        assert not any(drawn.paints[paint].faded for paint in result.paints)

    def test_tiles_of_one_hue_differ_in_shade(self):
        """Twelve tiles, eight hues: each tile is a paint of its own, with an entry of its own."""
        drawn = figure("zipped_divide((9,(4,8)):(59,(13,1)), (3:3,(2,4):(1,8)))")
        result = drawn.panels[-1]
        columns = [{*result.paints[c :: result.cols]} for c in range(result.cols)]
        assert len(set().union(*columns)) == 12 == sum(map(len, columns))
        assert [entry.label for entry in drawn.legends[0].entries] == [f"tile {n}" for n in range(12)]
        assert [{entry.paint} for entry in drawn.legends[0].entries] == columns

    def test_a_complement_stands_on_the_line_of_memory(self):
        drawn = figure("complement((2,2):(1,6),24)")
        a, again, both = drawn.panels
        assert drawn.title == "A and its complement reach 24 of 24 places, each once"
        assert [n for n in range(24) if a.paints[n] == 0] == [0, 1, 6, 7]
        assert [n for n in range(24) if again.paints[n] < 7] == [0, 2, 4, 12, 14, 16]
        assert all(paint < 7 for paint in both.paints)  # every place once
        assert both.paints[8] == again.paints[2]  # 8 = 2 + 6 is of the copy that begins at 2
        assert figure("complement((2,2):(1,6),24)", coords=True).kind == "operation"

    def test_every_step_is_under_a_number_and_on_one_scale(self):
        figure = ask_steps("tile_to_shape((4,4):(4,1),(8,8))")
        assert figure.panels[0].caption == "A: (4,4):(4,1)"
        numbers = [int(n) for panel in figure.panels[1:] for n in panel.caption.partition(".")[0].split("-")]
        assert numbers == sorted(numbers)
        assert [int(note.partition(".")[0]) for note in figure.notes] == list(range(1, numbers[-1] + 1))  # without a gap
        assert not figure.arrows
        assert len(figure.legends) == 1
        paints = {}
        for panel in figure.panels:
            for offset, paint in zip(panel.data["offset"], panel.paints, strict=True):
                assert paints.setdefault(offset, paint) == paint  # an offset has one colour in all steps

    def test_steps_whose_values_are_coordinates_are_plain(self):
        figure = ask_steps("coalesce((4,(8,2)):(1@0,(1@1,8@1)))")
        assert {figure.paints[p].hue for panel in figure.panels for p in panel.paints} == {-1}


def ask_steps(text):
    from cute_viz.engine import Request, ask

    return ask(Request((text,))).explanation.figure


def band_of(paint):
    """Of a ramp, whose eight bands are shades of one hue; of chunks, which are hues."""
    return paint.shade * 8 // paint.shades if paint.shades > 1 else paint.hue


def test_an_image_of_a_plain_layout_is_a_ramp():
    """From dark to light in order of the offsets, and never back: no hue begins anew."""
    drawn = heat(Layout((512, 1024), (1024, 1)), FigureOptions())
    panel, colours = drawn.panels[0], palette()
    column = [colours.fill(drawn.paints[panel.paints[r * panel.cols]]) for r in range(panel.rows)]
    light = [sum(int(colour[n : n + 2], 16) for n in (1, 3, 5)) for colour in column]
    assert light == sorted(light)
    assert len(set(light)) == 32


@pytest.mark.slow
@pytest.mark.parametrize("source", SIZES)
@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_at_every_size(source, format_):
    assert len(render(figure(source), format_)) > 100


def test_unknown_formats():
    with pytest.raises(CuteVizError, match="no format"):
        render("(2,2)", "gif")
    for format_ in (3, None, b"svg", ("svg",)):
        with pytest.raises(CuteVizError, match=r"must be text, not .*\n  hint: example: \"svg\""):
            render("(2,2)", format_)


@pytest.mark.parametrize("options", [{"name": 5}, {"dialect": []}, {"let": [1]}, {"let": {1: 2}}, {"limits": 7}, {"layouts": (5,)}])
def test_what_no_option_of_reading_can_be(options):
    (name,) = options
    for call in (parse, figure, render):
        with pytest.raises(CuteVizError, match=f"{name}=.* must be "):
            call("(2,2)", **options)


def test_what_no_path_and_no_format_can_be():
    drawn = figure("(2,2)")
    for path in (None, 5, []):
        with pytest.raises(CuteVizError, match="a path must be text"):
            drawn.save(path)
    with pytest.raises(CuteVizError, match="there is no format"):
        drawn.render([])
    with pytest.raises(CuteVizError, match="the path of the file is empty"):
        drawn.save("", "svg")


def test_folders_of_atoms_are_paths_too(tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "library: mma\narch: mine\nMY_8x8x4_F32F16F16F32:\n  Shape_MNK: (8,8,4)\n  ThrID: 8\n"
        "  ALayout: (8,4):(1,8)\n  BLayout: (8,4):(1,8)\n  CLayout: (8,8):(1,8)\n"
    )
    drawn = figure("MY_8x8x4_F32F16F16F32", layouts=tmp_path)
    assert drawn == figure("MY_8x8x4_F32F16F16F32", layouts=(str(tmp_path),)) == figure("MY_8x8x4_F32F16F16F32", layouts=[tmp_path])


def test_words_that_render_has_no_use_for():
    with pytest.raises(UsageError, match="theme= applies to svg"):
        render("(2,2)", "text", theme="dark")
    with pytest.raises(CuteVizError, match="coords= cannot be applied to a finished figure"):
        render(figure("(2,2)"), "svg", coords=True)


@pytest.mark.parametrize("format_", FORMATS)
def test_an_image_of_cells_without_labels_in_every_format(format_):
    image = build(Layout((64, 64), (64, 1)), FigureOptions(heat=True, max_cells=16))
    assert image.panels[0].labels == ()
    assert len(render(image, format_)) > 1000
    if format_ == "json":
        assert render(from_dict(json.loads(render(image, "json"))), "svg") == render(image, "svg")
    if not FORMATS[format_].pages and format_ != "json":
        with pytest.raises(FigureError, match="no text"):
            render(build(Layout((1024, 1024)), FigureOptions(heat=True)), format_)


def test_options_of_the_library_are_refused_in_words():
    for options in ({"labels": "zzz"}, {"view": "zzz"}, {"thread": -1}, {"tile": "8"}, {"fold": 0}, {"title": 3}, {"type": "xyz"}):
        with pytest.raises(CuteVizError):
            figure("(2,2)", **options)


def test_a_png_of_more_paints_than_16_bits_count():
    count = 33_000
    ruler = {"title": "", "labels": [""] * count, "levels": [0] * (count + 1)}
    words = dict.fromkeys(("title", "source", "caption", "description"), "")
    panel = {"caption": "", "rows": 1, "cols": count, "labels": [], "paints": list(range(count)), "col_ruler": ruler}
    panel["row_ruler"] = {"title": "", "labels": [""], "levels": [0, 0]}
    paints = [{"hue": n % 8} for n in range(count)]
    drawn = from_dict({"cute_viz_figure": 3, "kind": "grid", **words, "paints": paints, "legends": [], "panels": [panel]})
    assert render(drawn, format="png", cell=1)[1:4] == b"PNG"


@pytest.mark.parametrize("width", [372, 740, 3000])
def test_an_image_is_as_wide_as_its_place(width: int) -> None:
    """However many cells it has; and it says how many a pixel stands for."""
    drawn = render("(1024,2048):(1,1024)", "svg", width=width).decode()
    assert float(re.search(r'viewBox="0 0 ([\d.]+) ', drawn)[1]) <= width  # type: ignore[index]
    step = next((n for n in range(1, 20) if f"A pixel is the first of {n} × {n} cells." in drawn), 1)
    assert step == {372: 8, 740: 3, 3000: 1}[width]
