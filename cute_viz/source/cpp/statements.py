"""The statements of a file that copy or multiply tensors: `copy(...)`, `gemm(...)`, in each call of the function around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import takewhile

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import CuteVizError, LimitError
from cute_viz.source.cpp.accesses import launch_parts, reader_of
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.evaluate import Evaluator
from cute_viz.source.cpp.indexed import Indexed, accesses, arrays
from cute_viz.source.cpp.lookup import Lookup, opened
from cute_viz.source.cpp.pointed import conditions, means, overloads, paths, told_apart
from cute_viz.source.cpp.rounds import often_of
from cute_viz.source.cpp.scopes import Declaration, Range, Scope, outward
from cute_viz.source.cpp.slices import known_part, split
from cute_viz.source.cpp.unknown import attempted, tried
from cute_viz.source.cpp.uses import Use, function_of
from cute_viz.source.cpp.values import Value, finished
from cute_viz.source.model import Given, Launch, Move, Often, chosen
from cute_viz.values.instruction import MOVES

NO_TENSOR = "cannot determine which tensor this is"
_MOST = 6  # operands of CuTe's own: more are of a function of the file
_BUILD = Callable[[Context], Lookup]
_KERNEL = frozenset(("__global__", "CUTLASS_GLOBAL"))
_DEVICE = _KERNEL | {"__device__", "CUTE_DEVICE", "CUTLASS_DEVICE", "CUTE_HOST_DEVICE", "CUTLASS_HOST_DEVICE"}


def moves(reader: Declarer, given: Given, lookup: _BUILD) -> tuple[Move, ...]:
    """A Move for each such statement, and each call of its function where the file has several; nothing is evaluated yet. lookup:
    makes what looks names up in a context.
    """
    out: list[Move] = []
    known: dict[Scope, list[tuple[str, Context]]] = {}
    plain, only = Context(reader, given), launched(reader, given, lookup)
    own = {name for name in MOVES if any(x.kind == "function" for x in reader.file.names.get(name, ()))}
    names = arrays(reader)
    apart = sum(x.kind == "function" and _is_kernel(reader, x) for x in dict.fromkeys(reader.scopes)) > 1
    for begin, number in reader.statements:
        found = _call(reader, begin)
        if found is None and plain.own > reader.tokens[begin].start:
            function = function_of(reader.scopes[number])
            for move, context in _elements(reader, given, lookup, begin, reader.scopes[number], names, known, only):
                alone = apart and not move.call
                out.append(replace(move, launch=_kernel(reader, context, function) if alone else ""))
        if found is None or (found[0] in own and len(found[1]) > _MOST):
            continue
        name, arguments = found
        if "::" in name and not name.startswith("cute") and _defined(reader, name):  # its own statements are told
            continue
        scope = reader.scopes[number]
        function = function_of(scope)
        if function is not None and function not in known:
            known[function] = _ways(reader, given, lookup, function, only)
        for where, context in known[function] if function is not None else [("", plain)]:
            if not _runs(context, lookup, scope):
                continue
            assumed = {} if context.assumed is None else context.assumed
            read = _reader(context, lookup, scope, arguments)
            times = partial(often_of, context, lookup, scope, partial(_is_kernel, reader))
            line, file, text = context.line(begin), context.file(begin), _text(reader, begin)
            launch = _kernel(reader, context, function) if apart and not where else ""
            idle = _idle(reader, context, function)
            out.append(Move(name, line, scope.path, where, read, text, assumed, idle, file, often=times, launch=launch))
    launches_some = any(move.idle is None for move in out)
    return tuple(replace(move, idle=(move.idle or "") if launches_some else "") for move in out)


def _idle(reader: Declarer, context: Context, function: Scope | None) -> str | None:
    """The function that the way to another one begins in, where nothing runs that: a kernel without a launch, one of the device,
    one of an included file. "" of the others; None where a kernel is launched.
    """
    root = function_of(list(context.chosen.values())[-1].scope) if context.chosen else function
    member = root is None or (root.parent is not None and root.parent.kind == "class")
    if root is not None and not member and (_says(reader, root, _DEVICE) or context.file(root.token)):
        return root.name
    return None if any(_is_kernel(reader, scope) for scope in context.chosen) else ""


def _elements(
    reader: Declarer,
    given: Given,
    lookup: _BUILD,
    begin: int,
    scope: Scope,
    names: Mapping[str, list[Declaration]],
    known: dict[Scope, list[tuple[str, Context]]],
    only: Mapping[Scope, Use],
) -> Iterator[tuple[Move, Context]]:
    """The elements that a statement accesses, each with the way in which it is reached."""
    function = function_of(scope)
    found = list(accesses(reader, names, begin, scope)) if function is not None else []
    if function is None or not found:
        return
    if function not in known:
        known[function] = _ways(reader, given, lookup, function, only)
    for access in found:
        for where, context in known[function]:
            if _runs(context, lookup, scope):
                assumed = {} if context.assumed is None else context.assumed
                read = partial(_rounds, context, lookup, scope, function, access)
                at, name = access.token, "store" if access.store else "load"
                last = reader.find(begin, (";", "{"))  # what a macro puts there has the place of its name
                text = reader.text[reader.tokens[begin].start : max(reader.tokens[last - 1].end, reader.tokens[last].start)]
                times = partial(_each, context, lookup, scope, function, read, partial(_is_kernel, reader))
                words, line, file = " ".join(text.split()), context.line(at), context.file(at)
                idle = _idle(reader, context, function)
                yield Move(name, line, scope.path, where, read, words, assumed, idle, file, often=times), context


def _kernel(reader: Declarer, context: Context, function: Scope | None) -> str:
    """The kernel that the one way to a function begins in, which tells its buffers from those of other kernels."""
    own = [] if function is None else [function]
    return next((scope.name for scope in (*context.chosen, *own) if _is_kernel(reader, scope)), "")


def _rounds(context: Context, lookup: _BUILD, scope: Scope, function: Scope, access: Indexed) -> list[Tensor]:
    return list(reader_of(context, lookup, scope, function, access))


def _each(
    context: Context,
    lookup: _BUILD,
    scope: Scope,
    function: Scope,
    read: Callable[[], list[Tensor]],
    is_kernel: Callable[[Scope], bool],
) -> Often:
    """How often a block runs an access, without the loops whose elements it has."""
    found, outer = (often_of(context, lookup, where, is_kernel) for where in (scope, function))
    mine, part = found.loops[len(outer.loops) :], next((x.part for x in read()), None)
    if part is None:
        return found
    left = tuple(loop for n, loop in enumerate(mine) if n - len(mine) not in part.taken)
    return Often(left, part.sure).within(outer)


def _defined(reader: Declarer, name: str) -> bool:
    last = name.rpartition("::")[2]
    return any(scope.kind == "function" and scope.name == last for scope in reader.scopes)


def _ways(
    reader: Declarer, given: Given, lookup: _BUILD, function: Scope, only: Mapping[Scope, Use] | None = None
) -> list[tuple[str, Context]]:
    """The ways in which a function is called: a label, and a context in which its parameters are those of the calls.

    A call of an overloaded name counts for the function that it means. only: calls that a way must have.
    """
    kept = []
    for path in paths(reader, function):
        if only and any(dict(path).get(scope) != use for scope, use in only.items()):
            continue
        context = Context(reader, given)
        context.chosen = dict(path)
        context.assumed = {}
        context.facts = conditions(reader, path)
        evaluator = Evaluator(context, lookup(context), context.root)
        if not all(means(evaluator, scope, use) for scope, use in reversed(path) if len(overloads(scope)) > 1):
            continue
        if all(_runs(context, lookup, use.scope) for _, use in path):
            kept.append((path, context))
    labels = told_apart([path for path, _ in kept], Context(reader, given).line) if len(kept) > 1 else [""]
    return [(label, context) for label, (_, context) in zip(labels, kept, strict=False)]


def launches(reader: Declarer, given: Given, lookup: _BUILD) -> tuple[Launch, ...]:
    """The launches of the kernels of a file, one for each way in which the function is called that launches it."""
    out = []
    for function in dict.fromkeys(reader.scopes):
        if function.kind != "function" or not _is_kernel(reader, function):
            continue
        for where, context in _ways(reader, given, lookup, function):
            if (use := context.chosen.get(function)) is None:
                continue
            args = ",".join(reader.words(part) for part in use.template)
            grid, block = _dims(reader, use)
            call = where.partition(", called in ")[2]
            line, file = context.line(use.token), context.file(use.token)
            around = function_of(use.scope)
            caller = around.name if around is not None else ""
            out.append((use.token, Launch(function.path, args, grid, block, line, file, call, context.chosen, caller)))
    return tuple(launch for _, launch in sorted(out, key=lambda row: row[0]))


def launched(reader: Declarer, given: Given, lookup: _BUILD) -> dict[Scope, Use]:
    """The calls that lead to the launch that is meant, by the functions; empty where none is."""
    return dict(chosen(launches(reader, given, lookup), given.launch).key) if given.launch else {}


def _is_kernel(reader: Declarer, function: Scope) -> bool:
    return _says(reader, function, _KERNEL)


def _says(reader: Declarer, function: Scope, wanted: frozenset[str]) -> bool:
    """Whether one of some words stands before a function's name."""
    declared = next((x.token for x in overloads(function) if x.inner is function), function.token)
    at, depth = declared - 1, 0  # `__launch_bounds__(size(TiledMMA{}))` has braces of its own
    while at >= 0 and (depth or reader.tokens[at].kind not in (";", "{", "}")):
        if reader.tokens[at].text in wanted:
            return True
        depth += (reader.tokens[at].kind == ")") - (reader.tokens[at].kind == "(")
        at -= 1
    return False


