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
TAKEN = """template <class T> __global__ void k(T const* p, int n) {
  auto g = make_tensor(make_gmem_ptr(p), make_layout(make_shape(n, Int<4>{})));
  auto s = make_tensor(make_smem_ptr<float>(0), make_layout(make_shape(Int<32>{}, Int<4>{})));
  auto t = make_layout(make_shape(Int<32>{}));
  copy(local_partition(g, t, threadIdx.x), local_partition(s, t, threadIdx.x));
}
int main(int argc, char** argv) {
  int n = 32;
  if (argc >= 2) sscanf(argv[1], "%d", &n);
  k<<<1, 32>>>((float const*)0, n);
}
"""  # a size that holds as long as the program has no arguments
CASES: list[tuple[str, dict[str, Any]]] = [
    ("eval", {"source": "composition((4,8):(8,1), 4:2)"}),
    ("eval", {"source": "a = make_layout(make_shape(M, 8)); size(a)", "let": {"M": 512}}),
    ("eval", {"source": "composition((3,5,7):(35,7,1), (1):(7)"}),
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
    ("eval", {"source": BLOCKED, "shape": "32x16"}),
    ("eval", {"source": BLOCKED}),
    ("show", {"source": "v_wmma_f32_16x16x16_f16", "arch": "gfx1200", "wave": 64}),
    ("render", {"source": BLOCKED, "shape": "32xa"}),
    ("swizzle", {"source": "64x64", "read": ["ds_read"], "arch": "gfx942", "top": 1}),
    ("swizzle", {"source": "64x64", "read": ["ldmatrix"], "write": ["cp.async"], "top": 2}),
    ("swizzle", {"source": "(32,32):(32,1)", "type": "f32", "read": ["column"]}),
    ("swizzle", {"source": "64x64", "read": ["nothing"]}),
    ("render", {"source": "(4,8):(8,1)", "format": "text"}),
    ("render", {"source": "(64,64)"}),
    ("render", {"source": SWIZZLED, "format": "svg", "options": {"view": "banks", "type": "f16"}}),
    ("render", {"source": "(4,8)", "options": {"colour": "red"}}),
    ("render", {"source": "(500,200)", "format": "text"}),
    ("report", {"source": TAKEN}),
    ("report", {"source": "(4,8)"}),
    ("solve", {"source": "0 1 2 3; 4 5 6 7"}),
    ("solve", {"source": "0 1 2; 4 5 7; 9"}),
    ("atoms", {"source": "wgmma m64n128k16 bf16"}),
    ("atoms", {"source": "m16n8k16"}),
    ("atoms", {"source": "nothing"}),
    ("who_owns", {"source": "SM80_16x8x16_F32F16F16F32_TN", "where": "C(5,3)"}),
    ("who_owns", {"source": SWIZZLED, "where": "bank 3", "options": {"view": "banks", "type": "f16"}}),
    ("who_owns", {"source": "(4,8)", "where": "nobody"}),
    ("list", {"source": "auto a = make_shape(4, 8);\nauto b = make_layout(a);\n"}),
    ("list", {"source": "nothing of the kind"}),
]


@pytest.mark.parametrize("name", TOOLS)
def test_the_first_argument_of_every_tool_is_its_source(name):
    taken = schemas()[name]["input"]
    assert next(iter(taken["properties"])) == "source"
    assert taken["required"][0] == "source"
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
    assert len(json.dumps(out)) < (100_000 if "base64" in out else 25_000) or words.get("format") == "svg"


def test_answers_are_those_of_the_command_line(capsys, tmp_path):
    def said(*words: str) -> Any:
        with pytest.raises(SystemExit):
            main(list(words))
        return json.loads(capsys.readouterr().out)

    def tool(name: str, **words: Any) -> Any:
        return json.loads(json.dumps(answer({**words, "ask": f"tool.{name}"})))

    assert tool("show", source=SWIZZLED) == said("show", SWIZZLED, "--json")
    assert tool("explain", source="complement(4:2, 24)") == said("explain", "complement(4:2, 24)", "--json")
    assert tool("eval", source="a = (4,8):(8,1); size(a)") == said("eval", "a = (4,8):(8,1); size(a)", "--json")
    words = ("(8,64):(64,1)", "--access", COPY, "--store", "--json")
    assert tool("analyze", source=words[0], access=COPY, store=True, detail=True) == said("analyze", *words)
    (tmp_path / "gemm.cu").write_text(GEMM)
    report = said("analyze", str(tmp_path / "gemm.cu"), "--json")
    assert report == tool("report", source=GEMM, detail=True) == tool("analyze", source=GEMM, detail=True)
    assert "there is no launch 'none'" in tool("report", source=GEMM, launch="none")["error"]["message"]
    short = tool("report", source=GEMM)
    assert short == tool("analyze", source=GEMM)
    assert {row["line"] for row in report["accesses"]} == {*(row["line"] for row in short["accesses"]), *short["ideal"]}
    assert all(row in short["accesses"][:STEPS] or row["line"] in short["ideal"] for row in short["accesses"])
    verdict = tool("explain", source=MOVED)
    assert verdict == said("explain", MOVED, "--json")
    assert (verdict["accepted"], verdict["bits"]) == (True, 16)
    words = ("v_wmma_f32_16x16x16_f16", "--arch", "gfx1200", "--wave", "64", "--json")
    assert tool("show", source=words[0], arch="gfx1200", wave=64) == said("show", *words)
    mine = tool("swizzle", source="64x64", read=["ldmatrix"], top=1000)
    assert mine == said("swizzle", "64x64", "--read", "ldmatrix", "--json")


