"""A few thousand mutations of the fuzzing corpus, the same ones every time."""

from __future__ import annotations

import random
import shlex
from pathlib import Path

import pytest

from tests.commands import run
from tests.fuzz import commands, doors, sources
from tests.fuzz.mutate import mutate_json, mutate_text
from tests.fuzz.targets import FINDINGS, TARGETS, attempt, seeds

CASES = 600  # a target


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


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_an_answer_or_a_clean_error(target: str) -> None:
    chance, known = random.Random(target), seeds(target)
    for _ in range(CASES):
        attempt(target, mutate_text(chance.choice(known), chance.choice(known), chance))


# What a command that watches is interrupted in may be a finaliser, where the interrupt is told and lost.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_commands_of_a_typed_grammar() -> None:
    """Any operation, operand and option: an answer, or a refusal in clear words. `python -m tests.fuzz.commands` tries more."""
    assert list(commands.fuzz(300, 20_000)) == []


def test_questions_of_a_typed_grammar() -> None:
    """Any question to the live page, any call of a tool. `python -m tests.fuzz.doors` tries more, and the servers."""
    pytest.importorskip("jsonschema")
    assert [*doors.ask(100, 1_016_000), *doors.ask(1, 1_043_845), *doors.ask(1, 1_049_270), *doors.ask(1, 1_166_720)] == []


@pytest.mark.slow
def test_sources_with_other_tokens(tmp_path: Path) -> None:
    """`python -m tests.fuzz MINUTES --folder DIR` tries more, of other people's sources."""
    folder = Path(__file__).parent.parent / "docs"
    assert list(sources.fuzz([str(folder)], 12, 5_000, tmp_path)) == []


def test_a_finding_is_kept_with_its_neighbors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake that is planted is found, by its exit status; what is kept shows it by itself."""
    (tmp_path / "src" / "in").mkdir(parents=True)
    (tmp_path / "src" / "a.cu").write_text('#include "in/b.h"\nusing A = cute::Layout<Shape<_4,_8>>;\n')
    (tmp_path / "src" / "in" / "b.h").write_text("using B = cute::Layout<Shape<_2>>;\n")

    def broken(*args: object) -> object:
        raise IndexError("planted")

    monkeypatch.setattr("cute_viz.source.opened.read", broken)
    found = list(sources.fuzz([str(tmp_path / "src")], 3, 1, tmp_path / "kept"))
    assert found
    assert all("planted" in said for _, _, said in found)
    kept = next((tmp_path / "kept").iterdir())
    monkeypatch.delenv("CUTE_VIZ_DEBUG", raising=False)
    argv = shlex.split((kept / "command.txt").read_text())
    assert run(*argv[1:], cwd=kept).returncode == 70