def _dims(reader: Declarer, use: Use) -> tuple[str, str]:
    """The grid and the block of a launch, as they are written."""
    parts = [reader.text[reader.tokens[a].start : reader.tokens[b - 1].end] for a, b in launch_parts(reader, use)[:2]]
    grid, block, *_ = (*(" ".join(part.split()) for part in parts), "", "")
    return grid, block


def _runs(context: Context, lookup: _BUILD, scope: Scope) -> bool:
    """Whether the conditions around a block hold, as far as they are known without what a program would be given."""
    for around in takewhile(lambda x: x.kind == "block", outward(scope)):
        held = around.holder if around.flow == "if" else None
        if held is None or held.value is None or around.parent is None:
            continue
        if _holds(context, lookup, around.parent, held.value) is (held.no is around):
            return False
    return True


def _holds(context: Context, lookup: _BUILD, scope: Scope, test: Range) -> bool | None:
    """Whether a condition holds; None where that is not known, or is so only of a program without arguments."""
    before, notes = dict(context.assumed or {}), dict(context.given.notes)
    context.deep = 0
    found = tried(lambda: Evaluator(context, lookup(context), opened(context, scope)).truth(context.tree(test)), None)
    if found is None:
        return None
    if context.assumed == before:
        return found
    context.assumed = before
    for note in context.given.notes.keys() - notes.keys():
        del context.given.notes[note]
    return None


