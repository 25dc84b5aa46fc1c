"""Tables that were transcribed from CUTLASS's headers, compared with the headers, where they are installed."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cute_viz.algebra.descriptor import FIELDS, MODES
from cute_viz.algebra.instruction import LAYOUTS, _format
from cute_viz.algebra.tensor_map import DATA_TYPE_NAMES, SWIZZLES
from cute_viz.algebra.umma import _HELD
from cute_viz.source.cpp.atoms import _SHAPES
from cute_viz.values.types import ValueType
from tests.test_oracles import includes

pytestmark = pytest.mark.oracle


def header(name: str) -> str:
    root = os.environ.get("CUTLASS_PATH")
    folders = [f"{root}/include"] if root else [flag for flag in includes() if flag != "-I"]
    path = next((Path(folder) / name for folder in folders if (Path(folder) / name).is_file()), None)
    if path is None:
        pytest.skip(f"no {name}")
    return path.read_text("utf-8")


def bit_fields(text: str) -> dict[str, tuple[int, int]]:
    """First bit and width of each named field of a struct, `uint16_t a_ : 14, : 2;`."""
    found, at = {}, 0
    code = re.sub(r"//[^\n]*", "", text)
    for name, width in re.findall(r"(?:\buint\d+_t\s+)?(\w*)\s*:\s*(\d+)\s*[,;]", code):
        if name:
            found[name.rstrip("_")] = (at, int(width))
        at += int(width)
    return found


@pytest.mark.parametrize(
    ("kind", "name", "union"),
    [("GMMA", "cute/arch/mma_sm90_desc.hpp", "GmmaDescriptor"), ("UMMA", "cute/arch/mma_sm100_desc.hpp", "SmemDescriptor")],
)
def test_the_fields_of_descriptors(kind: str, name: str, union: str) -> None:
    text = header(name)
    body = re.search(rf"union {union}\s*\{{(.*?)// Decay", text, re.S)
    assert body
    told = max((bit_fields(part) for part in body[1].split("struct")), key=len)
    assert {field.name: (field.bit, field.width) for field in FIELDS[kind]} == told


@pytest.mark.parametrize(("kind", "name"), [("GMMA", "cute/arch/mma_sm90_desc.hpp"), ("UMMA", "cute/arch/mma_sm100_desc.hpp")])
def test_the_layout_types_of_descriptors(kind: str, name: str) -> None:
    body = re.search(r"enum class LayoutType[^{]*\{(.*?)\};", header(name), re.S)
    assert body
    told = dict(re.findall(r"(\w+)\s*=\s*(\d+)", body[1]))
    assert {word: str(number) for number, word, *_ in MODES[kind].values()}.items() <= told.items()
    assert len(MODES[kind]) == len(told)


@pytest.mark.parametrize("union", LAYOUTS)
def test_the_fields_of_instruction_descriptors(union: str) -> None:
    body = re.search(rf"union {union}\s*\{{(.*?)// Decay", header("cute/arch/mma_sm100_desc.hpp"), re.S)
    assert body
    told = bit_fields(body[1].partition("struct")[2])
    assert {field.name: (field.bit, field.width) for field in LAYOUTS[union]} == told


def test_the_numbers_of_element_types_in_descriptors() -> None:
    """`to_UMMAFormat`, whose enums have their numbers."""
    text = header("cute/arch/mma_sm100_desc.hpp")
    enums = {
        name: dict(re.findall(r"(\w+)\s*=\s*(\d+)", body))
        for name, body in re.findall(r"enum class (\w+)[^{]*\{(.*?)\};", text, re.S)
    }
    body = text[text.index("auto to_UMMAFormat()") : text.index("Unknown type for UMMAFormat")]
    found = re.findall(r"is_same_v<T,\s*(?:detail::)?(\w+)>\) \{ return (\w+)::(\w+);", body)
    told = {type_: int(enums[enum][name]) for type_, enum, name in found if name != "INVALID"}
    assert len(told) > 10
    assert {type_: _format(ValueType(type_)) for type_ in told} == told


def test_the_numbers_of_cuda_s_enums() -> None:
    text = header("cuda.h")
    for prefix, names in (("DATA_TYPE", DATA_TYPE_NAMES),):
        body = re.search(rf"CU_TENSOR_MAP_{prefix}_\w+ = 0,(?:.*?)\}}", text, re.S)
        assert body
        assert tuple(re.findall(rf"CU_TENSOR_MAP_{prefix}_(\w+)", body[0]))[: len(names)] == tuple(names)
    body = re.search(r"CU_TENSOR_MAP_SWIZZLE_NONE = 0.*?\}", text, re.S)
    assert body
    order = re.findall(r"CU_TENSOR_MAP_SWIZZLE_(\w+)", body[0])
    told = {  # of copy_sm90_desc.hpp: bits of the swizzle in 16-byte, 32-byte and 64-byte bases
        (0, 4, 3): "NONE",
        (1, 4, 3): "32B",
        (2, 4, 3): "64B",
        (3, 4, 3): "128B",
        (2, 5, 2): "128B_ATOM_32B",
        (2, 6, 2): "128B_ATOM_64B",
        (2, 6, 3): "128B_ATOM_64B",
    }
    assert {key: order[number] for key, number in SWIZZLES.items()} == told


@pytest.mark.parametrize("operand", "AB")
def test_the_widths_that_fragments_let_through(operand: str) -> None:
    """Bits of an element that is held, and of the type that the MMA expects."""
    text = " ".join(header("cute/atom/mma_atom.hpp").split())
    body = re.search(rf"static_assert\(is_same<ValType{operand},(?:(?!static_assert).)*?Expecting ValType{operand} type", text)
    assert body
    pairs = set()
    for held, wanted in re.findall(r"value_type>? ?== (\d+) && \((.*?)\)\)", body[0]):
        pairs |= {(int(held), int(bits)) for bits in re.findall(r"== (\d+)", wanted)}
    assert pairs == _HELD[operand]


def test_the_widths_that_the_selector_of_wgmma_tries() -> None:
    """The first that divides N, largest first; others only in builds with CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED."""
    text = header("cute/arch/mma_sm90.hpp")
    body = text[text.index("ss_op_selector()") : text.index("ss_op_selector_sparse()")]
    usual = re.sub(r"#if defined\(CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED\).*?#endif", "", body, flags=re.S)
    tried = [int(n) for n in re.findall(r"Tile_N % (\d+) == 0", usual)]
    assert tuple(tried[: len(_SHAPES)]) == _SHAPES
    assert set(tried) == set(_SHAPES)
