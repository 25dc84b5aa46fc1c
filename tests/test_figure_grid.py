"""The grid figure, held against the layout itself by its JSON."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from cute_viz import figure, render
from cute_viz.algebra.inttuple import product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.table import offsets
from cute_viz.errors import CuteVizError, FigureError, LimitError
from cute_viz.figures.load import from_dict
from cute_viz.figures.model import HOLE, to_dict
from cute_viz.source.text import parse
from tests.strategies import any_layouts


@given(any_layouts())
def test_every_value_is_in_the_grid_once_at_its_coordinate(layout):
    drawn = figure(layout)
    values = offsets(layout)
    column = "offset" if isinstance(values[0], int) else "coordinate"
    seen = {}
    for n, panel in enumerate(drawn.panels):
        for cell, value in enumerate(panel.data[column]):
            r, c = divmod(cell, panel.cols)
            seen[r + panel.rows * (c + panel.cols * n)] = value
            assert panel.labels[cell].replace(" ", "") == str(value).replace(" ", "").replace(",)", ")")
    assert [seen[i] for i in range(product(layout.shape))] == values


@given(any_layouts())
def test_paints_and_legends_account_for_every_cell(layout):
    drawn = figure(layout)
    painted = [p for panel in drawn.panels for p in panel.paints]
    assert HOLE not in painted
    hues = {drawn.paints[entry.paint].hue for entry in drawn.legends[0].entries}
    assert hues == {drawn.paints[p].hue for p in painted}
    assert from_dict(to_dict(drawn)) == drawn


@pytest.mark.parametrize(
    "words", ["Sw<3,0,3> o 0 o (8,8):(8,1)", "Sw<2,1,-3> o 16 o (4,8):(8,1)", "Sw<1,2,3> o 0 o (2,3,4):(32,1,4)"]
)
def test_cells_show_their_offset_before_and_after_the_swizzle(words):
    swizzle, offset, inner = words.split(" o ")
    base, mask = parse(inner), [int(n) for n in swizzle[3:-1].split(",")]
    for panel in figure(words, labels="swizzle").panels:
        assert all(" → " in label for label in panel.labels)
    told = [label.split(" → ") for panel in figure(words, labels="swizzle").panels for label in panel.labels]
    bits, low, shift = mask
    for before, after in told:
        chosen = (int(before) >> (low + max(0, shift))) & ((1 << bits) - 1)
        assert int(after) == int(before) ^ (chosen << (low + max(0, -shift)))
    assert sorted(int(before) for before, _ in told) == sorted(int(offset) + n for n in offsets(base))
    with pytest.raises(FigureError, match="has no swizzle"):
        figure(inner, labels="swizzle")


@pytest.mark.parametrize(
    "words", ["(4,6):(6,1)", "((2,2),(2,4)):((1,4),(2,8))", "Sw<2,0,3> o 0 o (8,8):(8,1)", "(2,3,2):(1,2,6)", "(2,3):(1@0,1@1)"]
)
def test_all_labels_are_those_of_each_word(words):
    def lines(word):
        return [label for panel in figure(words, labels=word).panels for label in panel.labels]

    each = zip(lines("offset"), lines("index"), lines("coord"), strict=True)
    assert [label.split("\n") for label in lines("all")] == [list(three) for three in each]


def test_a_swizzle_shows_in_the_colours():
    plain = figure("(8,64):(64,1)", color_by="offset").panels[0]
    drawn = figure("Sw<3,3,3> o 0 o (8,64):(64,1)").panels[0]
    hues = [[drawn.paints[r * 64 + 8 * c] for c in range(8)] for r in range(8)]
    assert hues == [[c ^ r for c in range(8)] for r in range(8)]
    assert plain.labels[64 + 8] == "72"
    assert drawn.labels[64 + 8] == "64"


def test_tiles_of_hierarchical_modes_are_borders():
    panel = figure("((2,2),(2,4)):((1,4),(2,8))").panels[0]
    assert panel.row_ruler.levels == (0, 0, 1, 0, 0)
    assert panel.col_ruler.levels == (0, 0, 1, 0, 1, 0, 1, 0, 0)
    assert panel.labels[:4] == ("0", "2", "8", "10")
    nested = figure("((2,2),(2,4)):((1,4),(2,8))", coords=True, labels="coord").panels[0]
    assert nested.row_ruler.labels == ("(0,0)", "(1,0)", "(0,1)", "(1,1)")
    assert nested.labels[-1] == "((1,1),(1,3))"


def test_rank_3_is_drawn_as_slices():
    layout = parse("(2,3,(2,2)):(1,2,(6,12))")
    drawn = figure(layout)
    assert [panel.caption for panel in drawn.panels] == ["(_,_,(0,0))", "(_,_,(1,0))", "(_,_,(0,1))", "(_,_,(1,1))"]
    assert drawn.panels[2].labels == tuple(str(layout((r, c, (0, 1)))) for r in range(2) for c in range(3))


def test_rank_1_is_a_column():
    panel = figure("8:2").panels[0]
    assert (panel.rows, panel.cols, panel.labels[7]) == (8, 1, "14")
    assert figure("_8:_2").facts["drawn"] == "(_8,_1):(_2,_0)"
    assert figure("Sw<1,0,1> o 0 o 4:1").facts["drawn"] == "Sw<1,0,1> o 0 o (4,1):(1,0)"


def test_a_flagged_pointer_is_drawn_on_element_offsets():
    drawn = figure("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)")
    assert drawn.facts["drawn"] == "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)"
    assert drawn.source == "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)"


@pytest.mark.parametrize(
    ("color_by", "groups"),
    [("offset", 8), ("mod8", 8), ("row", 4), ("column", 8), ("tile", 8), ("none", 0)],
)
def test_what_colour_can_mean(color_by, groups):
    drawn = figure("((2,2),(2,4)):((1,4),(2,8))", color_by=color_by)
    assert sum(len(legend.entries) for legend in drawn.legends) == groups


@pytest.mark.parametrize(
    ("source", "options", "error"),
    [
        ("(1000000,1000000)", {}, LimitError),
        ("(2,2,1000)", {}, LimitError),
        ("(4,8)", {"color_by": "warp"}, FigureError),
        ("(4,8)", {"color_by": "chunk"}, FigureError),
        ("(4,8):(1@0,1@1)", {"color_by": "offset"}, FigureError),
        ("(4,8)", {"view": "grid", "tile": (4, 8)}, FigureError),
        ("(4,8)", {"view": "cube"}, FigureError),
        ("Sw<3,3,3>", {"view": "grid"}, FigureError),
        ("(4:1,8:1)", {}, FigureError),
        ("(4,8)", {"max_cells": 31}, LimitError),
    ],
)
def test_what_cannot_be_drawn(source, options, error):
    with pytest.raises(error):
        figure(source, **options)


def test_the_model_refuses_what_does_not_fit_together():
    good = to_dict(figure("(2,2)"))
    panel = good["panels"][0]
    for broken in (
        {**good, "cute_viz_figure": 99},
        {k: v for k, v in good.items() if k != "cute_viz_figure"},
        {**good, "extra": 1},
        {k: v for k, v in good.items() if k != "title"},
        {**good, "title": 3},
        {**good, "panels": [{**panel, "labels": ["0"]}]},
        {**good, "panels": [{**panel, "paints": [0, 1, 2, 99]}]},
        {**good, "panels": [{**panel, "paints": [0, 1, 2, "x"]}]},
        {**good, "panels": [{**panel, "rows": 0, "labels": [], "paints": []}]},
        {**good, "panels": {}},
        [],
        None,
    ):
        with pytest.raises(CuteVizError):
            from_dict(broken)


def test_a_layout_with_a_negative_stride():
    assert figure(Layout(3, -2)).panels[0].labels == ("0", "-2", "-4")


def test_halves_of_a_recast_coordinate():
    drawn = figure("(2,2):(1/2@0,1@1)")
    assert drawn.panels[0].labels == ("(0,0)", "(0,1)", "(1/2,0)", "(1/2,1)")
    assert b'"1/2"' in render(drawn, "json")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("place", [0]),
        ("boxes", [[0, 0, 1]]),
        ("boxes", [[0, 0, 9, 9]]),
        ("owners", [[0]]),
        ("owners", [[99, [[0, 0]]]]),
        ("data", {"offset": True}),
        ("row_ruler", {"title": "M", "labels": ["0", "1"], "levels": [0, -5, 0]}),
    ],
)
def test_a_mangled_panel_is_told(key, value):
    good = to_dict(figure("(2,2)"))
    with pytest.raises(FigureError):
        from_dict({**good, "panels": [{**good["panels"][0], key: value}]})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tile": (0, 4)}, "rows and columns"),
        ({"tile": (4, 8, 1)}, "rows and columns"),
        ({"tile": "4"}, "is not a tile"),
        ({"title": 5}, "`title=` must be text"),
        ({"view": 3}, "`view=` must be text"),
        ({"thread": "x"}, "is not a number or a range"),
        ({"thread": 1.5}, "a number or a range"),
        ({"type": 0}, "at least 1 bit wide"),
        ({"max_cells": True}, "1 or more"),
    ],
)
def test_options_of_another_type_are_told(options, words):
    with pytest.raises(CuteVizError) as caught:
        figure("(4,8):(8,1)", **options)
    assert words in caught.value.message


def test_options_may_be_words():
    text, tile = "((4,8),(2,2)):((32,1),(16,8))", (16, 8)
    assert figure(text, tile="16x8", thread="5") == figure(text, tile=tile, thread=5) == figure(text, tile=tile, thread=range(5, 6))


_SAID = re.compile(
    r"hue: offset / (\d+) mod (\d+)(, the bits that \S+ changes)?(?:; \S+ changes bits? (\d+)(?:\.\.(\d+))? of the offset)?"
)


@pytest.mark.parametrize("bits", range(1, 5))
def test_what_a_caption_says_of_a_swizzle_is_true_of_its_values(bits):
    for base in range(4):
        for shift in {bits, -bits, bits + 1, -bits - 1, 4, -4}:
            swizzle = parse(f"Sw<{bits},{base},{shift}>")
            legend = figure(parse(f"Sw<{bits},{base},{shift}> o 0 o (4,8):(8,1)"), color_by="chunk").legends[0].title
            told = _SAID.fullmatch(legend)
            assert told, legend
            changed = 0
            for x in range(1 << (bits + base + abs(shift))):
                changed |= x ^ swizzle(x)
            shown = (int(told[2]) - 1) * int(told[1])
            said = shown if told[3] else sum(1 << n for n in range(int(told[4]), int(told[5] or told[4]) + 1))
            assert said == changed, legend
            assert said & shown == said, legend
