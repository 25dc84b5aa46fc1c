"""Swizzle<B,M,S>: XOR B address bits into B others; made of numbers or masks, merged (cute/swizzle.hpp)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import overload

from cute_viz.algebra.common import refuse
from cute_viz.algebra.inttuple import show
from cute_viz.display import Shown
from cute_viz.errors import AlgebraError
from cute_viz.records import dataclass
from cute_viz.values.integer import Runtime, Unknown


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
        if not all(isinstance(number, int) for number in (self.bits, self.base, self.shift)):
            raise AlgebraError(f"{self} is not a swizzle: B, M and S are integers")
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

    @overload
    def __call__(self, offset: int) -> int: ...
    @overload
    def __call__(self, offset: object) -> object: ...
    def __call__(self, offset: object) -> object:
        if isinstance(offset, Unknown):
            return offset.applied(str(self))
        if not isinstance(offset, int):
            raise AlgebraError(f"{self} takes an integer offset, not {show(offset)}")
        value = self.each([offset])[0]
        return Runtime(value) if isinstance(offset, Runtime) else value

    def each(self, offsets: Iterable[int]) -> list[int]:
        """Its values at known offsets, without their marks.

        >>> Swizzle(3, 3, 3).each([0, 64, 72]), Swizzle(2, 4, -3).each([16])
        ([0, 72, 64], [144])
        """
        read, up, down = self.yyy, max(0, -self.shift), max(0, self.shift)
        return [offset ^ (offset & read) >> down << up for offset in offsets]


def span(first: int, count: int) -> str:
    """Bits in words."""
    return f"bit {first}" if count == 1 else f"bits {first}..{first + count - 1}"


def chunks_in_words(swizzle: Swizzle, count: int) -> str:
    """What the number of a chunk is, one of a power of two, counted from the lowest bit that a swizzle changes."""
    first, bits = swizzle.changed, swizzle.bits
    all_of_it = count == 1 << bits
    told = f", the bits that {swizzle} changes" if all_of_it else f"; {swizzle} changes {span(first, bits)} of the offset"
    return f"offset / {1 << first} mod {count}{told if bits else ''}"


def make_swizzle(y: int, z: int) -> Swizzle:
    """The swizzle that XORs the bits of the mask Y into those of the mask Z (make_swizzle<Y,Z>()). Raises: AlgebraError for
    masks of different bit counts, or with gaps. Source: cute/swizzle.hpp."""
    if not isinstance(y, int) or not isinstance(z, int) or y < 0 or z < 0:
        refuse("make_swizzle", (y, z), "the masks must be integers, 0 or more")
    if y.bit_count() != z.bit_count():
        refuse("make_swizzle", (bin(y), bin(z)), "Number of bits in Y and Z don't match")
    if y == 0:
        return Swizzle(0, 0, 0)
    low_y, low_z = _lowest(y), _lowest(z)
    swizzle = Swizzle(y.bit_count(), min(low_y, low_z), low_y - low_z)
    if swizzle.yyy | swizzle.zzz != y | z:
        refuse("make_swizzle", (bin(y), bin(z)), "the bits of a mask must be contiguous")
    return swizzle


def swizzle_of(*numbers: int) -> Swizzle:
    """Swizzle<B,M,S> of three numbers, or the swizzle of two bit masks.

    >>> str(swizzle_of(3, 4, 3)), str(swizzle_of(0b11000000, 0b110))
    ('Sw<3,4,3>', 'Sw<2,1,5>')
    """
    if len(numbers) not in (2, 3) or not all(isinstance(n, int) for n in numbers):
        raise AlgebraError("make_swizzle takes B, M and S, or the masks Y and Z")
    return Swizzle(*numbers) if len(numbers) == 3 else make_swizzle(*numbers)


def merge_swizzles(a: Swizzle, b: Swizzle) -> Swizzle:
    """composition(Swizzle, Swizzle): the swizzle that does both (cute/swizzle.hpp). Raises: AlgebraError for different shifts,
    or bits that no single swizzle has."""
    if a.shift != b.shift:
        refuse("composition", (a, b), "Can only merge swizzles of the same shift.")
    return make_swizzle(a.yyy ^ b.yyy, a.zzz ^ b.zzz)


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


class OpenBits(Unknown):
    """A run-time integer some of whose bits are known: CuTe's MixedBits (cute/swizzle.hpp)."""

    __slots__ = ("known", "open")

    def __init__(self, known: int, open: int) -> None:
        div = (known | open) & -(known | open)
        super().__init__(f"?{{div={div}}}" if div > 1 else "?")
        self.known, self.open = known, open


class MixedBits(int):
    """A number of which CuTe's types know some bits, as it prints it: `M_8|(32&96)=40`. It computes like any int."""

    known: int
    open: int

    @classmethod
    def of(cls, value: int, bits: Unknown) -> int:
        """A number, of which these bits are known; a plain one where nobody says which."""
        if not isinstance(bits, OpenBits):
            return int(value)
        out = cls(value)
        out.known, out.open = bits.known, bits.open
        return out

    def __str__(self) -> str:
        return f"M_{self.known}|({self & self.open}&{self.open})={int(self)}"
