"""The tools of assistants: through the protocol's own client, and held to their schemas and to the command line."""

from __future__ import annotations

import asyncio
import base64
import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from cute_viz import render
from cute_viz.cli import main
from cute_viz.live.questions import answer
from cute_viz.live.tools import STEPS, TOOLS, schemas
from tests.test_kernel_report import GEMM

SWIZZLED = "Sw<3,3,3> o 0 o (8,64):(64,1)"
COPY = "make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint128_t>,half_t>{}, (4,8):(8,1), (1,8))"
BLOCKED = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>"
MOVED = """auto g = make_tensor(make_gmem_ptr<half_t>(0), make_layout(make_shape(_16{}, _8{})));
auto s = make_tensor(make_smem_ptr<half_t>(0), make_layout(make_shape(_16{}, _8{}), LayoutRight{}));
copy(g, s);"""
CASES: list[tuple[str, dict[str, Any]]] = [
    ("evaluate", {"source": "composition((4,8):(8,1), 4:2)"}),
    ("evaluate", {"source": "a = make_layout(make_shape(M, 8)); size(a)", "let": {"M": 512}}),
    ("evaluate", {"source": "composition((3,5,7):(35,7,1), (1):(7)"}),
    ("show", {"source": "SM80_16x8x16_F32BF16BF16F32_TN"}),
    ("show", {"source": SWIZZLED}),
    ("show", {"source": "make_layout(make_shape(M, 8))"}),
    ("explain", {"source": "logical_divide((8,6), (4,3))"}),
    ("explain", {"source": SWIZZLED}),
    ("explain", {"source": "(4,8)"}),
    ("analyze", {"source": "(8,64):(64,1)", "type": "f16"}),
    ("analyze", {"source": "(8,64):(64,1)", "access": COPY, "store": True}),
    ("analyze", {"source": "(8,64):(64,1)", "access": COPY, "global": True}),
    ("analyze", {"source": "(8,64):(64,1)", "store": True}),
    ("analyze", {"source": GEMM}),
    ("analyze", {"source": "(64,64):(64,1)", "access": "((16,4),8):((1,128),16)", "arch": "gfx942"}),
    ("explain", {"source": MOVED}),
    ("evaluate", {"source": BLOCKED, "shape": "32x16"}),
    ("evaluate", {"source": BLOCKED}),
    ("show", {"source": "v_wmma_f32_16x16x16_f16", "arch": "gfx1200", "wave": 64}),
    ("render", {"source": BLOCKED, "shape": "32xa"}),
    ("swizzle", {"source": "64x64", "read": ["ds_read"], "arch": "gfx942", "top": 1}),
    ("swizzle", {"source": "64x64", "read": ["ldmatrix"], "write": ["cp.async"], "top": 2}),
    ("swizzle", {"source": "(32,32):(32,1)", "type": "f32", "read": ["column"]}),
    ("swizzle", {"source": "64x64", "read": ["nothing"]}),
    ("render", {"source": "(4,8):(8,1)"}),
    ("render", {"source": SWIZZLED, "format": "svg", "options": {"view": "banks", "type": "f16"}}),
    ("render", {"source": "(4,8)", "options": {"colour": "red"}}),
    ("render", {"source": "(500,200)"}),
    ("list_objects", {"source": "auto a = make_shape(4, 8);\nauto b = make_layout(a);\n"}),
    ("list_objects", {"source": "nothing of the kind"}),
]


@pytest.mark.parametrize("name", TOOLS)
def test_the_first_argument_of_every_tool_is_its_source(name):
    taken = schemas()[name]["input"]
    assert next(iter(taken["properties"])) == "source"
    assert taken["required"] == ["source"]
    assert list(inspect.signature(TOOLS[name]).parameters) == ["question"]


