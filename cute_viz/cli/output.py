"""What commands write: bytes to a file or standard output, aligned lines, notes and errors to standard error."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import click

from cute_viz import files
from cute_viz.errors import CuteVizError, one_line
from cute_viz.spelling import spelled

MISTAKE = 70  # the status of a command that has said that there is a mistake in cute-viz: EX_SOFTWARE of sysexits.h
_SAID = rb"this is a mistake in cute-viz".replace(b" ", rb"(?:\s|<[^<>]*>)+")  # on lines of a terminal or a picture, too
_told: list[bytes] = []
_heard: list[tuple[str, bool, bool]] | None = None
_COLUMNS = 120  # of a line of JSON; of one of numbers four times as many


def echo(words: str = "", err: bool = False, nl: bool = True) -> None:
    """Words to standard output or error."""
    look(words.encode("utf-8", "replace"))
    if _heard is not None:
        _heard.append((words, err, nl))
    click.echo(words, err=err, nl=nl)


@contextmanager
def heard() -> Iterator[list[tuple[str, bool, bool]]]:
    """All words that are said meanwhile, with the stream and the end of each."""
    global _heard
    out: list[tuple[str, bool, bool]] = []
    _heard = out
    try:
        yield out
    finally:
        _heard = None


def look(data: bytes) -> None:
    """Remember a mistake of ours that these bytes report."""
    if b"mistake" in data:  # before a pattern is compiled
        _told.extend(re.findall(_SAID, data))


def mistaken() -> bool:
    """Whether a mistake of ours was told since the last time that somebody asked."""
    said = bool(_told)
    _told.clear()
    return said


def file_of(path: str | None) -> str | None:
    """The file that -o names; None for standard output."""
    return None if path == "-" else path


def write(data: bytes, path: str | None, root: str | None = None) -> None:
    """Write to a path, or to standard output for None and `-`. A file appears whole or not at all; `root` as in `files.write`."""
    look(data)
    if file_of(path) is None:
        if getattr(sys.stdout, "name", "") == os.devnull:
            raise CuteVizError("standard output is closed", hint="give a file with -o")
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        assert path is not None
        files.write(data, path, root)


def say(words: str, err: bool = True) -> None:
    """One line of what a command has done, in which no name of a file begins another."""
    line = one_line(words)
    echo(fitted(line, sys.stderr, "  ") if err else line, err=err)


def compiler(source: str, build: object) -> None:
    """What a compiler would add to a file of CUDA that asks for values."""
    if build is None and source.partition("::")[0].endswith((".cu", ".cuh")):
        from importlib.util import find_spec

        needs = "" if find_spec("clang") else " (pip install 'cute-viz[compiler]')"
        say(f"--flags '-arch=sm_90a -Iinclude' reads it as compiled, every instance with exact types and no value asked for{needs}")


@contextmanager
def watch(words: str) -> Iterator[None]:
    """A moving bar and the seconds, on a terminal, while something is done that takes a while."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(24), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(words, total=None)
        yield


def fitted(line: str, stream: TextIO, indent: str = "") -> str:
    """A line of prose for a stream: of a terminal, broken between words where it would break within one; else as it is."""
    if not stream.isatty():
        return line
    import shutil
    import textwrap

    width = max(40, shutil.get_terminal_size((80, 24)).columns)
    return "\n".join(textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))


def notes(words: Iterable[str]) -> None:
    """Notes, a line each."""
    for note in words:
        say(f"note: {spelled(note, 'cli')}")


def warn(words: str) -> None:
    """One warning."""
    say(f"warning: {words}")


def error(failure: CuteVizError | str, spelling: str = "cli") -> None:
    """One error, with its place and hint; as words, those of `explain`."""
    first, *rest = f"error: {failure if isinstance(failure, str) else failure.explain(spelling)}".split("\n")
    lines = [fitted(line, sys.stderr, "        ") if line.startswith("  hint: ") else line for line in rest]
    echo("\n".join([fitted(first, sys.stderr, "  "), *lines]), err=True)


def table(rows: Sequence[Sequence[str]]) -> None:
    """Rows as lines, their columns aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        echo("  ".join(f"{word:<{width}}" for word, width in zip(row, widths, strict=True)).rstrip())


def data(value: object, before: str = "", key: str = "") -> str:
    """A value as JSON: what fits into a line is one, other objects and lists have a line for each part."""
    import json

    whole = before + key + json.dumps(value)
    if len(whole) <= _COLUMNS * (1 if "{" in whole else 4) or not isinstance(value, (dict, list, tuple)):
        return whole
    if isinstance(value, dict):
        inside = [data(part, f"{before} ", f"{json.dumps(str(name))}: ") for name, part in value.items()]
    else:
        inside = [data(part, f"{before} ") for part in value]
    left, right = "{}" if isinstance(value, dict) else "[]"
    return before + key + left + "\n" + ",\n".join(inside) + f"\n{before}{right}"


def facts(known: dict[str, Any], as_json: bool) -> None:
    """Facts as aligned lines, or as one JSON object."""
    if as_json:
        from cute_viz.engine.explaining import with_marks

        echo(data(with_marks(known)))
        return
    width = max(map(len, known))
    for name, fact in known.items():
        if isinstance(fact, dict):  # of a part
            echo(f"{name}:")
            facts({f"  {word}": told for word, told in fact.items()}, False)
            continue
        if isinstance(fact, list) and all(isinstance(word, str) for word in fact):  # sentences
            fact = "; ".join(fact) or "none"
        echo(f"{name:<{width}}  {({True: 'yes', False: 'no'}[fact]) if isinstance(fact, bool) else fact}")
