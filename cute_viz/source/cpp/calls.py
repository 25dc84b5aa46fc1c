"""Functions that the file does not define and that are more, or less, than an operation of the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from math import gcd, lcm
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, as_layout, domain, has_origin, position_independent
from cute_viz.algebra.inttuple import X
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.tensor import Tensor, check_like
from cute_viz.errors import CuteVizError, Span
from cute_viz.notation.values import PRINTERS
from cute_viz.source.cpp.cutlass import check, is_plain_fusion, tmem_store_of
from cute_viz.source.cpp.elements import bits
from cute_viz.source.cpp.fields import laid_out
from cute_viz.source.cpp.higher import HIGHER
from cute_viz.source.cpp.lookup import Meaning
from cute_viz.source.cpp.members import check_of_tensors, pointer, recast, tensor, tma_partition
from cute_viz.source.cpp.numbers import SIZE, is_numeric, is_of_run_time, is_static, number
from cute_viz.source.cpp.slices import coordinate, cut, index, is_layout, joined, known_part, layout_of, sliced
from cute_viz.source.cpp.threads import order_of
from cute_viz.source.cpp.tokens import MAKE_TUPLES, words
from cute_viz.source.cpp.tree import Node, Part
from cute_viz.source.cpp.unknown import certain, tried, unknown
from cute_viz.source.cpp.values import Class, Value, as_int, finished, integer
from cute_viz.values.integer import Runtime, Unknown, greatest, least
from cute_viz.values.types import COUNTS, Pointer, ValueType

RUN_TIME = words(  # cute/arch/cluster_sm90.hpp, cutlass/arch/arch.h, cutlass/cutlass.h
    "block_rank_in_cluster elect_one_sync canonical_warp_idx canonical_warp_idx_sync canonical_warp_group_idx canonical_lane_idx"
)
_Call = Callable[[Meaning, Part, tuple[Node, ...], Span], Value]


def _of_numbers(
    function: Callable[..., Any], count: int = 0, kinds: tuple[type, ...] = (int,), symbolic: Callable[..., Any] | None = None
) -> _Call:
    """A function of so many numbers, of one or more where `count` is 0; symbolic: of integers that are not known."""

    def call(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
        given = meaning.solids(args)
        values: list[Any] = list(given[0]) if len(given) == 1 and isinstance(given[0], tuple) else given
        if not values or not all(map(is_numeric, values)):
            raise meaning.fail(f"{part.name} is for numbers", span)
        if count and len(values) != count:
            raise meaning.fail(f"{part.name} takes {count} number{'s' if count > 1 else ''}, not {len(values)}", span)
        if not all(isinstance(x, (*kinds, Unknown)) for x in values):
            raise meaning.fail(f"{part.name} is for integers", span)
        unknown = next((x for x in values if isinstance(x, Unknown)), None)
        if unknown is not None:
            return unknown.applied(part.name, *values) if symbolic is None else symbolic(*values)
        result = function(*values)
        return Runtime(result) if isinstance(result, int) and any(map(is_of_run_time, values)) else result

    return call


def _origin(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    """make_inttuple_iter: the coordinate that a tensor begins at, a tuple or its entries, or an integer that counts."""
    values = tuple(meaning.solids(args))
    if len(values) != 1:
        return values
    return values[0] if isinstance(values[0], tuple) else Pointer(COUNTS, offset=values[0])


def _argument(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    if len(args) != 1:
        raise meaning.fail(f"{part.name} has one argument", span)
    return meaning.solid(args[0])


def _like(name: str) -> _Call:
    """make_tensor_like, make_fragment_like: registers of the type of a tensor, or of the one that is given."""

    def call(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
        operands = [known_part(x, []) for x in meaning.solids(args)]
        like = operands[0] if operands and isinstance(operands[0], Tensor) else None
        if like is not None:
            check_like(finished(like))
            operands[0] = like.layout  # the swizzle is the pointer's, not the layout's
        kind = meaning.argument(part.args[0]) if part.args else like.pointer.type if like is not None else None
        made = meaning.operate(name, operands)
        return Tensor(Pointer("rmem", kind), made) if like is not None or part.args else made

    return call


def _cut(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    """local_tile, local_partition: the coordinate moves the pointer alone."""
    if not 3 <= len(args) <= 4:
        raise meaning.fail(f"{part.name} takes a tensor, a tiler and a coordinate", span)
    name = "local_tile" if part.name == "inner_partition" else part.name
    lost: list[CuteVizError] = []
    tensor, tiler = meaning.solids(args[:2])
    place = index if name == "local_partition" else coordinate
    operands = [tiler, place(meaning, args[2], lost), *meaning.solids(args[3:])]
    if name == "local_partition" and isinstance(tiler, tuple):
        operands[0] = meaning.operate("make_layout", [tiler])
    projection = operands[2] if len(operands) == 3 else None
    if name == "local_tile" and isinstance(projection, tuple) and isinstance(tiler, tuple) and len(tiler) == len(projection):
        chosen, crd = [n for n, x in enumerate(projection) if x is not X], operands[1]
        if isinstance(crd, tuple) and len(crd) == len(projection):
            crd = tuple(crd[n] for n in chosen)
        operands = [tuple(tiler[n] for n in chosen), crd]
    whole = known_part(tensor, [])
    check_of_tensors(meaning, part.name, whole)
    if meaning.context.own_lines and not lost and is_layout(whole):
        return meaning.operate(name, [whole, *operands])  # which CuTe has of tensors alone: the offset is shown
    divided = None
    if lost and name == "local_partition" and isinstance(whole, Tensor):
        from cute_viz.algebra.shares import Division

        if whole.part is not None:
            raise meaning.fail("this is a thread's part already", args[0].span)
        threads = as_layout(operands[0])
        order, parted = order_of(meaning, args[2], int(size(threads))), finished(domain(whole.layout))
        if order is not None:
            which = tried(lambda: meaning.solid(args[2]), None)
            divided = Division(finished(threads), "", parted, projection, order, which)
    return cut(meaning, name, [tensor, *operands], 0, lost, divided)


def _unpinned(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    match meaning.solids(args[:1]):
        case [Tensor() as x]:
            return joined(replace(x, layout=position_independent(x.printed), pointer=replace(x.pointer, swizzle=None)))
        case [(Layout() | ComposedLayout()) as layout]:
            return position_independent(layout)
        case [value]:
            return value
    raise IndexError


def _get(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    """get<i,j...>(x): of a tuple whatever stands there."""
    places = _template(meaning, part)
    if len(args) != 1 or not places or not all(isinstance(n, int) for n in places):
        raise meaning.fail("get<i>(x) takes a position and a tuple", span)
    value = meaning.value(args[0])
    value = value if isinstance(value, tuple) else meaning.known(value, args[0].span)
    for n, place in enumerate(places):
        if not isinstance(value, tuple):
            return meaning.operate("get", [value], tuple(places[n:]))
        if not 0 <= place < len(value):
            raise meaning.fail(f"a tuple of {len(value)} has no entry {place}", span)
        value = value[place]
    return value


def _select(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    """select<i...>(x): of a composed layout a tuple of its modes, as CuTe has no other for it."""
    value, template = _argument(meaning, part, args, span), _template(meaning, part)
    if isinstance(value, ComposedLayout) and not has_origin(value):
        return tuple(meaning.operate("get", [value], (mode,)) for mode in template)
    return meaning.operate("select", [value], tuple(template))


def _template(meaning: Meaning, part: Part) -> list[Any]:
    return [meaning.argument(item) for item in part.args or ()]


def _run_time(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    """Which warp or block this is: another number for each, as `threadIdx.x` is."""
    if (key := meaning.context.let(part.name, None)) is not None:
        return meaning.given(key, as_type=False)
    hint = f"give it a value: `let={part.name}=0`"
    return unknown(meaning.fail(f"'{part.name}()' is only known when the kernel runs", span, hint, (part.name,)))


def _in_atoms(name: str) -> _Call:
    """A function of the atoms, which are loaded where one is asked for."""

    def call(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
        from cute_viz.source.cpp import atoms

        found: Value = getattr(atoms, name)(meaning, part, args, span)
        return found

    return call


def _mode(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    """tensor<i...>(x): the tensor of a mode, from the same pointer (cute/tensor_impl.hpp)."""
    value = _argument(meaning, part, args, span)
    check_of_tensors(meaning, part.name, value)
    found = meaning.operate("layout", [layout_of(value)], tuple(_template(meaning, part)))
    match value:
        case Tensor():
            return replace(value, layout=found)
        case ComposedLayout() if has_origin(value):
            return ComposedLayout(value.outer, value.offset, found)  # type: ignore[arg-type]
    return found


def _sizeof(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    """The bytes of a type, or of a value of one, or to how many it is aligned."""
    value = meaning.solid(args[0])
    match value:
        case int() if is_static(value):
            return number(1, SIZE)
        case Class() if meaning.lookup.member("size_of", value.env) is not None:  # of cutlass.hpp
            return number(integer(meaning.type_member(value, Part("size_of", None, span), span)), SIZE)
        case Class() | ValueType() if part.name == "alignof":
            return number(laid_out(meaning, value).align // 8, SIZE)
        case Class():
            return number(laid_out(meaning, value).size // 8, SIZE)
        case Tensor(pointer=Pointer(space="rmem")) if 8 % min(value.bits, 8) == 0:
            count = int(certain(size(value.layout))) * value.bits  # ArrayEngine of cute/tensor_impl.hpp
            return number(-(-count // 128) * 16 if value.bits % 8 == 0 else -(-count // 8), SIZE)
    return number(max(1, bits(value) // 8), SIZE)


def _count(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    match meaning.value(args[0]):
        case tuple(value):
            return Runtime(len(value))
    raise meaning.fail("this is not a pack", span)


def _chosen(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    tests = part.args or args[:1]
    values = args[-2:]
    if len(values) != 2 or len(tests) != 1:
        raise meaning.fail("conditional_return takes a condition and two values", span)
    return meaning.value(values[0] if meaning.truth(tests[0]) else values[1])


def _declval(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    if not part.args:
        raise meaning.fail("declval takes a type", span)
    return meaning.argument(part.args[0])


def _shape_like(meaning: Meaning, part: Part, args: tuple[Node, ...], span: Span) -> Value:
    template = tuple(_template(meaning, part))
    values = meaning.solids(args)
    if part.name == "shape" and len(values) == 1 and isinstance(values[0], tuple) and not template:
        return values[0]
    return meaning.operate(part.name, values, template)


CALLS: dict[str, _Call] = {
    **dict.fromkeys(
        (*MAKE_TUPLES, "tuple", "make_pair", "ArithTuple"), lambda meaning, part, args, span: tuple(meaning.solids(args))
    ),
    **dict.fromkeys(("make_inttuple_iter", "ArithmeticTupleIterator"), _origin),
    **dict.fromkeys((*PRINTERS, "as_value", "move", "forward", "make_sparse_ptr"), _argument),
    **dict.fromkeys(
        words(
            "make_smem_ptr make_gmem_ptr make_rmem_ptr make_tmem_ptr recast_ptr raw_pointer_cast subbyte_iterator "
            "cast_smem_ptr_to_uint get_scalar_ptr counting_iterator make_counting_iterator"
        ),
        pointer,
    ),
    "make_tensor": tensor,
    "make_tensor_like": _like("make_layout_like"),
    "make_fragment_like": _like("make_fragment_like"),
    "make_rmem_tensor": tensor,
    "recast": recast,
    **dict.fromkeys(("as_position_independent_swizzle_tensor", "as_position_independent_swizzle_layout"), _unpinned),
    "local_tile": _cut,
    "local_partition": _cut,
    "inner_partition": _cut,
    "outer_partition": _cut,
    "get_slice": lambda meaning, part, args, span: sliced(meaning, meaning.solid(args[0]), args[1]),
    "get": _get,
    "select": _select,
    "shape": _shape_like,
    "min": _of_numbers(lambda *x: min(x), kinds=(int, float), symbolic=lambda *x: reduce(least, x)),
    "max": _of_numbers(lambda *x: max(x), kinds=(int, float), symbolic=lambda *x: reduce(greatest, x)),
    "gcd": _of_numbers(lambda *x: gcd(*map(int, x))),
    "lcm": _of_numbers(lambda *x: lcm(*map(int, x))),
    "abs": _of_numbers(abs, 1, (int, float)),
    **dict.fromkeys(("log_2", "log2", "ilog2"), _of_numbers(lambda x: max(int(x).bit_length() - 1, 0), 1)),
    "bit_width": _of_numbers(lambda x: int(x).bit_length(), 1),
    "bits_to_bytes": _of_numbers(lambda x: -(-int(x) // 8), 1),
    "bytes_to_bits": _of_numbers(lambda x: int(x) * 8, 1, symbolic=lambda x: x * 8),
    **dict.fromkeys(("ss_op_selector", "rs_op_selector"), _in_atoms("op_selector")),
    "make_tiled_mma": _in_atoms("tiled_mma_of"),
    "convert_to_gmma_rs": _in_atoms("register_sourced"),
    **dict.fromkeys(RUN_TIME, _run_time),
    "tma_partition": tma_partition,
    "tmem_load_to_store": lambda meaning, part, args, span: tmem_store_of(meaning, meaning.solids(args), span),
    "CUTE_STATIC_V": lambda meaning, part, args, span: as_int(certain(_argument(meaning, part, args, span))),
    "cute_viz_check": check,
    "cute_viz_is_plain_fusion": is_plain_fusion,
    "sizeof": _sizeof,
    "tensor": _mode,
    "sizeof...": _count,
    "alignof": _sizeof,
    "conditional_return": _chosen,
    **HIGHER,
    "declval": _declval,
    "make_copy_atom": _in_atoms("copy_atom"),
}
