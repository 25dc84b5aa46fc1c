"""Instructions of AMD and Intel, and Triton's encodings, against what their makers' tools say (tests/data/vendors.json.gz)."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path

import pytest

import cute_viz as cv
from cute_viz.algebra.recast import recast_layout
from cute_viz.algebra.static import unmarked
from cute_viz.algebra.table import offsets
from cute_viz.cli import main
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.figures import build
from cute_viz.notation.triton import linear_of
from cute_viz.notation.triton_shared import write_triton
from cute_viz.notation.triton_text import find
from cute_viz.source.text import read
from cute_viz.spec.library import Gpu, lookup, split_arguments
from tests import commands

TOLD = json.loads(gzip.decompress((Path(__file__).parent / "data" / "vendors.json.gz").read_bytes()))
KEYS = {"A": "ALayout", "B": "BLayout", "C": "CLayout", "D": "CLayout", "K": "ELayout"}
NVIDIA = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>"
BLOCKED = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>"


def crc(layout):
    return zlib.crc32(",".join(map(str, offsets(layout))).encode())


def run(capsys, *argv):
    """Status, standard output and standard error of a command."""
    with pytest.raises(SystemExit) as stop:
        main(list(argv))
    told = capsys.readouterr()
    return stop.value.code, told.out, told.err


def test_every_instruction_of_the_calculator():
    """Register and lane of every element, of every operand, of waves of 32 and 64."""
    wrong, tried = [], 0
    for arch, name, wave, operands in TOLD["amd"]:
        found = lookup(name, machine=Gpu(arch, wave))
        for operand, (threads, values, wanted) in operands.items():
            layout = found.layouts[KEYS[operand]]
            tried += 1
            if (cv.parse(f"size<0>({layout})"), cv.parse(f"size<1>({layout})"), crc(layout)) != (threads, values, wanted):
                wrong.append((arch, name, wave, operand, unmarked(layout)))
    assert wrong == []
    assert (len(TOLD["amd"]), tried) == (149, 596)


def test_gfx950_as_triton_has_it():
    for name, width, *wanted in TOLD["gfx950"]:
        args = (str(width),) if "f8f6f4" in name else ()
        found = lookup(name, args, machine=Gpu("gfx950", 64))
        assert [unmarked(found.layouts[KEYS[x]]) for x in "ABC"] == wanted


# What gfx950 adds, as Composable Kernel describes it: columns of k that a lane holds, and in how many runs of A and of B.
RUNS = {
    "v_smfmac_f32_16x16x64_f16": (16, 1, 2), "v_smfmac_f32_32x32x32_bf16": (16, 1, 2), "v_smfmac_i32_16x16x128_i8": (32, 1, 2),
    "v_smfmac_i32_32x32x64_i8": (32, 1, 2), "v_smfmac_f32_16x16x128_bf8_fp8": (32, 1, 2),
    "v_smfmac_f32_32x32x64_fp8_fp8": (32, 1, 2),
    "v_mfma_f32_16x16x128_f8f6f4<16,fp8>": (32, 2, 2), "v_mfma_f32_16x16x128_f8f6f4<32,bf8>": (32, 1, 1),
    "v_mfma_scale_f32_32x32x64_f8f6f4<16,fp4,bf8>": (32, 1, 2), "v_mfma_f32_32x32x64_f8f6f4<16,bf8,fp6>": (32, 2, 1),
    "v_mfma_scale_f32_16x16x128_f8f6f4<16,bf6,fp4>": (32, 1, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_gfx950_as_composable_kernel_has_it(name):
    """K is cut into runs, lanes and what lies together, the last fastest; of a stored A half of each four columns is there."""
    name, _, rest = name.partition("<")
    found, (each, *runs) = lookup(name, tuple(split_arguments(rest[:-1])), machine=Gpu("gfx950", 64)), RUNS[name + _ + rest]
    m, n, k = map(int, unmarked(found.layouts["Shape_MNK"])[1:-1].split(","))
    kept = 2 if "ELayout" in found.layouts else 1
    for operand, rows, run, ratio in (("A", m, runs[0], kept), ("B", n, runs[1], 1)):
        together, lanes = each // run // ratio, k // each
        wanted = [
            lane % rows + rows * (value % together + together * (lane // rows + lanes * (value // together)))
            for value in range(each // ratio)
            for lane in range(64)
        ]
        assert list(offsets(found.layouts[KEYS[operand]])) == wanted
    if kept == 2:  # the index of a group of four columns is in the lane that holds its two
        stored, index = (list(offsets(found.layouts[key])) for key in ("ALayout", "ELayout"))
        assert [stored[64 * 2 * value + lane] // m // 2 for value in range(each // 4) for lane in range(64)] == [
            x // m for x in index
        ]


def test_every_dpas():
    for atom, shape, *wanted in TOLD["xe_mma"]:
        name, _, rest = atom.partition("<")
        found = lookup(name, tuple(split_arguments(rest[:-1])))
        assert [unmarked(found.layouts[key]) for key in ("Shape_MNK", "ALayout", "BLayout", "CLayout")] == [shape, *wanted]


def test_every_block_copy():
    for name, args, bits, source, destination in TOLD["xe_copy"]:
        found = lookup(name, tuple(args), machine=Gpu(bits=bits))
        assert [unmarked(found.layouts[key]) for key in ("SrcLayout", "DstLayout")] == [source, destination], (name, args)


def test_block_copies_of_a_type():
    """A type says the width of the tensor's elements, by which the elements are dealt out; recasting another width would not."""
    words, tried = {4: "uint4_t", 8: "uint8_t", 16: "half_t", 32: "float", 64: "double"}, 0
    for name, args, bits, source, destination in TOLD["xe_copy"]:
        if bits and (tried := tried + 1) % 4 == 0:
            atom = cv.parse(f"Copy_Atom<{name}<{','.join(args)}>, {words[bits]}>{{}}")
            for layout, wanted in ((atom.layout_src, source), (atom.layout_dst, destination)):
                assert list(offsets(layout)) == list(offsets(recast_layout(cv.parse(wanted), 1, bits))), (name, args, bits)
    assert tried == 255
    with pytest.raises(CuteVizError, match="ValBits = 32 is not legal"):
        cv.parse("Copy_Atom<XE_LOAD_2D<16,8,16>, float>{}")
    assert cv.figure("XE_LOAD_2D<8,8,16>").facts["bits of a value"] == 8


