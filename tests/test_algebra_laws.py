"""The laws of the layout algebra, for any layouts that hypothesis finds, held to `tests.by_hand`."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from itertools import product as cartesian
from math import prod
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from cute_viz.algebra.compose import coalesce, composition, composition_is_pointwise
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.construct import make_identity_layout, make_layout_like, make_ordered_layout
from cute_viz.algebra.divide import divide_is_pointwise, flat_divide, logical_divide, tiled_divide, zipped_divide
from cute_viz.algebra.inttuple import X
from cute_viz.algebra.inverse import complement, left_inverse, max_common_layout, nullspace, right_inverse
from cute_viz.algebra.layout import Layout, modes_of
from cute_viz.algebra.measure import cosize, size
from cute_viz.algebra.modes import append, filter_, flatten, get, group, select, take, zip_
from cute_viz.algebra.products import (
    blocked_product,
    flat_product,
    logical_product,
    raked_product,
    tile_to_shape,
    tiled_product,
    zipped_product,
)
from cute_viz.algebra.recast import downcast, upcast
from cute_viz.algebra.slicing import slice_and_offset
from cute_viz.algebra.stride import F2, Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets
from cute_viz.errors import AlgebraError
from cute_viz.source.text import read
from tests.by_hand import as_places, at, count, digits, leaves, starts, table
from tests.strategies import composed_layouts, coordinate_layouts, layouts, nested, shapes

STRIDES = st.integers(-12, 40)


def accepted(operation: Any, *operands: Any) -> Any:
    try:
        return operation(*operands)
    except AlgebraError:
        return assume(False)


def folded(draw: Any, items: list[Any]) -> Any:
    """A list as a nested tuple."""
    if len(items) <= 1 or draw(st.booleans()):
        return tuple(items)
    cut = draw(st.integers(1, len(items) - 1))
    return (folded(draw, items[:cut]), *folded(draw, items[cut:]))


def layout_of(draw: Any, pairs: list[tuple[int, Any]]) -> Layout:
    """A layout of (extent, stride) pairs, nested in any way."""
    nest = folded(draw, list(range(len(pairs))))

    def pick(x: Any, part: int) -> Any:
        return tuple(pick(item, part) for item in x) if isinstance(x, tuple) else pairs[x][part]

    return Layout(pick(nest, 0), pick(nest, 1))


@st.composite
def bijections(draw: Any, factor: int = 1) -> Layout:
    """A layout that takes each of 0, factor, 2 factor ... once: extents with compact strides in any order."""
    extents = draw(st.lists(st.sampled_from((1, 2, 2, 3, 4)), min_size=1, max_size=4))
    strides, step = {}, factor
    for n in draw(st.permutations(range(len(extents)))):
        strides[n], step = step, step * extents[n]
    return layout_of(draw, [(extent, strides[n]) for n, extent in enumerate(extents)])


@st.composite
def aligned(draw: Any, strides: Any = STRIDES, factors: Any = (1, 2, 2, 3, 4)) -> tuple[Layout, Layout]:
    """A layout A, and a layout B of which each mode steps through whole factors of A's extents, so that nothing carries."""
    found = [draw(st.lists(st.sampled_from(factors), min_size=1, max_size=2)) for _ in range(draw(st.integers(1, 3)))]
    assume(prod(map(prod, found)) <= 300)
    a = layout_of(draw, [(prod(factors_of_one), draw(strides)) for factors_of_one in found])
    flat = [factor for factors_of_one in found for factor in factors_of_one]
    runs, step, n = [], 1, 0
    while n < len(flat):
        length = draw(st.integers(1, 3))
        runs.append((prod(flat[n : n + length]), step))
        step *= prod(flat[n : n + length])
        n += length
    kept = draw(st.lists(st.sampled_from(runs), min_size=1, max_size=len(runs), unique=True))
    if draw(st.booleans()):
        kept.insert(draw(st.integers(0, len(kept))), (2, 0))
    return a, layout_of(draw, kept)


