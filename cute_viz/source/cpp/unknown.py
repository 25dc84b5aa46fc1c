"""Integers of C++ that a file does not tell: symbols, each with its cause; never a guess."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from cute_viz.algebra.static import unknowns
from cute_viz.errors import CuteVizError, LimitError
from cute_viz.values.integer import Unknown

_T = TypeVar("_T")
_D = TypeVar("_D")


def unknown(error: CuteVizError, part: str = "") -> Unknown:
    """An int that is not known, for a reason. part: tells ints apart that are not known for the same reason, and need not be
    equal."""
    place = "" if error.span is None else f"@{error.span.start}"
    key = f"{f'{part} of ' if part else ''}{error.needs[0] if error.needs else error.message}{place}"  # it is not what it needs
    return Unknown("?", error.text, error.span, plain=True, key=key, cause=error)


def certain(value: Any) -> Any:
    """A value of integers that are known. Raises: the error of one that is not."""
    for found in unknowns(value):
        raise found.error()
    return value


def attempted(compute: Callable[[], _T]) -> _T | CuteVizError:
    """What something is, or the error of what is not known. Raises: LimitError, after which nothing is tried any more."""
    try:
        return compute()
    except LimitError:
        raise
    except CuteVizError as error:
        return error


def tried(compute: Callable[[], _T], otherwise: _D) -> _T | _D:
    """What something is, or what stands for it where that is not known. Raises: LimitError, after which nothing is tried any
    more."""
    found = attempted(compute)
    return otherwise if isinstance(found, CuteVizError) else found
