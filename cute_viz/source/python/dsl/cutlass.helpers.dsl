# The DSL's helpers for Hopper and Blackwell: layouts of shared memory, tiled MMAs and epilogue tiles that they choose.
# A name begins with the module that it is of, sm90 or sm100, where that matters.
# Sources: cutlass/utils/hopper_helpers.py, blackwell_helpers.py, blockscaled_layout.py and cutlass/cute/nvgpu/*/helpers.py of the
# Python DSL 4.7, and CUTLASS's cute/atom/mma_traits_sm100.hpp.
import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, tcgen05, warp, warpgroup
from cutlass.cute.nvgpu.warpgroup import OperandSource
from cutlass.cute.nvgpu.warpgroup import SmemLayoutAtomKind as Kind
from cutlass.utils import LayoutEnum

_F8F6F4 = (cutlass.Float8E4M3FN, cutlass.Float8E5M2, cutlass.Float6E3M2FN, cutlass.Float6E2M3FN, cutlass.Float4E2M1FN)
_HALVES, _BYTES, _FLOATS = (cutlass.Float16, cutlass.BFloat16), (cutlass.Int8, cutlass.Uint8), (cutlass.Float32, cutlass.TFloat32)
_TYPES = (*_F8F6F4, *_HALVES, *_BYTES, *_FLOATS)
_K = {1024: Kind.K_SW128, 512: Kind.K_SW64, 256: Kind.K_SW32, 0: Kind.K_INTER}
_MN = {1024: Kind.MN_SW128, 512: Kind.MN_SW64, 256: Kind.MN_SW32, 0: Kind.MN_INTER}
_ROWS = {Kind.K_SW128: 3, Kind.K_SW64: 2, Kind.K_SW32: 1, Kind.K_INTER: 0}
_COLUMNS = {Kind.MN_SW128: 3, Kind.MN_SW64: 2, Kind.MN_SW32: 1, Kind.MN_INTER: 0, Kind.MN_SW128_32B: 3}
_STORED = ((32, 16, 16, 256, False), (16, 16, 16, 128, True))  # by stmatrix: bits of accumulators and values, lanes, columns, packs
_LOADS = {
    (16, 32): tcgen05.Ld16x32bx2Op,
    (16, 64): tcgen05.Ld16x64bOp,
    (16, 128): tcgen05.Ld16x128bOp,
    (16, 256): tcgen05.Ld16x256bOp,
    (32, 32): tcgen05.Ld32x32bOp,
}


def _is_row_major(layout):
    if layout not in (LayoutEnum.ROW_MAJOR, LayoutEnum.COL_MAJOR):
        raise ValueError("the order of a tensor must be LayoutEnum.ROW_MAJOR or LayoutEnum.COL_MAJOR")
    return layout == LayoutEnum.ROW_MAJOR


def _is_k(mode):
    if mode not in (OperandMajorMode.K, OperandMajorMode.MN):
        raise ValueError("a major mode must be OperandMajorMode.K or OperandMajorMode.MN")
    return mode == OperandMajorMode.K


def _widest(k_major, bits, extent, special=False):
    """The widest swizzle whose atom the contiguous extent of a tile is a multiple of."""
    if extent % 8 or extent * bits % 128:
        raise ValueError(f"{extent} contiguous elements of {bits} bits fill no row of a shared-memory atom")
    if special and not k_major and bits == 32 and extent % 32 == 0:
        return Kind.MN_SW128_32B
    for row in (1024, 512, 256, 0):
        if row == 0 or extent * bits % row == 0:
            return (_K if k_major else _MN)[row]


def make_smem_layout_atom(kind, element_type):
    """8 rows of 128 to 1024 bits under a swizzle, in elements."""
    if kind not in _ROWS and kind not in _COLUMNS:
        raise ValueError("make_smem_layout_atom takes a SmemLayoutAtomKind and an element type")
    rows = _ROWS[kind] if kind in _ROWS else _COLUMNS[kind]
    length = (128 << rows) // element_type.width
    if kind in _ROWS:
        inner = cute.make_layout((8, length), stride=(length, 1))
    else:
        inner = cute.make_layout((length, 8), stride=(1, length))
    swizzle = cute.make_swizzle(2, 5, 2) if kind == Kind.MN_SW128_32B else cute.make_swizzle(rows, 4, 3)
    return cute.make_composed_layout(swizzle, 0, inner)


