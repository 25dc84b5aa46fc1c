"""A spec, or the words of a document's block -> a figure and how to write it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from cute_viz.errors import CuteVizError, Span, did_you_mean
from cute_viz.figures import build
from cute_viz.figures.model import Figure
from cute_viz.figures.options import FigureOptions, from_words
from cute_viz.figures.palette import palette
from cute_viz.files import read_text
from cute_viz.renderers import FORMATS, Options, render
from cute_viz.spec import read
from cute_viz.spec.build import Builder, Spec
from cute_viz.spec.schema import COMMON, FIGURE
from cute_viz.spec.yaml import Fields, Text, Value

_WORDS = (*FIGURE, *(field for field in COMMON if field.name in ("title", "style", "palette", "formats")))


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure, how to write it, and the name of the library's spec that it is of.

    name: None of an expression, and where options change what the spec says.
    """

    figure: Figure
    options: Options
    name: str | None = None

    def write(self, format: str, **more: Any) -> bytes:
        """The picture in one format; `more` are fields of `renderers.Options`."""
        return render(self.figure, format, replace(self.options, **more))


def options_of(spec: Spec, **more: Any) -> dict[str, Any]:
    r"""The figure options of a spec, those in `more` on top.

    >>> from cute_viz.spec.build import read_specs
    >>> [spec] = read_specs("layout: (4,8)\nfigure: {view: grid, coords: true}")
    >>> options_of(spec, title="A grid")
    {'view': 'grid', 'coords': True, 'title': 'A grid'}
    """
    words: dict[str, Any] = {}
    for key, word in spec.figure.items():
        try:
            words |= from_words({key: word})
        except CuteVizError as error:
            raise spec.locate(error, f"figure.{key}") from None
    if spec.title is not None:
        words["title"] = spec.title
    return {**words, **more}


def figure_of(spec: Spec, formats: Iterable[str] = ()) -> Figure:
    """The figure of a spec, with the device that confirmed it where there is one.

    Where all `formats` (svg without any) can show an image, so many cells that no label fits become one.

    >>> from cute_viz.spec.build import read_specs
    >>> [spec] = read_specs("layout: (4,8):(8,1)")
    >>> figure_of(spec).panels[0].labels[:4]
    ('0', '1', '2', '3')
    """
    from cute_viz.check.digest import noted

    try:
        heat = all(FORMATS[name].pages for name in formats)
        return noted(build(spec.obj, FigureOptions(**options_of(spec, heat=heat))), spec.obj)
    except CuteVizError as error:
        raise spec.locate(error, "figure") from None


def check(spec: Spec) -> None:
    """Refuse what would go wrong when the spec is drawn: an unknown format or palette, a figure that cannot be.

    >>> from cute_viz.spec.build import read_specs
    >>> [spec] = read_specs("layout: (4,8)")
    >>> check(spec)
    >>> check(replace(spec, palette="mauve"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    cute_viz.errors.FigureError: ...there is no palette 'mauve'...
    """
    try:
        if spec.palette is not None:
            palette(spec.palette)
    except CuteVizError as error:
        raise spec.locate(error, "palette") from None
    for word in spec.formats:
        if word not in FORMATS:
            raise spec.locate(CuteVizError(f"there is no format {word!r}", hint=f"formats: {', '.join(FORMATS)}"), "formats")
    figure_of(spec, spec.formats)


def named(name: str) -> Spec | None:
    """The spec of the libraries that has a name, or is the only one of a file of this name; None where there is none.

    Refused: the name of a file that holds several. The mistakes of the others of a file do not matter.

    >>> named("no_such_spec") is None
    True
    """
    from cute_viz.spec.library_files import spec_file

    path = spec_file(name) if name.isidentifier() else None
    if path is None:
        return None
    builder = Builder(read_text(path), path)
    parts = builder.parts()
    if (spec := builder.pick(parts, name)) is not None:
        return spec
    asked = f"{os.path.basename(path)} holds {len(parts)} specs"
    raise CuteVizError(asked, hint=f"name one: {', '.join(list(parts)[:20])}")


def words_of(line: str) -> dict[str, str]:
    """The options on a line, `key=value` or a flag alone, as the fields of a spec.

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
        out[key] = value if equals else "true"
    return out


def picture(text: str, words: dict[str, str] | None = None, formats: Iterable[str] = ()) -> Picture:
    """What a block of a document asks for: an expression of any dialect or the name of a spec, and fields of a spec as words.

    formats: in which it will be written, as far as that is known.

    Refused: an expression with a mistake, a field that specs do not have, options that do not fit the object.

    >>> picture("((4,8),(2,2)):((32,1),(16,8))", {"tile": "16x8"}).figure.title
    '32 threads × 4 values over a 16 × 8 tile'
    """
    text, words = text.strip(), words or {}
    if not text:
        raise CuteVizError("there is nothing to draw", hint="write an expression such as (4,8):(8,1), or the name of a spec")
    spec = named(text)
    if spec is None and "\n" in text and (problem := read(text).problem()):
        raise problem  # of a pasted block a line that cannot be read may be noise; in a document it is a mistake
    changed = _spec(text if spec is None else "1", words)
    if spec is None:
        spec = changed
    else:
        style = changed.style if "style" in words else spec.style
        figure = {**spec.figure, **changed.figure}
        spec = replace(spec, figure=figure, title=changed.title or spec.title, style=style, palette=changed.palette or spec.palette)
    if spec.palette is not None:
        palette(spec.palette)  # a wrong name is an error here, where its place is known
    name = text if text.isidentifier() and not words and spec is not changed else None
    try:
        return Picture(figure_of(spec, formats), Options(spec.style, spec.palette), name)
    except CuteVizError as error:
        if spec is changed:
            _unplace_words(error, text)
        raise


def _unplace_words(error: CuteVizError, text: str) -> None:
    """The words stand behind the expression, as if they were in its text; no place can be shown of them."""
    if error.span is not None and error.span.start > len(text):
        error.text = error.span = None


def _spec(text: str, words: dict[str, str]) -> Spec:
    """A spec made of words, as if a YAML file held them; an error's place is that in the expression."""
    known = {field.name for field in _WORDS}
    for word in words:
        if word not in known:
            hint = did_you_mean(word, known, 1) or f"one of {', '.join(sorted(known))}"
            raise CuteVizError(f"there is no option {word!r}", hint=hint)
    inner = {field.name for field in FIGURE}
    after = len(text) + 1  # the words stand behind the expression, so that an error's place tells which of the two it is of
    top: dict[str, Value] = {"layout": _text(text, 0)}
    top |= {key: _text(word, after) for key, word in words.items() if key not in inner}
    top["figure"] = _fields({key: _text(word, after) for key, word in words.items() if key in inner}, after)
    try:
        return Builder(text, None).spec("", _fields(top, after))
    except CuteVizError as error:
        _unplace_words(error, text)
        raise


def _text(word: str, start: int) -> Text:
    out = Text(word)
    out.span = Span(start, start + len(word))
    return out


def _fields(values: dict[str, Value], start: int) -> Fields:
    out = Fields(values)
    out.span, out.keys_at = Span(start, start + 1), dict.fromkeys(values, Span(start, start + 1))
    return out
