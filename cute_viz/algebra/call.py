"""An operation and what it was given, not carried out yet: what is explained, and drawn as an operation."""

from __future__ import annotations

from typing import Any, ClassVar

from cute_viz.algebra.inttuple import show
from cute_viz.records import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation by its name, and what it was given: operands, and what C++ has in angle brackets.

    >>> str(Operation("take", ((4, 8, 2),), (0, 2)))
    'take<0,2>((4,8,2))'
    """

    tiling: ClassVar[str] = "operation"

    name: str
    operands: tuple[Any, ...]
    template: tuple[Any, ...] = ()

    def __str__(self) -> str:
        angle = f"<{','.join(map(str, self.template))}>" if self.template else ""
        return f"{self.name}{angle}({', '.join(map(_in_a_line, self.operands))})"


def _in_a_line(operand: object) -> str:
    text = show(operand)
    tiled: Any = getattr(operand, "tiled", operand)
    name: Any = getattr(getattr(tiled, "atom", tiled), "name", "")
    return f"{type(operand).__name__} of {name}" if "\n" in text and name else text
