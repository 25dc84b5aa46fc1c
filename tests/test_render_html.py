"""The HTML page, parsed back: its tables and its data are the model, and nothing that a user writes gets out of its place."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cute_viz import figure, render

HOSTILE = [
    "</title><script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "]]> --> <!-- <svg onload=alert(1)>",
    '" onmouseover="alert(1)',
    "\x00\x1b[31m\u202e\ud800",
]


class Page(HTMLParser):
    """What the page holds: elements by name, table cells, the text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: dict[str, int] = {}
        self.attributes: list[tuple[str, str | None]] = []
        self.cells: list[str] = []
        self.scripts: list[str] = []
        self.title = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.attributes += attrs
        self.open.append(tag)
        if tag == "td":
            self.cells.append("")
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if not self.open:
            return
        if self.open[-1] == "td":
            self.cells[-1] += data
        elif self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open[-1] == "title" and "svg" not in self.open:
            self.title += data


def page(source: str, theme: str | None = None, **words) -> Page:
    return Page(render(figure(source, **words), "html", theme=theme).decode())


def test_the_table_is_the_panel():
    drawn = figure("((2,2),(2,4)):((1,4),(2,8))")
    found = page("((2,2),(2,4)):((1,4),(2,8))")
    assert found.cells[1:] == list(drawn.panels[0].labels)
    assert found.tags["th"] == 8 + 4


def test_the_data_are_the_model():
    drawn = figure("SM80_16x8x16_F32F16F16F32_TN")
    data = json.loads(page("SM80_16x8x16_F32F16F16F32_TN").scripts[0])
    assert len(data["panels"]) == 3
    for mine, panel in zip(data["panels"], drawn.panels, strict=True):
        assert mine["labels"] == [label.replace("\n", " ") for label in panel.labels]
        assert (mine["thread"], mine["value"]) == (list(panel.data["thread"]), list(panel.data["value"]))


@pytest.mark.parametrize(("source", "column"), [("(32,32):(32,1)", "offset"), ("(32,32):(1@0,1@1)", "coordinate")])
def test_labels_that_are_a_column_of_the_data_are_not_written_twice(source, column):
    (panel,) = json.loads(Page(render(figure(source), "html").decode()).scripts[0])["panels"]
    assert panel["labels"] == column
    values = panel["data"][column]
    shown = [f"({','.join(map(str, x))})" if isinstance(x, list) else str(x) for x in values]  # as the script does
    assert tuple(shown) == figure(source).panels[0].labels


def test_it_needs_no_network():
    text = render(figure("(4,8):(8,1)"), "html").decode()
    addresses = [value for name, value in page("(4,8):(8,1)").attributes if name in ("src", "href", "xlink:href")]
    assert not [value for value in addresses if value and not value.startswith("data:")]
    assert "default-src 'none'" in text
    assert "@import" not in text


@pytest.mark.parametrize("title", HOSTILE)
def test_hostile_titles(title):
    plain, found = page("(2,2)", title="x"), page("(2,2)", title=title)
    assert found.tags == plain.tags
    assert len(found.scripts) == 2
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert found.title == title.replace("\x00", "\ufffd").replace("\x1b", "\ufffd").replace("\u202e", "\ufffd").replace(
        "\ud800", "\ufffd"
    )


@given(st.text(max_size=30))
@settings(deadline=None, max_examples=60)
def test_any_title(title):
    assert page("(2,2)", title=title).tags["script"] == 2


@pytest.mark.parametrize("theme", ["auto", "light", "dark", "print"])
def test_themes(theme):
    found = page("(2,2)", theme)
    assert ("class", theme) in found.attributes
