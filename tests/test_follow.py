"""A thread's way through a GEMM, held to what PTX says of its instructions, and arrows, held to what writers put down."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

import cute_viz as cv
from cute_viz.errors import CuteVizError, FigureError
from cute_viz.figures.load import from_dict
from cute_viz.figures.model import Arrow, Figure, Panel, to_dict
from cute_viz.figures.trim import crop, fold
from cute_viz.renderers import Options
from cute_viz.renderers.page import page_of
from cute_viz.renderers.primitives import MUTED, Path
from cute_viz.spec.build import read_specs


def day(thread: int, operand: str | None = None) -> Figure:
    return cv.figure("ampere_gemm", follow=thread, operand=operand)


def places(panel: Panel, label: str) -> list[tuple[int, int]]:
    """Where a label stands, as the numbers that the rulers say."""
    rows, cols = (list(map(int, ruler.labels)) for ruler in (panel.row_ruler, panel.col_ruler))
    return [(rows[n // panel.cols], cols[n % panel.cols]) for n, text in enumerate(panel.labels) if label in text.split("\n")]


@pytest.mark.parametrize("thread", [0, 13, 45, 78, 127])
def test_each_step_is_what_ptx_says(thread: int) -> None:
    """cp.async of 16 x 8 threads; ldmatrix.x4: lane l gives row l % 16 of half l / 16; mma.m16n8k16: PTX ISA, its fragments."""
    warp, lane = divmod(thread, 32)
    top = 16 * (warp % 2)  # warps stand two by two, M fastest
    left = 8 * (warp // 2)
    group, pair = divmod(lane, 4)
    copied, shared, fragment, c, stored = day(thread).panels
    ((m, k),) = places(copied, f"T{thread}")
    assert (m % 16, k) == (thread // 8, thread % 8 * 8)
    ((line, bank),) = written = places(shared, f"T{thread}")
    assert (line, bank) == (m, 4 * (k // 8 ^ m % 8))  # 16-byte chunks, XORed with the row: Sw<3,3,3> of rows of 128 bytes
    assert f"chunk {k // 8} ^ {m % 8} = {bank // 4}" in shared.caption
    row, half = top + lane % 16, lane // 16
    assert any(f"the address of m {row}, k {8 * half}..{8 * half + 7}; " in note for note in day(thread).notes)
    rows = top + group, top + group + 8
    got = [(rows[v // 2 % 2], 2 * pair + 8 * (v // 4)) for v in range(0, 8, 2)]
    assert [places(fragment, f"V{v}-{v + 1}") for v in range(0, 8, 2)] == [[place] for place in got]
    lies = [(m, 4 * (k // 8 ^ m % 8)) for m, k in got]
    assert [places(shared, f"V{v}-{v + 1}") for v in range(0, 8, 2)] == [[place] for place in lies]
    assert sum(map(bool, shared.labels)) == len({*lies, *written})
    held = [(rows[v // 2], left + 2 * pair) for v in (0, 2)]
    assert [places(panel, f"V{v}-{v + 1}") for panel in (c, stored) for v in (0, 2)] == [[place] for place in held * 2]


def test_by_way_of_b() -> None:
    """B is N x K, and C is drawn with N down, so that rows go on."""
    *_, fragment, c, _ = day(13, "B").panels
    assert (fragment.row_ruler.title, c.row_ruler.title, c.col_ruler.title) == ("N", "N", "M")
    assert [places(c, f"V{v}") for v in range(4)] == [[(2, 3)], [(3, 3)], [(2, 11)], [(3, 11)]]
    assert places(fragment, "V0-1") == [(3, 2)]


def test_arrows_keep_to_a_row() -> None:
    """They begin and end at what is the thread's, in the same row of the operand."""
    drawn = day(13)
    found = []
    for arrow in drawn.arrows:
        one, other = drawn.panels[arrow.source], drawn.panels[arrow.target]
        assert arrow.target == arrow.source + 1
        found.append((arrow.source, one.row_ruler.labels[arrow.start[0]], other.row_ruler.labels[arrow.end[0]]))
    assert found == [(0, "1", "1"), (1, "3", "3"), (1, "11", "11"), (2, "3", "3"), (2, "11", "11"), (3, "3", "3"), (3, "11", "11")]


