"""Integers that are known when code is compiled beside those that are not: CuTe simplifies only what its types say.

Everywhere else a plain integer is a static one. An operation on operands of both kinds computes with `Known` and `Runtime`: what
depends on a run-time integer is one, and never "the constant 1" or "the constant 0" (cute/numeric/integral_constant.hpp).
"""

from __future__ import annotations

from math import gcd
from typing import Any

from cute_viz.algebra.unknown import Unknown


class Known(int):
    """A static integer in an operation on both kinds; it computes like any int, and gives plain ones.

    >>> str(Known(8)), Known(8) * 2
    ('_8', 16)
    """

    __slots__ = ()

    def __str__(self) -> str:
        return f"_{int(self)}"


class Runtime(Known):
    """An integer that is known at run time alone; so is what is computed with it, but for 0 times it.

    >>> is_known(Runtime(4) * 2), is_known(Runtime(4) * 0), is_one(Runtime(1)), str(2 + Runtime(3))
    (False, True, False, '5')
    """

    __slots__ = ()

    def __str__(self) -> str:
        return int.__repr__(self)

    __repr__ = __str__

    def __add__(self, other: Any) -> Any:
        return Runtime(int(self) + other) if isinstance(other, int) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return Runtime(int(self) - other) if isinstance(other, int) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return Runtime(other - int(self)) if isinstance(other, int) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        return 0 if is_constant(other, 0) else Runtime(int(self) * int(other))

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return Runtime(int(self) // int(other)) if isinstance(other, int) else NotImplemented

    def __rfloordiv__(self, other: Any) -> Any:
        return 0 if is_constant(other, 0) else Runtime(int(other) // int(self))

    def __mod__(self, other: Any) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        return 0 if is_constant(abs(other), 1) else Runtime(int(self) % int(other))

    def __rmod__(self, other: Any) -> Any:
        return 0 if is_constant(other, 0) else Runtime(int(other) % int(self))

    def __neg__(self) -> Any:
        return Runtime(-int(self))

    def __abs__(self) -> Any:
        return Runtime(abs(int(self)))


class MulticastMask(Runtime):
    """The CTAs of a cluster that receive a multicast, a bit each; an integer that knows its cluster.

    cluster, coord, modes: what create_tma_multicast_mask made it of.

    >>> from cute_viz.algebra.layout import Layout
    >>> mask = MulticastMask.of(0b1010, Layout((2, 2)), (1, 0), (1,))
    >>> mask.modes, mask | 1
    ((1,), 11)
    """

    cluster: Any
    coord: Any
    modes: tuple[int, ...]

    @classmethod
    def of(cls, value: int, cluster: Any, coord: Any, modes: tuple[int, ...]) -> MulticastMask:
        """A mask of these bits."""
        mask = cls(value)
        mask.cluster, mask.coord, mask.modes = cluster, coord, modes
        return mask


def is_known(x: Any) -> bool:
    """Whether a number, or a basis element's, is known when code is compiled.

    >>> is_known(4), is_known(Known(4)), is_known(Runtime(4))
    (True, True, False)
    """
    if type(x) is int:
        return True
    return not isinstance(x, (Runtime, Unknown)) and not isinstance(getattr(x, "value", None), (Runtime, Unknown))


def is_constant(x: Any, value: int) -> bool:
    """Whether something is an integer that is known to be this one (CuTe's is_constant).

    >>> is_constant(1, 1), is_constant(Runtime(1), 1)
    (True, False)
    """
    return isinstance(x, int) and x == value and not isinstance(x, Runtime)


def is_one(x: Any) -> bool:
    """Whether an extent is known to be 1.

    >>> is_one(1), is_one(Runtime(1))
    (True, False)
    """
    return bool(x == 1) and type(x) is not Runtime


def least(a: Any, b: Any) -> Any:
    """The smaller of two integers, which is known where both are.

    >>> is_known(least(2, Runtime(4))), least(2, 4)
    (False, 2)
    """
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        either, other = (a, b) if isinstance(a, Unknown) else (b, a)
        return either.derived(gcd(either.div, other.div if isinstance(other, Unknown) else int(other)))
    smaller = min(a, b)
    return smaller if is_known(a) and is_known(b) else Runtime(smaller)