def test_who_owns_what_and_which_atoms_are_meant():
    def owned(where: str, source: str = "SM80_16x8x16_F32F16F16F32_TN") -> Any:
        return answer({"ask": "tool.who_owns", "source": source, "where": where})["words"]

    assert owned("(5,3)") == "C(5,3): T21 V1; A(5,3): T21 V1; B(5,3) of K x N: T14 V1"
    assert owned("T5,V1") == owned("thread 5 value 1") == "C(1,3): T5 V1; A(1,3): T5 V1; B(3,1) of K x N: T5 V1"
    assert (
        owned("T0-T1 V0")
        == owned("t0..1 v0")
        == "C(0,0): T0 V0; C(0,2): T1 V0; A(0,0): T0 V0; A(0,2): T1 V0; B(0,0) of K x N: T0 V0; B(2,0) of K x N: T1 V0"
    )
    assert owned("A(0,0)", "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1))") == "A(0,0): T0 V0, T64 V0"
    assert owned("offset 9", "(4,8):(8,1)") == "(1,1)"
    of_tile = {"ask": "tool.who_owns", "source": "(8,64):(64,1)"}
    assert answer({**of_tile, "where": "byte 128", "type": "f16"})["words"] == "(1,0)"
    assert answer({**of_tile, "where": "bank 3", "type": "f32"})["words"].startswith("(0,3); (0,35); (1,3); (1,35);")
    assert answer({**of_tile, "where": "bank 3"})["error"]["message"] == "the width of an element is not known"
    found = answer({"ask": "tool.atoms", "source": "wgmma m64n128k16 bf16 ss"})["atoms"]
    assert [atom["name"] for atom in found] == ["SM90_64x128x16_F32BF16BF16_SS"]


def test_errors_have_a_place_and_a_cure():
    out = answer({"ask": "tool.render", "source": "(M,8):(8,1)"})["error"]
    assert out["hint"].endswith('let {"M": "512"}')
    out = answer({"ask": "tool.eval", "source": "compositon((4,8), (2,2))"})["error"]
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
                told = json.loads(json.dumps(answer({**words, "ask": f"tool.{name}"})))
                assert result.structured_content == {key: value for key, value in told.items() if key != "base64"}
                assert result.is_error == ("error" in result.structured_content)
            text = await client.call_tool("render", {"source": "(4,8):(8,1)", "format": "text"})
            assert text.content[0].text == render("(4,8):(8,1)").decode()
            image = await client.call_tool("render", {"source": "make_layout((2,2))"})
            assert base64.b64decode(image.content[0].data) == render("make_layout((2,2))", "png")
            for words in ({"source": "(4,8)", "nonsense": 1}, {}, {"source": 5}, {"source": "(" * 3000}, {"source": "secret.cu"}):
                assert (await client.call_tool("show", words)).is_error
            assert (await client.call_tool("nothing", {"source": "(4,8)"})).is_error

    assert mcp
    asyncio.run(asyncio.wait_for(talk(), 600))


@pytest.mark.parametrize(
    ("second", "summary"),
    [
        ("", "0 of 1 access above the ideal"),
        ("copy(local_partition(s, Layout<_32>{}, threadIdx.x), nowhere);", "0 of 1 access above the ideal; 1 not evaluated"),
        ("copy(make_tensor<float>(_4{}), local_partition(t, Layout<_32>{}, threadIdx.x));", "1 of 2 accesses above the ideal"),
    ],
)
def test_a_report_counts_what_was_evaluated(second, summary):
    tile = "auto s = make_tensor(make_smem_ptr<float>(0), make_layout(make_shape(_32{}, _4{})));\n"
    tile += "auto t = make_tensor(make_smem_ptr<float>(0), make_layout(make_shape(_32{}, _4{}), make_stride(_32{}, _1{})));\n"
    source = f"{tile}copy(make_tensor<float>(_4{{}}), local_partition(s, Layout<_32>{{}}, threadIdx.x));\n{second}\n"
    assert answer({"ask": "tool.report", "source": source})["summary"] == summary
    assert answer({"ask": "tool.report", "source": "copy(nowhere, there);\ncopy(a, b);\n"})["summary"] == "no access was evaluated"
