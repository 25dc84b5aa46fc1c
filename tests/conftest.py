"""Settings of the whole suite: the same random cases on every run, and no deadline (speed is the benchmark's business)."""

from hypothesis import settings

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("suite")
