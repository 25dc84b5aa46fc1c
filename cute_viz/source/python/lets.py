"""The values that a file is read with: which of them a name of the source means."""

from __future__ import annotations

import ast
from typing import Any

from cute_viz.source.model import Given
from cute_viz.source.python.tree import dotted, stored
from cute_viz.source.python.values import decorators

NOTHING = object()


class Lets:
    """The values that were given for names: `N`, `self.tile`, `mA.element_type`, behind as much of a scope as one likes."""

    def __init__(self, given: Given, module: ast.Module) -> None:
        self.given = given
        self.by_last: dict[str, list[tuple[tuple[str, ...], Any]]] = {}
        self.read: dict[str, Any] = {}  # values of those that were asked for
        self.parameters: dict[str, int] = {}  # of a name: how many functions have a parameter of it
        self.here = set[str]()  # names that stand in the text itself, not in a file that it imports
        self.plain: dict[str, set[str]] = {}  # parameters of functions of the module that the DSL does not compile
        self.compiled: set[str] = set()  # parameters of those that it does, and of methods
        self.module = stored([node for node in module.body if not isinstance(node, _SCOPES)]) if given.let else set[str]()
        for key, value in given.let.items():
            parts = tuple(key.replace("::", ".").split("."))
            self.by_last.setdefault(parts[-1], []).append((parts, value))
        if given.let:
            self._mark_used(module)

    def _mark_used(self, module: ast.Module) -> None:
        """A value counts as used where its name stands anywhere in the source: most are given for several objects."""
        names, scopes = set[str](), set[str]()
        for node in ast.walk(module):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                arguments = {item.arg for item in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
                if node in module.body and not decorators(node) & {"jit", "kernel"}:
                    self.plain[node.name] = arguments
                else:
                    self.compiled |= arguments
        for node in ast.walk(module):
            if isinstance(node, (ast.Name, ast.Attribute)):
                names.add(dotted(node))
            elif isinstance(node, ast.arg):
                names.add(node.arg)
                self.parameters[node.arg] = self.parameters.get(node.arg, 0) + 1
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                scopes.add(node.name)
        self.here = {name.partition(".")[0] for name in names} | names
        for key in self.given.let:
            parts = key.replace("::", ".").split(".")
            for n in range(len(parts)):
                rest = ".".join(parts[n:])
                known = rest in names or (n > 0 and f"self.{rest}" in names)
                if known and all(part in scopes for part in parts[:n]):
                    self.given.used.add(key)

    def means_another(self, name: str, binds: str) -> bool:
        """Whether a name without a scope means another one than this local name or parameter, whose value is known."""
        functions = self.parameters.get(name, 0)
        return functions > 1 if binds == "parameter" else functions > 0 or name in self.module

    def elsewhere(self, name: str, scope: tuple[str, ...]) -> bool:
        """Whether a name without a scope, `a` or `a.element_type`, means a parameter of a compiled function, not of this host's."""
        root = name.partition(".")[0]
        return len(scope) == 1 and root in self.compiled and root in self.plain.get(scope[0], ())

    def find(self, name: str, scope: tuple[str, ...]) -> Any:
        """The value and the key that were given for a name where it is, or NOTHING; the one with the longest scope wins."""
        if not self.by_last:
            return NOTHING
        wanted = tuple(name.split("."))
        best: Any = NOTHING
        length = -1
        for parts, value in self.by_last.get(wanted[-1], ()):
            for tail in (wanted, wanted[1:]) if wanted[0] in ("self", "cls") and len(wanted) > 1 else (wanted,):
                before = parts[: len(parts) - len(tail)]
                if parts[len(before) :] != tail or (tail is not wanted and not before):
                    continue
                if not before and self.elsewhere(name, scope):
                    continue
                if _within(before, scope) and len(before) > length:
                    best, length = (value, ".".join(parts)), len(before)
        return best


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _within(parts: tuple[str, ...], scope: tuple[str, ...]) -> bool:
    """Whether parts of a path stand in a scope in their order, `Kernel` in `(Kernel, run)`."""
    rest = iter(scope)
    return all(part in rest for part in parts)
