"""The pictures of one idea each, and exercises, held to a naive evaluation."""

from __future__ import annotations

import itertools
import json
import re
from itertools import pairwise
from pathlib import Path as Folder

import pytest

from cute_viz import figure, parse
from cute_viz.engine.subject import launched, tiles_of_k
from cute_viz.errors import CuteVizError
from cute_viz.figures.compare import difference
from cute_viz.figures.load import from_dict
from cute_viz.figures.model import to_dict
from cute_viz.renderers import Options, render
from cute_viz.renderers.page import page_of
from cute_viz.renderers.primitives import Cells, Line, Path, Texts
from cute_viz.renderers.targets import TARGETS as TARGET
from cute_viz.source import read
from cute_viz.source.model import Given
from tests.commands import fails, run

TARGETS = ("readme", "column", "page", "slide")
UMMA_ATOM = "SM100_MMA_F16BF16_SS<half_t,half_t,float,128,128,UMMA::Major::K,UMMA::Major::K>"
ONE_OF_EACH = [
    ("(8,8):(10,1)", {"view": "path"}),
    ("Sw<3,3,3> o 0 o (8,64):(64,1)", {"view": "matrix"}),
    ("Sw<3,3,3> o 0 o (64,64):(64,1)", {"view": "access", "by": "ldmatrix.x4"}),
    ("ampere_gemm", {"view": "zoom"}),
    ("SM80_16x8x16_F32F16F16F32_TN", {"view": "cube"}),
    ("logical_divide((4,8):(8,1), (2,4))", {"view": "steps"}),
    ("(64,64,4)", {"view": "pipeline"}),
]


def offset(layout, row, col):
    """CuTe's offset by hand: swizzle bits of strides times digits."""
    text, _, plain = layout.rpartition(" o ")
    shape, stride = (eval(part.replace("F", "")) for part in plain.split(":"))
    total = 0
    for extents, steps, index in zip(shape, stride, (row, col), strict=True):
        pairs = [(extents, steps)] if isinstance(extents, int) else list(zip(extents, steps, strict=True))
        for extent, step in pairs:
            total += index % extent * step
            index //= extent
    if text.startswith("Sw<"):
        bits, base, shift = eval(text[3 : text.index(">")])
        total ^= (total >> shift) & ((1 << bits) - 1) << base
    return total


@pytest.mark.parametrize(
    ("layout", "shape", "name"),
    [
        ("(8,8):(8,1)", (8, 8), "Row-major"),
        ("(4,6):(1,4)", (4, 6), "Column-major"),
        ("((2,2,2),(2,2,2)):((2,8,32),(1,4,16))", (8, 8), "Morton order"),
        ("((2,4),(4,2)):((4,8),(1,32))", (8, 8), "Blocks of 2 × 4"),
        ("Sw<3,0,3> o 0 o (8,8):(8,1)", (8, 8), "Swizzle<3,0,3>"),
        ("(8,8):(10,1)", (8, 8), "Row-major"),
        ("(8,8):(9,1)", (8, 8), "Row-major"),
        ("(8,8):(0,1)", (8, 8), "Broadcast"),
    ],
)
def test_a_path_joins_the_cells_in_the_order_of_their_addresses(layout, shape, name):
    drawn = figure(layout, view="path")
    cells = {(r, c): offset(layout, r, c) for r in range(shape[0]) for c in range(shape[1])}
    first = {at: min(cell for cell, other in cells.items() if other == at) for at in set(cells.values())}
    steps = {(first[a], first[b]): b - a for a, b in pairwise(sorted(first))}
    near = sum(abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1 and gap == 1 for (a, b), gap in steps.items())
    gaps = sum(gap - 1 for gap in steps.values())
    unused = f"{gaps} of {max(first) - min(first) + 1} addresses are unused"
    shared = f"{len(cells) - len(first)} of {len(cells)} cells repeat an address"
    unused = shared if len(first) < len(cells) else unused
    assert (
        drawn.title == f"{name}: {unused if gaps or len(first) < len(cells) else f'{near} of {len(steps)} steps go to a neighbor'}"
    )
    assert (drawn.facts["gaps"], drawn.facts["repeated"]) == (gaps, len(cells) - len(first))
    seen = set()
    for shape_ in drawn.panels[0].shapes:
        if shape_.kind == "dot":
            assert shape_.text in (str(min(first)), str(max(first)))
            continue
        places = [(int(y), int(x)) for x, y in shape_.points]
        for a, b in pairwise(places):
            if "strong" not in shape_.look:
                assert (steps.pop((a, b)) > 1) == ("dashed" in shape_.look)
                continue
            while a != b:  # a run of neighbors, straight on
                on = tuple(x + (y > x) - (y < x) for x, y in zip(a, b, strict=True))
                assert steps.pop((a, on)) == 1
                a = on
                seen.add(a)
    assert not steps
    assert len(seen) == near


@pytest.mark.parametrize(
    ("shape", "stride", "name"),
    [
        ((4, 4, 3), (4, 1, 16), "Row-major, 3 planes one after the other"),
        ((4, 4, 3), (3, 12, 1), "Column-major, 3 planes interleaved"),
        ((4, 4, 2), (4, 1, 0), "Row-major, 2 planes at the same addresses"),
        ((2, 3, 4, 2), (1, 2, 6, 24), "Column-major, 8 planes one after the other"),
        ((3, 4, 2, 2, 2), (4, 1, 12, 24, 50), "Row-major, 8 planes one after the other"),
    ],
)
def test_a_path_of_more_modes_goes_through_planes(shape, stride, name):
    """Mode 2 goes to the right, mode 3 down, mode 4 to the right again; cells beside a border between planes are no neighbors."""
    drawn = figure(f"{shape}:{stride}".replace(" ", ""), view="path")
    (panel,) = drawn.panels
    table, near = {}, 0
    for crd in itertools.product(*map(range, shape)):
        i, j, k, m, n = (*crd, 0, 0)[:5]
        cell = i + shape[0] * m, j + shape[1] * (k + (shape[2] * n))
        table[crd] = sum(x * s for x, s in zip(crd, stride, strict=True))
        assert panel.data["offset"][cell[0] * panel.cols + cell[1]] == table[crd]
    by_offset = {at: crd for crd, at in sorted(table.items(), reverse=True)}
    for at, crd in by_offset.items():
        other = by_offset.get(at + 1)
        near += other is not None and other[2:] == crd[2:] and sum(abs(x - y) for x, y in zip(crd, other, strict=True)) == 1
    assert drawn.title.startswith(f"{name}: ")
    assert (drawn.facts["neighbors"], drawn.facts["steps"]) == (near, len(by_offset) - 1)
    tall, wide = shape[:2]
    assert [n for n, level in enumerate(panel.col_ruler.levels) if level] == list(range(wide, panel.cols, wide))
    assert [n for n, level in enumerate(panel.row_ruler.levels) if level] == list(range(tall, panel.rows, tall))


def test_of_a_large_path_a_corner_is_drawn_and_all_is_counted():
    drawn = figure("(128,64):(64,1)", view="path")
    assert (drawn.panels[0].rows, drawn.panels[0].cols) == (16, 64)
    assert drawn.caption.endswith("; drawn are the first 16 × 64 of 128 × 64 cells")
    for target in TARGETS:
        page = page_of(drawn, Options(target=target))
        sizes = [item.size for item in page.items if isinstance(item, Line) and item.text in ("0", "1023")]
        assert len(sizes) == 2
        assert min(sizes) >= TARGET[target].least
    assert drawn.title == f"Row-major: {128 * 63} of {128 * 64 - 1} steps go to a neighbor"


@pytest.mark.parametrize("layout", ["(4,8):(8,1)", "((2,4),(4,2)):((4,8),(1,32))", "Sw<3,3,3> o 0 o (8,64):(64,1)", "(4,4):(0,1)"])
def test_a_bit_matrix_times_a_coordinate_is_its_address(layout):
    drawn = figure(layout, view="matrix")
    panel, extents = (
        drawn.panels[0],
        [len(parse(layout).shape)] and {"(4,8": (4, 8), "((2,": (8, 8), "Sw<3": (8, 64)}.get(layout[:4]),
    )
    rows, cols = extents or (4, 4)
    names = panel.col_ruler.labels
    for r in range(rows):
        for c in range(cols):
            bits = {f"r{n}": r >> n & 1 for n in range(6)} | {f"c{n}": c >> n & 1 for n in range(6)}
            made = 0
            for row in range(panel.rows):
                one = sum(bits[name] for n, name in enumerate(names) if panel.labels[row * panel.cols + n] == "1") % 2
                made |= one << row
            assert made == offset(layout, r, c)


def test_the_matrix_of_a_swizzled_layout_is_the_product_of_two():
    drawn = figure("Sw<2,2,3> o 0 o (8,16):(16,1)", view="matrix")
    one, two, both = (
        [[label == "1" for label in p.labels[r * p.cols : (r + 1) * p.cols]] for r in range(p.rows)] for p in drawn.panels[1:]
    )
    product = [[sum(a and row[c] for a, row in zip(line, two, strict=True)) % 2 == 1 for c in range(len(two[0]))] for line in one]
    assert product == both
    assert [arrow.look for arrow in drawn.arrows] == ["×", "="]
    assert drawn.title == "2 of 5 bank bits are a column bit XOR a row bit"


def test_banks_are_marked_by_the_width_of_an_element():
    marks = {
        bits: [s for s in figure("(8,256):(256,1)", view="matrix", type=bits).panels[0].shapes if "bank" in s.text]
        for bits in (8, 16, 32)
    }
    assert {bits: [round(y) for _, y in found[0].points] for bits, found in marks.items()} == {8: [2, 7], 16: [1, 6], 32: [0, 5]}


def test_a_layout_without_a_matrix_says_where_it_carries():
    with pytest.raises(CuteVizError, match="carries: coordinate 3"):
        figure("(4,4):(3,16)", view="matrix")
    with pytest.raises(CuteVizError, match="extent of 6"):
        figure("(4,6)", view="matrix")


