"""Other people's sources, mutated: every command answers, or refuses in clear words; a finding is kept with the files beside it."""

from __future__ import annotations

import os
import random
import re
import shlex
import shutil
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from cute_viz.errors import CuteVizError
from cute_viz.files import read_text, searched
from cute_viz.source.address import Folder
from cute_viz.source.opened import depends
from tests.commands import run
from tests.fuzz.mutate import mutate_source

SUFFIXES = (".cu", ".cuh", ".cpp", ".h", ".hpp", ".py", ".mlir")
LONGEST = 60_000  # characters of a source that is mutated: larger ones take their time
SLOW = 10  # seconds that a command may take
COMMANDS = (
    ("list", "{}"),
    ("list", "{}", "--json"),
    ("analyze", "{}"),
    ("analyze", "{}", "--json"),
    ("render", "{}", "--all", "-T", "text"),
    ("eval", "{}"),
    ("explain", "{}"),
    ("show", "{}"),
)


def fuzz(folders: list[str], count: int, seed: int, kept: Path) -> Iterator[tuple[int, str, str]]:
    """The findings of so many mutations: the number that makes each again, its command, what is wrong. A folder is as likely as any
    other, and so is a file in it that names CuTe."""
    found = [files for folder in folders if (files := _files(folder))]
    for number in range(seed, seed + count) if found else ():
        chance = random.Random(number)
        with TemporaryDirectory() as top:
            try:
                path = _copied(chance.choice(chance.choice(found)), Path(top))
                text = mutate_source(read_text(str(path)), chance)
            except (CuteVizError, OSError):
                continue
            path.write_bytes(text.encode("utf-8", "replace"))
            argv = [word.format(path.relative_to(top)) for word in chance.choice(COMMANDS)]
            if said := wrong(argv, top):
                to = kept / f"source-{number}"
                shutil.copytree(top, to, dirs_exist_ok=True)
                (to / "command.txt").write_text(f"cute-viz {shlex.join(argv)}\n")
                (to / "said.txt").write_text(f"{said}\n", "utf-8", "replace")
                yield number, shlex.join(argv), said


@cache
def _files(folder: str) -> list[str]:
    fits = (path for path in searched(folder, SUFFIXES) if 20 < os.path.getsize(path) < LONGEST)
    return [path for path in fits if b"cute" in Path(path).read_bytes()]


def _copied(source: str, top: Path) -> Path:
    """A file with those that it includes or imports, each where the others find it."""
    files = [os.path.abspath(path) for path in depends(source, Folder())]
    common = os.path.commonpath([os.path.dirname(path) for path in files])
    for path in files:
        to = top / os.path.relpath(path, common)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)
        beside = os.path.join(os.path.dirname(path), "__init__.py")
        if os.path.isfile(beside):
            shutil.copyfile(beside, to.parent / "__init__.py")
    return top / os.path.relpath(files[0], common)


def wrong(argv: list[str], folder: str) -> str:
    """What is wrong with the answer of a command in a folder; "" of a good one."""
    before = os.environ.pop("CUTE_VIZ_DEBUG", None)
    since = time.process_time()
    try:
        done = run("--limit", f"seconds={SLOW}", *argv, cwd=folder)
    except BaseException as error:  # nothing but an exit may leave `main`
        return f"{type(error).__name__}: {str(error)[:300]}"
    finally:
        if before is not None:
            os.environ["CUTE_VIZ_DEBUG"] = before
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode == 70 or "Traceback" in said:
        told = re.search(r"mistake in cute-viz[^\n]*", said + done.stdout.decode("utf-8", "replace"))
        return told[0] if told else said[-300:]
    if done.returncode not in (0, 1, 2, 3):
        return f"exit status {done.returncode}"
    if "this takes more than" in said or time.process_time() - since > 2 * SLOW:
        return f"takes {time.process_time() - since:.0f} s"
    if done.returncode and not said.strip() and not done.stdout:
        return "fails without a word"
    return ""
