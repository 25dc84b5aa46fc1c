"""Which names a picture's file may have: those that every file system and every link takes, and that stay in their folder."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 120  # characters
FILE_NAMES = f"letters, digits, _ - + . and spaces, at most {LONGEST}, for example tv_8x128"


def why_not(name: str) -> str:
    """What a name that no picture's file may have would have to be."""
    return "Windows reserves con, prn, aux, nul, com1 to com9 and lpt1 to lpt9 for devices" if _device(name) else FILE_NAMES


def _device(name: str) -> bool:
    """Whether Windows has a device of a name, with any suffix; com\u00b9 is com1."""
    first = unicodedata.normalize("NFKC", name.partition(".")[0]).rstrip()
    return re.fullmatch(r"(?i)con|prn|aux|nul|com\d|lpt\d", first) is not None


def is_file_name(name: str) -> bool:
    """Whether a name, before its suffix, can be that of a picture's file."""
    if len(name) > LONGEST or _device(name):
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
