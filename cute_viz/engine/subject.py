"""A source -> its subject: the object, the spec or the finished figure that it stands for, and what a reader should know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from cute_viz.algebra.common import Operation
from cute_viz.algebra.composed import domain, is_layout
from cute_viz.algebra.copy import CopyOp, make_copy_atom
from cute_viz.algebra.inttuple import modes, product
from cute_viz.algebra.tensor import whole
from cute_viz.display import Drawn
from cute_viz.engine.reading import Reading, values_of
from cute_viz.engine.request import Request
from cute_viz.engine.whole import meant, value_of
from cute_viz.errors import CuteVizError, FigureError, UsageError
from cute_viz.notation import DIALECTS, is_triton
from cute_viz.notation.program import Document
from cute_viz.records import dataclass

if TYPE_CHECKING:
    from cute_viz.figures.model import Figure
    from cute_viz.source.model import Entry, SourceFile
    from cute_viz.spec.made import Spec

Pair: TypeAlias = "tuple[int, int]"


_TAUGHT = (
    *(f"{kind}_{what}" for kind in ("logical", "zipped", "tiled", "flat") for what in ("divide", "product")),
    *("blocked_product", "raked_product", "composition", "complement", "coalesce", "right_inverse", "left_inverse"),
    *("slice", "local_tile", "local_partition"),
)  # operations whose picture is that of what went in and what came out
_TAUGHT_IN = rf"{'|'.join(_TAUGHT)}|\bo\b|[∘⊘⊗]|_\s*[,)]"
_OF_RESULTS = {"view", "tile", "color_by", "type", "tensor", "diff", "thread", "warp", "value", "operand"}
_DESCRIPTOR = r"0[xX][0-9a-fA-F]{9,16}"  # more than 32 bits


@dataclass(frozen=True, slots=True)
class Subject:
    """What one source stands for.

    obj: the object; None for a finished figure. name: what it is called in its text or file, or "". spec: where it comes from one.
    figure: a picture that was drawn before.
    file: the whole file that it stands in. notes: what a reader should know of the reading. objects: all of the source by name,
    of a file what was evaluated.
    call: the operation that gave the object, where its picture is that of the operation unless something else is asked for.
    tile: the tile that an encoding of threads and values covers, `8x128`, where its text tells it. wave: how many of its threads
    run together, and what they are called. tensor: what the object is the layout of, its offset included, where a text made one.
    bits: of an element of it, where its text says it.
    """

    obj: Any = None
    name: str = ""
    spec: Spec | None = None
    figure: Figure | None = None
    file: SourceFile | None = None
    notes: tuple[str, ...] = ()
    objects: tuple[tuple[str, Any], ...] = ()
    call: Any = None
    tile: str = ""
    wave: tuple[int, str] | None = None
    tensor: Any = None
    bits: int | None = None


def subject_of(source: object, request: Request) -> Subject:
    """The subject of a source, or of what was read of it. Raises: CuteVizError for a text that cannot be read, with the place,
    and for a name that means nothing, with those like it."""
    if request.dialect not in DIALECTS:
        raise CuteVizError(f"invalid value {request.dialect!r} for `dialect=`", hint=f"one of {', '.join(DIALECTS)}")
    reading = source if isinstance(source, Reading) else Reading(source, request)
    if reading.text is None:
        return _of_object(reading.source, request)
    if reading.is_spec:
        return _of_spec(reading.path or "", reading.query, request, reading.root)
    if reading.path is not None and reading.path.endswith(".json"):
        return Subject(figure=_figure(reading.text, reading.path))
    word = reading.text.strip()
    if reading.name is None and word.isidentifier() and (path := request.library.spec_file(word)):
        return _of_spec(path, request.name or word, request)
    if re.fullmatch(_DESCRIPTOR, word):
        from cute_viz.algebra.descriptor import DescriptorWord

        return Subject(made := DescriptorWord(int(word, 16)), objects=(("", made),))
    return _of_text(reading)


def _of_object(value: object, request: Request) -> Subject:
    """What an object stands for that no text has to be read for."""
    kind = type(value)
    if isinstance(value, Drawn):
        return Subject(figure=value)  # type: ignore[arg-type]  # the only one that is drawn
    from cute_viz.spec.made import Spec

    if isinstance(value, Spec):
        return _of_made(value)
    if kind.__module__.startswith("cute_viz.") or kind in (int, tuple):
        return Subject(value, objects=(("", value),))
    return subject_of(str(value), request)  # the layouts, TiledCopy and TiledMMA of CUTLASS's Python DSL, which print as CuTe does


def _of_spec(path: str, name: str | None, request: Request, root: str | None = None) -> Subject:
    from cute_viz.spec.build import spec_in

    return _of_made(spec_in(path, name, request.library, root))


def _of_made(spec: Spec) -> Subject:
    return Subject(spec.obj, spec.name, spec, objects=((spec.name, spec.obj),), wave=spec.wave)


def _of_text(reading: Reading) -> Subject:
    text, name, request = reading.text or "", reading.name, reading.request
    if text.lstrip().startswith("{") and '"' in text[:200] and not _is_notebook(text):
        return Subject(figure=_figure(text, name or "the JSON"))
    if request.strict and not text.strip():
        raise CuteVizError(
            "there is nothing to draw", hint="write an expression, for example (4,8):(8,1), or the name of a spec", name=name
        )
    if request.options.get("view") in ("operation", "steps"):
        return _of_operation(text, name, request)
    try:
        if reading.file is not None:
            return _of_file(reading.file, reading)
        document = request.library.read(text, values_of(request.let, request), dialect=request.dialect, free=True)
        if request.strict and "\n" in text.strip() and (problem := document.problem()):
            raise problem  # of a pasted block a line that cannot be read may be noise; in a document it is a mistake
        value = document.pick(reading.query, drawable=True)
    except CuteVizError as error:
        from cute_viz.engine.suggest import suggested

        raise suggested(error, text, request.library, request.files).named(name) from None
    own = next((key for key, other in document.values.items() if other is value), "")
    notes, objects = _notes(document, value, own, text, request), tuple(document.values.items())
    if isinstance(value, CopyOp) and request.library.bits:
        value = make_copy_atom(value, request.library.bits)
    if is_triton(text):
        from cute_viz.notation.triton import tile_of

        tile, lanes = tile_of(text, request.library.shape, own)
        return Subject(value, own, notes=notes, objects=objects, tile=tile, wave=(lanes, "warp") if lanes else None)
    if (tv := _with_tile(value)) is not None:
        return Subject(tv[0], own, notes=notes, objects=objects, tile=tv[1])
    tensor = document.tensors.get(own)
    bits = document.bits.get(own)
    return Subject(value, own, notes=notes, objects=objects, call=_call(text, value, request), tensor=tensor, bits=bits)


def _with_tile(value: object) -> tuple[object, str] | None:
    """The layout of threads and values in what `make_layout_tv` returns, and the tile that it covers."""
    from cute_viz.algebra.layout import Layout

    if not isinstance(value, tuple) or len(value) != 2 or not isinstance(value[0], tuple) or not isinstance(value[1], Layout):
        return None
    tile = "x".join(map(str, value[0]))
    return (value[1], tile) if re.fullmatch(r"_?\d+x_?\d+", tile) else None


def _is_notebook(text: str) -> bool:
    from cute_viz.source.notebook import is_notebook

    return is_notebook(text)


def _call(text: str, value: object, request: Request) -> object:
    """The operation that the last statement of a text is, where it teaches more than its result alone; else None."""
    given = {name for name, word in request.options.items() if word is not None}
    if request.name is not None or request.dialect != "auto" or given & _OF_RESULTS or not re.search(_TAUGHT_IN, text):
        return None
    if "ArithTuple" in text:  # `ArithTuple(4,8) o L` is the print of one tensor
        return None
    from cute_viz.algebra import ops

    if not is_layout(value):
        return None
    try:
        operation, operands, template = request.library.read_call(text, values_of(request.let, request))
        taught = bool(operation) and ops.find(operation).name in _TAUGHT
    except CuteVizError:
        return None
    return Operation(operation, tuple(operands), template) if taught else None


def _of_file(file: SourceFile, reading: Reading) -> Subject:
    """The entry of a whole file that is meant."""
    from cute_viz.source.model import matching

    entry, value = meant(file, reading.query)
    all_of_it = reading.request.strict and reading.path is None  # of a block, in which nothing else is to be read
    read = [(other.path, value_of(other)) for other in file.entries] if all_of_it else [(entry.path, value)]
    notes: tuple[str, ...] = ()
    if reading.query is not None and len(same := matching(file.own, reading.query)) > 1:
        others = ", ".join(other.place for other in same if other.place != entry.place)
        notes = (f"{entry.path} of line {entry.place}; others of this name are on line {others}",)
    if reading.query is None and len(file.own) > 1:
        which = f"{entry.path} (line {entry.place})"
        notes = (f"using {which} of {len(file.own)} definitions; `name=` picks another, 'cute-viz list' shows all",)
        notes += tuple(_unreadable(file, entry))
    return Subject(value, entry.name, file=file, notes=(*notes, *file.given.notes), objects=tuple(read), bits=_bits_of(entry))


def _unreadable(file: SourceFile, entry: Entry) -> Iterator[str]:
    """Why the last definition of a file is not the one that is meant."""
    later = [x for x in file.own[file.own.index(entry) + 1 :] if x.likely] if entry in file.own else []
    try:
        value_of(later[-1]) if later else None
    except CuteVizError as error:
        yield f"{later[-1].path} (line {later[-1].place}) cannot be read: {error.message}"


def _bits_of(entry: Entry) -> int | None:
    """The width of the elements of an entry that was read, where it is a tensor's and its text says it."""
    found = entry.tensor() if entry.tensor is not None else None
    return found.bits if found is not None and found.pointer.known is not None else None


