"""A unit as JSON has it, each text once, and back: for the process that parses it, and to be kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from cute_viz.source.compiled.unit import Unit


def data_of(unit: Unit) -> dict[str, Any]:
    """A unit as JSON has it, each text once.

    >>> data_of(Unit((), (), ("k.cu",)))
    {'unit': [[], [], [0], []], 'words': ['k.cu']}
    """
    table: dict[str, int] = {}

    def packed(value: Any) -> Any:
        if isinstance(value, str):
            return table.setdefault(value, len(table))
        if isinstance(value, tuple):
            return [*map(packed, value)]
        return [packed(getattr(value, field.name)) for field in fields(value)] if is_dataclass(value) else value

    return {"unit": packed(unit), "words": list(table)}


def unit_from(data: dict[str, Any]) -> Unit:
    """The unit that `data_of` has written.

    >>> unit_from(data_of(Unit((), (), ("k.cu",)))).files
    ('k.cu',)
    """
    words = [str(word) for word in data["words"]]

    @cache
    def reader(kind: Any) -> Callable[[Any], Any]:
        parts = get_args(kind)
        if get_origin(kind) is tuple and parts[-1] is ...:
            return lambda row: tuple(map(reader(parts[0]), row))
        inner = [reader(part) for part in parts if part is not type(None)]
        if get_origin(kind) is tuple:
            return lambda row: tuple(read(x) for read, x in zip(inner, row, strict=True))
        if inner:  # one of these, or None
            return lambda row: None if row is None else inner[0](row)
        if isinstance(kind, type) and is_dataclass(kind):
            members = [reader(hint) for hint in get_type_hints(kind).values()]
            return lambda row: kind(*(read(x) for read, x in zip(members, row, strict=True)))
        return words.__getitem__ if kind is str else kind

    unit: Unit = reader(Unit)(data["unit"])
    return unit
