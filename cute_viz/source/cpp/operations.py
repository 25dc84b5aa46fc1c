"""The operation that an expression is, with the values of its operands: a call of CuTe's, a method, a slice."""

from __future__ import annotations

from cute_viz.algebra import ops
from cute_viz.algebra.common import Operation
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import Underscore, leaves
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.static import each_integer
from cute_viz.algebra.tensor import Tensor
from cute_viz.notation.values import PRINTERS
from cute_viz.source.cpp.cutlass import SCALES
from cute_viz.source.cpp.operate import as_word, of_tensors
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.slices import split
from cute_viz.source.cpp.tree import Call, Decltype, Id, Member, Node
from cute_viz.source.cpp.unknown import unknown
from cute_viz.source.cpp.values import Thread, Value, finished
from cute_viz.values.instruction import MOVES
from cute_viz.values.integer import Runtime, Static

_METHODS = {"tile": "logical_divide", "with_shape": "composition", "compose": "composition"}
_LAYOUTS = (Layout, ComposedLayout)


def operations(meaning: Meaning, tree: Node) -> tuple[Operation, ...]:
    """The operation that a tree is, behind those whose result it slices: `thr.partition_C(g)(_,0,0)`; none of anything else.
    Raises: the error of an operand that is not known.
    """
    while isinstance(tree, Decltype) and not tree.parts:
        tree = tree.value
    if not isinstance(tree, Call):
        return ()
    function = tree.function
    if isinstance(function, Member):
        return _method(meaning, function, tree)
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
    value = meaning.value(function)
    if isinstance(value, Thread) and isinstance(value.view, (*_LAYOUTS, Tensor)):
        value = value.view
    if not isinstance(value, (*_LAYOUTS, Tensor)):
        return ()
    at = tuple(_given(x, "slice") for x in meaning.arguments(tree.args))
    if not any(isinstance(leaf, Underscore) for leaf in leaves(at)):
        return ()
    return (*operations(meaning, function), Operation("slice", (at[0] if len(at) == 1 else at, _given(value, "slice"))))


def _method(meaning: Meaning, function: Member, tree: Call) -> tuple[Operation, ...]:
    """`thr.partition_S(s)`, `tiled.get_slice(i)`, `layout.compose(b)`."""
    name = _METHODS.get(function.part.name, function.part.name)
    if not _is_operation(name) or not tree.args:
        return ()
    operands = [meaning.solid(function.object), *meaning.arguments(tree.args)]
    if isinstance(operands[0], (*_LAYOUTS, Tensor)) and function.part.name not in _METHODS:
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
