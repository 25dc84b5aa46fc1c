"""Pictures for a place: as wide as it is, no letter under 6 pt, every owner still named; what is left out stands beside."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from cute_viz import figure, render
from cute_viz.engine.caption import caption_of
from cute_viz.renderers import Options
from cute_viz.renderers.frame import Detail
from cute_viz.renderers.levels import units
from cute_viz.renderers.page import page_of
from cute_viz.renderers.palette import PALETTES
from cute_viz.renderers.placed import BLOCKS
from cute_viz.renderers.primitives import Labels, Line, Texts
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
LABELLED = [
    ("(8,8)", {}),
    ("(8,64):(64,1)", {}),
    ("(64,64):(64,1)", {}),
    ("(64,128,2):(128,1,8192)", {}),
    ("(32,32):(32,1)", {"labels": "index"}),
    ("SM75_U32x4_LDSM_N", {}),
    ("SM100_TMEM_LOAD_16dp256b8x", {}),
    ("tmem_accumulator_128", {}),
    ("copy_1x64", {}),
    ("SM90_64x128x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>", {"operand": "C"}),
    ("(128,64):(64,1)", {"view": "access", "type": 16, "by": "(32,8):(8,1)"}),
    ("composition((64,64):(64,1),(32,64):(1,32))", {}),
]


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("target", ["column", "page", "readme", "slide"])
@pytest.mark.parametrize(("source", "options"), EVERY)
def test_it_fits_and_can_be_read(source, options, target, bare):
    """As wide and high as its place, no letter under what it bears, and groups of owners named where single ones have no room."""
    drawn, place = figure(source, **options), TARGETS[target]
    shown = readback.svg(render(drawn, "svg", target=target, bare=bare).decode())
    assert (shown.width <= place.width + 1, shown.height <= place.height + 1) == (True, True)
    assert min(size for _, _, _, size, _, _ in shown.texts) >= place.least - 1e-6
    page = page_of(drawn, Options(target=target, bare=bare))
    texts = " ".join(text for text, *_ in shown.texts)
    for found, panel in zip(page.panels, drawn.panels, strict=True):
        if "thread" in panel.data and found.detail < Detail.COLOUR:
            assert {f"T{t}" for t in panel.data["thread"]} <= set(texts.split())
    if source == TILED[0]:
        assert all(re.search(rf"warp {n}|warp [0-9, ]*{n}", texts) for n in range(4))
    assert (drawn.title in texts) == (target in ("readme", "slide") and not bare)


LADDER = [
    ("(128,128):(1,128)", {}), ("1024:1", {}), ("(256,64):(64,1)", {}), ("(64,64):(64,1)", {}), ("200:1", {}), ("(4,8):(8,1)", {}),
    ("(2,3,4,2):(1,2,6,24)", {}), ("SM75_U32x4_LDSM_N", {}), ("SM90_64x64x16_F32F16F16_SS", {}), ("tma_out_of_bounds", {}),
    ("SM100_MMA_F16BF16_SS<half_t,half_t,float,128,256,UMMA::Major::K,UMMA::Major::K>", {}), ("gmma_desc_k_sw128", {}),
    ("zipped_divide((16,16):(16,1), (4,8))", {}), ("instr_desc", {}), ("wgmma_sparse_metadata", {}), ("tma_multicast", {}),
    ("one_product_on_three_machines", {}), ("SM80_16x8x16_F32F16F16F32_TN", {"warp": 0, "value": 0}), ("scale_factors", {}),
    ("SM80_16x8x32_S32S8S8S32_TN", {}), ("SM80_16x8x32_S32S8S8S32_TN", {"value": 2}), ("talk_zoom_blackwell", {}),
    ("((16,8),8):((64,1),8)", {"tile": (8, 128), "value": 3}), (TILED[0], {"thread": 5}),
    ("SM90_64x32x16_F32F16F16_SS", {"thread": 15}), ("(32,8):(8,1)", {"tile": (1, 256), "thread": "12..14"}),
    ("SM75_U32x4_LDSM_N", {"value": "0..3"}), ("SM90_64x64x16_F32F16F16_RS", {"value": "5..7", "warp": 3}),
]  # fmt: skip


@pytest.mark.parametrize(("source", "options"), LADDER)
def test_the_ladder_of_sizes(source, options):
    """From small to large: nothing is wider or higher than its place, and nothing is cut into bands."""
    drawn = figure(source, **options)
    for target in ("readme", "column", "page", "slide"):
        page, place = page_of(drawn, Options(target=target)), TARGETS[target]
        assert (page.width <= place.width + 1, page.height <= place.height + 1) == (True, True), target
        assert len(page.panels) <= len(drawn.panels)
        assert not any("columns" in line.text and ".." in line.text for line in page.items if isinstance(line, Line))


def test_a_layout_of_one_mode_lies_flat():
    page = page_of(figure("24:1"), Options(target="readme"))
    (panel,) = [place.panel for place in page.panels]
    assert (panel.rows, panel.cols, panel.labels) == (1, 24, tuple(map(str, range(24))))


@pytest.mark.parametrize("text", ["1024:1", "(256,64):(64,1)", "200:1", "(600,4):(4,1)"])
def test_a_page_that_nobody_gives_a_size_is_no_tower(text):
    """Nor one that TeX has no room for; every label, a size of cells or a width that is asked for is as it was."""
    drawn = figure(text)
    for options in (Options(), Options(target="screen")):
        page = page_of(drawn, options)
        assert page.height <= 4096.5, text
    assert page_of(drawn, Options(full=True)).panels[0].detail == Detail.FULL
    assert page_of(drawn, Options(cell=20)).panels[0].grid.cell_w == 20
    assert page_of(figure("(32,32):(32,1)"), Options()).panels[0].detail == Detail.FULL


def test_the_outer_modes_rule_a_grid_of_panels():
    """Mode 2 to the right and mode 3 down, told once; the inner rulers stand at the first row and column of panels alone."""
    drawn = figure("(2,3,4,2):(1,2,6,24)")
    page = page_of(drawn, Options(target="readme"))
    assert [place.panel.place for place in page.panels] == [(r, c) for r in range(2) for c in range(4)]
    assert [place.panel.labels for place in page.panels] == [panel.labels for panel in drawn.panels]
    words = [line.text for line in page.items if isinstance(line, Line)]
    assert [words.count(f"mode {n} {way}") for n, way in ((0, "↓"), (1, "→"), (2, "→"), (3, "↓"))] == [2, 1, 1, 1]
    grids = [place.grid for place in page.panels]
    assert all(one.top == other.top for one, other in pairwise(grids[:4]))


def test_a_product_keeps_its_places():
    """A left, B above, C between: at every place, at every level of detail."""
    for source in (MMA[0], TILED[0], "SM90_64x64x16_F32F16F16_SS"):
        drawn = figure(source)
        for target in ("column", "page", "readme", "slide"):
            places = page_of(drawn, Options(target=target)).panels
            c, a, b = (next(p.grid for p in places if p.panel.caption.startswith(x)) for x in "CAB")
            assert (a.right < c.left, b.bottom < c.top) == (True, True)
            assert (a.top, b.left) == pytest.approx((c.top, c.left))


def test_a_slide_has_fewer_labels_than_a_readme():
    for source in (MMA[0], "SM80_16x8x8_F32TF32TF32F32_TN", "SM75_U32x4_LDSM_N"):
        drawn = figure(source)
        readme, slide = (len(readback.svg(render(drawn, "svg", target=x).decode()).texts) for x in ("readme", "slide"))
        assert slide < readme / 2


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
    page = page_of(drawn, Options(target="page"))
    svg, tikz = (render(drawn, name, target="page").decode() for name in ("svg", "tikz"))
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
        told = [entry.label in words for legend in drawn.legends for entry in legend.entries]
        assert set(told) == {name == "m.caption.md"}  # of the bare panels; a column has its legend in the picture
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


@pytest.mark.parametrize("place", ["readme", "page"])
def test_memory_by_address_has_a_label_for_each_chunk(place):
    """A chunk says which elements it is: `3,24-31`; no label is lost, and the page is as wide as its place."""
    from cute_viz.renderers.page import page_of
    from cute_viz.renderers.primitives import Texts

    drawn = figure("Sw<3,3,3> o 0 o (8,64):(64,1)", view="address", type="f16")
    page = page_of(drawn, Options(target=place))
    texts = {text for item in page.items if isinstance(item, Texts) for text in item.texts}
    assert {f"{m},{8 * c}-{8 * c + 7}" for m in range(8) for c in range(8)} <= texts
    assert page.width <= {"readme": 700, "page": 624}[place]


@pytest.mark.parametrize("source", ["logical_divide((8,16):(16,1),(4,4))", "zipped_divide((16,16),(4,8))"])
def test_operations_keep_their_labels_in_a_readme(source):
    from cute_viz.renderers.page import page_of

    page = page_of(figure(source), Options(target="readme"))
    assert page.width <= 700
    assert all(place.detail.name in ("FULL", "VECTOR") for place in page.panels)


@pytest.mark.parametrize("place", ["page", "readme"])
def test_a_wide_tile_is_its_unit_with_how_often_it_repeats(place):
    """8 x 64 of 64 x 256, its offsets as the layout has them, and `× 8`, `× 4` on the rulers; the atom of an MMA is drawn whole."""
    drawn = figure("tile_to_shape(Sw<3,3,3> o 0 o (8,64):(64,1), (64,256))")
    page = page_of(drawn, Options(target=place))
    assert page.height <= 864
    assert {found.detail for found in page.panels} == {Detail.VECTOR}
    assert page.panels[0].panel.row_ruler.labels[-1] == "× 8"
    assert page.panels[-1].panel.col_ruler.labels[-1] == "× 4"
    shown = [offset for found in page.panels for offset in found.panel.data["offset"] if offset is not None]
    assert sorted(shown) == list(range(512))
    assert any("repeats × 8 down and × 4 right" in note for note in page.figure.notes)


def test_the_unit_of_a_tiled_mma_has_every_warp():
    tiled = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (4,4,1), (128,128,32))"
    c = next(panel for panel in units(figure(tiled), TARGETS["column"]).panels if panel.caption.startswith("C"))
    whole = next(panel for panel in figure(tiled).panels if panel.caption.startswith("C"))
    assert (c.rows, c.cols) == (64 + 1, 32 + 1)  # 4 x 4 atoms of 16 x 8, and the ellipses
    for r in range(whole.rows):
        for n in range(whole.cols):
            assert whole.data["thread"][r * whole.cols + n] == c.data["thread"][r % 64 * c.cols + n % 32]
    texts = " ".join(text for text, *_ in readback.svg(render(tiled, "svg", target="column").decode()).texts)
    assert all(f"warp {n}" in texts or re.search(rf"\b{n}\b", texts) for n in range(16))


@pytest.mark.parametrize(
    "source", ["(64,256):(256,1)", "((16,8),8):((64,1),8)", "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (1,3,1), (16,24,16))"]
)
def test_what_does_not_repeat_is_whole(source):
    from cute_viz.figures.repeats import repeated

    found = repeated(figure(source, **({"tile": (8, 128)} if "((" in source else {})))
    for panel, other in zip(found.panels if found else (), figure(source).panels, strict=False):
        if "× " not in panel.row_ruler.labels[-1] + panel.col_ruler.labels[-1]:
            assert (panel.rows, panel.cols) == (other.rows, other.cols)
    if "tiled" not in source:
        assert found is None


TALL = [
    MMA,
    ("ampere_gemm", {"follow": 13}),
    ("((4,8),(2,2)):((32,1),(16,8))", {"tile": (16, 8)}),
    ("SM80_16x8x8_F32TF32TF32F32_TN", {}),
    (TILED[0], {"thread": 5}),
    ("((16,8),8):((8,128),1)", {"tile": (128, 8)}),
]


KERNELS = [(name, options) for name in ("hopper_gemm", "blackwell_gemm") for options in ({}, {"follow": 13})]


@pytest.mark.parametrize(("source", "options"), TALL)
def test_no_page_is_higher_than_its_place(source, options):
    """A float of LaTeX is no higher than the text, 650 pt less a caption of ten lines; a slide is 16:9."""
    drawn = figure(source, **options)
    for target, height in (("column", 555), ("page", 525), ("slide", 506 * 0.75)):
        page = page_of(drawn, Options(target=target))
        assert page.height * 0.75 <= height + 0.01, target
        assert page.width <= TARGETS[target].width + 1
        assert target != "slide" or page.width > page.height


@pytest.mark.parametrize("target", ["column", "page", "slide"])
def test_a_legend_in_print_counts_no_cells(target):
    page = page_of(figure(MMA[0]), Options(target=target))
    assert not any("cells" in item.text for item in page.items if isinstance(item, Line))


@pytest.mark.parametrize(
    "source",
    [MMA[0], "SM90_64x64x16_F32F16F16_SS", "make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, (32,4):(4,1), (1,8))"],
)
@pytest.mark.parametrize("target", ["column", "page"])
def test_the_title_of_the_rows_is_on_the_page(source, target):
    page = page_of(figure(source), Options(target=target))
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    titles = [item for item in page.items if isinstance(item, Line) and item.text.endswith("↓") and len(item.text) > 1]
    assert titles
    for item in titles:
        wide = TextPath((0, 0), item.text, size=item.size, prop=FontProperties(family="DejaVu Sans")).get_extents().width
        assert item.x - wide >= 0, item.text


def test_a_column_of_boxes_is_drawn_in_tex():
    """Leaders of no width draw nothing: boxes that stand below each other have a step across, too."""
    tex = render("ampere_gemm", "tikz", follow=13, target="page").decode()
    stamps = re.findall(r"\\cvy\{[^}]*\}\{[^}]*\}\{(\d+)\}\{([^}]*)\}\{(\d+)\}\{([^}]*)\}", tex)
    assert any(across == "1" for across, *_ in stamps)
    assert all(float(dx) > 0 and float(dy) > 0 for _, dx, _, dy in stamps)


def test_no_hue_means_two_things_in_the_day_of_a_thread():
    drawn = figure("ampere_gemm", follow=13)
    colours = [drawn.paints[entry.paint] for legend in drawn.legends for entry in legend.entries]
    assert len({PALETTES["tol-even"].fill(paint) for paint in colours}) == len(colours)


@pytest.mark.parametrize("atom", ["SM80_16x8x16_F32F16F16F32_TN", "SM80_16x8x8_F32F16F16F32_TN", "SM70_8x8x4_F32F16F16F32_TN"])
def test_a_slide_of_one_mma_has_its_threads(atom):
    """Fewer labels than a README has, those of the unit that repeats, in letters that the last row reads."""
    page = page_of(figure(atom), Options(target="slide"))
    assert {place.detail for place in page.panels} <= {Detail.VECTOR, Detail.FULL}
    assert sum(len(place.panel.boxes) for place in page.panels) <= TARGETS["slide"].labels
    assert (page.width, page.height) <= (900.5, 506.5)


def test_an_exercise_and_its_key_have_room_on_a_slide():
    drawn = figure("SM80_16x8x16_F32F16F16F32_TN", operand="C", blank="owners=5", key=True)
    page = page_of(drawn, Options(target="slide"))
    shown = [label for place in page.panels for label in place.panel.labels]
    assert page.width <= 900.5
    assert page.height <= 506.5
    assert sum(re.fullmatch(r"\([a-e]\)", label) is not None for label in shown) == 5
    assert sum(re.fullmatch(r"T\d+ V\d", label) is not None for label in shown) == 2 * 128 - 5


def test_what_is_compared_takes_the_width_of_a_column():
    """Three tiles of 16 x 16, in two rows, with the legend in the place that is left."""
    page = page_of(figure("one_product_on_three_machines"), Options(target="column"))
    assert page.height <= 700
    assert sum(place.panel.cols * place.grid.cell_w for place in page.panels[:2]) > 0.7 * page.width
    right = page.panels[0].grid.right
    texts = [item for item in page.items if isinstance(item, Line) and item.text.startswith("hue:")]
    assert len(texts) == 1
    assert texts[0].x > right
    assert texts[0].y > page.panels[1].grid.bottom


def test_a_panel_of_a_band_of_offsets_is_named_by_its_own():
    """A column has no room for labels of 12 panels of 4 x 8; each tells the offsets that lie in it, not those of its hue."""
    drawn = page_of(figure("(4,8,3,4):(1,4,32,96)"), Options(target="column"))
    svg = readback.svg(render("(4,8,3,4):(1,4,32,96)", "svg", target="column").decode())
    texts = [text for text, *_ in svg.texts]
    firsts = [min(place.panel.data["offset"]) for place in drawn.panels]
    assert sorted(firsts) == list(range(0, 384, 32))
    assert all(f"{n}..{n + 31}" in texts or (f"{n}.." in texts and str(n + 31) in texts) for n in firsts)


LIT = [
    ("SM80_16x8x16_F32F16F16F32_TN", {"value": 0}, "readme slide"), ("SM80_16x8x32_S32S8S8S32_TN", {"value": 0}, "readme"),
    ("((16,8),8):((64,1),8)", {"tile": (8, 128), "value": 0}, "readme slide"), ("SM80_16x8x32_S32S8S8S32_TN", {}, "slide"),
    ("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))", {"thread": 5}, "readme slide"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "options", "places"), LIT)
def test_each_thread_is_named_on_its_own_cells(source, options, places):
    """What is asked for has labels where all have no room, each on or beside cells of that thread; nothing else is named."""
    drawn = figure(source, **options)
    for target in places.split():
        page = page_of(drawn, Options(target=target))
        shown = readback.svg(render(drawn, "svg", target=target).decode())
        for place in page.panels:
            grid, panel, named = place.grid, place.panel, set()
            for text, x, y, *_ in shown.texts:
                if not (grid.left < x < grid.right and grid.top < y < grid.bottom) or text == "…":
                    continue
                at = int((y - grid.top) / grid.cell_h), int((x - grid.left) / grid.cell_w)
                cells = [r * panel.cols + c for r, c in near(panel, *at, "thread" in options)]
                said = re.fullmatch(r"(?:T(\d+))? ?(?:V(\d+))?(?:-\d+)?", text)
                assert said, text
                owners = [dict(panel.owners).get(n, ((panel.data["thread"][n], panel.data["value"][n]),)) for n in cells]
                thread = int(said[1]) if said[1] else options["thread"]
                assert any(t == thread and (said[2] is None or v == int(said[2])) for mine in owners for t, v in mine), text
                named.add(thread)
            assert named == ({5} if "thread" in options else {t for t in panel.data["thread"] if t is not None})


def near(panel, row, col, every):
    """A cell, and those from which a label may have been moved to it: of its row or its column, or every one around it."""
    rows, cols = range(max(0, row - 3), min(panel.rows, row + 4)), range(max(0, col - 4), min(panel.cols, col + 5))
    return [(r, c) for r in rows for c in cols if every or r == row or c in (col, col - 3)]


@pytest.mark.parametrize("target", [*sorted(set(TARGETS) - {"terminal"}), None])
def test_what_is_said_of_text_in_cells_is_true(target: str | None) -> None:
    """By the texts of the page: no caption and no alt text speaks of what cells show where none shows any."""
    silent = kept = 0
    for source, options in (*EVERY, *LABELLED):
        drawn, how = figure(source, **options), Options(target=target)
        page = page_of(drawn, how)
        cells = [text for item in page.items if isinstance(item, Labels) for text in item.texts if text]
        blocks = [text for item in page.items if isinstance(item, Texts) for text in item.texts]
        named = any(place.detail == Detail.VECTOR for place in page.panels)
        beside = caption_of(drawn, "tikz", replace(how, bare=True))
        assert beside
        bare = page_of(drawn, replace(how, bare=True))
        unlabelled = all(place.detail >= Detail.COLOUR for place in bare.panels)
        for words, mute in (
            (page.figure.caption, not cells and not named),
            (page.figure.description, not cells and not named),
            (beside[1], unlabelled),
        ):
            of_cells = re.search(r"\b[Cc]ells?\b[^.;]* shows? |; it shows ", words)
            assert not (mute and of_cells), (source, target, words)
            silent, kept = silent + mute, kept + bool(of_cells)
        if page.figure.caption == BLOCKS:
            assert any(re.fullmatch(r"\d+(\.\.(\d+)?)?", text) for text in blocks), (source, target)
        if cells:
            assert page.figure.caption == drawn.caption
        assert BLOCKS not in drawn.caption
    assert kept
    assert silent or target == "page"


def test_blocks_are_said_to_show_ranges(tmp_path: Path) -> None:
    for source, words in ((SWIZZLE[0], ""), ("(8,64):(64,1)", f"{BLOCKS}."), ("(64,64):(64,1)", f"{BLOCKS}.")):
        assert run("render", source, "--for", "column", "-o", f"{tmp_path}/p.tex").returncode == 0
        told = (tmp_path / "p.caption.tex").read_text()
        assert "shows its offset" not in told
        assert words in told
        assert (BLOCKS in told) == bool(words)
        svg = render(source, "svg", target="column").decode()
        assert "shows its offset" not in svg
        assert (BLOCKS in svg) == bool(words)
