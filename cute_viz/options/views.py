"""The kinds of picture, a row of views.txt each: what it shows, the function that draws it, and the options that it uses."""

from __future__ import annotations

from cute_viz.records import dataclass, rows

LABELS = ("auto", "full", "offset", "coord", "index", "none", "swizzle")
COLOR_BY = ("offset", "mod8", "chunk", "thread", "value", "warp", "row", "column", "tile", "none")


@dataclass(frozen=True, slots=True)
class View:
    """A kind of picture.

    meaning: in a few words. where: `module.function` of `cute_viz.figures` that draws it. uses: the options that change it, beside
    title and max_cells, which go with all. labels, color_by: the words of these options that it knows. instead: what to ask where
    a highlight does not apply.
    """

    meaning: str
    where: str
    uses: tuple[str, ...] = ()
    labels: tuple[str, ...] = ("auto", "full")
    color_by: tuple[str, ...] = ()
    instead: str = ""


def _views(of: str) -> dict[str, View]:
    out: dict[str, View] = {}
    for kind, name, meaning, where, *cells in rows(__file__, "views.txt"):
        uses, labels, color_by, instead = [*cells, "", "", "", ""][:4]
        more = (tuple(uses.split()), tuple(labels.split()) or ("auto", "full"), tuple(color_by.split()))
        out |= {name: View(meaning, where, *more, instead)} if kind == of else {}
    return out


VIEWS = _views("view")  # of a layout; the option `view` picks one
TILINGS = _views("tiling")  # of atoms, and of tilings of them, by their attribute `tiling`
BITS = View("a bare swizzle", "bits.bits")
