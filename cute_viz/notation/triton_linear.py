"""Linear layouts: maps of bits to coordinates by XOR, and the algebra that Triton makes its encodings of.

The rules are those of triton/Tools/LinearLayout.h and LayoutUtils.cpp.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import TypeAlias

from cute_viz.errors import NotationError
from cute_viz.limits import over

Basis: TypeAlias = "tuple[int, ...]"  # the coordinate that a bit adds, by XOR
_MOST = 24  # bits of a layout: what is larger is not a tile


@dataclass(frozen=True, slots=True)
class Linear:
    """Bits of several inputs, such as register, lane and warp, each with the coordinate that it adds.

    bases: by input, in order, the lowest bit first. sizes: the extents of the coordinates. order: the modes in the order in which
    they are extended.
    """

    bases: Mapping[str, tuple[Basis, ...]]
    sizes: tuple[int, ...]
    order: tuple[int, ...]

    def __mul__(self, other: Linear) -> Linear:
        """This one, and beside each of its elements the other, whose coordinates count in units of this one's extents."""
        inputs = dict.fromkeys((*self.bases, *other.bases))
        grown = {
            name: (*self.bases.get(name, ()), *(tuple(map(mul, basis, self.sizes)) for basis in other.bases.get(name, ())))
            for name in inputs
        }
        order = tuple(dict.fromkeys((*self.order, *other.order)))
        return Linear(grown, tuple(a * b for a, b in zip(self.sizes, other.sizes, strict=True)), order)

    def flat(self, *names: str) -> tuple[int, ...]:
        """The column-major index that each bit of some inputs adds."""
        steps = [*accumulate(self.sizes, mul, initial=1)][:-1]
        return tuple(sum(map(mul, basis, steps)) for name in names for basis in self.bases.get(name, ()))

    def ordered(self, order: Iterable[int]) -> Linear:
        """The same, its modes extended in another order."""
        return Linear(self.bases, self.sizes, tuple(order))

    def at_least(self, shape: Sequence[int], first: str) -> Linear:
        """Extended to a shape, mode by mode, by further bits of the input `first`."""
        out = self
        for mode in self.order:
            if out.sizes[mode] < shape[mode]:
                out = out * identity(first, shape[mode] // out.sizes[mode], mode, len(shape))
        return out.ordered(self.order)

    def at_most(self, shape: Sequence[int], dropped: str = "") -> Linear:
        """Cut to a shape: the bits of the largest steps beyond it add nothing, and repeat what is there; those of `dropped` go."""
        bases = {name: [list(basis) for basis in those] for name, those in self.bases.items()}
        for mode in self.order:
            size = self.sizes[mode]
            steps = [(basis[mode], basis) for those in bases.values() for basis in those if basis[mode]]
            for _, basis in sorted(steps, key=lambda step: -step[0]):
                if size <= shape[mode]:
                    break
                basis[mode] = 0
                size //= 2
        kept = {
            name: tuple(
                tuple(new) for new, old in zip(those, self.bases[name], strict=True) if name != dropped or any(new) or not any(old)
            )
            for name, those in bases.items()
        }
        return Linear(kept, tuple(map(min, self.sizes, shape)), self.order)


def identity(name: str, size: int, mode: int, rank: int) -> Linear:
    """The input `name` along one mode."""
    steps = tuple(unit(rank, mode, 1 << n) for n in range(bit_count(size)))
    return Linear({name: steps}, tuple(max(1, size) if i == mode else 1 for i in range(rank)), (mode,))


def unit(rank: int, mode: int, step: int) -> Basis:
    """The coordinate of a step along one mode."""
    return tuple(step if i == mode else 0 for i in range(rank))


def repeat(name: str, size: int, mode: int, rank: int) -> Linear:
    """The input `name` along a mode of which each has the same."""
    return Linear({name: ((0,) * rank,) * bit_count(size)}, (1,) * rank, (mode,))


def along(name: str, sizes: Sequence[int], order: Iterable[int], skip: int = -1) -> Linear:
    """The input `name` along several modes, the fastest first; along `skip` each has the same."""
    rank = len(sizes)
    out = nothing(rank)
    for mode in order:
        out = out * (repeat if mode == skip else identity)(name, sizes[mode], mode, rank)
    return out


def nothing(rank: int, order: Iterable[int] = ()) -> Linear:
    """The layout of one element."""
    return Linear({}, (1,) * rank, tuple(order))


def fitted(tile: Linear, blocks: Linear, shape: Sequence[int], first: str) -> Linear:
    """A tile of one CTA, extended or cut to its part of a shape, and the CTAs beside each other (combineCtaCgaWithShape)."""
    blocks = blocks.at_most(shape)
    part = [max(1, whole // size) for whole, size in zip(shape, blocks.sizes, strict=True)]
    return tile.at_least(part, first).at_most(part) * blocks


def bit_count(size: int) -> int:
    """How many bits count to a size. Raises: NotationError for a size that is not a power of two, or far too large."""
    if size < 0 or size & (size - 1):
        raise NotationError(f"{size} is not a power of two, as the extents of Triton's layouts must be")
    if size.bit_length() > _MOST:
        raise over("elements", f"a layout of {size} elements along one mode")
    return max(0, size.bit_length() - 1)
