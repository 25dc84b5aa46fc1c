"""`cute-viz serve`: the page that redraws while one types."""

from __future__ import annotations

import os
import re
import sys
from functools import partial

import click

from cute_viz import files
from cute_viz.cli import output
from cute_viz.cli.words import DIR, NAME, Command, build_options, complete_sources, folder_option, layouts_option, let_option
from cute_viz.source.address import Build, Folder, address_of
from cute_viz.spec import Library

PORT = 8080  # so that links of yesterday lead to the server of today


@click.command(cls=Command)
@click.argument("source", metavar="[SOURCE|FILE]", shell_complete=complete_sources, required=False)
@click.option("--port", type=click.IntRange(0, 65535), help=f"Port; 0 takes a free one  [default: {PORT}, or the next free]")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address; any other than this lets other machines connect",
)
@click.option("--static", **DIR, help="Write the page as a static site instead of serving it")
@click.option("--pyodide", **DIR, help="With --static: include this unpacked npm package of Pyodide")
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page in a browser")
@let_option
@click.option("--name", **NAME, help="Show this object of the file first")
@build_options
@layouts_option
@folder_option
def command(
    source: str | None,
    port: int | None,
    host: str,
    static: str | None,
    pyodide: str | None,
    browser: bool,
    let: dict[str, str],
    name: str | None,
    build: Build | None,
    launch: str,
    library: Library,
    folder: Folder | None,
) -> None:
    """Open a page that draws while you type, on this machine only, until Ctrl-C.

    It takes everything that render takes. With a FILE it shows what the file defines and follows your edits; with --flags or -p it
    compiles each version that you save. The address holds the state of the page. --static DIR writes the page as a static site that
    runs in the reader's browser and opens with the SOURCE, or the text of the FILE.
    """
    if source == "-":
        raise click.UsageError("a page follows a file; it cannot follow standard input")
    if (let or name) and source is None:
        raise click.UsageError("--let and --name need a source or a file")
    if static is not None:
        return write_site(static, pyodide, _state(source, let, name))
    if pyodide is not None:
        raise click.UsageError("--pyodide needs --static")
    import gc

    from cute_viz.limits import limit
    from cute_viz.live.follow import Followed
    from cute_viz.live.page import fragment
    from cute_viz.live.pool import SECONDS, Pool
    from cute_viz.live.server import Server, free

    gc.enable()  # main() switches it off for commands of a moment
    if source is not None and (asked := address_of(source)) is not None and asked.name:
        if name is not None:
            raise click.UsageError("the address already names the object; drop --name")
        source, name = asked
    is_file = source is not None and _is_file(source)
    if (build is not None or launch) and not is_file:
        raise click.UsageError("--flags, --build and --launch need a file")
    followed = Followed(source, partial(_compiled, source, build)) if source is not None and is_file else None
    seconds = SECONDS if build is None else float(limit("unit-seconds"))  # a fix is compiled before it is offered
    pool = Pool(max(2, min(4, os.cpu_count() or 2)), library, seconds, folder=folder, build=build)
    server = Server(host, free(host, PORT) if port is None else port, followed, pool)
    try:
        state: dict[str, object] = {**_state(None if is_file else source, let, name), **({"launch": launch} if launch else {})}
        if state and followed is not None:
            state["file"] = True
        address = server.address + (fragment(state) if state else "")
        output.say(address)
        sys.stderr.flush()
        if host not in ("127.0.0.1", "localhost", "::1"):
            output.warn(f"other machines reach {host}: whoever has this address, with its token, can use the page")
        if browser:
            import webbrowser

            webbrowser.open(address)
        server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        pass  # how it ends
    finally:
        server.close()


def _compiled(path: str, build: Build | None, text: str) -> None:
    """Compile a text of a file, as the command or its project says, so that the page's questions, which may not take long, find it
    compiled.

    Raises: CuteVizError for what cannot be compiled at all.
    """
    from cute_viz.engine import Request, Source
    from cute_viz.engine.reading import Reading

    reading = Reading(Source(text, path), Request((), build=build, configured=True, watch=output.watch))
    if reading.compiles:
        _ = reading.file


def _state(source: str | None, let: dict[str, str], name: str | None) -> dict[str, str]:
    """What a page begins with; the text of a file for its path."""
    given = {"source": source or "", "let": "\n".join(f"{key}={value}" for key, value in let.items()), "name": name or ""}
    if source is not None and _is_file(source):
        given["source"] = files.read_text(source)
    return {word: value for word, value in given.items() if value}


def write_site(folder: str, pyodide: str | None, first: dict[str, str]) -> None:
    """Write the live page as a static site. first: what it begins with, as `_state` has it.

    Raises: CuteVizError for a folder that leads elsewhere, and for one that holds no Pyodide.
    """
    from cute_viz.live.playground import FIRST, site

    files.held(folder, files.top_of(folder))
    parts = site(pyodide, first or FIRST)
    for path, data in parts.items():
        target = os.path.join(folder, *path.split("/"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        files.write(data, target, folder)
    size = sum(map(len, parts.values()))
    output.say(
        f"{len(parts)} files, {size / 1e6:.1f} MB, in {folder}: serve it with any web server, for example python -m http.server"
    )


def _is_file(source: str) -> bool:
    """Whether a word is the path of a file, be it one that is missing."""
    if re.fullmatch(r"[^\s(){}<>;=,]+\.[A-Za-z]\w{0,5}", source):
        return True
    return len(source) < 4096 and "\n" not in source and "\0" not in source and os.path.isfile(source)
