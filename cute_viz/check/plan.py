"""Objects and their figures -> checks. Pure: what can be decided, by which kernel, and why the rest cannot.

The tables that the kernels are held against come from the figure (`digest.owners`, panel data), never from a second evaluation.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

from cute_viz.algebra.composed import as_layout, is_layout, position_independent
from cute_viz.algebra.copy import Copy_Atom, CopyOp, TiledCopy, make_copy_atom
from cute_viz.algebra.descriptor import DescriptorTensor, SmemDescriptor
from cute_viz.algebra.gemm import Gemm
from cute_viz.algebra.inttuple import show
from cute_viz.algebra.mma import MMA_Atom, TiledMMA
from cute_viz.algebra.tma import TmaCopy
from cute_viz.algebra.umma import MmaOperands
from cute_viz.algebra.views import tiled_of
from cute_viz.check import banks, copies, cuda, descriptors, layouts, mma, swizzle_atom, tiled, tma_box, umma, wgmma, wgmma_ptx
from cute_viz.check.digest import digest
from cute_viz.check.job import Check, Item, Job, Undecided, entry_name
from cute_viz.errors import CuteVizError
from cute_viz.figures import build
from cute_viz.figures.lanes import is_lanes
from cute_viz.figures.metadata import group_of, has_metadata
from cute_viz.figures.model import Figure
from cute_viz.figures.options import FigureOptions
from cute_viz.files import read_text
from cute_viz.options.words import parse_tile
from cute_viz.spec import PACKAGED, Library, read
from cute_viz.spec.build import read_specs
from cute_viz.spec.listing import Listed
from cute_viz.spec.names import numbers

TRIED = ("SM100_TMEM_LOAD", "SM100_TMEM_STORE", "SM100_U8")  # of SM100, what kernels are there for
ARGUMENTS = {"D A=D B=A C=D": ("float",), "S D=S": ("uint128_t",)}  # those that are tried, by the parameters of a family


def atoms(library: Library = PACKAGED) -> Iterator[tuple[str, Any]]:
    """(name, atom) of everything in the library; an Undecided in the place of families that nothing here can run."""
    for listed in library.listing():
        reason = hopeless(listed)
        if reason:
            yield listed.name, Undecided(listed.kind, listed.name, reason)
            continue
        for name in numbered(listed):
            args = ARGUMENTS.get(listed.args, ())
            full = f"{name}<{','.join(args)}>" if args else name
            try:
                yield full, library.resolve(name, args)
            except CuteVizError as error:
                yield full, Undecided(listed.kind, full, error.message)


def hopeless(listed: Listed) -> str:
    """Why no atom of a family is tried, where that is known from its architecture; empty else."""
    arch = int(re.sub(r"\D", "", listed.arch) or 0)
    if arch >= 100 and not listed.name.startswith(TRIED):
        return f"an instruction of {listed.arch}, for which there is no kernel here"
    return ""


def numbered(listed: Listed) -> list[str]:
    """The names of a family with its number filled in, each of the range; the name alone where it has none, or two."""
    key, _, words = listed.ranges.partition(" = ")
    if not words or "," in words:
        return [listed.name]
    return [listed.name.replace("{" + key + "}", str(n)) for word in words.split() for n in numbers(word)]


def subjects(section: str) -> Iterator[tuple[str, Any]]:
    """(name, object) of what is checked besides atoms and specs, as CuTe writes it: a section of `subjects.txt`.

    swizzles: the shared-memory atoms of GMMA and TMA. tilings: atoms of every family, permuted and repeated, and copies of them.
    descriptors: every major, mode and type that wgmma accepts. tma: every swizzle, types, both majors, three dimensions, stores,
    clusters. im2col: convolutions of one to three dimensions. umma: every kind, M of 64 to 256, both majors, A in tensor memory,
    pairs of CTAs, scale factors.
    """
    return ((name, read(text).pick()) for name, text in written(section))


def written(section: str) -> list[tuple[str, str]]:
    """(name, text) of each of `subjects`, not yet read."""
    text = (files("cute_viz.check") / "subjects.txt").read_text("utf-8")
    lines = [line.split(" | ") for line in text.partition(f"# {section}\n")[2].partition("#")[0].splitlines()]
    return [(words[0], words[-1]) for words in lines]


def specs(library: Library = PACKAGED) -> Iterator[tuple[str, Any, tuple[int, int] | None]]:
    """(name, object, tile) of every spec of the library."""
    for path in library.spec_files():
        stem = os.path.splitext(os.path.basename(path))[0]
        for spec in read_specs(read_text(path), path, library):
            tile = spec.figure.get("tile")  # as written
            yield f"specs/{stem}" + (f":{spec.name}" if spec.name else ""), spec.obj, parse_tile(tile) if tile else None


MAX_CELLS = 1 << 20


# Tables that CuTe has wrong: in words, and the layouts that the hardware has.
KNOWN: dict[str, tuple[str, dict[str, str]]] = {
    **{
        f"SM80_16x8x128_S32U1U1S32_TN_{popc}": (
            "CuTe's stride of A, ((_512,_1),((_16,_8))), is malformed and cannot be evaluated; "
            "the hardware has ((_512,_1),(_16,_8)), which was checked",
            {"layout_a": "((_4,_8),(_32,_2)):((_512,_1),(_16,_8))"},
        )
        for popc in ("XORPOPC", "ANDPOPC")
    },
    "SM75_U32x1_MOVM_T": (
        "CuTe's trait is the identity; the hardware transposes the 8 x 8 matrix, to Dst ((4,8),(16,2)):((256,16),(1,128)), "
        "which was checked",
        {"dst": "((4,8),(16,2)):((256,16),(1,128))"},
    ),
}


def plan(obj: Any, name: str, tile: tuple[int, int] | None = None, cute: bool = False, library: Library = PACKAGED) -> list[Item]:
    """The checks of one object, under the name by which it is reported.

    tile: of a layout that is drawn as a map of threads and values. cute: let CuTe's headers evaluate layouts, too. library: where
    the operation of a copy atom is looked up.
    """
    obj = as_layout(obj)
    obj = tiled_of(obj)
    if isinstance(obj, Gemm):
        return [item for part, whole in _parts(obj) for item in plan(whole, f"{name} {part}", cute=cute, library=library)]
    options = FigureOptions(max_cells=MAX_CELLS)
    try:
        if is_layout(obj):
            figure = build(obj, replace(options, tile=tile))
            found: dict[str, Job | str] = {"layout": layouts.job(obj, figure, name)}
            if cute:
                found["layout by CuTe"] = layouts.job(obj, figure, name, cute=True)
            return _items({**found, **({} if tile else swizzle_atom.jobs(obj, figure, name))}, name, figure)
        if isinstance(obj, (SmemDescriptor, DescriptorTensor)):
            blocks, figure = descriptors.jobs(obj, name), build(obj, options)
            if isinstance(blocks, str):
                return _items({"wgmma descriptor": blocks}, name)
            return [item for x, job in blocks.items() for item in _items({"wgmma descriptor": job}, f"{name} as {x}", figure)]
        if isinstance(obj, TmaCopy):
            return _items({"TMA im2col" if obj.im2col else "TMA box": tma_box.job(obj, name)}, name)
        if isinstance(obj, MmaOperands):
            return _items({"tcgen05.mma": umma.job(obj, name)}, name)
        if isinstance(obj, MMA_Atom):
            return _mma(obj, name, options)
        if isinstance(obj, TiledMMA):
            figure = build(obj, options)
            return _items({"tiled mma": tiled.job(obj, figure, name)}, name, figure)
        if is_lanes(obj) or (isinstance(obj, CopyOp) and obj.instruction.kind == "tcgen05.cp"):
            return _items({"tcgen05": descriptors.tmem_job(obj, name)}, name)
        if isinstance(obj, (CopyOp, Copy_Atom, TiledCopy)):
            words = ""
            if isinstance(obj, CopyOp):
                obj, words = _fixed(obj)
            elif isinstance(obj, Copy_Atom) and obj.name in KNOWN and isinstance(op := library.resolve(obj.name), CopyOp):
                op, words = _fixed(op)
                obj = make_copy_atom(op, obj.bits, obj.value_type)
            figure, kind = build(obj, options), "tiled copy" if isinstance(obj, TiledCopy) else "copy"
            return _items({kind: copies.job(obj, figure, name)}, name, figure, words)
    except CuteVizError as error:
        return [Undecided("picture", name, f"it cannot be drawn: {error.message}")]
    return [Undecided("picture", name, f"no check for {show(obj).splitlines()[0]}")]


def _items(jobs: Mapping[str, Job | str], name: str, of: Figure | str | None = None, known: str = "") -> list[Item]:
    """A check for each kind with a job, and the reason of each without; of: the figure that is held to a device, or its digest."""
    drawn = digest(of) if isinstance(of, Figure) else of
    return [
        Undecided(kind, name, job) if isinstance(job, str) else Check(kind, name, job, drawn, known) for kind, job in jobs.items()
    ]


def _mma(atom: MMA_Atom, name: str, options: FigureOptions) -> list[Item]:
    if has_metadata(atom):
        shown = wgmma.drawn(build(atom, options))
        found = wgmma_ptx.instruction(atom, group_of(atom), len(shown.nibbles[0]))
        metadata = found if isinstance(found, str) else wgmma.Metadata(found, entry_name("sparse", name), shown)
        return _items({"sparse wgmma": metadata}, name, shown.digest)
    if atom.instruction.kind == "wgmma":
        found = wgmma_ptx.instruction(atom)
        if isinstance(found, str):
            return _items({"wgmma": found}, name)
        shown = _drawn(atom, "CA" if found.registers else "C")
        return _items({"wgmma": wgmma.Accumulators(found, entry_name("wgmma", name), shown)}, name, shown.digest)
    made = mma.instruction(atom)
    if isinstance(made, str):
        return _items({"mma": made}, name)
    fixed, words = _fixed(atom)
    figure = build(fixed, options)
    return _items({"mma": mma.job(made, figure, name)}, name, figure, words)


def _fixed(obj: Any) -> tuple[Any, str]:
    """An atom or operation with the hardware's layouts where CuTe is known to have others, and that in words."""
    words, layouts = KNOWN.get(obj.name, ("", {}))
    return replace(obj, **{key: PACKAGED.read(text).pick() for key, text in layouts.items()}) if layouts else obj, words


