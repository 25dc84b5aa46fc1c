"""The options of reading, and the request that they make."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from cute_viz.cli import output
from cute_viz.engine.request import Request, Source
from cute_viz.errors import CuteVizError
from cute_viz.files import decode, read_text
from cute_viz.limits import limit
from cute_viz.notation import DIALECTS
from cute_viz.records import dataclass, rows
from cute_viz.source.address import Build, Folder
from cute_viz.spec import Library

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


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


def complete_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The files that begin with what was typed."""
    return beginning([incomplete], incomplete, "file")


def complete_folders(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The folders that begin with what was typed."""
    return beginning([incomplete], incomplete, "dir")


def complete_sources(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files, atoms and specs that begin with what was typed; the objects of a file after `FILE::`."""
    from cute_viz.spec import Library

    path, colons, _ = incomplete.partition("::")
    if colons:
        return beginning((f"{path}::{name}" for name in _names_in(path)), incomplete)
    library = Library.of_environment()
    names = [*(line.name for line in library.listing() if "{" not in line.name), *library.spec_names()] if incomplete else []
    return [*beginning(names, incomplete), *complete_files(ctx, param, incomplete)]


def complete_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names that the file of the command line defines, with their scopes."""
    given = [ctx.params.get(name) for name in ("source", "expression")]
    words = [*filter(None, given), *(ctx.params.get("sources") or ()), *ctx.args]  # the last, while a word of an option lacks
    return beginning((name for path in words for name in _names_in(path)), incomplete)


def complete_elements(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The element types that begin with what was typed."""
    from cute_viz.values.types import WRITTEN

    return beginning(WRITTEN, incomplete)


def beginning(words: Iterable[str], incomplete: str, kind: str = "plain") -> list[CompletionItem]:
    """The words that begin with what was typed."""
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


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """How sources are read: values for run-time names, which object is meant, the dialect, the library, how C++ is compiled."""

    let: dict[str, str] = field(default_factory=dict)
    name: str | None = None
    dialect: str = "auto"
    library: Library = field(default_factory=Library)
    build: Build | None = None
    launch: str = ""

    def request(self, *sources: Any, options: dict[str, Any] | None = None, formats: tuple[str, ...] = ()) -> Request:
        """The request for sources as the command line has them: paths of files, `-` for standard input, all that is text."""
        return Request(
            tuple(map(source_of, sources)),
            options or {},
            self.let,
            self.name,
            self.dialect,
            self.library,
            formats=formats,
            files=True,
            build=self.build,
            launch=self.launch,
            configured=True,
            watch=output.watch,
        )


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options --let, --name, --dialect, --layouts and those of the machine, given to the command as `reading`."""

    @let_option
    @click.option(
        "--name",
        **NAME,
        help="NAME, SCOPE::NAME or NAME@LINE  [default: the last]",
    )
    @dialect_option
    @build_options
    @layouts_option
    @machine_options
    @wraps(command)
    def wrapped(
        *args: Any,
        let: dict[str, str],
        name: str | None,
        dialect: str,
        library: Library,
        build: Build | None,
        launch: str,
        **more: Any,
    ) -> Any:
        return command(*args, reading=SourceOptions(let, name, dialect, library, build, launch), **more)

    return wrapped


def build_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options --flags, --build and --through: how a file of C++ is compiled, as `build`; --launch: which of its kernels."""

    @click.option(
        "--flags",
        metavar="FLAGS",
        help="Read CUDA as compiled: '-arch=sm_90a -Iinclude' or @FILE",
    )
    @click.option("-p", "--build", "database", **DIR, help="The same, from DIR/compile_commands.json")
    @click.option("--through", metavar="UNIT", help="The unit that includes this header, with --flags or -p")
    @click.option("--launch", default="", metavar="N|NAME", help="This launch of a kernel; list shows them")
    @wraps(command)
    def wrapped(*args: Any, flags: str | None, database: str | None, through: str | None, **more: Any) -> Any:
        if flags is not None and database is not None:
            raise click.UsageError("--flags and --build exclude each other")
        if through is not None and flags is None and database is None:
            raise click.UsageError("--through needs --flags or --build")
        build = None if flags is None and database is None else Build(flags, database, through)
        return command(*args, build=build, **more)

    return wrapped


def machine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options --arch, --wave, --shape and --bits: what a name or an encoding leaves open; they become part of `library`."""

    def extents(ctx: click.Context, param: click.Parameter, word: str | None) -> tuple[int, ...]:
        parts = (word or "").lower().split("x") if word else []
        if not all(part.isdecimal() and len(part) < 9 and int(part) for part in parts) or len(parts) > 8:
            raise click.BadParameter(f"{word!r} is not a shape, for example 64x64")
        return tuple(map(int, parts))

    @click.option("--arch", default="", metavar="ARCH", help="Target GPU for an ambiguous name: gfx942, gfx1200")
    @click.option("--wave", type=click.IntRange(1), metavar="N", help="Wave size: 32 or 64")
    @click.option("--shape", metavar="AxB", callback=extents, help="Tensor shape for a Triton encoding")
    @click.option(
        "--bits",
        type=click.IntRange(1, 1024),
        metavar="N",
        help="Bits per element (encoding) or value (copy)",
    )
    @wraps(command)
    def wrapped(
        *args: Any, library: Library, arch: str, wave: int | None, shape: tuple[int, ...], bits: int | None, **more: Any
    ) -> Any:
        said = replace(library, arch=arch.lower(), wave=wave or 0, shape=shape, bits=bits or 0)
        return command(*args, library=said, **more)

    return wrapped


def dialect_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --dialect."""
    kind = Choice(DIALECTS)
    return click.option("--dialect", type=kind, default="auto", show_default=True, help="Language", metavar="LANG")(command)


def let_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --let, given as a mapping of names to texts."""

    def pairs(ctx: click.Context, param: click.Parameter, items: tuple[str, ...]) -> dict[str, str]:
        out = {}
        for item in items:
            name, equals, text = item.partition("=")
            if not equals or not name.strip() or not text.strip():
                raise click.UsageError(f"--let {item!r}: write NAME=VALUE, for example --let M=512")
            if more := re.match(r"[^(\[{<]*?,\s*([A-Za-z_]\w*)\s*=(?!=)", text):
                raise click.UsageError(f"--let {item!r} has two names: write --let again for {more[1]}")
            out[name.strip()] = text
        return out

    words = "Set a run-time value: M=512, '?=(4,8)'"
    return click.option("--let", multiple=True, metavar="NAME=VALUE", callback=pairs, help=words)(command)


def layouts_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --layouts: folders of the user's own atoms and specs, searched before ours; given as `library`."""

    def library(ctx: click.Context, param: click.Parameter, folders: tuple[str, ...]) -> Library:
        return Library.of_environment(folders)

    kind = click.Path(exists=True, file_okay=False)
    words = "Search DIR first; repeatable  [env: CUTE_VIZ_LAYOUTS]"
    return click.option("--layouts", "library", type=kind, multiple=True, metavar="DIR", callback=library, help=words)(command)


def folder_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --folder: whose files a server reads; given as an `engine.Folder`, or None."""

    def folder(ctx: click.Context, param: click.Parameter, path: str | None) -> Folder | None:
        return None if path is None else Folder(os.path.abspath(path), os.path.abspath(path))

    kind = click.Path(exists=True, file_okay=False)
    words = "Allow sources to name files of this folder, as in kernel.cu::sA"
    return click.option("--folder", type=kind, metavar="DIR", callback=folder, help=words)(command)


def source_of(word: Any) -> Any:
    """What a word on the command line stands for: `-` for what comes on standard input."""
    if word != "-":
        return word
    if sys.stdin is None:
        raise CuteVizError("standard input is closed")
    if sys.stdin.isatty():
        click.echo("reading standard input; end it with Ctrl-D", err=True)
    return Source(decode(sys.stdin.buffer.read(limit("file") + 1), "standard input"), "standard input")


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
