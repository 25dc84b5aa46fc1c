"""TiledMMA and TiledCopy against CuTe (tests/data/tiled.json.gz, partitions.json.gz): layouts, slices, partitions, fragments."""

from __future__ import annotations

import gzip
import json
import re
from itertools import product
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cute_viz import figure, parse
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import modes, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import layout_tv, make_tiled_mma, tile_shape
from cute_viz.algebra.static import mark_static, unmarked
from cute_viz.algebra.table import offsets
from cute_viz.engine.explaining import facts_of
from cute_viz.errors import CuteVizError
from cute_viz.spec import PACKAGED, read

VECTORS = json.loads(gzip.decompress((Path(__file__).parent / "data" / "tiled.json.gz").read_bytes()))
TENSORS = ("tensorA", "tensorB", "tensorC", "tensor", "fragment", "mma_partition")
TILINGS = [vector for vector in VECTORS if vector["kind"] != "tensor_partition"]


def value(text, **names):
    return read(text, names).pick()


def expression(key, vector):
    """The expression of an entry of a vector, in terms of `t` and the tensors; None for a tensor itself."""
    base, _, index = key.partition("[")
    thread, last = index.rstrip("]") or "0", base[-1]
    if base in TENSORS:
        return None
    if base in ("size", "tile_shape", "tile_size"):
        return f"{base}(t)"
    if base.startswith("tile_size_"):
        return f"tile_size<{'MNK'.index(last)}>(t)"
    if base.startswith("thrfrg"):
        modes_ = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}[last]
        extents = vector["clean"]["tile_shape"].strip("()").split(",")
        return f"{base}(t, ({extents[modes_[0]]},{extents[modes_[1]]}))"
    if base.startswith("partition_shape"):
        return f"{base}(t, tensor{last})"
    if base.startswith("partition_"):
        tensor = "tensor" if last in "SD" else f"tensor{last}"
        return f"{base}(get_slice(t, {thread}), {tensor})"
    if base.startswith("retile"):
        return f"{base}(t, fragment)"
    if base.startswith("layout"):
        return f"get_{base}(t)"
    return {"thr_layout_vmnk": "get_thr_layout_vmnk(t)", "thr_vmnk": f"get_slice(t, {thread})"}.get(base, base)


def result(key, vector, names):
    what = expression(key, vector)
    tiled = names["t"]
    direct = {"Tiler_MN": "tiler_mn", "TiledLayout_TV": "layout_tv"}
    if what in direct:
        return unmarked(getattr(tiled, direct[what]))
    if what == "TiledNumVal":
        return str(size(tiled.layout_tv, 1))
    found = value(what, **names)
    if key.startswith("thr_vmnk"):
        return unmarked(found.thr_vmnk)
    want = vector["clean"][key]
    if " o " in want and not isinstance(found, tuple):
        offset, layout = (found.offset, found.inner) if isinstance(found, ComposedLayout) else (0, found)
        return f"counting_iter({offset}) o {unmarked(layout)}" if "counting" in want else unmarked(layout)
    return unmarked(found)


@pytest.mark.parametrize("vector", TILINGS, ids=lambda v: v["id"])
def test_a_tiling(vector):
    names = {"t": value(f"x = {vector['expr']}")}
    names |= {key: value(vector["clean"][key].rpartition(" o ")[2]) for key in TENSORS if key in vector["clean"]}
    wrong = {}
    for key, want in vector["clean"].items():
        if expression(key, vector) is not None:
            got = result(key, vector, names)
            if got != (want if "counting" in want else want.rpartition(" o ")[2]):
                wrong[key] = (got, want)
    assert not wrong


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["kind"] == "tensor_partition" and "T(" not in v["expr"]], ids=lambda v: v["id"]
)
def test_a_tile_of_a_tensor(vector):
    found = value(vector["expr"], T=mark_static(value(vector["clean"]["tensor"].rpartition(" o ")[2])))
    if isinstance(found, tuple):
        layout, offset = found
    else:
        offset, layout = (found.offset, found.inner) if isinstance(found, ComposedLayout) else (0, found)
    assert f"counting_iter({offset}) o {unmarked(layout)}" == vector["clean"]["result"]


ATOMS = ("SM80_16x8x16_F32F16F16F32_TN", "SM75_16x8x8_F32F16F16F32_TN", "SM70_8x8x4_F32F16F16F32_NT", "UniversalFMA<float>")


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(ATOMS), st.tuples(*[st.sampled_from([1, 2, 4])] * 3), st.tuples(*[st.sampled_from([1, 2])] * 3), st.booleans()
)
def test_every_element_of_a_tile_has_its_threads(name, atoms, repeats, row):
    """The accumulator is held once per slice of K, A once per atom along N, B once per atom along M."""
    atom = value(name)
    stride = (atoms[1] * atoms[2], atoms[2], 1) if row else (1, atoms[0], atoms[0] * atoms[1])
    plain = make_tiled_mma(atom, Layout(atoms, stride))
    tile = tuple(extent * n for extent, n in zip(tile_shape(plain), repeats, strict=True))
    mma = make_tiled_mma(atom, Layout(atoms, stride), tile)
    assert tile_shape(mma) == tile
    threads = set(offsets(mma.thr_layout_vmnk))
    for operand, (i, j), copies in (("A", (0, 2), atoms[1]), ("B", (1, 2), atoms[0]), ("C", (0, 1), atoms[2])):
        if operand == "C" and copies > 1:  # where CuTe's layout runs out of the tile
            panel = figure(mma).panels[0]
            assert all(len(owners) == copies for _, owners in panel.owners)
            assert len(panel.owners) == tile[i] * tile[j]
            continue
        layout = layout_tv(mma, operand)
        count = size(modes(layout.shape)[0])
        held = [place for k, place in enumerate(offsets(layout)) if k % count in threads]
        assert sorted(held) == sorted(list(range(tile[i] * tile[j])) * copies)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1,1))", "rank-3 AtomLayoutMNK"),
        ("make_tiled_mma(SM75_U32x4_LDSM_N{})", "not an MMA operation"),
        ("make_tiled_copy(Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}, (4,4), (1,1))", "too few thrs"),
        ("make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>,half_t>{}, (4,4), (1,2))", "too few vals"),
        ("get_slice(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}), 32)", "thread 32 is not"),
        ("partition_A(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}), (32,32))", "needs one thread"),
        ("make_cotiled_copy(Copy_Atom<UniversalCopy<float>,float>{}, (4,2):(2,16), (4,2):(2,1))", "does not exist"),
    ],
)
def test_tilings_that_cute_refuses(text, words):
    with pytest.raises(CuteVizError) as caught:
        value(text)
    assert words in caught.value.explain()