def _text(reader: Declarer, begin: int) -> str:
    tokens = reader.tokens
    at = begin
    while tokens[at].kind != "(":
        at += 1
    return " ".join(reader.text[tokens[begin].start : tokens[reader.match[at]].end].split())


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
    if tokens[at].kind != "(" or tokens[reader.match[at] + 1].kind not in (";", "end"):
        return None
    around = "".join(token.text for token in tokens[begin:end]).removesuffix("::").removeprefix("::")
    if around.split("::")[0] in ("std", "thrust"):
        return None
    name = name if around in ("", "cute") else f"{around}::{name}"
    return name, [*given, *reader.split(at + 1, reader.match[at])]


def _reader(context: Context, lookup: _BUILD, scope: Scope, arguments: list[Range]) -> Callable[[], list[Value | CuteVizError]]:
    def read() -> list[Value | CuteVizError]:
        context.deep = 0
        evaluator = Evaluator(context, lookup(context), opened(context, scope))
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


def _operand(evaluator: Evaluator, part: Range, own: bool = False) -> Value | CuteVizError:
    """A tensor, or what else an argument is; the error of one that is not known, for the caller to raise. own: the layout of a
    tensor is enough, whatever threads have of it.
    """
    node = evaluator.context.tree(part)
    value = attempted(lambda: finished(split(known_part(evaluator.solid(node), []))))
    return evaluator.fail(NO_TENSOR, node.span) if isinstance(value, (Layout, ComposedLayout)) and not own else value
