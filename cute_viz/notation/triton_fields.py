"""The fields of an encoding, each of the kind that it has to be."""

from __future__ import annotations

from typing import Any

from cute_viz.errors import NotationError
from cute_viz.notation.triton_text import Encoding


class Fields:
    """The fields of one encoding, asked for by kind; an error says which field is wrong, and why.

    >>> from cute_viz.notation.triton_text import find
    >>> fields = Fields(find("#ttg.blocked<{order = [1, 0]}>")[0].encoding)
    >>> fields.numbers("order", 2), fields.number("version", 1)
    ((1, 0), 1)
    """

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding

    def wrong(self, message: str, hint: str | None = None) -> NotationError:
        """The error of this encoding."""
        return NotationError(message, hint=hint)

    def number(self, key: str, default: int | None = None, least: int = 0) -> int:
        """A whole number."""
        value = self._get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.wrong(f"{key} of {self.encoding.name} must be an integer of {least} or more")
        return value

    def power(self, key: str, default: int | None = None) -> int:
        """A power of two."""
        value = self.number(key, default, 1)
        if value & (value - 1) or value > 1 << 20:
            raise self.wrong(f"{key} of {self.encoding.name} must be a power of two of at most {1 << 20}, not {value}")
        return value

    def truth(self, key: str) -> bool:
        """true or false; false where it is not given."""
        return bool(self.encoding.fields.get(key, False))

    def numbers(self, key: str, count: int = 0, default: tuple[int, ...] | None = None, least: int = 0) -> tuple[int, ...]:
        """A list of numbers, so many of them where `count` says so, `least` of them at least."""
        value = self._get(key, default)
        if not isinstance(value, (list, tuple)) or not all(isinstance(x, int) and 0 <= x <= 1 << 20 for x in value):
            raise self.wrong(f"{key} of {self.encoding.name} must be a list of numbers", hint=f"example: {key} = [1, 0]")
        if len(value) < least:
            raise self.wrong(f"{key} of {self.encoding.name} needs {least} numbers or more")
        if count and len(value) != count:
            what = f"{key} of {self.encoding.name} has {len(value)} entries, the shape has {count} mode{'' if count == 1 else 's'}"
            raise self.wrong(what, hint="`shape=64x64` has two")
        return tuple(map(int, value))

    def powers(self, key: str, count: int = 0, default: tuple[int, ...] | None = None, least: int = 0) -> tuple[int, ...]:
        """A list of powers of two, as many as of `numbers`."""
        value = self.numbers(key, count, default, least)
        if bad := [x for x in value if x < 1 or x & (x - 1)]:
            raise self.wrong(f"{key} of {self.encoding.name} holds powers of two, not {bad[0]}")
        return value

    def order(self, count: int) -> tuple[int, ...]:
        """The modes, the fastest first."""
        value = self.numbers("order", count)
        if sorted(value) != list(range(count)):
            raise self.wrong(f"order of {self.encoding.name} must name each of the modes 0 to {count - 1} once")
        return value

    def bases(self, key: str, rank: int, default: Any = ()) -> tuple[tuple[int, ...], ...]:
        """A list of coordinates, that of the lowest bit first."""
        value = self._get(key, default)
        if not isinstance(value, (list, tuple)) or len(value) > 64:
            raise self.wrong(
                f"{key} of {self.encoding.name} must be a list of coordinates", hint=f"example: {key} = [[0, 1], [1, 0]]"
            )
        for basis in value:
            if not isinstance(basis, (list, tuple)) or len(basis) != rank:
                raise self.wrong(
                    f"{key} of {self.encoding.name} holds coordinates of {rank} numbers, one for each mode of the shape"
                )
            if not all(isinstance(x, int) and 0 <= x <= 1 << 24 for x in basis):
                raise self.wrong(f"{key} of {self.encoding.name} holds numbers of 0 or more")
        return tuple(tuple(map(int, basis)) for basis in value)

    def _get(self, key: str, default: Any) -> Any:
        value = self.encoding.fields.get(key, default)
        if value is None:
            raise self.wrong(f"{self.encoding.name} needs {key}")
        return value
