"""The library of atoms against CuTe's own (tests/data/atoms.json.gz), and that every entry is a sound mapping."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import time
from collections import Counter
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cute_viz as cv
from cute_viz.algebra.copy import make_copy_atom
from cute_viz.algebra.inttuple import product, same_profile
from cute_viz.algebra.mma import MMA_Atom
from cute_viz.algebra.static import unmarked
from cute_viz.algebra.table import offsets, offsets_numpy
from cute_viz.errors import AlgebraError, CuteVizError, LimitError
from cute_viz.spec import Library, library, library_files
from cute_viz.spec.library import split_arguments
from cute_viz.spec.listing import listing as listing_of
from cute_viz.spec.names import Pattern, samples
from cute_viz.spec.spoken import meant
from cute_viz.values.types import bits_of

ATOMS = json.loads(gzip.decompress((Path(__file__).parent / "data" / "atoms.json.gz").read_bytes()))


def lookup(name, args=()):
    return library.lookup(name, args, Library.of_environment().folders)


def describe(full):
    return Library.of_environment().describe(full)


def listing():
    return listing_of(Library.of_environment().folders)


def entry(op):
    name, _, rest = op.partition("<")
    return lookup(name, tuple(split_arguments(rest.rpartition(">")[0])))


def cutes(line):
    """Whether an operation is CUTLASS's; those of others are held to what their makers say (test_vendors.py)."""
    return line.arch.startswith(("sm", "universal"))


@pytest.mark.parametrize("kind", ["mma", "copy"])
def test_every_layout_is_cutes(kind):
    wrong = {}
    for op, layouts in ATOMS[kind].items():
        found = entry(op)
        got = {key: unmarked(found.layouts[key]) for key in layouts if key in found.layouts} if found else None
        if got != layouts:
            wrong[op] = got
    assert not wrong
    counts = (
        f"{len(ATOMS['mma']):,} MMAs, {len(ATOMS['copy'])} copies: if rows were added on purpose, correct this number and README"
    )
    assert len(ATOMS["mma"]) + len(ATOMS["copy"]) == 1958, counts


def test_every_name_is_cutes():
    """No entry names an operation that CuTe lacks, or whose layouts were not printed."""
    printed = {op.partition("<")[0] for kind in ("mma", "copy") for op in ATOMS[kind]}
    names = {line.name: r"(\w+::)*" + re.sub(r"\\\{\w+\\\}", r"\\d+", re.escape(line.name)) for line in listing() if cutes(line)}
    others = [name for name, pattern in names.items() if not any(re.fullmatch(pattern, op) for op in printed)]
    hint = "add what CUTLASS prints to tests/data/atoms.json.gz; what it lacks goes into a file for --layouts"
    assert not others, f"{', '.join(others)}: {hint}"


