"""The tokens of a C++ file -> its scopes and declarations; what is not known is skipped to the end of its statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from cute_viz.source.cpp.cursor import Cursor, is_macro_word
from cute_viz.source.cpp.operands import BUILTIN
from cute_viz.source.cpp.preprocess import Preprocessed
from cute_viz.source.cpp.scopes import Declaration, Param, Scope, Stmt
from cute_viz.source.cpp.tokens import words

_SPECIFIERS = words(
    "static constexpr const inline volatile extern mutable thread_local virtual explicit friend typename "
    "register constinit consteval final typedef"
)
_WITH_ARGUMENTS = words("alignas __attribute__ __launch_bounds__ __align__ __declspec __cluster_dims__ __block_size__")
_NO_MACROS = _WITH_ARGUMENTS | words(  # no macro stands there: in front of a declaration, in a type, behind a name
    "return delete throw goto new sizeof co_return co_await co_yield else do case asm __asm__ and or not xor bitor bitand struct "
    "class union enum using namespace template if for while switch try concept requires override noexcept alignas"
)
_CLASSES = frozenset(("struct", "class", "union"))
_WITHOUT_EFFECT = _CLASSES | words("using typedef enum static_assert template namespace friend extern public private protected ;")
_DEEP = 60  # scopes in scopes


class Grammar(NamedTuple):
    """The readers of what begins with a word, in any scope and in a function's, and of all other declarations."""

    words: Mapping[str, Callable[[Declarer, Scope, int, tuple[Param, ...] | None], int]]
    control: Mapping[str, Callable[[Declarer, Scope, int], int]]
    declaration: Callable[[Declarer, Scope, int, tuple[Param, ...] | None], int]


