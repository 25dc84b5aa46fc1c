"""What C++ source says of pointers, and of the types of SM90 and SM100 operations: calls that are notation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.elements import ValueType, named
from cute_viz.algebra.tensor import SPACES, Pointer
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.notation.syntax import Call, Name, Node, Number, short, source

if TYPE_CHECKING:
    from cute_viz.notation.reading import Meaning

POINTERS = {f"make_{space}_ptr": space for space in SPACES}
SELECTORS = ("ss_op_selector", "rs_op_selector")
FRAGMENTS = ("FrgTypeSFA", "FrgTypeSFB")
_SHAPES = (256, 192, 128, 96, 64, 32, 16, 8)  # of CUTLASS built without its extended shapes
_DEPTH = {16: 16, 32: 8, 8: 32}  # K of one wgmma by the width of an element
_CAST = re.compile(r"(?:reinterpret|static)_cast<(?:const)?([\w:]+?)(?:const)?\*>|\((?:const)?([\w:]+?)(?:const)?\*\)")


def pointer(evaluator: Meaning, node: Node) -> Pointer | None:
    """The pointer that a tensor is made of, as far as the text says; None where it does not say the element type.

    >>> from cute_viz.notation.evaluate import Evaluator
    >>> from cute_viz.notation.reading import Source
    >>> from cute_viz.notation.statements import parse_program
    >>> text = "make_smem_ptr<half_t>((void*)1024)"
    >>> str(pointer(Evaluator(Source(text)), parse_program(text)[0].value))
    'smem_ptr[16b](0x400)'
    """
    if isinstance(node, Name) and isinstance(bound := evaluator.source.names.get(node.text), Pointer):
        return bound
    if not isinstance(node, Call) or (space := POINTERS.get(short(node.name))) is None:
        return None
    text = source(evaluator.source.text, node)
    cast = _CAST.search(text)
    word = source(evaluator.source.text, node.template[0]) if node.template else (cast[1] or cast[2]) if cast else ""
    bound = evaluator.source.names.get(word)
    word = bound.name if isinstance(bound, ValueType) else word
    if named(word) is None:
        return None
    return Pointer(space, word.rpartition("::")[2], _address(evaluator, node))


def _address(evaluator: Meaning, node: Call) -> int | None:
    """The address that a pointer is made of, where the text tells it."""
    inner: Any = (node.args or (None,))[0]
    while isinstance(inner, Call) and inner.args and short(inner.name) in ("reinterpret_cast", "static_cast"):
        inner = inner.args[0]
    if not isinstance(inner, (Number, Name)):
        return None
    try:
        value = evaluator.value(inner)
    except CuteVizError:
        return None
    return int(value) if isinstance(value, int) and value >= 0 else None


def fragment_type(evaluator: Meaning, node: Call) -> Any:
    """`make_tensor<typename TiledMma::FrgTypeSFA>(shape)`: the tensor memory of scale factors; None for another call.

    >>> from cute_viz.spec.library import resolve
    >>> from cute_viz.notation import parse
    >>> mma = "mma = SM100_MMA_MXF8F6F4_SS<float_e4m3_t,float_e4m3_t,float,float_ue8m0_t,128,128,UMMA::Major::K,UMMA::Major::K>{}; "
    >>> text = "make_tensor<typename decltype(mma)::FrgTypeSFA>(((((32,4),1),(32,1)),1,(4,1)))"
    >>> parse(mma + text, resolve=resolve).bits
    8
    """
    kind = node.template[0] if len(node.template) == 1 else None
    if not isinstance(kind, Call) or short(kind.name) not in FRAGMENTS or not node.args:
        return None
    from cute_viz.algebra import ops

    name = f"make_fragment_{short(kind.name).removeprefix('FrgType')}"
    mma = evaluator.value((kind.args or kind.template)[0])
    return evaluator.operate(ops.find(name), [mma, evaluator.value(node.args[0])])


def op_selector(evaluator: Meaning, node: Call) -> Any:
    """`GMMA::ss_op_selector<TA,TB,TC,TileShape,MajorA,MajorB>()`: the wgmma for a tile (cute/arch/mma_sm90.hpp).

    Raises: AlgebraError for types, majors and extents that no wgmma has, in CuTe's words.

    >>> from cute_viz.spec.library import resolve
    >>> from cute_viz.notation import parse
    >>> text = "GMMA::ss_op_selector<half_t,half_t,float,Shape<_128,_192,_64>,GMMA::Major::K,GMMA::Major::MN>()"
    >>> parse(text, resolve=resolve).name
    'SM90_64x192x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::MN>'
    """
    words = [source(evaluator.source.text, item) for item in node.template]
    if len(words) < 4:
        raise evaluator.fail(f"{node.name} takes the types of A, B and C, and a tile", node.span)
    kinds = [named(_bound(evaluator, word)) for word in words[:3]]
    shape = evaluator.value(node.template[3])
    if not all(kinds) or not isinstance(shape, tuple) or len(shape) != 3:
        raise evaluator.fail(f"{node.name} takes three element types and a tile of M, N and K", node.span)
    a, b, c = (kind for kind in kinds if kind is not None)
    majors = [word.rpartition("::")[2] for word in (*words[4:6], "K", "K")][:2]
    m, n, k = map(int, shape)
    registers = short(node.name).startswith("rs")
    if m % 64:
        raise AlgebraError("Tile_M must be a multiple of 64.")
    depth = _DEPTH.get(a.bits)
    if depth is None or not _known(a.name, b.name, c.name):
        raise AlgebraError("No eligible GMMA operator for request configuration.")
    if registers and majors[0] != "K":
        raise AlgebraError("Register source A operand GMMAs must have K-major A layout.")
    fixed = a.bits != 16
    for letter, major in zip("AB", majors, strict=True):
        if fixed and major != "K":
            raise AlgebraError(f"Major{letter} must be GMMA::Major::K for this config.")
    if k % depth:
        raise AlgebraError(f"Tile_K must be a multiple of {depth}.")
    if n % 8:
        raise AlgebraError("Tile_N must be a multiple of 8.")
    width = next(x for x in _SHAPES if n % x == 0)
    name = f"SM90_64x{width}x{depth}_{(c.name + a.name + b.name).upper()}_{'RS' if registers else 'SS'}"
    if fixed:
        return evaluator.resolved(f"{name}_TN", ())
    return evaluator.resolved(name, tuple(f"GMMA::Major::{major}" for major in majors))


def _known(a: str, b: str, c: str) -> bool:
    """Whether there is a wgmma of these types."""
    if a in ("e4m3", "e5m2"):
        return b in ("e4m3", "e5m2") and c in ("f16", "f32")
    if a in ("s8", "u8"):
        return b in ("s8", "u8") and c == "s32"
    return a == b and (a, c) in (("f16", "f16"), ("f16", "f32"), ("bf16", "f32"), ("tf32", "f32"))


def _bound(evaluator: Meaning, word: str) -> str:
    value = evaluator.source.names.get(word)
    return value.name if isinstance(value, ValueType) else word
