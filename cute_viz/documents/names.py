"""Which names a picture's file may have: those that every file system and every link takes, and that stay in their folder."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 120  # characters
FILE_NAMES = f"letters, digits, _ - + . and spaces, at most {LONGEST}, for example tv_8x128"


def is_file_name(name: str) -> bool:
    """Whether a name, before its suffix, can be that of a picture's file."""
    device = unicodedata.normalize("NFKC", name.partition(".")[0]).rstrip()  # with any suffix, and com\u00b9 is com1
    if len(name) > LONGEST or re.fullmatch(r"(?i)con|prn|aux|nul|com\d|lpt\d", device):
        return False
    return re.fullmatch(r"\w(?:[\w .+\-]*[\w+\-])?", name) is not None


def one_name(name: str) -> str:
    r"""What is equal of two names that one file system or another takes for one: those that differ in case, or in how accents
    are written."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


_TURNS = "\u2028\u2029\u202a-\u202e\u2066-\u2069"
_BREAKS = {"latex": r"\\{}%#$&~^", "rest": r"\\"}  # Markdown and HTML have them quoted


def can_stand(path: str, language: str) -> bool:
    r"""Whether a path can be written in a document: it is UTF-8 in one line, and nothing that the language takes for a command."""
    return re.search(f"[\\x00-\\x1f\\x7f-\\x9f\ud800-\udfff{_TURNS}{_BREAKS.get(language, '')}]", path) is None
