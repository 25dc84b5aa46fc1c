"""Operations on shapes, coordinates and tuples alone (cute/int_tuple.hpp, cute/algorithm/tuple_algorithms.hpp)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import starmap, zip_longest
from typing import Any, NoReturn

from cute_viz.algebra.common import refuse
from cute_viz.algebra.composed import domain, is_layout
from cute_viz.algebra.inttuple import (
    IntTuple,
    is_int_tuple,
    leaves,
    map_leaves,
    modes,
    product,
    ranked,
    same_profile,
    show,
    tuple_depth,
)
from cute_viz.errors import AlgebraError
from cute_viz.limits import limit
from cute_viz.values.integer import Runtime, Unknown, compared, is_known


def ceil_div(a: object, b: object) -> Any:
    """a / b rounded up: by mode for two tuples (missing modes of b are 1), folded from the left for tuple by int."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) < len(b):
            raise AlgebraError(f"ceil_div: {show(b)} has more modes than {show(a)}")
        return tuple(starmap(ceil_div, zip_longest(a, b, fillvalue=1)))
    return _folded("ceil_div", ceil_div, a, b)


def shape_div(a: object, b: object) -> object:
    """Like ceil_div, where at each step one of the two must divide the other.

    >>> shape_div((4, 5, 6), 40), shape_div(12, (2, 3))
    ((1, 1, 3), 2)
    """
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) != len(b):
            raise AlgebraError(f"shape_div: {show(a)} and {show(b)} have mismatched ranks")
        return tuple(map(shape_div, a, b))
    return _folded("shape_div", shape_div, a, b)


