"""Tuples as tuples: pick, group, append, replace, zip and slice their entries (cute/algorithm/tuple_algorithms.hpp).

A shape, a stride, a coordinate or a tiler stays one; only layouts give layouts, which `modes` and `slicing` take apart.
"""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.common import refuse
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.dialect import in_dsl
from cute_viz.algebra.inttuple import Underscore, leaves, map_leaves, modes
from cute_viz.algebra.inttuple import unflatten as nested
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
        if begin == end and not in_dsl():
            return ()
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
    """A tuple with another entry at a position, or behind the last one. Raises: AlgebraError for an entry that does not exist.

    >>> replace((2, 3), (4, 4), 1)
    (2, (4, 4))
    """
    entries = modes(x)
    if not 0 <= entry <= len(entries) - (not isinstance(x, tuple)):
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


def insert(x: Any, new: Any, entry: int) -> Any:
    """A tuple with a further entry before a position: insert<N>(t, x). Raises: AlgebraError for a position past its end.

    >>> insert((2, 3), (4, 4), 1)
    (2, (4, 4), 3)
    """
    if not isinstance(x, tuple) or not 0 <= entry <= len(x):
        refuse(f"insert<{entry}>", (x, new), f"the positions are 0 to {len(x)}" if isinstance(x, tuple) else "it is not a tuple")
    return (*x[:entry], new, *x[entry:])


def remove(x: Any, entry: int) -> Any:
    """A tuple without one entry: remove<N>(t); past its end there is none to remove. Raises: AlgebraError further on.

    >>> remove((2, 3, 4), 1)
    (2, 4)
    """
    if not isinstance(x, tuple) or not 0 <= entry <= len(x):
        refuse(f"remove<{entry}>", (x,), f"its entries are 0 to {len(x) - 1}" if isinstance(x, tuple) else "it is not a tuple")
    return (*x[:entry], *x[entry + 1 :])


def replace_front(x: Any, new: Any) -> Any:
    """A tuple with another first entry; another value in the place of anything else.

    >>> replace_front((2, 3), 5), replace_front(2, 5)
    ((5, 3), 5)
    """
    return (new, *x[1:]) if isinstance(x, tuple) else new


def replace_back(x: Any, new: Any) -> Any:
    """A tuple with another last entry; another value in the place of anything else.

    >>> replace_back((2, 3), 5), replace_back(2, 5)
    ((2, 5), 5)
    """
    return (*x[:-1], new) if isinstance(x, tuple) else new


def front(x: Any) -> Any:
    """The first leaf of a tuple; anything else as it is.

    >>> front(((2, 3), 4)), front(2)
    (2, 2)
    """
    return front(x[0]) if isinstance(x, tuple) and x else x


def back(x: Any) -> Any:
    """The last leaf of a tuple; anything else as it is.

    >>> back((2, (3, 4))), back(2)
    (4, 2)
    """
    return back(x[-1]) if isinstance(x, tuple) and x else x


def wrap(x: Any) -> Any:
    """A tuple as it is, anything else as a tuple of one entry.

    >>> wrap(2), wrap((2, 3))
    ((2,), (2, 3))
    """
    return modes(x)


def unwrap(x: Any) -> Any:
    """The entry of a tuple of one entry, as often as it is one; anything else as it is.

    >>> unwrap(((2,),)), unwrap((2, 3))
    (2, (2, 3))
    """
    return unwrap(x[0]) if isinstance(x, tuple) and len(x) == 1 else x


def flatten_to_tuple(x: Any) -> tuple[Any, ...]:
    """The leaves of anything as a tuple.

    >>> flatten_to_tuple((2, (3, 4))), flatten_to_tuple(2)
    ((2, 3, 4), (2,))
    """
    return tuple(leaves(x))


def unflatten(x: Any, profile: Any) -> Any:
    """The entries of a flat tuple in the nesting of a profile. Raises: AlgebraError for another number of entries.

    >>> unflatten((1, 2, 3), (0, (0, 0)))
    (1, (2, 3))
    """
    entries = modes(x)
    if len(entries) != sum(1 for _ in leaves(profile)):
        refuse("unflatten", (x, profile), "the tuple must have one entry for each integer of the profile")
    return nested(entries, profile)


def repeat(x: Any, count: int) -> Any:
    """A value so many times, as a tuple; once it stays as it is: repeat<N>(x). Raises: AlgebraError for too many.

    >>> repeat(4, 3), repeat(4, 1)
    ((4, 4, 4), 4)
    """
    return x if count == 1 else tuple_repeat(x, count)


def tuple_repeat(x: Any, count: int) -> Any:
    """A value so many times, as a tuple: tuple_repeat<N>(x). Raises: AlgebraError for too many.

    >>> tuple_repeat(4, 1)
    (4,)
    """
    if not 0 <= count <= limit("modes"):
        refuse(f"repeat<{count}>", (x,), f"the count must be 0 to {limit('modes')}")
    return (x,) * count


def repeat_like(x: Any, value: Any) -> Any:
    """A value in the place of every leaf of a tuple.

    >>> repeat_like((1, (2, 3)), 0)
    (0, (0, 0))
    """
    return map_leaves(lambda _: value, x)


def reverse(x: Any) -> Any:
    """A tuple with its entries from the last to the first; anything else as it is, a layout, too.

    >>> reverse((2, (3, 4))), str(reverse(Layout((2, 3))))
    (((3, 4), 2), '(2,3):(1,2)')
    """
    return x[::-1] if isinstance(x, tuple) else x


def tuple_cat(*parts: Any) -> tuple[Any, ...]:
    """The entries of all tuples in one. Raises: AlgebraError for anything else than a tuple.

    >>> tuple_cat((1, 2), (3,), ())
    (1, 2, 3)
    """
    if not all(isinstance(part, tuple) for part in parts):
        refuse("tuple_cat", parts, "all must be tuples")
    return tuple(item for part in parts for item in part)


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