class Declarer(Cursor):
    """One way through the tokens; every method takes the place of a token and gives the one behind what it read."""

    def __init__(self, source: Preprocessed, grammar: Grammar) -> None:
        super().__init__(source)
        self.grammar = grammar
        self.file = Scope("file", "", None, 0)
        self.specialisations: dict[tuple[Scope, str], list[Scope]] = {}
        self.deep = 0
        self.statements: list[tuple[int, int]] = []  # where those of functions and of the file begin, and in which of the scopes
        self.scopes: list[Scope] = []
        self._places: dict[str, list[int]] = {}

    def body(self, scope: Scope, at: int) -> int:
        """The declarations and statements of a scope, up to its '}' or the end."""
        last = len(self.tokens) - 1
        if self.deep >= _DEEP:  # nobody writes this: what is in it is left out
            return min(self.match[at - 1] + 1, last)
        self.deep += 1
        while at < last and not (self.tokens[at].kind == "}" and scope.kind != "file"):
            before = at
            at = self.statement(scope, at, None)
            at = at if at > before else before + 1
        self.deep -= 1
        return min(at + 1, last)

    def statement(self, scope: Scope, at: int, params: tuple[Param, ...] | None) -> int:
        """One declaration or statement; `params` are those of the template that it is."""
        token = self.tokens[at]
        kind, word = token.kind, token.text
        if scope.local or scope.kind == "file":
            if not self.scopes or self.scopes[-1] is not scope:
                self.scopes.append(scope)
            self.statements.append((at, len(self.scopes) - 1))
        if kind in (";", "}"):
            return at + 1
        if kind == "{" and scope.local:
            return self.block(scope, at, "", "block")
        if kind != "name":
            return self.expression(scope, at)
        if scope.local and is_macro_word(word) and self.tokens[at + 1].text in self.grammar.control:  # CUTE_UNROLL for
            return self.statement(scope, at + 1, params)
        if scope.local:
            return self._local(scope, at, params)
        return self._declared(scope, at, params)

    def _local(self, scope: Scope, at: int, params: tuple[Param, ...] | None) -> int:
        """A statement of a function: what it is is noted; one that is not read, too."""
        known, word = len(scope.statements), self.tokens[at].text
        control = self.grammar.control.get(word)
        end = control(self, scope, at) if control is not None else self._declared(scope, at, params)
        if len(scope.statements) == known and word not in _WITHOUT_EFFECT:
            scope.statements.append(Stmt("other", at))
        for statement in scope.statements[known:]:
            statement.end = end
        return end

    def _declared(self, scope: Scope, at: int, params: tuple[Param, ...] | None) -> int:
        """One declaration, or an expression."""
        word = self.tokens[at].text
        if word in ("public", "private", "protected") and self.tokens[at + 1].kind == ":":
            return at + 2
        behind = self.match[at + 1] + 1 if word == "alignas" and self.tokens[at + 1].kind == "(" else at
        if behind > at and self.tokens[behind].text in _CLASSES:  # `alignas(128) union { ... } tensors;`
            return self.statement(scope, behind, params)
        reader = self.grammar.words.get(word)
        if reader is not None:
            return reader(self, scope, at, params)
        return self.grammar.declaration(self, scope, at, params)

    def block(self, scope: Scope, at: int, flow: str, kind: str) -> int:
        """`{...}`, or one statement, as a block of its own."""
        inner = Scope("block", "", scope, at, flow=flow)
        scope.statements.append(Stmt(kind, at, yes=inner))
        return self.inner(inner, at)

    def inner(self, scope: Scope, at: int) -> int:
        """The statements of a block that begins here."""
        if self.tokens[at].kind == "{":
            return self.body(scope, at + 1)
        if self.deep >= _DEEP:
            end = self.find(at, (";",))
            return end + (self.tokens[end].kind == ";")
        self.deep += 1
        end = self.statement(scope, at, None)
        self.deep -= 1
        return end

    def skip(self, scope: Scope, at: int) -> int:
        """To behind the ';' of a statement, with the bodies of lambdas on the way."""
        end = self.find(at, (";",))
        self.bodies(scope, at, end)
        return end + (self.tokens[end].kind == ";")

    def bodies(self, scope: Scope, begin: int, end: int, name: str = "") -> None:
        """The bodies of the lambdas among tokens."""
        tokens, n = self.tokens, begin
        while n < end:
            if tokens[n].kind == "[" and (n == 0 or tokens[n - 1].kind not in ("name", ")", "]", "number", "[")):
                behind = self._lambda(scope, n, name)
                if behind is not None:
                    n = behind
                    continue
            n += 1

    def _lambda(self, scope: Scope, at: int, name: str) -> int | None:
        tokens = self.tokens
        n = self.match[at] + 1
        template: tuple[Param, ...] | None = None
        if tokens[n].kind == "<" and (behind := self.angles(n)) is not None:
            template = self.template_params(n + 1, behind - 1)
            n = behind
        arguments: tuple[Param, ...] = ()
        if tokens[n].kind == "(":
            arguments = self.function_params(n + 1, self.match[n])
            n = self.match[n] + 1
        while tokens[n].kind in ("name", "->", "::", "*", "&"):
            n += 1
            if tokens[n].kind == "(":  # __attribute__((...)), noexcept(...)
                n = self.match[n] + 1
            if tokens[n].kind == "<" and (behind := self.angles(n)) is not None:
                n = behind
        if tokens[n].kind != "{":
            return None
        inner = Scope("lambda", name, scope, at, (name,) if name else (), params=template, arguments=arguments)
        self.lambdas[at] = inner
        return self.body(inner, n + 1)

    def expression(self, scope: Scope, at: int) -> int:
        """A statement that declares nothing: what it changes is noted."""
        end = self.find(at, (";",))
        if scope.local:
            self.note_changes(scope, at, end)
            if self.tokens[at].text in ("asm", "__asm__", "__asm"):  # `"=r"(x)` and `"+r"(x)` change what they name
                for n in range(at, end):
                    if self.tokens[n].kind == "string" and self.tokens[n].text[1] in "=+" and self.tokens[n + 2].kind == "name":
                        self.changed(scope, n + 2, None)
            scope.statements.append(Stmt("expression", at, (at, end), end=end + 1))
        elif (brace := self.find(at, (";", "{"))) < end and self.tokens[brace - 1].text in (")", "const", "noexcept", "override"):
            return self.match[brace] + 1  # the body of a function that is not understood: what follows is
        self.bodies(scope, at, end)
        return end + (self.tokens[end].kind == ";")

    def places(self) -> dict[str, list[int]]:
        """Where each name stands, but behind a dot."""
        if not self._places:
            for n, token in enumerate(self.tokens):
                if token.kind == "name" and self.tokens[n - 1].kind not in (".", "->"):
                    self._places.setdefault(token.text, []).append(n)
        return self._places

    def owner(self, scope: Scope, first: int, last: int) -> Scope | None:
        """The class in this file that a function belongs to, whose qualified name is [first, last]."""
        for n in range(first, last):
            token = self.tokens[n]
            if token.kind == "name" and self.tokens[n + 1].kind in ("::", "<"):
                found = next((other.inner for other in scope.names.get(token.text, ()) if other.inner is not None), None)
                if found is None:
                    return None
                scope = found
                if self.tokens[n + 1].kind == "<" and (self.angles(n + 1) or n) >= last:
                    break
            elif token.kind != "::":
                break
        return scope if scope.kind == "class" else None

    def specifiers(self, at: int) -> tuple[int, set[str]]:
        """Behind the words in front of a type, and which there were."""
        tokens, words = self.tokens, set()
        while True:
            token = tokens[at]
            if token.kind == "name":
                if token.text in _SPECIFIERS:
                    words.add(token.text)
                    at += 1
                    continue
                if token.text in _WITH_ARGUMENTS and tokens[at + 1].kind == "(":
                    at = self.match[at + 1] + 1
                    continue
                if self._is_macro(at):
                    at += 1
                    continue
                following = tokens[at + 1]
                if token.text in _CLASSES | {"enum"} and following.kind == "name":  # `struct X* p`
                    at += 1
                    continue
            elif token.kind == "[" and tokens[at + 1].kind == "[":
                at = self.match[at] + 1
                continue
            return at, words

    def _is_macro(self, at: int) -> bool:
        """Whether a name is a macro in front of a declaration: `CUTE_DEVICE` by its looks, `DEVICE` by what follows it."""
        token, following, then = (self.tokens[min(at + n, len(self.tokens) - 1)] for n in range(3))
        if following.kind != "name":
            return False
        if following.text in _WITH_ARGUMENTS and then.kind == "(":  # `CUTLASS_GLOBAL __launch_bounds__(128) void f()`
            return is_macro_word(token.text) or (token.text.isupper() and len(token.text) > 3)
        if is_macro_word(token.text):
            behind = then.kind in ("name", "::", "<", "*", "&", "&&")
            return behind or following.text in BUILTIN or following.text in _SPECIFIERS
        if token.text in BUILTIN or token.text in _NO_MACROS or following.text in _NO_MACROS:
            return False
        if following.text in ("const", "volatile"):  # `T const x`
            return False
        if following.text in BUILTIN or following.text in _SPECIFIERS or following.text == "decltype":
            return True
        if then.kind in ("::", "<"):  # not `Status Gemm<T>::run()`
            return token.text.isupper() and len(token.text) > 3
        return then.kind in ("*", "&", "&&") or (then.kind == "name" and then.text not in _NO_MACROS)

    def type(self, at: int) -> int | None:
        """Behind a type without its pointers; None where none begins."""
        tokens = self.tokens
        if tokens[at].kind == "::":
            at += 1
        if tokens[at].kind != "name":
            return None
        if tokens[at].text == "decltype" and tokens[at + 1].kind == "(":
            at = self.match[at + 1] + 1
        elif tokens[at].text in BUILTIN:
            while tokens[at].text in BUILTIN or tokens[at].text == "const":
                at += 1
            return at
        else:
            at = self._named(at)
        while tokens[at].kind == "::" and tokens[at + 1].kind == "name":
            at += 1
            while tokens[at].text == "template":
                at += 1
            at = self._named(at)
        return at

    def _named(self, at: int) -> int:
        at += self.tokens[at].kind != "end"
        if self.tokens[at].kind == "<":
            behind = self.angles(at)
            return at if behind is None else behind
        return at

    def attributes(self, at: int) -> int:
        """Behind what may stand between a type and a name: `__launch_bounds__(256, 1)`, words of macros."""
        tokens = self.tokens
        while tokens[at].kind == "name":
            if tokens[at].text in _WITH_ARGUMENTS and tokens[at + 1].kind == "(":
                at = self.match[at + 1] + 1
            elif (is_macro_word(tokens[at].text) or tokens[at].text in _SPECIFIERS) and tokens[at + 1].kind == "name":
                at += 1
            else:
                break
        return at

    def pointers(self, at: int) -> tuple[int, bool]:
        """Behind `*`, `&`, `const` and the like, and whether it is a pointer."""
        pointer = False
        while self.tokens[at].kind in ("*", "&", "&&", "...") or self.tokens[at].text in ("const", "volatile", "__restrict__"):
            pointer |= self.tokens[at].kind == "*"
            at += 1
        return at, pointer

    def named(self, name: str, template: bool) -> None:
        """Note whether a name is one of a template; of one that is both nothing is known."""
        if self.templates.setdefault(name, template) is not template:
            self.templates[name] = None

    def declare(self, declaration: Declaration) -> None:
        """Add a declaration to its scope, with the undecided branch that it is in."""
        declaration.branch = self.source.branch(declaration.token)
        for part in (declaration.type, declaration.init):
            if part is not None and (mixed := self.source.mixed(*part)):
                declaration.mixed = mixed
        if declaration.init and declaration.type and (mixed := self.source.mixed(declaration.type[0], declaration.init[1])):
            declaration.mixed = mixed
        declaration.scope.add(declaration)
        if declaration.params is not None or declaration.kind in ("variable", "loop", "enumerator"):
            self.named(declaration.name, declaration.params is not None)
