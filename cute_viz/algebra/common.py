"""What the operations share: how they refuse operands, and what one is that is not carried out.

Every refusal names the operation, both operands in CuTe notation, and the condition that fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, NoReturn, TypeVar

from cute_viz.algebra.inttuple import show
from cute_viz.errors import AlgebraError
from cute_viz.records import dataclass
from cute_viz.values.integer import is_constant

WARP = (32, "warp")  # threads that run together, and what they are called, where an atom does not say otherwise
_LONG = 160  # characters of an operand that are worth showing
_T = TypeVar("_T")


def brief(x: object) -> str:
    """An operand in CuTe notation, cut in the middle when it is very long."""
    try:
        text = show(x)
    except ValueError:  # of Python, which prints no integer of 4,300 digits
        return "a number of more digits than are printed"
    return text if len(text) <= _LONG else f"{text[: _LONG // 2]}…{text[-_LONG // 2 :]}"


def refuse(operation: str, operands: tuple[object, ...], reason: str, hint: str | None = None) -> NoReturn:
    """Raise the AlgebraError of an operation: its call in CuTe notation, and the condition that fails."""
    raise AlgebraError(f"{operation}({', '.join(map(brief, operands))}): {reason}", hint=hint)


def narrowed(kind: type[_T], x: object, operation: str, operands: tuple[object, ...], reason: str, hint: str | None = None) -> _T:
    """An operand of a kind that an operation needs. Raises: as refuse."""
    if not isinstance(x, kind):
        refuse(operation, operands, reason, hint)
    return x


def needed(kind: type[_T], x: object, words: str, hint: str | None = None) -> _T:
    """A value of a kind. Raises: AlgebraError, in words what is needed, and that it is not this."""
    if not isinstance(x, kind):
        raise AlgebraError(f"{words}, not {show(x)}", hint=hint)
    return x


def within(error: AlgebraError, operation: str, *operands: object) -> AlgebraError:
    """The error of an inner step with the call that the user wrote in front."""
    return AlgebraError(f"{operation}({', '.join(map(brief, operands))}): {error.message}", hint=error.hint)


def is_zero(stride: object) -> bool:
    """Whether a stride is the integer 0 (a basis element or a run-time 0 never is: CuTe tests for the type Int<0>)."""
    return is_constant(stride, 0)


_outside: ContextVar[list[str] | None] = ContextVar("threads outside a tiling", default=None)


@contextmanager
def outside_told() -> Iterator[list[str]]:
    """While values are asked for and no pictures: what is said of threads outside a tiling, which CuTe takes all the same."""
    said: list[str] = []
    token = _outside.set(said)
    try:
        yield said
    finally:
        _outside.reset(token)


def told_outside(words: str) -> bool:
    """Whether a thread outside its tiling is taken, which the words then say."""
    said = _outside.get()
    if said is not None and words not in said:
        said.append(words)
    return said is not None


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation by its name, and what it was given: operands, and what C++ has in angle brackets."""

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
