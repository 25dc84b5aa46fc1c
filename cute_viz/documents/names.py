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


def is_text(path: str) -> bool:
    r"""Whether a path can stand in a document: it is UTF-8, and no bytes that the file system took as they came.

    >>> is_text("figures/tv.svg"), is_text("caf\udce9.svg")
    (True, False)
    """
    return re.search("[\ud800-\udfff]", path) is None
