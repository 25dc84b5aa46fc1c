"""The elements that a stride can be: integers, scaled basis elements such as `1@0`, and XOR strides such as `F8`.

Strides live in an integer module: they can be added and scaled by integers, and that is all that evaluating
a layout needs (cute/numeric/arithmetic_tuple.hpp). A basis element `s@0@1` is `s` at position 0 of position 1
of a coordinate: the last `@` is the outermost. Sums of basis elements are coordinates, held as tuples.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from cute_viz.algebra.inttuple import leaves, paths, unflatten
from cute_viz.errors import AlgebraError
from cute_viz.limits import over
from cute_viz.records import dataclass
from cute_viz.values.integer import Static

if TYPE_CHECKING:
    from fractions import Fraction


class StaticRatio(Fraction):
    """A ratio that was written with static integers, and prints so (cute/numeric/integral_ratio.hpp)."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"_{self.numerator}/_{self.denominator}"


Scalar: TypeAlias = "int | Fraction"
Stride: TypeAlias = "int | Fraction | Basis | F2 | tuple[Stride, ...]"


@dataclass(frozen=True, slots=True)
class Basis:
    """CuTe's ScaledBasis: `value` times the unit vector at `path` (outermost position first)."""

    value: Scalar
    path: tuple[int, ...]

    def __str__(self) -> str:
        return str(self.value) + "".join(f"@{i}" for i in reversed(self.path))

    def __mul__(self, factor: Scalar) -> Basis:
        value = self.value * factor
        return Basis(int(value) if type(value).__name__ == "Fraction" and value.denominator == 1 else value, self.path)

    __rmul__ = __mul__

    def coordinate(self) -> Any:
        """The coordinate that this element stands for, padded with zeros on the left."""
        out: Any = self.value
        for i in reversed(self.path):
            out = (*[0] * i, out)
        return out


@dataclass(frozen=True, slots=True)
class F2:
    """A stride over bits: sums are XORs, products are carry-less (the F2 strides of PyCuTe, NVlabs/CuTe). With them a swizzle is
    an ordinary layout: `(8,8):(F9,F8)` gives i ^ 8*(i ^ j)."""

    value: int

    def __str__(self) -> str:
        return f"F{self.value}"

    def __mul__(self, factor: int) -> F2:
        if factor < 0:
            raise AlgebraError(f"the XOR stride {self} can only be scaled by an integer of 0 or more, not {factor}")
        out, shifted = 0, self.value
        while factor:
            if factor & 1:
                out ^= shifted
            factor >>= 1
            shifted <<= 1
        return F2(out)

    __rmul__ = __mul__


def E(*path: int) -> Basis:
    """The unit basis element E<path...>, printed `1@...`."""
    return Basis(1, path)


def unit_strides(shape: object, path: tuple[int, ...] = ()) -> Any:
    """The strides that send every coordinate of a shape, at a place of a larger coordinate, to itself."""
    return unflatten((Basis(1, place) if place else 1 for place in paths(shape, path)), shape)


def add(a: Any, b: Any) -> Any:
    """The sum of two values of a layout: integers, or coordinates padded with zeros."""
    if isinstance(a, Basis):
        a = a.coordinate()
    if isinstance(b, Basis):
        b = b.coordinate()
    if isinstance(a, F2) or isinstance(b, F2):
        if isinstance(a, F2) and isinstance(b, F2):
            return F2(a.value ^ b.value)
        element, other = (a, b) if isinstance(a, F2) else (b, a)
        if other != 0:
            raise AlgebraError(f"cannot add {other} to the XOR stride {element}", hint="use XOR strides, or 0, in every mode")
        return element
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) < len(b):
            a, b = b, a
        return tuple(add(x, b[i]) if i < len(b) else x for i, x in enumerate(a))
    if isinstance(a, tuple) or isinstance(b, tuple):
        coordinate, scalar = (a, b) if isinstance(a, tuple) else (b, a)
        if scalar != 0:
            raise AlgebraError(f"cannot add the integer {scalar} to a coordinate")
        return coordinate
    return a + b


def plain(value: object) -> Any:
    """A value of a layout as an int or a tuple of ints (a basis element becomes its coordinate)."""
    match value:
        case F2(bits):
            return bits
        case Basis():
            return value.coordinate()
        case Static():
            return int(value)
    return value


def is_coordinate(stride: object) -> bool:
    """Whether any leaf of a stride is a basis element, so that the layout's values are coordinates."""
    return any(isinstance(leaf, Basis) for leaf in leaves(stride))


def is_along(stride: object, path: tuple[int, ...]) -> TypeGuard[Basis]:
    """Whether a stride goes along one position of a coordinate."""
    return isinstance(stride, Basis) and stride.path == path


def step_of(stride: object) -> object:
    """How far a stride goes, wherever it goes."""
    return stride.value if isinstance(stride, Basis) else stride


def magnitude(stride: Any) -> Any:
    """The absolute value of a stride leaf."""
    if isinstance(stride, F2):
        return stride
    return Basis(magnitude(stride.value), stride.path) if isinstance(stride, Basis) else stride if stride >= 0 else -stride


_MOST = 1 << 14  # ways to choose one set for every mode, as of 14 extents of 3, which have more elements than are looked at


def mixed(layout: object) -> AlgebraError:
    """The error of a layout that has other strides besides XOR strides."""
    return AlgebraError(f"{layout} mixes integer and XOR strides", hint="use XOR strides, or 0, in every mode")


def greatest(layout: object, parts: Iterable[tuple[int, object]]) -> int:
    """The greatest value of a layout of the given modes, whose strides are 0 or XOR strides. Raises: AlgebraError for other
    strides, LimitError for too many extents that are not powers of two."""
    sets: list[tuple[int, list[int]]] = [(0, [])]  # a value, and vectors of different highest bits that can be added to it
    for extent, stride in parts:
        if stride == 0:
            continue
        if not isinstance(stride, F2):
            raise mixed(layout)
        blocks = [bit for bit in range(extent.bit_length()) if extent >> bit & 1]
        if len(sets) * len(blocks) > _MOST:
            raise over("elements", f"{layout} has too many extents that are not powers of two; its greatest value cannot be found")
        sets = [
            (value ^ (stride * (extent >> bit + 1 << bit + 1)).value, _added(vectors, stride.value, bit))
            for value, vectors in sets
            for bit in blocks
        ]
    return max(_top(value, vectors) for value, vectors in sets)


def reached(parts: Iterable[tuple[int, object]]) -> int:
    """The bits that a layout of the given modes has in any of its values; other strides have none."""
    out = 0
    for extent, stride in parts:
        if isinstance(stride, F2):
            for bit in range((extent - 1).bit_length()):
                out |= stride.value << bit
    return out


def _added(vectors: list[int], stride: int, count: int) -> list[int]:
    """Vectors and, made independent of them, a stride and its shifts."""
    out = list(vectors)
    for shift in range(count):
        vector = stride << shift
        for other in out:  # highest first
            vector = min(vector, vector ^ other)
        if vector:
            out.append(vector)
            out.sort(reverse=True)
    return out


def _top(value: int, vectors: list[int]) -> int:
    for vector in vectors:
        value = max(value, value ^ vector)
    return value
