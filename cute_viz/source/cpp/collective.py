"""CUTLASS's CollectiveBuilder: the tilings and layouts that it makes of elements, layouts, a tile and a cluster; those of Hopper.

Sources: cutlass/gemm/collective/builders/sm90_gmma_builder.inl, cutlass/gemm/collective/sm90_mma_tma_gmma_ss_warpspecialized.hpp,
cutlass/epilogue/collective/builders/sm90_builder.inl, cutlass/epilogue/collective/sm90_epilogue_tma_warpspecialized.hpp.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Any

from cute_viz.algebra.composed import domain
from cute_viz.algebra.inttuple import product, show
from cute_viz.algebra.layout import Layout
from cute_viz.errors import AlgebraError, Span
from cute_viz.source.cpp.collective_sm100 import epilogue_sm100, mainloop_sm100
from cute_viz.source.cpp.cutlass import (
    SMEM_BYTES,
    carveout,
    cluster_copy,
    granularity,
    is_linear,
    is_major,
    lazily,
    major,
    multiplied,
    of_pair,
    once,
    shape_of,
    storage,
    store_op,
    strides_of,
    tag_word,
)
from cute_viz.source.cpp.elements import bits
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.selectors import op_selector, smem_selector
from cute_viz.source.cpp.unknown import certain
from cute_viz.source.cpp.values import Built, External, solid
from cute_viz.values.integer import Runtime
from cute_viz.values.pointer import Pointer
from cute_viz.values.types import ValueType

_BARRIERS = 16  # PipelineTmaAsync<1>::SharedStorage
_ALIGNMENT = 128
_SCHEDULES = tuple(f"KernelTmaWarpSpecialized{kind}" for kind in ("", "Cooperative", "Pingpong"))
_ARRAYS = tuple(f"KernelPtrArrayTmaWarpSpecialized{kind}" for kind in ("Cooperative", "Pingpong"))
_FAST = tuple(f"{name}FP8FastAccum" for name in (*_SCHEDULES, *_ARRAYS))
_EPILOGUES = tuple(name.removeprefix("Kernel") for name in _SCHEDULES)
_BLOCKWISE = tuple(f"{name}FP8Blockwise" for name in (*_SCHEDULES[1:], *_ARRAYS))
_OF_MAINLOOPS = ("TileShape", "TiledMma", "ElementA", "ElementB", "StrideA", "StrideB", "ElementAccumulator", "DispatchPolicy")
_OF_EPILOGUES = ("ElementC", "ElementD", "StrideC", "StrideD")
_INTERNAL = tuple(f"InternalStride{x}" for x in "ABCD")  # as strides, behind the pointer of an array of problems
DRAWN = {  # the members of what CollectiveBuilder makes that can be drawn
    "gemm": ("TiledMma", "SmemLayoutAtomA", "SmemLayoutAtomB", "SmemLayoutA", "SmemLayoutB"),
    "epilogue": ("SmemLayoutAtomC", "SmemLayoutAtomD"),
}


def builder(meaning: Meaning, full: str, args: list[Any], span: Span) -> Any:
    """CollectiveBuilder<...> of a mainloop, or of an epilogue; its member CollectiveOp has the layouts.

    Raises: NotationError for an architecture, a schedule or elements whose rule is not read here; AlgebraError for what CUTLASS
    refuses.
    """
    if len(args) < 13:
        raise meaning.fail(f"{full} takes 13 arguments or more", span)
    arch, kind = tag_word(args[0]), tag_word(args[1])
    if arch not in ("Sm90", "Sm100"):
        raise meaning.fail(f"what {full} makes for {arch} is not supported, only for cutlass::arch::Sm90 and Sm100", span)
    if kind not in ("OpClassTensorOp", *(["OpClassBlockScaledTensorOp"] if arch == "Sm100" else ())) or "conv" in full:
        raise meaning.fail(f"what {full} makes for {kind} is not supported, only GEMMs of OpClassTensorOp", span)
    if "epilogue" in full or (isinstance(args[2], tuple) and not any(isinstance(x, ValueType) for x in args[2])):
        return (epilogue_sm100 if arch == "Sm100" else _epilogue)(meaning, args, span)
    return (mainloop_sm100 if arch == "Sm100" else _mainloop)(meaning, args, span)


def kernel(meaning: Meaning, name: str, args: list[Any], span: Span) -> Built:
    """GemmUniversal<Problem, Mainloop, Epilogue>, and GemmUniversalAdapter of one: the members that name what they are made of."""
    if name == "GemmUniversalAdapter":
        inside = solid(args[0]) if args else None
        if not isinstance(inside, Built):
            raise meaning.fail(f"{name} of this kernel is not supported", span)
        return Built(name, {**inside.members, "GemmKernel": lambda: inside})
    if len(args) < 3:
        raise meaning.fail(f"{name} takes a problem, a mainloop and an epilogue", span)
    members: dict[str, Callable[[], Any]] = {
        "ProblemShape": lambda: solid(args[0]),
        "CollectiveMainloop": lambda: solid(args[1]),
        "CollectiveEpilogue": lambda: solid(args[2]),
    }
    for of, names in ((args[1], (*_OF_MAINLOOPS, *_INTERNAL[:2])), (args[2], (*_OF_EPILOGUES, *_INTERNAL[2:]))):
        for member in names:
            own = member.removeprefix("Internal")
            if isinstance(of, Built) and own in of.members:
                members[member] = of.members[own]
            elif isinstance(of, External) and of.error is not None:
                members[member] = lambda of=of: solid(of)  # type: ignore[misc]
    return Built(name, members)


def _mainloop(meaning: Meaning, args: list[Any], span: Span) -> Built:
    tile, cluster = shape_of(args[9], "the tile"), shape_of(args[10], "the cluster")
    if len(tile) != 3:
        raise AlgebraError(f"the tile must be (M,N,K), not {show(tile)}")
    tuples = [x if isinstance(x := solid(args[n]), tuple) and x else None for n in (2, 5)]
    given = [x[0] if x else solid(args[n]) for x, n in zip(tuples, (2, 5), strict=True)]
    elements = [multiplied(x) for x in given]
    schedule = _schedule(meaning, [*args[:2], given[0], *args[3:5], given[1], *args[6:]], tile, span)
    blockwise = schedule in _BLOCKWISE
    tags = [of_pair(solid(args[n])) if blockwise else (solid(args[n]), None) for n in (3, 6)]
    strides = [strides_of(tag, operand) for (tag, _), operand in zip(tags, "AB", strict=True)]
    if None in strides:
        raise meaning.fail("the strides of these operands are not known", span, hint="cutlass::layout::RowMajor or ColumnMajor")
    columns, widths = [is_major(x, 0) for x in strides], [bits(x) for x in elements]
    mixed = widths[0] != widths[1]
    loaded = mixed or any(tuples) or (widths != [16, 16] and any(columns))  # is_use_rmem_A
    if loaded and (schedule in (*_FAST, *_BLOCKWISE) or (schedule in _ARRAYS and not mixed)):
        raise AlgebraError(f"{schedule} is for operands of one width that are contiguous in K")
    scaled = next((n for n in (0, 1) if tuples[n]), None if not mixed else int(widths[1] < widths[0]))
    swapped = loaded and (scaled == 1 if mixed else columns == [False, True])
    turned = loaded and not mixed and columns == [True, True]
    if mixed and columns == [True, True]:
        raise AlgebraError("Mixed input GEMM does not support WS transpose B.")
    majors = [major("GMMA", x) for x in columns]
    source = "rs" if loaded else "ss"

    def atom(operand: int) -> Any:
        return smem_selector(source, [majors[operand], elements[operand], tile[operand], tile[2], turned])

    def layout(operand: int) -> Any:
        of = 1 - operand if swapped else operand
        order = (2, 1, 3) if columns[of] else (1, 2, 3)
        return meaning.operate("tile_to_shape", [atom(of), (tile[operand], tile[2], int(stages())), order])

    def mma() -> Any:
        a, b = reversed(elements) if swapped else elements
        of_k = [major("GMMA", False)] * 2
        op = op_selector(meaning, source, [b if mixed else a, b, solid(args[8]), tile, *(of_k if loaded else majors)], span)
        return meaning.operate("make_tiled_mma", [op, Layout((2 if "Cooperative" in schedule else 1, 1, 1))])

    def scales() -> Any:
        shape: Any = domain(atom(scaled or 0)).shape
        one = Layout((shape[0], 1))
        return meaning.operate("tile_to_shape", [one, (tile[0], 1, int(stages()))])

    def count() -> Runtime:
        found = carveout(meaning, args[11], span)
        if isinstance(found, tuple):
            return Runtime(found[0])
        sides = [product(x) for x in tile]
        held = elements[::-1] if swapped and mixed else elements
        bytes_ = sum(-(-bits(x) * sides[n] * sides[2] // 8) for n, x in enumerate(held))
        reserved = 0
        if "PtrArray" in schedule:
            reserved += 128 * (4 if mixed else 2) + 128 * isinstance(tags[0][0], Pointer)
        if mixed and scaled is not None:
            bytes_ += sum(_wide(x) * sides[0] // 8 for x in (tuples[scaled] or ())[1:])
        if blockwise:
            bytes_ += sum(bits(solid(args[8])) * sides[n] // granularity(meaning, tags[n][1], span) // 8 for n in (0, 1))
        align = max(_ALIGNMENT << atom(n).outer.bits for n in (0, 1)) if loaded else _ALIGNMENT
        carved, capacity = -(-found // align) * align, (SMEM_BYTES - reserved) // align * align
        return Runtime((capacity - carved) // (-(-bytes_ // align) * align + _BARRIERS))

    stages = once(count)
    own: dict[str, Callable[[], Any]] = {
        "TiledMma": mma,
        "SmemLayoutAtomA": lambda: atom(0),
        "SmemLayoutAtomB": lambda: atom(1),
        "GmemTiledCopyA": lambda: cluster_copy(meaning, cluster[1], span),
        "GmemTiledCopyB": lambda: cluster_copy(meaning, cluster[0], span),
        "GmmaMajorA": lambda: majors[0],
        "GmmaMajorB": lambda: majors[1],
        "AtomLayoutMNK": lambda: Layout((2 if "Cooperative" in schedule else 1, 1, 1)),
        "PipelineStages": stages,
    }
    own = lazily(own)
    op = lazily(
        {
            **{name: own[name] for name in list(own)[:5]},
            "SmemLayoutA": lambda: layout(0),
            "SmemLayoutB": lambda: layout(1),
            **({"SmemLayoutScale": scales} if mixed else {}),
            "TileShape": lambda: tile,
            "ElementA": lambda: given[0],
            "ElementB": lambda: given[1],
            "ElementAccumulator": lambda: solid(args[8]),
            "StrideA": lambda: strides[0],
            "StrideB": lambda: strides[1],
            "DispatchPolicy": lambda: Built("DispatchPolicy", {"Stages": stages, "ClusterShape": lambda: cluster}),
        }
    )
    return Built("CollectiveBuilder", {**own, "CollectiveOp": lambda: Built("CollectiveMma", op)})


def _schedule(meaning: Meaning, args: list[Any], tile: tuple[Any, ...], span: Span) -> str:
    """The schedule, which KernelScheduleAuto chooses by the tile (as compilers of CUDA 12.1 and later do)."""
    name = tag_word(args[12])
    if name == "KernelScheduleAuto":
        for element, alignment in ((args[2], args[4]), (args[5], args[7])):
            if bits(solid(element)) * int(certain(solid(alignment))) % 128:
                raise meaning.fail("elements that TMA cannot align are copied in another way, which is not supported", span)
        return _SCHEDULES[2] if product(tile[0]) == 64 else _SCHEDULES[1]
    if name not in (*_SCHEDULES, *_ARRAYS, *_FAST, *_BLOCKWISE):
        raise meaning.fail(f"what a builder makes for {name} is not supported", span, hint=f"example: {', '.join(_SCHEDULES)}")
    return name


def _epilogue(meaning: Meaning, args: list[Any], span: Span) -> Built:
    tile = shape_of(args[2], "the tile")
    schedule = tag_word(args[13]) if len(args) > 13 else "EpilogueScheduleAuto"
    empty = schedule in ("EpilogueScheduleAuto", "NoSmemWarpSpecialized", "PtrArrayNoSmemWarpSpecialized")
    array = schedule.startswith("PtrArray")
    if not empty and schedule.removeprefix("PtrArray") not in _EPILOGUES:
        raise meaning.fail(
            f"what a builder makes for {schedule} is not supported", span, hint="example: cutlass::epilogue::TmaWarpSpecialized"
        )
    void = isinstance(solid(args[7]), ValueType) and solid(args[7]).name == "void"
    strides = {"C": strides_of(solid(args[11] if void else args[8]), "C"), "D": strides_of(solid(args[11]), "C")}
    elements = {"C": solid(args[7]), "D": solid(args[10])}
    types: dict[str, Callable[[], Any]] = {
        "ElementC": lambda: elements["C"],
        "ElementD": lambda: elements["D"],
        "StrideC": lambda: strides["C"],
        "StrideD": lambda: strides["D"],
    }
    if empty:
        parts = {**types, "SharedStorage": lambda: storage(1)}
        return Built("CollectiveBuilder", {"CollectiveOp": lambda: Built("CollectiveEpilogue", lazily(parts))})
    subtile = once(lambda: _epilogue_tile(solid(args[4]), elements["D"], schedule, tile))

    def atom(which: str) -> Any:
        element = elements["D" if void else which]
        return smem_selector("ss", [major("GMMA", not is_major(strides[which], 1)), element, *subtile()])

    def size() -> int:
        if len(args) > 14 and not is_linear(args[14]):
            raise meaning.fail("how much shared memory the fusion of this epilogue takes is not supported", span)
        maps = 0 if not array else 128 * (2 if schedule == "PtrArrayTmaWarpSpecialized" else 3)
        return _epilogue_bytes(tile, subtile(), elements, {x: atom(x) for x in "CD" if _wide(elements[x])}, maps)

    parts = {
        **types,
        "EpilogueTile": subtile,
        "SmemLayoutAtomC": lambda: atom("C"),
        "SmemLayoutAtomD": lambda: atom("D"),
        "CopyOpR2S": lambda: store_op(meaning, [strides["D"], elements["D"], subtile()], span),
        "CopyOpS2R": lambda: store_op(meaning, [strides["C"], elements["C"], subtile()], span, load=True),
        "CtaTileMNK": lambda: tile,
        "SharedStorage": lambda: storage(size()),
    }
    return Built("CollectiveBuilder", {"CollectiveOp": lambda: Built("CollectiveEpilogue", lazily(parts))})


def _wide(element: Any) -> int:
    """The bits of the elements of C or D; 0 of void."""
    return 0 if isinstance(element, ValueType) and element.name == "void" else bits(element)


def _epilogue_bytes(
    tile: tuple[Any, ...], subtile: tuple[Any, ...], elements: dict[str, Any], atoms: dict[str, Any], maps: int
) -> int:
    """The bytes of SharedStorage: the stages of C and D, then the fusion's, and tensor maps and barriers, each at its alignment.

    Source: sm90_get_tma_dispatch_policy, and SharedStorage of the epilogue.
    """
    c, d = _wide(elements["C"]), _wide(elements["D"])
    steps = product(tile[0]) * product(tile[1]) // (product(subtile[0]) * product(subtile[1]))
    reused = c == d > 8
    out = min(steps, 2)
    into = max(min(steps, 4), out + 1) if reused else min(steps, 4)
    area = product(subtile[0]) * product(subtile[1])
    parts = [("C", c * area * into // 8)] if reused else [("C", c * area * into // 8), ("D", d * area * out // 8)]
    total, alignment = 0, _ALIGNMENT
    for which, size in parts:
        if which in atoms:
            own = _ALIGNMENT << atoms[which].outer.bits
            alignment = max(alignment, own)
            total = -(-total // own) * own + size
    return -(-total // alignment) * alignment + alignment + -(-(maps + _BARRIERS) // alignment) * alignment


def _epilogue_tile(kind: Any, element: Any, schedule: str, tile: tuple[Any, ...]) -> Any:
    """sm90_compute_tile_shape_or_override."""
    if isinstance(kind, tuple):
        return kind
    if not tag_word(kind).startswith("EpilogueTileAuto"):
        raise AlgebraError(f"the epilogue's tile must be a shape or EpilogueTileAuto, not {show(kind)}")
    m, n = product(tile[0]), product(tile[1])
    if "Cooperative" in schedule:
        return (min(128, m), gcd(min(32, n), n))
    fine = 64 if bits(element) == 8 and n % 64 == 0 else 32
    return (min(64, m), gcd(min(fine, n), n))
