"""What planted mistakes of the algebra and of the hardware lived through once, by what is naively so."""

from __future__ import annotations

import random
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cute_viz import Layout, parse
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.shares import Division
from cute_viz.algebra.slicing import settled
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.analysis.banks import phases
from cute_viz.analysis.memories import memory_of
from cute_viz.errors import CuteVizError

TENSOR = "make_tensor(make_gmem_ptr<half_t>(0), make_layout(make_shape({}),make_stride({})))"


@given(st.fractions(-8, 8, max_denominator=8), st.integers(-8, 8))
def test_a_step_of_a_coordinate_times_a_number_is_exact(value: Fraction, factor: int) -> None:
    """An integer as soon as it is one."""
    for product in (Basis(value, (0, 1)) * factor, factor * Basis(value, (0, 1))):
        assert product.value == value * factor
        assert isinstance(product.value, int) == ((value * factor).denominator == 1)
        assert product.path == (0, 1)


@given(st.sampled_from(((2, 2), (4, 2), (2, 4))), st.sampled_from(((4, 4), (8, 4), (8, 8))))
def test_threads_of_a_local_partition_begin_at_their_own_elements(threads: tuple[int, int], tile: tuple[int, int]) -> None:
    """Thread (i, j) has every element whose coordinate is (i, j) modulo the threads; thread 0 begins at 0."""
    layout = Layout(tile, (1, 100))
    share = Division(Layout(threads), "", layout)
    mine = [layout((n % threads[0], n // threads[0])) for n in range(threads[0] * threads[1])]
    assert share.starts == tuple(mine)
    first = sorted(share.first(n) for n in range(share.first.size))
    assert first == sorted(layout((i, j)) for i in range(0, tile[0], threads[0]) for j in range(0, tile[1], threads[1]))


@pytest.mark.parametrize(
    ("operand", "cluster"),
    [("C", ""), *((one, words) for one in "AB" for words in (", 1", ", make_shape(1,1,1)", ", Layout<Shape<_1,_1,_1>>{}"))],
)
def test_a_tma_copy_without_a_cluster_is_that_of_one_cta(operand: str, cluster: str) -> None:
    g = TENSOR.format("1024,1024", "1024,_1{}")
    op = "SM90_TMA_STORE{}" if operand == "C" else "SM90_TMA_LOAD{}"
    smem = {"A": "(64,32)", "B": "(128,32)", "C": "(64,128)"}[operand]
    made = str(parse(f"make_tma_copy_{operand}_sm90({op}, {g}, {smem}:({smem[1:-1].split(',')[1]},1), (64,128,32){cluster})"))
    high, wide = smem[1:-1].split(",")
    assert f"of boxes ({wide},{high})" in made


@pytest.mark.parametrize("operation", ["logical_product", "blocked_product", "raked_product", "composition", "logical_divide"])
@pytest.mark.parametrize("first", ["(4,8):(8,1)", "Sw<2,0,3> o 0 o (4,8):(8,1)", "(4,2):(2,1) o 0 o (2,2)"])
@pytest.mark.parametrize(
    "second",
    [
        "Sw<1,0,2> o 0 o (4,2)",
        "Sw<1,0,2> o 8 o (4,2)",
        "(4,2):(2,1) o 0 o (2,2)",
        "Sw<1,0,2> o 0 o ((4,2):(2,1) o 0 o (2,2))",
        "Sw<1,0,2>",
    ],
)
def test_operations_on_composed_layouts_give_a_value_or_refuse_it(operation: str, first: str, second: str) -> None:
    with suppress(CuteVizError):
        assert str(parse(f"{operation}({first}, {second})"))


@pytest.mark.parametrize(
    ("shape", "stride", "fine"),
    [  # as `_assert_all` of CUTLASS: extents of 1 to 2^32, strides of whole 16 bytes below 2^40
        ("4294967296,16", "_1{},8", True),
        ("4294967297,16", "_1{},8", False),
        ("64,4294967296", "_1{},64", True),
        ("64,4294967297", "_1{},64", False),
        ("64,64", f"_1{{}},{(1 << 39) - 8}", True),  # two bytes each
        ("64,64", f"_1{{}},{1 << 39}", False),
        ("64,64", "_1{},72", True),
        ("64,64", "_1{},68", False),
    ],
)
def test_a_tensor_map_has_the_bounds_of_the_driver(shape: str, stride: str, fine: bool) -> None:
    text = f"make_tma_copy(SM90_TMA_LOAD{{}}, {TENSOR.format(shape, stride)}, (16,16):(1,16))"
    if fine:
        assert "of boxes" in str(parse(text))
    else:
        with pytest.raises(CuteVizError):
            parse(text)


@pytest.mark.parametrize("name", ["gfx90a", "gfx942"])
@pytest.mark.parametrize("seed", range(8))
def test_lanes_that_are_off_are_in_no_phase(name: str, seed: int) -> None:
    """The phases of a wave, without the lanes that a mask leaves out."""
    memory = memory_of(name)
    assert memory is not None
    chance = random.Random(seed)
    access = chance.choice(sorted(memory.groups))
    width = int(access.rpartition("_b")[2]) // 8
    mask = chance.getrandbits(memory.lanes)
    addresses = [width * chance.randint(0, 64) for _ in range(memory.lanes)]
    on = {lane for lane in range(memory.lanes) if mask >> lane & 1}
    whole = [phase.lanes for phase in phases(addresses, access, (1 << memory.lanes) - 1, memory)]
    masked = [phase.lanes for phase in phases(addresses, access, mask, memory)]
    assert masked == [left for lanes in whole if (left := tuple(lane for lane in lanes if lane in on))]
    assert sorted(lane for lanes in whole for lane in lanes) == list(range(memory.lanes))


@given(st.tuples(st.integers(1, 3), st.integers(0, 3), st.integers(3, 4)), st.integers(0, 63))
def test_a_swizzled_part_at_an_offset_is_where_it_was(bits: tuple[int, int, int], eights: int) -> None:
    """Of a slice, whose offset and whose own offsets have no bit in common."""
    whole = ComposedLayout(Swizzle(*bits), 8 * eights, Layout((8, 8), (1, 512)))
    part, start = settled(whole)
    assert [part(n) + start for n in range(64)] == [whole(n) for n in range(64)]


def test_a_number_of_a_layout_shows_as_it_is() -> None:
    assert show(parse("(4,8):(1/2@0,3/2@1)")) == "(4,8):(1/2@0,3/2@1)"
