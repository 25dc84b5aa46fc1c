"""The DSL's operations, `warp.MmaF16BF16Op(...)`, by the names that CuTe's library has for them.

Sources: cutlass/cute/nvgpu of the Python DSL; cute/arch and cute/atom of CUTLASS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cute_viz.algebra.copy import Copy_Atom, CopyOp
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.matrix_op import MatrixOp
from cute_viz.algebra.measure import size
from cute_viz.algebra.mma import MMA_Atom, TiledMMA
from cute_viz.algebra.ops import find
from cute_viz.algebra.static import mark_static
from cute_viz.errors import AlgebraError
from cute_viz.notation.reading import Resolver
from cute_viz.source.python.machine import need
from cute_viz.source.python.values import Atom, Element, Instruction, Member
from cute_viz.values.types import unsigned

_WARP = ("ab_dtype", "acc_dtype", "shape_mnk")
_GROUP = ("acc_dtype", "shape_mnk", "a_src", "a_major_mode", "b_major_mode")
_UMMA = ("shape_mnk", "cta_group", "a_src", "a_major_mode", "b_major_mode")
_BLOCK = ("ab_dtype", "acc_dtype", "sf_type")
_MATRIX = ("transpose", "num_matrices", "unpack_bits")
# The arguments of each operation in their order, by module and name.
SIGNATURES: dict[tuple[str, str], tuple[str, ...]] = {
    ("cute", "MmaUniversalOp"): ("abacc_dtype",),
    ("warp", "MmaF16BF16Op"): _WARP,
    ("warp", "MmaFP8Op"): _WARP,
    ("warp", "MmaTF32Op"): ("shape_mnk",),
    ("warp", "MmaMXF4Op"): _BLOCK,
    ("warp", "MmaMXF4NVF4Op"): _BLOCK,
    ("warp", "MmaMXF8Op"): _BLOCK,
    ("warp", "MmaMXF8F6F4Op"): ("a_dtype", "b_dtype", "acc_dtype", "sf_type"),
    ("warpgroup", "MmaF16BF16Op"): ("ab_dtype", *_GROUP),
    ("warpgroup", "MmaF8Op"): ("a_dtype", "b_dtype", *_GROUP),
    ("warpgroup", "MmaI8Op"): ("a_dtype", "b_dtype", *_GROUP),
    ("tcgen05", "MmaF16BF16Op"): ("ab_dtype", "acc_dtype", *_UMMA),
    ("tcgen05", "MmaTF32Op"): _UMMA,
    ("tcgen05", "MmaI8Op"): ("ab_dtype", *_UMMA),
    ("tcgen05", "MmaFP8Op"): ("ab_dtype", "acc_dtype", *_UMMA),
    ("tcgen05", "MmaF8F6F4Op"): ("a_dtype", "b_dtype", "acc_dtype", *_UMMA),
    ("tcgen05", "MmaMXF8Op"): ("ab_dtype", *_UMMA),
    ("tcgen05", "MmaMXF8F6F4Op"): ("a_dtype", "b_dtype", *_UMMA),
    ("tcgen05", "MmaMXF4Op"): ("shape_mnk", "cta_group", "a_src"),
    ("tcgen05", "MmaMXF4NVF4Op"): ("sf_dtype", "shape_mnk", "cta_group", "a_src"),
    ("tcgen05", "SM103MmaMXF4Op"): ("shape_mnk", "cta_group", "a_src"),
    ("tcgen05", "SM103MmaMXF4NVF4Op"): ("sf_dtype", "shape_mnk", "cta_group", "a_src"),
    ("cute", "CopyUniversalOp"): (),
    ("cute", "CopyG2ROp"): (),
    ("cute", "CopyR2GOp"): (),
    ("cute", "CopyS2ROp"): (),
    ("cute", "CopyR2SOp"): (),
    ("cpasync", "CopyG2SOp"): ("cache_mode",),
    ("cpasync", "CopyBulkTensorTileG2SOp"): ("cta_group",),
    ("cpasync", "CopyBulkTensorTileG2SMulticastOp"): ("cta_group",),
    ("cpasync", "CopyBulkTensorTileS2GOp"): (),
    ("cpasync", "CopyReduceBulkTensorTileS2GOp"): ("reduction_kind",),
    **{
        ("warp", f"{way}Matrix{shape}Op"): _MATRIX
        for way in ("Ld", "St")
        for shape in ("8x8x16b", "8x16x8b", "16x8x8b", "16x16x8b")
    },
    **{("tcgen05", f"Ld{shape}Op"): ("repeat", "pack") for shape in ("16x64b", "16x128b", "16x256b", "16x32bx2", "32x32b")},
    **{("tcgen05", f"St{shape}Op"): ("repeat", "unpack") for shape in ("16x64b", "16x128b", "16x256b", "16x32bx2", "32x32b")},
    **{
        ("tcgen05", f"Cp{shape}Op"): ("cta_group",)
        for shape in ("128x256b", "128x128b", "4x256b", "4x32x128b", "2x64x128b0213", "2x64x128b0123")
    },
}
_ALSO = {"instruction_shape": "shape_mnk", "mma_shape": "shape_mnk"}
_K = {"F16BF16": 16, "F8": 32, "I8": 32, "TF32": 8, "FP8": 32, "F8F6F4": 32, "MXF8": 32, "MXF8F6F4": 32, "MXF4": 64, "MXF4NVF4": 64}


def instruction(module: str, name: str, args: list[Any], given: dict[str, Any]) -> Instruction | None:
    """The operation of a module's name, with its arguments by name; None for a name that is not known.

    Arguments may be unknown: most layouts do not depend on all of them. Raises: AlgebraError for arguments that it does not take.

    >>> instruction("warp", "LdMatrix8x8x16bOp", [False, 4], {}).get("num_matrices")
    4
    """
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
        out.setdefault("a_dtype", out.get("ab_dtype", Element("e2m1")))
        out.setdefault("b_dtype", out.get("ab_dtype", Element("e2m1")))
    if "MXF4" in name and module == "tcgen05":
        out |= {"a_major_mode": Member("OperandMajorMode", "K"), "b_major_mode": Member("OperandMajorMode", "K")}
    return Instruction(key[0], name, out)


def mma_atom(op: Any, resolve: Resolver | None) -> Atom:
    """The MMA atom of an operation. Raises: AlgebraError for any other operation, and for one that the library lacks.

    >>> op = instruction("warp", "MmaTF32Op", [(16, 8, 8)], {})
    >>> mma_atom(op, lambda name, args: f"the atom {name}").value
    'the atom SM80_16x8x8_F32TF32TF32F32_TN'
    """
    if isinstance(op, Atom):
        return op
    reader = _MMAS.get(op.module) if isinstance(op, Instruction) else None
    if reader is None:
        raise AlgebraError("an MMA operation is expected here", hint="such as warp.MmaF16BF16Op(...)")
    shape = need(op.get("shape_mnk"))
    if op.module == "tcgen05" and isinstance(shape, tuple) and shape[0] == 128 and isinstance(shape[1], int) and shape[1] % 16 == 8:
        wide = mma_atom(replace(op, arguments=op.arguments | {"shape_mnk": (128, shape[1] + 8, *shape[2:])}), resolve).value
        if isinstance(wide, MMA_Atom) and size(wide.thr_id) == 1 and shape[1] >= 8:  # the DSL takes N that CUTLASS's C++ refuses
            name = wide.name.replace(f"128,{shape[1] + 8}", f"128,{shape[1]}")
            return Atom(_of_one_sm(replace(wide, name=name, shape_mnk=mark_static((128, shape[1], int(wide.shape_mnk[2]))))), op)
    name, args = reader(op)
    atom = _resolved(resolve, name, args)
    return Atom(_of_one_sm(atom) if op.module == "tcgen05" else atom, op)


def tiled_mma(op: Any, resolve: Resolver | None, layout: Any = None) -> Atom:
    """The tiled MMA of an operation, of one atom where no layout of atoms is given. Raises: as `mma_atom`."""
    atom = mma_atom(op, resolve)
    return Atom(find("make_tiled_mma").call([atom.value, *([] if layout is None else [layout])]), atom.op)


def need_tiled_mma(value: Any) -> Atom:
    """A value that must be a tiled MMA. Raises: AlgebraError for anything else."""
    value = need(value)
    if not isinstance(value, Atom) or not isinstance(value.value, TiledMMA):
        raise AlgebraError("a tiled MMA is expected here", hint="such as cute.make_tiled_mma(...) gives")
    return value


def _of_one_sm(atom: Any) -> Any:
    """A tcgen05 MMA of one SM as the DSL prints it: the one SM of an operand has the stride that two would have."""
    if not isinstance(atom, MMA_Atom) or size(atom.thr_id) != 1:
        return atom
    m, n, k = (int(extent) for extent in atom.shape_mnk)
    parts = {
        name: Layout((1, (rows, columns)), (rows, (1, rows))) for name, rows, columns in (("a", m, k), ("b", n, k), ("c", m, n))
    }
    return replace(atom, **{f"layout_{name}": mark_static(layout) for name, layout in parts.items()})


def _resolved(resolve: Resolver | None, name: str, args: tuple[str, ...]) -> Any:
    atom = resolve(name, args) if resolve else None
    if atom is None:
        raise AlgebraError(f"there is no atom {name!r}", hint="cute-viz list mma and cute-viz list copy name them")
    return atom


def _type(op: Instruction, name: str) -> Element:
    value = need(op.get(name))
    if not isinstance(value, Element):
        raise AlgebraError(f"{name} of {op.name} must be an element type", hint="such as cutlass.Float16")
    return value


def _letters(op: Instruction, name: str) -> str:
    """A type as the names of CuTe's operations have it: F16."""
    return _type(op, name).name.upper()


