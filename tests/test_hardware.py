"""Descriptors, TMA, tensor memory and scale factors against what CUTLASS's own headers give (tests/data/hardware.json.gz)."""

from __future__ import annotations

import gzip
import itertools
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cute_viz import parse
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import crd2idx
from cute_viz.algebra.products import tile_to_shape
from cute_viz.algebra.static import unmarked
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.tma_parts import receivers
from cute_viz.algebra.tmem import place, tensor_memory
from cute_viz.algebra.umma import tile_to_mma_shape
from cute_viz.engine.explaining import facts_of
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.source.text import read
from cute_viz.spec import PACKAGED
from cute_viz.spec.library import resolve
from cute_viz.values.types import Pointer
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
            source = read(call, resolve=resolve)
            assert (found := source.pick("mask")) == int(mask, 16)
            assert [1 << n for n, _ in receivers(found)] == [1 << n for n in range(16) if int(mask, 16) >> n & 1]
            assert all(source.pick("cl")(crd) == n for n, crd in receivers(found))


@pytest.mark.parametrize(
    "text",
    [
        "auto cl = Layout<Shape<_1,_2,_4,_1>>{}; auto m = create_tma_multicast_mask<2>(cl, make_coord(0,1,0,0));",
        "auto cl = Layout<Shape<_1,_2,_4,_1>>{};\nuint16_t m = create_tma_multicast_mask<2>(cl, make_coord(0,1,3,0));\n",
        "cl = cute.make_layout((1,2,4,1))\nm = cpasync.create_tma_multicast_mask(cl, (0,1,0,0), mcast_mode=2)\n",
        "import cutlass.cute as cute\nfrom cutlass.cute.nvgpu import cpasync\ncl = cute.make_layout((1,2,4,1))\n"
        "m = cpasync.create_tma_multicast_mask(cl, (0,1,0,0), mcast_mode=2)\n",
    ],
)
def test_a_multicast_mask_says_who_receives(text):
    known = json.loads(run("show", "-", "--name", "m", "--json", stdin=text.encode()).stdout)
    assert (known["mask"], known["bits"], known["receivers"]) == ("0xaa", "0b10101010", [1, 3, 5, 7])
    assert known["receivers in words"].startswith("CTA 1 at (0,1,0,0), CTA 3 at (0,1,1,0)")
    told = run("explain", "-", "--name", "m", stdin=text.encode()).stdout.decode()
    assert "CTA 7 at (0,1,3,0) receives" in told
    assert "0xaa = 0b10101010" in told
    assert run("render", "-", "--name", "m", stdin=text.encode()).returncode == 1  # it is no layout


def test_what_cute_refuses_is_refused_in_its_words():
    names = {"gmma_desc": "d", "umma_desc": "d", "tmem": "tC", "scale_factors": "mma", "tma": "tma"}
    for file, name in names.items():
        for identity, text, message in [row for row in ROWS[file] if isinstance(row[2], str)]:
            wanted = "cp" if "auto cp" in text else "tCrA" if "tCrA" in text else name
            with pytest.raises(CuteVizError) as caught:
                document(text).pick(wanted)
            words = re.sub(r"^SM100_MMA_\w+ | for \d CTA cluster MMA", "", message.rpartition("&& ")[2].strip('"')).rstrip(".")
            assert words in caught.value.message, (identity, message)


@pytest.mark.parametrize(("vector", "factors"), [(16, "(_16,_4)),_1,(_1,_4)):((((_16,_4),_512),(_0,_1)),_0,(_4,_0))"),
                                               (32, "(_32,_2)),_1,(_2,_2)):((((_16,_4),_512),(_0,_1)),_0,(_2,_0))")])  # fmt: skip
