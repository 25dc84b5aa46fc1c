"""The types of elements: their widths, and what C++, the Python DSL, instructions and CuTe's compiler call them.

Sources: cutlass/numeric_types.h, cute/numeric/numeric_types.hpp, the numeric types of the DSL, the PTX ISA.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from cute_viz.errors import AlgebraError
from cute_viz.records import dataclass, rows


class _Row(NamedTuple):
    """A type of elements: its name in PTX, its width and kind, and its names elsewhere, the one that is written first."""

    short: str
    bits: int
    kind: str
    cpp: tuple[str, ...]
    dsl: tuple[str, ...]
    print: tuple[str, ...]


def _row_of(head: str, *names: str) -> _Row:
    short, bits, kind = head.split()
    cpp, dsl, printed = (tuple(part.split()) for part in names)
    return _Row(short, int(bits), kind, cpp, dsl, printed)


_TABLE = rows(__file__, "types.txt")
_ROWS = [_row_of(*cells) for cells in _TABLE if cells[0] not in ("same", "bits")]
_UNWRITTEN = ("s2", "u2", "s6", "u6", "pred", "ue4m3", "s128", "u128", "u256")  # names of ours, which nobody writes
WRITTEN = tuple(x.short for x in _ROWS if x.short not in _UNWRITTEN)
_CPP = {word: x for x in _ROWS for word in x.cpp}
_NAMED = {word: x for x in _ROWS for word in (*x.dsl, *([] if x.short in _UNWRITTEN else [x.short]))} | _CPP
_SHORT = {x.short: x for x in _ROWS}
_PRINTED = {word: x for x in _ROWS for word in x.print}
_SAME = {word: name for kind, name, *words in _TABLE if kind == "same" for word in words[0].split(", ")}
_OWN = {word: int(bits) for kind, bits, *words in _TABLE if kind == "bits" for word in words[0].split(", ")}
# In the names of instructions, longest first; complex types have no element of their own here.
_COMPLEX = ("GC64", "C64", "CTF32", "CF32")
_SPELT = "|".join(sorted([*_COMPLEX, *(x.short.upper() for x in _ROWS)], key=lambda word: (-len(word), word)))


class ValueType:
    """A type of elements, by the name that it has in C++, in the DSL or in PTX, or by its width in bits. Two are equal where C++
    has one type for both names."""

    __slots__ = ("name",)

    def __init__(self, name: str | ValueType) -> None:
        self.name = str(name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ValueType) and self.canonical == other.canonical

    def __hash__(self) -> int:
        return hash(self.canonical)

    @property
    def bits(self) -> int:
        """The width of an element. Raises: AlgebraError for a name that is not known."""
        return bits_of(self)

    @property
    def kind(self) -> str:
        """float, signed, unsigned or bits; "" of a type that is not a number."""
        row = _row(self.name)
        return row.kind if row else ""

    @property
    def short(self) -> str:
        """Its name in PTX; of another type its width."""
        row = _row(self.name)
        return row.short if row else self.name if self.sparsity > 1 else f"{self.bits}-bit"

    @property
    def cpp(self) -> str:
        """Its name in C++, as CUTLASS writes it; what it was called where C++ has none."""
        row = _row(self.name)
        return row.cpp[0] if row and row.cpp else self.name

    @property
    def canonical(self) -> str:
        """One name for each type of C++: `half_t` and `__half` are two, `uint32_t` and `unsigned int` one."""
        name = _last(self.name)
        name = name if name in _CPP or name in _SAME else self.cpp
        return _SAME.get(name, name)

    @property
    def dsl(self) -> str:
        """Its name in the DSL; "" where it has none there."""
        row = _row(self.name)
        return row.dsl[0] if row and row.dsl else ""

    @property
    def mlir(self) -> str:
        """Its name in what CuTe's compiler prints."""
        row = _row(self.name)
        return row.print[0] if row and row.print else self.short

    @property
    def sparsity(self) -> int:
        """How many logical elements one that is stored stands for."""
        packed = sparse(self)
        return packed[0] if packed else 1


def _last(name: str) -> str:
    return name if "<" in name else name.rsplit("::", 1)[-1].rsplit(".", 1)[-1].strip()


