"""The pages of the reference, as Markdown, from the tables that the tool itself uses."""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click

import cute_viz
from cute_viz.algebra.ops import OPS
from cute_viz.cli import OLD, commands
from cute_viz.cli.words import Command
from cute_viz.cli.words import spelled as option_name
from cute_viz.errors import spelled
from cute_viz.limits import LIMITS, limit, raised_by
from cute_viz.options import OPTIONS
from cute_viz.options.views import TILINGS, VIEWS
from cute_viz.renderers import FORMATS
from cute_viz.renderers.palette import DEFAULT, PALETTES
from cute_viz.spec import Library

ROOT = Path(__file__).parent.parent


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of Markdown; bars and line ends of cells are kept out of its syntax."""

    def line(cells: tuple[str, ...]) -> str:
        return "| " + " | ".join(" ".join(cell.split()).replace("|", r"\|") for cell in cells) + " |"

    return "\n".join([line(head), line(("---",) * len(head)), *map(line, rows)]) + "\n"


def code(text: str, language: str = "text") -> str:
    """A block of text as it is."""
    return f"````{language}\n{text.rstrip()}\n````\n"


def tick(text: str) -> str:
    """Text as code within a line; nothing of nothing."""
    return f"`{text}`" if text else ""


def _commands() -> str:
    rows = [(f"[{name}]({page_of(name)}.md)", summary) for name, _, summary in commands()]
    old = "\n\nOld names still work: " + ", ".join(f"`{word}`" for word in OLD) + "."
    toc = "\n```{toctree}\n:hidden:\n\n" + "\n".join(page_of(name) for name, _, _ in commands()) + "\n```\n"
    return "# Commands\n\n" + table(("command", "what it does"), rows) + old + toc


def page_of(name: str) -> str:
    """The name of the page of a command: `cli-find-swizzle`."""
    return "cli-" + name.replace(" ", "-")


def _command(name: str, command: Command, summary: str) -> str:
    """One command: usage, what it does, its options with all that the help leaves out, examples."""
    context = click.Context(command, info_name=f"cute-viz {name}")
    usage = command.get_usage(context).partition(": ")[2]
    out = [f"# cute-viz {name}\n", f"{summary}.\n", code(" ".join(usage.split())), inspect.cleandoc(command.help or "") + "\n"]
    for title, params in command.groups(context).items():
        rows = [(tick(option_name(param, context)), _meaning(param)) for param in params if "--help" not in param.opts]
        out += [f"## {title}\n", table(("option", "meaning"), rows)]
    if command.epilog:
        out += ["\n## Examples\n", code(re.sub(r"\A.*?:\n", "", command.epilog.replace("\b", "").strip()))]
    if name == "verify":
        from cute_viz.check.report import PROVES

        kinds = ((kind, spelled(yes, "cli"), spelled(no, "cli")) for kind, (yes, no) in PROVES.items())
        out += ["\n## What each kind of check proves\n", table(("kind", "proves that", "does not decide"), kinds)]
    return "\n".join(out)


def _meaning(param: click.Option) -> str:
    """What an option means, with all of its choices and its default."""
    row = OPTIONS.get(param.name or "")
    words = spelled(row.meaning, "cli") if row is not None and row.short == param.help else param.help or ""
    choices = ", ".join(map(tick, map(str, getattr(param.type, "choices", ()))))
    said = param.show_default is True and isinstance(param.default, (str, int)) and param.default
    parts = [words.rstrip("."), f"One of {choices}" if choices else "", f"Default: {tick(str(param.default))}" if said else ""]
    return ". ".join(filter(None, parts))


def _options() -> str:
    uses = {name: [kind for kind, view in {**VIEWS, **TILINGS}.items() if name in view.uses] for name in OPTIONS}
    rows = (
        (
            tick("--" + option.name.replace("_", "-")),
            option.holds + (": " + ", ".join(map(tick, option.choices)) if option.choices else ""),
            spelled(option.meaning, "cli"),
            ", ".join(map(tick, uses[option.name])) if option.level == "object" else "",
        )
        for option in OPTIONS.values()
    )
    return (
        '# Options of a picture\n\nAll interfaces take the same options: `--tile 8x128` is `tile="8x128"` in Python '
        "and in a fence, `tile: 8x128` in a spec, `:tile: 8x128` in a Sphinx directive. An option that a picture does not use is "
        "an error.\n\n" + table(("option", "value", "meaning", "used by"), rows)
    )


def _views() -> str:
    rows = [(tick(name), view.meaning, " ".join(map(tick, sorted(view.uses)))) for name, view in VIEWS.items()]
    return "# Views\n\nThe values of `--view`.\n\n" + table(("view", "meaning", "options"), rows)


def _operations() -> str:
    rows = ((tick(op.signature), op.summary, tick(op.example)) for op in OPS.values())
    return "# Operations\n\nThe operations of expressions, under CuTe's names.\n\n" + table(
        ("operation", "meaning", "example"), rows
    )


def _atoms() -> str:
    out = ["# Atoms\n\nThe library, family by family. `{N}` stands for a number or a word; the last column has its values.\n"]
    entries = Library().listing()
    for kind, title in (("mma", "MMA"), ("copy", "Copy")):
        rows = (
            (tick(entry.name + (f"<{entry.args.replace(' ', ',')}>" if entry.args else "")), entry.arch, tick(entry.ranges))
            for entry in entries
            if entry.kind == kind
        )
        out += [f"## {title}\n", table(("name", "architecture", "where"), rows)]
    return "\n".join(out)


def _formats() -> str:
    rows = ((tick(f.name), " ".join(map(tick, f.suffixes)), f.summary) for f in FORMATS.values())
    palettes = ((tick(p.name), p.source + (" (the default)" if p.name == DEFAULT else "")) for p in PALETTES.values())
    return (
        "# Formats and palettes\n\nThe suffix of `-o FILE` selects the format, `-T NAME` names it.\n\n"
        + table(("format", "suffixes", "what it is"), rows)
        + "\n## Palettes\n\n"
        + table(("palette", "source"), palettes)
    )


def _limits() -> str:
    rows = ((tick(name), f"{limit(name):,}", known.what, tick(spelled(raised_by(name), "cli"))) for name, known in LIMITS.items())
    return (
        "# Limits\n\nA typing error exhausts neither time nor memory. An error about a limit names the option that "
        "raises it.\n\n" + table(("limit", "value", "what it bounds", "raised by"), rows)
    )


def prose(text: str) -> str:
    """A docstring as Markdown: paragraphs, a list of what begins with names and a colon, tables and examples as they are."""
    out = []
    for block in re.split(r"\n[ ]*\n", text):
        if block.startswith((">>>", "    ")):
            out.append(code(textwrap.dedent(block), "pycon" if block[0] == ">" else "text"))
            continue
        words = re.sub(r"(?m)^((?:\w+, )*\w+): (?=\S)", r"- **\1**: ", block)
        if words.startswith("- "):  # further names in a line
            words = re.sub(r"\. ((?:[a-z]\w*, )*[a-z]\w*): (?=\S)", r".\n- **\1**: ", words)
        parts = re.split(r"(`[^`]*`)", re.sub(r"\n +", " ", words))
        out.append("".join(part if n % 2 else re.sub(r"([<_])", r"\\\1", part) for n, part in enumerate(parts)) + "\n")
    return "\n".join(out)


def _python() -> str:
    out = ["# Python\n", prose(inspect.getdoc(cute_viz) or "")]
    names = sorted(cute_viz.__all__, key=lambda name: inspect.isclass(getattr(cute_viz, name)))
    for name in names:
        value: Any = getattr(cute_viz, name)
        out += [f"## {name}\n", code(f"{name}{_signature(value)}", "python"), prose(inspect.getdoc(value) or "")]
        if inspect.isclass(value):
            own = {member for x in value.__mro__ if x.__module__.startswith("cute_viz") for member in vars(x)}
            rows = [
                (tick(member), prose((inspect.getdoc(found) or "").split("\n")[0]))
                for member, found in inspect.getmembers(value)
                if member in own and member[0] != "_" and (callable(found) or isinstance(found, property)) and inspect.getdoc(found)
            ]
            out += [table(("member", "meaning"), rows)] if rows else []
    return "\n".join(out)


class _Word:
    """What a signature shows as it is written."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _signature(value: Any) -> str:
    """The signature, a line for each parameter where one line is too long."""
    found = inspect.signature(value)
    params = [
        x.replace(
            annotation=x.annotation if x.annotation is x.empty else _Word(str(x.annotation)),
            default=_Word("...") if type(x.default) is object else x.default,
        )
        for x in found.parameters.values()
    ]
    result = f" -> {found.return_annotation}" if found.return_annotation not in (None, "None", found.empty) else ""
    line = f"{found.replace(parameters=params, return_annotation=found.empty)}{result}"
    if len(line) < 80:
        return line
    words = [str(x) for x in params]
    star = next((n for n, x in enumerate(params) if x.kind is x.KEYWORD_ONLY), None)
    if star is not None and all(x.kind is not x.VAR_POSITIONAL for x in params):
        words.insert(star, "*")
    return "(\n" + "".join(f"    {word},\n" for word in words) + f"){result}"


