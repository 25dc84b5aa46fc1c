"""What C++ source says of pointers, and of the types of SM90 and SM100 operations: calls that are notation."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cute_viz.algebra.composed import domain
from cute_viz.algebra.inttuple import is_int_tuple, product
from cute_viz.algebra.tensor import Tensor
from cute_viz.errors import AlgebraError, CuteVizError
from cute_viz.notation.syntax import Call, Name, Node, Number, short, source
from cute_viz.notation.vocabulary import smem_atom
from cute_viz.records import dataclass
from cute_viz.values.pointer import SPACES, Pointer
from cute_viz.values.types import ValueType, bits_of, named, sparse

if TYPE_CHECKING:
    from cute_viz.notation.reading import Meaning

POINTERS = {f"make_{space}_ptr": space for space in SPACES}
OP_SELECTORS = ("ss_op_selector", "rs_op_selector")
SMEM_SELECTORS = (
    "ss_smem_selector",
    "rs_smem_selector",
    "sm100_smem_selector",
    "ss_smem_selector_sparse",
    "sm100_smem_selector_sparse",
)
FRAGMENTS = ("FrgTypeSFA", "FrgTypeSFB", "FrgTypeE")
_SHAPES = (256, 192, 128, 96, 64, 32, 16, 8)  # of CUTLASS built without its extended shapes
_DEPTH = {16: 16, 32: 8, 8: 32}  # K of one wgmma by the width of an element
_WORD = r"((?:\w+::)*sparse_elem<\d{1,3},[\w:]+>|[\w:]+?)"
_CAST = re.compile(rf"(?:reinterpret|static)_cast<(?:const)?{_WORD}(?:const)?\*>|\((?:const)?{_WORD}(?:const)?\*\)")


def pointer(evaluator: Meaning, node: Node) -> Pointer | None:
    """The pointer that a tensor is made of, as far as the text says; None where it does not say the element type.

    >>> from cute_viz.notation.evaluate import Evaluator
    >>> from cute_viz.notation.reading import Passage
    >>> from cute_viz.notation.statements import parse_program
    >>> text = "make_smem_ptr<half_t>((void*)1024)"
    >>> str(pointer(Evaluator(Passage(text)), parse_program(text)[0].value))
    'smem_ptr[16b](0x400)'
    """
    if isinstance(node, Name) and isinstance(bound := evaluator.source.names.get(node.text), Pointer):
        return bound
    if isinstance(node, Call) and short(node.name) == "make_sparse_ptr" and len(node.args or ()) == 1:
        return pointer(evaluator, node.args[0])  # type: ignore[index]
    if not isinstance(node, Call) or (space := POINTERS.get(short(node.name))) is None:
        return None
    text = source(evaluator.source.text, node)
    cast = _CAST.search(text)
    told = source(evaluator.source.text, node.template[0]) if node.template else (cast[1] or cast[2]) if cast else ""
    word = _type(evaluator, told)
    return Pointer(space, word, _address(evaluator, node)) if word else None


def registers(evaluator: Meaning, node: Call) -> Pointer | None:
    """The registers of `make_tensor<T>(layout)`; None where T is no type of elements.

    >>> from cute_viz.notation.evaluate import Evaluator
    >>> from cute_viz.notation.reading import Passage
    >>> from cute_viz.notation.statements import parse_program
    >>> text = "make_tensor<float>(Layout<_4>{})"
    >>> str(registers(Evaluator(Passage(text)), parse_program(text)[0].value))
    'rmem_ptr[32b](unset)'
    """
    word = _type(evaluator, source(evaluator.source.text, node.template[0])) if len(node.template) == 1 else ""
    return Pointer("rmem", word) if word else None


def element_type(evaluator: Meaning, node: Node) -> str:
    """The element type that a type in a text means, `sparse_elem<2,half_t>` too; "" where it means none."""
    return _type(evaluator, source(evaluator.source.text, node))


def _type(evaluator: Meaning, word: str) -> str:
    bound = evaluator.source.names.get(word)
    word = bound.name if isinstance(bound, ValueType) else word
    if packed := sparse(word):  # Raises: AlgebraError for a part of less than a bit
        return f"sparse_elem<{packed[0]},{packed[1].rpartition('::')[2]}>" if bits_of(word) else ""
    return word.rpartition("::")[2] if named(word) is not None else ""


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


@dataclass(frozen=True, slots=True)
class ScaleConfig:
    """A class of CUTLASS's whose functions lay out scale factors, with its template arguments: `Sm1xxBlockScaledConfig<16>`."""

    name: str
    template: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.name}<{','.join(map(str, self.template))}>"