def _cpp(op: Instruction, name: str) -> str:
    return _type(op, name).cpp


def _shape(op: Instruction, k: int | None) -> tuple[int, int, int]:
    """M, N and K; K may be left out where there is one only."""
    shape = need(op.get("shape_mnk"))
    if isinstance(shape, tuple) and len(shape) == 2 and k is not None:
        shape = (*shape, k)
    if not isinstance(shape, tuple) or len(shape) != 3 or not all(isinstance(extent, int) for extent in shape):
        raise AlgebraError(f"{op.name} needs the shape of its instruction, not {show(shape)}", hint="such as (64,128,16)")
    if k is not None and shape[2] != k:
        raise AlgebraError(f"{op.name} has K = {k}, not {shape[2]}")
    return shape[0], shape[1], shape[2]


def _universal(op: Instruction) -> tuple[str, tuple[str, ...]]:
    return "UniversalFMA", (_cpp(op, "abacc_dtype"),)


def _warp(op: Instruction) -> tuple[str, tuple[str, ...]]:
    if op.name == "MmaTF32Op":
        m, n, k = _shape(op, None)
        return f"SM80_{m}x{n}x{k}_F32TF32TF32F32_TN", ()
    if op.name in ("MmaF16BF16Op", "MmaFP8Op"):
        m, n, k = _shape(op, None)
        ab, acc = _letters(op, "ab_dtype"), _letters(op, "acc_dtype")
        return f"SM{80 if op.name == 'MmaF16BF16Op' else 89}_{m}x{n}x{k}_{acc}{ab}{ab}{acc}_TN", ()
    k = 32 if "MXF8" in op.name else 64
    size = "16" if op.name == "MmaMXF4NVF4Op" else "32"
    return f"SM120_16x8x{k}_TN_VS", (*(_cpp(op, name) for name in ("a_dtype", "b_dtype", "acc_dtype", "sf_type")), size)


