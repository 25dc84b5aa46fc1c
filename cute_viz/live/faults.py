"""An error -> what a program can show of it: its words, its place in the source, and a hint that can be taken with one click."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from cute_viz.errors import CuteVizError, Span, one_line
from cute_viz.spelling import spelled

_MOST = 6  # changes that are tried before a hint stays words alone
_OPTION = re.compile(r"`([a-z_]+)=([^`]*)`")
_HOLDER = re.compile(r"^[A-Z]$|\.\.\.")  # a value that stands for others
_MEANT = re.compile(r"did you mean (?:the spec )?(.+?)\?")
_ADD = re.compile(r"^add '(.+)'$")
_CHOICES = re.compile(r"^(?:one of|choices:) (\S+?)(?:,|$)")
_INSTEAD = re.compile(
    r"(?:^|; |: )(?:write a layout, for example|an expression, for example|example:|for example|write|use|give) (.+)$"
)


def fault(error: CuteVizError, source: str, works: Callable[[str], bool] | None = None, spelling: str = "page") -> dict[str, Any]:
    """The error for JSON: `message`, `hint`, and `span`, its place in the source in UTF-16 units, as a browser counts.

    works: whether a changed source can be read; the first of what the hint proposes that does is the `fix`: text in the place of
    a span, or an option with its value.
    """
    span = _place(error, source)
    out: dict[str, Any] = {
        "message": one_line(spelled(error.message, spelling)),
        "place": one_line(spelled(error.place(), spelling)),
    }
    if error.hint:
        out["hint"] = one_line(spelled(error.hint, spelling))
    if span is not None:
        out["span"] = [units(source, span.start), units(source, span.end)]
    if error.needs:
        out["needs"] = list(error.needs)
    if error.hint and (found := _fix(error, source, span, works)):
        out["fix"] = found
    return out


def _place(error: CuteVizError, source: str) -> Span | None:
    """The span in the source: the error's text may be a part of it."""
    if error.text is None or error.span is None or not error.text:
        return None
    at = source.find(error.text)
    if at < 0 or (len(error.text) < len(source) and source.count(error.text) > 1):
        return None
    start, end = (min(at + edge, len(source)) for edge in (error.span.start, error.span.end))
    return Span(start, max(start, end))


def units(text: str, offset: int) -> int:
    """An offset in UTF-16 units."""
    return offset + sum(char > "\uffff" for char in text[:offset])


def _fix(error: CuteVizError, source: str, span: Span | None, works: Callable[[str], bool] | None) -> dict[str, Any] | None:
    hint = error.hint or ""
    for name, value in _OPTION.findall(hint):
        if value and not _HOLDER.search(value.partition("=")[2] or value):
            return {"option": name, "value": value}
    if (choice := _CHOICES.match(hint)) and len(error.options) == 1:
        return {"option": error.options[0], "value": choice[1]}
    if works is None:
        return None
    for place, words in islice(_changes(error, source, span), _MOST):
        changed = source[: place.start] + words + source[place.end :]
        if changed != source and works(changed):
            return {"span": [units(source, place.start), units(source, place.end)], "text": words}
    return None


def _changes(error: CuteVizError, source: str, span: Span | None) -> Iterator[tuple[Span, str]]:
    """What a hint proposes, and where."""
    hint = error.hint or ""
    whole = Span(0, len(source))
    if match := _ADD.match(hint):
        yield from ((Span(at, at), match[1]) for at in (len(source.rstrip()), span.end if span else len(source)))
    elif match := _MEANT.search(hint):
        place = _word(error, source, span) or span or whole
        yield from ((place, word) for word in re.split(r", | or ", match[1]))
    elif hint.startswith("remove ") and span is not None:
        yield span, ""
    elif match := _INSTEAD.search(hint):
        for words in dict.fromkeys(
            (match[1], re.split(r", or |; | or |: (?=[a-z])", match[1])[0], match[1].rpartition(", for example ")[2])
        ):
            if span is not None:
                yield span, words
            yield whole, words


def _word(error: CuteVizError, source: str, span: Span | None) -> Span | None:
    """The place of the word that a message quotes."""
    match = re.search(r"'([^']+)'", error.message)
    if match is None:
        return None
    at = source.find(match[1], span.start if span else 0)
    return Span(at, at + len(match[1])) if at >= 0 else None
