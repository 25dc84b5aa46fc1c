"""Whole pictures of one idea each, down to their rulers, shapes and words, beside what is worked out here from the rules alone."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cute_viz import Figure, figure, parse
from cute_viz.errors import CuteVizError, FigureError
from cute_viz.figures.compare import difference, side_by_side
from cute_viz.figures.matrix import bases
from cute_viz.figures.model import CONFLICT, HOLE, Panel, Shape
from cute_viz.figures.options import FigureOptions
from tests.test_boards import simulated

Cell = tuple[int, int]


def cells_of(box: Sequence[int]) -> set[Cell]:
    return set(itertools.product(range(box[0], box[2]), range(box[1], box[3])))


def texts(panel: Panel, kind: str = "text") -> list[Shape]:
    return [shape for shape in panel.shapes if shape.kind == kind]


def drawn(source: str, **words: Any) -> Figure:
    found = figure(source, **words)
    assert isinstance(found, Figure)
    return found


# The pipeline.


@pytest.mark.parametrize(
    ("stages", "words"),
    [
        (4, {"tiles": 8}),
        (3, {"tiles": 9}),
        (1, {"tiles": 3, "load": 2}),
        (2, {"tiles": 37}),
        (2, {"tiles": 38}),
        (4, {"tiles": 43}),
        (4, {"tiles": 44}),
        (3, {"tiles": 60, "load": 4}),
        (4, {"tiles": 4, "work": 4, "consumers": 2, "epilogue": 4}),
        (2, {"tiles": 2, "work": 2, "load": 6}),
        (2, {"tiles": 4, "work": 2, "consumers": 2}),
        (8, {"tiles": 2, "epilogue": 0}),
        (32, {"tiles": 3, "load": 1}),
    ],
)
def test_all_of_a_pipeline_is_that_of_its_rules(stages: int, words: dict[str, int]) -> None:
    found = drawn(str(stages), view="pipeline", schedule=",".join(f"{name}={number}" for name, number in words.items()))
    (panel,) = found.panels
    rows, consumers = simulated(stages, **words), words.get("consumers", 1)
    slots = len(rows[0])
    shown = [*range(slots)] if slots <= 48 else [*range(26), *range(slots - 14, slots)]
    assert panel.col_ruler.labels == tuple(map(str, shown))
    assert panel.col_ruler.levels == (0, *[int(b - a > 1) for a, b in itertools.pairwise(shown)], 0)
    assert (f"Slots 26 to {slots - 15} of {slots} are left out." in found.notes) == (slots > 48)
    names = [
        "producer",
        *[f"stage {n}" for n in range(stages)],
        *([f"MMA {n}" for n in range(consumers)] if consumers > 1 else ["MMA"]),
    ]
    assert panel.row_ruler.labels == tuple(names)
    assert panel.row_ruler.levels == tuple([int(n in (1, 1 + stages)) for n in range(len(names) + 1)])
    paper, loads, full, reads, stores, first_wait, late = found.paints
    assert (paper.hue, late.hue, loads) == (-1, CONFLICT, replace(full, faded=True))
    assert first_wait == replace(late, faded=True)
    assert len({paint.hue for paint in (full, reads, stores, late)}) == 4
    assert found.source == f"pipeline of {stages} stages, {words['tiles']} tiles"
    for r, row in enumerate(rows):
        before: Any = None
        for c, slot in enumerate(shown):
            cell, n = row[slot], r * len(shown) + c
            assert panel.data["slot"][n] == slot
            number = "" if cell is None or cell == before else f"{'C' * (cell[0] == 'store')}{cell[1]}"
            assert panel.labels[n] == number
            before = cell
    mmas = [c for c in range(slots) if any(row[c] and row[c][0] == "mma" for row in rows[1 + stages :])]
    waits = set()  # of who has the next MMA, unless it stores
    for slot in {*range(mmas[0], mmas[-1])} - {*mmas}:
        tile = max(cell[1] for row in rows[1 + stages :] for cell in row[:slot] if cell and cell[0] == "mma") + 1
        row = 1 + stages + tile // words["tiles"] % consumers
        waits |= {(row, slot)} if rows[row][slot] is None else set()
    assert waits & {(r, c) for r in range(panel.rows) for c in shown} == {
        (n // len(shown), panel.data["slot"][n]) for n, paint in enumerate(panel.paints) if paint == 6
    }
    early = {(n // len(shown), panel.data["slot"][n]) for n, paint in enumerate(panel.paints) if paint == 5}
    assert early == {(1 + stages, slot) for slot in range(mmas[0])} & {(r, c) for r in range(panel.rows) for c in shown}
    begun, issued = mmas[0], max(c for c in range(slots) if rows[0][c])
    at = {slot: sum(one < slot for one in shown) for slot in range(slots + 1)}
    ends = [0, at[begun], at[max(begun, issued + 1)], at[slots]]
    parts = zip(itertools.pairwise(ends), ("prologue", "steady state", "drain"), strict=True)
    braces = {s.text: (s.points[0][0] - 0.1, s.points[1][0] + 0.1) for s in texts(panel, "brace")}
    assert braces == {name: pytest.approx(ends) for ends, name in parts if ends[1] - ends[0] > 1}
    assert all(y < 0 for s in texts(panel, "brace") for _, y in s.points)
    full, *again = texts(panel, "arrow")
    load, compute = words.get("load", 3), words.get("compute", 1)
    (x0, y0), (x1, y1) = full.points  # from stage 0 to the first MMA, when the first load is there
    assert x0 == x1 == load
    assert 1 < y0 < 2
    assert 1 + stages <= y1 < 1.5 + stages
    reloaded = words["tiles"] * words.get("work", 1) > stages and rows[0][load + compute] == ("load", stages)
    assert bool(again) == reloaded
    for (x0, y0), (x1, y1) in (shape.points for shape in again):  # back to the producer, when that MMA is over
        assert x0 == x1 == load + compute
        assert 1 + stages < y0 < 2 + stages
        assert 0 < y1 <= 1
    assert found.facts["slots"] == slots
    assert found.facts["tiles"] == words["tiles"] * words.get("work", 1)
    told = re.findall(r"tile (\d+) in stage (\d+): slots (\d+), (\d+), (\d+), (\d+)", found.description)
    assert len(told) == min(2 * stages, found.facts["tiles"])
    for tile, stage, first, there, begins, free in (map(int, one) for one in told):
        assert stage == tile % stages
        assert rows[0][first] == ("load", tile)
        states = [rows[1 + stage][slot] for slot in range(first, free)]
        assert states == [("load", tile)] * (there - first) + [("full", tile)] * (begins - there) + [("mma", tile)] * (
            free - begins
        )
    assert ("C0 the first of C" in found.caption) == any(cell and cell[0] == "store" for row in rows for cell in row)


def idle(consumers: Sequence[Sequence[Any]]) -> int:
    """The slots between the first MMA and the last in which no consumer has one."""
    busy = [c for c in range(len(consumers[0])) if any(row[c] and row[c][0] == "mma" for row in consumers)]
    return busy[-1] + 1 - busy[0] - len(busy)


@pytest.mark.parametrize(
    ("stages", "schedule", "title"),
    [
        (4, "tiles=8", "4 stages hide a load of 3 slots: the MMA waits only for the first"),
        (1, "tiles=1", "1 stage hides a load of 3 slots: the MMA waits only for the first"),
        (4, "tiles=8,load=1", "4 stages hide a load of 1 slot: the MMA waits only for the first"),
        (3, "tiles=9", "3 stages: the MMA waits 2 of 11 slots; 4 stages would hide the loads"),
        (2, "tiles=4,load=40", "2 stages: the MMA waits 39 of 43 slots; 4 stages would hide the loads"),
        (4, "tiles=4,work=2,epilogue=9", "4 stages: the MMA waits 9 of 17 slots, the epilogue among them"),
        (2, "tiles=40,load=31", "2 stages: the MMA waits 570 of 610 slots; 32 stages would hide the loads"),
        (2, "tiles=40,load=32", "2 stages: the MMA waits 589 of 629 slots"),
        (2, "tiles=40,load=64", "2 stages: the MMA waits 1197 of 1237 slots"),
        (
            4,
            "tiles=4,work=2,consumers=2",
            "2 consumers take turns: the MMA waits only for the first load; one consumer would wait 2 slots",
        ),
        (
            2,
            "tiles=4,work=2,consumers=2",
            "2 consumers take turns: the MMA waits 6 of 14 slots; one consumer would wait 6 slots",
        ),
    ],
)
def test_the_title_of_a_pipeline(stages: int, schedule: str, title: str) -> None:
    found = drawn(str(stages), view="pipeline", schedule=schedule)
    assert found.title == title
    words = {key: int(value) for key, value in (one.split("=") for one in schedule.split(","))}
    rows = simulated(stages, **words)
    assert found.facts["MMA waits"] == idle(rows[1 + stages :])
    if "one consumer" in title:
        assert title.endswith(f"wait {idle(simulated(stages, **{**words, 'consumers': 1})[1 + stages :])} slots")
    for more in range(stages + 1, 33):  # with fewer stages than it says, the MMA waits
        hidden = not idle(simulated(more, **words)[1 + more :])
        said = re.search(r"; (\d+) stages would hide", title)
        assert hidden == (said is not None and more >= int(said[1])) or "take turns" in title or "waits only" in title


def test_what_has_stages() -> None:
    assert drawn("(64,64,4)", view="pipeline").facts == {"stages": 4, "tiles": 8, "slots": 13, "MMA waits": 0}
    assert drawn("(64,64,(2,3))", view="pipeline").facts["stages"] == 6
    assert drawn("(8,8,2,5)", view="pipeline").facts["stages"] == 5
    assert drawn("(8,8,5)", view="pipeline").panels[0].caption == "  (8,8,5):(1,8,64)"
    assert drawn("5", view="pipeline").panels[0].caption == ""
    assert drawn("32", view="pipeline").facts["stages"] == 32
    for source, words in (("33", "at most 32"), ("(8,8)", "no mode of stages"), ("(2,2,2,2,2)", "no mode of stages")):
        with pytest.raises(FigureError, match=words):
            drawn(source, view="pipeline")
    assert drawn("2", view="pipeline", schedule="tiles=512,load=64", max_cells=10**6)  # 32768 slots of work at most
    for schedule in ("tiles=993,load=33", "tiles=513,load=64", "tiles=512,compute=64,work=2"):
        with pytest.raises(FigureError, match="too many slots"):
            drawn("2", view="pipeline", schedule=schedule)


# Notes.


@settings(max_examples=40)
@given(st.integers(1, 5), st.integers(1, 6), st.data())
def test_a_note_on_what_cells_have_covers_them_once(rows: int, cols: int, data: st.DataObject) -> None:
    """Boxes that do not overlap, around exactly the cells of the words; no two that could be one."""
    strides = data.draw(st.tuples(st.integers(0, 4), st.integers(0, 4)))
    first = data.draw(st.integers(0, 12))
    last = data.draw(st.integers(first, 14))
    wanted = {(r, c) for r in range(rows) for c in range(cols) if first <= r * strides[0] + c * strides[1] <= last}
    source, words = f"({rows},{cols}):({strides[0]},{strides[1]})", f"offset {first}{f'..{last}' * (last > first)}: these"
    if not wanted:
        with pytest.raises(FigureError, match="no panel has"):
            drawn(source, note=words)
        return
    (note,) = drawn(source, note=words).notes_on
    parts = [cells_of(box) for box in note.boxes]
    assert set().union(*parts) == wanted
    assert sum(map(len, parts)) == len(wanted)
    for (r0, c0, r1, c1), (u0, v0, u1, v1) in itertools.permutations(note.boxes, 2):
        assert not (c1 == v0 and (r0, r1) == (u0, u1))
        assert not (r1 == u0 and (c0, c1) == (v0, v1))


@pytest.mark.parametrize(
    ("where", "boxes"),
    [
        ("(1,2)", [(1, 2, 2, 3)]),
        ("(1,2)..(3,0)", [(1, 0, 4, 3)]),
        ("(3,5)", [(3, 5, 4, 6)]),
        ("(4,0)", None),
        ("(0,6)", None),
        ("(0,0)..(4,1)", None),
        ("row 1..2", [(1, 0, 3, 6)]),
        ("row 3", [(3, 0, 4, 6)]),
        ("row 4", None),
        ("column 5", [(0, 5, 4, 6)]),
        ("column 0..5", [(0, 0, 4, 6)]),
        ("column 6", None),
        ("brace row 3", [(3, 0, 4, 6)]),
        ("brace column 2..4", [(0, 2, 4, 5)]),
        ("(0,1) -> (2,3)", [(0, 1, 1, 2), (2, 3, 3, 4)]),
        ("(0,1) -> (4,3)", None),
        ("(4,1) -> (0,3)", None),
        ("A (1,2)", None),
    ],
)
def test_where_a_note_is(where: str, boxes: list[tuple[int, ...]] | None) -> None:
    if boxes is None:
        with pytest.raises(FigureError, match="no panel has"):
            drawn("(4,6):(6,1)", note=f"{where}: this")
        return
    found = drawn("(4,6):(6,1)", note=f"{where}: this")
    (note,) = found.notes_on
    assert (list(note.boxes), note.panel, note.text, note.where) == (boxes, 0, "this", where)
    assert found.description == f"{drawn('(4,6):(6,1)').description} At {where}: this."


def test_notes_find_their_panel_and_are_not_too_many() -> None:
    atom = "SM80_16x8x16_F32F16F16F32_TN"
    plain = drawn(atom)
    captions = [panel.caption[0] for panel in plain.panels]
    for letter in "ABC":
        (note,) = drawn(atom, note=f"{letter} (0,0): first").notes_on
        assert captions[note.panel] == letter
    (note,) = drawn(atom, note="T31: the last lane").notes_on  # of the first panel that has it
    assert note.panel == 0
    assert {plain.panels[0].data["thread"][r * plain.panels[0].cols + c] for box in note.boxes for r, c in cells_of(box)} == {31}
    assert len(drawn("(4,4)", note="\n".join(["(0,0): x"] * 24)).notes_on) == 24
    with pytest.raises(FigureError, match="25 notes are too many"):
        drawn("(4,4)", note="\n".join(["(0,0): x"] * 25))
    with pytest.raises(FigureError, match="no panel has T0") as error:
        drawn("(4,4)", note="T0: x")
    assert error.value.hint == "panels are 4 x 4"
    with pytest.raises(FigureError) as error:
        drawn("(2,2,9)", note="T0: x")
    assert error.value.hint == f"panels are {', '.join(['2 x 2'] * 8)}"


# Exercises.


@pytest.mark.parametrize(("cells", "blanks"), [(1, 1), (3, 1), (7, 1), (8, 2), (47, 11), (48, 12), (64, 12)])
def test_a_quarter_of_the_cells_is_blank_and_twelve_at_most(cells: int, blanks: int) -> None:
    found = drawn(f"(1,{cells})", blank="offsets", key=True)
    assert found.title == f"Which offsets belong in the {blanks} blank{'s' * (blanks > 1)}?"
    assert len(re.findall(r"\w+ = \d+", found.description)) == blanks
    assert drawn(f"(1,{cells})", blank=f"offsets={cells}").title.split()[-2] == str(cells)
    for many in (0, cells + 1):
        with pytest.raises(FigureError, match=rf"the picture has {cells} cell"):
            drawn(f"(1,{cells})", blank=f"offsets={many}")


def test_the_letters_of_many_blanks_are_in_the_order_of_the_cells() -> None:
    found = drawn("(30,30)", blank="offsets=all", key=True)
    letters = [label.strip("()") for label in found.panels[0].labels]
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    names = ("".join(word) for length in (1, 2, 3) for word in itertools.product(alphabet, repeat=length))
    assert letters == list(itertools.islice(names, 900))


@pytest.mark.parametrize(
    ("source", "words", "answers"),
    [
        ("(4,8):(8,1)", "strides", {"a": "8", "b": "1"}),
        ("(_4,(2,_4)):(_8,(1,_2))", "strides", {"a": "_8", "b": "1", "c": "_2"}),
        ("(4,2):(1@0,1@1)", "strides", {"a": "1@0", "b": "1@1"}),
    ],
)
def test_strides_that_are_left_out(source: str, words: str, answers: dict[str, str]) -> None:
    found = drawn(source, blank=words, key=True)
    assert found.notes[-1] == f"Key: {', '.join(f'{name} = {value}' for name, value in answers.items())}."
    back = re.sub(r"[a-z]", lambda letter: answers[letter[0]], found.source.rpartition(":")[2])
    assert f"{found.source.rpartition(':')[0]}:{back}" == source
    assert len(found.panels) == 1  # the cells tell them; the key is a note


def test_lines_and_empty_cells_are_no_blanks() -> None:
    with pytest.raises(FigureError, match="no cell of this picture shows offsets"):
        drawn("(4,4):(4,1)", view="path", blank="offsets")
    steps = drawn("composition((4,8):(8,1), (2:2,4:2))", view="steps")
    every = sum(bool(label) for panel in steps.panels for label in panel.labels)
    assert 0 < every < sum(len(panel.labels) for panel in steps.panels)
    found = drawn("composition((4,8):(8,1), (2:2,4:2))", view="steps", blank="labels=all")
    assert found.title == f"What belongs in the {every} blanks?"


def test_who_moves_a_value_is_left_out_with_its_data() -> None:
    found = drawn("SM75_U32x1_LDSM_N", operand="D", blank="threads=6", key=True)
    exercise, whole = found.panels
    assert (exercise.caption[:8], whole.caption[:3]) == ("Exercise", "Key")
    for n, label in enumerate(exercise.labels):
        blank = label.startswith("(")
        assert (exercise.data["thread"][n] is None) == (exercise.data["value"][n] is None) == blank
        assert blank or label == whole.labels[n]
    assert not {cell for cell, _ in exercise.owners} & {n for n, label in enumerate(exercise.labels) if label.startswith("(")}
    assert found.facts == {}
    assert found.insets == found.series == ()


# Differences.

LAYOUTS = [
    "(4,6):(6,1)",
    "(4,6):(12,1)",
    "Sw<1,1,2> o 0 o (4,6):(8,1)",
    "(4,6):(1,4)",
    "(4,6):(7,1)",
    "(3,6):(6,1)",
    "(4,5):(5,1)",
    "Sw<1,0,2> o 0 o (4,6):(6,1)",
    "(4,6):(6,0)",
]


def values(source: str) -> dict[Cell, int]:
    layout: Any = parse(source)
    shape = getattr(layout, "inner", layout).shape
    return {(r, c): layout(r, c) for r in range(shape[0]) for c in range(shape[1])}


def boxed_runs(
    a: dict[Cell, int], b: dict[Cell, int], mine: dict[Cell, int], rows: int, cols: int, hues: dict[int, int]
) -> list[tuple[int, ...]]:
    """Runs of a row that differ, parted where either layout stops counting by one, so that each is a range of both; whole where
    more than half of the parts would be single cells. Of offsets with hues those of one hue, no cells."""
    every = list(itertools.product(range(rows), range(cols)))
    differ = [a.get(cell) != b.get(cell) for cell in every]

    def counts(values: dict[Cell, int], n: int) -> bool:
        before, now = values.get(every[n - 1]), values.get(every[n])
        return now is None if before is None else now == before + 1

    stops = {n for n, flag in enumerate(differ) if flag and not (counts(a, n) and counts(b, n))}
    parts = sum(flag and (n % cols == 0 or not differ[n - 1] or n in stops) for n, flag in enumerate(differ))
    stops = stops if 2 * parts <= sum(differ) else set()
    if hues:
        stops |= {n for n in range(1, len(every)) for x in (a, b) if hues[x[every[n - 1]]] != hues[x[every[n]]]}
    out: list[tuple[int, ...]] = []
    for n, (r, c) in enumerate(every):
        if not differ[n] or (r, c) not in mine:
            continue
        if c and out and out[-1][2:] == (r + 1, c) and n not in stops:
            out[-1] = (r, out[-1][1], r + 1, c + 1)
        else:
            out.append((r, c, r + 1, c + 1))
    return [box for box in out if box[3] > box[1] + 1 or not hues]


@pytest.mark.parametrize(("one", "two"), list(itertools.product(LAYOUTS, LAYOUTS)))
def test_all_of_a_difference_is_that_of_the_values(one: str, two: str) -> None:
    found = difference(drawn(one), drawn(two))
    a, b = values(one), values(two)
    rows, cols = (max(cell[axis] for cell in (*a, *b)) + 1 for axis in (0, 1))
    every = list(itertools.product(range(rows), range(cols)))
    differ = {cell for cell in every if a.get(cell) != b.get(cell)}
    only = {cell for cell in every if (cell in a) != (cell in b)}
    hues: dict[int, int] = {}
    if differ and sorted(a.values()) == sorted(b.values()) and len(set(a.values())) == len(a) == len(every):
        by_column = [sorted(x for cell, x in mine.items() if cell[1] == 0) for mine in (a, b)]
        by_row = [sorted(x for cell, x in mine.items() if cell[0] == 0) for mine in (a, b)]
        axis = 0 if by_column[0] == by_column[1] and by_row[0] != by_row[1] else 1
        hues = {x: cell[axis] // 2 if "o 0 o (4,6):(8" in one + two else cell[axis] for cell, x in a.items()}
    for panel, mine in zip(found.panels, (a, b), strict=True):
        assert (panel.rows, panel.cols) == (rows, cols)
        boxed: list[set[Cell]] = [cells_of(box) for box in panel.boxes]
        assert hues or set().union(*boxed) == differ & mine.keys()
        assert hues or sum(map(len, boxed)) == len(differ & mine.keys())
        assert list(panel.boxes) == boxed_runs(a, b, mine, rows, cols, hues)
        for n, cell in enumerate(every):
            assert panel.data["differs"][n] == (cell in differ)
            assert (panel.paints[n] == HOLE) == (cell not in mine)
            if cell in mine:
                assert panel.paints[n] == (cell in differ) * (1 + hues.get(mine[cell], 0))
                assert panel.labels[n] == str(mine[cell])
    whole, left = len(every), len(differ)
    assert found.description.endswith(
        (f"{left} of {whole} cells differ." if differ else f"All {whole} cells are the same.")
        + (f" Of these, {len(only)} cell{'s are' if len(only) > 1 else ' is'} only in one of the two." if only else "")
    )
    title = f"{left} of {whole} cells differ, {len(only)} are new or gone"
    if not only:
        lines = [
            [[sorted(x for cell, x in mine.items() if cell[axis] == n) for n in range((rows, cols)[axis])] for mine in (a, b)]
            for axis in (0, 1)
        ]
        title = f"{left} of {whole} cells have another offset"
        if not differ:
            title = f"All {whole} cells are the same"
        elif lines[0][0] == lines[0][1]:
            title = f"{left} of {whole} offsets move within their rows"
        elif lines[1][0] == lines[1][1]:
            title = f"{left} of {whole} offsets move within their columns"
        elif sorted(a.values()) == sorted(b.values()):
            title += ": the same offsets, in another order"
        elif max(a.values()) != max(b.values()):
            title += f": cosize {max(a.values()) + 1} becomes {max(b.values()) + 1}"
    runs = boxed_runs(a, b, a, rows, cols, hues) if hues else []
    wide = {box[3] - box[1] for box in (*runs, *boxed_runs(a, b, b, rows, cols, hues))} if hues else set()
    if len(wide) == 1 and len(runs) * max(wide) == left:
        title += f", in runs of {wide.pop()}"
    assert found.title == title
    named = difference(drawn(one), drawn(two), title="mine")
    assert (named.title, bool(named.notes)) == ("mine", True)


@pytest.mark.parametrize(
    ("wide", "places"), [(4, [(0, 0), (0, 1)]), (24, [(0, 0), (0, 1)]), (25, [(0, 0), (1, 0)]), (60, [(0, 0), (1, 0)])]
)
def test_figures_stand_beside_each_other_while_48_columns_hold_them(wide: int, places: list[Cell]) -> None:
    one, two = drawn(f"(2,{wide}):({wide},1)"), drawn(f"(2,{wide}):(1,2)")
    both = side_by_side([one, two])
    assert [panel.place for panel in both.panels] == places
    assert both.title == f"{one.title} | {two.title}"
    assert both.source == f"{one.source} | {two.source}"
    assert both.caption == one.caption
    assert [panel.caption.partition(": ")[0] for panel in both.panels] == [one.source, two.source]
    assert side_by_side([one, one]).title == one.title
    assert side_by_side([one, two], "mine").title == "mine"
    assert side_by_side([replace(one, source=""), two]).panels[0].caption == one.title
    banks = drawn(f"(2,{wide})", view="banks", type=16)
    assert side_by_side([one, banks]).caption == side_by_side([banks, one]).caption == ""  # what each says holds of itself
    seven = [panel.place for panel in side_by_side([drawn("(2,7)")] * 7).panels]
    assert seven == [*((0, n) for n in range(6)), (1, 0)]


def test_boards_beside_each_other_have_their_names_and_findings() -> None:
    paths = [drawn(source, view="path") for source in ("(4,4):(4,1)", "(4,4):(1,4)", "(4,4):(5,1)")]
    both = side_by_side(paths[:2])
    assert (both.title, both.flow, both.caption) == ("2 ways through the same 16 cells", "row", paths[0].caption)
    assert [panel.caption for panel in both.panels] == ["Row-major  (4,4):(4,1)", "Column-major  (4,4):(1,4)"]
    assert [panel.foot for panel in both.panels] == ["12 of 15 steps go to a neighbor"] * 2
    three = side_by_side(paths)
    assert (three.title, three.caption) == ("3 ways through the same 16 cells", "")
    assert three.panels[2].foot == "3 of 19 addresses are unused; 3 addresses in between are unused"
    other = drawn("(4,5):(5,1)", view="path")
    assert side_by_side([paths[0], other]).title == f"{paths[0].title} | {other.title}"
    assert side_by_side([paths[0], other], "mine").title == "mine"
    bits = drawn("(4,4):(4,1)", view="matrix")
    assert side_by_side([paths[0], bits]).title == f"{paths[0].title} | {bits.title}"


def test_differences_of_ranges_of_labels_and_of_kinds() -> None:
    half = difference(drawn("(1,8):(8,1)"), drawn("(1,(2,4)):(8,(1,10))")).panels[0]
    assert half.boxes == ((0, 2, 1, 4), (0, 4, 1, 6), (0, 6, 1, 8))
    assert difference(drawn("(1,8):(8,1)"), drawn("(1,8):(8,2)")).panels[0].boxes == ((0, 1, 1, 8),)
    both = difference(drawn("(3,6):(6,1)"), drawn("(4,5):(5,1)")).panels
    assert [(p.row_ruler.labels, p.col_ruler.labels) for p in both] == [(tuple("0123"), tuple("012345"))] * 2
    bits = difference(drawn("Sw<2,0,3>"), drawn("Sw<1,1,3>"))
    assert bits.title == "1 of 10 cells differ"
    assert [label for label, flag in zip(bits.panels[0].labels, bits.panels[0].data["differs"], strict=True) if flag] == ["b0⊕b3"]
    assert sum(difference(drawn("(16,8)"), drawn("((4,8),(2,2)):((32,1),(16,8))", tile="16x8")).panels[0].data["differs"]) == 128


def test_differences_of_owners_and_of_what_has_no_labels() -> None:
    c = {"operand": "C"}
    atoms = drawn("SM80_16x8x16_F32F16F16F32_TN", **c), drawn("SM80_16x8x8_F32F16F16F32_TN", **c)
    assert difference(*atoms).title == "All 128 cells are the same"
    tv = drawn("((4,8),(2,2)):((32,1),(16,8))", tile="16x8"), drawn("((8,4),(2,2)):((1,32),(16,8))", tile="16x8")
    lane = {t: (t // 8, t % 8) for t in range(32)}
    moved = sum(lane[t] != (t % 4, t // 4) for t in range(32)) * 4
    assert difference(*tv).title == f"{moved} of 128 cells have another thread"
    with pytest.raises(FigureError, match="panel by panel"):
        difference(drawn("(4,4)"), drawn("(4,4,2)"))
    with pytest.raises(FigureError, match="drawn without labels"):
        difference(drawn("(4,4)", labels="none"), drawn("(4,4)"))


# Bit matrices.


@st.composite
def powers(draw: st.DrawFn) -> tuple[list[list[int]], list[list[int]]]:
    """Extents and strides of two modes, of disjoint bits in any order, perhaps with bits that nothing reaches."""
    bits = draw(st.integers(2, 7))
    order = draw(st.permutations(range(bits + draw(st.integers(0, 2)))))[:bits]
    cut = draw(st.integers(1, bits - 1))
    parts = [[1 << n for n in order[:cut]], [1 << n for n in order[cut:]]]
    return [[2] * len(part) for part in parts], parts


@settings(max_examples=40)
@given(powers(), st.sampled_from([(0, 0, 1), (1, 0, 1), (2, 0, 2), (1, 1, 2), (2, 1, 3)]), st.sampled_from([8, 16, 32, 64]))
def test_all_of_a_matrix_is_that_of_its_bits(
    modes: tuple[list[list[int]], list[list[int]]], swizzle: tuple[int, int, int], bits: int
) -> None:
    shape, stride = (
        ",".join("(" + ",".join(map(str, mode)) + ("," if len(mode) == 1 else "") + ")" for mode in part) for part in modes
    )
    plain = f"({shape}):({stride})".replace(",)", ")")
    b, m, s = swizzle
    found = drawn(f"Sw<{b},{m},{s}> o 0 o {plain}" if b else plain, view="matrix", type=bits)
    names = [f"r{n}" for n in range(len(modes[0][0]))] + [f"c{n}" for n in range(len(modes[0][1]))]
    steps = dict(zip(names, [*modes[1][0], *modes[1][1]], strict=True))
    mixed = {name: step ^ (step >> s & ((1 << b) - 1) << m) for name, step in steps.items()}
    most = 0
    for step in mixed.values():
        most |= step
    high = max(most, *list(itertools.accumulate(mixed.values(), lambda x, y: x ^ y))).bit_length()
    panel = found.panels[0]
    assert panel.col_ruler.labels == tuple(names)
    assert panel.col_ruler.levels == tuple([int(n == len(modes[0][0])) for n in range(len(names) + 1)])
    assert panel.row_ruler.labels == tuple(f"a{n}" for n in range(panel.rows))
    assert panel.rows == high
    equations = {round(t.points[0][1] - 0.5): t for t in texts(panel) if t.text.startswith("=")}
    for row in range(panel.rows):
        ones = [name for name in names if mixed[name] >> row & 1]
        for n, name in enumerate(names):
            cell = row * panel.cols + n
            assert panel.labels[cell] == str(mixed[name] >> row & 1)
            kept = len(ones) < 2 or steps[name] >> row & 1
            assert panel.paints[cell] == (0 if name not in ones else 1 if kept else 2)
        assert set(equations[row].text[2:].split(" ⊕ ")) == (set(ones) or {"0"})
        assert ("bold" in equations[row].look) == (len(ones) > 1)
        assert equations[row].points[0][0] > panel.cols
    log = bits.bit_length() - 1
    words = {"within a word": (0, 5 - log), "bank": (max(0, 5 - log), 10 - log), "line of 128 bytes": (10 - log, 99)}
    expected = {}
    for name, (first, last) in words.items():
        first, last = max(0, first), min(last, high)
        if last > first and min(high, 10 - log) > max(0, 5 - log):
            expected[name + f": {last - first} bits" * (name == "bank")] = (first, last)
    braces = {t.text: (t.points[0][1] - 0.1, t.points[1][1] + 0.1) for t in texts(panel, "brace")}
    assert braces == {name: pytest.approx(rows) for name, rows in expected.items()}
    assert all("bold" in t.look or not t.text.startswith("bank") for t in texts(panel, "brace"))
    assert {t.text: t.points[0][0] for t in texts(panel) if not t.text.startswith("=")} == {
        "row": len(modes[0][0]) / 2,
        "column": len(modes[0][0]) + len(modes[0][1]) / 2,
    }
    assert found.facts["rank"] == len(names)  # a swizzle loses nothing
    assert (len(found.panels), len(found.arrows)) == ((4, 2) if b else (1, 0))


@pytest.mark.parametrize(
    ("source", "words", "title", "rank"),
    [
        ("(8,64):(64,1)", {"type": 16}, "5 column bits choose the bank: all rows of a column share one", 9),
        ("(64,8):(1,64)", {"type": 16}, "5 row bits choose the bank: all columns of a row share one", 9),
        ("(2,64):(1,2)", {"type": 16}, "5 column bits choose the bank: all rows of a column share one", 7),
        ("(8,8):(8,1)", {"type": 16}, "3 row bits and 2 column bits choose the bank", 6),
        ("(64,2):(2,1)", {"type": 32}, "4 row bits and 1 column bit choose the bank", 7),
        ("(4,4):(0,1)", {}, "r0, r1 reach no address bit: 4 coordinates share each address", 2),
        ("(2,4):(0,1)", {}, "r0 reaches no address bit: 2 coordinates share each address", 2),
        ("16", {}, "Each of 4 address bits copies one bit of the coordinate", 4),
        ("Sw<3,4,3>", {}, "3 of 10 address bits are XORs", 10),
        ("Sw<1,0,1>", {}, "1 of 2 address bits is an XOR", 2),
        ("Sw<1,0,1> o 0 o (4,8):(8,1)", {"type": 16}, "1 of 5 address bits is an XOR", 5),
        ("Sw<2,1,2> o 0 o (4,8):(8,1)", {"type": 16}, "2 of 4 bank bits are a column bit XOR a row bit", 5),
        ("Sw<1,1,1> o 0 o (4,8):(8,1)", {"type": 16}, "1 of 4 bank bits are XORs", 5),
    ],
)
def test_the_title_of_a_matrix(source: str, words: dict[str, Any], title: str, rank: int) -> None:
    found = drawn(source, view="matrix", **words)
    assert (found.title, found.facts["rank"]) == (title, rank)


def test_what_a_matrix_is_not_of() -> None:
    for source, words, told in (
        ("Sw<3,4,3>", {"type": 16}, "type="),
        ("(4,6)", {}, "extent of 6"),
        ("(4,4):(3,16)", {}, "carries: coordinate 3 is at 9, and its bits make 5"),
        ("(4,4):(1@0,1@1)", {}, "coordinates"),
        ("(2,2,2)", {"tile": "2x4"}, "3 modes"),
    ):
        with pytest.raises(CuteVizError, match=re.escape(told)):
            drawn(source, view="matrix", **words)
    owned = drawn("((4,8),(2,2)):((32,1),(16,8))", view="matrix", tile="16x8").panels[0]
    assert owned.row_ruler.labels == ("m0", "m1", "m2", "m3", "n0", "n1", "n2")
    assert owned.col_ruler.labels == ("t0", "t1", "t2", "t3", "t4", "v0", "v1")
    assert not texts(owned, "brace")
    assert drawn("(2,2):(2,1)", view="matrix", tile="2x2").panels[0].row_ruler.labels == ("m0", "n0")
    three = drawn("(2,4,2):(1,2,8)", view="matrix").panels[0]
    assert three.col_ruler.labels == ("i0", "j0", "j1", "k0")
    assert [t.text for t in texts(three) if not t.text.startswith("=")] == ["mode 0", "mode 1", "mode 2"]


def ones(panel: Panel) -> list[list[int]]:
    return [[int(x == "1") for x in panel.labels[r * panel.cols : (r + 1) * panel.cols]] for r in range(panel.rows)]


def test_the_product_of_matrices_down_to_its_signs() -> None:
    found = drawn("Sw<2,2,3> o 0 o (8,16):(16,1)", view="matrix")
    main, swizzle, plain, both = found.panels
    assert [panel.place for panel in found.panels] == [(0, 0), (1, 0), (1, 1), (1, 2)]
    assert [panel.caption for panel in found.panels] == ["", "  Sw<2,2,3>", "  (8,16):(16,1)", "both"]
    assert [(a.source, a.target, a.look) for a in found.arrows] == [(1, 2, "×"), (2, 3, "=")]
    assert [panel.unit for panel in found.panels] == [(1, 1), (0.6, 0.6), (0.6, 0.6), (0.6, 0.6)]
    for panel in (swizzle, plain, both):  # 1s only, of one letter for each mode
        assert set(panel.labels) == {"", "1"}
        assert not any((*panel.row_ruler.labels, *panel.col_ruler.labels))
    assert [[t.text for t in texts(panel)] for panel in (swizzle, plain, both)] == [[], ["r", "c"], ["r", "c"]]
    assert [t.points for t in texts(both)] == [((1.5, -0.05),), ((5, -0.05),)]
    assert [[n for n, level in enumerate(p.col_ruler.levels) if level] for p in (swizzle, plain, both)] == [[], [3], [3]]
    assert ones(both) == ones(main)
    assert both.paints == main.paints
    mixed = {(2, 5), (3, 6)}  # bit 5 goes into bit 2, 6 into 3
    assert ones(swizzle) == [[int(r == c or (r, c) in mixed) for c in range(7)] for r in range(7)]
    assert {divmod(n, 7) for n, paint in enumerate(swizzle.paints) if paint == 2} == mixed
    assert set(plain.paints) == {0, 1}
    zero, copied, added = found.paints
    assert (zero.hue, zero.faded, copied.hue >= 0, added.hue not in (-1, copied.hue)) == (-1, True, True, True)
    assert [(entry.paint, entry.label) for entry in found.legends[0].entries] == [(1, "copies a bit"), (2, "is XORed in")]


def test_the_matrix_of_a_bare_swizzle_and_of_nothing() -> None:
    found = drawn("Sw<2,1,-2>", view="matrix", max_cells=25)  # bits 1 and 2 go into 3 and 4
    (panel,) = found.panels
    assert (panel.row_ruler.labels, panel.col_ruler.labels) == (tuple(f"a{n}" for n in range(5)), tuple(f"x{n}" for n in range(5)))
    assert {divmod(n, 5) for n, paint in enumerate(panel.paints) if paint == 2} == {(3, 1), (4, 2)}
    assert ones(panel) == [[int(r == c or (r, c) in {(3, 1), (4, 2)}) for c in range(5)] for r in range(5)]
    assert [t.text for t in texts(panel) if not t.text.startswith("=")] == ["before"]
    assert not texts(panel, "brace")
    with pytest.raises(CuteVizError, match="25 cells"):
        drawn("Sw<2,1,-2>", view="matrix", max_cells=24)
    nothing = drawn("(2,2):(0,0)", view="matrix")
    assert (nothing.panels[0].rows, nothing.title) == (1, "r0, c0 reach no address bit: 4 coordinates share each address")
    assert [t.text for t in texts(nothing.panels[0]) if t.text.startswith("=")] == ["= 0"]
    assert not texts(drawn("(8,64):(64,1)", view="matrix", type="e2m3").panels[0], "brace")  # whose elements share words
    many = drawn("(2,2,2,2,2,2,2,2,2)", view="matrix").panels[0]
    assert many.col_ruler.labels == (*(f"{letter}0" for letter in "ijklmnop"), "i0")
    with pytest.raises(CuteVizError, match=r"coordinate 12 is at 9, and its bits make 5\n"):
        drawn("(4,4):(16,3)", view="matrix")


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 7)), min_size=1, max_size=6), st.integers(0, 3))
def test_the_matrix_of_an_encoding(where: list[tuple[int, int]], registers: int) -> None:
    """Bits of registers, then of lanes, and the coordinate (m, n) that each adds, 2 bits and 3."""
    inputs = [(f"register {n}" if n < registers else f"lane {n - registers}", at) for n, at in enumerate(where)]
    found = bases("linear", "source", inputs, (4, 8), FigureOptions())
    (panel,) = found.panels
    assert panel.row_ruler.labels == ("m0", "m1", "n0", "n1", "n2")
    assert panel.col_ruler.labels == tuple(f"reg{n}" if n < registers else f"lan{n - registers}" for n in range(len(where)))
    assert ones(panel) == [[at[mode] >> bit & 1 for at in where] for mode, bits in ((0, 2), (1, 3)) for bit in range(bits)]
    kinds = [name for name, some in (("register", registers > 0), ("lane", registers < len(where))) if some]
    assert [t.text for t in texts(panel) if not t.text.startswith("=")] == kinds
    for row, line in enumerate(ones(panel)):  # of several 1s none is a copy
        assert {panel.paints[row * panel.cols + n] for n, one in enumerate(line) if one} <= ({1} if sum(line) == 1 else {2})
    assert (found.title, found.source, panel.place, texts(panel, "brace")) == ("linear", "source", (0, 0), [])


def test_encodings_that_have_no_matrix() -> None:
    for inputs, sizes in (([], (4,)), ([("lane 0", (0,))], (1,))):
        with pytest.raises(FigureError, match="no bits"):
            bases("", "", inputs, sizes, FigureOptions())
    with pytest.raises(CuteVizError, match="has 6 cells"):
        bases("", "", [("lane 0", (1,)), ("lane 1", (2,))], (8,), FigureOptions(max_cells=5))
    for modes, letters in ((8, "mnpqrstu"), (9, "xxxxxxxxx")):
        (panel,) = bases("", "", [("lane 0", (1,) * modes)], (2,) * modes, FigureOptions()).panels
        assert panel.row_ruler.labels == tuple(f"{letter}0" for letter in letters)


# Cubes.

SM80 = "SM80_16x8x16_F32F16F16F32_TN"


def lanes(thread: int) -> Iterator[tuple[str, dict[Cell, int]]]:
    """PTX ISA, mma.m16n8k16: what lane t has of A (M,K), B (K,N) and C (M,N)."""
    group, pair = thread // 4, thread % 4 * 2
    yield "A", {(group + 8 * (v // 2 % 2), pair + v % 2 + 8 * (v // 4)): v for v in range(8)}
    yield "B", {(pair + v % 2 + 8 * (v // 2), group): v for v in range(4)}
    yield "C", {(group + 8 * (v // 2), pair + v % 2): v for v in range(4)}


@pytest.mark.parametrize("thread", [0, 5, 18, 31])
def test_all_of_a_cube_is_that_of_the_instruction(thread: int) -> None:
    found = drawn(SM80, view="cube", thread=thread)
    held = dict(lanes(thread))
    rows, cols = {r for r, _ in held["C"]}, {c for _, c in held["C"]}
    needed = {
        "A": {(r, k) for r in rows for k in range(16)},
        "B": {(k, c) for c in cols for k in range(16)},
        "C": set[Cell](),
    }
    sizes = {"A": (16, 16), "B": (16, 8), "C": (16, 8)}
    for n, (panel, x) in enumerate(zip(found.panels, "ABC", strict=True)):
        assert (panel.rows, panel.cols) == sizes[x]
        assert panel.face == ("left", "top", "right")[n]
        for cell, (r, c) in enumerate(itertools.product(range(panel.rows), range(panel.cols))):
            own = held[x].get((r, c))
            assert panel.labels[cell] == ("" if own is None else f"V{own}")
            assert panel.data["held"][cell] == (own is not None)
            assert panel.data["needed"][cell] == ((r, c) in needed[x])
            paint = found.paints[panel.paints[cell]]
            assert paint.hue == {"A": 0, "B": 3, "C": 2}[x]
            assert paint.faded == (own is None and (r, c) not in needed[x])
            assert paint.shade == (0 if own is not None else 2 if (r, c) in needed[x] else 3)
        assert {s.points for s in texts(panel, "box")} == {((c, r), (c + 1, r + 1)) for r, c in held[x]}
        (letter,) = [s for s in texts(panel) if "head" in s.look]
        assert letter.text == x
        assert 0 < letter.points[0][0] < panel.cols
        assert 0 < letter.points[0][1] < panel.rows
    edges = [{s.text: s.points[0] for s in texts(panel) if "=" in s.text} for panel in found.panels]
    assert [*edges[0], *edges[1], *edges[2]] == ["K = 16", "N = 8", "M = 16"]
    assert edges[0]["K = 16"] == (8, pytest.approx(16.8))
    assert edges[2]["N = 8"] == (4, pytest.approx(16.8))
    assert edges[2]["M = 16"] == (pytest.approx(8.24), 8)
    a, b, c = found.panels
    assert a.unit[0] * a.cols == pytest.approx(b.unit[1] * b.rows)  # K
    assert a.unit[1] * a.rows == pytest.approx(c.unit[1] * c.rows) == pytest.approx(16)  # M
    assert b.unit[0] * b.cols == pytest.approx(c.unit[0] * c.cols) == pytest.approx(8)  # N
    both = {x: len(held[x].keys() & needed[x]) for x in "AB"}
    assert found.title == (
        f"Thread {thread} holds {both['A'] or 'none'} of the 32 A and {both['B'] or 'none'} of the 32 B elements that its C needs"
    )
    assert found.facts == {"threads": 32, "values of A": 8, "values of B": 4, "values of C": 4}
    assert found.description.endswith(f"C needs rows {sorted(rows)} of A and columns {sorted(cols)} of B.")
    told = [entry.label for entry in found.legends[0].entries]
    wants = [f"{x}: its C needs it" for x in "AB"]
    assert told == [f"{x}: thread {thread} holds it" for x in "ABC"] + wants
    swatches = [found.paints[entry.paint] for entry in found.legends[0].entries]
    assert [(paint.hue, paint.shade, paint.shades) for paint in swatches] == [(0, 0, 4), (3, 0, 4), (2, 0, 4), (0, 2, 4), (3, 2, 4)]
    assert found.source == SM80


def test_other_cubes() -> None:
    tall = drawn("make_tiled_mma(UniversalFMA<float>{}, (16,2,1))", view="cube", thread=5)
    assert [(p.rows, p.cols) for p in tall.panels] == [(16, 1), (1, 2), (16, 2)]
    assert tall.panels[0].unit[0] == pytest.approx(16 / 2.2)  # no side is less than the longest by more
    assert tall.title == "Thread 5 holds 1 of the 1 A and 1 of the 1 B elements that its C needs"
    large = drawn("SM90_64x64x16_F32F16F16_SS", view="cube", thread=37)
    assert large.title == "Thread 37 holds 32 elements of C; A and B stay in shared memory"
    assert not any(label for panel in large.panels for label in panel.labels)  # 64 rows: no names
    assert drawn("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))", view="cube").panels[0].labels.count("") < 32 * 16
    for source, default in (
        (SM80, 5),
        ("UniversalFMA<float>", 0),
        ("make_tiled_mma(UniversalFMA<float>{}, (4,1,1))", 3),
        ("make_tiled_mma(UniversalFMA<float>{}, (7,1,1))", 5),
    ):
        assert drawn(source, view="cube").title.startswith(f"Thread {default} ")
    assert drawn(SM80, view="cube", max_cells=16 * 8 + 8 * 16 + 16 * 16)
    for source, words, told in (
        (SM80, {"max_cells": 511}, "has 512 cells"),
        ("(4,4)", {}, "needs an MMA"),
        (SM80, {"thread": 32}, "no thread 32 among 32"),
        ("SM100_MMA_F16BF16_SS<half_t,half_t,float,128,128,UMMA::Major::K,UMMA::Major::K>", {"thread": 1}, "there is one CTA"),
    ):
        with pytest.raises(CuteVizError, match=told):
            drawn(source, view="cube", **words)


@pytest.mark.parametrize("view", ["grid", "path", "banks", "address", "matrix"])
def test_what_is_drawn_over_a_difference_has_a_paint_of_the_difference(view: str) -> None:
    found = difference(*(drawn(source, view=view) for source in ("(4,8):(8,1)", "(4,8):(1,4)")))
    for shape in (shape for panel in found.panels for shape in panel.shapes):
        assert HOLE <= shape.paint < len(found.paints)