def _json() -> str:
    from cute_viz.live.tools import schemas

    out = [
        "# JSON\n",
        "`eval`, `show`, `explain`, `analyze` and `swizzle` print JSON with `--json`; the tools of `cute-viz mcp` answer with the "
        "same objects, in short; with `detail` whole. The schemas of the tools, input and output:\n",
    ]
    for name, tool in schemas().items():
        out += [f"## {name}\n", code(json.dumps(tool, indent=1), "json")]
    return "\n".join(out)


def _file(path: str, title: str | None = None) -> str:
    text = (ROOT / path).read_text()
    return re.sub(r"\A# .*", f"# {title}", text) if title else text


PAGES: dict[str, Callable[[], str]] = {
    "reference/commands": _commands,
    **{f"reference/{page_of(row[0])}": partial(_command, *row) for row in commands()},
    "reference/options": _options,
    "reference/views": _views,
    "reference/operations": _operations,
    "reference/atoms": _atoms,
    "reference/formats": _formats,
    "reference/limits": _limits,
    "reference/python": _python,
    "reference/json": _json,
    "reference/specs": lambda: _file("layouts/SCHEMA.md"),
    "reference/spec-schema": lambda: "# JSON Schema of specs\n\n" + code(_file("layouts/schema.json"), "json"),
    "reference/library": lambda: _file("layouts/LIBRARY.md"),
    "reference/changelog": lambda: _file("CHANGELOG.md"),
}
