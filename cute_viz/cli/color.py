"""Whether to write colour escapes: --color, then NO_COLOR, then FORCE_COLOR, then the terminal."""

from __future__ import annotations

import os
import sys


def wanted(choice: str) -> bool:
    """`always`, `never`, or `auto`: a terminal that has not asked for plain text (no-color.org)."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
