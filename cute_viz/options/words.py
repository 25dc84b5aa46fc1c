"""The value of an option from a word, or from what Python code gives: 8x128 or (8, 128), 0..3 or range(4), f16 or 16."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from cute_viz.errors import CuteVizError, FigureError, did_you_mean
from cute_viz.limits import limit, over
from cute_viz.options import OPTIONS, Option, known
from cute_viz.values.types import bits_of

T = TypeVar("T")
_UNITS = {"px": 1, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "pt": 96 / 72.27}  # CSS pixels of each; pt is TeX's


def read(name: str, value: Any) -> Any:
    """The value of an option, checked; None stays None, as if it were not given. Raises: FigureError for an unknown option, and
    for a value that the option does not take."""
    option = known(name)
    return None if value is None else _READERS[option.holds](option, value)


def read_all(words: Mapping[str, Any]) -> dict[str, Any]:
    """The values of several options, those that are None left out."""
    return {known(name).name: value for name, word in words.items() if (value := read(name, word)) is not None}


def parse_tile(text: str) -> tuple[int, int]:
    """A tile as it is written: 8x128, (8,128)."""
    match = re.fullmatch(r"\s*\(?\s*_?(\d{1,18})\s*[x×*,]\s*_?(\d{1,18})\s*\)?\s*", text)
    if match is None or 0 in (tile := (int(match[1]), int(match[2]))):
        raise FigureError(f"{text[:40]!r} is not a tile; write rows x columns, for example 8x128")
    return tile


def parse_range(text: str) -> range:
    """One number, or the first and the last."""
    match = re.fullmatch(r"\s*(\d{1,9})\s*(?:(?:\.\.|-)\s*(\d{1,9}))?\s*", text)
    if match is None or int(match[2] or match[1]) < int(match[1]):
        raise FigureError(f"{text[:40]!r} is not a number or a range; write 5 or 0..3")
    return range(int(match[1]), int(match[2] or match[1]) + 1)


def _choice(option: Option, value: Any) -> str:
    word = _text(option, value)
    if word not in option.choices:
        hint = did_you_mean(word, option.choices, 1) or f"one of {', '.join(option.choices)}"
        raise FigureError(f"invalid value {word[:40]!r} for `{option.name}=`", hint=hint)
    return word


def _text(option: Option, value: Any) -> str:
    if not isinstance(value, str):
        raise FigureError(f"`{option.name}=` must be text, not {value!r}")
    if option.name == "title" and len(value) > limit("title"):
        raise over("title", f"a title of {len(value)} characters")
    if option.name == "operand" and not value:
        raise FigureError("`operand=` must not be empty", hint="A, B, C for an MMA; S, D for a copy")
    return value


def _tile(option: Option, value: Any) -> tuple[int, int]:
    if isinstance(value, str):
        return _named(option, parse_tile, value)
    if not isinstance(value, (tuple, list)) or len(value) != 2 or not all(map(_is_positive, value)):
        raise FigureError(f"`{option.name}=` must be rows and columns, not {value!r}", hint="example: 8x128, or (8, 128)")
    return int(value[0]), int(value[1])


def _range(option: Option, value: Any) -> range:
    if isinstance(value, str):
        return _named(option, parse_range, value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = range(value, value + 1)
    if not isinstance(value, range) or value.step != 1:
        raise FigureError(f"`{option.name}=` must be a number or a range, not {value!r}", hint="example: 5, 0..3, or range(0, 4)")
    return value


def _flag(option: Option, value: Any) -> bool:
    words = {"true": True, "yes": True, "false": False, "no": False}
    if not isinstance(value, bool) and str(value).lower() not in words:
        raise FigureError(f"`{option.name}=` must be true or false, not {value!r}")
    return value if isinstance(value, bool) else words[str(value).lower()]


def _count(option: Option, value: Any) -> int:
    if isinstance(value, str) and value.isdecimal() and len(value) <= 18:
        value = int(value)
    if not _is_positive(value):
        raise FigureError(f"`{option.name}=` must be a number of 1 or more, not {str(value)[:40]!r}")
    return int(value)


def _element(option: Option, value: Any) -> int:
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        raise FigureError(f"`{option.name}=` must be an element type, not {value!r}", hint="example: f16, or its width in bits")
    return _named(option, bits_of, value)


def _pixels(option: Option, value: Any) -> float:
    size = re.fullmatch(r"(\d*\.?\d+)\s*(in|cm|mm|pt|px)", value.strip()) if isinstance(value, str) else None
    try:
        number = round(float(size[1]) * _UNITS[size[2]], 2) if size else float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if isinstance(value, bool) or not option.least <= number <= option.most:
        raise FigureError(f"`{option.name}=` must be a number from {option.least:g} to {option.most:g}, not {str(value)[:40]!r}")
    return number


def _named(option: Option, parse: Callable[[Any], T], value: Any) -> T:
    """What a parser makes of a value; its error says of which option."""
    try:
        return parse(value)
    except CuteVizError as error:
        said = f"`{option.name}={value}`"
        named = next((word for word in (repr(value), str(value)) if error.message.startswith(f"{word} ")), None)
        message = f"{said}: {error.message}" if named is None else said + error.message.removeprefix(named)
        raise error.but(message=message) from None


def _is_positive(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


_READERS: dict[str, Callable[[Option, Any], Any]] = {
    "choice": _choice,
    "text": _text,
    "tile": _tile,
    "range": _range,
    "flag": _flag,
    "count": _count,
    "element": _element,
    "object": lambda option, value: value,  # the engine reads it, with the names and the library of the request
    "pixels": _pixels,
}
assert {option.holds for option in OPTIONS.values()} <= set(_READERS)
