"""Parsed units, kept for the next command under the user's cache folder, by the content of all files that they are made of."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import stat
from contextlib import suppress
from dataclasses import astuple
from typing import Any

from cute_viz.files import write
from cute_viz.source.compiled.loops import Around
from cute_viz.source.compiled.unit import CallSite, Instance, Node, Unit, Variable

_FORM = 7  # counts with what is written
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
    """A unit as JSON has it, each type once."""
    files = []
    for path in found.files:
        with suppress(OSError):
            about = os.stat(path)
            files.append((path, about.st_size, about.st_mtime_ns, _digest(path)))
    table: dict[str, int] = {}

    def word(text: str) -> int:
        return table.setdefault(text, len(table))

    def node(x: Node | None) -> Any:
        return None if x is None else (x.kind, x.text, x.line, word(x.type), [node(part) for part in x.parts])

    def call(x: CallSite) -> Any:
        return (x.name, word(x.file), x.line, [node(arg) for arg in x.args], x.instance, list(map(astuple, x.around)))

    def variable(x: Variable) -> Any:
        return (x.name, word(x.file), x.line, word(x.type), x.kind, node(x.init))

    instances = [
        (
            x.scope,
            x.args,
            x.kernel,
            [*map(variable, x.variables)],
            [*map(call, x.calls)],
            [*map(call, x.uses)],
            [*map(node, x.returns)],
            x.foreign,
        )
        for x in found.instances
    ]
    out = {"form": _FORM, "files": files, "instances": instances, "errors": found.errors, "refused": [*map(call, found.refused)]}
    return {**out, "words": list(table)}


def unit_from(data: dict[str, Any]) -> Unit:
    """The unit that `data_of` has written."""
    words = [str(word) for word in data["words"]]

    def node(row: Any) -> Node:
        kind, text, line, type_, parts = row
        return Node(str(kind), str(text), int(line), words[type_], tuple(map(node, parts)))

    def call(row: Any) -> CallSite:
        name, file, line, args, instance, around = row
        inside = tuple(Around(n, str(var), str(word), tuple(numbers), bool(wanted)) for n, var, word, numbers, wanted in around)
        return CallSite(str(name), words[file], int(line), tuple(map(node, args)), int(instance), inside)

    def variable(row: Any) -> Variable:
        name, file, line, type_, kind, init = row
        return Variable(str(name), words[file], int(line), words[type_], str(kind), None if init is None else node(init))

    instances = tuple(
        Instance(
            tuple(map(str, scope)),
            tuple((str(a), str(b)) for a, b in args),
            bool(kernel),
            tuple(map(variable, variables)),
            tuple(map(call, calls)),
            tuple(map(call, uses)),
            tuple(map(node, returns)),
            bool(foreign),
        )
        for scope, args, kernel, variables, calls, uses, returns, foreign in data["instances"]
    )
    errors = tuple((a, b, c) for a, b, c in data["errors"])
    return Unit(instances, errors, tuple(row[0] for row in data["files"]), tuple(map(call, data["refused"])))


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
