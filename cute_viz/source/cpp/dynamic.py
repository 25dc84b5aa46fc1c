"""Tensors of run-time extents cut by static tiles: CuTe folds no extent that it does not know (cute/layout.hpp)."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.inttuple import Underscore, X, leaves
from cute_viz.algebra.layout import Layout
from cute_viz.errors import AlgebraError
from cute_viz.source.cpp.values import Runtime, certain

DIVIDES = ("logical_divide", "zipped_divide", "tiled_divide", "flat_divide")


def divided(name: str, layout: Any, tiler: Any) -> Layout | None:
    """A layout with run-time extents cut by extents, one for each of its first modes; None where the algebra's result is CuTe's.

    >>> str(divided("zipped_divide", Layout((Runtime(8), Runtime(4)), (1, Runtime(8))), (8, 2)))
    '((8,2),(1,2)):((1,8),(8,16))'
    """
    if isinstance(layout, Layout) and name == "logical_divide" and isinstance(layout.shape, int) and isinstance(tiler, int):
        cut = _mode(layout.shape, layout.stride, tiler)
        return None if cut is None else Layout(*_pair(*cut))
    if not isinstance(layout, Layout) or not isinstance(layout.shape, tuple) or not isinstance(layout.stride, tuple):
        return None
    tiles = tiler
    if not isinstance(tiles, tuple) or len(tiles) > len(layout.shape):
        return None
    if not any(isinstance(extent, Runtime) for extent in leaves(layout.shape[: len(tiles)])):
        return None
    inside, outside = [], []
    for extent, step, tile in zip(layout.shape, layout.stride, tiles, strict=False):
        cut = _mode(extent, step, tile)
        if cut is None:
            return None
        inside.append(cut[0])
        outside.append(cut[1])
    left = [(extent, step) for extent, step in zip(layout.shape[len(tiles) :], layout.stride[len(tiles) :], strict=True)]
    if name == "logical_divide":
        modes = [(_pair(a, b)) for a, b in zip(inside, outside, strict=True)] + left
    elif name == "zipped_divide":
        modes = [_joined(inside), _joined([*outside, *left])]
    elif name == "tiled_divide":
        modes = [_joined(inside), *outside, *left]
    else:
        modes = [*inside, *outside, *left]
    return Layout(tuple(shape for shape, _ in modes), tuple(stride for _, stride in modes))


def _mode(extent: Any, step: Any, tile: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]] | None:
    """One mode as (tile, rest), each with its stride."""
    while isinstance(extent, tuple) and isinstance(step, tuple) and len(extent) == 1:
        extent, step = extent[0], step[0]
    if isinstance(tile, Underscore):
        return (extent, step), (1, 0)
    if not all(isinstance(x, int) for x in (extent, step, tile)) or isinstance(tile, Runtime):
        return None
    certain((extent, step))
    if tile < 1:
        raise AlgebraError(f"a tile has 1 element or more, not {tile}")
    if not isinstance(extent, Runtime):
        if extent % tile:
            return None
        return (tile, step if tile > 1 else 0), (extent // tile, step * tile if extent > tile else 0)
    return (tile, step if tile > 1 else 0), (Runtime(-(-int(extent) // tile)), step * tile)


def _pair(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    return (a[0], b[0]), (a[1], b[1])


def _joined(parts: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    return tuple(shape for shape, _ in parts), tuple(stride for _, stride in parts)


def tiled(layout: Any, tiler: Any, crd: Any) -> Layout | None:
    """local_tile of a layout with run-time extents: the tile, and the modes of the rest that stay whole; None as in `divided`."""
    cut = divided("zipped_divide", layout, tiler)
    if cut is None:
        return None
    shapes: Any = cut.shape
    strides: Any = cut.stride
    (inside, rest), (steps, further) = shapes, strides
    places = crd if isinstance(crd, tuple) else None
    if places is None and not isinstance(crd, int):
        return None
    if places is not None and (len(places) > len(rest) or any(not isinstance(x, (int, Underscore)) for x in places)):
        return None
    kept = [] if places is None else [n for n in range(len(rest)) if n >= len(places) or places[n] is X]
    shape = (*inside, *(rest[n] for n in kept))
    return Layout(shape, (*steps, *(further[n] for n in kept)))
