"""Names that the file does not define: of CuTe, CUTLASS, CUDA and the standard, as values; what is none of them stays a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from cute_viz.algebra.composed import PointerFlag, as_layout, make_composed_layout
from cute_viz.algebra.inttuple import leaves, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.ops import OPS
from cute_viz.algebra.static import clear_static, with_origin
from cute_viz.algebra.stride import Basis, StaticRatio
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError, CuteVizError, Span
from cute_viz.notation.undefined import undefined as unknown_name
from cute_viz.notation.values import CONSTANTS, constant
from cute_viz.source.cpp.context import needed
from cute_viz.source.cpp.cutlass import NAMES as MADE
from cute_viz.source.cpp.cutlass import made, tag_member
from cute_viz.source.cpp.elements import TRAITS, Array, bits, is_integer, is_tag, kind_of_type
from cute_viz.source.cpp.lookup import Meaning
from cute_viz.source.cpp.numbers import BOOL, is_static, kind_of, number
from cute_viz.source.cpp.slices import is_layout, layout_of
from cute_viz.source.cpp.tokens import ATOMS, INTEGRALS, TUPLES, may_be_atom, words
from cute_viz.source.cpp.tree import Node, Part
from cute_viz.source.cpp.unknown import certain
from cute_viz.source.cpp.values import Enumerator, External, Foreign, SpelledInt, Value, argument, as_int, integer, solid, typed
from cute_viz.values.examples import example_value
from cute_viz.values.integer import Runtime, Unknown
from cute_viz.values.marks import INT, TypedStatic
from cute_viz.values.types import Pointer, ValueType, bits_of, named, named_in_cpp, sized, sparse

_STATIC = re.compile(r"_(m?)(\d{1,9})")
_CONSTANTS = {  # cutlass/cutlass.h, cute/util, device_launch_parameters.h
    "warpSize": 32,
    "NumThreadsPerWarp": 32,
    "NumThreadsPerWarpGroup": 128,
    "NumThreadsPerHalfWarp": 16,
    "NumThreadsPerQuad": 4,
    "NumThreadsPerQuadPair": 8,
    "NumWarpsPerWarpGroup": 4,
}
_ENUMS = {"MN": 1, "K": 0, "One": 1, "Zero": 0, "Neg": -1}
_ENUM_NAMES = frozenset(("Major", "ScaleIn", "ScaleOut", "Saturate"))


def known(meaning: Meaning, parts: tuple[Part, ...], span: Span) -> Value:
    """What a qualified name stands for that begins outside of this file."""
    last = parts[-1]
    name = last.name
    full = "::".join(part.name for part in parts)
    source = meaning.context.reader.source
    if last.args is None and len(parts) == 1 and name in source.macros:
        raise meaning.unexpanded(name, span)
    if last.args is None:
        if (match := _STATIC.fullmatch(name)) is not None:
            return int(match[2]) * (-1 if match[1] else 1)
        if name == "_" or name in CONSTANTS:
            found: Value = constant("X" if name == "_" else name)
            return found
        if len(parts) > 1 and parts[-2].name in _ENUM_NAMES and name in _ENUMS:
            return Enumerator("::".join(part.name for part in parts[:-1]), name, _ENUMS[name])
        if name in _CONSTANTS:
            return Runtime(_CONSTANTS[name])
        if name in ("true_type", "false_type"):
            return TypedStatic.of(name == "true_type", BOOL)
    if len(parts) > 1 and last.args is None:
        owner = External("::".join(part.name for part in parts[:-1]))
        if is_tag(owner.name) and (member := tag_member(owner, name)) is not None:
            return member
    if last.args is None or not is_tag(full):
        found = _with_arguments(meaning, last, full, span)
        if found is not None:
            return found
    args = None if last.args is None else tuple(_lenient(meaning, item) for item in last.args)
    if is_tag(full):
        return External(full, args)
    return External(full, args, undefined(meaning, full, span))


def undefined(meaning: Meaning, full: str, span: Span) -> CuteVizError:
    """The error of a name that this file does not define."""
    short = full.rsplit("::", 1)[-1]
    base = needed(meaning.text, short, span, "type")
    if short in meaning.context.reader.source.asked:  # `#ifdef N`, and then N
        base = base.but(hint=f"give it a value: `let={short}={example_value(short)}`, or 0 where it is not defined")
    if meaning.context.own_lines:
        names = (*filter(str.isidentifier, meaning.context.root.args), *CONSTANTS)
        message, hint = unknown_name(full, names, meaning.context.given.resolve)
        return base.but(message=message, hint=base.hint if hint.startswith("give it") and "..." not in str(base.hint) else hint)
    return base.but(message=f"{full!r} is not defined in this file")


def _lenient(meaning: Meaning, node: Node) -> Value:
    try:
        return meaning.argument(node)
    except CuteVizError as error:
        return External("?", None, error)


def _with_arguments(meaning: Meaning, part: Part, full: str, span: Span) -> Value:
    """A type or a trait by its name and its template arguments; None for another name."""
    name, args = part.name, part.args
    if name == "Apply" and args is not None and (order := full.split("::")[-2:-1]) in (["LayoutLeft"], ["LayoutRight"]):
        shape = typed(meaning.solid(args[0]), _unset(meaning, span))
        return meaning.operate(f"compact_{'col' if order == ['LayoutLeft'] else 'row'}_major", [shape])
    if name in TRAITS:
        return TRAITS[name](meaning, args or (), span)
    for suffix in ("_v", "_t"):
        if name.endswith(suffix) and name[: -len(suffix)] in TRAITS:
            return TRAITS[name[: -len(suffix)]](meaning, args or (), span)
    if args is None and (kind := named_in_cpp(name)) is not None:
        return kind
    if name in _FORMS and args is not None:
        found = _FORMS[name](meaning, name, _values(meaning, args), span)
        return (
            Foreign.of(found, kind_of(found)) if full.startswith("std::") and isinstance(found, int) and is_static(found) else found
        )
    if name in MADE and args is not None:
        return made(meaning, full, args, span)
    if (helper := meaning.lookup.helper(name)) is not None:
        return meaning.meant(helper, part, span)
    if name.startswith("Layout_"):
        values = _values(meaning, args or ())
        if args is None:
            return External(full, None, meaning.fail(f"{name} takes an element type", span, hint=f"example: {name}<half_t>"))
        return _smem_atom(meaning, name, values, span)
    if name in ATOMS and args is not None:
        from cute_viz.source.cpp.atoms import atom

        return atom(meaning, name, _values(meaning, args), span)
    if name.endswith("_v") and args is not None and len(args) == 1:
        value = meaning.operate(name[:-2], [argument(meaning.solid(node)) for node in args])
        return as_int(value)
    if args is not None and not may_be_atom(full) and (name in OPS or not meaning.context.own_lines):
        return None
    if not (may_be_atom(full) or meaning.context.own_lines):
        return None
    from cute_viz.source.cpp.atoms import instruction

    return instruction(meaning, full, None if args is None else _values(meaning, args), span)


def _values(meaning: Meaning, args: tuple[Node, ...]) -> list[Value]:
    return [argument(value) for value in meaning.arguments(args)]


def _smem_atom(meaning: Meaning, name: str, values: list[Value], span: Span) -> Value:
    """`GMMA::Layout_K_SW128_Atom<T>`, and `GMMA::Layout_SW128_Atom<T, Major>`."""
    match = re.fullmatch(r"Layout_(INTER|SW32|SW64|SW128|SW128_32B)_(Sp)?Atom", name)
    if match is not None:
        count = 3 if match[2] else 2
        if len(values) != count or not isinstance(values[-1], Enumerator):
            takes, example = ("type, a sparsity and a major", "half_t, 2, ") if match[2] else ("type and a major", "half_t, ")
            raise meaning.fail(f"{name} takes a {takes}", span, hint=f"example: GMMA::{name}<{example}GMMA::Major::K>")
        name, values = f"Layout_{values[-1].name}_{match[1]}_{match[2] or ''}Atom", values[:-1]
    from cute_viz.algebra.recast import smem_atom

    if name.endswith("_Bits"):
        template: tuple[Any, ...] = ()
    else:
        template = (bits(values[0]), *map(certain, values[1:])) if values else ()
    found = smem_atom(name, template)
    return None if found is None else clear_static(found)


_Form = Callable[[Meaning, str, list[Value], Span], Value]


def _check(values: list[Value]) -> list[Value]:
    return list(map(solid, values))


def _unset(meaning: Meaning, span: Span) -> CuteVizError:
    """The error for a type that says no number, `int` in the place of one."""
    hint = "write a number in the place of its type: tuple<C<8>, 16> for tuple<C<8>, int>"
    return meaning.fail("this integer is only known where the layout is made", span, hint=hint)


def _layout(meaning: Meaning, name: str, values: list[Value], span: Span) -> Value:
    if not 1 <= len(values) <= 2:
        raise meaning.fail("Layout takes a shape and a stride", span)
    unset = _unset(meaning, span)
    for value in _check(values):
        for leaf in leaves(value):
            if isinstance(leaf, ValueType) and not is_integer(leaf):
                raise AlgebraError(f"a layout must consist of integers; {show(leaf)} is not one")
    shape, *stride = (typed(value, unset, part) for value, part in zip(values, ("shape", "stride"), strict=False))
    return Layout(shape, *stride)  # type: ignore[arg-type]  # `Layout<Shape<int32_t,_8>>` is a type, too


def _composed(meaning: Meaning, name: str, values: list[Value], span: Span) -> Value:
    if len(values) != 3:
        raise meaning.fail("ComposedLayout takes three parts", span)
    outer, offset, inner = _check(values)
    unset = _unset(meaning, span)
    return make_composed_layout(outer, typed(offset, unset) if type(offset) is tuple else offset, inner)


def _integers(
    takes: str, counts: Collection[int], make: Callable[..., Value], fits: Callable[[int], bool] = lambda n: True
) -> _Form:
    """A template of integers alone, so many of them, that each fit."""

    def form(meaning: Meaning, name: str, values: list[Value], span: Span) -> Value:
        if len(values) not in counts or not all(isinstance(x, int) and fits(x) for x in _check(values)):
            raise meaning.fail(takes, span)
        return make(*(int(integer(x)) for x in values))

    return form


def _integral(meaning: Meaning, name: str, values: list[Value], span: Span) -> Value:
    _check(values)
    match values[-1] if values else None:
        case bool(value):
            return TypedStatic.of(value, BOOL)
        case Enumerator() as value:
            return value if "constant" in name else value.number
        case int(value) if len(values) == 2:
            return argument(number(value, kind_of_type(values[0]) or INT))
        case int(value) if values[1:] == []:
            return TypedStatic.of(value, kind_of(value)) if name == "C" and kind_of(value) != INT else int(value)
        case value:
            raise AlgebraError(f"{name}<N> takes an integer, not {show(value)}")


def _array(meaning: Meaning, name: str, values: list[Value], span: Span) -> Value:
    match _check(values[:2]):  # its alignment is not asked
        case [kind, int(count)] if 0 < count < 1 << 32:
            return Array(sized(bits(kind) * int(count)).name, kind, -(-bits(kind) * int(count) // 8))
    raise meaning.fail(f"{name} takes a type and a number", span)


def _sparse(meaning: Meaning, name: str, values: list[Value], span: Span) -> Value:
    """sparse_elem<S,T>, and smem_sparse_ptr_flag_bits<S,B>, the pointer to such elements in a layout."""
    match [solid(x) for x in values]:
        case [int(each), ValueType() as of] if name == "sparse_elem":
            word = f"sparse_elem<{int(each)},{of.canonical}>"
            if sparse(word) is None and named(of) is not None:
                raise meaning.fail(f"{word}: {each} elements do not share the bits of one", span)
            if named(of) is not None:
                bits_of(word)  # Raises: AlgebraError for a part of less than a bit
            return ValueType(word)
        case [int(each), int(of)] if 0 < each <= of and of % each == 0:
            return PointerFlag(int(of) // int(each), sparsity=int(each))
    raise meaning.fail(f"{name} takes a sparsity and {'a type' if name == 'sparse_elem' else 'the bits of an element'}", span)


def _scaled(meaning: Meaning, name: str, values: list[Value], span: Span) -> Value:
    first, *path = values or [None]
    scale: Any = first.number if isinstance(first, SpelledInt) else first
    known = isinstance(scale, (int, Unknown, StaticRatio)) and all(isinstance(i, int) for i in path)
    if not path or not known:
        raise meaning.fail("ScaledBasis takes a scale and positions of modes", span)
    return Basis(scale, tuple(int(integer(n)) for n in path))


def _tensor_type(meaning: Meaning, name: str, values: list[Value], span: Span) -> Value:
    layout: Any = layout_of(as_layout(values[-1])) if values else None
    if not is_layout(layout):
        raise meaning.fail("the layout of this tensor is not known", span)
    match values:
        case [tuple(origin), _]:
            return with_origin(typed(origin, meaning.fail("this integer is only known where the tensor is made", span)), layout)
        case [Pointer() as where, *_]:
            return Tensor(where, layout)
    return Tensor(Pointer(), layout)


def _engine(meaning: Meaning, name: str, values: list[Value], span: Span) -> Value:
    """What a tensor's type has for its pointer: `ViewEngine<smem_ptr<half_t*>>`, `swizzle_ptr<Swizzle<3,4,3>, ...>`."""
    match values:
        case [*_, Pointer() as inner] if name[:4] in ("gmem", "smem", "rmem", "tmem"):
            return replace(inner, space=name[:4])
        case [Swizzle() as swizzle, *_, Pointer() as inner] if name == "swizzle_ptr":
            return replace(inner, swizzle=swizzle)
        case [*_, ValueType() as inner] if name in ("subbyte_iterator", "sparse_ptr"):
            return Pointer(type=inner)
    return values[-1] if values else None


