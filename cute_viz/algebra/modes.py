"""Layouts as tuples of modes: pick, group, append, replace and zip them, and the same function with fewer (cute/layout.hpp).

A shape, a stride, a coordinate or a tiler is taken as a tuple, and gives one (cute/algorithm/tuple_algorithms.hpp).
"""

from __future__ import annotations

from typing import Any, NoReturn

from cute_viz.algebra import layout as plain_layout
from cute_viz.algebra.common import is_zero, refuse
from cute_viz.algebra.compose import by_modes
from cute_viz.algebra.compose import coalesce as _coalesce
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, as_layout, has_origin, is_layout, lift, lifted
from cute_viz.algebra.inttuple import Underscore, leaves, map_leaves, modes, ranked, tuple_rank, unflatten
from cute_viz.algebra.layout import Layout, make_layout, modes_of
from cute_viz.algebra.static import in_dsl
from cute_viz.limits import limit
from cute_viz.values.integer import Unknown

_ONE = Layout(1, 0)


def _parts(x: object) -> Any:
    """The modes of a layout, or the entries of a tuple."""
    return modes_of(x) if isinstance(x, Layout) else modes(x)


def _joined(like: Any, parts: Any) -> Any:
    """Modes as a layout, or entries as a tuple."""
    return make_layout(*parts) if isinstance(like, Layout) else tuple(parts)


def _nested(x: object) -> bool:
    """Whether it has modes or entries, and is not one itself."""
    return isinstance(x.shape if isinstance(x, Layout) else x, tuple)


@lifted
def get(x: object, *path: int) -> Any:
    """A mode of a layout or an entry of a tuple, or one in it: get<0,1>(A) is get(A, 0, 1); without a path the whole.

    Raises: AlgebraError for a mode that does not exist.

    >>> str(get(Layout(((2, 2), 4)), 0, 1)), get((4, (2, 3)), 1, 0)
    ('2:2', 2)
    """
    if isinstance(x, Layout):
        return plain_layout.get(x, *path)
    for i in path:
        if not isinstance(x, tuple) or not isinstance(i, int) or not 0 <= i < len(x):
            refuse(f"get<{','.join(map(str, path))}>", (x,), "there is no such entry")
        x = x[i]
    return x


@lifted
def select(x: object, *picked: int) -> Any:
    """The layout of the modes that are named, or the tuple of the entries, in that order: select<2,0>(A) is select(A, 2, 0).

    Raises: AlgebraError for a mode that does not exist, or for no mode at all.

    >>> str(select(Layout((2, 3, 4)), 2, 0)), select((128, 64, 32), 0, 2)
    ('(4,2):(6,1)', (128, 32))
    """
    parts = _parts(x)
    if not picked:
        refuse("select", (x,), f"name the {'modes' if isinstance(x, Layout) else 'entries'} to keep", hint="select<0,2>(A)")
    if isinstance(x, Layout):
        return make_layout(*(plain_layout.get(x, i) for i in picked))
    if not all(0 <= i < len(parts) for i in picked):
        refuse(f"select<{','.join(map(str, picked))}>", (x,), f"its entries are 0 to {len(parts) - 1}")
    return tuple(parts[i] for i in picked)


@lifted
def take(x: object, begin: int, end: int) -> Any:
    """The modes or entries begin to end-1; of a tuple an end of -1 is the rank.

    Raises: AlgebraError for an empty range, and one that is out of bounds.

    >>> str(take(Layout((2, 3, 4)), 1, 3)), take((2, 3, 4), 1, -1)
    ('(3,4):(2,6)', (3, 4))
    """
    parts, of_tuple = _parts(x), not isinstance(x, Layout)
    last = len(parts) if end == -1 and of_tuple else end
    if not begin < last:
        if begin == end and of_tuple and not in_dsl():
            return ()
        refuse(f"take<{begin},{end}>", (x,), "empty range error")
    if begin < 0 or last > len(parts):
        refuse(f"take<{begin},{end}>", (x,), f"range out of bounds: the modes are 0 to {len(parts) - 1}")
    return _joined(x, parts[begin:last])


