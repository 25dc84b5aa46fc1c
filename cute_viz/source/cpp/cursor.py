"""Ways over the tokens of a file: brackets, template arguments, the ends of statements; and what may change a variable, as the
tokens of a function tell: assignments, steps, addresses, references that a call takes.
"""

from __future__ import annotations

import re
from functools import cached_property

from cute_viz.source.cpp.operands import BUILTIN
from cute_viz.source.cpp.preprocess import Preprocessed
from cute_viz.source.cpp.scopes import Change, Param, Range, Scope
from cute_viz.source.cpp.tokens import Lines, words

_CLOSE = {")": "(", "]": "[", "}": "{"}
_FAR = 6000  # tokens between a '<' and its '>'
_BEHIND = words(  # what may stand behind the '>' of template arguments
    "( { :: ) , ; > } ] ... end & * && name = . ? : [ <<< || == != / % <= >= | ^ << <"
)
_TOTAL = 20  # times as many tokens as a file has are looked through for what closes a '<', and a million

HARMLESS = words(  # what changes nothing that is a number or a layout
    "printf print print_layout print_tensor print_tensor_os print_latex print_svg assert static_assert copy gemm clear fill"
    " sizeof decltype"
)
_BY_VALUE = (  # of names that no file defines those that take no reference to a number
    BUILTIN
    | HARMLESS
    | words(
        "make_shape make_stride make_coord make_tile make_step make_tuple make_tensor make_int_tuple get_slice min max abs gcd lcm"
        " log_2 if while for switch return get_thread_slice partition_S partition_D size_t uint32_t int32_t int64_t uint64_t dim3"
        " half_t move forward round_up bits_to_bytes catch operator"
    )
)
WITHIN = -1  # in place of the argument of a call: a part of the object changes


