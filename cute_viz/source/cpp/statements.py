"""The statements of a file that copy or multiply tensors: `copy(...)`, `gemm(...)`, in each call of the function around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, LimitError
from cute_viz.source.cpp.accesses import reader_of
from cute_viz.source.cpp.alternatives import Circumstance, around, tested
from cute_viz.source.cpp.context import Context, Use, function_of
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.evaluate import CppEvaluator
from cute_viz.source.cpp.indexed import Indexed, accesses
from cute_viz.source.cpp.launched import launch_parts
from cute_viz.source.cpp.lookup import Lookup, opened
from cute_viz.source.cpp.pointed import DEVICE, KERNEL, conditions, means, overloads, paths, says, told_apart
from cute_viz.source.cpp.rounds import often_of
from cute_viz.source.cpp.scopes import Range, Scope, Stmt
from cute_viz.source.cpp.shared import arrays
from cute_viz.source.cpp.slices import known_part, split
from cute_viz.source.cpp.unknown import attempted, tried
from cute_viz.source.cpp.values import Value, finished, integer
from cute_viz.source.model import Given
from cute_viz.source.moves import CALL, CALLED, Launch, Mistake, Move, Often, chosen
from cute_viz.values.instruction import MOVES

if TYPE_CHECKING:
    from cute_viz.source.cpp.mistakes import ThreadBlock

NO_TENSOR = "cannot determine which tensor this is"
_CALL = re.compile(r"\w+(?:\([^()]*\))?")
_MOST = 6  # operands of CuTe's own: more are of a function of the file
_BUILD = Callable[[Context], Lookup]
_READ = Callable[[], list[Any]]


def moves(reader: Declarer, given: Given, lookup: _BUILD) -> tuple[Move, ...]:
    """A Move for each such statement, and each call of its function where the file has several; nothing is evaluated yet.
    lookup: makes what looks names up in a context."""
    out = list(_File(reader, given, lookup, launched(reader, given, lookup)).moves())
    launches_some = any(move.idle is None for move in out)
    return tuple(replace(move, idle=(move.idle or "") if launches_some else "") for move in out)


def launches(reader: Declarer, given: Given, lookup: _BUILD) -> tuple[Launch, ...]:
    """The launches of the kernels of a file, one for each way in which the function is called that launches it."""
    return tuple(launch for _, launch in sorted(_File(reader, given, lookup, {}).launches(), key=lambda row: row[0]))


def launched(reader: Declarer, given: Given, lookup: _BUILD) -> dict[Scope, Use]:
    """The calls that lead to the launch that is meant, by the functions; empty where none is."""
    return dict(chosen(launches(reader, given, lookup), given.launch).key) if given.launch else {}


class _File:
    """The functions of a file, and the ways in which they come to be called. only: calls that a way must have."""

    def __init__(self, reader: Declarer, given: Given, lookup: _BUILD, only: Mapping[Scope, Use]) -> None:
        self.reader, self.given, self.lookup, self.only = reader, given, lookup, only
        self.known: dict[Scope, list[tuple[str, Context]]] = {}
        self.blocks: dict[Context, list[ThreadBlock]] = {}  # that tell mistakes
        self.kernels = [x for x in dict.fromkeys(reader.scopes) if x.kind == "function" and self.is_kernel(x)]

    def moves(self) -> Iterator[Move]:
        """The statements that copy or multiply, and the elements that others access."""
        reader, tokens, names = self.reader, self.reader.tokens, arrays(self.reader)
        plain = Context(reader, self.given)
        own = {name for name in MOVES if any(x.kind == "function" for x in reader.file.names.get(name, ()))}
        for begin, number in reader.statements:
            scope, found = reader.scopes[number], list(_calls(reader, begin))
            function = function_of(scope)
            if not found and function is not None and plain.own > tokens[begin].start:
                for access in accesses(reader, names, begin, scope):
                    last = reader.find(begin, (";", "{"))  # what a macro puts there has the place of its name
                    text = reader.text[tokens[begin].start : max(tokens[last - 1].end, tokens[last].start)]
                    if tokens[begin].start == tokens[last].start:  # one of several statements that a macro is
                        text = (_CALL.match(reader.text, tokens[begin].start) or [text])[0]
                    for where, context in self.ways(function):
                        inside = tested(scope, access.tests)
                        if self.runs(context, scope, begin, inside):
                            read = cache(partial(reader_of, context, self.lookup, scope, function, access))
                            times = partial(self._each, context, scope, begin, read, inside)
                            name = "store" if access.store else "load"
                            yield self._move(name, access.token, scope, where, context, read, " ".join(text.split()), times, access)
            for at, name, arguments, tests in found:
                if name in own and len(arguments) > _MOST:
                    continue
                if "::" in name and not name.startswith("cute") and _defined(reader, name):  # its own statements are told
                    continue
                inside = tested(scope, tests)
                for where, context in self.ways(function) if function is not None else [("", plain)]:
                    if self.runs(context, scope, begin, inside):
                        times = partial(often_of, context, self.lookup, scope, self.is_kernel, begin, inside)
                        called = _reader(context, self.lookup, scope, arguments)
                        yield self._move(name, at, scope, where, context, called, _text(reader, at), times, arguments)

    def _move(
        self,
        name: str,
        token: int,
        scope: Scope,
        where: str,
        context: Context,
        read: _READ,
        text: str,
        times: Callable[[], Often],
        given: list[Range] | Indexed,
    ) -> Move:
        """A statement in one way in which it is reached: where the file has several kernels, it knows its own."""
        function, assumed = function_of(scope), {} if context.assumed is None else context.assumed
        root = self._root(context, function)
        begins = [*context.chosen, *([] if root is None else [root])]
        n, kernel = next(((n, x) for n, x in enumerate(begins) if self.is_kernel(x)), (len(begins), None))
        launch = self._launch(context, kernel)
        steps = where.split(CALLED)[:n] if where else []
        only = kernel.name if kernel is not None and len(self.kernels) > 1 and not launch else ""
        where, own = CALLED.join(filter(None, (*steps, launch))), len(steps)
        line, file, idle = context.line(token), context.file(token), self._idle(context, function)
        wrong = partial(self._mistakes, context, scope, token, given) if "copy_if" not in name else tuple
        move = Move(name, line, scope.path, where, read, text, assumed, idle, file, launch=only, own=own)
        return replace(move, often=times, mistakes=wrong)

    def _launch(self, context: Context, kernel: Scope | None) -> str:
        """The label of the launch by which its kernel is reached."""
        ways = [] if kernel is None else self.ways(kernel)
        return next((label for label, one in ways if one.chosen.items() <= context.chosen.items()), "")

    def _mistakes(self, context: Context, scope: Scope, token: int, given: list[Range] | Indexed) -> list[Mistake]:
        """What a statement is proven to do wrong, where its kernel is launched."""
        function = function_of(scope)
        kernel = next((x for x in (function, *context.chosen) if x is not None and self.is_kernel(x)), None)
        if kernel is None or kernel not in context.chosen:
            return []
        if context not in self.blocks:
            from cute_viz.source.cpp.mistakes import blocks_of

            self.blocks[context] = blocks_of(context, self.lookup, kernel)
        found = [x for block in self.blocks[context] for x in tried(partial(block.mistakes, scope, token, given), [])]
        return list({(one.kind, one.key): one for one in reversed(found)}.values())[::-1]

    def _root(self, context: Context, function: Scope | None) -> Scope | None:
        """The function that the way to another one begins in."""
        return function_of(list(context.chosen.values())[-1].scope) if context.chosen else function

    def _idle(self, context: Context, function: Scope | None) -> str | None:
        """The function that the way to another one begins in, where nothing runs that: a kernel without a launch, one of the
        device, one of an included file. "" of the others; None where a kernel is launched."""
        root = self._root(context, function)
        member = root is None or (root.parent is not None and root.parent.kind == "class")
        if root is not None and not member and (says(self.reader, root, DEVICE) or context.file(root.token)):
            return root.name
        return None if any(map(self.is_kernel, context.chosen)) else ""

    def _each(
        self, context: Context, scope: Scope, token: int, read: Callable[[], list[Tensor]], inside: list[Circumstance]
    ) -> Often:
        """How often a block runs an access, without the loops whose elements it has."""
        found = often_of(context, self.lookup, scope, self.is_kernel, token, inside)
        outer = often_of(context, self.lookup, scope.home, self.is_kernel, token)
        mine, part = found.loops[len(outer.loops) :], next((x.part for x in read()), None)
        if part is None:
            return found
        if part.sure:
            outer = outer._replace(sure=outer.sure or bool(outer.choices), choices=())
        left = tuple(loop for n, loop in enumerate(mine) if n - len(mine) not in part.taken)
        return Often(left, part.sure, () if part.sure else found.choices[len(outer.choices) :]).within(outer)

    def ways(self, function: Scope) -> list[tuple[str, Context]]:
        """The ways in which a function is called: a label, and a context in which its parameters are those of the calls. A call
        of an overloaded name counts for the function that it means."""
        if function in self.known:
            return self.known[function]
        kept = []
        for path in paths(self.reader, function):
            if any(dict(path).get(scope) != use for scope, use in self.only.items()):
                continue
            context = Context(self.reader, self.given)
            context.chosen, context.assumed, context.facts = dict(path), {}, conditions(self.reader, path)
            evaluator = CppEvaluator(context, self.lookup(context), context.root)
            if not all(means(evaluator, scope, use) for scope, use in reversed(path) if len(overloads(scope)) > 1):
                continue
            if all(self.runs(context, use.scope, use.token) for _, use in path):
                kept.append((path, context))
        labels = told_apart([path for path, _ in kept], Context(self.reader, self.given).line) if len(kept) > 1 else [""]
        self.known[function] = [(label, context) for label, (_, context) in zip(labels, kept, strict=False)]
        return self.known[function]

    def launches(self) -> Iterator[tuple[int, Launch]]:
        """The launches of its kernels, each with its place."""
        for function in self.kernels:
            for where, context in self.ways(function):
                if (use := context.chosen.get(function)) is not None:
                    args, around = ",".join(map(self.reader.words, use.template)), function_of(use.scope)
                    line, file, call = context.line(use.token), context.file(use.token), where.partition(CALLED)
                    caller = around.name if around is not None else ""
                    dims = _dims(self.reader, use)
                    nth = "".join(call[0].partition(f" {CALL}")[1:])
                    yield use.token, Launch(function.path, args, *dims, line, file, call[2], context.chosen, caller, nth)

    def is_kernel(self, function: Scope) -> bool:
        """Whether it is one that the host launches."""
        return says(self.reader, function, KERNEL)

    def runs(self, context: Context, scope: Scope, token: int, inside: Iterable[Circumstance] = ()) -> bool:
        """Whether the conditions in and around a statement hold, as far as they are known without what a program is given."""
        outer = takewhile(lambda held: held.statement is not None, around(self.reader, scope, None, token))
        return not any(held.branch and self._passes(context, held) is False for held in (*inside, *outer))

    def _passes(self, context: Context, held: Circumstance) -> bool | None:
        """Whether a condition is as it must be; None where that is not known, or is so only of a program without arguments."""
        statement = held.statement
        before, notes = dict(context.assumed or {}), dict(context.given.notes)
        context.deep = 0
        evaluator = CppEvaluator(context, self.lookup(context), opened(context, held.where))
        if statement is None or (test := statement.value) is None:
            return None
        if statement.kind == "switch":
            found = tried(partial(_is_case, evaluator, statement, held), None)
        else:
            found = tried(lambda: evaluator.truth(context.tree(test)) is (held.branch == "if"), None)
        if found is None or context.assumed == before:
            return found
        context.assumed = before
        for note in context.given.notes.keys() - notes.keys():
            del context.given.notes[note]
        return None


def _is_case(evaluator: CppEvaluator, switch: Stmt, held: Circumstance) -> bool | None:
    """Whether a switch comes to one of the labels of its cases. Raises: the error of what is not known."""
    tree, inner = evaluator.context.tree, evaluator.inside(opened(evaluator.context, held.scope))
    value, *mine = (int(integer(inner.solid(tree(part)))) for part in (switch.value, *filter(None, held.labels)))
    others = [x.value for x in held.scope.statements if x.kind == "case" and x.value and x.value not in held.labels]
    return value in mine or (None in held.labels and value not in [int(integer(inner.solid(tree(part)))) for part in others])


def _defined(reader: Declarer, name: str) -> bool:
    last = name.rpartition("::")[2]
    return any(scope.kind == "function" and scope.name == last for scope in reader.scopes)


def _dims(reader: Declarer, use: Use) -> tuple[str, str]:
    """The grid and the block of a launch, as they are written."""
    parts = [reader.text[reader.tokens[a].start : reader.tokens[b - 1].end] for a, b in launch_parts(reader, use)[:2]]
    grid, block, *_ = (*(" ".join(part.split()) for part in parts), "", "")
    return grid, block


def _text(reader: Declarer, begin: int) -> str:
    tokens = reader.tokens
    at = begin
    while tokens[at].kind != "(":
        at += 1
    return " ".join(reader.text[tokens[begin].start : tokens[reader.match[at]].end].split())


def _calls(reader: Declarer, begin: int) -> Iterator[tuple[int, str, list[Range], tuple[tuple[Range, bool], ...]]]:
    """The calls of names of MOVES that a statement is: where each begins, as of `_call`, and by which conditions of `a ? b : c`."""
    found = _call(reader, begin)
    if found is None:
        for (at, _), tests in _sides(reader, (begin, reader.find(begin, (";", "{", "}")))):
            if tests and (found := _call(reader, at)) is not None:
                yield at, *found, tests
        return
    ways: list[tuple[list[Range], tuple[tuple[Range, bool], ...]]] = [([], ())]
    for part in found[1]:
        sides = _sides(reader, part) if len(ways) < _MOST else [(part, ())]
        ways = [([*parts, side], (*before, *tests)) for parts, before in ways for side, tests in sides]
    yield from ((begin, found[0], parts, tests) for parts, tests in ways)


def _sides(reader: Declarer, part: Range) -> list[tuple[Range, tuple[tuple[Range, bool], ...]]]:
    """The two sides of `a ? b : c`, each with what the condition must be; an expression of another form as it is."""
    begin, end = part
    question = reader.find(begin, ("?",), end)
    colon = reader.find(question + 1, (":",), end) if question < end else end
    if colon >= end:
        return [(part, ())]
    test = begin, question
    return [((question + 1, colon), ((test, True),)), ((colon + 1, end), ((test, False),))]


def _call(reader: Declarer, begin: int) -> tuple[str, list[Range]] | None:
    """The name and the arguments of a statement that is one call of a name of MOVES; of one that is not CuTe's with its scope."""
    tokens = reader.tokens
    at = begin
    while tokens[at].kind in ("name", "::"):
        if tokens[at].kind == "name" and tokens[at + 1].kind != "::":
            break
        at += 1
    name = tokens[at].text
    if tokens[at].kind != "name" or name not in MOVES:
        return None
    end = at
    at += 1
    given: list[Range] = []
    if tokens[at].kind == "<" and (behind := reader.angles(at)) is not None:
        given = reader.split(at + 1, behind - 1) if name == "cooperative_copy" else []
        at = behind
    if tokens[at].kind != "(" or tokens[reader.match[at] + 1].kind not in (";", ":", "end"):
        return None
    around = "".join(token.text for token in tokens[begin:end]).removesuffix("::").removeprefix("::")
    if around.split("::")[0] in ("std", "thrust"):
        return None
    name = name if around in ("", "cute") else f"{around}::{name}"
    return name, [*given, *reader.split(at + 1, reader.match[at])]