@lifted
def group(x: object, begin: int = 0, end: int = -1) -> Any:
    """The modes or entries begin to end-1 as one; an end of -1 is the rank (group_modes in the Python DSL).

    Raises: AlgebraError for a range that is out of bounds.

    >>> str(group(Layout((2, 3, 4)), 0, 2)), group((2, 3, 4), 1)
    ('((2,3),4):((1,2),6)', (2, (3, 4)))
    """
    parts = _parts(x)
    last = len(parts) if end == -1 else end
    if in_dsl() and isinstance(x, Layout) and not _nested(x) and begin < last <= 1:
        return make_layout(x)
    if not 0 <= begin <= last <= len(parts):
        refuse(f"group<{begin},{end}>", (x,), f"range out of bounds: the modes are 0 to {len(parts) - 1}")
    middle = [_joined(x, parts[begin:last])] if begin < last else []
    return _joined(x, [*parts[:begin], *middle, *parts[last:]])


def append(x: object, new: object = None, n: int | None = None) -> Any:
    """With a further last mode (default 1:0) or entry (default 1); append<N> repeats it up to rank N.

    Raises: AlgebraError for an N below the rank.

    >>> str(append(Layout((2, 3)), Layout(4, 8))), str(append(Layout((2, 3)), n=4)), append((2, 3), 5)
    ('(2,3,4):(1,2,8)', '(2,3,1,1):(1,2,0,0)', (2, 3, 5))
    """
    return _extended("append", x, new, n)


def prepend(x: object, new: object = None, n: int | None = None) -> object:
    """As append, with a further first mode or entry.

    Raises: AlgebraError for an N below the rank.

    >>> str(prepend(Layout((2, 3)), Layout(4, 8))), prepend((2, 3), n=4)
    ('(4,2,3):(8,1,2)', (1, 1, 2, 3))
    """
    return _extended("prepend", x, new, n)


def _extended(name: str, x: object, new: object, n: int | None) -> object:
    if _is_tuple(x) or isinstance(new, Underscore):  # beside `_` a layout is an entry of a tuple
        x, one = x if _is_tuple(x) else (x,), 1 if new is None else new
    else:
        new = _mode(name, new)
        if isinstance(x, ComposedLayout):
            return lift(x, append if name == "append" else prepend, new, n)
        if isinstance(new, ComposedLayout):
            refuse(name, (x, new), "a composed layout has no strides, so it cannot be a mode of another layout")
        one = new or _ONE
    parts = list(_parts(x))
    if n is not None and not len(parts) <= n <= limit("modes"):
        given = (x, one) if isinstance(x, Layout) else (x,)
        refuse(f"{name}<{n}>", given, f"N is the rank of the result, {len(parts)} to {limit('modes')}")
    if n == len(parts):
        return x
    more = [one] * (1 if n is None else n - len(parts))
    return _joined(x, parts + more if name == "append" else more + parts)


def _is_tuple(x: object) -> bool:
    return not is_layout(x)


def _mode(name: str, x: object) -> Any:
    """What becomes a mode of a layout: a layout, or a shape as the compact layout of it."""
    layout = as_layout(x)
    if x is not None and _is_tuple(layout):
        refuse(name, (x,), "a mode of a layout must be a layout")
    return layout


def replace(x: object, new: object, mode: int) -> Any:
    """With another mode or entry in the place of one, or behind the last one: replace<I>(A, x) is replace(A, x, I).

    Raises: AlgebraError for a mode that does not exist, and for composed layouts.

    >>> str(replace(Layout((2, 3)), Layout((4, 4)), 1)), replace((2, 3), (4, 4), 1)
    ('(2,(4,4)):(1,(1,4))', (2, (4, 4)))
    """
    if not _is_tuple(x):
        new = _mode("replace", new)
        if isinstance(x, ComposedLayout) or isinstance(new, ComposedLayout):
            refuse("replace", (x, new), "only a mode of a plain layout can be replaced, and only by a plain layout")
    parts = _parts(x)
    if not 0 <= mode <= len(parts) - (not _nested(x)):
        refuse(f"replace<{mode}>", (x, new), f"its modes are 0 to {len(parts) - 1}")
    return _joined(x, [*parts[:mode], new, *parts[mode + 1 :]]) if _nested(x) else new


