"""The DSL's operations, `warp.MmaF16BF16Op(...)`, by the names that CuTe's library has for them.

Sources: cutlass/cute/nvgpu of the Python DSL; cute/arch and cute/atom of CUTLASS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd
from typing import Any

from cute_viz.algebra.copy import Copy_Atom, CopyOp, make_copy_atom
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, TiledMMA
from cute_viz.algebra.ops import find
from cute_viz.algebra.static import mark_static
from cute_viz.algebra.tensor import Tensor
from cute_viz.algebra.views import atom_of
from cute_viz.errors import AlgebraError
from cute_viz.notation.syntax import Resolver
from cute_viz.records import rows
from cute_viz.source.python.machine import need
from cute_viz.source.python.values import Atom, DslOp, EnumMember, Slice
from cute_viz.values.types import ValueType, unsigned

_ROWS = rows(__file__, "instructions.txt")
SIGNATURES = {(module, name): tuple(taken.split()) for module, names, taken in _ROWS for name in names.split()}
_WIDEST = 128  # bits of one access
_ONE = Layout((1, 1), (0, 0))  # of an atom of one value
_ALSO = {"instruction_shape": "shape_mnk", "mma_shape": "shape_mnk"}


def instruction(module: str, name: str, args: list[object], given: dict[str, object]) -> DslOp | None:
    """The operation of a module's name, with its arguments by name; None for a name that is not known. Arguments may be unknown:
    most layouts do not depend on all of them. Raises: AlgebraError for arguments that it does not take."""
    key = (module, name) if (module, name) in SIGNATURES else ("cute", name)
    if key not in SIGNATURES:
        return None
    names = SIGNATURES[key]
    if len(args) > len(names):
        raise AlgebraError(f"{module}.{name} takes {len(names)} arguments, not {len(args)}")
    out = dict(zip(names, args, strict=False))
    for word, value in given.items():
        word = _ALSO.get(word, word)
        if word not in names or word in out:
            raise AlgebraError(f"{module}.{name} takes no {word!r} here", hint=f"its arguments: {', '.join(names)}")
        out[word] = value
    if name.endswith("I8Op") or name.startswith(("MmaMX", "SM103")) or "ab_dtype" in out:
        out.setdefault("a_dtype", out.get("ab_dtype", ValueType("e2m1")))
        out.setdefault("b_dtype", out.get("ab_dtype", ValueType("e2m1")))
    if "MXF4" in name and module == "tcgen05":
        out |= {"a_major_mode": EnumMember("OperandMajorMode", "K"), "b_major_mode": EnumMember("OperandMajorMode", "K")}
    return DslOp(key[0], name, out)


def mma_atom(op: object, resolve: Resolver | None) -> Atom:
    """The MMA atom of an operation. Raises: AlgebraError for any other operation, and for one that the library lacks."""
    if isinstance(op, Atom):
        return op
    if not isinstance(op, DslOp) or "Mma" not in op.name:
        raise AlgebraError("an MMA operation is expected here", hint="example: warp.MmaF16BF16Op(...)")
    shape = need(op.get("shape_mnk"))
    if op.module == "tcgen05" and isinstance(shape, tuple) and shape[0] == 128 and isinstance(shape[1], int) and shape[1] % 16 == 8:
        wide = mma_atom(replace(op, arguments=op.arguments | {"shape_mnk": (128, shape[1] + 8, *shape[2:])}), resolve).value
        if isinstance(wide, MMA_Atom) and size(wide.thr_id) == 1 and shape[1] >= 8:  # the DSL takes N that CUTLASS's C++ refuses
            name = wide.name.replace(f"128,{shape[1] + 8}", f"128,{shape[1]}")
            return Atom(_of_one_sm(replace(wide, name=name, shape_mnk=mark_static((128, shape[1], int(wide.shape_mnk[2]))))), op)
    atom = resolved(op, resolve)
    return Atom(_of_one_sm(atom) if op.module == "tcgen05" else atom, op)


def tiled_mma(op: object, resolve: Resolver | None, layout: object = None) -> Atom:
    """The tiled MMA of an operation, of one atom where no layout of atoms is given. Raises: as `mma_atom`."""
    atom = mma_atom(op, resolve)
    return Atom(find("make_tiled_mma").call([atom.value, *([] if layout is None else [layout])]), atom.op)


def need_tiled_mma(value: object) -> Atom:
    """A value that must be a tiled MMA. Raises: AlgebraError for anything else."""
    value = need(value)
    if not isinstance(value, Atom) or not isinstance(value.value, TiledMMA):
        raise AlgebraError("a tiled MMA is expected here", hint="example: cute.make_tiled_mma(...) gives")
    return value


def _of_one_sm(atom: object) -> Any:
    """A tcgen05 MMA of one SM as the DSL prints it: the one SM of an operand has the stride that two would have."""
    if not isinstance(atom, MMA_Atom) or size(atom.thr_id) != 1:
        return atom
    m, n, k = (int(extent) for extent in atom.shape_mnk)
    parts = {
        name: Layout((1, (rows, columns)), (rows, (1, rows))) for name, rows, columns in (("a", m, k), ("b", n, k), ("c", m, n))
    }
    return replace(atom, **{f"layout_{name}": mark_static(layout) for name, layout in parts.items()})


def resolved(op: DslOp, resolve: Resolver | None, args: tuple[str, ...] = ()) -> object:
    """What the library has for an operation, which it finds by its call; args: template arguments that this leaves open. Raises:
    what makes an argument unknown; AlgebraError for an operation that the library lacks."""
    names = [name for name in SIGNATURES[op.module, op.name] if name in op.arguments]
    given = [f"{name}={_word(value)}" for name in names if (value := _known(name, op.get(name))) is not None]
    atom = resolve(f"{op.module}.{op.name}({', '.join(given)})", args) if resolve else None
    if atom is None:
        raise AlgebraError(f"there is no atom of {op.name}", hint="cute-viz list mma and cute-viz list copy name them")
    return atom


def _known(name: str, value: object) -> object:
    """An argument; of a major mode that is not known none is said, as no layout depends on it."""
    return None if name.endswith("_major_mode") and not isinstance(value, EnumMember) else need(value)


def _word(value: object) -> str:
    if isinstance(value, EnumMember):
        return str(value.value) if value.enum == "Repetition" else value.name
    return value.name if isinstance(value, ValueType) else str(value) if isinstance(value, bool) else show(value)


_UNIVERSAL = ("CopyUniversalOp", "CopyG2ROp", "CopyR2GOp", "CopyS2ROp", "CopyR2SOp")


def copy_atom(op: object, kind: object, bits: object, resolve: Resolver | None) -> Atom:
    """The copy atom of an operation for values of a type; bits: of a copy, where the operation leaves them open. Raises:
    AlgebraError for any other operation, one that the library lacks, and a width that no instruction has."""
    if not isinstance(op, DslOp) or (op.name.startswith("Mma")):
        raise AlgebraError("a copy operation is expected here", hint="example: cute.nvgpu.CopyUniversalOp()")
    kind = need(kind)
    if not isinstance(kind, ValueType):
        raise AlgebraError("a copy atom needs the type of its values", hint="example: cutlass.Float16")
    if op.name in _UNIVERSAL and not bits:  # of one value: a layout of nothing but 1
        return Atom(Copy_Atom(Layout(1, 0), _ONE, _ONE, _ONE, kind.bits, "UniversalCopy", f"cutlass.{kind.dsl}"), op, kind)
    args: tuple[str, ...] = ()
    if op.name in (*_UNIVERSAL, "CopyG2SOp"):
        width = bits or kind.bits
        copied = unsigned(width) if isinstance(width, int) else None
        if copied is None:
            told = show(width) if isinstance(width, (int, tuple)) else "this number of"
            raise AlgebraError(f"no instruction copies {told} bits", hint="8, 16, 32, 64, 128 or 256")
        args = (copied,)
    found = resolved(op, resolve, args)
    if not isinstance(found, CopyOp):
        raise AlgebraError(f"{op.name} is not a copy operation")
    return Atom(make_copy_atom(found, kind.bits, f"cutlass.{kind.dsl}"), op, kind)


def is_of_one_value(value: object) -> bool:
    """Whether a copy is made of atoms of one value, whose width the operation leaves open."""
    atom = value.atom if isinstance(value, Slice) else value
    return isinstance(atom, Atom) and isinstance(found := atom_of(atom.value), Copy_Atom) and found.layout_src == _ONE


def merging(tensors: Sequence[Tensor], resolve: Resolver | None) -> list[Any]:
    """The operands of a copy that leaves its width to the compiler, which takes so many neighbors at once as are known to be
    aligned in every thread: global memory is to its elements, where nothing else is said."""
    aligned = [8 * (x.pointer.align or x.bits // 8) for x in tensors if x.pointer.space == "gmem" or x.pointer.align]
    aligned += [gcd(_WIDEST, *(start * x.bits for start in x.starts)) for x in tensors if x.pointer.space != "rmem"]
    bits = min([_WIDEST, *aligned])
    op = resolve("AutoVectorizingCopyWithAssumedAlignment", (str(bits),)) if resolve is not None else None
    return [*([op] if op is not None else []), *(replace(x, layout=mark_static(x.layout)) for x in tensors)]
