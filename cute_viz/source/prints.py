"""The prints of CuTe in any text -> entries: layouts, tensors, atoms and tilings amid the lines of a terminal or a log."""

from __future__ import annotations

from functools import partial
from typing import Any

from cute_viz.errors import CuteVizError
from cute_viz.notation.dumps import printed
from cute_viz.notation.reading import Passage
from cute_viz.source.model import Entry, Given, SourceFile


def read(text: str, given: Given) -> SourceFile:
    r"""What a text prints, an entry each, under the name before it or `object1`, `object2` ...; `?` is given by `let=?=...`.

    Raises: LimitError for a text over the limits.

    >>> [(entry.name, entry.line, str(entry.read())) for entry in read("ok\nsA:\n(_8,_4):(_4,_1)\n", Given()).entries]
    [('sA', 3, '(_8,_4):(_4,_1)')]
    """
    names: dict[str, Any] = {}
    if "?" in given.let:
        from cute_viz.source.types import numbers

        given.used.add("?")
        names["?"] = tuple(numbers(given.let["?"]))
    found = printed(Passage(text, names, resolve=given.resolve))
    found.sort(key=lambda item: item[2].start)
    entries = [Entry(name, (), place, text.count("\n", 0, place.start) + 1, partial(_value, value)) for name, value, place in found]
    return SourceFile(text, tuple(entries))


def _value(value: Any) -> Any:
    """A value. Raises: the error of what cannot be read."""
    if isinstance(value, CuteVizError):
        raise value
    return value
