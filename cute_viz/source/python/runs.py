"""Which calls are followed: a class from its `__init__` and host method on, a function from what calls it or by itself."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from typing import Any, TypeAlias

from cute_viz.errors import CuteVizError
from cute_viz.source.model import Given
from cute_viz.source.python.attributes import attribute
from cute_viz.source.python.calls import call, follow
from cute_viz.source.python.expressions import evaluate
from cute_viz.source.python.given import convert, parameter
from cute_viz.source.python.machine import Called, Frame, Journal, Machine, Parts
from cute_viz.source.python.statements import execute
from cute_viz.source.python.tree import MODULES, SCRIPTS, Tree, defined, dotted, is_library, text_of
from cute_viz.source.python.values import Lost, Object, PyClass, PyFunction, Symbol, decorators, same

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_FILES = 64  # that are read beside one


# What calls that were followed have recorded: the values of targets, and of names at the ends of functions.
Layer: TypeAlias = "tuple[dict[int, list[Any]], dict[tuple[int, str], list[Any]]]"


class Runs:
    """The runs of a text: each is made when something in it is asked for."""

    def __init__(self, tree: Tree, given: Given) -> None:
        self.machine = Machine(tree, given, Parts(evaluate, execute, call, attribute, convert, outside))
        self.tree = tree
        self.done: dict[str, list[Layer]] = {}
        self.graph: dict[str, set[str]] | None = None

    def values(self, functions: tuple[ast.AST, ...], target: int) -> list[Any]:
        """The values that a definition has in the runs that reach it; as without arguments, of a script that only they tell."""
        return self._known(functions, lambda records, ends: records.get(target, []))

    def called(self, target: int) -> list[Called]:
        """The operands of a call where the file is run as a script without arguments; `--let` gives those of its ArgumentParser.
        Empty where it does not come there, an operand is not known, or a value is given for anything else."""
        found: list[Called] = self._script()[0].get(target, [])
        return [] if any(isinstance(x, Lost) for one in found for x in one.args) else found

    def _script(self) -> Layer:
        """What a run as a script recorded; nothing where a value is given for anything but its arguments."""
        machine = self.machine
        if "script" not in self.done:
            whole = self.tree.module.body
            body = [node for item in whole if isinstance(item, ast.If) and _is_script(item) for node in item.body]
            if not body and any(dotted(x.func) == "cute.compile" for item in whole for x in _calls_of(item)):
                body = [item for item in whole if not isinstance(item, (*_FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom))]
            self._run("module")
            dead, told = dict(machine.dead), dict(machine.told)
            self._layer("script")
            mark, machine.scripted = machine.store.mark(), True
            with suppress(CuteVizError, RecursionError):
                execute(machine, body, machine.module)
            machine.store.undo(mark)
            machine.dead, machine.told, machine.scripted = dead, machine.told | told, False
        return self.done["script"][0] if set(machine.given.let) <= set(machine.arguments) else ({}, {})

    def at_end(self, functions: tuple[ast.AST, ...], name: str) -> list[Any]:
        """The values that a name has when calls of its function end."""
        key = (id(functions[-1]), name)
        return self._known(functions, lambda records, ends: ends.get(key, []))

    def _known(self, functions: tuple[ast.AST, ...], pick: Any) -> list[Any]:
        found = self._found(functions, pick)
        compiled = any(isinstance(node, ast.ClassDef) or decorators(node) & {"jit", "kernel"} for node in functions[1:])
        if not compiled or not all(isinstance(value, Lost) for value in found):  # what its host makes are not objects of CuTe
            return found
        scripted = pick(*self._script())
        if not scripted or any(isinstance(value, (Lost, Called)) for value in scripted):
            return found
        for word, (value, line) in self.arguments.items():
            told = f"{word} = {value} (line {line}), as without arguments; `let={word}=...` gives another"
            self.machine.given.notes[told] = None
        return list(scripted)

    @property
    def arguments(self) -> dict[str, tuple[str, int]]:
        """What the arguments of the script are that a kernel may depend on, as they are written, and where it names them."""
        found = self.machine.arguments.items()
        return {word: (str(value).replace(" ", ""), line) for word, (value, line) in found if _counts(word, value)}

    def _found(self, functions: tuple[ast.AST, ...], pick: object) -> list[Any]:
        found = next((out for roots in self._roots(functions) if (out := self._of(roots, pick))), [])
        outer = next((node for node in functions if isinstance(node, ast.ClassDef)), None)
        if outer is not None and all(isinstance(value, Lost) for value in found):
            return self._of(self._below(outer), pick) or found
        return found

    def _of(self, roots: list[str], pick: Any) -> list[Any]:
        """What runs recorded, of their first layers that have anything."""
        layers = [self._run(root) for root in roots]
        for n in range(max(map(len, layers), default=0)):
            out: list[Any] = []
            for layer in layers:
                for value in pick(*layer[n]) if n < len(layer) else ():
                    if not any(same(value, one) for one in out):
                        out.append(value)
            if out:
                return out
        return []

    def _roots(self, functions: tuple[ast.AST, ...]) -> list[list[str]]:
        """The runs that may reach a function, in groups, the first of which that does counts: see `_run`."""
        named = [node for node in functions if isinstance(node, (*_FUNCTIONS, ast.ClassDef))]
        if not any(isinstance(node, _FUNCTIONS) for node in named):
            return [["module"]]
        outer: Any = named[0]
        if isinstance(outer, ast.ClassDef):
            return [["class " + outer.name]]
        callers = self._callers(outer.name)
        ranks: list[list[str]] = [[], [], []]
        between, todo = list[str](), sorted(callers)
        for name in todo:  # of compiled functions those that call them, as far as these are compiled, too
            above = [one for one in sorted(self._callers(name.partition(" ")[2])) if self._rank(one) < 2 and one not in todo]
            if self._rank(name) == 1 and above:
                between.append(name)
                todo += above
            else:
                ranks[self._rank(name)].append(name)
        own = f"function {outer.name}"
        return [group for group in (*ranks[:2], between, [own] if own not in callers else [], ranks[2]) if group]

    def _below(self, node: ast.ClassDef) -> list[str]:
        if not any(_is_left(item) for item in node.body):
            return []
        self._run("module")
        classes = [value for value in self.machine.module.names.values() if isinstance(value, PyClass)]
        return ["class " + cls.name for cls in classes if any(base.node is node for base in cls.lineage()[1:])]

    def _rank(self, root: str) -> int:
        kind, _, name = root.partition(" ")
        if kind == "class":
            return 0
        value = self.machine.module.names.get(name)
        return 1 if isinstance(value, PyFunction) and value.decorators & {"jit", "kernel"} else 2

    def _callers(self, name: str) -> set[str]:
        """The roots from which a function may be called: what calls it, and so on, up to what nothing calls."""
        if self.graph is None:
            self.graph = {}
            for node in self.tree.module.body:
                if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                    key = ("class " if isinstance(node, ast.ClassDef) else "function ") + node.name
                    self.graph[key] = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)} - {node.name}
        self._run("module")
        seen: set[str] = set()
        todo, roots = [name], set()
        while todo:
            wanted = todo.pop()
            found = [key for key, names in self.graph.items() if wanted in names and key not in seen]
            for key in found:
                seen.add(key)
                kind, _, caller = key.partition(" ")
                if kind == "class" or self._rank(key) == 1:
                    roots.add(key)
                else:
                    todo.append(caller)
            if not found and wanted != name and f"function {wanted}" in self.graph:
                roots.add(f"function {wanted}")
        return roots or {f"function {name}"}

    def _run(self, root: str) -> list[Layer]:
        """What a run recorded: `module`, `class NAME` or `function NAME`; of a class first what its host method calls."""
        if root in self.done:
            return self.done[root]
        if root != "module":
            self._run("module")
        machine = self.machine
        machine.calls = {}
        self.done[root] = []
        self._layer(root)
        mark = machine.store.mark()
        kind, _, name = root.partition(" ")
        if kind == "module":
            self._module()
            return self.done[root]
        value = machine.module.names.get(name)
        try:
            if isinstance(value, PyClass):
                self._class(value, root)
            elif isinstance(value, PyFunction):
                self._by_itself(value)
        finally:
            machine.store.undo(mark)
        return self.done[root]

    def _layer(self, root: str) -> None:
        self.machine.restart()
        self.machine.records, self.machine.ends = {}, {}
        self.done.setdefault(root, []).append((self.machine.records, self.machine.ends))

    def _module(self) -> None:
        """The statements of the module, but those that a script alone runs."""
        machine = self.machine
        body = self.tree.module.body
        if self.tree.indented and len(body) == 1 and isinstance(body[0], ast.If):
            body = body[0].body
        script = list(filter(_is_script, body))
        for node in script:
            assert isinstance(node, ast.If)
            machine.dead[id(node)] = machine.fail("this runs where the file is a script", node.test)
        try:
            execute(machine, [node for node in body if node not in script], machine.module)
        except CuteVizError as error:  # of the whole: too long
            self._spoil(error)
        except RecursionError:
            self._spoil(machine.fail("this is nested too deeply, or has too many operators in a row", self.tree.module))
        machine.end(self.tree.module, machine.module.names)

    def _spoil(self, error: CuteVizError) -> None:
        for node in self.tree.module.body:
            self.machine.dead.setdefault(id(node), error)
        for name in list(self.machine.module.names):
            self.machine.module.names[name] = Lost(error)

    def _by_itself(self, function: PyFunction, *args: object) -> None:
        """A function that is followed without a caller: its parameters are what was given for them, or their defaults."""
        machine = self.machine
        with suppress(CuteVizError, RecursionError):  # where it matters, it is recorded, or is not reached
            follow(machine, function, list(args), {}, function.node, parameter(machine))

    def _class(self, cls: PyClass, root: str) -> None:
        """An object of a class: made, its host method called, then each method that these have not called."""
        machine = self.machine
        target = Object(cls)
        methods = [value for value in cls.names.values() if isinstance(value, PyFunction)]
        init = cls.find("__init__")
        if isinstance(init, PyFunction):
            self._by_itself(init, target)
        elif "dataclass" in {getattr(item, "id", getattr(item, "attr", "")) for item in cls.node.decorator_list}:
            self._fields(cls, target)
        called = {item.attr for method in methods for item in ast.walk(method.node) if isinstance(item, ast.Attribute)}
        hosts = [method for method in methods if method.name == "__call__"]
        hosts = hosts or [method for method in methods if "jit" in method.decorators and method.name not in called]
        for n, host in enumerate(hosts):
            mark = machine.store.mark()
            self._by_itself(host, target)
            if n < len(hosts) - 1:
                machine.store.undo(mark)
        self._layer(root)
        for once in (True, False):  # those that others call come last: they may have been reached
            for method in (*methods, *_inherited(cls)):
                if id(method.node) in machine.calls or method is init or (once and method.name in called):
                    continue
                mark = machine.store.mark()
                static = method.decorators & {"staticmethod"}
                self._by_itself(method, *([] if static else [cls if "classmethod" in method.decorators else target]))
                machine.store.undo(mark)

    def _fields(self, cls: PyClass, target: Object) -> None:
        missing = parameter(self.machine)
        for item in cls.node.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                name = item.target.id
                argument = ast.copy_location(ast.arg(f"self.{name}", item.annotation), item.target)
                target.names[name] = missing(argument, item.value)


def _counts(word: str, value: object) -> bool:
    """Whether an argument of a script may be one of a kernel's, as far as its name and its value say."""
    return value is not None and not isinstance(value, (bool, float)) and not re.search("iter|warmup|seed|benchmark", word)


