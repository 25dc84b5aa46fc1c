"""What is fuzzed: a function for each kind of input, which returns, or raises a CuteVizError; anything else is a finding."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cute_viz.documents.embed import embed
from cute_viz.errors import CuteVizError
from cute_viz.figures import build
from cute_viz.figures.model import from_dict, to_dict
from cute_viz.figures.options import FigureOptions
from cute_viz.notation import write
from cute_viz.renderers import Options, render
from cute_viz.spec import read
from cute_viz.spec.build import read_specs

CORPUS = Path(__file__).parent / "corpus"
FINDINGS = CORPUS.parent / "findings"
SMALL = FigureOptions(max_cells=512)


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
        str(found.obj)


def figure(text: str) -> None:
    """The JSON of a figure."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return
    model = from_dict(data)
    for format_ in ("text", "svg", "tikz"):
        render(model, format_)
    to_dict(model)


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


TARGETS: dict[str, Callable[[str], None]] = {f.__name__: f for f in (notation, dsl, dump, spec, figure, document)}


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
