"""`dataclass` as `dataclasses` has it, defined in a fifth of its time, patterns compiled late, and texts beside a module as tables.

A command of a tenth of a second defines forty classes.

The module of the standard library compiles each method of each class on its own, at every start. Here `__init__` is compiled once
for all classes of as many fields, comparison and hash when they are first asked for; everything else is shared.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass

_T = TypeVar("_T")
_FACTORY = object()  # the default of a parameter whose value a factory makes


def _dataclass(*, frozen: bool = False, slots: bool = False, eq: bool = True) -> Callable[[type[_T]], type[_T]]:
    """The decorator: what is unusual (bases that are dataclasses, fields that are not parameters) is left to the standard
    library."""

    def define(cls: type[_T]) -> type[_T]:
        import dataclasses

        own = dict(cls.__dict__)
        unusual = any(isinstance(x, dataclasses.Field) and (not x.init or x.kw_only is True) for x in own.values())
        if unusual or any(hasattr(base, "__dataclass_fields__") for base in cls.__bases__):
            return dataclasses.dataclass(frozen=frozen, slots=slots, eq=eq)(cls)
        made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
        fields = dataclasses.fields(made)  # type: ignore[arg-type]  # as the decorator has made it one
        made.__dataclass_params__.frozen = frozen  # type: ignore[attr-defined]
        methods: dict[str, Any] = {"__init__": _init(made, fields, frozen), "__repr__": _repr(fields)}
        if eq:
            methods |= _compared(made, fields, frozen)
        if frozen:
            methods |= {"__setattr__": _set, "__delattr__": _delete}
        if frozen and slots:  # how it is pickled, as its attributes cannot be set
            names = [field.name for field in fields]
            methods |= {"__getstate__": lambda self: [getattr(self, name) for name in names], "__setstate__": _restored(names)}
        for name, method in methods.items():
            if name not in own or (name == "__hash__" and own[name] is None):
                setattr(made, name, method)
        return made

    return define


if not TYPE_CHECKING:
    dataclass = _dataclass


def _init(made: type, fields: Any, frozen: bool) -> Any:
    """`__init__`: that of any class with so many fields, compiled once, with the names of this one."""
    from dataclasses import MISSING

    factories = {n: field.default_factory for n, field in enumerate(fields) if field.default_factory is not MISSING}
    template = _initializer(len(fields), tuple(factories), frozen, hasattr(made, "__post_init__"))
    names = [field.name for field in fields]
    known = {"self": "self", **{f"a{n}": name for n, name in enumerate(names)}}
    code = template.replace(
        co_varnames=tuple(known[name] for name in template.co_varnames),
        co_consts=tuple(known.get(x, x) if isinstance(x, str) else x for x in template.co_consts),
        co_names=tuple(known.get(name, name) for name in template.co_names),
    )
    defaults = [_FACTORY if n in factories else field.default for n, field in enumerate(fields)]
    used = {"_set": object.__setattr__, "_FACTORY": _FACTORY, "__name__": made.__module__}
    used |= {f"_make{n}": make for n, make in factories.items()}
    function = FunctionType(code, used, "__init__", tuple(x for x in defaults if x is not MISSING))
    function.__qualname__ = f"{made.__qualname__}.__init__"
    function.__annotations__ = {**{field.name: field.type for field in fields}, "return": None}
    return function


@lru_cache(None)
def _initializer(count: int, factories: tuple[int, ...], frozen: bool, checked: bool) -> CodeType:
    """The code of an `__init__` of fields `a0`, `a1` ...: its names are others in each class."""
    values = [f"_make{n}() if a{n} is _FACTORY else a{n}" if n in factories else f"a{n}" for n in range(count)]
    body = [f" _set(self,'a{n}',{value})" if frozen else f" self.a{n}={value}" for n, value in enumerate(values)]
    body += [" self.__post_init__()"] if checked else []
    names: dict[str, Any] = {}
    exec("\n".join([f"def init(self,{','.join(f'a{n}' for n in range(count))}):", *(body or [" pass"])]), names)
    code: CodeType = names["init"].__code__
    return code


def _repr(fields: Any) -> Any:
    """`__repr__`, of what holds itself with dots."""
    from reprlib import recursive_repr

    names = [field.name for field in fields if field.repr]

    def shown(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return recursive_repr()(shown)


def _compared(made: type, fields: Any, frozen: bool) -> dict[str, Any]:
    """`__eq__` and `__hash__`, which are compiled when one of them is first asked for."""
    equal = [field.name for field in fields if field.compare]
    hashed = [field.name for field in fields if (field.compare if field.hash is None else field.hash)]

    def compiled() -> dict[str, Any]:
        mine, its = (f"({''.join(f'{who}.{name},' for name in equal)})" for who in ("self", "other"))
        parts = "".join(f"self.{name}," for name in hashed)
        names: dict[str, Any] = {}
        exec(
            f"def eq(self,other):\n if other.__class__ is self.__class__:\n  return {mine}=={its}\n return NotImplemented\n"
            f"def hashed(self):\n return hash(({parts}))",
            names,
        )
        for name, first, method in (("__eq__", eq, names["eq"]), ("__hash__", of, names["hashed"])):
            if made.__dict__.get(name) is first:
                setattr(made, name, method)
        return names

    def eq(self: Any, other: Any) -> Any:
        return compiled()["eq"](self, other)

    def of(self: Any) -> int:
        return int(compiled()["hashed"](self))

    return {"__eq__": eq, "__hash__": of if frozen else None}


class _Late:
    """A pattern that is compiled when it is first used."""

    def __init__(self, text: str, flags: int) -> None:
        self._asked = text, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._asked), name)
        setattr(self, name, found)
        return found


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    r"""A regular expression that costs nothing until it is used: what many commands import, and few need."""
    late: Any = _Late(text, flags)
    return late  # type: ignore[no-any-return]


def rows(module: str, name: str) -> list[list[str]]:
    """The rows of a text beside a module, whose `__file__` is given: cells parted by `|`; a line that begins with `#` is none."""
    lines = beside(module, name).splitlines()
    return [[cell.strip() for cell in line.split("|")] for line in lines if line.strip() and line[0] != "#"]


def beside(module: str, name: str) -> str:
    """A text beside a module, whose `__file__` is given."""
    with open(os.path.join(os.path.dirname(module), name), encoding="utf-8") as file:
        return file.read()


def _restored(names: list[str]) -> Any:
    def restore(self: Any, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return restore


def _set(self: Any, name: str, value: Any) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: Any, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")
