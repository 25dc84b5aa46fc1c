"""Syntax tree -> object: numbers and tuples become values, names and calls go to the registry of operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cute_viz.algebra.composed import ComposedLayout, PointerFlag
from cute_viz.algebra.inttuple import Static, X, is_int_tuple, leaves, show
from cute_viz.algebra.layout import Layout, is_coordinate_layout, trusted
from cute_viz.algebra.stride import F2, Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.errors import AlgebraError, CuteVizError, NotationError, Span
from cute_viz.notation.atoms import FORMS, Resolver, atom_call, is_atom_name, value_type
from cute_viz.notation.cplusplus import CASTS, MAKE_TUPLES, PRINTERS, TUPLES, integral, smem_atom
from cute_viz.notation.syntax import (
    Apply,
    Arith,
    At,
    Blank,
    Call,
    Chain,
    Index,
    Infix,
    Keyword,
    Name,
    Node,
    Number,
    Pair,
    Pointer,
    Ratio,
    Sequence,
    Statement,
    Word,
)

_SWIZZLES = ("Sw", "S", "Swizzle")
_MAJORS = {"LayoutLeft": "LayoutLeft", "LayoutRight": "LayoutRight", "GenColMajor": "LayoutLeft", "GenRowMajor": "LayoutRight"}


class Document:
    """What a text holds: the values of its statements by name, in order, and what could not be read.

    A value without a name is under `""` (the last one wins). A statement that failed matters when it is asked for or used.
    """

    __slots__ = ("failures", "last", "unread", "values")

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.failures: dict[str, CuteVizError] = {}
        self.last: str | CuteVizError = ""
        self.unread: list[Statement] = []

    def problem(self) -> CuteVizError | None:
        """The first thing that could not be read, if anything."""
        errors = [*self.failures.values(), *(statement.error for statement in self.unread)]
        return next((error for error in errors if error), self.last if isinstance(self.last, CuteVizError) else None)

    def pick(self, name: str | None = None, *, drawable: bool = False) -> Any:
        """The value of a name, or of the last statement; the error of what failed.

        With `drawable`, the last one that is more than a number, if there is one.
        """
        if name is None:
            if isinstance(self.last, CuteVizError):
                raise self.last
            if drawable and not _is_drawable(self.values[self.last]):
                return next((x for x in reversed(self.values.values()) if _is_drawable(x)), self.values[self.last])
            return self.values[self.last]
        if name in self.values:
            return self.values[name]
        if name in self.failures:
            raise self.failures[name]
        from difflib import get_close_matches

        named = [key for key in self.values if key]
        near = get_close_matches(name, named, n=3) or named[:12]
        raise NotationError(f"nothing here is named {name!r}", hint=f"there is {', '.join(near)}" if near else None)


def _is_drawable(value: Any) -> bool:
    return isinstance(value, (tuple, Layout, ComposedLayout, Swizzle)) or is_tiling(value)


def evaluate_program(
    statements: list[Statement],
    text: str,
    names: Mapping[str, Any] | None = None,
    warnings: list[str] | None = None,
    resolve: Resolver | None = None,
) -> Document:
    """The value of every statement. Of several, one that fails is kept as a failure; a lone one raises its error.

    Warnings, such as of a composition that is not what it seems, are added to `warnings`; without a list, nothing is checked.
    """
    env: dict[str, Any] = dict(names or {})
    out = Document()
    for statement in statements:
        try:
            if statement.value is None:
                raise statement.error or CuteVizError("nothing to read", text=text, span=statement.span)
            value = _ungroup(Evaluator(text, env, warnings, resolve).value(statement.value))
            if is_tiling(value) or _all_static(statement.value, env):
                value = mark_static(value)
        except CuteVizError as error:
            _keep_failure(out, statement, error, env, foreign="\n" in text and _is_foreign(statement, env))
            continue
        key = statement.name or ""
        out.values.pop(key, None)
        out.failures.pop(key, None)
        out.values[key] = value
        out.last = key
        if statement.name:
            env[statement.name] = value
    return out


def _keep_failure(out: Document, statement: Statement, error: CuteVizError, env: dict[str, Any], foreign: bool) -> None:
    """A failed statement leaves its error under its name; other code, such as a call of a kernel, is only counted."""
    if foreign:
        statement.error = error
        out.unread.append(statement)
        if statement.name:
            out.failures[statement.name] = error
            env[statement.name] = _Failed(error)
        return
    out.last = error
    if statement.name:
        out.values.pop(statement.name, None)
        out.failures[statement.name] = error
        env[statement.name] = _Failed(error)


class _Failed:
    """The value of a name whose statement failed: using it raises the error."""

    __slots__ = ("error",)

    def __init__(self, error: CuteVizError) -> None:
        self.error = error


def _is_foreign(statement: Statement, env: Mapping[str, Any]) -> bool:
    """Whether a statement begins with a word that is nothing of ours: other source code, a line of a log."""
    word = statement.word
    if not word or not (word[0].isalpha() or word[0] == "_"):
        return True
    from cute_viz.algebra import ops

    calls = [node for node in _calls(statement.value) if _short(node.name) not in (*CASTS, *env)]
    words = [_short(calls[0].name)] if calls else [_short(word)] if not statement.name else []
    known = [*ops.OPS, *ops.ALIASES, *TUPLES, *MAKE_TUPLES, *PRINTERS, *_SWIZZLES, *FORMS, "Layout", "make_tensor", "Int", "C"]
    return bool(words) and not any(_is_like(one, known) or one in env for one in words)


def _calls(node: Any) -> list[Call]:
    """The calls that a node is made of, outermost first."""
    if not isinstance(node, Call):
        return []
    return [node, *[call for item in (*node.template, *(node.args or ())) for call in _calls(item)]]


def _is_like(word: str, known: list[str]) -> bool:
    from difflib import get_close_matches

    if word in known:
        return True
    close = [k for k in known if k[0] == word[:1] and abs(len(k) - len(word)) <= 2]
    return bool(close and get_close_matches(word, close, n=1, cutoff=0.85))


def operation_of(node: Node, text: str, names: Mapping[str, Any], resolve: Resolver | None = None) -> tuple[str, list[Any]] | None:
    """The operation that a node calls, by name, and its evaluated operands; None for a literal."""
    evaluator = Evaluator(text, names, None, resolve)
    if isinstance(node, Sequence) and len(node.items) == 1:
        return operation_of(node.items[0], text, names, resolve)
    if isinstance(node, Infix):
        name = "logical_divide" if node.operator == "⊘" else "logical_product"
        return name, [_ungroup(evaluator.value(node.left)), evaluator.value(node.right)]
    if isinstance(node, Chain) and len(node.items) == 2:
        return "composition", [_ungroup(evaluator.value(node.items[0])), evaluator.value(node.items[1])]
    if isinstance(node, Call) and node.args is not None and node.name not in names and node.name not in _SWIZZLES:
        template = [evaluator.value(item) for item in node.template if not isinstance(item, Name)]
        return node.name, [*map(evaluator.value, node.args), *template]
    return None


class Evaluator:
    """Values of nodes, with the text for errors and the names that are bound."""

    def __init__(
        self, text: str, names: Mapping[str, Any], warnings: list[str] | None = None, resolve: Resolver | None = None
    ) -> None:
        self.text = text
        self.names = names
        self.warnings = warnings
        self.resolve = resolve

    def source(self, node: Node) -> str:
        """The text of a node, without blanks."""
        return "".join(self.text[node.span.start : node.span.end].split())

    def resolved(self, name: str, args: tuple[str, ...]) -> Any:
        """The atom of a name; an error where the library has none, or there is no library."""
        atom = self.resolve(name, args) if self.resolve else None
        if atom is None:
            raise AlgebraError(f"there is no atom {name!r}", hint="cute-viz list mma and cute-viz list copy name them")
        return atom

    def fail(self, message: str, span: Span, hint: str | None = None) -> NotationError:
        return NotationError(message, text=self.text, span=span, hint=hint)

    def value(self, node: Node) -> Any:
        """The value of a node; an error of the algebra gets the node's place."""
        try:
            return getattr(self, type(node).__name__.lower())(node)
        except CuteVizError as error:
            raise error.at(self.text, node.span) from None

    def number(self, node: Number) -> int:
        return Static(node.value) if node.static else node.value

    def ratio(self, node: Ratio) -> Any:
        from fractions import Fraction

        value = Fraction(node.numerator, node.denominator)
        return int(value) if value.denominator == 1 else value

    def blank(self, node: Blank) -> Any:
        return X

    def at(self, node: At) -> Basis:
        return Basis(self.value(node.value), tuple(reversed(node.path)))

    def pointer(self, node: Pointer) -> PointerFlag:
        return PointerFlag(node.bits)

    def arith(self, node: Arith) -> Any:
        """Integer arithmetic; of static integers a static one, as of CuTe's integral constants."""
        a, b = self.value(node.left), self.value(node.right)
        if not isinstance(a, int) or not isinstance(b, int):
            if node.operator == "*" and (isinstance(a, Basis) or isinstance(b, Basis)):
                return a * b
            raise self.fail(
                f"'{node.operator}' is for integers", node.span, hint="shapes are changed by operations, such as ceil_div"
            )
        if node.operator in "/%" and b == 0:
            raise self.fail("division by zero", node.right.span)
        if node.operator == "*" and (a.bit_length() + b.bit_length()) > 4096:
            raise self.fail("this product is too large", node.span)
        toward_zero = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if node.operator in "/%" else 0
        result = {"+": a + b, "-": a - b, "*": a * b, "/": toward_zero, "%": a - toward_zero * b}[node.operator]
        static = isinstance(a, Static) and (isinstance(b, Static) or node.right.span == node.left.span)
        return Static(result) if static else int(result)

    def index(self, node: Index) -> Any:
        """Python's `x[i]`: an entry, a mode, or with `_` a slice."""
        value, index = self.value(node.value), self.value(node.index)
        if isinstance(value, tuple):
            if not isinstance(index, int) or not -len(value) <= index < len(value):
                raise self.fail(f"a tuple of {len(value)} has no entry {show(index)}", node.index.span)
            return value[index]
        if isinstance(value, Layout) and isinstance(index, int):
            from cute_viz.algebra.modes import get

            return get(value, index)
        return _call_layout(value, (index,))

    def keyword(self, node: Keyword) -> Any:
        raise self.fail(f"{node.name!r} is not an argument here", node.span)

    def word(self, node: Word) -> Any:
        raise self.fail(f"{node.value!r} is not a layout", node.span, hint="an expression such as (4,8):(8,1)")

    def sequence(self, node: Sequence) -> Any:
        if len(node.items) == 1 and isinstance(node.items[0], (Chain, Infix, Call, Apply)) and node.bracket == "(":
            return self.value(node.items[0])  # parentheses that group an expression
        return tuple(map(self.value, node.items))

    def pair(self, node: Pair) -> Layout:
        self._congruent(node.shape, node.stride)
        shape, stride = self.value(node.shape), self.value(node.stride)
        if not is_int_tuple(shape):
            raise self.fail("a shape is an integer or a tuple of integers", node.shape.span)
        for leaf in leaves(stride):
            if leaf is X or isinstance(leaf, (Layout, ComposedLayout, Swizzle, PointerFlag)):
                raise self.fail("a stride is an integer, a basis element such as 1@0, or a tuple of these", node.stride.span)
        try:
            return Layout(shape, stride)
        except AlgebraError as error:
            raise error.at(self.text, node.shape.span) from None

    def _congruent(self, shape: Node, stride: Node) -> None:
        """A caret under the smallest piece of the stride that does not match its shape."""
        if isinstance(shape, Sequence) and isinstance(stride, Sequence):
            if len(shape.items) != len(stride.items):
                raise self.fail(
                    f"the stride {self.source(stride)} has {_modes(stride)}, its shape {self.source(shape)} has {_modes(shape)}",
                    stride.span,
                    hint="every integer of the shape needs one stride, in the same parentheses",
                )
            for s, d in zip(shape.items, stride.items, strict=True):
                self._congruent(s, d)
        elif isinstance(shape, Sequence) and isinstance(stride, (Number, At)):
            raise self.fail(
                f"the shape {self.source(shape)} has {_modes(shape)}, its stride {self.source(stride)} is one number",
                stride.span,
                hint="every integer of the shape needs one stride, in the same parentheses",
            )
        elif isinstance(shape, Number) and isinstance(stride, Sequence):
            raise self.fail(
                f"the shape {self.source(shape)} is one number, its stride {self.source(stride)} is a tuple",
                stride.span,
                hint=f"a tuple of one mode is written ({self.source(shape)}); one stride goes with {self.source(shape)}",
            )

    def name(self, node: Name) -> Any:
        if node.text[0] == "?":
            return self._runtime(node)
        if node.text in self.names:
            return self._bound(node.text)
        if _short(node.text) in _MAJORS:
            return _major(_short(node.text))
        if _short(node.text) in ("X", "Underscore"):
            return X
        if self.resolve is not None and is_atom_name(_short(node.text)) and (atom := self.resolve(node.text, ())) is not None:
            return atom
        if (known := value_type(node.text)) is not None:
            return known
        head, _, attribute = node.text.rpartition(".")
        if head in self.names:  # `layout.shape`
            return self._method(attribute, self._bound(head), (), ())
        if node.text[0] == "F" and node.text[1:].isdecimal():
            return F2(int(node.text[1:]))
        from difflib import get_close_matches

        near = get_close_matches(node.text, list(self.names), n=3)
        hint = f"did you mean {', '.join(near)}?" if near else f"give it a value: --let {node.text}=512"
        raise self.fail(f"{node.text!r} is not a layout, and nothing of this name was bound", node.span, hint=hint)

    def _bound(self, name: str) -> Any:
        value = self.names[name]
        if isinstance(value, _Failed):
            raise value.error
        return value

    def _runtime(self, node: Name) -> Any:
        """`?`, a run-time value of a print: the number that was given for it, or the next of several."""
        if "?" not in self.names:
            raise self.fail(
                "'?' is a run-time value, whose number is not in the print",
                node.span,
                hint="give a number: --let '?=512'; for several, in their order: --let '?=(512,64)'",
            )
        numbers = list(leaves(self.names["?"]))
        nth = self.text.count("?", 0, node.span.start)
        if len(numbers) == 1:
            return numbers[0]
        if nth >= len(numbers):
            raise self.fail(f"{len(numbers)} numbers were given for '?', and this is number {nth + 1}", node.span)
        return numbers[nth]

    def _method(self, name: str, target: Any, args: tuple[Any, ...], template: tuple[Any, ...]) -> Any:
        """`target.name(...)`: the operation with the target as its first operand."""
        from cute_viz.algebra import ops

        return self._operate(ops.find(name), [target, *args], template)

    def call(self, node: Call) -> Any:
        name = _short(node.name)
        if node.name in self.names and not node.template and not node.args:  # `Name{}`, a value of a type that was bound
            return self._bound(node.name)
        if name in _SWIZZLES and node.template:
            return self._swizzle(node)
        if name in TUPLES and node.template and not node.args:
            return tuple(map(self.value, node.template))
        if name in MAKE_TUPLES and node.args is not None:
            return tuple(map(self.value, node.args))
        if (name in PRINTERS or name in CASTS) and len(node.args or ()) == 1:
            return self.value((node.args or ())[0])  # what is printed is what is meant
        if name == "make_tensor" and node.args:
            return self._tensor(node)
        if name.endswith("_v") and len(node.template) == 1 and node.args is None:  # size_v<...>
            return self.call(Call(node.span, name[:-2], (), node.template))
        head, _, attribute = node.name.rpartition(".")
        if head in self.names and node.name not in self.names:
            template = tuple(map(self.value, node.template))
            return self._method(attribute, self._bound(head), tuple(map(self.value, node.args or ())), template)
        if name.startswith("Layout_"):
            types = tuple(item.text if isinstance(item, Name) else self.value(item) for item in node.template)
            if (atom := smem_atom(name, types)) is not None:
                return atom
        if name == "Layout" and node.template and not node.args:
            try:
                return Layout(*map(self.value, node.template[:2]))
            except AlgebraError as error:
                raise error.at(self.text, node.span) from None
        if name in ("Int", "C") and len(node.template) == 1:
            return integral(self.value(node.template[0]))
        if name in _MAJORS:
            return _major(name)
        if name == "E":
            path = [self.value(item) for item in node.template or node.args or ()]
            path = list(path[0]) if len(path) == 1 and isinstance(path[0], tuple) else path
            if not all(isinstance(i, int) and i >= 0 for i in path):
                raise self.fail("E<i,j...> takes positions of modes, 0 or more", node.span)
            return Basis(1, tuple(map(int, path)))
        if name == "ScaledBasis" and len(node.args or ()) == 2:
            scale, path = map(self.value, node.args or ())
            return Basis(scale, path if isinstance(path, tuple) else (path,))
        if node.name == "ArithTuple":
            return tuple(map(self.value, node.args or ()))
        if node.name in self.names and not node.template:
            return _call_layout(self._bound(node.name), tuple(map(self.value, node.args or ())))
        if (atom := atom_call(self, node, name)) is not None:
            return atom
        if self.resolve is not None and not node.args and is_atom_name(name):
            found = self.resolve(node.name, tuple(map(self.source, node.template)))
            if found is not None:
                return found
        from cute_viz.algebra import ops

        template = tuple(item.text if isinstance(item, Name) else self.value(item) for item in node.template)
        return self._operate(ops.find(node.name), [self.value(item) for item in node.args or ()], template)

    def _tensor(self, node: Call) -> Any:
        """make_tensor(pointer, layout), make_tensor(pointer, shape, stride), make_tensor<T>(shape): the layout is what counts."""
        from cute_viz.algebra import ops

        args = (node.args or ())[0 if node.template or len(node.args or ()) == 1 else 1 :]
        values = [self.value(item) for item in args]
        whole = len(values) == 1 and isinstance(values[0], (Layout, ComposedLayout))
        return values[0] if whole else self._operate(ops.find("make_layout"), values)

    def _operate(self, operation: Any, operands: list[Any], template: tuple[Any, ...] = ()) -> Any:
        """The result of an operation, with a warning where CuTe's composition is not A(B(i))."""
        result = operation.call(operands, template)
        if self.warnings is not None and operation.name == "composition" and len(operands) == 2:
            from cute_viz.algebra.compose import composition_is_pointwise

            a, b = _as_layout(operands[0]), operands[1]
            if isinstance(a, (Layout, ComposedLayout)) and composition_is_pointwise(a, b, result) is False:
                self.warnings.append(
                    f"composition({show(a)}, {show(b)}) = {show(result)} as CuTe computes it, but it is not A(B(i)) everywhere"
                )
        return result

    def _swizzle(self, node: Call) -> Any:
        numbers = [self.value(item) for item in node.template]
        if len(numbers) == 2:
            numbers.append(numbers[0])
        if len(numbers) != 3 or not all(isinstance(n, int) for n in numbers):
            raise self.fail("a swizzle has three integers", node.span, hint="Sw<B,M,S>, such as Sw<3,3,3>")
        swizzle = Swizzle(*map(int, numbers))
        if len(node.args or ()) > 1:
            raise self.fail("a swizzle takes one offset", node.span, hint=f"such as {swizzle}(8)")
        return swizzle(*map(self.value, node.args)) if node.args else swizzle

    def apply(self, node: Apply) -> Any:
        return _call_layout(_ungroup(self.value(node.function)), tuple(map(self.value, node.args)))

    def infix(self, node: Infix) -> Any:
        from cute_viz.algebra import ops

        operation = ops.find("logical_divide" if node.operator == "⊘" else "logical_product")
        return self._operate(operation, [_ungroup(self.value(node.left)), self.value(node.right)])

    def chain(self, node: Chain) -> Any:
        items = [self.value(item) for item in node.items]
        first = node.items[0]
        if isinstance(first, Pointer) and first.space.startswith("S"):  # the swizzle of a swizzle_ptr acts on the address
            numbers = first.space[first.space.index("<") + 1 : first.space.index(">")].split(",")
            return ComposedLayout(Swizzle(*map(int, numbers)), items[0], self._compose(items[1:]))
        if isinstance(first, Pointer) or (isinstance(first, Call) and first.name == "ArithTuple" and not any(leaves(items[0]))):
            items = items[1:]  # the pointer of a tensor, or the zero origin of an identity tensor: the layout is what counts
        return self._compose(items)

    def _compose(self, items: list[Any]) -> Any:
        """`outer o offset o inner` is a composed layout; `a o b` is a composition."""
        if len(items) == 1:
            return _as_layout(items[0])
        for n in range(1, len(items) - 1):
            if _is_offset(items[n], items[n + 1]):
                return ComposedLayout(self._compose(items[:n]), items[n], self._compose(items[n + 1 :]))
        from cute_viz.algebra import ops

        out = _ungroup(items[0])
        for item in items[1:]:
            out = self._operate(ops.find("composition"), [out, item])
        return out