class Cursor:
    """The tokens of a file with the partner of every bracket, and a note of what changes."""

    def __init__(self, source: Preprocessed) -> None:
        self.source = source
        self.text = source.text
        self.tokens = source.tokens
        self.match = self._matches()
        self.scanned = 0
        self._angles: dict[int, int | None] = {}
        self.templates: dict[str, bool | None] = {}  # names, and whether they are of templates
        self.lambdas: dict[int, Scope] = {}  # by the token that begins them
        self.functions: list[Scope] = []

    @cached_property
    def starts(self) -> list[int]:
        """Where each token begins."""
        return [token.start for token in self.tokens]

    @cached_property
    def lines(self) -> Lines:
        """The lines of the text."""
        return Lines(self.text)

    def _matches(self) -> list[int]:
        """For every opening bracket the one that closes it; what nothing closes goes to the last token before the end."""
        last = max(len(self.tokens) - 2, 0)
        out = [last] * len(self.tokens)
        open_: list[int] = []
        for n, token in enumerate(self.tokens):
            kind = token.kind
            if kind in ("(", "[", "{"):
                open_.append(n)
            elif kind in _CLOSE:
                wanted = _CLOSE[kind]
                if open_ and self.tokens[open_[-1]].kind == wanted:
                    out[open_.pop()] = n
                elif kind == "}":  # parentheses that are never closed end with their block
                    at = len(open_) - 1
                    while at >= 0 and self.tokens[open_[at]].kind != "{":
                        at -= 1
                    if at >= 0:
                        for left in open_[at + 1 :]:
                            out[left] = n - 1
                        out[open_[at]] = n
                        del open_[at:]
        return out

    def angles(self, at: int) -> int | None:
        """Behind the '>' that closes the '<' at a token; None where none does, so that it compares."""
        if at not in self._angles:
            self._angles[at] = self._closed(at)
        return self._angles[at]

    def _closed(self, at: int) -> int | None:
        depth, n, tokens = 0, at, self.tokens
        stop = min(at + _FAR, len(tokens) - 1)
        while n < stop:
            kind = tokens[n].kind
            if kind == "<":
                depth += 1
            elif kind == ">":
                depth -= 1
                if depth == 0:
                    self.scanned += n - at
                    return n + 1 if tokens[n + 1].kind in _BEHIND else None
            elif kind in ("(", "[", "{"):
                n = max(n, self.match[n])
            elif kind in (")", "]", "}", ";"):
                break
            n += 1
        self.scanned += n - at
        return None

    def find(self, at: int, kinds: tuple[str, ...], stop: int | None = None) -> int:
        """The first token of one of these kinds outside of brackets; the end of the block, or `stop`, where there is none."""
        tokens = self.tokens
        last = len(tokens) - 1 if stop is None else stop
        n = at
        while n < last:
            kind = tokens[n].kind
            if kind in kinds or kind in (")", "]", "}"):
                return n
            if kind in ("(", "[", "{"):
                n = self.match[n]
            elif kind == "<" and n > at and tokens[n - 1].kind == "name" and self.scanned < 1_000_000 + _TOTAL * len(tokens):
                behind = self.angles(n)
                n = n if behind is None else behind - 1
            n += 1
        return last

    def split(self, begin: int, end: int) -> list[Range]:
        """The ranges that commas part."""
        out: list[Range] = []
        while begin < end:
            comma = min(self.find(begin, (",",), end), end)
            out.append((begin, comma))
            begin = comma + 1
        return out

    def words(self, part: Range) -> str:
        """The text of tokens, written the same way whatever their blanks are: `layout::RowMajor, 4`."""
        out = ""
        for token in self.tokens[part[0] : part[1]]:
            if out and (out[-1].isalnum() or out[-1] == "_") and token.kind in ("name", "number"):
                out += " "
            out += ", " if token.kind == "," else token.text
        return out

    def template_params(self, begin: int, end: int) -> tuple[Param, ...]:
        """The parameters of `template <...>`, whose tokens are these."""
        return tuple(self._template_param(*part) for part in self.split(begin, end))

    def _template_param(self, begin: int, end: int) -> Param:
        tokens = self.tokens
        equals = min(self.find(begin, ("=",), end), end)
        default = (equals + 1, end) if equals < end else None
        first = tokens[begin].text
        pack = any(token.kind == "..." for token in tokens[begin:equals])
        last = equals - 1
        named = last > begin and tokens[last].kind == "name"
        name = tokens[last].text if named else ""
        if first == "template":
            return Param(name, "template", last, None, default, pack)
        if first in ("typename", "class") and equals - begin <= 3 and not any(token.kind == "::" for token in tokens[begin:equals]):
            return Param(name, "type", last, None, default, pack)
        self.templates.setdefault(name, False)
        return Param(name, "value", last, (begin, last if named else equals), default, pack)

    def function_params(self, begin: int, end: int) -> tuple[Param, ...]:
        """The parameters of a function, whose tokens are these."""
        out = []
        for first, stop in self.split(begin, end):
            equals = min(self.find(first, ("=",), stop), stop)
            default = (equals + 1, stop) if equals < stop else None
            last = equals - 1
            while last > first and self.tokens[last].kind == "]":
                last = next((n for n in range(last, first, -1) if self.match[n] == last and self.tokens[n].kind == "["), first) - 1
            if self.tokens[last].kind == ")" and self.tokens[last - 1].kind == "name":  # a reference to an array, `T (&x)[4]`
                last -= 1
            named = last > first and self.tokens[last].kind == "name" and self.tokens[last - 1].kind != "::"
            if not named and first == last:
                out.append(Param("", "value", first, (first, equals), default))
                continue
            while first + 1 < last and is_macro_word(self.tokens[first].text) and self.tokens[first + 1].kind == "name":
                first += 1  # CUTE_GRID_CONSTANT T const x
            kinds = [token.text for token in self.tokens[first : last if named else equals]]
            constant = "&" not in kinds or "const" in kinds
            pack = "..." in kinds
            name = self.tokens[last].text if named else ""
            self.templates.setdefault(name, False)
            out.append(Param(name, "value", last, (first, last if named else equals), default, pack, constant))
        return tuple(out)

    def note_changes(self, scope: Scope, begin: int, end: int) -> None:
        """The names that the tokens of an expression assign to, step, or take the address of."""
        tokens = self.tokens
        for n in range(begin, end):
            if tokens[n].kind != "name" or (n > begin and tokens[n - 1].kind in (".", "->", "::")):
                continue
            kind, value, call = self._change(n, begin, end)
            if kind:
                self.changed(scope, n, value, call)

    def _change(self, n: int, begin: int, end: int) -> tuple[bool, Range | None, tuple[str, int] | None]:
        """Whether an expression may change a name, to what, and in which call."""
        tokens = self.tokens
        before, after = tokens[n - 1].kind if n > begin else ";", tokens[n + 1].kind
        if after == "=" and n == begin:
            return True, (n + 2, end), None
        if after in (".", "->", "["):
            return self._part_changes(n, before)
        compound = len(after) > 1 and after[-1] == "=" and after not in ("==", "!=", "<=", ">=", "<=>")
        shifted = after == ">" and tokens[n + 2].kind == ">=" and tokens[n + 1].touches(tokens[n + 2])
        if compound or shifted or after in ("=", "++", "--") or before in ("++", "--"):
            return True, None, None
        if before == "&" and n - 1 >= begin and tokens[n - 2].kind in ("(", ",", "=", ";", "{") and after not in (".", "->", "["):
            return True, None, None
        if before == ">" and n - 2 >= begin and tokens[n - 2].kind == ">" and tokens[begin].text in ("std", "cin"):
            return True, None, None
        if before in ("(", ",") and after in (")", ",") and (call := self._call_around(n, begin)) is not None:
            return True, None, call
        return False, None, None

    def _part_changes(self, n: int, before: str) -> tuple[bool, None, tuple[str, int] | None]:
        """Whether a member or an element of a name changes: `p.x = 4`, `a[i]++`; a function of its class may, `p.f()`."""
        tokens, at = self.tokens, n + 1
        while tokens[at].kind in (".", "->", "["):
            at = self.match[at] + 1 if tokens[at].kind == "[" else min(at + 2, len(tokens) - 1)
        after = tokens[at].kind
        if after == "(":
            return True, None, (tokens[at - 1].text, WITHIN)
        changes = after in ("=", "++", "--", "<<=") or before in ("++", "--") or (after[-1] == "=" and after[0] in "+-*/%&|^")
        return changes or (after == ">" and tokens[at + 1].kind == ">="), None, ("", WITHIN)

    def _call_around(self, n: int, begin: int) -> tuple[str, int] | None:
        """The function whose whole argument a name is, and its place."""
        place = depth = 0
        for at in range(n - 1, begin, -1):
            kind = self.tokens[at].kind
            if kind in (")", "]", "}"):
                depth += 1
            elif depth:
                depth -= kind in ("(", "[", "{")
            elif kind == "(":
                name = self.tokens[at - 1]
                return (name.text, place) if name.kind == "name" else None
            elif kind in ("[", "{", ";"):
                return None
            place += kind == "," and not depth
        return None

    def changed(self, scope: Scope, n: int, value: Range | None, call: tuple[str, int] | None = None) -> None:
        """Note a change of the name at a token, in all functions and lambdas around."""
        home: Scope | None = scope.home
        while home is not None and home.kind in ("function", "lambda"):
            home.changes.setdefault(self.tokens[n].text, []).append(Change(n, scope, value, call))
            home = home.parent.home if home.parent is not None else None

    def settle(self) -> None:
        """Once all functions are known: the arguments of those that take no reference are not changed."""
        taken = {("swap", 0), ("swap", 1), ("exchange", 0), ("", WITHIN)}
        for function in self.functions:
            if function.parent is not None and function.parent.kind == "class":
                constant = self.tokens[self.match[function.token] + 1].text == "const"
                taken |= set() if constant else {(function.name, WITHIN)}
        for function in (*self.functions, *self.lambdas.values()):
            taken |= {(function.name, n) for n, param in enumerate(function.arguments) if not param.constant}
        defined = {function.name for function in self.functions}
        for function in (*self.functions, *self.lambdas.values()):
            gives = self._gives(function)
            for name, changes in list(function.changes.items()):
                kept = [x for x in changes if x.call is None or x.call in taken or self._may_change(*x.call, defined, gives)]
                function.changes[name] = kept
                if not kept:
                    del function.changes[name]

    def writes(self, name: str) -> list[Change]:
        """What functions do to a name, of the file or of their own."""
        return [change for function in (*self.functions, *self.lambdas.values()) for change in function.changes.get(name, ())]

    def _may_change(self, name: str, place: int, defined: set[str], gives: bool) -> bool:
        """Whether a function that nobody knows is given a variable; CuTe's take no references, and in a kernel they are CUDA's."""
        if name in self.source.macros:
            return True
        from cute_viz.algebra.ops import ALIASES, OPS

        return (
            gives and place != WITHIN and name not in defined and name not in OPS and name not in ALIASES and name not in _BY_VALUE
        )

    def _gives(self, function: Scope) -> bool:
        """Whether a function returns a value."""
        waiting = list(function.statements)
        while waiting:
            statement = waiting.pop()
            if statement.kind == "return" and statement.value is not None and statement.value[0] < statement.value[1]:
                return True
            waiting += [x for block in (statement.yes, statement.no) if block is not None for x in block.statements]
        return False


_MACRO = re.compile(r"(?:[A-Z][A-Z0-9]*_)+[A-Z0-9_]+|__[a-z_]+__|__[A-Z_]+__")


def is_macro_word(word: str) -> bool:
    """Whether a word in front of a declaration is one of a macro: CUTE_HOST_DEVICE, __device__."""
    return _MACRO.fullmatch(word) is not None
