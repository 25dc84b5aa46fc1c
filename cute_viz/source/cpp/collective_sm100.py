"""What CUTLASS's CollectiveBuilder makes for Blackwell: GEMMs with tcgen05.mma, block-scaled ones too, and their epilogues.

Sources: cutlass/gemm/collective/builders/sm100_umma_builder.inl, sm100_blockscaled_umma_builder.inl, sm100_common.inl,
sm1xx_common.inl, sm100_pipeline_carveout.inl, cutlass/gemm/collective/sm100_mma_warpspecialized.hpp,
sm100_blockscaled_mma_warpspecialized.hpp, cutlass/epilogue/collective/builders/sm100_builder.inl,
cutlass/epilogue/collective/sm100_epilogue_tma_warpspecialized.hpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cute_viz.algebra.inttuple import product, show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.measure import size
from cute_viz.errors import AlgebraError, Span
from cute_viz.source.cpp.atoms import instruction
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
    scale_factors,
    scale_type,
    shape_of,
    storage,
    strides_of,
    tag_word,
)
from cute_viz.source.cpp.elements import bits
from cute_viz.source.cpp.reading import Meaning
from cute_viz.source.cpp.selectors import smem_selector, tile_to_mma_shape
from cute_viz.source.cpp.unknown import certain
from cute_viz.source.cpp.values import Built, External, solid
from cute_viz.values.integer import Runtime
from cute_viz.values.pointer import Pointer
from cute_viz.values.types import ValueType

_SCHEDULES = tuple(f"Kernel{array}TmaWarpSpecialized{n}SmSm100" for array in ("", "PtrArray") for n in (1, 2))
_SCALED = tuple(
    f"Kernel{array}TmaWarpSpecialized{n}Sm{kind}Sm100"
    for array in ("", "PtrArray")
    for kind in ("BlockScaled", "Nvf4", "Mxf4", "Mxf8f6f4")
    for n in (1, 2)
)
_KINDS = {"tfloat32_t": "TF32", "half_t": "F16BF16", "bfloat16_t": "F16BF16", "int8_t": "S8", "uint8_t": "S8"}
_NARROW = ("float_e4m3_t", "float_e5m2_t", "float_e2m3_t", "float_e3m2_t", "float_e2m1_t")
_BLOCKWISE = tuple(f"Kernel{array}TmaWarpSpecializedBlockwise{n}SmSm100" for array in ("", "PtrArray") for n in (1, 2))
_FUSION = re.compile(  # of cutlass/epilogue/fusion/operations.hpp what scales no columns
    r"(\w+::)*(LinearCombination|LinComb(EltAct|TopKSoftmaxCol|Per(Row|Col)Bias)|LinComb(Per(Row|Col)Bias)?(EltAct)?BlockScaleFactor"
    r"|(Scaled)?LinCombPer(Row|Col)BiasEltAct(Aux|AmaxAux)?|LinCombDeEltAct(DePerRowBias)?|PerRowLinCombPerRowBiasEltAct)"
)
_COLUMNS = 512  # of tensor memory
_LANES = 128


def _cluster(value: Any) -> tuple[Any, ...]:
    """A shape of CTAs; an extent that the launch tells is None."""
    value = solid(value)
    if not isinstance(value, tuple) or len(value) != 3:
        raise AlgebraError(f"the cluster must be a shape of three modes, not {show(value)}")
    return tuple(int(x) if isinstance(x, int) and not isinstance(x, Runtime) else None for x in value)


def mainloop_sm100(meaning: Meaning, args: list[Any], span: Span) -> Built:
    """CollectiveBuilder<Sm100, OpClassTensorOp or OpClassBlockScaledTensorOp, ...> of a mainloop. Raises: as `builder`."""
    tile, cluster = shape_of(args[9], "the tile"), _cluster(args[10])
    if len(tile) != 3:
        raise AlgebraError(f"the tile must be (M,N,K), not {show(tile)}")
    m, n, k = (int(product(extent)) for extent in tile)
    schedule, scaled = tag_word(args[12]), tag_word(args[1]) == "OpClassBlockScaledTensorOp"
    tags = [of_pair(solid(args[x])) if "Blockwise" in schedule else (solid(args[x]), None) for x in (3, 6)]
    strides = [strides_of(tag, operand) for (tag, _), operand in zip(tags, "AB", strict=True)]
    schedules = _SCALED if scaled else (*_SCHEDULES, *_BLOCKWISE, "KernelScheduleSm100Blockwise")
    if schedule not in (*schedules, "KernelScheduleAuto"):
        hint = f"example: {', '.join(schedules[:4])}"
        raise meaning.fail(f"what a builder makes for {schedule} is not supported", span, hint=hint)
    if None in strides:
        raise meaning.fail("the strides of these operands are not known", span, hint="cutlass::layout::RowMajor or ColumnMajor")
    scales = [_scaled(args[x], schedule) for x in (2, 5)] if scaled else []
    elements = [x[0] for x in scales] or [multiplied(args[2]), multiplied(args[5])]
    chosen = None not in cluster and cluster[0] % 2 == 0 and (m == 256 if scaled else m % 128 == 0)
    pair = "2Sm" in schedule if "1Sm" in schedule or "2Sm" in schedule else chosen
    majors = [major("UMMA", is_major(x, 0)) for x in strides]
    narrow = scaled and _is_mxf4(elements, strides, schedule)
    ctas = 2 if pair else 1

    def mma() -> Any:
        if not scaled:
            return meaning.operate("make_tiled_mma", [_dense(meaning, [*elements, solid(args[8])], (m, n), majors, ctas, span)])
        (_, factor, size), other = scales
        if (factor, size) != other[1:]:
            raise AlgebraError("Scale factor types for A and B should be the same.")
        if m != 128 * ctas or n % 64 or not 64 <= n <= 256:
            raise AlgebraError(f"a tile of {m}x{n} is not block-scaled by {ctas} SM: M must be {128 * ctas}, N 64, 128, 192 or 256")
        name = f"SM100_MMA_{'MXF4' if narrow else 'MXF8F6F4'}_{'2x1SM_' if pair else ''}SS"
        vector = [size] if narrow else []
        return meaning.operate(
            "make_tiled_mma",
            [instruction(meaning, name, [*elements, solid(args[8]), ValueType(factor), m, n, *vector, *majors], span)],
        )

    tiled = once(mma)
    allocated = [ValueType("uint8_t") if (not narrow if scaled else bits(x) < 8) else x for x in elements]

    def parts(operand: int) -> Any:
        return meaning.operate(f"partition_shape_{'AB'[operand]}", [tiled(), ((m, n)[operand], k)])

    def atom(operand: int) -> Any:
        return smem_selector("sm100", [majors[operand], allocated[operand], (m, n)[operand] // ctas, k])

    def layout(operand: int) -> Any:
        order = (2, 1, 3) if is_major(strides[operand], 0) else (1, 2, 3)
        return tile_to_mma_shape(meaning, atom(operand), (*parts(operand), int(stages())), [order])

    def factors(operand: int) -> Any:
        config = External("Sm1xxBlockScaledConfig", (scales[0][2],))
        return scale_factors(meaning, config, f"deduce_smem_layoutSF{'AB'[operand]}", [tiled(), tile])

    def staged(operand: int) -> Any:
        one = factors(operand)
        return Layout((*one.shape, int(stages())), (*one.stride, _filled(meaning, one)))

    def count() -> Runtime:
        given = carveout(meaning, args[11], span)
        if isinstance(given, tuple):
            return Runtime(given[0])
        stage = sum(bits(allocated[x]) * product(parts(x)) // 8 for x in (0, 1))
        if scaled:  # a barrier at the alignment
            stage += 128 + sum(_filled(meaning, factors(x)) for x in (0, 1))
        else:
            stage += 16  # PipelineTmaUmmaAsync<1>
        array, groups = "PtrArray" in schedule, any(isinstance(tag, Pointer) for tag, _ in tags)
        accumulators = _LANES * _COLUMNS // (m // ctas * n) if m > 64 else _COLUMNS // n * 2
        scheduled = 8 if groups else 2
        if scaled:
            accumulators = 1 if n == 256 else 2
        elif tags[0][1] is not None:
            scheduled = 1 if groups else accumulators + 1
            blocks = [extent // granularity(meaning, tag, span) for extent, (_, tag) in zip((m, n), tags, strict=True)]
            deep = k // granularity(meaning, tags[1][1], span, 1)
            sides = sum(bits(solid(args[8])) * deep * count // 8 for count in blocks)
            stage = -(-(stage - 16 + sides) // 128) * 128 + 32  # barriers of operands and of factors
        else:
            accumulators = min(4, accumulators)
        return Runtime((SMEM_BYTES - _barriers(accumulators, scheduled, array, 4 if scaled else 2) - given) // stage)

    def copies(mode: int) -> Any:
        if not pair:
            return cluster_copy(meaning, 2 if None in cluster else cluster[mode], span)
        alone = None not in cluster and cluster[1] == 1 if mode else None not in cluster and cluster[0] == 2
        return instruction(meaning, f"SM100_TMA_2SM_LOAD{'' if alone else '_MULTICAST'}", None, span)

    stages = once(count)
    own = lazily(
        {
            "TiledMma": tiled,
            "SmemLayoutAtomA": lambda: atom(0),
            "SmemLayoutAtomB": lambda: atom(1),
            "GmemTiledCopyA": lambda: copies(1),
            "GmemTiledCopyB": lambda: copies(0),
            "AtomThrShapeMNK": lambda: (ctas, 1, 1),
            "CtaTileShape_MNK": lambda: meaning.operate("shape_div", [tile, (ctas, 1, 1)]),
        }
    )
    if scaled:
        own |= lazily({"SmemLayoutAtomSFA": lambda: factors(0), "SmemLayoutAtomSFB": lambda: factors(1)})
        own |= lazily({"Sm1xxBlkScaledConfig": lambda: External("Sm1xxBlockScaledConfig", (scales[0][2],))})
    op = {
        **own,
        **lazily(
            {
                "SmemLayoutA": lambda: layout(0),
                "SmemLayoutB": lambda: layout(1),
                "TileShape": lambda: tile,
                "ElementA": lambda: elements[0] if scaled else solid(args[2]),
                "ElementB": lambda: elements[1] if scaled else solid(args[5]),
                "ElementAccumulator": lambda: solid(args[8]),
                "StrideA": lambda: strides[0],
                "StrideB": lambda: strides[1],
                "DispatchPolicy": lambda: Built("DispatchPolicy", {"Stages": stages, "ClusterShape": lambda: solid(args[10])}),
            }
        ),
    }
    if scaled:
        op |= lazily({"SmemLayoutSFA": lambda: staged(0), "SmemLayoutSFB": lambda: staged(1)})
        op |= {"ElementSF": lambda: ValueType(scales[0][1])}
    if scaled or tags[0][1] is not None:
        config = External("Sm1xxBlockScaledConfig", (scales[0][2],)) if scaled else None
        for name, (_, tag) in zip(("LayoutSFA", "LayoutSFB"), tags, strict=True):
            plain = tag.type if isinstance(tag, Pointer) else tag
            op[name] = op[f"Internal{name}"] = lambda x=plain, n=name: scale_factors(meaning, config, n, []) if scaled else solid(x)  # type: ignore[misc]
    members: dict[str, Callable[[], Any]] = {**own, "PipelineStages": stages, "CollectiveOp": lambda: Built("CollectiveMma", op)}
    return Built("CollectiveBuilder", members)


def _dense(meaning: Meaning, types: list[Any], extents: tuple[int, int], majors: list[Any], ctas: int, span: Span) -> Any:
    """The instruction of a dense GEMM (sm100_make_1sm_trivial_tiled_mma, sm100_make_2sm_trivial_tiled_mma)."""
    m, n = extents
    if m not in (64 * ctas, 128 * ctas) or n % 8 or n > 256:
        raise AlgebraError(f"a tile of {m}x{n} is not one of {ctas} SM: M must be {64 * ctas} or {128 * ctas}, N at most 256")
    words = [x.canonical for x in types[:2]]
    kind = "F8F6F4" if all(x in _NARROW for x in words) else _KINDS.get(words[0], "")
    if not kind or (kind != "F8F6F4" and words[0] != words[1]):
        raise meaning.fail(f"what a builder makes of {words[0]} and {words[1]} is not supported", span)
    return instruction(meaning, f"SM100_MMA_{kind}_{'2x1SM_' if ctas == 2 else ''}SS", [*types, m, n, *majors], span)


def _scaled(value: Any, schedule: str) -> tuple[ValueType, str, int]:
    """The elements of a block-scaled operand, the type of its scale factors, and how many elements one scales.

    Source: blockscaled_type of sm1xx_common.inl.
    """
    value = solid(value)
    if isinstance(value, External) and (factor := scale_type(value)) is not None and value.args:
        return multiplied(value.args[0]), factor, 16 if "nv_" in value.name else 32
    if isinstance(value, tuple) and len(value) in (2, 3) and isinstance(value[1], ValueType):
        size = certain(value[2]) if len(value) == 3 else 16 if "Nvf4" in schedule else 32 if "Mxf" in schedule else 0
        if isinstance(size, int) and size > 0:
            return multiplied(value[0]), value[1].canonical, int(size)
    hint = "example: cutlass::nv_float4_t<cutlass::float_e2m1_t>"
    raise AlgebraError(f"{show(value)} is not a type of scaled elements", hint=hint)


def _is_mxf4(elements: list[Any], strides: list[Any], schedule: str) -> bool:
    """Whether the instruction is that of two operands of four bits (select_instr of sm1xx_common.inl)."""
    if "Mxf8f6f4" in schedule:
        return False
    if "Nvf4" in schedule or "Mxf4" in schedule:
        return True
    return all(bits(x) == 4 for x in elements) and not any(is_major(x, 0) for x in strides)


def _filled(meaning: Meaning, layout: Any) -> int:
    """size(filter_zeros(layout)): the bytes of scale factors."""
    return int(size(meaning.operate("filter_zeros", [layout])))


def _barriers(accumulators: int, scheduled: int, array: bool, maps: int) -> int:
    """The bytes of barriers and of the scheduler: Sm100DenseGemmTmaUmmaCarveout."""
    responses = 2 if array else 1
    total = 16 * accumulators + 16 * scheduled * responses + 16 + 8  # accumulators, scheduler, load order, deallocation
    total += 16 * scheduled + 16 * scheduled * responses + 4 * scheduled  # throttle, responses, pointers of tensor memory
    return total + (128 * maps * 5 + 16 * scheduled if array else 0)  # tensor maps


def epilogue_sm100(meaning: Meaning, args: list[Any], span: Span) -> Built:
    """CollectiveBuilder<Sm100, OpClassTensorOp, ...> of an epilogue. Raises: as `builder`."""
    scaled = tag_word(args[1]) == "OpClassBlockScaledTensorOp"
    tile, cluster = shape_of(args[2], "the tile"), _cluster(args[3])
    schedule = tag_word(args[13]) if len(args) > 13 else "EpilogueScheduleAuto"
    array, schedule = schedule.startswith("PtrArray"), schedule.removeprefix("PtrArray")
    if schedule in ("NoSmemWarpSpecialized1Sm", "NoSmemWarpSpecialized2Sm") and not array:
        return Built(
            "CollectiveBuilder", {"CollectiveOp": lambda: Built("CollectiveEpilogue", {"SharedStorage": lambda: storage(32)})}
        )
    m, n = int(product(tile[0])), int(product(tile[1]))
    if schedule == "EpilogueScheduleAuto":
        pair = cluster[0] is not None and cluster[0] % 2 == 0 and m in ((256,) if scaled else (128, 256))
    elif schedule in ("TmaWarpSpecialized1Sm", "TmaWarpSpecialized2Sm"):
        pair = schedule.endswith("2Sm")
    else:
        hint = "example: cutlass::epilogue::TmaWarpSpecialized1Sm"
        raise meaning.fail(f"what a builder makes for {schedule} is not supported", span, hint=hint)
    default = len(args) < 15 or is_linear(args[14])
    cta, warps = (m // 2 if pair else m, n), (2, 2) if pair and m == 128 else (4, 1)
    source = solid(args[7])
    void = isinstance(source, ValueType) and source.name == "void"
    elements = {"C": solid(args[10]) if void else source, "D": solid(args[10])}
    strides = {"C": strides_of(solid(args[11] if void else args[8]), "C"), "D": strides_of(solid(args[11]), "C")}
    if None in strides.values() or 6 in map(bits, elements.values()):
        raise meaning.fail("the layouts of C and D are not known", span, hint="cutlass::layout::RowMajor or ColumnMajor")

    def tiler() -> Any:
        if isinstance(solid(args[4]), tuple):
            return solid(args[4])
        if scaled and n == 256:
            return (min(cta[0], 32 * warps[0]), 128)
        fusion = args[14] if not default and isinstance(args[14], External) else None
        if not default and (fusion is None or not _FUSION.fullmatch(fusion.name)):
            raise meaning.fail("which tile an epilogue with this fusion takes is not supported", span)
        return _tile(meaning, cta, warps, elements, {x: is_major(strides[x], 0) for x in "CD"}, void)

    subtile = once(tiler)

    def atom(which: str) -> Any:
        extents = [_contiguous(meaning, x) for x in subtile()]
        return smem_selector("sm100", [major("UMMA", not is_major(strides[which], 1)), elements[which], *extents])

    def taken() -> int:
        if not default:
            raise meaning.fail("how much shared memory the fusion of this epilogue takes is not supported", span)
        area = product(tuple(_extent(x) for x in subtile()))
        c, d = (bits(elements[x]) * area for x in "CD")
        steps = cta[0] * cta[1] // area
        out = min(steps, 2)
        reused = not void and bits(source) > 8
        into = max(min(steps, 4), out + 1) if reused else min(steps, 4)
        sizes = {"D": d * out} if void else {"C": max(c, d) * into} if reused else {"C": c * into, "D": d * out}
        own = {x: 128 << atom(x).outer.bits for x in "CD"}
        widest = max(own.values()) if reused else max(own[x] for x in sizes)
        total = 0
        for which, count in sizes.items():
            total = -(-total // own[which]) * own[which] + count // 8
        maps = 256 if array else 0
        return int(-(-total // widest) * widest + widest + -(-(maps + 16) // widest) * widest)  # the fusion's; maps and barriers

    parts: dict[str, Callable[[], Any]] = {
        "EpilogueTile": subtile,
        "SmemLayoutAtomC": lambda: atom("C"),
        "SmemLayoutAtomD": lambda: atom("D"),
        "CtaTileShape": lambda: (*cta, tile[2]) if pair else tile,
        "ElementC": lambda: source,
        "ElementD": lambda: elements["D"],
        "StrideC": lambda: strides["C"],
        "StrideD": lambda: strides["D"],
        "SharedStorage": lambda: storage(taken()),
    }
    return Built("CollectiveBuilder", {"CollectiveOp": lambda: Built("CollectiveEpilogue", lazily(parts))})


def _extent(mode: Any) -> int:
    return int(size(mode) if isinstance(mode, Layout) else product(mode))


def _contiguous(meaning: Meaning, mode: Any) -> int:
    """How much of a mode of an epilogue's tile TMA copies as one."""
    if not isinstance(mode, Layout):
        return _extent(mode)
    return _extent(meaning.operate("coalesce", [meaning.operate("right_inverse", [mode])]))


def _tile(
    meaning: Meaning, cta: tuple[int, int], warps: tuple[int, int], elements: dict[str, Any], columns: dict[str, bool], void: bool
) -> Any:
    """sm100_dense_compute_tile_shape_or_override of EpilogueTileAuto."""
    widest = max(bits(x) for x in elements.values())
    rows = min(cta[0], 32 * warps[0])
    if void:
        wanted = (8192 if widest == 4 else 4096) // rows
    elif widest == 32:
        wanted = 16 if cta[0] > 64 and cta[1] <= 128 else 32
    else:
        wanted = 32 if widest == 16 and cta[1] <= 128 else 64
    least = [8 * warps[1] if columns[x] or (void and x == "C") else 128 // bits(elements[x]) * warps[1] for x in "CD"]
    count = min(cta[1], max(wanted, *least))
    count = count if cta[1] % count == 0 else cta[1]
    spread = Layout((count // warps[1], warps[1]), (1, cta[1] // warps[1]))
    return (Layout(rows), meaning.operate("coalesce", [spread]))
