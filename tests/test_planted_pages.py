"""What planted mistakes of pages lived through once: cells that become one, excerpts, widths of a terminal, bars of frames."""

from __future__ import annotations

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
from cute_viz.figures.model import Panel, Ruler
from cute_viz.figures.options import FigureOptions
from cute_viz.limits import raised
from cute_viz.renderers import Options, render
from cute_viz.renderers.levels import excerpts
from cute_viz.renderers.narrow import merged
from cute_viz.values.instruction import Instruction


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
    notes = _notes(Instruction("SM90_BULK_COPY_G2S", kind="cp.async.bulk"), bits, 1)
    assert any(f"of {lines} lines of 128 bytes" in note for note in notes) == (lines > 8)


def test_an_image_has_at_most_the_cells_of_its_limit() -> None:
    layout = Layout((32, 64), (64, 1))
    with raised({"image-cells": 2048}):
        assert heat(layout, FigureOptions()).panels[0].rows == 32
    with raised({"image-cells": 2047}), pytest.raises(CuteVizError, match="2048 cells; the limit is 2047"):
        heat(layout, FigureOptions())
