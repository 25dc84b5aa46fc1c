"""A document's text -> the places where it asks for pictures: fences, and comments in pairs, in any language of `markup.py`."""

from __future__ import annotations

from dataclasses import dataclass

from cute_viz.documents.markup import Comment, DocumentError, Fence, events
from cute_viz.errors import Span
from cute_viz.limits import limit, over


@dataclass(frozen=True, slots=True)
class Block:
    """One place that asks for a picture.

    pieces: the lines of the expression and where each begins in the document. options: the words after it, and where they begin.
    at: the place of the block, for messages. inside: what the picture's reference replaces; a new pair of comments goes there
        where `paired` is false. prefix: what lines of the block begin with (indentation, `> `). newline: how its lines end.
    closing: the place of the comment that ends it. mark: what that says of what was written there, "" where nothing was.
    """

    pieces: tuple[tuple[str, int], ...]
    options: tuple[str, int]
    at: Span
    inside: Span
    paired: bool
    prefix: str
    newline: str
    closing: Span
    mark: str

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
    """The blocks of a document, in order. Raises: LimitError for documents over the limit; DocumentError with the place, for a
    pair or a fence that is never closed, a closing comment without its opening one, an empty one."""
    if len(text) > limit("document"):
        raise over("document", f"the document has {len(text)} characters")
    out: list[Block] = []
    found = events(text, language)
    number = 0
    while number < len(found):
        event = found[number]
        following = found[number + 1] if number + 1 < len(found) else None
        if isinstance(event, Fence):
            inside, paired, prefix, closing, mark = Span(event.end, event.end), False, event.prefix, Span(0, 0), ""
            managed = following if isinstance(following, Comment) and not following.words.strip() else None
            if managed and not managed.closing and not text[event.end : managed.before].strip(" \t\r\n>"):
                paired, prefix = True, managed.prefix
                inside, closing, mark = _inside(text, found, number + 1)
                number += 2
            out.append(Block(event.pieces, event.options, event.at, inside, paired, prefix, event.newline, closing, mark))
            number += 1
            continue
        if event.closing:
            raise DocumentError(
                "closing comment without an opening one", text=text, span=event.at, hint="'cute-viz: EXPRESSION' opens a picture"
            )
        if not event.words.strip():
            raise DocumentError("there is nothing to draw", text=text, span=event.at, hint="write 'cute-viz: EXPRESSION'")
        out.append(_block(event, *_inside(text, found, number)))
        number += 2
    return out


def _inside(text: str, found: list[Comment | Fence], number: int) -> tuple[Span, Span, str]:
    """What stands between an opening comment and the closing one, which comes next, with its place and its mark."""
    opening = found[number]
    closing = found[number + 1] if number + 1 < len(found) else None
    assert isinstance(opening, Comment)
    if not isinstance(closing, Comment) or not closing.closing:
        raise DocumentError("this is never closed", text=text, span=opening.at, hint="a comment '/cute-viz' ends the picture")
    return Span(opening.after, max(opening.after, closing.before)), closing.at, closing.words.strip()


def _block(opening: Comment, inside: Span, closing: Span, mark: str) -> Block:
    """The block of a pair of comments: an expression, and options after a bar."""
    words, bar, options = opening.words.rpartition(" | ") if " | " in opening.words else (opening.words, "", "")
    left = len(words) - len(words.lstrip())
    pieces = ((words.strip(), opening.words_at + left),)
    where = opening.words_at + len(words) + len(bar)
    return Block(pieces, (options, where), opening.at, inside, True, opening.prefix, opening.newline, closing, mark)
