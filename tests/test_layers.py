"""The import map: every module imports only from rooms below its own, and third-party packages stay at home."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import cute_viz

ROOT = Path(cute_viz.__file__).parent


def table() -> dict[str, set[str]]:
    """Which rooms each room may import: the map of CONTRIBUTING.md."""
    text = (ROOT.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:`([\w]+)(?:\.py|/)`|(the package)) \| [^|]+ \| ([^|]*)\|$", text, re.M)
    rooms = {room or "__init__": words.strip() for room, _, words in rows}
    out = {
        room: {"errors", "limits"} | {word.strip() for word in words.split(",") if word.strip()} for room, words in rooms.items()
    }
    out = {room: {"__init__" if word == "the package" else word for word in words} for room, words in out.items()}
    return {room: set(out) if "all" in words else words for room, words in out.items()} | {"__main__": {"cli"}}


BELOW = table()
HOMES = {
    "click": {"cli"},
    "rich": {"renderers/text", "cli/gallery", "cli/check"},
    "svgwrite": {"renderers/svg"},
    "numpy": {"figures/heat", "renderers/mpl", "check/"},
    "cuda": {"check/device", "check/compiler"},
    "matplotlib": {"renderers/mpl"},
    "yaml": {"spec/yaml"},
    "sphinx": {"ext/sphinx"},
    "docutils": {"ext/sphinx"},
    "markdown": set(),
    "pymdownx": set(),
    "IPython": set(),
}


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def imports(path: Path) -> list[str]:
    out = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            out += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            out += [f"{node.module}.{alias.name}" for alias in node.names]
    return out


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_run_one_way(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    room = parts[0]
    for name in imports(path):
        if name.startswith("cute_viz"):
            inside = name.removeprefix("cute_viz").lstrip(".")
            target = inside.split(".")[0] if inside.split(".")[0] in BELOW else "__init__"
            allowed = target == room or any(inside == a or inside.startswith(a + ".") or target == a for a in BELOW[room])
            assert allowed, f"{room} must not import {name}"
        package = name.split(".")[0]
        if package in HOMES:
            here = "/".join(parts)
            assert any(here.startswith(home) for home in HOMES[package]), f"{package} has no home in {here}"


def test_the_map_knows_every_room() -> None:
    rooms = {p.relative_to(ROOT).with_suffix("").parts[0] for p in modules()}
    assert rooms == set(BELOW)
