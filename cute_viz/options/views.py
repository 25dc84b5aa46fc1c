"""The kinds of picture: what each shows, which module draws it, and the options that it uses; a new one is a row and a module."""

from __future__ import annotations

from cute_viz.records import dataclass, rows

LABELS = ("auto", "full", "offset", "coord", "index", "none", "swizzle", "all")
_TABLE_LABELS = LABELS[:-2]
_OWNED_LABELS = ("auto", "full", "coord", "index", "none")
_HIGHLIGHTS = ("thread", "warp", "value")
_PLACES = ("offset", "mod8", "chunk", "row", "column", "tile", "none")  # what hue can mean in a grid
_OWNERS = ("thread", "value", "warp", "row", "column", "none")  # and of owners
COLOR_BY = tuple(dict.fromkeys((*_PLACES[:3], *_OWNERS[:3], *_PLACES[3:])))


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


_NAMED = {  # several words, as the table has them
    "": (),
    "highlights": _HIGHLIGHTS,
    "all": LABELS,
    "table": _TABLE_LABELS,
    "owned": _OWNED_LABELS,
    "places": _PLACES,
    "owners": _OWNERS,
    "moved": ("the hardware moves it for all threads: `follow=5` of stages(...) shows a thread's part",),
}


def _view(meaning: str, where: str, *cells: str) -> View:
    """A row of the table."""
    uses, labels, colors = (
        tuple([x for word in cell.split() for x in _NAMED.get(word, (word,))]) for cell in (*cells, "", "", "")[:3]
    )
    instead = cells[3] if len(cells) > 3 else ""
    return View(meaning, where, uses, labels or ("auto", "full"), colors, "".join(_NAMED.get(instead, (instead,))))


_ROWS = [(head.split(), _view(*cells)) for head, *cells in rows(__file__, "views.txt")]
VIEWS = {name: view for (table, name), view in _ROWS if table == "view"}
TILINGS = {name: view for (table, name), view in _ROWS if table == "tiling"}
BITS = View("a bare swizzle", "fields.bits")
