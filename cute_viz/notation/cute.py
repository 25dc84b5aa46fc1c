"""The parser of expressions: tokens -> syntax tree, by recursive descent. `statements` reads programs of them.

statement = [name '='] chain [('==' | '!=') chain]
chain     = pair {('o' | '∘' | '⊘' | '⊗') pair}
pair      = sum [':' sum]
sum       = term {('+' | '-') term}
term      = postfix {('*' | '/' | '%') postfix}
postfix   = primary {'(' args ')' | '.' name ['<' args '>'] ['(' args ')' | '{}']}
primary   = number ['{}'] [['/' number] '@' number {'@' number}] | '_' | name ['<' args '>'] ['(' args ')' | '{}'] | pointer
          | '(' args ')' | '<' args '>' | '[' args ']' | '-' postfix
"""

from __future__ import annotations

from cute_viz.errors import NotationError, Span
from cute_viz.limits import limit, over
from cute_viz.notation.lexer import Token, tokenize, unknown
from cute_viz.notation.syntax import (
    Apply,
    Arith,
    At,
    Blank,
    Call,
    Chain,
    FlaggedPointer,
    Infix,
    Name,
    Node,
    Number,
    Pair,
    Ratio,
    Sequence,
)

_CLOSE = {"(": ")", "<": ">", "[": "]"}


