"""A member of the elements of an array in shared memory, `p[t].x`: a tensor of that member's type, an element apart."""

from __future__ import annotations

import re
from math import prod

from cute_viz.algebra.inttuple import map_leaves
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.records import pattern
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.evaluate import CppEvaluator
from cute_viz.source.cpp.indexed import Indexed
from cute_viz.source.cpp.scopes import Declaration, Scope
from cute_viz.source.cpp.spots import brackets
from cute_viz.source.cpp.values import Class, Value, integer
from cute_viz.values.types import Pointer, bits_of

# vector_types.h, cuda_fp16.h, cuda_bf16.h
_VECTOR = pattern(r"(?:__)?(u?(?:char|short|int|long|longlong)|float|double|half|nv_bfloat16)([1-4])")
_WORDS = {"longlong": "long long", "ulonglong": "unsigned long long", "half": "half_t", "nv_bfloat16": "bfloat16_t"}
_WORDS |= {f"u{word}": f"unsigned {word}" for word in ("char", "short", "int", "long")}
_BARRIER = re.compile("sync|barrier|wait|arrive", re.IGNORECASE)


def field_of(evaluator: CppEvaluator, x: Tensor, access: Indexed, function: Scope) -> tuple[Tensor, int]:
    """The tensor of the member that an access names, if it names one, and how many such members would fill an element. Raises:
    AlgebraError where it is not known where the member lies, or how many members of an element a compiler takes at once."""
    if access.place.field is None and isinstance(x.pointer.type, Class):
        raise AlgebraError(f"how a compiler splits a copy of {x.pointer.type} is not known")
    if access.place.field is None:
        return x, 1
    reader = evaluator.context.reader
    name = reader.tokens[access.place.field].text
    if _beside(reader, access, function):
        raise AlgebraError(f"how many members of an element of {access.name} a compiler takes at once is not known")
    try:
        size, place, kind = _placed(evaluator, x.pointer.type, name)
    except CuteVizError:
        raise AlgebraError(f"where the member {name} of {access.name} lies is not known") from None
    bits = bits_of(kind)
    if size % bits or place % bits or not isinstance(x.layout, Layout):
        raise AlgebraError(f"the elements of {access.name} are no multiple of their member {name}")
    each = Layout(x.layout.shape, map_leaves(lambda step: step * (size // bits), x.layout.stride))
    pointer = Pointer("smem", kind, base=x.pointer.base, name=x.pointer.name, offset=x.offset * (size // bits) + place // bits)
    return Tensor(pointer, mark_static(each)), size // bits


def _placed(evaluator: CppEvaluator, kind: Value, name: str) -> tuple[int, int, str]:
    """The bits of an element, where a member begins in it, and that member's type, by the rules of alignment of C++."""
    if (vector := _VECTOR.fullmatch(str(kind))) is not None:
        word = _WORDS.get(vector[1], vector[1])
        return int(vector[2]) * bits_of(word), bits_of(word) * "xyzw"[: int(vector[2])].index(name), word
    if not isinstance(kind, Class) or kind.env.scope.bases or _said(evaluator, kind.env.scope):
        raise AlgebraError("its type is not known")
    at, widest, found = 0, 8, None
    for x in kind.env.scope.declarations:
        if x.kind != "variable" or x.static:
            continue
        width, count, type_ = _field(evaluator.inside(kind.env), x)
        at = -(-at // width) * width
        found = (at, type_) if x.name == name and count == 1 else found
        at, widest = at + width * count, max(widest, width)
    if found is None:
        raise AlgebraError("it has no such member")
    return -(-at // widest) * widest, *found


def _field(evaluator: CppEvaluator, x: Declaration) -> tuple[int, int, str]:
    """Of a member the bits of one element, how many it has, and its type. Raises: AlgebraError for what is not a plain number."""
    if x.type is None or x.pointer:
        raise AlgebraError("it is no number")
    tokens = evaluator.context.reader.tokens
    parts, close = brackets(evaluator.context.reader, x.token)
    kind = str(evaluator.value(evaluator.context.tree(x.type)))
    if tokens[close].kind == ":" or _VECTOR.fullmatch(kind):  # a field of bits; a vector has an alignment of its own
        raise AlgebraError("it is no number")
    extents = [int(integer(evaluator.solid(evaluator.context.tree(part)))) for part in parts]
    return max(8, bits_of(kind)), prod(extents) if x.array else 1, kind


def _said(evaluator: CppEvaluator, scope: Scope) -> bool:
    """Whether the alignment of a class is said."""
    reader = evaluator.context.reader
    end = reader.match[reader.find(scope.token, ("{", ";"))]
    return any(x.text in ("alignas", "__align__", "__attribute__", "pack") for x in reader.tokens[max(0, scope.token - 12) : end])


def _beside(reader: Declarer, access: Indexed, function: Scope) -> bool:
    """Whether another member of the same element is used, with no barrier between."""
    tokens, member = reader.tokens, access.place.field
    assert member is not None
    text = [token.text for token in tokens[access.token : member]]
    opening = reader.find(function.token, ("{", ";"))
    for places in (range(member + 1, reader.match[opening]), range(access.token - 1, opening, -1)):
        for n in places:
            if _BARRIER.search(tokens[n].text):
                break
            if [token.text for token in tokens[n : n + len(text)]] == text and tokens[n + len(text)].text != tokens[member].text:
                return True
    return False
