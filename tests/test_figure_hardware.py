"""Pictures of descriptors, tensor memory, TMA and scale factors, read back against the values that they are of."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest

from cute_viz import figure, parse
from cute_viz.algebra.inttuple import product
from cute_viz.algebra.tmem import place
from cute_viz.check.copies import move
from cute_viz.engine import Request, ask
from cute_viz.engine.explaining import facts_of
from cute_viz.errors import FigureError
from cute_viz.figures.lanes import held
from cute_viz.figures.model import HOLE
from cute_viz.figures.tma_pieces import pieces_at
from cute_viz.renderers import Options
from cute_viz.renderers.page import page_of
from cute_viz.renderers.primitives import Labels, Path
from cute_viz.source.text import read
from cute_viz.spec import PACKAGED, Library
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
        *stage, label = label.split("\n")
        (low_m, high_m), (low_n, high_n) = ([int(x) for x in (part.split("-") * 2)[:2]] for part in label.split(","))
        i, rest = int(index) % m, int(index) // m
        j, tiles = rest % n, rest // n
        tile_m = tiles % product(tensor.layout.shape[1])
        tile_n = tiles // product(tensor.layout.shape[1])
        if len(tensor.layout.shape) > 3 and product(tensor.layout.shape[3]) > 1:
            assert stage == [f"stage {tile_n // product(tensor.layout.shape[2])}"]
            tile_n %= product(tensor.layout.shape[2])
        assert low_m <= tile_m * m + i <= high_m
        assert low_n <= tile_n * n + j <= high_n
    assert all(panel.paints[n] == 8 for n, label in enumerate(panel.labels) if not label)


def test_tensors_that_lie_together_are_called_by_their_operand_and_stages_are_told_apart():
    (panel,) = figure("tmem_block_scaled").panels  # two stages of 192 columns, 8 columns a cell; the factors take 8 and 16
    assert [(c0 * 8, c1 * 8) for _, c0, _, c1 in panel.boxes] == [(0, 192), (192, 384), (384, 392), (392, 408)]
    assert [panel.labels[c].split()[0] for c in (0, 47, 48, 49)] == ["C", "C", "SFA", "SFB"]


@pytest.mark.parametrize("name", ["LOAD_16dp64b2x", "LOAD_16dp128b2x", "LOAD_16dp256b1x", "LOAD_32dp32b4x", "STORE_16dp256b2x"])
def test_lanes_and_registers_tell_of_each_other(name):
    op = parse(f"SM100_TMEM_{name}{{}}")
    tmem, registers = figure(op).panels[:: -1 if "STORE" in name else 1]
    for (thread, register), ((lane, column, _),) in held(op).items():
        assert tmem.labels[lane * tmem.cols + column] == f"T{thread}\nr{register}"
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
    for byte, label, paint in zip(shared.data["byte"], shared.labels, shared.paints, strict=True):
        row, col = map(int, label.split(","))  # the swizzle of 128 bytes: chunk xor row; the second box lies behind the first
        assert byte == col // 64 * 8192 + (row - 64) * 128 + (col % 64 // 8 ^ row % 8) * 16
        assert (paint == HOLE) == (row >= 100 or col >= 120)
    assert {int(label) // 8192 for label in shared.row_ruler.labels} == {0, 1}
    assert HOLE in shared.paints


@pytest.mark.parametrize("name", ["hopper_gemm", "blackwell_gemm"])
def test_the_lanes_of_a_gemm_show_the_lines_of_every_warp_in_memory(name):
    """K-major, swizzle of 128 bytes: row r of A is line r; warp w of a wgmma's four holds 16 rows, of tensor memory's four 32."""
    drawn, rows = figure(name), {"hopper_gemm": 16, "blackwell_gemm": 32}[name]
    for panel in (p for p in drawn.panels if ", swizzled" in p.caption):
        for n, (paint, label) in enumerate(zip(panel.paints, panel.labels, strict=True)):
            line, chunk = divmod(n, 8)
            assert drawn.paints[paint].hue == line // rows
            assert label == f"{line},{(chunk ^ line % 8) * 8}"


def test_the_memory_of_an_mn_major_operand_shows_every_k_block():
    cores, memory, _ = figure("gmma_desc_mn_sw64").panels
    assert set(memory.paints) == set(cores.paints)
    for core, row, byte in zip(*(memory.data[key] for key in ("core", "row", "byte")), strict=True):
        (mn, k), unit = divmod(core, 8), (byte - 1024) // 16  # 32 of M are 4 chunks of a row of 64 bytes; chunk ^= row / 2 mod 4
        assert unit == k * 64 + mn // 4 * 32 + row * 4 + (mn % 4 ^ row // 2 % 4)


def test_an_arrow_along_a_row_has_room_below_the_label_of_its_cell():
    items = page_of(figure("gmma_desc_mn_sw64"), Options()).items
    words = next(item for item in items if isinstance(item, Labels) and item.texts[0] == "desc 0")
    (along,) = [
        way for item in items if isinstance(item, Path) and item.width == 2 for way in item.lines if way[0][1] == way[-1][1]
    ]
    assert words.grid.top + words.dy + words.size / 2 + 1 < along[0][1]
    assert along[0][1] < words.grid.top + words.grid.cell_h - 2


def test_a_multicast_tells_who_issues_and_who_receives():
    drawn = tma("(256,64)", "(64,64)", "0,0", "SM90_TMA_LOAD_MULTICAST{}", 4)
    tensor, memory, cast = drawn.panels
    assert "0b1111 = 0xf" in cast.caption
    assert {int(label) // 2048 for label in memory.row_ruler.labels} == {0, 1, 2, 3}  # of every CTA's part some lines
    assert memory.paints == tuple(byte // 2048 for byte in memory.data["byte"])
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
        ("SM100_TMA_2SM_LOAD<4096>", ("global", "shared"), "mbarrier\nof CTA 0\n2 × 512 bytes"),
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
        told = f"row {row}" if memory.col_ruler.labels[byte % 16] == str(factor) else f"{row},{factor}"
        assert memory.labels[byte] == told
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


def numbers(words: str) -> range:
    low, high = (words.split("-") * 2)[:2]
    return range(int(low), int(high) + 1)


@pytest.mark.parametrize(
    ("kind", "m", "n", "k", "per"),
    [
        ("MXF8F6F4_SS<float_e4m3_t,float_e4m3_t,float,float_ue8m0_t,{},{},{}>", 128, 8, 32, 1),
        ("MXF4_SS<float_e2m1_t,float_e2m1_t,float,float_ue8m0_t,{},{},32,{}>", 128, 96, 64, 2),
        ("MXF4_2x1SM_SS<float_e2m1_t,float_e2m1_t,float,float_ue4m3_t,{},{},16,{}>", 256, 192, 64, 4),
        ("MXF4_2x1SM_SS<float_e2m1_t,float_e2m1_t,float,float_ue4m3_t,{},{},16,{}>", 128, 128, 64, 4),
        ("MXF4_2x1SM_SS<float_e2m1_t,float_e2m1_t,float,float_ue4m3_t,{},{},16,{}>", 128, 64, 64, 0),
        ("F16BF16_SS<half_t,half_t,float,{},{},{}>", 64, 24, 16, 0),
        ("F16BF16_TS<half_t,half_t,float,{},{},{}>", 128, 64, 16, 0),
        ("F16BF16_SS_SPARSE<half_t,half_t,float,{},{},{}>", 128, 64, 32, 0),
    ],
)
def test_operands_of_tcgen05_lie_where_the_ptx_isa_has_them(kind, m, n, k, per):
    """Rows of C in lanes (layouts A, D, F), core matrices of 8 rows of 16 bytes, factors in lane r mod 32 of column r / 32."""
    drawn = figure(f"mma_operands(SM100_MMA_{kind.format(m, n, 'UMMA::Major::K,UMMA::Major::K')}{{}})")
    c, a, b = drawn.panels[:3]
    pair, chunk = "2x1SM" in kind, k // 2
    assert c.col_ruler.labels == b.col_ruler.labels
    places = {place.panel.place: place.grid for place in page_of(drawn, Options()).panels}
    assert places[1, 1].left == places[0, 1].left
    assert places[1, 1].cell_w == places[0, 1].cell_w
    assert places[1, 1].left - places[1, 0].right < 200
    for panel in (c, a, b):
        for at, label in enumerate(panel.labels):
            row, col = int(panel.row_ruler.labels[at // panel.cols]), int(panel.col_ruler.labels[at % panel.cols])
            told = dict(line.split() for line in label.split("\n"))
            lane = row // 16 * 32 if m == 64 else row % 128
            if pair or panel is b:
                assert panel.paints[at] == (int(told["CTA"]) if pair else drawn.panels[2].paints[0])
            else:
                assert drawn.paints[panel.paints[at]].hue == lane // 32
            if m == 128 and pair:
                continue  # layout B has a test of its own
            if panel is c or (panel is a and "_TS" in kind):
                assert numbers(told["lane"])[0] == lane
                assert numbers(told["col"])[0] == (col if panel is c else col // 2)
            elif not pair:
                (mn, of_k) = (row, col) if panel is a else (col, row)
                rows, cols = map(numbers, told["core"].split(","))
                each = chunk // 2 if panel is b and "SPARSE" in kind else chunk  # B is stored whole, of A one element of two
                assert (rows[0], cols[0], len(cols)) == (mn // 8, of_k // each, 1)
    found = [panel for panel in drawn.panels if panel.caption.startswith("SFA and SFB")]
    assert len(found) == (per > 0)
    seen: dict[tuple[str, int], set[int]] = {}
    for panel in found:
        for at, label in enumerate(panel.labels):
            lanes, (operand, column) = panel.row_ruler.labels[at // panel.cols], panel.col_ruler.labels[at % panel.cols].split()
            mode, rows, _, which = label.split()
            assert mode == {"SFA": "m", "SFB": "n"}[operand]
            halved = m == 128 and pair and operand == "SFB"  # as the columns of C are, whose right half is in lane 64 and on
            assert {row % (64 if halved else 256) // 32 for row in numbers(rows)} == {int(column)}
            assert not halved or {row // 64 for row in numbers(rows)} == {int(lanes) // 64}
            assert numbers(which) == range(per)
            seen.setdefault((operand, int(lanes)), set()).update(numbers(rows))
    if per:
        half = m == 128 and pair
        of_b = [set(range(warp // 2 * 64, warp // 2 * 64 + 64)) if half else set(range(n)) for warp in range(4)]
        of_a = set(range(m // 2 if pair else m))
        assert seen == {("SFA", 32 * w): of_a for w in range(4)} | {("SFB", 32 * w): of_b[w] for w in range(4)}
    assert any("where, for this shape, is not drawn" in note for note in drawn.notes) == ("MX" in kind and not per)


def test_one_threads_rows_are_lit_in_every_lane():
    drawn = figure("hopper_gemm", follow=45)  # lane 13 of warp 1: rows 16 + 3 and 16 + 11
    for panel in drawn.panels[:5]:
        lit = [panel.labels[n] for n, p in enumerate(panel.paints) if p >= 0 and not drawn.paints[p].faded]
        columns = (0, 8) if panel in drawn.panels[:2] else range(2, 64, 8)  # k 0..15; two columns of each 8
        assert sorted(lit) == sorted(f"{row},{n}" for row in (19, 27) for n in columns)
    assert drawn.facts["rows of C"] == "19,27"


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
    (panel,) = figure(fragment).panels
    drawn = [panel.labels[n * panel.cols : (n + 1) * panel.cols] for n in range(panel.rows)]
    (unit,) = {int(n) for n in re.findall(r"\d+", figure(fragment).notes[0])}  # "Lanes 16 further on are for rows 16 further on."
    assert len(drawn) == unit
    for row, k, block in itertools.product(range(128), range(32), range(2)):
        lane, bit = divmod(fragment.layout((row, k), 0, block), 1 << 21)
        rows, ks = drawn[lane % unit][bit // 32].splitlines()
        told = [int(n) for n in re.findall(r"\d+", rows)][bit % 32 // 16]
        first, last = map(int, re.fullmatch(r"k (\d+)-(\d+)", ks).groups())
        assert told + lane // unit * unit == row
        assert first <= k + 32 * block <= last


def test_a_load_with_a_maximum_has_a_register_for_it():
    *_, registers, largest = figure(parse("SM100_TMEM_LOAD_STAT_32dp32b32x{}")).panels
    assert registers.cols == 32
    assert largest.labels == tuple(f"max of T{t}" for t in range(32))


def test_the_instruction_descriptor_of_operands_is_that_of_the_atom():
    name = "SM100_MMA_F16BF16_2x1SM_SS_SPARSE<half_t,half_t,float,256,128,UMMA::Major::K,UMMA::Major::K,{}>"
    words = "UMMA::ScaleIn::Neg,UMMA::ScaleIn::One"
    right = parse(
        f"make_instr_desc<half_t,half_t,float,256,128,UMMA::Major::K,UMMA::Major::K,{words},UMMA::Saturate::False,true>()"
    )
    bits = figure(parse(f"mma_operands({name.format(words)}{{}})")).panels[-1].labels
    assert bits == figure(right).panels[0].labels


def test_k_of_96_is_told_to_the_instruction_as_it_is_issued():
    """SM103::mma_unpack sets k_size, which make_instr_desc_block_scaled leaves 0."""
    of = "float_e2m1_t,float_e2m1_t,float,float_ue8m0_t,128,16,32,UMMA::Major::K,UMMA::Major::K"
    drawn = figure(parse(f"mma_operands(SM103_MXF4_ULTRA_SS_VS<{of}>{{}})"))
    bits = drawn.panels[-1].labels
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
        mn, k = map(int, label.split(","))
        t = 128 // x.bits
        (row, line), col = (divmod(mn, 8), k // t) if major == "K" else ((mn // t, k % deep), k // deep)
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
    assert {corners[y, x] for x, y in starts} == {f"TMA {n}" for n in starts.values()}
    assert all(corners[y, x] == f"TMA {n}" for (x, y), n in starts.items())


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


def test_the_lanes_of_a_kernel_have_one_meaning_of_hue():
    for name, rows in (("hopper_gemm", 16), ("blackwell_gemm", 32)):
        drawn = figure(name)
        assert [legend.title[:9] for legend in drawn.legends if legend.title.startswith("hue")] == ["hue: warp"]
        for panel in (p for p in drawn.panels if "bit" not in p.data and "tensor memory" not in p.caption):
            hues = [drawn.paints[p].hue for p in panel.paints]
            assert hues == [int(label.split(",")[0]) // rows for label in panel.labels]  # row r is the warp's that holds it of C


# PTX ISA, "Swizzling modes": which 16 bytes of the data lie in each chunk of the lines of 128 bytes, the pattern once
SWIZZLED = {
    "Sw<1,4,3>": ("01234567", "10325476"),
    "Sw<2,4,3>": ("01234567", "10325476", "23016745", "32107654"),
    "Sw<3,4,3>": ("01234567", "10325476", "23016745", "32107654", "45670123", "54761032", "67452301", "76543210"),
    "Sw<2,5,2>": ("01234567", "23016745", "45670123", "67452301"),
}


@pytest.mark.parametrize(("swizzle", "wide"), list(zip(SWIZZLED, (16, 32, 64, 64), strict=True)))
def test_a_box_lies_in_shared_memory_as_the_tables_of_the_isa_have_it(swizzle, wide):
    rows = 512 // wide
    g = "make_tensor(make_gmem_ptr<half_t>(0), (1024,4096):(4096,_1))"
    shared = f"{swizzle} o smem_ptr[16b](unset) o (_{rows},_{wide}):(_{wide},_1)"
    memory = figure(parse(f"make_tma_copy(SM90_TMA_LOAD{{}}, {g}, {shared}, (_{rows},_{wide}))")).panels[-1]
    for line in range(memory.rows):
        cells = [map(int, label.split(",")) for label in memory.labels[8 * line : 8 * line + 8]]
        chunks = "".join(str((row * wide + col) // 8 - 8 * line) for row, col in cells)
        assert chunks == SWIZZLED[swizzle][line % len(SWIZZLED[swizzle])]


def test_what_was_not_run_gives_way_to_the_kept_report_of_a_device(tmp_path):
    report = {"device": "a B200", "capability": "10.0", "agree": {"x": "0"}, "known": {}}
    (tmp_path / "verified").mkdir()
    (tmp_path / "verified" / "b200.json").write_text(json.dumps(report))
    mine = Library(folders=(str(tmp_path),))
    for text in ("SfAtom(32)", "SM100_TMEM_LOAD_32dp32b1x", "make_instr_desc<half_t,half_t,float,128,64,K,K>()"):
        options = {"view": "scales"} if text.startswith("Sf") else {}
        for library, words in ((PACKAGED, "SM100: not run on hardware."), (mine, "were checked on a B200.")):
            assert words in ask(Request((text,), options=options, library=library)).figure.notes[-1]


@pytest.mark.parametrize(("name", "matrices"), [("SM100_U8x8_LDSM_T", 1), ("SM100_U8x16_LDSM_T", 2)])
def test_ldmatrix_of_bytes_is_the_isa_s_with_cute_s_exchange_of_halves(name, matrices):
    """PTX ISA, ldmatrix .m16n16: thread t has of register k the rows 4 (t % 4) and on at column t / 4 + 8 k; CuTe pairs halves."""
    op = resolve(name)
    for t in range(32):
        held = [
            [int(op.src(16 * (k // 2) + 4 * (t % 4) + b, 0)) // 8 + t // 4 + 8 * (k % 2) for b in range(4)]
            for k in range(2 * matrices)
        ]
        exchange = "prmt.b32 %x, %d{0}, %d{1}, 0x5410; prmt.b32 %d{1}, %d{0}, %d{1}, 0x7632; mov.b32 %d{0}, %x;"
        assert move(op.instruction, 64 * matrices).ptx.splitlines()[1:] == [
            exchange.format(k, k + 1) for k in range(0, 2 * matrices, 2)
        ]
        got = [
            x for k in range(0, 2 * matrices, 2) for part in (slice(0, 2), slice(2, 4)) for x in held[k][part] + held[k + 1][part]
        ]
        assert got == [int(op.dst(t, 8 * v)) // 8 for v in range(8 * matrices)]


@pytest.mark.parametrize(
    ("name", "ratio"),
    [
        ("SM100_MMA_TF32_SS_SPARSE<tfloat32_t,tfloat32_t,float,128,64,K,K>", "1:2 sparse"),
        ("SM100_MMA_F8F6F4_SS_SPARSE<float_e4m3_t,float_e4m3_t,float,128,64,K,K>", "2:4 sparse"),
        ("SM100_MMA_MXF4NVF4_SS_SPARSE<float_e2m1_t,float_e2m1_t,float,float_ue8m0_t,128,64,32,K,K>", "4:8 sparse, in pairs"),
    ],
)
def test_how_sparse_a_is_follows_the_kind_of_the_mma(name, ratio):
    """PTX ISA, "Sparse matrices": the granularity by kind."""
    assert facts_of(parse(f"{name}{{}}"), "", PACKAGED)["A"].startswith(f"{ratio}; ")


def test_a_copy_of_four_warps_is_drawn_as_the_threads_partition_has_it():
    tensor = "t = make_tensor(make_tmem_ptr<float>(0), (128,64):(65536,1)); "
    tensor += "cp = make_tmem_copy(SM100_TMEM_LOAD_32dp32b8x{}, t); "
    at = parse(tensor + "partition_D(cp.get_slice(77), make_identity_layout((128,64)))").offset
    drawn = figure(parse(tensor + "cp"), thread=77)
    registers = drawn.panels[1]
    row = registers.row_ruler.labels.index("T77")
    assert registers.labels[row * 8 : row * 8 + 8] == tuple(f"{at[0]},{at[1] + n}" for n in range(8))
    assert drawn.panels[0].labels[row * 8] == "T77\nr0"
    assert "thread 77" in drawn.notes[0]
    with pytest.raises(FigureError, match="one warp"):
        figure(parse(tensor + "cp"), thread=range(30, 40))
    assert figure(parse(tensor + "stages(t, cp)")).panels[1].caption.startswith("2. tensor memory to registers")


def test_scale_factors_have_the_rows_of_the_tile_in_every_warps_lanes():
    (panel,) = figure("tmem_block_scaled").panels
    rows = [
        {label.partition("\n")[2] for label in panel.labels[r * panel.cols : (r + 1) * panel.cols] if "ue8m0" in label}
        for r in range(8)
    ]
    assert rows[0] == rows[2] == rows[4] == rows[6] != rows[1] == rows[7]
    assert max(int(n) for words in rows for word in words for n in re.findall(r"\d+", word.partition(",")[0])) < 256


@pytest.mark.parametrize("conv", ["(1,1), (100000000,1), (1,1)", "(1,1), (-1,0), (1,1)"])
def test_an_offset_of_a_filter_fits_into_an_instruction(conv):
    g = "make_tensor(make_gmem_ptr<half_t>(0), ((8,8,2),64):((64,512,4096),1))"
    copy = (
        f"make_im2col_tma_copy(SM90_TMA_LOAD_IM2COL{{}}, {g}, (8,64):(64,1), (8,64), 1, (-1,-1), (-1,-1), (-1,-1), (1,1), {conv})"
    )
    with pytest.raises(FigureError, match="cannot be given to an instruction"):
        figure(parse(copy), coord="0,0,0,0")
