"""The type of a variable as a compiler spells it -> its value: layouts, tensors behind their pointers, tilings, static tuples."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.tensor import Tensor, make_tensor
from cute_viz.errors import AlgebraError
from cute_viz.notation.syntax import Resolver
from cute_viz.source.cpp.spelled import Spelled
from cute_viz.source.type_scan import arguments
from cute_viz.values.types import Pointer

HEAD = re.compile(
    r"(?:const\s+)?cute::(?P<kind>Layout|ComposedLayout|Tensor|TiledCopy|TiledMMA|Copy_Atom|MMA_Atom|Copy_Traits|ThrCopy|ThrMMA|tuple|Swizzle|C)<"
)
_IN_TUPLES = re.compile(r"\b[A-Za-z_][\w:]*")
_WORDS = {*("tuple", "C", "Underscore", "ScaledBasis", "Layout", "ComposedLayout", "Swizzle", "int", "long", "unsigned", "short")}
_WORDS |= {*("cute", "true", "false", "const", "Tile", "integral_constant", "bool", "float", "double", "char", "signed")}
_WORDS |= {*("R", "ArithmeticTuple", "smem_ptr_flag_bits", "smem_sparse_ptr_flag_bits")}
_SUBBYTE = re.compile(r"\b(?:cutlass::)?integer_subbyte<(\d+)(?:, (true|false))?>")
_SPACES = {"gmem_ptr": "gmem", "smem_ptr": "smem", "rmem_ptr": "rmem", "tmem_ptr": "tmem"}


def unqualified(type_: str) -> str:
    """A type without what stands around it."""
    return type_.removeprefix("const ").removesuffix("const").rstrip("*& ")


def unzipped(type_: str) -> str:
    """The type of the data of a tensor that is zipped with its scale factors; any other type as it is."""
    if "cute::ZipLayout<" not in type_:
        return type_
    engine, layout = arguments(unqualified(type_))
    iterator = arguments(engine)[0]
    return f"cute::Tensor<cute::ViewEngine<{arguments(iterator)[0]}>, {arguments(layout)[0]}>"


def is_object(type_: str) -> bool:
    """Whether a type is one of CuTe's objects."""
    found = HEAD.match(type_)
    if found is not None and found["kind"] == "tuple":  # of anything else it is the user's own
        return all(word.rpartition("::")[2] in _WORDS for word in _IN_TUPLES.findall(type_))
    return found is not None


def value_of(type_: str, resolve: Resolver | None) -> Any:
    """The value of a type; integers that only runs know are `?`. Raises: CuteVizError for a type that is not understood."""
    found = HEAD.match(type_)
    if found is not None and found["kind"] == "Tensor":
        inside = arguments(type_)
        pointer = _pointer(inside[0]) if len(inside) == 2 else None
        if pointer is not None:
            return make_tensor(pointer, value_of(inside[1], resolve))
    if found is not None and found["kind"] == "Copy_Traits":  # what `with` gives
        op = _sized(re.sub(r"\b(?:cute|cutlass)::", "", type_.removeprefix("const ")))
        op = arguments(op)[0] if op.startswith("Copy_Traits<") else op
        name, bits = op.partition("<")[0], tuple(arguments(op)) if "<" in op else ()
        atom = None if resolve is None else resolve(name, bits)
        if atom is None:
            raise AlgebraError(f"there is no copy {op}")
        return atom
    if found is not None and found["kind"].endswith("Layout"):
        type_ = _integral(type_)
    type_ = _sized(re.sub(r"\b(?:cute|cutlass)::", "", _narrow(type_)))
    value = Spelled(type_, resolve).value(0, len(type_))
    return value.printed if isinstance(value, Tensor) else value


def _integral(type_: str) -> str:
    """The type of a layout in which the user's own integers, such as VariableLength or CustomStride<F, int>, are plain ones."""
    at = 0
    while (found := _IN_TUPLES.search(type_, at)) is not None:
        at = found.end()
        if found[0].rpartition("::")[2] not in _WORDS:
            end = at + _length(type_[at:]) if type_[at : at + 1] == "<" else at
            at = found.start() + 3
            type_ = f"{type_[: found.start()]}int{type_[end:]}"
    return type_


def _sized(type_: str) -> str:
    """A type with the traits of a copy of so many bits, `Copy_Traits<SM90_TMA_LOAD, C<8192>, ...>`, as `SM90_TMA_LOAD<8192>`."""
    at = 0
    while (at := type_.find("Copy_Traits<", at)) >= 0:
        inside = arguments(type_[at:])
        bits = re.fullmatch(r"C<(\d+)>", inside[1]) if len(inside) > 1 else None
        end = at + _length(type_[at:])
        if bits is not None and "<" not in inside[0]:
            type_ = f"{type_[:at]}{inside[0]}<{bits[1]}>{type_[end:]}"
        at += 1
    return type_


def _length(type_: str) -> int:
    """The length of a template with its arguments, at the beginning of a text."""
    depth = 0
    for n, char in enumerate(type_):
        depth += (char == "<") - (char == ">")
        if char == ">" and not depth:
            return n + 1
    return len(type_)


def _pointer(engine: str) -> Pointer | None:
    """The pointer of a tensor's engine; None of one that counts."""
    name, inside = _named(engine)
    if name == "ArrayEngine":
        return Pointer("rmem", element_of(inside[0]))
    if name not in ("ViewEngine", "ConstViewEngine") or not inside:
        return None
    name, parts = _named(inside[0])
    if name in ("ArithmeticTupleIterator", "counting_iterator"):
        return None
    if name == "DescriptorIterator":
        return Pointer()
    if name == "swizzle_ptr" and len(parts) == 2:
        bits = arguments(parts[0])  # the third is the first, where it is left out
        behind = _pointer(f"cute::ViewEngine<{parts[1]}>")
        return None if behind is None else replace(behind, swizzle=Swizzle(*(*map(int, bits), int(bits[0]))[:3]))
    if name in _SPACES:
        return replace(_pointer(f"cute::ViewEngine<{parts[0]}>") or Pointer(), space=_SPACES[name])
    if name in ("subbyte_iterator", "sparse_ptr"):
        return Pointer("", element_of(parts[-1].rstrip("* ")))
    return Pointer("", element_of(inside[0].rstrip("* ")) if inside[0].rstrip().endswith("*") or not parts else None)


def _named(type_: str) -> tuple[str, list[str]]:
    """The last word of a template's name, and its arguments."""
    head = type_.partition("<")[0]
    return head.split("::")[-1].strip(), arguments(type_) if "<" in type_ else []


def _narrow(type_: str) -> str:
    """Integers of a few bits by their names: `integer_subbyte<4, false>` is `uint4_t`, `integer_subbyte<4>` is `int4_t`."""
    return _SUBBYTE.sub(lambda match: f"{'u' if match[2] == 'false' else ''}int{match[1]}_t", type_)


def element_of(type_: str) -> str:
    """The type of an element, as the library names it."""
    return re.sub(r"\b(?:const|volatile|cutlass::|cute::)\s*", "", _narrow(type_)).strip()
