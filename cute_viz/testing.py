"""Assertions for tests of kernels: what fails shows the first wrong cells.

    from cute_viz.testing import assert_conflict_free, assert_covers, assert_same, assert_vector

A layout, a copy or an access is a text in any notation that `parse` reads, the address of an object in a file, as in
`assert_conflict_free("kernel.cu::sA", "kernel.cu::s2r_copy", let={"M": 512})`, or an object; `let` gives values to names.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from cute_viz.analysis import expect
from cute_viz.analysis.patterns import is_named
from cute_viz.api import parse, report
from cute_viz.engine.kernel_ci import failures
from cute_viz.engine.kernel_text import text_of
from cute_viz.options.words import parse_tile
from cute_viz.recording import Recorded

Let: TypeAlias = Mapping[str, object] | None

__all__ = ["assert_conflict_free", "assert_covers", "assert_no_bank_conflicts", "assert_same", "assert_vector"]


def assert_same(a: object, b: object, let: Let = None) -> None:
    """Assert that two layouts give the same offset at every coordinate.

    Raises: AssertionError with the first cells that differ; CuteVizError if a text cannot be read.

    >>> assert_same("(4,8):(8,1)", "make_layout(make_shape(4, 8), LayoutRight{})")
    >>> assert_same("(2,2):(2,1)", "(2,2):(1,2)")
    Traceback (most recent call last):
    AssertionError: (2,2):(2,1) and (2,2):(1,2) differ in 2 of 4 cells: (1,0) is 2 and 1; (0,1) is 1 and 2
    """
    _check(expect.same(_object(a, let), _object(b, let)))


def assert_covers(tv: object, tile: str | Sequence[int] | None = None, let: Let = None) -> None:
    """Assert that the threads of a TV layout or a TiledCopy hold every cell of the tile exactly once.

    tile: `(8, 128)` or "8x128"; a TiledCopy has its own.
    Raises: AssertionError with the first cells that no thread or several threads hold; CuteVizError if the input cannot be read.

    >>> assert_covers("((4,8),(2,2)):((32,1),(16,8))", "16x8")
    """
    _check(expect.covers(_object(tv, let), parse_tile(tile) if isinstance(tile, str) else tile))


def assert_conflict_free(
    smem: object,
    access: object,
    type: int | str | None = None,
    let: Let = None,
    *,
    instruction: str | None = None,
    operand: str | None = None,
    store: bool = False,
) -> None:
    """Assert that no access of a tile in shared memory has a bank conflict.

    access: `ldmatrix`, `rows` or `column`; a TiledCopy, a TiledMMA with `operand="A"`, or a layout (thread, value) -> index into
    the column-major tile.
    type: the element type, "f16", or its width in bits. instruction, operand, store: as for `cute-viz analyze`.
    Raises: AssertionError with the first access that conflicts, and the threads that share a bank; CuteVizError if the input cannot
    be read, or does not fit.

    >>> assert_conflict_free("Sw<3,3,3> o 0 o (8,64):(64,1)", "((8,4),8):((1,64),8)", "f16", instruction="ldmatrix.x4")
    """
    how = {"instruction": instruction, "operand": operand, "store": store}
    by = access if isinstance(access, str) and is_named(access) else _object(access, let)
    _check(expect.conflict_free(_object(smem, let), by, type, **how))


def assert_no_bank_conflicts(
    source: str | os.PathLike[str] | Recorded,
    *,
    launch: str | None = None,
    accept: Collection[int | str] = (),
    let: Let = None,
    most: float = 1,
) -> None:
    """Assert that no shared-memory access of a kernel costs more than `most` times its ideal number of wavefronts.

    source: the path of a file, its text, or the result of `cute_viz.record`, of which every kernel is checked.

    launch: check only this kernel, or only the kernels that this function launches.
    accept: lines that may cost anything: 201, "a.h:201".
    A store or cp.async that takes up to twice the ideal and has no fix is allowed.
    Raises: AssertionError with each line, the cause and the fix, also for statements that cannot be evaluated; CuteVizError for
    a file without copies.

    >>> text = "void f(float* p) {\\n  auto s = make_tensor(make_smem_ptr(p), make_layout(Shape<_32,_4>{}));\\n"
    >>> assert_no_bank_conflicts(text + "  copy(make_tensor<float>(_4{}), local_partition(s, Layout<_32>{}, threadIdx.x));\\n}")
    """
    reports = source.reports.values() if isinstance(source, Recorded) else [report(source, let=let, launch=launch)]
    if not reports:
        raise AssertionError("no kernel with copies was compiled")
    for found in reports:
        if wrong := failures(found, most, tuple(map(str, accept)), None):
            raise AssertionError("\n".join([*wrong, "", *text_of(found, "", spelling="python")]))


def assert_vector(copy: object, bits: int, let: Let = None) -> None:
    """Assert that a copy moves this many bits per instruction: `copy(src, dst)`, `copy(atom, src, dst)`, `copy_if(...)` or
    `copy_aligned(...)` as text, a TiledCopy or a Copy_Atom.

    Raises: AssertionError with what prevents it; CuteVizError if CuTe rejects the copy, or if it cannot be read.

    >>> assert_vector("Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint128_t>, half_t>{}", 128)
    """
    name = copy.split("(")[0].split("::")[-1].strip() if isinstance(copy, str) else ""
    if isinstance(copy, str) and name in ("copy", "copy_if", "copy_aligned"):
        from cute_viz.spec import PACKAGED

        _check(expect.vector(PACKAGED.read_call(copy, {name: parse(value) for name, value in (let or {}).items()})[1], bits, name))
    else:
        _check(expect.vector(_object(copy, let), bits))


def _object(x: object, let: Let) -> object:
    return parse(x, let) if isinstance(x, str) else x


def _check(failure: str) -> None:
    if failure:
        raise AssertionError(failure)
