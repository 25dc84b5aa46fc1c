"""How types of C++ lie in memory, as g++ and nvcc place them (System V ABI, vector_types.h); members of elements in shared
memory, `p[t].x`: a tensor of that member's type, an element apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import NamedTuple

from cute_viz.algebra.layout import Layout, flat_modes
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.records import pattern
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.elements import Array
from cute_viz.source.cpp.indexed import Indexed
from cute_viz.source.cpp.lookup import Meaning, within
from cute_viz.source.cpp.scopes import Declaration, Scope
from cute_viz.source.cpp.spots import brackets
from cute_viz.source.cpp.values import Class, Value, integer
from cute_viz.values.types import Pointer, ValueType, bits_of, sized

# vector_types.h, cuda_fp16.h, cuda_bf16.h
_VECTOR = pattern(r"(?:__)?(u?(?:char|short|int|long|longlong)|float|double|half|nv_bfloat16)([1-4])")
_WORDS = {"longlong": "long long", "ulonglong": "unsigned long long", "half": "half_t", "nv_bfloat16": "bfloat16_t"}
_WORDS |= {f"u{word}": f"unsigned {word}" for word in ("char", "short", "int", "long")}
_WIDEST = 128  # bits
_UNPACKED = 1 << 30
ALIGNS = ("alignas", "__align__", "CUTE_ALIGNAS", "CUTLASS_ALIGNAS")
_UNREAD = frozenset(("__attribute__", "virtual", "_Pragma", "__declspec"))
_CLASSES = ("struct", "class", "union")
_LABELS = frozenset(("public", "private", "protected"))
_NO_MEMBERS = frozenset(
    ("using", "typedef", "friend", "static", "static_assert", "template", "enum", "struct", "class", "union", "~")
)
_BARRIER = re.compile("sync|barrier|wait|arrive", re.IGNORECASE)


class MemberPlace(NamedTuple):
    """A member: where it begins, in bits, its type, None of a field of bits, and its extents as an array."""

    place: int
    kind: Value
    extents: tuple[int, ...] = ()


class TypeLayout(NamedTuple):
    """A type in memory, in bits: its size, its alignment, its members by name, and what its own members take of the size."""

    size: int
    align: int
    members: Mapping[str, MemberPlace] = {}
    used: int = 1


def field_of(evaluator: Meaning, x: Tensor, access: Indexed) -> tuple[Tensor, int]:
    """The tensor of the member that an access names, if it names one, with modes for the indices of the member, and how many such
    members would fill an element. Raises: AlgebraError where it is not known where the member lies."""
    name, at = access.name, access.place.field
    copied = at is None and not isinstance(x.pointer.type, Class) and _VECTOR.fullmatch(str(x.pointer.type)) is not None
    if at is None and (isinstance(x.pointer.type, Class) or (copied and x.bits > laid_out(evaluator, x.pointer.type).align)):
        raise AlgebraError(f"how a compiler splits a copy of {x.pointer.type} is not known")
    if at is None:
        return x, 1
    reader = evaluator.context.reader
    begin, kind, modes = 0, x.pointer.type, list[tuple[int, int]]()
    words = reader.words((at, access.place.right)).replace(" ", "")
    try:
        laid = whole = laid_out(evaluator, kind)
        while at < access.place.right:
            part = laid.members[reader.tokens[at].text]
            inner, at = brackets(reader, at)
            begin, kind, at = begin + part.place, part.kind, at + 1
            if kind is None or len(inner) != len(part.extents):
                raise AlgebraError("it is no element")
            laid = laid_out(evaluator, kind)
            modes += [(extent, laid.size * prod(part.extents[n + 1 :])) for n, extent in enumerate(part.extents)]
        if isinstance(kind, Class) and kind.env.scope.kind == "class":
            raise AlgebraError("it is no element")
    except (CuteVizError, KeyError):
        raise AlgebraError(f"where the member {words} of {name} lies is not known") from None
    steps = [begin, whole.size, *(step for _, step in modes)]
    if any(step % laid.size for step in steps) or laid.align != laid.size or not isinstance(x.layout, Layout):
        raise AlgebraError(f"how a compiler accesses the member {words} of {name} is not known: it is not aligned to its size")
    apart = whole.size // laid.size
    every = [(extent, step * apart) for extent, step in flat_modes(x.layout)] + [(n, step // laid.size) for n, step in modes]
    shape, stride = zip(*every, strict=True)
    each = Layout(shape, stride) if len(every) > 1 else Layout(*every[0])
    kind = kind if isinstance(kind, ValueType) else sized(laid.size)
    pointer = replace(x.pointer, type=kind, offset=x.offset * apart + begin // laid.size)
    return Tensor(pointer, mark_static(each)), apart


def laid_out(meaning: Meaning, kind: Value) -> TypeLayout:
    """How a type lies in memory. Raises: CuteVizError where that is not known."""
    match kind:
        case Pointer():
            return TypeLayout(64, 64)
        case Class(env=env) if env.scope.kind == "enum":
            return _enumeration(meaning.inside(env), env.scope)
        case Class(env=env):
            return _Layouter(meaning.inside(env), env.scope).laid()
        case ValueType() if not isinstance(kind, Array):
            if (vector := _VECTOR.fullmatch(str(kind))) is None:
                bits = max(8, bits_of(kind))
                return TypeLayout(bits, min(_WIDEST, bits))
            word, count = ValueType(_WORDS.get(vector[1], vector[1])), int(vector[2])
            members = {"xyzw"[n]: MemberPlace(n * word.bits, word) for n in range(count)}
            return TypeLayout(count * word.bits, min(_WIDEST, word.bits * (count if count % 2 == 0 else 1)), members)
    raise AlgebraError("how its type lies in memory is not known")


def _enumeration(meaning: Meaning, scope: Scope) -> TypeLayout:
    """The integer that an enumeration is kept as."""
    reader = meaning.context.reader
    opening = reader.find(scope.token, ("{", ";"))
    at = scope.token + bool(scope.name)
    if reader.tokens[at].kind == ":":
        return laid_out(meaning, meaning.value(meaning.context.tree((at + 1, opening))))
    numbers = [int(integer(meaning.value(meaning.context.tree((x.token, x.token + 1))))) for x in scope.declarations]
    if not all(-(1 << 31) <= n < 1 << 31 for n in numbers):
        raise AlgebraError("which integer it is kept as is not known")
    return TypeLayout(32, 32)


class _Layouter:
    """Places the members of a class one behind the other, or of a union at its beginning."""

    def __init__(self, meaning: Meaning, scope: Scope) -> None:
        self.meaning, self.scope, self.reader = meaning, scope, meaning.context.reader
        tokens = self.reader.tokens
        self.opening = self.reader.find(scope.token, ("{", ";"))
        word = next(n for n in range(scope.token, -1, -1) if tokens[n].text in _CLASSES)
        self.union = tokens[word].text == "union"
        self.close = self.reader.match[self.opening]
        if any(x.text in _UNREAD for x in tokens[word : self.close + 2]) or tokens[word - 1].kind == ")":
            raise AlgebraError("its alignment, or what virtual functions add, is not known")
        self.pack = _packed(meaning.context.text, tokens[word].start)
        self.at, self.used, self.align = 0, 0, max([8, *self._said(word, self.opening)])
        self.members: dict[str, MemberPlace] = {}

    def laid(self) -> TypeLayout:
        """The class. Raises: AlgebraError for members that are not read, or lie where only a compiler knows."""
        env, around = self.meaning.env, self.meaning.lookup.bases(self.meaning.env)
        if len(around) < len(self.scope.bases):
            raise AlgebraError("a base is not known")
        for base in around:
            laid = laid_out(self.meaning, Class(base))
            if laid.used not in (0, laid.size):
                raise AlgebraError("what lies behind the members of a base is not known")
            self._put(laid if laid.used else laid._replace(size=0), laid.members)
        seen = set[int]()
        for x in self.scope.declarations:
            seen.add(x.token)
            inner = x.inner and self.reader.find(x.inner.token, ("{", ";"))
            if x.branch is not None and x.branch is not self.reader.source.branch(self.scope.token):
                raise AlgebraError("the preprocessor decides")
            if x.kind == "class" and not x.name and inner and self.reader.tokens[self.reader.match[inner] + 1].kind == ";":
                laid = laid_out(self.meaning, Class(within(env, x.inner)))
                self._put(laid, laid.members)
            elif x.kind == "object" or (x.kind in ("variable", "loop") and not x.static):
                self._member(x)
            elif x.kind == "function" and [one.kind for one in self.reader.tokens[x.token + 1 : x.token + 3]] == ["(", "*"]:
                raise AlgebraError("a pointer to a function is not read")
        self._check(seen)
        size = -(-max(self.at, 8) // self.align) * self.align
        return TypeLayout(size, self.align, self.members, self.used)

    def _put(self, laid: TypeLayout, members: Mapping[str, MemberPlace]) -> None:
        """What takes so many bits, with its members."""
        align = min(laid.align, self.pack)
        begin = 0 if self.union else -(-self.at // align) * align
        self.at = self.used = max(self.at, begin + laid.size)
        self.align = max(self.align, align)
        self.members |= {name: part._replace(place=begin + part.place) for name, part in members.items()}

    def _member(self, x: Declaration) -> None:
        tokens, tree = self.reader.tokens, self.meaning.context.tree
        extents, behind = brackets(self.reader, x.token)
        counts = tuple(int(integer(self.meaning.solid(tree(part)))) for part in extents)
        before = tokens[x.token - 1].kind
        if before in ("&", "&&") or (x.kind == "object" and before == "*") or 0 in counts:
            raise AlgebraError("it is a reference")
        if x.kind == "object":
            kind: Value = Class(within(self.meaning.env, x.inner))
        else:
            kind = Pointer() if x.pointer else self.meaning.value(tree(x.type))
        laid = laid_out(self.meaning, kind)
        if tokens[behind].kind == ":":  # a field of bits
            bits = int(integer(self.meaning.solid(tree((behind + 1, self.reader.find(behind, (",", ";", "=", "{")))))))
            at = 0 if self.union else self.at
            if self.pack < _UNPACKED or not 0 < bits <= laid.size:
                raise AlgebraError("where a compiler places it is not known")
            at = at if at // laid.size == (at + bits - 1) // laid.size else -(-at // laid.size) * laid.size
            self.at = self.used = max(self.at, at + bits)
            self.align = max(self.align, laid.align)
            self.members[x.name] = MemberPlace(at, None)
            return
        begin = x.type[0] if x.type is not None else x.token
        first = next(n + 1 for n in range(begin - 1, -1, -1) if tokens[n].kind in (";", "{", "}", ":"))
        align = max([laid.align, *(self._said(first, begin) if x.type is not None else ())])
        self._put(TypeLayout(laid.size * prod(counts), align), {x.name: MemberPlace(0, kind, counts)})

    def _said(self, begin: int, end: int) -> list[int]:
        """The alignments, in bits, that are said among tokens."""
        out, tokens, match = [], self.reader.tokens, self.reader.match
        for n in (n for n in range(begin, end) if tokens[n].text in ALIGNS):
            if tokens[n + 1].kind == "(":
                value = self.meaning.solid(self.meaning.context.tree((n + 2, match[n + 1])))
                out.append(8 * int(value) if isinstance(value, int) else laid_out(self.meaning, value).align)
        return out

    def _check(self, seen: set[int]) -> None:
        """Raises: AlgebraError for a statement of the class that declares what was not read: a pointer to a function."""
        tokens, at = self.reader.tokens, self.opening + 1
        while at < self.close:
            if tokens[at].text in _LABELS and tokens[at + 1].kind == ":":
                at += 2
                continue
            end = self.reader.find(at, (";", "{"))
            end = self.reader.match[end] if tokens[end].kind == "{" else end
            if tokens[at].kind not in (";", "{") and tokens[at].text not in _NO_MEMBERS and not any(at <= n <= end for n in seen):
                raise AlgebraError("one of its members is not read")
            at = end + 1


def _packed(text: str, end: int) -> int:
    """To how many bits members are aligned at most at a place, by `#pragma pack`."""
    now, kept = _UNPACKED, list[int]()
    for found in re.finditer(r"#\s*pragma\s+pack\s*\(([^)\n]*)\)", text[:end]):
        words = re.findall(r"\w+", found[1])
        if "push" in words:
            kept.append(now)
        elif "pop" in words and kept:
            now = kept.pop()
        now = next((8 * int(word) for word in words if word.isdigit()), now if words else _UNPACKED)
    return now


def others(reader: Declarer, access: Indexed, function: Scope) -> bool:
    """Whether another member of the same element is used, with no barrier between."""
    tokens, member = reader.tokens, access.place.field
    if member is None:
        return False
    text = [token.text for token in tokens[access.token : member]]
    opening = reader.find(function.token, ("{", ";"))
    for places in (range(member + 1, reader.match[opening]), range(access.token - 1, opening, -1)):
        for n in places:
            if _BARRIER.search(tokens[n].text):
                break
            if [token.text for token in tokens[n : n + len(text)]] == text and tokens[n + len(text)].text != tokens[member].text:
                return True
    return False
