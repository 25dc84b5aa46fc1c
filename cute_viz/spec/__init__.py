"""YAML -> objects: the library of atoms by name, and users' spec files, every error with its line and column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cute_viz.notation.program import Document


def resolve(name: str, args: tuple[str, ...] = ()) -> Any:
    """The atom of a name and its template arguments, or None; see `spec.library.resolve`.

    >>> str(resolve("SM80_16x8x16_F32F16F16F32_TN").layout_c), resolve("no_such_atom")
    ('((_4,_8),(_2,_2)):((_32,_1),(_16,_8))', None)
    """
    from cute_viz.spec.library import resolve as resolve_

    return resolve_(name, args)


def read(
    text: str, names: Mapping[str, Any] | None = None, warnings: list[str] | None = None, *, dialect: str = "auto"
) -> Document:
    """Everything that a text holds, by name, with the library of atoms at hand; see `notation.read`.

    >>> str(read("SM80_16x8x16_F32F16F16F32_TN{}").pick().thr_id)
    '_32:_1'
    """
    from cute_viz.notation import read as read_

    return read_(text, names, warnings, dialect=dialect, resolve=resolve)
