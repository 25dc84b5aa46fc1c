"""The parser of CuTe notation and C++ source: statements of expressions, the blocks around them, and what could not be read.

program   = statement {';' statement}
statement = {qualifier} [name '='] chain | {qualifier} chain name ['=' chain | '{}']
"""

from __future__ import annotations

from bisect import bisect

from cute_viz.errors import NotationError
from cute_viz.limits import limit
from cute_viz.notation.cute import Parser
from cute_viz.notation.lexer import unknown
from cute_viz.notation.scopes import conditions, parameter, parameters
from cute_viz.notation.syntax import Call, Name, Number, Statement


def parse_program(text: str) -> list[Statement]:
    """The statements of a text; at least one. In a text of several lines a statement that cannot be read carries its error, as
    source code holds much that is not a layout; in one line the error is raised.

    >>> len(parse_program("a = (4,8):(8,1); a o 4:2"))
    2
    """
    return _Program(text).program()


class _Program(Parser):
    """Statements over the expressions of the parser."""

    named: set[str]

    def program(self) -> list[Statement]:
        """Every statement; between them `;`, line ends and the braces of C++ blocks."""
        out: list[Statement] = []
        self.named = set()
        tolerant = "\n" in self.text.strip() or (self.text.count(";") > 1 and "auto" in self.text.split())
        blocks: list[int] = []
        branches = [(-1, 0), *conditions(self.text)] if tolerant else []
        while True:
            while self.token.kind in (";", "{", "}") and (tolerant or self.token.kind == ";"):
                self.block(blocks, out)
            if self.token.kind == "end":
                break
            start = self.position
            around, read = tuple(blocks), len(out)
            branch = branches[bisect(branches, (self.token.span.start, 0)) - 1][1] if branches else 0
            try:
                out += self.bindings() or [self.statement()]
                if self.token.kind not in (";", "end") and not (tolerant and self.token.kind == "}"):
                    raise self.leftover()
            except NotationError as error:
                if not tolerant:
                    raise
                del out[read:]  # it was read, but more followed
                out.append(self.unread(start, error))
            for statement in out[read:]:
                statement.scope, statement.region = around, (*around, -branch) if branch else around
        if all(statement.lost for statement in out):
            raise self.fail("there is nothing to read", hint="write a layout, for example (4,8):(8,1)")
        return out

    def block(self, blocks: list[int], out: list[Statement]) -> None:
        """Read a `;` or a brace; in a block that a brace opens the parameters of a function have no value."""
        mark, before = self.token, self.tokens[self.position - 1].kind if self.position else ";"
        self.advance()
        if mark.kind == "}":
            del blocks[-1:]
        elif mark.kind == "{" and len(blocks) < limit("nesting"):
            blocks.append(self.position)
            if out and before not in (";", "{", "}"):
                for name in parameters(self.text[out[-1].span.start : mark.span.start]):
                    lost = Statement(name, None, mark.span, "", parameter(name, self.text, mark.span))
                    lost.scope, lost.lost = tuple(blocks), True
                    out.append(lost)

    def bindings(self) -> list[Statement]:
        """`auto [a, b] = value`: a statement for each name, of which the first keeps its place for a mistake; else none."""
        at = self.position
        while self.tokens[at].kind in ("name", "&"):
            at += 1
        names: list[str] = []
        if at == self.position or self.tokens[at].kind != "[":
            return []
        while self.tokens[at].kind in ("[", ",") and self.tokens[at + 1].kind == "name":
            names.append(self.tokens[at + 1].text)
            at += 2
        if self.tokens[at].kind != "]" or self.tokens[at + 1].kind != "=":
            return []
        first = self.token
        self.position = at + 2
        value, out = self.chain(), []
        for n, name in enumerate(names):
            entry = Call(value.span, "get", (Number(value.span, n, True),), (value,))
            out.append(Statement(name, entry, first.span | value.span, first.text))
        return out

    def statement(self) -> Statement:
        """[C++ type and qualifiers] [name =] value."""
        first = self.token
        self.qualifiers()
        type_ = self.tokens[self.position - 1] if self.token is not first else None
        following = self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        name = None
        if self.token.kind == "name" and following.kind == "=":
            name = self.advance().text
            self.advance()
        value = self.chain()
        if name is None and self.token.kind == "name" and isinstance(value, (Call, Name)):  # `Copy_Atom<...> atom;`
            name = self.advance().text
            if self.token.kind == "=":
                self.advance()
                value = self.chain()
            elif self.token.kind == "{":
                self.braces()
        if type_ is not None and type_.text in self.named and name is None and isinstance(value, Name) and self.token.kind == ";":
            name, value = value.text, Name(type_.span, type_.text)  # `G2SCopy copy;`, of an alias
        if name is not None:
            self.named.add(name)
        out = Statement(name, value, first.span | value.span, first.text)
        out.declares = name != first.text
        return out

    def qualifiers(self) -> None:
        """Skip what stands before a declared name: `constexpr int`, `auto const&`, `TiledMMA`, `return`."""
        while self.token.kind == "name":
            ahead = self.position + 1
            while self.tokens[ahead].kind in ("&", "*"):
                ahead += 1
            if self.tokens[ahead].kind != "name" or self.is_product(ahead):
                return
            self.position = ahead

    def is_product(self, at: int) -> bool:
        """Whether `a * b`, up to the name at a token, is a product: it declares nothing, as `T* p;` and `T* p = q` do."""
        return self.tokens[at - 1].kind == "*" and self.tokens[at + 1].kind not in ("=", ";", "{", "[", "name")

    def unread(self, start: int, error: NotationError) -> Statement:
        """The statement at a token that could not be read; goes on behind its end."""
        self.position, self.depth = start, 0
        first = last = self.token
        self.qualifiers()
        named = self.token.kind == "name" and self.tokens[self.position + 1].kind == "="
        name = self.token.text if named else None
        self.position = start
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