def test_copy_atoms_of_value_types():
    """Copy_Atom<op, T>: the layouts in values; where CuTe refuses the type, so do we."""
    wrong = {}
    for key, want in ATOMS["copy_atoms"].items():
        op, _, value_type = key.partition("|")
        atom = make_copy_atom(entry(op).atom(), bits_of(value_type))
        if op == "SM75_U32x4_LDSM_N":
            (panel, *_) = cv.figure(op, bits=atom.bits).panels
            assert (panel.rows, panel.cols) == (32, 128 // atom.bits)  # --bits
        got = {name: unmarked(getattr(atom, f"layout_{name[-3:].lower()}")) for name in want if name.startswith("ValLayout")}
        if got != {name: text for name, text in want.items() if name.startswith("ValLayout")}:
            wrong[key] = got
    assert not wrong
    assert len(ATOMS["copy_atoms"]) > 500


def test_every_wgmma_n_and_no_other():
    for n in range(1, 300):
        found = lookup(f"SM90_64x{n}x16_F32F16F16_SS")
        assert (found is not None) == (n % 8 == 0 and 8 <= n <= 256)
        if found:
            assert unmarked(found.layouts["CLayout"]) == f"((4,8,4),(2,2,{n // 8})):((128,1,16),(64,8,512))"


SOUND = [
    (line.name.replace("{N}", "64").replace("{n}", "8").replace("{M}", "8"), line.arch)
    for line in listing()
    if line.kind == "mma" and " " not in line.args
]


@pytest.mark.parametrize(("name", "arch"), SOUND)
def test_each_mma_covers_its_tiles(name, arch):
    """Image and replication: every layout hits each index of its tile, each one equally often."""
    found = library.lookup(name, machine=library.Gpu(arch))
    atom = found.atom()
    assert isinstance(atom, MMA_Atom)
    for operand in "ABC":
        extent = product(atom.held(operand))
        layout = atom.layout(operand)
        if not same_profile(layout.shape, layout.stride):
            assert "16x8x128_S32U1U1" in name
            continue
        times = Counter(offsets(layout))
        assert times.keys() == set(range(extent))
        assert len(set(times.values())) == 1


@pytest.mark.parametrize("line", [line for line in listing() if line.kind == "copy" and cutes(line)], ids=lambda line: line.name)
def test_each_copy_moves_as_much_as_it_reads(line):
    found = lookup(line.name.replace("{n}", "8"), ("uint32_t",) if line.args.startswith("S ") else ())
    source, destination = found.layouts["SrcLayout"], found.layouts["DstLayout"]
    read, written = (offsets_numpy(layout, numpy) for layout in (source, destination))
    seen = numpy.zeros((2, max(read.max(), written.max()) + 1), bool)
    seen[0, read], seen[1, written] = True, True
    assert (seen[0] == seen[1]).all() or ("UTCCP" in line.name and (seen[0] <= seen[1]).all())  # those spread rows over the lanes
    assert found.layouts["RefLayout"] in (source, destination)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("16x8x16_F32BF16BF16F32", "SM80_16x8x16_F32BF16BF16F32_TN"),
        ("SM80_16x8x16_F32BF16BF16F32", "SM80_16x8x16_F32BF16BF16F32_TN"),
        ("cute::SM80_16x8x16_F32BF16BF16F32_TN{}", "SM80_16x8x16_F32BF16BF16F32_TN"),
        ("MMA_Atom<SM80_16x8x16_F32BF16BF16F32_TN>{}", "SM80_16x8x16_F32BF16BF16F32_TN"),
        ("MMA_Atom<MMA_Traits<SM80_16x8x16_F32BF16BF16F32_TN>>{}", "SM80_16x8x16_F32BF16BF16F32_TN"),
        ("SM90::GMMA::MMA_64x128x16_F16F16F16_SS<GMMA::Major::K,GMMA::Major::MN>{}", "SM90_64x128x16_F16F16F16_SS"),
        ("SM90_64x128x16_F16F16F16_SS", "SM90_64x128x16_F16F16F16_SS"),
        ("64x24x8_F32TF32TF32_SS", "SM90_64x24x8_F32TF32TF32_SS_TN"),
    ],
)
def test_names_and_short_forms(written, meant):
    assert cv.parse(written) == cv.parse(meant)


FILLED = {"A": "e4m3", "B": "e4m3", "C": "f32", "D": "f32", "SF": "ue8m0", "a_major": "K", "b_major": "K"}


def test_every_entry_is_found_by_each_of_its_names_and_no_name_finds_two():
    """PTX opcodes, short forms and operations of the DSL; where two architectures write one opcode, their layouts are the same."""
    tried, wrong = 0, []
    for line in listing():
        domains = line.family.domains
        filled = {key: samples(domain)[-1] for key, domain in domains.items() if domain} | FILLED
        name = Pattern(line.name).filled(filled)
        forms = [re.sub(r"\)(?: \w+=\w+)+$", ")", form) for form in line.dsl.split("; ") if form]
        for called in (line.ptx, *forms, *line.names.split()):
            if called:
                found = meant(Pattern(called).filled(filled))
                tried += 1
                if found.name != name and lookup(found.name).layouts != lookup(name).layouts:
                    wrong.append((called, name, found.name))
    assert wrong == []
    assert tried > 600


