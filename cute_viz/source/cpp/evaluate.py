"""Trees -> values, in one environment: literals, operators, names, calls."""

from __future__ import annotations

from functools import partial

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, LimitError, Span
from cute_viz.notation.values import check_size
from cute_viz.source.cpp.calls import CALLS, RUN_TIME
from cute_viz.source.cpp.context import needed
from cute_viz.source.cpp.cutlass import SCALES, scale_factors
from cute_viz.source.cpp.known import known
from cute_viz.source.cpp.members import method, type_member
from cute_viz.source.cpp.operate import operated, written
from cute_viz.source.cpp.operators import Operators
from cute_viz.source.cpp.ranges import index_of
from cute_viz.source.cpp.scopes import Param, Range
from cute_viz.source.cpp.slices import called_descriptors, called_layout, is_layout
from cute_viz.source.cpp.tree import Brace, CppCall, Decltype, Id, Index, Lambda, Member, Node, Part, Written
from cute_viz.source.cpp.unknown import certain
from cute_viz.source.cpp.values import (
    Cell,
    Class,
    Closure,
    Env,
    External,
    Function,
    Later,
    Lazy,
    Thread,
    Value,
    argument,
    static,
    zeroed,
)
from cute_viz.values.examples import hint_for
from cute_viz.values.integer import Runtime, Unknown
from cute_viz.values.types import Pointer, ValueType


