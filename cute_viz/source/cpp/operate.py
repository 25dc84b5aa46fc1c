"""An operation of the registry on the values of the reader: what it takes of tensors, and the result as the reader has it;
and the operation that an expression is, with the values of its operands: a call of CuTe's, a method, a slice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cute_viz.algebra import ops
from cute_viz.algebra.common import Operation
from cute_viz.algebra.composed import AnyLayout, ComposedLayout, PointerFlag, has_origin
from cute_viz.algebra.doubts import doubt
from cute_viz.algebra.inttuple import has_underscore, leaves, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.operands import VIEWS, check_named, is_mixed
from cute_viz.algebra.ops import OPS, TENSORS
from cute_viz.algebra.static import as_in_dsl, counting, each_integer, unknowns, with_origin
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.tensor import Tensor, make_tensor
from cute_viz.errors import AlgebraError, CuteVizError, NotationError
from cute_viz.notation.values import PRINTERS, composed, ungroup
from cute_viz.source.cpp.cutlass import SCALES
from cute_viz.source.cpp.lookup import Meaning
from cute_viz.source.cpp.members import check_of_layouts, check_of_tensors
from cute_viz.source.cpp.numbers import common, kind_of, number
from cute_viz.source.cpp.slices import is_layout, joined, known_part, layout_of, shaped, split, viewed
from cute_viz.source.cpp.tree import Binary, CppCall, Decltype, Id, Literal, Member, Node, Unary, Written
from cute_viz.source.cpp.unknown import unknown
from cute_viz.source.cpp.values import Enumerator, External, Thread, Value, finished, integer, static, taken
from cute_viz.values.instruction import MOVES
from cute_viz.values.integer import Runtime, Static
from cute_viz.values.marks import INT


def written(meaning: Meaning, node: Written) -> Value:
    """The value of such a literal."""
    if node.kind == "tuple":
        return tuple(_item(meaning, item) for item in node.items)
    if node.kind == "pointer":
        return PointerFlag(integer(meaning.solid(node.items[0])))
    if node.kind == "comma":
        # what C++'s comma gives, which is seldom meant
        value = meaning.solid(node.items[-1])
        if meaning.context.warnings is not None:
            text = "".join(meaning.text[node.span.start : node.span.end].split())
            meaning.context.warnings.append(f"{text} is {show(finished(value))}, as C++ reads a comma")
        return value
    if node.kind == "pair":
        return Layout(*(_item(meaning, item) for item in node.items))
    first = node.items[0]
    of_tensor = node.kind == "composition" and isinstance(first, Written) and first.kind == "pointer"
    values: list[Any] = list(map(meaning.solid, node.items[of_tensor:]))  # whose layout is what counts
    match node.kind:
        case "ratio":
            return _ratio(values, meaning, node)
        case "at":
            return Basis(values[0], tuple(reversed(values[1:])))
        case "composition":
            begins = first.called == "ArithTuple"  # a tensor of coordinates
            layout: Value = composed(values[begins:], lambda a, b: meaning.operate("composition", [a, b]))
            return with_origin(values[0], layout, tensor=True) if begins else layout  # type: ignore[arg-type]
    return meaning.operate(node.kind, values)


def _item(meaning: Meaning, node: Node) -> Any:
    value = meaning.solid(node)
    known = meaning.context.own_lines and not meaning.context.of_gmem
    if known and isinstance(value, Runtime) and _is_constant(node):  # what is given for a name need not be
        return int(value)
    return value


def _is_constant(node: Node) -> bool:
    """Whether nothing but numbers stands in an expression."""
    return isinstance(node, Literal) or (isinstance(node, (Unary, Binary)) and all(map(_is_constant, node.children())))


def _ratio(values: list[Any], meaning: Meaning, node: Written) -> Value:
    from fractions import Fraction

    if not values[1]:
        raise meaning.fail("a ratio needs a positive denominator", node.span, hint="example: 1/2@0")
    value = Fraction(*map(int, values))
    return value if value.denominator != 1 else Runtime(value.numerator)


DESCRIPTORS = ("make_gmma_desc", "make_umma_desc")  # keep the layout that they describe, which other rooms show
# Operations that make tensors of coordinates.
_COMPUTED = frozenset(("size", "product", "cosize", "ceil_div", "round_up"))  # of integers, in their type
COUNTING = frozenset(("make_identity_tensor", "get_tma_tensor"))


def operated(meaning: Meaning, name: str, operands: list[Value], template: tuple[Value, ...] = ()) -> Value:
    """The result of an operation of the registry."""
    for operand in operands:
        if isinstance(operand, External):
            raise operand.error or AlgebraError(f"{operand.name!r} is not defined in this file")
    operands = [as_word(shaped(name, operand)) for operand in operands]
    template = tuple(str(x).lower() if isinstance(x, bool) else as_word(x) for x in template)
    short = ops.ALIASES.get(name, name)
    if short not in ops.OPS and meaning.context.own_lines:
        ops.find(name)  # Raises: what there is instead
    if short not in ops.OPS:
        raise NotationError(f"{name!r} is not defined in this file")
    check_named(list(operands), ops.OPS[short].kinds, meaning.context.free)
    check_of_layouts(name, ops.OPS[short].kinds, operands)
    if name == "group_modes":
        check_of_tensors(meaning, name, operands[0])
    if short == "rank" and not template and len(operands) == 1 and isinstance(operands[0], tuple):  # of layouts, too
        return len(operands[0])
    if short.startswith("deduce_"):  # a template argument of CUTLASS's, which has no such function
        operands = [static(x) for x in operands]
    if short == "make_layout" and meaning.context.types and operands and isinstance(operands[0], tuple):
        operands[0] = _later(operands[0])
    of_map = short.startswith("make_") and "_tma_" in short  # a tensor map follows from what is static
    if short in ("layout", "stride") and operands and has_origin(operands[0]):  # of a tensor of coordinates
        operands[0] = operands[0].inner  # type: ignore[union-attr]
    plain: list[Any] = [layout_of(operand) for operand in operands]
    values = plain
    try:
        with as_in_dsl(False):
            if of_map and len(plain) > 2:
                from cute_viz.algebra.tma import check_static

                check_static(short, plain[2])
            if of_map or of_tensors(short):
                values = [_behind(t, x) if isinstance(t, Tensor) else x for x, t in zip(plain, operands, strict=True)]
                values = list(finished(tuple(values))) if of_map or short in DESCRIPTORS else values
            out = ops.OPS[short].call(values, template)
    except CuteVizError as error:
        needs = (*(name for x in unknowns(tuple(plain)) for name in x.error().needs), *error.needs)
        raise error.but(needs=tuple(dict.fromkeys(needs))) if error.needs else error from None
    # C++'s true and false are CuTe's true_type and false_type
    found: Any = int(out) if isinstance(out, bool) else ungroup(taken(out) if is_mixed(plain) else out)
    if not (of_map or short in DESCRIPTORS):
        found = _sized(short, found, plain)
    if meaning.context.warnings is not None and len(plain) == 2:
        meaning.context.warnings += filter(None, [doubt(short, list(finished(tuple(plain))), finished(found))])
    if name in COUNTING:
        return _numbers(counting(found))
    if isinstance(found, Tensor):
        return joined(found)
    of = next((operand for operand in operands if is_layout(layout_of(operand))), None)
    return viewed(of, found, []) if short in VIEWS and isinstance(of, Tensor) else found


def _sized(name: str, found: Value, operands: list[Value]) -> Value:
    """A result in the type that C++ computes it in. Raises: AlgebraError for an integer that does not fit: compilers differ in
    whether it is static then, and in its value."""
    if not isinstance(found, (int, tuple, Layout, ComposedLayout)):
        return found
    kind = INT

    def wider(n: int) -> int:
        nonlocal kind
        kind = common(kind, kind_of(n))
        return n

    def fitting(n: int) -> int:
        if not -(1 << 31) <= n < 1 << 31 and kind == INT:
            each_integer(wider, tuple(operands))
        if number(n, kind) != n:
            raise AlgebraError(f"{n} overflows an int of {kind[0]} bits, which C++ leaves undefined")
        return n

    each_integer(fitting, found)
    if name in _COMPUTED and isinstance(found, Runtime):
        each_integer(wider, tuple(operands))
        return number(found, kind)
    return found


def _later(shape: Value, part: str = "") -> Value:
    """The shape of what `decltype` asks the type of: an extent that is a run-time 0 stands for what it is later."""
    if isinstance(shape, tuple):
        return tuple(_later(item, f"{part}.{n}") for n, item in enumerate(shape))
    if isinstance(shape, Runtime) and shape == 0:
        return unknown(NotationError("an extent of 0 in a type means that it is only known at run time"), part=part)
    return shape


def of_tensors(name: str) -> bool:
    """Whether an operation looks at what the pointer of a tensor points to; of others the layout counts."""
    return name in ("max_common_vector", "max_common_layout") or (name in OPS and bool(TENSORS.intersection(OPS[name].kinds)))


def _behind(tensor: Tensor, layout: Value) -> Tensor:
    """A layout behind the pointer of a tensor; one of a host's is in global memory where nobody says it."""
    where = tensor.pointer if tensor.pointer.space else replace(tensor.pointer, space="gmem")
    return replace(tensor, pointer=where, layout=layout) if isinstance(layout, Layout) else make_tensor(where, layout)