@pytest.mark.parametrize(
    ("called", "op"),
    [
        ("ldmatrix.x4", "SM75_U32x4_LDSM_N"),
        ("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16", "SM75_U16x4_LDSM_T"),  # as CUTLASS orders the words
        ("stmatrix.x1.trans", "SM90_U16x2_STSM_T"),
        ("cp.async", "SM80_CP_ASYNC_CACHEALWAYS<uint128_t>"),
        ("cp.async.ca.shared.global [%0], [%1], 4;", "SM80_CP_ASYNC_CACHEALWAYS<uint32_t>"),
        ("cp.async.cg.shared.global [a], [b], 16;", "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>"),
        ("m16n8k16.f32.f16.f16.f32", "SM80_16x8x16_F32F16F16F32_TN"),
        ("mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32", "SM70_8x8x4_F32F16F16F32_NT"),
        ("wgmma.m64n64k16.f32.f16.f16", "SM90_64x64x16_F32F16F16_SS"),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r0, %r1}, {%r2, %r3}, %rd1, p;", "SM90_64x8x16_F16F16F16_RS"),
        ("tcgen05.ld.32x32b.x8", "SM100_TMEM_LOAD_32dp32b8x"),
        ("LDSM.16.MT88.4", "SM75_U16x8_LDSM_T"),  # SASS, as cuobjdump prints it
        ("LDSM.16.M88", "SM75_U32x1_LDSM_N"),
        ("STSM.16.MT88.2", "SM90_U16x4_STSM_T"),
        ("MOVM.16.MT88", "SM75_U32x1_MOVM_T"),
        ("HMMA.16816.F32", "SM80_16x8x16_F32F16F16F32_TN"),
        ("HMMA.16816.F16", "SM80_16x8x16_F16F16F16F16_TN"),
        ("HMMA.16816.F32.BF16", "SM80_16x8x16_F32BF16BF16F32_TN"),
        ("HMMA.1684.F32.TF32", "SM80_16x8x4_F32TF32TF32F32_TN"),
        ("IMMA.16832.S8.U8", "SM80_16x8x32_S32S8U8S32_TN"),
        ("IMMA.16832.S8.S8.SAT", "SM80_16x8x32_S32S8S8S32_TN_SATURATE"),
        ("DMMA.884", "SM80_8x8x4_F64F64F64F64_TN"),
        ("DMMA.8x8x4", "SM80_8x8x4_F64F64F64F64_TN"),
        ("BMMA.168256.AND.POPC", "SM80_16x8x256_S32U1U1S32_TN_ANDPOPC"),
        ("UTMALDG.2D", "SM90_TMA_LOAD"),
        ("UTMALDG.3D.MULTICAST.2CTA", "SM100_TMA_2SM_LOAD_MULTICAST"),
        ("warp.LdMatrix8x8x16bOp(num_matrices=4)", "SM75_U32x4_LDSM_N"),
        ("cute.nvgpu.warp.StMatrix8x8x16bOp(True, 2)", "SM90_U16x4_STSM_T"),
        ("cpasync.CopyBulkTensorTileG2SOp()", "SM90_TMA_LOAD"),
        ("cpasync.CopyBulkTensorTileG2SMulticastOp(tcgen05.CtaGroup.TWO)", "SM100_TMA_2SM_LOAD_MULTICAST"),
        ("tcgen05.Ld32x32bOp(tcgen05.Repetition(32), tcgen05.Pack.PACK_16b_IN_32b)", "SM100_TMEM_LOAD_32dp32b32x_16b"),
        ("tcgen05.MmaF16BF16Op(BFloat16, Float32, (128, 128, 16), CtaGroup.ONE, OperandSource.SMEM, OperandMajorMode.K, Major.MN)",
         "SM100_MMA_F16BF16_SS<bfloat16_t,bfloat16_t,float,128,128,UMMA::Major::K,UMMA::Major::MN>"),
        ("SM100::TMEM::LOAD::SM100_TMEM_LOAD_32dp32b8x{}", "SM100_TMEM_LOAD_32dp32b8x"),
        ("cute::SM100::TMEM::UTCCP::SM100_UTCCP_4dp256bit_1cta{}", "SM100_UTCCP_4dp256bit_1cta"),
    ],
)  # fmt: skip
def test_an_operation_by_what_others_call_it(called, op):
    assert cv.parse(called).instruction == cv.parse(op).instruction


def test_a_shape_finds_the_names_with_numbers_in_its_place():
    from cute_viz.spec.listing import search

    for word, first in (("64x32x16", "SM90_64x{N}x16_F32F16F16_SS"), ("m64n32k16", "SM90_64x{N}x16_F32F16F16_SS")):
        assert search(word)[0].name == first
    assert {line.name for line in search("m64n40k32.s32")} == {line.name for line in search("m64n32k32.s32")} - {
        line.name for line in search("m64n32k32.s32") if "48..256/16" in line.ranges
    }
    assert search("64x12x16") == search("65x32x16") == []


