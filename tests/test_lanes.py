"""The stages of a kernel in lanes: what is in full hue, in tensor memory and in the titles, against formulas of the PTX ISA."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cute_viz import figure
from cute_viz.figures.model import HOLE, Figure
from cute_viz.gallery.gates import flaws
from cute_viz.renderers import Options
from cute_viz.renderers.page import page_of
from cute_viz.renderers.primitives import Line
from cute_viz.renderers.targets import TARGETS
from tests.commands import run

KERNELS = ("hopper_gemm", "blackwell_gemm", "flash_attention_forward", "blackwell_gemm_2sm", "blackwell_gemm_block_scaled")


def lanes_of(source: str) -> Figure:
    """The lanes, each called by its name alone."""
    found = figure(source)
    assert found.kind == "journey"
    return replace(found, panels=tuple(replace(panel, caption=panel.caption.partition(": ")[0]) for panel in found.panels))


@pytest.mark.parametrize("source", KERNELS)
@pytest.mark.parametrize("target", ["readme", "slide", "page", "column"])
def test_lanes_fit_and_can_be_read(source: str, target: str) -> None:
    drawn, place = figure(source), TARGETS[target]
    assert flaws(drawn, Options(target=target)) == []
    page = page_of(drawn, Options(target=target))
    assert (page.width <= place.width + 1, page.height <= place.height + 1) == (True, True)
    high = min(found.grid.bottom - found.grid.top for found in page.panels)
    assert high >= 0.07 * place.height  # of four in a column, one


def by_wgmma(t: int, v: int) -> tuple[int, int]:
    """Row and column of value v of thread t of an accumulator of wgmma (PTX ISA, "Register fragments", D)."""
    return 16 * (t // 32) + t % 32 // 4 + 8 * (v // 2 % 2), 8 * (v // 4) + 2 * (t % 4) + v % 2


def a_of_wgmma(t: int, v: int, per: int) -> tuple[int, int]:
    """Row and k of value v of thread t of A in registers, `per` elements in each of the four registers."""
    register, inside = divmod(v, per)
    return 16 * (t // 32) + t % 32 // 4 + 8 * (register % 2), 4 * per * (register // 2) + per * (t % 4) + inside


CHAIN = """mma = make_tiled_mma(SM90_64x64x{k}_F32{t}_SS_TN{{}}); next = make_tiled_mma(SM90_64x64x{k}_F32{t}_RS_TN{{}});
sl = tile_to_shape(GMMA::Layout_K_SW64_Atom<{e}>{{}}, (64,64));
q = make_tensor(make_gmem_ptr<{e}>(0), make_layout(make_shape(256,64), GenRowMajor{{}}));
stages(make_tma_copy(SM90_TMA_LOAD{{}}, q, sl, (64,64), 1), sl, mma, next)"""


def test_the_accumulator_of_half_is_a_of_the_next() -> None:
    """FlashAttention's P: by the formulas of the ISA every element is in its thread, and of 8 bits half of them are not."""
    for per, deep in ((2, 16), (4, 32)):
        held = [{by_wgmma(t, v) for v in range(32)} for t in range(128)]
        moved = sum(
            (row, first + k) not in held[t]
            for first in range(0, 64, deep)
            for t in range(128)
            for row, k in (a_of_wgmma(t, v, per) for v in range(4 * per))
        )
        if per == 2:
            shown = lanes_of("flash_attention_forward")
            assert (moved, shown.title) == (0, "S already lies in registers as P must: P skips shared memory")
            assert [by_wgmma(0, v) for v in range(8)] == [a_of_wgmma(0, v, 2) for v in range(8)]
            assert "thread 0 holds as V0..7 of C and reads as V0..7" in shown.caption
            assert [arrow.label for arrow in shown.arrows[1:4]] == ["wgmma\nwith Kᵀ", "softmax\nin place", "wgmma\nwith V"]
        else:
            shown = lanes_of(CHAIN.format(k=32, t="E4M3E4M3", e="float_e4m3_t").replace("\n", " "))
            assert shown.title == f"{moved} of 4096 elements of the next A are in another thread"
            assert moved > 0
            assert shown.arrows[2].label == "moved\nto A"


def test_chained_products_share_the_axis_of_rows() -> None:
    shown = lanes_of("flash_attention_forward")
    assert [panel.caption for panel in shown.panels[:5]] == [
        "Tile of Q", "Q, swizzled", "S = QKᵀ", "P", "O += PV",
    ]  # fmt: skip
    assert {panel.rows for panel in shown.panels[:7]} == {64}
    for n, word in ((2, "n"), (3, "k"), (4, "n")):
        panel = shown.panels[n]
        assert (panel.col_ruler.title, panel.col_ruler.labels[0]) == (word, "0")
        lit = {c for c in range(panel.cols) if not shown.paints[panel.paints[c]].faded}
        assert lit == (set(range(8)) if n == 4 else {0, 1})  # 16 of 64 columns, 8 a cell


