"""What planted mistakes lived through once: where shapes stand, texts that are cut, corners, maps of one row."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cute_viz import Figure, Layout, figure, parse
from cute_viz.algebra.common import refuse
from cute_viz.algebra.inttuple import show, tuple_depth
from cute_viz.errors import CuteVizError, FigureError
from cute_viz.figures.findings import _runs
from cute_viz.figures.load import _is_inside
from cute_viz.figures.paint import steps_of
from cute_viz.renderers.geometry import wrap
from cute_viz.renderers.mpl_canvas import rounded
from cute_viz.source.cpp import read
from cute_viz.source.model import Given

BOARDS = {
    "zoom": lambda: figure("ampere_gemm", view="zoom"),
    "zoom of a tile": lambda: figure("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))", view="zoom"),
    "cube": lambda: figure("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))", view="cube"),
    "steps": lambda: figure("logical_divide((4,8):(8,1), (2,4))", view="steps"),
    "product": lambda: figure("logical_product((2,2):(4,1), 6:1)", view="steps"),
    "path": lambda: figure("Sw<3,3,3> o 0 o (8,64):(64,1)", view="path"),
}


@pytest.mark.parametrize("name", BOARDS)
def test_a_box_is_around_what_it_marks(name: str) -> None:
    """From its upper left to its lower right corner; one of whole cells is on cells that there are."""
    drawn = BOARDS[name]()
    assert isinstance(drawn, Figure)
    for panel in drawn.panels:
        for shape in panel.shapes:
            if shape.kind == "box":
                (x0, y0), (x1, y1) = shape.points
                assert x0 < x1
                assert y0 < y1
        for box in panel.boxes:
            r0, c0, r1, c1 = box[:4]
            assert 0 <= r0 < r1 <= panel.rows
            assert 0 <= c0 < c1 <= panel.cols


@given(st.text("ab_ ,:()", max_size=200), st.integers(8, 40), st.booleans())
def test_lines_of_a_text_hold_all_of_it(text: str, most: int, commas: bool) -> None:
    lines = wrap(text, most, 1, commas)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(len(line) <= most + (commas and line[-1:] in ",:") for line in lines)
    tight = wrap("a" * 6 + ", " + "b" * 20, 12, 1, True)
    assert tight[0] == "aaaaaa,"


@given(*[st.integers(0, 50)] * 2, *[st.integers(8, 90)] * 2, st.integers(1, 4))
def test_a_round_box_stays_in_its_corners(x: int, y: int, w: int, h: int, r: int) -> None:
    """Each point is on an edge, r from a corner or at it; there are eight of the former."""
    points = [tuple(map(float, point)) for point in rounded(x, y, w, h, r).vertices]
    corners = set(product((x, x + w), (y, y + h)))
    near = {(cx, cy + dy) for cx, cy in corners for dy in ((r,) if cy == y else (-r,))}
    near |= {(cx + dx, cy) for cx, cy in corners for dx in ((r,) if cx == x else (-r,))}
    assert set(points) == corners | near


def test_a_map_of_one_row_has_one_row() -> None:
    drawn = figure("(4,2):(1@1,4@1)", view="tv")
    assert [(panel.rows, panel.cols) for panel in drawn.panels][-1] == (1, 8)


@given(st.lists(st.integers(0, 63), unique=True, max_size=20).map(sorted), st.sampled_from((1, 8)))
def test_runs_of_cells(cells: list[int], step: int) -> None:
    """Naively: cut before each cell that does not follow in its line."""
    cuts = [n for n, cell in enumerate(cells) if not n or cell != cells[n - 1] + step or (step == 1 and cell % 8 == 0)]
    assert _runs(cells, 8, step) == [b - a for a, b in pairwise([*cuts, len(cells)])]


@given(st.tuples(*[st.integers(-1, 6)] * 4))
def test_a_box_inside_has_cells_and_all_are_of_the_panel(box: tuple[int, int, int, int]) -> None:
    panel = figure("(4,5)").panels[0]
    cells = set(product(range(box[0], box[2]), range(box[1], box[3])))
    assert _is_inside(box, panel) == (bool(cells) and cells <= set(product(range(4), range(5))))


def test_an_arrow_of_a_note_has_both_ends_and_a_note_200_letters() -> None:
    assert figure("(4,8):(8,1)", note="(0,0) -> (3,4): far").notes_on[0].boxes == ((0, 0, 1, 1), (3, 4, 4, 5))
    assert figure("(4,8):(8,1)", note=f"(0,0): {'a' * 200}").notes_on
    with pytest.raises(FigureError):
        figure("(4,8):(8,1)", note=f"(0,0): {'a' * 201}")
    with pytest.raises(FigureError):
        figure("(4,8):(8,1)", note="(0,0) -> (4,4): no such cell")


@pytest.mark.parametrize(("text", "said"), [("8:1", "Contiguous"), ("8:2", "Strided"), ("(8):(1)", "Contiguous")])
def test_a_path_of_one_mode_is_one_row_and_named(text: str, said: str) -> None:
    drawn = figure(text, view="path")
    assert (drawn.panels[0].rows, drawn.panels[0].cols) == (1, 8)
    assert drawn.title.startswith(said)


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 9)), min_size=1, max_size=4))
def test_steps_of_modes_of_one_place_are_none(pairs: list[tuple[int, int]]) -> None:
    shape, stride = zip(*pairs, strict=True)
    assert steps_of(Layout(shape, stride)) == tuple(step for extent, step in pairs if extent != 1)


@pytest.mark.parametrize(("operation", "expected"), [("size", "32"), ("layout", "(4,8):(1,4)")])
def test_an_operation_on_a_tensor_is_as_of_its_layout(operation: str, expected: str) -> None:
    assert show(parse(f"{operation}(make_tensor(make_gmem_ptr<float>(0), (4,8):(1,4)))")) == expected


def test_cosize_is_of_layouts_as_in_cute() -> None:
    """layout.hpp has it of layouts only; the DSL has it of tensors, too."""
    with pytest.raises(CuteVizError, match="CuTe has cosize of layouts"):
        parse("cosize(make_tensor(make_gmem_ptr<float>(0), (4,8):(1,4)))")
    assert show(parse("cosize(layout(make_tensor(make_gmem_ptr<float>(0), (4,8):(1,4))))")) == "32"


@given(st.recursive(st.integers(0, 9), lambda inner: st.lists(inner, max_size=3).map(tuple)))
def test_the_depth_of_a_tuple_is_that_of_its_parentheses(value: object) -> None:
    open_ = [str(value)[: n + 1].count("(") - str(value)[:n].count(")") for n in range(len(str(value)))]
    assert tuple_depth(value) == max(open_)


def test_a_number_that_is_too_long_to_print_is_refused_in_words() -> None:
    with pytest.raises(CuteVizError, match="more digits than are printed"):
        refuse("complement", (Layout(4, 10**5000),), "too far apart")


def test_errors_of_one_file_share_its_text() -> None:
    """Hundreds that are kept, of a header of half a megabyte with what is read behind it, took 500 MB."""
    text = (
        "".join(f"using A{n} = Layout<B{n}>;\n" for n in range(3))
        + "auto L = cutlass::detail::TagToStrideA_t<cutlass::layout::RowMajor>{};\n"
    )
    helped, *others = read(text, Given()).entries[::-1]
    helped.read()
    texts = []
    for entry in others:
        with pytest.raises(CuteVizError) as caught:
            entry.read()
        texts.append(caught.value.text)
    assert len(texts) == 3
    assert all(one == text for one in texts)
    assert len(set(map(id, texts))) == 1
