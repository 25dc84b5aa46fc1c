"""What the operations share: how they refuse operands, and integer arithmetic with CuTe's rounding.

Every refusal names the operation, both operands in CuTe notation, and the condition that fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from cute_viz.algebra.inttuple import show
from cute_viz.errors import AlgebraError

_LONG = 160  # characters of an operand that are worth showing


def brief(x: Any) -> str:
    """An operand in CuTe notation, cut in the middle when it is very long.

    >>> brief((4, (2, 2)))
    '(4,(2,2))'
    """
    text = show(x)
    return text if len(text) <= _LONG else f"{text[: _LONG // 2]}…{text[-_LONG // 2 :]}"


def refuse(operation: str, operands: tuple[Any, ...], reason: str, hint: str | None = None) -> NoReturn:
    """Raise the AlgebraError of an operation: its call in CuTe notation, and the condition that fails.

    >>> refuse("logical_divide", (8, 3), "3 does not divide 8")
    Traceback (most recent call last):
    cute_viz.errors.AlgebraError: logical_divide(8, 3): 3 does not divide 8
    """
    raise AlgebraError(f"{operation}({', '.join(map(brief, operands))}): {reason}", hint=hint)


def within(error: AlgebraError, operation: str, *operands: Any) -> AlgebraError:
    """The error of an inner step with the call that the user wrote in front.

    >>> print(within(AlgebraError("3 does not divide 8"), "zipped_divide", 8, 3))
    zipped_divide(8, 3): 3 does not divide 8
    """
    return AlgebraError(f"{operation}({', '.join(map(brief, operands))}): {error.message}", hint=error.hint)


def is_zero(stride: Any) -> bool:
    """Whether a stride is the integer 0 (a basis element never is: CuTe tests for the type Int<0>).

    >>> from cute_viz.algebra.stride import Basis
    >>> is_zero(0), is_zero(Basis(0, (1,)))
    (True, False)
    """
    return isinstance(stride, int) and stride == 0


def ceil_quotient(a: int, b: int) -> int:
    """ceil(a / b) of positive integers, exactly.

    >>> ceil_quotient(7, 2), ceil_quotient(2**70 + 1, 2**70)
    (4, 2)
    """
    return -(-a // b)


def sign(x: Any) -> int:
    """-1, 0 or 1 (CuTe's signum).

    >>> sign(-5), sign(0), sign(7)
    (-1, 0, 1)
    """
    return int(x > 0) - int(x < 0)


def exchange_sorted(items: list[Any], key: Callable[[Any], Any]) -> list[Any]:
    """The items in the order that CuTe's static sort leaves them (cute/int_tuple.hpp, exchange_sort).

    The sort is not stable, and the inverses take the first of several equal strides, so its order shows.

    >>> exchange_sorted([(2, "a"), (2, "b"), (1, "c")], key=lambda x: x[0])
    [(1, 'c'), (2, 'b'), (2, 'a')]
    """
    out = list(items)
    keys = [key(item) for item in out]
    for i in range(len(out)):
        for j in range(i + 1, len(out)):
            if keys[j] < keys[i]:
                keys[i], keys[j] = keys[j], keys[i]
                out[i], out[j] = out[j], out[i]
    return out


def paths(profile: Any, here: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """The position of every leaf of a nested tuple, outermost first.

    >>> list(paths((0, (0, 0))))
    [(0,), (1, 0), (1, 1)]
    """
    if isinstance(profile, tuple):
        for i, item in enumerate(profile):
            yield from paths(item, (*here, i))
    else:
        yield here
