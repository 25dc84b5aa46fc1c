"""A few thousand mutations of the fuzzing corpus, the same ones every time."""

from __future__ import annotations

import random

import pytest

from tests.fuzz import commands, doors
from tests.fuzz.mutate import mutate_json
from tests.fuzz.targets import FINDINGS, TARGETS, attempt, seeds

CASES = 600  # a target
SIGNS = "()[]{}<>:,;_@?^#'\"\\\n\t -+*/0123456789"
WORDS = ["o", "1@0", "_8", "Sw<3,3,3>", "\0", "\ud800", "\u202e", "é", "9" * 40, "((((", "None"]
PIECES = [*SIGNS, *WORDS]


def mutated(text: str, other: str, chance: random.Random) -> str:
    """The text with a few pieces put in, cut out, doubled, or taken from another."""
    for _ in range(chance.randint(1, 6)):
        a, b = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        kind = chance.randrange(5)
        if kind == 0:
            text = text[:a] + chance.choice(PIECES) + text[a:]
        elif kind == 1:
            text = text[:a] + text[min(b, a + 20) :]
        elif kind == 2:
            text = text[:a] + text[a : a + 60] * 2 + text[a + 60 :]
        elif kind == 3:
            start = chance.randint(0, len(other))
            text = text[:a] + other[start : start + chance.randint(1, 40)] + text[b:]
        else:
            text = text[:a] + chance.choice(PIECES) + text[a + 1 :]
    return text[:4000]


@pytest.mark.parametrize("target", TARGETS)
def test_the_corpus_itself(target: str) -> None:
    refused = [text for text in seeds(target) if not attempt(target, text)]
    hint = (
        "a new row of VIEWS or FORMATS stands behind the others: the letters of the corpus count them"
        if target == "options"
        else ""
    )
    assert not refused, hint


@pytest.mark.parametrize("target", TARGETS)
def test_what_was_found_once(target: str) -> None:
    for text in seeds(target, FINDINGS):
        attempt(target, text)


def test_figures_that_are_json_still() -> None:
    """Mutations by structure get behind the parser, to the checks of the model and the renderers."""
    known = seeds("figure")
    drawn = sum(attempt("figure", mutate_json(known[n % len(known)], n)) for n in range(2 * CASES))
    assert drawn > CASES // 10


@pytest.mark.parametrize("target", TARGETS)
def test_an_answer_or_a_clean_error(target: str) -> None:
    chance, known = random.Random(target), seeds(target)
    for _ in range(CASES):
        attempt(target, mutated(chance.choice(known), chance.choice(known), chance))


# What a command that watches is interrupted in may be a finaliser, where the interrupt is told and lost.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_commands_of_a_typed_grammar() -> None:
    """Any operation, operand and option: an answer, or a refusal in clear words. `python -m tests.fuzz.commands` tries more."""
    assert list(commands.fuzz(300, 20_000)) == []


def test_questions_of_a_typed_grammar() -> None:
    """Any question to the live page, any call of a tool. `python -m tests.fuzz.doors` tries more, and the servers."""
    pytest.importorskip("jsonschema")
    assert [*doors.ask(100, 1_016_000), *doors.ask(1, 1_043_845), *doors.ask(1, 1_049_270), *doors.ask(1, 1_166_720)] == []
