"""Tables beside the headers that they come from, promises beside their tests, and cases in which planted mistakes lived."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest

from cute_viz import parse
from cute_viz.algebra import instruction
from cute_viz.algebra.common import Operation
from cute_viz.algebra.copy import layout_in_tile
from cute_viz.algebra.descriptor import FIELDS, MODES
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.scale_factors import _blocks, tile_atom_to_shape
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tensor_map import DATA_TYPE_NAMES, DATA_TYPES, TensorMap
from cute_viz.algebra.tmem import _METADATA
from cute_viz.algebra.umma import refusal, size_words
from cute_viz.errors import AlgebraError, CuteVizError, FigureError
from cute_viz.figures.descriptor import _cores
from cute_viz.figures.model import Panel
from cute_viz.figures.motion import motion
from cute_viz.figures.options import FigureOptions
from cute_viz.headers import cute_headers
from cute_viz.source.text import read
from cute_viz.values.integer import Static
from cute_viz.values.types import named


def header(name: str) -> str:
    """A header of CuTe, without its comments."""
    folder = cute_headers()
    if folder is None:
        pytest.skip("no headers of CuTe: pip install 'cute-viz[oracle]'")
    text = (Path(folder) / "cute" / name).read_text("utf-8")
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def bit_fields(text: str, union: str) -> dict[str, tuple[int, int]]:
    """The first bit and the width of each field of the first struct of a union."""
    body = re.search(rf"union {union}\s*\{{.*?struct\s*\{{(.*?)\}};", text, re.DOTALL)
    assert body is not None
    found, at = {}, 0
    for fields in re.findall(r"uint\d+_t([^;]*);", body[1]):
        for field in fields.split(","):
            name, colon, width = field.partition(":")
            if not colon:  # a name of the whole
                continue
            if name.strip():
                found[name.strip().removesuffix("_")] = (at, int(width))
            at += int(width)
    return found


def enumerators(text: str, enum: str) -> dict[str, int]:
    """The names and numbers of an enumeration."""
    body = re.search(rf"enum class {enum}[^{{]*\{{(.*?)\}}", text, re.DOTALL)
    assert body is not None
    return {name: int(number) for name, number in re.findall(r"(\w+)\s*=\s*(\d+)", body[1])}


def structs() -> list[tuple[str, str]]:
    """The instructions of tcgen05.mma, each with what its struct says."""
    return [(part.split()[0], part) for part in re.split(r"^struct ", header("arch/mma_sm100_umma.hpp"), flags=re.MULTILINE)[1:]]


def allowed(condition: str) -> str:
    """A condition on M, N or VS in words, as the headers say it."""
    if steps := re.search(r"% (\d+) == 0\)\s*&& \((\d+) <= N\)\s*&& \(N <= (\d+)\)", condition):
        alone = re.match(r"N == (\d+) \|\|", condition)
        return (f"{alone[1]} or " if alone else "") + "a multiple of {} between {} and {}".format(*steps.groups())
    return " or ".join(re.findall(r"(?:M|VS) == (\d+)", condition))


@pytest.mark.oracle
class TestHeaders:
    @pytest.mark.parametrize("name", instruction.LAYOUTS)
    def test_instruction_descriptors(self, name: str) -> None:
        fields = bit_fields(header("arch/mma_sm100_desc.hpp"), name)
        assert {field.name: (field.bit, field.width) for field in instruction.LAYOUTS[name]} == fields

    @pytest.mark.parametrize(("kind", "file", "union"), [("GMMA", "sm90", "GmmaDescriptor"), ("UMMA", "sm100", "SmemDescriptor")])
    def test_matrix_descriptors(self, kind: str, file: str, union: str) -> None:
        text = header(f"arch/mma_{file}_desc.hpp")
        assert {field.name: (field.bit, field.width) for field in FIELDS[kind]} == bit_fields(text, union)
        assert {name: number for number, name, *_ in MODES[kind].values()} == enumerators(text, "LayoutType")

    def test_types_of_tensor_maps(self) -> None:
        given = re.findall(
            r"is_same_v<T,\s*([\w:]+)>\)\s*\{\s*return CU_TENSOR_MAP_DATA_TYPE_(\w+);", header("arch/copy_sm90_desc.hpp")
        )
        compared = {kind: name for kind, name in given if (known := named(kind)) is not None and known.short in DATA_TYPES}
        for kind, name in compared.items():
            said = TensorMap(kind, 1, 0, (64,), (), (64,), (1,), 0).data_type
            assert DATA_TYPE_NAMES[said] == name, kind
        assert len(compared) >= len(DATA_TYPES)

    def test_words_about_the_sizes_of_an_mma(self) -> None:
        """What `size_words` makes of a condition is what the header's static_assert of that condition says."""
        seen = 0
        for name, body in structs():
            for mode, word in (("M", "M-mode"), ("N", "N-mode"), ("VS", "Vector size")):
                asserted = re.findall(rf'static_assert\(((?:(?!static_assert)[^"])*?),\s*"([^"]*{word} [^"]*)"\)', body)
                if len(asserted) != 1 or "a_type" in asserted[0][0]:  # none, or one of VS and types
                    continue
                ((condition, words),) = asserted
                assert size_words(name, mode, allowed(condition)) == " ".join(words.replace("\\\n", " ").split()).rstrip(".")
                seen += 1
        assert seen >= 70

    def test_words_about_the_types_of_an_mma(self) -> None:
        text = header("atom/mma_traits_sm100.hpp")
        found = re.findall(r'sizeof_bits_v<b_type> (==|<=) (\d+), "((SM100_MMA_\w+) supports [^"]*)"', text)
        for sign, bits, words, name in found:
            fits = {
                "4": ["float_e2m1_t"],
                "8": ["int8_t" if "_S8" in name else "float_e5m2_t"],
                "16": ["half_t"],
                "32": ["tfloat32_t"],
            }[bits]
            fits += ["float_e3m2_t", "float_e2m1_t"] if sign == "<=" else []
            wrong = {"4": ["float_e4m3_t"], "8": ["half_t"], "16": ["float", "float_e4m3_t"], "32": ["half_t", "double"]}[bits]
            for operand in "AB":
                assert [refusal(name, {operand: kind}) for kind in fits] == [""] * len(fits)
                assert [refusal(name, {operand: kind}) for kind in wrong] == [words] * len(wrong)
        assert len(found) > 30

    def test_words_about_majors_and_results_of_an_mma(self) -> None:
        seen = set()
        for name, body in structs():
            for given, sign in (
                ({"a_major": "MN"}, r"a_major == UMMA::Major::K"),
                ({"b_major": "MN"}, r"b_major == UMMA::Major::K"),
                ({"C": "float"}, r"is_same_v<c_type, int32_t>"),
            ):
                words = re.search(rf'static_assert\({sign},\s*"([^"]*)"\)', body)
                assert refusal(name, given) == (words[1].rstrip(".") if words else ""), name
                seen |= {sign} if words else set()
        assert len(seen) >= 2  # older headers have no interleaved ones

    def test_fragments_of_mmas(self) -> None:
        text = header("atom/mma_traits_sm70.hpp") + header("atom/mma_traits_sm80.hpp") + header("atom/mma_traits_sm90_gmma.hpp")
        given = dict(re.findall(r"using (\w+) += (Layout<.*?)\s*;", text, re.DOTALL))
        compared = 0
        for name, text in given.items():
            with suppress(CuteVizError):  # of other names nothing is known
                assert str(parse(f"{name}{{}}")) == str(parse(f"{' '.join(text.split())}{{}}")), name
                compared += 1
        assert compared >= 9