@pytest.mark.parametrize(
    ("called", "words"),
    [
        ("ldmatrix.x3", "did you mean ldmatrix.x4"),
        ("m16n8k16", "names 12 instructions"),
        ("tcgen05.mma.cta_group::1.kind::f16", "needs its template arguments"),
        ("QGMMA.64x128x32.F32.E4M3.E4M3", "SM90_64x128x32_F32E4M3E4M3_SS_TN, SM90_64x128x32_F32E4M3E4M3_RS_TN"),
        ("HGMMA.64x64x16.F32.BF16", "fits 2 instructions"),
        ("QMMA.16832.F16.E5M2.E4M3", "SM89_16x8x32_F16E5M2E4M3F16_TN"),
        ("OMMA.SF.16864.F32.E2M1.E2M1.UE8", "use one, for example SM120_16x8x64_TN_VS<A,B,C,SF,VS>"),
        ("LDGSTS.E.BYPASS.128", "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>"),
        ("UTCHMMA.2CTA", "SM100_MMA_F16BF16_2x1SM_SS"),
        ("HGMMA.64x65x16.F32", "'cute-viz list mma HGMMA' lists those"),
        ("HMMA.16816.F32.FOO", "fits 1 instruction"),
        ("warp.LdMatrix8x8x16bOp(False, 3)", "num_matrices is 1, 2, 4"),
        ("warp.NoSuchOp()", "there is no operation warp.NoSuchOp"),
        ("warp.LdMatrix8x8x16bOp(False, 4, 5, 6)", "takes 2 arguments"),
    ],
)
def test_what_no_operation_is_called(called, words):
    with pytest.raises(CuteVizError) as caught:
        cv.parse(called)
    assert words in caught.value.explain()


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("SM80_16x8x16_F32BF16BF16F33_TN", "did you mean SM80_16x8x16_F32BF16BF16F32_TN"),
        ("SM90_64x129x16_F16F16F16_SS", "SM90_64x{N}x16_F16F16F16_SS"),
        ("SM100_MMA_F16BF16_SS", "template arguments"),
        ("SM100_MMA_F16BF16_SS<half_t,half_t,float,128,9>", "N = 9 is not legal"),
        ("SM100_MMA_F16BF16_TS<half_t,half_t,float,128,8>", "N is one of 16..256/16"),
        ("SM100_MMA_S8_SS<int8_t,int8_t,int32_t,128,24>", "N = 24 is not legal"),
        ("SM100_MMA_MXF8F6F4_2x1SM_SS<float_e4m3_t,float_e4m3_t,float,float_ue8m0_t,128,32>", "M = 128 is not legal"),
        ("SM100_MMA_TF32_SS_SCALED<float,float,float,128,8>", "there is no atom"),
        ("SM100_TMEM_LOAD_STAT_32dp32b2x", "there is no atom"),
        ("SM75_U32x4_LDSM_N<int>", "takes none"),
        ("Copy_Atom<SM75_U32x4_LDSM_N>{}", "a value type"),
        ("Copy_Atom<SM75_U32x4_LDSM_N, no_t>{}", "'no_t' has no value"),
    ],
)
def test_wrong_names(written, words):
    with pytest.raises(CuteVizError) as caught:
        cv.parse(written)
    assert words in caught.value.explain()


def test_value_types_that_cute_refuses():
    for key in ATOMS["refused"]:
        op, _, value_type = key.partition("|")
        with pytest.raises(AlgebraError, match="not valid for"):
            make_copy_atom(entry(op).atom(), bits_of(value_type))


def test_a_users_own_library(tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").write_text(
        "library: mma\narch: sm80\nsource: mine\n\n"
        "MY_{M}x8x4:\n  where: {M: 8..32/8}\n  Shape_MNK: (M,8,4)\n  ThrID: 1:0\n  ALayout: (1,(M,4)):(0,(1,M))\n"
        "  BLayout: (1,(8,4)):(0,(1,8))\n  CLayout: (1,(M,8)):(0,(1,M))\n"
    )
    monkeypatch.setenv("CUTE_VIZ_LAYOUTS", str(tmp_path))
    assert unmarked(lookup("MY_24x8x4").layouts["ALayout"]) == "(1,(24,4)):(0,(1,24))"
    assert lookup("MY_25x8x4") is None
    assert lookup("SM80_16x8x16_F32BF16BF16F32_TN") is not None
    assert any(line.name == "MY_{M}x8x4" for line in listing())
    for written in ("MY_24x8x4", "MY_24x8x4{}", "make_tiled_mma(MY_24x8x4{}, (2,1,1))"):
        assert cv.parse(written)
    assert cv.parse("MMA_Atom<MY_24x8x4>{}").shape_mnk == (24, 8, 4)
    for written in ("MY_25x8x4", "MY_25x8x4{}"):
        with pytest.raises(CuteVizError):
            cv.parse(written)


