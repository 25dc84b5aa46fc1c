"""`cute-viz list`: what there is to choose from."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING

import click

from cute_viz.cli import output
from cute_viz.cli.again import again
from cute_viz.cli.words import (
    FILE,
    TYPE,
    Command,
    SourceOptions,
    build_options,
    complete_files,
    dialect_option,
    layouts_option,
    let_option,
)
from cute_viz.engine import ask
from cute_viz.errors import CuteVizError, did_you_mean
from cute_viz.options import OPTIONS
from cute_viz.options.views import VIEWS
from cute_viz.source.address import Build
from cute_viz.spec import Library
from cute_viz.spelling import count

if TYPE_CHECKING:
    from cute_viz.engine.whole import Row

KINDS = ("mma", "copy", "specs", "ops", "views", "formats", "palettes", "themes", "targets", "limits")
_NAMED = 8  # names without a value that the last line has


@click.command(cls=Command)
@click.argument("what", metavar="FILE|KIND", shell_complete=complete_files)
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with numbers and types")
@click.option("--arch", metavar="SM", help="Atoms of this architecture: sm90")
@click.option("--type", "element", **TYPE, help="Atoms with this type in their name: f16, e4m3")
@let_option
@dialect_option
@click.option("--instances", **FILE, help="Instances of this binary, or of what nm -C printed")
@build_options
@layouts_option
@again
def command(
    what: str,
    words: tuple[str, ...],
    as_json: bool,
    arch: str | None,
    element: str | None,
    let: dict[str, str],
    dialect: str,
    build: Build | None,
    launch: str,
    instances: str | None,
    library: Library,
) -> None:
    """List what a file defines (line, name, kind, value), or one KIND of things.

    KIND: mma, copy, specs, ops, views, formats, palettes, themes, targets or limits.
    FILE is C++, CUDA, Python (also a notebook), CuTe IR, or compiler output with layout types; FILE::SCOPE lists one scope. WORDs
    select rows, atoms by their name in CUTLASS, PTX, the DSL or SASS. In the name of an atom {N} is a number; its range follows.
    """
    if what not in ("mma", "copy") and (arch or element):
        raise click.UsageError("--arch and --type apply to mma and copy")
    if instances is not None:
        if build is None:
            raise click.UsageError("--instances needs --flags or --build")
        build = build._replace(instances=instances)
    if what not in KINDS:
        if what.replace("-", "").isalpha() and not os.path.exists(what):
            near = did_you_mean(what, KINDS, 1) or f"'cute-viz list mma {what}' and 'cute-viz list copy {what}' search the atoms"
            raise CuteVizError(f"{what!r} is neither a file nor one of {', '.join(KINDS)}", hint=near)
        _entries(what, words, as_json, SourceOptions(let, None, dialect, library, build, launch))
        return
    if as_json or let or dialect != "auto" or build is not None or launch:
        raise click.UsageError("--json, --let, --dialect, --flags, --build and --launch apply to a file")
    output.table(_atoms(what, " ".join(words), arch, element, library) if what in ("mma", "copy") else _with(what, words, library))


def _with(what: str, words: tuple[str, ...], library: Library) -> list[tuple[str, ...]]:
    """The rows of a kind that have all words. Raises: CuteVizError where none has, with what other libraries mean by the word."""
    rows = [(name, "") for name in library.spec_names()] if what == "specs" else _facts(what)
    out = [row for row in rows if _has(row, words)]
    if not out:
        from cute_viz.algebra.ops import elsewhere

        said = " ".join(words)
        raise CuteVizError(f"no row of {what} contains {said!r}", hint=elsewhere(said) if what == "ops" else None)
    return out


def _has(row: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return all(word.lower() in " ".join(row).lower() for word in words)


def _facts(what: str) -> list[tuple[str, ...]]:
    """The rows of a kind that is not an atom."""
    if what == "formats":
        from cute_viz.renderers import FORMATS

        return [(f.name, " ".join(f.suffixes), f.summary) for f in FORMATS.values()]
    if what == "palettes":
        from cute_viz.renderers.palette import DEFAULT, PALETTES

        return [(p.name, " ".join(p.hues), p.source + (" (the default)" if p.name == DEFAULT else "")) for p in PALETTES.values()]
    if what == "ops":
        from cute_viz.algebra.ops import OPS

        return [(op.signature, op.summary, "") for op in OPS.values()]
    if what == "views":
        return [(name, view.meaning, " ".join(f"--{use.replace('_', '-')}" for use in view.uses)) for name, view in VIEWS.items()]
    if what == "limits":
        from cute_viz.limits import LIMITS, limit

        head = ("limit", "value", "at most", "what it bounds; cute-viz --limit NAME=N raises it, --max-cells N that of cells")
        return [head, *((name, str(limit(name)), str(known.most), known.what) for name, known in LIMITS.items())]
    option = OPTIONS[what[:-1]]
    return [(what[:-1], option.meaning), *((word, "") for word in option.choices)]


def _capitals(name: str) -> str:
    """A name whose types are written as in CuTe's names: those of AMD's are in small letters, behind the shape or at its end."""
    return re.sub(r"(\d+X\d+X\d+)(?=[A-Z])", r"\1_", name.upper()) if name.islower() else name


def _shorter(path: str) -> str:
    """A path without long template arguments, and with the begin of mangled names: `name=` takes the tail of a path."""
    while (shorter := re.sub(r"<[^<>…]{17,}>", "<…>", path)) != path:
        path = re.sub(r"<[^<>]*<…>[^<>]*>", "<…>", shorter)
    return re.sub(r"(\w{40})\w{24,}", r"\1…", path)


def _entries(source: str, words: tuple[str, ...], as_json: bool, reading: SourceOptions) -> None:
    """What a file defines, of rows with all words: all of it as JSON; as lines what can be drawn, and what needs a value."""
    answer = ask(reading.request(source))
    rows = [row for row in answer.rows if _has((row.path, row.kind, row.brief), words)]
    if words and not rows:
        raise CuteVizError(f"no definition has {' '.join(words)!r} in its row", name=source)
    output.notes(answer.told)
    if as_json:
        output.echo(output.data([row.as_dict() for row in rows]))
        return
    plain = ("", "integer", "flag", "type", "other")
    shown = [row for row in rows if (row.needs and row.likely) or row.kind not in plain]
    if not shown:
        output.say(f"{count(len(rows), 'definition')}: no layout, copy or MMA that could be read")
    else:
        output.table([(row.place, _shorter(row.path), row.kind or "?", _told(row)) for row in shown])
    unread = [row.error for row in rows if row.error and not row.needs]
    if unread:
        more = "; --json shows why of each" if len(unread) > 1 else ""
        output.say(f"{count(len(unread), 'definition')} could not be read, {unread[0]}{more}")
    waiting = Counter(row.needs[0] for row in shown if row.needs and not row.kind and not _mistake(row))
    if waiting:
        names = [name for name, _ in waiting.most_common(_NAMED)] + ["..."] * (len(waiting) > _NAMED)
        objects = count(sum(waiting.values()), "object")
        output.say(f"{objects} without a value, marked ?: --let NAME=VALUE gives one, first of all for {', '.join(names)}")
        output.compiler(source, reading.build)


def _mistake(row: Row) -> str:
    """Why a definition has no value that only a value for itself would help; "" of any other."""
    name = row.path.rpartition("::")[2]
    message = re.sub(r"^\d+:\d+: ", "", row.error or "")
    return message if row.needs == (name,) and not message.startswith(repr(name)) else ""


def _told(row: Row) -> str:
    """A row in one line: its value, the names that it still needs, and the ones that decide whether it is compiled."""
    needs = _mistake(row) or (f"needs {', '.join(row.needs)}" if row.needs else "")
    depends = f"depends on {', '.join(row.depends)}" if row.depends else ""
    return "; ".join(filter(None, (row.brief, needs, depends)))


def _atoms(kind: str, word: str, arch: str | None, element: str | None, library: Library) -> list[tuple[str, ...]]:
    from cute_viz.values.types import spells

    entries = [entry for entry in (library.search(word) if word else library.listing()) if entry.kind == kind]
    if word and not entries:
        first = word.partition(".")[0]
        other = "copy" if kind == "mma" else "mma"
        hint = "types are words of --type: f16, bf16, tf32, s8; 8-bit floats are e4m3 and e5m2"
        if any(entry.kind == other for entry in library.search(word)):
            hint = f"'cute-viz list {other} {word}' lists those of that name"
        elif first != word and library.search(first):
            hint = f"'cute-viz list {library.search(first)[0].kind} {first}' lists those called {first}"
        raise CuteVizError(f"no {kind} atom has {word!r} in its name in CUTLASS, PTX, the DSL or SASS", hint=hint)
    archs = sorted({arch for entry in entries for arch in entry.archs})
    if arch is not None and arch.lower() not in archs:
        raise CuteVizError(f"the library has no {kind} atoms of {arch}", hint=f"architectures: {', '.join(filter(None, archs))}")
    found = [
        entry
        for entry in entries
        if (arch is None or arch.lower() in entry.archs) and (element is None or spells(_capitals(entry.name), element))
    ]
    if not found:
        raise CuteVizError(
            f"no {kind} atom has the type {element}", hint="types are written as in the names: f16, bf16, tf32, s8, e4m3"
        )
    return [
        (entry.name + (f"<{entry.args.replace(' ', ',')}>" if entry.args else ""), entry.arch, entry.ranges, entry.short)
        for entry in found
    ]
