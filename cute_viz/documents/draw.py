"""The words of a document's block -> the engine's answer."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from cute_viz.engine import Answer, Request, ask
from cute_viz.errors import CuteVizError
from cute_viz.spec import PACKAGED, Library

TEXTS = ("alt", "formats", "name", "title")  # options that hold any text, so that one without a value is no flag


def words_of(line: str) -> dict[str, str]:
    """The options on a line, `key=value` or a flag alone.

    >>> words_of("tile=8x128 title='A TV map' coords")
    {'tile': '8x128', 'title': 'A TV map', 'coords': 'true'}
    """
    try:
        parts = shlex.split(line)
    except ValueError as error:
        raise CuteVizError(f"the options {line!r} cannot be read: {str(error).lower()}", hint="quote as in a shell") from None
    out: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        key = key.replace("-", "_")
        if key in out:
            raise CuteVizError(f"the option {key} is given twice")
        if not equals and key in TEXTS:
            raise CuteVizError(f"the option {key} needs a value", hint=f"write {key}=..., in quotes where it has spaces")
        out[key] = value if equals else "true"
    return out


def picture(text: str, words: Mapping[str, str] | None = None, formats: Iterable[str] = (), library: Library = PACKAGED) -> Answer:
    """What a block of a document asks for: an expression of any dialect or the name of a spec, and options as words.

    formats: in which it will be written, as far as that is known. It is drawn already, so that what is wrong is raised here.

    Raises: CuteVizError for an expression with a mistake, an option that there is not, options that do not fit the object.

    >>> picture("((4,8),(2,2)):((32,1),(16,8))", {"tile": "16x8"}).figure.title
    '32 threads × 4 values over a 16 × 8 tile'
    """
    answer = ask(Request((text.strip(),), dict(words or {}), formats=tuple(formats), library=library, strict=True))
    assert answer.figure is not None
    assert answer.how is not None
    return answer


def name_of(answer: Answer) -> str | None:
    """The name of the spec whose picture an answer is; None for an expression, and where options change what the spec says."""
    (subject,) = answer.subjects
    (source,) = answer.request.sources
    return source if subject.spec is not None and not answer.request.options else None