def mark_static(value: Any) -> Any:
    """The same value with every integer marked as static, for printing as CuTe prints static layouts.

    Atoms and their tilings are types in CuTe, and so always static.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return Static(value)
    if isinstance(value, tuple):
        return tuple(map(mark_static, value))
    if isinstance(value, Basis):
        return Basis(mark_static(value.value), value.path)
    if isinstance(value, Layout):
        return trusted(mark_static(value.shape), mark_static(value.stride))
    if isinstance(value, ComposedLayout):
        return ComposedLayout(mark_static(value.outer), mark_static(value.offset), mark_static(value.inner))
    if is_tiling(value):
        from dataclasses import fields, replace

        marked = {field.name: mark_static(getattr(value, field.name)) for field in fields(value) if field.name not in _COUNTS}
        return replace(value, **marked)
    return value


_COUNTS = ("bits", "thr_idx", "name", "types", "value_type")  # of an atom: not integers of its layouts


def is_tiling(value: Any) -> bool:
    """Whether a value is an atom, a tiling of atoms, or a thread's view of one."""
    return type(value).__name__ in ("MMA_Atom", "Copy_Atom", "TiledMMA", "TiledCopy", "ThrMMA", "ThrCopy")


def _all_static(node: Any, env: Mapping[str, Any]) -> bool:
    """Whether every integer that was written (template arguments aside) was written as a static one."""
    numbers: list[bool] = []
    stack: list[Any] = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, Number):
            numbers.append(item.static)
        elif isinstance(item, Name):
            numbers += [isinstance(leaf, Static) for leaf in _integers(env.get(item.text))]
        elif isinstance(item, tuple):
            stack.extend(item)
        elif isinstance(item, Sequence):
            stack.extend(item.items)
        elif isinstance(item, Pair):
            stack += [item.shape, item.stride]
        elif isinstance(item, At):
            stack.append(item.value)
        elif isinstance(item, Call):
            stack.extend(item.args or ())
            if _short(item.name) in (*TUPLES, "Layout"):
                stack.extend(item.template)
            elif _short(item.name) in ("Int", "C") or _short(item.name).startswith("Layout_"):
                numbers.append(True)
            if item.args is None and not item.template:
                stack.append(Name(item.span, item.name))
        elif isinstance(item, Apply):
            stack += [item.function, *item.args]
        elif isinstance(item, Chain):
            stack.extend(item.items)
        elif isinstance(item, (Infix, Arith)):
            stack += [item.left, item.right]
        elif isinstance(item, (Index, Keyword)):
            stack.append(item.value)
    return bool(numbers) and all(numbers)


