"""How a kernel is launched, `kernel<<<grid, block>>>(...)`: the blocks, the threads of each, the bytes of shared memory."""

from __future__ import annotations

from cute_viz.errors import CuteVizError
from cute_viz.source.cpp.context import RUNTIME, Context, Use, launch_call
from cute_viz.source.cpp.declare import Declarer
from cute_viz.source.cpp.evaluate import CppEvaluator
from cute_viz.source.cpp.lookup import Lookup, opened
from cute_viz.source.cpp.pointed import KERNEL, says
from cute_viz.source.cpp.scopes import Range, Scope
from cute_viz.source.cpp.tree import Brace, CppCall, Id, Node
from cute_viz.source.cpp.values import Value

_FAR = 400  # tokens between the name of a kernel and its launch


def block_of(context: Context, lookup: Lookup, function: Scope) -> tuple[int, int, int] | None:
    """The threads of a block in each direction, as the launch of a kernel, or who asks, has them; None where nobody knows."""
    let = context.given.let
    if "blockDim.x" in let and all(f"blockDim.{d}" in let for d in directions(context.reader, function)):
        given = [str(let.get(f"blockDim.{d}", 1)) for d in "xyz"]
        if all(map(str.isdecimal, given)):
            return int(given[0]), int(given[1]), int(given[2])
    return dims_of(context, lookup, function, 1)


def dims_of(context: Context, lookup: Lookup, function: Scope, which: int) -> tuple[int, int, int] | None:
    """The grid (0), the block (1) or the bytes of shared memory (2) that a kernel is launched with; None where nobody knows."""
    kernels = (use for scope, use in context.chosen.items() if says(context.reader, scope, KERNEL))
    use = next(kernels, context.chosen.get(function))
    parts = launch_parts(context.reader, use) if use is not None else []
    if use is None or len(parts) <= which:
        return None
    evaluator = CppEvaluator(context, lookup, opened(context, use.scope))
    try:
        found = _extents(evaluator, context, context.tree(parts[which]), use)
    except CuteVizError:
        return None
    numbers = [int(x) for x in found if isinstance(x, int)]
    return (*numbers, 1, 1)[:3] if numbers and len(numbers) == len(found) else None  # type: ignore[return-value]


def directions(reader: Declarer, function: Scope) -> str:
    """The directions of a block that a function names, `x` among them."""
    tokens, at = reader.tokens, function.token
    end = reader.match[at] if tokens[at].kind == "{" else reader.match[reader.find(at, ("{",))]
    named = {tokens[n + 2].text for n in range(at, end) if tokens[n].text in ("threadIdx", "blockDim")}
    return "".join(d for d in "xyz" if d == "x" or d in named)


def _extents(evaluator: CppEvaluator, context: Context, node: Node, use: Use) -> list[Value]:
    """The numbers of a `dim3`, or the one of an integer."""
    match node:
        case CppCall(function=Id(text="dim3"), args=args) | Brace(type=Id(text="dim3"), args=args):
            return [evaluator.solid(arg) for arg in args]
        case Id(text=name):
            declaration = evaluator.lookup.declared(name, evaluator.env, use.token)
            init = declaration.init if declaration is not None else None
            if declaration is not None and init is not None and declaration.opens in ("(", "{"):
                return [evaluator.solid(context.tree(part)) for part in context.reader.split(*init)]
            if init is not None and isinstance(inner := context.tree(init), (CppCall, Brace)):
                return _extents(evaluator, context, inner, use)
    return [evaluator.solid(node)]


def launch_parts(reader: Declarer, use: Use) -> list[Range]:
    """The tokens of each argument in `kernel<<<grid, block>>>(...)`, also of a variable that holds the kernel."""
    tokens, begin, name = reader.tokens, use.token, ""
    while tokens[begin - 1].text in ("&", "(", ")", "*", "void", "const"):
        begin -= 1
    if tokens[begin - 1].text == "=" and tokens[begin - 2].kind == "name":  # a variable that is launched
        name = tokens[begin - 2].text
    held = [n for n in reader.places().get(name, ()) if n > use.token] if name else [use.token]
    for place in held:
        behind = reader.angles(place + 1) if tokens[place + 1].kind == "<" else place + 1
        word, parts = launch_call(reader, place, behind or place + 1)
        if word in RUNTIME:
            return parts
    end = min(len(tokens), use.token + (_FAR if not name else len(tokens)))
    at = next((n for n in range(use.token, end) if tokens[n].kind == "<<<" and name in ("", tokens[n - 1].text)), None)
    if at is None:
        return []
    close = at + 1
    while close < end and not all(tokens[close + n].kind == ">" for n in range(3)):
        close = reader.match[close] + 1 if tokens[close].kind in ("(", "[", "{") else close + 1
    return [(a, b) for a, b in reader.split(at + 1, close) if a < b]
