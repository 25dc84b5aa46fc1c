"""Notes on cells of a figure: where each is, from words such as `(0,0)..(7,0): one bank group`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from cute_viz.errors import FigureError
from cute_viz.figures.model import Figure, Note, Panel
from cute_viz.figures.paint import boxes_of

MOST = 24  # notes of a figure
LONGEST = 200  # letters of one
_CELL = r"\(\d+,\s*\d+\)"
_WHERE = (
    rf"\s*(?:(?P<panel>[A-Z]) )?(?P<where>{_CELL} ?-> ?{_CELL}|(?:brace )?(?:{_CELL}(?:\.\.{_CELL})?|T\d+|[a-z]+ \d+(?:\.\.\d+)?))"
    r"\s*:\s*(?P<text>\S.*)"
)


def noted(figure: Figure, words: str) -> Figure:
    """The figure with a note for each line of words, `WHERE: TEXT`, which its description tells, too. WHERE is a cell `(1,2)`, a
    range of cells `(0,0)..(7,0)`, a thread `T5`, a `row 3`, a `column 0..3`, or what cells have: a `bank 4`, an `offset 21`, a
    `value 1`, all outlined, or in a brace, `brace row 0..3`; `(0,0) -> (3,4)` is an arrow. They are of the panel `A ...` whose
    caption begins so, else of the first that has them. Raises: FigureError for words of another form, and for cells that the
    figure does not have."""
    lines = [line for line in words.split("\n") if line.strip()]
    if len(lines) > MOST:
        raise FigureError(f"{len(lines)} notes are too many", hint=f"at most {MOST}")
    out = []
    for line in lines:
        found = re.fullmatch(_WHERE, line)
        if found is None or len(found["text"]) > LONGEST:
            hint = "`note='(0,0)..(7,0): one bank group'`, T5, row 3, bank 4, brace column 0..3, (0,0) -> (3,4)"
            raise FigureError(f"{line[:60]!r} is not a note: WHERE: WORDS", hint=hint)
        panels = [n for n, panel in enumerate(figure.panels) if not found["panel"] or panel.caption.startswith(found["panel"])]
        for n in panels:
            if boxes := tuple(_boxes(figure.panels[n], found["where"])):
                out.append(Note(n, found["where"], found["text"].strip(), boxes))
                break
        else:
            raise FigureError(f"no panel has {found['where']}", hint=f"panels are {_sizes(figure)}")
    told = " ".join(f"At {note.where}: {note.text}." for note in out)
    return replace(figure, notes_on=(*figure.notes_on, *out), description=f"{figure.description} {told}")


def _sizes(figure: Figure) -> str:
    return ", ".join(f"{panel.rows} x {panel.cols}" for panel in figure.panels[:8])


def _boxes(panel: Panel, where: str) -> Iterator[tuple[int, int, int, int]]:
    """The cells that words mean, as boxes; none where the panel does not have them."""
    where = where.removeprefix("brace ")
    numbers = list(map(int, re.findall(r"\d+", where)))
    if "->" in where:
        ends = [list(_boxes(panel, end.strip())) for end in where.split("->")]
        yield from (*ends[0], *ends[1]) if all(ends) else ()
        return
    if where.startswith("("):
        (r0, c0), (r1, c1) = numbers[:2], numbers[-2:]
        r0, r1, c0, c1 = min(r0, r1), max(r0, r1), min(c0, c1), max(c0, c1)
        if r1 < panel.rows and c1 < panel.cols:
            yield r0, c0, r1 + 1, c1 + 1
        return
    word = "thread" if where.startswith("T") else where.split()[0]
    first, last = numbers[0], numbers[-1]
    if word in ("row", "column"):
        if last < (panel.rows if word == "row" else panel.cols):
            yield (first, 0, last + 1, panel.cols) if word == "row" else (0, first, panel.rows, last + 1)
        return
    column = panel.data.get(word, ())
    cells = [n for n, value in enumerate(column) if isinstance(value, int) and first <= value <= last]
    yield from boxes_of(cells, panel.cols)
