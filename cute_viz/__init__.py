"""cute-viz: paste a CuTe layout, get a correct picture.

The public verbs, imported when they are first used:

    parse(text)                 CuTe notation -> Layout, ComposedLayout, Swizzle, tuple
    figure(obj, **options)      object -> picture model (see figures.options.FigureOptions)
    render(obj, format, ...)    object or figure -> bytes

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

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cute_viz.figures.model import Figure
    from cute_viz.renderers import Options

__version__ = "0.1.0"
__all__ = ["figure", "parse", "render"]


def parse(text: str, names: Mapping[str, Any] | None = None, *, dialect: str = "auto", name: str | None = None) -> Any:
    """The object that a text stands for: CuTe notation, C++ or Python source, a print, the name of an atom.

    `names` gives values to run-time names; `name` picks one of several objects. A CuteVizError tells what is wrong, and where.
    """
    from cute_viz.spec import read

    return read(text, names, dialect=dialect).pick(name)


def figure(obj: Any, **options: Any) -> Figure:
    """The picture model of an object or of a text; options are the fields of `figures.options.FigureOptions`.

    >>> figure("((4,8),(2,2)):((32,1),(16,8))", tile=(16, 8)).title
    '32 threads × 4 values over a 16 × 8 tile'
    """
    from cute_viz.figures import build
    from cute_viz.figures.options import FigureOptions

    return build(parse(obj) if isinstance(obj, str) else obj, FigureOptions(**options))


def render(obj: Any, format: str = "text", options: Options | None = None, **figure_options: Any) -> bytes:
    """An object, a text or a figure in one format, as bytes."""
    from cute_viz.figures.model import Figure
    from cute_viz.renderers import render as render_

    return render_(obj if isinstance(obj, Figure) else figure(obj, **figure_options), format, options)
