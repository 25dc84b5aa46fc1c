"""The Python interface: `parse`, `figure`, `render`, `report`, searches; options have their names on the command line."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

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
    from cute_viz.engine.explaining import Explanation
    from cute_viz.engine.kernel import Report
    from cute_viz.engine.search import Search
    from cute_viz.figures.model import Figure
    from cute_viz.keywords import Drawing, Folders, Parsing, Writing

Parsed: TypeAlias = (
    "Layout | ComposedLayout | Swizzle | MMA_Atom | TiledMMA | CopyOp | Copy_Atom | TiledCopy | Tensor | int | tuple[object, ...]"
)


def parse(source: object, let: Mapping[str, object] | None = None, **words: Unpack[Parsing]) -> Parsed:
    """The object that a text stands for: CuTe notation, C++ or Python source, a print, the name of an atom; or what a file defines,
    `kernel.cu::gemm_tn::sA(_,_,0)`.

    let: values for run-time names, as values or texts. dialect: `auto`, `cute`, `cpp`, `dsl`, `dump`. name: which of several
    objects. layouts: folders of your own atoms and specs. limits: higher limits by their names. Anything but text is read as it
    prints. arch, wave: the target GPU where a name is ambiguous, gfx942, and its wave size. shape, bits: those of the tensor of
    an encoding.

    Raises: CuteVizError, which says what is wrong, and where.

    >>> str(parse("make_layout(make_shape(4, 8), make_stride(8, 1))")), str(parse("(M,8)", {"M": 4}))
    ('(4,8):(8,1)', '(4, 8)')
    """
    from cute_viz.engine import ask
    from cute_viz.engine.evaluate import evaluate
    from cute_viz.source.address import address_of

    request = _request((str(_plain(source)) if source is not None else None,), {"let": let, **words})
    (text,) = request.sources
    return cast("Parsed", ask(request).obj if address_of(text) is not None else evaluate(text, request)[0])


def figure(source: object, *more: object, **words: Unpack[Drawing]) -> Figure:
    """The picture of a source, or of several side by side.

    source, more: a text (an expression, the name of an atom or a spec, source code, a print, the address of an object in a file,
    `kernel.cu::sA`), an object, or a figure.
    view: how a layout is drawn: `grid`, `tv`, `table`, `both`, `banks`, `address`, `scales`, `operation`,
    `access`, `path`, `matrix`, `zoom`, `cube`, `steps`.
    tile: the tile that a thread-value layout covers, rows x columns: "8x128" or (8, 128).
    color_by: what the hue stands for: `offset`, `mod8`, `chunk`, `thread`, `value`, `warp`, `row`, `column`, `tile`, `none`.
    labels: the text in a cell: `auto`, `full`, `offset`, `coord`, `index`, `none`.
    coords: rulers show nested coordinates. title: instead of the one made from the object.
    thread, warp, value: colour only these: 5, "0..3" or range(4). follow: follow this one thread through a GEMM.
    operand: only these panels: "A", "CA", "S".
    type: the element of shared memory, "f16" or 16. tensor: draw what `thread` holds of this tensor. max_cells: reject more cells.
    coord: where the tile of a TMA copy begins in the tensor: "96,0". by: who accesses the tile of the view `access`.
    note: words on cells, a line each: "(0,0)..(7,0): one bank group", "T5: the first lane of its row".
    diff: mark what differs between two sources. fold: cut into bands of this many columns. crop: only the first rows x columns.
    let: values for run-time names. name, dialect, layouts, limits, arch, wave, shape, bits: as for `parse`.

    Raises: CuteVizError for a source or an option that is wrong, or where the object cannot be drawn that way.

    >>> figure("((4,8),(2,2)):((32,1),(16,8))", tile="16x8").title
    'Each thread holds 4 elements, in 2 pairs'
    """
    any_format = ("text", "svg")  # so that no image takes the place of labels, which not every format shows
    return _ask((source, *more), words, any_format, _DRAWN).figure


def render(source: object, format: str | os.PathLike[str] = "text", *more: object, **words: Unpack[Writing]) -> bytes:
    """The picture of a source in a format, as bytes; with a path as the format, such as "x.svg", it is also written there.

    format: `text`, `svg`, `png`, `pdf`, `html`, `tikz`, `json`, or a path, whose suffix is the format; the file appears whole or
    not at all. style: `cutlass` for the bytes of CuTe's own printers. palette: its name. theme: `auto`, `light`, `dark`,
    `print`. fragment: TikZ for \\\\input, SVG for inlining. width: of the page, in px. cell: the size of a cell, in px.
    target: where it will appear: `screen`, `readme`, `column`, `page`, `slide`, `terminal`. bare: only the panels.
    Everything else is as for `figure`.

    Raises: as `figure`, and for an unknown format, or one that does not use one of the options.

    >>> render("(2,2)", "svg")[:5]
    b'<?xml'
    """
    from cute_viz.engine.answer import format_of
    from cute_viz.renderers import FORMATS

    path = None
    if not isinstance(format, str) or (format not in FORMATS and os.path.splitext(format)[1]):
        path = _path(format)
    format_ = format_of(None if path else str(format), path)
    return _written(_ask((source, *more), words, (format_,)), format_, path)


def report(
    source: str | os.PathLike[str],
    *,
    let: Mapping[str, object] | None = None,
    launch: str | None = None,
    layouts: Folders = (),
    limits: Mapping[str, int] | None = None,
) -> Report:
    """What every copy and multiplication of a kernel costs, with the edits that fix it: of a file, by its path, or of its text.

    launch: of this kernel alone, or of what this function launches. let, layouts, limits: as for `parse`.

    Raises: CuteVizError for a source that is no file with copies.

    >>> text = "void f(float* p) {\\n  auto s = make_tensor(make_smem_ptr(p), make_layout(Shape<_32,_4>{}));\\n"
    >>> text += "  copy(make_tensor<float>(_4{}), local_partition(s, Layout<_32>{}, threadIdx.x));\\n}"
    >>> [(row.move.line, row.cost.wavefronts, row.cost.ideal) for row in report(text).accesses]
    [(3, 4, 4)]
    """
    from dataclasses import replace

    from cute_viz.engine import ask
    from cute_viz.errors import CuteVizError

    path = _path(source) if "\n" not in os.fspath(source) else os.fspath(source)
    request = replace(_request((path,), {"let": let, "name": launch, "layouts": layouts, "limits": limits}), files=True)
    found = ask(request).kernel
    if found is None:
        raise CuteVizError("there is no `copy` or `gemm` statement to report", name=None if "\n" in path else path)
    return found


def explain(
    source: object, *, let: Mapping[str, object] | None = None, name: str | None = None, layouts: Folders = ()
) -> Explanation:
    """The steps of an operation, a copy or an MMA, or what a swizzle does to the bits; `print` shows them.

    Raises: CuteVizError for a source that cannot be read.

    >>> print(str(explain("complement(4:2, 24)")).splitlines()[-1].strip())
    (2,3):(1,8)
    """
    from cute_viz.engine import ask

    return ask(_request((source,), {"let": let, "name": name, "layouts": layouts})).explanation


def find_swizzle(tile: str | tuple[int, int], accesses: Sequence[str] = (), *, type: int | str = "f16", arch: str = "") -> Search:
    """Every legal swizzle of a row-major tile in shared memory, and paddings, the best first: `found[0].swizzle`, and `why`.

    tile: rows x columns, "128x64" or (128, 64). accesses: `ldmatrix`, `cp.async`, `rows`, `column` ... as `find swizzle --list` has
    them; without any, those of an operand of a GEMM. type: of an element.

    Raises: CuteVizError for a tile, a type or an access that there is not.

    >>> found = find_swizzle("64x64", ["ldmatrix", "cp.async"])
    >>> str(found.found[0].swizzle), found.found[0].wavefronts, found.plain.wavefronts
    ('Sw<3,3,3>', 128, 576)
    """
    from cute_viz.engine.search import search_swizzle
    from cute_viz.options.words import read

    return search_swizzle(cast("tuple[int, int]", read("tile", tile)), type, tuple(accesses), arch)


def find_layout(table: str | Sequence[Sequence[int]]) -> Solved:
    """The layout that gives a table of offsets, or of owners (`T3V1`): its `layout`, `kind` and, for owners, `tile`.

    table: rows of integers, or a text with rows in lines or parted by semicolons.

    Raises: AlgebraError where no layout gives it, with the first cell that contradicts the cells before it.

    >>> str(find_layout([[0, 1, 2, 3], [5, 4, 7, 6]]).layout), str(find_layout("T0V0 T0V1; T1V0 T1V1").layout)
    ('Sw<1,0,2> o 0 o (2,4):(4,1)', '(2,2):(1,2)')
    """
    from cute_viz.analysis.solve import solve, solved

    return solved(table) if isinstance(table, str) else solve([list(map(int, row)) for row in table])


def compare(source: object, other: object, **words: Unpack[Drawing]) -> Figure:
    """The picture of what differs between two sources, cell by cell; the keywords are those of `figure`.

    Raises: as `figure`, and where the two have no geometry in common.

    >>> compare("(4,4):(4,1)", "(4,4):(1,4)").title
    'What differs: 12 of 16 cells'
    """
    words["diff"] = True
    return figure(source, other, **words)


def interact(draw: Callable[..., object], /, **choices: object) -> object:
    """In a notebook, a picture with a slider or a list for each parameter: `interact(lambda bits=range(4): f"Sw<{bits},3,3>")`.

    draw: gives a figure, or what `figure` takes. choices: the values of its parameters (a range, a list, a number, a flag, a text),
    instead of their defaults.

    Raises: CuteVizError where ipywidgets is not installed, or a parameter has no values.

    >>> interact(lambda bits: f"Sw<{bits},3,3>")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    cute_viz.errors.CuteVizError: the parameter bits has no values
    """
    from inspect import Parameter, signature

    from cute_viz.errors import CuteVizError
    from cute_viz.figures.model import Figure

    try:
        display, ipywidgets = import_module("IPython.display").display, import_module("ipywidgets")
    except ImportError:
        raise CuteVizError("sliders need the package ipywidgets", hint="pip install 'cute-viz[notebook]'") from None
    known = {name: choices.get(name, parameter.default) for name, parameter in signature(draw).parameters.items()}
    for name, values in known.items():
        if values is Parameter.empty:
            raise CuteVizError(f"the parameter {name} has no values", hint=f"{name}=[...], a range, a number or a text")
        if isinstance(values, range):
            known[name] = values.start, values[-1], values.step  # as ipywidgets abbreviates a slider
        elif isinstance(values, (list, tuple)):
            known[name] = [(str(one), one) for one in values]

    def show(**values: Any) -> None:
        try:
            drawn = draw(**values)
            display(drawn if isinstance(drawn, Figure) else figure(drawn))
        except CuteVizError as error:
            print(error)

    return ipywidgets.interact(show, **known)


_PLAIN = 2000  # characters of a notebook's text
_STILL = 150_000  # of an SVG that is shown without hover


def bundle(value: object) -> dict[str, str]:
    """What a notebook shows of a value: its picture, if it can be drawn, and its text."""
    from cute_viz.errors import CuteVizError

    try:
        answer = _ask((value,), {})
        svg = answer.write("svg", fragment=True).decode()
        text = answer.write("text").decode() if answer.subjects[0].figure is not None else str(value)
    except CuteVizError:
        return {"text/plain": repr(value)[:_PLAIN]}
    if len(text) > _PLAIN:
        lines = text[: _PLAIN - 100].splitlines()
        text = "\n".join([*lines[: -1 or None], f"... {len(text.splitlines()) - len(lines) + 1} more lines"])
    still = {"image/svg+xml": svg, "text/plain": text}
    if len(svg) > _STILL:
        return still
    from cute_viz.renderers.inline import framed

    image = f'<img alt="" src="data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}">'  # where frames are removed
    return {"text/html": framed(answer.write("html").decode(), answer.figure.title, fallback=image), **still}


def write(figure: object, format: str | None, path: str | None, how: Mapping[str, Any]) -> bytes:
    """A finished figure in a format, written to a path where there is one: what `display.Drawn` promises."""
    from cute_viz.engine.answer import format_of

    format_ = format_of(format, path)
    return _written(_ask((figure,), how, (format_,), ("page",)), format_, path)


_OF_SOURCES: dict[str, Any] = {"let": None, "name": None, "dialect": "auto", "layouts": (), "limits": None}  # and their defaults
_OF_TARGETS = ("arch", "wave", "shape", "bits")  # the words of `Library.with_words`
_DRAWN = ("object", "panels", "several")  # levels of options that are no page's


def _ask(
    sources: tuple[Any, ...], words: Mapping[str, Any], formats: tuple[str, ...] = (), levels: tuple[str, ...] = (*_DRAWN, "page")
) -> Answer:
    from cute_viz.engine import ask

    return ask(_request(sources, words, formats, levels))


def _request(
    sources: tuple[Any, ...], words: Mapping[str, Any], formats: tuple[str, ...] = (), levels: tuple[str, ...] = ()
) -> Any:
    """What the words of a call ask for. levels: those of the options that the function takes. Raises: TypeError for other words."""
    from cute_viz.engine import Request
    from cute_viz.errors import CuteVizError
    from cute_viz.options import OPTIONS
    from cute_viz.spec import Library

    if any(source is None for source in sources):
        raise CuteVizError("the source is None", hint="give a text, for example (4,8):(8,1), or an object")
    known = {*_OF_SOURCES, *_OF_TARGETS, *(name for name, option in OPTIONS.items() if option.level in levels)}
    if other := set(words) - known:
        raise TypeError(f"got an unexpected keyword argument {min(other)!r}")
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


def _written(answer: Answer, format: str, path: str | None) -> bytes:
    data = answer.write(format)
    if path is not None:
        from cute_viz.files import write

        write(data, path)
        if (caption := answer.caption(format)) is not None:
            stem = os.path.splitext(path)[0]  # nobody named this file: a link of its name is not followed
            write(caption[1].encode("utf-8", "replace"), stem + caption[0], os.path.dirname(path))
    return data
