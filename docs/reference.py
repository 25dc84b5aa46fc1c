"""The pages of the reference, as Markdown, from the tables that the tool itself uses."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click

import cute_viz
from cute_viz.algebra.ops import OPS
from cute_viz.cli import OLD, commands
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


def _command(name: str, command: click.Command, summary: str) -> str:
    """One command: usage, what it does, its options with all that the help leaves out, examples."""
    context = click.Context(command, info_name=f"cute-viz {name}")
    usage = command.get_usage(context).partition(": ")[2]
    out = [f"# cute-viz {name}\n", f"{summary}.\n", code(" ".join(usage.split())), inspect.cleandoc(command.help or "") + "\n"]
    rows = []
    for param in command.params:
        if isinstance(param, click.Option) and not param.hidden:
            row = OPTIONS.get(param.name or "")
            meaning = spelled(row.meaning, "cli") if row is not None and row.short == param.help else param.help or ""
            choices = ", ".join(map(tick, map(str, getattr(param.type, "choices", ()))))
            first = next(word for word in param.opts if word.startswith("--"))
            rows.append(
                (tick(first), f"{meaning.rstrip('.')}{'. One of ' if choices and meaning else ''}{choices}", _default(param))
            )
    out += ["## Options\n", table(("option", "meaning", "default"), rows)]
    if command.epilog:
        out += ["\n## Examples\n", code(re.sub(r"\A.*?:\n", "", command.epilog.replace("\b", "").strip()))]
    if name == "verify":
        from cute_viz.check.promises import PROVES

        kinds = ((kind, spelled(yes, "cli"), spelled(no, "cli")) for kind, (yes, no) in PROVES.items())
        out += ["\n## What each kind of check proves\n", table(("kind", "proves that", "does not decide"), kinds)]
    return "\n".join(out)


def _default(param: click.Option) -> str:
    return (
        tick(str(param.default)) if param.show_default is True and isinstance(param.default, (str, int)) and param.default else ""
    )


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


def _python() -> str:
    out = ["# Python\n", code(inspect.getdoc(cute_viz) or ""), "## Public names\n"]
    for name in cute_viz.__all__:
        value: Any = getattr(cute_viz, name)
        out += [f"### {name}\n", code(f"{name}{_signature(value)}\n\n{inspect.getdoc(value) or ''}")]
        if inspect.isclass(value):
            rows = [
                (tick(member), (inspect.getdoc(found) or "").split("\n")[0])
                for member, found in inspect.getmembers(value)
                if not member.startswith("_") and (callable(found) or isinstance(found, property)) and inspect.getdoc(found)
            ]
            out += [table(("member", "meaning"), rows)] if rows else []
    return "\n".join(out)


def _signature(value: Any) -> str:
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""


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
