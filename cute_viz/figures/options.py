"""What a figure is drawn with: the options of the table that are about the object, read and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cute_viz.errors import FigureError
from cute_viz.figures.model import Legend
from cute_viz.limits import LIMITS, over
from cute_viz.options import of_level, used_by
from cute_viz.options.views import View
from cute_viz.options.words import read
from cute_viz.records import dataclass

MAX_CELLS = LIMITS["cells"].value
FIELDS = {option.field or option.name: option.name for option in of_level("object")}  # field -> option


@dataclass(frozen=True, slots=True)
class FigureOptions:
    """How to draw an object: the fields are the options of the level `object`, whose meaning is in `cute_viz.options`.

    view: None for what the object asks for, of a layout `tv` with a tile, else `grid`. tile: (rows, columns). color_by: None for
    the view's own choice. thread, warp, value: half-open ranges. tensor: the tensor's layout. bits: the option `type`; None for 16
    where nothing else tells. coord: of a tensor, where a tile of it begins.
    by: accesses of a tile in shared memory.
    heat: no option, but what the format allows: so many cells that no label fits may be drawn as an image.
    beside: no option either: the swizzle, or the layout, that is drawn beside this one, whose code of colours both have.
    wave: nor this: how many threads run together, and what they are called, where the machine is said.
    grid: nor this: the CTAs of a launch. k: the K of its tiles. part: whether other panels of the picture have the other operands.
    series: neither: the format shows one picture of several, so that the other threads of a warp are followed, too.
    """

    view: str | None = None
    tile: tuple[int, int] | None = None
    color_by: str | None = None
    labels: str = "auto"
    coords: bool = False
    title: str | None = None
    max_cells: int = MAX_CELLS
    thread: range | None = None
    warp: range | None = None
    value: range | None = None
    follow: range | None = None
    operand: str | None = None
    tensor: Any = None
    bits: int | None = None
    coord: str | None = None
    schedule: str | None = None
    cluster: tuple[int, int] | None = None
    by: Any = None
    heat: bool = False
    beside: Any = None
    wave: tuple[int, str] | None = None
    series: bool = False
    grid: tuple[int, int] | None = None
    part: bool = False
    k: int | None = None

    def __post_init__(self) -> None:
        for field, name in FIELDS.items():
            given = getattr(self, field)
            if given is not None and (found := read(name, given)) is not given:
                object.__setattr__(self, field, found)


PLAIN = FigureOptions()
_TYPED = {"a copy": "`bits=16` gives the bits of a value, Copy_Atom<NAME, half_t> its type", "an MMA": "its name has its types"}


def options_of(words: Mapping[str, Any], heat: bool = False) -> FigureOptions:
    """The options of a figure among words of the table, those of other levels left out."""
    return FigureOptions(heat=heat, **{field: words[name] for field, name in FIELDS.items() if words.get(name) is not None})


def check_use(what: str, view: View, options: FigureOptions) -> None:
    """Refuse options that a picture does not use: whoever gave them expects to see them.

    what: the picture, in words or as the option that asks for it.
    """
    for field, name in FIELDS.items():
        if name in ("view", "title", "max_cells", "labels") or getattr(options, field) == getattr(PLAIN, field):
            continue
        if name not in view.uses:
            hint = view.instead if name in ("thread", "warp", "value") else _TYPED.get(what, "") if name == "type" else ""
            raise FigureError(f"`{name}=` does not apply to {what}", hint=hint or f"it applies to {used_by(name)}")
    for name in ("labels", "color_by"):
        word, words = getattr(options, name), getattr(view, name)
        if word is not None and word not in words:
            raise FigureError(f"`{name}={word}` does not apply to {what}", hint=f"choices: {', '.join(words)}")


def operands(wanted: str | None, known: str, what: str) -> str:
    """The letters of the option `operand` in the order in which they are drawn; all without any. Raises: FigureError for a
    letter that is not known, with `what` there is instead."""
    letters = (wanted or known).upper()
    if set(letters) - set(known):
        raise FigureError(f"`operand={wanted}`: {what}")
    return "".join(x for x in known if x in letters)


def check_cells(count: int, what: str, options: FigureOptions) -> None:
    """Refuse what is too large to draw before anything is computed."""
    if count > options.max_cells:
        raise over("cells", f"{what} has {count} cells", most=options.max_cells, instead="draw a slice or a smaller tile")


assert FIELDS.keys() == {*FigureOptions.__slots__} - {"heat", "beside", "wave", "series", "grid", "part", "k"}


def an(number: int) -> str:
    """A number with its article."""
    return f"{'an' if str(number)[0] == '8' or number in (11, 18) else 'a'} {number}"


def numbered(numbers: Iterable[int], what: str) -> str:
    """Numbers with what they number."""
    *first, last = map(str, numbers)
    return f"{what}s {', '.join(first)} and {last}" if first else f"{what} {last}"


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Rising numbers as runs without gaps: the first and the last of each."""
    out: list[tuple[int, int]] = []
    for n in numbers:
        out[-1:] = [(out[-1][0], n)] if out and n == out[-1][1] + 1 else [*out[-1:], (n, n)]
    return out


def lie(where: Mapping[str, str]) -> str:
    """Where things lie, those of one memory together. where: their memories by their names."""
    told = []
    for home in dict.fromkeys(where.values()):
        its = [name for name in where if where[name] == home]
        told.append(f"{' and '.join(its)} {'lie' if len(its) > 1 else 'lies'} in {home}")
    return ", ".join(told)


def left_out(others: Mapping[str, str]) -> list[str]:
    """A note on what a picture of some operands leaves out. others: their memories, by what they are called."""
    homes = {home: [name for name, where in others.items() if where == home] for home in others.values()}
    told = " and ".join(" and ".join(its) + f", in {home}," * bool(home) for home, its in homes.items())
    return [f"{told[0].upper()}{told[1:]} {'are' if len(others) > 1 else 'is'} not drawn."] if told else []


NOT_RUN = "not run on hardware"  # what a figure says of machines; check/digest.py, `told`, takes it back where a report is kept


def not_run(machine: str = "SM100") -> str:
    """That nothing drawn was run on a machine."""
    return f"{machine}: {NOT_RUN}."


def colours(legends: Iterable[Legend]) -> str:
    """What colour means, for a description; it follows a sentence."""
    return "".join(f" Color, {legend.title}." for legend in legends)