def _reader(context: Context, lookup: _BUILD, scope: Scope, arguments: list[Range]) -> Callable[[], list[Value | CuteVizError]]:
    def read() -> list[Value | CuteVizError]:
        context.deep = 0
        evaluator = CppEvaluator(context, lookup(context), opened(context, scope))
        try:
            out = [_operand(evaluator, part) for part in arguments[:1]]
            return out + [_operand(evaluator, part, bool(out) and _is_own(out[0])) for part in arguments[1:]]
        except RecursionError:
            raise LimitError("this is nested too deeply", text=context.text, span=context.span(arguments[0])) from None

    return read


def _is_own(first: Value | CuteVizError) -> bool:
    from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA
    from cute_viz.algebra.tma import TmaCopy

    return isinstance(first, (TmaCopy, MMA_Atom, TiledMMA, ThrMMA))


def _operand(evaluator: CppEvaluator, part: Range, own: bool = False) -> Value | CuteVizError:
    """A tensor, or what else an argument is; the error of one that is not known, for the caller to raise. own: the layout of a
    tensor is enough, whatever threads have of it."""
    node = evaluator.context.tree(part)
    value = attempted(lambda: finished(split(known_part(evaluator.solid(node), []))))
    return evaluator.fail(NO_TENSOR, node.span) if isinstance(value, (Layout, ComposedLayout)) and not own else value
