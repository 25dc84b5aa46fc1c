"""The ratio of two static integers, CuTe's R<1,2>: the value of a coordinate's stride in a recast layout."""

from __future__ import annotations

from fractions import Fraction


class StaticRatio(Fraction):
    """A ratio that was written with static integers, and prints so (cute/numeric/integral_ratio.hpp).

    >>> str(StaticRatio(1, 2)), StaticRatio(1, 2) == Fraction(1, 2), str(StaticRatio(1, 2) * 3)
    ('_1/_2', True, '3/2')
    """

    __slots__ = ()

    def __str__(self) -> str:
        return f"_{self.numerator}/_{self.denominator}"
