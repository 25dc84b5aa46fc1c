"""What took long to work out, kept for the next command under the user's cache folder, by the content of its files."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import Any

from cute_viz.files import note, write
from cute_viz.headers import cuda_headers, cute_headers

_FORM = 11  # counts with what is written
_MOST = 256 << 20  # bytes of all that is kept; the oldest go
_READ = ("LIBCLANG", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")  # what clang and we take from the environment


def found(key: str) -> Any | None:
    """What was kept under a key, if no file that it was made of has changed; None else."""
    path = _path(key)
    if path is None or not os.path.isfile(path):
        return None
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            data = json.load(file)
        if data["form"] != _FORM or not all(_same(*row) for row in data["files"]):
            return None
        note(*(row[0] for row in data["files"]))
        os.utime(path)
        return data["value"]
    except (OSError, EOFError, ValueError, LookupError, TypeError):
        return None


def keep(key: str, value: Any, files: Iterable[str]) -> None:
    """Keep a value of JSON that is made of files; where that is not possible, nothing happens."""
    note(*(files := [*files]))
    path = _path(key)
    if path is None:
        return
    with suppress(OSError):
        rows = [(file, about.st_size, about.st_mtime_ns, _digest(file, about.st_mtime_ns)) for file, about in _there(files)]
        data = json.dumps({"form": _FORM, "files": rows, "value": value}, separators=(",", ":"))
        write(gzip.compress(data.encode(), 1, mtime=0), path)
        _prune(os.path.dirname(path))


def key_of(*parts: Any) -> str:
    """One word for what something is made from."""
    return hashlib.sha256(json.dumps([_FORM, *parts]).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def machine() -> list[Any]:
    """What of this machine decides how a unit is parsed: the parser, the headers beside those that flags name."""
    spec = find_spec("clang")
    parser = "" if spec is None or spec.origin is None else f"{spec.origin} {os.stat(spec.origin).st_mtime_ns}"
    return [parser, cute_headers(), cuda_headers(), *map(os.environ.get, _READ)]


@cache
def program(*folders: str) -> tuple[Any, ...]:
    """What decides how cute-viz answers: its own files, and those of folders."""
    newest = [_digest(os.path.join(os.path.dirname(__file__), "__init__.py"), 0)]  # which has the version
    for folder in (os.path.dirname(__file__), *folders):
        for at, inside, names in os.walk(folder):
            inside[:] = sorted(name for name in inside if name != "__pycache__")
            newest += [f"{name} {os.stat(os.path.join(at, name)).st_mtime_ns}" for name in sorted(names)]
    return (*newest,)


def _path(key: str) -> str | None:
    """Where a value is kept: in a folder that is this user's and closed to others; None without such a folder."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(home, "cute-viz", "compiled")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        there = os.lstat(folder)
    except OSError:
        return None
    own = not hasattr(os, "getuid") or (there.st_uid == os.getuid() and not there.st_mode & 0o022)
    return os.path.join(folder, f"{key}.json.gz") if own and stat.S_ISDIR(there.st_mode) else None


def _there(files: Iterable[str]) -> Iterator[tuple[str, os.stat_result]]:
    """What is known of those files that there are."""
    for file in dict.fromkeys(files):
        with suppress(OSError):
            yield file, os.stat(file)


def _same(path: str, size: int, time: int, digest: str) -> bool:
    """Whether a file is what it was."""
    about = os.stat(path)
    return about.st_size == size and (about.st_mtime_ns == time or _digest(path, about.st_mtime_ns) == digest)


@cache
def _digest(path: str, time: int) -> str:
    """The digest of a file, read once in a state."""
    with open(path, "rb") as file:
        return hashlib.blake2b(file.read(), digest_size=16).hexdigest()


def _prune(folder: str) -> None:
    """Remove what was not used for longest, until the rest is small enough."""
    rows = sorted((os.stat(path := entry.path).st_mtime_ns, entry.stat().st_size, path) for entry in os.scandir(folder))
    total = sum(size for _, size, _ in rows)
    for _, size, path in rows:
        if total <= _MOST:
            return
        os.remove(path)
        total -= size
