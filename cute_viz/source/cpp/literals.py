"""The parser of C++ with what CuTe prints among its operands: `(4,8):(8,1)`, `a o b`, `1@0`, `smem_ptr[16b](unset)`."""

from __future__ import annotations

from cute_viz.limits import limit, over
from cute_viz.source.cpp.expressions import Expressions
from cute_viz.source.cpp.tree import Brace, Id, Literal, Node, Part, Unary, Written
from cute_viz.source.cpp.vocabulary import INTEGRALS
from cute_viz.values.integer import Runtime

_INFIX = {"o": "composition", "∘": "composition", "⊘": "logical_divide", "⊗": "logical_product"}
_ENDS = frozenset((":", ")", ",", ";", "]", "end", *_INFIX))


class Literals(Expressions):
    """Expressions of C++ with layouts, as they are printed, among their operands."""

    _inside = False  # a tuple

    def _value(self) -> Node:
        """`a o b o c`, from the left."""
        node = self._pair()
        while (operator := _INFIX.get(self._token.text)) is not None:
            self._at += 1
            right = self._pair()
            if operator == "composition" and isinstance(node, Written) and node.kind == operator:
                node = Written(node.span | right.span, operator, (*node.items, right))
            else:
                node = Written(node.span | right.span, operator, (node, right))
        return node

    def _pair(self) -> Node:
        """`shape:stride`; without a ':' what stands there alone."""
        node = self._expression()
        if self._token.kind != ":":
            return node
        self._at += 1
        if self._token.kind in _ENDS:
            raise self._fail("the stride after ':' is missing")
        inside, self._inside = self._inside, True
        stride = self._expression()
        self._inside = inside
        return Written(node.span | stride.span, "pair", (node, stride))

    def _primary(self) -> Node:
        token, following = self._token, self._peek()
        if token.kind == "(":
            return self._group()
        if token.text in ("Sw", "S") and following.kind == "<":  # as CuTe prints it
            self._at += 1
            args = self._arguments(">")
            span = self._span(token.start)
            return Id(span, (Part("Swizzle", args, span),))
        if token.kind == "name" and following.kind == "[" and token.text.endswith("ptr") and self._peek(2).text.endswith("b"):
            return self._flag()
        node = super()._primary()
        if self._token.kind == "/" and self._peek(2).kind == "@":
            below = self._peek()
            self._at += 2
            node = Written(node.span | below.span, "ratio", (node, Literal(below.span, Runtime(int(below.text)))))
        path: list[Node] = []
        while self._token.kind == "@":
            index = self._peek()
            if not index.text.isdecimal() or not int(index.text) < 64 or len(path) >= limit("nesting"):
                raise self._fail("'@' needs the position of a mode, 0 to 63", index)
            path.append(Literal(index.span, int(index.text)))
            self._at += 2
        return Written(self._span(node.span.start), "at", (node, *path)) if path else node

    def _group(self) -> Node:
        """`(a, b)`, a tuple; `(a)` is `a`, but `(4)` is the tuple of one mode."""
        opening = self._token
        inside, self._inside = self._inside, True
        items = self._arguments(")")
        self._inside = inside
        if not inside and len(items) > 1 and self._token.kind != ":" and all(map(_is_integral, items)):
            return Written(self._span(opening.start), "comma", items)
        alone = len(items) == 1 and not (isinstance(items[0], Written) and items[0].kind == "tuple")
        if alone and (not _is_number(items[0]) or self._token.kind not in _ENDS):
            return items[0]
        if self._depth > limit("nesting"):
            raise over("nesting", "brackets nested too deeply", text=self.text, span=items[0].span if items else self._token.span)
        return Written(self._span(opening.start), "tuple", items)

    def _flag(self) -> Node:
        """`smem_ptr[16b](unset)`: the width of what is pointed to is all that counts."""
        token, bits = self._token, self._peek(2)
        self._at += 3
        self._take("]")
        self._arguments(")")
        if not bits.text[:-1].isdecimal():
            raise self._fail(f"{bits.text!r} is not a width, for example 16b", bits)
        return Written(self._span(token.start), "pointer", (Literal(bits.span, int(bits.text[:-1])),))


def _is_integral(node: Node) -> bool:
    kind = node.type if isinstance(node, Brace) and not node.args else None
    return isinstance(kind, Id) and kind.parts[-1].name in INTEGRALS


def _is_number(node: Node) -> bool:
    while isinstance(node, Unary) and node.operator == "-":
        node = node.value
    return isinstance(node, Literal) or (getattr(node, "text", "")[:1] == "_")