def test_a_layout_of_cutlass_without_elements_is_printed(vector, factors):
    scale = "float_ue4m3_t" if vector == 16 else "float_ue8m0_t"
    mma = f"SM100_MMA_MXF4_2x1SM_SS<float_e2m1_t,float_e2m1_t,float,{scale},128,128,{vector},UMMA::Major::K,UMMA::Major::K>"
    text = f"using Cfg = Sm1xxBlockScaledConfig<{vector}>; auto mma = make_tiled_mma({mma}{{}}); "
    text += "auto sfa = Cfg::deduce_smem_layoutSFA(mma, Shape<_128,_128,_256>{});"
    done = run("eval", "-", "--name", "sfa", stdin=text.encode())
    assert done.stdout.decode() == f"((((_32,_4),_0),{factors}\n"
    assert b"no elements" in done.stderr
    told = run("explain", "-", "--name", "sfa", stdin=text.replace("_128,_128,_256", "_256,_128,_256").encode())
    assert b"(((_32,_4),_1)" in told.stdout or b"((((32,4),1)" in told.stdout
    assert run("render", "-", "--name", "sfa", stdin=text.encode()).returncode == 1


def test_the_rank_of_a_block_may_be_given():
    text = """auto cl = Layout<Shape<Shape<_2>,_2,_4,_1>>{};
    auto crd = cl.get_flat_coord(int(cute::block_rank_in_cluster()));
    uint16_t m = create_tma_multicast_mask<2>(cl, crd);
    uint16_t c = create_tma_multicast_mask<0,1>(cl, crd) | create_tma_multicast_mask<0,2>(cl, crd);
    """
    for name, expected in (("m", [1, 5, 9, 13]), ("c", [0, 1, 2, 3, 4, 5, 8, 9, 12, 13])):
        out = run("show", "-", "--name", name, "--let", "block_rank_in_cluster=1", "--json", stdin=text.encode()).stdout
        assert json.loads(out)["receivers"] == expected


@pytest.mark.parametrize(("file", "name"), [("gmma_desc", "d"), ("umma_desc", "d"), ("tma", "tma")])
def test_the_command_line_gives_the_same(file, name):
    _, text, expected = next(row for row in ROWS[file] if row[0].startswith(("raw", "copy")) and not isinstance(row[2], str))
    shown = json.loads(run("show", "-", "--name", name, "--json", stdin=text.encode()).stdout)
    printed = shown.pop("printed")  # what has marks of static integers, with them
    assert shown == facts(text, name)
    assert {key: re.sub(r"_(?=\d)", "", value) for key, value in printed.items()} == {key: shown[key] for key in printed}
    if name == "tma":
        assert printed["tma_gbasis"] == re.sub(r"(?<![\d@])(\d+)", r"_\1", shown["tma_gbasis"])
    assert shown.get("desc") == expected.get("desc")


def test_one_object_of_a_whole_text_is_evaluated_from_standard_input():
    _, text, expected = next(row for row in ROWS["tmem"] if row[0].startswith("C_F16BF16_SS_f16_f32_128x256"))
    out = run("eval", "-", "--name", "tC", stdin=text.encode()).stdout.decode()
    assert out.strip().replace("_", "") == show(expected["tmem_C"]).replace("_", "")
    refused = next(row for row in ROWS["tma"] if isinstance(row[2], str))
    assert refused[2].partition(" &&")[0] in fails(run("show", "-", "--name", "tma", stdin=refused[1].encode()), 1)


# PTX ISA, "Canonical layouts": the examples with their encodings of the leading and the stride dimension byte offset
CANONICAL = [
    ("K", "tfloat32_t", "((_8,_2),(_4,_2)):((_4,_32),(_1,_64))", 16, 8),
    ("K", "tfloat32_t", "Sw<1,4,3> o smem_ptr[32b](unset) o ((_8,_2),(_4,_2)):((_8,_64),(_1,_4))", 1, 16),
    ("MN", "bfloat16_t", "((_8,_1,_2),(_8,_2)):((_1,_8,_64),(_8,_128))", 16, 8),
    ("MN", "bfloat16_t", "Sw<1,4,3> o smem_ptr[16b](unset) o ((_8,_2,_2),(_8,_2)):((_1,_8,_128),(_16,_256))", 16, 32),
    ("MN", "bfloat16_t", "Sw<2,4,3> o smem_ptr[16b](unset) o ((_8,_4,_2),(_8,_2)):((_1,_8,_256),(_32,_512))", 32, 64),
]


@pytest.mark.parametrize(("major", "kind", "layout", "leading", "stride"), CANONICAL)
def test_the_canonical_layouts_of_the_isa_have_its_offsets(major, kind, layout, leading, stride):
    for name in ("gmma", "umma"):
        text = f"make_{name}_desc<{name.upper()}::Major::{major}>(make_tensor(make_smem_ptr<{kind}>(0), {layout}))"
        found = facts_of(read(text, resolve=resolve).pick(), "", PACKAGED)
        assert (found["leading_byte_offset"], found["stride_byte_offset"]) == (leading, stride)


