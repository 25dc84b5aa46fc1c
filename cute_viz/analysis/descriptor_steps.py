"""Why an operand in shared memory has a matrix descriptor, or has none, and which atom would give it one: step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cute_viz.algebra import ops
from cute_viz.algebra.common import Operation
from cute_viz.algebra.descriptor import MODES, UNIT, DescriptorTensor, major_of
from cute_viz.algebra.inttuple import modes, product, tuple_rank
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.recast import upcast
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor, as_tensor
from cute_viz.analysis.steps import Step
from cute_viz.errors import AlgebraError
from cute_viz.values.types import sparse

OPERATIONS = {"make_gmma_desc": "GMMA", "make_umma_desc": "UMMA"}
ATOMS = ("INTER", "SW32", "SW64", "SW128")
DEEP = 256  # bits of K of one instruction


def descriptor_steps(name: str, operand: object, word: object = "K") -> list[Step]:
    """The steps of make_gmma_desc or make_umma_desc; the last has the descriptor, or the condition that failed. Raises:
    AlgebraError for anything but a tensor in shared memory whose elements have a width."""
    kind, tensor, major = OPERATIONS[name], as_tensor(operand), major_of(word)
    steps = [Step(f"{name}<{major}>: the operand, in elements of {tensor.bits} bits", tensor.layout)]
    try:
        if tuple_rank(tensor.layout.shape) == 2:
            _canonical(steps, kind, tensor, major)
        found = ops.find(name).call([tensor, major])
    except AlgebraError as error:
        steps += [Step(f"  {words}") for words in _remedies(name, kind, tensor, major)]
        return [*steps, Step(f"this fails: {error.message}")]
    start, leading, stride = (
        f"{value} x 16 = {value * UNIT} bytes"
        for value in (found.start_address, found.leading_byte_offset, found.stride_byte_offset)
    )
    steps.append(Step(f"the fields: start address {start}, leading offset {leading}, stride offset {stride}"))
    return [*steps, Step("the 64 bits", found)]


def _canonical(steps: list[Step], kind: str, tensor: Tensor, major: str) -> None:
    """The units of 16 bytes, the swizzle, and the cut into core matrices."""
    units = upcast(tensor.layout, 128 // tensor.bits)
    steps.append(Step("in units of 16 bytes, the units of a descriptor", units))
    swizzle = tensor.pointer.swizzle or Swizzle(0, 4, 3)
    mode = MODES[kind].get((swizzle.bits, swizzle.base, swizzle.shift))
    if mode is None:
        return
    _, words, width, rows = mode
    steps.append(Step(f"{swizzle} of the byte address is {words}: rows of {width * UNIT} bytes are swizzled together"))
    shape = (8, 2) if major == "K" else (width, rows)
    cut = ops.find("logical_divide").call([units, (Layout(shape[0]), Layout(shape[1]))])
    canonical = _wanted(major, width, rows, words)
    steps.append(Step(f"cut by {shape}; the canonical form is {canonical}", cut))


def _wanted(major: str, width: int, rows: int, mode: str) -> str:
    none = mode in ("INTERLEAVE", "SWIZZLE_NONE")
    if major == "K":
        return f"((8,m),(2,k)):(({width},SBO),({'LBO' if none else 1},..))"
    lead, stride = ("SBO", "LBO") if none else ("LBO", "SBO")
    return f"(({width},m),({rows},k)):(({'..' if none else 1},{lead}),({width},{stride}))"


def _remedies(name: str, kind: str, tensor: Tensor, major: str) -> Iterator[str]:
    """What would help: a k-block of the tile, and the atoms that have a descriptor for its shape."""
    if tuple_rank(tensor.layout.shape) != 2 or tensor.pointer.space != "smem":
        return
    mn, k = map(product, modes(tensor.layout.shape))
    deep = DEEP // tensor.bits
    if kind == "GMMA" and k > deep:
        yield f"K is {k} elements, and one wgmma takes {deep}: local_tile(A, ({mn},{deep}), (0,k)) is the operand of k-block k"
    good = list(_atoms(name, tensor, major, mn, k if kind == "UMMA" else min(k, deep), k))
    if good:
        yield f"atoms that have a {major}-major descriptor for this shape: {', '.join(good)}"


def _atoms(name: str, tensor: Tensor, major: str, mn: int, k: int, whole: int) -> Iterator[str]:
    """The names of the atoms that make a tile of these extents with a descriptor for its first k elements."""
    each = (sparse(tensor.pointer.type) or (1,))[0]
    for n, mode in enumerate(ATOMS):
        long = (128 << n) // (tensor.bits * each)
        plain = Layout((8, long), (long, 1)) if major == "K" else Layout((long, 8), (1, long))
        try:
            plain = ops.find("blocked_product").call([Layout((1, each)), plain]) if each > 1 else plain
            tile = ops.find("tile_to_shape").call([plain, (mn, whole)])
            pointer = replace(tensor.pointer, swizzle=Swizzle(n, 4, 3))
            part = ops.find("local_tile").call([Tensor(pointer, tile), (mn, k), (0, 0)])
            ops.find(name).call([part, major])
        except AlgebraError:
            continue
        yield f"Layout_{major}_{mode}_{'Sp' if each > 1 else ''}Atom"


def descriptors_of(value: DescriptorTensor) -> tuple[Operation, tuple[Step, ...]]:
    """The operation and the steps of a fragment of descriptors: those of its first one, and where the others start."""
    first = value.first
    name = f"make_{first.kind.lower()}_desc"
    words = "the others start so many units of 16 bytes further, by block of M or N, block of K, stage"
    told = [Step("a fragment of descriptors, one for each instruction and stage, of the tensor", value.tensor.layout)]
    told += [*descriptor_steps(name, first.tensor, first.major), Step(words, value.layout)]
    return Operation(name, (first.tensor, first.major), ()), tuple(told)
