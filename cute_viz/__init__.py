"""cute-viz: paste a CuTe layout, get a correct picture.

The public verbs, imported when they are first used:

    parse(text)                 CuTe notation -> Layout, ComposedLayout, Swizzle, tuple
    figure(obj, **options)      object -> picture model (see figures.options.FigureOptions)
    render(obj, format, ...)    object or figure -> bytes, or a file

In a notebook a layout, an atom, a tiling and a figure show themselves as pictures. Wherever an object is taken, a text is too,
and whatever prints as CuTe notation, such as the layouts, TiledCopy and TiledMMA of CUTLASS's Python DSL.

>>> import cute_viz as cv
>>> print(cv.render("(2,4):(4,1)").decode(), end="")  # doctest: +NORMALIZE_WHITESPACE
(2,4):(4,1)
      0   1   2   3
    +---+---+---+---+
 0  | 0 | 1 | 2 | 3 |
    +---+---+---+---+
 1  | 4 | 5 | 6 | 7 |
    +---+---+---+---+
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cute_viz.display import plug

if TYPE_CHECKING:
    from cute_viz.figures.model import Figure
    from cute_viz.renderers import Options

__version__ = "0.1.0"
__all__ = ["figure", "parse", "render"]


def parse(text: Any, names: Mapping[str, Any] | None = None, *, dialect: str = "auto", name: str | None = None) -> Any:
    """The object that a text stands for: CuTe notation, C++ or Python source, a print, the name of an atom.

    `names` gives values to run-time names; `name` picks one of several objects. What is no text is read as it prints.
    A CuteVizError tells what is wrong, and where.

    >>> str(parse("make_layout(make_shape(4, 8), make_stride(8, 1))")), str(parse("(M,8)", {"M": 4}))
    ('(4,8):(8,1)', '(4, 8)')
    """
    from cute_viz.spec import read

    return read(str(text), names, dialect=dialect).pick(name)


def figure(obj: Any, **options: Any) -> Figure:
    """The picture model of an object or of a text; options are the fields of `figures.options.FigureOptions`, also as words.

    A CuteVizError tells what is wrong: with the text, with an option, or that the object cannot be drawn so.

    >>> figure("((4,8),(2,2)):((32,1),(16,8))", tile="16x8").title
    '32 threads × 4 values over a 16 × 8 tile'
    """
    from cute_viz.errors import CuteVizError
    from cute_viz.figures import build
    from cute_viz.figures.options import FigureOptions, from_words

    for name in options:
        if name not in FigureOptions.__slots__:
            raise CuteVizError(f"a figure has no option {name!r}", hint=f"options: {', '.join(FigureOptions.__slots__)}")
    return build(_object(obj), FigureOptions(**from_words(options)))


def render(obj: Any, format: str | os.PathLike[str] = "text", options: Options | None = None, **figure_options: Any) -> Any:
    """An object, a text or a figure in one format, as bytes; with a path as the format, such as "x.svg", a file instead.

    The suffix of a path picks the format, and the file appears whole or not at all; then nothing is returned. Text formats
    are UTF-8. `options` say how to write the figure, all other words how to draw the object, as those of `figure` do.
    A CuteVizError tells what is wrong: what `figure` refuses, a format or a path that is no text, a suffix of no
    format, `options` that are none, words for how to draw a figure, which is drawn.

    >>> render("(2,2)", "svg")[:5]
    b'<?xml'
    """
    from cute_viz.errors import CuteVizError
    from cute_viz.figures.model import Figure
    from cute_viz.renderers import FORMATS, Options, format_of_suffix
    from cute_viz.renderers import render as render_

    if not isinstance(format, (str, os.PathLike)) or not isinstance(os.fspath(format), str):
        raise CuteVizError(f"a format or a path is text, not {format!r}", hint=f'one of {", ".join(FORMATS)}, or such as "x.svg"')
    if options is not None and not isinstance(options, Options):
        raise CuteVizError(f"options are a cute_viz.renderers.Options, not {options!r}", hint='such as Options(theme="dark")')
    if figure_options and isinstance(obj, Figure):
        raise CuteVizError(f"a figure is drawn already; {', '.join(figure_options)} goes with its object")
    path = None
    if not isinstance(format, str) or (format not in FORMATS and os.path.splitext(format)[1]):
        path = os.fspath(format)
        suffix = os.path.splitext(path)[1]
        format = format_of_suffix(suffix) or ""
        if not format:
            known = " ".join(suffix for row in FORMATS.values() for suffix in row.suffixes)
            raise CuteVizError(f"the suffix of {path!r} names no format", hint=f"one of {known}")
    data = render_(obj if isinstance(obj, Figure) else figure(obj, **figure_options), format, options)
    if path is None:
        return data
    from cute_viz.files import write

    write(data, path)
    return None


def _object(obj: Any) -> Any:
    """What is drawn: our own values as they are, everything else as it prints."""
    ours = type(obj).__module__.startswith("cute_viz.") or (isinstance(obj, (int, tuple)) and type(obj).__module__ == "builtins")
    return obj if ours else parse(obj)


def _bundle(obj: Any) -> dict[str, str]:
    """What a notebook shows of a value: its picture, if it can be drawn, and its text."""
    from cute_viz.errors import CuteVizError
    from cute_viz.figures.model import Figure
    from cute_viz.renderers import Options
    from cute_viz.renderers import render as render_

    try:
        drawn = obj if isinstance(obj, Figure) else figure(obj)
        svg = render_(drawn, "svg", Options(fragment=True)).decode()
        text = render_(drawn, "text").decode() if isinstance(obj, Figure) else str(obj)
    except CuteVizError:
        return {"text/plain": repr(obj)}
    return {"image/svg+xml": svg, "text/plain": text}


plug(_bundle)
