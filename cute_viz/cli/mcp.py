"""`cute-viz mcp`: the tools of assistants that write kernels."""

from __future__ import annotations

import click

from cute_viz.cli.words import Command, folder_option, layouts_option
from cute_viz.engine import Folder
from cute_viz.errors import CuteVizError
from cute_viz.spec import Library


@click.command(cls=Command)
@layouts_option
@folder_option
def command(library: Library, folder: Folder | None) -> None:
    """Serve tools for coding assistants: the Model Context Protocol on standard input and output.

    eval, show, explain, analyze, report, swizzle, solve, atoms, who_owns, render and list take the text of a layout, a kernel or
    a print as `source`, or with --folder an address, kernel.cu::sA. Answers are short JSON; with `detail` they are complete.
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
    with Pool(2, library, folder=folder) as pool:
        anyio.run(serve, pool)