LDSM = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))"


@pytest.mark.parametrize(
    ("text", "captions", "note"),
    [
        (
            "gemm:\n  mma: make_tiled_mma(UniversalFMA<float,float,float>{}, (16,16,1))\n  tile: (64,64,8)\n"
            "  smem_a: (64,8):(1,64)\n"
            "  g2s_a: {atom: {op: UniversalCopy<uint128_t>, type: float}, thr: '(16,8):(1,16)', val: '(4,1)'}\n",
            ["copy, 16 bytes of global A: m 52..55, k 0", "shared memory in lines", "registers: m 13", "mma: m 13, n 0 of C"],
            "",
        ),
        (
            "gemm:\n  mma: make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>{}, (2,1,1))\n"
            "  tile: (128,64,64)\n  smem_a: Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)\n",
            ["shared memory, 8 × 64 of it", "wgmma.m64n64k16: m 3, 11, n 2, 3, 10, 11 … of C"],
            "A stays in shared memory",
        ),
        (
            f"gemm:\n  mma: {LDSM}\n  tile: (128,128,64)\n  smem_a: Sw<3,3,3> o 0 o (8,64):(64,1)\n"
            "  s2r_a: {op: SM75_U32x1_LDSM_N, type: half_t}\n",
            ["shared memory", "ldmatrix.x1 to registers: m 3", "mma.m16n8k16"],
            "ldmatrix.x1 takes the addresses of lanes 0 to 7",
        ),
    ],
)
def test_of_other_kernels(text: str, captions: list[str], note: str) -> None:
    drawn = cv.figure(read_specs(text)[0].obj, follow=13)
    assert all(wanted in panel.caption for wanted, panel in zip(captions, drawn.panels, strict=True))
    assert note in " ".join(drawn.notes)


@pytest.mark.parametrize(
    ("source", "words", "said"),
    [
        ("ampere_gemm", {"follow": 128}, "there are threads 0 to 127"),
        ("ampere_gemm", {"follow": "0..3"}, "is one thread"),
        ("ampere_gemm", {"follow": 1, "operand": "C"}, "by way of A or B"),
        ("ampere_gemm", {"follow": 1, "thread": 2}, "does not apply to a thread's way"),
        ("hopper_gemm", {"thread": 2}, "does not apply to the stages of a kernel"),
        ("SM80_16x8x16_F32F16F16F32_TN", {"follow": 1}, "does not apply to an MMA"),
    ],
)
def test_what_is_refused(source: str, words: dict[str, object], said: str) -> None:
    with pytest.raises(CuteVizError, match=said):
        cv.figure(source, **words)  # type: ignore[arg-type]


def arrows_of(page):
    """The lines of a page's arrows, and their heads, whose tips come first."""
    strokes, heads = (item for item in page.items if isinstance(item, Path) and item.role == MUTED)
    return strokes.lines, heads.lines


class TestArrows:
    def test_are_written_by_every_page(self) -> None:
        drawn = day(13)
        ways, heads = arrows_of(page_of(drawn, Options()))
        assert len(ways) == len(heads) == len(drawn.arrows) == 7
        svg = cv.render(drawn, "svg", target="screen").decode()
        (found,) = re.findall(r'<path class="m" d="([^"]*)"', svg)  # the heads, which have no stroke
        assert found.count("z") == 7
        tikz = cv.render(drawn, "tikz", target="screen").decode()
        assert tikz.count("draw=cvm") == 1

    def test_end_where_cells_are(self) -> None:
        drawn = day(13)
        page = page_of(drawn, Options())
        for arrow, way, (tip, *_) in zip(drawn.arrows, *arrows_of(page), strict=True):
            for (x, y), panel, box, edge in ((way[0], arrow.source, arrow.start, 3), (tip, arrow.target, arrow.end, 1)):
                grid = page.panels[panel].grid
                assert abs(grid.left + box[edge] * grid.cell_w - x) < 4
                assert grid.top + box[0] * grid.cell_h < y < grid.top + box[2] * grid.cell_h

    @pytest.mark.parametrize("target", ["readme", "page"])
    def test_of_a_narrow_page_stay_within_a_row_or_go_straight_down(self, target: str) -> None:
        page = page_of(day(13), Options(target=target))
        assert page.panels[0].detail == 0  # every label
        ways = arrows_of(page)[0]
        assert all(way[0][1] == way[-1][1] or way[0][0] == way[-1][0] for way in ways)
        assert len({place.panel.place[0] for place in page.panels}) == 1 + len([way for way in ways if way[0][1] != way[-1][1]])

    def test_of_a_figure_without_any_nothing_is_written(self) -> None:
        assert not any(isinstance(item, Path) for item in page_of(cv.figure("(4,8)"), Options()).items)

    def test_go_through_json_and_trimming(self) -> None:
        drawn = day(13)
        data = json.loads(json.dumps(to_dict(drawn)))
        assert from_dict(data) == drawn
        assert [arrow.source for arrow in crop(drawn, 8, 99).arrows] == [0, 1, 2, 3]
        assert fold(drawn, 4).arrows == ()
        for wrong in (Arrow(0, 9), Arrow(0, 1, (0, 0, 99, 1)), Arrow(-1, 0), Arrow(0, 1, (0, 0))):
            with pytest.raises(FigureError, match=r"figure\.arrows\[0\]"):
                from_dict(to_dict(replace(drawn, arrows=(wrong,))))


