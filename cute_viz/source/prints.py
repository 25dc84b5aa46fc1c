"""The prints of CuTe in any text -> entries: layouts, tensors, atoms and tilings amid the lines of a terminal or a log."""

from __future__ import annotations

from functools import partial
from typing import Any

from cute_viz.errors import raised_again
from cute_viz.notation.dumps import printed
from cute_viz.notation.syntax import Passage
from cute_viz.source.model import Entry, Given, SourceFile


def read(text: str, given: Given) -> SourceFile:
    r"""What a text prints, an entry each, under the name before it or `object1`, `object2` ...; `?` is given by `let=?=...`.
    Raises: LimitError for a text over the limits."""
    names: dict[str, Any] = {}
    if "?" in given.let:
        from cute_viz.source.types import numbers

        given.used.add("?")
        names["?"] = tuple(numbers(given.let["?"]))
    found = printed(Passage(text, names, resolve=given.resolve))
    found.sort(key=lambda item: item[2].start)
    lines = [text.count("\n", 0, place.start) + 1 for *_, place in found]
    rows = zip(found, lines, strict=True)
    entries = [Entry(name, (), place, line, partial(raised_again, value)) for (name, value, place), line in rows]
    return SourceFile(text, tuple(entries))
