"""The operands of C++ expressions: literals, names with template arguments, brackets, lambdas."""

from __future__ import annotations

from collections.abc import Callable

from cute_viz.errors import LimitError, NotationError, Span
from cute_viz.source.cpp.numbers import character, literal
from cute_viz.source.cpp.tokens import CppToken, number, words
from cute_viz.source.cpp.tree import Brace, Cast, CppCall, Decltype, Id, Lambda, Literal, Node, Part, Unary

BUILTIN = words("unsigned signed long short int char float double bool void auto wchar_t char16_t char32_t")
_NUMBERS = BUILTIN - {"auto", "void"} | words("size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t")
_SKIPPED = words("typename const volatile constexpr class struct template inline static enum")
_CASTS = frozenset(["static_cast", "reinterpret_cast", "const_cast", "dynamic_cast", "bit_cast"])
_SCANNED = 4_000_000  # tokens that are looked through for what closes a '<', in one file


class Operands:
    """The part of the parser that reads operands. templates: whether a name is one of a template, as far as the file tells."""

    _comma: Callable[[], Node]  # `a, b`, C++'s comma
    _value: Callable[[], Node]  # what stands between two commas
    _expression: Callable[[], Node]  # of operators, the lowest first
    _unary: Callable[[], Node]  # an operand with what stands before it

    def __init__(self, text: str, tokens: list[CppToken], templates: Callable[[str], bool | None]) -> None:
        self.text = text
        self.tokens = tokens
        self.templates = templates
        self.scanned = 0
        self._end = CppToken("end", "", len(text))
        self._at = self._stop = self._depth = 0
        self._angle = False

    @property
    def _token(self) -> CppToken:
        return self.tokens[self._at] if self._at < self._stop else self._end

    def _peek(self, ahead: int = 1) -> CppToken:
        at = self._at + ahead
        return self.tokens[at] if at < self._stop else self._end

    def _fail(self, message: str, token: CppToken | None = None) -> NotationError:
        token = token or self._token
        if token.kind == "end" and self._stop:
            token = self.tokens[min(self._stop, len(self.tokens)) - 1]
            return NotationError("the expression ends too early", text=self.text, span=token.span)
        return NotationError(message, text=self.text, span=token.span)

    def _take(self, kind: str) -> CppToken:
        token = self._token
        if token.kind != kind:
            raise self._fail(f"expected '{kind}', found '{token.text}'")
        self._at += 1
        return token

    def _span(self, start: int) -> Span:
        return Span(start, self.tokens[self._at - 1].end)

    def _matching(self, at: int) -> int:
        """The token that closes the bracket at one; the end where nothing does."""
        depth = 0
        for n in range(at, self._stop):
            kind = self.tokens[n].kind
            if kind in ("(", "[", "{"):
                depth += 1
            elif kind in (")", "]", "}"):
                depth -= 1
                if depth == 0:
                    self.scanned += n - at
                    self._check_scanned()
                    return n
        raise self._fail(f"'{self.tokens[at].text}' is never closed", self.tokens[at])

    def _check_scanned(self) -> None:
        if self.scanned > _SCANNED:
            raise LimitError("brackets are nested too deeply in this file", text=self.text, span=self._token.span)

    def _arguments(self, close: str) -> tuple[Node, ...]:
        """The arguments of a bracket that opens here."""
        opening = self._token
        self._at += 1
        angle, self._angle = self._angle, close == ">"
        out: list[Node] = []
        while self._token.kind != close:
            if self._token.kind == "end":
                raise self._fail(f"'{opening.text}' is never closed", opening)
            out.append(self._argument())
            if self._token.kind == ",":
                self._at += 1
            elif self._token.kind != close:
                raise self._fail(f"expected ',' or '{close}', found '{self._token.text}'")
        self._at += 1
        self._angle = angle
        return tuple(out)

    def _argument(self) -> Node:
        """An argument: an expression, a type, `{...}`, `.name = value` of a designated initializer."""
        if self._token.kind == "." and self._peek().kind == "name":
            self._at += 1
        if self._token.kind == "{":
            start = self._token.start
            args = self._arguments("}")
            return Brace(self._span(start), None, args)
        return self._value()

    def _primary(self) -> Node:
        token = self._token
        if token.kind == "name":
            return self._named()
        if token.kind == "number":
            self._at += 1
            value = number(token.text)
            if value is None:
                raise self._fail(f"{token.text!r} cannot be read as a number", token)
            return Literal(token.span, literal(value, token.text) if isinstance(value, int) else value)
        if token.kind == "string":
            self._at += 1
            while self._token.kind == "string":
                self._at += 1
            return Literal(self._span(token.start), token.text)
        if token.kind == "char":
            self._at += 1
            return Literal(token.span, character(token.text))
        if token.kind == "(":
            self._at += 1
            angle, self._angle = self._angle, False
            node = self._comma()
            self._angle = angle
            self._take(")")
            return node
        if token.kind == "{":
            args = self._arguments("}")
            return Brace(self._span(token.start), None, args)
        if token.kind == "[":
            at = self._at
            start = self._token.start
            self._at = self._matching(at) + 1
            while self._token.kind != "{":
                if self._token.kind == "(":
                    self._at = self._matching(self._at)
                elif self._token.kind in ("end", ";"):
                    raise self._fail("a lambda without a body", self.tokens[at])
                self._at += 1
            self._at = self._matching(self._at) + 1
            return Lambda(self._span(start), at)
        if token.kind == "::":
            self._at += 1
            return self._named()
        raise self._fail(f"unexpected '{token.text}'")

    def _named(self) -> Node:
        """What begins with a name."""
        while self._token.kind == "name" and self._token.text in _SKIPPED:
            self._at += 1
        token = self._token
        if token.kind == "::":
            self._at += 1
            token = self._token
        if token.text in ("true", "false", "nullptr", "NULL"):
            self._at += 1
            return Literal(token.span, {"true": True, "false": False}.get(token.text))
        if token.text in _CASTS and self._peek().kind == "<":
            self._at += 1
            kinds = self._arguments(">")
            args = self._arguments(")") if self._token.kind == "(" else ()
            if len(kinds) != 1 or len(args) != 1:
                raise self._fail("a cast takes one type and one value", token)
            return Cast(self._span(token.start), kinds[0], args[0])
        if token.text == "decltype" and self._peek().kind == "(":
            self._at += 2
            angle, self._angle = self._angle, False
            value = self._comma()
            self._angle = angle
            self._take(")")
            return Decltype(self._span(token.start), value, ())
        if token.text == "throw":
            self._at += 1
            nothing = self._token.kind in (")", ";", "end")
            thrown: Node = Literal(token.span, None) if nothing else self._expression()
            return Unary(self._span(token.start), "throw", thrown)
        if token.text in ("new", "delete", "operator", "co_await", "requires"):
            raise self._fail(f"'{token.text}' is not supported")
        if token.text in BUILTIN:
            words = []
            while self._token.kind == "name" and self._token.text in BUILTIN:
                words.append(self._token.text)
                self._at += 1
            span = self._span(token.start)
            return Id(span, (Part(" ".join(words), None, span),))
        if token.text in ("sizeof", "alignof"):
            return self._sizeof()
        parts = [self._part()]
        while self._token.kind == "::" and self._peek().kind in ("name", "~"):
            self._at += 1
            parts.append(self._part())
        return Id(self._span(token.start), tuple(parts))

    def _sizeof(self) -> Node:
        token = self._take("name")
        name = token.text
        if self._token.kind == "...":
            self._at += 1
            name += "..."
        function = Id(token.span, (Part(name, None, token.span),))
        args = self._arguments(")") if self._token.kind == "(" else (self._unary(),)
        return CppCall(self._span(token.start), function, args)

    def _part(self) -> Part:
        """A name with its template arguments, if it has some here."""
        while self._token.text == "template":
            self._at += 1
        token = self._take("name")
        if self._token.kind != "<" or not self._is_template(token.text):
            return Part(token.text, None, token.span)
        args = self._arguments(">")
        return Part(token.text, args, self._span(token.start))

    def _is_template(self, name: str) -> bool:
        """Whether the '<' here opens template arguments."""
        known = self.templates(name)
        if known is False and self.tokens[self._at - 2].kind == "::":
            known = None  # of another scope
        if known is not None:
            return known
        depth, n = 0, self._at
        tokens, stop = self.tokens, self._stop
        while n < stop:
            kind = tokens[n].kind
            if kind == "<":
                depth += 1
            elif kind == ">":
                depth -= 1
                if depth == 0:
                    break
            elif kind in ("(", "[", "{"):
                self.scanned += n - self._at
                n = self._matching(n)
            elif kind in (")", "]", "}", ";") or (kind in ("&&", "||") and known is None and depth == 1 and not _traits(name)):
                n = stop
            n += 1
        self.scanned += min(n, stop) - self._at
        self._check_scanned()
        return n < stop


def _traits(name: str) -> bool:
    """Whether a name is one of the standard's templates of conditions: `enable_if_t`, `conditional_t`."""
    return name.endswith(("_t", "_v")) or name in ("enable_if", "conditional", "integral_constant", "bool_constant", "Int", "C")


def is_number(type_words: set[str]) -> bool:
    """Whether the words of a type are those of a type of numbers."""
    return bool(type_words & _NUMBERS)
