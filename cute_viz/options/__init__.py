"""Every option of a picture, once: what it means, what it holds, where it applies.

The command line's options, the fields of specs, the words of documents, the keywords of Python, the JSON schema and the reference
follow from the table `options.txt`; `views.py` says which picture uses which option.
"""

from __future__ import annotations

from typing import Any

from cute_viz.errors import FigureError, did_you_mean
from cute_viz.options.views import COLOR_BY, LABELS, TILINGS, VIEWS
from cute_viz.records import dataclass, rows


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    short: its line of help; more: what only the reference adds.
    holds: `choice` one of `choices`; `text`; `tile` MxN; `range` 5 or 0..3; `flag`; `count` an integer of 1 or more; `element` a
        type by name or width in bits; `object` an expression, or the object; `pixels` a number between least and most.
    level: `object` how the object is drawn; `panels` what becomes of the panels of the finished figure; `several` how figures go
        together; `page` how the figure is written.
    field: the name of the field of `figures.options.FigureOptions`, where it is another. word: what all but Python call it,
        where `for` is a keyword.
    """

    name: str
    holds: str
    short: str
    level: str
    choices: tuple[str, ...] = ()
    default: str | None = None
    field: str = ""
    word: str = ""
    example: str = ""
    least: float = 0
    most: float = 0
    more: str = ""

    @property
    def meaning(self) -> str:
        """What it means, whole, for the reference."""
        return f"{self.short}. {self.more}".rstrip()

    @property
    def metavar(self) -> str:
        """What stands for the value in a help text."""
        return self.example or {"tile": "MxN", "range": "N[..M]", "element": "TYPE", "object": "LAYOUT", "pixels": "PX"}.get(
            self.holds, "TEXT"
        )


TARGETS = ("screen", "readme", "column", "page", "slide", "terminal")  # `renderers.targets` has their measures
_VIEW_WORDS = " ".join(f"`{name}`: {view.meaning}." for name, view in VIEWS.items())

_CHOICES = {"view": tuple(VIEWS), "color_by": COLOR_BY, "labels": LABELS, "target": TARGETS}


def _option(name: str, holds: str, level: str, short: str, said: str = "", more: str = "") -> Option:
    """A row of options.txt; a choice of kinds of pictures, or of their words, is one of views.py."""
    other: dict[str, Any] = dict(part.split("=", 1) for part in said.split("; ") if part)
    choices = _CHOICES.get(name) or tuple(other.pop("choices", "").split(",") if "choices" in other else ())
    other |= {end: float(other[end]) for end in ("least", "most") if end in other}
    return Option(name, holds, short, level, choices, **other, more=_VIEW_WORDS if name == "view" else more)


OPTIONS: dict[str, Option] = {row[0]: _option(*row) for row in rows(__file__, "options.txt")}
NAMES = {option.word: name for name, option in OPTIONS.items() if option.word}  # of the words that are not names in Python


def known(name: str) -> Option:
    """The option of a name or a word; also with - for _. Raises: FigureError for an unknown option, with those like it."""
    word = NAMES.get(name, name).replace("-", "_")
    if word in OPTIONS:
        return OPTIONS[word]
    words = [option.word or option.name for option in OPTIONS.values()]
    hint = did_you_mean(word, words, 1) or f"one of {', '.join(words)}"
    raise FigureError(f"there is no option {name[:40]!r}", hint=hint.replace("_", "-") if "-" in name else hint)


def of_level(level: str) -> tuple[Option, ...]:
    """The options of a level."""
    return tuple(option for option in OPTIONS.values() if option.level == level)


def used_by(name: str) -> str:
    """The pictures that use an option, in words."""
    views = ", ".join(key for key, view in VIEWS.items() if name in view.uses)
    others = [view.meaning for view in TILINGS.values() if name in view.uses]
    return "; ".join(part for part in (f"the views {views}" if views else "", ", ".join(others)) if part)