def zip_(a: Any, b: Any = None) -> Any:
    """((a,b),(x,y)) becomes ((a,x),(b,y)), of a layout or a tuple; two are zipped mode by mode.

    Raises: AlgebraError for modes of different ranks. Source: cute/layout.hpp, zip; cute/algorithm/tuple_algorithms.hpp.

    >>> str(zip_(Layout(((2, 3), (4, 5))))), str(zip_(Layout((2, 3)), Layout((4, 5), (5, 1)))), zip_((2, 3), (4, 5))
    ('((2,4),(3,5)):((1,6),(2,24))', '((2,4),(3,5)):((1,5),(2,1))', ((2, 4), (3, 5)))
    """
    if _is_tuple(a) and (b is None or _is_tuple(b)):
        x = a if b is None else (a, b)
    else:
        a, b = _mode("zip", a), _mode("zip", b)
        if isinstance(a, ComposedLayout) and b is None:
            return lift(a, zip_)
        if isinstance(a, ComposedLayout) or isinstance(b, ComposedLayout):
            refuse("zip", (a, b), "only two plain layouts can be zipped")
        x = a if b is None else make_layout(a, b)
    parts = _parts(x)
    if not _nested(x) or x == ():
        return x
    if not parts or not _nested(parts[0]):
        return _joined(x, [x])
    rank = len(_parts(parts[0]))
    if any(not _nested(part) or len(_parts(part)) != rank for part in parts):
        refuse("zip", tuple(parts), "Mismatched Ranks: all must be tuples of the same rank")
    return _joined(x, [_joined(x, column) for column in zip(*map(_parts, parts), strict=True)])


@lifted
def tile_unzip(layout: Layout, tiler: object) -> AnyLayout:
    """((A,a),((B,b),(C,c)),d) becomes ((A,(B,C)),(a,(b,c),d)), split where the tiler has its leaves. Raises: AlgebraError for a
    leaf of the tiler (such as `_`) whose mode of the layout is not a pair. Source: cute/layout.hpp,
    cute/algorithm/tuple_algorithms.hpp, zip2_by."""
    return make_layout(*_unzip(layout, tiler))


def _unzip(layout: Layout, tiler: object) -> list[Layout]:
    """The tiles and the rests of a layout of (tile, rest) pairs, gathered along the tiler."""
    parts = modes_of(layout)
    if isinstance(tiler, tuple):
        if not isinstance(layout.shape, tuple) or len(parts) < len(tiler):
            refuse("tile_unzip", (layout, tiler), "Mismatched ranks: the tiler has more modes than the layout")
        split = [_unzip(part, t) for part, t in zip(parts, tiler, strict=False)]
        rest = parts[len(tiler) :]
        return [make_layout(*(first for first, _ in split)), make_layout(*(second for _, second in split), *rest)]
    if not ranked(layout.shape, 2):
        refuse(
            "tile_unzip",
            (layout, tiler),
            "Mismatched ranks: there is no (tile, rest) pair to take apart",
            hint="a mode that the tiler skips with _ has no tile; logical_divide and logical_product allow it",
        )
    return parts


def unflatten_any(x: object, profile: object) -> Any:
    """A flat layout, or the entries of a flat tuple, in the nesting of a profile (cute/layout.hpp).

    Raises: AlgebraError for another number of modes.

    >>> str(unflatten_any(Layout((2, 3, 4), (12, 4, 1)), (0, (0, 0)))), unflatten_any((2, 3, 4), ((0, 0), 0))
    ('(2,(3,4)):(12,(4,1))', ((2, 3), 4))
    """
    if isinstance(x, Layout):
        return Layout(unflatten_any(x.shape, profile), unflatten_any(x.stride, profile))
    if len(modes(x)) != sum(1 for _ in leaves(profile)):
        refuse("unflatten", (x, profile), "the tuple must have one entry for each integer of the profile")
    return unflatten(modes(x), profile)


