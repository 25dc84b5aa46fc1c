"""Layouts as tuples of modes: pick, group, append, replace and zip them (cute/layout.hpp); of a tuple these give a tuple."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cute_viz.algebra import layout as plain_layout
from cute_viz.algebra import tuples
from cute_viz.algebra.common import refuse
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, as_layout, lift, lifted
from cute_viz.algebra.dialect import in_dsl
from cute_viz.algebra.inttuple import Underscore, tuple_rank
from cute_viz.algebra.layout import Layout, make_layout, modes_of
from cute_viz.limits import limit

_ONE = Layout(1, 0)


@lifted
def get(layout: Layout, *path: int) -> AnyLayout:
    """The sub-layout at a mode, or a mode of a mode: get<0,1>(A) is get(A, 0, 1); without a path the layout itself.

    Raises: AlgebraError for a mode that does not exist.

    >>> str(get(Layout(((2, 2), 4)), 0, 1))
    '2:2'
    """
    return plain_layout.get(layout, *path)


def select(layout: Any, *picked: int) -> Any:
    """The layout of the modes that are named, in that order: select<2,0>(A) is select(A, 2, 0).

    Raises: AlgebraError for a mode that does not exist, or for no mode at all.

    >>> str(select(Layout((2, 3, 4)), 2, 0))
    '(4,2):(6,1)'
    """
    if tuples.is_tuple(layout):
        return tuples.select(layout, *picked)
    if isinstance(layout, ComposedLayout):
        return lift(layout, select, *picked)
    if not picked:
        refuse("select", (layout,), "name the modes to keep", hint="select<0,2>(A)")
    return make_layout(*(plain_layout.get(layout, i) for i in picked))


def take(layout: Any, begin: int, end: int) -> Any:
    """The layout of the modes begin to end-1; of a tuple an end of -1 is the rank.

    Raises: AlgebraError for an empty range, and one that is out of bounds.

    >>> str(take(Layout((2, 3, 4)), 1, 3))
    '(3,4):(2,6)'
    """
    if tuples.is_tuple(layout):
        return tuples.take(layout, begin, end)
    if isinstance(layout, ComposedLayout):
        return lift(layout, take, begin, end)
    parts = modes_of(layout)
    if not begin < end:
        refuse(f"take<{begin},{end}>", (layout,), "empty range error")
    if begin < 0 or end > len(parts):
        refuse(f"take<{begin},{end}>", (layout,), f"range out of bounds: the modes are 0 to {len(parts) - 1}")
    return make_layout(*parts[begin:end])


def group(layout: Any, begin: int = 0, end: int = -1) -> Any:
    """The modes begin to end-1 as one mode; an end of -1 is the rank (group_modes in the Python DSL).

    Raises: AlgebraError for a range that is out of bounds.

    >>> str(group(Layout((2, 3, 4)), 0, 2))
    '((2,3),4):((1,2),6)'
    """
    if tuples.is_tuple(layout):
        return tuples.group(layout, begin, end)
    if isinstance(layout, ComposedLayout):
        return lift(layout, group, begin, end)
    parts = modes_of(layout)
    last = len(parts) if end == -1 else end
    if in_dsl() and not isinstance(layout.shape, tuple) and begin < last <= 1:
        return make_layout(layout)
    if not 0 <= begin <= last <= len(parts):
        refuse(f"group<{begin},{end}>", (layout,), f"range out of bounds: the modes are 0 to {len(parts) - 1}")
    middle = [make_layout(*parts[begin:last])] if begin < last else []
    return make_layout(*parts[:begin], *middle, *parts[last:])


def append(layout: Any, x: Any = None, n: int | None = None) -> Any:
    """The layout with x (default 1:0) as a further last mode; append<N> repeats it up to rank N.

    Raises: AlgebraError for an N below the rank.

    >>> str(append(Layout((2, 3)), Layout(4, 8))), str(append(Layout((2, 3)), n=4))
    ('(2,3,4):(1,2,8)', '(2,3,1,1):(1,2,0,0)')
    """
    if tuples.is_tuple(layout) or isinstance(x, Underscore):  # beside `_` a layout is an entry of a tuple
        return tuples.extended("append", layout if tuples.is_tuple(layout) else (layout,), x, n)
    x = _mode("append", x)
    if isinstance(layout, ComposedLayout):
        return lift(layout, append, x, n)
    _check_mode("append", layout, x)
    return _extend("append", layout, x or _ONE, n, lambda old, new: [*old, *new])


def prepend(layout: Any, x: Any = None, n: int | None = None) -> Any:
    """The layout with x (default 1:0) as a further first mode; prepend<N> repeats it up to rank N.

    Raises: AlgebraError for an N below the rank.

    >>> str(prepend(Layout((2, 3)), Layout(4, 8)))
    '(4,2,3):(8,1,2)'
    """
    if tuples.is_tuple(layout) or isinstance(x, Underscore):  # beside `_` a layout is an entry of a tuple
        return tuples.extended("prepend", layout if tuples.is_tuple(layout) else (layout,), x, n)
    x = _mode("prepend", x)
    if isinstance(layout, ComposedLayout):
        return lift(layout, prepend, x, n)
    _check_mode("prepend", layout, x)
    return _extend("prepend", layout, x or _ONE, n, lambda old, new: [*new, *old])


def _mode(name: str, x: Any) -> Any:
    """What becomes a mode of a layout: a layout, or a shape as the compact layout of it."""
    layout = as_layout(x)
    if x is not None and tuples.is_tuple(layout):
        refuse(name, (x,), "a mode of a layout must be a layout")
    return layout


def _check_mode(name: str, layout: AnyLayout, x: Any) -> None:
    if isinstance(x, ComposedLayout):
        refuse(name, (layout, x), "a composed layout has no strides, so it cannot be a mode of another layout")


def _extend(
    name: str, layout: Layout, x: Layout, n: int | None, join: Callable[[list[Layout], list[Layout]], list[Layout]]
) -> Layout:
    parts = modes_of(layout)
    if n is None:
        return make_layout(*join(parts, [x]))
    if not len(parts) <= n <= limit("modes"):
        refuse(f"{name}<{n}>", (layout, x), f"N is the rank of the result, {len(parts)} to {limit('modes')}")
    return layout if n == len(parts) else make_layout(*join(parts, [x] * (n - len(parts))))


def replace(layout: Any, x: Any, mode: int) -> Any:
    """The layout with x in the place of one mode, or behind the last one: replace<I>(A, x) is replace(A, x, I).

    Raises: AlgebraError for a mode that does not exist, and for composed layouts.

    >>> str(replace(Layout((2, 3)), Layout((4, 4)), 1))
    '(2,(4,4)):(1,(1,4))'
    """
    if tuples.is_tuple(layout):
        return tuples.replace(layout, x, mode)
    x = _mode("replace", x)
    if isinstance(layout, ComposedLayout) or isinstance(x, ComposedLayout):
        refuse("replace", (layout, x), "only a mode of a plain layout can be replaced, and only by a plain layout")
    parts = modes_of(layout)
    if not 0 <= mode <= len(parts) - (not isinstance(layout.shape, tuple)):
        refuse(f"replace<{mode}>", (layout, x), f"its modes are 0 to {len(parts) - 1}")
    if not isinstance(layout.shape, tuple):
        return x
    return make_layout(*parts[:mode], x, *parts[mode + 1 :])


def zip_(a: AnyLayout, b: AnyLayout | None = None) -> AnyLayout:
    """((a,b),(x,y)) becomes ((a,x),(b,y)); two layouts are zipped mode by mode.

    Raises: AlgebraError for modes of different ranks. Source: cute/layout.hpp, zip.

    >>> str(zip_(Layout(((2, 3), (4, 5))))), str(zip_(Layout((2, 3)), Layout((4, 5), (5, 1))))
    ('((2,4),(3,5)):((1,6),(2,24))', '((2,4),(3,5)):((1,5),(2,1))')
    """
    if isinstance(a, ComposedLayout) and b is None:
        return lift(a, zip_)
    if isinstance(a, ComposedLayout) or isinstance(b, ComposedLayout):
        refuse("zip", (a, b), "only two plain layouts can be zipped")
    if b is not None:
        a = make_layout(a, b)
    if not isinstance(a.shape, tuple):
        return a
    parts = modes_of(a)
    if not parts or not isinstance(parts[0].shape, tuple):
        return make_layout(a)
    if any(not isinstance(part.shape, tuple) or len(part.shape) != len(parts[0].shape) for part in parts):
        refuse("zip", tuple(parts), "Mismatched Ranks: all must be tuples of the same rank")
    return make_layout(*(make_layout(*column) for column in zip(*map(modes_of, parts), strict=True)))


def zip_any(a: Any, b: Any = None) -> Any:
    """zip_ of layouts; of one tuple or two the entries, paired (cute/algorithm/tuple_algorithms.hpp).

    >>> zip_any((2, 3), (4, 5)), str(zip_any(Layout((2, 3)), Layout((4, 5))))
    (((2, 4), (3, 5)), '((2,4),(3,5)):((1,1),(2,4))')
    """
    if tuples.is_tuple(a) and (b is None or tuples.is_tuple(b)):
        return tuples.zipped(a if b is None else (a, b))
    return zip_(_mode("zip", a), _mode("zip", b))


@lifted
def tile_unzip(layout: Layout, tiler: Any) -> AnyLayout:
    """((A,a),((B,b),(C,c)),d) becomes ((A,(B,C)),(a,(b,c),d)), split where the tiler has its leaves.

    Raises: AlgebraError for a leaf of the tiler (such as `_`) whose mode of the layout is not a pair.
    Source: cute/layout.hpp, cute/algorithm/tuple_algorithms.hpp, zip2_by.

    >>> str(tile_unzip(Layout(((2, 3), (4, 5))), (2, 4)))
    '((2,4),(3,5)):((1,6),(2,24))'
    """
    return make_layout(*_unzip(layout, tiler))


def _unzip(layout: Layout, tiler: Any) -> list[Layout]:
    """The tiles and the rests of a layout of (tile, rest) pairs, gathered along the tiler."""
    parts = modes_of(layout)
    if isinstance(tiler, tuple):
        if not isinstance(layout.shape, tuple) or len(parts) < len(tiler):
            refuse("tile_unzip", (layout, tiler), "Mismatched ranks: the tiler has more modes than the layout")
        split = [_unzip(part, t) for part, t in zip(parts, tiler, strict=False)]
        rest = parts[len(tiler) :]
        return [make_layout(*(first for first, _ in split)), make_layout(*(second for _, second in split), *rest)]
    if not isinstance(layout.shape, tuple) or tuple_rank(layout.shape) != 2:
        refuse(
            "tile_unzip",
            (layout, tiler),
            "Mismatched ranks: there is no (tile, rest) pair to take apart",
            hint="a mode that the tiler skips with _ has no tile; logical_divide and logical_product allow it",
        )
    return parts


def unflatten_any(x: Any, profile: Any) -> Any:
    """A flat layout, or the entries of a flat tuple, in the nesting of a profile (cute/layout.hpp).

    >>> str(unflatten_any(Layout((2, 3, 4), (12, 4, 1)), (0, (0, 0)))), unflatten_any((2, 3, 4), ((0, 0), 0))
    ('(2,(3,4)):(12,(4,1))', ((2, 3), 4))
    """
    if isinstance(x, Layout):
        return Layout(tuples.unflatten(x.shape, profile), tuples.unflatten(x.stride, profile))
    return tuples.unflatten(x, profile)


def get_any(x: Any, *path: int) -> Any:
    """A mode of a layout or an entry of a tuple, by position; further positions go deeper.

    >>> get_any((4, (2, 3)), 1, 0)
    2
    """
    if isinstance(x, (Layout, ComposedLayout)):
        return get(x, *path)
    for i in path:
        if not isinstance(x, tuple) or not isinstance(i, int) or not 0 <= i < len(x):
            refuse(f"get<{','.join(map(str, path))}>", (x,), "there is no such entry")
        x = x[i]
    return x
