"""What a shell offers for a word: atoms, specs, files, the names in a file, element types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from cute_viz.errors import CuteVizError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The files that begin with what was typed."""
    return _beginning([incomplete], incomplete, "file")


def folders(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The folders that begin with what was typed."""
    return _beginning([incomplete], incomplete, "dir")


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


def _beginning(words: Iterable[str], incomplete: str, kind: str = "plain") -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # of a shell that asks

    return [CompletionItem(word, kind) for word in dict.fromkeys(words) if word.startswith(incomplete)]


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