def scale_config(evaluator: Meaning, node: Call) -> ScaleConfig | None:
    """`Sm1xxBlockScaledConfig<16>`, whose alias a text calls: `Cfg::deduce_smem_layoutSFA(mma, tile)`; None for a call of it.

    >>> from cute_viz.notation import parse
    >>> str(parse("using Cfg = Sm1xxBlockScaledConfig<16>; Cfg::tile_atom_to_shape_SFA((128,256,64))"))
    '(((32,4),1),((16,4),1)):(((16,4),512),((0,1),512))'
    """
    return ScaleConfig(short(node.name), evaluator.template(node)) if node.template and not node.args else None


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
    word = kind.name if isinstance(kind, Call) else kind.text if isinstance(kind, Name) else ""
    if short(word) not in FRAGMENTS or not node.args:
        return None
    from cute_viz.algebra import ops

    assert kind is not None
    name = f"make_fragment_{short(word).removeprefix('FrgType')}"
    inside = (kind.args or kind.template)[0] if isinstance(kind, Call) else Name(kind.span, word.rpartition("::")[0])
    mma = evaluator.value(inside)
    return evaluator.operate(ops.find(name), [mma, evaluator.value(node.args[0])])


def recast(evaluator: Meaning, node: Call) -> Any:
    """`recast<T>(tensor)`: the tensor as one of elements of another type; None for what is no tensor behind a pointer.

    >>> from cute_viz.notation import parse
    >>> str(parse("recast<uint8_t>(make_tensor(make_smem_ptr<half_t>(0), Layout<_8>{}))"))
    '_16:_1'
    """
    if len(node.template) != 1 or len(node.args or ()) != 1:
        return None
    assert node.args
    given, word = evaluator.value(node.args[0]), _type(evaluator, source(evaluator.source.text, node.template[0]))
    if not isinstance(given, Tensor) or given.pointer.swizzle or given.swizzle or not isinstance(given.offset, int) or not word:
        return None
    from cute_viz.algebra import ops

    old, pointer = given.pointer.type, replace(given.pointer, type=ValueType(word))
    layout = evaluator.operate(ops.find("recast_layout"), [given.layout, old, pointer.type])
    offset = given.offset * given.bits // pointer.bits if given.offset else 0  # metadata has less than a bit an element
    return Tensor(replace(pointer, offset=offset), layout)


def op_selector(evaluator: Meaning, node: Call) -> Any:
    """`GMMA::ss_op_selector<TA,TB,TC,TileShape,MajorA,MajorB>()`: the wgmma for a tile. Raises: as `wgmma_for`.

    >>> from cute_viz.spec.library import resolve
    >>> from cute_viz.notation import parse
    >>> text = "GMMA::ss_op_selector<half_t,half_t,float,Shape<_128,_192,_64>,GMMA::Major::K,GMMA::Major::MN>()"
    >>> parse(text, resolve=resolve).name
    'SM90_64x192x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::MN>'
    """
    words = _words(evaluator, node)
    if len(words) < 4:
        raise evaluator.fail(f"{node.name} takes the types of A, B and C, and a tile", node.span)
    kinds, shape = [named(word) for word in words[:3]], evaluator.value(node.template[3])
    if not all(kinds) or not isinstance(shape, tuple) or len(shape) != 3:
        raise evaluator.fail(f"{node.name} takes three element types and a tile of M, N and K", node.span)
    majors = [word.rpartition("::")[2] for word in (*words[4:6], "K", "K")][:2]
    types = tuple(kind.short for kind in kinds if kind is not None)
    return evaluator.resolved(*wgmma_for(short(node.name)[:2], types, tuple(map(int, shape)), majors))


def smem_selector(evaluator: Meaning, node: Call) -> Any:
    """`ss_smem_selector<Major,T,BLK_MN,BLK_K>()` of CUTLASS's collectives: the atom of shared memory. Raises: as `smem_atom_for`.

    >>> from cute_viz.notation import parse
    >>> str(parse("cutlass::gemm::collective::detail::sm100_smem_selector<UMMA::Major::MN, half_t, Int<96>, _64>()"))
    'Sw<2,4,3> o smem_ptr[16b](unset) o (_32,_8):(_1,_32)'
    """
    words = _words(evaluator, node)
    kind = named(words[1]) if len(words) > 3 else None
    if kind is None:
        raise evaluator.fail(f"{node.name} takes a major, an element type, and two extents", node.span)
    blocks = (evaluator.value(node.template[2]), evaluator.value(node.template[3]))
    selector, sparsity = short(node.name).partition("_")[0], 1
    if short(node.name).endswith("_sparse"):
        sparsity = evaluator.value(node.template[4]) if len(node.template) == 5 else 0
    return smem_atom_for(selector, words[0].rpartition("::")[2], kind.bits, blocks, "true" in words[4:], sparsity)


def _words(evaluator: Meaning, node: Call) -> list[str]:
    return [_bound(evaluator, source(evaluator.source.text, item)) for item in node.template]


_WIDEST = ("SW128", "SW64", "SW32", "INTER")


