"""Text of what print_layout cannot draw, read back; and colour that changes no character."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from cute_viz import figure, render
from cute_viz.renderers import Options
from cute_viz.renderers import render as write
from tests.commands import run
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


@pytest.mark.parametrize("color", ["never", "always"])
@pytest.mark.parametrize("columns", [40, 80, 120])
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("((16,8),8):((64,1),8)", ["--tile", "8x128"]),
        ("(4,64):(64,1)", []),
        ("Sw<3,3,3> o 0 o (8,64):(64,1)", []),
        ("SM80_16x8x16_F32F16F16F32_TN", []),
        ("SM90_64x128x16_F32F16F16_SS", ["--operand", "C"]),
    ],
)
def test_a_terminal_holds_every_line_and_every_owner(source, words, columns, color):
    """The cells of all bands together are those of the panel; a box is one cell where it would not fit otherwise."""
    done = run("render", source, *words, "--for", "terminal", "--color", color, env={"COLUMNS": str(columns)})
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout.decode())
    assert max(map(len, text.splitlines())) <= columns
    shown = re.sub(r"[^\w-]+", " ", text).split()
    for panel in figure(source, **{"tile": "8x128"} if words[:1] == ["--tile"] else {}).panels:
        if "thread" in panel.data and "--operand" not in words:
            assert {f"T{t}" for t in panel.data["thread"]} <= set(shown)
        if source.startswith("(4,64)"):
            assert set(map(str, panel.data["offset"])) <= set(shown)


def test_a_pipe_gets_every_column():
    assert max(map(len, run("render", "(4,64):(64,1)").stdout.decode().splitlines())) > 300
    assert run("render", "(4,8)", "--bare").stdout.decode().startswith("(4,8):(1,4)\n")
