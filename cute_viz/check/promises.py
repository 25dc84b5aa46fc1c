"""What each kind of check proves, and what it does not: the words of reports and of help."""

from __future__ import annotations

PROVES = {
    "layout": (
        "the device evaluates the layout to every drawn value",
        "more than arithmetic: the formula is our own; `with_cute=` and `static=` ask CuTe's headers instead",
    ),
    "layout by CuTe": (
        "CuTe's own headers, compiled for the device, evaluate the layout to every drawn value",
        "what a kernel does with the layout",
    ),
    "static": (
        "CuTe's own headers evaluate the layout to every drawn value while they are compiled; no GPU takes part",
        "what a kernel does with the layout",
    ),
    "mma": (
        "the drawn A, B and C are the instruction's own, for every pair of values that it multiplies",
        "the names m, n and k: a relabelling that is the same in all operands would show nothing",
    ),
    "wgmma": (
        "each accumulator, and each value of A in registers, is the one that the instruction has at the drawn place",
        "operands behind a descriptor, whose picture has no owners; the checks of GMMA layouts do that",
    ),
    "sparse wgmma": (
        "sparse products are exact as drawn; for N = 8 each nibble of metadata belongs to the group of A at which it is drawn",
        "A behind a descriptor, whose picture has no owners; metadata that PTX calls undefined",
    ),
    "TMA load": (
        "cp.async.bulk.tensor puts every element of a matrix at its drawn offset of shared memory",
        "tiles whose address is not a multiple of 1024 bytes: the swizzle acts on address bits",
    ),
    "TMA store": (
        "a tile laid out as drawn is stored by cp.async.bulk.tensor as the matrix that it represents",
        "tiles whose address is not a multiple of 1024 bytes: the swizzle acts on address bits",
    ),
    "wgmma operand": (
        "wgmma takes every element of the drawn atom for the row and k at which it is drawn",
        "the name k: a relabelling that is the same in A and B would show nothing",
    ),
    "wgmma descriptor": (
        "wgmma multiplies a tile exactly through each descriptor that is computed for its k-blocks, as operand A and as operand B",
        "the name k: a relabelling that is the same in A and B would show nothing; descriptors of SM100",
    ),
    "TMA box": (
        "a tile comes as drawn by the computed tensor map, out of bounds included, to all CTAs of a multicast, or is stored",
        "gather4 and scatter4; im2col has checks of its own",
    ),
    "TMA im2col": (
        "pixels and channels of a convolution come as drawn by the computed tensor map, out of bounds included",
        "stores; gradients of weights",
    ),
    "tcgen05": (
        "tcgen05.ld and .st move every lane and column of tensor memory to and from its drawn register; .cp fills those drawn",
        "tcgen05.cp of pairs of CTAs and of four rows; it needs a device of compute capability 10.0",
    ),
    "tcgen05.mma": (
        "tcgen05.mma multiplies exactly through the computed descriptors, to the drawn lanes and columns of tensor memory",
        "sparse products; a device of compute capability 10.0 decides",
    ),
    "tiled mma": (
        "fragments packed as drawn give the exact product, each element of C written once where it is drawn",
        "the name k: a relabelling that is the same in A and B would show nothing",
    ),
    "banks": (
        "a chain of dependent loads takes the time of the wavefronts that the bank analysis predicts",
        "stores, whose time a chain of loads does not show",
    ),
    "wavefronts": (
        "the hardware's own counter of shared-memory wavefronts agrees with the bank analysis (`counters=`, by ncu)",
        "stores",
    ),
    "sectors": (
        "the hardware's own counter of 32-byte sectors of global loads agrees with the analysis (`counters=`, by ncu)",
        "stores, and what the caches do with the sectors",
    ),
    "copy": (
        "the instruction brings every element from where the source is drawn to where the destination is drawn",
        "the order of the elements: source and destination are only known relative to each other",
    ),
    "tiled copy": (
        "real copies driven by the drawn source bring every element of the tile to its drawn place",
        "the order of the elements: source and destination are only known relative to each other",
    ),
}
# The kinds in which the hardware itself decides; of these, the checks that carry a digest let a name be called verified
# (report.evidence).
CLAIMS = (
    "mma",
    "wgmma",
    "sparse wgmma",
    "TMA load",
    "TMA store",
    "wgmma operand",
    "wgmma descriptor",
    "TMA box",
    "TMA im2col",
    "tcgen05",
    "tcgen05.mma",
    "copy",
    "tiled copy",
)