def smem_atom_for(
    selector: str, major: str, bits: int, blocks: tuple[Any, Any], transposed: bool = False, sparsity: Any = 1
) -> Any:
    """The layout atom that a selector ("ss", "rs" or "sm100") takes for a major, a width of elements and a block. sparsity: of a
    sparse A, whose selectors are `ss_smem_selector_sparse` and `sm100_smem_selector_sparse`. Raises: AlgebraError for what
    CUTLASS refuses (sm90_common.inl, sm100_common.inl of cutlass/gemm/collective/builders).

    >>> str(smem_atom_for("rs", "MN", 32, (64, 8)))
    'Sw<1,4,3> o smem_ptr[32b](unset) o (_8,_8):(_1,_8)'
    """
    named_blocks = {"BLK_MN": blocks[0], "BLK_K": blocks[1]}
    for name, block in named_blocks.items():
        if not is_int_tuple(block) or not isinstance(first := _first(block), int):
            raise AlgebraError(f"{selector}_smem_selector: {name} must be a shape", hint="example: Int<64>")
        if first % 8:
            raise AlgebraError(f"{name}0 must be a multiple of 8.", hint=f"not {first}")
    modes: tuple[str, ...] = _WIDEST
    if major == "MN" and selector == "sm100" and bits == 32:
        modes = ("SW128_32B",) if sparsity == 1 else ("SW128_32B", *_WIDEST)
    elif major == "MN" and selector == "rs" and bits >= 32:
        modes = ("SW32",) if transposed else ("SW32", "INTER")
    elif major == "MN" and selector == "rs" and bits <= 8 and transposed:
        modes = ("SW128",)
    name, mode = ("BLK_K", 1) if major == "K" else ("BLK_MN", 0)
    extent = _first(named_blocks[name])
    for word in modes:
        words = (f"Layout_{major}_{word}_Atom", (bits,)) if sparsity == 1 else (f"Layout_{major}_{word}_SpAtom", (bits, sparsity))
        atom = smem_atom(*words)
        assert atom is not None
        fits = product(named_blocks[name]) if (selector, major, word, sparsity) == ("ss", "MN", "INTER", 1) else extent
        shape: Any = domain(atom).shape
        if fits % product(shape[mode]) == 0:
            return atom
    if modes == ("SW128_32B",):
        raise AlgebraError("for mn-major tf32 operands, SW128_32B is the only available smem layout")
    space, block = "UMMA" if selector == "sm100" else "GMMA", name if (selector, major, sparsity) == ("ss", "MN", 1) else f"{name}0"
    last = "128" if modes == ("SW128",) else modes[-1]  # as CUTLASS writes it
    of = "SpAtom<ElementType, Sparsity{}>" if sparsity != 1 and selector == "sm100" else "Atom<ElementType>"
    raise AlgebraError(f"{block} must be a multiple of size<{mode}>({space}::Layout_{major}_{last}_{of}{{}})", hint=f"not {extent}")


def _first(block: Any) -> Any:
    return product(block[0]) if isinstance(block, tuple) and block else block


def wgmma_for(
    source: str, types: tuple[str, ...], tile: tuple[int, ...], majors: list[str], every: bool = False
) -> tuple[str, tuple[str, ...]]:
    """The wgmma that ss_op_selector or rs_op_selector takes: its name, and its template arguments (cute/arch/mma_sm90.hpp). types:
    of A, B and C, as `named` has them. every: of all N, as with CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED. Raises: AlgebraError, in
    CuTe's words, for what no wgmma has.

    >>> wgmma_for("rs", ("e4m3", "e5m2", "f32"), (64, 24, 64), ["K", "K"])
    ('SM90_64x8x32_F32E4M3E5M2_RS_TN', ())
    """
    (a, b, c), (m, n, k) = types, tile
    if m % 64:
        raise AlgebraError("Tile_M must be a multiple of 64.")
    if c not in ("f16", "f32", "s32"):
        raise AlgebraError("Unknown ElementC accumulator type.")
    if source == "rs" and majors[0] != "K":
        raise AlgebraError("Register source A operand GMMAs must have K-major A layout.")
    if not _known(a, b, c):
        raise AlgebraError("No eligible GMMA operator for request configuration.")
    depth = _DEPTH[bits_of(a)]
    for letter, major in zip("AB", majors, strict=True):
        if depth != 16 and major != "K":
            raise AlgebraError(f"Major{letter} must be GMMA::Major::K for this config.")
    if k % depth:
        raise AlgebraError(f"Tile_K must be a multiple of {depth}.")
    if n % 8:
        raise AlgebraError("Tile_N must be a multiple of 8.")
    widths = [x for x in range(256, 0, -8) if c != "s32" or x <= 32 or x % 16 == 0] if every else _SHAPES
    width = next(x for x in widths if n % x == 0)
    name = f"SM90_64x{width}x{depth}_{(c + a + b).upper()}_{source.upper()}"
    return (name, tuple(f"GMMA::Major::{major}" for major in majors)) if depth == 16 else (f"{name}_TN", ())


def _known(a: str, b: str, c: str) -> bool:
    if a in ("e4m3", "e5m2"):
        return b in ("e4m3", "e5m2") and c in ("f16", "f32")
    if a in ("s8", "u8"):
        return b in ("s8", "u8") and c == "s32"
    return a == b and (a, c) in (("f16", "f16"), ("f16", "f32"), ("bf16", "f32"), ("tf32", "f32"))


def _bound(evaluator: Meaning, word: str) -> str:
    value = evaluator.source.names.get(word)
    return value.name if isinstance(value, ValueType) else word
