"""A unit of CUDA as its compiler has it: entries with exact values for each instance of a function, without a value given."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from typing import Any

from cute_viz.errors import Span
from cute_viz.source.compiled import kept
from cute_viz.source.compiled.clang import Instance, Unit, Variable, parse
from cute_viz.source.compiled.flags import Flags
from cute_viz.source.compiled.values import is_object, value_of
from cute_viz.source.model import Entry, Given, SourceFile


def read(text: str, path: str, flags: Flags, given: Given) -> SourceFile:
    """The entries of a unit, those of the files that it includes among them, but for CuTe's and the system's.

    What differs from instance to instance of a function stands in a scope with the template arguments that tell the instances apart.

    Raises: CuteVizError without libclang, for a unit that cannot be parsed.
    """
    return SourceFile(text, tuple(entries(unit_of(text, path, flags), os.path.abspath(path), given)))


def unit_of(text: str, path: str, flags: Flags) -> Unit:
    """The unit of a file, parsed or kept from before."""
    path = os.path.abspath(path)
    key = kept.key_of(path, text, flags.words, flags.arch, os.environ.get("LIBCLANG", ""))
    found = kept.unit(key)
    if found is None:
        found = parse(path, text, flags)
        kept.keep(key, found)
    return found


def entries(unit: Unit, path: str, given: Given) -> Iterable[Entry]:
    """An entry for each name and value, in the order of their places, the unit's own file first."""
    named: dict[tuple[str, int, tuple[str, ...], str], dict[str, list[Instance]]] = defaultdict(lambda: defaultdict(list))
    kinds: dict[tuple[str, int, tuple[str, ...], str], str] = {}
    for instance in unit.instances:
        for variable in instance.variables:
            if is_object(variable.type):
                key = (variable.file, variable.line, instance.scope, variable.name)
                named[key][_unqualified(variable)].append(instance)
                kinds[key] = variable.kind
    values: dict[str, Any] = {}
    differing = _differing(unit.instances)
    for key in sorted(named, key=lambda key: (key[0] != path, key)):
        file, line, scope, name = key
        for type_, instances in named[key].items():
            where = scope if len(named[key]) == 1 else (*scope[:-1], _told(scope[-1], instances[0], differing.get(scope, set())))
            shown = "" if file == path else _relative(file, path)
            yield Entry(name, where, Span(0, 0), line, partial(_value, type_, given, values), file=shown)


def _value(type_: str, given: Given, values: dict[str, Any]) -> Any:
    if type_ not in values:
        values[type_] = value_of(type_, given.resolve)
    return values[type_]


def _unqualified(variable: Variable) -> str:
    return variable.type.removeprefix("const ").rstrip("& ").strip()


def _differing(instances: Iterable[Instance]) -> dict[tuple[str, ...], set[str]]:
    """The names of the template arguments that differ between the instances of each function."""
    seen: dict[tuple[str, ...], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for instance in instances:
        for name, value in instance.args:
            seen[instance.scope][name].add(value)
    return {scope: {name for name, values in names.items() if len(values) > 1} for scope, names in seen.items()}


def _told(name: str, instance: Instance, differing: set[str]) -> str:
    """A function's name with the template arguments that tell its instances apart."""
    args = [f"{key}={value}" for key, value in instance.args if key in differing]
    return f"{name}<{','.join(args)}>" if args else name


def _relative(file: str, path: str) -> str:
    try:
        return os.path.relpath(file, os.path.dirname(path))
    except ValueError:  # another drive
        return file
