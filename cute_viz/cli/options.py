"""The options of pictures as options of commands, from their table."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cute_viz.cli.words import Choice, beginning, complete_elements, complete_sources
from cute_viz.errors import CuteVizError
from cute_viz.options import OPTIONS, Option
from cute_viz.options.words import read

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    _Base = click.ParamType[Any]
else:
    _Base = click.ParamType  # generic only since click 8.5


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


def complete_palettes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The palettes that begin with what was typed."""
    from cute_viz.renderers.palette import PALETTES

    return beginning(PALETTES, incomplete)
