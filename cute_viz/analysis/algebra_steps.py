"""The writers of steps: what composition, complement, divisions, products and the like do with the numbers of their operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from cute_viz.algebra import ops
from cute_viz.algebra.compose import coalesce, composition_is_pointwise, value_at, without_padding
from cute_viz.algebra.composed import ComposedLayout, domain, is_layout
from cute_viz.algebra.divide import divide_is_pointwise
from cute_viz.algebra.inttuple import Underscore, X, modes, product, show
from cute_viz.algebra.layout import Layout, flat_modes, make_layout, modes_of
from cute_viz.algebra.operands import left, strides
from cute_viz.algebra.shapes import ceil_div, product_each
from cute_viz.algebra.static import clear_static, each_integer
from cute_viz.algebra.stride import Basis
from cute_viz.algebra.swizzle import Swizzle
from cute_viz.algebra.table import offsets
from cute_viz.analysis.steps import Step
from cute_viz.errors import AlgebraError
from cute_viz.values.integer import Runtime, Static, is_known, is_one, least


def _n(number: object) -> str:
    return str(int(number)) if isinstance(number, int) else str(number)


class OperationSteps:
    """The steps of one operation. Its operands are computed with as CuTe does: static integers apart from run-time ones, if
    mixed."""

    def __init__(self, name: str, mixed: bool) -> None:
        self.name, self.mixed = name, mixed
        self.steps: list[Step] = []

    def write(self, *operands: object) -> None:
        """Tell the steps for operands; none of strides that they are not told of. Raises: AlgebraError where a condition fails."""
        writer, a = WRITERS[self.name], operands[0]
        if self.name not in ("composition", "slice") and not strides(operands) <= {"integer"}:
            return
        if isinstance(a, ComposedLayout) and isinstance(a.inner, Layout) and self.name not in ("complement", "slice"):
            self.add(f"{a.outer} stays in front: {self.name} is that of the layout behind it", a.inner)
            writer(self, a.inner, *operands[1:])
            self.add(f"{self.name}, with {a.outer} in front", _do(self.name, *operands))
        elif isinstance(a, Layout) or self.name in ("composition", "slice"):
            writer(self, *operands)

    def add(self, words: str, value: object = None, title: str = "") -> None:
        """One more step, with its value as it prints."""
        self.steps.append(Step(words, self.left(value), title))

    def __call__(self, value: Any) -> str:
        """A value in words."""
        return show(self.left(value))

    def left(self, value: object) -> Any:
        """A value as it prints; None for none."""
        return left(value) if self.mixed and value is not None else value


def _do(name: str, *operands: object) -> Any:
    operation = ops.find(name)
    return operation.resolve()(*operation.fitted(list(operands))[0])


def _tile(tiler: object) -> Layout | None:
    return Layout(tiler) if isinstance(tiler, int) else tiler if isinstance(tiler, Layout) else None


def _composition(told: OperationSteps, a: object, b: object, *more: object) -> None:
    if isinstance(a, Swizzle) and is_layout(b) and not more:
        told.add(f"a swizzle has no strides: CuTe keeps its parts, c -> {a}(B(c))", _do("composition", a, b))
    if more or not isinstance(a, Layout):
        return
    if isinstance(b, tuple):
        _by_mode(told, a, b, "composition", _composition)
        return
    picks = _tile(b)
    if picks is None:
        return
    flat = coalesce(a)
    told.add(f"composition: A = {told(a)} read as a function of one index, coalesced", flat, "A coalesced")
    for extent, step in flat_modes(picks):
        mode = f"{told(extent)}:{told(step)} of B picks {_n(extent)} {'element' if extent == 1 else 'elements'}"
        if isinstance(step, Basis):
            told.add(f"{mode} along mode {step.path[0]} of A")
        else:
            told.add(f"{mode} of A, {_n(step)} apart")
            _walk(told, flat, extent, step)
    result = _do("composition", a, b)
    told.add("the picked modes, in B's nesting" + _elsewhere(a, picks, result), result, "A o B")


def _elsewhere(a: Any, b: Layout, result: Any) -> str:
    """Where CuTe's composition, which does not check every carry, is not A(B(c)), in words; "" where it is."""
    a, b, result = (each_integer(int, x) for x in (a, b, result))
    if composition_is_pointwise(a, b, result) is not False:
        return ""
    words = "; CuTe does not check every carry, and it is not A(B(c)) everywhere"
    pairs = ((value_at(a, place), without_padding(found)) for place, found in zip(offsets(b), offsets(result), strict=False))
    for c, (wanted, found) in enumerate(pairs):
        if wanted != found:
            return f"{words}: at {c} it is {show(found)}, A(B({c})) is {show(wanted)}"
    return words


