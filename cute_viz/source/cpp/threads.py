"""Which thread an index that is computed of threadIdx.x means: their order, where they are those of a tiling, each once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from operator import add, and_, floordiv, lshift, mod, mul, or_, rshift, xor

from cute_viz.algebra.inttuple import div_rem
from cute_viz.source.cpp.lookup import Lookup, Meaning
from cute_viz.source.cpp.numbers import number as as_number
from cute_viz.source.cpp.ranges import kind_of_word, made_of
from cute_viz.source.cpp.tree import Node
from cute_viz.source.cpp.unknown import tried
from cute_viz.values.integer import Unknown

Vector = int | list[int]  # one for all threads of a block, or one for each
_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "%": lambda a, b: div_rem(a, b)[1],
    "mod": mod,
    "/": lambda a, b: div_rem(a, b)[0],
    "//": floordiv,
    "&": and_,
    "|": or_,
    "^": xor,
    "<<": lshift,
    ">>": rshift,
    "min": min,
    "max": max,
}
_SHIFTS = ("-=", "%=", "&=")  # which leave the threads of a group in their order


def order_of(meaning: Meaning, node: Node, count: int) -> tuple[int, ...] | None:
    """For each of so many threads, the one that an index means, empty where that is itself; None where they are not those. An
    integer that nothing says anything of counts as the thread."""
    value = tried(lambda: meaning.value(node), None)
    if not isinstance(value, Unknown):
        return ()
    names = sorted(_names(value))
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


def _names(value: Unknown) -> set[str]:
    """The integers that one is computed of, by their keys."""
    out = set[str]()
    for leaf in value.leaves.values():
        inside = [_names(x) for x in leaf.made[1] if isinstance(x, Unknown)] if leaf.made is not None else [{leaf.key}]
        out = out.union(*inside)
    return out


def numbers_at(value: Unknown, number: Callable[[str], Vector | None]) -> Vector | None:
    """The number of an integer by those of the names that it is computed of, or one for each thread where a name has so; None
    where it is computed in other ways."""
    total: Vector = 0
    for names, factor in value.terms.items():
        parts = [_leaf_at(value.leaves[name], number) for name in names]
        if (found := _product([factor, *parts])) is None:
            return None
        total = each(add, total, found)
    return total


def each(compute: Callable[[int, int], int], a: Vector, b: Vector) -> Vector:
    """What two integers make, for each thread where one of them differs between threads."""
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


def _leaf_at(leaf: Unknown, number: Callable[[str], Vector | None]) -> Vector | None:
    """The number of an integer that is no sum: what a function gives of others, a conversion too."""
    if leaf.made is None:
        return number(leaf.key)
    word, given = made_of(leaf)
    operands = [numbers_at(x, number) if isinstance(x, Unknown) else int(x) if isinstance(x, int) else None for x in given]
    if None in operands:
        return None
    if len(operands) == 1 and (kind := kind_of_word(word)) is not None:
        return each(lambda n, _: int(as_number(n, kind)), operands[0], 0)  # type: ignore[arg-type]
    if word not in _OPERATORS or len(operands) != 2:
        return None
    return tried(lambda: each(_OPERATORS[word], operands[0], operands[1]), None)  # type: ignore[arg-type]


def _wanders(lookup: Lookup, meaning: Meaning, key: str) -> bool:
    """Whether a variable is another thread's index in some runs: it is assigned to, and not only moved by its group."""
    name = key.partition("@")[0]
    found = lookup.find(name, meaning.env, None) if name.isidentifier() else None
    if found is None or not found.declarations or found.declarations[0].kind != "variable":
        return False
    declaration, tokens = found.declarations[0], meaning.context.reader.tokens
    changes = declaration.scope.home.changes.get(name, ())
    return any(tokens[change.token + 1].text not in _SHIFTS for change in changes if not change.within)
