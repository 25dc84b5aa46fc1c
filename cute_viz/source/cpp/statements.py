"""The statements of a file that copy or multiply tensors: `copy(...)`, `gemm(...)`, in each call of the function around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.layout import Layout
from cute_viz.errors import CuteVizError, LimitError
from cute_viz.source.cpp.context import Context
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.evaluate import Evaluator
from cute_viz.source.cpp.lookup import Lookup, opened
from cute_viz.source.cpp.paths import conditions, overloads, paths, told_apart
from cute_viz.source.cpp.pointed import means
from cute_viz.source.cpp.scopes import Range, Scope
from cute_viz.source.cpp.slices import known_part, split
from cute_viz.source.cpp.uses import function_of
from cute_viz.source.cpp.values import finished
from cute_viz.source.model import MOVES, Given, Move

NO_TENSOR = "cannot determine which tensor this is"
_MOST = 6  # operands of CuTe's own: more are of a function of the file
_BUILD = Callable[[Context], Lookup]


def moves(reader: Declarer, given: Given, lookup: _BUILD) -> tuple[Move, ...]:
    """A Move for each such statement, and each call of its function where the file has several; nothing is evaluated yet. lookup:
    makes what looks names up in a context.
    """
    out = []
    known: dict[Scope, list[tuple[str, Context]]] = {}
    plain = Context(reader, given)
    own = {name for name in MOVES if any(x.kind == "function" for x in reader.file.names.get(name, ()))}
    for begin, number in reader.statements:
        found = _call(reader, begin)
        if found is None or (found[0] in own and len(found[1]) > _MOST):
            continue
        name, arguments = found
        if "::" in name and not name.startswith("cute") and _defined(reader, name):  # its own statements are told
            continue
        scope = reader.scopes[number]
        function = function_of(scope)
        if function is not None and function not in known:
            known[function] = _ways(reader, given, lookup, function)
        for where, context in known[function] if function is not None else [("", plain)]:
            assumed = {} if context.assumed is None else context.assumed
            read = _reader(context, lookup, scope, arguments)
            uncalled = _parameters(function) if function is not None and not context.chosen else None
            out.append(
                Move(
                    name, context.line(begin), scope.path, where, read, _text(reader, begin), assumed, uncalled, context.file(begin)
                )
            )
    return tuple(out)


def _defined(reader: Declarer, name: str) -> bool:
    last = name.rpartition("::")[2]
    return any(scope.kind == "function" and scope.name == last for scope in reader.scopes)


def _parameters(function: Scope) -> tuple[str, ...]:
    return tuple(param.name for param in (*function.arguments, *(function.params or ())))


def _ways(reader: Declarer, given: Given, lookup: _BUILD, function: Scope) -> list[tuple[str, Context]]:
    """The ways in which a function is called: a label, and a context in which its parameters are those of the calls. A call of an
    overloaded name counts for the function that it means.
    """
    kept = []
    for path in paths(reader, function):
        context = Context(reader, given)
        context.chosen = dict(path)
        context.assumed = {}
        context.facts = conditions(reader, path)
        evaluator = Evaluator(context, lookup(context), context.root)
        if all(means(evaluator, scope, use) for scope, use in reversed(path) if len(overloads(scope)) > 1):
            kept.append((path, context))
    labels = told_apart([path for path, _ in kept], Context(reader, given).line) if len(kept) > 1 else [""]
    return [(label, context) for label, (_, context) in zip(labels, kept, strict=False)]


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


def _reader(context: Context, lookup: _BUILD, scope: Scope, arguments: list[Range]) -> Callable[[], list[Any]]:
    def read() -> list[Any]:
        context.deep = 0
        evaluator = Evaluator(context, lookup(context), opened(context, scope))
        try:
            out = [_operand(evaluator, part) for part in arguments[:1]]
            return out + [_operand(evaluator, part, bool(out) and _is_own(out[0])) for part in arguments[1:]]
        except RecursionError:
            raise LimitError("this is nested too deeply", text=context.text, span=context.span(arguments[0])) from None

    return read


def _is_own(first: Any) -> bool:
    from cute_viz.algebra.mma import MMA_Atom, ThrMMA, TiledMMA
    from cute_viz.algebra.tma import TmaCopy

    return isinstance(first, (TmaCopy, MMA_Atom, TiledMMA, ThrMMA))


def _operand(evaluator: Evaluator, part: Range, own: bool = False) -> Any:
    """A tensor, or what else an argument is; the error of one that is not known, for the caller to raise. own: the layout of a
    tensor is enough, whatever threads have of it.
    """
    node = evaluator.context.tree(part)
    try:
        value = finished(split(known_part(evaluator.solid(node), [])))
    except LimitError:
        raise
    except CuteVizError as error:
        return error
    if isinstance(value, (Layout, ComposedLayout)) and not own:
        return evaluator.fail(NO_TENSOR, node.span)
    return value
