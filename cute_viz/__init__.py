"""cute-viz: paste a CuTe layout, get a correct picture.

    parse(text)          a layout, an atom, a tiling ... of CuTe notation, C++ or Python source, a print, a name
    figure(source)       the picture of it: fig.save("x.svg"), fig.svg(), fig.render("tikz"); shows itself in a notebook
    render(source, ...)  the picture as bytes, or as a file
    record("out.html")   a context that reports on the kernels which the CuTe DSL compiles in it
    report("kernel.cu")  what every copy and multiplication of a kernel costs, and the edits that fix it
    who(source, where)   who holds a place of it: "C(5,3)", "T5 V1"
    explain(source)      the steps of an operation; compare(a, b): what differs; interact: sliders in a notebook
    Layout, ComposedLayout, Swizzle, and `cute_viz.algebra` with CuTe's operations under CuTe's names

A source is a text, an object of the algebra, or whatever prints as CuTe notation, such as the layouts, TiledCopy and TiledMMA of
CUTLASS's Python DSL. Options have the names that they have on the command line. Invalid input raises a CuteVizError.

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

from typing import TYPE_CHECKING

from cute_viz import display as _display
from cute_viz.api import compare, explain, figure, find_layout, find_swizzle, parse, render, report, who

if TYPE_CHECKING:
    from cute_viz import algebra as algebra
    from cute_viz.algebra.composed import ComposedLayout
    from cute_viz.algebra.layout import Layout
    from cute_viz.algebra.swizzle import Swizzle
    from cute_viz.engine.kernel_rows import Report
    from cute_viz.errors import CuteVizError
    from cute_viz.figures.model import Figure
    from cute_viz.notebooks import interact
    from cute_viz.recording import record

__version__ = "0.1.0"
__all__ = [
    "ComposedLayout",
    "CuteVizError",
    "Figure",
    "Layout",
    "Report",
    "Swizzle",
    "compare",
    "explain",
    "figure",
    "find_layout",
    "find_swizzle",
    "interact",
    "parse",
    "record",
    "render",
    "report",
    "who",
]

_LAZY = {
    "ComposedLayout": "algebra.composed",
    "CuteVizError": "errors",
    "Figure": "figures.model",
    "Layout": "algebra.layout",
    "Report": "engine.kernel",
    "interact": "notebooks",
    "record": "recording",
    "Swizzle": "algebra.swizzle",
}


if not TYPE_CHECKING:  # so that a checker refuses a name that there is not

    def __getattr__(name: str) -> object:
        """A public name, imported when it is first used."""
        if name in _LAZY:
            from importlib import import_module

            return getattr(import_module(f"cute_viz.{_LAZY[name]}"), name)
        raise _Absent(name)

    class _Absent(AttributeError):
        """A name that the package lacks; what it may be is looked up only when the error is printed."""

        def __str__(self) -> str:
            from cute_viz.algebra.ops import OPS

            name = self.args[0]
            where = f"; it is cute_viz.algebra.{name}" if name in OPS else ""
            return f"module 'cute_viz' has no attribute {name!r}{where}"


def __dir__() -> list[str]:
    return [*__all__, "__version__", "algebra"]


_display.plug("cute_viz.notebooks")