def _numbers(found: AnyLayout) -> Value:
    """A tensor of coordinates with integers as they are here; beside strides with a mark one without follows a run-time step."""

    def unmarked(x: Any) -> Any:
        return each_integer(lambda n: int(n) if isinstance(n, Static) else n, x)

    if not isinstance(found, ComposedLayout) or not isinstance(found.inner, Layout):
        return unmarked(found)  # type: ignore[no-any-return]
    if not any(type(getattr(step, "value", step)) is Static for step in leaves(found.inner.stride)):
        return unmarked(found)  # type: ignore[no-any-return]
    steps = each_integer(lambda n: int(n) if isinstance(n, Static) else Runtime(n), found.inner.stride)
    return ComposedLayout(unmarked(found.outer), unmarked(found.offset), Layout(unmarked(found.inner.shape), steps))


def as_word(value: Value) -> Value:
    """An enumerator of CuTe's, such as GMMA::Major::K or UMMA::Saturate::False, as operations take it."""
    if isinstance(value, External) and value.args is None and value.name.count("::") >= 2:
        return "::".join(value.name.split("::")[-3:])
    return value.word if isinstance(value, Enumerator) else value


_METHODS = {"tile": "logical_divide", "with_shape": "composition", "compose": "composition"}


def operations(meaning: Meaning, tree: Node) -> tuple[Operation, ...]:
    """The operation that a tree is, behind those whose result it slices: `thr.partition_C(g)(_,0,0)`; none of anything else.
    Raises: the error of an operand that is not known."""
    match tree:
        case Decltype(parts=()):
            return operations(meaning, tree.value)
        case CppCall(function=Member() as method):
            return _method(meaning, method, tree)
    if not isinstance(tree, CppCall):
        return ()
    function = tree.function
    if isinstance(function, Id):
        found = meaning.lookup.find(function.parts[0].name, meaning.env, meaning.position(tree.span))
        name = function.parts[-1].name
        if name in SCALES and len(function.parts) > 1 and _is_operation(name):  # of a configuration of scale factors
            owner = meaning.value(Id(function.span, function.parts[:-1]))
            return (_operation(name, meaning.arguments(tree.args), tuple(getattr(owner, "args", None) or ())),)
        if found is None or (len(function.parts) > 1 and function.parts[0].name == "cute"):
            # a call of what the file does not define; what is printed is what is meant
            last = function.parts[-1]
            if last.name in PRINTERS and len(tree.args) == 1:
                return operations(meaning, tree.args[0])
            if not tree.args or not (_is_operation(last.name) or last.name in MOVES):
                return ()
            template = tuple(as_word(meaning.argument(item)) for item in last.args or ())
            return (_operation(last.name, meaning.arguments(tree.args), template),)
    # a tensor or a layout at a coordinate with `_`
    value = known_part(meaning.value(function), [])
    if not is_layout(layout_of(value)):
        return ()
    at = tuple(_given(x, "slice") for x in meaning.arguments(tree.args))
    if not has_underscore(at):
        return ()
    return (*operations(meaning, function), Operation("slice", (at[0] if len(at) == 1 else at, _given(value, "slice"))))


