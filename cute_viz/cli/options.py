"""The options of pictures as options of commands, from their table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cute_viz.errors import CuteVizError
from cute_viz.options import OPTIONS, Option
from cute_viz.options.words import read

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    _Base = click.ParamType[Any]
else:
    _Base = click.ParamType  # generic only since click 8.5


class Choice(click.Choice):  # type: ignore[type-arg]  # generic only since click 8.2
    """One of some words; another is refused with those like it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word. Raises: UsageError, which names the nearest choice, or all of them."""
        if value in self.choices:
            return value
        words, name = list(map(str, self.choices)), param.opts[0] if param is not None else "the value"
        from difflib import get_close_matches

        near = get_close_matches(str(value).lower(), words, n=1, cutoff=0.7) or [x for x in words if x.startswith(str(value)[:3])]
        hint = f"did you mean {near[0]}?" if near else f"one of {', '.join(words)}"
        raise click.UsageError(f"invalid value {str(value)[:40]!r} for {name}; {hint}", ctx)


class OptionValue(_Base):
    """The value of an option of the table."""

    def __init__(self, option: Option) -> None:
        self.option = option
        self.name = option.metavar

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """What the word stands for; wrong usage where it is not such a value."""
        try:
            return read(self.option.name, value)
        except CuteVizError as error:
            named = rf"^`{self.option.name}=([^`]*)`(:?) (?=\S)"  # click says which option it is
            message = re.sub(named, lambda found: "" if found[2] else f"{found[1]!r} " if found[1] else "it ", error.message)
            self.fail(f"{message}; {error.hint}" if error.hint else message, param, ctx)


def option(name: str, **more: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A click option of the table's option."""
    row = OPTIONS[name]
    words: dict[str, Any] = {"help": row.short, **more}
    if row.holds == "flag":
        words["is_flag"] = True
    elif row.choices:
        words |= {"type": Choice(row.choices), "metavar": row.example or name.rpartition("_")[2].upper()}
        words |= {"default": row.default, "show_default": True} if row.default else {}
    else:
        words |= {"metavar": row.metavar} | ({} if row.holds in ("text", "object") else {"type": OptionValue(row)})
    if name == "note":
        words |= {"multiple": True, "callback": lambda ctx, param, notes: "\n".join(notes) or None}
    if row.holds in ("element", "object"):
        words["shell_complete"] = complete_elements if row.holds == "element" else complete_sources
    if name == "palette":
        words["shell_complete"] = complete_palettes
    names = [f"--{word.replace('_', '-')}" for word in (row.word, name) if word]
    return click.option(*names, name, **words)


def picture_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Every option of the table; those that were given come to the command as `options`, by name."""

    @wraps(command)
    def wrapped(*args: Any, **given: Any) -> Any:
        asked = click.get_current_context().get_parameter_source
        words = {name: given.pop(name) for name in OPTIONS}
        options = {name: word for name, word in words.items() if asked(name) != ParameterSource.DEFAULT and word is not None}
        return command(*args, options=options, **given)

    out: Callable[..., Any] = wrapped
    for name in reversed(OPTIONS):
        out = option(name)(out)
    return out


def complete_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The files that begin with what was typed."""
    return _beginning([incomplete], incomplete, "file")


def complete_folders(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The folders that begin with what was typed."""
    return _beginning([incomplete], incomplete, "dir")


def complete_sources(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files, atoms and specs that begin with what was typed; the objects of a file after `FILE::`."""
    from cute_viz.spec import Library

    path, colons, _ = incomplete.partition("::")
    if colons:
        return _beginning((f"{path}::{name}" for name in _names_in(path)), incomplete)
    library = Library.of_environment()
    names = [*(line.name for line in library.listing() if "{" not in line.name), *library.spec_names()] if incomplete else []
    return [*_beginning(names, incomplete), *complete_files(ctx, param, incomplete)]


def complete_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names that the file of the command line defines, with their scopes."""
    given = [ctx.params.get(name) for name in ("source", "expression")]
    words = [*filter(None, given), *(ctx.params.get("sources") or ()), *ctx.args]  # the last, while a word of an option lacks
    return _beginning((name for path in words for name in _names_in(path)), incomplete)


def complete_elements(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The element types that begin with what was typed."""
    from cute_viz.values.types import WRITTEN

    return _beginning(WRITTEN, incomplete)


def complete_palettes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
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


FILE: dict[str, Any] = {"metavar": "FILE", "shell_complete": complete_files}  # what options and arguments of a kind have in common
DIR: dict[str, Any] = {"metavar": "DIR", "shell_complete": complete_folders}
NAME: dict[str, Any] = {"metavar": "NAME", "shell_complete": complete_names}
TYPE: dict[str, Any] = {"metavar": "TYPE", "shell_complete": complete_elements}
