"""Tables of the hardware against what CUTLASS 4.2 with g++ gives for them, or what is documented, where no other test looks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cute_viz import parse
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.tmem import make_fragment, make_fragment_e
from cute_viz.analysis.banks import memory_of
from cute_viz.source import read
from cute_viz.source.model import Given
from cute_viz.spec.library import resolve
from cute_viz.values.instruction import Instruction
from tests.commands import run

SMEM, TMEM = ("smem", "smem", "tmem"), ("tmem", "smem", "tmem")


@pytest.mark.parametrize(
    ("memory", "ctas", "operand", "kind", "tile", "layout"),
    [  # UMMA::tmem_frg<T, storage, ctas, mode>::make(((M,N),2,3))
        (SMEM, 1, "C", "f32", (64, 32), "(((16,4),32),2,3):(((65536,2097152),1),1048576,32)"),
        (SMEM, 1, "C", "f32", (128, 16), "((128,16),2,3):((65536,1),16,32)"),
        (TMEM, 1, "C", "f32", (64, 32), "(((16,4),32),2,3):(((65536,2097152),1),32,64)"),
        (SMEM, 2, "C", "f32", (32, 64), "((32,(16,4)),2,3):((65536,(1,2097152)),16,32)"),
        (SMEM, 2, "C", "f32", (64, 32), "((64,(16,2)),2,3):((65536,(1,4194304)),16,32)"),
        (SMEM, 2, "C", "f32", (128, 16), "((128,16),2,3):((65536,1),16,32)"),
        (SMEM, 2, "C", "f16", (32, 64), "((32,(16,4)),2,3):((131072,(2,4194304)),32,64)"),
        (SMEM, 2, "C", "f16", (64, 32), "((64,(16,2)),2,3):((131072,(2,8388608)),32,64)"),
        (TMEM, 1, "A", "f16", (64, 16), "(((16,4),16),2,3):(((131072,4194304),1),16,32)"),
        (TMEM, 1, "A", "f16", (128, 16), "((128,16),2,3):((131072,1),16,32)"),
        (TMEM, 2, "A", "f16", (64, 16), "((128,16),2,3):((131072,1),16,32)"),
        (TMEM, 2, "A", "f16", (128, 16), "((128,16),2,3):((131072,1),16,32)"),
    ],
)
def test_fragments_in_tensor_memory(memory, ctas, operand, kind, tile, layout):
    op = Instruction(kind="tcgen05.mma", memory=memory, ctas=ctas)
    assert show(make_fragment(op, operand, kind, (tile, 2, 3)).layout) == layout


@pytest.mark.parametrize(
    ("k", "layout"),
    [  # UMMA::tmem_e_frg<T>::make(((128,K),2,3)) of 32, 16, 8 and 4 bits
        (16, "(((8,2,8),(8,2)),2,3):(((1048576,8,16777216),(1,8388608)),16,32)"),
        (32, "(((8,2,8),(16,2)),2,3):(((2097152,16,33554432),(1,16777216)),32,64)"),
        (64, "((128,64),2,3):((2097152,1),64,128)"),
        (128, "((128,128),2,3):((4194304,1),128,256)"),
    ],
)
def test_metadata_in_tensor_memory(k, layout):
    op = Instruction(kind="tcgen05.mma", sparse=2, shape=(128, 128, k))
    assert show(make_fragment_e(op, ((128, k), 2, 3)).layout) == layout


def test_the_lanes_that_a_read_of_128_bits_serves_together():
    """Composable Kernel's documentation: quarters of a half, 0-3 with 20-23, 4-7 with 16-19, 8-11 with 28-31, 12-15 with 24-27."""
    memory = memory_of("gfx942")
    quads = [sorted({lane // 4 for lane in group}) for group in memory.groups["ds_read_b128"]]
    assert quads == [[0, 5], [1, 4], [2, 7], [3, 6], [8, 13], [9, 12], [10, 15], [11, 14]]
    for name, served in memory.groups.items():  # every lane once; 32, 16 or 8 together
        assert sorted(lane for group in served for lane in group) == list(range(64))
        assert {len(group) for group in served} == {1024 // int(name.rpartition("b")[2])}
        assert all(len({lane // 32 for lane in group}) == 1 for group in served)


@pytest.mark.parametrize(("version", "holes"), [(0, (14, 15, 30, 31, 47, 48, 52, 61)), (1, (14, 15, 30, 31, 48, 53, 60))])
def test_the_bits_of_a_descriptor_that_no_field_has(version, holes):
    """PTX ISA, "Matrix descriptor format": each such bit is told, and none beside the fields."""
    for more in (0, *(1 << bit for bit in holes)):
        told = run("show", f"{(1 << 62) | version << 46 | 0x3FFF | more:#x}").stdout.decode()
        assert [line.split()[-1] for line in told.splitlines() if "bits outside" in line] == ([f"{more:#x}"] if more else [])


def test_a_wgmma_takes_a_from_registers_or_majors_as_numbers():
    text = (
        "using S = decltype(make_tiled_mma(SM90_64x128x16_F32F16F16_SS<{0},{0}>{{}}));"
        "void f() {{ auto a = convert_to_gmma_rs(S{{}}); auto b = make_tiled_mma(SM90_64x128x16_F32F16F16_RS<{0},{0}>{{}}); }}"
    )
    file = read(text.format("GMMA::Major::K"), "cpp", Given(resolve=resolve))
    assert show(file.find("a").read()) == show(file.find("b").read())
    for number, word in ("0", "K"), ("1", "MN"):
        majors = f"static_cast<GMMA::Major>({number})", f"GMMA::Major::{word}"
        ops = (f"auto a = SM90_64x128x16_F32F16F16_SS<{x},{x}>{{}};" for x in majors)
        one, other = (show(read(text, "cpp", Given(resolve=resolve)).find("a").read()) for text in ops)
        assert one == other


def test_a_fragment_of_descriptors_that_begins_nowhere_is_counted_from_0():
    fragment = parse(
        "make_fragment_A(make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>{}), "
        "partition_A(get_slice(make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>{}), 0), "
        "make_tensor(make_smem_ptr<half_t>(4096), tile_to_shape(Layout_K_SW128_Atom<half_t>, (64,64)))))"
    )
    assert fragment.first.start_address == 256
    assert fragment.unplaced().first.start_address == 0
    assert all(x.pointer.offset == 0 for x in (fragment.unplaced().tensor, fragment.unplaced().first.tensor))
    moved = replace(fragment.first, start_address=7)
    assert replace(fragment, first=moved).unplaced().first.start_address == 0