def _row(name: str) -> _Row | None:
    name = _last(name)
    return _NAMED.get(name) or _NAMED.get(_SAME.get(name, ""))


def named(name: str | ValueType) -> ValueType | None:
    """The type of a name in C++, in the DSL or in PTX, with or without its namespace; None for another name."""
    return ValueType(str(name)) if _row(str(name)) else None


def short(name: str) -> ValueType:
    """The type of a short name, of one that nobody writes, too."""
    row = _SHORT[name]
    return ValueType((*row.dsl, *row.cpp)[0])


def alike(a: ValueType | None, b: ValueType | None) -> bool:
    """Whether two types are one, as far as both are known; where only the width of one is known, whether that is alike."""
    if a is None or b is None:
        return True
    return a.bits == b.bits if "-" in a.short + b.short else a == b


def named_in_cpp(name: str) -> ValueType | None:
    """The type of elements of a name in C++, without namespaces; None for another name."""
    return ValueType(name) if name in _CPP or name in _SAME or name in _OWN or name == "void" else None


def printed(name: str) -> ValueType | None:
    """The type of a name that CuTe's compiler or the DSL prints; None for another name."""
    row = _PRINTED.get(name)
    return ValueType(row.dsl[0] if row.dsl else row.short) if row else None


def unsigned(bits: int) -> str | None:
    """The unsigned type of a width in C++; None where there is none of whole bytes."""
    return f"uint{bits}_t" if bits >= 8 and f"uint{bits}_t" in _CPP else None


def sized(width: int) -> ValueType:
    """The unsigned type of a width."""
    return ValueType(unsigned(width) or f"uint_bit_t<{width}>")


def spelt(word: str) -> list[str]:
    """The types that a word of an instruction's name is made of; none where it has something else in it."""
    if not re.fullmatch(f"(?:{_SPELT})+", word):
        return []
    return [token.lower() for token in re.findall(_SPELT, word)]


def spells(instruction: str, name: str) -> bool:
    """Whether the name of an instruction has a type in it, which is named in any way: F16 is not in BF16."""
    element = named(name)
    wanted = (element.short if element else name).upper()
    for word in re.split(r"[^A-Za-z0-9]+", instruction):
        types = re.fullmatch(rf"(?:MX)?((?:{_SPELT}|F[864])+)(?:x\d+)?", word)
        if types and wanted in re.findall(rf"{_SPELT}|F[864]", types[1]):
            return True
    return False


def sparse(value_type: object) -> tuple[int, str] | None:
    """How many logical elements one stored element is for, and its type: of `sparse_elem<8,uint8_t>`; None for a dense type.
    Source: cute/numeric/numeric_types.hpp, cute/pointer_sparse.hpp."""
    match = re.fullmatch(r"(?:cute::)?sparse_elem<_?(\d{1,3}),([\w:]+)>", str(value_type).replace(" ", ""))
    return (int(match[1]), match[2]) if match and int(match[1]) else None


def bits_of(value_type: object) -> int:
    """The width in bits of a value type, by its name in C++ or in the Python DSL, or as a number."""
    if not isinstance(value_type, int) and str(value_type).isdecimal() and len(str(value_type)) < 6:
        value_type = int(str(value_type))
    if isinstance(value_type, int) and not isinstance(value_type, bool):
        if value_type < 1:
            raise AlgebraError(f"a value type must be at least 1 bit wide, not {value_type}")
        return int(value_type)
    return _bits_of(str(value_type))


