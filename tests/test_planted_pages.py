"""What planted mistakes of pages lived through once: cells that become one, excerpts, widths of a terminal, bars of frames."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cute_viz import figure
from cute_viz.algebra.layout import Layout
from cute_viz.errors import CuteVizError
from cute_viz.figures.bulk import _notes
from cute_viz.figures.compare import difference
from cute_viz.figures.frames import _FIRST, _IDLE, _LATER, _whole
from cute_viz.figures.heat import heat
from cute_viz.figures.model import Figure, Legend, LegendEntry, Note, Paint, Panel, Ruler
from cute_viz.figures.options import FigureOptions
from cute_viz.limits import raised
from cute_viz.renderers import Options, render
from cute_viz.renderers.frame import CHAR, FONT
from cute_viz.renderers.inline import BESIDE, framed
from cute_viz.renderers.levels import excerpts
from cute_viz.renderers.names import group_marks
from cute_viz.renderers.narrow import merged
from cute_viz.renderers.primitives import Grid, Path
from cute_viz.renderers.remarks import BRACE, INSET, _marks
from cute_viz.values.instruction import Instruction
from tests.test_views import object_of


@given(*[st.integers(1, 3)] * 4, st.booleans())
def test_boxes_that_fill_a_panel_become_its_cells(high: int, wide: int, down: int, right: int, gap: bool) -> None:
    """Each cell has the label and the paint of its box; rulers keep the labels where boxes begin. None without a box."""
    rows, cols = down * high, right * wide
    owner = [(r // high) * right + c // wide for r, c in product(range(rows), range(cols))]
    boxes = [(r * high, c * wide, (r + 1) * high, (c + 1) * wide) for r, c in product(range(down), range(right))]
    panel = Panel(
        rows=rows,
        cols=cols,
        labels=tuple(f"T{n}" for n in owner),
        paints=tuple(owner),
        boxes=tuple(boxes[:-1] if gap else boxes),
        row_ruler=Ruler("row", tuple(map(str, range(rows)))),
        col_ruler=Ruler("col", tuple(map(str, range(cols)))),
    )
    small = merged(panel)
    if gap:
        assert small is None
        return
    assert small is not None
    assert (small.rows, small.cols, small.boxes) == (down, right, ())
    assert small.labels == tuple(f"T{n}" for n in range(down * right))
    assert small.paints == tuple(range(down * right))
    assert [label.partition("-")[0].partition("..")[0] for label in small.row_ruler.labels] == [str(r * high) for r in range(down)]
    assert [label.partition("-")[0].partition("..")[0] for label in small.col_ruler.labels] == [str(c * wide) for c in range(right)]


@pytest.mark.parametrize(("rows", "cols"), [(128, 64), (8, 64), (100, 3), (24, 20), (9, 5)])
@pytest.mark.parametrize("other", ["({0},{1}):(1,{0})", "({0},{1}):({2},1)"])
def test_excerpts_hold_the_first_cell_that_differs_and_say_where_they_are(rows: int, cols: int, other: str) -> None:
    whole = difference(figure(f"({rows},{cols}):({cols},1)"), figure(other.format(rows, cols, cols + 1)))
    flags = next(panel.data["differs"] for panel in whole.panels if any(panel.data["differs"]))
    r, c = divmod(flags.index(1), cols)
    parts = list(excerpts(whole))
    sizes = [(part.panels[0].rows, part.panels[0].cols) for part in parts]
    assert sizes == sorted(sizes, reverse=True)
    assert bool(parts) == (rows > 8 or cols > 4)
    assert not parts or (sizes[-1][0] <= 8 and sizes[-1][1] <= 4)
    for part in parts:
        for panel, before in zip(part.panels, whole.panels, strict=True):
            top, left = r // panel.rows * panel.rows, c // panel.cols * panel.cols
            words = [f"rows {top}..{top + panel.rows - 1} of {rows}"] * (panel.rows < rows)
            words += [f"columns {left}..{left + panel.cols - 1} of {cols}"] * (panel.cols < cols)
            assert panel.caption == ": ".join(filter(None, (before.caption, ", ".join(words))))
            inside = product(range(top, top + panel.rows), range(left, left + panel.cols))
            assert panel.paints == tuple(before.paints[i * cols + j] for i, j in inside)


@given(st.sampled_from(("(4,8):(8,1)", "(3,12):(12,1)", "(2,40):(40,1)")), st.integers(10, 300))
def test_a_table_of_offsets_is_whole_where_it_has_room(source: str, columns: int) -> None:
    """CuTe's own table has five columns for the rows, and each cell the digits of the largest size, a space, a bar and a space."""
    drawn = figure(source)
    lines = render(drawn, "text", Options(columns=columns, bare=True)).decode().splitlines()
    table = render(drawn, "text", Options(bare=True)).decode().splitlines()
    whole = 5 + drawn.panels[0].cols * (len(str(drawn.facts["cosize"])) + 3)
    assert (lines == table) == (whole <= columns)
    assert max(map(len, table)) == whole


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(0, 5))
def test_a_bar_of_frames_has_a_cell_for_each_wavefront(costs: list[int], idle: int) -> None:
    panel = _whole("heading", costs, sum(costs) + idle, (0, 0))
    told = [_FIRST if not wave else _LATER for cost in costs for wave in range(cost)]
    assert panel.paints == (*told, *[_IDLE] * idle)
    assert panel.labels == (*map(str, range(1, len(told) + 1)), *[""] * idle)
    starts = {sum(costs[:n]) for n in range(1, len(costs))} | ({len(told)} if idle else set())
    assert [n for n, level in enumerate(panel.col_ruler.levels) if level] == sorted(starts)
    assert panel.caption.startswith("heading, ")
    assert ("the whole" in panel.caption) == (len(costs) == 1)
    assert panel.caption.endswith(f": {len(told)} wavefront{'s' * (len(told) > 1)}")