# PTX ISA, tables 39 (shapes and types), 42 to 44 (instruction descriptors), 49 and 50 (transposition, negation), 55 (scale factors)
NOWHERE = [
    ("half_t,half_t,float,100,64,K,K", "M = 100"),
    ("half_t,half_t,float,128,12,K,K", "N = 12"),
    ("half_t,half_t,float,128,264,K,K", "N = 264"),
    ("bfloat16_t,bfloat16_t,half_t,128,64,K,K", "C of f16"),
    ("half_t,tfloat32_t,float,128,64,K,K", "no kind"),
    ("int8_t,int8_t,int32_t,128,40,K,K", "N = 40"),
    ("int8_t,int8_t,float,128,64,K,K", "C of s32"),
    ("int8_t,int8_t,int32_t,128,64,K,K,Neg", "not negated"),
    ("float_e4m3_t,float_e4m3_t,float,128,24,K,MN", "N = 24"),
    ("float_e4m3_t,float_e2m1_t,float,128,64,K,K", "e5m2"),
    ("half_t,half_t,float,128,64,K,K,One,One,True", "saturate"),
    ("scaled float_e4m3_t,float_e4m3_t,float,float_ue8m0_t,64,64,K,K", "M = 64"),
    ("scaled float_e4m3_t,float_e4m3_t,float,float_ue4m3_t,128,64,K,K", "ue4m3"),
    ("scaled float_e2m1_t,float_e2m1_t,float,float_ue4m3_t,128,64,K,MN", "K-major"),
    ("half_t,half_t,half_t,64,8,MN,MN", ""),
    ("bfloat16_t,bfloat16_t,float,256,256,MN,K,Neg", ""),
    ("tfloat32_t,tfloat32_t,float,128,24,MN,MN", ""),
    ("int8_t,uint8_t,int32_t,128,24,K,K,One,One,True", ""),
    ("float_e5m2_t,detail::float_e2m1_unpacksmem_t,half_t,128,48,MN,MN", ""),
    ("float_e4m3_t,float_e3m2_t,float,128,24,MN,K", ""),
    ("scaled float_e2m1_t,float_e2m1_t,float,float_ue8m0_t,256,8,K,K,Neg", ""),
    ("scaled float_e4m3_t,float_e5m2_t,float,float_ue8m0_t,128,256,K,MN", ""),
]


@pytest.mark.parametrize(("words", "why"), NOWHERE)
def test_an_instruction_descriptor_says_what_no_instruction_has(words, why):
    name = "make_instr_desc_block_scaled" if words.startswith("scaled ") else "make_instr_desc"
    said = facts_of(read(f"{name}<{words.removeprefix('scaled ')}>()", resolve=resolve).pick(), "", PACKAGED)
    assert bool(why) == ("not supported by tcgen05.mma" in said)
    assert why in said.get("not supported by tcgen05.mma", "")


# cuda.h, cuTensorMapEncodeTiled; the tensor, the layout in shared memory, an element of the map
MAPS = [
    ("half_t", "(64,64):(64,_1)", "(_8,_4):(_4,_1)", "", "8 bytes along dimension 0, not a multiple of 16"),
    (
        "half_t",
        "(64,64):(64,_1)",
        "Sw<1,4,3> o smem_ptr[16b](unset) o (_8,_32):(_32,_1)",
        "",
        "64 bytes along dimension 0, more than the 32",
    ),
    ("half_t", "(64,64):(64,_1)", "Sw<2,4,3> o smem_ptr[16b](unset) o (_8,_32):(_32,_1)", "", ""),
    (
        "half_t",
        "(64,128):(128,_1)",
        "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_128):(_128,_1)",
        "",
        "256 bytes along dimension 0, more than the 128",
    ),
    ("float_e2m1_t", "(64,256):(256,_1)", "(_8,_128):(_128,_1)", "<detail::float_e2m1_unpacksmem_t>", ""),
    ("float_e2m1_t", "(64,256):(256,_1)", "(_8,_64):(_64,_1)", "<detail::float_e2m1_unpacksmem_t>", "it must be 128"),
    ("float_e2m1_t", "(64,160):(160,_1)", "(_8,_128):(_128,_1)", "<detail::float_e2m1_unpacksmem_t>", "globalDim[0] = 160"),
    ("float_e3m2_t", "(64,192):(192,_1)", "(_8,_128):(_128,_1)", "", "globalDim[0] = 192"),
]


