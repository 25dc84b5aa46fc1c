"""Syntax tree -> object: numbers and tuples become values, names and calls go to the registry of operations."""

from __future__ import annotations

from operator import add, mul, sub
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, PointerFlag, make_composed_layout
from cute_viz.algebra.inttuple import X, div_rem, is_int_tuple, leaves, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import MEMBERS, member
from cute_viz.algebra.static import each_integer, mark_static, unknowns, with_origin
from cute_viz.algebra.stride import F2, Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import AlgebraError, CuteVizError, NotationError, Span
from cute_viz.limits import limit, over
from cute_viz.notation.syntax import (
    Apply,
    Arith,
    At,
    Blank,
    Call,
    Chain,
    FlaggedPointer,
    Infix,
    Item,
    Name,
    Node,
    Number,
    Pair,
    Passage,
    Ratio,
    Sequence,
    check_congruent,
    is_atom_name,
    short,
    source,
    without_parentheses,
)
from cute_viz.notation.values import CONSTANTS, called, check_size, composed, constant, form_call, ungroup
from cute_viz.values.integer import Runtime, Static, Unknown, is_static
from cute_viz.values.types import ValueType, named


class Failed:
    """The value of a name whose statement failed, or that was lost: using it raises the error."""

    __slots__ = ("error",)

    def __init__(self, error: CuteVizError) -> None:
        self.error = error


