"""Descriptors, TMA, tensor memory and scale factors against what CUTLASS's own headers give (tests/data/hardware.json.gz)."""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.static import unmarked
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tmem import place
from cute_viz.engine.facts import facts_of
from cute_viz.errors import CuteVizError
from cute_viz.notation import read
from cute_viz.spec import PACKAGED
from cute_viz.spec.library import resolve
from tests.commands import fails, run

ROWS: dict[str, list[Any]] = json.loads(gzip.decompress((Path(__file__).parent / "data" / "hardware.json.gz").read_bytes()))
FIELDS = ("desc", "start_address", "leading_byte_offset", "stride_byte_offset", "layout_type")
MAP = ("globalDim", "globalStrides", "boxDim", "elementStrides", "swizzle", "interleave", "dataType", "tensorRank")


def rows(file: str, *starts: str, refused: bool = False) -> list[Any]:
    picked = [row for row in ROWS[file] if row[0].startswith(starts) and isinstance(row[2], str) == refused]
    assert picked
    return [pytest.param(*row[1:], id=row[0]) for row in picked]


@cache
def document(text: str) -> Any:
    return read(text, resolve=resolve)


def facts(text: str, name: str) -> dict[str, Any]:
    return facts_of(document(text).pick(name), "", PACKAGED)


def plain(value: Any) -> str:
    return unmarked(value.layout if isinstance(value, Tensor) else value).replace(" ", "")


@pytest.mark.parametrize(("text", "expected"), rows("gmma_desc", "raw", "kslice", "custom") + rows("umma_desc", "raw", "kslice"))
def test_descriptors(text, expected):
    got = facts(text, "d")
    assert {key: got[key] for key in FIELDS} == {key: expected[key] for key in FIELDS}


@pytest.mark.parametrize(("text", "expected"), rows("umma_desc", "idesc"))
def test_instruction_descriptors(text, expected):
    assert facts(text, "d")["desc"] == expected["hex"]


@pytest.mark.parametrize(("text", "expected"), rows("gmma_desc", "frag") + rows("umma_desc", "frag"))
def test_fragments_of_descriptors(text, expected):
    for operand in "AB":
        name, key = (f"tCr{operand}", f"tCr{operand}") if "tCrA" in text else (f"t{operand}", f"frag_{operand}")
        got = facts(text, name)
        assert (got["desc"], got["layout"]) == (expected[f"{operand}.desc"], expected[key])


