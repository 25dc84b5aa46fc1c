"""The Python interface: `parse`, `figure`, `render`, `report`, searches; options have their names on the command line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsInt, TypeAlias, cast

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from cute_viz.algebra.composed import ComposedLayout
    from cute_viz.algebra.copy import Copy_Atom, CopyOp, TiledCopy
    from cute_viz.algebra.layout import Layout
    from cute_viz.algebra.mma import MMA_Atom, TiledMMA
    from cute_viz.algebra.swizzle import Swizzle
    from cute_viz.algebra.tensor import Tensor
    from cute_viz.analysis.solve import Solved
    from cute_viz.engine import Answer
    from cute_viz.engine.explanation import Explanation
    from cute_viz.engine.kernel_rows import Report
    from cute_viz.engine.search import Search
    from cute_viz.figures.model import Figure
    from cute_viz.keywords import DrawingWords, Folders, RenderWords, SourceWords

Parsed: TypeAlias = (
    "Layout | ComposedLayout | Swizzle | MMA_Atom | TiledMMA | CopyOp | Copy_Atom | TiledCopy | Tensor | int | tuple[object, ...]"
)


def parse(source: object, let: Mapping[str, object] | None = None, **words: Unpack[SourceWords]) -> Parsed:
    """Return the object that a text describes: CuTe notation, C++ or Python source, a print, or the name of an atom. An address,
    `kernel.cu::gemm_tn::sA(_,_,0)`, gives an object of a file. A source that is not text is read as it prints.

    let: values for names that are known only at run time, as values or as text. name: picks one of several objects.
    dialect: `auto`, `cute`, `cpp`, `dsl` or `dump`. layouts: folders with your own atoms and specs.
    limits: higher limits, by name (`cute-viz list limits`). arch, wave: the target GPU of an ambiguous name ("gfx942") and its wave
    size in lanes. shape, bits: the tensor shape and the bits per element of a Triton encoding; of a copy
    that is drawn, bits per value.

    Returns: a layout, swizzle, atom, tiling, tensor, integer or tuple.
    Raises: CuteVizError with the mistake and its place; OSError, as FileNotFoundError, for a file that cannot be read.

    >>> str(parse("make_layout(make_shape(4, 8), make_stride(8, 1))")), str(parse("(M,8)", {"M": 4}))
    ('(4,8):(8,1)', '(4, 8)')
    """
    from cute_viz.engine import ask
    from cute_viz.engine.evaluate import evaluate
    from cute_viz.source.address import address_of

    request = _request((str(_plain(source)) if source is not None else None,), {"let": let, **words})
    (text,) = request.sources
    return cast("Parsed", ask(request).obj if address_of(text) is not None else evaluate(text, request)[0])


def figure(source: object, *more: object, **words: Unpack[DrawingWords]) -> Figure:
    """Draw a source, or several side by side, and return the picture as a value that no format has shaped yet.

    source, more: text (an expression, the name of an atom or a spec, source code, a print, or the address of an object in a file,
    `kernel.cu::sA`), an object, or a figure.
    view: how to draw a layout: `grid`, `tv`, `table`, `both`, `banks`, `address`, `scales`, `operation`,
    `access`, `path`, `matrix`, `zoom`, `cube`, `pipeline`, `steps`.
    tile: the tile that a thread-value layout covers, rows x columns in elements: "8x128" or (8, 128).
    color_by: what hue means: `offset`, `mod8`, `chunk`, `thread`, `value`, `warp`, `row`, `column`, `tile`, `none`.
    labels: the text in each cell: `auto`, `full`, `offset`, `coord`, `index`, `swizzle` (before → after), `all`, `none`.
    coords: show nested coordinates on the rulers. title: replace the default title.
    thread, warp, value: color only these: 5, "0..3" or range(4). follow: follow this thread through a GEMM.
    operand: draw only these panels: "A", "CA", "S". tensor: draw what `thread` holds of this tensor.
    type: the element type, "f16", or its width in bits, 16. coord: the origin of a TMA tile in its tensor: "96,0".
    schedule: the numbers of a pipeline: "tiles=8,load=3". cluster: the CTAs of a zoom that share TMA loads: "2x1".
    by: what accesses the tile of the view `access`. note: words on cells, one line each: "(0,0)..(7,0): one bank group".
    diff: mark the cells that differ between two sources. fold: wrap panels after this many columns.
    blank: leave out labels for an exercise: "offsets=5". key: show the answers beside it.
    crop: draw only the first rows x columns. max_cells: reject larger figures.
    let, name, dialect, layouts, limits, arch, wave, shape, bits: as for `parse`.

    Raises: CuteVizError if the source or an option is wrong, or if the object cannot be drawn that way; OSError as `parse`.

    >>> figure("((4,8),(2,2)):((32,1),(16,8))", tile="16x8").title
    'Each thread holds 4 elements, in 2 pairs'
    """
    any_format = ("text", "svg")  # so that no image takes the place of labels, which not every format shows
    return answer_of((source, *more), words, any_format, _DRAWN).figure


def render(source: object, format: str | os.PathLike[str] = "text", *more: object, **words: Unpack[RenderWords]) -> bytes:
    """Draw a source and return the file as bytes. If `format` is a path, for example "x.svg", write the file there, too.

    format: `text`, `svg`, `png`, `pdf`, `html`, `tikz`, `json`, or a path whose suffix names the format. The file appears whole or
    not at all. style: `cutlass` for the exact bytes of CuTe's own printers. palette: a name (`cute-viz list palettes`).
    theme: `auto`, `light`, `dark`, `print`. fragment: TikZ for \\\\input, or SVG for inlining. width: page width in px.
    cell: cell size in px. letters: their size in px, in all pictures of a document the same. animate: an SVG that moves.
    target: where the picture will appear: `screen`, `readme`, `column`, `page`, `slide`, `terminal`.
    bare: draw only the panels. The other options are those of `figure`.

    Raises: CuteVizError as `figure` does, and for an unknown format or an option that the format does not use.

    >>> render("(2,2)", "svg")[:5]
    b'<?xml'
    """
    from cute_viz.engine.answer import format_of
    from cute_viz.renderers import FORMATS

    path = None
    if not isinstance(format, str) or (format not in FORMATS and os.path.splitext(format)[1]):
        path = _path(format)
    format_ = format_of(None if path else str(format), path)
    return written(answer_of((source, *more), words, (format_,)), format_, path)


def report(
    source: str | os.PathLike[str],
    *,
    let: Mapping[str, object] | None = None,
    launch: str | None = None,
    layouts: Folders = (),
    limits: Mapping[str, int] | None = None,
) -> Report:
    """Count the wavefronts (shared memory) and sectors (global memory) of every `copy` and `gemm` in a kernel, and find the
    edits that fix conflicts. `print` shows what `cute-viz analyze` prints; a row of `accesses` has its `line`, `text`,
    `wavefronts`, `ideal` and `ways`, and `as_dict()` all that `--json` has.

    source: the path of a file, or its text. launch: report only this kernel, or only the kernels that this function launches.
    let, layouts, limits: as for `parse`.

    Raises: CuteVizError if the source has no `copy` or `gemm`; OSError as `parse`.

    >>> text = "void f(float* p) {\\n  auto s = make_tensor(make_smem_ptr(p), make_layout(Shape<_32,_4>{}));\\n"
    >>> text += "  copy(make_tensor<float>(_4{}), local_partition(s, Layout<_32>{}, threadIdx.x));\\n}"
    >>> [(row.line, row.wavefronts, row.ideal, row.ways) for row in report(text).accesses]
    [(3, 4, 4, 1.0)]
    """
    from dataclasses import replace

    from cute_viz.engine import ask
    from cute_viz.errors import CuteVizError

    path = _path(source) if "\n" not in os.fspath(source) else os.fspath(source)
    request = replace(_request((path,), {"let": let, "name": launch, "layouts": layouts, "limits": limits}), files=True)
    found = ask(request).kernel
    if found is None:
        raise CuteVizError("there is no `copy` or `gemm` statement to report", name=None if "\n" in path else path)
    return found if "\n" in path else replace(found, name=os.path.basename(path))


def explain(
    source: object, *, let: Mapping[str, object] | None = None, name: str | None = None, layouts: Folders = ()
) -> Explanation:
    """Explain an operation, a copy, an MMA or a swizzle step by step; `print` shows the steps.

    let, name, layouts: as for `parse`.

    Raises: CuteVizError if the source cannot be read.

    >>> print(str(explain("complement(4:2, 24)")).splitlines()[-1].strip())
    (2,3):(1,8)
    """
    from cute_viz.engine import ask

    return ask(_request((source,), {"let": let, "name": name, "layouts": layouts})).explanation


def who(source: object, where: str, **words: Unpack[DrawingWords]) -> str:
    """Say who holds a place of a layout, an atom or a tiling, in the words of `cute-viz show --who`.

    where: a coordinate, "C(5,3)" or "(5,3)", threads and values, "T5 V1", "offset 9", "warp 1" or "lane 4"; with the
    `type` of the elements also "bank 3" and "byte 128". The other keywords are those of `figure`.

    Raises: CuteVizError as `figure` does, and for a place that the picture does not have.

    >>> who("SM80_16x8x16_F32F16F16F32_TN", "C(5,3)")
    'C(5,3): T21 V1'
    """
    from cute_viz.engine import owners

    return str(owners.who(lambda given: answer_of((source,), given, ("svg",), _DRAWN), where, words)["words"])


def find_swizzle(
    tile: str | tuple[int, int],
    accesses: str | Sequence[str] = (),
    *,
    read: str | Sequence[str] = (),
    write: str | Sequence[str] = (),
    type: int | str = "f16",
    arch: str = "",
) -> Search:
    """Rank every legal swizzle and padding of a row-major tile in shared memory. `found[0].swizzle` is the best, `why` the reason;
    `print` shows a table.

    tile: rows x columns in elements, "128x64" or (128, 64). accesses: how the tile is read and written, by the names of
    `cute-viz find swizzle --list`: `ldmatrix`, `cp.async`, `rows`, `column`. The default is the accesses of a GEMM operand.
    read, write: further accesses, one or several. type: the element type, "f16", or its width in bits. arch: the target GPU, for
    its own accesses.

    Raises: CuteVizError for an unknown type or access, or a tile that the access does not fit.

    >>> found = find_swizzle("64x64", ["ldmatrix", "cp.async"])
    >>> str(found.found[0].swizzle), found.found[0].wavefronts, found.plain.wavefronts
    ('Sw<3,3,3>', 128, 576)
    """
    from cute_viz.engine.search import search_swizzle
    from cute_viz.options import words

    names = [name for some in (accesses, read, write) for name in ((some,) if isinstance(some, str) else some)]
    return search_swizzle(cast("tuple[int, int]", words.read("tile", tile)), type, names, arch)


def find_layout(table: str | Iterable[Iterable[SupportsInt]], *, tile: str | tuple[int, int] | None = None) -> Solved:
    """Find the layout that produces a table of offsets or owners (`T3V1`), or what a function computes. The result has a `layout`,
    its `kind`, and for owners the `tile`.

    table: rows of integers, also an array of numpy, or text with one row per line (or rows separated by semicolons); or a function
    of a row and a column, in C++ or Python, as its text or its address, `kernel.cu::index`. tile: the rows and columns of a
    function, "8x64".

    Raises: AlgebraError if no layout produces the table, with the first cell that contradicts the cells before it.

    >>> str(find_layout([[0, 1, 2, 3], [5, 4, 7, 6]]).layout), str(find_layout("T0V0 T0V1; T1V0 T1V1").layout)
    ('Sw<1,0,2> o 0 o (2,4):(4,1)', '(2,2):(1,2)')
    >>> str(find_layout("int f(int r, int c) { return r * 8 + (c ^ r); }", tile="8x8").layout)
    'Sw<3,0,3> o 0 o (8,8):(8,1)'
    """
    from cute_viz.analysis.solve import solve, solved

    if tile is not None:
        from cute_viz.engine.arithmetic import layout_of
        from cute_viz.engine.request import Request
        from cute_viz.options.words import read

        return layout_of(str(table), read("tile", tile), Request(()))
    return solved(table) if isinstance(table, str) else solve([list(map(int, row)) for row in table])


def compare(source: object, other: object, **words: Unpack[DrawingWords]) -> Figure:
    """Draw the difference between two sources, cell by cell. The keywords are those of `figure`.

    Raises: CuteVizError as `figure` does, and if the two do not share a geometry.

    >>> compare("(4,4):(4,1)", "(4,4):(1,4)").title
    '12 of 16 cells have another offset: the same offsets, in another order'
    """
    words["diff"] = True
    return figure(source, other, **words)


_OF_SOURCES: dict[str, Any] = {"let": None, "name": None, "dialect": "auto", "layouts": (), "limits": None}  # and their defaults
_OF_TARGETS = ("arch", "wave", "shape", "bits")  # the words of `Library.with_words`
_DRAWN = ("object", "panels", "several")  # levels of options that do not concern a page


def answer_of(
    sources: tuple[Any, ...], words: Mapping[str, Any], formats: tuple[str, ...] = (), levels: tuple[str, ...] = (*_DRAWN, "page")
) -> Answer:
    """The answer to a call with these keywords."""
    from cute_viz.engine import ask

    return ask(_request(sources, words, formats, levels))


def _request(
    sources: tuple[Any, ...], words: Mapping[str, Any], formats: tuple[str, ...] = (), levels: tuple[str, ...] = ()
) -> Any:
    """What the words of a call ask for. levels: those of the options that the function takes. Raises: TypeError for other words."""
    from cute_viz.engine import Request
    from cute_viz.errors import CuteVizError, did_you_mean
    from cute_viz.options import OPTIONS
    from cute_viz.spec import Library

    if any(source is None for source in sources):
        raise CuteVizError("the source is None", hint="give a text, for example (4,8):(8,1), or an object")
    known = {*_OF_SOURCES, *_OF_TARGETS, *(name for name, option in OPTIONS.items() if option.level in levels)}
    if other := set(words) - known:
        called = {(): "parse", _DRAWN: "figure"}.get(levels, "render")
        own = OPTIONS[min(other)].level if min(other) in OPTIONS else ""
        takes = "`render`, and of a figure's `render` and `save`" if own == "page" else "`figure` and `render`"
        hint = f"it is a keyword of {takes}" if own else did_you_mean(min(other), known, 1)
        raise TypeError(f"{called}() got an unexpected keyword argument {min(other)!r}{f'; {hint}' if hint else ''}")
    given = {key: _plain(word) for key, word in words.items() if word is not None}
    let, name, dialect, layouts, limits = (given.pop(key, other) for key, other in _OF_SOURCES.items())
    gpu = {key: given.pop(key, None) for key in _OF_TARGETS}
    if gpu["shape"] is not None and not isinstance(gpu["shape"], str):
        gpu["shape"] = "x".join(map(str, gpu["shape"]))
    _check(name is None or isinstance(name, str), "name", "the name of one of several objects", name)
    _check(isinstance(dialect, str), "dialect", "text, for example cpp", dialect)
    for key, names in (("let", let), ("limits", limits)):
        fits = names is None or (isinstance(names, Mapping) and all(isinstance(one, str) for one in names))
        _check(fits, key, "a mapping of names to values", names)
    several = (layouts,) if isinstance(layouts, (str, os.PathLike)) else layouts
    fits = isinstance(several, (tuple, list)) and all(isinstance(folder, (str, os.PathLike)) for folder in several)
    _check(fits, "layouts", "a folder, or a tuple of folders", layouts)
    library = Library.of_environment(tuple(_path(folder) for folder in several)).with_words(gpu)
    values, most = ({key: _plain(value) for key, value in (names or {}).items()} for names in (let, limits))
    return Request(tuple(map(_plain, sources)), given, values, name, dialect, library, most, formats)


def _plain(value: Any) -> Any:
    """Python's own for what NumPy and others have: an int for an integer of 64 bits, a list for an array."""
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    return value.tolist() if hasattr(value, "dtype") and callable(getattr(value, "tolist", None)) else value


def _check(fits: bool, name: str, wanted: str, value: Any) -> None:
    from cute_viz.errors import CuteVizError

    if not fits:
        raise CuteVizError(f"`{name}=` must be {wanted}, not {value!r}")


def _path(path: str | os.PathLike[str]) -> str:
    from cute_viz.errors import CuteVizError

    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise CuteVizError(f"a format or a path must be text, not {path!r}", hint='example: "svg", or "x.svg"')
    return str(os.fspath(path))


def written(answer: Answer, format: str, path: str | None) -> bytes:
    """The answer in a format, written to a path, with its caption beside it, where there is one."""
    data = answer.write(format)
    if path is not None:
        from cute_viz.files import write

        write(data, path)
        if (caption := answer.caption(format)) is not None:
            stem = os.path.splitext(path)[0]  # nobody named this file: a link of its name is not followed
            write(caption[1].encode("utf-8", "replace"), stem + caption[0], os.path.dirname(path))
    return data
