"""`python -m tests.fuzz MINUTES`: everything that takes input, by turns, for so long; findings are kept in a folder.

Texts of all kinds (notation, the DSL, dumps, specs, libraries of atoms, the JSON of figures, documents), sources of folders that
it is given, commands of a typed grammar, questions and bytes to the servers, hostile share links, and random programs: against
CPython, and against g++ with CuTe's headers and the Python DSL where they are installed. A seed makes a finding again; the
corpus is in `corpus/`, what was found once in `findings/`.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from tests.fuzz import commands, doors, sources
from tests.fuzz.mutate import mutate_json, mutate_text
from tests.fuzz.targets import TARGETS, attempt, seeds

Found = Iterator[tuple[int, Any, str]]


def texts(count: int, seed: int) -> Found:
    """Mutations of the corpus."""
    for number in range(seed, seed + count):
        chance = random.Random(number)
        target = chance.choice(list(TARGETS))
        known = seeds(target)
        text = chance.choice(known)
        text = mutate_json(text, number) if target == "figure" and number % 2 else mutate_text(text, chance.choice(known), chance)
        try:
            attempt(target, text)
        except Exception as error:
            yield number, text, f"{target}: {type(error).__name__}: {str(error)[:300]}"


def python_programs(count: int, seed: int) -> Found:
    """Random Python, against CPython."""
    from tests import python_programs
    from tests.test_python_programs import UNKNOWN, plain, values

    for number in range(seed, seed + count):
        text = python_programs.program(number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected, found = python_programs.values_of(text), values(text)
        wrong = {name: (found[name], value) for name, value in expected.items() if found[name] not in (UNKNOWN, plain(value))}
        if wrong:
            yield number, text, str(wrong)[:500]


def cpp_programs(count: int, seed: int) -> Found:
    """Random C++, against g++ with CuTe's headers: over the layout algebra, and every other one over tensors."""
    from tests import layout_programs, tensor_programs
    from tests.test_layout_programs import flags, told, wrong

    with TemporaryDirectory() as layouts, TemporaryDirectory() as tensors:
        for number in range(seed, seed + count):
            makes, folder = (tensor_programs, tensors) if number % 2 else (layout_programs, layouts)
            asked = layout_programs.ask(makes.program(number, functions=2), flags(), Path(folder))
            if bad := wrong(asked, told(asked, Path(folder))):
                yield number, asked.source(), str(bad[:3])


def dsl_programs(count: int, seed: int) -> Found:
    """Random programs of the Python DSL, against its compiler."""
    from tests import dsl_programs

    python = dsl_programs.python_with_the_dsl()
    made = [dsl_programs.program(number, functions=2) for number in range(seed, seed + count)] if python else []
    with TemporaryDirectory() as folder:
        asked = dsl_programs.values_of_all([source for _, source, _ in made], Path(folder), str(python)) if made else []
    for number, (text, _, _), expected in zip(itertools.count(seed), made, asked, strict=False):
        if bad := dsl_programs.differences(text, expected):
            yield number, text, str(bad[:3])


def links(count: int, seed: int) -> Found:
    """Hostile share links in a browser."""
    from tests.fuzz.links import fuzz

    yield from fuzz(count, seed)


@click.command()
@click.argument("minutes", type=click.FloatRange(0.01))
@click.option("--seed", type=click.IntRange(0), help="Where to begin; by default the time.")
@click.option("--folder", "folders", multiple=True, type=click.Path(exists=True, file_okay=False), help="Sources to mutate.")
@click.option("--keep", default="fuzz-findings", show_default=True, help="Where findings go.")
@click.option("--only", multiple=True, help="These kinds alone.")
def main(minutes: float, seed: int | None, folders: tuple[str, ...], keep: str, only: tuple[str, ...]) -> None:
    """Fuzz for so many minutes; exit status 1 where something was found."""
    seed = int(time.time()) if seed is None else seed
    kept = Path(keep)
    beside = list(folders) or [str(Path(__file__).parents[2] / "docs")]
    kinds: dict[str, tuple[int, Callable[[int, int], Found]]] = {
        "texts": (200, texts),
        "sources": (40, lambda count, begin: sources.fuzz(beside, count, begin, kept)),
        "commands": (40, commands.fuzz),
        "ask": (40, doors.ask),
        "serve": (200, doors.serve),
        "mcp": (50, doors.mcp),
        "python": (20, python_programs),
        "cpp": (10, cpp_programs),
        "dsl": (20, dsl_programs),
        "links": (50, links),
    }
    asked: dict[str, int] = {}
    found: dict[str, int] = {}
    spent: dict[str, float] = {}
    until = time.monotonic() + 60 * minutes
    for turn in itertools.count():
        for kind, (count, fuzz) in kinds.items():
            if time.monotonic() > until:
                break
            if (only and kind not in only) or asked.get(kind, 0) < 0:
                continue
            begin, since = seed + turn * count, time.monotonic()
            try:
                for number, what, said in fuzz(count, begin):
                    found[kind] = found.get(kind, 0) + 1
                    click.echo(f"{kind} {number}: {said}")
                    to = kept / f"{kind}-{number}"
                    to.mkdir(parents=True, exist_ok=True)
                    text = (
                        what.decode("latin-1") if isinstance(what, bytes) else what if isinstance(what, str) else json.dumps(what)
                    )
                    (to / "input.txt").write_bytes(text.encode("utf-8", "replace"))
                    (to / "said.txt").write_bytes(f"{said}\n".encode("utf-8", "replace"))
            except (ImportError, LookupError, BaseException) as error:
                if isinstance(error, (KeyboardInterrupt, AssertionError)) or type(error).__name__ not in _MISSING:
                    raise
                click.echo(f"{kind}: not here: {error}")
                asked[kind] = -1
                continue
            asked[kind] = asked.get(kind, 0) + count
            spent[kind] = spent.get(kind, 0.0) + time.monotonic() - since
        else:
            continue
        break
    with suppress(OSError):
        kept.rmdir()  # an empty one
    for kind, count in asked.items():
        if count > 0:
            click.echo(f"{kind}: {count} in {spent[kind]:.0f} s, {found.get(kind, 0)} findings")
    click.echo(f"seed {seed}")
    sys.exit(1 if found else 0)


_MISSING = ("ImportError", "ModuleNotFoundError", "Skipped")  # of what is not installed


if __name__ == "__main__":
    main()
