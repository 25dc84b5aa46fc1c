"""The tools for assistants as a server of the Model Context Protocol, on standard input and output."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cute_viz import __version__
from cute_viz.live.pool import Pool
from cute_viz.live.tools import schemas

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

INSTRUCTIONS = (
    "CuTe layouts of CUTLASS, exactly as CuTe has them: evaluate the algebra, show facts of layouts and atoms, search atoms, "
    "explain operations, say who owns an element, report what a kernel's copies cost and how to fix it, find swizzles, draw. "
    "Every tool takes `source`: CuTe notation, C++, Python or a print. Answers are short; `detail` gives all of it. Errors "
    "carry the place (`span`), a `hint`, and often a `fix`."
)


def server(pool: Pool) -> Server[Any]:
    """The server, whose questions a pool of processes answers, within its limits of time and memory. Raises: ImportError where
    the protocol's SDK is not installed."""
    import anyio.to_thread
    from mcp.server.lowlevel import Server
    from mcp_types import ListToolsResult, Tool

    async def list_tools(context: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        tools = [
            Tool(name=name, description=words["description"], input_schema=words["input"], output_schema=words["output"])
            for name, words in schemas().items()
        ]
        return ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        return await anyio.to_thread.run_sync(call, pool, params.name, dict(params.arguments or {}))

    return Server("cute-viz", version=__version__, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


def call(pool: Pool, name: str, words: dict[str, Any]) -> CallToolResult:
    """The result of a tool: its JSON, as text and as structure; of a picture the text, or the image itself."""
    from mcp_types import CallToolResult, ImageContent, TextContent

    out: dict[str, Any]
    known = schemas()[name]["input"]["properties"] if name in schemas() else {}
    other = [word for word in words if word not in known]
    if not known:
        out = {"error": {"message": f"there is no tool {name[:40]!r}", "hint": f"one of {', '.join(schemas())}"}}
    elif other or (missed := [word for word in schemas()[name]["input"]["required"] if word not in words]):
        missing = f"{name} takes no {other[0][:40]!r}" if other else f"{name} needs {missed[0]}"
        out = {"error": {"message": missing, "hint": f"it takes {', '.join(known)}"}}
    else:
        out = json.loads(pool.ask({**words, "ask": f"tool.{name}"}))
    failed = "error" in out
    if name == "render" and out.get("mime") == "image/png":
        image = ImageContent(type="image", data=out.pop("base64"), mime_type=out["mime"])
        told = "\n".join(out[key] for key in ("description", "note") if key in out)
        return CallToolResult(content=[image, TextContent(type="text", text=told)], structured_content=out)
    text = (
        out["text"]
        if name == "render" and not failed and "text" in out
        else json.dumps(out, separators=(",", ":"), ensure_ascii=False)
    )
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=out, is_error=failed)


async def serve(pool: Pool) -> None:
    """Serve on standard input and output until the other end closes them."""
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (incoming, outgoing):
        running = server(pool)
        await running.run(incoming, outgoing, running.create_initialization_options())