def test_the_tests_that_hold_a_promise_exist() -> None:
    """Each row of docs/explain/safety.md names tests, and there are such files."""
    text = (Path(__file__).parent.parent / "docs" / "explain" / "safety.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|") and "---" not in line][1:]
    assert len(rows) >= 16
    for row in rows:
        named = re.findall(r"`(test_\w+\.py)`", row.split("|")[-2])
        assert named, row
        assert all((Path(__file__).parent / name).is_file() for name in named), row


def test_a_mode_of_a_descriptor_is_an_atom_of_its_bytes() -> None:
    """Rows of the atom in units of 16 bytes, 8 rows but for BASE32B: the swizzle's bits address them all."""
    for kind in MODES.values():
        for (bits, _, _), (_, _, units, rows) in kind.items():
            assert units == (8 if (bits, rows) == (2, 4) else 1 << bits)
            assert rows in (4, 8)


def test_metadata_has_each_place_once() -> None:
    for count, layout in _METADATA.values():
        found = sorted(offsets(layout))
        assert found == list(range(len(found)))
        assert count in (4, 8, 16)


@pytest.mark.parametrize(("operand", "refused"), [("SFA", (100, 128, 256)), ("SFB", (128, 100, 256))])
def test_static_scale_factors_are_whole_blocks_of_their_own_operand(operand: str, refused: tuple[int, ...]) -> None:
    tile_atom_to_shape(tuple(map(Static, refused)), {"SFA": "SFB", "SFB": "SFA"}[operand], 32)
    with pytest.raises(AlgebraError, match="does not divide"):
        tile_atom_to_shape(tuple(map(Static, refused)), operand, 32)