@pytest.mark.parametrize("form", ["encoding", "printed", "gluon"])
def test_every_encoding(form):
    """As an attribute for a shape, as TTGIR prints it with its type, as Gluon constructs it."""
    which = ("encoding", "printed", "gluon").index(form)
    untold = []
    for row in TOLD["triton"]:
        text, shape, wanted = row[which], tuple(row[3]) if form != "printed" else (), row[5]
        if wanted:
            assert str(read(text, shape=shape).pick()) == wanted, text
        else:
            untold.append(row)
    assert len(untold) == 2
    for row in untold:
        if "fp4Padded" in row[0]:
            with pytest.raises(CuteVizError, match="gives one element several offsets"):
                read(row[which], shape=tuple(row[3])).pick()
        else:
            assert str(read(row[which], shape=tuple(row[3])).pick()) == "((2,2,2),(2,2,2)):((F3,F12,F48),(F1,F4,F16))"


def test_random_encodings_bit_by_bit():
    for text, shape, _, wanted in TOLD["bases"]:
        linear = linear_of(find(text)[0], shape)
        names = ("register", "lane", "warp") if len(wanted) == 3 else ("offset",)
        assert [[list(basis) for basis in linear.bases.get(name, ())] for name in names] == wanted, text
    assert len(TOLD["bases"]) > 500


