"""The import map: every module imports only from rooms below its own, and third-party packages stay at home."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import cute_viz
from cute_viz.algebra.ops import OPS
from tests.commands import tree

ROOT = Path(cute_viz.__file__).parent


def table() -> dict[str, set[str]]:
    """Which rooms each room may import: the map of CONTRIBUTING.md."""
    text = (ROOT.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:`([\w]+)(?:\.py|/)`|(the package)) \| [^|]+ \| ([^|]*)\|$", text, re.M)
    rooms = {room or "__init__": words.strip() for room, _, words in rows}
    below = {"errors", "limits", "records", "spelling"}
    out = {room: below | {word.strip() for word in words.split(",") if word.strip()} for room, words in rooms.items()}
    out = {room: {"__init__" if word == "the package" else word for word in words} for room, words in out.items()}
    return {room: set(out) if "all" in words else words for room, words in out.items()} | {"__main__": {"cli"}}


BELOW = table()
HOMES = {
    "click": {"cli"},
    "rich": {"renderers/text", "cli/gallery", "cli/check", "cli/output"},
    "svgwrite": {"renderers/svg"},
    "numpy": {"algebra/__init__", "figures/heat", "renderers/mpl", "check/"},
    "cuda": {"check/device"},
    "matplotlib": {"renderers/mpl"},
    "yaml": {"spec/yaml"},
    "sphinx": {"ext/sphinx"},
    "docutils": {"ext/sphinx"},
    "markdown": {"ext/markdown"},
    "pymdownx": set(),
    "mcp": {"live/mcp"},
    "mcp_types": {"live/mcp", "cli/mcp"},
    "anyio": {"live/mcp", "cli/mcp"},
    "anywidget": {"notebooks"},
    "traitlets": {"notebooks"},
    "clang": {"source/compiled/clang", "source/compiled/loops"},
}


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def imports(path: Path) -> list[str]:
    out = []
    for node in ast.walk(tree(path)):
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


@cache
def defined() -> dict[str, set[str]]:
    """For every Python file of the project the names that it defines or imports."""
    out = {}
    for path in (*modules(), *(ROOT.parent / "tests").rglob("*.py")):
        nodes = list(ast.walk(tree(path)))
        names = {node.name for node in nodes if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.alias))}
        names |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        out[str(path.relative_to(ROOT.parent))] = names
    return out


def stands(word: str, place: str = "") -> bool:
    """Whether a file, or a room, has what a word names: a file, a folder, a module, `module.name` or a name."""
    if re.search(r"/|\*|\.(py|hpp|js|txt)$", word):
        return (ROOT.parent / word).exists() or any((ROOT.parent / (place or "cute_viz")).rglob(word.rstrip("/")))
    module, _, name = word.removeprefix("cute_viz.").replace(".", "/").rpartition("/")
    for path, names in defined().items():
        parts = f"/{path.removesuffix('.py').removesuffix('/__init__')}"
        inside = f"/{place}" in f"/{path}"
        if (inside or module) and (
            parts.endswith(f"/{module}/{name}".replace("//", "/")) or (name in names and parts.endswith(module))
        ):
            return True
    return False


def test_contributing_names_what_there_is() -> None:
    """In the row of a room what is in it; elsewhere files, `module.name`, `NAME` of `file.py`, and classes."""
    text = re.sub(r"(?<!\|)\n(?!\|)", " ", (ROOT.parent / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    named = []
    for room, row in re.findall(r"^\| `(\w+)/` \| ([^|]+) \|", text, re.M):
        named += [(word, f"cute_viz/{room}/") for word in re.findall(r"`([\w*./]+)`", row)]
    for word in re.findall(r"`([\w./]+)(?:\([^`]*\))?`", text):
        if re.fullmatch(r"[A-Z][a-z]+[A-Za-z]*|[a-z_]\w*(\.(?!NAME)\w+)+|[a-z_/]+/[a-z_/]+\.py", word):
            named.append((word, ""))
    named += re.findall(r"`(\w+)`(?: of| in|) \(?`([a-z_/]+\.py)`", text)
    gone = [f"`{word}` in {place or 'the project'}" for word, place in dict.fromkeys(named) if not stands(word, place)]
    assert not gone, "CONTRIBUTING.md names what has moved or has another name now; write where it is"


@cache
def edges() -> dict[str, set[str]]:
    """For every module those that it imports, inside functions too; what only a type checker reads does not count."""
    names = {".".join(("cute_viz", *p.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): p for p in modules()}
    out = {}
    for module, path in names.items():
        ahead: list[ast.AST] = [tree(path)]
        found = set()
        while ahead:
            node = ahead.pop()
            typed = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
            ahead += node.orelse if typed else ast.iter_child_nodes(node)
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found |= {whole if (whole := f"{node.module}.{x.name}") in names else str(node.module) for x in node.names}
        out[module] = found & names.keys() - {module}
    return out


def test_no_circles() -> None:
    try:
        TopologicalSorter(edges()).prepare()
    except CycleError as error:
        pytest.fail("a circle of imports: " + " <- ".join(error.args[1]))


def test_operations_do_not_know_the_table_that_names_them() -> None:
    graph = edges()
    seen, ahead = set(), {f"cute_viz.algebra.{op.module}" for op in OPS.values()}
    while ahead:
        seen |= ahead
        ahead = {below for module in ahead for below in graph[module]} - seen
    assert "cute_viz.algebra.ops" not in seen


# The same thing of two languages: nodes of their trees, what reads and evaluates these, and what their names stand for.
OF_LANGUAGES = {"Call", "Class", "Evaluator", "Function", "Index", "Items", "Meaning", "Statement", "Token"}


def test_a_name_of_a_class_has_one_meaning() -> None:
    homes: dict[str, list[str]] = {}
    for path in modules():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    twice = {name: found for name, found in homes.items() if len(found) > 1}
    assert not {name: found for name, found in twice.items() if name not in OF_LANGUAGES}, "give one of them another name"
    assert all(re.match("source/|notation/", home) for name in OF_LANGUAGES for home in homes.get(name, []))
