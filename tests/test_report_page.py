"""The page of a report, read back: what it shows of a row, which lines of the source, and the bars."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cute_viz.renderers.report import Bar, ReportPage, ReportRow, page


def drawn(rows: list[ReportRow], source: str = "", bars: tuple[Bar, ...] = ()) -> str:
    return page(ReportPage("k.cu", "", "", "", "", (), bars, rows, source)).decode()


def row(line: int, result: str = "ideal", **more: object) -> ReportRow:
    given = {"file": "", "statement": "copy(a, b)", "call": "", "instruction": "", "now": 1, "ideal": 1, "unit": ""}
    return ReportRow(line, **{**given, **more}, result=result)  # type: ignore[arg-type]


@given(
    st.sampled_from((1, 40, 119, 120, 121, 122, 300)),
    st.lists(
        st.tuples(st.integers(1, 320), st.sampled_from(("ideal", "4-way")), st.lists(st.integers(1, 320), max_size=2)), max_size=4
    ),
)
def test_lines_of_the_source_stand_around_their_rows(count: int, rows: list[tuple[int, str, list[int]]]) -> None:
    """All of a short source, of a long one 30 lines around each row and edit; a mark links to the first row of its line."""
    made = [row(line, result, edits=tuple((str(at), "a", "b") for at in edits)) for line, result, edits in rows]
    text = drawn(made, "\n".join(f"text {n}" for n in range(1, count + 1)))
    inside = re.search("<pre class='source'.*?</pre>", text, re.S)[0]  # type: ignore[index]
    marked = {line for line, _, _ in rows} | {at for _, _, edits in rows for at in edits}
    wanted = [n for n in range(1, count + 1) if count <= 120 or any(abs(n - line) <= 30 for line in marked)]
    shown = re.findall(r"<i class='gap'>|<span id='L(\d+)'(?: class='(\w+)')?><em>(\d+)</em>(.*?)<code>(.*?)</code></span>", inside)
    assert [int(n) for n, *_ in shown if n] == wanted
    last = 0
    for n, kind, number, link, words in shown:
        if not n:
            last = -1  # a gap is where lines are missing
            continue
        assert (number, words) == (n, f"text {n}")
        if last >= 0:
            assert int(n) == last + 1
        else:
            assert int(n) - 1 not in wanted
        last = int(n)
        here = [(index, one) for index, one in enumerate(rows) if one[0] == last or last in one[2]]
        bad = next((one for _, one in here if one[1] != "ideal"), None)
        word = "" if not here else "✓" if bad is None else bad[1] if bad[0] == last else "fix"
        assert kind == {"": "", "✓": "good", "fix": "edit"}.get(word, "bad")
        assert link == (f"<a href='#row{min(index for index, _ in here)}'>{word}</a>" if here else "")


@given(st.lists(st.integers(1, 1 << 20), min_size=1, max_size=5), st.sampled_from((0, 1 << 10, 1 << 20)))
def test_bars_are_as_long_as_their_parts(sizes: list[int], most: int) -> None:
    text = drawn([], bars=(Bar("shared", "told", most, [(f"s{n}", size, 1) for n, size in enumerate(sizes)]),))
    used = sum(sizes)
    assert re.findall(r"style='width:([\d.]+)%'", text) == ([f"{min(100.0, 100 * used / most):.1f}"] if most else [])
    told = re.findall(r"<i style='flex:(\d+)' title='s\d+: ([\d,]+)'><b>s\d+</b><span>([\d,]+)</span>", text)
    largest = sorted(sizes, reverse=True)
    assert [(one.replace(",", ""), two) for _, one, two in told] == [(str(size), f"{size:,}") for size in largest]
    staged = drawn([], bars=(Bar("shared", "told", most, [("s", 6 * sizes[0], 3)]),))
    assert re.findall(r"<u>(.+?)</u>", staged) == ["stage 0", "1", "2"]
    assert f"title='s: {6 * sizes[0]:,}, 3 stages'" in staged
    for (flex, *_), size in zip(told, largest, strict=True):  # in proportion, but that no part is narrower than its 24th
        assert int(flex) == size if size * 24 > used else used / 24 < int(flex) <= used / 24 + 1


@pytest.mark.parametrize(
    ("now", "ideal", "result"), [(None, 1, "4-way"), (1024, 512, "4-way"), (8, None, "4-way"), (8, 8, "ideal")]
)
def test_a_row_has_its_cost_its_place_and_its_verdict(now: int | None, ideal: int | None, result: str) -> None:
    rows = [
        row(7, result, now=now, ideal=ideal, unit="wavefronts", instruction="LDS", call="main", fix="a<b"),
        row(9),
        row(8, file="x.h"),
    ]
    rows[1] = rows[1]._replace(basis=(("a", "b<"), ("c", "d")), after="then", why="since")
    text = drawn(rows)
    assert "<ul><li><b>a</b> b&lt;</li><li><b>c</b> d</li></ul></div>" in text.split("id='row1'")[1]
    assert text.count("What this rests on") == text.count("<p>then</p>") == text.count("<h3>Why</h3><p>since</p>") == 1
    details = re.findall(r"<details id='row(\d+)'( open)?><summary>(.*?)</summary>", text)
    assert [(n, opened) for n, opened, _ in details] == [("0", " open" if result != "ideal" else ""), ("1", ""), ("2", "")]
    cost = re.search("<span class='cost'>(.*?)</span>", details[0][2])
    told = {None: "", 1024: "<b>1,024</b> wavefronts, 512 ideal", 8: "<b>8</b> wavefronts"}[now]
    assert cost is not None
    assert cost[1] == told
    assert f"<em class='{'good' if result == 'ideal' else 'worse'}'>{result}</em>" in details[0][2]
    assert unescape(re.search("<small>(.*?)</small>", details[0][2])[1]) == "LDS, launched by main · a<b"  # type: ignore[index]
    assert "<a href='#L7'>7</a>" in details[0][2]
    assert "<span class='place'>x.h:8</span>" in details[2][2]