def flatten(layout: object) -> object:
    """The same function with no nesting below the top level (cute/layout.hpp); of a tuple its leaves.

    >>> str(flatten(Layout(((2, 2), 4))))
    '(2,2,4):(1,2,4)'
    """
    if isinstance(layout, ComposedLayout):
        return lift(layout, flatten)
    if not _nested(layout):
        return layout
    if not isinstance(layout, Layout):
        return tuple(leaves(layout))
    flat = plain_layout.trusted(tuple(leaves(layout.shape)), tuple(leaves(layout.stride)))
    if any(isinstance(extent, Unknown) and extent.wide for extent in leaves(flat.shape)):
        return plain_layout.trusted(map_leaves(_narrow, flat.shape), flat.stride)
    return flat


def _narrow(extent: object) -> object:
    return Unknown("?", extent.text, extent.span, extent.written) if isinstance(extent, Unknown) and extent.wide else extent


coalesce = lifted(_coalesce)


def filter_zeros(layout: object, profile: object = None) -> Any:
    """Extents of modes with stride 0 become 1; with a profile, of the modes where the profile is 0 (cute/layout.hpp).

    Of a tuple, its zeros become 1; beside a profile its integers do (cute/int_tuple.hpp).

    A composed layout has no strides and stays as it is (cute/int_tuple.hpp), unless it is a tensor of coordinates with an origin.
    Raises: AlgebraError for one with a profile.

    >>> str(filter_zeros(Layout((4, 8), (0, 1))))
    '(1,8):(0,1)'
    """
    if not is_layout(layout):
        return _filter_zeros(layout if profile is None else profile, layout, layout)
    if isinstance(layout, ComposedLayout) and has_origin(layout):
        return ComposedLayout(layout.outer, layout.offset, filter_zeros(layout.inner, profile))
    if isinstance(layout, ComposedLayout):
        if profile is not None:
            refuse("filter_zeros", (layout, profile), "a composed layout has no strides for a profile to choose from")
        return layout
    return Layout(_filter_zeros(layout.stride if profile is None else profile, layout.shape, layout), layout.stride)


def _filter_zeros(guide: object, shape: object, layout: object) -> Any:
    def misfit(guide: object, _: object) -> NoReturn:
        refuse("filter_zeros", (layout, guide), "the profile and the layout do not have the same nesting")

    return map_leaves(lambda g, s: map_leaves(lambda _: 1, s) if is_zero(g) else s, guide, shape, misfit=misfit)


def filter_(layout: AnyLayout, profile: object = None) -> AnyLayout:
    """The layout without modes of stride 0 and extent 1, coalesced: the values are the same, repeats aside.

    Of a tensor of coordinates it is that of the layout behind the origin. Raises: AlgebraError for a profile of more modes than the
    layout, and for a composed layout without a profile, of which CuTe has no filter (cute/layout.hpp).

    >>> str(filter_(Layout((4, (2, 8)), (1, (0, 4)))))
    '32:1'
    """
    if isinstance(layout, ComposedLayout):
        if profile is None and not has_origin(layout):
            hint = "with a profile there is one: filter(A, 0); or use coalesce(A)"
            refuse("filter", (layout,), "CuTe has no filter for a composed layout", hint=hint)
        return lift(layout, filter_, profile)
    if isinstance(profile, tuple):
        if len(profile) > tuple_rank(layout.shape):
            refuse("filter", (layout, profile), "the profile has more modes than the layout")
        return by_modes(filter_, layout, profile)
    return _coalesce(Layout(_filter_zeros(layout.stride, layout.shape, layout), layout.stride))