@pytest.mark.parametrize(("kind", "tensor", "shared", "internal", "why"), MAPS)
def test_a_tensor_map_says_what_the_driver_refuses(kind, tensor, shared, internal, why):
    tile = shared.rpartition(" o ")[2].partition(":")[0]
    text = f"make_tma_copy{internal}(SM90_TMA_LOAD{{}}, make_tensor(make_gmem_ptr<{kind}>(0), {tensor}), {shared}, {tile}, _1{{}})"
    said = facts_of(read(text, resolve=resolve).pick(), "", PACKAGED)
    assert bool(why) == ("cuTensorMapEncode fails" in said)
    assert why in said.get("cuTensorMapEncode fails", "")


def test_a_swizzle_of_quarters_is_the_number_that_cuda_has_and_no_swizzle_of_the_hardware():
    g = "make_tensor(make_gmem_ptr<half_t>(0), (64,64):(64,_1))"
    text = f"make_tma_copy(SM90_TMA_LOAD{{}}, {g}, Sw<2,6,2> o smem_ptr[16b](unset) o (_8,_64):(_64,_1), (_8,_64), _1{{}})"
    said = facts_of(read(text, resolve=resolve).pick(), "", PACKAGED)
    assert (said["swizzle"], said["swizzle in words"]) == (6, "128B_ATOM_64B")  # CUtensorMapSwizzle of cuda.h
    assert "every other line" in said["on hardware"]


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
    assert list(json.loads(run("show", "blackwell_gemm", "--json").stdout)) == [f"stage {n}" for n in range(1, 8)]


OF_COPY = """auto src = make_tensor(make_smem_ptr<float>((void*)0), Layout<Shape<Int<8>,Int<8>>,Stride<Int<1>,Int<8>>>{});
auto dst = make_tensor(make_gmem_ptr<float>((void*)4096), Layout<Shape<Int<8>,Int<8>>,Stride<Int<%d>,Int<8>>>{}); copy(src, dst);"""


@pytest.mark.parametrize("text", [OF_COPY, OF_COPY.replace("\n", " ")])
def test_a_text_that_ends_in_a_copy_is_shown_as_its_verdict(text):
    good, bad = (text % 1).encode(), (text % 0).encode()
    shown = json.loads(run("show", "-", "--json", stdin=good).stdout)
    assert (shown["accepted"], shown["bits"], shown["instructions"]) == (True, 128, 16)
    assert "reasons" in run("show", "-", stdin=good).stdout.decode()
    assert run("eval", "-", "--name", "dst", stdin=good).stdout == b"(_8,_8):(_1,_8)\n"
    if "\n" not in text:
        assert run("eval", "-", stdin=good).stdout.startswith(b"CuTe accepts it: 16 instructions")
    for words in (["show", "-"], ["show", "-", "--name", "dst"], ["eval", "-", "--name", "dst"]):
        assert "ambiguous race" in fails(run(*words, stdin=bad), 1)
    kernel = b"void f() {\n" + bad + b"\n}\n"  # what is in a function may be read all the same
    assert run("eval", "-", "--name", "dst", stdin=kernel).returncode == 0
    assert run("render", "-", "--name", "dst", stdin=bad).returncode == 0


OF_TMA = """auto g = make_tensor(make_gmem_ptr<float>((void*)4096), make_layout(make_shape(1024,256),make_stride(256,1)));
auto sl = {}; auto tma = make_tma_atom(SM90_TMA_LOAD{{}}, g, sl, Shape<_64,_32>{{}}); auto tt = tma.get_tma_tensor(shape(g));"""


@pytest.mark.parametrize("text", [OF_TMA, OF_TMA.replace("\n", " ")])
def test_run_time_integers_of_a_tma_are_those_of_cute(text):
    told = run("eval", "-", "--name", "tt", stdin=text.format("Layout<Shape<_64,_32>,Stride<_32,_1>>{}").encode()).stdout
    assert told == b"ArithTuple(_0,_0) o (1024,256):(_1@1,1@0)\n"
    smem = text.format("make_layout(make_shape(64,32),GenRowMajor{})").encode()
    assert "Could not find a common tile-gmem vectorization" in fails(run("show", "-", "--name", "tma", stdin=smem), 1)


