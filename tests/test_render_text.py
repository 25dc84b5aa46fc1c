"""Text of what print_layout cannot draw, read back; and colour that changes no character."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given

from cute_viz import figure, render
from cute_viz.figures.trim import lying
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


@given(any_layouts())
def test_a_light_grid_has_a_line_for_each_row(layout):
    """Every label is in its cell, and what is not a row is a head or a rule between blocks: fewer of them than rows."""
    drawn = figure(layout)
    for panel in lying(drawn).panels:
        text = write(replace(drawn, panels=(panel,)), "text", Options(target="terminal", bare=True)).decode()
        lines = [line for line in text.split("┌")[1].splitlines()[1:] if line]
        rows = [line.split("│", 1)[1].replace("│", " ").split() for line in lines if "│" in line]
        assert [label for row in rows for label in row] == list(panel.labels)
        assert len(rows) == panel.rows
        assert 2 * (len(lines) - len(rows)) < max(2, len(rows))


def test_rules_are_between_blocks_only():
    text = render("((2,2),(2,2))", "text", target="terminal", bare=True).decode()
    assert text.split("→\n")[1] == (
        "mode 0  0  1  2  3\n      ┌─────┬─────\n     0│ 0  4│ 8 12\n     1│ 1  5│ 9 13\n"
        "      ├─────┼─────\n     2│ 2  6│10 14\n     3│ 3  7│11 15\n"
    )
    thin = run("render", "logical_divide((8,6),(1,3))", "--for", "terminal").stdout.decode()  # tiles of one row
    assert ("┬" in thin, "├" in thin) == (True, False)


def test_what_has_one_mode_lies():
    lines = run("render", "16:1", "--for", "terminal", "--bare", env={"COLUMNS": "80"}).stdout.decode().splitlines()
    assert [line.split("│")[1].split() for line in lines if "│" in line] == [[str(n) for n in range(16)]]


def test_the_bytes_of_print_layout_go_into_a_pipe():
    plain, light = (run("render", "(4,8):(8,1)", *words).stdout.decode() for words in ([], ["--for", "terminal"]))
    assert plain == run("render", "(4,8):(8,1)", "-T", "text", env={"COLUMNS": "40"}).stdout.decode()
    assert plain == write(figure("(4,8):(8,1)"), "text", Options(columns=80)).decode()  # of a terminal that nobody named
    assert (plain.count("+----+"), light.count("+")) == (20, 0)
    styled = run("render", "(4,8):(8,1)", "--for", "terminal", "--style", "cutlass").stdout.decode()
    assert styled == plain


def test_an_operation_in_a_terminal_is_its_operands_and_result():
    """A and its first tile beside each other, the result below; a pipe gets CuTe's print of the result."""
    words = "render", "logical_divide((8,6),(4,3))"
    lines = run(*words, "--for", "terminal", env={"COLUMNS": "80"}).stdout.decode().splitlines()
    heads = [line.split() for line in lines if "):(" in line]
    assert [head[0] for head in heads] == ["A:", "result:"]
    assert heads[0][2:] == ["first", "tile:", "(4,3):(1,8)"]
    assert max(map(len, lines)) <= 80
    assert run(*words).stdout.decode().startswith("((4,2),(3,2)):((1,4),(8,24))\n       0")
    narrow = run(*words, "--for", "terminal", env={"COLUMNS": "40"}).stdout.decode().splitlines()
    assert [line.split(":")[0] for line in narrow if "):(" in line] == ["A", "first tile", "result"]


def test_a_line_is_cut_only_where_it_is_full():
    """64 elements in 8 vectors a row have room in 80 columns."""
    done = run("render", "Sw<3,3,3> o 0 o (8,64):(64,1)", "--for", "terminal", env={"COLUMNS": "80"})
    rows = [line.split("│")[1].split() for line in done.stdout.decode().splitlines() if "│" in line]
    assert [len(row) for row in rows] == [8] * 8
    assert rows[1][:2] == ["72-79", "64-71"]
