"""The wheel's modules without the docstrings and comments of internals and the types of private functions, a fifth of its size.

What users call and read keeps them: the top of the package, the command line (help texts are made of docstrings), the extensions;
operations of the algebra are described by their table instead. Line numbers stay, so that a traceback of an installed package
points into the repository. The sdist and an editable install have everything.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tempfile
import tokenize
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "cute_viz"
WHOLE = {"", "cli", "ext"}  # "": the top of the package
_SCOPES = (ast.FunctionDef, ast.ClassDef, ast.Module)


def bare(text: str) -> str:
    """The module without docstrings and comments; it has as many lines, and the same code."""
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _SCOPES) and ast.get_docstring(node) is not None:
            doc = node.body[0]
            last = doc.end_lineno or doc.lineno
            if lines[doc.lineno - 1].strip()[:3] in ('"""', 'r""'):
                lines[doc.lineno - 1 : last] = [""] * (last - doc.lineno + 1)
                if len(node.body) == 1:
                    lines[doc.lineno - 1] = " " * doc.col_offset + "pass"
    out = _untyped("\n".join(lines))
    assert ast.dump(_code(out)) == ast.dump(_code(text)), "only docstrings, comments and types may go"
    return out


def _untyped(text: str) -> str:
    """The module without the annotations of its private functions, where each stands on one line."""
    lines, cuts = [line.encode() for line in text.split("\n")], []
    for node in _private(ast.parse(text)):
        for arg in _arguments(node):
            cuts += [(arg.lineno, arg.col_offset + len(arg.arg.encode()), arg.end_col_offset)] if arg.annotation else []
        if (type_ := node.returns) is not None and type_.lineno == type_.end_lineno:
            before = lines[type_.lineno - 1][: type_.col_offset]
            cuts.append((type_.lineno, len(before[: before.rindex(b"->")].rstrip()), type_.end_col_offset))
    for row, first, last in sorted(cuts, reverse=True):
        line = lines[row - 1]
        lines[row - 1] = line[:first] + line[last:]
    return b"\n".join(lines).decode()


def _private(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and re.match(r"_(?!_)", node.name)]


def _arguments(node: ast.FunctionDef) -> list[ast.arg]:
    """The arguments of a function that stand on one line each."""
    given = node.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return [arg for arg in named if arg is not None and arg.lineno == arg.end_lineno]


def together(folder: Path) -> str:
    """The kept reports of a folder as one: digests once, and for each report a string of 0 and 1: which of them agree."""
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    agree = dict(sorted(pair for report in reports for pair in report["agree"].items()))
    assert all(agree[name] == digest for report in reports for name, digest in report["agree"].items()), "check --all again"
    told = [{**report, "agree": "".join(str(int(name in report["agree"])) for name in agree)} for report in reports]
    return json.dumps({"reports": told, "agree": agree}, separators=(",", ":"))


def _code(text: str) -> ast.Module:
    """What runs: the tree without docstrings and the types of private functions."""
    tree = ast.parse(text)
    for function in _private(tree):
        function.returns = None
        for arg in _arguments(function):
            arg.annotation = None
    for node in ast.walk(tree):
        if isinstance(node, _SCOPES):
            node.body = (node.body[1:] if ast.get_docstring(node) is not None else node.body) or [ast.Pass()]
    return tree


class Bare(BuildHookInterface):  # type: ignore[misc]
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self.folder = tempfile.TemporaryDirectory()
        root = Path(self.root)
        for path in (root / PACKAGE).rglob("*.py"):
            within = path.relative_to(root)
            room = within.parts[1] if len(within.parts) > 2 else ""
            if room in WHOLE:
                continue
            target = Path(self.folder.name) / within
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(bare(path.read_text(encoding="utf-8")), encoding="utf-8")
            build_data["force_include"][str(target)] = within.as_posix()
        target = Path(self.folder.name) / "devices.json"
        target.write_text(together(root / "layouts" / "verified"), encoding="utf-8")
        build_data["force_include"][str(target)] = f"{PACKAGE}/layouts/verified/devices.json"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self.folder.cleanup()
