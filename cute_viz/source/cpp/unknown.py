"""Integers of C++ that a file does not tell: computed for several numbers at once; what comes out alike does not depend on them.

CuTe's types do not depend on run-time integers, so that an operation gives the same nesting and the same static integers whatever
the number is, and what is left are run-time integers: those that come out alike for several numbers are known, others are not.
Where the nesting or a static integer differs, or one number is refused, the number matters, and is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from zlib import crc32

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import div_rem
from cute_viz.algebra.layout import Layout, trusted
from cute_viz.algebra.static import each_integer, is_tiling
from cute_viz.algebra.stride import Basis
from cute_viz.errors import CuteVizError, LimitError
from cute_viz.values import integer as algebra
from cute_viz.values.integer import MulticastMask, Runtime

# Two multiples of what tiles are, and small numbers, which tell min(M, 128) from 128.
_SMALL = (1, 2, 4, 8, 16, 64)
_WORLDS = 2 + len(_SMALL)
_LARGE = (1 << 13) * 3 * 5 * 7 * 9


class Unknown(Runtime):
    """An int of C++ that the file does not tell, by some numbers that it may be: `error` says why it is not known.

    What is computed of one is one, where the numbers tell. In layouts and shapes it prints as `?`; a static integer, a condition,
    a number that is asked for are the error. solid: it is no run-time integer either, and so the error even there.
    """

    error: CuteVizError
    numbers: tuple[int, ...]
    solid: bool


def unknown(error: CuteVizError, solid: bool = False, part: str = "") -> Unknown:
    """An int that is not known, for a reason.

    part: tells ints apart that are not known for the same reason, and need not be equal.

    >>> (unknown(CuteVizError("why")) + 4).error.message
    'why'
    >>> int(unknown(CuteVizError("why")) * 0)
    0
    >>> why = CuteVizError("why")
    >>> unknown(why) == unknown(why), unknown(why, part="0") == unknown(why, part="1")
    (True, False)
    """
    seed = crc32(((error.needs[0] if error.needs else error.message) + part).encode())
    return _of((_LARGE * (11 + seed % 89), _LARGE * (107 + seed % 83), *_shuffled(seed >> 4)), error, solid)


def _shuffled(seed: int) -> list[int]:
    """The small numbers in an order of their own, so that two ints that are not known are not equal in all worlds."""
    rest, out = list(_SMALL), []
    while rest:
        seed, place = divmod(seed, len(rest))
        out.append(rest.pop(place))
    return out


def _of(numbers: tuple[int, ...], error: CuteVizError, solid: bool) -> Unknown:
    out = Unknown(numbers[0])
    out.error, out.numbers, out.solid = error, numbers, solid
    return out


def renamed(value: Unknown, error: CuteVizError) -> Unknown:
    """The same int for another reason, such as a parameter that is handed what nobody knows."""
    return _of(value.numbers, error, value.solid)


def certain(value: Any) -> Any:
    """A value of ints that are known. Raises: the error of one that is not."""
    for found in unknowns(value):
        raise found.error
    return value


def unknowns(value: Any) -> list[Unknown]:
    """The ints in a value that are not known."""
    if isinstance(value, int):
        return [value] if isinstance(value, Unknown) else []
    if isinstance(value, (str, float)) or value is None:
        return []
    out: list[Unknown] = []

    def look(n: int) -> int:
        if isinstance(n, Unknown):
            out.append(n)
        return n

    each_integer(look, value)
    return out


def through(function: Callable[..., Any], *operands: Any, compares: bool = False) -> Any:
    """What a function gives for operands with ints that are not known. Raises: their error where the numbers matter.

    compares: it compares extents, so that a 1 that comes out alike may be what is left of one, and is not known either.

    >>> m = unknown(CuteVizError("why"))
    >>> twice = through(lambda shape: (shape[0] * 2, shape[1]), (m, 8))
    >>> isinstance(twice[0], Unknown), twice[1]
    (True, 8)
    """
    asked = [n for operand in operands for n in unknowns(operand)]
    if not asked:
        return function(*operands)
    for n in asked:
        if n.solid:
            raise n.error
    error = next((n.error for n in asked if n.error.needs), asked[0].error)
    error = error.but(needs=tuple(dict.fromkeys(name for n in asked for name in n.error.needs)))
    results: list[Any] = []
    problems: list[CuteVizError] = []
    for world in range(_WORLDS):
        try:
            results.append(function(*[_seen(operand, world) for operand in operands]))
        except LimitError:
            raise
        except CuteVizError as problem:
            problems.append(problem)
        if world == 1 and len(problems) == 1:
            raise error
    if len(results) > 1 and problems:  # a small number does not divide
        return each_integer(lambda n: _doubtful(n, error), merged(results, error))
    if not results and len({problem.message for problem in problems}) == 1:
        raise problems[0]  # it is refused whatever the number
    if problems:
        raise error
    found = merged(results, error)
    return each_integer(lambda n: _doubtful(n, error) if n == 1 else n, found) if compares else found


def _doubtful(n: int, error: CuteVizError) -> int:
    """A run-time integer that is alike for large numbers alone: it is not known."""
    if not isinstance(n, Runtime) or isinstance(n, Unknown):
        return n
    return _of((int(n), int(n), *[2 if n == 1 else 1] * len(_SMALL)), error, False)


def _seen(value: Any, world: int) -> Any:
    """A value with the numbers of one world."""
    return each_integer(lambda n: Runtime(n.numbers[world]) if isinstance(n, Unknown) else n, value)


def merged(results: list[Any], error: CuteVizError) -> Any:
    """The value that several are: ints that differ are not known. Raises: the error where more than ints of C++ differ.

    >>> str(merged([Layout(Runtime(4)), Layout(Runtime(4))], CuteVizError("why")))
    '4:1'
    """
    first = results[0]
    if isinstance(first, bool) or not isinstance(first, (int, tuple, Basis, Layout, ComposedLayout)):
        if is_tiling(first) and all(type(other) is type(first) for other in results):
            return _merged_tiling(results, error)
        if all(type(other) is type(first) and other == first for other in results):
            return first
        raise error
    if isinstance(first, int):
        return _merged_int(results, error)
    if any(type(other) is not type(first) for other in results):
        raise error
    if isinstance(first, tuple):
        if any(len(other) != len(first) for other in results):
            raise error
        return tuple(merged(list(items), error) for items in zip(*results, strict=True))
    if isinstance(first, Basis):
        if any(other.path != first.path for other in results):
            raise error
        return Basis(merged([other.value for other in results], error), first.path)
    if isinstance(first, Layout):
        return trusted(*(merged([getattr(other, part) for other in results], error) for part in ("shape", "stride")))
    parts = {part: merged([getattr(other, part) for other in results], error) for part in ("outer", "offset", "inner")}
    return ComposedLayout(parts["outer"], parts["offset"], parts["inner"])


def _merged_tiling(results: list[Any], error: CuteVizError) -> Any:
    first = results[0]
    parts = {name: merged([getattr(other, name) for other in results], error) for name in first.marked}
    if any(replace(other, **parts) != replace(first, **parts) for other in results):
        raise error
    return replace(first, **parts)


def _merged_int(results: list[Any], error: CuteVizError) -> Any:
    if any(isinstance(other, bool) or not isinstance(other, int) for other in results):
        raise error
    runtime = any(isinstance(other, Runtime) for other in results)
    if all(isinstance(other, MulticastMask) and other == results[0] for other in results):
        first = results[0]  # which CTA asks may not be known
        return first if all(other.coord == first.coord for other in results) else first.of(first, first.cluster, None, first.modes)
    if all(int(other) == int(results[0]) for other in results):
        return Runtime(int(results[0])) if runtime else results[0]
    if not all(isinstance(other, Runtime) for other in results):
        raise error
    return _of((*map(int, results), *[1] * (_WORLDS - len(results))), error, False)


def symbol(why: CuteVizError) -> algebra.Unknown:
    """An int that is not known, as other rooms have it: `?`, whose error says what it is called in the file."""
    return algebra.Unknown("?", why.text, why.span, plain=True, cause=why)


def _operator(compute: Callable[[int, int], int], swapped: bool = False) -> Callable[[Unknown, Any], Any]:
    def operator(self: Unknown, other: Any) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        others = other.numbers if isinstance(other, Unknown) else (int(other),) * len(self.numbers)
        pairs = zip(others, self.numbers, strict=True) if swapped else zip(self.numbers, others, strict=True)
        try:
            numbers = tuple(compute(a, b) for a, b in pairs)
        except ZeroDivisionError:
            raise self.error from None
        if len(set(numbers)) == 1:
            return numbers[0] if not isinstance(other, Runtime) and other == 0 else Runtime(numbers[0])
        solid = self.solid or (isinstance(other, Unknown) and other.solid)
        return _of(numbers, self.error, solid)

    return operator


def _unary(compute: Callable[[int], int]) -> Callable[[Unknown], Any]:
    return lambda self: _of(tuple(map(compute, self.numbers)), self.error, self.solid)


def _quotient(a: int, b: int) -> int:
    return int(div_rem(a, b)[0])


def _rest(a: int, b: int) -> int:
    return int(div_rem(a, b)[1])


_BINARY: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": _quotient,
    "mod": _rest,
}
for _name, _compute in _BINARY.items():
    setattr(Unknown, f"__{_name}__", _operator(_compute))
    setattr(Unknown, f"__r{_name}__", _operator(_compute, swapped=True))
setattr(Unknown, "__neg__", _unary(lambda n: -n))  # noqa: B010
setattr(Unknown, "__abs__", _unary(abs))  # noqa: B010
