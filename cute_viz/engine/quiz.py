"""Exercises: questions on layouts with their answers, worked out by the same evaluation as everything else, and a checker."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.table import offsets
from cute_viz.engine.accessing import Accessor, accessed
from cute_viz.engine.evaluate import evaluate
from cute_viz.engine.request import Request
from cute_viz.errors import CuteVizError, UsageError, did_you_mean
from cute_viz.figures import build
from cute_viz.figures.options import FigureOptions

_CELLS = r"(?:\(\s*\d+\s*,\s*\d+\s*\)[\s,;]*)+|\s*\d+\s*,\s*\d+\s*"
WRITTEN = {"cute", "make_layout", "make_shape", "make_stride", "Layout", "Shape", "Stride", "Int", "C", "stride"}  # of an answer
BLANK = {"labels": "none", "color_by": "none"}  # a grid to fill


@dataclass(frozen=True, slots=True)
class QuizQuestion:
    """One question and its answer; figure: the source and the options of a picture that goes with it, without its answer."""

    text: str
    answer: str
    figure: tuple[str, Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Quiz:
    """A sheet of questions on a topic, made from a seed."""

    topic: str
    seed: int
    questions: tuple[QuizQuestion, ...]
    title: str = field(default="")


def quiz(topic: str, seed: int) -> Quiz:
    """The exercise of a topic and a seed, always the same. Raises: UsageError for an unknown topic."""
    if topic not in TOPICS:
        raise UsageError(f"there is no topic {topic!r}", hint=did_you_mean(topic, TOPICS, 1) or f"one of {', '.join(TOPICS)}")
    title, make = TOPICS[topic]
    return Quiz(topic, seed, tuple(make(random.Random(f"{topic} {seed}"))), title)


def check(sheet: Quiz, answers: Mapping[str, str]) -> list[tuple[int, bool, str]]:
    """For each question its number, whether the answer is right, and the right one; an answer is right however it is written."""
    return [(n, is_right(q.answer, answers.get(str(n), "")), q.answer) for n, q in enumerate(sheet.questions, 1)]


def is_right(expected: str, given: str) -> bool:
    """Whether an answer means the expected one: the same number, the same cells in any order, or the same layout or shape. A
    thread may be `T5`. What has yet to be computed, `coalesce(...)`, is not an answer."""
    if expected.isdecimal():
        number = re.fullmatch(r"[TV_]?(\d{1,9})", given.strip())
        return number is not None and int(number[1]) == int(expected)
    if re.fullmatch(_CELLS, expected):
        given = given.replace("_", "").strip("[] ")
        return re.fullmatch(_CELLS, given) is not None and _cells(given) == _cells(expected)
    if not {*re.findall(r"[A-Za-z]\w*", given)} <= WRITTEN:
        return False
    try:
        one, two = (evaluate(text, Request(()))[0] for text in (expected, given))
    except CuteVizError:
        return False
    if isinstance(one, Layout) and isinstance(two, Layout):
        return (_bare(one.shape), offsets(one)) == (_bare(two.shape), offsets(two))
    return bool(one == two)


def _bare(shape: object) -> object:
    """A shape without parentheses around all of it: `(4):(1)` is `4:1`."""
    return _bare(shape[0]) if isinstance(shape, tuple) and len(shape) == 1 else shape


def _cells(text: str) -> list[tuple[str, ...]]:
    return sorted(re.findall(r"(\d+)\s*,\s*(\d+)", text))


def _value(text: str) -> str:
    return show(evaluate(text, Request(()))[0])


def _table(text: str) -> list[Any]:
    return list(offsets(evaluate(text, Request(()))[0]))


def _layout(rng: random.Random) -> list[QuizQuestion]:
    rows, cols = rng.choice(((4, 8), (8, 4), (6, 4), (4, 6)))
    inner = rng.choice((2, rows // 2))
    layouts = (
        f"({rows},{cols}):({cols},1)",
        f"(({inner},{rows // inner}),{cols}):((1,{inner * cols}),{inner})",
        f"({rows},{cols}):({cols + 2},1)",
    )
    source = rng.choice(layouts)
    r, c = rng.randrange(1, rows), rng.randrange(1, cols)
    table = _table(source)
    index = rng.randrange(rows + 1, len(table))
    path = build(evaluate(source, Request(()))[0], FigureOptions(view="path"))
    return [
        QuizQuestion(f"A = {source}. What is A({r},{c})?", _value(f"A = {source}; A({r},{c})"), (source, BLANK)),
        QuizQuestion(f"Which cell (row,column) of A has the offset {table[index]}?", f"({index % rows},{index // rows})"),
        QuizQuestion("What is cosize(A)?", _value(f"cosize({source})")),
        QuizQuestion(
            "Fill the grid. How many steps from an offset to the next larger one go to a neighboring cell?",
            str(path.facts["neighbors"]),
        ),
    ]


def _composition(rng: random.Random) -> list[QuizQuestion]:
    rows, cols = rng.choice(((4, 8), (8, 4), (8, 8), (4, 16)))
    a = rng.choice(
        (f"({rows},{cols}):({cols},1)", f"({rows},{cols}):(1,{rows + 1})", f"({rows},(2,{cols // 2})):(2,(1,{2 * rows}))")
    )
    size, step = rng.choice((4, 8)), rng.choice((1, 2, 4))
    b, i = f"{size}:{step}", rng.randrange(1, size)
    one, two = rng.choice((2, 4)), rng.choice((2, 4))
    parts = f"({one},{two},2):(1,{one},{one * two * rng.choice((1, 2))})"
    return [
        QuizQuestion(f"A = {a}, B = {b}. What is composition(A, B)?", _value(f"composition({a}, {b})"), (a, {})),
        QuizQuestion(f"R = A o B. What is R({i})?", _value(f"R = composition({a}, {b}); R({i})")),
        QuizQuestion(f"What is coalesce({parts})?", _value(f"coalesce({parts})")),
        QuizQuestion(f"What is complement({b}, {rows * cols})?", _value(f"complement({b}, {rows * cols})")),
    ]


def _divide(rng: random.Random) -> list[QuizQuestion]:
    rows, cols = rng.choice((4, 6, 8, 12)), rng.choice((8, 12, 16))
    a = f"({rows},{cols}):{rng.choice((f'({cols},1)', f'(1,{rows})', f'({cols + 4},1)'))}"
    down, across = rng.choice([n for n in (2, 3, 4) if rows % n == 0]), rng.choice((2, 4))
    tile = f"({down},{across})"
    return [
        QuizQuestion(f"A = {a}. What is logical_divide(A, {tile})?", _value(f"logical_divide({a}, {tile})"), (a, {})),
        QuizQuestion(f"What is the shape of zipped_divide(A, {tile})?", _value(f"shape(zipped_divide({a}, {tile}))")),
        QuizQuestion("How many tiles are there?", _value(f"size<1>(zipped_divide({a}, {tile}))")),
        QuizQuestion("Which offset has the first cell of the last tile?", _value(f"A = {a}; A({rows - down},{cols - across})")),
    ]


def _swizzle(rng: random.Random) -> list[QuizQuestion]:
    swizzle = f"Sw<{rng.choice((1, 2, 3))},3,{rng.choice((3, 3, 4))}>"
    a = f"{swizzle} o 0 o (8,64):(64,1)"
    r, c, x = rng.randrange(1, 8), rng.randrange(64), rng.randrange(64, 512)
    offset, table = _value(f"A = {a}; A({r},{c})"), _table(a)
    still = sum(table[row] == 64 * row for row in range(8))  # chunks of a row move together
    return [
        QuizQuestion(f"A = {a}. Which offset has A({r},{c})?", offset, (a, {"labels": "none", "color_by": "none"})),
        QuizQuestion(
            f"A row of 64 elements is 8 chunks, 0 to 7, of 8. In which chunk of memory is A({r},{c})?", str(int(offset) // 8 % 8)
        ),
        QuizQuestion(f"What is {swizzle}({x})?", _value(f"S = {swizzle}; S({x})")),
        QuizQuestion("In how many of the 8 rows does every element keep its place?", str(still)),
        QuizQuestion("ldmatrix.x1 reads the first 16 bytes of each row, half_t. How many wavefronts?", _wavefronts(a)),
    ]


def _tv(rng: random.Random) -> list[QuizQuestion]:
    tv, rows, cols = rng.choice(
        (("((4,8),(2,2)):((32,1),(16,8))", 16, 8), ("((4,8),2):((16,1),8)", 8, 8), ("((8,4),2):((1,16),8)", 16, 4))
    )
    table = _table(tv)
    place = rng.randrange(rows * cols)
    owner, thread = table.index(place), rng.randrange(1, 32)
    held = sorted((p % rows, p // rows) for n, p in enumerate(table) if n % 32 == thread)
    where = f"(row {place % rows}, column {place // rows})"
    return [
        QuizQuestion(
            f"{tv} maps (thread, value) to a tile of {rows} x {cols}. Which thread holds {where}?",
            str(owner % 32),
            (tv, {"tile": f"{rows}x{cols}", **BLANK}),
        ),
        QuizQuestion("As which of its values?", str(owner // 32)),
        QuizQuestion(f"Which cells (row,column) does thread {thread} hold?", ", ".join(f"({r},{c})" for r, c in held)),
    ]


def _conflicts(rng: random.Random) -> list[QuizQuestion]:
    pitches = rng.sample((32, 40, 48, 64, 72, 80, 96, 128), 2)
    layouts = [f"(8,32):({pitch},1)" for pitch in pitches]
    layouts += [f"Sw<{bits},3,3> o 0 o (8,64):(64,1)" for bits in rng.sample((1, 2, 3), 2)]
    words = "ldmatrix.x1 reads the first 16 bytes of each row of {}, half_t. How many wavefronts?"
    first = QuizQuestion(words.format(layouts[0]), _wavefronts(layouts[0]), (layouts[0], {"view": "banks", "type": "f16"}))
    return [first, *(QuizQuestion(words.format(layout), _wavefronts(layout)) for layout in layouts[1:])]


@cache
def _wavefronts(layout: str) -> str:
    return str(accessed(evaluate(layout, Request(()))[0], Accessor("ldmatrix.x1", 16))[-1].wavefronts)


TOPICS: dict[str, tuple[str, Callable[[random.Random], list[QuizQuestion]]]] = {
    "layout": ("Read a layout", _layout),
    "composition": ("Compose", _composition),
    "divide": ("Divide into tiles", _divide),
    "swizzle": ("Swizzle", _swizzle),
    "tv": ("Who holds what", _tv),
    "conflicts": ("Count bank conflicts", _conflicts),
}
