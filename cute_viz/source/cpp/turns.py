"""The rounds of the loops around a statement, as the threads of a block run them: which take part, and with which numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, product, takewhile
from math import prod
from typing import Any, NamedTuple

from cute_viz.algebra.shares import MOST
from cute_viz.errors import AlgebraError
from cute_viz.source.cpp.alternatives import around, leaves
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.elements import is_integer
from cute_viz.source.cpp.evaluate import CppEvaluator
from cute_viz.source.cpp.lookup import Lookup, within
from cute_viz.source.cpp.numbers import common, kind_named, kind_of, number
from cute_viz.source.cpp.ranges import converted, typed
from cute_viz.source.cpp.rounds import Counter
from cute_viz.source.cpp.scopes import Range, Scope, Stmt
from cute_viz.source.cpp.threads import Vector, each, numbers_at
from cute_viz.source.cpp.tree import Binary, Node, Unary
from cute_viz.source.cpp.unknown import tried
from cute_viz.source.cpp.values import Env, Value, integer
from cute_viz.source.moves import COMPARED, Pace, stepped
from cute_viz.values.integer import Unknown
from cute_viz.values.marks import Kind
from cute_viz.values.types import ValueType

_BOUNDS = ("<", "<=", ">", ">=")
_OTHERWISE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_TRIED = 4096  # rounds of loops around one
_FOLLOWED = 64  # rounds of a loop whose number nobody knows
_DIVIDED = "which threads take part depends on a condition on their index"


class Cycle(NamedTuple):
    """A loop: the numbers that its rounds are told apart by, and how many rounds it has, None where nobody knows."""

    values: tuple[int, ...] | range
    rounds: int | None


class Turns:
    """The loops and the conditions around a place of a function, of which a turn is one round of each.

    loops: outermost first; spans: their tokens. left: the tokens of conditions before that end the function or a round. env: what
    names mean there; a variable of a loop is an integer that a turn tells. sure: whether the conditions are all known. assumed:
    those on a thread's index that are taken to hold, since their bound is not known.
    """

    def __init__(
        self,
        context: Context,
        lookup: Lookup,
        scope: Scope,
        token: int,
        block: tuple[int, int, int],
        tests: tuple[tuple[Range, bool], ...] = (),
    ) -> None:
        """tests: the conditions in the statement itself, and what they must be."""
        self.context, self.lookup, self.scope, self.count = context, lookup, scope, min(MOST, prod(block))
        x, y = block[0], block[0] * block[1]
        index = {"x": [n % x for n in range(self.count)], "y": [n // x % block[1] for n in range(self.count)]}
        index["z"] = [n // y for n in range(self.count)]
        self.names: dict[str, Vector] = {f"blockDim.{d}": n for d, n in zip("xyz", block, strict=True)}
        for d, numbers in index.items():
            self.names |= {f"threadIdx.{d}": numbers, f"blockIdx.{d}": 0}
        self.sure, self.assumed, self.loops, self.spans = True, list[str](), list[Cycle](), list[Range]()
        self.left: list[Range] = []
        self.known: dict[tuple[Any, ...], Vector] = {}
        self.kept: dict[str, Vector | None] = {}
        self.tests: list[tuple[str, Any, Any]] = []  # how two integers compare in threads that take part
        self._bound: dict[Scope, dict[str, Any]] = {}
        counter = Counter(context, lookup)
        counter.known = self.names
        if leaves(scope, token):
            raise AlgebraError("which threads come here depends on a return, or a goto, that is not followed")
        inside = takewhile(lambda held: held.statement is not None, around(context.reader, scope, None, token))
        for where, here, statement, branch, behind, labels in reversed(list(inside)):
            assert statement is not None
            if statement.kind == "if" and statement.value is not None:
                self._test(statement.value, where, branch == "if")
                self.left += [(statement.token, statement.end)] * behind
            elif statement.kind == "switch" and labels:
                self._case(statement, where, here, labels)
            elif branch:
                self.sure = False
            else:
                self._loop(counter, statement, here, token)
        for test, wanted in tests:
            self._test(test, scope, wanted)
        self.env = self._env(scope)

    def at(self, turn: Mapping[int, int]) -> Env:
        """What names mean in one turn: the variables of loops are numbers, where they are that in all threads alike."""
        return self._env(self.scope, turn)

    def _env(self, scope: Scope, turn: Mapping[int, int] | None = None) -> Env:
        if scope.parent is None:
            return self.context.root
        outer = self._env(scope.parent, turn)
        if scope not in self._bound:
            return within(outer, scope)
        return Env(scope, outer, {name: x if turn is None else self._numbered(x, turn) for name, x in self._bound[scope].items()})

    def _numbered(self, x: Value, turn: Mapping[int, int]) -> Value:
        found = self.numbers(x, turn)
        return number(found, kind_of(x)) if isinstance(found, int) else x

    def _solid(self, part: Range | Node | None, scope: Scope) -> int | Unknown | None:
        """The integer that an expression is in a scope, None where it is none that is read."""
        if part is None:
            return None
        node = self.context.tree(part) if isinstance(part, tuple) else part
        value = tried(partial(CppEvaluator(self.context, self.lookup, self._env(scope)).solid, node), None)
        found = tried(partial(self.numbers, value, {}), None) if isinstance(value, Unknown) else None
        return number(found, kind_of(value)) if isinstance(found, int) else value if isinstance(value, (int, Unknown)) else None

    def _kind(self, part: Range | None, scope: Scope) -> Kind | None:
        """The type of integers that tokens name, None of another one, and of `auto`."""
        found = (
            tried(lambda: CppEvaluator(self.context, self.lookup, self._env(scope)).value(self.context.tree(part)), None)
            if part
            else None
        )
        return kind_named(found) if isinstance(found, ValueType) and is_integer(found) and found.name != "auto" else None

    def _loop(self, counter: Counter, statement: Stmt, here: Scope, token: int) -> None:
        """Count a loop, whose variable becomes an integer of the turn."""
        why = AlgebraError("it depends on the round of a loop")
        index = Unknown("?", plain=True, key=f"loop {len(self.loops)}", cause=why)
        head, cycle = counter.head(statement), Cycle(range(1), None)
        if head is not None and head.step is not None and here.parent is not None:
            begin = head.begin if isinstance(head.begin, int) else self._solid(head.begin, here.parent)
            if begin is not None and (own := self._kind(head.type, here)) is not None:
                begin, index.kind = converted(begin, own), own
            bound, step = self._solid(head.bound, here), head.step
            if isinstance(begin, int) and isinstance(bound, int):
                values = stepped(int(begin), head.word, int(bound), step)
                if values is not None:
                    later = head.change is not None and head.change < token  # its value behind the step
                    cycle = Cycle(tuple(map(step.after, values)) if later else tuple(values), len(values))
                    index.ends = min(cycle.values, default=0), max(cycle.values, default=0)
                    self._bound[here] = {head.name: index}
            elif begin is not None and step.word == "+" and step.number and head.change is None and head.word in _BOUNDS:
                rounds = self._rounds(begin, head.word, bound, step)
                cycle = Cycle(range(_FOLLOWED if rounds is None else rounds), rounds)
                index.ends = 0, max(0, len(cycle.values) - 1)
                value = typed(begin + index * step.number, kind_of(begin))
                self._bound[here] = {head.name: value}
                if rounds is not None:
                    self.tests.append((head.word, *_alike(value, bound)))
        self.loops.append(cycle)
        self.spans.append((statement.token, counter.end(statement)))

    def _rounds(self, begin: Value, word: str, bound: Value, step: Pace) -> int | None:
        """The rounds of the thread that has the most, in any round of the loops around; None where that is not known."""
        used = [n for n, depends in enumerate(self.used(iter((begin, bound)))) if depends]
        turns = list(islice(product(*(self.loops[n].values for n in used)), _TRIED + 1))
        if len(turns) > _TRIED or any(self.loops[n].rounds is None for n in used):
            return None
        ends = [[self._number_of(x, dict(zip(used, turn, strict=True))) for x in (begin, bound)] for turn in turns]
        if any(None in two for two in ends):
            return None
        pairs = {pair for two in ends for pair in zip(*map(self.spread, two), strict=True)}  # type: ignore[arg-type]
        runs = [stepped(a, word, b, step) for a, b in pairs]
        return max((len(run) for run in runs if run is not None), default=0) if None not in runs else None

    def _number_of(self, x: Value, turn: Mapping[int, int] | None = None) -> Vector | None:
        """An integer in a turn, or in the first round of each loop; None where that is not known."""
        first = turn or {n: loop.values[0] for n, loop in enumerate(self.loops) if loop.values}
        return None if x is None else tried(partial(self.numbers, x, first), None)

    def _test(self, test: Range, scope: Scope, wanted: bool) -> None:
        """Note what a condition asks of the threads. Raises: AlgebraError where that is not known."""
        for word, left, right in _compared(self.context.tree(test), wanted, partial(self._named, scope)):
            sides = [self._solid(left, scope), 0 if right is None else self._solid(right, scope)]
            known = [self._number_of(x) is not None for x in sides]
            if all(known):
                self.tests.append((word, *_alike(*sides)))
            elif not self._is_of_threads(test, scope):
                self.sure = False
            elif word not in _BOUNDS or not any(known) or None in sides or right is None:
                raise AlgebraError(_DIVIDED)
            else:
                self.sure = False
                words = [self.context.reader.text[x.span.start : x.span.end] for x in (left, right)]
                self.assumed.append(f" {word} ".join(words))

    def _named(self, scope: Scope, node: Node) -> Node:
        """The condition that a `bool` is of that nothing changes, instead of its name."""
        inside = CppEvaluator(self.context, self.lookup, self._env(scope))
        found = self.lookup.find(node.plain, inside.env, inside.position(node.span)) if node.plain else None
        own = found.declarations[0] if found is not None and found.declarations else None
        if own is None or own.kind != "variable" or own.init is None or own.type is None or own.pointer or own.array:
            return node
        if self.context.reader.words(own.type).removeprefix("const") not in ("bool", "auto") or not own.scope.local:
            return node
        changes = own.scope.home.changes.get(own.name, ())
        return node if any(not change.within for change in changes) else self._named(own.scope, self.context.tree(own.init))

    def _case(self, switch: Stmt, where: Scope, here: Scope, labels: Sequence[Range | None]) -> None:
        """Note which threads come to one of the labels of a switch. Raises: AlgebraError where that is not known."""
        value = self._solid(switch.value, where)
        if self._number_of(value) is None:
            if switch.value is not None and self._is_of_threads(switch.value, where):
                raise AlgebraError(_DIVIDED)
            self.sure = False
            return
        others = [x.value for x in here.statements if x.kind == "case" and x.value is not None and x.value not in labels]
        wanted = others if None in labels else labels
        sides = [self._solid(x, here) for x in wanted]
        if None in sides or (len(sides) > 1 and None not in labels):
            raise AlgebraError(_DIVIDED)
        self.tests += [("!=" if None in labels else "==", *_alike(value, side)) for side in sides]

    def _is_of_threads(self, test: Range, scope: Scope) -> bool:
        """Whether a thread's index decides a condition."""
        tokens = self.context.reader.tokens
        for n in range(*test):
            name = tokens[n].kind == "name" and tokens[n + 1].kind not in ("(", "::") and tokens[n - 1].kind != "."
            value = self._solid((n, n + 1), scope) if name else None
            if tokens[n].text == "threadIdx" or (isinstance(value, Unknown) and "threadIdx" in value.key):
                return True
        return False

    def numbers(self, x: Value, turn: Mapping[int, int]) -> Vector:
        """An integer in a turn, or one for each thread. Raises: its error where it depends on more than threads and loops."""
        if not isinstance(x, Unknown):
            return int(integer(x))
        key = (x.key, *(turn[n] for n in turn if f"loop {n}" in x.key))
        if key not in self.known:
            names, kept = self.names, self.kept
            found = numbers_at(x, lambda n: turn.get(int(n[5:])) if n.startswith("loop ") else names.get(n.partition("@")[0]), kept)
            if found is None:
                raise x.error()
            self.known[key] = found
        return self.known[key]

    def spread(self, x: Vector) -> list[int]:
        """A number for each thread."""
        return [x] * self.count if isinstance(x, int) else x

    def used(self, values: Iterator[Value]) -> list[bool]:
        """For each loop whether integers depend on its round."""
        keys = {name for x in values if isinstance(x, Unknown) for name in x.leaves}
        return [any(f"loop {n}" in key for key in keys) for n in range(len(self.loops))]

    def asked(self) -> list[bool]:
        """For each loop whether its round decides who takes part."""
        return self.used(side for _, *sides in self.tests for side in sides)

    def active(self, turn: Mapping[int, int]) -> tuple[bool, ...]:
        """Which threads take part in a turn."""
        found = [self.spread(each(COMPARED[w], self.numbers(a, turn), self.numbers(b, turn))) for w, a, b in self.tests]
        return tuple([all(row) for row in zip(*found, strict=True)]) if found else (True,) * self.count


def _alike(a: Any, b: Any) -> tuple[Any, Any]:
    """Two integers in the type in which C++ compares them."""
    kind = common(kind_of(a), kind_of(b))
    return converted(a, kind), converted(b, kind)


def _compared(node: Node, wanted: bool, named: Callable[[Node], Node]) -> Iterator[tuple[str, Node, Node | None]]:
    """The comparisons that must all hold for a condition to be as it is wanted."""
    match named(node):
        case Unary(operator="!") as test:
            yield from _compared(test.value, not wanted, named)
        case Binary(operator="&&" | "||" as operator) as test if (operator == "&&") is wanted:
            yield from _compared(test.left, wanted, named)
            yield from _compared(test.right, wanted, named)
        case Binary(operator=operator) as test if operator in COMPARED:
            yield operator if wanted else _OTHERWISE[operator], test.left, test.right
        case test:
            yield "!=" if wanted else "==", test, None
