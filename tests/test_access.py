"""Accesses of shared memory, the swizzle search, and the figures of banks, addresses, bits and phases."""

from __future__ import annotations

import gzip
import itertools
import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cute_viz.algebra.composed import ComposedLayout, domain
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.analysis import shared_wavefronts
from cute_viz.analysis.access import WarpAccess, accesses, element_bits, global_request
from cute_viz.analysis.banks import phases
from cute_viz.analysis.patterns import MATRICES, PATTERNS, named_accesses, warp_addresses
from cute_viz.analysis.swizzle_steps import on_coordinates, steps_of, swizzle_steps
from cute_viz.analysis.swizzles import MODES, explain_choice, search
from cute_viz.errors import AlgebraError, CuteVizError, FigureError, LimitError
from cute_viz.figures import build
from cute_viz.figures.frames import frames
from cute_viz.figures.model import CONFLICT
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.phases import strip
from cute_viz.renderers import render
from cute_viz.source.text import parse
from cute_viz.spec import resolve
from cute_viz.spec.build import read_specs
from tests import readback
from tests.commands import fails, run

MMA = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))"
MMA8 = "SM80_16x8x8_F32TF32TF32F32_TN"
LDSM = f"make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N,half_t>{{}}, {MMA})"
G2S = "make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint128_t>,half_t>{}, (16,8):(8,1), (1,8))"


def obj(text):
    return parse(text, resolve=resolve)


def layout(text):
    """The object of a text, a bare shape as a layout."""
    value = obj(text)
    return Layout(value) if isinstance(value, tuple) else value


def smem(swizzle: str, rows: int = 128) -> object:
    return obj(f"tile_to_shape({swizzle} (8,64):(64,1), ({rows},64))")


def _ways(access: WarpAccess) -> int:
    """n of an n-way conflict: the words in the fullest bank of any phase."""
    return max(phase.wavefronts for phase in access.phases())