@pytest.mark.parametrize(
    ("layout", "by", "bits", "lanes"),
    [
        ("(8,64):(64,1)", "ldmatrix.x1", 16, 8),
        ("Sw<3,3,3> o 0 o (64,64):(64,1)", "ldmatrix.x4", 16, 32),
        ("Sw<3,3,3> o 0 o (64,64):(64,1)", "stmatrix.x2", 16, 16),
        ("(32,32):(32,1)", "ld.32", 32, 32),
        ("(32,32):(33,1)", "st.32", 32, 32),
        ("(64,64):(64,1)", "st.64", 16, 32),
        ("(64,128):(128,1)", "wgmma", 8, 8),
        ("Sw<3,3,3> o 0 o (64,64):(64,1)", "tcgen05", 16, 8),
        ("Sw<3,3,3> o 0 o (64,64):(64,1)", "tma", 16, 32),
    ],
)
def test_an_access_outlines_what_its_lanes_touch_and_counts_its_wavefronts(layout, by, bits, lanes):
    drawn = figure(layout, view="access", by=by, type=bits)
    wide = {"ld.32": 4, "st.32": 4, "st.64": 8}.get(by, 16)
    each, size = max(1, wide * 8 // bits), bits // 8
    band = 8 if by in ("stmatrix.x2", "wgmma", "tcgen05") else 16 if "matrix" in by else 32
    lone = by in ("wgmma", "tcgen05", "tma")  # nobody knows in which order they are served: banks alone are drawn
    cells = [(n // 8, n % 8) if by == "tma" else (n % band, n // band) for n in range(lanes)]
    cells = [(n % 8, n // 8) for n in range(lanes)] if layout.startswith("(8,64)") else cells
    versions = [layout.rpartition(" o ")[2], layout] if " o " in layout else [layout]
    group = {16: 8, 8: 16, 4: 32}[wide]
    for n, version in enumerate(versions):
        plan, strip = drawn.panels[n * (2 - lone)], drawn.panels[n * (2 - lone) + (not lone)]
        begins = [offset(version, r, c * each) * size for r, c in cells]
        columns = 128 // wide
        outlined = {(int(s.points[0][1]), int(s.points[0][0])) for s in plan.shapes}
        touched = {divmod(plan.data["byte"].index(byte // wide * wide), columns) for byte in begins}
        assert outlined == touched
        if lone:
            groups = len({byte // 16 % 8 for byte in begins})
            even = (
                f"{lanes} {'chunks' if by == 'tma' else 'rows'} in {groups} of 8"
                if by != "tma"
                else f"{lanes} chunks fill all {groups}"
            )
            assert even in drawn.title if not n else str(groups) in drawn.title
            continue
        count = 0
        for start in range(0, lanes, group):
            words = [
                {byte // 4 + k for byte in begins[start : start + group] for k in range(wide // 4) if (byte // 4 + k) % 32 == bank}
                for bank in range(32)
            ]
            count += max(map(len, words))
        assert sum(bool(name) for name in strip.row_ruler.labels) == count
        assert list(drawn.facts.values())[n] == count
    assert lone or f"{next(iter(drawn.facts.values()))} wavefront" in drawn.title
    assert len(drawn.panels) == len(versions) * (2 - lone)
    assert not lone or (not drawn.facts and "counts no wavefronts" in drawn.notes[0])


@pytest.mark.parametrize(
    "layout", ["(8,64):(64,1)", "(8,64):(72,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)", "Sw<1,3,3> o 0 o (8,64):(64,1)"]
)
def test_what_waits_is_painted_as_waiting(layout):
    """ldmatrix: a bank group of 16 bytes serves one of the 8 rows at a time; the first is served at once, each later one waits."""
    drawn = figure(layout, view="access", by="ldmatrix.x1")
    tile, strip = drawn.panels[-2:]
    words = {entry.label.partition(":")[0]: entry.paint for entry in drawn.legends[0].entries}
    groups: dict[int, list[int]] = {}
    for row in range(8):
        groups.setdefault(offset(layout, row, 0) // 8 % 8, []).append(row)
    for group, rows in groups.items():
        for n, row in enumerate(rows):
            kind = words["waits" if n else "served at once"]
            cell = n * strip.cols + group
            assert (strip.labels[cell], strip.paints[cell]) == (f"T{row}", kind)
            here = offset(layout, row, 0) // 8
            assert (tile.labels[here], tile.paints[here]) == (f"T{row}", kind)
    assert sum(map(bool, strip.labels)) == sum(map(bool, tile.labels)) == 8


def test_analyze_draws_the_access_of_a_kernel(tmp_path):
    out = tmp_path / "a.json"
    assert (
        run("analyze", "docs/kernel.cu", "--name", "sB", "--access", "read_A", "--draw", "access", "-o", str(out)).returncode == 0
    )
    drawn = json.loads(out.read_text())
    assert drawn["title"] == "8 rows a phase in one bank group: 32 wavefronts. Swizzled: 4."
    with pytest.raises(CuteVizError, match="needs by="):
        figure("(8,64):(64,1)", view="access")


@pytest.mark.parametrize(("source", "words"), ONE_OF_EACH)
def test_every_format_and_target_draws_a_board(source, words):
    drawn = figure(source, **words)
    assert from_dict(json.loads(json.dumps(to_dict(drawn)))) == drawn
    for target in TARGETS:
        page = page_of(drawn, Options(target=target))
        most = {"readme": (700, 900), "column": (318, 700), "page": (624, 700), "slide": (900, 506)}[target]
        assert page.width <= most[0] + 1
        assert page.height <= most[1] + 1
        assert any(isinstance(item, Path) for item in page.items)
        assert all(item.size >= (11 if target == "slide" else 8) - 0.01 for item in page.items if isinstance(item, Line))
        for item in page.items:
            if isinstance(item, Cells):
                assert item.grid.right <= page.width
                assert item.grid.bottom <= page.height
    for format_ in ("svg", "tikz", "html"):
        text = render(drawn, format_, Options(theme="dark" if format_ == "svg" else "auto")).decode()
        assert drawn.title.split(":")[0].replace("<", "&lt;") in text or format_ == "tikz"
    assert drawn.title in render(drawn, "text").decode()
    assert render(drawn, "png")[:4] == b"\x89PNG"


def test_a_zoom_opens_the_values_of_one_thread():
    """mma.m16n8k16: lane t holds C at rows t / 4 and t / 4 + 8, columns 2 (t % 4) and the next; warps alternate along M and N."""
    mma = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))"
    drawn = figure(mma, view="zoom", tile="128x128", thread=5 + 32 * 3, coord="2,7")
    grid, tile, atoms, atom = drawn.panels
    assert drawn.title == "One thread holds 4 values in each of 32 atoms"
    assert drawn.caption.startswith("128x128 = 2x2 warps of 64x64 = 4x8 atoms of 16x8;")
    assert grid.labels.index("2,7") == 2 * 8 + 7
    assert [int(label) for label in tile.labels] == [r % 2 + 2 * (c % 2) for r in range(8) for c in range(16)]
    corners = {shape.points[0] for shape in atoms.shapes if shape.kind == "area"}
    places = [(1 + 8 * i, 2 + j) for i in range(2) for j in range(2)]
    assert corners == {(c + y / 8, r + x / 16) for r in range(4) for c in range(8) for x, y in places}
    named = {(n // 8, n % 8): label for n, label in enumerate(atom.labels) if label}
    assert named == dict(zip(sorted(places), ["V0", "V1", "V2", "V3"], strict=True))
    assert atom.foot == f"V0 is C({2 * 128 + 16 + 1}, {7 * 128 + 15 * 8 + 2})"  # the last of 16 atoms along N


def test_warps_that_have_a_rectangle_each_are_drawn_as_one():
    """16 rows of an atom, then the warps 64 apart, then the repetitions in between: warp w has a quarter of the tile."""
    drawn = figure("talk_zoom")
    _, tile, atoms, _ = drawn.panels
    assert tile.labels == ("warp 0", "warp 2", "warp 1", "warp 3")
    assert drawn.arrows[1].start == (1, 1, 2, 2)
    assert {shape.points for shape in tile.shapes} == {((1, 1), (2, 2))}
    assert (atoms.rows, atoms.cols) == (4, 8)


def test_a_zoom_of_tensor_memory_ends_at_a_lane():
    drawn = figure("SM100_MMA_F16BF16_2x1SM_SS<half_t,half_t,float,256,128,UMMA::Major::K,UMMA::Major::K>", view="zoom")
    assert drawn.panels[1].labels == ("CTA 0", "CTA 1")
    assert drawn.panels[2].foot == "thread 69 reads lane 69: row 69 of its CTA, 128 values"
    with pytest.raises(CuteVizError, match="does not divide"):
        figure("SM80_16x8x16_F32F16F16F32_TN", view="zoom", tile="20x8")


@pytest.mark.parametrize("thread", [0, 5, 31])
def test_a_cube_shows_what_a_thread_holds_and_what_its_c_needs(thread):
    """mma.m16n8k16, PTX ISA: A at rows t / 4 (+ 8), columns 2 (t % 4) + {0, 1, 8, 9}; B at the same k, column t / 4."""
    row, col = thread // 4, 2 * (thread % 4)
    ks = {col, col + 1, col + 8, col + 9}
    rows, cols = (row, row + 8), (col, col + 1)
    held = {"A": {(r, k) for r in rows for k in ks}, "B": {(k, row) for k in ks}, "C": {(r, c) for r in rows for c in cols}}
    needed = {"A": {(r, k) for r in rows for k in range(16)}, "B": {(k, c) for k in range(16) for c in cols}, "C": set()}
    drawn = figure("SM80_16x8x16_F32F16F16F32_TN", view="cube", thread=thread)
    for panel, x in zip(drawn.panels, "ABC", strict=True):
        for name, cells in (("held", held[x]), ("needed", needed[x])):
            assert {(n // panel.cols, n % panel.cols) for n, flag in enumerate(panel.data[name]) if flag} == cells
    a = drawn.panels[0]
    named = {(n // a.cols, n % a.cols): label for n, label in enumerate(a.labels) if label}
    assert named == {(row + 8 * (v // 2 % 2), col + v % 2 + 8 * (v // 4)): f"V{v}" for v in range(8)}
    share = len(held["B"] & needed["B"])
    assert f"{share or 'none'} of the 32 B elements" in drawn.title


def test_a_cube_of_shared_memory_says_where_its_operands_stay():
    assert figure("SM90_64x16x16_F32F16F16_SS", view="cube").title.endswith("A and B stay in shared memory")
    one = "SM100_MMA_F16BF16_SS<half_t,half_t,float,128,64,UMMA::Major::K,UMMA::Major::K>"
    assert figure(one, view="cube").title == "No thread holds an operand: A and B are in shared memory, C in tensor memory"


@pytest.mark.parametrize("cta", [0, 1])
def test_a_cube_of_two_ctas_lights_what_each_of_them_has(cta):
    """PTX ISA, cta_group::2: each CTA has its half of the rows of A and of C, and half of the columns of B."""
    pair = "SM100_MMA_F16BF16_2x1SM_SS<half_t,half_t,float,256,64,UMMA::Major::K,UMMA::Major::K>"
    drawn = figure(pair, view="cube", thread=cta)
    assert drawn.title == f"CTA {cta} has all of the A and half of the B elements that its C needs"
    a, b, c = drawn.panels
    half = range(128 * cta, 128 * cta + 128)
    assert {n // a.cols for n, flag in enumerate(a.data["held"]) if flag} == set(half)
    assert {n % b.cols for n, flag in enumerate(b.data["held"]) if flag} == set(range(32 * cta, 32 * cta + 32))
    assert {n // c.cols for n, flag in enumerate(c.data["held"]) if flag} == set(half)
    assert sum(b.data["needed"]) == len(b.labels)  # the other half is in the other CTA


def test_a_cube_of_a_stored_sparse_operand_has_its_columns():
    """v_smfmac_f32_16x16x32_f16: the 16 stored columns of A, four a lane: row lane % 16, columns 4 (lane / 16) on."""
    drawn = figure("v_smfmac_f32_16x16x32_f16", view="cube", thread=21)
    a, b, _ = drawn.panels
    assert (a.rows, a.cols, b.rows, b.cols) == (16, 16, 32, 16)
    assert {(n // 16, n % 16) for n, flag in enumerate(a.data["held"]) if flag} == {(5, k) for k in range(4, 8)}
    assert a.unit[0] * a.cols == pytest.approx(b.unit[1] * b.rows)  # the faces meet


@pytest.mark.parametrize("target", TARGETS)
def test_the_values_of_a_cube_are_named_where_there_is_room(target):
    for source in (ONE_OF_EACH[4][0], "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))", "SM70_8x8x4_F32F16F16F32_TN"):
        page = page_of(figure(source, view="cube", thread=5), Options(target=target))
        named = [item for item in page.items if isinstance(item, Texts)]
        assert all(min(item.sizes) >= TARGET[target].least for item in named)
        for item in named:  # none touches the next
            places = sorted(zip(item.xs, item.ys, strict=True))
            near = (
                min((abs(x - u), abs(y - v)) for n, (x, y) in enumerate(places) for u, v in places[:n]) if places[1:] else (99, 99)
            )
            assert near[0] >= 1.2 * item.sizes[0] or near[1] >= 0.9 * item.sizes[0], (source, near)


@pytest.mark.parametrize(
    ("spec", "caption"),
    [
        ("ampere_gemm", "128x128x64 = 2x2 warps of 64x64 = 4x8 atoms of 16x8;"),
        ("hopper_gemm", "64x64x64 = 1 warp group of 64x64 = 1 atom of 64x64;"),
        ("blackwell_gemm", "128x128x64 = 1 CTA of 128x128 = 4 warps of 32 lanes;"),
        ("blackwell_gemm_2sm", "256x64x64 = 2 CTAs of 128x64 = 4 warps of 32 lanes;"),
    ],
)
def test_the_zoom_of_a_spec_has_its_tile(spec, caption):
    drawn = figure(spec, view="zoom")
    assert drawn.caption.startswith(caption)
    assert "GEMM" not in drawn.title  # that is what the spec's own picture is called


def test_each_level_of_a_zoom_is_a_part_of_the_one_before():
    """A part of a large atom is outlined where it is; wgmma's lane 5 holds rows 1 and 9, columns 2, 3, 10, 11 and so on."""
    drawn = figure("hopper_gemm", view="zoom")
    whole, part = drawn.panels[1:]
    assert whole.caption == "2 CTA tile 64 × 64  1 warp group, 1 × 1 atoms"
    assert drawn.arrows[-1].start == (0, 0.875, 0.125, 1)
    box = next(shape for shape in whole.shapes if shape.kind == "box")
    assert box.points == ((0.875, 0), (1, 0.125))
    named = {(n // 8, 56 + n % 8): label for n, label in enumerate(part.labels) if label}
    held = {(r, 8 * i + c) for i in range(8) for r in (1, 9) for c in (2, 3)}
    assert set(named) == {(r, c) for r, c in held if c >= 56 and r < 8}
    assert named[1, 58] == "V28"  # 4 for each 8 columns


@pytest.mark.parametrize("thread", [0, 37, 229, 255])
def test_a_zoom_of_scalar_mmas_opens_one_that_the_thread_has(thread):
    """16 x 16 threads, column-major: thread t has C(t % 16 + 16 a, t / 16 + 16 b); the 32 of a warp have two columns."""
    drawn = figure("make_tiled_mma(UniversalFMA<float>{}, (16,16,1))", view="zoom", tile="64x32", thread=thread, coord="1,2")
    _, tile, atoms, atom = drawn.panels
    assert drawn.title == "One thread holds 1 value in each of 8 atoms"
    assert drawn.caption.startswith("64x32 = 1x8 warps of 64x4 = 64x4 atoms of 1x1;")
    assert [int(label) for label in tile.labels] == [c % 8 for c in range(16)]  # each two columns of 64
    i, j = thread % 16, thread // 16
    assert {shape.points[0] for shape in atoms.shapes if shape.kind == "area"} == {
        (j % 2 + 2 * b, i + 16 * a) for a in range(4) for b in range(2)
    }
    assert (atom.labels, atom.foot) == (("V0",), f"V0 is C({64 + i}, {64 + j + 16})")
    assert drawn.arrows[-1].start == (i, j % 2 + 2, i + 1, j % 2 + 3)


def test_a_zoom_of_amd_counts_waves():
    drawn = figure("v_mfma_f32_16x16x16_f16", view="zoom", tile="64x64")
    assert [panel.caption for panel in drawn.panels[1:]] == [
        "2 CTA tile 64 × 64  1 wave, 4 × 4 atoms",
        "3 Thread 5  atom of 16 × 16",
    ]


NOTES = ["--note", "(0,0)..(3,0): one bank group", "--note", "T5: reads here"]


def test_notes_stand_beside_the_cells_in_every_format(tmp_path):
    svg = run("render", "((4,8),(2,2)):((32,1),(16,8))", "--tile", "16x8", *NOTES, "-T", "svg").stdout.decode()
    tex = run("render", "((4,8),(2,2)):((32,1),(16,8))", "--tile", "16x8", *NOTES, "-T", "tikz").stdout.decode()
    text = run("render", "((4,8),(2,2)):((32,1),(16,8))", "--tile", "16x8", *NOTES).stdout.decode()
    assert "At (0,0)..(3,0): one bank group. At T5: reads here.</desc>" in svg
    for word in ("one bank group", "reads here"):
        assert f">{word}</text>" in svg
        assert f"{{{word}}}%" in tex
    assert text.endswith("(0,0)..(3,0): one bank group\nT5: reads here\n")


@pytest.mark.parametrize("target", ["readme", "column", "page", "slide", None])
@pytest.mark.parametrize(("source", "words"), [("(8,8):(8,1)", {}), *ONE_OF_EACH[:1]])
def test_a_note_outlines_its_cells_and_its_leader_runs_between_numbers(source, words, target):
    drawn = figure(source, note="(2,1)..(3,4): a block\nrow 7: the last of all rows", **words)
    assert figure("(4,2):(1,4)", note="offset 0..3: one column").notes_on[0].boxes == ((0, 0, 4, 1),)
    assert [note.boxes for note in drawn.notes_on] == [((2, 1, 4, 5),), ((7, 0, 8, 8),)]
    page = page_of(drawn, Options(target=target))
    (place,) = page.panels
    grid = place.grid
    paths = [item for item in page.items if isinstance(item, Path)][-4:]
    outlines, leaders = [paths[0], paths[1]], paths[2:]
    for (r0, c0, r1, c1), outline in zip([(2, 1, 4, 5), (7, 0, 8, 8)], outlines, strict=True):
        (x0, y0), (x1, y1) = outline.lines[0][0], outline.lines[0][2]
        assert max(abs(x0 - grid.left - c0 * grid.cell_w), abs(y1 - grid.top - r1 * grid.cell_h)) < 1
        assert max(abs(x1 - grid.left - c1 * grid.cell_w), abs(y0 - grid.top - r0 * grid.cell_h)) < 1
    for leader in leaders:
        for (x0, y0), (x1, y1) in pairwise(leader.lines[0]):
            assert x0 == x1 > grid.right or y0 == y1
            if y0 == y1 and x0 < grid.right:  # between two rows
                assert abs((y0 - grid.top) / grid.cell_h - round((y0 - grid.top) / grid.cell_h)) < 0.01
    texts = [item for item in page.items if isinstance(item, Line)]
    assert all(item.x + 0.6 * item.size * len(item.text) <= page.width + 1 for item in texts[-2:])
    most = {"readme": 700, "column": 318, "page": 624, "slide": 900}.get(target or "", 2000)
    assert page.width <= most + 1


def test_notes_are_arrows_and_braces_in_every_format(tmp_path):
    words = "(0,0) -> (3,4): comes next\nbrace row 5..7: three rows\nbrace column 0..3: half"
    drawn = figure("(8,8):(8,1)", note=words)
    assert [note.boxes for note in drawn.notes_on] == [((0, 0, 1, 1), (3, 4, 4, 5)), ((5, 0, 8, 8),), ((0, 0, 8, 4),)]
    page = page_of(drawn, Options())
    (grid,) = [place.grid for place in page.panels]
    assert grid.cell_w == page_of(figure("(8,8):(8,1)"), Options()).panels[0].grid.cell_w  # no label is lost
    at, head = next((n, item) for n, item in enumerate(page.items) if isinstance(item, Path) and item.fill == item.role)
    start, end = page.items[at - 1].lines[0][0], head.lines[0][0]
    for (x, y), (r, c) in ((start, (0, 0)), (end, (3, 4))):  # in its cell, or at its edge
        assert abs((x - grid.left) / grid.cell_w - c - 0.5) <= 0.51
        assert abs((y - grid.top) / grid.cell_h - r - 0.5) <= 0.51
    assert end != start
    braces = [item.lines[0] for item in page.items if isinstance(item, Path) and len(item.lines[0]) == 4 and item.width == 2.2]
    assert [grid.right < line[1][0] < grid.right + 12 for line in braces] == [True, False]
    assert [grid.bottom < line[1][1] < grid.bottom + 12 for line in braces] == [False, True]
    (tmp_path / "s.yaml").write_text(
        "specs:\n  s:\n    layout: (8,8):(8,1)\n    figure:\n      note: |-\n        " + words.replace("\n", "\n        ")
    )
    for format_ in ("text", "svg", "html", "tikz", "json"):
        text = run("render", str(tmp_path / "s.yaml"), "-T", format_).stdout.decode()
        assert all(part in text for part in ("comes next", "three rows", "half")), format_


def test_a_note_on_nothing_is_refused():
    wrong = {
        "(9,9): x": "no panel has",
        "here: x": "is not a note",
        "T3: x": "no panel has",
        "(0,0) -> (8,8): x": "no panel has",
        "brace row 9: x": "no panel has",
        "(0,0) x": "is not a note",
    }
    for words, why in wrong.items():
        with pytest.raises(CuteVizError, match=why):
            figure("(8,8):(8,1)", note=words)


@pytest.mark.parametrize("topic", ["layout", "composition", "divide", "swizzle", "tv", "conflicts"])
def test_a_quiz_takes_its_key_and_nothing_else(topic, tmp_path):
    shown = run("quiz", topic, "--seed", "5", "--key").stdout.decode()
    assert (
        shown
        == run("quiz", topic, "--seed", "5", "--key").stdout.decode()
        != run("quiz", topic, "--seed", "6", "--key").stdout.decode()
    )
    answers = shown.partition("\nKey\n")[2].splitlines()
    path = tmp_path / "answers.yaml"
    path.write_text("".join(line.replace(". ", ": ", 1) + "\n" for line in answers))
    good = run("quiz", topic, "--seed", "5", "--check", str(path))
    assert good.returncode == 0
    assert good.stdout.decode() == "".join(f"{n}: right\n" for n in range(1, len(answers) + 1))
    path.write_text("1: 12345\n")
    bad = run("quiz", topic, "--seed", "5", "--check", str(path))
    assert bad.returncode == 1
    assert b"1: wrong, it is " in bad.stdout


def test_a_quiz_is_a_page_or_a_sheet_for_latex(tmp_path):
    page, sheet = tmp_path / "s.html", tmp_path / "s.tex"
    assert (
        run("quiz", "tv", "--seed", "3", "-o", str(page)).returncode
        == run("quiz", "tv", "--seed", "3", "-o", str(sheet)).returncode
        == 0
    )
    assert page.read_text().count("<svg") == sheet.read_text().count(r"\begin{tikzpicture}[x=.75pt,y=-.75pt,every") == 1
    assert "<summary>Key</summary>" in page.read_text()
    assert r"\rotatebox{180}" in sheet.read_text()
    assert run("quiz", "nothing").returncode == 2


def lit(panel, paint):
    return {label for label, its in zip(panel.labels, panel.paints, strict=True) if its == paint}


def test_the_steps_of_a_divide_pick_a_tile_and_repeat_it():
    drawn = figure("logical_divide((4,8):(8,1), (2,4))", view="steps")
    assert drawn.title == "logical_divide cuts A into 4 tiles and moves nothing"
    a, tile, again, result = drawn.panels
    assert list(map(int, a.labels)) == list(range(32))
    assert lit(tile, 0) == {str(8 * r + c) for r in range(2) for c in range(4)}
    full = {n for n, paint in enumerate(again.paints) if paint < 7}
    assert full == {8 * r + c for r in (0, 2) for c in (0, 4)}
    assert [(shape.text, shape.look.split()[0]) for shape in again.shapes] == [("+16", "left"), ("+4", "up")]
    for n, label in enumerate(result.labels):  # ((2,2),(4,2)):((8,16),(1,4))
        r, c = divmod(n, 8)
        assert int(label) == 8 * (r % 2) + 16 * (r // 2) + c % 4 + 4 * (c // 4)
    assert [shape.points for shape in a.shapes] == [((0, 0), (4, 2))]
    strided = figure("zipped_divide((4,8):(8,1), (2:2, 4:2))", view="steps")
    assert lit(strided.panels[1], 0) == {str(8 * r + c) for r in (0, 2) for c in (0, 2, 4, 6)}


def test_the_steps_of_a_composition_and_a_complement():
    drawn = figure("composition((4,8):(8,1), 4:2)", view="steps")
    assert drawn.title == "B picks 4 of the 32 elements of A: R(i) = A(B(i))"
    order = {label: (n // 8, n % 8) for n, label in enumerate(drawn.panels[1].labels) if label}
    assert order == {str(i): (2 * i % 4, 2 * i // 4) for i in range(4)}
    assert sorted(map(int, drawn.panels[2].labels)) == sorted(8 * (2 * i % 4) + 2 * i // 4 for i in range(4))
    two = figure("composition((4,8):(8,1), (2,4):(2,4))", view="steps")
    assert [shape.points for shape in two.panels[0].shapes] == [((0, r), (4, r + 1)) for r in (0, 2)]
    hues = [{label: paint for label, paint in zip(p.labels, p.paints, strict=True) if paint < 7} for p in two.panels[::2]]
    assert hues[0] == hues[1] == {str(16 * r + c): c for r in range(2) for c in range(4)}  # a column of R has its own
    drawn = figure("complement((2,2):(1,8), 32)", view="steps")
    assert drawn.title == "A and its complement reach 32 of 32 places, each once"
    assert lit(drawn.panels[0], 0) == {"0", "1", "8", "9"}
    refused = (
        "(4,8):(8,1)",
        "coalesce((4,8):(8,1))",
        "composition(60000, 120000)",
        "logical_product((4,8):(8,1), 100000000)",
        "complement(60000, 12000000000)",  # would be 12 billion cells
        "right_inverse((2,2):(1,100000000))",
        "right_inverse((2,2):(1@0,1@1))",
    )
    for source in refused:
        with pytest.raises(CuteVizError):
            figure(source, view="steps")


def test_a_tiler_that_is_one_layout_goes_through_all_of_a():
    """CuTe divides the whole index by a layout, and each mode by a tuple: ((4,8):(8,1)) / 2:1 has 16 tiles."""
    for source, tiles in (("2:1", 16), ("(2,1)", 16), ("(2,)", 16), ("(2,4)", 4), ("(_,4)", 2), ("8:4", 4)):
        drawn = figure(f"logical_divide((4,8):(8,1), {source})", view="steps")
        assert drawn.title.startswith(f"logical_divide cuts A into {tiles} tiles")
        again = drawn.panels[2]
        assert sum(paint < 7 for paint in again.paints) == tiles
    deep = figure("zipped_divide((4,8,2):(8,1,32), (2,4))", view="steps")  # ((2,4),(2,2,2)): the third mode is of the rest
    assert deep.title.startswith("zipped_divide cuts A into 8 tiles")
    assert [int(x) for x in deep.panels[3].labels] == [
        (i % 2) * 8 + (i // 2) + (j % 2) * 16 + (j // 2 % 2) * 4 + j // 4 * 32 for i in range(8) for j in range(8)
    ]


def test_a_board_from_a_file_is_held_to_its_model():
    plain = json.loads(json.dumps(to_dict(figure("(4,4):(4,1)", view="path", note="row 0: first"))))
    wrong = [
        ("shapes", [{"kind": "line", "points": [[0, 0], [[1, 2], 3]]}]),
        ("shapes", [{"kind": "star", "points": [[0, 0], [1, 1]]}]),
        ("shapes", [{"kind": "line", "points": [[0, 0]]}]),
        ("shapes", [{"kind": "dot", "points": [[0, 1e9]]}]),
        ("unit", [0, 1]),
        ("face", "back"),
    ]
    for name, value in wrong:
        with pytest.raises(CuteVizError):
            from_dict({**plain, "panels": [{**plain["panels"][0], name: value}]})
    for name, value in (("flow", "spiral"), ("notes_on", [{"panel": 0, "where": "", "text": "", "boxes": [[0, 0, 9, 9]]}])):
        with pytest.raises(CuteVizError):
            from_dict({**plain, name: value})
    with pytest.raises(CuteVizError, match="too large"):
        from_dict({**plain, "panels": plain["panels"] * 65})


def test_a_spec_compares_two_objects(tmp_path: Folder) -> None:
    spec = tmp_path / "d.yaml"
    spec.write_text("specs:\n  d:\n    layout: (4,8):(8,1)\n    beside: {after: '(4,8):(1,4)'}\n    figure: {diff: true}\n")
    found = json.loads(run("render", f"{spec}::d", "-T", "json").stdout)
    assert found["title"].startswith("30 of 32 cells")
    assert found["notes"] == []
    spec.write_text("specs:\n  d:\n    layout: (4,8):(8,1)\n    figure: {diff: true}\n")
    assert "beside" in fails(run("render", f"{spec}::d"), 1)


def simulated(stages, tiles, load=3, compute=1, consumers=1, work=1, epilogue=2):
    """A pipeline slot by slot: barriers, a producer, and consumers that share the tensor cores, by nothing but their rules."""
    arrives, holds = {}, [None] * stages
    issued, done, busy_until = 0, 0, [0] * consumers
    rows = [[] for _ in range(1 + stages + consumers)]
    stored, running, slot = [0] * consumers, None, 0
    while done < tiles * work or running or any(until > slot for until in busy_until):
        if running and slot == running[1]:  # the MMA is over: the stage is empty
            tile = running[0]
            holds[tile % stages], running, done = None, None, done + 1
            if tile % tiles == tiles - 1:
                busy_until[tile // tiles % consumers] = slot + epilogue
                stored[tile // tiles % consumers] = tile // tiles
        if done == tiles * work and not any(until > slot for until in busy_until):
            break
        new = issued < tiles * work and holds[issued % stages] is None
        if new:
            holds[issued % stages], arrives[issued] = issued, slot + load
            issued += 1
        nxt = done
        who = nxt // tiles % consumers
        if running is None and nxt in arrives and arrives[nxt] <= slot and busy_until[who] <= slot:
            running = (nxt, slot + compute)
        rows[0].append(("load", issued - 1) if new else None)
        for n in range(stages):
            tile = holds[n]
            state = "mma" if running and tile == running[0] else "load" if tile is not None and arrives[tile] > slot else "full"
            rows[1 + n].append(None if tile is None else (state, tile))
        for n in range(consumers):
            mine = running is not None and running[0] // tiles % consumers == n
            rows[1 + stages + n].append(("mma", running[0]) if mine else ("store", stored[n]) if busy_until[n] > slot else None)
        slot += 1
    return rows


@pytest.mark.parametrize(
    "numbers",
    [
        {"stages": 4, "tiles": 8},
        {"stages": 3, "tiles": 9},
        {"stages": 1, "tiles": 3, "load": 2},
        {"stages": 2, "tiles": 7, "load": 5, "compute": 2},
        {"stages": 4, "tiles": 4, "work": 4, "consumers": 2, "epilogue": 4},
        {"stages": 4, "tiles": 4, "work": 3, "epilogue": 5},
        {"stages": 5, "tiles": 3, "work": 5, "consumers": 3, "epilogue": 9, "compute": 2},
        {"stages": 8, "tiles": 2},
        {"stages": 3, "tiles": 6, "load": 1, "compute": 4, "epilogue": 0},
    ],
)
def test_the_pipeline_is_that_of_a_simulation(numbers, tmp_path):
    fields = ", ".join(f"{key}: {value}" for key, value in numbers.items())
    (tmp_path / "p.yaml").write_text(f"specs:\n  p:\n    pipeline: {{{fields}}}\n")
    found = from_dict(json.loads(run("render", str(tmp_path / "p.yaml"), "-T", "json").stdout))
    rest = ",".join(f"{key}={value}" for key, value in numbers.items() if key != "stages")
    assert figure(numbers["stages"], view="pipeline", schedule=rest).panels == found.panels
    (panel,) = found.panels
    rows = simulated(**numbers)
    assert (panel.rows, panel.cols) == (len(rows), len(rows[0]))
    words = {1: "load", 2: "full", 3: "mma", 4: "store"}
    for r, row in enumerate(rows):
        for c, cell in enumerate(row):
            n = r * panel.cols + c
            shown = (words[panel.paints[n]], panel.data["tile"][n]) if panel.paints[n] in words else None
            assert shown == cell, (r, c)
    first = min(c for row in rows[1 + numbers["stages"] :] for c, cell in enumerate(row) if cell and cell[0] == "mma")
    mma = [any(row[c] and row[c][0] == "mma" for row in rows[1 + numbers["stages"] :]) for c in range(len(rows[0]))]
    last = max(c for c, busy in enumerate(mma) if busy)
    waits = sum(not busy for busy in mma[first : last + 1])
    assert found.facts["MMA waits"] == waits
    assert (f"{waits} of {last + 1 - first} slots" in found.title) == (waits > 0)
    assert {entry.paint for entry in found.legends[0].entries} == {paint for paint in panel.paints if paint > 0}


@pytest.mark.parametrize(
    ("source", "schedule", "words"),
    [
        ("(8,8):(8,1)", None, "no mode of stages"),
        ("4", "tiles=0", "tiles of a pipeline is an integer from 1 to 1024, not 0"),
        ("4", "tile=4", "did you mean tiles?"),
        ("4", "tiles", "is not a schedule"),
        ("4", "tiles=1024,load=64", "too many slots"),
        ("64", None, "64 stages"),
    ],
)
def test_what_is_no_pipeline(source, schedule, words):
    more = () if schedule is None else ("--schedule", schedule)
    assert words in fails(run("render", source, "--view", "pipeline", *more), 1)


@pytest.mark.parametrize(("launch", "stages"), [("1", 3), ("2", 5)])
def test_the_stages_of_a_launch_are_a_mode_of_its_tile(launch, stages, tmp_path):
    (tmp_path / "k.cu").write_text(
        "template <int Stages> __global__ void gemm(half_t* a) {\n  __shared__ half_t smem[4096];\n"
        "  auto sA = make_tensor(make_smem_ptr(smem), make_layout(make_shape(Int<16>{}, Int<8>{}, Int<Stages>{})));\n}\n"
        "int main() {\n  gemm<3><<<8, 128>>>(nullptr);\n  gemm<5><<<8, 128>>>(nullptr);\n}\n"
    )
    done = run("render", "k.cu::sA", "--launch", launch, "--view", "pipeline", "-T", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (panel,) = json.loads(done.stdout)["panels"]
    assert sum(row.startswith("stage") for row in panel["row_ruler"]["labels"]) == stages


def test_the_tiles_of_a_pipeline_are_those_of_k(tmp_path):
    (tmp_path / "k.cu").write_text(
        "#include <cute/tensor.hpp>\nusing namespace cute;\n"
        "__global__ void gemm(float* p, int k) {\n  auto mA = make_tensor(make_gmem_ptr(p), make_shape(512, k));\n"
        "  auto gA = local_tile(mA, make_shape(Int<128>{}, Int<64>{}), make_coord(0, _));\n  __shared__ float smem[8192];\n"
        "  auto sA = make_tensor(make_smem_ptr(smem), make_layout(make_shape(Int<16>{}, Int<8>{}, Int<3>{})));\n}\n"
        "int main() {\n  gemm<<<8, 128>>>(nullptr, 640);\n  gemm<<<8, 128>>>(nullptr, 4096);\n}\n"
    )
    for launch, tiles, more in (("1", 10, ()), ("2", 64, ()), ("2", 5, ("--schedule", "tiles=5,load=2"))):
        done = run("render", "k.cu::sA", "--launch", launch, "--view", "pipeline", *more, "-T", "json", cwd=tmp_path)
        found = from_dict(json.loads(done.stdout))
        (panel,) = found.panels
        assert found.facts["tiles"] == tiles
        rows = simulated(stages=3, tiles=tiles, load=2 if more else 3)
        shown = panel.data["slot"][: panel.cols]
        assert (len(rows[0]) == panel.cols) == (len(rows[0]) <= 48)
        for r, row in enumerate(rows):  # what is left out in the middle is left out in every row, and nothing moves
            for c, slot in enumerate(shown):
                assert panel.data["tile"][r * panel.cols + c] == (row[slot] and row[slot][1])
        left = sorted({*range(len(rows[0]))} - {*shown})
        assert found.notes == ((f"Slots {left[0]} to {left[-1]} of {len(rows[0])} are left out.",) if left else ())


def by_hand(layout):
    """The offsets of a plain layout in the order in which CuTe counts: the first mode fastest, by nothing but its strides."""

    def flat(shape, stride):
        pairs = zip(shape, stride, strict=True) if isinstance(shape, tuple) else [(shape, stride)]
        return [leaf for s, d in pairs for leaf in (flat(s, d) if isinstance(s, tuple) else [(s, d)])]

    out = [0]
    for extent, step in flat(layout.shape, layout.stride):
        out = [x + i * step for i in range(extent) for x in out]
    return out


OPERATIONS = [
    ("logical_divide((4,8):(8,1), (2,4))", "same"),
    ("zipped_divide((8,8):(1,8), (2,4))", "same"),
    ("tiled_divide((4,6):(6,1), (2:2,3))", "same"),
    ("logical_divide(24:1, 4:2)", "same"),
    ("logical_divide((4,8):(8,1), 2:1)", "same"),
    ("logical_divide((4,8,2):(8,1,32), (2,4))", "same"),
    ("flat_divide((9,(4,8)):(59,(13,1)), (3:3,(2,4):(1,8)))", "same"),
    ("composition((4,8):(8,1), (4,2):(2,16))", "same"),
    ("composition((4,8):(8,1), (2:2,4:2))", "same"),
    ("composition((4,8,3):(8,1,32), (2,4))", "same"),
    ("composition((12,(4,8)):(59,(13,1)), (3:4,8:2))", "same"),
    ("composition((6,2):(8,2), (4,3):(3,1))", "same"),
    ("complement(4:2, 24)", "starts"),
    ("complement((2,4):(1,6), 24)", "starts"),
    ("logical_product((2,2):(4,1), 6:1)", "starts"),
    ("zipped_product((2,2):(2,1), (3,2):(1,3))", "starts"),
    ("zipped_product((2,5):(5,1), (3:5,4:6))", "starts"),
    ("logical_product((2,5):(5,1), (3:5,4:6))", "starts"),
    ("flat_product(4:1, 3:2)", "starts"),
    ("blocked_product((2,5):(5,1), (3,4):(1,3))", "starts"),
    ("raked_product((2,5):(5,1), (3,4):(1,3))", "starts"),
    ("right_inverse((4,8):(8,1))", "inverse"),
    ("right_inverse((2,4):(4,1))", "inverse"),
    ("left_inverse((4,8):(1,5))", "inverse"),
    ("left_inverse((2,4):(8,1))", "inverse"),
]


@pytest.mark.parametrize(("source", "meaning"), OPERATIONS)
def test_every_way_is_a_fact(source, meaning):
    """Each cell of the result came from the cell of the first panel that plain arithmetic gives it."""
    drawn = figure(source, view="steps")
    first, last = drawn.panels[0], drawn.panels[-1]
    result, a = parse(source), parse(re.match(r"\w+\((.*?)(?:, .*)?\)$", source)[1])
    came = last.data["source"]
    held, goes = by_hand(a), by_hand(result)
    if meaning != "starts" or "product" in source:
        tall = last.rows
        counted = [n // last.cols + n % last.cols * tall for n in range(len(goes))]
        assert [int(label) for label in last.labels] == [goes[k] for k in counted]
    for n, cell in enumerate(came):
        if meaning == "same":
            assert first.labels[cell] == last.labels[n]
        elif meaning == "starts":
            assert int(last.labels[n]) - int(first.labels[cell]) in (
                goes if source.startswith("complement") else {x - y for x in goes for y in held}
            )
        elif cell is not None:
            index = cell // first.cols + cell % first.cols * first.rows
            offset = held[index]
            assert (int(last.labels[n]), first.labels[cell]) == (index, str(offset))
            assert goes[n // last.cols + n % last.cols * last.rows] == index
    if "product" in source:  # each element of the block goes everywhere once, and each copy has one start
        copies = len(goes) // len(held)
        assert sorted(came) == sorted(list(range(len(held))) * copies)
        starts = {int(label) - int(first.labels[cell]) for label, cell in zip(last.labels, came, strict=True)}
        assert len(starts) == copies
        assert sorted(x + y for x in starts for y in held) == sorted(goes)
    if meaning == "inverse":
        assert sum(cell is not None for cell in came) == sum(x < len(goes) for x in set(held))


def test_steps_that_are_not_drawn():
    for source, words in (
        ("complement((4,4):(1@0,1@1), 32)", "whose values are offsets"),
        ("right_inverse((2,2):(1@0,1@1))", "whose values are offsets"),
        ("coalesce((2,2))", "are not drawn"),
    ):
        assert words in fails(run("render", source, "--view", "steps"), 1)


def test_elements_move_from_where_they_are_to_where_they_land(tmp_path):
    source = "raked_product((2,2):(2,1), (2,3):(1,2))"
    run("explain", source, "--animate", "-o", str(tmp_path / "m.svg"), "--for", "readme")
    run("explain", source, "-o", str(tmp_path / "s.svg"), "--for", "readme")
    moving, still = ((tmp_path / name).read_text() for name in ("m.svg", "s.svg"))
    begin = moving.index("<style>@keyframes")
    assert still.removesuffix("</svg>\n") == moving[:begin]  # whoever does not move it sees the steps
    drawn = figure(source, view="steps")
    places = page_of(drawn, Options(target="readme")).panels
    first, last = places[0].grid, places[-1].grid
    ways = re.findall(r"@keyframes e\w+\{0%,[\d.]+%\{opacity:0;transform:translate\(([\d.-]+)px,([\d.-]+)px\)", moving)
    cols, rows = drawn.panels[-1].cols, drawn.panels[-1].rows
    expected = []
    for n in sorted(range(rows * cols), key=lambda n: (n % cols, n // cols)):
        r, c = divmod(drawn.panels[-1].data["source"][n], drawn.panels[0].cols)
        x = first.left + (c + 0.5) * first.cell_w - last.left - (n % cols + 0.5) * last.cell_w
        y = first.top + (r + 0.5) * first.cell_h - last.top - (n // cols + 0.5) * last.cell_h
        expected.append((x, y))
    assert [(float(x), float(y)) for x, y in ways] == [pytest.approx(way, abs=0.02) for way in expected]
    assert moving.count('opacity="0"') == 3 + len(expected)
    assert "prefers-reduced-motion" in moving
    assert "only wavefronts and steps of an operation move" in fails(
        run("explain", "Sw<3,3,3>", "--animate", "-o", str(tmp_path / "x.svg")), 1
    )
    assert "--animate needs" in fails(run("explain", source, "--animate"), 2)
    assert run("render", source, "--view", "steps", "--animate", "--for", "readme", "-T", "svg").stdout.decode() == moving
    assert "--animate applies to svg, not to png" in fails(run("render", source, "--animate", "-o", str(tmp_path / "x.png")), 2)


def test_the_page_of_steps_has_a_slider(tmp_path):
    run("render", "logical_divide((4,8):(8,1), (2,4))", "--view", "steps", "-o", str(tmp_path / "s.html"))
    page = (tmp_path / "s.html").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])["series"]
    assert "<label>Step <input" in page
    assert data["word"] == "step"
    assert [picture[0] for picture in data["pictures"]] == list(range(1, 4 + 32 + 1))
    words = [picture[2] for picture in data["pictures"][4:]]
    assert words[1].startswith("A(1,0), 8, goes to (1,0) of the result, 8.")


@pytest.mark.parametrize("words", ["offsets", "offsets=5", "offsets=all", "labels=3"])
def test_blanks_leave_out_what_the_key_tells(words):
    source = "((2,2),4):((1,8),2)"
    plain, drawn = figure(source), figure(source, blank=words, key=True)
    kept = figure(source, blank=words)
    exercise, whole = drawn.panels
    assert exercise.labels == kept.panels[0].labels
    told = dict(re.findall(r"(\w+) = (\w+)", drawn.description))
    blanks = {n: re.fullmatch(r"\((\w+)\)", label)[1] for n, label in enumerate(exercise.labels) if label.startswith("(")}
    many = words.partition("=")[2]
    assert len(blanks) == len(told) == (16 if many == "all" else int(many or 4))
    for n, label in enumerate(exercise.labels):
        r, c = divmod(n, 4)
        value = r % 2 + 8 * (r // 2) + 2 * c
        assert whole.labels[n] == str(value)
        assert (told[blanks[n]] if n in blanks else label) == str(value)
        assert (exercise.data["offset"][n] is None) == (n in blanks)
        if "labels" in words:
            assert (drawn.paints[exercise.paints[n]].hue == -1) == (n in blanks)
            lit = not drawn.paints[whole.paints[n]].faded
        else:  # the hues of offsets would tell what is asked
            assert exercise.paints[n] == whole.paints[n]
            lit = drawn.paints[whole.paints[n]].hue != -1
        assert lit == (n in blanks) == ((r, c, r + 1, c + 1) in exercise.boxes)
    what = "What belongs" if "labels" in words else "Which offsets belong"
    assert kept.title == f"{what} in the {len(blanks)} blank{'s' * (len(blanks) > 1)}?"
    assert plain.title not in kept.description


def test_blanks_of_owners_banks_strides_and_boards():
    owners = figure("SM80_16x8x16_F32F16F16F32_TN", operand="C", blank="owners=all", key=True)
    told = dict(re.findall(r"(\w+) = (T\d+ V\d+)", owners.description))
    for n, label in enumerate(owners.panels[0].labels):
        row, col = divmod(n, 8)  # PTX ISA, mma.m16n8k16: groupID = lane / 4, threadID_in_group = lane % 4
        assert told[label.strip("()")] == f"T{row % 8 * 4 + col // 2} V{col % 2 + 2 * (row // 8)}"
    banks = figure("(8,32):(33,1)", view="banks", type="f32", blank="banks=9", key=True)
    for letter, bank in re.findall(r"(\w) = (\d+)", banks.description):
        r, c = divmod(banks.panels[0].labels.index(f"({letter})"), 32)
        assert int(bank) == (33 * r + c) % 32
    strides = figure("((2,2),4):((1,8),2)", blank="strides", key=True)
    assert (strides.source, strides.notes[-1]) == ("((2,2),4):((a,b),c)", "Key: a = 1, b = 8, c = 2.")
    assert "(1,8)" not in json.dumps(to_dict(figure("((2,2),4):((1,8),2)", blank="strides")))
    steps = figure("logical_divide((4,8):(8,1), (2,4))", view="steps", blank="labels=6", key=True)
    letters = [label for panel in steps.panels for label in panel.labels if label.startswith("(")]
    assert sorted(letters) == [f"({letter})" for letter in "abcdef"]


@pytest.mark.parametrize(
    ("more", "status", "words"),
    [
        (("--blank", "ofsets"), 1, "leaves out nothing"),
        (("--blank", "banks"), 1, "no cell of this picture shows banks"),
        (("--blank", "offsets=65"), 1, "1 to 64, or all"),
        (("--blank", "strides=2"), 1, "is of a layout with strides"),
        (("--key",), 2, "--blank"),
    ],
)
def test_blanks_that_are_none(more, status, words):
    assert words in fails(run("render", "(8,8):(8,1)", *more), status)


def test_an_exercise_as_a_page_hides_its_answers(tmp_path):
    run("render", "(4,4):(4,1)", "--blank", "offsets=all", "-o", str(tmp_path / "x.html"))
    text = (tmp_path / "x.html").read_text()
    panel = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])["panels"][0]
    assert panel["data"]["offset"] == [None] * 16
    assert not re.search(r"<td>\d+</td>", text)


def test_answers_may_name_their_sheet(tmp_path):
    sheet = run("quiz", "swizzle", "--seed", "7", "--key").stdout.decode()
    key = sheet.rpartition("Key\n")[2]
    (tmp_path / "a.yaml").write_text("topic: swizzle\nseed: 7\n" + re.sub(r"(?m)^(\d+)\. (.*)$", r"\1: '\2'", key))
    done = run("quiz", "--check", str(tmp_path / "a.yaml"))
    assert (done.returncode, done.stdout.decode().count("right")) == (0, 5)
    (tmp_path / "a.yaml").write_text("topic: swizzles\n1: 2\n")
    assert "did you mean swizzle?" in fails(run("quiz", "--check", str(tmp_path / "a.yaml")), 2)


@pytest.mark.parametrize("layout", ["(64,64):(64,1)", "(64,64):(68,1)", "(64,64):(1,64)", "Sw<3,3,3> o 0 o (64,64):(64,1)"])
@pytest.mark.parametrize(
    ("name", "bits"), [("ld.8", 8), ("st.8", 8), ("ld.16", 16), ("st.16", 16), ("ld.shared.u16", 16), ("STS.U8", 8)]
)
def test_accesses_below_a_word(layout, name, bits):
    """Each lane has an element of its row, or column where these lie together; lanes of one word are served at once."""
    drawn = figure(layout, view="access", by=name, type=bits)
    turned = layout == "(64,64):(1,64)"
    bytes_ = [offset(layout, *((0, lane) if turned else (lane, 0))) * bits // 8 for lane in range(32)]
    wave = [len({at // 4 for at in bytes_ if at // 4 % 32 == bank}) for bank in range(32)]
    assert list(drawn.facts.values())[-2] == max(wave)
    does = f"st.{bits} writes" if name[0] in "sS" else f"ld.{bits} reads"
    assert drawn.caption.startswith(f"{does} {bits // 8} bytes for each of 32 lanes")
    marked = {at for panel in drawn.panels[-2:-1] for n, at in enumerate(panel.data["byte"]) if panel.labels[n]}
    assert marked == {at // 4 * 4 for at in bytes_}


@pytest.mark.parametrize("layout", ["(64,64):(64,1)", "(64,64):(72,1)", "Sw<3,3,3> o 0 o (64,64):(64,1)"])
@pytest.mark.parametrize("bits", [32, 64, 128])
def test_cp_async_writes_as_a_store(layout, bits):
    """A lane writes 4, 8 or 16 bytes of its row: each bank takes a word at a time, phase by phase."""
    drawn = figure(layout, view="access", by=f"cp.async.{bits}")
    each = 1024 // bits  # lanes of a phase: 128 bytes
    total = 0
    for first in range(0, 32, each):
        banks = [set() for _ in range(32)]
        for lane in range(first, first + each):
            for byte in range(0, bits // 8, 4):
                where = offset(layout, lane, 0) * 2 + byte
                banks[where // 4 % 32].add(where // 4)
        total += max(map(len, banks))
    assert list(drawn.facts.values())[-2] == total
    assert "Counted as st." in drawn.notes[0]
    assert f"cp.async.{bits} writes {bits // 8} bytes" in drawn.caption


KERNEL = """template <class Tiler, class Mma> __global__ void gemm(Tiler tiler, Mma mma, int m, int n, float* c) {
  auto mC = make_tensor(make_gmem_ptr(c), make_shape(m, n), make_stride(_1{}, m));
  auto gC = local_tile(mC, tiler, make_coord(blockIdx.x, blockIdx.y, _), Step<_1,_1,X>{});
  auto thr_mma = mma.get_slice(threadIdx.x);
}
int main() {
  auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_2>>{});
  gemm<<<dim3(4, 3), 128>>>(make_shape(Int<64>{}, Int<128>{}, Int<32>{}), mma, 256, 300, nullptr);
  gemm<<<dim3(40, 40), 128>>>(make_shape(Int<128>{}, Int<64>{}, Int<32>{}), mma, 5120, 2560, nullptr);
}
"""


@pytest.mark.parametrize(("launch", "grid", "tile"), [("1", (4, 3), (64, 128)), ("2", (40, 40), (128, 64))])
def test_the_zoom_of_a_launch_has_its_grid_and_its_tile(launch, grid, tile, tmp_path):
    (tmp_path / "k.cu").write_text(KERNEL)
    words = ("render", "k.cu::gemm::thr_mma", "--launch", launch, "--view", "zoom", "-T", "json")
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    first, second = found["panels"][:2]
    assert (first["rows"], first["cols"]) == tuple(min(8, extent) for extent in grid)
    assert first["caption"].startswith(f"1 Grid  {grid[0]} × {grid[1]} CTAs")
    assert second["caption"] == f"2 CTA tile {tile[0]} × {tile[1]}  4 warps"
    row, col = map(int, next(label for label in first["labels"] if label).split(","))
    assert first["foot"].endswith(f"begins at C({row * tile[0]}, {col * tile[1]})")
    assert found["caption"].startswith(f"{grid[0]}x{grid[1]} CTAs of {tile[0]}x{tile[1]} = 2x2 warps")
    assert f"a row below {grid[0]}" in fails(run(*words, "--coord", f"{grid[0]},0", cwd=tmp_path), 1)


@pytest.mark.parametrize(("cluster", "at"), [((2, 1), (2, 7)), ((2, 2), (3, 3)), ((1, 4), (5, 2)), ((4, 2), (0, 5))])
def test_the_ctas_of_a_cluster_share_the_tiles_that_they_both_need(cluster, at):
    """CTA (r, c) needs tile r of A and tile c of B, in every step over K."""
    drawn = figure(
        "SM90_64x128x16_F32F16F16_SS", view="zoom", tile="128x128", cluster="x".join(map(str, cluster)), coord=f"{at[0]},{at[1]}"
    )
    grid, panel = drawn.panels
    inside = {
        (r, c)
        for r in range(grid.rows)
        for c in range(grid.cols)
        if r // cluster[0] == at[0] // cluster[0] and c // cluster[1] == at[1] // cluster[1]
    }
    assert {divmod(n, grid.cols) for n, paint in enumerate(grid.paints) if drawn.paints[paint].hue != -1} == inside
    (top, left), (m, n) = min(inside), cluster
    assert drawn.arrows[0].start == (top, left, top + m, left + n)
    rows, cols = [f"A{top + i}" for i in range(m)], [f"B{left + j}" for j in range(n)]
    assert panel.labels == ("", *cols, *[x for a in rows for x in (a, *[f"{a}\n{b}" for b in cols])])
    ends = [
        (int(y0), int(x0), int(y1), int(x1))
        for shape in panel.shapes
        if shape.kind == "arrow"
        for (x0, y0), (x1, y1) in [shape.points]
    ]
    cells = [(1 + i, 1 + j) for i in range(m) for j in range(n)]  # each gets the tile of its row, and that of its column
    assert sorted(ends) == sorted([(r, 0, r, c) for r, c in cells] + [(0, c, r, c) for r, c in cells])
    opened = figure(
        "SM90_64x128x16_F32F16F16_SS", view="zoom", tile="128x128", cluster=f"{m}x{n}", coord=f"{at[0]},{at[1]}", thread=5
    )
    assert opened.title == "One thread holds 64 values in each of 2 atoms"
    assert opened.panels[0].shapes[0].points == ((left, top), (left + n, top + m))
    for x, times in (("A", n), ("B", m)):
        words = "twice" if times == 2 else f"{times} times"
        assert (f"not {words}" in drawn.title) if times > 1 else (f"of {x}" not in drawn.title)


@pytest.mark.parametrize(
    ("source", "more", "words"),
    [
        ("SM90_64x128x16_F32F16F16_SS", ("--cluster", "8x4"), "at most 16 CTAs"),
        ("SM90_64x128x16_F32F16F16_SS", ("--cluster", "3x6"), "at most 16 CTAs"),
    ],
)
def test_clusters_that_are_none(source, more, words):
    assert words in fails(run("render", source, "--view", "zoom", *more), 1)


MULTICAST = """
template <class TA, class TC, class MMA>
__global__ void gemm_device(TA mA, TC mC, MMA mma, int rank) {
  auto cluster = tiled_divide(make_layout(make_shape(Int<4>{}, Int<4>{}, Int<1>{})), make_tile(typename MMA::AtomThrID{}));
  auto gA = local_tile(mA, Shape<_256, _128, _64>{}, make_coord(blockIdx.x, blockIdx.y, _), Step<_1, X, _1>{});
  auto gC = local_tile(mC, Shape<_256, _128, _64>{}, make_coord(blockIdx.x, blockIdx.y, _), Step<_1, _1, X>{});
  auto where = cluster.get_flat_coord(rank);
  uint16_t mask = create_tma_multicast_mask<2>(cluster, where);
  auto cta_mma = mma.get_slice(rank % 2);
}
void run(half_t* a, float* c) {
  auto mma = make_tiled_mma(SM100_MMA_F16BF16_2x1SM_SS<half_t, half_t, float, 256, 128, UMMA::Major::K, UMMA::Major::K>{});
  auto tA = make_tensor(make_gmem_ptr(a), make_layout(make_shape(1024, 512), LayoutRight{}));
  auto tC = make_tensor(make_gmem_ptr(c), make_layout(make_shape(1024, 1024), LayoutRight{}));
  gemm_device<<<dim3(4, 8), 128>>>(tA, tC, mma, 0);
}
"""


def test_the_zoom_of_a_launch_has_its_cluster(tmp_path):
    """C of 1024 x 1024 in tiles of 256 x 128; of 4 x 4 CTAs of a cluster two along M are a pair, so 2 x 4 pairs share tiles."""
    (tmp_path / "pair.cu").write_text(MULTICAST)
    done = run("render", "pair.cu::cta_mma", "--launch", "1", "--view", "zoom", "-T", "json", cwd=tmp_path)
    drawn = json.loads(done.stdout)
    assert drawn["caption"].startswith("4x8 CTA pairs of 256x128x64; "), done.stderr
    assert (
        drawn["title"] == "A cluster of 2 × 4 CTA pairs loads each tile of A once, not 4 times, and each tile of B once, not twice"
    )
    own = run("render", "pair.cu::cta_mma", "--launch", "1", "--view", "zoom", "--cluster", "2x1", "-T", "json", cwd=tmp_path)
    assert json.loads(own.stdout)["title"] == "A cluster of 2 × 1 CTA pairs loads each tile of B once, not twice"


DSL = """import cutlass
import cutlass.cute as cute

@cute.kernel
def kernel(mA, mB, mC, mma: cute.TiledMma):
    bidx, bidy, _ = cute.arch.block_idx()
    gA = cute.local_tile(mA, (64, 32), {first})
    gB = cute.local_tile(mB, (128, 32), {second})
    gC = cute.local_tile(mC, (64, 128), {third})

@cute.jit
def host(p: cute.Pointer):
    mA = cute.make_tensor(p, cute.make_layout((512, 320), stride=(320, 1)))
    mB = cute.make_tensor(p, cute.make_layout((1024, 320), stride=(320, 1)))
    mC = cute.make_tensor(p, cute.make_layout((512, 1024), stride=(1024, 1)))
    mma = cute.make_tiled_mma(cute.nvgpu.warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16)), (2, 2, 1))
    kernel(mA, mB, mC, mma).launch(grid=(8, 8, 1), block=(128, 1, 1))
"""


@pytest.mark.parametrize("coords", [["(bidx, None)", "(bidy, None)", "(bidx, bidy)"], ["(None, None)"] * 3])
def test_the_zoom_and_the_pipeline_of_a_dsl_kernel_have_its_tiles(coords, tmp_path):
    """Of a CTA, or all of them at once, where the tiles of C are those of the rows of A and of B."""
    (tmp_path / "k.py").write_text(DSL.format(first=coords[0], second=coords[1], third=coords[2]))
    drawn = json.loads(run("render", "k.py::host::mma", "--view", "zoom", "-T", "json", cwd=tmp_path).stdout)
    assert drawn["caption"].startswith("8x8 CTAs of 64x128x32 = 2x2 warps of 32x64 = 2x8 atoms of 16x8")
    found = read((tmp_path / "k.py").read_text(), "python", Given())
    assert (launched(found), tiles_of_k(found)) == (((64, 128), (8, 8), None, 32), 10)


@pytest.mark.parametrize(
    "layout", ["Sw<3,3,3> o 0 o (64,64):(64,1)", "Sw<2,4,3> o 0 o (32,128):(1,32)", "Sw<3,2,3> o 0 o (64,32):(32,1)"]
)
def test_a_cell_of_a_long_swizzled_path_is_a_run_that_stays_together(layout):
    """The lines join the runs, each by its first address, as CuTe's offset by hand has them; the title counts the elements."""
    drawn = figure(layout, view="path")
    (panel,) = drawn.panels
    rows, cols = eval(layout.rpartition(" o ")[2].partition(":")[0])
    run = 1 << eval(layout[3 : layout.index(">")])[1]
    down = "(1," in layout
    shown = [(r * (run if down else 1), c * (1 if down else run)) for r in range(panel.rows) for c in range(panel.cols)]
    assert panel.data["offset"] == tuple(offset(layout, *cell) for cell in shown)
    assert len({at // run for at in panel.data["offset"]}) == len(shown) <= 128
    assert f"a cell is {run} elements" in drawn.caption
    order = sorted((at, divmod(n, panel.cols)) for n, at in enumerate(panel.data["offset"]))
    beside = sum(b - a == run and abs(x[0] - y[0]) + abs(x[1] - y[1]) == 1 for (a, x), (b, y) in pairwise(order))
    thick = [pair for shape in panel.shapes if shape.look == "strong" for pair in pairwise(shape.points)]
    assert sum(abs(x - u) + abs(y - v) for (x, y), (u, v) in thick) == beside > 0
    cell_of = {offset(layout, r, c): (r, c) for r in range(rows) for c in range(cols)}
    near = sum(abs(cell_of[n][0] - cell_of[n + 1][0]) + abs(cell_of[n][1] - cell_of[n + 1][1]) == 1 for n in range(rows * cols - 1))
    assert f"{near} of {rows * cols - 1} steps" in drawn.title


@pytest.mark.parametrize("source", ["Sw<3,3,3> o 0 o (128,64):(64,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)", "Sw<3,4,3>"])
@pytest.mark.parametrize("target", TARGETS)
def test_equations_beside_a_bit_matrix_do_not_touch(source, target):
    page = page_of(figure(source, view="matrix"), Options(target=target))
    ys = sorted(item.y for item in page.items if isinstance(item, Line) and item.text.startswith("= "))
    assert len(ys) == page.panels[0].panel.rows
    assert all(b - a > 10 for a, b in pairwise(ys))


def test_notes_that_leave_no_room_beside_a_product_are_below_it():
    drawn = figure("SM80_16x8x16_F32F16F16F32_TN", note="T5: holds 8 of A\nA (0,0): the first")
    plain, noted = (page_of(one, Options(target="column")) for one in (figure("SM80_16x8x16_F32F16F16F32_TN"), drawn))
    assert [place.grid.cell_w for place in noted.panels] == [place.grid.cell_w for place in plain.panels]
    lines = [item for item in noted.items if isinstance(item, Line) and item.text.endswith((" of A", "first"))]
    assert [line.text for line in lines] == ["C T5: holds 8 of A", "A (0,0): the first"]
    assert all(a.y + a.size < b.y < noted.height <= TARGET["column"].height for a, b in pairwise(lines))


def test_no_leader_runs_through_a_legend():
    """Where a legend has room only beside the cells, notes are below them."""
    drawn = figure("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))", operand="C", note="(0,0): the first")
    page = page_of(drawn, Options(target="slide"))
    right = page.panels[0].grid.right
    assert {line.text for line in page.items if isinstance(line, Line) and line.x > right} >= {"V0..V1", "V2..V3"}
    assert not [item for item in page.items if isinstance(item, Path) and any(x > right for line in item.lines for x, _ in line)]
    assert "(0,0): the first" in [item.text for item in page.items if isinstance(item, Line)]


@pytest.mark.parametrize("source", ["blackwell_gemm_2sm", "hopper_gemm", "ampere_gemm", UMMA_ATOM])
def test_the_levels_of_a_zoom_fill_a_column(source):
    """Two stand beside each other, at least, with the wedge that opens one of them."""
    page = page_of(figure(source, view="zoom"), Options(target="column"))
    assert len({round(place.grid.left) for place in page.panels}) > 1
    assert max(place.grid.right for place in page.panels) > 220
    assert page.width <= TARGET["column"].width


@pytest.mark.parametrize("shape", [(2, 1, 1), (4, 2, 1), (1, 2, 4, 1)])
@pytest.mark.parametrize("name", ["make_layout_image_mask", "nvgpu.cpasync.create_tma_multicast_mask"])
def test_the_zoom_of_a_dsl_kernel_has_the_cluster_of_its_masks(shape, name, tmp_path):
    """The CTAs along M and N are the modes behind that of the pair, if there is one, and before K."""
    m, n = shape[-3:-1]
    masks = f"""    cluster = cute.make_layout({shape})
    where = cluster.get_flat_coord(cute.arch.block_idx_in_cluster())
    mask_a = cute.{name}(cluster, where, {len(shape) - 2})
    mask_b = cute.{name}(cluster, where, {len(shape) - 3})
    mask_a = mask_a if {n} > 1 else 0
    gA ="""
    text = DSL.format(first="(bidx, None)", second="(bidy, None)", third="(bidx, bidy)").replace("    gA =", masks)
    (tmp_path / "k.py").write_text(text)
    drawn = json.loads(run("render", "k.py::host::mma", "--view", "zoom", "-T", "json", cwd=tmp_path).stdout)
    once = {(2, 1): "each tile of B once, not twice"}
    once[4, 2] = "each tile of A once, not twice, and each tile of B once, not 4 times"
    once[2, 4] = "each tile of A once, not 4 times, and each tile of B once, not twice"
    assert drawn["title"] == f"A cluster of {m} × {n} CTAs loads {once[m, n]}"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("(128,64):(64,1)", "Sw<3,3,3> o 0 o (128,64):(64,1)"),
        ("(64,64):(64,1)", "(64,64):(1,64)"),
        ("(16,128):(128,1)", "(16,128):(129,1)"),
        ("(8,64):(64,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)"),
    ],
)
def test_both_sides_of_a_difference_can_be_read(one, two, target):
    """At every place the words of both panels are offsets; of many cells those of an excerpt."""
    drawn = difference(figure(one), figure(two))
    page = page_of(drawn, Options(target=target))
    texts = " ".join(
        text for item in page.items for text in ([item.text] if isinstance(item, Line) else getattr(item, "texts", ()))
    )
    assert texts.split().count("differs") == (two.endswith(":(129,1)"))  # of the legend; what moves has hues
    first, second = (place.panel for place in page.panels)
    assert (first.rows, first.cols) == (second.rows, second.cols)
    top, left = int(first.row_ruler.labels[0]), int(first.col_ruler.labels[0])
    for panel, own in ((first, one), (second, two)):
        for n, label in enumerate(panel.labels):
            cell = top + n // panel.cols, left + n % panel.cols
            assert label == str(offset(own, *cell))
        assert any(panel.data["differs"])
        assert re.search(r"\d+(-\d+)?", texts.partition("not moved")[0])
    cut = (first.rows, first.cols) != (drawn.panels[0].rows, drawn.panels[0].cols)
    assert cut == bool(re.search(r"(rows|columns) \d+\.\.\d+ of \d+$", first.caption))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", ["(8,8):(8,1)", "Sw<3,0,3> o 0 o (8,8):(8,1)", "SM75_U32x1_LDSM_N"])
def test_the_letters_of_blanks_are_drawn_or_the_exercise_is_refused(source, target):
    words = {"operand": "D", "blank": "threads=6"} if source.startswith("SM") else {"blank": "offsets=6", "key": True}
    drawn = figure(source, **words)
    shown = page_of(drawn, Options(target=target))
    texts = [text for item in shown.items for text in ([item.text] if isinstance(item, Line) else getattr(item, "texts", ()))]
    assert {f"({letter})" for letter in "abcdef"} <= set(texts)
    with pytest.raises(CuteVizError, match="no room"):
        page_of(figure("(64,64):(64,1)", blank="offsets=6"), Options(target=target))
    with pytest.raises(CuteVizError, match="no cell of this picture shows"):
        figure("(8,8):(8,1)", view="path", blank="labels")


@pytest.mark.parametrize("target", TARGETS)
def test_the_leaders_of_notes_stay_within_the_page_and_off_the_legend(target):
    for source, note in (("(8,8):(8,1)", "(0,0)..(7,0): one bank group"), (ONE_OF_EACH[4][0], "T5: holds eight elements of A")):
        page = page_of(figure(source, note=note), Options(target=target))
        assert page.width <= TARGET[target].width + 1
        words = {item.text: item for item in page.items if isinstance(item, Line)}
        assert note.split(": ")[1].split()[0] in " ".join(words)
    page = page_of(figure("(8,8):(8,1)", note="(0,0)..(7,0): one bank group"), Options(target=target))
    legend = [item.y for item in page.items if isinstance(item, Line) and item.text.startswith("hue:")]
    assert min(legend) > page.panels[0].grid.bottom


def test_the_table_of_kinds_names_what_is_there():
    """A module, a picture of the gallery and the spec that it is drawn from, and a heading of the page, for each of ten kinds."""
    root = Folder(__file__).parent.parent
    text = (root / "docs/howto/figures.md").read_text()
    rows = re.findall(
        r"^\| \[[^\]]+\]\(#([^)]+)\) \|.*\[(\w+)\]\(\S+/(gallery/\w+\.svg)\) \| `(figures/\w+\.py)` \|$", text, re.MULTILINE
    )
    assert len(rows) == 10
    headings = {re.sub(r"[^a-z ]", "", line[3:].lower()).replace(" ", "-") for line in text.splitlines() if line.startswith("## ")}
    specs = (root / "layouts/specs/talk.yaml").read_text()
    for anchor, name, picture, module in rows:
        assert anchor in headings
        assert (root / picture).exists()
        assert f"  {name}:" in specs
        assert (root / "cute_viz" / module).exists()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("source", "words"), ONE_OF_EACH)
def test_a_board_has_room_at_every_place(source, words, target):
    """With a note, too: neither is refused, and neither is larger than the place."""
    for more in ({}, {"note": "(0,0): the first"}):
        page = page_of(figure(source, **words, **more), Options(target=target))
        assert page.width <= TARGET[target].width + 0.5
        assert page.height <= TARGET[target].height + 0.5


def test_steps_in_text_without_color_show_what_is_picked():
    """Of 2 x 4 tiles of a row-major 4 x 8: the first, then where each begins; all else recedes, and in color nothing does."""
    words = ("render", "logical_divide((4,8):(8,1), (2,4))", "--view", "steps", "--for", "terminal")
    shown = [line.rpartition("│")[2].split() for line in run(*words).stdout.decode().splitlines() if "│" in line]
    rows = [[str(8 * r + c) for c in range(8)] for r in range(4)]
    assert shown[:4] == [[x if r < 2 and c < 4 else "·" for c, x in enumerate(row)] for r, row in enumerate(rows)]
    assert shown[4:8] == [[x if r % 2 == c % 4 == 0 else "·" for c, x in enumerate(row)] for r, row in enumerate(rows)]
    assert shown[8:] == rows
    assert "·" not in run(*words, "--color", "always").stdout.decode()


def test_the_faces_of_a_cube_in_text_have_their_letters():
    shown = run("render", "SM80_16x8x16_F32F16F16F32_TN", "--view", "cube", "--for", "terminal").stdout.decode()
    assert " ".join(re.findall(r"^((?:[ABC] *)+)$", shown, re.M)).split() == ["A", "B", "C"]


@pytest.mark.parametrize("target", TARGETS)
def test_cells_without_labels_are_all_drawn(target):
    """An empty grid is there to be filled: no part of it stands for the rest."""
    for source, words, cells in (
        ("((8,4),2):((1,16),8)", {"tile": "16x4"}, (16, 4)),
        ("SM90_64x128x16_F32F16F16_SS", {"operand": "C"}, (64, 128)),
    ):
        page = page_of(figure(source, labels="none", color_by="none", **words), Options(target=target, bare=True))
        assert [(place.panel.rows, place.panel.cols) for place in page.panels] == [cells]


@pytest.mark.parametrize("what", ["owners=6", "threads=6"])
def test_a_blank_of_a_shared_element_keeps_none_of_its_owners(what):
    """In A of 2 x 2 warps each element has two owners; that of a blank would be its answer."""
    source = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))"
    (whole,), (panel,) = (figure(source, operand="A", **words).panels for words in ({}, {"blank": what}))
    blanks = {n for n, label in enumerate(panel.labels) if label.startswith("(")}
    assert len(blanks) == 6
    assert {cell for cell, _ in whole.owners} == set(range(32 * 16))
    assert {cell for cell, _ in panel.owners} == set(range(32 * 16)) - blanks


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_the_stages_that_would_hide_loads_do_so_for_any_number_of_tiles(stages):
    """A load of 3 slots and an MMA of 1 take as many stages as slots from the load to the end of the MMA, 4."""
    assert figure(f"(64,64,{stages})", view="pipeline").title.endswith("4 stages would hide the loads")


@pytest.mark.parametrize(("layout", "drawn"), [("(256,4):(4,1)", (64, 4)), ("1024:1", (1, 64)), ("(2,512):(1,2)", (2, 64))])
def test_a_long_path_is_drawn_as_far_as_it_can_be_seen(layout, drawn):
    """Its title counts all of it, which the caption admits."""
    found = figure(layout, view="path")
    (panel,) = found.panels
    rows, cols = eval(layout.partition(":")[0]) if "(" in layout else (1, 1024)
    assert (panel.rows, panel.cols) == drawn
    assert f"the first {drawn[0]} × {drawn[1]} of {rows} × {cols} cells" in found.caption
    assert f"of {rows * cols - 1} steps" in found.title
