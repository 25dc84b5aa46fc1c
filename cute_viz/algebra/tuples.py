"""Operations of tuples alone: entries inserted, removed, replaced and repeated (cute/algorithm/tuple_algorithms.hpp).

Those that layouts have, too, are in `modes` and `slicing`.
"""

from __future__ import annotations

from typing import Any

from cute_viz.algebra.common import refuse
from cute_viz.algebra.inttuple import leaves, map_leaves
from cute_viz.limits import limit


def insert(x: object, new: object, entry: int) -> tuple[object, ...]:
    """A tuple with a further entry before a position: insert<N>(t, x). Raises: AlgebraError for a position past its end.

    >>> insert((2, 3), (4, 4), 1)
    (2, (4, 4), 3)
    """
    if not isinstance(x, tuple) or not 0 <= entry <= len(x):
        refuse(f"insert<{entry}>", (x, new), f"the positions are 0 to {len(x)}" if isinstance(x, tuple) else "it is not a tuple")
    return (*x[:entry], new, *x[entry:])


def remove(x: object, entry: int) -> tuple[object, ...]:
    """A tuple without one entry: remove<N>(t); past its end there is none to remove. Raises: AlgebraError further on.

    >>> remove((2, 3, 4), 1)
    (2, 4)
    """
    if not isinstance(x, tuple) or not 0 <= entry <= len(x):
        refuse(f"remove<{entry}>", (x,), f"its entries are 0 to {len(x) - 1}" if isinstance(x, tuple) else "it is not a tuple")
    return (*x[:entry], *x[entry + 1 :])


def replace_front(x: object, new: object) -> Any:
    """A tuple with another first entry; another value in the place of anything else.

    >>> replace_front((2, 3), 5), replace_front(2, 5)
    ((5, 3), 5)
    """
    return (new, *x[1:]) if isinstance(x, tuple) else new


def replace_back(x: object, new: object) -> Any:
    """A tuple with another last entry; another value in the place of anything else.

    >>> replace_back((2, 3), 5), replace_back(2, 5)
    ((2, 5), 5)
    """
    return (*x[:-1], new) if isinstance(x, tuple) else new


def front(x: object) -> Any:
    """The first leaf of a tuple; anything else as it is.

    >>> front(((2, 3), 4)), front(2)
    (2, 2)
    """
    return front(x[0]) if isinstance(x, tuple) and x else x


def back(x: object) -> Any:
    """The last leaf of a tuple; anything else as it is.

    >>> back((2, (3, 4))), back(2)
    (4, 2)
    """
    return back(x[-1]) if isinstance(x, tuple) and x else x


def unwrap(x: object) -> Any:
    """The entry of a tuple of one entry, as often as it is one; anything else as it is.

    >>> unwrap(((2,),)), unwrap((2, 3))
    (2, (2, 3))
    """
    return unwrap(x[0]) if isinstance(x, tuple) and len(x) == 1 else x


def flatten_to_tuple(x: object) -> tuple[Any, ...]:
    """The leaves of anything as a tuple.

    >>> flatten_to_tuple((2, (3, 4))), flatten_to_tuple(2)
    ((2, 3, 4), (2,))
    """
    return tuple(leaves(x))


def repeat(x: object, count: int) -> Any:
    """A value so many times, as a tuple; once it stays as it is: repeat<N>(x). Raises: AlgebraError for too many.

    >>> repeat(4, 3), repeat(4, 1)
    ((4, 4, 4), 4)
    """
    return x if count == 1 else tuple_repeat(x, count)


def tuple_repeat(x: object, count: int) -> Any:
    """A value so many times, as a tuple: tuple_repeat<N>(x). Raises: AlgebraError for too many.

    >>> tuple_repeat(4, 1)
    (4,)
    """
    if not 0 <= count <= limit("modes"):
        refuse(f"repeat<{count}>", (x,), f"the count must be 0 to {limit('modes')}")
    return (x,) * count


def repeat_like(x: object, value: object) -> Any:
    """A value in the place of every leaf of a tuple.

    >>> repeat_like((1, (2, 3)), 0)
    (0, (0, 0))
    """
    return map_leaves(lambda _: value, x)


def reverse(x: object) -> Any:
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
