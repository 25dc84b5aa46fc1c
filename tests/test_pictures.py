"""Pictures read back: lines, hues of neighbours, legends, ranges and names of owners, held to the layout alone.

What is true is taken from shapes and strides (`by_hand`), or from the mapping that a panel has as data; how a picture was painted
is never asked.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise

import pytest

from cute_viz import figure, parse, render
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.table import offsets
from cute_viz.figures.load import from_dict, from_json
from cute_viz.figures.model import HOLE, Figure, Panel, to_dict
from cute_viz.figures.page import page as one_page
from cute_viz.renderers import Options
from cute_viz.renderers.frame import Detail
from cute_viz.renderers.marks import vector_marks
from cute_viz.renderers.names import group_marks, joined
from cute_viz.renderers.page import page_of
from tests import by_hand, readback

MMA = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))"
UMMA = "SM100_MMA_F16BF16_2x1SM_SS<half_t,half_t,float,128,32,UMMA::Major::K,UMMA::Major::K>"
TV = "((4,8),(2,2)):((32,1),(16,8))"
COPY = "make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, (16,8):(8,1), (1,8))"
SWIZZLED = "Sw<3,3,3> o 0 o (8,64):(64,1)"
GAP = 5  # px between texts beside each other
PICTURES = {
    "grid": lambda: figure("((2,2),(2,4)):((1,4),(2,8))"),
    "rows": lambda: figure("(24,3):(3,1)", color_by="row"),
    "tv": lambda: figure(TV, tile=(16, 8)),
    "table": lambda: figure(TV, tile=(16, 8), view="table"),
    "both": lambda: figure(TV, tile=(16, 8), view="both"),
    "banks": lambda: figure(SWIZZLED, view="banks"),
    "address": lambda: figure(SWIZZLED, view="address"),
    "operation": lambda: figure("zipped_product((2,2):(1,2), (4,3):(1,4))", view="operation"),
    "mma": lambda: figure(MMA),
    "sixteen warps": lambda: figure("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (4,4,1), (64,32,16))"),
    "wgmma": lambda: figure("SM90_64x16x16_F32F16F16_SS"),
    "umma": lambda: figure(UMMA),
    "copy": lambda: figure(COPY),
    "tensor memory": lambda: figure("Copy_Atom<SM100_TMEM_LOAD_16dp256b1x, uint32_t>{}"),
    "a thread": lambda: figure(MMA, thread=5),
    "partition": lambda: figure(MMA, tensor="(64,64):(64,1)", thread=3),
    "gemm": lambda: figure("ampere_gemm"),
    "diff": lambda: figure("(8,64):(64,1)", SWIZZLED, diff=True),
    "several": lambda: figure("(8,8):(8,1)", SWIZZLED),
}


@pytest.fixture(params=PICTURES)
def picture(request: pytest.FixtureRequest) -> Figure:
    drawn = PICTURES[request.param]()
    assert isinstance(drawn, Figure)
    return drawn


class TestEveryPicture:
    def test_a_range_is_a_run(self, picture: Figure) -> None:
        """`V0-7` stands on a box only where its cells count from 0 to 7."""
        for panel in picture.panels:
            for mark in vector_marks(panel):
                for n, line in enumerate(mark.lines):
                    if found := re.fullmatch(r"(\D*)(\d+)-(\d+)", line):
                        cells = [panel.labels[r * panel.cols + c] for r, c in inside(mark)]
                        numbers = [int(x) for cell in cells for x in re.findall(r"\d+", cell.split("\n")[n])]
                        assert set(numbers) == set(range(int(found[2]), int(found[3]) + 1))
                        assert all(a <= b for a, b in pairwise(numbers))

    def test_a_name_is_of_a_legend_of_the_panel(self, picture: Figure) -> None:
        for panel in picture.panels:
            heads = {re.split(r"\d", entry.label)[0] for legend in picture.legends_of(panel) for entry in legend.entries}
            named = picture.paints[panel.paints[0]].hue >= 0 and not any(paint.faded for paint in picture.paints)
            for mark in group_marks(picture, panel, 40, 40) if named else ():
                assert re.split(r"\d", joined(mark.lines))[0] in heads

    def test_a_name_of_owners_is_true(self, picture: Figure) -> None:
        for panel in picture.panels:
            if "thread" not in panel.data or picture.paints[panel.paints[0]].hue < 0 or any(p.faded for p in picture.paints):
                continue
            for mark in group_marks(picture, panel, 40, 40):
                width = 32 if mark.lines[0].startswith("warp") else 1
                name = joined(mark.lines)
                held = {t // width for r, c in inside(mark) for t in holders(panel, r * panel.cols + c)}
                assert numbers_of(name) == held

    def test_every_hue_is_told(self, picture: Figure) -> None:
        """Each hue of a panel has an entry in one of the panel's own legends."""
        for panel in picture.panels:
            told = {picture.paints[entry.paint].hue for legend in picture.legends_of(panel) for entry in legend.entries}
            seen = {picture.paints[p].hue for p in set(panel.paints) if p != HOLE and not picture.paints[p].faded}
            assert {hue for hue in seen if hue >= 0} <= told

    def test_each_legend_is_that_of_a_panel(self, picture: Figure) -> None:
        assert all(any(legend in picture.legends_of(panel) for panel in picture.panels) for legend in picture.legends)

    def test_borders_stand_on_the_page(self, picture: Figure) -> None:
        """The lines of the SVG are at the levels of the rulers, all along, and none runs through a label of a box."""
        page = page_of(picture, Options())
        found = readback.svg(render(picture, "svg", target="screen"))
        for place in page.panels:
            grid = place.grid
            for ruler, start, step, axis in (
                (place.panel.row_ruler, grid.top, grid.cell_h, 1),
                (place.panel.col_ruler, grid.left, grid.cell_w, 0),
            ):
                for i, level in enumerate(ruler.levels[1:-1], 1):
                    at = start + i * step
                    across = (grid.left, grid.right) if axis else (grid.top, grid.bottom)
                    mine = [
                        line
                        for line in found.lines
                        if abs(line[axis] - at) < 0.02 and abs(line[axis + 2] - at) < 0.02
                        if abs(line[1 - axis] - across[0]) < 0.02 and abs(line[3 - axis] - across[1]) < 0.02
                    ]
                    assert any(line[4] > 0.8 for line in mine) == bool(level)

    def test_the_model_is_read_back(self, picture: Figure) -> None:
        assert from_json(render(picture, "json")) == picture