def _warpgroup(op: Instruction) -> tuple[str, tuple[str, ...]]:
    kind = op.name[3:-2]
    m, n, k = _shape(op, _K[kind])
    source = _member(op, "a_src", {"SMEM": "SS", "RMEM": "RS"})
    types = _letters(op, "acc_dtype") + _letters(op, "a_dtype") + _letters(op, "b_dtype")
    return f"SM90_{m}x{n}x{k}_{types}_{source}{'' if kind == 'F16BF16' else '_TN'}", ()


def _member(op: Instruction, name: str, table: dict[str, str]) -> str:
    value = need(op.get(name))
    if not isinstance(value, Member) or value.name not in table:
        raise AlgebraError(f"{name} of {op.name} must be one of {', '.join(table)}")
    return table[value.name]


def _tcgen05(op: Instruction) -> tuple[str, tuple[str, ...]]:
    ultra = op.name.startswith("SM103")
    kind = op.name.removeprefix("SM103")[3:-2]
    m, n, _ = _shape(op, 96 if ultra else _K[kind])
    group = _member(op, "cta_group", {"ONE": "", "TWO": "2x1SM_"})
    source = _member(op, "a_src", {"SMEM": "SS", "TMEM": "TS"})
    numbers = (str(m), str(n))
    if kind == "TF32":
        return f"SM100_MMA_TF32_{group}{source}", ("tfloat32_t", "tfloat32_t", "float", *numbers)
    a, b = _cpp(op, "a_dtype"), _cpp(op, "b_dtype")
    if kind == "I8":
        return f"SM100_MMA_S8_{group}{source}", (a, b, "int32_t", *numbers)
    if kind in ("F16BF16", "FP8", "F8F6F4"):
        word = "F16BF16" if kind == "F16BF16" else "F8F6F4"
        return f"SM100_MMA_{word}_{group}{source}", (a, b, _cpp(op, "acc_dtype"), *numbers)
    if source != "SS":
        raise AlgebraError(f"{op.name} with A in tensor memory is not in the library")
    scale = _cpp(op, "sf_dtype") if op.get("sf_dtype") is not None else "float_ue8m0_t"
    if kind in ("MXF8", "MXF8F6F4"):
        return f"SM100_MMA_MXF8F6F4_{group}SS", (a, b, "float", scale, *numbers)
    size = "16" if kind == "MXF4NVF4" else "32"
    name = f"SM103_MXF4_ULTRA_{group}SS_VS" if ultra else f"SM100_MMA_MXF4_{group}SS"
    return name, (a, b, "float", scale, *numbers, size)