def test_more_random_encodings_bit_by_bit():
    """Several CTAs, batches, doubles, slices of slices, boxes of TMA in every order: in Gluon, and in TTGIR as printed."""
    wrong = []
    for text, printed, shape, _, wanted in TOLD["random"]:
        for form in filter(None, (text, printed)):
            linear = linear_of(find(form)[0], shape)
            if {name: [list(basis) for basis in linear.bases.get(name, ())] for name in wanted} != wanted:
                wrong.append((form, shape))
    assert wrong == []
    assert len(TOLD["random"]) > 400


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("V_MFMA_F32_16X16X16_F16", "v_mfma_f32_16x16x16_f16"),
        ("mfma_f32_32x32x8_f16", "v_mfma_f32_32x32x8_f16"),
        ("f32_32x32x8_f16", "v_mfma_f32_32x32x8_f16"),
        ("__builtin_amdgcn_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8f16"),
        ("__builtin_amdgcn_wmma_f32_16x16x16_f16_w64_gfx12", "gfx1200::v_wmma_f32_16x16x16_f16<64>"),
        ("__builtin_amdgcn_wmma_f32_16x16x16_f16_w32", "gfx1100::v_wmma_f32_16x16x16_f16<32>"),
        ("gfx1201::v_wmma_f32_16x16x16_f16", "gfx1200::v_wmma_f32_16x16x16_f16<32>"),
        ("XE_DPAS_TT<8,float,cute::half_t>", "XE_DPAS_TT<8,f,hf>"),
        ("XE_8x16x16_F32BF16BF16F32", "XE_8x16x16_F32BF16BF16F32_TT"),
    ],
)
def test_names(written, meant):
    assert cv.parse(written) == cv.parse(meant)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show", "v_wmma_f32_16x16x16_f16"], "--arch gfx1200, or gfx1200::v_wmma_f32_16x16x16_f16"),
        (["show", "v_mfma_f32_16x16x16_f16", "--wave", "32"], "runs on 64 threads, not 32"),
        (["show", "v_mfma_f32_16x16x16_f16", "--arch", "gfx90a"], "it is an instruction of gfx942"),
        (["show", "mfma_f32_16x16x16_f17"], "did you mean v_mfma_f32_16x16x16_f16"),
        (["show", "v_wmma_f32_16x16x16_f16", "--arch", "gfx1200", "--wave", "16"], "wave is one of 32 64"),
        (["show", "XE_DPAS_TT<9,f,hf>"], "M is one of 1..8"),
        (["show", "XE_DPAS_TT<8,f,u8>"], "A = u8 is not legal"),
        (["show", "XE_LOAD_2D<8,1,4>"], "is not legal"),
        (["show", "make_tiled_mma(v_mfma_f32_4x4x4f16, (2,2,1))"], "16 products"),
        (["eval", BLOCKED], "--shape 64x64"),
        (["eval", BLOCKED, "--shape", "64"], "has 2 entries, the shape has 1 mode"),
        (["eval", BLOCKED, "--shape", "48x64"], "48 is not a power of two"),
        (["eval", BLOCKED.replace("blocked", "blocket"), "--shape", "64x64"], "did you mean blocked?"),
        (["eval", BLOCKED.replace("[1, 4]", "[1, 3]"), "--shape", "64x64"], "powers of two, not 3"),
        (["eval", BLOCKED.replace("order = [1, 0]", "order = [1, 1]"), "--shape", "64x64"], "must name each of the modes"),
        (["eval", BLOCKED[:-4], "--shape", "64x64"], "expected"),
        (["eval", "#ttg.slice<{dim = 0, parent = #mma}>", "--shape", "64"], "#mma is not defined"),
        (
            ["eval", "#ttg.dot_op<{opIdx = 1, parent = " + NVIDIA.replace("2,", "3,", 1) + ", kWidth = 2}>", "--shape", "64x64"],
            "shared",
        ),
        (["eval", "gl.BlockedLayout([1], warps=[4])", "--shape", "64"], "BlockedLayout has no warps"),
        (["eval", "gl.FooLayout(2, gl.BlockedLayout([1], [32], [4], [0]))", "--shape", "64"], "FooLayout is not a known encoding"),
        (["eval", "gl.DotOperandLayout(0, gl.AMDWMMALayout(1, True, []), 4)", "--shape", "64x64"], "one of 8, 16, not 4"),
        (["eval", "#ttg.padded_shared<[32:+4] {order = [1, 0], shape = [16, 32]}>", "--shape", "64x64"], "for a shape of 16x32"),
        (["eval", "gl.TensorMemoryLayout((64, 64), 1, two_ctas=True)", "--shape", "64x64"], "first basis is [1, 0]"),
        (["eval", "#ttg.blocked<{a = " + "[" * 400, "--shape", "64"], "nested"),
        (["eval", BLOCKED, "--shape", "1048576x1048576"], "is not a tile"),
        (["eval", BLOCKED, "--shape", "0x4"], "is not a shape, for example 64x64"),
        (["fmt", "(3,4)", "--as", "triton"], "Triton cannot express"),
        (["fmt", "(8,8):(9,1)", "--as", "triton"], "not linear over bits"),
        (["fmt", "((4,8),2):((2,8),1)", "--as", "triton", "--shape", "8x4"], "reaches past 8x4"),
    ],
)
def test_mistakes(capsys, words, said):
    status, out, err = run(capsys, *words)
    assert (status in (1, 2), out) == (True, "")
    assert said in err
    assert "Traceback" not in err


