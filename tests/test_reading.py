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
from cute_viz.gallery import gates
from cute_viz.gallery.gates import _false, is_so
from cute_viz.gallery.plan import plan
from cute_viz.renderers import Options
from cute_viz.renderers.palette import palette
from cute_viz.spec import Library
from tests import outliers, reading
from tests.colour_science import smallest_difference


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
    told = is_so(figure.title, figure)
    return [*([] if told else [figure.title]), *_false(figure), *reading.false(figure), *outliers.odd(figure)]


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
        for n, note in enumerate(figure.notes):
            if new := other(note, rng, letters):
                notes, description = (*figure.notes[:n], new, *figure.notes[n + 1 :]), figure.description.replace(note, new)
                yield f"note {letters}", replace(figure, notes=notes, description=description)

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
def test_neighbors_are_told_apart_without_green_cones() -> None:
    """Two hues side by side differ by a CIEDE2000 of 10, or there is a border, an outline, or a label in each of the cells."""
    difference = cache(lambda *pair: smallest_difference(pair, "deutan"))
    for name, figure in gallery().items():
        for panel in figure.panels:
            cols, boxes = panel.cols, dict[int, int]()
            for k, (r0, c0, r1, c1) in enumerate(panel.boxes):
                boxes |= {r * cols + c: k for r in range(r0, r1) for c in range(c0, c1)}
            across = [(n, n + 1, panel.col_ruler.levels[n % cols + 1 :][:1]) for n in range(len(panel.paints)) if (n + 1) % cols]
            down = [(n, n + cols, panel.row_ruler.levels[n // cols + 1 :][:1]) for n in range(len(panel.paints) - cols)]
            for one, other, border in (*across, *down):
                named = panel.labels and panel.labels[one] != panel.labels[other] and panel.labels[one] and panel.labels[other]
                at = panel.paints[one], panel.paints[other]
                paints = [figure.paints[p] for p in at if p >= 0 and figure.paints[p].hue >= 0 and not figure.paints[p].faded]
                if named or any(border) or boxes.get(one) != boxes.get(other) or len({paint.hue % 8 for paint in paints}) < 2:
                    continue
                assert difference(*map(palette().fill, paints)) >= 10, (name, panel.caption, one, other)


@pytest.mark.slow
def test_a_planted_mistake_is_noticed() -> None:
    """Of one mistake of each kind in every fourth picture, at least so many: of all pictures 95 in a hundred.

    What lives: numbers of titles that somebody wrote by hand, and of alt texts that nothing else in a picture repeats; hues of a
    single cell that tells nothing, of a grid of CTAs or behind a picked tile; boxes of an operand of one thread.
    """
    rng = random.Random(11)
    seen, noticed = Counter[str](), Counter[str]()
    for name in sorted(gallery())[::4]:
        for what, figure in planted(gallery()[name], rng):
            seen[what] += 1
            noticed[what] += bool(flaws(figure))
    shares = {what: noticed[what] / seen[what] for what in seen}
    least = {"title False": 0.85, "caption False": 0.9, "description False": 0.75, "ruler": 0.9, "box": 0.85, "label": 0.9}
    least |= {"paint": 0.85, "note False": 0.8, "note True": 0.9, "title True": 0.9, "caption True": 0.9, "description True": 0.9}
    assert all(shares[what] >= share for what, share in least.items()), shares
    assert sum(noticed.values()) >= 0.93 * sum(seen.values()), shares


@pytest.mark.slow
@pytest.mark.parametrize("target", ["readme", "column", "page", "slide"])
def test_every_picture_passes_the_gates_at_every_target(target: str) -> None:
    """Sizes, letters, overlaps, borders, contrasts and claims of all pictures of the gallery, not at their own place alone."""
    found = {name: gates.flaws(drawn, Options(target=target)) for name, drawn in gallery().items()}
    assert {name: flaws for name, flaws in found.items() if flaws} == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gmma_desc_k_sw128", "gmma_desc_mn_sw64", "wgmma_operands", "instr_desc"])
def test_a_core_matrix_that_is_a_row_off_and_a_letter_of_a_caption_are_noticed(name: str) -> None:
    """Every box of core matrices, up and down; every third letter of the caption."""
    drawn = gallery()[name]
    for n, panel in enumerate(drawn.panels):
        for b, (r0, c0, r1, c1) in enumerate(panel.boxes):
            for off in (-1, 1):
                if r0 + off >= 0 and r1 + off <= panel.rows:
                    boxes = (*panel.boxes[:b], (r0 + off, c0, r1 + off, c1), *panel.boxes[b + 1 :])
                    wrong = replace(drawn, panels=(*drawn.panels[:n], replace(panel, boxes=boxes), *drawn.panels[n + 1 :]))
                    assert flaws(wrong), (n, panel.boxes[b], off)
    rng = random.Random(4)
    letters = [at for at, x in enumerate(drawn.caption) if x.islower() and x.isascii()][::3]
    for at in letters:
        caption = drawn.caption[:at] + rng.choice("qxzjk") + drawn.caption[at + 1 :]
        if caption != drawn.caption:
            assert flaws(replace(drawn, caption=caption, description=drawn.description.replace(drawn.caption, caption))), caption


@pytest.mark.slow
def test_a_letter_that_makes_another_known_word_is_noticed() -> None:
    """Every such letter of the titles and captions of every eighth picture."""
    single = {word for word in reading.known() if " " not in word}
    seen = 0
    for drawn in [*gallery().values()][::8]:
        for what in ("title", "caption"):
            text = getattr(drawn, what)
            for at in [at for at, x in enumerate(text) if x.islower() and x.isascii()]:
                for x in {*"abcdefghijklmnopqrstuvwxyz"} - {text[at]}:
                    wrong = text[:at] + x + text[at + 1 :]
                    if {word for word in reading._words(wrong) if " " not in word} <= single:
                        seen += 1
                        assert reading._words(wrong) - reading.known(), wrong
    assert seen > 500


if __name__ == "__main__":  # after new words: read the difference
    reading.WORDS.write_text(reading.vocabulary([*gallery().values()]), "utf-8")
