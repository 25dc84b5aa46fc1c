"""Text of what print_layout cannot draw, read back; and colour that changes no character."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from cute_viz import figure, render
from cute_viz.renderers import Options
from cute_viz.renderers import render as write
from tests.strategies import any_layouts

ESCAPES = re.compile(rb"\x1b\[[0-9;]*m")


def cells(text: str) -> list[list[str]]:
    """The cells of every grid row of a text."""
    rows = [line.split("|", 1)[1].replace("‖", "|") for line in text.splitlines() if "|" in line]
    return [[cell.strip() for cell in row.split("|")[:-1]] for row in rows]


@given(any_layouts())
def test_every_label_is_in_its_cell(layout):
    drawn = figure(layout)
    rows = cells(render(drawn).decode())
    expected = [list(panel.labels[r * panel.cols : (r + 1) * panel.cols]) for panel in drawn.panels for r in range(panel.rows)]
    assert rows == expected


def test_a_tv_map():
    drawn = figure("(8,4):(0,4)", tile=(4, 8))
    rows = cells(render(drawn).decode())
    assert rows[0][:5] == ["T0 V0 ×8", "T0 V1 ×8", "T0 V2 ×8", "T0 V3 ×8", "·"]
    assert rows[1] == ["·"] * 8
    text = render(drawn).decode()
    assert "the inverse of the TV layout" in text
    assert "28 of 32 cells have no owner" in text


def test_tile_borders():
    text = render("((2,2),(2,2),2)", "text").decode()
    assert "+==" in render("((2,2),(2,2),2)", "text").decode()
    assert "‖" in text


def test_slices_are_labelled():
    text = render("(2,2,(2,2))", "text").decode()
    assert [f"(_,_,({i},{j}))" in text for j in range(2) for i in range(2)] == [True] * 4


@pytest.mark.parametrize(
    ("source", "options"),
    [("(4,8):(8,1)", {}), ("(8,4):(0,4)", {"tile": (4, 8), "view": "both"}), ("(2,3,4)", {"labels": "coord"})],
)
def test_colour_adds_escapes_and_a_legend_only(source, options):
    plain = render(source, "text", **options).decode()
    coloured = write(figure(source, **options), "text", Options(color=True))
    assert coloured.count(b"\x1b[") > 10
    stripped = ESCAPES.sub(b"", coloured).decode()
    assert all(line in stripped for line in plain.splitlines())


def test_nothing_in_a_title_commands_the_terminal():
    text = render(figure("(2,2,2)", title="a\x1b[31m\x07\x9b\x00b\ud800")).decode()
    assert text.isascii() or all(c.isprintable() or c == "\n" for c in text)
    assert "\x1b" not in text