def test_two_ctas_have_their_own_rows() -> None:
    shown = lanes_of("blackwell_gemm_2sm")
    assert shown.title == "One instruction of two CTAs: each loads, holds and stores its own 128 rows"
    assert [arrow.label.split("\n")[1] for arrow in (shown.arrows[0], shown.arrows[-1])] == ["2 × 16 KB"] * 2
    for panel in shown.panels:
        hues = [shown.paints[panel.paints[r * panel.cols]].hue for r in range(256)]
        assert panel.rows == 256
        if panel.caption not in ("A, swizzled", "D, swizzled"):
            assert hues == [r // 32 for r in range(256)]
    assert shown.panels[0].row_ruler.labels[128:130] == ("128", "129")


def test_tensor_memory_has_its_true_columns() -> None:
    """Two accumulators of 192 columns, then SFA and SFB, each in columns of its own; one tcgen05.ld reads the first eight."""
    shown = lanes_of("blackwell_gemm_block_scaled")
    assert shown.title == "SFA and SFB lie in columns 384..407, behind the accumulator"
    panel = next(panel for panel in shown.panels if panel.caption == "C, 2 stages, SFA, SFB")
    assert panel.col_ruler.labels == tuple(str(n) for n in range(0, 408, 8))
    assert [8 * n for n, level in enumerate(panel.col_ruler.levels) if level] == [192, 384, 392]
    for lane in (0, 31, 32, 127):
        row = [shown.paints[p] for p in panel.paints[lane * panel.cols : (lane + 1) * panel.cols]]
        assert [paint.hue for paint in row] == [lane // 32] * 48 + [-1] * 3
        assert [n for n, paint in enumerate(row) if paint.hue >= 0 and not paint.faded] == [0]
    assert HOLE not in panel.paints
    other = next(panel for panel in lanes_of("blackwell_gemm").panels if panel.caption == "C, 2 stages")
    assert [8 * n for n, level in enumerate(other.col_ruler.levels) if level] == [128]


def test_the_matrices_of_ldmatrix_stand_in_their_square() -> None:
    """PTX ISA, ldmatrix.x4: thread 8 i + r gives row r of matrix i; thread t gets columns 2 (t % 4) and the next of row t / 4."""
    for target in ("readme", "slide", "column", "page"):
        source, destination = (place.panel for place in page_of(figure("SM75_U32x4_LDSM_N"), Options(target=target)).panels)
        for panel in (source, destination):
            assert (panel.rows, panel.cols) == (16, 16)
            for row in range(16):
                for col in range(16):
                    matrix, r, c = row // 8 + 2 * (col // 8), row % 8, col % 8
                    wanted = (8 * matrix + r, c) if panel is source else (4 * r + c // 2, 2 * matrix + c % 2)
                    assert (panel.data["thread"][16 * row + col], panel.data["value"][16 * row + col]) == wanted
    grids = [place.grid for place in page_of(figure("SM75_U32x4_LDSM_N"), Options(target="readme")).panels]
    assert len({(grid.cell_w, grid.cell_h) for grid in grids}) == 1


def test_a_comparison_has_one_geometry() -> None:
    """C of one product on three machines: cells of one size, beside each other where there is room."""
    for target in ("readme", "slide", "column", "page"):
        grids = [place.grid for place in page_of(figure("one_product_on_three_machines"), Options(target=target)).panels]
        assert len({(round(grid.cell_w, 3), round(grid.cell_h, 3)) for grid in grids}) == 1, target
        assert target == "column" or len({grid.left for grid in grids}) == 3


@pytest.mark.parametrize("source", KERNELS)
def test_a_terminal_shows_the_first_rows_of_each_lane(source: str) -> None:
    """In 80 columns, without the rows that repeat; the swizzle of 128 bytes puts chunk c of line r at c ^ r."""
    lines = run("render", source, "--for", "terminal").stdout.decode().splitlines()
    assert max(map(len, lines)) <= 80
    start = next(n for n, line in enumerate(lines) if line[1:].startswith(", swizzled: shared, by TMA load, "))
    each = 16 if "scaled" in source else 8
    for r in range(8):
        cells = lines[start + 4 + r].partition("│")[2].split()
        assert cells == [f"{r},{(c ^ r) * each}" for c in range(8)]
    assert "The first 8 rows of each lane are shown." in lines


def test_lanes_with_every_label_are_whole_grids() -> None:
    """`labels=full` shows the coordinate in each cell, the bits of the descriptor below."""
    page = page_of(figure("hopper_gemm"), Options(full=True))
    assert [place.detail.name for place in page.panels] == ["FULL"] * 6
    assert not any(isinstance(item, Line) and item.text in ("TMA load", "wgmma") for item in page.items)