class TestLines:
    @pytest.mark.parametrize(
        ("text", "tv"),
        [
            ("SM90_64x32x16_F32F16F16_SS", Layout(((4, 8, 4), (2, 2, 4)), ((128, 1, 16), (64, 8, 512)))),
            ("SM80_16x8x16_F32F16F16F32_TN", Layout(((4, 8), (2, 2)), ((32, 1), (16, 8)))),
        ],
    )
    def test_of_an_accumulator(self, text: str, tv: Layout) -> None:
        """A line wherever the lanes start over, and a heavy one wherever another warp begins."""
        panel = figure(text).panels[0]
        lane = {}
        threads = by_hand.count(tv.shape[0])
        for index, place in enumerate(by_hand.table(tv)):
            lane[place % panel.rows, place // panel.rows] = index % threads
        levels = [0] * (panel.rows + 1)
        for r in range(1, panel.rows):
            if all(lane[r, c] // 32 != lane[r - 1, c] // 32 for c in range(panel.cols)):
                levels[r] = 2
            elif all(lane[r, c] % 32 == lane[r % 8, c] % 32 for c in range(panel.cols)) and r % 8 == 0:
                levels[r] = 1
        assert list(panel.row_ruler.levels) == levels
        assert levels.count(1) + levels.count(2) == panel.rows // 8 - 1

    def test_of_a_tiling_in_all_rows(self) -> None:
        """2 x 2 atoms of 16 x 8: a row of warps every 16 rows, lanes start over every 8; 8 columns are a warp's."""
        c = figure(MMA).panels[0]
        assert [r for r, level in enumerate(c.row_ruler.levels) if level] == [8, 16, 24]
        assert [c for c, level in enumerate(c.col_ruler.levels) if level] == [8, 16, 24]

    def test_a_highlight_moves_none(self) -> None:
        plain, one = figure(MMA), figure(MMA, thread=37)
        for a, b in zip(plain.panels, one.panels, strict=True):
            assert (a.row_ruler, a.col_ruler) == (b.row_ruler, b.col_ruler)


class TestHues:
    @pytest.mark.parametrize(("shape", "tile"), [((16, 12), (4, 2)), ((32, 8), (4, 2)), ((64, 16), (2, 4)), ((8, 8), (4, 4))])
    def test_neighbouring_tiles_differ(self, shape: tuple[int, int], tile: tuple[int, int]) -> None:
        drawn = figure(f"logical_divide({shape}:(1,{shape[0]}), {tile})", view="operation")
        panel = drawn.panels[0]
        down = shape[0] // tile[0]

        def number(cell: int) -> int:
            return cell // panel.cols // tile[0] + down * (cell % panel.cols // tile[1])

        hue = {cell: drawn.paints[paint].hue for cell, paint in enumerate(panel.paints)}
        for cell in hue:
            right, below = cell + 1, cell + panel.cols
            for other in ([right] if right % panel.cols else []) + ([below] if below in hue else []):
                assert (hue[cell] == hue[other]) == (number(cell) == number(other))
        told = {drawn.paints[entry.paint].hue: entry.label for entry in drawn.legends[0].entries}
        for mine, label in told.items():
            every = sorted({number(cell) for cell in hue if hue[cell] == mine})
            numbers = [int(x) for x in re.findall(r"\d+", label)]
            assert numbers == (every if "…" not in label else every[:3])

    def test_neighbouring_warps_differ(self) -> None:
        drawn = figure("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (4,4,1), (64,32,16))", operand="C")
        panel = drawn.panels[0]
        for cell in range(panel.rows * panel.cols - panel.cols):
            for other in (cell + panel.cols, *([cell + 1] if (cell + 1) % panel.cols else [])):
                warps = [panel.data["thread"][x] // 32 for x in (cell, other)]
                hues = [drawn.paints[panel.paints[x]].hue for x in (cell, other)]
                assert (warps[0] == warps[1]) == (hues[0] == hues[1])

    def test_print_keeps_hue_and_shade_apart(self) -> None:
        """A grey is a hue; the values of an owner, which would be greys of others, are told by the labels alone."""
        drawn = figure(TV, tile=(16, 8))
        found = readback.svg(render(drawn, "svg", theme="print"))
        hues = [fill for fill, _, _ in found.swatches]
        assert len(set(hues)) == len(hues) == len(drawn.legends[0].entries)
        assert {fill for fill, *_ in found.fills} == set(hues)
        assert not any(text.startswith("shade") for text, *_ in found.texts)


class TestLegends:
    def test_of_a_swizzle_on_a_page_of_several(self) -> None:
        """A shared tile has the hue of the warp that fills the cell, as all of the page: warps are named, not chunks."""
        drawn = figure("ampere_gemm")
        (panel,) = (panel for panel in drawn.panels if "shared memory: A and B" in panel.caption)
        marks = group_marks(drawn, panel, 22, 22)
        assert marks
        for mark in marks:
            warps = {panel.data["filled"][r * panel.cols + c][0][0] // 32 for r, c in inside(mark)}
            assert [f"warp {warp}" for warp in warps] == list(mark.lines)

    def test_every_warp_is_named(self) -> None:
        """A of a 2 x 2 tiling is held by warps 0 and 2, and by 1 and 3, as their rows are."""
        (legend, *_) = figure(MMA, operand="A").legends
        assert [entry.label for entry in legend.entries] == ["warp 0, 2", "warp 1, 3"]
        texts = [text for text, *_ in readback.svg(render(MMA, "svg", operand="A")).texts]
        assert not any(re.fullmatch(r"\d+ cells?", text or "") for text in texts)

    def test_of_one_thread(self) -> None:
        drawn = figure("SM80_16x8x16_F32F16F16F32_TN", thread=5)
        assert [entry.label for entry in drawn.legends[0].entries] == ["thread 5", "others, faded"]
        for panel in drawn.panels:
            for cell, paint in enumerate(panel.paints):
                assert drawn.paints[paint].faded == (5 not in holders(panel, cell))
                assert panel.labels[cell]
        warps = figure(MMA, thread=5).legends[0].entries
        assert [entry.label for entry in warps] == ["warp 0: thread 5", "others, faded"]


class TestDifferences:
    def test_old_and_new_stand_in_the_same_cell_of_two_panels(self) -> None:
        drawn = figure("(8,64):(64,1)", SWIZZLED, diff=True)
        old, new = drawn.panels
        for cell, differs in enumerate(new.data["differs"]):
            r, c = divmod(cell, 64)
            before = r * 64 + c
            after = before ^ (before >> 3 & 56)
            assert (old.labels[cell], new.labels[cell]) == (str(before), str(after))
            assert bool(differs) == (before != after)

    def test_a_box_tells_both_ranges(self) -> None:
        """Of a run of eight the new offsets are the old ones with the row in bits 3..5."""
        small = render(figure("(8,64):(64,1)", SWIZZLED, diff=True), "svg", target="readme")
        texts = [(text or "", x, y) for text, x, y, *_ in readback.svg(small).texts]
        ranges = [(words, x, y) for words, x, y in texts if re.fullmatch(r"\d+-\d+", words)]
        assert len(ranges) == 2 * 7 * 8
        for (was, x, _), (new, left, _) in zip(ranges[:56], ranges[56:], strict=True):
            (a, b), (c, d) = ([int(x) for x in words.split("-")] for words in (new, was))
            assert abs(left - x) < 1
            assert [x ^ (x >> 3 & 56) for x in range(c, d + 1)] == list(range(a, b + 1))


@pytest.mark.parametrize("name", ["GMMA::Layout_K_SW128_Atom<half_t>", "UMMA::Layout_MN_SW32_Atom<float>"])
def test_a_layout_with_a_name_is_called_by_it(name: str) -> None:
    plain = figure(str(parse(f"{name}{{}}")))
    for text in (name, f"{name}{{}}"):
        assert figure(text).title == f"{name}: {plain.title}"
        assert figure(text).description.startswith(f"{name}: {plain.title}")
        assert figure(text, title="mine").title == "mine"


def test_long_rows_on_the_page_of_a_file_are_seen() -> None:
    drawn = replace(one_page("", [("a", figure("(1,4096)")), ("b", figure("(4096,1)"))], 1), kind="file")
    for place in page_of(drawn, Options()).panels:
        grid = place.grid
        assert min(grid.bottom - grid.top, grid.right - grid.left) >= 16
        assert place.detail == Detail.COLOUR  # an image has square cells


class TestMemory:
    @pytest.mark.parametrize(
        ("text", "where"),
        [
            ("SM90_64x16x16_F32F16F16_SS", {"A": "shared memory", "B": "shared memory"}),
            ("SM90_64x16x16_F32F16F16_RS", {"B": "shared memory"}),
            ("make_tiled_mma(SM90_64x16x16_F32F16F16_SS{}, (2,1,1))", {"A": "shared memory", "B": "shared memory"}),
            (UMMA, {"A": "shared memory", "B": "shared memory", "C": "tensor memory"}),
            (UMMA.replace("_SS", "_TS"), {"A": "tensor memory", "B": "shared memory", "C": "tensor memory"}),
            ("SM80_16x8x16_F32F16F16F32_TN", {}),
        ],
    )
    def test_of_operands(self, text: str, where: dict[str, str]) -> None:
        drawn = figure(text)
        for panel in drawn.panels:
            operand = panel.caption[0]
            assert (f"in {where.get(operand)}" in panel.caption) == (operand in where)
            assert drawn.facts.get(f"{operand} in") == where.get(operand)
            assert (f"values of {operand}" in drawn.facts) == (operand not in where)
            assert any(note.startswith(f"{operand} lies in {where.get(operand)}") for note in drawn.notes) == (operand in where)
            if operand in where and "SM90" in text:
                assert not any(label.startswith("T") for label in panel.labels)
        assert ("CTA" in drawn.title) == ("SM100" in text)

    @pytest.mark.parametrize("major", ["K", "MN"])
    def test_core_matrices_begin_where_a_layout_without_swizzle_has_them(self, major: str) -> None:
        panels = figure(f"SM90_64x16x16_F32F16F16_SS<GMMA::Major::{major},GMMA::Major::{major}>").panels
        for panel, x in ((panel, panel.caption[0]) for panel in panels if panel.caption[0] in "AB"):
            layout = parse(f"tile_to_shape(GMMA::Layout_{major}_INTER_Atom<half_t>{{}}, ({64 if x == 'A' else 16},16))")
            desc = parse(f"make_gmma_desc<GMMA::Major::{major}>({layout})")
            steps = {"SBO": 8 * desc.stride_byte_offset, "LBO": 8 * desc.leading_byte_offset, "": 1}  # of 16 bytes; in elements
            told = [(n, label) for n, label in enumerate(panel.labels) if label]
            assert len(told) == panel.rows * panel.cols // 64 == len(panel.boxes)
            for n, label in told:
                at = divmod(n, panel.cols)
                parts = [re.fullmatch(r"\+(\d*)([SL]BO|)", part) for part in label.split("\n")]
                assert layout(*(at if x == "A" else at[::-1])) == sum(int(part[1] or 1) * steps[part[2]] for part in parts)

    def test_of_tensor_memory_copies(self) -> None:
        """tcgen05.ld.32x32b gives lane t to thread t: a row is a lane, which the warp's thread of that number reads."""
        source, registers = figure("Copy_Atom<SM100_TMEM_LOAD_32dp32b2x, uint32_t>{}").panels
        assert source.caption == "source: tensor memory"
        assert set(source.labels) == {""}
        assert (registers.rows, registers.cols) == (32, 2)
        assert list(registers.labels) == [f"T{lane}\nV{value}" for lane in range(32) for value in range(2)]

    def test_one_thread_is_not_four(self) -> None:
        drawn = figure("Copy_Atom<SM100_UTCCP_4x32dp128bit_1cta, uint32_t>{}")
        assert not [note for note in drawn.notes if "threads" in note]
        assert drawn.panels[0].labels[0].split("\n")[0] == "CTA0"


class TestRankOne:
    @pytest.mark.parametrize("text", ["8:1", "(8):(1)", "200:1", "(1,200):(0,1)", "3:5"])
    def test_nothing_overlaps(self, text: str) -> None:
        found = readback.svg(render(text, "svg"))
        boxes = []
        for words, x, y, size, anchor, _ in found.texts:
            width = len(words) * size * 0.6
            left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
            boxes.append((left, y - size * 0.35, left + width, y + size * 0.35, words))
        for n, a in enumerate(boxes):
            for b in boxes[:n]:
                beside = a[2] + GAP <= b[0] or b[2] + GAP <= a[0]
                assert beside or a[3] <= b[1] or b[3] <= a[1], (a, b)

    def test_there_is_no_mode_that_the_layout_lacks(self) -> None:
        drawn = figure("8:1")
        assert "mode 1" not in drawn.panels[0].col_ruler.title + drawn.caption


def test_a_figure_of_the_first_version_is_read() -> None:
    drawn = figure(TV, tile=(16, 8))
    old = json.loads(json.dumps(to_dict(drawn)))
    old["cute_viz_figure"] = 1
    for panel in old["panels"]:
        del panel["legends"]
    for paint in old["paints"]:
        del paint["faded"]
    assert from_dict(old) == drawn
    assert from_dict(to_dict(replace(drawn, title="x"))).title == "x"


def inside(mark: object) -> list[tuple[int, int]]:
    """The cells of a mark."""
    return [(r, c) for r in range(mark.r0, mark.r1) for c in range(mark.c0, mark.c1)]  # type: ignore[attr-defined]


def holders(panel: Panel, cell: int) -> set[int]:
    """Every thread that owns a cell."""
    several = dict(panel.owners).get(cell)
    return {t for t, _ in several} if several else {panel.data["thread"][cell]}


def numbers_of(name: str) -> set[int]:
    """The numbers that a name tells: `T0..T3`, `warp 0, 2`."""
    numbers = [int(x) for x in re.findall(r"\d+", name)]
    return set(range(numbers[0], numbers[1] + 1)) if ".." in name else set(numbers)


def test_a_partition_in_three_levels():
    """The thread in one tile, where its part of each tile begins, and the rest; offsets as the partition itself has them."""
    copy = "make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint128_t>,half_t>{}, (16,8):(8,1), (1,8))"
    tensor = "(128,128,3):(128,1,16384)"
    drawn = figure(copy, tensor=tensor, thread=9)
    one, tiles, rest, whole = drawn.panels
    assert [panel.caption.partition(",")[0] for panel in drawn.panels] == [
        "1. CPY",
        "2. CPY_M × CPY_N",
        "3. REST_0",
        "all of it: 128 × 128",
    ]
    assert [label for label in one.labels if label] == [f"V{n}" for n in range(8)]
    part = parse(f"partition_S(get_slice({copy}, 9), {tensor})")
    begins = [offset for n, offset in enumerate(offsets(part)) if n % 8 == 0]
    assert tiles.labels == tuple(f"ptr + {begins[m + 8 * n]}" for m in range(8) for n in range(2))
    assert tiles.labels[:3] == ("ptr + 136", "ptr + 200", "ptr + 2184")  # row 1, column 8; 64 columns on; 16 rows on
    assert rest.labels == ("ptr + 136", "ptr + 16520", "ptr + 32904")
    assert sum(map(bool, whole.labels)) == 8 * 8 * 2
    assert drawn.source.startswith("ptr + 136 o ")
    colour = {label.split("\n")[1]: drawn.paints[p].hue for label, p in zip(whole.labels, whole.paints, strict=True) if label}
    for place, paint in enumerate(tiles.paints):
        assert drawn.paints[paint].hue == colour[f"({place // 2},{place % 2},0)"]


def test_a_partition_of_a_swizzled_tensor_tells_each_offset():
    mma = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))"
    tensor = "Sw<3,3,3> o 0 o (64,64):(64,1)"
    drawn = figure(mma, tensor=tensor, thread=5, operand="A")
    first = [int(label.removeprefix("ptr + ")) for label in drawn.panels[1].labels]
    assert first == [(64 * m + n) ^ (m % 8 << 3) for m in (1, 33) for n in (2, 18, 34, 50)]