# values


@given(layouts(STRIDES))
def test_values_are_digits_times_strides(layout):
    assert offsets(layout) == [layout(i) for i in range(size(layout))] == table(layout)
    assert cosize(layout) == 1 + sum((s - 1) * abs(d) for s, d in zip(leaves(layout.shape), leaves(layout.stride), strict=True))


@given(coordinate_layouts())
def test_values_of_coordinate_strides_are_tuples(layout):
    found = [as_places(value) if isinstance(value, tuple) else value or {} for value in offsets(layout)]
    assert found == [value or {} for value in table(layout)]


@given(shapes(4))
def test_an_identity_layout_gives_the_coordinate(shape):
    assume(isinstance(shape, tuple))
    layout = make_identity_layout(shape)
    assert [x or {} for x in table(layout)] == [as_places(digits(i, shape)) for i in range(count(shape))]


@given(layouts(st.builds(F2, st.integers(0, 40))))
def test_values_of_xor_strides_are_xored(layout):
    assert offsets(layout) == [layout(i) for i in range(size(layout))] == table(layout)
    assert cosize(layout) == 1 + max(table(layout))


@given(composed_layouts())
def test_values_of_composed_layouts(layout):
    assert offsets(layout) == [layout(i) for i in range(count(layout.shape))] == table(layout)


# composition


@given(aligned())
def test_a_composition_is_a_of_b(both):
    a, b = both
    result = composition(a, b)
    assert table(result) == [at(a, i) for i in table(b)]
    assert [count(mode) for mode in result.shape] == [count(mode) for mode in b.shape]
    assert composition_is_pointwise(a, b, result)


@given(aligned(st.builds(F2, st.integers(0, 40)), (1, 2, 2, 4)))
def test_a_composition_of_xor_strides_is_a_of_b(both):
    a, b = both
    assert table(composition(a, b)) == [at(a, i) for i in table(b)]


@given(aligned(st.builds(Basis, st.integers(1, 9), st.tuples(st.integers(0, 2)))))
def test_a_composition_of_coordinate_strides_is_a_of_b(both):
    a, b = both
    assert [x or {} for x in table(composition(a, b))] == [at(a, i) or {} for i in table(b)]


@given(st.lists(aligned(), min_size=1, max_size=3))
def test_coordinate_strides_pick_from_the_mode_they_name(pairs):
    assume(prod(count(b.shape) for _, b in pairs) <= 2000)
    a = Layout(tuple(x.shape for x, _ in pairs), tuple(x.stride for x, _ in pairs))
    strides = [[Basis(d, (n,)) if d else 0 for d in leaves(b.stride)] for n, (_, b) in enumerate(pairs)]
    b = Layout(tuple(tuple(leaves(b.shape)) for _, b in pairs), tuple(map(tuple, strides)))
    values = [tuple(value.get((n,), 0) if value else 0 for n in range(len(pairs))) for value in table(b)]
    assert table(composition(a, b)) == [at(a, value) for value in values]


@given(layouts(st.integers(0, 30)), layouts(st.integers(0, 12)))
def test_any_composition_is_told_whether_it_is_a_of_b(a, b):
    result = accepted(composition, a, b)
    assert count(result.shape) == count(b.shape)
    assert composition_is_pointwise(a, b, result) == (table(result) == [at(a, i) for i in table(b)])


@given(st.lists(aligned(), min_size=1, max_size=3))
def test_a_composition_with_a_tiler_is_mode_by_mode(pairs):
    assume(prod(count(b.shape) for _, b in pairs) <= 2000)
    a = Layout(tuple(x.shape for x, _ in pairs), tuple(x.stride for x, _ in pairs))
    result = composition(a, tuple(b for _, b in pairs))
    picked = cartesian(*(table(b) for _, b in reversed(pairs)))  # the first mode fastest
    assert table(result) == [at(a, value[::-1]) for value in picked]


