"""What source says of atoms: MMA_Atom<...>, Copy_Atom<op, T>, TiledMMA<...>, and the Python DSL's operation classes.

The names themselves are looked up by a resolver (`spec.library.resolve`), which the caller gives.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.inttuple import show
from cute_viz.algebra.matrix_op import MatrixOp
from cute_viz.errors import AlgebraError, NotationError
from cute_viz.notation.syntax import Call, Keyword, Name, Node, Number, Word, source
from cute_viz.values.types import ValueType, bits_of, named, unsigned

if TYPE_CHECKING:
    from cute_viz.notation.reading import Meaning

_NAMES = (  # how names begin
    r"SM\d+_|GMMA_|MMA_\d|\d+x\d+x\d|Universal|Auto(?:Vec|CopyAsync)|DefaultCopy|U(16|32)x\d|XE_|"
    r"(?i:v_|__builtin_amdgcn_)?(?i:s?w?m(fma|fmac|ma|mac)_)|[fi]\d+_\d+x\d+x\d"
)
_WRAPPERS = ("MMA_Atom", "MMA_Traits", "Copy_Traits", "make_mma_atom")
FORMS = (*_WRAPPERS, "Copy_Atom", "make_copy_atom", "TiledMMA", "TiledCopy")


class _Sized:
    """A copy operation of the DSL whose width make_copy_atom gives: CopyUniversalOp, CopyG2SOp."""

    def __init__(self, name: str) -> None:
        self.name = name


def atom_call(evaluator: Meaning, node: Call, short: str) -> Any:
    """The value of a call that names an atom or a tiling of atoms by its type; None for another call.

    >>> from cute_viz.notation.statements import parse_program
    >>> from cute_viz.notation.evaluate import Evaluator
    >>> text = "MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>{}"
    >>> from cute_viz.notation.reading import Source
    >>> evaluator = Evaluator(Source(text, resolve=lambda name, args: f"the atom {name}"))
    >>> atom_call(evaluator, parse_program(text)[0].value, "MMA_Atom")
    'the atom SM80_16x8x16_F32F16F16F32_TN'
    """
    inner = node.template or node.args or ()
    if short in _WRAPPERS and inner:
        return evaluator.value(inner[0])
    if short in ("Copy_Atom", "make_copy_atom") and inner:
        return _copy_atom(evaluator, node, inner)
    if short == "TiledMMA" and node.template:
        from cute_viz.algebra.mma import make_tiled_mma

        if len(node.template) > 3:
            raise evaluator.fail("TiledMMA takes an atom, its layout and permutations", node.template[3].span)
        return make_tiled_mma(*[evaluator.value(item) for item in node.template])
    if short == "TiledCopy" and len(node.template) == 3:
        from cute_viz.algebra.make_copy import make_tiled_copy_impl

        return make_tiled_copy_impl(*[evaluator.value(item) for item in node.template])
    if short in _DSL:
        return _DSL[short](evaluator, node)
    return None


def _copy_atom(evaluator: Meaning, node: Call, inner: tuple[Node, ...]) -> Any:
    """Copy_Atom<operation, type>, make_copy_atom(operation, type, num_bits_per_copy=n)."""
    from cute_viz.algebra.copy import CopyOp, make_copy_atom

    operands = [item for item in inner if not isinstance(item, Keyword)]
    if len(operands) < 2:
        raise NotationError(
            "a copy atom needs an operation and a value type",
            text=evaluator.source.text,
            span=node.span,
            hint="Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}",
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
        width = _whole("num_bits_per_copy", widths[0], 128) if widths else bits
        copied = unsigned(width)
        if copied is None:
            raise AlgebraError(f"no instruction copies {width} bits", hint="8, 16, 32, 64, 128 or 256")
        operation = evaluator.resolved(operation.name, (copied,))
    if not isinstance(operation, CopyOp):
        raise NotationError(
            f"{source(evaluator.source.text, operands[0])} is not a copy operation",
            text=evaluator.source.text,
            span=operands[0].span,
            hint="cute-viz list copy",
        )
    return make_copy_atom(operation, bits, value_type)


def _options(evaluator: Meaning, node: Call, names: tuple[str, ...]) -> dict[str, Any]:
    """The arguments of a DSL constructor by name: numbers and tuples evaluated, types and words as they stand."""
    out: dict[str, Any] = {}
    for n, item in enumerate(node.args or ()):
        key, value = (item.name, item.value) if isinstance(item, Keyword) else (names[n] if n < len(names) else str(n), item)
        if isinstance(value, Word):
            out[key] = value.value
        elif isinstance(value, Name):
            bound = evaluator.source.names.get(value.text)
            out[key] = str(bound) if isinstance(bound, ValueType) else bound if bound is not None else value.text.rpartition(".")[2]
        else:
            out[key] = evaluator.value(value)
    return out


def _letters(value_type: Any) -> str:
    """A type as the names of CuTe's MMA operations have it."""
    element = named(str(value_type))
    if element is None or not element.dsl:
        raise AlgebraError(f"{value_type} is not an element type of this instruction", hint="such as cutlass.Float16")
    return element.short.upper()


