"""SOURCE -> figure or object: an expression, source code, a dump, a figure's JSON file, or `-` for standard input."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

import click

from cute_viz.errors import CuteVizError
from cute_viz.figures.model import Figure
from cute_viz.files import decode, read_text
from cute_viz.limits import limit

if TYPE_CHECKING:
    from cute_viz.spec.build import Spec


_SOURCES = "cuh?|cpp|cc|h|hpp|py|txt|log|out|md"  # the suffixes of files with layouts in them


@dataclass(frozen=True, slots=True)
class Reading:
    """How a text is read: values for its run-time names, which of its objects is meant, and in which dialect."""

    let: tuple[str, ...] = ()
    name: str | None = None
    dialect: str = "auto"

    def names(self) -> dict[str, Any]:
        """The bindings of --let, each an expression that may use those before it."""
        from cute_viz.spec import read as read_text

        out: dict[str, Any] = {}
        for item in self.let:
            name, equals, text = item.partition("=")
            if not equals or not name.strip() or not text.strip():
                raise click.UsageError(f"--let {item!r}: write NAME=VALUE, such as --let M=512")
            try:
                out[name.strip()] = read_text(text, out).pick()
            except CuteVizError as error:
                error.name = f"--let {name.strip()}"
                raise
        return out


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options --let, --name and --dialect, given to the command as `reading`."""
    from functools import wraps

    from cute_viz.notation import DIALECTS

    @click.option("--let", multiple=True, metavar="NAME=VALUE", help="A value for a run-time name: --let M=512, --let '?=(4,8)'.")
    @click.option("--name", metavar="NAME", help="Which object of a pasted block is meant; the last otherwise.")
    @click.option("--dialect", type=click.Choice(DIALECTS), default="auto", show_default=True, help="Read SOURCE as this.")
    @layouts_option
    @wraps(command)
    def wrapped(*args: Any, let: tuple[str, ...], name: str | None, dialect: str, **more: Any) -> Any:
        return command(*args, reading=Reading(let, name, dialect), **more)

    return wrapped


def layouts_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --layouts: a folder of the user's own atoms and specs, searched before ours."""

    def use(ctx: click.Context, param: click.Parameter, folders: tuple[str, ...]) -> None:
        if folders:
            before = os.environ.get("CUTE_VIZ_LAYOUTS", "")
            os.environ["CUTE_VIZ_LAYOUTS"] = os.pathsep.join((*folders, *([before] if before else [])))

    kind = click.Path(exists=True, file_okay=False)
    words = "A folder of your own atoms and specs; also CUTE_VIZ_LAYOUTS."
    option = click.option(
        "--layouts", type=kind, multiple=True, metavar="DIR", callback=use, expose_value=False, is_eager=True, help=words
    )
    return option(command)


def read(source: str, reading: Reading) -> Any:
    """What SOURCE stands for: a Figure (from its JSON), a Spec (from YAML or the library), or an object of the algebra."""
    if source == "-":
        if sys.stdin is None:
            raise CuteVizError("standard input is closed")
        if sys.stdin.isatty():
            click.echo("reading standard input; end it with Ctrl-D", err=True)
        return _parse(decode(sys.stdin.buffer.read(limit("file") + 1), "standard input"), "standard input", reading)
    if source.endswith(".json"):
        return _figure(read_text(source), source)
    if source.endswith((".yaml", ".yml")):
        return _pick(source, reading.name)
    if source.isidentifier() and (path := _library_spec(source)):
        return _pick(path, reading.name or source)
    if _is_file(source) or re.fullmatch(rf"[^\s(){{}}<>;=,]+\.({_SOURCES})", source):
        return _parse(read_text(source), source, reading)
    return _parse(source, None, reading)


def _pick(path: str, name: str | None) -> Spec:
    """The spec of a YAML file that --name asks for; a lone one needs no name."""
    from cute_viz.spec.build import Builder

    builder = Builder(read_text(path), path)
    parts = builder.parts()
    if (spec := builder.pick(parts, name)) is not None:
        return spec
    asked = f"{path} has no spec {name!r}" if name else f"{path} holds {len(parts)} specs"
    raise CuteVizError(asked, hint=f"--name picks one: {', '.join(list(parts)[:20])}")


