"""Commands as a user gives them: in this process, where that is the same and much quicker, or in one of their own."""

from __future__ import annotations

import ast
import gc
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any


def process(*args: str, stdin: bytes | None = None, env: dict[str, str] | None = None, **kwargs: Any) -> Any:
    """A command in a process of its own: for what is of processes (imports, signals, memory, closed streams)."""
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")} | (env or {})
    command = [sys.executable, "-m", "cute_viz", *args]
    return subprocess.run(command, input=stdin, capture_output=True, env=environment, timeout=60, **kwargs)


def run(
    *args: str, stdin: bytes | None = None, env: dict[str, str] | None = None, cwd: str | Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """A command, `main(argv)`, with standard streams and surroundings of its own: exit status and bytes."""
    from cute_viz.cli import main

    out, err = io.BytesIO(), io.BytesIO()
    with _surroundings(env or {}, cwd), _streams(stdin or b"", out, err):
        try:
            main(list(args))
            status: Any = 0
        except SystemExit as stop:
            status = stop.code or 0
        finally:
            gc.enable()  # `main` has switched it off, for a process of a moment
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
    return subprocess.CompletedProcess(list(args), status, out.getvalue(), err.getvalue())


def fails(result: subprocess.CompletedProcess[bytes], status: int) -> str:
    """The message of a run that must fail cleanly."""
    err = result.stderr.decode()
    assert result.returncode == status, err
    assert err.startswith("error: "), err
    assert "Traceback" not in err
    assert result.stdout == b""
    return err


class _Named(io.TextIOWrapper):
    """A stream of text with a name and no descriptor, as a pipe's."""

    name = "<captured>"


@contextmanager
def _streams(stdin: bytes, out: io.BytesIO, err: io.BytesIO) -> Iterator[None]:
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    sys.stdout, sys.stderr = _Named(out, encoding="utf-8"), _Named(err, encoding="utf-8")
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.detach()  # the buffer is read afterwards
        sys.stdin, sys.stdout, sys.stderr = before


@contextmanager
def _surroundings(env: dict[str, str], cwd: str | Path | None) -> Iterator[None]:
    before, here = dict(os.environ), os.getcwd()
    for name in ("NO_COLOR", "FORCE_COLOR"):
        os.environ.pop(name, None)
    os.environ.update(env)
    os.chdir(cwd or here)
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)


@cache
def tree(path: Path) -> ast.Module:
    """A module of the project, parsed once for all tests that look into the source; nobody changes it."""
    return ast.parse(path.read_text(encoding="utf-8"))
