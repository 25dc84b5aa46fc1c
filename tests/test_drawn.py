"""Pictures of everything in every look are those that were kept, byte for byte: no number of a layout moves unseen."""

from __future__ import annotations

import pytest

from tests import drawn

PARTS = drawn.parts()
QUICK = list(PARTS)[::40]  # the suite has these, the slow tests the others
MARKED = [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in PARTS]


def test_every_picture_is_kept() -> None:
    assert list(drawn.held()) == list(PARTS)


@pytest.mark.parametrize("name", MARKED)
def test_a_picture_is_as_it_was_kept(name: str) -> None:
    found = drawn.of_today(name)
    assert found == drawn.held()[name], f"meant? `python -m tests.drawn` keeps what is drawn now; `... '{name}'` prints it"
