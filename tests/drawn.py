"""Pictures of everything in every look, and a digest of each: `python -m tests.drawn` writes those of today into `DIGESTS`.

The gallery's pictures, as its specs say, in the other formats, places and looks; random objects with random options; random
expressions, with their values and the steps that lead there; what is said of programs of Hopper and Blackwell; what
`tests/widely.py` makes up. An answer that is an error counts by its words. Where one changes on purpose, the digests are written
again, and `python -m tests.drawn WORD` prints what is drawn for the names that hold a word: what was drawn before shows with
`git stash`.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cute_viz.algebra.inttuple import show
from cute_viz.analysis.hardware import hardware_facts
from cute_viz.engine import Request, ask
from cute_viz.errors import CuteVizError
from cute_viz.options.views import COLOR_BY, LABELS, VIEWS
from cute_viz.source.text import read
from cute_viz.spec import PACKAGED
from cute_viz.spec.library import resolve
from tests import widely
from tests.commands import run
from tests.fuzz import targets
from tests.fuzz.commands import Grammar

ROOT = Path(__file__).parent.parent
DIGESTS = Path(__file__).parent / "data" / "drawn.txt"
CHOSEN = Path(__file__).parent / "data" / "chosen.txt"  # further numbers of each kind
FURTHER = {"spec": 3000, "picture": 800, "command": 600, "bent": 600, "viewed": 600, "edges": 400, "random": 400, "near": 800}
FURTHER |= {"expressions": 600, "all": 200}
RANDOM = 600  # of random objects
EXPRESSIONS = 200  # of several random operations each
PAGES = 9  # of a few files, in turn
FILES = {"kernels.cu": {"kM": "128", "kN": "256"}, "elements.cu": {}, "guards.cu": {}}  # and values for their names
ATOMS = [one.name for one in PACKAGED.listing() if one.kind in ("mma", "copy")]
NEAR = 200  # of several programs each
SELECTED = 40  # of several programs each
MAJORS = "<GMMA::Major::MN,GMMA::Major::K>"
WGMMA = (f"SM90_64x8x16_F32F16F16_SS{MAJORS}", f"SM90_64x64x16_F16F16F16_RS{MAJORS}", "SM90_64x64x8_F32TF32TF32_SS_TN<>")
SCALES = ("LayoutSF", "LayoutSFA", "LayoutSFB", "deduce_layoutSFA()", "None_")
MEMBERS = ("ThrLayoutVMNK", "AtomShape_MNK", "AtomLayoutMNK", "LayoutA_TV", "ValTypeA", "ValTypeD", "FrgTypeA", "None_")
PARTS = ("ThrID", "NumValSrc", "NumValDst", "AtomNumThr", "ValType", "ValLayoutRef", "ValLayoutDst", "None_")  # of copies
ROWS = json.loads(gzip.decompress((Path(__file__).parent / "data" / "hardware_random.json.gz").read_bytes()))["rows"]
TYPES = ("half_t", "float", "tfloat32_t", "uint8_t", "int8_t", "float_e4m3_t", "float_e2m1_t", "double", "float_ue8m0_t", "int32_t")
OBJECTS = [
    *(one for one in targets.OBJECTS if one not in ("()", "(4,_)", "half_t", "ampere", "(100,100):(100,1)", "9" * 20 + ":1")),
    *(
        "(8,16):(16,1)",
        "((2,4),(4,2)):((1,8),(2,32))",
        "(16,8):(1,17)",
        "(8,8):(8,1) o 3",
        "Sw<3,2,3> o 0 o (16,32):(32,1)",
        "24:2",
    ),
    *("zipped_divide((8,6),(4,3))", "blocked_product((2,5):(5,1),(3,4):(1,3))", "composition((4,8):(8,1),(2,4):(2,4))"),
    *("complement((2,2):(1,6),24)", "right_inverse((4,8):(8,1))", "SM75_16x8x8_F32F16F16F32_TN", "UniversalCopy<float>"),
    *("SM75_U16x8_LDSM_T", "SM100_TMEM_LOAD_32dp32b8x", "SM90_BULK_COPY_G2S"),
]
LOOKS: dict[str, tuple[Any, ...]] = {  # how a picture of any kind can be written; one or two of them at a time
    "target": ("screen", "readme", "column", "page", "slide"),
    "palette": ("viridis", "mono", "grey"),
    "theme": ("light", "dark", "print"),
    "width": ("260", "420", "800"),
    "cell": ("5", "14", "60"),
    "letters": ("7", "11"),
    "bare": (True,),
    "fragment": (True,),
}
OF_FORMAT: dict[str, dict[str, tuple[Any, ...]]] = {
    "svg": LOOKS | {"animate": (True,), "style": ("cutlass",)},
    "tikz": LOOKS | {"style": ("cutlass",)},
    "text": {"target": ("terminal",), "style": ("cutlass",)},
    "html": {"palette": LOOKS["palette"], "theme": LOOKS["theme"]},
    "json": {},
}
OPTIONS: dict[str, tuple[Any, ...]] = {
    "view": tuple(VIEWS),
    "tile": ("4x8", "16x8", "8x128", "7x5"),
    "color_by": COLOR_BY,
    "labels": LABELS[:-1],  # the last is three of them in one
    "coords": (True,),
    "thread": ("0", "5", "0..3"),
    "warp": ("0", "1..2"),
    "value": ("0", "1..2"),
    "operand": ("A", "C", "S", "AB"),
    "type": ("f16", "f32", "8", "4", "128"),
    "follow": ("0", "5"),
    "title": ("a title",),
    "tensor": ("(64,64):(64,1)", "(4,8)", "Sw<3,3,3> o 0 o (64,64):(64,1)"),
    "by": ("ldmatrix.x4", "st.64", "cp.async.128", "wgmma", "tma"),
    "fold": ("3", "8"),
    "crop": ("2x3", "5x4"),
    "note": ("(0,0)..(1,1): a note", "row 0: first", "(0,0) -> (1,2)"),
    "blank": ("offsets", "owners", "offsets=3"),
}


def looks(chance: random.Random) -> tuple[str, dict[str, Any]]:
    """A format, and how to write it."""
    format_ = chance.choice(("svg", "svg", "svg", "tikz", "tikz", "text", "text", "html", "json"))
    several = OF_FORMAT[format_]
    chosen = chance.sample(list(several), min(chance.choice((0, 1, 1, 2)), len(several)))
    return format_, {name: chance.choice(several[name]) for name in chosen}


def options(chance: random.Random) -> dict[str, Any]:
    """A few options of an object, a view first, if any."""
    chosen = {"view": chance.choice(OPTIONS["view"])} if chance.randrange(2) else {}
    return chosen | {name: chance.choice(OPTIONS[name]) for name in chance.sample(list(OPTIONS)[1:], chance.choice((0, 1, 1, 2)))}


def of_gallery(name: str) -> Iterator[tuple[str, str]]:
    """What a picture of the gallery is in other looks and with other options, each with its words."""
    job, chance = widely.gallery()[name], random.Random(name)
    spec = job.builder.spec(job.own, job.value)
    for number in range(6):
        yield tried((spec,), chance, options if number > 2 else lambda _: {})


def at_random(number: int) -> Iterator[tuple[str, str]]:
    """What a random object, or two, with random options is in a few looks, each with its words."""
    chance = random.Random(number)
    names = [chance.choice(ATOMS)] if chance.randrange(4) == 0 else chance.sample(OBJECTS, chance.choice((1, 1, 1, 2)))
    both = {"diff": True} if len(names) == 2 and chance.randrange(2) else {}
    for _ in range(2):
        yield tried(tuple(names), chance, lambda x: both | options(x))


def page(number: int) -> Iterator[tuple[str, str]]:
    """All objects of a file on one page, in a few looks."""
    chance = random.Random(number)
    name, let = list(FILES.items())[number % len(FILES)]
    for _ in range(3):
        format_, words = looks(chance)
        wide = {"columns": chance.choice((60, 100))} if format_ == "text" else {}
        request = Request((str(DIGESTS.parent / name),), words, let=let, formats=(format_,), files=True)
        try:
            yield f"{format_} {words} {name}", ask(request).write_page(format_, **wide).decode("utf-8", "replace")
        except CuteVizError as error:
            yield f"{format_} {words} {name}", error.explain()


def expressions(number: int) -> Iterator[tuple[str, str]]:
    """Random operations with their values and steps; of those that are refused, which are most, a few."""
    grammar, found = Grammar(number), 0
    while found < 5:
        text = grammar.call()
        try:
            answer = ask(Request((text,)))
            yield text, f"{answer.printed}\n{'' if found else answer.explanation}"
            found += 1
        except CuteVizError as error:
            if grammar.rarely(3):
                yield text, error.explain()


def near(number: int) -> Iterator[tuple[str, str]]:
    """What is said of every name of programs that are a number, a word or a type away from ones that g++ knows."""
    chance = random.Random(number)
    for _ in range(3):
        text = chance.choice(ROWS)[1]
        places = list(re.finditer(r"(?<![\w<])\d+\b|(?<=[<_])\d+(?=[,>{])|\b[KM]N?(?=[,>])|\b\w+_t\b", text))
        for place in sorted(chance.sample(places, min(chance.choice((1, 1, 2)), len(places))), key=lambda x: -x.start()):
            text = text[: place.start()] + beside(place[0], chance) + text[place.end() :]
        yield text, "\n".join(said(text, name) for name in re.findall(r"\w+(?= = )", text))


def selected(number: int) -> Iterator[tuple[str, str]]:
    """What CUTLASS's selectors, atoms, their members, tags and configurations of scale factors are for random arguments."""
    chance = random.Random(number)
    some = chance.choice
    for _ in range(8):
        mma = some((*WGMMA, some([name for name in ATOMS if re.match(r"SM(75|80|90)_\d+x\d", name)])))
        copy, type_ = some([name for name in ATOMS if re.match(r"SM\d+_(TMEM|U|CP|S)", name)]), some(TYPES)
        extents = (64, 128, 32, 192, 72), (8, 16, 24, 96, 128, 160, 256, 12), (8, 16, 32, 48, 64)
        tile = f"Shape<{','.join(f'_{some(several)}' for several in extents)}>"
        majors = [f"GMMA::Major::{some(('K', 'MN'))}" for _ in range(chance.randrange(3))]
        types = some(([type_, type_, "float"], [some(TYPES), some(TYPES), some(TYPES)], ["half_t", "half_t", "half_t"]))
        scaled = f"{some((1, 64))},128,{some((64, 128))}{some(('', ',UMMA::Major::K', ',UMMA::Major::MN,UMMA::Major::K'))}"
        config = some(("BlockScaledConfig<16>", "BlockScaledOutputConfig<32,UMMA::Major::MN>", "BlockScaledOutputConfig<16>"))
        config = some((f"Sm1xx{config}", f"Sm{some(('100', '120', '90', '1xx'))}BlockwiseScaleConfig<{scaled}>"))
        small = f"cutlass::{some(('mx_float8_t', 'mx_float6_t', 'nv_float4_t', 'float4_t'))}<float_e2m1_t>"
        text = some(
            (
                f"auto a = GMMA::{some(('ss', 'rs'))}_op_selector<{','.join([*types, tile, *majors])}>();",
                f"auto a = TMEM::tmem_load_to_store({copy}{{}});",
                f"auto a = convert_to_gmma_rs(make_tiled_mma({mma}{{}}));",
                f"using M = TiledMMA<MMA_Atom<{mma}>, Layout<Shape<_2,_1,_1>>>; auto a = typename M::{some(MEMBERS)}{{}};",
                f"using M = Copy_Atom<{copy},{type_}>; auto a = typename M::{some(PARTS)}{{}};",
                f"auto a = make_copy_atom({copy}{{}}, {type_}{{}});",
                f"auto a = cutlass::detail::{config}::{some(SCALES)}{{}};",
                f"auto a = make_layout(Int<cutlass::arch::Sm{some((70, 90, 100, 5, 1000))}::kMinComputeCapability>{{}});",
                f"auto a = make_layout(Int<sizeof_bits_v<{small}::{some(('DataType', 'ScaleFactorType', 'None_'))}>>{{}});",
            )
        )
        with TemporaryDirectory() as folder:
            (Path(folder) / "a.cu").write_text(f"void f() {{ {text} }}\n", "utf-8")
            listed = run("list", "a.cu", cwd=folder)
        words = (listed.stdout + listed.stderr).decode()  # its last line says what to install
        yield text, said(text, "a") + "".join(line for line in words.splitlines(True) if not line.startswith("--flags"))