def _tiled(k_major, dtype, extent, shape, special=False):
    atom = make_smem_layout_atom(_widest(k_major, dtype.width, extent, special), dtype)
    return cute.tile_to_shape(atom, shape, (0, 1, 2) if k_major else (1, 0, 2))


# Methods of LayoutEnum: a row-major A or B is K-major, a row-major C is N-major.


def member__mma_major_mode(layout):
    return OperandMajorMode.K if _is_row_major(layout) else OperandMajorMode.MN


def member__is_k_major_a(layout):
    return _is_row_major(layout)


def member__is_m_major_a(layout):
    return not _is_row_major(layout)


member__is_k_major_b = member__is_k_major_a
member__is_n_major_c = member__is_k_major_a
member__is_n_major_b = member__is_m_major_a
member__is_m_major_c = member__is_m_major_a


# Hopper


def sm90__get_smem_layout_atom(layout, element_type, major_mode_size):
    return _widest(_is_row_major(layout), element_type.width, major_mode_size)


def sm90__make_smem_layout_a(a_layout, mma_tiler_mnk, a_dtype, num_stages):
    m, k, k_major = mma_tiler_mnk[0], mma_tiler_mnk[2], _is_row_major(a_layout)
    return _tiled(k_major, a_dtype, cute.size(k if k_major else m), (m, k, num_stages))


def sm90__make_smem_layout_b(b_layout, mma_tiler_mnk, b_dtype, num_stages):
    n, k, k_major = mma_tiler_mnk[1], mma_tiler_mnk[2], _is_row_major(b_layout)
    return _tiled(k_major, b_dtype, cute.size(k if k_major else n), (n, k, num_stages))


def sm90__make_smem_layout_epi(epi_dtype, epi_layout, epi_tile, epi_stage, smem_trg_shape=None, smem_order=None):
    n_major = _is_row_major(epi_layout)
    kind = _widest(n_major, epi_dtype.width, epi_tile[1] if n_major else epi_tile[0])
    shape = (*epi_tile, epi_stage) if smem_trg_shape is None else smem_trg_shape
    order = ((0, 1, 2) if n_major else (1, 0, 2)) if smem_order is None else smem_order
    return cute.tile_to_shape(make_smem_layout_atom(kind, epi_dtype), shape, order)


def sm90__make_trivial_tiled_mma(
    a_dtype, b_dtype, a_leading_mode, b_leading_mode, acc_dtype, atom_layout_mnk, tiler_mn, a_source=OperandSource.SMEM
):
    rest = (acc_dtype, tuple(tiler_mn), a_source, a_leading_mode, b_leading_mode)
    if a_dtype == b_dtype and a_dtype in _HALVES:
        op = warpgroup.MmaF16BF16Op(a_dtype, *rest)
    elif a_dtype in _F8F6F4[:2] and b_dtype in _F8F6F4[:2]:
        op = warpgroup.MmaF8Op(a_dtype, b_dtype, *rest)
    elif a_dtype in _BYTES and b_dtype in _BYTES:
        op = warpgroup.MmaI8Op(a_dtype, b_dtype, *rest)
    else:
        raise ValueError(f"no warp-group MMA multiplies {a_dtype} by {b_dtype}")
    return cute.make_tiled_mma(op, atom_layout_mnk)


def sm90__compute_tile_shape_or_override(tile_shape_mnk, element_type, is_cooperative=False, epi_tile_override=None):
    if epi_tile_override is not None:
        return epi_tile_override
    m, n = cute.size(tile_shape_mnk[0]), cute.size(tile_shape_mnk[1])
    if is_cooperative:
        return min(128, m), min(32, n)
    return min(64, m), min(64 if element_type.width == 8 else 32, n)


def _store(layout, dtype, count):
    """The store of an epilogue: stmatrix of 16-bit values, plain stores of others."""
    op = warp.StMatrix8x8x16bOp(not _is_row_major(layout), count) if dtype.width == 16 else cute.nvgpu.CopyUniversalOp()
    return cute.make_copy_atom(op, dtype)


def sm90__get_smem_store_op(layout_d, elem_ty_d, elem_ty_acc):
    return _store(layout_d, elem_ty_d, 4)


