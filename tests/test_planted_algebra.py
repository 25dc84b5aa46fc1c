"""What planted mistakes of the algebra and of the hardware lived through once, by what is naively so."""

from __future__ import annotations

import random
import re
from contextlib import nullcontext, suppress
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cute_viz import Layout, parse
from cute_viz.algebra.compose import coalesce
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.gemm import make_gemm
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.inverse import max_common_layout, max_common_vector
from cute_viz.algebra.measure import size
from cute_viz.algebra.shares import Division
from cute_viz.algebra.slicing import settled
from cute_viz.algebra.stride import F2, Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tmem import metadata_words
from cute_viz.analysis.banks import memory_of, phases
from cute_viz.errors import CuteVizError
from cute_viz.values.types import Pointer

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


def test_the_lanes_of_amd_that_are_served_together_are_those_of_its_documents() -> None:
    """Of 16-byte reads four lanes and the four across from them; of others runs of 128 bytes."""
    memory = memory_of("gfx942")
    assert memory is not None
    reads = ["0-3 20-23", "4-7 16-19", "8-11 28-31", "12-15 24-27", "32-35 52-55", "36-39 48-51", "40-43 60-63", "44-47 56-59"]
    wanted = [
        tuple(lane for part in words.split() for lane in range(int(part.split("-")[0]), int(part.split("-")[1]) + 1))
        for words in reads
    ]
    assert list(memory.groups["ds_read_b128"]) == wanted
    for name, lanes in (("ds_read_b32", 32), ("ds_read_b64", 16), ("ds_write_b32", 32), ("ds_write_b64", 16), ("ds_write_b128", 8)):
        assert list(memory.groups[name]) == [tuple(range(n, n + lanes)) for n in range(0, 64, lanes)]


@pytest.mark.parametrize(("each", "neighbors", "kept"), [(4, 2, "1 is"), (8, 4, "2 are"), (16, 8, "2 of 4 pairs are")])
def test_metadata_of_sparse_operands_is_told_in_words(each: int, neighbors: int, kept: str) -> None:
    tensor = Tensor(Pointer("tmem", f"sparse_elem<{each},uint8_t>"), Layout(8))
    assert metadata_words(tensor) == f"4 bits for {neighbors} neighboring elements of a row of A: which {kept} kept"


@pytest.mark.parametrize("swizzle", ["Sw<1,0,2>", "Sw<2,0,2>", "Sw<1,1,2>"])
@pytest.mark.parametrize("row", range(4))
def test_a_slice_of_a_swizzle_of_single_elements_is_pointwise(swizzle: str, row: int) -> None:
    whole = parse(f"{swizzle} o 0 o (4,8):(1,4)")
    part = parse(f"({swizzle} o 0 o (4,8):(1,4))({row},_)")
    assert [part(n) for n in range(8)] == [whole((row, n)) for n in range(8)]


def test_a_tiled_mma_without_an_atom_layout_is_one_atom() -> None:
    for text in ("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{})", "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (1,1,1))"):
        assert str(parse(text).thr_layout_vmnk) == "(_32,_1,_1,_1):(_1,_0,_0,_0)"


@pytest.mark.parametrize(
    ("swizzle", "words"),
    [
        ("Sw<2,4,2>", "Expected S = 3 when M == 4."),
        ("Sw<1,5,2>", "Expected B = 2 and S = 2 when M == 5."),
        ("Sw<3,3,3>", "Only 16B and 32B Atoms"),
    ],
)
def test_a_swizzle_that_no_descriptor_has_is_told_by_its_base(swizzle: str, words: str) -> None:
    tensor = f"make_tensor(make_smem_ptr<half_t>(0), {swizzle} o smem_ptr[16b](unset) o (8,64):(64,1))"
    with pytest.raises(CuteVizError, match=re.escape(words)):
        parse(f"make_umma_desc<UMMA::Major::K>({tensor})")


EXTENT = st.integers(1, 3).map(lambda n: 16 * n)


@given(st.tuples(EXTENT, EXTENT, EXTENT), st.tuples(EXTENT, EXTENT))
def test_the_parts_of_a_gemm_divide_its_tile(tile: tuple[int, int, int], part: tuple[int, int]) -> None:
    mma: Any = parse("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{})")
    m, n, k = tile
    fits = m % part[0] == k % part[1] == 0
    with nullcontext() if fits else pytest.raises(CuteVizError, match="does not divide"):
        assert make_gemm(mma, tile, Layout(part), Layout((n, k))).tile == tile
    fits = n % part[0] == k % part[1] == 0
    with nullcontext() if fits else pytest.raises(CuteVizError, match="does not divide"):
        assert make_gemm(mma, tile, Layout((m, k)), Layout(part)).tile == tile


@given(st.lists(st.tuples(st.integers(1, 6), st.sampled_from((1, 2, 3, 4, 8, 12, 16, 32))), min_size=1, max_size=4))
def test_a_layout_of_xored_steps_is_the_same_when_neighbors_are_joined(modes: list[tuple[int, int]]) -> None:
    layout = Layout(tuple(extent for extent, _ in modes), tuple(F2(step) for _, step in modes))
    assert [coalesce(layout)(n) for n in range(size(layout))] == [layout(n) for n in range(size(layout))]


@given(st.integers(0, 3), st.integers(0, 3), st.sampled_from(((8, 8), (4, 16), (16, 4), (64, 1))), st.booleans())
def test_what_two_layouts_have_in_common_is_where_both_go_on_by_one(bits: int, base: int, shape: tuple[int, int], up: bool) -> None:
    plain = Layout(shape, (1, shape[0]) if up else (shape[1], 1))
    swizzled = ComposedLayout(Swizzle(bits, base, 3), 0, plain)
    for a, b in ((swizzled, plain), (plain, swizzled), (swizzled, swizzled)):
        common = max_common_layout(a, b)
        run = [common(n) for n in range(size(common))]
        assert [a(n) for n in run] == [b(n) for n in run]
        assert max_common_vector(a, b) >= len(run)
    other = ComposedLayout(Swizzle(bits, base, 3), 0, Layout((8, 8), (1, 8)))
    assert size(max_common_layout(other, Layout((8, 8)))) == min(64, 1 << base)


@pytest.mark.parametrize(("a", "c"), [("half_t", "float"), ("int8_t", "int32_t"), ("float_e4m3_t", "float")])
@pytest.mark.parametrize("major", ["K", "MN"])
def test_a_word_of_an_instruction_is_refused_by_the_rules_of_the_ptx_isa(a: str, c: str, major: str) -> None:
    found = 0
    for n in range(0, 273, 4):
        with suppress(CuteVizError):
            word: Any = parse(f"make_instr_desc<{a},{a},{c},128,{n},UMMA::Major::K,UMMA::Major::{major}>()")
            told, found = " ".join(word.refused), found + 1
            assert ("not a multiple of 8" in told) == bool(n % 8 or not 8 <= n <= 256)
            assert ("on in steps of 16" in told) == bool(c == "int32_t" and n > 32 and n % 16)
            assert ("of an MN-major B" in told) == bool(a != "half_t" and major == "MN" and n % 16)
    assert found > 16