def _walk(told: OperationSteps, a: Layout, count: Any, step: Any) -> None:
    """How one mode of B goes through the modes of A."""
    parts = flat_modes(a) if step > 0 else []
    for n, (extent, stride) in enumerate(parts):
        mode = f"{told(extent)}:{told(stride)}"
        if n == len(parts) - 1:
            words = f"  the last mode {mode} gives the remaining {_n(count)}, stride {_n(step)}*{told(stride)}"
            told.add(words, Layout(count, step * stride), f"from {mode}")
            return
        taken = least(-(-extent // step), count)
        if step >= extent and step % extent and is_known(step) and is_known(extent):
            told.add(f"  a step of {_n(step)} over {mode}: {_n(extent)} does not divide {_n(step)}")
            return
        if is_one(-(-extent // step)):
            told.add(f"  a step of {_n(step)} skips {mode}; a step of {_n(-(-step // extent))} remains")
        else:
            count_of = f"{_n(taken)} {'element' if taken == 1 else 'elements'}"
            words = f"  {mode} gives {count_of}, {_n(step)} apart, stride {_n(step)}*{told(stride)}"
            told.add(words, Layout(taken, step * stride), f"from {mode}")
            if count % taken:
                cause = "the Shape Divisibility Condition fails" if is_known(taken) else "CuTe does not check run-time extents"
                told.add(f"  {_n(count)} elements are not a multiple of {_n(taken)}: {cause}")
            count //= taken
            if is_one(count):
                return
        step = -(-step // extent)


_LAZY = "CuTe drops an extent of 1 and joins modes only where its types prove it"


def _complement(told: OperationSteps, a: Any, cotarget: Any = None) -> None:
    target = a.cosize if cotarget is None else product(cotarget.shape if isinstance(cotarget, Layout) else cotarget)
    flat = _do("filter", a)
    told.add(f"complement: fill what {told(a)} leaves out of 0..{_n(target - 1)}, in order of stride")
    if flat != a:
        told.add("without modes of stride 0 and extent 1, coalesced", flat, "A filtered")
    result = _do("complement", a, target if cotarget is None else cotarget)
    reached: Any = 1
    for extent, stride in sorted(flat_modes(flat), key=lambda pair: pair[1]):
        if stride == 0:
            break
        words = f"{told(extent)}:{told(stride)} has stride {_n(stride)}, and {_n(reached)} would be contiguous: "
        gap = stride // reached
        if gap > 1:
            told.add(words + f"the complement fills the {_n(gap)} in between", Layout(gap, reached), "the gap")
        else:
            told.add(words + "nothing is left out")
        reached = stride * extent
    rest = ceil_div(target, reached)
    open_ = not all(map(is_known, (*modes(rest), reached)))
    if rest > 1 or open_:
        words = f"{_n(rest)} {'repetition reaches' if rest == 1 else 'repetitions reach'} {_n(target)}"
        told.add(f"0..{_n(reached - 1)} is covered; {words}", Layout(rest, reached), "repetitions")
    if open_:
        told.add(f"together; the result of a run-time stride is known only at run time, and {_LAZY}", result, "complement")
        return
    if (other := _of_run_time(told, a, target)) is not None:
        told.add(f"  of a run-time stride, as in make_layout(4, 2) of C++, CuTe gives {show(other)}: {_LAZY}")
    told.add("together, coalesced", result, "complement")


def _of_run_time(told: OperationSteps, a: Layout, target: Any) -> Layout | None:
    pairs = flat_modes(a)
    if told.mixed or len(pairs) != 1:
        return None
    found = left(_do("complement", Layout(*(kind(x) for kind, x in zip((Static, Runtime), pairs[0], strict=True))), Static(target)))
    return None if clear_static(found) == _do("complement", a, target) else found


def _logical_divide(told: OperationSteps, a: Layout, tiler: object) -> None:
    if isinstance(tiler, tuple):
        _by_mode(told, a, tiler, "logical_divide", _logical_divide)
        return
    tile = _tile(tiler)
    if tile is None:
        return
    told.add(f"logical_divide: the tile {told(tile)} picks {_n(tile.size)} of the {_n(a.size)} elements of {told(a)}")
    rest = _do("complement", tile, coalesce(a).shape)
    told.add(f"its complement up to {_n(a.size)} gives where the tiles begin", rest, "complement: where tiles begin")
    told.add("tile and complement side by side", make_layout(tile, rest), "(tile, complement)")
    words = "A composed with it: (tile, rest)"
    if divide_is_pointwise(each_integer(int, a), each_integer(int, tile)) is False:
        words += "; CuTe does not check every carry, and it is not A cut by the tiler everywhere"
    told.add(words, _do("composition", a, make_layout(tile, rest)), "A o that: (tile, rest)")


def _gathered(name: str, gather: str, told: OperationSteps, a: Layout, tiler: object) -> None:
    (_logical_product if "product" in name else _logical_divide)(told, a, tiler)
    told.add(f"{name}: {gather}", _do(name, a, tiler), name)


def _logical_product(told: OperationSteps, a: Layout, tiler: object) -> None:
    if isinstance(tiler, tuple):
        _by_mode(told, a, tiler, "logical_product", _logical_product)
        return
    tile = _tile(tiler)
    if tile is None:
        return
    reach = a.size * tile.cosize
    told.add(f"logical_product: the block {told(a)} of {_n(a.size)} elements, copied as {told(tile)} says")
    rest = _do("complement", a, reach)
    words = f"its complement up to size(A)*cosize(B) = {_n(a.size)}*{_n(tile.cosize)} = {_n(reach)}: where copies can go"
    told.add(words, rest, "complement: where copies can be")
    told.add("the complement composed with B: where they go", _do("composition", rest, tile), "complement o B: where copies are")
    told.add("block and copies side by side", _do("logical_product", a, tile), "(block, copies)")


def _paired(name: str, order: str, told: OperationSteps, a: Layout, b: object) -> None:
    if not isinstance(b, Layout):
        return
    r = max(len(modes(a.shape)), len(modes(b.shape)))
    a, b = (make_layout(*modes_of(x), *([Layout(1, 0)] * (r - len(modes(x.shape))))) for x in (a, b))
    _logical_product(told, a, b)
    told.add(f"{name}: modes paired, {order}", _do(name, a, b), name)


def _tile_to_shape(told: OperationSteps, a: Layout, shape: object, order: object = None) -> None:
    own, wanted = product_each((*modes(a.shape), *[1] * (len(modes(shape)) - len(modes(a.shape))))), product_each(shape)
    counts = ceil_div(wanted, own)
    words = "column-major: mode 0 first" if order is None else f"in the order {show(order)}"
    told.add(f"tile_to_shape: {told(own)} goes into {told(wanted)} {told(counts)} times; the copies are laid out {words}")
    tiles = _do("make_ordered_layout", counts, order) if order is not None else Layout(counts)
    told.add("where the copies are, counted in blocks", tiles, "the copies")
    _paired("blocked_product", "the block inside", told, a, tiles)


def _coalesce(told: OperationSteps, a: Layout, profile: object = None) -> None:
    if profile is not None:
        return
    kept: list[tuple[Any, Any]] = []
    for extent, stride in flat_modes(a):
        mode, before = f"{told(extent)}:{told(stride)}", ":".join(map(told, kept[-1])) if kept else ""
        if extent == 1 and is_known(extent):
            told.add(f"{mode} has one element and is dropped")
            continue
        joins = bool(kept) and kept[-1][0] * kept[-1][1] == stride
        if joins and all(map(is_known, (*kept[-1], stride))):
            words = f"{before} and {mode} are joined ({_n(kept[-1][0])}*{_n(kept[-1][1])} = {_n(stride)})"
            kept[-1] = (kept[-1][0] * extent, kept[-1][1])
            told.add(words, Layout(*kept[-1]), "as one")
            continue
        if joins:
            told.add(f"{mode} stays: it goes on from {before}, but CuTe's types do not prove it")
        elif kept:
            told.add(f"{mode} does not go on from {before} and stays")
        kept.append((extent, stride))
    told.add("what is left", coalesce(a))


def _right_inverse(told: OperationSteps, a: Layout) -> None:
    flat = coalesce(a)
    told.add("right_inverse: A coalesced", flat, "A coalesced")
    starts: list[Any] = [1]
    for extent, _ in flat_modes(flat):
        starts.append(starts[-1] * extent)
    reached: Any = 1
    for n, (extent, stride) in sorted(enumerate(flat_modes(flat)), key=lambda item: item[1][1]):
        mode = f"mode {told(extent)}:{told(stride)}"
        if stride == reached:
            words = f"offsets {_n(reached)} apart are {_n(starts[n])} apart in the index ({mode})"
            told.add(words, Layout(extent, starts[n]), "a mode")
            reached = extent * stride
        else:
            told.add(f"{mode} does not continue the {_n(reached)} contiguous offsets")
    told.add("in order of A's strides, coalesced", _do("right_inverse", a), "right inverse")


def _slice(told: OperationSteps, crd: object, a: object) -> None:
    plain = domain(a) if is_layout(a) else None
    if not isinstance(plain, Layout) or len(modes(crd)) != len(modes(plain.shape)):
        return
    told.add(f"a slice of {told(a)} at {told(crd)}: a mode with _ stays whole, an index picks one element of it")
    for n, (at, part) in enumerate(zip(modes(crd), modes_of(plain), strict=True)):
        if isinstance(at, Underscore):
            told.add(f"  mode {n}, {told(part)}, stays")
            continue
        try:
            words = f"at {told(at)}: {told(part(at))} further on" if isinstance(at, int) else f"cut at {told(at)}"
        except AlgebraError:
            words = f"at {told(at)}"
        told.add(f"  mode {n}, {told(part)}, is {words}")
    told.add("what stays", _do("slice", crd, a))


def _mask(told: OperationSteps, cluster: Layout, coord: Any, *along: int) -> None:
    from cute_viz.algebra.tma_parts import CLUSTER, ctas_of, receivers

    mask = _do("create_tma_multicast_mask", cluster, coord, *along)
    told.add("create_tma_multicast_mask: the cluster maps the coordinate of a CTA to its number", cluster, "the cluster")
    bits = f"0b{int(mask):0{min(max(ctas_of(mask)) + 1, CLUSTER)}b}"
    if along:
        given = tuple(X if n in along else entry for n, entry in enumerate(coord))
        ctas, first = _do("slice_and_offset", given, cluster)
        words = f"{_listed('mode', along)} may vary: the CTAs of {show(given)}, counted from CTA {first}"
        told.add(words, ctas, "the CTAs that receive")
        ones = sorted({ctas(n) for n in range(min(ctas.size, CLUSTER))})
        told.add(f"a bit for each of them, {_listed('bit', ones)}, shifted by the number of the first, {first}: {bits}")
    else:
        told.add(f"no mode is named: only the bit of the CTA at {show(coord)}: {bits}")
    for n, crd in receivers(mask):
        told.add(f"  CTA {n} at {show(crd)} receives")
    told.add(f"the mask, {hex(mask)} = {bits}", mask)


def _listed(word: str, numbers: Sequence[int]) -> str:
    return f"{word}{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"


def _by_mode(told: OperationSteps, a: Layout, tiler: tuple[object, ...], name: str, writer: Callable[..., None]) -> None:
    for n, (part, t) in enumerate(zip(modes_of(a), tiler, strict=False)):
        told.add(f"mode {n}: {told(part)} with {told(t)}")
        writer(told, part, t)
    told.add(f"{name}, mode by mode", _do(name, a, tiler), f"{name}, mode by mode")


WRITERS: dict[str, Callable[..., None]] = {
    "composition": _composition,
    "complement": _complement,
    "coalesce": _coalesce,
    "right_inverse": _right_inverse,
    "logical_divide": _logical_divide,
    "zipped_divide": partial(_gathered, "zipped_divide", "tiles together, rests together"),
    "tiled_divide": partial(_gathered, "tiled_divide", "tiles together, rests one by one"),
    "flat_divide": partial(_gathered, "flat_divide", "tiles and rests one by one"),
    "logical_product": _logical_product,
    "zipped_product": partial(_gathered, "zipped_product", "blocks together, copies together"),
    "tiled_product": partial(_gathered, "tiled_product", "blocks together, copies one by one"),
    "flat_product": partial(_gathered, "flat_product", "blocks and copies one by one"),
    "blocked_product": partial(_paired, "blocked_product", "the block inside"),
    "raked_product": partial(_paired, "raked_product", "the copies inside"),
    "tile_to_shape": _tile_to_shape,
    "slice": _slice,
    "create_tma_multicast_mask": _mask,
}