class CppEvaluator(Operators):
    """Values of trees in an environment; `text` is what their spans are places of."""

    def inside(self, env: Env) -> CppEvaluator:
        """The evaluator in another environment."""
        return CppEvaluator(self.context, self.lookup, env)

    def value(self, node: Node) -> Value:
        """The value of a tree, which may be a name that this file does not define; an error gets the tree's place."""
        self.context.step(node.span)
        try:
            value: Value = getattr(self, f"_{type(node).__name__.lower()}")(node)
        except CuteVizError as error:
            raise error.at(self.text, node.span) from None
        except IndexError:  # `sizeof()`, `get_slice()`: every function of CuTe looks at its arguments by their places
            raise self.fail("an argument is missing here", node.span) from None
        match value:
            case tuple() | Layout() | ComposedLayout() | Tensor():
                check_size(value, self.text, node.span)
        return value

    def solid(self, node: Node) -> Value:
        """The value of a tree. Raises: the error of a name that this file does not define."""
        return self.known(self.value(node), node.span)

    def known(self, value: Value, span: Span) -> Value:
        """A value that is not from another file. Raises: the error of a name that is."""
        match value:
            case External():
                raise value.error or needed(self.text, str(value), span, "type")
            case tuple():
                for item in value:
                    self.known(item, span)
        return value

    def argument(self, node: Node) -> Value:
        """The value of a template argument: its integers are static."""
        return argument(self.value(node))

    def arguments(self, nodes: tuple[Node, ...]) -> list[Value]:
        """The values of the arguments of a call, packs spread."""
        out: list[Value] = []
        for node in nodes:
            value = self.value(node.pack or node)
            if node.pack is not None and not isinstance(value, tuple):
                raise self.fail("this pack is not supported", node.span)
            out += value if isinstance(value, tuple) and node.pack is not None else [value]
        return out

    def solids(self, nodes: tuple[Node, ...]) -> list[Value]:
        """The values of the arguments of a call. Raises: the error of a name that this file does not define."""
        values = self.arguments(nodes)
        for value, node in zip(values, nodes, strict=False):
            self.known(value, node.span)
        return values

    def lazily(self, nodes: tuple[Node, ...]) -> list[Later]:
        """Template arguments that are evaluated when they are asked for."""
        out: list[Later] = []
        for node in nodes:
            out += [Lazy(partial(self.value, node))] if node.pack is None else self.arguments((node,))
        return out

    def _index(self, node: Index) -> Value:
        if (cell := self.place(node)) is not None:
            return cell.read()
        match self.solid(node.value), certain(self.solid(node.index)):
            case tuple(value), int(index) if 0 <= index < len(value):
                return value[index]
            case Pointer(), _:
                raise self.fail("cannot determine what a pointer points to", node.span)
        raise self.fail("this index is not supported", node.span)

    def _decltype(self, node: Decltype) -> Value:
        self.context.types += 1
        try:
            value = self.value(node.value)
        finally:
            self.context.types -= 1
        if isinstance(value, (Runtime, Unknown)):
            value = ValueType("int")
        for part in node.parts:
            value = self.type_member(value, part, part.span)
        return value

    def _written(self, node: Written) -> Value:
        return written(self, node)

    def _lambda(self, node: Lambda) -> Value:
        scope = self.context.reader.lambdas.get(node.token)
        if scope is None or self.text is not self.context.text:
            raise self.fail("this lambda is not supported", node.span)
        return Closure(scope, self.captured(scope, self.env))

    def _member(self, node: Member) -> Value:
        words = _dotted(node)
        if words and (key := self.context.let_of(words)) is not None:
            return self.given(key, as_type=False)
        try:
            value = self.solid(node.object)
        except LimitError:
            raise
        except CuteVizError as error:
            if words and words[0] in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
                name = ".".join(words)
                hint = hint_for(name, default="0")
                return index_of(name, self.fail(f"{name!r} is only known when the kernel runs", node.span, hint, (name,)))
            if words and error.needs and error.needs[0] == words[0]:
                raise needed(self.text, ".".join(words), node.span) from None
            raise
        return method(self, value, node.part, None, node.span)

    def type_member(self, value: Value, part: Part, span: Span) -> Value:
        """`T::name` of a type."""
        match value:
            case Class() if value.env.cells is not None and part.name in value.env.cells:
                return value.env.cells[part.name].read()
            case Class():
                return self.class_member(value, part, span)
        return type_member(self, value, part, span)

    def _id(self, node: Id) -> Value:
        if node.plain and (cell := self.cell(node.plain)) is not None:
            return cell.read()
        words = tuple(part.name for part in node.parts)
        if len(words) > 1 and (key := self.context.let_of(words)) is not None:
            return self.given(key, as_type=True)
        value, rest = self.begun(node)
        for part in rest:
            value = self.type_member(value, part, node.span)
        return value

    def begun(self, node: Id) -> tuple[Value, tuple[Part, ...]]:
        """What the first parts of a qualified name mean, and the parts behind them."""
        parts = node.parts
        first = parts[0]
        found = self.lookup.find(first.name, self.env, self.position(node.span))
        if found is None:
            if (key := self.context.let(first.name, None)) is not None:
                value = self.given(key, as_type=False)
                value = static(value) if isinstance(value, tuple) or is_layout(value) else value
                return self.applied(value, first.args, first.span), parts[1:]
            return self._foreign(parts, node.span)
        env, n = found.env, 0
        while found.declarations and found.declarations[0].kind == "namespace":
            n += 1
            if n == len(parts):
                raise self.fail(f"{node.text!r} is a namespace", node.span)
            env = self.namespace(found)
            inner = self.lookup.member(parts[n].name, env)
            if inner is None:
                return self._foreign(parts[n:], node.span)
            found = inner
        return self.meant(found, parts[n], node.span), parts[n + 1 :]

    def _foreign(self, parts: tuple[Part, ...], span: Span) -> tuple[Value, tuple[Part, ...]]:
        stop = next((n for n, part in enumerate(parts[:-1], 1) if part.args is not None), len(parts))
        return known(self, parts[:stop], span), parts[stop:]

    def _brace(self, node: Brace) -> Value:
        if node.type is None:
            values = self.arguments(node.args)
            return values[0] if len(values) == 1 else tuple(values)
        if isinstance(node.type, Id) and node.type.parts[-1].args is None and node.args:
            name = node.type.parts[-1].name
            if name in CALLS and self.lookup.find(node.type.parts[0].name, self.env, self.position(node.span)) is None:
                return CALLS[name](self, node.type.parts[-1], node.args, node.span)
        return self.made(self.value(node.type), node.args, node.span)

    def made(self, kind: Value, args: tuple[Node, ...], span: Span) -> Value:
        """A value of a type that begins with arguments."""
        match kind:
            case External() if not args:  # a tag is its own value
                return kind if kind.error is None else self.known(kind, span)
            case _ if not args:
                return zeroed(kind, self.fail("this has no value yet", span))
            case ValueType() if len(args) == 1:
                return self.cast(kind, args[0], span)
            case Class():
                return self.aggregate(kind, args, span)
        values = self.arguments(args)
        match kind:
            case tuple() if len(kind) == len(values):
                return tuple(values)
            case External():
                self.known(kind, span)
            case _ if len(values) == 1:
                return values[0]
            case Layout() if len(values) == 2:
                return Layout(*values)  # type: ignore[arg-type]
        self.known(kind, span)
        raise self.fail(f"constructing {show(kind)} from values is not supported", span)

    def _cppcall(self, node: CppCall) -> Value:
        function = node.function
        if isinstance(function, Member):
            return self._method_call(function, node)
        if not isinstance(function, Id):
            return self.apply(self.solid(function), node.args, node.span)
        part = function.parts[-1]
        if len(function.parts) == 1 and (cell := self.cell(part.name)) is not None:  # a lambda of a running function
            return self.apply(cell.read(), node.args, node.span)
        found = self.lookup.find(function.parts[0].name, self.env, self.position(function.span))
        if found is None and (len(function.parts) > 1 or part.name in RUN_TIME or self.context.let(part.name, None) is None):
            if part.name in self.context.reader.source.macros:
                raise self.unexpanded(part.name, node.span)
            if not any(other.args for other in function.parts[:-1]):
                return self._external_call(part, node)
        if part.name in SCALES and len(function.parts) > 1:
            owner = self.value(Id(function.span, function.parts[:-1]))
            if (made := scale_factors(self, owner, part.name, self.arguments(node.args))) is not None:
                return made
        if found is not None and found.declarations and found.declarations[0].kind == "namespace":
            value, rest = self.begun(function)
            if isinstance(value, External) and not rest:
                return self._external_call(part, node)
        return self.apply(self.value(function), node.args, node.span)

    def _external_call(self, part: Part, node: CppCall) -> Value:
        """A call of what the file does not define: of CuTe, CUTLASS or the standard."""
        if (helper := self.lookup.helper(part.name)) is not None:
            return self.apply(self.meant(helper, part, node.span), node.args, node.span)
        if part.name in CALLS:
            return CALLS[part.name](self, part, node.args, node.span)
        if part.name == "swap" and len(node.args) == 2 and None not in (cells := [self.place(item) for item in node.args]):
            self.swapped(*cells)  # type: ignore[arg-type]
            return None
        if len(node.args) == 1 and part.args is None and isinstance(kind := known(self, (part,), node.span), ValueType):
            return self.cast(kind, node.args[0], node.span)
        if not node.args:
            value = known(self, (part,), node.span)
            if not isinstance(value, External):
                return value
        template = tuple(self.argument(item) for item in part.args or ())
        return self.operate(part.name, self.arguments(node.args), template)

    def _method_call(self, function: Member, node: CppCall) -> Value:
        words = _dotted(function)
        if words and (key := self.context.let_of(words)) is not None:
            return self.given(key, as_type=False)
        if function.part.name in ("data", "begin") and not node.args and (found := self._buffer(function.object)) is not None:
            return found
        return method(self, self.solid(function.object), function.part, node.args, node.span)

    def _buffer(self, node: Node) -> Pointer | None:
        own = self.lookup.declared(node.parts[0].name, self.env, self.position(node.span)) if isinstance(node, Id) else None
        match None if own is None or own.type is None else self.context.tree(own.type):
            case Id(parts=(*_, last)) if last.name in _BUFFERS and last.args:
                return Pointer("", self.value(last.args[0]))
        return None

    def apply(self, function: Value, args: tuple[Node, ...], span: Span) -> Value:
        """The value of a call of a value: a function of the file, a layout at a coordinate, a type that is given values."""
        match function:
            case Function():
                given = [x.inner.arguments for x in function.declarations if x.inner is not None]
                return self.called(function, *self._handed(args, given, span))
            case Closure():
                return self.closed(function, *self._handed(args, [function.scope.arguments], span))
            case Layout() | ComposedLayout() | Swizzle() | Tensor() | Thread() if args:
                return called_layout(self, function, args, span)
            case External():
                raise self.fail(f"{function.name!r} is not defined in this file", span)
            case Class() if args and (operator := self.lookup.member("operator()", function.env)) is not None:
                return self.apply(Function(operator.declarations, operator.env), args, span)
        if hasattr(function, "first") and args:  # a fragment of descriptors
            return called_descriptors(self, function, args)
        return self.made(function, args, span)

    def _handed(
        self, args: tuple[Node, ...], params: list[tuple[Param, ...]], span: Span
    ) -> tuple[list[Value], Span, tuple[Cell | None, ...]]:
        """The arguments of a call, its place, and where those are kept that its functions take by reference."""
        taken = {n for those in params for n, param in enumerate(those) if self.by_reference(param)}
        if not taken or any(node.pack is not None for node in args):
            return self.arguments(args), span, ()
        values, cells = [], []
        for n, node in enumerate(args):
            cell = self.place(node) if n in taken else None
            cells.append(cell)
            values.append(self.value(node) if cell is None else cell.read())
        return values, span, tuple(cells)

    def operate(self, name: str, operands: list[Value], template: tuple[Value, ...] = ()) -> Value:
        """The result of an operation of the registry."""
        return operated(self, name, operands, template)

    def of(self, part: Range | None, env: Env) -> Value:
        """The value of tokens in an environment."""
        return self.inside(env).value(self.context.tree(part))


_BUFFERS = ("vector", "array", "device_vector", "host_vector", "universal_vector")


def _dotted(node: Node) -> tuple[str, ...]:
    """The words of `a.b.c`; none of anything else."""
    if isinstance(node, Member):
        around = _dotted(node.object)
        return (*around, node.part.name) if around else ()
    return (node.plain,) if node.plain else ()
