"""Text -> tokens of CuTe notation, each with its span."""

from __future__ import annotations

import re

from cute_viz.errors import NotationError, Span
from cute_viz.limits import limit, over
from cute_viz.records import dataclass, pattern

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\f\v]+ | //[^\n]* | \#[^\n]*)
      | (?P<newline>\n)
      | (?P<pointer>(?:S[w]?<\d+,\d+,-?\d+>_)?(?:[a-z]+_)?(?:sparse<\d{1,3}>_)?ptr\[\d+b\]\((?:unset|0x[0-9a-fA-F]+|nil|\(nil\))\)
                  | counting_iter\(_?-?\d+\))
      | (?P<mixed>M_\d{1,10}\|\(\d{1,10}&\d{1,10}\)=\d{1,10}(?![A-Za-z_\d]))
      | (?P<static>(?:cute::)?_(?:-?\d+|m(?:[1-9]|1[026]|24|32))(?![A-Za-z_\d]))
      | (?P<number>(?:0x[0-9a-fA-F]{1,16}|-?\d+)(?![A-Za-z_\d]))
      | (?P<blank>(?:cute::)?_(?![A-Za-z_\d]))
      | (?P<equal>[=!]=)
      | (?P<infix>o(?![A-Za-z_\d<(:]) | ∘ | ⊘ | ⊗)
      | (?P<name>[A-Za-z][A-Za-z_\d]*(?:(?:::|\.)[A-Za-z_][A-Za-z_\d]*)* | _[_A-Za-z][A-Za-z_\d]*
              | \d+x\d+x\d+_\w+ | \?(?:\{[^{}\n]{0,80}\})?)
      | (?P<mark>[()\[\]<>{},:;@/=+\-*%&.])""",
    re.VERBOSE,
)

# What an operand can end with: a '-' after it is the operator.
_OPERANDS = ("number", "static", "name", ")", "]", "}", ">")
_DIVIDED = pattern(r"[ \t]*(//)[ \t]*\(*\w+[ \t]*(?:[^\w\s].*)?$", re.M)
_INTEGERS = ("number", "static", "name", ")")
_DIVISOR = pattern(r"//\s*(?:\d+\s*(?:[^\w\s].*)?|[A-Za-z_]\w*\s*[,)*+/%-].*)$")


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its kind (for a mark the mark itself), its text and its span."""

    kind: str
    text: str
    span: Span


def tokenize(text: str) -> list[Token]:
    """The tokens of a text, closed by one of kind `end`. Line ends outside brackets count as `;`. What is not a token is of kind
    `junk`: source and logs hold much that is none of ours, and only the parser can tell whether it stands where a layout should."""
    if len(text) > limit("source"):
        raise over("source", f"the source has {len(text)} characters")
    longest = limit("digits")
    out: list[Token] = []
    position = depth = 0
    closed = text.rfind("*/")  # where the last comment of C ends
    while position < len(text):
        if position < closed and text.startswith("/*", position):
            position = max(position + 2, text.find("*/", position + 2) + 2)
            continue
        match = _TOKEN.match(text, position)
        if match is None:
            out.append(Token("junk", text[position], Span(position, position + 1)))
            position += 1
            continue
        kind, word = match.lastgroup or "", match.group()
        if kind == "number" and word[0] == "-" and out and out[-1].kind in _OPERANDS:
            kind, word = "mark", "-"  # a - 1
        span = Span(position, position + len(word))
        position = span.end
        if kind in ("static", "blank"):
            word = word.removeprefix("cute::").replace("m", "-")  # _m8, CuTe's name of Int<-8>
        if kind == "mixed":  # an offset of which some bits are static
            kind, word = "number", word.rpartition("=")[2]
        if kind == "space":
            if depth > 0 and word.startswith("//") and out[-1].kind in _INTEGERS and _DIVISOR.match(word):
                out.append(Token("junk", "//", Span(span.start, span.start + 2)))  # a comment would hide what closes the bracket
            continue
        if kind == "newline":
            if depth <= 0 and out and out[-1].kind != ";":
                out.append(Token("newline", word, span))
            continue
        if kind in ("number", "static", "pointer") and len(word) > longest:
            digits = max(map(len, re.findall(r"\d*", word))) if kind == "pointer" else len(word)
            if digits > longest:
                raise over("digits", f"an integer of {digits} digits", text=text, span=span)
        if kind == "mark":
            kind = word
            depth += (word in "([{") - (word in ")]}")
        out.append(Token(kind, word, span))
    out.append(Token("end", "", Span(len(text), len(text))))
    return _join_lines(out)


def _join_lines(tokens: list[Token]) -> list[Token]:
    """A line end parts two statements, unless an operator before or after it shows that the expression goes on."""
    out: list[Token] = []
    for n, token in enumerate(tokens):
        if token.kind != "newline":
            out.append(token)
            continue
        after = next(t for t in tokens[n:] if t.kind != "newline")
        open_ended = out and out[-1].kind in ("infix", "equal", ":", "=", ",", ";", "@", "+", "-", "*", "/", "%")
        if not (open_ended or after.kind in ("infix", "equal", ":", "end", ";") or not out):
            out.append(Token(";", "\n", token.span))
    return out


def divided(text: str, position: int) -> NotationError | None:
    """The error for a `//` behind an integer that reads like the second half of Python's `a // b`; None where it does not."""
    match = _DIVIDED.match(text, position)
    if match is None:
        return None
    hint = "'/' divides as in C++; `dialect=dsl` reads Python's '//'"
    return NotationError("'//' begins a comment, as in C++", text=text, span=Span(*match.span(1)), hint=hint)


def unknown(text: str, position: int) -> NotationError:
    """The error for a character that begins no token."""
    if (division := divided(text, position)) is not None:
        return division
    char = text[position]
    shown = char if char.isprintable() else f"U+{ord(char):04X}"
    hint = None
    word = re.match(r"-?_?\d+[A-Za-z_]+\w*", text[position:])
    if word:
        return NotationError(
            f"{word.group()!r} is neither a number nor a name", text=text, span=Span(position, position + word.end())
        )
    if char in "\"'":
        hint = "an expression needs no quotes of its own; in cmd.exe use double quotes"
    return NotationError(f"unexpected character {shown!r}", text=text, span=Span(position, position + 1), hint=hint)
