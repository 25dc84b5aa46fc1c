"""What is fuzzed: a function for each kind of input, which returns, or raises a CuteVizError; anything else is a finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from cute_viz.documents.embed import embed
from cute_viz.engine import Request, ask
from cute_viz.errors import CuteVizError
from cute_viz.figures import build
from cute_viz.figures.compare import difference, side_by_side
from cute_viz.figures.load import from_json
from cute_viz.figures.model import to_dict
from cute_viz.figures.options import FigureOptions
from cute_viz.figures.trim import crop, fold
from cute_viz.notation import write
from cute_viz.options.views import LABELS, VIEWS
from cute_viz.renderers import FORMATS, Options, render
from cute_viz.spec import read
from cute_viz.spec.build import read_specs
from cute_viz.spec.check_library import check_library
from cute_viz.spec.library_files import library_of

CORPUS = Path(__file__).parent / "corpus"
FINDINGS = CORPUS.parent / "findings"
SMALL = FigureOptions(max_cells=512)
TEXTS = [name for name in FORMATS if name not in ("png", "pdf")]  # those take their time


def _drawn(obj: object) -> None:
    """An object that could be read can be written, and drawn or refused."""
    for target in ("cute", "cpp"):
        with suppress(CuteVizError):
            write.write(obj, target)
    figure = build(obj, SMALL)
    render(figure, "text")
    render(figure, "svg", Options(fragment=True))


def notation(text: str) -> None:
    """CuTe notation, C++, names of atoms: whatever shows."""
    _drawn(read(text).pick())


def dsl(text: str) -> None:
    """The Python DSL."""
    _drawn(read(text, dialect="dsl").pick())


def dump(text: str) -> None:
    """What CuTe printed, amid other lines."""
    _drawn(read(text, dialect="dump").pick())


def spec(text: str) -> None:
    """A YAML spec."""
    for found in read_specs(text, "fuzz.yaml"):
        ask(Request((found,), {"max_cells": "1024"}, formats=found.formats)).write("svg")


def library(text: str) -> None:
    """A file of atoms."""
    file = library_of("fuzz.yaml", text)
    if file is not None and (errors := check_library(file).errors):
        raise errors[0]


def figure(text: str) -> None:
    """The JSON of a figure."""
    model = from_json(text)
    for format_ in TEXTS:
        render(model, format_)
    to_dict(model)


OBJECTS = (
    "(4,8):(8,1)", "((4,8),(2,2)):((32,1),(16,8))", "(2,3,4)", "8:1", "()", "(4,8):(1@0,1@1)", "(4,4):(1/2@0,1@1)", "(4,8):(0,-1)",
    "Sw<3,3,3> o 0 o (8,64):(64,1)",
    "Sw<2,4,3> o smem_ptr[16b](unset) o (8,32):(32,1)", "Sw<2,0,-3>", "(4,5):(1,4) o 2 o (2,3):(1,2)",
    "SM80_16x8x16_F32F16F16F32_TN", "SM90_64x8x16_F32F16F16_SS", "SM75_U32x4_LDSM_N", "Copy_Atom<UniversalCopy<float>, float>{}",
    "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))", "(2,2):(F1,F2)", "(1,1,300)", "(4,_)", "half_t",
    "get_slice(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}), 5)", "(100,100):(100,1)",
    "99999999999999999999:1", "((16,8),8):((64,1),8)",
    "make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, (16,8):(8,1), (1,8))", "ampere", "SM70_8x8x4_F32F16F16F32_TN",
)  # fmt: skip
ROOM = 32  # letters are read modulo this; one without a choice means the first
# The corpus has @, which is the first choice, for every letter without one: a choice behind the others changes no meaning.
CHOICES: dict[str, tuple[Any, ...]] = {
    "view": (None, *VIEWS),
    "tile": (None, (4, 8), (16, 8), (8, 128), (1, 1), (7, 5), (1000, 1000)),
    "color_by": (None, "offset", "mod8", "chunk", "thread", "value", "warp", "row", "column", "tile", "none"),
    "labels": LABELS,
    "coords": (False, True) * (ROOM // 2),
    "thread": (None, range(1), range(5, 6), range(99)),
    "warp": (None, range(1), range(3, 9)),
    "value": (None, range(2), range(9, 10)),
    "operand": (None, "A", "C", "S", "AB", "", "xyz"),
    "bits": (None, 1, 4, 8, 16, 32, 128, 2048),
    "heat": (False, True) * (ROOM // 2),
    "title": (None, "a title", "</svg>", "\ud800\n"),
    "tensor": (None, "(64,64):(64,1)", "(4,8)", "(3,3,3)", "Sw<3,3,3> o 0 o (64,64):(64,1)"),
    "max_cells": (4096, 64),
}
LOOKS: dict[str, tuple[Any, ...]] = {
    "style": ("default", "cutlass"),
    "palette": (None, "viridis", "mono", "grey"),
    "theme": ("auto", "light", "dark", "print"),
    "fragment": (False, True) * (ROOM // 2),
    "color": (False, True) * (ROOM // 2),
    "width": (None, 200.0, 777.0, 20000.0),
    "cell": (None, 0.01, 5.0, 60.0),
    "full": (False, True) * (ROOM // 2),
}


def options(text: str) -> None:
    """Any object with any options in any format: a letter chooses each."""
    letters = iter(map(ord, text))

    def choice(several: Sequence[Any]) -> Any:
        letter = next(letters, 0) % ROOM
        return several[letter] if letter < len(several) else several[0]

    obj = read(choice(OBJECTS)).pick()
    words = {name: choice(several) for name, several in CHOICES.items()}
    words["tensor"] = words["tensor"] and read(words["tensor"]).pick()
    looks = {name: choice(several) for name, several in LOOKS.items()}
    drawn = build(obj, FigureOptions(**words))
    change = next(letters, 0) % 6
    if change == 1:
        drawn = fold(drawn, 1 + next(letters, 0) % 9)
    elif change == 2:
        drawn = crop(drawn, 1 + next(letters, 0) % 9, 1 + next(letters, 0) % 9)
    elif change == 3:
        drawn = side_by_side([drawn, build(read(choice(OBJECTS)).pick(), SMALL)])
    elif change == 4:
        drawn = difference(drawn, build(read(choice(OBJECTS)).pick(), SMALL))
    render(drawn, choice(TEXTS), Options(**looks))


def document(text: str) -> None:
    """A document of each kind; bringing it up to date a second time changes nothing."""
    errors = []
    for language in ("markdown", "rest", "html", "latex"):
        try:
            done = embed(text, language, "doc")
        except CuteVizError as error:
            errors.append(error)
            continue
        if done.failures:
            errors += done.failures[:1]
            continue
        again = embed(done.text, language, "doc")
        assert (again.text, again.changed, again.pictures) == (done.text, [], done.pictures)
    if len(errors) == 4:
        raise errors[0]


TARGETS: dict[str, Callable[[str], None]] = {f.__name__: f for f in (notation, dsl, dump, spec, library, figure, options, document)}


def attempt(target: str, text: str) -> bool:
    """Whether a text gave an answer; False for a clean error, whose words must be printable in one piece."""
    try:
        TARGETS[target](text)
    except CuteVizError as error:
        words = error.explain()
        assert words.strip()
        assert "Traceback" not in words
        return False
    return True


def seeds(target: str, folder: Path = CORPUS) -> list[str]:
    """The corpus of a target, or what was found with it."""
    return [path.read_text("utf-8") for path in sorted((folder / target).glob("*.txt"))]
