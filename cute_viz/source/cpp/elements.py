"""Types of elements and questions about types: widths, sameness, conditions."""

from __future__ import annotations

import re

from cute_viz.algebra.inttuple import show
from cute_viz.algebra.static import each_integer
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.source.cpp.values import Class, Enumerator, External, Template, Value
from cute_viz.values.integer import Runtime, Unknown, compared
from cute_viz.values.pointer import Pointer
from cute_viz.values.types import ValueType

FRAGMENTS = ("FrgTypeSFA", "FrgTypeSFB", "FrgTypeE")  # of an MMA, what lies in tensor memory
# Tags of CUTLASS, which are types of their own.
_TAG = re.compile(
    r"(RowMajor|ColumnMajor|Tensor[NK]\w*|Sm\d+\w*|OpClass\w+|Kernel\w+|Epilogue\w+|(PtrArray)?(NoSmem|TmaWarpSpecialized)\w*|\w+Tag|GemmUniversalMode"
    r"|mx_float[468]_t|nv_float4_t|StageCount\w*|\w+Scheduler(Auto)?|PackedVectorLayout|identity|void)"
)


def bits(value: Value) -> int:
    """The bits of a type of elements. Raises: the error of a name that is not known; AlgebraError for anything else.

    >>> bits(ValueType("float4")), bits(ValueType("uint_bit_t<128>")), bits(ValueType("half_t"))
    (128, 128, 16)
    """
    match value:
        case ValueType():
            return 8 if value.name == "void" else value.bits
        case Pointer() | float():
            return 64
        case External(error=CuteVizError() as error):
            raise error
        case bool():
            return 8
        case Enumerator() | Runtime() | Unknown():
            return 32
    raise AlgebraError(f"the width of {show(value)} is not known", hint="an element type, for example half_t")


class Array(ValueType):
    """The type of an array, as one type of all its bits: what points into it points to `element`."""

    __slots__ = ("element",)

    def __init__(self, name: str, element: Value) -> None:
        super().__init__(name)
        self.element = element


def same(a: Value, b: Value) -> bool | None:
    """Whether two types, or two values, are the same; None where that is not known.

    >>> same(ValueType("uint32_t"), ValueType("unsigned")), same(ValueType("half_t"), ValueType("half"))
    (True, False)
    >>> same(External("layout::RowMajor"), External("cutlass::layout::RowMajor")), same(External("A"), External("B"))
    (True, None)
    """
    match a, b:
        case External(), External():
            return _same_tags(a, b)
        case (External() as tag, other) | (other, External() as tag):
            return False if is_tag(tag.name) and not isinstance(other, Class) else None
        case ValueType(), ValueType():
            return a == b
        case Class(), Class():
            return a.env is b.env
        case Enumerator(), Enumerator():
            return a.number == b.number and a.kind.rpartition("::")[2] == b.kind.rpartition("::")[2]
        case Template(), Template():
            return a.declaration is b.declaration
        case int() | Unknown(), int() | Unknown():
            return compared("==", a, b)
        case tuple(), tuple():
            found = [same(x, y) for x, y in zip(a, b, strict=True)] if len(a) == len(b) else [False]
            return False if False in found else None if None in found else True
        case Pointer(), Pointer():
            return None if a.type is None or b.type is None else same(a.type, b.type)
    return type(a) is type(b) and bool(each_integer(int, a) == each_integer(int, b))


def _same_tags(a: External, b: External) -> bool | None:
    left, right = a.name.split("::"), b.name.split("::")
    shorter = min(len(left), len(right))
    if left[-shorter:] == right[-shorter:]:
        return same(a.args or (), b.args or ())
    return False if left[-1] != right[-1] and is_tag(a.name) and is_tag(b.name) else None


def is_tag(name: str) -> bool:
    """Whether a name is a tag of CUTLASS, a type that stands for itself.

    >>> is_tag("cutlass::layout::RowMajor"), is_tag("Foo")
    (True, False)
    """
    return _TAG.fullmatch(name.rsplit("::", 1)[-1]) is not None


def is_integer(value: Value) -> bool:
    """Whether a type is one of integers.

    >>> is_integer(ValueType("uint32_t")), is_integer(ValueType("float"))
    (True, False)
    """
    if not isinstance(value, ValueType):
        return False
    return "long" in value.name or (value.kind in ("signed", "unsigned") and value.bits >= 8)


def initialised(value: Value) -> Value:
    """An object of a type of C++, as print(T{}) has it: run-time integers in a tuple of types are 0.

    >>> initialised((ValueType("int64_t"), 1, (ValueType("int"), 8))), initialised((ValueType("half_t"), 1))[1]
    ((0, 1, (0, 8)), 1)
    """
    if type(value) is not tuple:
        return value
    parts = tuple(map(initialised, value))
    return tuple(Runtime(0) if is_integer(x) else x for x in parts)