def sm100__get_smem_store_op(layout_d, elem_ty_d, elem_ty_acc, tiled_tmem_load):
    """stmatrix where the load of tensor memory leaves the values as that wants them."""
    m_major, op = not _is_row_major(layout_d), cute.nvgpu.CopyUniversalOp()
    lanes, bits, times, packs, loads = tcgen05.get_tmem_copy_properties(tiled_tmem_load) or (0, 0, 0, False, False)
    word = (elem_ty_acc.width, elem_ty_d.width, lanes, bits, packs)
    if not loads:
        return cute.make_copy_atom(op, elem_ty_d)
    if word in _STORED or (word == (32, 32, 16, 128, False) and not m_major):
        op = warp.StMatrix8x8x16bOp(m_major, 4 if times > 1 else 2)
    elif word == (32, 8, 16, 256, False) and m_major:
        op = warp.StMatrix16x8x8bOp(True, times if times < 3 else 4)
    return cute.make_copy_atom(op, elem_ty_d)


def sm120_get_smem_store_op(layout_d, elem_ty_d, elem_ty_acc):
    return _store(layout_d, elem_ty_d, 2)


# Blackwell


def sm100__make_trivial_tiled_mma(*args, **named):
    if "a_dtype" in named or ("ab_dtype" not in named and len(args) > 1 and args[1] in _TYPES):
        return _mma(*args, **named)
    return _mma_of_one(*args, **named)


def _mma_of_one(ab_dtype, a_leading_mode, b_leading_mode, acc_dtype, cta_group, mma_tiler_mn, a_source=OperandSource.SMEM):
    return _mma(ab_dtype, ab_dtype, a_leading_mode, b_leading_mode, acc_dtype, cta_group, mma_tiler_mn, a_source)


def _mma(
    a_dtype, b_dtype, a_leading_mode, b_leading_mode, acc_dtype, cta_group, mma_tiler_mn, a_source=OperandSource.SMEM
):
    rest = (tuple(mma_tiler_mn), cta_group, a_source, a_leading_mode, b_leading_mode)
    if a_dtype == b_dtype and a_dtype in _HALVES:
        op = tcgen05.MmaF16BF16Op(a_dtype, acc_dtype, *rest)
    elif a_dtype == b_dtype and a_dtype in _FLOATS:
        op = tcgen05.MmaTF32Op(*rest)
    elif a_dtype == b_dtype and a_dtype in _BYTES:
        op = tcgen05.MmaI8Op(a_dtype, *rest)
    elif a_dtype in _F8F6F4 and b_dtype in _F8F6F4:
        op = tcgen05.MmaF8F6F4Op(a_dtype, b_dtype, acc_dtype, *rest)
    else:
        raise ValueError(f"no tcgen05 MMA multiplies {a_dtype} by {b_dtype}")
    return cute.make_tiled_mma(op)


def _operand(shape, k_major, dtype, stages):
    """The widest atom that the CTA's part of a tile allows, tiled to the shape that the MMA takes."""
    first = shape[0]
    extent = cute.size(first[1]) * shape[2] if k_major else cute.size(first[0]) * shape[1]
    atom = make_smem_layout_atom(_widest(k_major, dtype.width, extent, True), dtype)
    return tile_to_mma_shape(atom, (*shape, stages), (1, 2, 3) if k_major else (2, 1, 3))


def sm100__make_smem_layout_a(tiled_mma, mma_tiler_mnk, a_dtype, num_stages, is_k_major=None):
    k_major = _is_k(tiled_mma.op.a_major_mode) if is_k_major is None else is_k_major
    return _operand(tiled_mma.partition_shape_A((mma_tiler_mnk[0], mma_tiler_mnk[2])), k_major, a_dtype, num_stages)


def sm100__make_smem_layout_b(tiled_mma, mma_tiler_mnk, b_dtype, num_stages, is_k_major=None):
    k_major = _is_k(tiled_mma.op.b_major_mode) if is_k_major is None else is_k_major
    return _operand(tiled_mma.partition_shape_B((mma_tiler_mnk[1], mma_tiler_mnk[2])), k_major, b_dtype, num_stages)


def _ones(shape):
    return tuple(_ones(x) for x in shape) if isinstance(shape, tuple) else 1