@given(aligned(), st.integers(0, 3), st.integers(0, 3))
def test_a_composition_of_a_swizzled_layout(both, bits, base):
    a, b = both
    a = Layout(a.shape, tuple_abs(a.stride))
    swizzled = ComposedLayout(Swizzle(bits, base, bits + 1), 0, a)
    assert table(composition(swizzled, b)) == [at(swizzled, i) for i in table(b)]


def tuple_abs(stride: Any) -> Any:
    return tuple(map(tuple_abs, stride)) if isinstance(stride, tuple) else abs(stride)


# complement and inverses


@given(st.integers(1, 4).flatmap(lambda f: st.tuples(bijections(f), st.just(f))), st.integers(1, 150))
def test_a_complement_fills_what_is_left_out_and_is_ordered(found, target):
    layout, factor = found
    rest = complement(layout, target)
    picked = sorted(table(layout))
    filled = len(picked) * factor if len(picked) > 1 else 1
    copies = -(-target // filled) * filled
    assert table(rest) == starts(picked, copies)
    assert Counter(v + o for v in picked for o in table(rest)) == Counter(range(copies))


@given(st.integers(1, 3).flatmap(bijections), st.integers(1, 60))
def test_a_complement_of_coordinates_is_along_their_mode(layout, target):
    assume(count(layout.shape) > 1)
    along = Layout(layout.shape, basis(layout.stride, 1))
    found = complement(along, (1, target))
    assert [x.get((1,), 0) if x else 0 for x in table(found)] == table(complement(layout, target))


def basis(stride: Any, mode: int) -> Any:
    return tuple(basis(d, mode) for d in stride) if isinstance(stride, tuple) else Basis(stride, (mode,)) if stride else 0


@given(layouts(st.integers(0, 40)))
def test_a_right_inverse_inverts(layout):
    inverse = right_inverse(layout)
    assert [at(layout, i) for i in table(inverse)] == list(range(size(inverse)))


@given(bijections())
def test_a_bijection_is_inverted_both_ways(layout):
    right, left = right_inverse(layout), left_inverse(layout)
    assert count(right.shape) == count(left.shape) == size(layout)
    assert [at(layout, at(right, i)) for i in range(size(layout))] == list(range(size(layout)))
    assert [at(left, at(layout, i)) for i in range(size(layout))] == list(range(size(layout)))


@given(st.integers(1, 4).flatmap(bijections))
def test_a_left_inverse_inverts(layout):
    inverse = left_inverse(layout)
    assert [at(inverse, i) for i in table(layout)] == list(range(size(layout)))


@given(layouts(st.integers(0, 4)))
def test_the_nullspace_is_what_strides_of_0_count(layout):
    found = nullspace(layout)
    assert {at(layout, i) for i in table(found)} == {0}
    assert len(set(table(found))) == count(found.shape)
    assert count(found.shape) == prod(s for s, d in zip(leaves(layout.shape), leaves(layout.stride), strict=True) if d == 0)


@given(bijections(), bijections())
def test_a_common_layout_is_contiguous_in_both(a, b):
    common = accepted(max_common_layout, a, b)
    assert [at(a, i) for i in table(common)] == [at(b, i) for i in table(common)] == list(range(count(common.shape)))


# the same function


@given(layouts(STRIDES))
def test_coalesce_flatten_and_group_keep_the_function(layout):
    joined = coalesce(layout)
    assert table(joined) == table(flatten(layout)) == table(layout)
    flat = list(zip(leaves(joined.shape), leaves(joined.stride), strict=True))
    assert all(s > 1 for s, _ in flat) or flat == [(1, 0)]
    assert all(after != s * d for (s, d), (_, after) in pairwise(flat))
    assert not any(isinstance(mode, tuple) for mode in (flatten(layout).shape if isinstance(layout.shape, tuple) else ()))
    if isinstance(layout.shape, tuple) and len(layout.shape) > 1:
        grouped = group(layout, 0, 2)
        assert table(grouped) == table(layout)
        assert grouped.shape == (layout.shape[:2], *layout.shape[2:])


@given(layouts(st.integers(0, 30)))
def test_filter_keeps_the_values_and_drops_the_repeats_of_0(layout):
    found = filter_(layout)
    assert set(table(found)) == set(table(layout))
    assert 0 not in leaves(found.stride) or found == Layout(1, 0)


@given(st.lists(layouts(STRIDES), min_size=2, max_size=4), st.data())
def test_modes_keep_their_values(parts, data):
    whole = Layout(tuple(x.shape for x in parts), tuple(x.stride for x in parts))
    picked = data.draw(st.lists(st.integers(0, len(parts) - 1), min_size=1, max_size=3))
    assert modes_of(select(whole, *picked)) == [parts[n] for n in picked]
    first = data.draw(st.integers(0, len(parts) - 1))
    last = data.draw(st.integers(first + 1, len(parts)))
    assert modes_of(take(whole, first, last)) == parts[first:last]
    assert modes_of(append(whole, parts[0])) == [*parts, parts[0]]
    assert get(whole, picked[0]) == parts[picked[0]]


@given(bijections(), bijections())
def test_zip_pairs_modes(a, b):
    zipped = accepted(zip_, a, b)
    for x, y in cartesian(range(size(a)), range(size(b))):
        pairs = tuple(zip(digit_of(x, a), digit_of(y, b), strict=True))
        assert at(zipped, pairs) == at(a, x) + at(b, y)


def digit_of(index: int, layout: Layout) -> tuple[int, ...]:
    """One index for each top-level mode."""
    out = []
    for mode in layout.shape if isinstance(layout.shape, tuple) else (layout.shape,):
        out.append(index % count(mode))
        index //= count(mode)
    return tuple(out)


@given(layouts(STRIDES), st.data())
def test_a_slice_and_its_offset_are_the_layout(layout, data):
    assume(isinstance(layout.shape, tuple))
    fixed = [data.draw(st.one_of(st.just(X), st.integers(0, count(mode) - 1))) for mode in layout.shape]
    assume(X in fixed)
    sub, offset = slice_and_offset(tuple(fixed), layout)
    free = [range(count(mode)) for mode, x in zip(layout.shape, fixed, strict=True) if x is X]
    for rest in cartesian(*free):
        ahead = iter(rest)
        whole = tuple(next(ahead) if x is X else x for x in fixed)
        assert offset + at(sub, rest) == at(layout, whole)


# divisions


@st.composite
def divided(draw: Any) -> tuple[Layout, Layout, list[int]]:
    """A layout, a tiler that takes whole factors of its extents, and where tiles begin."""
    a, b = draw(aligned())
    pairs = [(s, d) for s, d in zip(leaves(b.shape), leaves(b.stride), strict=True) if d]
    assume(pairs)
    tiler = layout_of(draw, pairs)
    return a, tiler, starts(sorted(table(tiler)), count(a.shape))


@given(divided())
def test_a_division_is_the_tile_and_where_tiles_begin(found):
    a, tiler, firsts = found
    assume(len(firsts) * count(tiler.shape) == count(a.shape))
    result = logical_divide(a, tiler)
    tile, rest = modes_of(result)
    assert table(tile) == [at(a, i) for i in table(tiler)]
    assert table(result) == [at(a, first + i) for first in firsts for i in table(tiler)]
    assert count(rest.shape) == len(firsts)
    assert Counter(table(result)) == Counter(table(a))
    assert divide_is_pointwise(a, tiler)


@given(st.lists(divided(), min_size=2, max_size=2))
def test_the_divisions_gather_what_each_mode_has(found):
    assume(all(len(firsts) * count(tiler.shape) == count(a.shape) for a, tiler, firsts in found))
    assume(prod(count(a.shape) for a, _, _ in found) <= 2000)
    a = Layout(tuple(x.shape for x, _, _ in found), tuple(x.stride for x, _, _ in found))
    tiler = tuple(t for _, t, _ in found)
    (t0, t1), (f0, f1) = [table(t) for t in tiler], [firsts for _, _, firsts in found]
    results = [operation(a, tiler) for operation in (logical_divide, zipped_divide, tiled_divide, flat_divide)]
    for (i, x), (j, y), (k, first), (q, second) in cartesian(*map(enumerate, (t0, t1, f0, f1))):
        value = at(a, (x + first, y + second))
        whole = [
            at(result, coordinate)
            for result, coordinate in zip(results, [((i, k), (j, q)), ((i, j), (k, q)), ((i, j), k, q), (i, j, k, q)], strict=True)
        ]
        assert whole == [value] * 4


@given(layouts(st.integers(0, 30)), layouts(st.integers(1, 12)))
def test_any_division_is_told_whether_it_cuts_the_layout(layout, tiler):
    tile, _ = modes_of(accepted(logical_divide, layout, tiler))
    inside = [(i, value) for i, value in zip(table(tiler), table(tile), strict=True) if i < count(layout.shape)]
    if divide_is_pointwise(layout, tiler):
        assert all(at(layout, i) == value for i, value in inside)


def test_divisions_that_are_no_function_of_the_layout_warn():
    a, tiler = Layout((5, 4), (3, 32)), Layout(4, 4)
    tile, _ = modes_of(logical_divide(a, tiler))
    assert [at(a, i) for i in table(tiler)] != table(tile)
    for text in ("logical_divide((5,4):(3,32), 4:4)", "(5,4):(3,32) ⊘ 4:4", "zipped_divide(((5,4),8):((3,32),200), (4:4,2))"):
        said = []
        read(text, None, said)
        assert len(said) == 1
        assert "not A cut by the tiler everywhere" in said[0]
    for text, outside in (("(4,8):(8,1)(5,3)", "(5,3)"), ("(4,8):(8,1)(32)", "(32)"), ("(4,8):(8,1)(4,_)", "(4,_)")):
        said = []
        read(text, None, said)
        assert said[0].startswith(f"{outside} is outside of the shape ")
    said = []
    read("(4,8):(8,1)(3,7); (4,8):(8,1)(31); (4,8):(8,1)(3,_)", None, said)
    assert not said
    read("composition(((5,4),8):((3,32),200), (4:4,2)); logical_divide((8,6),(4,3)); tiled_divide((8,8), (2,4))", None, said)
    assert [one.partition("(")[0] for one in said] == ["composition"]


# products


@given(st.integers(1, 3).flatmap(lambda f: st.tuples(bijections(f), st.just(f))), bijections())
def test_a_product_is_the_block_where_the_tiler_says(found, tiler):
    block, factor = found
    pairs = list(zip(leaves(tiler.shape), leaves(tiler.stride), strict=True))
    assume(all(factor % (s * d) == 0 or d % factor == 0 or (factor % d == 0 and s * d % factor == 0) for s, d in pairs))
    assume(count(block.shape) * count(tiler.shape) <= 1000)
    result = logical_product(block, tiler)
    picked = sorted(table(block))
    firsts = starts(picked, count(tiler.shape) * len(picked) * (factor if len(picked) > 1 else 1))
    assert table(result) == [x + firsts[i] for i in table(tiler) for x in table(block)]
    assert modes_of(result)[0] == block


@given(bijections(), bijections())
def test_the_products_hold_the_same_values(block, tiler):
    logical = table(logical_product(block, tiler))
    n = size(block)
    assert logical == [x + n * y for y in table(tiler) for x in table(block)]
    for operation in (zipped_product, tiled_product, flat_product):
        if all(isinstance(x.shape, tuple) for x in (block, tiler)):
            assert table(operation(block, tiler)) == logical
    if isinstance(block.shape, tuple) and isinstance(tiler.shape, tuple):
        rank = max(len(block.shape), len(tiler.shape))
        blocked, raked = blocked_product(block, tiler), raked_product(block, tiler)
        for x, y in cartesian(range(n), range(size(tiler))):
            inner, outer = ((*digit_of(i, layout), *[0] * rank)[:rank] for i, layout in ((x, block), (y, tiler)))
            value = at(block, x) + n * at(tiler, y)
            assert at(blocked, tuple(zip(inner, outer, strict=True))) == value
            assert at(raked, tuple(zip(outer, inner, strict=True))) == value


@given(st.tuples(st.integers(1, 4), st.integers(1, 4)), st.tuples(st.integers(1, 4), st.integers(1, 4)), st.booleans())
def test_a_tile_is_repeated_to_a_shape_in_order(extents, times, rows_first):
    (m, n), (p, q) = extents, times
    result = tile_to_shape(Layout(extents, (n, 1)), (m * p, n * q), (1, 0) if rows_first else None)
    for i, j in cartesian(range(m * p), range(n * q)):
        copy = (i // m) * q + j // n if rows_first else i // m + (j // n) * p
        assert at(result, (i, j)) == (i % m) * n + j % n + m * n * copy


@given(nested(st.sampled_from((1, 2, 3, 4)), max_leaves=5), st.data())
def test_an_ordered_layout_lays_modes_down_in_their_order(shape, data):
    extents = leaves(shape)
    order = data.draw(st.permutations(range(len(extents))))
    names = iter(order)

    def like(x: Any) -> Any:
        return tuple(map(like, x)) if isinstance(x, tuple) else next(names)

    made = make_ordered_layout(shape, like(shape))
    for extent, place, stride in zip(extents, order, leaves(made.stride), strict=True):
        before = prod(e for e, other in zip(extents, order, strict=True) if other < place)
        assert stride == (before if extent > 1 else 0)
    assert sorted(table(made)) == list(range(count(shape)))
    assert table(make_layout_like(made)) == table(made)


# widths


@given(
    st.sampled_from((2, 3, 4)), st.integers(1, 4), st.lists(st.tuples(st.integers(1, 3), st.sampled_from((0, 2, 3, 5))), max_size=3)
)
def test_upcast_and_downcast_move_the_same_bits(n, groups, rest):
    narrow = Layout((n * groups, *(s for s, _ in rest)), (1, *(n * groups * d for _, d in rest)))
    wide = Layout((groups, *(s for s, _ in rest)), (1, *(groups * d for _, d in rest)))
    others = list(cartesian(*(range(s) for s, _ in rest)))
    for small, large in ((narrow, upcast(narrow, n)), (downcast(wide, n), wide)):
        assert count(small.shape) == n * count(large.shape)
        for i, other in cartesian(range(n * groups), others):
            assert at(small, (i, *other)) == at(large, (i // n, *other)) * n + i % n


# integers


@given(st.integers(2**62, 2**70), st.integers(2**62, 2**70))
def test_big_integers_stay_exact(a, b):
    layout = Layout((2, 4), (a, b))
    assert composition(layout, Layout(4, 2))(3) == 3 * b
    assert coalesce(Layout((2, a), (1, 2))) == Layout(2 * a, 1)
    assert size(Layout((a, b))) == a * b


def test_coordinate_strides_go_through():
    identity = Layout((8, 12), (Basis(1, (0,)), Basis(1, (1,))))
    tiled = zipped_divide(identity, (4, 3))
    assert str(tiled) == "((4,3),(2,4)):((1@0,1@1),(4@0,3@1))"
    assert tiled(((2, 1), (1, 2))) == (6, 7)
    assert str(composition(identity, Layout((4, 2), (2, 8)))) == "(4,2):(2@0,1@1)"
