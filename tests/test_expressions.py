"""What expressions give, and the words of those that are refused: the ways through the algebra that few take."""

from __future__ import annotations

import pytest

from cute_viz import parse
from cute_viz.algebra.inttuple import show
from cute_viz.errors import CuteVizError
from cute_viz.source.text import read as read_text
from cute_viz.spec import read

GIVES = [
    ("composition(Sw<2,0,3>, Sw<1,0,3>)", "Sw<1,1,3>"),
    ("coalesce(composition(8:1, Sw<1,0,2>))", "Sw<1,0,2> o 0 o 8:1"),
    ("composition((4,8):(8,1), (2,_))", "(2,8):(8,1)"),
    ("upcast<2>(Sw<3,3,3>)", "Sw<3,2,3>"),
    ("make_fragment_like(8:3)", "8:1"),
    ("idx2crd((1,2), (4,8), (8,1))", "(0,2)"),
    ("ceil_div(4, (2,2))", "1"),
    ("right_inverse(4)", "4:1"),
    ("left_inverse(4)", "4:1"),
    ("left_inverse(Sw<2,0,3> o 8 o (4,8):(8,1))", "(8,4):(4,1) o -8 o Sw<2,0,3>"),
    ("left_inverse(_4:_-1)", "(_-1,_4):(_0,_1)"),  # as CuTe prints these four
    ("left_inverse((_4,_8):(_-1,_4))", "(_-1,_-4,_8):(_0,_1,_4)"),
    ("left_inverse((_2,_3,_2):(_-2,_-2,_8))", "(_-2,_-4,_2):(_0,_2,_6)"),
    ("left_inverse((_4,_3):(_-3,_0))", "(_-3,_3):(_0,_1)"),
    ("max_common_vector(4:1, 1)", "1"),
    ("replace(8, 5:7, 0)", "5:7"),
    ("make_layout((_2,4))", "(_2,4):(_1,_2)"),  # as CuTe prints these five
    ("make_layout((1,_2,_4))", "(1,_2,_4):(_1,1,2)"),
    ("make_layout((_2,4,_1), LayoutRight)", "(_2,4,_1):(4,_1,_0)"),
    ("make_layout((_2,(4,_4)))", "(_2,(4,_4)):(_1,(_2,8))"),
    ("make_layout((_4,8), LayoutRight)", "(_4,8):(8,_1)"),
    ("make_layout((4,8))", "(4,8):(1,4)"),
    ("(_4,_8):(_m1,_m32{})", "(_4,_8):(_-1,_-32)"),
    ("_-3", "_-3"),
    ("evenly_divides((32,64), (8:2,32))", "1"),
    ("evenly_divides((12,64), (8:2,32))", "0"),
    ("evenly_divides((16,64), (8:0,32))", "0"),
    ("ceil_div((32,64,7), (8:2,32))", "((2,2),2,7)"),
    ("ceil_div(((4,8),64), (8:2,32))", "((2,2),2)"),
    ("filter_zeros(Sw<3,3,3> o 0 o (8,64):(64,0))", "Sw<3,3,3> o 0 o (8,64):(64,0)"),
    ("composition(Sw<0,3,3>, 0, (8,64):(64,1))", "(8,64):(64,1)"),
    ("make_composed_layout(Sw<0,3,3>, 0, (8,64):(64,1))", "Sw<0,3,3> o 0 o (8,64):(64,1)"),
    ("tile_to_shape((8,4):(4,1), (16,8,3))", "((8,2),(4,2),(1,3)):((4,32),(1,64),(0,128))"),
    ("tile_to_shape((8,4):(4,1), (16,8,3), (2,1,3))", "((8,2),(4,2),(1,3)):((4,64),(1,32),(0,128))"),
    ("tile_to_shape((2,4), (8,(2,8)))", "((2,4),(4,4)):((1,8),(2,32))"),
    ("blocked_product(((2,2),2):((1,2),4), (3,4):(1,3))", "(((2,2),3),(2,4)):(((1,2),8),(4,24))"),
    ("blocked_product((1,8):(0,1), (4,1):(1,0))", "((1,4),(8,1)):((0,8),(1,0))"),
    ("raked_product((2,2):(1,2), 4:1)", "((4,2),(1,2)):((4,1),(0,2))"),
    ("auto x = (Int<8>{}, Int<4>{});", "_4"),  # C++'s comma
    ("make_layout((Int<8>{}, Int<4>{}))", "_4:_1"),
    ("(Int<8>{}, Int<4>{}):(Int<4>{}, _1)", "(_8,_4):(_4,_1)"),
    ("((Int<8>{}, Int<4>{}), 8)", "((_8,_4),_8)"),
    ("recast_layout<uint_byte_t<1>,uint_bit_t<32>>((8,4))", "(_2,_4):(_1,_2)"),
    ("rank(select<0,1>(composition(Swizzle<3,4,3>{}, Layout<Shape<_4,_8,_2>>{})))", "_2"),
    ("cute::Tensor<cute::ViewEngine<cute::smem_ptr<float *>>, cute::Layout<cute::C<4>, cute::C<1>>>", "_4:_1"),
    ("size(make_tiled_copy(Copy_Atom<UniversalCopy<uint_byte_t<16>>,float>{}, (_16,_8):(_8,_1), (_1,_4)))", "_128"),
    ("select<0,2>((128,64,32))", "(128,32)"),
    ("make_layout(select<0,2>(Shape<_128,_64,_32>{}))", "(_128,_32):(_1,_128)"),
    ("select<0,2>((128,64,32):(1,128,8192))", "(128,32):(1,8192)"),
    ("take<1,3>((2,3,4))", "(3,4)"),
    ("append((3,2), 5:7)", "(3,2,5:7)"),
    ("append((3,2):(1,3), 5:7)", "(3,2,5):(1,3,7)"),
    ("prepend<4>((3,2))", "(1,1,3,2)"),
    ("replace<1>((3,2), (4,4))", "(3,(4,4))"),
    ("flatten((2,(3,4)))", "(2,3,4)"),
    ("zip((2,3), (4,5))", "((2,4),(3,5))"),
    ("slice((2,_), (4,8))", "(8)"),
    ("dice((2,_), (4,8))", "(4)"),
    ("upcast<4>(Sw<2,3,3> o smem_ptr[8b](unset) o (8,32):(32,1))", "Sw<2,3,3> o smem_ptr[32b](unset) o (8,8):(8,1)"),
    ("slice((1,_), Sw<2,3,3> o smem_ptr[16b](unset) o (8,32):(32,1))", "((4,2,4)):((1,-4,8))"),
    ("slice((1,_), (4,8):(8,1) o 3 o (4,8):(8,1))", "(4,8):(8,1) o 11 o (8):(1)"),
    ("make_swizzle(7, 56)", "Sw<3,0,-3>"),
    ("composition(Sw<2,0,3>, (4,8):(1@0,1@1))", "Sw<2,0,3> o 0 o (4,8):(1@0,1@1)"),
    ("get_slice(make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, (4,8), (1,1)), 5)", "ThrCopy"),
    ("2@0 * 3", "6@0"),
    ("3 * 2@0", "6@0"),
    ("a=(4,8):(8,1); a()", "(4,8):(8,1)"),
    ("a=(4,8):(8,1); a.size()", "32"),
    ("a=(4,8):(8,1); a.shape", "(4,8)"),
    ("a=(4,8):(8,1); a.get<1>()", "8:1"),
    ("a=(4,8):(8,1); a.stride", "(8,1)"),
    ("TiledCopy<Copy_Atom<UniversalCopy<float>, float>, Layout<Shape<_32,_1>,Stride<_1,_0>>, Shape<_4,_8>>{}", "TiledCopy"),
    ("cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Float16, num_bits_per_copy=128)", "Copy_Atom"),
    ("cute.nvgpu.MmaUniversalOp(cutlass.Float32)", "MMA_Atom"),
    ("cute.nvgpu.warpgroup.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (64,128,16), None, None, None)", "MMA_Atom"),
    ("auto x = (4,8):(8,1)", "(_4,_8):(_8,_1)"),
    ("Layout<Shape<_4,_8>> x = (4,8):(8,1)", "(_4,_8):(_8,_1)"),
    ("Layout<Shape<_4,_8>> x{}", "(_4,_8):(_1,_4)"),
]
REFUSED = [
    ("composition(8:1, 0, 8:1, 4)", "composition(A, B) does not take 4 operands"),
    ("composition(Sw<2,0,3>, Sw<1,0,2>)", "Can only merge swizzles of the same shift."),
    ("composition(Sw<2,0,3>, 7)", "a swizzle can only be composed with a layout or another swizzle"),
    ("composition(half_t, 7)", "composition(A, B): half_t is not a layout"),
    ("composition((4,8):(8,1), (2,2):(1@0,1@2))", "coordinates of 3 modes do not index a layout of 2"),
    ("crd2idx((1,2), 8)", "crd2idx((1,2), 8): the coordinate is a tuple, the shape an integer"),
    ("idx2crd((1,2), (4,8), 8)", "idx2crd((1,2), (4,8), 8): Mismatched Ranks"),
    ("idx2crd((1,2,3), (4,8))", "(1,2,3) does not fit the shape (4,8)"),
    ("ceil_div((4,3), (2,2,2))", "ceil_div: (2,2,2) has more modes than (4,3)"),
    ("ceil_div(4, 0)", "ceil_div(4,0) divides by 0"),
    ("shape_div(4, 0)", "shape_div(4,0) divides by 0"),
    ("complement(Sw<2,0,3>, 8)", "complement(A, cotarget): Sw<2,0,3> is not a layout"),
    ("complement(4:1, 0)", "complement(4:1, 0): the cotarget's extents must be 1 or more"),
    ("right_inverse(half_t)", "right_inverse(A): half_t is not a layout"),
    ("left_inverse((8,16) o (1,2) o (4,8):(1@0,1@1))", "its offset is a coordinate"),
    ("right_inverse(4:1/2@0)", "right_inverse(4:1/2@0): the stride 1/2@0 is a fraction"),
    ("left_inverse((4,8):(-8,1))", "Left inverse divisibility condition: the stride 1 is not a multiple of -8"),
    ("size(left_inverse(_4:_-1))", "(_-1,_4):(_0,_1) is not a shape or a layout"),
    ("cute.left_inverse(cute.make_layout(4,stride=-1))", "left_inverse(4:-1): the stride -1 is negative"),  # as the DSL 4.8.1
    ("cute.recast_layout(8,8,cute.make_identity_tensor((8,4)))", "recast_layout of the DSL does not take this kind of operand"),
    ("logical_product((2,4):(1,1), 1:0)", "Non-injective Layout detected in complement"),
    ("max_common_layout(half_t, 4:1)", "max_common_layout(A, B): half_t is not a layout"),
    ("take((2,3,4), 1, 9)", "take<1,9>((2,3,4)): range out of bounds: the modes are 0 to 2"),
    ("(4,8):(8,1) o (1,2,3) o (4,8):(1@0,1@1)", "the offset (1,2,3) does not fit (4,8):(8,1)"),
    ("(4,8):(8,1) o 3 o (4,8):(1@0,1@1)", "the offset 3 does not fit (4,8):(8,1)"),
    ("warp-level F16/BF16 MMA Operation\n  A/B data type         = Float16\n  Instruction shape MNK = (16, 8, 16)\n", "no layouts"),
    ("take((2,3,4), 2, 1)", "take<2,1>((2,3,4)): empty range error"),
    ("zipped_divide((8,6), (4,3,2))", "logical_divide((8,6):(1,8), (4,3,2)): Too many modes in tiler."),
    ("tiled_divide((8,6), (_,3))", "Mismatched ranks: there is no (tile, rest) pair to take apart"),
    ("local_tile((8,6), (4,3), (1,1,1))", "the coordinate has 3 modes, but there are 2"),
    ("local_partition((8,6), (4,2):(2,1), _)", "local_partition(A, thr, i, proj): _ is not an integer"),
    ("blocked_product((2,2):(1,2), 1@0)", "blocked_product(A, B): 1@0 is not a layout"),
    ("upcast<4>(Sw<2,3,3> o 2 o (8,32):(32,1))", "the offset is not a multiple of 4"),
    ("upcast<4>(4:1@0)", "upcast<4>(4:1@0): the stride 1@0 is not an integer"),
    ("Sw<2,3,3> o (1,2) o (4,8):(1@0,1@1)", "the offset is a coordinate, but a swizzle takes integers"),
    ("filter(Sw<3,3,3> o 0 o (8,64):(64,1))", "CuTe has no filter for a composed layout"),
    ("upcast<4>(half_t)", "upcast(A, n): half_t is not a layout"),
    ("upcast<3>(Sw<2,3,3> o 0 o (8,32):(32,1))", "upcast<3>(Sw<2,3,3>): N must be a power of two"),
    ("slice((1,_), Sw<2,3,3>)", "slice(crd, A): Sw<2,3,3> is not a layout"),
    ("dice((1,_,_), (4,8):(8,1))", "dice((1,_,_), (4,8)): Mismatched Ranks"),
    ("slice((1,_), Sw<2,3,3> o 0 o (6,8):(8,1))", "Shape Divisibility Condition: 6 elements are not a multiple of the 4 in 4:8"),
    ("make_swizzle(5, 40)", "the bits of a mask must be contiguous"),
    ("get_swizzle_portion((4,8):(8,1) o 3 o (4,8):(8,1))", "the outer part is not a swizzle"),
    ("get_nonswizzle_portion((4,8):(8,1) o 3 o (4,8):(8,1))", "the outer part is not a swizzle"),
    ("logical_product((4,8):(8,1), (4,8):(8,1) o 3 o 4:1)", "only a swizzled layout can be a tiler on the right"),
    ("F2 * 3", "'*' is for integers"),
    ("(4,8):(8,1) o 1/2@0", "composition(A, B): 1/2@0 is not a layout, a tiler or an offset"),
    ("tile_size<3>(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}))", "the tile (16,8,16) has no mode 3"),
    ("4 / 0", "division by zero"),
    ("4 % 0", "division by zero"),
    ("(4,8)[5]", "unexpected '[' after the expression"),
    ("((4,8):(8,1))(2,3,4)", "the coordinate (2,3,4) does not fit the shape (4,8)"),
    ("? / 4", "'?' is a run-time value, whose number is not in the print"),
    ("Int<(4,8)>{}", "Int<N> takes an integer"),
    ("smem_ptr_flag_bits<half_t>", "smem_ptr_flag_bits<N> takes the bits of an element"),
    ("GMMA::Layout_K_SW128_Atom<7>{}", "the width of 7 is not known"),
    ("make_layout((4,8))()", "a layout is called with a coordinate"),
    ("8(2)", "a tuple right after a number"),
    ("(8)(2)", "two tuples side by side"),
    ("Sw<2,0,3>(1,2)", "a swizzle takes one offset"),
    ("a=Sw<2,0,3>; a(1,2)", "Sw<2,0,3> takes one integer"),
    ("a=half_t; a(1)", "half_t is not a layout that a coordinate could be given to"),
    ("Copy_Atom<half_t, half_t>{}", "half_t is not a copy operation"),
    ("Copy_Atom<UniversalCopy<uint128_t>>{}", "a copy atom needs an operation and a value type"),
    ("cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Float16, num_bits_per_copy=48)", "no instruction copies 48 bits"),
    ("cute.make_layout((4,8), stride=('a',1))", "(a,1) is not a shape"),
    ("cute.make_layout(stride=(4,1))", "cute.make_layout needs shape"),
    ("-(3)", "'-' is for integers"),
    ("4*", "the expression ends too early"),
    ("Layout<Shape<_4>, Underscore>{}", "shape (4) and stride _ do not have the same nesting"),
]


@pytest.mark.parametrize(("text", "first"), GIVES)
def test_gives(text: str, first: str) -> None:
    assert show(read(text).pick()).partition("\n")[0] == first


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_is_refused(text: str, words: str) -> None:
    with pytest.raises(CuteVizError) as caught:
        read(text).pick()
    assert words in caught.value.message
    assert caught.value.span is not None


@pytest.mark.parametrize(("text", "first"), [("a*b*c", "24"), ("a*b", "6"), ("a*b+1", "7"), ("a*b; c", "4")])
def test_a_product_of_names_declares_nothing(text: str, first: str) -> None:
    assert show(parse(text, {"a": 2, "b": 3, "c": 4})) == first


@pytest.mark.parametrize("text", ["composition(A, 8:1)", "logical_divide(A, 4:1)", "coalesce(A)", "size(A)", "rank(A)"])
def test_a_name_without_a_value_is_no_integer_where_a_layout_may_stand(text: str) -> None:
    with pytest.raises(CuteVizError, match="'A' is undefined"):
        read_text(text, free=True)
