import cutlass.cute as cute
def _by_thread(scales, mma, mn, held):
    sizes, tile, threads = mma.shape_mnk, mma.permutation_mnk, mma.thr_layout_vmnk
    atoms = cute.zipped_divide(
        cute.logical_divide(scales, (tile[mn], tile[2])), (cute.make_layout(sizes[mn]), cute.make_layout(sizes[2]))
    )
    parts = (cute.make_layout(cute.size(threads, mode=[mn + 1])), cute.make_layout(cute.size(threads, mode=[3])))
    return cute.zipped_divide(cute.composition(atoms, (held, None)), (None, parts))
def thrfrg_SFA(sfa_tensor, tiled_mma):
    k = tiled_mma.shape_mnk[2]
    depth, step = ((k, 1), (16, 0)) if k == 32 else (k, 16)
    return _by_thread(sfa_tensor, tiled_mma, 0, cute.make_layout(((2, 2, 8), depth), stride=((8, 0, 1), step)))
def thrfrg_SFB(sfb_tensor, tiled_mma):
    k = tiled_mma.shape_mnk[2]
    depth, step = ((k, 1), (8, 0)) if k == 32 else (k, 8)
    return _by_thread(sfb_tensor, tiled_mma, 1, cute.make_layout(((4, 8), depth), stride=((0, 1), step)))
def _table(cut, extents, mma, rows):
    threads = mma.thr_layout_vmnk
    pair = cute.make_layout((cute.size(threads, mode=[1]), cute.size(threads, mode=[2])), stride=(1, 0) if rows else (0, 1))
    by_place = cute.composition(cut(cute.make_layout(extents), mma), ((None, (pair, None)), None))
    return cute.composition(by_place, (cute.right_inverse(threads), None))
def get_layoutSFA_TV(tiled_mma):
    tile = tiled_mma.permutation_mnk
    return _table(thrfrg_SFA, (cute.size(tile[0]), cute.size(tile[2])), tiled_mma, True)
def get_layoutSFB_TV(tiled_mma):
    tile = tiled_mma.permutation_mnk
    return _table(thrfrg_SFB, (cute.size(tile[1]), cute.size(tile[2])), tiled_mma, False)
def _fragment(cut, scales, mma, mn, tidx):
    at = mma.thr_layout_vmnk.get_flat_coord(tidx)
    part = cute.make_tensor(scales.iterator, cut(scales.layout, mma))[(at[0], (at[mn + 1], at[3])), (None, None)]
    return cute.group_modes(cute.flatten(part), 0, 2)
def partition_fragment_SFA(sfa_tensor, thr_mma, tidx):
    return cute.make_fragment_like(_fragment(thrfrg_SFA, sfa_tensor, thr_mma, 0, tidx))
def partition_fragment_SFB(sfb_tensor, thr_mma, tidx):
    return cute.make_fragment_like(cute.group_modes(_fragment(thrfrg_SFB, sfb_tensor, thr_mma, 1, tidx), 1, 3))