def test_blocks_of_factors() -> None:
    assert str(_blocks(4, 12, 2, 4, "MN")) == "((2,2),(4,3)):((0,1),(0,2))"
    assert str(_blocks(4, 12, 2, 4, "K")) == "((2,2),(4,3)):((0,3),(0,1))"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("complement(4:0, 24)", "24:1"),
    ],
)
def test_values(text: str, value: str) -> None:
    assert str(read(text).pick()).replace("_", "") == value


def test_a_slice_of_a_tile_is_that_of_its_first_rest() -> None:
    atom = "Copy_Atom<UniversalCopy<uint32_t>,half_t>{}"
    copy = parse(f"make_tiled_copy({atom}, Layout<Shape<_4,_8>,Stride<_8,_1>>{{}}, Layout<Shape<_1,_2>>{{}})")
    whole, one = (str(layout_in_tile(copy, "S", Layout(shape, (1000, 1)))) for shape in ((8, 32), (4, 16)))  # type: ignore[arg-type]
    assert whole == one


IM2COL = (
    "make_im2col_tma_copy(SM90_TMA_LOAD_IM2COL{{}}, make_tensor(make_gmem_ptr<half_t>(0), (({w},{w},2),64):((64,{row},{image}),1)),"
    "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{{}}, (64,64)), (64,64), 1,"
    "{lower}, {upper}, ({first},{first}), ({last},{last}), ({step},{step}), (0,0), ({apart},{apart}))"
)


def im2col(w: int, filters: int, pad: int, step: int, apart: int, row: int = 0) -> str:
    """The load of a convolution as CUTLASS asks for it: the corners leave out the pixels where the filter would reach beyond."""
    reach = (filters - 1) * apart
    lower, upper = (-pad, pad - reach) if apart > 0 else (-pad + reach, pad)
    words = {"lower": f"({lower},{lower})", "upper": f"({upper},{upper})", "first": -pad, "last": pad, "step": step, "apart": apart}
    return IM2COL.format(w=w, row=row or 64 * w, image=64 * w * w, **words)


@pytest.mark.parametrize(
    ("w", "filters", "pad", "step", "apart"), [(8, 3, 1, 1, 1), (9, 2, 0, 2, 3), (8, 3, 2, 1, 2), (16, 4, 1, 3, 1)]
)
def test_the_filters_and_pixels_of_a_convolution(w: int, filters: int, pad: int, step: int, apart: int) -> None:
    """As many as a loop over the padded row finds."""
    conv = parse(im2col(w, filters, pad, step, apart)).im2col  # type: ignore[union-attr]
    padded = range(-pad, w + pad)
    bases = [x for x in padded if x + (filters - 1) * apart in padded][::step]
    assert conv.filters == (filters, filters)
    assert str(conv.coordinates.shape[0]) == f"{2 * len(bases) ** 2}"


