"""The registry: every operation once, for expressions, help and documentation.

A row says what an operation is called, what it takes, and where its function lives; the function is imported when it
is called. Template arguments (`size<1>(A)`) are handed on after the others, or under `keyword`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

from cute_viz.algebra.operands import KINDS, converted, problem
from cute_viz.algebra.tensor import Tensor, through
from cute_viz.errors import AlgebraError
from cute_viz.records import dataclass

TENSORS = frozenset("UFV")  # the kinds of operands that may be tensors, pointer and all


MEASURES = frozenset(["size", "rank", "depth", "shape", "stride", "layout", "cosize"])


@dataclass(frozen=True, slots=True)
class Op:
    """One operation.

    function: behind a colon, the operand that the name says, `thrfrg:A`: its parameter `operand`.
    kinds: a letter of `operands.KINDS` for each operand; `*` at the end repeats the last kind. Operands after `least` may be
        left out.
    templated: C++ gives modes or numbers as template arguments, so that `name<1>(A)` is read, too; there are at least
        `needs` of both together.
    """

    name: str
    module: str
    function: str
    signature: str
    kinds: str
    summary: str
    example: str
    least: int
    needs: int
    keyword: str | None = None
    templated: bool = False

    def call(self, args: list[Any], template: tuple[Any, ...] = ()) -> Any:
        """The result for evaluated operands.

        Raises: AlgebraError for operands that the operation does not take, with its signature and an example; and as its function.
        """
        if any(isinstance(x, Tensor) for x in args) and not TENSORS.intersection(self.kinds):
            return through(self, args, template)
        if self.name in MEASURES:  # of a fragment of descriptors, too
            args = [x.layout if getattr(x, "tiling", "") == "descriptor" and hasattr(x, "layout") else x for x in args]
        from cute_viz.algebra.mixed import entered, is_mixed, left

        inside = entered(self.name, args)
        operands, named = self.fitted(inside, template)
        result = self.resolve()(*operands, **named)
        return left(result) if inside is not args or is_mixed(operands) else result

    def fitted(self, args: list[Any], template: tuple[Any, ...] = ()) -> tuple[list[Any], dict[str, Any]]:
        """Operands as the function wants them, by position and by name. Raises: AlgebraError for operands that do not fit."""
        self.check_count(args)
        if template and not self.templated:
            raise AlgebraError(f"{self.signature} takes no template arguments", hint=f"example: {self.example}")
        if self.keyword and template:
            if len(template) > 1:
                raise self._count(f"{len(template)} template arguments")
            return self._checked(args), {self.keyword: self._one(template[0], "N" if self.keyword == "n" else "J")}
        given = [*args, *template]
        if len(given) < self.needs or (len(given) > len(self.kinds) and not self.kinds.endswith("*")):
            raise self._count(f"{len(given)} operand{'' if len(given) == 1 else 's'}, template arguments included")
        return self._checked(given), {}

    def public(self) -> Callable[..., Any]:
        """The operation as a Python function: as its own one, but bad arguments are refused in words.

        >>> OPS["take"].public()((2, 3, 4), 1, end=3) == OPS["take"].call([(2, 3, 4), 1, 3])
        True
        """
        from functools import wraps
        from inspect import signature

        own = self.resolve()
        parameters = signature(own)
        if ":" in self.function:  # the operand is in the name; other parameters are those that the row has
            names = [name for name in parameters.parameters if name != "operand"]
            kept = {*names[: len(self.kinds)], self.keyword}
            parameters = parameters.replace(parameters=[p for p in parameters.parameters.values() if p.name in kept])

        @wraps(own)
        def operation(*args: Any, **named: Any) -> Any:
            try:
                bound = parameters.bind(*args, **named)
            except TypeError as error:
                raise AlgebraError(f"{self.signature}: {error}", hint=f"example: {self.example}") from None
            bound.apply_defaults()
            given = list(bound.args)
            while given and given[-1] is None and len(given) > self.least:
                given.pop()
            last = self.keyword is not None and len(given) > len(self.kinds)
            operands, extra = self.fitted(given[:-1] if last else given, tuple(given[-1:]) if last else ())
            return own(*operands, **extra)

        operation.__name__ = operation.__qualname__ = self.name
        operation.__doc__ = own.__doc__ or f"{self.summary[0].upper()}{self.summary[1:]}.\n\nSuch as {self.example}"  # python -OO
        return operation

    def check_count(self, args: list[Any]) -> None:
        """Refuse too few or too many operands."""
        if len(args) < self.least or (len(args) > len(self.kinds) and not self.kinds.endswith("*")):
            raise self._count(f"{len(args)} operand{'' if len(args) == 1 else 's'}")

    def _checked(self, operands: list[Any]) -> list[Any]:
        """Operands as their kinds want them. Raises: AlgebraError for those that are of another; None stands for one that is left out."""
        kinds = self.kinds.rstrip("*")
        out = []
        for n, operand in enumerate(operands):
            kind = kinds[min(n, len(kinds) - 1)]
            left_out = operand is None and n >= self.least and kind != "N"
            out.append(None if left_out else self._one(operand, kind))
        return out

    def resolve(self) -> Callable[..., Any]:
        """The function that computes it, for operands that fit."""
        name, _, operand = self.function.partition(":")
        function: Callable[..., Any] = getattr(import_module(f"cute_viz.algebra.{self.module}"), name)
        return _on(function, operand) if operand else function

    def _one(self, operand: Any, letter: str) -> Any:
        kind = KINDS[letter]
        if (reason := problem(operand, kind)) is not None:
            raise AlgebraError(f"{self.signature}: {reason}", hint=f"example: {self.example}")
        return converted(operand, kind)

    def _count(self, given: str) -> AlgebraError:
        return AlgebraError(f"{self.signature} does not take {given}", hint=f"example: {self.example}")


def _on(function: Callable[..., Any], operand: str) -> Callable[..., Any]:
    """A function on one of its operands, "A" or "S": whatever place it has among the parameters."""
    from functools import wraps

    at = function.__code__.co_varnames.index("operand")

    @wraps(function)
    def operation(*given: Any, **named: Any) -> Any:
        return function(*given[:at], operand, *given[at:], **named)

    return operation


def _op(name: str, where: str, params: str, kinds: str, summary: str, example: str, **more: Any) -> Op:
    module, _, function = where.partition(".")
    most = len(kinds.rstrip("*")) - kinds.endswith("*")
    least = more.pop("least", most)
    needs = more.pop("needs", least)
    return Op(name, module, function or name, f"{name}({params})", kinds, summary, example, least, needs, **more)


_ROWS = (
    _op("composition", "compose", "A, B", "AOA", "c -> A(B(c)); B a layout, a tiler or a swizzle", "composition((6,2):(8,2), (4,3):(3,1))", least=2),
    _op("complement", "inverse", "A, cotarget", "RS", "how to repeat A until the cotarget is full", "complement(4:2, 24)", least=1),
    _op("right_inverse", "inverse", "A", "A", "R with A(R(i)) = i", "right_inverse((4,8):(8,1))"),
    _op("left_inverse", "inverse", "A", "A", "L with L(A(i)) = i", "left_inverse((4,8):(1,5))"),
    _op("nullspace", "inverse", "A", "L", "the indices that strides of 0 map to 0", "nullspace((4,8):(0,1))"),
    _op("max_common_layout", "inverse", "A, B", "RR", "the longest layout contiguous in both", "max_common_layout((4,8), (4,8):(1,8))"),
    _op("max_common_vector", "inverse", "A, B", "RR", "how many first elements are contiguous in both", "max_common_vector((4,8), (4,8):(1,8))"),
    _op("logical_divide", "divide", "A, T", "LT", "((tile,rest),...): A cut by a tiler", "logical_divide((8,6), (4,3))"),
    _op("zipped_divide", "divide", "A, T", "LT", "((tile,...),(rest,...))", "zipped_divide((8,6), (4,3))"),
    _op("tiled_divide", "divide", "A, T", "LT", "((tile,...),rest,...)", "tiled_divide((8,6), (4,3))"),
    _op("flat_divide", "divide", "A, T", "LT", "(tile,...,rest,...)", "flat_divide((8,6), (4,3))"),
    _op("local_tile", "partition", "A, T, crd, proj", "LTCC", "the tile at a coordinate, and its offset", "local_tile((8,6), (4,3), (1,1))", least=3),
    _op("outer_partition", "partition", "A, T, crd", "LTC", "the element at a coordinate in every tile, and its offset", "outer_partition((8,6), (4,3), (1,1))"),
    _op("local_partition", "partition", "A, thr, i, proj", "LRNC", "what thread i of a thread layout gets, and its offset", "local_partition((8,6), (4,2):(2,1), 3)", least=3),
    _op("logical_product", "products", "A, B", "RT", "(A, copies): a block repeated by a tiler", "logical_product((2,2):(4,1), 6:1)"),
    _op("zipped_product", "products", "A, B", "RT", "((block,...),(copies,...))", "zipped_product((2,2):(4,1), 6:1)"),
    _op("tiled_product", "products", "A, B", "RT", "((block,...),copies,...)", "tiled_product((4,5):(5,1), 5:1)"),
    _op("flat_product", "products", "A, B", "RT", "(block,...,copies,...)", "flat_product((2,2):(4,1), (4,2):(2,1))"),
    _op("blocked_product", "products", "A, B", "RR", "modes paired, block inside", "blocked_product((2,5):(5,1), (3,4))"),
    _op("raked_product", "products", "A, B", "RR", "modes paired, copies inside", "raked_product((2,5):(5,1), (3,4))"),
    _op("tile_to_shape", "products", "A, shape, order", "RSM", "A repeated until it has the shape", "tile_to_shape((4,8):(8,1), (12,24))", least=2),
    _op("coalesce", "simplify", "A, profile", "LP", "as few modes as possible, the same function", "coalesce((2,(1,6)):(1,(6,2)))", least=1),
    _op("flatten", "simplify", "A", "G", "no nesting below the top level", "flatten(((2,2),4):((1,2),4))"),
    _op("filter", "simplify.filter_", "A, profile", "LP", "without strides of 0 and extents of 1", "filter((4,1,8):(0,3,1))", least=1),
    _op("filter_zeros", "simplify", "A, profile", "GP", "extent 1 for strides of 0", "filter_zeros((4,8):(0,1))", least=1),
    _op("group", "modes", "A, B, E", "GNN", "modes B..E-1 as one; also group<B,E>(A)", "group((3,2,4):(1,3,6), 1, 3)", least=1, templated=True),
    _op("take", "modes", "A, B, E", "GNN", "modes B..E-1; also take<B,E>(A)", "take((3,2,4):(1,3,6), 0, 2)", least=1, needs=3, templated=True),
    _op("select", "modes", "A, i...", "GN*", "modes by position; also select<i...>(A)", "select((3,2,4):(1,3,6), 2, 0)", templated=True),
    _op("append", "modes", "A, B", "GG", "one more mode at the end; append<N>(A) to rank N", "append((3,2):(1,3), 5:7)", least=1, keyword="n", templated=True),
    _op("prepend", "modes", "A, B", "GG", "one more mode at the front; prepend<N>(A) to rank N", "prepend((3,2):(1,3), 5:7)", least=1, keyword="n", templated=True),
    _op("replace", "modes", "A, B, i", "GGN", "a mode replaced by another; also replace<i>(A,B)", "replace((3,2):(1,3), 5:7, 1)", least=2, needs=3, templated=True),
    _op("zip", "modes.zip_", "A, B", "GG", "modes of two layouts paired", "zip((2,3):(1,2), (4,5):(6,24))", least=1),
    _op("insert", "tuples", "t, x, i", "WZN", "a further entry before a position; also insert<i>(t,x)", "insert((2,3), (4,4), 1)", templated=True, least=2, needs=3),
    _op("remove", "tuples", "t, i", "WN", "a tuple without an entry; also remove<i>(t)", "remove((2,3,4), 1)", templated=True, least=1, needs=2),
    _op("replace_front", "tuples", "t, x", "ZZ", "another first entry", "replace_front((2,3), 5)"),
    _op("replace_back", "tuples", "t, x", "ZZ", "another last entry", "replace_back((2,3), 5)"),
    _op("front", "tuples", "t", "Z", "the first leaf", "front(((2,3),4))"),
    _op("back", "tuples", "t", "Z", "the last leaf", "back((2,(3,4)))"),
    _op("wrap", "inttuple.modes", "t", "Z", "a tuple, of one entry where it is none", "wrap(8)"),
    _op("unwrap", "tuples", "t", "Z", "the entry of a tuple of one", "unwrap(((8)))"),
    _op("reverse", "tuples", "t", "Z", "the entries from the last to the first", "reverse((2,(3,4)))"),
    _op("repeat", "tuples", "x, n", "ZN", "a value n times; also repeat<n>(x)", "repeat(4, 3)", templated=True, least=1, needs=2),
    _op("tuple_repeat", "tuples", "x, n", "ZN", "the same, a tuple for n = 1, too", "tuple_repeat(4, 1)", templated=True, least=1, needs=2),
    _op("repeat_like", "tuples", "t, x", "WZ", "a value for every leaf", "repeat_like((1,(2,3)), 4)"),
    _op("tuple_cat", "tuples", "t...", "W*", "the entries of several tuples in one", "tuple_cat((1,2), (3,4))", least=1),
    _op("flatten_to_tuple", "tuples", "t", "W", "the leaves as a tuple", "flatten_to_tuple((2,(3,4)))"),
    _op("unflatten", "modes.unflatten_any", "A, profile", "GP", "the modes of a flat layout or tuple in a nesting", "unflatten((2,3,4):(12,4,1), (0,(0,0)))"),
    _op("slice", "slicing.slice_", "crd, A", "CG", "the modes at _", "slice((2,_), (4,8):(8,1))"),
    _op("slice_and_offset", "slicing", "crd, A", "CL", "the modes at _, and the offset of the rest", "slice_and_offset((2,_), (4,8):(8,1))"),
    _op("dice", "slicing.dice", "crd, A", "CG", "the modes not at _", "dice((2,_), (4,8):(8,1))"),
    _op("get", "modes.get", "A, i...", "GN*", "a mode of a layout, an entry of a tuple; also get<i,j>(A)", "get(((2,2),4), 0, 1)", templated=True),
    _op("layout", "modes.get", "A, i...", "LN*", "a mode of a layout; also layout<i>(A)", "layout<0>((4,8):(8,1))", templated=True),
    _op("shape", "shapes.shape_of", "A, i...", "QN*", "the shape, or that of a mode", "shape<1>((4,8):(8,1))", templated=True),
    _op("stride", "measure.stride_of", "A, i...", "LN*", "the stride, or that of a mode", "stride<1>((4,8):(8,1))", templated=True),
    _op("size", "measure", "A, i...", "QN*", "the number of elements, of all or of a mode", "size<1>((4,8):(8,1))", templated=True),
    _op("cosize", "measure", "A, i...", "LN*", "the number of offsets up to the largest", "cosize((4,8):(9,1))", templated=True),
    _op("rank", "measure", "A, i...", "QN*", "the number of modes", "rank(((2,2),4))", templated=True),
    _op("depth", "measure", "A, i...", "QN*", "how deep the nesting goes", "depth(((2,2),4))", templated=True),
    _op("coshape", "measure", "A, i...", "LN*", "the smallest shape that holds every value", "coshape((4,8):(1@0,1@1))", templated=True),
    _op("coprofile", "measure", "A", "L", "zeros, nested like the values", "coprofile((4,8):(1@0,1@1))"),
    _op("crd2idx", "coords", "crd, shape, stride", "CED", "the value at a coordinate of a layout, or of shape and stride", "crd2idx((1,2), (4,8):(8,1))", least=2),
    _op("idx2crd", "coords", "idx, shape, stride", "CED", "the coordinate of an index", "idx2crd(7, (4,(2,4)))", least=2),
    _op("crd2crd", "coords", "crd, shape, to", "CSS", "the coordinate of the same index in another shape", "crd2crd((1,5), (4,6), ((2,2),6))"),
    _op("get_hier_coord", "coords", "A, i", "LN", "the coordinate of an offset", "get_hier_coord((4,8):(8,1), 19)"),
    _op("get_flat_coord", "coords", "A, i", "LN", "the coordinate of an offset, not nested", "get_flat_coord((4,8):(8,1), 19)"),
    _op("get_1d_coord", "coords", "A, i", "LN", "the index of an offset", "get_1d_coord((4,8):(8,1), 19)"),
    _op("make_layout", "construct", "shape, stride", "KK*", "a layout of shape and stride, of modes, or LayoutRight", "make_layout((4,8), LayoutRight)"),
    _op("make_ordered_layout", "construct", "shape, order", "SM", "compact, strides growing in the order", "make_ordered_layout((2,3), (1,0))", least=1),
    *(_op(f"compact_{x}_major", "construct", "shape, first", "SI", f"the strides of a compact {x}-major layout", f"compact_{x}_major((8,(5,2)))", least=1) for x in ("col", "row")),
    _op("compact_order", "construct", "shape, order", "SM", "compact strides, growing in the order", "compact_order((2,3), (1,0))"),
    _op("make_layout_like", "construct", "A", "L", "compact, strides in the order of A's", "make_layout_like((4,4):(16,1))"),
    _op("make_fragment_like", "products", "A", "L", "compact for registers, mode 0 fastest", "make_fragment_like((4,8):(1,5))"),
    _op("make_identity_layout", "construct", "shape", "S", "a coordinate maps to itself", "make_identity_layout((4,8))"),
    _op("make_identity_tensor", "construct", "shape", "S", "that as a tensor, with its origin", "make_identity_tensor((_4,_8))"),
    _op("make_composed_layout", "composed", "outer, offset, inner", "ABA", "c -> outer(offset + inner(c))", "make_composed_layout(Sw<3,3,3>, 0, (8,64):(64,1))"),
    _op("make_swizzle", "swizzle.swizzle_of", "B, M, S", "NNN", "Swizzle<B,M,S>; with two numbers, from the masks Y and Z", "make_swizzle(3, 3, 3)", least=0, needs=2, templated=True),
    _op("make_layout_tv", "partition", "thr, val", "RR", "the tiler and TV layout of threads and their values", "make_layout_tv((4,8):(8,1), (1,8))"),
    _op("upcast", "recast", "A, n", "AN", "n elements become one; also upcast<n>(A)", "upcast((8,4), 4)", least=1, needs=2, templated=True),
    _op("downcast", "recast", "A, n", "AN", "one element becomes n; also downcast<n>(A)", "downcast((8,4):(4,1), 2)", least=1, needs=2, templated=True),
    _op("recast_layout", "recast", "A, old, new", "AYY", "elements of another type or width; also recast_layout<old,new>(A)", "recast_layout((8,4):(4,1), 64, 8)", least=1, needs=3, templated=True),
    _op("max_alignment", "recast", "A", "A", "the largest n for which upcast<n> is legal", "max_alignment((8,4):(1,16))"),
    _op("as_position_independent_swizzle_layout", "composed.position_independent", "A", "L", "a flagged smem layout on element offsets", "as_position_independent_swizzle_layout(Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1))"),
    _op("get_swizzle_portion", "swizzled", "A", "L", "the swizzle of a layout", "get_swizzle_portion(Sw<3,3,3> o 0 o (8,64):(64,1))"),
    _op("get_nonswizzle_portion", "swizzled", "A", "L", "the layout without its swizzle", "get_nonswizzle_portion(Sw<3,3,3> o 0 o (8,64):(64,1))"),
    _op("shape_div", "shapes", "a, b", "II", "a / b where one divides the other", "shape_div((4,5,6), 40)"),
    _op("ceil_div", "divide.ceil_div_tiler", "a, b", "IT", "a / b rounded up; b may be a layout", "ceil_div((4,3), (4,2))"),
    _op("product", "inttuple", "shape", "S", "the product of all extents", "product((2,(3,4)))"),
    _op("product_each", "shapes", "shape", "I", "the size of each mode", "product_each(((2,4),3))"),
    _op("product_like", "shapes", "shape, guide", "SG", "the sizes at the leaves of a coarser tuple", "product_like(((2,3),4), (0,0))"),
    _op("round_up", "shapes", "a, b", "II", "the least multiple of b from a on", "round_up((10,3), (4,2))"),
    _op("elem_scale", "shapes", "a, b", "II", "the integers of a times the sizes of b", "elem_scale((2,3), (4,(5,6)))"),
    _op("inner_product", "shapes", "a, b", "II", "the sum of the products of leaves", "inner_product((1,2), (3,4))"),
    _op("sum", "shapes.sum_", "a", "I", "the sum of all leaves", "sum((2,(3,4)))"),
    _op("compatible", "shapes", "a, b", "SS", "whether coordinates of a are coordinates of b", "compatible(24, (4,6))"),
    _op("congruent", "inttuple.same_profile", "a, b", "SS", "whether the nesting is the same", "congruent((2,(3,4)), (0,(0,0)))"),
    _op("weakly_congruent", "shapes", "a, b", "SS", "whether the nesting of a is that of b or coarser", "weakly_congruent((2,3), (2,(3,4)))"),
    _op("evenly_divides", "divide", "a, b", "ST", "whether a tiler divides a shape; b may be a layout", "evenly_divides((8,6), (4,3))"),
    _op("make_tiled_mma", "mma", "atom, layout_mnk, permutation_mnk", "XRT", "MMA atoms over a tile", "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))", least=1),
    _op("make_tiled_copy", "make_copy", "atom, thr, val", "XRR", "copy atoms over a tile, from thread and value layouts", "make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, (16,8):(8,1), (1,8))", least=2),
    _op("make_tiled_copy_impl", "make_copy", "atom, tv, tiler", "XRT", "copy atoms over a tile, from a TV layout", "make_tiled_copy_impl(Copy_Atom<UniversalCopy<float>, float>{}, ((4,4),(2,2)):((16,1),(8,4)), (8,8))"),
    *(_op(f"make_tiled_copy_{x}", f"make_copy.make_tiled_copy_operand:{x}", "atom, mma", "XX", f"a copy of a TiledMMA's operand {x}", f"make_tiled_copy_{x}(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{{}}, make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{{}}, (2,2,1), (32,32,16)))") for x in "ABC"),
    *(_op(f"make_tiled_copy_{x}", f"make_copy.make_tiled_copy_like:{x}", "atom, copy", "XX", f"a copy that matches the {side} of another", f"make_tiled_copy_{x}(Copy_Atom<UniversalCopy<float>, float>{{}}, make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{{}}, (4,8), (1,1)))") for x, side in (("S", "source"), ("D", "destination"))),
    _op("make_tiled_copy_C_atom", "make_copy", "atom, mma", "XX", "the smallest copy of a TiledMMA's C", "make_tiled_copy_C_atom(Copy_Atom<SM90_U32x4_STSM_N, half_t>{}, make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>{}))"),
    _op("make_cotiled_copy", "make_copy", "atom, tv, data", "XRR", "a copy of threads and values given as offsets of a layout", "make_cotiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, (4,2):(2,1), (4,2):(2,1))"),
    _op("get_slice", "views", "tiled, thread", "XN", "one thread's view of a TiledMMA or TiledCopy", "get_slice(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}), 5)"),
    *(_op(f"partition_{x}", f"{'copy' if x in 'SD' else 'mma'}.partition:{x}", "thr, A", "XL", f"what the thread holds of {what}", example) for x, what, example in (
        ("A", "A: (MMA,MMA_M,MMA_K)", "partition_A(get_slice(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}), 5), (32,32))"),
        ("B", "B: (MMA,MMA_N,MMA_K)", "partition_B(get_slice(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}), 5), (32,32))"),
        ("C", "C: (MMA,MMA_M,MMA_N)", "partition_C(get_slice(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}), 5), (32,32))"),
        ("S", "a source: (CPY,CPY_M,CPY_N)", "partition_S(get_slice(make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, (4,8), (1,1)), 5), (8,8))"),
        ("D", "a destination: (CPY,CPY_M,CPY_N)", "partition_D(get_slice(make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, (4,8), (1,1)), 5), (8,8))"),
    )),
    *(_op(f"retile_{x}", "copy.retile", "copy, A", "XL", "a fragment as the copy's values", f"retile_{x}(make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{{}}, (4,8), (1,1)), (1,2,2))") for x in "SD"),
    *(_op(f"partition_shape_{x}", f"mma.partition_shape:{x}", "mma, shape", "XS", f"the shape of a thread's part of {x}", f"partition_shape_{x}(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{{}}), (32,32))") for x in "ABC"),
    *(_op(f"partition_fragment_{x}", f"umma.partition_fragment:{x}", "mma, A", "XV", f"what a thread needs for its part of {x}: registers, descriptors or tensor memory", f"partition_fragment_{x}(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{{}}), (32,32))") for x in "ABC"),
    *(_op(f"thrfrg_{x}", f"mma.thrfrg:{x}", "mma, A", "XL", f"{x} as ((ThrV,(...)),(FrgV,(...)))", f"thrfrg_{x}(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{{}}), (32,32))") for x in "ABC"),
    *(_op(f"tidfrg_{x}", f"copy.tidfrg:{x}", "copy, A", "XL", "a tensor as (Thr,(FrgV,FrgX),(Rest...))", f"tidfrg_{x}(make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{{}}, (4,8), (1,1)), (8,8))") for x in "SD"),
    *(_op(f"get_layout{x}_TV", f"{'copy.layout_sd' if x in 'SD' else 'mma.layout_tv'}:{x}", "tiled", "X", f"(thread, value) of {x} -> tile", f"get_layout{x}_TV({'make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, (4,8), (1,1))' if x in 'SD' else 'make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{})'})") for x in "ABCSD"),
    _op("get_thr_layout_vmnk", "views", "mma", "X", "(thread of the atom, atom along M, N, K) -> thread", "get_thr_layout_vmnk(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1)))"),
    _op("tile_shape", "views", "tiled", "X", "the tile of a TiledMMA or TiledCopy", "tile_shape(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1)))"),
    _op("tile_size", "views", "tiled, i", "XN", "an extent of the tile; also tile_size<i>(tiled)", "tile_size<1>(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1)))", least=1, templated=True),
    _op("domain_offset", "slicing", "crd, A", "IH", "the layout with its origin at a coordinate, and the offset", "domain_offset((1,2), (4,8):(8,1))"),
    _op("make_gmma_desc", "descriptor", "A, major", "UJ", "wgmma's descriptor of an operand in shared memory; also make_gmma_desc<GMMA::Major::K>(A)", "make_gmma_desc<GMMA::Major::K>(tile_to_shape(GMMA::Layout_K_SW32_Atom<half_t>{}, (64,16)))", least=1, templated=True),
    _op("make_umma_desc", "descriptor", "A, major", "UJ", "tcgen05.mma's descriptor of an operand in shared memory; also make_umma_desc<UMMA::Major::K>(A)", "make_umma_desc<UMMA::Major::K>(tile_to_shape(UMMA::Layout_K_SW128_Atom<half_t>{}, (128,64)))", least=1, templated=True),
    _op("make_instr_desc", "instruction", "a, b, c, M, N, majors...", "J*", "tcgen05.mma's instruction descriptor, from template arguments", "make_instr_desc<half_t, half_t, float, 128, 256, UMMA::Major::K, UMMA::Major::K>()", least=0, needs=7, templated=True),
    _op("make_instr_desc_block_scaled", "instruction", "a, b, c, sf, M, N, majors...", "J*", "the instruction descriptor of a block-scaled MMA", "make_instr_desc_block_scaled<float_e4m3_t, float_e4m3_t, float, float_ue8m0_t, 128, 128, UMMA::Major::K, UMMA::Major::K>()", least=0, needs=8, templated=True),
    *(_op(f"make_fragment_{x}", f"umma.make_fragment:{x}", "mma, A", "FF", f"{x} of an MMA as descriptors, in tensor memory or registers; for a layout, registers", f"make_fragment_{x}(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{{}}), (4,1,1))", least=1) for x in "ABC"),
    *(_op(f"make_fragment_{x}", f"umma.make_fragment_sf:{x}", "mma, A", "XF", f"the tensor memory of {x} for its layout in shared memory", f"make_fragment_{x}(SM100_MMA_MXF8F6F4_SS<float_e4m3_t,float_e4m3_t,float,float_ue8m0_t,128,128,UMMA::Major::K,UMMA::Major::K>{{}}, ((((32,4),1),(32,1)),1,(4,1)))") for x in ("SFA", "SFB")),
    _op("make_fragment_E", "umma", "mma, shape", "XF", "the tensor memory of the metadata of a sparse MMA, for the partitioned shape of A", "make_fragment_E(SM100_MMA_S8_SS_SPARSE<int8_t,int8_t,int32_t,128,64,UMMA::Major::K,UMMA::Major::K>{}, ((128,64),1,2))"),
    _op("tile_to_mma_shape", "umma", "A, shape, order", "ASM", "an atom of shared memory tiled to ((MMA_M,MMA_K),M,K,...)", "tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<half_t>{}, ((128,16),1,4))", least=2),
    _op("AtomThrID", "umma", "mma", "X", "the threads of an MMA's atom; for tcgen05.mma, its CTAs", "AtomThrID(SM80_16x8x16_F32F16F16F32_TN{})"),
    _op("make_tmem_copy", "tmem", "op, A", "XU", "a copy between tensor memory and the registers of four warps", "make_tmem_copy(SM100_TMEM_LOAD_32dp32b1x{}, make_tensor(make_tmem_ptr<float>(0), (128,64):(65536,1)))"),
    _op("make_utccp_copy", "tmem", "op, A", "XU", "a copy from shared memory to tensor memory", "make_utccp_copy(SM100_UTCCP_128dp256bit_1cta{}, make_tensor(make_tmem_ptr<float>(0), (128,64):(65536,1)))"),
    _op("tensor_memory", "tmem", "A...", "U*", "tensors placed one after another in tensor memory", "tensor_memory(make_tensor(make_tmem_ptr<float>(0), (128,256):(65536,1)), make_tensor(make_tmem_ptr<float>(0), (128,128):(65536,1)))", least=1),
    _op("find_tmem_tensor_col_offset", "tmem", "A", "U", "how many columns of tensor memory a tensor takes", "find_tmem_tensor_col_offset(make_tensor(make_tmem_ptr<float>(0), (128,64):(65536,1)))"),
    _op("make_tma_copy", "make_tma", "op, A, smem, tile, cluster", "XULTL", "the TMA copy of a tensor to tiles in shared memory; also make_tma_copy<type>(...)", "make_tma_copy(SM90_TMA_LOAD{}, make_tensor(make_gmem_ptr<half_t>(0), (1024,256):(256,1)), tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (128,64)), (128,64), 1)", least=3, keyword="internal", templated=True),
    _op("make_im2col_tma_copy", "im2col", "op, A, smem, tile, more...", "XULT*", "the TMA copy of the im2col matrix of a tensor ((w,h,d,n),c): tile, CTAs, corners, paddings, traversal strides, filter", "make_im2col_tma_copy(SM90_TMA_LOAD_IM2COL{}, make_tensor(make_gmem_ptr<half_t>(0), ((8,8,2),64):((64,512,4096),1)), tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (64,64)), (64,64), 1, (-1,-1), (-1,-1), (-1,-1), (1,1), (1,1), (0,0), (1,1))", least=3),
    _op("make_tma_atom", "make_tma", "op, A, smem, tile, cluster", "XULTL", "the TMA atom of a tensor and a tile in shared memory; also make_tma_atom<type>(...)", "make_tma_atom(SM90_TMA_LOAD{}, make_tensor(make_gmem_ptr<half_t>(0), (1024,256):(256,1)), tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (128,64)), (128,64), 1)", least=3, keyword="internal", templated=True),
    *(_op(f"make_tma_copy_{x}_sm90", f"make_tma.make_tma_copy_sm90:{x}", "op, A, smem, tile" + ", cluster" * (x != "C"), "XULT" + "L" * (x != "C"), f"the TMA copy of {x} of a tile (M,N,K)", f"make_tma_copy_{x}_sm90(SM90_TMA_LOAD{{}}, make_tensor(make_gmem_ptr<half_t>(0), (1024,256):(256,1)), tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{{}}, (128,64)), {'(128,64,32)' if x == 'C' else '(128,128,64), (1,1,1)'})", keyword="internal", templated=True) for x in "ABC"),
    *(_op(f"make_tma_atom_{x}_sm100", f"tma_parts.make_tma_atom_sm100:{x}", "op, A, smem, tile, mma, cluster", "XULTXL", f"the TMA atom of operand {x} of a tcgen05.mma", f"make_tma_atom_{x}_sm100(SM90_TMA_LOAD{{}}, make_tensor(make_gmem_ptr<half_t>(0), (1024,256):(256,1)), tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<half_t>{{}}, ((128,16),1,4)), (128,128,64), SM100_MMA_F16BF16_SS<half_t,half_t,float,128,128,UMMA::Major::K,UMMA::Major::K>{{}}, ((1),1,1,1))", keyword="internal", templated=True) for x in "AB"),
    *(_op(f"make_tma_copy_{x}_sm100", f"tma_parts.make_tma_copy_sm100:{x}", "op, A, smem, tile, mma", "XULTX", f"the TMA copy of operand {x} of a tcgen05.mma", f"make_tma_copy_{x}_sm100(SM90_TMA_LOAD{{}}, make_tensor(make_gmem_ptr<half_t>(0), (1024,256):(256,1)), tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<half_t>{{}}, ((128,{'128' if x == 'C' else '16'}),1,{'1' if x == 'C' else '4'})), (128,128,64), SM100_MMA_F16BF16_SS<half_t,half_t,float,128,128,UMMA::Major::K,UMMA::Major::K>{{}})", keyword="internal", templated=True) for x in "ABC"),
    _op("get_tma_tensor", "tma", "tma, shape", "XS", "the coordinate tensor of a TMA", "get_tma_tensor(make_tma_copy(SM90_TMA_LOAD{}, make_tensor(make_gmem_ptr<half_t>(0), (1024,256):(256,1)), (8,32):(32,1)), (1024,256))"),
    _op("tma_partition", "tma_parts", "tma, cta, ctas, smem, gmem", "XCLFF", "the parts of a coordinate tensor and of shared memory that a CTA copies", "tma_partition(make_tma_copy(SM90_TMA_LOAD{}, make_tensor(make_gmem_ptr<half_t>(0), (1024,256):(256,1)), (8,32):(32,1)), 0, 1:0, ((8,32)):((32,1)), ((8,32)):((1@1,1@0)))"),
    _op("create_tma_multicast_mask", "tma_parts", "cluster, crd, i...", "LCN*", "the CTAs that receive a multicast, one bit each; also create_tma_multicast_mask<i...>(cluster, crd)", "create_tma_multicast_mask<2>(((1),2,4,1):((0),1,2,0), (0,1,0,0))", least=2, templated=True),
    _op("mma_operands", "with_operands", "mma, A, B", "XFF", "an MMA with its operands in shared or tensor memory, and who holds what", "mma_operands(SM100_MMA_F16BF16_2x1SM_SS<half_t,half_t,float,256,128,UMMA::Major::K,UMMA::Major::K>{})", least=1),
    _op("stages", "staged", "object...", "F*", "objects as the numbered stages of a kernel", "stages(GMMA::Layout_K_SW128_Atom<half_t>{}, SM80_16x8x16_F32F16F16F32_TN{})", least=1),
    _op("SfAtom", "scale_factors.sf_atom", "vector", "N", "the block of 128 rows x 4 scale factors; also Sm1xxBlockScaledConfig<vector>::SfAtom", "SfAtom(32)", least=0, needs=1, templated=True),
    *(_op(f"tile_atom_to_shape_{x}", f"scale_factors.tile_atom_to_shape:{x}", "shape, vector", "IN", f"all scale factors of a problem (M,N,K,L); also Sm1xxBlockScaledConfig<vector>::tile_atom_to_shape_{x}(shape)", f"tile_atom_to_shape_{x}((256,128,256,1), 32)", least=1, needs=2, templated=True) for x in ("SFA", "SFB")),
    *(_op(f"blockwise_{what}{x}", f"scale_factors.blockwise_of_{kind}:{x}", "shape, m, n, k, majorSFA, majorSFB", "INNNJJ", f"plain scale factors, {words}; also Sm1xxBlockwiseScaleConfig<m,n,k,majorSFA,majorSFB>::{what}{x}(shape)", f"blockwise_{what}{x}((256,256,512), 1, 128, 128)", least=1, needs=4, templated=True) for what, kind, words in (("tile_atom_to_shape_", "problem", "all of a problem (M,N,K,L)"), ("smem_atom_layout", "tile", "those of a tile (M,N,K)")) for x in ("SFA", "SFB")),
    *(_op(f"deduce_smem_layout{x}", f"scale_factors.deduce_smem_layout:{x}", "mma, tile, vector", "XIN", f"the scale factors of a tile in shared memory; also Sm1xxBlockScaledConfig<vector>::deduce_smem_layout{x}(mma, tile)", f"deduce_smem_layout{x}(SM100_MMA_MXF8F6F4_SS<float_e4m3_t,float_e4m3_t,float,float_ue8m0_t,128,128,UMMA::Major::K,UMMA::Major::K>{{}}, (128,128,128), 32)", least=2, needs=3, templated=True) for x in ("SFA", "SFB")),
)  # fmt: skip

OPS: dict[str, Op] = {op.name: op for op in _ROWS}

# The names of CuTe's Python DSL and of older headers for the same things.
ALIASES = {
    "group_modes": "group",
    "compose": "composition",
    "prepend_ones": "prepend",
    "append_ones": "append",
    "recast": "recast_layout",
    "get_flat_coords": "get_flat_coord",
    "slice_layout": "slice",
    "ceil_div_layout": "ceil_div",
    "get_thread_slice": "get_slice",
    "thr_size": "size",
    "tile_size_mnk": "tile_size",
    "make_tensor_like": "make_layout_like",
    "inner_partition": "local_tile",
}
# What other libraries have under these names, in CuTe.
ELSEWHERE = {
    **dict.fromkeys(("transpose", "permute", "movedim", "swapaxes"), "select<1,0>(A)"),
    **dict.fromkeys(("reshape", "view"), "composition(A, (6,4)), which takes the elements column by column"),
    **dict.fromkeys(("inverse", "invert", "inv"), "right_inverse(A) or left_inverse(A)"),
    **dict.fromkeys(("numel", "len", "count"), "size(A)"),
    **dict.fromkeys(("concat", "concatenate", "stack", "cat"), "append(A, B)"),
    **dict.fromkeys(("squeeze", "simplify", "normalize"), "coalesce(A)"),
    **dict.fromkeys(("split", "chunk", "tiled"), "zipped_divide(A, (2,4))"),
    **dict.fromkeys(("repeat", "kron"), "logical_product(A, 4)"),
    **dict.fromkeys(("broadcast", "expand"), "a stride of 0: (4,8):(1,0)"),
    **dict.fromkeys(("pad", "padded"), "a larger stride: (32,32):(33,1)"),
    **dict.fromkeys(("offset", "linearize", "ravel"), "crd2idx((1,2), A), or A(1,2)"),
    **dict.fromkeys(("unravel", "delinearize"), "idx2crd(9, (4,8))"),
    "ndim": "rank(A)",
}


def find(name: str) -> Op:
    """The operation of a name, with or without `cute::` or `cute.`; an AlgebraError names the nearest ones.

    `dsl.` before the last word means what the DSL's compiler computes, where that is something else: see dsl.py.

    >>> find("cute::group_modes").name
    'group'
    >>> [str(find(name).call([Layout((8, 1)), Layout((4, 1))])) for name in ("raked_product", "cute.dsl.raked_product")]
    ['((4,8),(1,1)):((8,1),(0,0))', '((4,8),1):((8,1),0)']
    """
    short = name.replace("::", ".").rsplit(".", 1)[-1]
    short = f"blockwise_{short}" if "BlockwiseScaleConfig" in name else short
    short = ALIASES.get(short, short)
    if short in OPS:
        return replace(OPS[short], module="dsl", function=short) if ".dsl." in f".{name}" else OPS[short]
    from difflib import get_close_matches

    near = get_close_matches(short, [*OPS, *ALIASES], n=3, cutoff=0.55)
    hint = elsewhere(short) or (f"did you mean {', '.join(near)}?" if near else "cute-viz list ops names them all")
    raise AlgebraError(f"there is no operation {name!r}", hint=hint)


def elsewhere(word: str) -> str | None:
    """What CuTe has for a word of other libraries; None for any other word.

    >>> elsewhere("transpose")
    'in CuTe it is select<1,0>(A)'
    """
    return f"in CuTe it is {ELSEWHERE[word]}" if word in ELSEWHERE else None