def test_the_pictures_of_a_slider_are_those_of_its_threads():
    """The page carries them cut up, each part once: put together they are what each thread's own page shows."""
    from cute_viz.renderers.html import explored

    html = cv.render("ampere_gemm", "html", follow="12..14").decode()
    data = json.loads(re.search(r'id="data">(.*?)</script>', html, re.S)[1])
    pictures = data["series"]["pictures"]
    assert [number for number, *_ in pictures] == [12, 13, 14]
    for number, title, words, cut, kept in pictures:
        drawn = cv.figure("ampere_gemm", follow=number)
        svg, panels = explored(drawn, Options())
        assert "<".join(data["series"]["parts"][n] for n in cut) == svg
        values = [{name: json.loads(data["series"]["values"][n]) for name, n in panel.items()} for panel in kept]
        assert values == json.loads(json.dumps(panels))
        assert (title, words) == (drawn.title, drawn.description)
    assert 'id="series"' not in cv.render("SM80_16x8x16_F32F16F16F32_TN", "html").decode()
    assert "series" not in json.loads(cv.render("ampere_gemm", "json", follow=13))
    with pytest.raises(CuteVizError, match="one thread"):
        cv.render("ampere_gemm", "svg", follow="12..14")
    with pytest.raises(CuteVizError, match="there are threads 0 to 127"):
        cv.render("ampere_gemm", "html", follow="120..130")


def test_an_mn_major_operand_is_followed_along_its_16_byte_pieces() -> None:
    """Rows 3 and 11 of tf32 lie in the pieces of rows 0 to 3 and 8 to 11, at every k."""
    parts = (
        "g = make_tensor(make_gmem_ptr<tfloat32_t>(0), make_layout(make_shape(128,64)))",
        "sl = tile_to_shape(UMMA::Layout_MN_SW64_Atom<tfloat32_t>{}, (64,64))",
        "mma = make_tiled_mma(SM100_MMA_TF32_SS<tfloat32_t,tfloat32_t,float,64,16,UMMA::Major::MN,UMMA::Major::K>{})",
        "a = mma.make_fragment_A(mma.get_slice(0).partition_A(make_tensor(make_smem_ptr<tfloat32_t>(0), sl)))",
        "c = mma.make_fragment_C(partition_shape_C(mma, (64,16)))",
        "stages(make_tma_copy(SM90_TMA_LOAD{}, g, sl, (64,64), 1), a, c, SM100_TMEM_LOAD_16dp256b1x{})",
    )
    drawn = cv.figure("; ".join(parts), follow=13)
    shared = drawn.panels[1]
    lit = [shared.labels[n] for n, p in enumerate(shared.paints) if p >= 0 and not drawn.paints[p].faded]
    assert {int(label.split(",")[0]) for label in lit} == {0, 8}  # 4 elements of M in 16 bytes
    assert {int(label.split(",")[1]) for label in lit} == set(range(8))  # of one instruction
