"""Pictures are held to what can be read and to what is true; a planted mistake is found."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from cute_viz import figure, render
from cute_viz.figures.model import CONFLICT, HOLE, Arrow, Figure, Paint, Panel, Ruler
from cute_viz.gallery.claims import CLAIMS, is_true_of
from cute_viz.gallery.gates import flaws, is_so, is_true
from cute_viz.renderers import Options
from cute_viz.renderers.palette import MEANINGS, PALETTES, rgb
from tests import readback
from tests.colour_science import smallest_difference
from tests.test_targets import LADDER

README = Options(target="readme")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["readme", "column", "page", "slide"])
def test_the_ladder_passes(target: str) -> None:
    for source, options in LADDER:
        if target != "slide" or "desc" not in source:
            assert flaws(figure(source, **options), Options(target=target)) == [], source


TRUE = [
    ("(4,8):(8,1)", {}), ("(128,128):(1,128)", {}), ("1024:1", {}), ("(4,8):(0,1)", {}), ("(8,8):(3,2)", {}), ("(3,4):(2,1)", {}),
    ("Sw<3,3,3> o 0 o (8,64):(64,1)", {}), ("((2,2),(2,4)):((1,4),(2,8))", {}), ("(4,8):(12,1)", {}), ("(4,3):(7,2)", {}),
    ("SM80_16x8x16_F32F16F16F32_TN", {}), ("((16,8),8):((64,1),8)", {"tile": (8, 128)}), ("SM75_U32x4_LDSM_N", {}),
    ("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))", {"thread": 5}), ("SM90_64x64x16_F32F16F16_SS", {}),
]  # fmt: skip


def test_what_a_title_tells_is_true_and_another_number_is_not() -> None:
    """Each finding is computed again from the cells; with one number or word changed it is false."""
    told = 0
    for source, options in TRUE:
        drawn = figure(source, **options)
        assert flaws(drawn, README) == [], source
        title = drawn.title
        digits = [n for n, letter in enumerate(title) if letter.isdecimal()]
        wrong = [title[:n] + str((int(title[n]) + 1) % 10) + title[n + 1 :] for n in digits if title[n - 1 : n] != "T"]
        wrong += [title.replace("Row", "Column").replace("each row", "each column")] if title.startswith("Row") else []
        for words in wrong:
            assert not is_so(words, drawn), (source, words)
            told += 1
    assert told > 20


def planted(drawn: Figure, what: str) -> Figure:
    """A figure with one mistake."""
    (panel, *rest), (legend, *legends) = drawn.panels, drawn.legends
    if what == "a cell in another hue":
        panel = replace(panel, paints=(panel.paints[-1], *panel.paints[1:]))
    elif what == "a letter of a legend":
        first = legend.entries[0]
        legend = replace(legend, entries=(replace(first, label=first.label.replace("7", "6")), *legend.entries[1:]))
    elif what == "a title that runs off":
        return replace(drawn, title="x" * 20_000)
    elif what == "a row of another place":
        cells = panel.data["offset"]
        panel = replace(panel, data={"offset": (*cells[8:16], *cells[:8], *cells[16:])})
    return replace(drawn, panels=(panel, *rest), legends=(legend, *legends))


@pytest.mark.parametrize(
    "what", ["a cell in another hue", "a letter of a legend", "a title that runs off", "a row of another place"]
)
def test_a_planted_mistake_is_found(what: str) -> None:
    drawn = figure("(4,8):(8,1)")
    assert flaws(drawn, README) == []
    assert flaws(planted(drawn, what), README)


def test_red_is_a_conflict_and_nothing_else() -> None:
    """No palette has it; it is told from every hue, by colour-blind readers too."""
    for name, colours in PALETTES.items():
        red = colours.fill(Paint(CONFLICT))
        assert red not in colours.hues
        if name == "tol-even":
            for how in ("normal", "deutan", "protan", "tritan"):
                assert all(smallest_difference((red, hue), how) >= 10 for hue in colours.hues), how


@pytest.mark.parametrize("dark", [False, True])
def test_what_recedes_goes_towards_the_page(dark: bool) -> None:
    colours, page = PALETTES["tol-even"], ("#ffffff", "#0d1117")[dark]
    for hue in range(8):
        own, faded = (rgb(colours.fill(Paint(hue, faded=f), dark)) for f in (False, True))
        assert all(abs(f - p) <= 0.2 * abs(o - p) + 1 for o, f, p in zip(own, faded, rgb(page), strict=True))


def test_the_documentation_has_the_table_of_meanings() -> None:
    words = Path("docs/explain/colours.md").read_text("utf-8")
    assert [line.split("|")[1].strip() for line in words.splitlines() if line.startswith("| ")][2:] == [*MEANINGS]
    assert all(meaning in words for meaning in MEANINGS.values())


def test_the_lanes_of_a_kernel() -> None:
    """One panel for each memory on the way, an arrow for each movement; the k slice in full hue, 16 of 64 columns of A."""
    lanes = figure("hopper_gemm")
    named = [panel.caption.split(": ") for panel in lanes.panels[:-1]]
    assert [memory for _, memory in named] == ["global", "shared", "registers", "shared", "global"]
    assert all(len(name.split()) <= 4 for name, _ in named)
    a, shared = lanes.panels[:2]
    hue = [lanes.paints[paint].hue for paint in a.paints[:: a.cols]]
    assert hue == [row // 16 for row in range(64)]
    for row in range(64):  # the 128-byte swizzle: chunk c of row r stands at c ^ r % 8
        lit = {c for c in range(8) if not lanes.paints[shared.paints[row * 8 + c]].faded}
        assert lit == {c ^ row % 8 for c in range(2)}
    thread = figure("hopper_gemm", follow=13)
    first = thread.panels[0]
    lit = {n // 8 for n, paint in enumerate(first.paints) if not thread.paints[paint].faded}
    assert {first.row_ruler.labels[row] for row in lit} == {"3", "11"}
    held = thread.panels[2]
    # PTX ISA, "Register fragments for wgmma.mma_async.m64nNk16": lane 13 has two columns of each 8
    cells = {held.labels[n] for n, paint in enumerate(held.paints) if not thread.paints[paint].faded}
    assert cells == {f"{13 // 4 + 8 * half},{8 * n + 2 * (13 % 4)}" for half in range(2) for n in range(8)}
    assert first.row_ruler.labels == ("0..2", "3", "4..10", "11", "12..15", "16..31", "32..47", "48..63")
    for target in ("readme", "slide", "column", "page"):
        assert flaws(figure("hopper_gemm"), Options(target=target)) == []
        assert flaws(figure("blackwell_gemm"), Options(target=target)) == []
    line = Ruler("", ("",), (0, 0))
    assert (
        Figure("x", "", "", "", "", (), (), (Panel("", 1, 1, ("",), (0,), line, line),), arrows=(Arrow(0, 0, label="x"),))
        .arrows[0]
        .label
    )


def test_lanes_of_the_smallest_place_have_room() -> None:
    for name in ("hopper_gemm", "blackwell_gemm"):
        assert flaws(figure(name, follow=5), Options(target="column")) == []


MACHINES = [
    *(("hardware", name) for name in (
        "gmma_desc_k_sw128", "gmma_desc_mn_sw64", "gmma_desc_interleave", "umma_desc_fp4", "instr_desc", "tmem_accumulator_128",
        "tmem_accumulator_64", "tmem_accumulator_2sm", "tmem_block_scaled", "tmem_load_16x256b", "tmem_load_32x32b",
        "tmem_copy_pairs", "umma_sparse_metadata", "tma_out_of_bounds", "tma_multicast",
        "tma_three_dimensions", "tma_gather4", "tma_im2col",
        "hopper_day", "blackwell_day", "hopper_gemm", "blackwell_gemm", "blackwell_gemm_block_scaled", "ampere_gemm",
        "atlas_copy_sm75_movmatrix", "atlas_copy_auto_vectorizing",
        "scale_factors", "wgmma_operands", "umma_pair_128", "umma_pair_256", "wgmma_sparse_metadata", "partition_A",
    )),
    *(("operation", text) for text in (
        "logical_divide((8,6),(4,3))", "zipped_divide((16,16):(16,1), (4,8))", "composition((4,8):(8,1), (2,4):(2,4))",
        "complement((2,2):(1,6),24)", "coalesce((2,(1,6)):(1,(6,2)))", "blocked_product((2,5):(5,1), (3,4):(1,3))",
        "raked_product((2,2),(3,4))", "right_inverse((4,8):(8,1))",
    )),
]  # fmt: skip
CONSTANT = ("of 512", "T5", "32 bits", "e4m3", "e5m2", "f32")  # digits of titles that are no number of the picture


@pytest.mark.parametrize(("kind", "source"), MACHINES)
def test_titles_of_machines_and_operations_are_findings(kind: str, source: str) -> None:
    """The title is a claim that a checker of its own derives from the cells; with one digit changed it is refused."""
    drawn = figure(source, **({"view": "operation"} if kind == "operation" else {}))
    assert drawn.title != ""
    assert not drawn.title.startswith(source.partition("(")[0])
    assert drawn.title in drawn.description
    assert flaws(drawn, README) == []
    if "inverse" not in source:
        assert any(re.fullmatch(pattern, drawn.title) for pattern in CLAIMS)
    for found in re.finditer(r"\d", drawn.title):
        at = found.start()
        if not any(at in range(n.start(), n.end()) for word in CONSTANT for n in re.finditer(word, drawn.title)):
            wrong = drawn.title[:at] + str((int(found[0]) + 1) % 10) + drawn.title[at + 1 :]
            assert not is_true_of(wrong, drawn) or "inverse" in source, wrong


@pytest.mark.parametrize(("operand", "title"), [
    ("A", "Thread 13 copies row 1 of A, but holds C in rows 3 and 11"),
    ("B", "Thread 13 copies row 1 of B, but holds C in columns 2 and 3"),
])  # fmt: skip
def test_a_followed_thread_copies_other_rows_than_it_holds(operand: str, title: str) -> None:
    """mma.m16n8k16, C: lane 13 holds rows 13 / 4 and 8 more, columns 2 * (13 % 4) and the next; 8 threads copy a row of 64."""
    drawn = figure("ampere_gemm", follow=13, operand=operand)
    assert drawn.title == title
    assert flaws(drawn, README) == []
    for n in range(len(title)):
        if title[n].isdigit() and not title[:n].rstrip("0123456789").endswith("Thread "):
            assert not is_true_of(title[:n] + str((int(title[n]) + 1) % 10) + title[n + 1 :], drawn)


def test_a_lane_that_waits_is_red_on_the_map_too() -> None:
    """(8,64):(64,1) of 16-bit elements: all rows begin in bank 0, so one is served and seven wait; four phases serve four."""
    for text, by, served in (("(8,64):(64,1)", "ldmatrix.x1", 1), ("(64,64):(64,1)", "ldmatrix.x4", 4)):
        drawn = figure(text, view="access", by=by)
        lanes = [drawn.paints[p].hue for p, label in zip(drawn.panels[0].paints, drawn.panels[0].labels, strict=True) if label]
        assert lanes.count(CONFLICT) == len(lanes) - served
    assert drawn.caption.endswith("; 16 of the 64 lines of 128 bytes are drawn")


def test_captions_say_what_is_drawn() -> None:
    """Indices for each mode, shades and hatching only where there are some, rows of no count that a page may fold."""
    assert figure("(2,2,2):(4,2,1)").caption.startswith("Cell (i,j,k) ")
    assert figure("8:1").caption.startswith("Cell i ")
    for text, lighter in (("8:0", False), ("(2,2,2):(42,1,128)", False), ("(4,8):(8,1)", True)):
        drawn = figure(text)
        assert any(paint.shade for paint in drawn.paints) == ("lighter" in drawn.legends[0].title) == lighter
    for name in ("tma_gather4", "tma_out_of_bounds"):
        drawn = figure(name)
        assert (HOLE in drawn.panels[0].paints) == any(note.startswith("Hatched") for note in drawn.notes)
    assert "its owner T,V" not in figure("((32,8),4):((4,128),1)", tile="128x8", color_by="warp", labels="none").caption
    for drawn in (figure("talk_pipeline_ping_pong"), figure("talk_pipeline"), figure("(128,64,4):(64,1,8192)", view="pipeline")):
        assert ("C0 the first of C" in drawn.caption) == any(label.startswith("C") for label in drawn.panels[0].labels)


def test_each_block_of_the_hierarchical_layout_holds_4_consecutive_offsets() -> None:
    drawn = figure("hierarchical")
    (panel,) = drawn.panels
    rows = [panel.data["offset"][n : n + panel.cols] for n in range(0, len(panel.paints), panel.cols)]
    blocks = [
        sorted((*rows[r][c : c + 2], *rows[r + 1][c : c + 2])) for r in range(0, panel.rows, 2) for c in range(0, panel.cols, 2)
    ]
    assert "2 × 2 block holds 4 consecutive" in drawn.title
    assert all(block == [*range(block[0], block[0] + 4)] for block in blocks)


@pytest.mark.parametrize("name", ["smem_128x64_sw233", "swizzle_bits", "atlas_copy_sm90_bulk", "blackwell_day", "hopper_gemm"])
def test_a_number_of_a_title_that_is_one_too_large_is_noticed(name: str) -> None:
    drawn = figure(name)
    assert is_true_of(drawn.title, drawn)
    for found in re.finditer(r"\d+", drawn.title):
        more = f"{drawn.title[: found.start()]}{int(found[0]) + 1}{drawn.title[found.end() :]}"
        assert not is_true_of(more, drawn), more


def test_the_wavefronts_of_a_title_are_those_that_are_drawn() -> None:
    drawn = figure("Sw<3,3,3> o 0 o (8,64):(64,1)", view="access", by="ldmatrix.x1")
    assert drawn.title == "8 rows in one bank group: 8 wavefronts. Swizzled: 1."
    assert is_true_of(drawn.title, drawn)
    assert not is_true_of(drawn.title.replace("Swizzled: 1", "Swizzled: 2"), drawn)


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("(12,(4,8)):(59,(13,1))", "Each row begins 59 offsets after the last"),
        ("(2,8):(3,10)", "Each column begins 10 offsets after the last"),
        ("(2,(2,2)):(4,(2,1))", "Each row holds 4 consecutive offsets, in another order"),
        ("(3,(2,3)):(3,(12,1))", "The offsets lie in 2 runs: 0..8 and 12..20"),
        ("(2,(2,2)):(42,(1,128))", "The offsets lie in 4 pairs, with gaps between"),
        ("(2,2,2):(4,2,1)", "From plane to plane, each offset grows by 1"),
        ("SM80_16x8x64_S32S4S4S32_TN", "Each thread holds 4 runs of 8 of A, 2 runs of 8 of B and 2 pairs of C"),
        ("SM70_8x8x4_F32F16F16F32_NN", "Each thread holds half a column of A, a column of B and 4 pairs of C"),
        ("v_mfma_f32_16x16x16_f16", "Each thread holds a run of 4 of A, of B and of C"),
        ("v_mfma_f32_4x4x4_16b_f16", "16 products of 4 × 4 × 4, each in 4 threads"),
        ("SM90_64x128x16_F32F16F16_RS", "Each of 4 warps holds 16 × 128 of C"),
        ("SM61_DP4A", "One thread adds 4 products of A and B to one element of C"),
        ("SM100_2x1x1_F32F32F32F32", "One thread adds 1 product of A and B to each element of C"),
        ("composition((12,(4,8)):(59,(13,1)), (3:4,8:2))", "The result is rows 0, 4 and 8 of A, in columns 0 to 14 by 2"),
        ("composition((4,8):(8,1), (4:1,2:5))", "The result is all 4 rows of A, in columns 0 and 5"),
        ("composition((10,2):(16,4), (5,4):(1,5))", "Column by column, the result has all 20 elements of A in their order"),
        ("composition(20:2, (5,4):(4,1))", "Row by row, the result has all 20 elements of A in their order"),
        ("composition((4,2):(1,4), (2,2):(3,0))", "result(i) is A(B(i)), for all 4 i"),
        ("logical_divide((4,8):(8,1), (2,4))", "4 tiles of 8 elements, each a block of the result"),
        ("logical_product((2,2):(4,1), 6:1)", "6 copies of A: each column of the result is one copy"),
    ],
)
def test_what_a_title_finds_is_so_and_with_another_number_it_is_not(source: str, title: str) -> None:
    drawn = figure(source)
    assert drawn.title == title

    def holds(words: str) -> bool:
        return is_so(words, drawn)

    assert holds(title)
    for found in re.finditer(r"(?<![\w.])\d+(?= |\.\.|$|;|,)", title):
        for n in (int(found[0]) + 1, int(found[0]) + 64):
            assert not holds(f"{title[: found.start()]}{n}{title[found.end() :]}"), (found, n)
    for one, other in (
        ("row", "column"),
        ("a quarter of a", "half a"),
        ("Row by row", "Column by column"),
        ("one element", "each element"),
    ):
        for old, new in ((one, other), (other, one)):
            if re.search(rf"\b{old}\b", title) and drawn.kind != "operation":
                assert not holds(re.sub(rf"\b{old}\b", new, title)), new


@pytest.mark.parametrize("view", ["banks", "address"])
def test_rows_that_begin_beside_chunks_are_read_by_elements(view: str) -> None:
    """A row of 33 floats cannot be read 16 bytes at a time: 32 lanes of a word each meet 32 banks."""
    drawn = figure("(32,32):(33,1)", view=view, type="f32")
    of, chunks = ("Down a column,", "Down a column,") if view == "banks" else ("The first elements of", "The first chunks of")
    assert drawn.title == f"{of} 32 rows lie in 32 banks: conflict-free"
    assert is_true_of(drawn.title, drawn)
    assert not is_true_of(drawn.title.replace("32 banks", "31 banks"), drawn)
    ways = figure("(32,32):(34,1)", view=view, type="f32")
    assert ways.title == f"{of} 32 rows lie in 16 banks: a 2-way conflict"
    assert is_true_of(ways.title, ways)
    assert figure("(32,32):(36,1)", view=view, type="f32").title == f"{chunks} 8 rows lie in 8 bank groups: conflict-free"
    assert "conflict" not in figure("(32,32):(33,1)", view=view, type="f64").title


def test_what_is_picked_by_value_is_told_and_named_alike():
    """The title is of those values, each name on a cell is a thread, and no shade is told that no bright cell has."""
    drawn = figure("SM80_16x8x16_F32F16F16F32_TN", value="0")
    assert drawn.title == "V0 of each thread is 1 element of C"
    assert not is_true("V0 of each thread is 2 elements of C, side by side", drawn.panels[0])
    texts = {
        text for text, *_ in readback.svg(render("SM80_16x8x16_F32F16F16F32_TN", "svg", value="0", target="readme").decode()).texts
    }
    assert {"T0", "T7"} <= texts
    assert not {"V0", "shade: value"} & texts