def test_stages_of_an_operand_follow_its_tiles():
    """A naive walk: value (i,j) of tile (k, stage) lies where the whole tile has it."""
    atom = parse("UMMA::Layout_K_SW64_Atom<half_t>{}")
    tiled, whole = tile_to_mma_shape(atom, ((128, 16), 1, 4, 3)), tile_to_shape(atom, (128, 64, 3))
    for i, j, k, stage in itertools.product((0, 1, 7, 8, 127), (0, 7, 8, 15), range(4), range(3)):
        assert crd2idx(((i, j), 0, k, stage), tiled) == crd2idx((i, 16 * k + j, stage), whole)


DESC = "make_{}_desc<{}::Major::{}>(make_tensor(make_smem_ptr<{}>(0), tile_to_shape({}::Layout_{}_SW32_Atom<{}>{{}}, (128,{}))))"


def desc_of(kind: str, major: str, element: str, k: int) -> str:
    return DESC.format(kind, kind.upper(), major, element, kind.upper(), major, element, k)


def test_the_facts_of_descriptors_and_pairs():
    """A leading offset is read by tcgen05 of MN-major operands only, by wgmma of all; a pair has two CTAs."""
    for kind, major in itertools.product(("gmma", "umma"), ("K", "MN")):
        told = json.loads(run("show", desc_of(kind, major, "half_t", 16), "--json").stdout)
        assert ("leading offset used" in told) == (kind == "gmma" or major == "MN"), (kind, major)
    pair = json.loads(run("show", "umma_pair_256", "--json").stdout)
    assert {key for key in pair if " of CTA " in key} == {f"{operand} of CTA {n}" for operand in "ABC" for n in (0, 1)}


def test_columns_that_exceed_tensor_memory_are_summed():
    half, all_, wide = (Tensor(Pointer("tmem", "float", 0), Layout((128, n), (65536, 1))) for n in (256, 512, 1024))
    assert len(tensor_memory(half, half).parts) == 2
    with pytest.raises(AlgebraError, match=r"tensor_memory: 512 \+ 256 = 768 columns exceed the 512"):
        tensor_memory(all_, half)
    with pytest.raises(AlgebraError, match="tensor_memory: 1024 columns exceed the 512"):
        tensor_memory(wide)


def test_majors_and_widths_that_wgmma_has():
    """PTX: wgmma transposes elements of 16 bits only; tcgen05.mma those of 8 bits, too."""
    for kind, element, k, refused in (
        ("gmma", "half_t", 16, 0),
        ("gmma", "int8_t", 32, 1),
        ("umma", "half_t", 16, 0),
        ("umma", "int8_t", 32, 0),
    ):
        assert bool(parse(desc_of(kind, "MN", element, k)).refused) == bool(refused), (kind, element)


def test_alignment_of_what_no_swizzle_composes():
    assert run("eval", "max_alignment((8,4):(4,64) o 8 o 4:2)").stdout == b"1\n"


@pytest.mark.parametrize("op", ["SM90_TMA_LOAD_IM2COL{}", "SM90_TMA_REDUCE_ADD{}", "UniversalCopy<half_t>{}"])
def test_an_operand_of_tcgen05_is_loaded_by_plain_or_multicast_tma_only(op):
    text = OF_CPP.replace("SM90_TMA_LOAD{}", op)
    said = run("show", "-", "--name", "tma", stdin=text.encode()).stderr.decode()
    assert run("show", "-", "--name", "tma", stdin=OF_CPP.encode()).returncode == 0
    assert "Unsupported TMA" in said, said


@pytest.mark.parametrize("kind", ["double", "int64_t", "uint128_t"])
def test_tensor_memory_holds_no_element_that_is_wider_than_its_words(kind):
    text = f"make_tensor(make_tmem_ptr<{kind}>(0), (128,8):(65536,1))"
    for command in ("show", "render"):
        assert "tensor memory holds elements of 32 bits at most" in fails(run(command, text), 1)
