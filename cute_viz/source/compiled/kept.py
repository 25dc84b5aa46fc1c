"""Parsed units, kept for the next command under the user's cache folder, by the content of all files that they are made of."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from cute_viz.files import write
from cute_viz.source.compiled.unit import Unit

_FORM = 9  # counts with what is written
_MOST = 256 << 20  # bytes of all units; the oldest go


def unit(key: str) -> Unit | None:
    """The unit of a key, if it is kept and no file of it has changed."""
    path = _path(key)
    if path is None or not os.path.isfile(path):
        return None
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            data = json.load(file)
        if data["form"] != _FORM or not all(_same(*row) for row in data["files"]):
            return None
        os.utime(path)
        return unit_from(data)
    except (OSError, EOFError, ValueError, LookupError, TypeError):
        return None


def keep(key: str, found: Unit) -> None:
    """Keep a unit; where that is not possible, nothing happens."""
    path = _path(key)
    if path is None:
        return
    with suppress(OSError):
        write(gzip.compress(json.dumps(data_of(found), separators=(",", ":")).encode(), 5, mtime=0), path)
        _prune(os.path.dirname(path))


def key_of(*parts: Any) -> str:
    """One word for what a unit is made from.

    >>> key_of("a", 1) == key_of("a", 1), key_of("a", 1) == key_of("a", 2)
    (True, False)
    """
    return hashlib.sha256(json.dumps([_FORM, *parts]).encode()).hexdigest()[:32]


def _path(key: str) -> str | None:
    """Where a unit is kept: in a folder that is this user's and closed to others; None without such a folder."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(home, "cute-viz", "compiled")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.lstat(folder)
    except OSError:
        return None
    own = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)
    return os.path.join(folder, f"{key}.json.gz") if own and stat.S_ISDIR(found.st_mode) else None


def data_of(found: Unit) -> dict[str, Any]:
    """A unit as JSON has it, each text once."""
    files = []
    for path in found.files:
        with suppress(OSError):
            about = os.stat(path)
            files.append((path, about.st_size, about.st_mtime_ns, _digest(path)))
    table: dict[str, int] = {}

    def packed(value: Any) -> Any:
        if isinstance(value, str):
            return table.setdefault(value, len(table))
        if isinstance(value, tuple):
            return [*map(packed, value)]
        return [packed(getattr(value, field.name)) for field in fields(value)] if is_dataclass(value) else value

    return {"form": _FORM, "files": files, "unit": packed(found), "words": list(table)}


def unit_from(data: dict[str, Any]) -> Unit:
    """The unit that `data_of` has written."""
    words = [str(word) for word in data["words"]]

    @cache
    def reader(kind: Any) -> Callable[[Any], Any]:
        parts = get_args(kind)
        if get_origin(kind) is tuple and parts[-1] is ...:
            return lambda row: tuple(map(reader(parts[0]), row))
        inner = [reader(part) for part in parts if part is not type(None)]
        if get_origin(kind) is tuple:
            return lambda row: tuple(read(x) for read, x in zip(inner, row, strict=True))
        if inner:  # one of these, or None
            return lambda row: None if row is None else inner[0](row)
        if isinstance(kind, type) and is_dataclass(kind):
            members = [reader(hint) for hint in get_type_hints(kind).values()]
            return lambda row: kind(*(read(x) for read, x in zip(members, row, strict=True)))
        return words.__getitem__ if kind is str else kind

    unit: Unit = reader(Unit)(data["unit"])
    return unit


def _same(path: str, size: int, time: int, digest: str) -> bool:
    """Whether a file is what it was."""
    about = os.stat(path)
    return about.st_size == size and (about.st_mtime_ns == time or _digest(path) == digest)


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.blake2b(file.read(), digest_size=16).hexdigest()


def _prune(folder: str) -> None:
    """Remove the units that were not used for longest, until the rest is small enough."""
    rows = sorted((os.stat(path := entry.path).st_mtime_ns, entry.stat().st_size, path) for entry in os.scandir(folder))
    total = sum(size for _, size, _ in rows)
    for _, size, path in rows:
        if total <= _MOST:
            return
        os.remove(path)
        total -= size
