"""An operation step by step, as CuTe's documentation teaches it: words, and the layout that each step gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cute_viz.algebra import ops
from cute_viz.algebra.composed import ComposedLayout
from cute_viz.algebra.inttuple import X, modes, product, show
from cute_viz.algebra.layout import Layout, coalesce, cosize, flat_modes, make_layout, modes_of, size
from cute_viz.algebra.mixed import entered
from cute_viz.algebra.operands import strides
from cute_viz.algebra.stride import Basis
from cute_viz.analysis.fragment_steps import FRAGMENTS, fragment_steps
from cute_viz.analysis.partition_steps import PARTITIONS, partition_steps
from cute_viz.analysis.steps import Step
from cute_viz.errors import AlgebraError


def explain(name: str, operands: list[Any], template: tuple[Any, ...] = ()) -> list[Step]:
    """The steps of an operation by its name; the last step holds the result, or the condition that failed.

    template: the arguments in angle brackets, as in take<0,1>(A).

    >>> for step in explain("complement", [Layout(4, 2), 24]):
    ...     print(step.words, "->", step.value)
    complement: fill what 4:2 leaves out of 0..23, in order of stride -> None
    4:2 has stride 2, and 1 would be contiguous: the complement fills the 2 in between -> 2:1
    0..7 is covered; 3 repetitions reach 24 -> 3:8
    together, coalesced -> (2,3):(1,8)
    """
    operation = ops.find(name)
    fitted, _ = operation.fitted(operands, template)
    if operation.name in ("make_gmma_desc", "make_umma_desc"):
        from cute_viz.analysis.descriptor_steps import descriptor_steps

        return descriptor_steps(operation.name, *fitted)
    if operation.name in (*PARTITIONS, *FRAGMENTS):
        told = _partition(operation.name, fitted, operation.call(operands, template))
        if told:
            return told
    writer = _WRITERS.get(operation.name)
    steps: list[Step] = []
    if entered(operation.name, operands) is not operands:  # CuTe simplifies less there: no steps but the result
        writer = None
    if writer is not None:
        try:
            if isinstance(fitted[0], Layout) and (operation.name == "composition" or strides(tuple(fitted)) <= {"integer"}):
                writer(steps, *fitted)
        except AlgebraError as error:
            return [*steps, Step(f"this fails: {error.message}")]
    result = operation.call(operands, template)
    if not steps or steps[-1].value != result:
        steps.append(Step(f"{operation.name}: {operation.summary}" if not steps else "the result", result))
    return steps


def _partition(name: str, operands: list[Any], result: Any) -> list[Step]:
    """The steps of a partition or a fragment; none where a part of it is not known, such as a stride."""
    try:
        return partition_steps(name, operands, result) if name in PARTITIONS else fragment_steps(name, operands, result)
    except AlgebraError:
        return []


def _do(name: str, *operands: Any) -> Any:
    return ops.find(name).call(list(operands), ())


def _composition(steps: list[Step], a: Layout, b: Any, *more: Any) -> None:
    if more:  # of several layouts, their composition alone
        return
    if isinstance(b, tuple):
        _by_mode(steps, a, b, "composition", _composition)
        return
    if not isinstance(b, (Layout, int)):
        return
    b = Layout(b) if isinstance(b, int) else b
    flat = coalesce(a)
    steps.append(Step(f"composition: A = {a} read as a function of one index, coalesced", flat, "A coalesced"))
    for extent, step in flat_modes(b):
        if isinstance(step, Basis):
            steps.append(
                Step(
                    f"{extent}:{step} of B picks {extent} {'element' if extent == 1 else 'elements'} along mode {step.path[0]} of A"
                )
            )
        else:
            steps.append(Step(f"{extent}:{step} of B picks {extent} {'element' if extent == 1 else 'elements'} of A, {step} apart"))
            _walk(steps, flat, extent, step)
    steps.append(Step("the picked modes, in B's nesting", _do("composition", a, b), "A o B"))


def _walk(steps: list[Step], a: Layout, count: int, step: int) -> None:
    """How one mode of B goes through the modes of A."""
    if step <= 0:
        return
    parts = flat_modes(a)
    for n, (extent, stride) in enumerate(parts):
        if n == len(parts) - 1:
            steps.append(
                Step(
                    f"  the last mode {extent}:{stride} gives the remaining {count}, stride {step}*{stride}",
                    Layout(count, step * stride),
                    f"from {extent}:{stride}",
                )
            )
            return
        left = -(-extent // step)
        if step >= extent:
            if step % extent:
                steps.append(Step(f"  a step of {step} over {extent}:{stride}: {extent} does not divide {step}"))
                return
            steps.append(Step(f"  a step of {step} skips {extent}:{stride}; a step of {step // extent} remains"))
            step = -(-step // extent)
            continue
        taken = min(left, count)
        steps.append(
            Step(
                f"  {extent}:{stride} gives {taken} elements, {step} apart, stride {step}*{stride}",
                Layout(taken, step * stride),
                f"from {extent}:{stride}",
            )
        )
        if taken and count % taken:
            steps.append(Step(f"  {count} elements are not a multiple of {taken}: the Shape Divisibility Condition fails"))
        count //= taken
        step = 1
        if count == 1:
            return


def _complement(steps: list[Step], a: Layout, cotarget: Any = None) -> None:
    target = cosize(a) if cotarget is None else product(cotarget.shape if isinstance(cotarget, Layout) else cotarget)
    flat = _do("filter", a)
    steps.append(Step(f"complement: fill what {a} leaves out of 0..{target - 1}, in order of stride"))
    if flat != a:
        steps.append(Step("without modes of stride 0 and extent 1, coalesced", flat, "A filtered"))
    result = _do("complement", a, target if cotarget is None else cotarget)
    reached = 1
    for extent, stride in sorted(flat_modes(flat), key=lambda pair: pair[1]):
        if stride == 0:
            break
        words = f"{extent}:{stride} has stride {stride}, and {reached} would be contiguous: "
        gap = stride // reached
        if gap > 1:
            steps.append(Step(words + f"the complement fills the {gap} in between", Layout(gap, reached), "the gap"))
        else:
            steps.append(Step(words + "nothing is left out"))
        reached = stride * extent
    rest = -(-target // reached)
    if rest > 1:
        steps.append(Step(f"0..{reached - 1} is covered; {rest} repetitions reach {target}", Layout(rest, reached), "repetitions"))
    steps.append(Step("together, coalesced", result, "complement"))


def _logical_divide(steps: list[Step], a: Layout, tiler: Any) -> None:
    if isinstance(tiler, tuple):
        _by_mode(steps, a, tiler, "logical_divide", _logical_divide)
        return
    if not isinstance(tiler, (Layout, int)):
        return
    tile = Layout(tiler) if isinstance(tiler, int) else tiler
    steps.append(Step(f"logical_divide: the tile {tile} picks {size(tile)} of the {size(a)} elements of {a}"))
    rest = _do("complement", tile, size(a))
    steps.append(Step(f"its complement up to {size(a)} says where the tiles begin", rest, "complement: where tiles begin"))
    whole = make_layout(tile, rest)
    steps.append(Step("tile and complement side by side", whole, "(tile, complement)"))
    steps.append(Step("A composed with it: (tile, rest)", _do("composition", a, whole), "A o that: (tile, rest)"))


def _gathered(name: str, gather: str) -> Callable[..., None]:
    def write(steps: list[Step], a: Layout, tiler: Any) -> None:
        (_logical_product if "product" in name else _logical_divide)(steps, a, tiler)
        steps.append(Step(f"{name}: {gather}", _do(name, a, tiler), name))

    return write


def _logical_product(steps: list[Step], a: Layout, tiler: Any) -> None:
    if isinstance(tiler, tuple):
        _by_mode(steps, a, tiler, "logical_product", _logical_product)
        return
    if not isinstance(tiler, (Layout, int)):
        return
    tile = Layout(tiler) if isinstance(tiler, int) else tiler
    reach = size(a) * cosize(tile)
    steps.append(Step(f"logical_product: the block {a} of {size(a)} elements, copied as {tile} says"))
    rest = _do("complement", a, reach)
    words = f"its complement up to size(A)*cosize(B) = {size(a)}*{cosize(tile)} = {reach}: where copies can go"
    steps.append(Step(words, rest, "complement: where copies can be"))
    words = "the complement composed with B: where they go"
    steps.append(Step(words, _do("composition", rest, tile), "complement o B: where copies are"))
    steps.append(Step("block and copies side by side", _do("logical_product", a, tile), "(block, copies)"))


def _paired(name: str, order: str) -> Callable[..., None]:
    def write(steps: list[Step], a: Layout, b: Any) -> None:
        if not isinstance(b, Layout):
            return
        r = max(len(modes(a.shape)), len(modes(b.shape)))
        one = [Layout(1, 0)]
        a, b = (make_layout(*modes_of(x), *(one * (r - len(modes(x.shape))))) for x in (a, b))
        _logical_product(steps, a, b)
        steps.append(Step(f"{name}: modes paired, {order}", _do(name, a, b), name))

    return write


def _coalesce(steps: list[Step], a: Layout, profile: Any = None) -> None:
    if profile is not None:
        return
    kept: list[tuple[int, Any]] = []
    for extent, stride in flat_modes(a):
        if extent == 1:
            steps.append(Step(f"1:{stride} has one element and is dropped"))
        elif kept and kept[-1][0] * kept[-1][1] == stride:
            first = kept.pop()
            kept.append((first[0] * extent, first[1]))
            steps.append(
                Step(
                    f"{first[0]}:{first[1]} and {extent}:{stride} are joined ({first[0]}*{first[1]} = {stride})",
                    Layout(*kept[-1]),
                    "as one",
                )
            )
        else:
            if kept:
                steps.append(Step(f"{extent}:{stride} does not go on from {kept[-1][0]}:{kept[-1][1]} and stays"))
            kept.append((extent, stride))
    steps.append(Step("what is left", coalesce(a)))


def _right_inverse(steps: list[Step], a: Layout) -> None:
    flat = coalesce(a)
    steps.append(Step("right_inverse: A coalesced", flat, "A coalesced"))
    starts, current = {}, 1
    for n, (extent, _) in enumerate(flat_modes(flat)):
        starts[n] = current
        current *= extent
    reached = 1
    for n, (extent, stride) in sorted(enumerate(flat_modes(flat)), key=lambda item: item[1][1]):
        if stride == reached:
            words = f"offsets {reached} apart are {starts[n]} apart in the index (mode {extent}:{stride})"
            steps.append(Step(words, Layout(extent, starts[n]), "a mode"))
            reached = extent * stride
        else:
            steps.append(Step(f"mode {extent}:{stride} does not continue the {reached} contiguous offsets"))
    steps.append(Step("in order of A's strides, coalesced", _do("right_inverse", a), "right inverse"))


def _mask(steps: list[Step], cluster: Layout, coord: Any, *along: int) -> None:
    from cute_viz.algebra.tma_parts import CLUSTER, ctas_of, receivers

    mask = _do("create_tma_multicast_mask", cluster, coord, *along)
    steps.append(Step("create_tma_multicast_mask: the cluster maps the coordinate of a CTA to its number", cluster, "the cluster"))
    bits = f"0b{int(mask):0{min(max(ctas_of(mask)) + 1, CLUSTER)}b}"
    if along:
        given = tuple(X if n in along else entry for n, entry in enumerate(coord))
        ctas, first = _do("slice_and_offset", given, cluster)
        words = f"{_listed('mode', along)} may vary: the CTAs of {show(given)}, counted from CTA {first}"
        steps.append(Step(words, ctas, "the CTAs that receive"))
        ones = sorted({ctas(n) for n in range(min(size(ctas), CLUSTER))})
        steps.append(Step(f"a bit for each of them, {_listed('bit', ones)}, shifted by the number of the first, {first}: {bits}"))
    else:
        steps.append(Step(f"no mode is named: the bit of the CTA at {show(coord)} alone: {bits}"))
    steps += [Step(f"  CTA {n} at {show(crd)} receives") for n, crd in receivers(mask)]
    steps.append(Step(f"the mask, {hex(mask)} = {bits}", mask))


def _listed(word: str, numbers: Any) -> str:
    return f"{word}{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"


def _by_mode(steps: list[Step], a: Layout, tiler: tuple[Any, ...], name: str, writer: Callable[..., None]) -> None:
    for n, (part, t) in enumerate(zip(modes_of(a), tiler, strict=False)):
        steps.append(Step(f"mode {n}: {part} with {show(t)}"))
        writer(steps, part, t)
    steps.append(Step(f"{name}, mode by mode", _do(name, a, tiler), f"{name}, mode by mode"))


_WRITERS: dict[str, Callable[..., None]] = {
    "composition": _composition,
    "complement": _complement,
    "coalesce": _coalesce,
    "right_inverse": _right_inverse,
    "logical_divide": _logical_divide,
    "zipped_divide": _gathered("zipped_divide", "tiles together, rests together"),
    "tiled_divide": _gathered("tiled_divide", "tiles together, rests one by one"),
    "flat_divide": _gathered("flat_divide", "tiles and rests one by one"),
    "logical_product": _logical_product,
    "zipped_product": _gathered("zipped_product", "blocks together, copies together"),
    "tiled_product": _gathered("tiled_product", "blocks together, copies one by one"),
    "flat_product": _gathered("flat_product", "blocks and copies one by one"),
    "blocked_product": _paired("blocked_product", "the block inside"),
    "raked_product": _paired("raked_product", "the copies inside"),
    "create_tma_multicast_mask": _mask,
}


def is_layout(value: Any) -> bool:
    """Whether a step's value can be drawn.

    >>> is_layout(Layout(4)), is_layout(None)
    (True, False)
    """
    return isinstance(value, (Layout, ComposedLayout))
