"""Settings of the whole suite: the same random cases on every run, and no deadline (speed is the benchmark's business)."""

import signal

from hypothesis import settings

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("suite")

# A job in the background of a shell ignores Ctrl-C, and so would every command that it starts; some tests send it to theirs.
signal.signal(signal.SIGINT, signal.default_int_handler)
