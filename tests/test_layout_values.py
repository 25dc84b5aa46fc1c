"""Layouts as values: evaluation, tables, slicing, immutability."""

from __future__ import annotations

import dataclasses

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cute_viz.algebra.compose import coalesce, composition
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import X, product
from cute_viz.algebra.layout import Layout, crd2idx, idx2crd, slice_and_offset
from cute_viz.algebra.measure import cosize, size
from cute_viz.algebra.modes import flatten
from cute_viz.algebra.stride import F2, Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets, offsets_numpy
from cute_viz.errors import AlgebraError
from cute_viz.source.text import parse
from tests.strategies import any_layouts, composed_layouts, layouts, shapes, swizzles


@given(any_layouts())
def test_the_table_is_the_layout_at_every_index(layout):
    assert offsets(layout) == [layout(i) for i in range(product(layout.shape))]


@given(st.one_of(layouts(), composed_layouts()))
def test_the_numpy_table_is_the_same(layout):
    assert offsets_numpy(layout, numpy).tolist() == offsets(layout)
    table = numpy.asarray(layout)
    assert table.ndim == layout.rank
    assert table.flatten(order="F").tolist() == offsets(layout)


@given(layouts())
def test_an_index_and_its_coordinate_give_the_same_value(layout):
    assert [layout(idx2crd(i, layout.shape)) for i in range(size(layout))] == offsets(layout)


@given(shapes())
def test_coordinates_and_indices_invert_each_other(shape):
    assert [crd2idx(idx2crd(i, shape), shape) for i in range(product(shape))] == list(range(product(shape)))


@given(layouts(st.integers(0, 40)))
def test_cosize_is_one_past_the_largest_value(layout):
    assert cosize(layout) == max(offsets(layout)) + 1


@given(layouts())
def test_coalesce_and_flatten_keep_the_function(layout):
    assert offsets(coalesce(layout)) == offsets(flatten(layout)) == offsets(layout)


@given(swizzles(), st.integers(0, 1 << 20))
def test_a_swizzle_is_its_own_inverse_and_keeps_other_bits(swizzle, offset):
    assert swizzle(swizzle(offset)) == offset
    assert (swizzle(offset) ^ offset) & ~swizzle.zzz == 0


def test_known_values():
    layout = Layout(((16, 8), 8), ((64, 1), 8))
    assert layout((17, 3)) == 64 + 1 + 24
    assert layout(((3, 2), 1)) == 3 * 64 + 2 + 8
    assert Layout((4, 8), (8, 1))(4) == 1
    assert Layout((2, 3), (0, -2))((1, 2)) == -4
    assert Layout((4, 8), (Basis(1, (0,)), Basis(1, (1,))))(2, 5) == (2, 5)
    assert Layout((4, 2), (Basis(3, (1, 0)), 0))(2, 1) == (0, (6,))
    assert Layout((8,), (Basis(1, (1,)),))(3) == (0, 3)


def test_big_integers_stay_exact():
    assert Layout((3, 2), (2**63, 2**64 + 1))(2, 1) == 2**64 + 2**64 + 1
    assert offsets(Layout(3, 2**70)) == [0, 2**70, 2**71]


def test_slicing():
    layout = Layout((4, (2, 3)), (6, (3, 1)))
    assert str(layout(1, X)) == "((2,3)):((3,1))"
    assert str(layout(X, (1, X))) == "(4,3):(6,1)"
    sub, offset = slice_and_offset((3, X), layout)
    assert (str(sub), offset) == ("((2,3)):((3,1))", 18)
    swizzled = ComposedLayout(Swizzle(2, 0, 3), 0, Layout((8, 4), (4, 1)))
    row = swizzled(5, X)
    assert str(row) == "Sw<2,0,3> o 20 o (4):(1)"
    assert offsets(row) == [swizzled(5, c) for c in range(4)]


def test_values_are_immutable_and_hashable():
    layout = Layout((4, 8), (8, 1))
    assert {layout: 1}[Layout((4, 8), (8, 1))] == 1
    assert layout != Layout((8, 4), (1, 8))
    assert Layout((4,), (1,)) != Layout(4, 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        layout.shape = (8, 4)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("shape", "stride", "words"),
    [((4, 8), (1,), "nesting"), ((4, 0), (1, 4), "1 or more"), ((4, True), (1, 4), "integers")],
)
def test_what_is_not_a_layout(shape, stride, words):
    with pytest.raises(AlgebraError, match=words):
        Layout(shape, stride)


@pytest.mark.parametrize("numbers", [(-1, 0, 3), (3, -1, 3), (3, 0, 2), (30, 30, 30), (1.5, 3, 3), ("3", 3, 3), (3, 3, None)])
def test_what_is_not_a_swizzle(numbers):
    with pytest.raises(AlgebraError):
        Swizzle(*numbers)


@pytest.mark.parametrize("coord", [(1, 2, 3), ((1, 1), 2), ("a", 0)])
def test_coordinates_that_do_not_fit(coord):
    with pytest.raises(AlgebraError):
        Layout((4, 8))(coord)


@pytest.mark.parametrize("mode", [2, -3, "x", 1.5, None, slice(0, 1)])
def test_modes_that_are_not_there(mode):
    with pytest.raises(AlgebraError, match="has no mode"):
        Layout((4, 8))[mode]


def test_a_swizzle_takes_no_coordinates():
    layout = ComposedLayout(Swizzle(1, 0, 1), 0, Layout((2, 2), (Basis(1, (0,)), Basis(1, (1,)))))
    with pytest.raises(AlgebraError):
        layout(1, 1)
    with pytest.raises(AlgebraError):
        offsets(layout)


@given(layouts(st.one_of(st.just(0), st.builds(F2, st.integers(0, 63))), largest=4))
def test_xor_strides_evaluate_print_and_coalesce(layout):
    values = [layout(i) for i in range(size(layout))]
    assert offsets(layout) == offsets(coalesce(layout)) == values
    assert cosize(layout) == max(values) + 1
    assert parse(str(layout)) == layout


def test_xor_strides_make_a_swizzle_a_layout():
    swizzled = ComposedLayout(Swizzle(3, 0, 3), 0, Layout((8, 8), (8, 1)))
    assert offsets(Layout((8, 8), (F2(9), F2(1)))) == offsets(swizzled)
    picked = composition(Layout((8, 8), (F2(9), F2(1))), Layout((4, 2), (2, 8)))
    assert str(picked) == "(4,2):(F18,F1)"
    assert [picked(i) for i in range(8)] == [swizzled(j) for j in offsets(Layout((4, 2), (2, 8)))]
    with pytest.raises(AlgebraError, match="mixes integer and XOR"):
        offsets(Layout((2, 2), (F2(1), 1)))
