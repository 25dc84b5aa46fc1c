"""A figure as an exercise: some of what its cells show is left out, a letter in its place, and the key tells it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from random import Random
from string import ascii_lowercase
from zlib import crc32

from cute_viz.errors import FigureError
from cute_viz.figures.compare import side_by_side
from cute_viz.figures.model import Figure, Paint, Panel
from cute_viz.figures.paint import receding
from cute_viz.figures.repeats import KINDS
from cute_viz.spelling import count

SHOWS: Mapping[str, tuple[str, ...]] = {  # what can be left out -> columns of which a panel must have one
    "offsets": ("offset",),
    "owners": ("thread", "value", "register"),
    "threads": ("thread",),
    "banks": ("bank",),
    "coordinates": ("coordinate",),
    "tiles": ("tile",),
    "labels": (),
    "strides": (),
}
SHARE, MOST = 4, 12  # of so many cells one is left out, of a figure at most so many, unless a number is given


def blanked(figure: Figure, words: str, key: bool = False) -> Figure:
    """The figure with blanks, `offsets`, `owners=8`, `banks=all`: always the same ones of the same figure. Nothing that tells
    them is left: the title, the description, colours and columns of data. `strides` leaves out those of the source. key: beside
    a figure of one panel the whole of it, of which the answers are lit; the answers as a note beside others. Raises: FigureError
    for other words, and for what no cell shows."""
    found = re.fullmatch(r"([a-z]+)(?:=(\d{1,5}|all))?", words.strip())
    if found is None or found[1] not in SHOWS:
        raise FigureError(f"`blank={words[:30]}` leaves out nothing", hint=f"one of {', '.join(SHOWS)}; offsets=5, offsets=all")
    what, many = found[1], found[2]
    if what == "strides":
        out, answers = _without_strides(figure, many)
    else:
        out, answers = _without_labels(figure, what, many)
    head = "What belongs" if what == "labels" else f"Which {what} belong"
    title = f"{head} in the {count(len(answers), 'blank')}?"
    kind = "exercise" if figure.kind in KINDS else figure.kind  # drawn whole, and with its letters
    out = replace(out, kind=kind, title=title, description=f"{title} {figure.caption}.", facts={}, series=(), insets=())
    if not key:
        return out
    told = f"Key: {', '.join(f'{name} = {answer}' for name, answer in answers)}."
    if len(figure.panels) == 1 and what != "strides" and not figure.flow:
        pair = [replace(one, source=name, legends=(), notes=()) for one, name in ((out, "Exercise"), (_lit(figure, out), "Key"))]
        both = side_by_side(pair, title)
        both = replace(both, legends=out.legends, notes=figure.notes, source=out.source, caption=out.caption, mute=out.mute)
        return replace(both, description=f"{out.description} {told}", facts={}, kind=kind)
    return replace(out, notes=(*out.notes, told), description=f"{out.description} {told}")


def _lit(figure: Figure, exercise: Figure) -> Figure:
    """A figure of one panel, faded but for what the exercise leaves out; without hues, where the exercise has none."""
    ((one,), (panel,)) = exercise.panels, figure.panels
    if figure.legends and not exercise.legends:
        return replace(figure, paints=exercise.paints, panels=(replace(panel, paints=one.paints, boxes=one.boxes),))
    lit = [x != y for x, y in zip(one.labels, panel.labels, strict=True)]
    paints, cells = receding(figure.paints, panel.paints, lit)
    return replace(figure, paints=paints, panels=(replace(panel, paints=tuple(cells), boxes=one.boxes),))


def _without_labels(figure: Figure, what: str, many: str | None) -> tuple[Figure, list[tuple[str, str]]]:
    """The figure without the labels of some cells, and each letter with what it stands for."""
    columns = SHOWS[what]
    cells = [
        (n, cell)
        for n, panel in enumerate(figure.panels)
        if (not columns or any(name in panel.data for name in columns)) and all(shape.kind != "line" for shape in panel.shapes)
        for cell, label in enumerate(panel.labels)
        if label and (not columns or any(panel.data[name][cell] is not None for name in columns if name in panel.data))
    ]
    if not cells:
        raise FigureError(f"no cell of this picture shows {what}", hint="labels leaves out the text of every cell")
    wanted = len(cells) if many == "all" else int(many) if many else min(MOST, max(1, len(cells) // SHARE))
    if not 0 < wanted <= len(cells):
        raise FigureError(f"`blank={what}={many}`: the picture has {count(len(cells), 'cell')}", hint=f"1 to {len(cells)}, or all")
    seed = crc32(f"{figure.source} {what}".encode("utf-8", "replace"))
    picked = sorted(Random(seed).sample(cells, wanted))  # an exercise is not a secret
    letters = dict(zip(picked, _letters(), strict=False))
    answers = [(letter, figure.panels[n].labels[cell].replace("\n", " ")) for (n, cell), letter in letters.items()]
    paper = len(figure.paints)
    panels = [
        _panel(panel, {cell: letters[m, cell] for m, cell in picked if m == n}, paper) for n, panel in enumerate(figure.panels)
    ]
    asked = [legend for legend in figure.legends if legend.title.partition(";")[0] == f"hue: {what[:-1]}"]
    if asked and not figure.flow:  # hues that tell what is asked; one sees the blanks first without them
        paints = (*[replace(paint, hue=-1, shade=0, shades=1) for paint in figure.paints], Paint(0))
        panels = [replace(panel, legends=None) for panel in panels]
        return replace(figure, panels=tuple(panels), paints=paints, legends=()), answers
    return replace(figure, panels=tuple(panels), paints=(*figure.paints, Paint(-1))), answers


def _panel(panel: Panel, blanks: Mapping[int, str], paper: int) -> Panel:
    """A panel with letters in the place of labels, on a paint of their own, and nothing of these cells in its data."""
    if not blanks:
        return panel
    return replace(
        panel,
        labels=tuple([f"({blanks[n]})" if n in blanks else label for n, label in enumerate(panel.labels)]),
        paints=tuple([paper if n in blanks else paint for n, paint in enumerate(panel.paints)]),
        data={name: tuple([None if n in blanks else x for n, x in enumerate(column)]) for name, column in panel.data.items()},
        owners=tuple([(cell, mine) for cell, mine in panel.owners if cell not in blanks]),
        boxes=tuple([(r, c, r + 1, c + 1) for r, c in (divmod(n, panel.cols) for n in blanks)]),
    )


def _letters() -> Iterator[str]:
    """a to z, aa to zz, and so on."""
    for length in range(1, 5):
        yield from map("".join, product(ascii_lowercase, repeat=length))


def _without_strides(figure: Figure, many: str | None) -> tuple[Figure, list[tuple[str, str]]]:
    """The figure whose source has letters for its strides; the cells stay, which tell them."""
    shape, colon, stride = figure.source.rpartition(":")
    if not colon or many is not None or not re.search(r"\d", stride):
        raise FigureError("`blank=strides` is of a layout with strides", hint="example: (4,8):(8,1)")
    names = _letters()
    answers: list[tuple[str, str]] = []

    def letter(found: re.Match[str]) -> str:
        answers.append((next(names), found[0]))
        return answers[-1][0]

    source = f"{shape}:{re.sub(r'_?-?[0-9][0-9@/]*', letter, stride)}"
    return replace(figure, source=source), answers
