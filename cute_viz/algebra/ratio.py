"""The ratio of two static integers, CuTe's R<1,2>: the value of a coordinate's stride in a recast layout."""

from __future__ import annotations

from fractions import Fraction


class StaticRatio(Fraction):
    """A ratio that was written with static integers, and prints so (cute/numeric/integral_ratio.hpp)."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"_{self.numerator}/_{self.denominator}"