@pytest.mark.parametrize(("bits", "lines"), [(8 * 128 * 8, 8), (8 * 128 * 8 + 8, 9), (8 * 128 * 64, 64)])
def test_lines_of_a_bulk_copy_that_are_not_shown_are_counted(bits: int, lines: int) -> None:
    notes = _notes(Instruction("SM90_BULK_COPY_G2S", kind="cp.async.bulk"), bits, 1, "")
    assert any(f"of {lines} lines of 128 bytes" in note for note in notes) == (lines > 8)


def test_an_image_has_at_most_the_cells_of_its_limit() -> None:
    layout = Layout((32, 64), (64, 1))
    with raised({"image-cells": 2048}):
        assert heat(layout, FigureOptions()).panels[0].rows == 32
    with raised({"image-cells": 2047}), pytest.raises(CuteVizError, match="2048 cells; the limit is 2047"):
        heat(layout, FigureOptions())


def of_one_paint(
    paint: Paint, name: str, rows: int, cols: int, label: str, boxes: tuple[tuple[int, int, int, int], ...] = ()
) -> Figure:
    """A figure of one panel of one paint, which the legend names."""
    panel = Panel(
        rows=rows,
        cols=cols,
        labels=(label,) * (rows * cols),
        paints=(0,) * (rows * cols),
        boxes=boxes,
        row_ruler=Ruler("", ("",) * rows, (0,) * (rows + 1)),
        col_ruler=Ruler("", ("",) * cols, (0,) * (cols + 1)),
    )
    legend = Legend("hue: tile", (LegendEntry(0, name),))
    return Figure(kind="grid", title="", paints=(paint,), legends=(legend,), panels=(panel,))


