"""Which names a picture's file may have: those that every file system and every link takes, and that stay in their folder."""

from __future__ import annotations

import re

LONGEST = 120  # characters
FILE_NAMES = f"letters, digits, _ - + . and spaces, at most {LONGEST}, such as tv_8x128"


def is_file_name(name: str) -> bool:
    """Whether a name, before its suffix, can be that of a picture's file.

    >>> is_file_name("tv_8x128"), is_file_name("../up"), is_file_name(".hidden"), is_file_name("con")
    (True, False, False, False)
    """
    if len(name) > LONGEST or re.fullmatch(r"(?i)con|prn|aux|nul|com\d|lpt\d", name):
        return False
    return re.fullmatch(r"\w(?:[\w .+\-]*[\w+\-])?", name) is not None


_TURNS = "\u2028\u2029\u202a-\u202e\u2066-\u2069"
_BREAKS = {"latex": r"\\{}%#$&~^", "rest": r"\\"}  # Markdown and HTML have them quoted


def can_stand(path: str, language: str) -> bool:
    r"""Whether a path can stand in a document: it is UTF-8 in one line, and nothing that the language takes for a command.

    >>> can_stand("figures/tv.svg", "latex"), can_stand("100%.svg", "latex"), can_stand("caf\udce9.svg", "markdown")
    (True, False, False)
    """
    return re.search(f"[\\x00-\\x1f\\x7f-\\x9f\ud800-\udfff{_TURNS}{_BREAKS.get(language, '')}]", path) is None
