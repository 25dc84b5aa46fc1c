"""The command line: the only room that prints or exits.

Commands live in modules of their own and are imported when they are called, so that `render` pays for nothing else.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import Any

import click

from cute_viz import __version__
from cute_viz.cli import output
from cute_viz.errors import CannotCheck, CuteVizError, UsageError, boundary, one_line
from cute_viz.records import rows
from cute_viz.spelling import spelled

Table = dict[str, tuple[str, str]]
_ROWS = rows(__file__, "commands.txt")
COMMANDS: Table = {name: (module, line) for name, module, line in (row for row in _ROWS if len(row) == 3)}
OLD = {old: tuple(now.split()) for old, now in (row for row in _ROWS if len(row) == 2 and row[0][0] != "-")}  # nothing shows them
ELSEWHERE = {name: ours for names, ours in (row for row in _ROWS if row[0][0] == "-") for name in names.split()}
LONG = ("verify", "record", "gallery", "embed", "serve", "mcp")  # each of their pictures or questions is held to its limits

_NO_ARGUMENTS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())  # since click 8.2 an error of its own


class _Usage(click.UsageError):
    """Wrong usage that was found below the command line, with the command that it is of."""

    def __init__(self, error: UsageError, command: str) -> None:
        super().__init__(spelled(error.message, "cli"))
        self.hint = f"{spelled(error.hint, 'cli')}; " if error.hint else ""
        self.command = command


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is called."""

    def __init__(self, *args: Any, table: Table | None = None, **more: Any) -> None:
        super().__init__(*args, **more)
        self.table = COMMANDS if table is None else table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the help."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported now; None where there is none."""
        found = self.table.get(cmd_name)
        if found is None:
            return None
        command: click.Command = import_module(found[0]).command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words of a command; one of an old name is the new one from here on."""
        at = 0
        while self.table is COMMANDS and at < len(args) and args[at].startswith("-"):
            at += 2 if args[at] == "--limit" else 1
        return super().parse_args(ctx, [*args[:at], *_renewed(args[at:])] if self.table is COMMANDS else args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; of a word that names none, wrong usage with the nearest name."""
        name = args[0] if args else ""
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            from difflib import get_close_matches

            near = [f"--{name}"] if name in ("version", "help") else get_close_matches(name, self.table, n=1)
            other = _for_a_source(name) if self.table is COMMANDS else f"one of {', '.join(self.table)}"
            hint = f"did you mean '{near[0]}'?" if near else other
            ctx.fail(f"no such command '{name}'; {hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what its options contradict becomes wrong usage, and whatever is unexpected a clean error."""
        from cute_viz.limits import held

        first = next(iter([*getattr(ctx, "_protected_args", ctx.args), *ctx.args]), "")
        try:
            with boundary(click.ClickException, click.Abort, click.exceptions.Exit), nullcontext() if first in LONG else held():
                return super().invoke(ctx)
        except UsageError as error:
            raise _Usage(error, f"{ctx.command_path} {ctx.invoked_subcommand}") from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands with their lines of help, none of them imported."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_) for name, (_, help_) in self.table.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "CUTE_VIZ"})
@click.version_option(__version__, prog_name="cute-viz")
@click.option(
    "--limit",
    multiple=True,
    metavar="NAME=N",
    expose_value=False,
    callback=lambda ctx, param, words: _raise_limits(ctx, words),
    help="Raise a limit; see 'cute-viz list limits'",
)
def cli() -> None:
    """See CuTe layouts: paste a layout or a kernel, get a correct picture.

    \b
    Examples:
      cute-viz render '((16,8),8):((64,1),8)' --tile 8x128 -o tv.svg
      cute-viz analyze kernel.cu
      cute-viz eval 'composition((4,8):(8,1), 4:2)'

    Exit status: 0 success; 1 wrong input, or a check failed; 2 wrong usage; 3 could not check; 70 a bug in cute-viz.
    """


def _renewed(words: Sequence[str]) -> list[str]:
    """The words of a command under its name of now."""
    name, more = next(iter(words), ""), list(words[1:])
    if name == "fmt":  # whose language was optional
        more = ["yaml" if any(word.endswith((".yaml", ".yml")) for word in more) else "cute", *more]
    elif name == "playground":
        more = ["--static" if word in ("-o", "--output") else word.replace("--output=", "--static=", 1) for word in more]
        needs = not any(word.startswith(("--static", "--help", "-h")) for word in more)
        more += ["--static"] if needs else []
    return [*OLD[name], *more] if name in OLD else list(words)


def commands() -> Iterator[tuple[str, click.Command, str]]:
    """Every command as it is called, `find swizzle`, with its line of help; all are imported."""
    for name, (module, summary) in COMMANDS.items():
        command = import_module(module).command
        inner = [(name, module, summary)]
        if isinstance(command, LazyGroup):
            inner = [(f"{name} {word}", *row) for word, row in command.table.items()]
        yield from ((words, import_module(path).command, line) for words, path, line in inner)


def _for_a_source(word: str) -> str:
    """What to do with a source that stands where a command belongs."""
    from cute_viz.engine.reading import is_file

    try:
        is_source = is_file(word) and not word.endswith((".yaml", ".yml", ".json"))
    except CuteVizError:  # a folder
        return f"to draw the specs of a folder: cute-viz gallery '{word}'"
    if is_source:
        return f"to see what a file defines: cute-viz list '{word}'"
    return f"to draw a layout: cute-viz render '{word}'"


def _raise_limits(ctx: click.Context, words: tuple[str, ...]) -> None:
    """NAME=N, one or more, such as nesting=100: they hold for as long as the command runs."""
    if not words:
        return
    from cute_viz.limits import raised

    out = {}
    for word in words:
        name, equals, number = word.partition("=")
        if not equals or not number.isdecimal() or len(number) > 18:
            raise click.BadParameter(f"{word!r} is not NAME=N, for example nesting=100")
        if name == "cells":
            raise click.BadParameter("--max-cells raises the limit cells")
        out[name] = int(number)
    try:
        ctx.with_resource(raised(out))
    except CuteVizError as error:
        raise click.BadParameter(f"{error.message}; {error.hint}" if error.hint else error.message) from None


def _close_output() -> None:
    """Drop what is left for standard output, of which Python would complain once more when it flushes it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: list[str] | None = None) -> None:
    """The console script: runs a command and turns every expected failure into one clear message."""
    import gc

    gc.disable()  # a process of a moment: looking for cycles would cost a tenth of it
    _shield()
    try:
        argv = sys.argv[1:] if argv is None else argv
        _check_words(argv)
        argv = _bare(argv)
        if "_CUTE_VIZ_COMPLETE" in os.environ:
            import_module("cute_viz.cli.powershell")
        status: Any = cli.main(args=argv, prog_name="cute-viz", standalone_mode=False)
        sys.stdout.flush()
    except _NO_ARGUMENTS as error:
        click.echo(error.format_message(), err=True)
        status = 2
    except click.UsageError as error:
        _say(error)
        status = 2
    except click.ClickException as error:
        output.error(one_line(error.format_message()))
        status = error.exit_code
    except CuteVizError as error:
        output.error(error)
        status = 3 if isinstance(error, CannotCheck) else 1
    except BrokenPipeError:
        _close_output()  # the reader has seen enough
        status = 0
    except (click.Abort, KeyboardInterrupt):
        output.error("interrupted")
        status = 130
    except SystemExit as stop:
        # Of a pipe that was closed click makes a 1, and wraps standard output.
        status = 0 if type(sys.stdout).__name__.endswith("PacifyFlushWrapper") else stop.code
    except OSError as error:
        folder = os.path.dirname(str(error.filename or "")) or "."
        lost = isinstance(error, FileNotFoundError) and not os.path.isdir(folder)
        hint = f"there is no folder {folder}" if lost else None
        other = str(error.filename or "").replace("\\", "/")
        if (
            isinstance(error, FileNotFoundError) and other != error.filename and os.path.isfile(other)
        ):  # a path of Windows elsewhere
            hint = f"did you mean {other}?"
        if error.filename is None:
            _close_output()
        said = str(error.strerror or error)
        output.error(CuteVizError(said, name=os.fsdecode(error.filename or "standard output"), hint=hint))
        status = 1
    status = output.MISTAKE if output.mistaken() else status
    sys.exit(status if isinstance(status, int) else 0)


def _bare(words: Sequence[str]) -> list[str]:
    """Words without the quotes that no shell takes off: single ones in cmd.exe, which parts them at blanks, double ones within
    single ones of PowerShell, and typographic ones."""
    if not any(mark in word for word in words for mark in "'\"\u2018\u201c"):
        return list(words)
    quoted = r"(?<![^\0])['\"\u2018\u201c]([^'\"\0]*[(<:=.;][^'\"\u2019\u201d]*)['\"\u2019\u201d](?![^\0])"
    return re.sub(quoted, lambda found: found[1].replace("\0", " "), "\0".join(words)).split("\0")


def _shield() -> None:
    """What the surroundings of the process do not change: closed streams, a terminal's letters, settings of matplotlib."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed: what is written there is nobody's, and only a picture is an error (see cli.output)
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (to the end of the process)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace" if name == "stdout" else "backslashreplace")
    os.environ.pop("MPLBACKEND", None)  # we draw without a window, whatever windows others draw into
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy multiplies nothing here, and would take memory for every core


def _check_words(argv: Sequence[str]) -> None:
    """Refuse what no name of a file holds, and no system passes: a program that calls `main` may."""
    for word in argv:
        try:
            whole = b"\0" not in os.fsencode(word)
        except UnicodeEncodeError:
            whole = False
        if not whole:
            raise click.UsageError(f"an argument is not text: {word[:40]!r}")


def _say(error: click.UsageError) -> None:
    """A usage error in our form: what is wrong, then where help is."""
    path = error.command if isinstance(error, _Usage) else error.ctx.command_path if error.ctx else "cute-viz"
    early = isinstance(error, click.NoSuchOption) and error.ctx is not None and error.ctx.parent is None
    more = "; the options of a command go after its name" if early else ""
    before = getattr(error, "hint", "")
    if isinstance(error, click.NoSuchOption) and (ours := ELSEWHERE.get(error.option_name)) is not None:
        error, before = click.UsageError(f"No such option '{error.option_name}'."), f"use {ours}; "
    hint = one_line(f"hint: {before}{path} --help{more}")
    output.error(f"{one_line(error.format_message())}\n  {hint}")
