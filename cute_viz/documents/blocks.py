"""A document's text -> the places where it asks for pictures: fences and comment pairs of Markdown, reST, HTML and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from cute_viz.errors import CuteVizError, Span

LANGUAGES = {
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
class Block:
    """One place that asks for a picture.

    pieces: the lines of the expression and where each begins in the document. options: the words after it, and where they begin.
    at: the place of the block, for messages. inside: what the picture's reference replaces; a new pair of comments goes there
        where `paired` is false. prefix: what lines of the block begin with (indentation, `> `). newline: how its lines end.
    """

    pieces: tuple[tuple[str, int], ...]
    options: tuple[str, int]
    at: Span
    inside: Span
    paired: bool
    prefix: str
    newline: str

    @property
    def expression(self) -> str:
        """The expression, its lines joined."""
        return "\n".join(text for text, _ in self.pieces)

    def place(self, span: Span) -> Span:
        """The place in the document of a place in the expression."""
        passed = 0
        for text, start in self.pieces:
            if span.start <= passed + len(text):
                begin = start + span.start - passed
                return Span(begin, max(begin + 1, min(begin + span.end - span.start, start + len(text))))
            passed += len(text) + 1
        return self.at


def blocks(text: str, language: str) -> list[Block]:
    """The blocks of a document, in order.

    Refused, with the place: a pair that is never closed, a closing comment without its opening one.

    >>> [block.expression for block in blocks("<!-- cute-viz: (4,8):(8,1) | view=grid -->\\n<!-- /cute-viz -->\\n", "markdown")]
    ['(4,8):(8,1)']
    """
    if language == "html":
        return _joined(text, list(_html_comments(text)))
    lines = _lines(text)
    if language == "markdown":
        return _joined(text, list(_markdown_events(text, lines)))
    live = _rest_lines(lines) if language == "rest" else _latex_lines(lines)
    mark = _REST if language == "rest" else _LATEX
    return _joined(text, [found for line in live if (found := _comment(line, mark))])


_HTML = r"<!-- ?(/?)cute-viz(?: *:(.*?))? *-->"
_REST = r"\.\. (/?)cute-viz(?: *:(?!:)(.*))?"
_LATEX = r"%+ ?(/?)cute-viz(?: *:(.*))?"


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


@dataclass(frozen=True, slots=True)
class _Comment:
    """A comment of ours: opening or closing, the words in it and where they begin, and the places before and after it."""

    closing: bool
    words: str
    words_at: int
    before: int
    after: int
    at: Span
    prefix: str
    newline: str


def _lines(text: str) -> list[_Line]:
    out, start = [], 0
    for match in re.finditer(r"\r?\n|\Z", text):
        out.append(_Line(text[start : match.start()], start, match[0]))
        start = match.end()
    return out


def _comment(line: _Line, pattern: str, prefix: str = r"[ \t]*") -> _Comment | None:
    """The comment of ours that a line is."""
    match = re.fullmatch(rf"({prefix}){pattern}[ \t]*", line.text)
    if match is None:
        return None
    span = Span(line.start + len(match[1]), line.start + len(line.text.rstrip()))
    at = line.start + match.start(3) if match[3] is not None else span.end
    return _Comment(bool(match[2]), match[3] or "", at, line.start, line.end, span, match[1], line.newline or "\n")


def _html_comments(text: str) -> Iterator[_Comment]:
    """The comments of an HTML page, wherever they stand; not those in scripts and styles."""
    raw = [match.span() for match in re.finditer(r"<(script|style|textarea)\b.*?</\1", text, re.S | re.I)]
    for match in re.finditer(_HTML, text):
        if any(start <= match.start() < end for start, end in raw):
            continue
        line = text.rfind("\n", 0, match.start()) + 1
        prefix = text[line : match.start()]
        newline = "\r\n" if "\r\n" in text else "\n"
        alone = not prefix.strip()
        after = match.end() + len(newline) if text.startswith(newline, match.end()) else match.end()
        at = match.start(2) if match[2] is not None else match.end()
        before = line if alone else match.start()
        yield _Comment(bool(match[1]), match[2] or "", at, before, after, Span(*match.span()), prefix if alone else "", newline)


def _joined(text: str, events: list[_Comment | Block]) -> list[Block]:
    """The blocks of comments, which come in pairs, and of fences, which a pair may follow."""
    out: list[Block] = []
    number = 0
    while number < len(events):
        event = events[number]
        following = events[number + 1] if number + 1 < len(events) else None
        if isinstance(event, Block):
            managed = following if isinstance(following, _Comment) and not following.words.strip() else None
            if managed and not managed.closing and not text[event.inside.start : managed.before].strip(" \t\r\n>"):
                event = replace(event, inside=_inside(text, events, number + 1), paired=True, prefix=managed.prefix)
                number += 2
            out.append(event)
            number += 1
            continue
        if event.closing:
            raise DocumentError("this closes nothing", text=text, span=event.at, hint="'cute-viz: EXPRESSION' opens a picture")
        if not event.words.strip():
            raise DocumentError("there is nothing to draw", text=text, span=event.at, hint="write 'cute-viz: EXPRESSION'")
        out.append(_block(event, _inside(text, events, number)))
        number += 2
    return out


def _inside(text: str, events: list[_Comment | Block], number: int) -> Span:
    """What stands between an opening comment and the closing one, which comes next."""
    opening = events[number]
    closing = events[number + 1] if number + 1 < len(events) else None
    assert isinstance(opening, _Comment)
    if not isinstance(closing, _Comment) or not closing.closing:
        raise DocumentError("this is never closed", text=text, span=opening.at, hint="a comment '/cute-viz' ends the picture")
    return Span(opening.after, max(opening.after, closing.before))


def _block(opening: _Comment, inside: Span) -> Block:
    """The block of a pair of comments: an expression, and options after a bar."""
    words, bar, options = opening.words.rpartition(" | ") if " | " in opening.words else (opening.words, "", "")
    left = len(words) - len(words.lstrip())
    pieces = ((words.strip(), opening.words_at + left),)
    where = opening.words_at + len(words) + len(bar)
    return Block(pieces, (options, where), opening.at, inside, True, opening.prefix, opening.newline)


_FENCE = re.compile(r"(?P<prefix>(?:[ \t]*>)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")


def _markdown_events(text: str, lines: list[_Line]) -> Iterator[_Comment | Block]:
    """Fences `cute-viz` and comments of Markdown; code, in other fences or indented, is left alone."""
    number = 0
    while number < len(lines):
        line = lines[number]
        bare = line.text.lstrip(" >\t")
        fence = _FENCE.match(line.text)
        if (fence or bare.startswith("<!--")) and _is_indented_code(lines, number):
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


def _fenced(lines: list[_Line], first: int, last: int, prefix: str, info_at: int, info: str) -> Block:
    """The block of a fence, as long as no pair of comments is known to follow it."""
    head = re.match(r"[ \t]*cute-viz[ \t]*", info)
    skip = head.end() if head else 0
    body = re.sub(r"(?:[-*+]|\d{1,9}[.)])", lambda match: " " * len(match[0]), prefix)
    pieces = []
    for line in lines[first + 1 : last]:
        width = len(body) if line.text.startswith(body) else min(line.indent, len(body))
        pieces.append((line.text[width:], line.start + width))
    newline = lines[first].newline or "\n"
    end = lines[last].end
    return Block(
        tuple(pieces), (info[skip:], info_at + skip), _span(lines[first], info.strip()), Span(end, end), False, body, newline
    )


def _closing(lines: list[_Line], first: int, fence: str) -> int | None:
    pattern = re.compile(rf"(?:[ \t]*>)*[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*")
    return next((n for n in range(first + 1, len(lines)) if pattern.fullmatch(lines[n].text)), None)


def _is_indented_code(lines: list[_Line], number: int) -> bool:
    """Whether a line is code because it is indented by 4 and no list item holds it."""
    indent = len(lines[number].text.expandtabs(4)) - len(lines[number].text.expandtabs(4).lstrip(" "))
    if indent < 4:
        return False
    for line in reversed(lines[:number]):
        if line.text.strip() and line.indent < indent:
            item = _ITEM.match(line.text)
            if item:
                return indent >= item.end() + 4
            if line.indent == 0:
                return True
    return True


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
