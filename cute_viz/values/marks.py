"""The marks of integers: known when code is compiled, or only when it runs. A plain `int` is the former, and prints without a mark.

CuTe simplifies only what its types say: a `Runtime` is never "the constant 1" (cute/numeric/integral_constant.hpp), and what is
computed of one is one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeGuard


class Static(int):
    """An integer that was written as a compile-time one (`_8`, `Int<8>{}`), and prints so. It computes like any int; arithmetic
    gives plain ints."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"_{int(self)}"

    def __repr__(self) -> str:
        return f"Static({int(self)})"


class Runtime(int):
    """An integer that is known only when code runs; so is what is computed with it, except 0 times it."""

    __slots__ = ()

    def __neg__(self) -> int:
        return Runtime(-int(self))

    def __abs__(self) -> int:
        return Runtime(abs(int(self)))


def _beside_runtime(word: str) -> Callable[[Any, Any], Any]:
    """The arithmetic of a Static: what a Runtime is computed with is the Runtime's."""
    compute = getattr(int, word)
    return lambda self, other: NotImplemented if isinstance(other, Runtime) else compute(self, other)


def _at_run_time(word: str, reflected: bool, zero: Callable[[Any], bool]) -> Callable[[Any, Any], Any]:
    """The arithmetic of a Runtime; zero: of which constants the result is 0 whatever the Runtime is."""
    compute = getattr(operator, word)

    def computed(self: int, other: object) -> object:
        if not isinstance(other, int):
            return NotImplemented
        if zero(other):
            return 0
        return Runtime(compute(int(other), int(self)) if reflected else compute(int(self), int(other)))

    return computed


def is_constant(x: object, value: int) -> bool:
    """Whether something is an integer that is known to be this one (CuTe's is_constant)."""
    return isinstance(x, int) and x == value and not isinstance(x, Runtime)


def is_static(x: object, *values: int) -> TypeGuard[Static]:
    """Whether something is an integer that was written as a static one; of several numbers, one of these."""
    return isinstance(x, Static) and (not values or x in values)


def is_one(x: object) -> bool:
    """Whether an extent is known to be 1."""
    return bool(x == 1) and not isinstance(x, Runtime)


def _never(_: object) -> bool:
    return False


def _zero(x: object) -> bool:
    return is_constant(x, 0)


def _unit(x: int) -> bool:
    return is_constant(abs(x), 1)


for _name, _zeros in {
    "add": (_never, _never),
    "sub": (_never, _never),
    "mul": (_zero, _zero),
    "floordiv": (_never, _zero),
    "mod": (_unit, _zero),
}.items():
    setattr(Static, f"__{_name}__", _beside_runtime(f"__{_name}__"))
    setattr(Runtime, f"__{_name}__", _at_run_time(_name, False, _zeros[0]))
    setattr(Runtime, f"__r{_name}__", _at_run_time(_name, True, _zeros[1]))


Kind = tuple[int, bool]  # bits, and whether it is signed
INT: Kind = (32, True)


class Sized(Runtime):
    """A number of another type than int."""

    kind: Kind


class TypedStatic(int):
    """A static integer of another type than int: `C<5u>`."""

    kind: Kind

    @classmethod
    def of(cls, value: int, kind: Kind) -> TypedStatic:
        """This one."""
        found = cls(value)
        found.kind = kind
        return found


class MulticastMask(Runtime):
    """The CTAs of a cluster that receive a multicast, a bit each; an integer that knows its cluster. cluster, coord, modes: what
    create_tma_multicast_mask made it of."""

    cluster: Any
    coord: Any
    modes: tuple[int, ...]

    @classmethod
    def of(cls, value: int, cluster: object, coord: object, modes: tuple[int, ...]) -> MulticastMask:
        """A mask of these bits."""
        mask = cls(value)
        mask.cluster, mask.coord, mask.modes = cluster, coord, modes
        return mask
