"""The steps of products and of inverses: where copies of a block go, and which index each offset goes back to."""

from __future__ import annotations

from typing import Any

from cute_viz.algebra import ops
from cute_viz.algebra.composed import as_layout
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.table import offsets
from cute_viz.errors import FigureError
from cute_viz.figures.model import Panel
from cute_viz.figures.motion_parts import BEHIND, HUES, PAPER, panel_of, rows_of

PRODUCTS = ("logical_product", "zipped_product", "tiled_product", "flat_product", "blocked_product", "raked_product")
INVERSES = ("right_inverse", "left_inverse")
LINE = 32  # places of memory in a line
_TOGETHER = {"blocked_product": "copies stand side by side", "raked_product": "copies interleave"}


def by_product(name: str, block: Layout, tiler: Any, result: Layout) -> tuple[str, list[Panel]]:
    """The title and the panels of a product: the block, where copies may begin, where the tiler lets them, the result.

    Raises: FigureError for a tiler of several modes to be taken one by one, and where copies overlap.

    >>> by_product("logical_product", Layout(2, 1), Layout(3, 2), ops.find("logical_product").call([Layout(2, 1), Layout(3, 2)]))[0]
    'logical_product repeats A 3 times'
    """
    if isinstance(tiler, int) or name in _TOGETHER:  # elsewhere a tuple is taken mode by mode
        tiler = as_layout(tiler)
    if not isinstance(tiler, Layout):
        raise FigureError(f"the steps of {name} are drawn of a tiler that is one layout", hint="`view=operation` draws it")
    own: list[Any] = list(offsets(block))
    cotarget = product(block.shape) * (max(offsets(tiler)) + 1)
    rest = ops.find("complement").call([block, cotarget], ())
    begins = ops.find("composition").call([rest, tiler], ())
    may: list[Any] = list(offsets(rest))
    starts: list[Any] = list(offsets(begins))
    came = {y + x: (n, k) for n, y in enumerate(starts) for k, x in enumerate(own)}  # offset -> copy, element of the block
    found: list[Any] = list(offsets(result))
    if len(came) != len(found) or set(came) != set(found) or len(set(own)) < len(own):
        raise FigureError(f"copies of {block} overlap in {result}", hint="`view=operation` draws it")
    places = list(range(max(*found, *(x + y for x in own for y in may)) + 1))
    cols = min(LINE, len(places))
    places += [-1] * (-len(places) % cols)
    words = [str(x) if x >= 0 else "" for x in places]
    table, wide = rows_of(block)
    rows = len(table) // wide
    cell = [k % rows * wide + k // rows for k in range(len(own))]  # of the first panel, by the element
    shape = modes(result.shape)
    across = product(shape[1:]) if len(shape) > 1 else product(shape)
    tall = len(found) // across
    ordered = [found[r + c * tall] for r in range(tall) for c in range(across)]
    panels = [
        panel_of(f"1 The block A  {block}", list(map(str, table)), [0] * len(table), wide),
        panel_of(f"2 Copies may begin in its complement  {rest}", words, [_hue(x in may, x in own) for x in places], cols),
        panel_of(
            f"3 The tiler takes, in this order  {tiler}",
            [str(starts.index(x)) if x in starts else word for x, word in zip(places, words, strict=True)],
            [came[x][0] % len(HUES) + (0 if x in starts else len(HUES)) if x in came else BEHIND for x in places],
            cols,
            foot=f"a copy begins at {', '.join(map(str, starts[:12]))}{' ...' if len(starts) > 12 else ''}",
        ),
        panel_of(
            f"4 The result  {result}",
            list(map(str, ordered)),
            [came[x][0] % len(HUES) for x in ordered],
            across,
            source=[cell[came[x][1]] for x in ordered],
        ),
    ]
    how = f"; {_TOGETHER[name]}" if name in _TOGETHER else ""
    return f"{name} repeats A {len(starts)} times{how}", panels


def _hue(begins: bool, own: bool) -> int:
    return 0 if own else 1 if begins else BEHIND


def by_inverse(name: str, a: Layout, result: Layout) -> tuple[str, list[Panel]]:
    """The title and the panels of an inverse: A, the index of its element at each offset, the result.

    >>> by_inverse("right_inverse", Layout((2, 4), (4, 1)), ops.find("right_inverse").call([Layout((2, 4), (4, 1))]))[0]
    'A(R(j)) = j for all 8 offsets of A'
    """
    table, cols = rows_of(a)
    rows = len(table) // cols
    every: list[Any] = list(offsets(a))
    back: list[Any] = list(offsets(result))
    first = {x: i for i, x in reversed(list(enumerate(every)))}
    places = list(range(max(*every, len(back) - 1) + 1))
    wide = min(LINE, len(places))
    places += [-1] * (-len(places) % wide)
    hue = {i: i // rows % len(HUES) for i in range(len(every))}  # the column of A
    right = name == "right_inverse"
    if right:
        held = sum(i < len(every) and every[i] == j for j, i in enumerate(back))
        words = f"A(R(j)) = j for {'all' if held == len(set(every)) else 'the first'} {held} offsets of A"
    else:
        held = sum(x < len(back) and back[x] == i for i, x in enumerate(every))
        words = f"L(A(i)) = i for {'all' if held == len(every) else 'only'} {held} elements of A"
    letter, places_of = ("R" if right else "L"), [first.get(x) for x in places]
    got, across = rows_of(result)
    tall = len(got) // across
    j_of = [r + c * tall for r in range(tall) for c in range(across)]
    came = [first.get(j) for j in j_of]
    panels = [
        panel_of(f"1 A(i)  {a}", list(map(str, table)), [hue[c * rows + r] for r in range(rows) for c in range(cols)], cols),
        panel_of(
            "2 At each offset, the index i that is there",
            ["" if i is None else str(i) for i in places_of],
            [BEHIND if i is None else hue[i] for i in places_of],
            wide,
            foot="A counts down its columns: i = row + rows * column",
        ),
        panel_of(
            f"3 The result  {letter} = {result}",
            list(map(str, got)),
            [PAPER if i is None else hue[i] for i in came],
            across,
            source=[None if i is None else i % rows * cols + i // rows for i in came],
            foot="" if None not in came else f"white: {letter} has a value where A has no offset",
        ),
    ]
    return words, panels
