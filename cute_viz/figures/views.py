"""The views of a layout and what else is drawn: what each shows, and the options that it has use for."""

from __future__ import annotations

from typing import NamedTuple

from cute_viz.errors import FigureError
from cute_viz.figures.options import LABELS, FigureOptions

_HIGHLIGHTS = ("thread", "warp", "value")
_OWNED = ("auto", "full", "coord", "index", "none")


class View(NamedTuple):
    """What is drawn: its meaning in words, the options that change it, and the words of `labels` that it knows.

    A title and the limit of cells go with all.
    """

    meaning: str
    uses: tuple[str, ...]
    labels: tuple[str, ...] = ("auto", "full")


VIEWS = {
    "grid": View("offsets", ("color_by", "coords"), LABELS),
    "tv": View("the owner of each tile cell", ("tile", "color_by", *_HIGHLIGHTS), _OWNED),
    "table": View("thread by value", ("tile", "color_by", "coords", *_HIGHLIGHTS), LABELS),
    "both": View("tv and table side by side", ("tile", "color_by", "coords", *_HIGHLIGHTS), LABELS),
    "banks": View("where each cell lies in shared memory", ("coords", "bits"), ("auto", "full", "none")),
    "address": View("what lies where in shared memory", ("bits",)),
    "operation": View("what went in and what came out", ("coords",), LABELS),
}
TILINGS = {
    "a GEMM": View("the layouts of a whole GEMM", ("color_by", "coords", *_HIGHLIGHTS), _OWNED),
    "an MMA or a copy": View("who holds what of its tiles", ("color_by", "operand", "tensor", *_HIGHLIGHTS), _OWNED),
    "a tensor's partition": View("what a thread holds of a tensor", ("thread", "operand", "tensor")),
}
SWIZZLE = View("the bits that move", ())
_PLAIN = FigureOptions()
_WORDS = {"color_by": "color-by", "bits": "type"}  # of the command line


def check_use(what: str, view: View, options: FigureOptions) -> None:
    """Refuse options that a view has no use for: whoever gave them expects to see them.

    >>> check_use("--view grid", VIEWS["grid"], FigureOptions(bits=8))
    Traceback (most recent call last):
    cute_viz.errors.FigureError: --type does not go with --view grid
      hint: it goes with --view banks, address
    """
    for name in ("tile", "color_by", "coords", *_HIGHLIGHTS, "operand", "tensor", "bits"):
        if name not in view.uses and getattr(options, name) != getattr(_PLAIN, name):
            views = ", ".join(key for key, other in VIEWS.items() if name in other.uses)
            users = [f"--view {views}"] if views else []
            users += [key for key, other in TILINGS.items() if name in other.uses]
            raise FigureError(f"--{_WORDS.get(name, name)} does not go with {what}", hint=f"it goes with {'; '.join(users)}")
    if options.labels not in view.labels:
        raise FigureError(f"--labels {options.labels} does not go with {what}", hint=f"labels: {', '.join(view.labels)}")
