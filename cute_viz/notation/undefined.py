"""What to say of a name that means nothing: an atom that nobody has, another spelling, or a value to give."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches

from cute_viz.notation.syntax import is_atom_name
from cute_viz.values.examples import hint_for


def undefined(name: str, names: Iterable[str], resolve: Callable[..., object] | None) -> tuple[str, str]:
    """The words of the error and of its hint, for a name where `names` are bound and `resolve` knows the atoms."""
    if re.search(r"\d+x\d+x\d+", name):
        upper = name.upper().replace("X", "x")
        known = upper != name and resolve is not None and is_atom_name(upper) and resolve(upper, ()) is not None
        hint = f"did you mean {upper}?" if known else "`cute-viz list mma` shows the atoms; `layouts=` adds your own"
        return f"there is no atom {name!r}", hint
    from cute_viz.algebra import ops

    operation = ops.OPS.get(ops.ALIASES.get(name, name))
    if operation is not None and "_" in name:  # `shape` may be a variable of its text
        return f"{name!r} is an operation, which is called with its operands", f"example: {operation.example}"
    like = [other for other in names if abs(len(other) - len(name)) <= 2][:50]  # a text may bind thousands
    near = get_close_matches(name, like, n=3) if len(name) > 2 else []
    ways = [f"did you mean {', '.join(near)}?"] if near else []
    if all(map(str.isidentifier, name.split("."))):
        ways.append(hint_for(name, default="512"))
    return f"{name!r} is undefined", " or ".join(ways) or "write a layout, for example (4,8):(8,1)"