def _library_spec(name: str) -> str | None:
    """The file of the library that holds a spec of a name, or is called so; the module is imported for no other source."""
    from cute_viz.spec.library_files import spec_file

    return spec_file(name)


def is_spec(subject: Any) -> TypeGuard[Spec]:
    """Whether what was read is a Spec; told by its name, as importing its module costs what most sources do not need."""
    return type(subject).__name__ == "Spec"


def obj_of(subject: Any) -> Any:
    """The object of what was read: a spec's own, or the thing itself."""
    return subject.obj if is_spec(subject) else subject


def read_subject(text: str, reading: Reading) -> Any:
    """The Spec or the object that a source stands for. Refused: a picture, which has no object."""
    subject = read(text, reading)
    if isinstance(subject, Figure):
        raise CuteVizError("a figure's JSON is a picture without its object", name=text, hint="give what it was drawn from")
    return subject


def read_object(text: str, reading: Reading) -> Any:
    """The object that a source stands for, that of a spec, too."""
    return obj_of(read_subject(text, reading))


def layout_of(text: str, reading: Reading) -> Any:
    """The layout that a source stands for; a bare shape is the compact one."""
    from cute_viz.algebra.composed import ComposedLayout
    from cute_viz.algebra.inttuple import is_int_tuple, show
    from cute_viz.algebra.layout import Layout

    subject = read_object(text, reading)
    if subject != () and is_int_tuple(subject):
        return Layout(subject)
    if not isinstance(subject, (Layout, ComposedLayout)):
        raise CuteVizError(
            f"{getattr(subject, 'name', '') or show(subject).splitlines()[0]} is not a layout", hint="such as (8,64):(64,1)"
        )
    return subject


def _is_file(source: str) -> bool:
    """A path that exists: a log, a header, a Python file, the output of another command (`<(...)`)."""
    if len(source) > 4096 or "\n" in source or "\0" in source or not source.strip("0123456789_:,.() "):
        return False  # an expression, whatever the names of files
    if os.path.isdir(source):
        raise CuteVizError(
            "this is a folder", name=source, hint="a file or an expression is drawn, and by 'cute-viz gallery' a folder"
        )
    return os.path.exists(source)


def _parse(text: str, name: str | None, reading: Reading) -> Any:
    if text.lstrip().startswith("{") and '"' in text[:200]:
        return _figure(text, name or "the JSON")
    from cute_viz.spec import read as read_text

    try:
        document = read_text(text, reading.names(), dialect=reading.dialect)
        value = document.pick(reading.name, drawable=True)
    except CuteVizError as error:
        error.name = error.name or name
        if text.isidentifier() and (near := _near_specs(text)):
            error.hint = f"did you mean the spec {' or '.join(near)}?" + (f" or {error.hint}" if error.hint else "")
        raise
    if reading.name is None and "\n" in text.strip():
        _note(document, value)
    elif document.passed:
        click.echo("note: only the last of what ';' parts is drawn; is ':' meant?", err=True)
    return value


def _near_specs(name: str) -> list[str]:
    """The names of specs of the libraries that are like a name."""
    from difflib import get_close_matches

    from cute_viz.spec.library_files import spec_names

    return get_close_matches(name, list(spec_names()), n=2, cutoff=0.75)


def _note(document: Any, value: Any) -> None:
    """Of a block: which of its objects is drawn, and which lines were not read."""
    others = [key for key, other in document.values.items() if key and other is not value and not isinstance(other, int)]
    chosen = next((key for key, other in document.values.items() if other is value), "")
    if others:
        click.echo(
            f"note: of {len(others) + 1} objects the last{', ' if chosen else ''}{chosen}; --name picks {', '.join(others[-8:])}",
            err=True,
        )
    for key, error in list(document.failures.items())[:4]:
        click.echo(f"note: {key} was not read: {error.message}", err=True)


def _figure(text: str, name: str) -> Figure:
    from cute_viz.figures.load import from_json

    try:
        return from_json(text)
    except CuteVizError as error:
        error.name = name
        raise
