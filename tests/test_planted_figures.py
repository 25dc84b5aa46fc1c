"""What planted mistakes of figures lived through once, by what is so of every picture."""

from __future__ import annotations

import json
from functools import cache
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cute_viz import Figure, figure, parse
from cute_viz.algebra.gemm import make_gemm
from cute_viz.errors import CuteVizError, FigureError
from cute_viz.figures.follow_steps import shared_of
from cute_viz.figures.load import from_json
from cute_viz.figures.model import HOLE
from cute_viz.limits import raised
from cute_viz.renderers import render
from tests.test_views import OBJECTS, object_of, views

MMA = "SM80_16x8x16_F32F16F16F32_TN"
KEPT = [("a descriptor", {}), ("a GEMM", {}), (MMA, {}), ("a pipeline", {}), ("rank 3", {}), ("a TMA copy", {})]


@cache
def pictures() -> list[tuple[str, Figure]]:
    """Each object in each of its views."""
    out = []
    for name in OBJECTS:
        for words in views(name):
            drawn = figure(object_of(name), **words)
            assert isinstance(drawn, Figure)
            out.append((f"{name} {words}", drawn))
    return out


def of(name: str) -> Figure:
    drawn = figure(object_of(name) if name in OBJECTS else name)
    assert isinstance(drawn, Figure)
    return drawn


@pytest.mark.slow
def test_panels_have_places_of_their_own_without_gaps() -> None:
    for name, drawn in pictures():
        places = [panel.place for panel in drawn.panels]
        if len(places) > 1 and len(set(places)) == 1:
            continue  # a board, whose shapes say where they are
        assert len(set(places)) == len(places), name
        rows, columns = (sorted(set(used)) for used in zip(*places, strict=True))
        assert columns == list(range(len(columns))), (name, places)
        if not name.startswith("operands"):  # whose operands are around a corner
            assert rows == list(range(len(rows))), (name, places)


@pytest.mark.slow
def test_every_number_of_a_picture_is_of_something_that_it_has() -> None:
    """Paints, cells of owners, boxes and arrows, levels of borders, labels."""
    for name, drawn in pictures():
        for panel in drawn.panels:
            cells = panel.rows * panel.cols
            assert len(panel.paints) == cells, name
            assert all(paint == HOLE or 0 <= paint < len(drawn.paints) for paint in set(panel.paints)), name
            assert len(panel.labels) in (0, cells), name
            for ruler, count in ((panel.row_ruler, panel.rows), (panel.col_ruler, panel.cols)):
                assert len(ruler.labels) in (0, count), name
                assert len(ruler.levels) in (0, count + 1), name
            assert all(0 <= cell < cells for cell, _ in panel.owners), name
            for r0, c0, r1, c1 in panel.boxes:
                assert 0 <= r0 < r1 <= panel.rows, name
                assert 0 <= c0 < c1 <= panel.cols, name
            for r0, c0, r1, c1 in panel.arrows:
                assert {r0, r1} <= set(range(panel.rows)), name
                assert {c0, c1} <= set(range(panel.cols)), name
            assert all(len(column) == cells for column in panel.data.values()), name


@pytest.mark.slow
def test_a_picture_is_the_same_after_its_json() -> None:
    for name, drawn in pictures():
        text = render(drawn, "json").decode()
        assert render(from_json(text), "json").decode() == text, name


def bent(text: str, field: str, value: object) -> str:
    """A figure whose first panel with such a field holds something else in its first place."""
    data = json.loads(text)
    panel = next(panel for panel in data["panels"] if panel[field])
    panel[field][0] = value
    return json.dumps(data)


@pytest.mark.parametrize(("name", "field"), [("SM75_U32x4_LDSM_N", "boxes"), ("a descriptor", "arrows"), ("(8,4):(0,4)", "owners")])
@pytest.mark.parametrize(
    "value", [5, "x", [], [0, 0], [0, 0, 1, "a"], [0, 0, 1.5, 1], [-1, 0, 1, 1], [0, 0, 1, 10**6], [0, [0, 0], 1], None]
)
def test_a_panel_with_something_else_is_refused(name: str, field: str, value: object) -> None:
    drawn = figure("(8,4):(0,4)", tile=(4, 8)) if field == "owners" else figure(name, thread=0) if field == "boxes" else of(name)
    text = render(drawn, "json").decode()
    assert from_json(text)
    with pytest.raises(FigureError):
        from_json(bent(text, field, value))


@pytest.mark.parametrize("source", [MMA, "((4,8),(2,2)):((32,1),(16,8))", "((16,8),8):((64,1),8)"])
@given(st.data())
def test_a_note_of_a_thread_outlines_its_cells_in_runs(source: str, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, 31))
    drawn = figure(
        source, note=f"T{first}: mine", **({} if source == MMA else {"tile": (8, 128) if "16,8" in source[:8] else (16, 8)})
    )
    assert isinstance(drawn, Figure)
    for note in drawn.notes_on:
        panel = drawn.panels[note.panel]
        column = panel.data.get("thread", ())
        cells = {divmod(n, panel.cols) for n, value in enumerate(column) if value == first}
        covered = [cell for r0, c0, r1, c1 in note.boxes for cell in product(range(r0, r1), range(c0, c1))]
        assert len(covered) == len(set(covered))
        assert set(covered) == cells
        ends = {(r0, c1, r1) for r0, _, r1, c1 in note.boxes}
        assert not any((r0, c0, r1) in ends for r0, c0, r1, _ in note.boxes)  # or they would be one


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("operand", "AB")
def test_the_tile_of_a_gemm_is_its_first_stage(stages: int, operand: str) -> None:
    tiled = parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))")
    staged, plain = parse(f"(64,64,{stages}):(64,1,4096)"), parse("(64,64):(64,1)")
    found, wanted = (shared_of(make_gemm(tiled, (64, 64, 64), layout), operand) for layout in (staged, plain))
    assert [found.chunk((i, j)) for i in range(0, 64, 7) for j in range(0, 64, 8)] == [
        wanted.chunk((i, j)) for i in range(0, 64, 7) for j in range(0, 64, 8)
    ]


@pytest.mark.parametrize(("source", "words", "limit", "count"), [
    ("(64,64,2):(64,1,4096)", {"view": "grid", "labels": "none"}, "slices", 2),
    ("(2,2,2):(4,2,1)", {}, "modes", 3),
])  # fmt: skip
def test_a_limit_is_the_most_that_is_taken(source: str, words: dict[str, str], limit: str, count: int) -> None:
    with raised({limit: count}):
        assert figure(source, **words)
    with raised({limit: count - 1}), pytest.raises(CuteVizError, match=rf"{count - 1}"):
        figure(source, **words)
