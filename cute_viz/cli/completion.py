"""What a shell offers for a word: atoms, specs, files, the names in a file, element types; and PowerShell, which click lacks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem, ShellComplete, add_completion_class

from cute_viz.errors import CuteVizError
from cute_viz.files import read_text


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The files that begin with what was typed."""
    return [CompletionItem(incomplete, type="file")]


def folders(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The folders that begin with what was typed."""
    return [CompletionItem(incomplete, type="dir")]


def sources(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files, atoms and specs that begin with what was typed; the objects of a file after `FILE::`."""
    from cute_viz.spec import Library

    path, colons, _ = incomplete.partition("::")
    if colons:
        return _beginning((f"{path}::{name}" for name in _names_in(path)), incomplete)
    library = Library.of_environment()
    names = [*(line.name for line in library.listing() if "{" not in line.name), *library.spec_names()] if incomplete else []
    return [*_beginning(names, incomplete), *files(ctx, param, incomplete)]


def names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names that the file of the command line defines, with their scopes."""
    given = [ctx.params.get(name) for name in ("source", "expression")]
    words = [*filter(None, given), *(ctx.params.get("sources") or ()), *ctx.args]  # the last, while a word of an option lacks
    return _beginning((name for path in words for name in _names_in(path)), incomplete)


def elements(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The element types that begin with what was typed."""
    from cute_viz.values.types import WRITTEN

    return _beginning(WRITTEN, incomplete)


def palettes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The palettes that begin with what was typed."""
    from cute_viz.renderers.palette import PALETTES

    return _beginning(PALETTES, incomplete)


def _beginning(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(word) for word in dict.fromkeys(words) if word.startswith(incomplete)]


def _names_in(path: str) -> list[str]:
    """The names that a file defines, none of them evaluated; nothing of what cannot be read."""
    from cute_viz.files import read_text
    from cute_viz.source.model import Given
    from cute_viz.source.opened import opened

    try:
        file = opened(read_text(path), path, Given(), check=False)
    except (CuteVizError, OSError):
        return []
    return [] if file is None else ["::".join((*entry.scope, entry.name)) for entry in file.entries]


FILE: dict[str, Any] = {"metavar": "FILE", "shell_complete": files}  # what options and arguments of a kind have in common
DIR: dict[str, Any] = {"metavar": "DIR", "shell_complete": folders}
NAME: dict[str, Any] = {"metavar": "NAME", "shell_complete": names}
TYPE: dict[str, Any] = {"metavar": "TYPE", "shell_complete": elements}


@add_completion_class
class PowerShellComplete(ShellComplete):
    """What the script and the tool say to each other: a word of the line in each line of COMP_WORDS; back, a completion a line."""

    name = "powershell"
    source_template = read_text(os.path.join(os.path.dirname(__file__), "completion.ps1"))

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is typed, without the name of the tool, and what is there of that one."""
        return os.environ.get("COMP_WORDS", "").split("\n")[1:], os.environ.get("COMP_CWORD", "").strip("'\"")

    def format_completion(self, item: CompletionItem) -> str:
        """A completion as its type, its value, and a help that PowerShell demands not to be empty."""
        shown = " ".join((item.help or str(item.value)).split())
        return f"{item.type}\t{item.value}\t{shown or ' '}"