class Evaluator:
    """Values of nodes, with the text for errors and the names that are bound."""

    def __init__(self, source: Passage) -> None:
        self.source = source
        self.text, self.names, self.warnings, _, self.resolve, *_ = source
        self.free: list[str] | None = None  # names without a value, where they are run-time integers

    def fail(self, message: str, span: Span, hint: str | None = None) -> NotationError:
        """The error at a place in the text; the caller raises it."""
        return NotationError(message, text=self.text, span=span, hint=hint)

    def value(self, node: Node) -> Any:
        """The value of a node; an error of the algebra gets the node's place."""
        try:
            value = getattr(self, type(node).__name__.lower())(node)
        except CuteVizError as error:
            raise error.at(self.text, node.span) from None
        check_size(value, self.text, node.span)
        return value

    def number(self, node: Number) -> int:
        """`8`; of a static one, `_8`, an integer that prints so."""
        return Static(node.value) if node.static else node.value

    def ratio(self, node: Ratio) -> Any:
        """`1/2` of a basis element's stride: a fraction, or the integer it equals."""
        from fractions import Fraction

        from cute_viz.algebra.stride import StaticRatio

        value = (StaticRatio if node.static else Fraction)(node.numerator, node.denominator)
        if value.denominator != 1:
            return value
        return Static(value) if node.static else int(value)

    def blank(self, node: Blank) -> object:
        """`_`: a mode that stays whole."""
        return X

    def at(self, node: At) -> Basis:
        """`1@0@1`: a basis element; written, its last position is the outermost."""
        return Basis(self.value(node.value), tuple(reversed(node.path)))

    def flaggedpointer(self, node: FlaggedPointer) -> PointerFlag:
        """`smem_ptr[16b](unset)`: the width of what is pointed to is all that counts."""
        return PointerFlag(node.bits, sparsity=node.sparsity)

    def arith(self, node: Arith) -> object:
        """Integer arithmetic; of static integers a static one, as of CuTe's integral constants."""
        a, b = self.value(node.left), self.value(node.right)
        if isinstance(a, (int, Basis, Unknown)) and isinstance(b, (int, Basis, Unknown)) and Unknown in (type(a), type(b)):
            if (compute := {"+": add, "-": sub, "*": mul}.get(node.operator)) is None:
                raise next(x for x in (a, b) if isinstance(x, Unknown)).error()
            return compute(a, b)
        if not isinstance(a, int) or not isinstance(b, int):
            if node.operator == "*" and isinstance(a, Basis) and isinstance(b, int):
                return a * b
            if node.operator == "*" and isinstance(a, int) and isinstance(b, Basis):
                return a * b
            raise self.fail(
                f"'{node.operator}' is for integers", node.span, hint="shapes are changed by operations, for example ceil_div"
            )
        if node.operator in ("/", "%", "//", "mod") and b == 0:
            raise self.fail("division by zero", node.right.span)
        if node.operator == "*" and (a.bit_length() + b.bit_length()) > 4096:
            raise self.fail("this product is too large", node.span)
        if node.operator in ("//", "mod"):  # Python's, which round down
            result = a // b if node.operator == "//" else a % b
        else:
            quotient, rest = div_rem(a, b) if node.operator in "/%" else (0, 0)
            result = {"+": a + b, "-": a - b, "*": a * b, "/": quotient, "%": rest}[node.operator]
        static = is_static(a) and (is_static(b) or node.right.span == node.left.span)
        return Static(result) if static else int(result)

    def item(self, node: Item) -> Any:
        """Python's `x[i]`: an entry, a mode, or with `_` a slice."""
        value, index = self.value(node.value), self.value(node.index)
        if isinstance(value, tuple):
            if not isinstance(index, int) or not -len(value) <= index < len(value):
                raise self.fail(f"a tuple of {len(value)} has no entry {show(index)}", node.index.span)
            return value[index]
        if isinstance(value, Layout) and isinstance(index, int):
            from cute_viz.algebra.modes import get

            return get(value, index)
        return called(value, (index,))

    def sequence(self, node: Sequence) -> object:
        """`(4,(2,2))`: a tuple; parentheses around one call, one `a o b` or one `a + b` only group."""
        inside = without_parentheses(node)
        return self._tuple(node) if inside is node else self.value(inside)

    def _tuple(self, node: Node) -> Any:
        if not isinstance(node, Sequence) or without_parentheses(node) is not node:
            return self.value(node)
        return tuple(map(self._tuple, node.items))

    def pair(self, node: Pair) -> Layout:
        """`shape:stride`: a layout. Raises: NotationError for parts of different nesting, shapes and strides of something else
        than numbers."""
        check_congruent(self.text, node.shape, node.stride)
        shape, stride = self._tuple(node.shape), self._tuple(node.stride)
        if not is_int_tuple(shape):
            raise self.fail("a shape must be an integer or a tuple of integers", node.shape.span)
        for leaf in leaves(stride):
            if leaf is X or isinstance(leaf, (Layout, ComposedLayout, Swizzle, PointerFlag)):
                raise self.fail(
                    "a stride must be an integer, a basis element, for example 1@0, or a tuple of these", node.stride.span
                )
        try:
            return Layout(shape, stride)
        except AlgebraError as error:
            raise error.at(self.text, node.shape.span) from None

    def name(self, node: Name) -> Any:
        """`A`: what was bound; else LayoutLeft and the like, an atom, a value type, `A.shape`, an XOR stride `F8`. `?`: a
        run-time value, or the number that was given for it. Raises: NotationError for a name that means nothing."""
        if node.text[0] == "?":
            # `?`, a run-time value of a print: the number that was given for it, the next of several, or unknown
            if "?" not in self.names:
                return Unknown(node.text, self.text, node.span)
            numbers = list(leaves(self.names["?"]))
            nth = self.text.count("?", 0, node.span.start)
            if len(numbers) == 1:
                return numbers[0]
            if nth >= len(numbers):
                raise self.fail(f"{len(numbers)} numbers were given for '?', and this is number {nth + 1}", node.span)
            return numbers[nth]
        if node.text in self.names:
            return self._bound(node.text)
        if short(node.text) in CONSTANTS:
            return constant(short(node.text))
        if self.resolve is not None and is_atom_name(short(node.text)) and (atom := self.resolve(node.text, ())) is not None:
            return atom
        if named(node.text) is not None:
            return ValueType(node.text)
        head, _, attribute = node.text.rpartition(".")
        if head in self.names:  # `layout.shape`
            return self._method(attribute, self._bound(head), (), ())
        if node.text[0] == "F" and node.text[1:].isdecimal():
            if len(node.text) > limit("digits"):
                raise over("digits", f"an XOR stride of {len(node.text) - 1} digits", text=self.text, span=node.span)
            return F2(int(node.text[1:]))
        if self.resolve is not None and (atom := self.resolve(node.text, ())) is not None:  # of a user's own, called as they like
            return atom
        from cute_viz.notation.undefined import undefined

        words, hint = undefined(node.text, (*self.names, *(CONSTANTS if self.free is not None else ())), self.resolve)
        if self.free is not None and node.text.isidentifier() and hint.startswith("give it"):
            self.free.append(node.text)
            return Unknown(node.text, self.text, node.span)
        raise self.fail(words, node.span, hint=hint)

    def _bound(self, name: str) -> object:
        value = self.names[name]
        if isinstance(value, Failed):
            raise value.error
        return value

    def _method(self, name: str, target: object, args: tuple[object, ...], template: tuple[object, ...]) -> object:
        """`target.name(...)`: the operation with the target as its first operand."""
        from cute_viz.algebra import ops

        if not args and (part := member(name, target)) is not None:
            return part
        return self.operate(ops.find(name), [target, *args], template)

    def call(self, node: Call) -> Any:
        """`name<...>(...)`: a form, a bound layout at a coordinate, an atom, or an operation of the registry."""
        if node.name in self.names and not node.template and not node.args:  # `Name{}`, a value of a type that was bound
            return self._bound(node.name)
        bound = node.name in CONSTANTS and node.name in self.names  # `X` of the text, not CuTe's
        if not bound and (value := form_call(self, node)) is not None:
            return value
        head, _, attribute = node.name.rpartition(".")
        if head in self.names and node.name not in self.names:
            template = tuple(map(self.value, node.template))
            return self._method(attribute, self._bound(head), tuple(map(self.value, node.args or ())), template)
        if node.name in self.names and not node.template:
            return called(self._bound(node.name), tuple(map(self.value, node.args or ())))
        name = short(node.name)
        from cute_viz.algebra import ops

        is_operation = name in ops.OPS or name in ops.ALIASES
        if self.resolve is not None and not node.args and (is_atom_name(name) or not is_operation):
            found = self.resolve(node.name, tuple(source(self.text, item) for item in node.template))
            if found is not None:
                return found
        args = node.args or ()
        if name in MEMBERS and len(args) == 1 and (part := member(name, self.value(args[0]))) is not None:
            return part  # `f(x).layout_b()`
        if short(node.name) == "slice_" and len(args) == 2:  # of the DSL: the layout comes first
            return self.operate(ops.find("slice"), [self.value(item) for item in reversed(args)])
        return self.operate(ops.find(node.name), [self.value(item) for item in args], self.template(node))

    def template(self, node: Call) -> tuple[Any, ...]:
        """The template arguments of an operation: numbers, and types by their names."""
        return tuple(self._argument(item) for item in node.template)

    def _argument(self, item: Node) -> object:
        if not isinstance(item, Name):
            return self.value(item)
        bound = self.names.get(item.text)
        return int(bound) if isinstance(bound, int) else bound.name if isinstance(bound, ValueType) else item.text

    def operate(self, operation: Any, operands: list[Any], template: tuple[Any, ...] = ()) -> Any:
        """The result of an operation, with a warning where CuTe's composition is not A(B(i)), in a division, too."""
        from cute_viz.algebra.operands import is_mixed, static_of_types

        if self.free:
            from cute_viz.algebra.operands import check_named

            check_named(operands, operation.kinds, self.free)
        if is_mixed(operands):  # so are all that have no mark
            operands = [each_integer(lambda x: x if is_static(x) else Runtime(x), x) for x in operands]
        result = operation.call(operands, template)
        self._doubt(operation.name, operands, result)
        return mark_static(result) if static_of_types(operands) else result

    def _doubt(self, name: str, operands: list[object], result: object) -> None:
        if self.warnings is not None and len(operands) == 2:
            from cute_viz.algebra.doubts import doubt

            self.warnings += filter(None, [doubt(name, operands, result)])

    def apply(self, node: Apply) -> object:
        """`(4,8):(8,1)(2,_)`: the value of a layout or swizzle at a coordinate, or a slice."""
        function, args = ungroup(self.value(node.function)), tuple(map(self.value, node.args))
        value = called(function, args)
        self._doubt("()", [function, args[0] if len(args) == 1 else args], value)
        return value

    def infix(self, node: Infix) -> object:
        """`a ⊘ b`, logical_divide; `a ⊗ b`, logical_product; `a == b` and `a != b` compare as C++ does, 1 for yes."""
        from cute_viz.algebra import ops

        if node.operator in ("==", "!="):
            a, b = ungroup(self.value(node.left)), ungroup(self.value(node.right))
            if a != b and next(unknowns((a, b)), None) is not None:
                raise self.fail("cannot determine whether these are the same", node.span)
            self._doubt("==", [a, b], a == b)
            return int((a == b) is (node.operator == "=="))

        operation = ops.find("logical_divide" if node.operator == "⊘" else "logical_product")
        return self.operate(operation, [ungroup(self.value(node.left)), self.value(node.right)])

    def chain(self, node: Chain) -> object:
        """`a o b`: a composition, or a composed layout with its offset; behind the pointer of a tensor, the tensor's layout."""
        try:
            return self._chain(node)
        except AlgebraError as error:
            raise error.at(self.text, node.span) from None

    def _chain(self, node: Chain) -> object:
        items = [self.value(item) for item in node.items]
        first = node.items[0]
        if isinstance(first, FlaggedPointer) and first.space.startswith("S"):  # the swizzle of a swizzle_ptr acts on the address
            numbers = first.space[first.space.index("<") + 1 : first.space.index(">")].split(",")
            return make_composed_layout(Swizzle(*map(int, numbers)), items[0], self._composed(items[1:]))
        if isinstance(first, Call) and short(first.name) == "ArithTuple":  # the origin of a tensor of coordinates
            return with_origin(items[0], self._composed(items[1:]), tensor=True)
        if isinstance(first, FlaggedPointer):
            items = items[1:]  # of a tensor: the layout is what counts
        return self._composed(items)

    def _composed(self, items: list[object]) -> Any:
        from cute_viz.algebra import ops

        if isinstance(items[-1], tuple):
            items = [*items[:-1], self.operate(ops.find("make_layout"), items[-1:])]
        return composed(items, lambda a, b: self.operate(ops.find("composition"), [a, b]))