@pytest.mark.parametrize(("text", "expected"), rows("tmem", "C"))
def test_accumulators_in_tensor_memory(text, expected):
    tensor = document(text).pick("tC")
    assert plain(tensor) == expected["tmem_C"].replace(" ", "")
    assert facts(text, "tC")["columns"] == expected["tmem_columns_used"]
    for index, lane, column, bit in re.findall(r"(\d+)>dp=(\d+),col=(\d+),bits=(\d+)", expected["address_samples"]):
        where = place(tensor.layout(int(index)), tensor.bits)
        assert (where.lane, where.column, where.bit // 8) == (int(lane), int(column), int(bit))


@pytest.mark.parametrize(("text", "expected"), rows("tmem", "copy"))
def test_copies_of_tensor_memory(text, expected):
    got = facts(text, "cp")
    assert (got["Tiler_MN"], got["TiledLayout_TV"]) == (expected["Tiler_MN"], expected["TiledLayout_TV"])


@pytest.mark.parametrize(("text", "expected"), rows("scale_factors", "atom", "gmem"))
def test_scale_factors_in_global_memory(text, expected):
    for name, key in (("a", "SfAtom"), ("a", "SFA"), ("b", "SFB")):
        if key in expected:
            assert plain(document(text).pick(name)) == expected[key]
    layout = document(text).pick("a")
    for row, k, value in re.findall(r"\((\d+),(\d+)\)>(\d+)", expected.get("SFA_samples", "")):
        assert layout(*((int(row), int(k), 0)[: len(layout.shape)])) == int(value)


@pytest.mark.parametrize(("text", "expected"), rows("scale_factors", "mma"))
def test_scale_factors_of_a_tile(text, expected):
    more = text + " auto ta = make_tensor<typename decltype(mma)::FrgTypeSFA>(shape(sfa)); auto tb = make_fragment_SFB(mma, sfb);"
    for name, key in (("sfa", "smem_SFA"), ("sfb", "smem_SFB"), ("ta", "tmem_SFA"), ("tb", "tmem_SFB")):
        assert plain(document(more).pick(name)) == expected[key]
    assert facts(more, "ta")["columns"] == expected["tmem_SFA_columns"]
    assert facts(more, "tb")["columns"] == expected["tmem_SFB_columns"]


@pytest.mark.parametrize(("text", "expected"), rows("tma", "copy", "atom", "sm100"))
def test_tensor_maps(text, expected):
    got = facts(text, "tma")
    assert {key: got[key] for key in MAP} == {key: expected[f"enc.{key}"] for key in MAP}
    for key in ("g_stride_basis", "tma_gbasis", "TiledLayout_TV"):
        if key in expected:
            assert got[key] == expected[key]


@pytest.mark.parametrize(("text", "expected"), rows("tma", "atom"))
def test_partitions_of_a_tma(text, expected):
    count = int(re.search(r"Int<(\d+)>\{\}\); auto gt", text)[1])
    for cta, *want in re.findall(r"cta(\d+): g0=\((\d+),(\d+)\) smem_offset_elems=(\d+)", expected["per_cta"]):
        given = text.replace("cta, Layout<Int<N>>", f"{cta}, Layout<Int<{count}>>")
        source = read(given, resolve=resolve)
        first = source.pick("tAgA")(*[0] * len(source.pick("tAgA").shape))
        shared = source.pick("tAsA")
        moved = shared.offset if isinstance(shared, ComposedLayout) and isinstance(shared.offset, int) else 0
        assert [*map(str, first), str(moved)] == want


@pytest.mark.parametrize(("text", "expected"), rows("tma", "mask"))
def test_multicast_masks(text, expected):
    cluster = text.partition(";")[0]
    for coord, *masks in re.findall(r"coord=(\S+) A=(\S+) B=(\S+) V_B=(\S+) V_A=(\S+)", expected["masks"].replace(";", "\n")):
        for modes, mask in zip(("2", "1", "0,1", "0,2"), masks, strict=True):
            call = f"{cluster}; auto mask = create_tma_multicast_mask<{modes}>(cl, {coord});"
            assert read(call, resolve=resolve).pick("mask") == int(mask, 16)


def test_what_cute_refuses_is_refused_in_its_words():
    names = {"gmma_desc": "d", "umma_desc": "d", "tmem": "tC", "scale_factors": "mma", "tma": "tma"}
    for file, name in names.items():
        for identity, text, message in [row for row in ROWS[file] if isinstance(row[2], str)]:
            wanted = "cp" if "auto cp" in text else "tCrA" if "tCrA" in text else name
            with pytest.raises(CuteVizError) as caught:
                document(text).pick(wanted)
            words = re.sub(r"^SM100_MMA_\w+ | for \d CTA cluster MMA", "", message.rpartition("&& ")[2].strip('"')).rstrip(".")
            assert words in caught.value.message, (identity, message)


@pytest.mark.parametrize(("file", "name"), [("gmma_desc", "d"), ("umma_desc", "d"), ("tma", "tma")])
def test_the_command_line_gives_the_same(file, name):
    _, text, expected = next(row for row in ROWS[file] if row[0].startswith(("raw", "copy")) and not isinstance(row[2], str))
    shown = json.loads(run("show", "-", "--name", name, "--json", stdin=text.encode()).stdout)
    assert shown == facts(text, name)
    assert shown.get("desc") == expected.get("desc")


def test_one_object_of_a_whole_text_is_evaluated_from_standard_input():
    _, text, expected = next(row for row in ROWS["tmem"] if row[0].startswith("C_F16BF16_SS_f16_f32_128x256"))
    out = run("eval", "-", "--name", "tC", stdin=text.encode()).stdout.decode()
    assert out.strip().replace("_", "") == show(expected["tmem_C"]).replace("_", "")
    refused = next(row for row in ROWS["tma"] if isinstance(row[2], str))
    assert refused[2].partition(" &&")[0] in fails(run("show", "-", "--name", "tma", stdin=refused[1].encode()), 1)


# One tile of A, its TMA, its descriptors and its accumulator, in both languages.
OF_CPP = """auto mma = make_tiled_mma(SM100_MMA_F16BF16_SS<half_t,half_t,float,128,256,UMMA::Major::K,UMMA::Major::K>{});
auto l = UMMA::tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<half_t>{}, partition_shape_A(mma, Shape<_128,_64>{}));
auto g = make_tensor(make_gmem_ptr<half_t>((void*)0), make_layout(make_shape(512, 256), make_stride(256, _1{})));
auto tma = make_tma_atom_A_sm100(SM90_TMA_LOAD{}, g, l, Shape<_128,_256,_64>{}, mma, Shape<_1,_1,_1,_1>{});
auto a = mma.make_fragment_A(make_tensor(make_smem_ptr<half_t>((void*)0), l));
auto c = mma.make_fragment_C(partition_shape_C(mma, Shape<_128,_256>{}));
"""
OF_DSL = """import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import cpasync, tcgen05
K, ONE = tcgen05.OperandMajorMode.K, tcgen05.CtaGroup.ONE
op = tcgen05.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (128, 256, 16), ONE, tcgen05.OperandSource.SMEM, K, K)
mma = cute.make_tiled_mma(op)
l = cutlass.utils.blackwell_helpers.make_smem_layout_a(mma, (128, 256, 64), cutlass.Float16, 1)
g = cute.make_tensor(cute.make_ptr(cutlass.Float16, 0, cute.AddressSpace.gmem), cute.make_layout((512, 256), stride=(256, 1)))
load = cpasync.CopyBulkTensorTileG2SOp(ONE)
tma, _ = cute.nvgpu.make_tiled_tma_atom_A(load, g, cute.select(l, mode=[0, 1, 2]), (128, 256, 64), mma, (1, 1, 1, 1))
a = mma.make_fragment_A(smem.allocate_tensor(element_type=cutlass.Float16, layout=l.outer, swizzle=l.inner))
c = cute.make_tensor(tmem.retrieve_ptr(cutlass.Float32), mma.make_fragment_C(mma.partition_shape_C((128, 256))).layout)
"""


def test_the_dsl_has_the_tensor_maps_descriptors_and_tensor_memory_of_cpp():
    names = {"tma": MAP, "a": FIELDS, "c": ("layout", "columns", "lanes", "last address")}
    for name, keys in names.items():
        texts = (text.encode() for text in (OF_CPP, OF_DSL))
        cpp, dsl = (json.loads(run("show", "-", "--name", name, "--json", stdin=text).stdout) for text in texts)
        assert {key: dsl[key] for key in keys} == {key: cpp[key] for key in keys}


def test_what_helps_and_what_a_fragment_is_made_of_are_told():
    tile = "make_gmma_desc<GMMA::Major::{}>({}(tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{{}}, (64,64))))"
    assert "local_tile(A, (64,16), (0,k))" in fails(run("show", tile.format("K", "")), 1)
    assert "`explain`" in fails(run("show", tile.format("MN", "")), 1).replace("'", "`")
    told = run("explain", "-", "--name", "a", stdin=OF_CPP.encode()).stdout.decode()
    shown = json.loads(run("show", "-", "--name", "a", "--json", stdin=OF_CPP.encode()).stdout)
    assert shown["desc"] in told
    assert told.rstrip().replace("_", "").endswith(shown["layout"])
    pair = json.loads(run("show", "umma_pair_256", "--json").stdout)
    assert [pair[f"{x} of CTA 1"] for x in "ABC"] == ["M 128..255, K 0..15", "N 128..255, K 0..15", "M 128..255, N 0..255"]
    assert list(json.loads(run("show", "blackwell_gemm", "--json").stdout)) == [f"stage {n}" for n in range(1, 6)]
