"""Pictures of anything at random: objects of every kind, every option with any of its values, the commands that draw, figures of
JSON in which a value is another, all objects of a program. `tests/drawn.py` keeps a digest of each.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cute_viz.engine import Request, ask
from cute_viz.errors import CuteVizError
from cute_viz.gallery.plan import Task, plan
from cute_viz.options import OPTIONS
from cute_viz.options.views import COLOR_BY, LABELS, VIEWS
from cute_viz.renderers.palette import PALETTES
from cute_viz.renderers.windows import narrowed
from cute_viz.spec import PACKAGED, Library
from cute_viz.spec.build import Builder
from tests.commands import run
from tests.fuzz.commands import Grammar
from tests.test_views import OBJECTS, object_of, views

ROOT = Path(__file__).parent.parent
ATOMS = [one.name for one in PACKAGED.listing() if one.kind in ("mma", "copy")]
FILES = ("docs/kernel.cu", "docs/copy.cu", "docs/hopper.cu", "docs/store.cu", "tests/data/edits.cu")
TILES: tuple[str, ...] = (
    *("(8,64):(64,1)", "(64,64):(64,1)", "(16,32):(32,1)", "(32,32):(33,1)"),
    *("Sw<3,3,3> o 0 o (64,64):(64,1)", "(64,32):(1,64)"),
    *("Sw<2,2,3> o 0 o (32,32):(32,1)", "(128,16):(16,1)", "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", "(256,8):(8,1)"),
)
BY = ("rows", "column", "ldmatrix", "cp.async", "((8,4),8):((1,64),8)", "((4,8),2):((64,1),8)", "SM75_U32x4_LDSM_N", "32:64")
MOVES: tuple[str, ...] = (
    *("ldmatrix.x1", "ldmatrix.x2", "ldmatrix.x4", "ldmatrix.x4.trans", "stmatrix.x4", "ld.32", "ld.64"),
    *("ld.128", "st.32", "st.128"),
    *("st.async.64", "red.32", "ds_read_b32", "ds_read_b64", "ds_read_b128", "ds_write_b128", "wgmma", "tma"),
)
TYPES = ("f16", "f32", "8", "4", "128", "f64", "6", "e4m3", "half_t")
TOPICS = ("layout", "composition", "divide", "swizzle", "tv", "conflicts")
BLANKS = ("offsets", "owners", "threads", "banks", "coordinates", "tiles", "labels", "strides")
STRANGE: tuple[Any, ...] = (None, True, "x", 0, -1, 1, 1.5, [], [0, 0], [0, 0, 1, 1], {}, 1 << 16, (1 << 16) - 1, 20, 1 << 20)
TIMES = ("tiles", "load", "compute", "epilogue", "stages", "consumers", "work")  # of a pipeline
NOTES = ("a note", "words that take a line of their own, and more", "x")
TARGETS = ("screen", "readme", "column", "page", "slide", "terminal")


class Wide(Grammar):
    """What a picture may be asked for."""

    def few(self, most: int = 8) -> str:
        """A number of at least 1, small ones more often."""
        return str(self.chance.randint(1, self.chance.choice((3, most, most))))

    def span(self, most: int = 8) -> str:
        """A number, or a run of them."""
        first = self.chance.randrange(most)
        return f"{first}..{first + self.chance.randrange(most)}" if self.rarely(2) else str(first)

    def at(self) -> str:
        """A place of a note."""
        cell = f"({self.chance.randrange(6)},{self.chance.randrange(8)})"
        word = self.one("row", "column", "bank", "offset", "value", "thread")
        return self.one(
            cell,
            f"{cell}..(5,7)",
            f"(0,0)..{cell}",
            f"T{self.chance.randrange(40)}",
            f"{word} {self.span()}",
            f"brace {self.one('row', 'column')} {self.span()}",
            f"{cell} -> (1,1)",
        )

    def value(self, name: str) -> Any:
        """A value of an option of pictures; None where there is none at random."""
        size = (self.one("1", "2", "4", "5", "8", "16", "32"), self.one("1", "3", "4", "8", "16", "64", "128"))
        say: dict[str, Callable[[], Any]] = {
            "view": lambda: self.one(*VIEWS),
            "tile": lambda: "x".join(size),
            "color_by": lambda: self.one(*COLOR_BY),
            "labels": lambda: self.one(*LABELS[:-1]),
            "coords": lambda: True,
            "title": lambda: "a title",
            "thread": lambda: self.span(self.chance.choice((4, 40, 200))),
            "warp": lambda: self.span(4),
            "value": lambda: self.span(6),
            "follow": lambda: self.span(self.chance.choice((4, 128))),
            "operand": lambda: self.one(*"ABCSD", "AB", "BC", "SD"),
            "type": lambda: self.one(*TYPES),
            "tensor": lambda: self.one(*TILES, "(4,8)", "(16,128):(1,16)", "((8,16),(8,2)):((1,8),(128,1024))"),
            "by": lambda: self.one(*MOVES, *BY),
            "cluster": lambda: f"{self.few(4)}x{self.few(4)}",
            "key": lambda: True,
            "diff": lambda: True,
            "schedule": lambda: ",".join(f"{one}={self.few(6)}" for one in self.chance.sample(TIMES, 3)),
            "coord": lambda: ",".join(str(8 * self.chance.randrange(9)) for _ in range(self.chance.choice((2, 2, 3)))),
            "fold": lambda: self.few(20),
            "crop": lambda: f"{self.few()}x{self.few(12)}",
            "note": lambda: "\n".join(f"{self.at()}: {self.one(*NOTES)}" for _ in range(int(self.few(3)))),
            "blank": lambda: self.one(*BLANKS) + self.one("", "=1", "=5", "=all"),
            "style": lambda: "cutlass",
            "palette": lambda: self.one(*PALETTES),
            "theme": lambda: self.one("light", "dark", "print"),
            "fragment": lambda: True,
            "bare": lambda: True,
            "width": lambda: str(self.chance.randint(90, 1300)),
            "cell": lambda: str(round(self.chance.uniform(1, 70), 1)),
            "letters": lambda: str(self.chance.randint(4, 16)),
            "animate": lambda: True,
            "target": lambda: self.one(*TARGETS),
        }
        return say[name]() if name in say else None

    def options_of(self, *levels: str, most: int = 3) -> dict[str, Any]:
        """A few options of some levels."""
        names = [name for name, option in OPTIONS.items() if option.level in levels]
        chosen = self.chance.sample(names, self.chance.randint(0, most))
        return {name: word for name in chosen if (word := self.value(name)) is not None}

    def subject(self) -> Any:
        """Something to draw."""
        kind = self.chance.randrange(10)
        if kind < 4:
            return object_of(self.chance.choice(list(OBJECTS)))
        if kind < 6:
            return self.one(*ATOMS)
        return self.one(*TILES) if kind == 6 else self.layout() if kind < 9 else self.call()


def picture(number: int) -> Iterator[tuple[str, str]]:
    """Something with options and a look that apply, after a few tries, each with its words; refusals count by theirs."""
    wide = Wide(number)
    for _ in range(40):
        sources = tuple(wide.subject() for _ in range(2 if wide.rarely(10) else 1))
        format_ = wide.one("svg", "svg", "svg", "svg", "tikz", "text", "text", "html", "json")
        asked = wide.options_of("object", "panels") | ({"view": wide.one(*VIEWS)} if wide.rarely(2) else {})
        asked |= wide.options_of("page", most=2) | ({"diff": True} if len(sources) == 2 and wide.rarely(2) else {})
        terminal: dict[str, Any] = {"color": wide.rarely(3), "columns": wide.chance.choice((None, wide.chance.randint(10, 160)))}
        terminal = terminal if format_ == "text" else {}
        request = Request(sources, {"max_cells": "2048"} | asked, formats=(format_,))
        try:
            yield f"{format_} {terminal}{asked} {sources}", ask(request).write(format_, **terminal).decode("utf-8", "replace")
            return
        except CuteVizError as error:
            if wide.rarely(3):
                yield f"{format_} {terminal}{asked} {sources}", error.explain()


@cache
def gallery() -> dict[str, Task]:
    """The gallery's pictures by name."""
    return {job.name: job for job in plan([str(ROOT / "layouts" / "specs")], (), Library()).jobs}