def _folded(name: str, divide: Callable[[Any, Any], Any], a: Any, b: object) -> object:
    """A tuple divided by an integer, each entry by what those before it leave; an integer by an integer or the size of a tuple."""
    if isinstance(a, tuple):
        out = []
        for x in a:
            out.append(divide(x, b))
            b = divide(b, x)
        return tuple(out)
    b = product(b) if isinstance(b, tuple) else b
    if b == 0:
        raise AlgebraError(f"{name}({show(a)},{show(b)}) divides by 0")
    if name == "shape_div" and is_known(a) and is_known(b) and a % b != 0 and (a == 0 or b % a != 0):
        raise AlgebraError(f"shape_div({a},{b}): Divisibility Condition: neither divides the other")
    return -(-a // b)


def product_each(shape: object) -> tuple[int, ...]:
    """The size of each mode.

    >>> product_each(((2, 4), 3))
    (8, 3)
    """
    return tuple(product(mode) for mode in modes(shape))


def round_up(a: Any, b: Any) -> object:
    """The least multiple of b that is at least a; by mode for two tuples, where missing modes of b are 1.

    >>> round_up(10, 4), round_up((10, 3), (4,))
    (12, (12, 3))
    """
    one = tuple_depth(b) == 0
    if (tuple_depth(a) == 0) != one or (not one and len(a) < len(b)):
        raise AlgebraError(f"round_up: {show(a)} and {show(b)} have mismatched ranks")
    return ceil_div(a, b) * b if one else tuple(starmap(round_up, zip_longest(a, b, fillvalue=1)))


def elem_scale(a: object, b: object) -> object:
    """A tuple of the nesting of a, each of its integers times the size of what b has there.

    >>> elem_scale((2, 3), (4, (5, 6)))
    (8, 90)
    """
    return map_leaves(lambda x, y: x * y, a, product_like(b, a))


def inner_product(a: object, b: object) -> object:
    """The sum of the products of the leaves of two tuples of one nesting.

    >>> inner_product((1, (2, 3)), (4, (5, 6)))
    32
    """
    if not same_profile(a, b):
        raise AlgebraError(f"inner_product: {show(a)} and {show(b)} have mismatched ranks")
    return sum_(map_leaves(lambda x, y: x * y, a, b))


def sum_(x: object) -> object:
    """The sum of all leaves.

    >>> sum_((2, (3, 4)))
    9
    """
    return sum(leaves(x))


def weakly_congruent(a: object, b: object) -> bool:
    """Whether a is b with some sub-tuples replaced by integers.

    >>> weakly_congruent((2, 3), (2, (3, 4))), weakly_congruent((2, (3, 4)), (2, 3))
    (True, False)
    """
    return not isinstance(a, tuple) or (ranked(b, len(a)) and all(map(weakly_congruent, a, b)))


def compatible(a: IntTuple, b: IntTuple) -> bool | int:
    """Whether every coordinate of shape a is a coordinate of shape b, with equal sizes; run-time extents tell it at run time.

    >>> compatible(24, (4, 6)), compatible((4, 6), ((2, 2), 6)), compatible((4, 6), 24)
    (True, True, False)
    """
    return (ranked(b, len(a)) and every(map(compatible, a, b))) if isinstance(a, tuple) else equal(a, product(b))


def equal(a: object, b: object) -> bool | int:
    """Whether two integers are the same, as types of CuTe answer it: at run time where one is known only then."""
    found = compared("==", a, b)
    return found if is_known(a) and is_known(b) else Runtime(found)


def every(answers: Iterable[bool | int]) -> bool | int:
    """Whether all answers are yes; a static no is static, whatever the others are."""
    found = list(answers)
    static = all(map(is_known, found)) or not all(x for x in found if is_known(x))
    return all(found) if static else Runtime(all(found))


def shape_of(x: object, *path: int) -> Any:
    """The shape of a layout, or the tuple itself; with a path, that of the mode there.

    >>> shape_of(Layout((2, (3, 4))), 1), shape_of((2, (3, 4)), 1, 0)
    ((3, 4), 3)
    """
    shape = domain(x).shape if is_layout(x) else x
    if not isinstance(shape, (int, tuple, Unknown)) or not is_int_tuple(shape):
        raise AlgebraError(f"{show(x)} has no shape")
    for i in path:
        entries = modes(shape)
        if not isinstance(i, int) or not 0 <= i < len(entries):
            raise AlgebraError(f"{show(x)} has no mode {show(i)}", hint=f"its modes are 0 to {len(entries) - 1}")
        shape = entries[i]
    return shape


def grouped(shape: IntTuple) -> IntTuple:
    """The size of a shape; of one that mixes known and run-time extents, a mode for each run of a kind (CuTe's coalesce)."""
    found: list[int] = []
    for extent in leaves(shape):
        if found and is_known(found[-1]) == is_known(extent):
            found[-1] = found[-1] * extent
        else:
            found.append(extent)
    return tuple(found) if len(found) > 1 else product(shape)


def product_like(shape: object, guide: object) -> IntTuple:
    """The sizes of a shape at the leaves of a coarser guide.

    >>> product_like(((2, 3), 4), (0, 0))
    (6, 4)
    """

    def misfit(guide: object, shape: object) -> NoReturn:
        raise AlgebraError(f"{show(guide)} does not fit the shape {show(shape)}: they need equal rank")

    found: IntTuple = map_leaves(lambda _, part: product(part), guide, shape, misfit=misfit)
    return found


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


def replace_front(x: object, new: object) -> object:
    """A tuple with another first entry; another value in the place of anything else.

    >>> replace_front((2, 3), 5), replace_front(2, 5)
    ((5, 3), 5)
    """
    return (new, *x[1:]) if isinstance(x, tuple) else new


def replace_back(x: object, new: object) -> object:
    """A tuple with another last entry; another value in the place of anything else.

    >>> replace_back((2, 3), 5), replace_back(2, 5)
    ((2, 5), 5)
    """
    return (*x[:-1], new) if isinstance(x, tuple) else new


def front(x: object) -> object:
    """The first leaf of a tuple; anything else as it is.

    >>> front(((2, 3), 4)), front(2)
    (2, 2)
    """
    return front(x[0]) if isinstance(x, tuple) and x else x


def back(x: object) -> object:
    """The last leaf of a tuple; anything else as it is.

    >>> back((2, (3, 4))), back(2)
    (4, 2)
    """
    return back(x[-1]) if isinstance(x, tuple) and x else x


def unwrap(x: object) -> object:
    """The entry of a tuple of one entry, as often as it is one; anything else as it is.

    >>> unwrap(((2,),)), unwrap((2, 3))
    (2, (2, 3))
    """
    return unwrap(x[0]) if isinstance(x, tuple) and len(x) == 1 else x


def flatten_to_tuple(x: object) -> tuple[object, ...]:
    """The leaves of anything as a tuple.

    >>> flatten_to_tuple((2, (3, 4))), flatten_to_tuple(2)
    ((2, 3, 4), (2,))
    """
    return tuple(leaves(x))


def repeat(x: object, count: int) -> object:
    """A value so many times, as a tuple; once it stays as it is: repeat<N>(x). Raises: AlgebraError for too many.

    >>> repeat(4, 3), repeat(4, 1)
    ((4, 4, 4), 4)
    """
    return x if count == 1 else tuple_repeat(x, count)


def tuple_repeat(x: object, count: int) -> object:
    """A value so many times, as a tuple: tuple_repeat<N>(x). Raises: AlgebraError for too many.

    >>> tuple_repeat(4, 1)
    (4,)
    """
    if not 0 <= count <= limit("modes"):
        refuse(f"repeat<{count}>", (x,), f"the count must be 0 to {limit('modes')}")
    return (x,) * count


def repeat_like(x: object, value: object) -> object:
    """A value in the place of every leaf of a tuple.

    >>> repeat_like((1, (2, 3)), 0)
    (0, (0, 0))
    """
    return map_leaves(lambda _: value, x)


def reverse(x: object) -> object:
    """A tuple with its entries from the last to the first; anything else as it is, a layout, too.

    >>> reverse((2, (3, 4))), str(reverse(Layout((2, 3))))
    (((3, 4), 2), '(2,3):(1,2)')
    """
    return x[::-1] if isinstance(x, tuple) else x


def tuple_cat(*parts: Any) -> tuple[object, ...]:
    """The entries of all tuples in one. Raises: AlgebraError for anything else than a tuple.

    >>> tuple_cat((1, 2), (3,), ())
    (1, 2, 3)
    """
    if not all(isinstance(part, tuple) for part in parts):
        refuse("tuple_cat", parts, "all must be tuples")
    return tuple(item for part in parts for item in part)
