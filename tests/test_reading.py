"""Every picture of the gallery is read as a person would, and one mistake in it is noticed."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from cute_viz.engine import Request, ask
from cute_viz.figures.model import Figure, Panel
from cute_viz.gallery.claims import is_true_of
from cute_viz.gallery.gates import _false, _whole, is_true
from cute_viz.gallery.plan import plan
from cute_viz.spec import Library
from tests import reading


@cache
def gallery() -> dict[str, Figure]:
    """The figures of the gallery by their names."""
    library = Library()
    found = {}
    for job in plan(["layouts/specs"], (), library).jobs:
        answer = ask(Request((job.builder.spec(job.own, job.value),), formats=("svg",), library=library))
        if answer.how.style == "default":
            found[job.name] = answer.figure
    return found


def flaws(figure: Figure) -> list[str]:
    """What is wrong with the words and cells of a figure, as `gallery --check` and `reading` find it."""
    told = any(is_true(figure.title, panel) for panel in [*figure.panels, *_whole(figure)]) and is_true_of(figure.title, figure)
    return [*([] if told else [figure.title]), *_false(figure), *reading.false(figure)]


@pytest.mark.slow
def test_the_gallery_says_nothing_false() -> None:
    assert reading.WORDS.read_text("utf-8") == reading.vocabulary([*gallery().values()]), (
        "python -m tests.test_reading, and read the difference"
    )
    assert {name: flaws(figure) for name, figure in gallery().items() if flaws(figure)} == {}


def other(text: str, rng: random.Random, letters: bool) -> str:
    """A text with another digit, or another letter; "" of one that has none."""
    places = [n for n, x in enumerate(text) if (x.islower() if letters else x.isdecimal()) and x.isascii()]
    if not places:
        return ""
    at = rng.choice(places)
    new = rng.choice([x for x in "abcdefghijklmnopqrstuvwxyz" if x != text[at]]) if letters else str((int(text[at]) + 1) % 10)
    return text[:at] + new + text[at + 1 :]


def planted(figure: Figure, rng: random.Random) -> Iterator[tuple[str, Figure]]:
    """Figures with one mistake each: of words (in the alt text, too), of a label, a paint, a box by a row, a ruler."""
    for letters in (False, True):
        for what in ("title", "caption", "description"):
            text = getattr(figure, what)
            if new := other(text, rng, letters):
                yield f"{what} {letters}", replace(figure, **{"description": figure.description.replace(text, new), what: new})

    def changed(n: int, panel: Panel) -> Figure:
        return replace(figure, panels=(*figure.panels[:n], panel, *figure.panels[n + 1 :]))

    for n, panel in enumerate(figure.panels):
        if cells := [c for c, label in enumerate(panel.labels) if re.search(r"\d", label)]:
            c = rng.choice(cells)
            labels = (*panel.labels[:c], other(panel.labels[c], rng, False), *panel.labels[c + 1 :])
            yield "label", changed(n, replace(panel, labels=labels))
        c = rng.randrange(len(panel.paints))
        if others := sorted({*panel.paints} - {panel.paints[c]}):
            yield "paint", changed(n, replace(panel, paints=(*panel.paints[:c], rng.choice(others), *panel.paints[c + 1 :])))
        if panel.boxes:
            b = rng.randrange(len(panel.boxes))
            r0, c0, r1, c1 = panel.boxes[b]
            moved = [(r0 + a, c0, r1 + z, c1) for a, z in ((-1, 0), (1, 0), (0, 1), (0, -1))]
            if fitting := [box for box in moved if 0 <= box[0] < box[2] <= panel.rows]:
                boxes = (*panel.boxes[:b], rng.choice(fitting), *panel.boxes[b + 1 :])
                yield "box", changed(n, replace(panel, boxes=boxes))
        ruler = panel.col_ruler
        if numbers := [i for i, label in enumerate(ruler.labels) if re.search(r"\d", label)]:
            i = rng.choice(numbers)
            wrong = (*ruler.labels[:i], other(ruler.labels[i], rng, False), *ruler.labels[i + 1 :])
            yield "ruler", changed(n, replace(panel, col_ruler=replace(ruler, labels=wrong)))


@pytest.mark.slow
def test_a_planted_mistake_is_noticed() -> None:
    """Of one mistake of each kind in every fourth picture, at least so many; what lives is of pictures without a notation."""
    rng = random.Random(11)
    seen, noticed = Counter[str](), Counter[str]()
    for name in sorted(gallery())[::4]:
        for what, figure in planted(gallery()[name], rng):
            seen[what] += 1
            noticed[what] += bool(flaws(figure))
    shares = {what: noticed[what] / seen[what] for what in seen}
    least = {
        "title False": 0.75,
        "title True": 0.9,
        "caption True": 0.8,
        "description True": 0.9,
        "box": 0.85,
        "label": 0.65,
        "paint": 0.55,
    }
    assert all(shares[what] >= share for what, share in least.items()), shares
    assert sum(noticed.values()) >= 0.7 * sum(seen.values()), shares


if __name__ == "__main__":  # after new words: read the difference
    reading.WORDS.write_text(reading.vocabulary([*gallery().values()]), "utf-8")
