"""What may change a variable, as the tokens of a function tell: assignments, steps, addresses, references that a call takes."""

from __future__ import annotations

from cute_viz.source.cpp.cursor import Cursor
from cute_viz.source.cpp.operands import BUILTIN
from cute_viz.source.cpp.preprocess import Preprocessed
from cute_viz.source.cpp.scopes import Change, Range, Scope
from cute_viz.source.cpp.tokens import words

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


class Changing(Cursor):
    """The part of the reader that notes what changes."""

    def __init__(self, source: Preprocessed) -> None:
        super().__init__(source)
        self.lambdas: dict[int, Scope] = {}  # by the token that begins them
        self.functions: list[Scope] = []

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