@given(*[st.integers(1, 4)] * 2, st.sampled_from(((3.0, 18.0), (1.0, 11.0), (8.0, 24.0))), st.floats(10, 60), st.floats(4, 60))
@pytest.mark.parametrize("name", ["warp 0", "128..255", "T0"])
def test_the_name_of_a_group_stands_where_its_letters_have_room(
    name: str, rows: int, cols: int, least: tuple[float, float], w: float, h: float
) -> None:
    """In one line, or in two of 12 px; never in less than that and the room at its ends."""
    drawn = of_one_paint(Paint(0), name, rows, cols, "a")
    panel = drawn.panels[0]
    split = {"warp 0": ("warp", "0"), "128..255": ("128..", "255")}
    ways = [lines for lines in ((name,), split.get(name)) if lines]
    letter = FONT * CHAR
    fitting = [
        lines
        for lines in ways
        if cols * w >= max(map(len, lines)) * letter + least[0]
        and rows * h >= least[1] + 12 * (len(lines) - 1)
        and cols * w >= letter + least[0]
    ]
    marks = group_marks(drawn, panel, w, h, least)
    assert [(mark.lines, mark.r0, mark.c0, mark.r1, mark.c1) for mark in marks] == [
        (lines, 0, 0, rows, cols) for lines in fitting[:1]
    ]


@given(*[st.integers(1, 3)] * 2, st.sampled_from(((3.0, 18.0), (1.0, 11.0))), st.floats(5, 40), st.floats(4, 40), st.booleans())
def test_labels_of_boxes_stand_where_all_of_them_have_room(
    rows: int, cols: int, least: tuple[float, float], w: float, h: float, two: bool
) -> None:
    label = "core\n12" if two else "core"
    drawn = of_one_paint(
        Paint(-1), "two, of which none is named", 2 * rows, cols, label, ((0, 0, rows, cols), (rows, 0, 2 * rows, cols))
    )
    panel = drawn.panels[0]
    fits = cols * w >= 4 * FONT * CHAR + least[0] and rows * h >= least[1] + 12 * two
    shown = [mark.lines for mark in group_marks(drawn, panel, w, h, least)]
    assert (shown == [tuple(label.split("\n"))] * 2) == fits, shown


@pytest.mark.parametrize(
    ("page", "high"),
    [('<svg width="9" height="10">', 10), ('<svg height="120.5">', 120), ("<p>", 400), ('<svg height="2000">', None)],
)
def test_a_frame_is_as_high_as_its_picture(page: str, high: int | None) -> None:
    found = re.search(r"height:(\d+)px", framed(page, "a"))
    assert found is not None
    assert int(found[1]) == (900 if high is None else high + BESIDE)


def test_a_brace_opens_towards_what_it_holds() -> None:
    """On the right of some rows, below all rows of some columns: three sides, the ends 3 px from the cells."""
    grid = Grid(4, 6, 10, 20, 30, 25)
    for boxes, edge, axis in (((1, 0, 3, 6), 10 + 6 * 30 - INSET, 0), ((0, 2, 4, 5), 20 + 4 * 25 - INSET, 1)):
        (path,) = [item for item in _marks(Note(0, "brace rows", "words", (boxes,)), grid) if isinstance(item, Path)]
        (line,) = path.lines
        assert [point[axis] for point in line] == [edge + 3, edge + BRACE, edge + BRACE, edge + 3]
        low, high = (20 + 25 + INSET, 20 + 75 - INSET) if axis == 0 else (10 + 60 + INSET, 10 + 150 - INSET)
        assert [point[1 - axis] for point in line] == [low, low, high, high]
    (outline,) = [item for item in _marks(Note(0, "(1,2)", "words", ((1, 2, 2, 3),)), grid) if isinstance(item, Path)]
    assert outline.lines == [
        [
            (70 + INSET, 45 + INSET),
            (100 - INSET, 45 + INSET),
            (100 - INSET, 70 - INSET),
            (70 + INSET, 70 - INSET),
            (70 + INSET, 45 + INSET),
        ]
    ]


def test_a_note_stands_on_stages_whose_paints_the_page_adds() -> None:
    drawn = figure(object_of("a thread's stages"), note="thread 0: first")
    assert isinstance(drawn, Figure)
    assert b"first</text>" in render(drawn, "svg")
