"""What the Python DSL says of atoms: make_mma_atom, make_copy_atom, and its operation classes.

The names themselves are looked up by a resolver (`spec.library.resolve`), which the caller gives.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.inttuple import show
from cute_viz.errors import NotationError
from cute_viz.notation.syntax import Call, Name, Node, Number, short, source
from cute_viz.values.types import ValueType, bits_of, unsigned

if TYPE_CHECKING:
    from cute_viz.notation.reading import Meaning

_NAMES = (  # how names begin
    r"(?:ld|st)matrix\.|SM\d+_|GMMA_|MMA_\d|\d+x\d+x\d|Universal|Auto(?:Vec|CopyAsync)|DefaultCopy|U(16|32)x\d|XE_|"
    r"(?i:v_|__builtin_amdgcn_)?(?i:s?w?m(fma|fmac|ma|mac)_)|[fi]\d+_\d+x\d+x\d"
)


_DSL = re.compile(r"[A-Z]\w*Op")  # classes of its operations


def atom_call(evaluator: Meaning, node: Call, name: str) -> Any:
    """The value of a call that makes an atom of an operation; None for another call.

    >>> from cute_viz.notation.statements import parse_program
    >>> from cute_viz.notation.evaluate import Evaluator
    >>> text = "make_mma_atom(SM80_16x8x16_F32F16F16F32_TN)"
    >>> from cute_viz.notation.reading import Passage
    >>> evaluator = Evaluator(Passage(text, resolve=lambda name, args: f"the atom {name}"))
    >>> atom_call(evaluator, parse_program(text)[0].value, "make_mma_atom")
    'the atom SM80_16x8x16_F32F16F16F32_TN'
    """
    if name == "make_mma_atom" and node.args:
        return evaluator.value(node.args[0])
    if name == "make_copy_atom" and node.args:
        return _copy_atom(evaluator, node, node.args)
    return _operation(evaluator, node) if _DSL.fullmatch(name) else None


def _copy_atom(evaluator: Meaning, node: Call, inner: tuple[Node, ...]) -> Any:
    """make_copy_atom(operation, type)."""
    from cute_viz.algebra.copy import CopyOp, make_copy_atom

    if len(inner) < 2:
        raise NotationError(
            "a copy atom needs an operation and a value type",
            text=evaluator.source.text,
            span=node.span,
            hint="make_copy_atom(SM75_U32x4_LDSM_N, half_t)",
        )
    operation = evaluator.value(inner[0])
    value_type = source(evaluator.source.text, inner[1])
    if isinstance(inner[1], Name) and inner[1].text in evaluator.source.names:
        bound = evaluator.value(inner[1])
        value_type = bound.name if isinstance(bound, ValueType) else ""
        bits = bits_of(bound.name if isinstance(bound, ValueType) else bound)
    else:
        bits = bits_of(inner[1].value if isinstance(inner[1], Number) else value_type)
    if isinstance(operation, str):  # of the DSL, whose width is that of the values
        operation = evaluator.resolved(operation, (unsigned(bits) or "",))
    if not isinstance(operation, CopyOp):
        raise NotationError(
            f"{source(evaluator.source.text, inner[0])} is not a copy operation",
            text=evaluator.source.text,
            span=inner[0].span,
            hint="cute-viz list copy",
        )
    return make_copy_atom(operation, bits, value_type)


def _operation(evaluator: Meaning, node: Call) -> Any:
    """An operation of the DSL, `warp.LdMatrix8x8x16bOp(False, 4)`, by the name that the library finds it by."""
    called = f"{node.name}({', '.join(_argument(evaluator, item) for item in node.args or ())})"
    return called if short(node.name) in _SIZED else evaluator.resolved(called, ())


def _argument(evaluator: Meaning, item: Node) -> str:
    """An argument of such a call: numbers and tuples evaluated, types and words as they stand."""
    bound = evaluator.source.names.get(item.text) if isinstance(item, Name) else None
    return item.text if isinstance(item, Name) and bound is None else show(bound if bound is not None else evaluator.value(item))


_SIZED = ("CopyUniversalOp", "CopyG2ROp", "CopyR2GOp", "CopyS2ROp", "CopyR2SOp", "CopyG2SOp")  # make_copy_atom gives their width


def is_atom_name(short: str) -> bool:
    """Whether a name could be an atom's: SM80_..., GMMA_..., UniversalCopy, 16x8x16_...

    >>> is_atom_name("SM80_16x8x16_F32F16F16F32_TN"), is_atom_name("make_layout")
    (True, False)
    """
    return re.match(_NAMES, short) is not None
