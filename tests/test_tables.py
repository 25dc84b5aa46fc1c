"""Tables that were transcribed from CUTLASS's headers, compared with the headers, where they are installed."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cute_viz.algebra.descriptor import FIELDS, MODES
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
