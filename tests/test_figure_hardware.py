"""Pictures of descriptors, tensor memory, TMA and scale factors, read back against the values that they are of."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from cute_viz import figure, parse
from cute_viz.algebra.inttuple import product
from cute_viz.algebra.tmem import place
from cute_viz.engine import Request, ask
from cute_viz.errors import FigureError
from cute_viz.figures.lanes import held
from cute_viz.figures.model import HOLE
from cute_viz.figures.tma import pieces_at
from cute_viz.notation import read
from cute_viz.spec.library import resolve
from tests.test_hardware import ROWS


def objects(file: str, name: str, *starts: str) -> list[Any]:
    rows = [row for row in ROWS[file] if row[0].startswith(starts) and not isinstance(row[2], str)]
    return [pytest.param(row[1], name, row[2], id=row[0]) for row in rows]


@pytest.mark.parametrize(
    ("text", "name", "expected"), objects("gmma_desc", "d", "raw")[::4] + objects("umma_desc", "d", "raw")[::4]
)
def test_a_descriptor_is_drawn_bit_by_bit_with_its_offsets_as_arrows(text, name, expected):
    obj = read(text, resolve=resolve).pick(name)
    cores, memory, bits = figure(obj).panels
    value = sum(int(label) << bit for label, bit in zip(bits.labels, bits.data["bit"], strict=True))
    assert value == int(expected["desc"], 16)
    offsets = {"LBO": expected["leading_byte_offset"] * 16, "SBO": expected["stride_byte_offset"] * 16}
    for (r0, c0, r1, c1), words in zip(cores.arrows, cores.arrow_labels, strict=True):
        which, number, _ = words.split()
        assert int(number) == offsets[which]
        byte = cores.data["byte"]
        assert byte[r1 * cores.cols + c1] - byte[r0 * cores.cols + c0] == offsets[which]
    for core, row, byte in zip(*(memory.data[key] for key in ("core", "row", "byte")), strict=True):
        if core is None:
            continue
        r, c = divmod(core, cores.cols)
        per = 128 // obj.bits
        m, k = (8 * r + row, per * c) if obj.major == "K" else (per * r, 8 * c + row)
        offset = obj.tensor.layout(m, k) * obj.bits // 8
        swizzle, start = obj.tensor.pointer.swizzle, obj.tensor.address
        assert byte == (swizzle(start + offset) if swizzle else start + offset)


def partition(shape: Any) -> tuple[int, int]:
    return product(shape[0][0]), product(shape[0][1])


@pytest.mark.parametrize(("text", "name", "expected"), objects("tmem", "tC", "C")[::3])
def test_tensor_memory_shows_the_rows_and_columns_of_each_cell(text, name, expected):
    tensor = read(text, resolve=resolve).pick(name)
    (panel,) = figure(tensor).panels
    wide = 512 // panel.cols
    m, n = partition(tensor.layout.shape)
    for index, lane, column in re.findall(r"(\d+)>dp=(\d+),col=(\d+)", expected["address_samples"]):
        label = panel.labels[int(lane) // 16 * panel.cols + int(column) // wide]
        (low_m, high_m), (low_n, high_n) = ([int(x) for x in (part.split("-") * 2)[:2]] for part in label.split(","))
        i, rest = int(index) % m, int(index) // m
        j, tiles = rest % n, rest // n
        tile_m = tiles % product(tensor.layout.shape[1])
        tile_n = tiles // product(tensor.layout.shape[1])
        assert low_m <= tile_m * m + i <= high_m
        assert low_n <= tile_n * n + j <= high_n
    assert all(panel.paints[n] == 8 for n, label in enumerate(panel.labels) if not label)


@pytest.mark.parametrize("name", ["LOAD_16dp64b2x", "LOAD_16dp128b2x", "LOAD_16dp256b1x", "LOAD_32dp32b4x", "STORE_16dp256b2x"])
def test_lanes_and_registers_tell_of_each_other(name):
    op = parse(f"SM100_TMEM_{name}{{}}")
    tmem, registers = figure(op).panels
    for (thread, register), ((lane, column, _),) in held(op).items():
        assert tmem.labels[lane * tmem.cols + column] == f"T{thread} r{register}"
        assert registers.labels[thread * registers.cols + register] == f"{lane},{column}"


def test_a_warp_reads_the_fragment_of_16x256b_as_the_ptx_isa_draws_it():
    pieces = held(parse("SM100_TMEM_LOAD_16dp256b1x{}"))
    for thread in range(32):  # PTX ISA, "Matrix fragment for .16x256b": rows t / 4 and t / 4 + 8, two columns a thread
        row, column = thread // 4, thread % 4 * 2
        assert [pieces[thread, r][0][:2] for r in range(4)] == [(row + 8 * (r // 2), column + r % 2) for r in range(4)]


def test_sixteen_bits_are_packed_two_columns_a_register():
    assert held(parse("SM100_TMEM_LOAD_32dp32b1x_16b{}"))[3, 0] == [(3, 0, 0), (3, 1, 0)]


@pytest.mark.parametrize(
    "name", ["128dp256bit_1cta", "4x32dp128bit_2cta", "2x64dp128bitlw0123_1cta", "2x64dp128bitlw0213_1cta", "4dp256bit_1cta"]
)
def test_lanes_tell_of_the_rows_of_shared_memory_that_fill_them(name):
    op = parse(f"SM100_UTCCP_{name}{{}}")
    drawn: dict[str, dict[int, list[str]]] = {"row": {}, "lane": {}}
    for panel in figure(op).panels:
        for n, number in enumerate(panel.row_ruler.labels):
            drawn[panel.row_ruler.title][int(number)] = list(panel.labels[n * panel.cols : (n + 1) * panel.cols])
    assert all(label == f"{row},{word}" for row, labels in drawn["row"].items() for word, label in enumerate(labels))
    for v in range(0, op.src.shape[1] if isinstance(op.src.shape[1], int) else product(op.src.shape[1]), 32):
        at = op.val_id(op.dst(0, v))  # a lane is 2^21 bits away from the next, a column 32
        lane, column = at >> 21, at % (1 << 21) // 32
        row, word = map(int, drawn["lane"][lane][column].split(","))
        assert row in drawn["row"]
        # PTX ISA, tcgen05.cp: .warpx4, .warpx2::01_23 and ::02_13 name the warps whose lanes get the same rows
        warps = {"4x32": (0, 0, 0, 0), "2x64": (0, 1, 0, 1) if "0213" in name else (0, 0, 1, 1)}.get(name[:4], (0, 1, 2, 3))
        right = lane // 32 if name.startswith("4dp") else lane % 32 + 32 * warps[lane // 32]
        assert (row, word) == (right, column)
    assert set(drawn["lane"]) == ({0, 32, 64, 96} if name.startswith("4dp") else set(range(128)))


@pytest.mark.parametrize(
    "text",
    [
        "SM100_U8x8_STSM_T{}",
        "Copy_Atom<SM100_TMEM_LOAD_32dp32b1x, float>{}",
        "SM120_16x8x32_TN<float_e4m3_t,float_e4m3_t,float>{}",
        "make_tiled_mma(SM100_MMA_S8_SS<int8_t,int8_t,int32_t,64,8,UMMA::Major::K,UMMA::Major::K>{})",
    ],
)
def test_what_no_device_has_run_says_so(text):
    drawn = figure(text)
    assert sum("not run on hardware" in note for note in drawn.notes) == 1
    assert "not run on hardware" in drawn.description


def test_a_box_of_nested_modes_has_all_of_them():
    g = "make_tensor(make_gmem_ptr<half_t>(0), make_layout(((_8,_4),64),((64,1024),1)))"
    text = f"make_tma_copy(SM90_TMA_LOAD{{}}, {g}, make_layout(((8,2),32),((32,256),1)), ((8,2),32), 1)"
    drawn = figure(text, coord="8,32")
    assert drawn.facts["bytes out of bounds"] == 0
    assert drawn.panels[-1].labels == tuple(f"{8 + n // 4},{32 + n % 4 * 8}" for n in range(64))
    assert HOLE not in drawn.panels[-1].paints


def tma(extents: str, tile: str, coord: str, more: str = "SM90_TMA_LOAD{}", ctas: int = 1) -> Any:
    g = f"make_tensor(make_gmem_ptr<half_t>(0), make_layout(make_shape{extents}, GenRowMajor{{}}))"
    text = f"make_tma_copy({more}, {g}, tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{{}}, {tile}), {tile}, {ctas})"
    return ask(Request((text,), {"coord": coord})).figure


def test_a_box_is_hatched_where_it_is_out_of_bounds():
    drawn = tma("(100,120)", "(64,128)", "64,0")
    tensor, shared = drawn.panels
    assert drawn.facts["bytes out of bounds"] == (64 * 128 - 36 * 120) * 2
    inside = [n for n, label in enumerate(tensor.labels) if label]
    rows, cols = ([int(label) for label in ruler.labels] for ruler in (tensor.row_ruler, tensor.col_ruler))
    assert all(rows[n // tensor.cols] < 100 and cols[n % tensor.cols] < 120 for n in inside)
    assert all(tensor.paints[n] != HOLE for n in inside)
    for n, label in enumerate(shared.labels):  # the swizzle of 128 bytes: chunk xor row
        row, col = map(int, label.split(","))
        assert n == (row - 64) * 8 + (col // 8 ^ (row - 64) % 8)


def test_a_multicast_tells_who_issues_and_who_receives():
    drawn = tma("(256,64)", "(64,64)", "0,0", "SM90_TMA_LOAD_MULTICAST{}", 4)
    tensor, _, cast = drawn.panels
    assert cast.labels == tuple(f"part {cta}" for cta in range(4) for _ in range(4))
    rows = [int(label) for label in tensor.row_ruler.labels]
    for n, label in enumerate(tensor.labels):
        if label:
            assert label == f"CTA {rows[n // tensor.cols] // 16}"


@pytest.mark.parametrize(
    ("atom", "ways", "end"),
    [
        ("SM90_TMA_LOAD<4096>", ("global", "shared"), "mbarrier\n512 bytes"),
        ("SM90_TMA_REDUCE_ADD<4096>", ("shared", "global"), "bulk group\ncommit, wait"),
        ("SM90_BULK_COPY_S2G<4096>", ("shared", "global"), "bulk group\ncommit, wait"),
        ("SM100_TMA_2SM_LOAD<4096>", ("global", "shared"), "mbarrier\n1024 bytes"),
        ("SM90_TMA_LOAD::PREFETCH<4096>", ("global", "the L2"), "L2"),
    ],
)
def test_a_tma_atom_tells_who_issues_what_moves_and_who_hears_of_it(atom, ways, end):
    drawn = ask(Request((f"Copy_Atom<{atom}, half_t>{{}}",), {})).figure
    issue, *moved = drawn.panels
    ctas = 1 + ("2SM" in atom)
    assert issue.labels == tuple(f"CTA {n}\n1 thread" for n in range(ctas))
    assert all(way in panel.caption for way, panel in zip(ways, moved, strict=False))
    assert drawn.panels[-1].labels == (end,)
    assert [(arrow.source, arrow.target) for arrow in drawn.arrows] == [(n, n + 1) for n in range(len(moved))]
    for panel in (panel for panel in moved if "shared" in panel.caption):
        assert panel.labels[::ctas] == tuple(f"V{n}-{n + 63}" for n in range(0, 256, 64))


@pytest.mark.parametrize(("text", "name", "expected"), objects("scale_factors", "a", "gmem")[:3])
def test_scale_factors_are_told_both_ways(text, name, expected):
    layout = read(text, resolve=resolve).pick(name)
    drawn = ask(Request((layout,), {"view": "scales"})).figure
    order, memory = drawn.panels[:2]
    vector = drawn.facts["elements of a factor"]
    for n, byte in enumerate(order.data["byte"]):
        row, factor = divmod(n, 4)
        assert byte == layout(*((row, factor * vector, 0)[: len(layout.shape)]))
        assert memory.labels[byte] == f"{row},{factor}"
    assert expected


def test_places_are_lanes_columns_and_bits():
    assert place(65536 * 5 + 7, 32) == (5, 7, 0)
    assert place(262144 * 3 + 4 * 9 + 2, 8) == (3, 9, 16)


CONV = (
    "make_im2col_tma_copy(SM90_TMA_LOAD_IM2COL{}, make_tensor(make_gmem_ptr<half_t>(0), ((8,8,2),64):((64,512,4096),1)),"
    "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (64,64)), (64,64), 1,"
    "(-1,-1), (-1,-1), (-1,-1), (1,1), (1,1), (0,0), (1,1))"
)


def test_a_pixel_of_im2col_stands_where_cutes_coordinates_have_it():
    """The coordinate tensor, which CuTe's headers confirm, against the cells of the images."""
    copy = parse(CONV)
    drawn = ask(Request((copy,), {"coord": "5,0,2,1"})).figure
    coordinates = copy.im2col.coordinates
    seen = {}
    for panel in drawn.panels[:-1]:
        image = int(panel.caption.split()[1].rstrip(":"))
        for n, row in enumerate(panel.data["row"]):
            if row is not None:
                h, w = panel.row_ruler.labels[n // panel.cols], panel.col_ruler.labels[n % panel.cols]
                seen[row] = (int(w), int(h), image)
    for row in range(64):
        _, (w, h), image, (s, r) = coordinates(5 + row, (0, 2, 1))
        assert seen[row] == (w + s, h + r, image)


@pytest.mark.parametrize(("m", "half"), [(128, True), (256, False)])
def test_a_pair_of_ctas_holds_what_the_headers_say(m, half):
    name = f"SM100_MMA_F16BF16_2x1SM_SS<half_t,half_t,float,{m},128,UMMA::Major::K,UMMA::Major::K>"
    drawn = figure(f"mma_operands({name}{{}})")
    (c,) = [panel for panel in drawn.panels if panel.place == (1, 1)]
    for n, label in enumerate(c.labels):
        row, col = int(c.row_ruler.labels[n // c.cols]), int(c.col_ruler.labels[n % c.cols])
        lane = row % (m // 2) + (64 if half and col >= 64 else 0)
        column = col % 64 if half else col
        assert label.split("\n") == [f"CTA {row // (m // 2)}", f"lane {lane}-{lane + 15}", f"col {column}-{column + 31}"]
    assert "not run on hardware" in " ".join(drawn.notes)


def test_one_threads_rows_are_lit_in_every_stage():
    drawn = figure("hopper_gemm", follow=45)
    lit = [[n for n, p in enumerate(panel.paints) if p >= 0 and not drawn.paints[p].faded] for panel in drawn.panels]
    labels = [drawn.panels[1].labels[n] for n in lit[1]]
    assert {label.split(",")[0] for label in labels} <= {"19", "27"}
    accumulator = next(n for n, panel in enumerate(drawn.panels) if "accumulator" in panel.caption)
    panel = drawn.panels[accumulator]
    assert {n // panel.cols for n in lit[accumulator]} == {19, 27}
    assert {panel.data["thread"][n] for n in lit[accumulator]} == {45}


def test_a_box_of_three_dimensions_is_drawn_plane_by_plane():
    text = (
        "g = make_tensor(make_gmem_ptr<float>(0), make_layout(make_shape(20,24,6), make_stride(24,Int<1>{},480)));"
        "make_tma_copy(SM90_TMA_LOAD{}, g, (8,16,2):(16,1,128), (8,16,2), 1)"
    )
    drawn = ask(Request((text,), {"coord": "0,0,5"})).figure
    assert [re.search(r"dim 2 at (\d)", panel.caption)[1] for panel in drawn.panels[:2]] == ["5", "6"]
    assert set(drawn.panels[1].paints) == {HOLE}
    assert drawn.facts["bytes out of bounds"] == 8 * 16 * 4


def test_the_metadata_of_a_sparse_mma_lies_as_the_layout_says():
    mma = "SM100_MMA_F16BF16_SS_SPARSE<half_t,half_t,float,128,64,UMMA::Major::K,UMMA::Major::K>{}"
    fragment = parse(f"make_fragment_E({mma}, ((128,32),1,2))")
    drawn = {
        int(x): p.labels[n * p.cols : (n + 1) * p.cols] for p in figure(fragment).panels for n, x in enumerate(p.row_ruler.labels)
    }
    for row, k, block in itertools.product(range(128), range(32), range(2)):
        lane, bit = divmod(fragment.layout((row, k), 0, block), 1 << 21)
        piece = drawn[lane][bit // 32].splitlines()[bit % 32 // 16]
        told, first, last = map(int, re.fullmatch(r"(\d+),(\d+)-(\d+)", piece).groups())
        assert told == row
        assert first <= k + 32 * block <= last


def test_a_load_with_a_maximum_has_a_register_for_it():
    registers = figure(parse("SM100_TMEM_LOAD_STAT_32dp32b32x{}")).panels[1]
    assert registers.cols == 33
    assert registers.labels[32::33] == tuple(f"max of T{t}" for t in range(32))


def test_the_instruction_descriptor_of_operands_is_that_of_the_atom():
    name = "SM100_MMA_F16BF16_2x1SM_SS_SPARSE<half_t,half_t,float,256,128,UMMA::Major::K,UMMA::Major::K,{}>"
    words = "UMMA::ScaleIn::Neg,UMMA::ScaleIn::One"
    right = parse(
        f"make_instr_desc<half_t,half_t,float,256,128,UMMA::Major::K,UMMA::Major::K,{words},UMMA::Saturate::False,true>()"
    )
    bits = next(p for p in figure(parse(f"mma_operands({name.format(words)}{{}})")).panels if p.place == (0, 0)).labels
    assert bits == figure(right).panels[0].labels


def test_k_of_96_is_told_to_the_instruction_as_it_is_issued():
    """SM103::mma_unpack sets k_size, which make_instr_desc_block_scaled leaves 0."""
    of = "float_e2m1_t,float_e2m1_t,float,float_ue8m0_t,128,16,32,UMMA::Major::K,UMMA::Major::K"
    drawn = figure(parse(f"mma_operands(SM103_MXF4_ULTRA_SS_VS<{of}>{{}})"))
    bits = next(p for p in drawn.panels if p.place == (0, 0)).labels
    assert int("".join(bits), 2) == 0x88840480
    assert drawn.notes[-1] == "SM103: not run on hardware."


@pytest.mark.parametrize(
    ("major", "mode", "value_type", "tile"),
    [
        ("K", "SW128", "float_e4m3_t", (64, 128)),
        ("K", "SW64", "bfloat16_t", (64, 32)),
        ("K", "INTER", "float_e2m1_t", (64, 64)),
        ("MN", "SW128", "bfloat16_t", (128, 16)),
        ("MN", "SW32", "float_e4m3_t", (64, 32)),
        ("MN", "INTER", "tfloat32_t", (64, 16)),
        ("MN", "SW128_32B", "tfloat32_t", (64, 16)),
    ],
)
def test_core_matrices_lie_where_the_canonical_layouts_of_ptx_have_them(major, mode, value_type, tile):
    x = parse(
        f"make_umma_desc<UMMA::Major::{major}>(make_tensor(make_smem_ptr<{value_type}>(2048), "
        f"tile_to_shape(UMMA::Layout_{major}_{mode}_Atom<{value_type}>{{}}, {tile})))"
    )
    core, memory, _ = figure(x).panels
    for (r0, c0, r1, c1), words in zip(core.arrows, core.arrow_labels, strict=True):
        assert core.data["byte"][r1 * core.cols + c1] - core.data["byte"][r0 * core.cols + c0] == int(words.split()[1])
    leading, stride = x.leading_byte_offset * 16, x.stride_byte_offset * 16
    wide, deep = {"INTER": 16, "SW32": 32, "SW64": 64}.get(mode, 128), 4 if mode.endswith("_32B") else 8
    mask, shift = {"INTER": (0, 4), "SW32": (1, 4), "SW64": (3, 4), "SW128": (7, 4), "SW128_32B": (3, 5)}[mode]
    for label, byte in zip(memory.labels, memory.data["byte"], strict=True):
        row, col, line = map(int, re.split("[,.]", label))
        if mode == "INTER":
            at = row * stride + col * leading + line * 16
        elif major == "K":
            at = row * stride + line * wide + col * 16
        else:
            at = row // (wide // 16) * leading + col * stride + line * wide + row % (wide // 16) * 16
        assert (2048 + at) ^ (((2048 + at) >> 7 & mask) << shift) == byte
        assert line < deep


def test_a_cell_of_tensor_memory_names_all_that_it_holds():
    mma = "SM100_MMA_MXF8F6F4_SS<float_e4m3_t,float_e4m3_t,float,float_ue8m0_t,128,192,UMMA::Major::K,UMMA::Major::K>{}"
    scales = figure(f"make_fragment_SFA({mma}, deduce_smem_layoutSFA({mma}, (128,192,256), 32))").panels[0]
    assert scales.labels[0] == "0-15…96-111,0-255"  # 16 lanes: of each of four columns a row 32 further, at all of K
    packed = figure(
        "make_fragment_A(SM100_MMA_F16BF16_TS<half_t,half_t,float,128,64,UMMA::Major::K,UMMA::Major::K>{}, ((128,16),1,4))"
    )
    assert packed.panels[0].labels[0] == "0-15,0-63"  # two elements a column


def test_thousands_of_instructions_are_drawn_where_their_boxes_are():
    """Rows that shared memory has in another order: a box each, of 16 bytes; the first piece that covers a cell names it."""
    g = "make_tensor(make_gmem_ptr<half_t>(0), (512,512):(512,1))"
    smem = "((2,2,2,2,2,2,2,2),(8,8)):((1024,512,256,128,64,32,16,8),(1,2048))"
    drawn = figure(f"make_tma_copy(SM90_TMA_LOAD{{}}, {g}, {smem})")
    assert drawn.facts["instructions"] == 2048
    panel = drawn.panels[0]
    starts = {
        piece.start: piece.instruction
        for piece in reversed(pieces_at(parse(f"make_tma_copy(SM90_TMA_LOAD{{}}, {g}, {smem})"), (0, 0)))
    }
    corners = {(int(row), int(col)): label for row, col, label in _cells_of(panel) if label}
    assert {corners[y, x] for x, y in starts} == {f"box {n}" for n in starts.values()}
    assert all(corners[y, x] == f"box {n}" for (x, y), n in starts.items())


def _cells_of(panel):
    for n, label in enumerate(panel.labels):
        row, col = divmod(n, panel.cols)
        yield panel.row_ruler.labels[row], panel.col_ruler.labels[col], label


def test_a_thread_and_its_registers_stand_out_of_a_copy_of_tensor_memory():
    drawn = figure("SM100_TMEM_LOAD_16dp256b2x", thread=5, value=1)
    lit = [[n for n, p in enumerate(panel.paints) if p >= 0 and not drawn.paints[p].faded] for panel in drawn.panels]
    ((lane, column, _),) = held(parse("SM100_TMEM_LOAD_16dp256b2x{}"))[5, 1]
    assert lit == [[lane * drawn.panels[0].cols + column], [5 * drawn.panels[1].cols + 1]]
    for source, words in (("SM100_UTCCP_4x32dp128bit_1cta", {"thread": 5}), ("SM100_TMEM_LOAD_16dp256b2x", {"value": 8})):
        with pytest.raises(FigureError, match=r"no thread holds a part|there are values 0 to 7"):
            figure(source, **words)


def test_the_stages_of_a_kernel_have_one_meaning_of_hue():
    for name, rows in (("hopper_gemm", 16), ("blackwell_gemm", 32)):
        drawn = figure(name)
        assert [legend.title[:9] for legend in drawn.legends if legend.title.startswith("hue")] == ["hue: warp"]
        operand = next(panel for panel in drawn.panels if panel.row_ruler.title == "M or N")
        hues = [drawn.paints[p].hue for p in operand.paints[:: operand.cols]]
        assert hues == [int(label) // rows for label in operand.row_ruler.labels]  # row r is the warp's that holds it of C


def test_a_copy_of_four_warps_is_drawn_as_the_threads_partition_has_it():
    tensor = "t = make_tensor(make_tmem_ptr<float>(0), (128,64):(65536,1)); "
    tensor += "cp = make_tmem_copy(SM100_TMEM_LOAD_32dp32b8x{}, t); "
    at = parse(tensor + "partition_D(cp.get_slice(77), make_identity_layout((128,64)))").offset
    drawn = figure(parse(tensor + "cp"), thread=77)
    registers = drawn.panels[1]
    row = registers.row_ruler.labels.index("T77")
    assert registers.labels[row * 8 : row * 8 + 8] == tuple(f"{at[0]},{at[1] + n}" for n in range(8))
    assert drawn.panels[0].labels[row * 8] == "T77 r0"
    assert "thread 77" in drawn.notes[0]
    with pytest.raises(FigureError, match="one warp"):
        figure(parse(tensor + "cp"), thread=range(30, 40))
    assert figure(parse(tensor + "stages(t, cp)")).panels[1].caption.startswith("2. tensor memory to registers")