def test_a_mistake_in_a_library_has_its_line(tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").write_text("library: mma\narch: sm80\nsource: mine\n\nMY:\n  Shape_MNK: (8,8,4)\n  TrhID: 1:0\n")
    monkeypatch.setenv("CUTE_VIZ_LAYOUTS", str(tmp_path))
    with pytest.raises(CuteVizError) as caught:
        lookup("MY")
    assert "mine.yaml:7:3" in caught.value.line()
    assert "did you mean ThrID" in caught.value.explain()


FMA = "  Shape_MNK: (1,1,1)\n  ThrID: 1:0\n  ALayout: (1,1):(0,0)\n  BLayout: (1,1):(0,0)\n  CLayout: (1,1):(0,0)\n"


@pytest.fixture
def ours(tmp_path, monkeypatch):
    """A copy of our own library, to write into."""
    copy = tmp_path / "layouts"
    shutil.copytree(library_files.directories()[-1], copy)
    monkeypatch.setattr(library_files, "directories", lambda folders=(): [str(copy)])
    return copy


def test_a_name_is_found_in_every_file(ours, tmp_path, monkeypatch):
    """What is listed is found, also in a file that its name does not lead to."""
    with (ours / "mma" / "universal.yaml").open("a") as file:
        file.write(f"\nSM80_FOO_TN:\n{FMA}\nSM80_16x8x8_F16F16F16F16_TN:\n{FMA}")
    assert "SM80_FOO_TN" in [line.name for line in listing()]
    assert lookup("SM80_FOO_TN").instruction.arch == "universal"
    assert cv.parse("SM80_FOO_TN").shape_mnk == (1, 1, 1)
    assert lookup("SM80_16x8x8_F16F16F16F16_TN").instruction.arch == "sm80"  # the file that the name leads to comes first
    assert lookup("SM80_BAR_TN") is None
    with pytest.raises(CuteVizError, match="did you mean SM80_FOO_TN"):
        cv.parse("SM80_FOOO_TN")


def test_a_name_is_found_in_every_file_of_a_user(tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    own = f"NPU_F32{{A}}{{A}}F32_TN:\n  where: {{A: F16 BF16}}\n{FMA}"
    (tmp_path / "deep" / "sm90.yaml").write_text(f"library: mma\narch: mine\n\nSM80_FOO_TN:\n{FMA}{own}")
    monkeypatch.setenv("CUTE_VIZ_LAYOUTS", str(tmp_path))
    assert lookup("SM80_FOO_TN").instruction.arch == "mine"
    assert lookup("NPU_F32BF16BF16F32_TN").instruction.types == ("bf16", "bf16", "f32", "f32")  # {A} is a word of the name
    shutil.copytree(library_files.directories()[-1], tmp_path / "copy")
    with (tmp_path / "copy" / "copy" / "sm75.yaml").open("a") as file:
        file.write("\nSM80_CP_FOO:\n  inherits: SM75_U32x1_LDSM_N\n")
    assert lookup("SM80_CP_FOO").layouts == lookup("SM75_U32x1_LDSM_N").layouts


def test_every_listed_name_is_found():
    for line in listing():
        name = re.sub(r"\{\w+\}", "64", line.name)
        numbers = {"M": "256" if "2x1SM" in name else "128", "N": "128", "VS": "32"}
        some = "T" if name.startswith("SM100_MMA") else "float"
        args = tuple(numbers.get(item, some) for item in line.args.split() if "=" not in item)
        name = name.replace("XE_64x", "XE_8x")
        given = {"XE_DPAS_TT": ("8", "f", "bf"), "XE_LOAD_2D_TRANSPOSE": ("32", "8", "8")}.get(name, ("8", "8", "16"))
        args = given if line.arch == "xe" and line.args and "matrix" not in line.args else args
        assert library.lookup(name, args, Library.of_environment().folders, library.Gpu(line.arch)), line


def test_the_source_of_an_entry(tmp_path, monkeypatch):
    """Its own, that of the entry it inherits from, or the file's."""
    (tmp_path / "mine.yaml").write_text(
        "library: copy  # of mine\narch: sm80\nsource: >-\n  the\n  file\n\nA:\n  source: a\n    manual\n  ThrID: 1:0\n"
        "  SrcLayout: (1,8):(0,1)\n  DstLayout: (1,8):(0,1)\n  RefLayout: Src\nB: {inherits: A}\n"
        "C:  # its own\n  inherits: A\n  source: another\nD:\n  reverse: A\nE:\n  reverse: A\n  source: mine\n'F':\n  reverse: B\n"
    )
    monkeypatch.setenv("CUTE_VIZ_LAYOUTS", str(tmp_path))
    found = {name: describe(name)["source"] for name in "ABCDEF"}
    assert found == {"A": "a manual", "B": "a manual", "C": "another", "D": "the file", "E": "mine", "F": "the file"}
    assert "copy" not in describe("SM90_16x8x8_F64F64F64F64_TN")["source"]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("MY:\n  inherits: YOURS\n", "4:13", "which this file does not have"),
        ("MY:\n  inherits: YOURS\nYOURS:\n  inherits: MY\n", "6:13", "inherits from itself"),
        ("MY:\n  reverse: YOURS\n", "4:3", "reverse is not a field of mma operations"),
        ("MY:\n  types: f32 f16\n" + FMA, "4:10", "those of D, A, B and C"),
        ("MY:\n", "3:1", "needs fields"),
        ("MY: 8:1\n", "3:5", "needs fields"),
        ("MY:\n  ThrID: [1]\n", "4:10", "must be text"),
        ("MY:\n  where: 8\n" + FMA, "4:10", "where must be a mapping"),
        ("M{Y}:\n  where: {Y: 8..x}\n" + FMA, "4:14", "'8..x' is not a range"),
        ("M{Y}:\n  where: {Y: 8..64/0}\n" + FMA, "4:14", "not a range"),
        ("MY:\n" + FMA.replace("(1,1,1)", "(1,1)"), "4:14", "Shape_MNK must be (M,N,K)"),
        ("MY:\n" + FMA.replace("1:0", "X"), "5:10", "ThrID is not a layout"),
        ("MY:\n" + FMA.replace("ALayout: (1,1):(0,0)", "ALayout: 4"), "6:12", "ALayout is not a layout"),
        ("MY:\n" + FMA.replace("(0,0)\n  B", "(0,Q)\n  B"), "6:21", "'Q'"),
        ("MY:\n" + FMA.replace("ALayout: (1,1):(0,0)", "ALayout: Src"), "6:12", "comes after it"),
        ("MY:\n  K: {a: 1}\n" + FMA, "4:6", "none of a is among the parameters"),
        ("MY:\n  incongruent: ALayout\n" + FMA.replace("(0,0)\n  B", "(0,\n  B"), "7:12", ""),
    ],
)
def test_mistakes_in_a_library_have_their_place(text, place, words, tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").write_text(f"library: mma\narch: sm80\n{text}")
    monkeypatch.setenv("CUTE_VIZ_LAYOUTS", str(tmp_path))
    with pytest.raises(CuteVizError) as caught:
        lookup("M8" if "{" in text.splitlines()[0] else "MY")
    assert words in caught.value.message
    assert caught.value.line().startswith(f"{tmp_path / 'mine.yaml'}:{place}: ")


def test_a_parameter_that_comes_again_is_the_same(tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").write_text(
        f"library: mma\narch: sm80\nMY_{{M}}x{{M}}:\n  where: {{M: 8 16 32..64/16}}\n{FMA.replace('(1,1,1)', '(M,M,1)')}"
    )
    monkeypatch.setenv("CUTE_VIZ_LAYOUTS", str(tmp_path))
    text = (tmp_path / "mine.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(f"{text}  partial: ALayout BLayout CLayout\n")
    assert [n for n in range(70) if lookup(f"MY_{n}x{n}")] == [8, 16, 32, 48, 64]
    assert lookup("MY_8x16") is None
    assert [line.name for line in listing()][:1] == ["MY_{M}x{M}"]


PIECES = ["A", "x", "_", "8", "", "12"]
DOMAINS = ["8..64/8", "A x", "x xx xxx", "-none _", "", "8 A8 1..9"]


@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(DOMAINS)), max_size=4), st.sampled_from(PIECES), st.data())
def test_parameters_are_those_that_a_regular_expression_finds(parts, last, data):
    """With the first of its ways; a name is one of the pattern's, or any other."""
    pattern = Pattern("".join(f"{literal}{{p{n}}}" for n, (literal, _) in enumerate(parts)) + last)
    domains = {f"p{n}": domain for n, (_, domain) in enumerate(parts)}
    expression = ""
    for n, (literal, domain) in enumerate(parts):
        words = [r"\d+" if ".." in word else re.escape(word.replace("-none", "")) for word in domain.split()] or [r"\w+"]
        expression += f"{re.escape(literal)}(?P<p{n}>{'|'.join(words)})"
    like = re.compile(expression + re.escape(last))
    name = data.draw(st.from_regex(like, fullmatch=True) | st.text("Ax_812", max_size=12))
    found = like.fullmatch(name)
    assert pattern.bind(name, domains) == (found and found.groupdict())