def _whole(name: str, value: Any, example: int) -> int:
    """An argument that is a number; other values are refused by its name."""
    if not isinstance(value, int):
        raise AlgebraError(f"{name} must be an integer, not {show(value)}", hint=f"such as {name}={example}")
    return int(value)


def _mnk(shape: Any, refusal: str, hint: str) -> tuple[int, int, int]:
    """M, N and K of an instruction."""
    if not isinstance(shape, tuple) or len(shape) != 3 or not all(isinstance(extent, int) for extent in shape):
        raise AlgebraError(refusal, hint=hint)
    m, n, k = map(int, shape)
    return m, n, k


def _warp_mma(evaluator: Meaning, node: Call) -> Any:
    """warp.MmaF16BF16Op(ab_dtype, acc_dtype, shape_mnk)."""
    options = _options(evaluator, node, ("ab_dtype", "acc_dtype", "shape_mnk"))
    if "instruction_shape" in options or "a_src" in options:
        return _group_mma(evaluator, node)
    ab, acc = _letters(options.get("ab_dtype")), _letters(options.get("acc_dtype"))
    example = "MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16))"
    m, n, k = _mnk(options.get("shape_mnk"), "MmaF16BF16Op needs shape_mnk", example)
    if m == 64:
        return _group_mma(evaluator, node)
    return evaluator.resolved(f"SM80_{m}x{n}x{k}_{acc}{ab}{ab}{acc}_TN", ())


def _group_mma(evaluator: Meaning, node: Call) -> Any:
    """warpgroup.MmaF16BF16Op(ab_dtype, acc_dtype, instruction_shape, a_src, a_major, b_major)."""
    options = _options(evaluator, node, ("ab_dtype", "acc_dtype", "instruction_shape", "a_src", "a_major", "b_major"))
    shape = options.get("instruction_shape", options.get("shape_mnk"))
    m, n, k = _mnk(shape, "a warp-group MMA needs instruction_shape", "(64, 128, 16)")
    a_from = "RS" if "RMEM" in str(options.get("a_src", "")) else "SS"
    ab = _letters(options.get("ab_dtype"))
    return evaluator.resolved(f"SM90_{m}x{n}x{k}_{_letters(options.get('acc_dtype'))}{ab}{ab}_{a_from}", ())


def _universal_mma(evaluator: Meaning, node: Call) -> Any:
    value_type = str(_options(evaluator, node, ("abacc_dtype",)).get("abacc_dtype", "Float32"))
    return evaluator.resolved("UniversalFMA", (value_type,))


def _matrix(store: bool) -> Callable[[Meaning, Call], Any]:
    """warp.LdMatrix8x8x16bOp(transpose, num_matrices) and its siblings."""

    def build(evaluator: Meaning, node: Call) -> Any:
        options = _options(evaluator, node, ("transpose", "num_matrices"))
        count = _whole("num_matrices", options.get("num_matrices", 1), 4)
        op = MatrixOp(90 if store else 75, store, count, bool(options.get("transpose", False)))
        return evaluator.resolved(op.name, ())

    return build


_DSL: dict[str, Callable[[Meaning, Call], Any]] = {
    "MmaF16BF16Op": _warp_mma,
    "MmaUniversalOp": _universal_mma,
    "LdMatrix8x8x16bOp": _matrix(store=False),
    "StMatrix8x8x16bOp": _matrix(store=True),
    "CopyUniversalOp": lambda evaluator, node: _Sized("UniversalCopy"),
    "CopyG2SOp": lambda evaluator, node: _Sized("SM80_CP_ASYNC_CACHEALWAYS"),
}


def is_atom_name(short: str) -> bool:
    """Whether a name could be an atom's: SM80_..., GMMA_..., UniversalCopy, 16x8x16_...

    >>> is_atom_name("SM80_16x8x16_F32F16F16F32_TN"), is_atom_name("make_layout")
    (True, False)
    """
    return re.match(_NAMES, short) is not None
