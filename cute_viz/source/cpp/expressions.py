"""The parser of C++ expressions and types: a range of tokens -> a tree, by precedence climbing; and the one of lines, in which
what CuTe prints may stand among the operands: `(4,8):(8,1)`, `a o b`, `1@0`, `smem_ptr[16b](unset)`.
"""

from __future__ import annotations

from cute_viz.errors import LimitError, Span
from cute_viz.limits import limit, over
from cute_viz.source.cpp.operands import BUILTIN, Operands
from cute_viz.source.cpp.tokens import INTEGRALS, words
from cute_viz.source.cpp.tree import (
    Binary,
    Brace,
    Cast,
    Condition,
    CppCall,
    Decltype,
    Id,
    Index,
    Literal,
    Member,
    Node,
    Part,
    Unary,
    Written,
)
from cute_viz.values.integer import Runtime

_LEVELS: dict[str, int] = {
    op: n
    for n, ops in enumerate(("||", "&&", "|", "^", "&", "== !=", "< > <= >= <=>", "<< >>", "+ -", "* / %"), start=2)
    for op in ops.split()
}
_LONGEST = 20_000  # tokens of one expression
_ASSIGN = words("= += -= *= /= %= &= |= ^= <<= >>=")
_CLOSERS = frozenset((")", ",", ">", ";", "}", "]", "end", "..."))


class Expressions(Operands):
    """Expressions over the tokens of a file."""

    def parse(self, begin: int, end: int) -> Node:
        """The expression or type that the tokens [begin, end) are. Raises: NotationError where they are not, at its place."""
        if end - begin > _LONGEST:
            raise LimitError(f"an expression of {end - begin} tokens", text=self.text, span=self.tokens[begin].span)
        state = (self._at, self._stop, self._depth, self._angle)
        self._at, self._stop, self._depth, self._angle = begin, end, 0, False
        try:
            node = self._comma()
            if self._at < end:
                raise self._fail("this cannot be read as an expression")
            return node
        finally:
            self._at, self._stop, self._depth, self._angle = state

    def _comma(self) -> Node:
        """`a, b`, C++'s comma."""
        node = self._value()
        while self._token.kind == ",":
            self._at += 1
            right = self._value()
            node = Binary(node.span | right.span, ",", node, right)
        return node

    def _value(self) -> Node:
        """What stands between two commas."""
        return self._expression()

    def _expression(self, level: int = 0) -> Node:
        self._depth += 1
        if self._depth > 2 * limit("nesting"):
            raise over("nesting", "brackets nested too deeply", text=self.text, span=self._token.span)
        node = self._unary()
        while True:
            operator, width = self._operator()
            if operator == "?" and level <= 1:
                self._at += 1
                angle, self._angle = self._angle, False
                yes = self._expression()
                self._angle = angle
                self._take(":")
                no = self._expression(1)
                node = Condition(node.span | no.span, node, yes, no)
            elif operator in _ASSIGN and level <= 1:
                self._at += width
                right = self._expression()
                node = Binary(node.span | right.span, operator, node, right)
            elif _LEVELS.get(operator, 0) > level and _LEVELS[operator] > 1:
                self._at += width
                if operator in ("*", "&", "&&") and (self._token.kind in _CLOSERS or self._token.text in ("const", "&", "*", "&&")):
                    node = Unary(self._span(node.span.start), f"T{operator}", node)  # a pointer or reference type
                    self._qualifiers()
                    continue
                right = self._expression(_LEVELS[operator])
                node = Binary(node.span | right.span, operator, node, right)
            else:
                break
        self._depth -= 1
        return node

    def _qualifiers(self) -> None:
        while self._token.text in ("const", "volatile", "__restrict__", "__restrict"):
            self._at += 1

    def _operator(self) -> tuple[str, int]:
        """The binary operator here, and how many tokens it has; a '>' that closes template arguments is none."""
        token = self._token
        if token.kind == ">":
            if self._angle:
                return "", 0
            following = self._peek()
            if following.kind in (">", ">=") and token.touches(following):
                return (">>" if following.kind == ">" else ">>="), 2
        elif token.kind == "name" and token.text in ("const", "volatile"):
            self._qualifiers()
            return self._operator()
        return token.kind, 1

    def _unary(self) -> Node:
        token = self._token
        if token.kind in ("-", "+", "!", "~", "&", "*"):
            self._at += 1
            value = self._unary()
            return Unary(token.span | value.span, token.kind, value)
        if token.kind in ("++", "--"):
            self._at += 1
            value = self._unary()
            return Unary(token.span | value.span, token.kind, value)
        if token.kind == "&&":
            raise self._fail(f"'{token.text}' changes a value, which is not supported")
        if token.kind == "(" and (cast := self._cast()) is not None:
            return cast
        return self._postfix(self._primary())

    def _cast(self) -> Node | None:
        """`(T)x`; None where the parenthesis is none of a cast."""
        close = self._matching(self._at)
        inside = self.tokens[self._at + 1 : close]
        after = self.tokens[close + 1] if close + 1 < self._stop else self._end
        if not inside or inside[0].kind != "name":
            return None
        pointer = inside[-1].kind == "*"
        builtin = inside[0].text in BUILTIN or inside[0].text == "const" or inside[-1].text.endswith("_t")
        plain = all(token.kind in ("name", "::", "*", "&", "<", ">", ",") for token in inside)
        if not plain or not (
            after.kind in ("name", "number", "string", "char", "~", "!") or ((pointer or builtin) and after.kind in "(&*-!")
        ):
            return None
        start = self._take("(").start
        kind = self._argument()
        self._take(")")
        value = self._unary()
        return Cast(Span(start, value.span.end), kind, value)

    def _postfix(self, node: Node) -> Node:
        while True:
            token = self._token
            if token.kind == "(":
                args = self._arguments(")")
                node = CppCall(self._span(node.span.start), node, args)
            elif token.kind == "{" and isinstance(node, (Id, Decltype)):
                args = self._arguments("}")
                node = Brace(self._span(node.span.start), node, args)
            elif token.kind == "[":
                self._at += 1
                angle, self._angle = self._angle, False
                index = self._comma()
                self._angle = angle
                self._take("]")
                node = Index(self._span(node.span.start), node, index)
            elif token.kind in (".", "->"):
                self._at += 1
                node = Member(node.span, node, self._part())
                node.span = self._span(node.span.start)
            elif token.kind == "::" and isinstance(node, Decltype):
                self._at += 1
                node = Decltype(node.span, node.value, (*node.parts, self._part()))
            elif token.kind == "...":
                self._at += 1
                node = Unary(self._span(node.span.start), "...", node)
            elif token.kind in ("++", "--"):
                self._at += 1
                node = Unary(self._span(node.span.start), f"x{token.kind}", node)
            else:
                return node


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
    match node:
        case Brace(type=Id() as kind, args=()):
            return kind.parts[-1].name in INTEGRALS
    return False


def _is_number(node: Node) -> bool:
    while isinstance(node, Unary) and node.operator == "-":
        node = node.value
    return isinstance(node, Literal) or (getattr(node, "text", "")[:1] == "_")
