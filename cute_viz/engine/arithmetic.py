"""Address arithmetic that a kernel computes by hand, `(r * 64 + c) ^ ((r & 7) << 3)`: the table of a function over a tile."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

from cute_viz.analysis.solve import Solved, solve
from cute_viz.engine.request import Request, Source
from cute_viz.errors import CuteVizError

_FUNCTION = re.compile(r"\bdef +(\w+)\(|\b(\w+)\s*\([^(){};]*\)\s*(?:const\s*|noexcept\s*)*\{")
_LAMBDA = re.compile(r"\s*(?:\w+\s*=\s*)?lambda\b([^:]*):(.*)", re.S)
EXAMPLES = "int f(int r, int c) { return ...; } or lambda r, c: ..."
_AT_ONCE = 64  # calls in a statement


def is_function(source: str) -> bool:
    """Whether a text is a function, or the address of one, and no table of numbers."""
    return "::" in source or (_FUNCTION.search(source) or _LAMBDA.match(source)) is not None


def layout_of(source: str, tile: tuple[int, int], request: Request) -> Solved:
    """The layout that a function of a row and a column computes over a tile. Only the readers of source code execute it.

    source: the address of a function of a file of C++ or Python, `kernel.cu::idx`, or its text, of Python also a lambda. tile:
    rows and columns.

    Raises: CuteVizError where there is no such function or layout, and where a value of it is not known.
    """
    from cute_viz.engine.reading import Reading
    from cute_viz.source.model import Given
    from cute_viz.source.opened import opened
    from cute_viz.values.integer import Unknown

    source = _LAMBDA.sub(r"def f(\1): return (\2)", source, count=1) if _LAMBDA.match(source) else source
    at = Reading(source if "::" in source else Source(source, ""), replace(request, name=None))
    text = at.text or ""
    named = [first or second for first, second in _FUNCTION.findall(text)]
    name = at.query or (named[-1] if named else "")
    if name.rpartition("::")[2] not in named:
        hint = f"functions: {', '.join(dict.fromkeys(named))}" if named else f"write {EXAMPLES}, or its address, kernel.cu::NAME"
        raise CuteVizError(f"there is no function {name!r}", name=at.name or None, hint=hint)
    python = re.search(rf"\bdef +{re.escape(name)}\(", text) is not None
    cells = list(product(*map(range, tile)))
    parts = [cells[n : n + _AT_ONCE] for n in range(0, len(cells), _AT_ONCE)]
    before, make, end = ("", "(", ",)") if python else ("auto ", "cute::make_tuple(", ");")
    lines = [f"{before}cells_{n} = {make}{', '.join(f'{name}({r}, {c})' for r, c in part)}{end}" for n, part in enumerate(parts)]
    given = Given(request.let, request.library.resolve)
    path = at.path or ("function.py" if python else "function.cu")
    file = opened("\n".join([text, *lines, ""]), path, given, folder=request.folder, check=False)
    if file is None:
        raise CuteVizError(f"{name} cannot be read", name=at.name)
    found = []
    for n in range(len(parts)):
        for value in file.find(f"cells_{n}").read():
            if isinstance(value, Unknown):
                raise value.error()
            found.append(int(value))
    return solve([found[r * tile[1] : (r + 1) * tile[1]] for r in range(tile[0])])
