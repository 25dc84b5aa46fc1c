"""What the Python DSL says of atoms: make_mma_atom, make_copy_atom, and its operation classes.

The names themselves are looked up by a resolver (`spec.library.resolve`), which the caller gives.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.inttuple import show
from cute_viz.errors import AlgebraError, NotationError
from cute_viz.notation.syntax import Call, Keyword, Name, Node, Number, Word, short, source
from cute_viz.values.types import ValueType, bits_of, unsigned

if TYPE_CHECKING:
    from cute_viz.notation.reading import Meaning

_NAMES = (  # how names begin
    r"(?:ld|st)matrix\.|SM\d+_|GMMA_|MMA_\d|\d+x\d+x\d|Universal|Auto(?:Vec|CopyAsync)|DefaultCopy|U(16|32)x\d|XE_|"
    r"(?i:v_|__builtin_amdgcn_)?(?i:s?w?m(fma|fmac|ma|mac)_)|[fi]\d+_\d+x\d+x\d"
)


_DSL = re.compile(r"[A-Z]\w*Op")  # classes of its operations


class _Sized:
    """A copy operation of the DSL whose width make_copy_atom gives: CopyUniversalOp, CopyG2SOp."""

    def __init__(self, called: str) -> None:
        self.called = called


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
    """make_copy_atom(operation, type, num_bits_per_copy=n)."""
    from cute_viz.algebra.copy import CopyOp, make_copy_atom

    operands = [item for item in inner if not isinstance(item, Keyword)]
    if len(operands) < 2:
        raise NotationError(
            "a copy atom needs an operation and a value type",
            text=evaluator.source.text,
            span=node.span,
            hint="make_copy_atom(SM75_U32x4_LDSM_N, half_t)",
        )
    operation = evaluator.value(operands[0])
    value_type = source(evaluator.source.text, operands[1])
    if isinstance(operands[1], Name) and operands[1].text in evaluator.source.names:
        bound = evaluator.value(operands[1])
        value_type = bound.name if isinstance(bound, ValueType) else ""
        bits = bits_of(bound.name if isinstance(bound, ValueType) else bound)
    else:
        bits = bits_of(operands[1].value if isinstance(operands[1], Number) else value_type)
    if isinstance(operation, _Sized):
        widths = [evaluator.value(item.value) for item in inner if isinstance(item, Keyword) and item.name == "num_bits_per_copy"]
        width = widths[0] if widths else bits
        if not isinstance(width, int):
            raise AlgebraError(f"num_bits_per_copy must be an integer, not {show(width)}", hint="example: num_bits_per_copy=128")
        copied = unsigned(width)
        if copied is None:
            raise AlgebraError(f"no instruction copies {width} bits", hint="8, 16, 32, 64, 128 or 256")
        operation = evaluator.resolved(operation.called, (copied,))
    if not isinstance(operation, CopyOp):
        raise NotationError(
            f"{source(evaluator.source.text, operands[0])} is not a copy operation",
            text=evaluator.source.text,
            span=operands[0].span,
            hint="cute-viz list copy",
        )
    return make_copy_atom(operation, bits, value_type)


def _operation(evaluator: Meaning, node: Call) -> Any:
    """An operation of the DSL, `warp.LdMatrix8x8x16bOp(False, 4)`, by the name that the library finds it by."""
    called = f"{node.name}({', '.join(_argument(evaluator, item) for item in node.args or ())})"
    return _Sized(called) if short(node.name) in _SIZED else evaluator.resolved(called, ())


def _argument(evaluator: Meaning, item: Node) -> str:
    """An argument of such a call: numbers and tuples evaluated, types and words as they stand."""
    if isinstance(item, Keyword):
        return f"{item.name}={_argument(evaluator, item.value)}"
    if isinstance(item, Word):
        return str(item.value)
    bound = evaluator.source.names.get(item.text) if isinstance(item, Name) else None
    return item.text if isinstance(item, Name) and bound is None else show(bound if bound is not None else evaluator.value(item))


_SIZED = ("CopyUniversalOp", "CopyG2ROp", "CopyR2GOp", "CopyS2ROp", "CopyR2SOp", "CopyG2SOp")  # make_copy_atom gives their width


def is_atom_name(short: str) -> bool:
    """Whether a name could be an atom's: SM80_..., GMMA_..., UniversalCopy, 16x8x16_...

    >>> is_atom_name("SM80_16x8x16_F32F16F16F32_TN"), is_atom_name("make_layout")
    (True, False)
    """
    return re.match(_NAMES, short) is not None