def _of_operation(text: str, name: str | None, request: Request) -> Subject:
    """The operation that a text is, with its operands, not carried out."""
    if request.name is not None or request.dialect != "auto":
        option = "name" if request.name is not None else "dialect"
        raise UsageError(
            f"`{option}=` cannot be combined with `view=operation` or `view=steps`, which draw the last operation of its text"
        )
    try:
        operation, operands, template = request.library.read_call(text, values_of(request.let, request))
    except CuteVizError as error:
        raise error.named(name) from None
    if not operation:
        raise FigureError(f"{text!r} is not an operation", hint="example: logical_divide((8,6), (4,3)), or A o B")
    call = Operation(operation, tuple(operands), template)
    return Subject(call, objects=(("", call),))


def _notes(document: Document, value: object, own: str, text: str, request: Request) -> tuple[str, ...]:
    """Of a block: which of its objects is drawn, and which lines were not read."""
    if request.name is not None or "\n" not in text.strip():
        return ("only the last statement after ';' is drawn; was ':' meant?",) if document.passed else ()
    others = [key for key, other in document.values.items() if key and other is not value and not isinstance(other, int)]
    out = []
    if others:
        which = f", {own}" if own else ""
        out.append(f"using the last of {len(others) + 1} objects{which}; `name=` picks {', '.join(others[-8:])}")
    out += [f"{key} was not read: {error.message}" for key, error in list(document.failures.items())[:4]]
    return tuple(out)


