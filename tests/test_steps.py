"""Operations step by step, drawn of random layouts: every cell of every step, and every way, held to plain arithmetic.

What is true is worked out from shapes, strides and swizzles alone (`by_hand`): which cells a tiler picks, where a copy can begin,
what is at an index.
"""

from __future__ import annotations

import os
import random
from math import prod

import pytest

from cute_viz import figure, parse
from cute_viz.errors import CuteVizError
from cute_viz.figures.motion_products import BEHIND, FADED, PAPER
from tests import by_hand

TWICE = (0, 1)  # room for another copy
MANY = int(os.environ.get("CUTE_VIZ_SEEDS", "40"))


def drawn(text):
    """The panels, each as what is in it by index (or place): labels, paints, and of the last where its cells came from."""
    made = figure(text, view="steps")
    return made, [in_order(panel) for panel in made.panels]


def is_cute(text):
    """Whether CuTe has a result at all; then its steps are drawn."""
    try:
        return parse(text) is not None
    except CuteVizError:
        return False


def in_order(panel):
    if "place" in panel.data or panel.rows == 1:
        cells = range(len(panel.labels))
        if "place" in panel.data:
            cells = [n for n in cells if panel.data["place"][n] is not None and panel.data["place"][n] >= 0]
    else:
        cells = [r * panel.cols + c for c in range(panel.cols) for r in range(panel.rows)]
    return cells, [panel.labels[n] for n in cells], [panel.paints[n] for n in cells]


def came_from(made, panels):
    """Of each element of the last panel, the index of the first that it came from."""
    (first, *_), (cells, *_) = panels[0], panels[-1]
    index = {cell: n for n, cell in enumerate(first)}
    return [None if (cell := made.panels[-1].data["source"][n]) is None else index[cell] for n in cells]


