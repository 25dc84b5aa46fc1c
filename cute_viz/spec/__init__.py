"""YAML -> objects: the library of atoms by name, and users' spec files, every error with its line and column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cute_viz.notation.program import Document


def resolve(name: str, args: tuple[str, ...] = ()) -> Any:
    """The atom of a name and its template arguments, or None; see `spec.library.resolve`."""
    from cute_viz.spec.library import resolve as resolve_

    return resolve_(name, args)


def read(
    text: str, names: Mapping[str, Any] | None = None, warnings: list[str] | None = None, *, dialect: str = "auto"
) -> Document:
    """Everything that a text holds, by name, with the library of atoms at hand; see `notation.read`."""
    from cute_viz.notation import read as read_

    return read_(text, names, warnings, dialect=dialect, resolve=resolve)
