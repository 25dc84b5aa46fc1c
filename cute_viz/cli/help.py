"""Help in groups, at most 60 lines of 80 columns for a command; the reference page of a command has the rest."""

from __future__ import annotations

import os
import re
from typing import Any

import click

from cute_viz.files import read_text
from cute_viz.records import rows

WIDTH = 80
GROUPS = {title: names.split() for title, names in rows(__file__, "help.txt")}


class Command(click.Command):
    """A command whose help has headings, and ends with the examples of its module in examples.txt."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        if self.epilog is None:
            module = getattr(self.callback, "__module__", "").rpartition(".")[2]
            examples = read_text(os.path.join(os.path.dirname(__file__), "examples.txt"))
            self.epilog = (examples.partition(f"\n[{module}]\n")[2].partition("\n[")[0].rstrip("\n") + "\n").lstrip("\n") or None

    def get_help(self, ctx: click.Context) -> str:
        """The help, in 80 columns, whatever the terminal: what does not fit is too long to be read."""
        ctx.max_content_width = ctx.terminal_width = WIDTH
        return super().get_help(ctx)

    def groups(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """The options under their headings, in the order of help.txt; a command of few options has one heading."""
        params = [param for param in self.get_params(ctx) if isinstance(param, click.Option) and not param.hidden]
        home = {name: title for title, names in GROUPS.items() for name in names}
        order = {name: n for n, name in enumerate(home)}
        grouped: dict[str, list[click.Option]] = {"Options": [], **{title: [] for title in GROUPS}}
        for param in sorted(params, key=lambda param: order.get(_name(param), -1)):
            grouped[home.get(_name(param), "Options") if len(params) > 11 else "Options"].append(param)
        return {title: params for title, params in grouped.items() if params}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options under their headings, the first name of each."""
        brief = (*GROUPS["Picture"], "target")
        groups = {
            title: [(spelled(param, ctx), _meaning(param, _name(param) in brief)) for param in params]
            for title, params in self.groups(ctx).items()
        }
        wide = min(20, max(len(first) for words in groups.values() for first, _ in words))
        formatter.write("\n")
        for title, words in groups.items():
            formatter.write(f"{title}:\n")
            formatter.indent()
            formatter.write_dl([(f"{first:<{wide}}", second) for first, second in words], col_max=wide)
            formatter.dedent()

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, under a heading of their own."""
        for line in (self.epilog or "").strip().split("\n"):
            formatter.write(f"{line}\n")


def _name(param: click.Option) -> str:
    return "help" if "--help" in param.opts else param.name or ""


def spelled(param: click.Option, ctx: click.Context) -> str:
    """`-o, --output FILE`: the short name and the first long one; a further one of old is known, and not shown."""
    long = [word for word in param.opts if word.startswith("--")]
    short = [word for word in param.opts if not word.startswith("--")]
    words = ", ".join([*short, *long[:1]]) + (f"/{param.secondary_opts[0]}" if param.secondary_opts else "")
    if param.is_flag or param.count:
        return words
    return f"{words} {'N' if isinstance(param.type, (click.IntRange, click.FloatRange)) else param.make_metavar(ctx)}"


def _meaning(param: click.Option, brief: bool) -> str:
    """The line of an option: its choices after its meaning, as far as there is room, and a default that is not one of them."""
    words = param.help or ""
    if isinstance(param.type, click.Choice) and len(param.type.choices) < 30:
        choices = ", ".join(map(str, param.type.choices))
        if words and not {*choices.split(", ")} - {*re.findall(r"\w+", words)}:
            return words
        if len(choices) > 60 and param.name == "color_by":
            choices = ", ".join(map(str, param.type.choices[:7])) + " ..."
        if len(choices) > 60 and param.name == "view":
            return ", ".join(map(str, param.type.choices[:4])) + " ...; 'cute-viz list views'"
        return choices if not words or (brief and len(words) + len(choices) > 55) else f"{words}: {choices}"
    if param.show_default is True and not param.is_flag and isinstance(param.default, (str, int, float)) and param.default != "":
        return f"{words}  [default: {param.default}]"
    return words


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
