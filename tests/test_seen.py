"""Every committed picture as a reader sees it, by light and in the dark: each letter against the paint that lies beneath it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cute_viz.renderers.palette import luminance

PICTURES = sorted(Path("gallery").glob("*.svg"))
Fill = tuple[str, str]  # by light, in the dark
Shape = tuple[float, float, float, float, Fill]  # left, top, right, bottom
LARGE, SMALL = 3.0, 4.5  # of WCAG 2: of what recedes, and of all else
RECEDES = ("#5f6771", "#9aa4ae", "#57606a")


def _rules(text: str) -> dict[str, str]:
    """What the dark changes, by class."""
    return dict(re.findall(r"\.(\w+)\{fill:(#\w+)\}", text.partition("prefers-color-scheme:dark")[2]))


def _path(d: str) -> Iterator[tuple[float, float, float, float]]:
    """The boxes around the closed parts of a path."""
    for part in re.findall(r"M[^Mz]*z?", d):
        x = y = 0.0
        xs, ys = [], []
        for command, numbers in re.findall(r"([MLHVhvl])([^A-Za-z]*)", part):
            values = [float(n) for n in re.findall(r"-?[\d.]+", numbers)]
            if command in "HhVv":
                x = values[0] + x * (command == "h") if command in "Hh" else x
                y = values[0] + y * (command == "v") if command in "Vv" else y
            elif len(values) > 1:
                x, y = values[-2:]
            xs.append(x)
            ys.append(y)
        yield min(xs), min(ys), max(xs), max(ys)


def seen(path: Path) -> Iterator[tuple[str, Fill, Fill]]:
    """Each text, its ink, and the fill of what was put last at its middle."""
    text = path.read_text("utf-8")
    rules = _rules(text)
    shapes: list[Shape] = []

    def fill(element: ElementTree.Element, parent: ElementTree.Element | None = None) -> Fill | None:
        own = element.get("fill") or (parent.get("fill") if parent is not None else None)
        if own is None or own == "none":
            return None
        classes = (element.get("class") or (parent.get("class") if parent is not None else None) or "").split()
        light = own if own.startswith("#") else "#ffffff"  # what is hatched is the page
        return light, next((rules[name] for name in classes if name in rules), light if own.startswith("#") else "#0d1117")

    def walk(element: ElementTree.Element, parent: ElementTree.Element | None) -> Iterator[tuple[str, Fill, Fill]]:
        tag = element.tag.rpartition("}")[2]
        if tag in ("defs", "style") or float(element.get("opacity", "1")) < 0.9:
            return
        colour = fill(element, parent)
        if tag == "rect" and colour:
            x, y, w, h = (float(element.get(name, "0")) for name in ("x", "y", "width", "height"))
            shapes.append((x, y, x + w, y + h, colour))
        elif tag == "path" and colour:
            shapes.extend((*box, colour) for box in _path(element.get("d", "")))
        elif tag == "text" and colour:
            x, y = float(element.get("x", "0")), float(element.get("y", "0")) - 3
            beneath = next(shape[4] for shape in reversed(shapes) if shape[0] <= x <= shape[2] and shape[1] <= y <= shape[3])
            yield element.text or "", colour, beneath
        for child in element:
            yield from walk(child, element)

    yield from walk(ElementTree.fromstring(text), None)


def _contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_every_letter_can_be_read_by_light_and_in_the_dark(path: Path) -> None:
    texts = {*seen(path)}
    assert texts
    for dark in (False, True):
        poor = {
            (text, ink[dark], fill[dark])
            for text, ink, fill in texts
            if _contrast(ink[dark], fill[dark]) < (LARGE if ink[dark] in RECEDES else SMALL)
        }
        assert not poor, sorted(poor)[:8]
