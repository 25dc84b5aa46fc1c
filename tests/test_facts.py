"""Tables beside the headers that they come from, promises beside their tests, and cases in which planted mistakes lived."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cute_viz import parse
from cute_viz.algebra import instruction
from cute_viz.algebra.blockwise import _blocks
from cute_viz.algebra.copy import layout_in_tile
from cute_viz.algebra.descriptor import FIELDS, MODES
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.scale_factors import _tile_atom_to_shape
from cute_viz.algebra.table import offsets
from cute_viz.algebra.tmem import _METADATA
from cute_viz.errors import AlgebraError
from cute_viz.headers import cute_headers
from cute_viz.notation import read
from cute_viz.source.cpp.selectors import _LAYOUTS
from cute_viz.values.integer import Static


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

    def test_fragments_of_mmas(self) -> None:
        text = header("atom/mma_traits_sm70.hpp") + header("atom/mma_traits_sm80.hpp") + header("atom/mma_traits_sm90_gmma.hpp")
        given = dict(re.findall(r"using (\w+) += (Layout<.*?)\s*;", text, re.DOTALL))
        compared = [name for name in _LAYOUTS if name in given]
        for name in compared:
            assert str(parse(f"{' '.join(given[name].split())}{{}}")).replace("_", "") == _LAYOUTS[name], name
        assert len(compared) >= 9


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
    _tile_atom_to_shape(32, {"SFA": "SFB", "SFB": "SFA"}[operand], tuple(map(Static, refused)))
    with pytest.raises(AlgebraError, match="does not divide"):
        _tile_atom_to_shape(32, operand, tuple(map(Static, refused)))


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