@pytest.mark.parametrize(("where", "letter"), [("A AA AAA", "A"), ("-none A", "A"), ("1..9", "1"), ("", "A")])
def test_a_name_with_many_parameters_is_found_in_no_time(where, letter, tmp_path, monkeypatch):
    """A regular expression would try every way of parting the name."""
    key = "M" + "".join(f"{{p{n}}}" for n in range(12)) + "Z"
    domains = "".join(f"    p{n}: {where}\n" for n in range(12) if where)
    (tmp_path / "mine.yaml").write_text(f"library: mma\narch: sm80\n{key}:\n" + ("  where:\n" if where else "") + domains + FMA)
    monkeypatch.setenv("CUTE_VIZ_LAYOUTS", str(tmp_path))
    start = time.process_time()
    if where:
        assert lookup("M" + letter * 12 + "Z") is not None
    else:
        with pytest.raises(CuteVizError, match=r"the values of \{p0\} are not given"):
            lookup("M" + letter * 12 + "Z")
    assert lookup("M" + letter * 60 + "-Z") is lookup("M" + letter * 3000) is None
    assert time.process_time() - start < 3  # it takes milliseconds, and a regular expression years


def test_a_family_has_so_many_names(tmp_path, monkeypatch):
    """They are listed where a name is not found, to tell the nearest."""
    key, domains = "".join(f"_{{p{n}}}" for n in range(12)), "".join(f"    p{n}: A B C\n" for n in range(12))
    (tmp_path / "mine.yaml").write_text(f"library: mma\narch: sm80\nM{key}:\n  where:\n{domains}{FMA}")
    monkeypatch.setenv("CUTE_VIZ_LAYOUTS", str(tmp_path))
    assert cv.parse("M" + "_B" * 12).shape_mnk == (1, 1, 1)
    with pytest.raises(LimitError, match=r"mine\.yaml:3:1: M_{p0}.* has 531441 names"):
        cv.parse("SM80_FOO")


def test_two_files_of_a_folder_do_not_define_one_name(tmp_path):
    """Of two folders the first counts."""
    for name in ("one/a", "two/a", "two/b"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.yaml").write_text(f"library: mma\narch: {name[:3]}\nMY:\n{FMA}")
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    assert cv.parse("MY", layouts=(one, two)).name == "MY"
    with pytest.raises(CuteVizError, match=r"b\.yaml:3:1: MY is in .*a\.yaml, too"):
        cv.parse("MY", layouts=(two, one))


def test_a_file_that_is_no_text(tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").write_bytes(b"library: mma\n# \xe9\n")
    monkeypatch.setenv("CUTE_VIZ_LAYOUTS", str(tmp_path))
    with pytest.raises(CuteVizError, match="not UTF-8"):
        lookup("SM80_16x8x16_F32BF16BF16F32_TN")


@pytest.mark.parametrize("name", [f"SM90_64x{'9' * 5000}x16_F16F16F16_SS", f"SM90_TMA_LOAD<{'9' * 5000}>"])
def test_more_digits_than_python_reads(name):
    with pytest.raises(CuteVizError):
        cv.parse(name)
