"""What a value is: drawable, static as it was written, how large; and what is notation: swizzles, E<...>, `a o b o c`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.composed import (
    ComposedLayout,
    PointerFlag,
    as_layout,
    has_origin,
    is_layout,
    make_composed_layout,
    takes_coordinate,
)
from cute_viz.algebra.inttuple import X, is_int_tuple, leaves, show
from cute_viz.algebra.layout import Layout, flat_modes, is_coordinate_layout, printed_value
from cute_viz.algebra.static import with_origin
from cute_viz.algebra.stride import F2, Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor, check_like
from cute_viz.errors import AlgebraError, Span
from cute_viz.limits import limit, over
from cute_viz.notation.syntax import Call, Chain, Pair, Sequence, short
from cute_viz.values.integer import Unknown, is_integer
from cute_viz.values.types import Pointer

if TYPE_CHECKING:
    from cute_viz.notation.evaluate import Evaluator


SWIZZLES = ("Sw", "S", "Swizzle")
PRINTERS = ("print", "print_layout", "print_latex", "print_tensor", "print_svg")
_MAJORS = {"LayoutLeft": "LayoutLeft", "LayoutRight": "LayoutRight", "GenColMajor": "LayoutLeft", "GenRowMajor": "LayoutRight"}
_CONSTANTS = {"X": X, "Underscore": X, "smem_ptr_flag": PointerFlag(1)}
CONSTANTS = (*_MAJORS, *_CONSTANTS)


def form_call(evaluator: Evaluator, node: Call) -> object:
    """The value of a call that is notation; None for another call."""
    name = short(node.name)
    form = _FORMS.get(name)
    return None if form is None else form(evaluator, node)


def constant(name: str) -> Any:
    """What a name in CONSTANTS stands for: a major order, a mode that is left alone, the flag of a pointer to bits."""
    from cute_viz.algebra import construct

    return getattr(construct, _MAJORS[name]) if name in _MAJORS else _CONSTANTS[name]


def _swizzle(evaluator: Evaluator, node: Call) -> Any:
    """`Sw<3,4,3>`, and its value at an offset, `Sw<3,4,3>(8)`; of two numbers, the shift is B."""
    if not node.template:
        return None
    numbers = [evaluator.value(item) for item in node.template]
    if len(numbers) == 2:
        numbers.append(numbers[0])
    if len(numbers) != 3 or not all(isinstance(n, int) for n in numbers):
        raise evaluator.fail("a swizzle takes three integers", node.span, hint="Sw<B,M,S>, for example Sw<3,3,3>")
    swizzle = Swizzle(*map(int, numbers))
    if len(node.args or ()) > 1:
        raise evaluator.fail("a swizzle takes one offset", node.span, hint=f"example: {swizzle}(8)")
    return swizzle(*map(evaluator.value, node.args)) if node.args else swizzle


def _make_tuple(evaluator: Evaluator, node: Call) -> object:
    """`ArithTuple(4,8)`, where a tensor of coordinates begins; `ArithTuple_0`, one of integers."""
    if node.template and node.args:
        return evaluator.value(node.args[0])
    return None if node.args is None else tuple(map(evaluator.value, node.args))


def _argument(evaluator: Evaluator, node: Call) -> object:
    return evaluator.value(node.args[0]) if node.args and len(node.args) == 1 else None


def _owning(evaluator: Evaluator, node: Call) -> object:
    """make_fragment_like(tensor): registers, whose extents C++ must know when the kernel is compiled."""
    if node.args is None or len(node.args) != 1:
        return None
    from cute_viz.algebra import ops

    given = evaluator.value(node.args[0])
    check_like(given)
    if not isinstance(given, Tensor) or given.swizzle is not None:
        return None
    layout = evaluator.operate(ops.find(short(node.name)), [given.layout])
    return Tensor(Pointer("rmem", given.pointer.type), layout) if isinstance(layout, Layout) else layout


def _tensor_type(evaluator: Evaluator, node: Call) -> object:
    """`tensor<(4,8) o layout>`, the DSL's print of a tensor of coordinates with its origin; another tensor is its layout."""
    if len(node.template) != 1 or node.args is not None or not isinstance(node.template[0], (Chain, Pair)):
        return None
    inside = node.template[0]
    if isinstance(inside, Chain) and isinstance(inside.items[0], Sequence) and inside.items[0].bracket == "(":
        rest = inside.items[1:]
        layout = evaluator.value(rest[0] if len(rest) == 1 else Chain(rest[0].span | rest[-1].span, rest))
        return with_origin(evaluator.value(inside.items[0]), layout)
    return evaluator.value(inside)


def _basis(evaluator: Evaluator, node: Call) -> object:
    """`E<0,1>{}`: a unit basis element."""
    path = tuple(map(evaluator.value, node.template or node.args or ()))
    return Basis(1, _positions(evaluator, node, path[0] if len(path) == 1 else path))


def _positions(evaluator: Evaluator, node: Call, path: object) -> tuple[int, ...]:
    """A path of a basis element: one position, or a tuple of them; as far as `@` goes, for a coordinate is a tuple of so many."""
    path = path if isinstance(path, tuple) else (path,)
    if not all(isinstance(i, int) and 0 <= i < 64 for i in path):
        raise evaluator.fail("E<i,j...> takes positions of modes, 0 to 63", node.span)
    return tuple(map(int, path))


