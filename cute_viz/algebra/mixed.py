"""Operations on operands that mix static and run-time integers, as `_8` and `8` tell them apart: into `runtime.py` and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import Static, leaves
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.runtime import Known, Runtime
from cute_viz.algebra.static import each_integer
from cute_viz.algebra.stride import Basis

# The operations that simplify what is known. All others give integers of their operands as they are, or plain ones.
SIMPLIFIES = {
    *("composition", "complement", "right_inverse", "left_inverse", "nullspace", "max_common_layout", "max_common_vector"),
    *("logical_divide", "zipped_divide", "tiled_divide", "flat_divide", "logical_product", "zipped_product", "tiled_product"),
    *(
        "flat_product",
        "blocked_product",
        "raked_product",
        "coalesce",
        "filter",
        "filter_zeros",
        "make_layout_like",
        "tile_to_shape",
    ),
}


def entered(name: str, operands: list[Any]) -> list[Any]:
    """The operands of an operation, with both kinds of integers told apart; as they are where no `_` was written.

    >>> [str(x) for x in entered("coalesce", [Layout((Static(4), 8), (Static(1), 4))])]
    ['(_4,8):(_1,4)']
    """
    if name not in SIMPLIFIES or not any(type(x) is Static for operand in operands for x in _integers(operand)):
        return operands
    return [each_integer(lambda x: Known(x) if isinstance(x, Static) else Runtime(x), operand) for operand in operands]


def is_mixed(operands: list[Any]) -> bool:
    """Whether operands were entered.

    >>> is_mixed([Layout(Known(4))]), is_mixed([Layout(4)])
    (True, False)
    """
    return any(isinstance(x, Known) for operand in operands for x in _integers(operand))


def left(value: Any) -> Any:
    """The result of an operation on entered operands: what is known is static, and prints so.

    >>> str(left(Layout((Known(4), Runtime(8)), (1, Runtime(4)))))
    '(_4,8):(_1,4)'
    """
    return each_integer(lambda x: int(x) if isinstance(x, Runtime) else Static(x), value)


def _integers(value: Any) -> Iterator[Any]:
    """Every integer of an operand."""
    if isinstance(value, tuple):
        for item in leaves(value):
            yield from (item,) if isinstance(item, int) else _integers(item)
    elif isinstance(value, Layout):
        for part in (value.shape, value.stride):
            yield from (x.value if isinstance(x, Basis) else x for x in leaves(part))
    elif isinstance(value, ComposedLayout):
        yield from _integers(value.inner)
    elif isinstance(value, int):
        yield value
