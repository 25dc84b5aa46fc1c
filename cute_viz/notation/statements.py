"""The parser of CuTe notation: statements of expressions, and what could not be read.

program   = statement {';' statement}
statement = [name '='] chain
"""

from __future__ import annotations

from cute_viz.errors import NotationError
from cute_viz.notation.cute import Parser
from cute_viz.notation.lexer import unknown
from cute_viz.notation.syntax import Infix, Statement


def parse_program(text: str) -> list[Statement]:
    """The statements of a text; at least one. In a text of several lines a statement that cannot be read carries its error, as
    source code holds much that is not a layout; in one line the error is raised."""
    return _Program(text).program()


class _Program(Parser):
    """Statements over the expressions of the parser."""

    def program(self) -> list[Statement]:
        """Every statement; between them `;` and line ends."""
        out: list[Statement] = []
        tolerant = "\n" in self.text.strip()
        while True:
            while self.token.kind in (";", "{", "}") and (tolerant or self.token.kind == ";"):
                self.advance()
            if self.token.kind == "end":
                break
            start = self.position
            try:
                statement = self.statement()
                if self.token.kind not in (";", "end") and not (tolerant and self.token.kind == "}"):
                    raise self.leftover()
            except NotationError as error:
                if not tolerant:
                    raise
                statement = self.unread(start, error)
            out.append(statement)
        if not out:
            raise self.fail("there is nothing to read", hint="write a layout, for example (4,8):(8,1)")
        return out

    def statement(self) -> Statement:
        """[name =] value, or a comparison of two."""
        first = self.token
        name = None
        if first.kind == "name" and self.tokens[self.position + 1].kind == "=":
            name = self.advance().text
            self.advance()
        value = self.chain()
        if self.token.kind == "equal":
            operator, right = self.advance().text, self.chain()
            value = Infix(value.span | right.span, operator, value, right)
        return Statement(name, value, first.span | value.span, first.text)

    def unread(self, start: int, error: NotationError) -> Statement:
        """The statement at a token that could not be read; goes on behind its end."""
        self.position, self.depth = start, 0
        first = last = self.token
        named = self.token.kind == "name" and self.tokens[self.position + 1].kind == "="
        name = self.token.text if named else None
        depth = 0
        while self.token.kind != "end" and not (depth <= 0 and self.token.kind in (";", "{", "}")):
            last = self.advance()
            depth += (last.kind in ("(", "[")) - (last.kind in (")", "]"))
            if self.token.kind == "{" and self.tokens[self.position + 1].kind == "}":
                self.position += 2
        return Statement(name, None, first.span | last.span, first.text, error)

    def leftover(self) -> NotationError:
        """The error of what stands behind a whole statement."""
        token = self.token
        if token.kind == "junk":
            return unknown(self.text, token.span.start)
        if token.kind in (")", "]", ">"):
            return self.fail(f"'{token.text}' closes nothing", hint="remove it, or open it before")
        if token.kind == ":":
            return self.fail("a second ':'", hint="a layout is one shape and one stride: shape:stride")
        if token.kind == ",":
            return self.fail("',' outside of parentheses", hint="a tuple needs parentheses: (4,8)")
        if token.kind in ("number", "static"):
            return self.fail(
                f"unexpected {token.text} after the expression",
                hint="a ':' between shape and stride, or a ',' between two modes, is missing",
            )
        return self.fail(f"unexpected '{token.text}' after the expression")