class Parser:
    """Recursive descent over the tokens of a text, each rule a method that leaves `position` behind what it read."""

    def __init__(self, text: str, tokens: list[Token] | None = None) -> None:
        self.text = text
        self.tokens = tokenize(text) if tokens is None else tokens
        self.position = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        """The token to read next."""
        return self.tokens[self.position]

    def advance(self) -> Token:
        """Read one token and return it; the last one, `end`, is never left behind."""
        token = self.token
        self.position += token.kind != "end"
        return token

    def fail(self, message: str, span: Span | None = None, hint: str | None = None) -> NotationError:
        """The error at a span, or at the token to read next; the caller raises it."""
        return NotationError(message, text=self.text, span=span or self.token.span, hint=hint)

    def chain(self) -> Node:
        """`a o b o c`, a Chain; `a ⊘ b` and `a ⊗ b`, an Infix; both from the left."""
        items = [self.pair()]
        while self.token.kind == "infix":
            operator = self.advance().text
            right = self.pair()
            if operator in ("⊘", "⊗"):
                left = _chained(items)
                items = [Infix(left.span | right.span, operator, left, right)]
            else:
                items.append(right)
        node = _chained(items)
        while self.touches(node):  # (4,8):(8,1)(2,_), and Sw<2,0,3> o 0 o (8,8):(8,1)(3,5)
            arguments = self.sequence()
            node = Apply(node.span | arguments.span, node, arguments.items)
        return node

    def pair(self) -> Node:
        """`shape:stride`; without a ':' what stands there alone."""
        shape = self.sum()
        if self.token.kind != ":":
            return shape
        colon = self.advance()
        if self.token.kind in ("end", ")", ",", ";", "infix", "]", ">"):
            raise self.fail("the stride after ':' is missing", colon.span, hint="write shape:stride, for example (4,8):(8,1)")
        stride = self.sum()
        return Pair(shape.span | stride.span, shape, stride)

    def touches(self, node: Node) -> bool:
        """Whether a bracket follows a node without a blank: the layout that ends here is called."""
        return self.token.kind == "(" and self.token.span.start == node.span.end

    def sum(self) -> Node:
        """`a + b - c`, from the left."""
        node = self.term()
        while self.token.kind in ("+", "-"):
            operator, right = self.advance().text, self.term()
            node = Arith(node.span | right.span, operator, node, right)
        return node

    def term(self) -> Node:
        """`a * b / c % d`, from the left."""
        node = self.postfix()
        while self.token.kind in ("*", "/", "%"):
            operator = self.advance().text
            right = self.postfix()
            node = Arith(node.span | right.span, operator, node, right)
        return node

    def postfix(self) -> Node:
        """What is called with coordinates, `a(2,_)`, or has operations behind a dot, `a.compose(b)`."""
        stride = self.position > 0 and self.tokens[self.position - 1].kind == ":"
        node = self.primary()
        while self.token.kind in ("(", ".") or (self.token.kind == "[" and isinstance(node, (Name, Call, Apply))):
            if self.token.kind == ".":
                node = self.method(node)
                continue
            if stride and self.touches(node):
                break
            if isinstance(node, Sequence) and not _holds_layouts(node):
                called = "a layout that has coordinates needs parentheses: ((4,8):(8,1))(2,3)"
                hint = called if stride else "write ':' between a shape and its stride: (4,8):(8,1)"
                raise self.fail("two tuples side by side", hint=hint)
            if isinstance(node, (Number, Blank, At, FlaggedPointer, Ratio)):
                raise self.fail("a tuple right after a number", hint="a ':' or a ',' is missing")
            arguments = self.sequence()
            node = Apply(node.span | arguments.span, node, arguments.items)
        return node

    def method(self, target: Node) -> Node:
        """`.name<...>(...)` behind a value: the operation with the value as its first operand."""
        self.advance()
        if self.token.kind != "name":
            raise self.fail("a name should follow '.'", hint="layouts consist of integers")
        call = self.name()
        if isinstance(call, Name):
            return Call(target.span | call.span, call.text, (), (target,))
        assert isinstance(call, Call)
        return Call(target.span | call.span, call.name, call.template, (target, *(call.args or ())))

    def primary(self) -> Node:
        """The smallest expressions: a number, `_`, a name, a pointer, a bracket; and one of them behind `-` or `&`."""
        token = self.token
        if token.kind == "junk":
            raise unknown(self.text, token.span.start)
        if token.kind == "-":
            self.advance()
            value = self.postfix()
            return Arith(token.span | value.span, "-", Number(token.span, 0, False), value)
        if token.kind in ("number", "static"):
            return self.number()
        if token.kind == "blank":
            self.advance()
            return Blank(token.span)
        if token.kind == "pointer":
            return self.pointer()
        if token.kind in _CLOSE:
            return self.sequence()
        if token.kind == "name" and token.text == "None":  # Python's word for a mode that is kept
            return Blank(self.advance().span)
        if token.kind == "name":
            return self.name()
        if token.kind == "end":
            raise self.fail("the expression ends too early", hint="a shape, a stride or an operand is missing")
        if token.kind == ":":
            raise self.fail("the shape before ':' is missing", hint="write shape:stride, for example (4,8):(8,1)")
        if token.kind == ",":
            raise self.fail("a mode is missing before ','", hint="modes are separated by one ',': (4,8)")
        if token.kind in (")", ">", "]"):
            raise self.fail(f"a mode is missing before '{token.text}'", hint="(4) is a tuple of one mode; (4,8) of two")
        raise self.fail(f"unexpected '{token.text}' where a shape, stride or operand is expected")

    def number(self) -> Node:
        """`8`, `_8`, `_8{}`, and with positions of modes `1@0@1` and `1/2@0`."""
        token = self.advance()
        if token.text[:1] == "0" and token.text[1:].isdecimal():
            raise self.fail(f"{token.text} is octal in C++", token.span, hint="write the number without the leading 0")
        value = Number(token.span, _integer(token.text), token.kind == "static")
        if self.token.kind == "{":  # `_8{}`, a value of the type
            value = Number(token.span | self.braces(), value.value, value.static)
        node: Number | Ratio = value
        if self.token.kind == "/" and self.tokens[min(self.position + 2, len(self.tokens) - 1)].kind == "@":
            self.advance()
            below = self.advance()
            if below.kind not in ("number", "static") or _integer(below.text) < 1:
                raise self.fail("a ratio needs a positive denominator", below.span, hint="example: 1/2@0")
            node = Ratio(token.span | below.span, value.value, _integer(below.text), value.static and below.kind == "static")
        return self.at(node) if self.token.kind == "@" else node

    def at(self, node: Number | Ratio | Name) -> At:
        """The positions of modes behind a value: `@0@1`."""
        path = []
        span = node.span
        while self.token.kind == "@":
            self.advance()
            index = self.advance()
            if index.kind not in ("number", "static") or not 0 <= _integer(index.text) < 64:
                raise self.fail("'@' needs the position of a mode, 0 to 63", index.span, hint="1@0 is the unit step along mode 0")
            path.append(_integer(index.text))
            if len(path) > limit("nesting"):
                raise over("nesting", "modes nested too deeply", text=self.text, span=span)
            span = span | index.span
        return At(span, node, tuple(path))

    def pointer(self) -> Node:
        """A pointer as CuTe prints it: `smem_ptr[16b](unset)`, `counting_iter(0)`."""
        token = self.advance()
        if token.text.startswith("counting_iter"):
            return FlaggedPointer(token.span, "counting_iter", 8, 1)  # of no width: the layout behind it is what counts
        space, _, rest = token.text.partition("ptr[")
        bits, sparsity = int(rest.partition("b](")[0]), int(space.partition("sparse<")[2].partition(">")[0] or 1)
        if not sparsity or bits % sparsity:
            raise self.fail(f"elements of {bits} bits cannot be shared by {sparsity}", token.span)
        return FlaggedPointer(token.span, space + "ptr", bits // sparsity, sparsity)

    def name(self) -> Node:
        """A name, and what makes it a call: `name<...>`, `name(...)`, `name<...>(...)`, `name{}`."""
        token = self.advance()
        if token.text[0] == "?" and self.token.kind == "@":
            return self.at(Name(token.span, token.text))
        head, counts, number = token.text.partition("ArithTuple")
        if counts and not head and number.removeprefix("_").isdecimal():  # where a tensor of integers begins
            origin = Number(token.span, int(number.removeprefix("_")), number[0] == "_")
            return Call(token.span, counts, (origin,), (origin,))
        template: tuple[Node, ...] = ()
        span = token.span
        called = False
        if self.token.kind == "<":
            angle = self.sequence()
            template, span, called = angle.items, span | angle.span, True
        args: tuple[Node, ...] | None = None
        if self.token.kind == "(":
            arguments = self.sequence()
            args, span, called = arguments.items, span | arguments.span, True
        elif self.token.kind == "{":
            span, called = span | self.braces(), True
        return Call(span, token.text, template, args) if called else Name(token.span, token.text)

    def braces(self) -> Span:
        """`{}` after a C++ type."""
        opening = self.advance()
        if self.token.kind != "}":
            raise self.fail("expected '}'", hint="a C++ value is written with empty braces: Sw<3,3,3>{}")
        return opening.span | self.advance().span

    def sequence(self) -> Sequence:
        """A bracket, `(...)`, `<...>` or `[...]`, and the expressions in it. Raises: NotationError for brackets over the limit
        `nesting`."""
        opening = self.advance()
        close = _CLOSE[opening.kind]
        self.depth += 1
        if self.depth > limit("nesting"):
            raise over("nesting", "brackets nested too deeply", text=self.text, span=opening.span)
        items: list[Node] = []
        separators = (",", ";") if opening.kind == "[" else (",",)
        while self.token.kind != close:
            if self.token.kind == "end":
                raise self.fail(f"'{opening.text}' is never closed", opening.span, hint=f"add '{close}'")
            items.append(self.chain())
            if self.token.kind in separators:
                comma = self.advance()
                if self.token.kind == close and (opening.kind, len(items)) != ("(", 1):  # `(4,)` is Python's tuple of one
                    raise self.fail(
                        f"a mode is missing between '{comma.text}' and '{close}'",
                        comma.span | self.token.span,
                        hint=f"remove the '{comma.text}', or write the mode; (4) is a tuple of one mode",
                    )
            elif self.token.kind != close:
                if self.token.kind == "junk":
                    raise unknown(self.text, self.token.span.start)
                if self.token.kind == "end":
                    raise self.fail(f"'{opening.text}' is never closed", opening.span, hint=f"add '{close}'")
                found = "a pointer" if self.token.kind == "pointer" else f"'{self.token.text}'"
                raise self.fail(f"expected ',' or '{close}', found {found}", hint="modes are separated by ',': (4,8)")
        closing = self.advance()
        self.depth -= 1
        return Sequence(opening.span | closing.span, opening.kind, tuple(items))


def _chained(items: list[Node]) -> Node:
    return items[0] if len(items) == 1 else Chain(items[0].span | items[-1].span, tuple(items))


def _integer(text: str) -> int:
    return int(text, 16) if text.startswith("0x") else int(text.lstrip("_"))


def _holds_layouts(node: Sequence) -> bool:
    """Whether a bracket groups an expression that can be called, as in `((4,8):(8,1))(2,3)`."""
    return len(node.items) == 1 and isinstance(node.items[0], (Pair, Chain, Infix, Call, Apply, Name))
