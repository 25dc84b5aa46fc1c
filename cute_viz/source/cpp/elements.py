"""Types of elements and questions about types: widths, sameness, conditions."""

from __future__ import annotations

import re
from typing import Any

from cute_viz.algebra.inttuple import Underscore, show
from cute_viz.algebra.static import each_integer
from cute_viz.errors import AlgebraError
from cute_viz.source.cpp.values import Class, Enumerator, External, Template
from cute_viz.values.integer import Runtime, Unknown, compared
from cute_viz.values.pointer import Pointer
from cute_viz.values.types import ValueType

FRAGMENTS = ("FrgTypeSFA", "FrgTypeSFB", "FrgTypeE")  # of an MMA, what lies in tensor memory
# Tags of CUTLASS, which are types of their own.
_TAG = re.compile(
    r"(RowMajor|ColumnMajor|Tensor[NK]\w*|Sm\d+\w*|OpClass\w+|Kernel\w+|Epilogue\w+|(PtrArray)?(NoSmem|TmaWarpSpecialized)\w*|\w+Tag|GemmUniversalMode"
    r"|mx_float[468]_t|nv_float4_t|StageCount\w*|\w+Scheduler(Auto)?|PackedVectorLayout|identity|void)"
)


def bits(value: Any) -> int:
    """The bits of a type of elements. Raises: the error of a name that is not known; AlgebraError for anything else.

    >>> bits(ValueType("float4")), bits(ValueType("uint_bit_t<128>")), bits(ValueType("half_t"))
    (128, 128, 16)
    """
    if isinstance(value, ValueType):
        return 8 if value.name == "void" else value.bits
    if isinstance(value, Pointer):
        return 64
    if isinstance(value, External) and value.error is not None:
        raise value.error
    if isinstance(value, Enumerator):
        return 32
    if isinstance(value, bool):
        return 8
    if isinstance(value, (Runtime, Unknown)):
        return 32
    if isinstance(value, float):
        return 64
    raise AlgebraError(f"the width of {show(value)} is not known", hint="an element type, for example half_t")


class Array(ValueType):
    """The type of an array, as one type of all its bits: what points into it points to `element`."""

    __slots__ = ("element",)

    def __init__(self, name: str, element: Any) -> None:
        super().__init__(name)
        self.element = element


def same(a: Any, b: Any) -> bool | None:
    """Whether two types, or two values, are the same; None where that is not known.

    >>> same(ValueType("uint32_t"), ValueType("unsigned")), same(ValueType("half_t"), ValueType("half"))
    (True, False)
    >>> same(External("layout::RowMajor"), External("cutlass::layout::RowMajor")), same(External("A"), External("B"))
    (True, None)
    """
    if isinstance(a, External) or isinstance(b, External):
        return _same_external(a, b)
    if isinstance(a, ValueType) and isinstance(b, ValueType):
        return a == b
    if isinstance(a, Class) and isinstance(b, Class):
        return a.env is b.env
    if isinstance(a, Enumerator) and isinstance(b, Enumerator):
        return a.number == b.number and a.kind.rpartition("::")[2] == b.kind.rpartition("::")[2]
    if isinstance(a, Template) and isinstance(b, Template):
        return a.declaration is b.declaration
    if isinstance(a, (int, Unknown)) and isinstance(b, (int, Unknown)):
        return compared("==", a, b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) != len(b):
            return False
        found = [same(x, y) for x, y in zip(a, b, strict=True)]
        return False if False in found else None if None in found else True
    if type(a) is not type(b):
        return False
    if isinstance(a, Pointer):
        return None if a.type is None or b.type is None else same(a.type, b.type)
    if isinstance(a, Underscore):
        return True
    return bool(each_integer(int, a) == each_integer(int, b))


def _same_external(a: Any, b: Any) -> bool | None:
    if isinstance(a, External) and isinstance(b, External):
        left, right = a.name.split("::"), b.name.split("::")
        shorter = min(len(left), len(right))
        if left[-shorter:] == right[-shorter:]:
            return same(a.args or (), b.args or ())
        if left[-1] != right[-1] and is_tag(a.name) and is_tag(b.name):
            return False
        return None
    known, other = (a, b) if isinstance(a, External) else (b, a)
    if is_tag(known.name) and not isinstance(other, Class):
        return False
    return None


def is_tag(name: str) -> bool:
    """Whether a name is a tag of CUTLASS, a type that stands for itself.

    >>> is_tag("cutlass::layout::RowMajor"), is_tag("Foo")
    (True, False)
    """
    return _TAG.fullmatch(name.rsplit("::", 1)[-1]) is not None


def is_integer(value: Any) -> bool:
    """Whether a type is one of integers.

    >>> is_integer(ValueType("uint32_t")), is_integer(ValueType("float"))
    (True, False)
    """
    if not isinstance(value, ValueType):
        return False
    return "long" in value.name or (value.kind in ("signed", "unsigned") and value.bits >= 8)


def initialised(value: Any) -> Any:
    """An object of a type of C++, as print(T{}) has it: run-time integers in a tuple of types are 0.

    >>> initialised((ValueType("int64_t"), 1, (ValueType("int"), 8))), initialised((ValueType("half_t"), 1))[1]
    ((0, 1, (0, 8)), 1)
    """
    if type(value) is not tuple:
        return value
    parts = tuple(map(initialised, value))
    return tuple(Runtime(0) if is_integer(x) else x for x in parts)
