"""SVG, parsed back and held against the model."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cute_viz import figure, render
from cute_viz.figures.model import HOLE, Figure
from cute_viz.renderers import Options
from cute_viz.renderers import render as write
from cute_viz.renderers.frame import Detail, frames
from cute_viz.renderers.page import page_of
from cute_viz.renderers.palette import palette

NS = "{http://www.w3.org/2000/svg}"
CASES = [
    ("(8,8):(8,1)", {}),
    ("((2,2),(2,4)):((1,4),(2,8))", {"coords": True}),
    ("(2,3,4)", {}),
    ("((4,8),(2,2)):((32,1),(16,8))", {"tile": (16, 8), "view": "both"}),
    ("(8,4):(0,4)", {"tile": (4, 8)}),
    ("((16,8),8):((64,1),8)", {"tile": (8, 128)}),
    ("8:1", {}),
    ("(1,200)", {}),
]


def draw(source: str, options: dict, **how: Any) -> tuple[Figure, ElementTree.Element]:
    drawn = figure(source, **options)
    return drawn, ElementTree.fromstring(write(drawn, "svg", Options(**how)))


def size(root: ElementTree.Element) -> tuple[float, float]:
    x, y, width, height = map(float, root.attrib["viewBox"].split())
    assert (x, y) == (0, 0)
    assert (float(root.attrib["width"]), float(root.attrib["height"])) == (width, height)
    return width, height


def squares(root: ElementTree.Element) -> list[tuple[str, float, float, float, float]]:
    """(fill, x, y, width, height) of every rectangle of cells."""
    out = []
    for path in root.iter(f"{NS}path"):
        if path.attrib.get("class") in ("cell", "hole"):
            for x, y, w, h in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z", path.attrib["d"]):
                out.append((path.attrib["fill"], float(x), float(y), float(w), float(h)))
    return out


@pytest.mark.parametrize(("source", "options"), CASES)
def test_every_cell_has_its_colour_and_its_label_in_its_middle(source, options):
    drawn, root = draw(source, options, full=True)
    colours = palette()
    rectangles = squares(root)
    texts = {}
    for group in root.iter(f"{NS}g"):
        for text in group.iter(f"{NS}text"):
            key = (float(text.attrib["x"]), text.text)
            texts.setdefault(key, []).append(float(text.attrib["y"]))
    for frame in frames(drawn, Detail.FULL):
        panel = frame.panel
        filled = {}
        for cell, paint in enumerate(panel.paints):
            fill = f"url(#{root[0].attrib['id'][:-1]}h)" if paint == HOLE else colours.fill(drawn.paints[paint])
            filled[fill] = filled.get(fill, 0) + 1
            for line in filter(None, panel.labels[cell].split("\n")):
                assert any(t.startswith(line) for _, t in texts), line
        area = frame.cell_w * frame.cell_h
        if len(drawn.panels) == 1:
            for fill, count in filled.items():
                assert round(sum(w * h for f, _, _, w, h in rectangles if f == fill) / area) == count
            left = min(x for _, x, *_ in rectangles)
            top = min(y for _, _, y, *_ in rectangles)
            for cell, label in enumerate(panel.labels):
                if label:
                    r, c = divmod(cell, panel.cols)
                    x = round(left + (c + 0.5) * frame.cell_w, 2)
                    first = label.split("\n")[0]
                    assert any(top + r * frame.cell_h < y < top + (r + 1) * frame.cell_h for y in texts[x, first])


@pytest.mark.parametrize(("source", "options"), CASES)
def test_it_is_a_well_made_document(source, options):
    drawn, root = draw(source, options)
    width, height = size(root)
    assert root.attrib["role"] == "img"
    title, desc = root[0], root[1]
    assert (title.tag, title.text) == (f"{NS}title", drawn.title)
    assert (desc.tag, desc.text) == (f"{NS}desc", page_of(drawn, Options()).figure.description)
    assert root.attrib["aria-labelledby"] == f"{title.attrib['id']} {desc.attrib['id']}"
    for text in root.iter(f"{NS}text"):
        x, y, anchor = float(text.attrib["x"]), float(text.attrib["y"]), text.attrib.get("text-anchor")
        assert 0 <= x <= width
        assert 0 <= y <= height
        if anchor is None and text.text and "font-size" in text.attrib:
            assert x + len(text.text) * float(text.attrib["font-size"]) * 0.55 <= width
    for _, x, y, w, h in squares(root):
        assert x + w <= width
        assert y + h <= height
    raw = render(drawn, "svg").decode()
    assert "baseline" not in raw
    assert "var(" not in raw
    assert "<!--" not in raw


def test_equal_input_gives_equal_bytes():
    first, second = (render("((4,8),(2,2)):((32,1),(16,8))", "svg", tile=(16, 8)) for _ in range(2))
    assert first == second
    assert first != render("((4,8),(2,2)):((32,1),(16,8))", "svg", tile=(16, 8), view="table")


def test_themes():
    auto = render("(2,2)", "svg", theme="auto").decode()
    light = render("(2,2)", "svg", theme="light").decode()
    dark = render("(2,2)", "svg", theme="dark").decode()
    assert "@media (prefers-color-scheme:dark)" in auto
    assert "<style>" not in light
    assert "<style>" in dark
    assert "@media" not in dark
    for text in (auto, light, dark):
        ElementTree.fromstring(text)


def test_fragment_has_no_declaration():
    assert render("(2,2)", "svg", fragment=True).startswith(b"<svg ")
    assert render("(2,2)", "svg").startswith(b"<?xml ")
    assert figure("(2,2)").svg(bare=True, target="page").encode() == render("(2,2)", "svg", bare=True, target="page")


def test_long_sources_are_wrapped():
    source = "((2,2,2,2,2,2,2),(2,2,2)):((1,2,4,8,16,32,64),(128,256,512))"
    _, root = draw(source, {"title": "a very long title " * 20})
    lines = [t for t in root.iter(f"{NS}text") if t.attrib.get("font-weight") == "700"]
    assert len(lines) > 1
    assert "".join(t.text.replace(" ", "") for t in lines) == "averylongtitle" * 20


def test_owners_and_holes_can_be_seen():
    drawn, root = draw("(8,4):(0,4)", {"tile": (4, 8)})
    ear = next(path for path in root.iter(f"{NS}path") if path.attrib.get("class") == "i")
    assert ear.attrib["d"].count("M") == len(drawn.panels[0].owners) == 4
    assert any(text.text == "V0 ×8" for text in root.iter(f"{NS}text"))
    assert root.find(f".//{NS}pattern") is not None


@given(st.text(max_size=60))
def test_a_title_cannot_break_out(title):
    drawn = figure("(2,2)", title=title or "x")
    root = ElementTree.fromstring(render(drawn, "svg"))
    assert {child.tag for child in root.iter()} <= {
        NS + tag for tag in ("svg", "title", "desc", "defs", "style", "pattern", "path", "rect", "g", "text")
    }


@pytest.mark.parametrize("title", ["</svg><script>alert(1)</script>", "]]>", "a\x00b\x1b[31m", "\ud800", "<!--chunk-0-->", "&lt;"])
def test_hostile_titles(title):
    raw = render(figure("(2,2)", title=title), "svg")
    root = ElementTree.fromstring(raw)
    assert root.find(f".//{NS}script") is None
    assert b"<script" not in raw
    assert b"\x1b" not in raw
