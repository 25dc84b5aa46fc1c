"""Tuples as tuples: pick, group, append, replace, zip and slice their entries (cute/algorithm/tuple_algorithms.hpp).

A shape, a stride, a coordinate or a tiler stays one; only layouts give layouts, which `modes` and `slicing` take apart.
"""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.common import refuse
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import Underscore, leaves, modes
from cute_viz.algebra.layout import Layout
from cute_viz.limits import limit


def is_tuple(x: Any) -> bool:
    """Whether a value is to be taken as a tuple of one entry or more, and not as a layout.

    >>> is_tuple((4, 8)), is_tuple(4), is_tuple(Layout((4, 8)))
    (True, True, False)
    """
    return not isinstance(x, (Layout, ComposedLayout))


def select(x: Any, *picked: int) -> tuple[Any, ...]:
    """The entries that are named, in that order.

    Raises: AlgebraError for an entry that does not exist, or for no entry at all.

    >>> select((128, 64, 32), 0, 2)
    (128, 32)
    """
    entries = modes(x)
    if not picked:
        refuse("select", (x,), "name the entries to keep", hint="select<0,2>(A)")
    if not all(0 <= i < len(entries) for i in picked):
        refuse(f"select<{','.join(map(str, picked))}>", (x,), f"its entries are 0 to {len(entries) - 1}")
    return tuple(entries[i] for i in picked)


def take(x: Any, begin: int, end: int) -> tuple[Any, ...]:
    """The entries begin to end-1; an end of -1 is the rank.

    Raises: AlgebraError for an empty range, and one that is out of bounds.

    >>> take((2, 3, 4), 1, 3)
    (3, 4)
    """
    entries = modes(x)
    last = len(entries) if end == -1 else end
    if not begin < last:
        refuse(f"take<{begin},{end}>", (x,), "empty range error")
    if begin < 0 or last > len(entries):
        refuse(f"take<{begin},{end}>", (x,), f"range out of bounds: the modes are 0 to {len(entries) - 1}")
    return entries[begin:last]


def group(x: Any, begin: int = 0, end: int = -1) -> tuple[Any, ...]:
    """The entries begin to end-1 as one; an end of -1 is the rank. Raises: AlgebraError for a range that is out of bounds.

    >>> group((2, 3, 4), 0, 2)
    ((2, 3), 4)
    """
    entries = modes(x)
    last = len(entries) if end == -1 else end
    if not 0 <= begin <= last <= len(entries):
        refuse(f"group<{begin},{end}>", (x,), f"range out of bounds: the modes are 0 to {len(entries) - 1}")
    return (*entries[:begin], *([entries[begin:last]] if begin < last else []), *entries[last:])


def extended(name: str, x: Any, new: Any, n: int | None) -> tuple[Any, ...]:
    """A tuple with `new` (default 1) as a further entry at its end, or in front for "prepend"; up to rank n where one is given.

    Raises: AlgebraError for an n below the rank.

    >>> extended("append", (2, 3), 5, None), extended("prepend", (2, 3), None, 4)
    ((2, 3, 5), (1, 1, 2, 3))
    """
    entries, one = modes(x), 1 if new is None else new
    if n is not None and not len(entries) <= n <= limit("modes"):
        refuse(f"{name}<{n}>", (x,), f"N is the rank of the result, {len(entries)} to {limit('modes')}")
    if n == len(entries):
        return x  # type: ignore[no-any-return]
    more = (one,) * (1 if n is None else n - len(entries))
    return (*entries, *more) if name == "append" else (*more, *entries)


def replace(x: Any, new: Any, entry: int) -> Any:
    """A tuple with another entry at a position. Raises: AlgebraError for an entry that does not exist.

    >>> replace((2, 3), (4, 4), 1)
    (2, (4, 4))
    """
    entries = modes(x)
    if not 0 <= entry < len(entries):
        refuse(f"replace<{entry}>", (x, new), f"its modes are 0 to {len(entries) - 1}")
    return (*entries[:entry], new, *entries[entry + 1 :]) if isinstance(x, tuple) else new


def flatten(x: Any) -> Any:
    """The leaves of a tuple; anything else as it is.

    >>> flatten((2, (3, (4,)))), flatten(4)
    ((2, 3, 4), 4)
    """
    return tuple(leaves(x)) if isinstance(x, tuple) else x


def zipped(x: Any) -> Any:
    """((a,b),(x,y)) becomes ((a,x),(b,y)). Raises: AlgebraError for entries of different ranks.

    >>> zipped(((1, 2), (3, 4)))
    ((1, 3), (2, 4))
    """
    if not isinstance(x, tuple) or not x:
        return x
    if not isinstance(x[0], tuple):
        return (x,)
    if any(not isinstance(entry, tuple) or len(entry) != len(x[0]) for entry in x):
        refuse("zip", x, "Mismatched Ranks: all must be tuples of the same rank")
    return tuple(zip(*x, strict=True))


def slice_(crd: Any, x: Any) -> Any:
    """The entries of a tuple where the coordinate has `_`.

    Raises: AlgebraError for a coordinate of another rank.

    >>> from cute_viz.algebra.inttuple import X
    >>> slice_((2, X), (4, 8)), slice_(X, (4, 8))
    ((8,), (4, 8))
    """
    if isinstance(crd, tuple):
        return tuple(_kept(crd, x))
    return x if isinstance(crd, Underscore) else ()


def _kept(crd: Any, x: Any) -> list[Any]:
    if isinstance(crd, tuple):
        if not isinstance(x, tuple) or len(x) != len(crd):
            refuse("slice", (crd, x), "Mismatched Ranks", hint="one entry, an index or _, for each mode")
        return [kept for c, y in zip(crd, x, strict=True) for kept in _kept(c, y)]
    return [x] if isinstance(crd, Underscore) else []
