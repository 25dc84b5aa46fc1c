"""The fields of an encoding, each of the kind that it has to be."""

from __future__ import annotations

from typing import Any

from cute_viz.errors import NotationError
from cute_viz.notation.triton_text import Encoding


class Fields:
    """The fields of one encoding, asked for by kind; an error says which field is wrong, and why."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding

    def wrong(self, message: str, hint: str | None = None) -> NotationError:
        """The error of this encoding."""
        return NotationError(message, hint=hint)

    def held(self, fits: bool, key: str, must: str, hint: str | None = None) -> None:
        """Refuse a field that is not what it must be."""
        if not fits:
            raise self.wrong(f"{key} of {self.encoding.name} {must}", hint)

    def number(self, key: str, default: int | None = None, least: int = 0) -> int:
        """A whole number."""
        value = self._get(key, default)
        fits = isinstance(value, int) and not isinstance(value, bool) and value >= least
        self.held(fits, key, f"must be an integer of {least} or more")
        return int(value)

    def power(self, key: str, default: int | None = None) -> int:
        """A power of two."""
        value = self.number(key, default, 1)
        fits = not value & (value - 1) and value <= 1 << 20
        self.held(fits, key, f"must be a power of two of at most {1 << 20}, not {value}")
        return value

    def truth(self, key: str) -> bool:
        """true or false; false where it is not given."""
        return bool(self.encoding.fields.get(key, False))

    def numbers(self, key: str, count: int = 0, default: tuple[int, ...] | None = None, least: int = 0) -> tuple[int, ...]:
        """A list of numbers, so many of them where `count` says so, `least` of them at least."""
        value = self._get(key, default)
        fits = isinstance(value, (list, tuple)) and all(isinstance(x, int) and 0 <= x <= 1 << 20 for x in value)
        self.held(fits, key, "must be a list of numbers", f"example: {key} = [1, 0]")
        self.held(len(value) >= least, key, f"needs {least} numbers or more")
        modes = f"has {len(value)} entries, the shape has {count} mode{'' if count == 1 else 's'}"
        self.held(not count or len(value) == count, key, modes, "`shape=64x64` has two")
        return tuple(map(int, value))

    def powers(self, key: str, count: int = 0, default: tuple[int, ...] | None = None, least: int = 0) -> tuple[int, ...]:
        """A list of powers of two, as many as of `numbers`."""
        value = self.numbers(key, count, default, least)
        bad = [x for x in value if x < 1 or x & (x - 1)]
        self.held(not bad, key, f"holds powers of two, not {bad[:1] and bad[0]}")
        return value

    def order(self, count: int) -> tuple[int, ...]:
        """The modes, the fastest first."""
        value = self.numbers("order", count)
        self.held(sorted(value) == list(range(count)), "order", f"must name each of the modes 0 to {count - 1} once")
        return value

    def bases(self, key: str, rank: int, default: object = ()) -> tuple[tuple[int, ...], ...]:
        """A list of coordinates, that of the lowest bit first."""
        value = self._get(key, default)
        fits = isinstance(value, (list, tuple)) and len(value) <= 64
        self.held(fits, key, "must be a list of coordinates", f"example: {key} = [[0, 1], [1, 0]]")
        for basis in value:
            fits = isinstance(basis, (list, tuple)) and len(basis) == rank
            self.held(fits, key, f"holds coordinates of {rank} numbers, one for each mode of the shape")
            self.held(all(isinstance(x, int) and 0 <= x <= 1 << 24 for x in basis), key, "holds numbers of 0 or more")
        return tuple(tuple(map(int, basis)) for basis in value)

    def _get(self, key: str, default: object) -> Any:
        value = self.encoding.fields.get(key, default)
        if value is None:
            raise self.wrong(f"{self.encoding.name} needs {key}")
        return value