@pytest.mark.parametrize(("name", "words"), CASES)
def test_answers_keep_to_their_schemas(name, words):
    jsonschema = pytest.importorskip("jsonschema")
    for schema in schemas()[name].values():
        if isinstance(schema, dict):
            jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(words, schemas()[name]["input"])
    out = answer({**words, "ask": f"tool.{name}"})
    jsonschema.validate(json.loads(json.dumps(out)), schemas()[name]["output"])
    assert len(json.dumps(out)) < 40_000 or words.get("format") == "svg"


def test_answers_are_those_of_the_command_line(capsys, tmp_path):
    def said(*words: str) -> Any:
        with pytest.raises(SystemExit):
            main(list(words))
        return json.loads(capsys.readouterr().out)

    def tool(name: str, **words: Any) -> Any:
        return json.loads(json.dumps(answer({**words, "ask": f"tool.{name}"})))

    assert tool("show", source=SWIZZLED) == said("show", SWIZZLED, "--json")
    assert tool("explain", source="complement(4:2, 24)") == said("explain", "complement(4:2, 24)", "--json")
    assert tool("evaluate", source="a = (4,8):(8,1); size(a)") == said("eval", "a = (4,8):(8,1); size(a)", "--json")
    words = ("(8,64):(64,1)", "--access", COPY, "--store", "--json")
    assert tool("analyze", source=words[0], access=COPY, store=True, detail=True) == said("analyze", *words)
    (tmp_path / "gemm.cu").write_text(GEMM)
    report = tool("analyze", source=GEMM)
    assert report == said("analyze", str(tmp_path / "gemm.cu"), "--json")
    assert 0 < len(report["accesses"]) <= STEPS
    verdict = tool("explain", source=MOVED)
    assert verdict == said("explain", MOVED, "--json")
    assert (verdict["accepted"], verdict["bits"]) == (True, 16)
    words = ("v_wmma_f32_16x16x16_f16", "--arch", "gfx1200", "--wave", "64", "--json")
    assert tool("show", source=words[0], arch="gfx1200", wave=64) == said("show", *words)
    mine = tool("swizzle", source="64x64", read=["ldmatrix"], top=1000)
    assert mine == said("swizzle", "64x64", "--read", "ldmatrix", "--json")


def test_errors_have_a_place_and_a_cure():
    out = answer({"ask": "tool.evaluate", "source": "compositon((4,8), (2,2))"})["error"]
    assert (out["span"], out["fix"]["text"]) == ([0, 24], "composition")


@pytest.mark.mcp
def test_through_the_client_of_the_protocol(tmp_path: Path):
    mcp = pytest.importorskip("mcp", reason="the SDK of the Model Context Protocol is not installed")
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    path = os.pathsep.join(entry for entry in sys.path if entry)
    (tmp_path / "secret.cu").write_text("using A = Layout<Shape<_4,_8>>;")
    command = StdioServerParameters(command=sys.executable, args=["-m", "cute_viz", "mcp"], env={"PYTHONPATH": path}, cwd=tmp_path)

    async def talk() -> None:
        async with Client(stdio_client(command)) as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == list(TOOLS)
            assert all(next(iter(tool.input_schema["properties"])) == "source" for tool in listed)
            for name, words in CASES:
                result = await client.call_tool(name, words)
                assert result.structured_content == json.loads(json.dumps(answer({**words, "ask": f"tool.{name}"})))
                assert result.is_error == ("error" in result.structured_content)
            text = await client.call_tool("render", {"source": "(4,8):(8,1)"})
            assert text.content[0].text == render("(4,8):(8,1)").decode()
            image = await client.call_tool("render", {"source": "(4,8):(8,1)", "format": "png"})
            assert base64.b64decode(image.content[0].data) == render("(4,8):(8,1)", "png")
            for words in ({"source": "(4,8)", "nonsense": 1}, {}, {"source": 5}, {"source": "(" * 3000}, {"source": "secret.cu"}):
                assert (await client.call_tool("show", words)).is_error
            assert (await client.call_tool("nothing", {"source": "(4,8)"})).is_error

    assert mcp
    asyncio.run(asyncio.wait_for(talk(), 60))
