"""`dataclass` as `dataclasses` has it, defined in a fifth of its time, and tables that are texts beside a module.

A command of a tenth of a second defines forty classes.

The module of the standard library compiles each method of each class on its own, at every start. Here only `__init__` is compiled
when a class is defined, comparison and hash when they are first asked for; everything else is shared.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass

_T = TypeVar("_T")
_FACTORY = object()  # the default of a parameter whose value a factory makes


def _dataclass(*, frozen: bool = False, slots: bool = False, eq: bool = True) -> Callable[[type[_T]], type[_T]]:
    """The decorator: what is unusual (bases that are dataclasses, fields that are no parameters) is left to the standard library.

    >>> @_dataclass(frozen=True, slots=True)
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(3), Point(3) == Point(3, 0), hash(Point(3)) == hash(Point(3)), Point(3) == Point(3, 1)
    (Point(x=3, y=0), True, True, False)
    >>> Point(3).x = 4
    Traceback (most recent call last):
    dataclasses.FrozenInstanceError: cannot assign to field 'x'
    """

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
    """`__init__`, compiled."""
    from dataclasses import MISSING

    names: dict[str, Any] = {"_set": object.__setattr__, "_FACTORY": _FACTORY, "__name__": made.__module__}
    head, body = ["self"], []
    for field in fields:
        name, value = field.name, field.name
        if field.default is not MISSING:
            names[f"_default_{name}"] = field.default
            head.append(f"{name}=_default_{name}")
        elif field.default_factory is not MISSING:
            names[f"_default_{name}"] = field.default_factory
            head.append(f"{name}=_FACTORY")
            value = f"_default_{name}() if {name} is _FACTORY else {name}"
        else:
            head.append(name)
        body.append(f" _set(self,{name!r},{value})" if frozen else f" self.{name}={value}")
    if hasattr(made, "__post_init__"):
        body.append(" self.__post_init__()")
    exec("\n".join([f"def __init__({','.join(head)}):", *(body or [" pass"])]), names)
    function = names["__init__"]
    function.__qualname__ = f"{made.__qualname__}.__init__"
    function.__annotations__ = {**{field.name: field.type for field in fields}, "return": None}
    return function


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


def rows(module: str, name: str) -> list[list[str]]:
    """The rows of a text beside a module, whose `__file__` is given: cells parted by `|`; a line that begins with `#` is none.

    >>> rows(__file__, "options/options.txt")[1]
    ['tile', 'tile', 'object', 'Tile of a thread-value layout; implies the view tv']
    """
    lines = beside(module, name).splitlines()
    return [[cell.strip() for cell in line.split("|")] for line in lines if line.strip() and line[0] != "#"]


def beside(module: str, name: str) -> str:
    """A text beside a module, whose `__file__` is given.

    >>> beside(__file__, "limits.txt").count("unit-memory")
    1
    """
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