def beside(word: str, chance: random.Random) -> str:
    """Another number, major or type."""
    if word in ("K", "MN"):
        return {"K": "MN", "MN": "K"}[word]
    return widely.near(int(word), chance) if word.isdigit() else chance.choice(TYPES)


def said(text: str, name: str) -> str:
    """The value of a name, and the facts of it; or why it has none."""
    try:
        value = read(text, resolve=resolve).pick(name)
        return f"{show(value)} {hardware_facts(value)}"
    except CuteVizError as error:
        return error.explain()


def tried(source: tuple[Any, ...], chance: random.Random, options: Callable[[random.Random], dict[str, Any]]) -> tuple[str, str]:
    """A picture with options that apply, after a few tries, or why there is none; with its words."""
    text, said = "", ""
    for _ in range(12):
        format_, words = looks(chance)
        asked = options(chance) | words
        terminal: dict[str, Any] = {"color": not chance.randrange(3), "columns": chance.choice((None, None, 50, 90))}
        terminal = terminal if format_ == "text" else {}
        said = f"{format_} {terminal or ''}{asked} {source if isinstance(source[0], str) else ''}"
        request = Request(source, {"max_cells": "4096"} | asked, formats=(format_,))
        try:
            return said, text + ask(request).write(format_, **terminal).decode("utf-8", "replace")
        except CuteVizError as error:
            text += error.explain()
    return said, text