def near(n: int, chance: random.Random) -> str:
    """A number that is not far from another."""
    return str(chance.choice((2 * n, max(1, n // 2), n + 1, max(0, n - 1), n + 8, 4 * n, 0, 1)))


def specified(number: int) -> Iterator[tuple[str, str]]:
    """A picture of the gallery with other numbers and further options."""
    wide, seen = Wide(number), 0
    several: dict[str, list[Task]] = {}
    for job in gallery().values():
        several.setdefault(job.builder.name, []).append(job)
    for _ in range(60):
        job = wide.chance.choice(several[wide.chance.choice(list(several))])
        shared = {"let": job.builder.shared} if job.builder.shared is not None else {}
        text = json.dumps(shared | dict(job.value))
        places = list(re.finditer(r"(?<![\w.])\d+(?![\w.])", text))
        few = wide.chance.sample(places, min(wide.chance.choice((0, 1, 1, 2)), len(places)))
        for place in sorted(few, key=lambda x: -x.start()):
            text = text[: place.start()] + near(int(place[0]), wide.chance) + text[place.end() :]
        format_ = wide.one("svg", "svg", "svg", "json", "text", "html")
        asked = wide.options_of("object", "panels", most=2) | wide.options_of("page", most=1)
        try:
            spec = Builder(text, "spec.yaml", PACKAGED).only(None)
            request = Request((spec,), {"max_cells": "4096"} | asked, formats=(format_,))
            yield f"{format_} {asked} {text}", ask(request).write(format_).decode("utf-8", "replace")
            seen += 1
        except CuteVizError as error:
            if wide.rarely(12):
                yield f"{format_} {asked} {text}", error.explain()
        if seen == 2:
            return


def words_of(wide: Wide) -> list[str]:
    """A command that draws, or prints, what no option of a picture asks for."""
    out = f"out.{wide.one('svg', 'svg', 'txt', 'html', 'tex', 'json')}"
    kind = wide.chance.randrange(16)
    if kind < 9:
        words = ["analyze", wide.one(*TILES), "--access", wide.one(*BY), "-o", out]
        words += ["--type", wide.one(*TYPES)] if not wide.rarely(3) else []
        words += ["--instruction", wide.one(*MOVES)] if wide.rarely(2) else []
        words += ["--view", wide.one("access", "phases", "frames", "tile", "tile")] if not wide.rarely(4) else []
        words += ["--wavefront", wide.few(3)] if wide.rarely(4) else []
        words += ["--thread", wide.span(20)] if wide.rarely(4) else []
        words += ["--global"] if wide.rarely(5) else []
        words += ["--animate"] if wide.rarely(8) else []
        return words + (["--store"] if wide.rarely(6) else [])
    if kind < 13:
        moving = ["--animate"] if wide.rarely(4) else []
        return ["explain", wide.call(), "-o", "out.svg" if moving else out, *moving]
    if kind < 15:
        return ["quiz", wide.one(*TOPICS), "--seed", wide.few(99), "-o", f"out.{wide.one('html', 'tex', 'md', 'txt')}"]
    return ["analyze", str(ROOT / wide.one(*FILES)), "-o", f"out.{wide.one('html', 'txt', 'json')}"]


def command(number: int) -> Iterator[tuple[str, str]]:
    """What a command says and writes, after a few refusals that count by their words."""
    wide = Wide(number)
    with TemporaryDirectory() as folder:
        for _ in range(40):
            words = words_of(wide)
            result = run(*words, cwd=folder)
            said = (result.stdout + result.stderr).decode("utf-8", "replace").replace(str(ROOT), "")
            written = [path.read_text("utf-8") for path in sorted(Path(folder).glob("out.*"))]
            if result.returncode == 0 or wide.rarely(3):
                yield " ".join(words), "\n".join([said, *written]).replace(str(ROOT), "")
            if result.returncode == 0:
                return


def leaves(data: Any) -> Iterator[tuple[Any, Any]]:
    """Each list or object of JSON with each of its keys."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield data, key
        yield from leaves(value) if isinstance(value, (dict, list)) else ()


def other(value: Any, wide: Wide) -> Any:
    """What may stand in the place of a value: mostly of its kind, and near it."""
    if wide.rarely(5):
        return wide.chance.choice(STRANGE)
    if isinstance(value, (bool, type(None))):
        return not value
    if isinstance(value, (int, float)):
        return wide.chance.choice((value + 1, value + 1, value - 1, 2 * value, value // 2, 0, 1, -value))
    if isinstance(value, str):
        return wide.chance.choice(("", value * 2, f"{value} and more words", value[:-1], "strong", "start", "two\nlines"))
    if isinstance(value, list):
        return wide.chance.choice((value[:-1], value * 2, value[::-1], value[1:], value[:1]))
    return {}


def bent(number: int) -> Iterator[tuple[str, str]]:
    """Pictures of the JSON of a figure in which a few values are others, or why it is none."""
    wide, text = Wide(number), ""
    while not text:
        source = object_of(wide.chance.choice(list(OBJECTS))) if wide.rarely(2) else wide.one(*TILES[:5], *ATOMS)
        with suppress(CuteVizError):
            asked = {"max_cells": "600"} | wide.options_of("object", most=1)
            text = ask(Request((source,), asked, formats=("json",))).write("json").decode()
    for _ in range(6):
        data = json.loads(text)
        for _ in range(wide.chance.choice((1, 1, 1, 2, 3))):
            by_name: dict[Any, list[tuple[Any, Any]]] = {}
            for holder, key in leaves(data):
                by_name.setdefault(key if isinstance(holder, dict) else min(len(holder), 5), []).append((holder, key))
            holder, key = wide.chance.choice(by_name[wide.chance.choice(list(by_name))])  # each kind of place is as likely
            holder[key] = other(holder[key], wide)
        format_, look = wide.one("svg", "svg", "svg", "tikz", "text", "html", "json"), wide.options_of("page", most=1)
        look = look if format_ == "svg" else {}
        try:
            drawn = ask(Request((json.dumps(data),), look, formats=(format_,))).write(format_)
            yield f"{format_} {look} {json.dumps(data)}", drawn.decode("utf-8", "replace")
        except CuteVizError as error:
            yield f"{format_} {look} {json.dumps(data)}", error.explain()


def statement(wide: Wide) -> str:
    """An object of a program."""
    rows, cols = wide.few(32), wide.few(32)
    plain = (
        f"make_layout(make_shape(Int<{rows}>{{}}, Int<{cols}>{{}}), make_stride(Int<{wide.one(cols, '1', '40')}>{{}}, Int<1>{{}}))"
    )
    square = "make_layout(make_shape(Int<16>{}, Int<32>{}), LayoutRight{})"
    return wide.one(
        plain,
        plain,
        f"composition(Swizzle<{wide.few(3)},{wide.few(3)},3>{{}}, {square})",
        f"zipped_divide({square}, make_shape(Int<{wide.one('2', '4', '8')}>{{}}, Int<4>{{}}))",
        f"{wide.one('SM80_16x8x16_F32F16F16F32_TN', 'SM80_16x8x8_F32F16F16F32_TN', 'SM75_U32x4_LDSM_N', 'SM75_U32x1_LDSM_N')}{{}}",
        "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_2>>{})",
        "make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, Layout<Shape<_8,_4>>{}, Layout<Shape<_1,_8>>{})",
    )


def page(number: int) -> Iterator[tuple[str, str]]:
    """All objects of a program on one page, in a look."""
    wide = Wide(number)
    lines = [f"  auto {name} = {statement(wide)};" for name in ("a", "second", "c", "sD", "tCsA", "f")[: int(wide.few(6))]]
    look = [word for name, value in wide.options_of("page").items() for word in (f"--{name}", *([] if value is True else [value]))]
    with TemporaryDirectory() as folder:
        (Path(folder) / "k.cu").write_text("\n".join(["void f() {", *lines, "}", ""]), "utf-8")
        words = [
            "render",
            "k.cu",
            "--all",
            *[word.replace("--target", "--for") for word in look],
            "-o",
            f"out.{wide.one('svg', 'svg', 'tex', 'html')}",
        ]
        result = run(*words, cwd=folder)
        written = [path.read_text("utf-8") for path in Path(folder).glob("out.*")]
        yield " ".join((*words, *lines)), "\n".join([(result.stdout + result.stderr).decode("utf-8", "replace"), *written])


def apart(number: int) -> Iterator[tuple[str, str]]:
    """What differs between two large layouts, in places with less and less room, and how a phone shows it."""
    wide = Wide(number)
    rows, cols = int(wide.one("8", "16", "64", "96", "128")), int(wide.one("16", "48", "64", "65", "96", "128", "256"))
    first = f"({rows},{cols}):({cols},1)"
    other = wide.one(
        first, f"({rows},{cols}):(1,{rows})", f"({rows},{cols}):({cols + 8},1)", f"Sw<3,3,3> o 0 o {first}", f"{first} o 3"
    )
    sources = (first, other) if not wide.rarely(4) else (other,)
    for target in ("column", "page", "slide", "readme"):
        asked = {"max_cells": 1 << 17, "target": target} | ({"diff": True} if len(sources) == 2 else {})
        answer = ask(Request(sources, asked, formats=("svg",)))
        yield f"{target} {sources}", answer.write("svg").decode()
        width = wide.chance.choice((320, 412, 599, 600))
        thin = ask(Request((narrowed(answer.figure, width),), {"width": str(width)}, formats=("svg",)))
        yield f"{width} px {sources}", thin.write("svg").decode()


def counted(number: int) -> Iterator[tuple[str, str]]:
    """What an object is in each view where one cell is allowed, one less than it has, and as many."""
    name = list(OBJECTS)[number]
    for view in (None, *VIEWS):
        most = 1
        for _ in range(8):
            asked = {"view": view, "max_cells": most, "tile": "8x16" if view in ("tv", "table", "both") else None}
            asked |= {"by": "ldmatrix.x1"} if view == "access" else {}
            try:
                yield f"{name} {asked}", ask(Request((object_of(name),), asked, formats=("json",))).write("json").decode()
                break
            except CuteVizError as error:
                yield f"{name} {asked}", error.explain()
                told = re.search(r"(\d+) cells; the limit is", str(error))
            if told is None:
                break
            most = int(told[1]) - (most < int(told[1]) - 1)


def edges(number: int) -> Iterator[tuple[str, str]]:
    """An object where a page, or a line of a terminal, is as wide as it needs, and a little more and less; in cells of some px."""
    name = list(OBJECTS)[number % len(OBJECTS)]
    every = views(name)
    base = every[number // len(OBJECTS) * 3 % len(every)]
    answer = ask(Request((object_of(name),), base, formats=("svg",)))
    found = re.search(r' width="([\d.]+)"', answer.write("svg").decode())
    longest = max(map(len, answer.write("text", columns=None).decode().splitlines()))
    assert found is not None
    whole = float(found[1])
    for more in (0, -1, 1, -0.5, -whole / 4, -whole / 2):
        yield _written(name, base, "svg", {"width": str(max(50.0, whole + more))}, {})
    for few in (0, -1, 1, -longest // 3, -longest // 2):
        yield _written(name, base, "text", {}, {"columns": max(8, longest + few)})
    for cell in (1, 3, 8, 12, 24):
        yield _written(name, base, "svg", {"cell": str(cell + number % 3)}, {})


def viewed(number: int) -> Iterator[tuple[str, str]]:
    """An object in one of its views, with options of that view."""
    wide, name = Wide(number), list(OBJECTS)[number % len(OBJECTS)]
    every = views(name)
    base, seen = every[number // len(OBJECTS) % len(every)], set[str]()
    for _ in range(80):
        asked = wide.options_of("object", "panels", most=2) | base
        words, text = _written(name, asked, wide.one("json", "json", "svg", "text"), {}, {})
        if text not in seen and (len(text) > 400 or wide.rarely(12)):
            yield words, text
        seen.add(text)


def _written(name: str, base: dict[str, Any], format_: str, look: dict[str, Any], how: dict[str, Any]) -> tuple[str, str]:
    try:
        text = ask(Request((object_of(name),), base | look, formats=(format_,))).write(format_, **how).decode("utf-8", "replace")
    except CuteVizError as error:
        text = error.explain()
    return f"{name} {format_} {base | look | how}", text


KINDS: dict[str, tuple[Callable[[int], Iterator[tuple[str, str]]], int]] = {  # and how many of each are kept
    "picture": (picture, 500),
    "spec": (specified, 0),
    "command": (command, 150),
    "bent": (bent, 250),
    "all": (page, 60),
    "viewed": (viewed, 8 * len(OBJECTS)),
    "edges": (edges, 2 * len(OBJECTS)),
    "apart": (apart, 30),
    "counted": (counted, len(OBJECTS)),
}