def _method(meaning: Meaning, function: Member, tree: CppCall) -> tuple[Operation, ...]:
    """`thr.partition_S(s)`, `tiled.get_slice(i)`, `layout.compose(b)`."""
    name = _METHODS.get(function.part.name, function.part.name)
    if not _is_operation(name) or not tree.args:
        return ()
    operands = [meaning.solid(function.object), *meaning.arguments(tree.args)]
    if is_layout(layout_of(operands[0])) and function.part.name not in _METHODS:
        return ()  # `layout.shape<0>()`: a member
    template = tuple(as_word(meaning.argument(item)) for item in function.part.args or ())
    return (_operation(name, operands, template),)


def _operation(name: str, operands: list[Value], template: tuple[Value, ...]) -> Operation:
    return Operation(name, tuple(_given(x, name) for x in operands), template)


def _given(value: Value, name: str) -> Value:
    """A value as an operation is given it: of a thread that nobody knows its view, an integer that nobody knows as it is."""
    if isinstance(value, Thread):
        tiled = getattr(value.view, "tiled", None)
        if tiled is not None:
            from cute_viz.algebra.views import get_slice

            view: Value = get_slice(finished(tiled), unknown(value.error))  # type: ignore[arg-type]
            return view
        value = value.view
    if isinstance(value, Tensor):
        value = split(value) if name in MOVES or of_tensors(name) or "_tma_" in name else value.printed
    kept: Value = each_integer(_kept, value)
    return kept


def _kept(n: int) -> int:
    """An integer with its mark: what C++ knows when it runs is a Runtime, too."""
    return n if isinstance(n, Runtime) else Static(n)


def _is_operation(name: str) -> bool:
    return name in ops.OPS or name in ops.ALIASES
