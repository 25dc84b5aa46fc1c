"""`cute-viz mcp`: the tools of assistants that write kernels."""

from __future__ import annotations

import click

from cute_viz.cli.words import layouts_option
from cute_viz.errors import CuteVizError
from cute_viz.spec import Library


@click.command(
    epilog='\b\nExample, the settings of a client:\n  {"mcpServers": {"cute-viz": {"command": "cute-viz", "args": ["mcp"]}}}'
)
@layouts_option
def command(library: Library) -> None:
    """Serve the Model Context Protocol on standard input and output: evaluate, show, explain, analyze, swizzle, render and
    list_objects, each with the text of a layout, a kernel or a print as its `source`.

    Answers are JSON, the same as that of --json; what each tool takes and gives is in its schema. No tool reads a file.
    """
    import gc

    try:
        import anyio
        import mcp_types  # noqa: F401 (since version 2)
    except ImportError:
        raise CuteVizError("the tools need the package mcp, version 2", hint="pip install 'cute-viz[mcp]'") from None
    from cute_viz.live.mcp import serve
    from cute_viz.live.pool import Pool

    gc.enable()  # main() switches it off for commands of a moment
    with Pool(2, library) as pool:
        anyio.run(serve, pool)