def tile_to_mma_shape(atom, mma_tile_shape, order=None):
    """An atom tiled to ((MMA_M,MMA_K),M,K,...): first over whole extents, then cut by the MMA's."""
    first = mma_tile_shape[0] if isinstance(mma_tile_shape[0], tuple) else mma_tile_shape[:1]
    pairs = tuple((a, b) for a, b in zip(first, mma_tile_shape[1:]))
    whole = (*pairs, *mma_tile_shape[1 + len(first) :])
    tiled = cute.tile_to_shape(atom, whole) if order is None else cute.tile_to_shape(atom, whole, order)
    cut = cute.tiled_divide(tiled, tuple(cute.size(x) for x in first))
    return cute.coalesce(cut, target_profile=_ones(mma_tile_shape))


def get_smem_layout_atom_ab(major_mode, element_type, smem_shape_mn_k, sparsity=None):
    if _is_k(major_mode):
        return _widest(True, element_type.width, cute.size(smem_shape_mn_k[1]) // (sparsity or 1), True)
    return _widest(False, element_type.width, cute.size(smem_shape_mn_k[0]), True)


def sm100__make_smem_layout(leading_mode, smem_tile_shape, a_dtype, num_stages):
    k_major = _is_k(leading_mode)
    extent = cute.size(smem_tile_shape[1 if k_major else 0])
    return cute.coalesce(_tiled(k_major, a_dtype, extent, (*smem_tile_shape, num_stages), True), target_profile=(1, 1, 1))


def sm100__make_smem_layout_epi(epi_dtype, epi_layout, epi_tile, epi_stage):
    n_major = _is_row_major(epi_layout)
    dtype = cutlass.Int8 if epi_dtype == cutlass.Boolean else epi_dtype
    contiguous = epi_tile[1 if n_major else 0]
    if isinstance(contiguous, cute.Layout):
        contiguous = cute.coalesce(cute.right_inverse(contiguous)).shape
    return _tiled(n_major, dtype, cute.size(contiguous), (*(cute.size(x) for x in epi_tile), epi_stage), True)


def _ctas(cluster, threads):
    """The CTAs of an MMA, and of the cluster along M and N."""
    sms, m, n = cute.size(threads), cute.size(cluster[0]), cute.size(cluster[1])
    if sms not in (1, 2):
        raise ValueError(f"an MMA of tcgen05 is of 1 or 2 CTAs, not {sms}")
    if m % sms:
        raise ValueError(f"a cluster of {m} CTAs along M has no pairs")
    return sms, m, n


def _load(shared, sms):
    group = tcgen05.CtaGroup.TWO if sms == 2 else tcgen05.CtaGroup.ONE
    return cpasync.CopyBulkTensorTileG2SMulticastOp(group) if shared else cpasync.CopyBulkTensorTileG2SOp(group)


def cluster_shape_to_tma_atom_A(cluster_shape_mnk, atom_thr_id):
    sms, m, n = _ctas(cluster_shape_mnk, atom_thr_id)
    return _load(n > 1, sms)


def cluster_shape_to_tma_atom_B(cluster_shape_mnk, atom_thr_id):
    sms, m, n = _ctas(cluster_shape_mnk, atom_thr_id)
    return _load(m != sms, sms)


def cluster_shape_to_tma_atom_SFB(cluster_shape_mnk, atom_thr_id):
    sms, m, n = _ctas(cluster_shape_mnk, atom_thr_id)
    return _load(sms == 2 or m > 1, sms)


# Block-scaled MMAs


def _block(size):
    """128 rows of 4 scale factors, each for `size` elements of K: 32 rows of 16 bytes, four of these side by side."""
    if size not in (16, 32):
        raise ValueError(f"a scale factor covers 16 or 32 elements, not {size}")
    return cute.make_layout(((32, 4), (size, 4)), stride=((16, 4), (0, 1)))


def _staged(layout, stages):
    return cute.append(layout, cute.make_layout(stages, stride=cute.cosize(cute.filter_zeros(layout))))


def tile_atom_to_shape_SF(Shape, sf_vec_size):
    return cute.tile_to_shape(_block(sf_vec_size), Shape, (2, 1, 3))


def make_smem_layout_sf(tile_shape, sf_vec_size, num_stages):
    return _staged(cute.tile_to_shape(_block(sf_vec_size), tile_shape, (2, 1)), num_stages)


def _smem_sf(tile, many, size, stages):
    """The scale factors of a tile, cut as the MMA's instructions take them."""
    layout = cute.tile_to_shape(_block(size), tile, (2, 1))
    layout = cute.tiled_divide(layout, cute.shape_div(tile, many))
    return _staged(cute.logical_divide(layout, ((128, size),)), stages)


def make_smem_layout_sfa(tiled_mma, mma_tiler_mnk, sf_vec_size, num_stages):
    (m, _, k), (each_m, _, each_k) = mma_tiler_mnk, tiled_mma.shape_mnk
    return _smem_sf((m // cute.size(tiled_mma.thr_id), k), (m // each_m, k // each_k), sf_vec_size, num_stages)


def make_smem_layout_sfb(tiled_mma, mma_tiler_mnk, sf_vec_size, num_stages):
    (_, n, k), (_, each_n, each_k) = mma_tiler_mnk, tiled_mma.shape_mnk
    return _smem_sf(((n + 127) // 128 * 128, k), (n // each_n, k // each_k), sf_vec_size, num_stages)


def _smem_sm120(tiled_mma, mn, k, size, stages):
    each = tiled_mma.shape_mnk[2] // size
    if mn % 128 or k % (4 * each) or k % (size * 4):
        raise ValueError(f"a tile of {mn} x {k} is not made of whole blocks of scale factors")
    blocks = mn // 128
    shape = (((32, 4), blocks), ((size, each), 4 // each, k // size // 4))
    return _staged(cute.make_layout(shape, stride=(((16, 4), 512), ((0, 1), each, blocks * 512))), stages)


def sm120_make_smem_layout_sfa(tiled_mma, tile_shape_mnk, sf_vec_size, num_stages):
    return _smem_sm120(tiled_mma, tile_shape_mnk[0], tile_shape_mnk[2], sf_vec_size, num_stages)


def sm120_make_smem_layout_sfb(tiled_mma, tile_shape_mnk, sf_vec_size, num_stages):
    return _smem_sm120(tiled_mma, tile_shape_mnk[1], tile_shape_mnk[2], sf_vec_size, num_stages)


def _smem_sm103(block, tile, stages):
    tiled = cute.tiled_product(block, cute.make_layout(cute.shape_div(tile, cute.product_each(block.shape))))
    return cute.append(tiled, cute.make_layout(stages, stride=cute.size(cute.filter_zeros(tiled))))


def sm103_make_smem_layout_sfa(tiled_mma, mma_tiler, sf_vec_size, num_stages):
    shape = tiled_mma.partition_shape_A((mma_tiler[0], mma_tiler[2]))
    tile = (shape[0][0] * shape[1], shape[0][1] * shape[2] // (4 if sf_vec_size == 16 else 2))
    block = cute.make_layout(((8, 4, 4), (sf_vec_size, 4)), stride=((16, 128, 4), (0, 1)))
    return _smem_sm103(block, tile, num_stages)


def sm103_make_smem_layout_sfb(tiled_mma, mma_tiler, sf_vec_size, num_stages):
    """Blocks of 8 x 4 x 4 rows, of 256 rows 32 x 4 x 2."""
    n, k = mma_tiler[1], mma_tiler[2] // (4 if sf_vec_size == 16 else 2)
    block = cute.make_layout(((8, 4, 4), (sf_vec_size, 4)), stride=((16, 128, 4), (0, 1)))
    if n != 128:
        block = cute.make_layout(((32, 4, 2), (sf_vec_size, 4)), stride=((16, 4, k // sf_vec_size // 4 * 512), (0, 1)))
    return _smem_sm103(block, (n, k), num_stages)


def make_blockscaled_trivial_tiled_mma(*args, **named):
    if "a_dtype" in named or ("ab_dtype" not in named and len(args) > 1 and args[1] in _TYPES):
        return _scaled_mma(*args, **named)
    return _scaled_mma_of_one(*args, **named)


def _scaled_mma_of_one(
    ab_dtype, a_leading_mode, b_leading_mode, sf_dtype, sf_vec_size, cta_group, mma_tiler_mn, a_source=OperandSource.SMEM
):
    return _scaled_mma(
        ab_dtype, ab_dtype, a_leading_mode, b_leading_mode, sf_dtype, sf_vec_size, cta_group, mma_tiler_mn, a_source
    )


def _scaled_mma(
    a_dtype, b_dtype, a_leading_mode, b_leading_mode, sf_dtype, sf_vec_size, cta_group, mma_tiler_mn, a_source=OperandSource.SMEM
):
    rest = (tuple(mma_tiler_mn), cta_group, a_source)
    if a_dtype == b_dtype and a_dtype == cutlass.Float4E2M1FN:
        op = tcgen05.MmaMXF4Op(*rest) if sf_vec_size == 32 else tcgen05.MmaMXF4NVF4Op(sf_dtype, *rest)
    elif a_dtype in _F8F6F4 and b_dtype in _F8F6F4:
        op = tcgen05.MmaMXF8F6F4Op(a_dtype, b_dtype, *rest, a_leading_mode, b_leading_mode)
    else:
        raise ValueError(f"no block-scaled MMA multiplies {a_dtype} by {b_dtype}")
    return cute.make_tiled_mma(op)


def sm103_make_blockscaled_trivial_tiled_mma(sf_dtype, sf_vec_size, cta_group, mma_tiler_mn, a_source=OperandSource.SMEM):
    rest = (tuple(mma_tiler_mn), cta_group, a_source)
    return cute.make_tiled_mma(tcgen05.SM103MmaMXF4Op(*rest) if sf_vec_size == 32 else tcgen05.SM103MmaMXF4NVF4Op(sf_dtype, *rest))


def get_permutation_mnk(tile_shape_mnk, sf_vec_size, use_mxf8f6f4):
    if sf_vec_size not in (16, 32):
        raise ValueError(f"a scale factor covers 16 or 32 elements, not {sf_vec_size}")
    return min(tile_shape_mnk[0], 128), cute.make_layout((8, 2, 2), stride=(1, 16, 8)), 32 if use_mxf8f6f4 else 64


# What Blackwell's epilogues take: the tile that is stored at once, and the load of tensor memory


def _least(bits, warps, m_major):
    """The fewest columns of a tile: 8 for a warp that stores along M, else 16 bytes of elements."""
    return warps * (8 if m_major else 128 if bits == 6 else 128 // bits)


def _warps(m, two, given):
    return given if given is not None else (2, 2) if m == 64 and two else (4, 1)


def compute_epilogue_tile_size(
    cta_tile_m,
    cta_tile_n,
    use_2cta,
    elem_width_d,
    elem_width_c=None,
    d_is_m_major=True,
    c_is_m_major=True,
    tmem_warp_shape_mn=None,
):
    """Whole rows of warps, and as many columns as suit the registers."""
    m, n, c = cta_tile_m, cta_tile_n, elem_width_c
    warps = _warps(m, use_2cta, tmem_warp_shape_mn)
    bits = elem_width_d if c is None else max(c, elem_width_d)
    tile_m = min(m, 32 * warps[0])
    if c is None:
        best = (8192 if bits == 4 else 4096) // tile_m
    elif bits == 32:
        best = 16 if m > 64 and n <= 128 else 32
    elif bits == 16:
        best = 32 if n <= 128 else 64
    else:
        best = 64
    while best > 1 and n % best:
        best = best // 2
    least_c = 8 * warps[1] if c is None or c_is_m_major else _least(c, warps[1], False)
    tile_n = min(n, max(best, least_c, _least(elem_width_d, warps[1], d_is_m_major)))
    return tile_m, tile_n if n % tile_n == 0 else n


def compute_epilogue_tile_shape(
    cta_tile_shape, use_2cta_instrs, layout_d, elem_ty_d, layout_c=None, elem_ty_c=None, tmem_warp_shape_mn=None
):
    m, n, two = cta_tile_shape[0], cta_tile_shape[1], use_2cta_instrs
    d_m, c_m = not _is_row_major(layout_d), True if layout_c is None else not _is_row_major(layout_c)
    width_c = None if elem_ty_c is None else elem_ty_c.width
    tile_m, tile_n = compute_epilogue_tile_size(m, n, two, elem_ty_d.width, width_c, d_m, c_m, tmem_warp_shape_mn)
    warp_n = _warps(m, two, tmem_warp_shape_mn)[1]
    least_c = 8 * warp_n if c_m or width_c is None else _least(width_c, warp_n, False)
    if n < max(_least(elem_ty_d.width, warp_n, d_m), least_c):
        raise ValueError(f"a tile of {n} columns is too small for this epilogue")
    columns = cute.make_layout((tile_n // warp_n, warp_n), stride=(1, n // warp_n))
    return cute.make_layout(tile_m), cute.coalesce(columns)


def _load_shape(lanes, acc, d, m_major):
    """The lanes and bits of a load: 16 lanes where a warp has no more, or stores along M."""
    half = lanes == 16
    if lanes not in (16, 32):
        raise ValueError(f"a warp loads 16 or 32 lanes of tensor memory, not {lanes}")
    if (acc, d) == (32, 32):
        return (16, 256 if m_major else 128) if half else (32, 32)
    if (acc, d) == (32, 16):
        return (16, 256) if half or m_major else (32, 32)
    if (acc, d) == (32, 8):
        return (16, 256) if m_major else (16, 32) if half else (32, 32)
    if (acc, d) == (16, 16):
        return (16, 128) if half or m_major else (32, 32)
    if acc == 32 and d in (4, 6) and not half:
        return 32, 32
    raise ValueError(f"no epilogue stores {d}-bit values of {acc}-bit accumulators from {lanes} lanes")


def get_tmem_load_op(
    cta_tile_shape, layout_d, elem_ty_d, elem_ty_acc, epi_tile, use_2cta_instrs, tmem_warp_shape_mn=None
):
    """The widest load of the epilogue's tile from tensor memory that its types allow."""
    warps = _warps(cta_tile_shape[0], use_2cta_instrs, tmem_warp_shape_mn)
    each = cute.shape_div(tuple(cute.size(x) for x in epi_tile), warps)
    columns = cute.size(each[1]) * elem_ty_acc.width
    lanes, bits = _load_shape(cute.size(each[0]), elem_ty_acc.width, elem_ty_d.width, not _is_row_major(layout_d))
    unit = 64 if (lanes, bits) == (16, 32) else bits
    pack = tcgen05.Pack.PACK_16b_IN_32b if elem_ty_acc.width == 16 else tcgen05.Pack.NONE
    for times in (128, 64, 32, 16, 8, 4, 2, 1):
        if times <= {256: 32, 128: 64}.get(bits, 128) and columns % (unit * times) == 0:
            return cute.make_copy_atom(_LOADS[lanes, bits](times, pack), elem_ty_acc)
    raise ValueError("no load of tensor memory fits this tile")


# Tuples, strides and coordinates: cutlass/cute/core.py and tuple.py. In this file an operation of the algebra is that itself.


def _modes(x):
    return x if isinstance(x, tuple) else (x,)


def _is_one(x):
    return cute.is_static(x) and x == 1


def _lacking(input, elem, up_to_rank):
    """As many entries alike as a tuple or a layout lacks."""
    if isinstance(input, cute.Tensor):
        raise ValueError("append and prepend of the DSL take a layout or a tuple")
    is_layout = isinstance(input, (cute.Layout, cute.ComposedLayout))
    count = cute.rank(input) if is_layout else len(_modes(input))
    rank = count + 1 if up_to_rank is None else up_to_rank
    if rank < count:
        raise ValueError(f"append and prepend take a rank that is not below that of their operand, {count}")
    none = cute.make_layout(1, stride=0) if is_layout else 1
    return (none if elem is None else elem,) * (rank - count)


def append(input, elem=None, up_to_rank=None):
    entries = _lacking(input, elem, up_to_rank)
    if not isinstance(input, (cute.Layout, cute.ComposedLayout)):
        return (*_modes(input), *entries)
    for mode in entries:
        input = cute.append(input, mode)
    return input


def prepend(input, elem=None, up_to_rank=None):
    entries = _lacking(input, elem, up_to_rank)
    if not isinstance(input, (cute.Layout, cute.ComposedLayout)):
        return (*entries, *_modes(input))
    for mode in entries:
        input = cute.prepend(input, mode)
    return input


def append_ones(t, up_to_rank=None):
    layout = append(_layout(t), None, up_to_rank)
    return cute.make_tensor(t.iterator, layout) if isinstance(t, cute.Tensor) else layout


def prepend_ones(t, up_to_rank=None):
    layout = prepend(_layout(t), None, up_to_rank)
    return cute.make_tensor(t.iterator, layout) if isinstance(t, cute.Tensor) else layout


def _layout(x):
    if isinstance(x, cute.Tensor):
        return x.layout
    return x if isinstance(x, (cute.Layout, cute.ComposedLayout)) else cute.make_layout(x)


def _plain(layout):
    """The layout of coordinates of a composed one."""
    return layout.outer if isinstance(layout, cute.ComposedLayout) else layout


def shape(input, mode=None):
    """Of a tiler the shapes of its layouts."""
    if isinstance(input, tuple):
        out = tuple(x.shape if isinstance(x, cute.Layout) else x for x in input)
    else:
        out = _layout(input).shape
    for at in () if mode is None else _modes(tuple(mode) if isinstance(mode, list) else mode):
        out = _modes(out)[at]
    return out


def repeat_as_tuple(x, n):
    if n < 1:
        raise ValueError("a value is repeated once or more")
    return (x,) * n


def repeat(x, n):
    return x if n == 1 else repeat_as_tuple(x, n)


def front(input):
    if isinstance(input, tuple):
        return front(input[0])
    if isinstance(input, cute.Layout) and isinstance(input.shape, tuple):
        return front(cute.get(input, mode=[0]))
    return input


def is_major(mode, stride):
    for at in mode if isinstance(mode, (tuple, list)) else (mode,):
        stride = _modes(stride)[at]
    return _is_one(front(stride))


def leading_dim(shape, stride):
    """Where the first step of 1 is whose extent is not 1: a number, a path in nested modes, or None."""
    shape, stride = _modes(shape), _modes(stride)
    for n in range(min(len(shape), len(stride))):
        if isinstance(stride[n], tuple):
            inner = leading_dim(shape[n], stride[n])
            if inner is not None:
                return (n, *_modes(inner))
        elif _is_one(stride[n]) and not _is_one(shape[n]):
            return n
    return None


def has_underscore(a):
    return any(has_underscore(x) for x in a) if isinstance(a, tuple) else a is None


def get_flat_coord(layout, index):
    """Of an index that only a run knows, 0 along modes of one entry."""
    if cute.is_static(index):
        return cute.get_flat_coord(layout, index)
    return tuple(0 if cute.size(layout, mode=[n]) == 1 else index for n in range(cute.rank(layout)))


def round_up(a, b):
    if not isinstance(a, tuple):
        return (a + (b - 1)) // b * b
    others = b if isinstance(b, tuple) else (b,) * len(a)
    return (*(round_up(x, y) for x, y in zip(a, others)), *a[len(others) :])


def size_in_bytes(dtype, layout):
    if dtype is None:
        raise ValueError("size_in_bytes takes an element type and a layout")
    return (dtype.width * (0 if layout is None else cute.cosize(_plain(_layout(layout)))) + 7) // 8


# Tile schedulers: cutlass/utils/static_persistent_tile_scheduler.py and its dynamic kin


class PersistentTileSchedulerParams:
    """The clusters that a problem has."""

    dynamic = False

    def __init__(
        self,
        problem_shape_ntile_mnl,
        cluster_shape_mnk,
        swizzle_size=1,
        raster_along_m=True,
        fallback_cluster_shape_mnk=None,
    ):
        if len(problem_shape_ntile_mnl) != 3 or len(cluster_shape_mnk) != 3:
            raise ValueError("a tile scheduler takes the tiles of a problem (M,N,L) and the shape of a cluster (M,N,1)")
        if fallback_cluster_shape_mnk is not None or cluster_shape_mnk[2] != 1:
            raise ValueError("other cluster shapes, or clusters along K, are not supported")
        self.problem_shape_ntile_mnl = problem_shape_ntile_mnl
        self.cluster_shape_mn = cluster_shape_mnk[:2]
        self._cluster_shape_mnk = cluster_shape_mnk
        self.swizzle_size = swizzle_size
        self.raster_along_m = raster_along_m


class ClcDynamicPersistentTileSchedulerParams(PersistentTileSchedulerParams):
    dynamic = True


def get_grid_shape(params, max_active_clusters=None):
    """Whole clusters, no more than run at once; of a dynamic scheduler all."""
    cluster, swizzle = params._cluster_shape_mnk, params.swizzle_size
    whole = list(round_up(params.problem_shape_ntile_mnl, cluster))
    if params.dynamic and swizzle == 1 and params.raster_along_m:
        return tuple(whole)
    if not params.dynamic and swizzle != 1:
        at = 1 if params.raster_along_m else 0
        whole[at] = round_up(whole[at], swizzle * cluster[at])
    count = whole[0] * whole[1] * whole[2] // (cluster[0] * cluster[1])
    return (*cluster[:2], count if params.dynamic else min(count, max_active_clusters))