_FORMS: dict[str, _Form] = {
    **dict.fromkeys((*TUPLES, "ArithmeticTuple"), lambda meaning, name, values, span: tuple(_check(values))),
    **dict.fromkeys((*INTEGRALS, "bool_constant"), _integral),
    "uint_byte_t": _integers("uint_byte_t<N> takes a number", (1,), lambda n: sized(8 * n), lambda n: 0 < n < 1 << 16),
    "uint_bit_t": _integers("uint_bit_t<N> takes a number", (1,), sized, lambda n: 0 < n < 1 << 16),
    **dict.fromkeys(("AlignedArray", "AlignedBuffer", "Array", "ArrayEngine", "array", "aligned_array", "array_aligned"), _array),
    "Layout": _layout,
    "ComposedLayout": _composed,
    "Swizzle": _integers("a swizzle takes three integers", (2, 3), lambda b, m, s=None: Swizzle(b, m, b if s is None else s)),
    "smem_ptr_flag_bits": _integers("smem_ptr_flag_bits<N> takes the bits of an element", (1,), PointerFlag),
    **dict.fromkeys(("sparse_elem", "smem_sparse_ptr_flag_bits"), _sparse),
    "E": _integers("E<i,j...> takes positions of modes, 0 to 63", range(64), lambda *path: Basis(1, path), range(64).__contains__),
    "ScaledBasis": _scaled,
    "R": _integers("R<N,D> takes two integers", (2,), StaticRatio, bool),  # cute/numeric/integral_ratio.hpp
    "Tensor": _tensor_type,
    **dict.fromkeys(
        words(
            "ViewEngine ConstViewEngine gmem_ptr smem_ptr rmem_ptr tmem_ptr swizzle_ptr subbyte_iterator sparse_ptr"
            " ArithmeticTupleIterator"
        ),
        _engine,
    ),
}
