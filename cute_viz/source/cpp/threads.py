"""Which thread an index that is computed of threadIdx.x means: their order, where they are those of a tiling, each once."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from operator import add, and_, lshift, mod, mul, or_, rshift, xor

from cute_viz.source.cpp.lookup import Lookup, Meaning
from cute_viz.source.cpp.tree import Node
from cute_viz.source.cpp.unknown import tried
from cute_viz.values.integer import Unknown

Vector = int | list[int]  # one for all threads of a block, or one for each
_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "%": mod,
    "mod": mod,
    "/": lambda a, b: a // b,
    "//": lambda a, b: a // b,
    "&": and_,
    "|": or_,
    "^": xor,
    "<<": lshift,
    ">>": rshift,
    "min": min,
    "max": max,
}
_WIDTHS = {
    "unsigned": 32,
    "unsigned int": 32,
    "unsigned long": 64,
    "unsigned long long": 64,
    "uint32_t": 32,
    "uint64_t": 64,
    "size_t": 64,
}
_CALL = re.compile(r"([^(),]+)\((.*)\)")
_SHIFTS = ("-=", "%=", "&=")  # which leave the threads of a group in their order


def order_of(meaning: Meaning, node: Node, count: int) -> tuple[int, ...] | None:
    """For each of so many threads, the one that an index means, empty where that is itself; None where they are not those. An
    integer that nothing says anything of counts as the thread.
    """
    value = tried(lambda: meaning.value(node), None)
    if not isinstance(value, Unknown):
        return ()
    names = sorted({name for leaf in value.leaves for name in _names(leaf)})
    if any(_wanders(meaning.lookup, meaning, name) for name in names):
        return None
    thread = next((name for name in names if name.startswith("threadIdx.x")), names[0] if len(names) == 1 else None)
    if thread is None:
        return ()
    found = numbers_at(value, lambda name: list(range(count)) if name == thread else 0)
    if found is None:
        return None
    shifted = [n % count for n in (found if isinstance(found, list) else [found] * count)]
    if sorted(shifted) != list(range(count)):
        return None
    whole = all((b - a) % count == 1 for a, b in pairwise(shifted))
    return () if whole else tuple(shifted)


def _names(key: str) -> list[str]:
    call = _CALL.fullmatch(key)
    if call is None:
        return [part for part in re.split(r"[*+]", key) if not part.lstrip("-").isdigit()]
    return [name for part in _split(call[2]) for name in _names(part)]


def _split(text: str) -> list[str]:
    """The arguments of a call."""
    out, depth, begin = [], 0, 0
    for n, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            out.append(text[begin:n])
            begin = n + 1
    return [*out, text[begin:]]


def numbers_at(value: Unknown, number: Callable[[str], Vector | None]) -> Vector | None:
    """The number of an integer by those of the names that it is computed of, or one for each thread where a name has so; None
    where it is computed in other ways.

    >>> x = Unknown("x", plain=True, key="x")
    >>> numbers_at(8 * (x % 4) + x // 4 + 1, lambda name: 6), numbers_at(x // 2, lambda name: [4, 6])
    (18, [2, 3])
    """
    total: Vector = 0
    for names, factor in value.terms.items():
        parts = [_key_at(name, number) for name in names]
        if (found := _product([factor, *parts])) is None:
            return None
        total = each(add, total, found)
    return total


def each(compute: Callable[[int, int], int], a: Vector, b: Vector) -> Vector:
    """What two integers make, for each thread where one of them differs between threads.

    >>> each(add, [1, 2], 4), each(add, 1, 2)
    ([5, 6], 3)
    """
    if isinstance(a, int):
        return compute(a, b) if isinstance(b, int) else [compute(a, y) for y in b]
    return [compute(x, b) for x in a] if isinstance(b, int) else [compute(x, y) for x, y in zip(a, b, strict=True)]


def _product(parts: list[Vector | None]) -> Vector | None:
    out: Vector = 1
    for part in parts:
        if part is None:
            return None
        out = each(mul, out, part)
    return out


def _key_at(key: str, number: Callable[[str], Vector | None]) -> Vector | None:
    if key.lstrip("-").isdigit():
        return int(key)
    call = _CALL.fullmatch(key)
    if call is None:
        if "*" not in key:
            return number(key)
        total: Vector = 0
        for term in key.split("+"):
            if (found := _product([_key_at(x, number) for x in term.split("*") if x])) is None:
                return None
            total = each(add, total, found)
        return total
    operands = [_key_at(part, number) for part in _split(call[2])]
    compute = _OPERATORS.get(call[1])
    if len(operands) == 1 and operands[0] is not None and call[1] in _WIDTHS:  # a conversion
        return each(lambda n, bits: n % (1 << bits), operands[0], _WIDTHS[call[1]])
    if compute is None or len(operands) != 2 or operands[0] is None or operands[1] is None:
        return None
    divisors = operands[1] if isinstance(operands[1], list) else [operands[1]]
    return None if 0 in divisors and call[1] in ("/", "//", "%", "mod") else each(compute, operands[0], operands[1])


def _wanders(lookup: Lookup, meaning: Meaning, key: str) -> bool:
    """Whether a variable is another thread's index in some runs: it is assigned to, and not only moved by its group."""
    name = key.partition("@")[0]
    found = lookup.find(name, meaning.env, None) if name.isidentifier() else None
    if found is None or not found.declarations or found.declarations[0].kind != "variable":
        return False
    declaration, tokens = found.declarations[0], meaning.context.reader.tokens
    changes = declaration.scope.home.changes.get(name, ())
    return any(tokens[change.token + 1].text not in _SHIFTS for change in changes if not change.within)