def test_prints_read_back():
    mma = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))"
    text = f"make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N,half_t>{{}}, {mma})"
    for tiled in (value(text), value("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,(8,2,2):(1,16,8),16))")):
        assert value(str(tiled)) == tiled
        assert re.search(r"_\d", str(tiled))


PARTITIONS = json.loads(gzip.decompress((Path(__file__).parent / "data" / "partitions.json.gz").read_bytes()))["rows"]


def test_every_partition_is_here():
    assert len(PARTITIONS) == 200


@pytest.mark.parametrize("row", PARTITIONS, ids=lambda row: row[0])
def test_a_partition_prints_as_cute_prints_it(row):
    kind, text, want, *values = row
    if want == "REFUSED":
        with pytest.raises(CuteVizError):
            value(text)
        return
    found = value(text)
    layout = show(found)
    if kind in ("partition", "retile"):  # a layout and its offset, of which only 0 is left out
        layout = show(found.inner if isinstance(found, ComposedLayout) else found)
        assert want.startswith(f"({layout},")
        offset = want[len(layout) + 2 : -1].replace("_", "")
        assert unmarked(found.offset) == offset if isinstance(found, ComposedLayout) else not offset.strip("(0,)")
    else:
        assert layout == want
    if values:
        count, check = values
        assert crc32(",".join(unmarked(found(i)) for i in range(count)).encode()) == check


@pytest.mark.parametrize(
    ("operand", "tensor", "fragment"),  # as CuTe prints them
    [
        ("C", "(_64,_64):(_64,_1)", "((_2,_2),_2,_4):((_1,_2),_4,_8)"),
        ("A", "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64,_64>{})", "((_2,_2,_2),_2,_4):((_1,_2,_4),_32,_8)"),
        ("B", "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64,_64>{})", "((_2,_2),_4,_4):((_1,_2),_16,_4)"),
        ("A", "tile_to_shape(GMMA::Layout_MN_SW128_Atom<half_t>{}, Shape<_64,_64>{})", "((_2,_2,_2),_2,_4):((_1,_2,_4),_8,_16)"),
        ("B", "tile_to_shape(GMMA::Layout_MN_SW128_Atom<half_t>{}, Shape<_64,_64>{})", "((_2,_2),_4,_4):((_1,_2),_4,_16)"),
    ],
)
def test_a_fragment_follows_swizzled_tensors_and_accumulators_follow_none(operand, tensor, fragment):
    mma = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (_2,_2,_1))"
    assert str(value(f"partition_fragment_{operand}({mma}, {tensor})")) == fragment


@pytest.mark.parametrize("operand", "AB")
def test_what_a_descriptor_points_to_is_in_no_fragment(operand):
    mma = "make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>{})"
    with pytest.raises(CuteVizError, match="has no known element type"):
        value(f"partition_fragment_{operand}({mma}, (64,64))")
    assert value(f"partition_fragment_C({mma}, (64,64))").shape[0] == (2, 2, 8)


def test_the_third_argument_of_older_versions_is_told_apart() -> None:
    """CUTLASS 4.7 makes the tile (2,16,16) of it; (32,32,16) is what the argument once meant."""
    tiled = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_2,_1>>{}, Layout<Shape<_1,_2,_1>>{})"
    facts = facts_of(parse(tiled), tiled, PACKAGED)
    assert (str(facts["tile"]), facts["note"]) == (
        "(2,16,16)",
        "permutes M only; the ValLayoutMNK (1,2,1) of older versions is (32,32,16) today",
    )
    assert "note" not in facts_of(parse(tiled.replace("Layout<Shape<_1,_2,_1>>{}", "(32,32,16)")), tiled, PACKAGED)


def test_a_tile_of_three_modes_has_its_slices_side_by_side() -> None:
    text = "make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_4,_4,_2>>{}, Layout<Shape<_1,_2,_1>>{})"
    drawn = figure(text)
    assert [(panel.rows, panel.cols) for panel in drawn.panels] == [(4, 16)] * 2
    for panel, thread, value in product(drawn.panels, range(32), range(2)):  # thread (m,n,k) has columns 2n and 2n+1 of slice k
        m, n, k = thread % 4, thread // 4 % 4, thread // 16
        cell = m * 16 + 8 * k + 2 * n + value
        assert (panel.data["thread"][cell], panel.data["value"][cell]) == (thread, value)
    assert "A row has the 2 slices of 8 columns of the tile (4,8,2) side by side." in drawn.notes
