"""Settings of the whole suite: the same random cases on every run, no deadline (speed is the benchmark's business), no net.

What a command, a document or an extension would tell as a mistake of ours is an exception here, so that its test fails.
"""

import gc
import os
import signal

from hypothesis import settings

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("suite")

os.environ["CUTE_VIZ_DEBUG"] = "1"  # of the processes that tests start, too

# A job in the background of a shell ignores Ctrl-C, and so would every command that it starts; some tests send it to theirs.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Eleven thousand tests stay to the end: looking through them for cycles, again and again, took a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


if os.name == "nt":  # what these hold is of signals, limits of processes, pipes and devices, as POSIX has them
    collect_ignore = [
        "fuzz",
        "layout_programs.py",
        "test_faults.py",
        "test_fuzz.py",
        "test_layout_programs.py",
        "test_limits.py",
        "test_live.py",
    ]