def test_the_keys_of_an_atom(capsys):
    status, out, _ = run(capsys, "show", "v_wmma_f32_16x16x16_f16", "--arch", "gfx1200", "--wave", "64", "--json")
    told = json.loads(out)
    assert status == 0
    assert [told[f"{x}Layout"] for x in "ABCD"] == ["((16,4),4):((1,64),16)"] * 2 + ["((16,2,2),4):((16,8,4),1)"] * 2
    assert (told["op"], told["arch"]) == ("gfx1200::v_wmma_f32_16x16x16_f16<64>", "gfx1200, gfx1201")


def test_a_wave_is_a_warp_of_64():
    """One wave is coloured by the lanes of a row, several by wave; a warp of the option is one of 64 threads."""
    atom = build(cv.parse("v_mfma_f32_16x16x16_f16"))
    assert atom.legends[0].title == "hue: group of 16 lanes"
    assert {panel.warp for panel in atom.panels} == {64}
    tiled = build(cv.parse("make_tiled_mma(v_mfma_f32_16x16x16_f16, (2,2,1))"))
    assert tiled.legends[0].title == "hue: wave (64 threads); of several, the lowest"
    assert tiled.legends[0].entries[3].label == "wave 3"
    group = cv.parse("make_tiled_mma(XE_DPAS_TT<8,f,bf>, (2,2,1))")
    assert build(group).legends[0].title == "hue: subgroup (16 threads); of several, the lowest"
    warp = cv.figure("make_tiled_mma(v_mfma_f32_16x16x16_f16, (2,2,1))", warp="3", operand="C")
    panel = warp.panels[0]
    kept = {t // 64 for t, paint in zip(panel.data["thread"], panel.paints, strict=True) if not warp.paints[paint].faded}
    assert kept == {3}
    assert b"wave 0" in cv.render("make_tiled_mma(v_mfma_f32_16x16x16_f16, (2,2,1))", format="svg")


@pytest.mark.parametrize(
    ("text", "said", "together"),
    [
        ("make_tiled_copy(Copy_Atom<XE_LOAD_2D<16,8,16>,half_t>{}, (16,4), (1,8))", {}, (16, "subgroup")),
        (
            "make_tiled_copy_A(Copy_Atom<UniversalCopy<uint64_t>,half_t>{}, make_tiled_mma(v_mfma_f32_16x16x16_f16, (2,2,1)))",
            {},
            (64, "wave"),
        ),
        ("make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>,half_t>{}, (64,2), (1,8))", {"arch": "gfx942"}, (64, "wave")),
        ("make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>,half_t>{}, (64,2), (1,8))", {}, (32, "warp")),
        ("((16,4,4),4):((1,16,256),64)", {"wave": 64, "tile": "32x32"}, (64, "wave")),
        (
            "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>",
            {"shape": "64x64"},
            (64, "warp"),
        ),
    ],
)
def test_what_runs_together(capsys, tmp_path, text, said, together):
    """Copies, maps and encodings, too, are told apart by waves of their machine's width."""
    words = [word for key, value in said.items() for word in (f"--{key}", str(value))]
    run(capsys, "render", text, "-o", str(tmp_path / "x.json"), *words)
    told = json.loads((tmp_path / "x.json").read_text())
    assert {(panel.get("warp", 32), panel.get("warp_name", "warp")) for panel in told["panels"]} == {together}
    assert told["legends"][0]["title"] == f"hue: {together[1]} ({together[0]} threads)"


def test_blocks_stand_side_by_side():
    figure = build(cv.parse("v_mfma_f32_4x4x4f16"))
    assert [panel.caption.partition(":")[2] for panel in figure.panels] == [
        " 16 blocks of 4 × 4 of f32, accumulator", " 16 blocks of 4 × 4 of f16", " 16 blocks of 4 × 4 of f16",
    ]  # fmt: skip
    assert [(panel.rows, panel.cols) for panel in figure.panels] == [(4, 64), (4, 64), (64, 4)]
    sparse = build(cv.parse("v_smfmac_f32_16x16x64_fp8_fp8"))
    assert [(panel.rows, panel.cols) for panel in sparse.panels] == [(16, 16), (16, 32), (64, 16)]
    assert all(None not in panel.data["thread"] for panel in (*figure.panels, *sparse.panels))
    with pytest.raises(AlgebraError, match="16 products"):
        cv.parse("make_tiled_mma(v_mfma_f32_4x4x4f16, (2,1,1))")


def test_half_a_wave_may_hold_an_operand():
    figure = build(cv.parse("gfx1200::v_wmma_i32_16x16x16_iu4<64>"))
    assert [max(panel.data["thread"]) for panel in figure.panels] == [63, 31, 31]


def test_the_threads_of_a_tiling_of_waves():
    """A TiledMMA of four waves: each element of C once, the waves where the atoms stand."""
    layout = cv.parse("get_layoutC_TV(make_tiled_mma(v_mfma_f32_32x32x8_f16, (2,2,1)))")
    assert sorted(offsets(layout)) == list(range(64 * 64))


@pytest.mark.parametrize(
    "text",
    [
        "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = 3}>",
        "#ttg.padded_shared<[64:+4] {order = [1, 0], shape = 3}>",
        "#ttg.nvmma_shared<{swizzlingByteWidth = 0, elementBitWidth = 16, rank = 99999999999}>",
        "#ttg.nvmma_shared<{swizzlingByteWidth = 0, elementBitWidth = 16, rank = [2]}>",
        "#ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32], isTransposed = true}>",
        "#ttg.amd_wmma<{version = 2, ctaLayout = [1, 0]}>",
        "#ttg.dot_op<{opIdx = 0, kWidth = 2, parent = #ttg.nvidia_mma<{versionMajor = 2, warpsPerCTA = [4, 1], instrShape = []}>}>",
        "#ttg.dot_op<{opIdx = 0, kWidth = 4, parent = #ttg.amd_wmma<{version = 2, warpsPerCTA = [4, 1], instrShape = [16, 16]}>}>",
    ],
)
def test_fields_of_another_kind(text):
    with pytest.raises(CuteVizError):
        read(text, shape=(64, 64)).pick()


def test_a_kernel_full_of_types():
    """The same type on every line is one object; and no line takes longer the more there are."""
    lines = [f"%{n} = tt.load %p : tensor<64x64xf16, #b>" for n in range(20_000)]
    text = f"#b = {BLOCKED}\n" + "\n".join(
        [*lines, "Layout( " + "a." * 20_000, "tensor<1x" * 6_000, f"tensor<{'1' * 5_000}x8xf16, #b>"]
    )
    assert list(read(text).values) == ["b"]


@pytest.mark.parametrize(("text", "shape"), [(NVIDIA, "64x64"), (BLOCKED, "128x64")])
def test_bits_as_a_matrix(capsys, text, shape):
    status, out, _ = run(capsys, "explain", text, "--shape", shape)
    assert status == 0
    linear = linear_of(find(text)[0], tuple(map(int, shape.split("x"))))
    ones = sum(bin(x).count("1") for those in linear.bases.values() for basis in those for x in basis)
    assert out.count(" 1 ") == ones


def test_written_as_triton():
    """What can be said reads back as the same map."""
    for row in TOLD["triton"][::3]:
        if not row[5] or "several" in row[5] or "padded" in row[0] or "tensor_memory" in row[0] or "CGA" in row[0]:
            continue
        layout = cv.parse(row[5])
        held = "shared" not in row[0]
        lanes = 64 if "mfma" in row[0] else 32
        text = write_triton(layout, tuple(row[3]) if held else (), lanes)
        back = read(text, shape=tuple(row[3])).pick()
        if cv.parse(f"size({layout})") <= 4096:
            assert list(offsets(back)) == list(offsets(layout)), row[0]
        if "swizzled_shared" in row[0]:
            assert text.startswith(("#ttg.swizzled_shared", "#ttg.shared_linear"))


def test_a_module_of_ttgir():
    """Every type with an encoding, by the alias that it has; what is of another dialect is passed over."""
    text = f"#blocked = {BLOCKED}\n#mma = {NVIDIA}\n#other = #tt.thing\nmodule {{\n  %0 = x : tensor<64x64xf16, #blocked>\n"
    text += "  %1 = y : tensor<16x8xf32, #mma> -> tensor<8x8xf32, #unknown>\n}\n"
    document = read(text)
    assert {name: str(value) for name, value in document.values.items()} == {
        "blocked": "((4,32),(4,4,2)):((256,1),(64,1024,32))",
        "mma": "((4,8,4),(2,2)):((32,1,0),(16,8))",
    }


def test_no_vendor_below():
    """The architecture is a word of the data: what computes and what draws names none."""
    root = Path(cv.__file__).parent
    for room in ("algebra", "figures", "renderers"):
        for path in (root / room).glob("*.py"):
            words = path.read_text().lower()
            assert not any(word in words for word in ("gfx9", "gfx1", "mfma", "wmma_", "dpas", "triton", "ttg", "rdna", "cdna")), (
                path
            )


def test_listed_by_machine(capsys):
    """gfx950 has what gfx942 has but xf32, and its own; types are found in small letters, too."""
    _, out, _ = run(capsys, "list", "mma", "--arch", "gfx950")
    assert len(out.splitlines()) == 46 - 2 + 24
    assert "xf32" not in out
    _, out, _ = run(capsys, "list", "mma", "--arch", "gfx908", "--type", "bf16")
    assert out.split()[0] == "v_mfma_f32_32x32x2bf16"
    assert len(out.splitlines()) == 5


@pytest.mark.parametrize(
    ("access", "layout", "wavefronts"),
    [
        # ds_read_b128 of an operand: lanes 0 to 3 and 20 to 23 together, so that rows 128 bytes apart meet in a bank
        ("((16,4),8):((1,128),16)", "(16,64):(64,1)", 32),
        ("((16,4),8):((1,128),16)", "Sw<3,3,3> o 0 o (16,64):(64,1)", 8),
        ("((16,4),4):((1,64),16)", "(16,64):(64,1)", 64),  # ds_read_b64, 16 lanes together: a row each, all in two banks
        ("((64,1),2):((16,0),1)", "(16,128):(1,16)", 16),  # ds_read_b32, 32 lanes together: 32 bytes apart, 8 in a bank
    ],
)
def test_phases_of_a_wave(capsys, access, layout, wavefronts):
    told = run(capsys, "analyze", layout, "--access", access, "--type", "f16", "--arch", "gfx942", "--json")
    report = json.loads(told[1])
    assert report["wavefronts"] == wavefronts
    assert "not confirmed on a device" in report["claim"]
    assert all(step["instruction"].startswith("ds_read_b") for step in report["steps"])


def test_accesses_of_a_machine(capsys):
    status, out, _ = run(capsys, "swizzle", "--list", "--arch", "gfx90a")
    named = [line.split()[0] for line in out.splitlines()]
    assert (status, "ds_write" in named, "ldmatrix" in named) == (0, True, False)
    for name in named:
        searched = json.loads(run(capsys, "swizzle", "64x64", "--arch", "gfx90a", "--read", name, "--json")[1])
        plain = run(capsys, "analyze", "(64,64):(64,1)", "--type", "f16", "--access", name, "--arch", "gfx90a", "--json")
        kept = {one["name"]: one["wavefronts"] for one in searched["candidates"]}
        assert json.loads(plain[1])["wavefronts"] == kept["plain"], name


def test_what_is_not_known_of_global_memory(capsys):
    status, _, err = run(capsys, "analyze", "(64,64):(64,1)", "--access", "((8,8),8):((64,8),1)", "--global", "--arch", "gfx942")
    assert status == 2
    assert "how gfx942 serves global memory is not known" in err


def test_machines_whose_phases_are_not_known(capsys):
    status, _, err = run(capsys, "swizzle", "64x64", "--arch", "gfx950")
    assert status == 1
    assert "are not known" in err


def test_a_zoom_of_an_instruction_of_several_blocks_is_refused():
    said = commands.fails(commands.run("render", "v_mfma_f32_32x32x4_2b_bf16", "--view", "zoom"), 1)
    assert "several blocks of C" in said
