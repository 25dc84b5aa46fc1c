"""The kinds of picture: what each shows, which module draws it, and the options that it uses; a new one is a row and a module."""

from __future__ import annotations

from cute_viz.records import dataclass

LABELS = ("auto", "full", "offset", "coord", "index", "none", "swizzle")
_TABLE_LABELS = LABELS[:-1]
_OWNED_LABELS = ("auto", "full", "coord", "index", "none")
_HIGHLIGHTS = ("thread", "warp", "value")
_PLACES = ("offset", "mod8", "chunk", "row", "column", "tile", "none")  # what hue can mean in a grid
_OWNERS = ("thread", "value", "warp", "row", "column", "none")  # and of owners
COLOR_BY = tuple(dict.fromkeys((*_PLACES[:3], *_OWNERS[:3], *_PLACES[3:])))


@dataclass(frozen=True, slots=True)
class View:
    """A kind of picture.

    meaning: in a few words. where: `module.function` of `cute_viz.figures` that draws it. uses: the options that change it, beside
    title and max_cells, which go with all. labels, color_by: the words of these options that it knows. instead: what to ask where
    a highlight does not apply.
    """

    meaning: str
    where: str
    uses: tuple[str, ...] = ()
    labels: tuple[str, ...] = ("auto", "full")
    color_by: tuple[str, ...] = ()
    instead: str = ""


_MOVED = "the hardware moves it for all threads: `follow=5` of stages(...) shows a thread's part"
VIEWS = {  # of a layout; the option `view` picks one
    "grid": View("offsets", "grid.grid", ("color_by", "coords"), LABELS, _PLACES),
    "tv": View("the owner of each tile cell", "tv.tv", ("tile", "color_by", *_HIGHLIGHTS), _OWNED_LABELS, _OWNERS),
    "table": View("thread by value", "tv.tv", ("tile", "color_by", "coords", *_HIGHLIGHTS), _TABLE_LABELS, _OWNERS),
    "both": View("tv and table side by side", "tv.tv", ("tile", "color_by", "coords", *_HIGHLIGHTS), _TABLE_LABELS, _OWNERS),
    "banks": View("the bank of each cell in shared memory", "banks.banks", ("coords", "type"), ("auto", "full", "none")),
    "address": View("the elements by address in shared memory", "banks.address", ("type",)),
    "scales": View("scale factors, byte by byte", "scales.scales"),
    "operation": View("what went in and what came out", "operation.operation", ("coords",), _TABLE_LABELS),
    "access": View("what one instruction accesses, over its banks", "access.access", ("by", "operand", "type"), ("auto", "full")),
    "path": View("one line through the cells in the order of addresses", "path.path", labels=("auto", "full")),
    "matrix": View("bits of the coordinate to bits of the address", "matrix.matrix", ("type", "tile"), ("auto", "full")),
    "zoom": View(
        "a GEMM from the grid to one thread's values", "zoom.zoom", ("tile", "thread", "coord", "cluster"), ("auto", "full")
    ),
    "cube": View("an MMA as a cube of A, B and C", "cube.cube", ("thread",), ("auto", "full")),
    "pipeline": View("stages of shared memory against time", "pipeline.pipeline", ("schedule",), ("auto", "full")),
    "steps": View("an operation step by step", "motion.motion", labels=("auto", "full")),
}
TILINGS = {  # of atoms, and of tilings of them, by their attribute `tiling`
    "gemm": View("a GEMM", "gemm.gemm", ("color_by", "coords", *_HIGHLIGHTS), _OWNED_LABELS, ("row", "column", "none")),
    "mma": View("an MMA", "mma.mma", ("color_by", "operand", "tensor", *_HIGHLIGHTS), _OWNED_LABELS, _OWNERS),
    "copy": View("a copy", "copy.copy", ("color_by", "operand", "tensor", *_HIGHLIGHTS), _OWNED_LABELS, _OWNERS),
    "descriptor": View("a matrix descriptor", "descriptor.descriptor", instead=_MOVED),
    "instruction": View("an instruction descriptor", "instruction.instruction"),
    "tmem": View("tensor memory", "tmem.tmem", instead="ask the copy that reads it, for example SM100_TMEM_LOAD_32dp32b8x"),
    "lanes": View(
        "tcgen05.ld, .st or .cp",
        "lanes.lanes",
        ("thread", "value"),
        instead="a warp issues it: `thread=` and `value=`, a register",
    ),
    "stages": View("the stages of a kernel", "stages.stages", instead="`follow=5` shows a thread's part of every stage"),
    "tma": View("a TMA copy", "tma.tma", ("coord",), instead=_MOVED),
    "operands": View("an MMA with its operands in memory", "mma_operands.operands"),
    "partition": View("a tensor's partition", "partition.partition", ("thread", "operand", "tensor")),
    "way": View("a thread's way through the stages", "stages.follow", ("follow",)),
    "follow": View("a thread's way through a GEMM", "follow.follow", ("follow", "operand")),
    "pipeline": View("a pipeline", "pipeline.pipeline", ("schedule",), instead="its rows are stages and warp groups"),
    "bulk": View("a TMA or bulk copy atom", "bulk.bulk", instead=_MOVED),
}
BITS = View("a bare swizzle", "bits.bits")