def _figure(text: str, name: str) -> Figure:
    from cute_viz.figures.load import from_json

    try:
        return from_json(text)
    except CuteVizError as error:
        raise error.but(name=name) from None


class Launched(NamedTuple):
    """The tile of C, the grid of CTAs, the CTAs of a cluster along M and N, and the K of a tile; None for what is not known."""

    tile: Pair | None = None
    grid: Pair | None = None
    cluster: Pair | None = None
    k: int | None = None


class _Cut(NamedTuple):
    """A tensor that `local_tile` cuts: the extents of what it gives, and the first two of its own."""

    into: tuple[int, ...]
    whole: tuple[int, ...]

    @property
    def tile(self) -> Pair:
        return self.into[0], self.into[1]

    @property
    def tiles(self) -> Pair | None:
        """How many tiles there are; None of extents that are not known."""
        m, n = (-(-whole // one) if isinstance(whole, int) else None for whole, one in zip(self.whole, self.tile, strict=True))
        return None if m is None or n is None else (m, n)


def launched(file: SourceFile) -> Launched:
    """Where the file, as its launch runs it, cuts its tensors into tiles of C, and makes masks of multicasts. Nothing where
    several differ. What a compiler leaves to the run, the extents of C, is taken from the text, where that has the same tile."""
    of_c, of_a = _of_c_and_a(file)
    cuts = {(cut.tile, cut.tiles) for cut in of_c}
    if len(cuts) != 1:
        return Launched()
    masks = [_extents(mask.operands[0]) for _, mask in _calls(file, "create_tma_multicast_mask", "_mask")]
    clusters = {extents[-3:-1] for extents in masks}  # of (V,M,N,K) or (M,N,K)
    (m, n), *others = [cluster for cluster in clusters if len(cluster) == 2] or [(1, 1)]
    k = {cut.tile[1] for cut in of_a}
    found = Launched(*cuts.pop(), None if others or m * n == 1 else (m, n), k.pop() if len(k) == 1 else None)
    text = file.written() if found.grid is None and file.written is not None else file
    if text is not file and (written := launched(text)).tile == found.tile:
        found = found._replace(grid=written.grid, cluster=found.cluster or written.cluster)
        file.given.notes.update(text.given.notes)
    return found


def tiles_of_k(file: SourceFile) -> int | None:
    """How many tiles of K a CTA goes through: those that `local_tile` cuts of A and B; None where they differ."""
    found = {cut.tiles and cut.tiles[1] for cut in _of_c_and_a(file)[1]}
    tiles = found.pop() if len(found) == 1 else None
    return tiles_of_k(file.written()) if tiles is None and file.written is not None else tiles


def _of_c_and_a(file: SourceFile) -> tuple[list[_Cut], list[_Cut]]:
    """What cuts C, whose tile alone is left, and what cuts A and B, of which a mode over K is; where modes over all tiles are
    left, three in a row of which the tiles are M x K, N x K and M x N."""
    cuts = [
        _Cut(into, _extents(cut.operands[0])[:2])
        for entry, cut in _calls(file, "local_tile")
        if len(into := _extents_of(entry)) > 1 and all(isinstance(extent, int) for extent in into[:2])
    ]
    of_c = [cut for cut in cuts if len(cut.into) == 2]
    if of_c or not any(len(cut.into) > 3 for cut in cuts):
        return of_c, [cut for cut in cuts if len(cut.into) == 3]
    threes = [
        (a, b, c)
        for a, b, c in zip(cuts, cuts[1:], cuts[2:], strict=False)
        if a.tile[1] == b.tile[1] and c.tile == (a.tile[0], b.tile[0])
    ]
    return [c for _, _, c in threes], [a for a, _, _ in threes]


def _calls(file: SourceFile, name: str, spelled: str = "") -> Iterator[tuple[Entry, Operation]]:
    """The entries that one operation makes, with it. spelled: what its names in all languages have in common."""
    for entry in file.entries:
        if (spelled or name) in entry.text or file.compiled:
            with suppress(CuteVizError):
                yield from ((entry, call) for call in entry.operations()[:1] if call.name == name and call.operands)


def _extents_of(entry: Entry) -> tuple[int, ...]:
    """The extents of an entry's value; none of one that is not known."""
    try:
        return _extents(value_of(entry))
    except CuteVizError:
        return ()


def _extents(value: object) -> tuple[int, ...]:
    """The extents of the modes of a layout or a tensor; none of any other value."""
    value = whole(value)
    return tuple(map(product, modes(domain(value).shape))) if is_layout(value) else ()
