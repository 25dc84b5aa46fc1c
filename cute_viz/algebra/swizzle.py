"""Swizzle<B,M,S>: XOR B address bits into B others (cute/swizzle.hpp)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cute_viz.algebra.inttuple import show
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError


@dataclass(frozen=True, slots=True)
class Swizzle(Shown):
    """`offset ^ ((offset & yyy) >> S)`: the B bits from M+S up are XORed into the B bits from M up.

    A negative S moves the source bits below the target bits.

    >>> Swizzle(3, 3, 3)(64), Swizzle(3, 3, 3)(72), str(Swizzle(2, 4, -3))
    (72, 64, 'Sw<2,4,-3>')
    """

    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        if self.bits < 0 or self.base < 0:
            raise AlgebraError(f"{self} is not a swizzle: B and M are 0 or more")
        if abs(self.shift) < self.bits:
            raise AlgebraError(f"{self} is not a swizzle: |S| must be at least B, or the bits would be XORed into themselves")
        if self.bits + self.base + abs(self.shift) > 64:
            raise AlgebraError(f"{self} is not a swizzle: its bits go past bit 63")

    def __str__(self) -> str:
        return f"Sw<{self.bits},{self.base},{self.shift}>"

    @property
    def changed(self) -> int:
        """The lowest of the bits that are changed.

        >>> Swizzle(2, 4, 3).changed, Swizzle(2, 4, -3).changed
        (4, 7)
        """
        return self.base - min(0, self.shift)

    @property
    def read(self) -> int:
        """The lowest of the bits that are read."""
        return self.base + max(0, self.shift)

    @property
    def yyy(self) -> int:
        """The mask of the bits that are read."""
        return ((1 << self.bits) - 1) << self.read

    @property
    def zzz(self) -> int:
        """The mask of the bits that are changed."""
        return ((1 << self.bits) - 1) << self.changed

    def rescaled(self, by: int) -> Swizzle:
        """The same swizzle on the indices of elements 2^by times as wide (narrower for a negative `by`).

        Bits within one element are left out.

        >>> str(Swizzle(3, 4, 3).rescaled(1)), str(Swizzle(3, 1, 3).rescaled(2)), str(Swizzle(3, 4, 3).rescaled(-1))
        ('Sw<3,3,3>', 'Sw<2,0,3>', 'Sw<3,5,3>')
        """
        base = self.base - by
        return Swizzle(self.bits, base, self.shift) if base >= 0 else Swizzle(max(self.bits + base, 0), 0, self.shift)

    def __call__(self, offset: Any) -> int:
        if not isinstance(offset, int):
            raise AlgebraError(f"{self} takes an integer offset, not {show(offset)}")
        moved = offset & self.yyy
        return offset ^ (moved >> self.shift if self.shift >= 0 else moved << -self.shift)


def span(first: int, count: int) -> str:
    """Bits in words.

    >>> span(3, 1), span(3, 3)
    ('bit 3', 'bits 3..5')
    """
    return f"bit {first}" if count == 1 else f"bits {first}..{first + count - 1}"
