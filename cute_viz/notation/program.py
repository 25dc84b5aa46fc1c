"""Statements -> a Document: the values by name, in order, and what could not be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from cute_viz.algebra.common import Operation
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import X, is_int_tuple, leaves, show
from cute_viz.algebra.layout import Layout, is_coordinate_layout
from cute_viz.algebra.operands import is_type
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, LimitError, NotationError, Span
from cute_viz.notation.evaluate import Evaluator, Failed
from cute_viz.notation.lexer import divided
from cute_viz.notation.statements import parse_program
from cute_viz.notation.syntax import Apply, Call, Chain, Infix, Name, Node, Passage, Sequence, Statement, short
from cute_viz.notation.values import PRINTERS, SWIZZLES, drawn, is_drawable, ungroup
from cute_viz.records import pattern
from cute_viz.values.integer import Unknown
from cute_viz.values.types import bits_of, printed

_LAYOUTS = (Layout, ComposedLayout)
_CHANGED = pattern(r"(?:\+\+|--|>>|(?<!&)&(?!&))\s*([A-Za-z_]\w*)|\b([A-Za-z_]\w*)\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))")


class Document:
    """What a text holds: the values of its statements by name, in order, and what could not be read. A value without a name is
    under `""` (the last one wins). A statement that failed matters when it is asked for or used. `mistaken`: one that is surely
    ours failed, so that what the text holds besides is not what was meant."""

    __slots__ = ("bits", "failures", "last", "mistaken", "passed", "tensors", "unread", "values")

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.failures: dict[str, CuteVizError] = {}
        self.last: str | CuteVizError = ""
        self.unread: list[Statement] = []
        self.mistaken = False
        self.passed: list[Any] = []  # values without a name that another came after
        self.bits: dict[str, int] = {}  # of the elements of tensors, "" of one without a name
        self.tensors: dict[str, Any] = {}  # by name, those whose value is shown as its layout

    @classmethod
    def of(cls, value: object) -> Document:
        """The document of one value without a name."""
        out = cls()
        out.values[""] = value
        return out

    def keep(self, name: str, value: object, tensor: object = None) -> None:
        """The value of a statement; a tensor is shown as its layout. tensor: what the name of one is bound to, if not to it."""
        if (before := self.values.pop(name, None)) is not None and not name:
            self.passed.append(before)
        for kept in (self.failures, self.tensors, self.bits):
            kept.pop(name, None)
        self.values[name], self.last = drawn(value), name
        if self.values[name] is not value and isinstance(value, Tensor):
            self.bits |= {name: value.bits} if value.pointer.known is not None else {}
            self.tensors[name] = value if tensor is None else tensor

    def refuse(self, name: str, error: CuteVizError, foreign: Statement | None = None) -> None:
        """The error of a statement, kept under its name; foreign: one of other code, such as a call of a kernel, is only
        counted."""
        if foreign is None:
            self.last = error
            self.values.pop(name, None)
        else:
            self.unread.append(foreign)
        if name:
            self.failures[name] = error

    def bound(self) -> dict[str, object]:
        """What later text sees: the named values, tensors with their pointers."""
        return {name: self.tensors.get(name, value) for name, value in self.values.items() if name}

    def problem(self) -> CuteVizError | None:
        """The first thing that could not be read, if anything."""
        errors = [*self.failures.values(), *(statement.error for statement in self.unread)]
        return next((error for error in errors if error), self.last if isinstance(self.last, CuteVizError) else None)

    def pick(self, name: str | None = None, *, drawable: bool = False) -> object:
        """The value of a name, or of the last statement; the error of what failed. With `drawable`, the last one that is more
        than a number, if there is one."""
        if name is None:
            if isinstance(self.last, CuteVizError):
                raise self.last
            if self.last not in self.values:  # every statement was foreign code
                raise self.problem() or NotationError("nothing here is a layout")
            if drawable and not is_drawable(self.values[self.last]):
                return next((x for x in reversed(self.values.values()) if is_drawable(x)), self.values[self.last])
            return self.values[self.last]
        if name in self.values:
            return self.values[name]
        if name in self.failures:
            raise self.failures[name]
        if (found := re.fullmatch(r"([A-Za-z_]\w*)[(\[].*[)\]]", name)) is not None and found[1] in self.values:  # X(_,_,0)
            return evaluate_program(parse_program(name), Passage(name, self.bound())).pick()
        from difflib import get_close_matches

        named = [key for key in self.values if key]
        near = get_close_matches(name, named, n=3) or named[:12]
        raise NotationError(f"nothing here is named {name!r}", hint=f"the text has {', '.join(near)}" if near else None)


def evaluate_program(statements: list[Statement], source: Passage) -> Document:
    """The value of every statement. One that fails is kept as a failure, which raises its error when its value is asked for.
    Warnings, such as of a composition that is not what it seems, are added to those of the source."""
    text = source.text
    env = dict(source.names)
    bound = set[str]()
    out = Document()
    for statement in statements:
        try:
            if statement.value is None:
                assert statement.error is not None
                raise statement.error
            value = _value(statement, source.seeing(env), free=source.free and len(statements) == 1 and not statement.name)
            if isinstance(value, int) and (division := divided(text, statement.span.end)) is not None:
                raise division
            value = mark_static(value) if is_type(value) else value
            if statement.name:
                env[statement.name] = value
                bound.add(statement.name)
        except CuteVizError as error:
            foreign = "\n" in text and _is_foreign(statement, env)
            out.mistaken |= statement.value is not None and (
                isinstance(error, LimitError)
                or (isinstance(statement.value, Infix) and statement.value.operator in ("==", "!="))
                or (not foreign and _uses(statement.value, env))
            )
            if foreign:
                statement.error = error
            out.refuse(statement.name or "", error, statement if foreign else None)
            lost = {statement.name: error} if statement.name else {}
            for name in changed(text[statement.span.start : statement.span.end]) & bound - {statement.name}:
                lost[name] = unread(name, text, statement.span)
                _lose(out, name, lost[name])
            env |= {name: Failed(error) for name, error in lost.items()}
            bound |= set(lost)
            continue
        out.keep(statement.name or "", value)
    return out


def _value(statement: Statement, source: Passage, free: bool) -> object:
    """The value of a statement. free: names without a value are run-time integers, as far as that goes."""
    assert statement.value is not None
    if free:
        evaluator = Evaluator(source)
        evaluator.free = []
        try:
            value = ungroup(evaluator.value(statement.value))
        except CuteVizError as error:
            if not evaluator.free or set(error.needs) & set(evaluator.free):
                raise
        else:
            if not evaluator.free or not isinstance(value, Unknown) or isinstance(statement.value, Call):
                return value
    return ungroup(Evaluator(source).value(statement.value))


def _lose(out: Document, name: str, error: CuteVizError) -> None:
    if out.values.pop(name, None) is not None:
        out.failures[name] = error
        if out.last == name:
            out.last = error


def _is_foreign(statement: Statement, env: Mapping[str, object]) -> bool:
    """Whether a statement begins with a word that is nothing of ours: other source code, a line of a log."""
    word = statement.word
    calls = [node for node in _calls(statement.value) if short(node.name) not in env]
    if not calls and _uses(statement.value, env):
        return False
    if not word or not (word[0].isalpha() or word[0] == "_"):
        return True
    from cute_viz.algebra import ops

    words = [short(calls[0].name)] if calls else [short(word)] if not statement.name else []
    known = [*ops.OPS, *ops.ALIASES, *PRINTERS, *SWIZZLES]
    return bool(words) and not any(_is_like(one, known) or one in env for one in words)


def _uses(node: Node | None, env: Mapping[str, object]) -> bool:
    """Whether a name that was bound stands anywhere in a node; run-time values do not count, which prints have, too."""
    if node is None:
        return False
    named = node.text if isinstance(node, Name) else node.name if isinstance(node, Call) else ""
    return (named in env and named != "?") or any(_uses(child, env) for child in node.children())


def _calls(node: object) -> list[Call]:
    if not isinstance(node, Call):
        return []
    return [node, *[call for item in (*node.template, *(node.args or ())) for call in _calls(item)]]


def _is_like(word: str, known: list[str]) -> bool:
    from difflib import get_close_matches

    if word in known:
        return True
    close = [k for k in known if k[0] == word[:1] and abs(len(k) - len(word)) <= 2]
    return bool(close and get_close_matches(word, close, n=1, cutoff=0.85))


def is_operation(name: str) -> bool:
    """Whether a name is one of an operation."""
    from cute_viz.algebra import ops

    return name in ops.OPS or name in ops.ALIASES


def operations_of(node: Node, source: Passage) -> tuple[Operation, ...]:
    """The operation that a node calls, with its evaluated operands, behind those whose result it slices; none for a literal. A
    layout that is called with `_` is a slice."""
    if isinstance(node, Sequence) and len(node.items) == 1:
        return operations_of(node.items[0], source)
    if isinstance(node, Apply):
        found = _slice(node.args, ungroup(Evaluator(source).value(node.function)), source)
        return (*operations_of(node.function, source), *found) if found else ()
    call = _operation(node, source)
    return () if call is None else (Operation(call[0], tuple(call[1]), call[2]),)


def _slice(args: tuple[Node, ...], value: object, source: Passage) -> tuple[Operation, ...]:
    crd = tuple(map(Evaluator(source).value, args))
    sliced = any(leaf is X for leaf in leaves(crd))
    return (Operation("slice", (crd[0] if len(crd) == 1 else crd, value)),) if sliced else ()


def _operation(node: Node, source: Passage) -> tuple[str, list[object], tuple[object, ...]] | None:
    evaluator = Evaluator(source)
    if isinstance(node, Infix) and node.operator in "⊘⊗":
        name = "logical_divide" if node.operator == "⊘" else "logical_product"
        return name, [ungroup(evaluator.value(node.left)), evaluator.value(node.right)], ()
    if isinstance(node, Chain) and len(node.items) == 2:
        return "composition", [ungroup(evaluator.value(node.items[0])), evaluator.value(node.items[1])], ()
    if not isinstance(node, Call):
        return None
    bound = source.names.get(node.name)
    if node.args and not node.template and isinstance(bound, (*_LAYOUTS, Tensor)):
        found = _slice(node.args, bound, source)
        return ("slice", list(found[0].operands), ()) if found else None
    if node.args is None or node.name in source.names:
        return None
    head, _, method = node.name.rpartition(".")
    if head in source.names and is_operation(method):
        return method, [source.names[head], *map(evaluator.value, node.args)], evaluator.template(node)
    if node.name in SWIZZLES:
        return None
    return node.name.removeprefix("cute::"), [evaluator.value(item) for item in node.args], evaluator.template(node)


def changed(text: str) -> set[str]:
    """The names that a statement which cannot be read may change."""
    return {name for match in _CHANGED.finditer(text) for name in match.groups() if name}


def unread(name: str, text: str, span: Span) -> NotationError:
    """The error of a name that is changed by what cannot be read."""
    message = f"{name!r} is modified here by code that cannot be evaluated"
    return NotationError(message, text=text, span=span, hint=f"write {name} = ... instead")


Fields: TypeAlias = "dict[str, tuple[str, int]]"  # what a label says, and where that begins

HEADING = re.compile(r"(?<!\w)(TiledMMA|TiledCopy|MMA_Atom|Copy_Atom|ThrMMA|ThrCopy|Tiled MMA|Tiled Copy|MMA Atom|Copy Atom)\s*$")
LABEL = re.compile(
    r"(?<!\w)(ThrLayoutVMNK|PermutationMNK|ThrID|Shape_MNK|LayoutA_TV|LayoutB_TV|LayoutC_TV|Tiler_MN|TiledLayout_TV|ValLayoutSrc"
    r"|ValLayoutDst|ValLayoutRef|ValueType|Thr VMNK|ThrIdx|Thr Layout VMNK|Permutation MNK|Shape MNK|TV Layout A|TV Layout B"
    r"|TV Layout C|Tiler MN|TV Layout tiled|TV Layout Src|TV Layout Dst|Value type)\s*:[ \t]*(.*)$"
)


def label_key(label: str) -> str:
    """A label in one spelling for C++ and the DSL, the key of its line."""
    return label.replace(" ", "").replace("_", "").lower()


def build(heading: str, fields: Fields, value: Callable[[str, int], object]) -> Any:
    """The atom or tiling of a heading from the labelled lines under it; `value` reads what a label says. Raises: NotationError
    for a print that lacks a line, or holds something that an atom does not have. A print of the DSL has no reference layout,
    which is inferred."""
    from cute_viz.algebra.copy import Copy_Atom, TiledCopy
    from cute_viz.algebra.mma import MMA_Atom, TiledMMA

    def get(wanted: str, fits: Callable[[object], bool], *labels: str) -> Any:
        for label in labels:
            if label in fields:
                text, offset = fields[label]
                found = value(text, offset)
                if not fits(found):
                    place = Span(offset, offset + max(1, len(text)))
                    raise NotationError(f"the {label} of this {heading} must be {wanted}, not {show(found)}", span=place)
                return found
        raise NotationError(f"the print of this {heading} lacks its {labels[0]}")

    def layout(modes: int, *labels: str) -> Layout:
        def fits(found: object) -> bool:
            return isinstance(found, Layout) and found.rank == modes and not is_coordinate_layout(found)

        out: Layout = get(f"a layout of integers with {modes} modes", fits, *labels)
        return out

    def tiler(label: str, modes: int | None = None) -> Any:
        """`(32:1,32:1,_)`, as the DSL prints extents, is `(32,32,_)`."""
        found = get("a tuple of extents or layouts", lambda x: isinstance(x, tuple) and modes in (None, len(x)), label)
        return tuple(x.shape if isinstance(x, Layout) and x.stride == 1 else x for x in found)

    def thr_id() -> Layout:
        found = get("a layout of threads", lambda found: isinstance(found, (int, Layout)), "thrid")
        return found if isinstance(found, Layout) else Layout(found)

    if "MMA" in heading:
        layouts: list[Any] = [layout(2, f"layout{x}tv", f"tvlayout{x}") for x in "abc"]
        shape = get("(M,N,K)", lambda found: isinstance(found, tuple) and len(found) == 3 and is_int_tuple(found), "shapemnk")
        atom = MMA_Atom(thr_id(), shape, *layouts)
        if heading == "MMAAtom":
            return atom
        return TiledMMA(atom, layout(4, "thrlayoutvmnk"), tiler("permutationmnk", 3))
    source, destination = layout(2, "vallayoutsrc", "tvlayoutsrc"), layout(2, "vallayoutdst", "tvlayoutdst")
    reference = layout(2, "vallayoutref") if "vallayoutref" in fields else _reference(source, destination)
    width = fields.get("valuetype", ("", 0))[0].strip()
    element = printed(width)
    bits = element.bits if element else bits_of(width.removesuffix("b") or 8)
    copy_atom = Copy_Atom(thr_id(), source, destination, reference, bits)
    if heading == "CopyAtom":
        return copy_atom
    return TiledCopy(copy_atom, layout(2, "tiledlayouttv", "tvlayouttiled"), tiler("tilermn"))


def _reference(source: Layout, destination: Layout) -> Layout:
    """The reference of a DSL print, which leaves it out: the side that is one-to-one, as ldmatrix and stmatrix have it."""
    from cute_viz.algebra.measure import cosize, size

    def spread(layout: Layout) -> bool:
        return size(layout, 1) == 1 or cosize(layout) == size(layout)

    simple = spread(destination) and not (spread(source) and str(destination).count("(") < str(source).count("("))
    return destination if simple else source
