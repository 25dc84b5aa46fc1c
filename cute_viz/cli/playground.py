"""`cute-viz playground`: the live page as a static site."""

from __future__ import annotations

import os

import click

from cute_viz import files
from cute_viz.cli import output
from cute_viz.cli.help import Command


@click.command(
    cls=Command,
    epilog="Examples:\n"
    "  cute-viz playground -o site\n"
    "  npm pack pyodide && tar xzf pyodide-*.tgz && \\\n"
    "    cute-viz playground -o site --pyodide package",
)
@click.option("-o", "--output", "folder", required=True, metavar="DIR", help="Write the site to DIR")
@click.option(
    "--pyodide",
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    help="Include this unpacked npm package of Pyodide; else the page loads it from a pinned address of a CDN",
)
def command(folder: str, pyodide: str | None) -> None:
    """Write the page of `serve` as a static site that runs in the reader's browser.

    It works from any host and under any path; with --pyodide nothing is loaded from elsewhere.
    """
    write_site(folder, pyodide)


def write_site(folder: str, pyodide: str | None) -> None:
    """Write the live page as a static site.

    Raises: CuteVizError for a folder that leads elsewhere, and for one that holds no Pyodide.
    """
    from cute_viz.live.playground import site

    files.held(folder, files.top_of(folder))
    parts = site(pyodide)
    for path, data in parts.items():
        target = os.path.join(folder, *path.split("/"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        files.write(data, target, folder)
    size = sum(map(len, parts.values()))
    output.say(
        f"{len(parts)} files, {size / 1e6:.1f} MB, in {folder}: serve it with any web server, for example python -m http.server"
    )
