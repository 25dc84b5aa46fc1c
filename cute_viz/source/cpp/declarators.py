"""Variables and functions: what follows their type."""

from __future__ import annotations

from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.operands import is_number
from cute_viz.source.cpp.scopes import Declaration, Param, Range, Scope, Stmt
from cute_viz.source.cpp.tokens import words

_NO_TYPES = words("return delete throw goto operator new sizeof co_return else case asm __asm__")


def declaration(reader: Declarer, scope: Scope, at: int, params: tuple[Param, ...] | None) -> int:
    """A variable, a function, or an expression that begins at a token; the place behind it."""
    return Declarators(reader, scope, params).read(at)


class Declarators:
    """The reader of one declaration in a scope; `params` are those of the template."""

    def __init__(self, reader: Declarer, scope: Scope, params: tuple[Param, ...] | None) -> None:
        self.reader, self.scope, self.params = reader, scope, params
        self.tokens = reader.tokens
        self.words: set[str] = set()

    def read(self, at: int) -> int:
        """The declaration at a token; an expression where it is none."""
        reader, tokens = self.reader, self.tokens
        start = at
        at, self.words = reader.specifiers(at)
        begin = at
        if tokens[at].text in _NO_TYPES:
            return reader.expression(self.scope, at) if tokens[at].text != "operator" else self._operator(at)
        if tokens[at].kind == "~":
            return self._function_at(at + 1)
        behind = reader.type(at)
        if behind is None:
            return reader.expression(self.scope, start)
        stop, pointer = reader.pointers(reader.attributes(behind))
        stop = reader.attributes(stop)
        kind: Range = (begin, behind)
        token = tokens[stop]
        if token.kind == "[" and tokens[begin].text == "auto":
            return self._binding(kind, stop)
        if token.kind == "name" and token.text == "operator":
            return self._operator(stop)
        if token.kind == "name":
            return self._named(kind, stop, pointer)
        if token.kind == "(" and not self.scope.local and stop == behind:  # a constructor, TEST(a, b), a macro
            if self.scope.kind == "file" and tokens[reader.match[stop] + 1].kind in (";", "end", "("):
                return reader.expression(self.scope, start)  # a call, `copy(a, b);`, in a text that has no function
            return self._function(begin, stop)
        if token.kind == "(" and tokens[stop + 1].kind == "*" and tokens[behind - 1].kind in ("name", ">") and not self.scope.local:
            return reader.skip(self.scope, stop)  # a pointer to a function
        return reader.expression(self.scope, start)

    def _named(self, kind: Range, at: int, pointer: bool) -> int:
        """Behind the type stands a name."""
        reader, tokens = self.reader, self.tokens
        behind = at + 1
        last = at
        while tokens[behind].kind in ("::", "<"):  # `Foo<T>::bar(...)`, defined outside of its class
            if tokens[behind].kind == "<":
                after = reader.angles(behind)
                if after is None or tokens[after].kind not in ("::", "("):
                    break
                behind = after
            elif tokens[behind + 1].kind in ("name", "~"):
                last = behind + 1
                behind += 2
                if tokens[last].text == "operator":
                    return self._operator(last)
            else:
                break
        opening = tokens[behind].kind
        if opening == "(" and not (self.scope.local or "typedef" in self.words) and self._is_function(behind):
            numbers = is_number({token.text for token in tokens[slice(*kind)]})
            return self._function(last, behind, at, result=kind if numbers and not pointer else None)
        if opening in ("=", ";", ",", "{", "(", "[", ":", "end", ")") and last == at:
            return self._variables(kind, at, pointer)
        if opening == "=" and last != at:  # a static member, outside of its class
            return reader.skip(self.scope, behind)
        return reader.expression(self.scope, kind[0])

    def _is_function(self, at: int) -> bool:
        inside = self.tokens[at + 1]
        if inside.kind in ("number", "string", "char", "-", "!", "&"):
            return False
        return not (inside.kind == "name" and inside.text in ("true", "false", "nullptr"))

    def _operator(self, at: int) -> int:
        while self.tokens[at].kind not in ("(", ";", "end", "{"):
            at += 1
        if self.tokens[at].kind == "(" and self.tokens[at + 1].kind == ")" and self.tokens[at + 2].kind == "(":
            at += 2  # operator()(...)
        if self.tokens[at].kind != "(":
            return self.reader.skip(self.scope, at)
        return self._function(at - 1 if self.tokens[at - 1].kind == "name" else at, at, name="operator()")

    def _function_at(self, at: int) -> int:
        while self.tokens[at].kind not in ("(", ";", "end", "{", "}"):
            at += 1
        return self._function(at - 1, at) if self.tokens[at].kind == "(" else at

    def _function(self, last: int, opening: int, first: int | None = None, name: str = "", result: Range | None = None) -> int:
        """A function whose name is one token, whose parameters open at another; `first` begins its qualified name."""
        reader, tokens = self.reader, self.tokens
        name = name or tokens[last].text
        arguments = reader.function_params(opening + 1, reader.match[opening])
        at = min(reader.match[opening] + 1, len(tokens) - 1)
        while tokens[at].kind not in ("{", ";", "=", "end", "}"):
            if tokens[at].kind == ":":
                at = self._initializers(at + 1)
                break
            if tokens[at].kind == "->":
                behind = reader.type(at + 1)
                result = (at + 1, behind) if behind else None
            at = reader.match[at] + 1 if tokens[at].kind in ("(", "[") else at + 1
        parent = self.scope
        words: tuple[str, ...] = (name,)
        if first is not None and first != last:
            owner = reader.owner(self.scope, first, last)
            parent = owner or self.scope
            words = (name,) if owner else (*self._qualifiers(first, last), name)
        elif tokens[at].kind == "{" and name.startswith(("TEST", "TYPED_TEST")) and len(arguments) == 2:
            words = tuple(reader.words(part).replace(" ", "") for part in reader.split(opening + 1, reader.match[opening]))
        inner = Scope("function", name, parent, opening, words, params=self.params, arguments=arguments)
        declaration = Declaration("function", name, last, parent, result, params=self.params, inner=inner)
        declaration.static = tokens[at].kind == "{"
        reader.declare(declaration)
        reader.functions.append(inner)
        if tokens[at].kind == "{":
            return reader.body(inner, at + 1)
        return reader.skip(self.scope, at)

    def _qualifiers(self, first: int, last: int) -> tuple[str, ...]:
        """The names in front of a qualified name."""
        out, n = [], first
        while n < last:
            if self.tokens[n].kind == "name":
                out.append(self.tokens[n].text)
                n += 1
            elif self.tokens[n].kind == "<":
                n = self.reader.angles(n) or n + 1
            else:
                n += 1
        return tuple(out)

    def _initializers(self, at: int) -> int:
        """Behind the member initializers of a constructor, to its body."""
        tokens = self.tokens
        while tokens[at].kind not in ("end", ";", "}"):
            if tokens[at].kind == "{" and tokens[at - 1].kind not in ("name", ">"):
                return at
            if tokens[at].kind in ("(", "{"):
                at = self.reader.match[at]
                if tokens[at + 1].kind == "{":
                    return at + 1
            at += 1
        return at

    def _variables(self, kind: Range, at: int, pointer: bool) -> int:
        """One declarator after another."""
        reader, tokens = self.reader, self.tokens
        constant = any(token.text in ("const", "constexpr") for token in tokens[kind[0] : at])
        start, first = at, len(self.scope.declarations)
        while True:
            declaration = Declaration("variable", tokens[at].text, at, self.scope, kind, params=self.params, pointer=pointer)
            declaration.constant = bool(self.words & {"const", "constexpr"}) or constant
            declaration.static = "static" in self.words
            at += 1
            while tokens[at].kind == "[":
                declaration.array = True
                at = reader.match[at] + 1
            opening = tokens[at].kind
            if opening == ":":  # a bit field, or a loop over a range
                at = reader.find(at, (",", ";", "="))
                opening = tokens[at].kind
                declaration.kind = "loop"
            if opening == "=":
                end = reader.find(at + 1, (",", ";"))
                while tokens[end].kind == "," and not self._declares(end + 1):
                    end = reader.find(end + 1, (",", ";"))
                declaration.init, declaration.opens = (at + 1, end), "="
            elif opening in ("{", "("):
                end = reader.match[at] + 1
                declaration.init, declaration.opens = (at + 1, end - 1), opening
            else:
                end = at
            if "typedef" in self.words:
                declaration.kind, declaration.init, declaration.opens = "alias", kind, "="
            reader.declare(declaration)
            if declaration.init is not None:
                reader.bodies(self.scope, declaration.init[0], declaration.init[1], declaration.name)
                if self.scope.local:
                    reader.note_changes(self.scope, *declaration.init)
                    if not constant and tokens[declaration.token - 1].kind in ("&", "&&"):  # what changes it changes that, too
                        for n in range(*declaration.init):
                            if tokens[n].kind == "name":
                                reader.changed(self.scope, n, None)
            if tokens[end].kind != ",":
                break
            at = end + 1
            at, pointer = reader.pointers(at)
            if tokens[at].kind != "name":
                return reader.skip(self.scope, at)
        if self.scope.local and "typedef" not in self.words:
            declared = tuple(self.scope.declarations[first:])
            self.scope.statements.append(Stmt("declare", start, declared=declared, end=end + 1))
        return self._ended(end)

    def _declares(self, at: int) -> bool:
        at, _ = self.reader.pointers(at)
        return self.tokens[at].kind == "name" and self.tokens[at + 1].kind in ("=", ";", ",", "{", "(", "[")

    def _ended(self, end: int) -> int:
        if self.tokens[end].kind in (";", ")", "}", "end"):
            return end + (self.tokens[end].kind == ";")
        return self.reader.skip(self.scope, end)

    def _binding(self, kind: Range, at: int) -> int:
        """`auto [a, b] = x;`."""
        reader, tokens = self.reader, self.tokens
        close = reader.match[at]
        opening = tokens[close + 1].kind
        if opening not in ("=", "{", "("):
            return reader.expression(self.scope, at)
        end = reader.find(close + 2, (";",))
        init = (close + 2, end - (opening != "="))
        names = [n for n in range(at + 1, close) if tokens[n].kind == "name"]
        for place, n in enumerate(names):
            declaration = Declaration("variable", tokens[n].text, n, self.scope, kind, init, opening, place=place)
            reader.declare(declaration)
        if self.scope.local:
            declared = tuple(self.scope.declarations[-len(names) :])
            self.scope.statements.append(Stmt("declare", at, declared=declared))
        reader.bodies(self.scope, *init)
        return self._ended(end)
