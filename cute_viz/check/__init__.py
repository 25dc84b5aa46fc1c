"""Pictures against silicon: a check is a kernel as text, launches with their buffers, and a judgement of what comes back.

Interfaces call runner.py. plan.py knows which checks an object has, device.py (and ncu, by counters.py) runs them, and report.py
makes verdicts of the outcomes.
"""