KINDS = {"page": (page, PAGES), "near": (near, NEAR), "expressions": (expressions, EXPRESSIONS), "random": (at_random, RANDOM)}
KINDS |= {"selected": (selected, SELECTED)} | widely.KINDS


def parts() -> dict[str, Iterator[tuple[str, str]]]:
    """Everything that is drawn here, by its name: the first of each kind, and further ones that were chosen."""
    out = {f"gallery {name}": of_gallery(name) for name in widely.gallery()}
    further = dict(line.split(": ") for line in CHOSEN.read_text("utf-8").splitlines())
    for kind, (draw, many) in KINDS.items():
        out |= {f"{kind} {n}": draw(n) for n in (*range(many), *map(int, further.get(kind, "").split()))}
    return out


def further() -> dict[str, Iterator[tuple[str, str]]]:
    """Those that can be chosen, by `tests/choosing.py`."""
    return {f"{kind} {n}": draw(n) for kind, (draw, first) in KINDS.items() for n in range(first, first + FURTHER.get(kind, 0))}


def digest(drawn: Iterator[tuple[str, str]]) -> str:
    """Of the pictures of one name: some digits of the hash of each."""
    return " ".join(hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:6] for _, text in drawn)


def of_today(name: str) -> str:
    """The digest of a name, drawn now."""
    return digest(parts()[name])


@cache
def held() -> dict[str, str]:
    """The digests as they were written."""
    return dict(line.rsplit(": ", 1) for line in DIGESTS.read_text("utf-8").splitlines())


def main() -> None:
    """Print pictures, or write the digests of all."""
    if sys.argv[1:]:
        for name, drawn in parts().items():
            for words, text in drawn if sys.argv[1] in name else ():
                print(f"-- {name}: {words}\n{text}")
    else:
        with ProcessPoolExecutor(4) as pool:
            names = list(parts())
            found = zip(names, pool.map(of_today, names, chunksize=20), strict=True)
            DIGESTS.write_text("".join(f"{name}: {digits}\n" for name, digits in found), "utf-8")


if __name__ == "__main__":
    main()
