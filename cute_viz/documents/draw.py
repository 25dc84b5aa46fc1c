"""The words of a document's block -> the engine's answer."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

from cute_viz.engine import Answer, Folder, Request, ask
from cute_viz.errors import CuteVizError
from cute_viz.options import NAMES, OPTIONS
from cute_viz.source.opened import depends
from cute_viz.spec import PACKAGED, WORDS, Library

TEXTS = ("alt", "beside", "formats", "let", "name", "title")  # options of any text: without a value they are not flags


def words_of(line: str) -> dict[str, str]:
    """The options on a line, `key=value` or a flag alone."""
    try:
        parts = shlex.split(line)
    except ValueError as error:
        raise CuteVizError(f"the options {line!r} cannot be read: {str(error).lower()}", hint="quote as in a shell") from None
    out: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        key = word if (word := key.replace("-", "_")) in OPTIONS else key
        if key in out and key != "let":
            raise CuteVizError(f"the option {key} is given twice")
        if not equals and key in TEXTS:
            raise CuteVizError(f"the option {key} needs a value", hint=f"write {key}=..., in quotes where it has spaces")
        out[key] = f"{out[key]} {value}" if key in out else value if equals else "true"
    return out


def let_of(words: str) -> dict[str, str]:
    """The values that a block gives to names, `NAME:VALUE` or `NAME=VALUE`, several parted by spaces, commas or lines."""
    out = {}
    for item in re.split(rf"[\s,]+(?={_NAME}[:=](?!:))", words.strip()):
        found = re.fullmatch(rf"({_NAME})[:=](.+)", item, re.S)
        if found is None:
            raise CuteVizError(f"the value {item!r} has no name", hint="write let=M:512")
        out[found[1]] = found[2]
    return out


_NAME = r"(?:\?|[A-Za-z_][\w.]*(?:::\w[\w.]*)*)"


def picture(
    text: str,
    words: Mapping[str, str] | None = None,
    formats: Iterable[str] = (),
    library: Library = PACKAGED,
    folder: Folder | None = None,
) -> Answer:
    """What a block of a document asks for: an expression of any dialect, the name of a spec, or the address of an object of a file;
    and options as words, `let` among them, and `beside`, a second source.

    formats: in which it will be written, as far as that is known. It is drawn already, so that what is wrong is raised here.
    folder: where the files of addresses lie, None where none are read.

    Raises: CuteVizError for an expression with a mistake, an option that there is not, options that do not fit the object.
    """
    options = {NAMES.get(name, name): word for name, word in (words or {}).items()}
    sources = (text.strip(), *([options.pop("beside")] if "beside" in options else []))
    let = let_of(options.pop("let")) if options.get("let") else {}
    library = library.with_words({word: options.pop(word) for word in WORDS if word in options})
    request = Request(sources, options, let, formats=tuple(formats), library=library, folder=folder, strict=True)
    answer = ask(request)
    assert answer.figure is not None
    assert answer.how is not None
    return answer


def files_of(answer: Answer) -> tuple[str, ...]:
    """The files that a picture depends on: the spec or the source that it names, with what these name and include."""
    out: list[str] = []
    for reading, subject in zip(answer.readings, answer.subjects, strict=True):
        if subject.spec is not None:
            out += subject.spec.files
        elif reading.path is not None:
            out += depends(reading.path, answer.request.folder or Folder())
    return tuple(out)


def name_of(answer: Answer) -> str | None:
    """The name of the spec whose picture an answer is; None for an expression, and where options change what it shows."""
    source = answer.request.sources[0]
    drawn = len(answer.subjects) == 1 and answer.subjects[0].spec is not None
    return source if drawn and not answer.request.options.keys() - {"letters"} else None
