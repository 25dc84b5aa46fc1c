"""Each picture of the gallery and its committed bytes, a test of its own: `tests/mutations.py` asks those that run a line.

The suite does not collect it; `cute-viz gallery --check` compares all pictures at once.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cute_viz.gallery.draw import draw
from cute_viz.gallery.plan import Task, plan
from cute_viz.spec import Library

ROOT = Path(__file__).parent.parent
JOBS = {job.name: job for job in plan([str(ROOT / "layouts" / "specs")], (), Library()).jobs}


@pytest.mark.parametrize("job", JOBS.values(), ids=list(JOBS))
def test_drawn(job: Task) -> None:
    done = draw(job, str(ROOT / "gallery"), True, {})
    assert (done.failure, done.differs) == ("", ())