@lru_cache(256)
def _bits_of(name: str) -> int:
    if sized := re.fullmatch(r"(?:(?:cute|cutlass)::)?uint_(bit|byte)_t<_?(\d{1,4})>", name):
        return bits_of(int(sized[2]) * (8 if sized[1] == "byte" else 1))
    if several := re.fullmatch(r"(?:(?:cute|cutlass)::)?(?:Aligned)?[Aa]rray<(.+?), *_?(\d{1,6})(?:, *\d+)?>", name):
        return bits_of(several[1]) * int(several[2])
    if packed := sparse(name):
        if (stored := bits_of(packed[1])) % packed[0]:
            raise AlgebraError(f"an element of {name} is less than one bit wide")
        return stored // packed[0]
    if (row := _row(name)) is not None:
        return row.bits
    if _last(name) in _OWN:
        return _OWN[_last(name)]
    alike = re.fullmatch(r"b?(?:f|fp|float)(\d{1,3})", name)  # of 8 bits and fewer there are several
    floats = [x.short for x in _ROWS if alike and x.bits == int(alike[1]) and x.kind == "float" and x.short in WRITTEN]
    hint = f"floats of {alike[1]} bits: {', '.join(floats)}" if alike and floats else "give its width in bits: 16 for half_t"
    raise AlgebraError(f"{name} is not a value type that is known here", hint=hint)


COUNTS = "counting"  # the space of a pointer to integers that count from its offset on: of an identity tensor of one mode
SPACES = {"smem": "shared memory", "gmem": "global memory", "tmem": "tensor memory", "rmem": "registers"}


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where a tensor begins.

    space: a key of SPACES, or COUNTS; "" where nobody says it. type: of the elements, by its name or its width too, None where it
    is not known; of a reader of a language whatever the pointer points to. address: in bytes, of the buffer that it points into,
    of tensor memory lane << 16 | column; None where the text does not say it. swizzle: of the byte address, an algebra.Swizzle, or
    None. align: bytes to whose multiples the buffer is aligned, as far as that was said. base: the buffer that it points into,
    which two views of one share; "" where it is not known. offset: in elements, behind the beginning of that buffer. placed: False
    where the offset is that of the first of several places: a run-time index that nobody knows says which. name: the tensor that
    it was made for, as the source calls it. part: of a tensor's iterator how threads divide that tensor.
    """

    marked: ClassVar[tuple[str, ...]] = ("offset",)
    space: str = ""
    type: Any = None
    address: int | None = None
    swizzle: Any = None
    align: int | None = None
    base: str = ""
    offset: Any = 0
    placed: bool = True
    name: str = ""
    part: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.type, str):
            object.__setattr__(self, "type", ValueType(self.type) if self.type else None)

    @property
    def known(self) -> ValueType | None:
        """The type of its elements; None where it is not known, and of a pointer to anything else."""
        return self.type if isinstance(self.type, ValueType) else None

    @property
    def bits(self) -> int:
        """The width of an element in bits. Raises: AlgebraError where the type is not known."""
        if (kind := self.known) is None:
            raise AlgebraError(
                "the element type is unknown", hint="give it with make_tensor(make_smem_ptr<half_t>(p), layout) or `type=`"
            )
        return kind.bits

    @property
    def per_word(self) -> int:
        """How many elements 32 bits hold: those of a sparse type count as the elements that they stand for. Raises: AlgebraError
        for wider ones, which tensor memory does not hold, and where the type is not known."""
        packed = sparse(self.type)
        if not packed and self.bits > 32:
            raise AlgebraError(f"tensor memory holds elements of 32 bits at most, not of {self.bits}")
        return 32 * packed[0] // bits_of(packed[1]) if packed else 32 // self.bits

    @property
    def element(self) -> str:
        """The element type by its short name, `f16`; a width alone as `16-bit`."""
        kind = self.known
        return "?" if kind is None else "metadata" if kind.sparsity > 1 and self.space == "tmem" else kind.short

    def moved(self, elements: object, known: bool = True) -> Pointer:
        """The pointer so many elements further on; or at such places, of which it is not known which."""
        begins = type(self.offset) is int and self.offset == 0  # then the mark of a static offset stays
        offset = elements if begins else self.offset + elements
        if not known:
            return replace(self, offset=offset, placed=False, address=None)
        return replace(self, offset=offset)

    def of(self, kind: ValueType) -> Pointer:
        """The pointer as one to elements of another type."""
        if self.offset and self.known is not None:
            before = self.offset * self.bits
            return replace(self, type=kind, offset=before // kind.bits)
        return replace(self, type=kind)

    def __str__(self) -> str:
        where = "unset" if self.address is None else f"0x{self.address:x}"
        return f"{self.space}_ptr[{self.bits}b]({where})"
