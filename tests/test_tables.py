"""Tables that were transcribed from CUTLASS's headers, compared with the headers, where they are installed."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cute_viz.algebra.descriptor import FIELDS, MODES
from cute_viz.algebra.instruction import FORMATS, LAYOUTS
from cute_viz.algebra.tensor_map import DATA_TYPE_NAMES, DATA_TYPES, SWIZZLES
from cute_viz.algebra.umma import _HELD, size_words
from cute_viz.values.types import named
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
    found = re.findall(r"is_same_v<T,\s*(\w+)>\) \{ return (\w+)::(\w+);", body)
    told = {named(type_).short: int(enums[enum][name]) for type_, enum, name in found if name != "INVALID"}
    assert len(told) > 9
    assert {name: FORMATS[name] for name in told} == told


def test_the_data_types_of_tensor_maps() -> None:
    text = header("cute/arch/copy_sm90_desc.hpp")
    found = dict(re.findall(r"is_same_v<T,\s*([\w:]+)>\)\s*\{\s*return CU_TENSOR_MAP_DATA_TYPE_(\w+);", text))
    shorts = {type_: named(type_) for type_ in found if "::" not in type_}
    ours = {short.short: found[type_] for type_, short in shorts.items() if short is not None and short.short in DATA_TYPES}
    assert ours.keys() == DATA_TYPES.keys()
    assert {type_: DATA_TYPE_NAMES[number] for type_, number in DATA_TYPES.items()} == ours


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


def test_what_cutlass_says_of_sizes() -> None:
    """Every assertion about M and N of a tcgen05.mma, by its words."""
    text = header("cute/arch/mma_sm100_umma.hpp")
    count = 0
    for struct, body in re.findall(r"struct (SM100_MMA_\w+)\s*\{(.*?)\n\};", text, re.S):
        for words in re.findall(r'static_assert\([^"]*"([^"]*mode size[^"]*)"', body):
            said = re.sub(r"\s*\\\s*", " ", words).strip().removesuffix(".")
            mode = "M" if "M-mode" in said else "N"
            allowed = re.sub(r" for \d CTA.*", "", said.partition("should be ")[2])
            count += 1
            assert " ".join(size_words(struct, mode, allowed).split()) == " ".join(said.split()), struct
    assert count > 30


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
