"""The layout that comes nearest to a table that none gives: each step is what most cells say it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, permutations

from cute_viz.algebra.layout import Layout
from cute_viz.algebra.modes import coalesce

_ORDERS = 24  # of the factors of an extent that are tried


def nearest(table: Sequence[Sequence[int]]) -> tuple[Layout, int, tuple[int, int]]:
    """A layout of two modes (of one, for a single row), in how many cells it differs from the table, and the first of them."""
    rows, cols = len(table), len(table[0])
    down = [_most(table[i][j] - table[0][j] for j in range(cols)) for i in range(rows)]
    across = [_most(table[i][j] - table[i][0] for i in range(rows)) for j in range(cols)]
    modes = [_fitted(down), _fitted(across)]
    steps = [[int(mode(n)) for n in range(count)] for mode, count in zip(modes, (rows, cols), strict=True)]
    wrong = [(i, j) for i in range(rows) for j in range(cols) if table[i][j] != steps[0][i] + steps[1][j]]
    plain = [mode for mode in map(coalesce, modes) if isinstance(mode, Layout)]
    if rows == 1:
        return plain[1], len(wrong), wrong[0] if wrong else (0, 0)
    whole = Layout((plain[0].shape, plain[1].shape), (plain[0].stride, plain[1].stride))
    return whole, len(wrong), wrong[0] if wrong else (0, 0)


def _most(values: Iterator[int]) -> int:
    """The value that most are; of as many the first."""
    return Counter(values).most_common(1)[0][0]


def _fitted(values: Sequence[int]) -> Layout:
    """The layout of one mode that agrees with the most of its values, which begin with 0."""
    best, wrong = Layout(len(values), 0), len(values)
    for factors in dict.fromkeys(islice(permutations(_primes(len(values))), _ORDERS)):
        strides, step = [], 1
        for factor in factors:
            below = [n for n in range(len(values)) if n // step % factor < factor - 1]
            strides.append(_most(values[n + step] - values[n] for n in below))
            step *= factor
        found = Layout(tuple(factors), tuple(strides)) if factors else Layout(1, 0)
        differ = sum(found(n) != value for n, value in enumerate(values))
        if differ < wrong:
            best, wrong = found, differ
    return best


def _primes(n: int) -> list[int]:
    out, factor = [], 2
    while factor * factor <= n:
        while n % factor == 0:
            out.append(factor)
            n //= factor
        factor += 1
    return out + ([n] if n > 1 else [])
