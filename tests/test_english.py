"""The style guide of CONTRIBUTING: phrases that no text for users has, in strings of the package and in documents."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import tree

ROOT = Path(__file__).parent.parent
BANNED = (
    r"\bsuch as\b",  # "for example", or "example:" in a hint
    r"\bcur(e|es|ed|ing)\b",  # "fix"
    r"\bday of\b",  # "thread trace"
    r"\bdoors?\b",  # "interfaces", "the CLI, Python and documents"
    r"\bamid\b",  # "in a log"
    r"(?<!class=\")\balone\b(?!\">)",  # "only"
    r"(?i)colour|\bgreys?\b|neighbour|behaviour|labell(ed|ing)\b|honour|licence\b",  # American
    r"(?i)\w(vector|summar|recogn|initial|normal)is(e|es|ed|ing)\b",
    r"\b(wants|tells) (to|the|its|which|what|how|it|of|a|an|them)\b",  # nobody speaks
    r"\bwhich nothing says\b|\bsays (why|which|what|so|how|it)\b",
    r"\b(?<!there )is no (multiple|layout|report|request|conflict|option|choice|file|JSON|mapping|place)\b",  # "is not a"
    r"\b(no word more|needs a word|takes a turn)\b",
    r"\blight these\b|\bis lit\b",
    r"(?m)^Of (a|an|the|what|which|several|those) [^.\n]{3,60} (is|are|has|have|takes|shows|the)\b",  # "For a", "In a"
    r"\bgoes? with\b",
    r"\bput to the proof\b|\bat any rate\b|\bin any case\b",
)
PAGES = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "layouts/LIBRARY.md", "layouts/SCHEMA.md")


def strings() -> Iterator[tuple[str, str]]:
    """Every string of the package with a blank in it that is not a docstring."""
    for path in sorted((ROOT / "cute_viz").rglob("*.py")):
        nodes = list(ast.walk(tree(path)))
        docs = {id(node.value) for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}
        for node in nodes:
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and " " in node.value.strip()
                and id(node) not in docs
            ):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node.value


def pages() -> Iterator[tuple[str, str]]:
    """The lines of documents that are not code; the style guide names the phrases itself."""
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            fenced = guide = False
            for number, line in enumerate(path.read_text().splitlines(), 1):
                fenced ^= line.startswith(("```", "````"))
                guide = guide or line.startswith("## English")
                guide = guide and not (line.startswith("## ") and not line.startswith("## English"))
                if not fenced and not guide and not line.startswith(("    ", "![")):
                    yield f"{path.relative_to(ROOT)}:{number}", re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)


@pytest.mark.parametrize("texts", [strings, pages])
def test_no_banned_phrase(texts) -> None:
    """What a user reads is plain American English; see CONTRIBUTING, English."""
    found = [
        f"{place}: {hit[0]!r} in {text[:90]!r}" for place, text in texts() for phrase in BANNED if (hit := re.search(phrase, text))
    ]
    assert not found, "\n".join(found)


def test_the_phrases_are_found() -> None:
    """Each phrase matches what it is there for."""
    bad = ("a hint such as this", "the cure", "16 bytes alone", "The day of thread 5", "all doors", "amid other output", "colour")
    bad += ("what the atom wants to do", "`explain` says why", "it is no layout", "takes a turn of its own", "it goes with a tile")
    assert all(any(re.search(phrase, text) for phrase in BANNED) for text in bad)
