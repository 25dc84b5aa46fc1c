"""How much is taken: the limits, what each bounds, the option that raises it, and the error of what is over one."""

from __future__ import annotations

from typing import NamedTuple

from cute_viz.errors import CuteVizError, LimitError, Span


class Limit(NamedTuple):
    """A limit: its value, what it counts, how far it can be raised, and the option that raises it."""

    value: int
    what: str
    most: int
    option: str = "--limit"


LIMITS = {
    "input": Limit(1 << 20, "characters of a log or a YAML file", 1 << 28),
    "source": Limit(1 << 16, "characters of source code; more lines than that are searched for prints", 1 << 28),
    "json": Limit(1 << 24, "characters of a figure's JSON", 1 << 28),
    "document": Limit(1 << 24, "characters of a document with pictures", 1 << 28),
    "file": Limit(1 << 28, "bytes of a file that is read", 1 << 32),
    "nesting": Limit(64, "brackets in brackets, levels of YAML", 128),
    "digits": Limit(400, "digits of an integer", 1000),  # of sizes, too, which have more: Python prints 4300
    "modes": Limit(1024, "integers in the shapes of one object", 1 << 20),
    "yaml-nodes": Limit(50_000, "nodes of a YAML file, each alias counted with all that it stands for", 1 << 24),
    "prints": Limit(4_000, "places of a log that are tried as prints", 1 << 20),
    "cells": Limit(1 << 18, "cells of a figure", 1 << 30, "--max-cells"),
    "title": Limit(2000, "characters of a title", 1 << 16),
    "slices": Limit(256, "slices of a grid", 1 << 14),
    "image-cells": Limit(1 << 25, "cells of an image", 1 << 28),
    "labels": Limit(1 << 15, "labels of a PNG or PDF", 1 << 20),
    "pixels": Limit(1 << 27, "pixels of a PNG", 1 << 31),
    "accesses": Limit(1 << 20, "elements that an analysed access touches, or that its tile has", 1 << 28),
    "combinations": Limit(10_000, "operations of one entry of a library that check-spec tries", 1 << 20),
    "tile-bytes": Limit(1 << 16, "bytes of a tile whose swizzle is searched", 1 << 24),
}

_raised: dict[str, int] = {}


def limit(name: str) -> int:
    """The value of a limit, as it was last raised.

    >>> limit("nesting")
    64
    """
    return _raised.get(name) or LIMITS[name].value


def set_limit(name: str, value: int) -> None:
    """Another value for a limit, in this process.

    Refused: a name that is no limit, a value outside 1 and what the limit can be.

    >>> set_limit("nesting", 100); limit("nesting")
    100
    >>> set_limit("nesting", 64)
    """
    if name not in LIMITS or LIMITS[name].option != "--limit":
        hint = f"cells are raised with {LIMITS[name].option}" if name in LIMITS else f"limits: {', '.join(LIMITS)}"
        raise CuteVizError(f"there is no limit {name!r} to set", hint=hint)
    if not 1 <= value <= LIMITS[name].most:
        raise CuteVizError(f"the limit {name} can be 1 to {LIMITS[name].most}, not {value}")
    _raised[name] = value


def raised_by(name: str) -> str:
    """The option that raises a limit, in words.

    >>> raised_by("cells"), raised_by("digits")
    ('--max-cells N (max_cells in a spec)', 'cute-viz --limit digits=N (up to 1000)')
    """
    known = LIMITS[name]
    return (
        f"cute-viz --limit {name}=N (up to {known.most})"
        if known.option == "--limit"
        else f"{known.option} N (max_cells in a spec)"
    )


def raised() -> dict[str, int]:
    """The limits that were set, for another process to set them too.

    >>> raised() == {} or set(raised()) <= set(LIMITS)
    True
    """
    return dict(_raised)


def over(
    name: str,
    found: str,
    *,
    most: int | None = None,
    instead: str = "",
    text: str | None = None,
    span: Span | None = None,
    place: str | None = None,
) -> LimitError:
    """The error of input over a limit: what was found, the limit, what else would do, and the option that raises it.

    most: the limit where it was not taken from the table; instead: advice that comes first; place: a file's name.

    >>> print(over("nesting", "brackets nested deeper than any layout"))
    brackets nested deeper than any layout; the limit is 64
      hint: cute-viz --limit nesting=N (up to 128) raises it
    """
    way = f"{raised_by(name)} raises it"
    hint = f"{instead}; {way}" if instead else way
    return LimitError(f"{found}; the limit is {most or limit(name)}", text=text, span=span, hint=hint, name=place)
