"""Sizes that nothing gives: what a run-time size or stride of global memory counts as, so that its statements have rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cute_viz.algebra.shares import Division
from cute_viz.algebra.static import each_integer, unknowns
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError
from cute_viz.source.cpp.threads import numbers_at
from cute_viz.source.parts import PITCH
from cute_viz.values.integer import Runtime, Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping


def sized(operands: list[Any]) -> tuple[list[Any], Mapping[str, tuple[str, int]]]:
    """Operands in which the sizes of global memory that nothing gives are a large aligned number, and these by name; a part of a
    thread of a size that nobody knows stays as it is, and an index that only a run knows is 0."""
    told: dict[str, tuple[str, int]] = {}

    def number(key: str, leaves: Mapping[str, Unknown]) -> int:
        needs = leaves[key].error().needs if key in leaves else ()
        own = key.partition(" of ")[0].partition("@")[0]  # the variable itself, `K` of `int K = a.size(1)`
        told.update(dict.fromkeys([own] if own.isidentifier() and needs else needs[:1], (str(PITCH), 0)))
        return PITCH if needs else 0

    def known(x: Unknown) -> Runtime:
        leaves = x.leaves
        found = numbers_at(x, lambda key: number(key, leaves))
        if not isinstance(found, int):
            raise x.error()
        return Runtime(found)

    def one(x: Any) -> Any:
        if not isinstance(x, Tensor) or x.pointer.space != "gmem" or not isinstance(x.part, Division):
            return x
        if next(unknowns(x.layout.shape), None) is not None or next(unknowns(x), None) is None:
            return x
        before = dict(told)
        try:
            return each_integer(lambda n: n, x, known)
        except CuteVizError:
            told.clear()
            told.update(before)
            return x

    return [one(x) for x in operands], told
