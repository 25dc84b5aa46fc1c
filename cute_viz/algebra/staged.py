"""The objects that a tile goes through in a kernel, one after the other: TMA, shared memory, descriptors, accumulator, epilogue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from cute_viz.algebra.inttuple import show
from cute_viz.display import Shown


@dataclass(frozen=True, slots=True)
class Stages(Shown):
    """Objects in the order in which a kernel uses them."""

    tiling: ClassVar[str] = "stages"
    parts: tuple[Any, ...]

    def __str__(self) -> str:
        return "; ".join(show(part).splitlines()[0] for part in self.parts)


def stages(*parts: object) -> Stages:
    """Objects as the numbered stages of a kernel. The name is ours.

    >>> str(stages(Layout(4), Layout(8)))
    '4:1; 8:1'
    """
    return Stages(parts)
