"""All that a check of everything goes through: each atom of the library by name, ranges spelt out, and the specs of its folders."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import product
from typing import Any

from cute_viz.check.job import Undecided
from cute_viz.errors import CuteVizError
from cute_viz.files import read_text
from cute_viz.options.words import parse_tile
from cute_viz.spec import PACKAGED, Library, read
from cute_viz.spec.build import read_specs
from cute_viz.spec.domains import numbers
from cute_viz.spec.listing import Listed

TRIED = ("SM100_TMEM_LOAD", "SM100_TMEM_STORE", "SM100_U8")  # of SM100, what kernels are there for
ARGUMENTS = {"D A=D B=A C=D": ("float",), "S D=S": ("uint128_t",)}  # those that are tried, by the parameters of a family


def atoms(library: Library = PACKAGED) -> Iterator[tuple[str, Any]]:
    """(name, atom) of everything in the library; an Undecided in the place of families that nothing here can run.

    >>> name, atom = next(atoms())
    >>> name.startswith("SM")
    True
    """
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
    """Why no atom of a family is tried, where that is known from its architecture; empty else.

    >>> hopeless(Listed("SM100_MMA_TF32_SS", "mma", "sm100", "", ""))
    'an instruction of sm100, for which there is no kernel here'
    """
    arch = int(re.sub(r"\D", "", listed.arch) or 0)
    if arch >= 100 and not listed.name.startswith(TRIED):
        return f"an instruction of {listed.arch}, for which there is no kernel here"
    return ""


def numbered(listed: Listed) -> list[str]:
    """The names of a family with its number filled in, each of the range; the name alone where it has none, or two.

    >>> numbered(Listed("SM90_64x{N}x16_F16F16F16_SS", "mma", "sm90", "", "N = 8..24/8"))
    ['SM90_64x8x16_F16F16F16_SS', 'SM90_64x16x16_F16F16F16_SS', 'SM90_64x24x16_F16F16F16_SS']
    """
    key, _, words = listed.ranges.partition(" = ")
    if not words or "," in words:
        return [listed.name]
    return [listed.name.replace("{" + key + "}", str(n)) for word in words.split() for n in numbers(word)]


def swizzled() -> Iterator[tuple[str, Any]]:
    """(name, layout) of the shared-memory atoms of GMMA and TMA, for elements of 8, 16 and 32 bits.

    >>> name, layout = next(swizzled())
    >>> name, str(layout)
    ('GMMA::Layout_K_INTER_Atom<uint8_t>', 'Sw<0,4,3> o smem_ptr[8b](unset) o (_8,_16):(_16,_1)')
    """
    for mode, major, kind in product(("INTER", "SW32", "SW64", "SW128"), ("K", "MN"), ("uint8_t", "half_t", "tfloat32_t")):
        name = f"GMMA::Layout_{major}_{mode}_Atom<{kind}>"
        yield name, read(name).pick()


_MMA = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))"
TILINGS = (
    "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (4,2,1), (128,32,16))",
    "make_tiled_mma(SM80_16x8x16_F32BF16BF16F32_TN{}, (2,2,1), (32,(2,4,4):(1,8,2),16))",
    "make_tiled_mma(SM80_16x8x8_F32TF32TF32F32_TN{}, (1,4,1), (16,64,8))",
    "make_tiled_mma(SM80_16x8x32_S32S8U8S32_TN{}, (2,2,1))",
    "make_tiled_mma(SM80_16x8x64_S32S4U4S32_TN{}, (2,2,1))",
    "make_tiled_mma(SM80_8x8x128_S32U1U1S32_TN_XORPOPC{}, (2,1,1))",
    "make_tiled_mma(SM89_16x8x32_F32E4M3E5M2F32_TN{}, (2,2,1), (64,32,32))",
    "make_tiled_mma(SM90_16x8x8_F64F64F64F64_TN{}, (2,1,1), (64,16,16))",
    "make_tiled_mma(SM70_8x8x4_F16F16F16F16_TN{}, (2,2,1), (32,32,4))",
    "make_tiled_mma(SM70_8x8x4_F32F16F16F32_NT{}, (2,2,1), (32,32,4))",
    "make_tiled_mma(UniversalFMA<float>{}, (16,16,1))",
    "make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>{}, (2,1,1))",
    "make_tiled_mma(SM90_64x32x16_F16F16F16_SS<GMMA::Major::K,GMMA::Major::K>{}, (1,2,1), (128,64,16))",
    "make_tiled_mma(SM90_64x32x32_F32E4M3E5M2_RS_TN<>{}, (2,1,1), (128,64,32))",
    "make_tiled_mma(SM90_64x16x8_F32TF32TF32_RS_TN<>{}, (2,1,1))",
    f"make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N,half_t>{{}}, {_MMA})",
    f"make_tiled_copy_B(Copy_Atom<SM75_U32x2_LDSM_N,half_t>{{}}, {_MMA})",
    f"make_tiled_copy_B(Copy_Atom<SM75_U16x4_LDSM_T,half_t>{{}}, {_MMA})",
    f"make_tiled_copy_C(Copy_Atom<SM90_U32x4_STSM_N,half_t>{{}}, {_MMA})",
    f"make_tiled_copy_C(Copy_Atom<SM90_U16x8_STSM_T,half_t>{{}}, {_MMA})",
    f"make_tiled_copy_C(Copy_Atom<UniversalCopy<uint64_t>,float>{{}}, {_MMA})",
    "make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>,half_t>{}, (16,8):(8,1), (1,8))",
    "make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>,float>{}, (32,8), (4,1))",
    "make_tiled_copy(Copy_Atom<UniversalCopy<uint8_t>,uint8_t>{}, (8,4):(4,1), (2,3))",
)


def tilings() -> Iterator[tuple[str, Any]]:
    """(text, object) of tilings that stand for the many: atoms of every family, permuted and repeated, and copies of them.

    >>> text, mma = next(tilings())
    >>> str(mma.thr_layout_vmnk)
    '(_32,_4,_2,_1):(_1,_32,_128,_0)'
    """
    for text in TILINGS:
        yield text, read(text).pick()


def specs(library: Library = PACKAGED) -> Iterator[tuple[str, Any, tuple[int, int] | None]]:
    """(name, object, tile) of every spec of the library.

    >>> name, obj, tile = next(specs())
    >>> name.startswith("specs/")
    True
    """
    for path in library.spec_files():
        stem = os.path.splitext(os.path.basename(path))[0]
        for spec in read_specs(read_text(path), path, library):
            tile = spec.figure.get("tile")  # as written
            yield f"specs/{stem}" + (f":{spec.name}" if spec.name else ""), spec.obj, parse_tile(tile) if tile else None