@pytest.mark.parametrize("apart", [-1, -2])
def test_the_filters_of_a_gradient_step_back(apart: int) -> None:
    assert parse(im2col(8, 3, 1, 1, apart)).im2col.filters == (3, 3)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (im2col(16, 2, 0, 8, 1), ""),
        (im2col(16, 2, 0, 9, 1), "elementStrides"),
        (im2col(8, 3, 1, 1, 1, (1 << 39) - 8), ""),
        (im2col(8, 3, 1, 1, 1, 1 << 39), "globalStrides"),
        (im2col(8, 3, 1, 1, 1, 516), "globalStrides"),
    ],
)
def test_what_the_driver_refuses_of_a_convolution(text: str, why: str) -> None:
    if not why:
        parse(text)
        return
    with pytest.raises(AlgebraError, match=f"CUDA_SUCCESS: {why}"):
        parse(text)


OFFSETS = [  # each with what a picture of all its elements has in the first and the last panel
    Operation("logical_divide", (Layout((4, 8), (8, 1)), (2, 4))),
    Operation("composition", (Layout((4, 8), (8, 1)), Layout((4, 2), (1, 8)))),
    Operation("logical_product", (Layout((2, 2), (2, 1)), Layout((3, 2), (1, 3)))),
]


@pytest.mark.parametrize("call", OFFSETS, ids=lambda call: call.name)
def test_the_steps_of_an_operation_and_the_ways_of_its_elements(call: Operation) -> None:
    """A step shows what it has come to and nothing after it; an element of A lies in the result where the same number stands."""
    whole = motion(call, FigureOptions(series=True))
    steps, ways = whole.series[: len(whole.panels)], whole.series[len(whole.panels) :]
    for n, shown in enumerate(steps, 1):
        assert [any(panel.labels) for panel in shown.panels] == [at < n for at in range(len(steps))]
        assert [(len(p.labels), len(p.paints)) for p in shown.panels] == [(p.rows * p.cols,) * 2 for p in whole.panels]
    assert [shown.facts["step"] for shown in whole.series] == list(range(1, len(whole.series) + 1))
    a, result = whole.panels[0], whole.panels[-1]
    lit = [tuple(outlined(panel) for panel in (shown.panels[0], shown.panels[-1])) for shown in ways]
    assert sorted(there for _, there in lit) == [n for n, label in enumerate(result.labels) if label]
    if call.name != "logical_product":  # whose copies lie further on
        assert all(a.labels[here] == result.labels[there] for here, there in lit)


def outlined(panel: Panel) -> int:
    """The one cell that the last box of a panel is around."""
    (left, top), (right, bottom) = panel.shapes[-1].points
    assert (right - left, bottom - top) == (1, 1)
    return int(top * panel.cols + left)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (Operation("right_inverse", (Layout((4, 4), (Basis(1, (0,)), Basis(1, (1,)))),)), "whose values are offsets"),
        (Operation("flatten", (Layout((4, 8)),)), "the steps of flatten are not drawn"),
    ],
)
def test_what_has_no_steps(call: Operation, why: str) -> None:
    with pytest.raises(FigureError, match=why):
        motion(call, FigureOptions())


@pytest.mark.parametrize(("major", "atom", "deep"), [("MN", "MN_SW64", 8), ("K", "K_SW32", 8), ("K", "K_INTER", 8)])
def test_core_matrices_cover_an_operand_once(major: str, atom: str, deep: int) -> None:
    tile = f"tile_to_shape(GMMA::Layout_{atom}_Atom<half_t>{{}}, (64,16))"
    made = parse(f"make_gmma_desc<GMMA::Major::{major}>(make_tensor(make_smem_ptr<half_t>(0), {tile}))")
    cores = _cores(made.tensor, made.major, deep)  # type: ignore[union-attr]
    assert len(cores.units) == cores.rows * cores.cols
    assert sorted(unit for core in cores.units for unit in core) == list(range(0, 64 * 16 * 2, 16))