_MMAS: dict[str, Callable[[Instruction], tuple[str, tuple[str, ...]]]] = {
    "cute": _universal,
    "warp": _warp,
    "warpgroup": _warpgroup,
    "tcgen05": _tcgen05,
}
_UNIVERSAL = ("CopyUniversalOp", "CopyG2ROp", "CopyR2GOp", "CopyS2ROp", "CopyR2SOp")


def copy_atom(op: Any, kind: Any, bits: Any, resolve: Resolver | None) -> Atom:
    """The copy atom of an operation for values of a type; bits: of a copy, where the operation leaves them open.

    Raises: AlgebraError for any other operation, one that the library lacks, and a width that no instruction has.

    >>> str(copy_atom(instruction("cute", "CopyUniversalOp", [], {}), Element("f16"), None, None).value.layout_src)
    '(1,1):(0,0)'
    """
    from cute_viz.algebra.copy import make_copy_atom

    if not isinstance(op, Instruction) or (op.name.startswith("Mma")):
        raise AlgebraError("a copy operation is expected here", hint="such as cute.nvgpu.CopyUniversalOp()")
    kind = need(kind)
    if not isinstance(kind, Element):
        raise AlgebraError("a copy atom needs the type of its values", hint="such as cutlass.Float16")
    if op.name in _UNIVERSAL and not bits:  # of one value: a layout of nothing but 1
        one = Layout((1, 1), (0, 0))
        return Atom(Copy_Atom(Layout(1, 0), one, one, one, kind.bits, "UniversalCopy", f"cutlass.{kind.dsl}"), op, kind)
    name, args = _copy_name(op, kind, bits)
    found = _resolved(resolve, name, args)
    if not isinstance(found, CopyOp):
        raise AlgebraError(f"{op.name} is not a copy operation")
    return Atom(make_copy_atom(found, kind.bits, f"cutlass.{kind.dsl}"), op, kind)


