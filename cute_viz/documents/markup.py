"""What a document's markup holds for us: the comments and fences `cute-viz` of Markdown, reST, HTML and LaTeX."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from cute_viz.errors import CuteVizError, Span

LANGUAGES = {  # by the suffix of a document
    ".md": "markdown",
    ".markdown": "markdown",
    ".myst": "markdown",
    ".rst": "rest",
    ".html": "html",
    ".htm": "html",
    ".tex": "latex",
}


class DocumentError(CuteVizError):
    """A document with a block that cannot be read or drawn; the place is in the document."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment of ours in a document.

    words: what it says after `cute-viz:`, and words_at where that begins. before, after: where the comment, with its line if it
    has one, begins and ends. at: its place, for messages. prefix, newline: of its line.
    """

    closing: bool
    words: str
    words_at: int
    before: int
    after: int
    at: Span
    prefix: str
    newline: str


@dataclass(frozen=True, slots=True)
class Fence:
    """A fence `cute-viz` of Markdown: `end` is where the line after it begins; the rest are fields of `blocks.Block`."""

    pieces: tuple[tuple[str, int], ...]
    options: tuple[str, int]
    at: Span
    end: int
    prefix: str
    newline: str


def events(text: str, language: str) -> list[Comment | Fence]:
    """The comments and fences of a document, in order; what is code, verbatim or a script is left alone. Raises: DocumentError
    with the place, for a fence that is never closed, a comment of ours that does not end on its line."""
    if language == "html":
        return list(_html_comments(text))
    lines = _lines(text)
    if language == "markdown":
        return list(_markdown_events(text, lines))
    live, mark = (_rest_lines(lines), _REST) if language == "rest" else (_latex_lines(lines), _LATEX)
    return [found for line in live if (found := _comment(line, mark))]


_HTML = r"<!-- ?(/?)cute-viz(?: *:((?:(?!-->).)*)| *)-->"
_REST = r"\.\. (/?)cute-viz(?: *:(?!:)(.*))?"
_LATEX = r"%+ ?(/?)cute-viz(?: *:(.*))?"
_MARKUP = re.compile(r"<!--|<(script|style|textarea)\b", re.I)  # of HTML, what has an end of its own


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    start: int
    newline: str

    @property
    def end(self) -> int:
        """Where the next line begins."""
        return self.start + len(self.text) + len(self.newline)

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip(" \t"))


def _lines(text: str) -> list[_Line]:
    out, start = [], 0
    for match in re.finditer(r"\r?\n|\Z", text):
        out.append(_Line(text[start : match.start()], start, match[0]))
        start = match.end()
    return out


def _comment(line: _Line, pattern: str, prefix: str = r"[ \t]*") -> Comment | None:
    """The comment of ours that a line is."""
    match = re.fullmatch(rf"({prefix}){pattern}[ \t]*", line.text)
    if match is None:
        return None
    span = Span(line.start + len(match[1]), line.start + len(line.text.rstrip()))
    at = line.start + match.start(3) if match[3] is not None else span.end
    return Comment(bool(match[2]), match[3] or "", at, line.start, line.end, span, match[1], line.newline or "\n")


def _html_comments(text: str) -> Iterator[Comment]:
    """The comments of an HTML page, wherever they stand; not those in scripts and styles."""
    newline, lower, at = "\r\n" if "\r\n" in text else "\n", text.lower(), 0
    while match := _MARKUP.search(text, at):
        closing = f"</{match[1].lower()}" if match[1] else "-->"
        at = lower.find(closing, match.end())
        if at < 0:  # the rest of the page is in it
            return
        at += len(closing)
        ours = None if match[1] else re.fullmatch(_HTML, text[match.start() : at])
        if ours is None:
            continue
        before = match.start()
        while before and text[before - 1] in " \t":
            before -= 1
        alone = not before or text[before - 1] == "\n"
        prefix = text[before : match.start()] if alone else ""
        after = at + len(newline) if text.startswith(newline, at) else at
        words = match.start() + ours.start(2) if ours[2] is not None else at
        span = Span(match.start(), at)
        yield Comment(bool(ours[1]), ours[2] or "", words, before if alone else match.start(), after, span, prefix, newline)


_FENCE = re.compile(r"(?P<prefix>(?:[ \t]*>)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")


def _markdown_events(text: str, lines: list[_Line]) -> Iterator[Comment | Fence]:
    """Fences `cute-viz` and comments of Markdown; code, in other fences or indented, is left alone."""
    number = 0
    holders = _Holders(lines)
    while number < len(lines):
        line = lines[number]
        bare = line.text.lstrip(" >\t")
        fence = _FENCE.match(line.text)
        if (fence or bare.startswith("<!--")) and holders.leave_as_code(number):
            pass
        elif fence and not (fence["fence"][0] == "`" and "`" in fence["info"]):
            end = _closing(lines, number, fence["fence"])
            if re.match(r"[ \t]*cute-viz(?=\s|$)", fence["info"]):
                if end is None:
                    raise DocumentError("this block is never closed", text=text, span=_span(line, fence["fence"]))
                yield _fenced(lines, number, end, fence["prefix"], line.start + fence.start("info"), fence["info"])
            number = len(lines) if end is None else end
        elif comment := _comment(line, _HTML, r"(?:[ \t]*>)*[ \t]*"):
            yield comment
        elif bare.startswith("<!--") and "-->" not in bare:
            if re.match(r"<!-- ?/?cute-viz\b", bare):
                raise DocumentError("this comment does not end on its line", text=text, span=_span(line, bare))
            while number < len(lines) - 1 and "-->" not in lines[number].text:
                number += 1
        number += 1


def _fenced(lines: list[_Line], first: int, last: int, prefix: str, info_at: int, info: str) -> Fence:
    """The fence of the lines first to last, both of them marks."""
    head = re.match(r"[ \t]*cute-viz[ \t]*", info)
    skip = head.end() if head else 0
    body = re.sub(r"(?:[-*+]|\d{1,9}[.)])", lambda match: " " * len(match[0]), prefix)
    pieces = []
    for line in lines[first + 1 : last]:
        width = len(body) if line.text.startswith(body) else min(line.indent, len(body))
        pieces.append((line.text[width:], line.start + width))
    newline = lines[first].newline or "\n"
    end = lines[last].end
    return Fence(tuple(pieces), (info[skip:], info_at + skip), _span(lines[first], info.strip()), end, body, newline)


def _closing(lines: list[_Line], first: int, fence: str) -> int | None:
    pattern = re.compile(rf"(?:[ \t]*>)*[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*")
    return next((n for n in range(first + 1, len(lines)) if pattern.fullmatch(lines[n].text)), None)


class _Holders:
    """The lines that decide whether one below them is code because of its indentation: items of lists, and text at the margin."""

    def __init__(self, lines: list[_Line]) -> None:
        self.lines = lines
        self.seen = 0
        self.open: list[tuple[int, int | None]] = []  # indentation, and where the text of an item begins; the deepest last

    def leave_as_code(self, number: int) -> bool:
        """Whether a line is indented by 4 more than what holds it; lines are asked for in order."""
        for line in self.lines[self.seen : number]:
            item = _ITEM.match(line.text)
            if item or (line.text.strip() and not line.indent):
                while self.open and self.open[-1][0] >= line.indent:
                    self.open.pop()
                self.open.append((line.indent, item.end() if item else None))
        self.seen = number
        wide = self.lines[number].text.expandtabs(4)
        indent = len(wide) - len(wide.lstrip(" "))
        if indent < 4:
            return False
        content = next((content for outer, content in reversed(self.open) if outer < indent), None)
        return content is None or indent >= content + 4


def _span(line: _Line, words: str) -> Span:
    start = line.start + max(0, line.text.find(words))
    return Span(start, start + max(1, len(words)))


_LITERAL = re.compile(r"\.\. (code|code-block|sourcecode|parsed-literal|raw|math|highlight|cute-viz|graphviz|tikz)::")


def _rest_lines(lines: list[_Line]) -> Iterator[_Line]:
    """The lines of a reST document that are not in a literal block."""
    literal: int | None = None  # the indentation of the line that opened one
    for line in lines:
        stripped = line.text.strip()
        if literal is not None and (not stripped or line.indent > literal):
            continue
        literal = None
        yield line
        if _LITERAL.match(stripped) or (stripped.endswith("::") and not stripped.startswith(".. ")):
            literal = line.indent


def _latex_lines(lines: list[_Line]) -> Iterator[_Line]:
    """The lines of a LaTeX document that are not verbatim."""
    environment: str | None = None
    for line in lines:
        if environment is None:
            begin = re.search(r"\\begin\{(verbatim\*?|Verbatim|lstlisting|minted|comment)\}", line.text)
            if begin and "%" not in line.text[: begin.start()]:
                environment = begin[1]
            else:
                yield line
        elif f"\\end{{{environment}}}" in line.text:
            environment = None


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
