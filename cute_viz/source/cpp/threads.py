"""Which thread an index that is computed of threadIdx.x means: their order, where they are those of a tiling, each once."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from operator import add, and_, floordiv, lshift, mod, mul, or_, rshift, xor
from typing import Any

from cute_viz.algebra.inttuple import div_rem
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.source.cpp.lookup import Lookup, Meaning
from cute_viz.source.cpp.numbers import common, kind_of
from cute_viz.source.cpp.numbers import number as as_number
from cute_viz.source.cpp.ranges import converted, kind_of_word, made_of, typed
from cute_viz.source.cpp.tree import COMPARE, Binary, Condition, Node
from cute_viz.source.cpp.unknown import tried
from cute_viz.source.cpp.values import Value, integer
from cute_viz.values.integer import Unknown
from cute_viz.values.marks import INT

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
    **COMPARE,
}
_OF_A_RUN = re.compile(r"(threadIdx|blockIdx|blockDim|gridDim)\.|loop ")  # what the turns of a block tell
_SHIFTS = ("-=", "%=", "&=")  # which leave the threads of a group in their order


def order_of(meaning: Meaning, node: Node, count: int) -> tuple[int, ...] | None:
    """For each of so many threads, the one that an index means, empty where that is itself; None where they are not those. An
    integer that nothing says anything of counts as the thread."""
    value = tried(lambda: meaning.value(node), None)
    if not isinstance(value, Unknown):
        return ()
    names = sorted(_names(value))
    if any(_wanders(meaning.lookup, meaning, name) or " of threadIdx" in name for name in names):
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


def own_of_threads(meaning: Meaning, node: Condition, error: CuteVizError) -> Value:
    """What `a ? b : c` is of which nobody knows the condition: a tensor of the same banks either way, the integer that each thread
    of a block has for itself by a condition on its index. Raises: the error of another condition, of which it is given."""
    yes, no = (tried(partial(meaning.value, side), None) for side in (node.yes, node.no))
    if isinstance(yes, Tensor) and isinstance(no, Tensor) and yes.is_like(no):
        return yes
    if (found := tried(partial(_own, meaning, node), None)) is None:
        raise error
    return found


def _own(meaning: Meaning, node: Condition) -> int | Unknown:
    flag = _flag(meaning, node.test)
    sides = [_whole(meaning.solid(side)) for side in (node.yes, node.no)]
    yes, no = (typed(x, common(*map(kind_of, sides))) for x in sides)
    found: int | Unknown = no + flag * (yes - no)
    return found


def _flag(meaning: Meaning, node: Node) -> Unknown:
    """A condition on the index of a thread, as an integer that is 0 or 1."""
    match node:
        case Binary(operator="&&" | "||" as operator):
            return _flag(meaning, node.left).applied(operator[0], _flag(meaning, node.right))
        case Binary(operator=operator) if operator in COMPARE:
            a, b = _whole(meaning.solid(node.left)), _whole(meaning.solid(node.right))
        case _:
            operator, a, b = "!=", _whole(meaning.solid(node)), 0
    kind = common(kind_of(a), kind_of(b))
    first, second = converted(a, kind), converted(b, kind)
    unknown = first if isinstance(first, Unknown) else second
    if not isinstance(unknown, Unknown) or not all(_OF_A_RUN.match(key) for x in (a, b) for key in _leaves(x)):
        raise AlgebraError("the condition is none on a thread's index")
    out = unknown.applied(operator, second) if unknown is first else unknown.applied(f"{first}{operator}")
    out.kind, out.ends = INT, (0, 1)
    return out


def _whole(x: Value) -> Any:
    """An integer, known or not. Raises: AlgebraError for anything else."""
    if isinstance(x, Unknown) or isinstance(integer(x), int):
        return x if isinstance(x, Unknown) else integer(x)
    raise AlgebraError("this is no integer")


def _leaves(x: int | Unknown) -> set[str]:
    return _names(x) if isinstance(x, Unknown) else set()


def _names(value: Unknown) -> set[str]:
    """The integers that one is computed of, by their keys."""
    out = set[str]()
    for leaf in value.leaves.values():
        inside = [_names(x) for x in leaf.made[1] if isinstance(x, Unknown)] if leaf.made is not None else [{leaf.key}]
        out = out.union(*inside)
    return out


def numbers_at(
    value: Unknown, number: Callable[[str], Vector | None], kept: dict[str, Vector | None] | None = None
) -> Vector | None:
    """The number of an integer by those of the names that it is computed of, or one for each thread where a name has so; None
    where it is computed in other ways. kept: what is computed of names that are no loop's, by its key."""
    total: Vector = 0
    for names, factor in value.terms.items():
        parts = [_kept_at(value.leaves[name], number, kept) for name in names]
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
    if 0 in parts:  # whatever the others are
        return 0
    for part in parts:
        if part is None:
            return None
        out = each(mul, out, part)
    return out


def _kept_at(leaf: Unknown, number: Callable[[str], Vector | None], kept: dict[str, Vector | None] | None) -> Vector | None:
    if kept is None or leaf.made is None or "loop " in leaf.key:
        return _leaf_at(leaf, number, kept)
    if leaf.key not in kept:
        kept[leaf.key] = _leaf_at(leaf, number, kept)
    return kept[leaf.key]


def _leaf_at(leaf: Unknown, number: Callable[[str], Vector | None], kept: dict[str, Vector | None] | None) -> Vector | None:
    """The number of an integer that is no sum: what a function gives of others, a conversion too."""
    if leaf.made is None:
        return number(leaf.key)
    word, given = made_of(leaf)
    operands = [numbers_at(x, number, kept) if isinstance(x, Unknown) else int(x) if isinstance(x, int) else None for x in given]
    if None in operands:
        return None
    if len(operands) == 1 and (kind := kind_of_word(word)) is not None:
        return each(lambda n, _: int(as_number(n, kind)), operands[0], 0)  # type: ignore[arg-type]
    if word not in _OPERATORS or len(operands) != 2:
        return None
    return tried(lambda: each(lambda a, b: int(_OPERATORS[word](a, b)), operands[0], operands[1]), None)  # type: ignore[arg-type]


def _wanders(lookup: Lookup, meaning: Meaning, key: str) -> bool:
    """Whether a variable is another thread's index in some runs: it is assigned to, and not only moved by its group."""
    name = key.partition("@")[0]
    found = lookup.find(name, meaning.env, None) if name.isidentifier() else None
    if found is None or not found.declarations or found.declarations[0].kind != "variable":
        return False
    declaration, tokens = found.declarations[0], meaning.context.reader.tokens
    changes = declaration.scope.home.changes.get(name, ())
    return any(tokens[change.token + 1].text not in _SHIFTS for change in changes if not change.within)