def _copy_name(op: Instruction, kind: Element, bits: Any) -> tuple[str, tuple[str, ...]]:
    if op.name in _UNIVERSAL or op.name == "CopyG2SOp":
        width = bits or kind.bits
        copied = unsigned(width) if isinstance(width, int) else None
        if copied is None:
            told = show(width) if isinstance(width, (int, tuple)) else "this number of"
            raise AlgebraError(f"no instruction copies {told} bits", hint="8, 16, 32, 64, 128 or 256")
        if op.name in _UNIVERSAL:
            return "UniversalCopy", (copied,)
        mode = op.get("cache_mode")
        word = mode.name if isinstance(mode, Member) else "ALWAYS"
        return "SM80_CP_ASYNC_CACHEGLOBAL" if word == "GLOBAL" else "SM80_CP_ASYNC_CACHEALWAYS", (copied,)
    if "Matrix" in op.name:
        return _matrix(op).name, ()
    group = "2cta" if op.get("cta_group") is not None and _member(op, "cta_group", {"ONE": "1", "TWO": "2"}) == "2" else "1cta"
    if op.name.startswith("Cp"):
        return f"SM100_UTCCP_{_CP[op.name]}_{group}", ()
    times = need(op.get("repeat")) if op.get("repeat") is not None else 1
    times = times.value if isinstance(times, Member) else times
    pack = need(op.get("pack" if op.name.startswith("Ld") else "unpack"))
    half = isinstance(pack, Member) and pack.name != "NONE"
    way = "LOAD" if op.name.startswith("Ld") else "STORE"
    shape = op.name[2:-2].removesuffix("x2").removesuffix("b").replace("x", "dp")
    return f"SM100_TMEM_{way}_{shape}b{times}x{'_16b' if half else ''}", ()


_CP = {
    "Cp128x256bOp": "128dp256bit",
    "Cp128x128bOp": "128dp128bit",
    "Cp4x256bOp": "4dp256bit",
    "Cp4x32x128bOp": "4x32dp128bit",
    "Cp2x64x128b0213Op": "2x64dp128bitlw0213",
    "Cp2x64x128b0123Op": "2x64dp128bitlw0123",
}


def _matrix(op: Instruction) -> MatrixOp:
    """ldmatrix and stmatrix."""
    transposed, count = need(op.get("transpose")) or False, need(op.get("num_matrices")) or 1
    unpacked = need(op.get("unpack_bits"))
    store = op.name.startswith("St")
    if not isinstance(count, int) or count not in (1, 2, 4) or not isinstance(transposed, bool):
        raise AlgebraError(f"{op.name} takes whether it transposes, and 1, 2 or 4 matrices")
    if op.name.endswith("8x8x16bOp"):
        return MatrixOp(90 if store else 75, store, count, transposed)
    if op.name == "LdMatrix8x16x8bOp":
        return MatrixOp(100, False, count, bits=unpacked) if unpacked in (4, 6) else MatrixOp(75, False, count)
    if op.name == "StMatrix16x8x8bOp" and unpacked is None:
        return MatrixOp(100, store, count, True, 8)
    raise AlgebraError(f"{op.name} is not in the library as the DSL has it")