def _parts(gemm: Gemm) -> list[tuple[str, Any]]:
    """The objects of a GEMM by name, each once."""
    found = [(key, getattr(gemm, key)) for key in ("mma", "smem_a", "smem_b", "g2s_a", "g2s_b", "s2r_a", "s2r_b", "epilogue")]
    out: list[tuple[str, Any]] = []
    for key, part in found:
        if part is not None and all(part != other for _, other in out):
            out.append((key, part))
    return out


@lru_cache(maxsize=256)
def _drawn(atom: MMA_Atom, operands: str) -> wgmma.Pictured:
    """The panels of a wgmma atom's operands in registers. Atoms that differ in name and types alone share one drawing."""
    return wgmma.drawn(build(atom, FigureOptions(max_cells=MAX_CELLS, operand=operands)))


def static(obj: object, name: str) -> cuda.StaticTable | Undecided:
    """The table of a layout as CUDA C++ that compiles only when CuTe's headers agree."""
    obj = as_layout(obj)
    if not is_layout(obj):
        return Undecided("static", name, f"only layouts can be decided while compiling, not {show(obj).splitlines()[0]}")
    try:
        table = layouts.table_of(build(obj, FigureOptions(max_cells=MAX_CELLS)))
        if table is None:
            return Undecided("static", name, "its values are coordinates")
        return cuda.StaticTable(name, cuda.expression(position_independent(obj)), tuple(table))
    except CuteVizError as error:
        return Undecided("static", name, error.message)


def everything(cute: bool = False, library: Library = PACKAGED) -> Iterator[Item]:
    """The checks of the whole library of atoms and of every spec that comes with it, and those of the bank analysis."""
    for name, obj in atoms(library):
        if isinstance(obj, Undecided):
            yield obj
        else:
            yield from plan(obj, name, library=library)
    for section in ("swizzles", "tilings", "descriptors", "tma", "im2col", "umma"):
        for name, obj in subjects(section):
            yield from plan(obj, name, cute=cute, library=library)
    yield from banks.checks()
    for name, obj, tile in specs(library):
        yield from plan(obj, name, tile, cute, library)