def _calls_of(item: ast.stmt) -> list[ast.Call]:
    """The calls of a statement that runs when its file does."""
    value = item.value if isinstance(item, (ast.Expr, ast.Assign)) else None
    return [value] if isinstance(value, ast.Call) else []


def _is_script(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def outside(machine: Machine, symbol: Symbol) -> object:
    """What an imported name is in the file that it is from, where that lies beside the one that imports it; else the name."""
    beside = machine.given.beside
    modules = (*MODULES, *SCRIPTS) if machine.scripted else MODULES
    ours = symbol.path.startswith("quack.") or any(symbol.path.startswith(f"{module}.") for module in modules)
    if symbol.path[0] == "@" or (not ours and (beside is None or is_library(symbol.path))):
        return symbol
    parts = symbol.path.lstrip(".").split(".")
    level = symbol.path[: -len(".".join(parts))]
    for n in range(len(parts), 0, -1):
        module = level + ".".join(parts[:n])
        found = beside(module, symbol.origin) if beside is not None and not is_library(module) else None
        if found is None and module in modules and (not is_library(module) or parts[n] in defined(module)):
            found = (module, text_of(module))
        if found is None:
            continue
        frame = machine.others[found[0]] if found[0] in machine.others else _other(machine, *found)
        if frame is None or n == len(parts) or parts[n] not in frame.names:
            return symbol
        value = frame.names[parts[n]]
        for name in parts[n + 1 :]:
            value = attribute(machine, value, name, ast.Name(name, ast.Load()))
        return outside(machine, value) if isinstance(value, Symbol) and value != symbol else value
    return symbol


def _other(machine: Machine, path: str, text: str) -> Frame | None:
    """The names of the module of another file; None where it cannot be read."""
    machine.others[path] = None  # while it is read: files may import each other
    if len(machine.others) > _FILES:
        return None
    tree, store, steps = machine.tree, machine.store, machine.steps
    try:
        machine.tree, machine.store = (
            Tree(text, path, path in (*MODULES, *SCRIPTS)),
            Journal(),
        )  # what it binds stays, whichever branch asked
        frame = Frame({}, tree=machine.tree)
        machine.others[path] = frame
        execute(machine, [node for node in machine.tree.module.body if not _is_script(node)], frame)
    except (CuteVizError, RecursionError):
        pass
    finally:
        machine.tree, machine.store, machine.steps = tree, store, steps
    return machine.others[path]


def _is_left(node: ast.stmt) -> bool:
    """Whether subclasses must define a method: it is abstract, or raises NotImplementedError."""
    if not isinstance(node, _FUNCTIONS):
        return False
    last = node.body[-1]
    return "abstractmethod" in decorators(node) or (
        isinstance(last, ast.Raise) and last.exc is not None and "NotImplementedError" in ast.unparse(last.exc)
    )


def _inherited(cls: PyClass) -> list[PyFunction]:
    left = [base for base in cls.lineage()[1:] if any(map(_is_left, base.node.body))]
    methods = [value for base in left for value in base.names.values() if isinstance(value, PyFunction)]
    return [method for method in methods if cls.find(method.name) is method]