class TestAccesses:
    def test_ldmatrix_of_the_a_operand(self):
        plain = accesses(smem(""), 16, obj(LDSM))
        swizzled = accesses(smem("Sw<3,3,3> o 0 o"), 16, obj(LDSM))
        # 64x16 of the tile at a time, 4 warps of which two read the same rows; 2 x 4 tiles in 128x64, 2 atoms each.
        assert len(plain) == len(swizzled) == 4 * 2 * 4 * 2
        assert {a.instruction for a in plain} == {"ldmatrix.x4"}
        assert {(a.wavefronts, a.ideal, _ways(a)) for a in plain} == {(32, 4, 8)}
        assert {(a.wavefronts, a.ideal, _ways(a)) for a in swizzled} == {(4, 4, 1)}

    def test_cp_async_writes_rows_freely_either_way(self):
        for text in ("", "Sw<3,3,3> o 0 o"):
            found = accesses(smem(text), 16, obj(G2S), store=True)
            assert {(a.instruction, a.wavefronts) for a in found} == {("st.128", 4)}

    def test_an_operand_of_an_mma_read_without_ldmatrix(self):
        found = accesses(smem("Sw<3,3,3> o 0 o"), 16, obj(MMA), operand="A")
        assert {a.instruction for a in found} == {"ld.32"}  # two neighbouring halves a register
        assert {a.wavefronts for a in found} == {1}

    def test_the_type_of_an_operand_wants_the_operand(self):
        for operand, words in ((None, "the operand of the MMA is missing"), ("D", "no operand D")):
            with pytest.raises(AlgebraError, match=words):
                element_bits(Layout((16, 16)), obj(MMA), operand=operand)

    def test_the_widest_access_that_the_layout_allows(self):
        tv = Layout((32, 8), (8, 1))
        wide = {a.instruction for a in accesses(Layout((256, 1)), 16, tv)}
        apart = {a.instruction for a in accesses(Layout((256, 1), (2, 0)), 16, tv)}
        assert (wide, apart) == ({"ld.128"}, {"ld.32"})

    def test_rows_of_ldmatrix_have_16_bytes_however_many_values_a_thread_has(self):
        tile, tv = Layout((8, 64), (64, 1)), layout("((8,4),16):((1,128),8)")
        found = accesses(tile, 16, tv, instruction="ldmatrix.x4")
        assert [a.addresses[:9] for a in found] == [(*range(n, 1024, 128), 32 + n) for n in (0, 16)]

    @given(st.permutations(range(5)), st.sampled_from([8, 16, 32]))
    def test_wavefronts_are_the_models(self, order, bits):
        """A TV layout of one element a lane: the addresses are those of the tile's elements, in lane order."""
        strides = tuple(2**n for n in order)
        tile = Layout(((2,) * 5, 4), (strides, 32))
        (first, *rest) = accesses(tile, bits, Layout((32, 4), (1, 32)), instruction="ld.32" if bits == 32 else None)
        table = [tile(i) * bits // 8 // 4 * 4 for i in range(32)]
        assert first.wavefronts == shared_wavefronts(table, "ld.32")
        assert len(rest) == 3

    @pytest.mark.parametrize(
        ("tile", "by", "options", "expected"),
        [
            ("(8,4):(4,1)", "SM80_8x8x4_F64F64F64F64_TN", {"operand": "A"}, {"ld.64"}),
            ("(8,8):(8,1)", "SM80_8x8x4_F64F64F64F64_TN", {"operand": "C"}, {"ld.128"}),
            ("(16,8):(8,1)", MMA8, {"operand": "C"}, {"ld.64"}),
            ("(16,8):(8,1)", MMA8, {"operand": "C", "bits": 16}, {"ld.32"}),  # accumulators stored as halves
            ("(16,32):(32,1)", "make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>,float>{}, (16,8):(8,1), (1,4))", {}, {"ld.128"}),
            ("Sw<2,4,3> o smem_ptr[32b](unset) o (8,16):(16,1)", "(32,4):(4,1)", {}, {"ld.32"}),
            ("Sw<2,4,3> o smem_ptr[32b](unset) o (16,8):(8,1)", MMA8, {"operand": "A"}, {"ld.32"}),
            ("(8,16)", "(32,4):(4,1)", {"bits": 16}, {"ld.64"}),
        ],
    )
    def test_the_element_is_that_of_the_access_or_of_the_pointer(self, tile, by, options, expected):
        options = {"bits": None, **options}
        assert {a.instruction for a in accesses(layout(tile), by=layout(by), **options)} == expected

    @pytest.mark.parametrize(
        ("tile", "bits", "by", "words"),
        [
            ("(128,64):(64,1)", 32, G2S, "the given type has 32 bits, but a value of the copy has 16"),
            (
                "Sw<3,4,3> o smem_ptr[8b](unset) o (16,64):(64,1)",
                None,
                G2S,
                "shared-memory layout has 8 bits, but a value of the copy has 16",
            ),
            (
                "Sw<3,4,3> o smem_ptr[8b](unset) o (8,64):(64,1)",
                16,
                "(32,2)",
                "given type has 16 bits, but the pointer of the shared-memory",
            ),
            ("(8,8)", None, "SM80_8x8x4_C64C64C64C64_TN", "c64 is not a value type that is known"),
        ],
    )
    def test_element_types_that_contradict_each_other_are_refused(self, tile, bits, by, words):
        with pytest.raises(AlgebraError, match=words):
            accesses(layout(tile), bits, layout(by), operand="A" if by.startswith("SM80") else None)

    @pytest.mark.parametrize(
        ("tile", "by", "options", "instruction", "wavefronts", "instructions"),
        [
            ("(64,64):(64,1)", "(32,32):(1,64)", {}, "ld.128", 8, 1),  # 32 elements of 4 bits, rows of 32 bytes
            ("(64,64):(64,1)", "(32,32):(1,64)", {"store": True}, "st.128", 8, 1),
            ("(64,64):(64,1)", "(32,8):(1,64)", {}, "ld.32", 8, 1),
            ("(64,64):(1,64)", "(32,32):(1,64)", {}, "ld.32", 1, 32),  # no two of a thread lie together: each with its byte
            ("(16,64):(64,1)", "SM80_16x8x64_S32S4S4S32_TN", {"operand": "A"}, "ld.32", 2, 4),
        ],
    )
    def test_elements_smaller_than_a_byte(self, tile, by, options, instruction, wavefronts, instructions):
        found = accesses(layout(tile), 4, layout(by), **options)
        assert (found[0].instruction, found[0].wavefronts, len(found)) == (instruction, wavefronts, instructions)

    def test_reductions_cost_what_a_device_counted(self):
        measured = json.loads(gzip.decompress((Path(__file__).parent / "data" / "reductions.json.gz").read_bytes()))
        assert len(measured["red"]) == 91
        assert all(shared_wavefronts(addresses, "red.32") == count for addresses, count in measured["red"])
        stores = [(shared_wavefronts(at, f"st.async.{bits}"), count) for bits, at, count in measured["st.async"]]
        assert all(ours < count + 0.2 for ours, count in stores)
        assert sum(abs(ours - count) < 0.2 for ours, count in stores) == 104

    def test_what_a_device_does_not_confirm_is_said(self):
        words = ["(64,64):(64,1)", "--type", "f32", "--access", "(32,4):(1,64)"]
        assert "(a lower bound, as for a plain store" in run("analyze", *words, "--instruction", "st.async.128").stdout.decode()
        assert "(of integers; " in run("analyze", *words, "--instruction", "red.32").stdout.decode()
        found = run("analyze", *words, "--instruction", "red.128", "--global").stdout.decode()
        assert "32 sectors of 32 bytes in 1 request" in found
        assert b"a compare-and-swap loop" in run("analyze", *words, "--instruction", "red.128").stderr

    @pytest.mark.parametrize(
        ("tile", "bits", "by", "options", "words"),
        [
            ("(8,8)", 6, "(32,2)", {}, "6 bits cannot be moved by a single"),
            ("(8,8)", 4, "(32,2)", {"store": True}, "2 elements of 4 bits share a byte"),
            ("(64,64):(68,1)", 16, G2S, {}, "moves 16 bytes, aligned to 16; lane 8 begins at byte 136: .*misaligned address"),
            ("Sw<2,2,3> o 0 o (64,64):(64,1)", 16, G2S, {}, "moves 16 contiguous bytes; those of lane 4 do not"),
            ("(8,8)", 24, "(32,2)", {}, "24 bits cannot be moved by a single"),
            ("(8,8,2)", 16, "(32,2)", {}, "3 modes"),
            ("(48,16):(16,1)", 16, LDSM, {}, "does not divide"),
            ("(64,8)", 32, "make_tiled_copy(Copy_Atom<UniversalCopy<uint32_t>,float>{}, (8,4,1), (1,2,2))", {}, "is of rank 3"),
            ("(64,8)", 32, "make_tiled_copy(Copy_Atom<UniversalCopy<uint32_t>,float>{}, (32), (4))", {}, "is of rank 1"),
            ("(64,64):(64,1)", 16, MMA, {}, "the operand of the MMA is missing"),
            ("(64,64):(64,1)", 16, "Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}", {}, "does not cover a tile"),
            ("(64,64)", 16, LDSM, {}, "rows of 16 bytes"),
            (
                "(8,64):(64,1)",
                16,
                "((8,4),12):((1,64),8)",
                {"instruction": "ldmatrix.x4"},
                "rows of 16 bytes; a thread has 12 values",
            ),
            ("(8,32)", 16, "(32,8):(1,32)", {"instruction": "ld.128"}, "next to each other"),
            ("(8,32)", 16, "(32,8):(1,32)", {"instruction": "ld.99"}, "there is no access"),
            ("(8,32)", 16, "Sw<1,1,1>", {}, "is not an access"),
            ("(8,64):(65,1)", 16, "((8,4),8):((1,64),8)", {"instruction": "ld.128"}, "aligned to 16; lane 1 begins at byte 130"),
            ("(8,64):(65,1)", 16, "((8,4),8):((1,64),8)", {"instruction": "ldmatrix.x4"}, "aligned to 16; lane 1"),
            ("(32,64)", 16, "(32,1)", {"instruction": "ld.32"}, "4 bytes of a lane; a thread has 1 values of 2 bytes"),
            ("(32,64):(64,1)", 16, "(32,12):(1,32)", {"instruction": "ld.128"}, "12 values of 2 bytes, not a multiple of 8"),
            ("(64,8)", 64, "(32,2):(1,128)", {"instruction": "ld.32"}, "4 bytes of a lane; an element has 8"),
            ("(64,8)", 256, "(32,2):(1,128)", {}, "256 bits cannot be moved by a single"),
            ("(8,64):(64,1)", 16, "(8,8):(1,8)", {"instruction": "ldmatrix.x4"}, "addresses of 32 rows.* has 8 lanes"),
            ("(8,64):(64,1)", 16, "((8,4),8):((1,64),8)", {"instruction": "ldmatrix.x2"}, "first 16 lanes; lane 16 asks"),
            ("(128,64):(64,1)", 16, G2S, {"instruction": "ld.32", "store": True}, "reads, and the tile is written"),
            ("(128,64):(64,1)", 16, G2S, {"operand": "D"}, "only an MMA has an operand D"),
            ("(8,32)", 16, "(32,8)", {"operand": "A"}, "only an MMA has an operand A"),
            ("(64,64):(64,1)", 16, MMA, {"operand": "D"}, "no operand D"),
        ],
    )
    def test_refusals(self, tile, bits, by, options, words):
        with pytest.raises(CuteVizError, match=words):
            accesses(layout(tile), bits, layout(by), **options)

    @pytest.mark.parametrize(
        ("op", "mma", "name"),
        [("U32x1_LDSM_N", "16x8x8", "x1"), ("U32x2_LDSM_N", "16x8x16", "x2"), ("U16x4_LDSM_T", "16x8x16", "x2.trans")],
    )
    def test_lanes_beyond_the_rows_of_ldmatrix_repeat_them(self, op, mma, name):
        by = layout(f"make_tiled_copy_B(Copy_Atom<SM75_{op},half_t>{{}}, make_tiled_mma(SM80_{mma}_F32F16F16F32_TN{{}}))")
        tile = Layout((64, 64), (1, 64) if "T" in op else (64, 1))
        assert {a.instruction for a in accesses(tile, 16, by)} == {f"ldmatrix.{name}"}

    def test_an_instruction_that_stores_writes_the_tile(self):
        tile, by = layout("(16,16):(16,1)"), layout("make_tiled_copy(Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}, (16,2), (1,8))")
        assert accesses(tile, 16, by, instruction="st.32") == accesses(tile, 16, by, instruction="st.32", store=True)

    def test_the_side_of_a_copy_that_reaches_the_tile(self):
        """cp.async writes shared memory and reads global memory; what an instruction does not reach is refused in one way."""
        tile, by = (
            layout("Sw<3,3,3> o 0 o (16,64):(64,1)"),
            layout("make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint128_t>,half_t>{}, (16,8):(8,1), (1,8))"),
        )
        assert accesses(tile, 16, by) == accesses(tile, 16, by, store=True)
        assert accesses(tile, 16, by)[0].instruction == "st.128"
        assert accesses(tile, 16, by, space="gmem")[0].instruction == "ld.128"
        matrix = layout("make_tiled_copy(Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}, (16,2), (1,8))")
        for how, words in (({"store": True}, "not to shared memory"), ({"space": "gmem"}, "not from global memory")):
            with pytest.raises(AlgebraError, match=f"SM75_U32x4_LDSM_N copies from shared memory to registers, {words}"):
                accesses(layout("(16,16):(16,1)"), 16, matrix, **how)

    @pytest.mark.parametrize("name", ["SM90_64x64x16_F32F16F16_SS", "SM90::GMMA::SPARSE::GMMA_64x64x32_F32F16F16_SS"])
    def test_what_reads_through_descriptors_is_refused_sparse_or_dense(self, name):
        mma = layout(f"{name}<GMMA::Major::K,GMMA::Major::K>{{}}")
        with pytest.raises(AlgebraError, match="reads B through descriptors"):
            accesses(layout("(64,32):(32,1)"), 16, mma, operand="B")

    def test_too_many_elements(self):
        with pytest.raises(LimitError, match="the limit is"):
            accesses(Layout((2048, 2048)), 16, Layout((1024, 4096)))

    def test_a_tile_of_too_many_elements_is_refused_before_it_is_tabulated(self):
        with pytest.raises(LimitError, match="tile has 10000000000 elements; the limit is"):
            accesses(Layout((100_000, 100_000)), 16, Layout((32, 1), (1, 0)))


def test_global_requests():
    row = global_request([4 * lane for lane in range(32)], 4)
    column = global_request([512 * lane for lane in range(32)], 4)
    assert (row.sectors, row.lines, row.efficiency, row.alignment) == (4, 1, 1.0, 4)
    assert (column.sectors, column.lines, column.efficiency, column.alignment) == (32, 32, 0.125, 128)
    assert global_request([16 * lane + 4 for lane in range(32)], 4, mask=0b1).efficiency == 0.125


class TestSearch:
    @pytest.mark.parametrize(
        ("rows", "cols", "bits", "patterns", "winner"),
        [
            (8, 64, 16, ["ldmatrix"], "Sw<3,3,3>"),
            (64, 64, 16, ["ldmatrix", "cp.async"], "Sw<3,3,3>"),
            (64, 32, 16, ["ldmatrix", "cp.async"], "Sw<2,3,3>"),
            (64, 128, 8, ["ldmatrix", "cp.async"], "Sw<3,4,3>"),
            (32, 32, 32, ["rows", "column"], "Sw<5,0,5>"),
        ],
    )
    def test_known_answers(self, rows, cols, bits, patterns, winner):
        found = search(rows, cols, bits, patterns)
        assert found[0].name == winner
        assert found[0].wavefronts == found[0].ideal
        assert found == sorted(found, key=lambda c: c.wavefronts)

    @pytest.mark.parametrize("name", ["cp.async", "column.128", "column", "rows"])
    def test_costs_are_those_of_the_bank_model(self, name):
        bits = 32
        access = "st.128" if "." in name else "st.32"
        for c in search(32, 32, bits, [name]):
            move = c.swizzle or (lambda e, pad=c.padding: e + e // 32 * pad)
            warps = [[move(a // 4) * 4 for a in warp] for warp in warp_addresses(name, 32, 32, bits)]
            assert all(len(warp) == 32 for warp in warps)
            assert c.wavefronts == sum(shared_wavefronts(warp, access) for warp in warps), c.name

    @pytest.mark.parametrize(
        ("rows", "cols", "bits", "name"),
        [
            *((24, 40, 32, "rows"), (33, 20, 64, "column"), (10, 48, 128, "column")),
            *(pytest.param(*x, marks=pytest.mark.slow) for x in ((64, 96, 32, "column"), (96, 32, 32, "column.128"))),
        ],
    )
    def test_phases_that_are_put_together_cost_the_same(self, rows, cols, bits, name):
        """Tiles whose rows are no power of 2, or longer than all banks; inactive lanes at the ends of lines."""
        width = 128 if "." in name else bits
        for c in search(rows, cols, bits, [name]):
            move = c.swizzle or (lambda e, pad=c.padding: e + e // cols * pad)
            total = 0
            for warp in warp_addresses(name, rows, cols, bits):
                moved = [move(a * 8 // bits) * bits // 8 for a in warp]
                total += shared_wavefronts(moved + [0] * (32 - len(moved)), f"st.{width}", (1 << len(moved)) - 1)
            assert c.wavefronts == total, c.name

    @given(st.integers(1, 24), st.sampled_from([8, 16, 24, 32, 40]))
    def test_every_candidate_stays_in_its_tile_and_keeps_vectors(self, rows, cols):
        for c in search(rows, cols, 16, ["cp.async"]):
            if c.swizzle is not None:
                assert {c.swizzle(i) for i in range(rows * cols)} == set(range(rows * cols))
                assert c.swizzle.base >= 3

    def test_modes_of_the_hardware_are_named(self):
        by_name = {c.name: c.mode for c in search(64, 64, 16, ["ldmatrix"])}
        assert [by_name[f"Sw<{b},3,3>"] for b in MODES] == ["32B", "64B", "128B"]
        assert by_name["Sw<3,3,4>"] == ""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((8, 8, 4, ["rows"]), "whole bytes"),
            (
                (20, 64, 16, ["ldmatrix"]),
                "ldmatrix moves 16 rows of 32 bytes at once, which do not divide the tile of 20 rows of 128 bytes",
            ),
            ((16, 24, 16, ["ldmatrix"]), "do not divide the tile of 16 rows of 48 bytes"),
            ((4, 64, 16, ["stmatrix"]), "stmatrix moves 16 rows"),
            ((12, 64, 16, ["ldmatrix.x1"]), "ldmatrix.x1 moves 8 rows of 16 bytes"),
            ((8, 24, 16, ["ldmatrix.x2"]), "ldmatrix.x2 moves 8 rows of 32 bytes"),
            ((128, 21, 24, ["column", "rows"]), "24 bits cannot be moved by a single instruction"),
            ((16, 8, 256, ["rows"]), "256 bits cannot be moved by a single"),
            ((8, 4, 16, ["ldmatrix"]), "16-byte chunks"),
            ((1024, 1024, 16, ["rows"]), "^a tile of 2097152 bytes; the limit"),
        ],
    )
    def test_refusals(self, arguments, words):
        with pytest.raises(CuteVizError, match=words):
            search(*arguments)

    @given(st.integers(1, 40), st.integers(1, 6), st.sampled_from(sorted(PATTERNS)))
    def test_a_pattern_moves_the_whole_tile_or_refuses(self, rows, chunks, name):
        down, across = MATRICES.get(name, (1, 1))
        if (rows % down and rows != 8) or (chunks % across and chunks != 1):
            with pytest.raises(AlgebraError, match="do not divide the tile"):
                warp_addresses(name, rows, 4 * chunks, 32)
            return
        warps = list(warp_addresses(name, rows, 4 * chunks, 32))
        moved = [a + at for warp in warps for a in warp for at in range(0, 4 if name in ("rows", "column") else 16, 4)]
        assert sorted(moved) == list(range(0, rows * chunks * 16, 4))

    @pytest.mark.parametrize(("rows", "cols"), [(8, 64), (8, 8), (32, 8)])
    def test_half_an_instruction_costs_half(self, rows, cols):
        whole, matrices = (search(rows, cols, 16, [name])[0] for name in ("ldmatrix", "ldmatrix.x1"))
        assert (whole.wavefronts, whole.ideal) == (matrices.wavefronts, matrices.ideal)

    def test_a_tile_of_no_mode_is_one_element(self):
        """Not an index out of range."""
        assert [one.wavefronts for one in named_accesses(Layout((), ()), "rows", 32)] == [1]

    def test_an_unknown_access_is_named_with_its_neighbour(self):
        with pytest.raises(AlgebraError) as caught:
            search(8, 64, 16, ["ldmatrx"])
        assert "ldmatrix" in caught.value.hint


class TestSwizzleInWords:
    @given(st.permutations(range(6)), st.integers(1, 5), st.integers(1, 3), st.integers(0, 3), st.integers(-4, 4))
    def test_the_formula_is_the_swizzle(self, order, cut, b, m, s):
        assume(abs(s) >= b)
        swizzle = Swizzle(b, m, s)
        strides = [2**n for n in order]
        layout = Layout(((2,) * cut, (2,) * (6 - cut)), (tuple(strides[:cut]), tuple(strides[cut:])))
        words = on_coordinates(swizzle, layout)
        if words is None or words.startswith("nothing"):
            assert words is None or all(swizzle(layout(i)) == layout(i) for i in range(64))
            return
        name, formula = words.split(" -> ")
        for i in range(64):
            at = {"m": i % 2**cut, "n": i >> cut}
            moved = {**at, name: eval(formula, {}, at)}
            assert layout(moved["m"] + (moved["n"] << cut)) == swizzle(layout(i))

    def test_the_hand_written_index(self):
        """m + 64 * (k ^ ((m >> 3) & 7)) of a kernel is a swizzle of a column-major tile."""
        path = Path(__file__).parent.parent / "layouts" / "specs" / "swizzles.yaml"
        tile = next(spec.obj for spec in read_specs(path.read_text(), str(path)) if spec.name == "xor_by_hand")
        for m in range(64):
            for k in range(8):
                assert tile((m, k)) == m + 64 * (k ^ ((m >> 3) & 7))

    def test_code(self):
        for swizzle in (Swizzle(3, 3, 3), Swizzle(2, 4, -3), Swizzle(1, 0, 1), Swizzle(5, 0, 5)):
            code = swizzle_steps(swizzle)[2].words.removeprefix("as code: ")
            assert all(eval(code, {}, {"offset": x}) == swizzle(x) for x in range(2048))


class TestFigures:
    def test_banks_before_and_after_share_colours(self):
        layout = ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))
        figure = build(layout, FigureOptions(view="banks", bits=16))
        before, after = figure.panels
        for panel, at in ((before, layout.inner), (after, layout)):
            bytes_ = [2 * at((r, c)) for r in range(8) for c in range(64)]
            assert list(panel.data["byte"]) == bytes_
            assert list(panel.data["bank"]) == [b // 4 % 32 for b in bytes_]
            assert list(panel.labels) == [str(b // 4 % 32) for b in bytes_]
        of = {}
        for panel in (before, after):
            for byte, paint in zip(panel.data["byte"], panel.paints, strict=True):
                assert of.setdefault(byte % 128 // 16, paint) == paint
        assert len(set(of.values())) == 8
        assert len(after.boxes) == 64  # each 16-byte chunk is boxed

    def test_wide_elements_span_banks(self):
        figure = build(Layout((2, 2), (2, 1)), FigureOptions(view="banks", bits=64))
        assert figure.panels[0].labels == ("0-1", "2-3", "4-5", "6-7")

    @pytest.mark.parametrize("bits", [1, 4, 6, 12, 24, 32, 96, 1024, 1056, 4096])
    def test_banks_follow_from_bits(self, bits):
        figure = build(Layout((4, 64), (64, 1)), FigureOptions(view="banks", bits=bits))
        for offset, label in enumerate(figure.panels[0].labels):
            touched = list(dict.fromkeys(bit // 32 % 32 for bit in range(offset * bits, (offset + 1) * bits)))
            ends = (0, 31) if len(touched) == 32 else (touched[0], touched[-1])
            assert label == (str(ends[0]) if len(touched) == 1 else f"{ends[0]}-{ends[1]}")
        assert figure.facts["bytes"] == 256 * bits // 8

    def test_addresses_are_the_inverse(self):
        layout = ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))
        (panel,) = build(layout, FigureOptions(view="address", bits=16)).panels
        assert (panel.rows, panel.cols) == (8, 64)
        for offset, label in enumerate(panel.labels):
            assert layout(tuple(map(int, label.split(",")))) == offset

    def test_holes_and_aliases_are_told(self):
        (hole,) = build(Layout((2, 2), (1, 4)), FigureOptions(view="address", bits=32)).notes
        aliased = build(Layout((2, 2), (1, 0)), FigureOptions(view="address", bits=32)).notes
        assert "28 places hold nothing" in hole
        assert any("2 elements share an address" in note for note in aliased)

    @pytest.mark.parametrize(
        ("text", "options", "words"),
        [
            ("(2,2,2):(1,2,4)", {"view": "banks"}, "3 modes"),
            ("(2,2):(1,2)", {"view": "address", "bits": 4}, "by address"),
            ("(2,2):(1,2)", {"view": "address", "bits": 24}, "by address(.|\n)*8, 16, 32, 64"),
            ("(2,2):(-1,2)", {"view": "address"}, "negative"),
            ("(1024,1024):(1,1024)", {"view": "banks"}, "cells; the limit"),
            ("(2,2):(1,1000000000)", {"view": "address"}, "cells; the limit"),
        ],
    )
    def test_refusals(self, text, options, words):
        with pytest.raises((FigureError, LimitError), match=words):
            build(obj(text), FigureOptions(**options))

    @given(st.integers(1, 5), st.integers(0, 5), st.integers(-8, 8))
    def test_bits_say_what_the_swizzle_does(self, b, m, s):
        assume(abs(s) >= b)
        swizzle = Swizzle(b, m, s)
        (panel,) = build(swizzle).panels
        out = panel.labels[panel.cols :]
        for bit in range(panel.cols):
            word = out[panel.cols - 1 - bit]
            sources = [int(part[1:]) for part in word.split("⊕")]
            value = sum(1 << i for i in sources[:1]) | (1 << sources[-1])
            assert sources[0] == bit
            if len(sources) == 2:  # the XOR of two set bits is clear, of one it is set
                assert not swizzle(value) >> bit & 1
                assert swizzle(1 << sources[1]) >> bit & 1
            else:
                assert swizzle(1 << bit) >> bit & 1

    def test_the_phase_strip_marks_conflicts_without_colour(self):
        (access,) = accesses(Layout((32, 1), (32, 0)), 32, Layout((32, 1)))
        figure = strip("title", "source", [("", access.phases())], 1, "note")
        (panel,) = figure.panels
        assert panel.row_ruler.labels == tuple(f"0.{n}" for n in range(32))
        assert panel.labels[::32] == tuple(f"T{n}" for n in range(32))
        for kind in ("svg", "tikz", "text", "json"):
            assert render(figure, kind)


class TestCommands:
    def test_analyze(self):
        words = ("--access", "((8,4),8):((1,64),8)", "--instruction", "ldmatrix.x4", "--json")
        assert b"the width of an element is not known" in run("analyze", "(8,64):(64,1)", *words).stderr
        result = run("analyze", "(8,64):(64,1)", *words, "--type", "f16")
        assert result.returncode == 0, result.stderr
        report = json.loads(result.stdout)
        (step,) = [s for s in report["steps"] if s["step"] == 0]
        assert report["wavefronts"] == sum(s["wavefronts"] for s in report["steps"])
        for conflict in step["conflicts"]:
            assert len(conflict["lanes"]) == step["phases"][conflict["phase"]]

    def test_analyze_says_the_same_in_lines(self, tmp_path):
        out = tmp_path / "phases.svg"
        result = run("analyze", "tile_to_shape((8,64):(64,1), (128,64))", "--access", LDSM, "-o", str(out))
        lines = result.stdout.decode().splitlines()
        assert lines[0].split()[:5] == ["warp", "steps", "instruction", "wavefronts", "ideal"]
        assert lines[-1] == "2048 wavefronts in 64 instructions, 256 are ideal: conflicts up to 8-way"
        assert out.read_bytes().count(b">0.7<") == 1  # the last wavefront of the first phase

    @pytest.mark.parametrize(("swizzle", "rows"), [("", [32]), ("Sw<3,3,3> o 0 o ", [32, 4])])
    def test_the_picture_serves_what_each_lane_asks_for(self, tmp_path, swizzle, rows):
        """A row a wavefront; of a swizzled layout the plain one above; every lane is served once, at the banks of its address."""
        out = tmp_path / "waves.json"
        assert run("analyze", f"tile_to_shape({swizzle}(8,64):(64,1), (128,64))", "--access", LDSM, "-o", str(out)).returncode == 0
        panels = json.loads(out.read_text())["panels"]
        assert [panel["rows"] for panel in panels] == rows
        for swizzled, panel in enumerate(panels):
            served = {lane: n for n, lanes in enumerate(panel["data"]["lanes"]) for lane in lanes}
            assert sorted(served) == list(range(32))
            for lane, cell in served.items():
                m, half = lane % 16, lane // 16
                assert cell % 8 == (half ^ m % 8 if swizzled else half)
                assert panel["row_ruler"]["labels"][cell // 8].startswith(f"{lane // 8}.")
            banks = [int(label.split("-")[0]) for label in panel["col_ruler"]["labels"]]
            assert panel["col_ruler"]["levels"] == [0, *(int(bank % 8 == 0) for bank in banks[1:]), 0]

    def test_a_film_shows_the_wavefronts_one_after_the_other(self, tmp_path):
        """32 of the plain tile and 4 of the swizzled one: each but the first is hidden until its turn, where its row is."""
        out = tmp_path / "film.svg"
        tile = "tile_to_shape(Sw<3,3,3> o 0 o (8,64):(64,1), (128,64))"
        assert run("analyze", tile, "--access", LDSM, "-o", str(out), "--animate").returncode == 0
        text = out.read_text()
        root = ElementTree.fromstring(text)
        hidden = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("class") == "go"]
        names = [re.search(r"animation:(w\d+)_\w+ ", g.get("style"))[1] for g in hidden]
        assert names == [f"w{n}" for n in (*range(1, 32), *range(1, 4))]
        ends = {name: float(until) for name, until in re.findall(r"@keyframes (w\d+)_\w+\{0%,([\d.]+)%", text)}
        assert [ends[f"w{n}"] for n in range(1, 32)] == pytest.approx([45 * n / (32 * 0.45 + 3) for n in range(1, 32)], abs=0.01)
        tops = [float(re.search(r"M[\d.]+[ ,]([\d.]+)", g[0].get("d"))[1]) for g in hidden]
        steps = {round(b - a, 2) for a, b in pairwise(tops[:31])}
        assert len(steps) == 1
        assert tops[31] > tops[30] + steps.pop()
        assert all(float(g.get("opacity")) == 0 for g in hidden)  # where nothing moves, all is seen

    def test_frames_join_each_lane_to_the_banks_of_its_row(self, tmp_path):
        """Plain beside swizzled: lane l reads 16 bytes, whose banks the XOR of its row tells. Of both the first phase."""
        out = tmp_path / "frames.json"
        tile = "tile_to_shape(Sw<3,3,3> o 0 o (8,64):(64,1), (128,64))"
        assert run("analyze", tile, "--access", LDSM, "-o", str(out), "--draw", "frames").returncode == 0
        figure = json.loads(out.read_text())
        joined = {}
        for arrow in figure["arrows"]:
            lanes, banks = figure["panels"][arrow["source"]], figure["panels"][arrow["target"]]
            assert not arrow["head"]
            assert (lanes["place"][0] + 1, lanes["place"][1]) == (banks["place"][0], banks["place"][1])
            lane, bank = arrow["start"][1], arrow["end"][1]
            assert lane in banks["data"]["lanes"][bank]
            joined.setdefault((lanes["place"][1], lane), []).append((lanes["place"][0] // 2, bank))
        for (column, lane), found in joined.items():
            m, half = lane % 16, lane // 16
            chunk = half ^ m % 8 if column else half
            wave = 0 if column else lane
            assert sorted(found) == [(wave, 4 * chunk + n) for n in range(4)]
        assert sorted(joined) == [*[(0, lane) for lane in range(8)], *[(1, lane) for lane in range(8)]]
        xors = [panel["labels"][32:] for panel in figure["panels"] if panel["row_ruler"]["labels"] == ["lanes", "XOR"]]
        assert xors == [[str(4 * lane) if lane < 8 else "" for lane in range(32)]]
        heads = [panel["caption"] for panel in figure["panels"] if "phase" in panel["caption"]]
        assert heads[::2] == ["plain, phase 1 of 4: wavefront 1 of 8", "swizzled, phase 1 of 4: wavefront 1 of 1"]
        assert heads[1::2] == ["plain, all 4 phases: 32 wavefronts", "swizzled, all 4 phases: 4 wavefronts"]
        red = [n for n, paint in enumerate(figure["paints"]) if paint["hue"] == CONFLICT]
        conflicts = [[paint in red for paint in panel["paints"]] for panel in figure["panels"] if panel["caption"] in heads]
        assert list(map(sum, conflicts)) == [0, 28, 0, 0]  # of the whole, all wavefronts but the first of each phase
        assert conflicts[1] == ([False] + [True] * 7) * 4
        deep = frames(
            "", "", [(name, phases([step * lane for lane in range(32)], "ld.32")) for name, step in (("a", 128), ("b", 32))]
        )
        ends = [panel.caption for panel in deep.panels if panel.caption][-4:]
        assert ends == ["a, the whole: 32 wavefronts", "b: wavefront 1 of 8", "2 of 8", "b, the whole: 8 wavefronts"]
        assert deep.notes == ("a: the first 8 of 32 wavefronts.", "b: the first 2 of 8 wavefronts.")  # as 32 to 8
        svg = tmp_path / "frames.svg"
        assert run("analyze", tile, "--access", LDSM, "-o", str(svg), "--draw", "frames").returncode == 0
        (path,) = [p for p in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}path") if p.get("class") == "ms"]
        assert path.get("d").count("M") == len(figure["arrows"])
        assert run("analyze", tile, "--access", LDSM, "-o", str(svg), "--draw", "frames", "--for", "readme").returncode == 0
        words = [text.text for text in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]
        assert words.count("first wavefront of its phase") == 1  # in the legend
        assert [word for word in words if word.endswith("of 8")] == ["plain, phase 1 of 4: wavefront 1 of 8", "2 of 8", "8 of 8"]
        assert "Of each column the first 2 wavefronts and the last are drawn." in " ".join(words)
        shown = readback.svg(svg.read_text())
        assert (shown.width <= 700, shown.height <= 900) == (True, True)
        assert "idle" not in words

    @pytest.mark.parametrize("more", [(), ("--thread", "8..15", "--wavefront", "1")])
    def test_the_tile_shows_thread_value_and_bank(self, tmp_path, more):
        out = tmp_path / "tile.json"
        tile = "tile_to_shape(Sw<3,3,3> o 0 o (8,64):(64,1), (128,64))"
        assert run("analyze", tile, "--access", LDSM, "-o", str(out), "--draw", "tile", *more).returncode == 0
        figure = json.loads(out.read_text())
        for swizzled, panel in enumerate(figure["panels"]):
            data, lit = panel["data"], []
            assert (panel["rows"], panel["cols"]) == (16, 16)
            for cell, (thread, value) in enumerate(zip(data["thread"], data["value"], strict=True)):
                m, n = divmod(cell, 16)  # rows from memory, not from the picture: lane l has row l % 16, half l // 16
                byte = 128 * m + 2 * n
                byte ^= (m % 8 << 4) if swizzled else 0
                assert (thread, value) == (m + 16 * (n // 8), n % 8)
                assert (data["byte"][cell], data["bank"][cell]) == (byte, byte // 4 % 32)
                assert panel["labels"][cell] == f"T{thread}\nV{value}\nb{byte // 4 % 32}"
                if not figure["paints"][panel["paints"][cell]]["faded"]:
                    lit.append((thread, data["wavefront"][cell]))
            if more:
                assert set(lit) == ({(t, 1) for t in range(8, 16)} if swizzled else set())
            else:
                assert {wave for _, wave in lit} == set(range(4 if swizzled else 32))

    def test_the_values_of_a_thread_go_on_from_instruction_to_instruction(self):
        found = accesses(Layout((32, 8), (8, 1)), 32, Layout((32, 8), (1, 32)))
        assert [(a.step, a.instruction, a.value) for a in found] == [(0, "ld.128", 0), (1, "ld.128", 4)]

    def test_what_a_picture_of_an_access_cannot_show(self, tmp_path):
        words = ("analyze", "(8,64):(64,1)", "--access", "((8,4),8):((1,64),8)", "--type", "f16")
        assert "need -o" in fails(run(*words, "--draw", "tile"), 2)
        assert "--thread= and --wavefront=" not in fails(run(*words, "--thread", "5", "-o", "x.svg"), 2)
        asked = {n: run(*words, "--draw", "tile", "--wavefront", str(n), "-o", "x.json", cwd=tmp_path) for n in (0, 31, 32, 99)}
        for n in (32, 99):  # of the 32 that there are
            assert f"there is no wavefront {n}" in fails(asked[n], 1)
        assert {asked[n].returncode for n in (0, 31)} == {0}
        assert "has no part in it" in fails(run(*words, "--draw", "tile", "--thread", "77", "-o", "x.svg"), 1)
        assert "shared memory" in fails(run(*words, "--global", "--draw", "frames", "-o", "x.svg"), 2)

    def test_a_picture_of_sectors(self, tmp_path):
        out = tmp_path / "sectors.json"
        words = ("(128,64):(64,1)", "--access", "(32,8):(1,128)", "--type", "f16", "--global")
        report = json.loads(run("analyze", *words, "--json", "-o", str(out)).stdout)
        drawn = json.loads(out.read_text())
        labels = [label for label in drawn["panels"][0]["labels"] if label]
        assert labels == [f"T{lane}\n16 of 32 B" for lane in range(32)]
        assert report["steps"][0]["sectors"] == drawn["facts"]["sectors"] == 32
        assert report["steps"][0]["lines"] == drawn["panels"][0]["rows"] == 32
        narrow = ("(32,1):(2,1)", "--access", "rows", "--type", "f32", "--global")
        assert json.loads(run("analyze", *narrow, "--json").stdout)["summary"].endswith(": 12.5% of their bytes are asked for")

    def test_global_memory(self):
        result = run("analyze", "(128,64):(64,1)", "--access", G2S, "--global", "--json")
        report = json.loads(result.stdout)
        assert {(s["instruction"], s["sectors"], s["lines"], s["efficiency"]) for s in report["steps"]} == {("ld.128", 16, 4, 1.0)}

    @pytest.mark.parametrize(
        ("tile", "access", "element", "expected"),
        [
            ("(64,8):(1,64)", "(32,4):(2,64)", "f16", ("ld.16", 4, 1, 0.5, 4)),
            ("(64,8):(2,128)", "(32,1):(1,64)", "u8", ("ld.8", 2, 1, 0.5, 2)),
            ("(64,8):(1,64)", "(32,1)", "u8", ("ld.8", 1, 1, 1.0, 1)),
            ("(64,8):(1,64)", "(32,2):(2,1)", "f16", ("ld.32", 4, 1, 1.0, 4)),
            ("(64,8):(1,64)", "(16,1):(4,1)", "f16", ("ld.16", 4, 1, 0.25, 8)),  # half a warp
        ],
    )
    def test_global_memory_counts_the_bytes_of_small_elements(self, tile, access, element, expected):
        report = json.loads(run("analyze", tile, "--access", access, "--type", element, "--global", "--json").stdout)
        step = report["steps"][0]
        assert tuple(step[key] for key in ("instruction", "sectors", "lines", "efficiency", "alignment")) == expected
        assert report["efficiency"] == expected[3]

    def test_facts_of_a_lone_layout(self):
        facts = json.loads(run("analyze", "(4,8):(16,1)", "--type", "f32", "--json").stdout)
        assert (facts["gaps"], facts["aliased"], facts["surjective"], facts["bytes"]) == (24, 0, False, 224)
        facts = json.loads(run("analyze", "(2,2):(-1,3)", "--type", "4", "--json").stdout)
        assert (facts["values"], facts["surjective"], facts["bytes"]) == ("-1..3", False, 3)  # half a byte is one

    def test_a_vector_is_of_whole_elements(self):
        facts = json.loads(run("analyze", "(5,16)", "--type", "24", "--json").stdout)
        assert facts["widest vector"] == "no access takes two elements of 24 bits"

    def test_swizzle(self, tmp_path):
        out = tmp_path / "sw.svg"
        result = run("swizzle", "64x64", "--type", "f16", "--read", "ldmatrix", "--write", "cp.async", "-o", str(out))
        text = result.stdout.decode()
        assert text.splitlines()[1].split()[0] == "Sw<3,3,3>"
        assert "it is the 128B mode of TMA and GMMA." in text
        assert b"after: Sw&lt;3,3,3&gt;" in out.read_bytes()
        report = json.loads(run("swizzle", "64x64", "--json").stdout)
        assert report["winner"] == "Sw<3,3,3>"

    @pytest.mark.parametrize(
        ("arguments", "status"),
        [
            (("swizzle", "64"), 2),
            (("swizzle", "64x64", "--read", "nothing"), 1),
            (("swizzle", "64x64", "--type", "f17"), 1),
            (("swizzle", "99999x99999"), 1),
            (("analyze", "(8,64):(64,1)", "--access", "Sw<1,1,1>"), 1),
            (("analyze", "(8,64):(64,1)", "--access", "(32,2)", "--store", "--instruction", "ld.32"), 2),
            (("analyze", "(8,64):(64,1)", "--access", "(32,8)", "--global", "--instruction", "ldmatrix.x4"), 2),
            (("analyze", "(8,64):(64,1)", "--access", "(32,2)", "--global", "-o", "x.svg", "--animate"), 2),
            (("analyze", "(8,64):(64,1)", "--access", "(32,2)", "-o", "x.png", "--animate"), 2),
            (("analyze", "(8,64):(64,1)", "--access", "(32,2)", "--animate"), 2),
            (("analyze", "(128,64):(64,1)", "--access", LDSM, "--global"), 1),
        ],
    )
    def test_bad_input(self, arguments, status):
        fails(run(*arguments), status)

    def test_explain(self):
        text = run("explain", "Sw<3,3,-3> o 0 o (64,8):(1,64)").stdout.decode()
        assert "b6⊕b3" in text
        assert "n -> n ^ ((m >> 3) & 7)" in text


def test_a_swizzle_that_gains_nothing_is_not_praised():
    found = {candidate.name: candidate for candidate in search(8, 64, 16, ["rows"])}
    swizzled = next(candidate for name, candidate in found.items() if name.startswith("Sw") and candidate.padding == 0)
    words = explain_choice(swizzled, found["plain"], 64, 16)
    assert (swizzled.wavefronts < found["plain"].wavefronts) == ("Nothing is gained" not in words)


@pytest.mark.parametrize("name", ["Layout_K_SW128", "Layout_MN_SW128", "Layout_K_SW64", "Layout_MN_SW32", "Layout_MN_SW128_32B"])
@pytest.mark.parametrize("bits", [8, 16, 32])
def test_a_swizzle_of_addresses_is_told_in_bytes_elements_and_chunks(name, bits):
    flagged = parse(f"GMMA::{name}_Atom<uint{bits}_t>{{}}")
    steps = [step.words for step in steps_of(flagged)]
    code = {unit: steps[n].rpartition(": ")[2] for n, unit in enumerate(("address", "offset", "chunk"))}
    formula = steps[-1].rpartition(": ")[2]
    name, _, formula = formula.partition(" -> ")
    rows, columns = flagged.shape
    for m, n in itertools.product(range(rows), range(columns)):
        plain, value = domain(flagged)(m, n), flagged(m, n)
        address = eval(code["address"], {"address": plain * bits // 8})
        assert address == value * bits // 8
        assert eval(code["offset"], {"offset": plain}) == value
        assert eval(code["chunk"], {"chunk": plain * bits // 128}) == value * bits // 128
        moved = {"m": m, "n": n} | {name: eval(formula, {"m": m, "n": n})}
        assert domain(flagged)(moved["m"], moved["n"]) == value
    vector = int(steps[3].split()[2])
    values = [flagged(i) if flagged.inner.stride[0] == 1 else flagged(i // columns, i % columns) for i in range(rows * columns)]
    assert all(values[i + 1] == values[i] + 1 for i in range(rows * columns - 1) if (i + 1) % vector)
    assert any(values[i + 1] != values[i] + 1 for i in range(vector - 1, rows * columns - 1, vector))


class TestByName:
    """`--access ldmatrix`: the whole tile, against addresses written down here and the search's own."""

    @pytest.mark.parametrize("text", ["(64,64):(64,1)", "(64,64):(1,64)", "Sw<2,3,3> o 0 o (64,64):(64,1)", "(64,64):(72,1)"])
    @pytest.mark.parametrize("name", ["ldmatrix", "ldmatrix.x2", "ldmatrix.x1", "stmatrix.x4", "rows", "column"])
    def test_every_row_of_every_matrix_is_moved_once(self, text, name):
        tile = layout(text)
        matrix, lanes = "matrix" in name, 8 if "matrix" in name else 32
        turned = matrix and tile(1, 0) - tile(0, 0) == 1
        total = 0
        for at in range(0, 64, lanes):
            for other in range(0, 64, 8 if matrix else 1):
                places = [(other, at + n) if turned or name == "rows" else (at + n, other) for n in range(lanes)]
                words = {tile(*place) * 2 // 4 + w for place in places for w in range(4 if matrix else 1)}
                total += max(Counter(word % 32 for word in words).values())
        done = json.loads(run("analyze", text, "--access", name, "--type", "f16", "--json").stdout)
        assert done["wavefronts"] == total
        assert {one["instruction"].split(".")[0] for one in done["steps"]} <= {name.split(".")[0], "ld"}

    @pytest.mark.parametrize("name", ["ldmatrix", "ldmatrix.x2", "stmatrix", "rows", "column"])
    def test_as_the_search_counts(self, name):
        candidates = json.loads(run("find", "swizzle", "32x64", "--type", "f16", "--read", name, "--json").stdout)["candidates"]
        counts = {one["name"]: one["wavefronts"] for one in candidates}
        for key, text in (("plain", "(32,64):(64,1)"), ("Sw<2,3,3>", "Sw<2,3,3> o 0 o (32,64):(64,1)")):
            assert json.loads(run("analyze", text, "--access", name, "--type", "f16", "--json").stdout)["wavefronts"] == counts[key]

    @pytest.mark.parametrize("draw", ["phases", "tile", "frames", "access"])
    def test_a_picture_without_a_type(self, draw, tmp_path):
        """16 bits, or those of the pointer: of a swizzled tile the plain one, too."""
        for text in ("Sw<3,3,3> o 0 o (64,64):(64,1)", "GMMA::Layout_K_SW128_Atom<int8_t>{}"):
            done = run("analyze", text, "--access", "ldmatrix", "--view", draw, "-o", str(tmp_path / "x.svg"))
            assert done.returncode == 0, done.stderr

    def test_what_does_not_fit(self):
        assert "do not divide the tile of 5 rows" in fails(run("analyze", "(5,64):(64,1)", "--access", "ldmatrix"), 1)
        assert "--arch gfx942" in fails(run("analyze", "(64,64)", "--access", "ds_read", "--type", "f16"), 1)
        assert "--access rows" in fails(run("analyze", "(64,64)", "--instruction", "ld.32"), 2)


SPELLED = {
    "ld.128": ["ld.shared.v4.f32", "ld.shared.v2.b64", "LDS.128", "ld.shared::cta.v4.u32"],
    "st.64": ["st.shared.v2.b32", "st.shared.f64", "STS.64"],
    "ldmatrix": ["ldmatrix.x4", "ldmatrix.trans", "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "LDSM.16.MT88.4"],
    "stmatrix.x2": ["stmatrix.sync.aligned.m8n8.x2.trans.shared.b16", "STSM.16.M88.2"],
}


@pytest.mark.parametrize(("name", "spelled"), [(name, word) for name, words in SPELLED.items() for word in words])
def test_an_access_has_its_name_in_ptx_and_sass_in_every_command(name: str, spelled: str) -> None:
    """A report, the search and a picture take the same words, and count the same."""
    tile, store = ["(64,64):(64,1)", "--type", "f16"], ["--store"] if name.startswith("st") else []
    counts = [run("analyze", *tile, "--access", word, *store).stdout.decode().splitlines()[-1] for word in (name, spelled)]
    assert counts[0] == counts[1]
    assert "wavefronts in" in counts[0]
    side = "--write" if store else "--read"
    found = [run("find", "swizzle", "64x64", "--type", "f16", side, word, "--json").stdout for word in (name, spelled)]
    assert json.loads(found[0].replace(name.encode(), b"")) == json.loads(found[1].replace(spelled.encode(), b""))
    drawn = [run("render", *tile, "--view", "access", "--by", word, "-T", "json").stdout for word in (name, spelled)]
    assert drawn[0].replace(b".trans", b"") == drawn[1].replace(b".trans", b"")


def test_what_is_served_in_an_unknown_order_has_no_count() -> None:
    done = run("analyze", "(64,64):(64,1)", "--type", "f16", "--access", "tma")
    assert done.returncode == 2
    assert b"no document gives the order in which tma is served" in done.stderr
