"""Types of elements and questions about types: widths, sameness, conditions."""

from __future__ import annotations

import re
from typing import Any

from cute_viz.algebra.elements import ELEMENTS, ValueType, bits_of
from cute_viz.algebra.inttuple import Underscore, show
from cute_viz.algebra.static import each_integer
from cute_viz.errors import AlgebraError
from cute_viz.source.cpp.unknown import certain
from cute_viz.source.cpp.values import Class, Enumerator, External, Pointer, Template
from cute_viz.values.integer import Runtime

_CPP = {word: element for element in ELEMENTS for word in element.cpp}
# Types of several words, and what other headers call a type of the table, whose name there stands to the right.
_SAME = {
    "unsigned int": "unsigned",
    "uint32_t": "unsigned",
    "uint": "unsigned",
    "int32_t": "int",
    "signed": "int",
    "signed int": "int",
    "int16_t": "short",
    "short int": "short",
    "unsigned short": "uint16_t",
    "unsigned short int": "uint16_t",
    "unsigned char": "uint8_t",
    "signed char": "int8_t",
    "long": "int64_t",
    "long int": "int64_t",
    "unsigned long": "uint64_t",
    "size_t": "uint64_t",
    "half": "__half",
    "nv_bfloat16": "__nv_bfloat16",
}
_OWN = {"long long": 64, "long long int": 64, "unsigned long long": 64, "unsigned long long int": 64, "uintptr_t": 64, "void": 8}
_OWN |= {"float2": 64, "float4": 128, "int2": 64, "int4": 128, "uint2": 64, "uint4": 128, "longlong2": 128, "double2": 128}
_OWN |= {
    "ushort4": 64,
    "half2": 32,
    "__half2": 32,
    "nv_bfloat162": 32,
    "__nv_bfloat162": 32,
    "__nv_fp8_e4m3": 8,
    "__nv_fp8_e5m2": 8,
}
# Tags of CUTLASS, which are types of their own.
_TAG = re.compile(
    r"(RowMajor|ColumnMajor|Tensor[NK]\w*|Sm\d+\w*|OpClass\w+|Kernel\w+|Epilogue\w+|(PtrArray)?(NoSmem|TmaWarpSpecialized)\w*|\w+Tag|GemmUniversalMode"
    r"|mx_float[468]_t|nv_float4_t|StageCount\w*|\w+Scheduler(Auto)?|PackedVectorLayout|identity|void)"
)


def type_named(name: str) -> ValueType | None:
    """The type of elements of a name in C++, without namespaces; None for another name.

    >>> str(type_named("unsigned int")), type_named("f32")
    ('unsigned int', None)
    """
    return ValueType(name) if name in _CPP or name in _SAME or name in _OWN else None


def bits(value: Any) -> int:
    """The bits of a type of elements. Raises: the error of a name that is not known; AlgebraError for anything else.

    >>> bits(ValueType("float4")), bits(ValueType("uint_bit_t<128>")), bits(ValueType("half_t"))
    (128, 128, 16)
    """
    if isinstance(value, ValueType):
        name = _SAME.get(value.name, value.name)
        return _OWN[name] if name in _OWN else bits_of(name)
    if isinstance(value, Pointer):
        return 64
    if isinstance(value, External) and value.error is not None:
        raise value.error
    if isinstance(value, Enumerator):
        return 32
    if isinstance(value, bool):
        return 8
    if isinstance(value, Runtime):
        certain(value)
        return 32
    if isinstance(value, float):
        return 64
    raise AlgebraError(f"the width of {show(value)} is not known", hint="an element type, such as half_t")


class Array(ValueType):
    """The type of an array, as one type of all its bits: what points into it points to `element`."""

    __slots__ = ("element",)

    def __init__(self, name: str, element: Any) -> None:
        super().__init__(name)
        self.element = element


def sized(width: int) -> ValueType:
    """The unsigned type of a width.

    >>> str(sized(128)), str(sized(512))
    ('uint128_t', 'uint_bit_t<512>')
    """
    return ValueType(f"uint{width}_t" if f"uint{width}_t" in _CPP else f"uint_bit_t<{width}>")


def canonical(value: ValueType) -> str:
    """One name of each type."""
    return _SAME.get(value.name, value.name)


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
        return canonical(a) == canonical(b)
    if isinstance(a, Class) and isinstance(b, Class):
        return a.env is b.env
    if isinstance(a, Enumerator) and isinstance(b, Enumerator):
        return a.number == b.number and a.kind.rpartition("::")[2] == b.kind.rpartition("::")[2]
    if isinstance(a, Template) and isinstance(b, Template):
        return a.declaration is b.declaration
    if isinstance(a, int) and isinstance(b, int):
        certain(a), certain(b)
        return int(a) == int(b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) != len(b):
            return False
        found = [same(x, y) for x, y in zip(a, b, strict=True)]
        return False if False in found else None if None in found else True
    if type(a) is not type(b):
        return False
    if isinstance(a, Pointer):
        return None if a.element is None or b.element is None else same(a.element, b.element)
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
    element = _CPP.get(canonical(value))
    return "long" in value.name or (element is not None and element.kind in ("signed", "unsigned") and element.bits >= 8)


def initialised(value: Any) -> Any:
    """An object of a type of C++, as print(T{}) has it: run-time integers in a tuple of types are 0.

    >>> initialised((ValueType("int64_t"), 1, (ValueType("int"), 8))), initialised((ValueType("half_t"), 1))[1]
    ((0, 1, (0, 8)), 1)
    """
    if type(value) is not tuple:
        return value
    parts = tuple(map(initialised, value))
    return tuple(Runtime(0) if is_integer(x) else x for x in parts)