def layouts(rng, extents, pads=(0, 0, 1)):
    """A layout of these extents, injective: row-major, column-major, padded, its modes cut in two, perhaps swizzled."""
    order = rng.sample(range(len(extents)), len(extents))
    stride, step = [0] * len(extents), rng.choice((1, 1, 2))
    for n in order:
        stride[n] = step
        step *= extents[n] + rng.choice(pads) * (extents[n] if pads == TWICE else 1)
    shape = list(extents)
    for n, extent in enumerate(extents):
        if extent % 2 == 0 and extent > 2 and rng.random() < 0.4:
            shape[n], stride[n] = (2, extent // 2), (stride[n], 2 * stride[n])
    text = f"{show(shape)}:{show(stride)}"
    return f"Sw<{rng.choice((1, 2))},{rng.choice((0, 1))},{rng.choice((2, 3))}> o 0 o {text}" if rng.random() < 0.4 else text


def show(parts):
    return f"({','.join(str(x).replace(' ', '') for x in parts)})" if len(parts) > 1 else str(parts[0]).replace(" ", "")


def starts(picked, count):
    """The first places where copies of what is picked can begin, none on another."""
    return by_hand.starts(picked, (max(picked) + 1) * count * 2)[:count]


@pytest.mark.parametrize("seed", range(MANY))
def test_divides(seed):
    rng = random.Random(f"divide {seed}")
    name = rng.choice(("logical_divide", "zipped_divide", "tiled_divide", "flat_divide"))
    extents = [rng.choice((4, 6, 7, 8, 12)) for _ in range(rng.choice((1, 2, 2, 3)))]
    by_mode = len(extents) > 1
    tilers = [rng.choice((f"{t}:1", f"{t}:{s}", str(t))) for t, s in [(rng.choice((2, 3, 4)), rng.choice((1, 2))) for _ in extents]]
    tilers = tilers[:2]
    a = layouts(rng, extents)
    alone = tilers[0] if ":" in tilers[0] else f"{tilers[0]}:1"
    text = f"{name}({a}, {show(tilers) if by_mode else alone})"
    picked, rest = [], []
    for n, extent in enumerate(extents):
        count, _, step = tilers[n].partition(":") if n < len(tilers) else ("1", "", "")
        mine = [i * int(step or 1) for i in range(int(count))]
        period, between = int(count) * int(step or 1), int(step or 1)  # copies fill the gaps, then begin again
        begins = [first + j for first in range(0, extent, period) for j in range(between)]
        places = [b + i for b in begins for i in mine]
        if len(set(places)) < len(places) or not {*range(extent)} <= set(places):
            return  # tiles that meet
        picked.append(mine)
        rest.append(begins)
    if not is_cute(text):
        return
    made, panels = drawn(text)
    if name == "logical_divide":
        ways = [[(i + b, n) for b in rest[n] for i in picked[n]] for n in range(len(extents))]
    else:
        ways = [[(i, n) for i in picked[n]] for n in range(len(extents))] + [[(b, n) for b in rest[n]] for n in range(len(extents))]
    want = [[0] * len(extents)]
    for mode in ways:
        want = [[x + way * (n == m) for m, x in enumerate(at)] for way, n in mode for at in want]
    inside = [all(i < n for i, n in zip(at, extents, strict=True)) for at in want]
    index = [sum(i * prod(extents[:m]) for m, i in enumerate(at)) if here else None for at, here in zip(want, inside, strict=True)]
    assert came_from(made, panels) == index, text
    table = by_hand.table(parse(a))
    (_, first, _), (_, two, paints2), (_, three, paints3), (_, last, paints4) = panels
    assert first == two == three == [str(x) for x in table]
    assert [label for label, at in zip(last, index, strict=True) if at is not None] == [
        str(table[n]) for n in index if n is not None
    ]
    one = {sum(i * prod(extents[:m]) for m, i in enumerate(at)) for at in tile(picked, extents)}
    assert {n for n, paint in enumerate(paints2) if paint != BEHIND} == one
    begins = {sum(i * prod(extents[:m]) for m, i in enumerate(at)) for at in tile(rest, extents)}
    assert {n for n, paint in enumerate(paints3) if paint < FADED} == begins
    hues = {at: paint for at, paint in zip(index, paints4, strict=True) if at is not None}
    assert {n: paint % FADED for n, paint in enumerate(paints3)} == hues
    assert all(paint == BEHIND for at, paint in zip(index, paints4, strict=True) if at is None)
    words = f"{len(list(tile(rest)))} tile"
    assert words in made.title
    assert ("moves nothing" in made.title) == (index == [*range(len(table))])
    assert (f"; {index.count(None)} of their {len(index)} cells" in made.title) == (None in index)


def tile(modes, within=None):
    """Every coordinate of lists of places by mode."""
    out = [()]
    for n, places in enumerate(modes):
        out = [(*at, x) for x in places for at in out if within is None or x < within[n]]
    return out


@pytest.mark.parametrize("seed", range(MANY))
def test_compositions(seed):
    rng = random.Random(f"composition {seed}")
    extents = [rng.choice((4, 8, 8, 16)) for _ in range(rng.choice((1, 2, 2)))]
    a, whole = layouts(rng, extents), prod(extents)
    if len(extents) == 2 and rng.random() < 0.4:
        parts = [(rng.choice((2, 4)), rng.choice((1, 2))) for _ in extents]
        b = f"({parts[0][0]}:{parts[0][1]}, {parts[1][0]}:{parts[1][1]})"
        index = [i * parts[0][1] + extents[0] * j * parts[1][1] for j in range(parts[1][0]) for i in range(parts[0][0])]
        if any(n * s > extent for (n, s), extent in zip(parts, extents, strict=True)):
            return
    else:
        b = rng.choice(
            ("4:1", "8:2", "(4,2):(1,8)", "(2,4):(8,1)", "(4,4):(4,1)", "4:0", f"(2,{whole // 4}):({whole // 2},2)", "8:4")
        )
        index = by_hand.table(parse(b))
    text = f"composition({a}, {b})"
    if not is_cute(text):
        return
    made, panels = drawn(text)
    index = [n if n < whole else None for n in index]
    assert came_from(made, panels) == index, text
    table = by_hand.table(parse(a))
    (_, first, paints), (_, order, paints2), (_, last, _) = panels
    assert first == [str(x) for x in table]
    assert order == [str(index.index(n)) if n in index else "" for n in range(whole)]
    assert {n for n, paint in enumerate(paints2) if paint != BEHIND} == {n for n in index if n is not None}
    assert paints == paints2
    same = [label == str(table[n]) for label, n in zip(last, index, strict=True) if n is not None]
    assert all(same) == ("somewhere" not in made.title), text
    assert f"picks {len({*index} - {None})} of the {whole} elements" in made.title


@pytest.mark.parametrize("seed", range(MANY))
def test_products(seed):
    rng = random.Random(f"product {seed}")
    name = rng.choice(("logical", "zipped", "tiled", "flat", "blocked", "raked")) + "_product"
    extents = [rng.choice((2, 3, 4, 5)) for _ in range(2)]
    a = layouts(rng, extents, TWICE)
    copies = [rng.choice((2, 2, 3)) for _ in range(2)]
    b = rng.choice((f"({copies[0]},{copies[1]}):({copies[1]},1)", f"({copies[0]},{copies[1]}):(1,{copies[0]})"))
    text = f"{name}({a}, {b})"
    if not is_cute(text):
        return
    made, panels = drawn(text)
    swizzle, _, plain = a.rpartition(" o ")
    own, order = by_hand.table(parse(plain)), by_hand.table(parse(b))
    begins = starts(own, max(order) + 1)
    moved = parse(f"{swizzle.partition(' ')[0]}") if swizzle else None
    values, source = [], []
    rows, cols = extents
    for k in range(len(own) * len(order)):
        if name in ("blocked_product", "raked_product"):
            (m, c), (i, big), (j, wide) = divmod(k, rows * copies[0])[::-1], (0, 0), (0, 0)
            (big, i), (wide, j) = (
                (divmod(m, rows), divmod(c, cols))
                if name == "blocked_product"
                else (divmod(m, copies[0])[::-1], divmod(c, copies[1])[::-1])
            )
            element, copy = i + rows * j, big + copies[0] * wide
        else:
            copy, element = divmod(k, len(own))
        x = own[element] + begins[order[copy]]
        values.append(by_hand.swizzled(moved, x) if moved is not None else x)
        source.append(element)
    assert came_from(made, panels) == source, text
    (_, first, _), (_, two, paints2), (_, three, paints3), (_, last, _) = panels
    assert first == [str(x) for x in by_hand.table(parse(a))]
    assert last == [str(x) for x in values], text
    assert two == [str(n) for n in range(len(two))]
    assert {n for n, paint in enumerate(paints2) if paint == 0} == set(own)
    may = by_hand.starts(own, len(two))
    assert {n for n, paint in enumerate(paints2) if paint == 1} <= {*may} - {*own}
    for n, copy in enumerate(order):
        assert three[begins[copy]] == str(n)
        assert paints3[begins[copy]] == n % FADED
    assert f"repeats A {len(order)} times" in made.title
    assert ("overlap" in made.title) == (len({*values}) < len(values))


@pytest.mark.parametrize(
    ("block", "tiler"),
    [("(2,2):(1,2)", "(2,2)"), ("(2,5):(5,1)", "(3:5,4:6)"), ("(2,3):(1,2)", "(2:1,2:1)"), ("(2,2):(1,4)", "(2,1)")],
)
@pytest.mark.parametrize("name", ["logical", "zipped", "tiled", "flat"])
def test_products_by_mode_even_of_copies_that_overlap(name, block, tiler):
    text = f"{name}_product({block}, {tiler})"
    made, panels = drawn(text)
    shape, stride = parse(block).shape, parse(block).stride
    modes = []
    for n, (extent, step) in enumerate(zip(shape, stride, strict=True)):
        part = tiler.strip("()").split(",")[n]
        count, _, far = part.partition(":")
        mine = [i * step for i in range(extent)]
        order = [i * int(far or 1) for i in range(int(count))]
        begins = starts(mine, max(order) + 1)
        modes.append((mine, [begins[k] for k in order]))
    lines = [
        [[(x, i * (shape[0] if n else 1), 0) for i, x in enumerate(mine)], [(x, 0, 1) for x in rest]]
        for n, (mine, rest) in enumerate(modes)
    ]
    groups = (
        [lines[0][0], lines[0][1], lines[1][0], lines[1][1]]
        if name == "logical"
        else [lines[0][0], lines[1][0], lines[0][1], lines[1][1]]
    )
    want = [(0, 0)]
    for group in groups:
        want = [(x + y, e + f) for y, f, _ in group for x, e in want]
    assert came_from(made, panels) == [e for _, e in want]
    assert panels[-1][1] == [str(x) for x, _ in want]
    shared = len(want) - len({x for x, _ in want})
    assert ("overlap" in made.title) == bool(shared)
    assert not shared or f"{len(want)} cells, {len(want) - shared} offsets" in made.title


@pytest.mark.parametrize("seed", range(MANY))
def test_complements(seed):
    rng = random.Random(f"complement {seed}")
    a = rng.choice(
        ("4:2", "(2,4):(1,6)", "(2,2):(8,1)", "3:1", "(2,2):(1,4)", "Sw<1,0,2> o 0 o (4,4):(4,1)", "Sw<2,0,3> o 0 o (8,4):(8,1)")
    )
    whole = rng.choice((16, 24, 32, 48))
    if not is_cute(f"complement({a}, {whole})"):
        return
    made, panels = drawn(f"complement({a}, {whole})")
    own = by_hand.table(parse(a))
    rest = [int(label) for label, paint in zip(*panels[1][1:], strict=True) if paint < FADED] if "Sw" not in a else None
    inner = by_hand.table(parse(a.rpartition(" o ")[2]))
    begins = by_hand.table(parse(f"complement({a}, {whole})"))
    assert begins == starts(inner, len(begins))
    swizzle = parse(a.partition(" o ")[0]) if "Sw" in a else None
    every = [[by_hand.swizzled(swizzle, x + y) if swizzle is not None else x + y for x in inner] for y in begins]
    assert {n for n, paint in enumerate(panels[0][2]) if paint != BEHIND} == set(own)
    for n, (label, cell, paint) in enumerate(zip(panels[2][1], came_from(made, panels), panels[2][2], strict=True)):
        copy = next((k for k, one in enumerate(every) if n in one), None)
        assert label == str(n)
        assert cell == (None if copy is None else every[0][every[copy].index(n)])
        assert paint == (BEHIND if copy is None else copy % FADED)
    assert rest is None or {*begins} == {*rest}
    places = max(x for one in every for x in one) + 1
    assert f"{len({x for one in every for x in one})} of {places} places" in made.title


@pytest.mark.parametrize("seed", range(MANY))
def test_inverses(seed):
    rng = random.Random(f"inverse {seed}")
    name = rng.choice(("right_inverse", "left_inverse"))
    extents = [rng.choice((2, 4, 8)) for _ in range(2)]
    a = layouts(rng, extents)
    text = f"{name}({a})"
    if not is_cute(text):
        return
    made, panels = drawn(text)
    own = by_hand.table(parse(a))
    back = by_hand.table(parse(text))
    index = {x: n for n, x in reversed([*enumerate(own)])}
    (_, first, hues1), (_, two, hues2), (_, last, hues) = panels
    assert first == [str(x) for x in own]
    assert two == [str(index.get(x, "")) for x in range(len(two))]
    assert last == [str(x) for x in back]
    assert came_from(made, panels) == [index.get(j) for j in range(len(back))]
    assert hues == [hues1[index[j]] if j in index else PAPER for j in range(len(back))]
    assert [paint for paint in hues2 if paint != BEHIND] == [hues1[index[x]] for x in range(len(two)) if x in index]
    if name == "right_inverse":
        held = sum(i < len(own) and own[i] == j for j, i in enumerate(back))
        assert f"{'all' if held == len({*own}) else 'the first'} {held} offsets" in made.title
    else:
        held = sum(x < len(back) and back[x] == i for i, x in enumerate(own))
        assert f"{'all' if held == len(own) else 'only'} {held} elements" in made.title
