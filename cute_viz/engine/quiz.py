"""Exercises: questions on layouts with their answers, worked out by the same evaluation as everything else, and a checker."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cute_viz.algebra.inttuple import show
from cute_viz.algebra.layout import Layout
from cute_viz.algebra.table import offsets
from cute_viz.engine.accessing import Accessor, accessed
from cute_viz.engine.evaluate import evaluate
from cute_viz.engine.request import Request
from cute_viz.errors import CuteVizError, UsageError, did_you_mean


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
    """The exercise of a topic and a seed, always the same.

    Raises: UsageError for an unknown topic.

    >>> quiz("layout", 1) == quiz("layout", 1), len(quiz("swizzle", 2).questions) >= 3
    (True, True)
    """
    if topic not in TOPICS:
        raise UsageError(f"there is no topic {topic!r}", hint=did_you_mean(topic, TOPICS, 1) or f"one of {', '.join(TOPICS)}")
    title, make = TOPICS[topic]
    return Quiz(topic, seed, tuple(make(random.Random(f"{topic} {seed}"))), title)


def check(sheet: Quiz, answers: Mapping[str, str]) -> list[tuple[int, bool, str]]:
    """For each question its number, whether the answer is right, and the right one; an answer is right however it is written.

    >>> sheet = quiz("layout", 1)
    >>> [right for _, right, _ in check(sheet, {"1": sheet.questions[0].answer, "2": "0"})][:1]
    [True]
    """
    return [(n, is_right(q.answer, answers.get(str(n), "")), q.answer) for n, q in enumerate(sheet.questions, 1)]


def is_right(expected: str, given: str) -> bool:
    """Whether an answer means the expected one: the same words, the same numbers in any order of a list, or the same layout.

    >>> is_right("(2,(2,2)):(8,(1,16))", "(_2,(2,2)):(_8,(1,16))"), is_right("(0,1), (2,3)", "(2,3) (0,1)"), is_right("4", "5")
    (True, True, False)
    """
    plain = [sorted(re.split(r"\),?\(", re.sub(r"[_\s]", "", text).strip("()"))) for text in (expected, given)]
    if plain[0] == plain[1]:
        return True
    try:
        one, two = (evaluate(text, Request(()))[0] for text in (expected, given))
    except CuteVizError:
        return False
    if isinstance(one, Layout) and isinstance(two, Layout):
        return show(one.shape) == show(two.shape) and list(offsets(one)) == list(offsets(two))
    return bool(one == two)


def _value(text: str) -> str:
    return show(evaluate(text, Request(()))[0])


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
    table: list[Any] = list(offsets(evaluate(source, Request(()))[0]))
    index = rng.randrange(rows + 1, len(table))
    picture = (source, {"labels": "none", "color_by": "none"})
    return [
        QuizQuestion(f"A = {source}. What is A({r},{c})?", _value(f"A = {source}; A({r},{c})"), picture),
        QuizQuestion(f"Which cell (row,column) of A has the offset {table[index]}?", f"({index % rows},{index // rows})"),
        QuizQuestion("What is cosize(A)?", _value(f"cosize({source})")),
        QuizQuestion("Fill the grid. How many steps from one address to the next go to a neighbor?", _neighbors(source)),
    ]


def _neighbors(source: str) -> str:
    from cute_viz.figures import build
    from cute_viz.figures.options import FigureOptions

    return str(build(evaluate(source, Request(()))[0], FigureOptions(view="path")).facts["neighbors"])


def _composition(rng: random.Random) -> list[QuizQuestion]:
    rows, cols = rng.choice(((4, 8), (8, 4), (8, 8)))
    a = f"({rows},{cols}):({cols},1)"
    step, size = rng.choice((2, 4)), rng.choice((2, 4))
    b, i = f"{size}:{step}", rng.randrange(1, size)
    whole = rows * cols
    return [
        QuizQuestion(f"A = {a}, B = {b}. What is composition(A, B)?", _value(f"composition({a}, {b})"), (a, {})),
        QuizQuestion(f"R = A o B. What is R({i})?", _value(f"R = composition({a}, {b}); R({i})")),
        QuizQuestion(f"What is coalesce(({size},2):(1,{size}))?", _value(f"coalesce(({size},2):(1,{size}))")),
        QuizQuestion(f"What is complement({b}, {whole})?", _value(f"complement({b}, {whole})")),
    ]


def _divide(rng: random.Random) -> list[QuizQuestion]:
    rows, cols = rng.choice(((4, 8), (8, 8), (6, 8)))
    a, tile = f"({rows},{cols}):({cols},1)", (2, rng.choice((2, 4)))
    words = f"({tile[0]},{tile[1]})"
    return [
        QuizQuestion(f"A = {a}. What is logical_divide(A, {words})?", _value(f"logical_divide({a}, {words})"), (a, {})),
        QuizQuestion(f"What is the shape of zipped_divide(A, {words})?", _value(f"shape(zipped_divide({a}, {words}))")),
        QuizQuestion("How many tiles are there?", str(rows * cols // (tile[0] * tile[1]))),
        QuizQuestion("Which offset has the first cell of the last tile?", str((rows - tile[0]) * cols + cols - tile[1])),
    ]


def _swizzle(rng: random.Random) -> list[QuizQuestion]:
    bits = rng.choice((2, 3))
    cols = 8 << bits
    a = f"Sw<{bits},3,3> o 0 o (8,{cols}):({cols},1)" if bits == 3 else f"Sw<{bits},3,3> o 0 o (8,64):(64,1)"
    wide = cols if bits == 3 else 64
    r, c = rng.randrange(1, 8), rng.randrange(wide)
    offset = r * wide + c
    return [
        QuizQuestion(f"A = {a}. Which offset has A({r},{c})?", _value(f"A = {a}; A({r},{c})"), (a, {"labels": "none"})),
        QuizQuestion(f"How many elements stay side by side under Sw<{bits},3,3>?", "8"),
        QuizQuestion(
            f"Which chunk of 8 elements of its row does the offset {offset} go to?", str(offset // 8 % 8 ^ r % (1 << bits))
        ),
        QuizQuestion("ldmatrix.x1 reads 16 bytes of each row (half_t). How many wavefronts does it take?", _wavefronts(a)),
    ]


def _tv(rng: random.Random) -> list[QuizQuestion]:
    tv, rows, cols = rng.choice((("((4,8),(2,2)):((32,1),(16,8))", 16, 8), ("((4,8),2):((16,1),8)", 8, 8)))
    layout = evaluate(tv, Request(()))[0]
    table: list[Any] = list(offsets(layout))
    place = rng.randrange(rows * cols)
    owner, thread = table.index(place), rng.randrange(1, 32)
    held = sorted((p % rows, p // rows) for n, p in enumerate(table) if n % 32 == thread)
    picture = (tv, {"tile": f"{rows}x{cols}", "labels": "none", "color_by": "none"})
    where = f"(row {place % rows}, column {place // rows})"
    return [
        QuizQuestion(
            f"{tv} maps (thread, value) to a tile of {rows} x {cols}. Which thread holds {where}?", str(owner % 32), picture
        ),
        QuizQuestion("As which of its values?", str(owner // 32)),
        QuizQuestion(f"Which cells (row,column) does thread {thread} hold?", ", ".join(f"({r},{c})" for r, c in held)),
    ]


def _conflicts(rng: random.Random) -> list[QuizQuestion]:
    pad = rng.choice((0, 0, 4, 8))
    stride = 64 + pad
    layouts = [f"(8,64):({stride},1)", "Sw<3,3,3> o 0 o (8,64):(64,1)", "(8,32):(32,1)", "Sw<2,3,3> o 0 o (8,32):(32,1)"]
    words = "ldmatrix.x1 reads 16 bytes of each row of {}, half_t. How many wavefronts?"
    first = QuizQuestion(words.format(layouts[0]), _wavefronts(layouts[0]), (layouts[0], {"view": "banks", "type": "f16"}))
    return [first, *(QuizQuestion(words.format(layout), _wavefronts(layout)) for layout in layouts[1:])]


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