def _scaled_basis(evaluator: Evaluator, node: Call) -> object:
    """`ScaledBasis(2, (0, 1))` of the DSL."""
    if len(node.args or ()) != 2:
        return None
    scale, path = map(evaluator.value, node.args or ())
    if not isinstance(scale, int):
        raise evaluator.fail(
            "ScaledBasis takes an integer and the positions of modes", node.span, hint="example: ScaledBasis(2, (1,))"
        )
    return Basis(scale, _positions(evaluator, node, path))


_FORMS: dict[str, Callable[[Evaluator, Call], Any]] = {
    **dict.fromkeys(SWIZZLES, _swizzle),
    "ArithTuple": _make_tuple,
    **dict.fromkeys(PRINTERS, _argument),
    **dict.fromkeys(CONSTANTS, lambda evaluator, node: constant(short(node.name))),
    "make_fragment_like": _owning,
    "make_tensor_like": _owning,
    "tensor": _tensor_type,
    "E": _basis,
    "ScaledBasis": _scaled_basis,
}


def is_drawable(value: object) -> bool:
    """Whether a value is more than a number or a word: something to draw."""
    return isinstance(value, (tuple, Layout, ComposedLayout, Swizzle, Tensor)) or bool(getattr(value, "tiling", ""))


def drawn(value: object) -> Any:
    """What a reader means by a value: of a tensor its layout, but where the memory is part of the picture."""
    return value.whole if isinstance(value, Tensor) and value.pointer.space != "tmem" else value


def check_size(value: object, text: str, span: Span) -> None:
    """Refuse an object at a place that is over the limits: names that are used twice, again and again, would make objects larger
    than any memory out of a few lines. Raises: LimitError."""
    most, count, bits = limit("modes"), 0, 0
    for leaf in magnitudes(value):
        count, bits = count + 1, bits + leaf
        if count > most:
            raise over("modes", "too many integers in one object", text=text, span=span)
    longest = 2 * limit("digits")  # of sizes and offsets, which stay printable so
    if bits * 3 // 10 > longest:
        raise over("digits", f"integers of {bits * 3 // 10} digits together", most=longest, text=text, span=span)


def magnitudes(value: object) -> Iterator[int]:
    """The bits of every integer of an object: of each mode, its extent and stride together."""
    match value:
        case int():
            yield value.bit_length()
        case tuple():
            for item in value:
                yield from magnitudes(item)
        case Layout():
            for extent, stride in flat_modes(value):
                yield extent.bit_length() + sum(magnitudes(stride))
        case Tensor():
            yield from magnitudes(value.layout)
        case ComposedLayout(_, offset, inner):
            yield from magnitudes(inner)
            yield from magnitudes(offset)
        case Basis(step) | F2(step):
            yield step.bit_length() if is_integer(step) else int(step).bit_length()
        case _:
            yield 0


def ungroup(value: object) -> object:
    """A layout in parentheses is the layout (a tuple of one layout means a tiler only as an argument)."""
    if isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], (Layout, ComposedLayout, Swizzle)):
        return value[0]
    return value


def called(function: Any, args: tuple[Any, ...]) -> Any:
    """The value of a swizzle at an offset, or of a layout at a coordinate; a slice where the coordinate has `_`. Raises:
    AlgebraError for what takes no coordinate, and for none."""
    if isinstance(function, Swizzle):
        if len(args) != 1 or not isinstance(args[0], int):
            raise AlgebraError(f"{function} takes one integer")
        return function(args[0])
    if (isinstance(function, Tensor) or hasattr(function, "first")) and args:  # a tensor, or a fragment of descriptors
        return function(*args)
    if not is_layout(function):
        raise AlgebraError(f"{show(function)} is not a layout that a coordinate could be given to")
    if not args:
        raise AlgebraError("a layout is called with a coordinate", hint="example: (2,3), or (2,_) for a slice")
    if isinstance(function, Layout) and is_coordinate_layout(function) and not any(leaf is X for leaf in leaves(args)):
        return printed_value(args[0] if len(args) == 1 else args, function)
    if has_origin(function) and any(leaf is X for leaf in leaves(args)):
        from cute_viz.algebra import ops

        return ops.find("slice").call([args[0] if len(args) == 1 else args, function])
    return function(*args)


def composed(items: list[object], compose: Callable[[Any, Any], object]) -> Any:
    """`outer o offset o inner` is a composed layout; `a o b` is what `compose` makes of them."""
    if len(items) == 1:
        return as_layout(items[0])
    for n in range(1, len(items) - 1):
        if _is_offset(items[n - 1], items[n], items[n + 1]):
            return make_composed_layout(composed(items[:n], compose), items[n], composed(items[n + 1 :], compose))
    out = ungroup(items[0])
    for item in items[1:]:
        out = compose(out, item)
    return out


def _is_offset(before: object, value: object, following: object) -> bool:
    """Whether the middle of `before o value o following` is an offset rather than a layout."""
    if isinstance(value, (int, PointerFlag, Unknown)):
        return True
    return isinstance(value, tuple) and is_int_tuple(value) and takes_coordinate(ungroup(before), ungroup(following))
