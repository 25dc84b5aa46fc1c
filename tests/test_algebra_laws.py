"""The laws of the layout algebra, for any layouts that hypothesis finds."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from cute_viz.algebra.compose import composition, composition_is_pointwise
from cute_viz.algebra.construct import make_ordered_layout
from cute_viz.algebra.divide import divide_is_pointwise, flat_divide, logical_divide, tiled_divide, zipped_divide
from cute_viz.algebra.inttuple import map_leaves, product
from cute_viz.algebra.inverse import complement, left_inverse, nullspace, right_inverse
from cute_viz.algebra.layout import Layout, coalesce, cosize, modes_of, size
from cute_viz.algebra.modes import get, group
from cute_viz.algebra.products import blocked_product, logical_product, raked_product
from cute_viz.algebra.simplify import filter_, flatten
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.table import offsets
from cute_viz.errors import AlgebraError
from cute_viz.notation import read
from tests.strategies import layouts, nested, shapes


def accepted(operation: Any, *operands: Any) -> Any:
    try:
        return operation(*operands)
    except AlgebraError:
        return assume(False)


@st.composite
def compact(draw: Any, factor: int = 1) -> Layout:
    """A bijective layout: a shape with its modes in any order of strides."""
    shape = draw(nested(st.sampled_from((1, 2, 3, 4)), max_leaves=5))
    order = map_leaves(lambda _: draw(st.integers(0, 9)), shape)
    return make_ordered_layout(shape, order) if _distinct(order) else Layout(shape)


def _distinct(order: Any) -> bool:
    from cute_viz.algebra.inttuple import leaves

    flat = list(leaves(order))
    return len(set(flat)) == len(flat)


@given(layouts(st.integers(0, 30)), layouts(st.integers(0, 12)))
def test_composition_is_function_composition_or_says_so(a, b):
    result = accepted(composition, a, b)
    assert result.shape == b.shape or product(result.shape) == product(b.shape)
    if composition_is_pointwise(a, b, result):
        assert [a(i) for i in offsets(b)] == offsets(result)


@given(layouts(st.integers(0, 30)), layouts(st.integers(1, 12)))
def test_a_division_picks_what_the_tiler_says_or_says_so(layout, tiler):
    tile, _ = modes_of(accepted(logical_divide, layout, tiler))
    if divide_is_pointwise(layout, tiler):
        inside = [(i, value) for i, value in zip(offsets(tiler), offsets(tile), strict=True) if i < product(layout.shape)]
        assert all(layout(i) == value for i, value in inside)


def test_divisions_that_are_no_function_of_the_layout_warn():
    a, tiler = Layout((5, 4), (3, 32)), Layout(4, 4)
    tile, _ = modes_of(logical_divide(a, tiler))
    assert [a(tiler(i)) for i in range(4)] != offsets(tile)
    for text in ("logical_divide((5,4):(3,32), 4:4)", "(5,4):(3,32) ⊘ 4:4", "zipped_divide(((5,4),8):((3,32),200), (4:4,2))"):
        said = []
        read(text, None, said)
        assert len(said) == 1
        assert "not A cut by the tiler everywhere" in said[0]
    said = []
    read("composition(((5,4),8):((3,32),200), (4:4,2)); logical_divide((8,6),(4,3)); tiled_divide((8,8), (2,4))", None, said)
    assert [one.partition("(")[0] for one in said] == ["composition"]


@given(compact(), st.integers(1, 5))
def test_a_complement_is_disjoint_and_covers(layout, factor):
    scaled = Layout(layout.shape, map_leaves(lambda d: d * factor, layout.stride))
    target = cosize(scaled) * 2
    rest = accepted(complement, scaled, target)
    values, others = offsets(scaled), offsets(rest)
    assert others == sorted(set(others))
    assert len({v + o for v in values for o in others}) == len(set(values)) * len(others)
    assert size(rest) * size(scaled) >= target


@given(layouts(st.integers(0, 40)))
def test_a_right_inverse_inverts(layout):
    inverse = right_inverse(layout)
    assert [layout(i) for i in offsets(inverse)] == list(range(size(inverse)))


@given(compact(), st.integers(1, 3))
def test_a_left_inverse_inverts(layout, factor):
    spread = Layout(layout.shape, map_leaves(lambda d: d * factor, layout.stride))
    inverse = accepted(left_inverse, spread)
    assert [inverse(i) for i in offsets(spread)] == list(range(size(spread)))


@given(layouts(st.integers(0, 4)))
def test_the_nullspace_maps_to_zero(layout):
    assert {layout(i) for i in offsets(nullspace(layout))} == {0}


@given(layouts())
def test_coalesce_flatten_and_group_keep_the_function(layout):
    assert offsets(coalesce(layout)) == offsets(flatten(layout)) == offsets(layout)
    if isinstance(layout.shape, tuple) and len(layout.shape) > 1:
        assert offsets(group(layout, 0, 2)) == offsets(layout)


@given(layouts(st.integers(0, 30)))
def test_filter_keeps_the_values(layout):
    assert set(offsets(filter_(layout))) == set(offsets(layout))


@given(shapes(4), st.integers(1, 6))
def test_a_divide_rearranges_and_loses_nothing(shape, n):
    layout = Layout(shape)
    assume(size(layout) % n == 0)
    divided = accepted(logical_divide, layout, Layout(n))
    assert sorted(offsets(divided)) == sorted(offsets(layout))
    assert offsets(get(divided, 0)) == [layout(i) for i in range(n)]


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), compact())
def test_the_divides_hold_the_same_tiles(m, n, rest_m, rest_n, order):
    layout = Layout((m * rest_m, n * rest_n))
    zipped = zipped_divide(layout, (m, n))
    expected = [layout((i + m * k, j + n * q)) for q in range(rest_n) for k in range(rest_m) for j in range(n) for i in range(m)]
    for operation in (zipped_divide, tiled_divide, flat_divide):
        assert offsets(operation(layout, (m, n))) == expected
    assert zipped(((1 % m, 0), 0)) == layout((1 % m, 0))


@given(compact(), compact())
def test_a_product_covers(block, tiler):
    result = accepted(logical_product, block, tiler)
    assert sorted(offsets(result)) == list(range(size(block) * size(tiler)))
    assert offsets(get(result, 0)) == offsets(block)


@given(compact(), compact())
def test_blocked_and_raked_products_hold_the_same_values(block, tiler):
    blocked, raked = accepted(blocked_product, block, tiler), accepted(raked_product, block, tiler)
    assert sorted(offsets(blocked)) == sorted(offsets(raked)) == list(range(size(block) * size(tiler)))


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
