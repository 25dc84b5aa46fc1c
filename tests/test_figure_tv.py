"""The TV figure: the two views of one mapping, its holes and its owners."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cute_viz import figure
from cute_viz.algebra.inttuple import map_leaves, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import cosize
from cute_viz.errors import FigureError, LimitError
from cute_viz.figures.load import from_dict
from cute_viz.figures.model import HOLE, to_dict
from tests.strategies import shapes

C_FRAGMENT = "((4,8),(2,2)):((32,1),(16,8))"


@st.composite
def tv_maps(draw):
    shape = (draw(shapes(4)), draw(shapes(4)))
    layout = Layout(shape, map_leaves(lambda _: draw(st.integers(0, 9)), shape))
    rows = draw(st.integers(1, 9))
    return layout, (rows, -(-cosize(layout) // rows) + draw(st.integers(0, 2)))


@given(tv_maps())
def test_the_tile_view_is_the_inverse_and_the_table_view_the_map(case):
    layout, (rows, cols) = case
    threads, values = (product(mode) for mode in layout.shape)
    drawn = figure(layout, tile=(rows, cols), view="both")
    tile, table = drawn.panels
    owners = {cell: [] for cell in range(rows * cols)}
    for t in range(threads):
        for v in range(values):
            index = layout(t, v)
            m, n = index % rows, index // rows
            owners[m * cols + n].append((t, v))
            assert (table.data["row"][t * values + v], table.data["column"][t * values + v]) == (m, n)
            assert table.labels[t * values + v] == f"({m},{n})"
    for cell, mine in owners.items():
        first = mine[0] if mine else (None, None)
        assert (tile.data["thread"][cell], tile.data["value"][cell]) == first
        assert tile.labels[cell] == (f"T{first[0]}\nV{first[1]}" if mine else "")
        assert (tile.paints[cell] == HOLE) == (not mine)
    assert dict(tile.owners) == {cell: tuple(mine) for cell, mine in owners.items() if len(mine) > 1}
    assert from_dict(to_dict(drawn)) == drawn


@given(tv_maps())
def test_a_pair_has_one_colour_in_both_views(case):
    layout, tile = case
    drawn = figure(layout, tile=tile, view="both")
    view, table = drawn.panels
    for cell, (t, v) in enumerate(zip(view.data["thread"], view.data["value"], strict=True)):
        if t is not None:
            assert drawn.paints[view.paints[cell]] == drawn.paints[table.paints[t * table.cols + v]]


def test_coordinates_need_no_tile():
    by_index = figure(C_FRAGMENT, tile=(16, 8)).panels[0]
    by_coordinate = figure("((4,8),(2,2)):((2@1,1@0),(1@1,8@0))", view="tv").panels[0]
    assert by_coordinate == by_index
    assert by_index.labels[8 * 8 + 3] == "T1\nV3"


def test_a_nested_view_of_one_thread_in_boxes():
    panel = figure(C_FRAGMENT, tile=(16, 8)).panels[0]
    assert len(panel.boxes) == 64
    assert panel.boxes[0] == (0, 0, 1, 2)
    assert panel.row_ruler.levels[8] == 1
    assert sum(panel.row_ruler.levels) == 1
    column = figure("(4,4):(4,1)", tile=(16, 1)).panels[0]
    assert column.boxes == ((0, 0, 4, 1), (4, 0, 8, 1), (8, 0, 12, 1), (12, 0, 16, 1))


def test_warps_can_be_told_apart():
    drawn = figure("((16,8),8):((64,1),8)", tile=(8, 128))
    hue = [drawn.paints[p].hue for p in drawn.panels[0].paints]
    warps = [t // 32 for t in drawn.panels[0].data["thread"]]
    assert {w: {h for h, x in zip(hue, warps, strict=True) if x == w} for w in range(4)} == {w: {w} for w in range(4)}
    assert [entry.label for entry in drawn.legends[0].entries] == ["warp 0", "warp 1", "warp 2", "warp 3"]
    assert drawn.panels[0].row_ruler.levels == (0, 0, 2, 0, 2, 0, 2, 0, 0)


@pytest.mark.parametrize("color_by", ["thread", "value", "warp", "row", "column", "none"])
def test_colour_tells_of_every_owned_cell(color_by):
    drawn = figure("(8,4):(1,8)", tile=(8, 8), color_by=color_by)
    hues = {drawn.paints[entry.paint].hue for legend in drawn.legends[:1] for entry in legend.entries}
    assert {drawn.paints[p].hue for p in drawn.panels[0].paints if p != HOLE} == (hues or {-1})
    assert drawn.panels[0].paints.count(HOLE) == 32


def test_notes_tell_of_holes_and_owners():
    drawn = figure("(8,4):(0,4)", tile=(4, 8))
    assert len(drawn.notes) == 2
    assert "28 of 32 cells have no owner" in drawn.notes[0]
    assert "up to 8" in drawn.notes[1]
    assert drawn.panels[0].owners[0] == (0, tuple((t, 0) for t in range(8)))
    assert "; the lowest thread is shown" in drawn.notes[1]
    for thread, words in ((2, "a highlighted owner is shown, else the lowest thread"), (0, "the lowest thread is shown")):
        drawn = figure("((2,2),2):((1,0),2)", tile=(2, 2), thread=thread)
        assert drawn.panels[0].labels[0] == f"T{thread}\nV0"
        assert f"; {words}; " in drawn.notes[0]


@pytest.mark.parametrize(
    ("source", "options", "error", "words"),
    [
        (C_FRAGMENT, {"view": "tv"}, FigureError, "give the tile, rows x columns"),
        (C_FRAGMENT, {"tile": (8, 8)}, FigureError, "outside"),
        ("(2,2,2):(1,2,4)", {"tile": (2, 4)}, FigureError, "two modes"),
        ("8:1", {"tile": (2, 4)}, FigureError, "two modes"),
        ("(4,8):(1@0,1@1)", {"tile": (4, 7)}, FigureError, 'tile="4x8"'),
        ("(4,8):(1@2,1@1)", {"view": "tv"}, FigureError, "coordinates"),
        ("(4,8):(-1,4)", {"tile": (4, 8)}, FigureError, "negative"),
        ("(4,8)", {"tile": (10**9, 10**9)}, LimitError, "max_cells="),
        ("(4,1000000)", {"tile": (4, 1000000)}, LimitError, "max_cells="),
        ("(4,8)", {"tile": (4, 8), "color_by": "chunk"}, FigureError, "thread, value"),
    ],
)
def test_what_cannot_be_drawn(source, options, error, words):
    with pytest.raises(error) as caught:
        figure(source, **options)
    assert words in caught.value.explain()


@pytest.mark.parametrize("name", ["SM90_64x256x16_F32F16F16_SS", "SM90_64x256x32_F32E4M3E4M3_SS_TN"])
def test_an_operand_that_all_threads_see_counts_once(name):
    """Its cells, and not each of them for each thread, are held to the limit."""
    drawn = figure(name)
    b = drawn.panels[2]
    assert not any(label.startswith("T") for label in b.labels)
    assert b.data["value"].count(None) == 0
    assert len(set(b.data["value"])) == b.rows * b.cols
    assert set(b.data["thread"]) == {0}
    assert any("B lies in shared memory, which the instruction reads through a descriptor" in note for note in drawn.notes)


def test_what_make_layout_tv_returns_is_drawn_in_its_tile() -> None:
    """The DSL returns the tiler and the layout; its own example: 32 threads of 2 x 2 values, row by row."""
    made = figure("cute.make_layout_tv(cute.make_layout((4,8), stride=(8,1)), cute.make_layout((2,2), stride=(2,1)))")
    assert made.panels == figure("((8,4),(2,2)):((16,2),(8,1))", tile="8x16").panels