def _integers(value: Any) -> list[Any]:
    """The integers of a value that a name stands for."""
    if isinstance(value, (int, tuple)):
        return [leaf for leaf in leaves(value) if isinstance(leaf, int)]
    if isinstance(value, Layout):
        return _integers(value.shape)
    return [*_integers(value.offset), *_integers(value.inner)] if isinstance(value, ComposedLayout) else []


def _is_offset(value: Any, following: Any) -> bool:
    """Whether the middle of `a o value o following` is an offset rather than a layout."""
    if isinstance(value, (int, PointerFlag)):
        return True
    following = _ungroup(following)
    return isinstance(value, tuple) and is_int_tuple(value) and isinstance(following, Layout) and is_coordinate_layout(following)


def _as_layout(value: Any) -> Any:
    value = _ungroup(value)
    return Layout(value) if isinstance(value, (int, tuple)) and is_int_tuple(value) else value


def _ungroup(value: Any) -> Any:
    """A layout in parentheses is the layout (a tuple of one layout means a tiler only as an argument)."""
    if isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], (Layout, ComposedLayout, Swizzle)):
        return value[0]
    return value


def _major(name: str) -> Any:
    from cute_viz.algebra import construct

    return getattr(construct, _MAJORS[name])


def _short(name: str) -> str:
    """A name without `cute::`, `cute.`, `GMMA::` and the like."""
    return name.replace("::", ".").rsplit(".", 1)[-1]


def _call_layout(function: Any, args: tuple[Any, ...]) -> Any:
    if isinstance(function, Swizzle):
        if len(args) != 1 or not isinstance(args[0], int):
            raise AlgebraError(f"{function} takes one integer")
        return function(args[0])
    if not isinstance(function, (Layout, ComposedLayout)):
        raise AlgebraError(f"{show(function)} is not a layout that a coordinate could be given to")
    if not args:
        raise AlgebraError("a layout is called with a coordinate", hint="such as (2,3), or (2,_) for a slice")
    return function(*args)


def _modes(node: Sequence) -> str:
    return f"{len(node.items)} mode{'' if len(node.items) == 1 else 's'}"
