"""What a project says about its files, in `cute-viz.yaml` or in `[tool.cute-viz]` of pyproject.toml: flags, launches, values."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import field
from fnmatch import fnmatch
from importlib import import_module
from typing import Any

from cute_viz.errors import CuteVizError, did_you_mean
from cute_viz.files import held, read_text
from cute_viz.records import dataclass
from cute_viz.source.address import Build
from cute_viz.spec.yaml import read_yaml

NAME = "cute-viz.yaml"
_FIELDS = ("build", "flags", "through", "launches", "let")
_MARKS = (".git", ".hg", "pyproject.toml")  # of the folder that a project is
_DEEP = 16  # folders around a file


@dataclass(frozen=True, slots=True)
class Project:
    """What holds for one file: how it is compiled, which launch is meant, values for names. path: of what says so."""

    build: Build | None = None
    launch: str = ""
    let: dict[str, str] = field(default_factory=dict)
    path: str = ""


def project_of(path: str) -> Project:
    """What the project around a file says of it. Nothing outside of the project's folder is read. The configuration lies in the
    folder of the file, or in one around it up to the one that has `.git` or pyproject.toml. Raises: CuteVizError for a
    configuration that is none, with the place."""
    for folder in _folders(os.path.dirname(os.path.abspath(path))):
        for name, read in ((NAME, _yaml), ("pyproject.toml", _toml)):
            config = os.path.join(folder, name)
            if os.path.isfile(config) and _is_ours(config, path) and (said := read(held(config, folder))):
                return _project(said, config, os.path.relpath(os.path.abspath(path), folder))
    return Project()


def _folders(folder: str) -> Iterator[str]:
    """The folders of a project from that of a file out to its own; only the first of a file that is in none."""
    out = [folder]
    while not any(os.path.exists(os.path.join(out[-1], mark)) for mark in _MARKS):
        above = os.path.dirname(out[-1])
        if above == out[-1] or len(out) == _DEEP:
            return iter([folder])
        out.append(above)
    return iter(out)


def _is_ours(config: str, path: str) -> bool:
    """Whether the user, or whom the file belongs to, wrote a configuration: others may write into a shared folder."""
    if not hasattr(os, "getuid") or not os.path.exists(path):
        return True
    return os.stat(config).st_uid in (os.getuid(), os.stat(path).st_uid)


def _yaml(path: str) -> object:
    return read_yaml(read_text(path), path)


def _toml(path: str) -> object:
    """The section of pyproject.toml; None without one, and where Python has no reader for it (before 3.11)."""
    try:
        tomllib: Any = import_module("tomllib")
    except ImportError:
        return None
    try:
        return tomllib.loads(read_text(path)).get("tool", {}).get("cute-viz")
    except ValueError:
        return None  # other tools say so


def _project(said: object, config: str, name: str) -> Project:
    """What a configuration says of a file, whose path is from the configuration's folder."""

    def fail(message: str, hint: str = "") -> CuteVizError:
        return CuteVizError(message, name=config, hint=hint or f"fields: {', '.join(_FIELDS)}")

    if not isinstance(said, dict):
        raise fail("this is not a mapping of fields")
    for key, value in said.items():
        if key not in _FIELDS:
            raise fail(f"there is no field {key!r}", did_you_mean(key, _FIELDS) or "")
        if isinstance(value, dict) is not (key in ("let", "launches")) or isinstance(value, list):
            raise fail(f"{key} must be {'a mapping' if key in ('let', 'launches') else 'a text'}")
    root = os.path.dirname(config)
    inside = {key: held(os.path.join(root, str(said[key])), root) for key in ("build", "through") if key in said}
    if "build" in said and "flags" in said:
        raise fail("build and flags exclude each other")
    build = None
    if "build" in said or "flags" in said:
        flags = str(said["flags"]) if "flags" in said else None
        build = Build(flags, inside.get("build"), inside.get("through"), root)
    launches = said.get("launches", {})
    launch = next((str(word) for pattern, word in launches.items() if fnmatch(name, str(pattern))), "")
    return Project(build, launch, {str(key): str(value) for key, value in said.get("let", {}).items()}, config)
