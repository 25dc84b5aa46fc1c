"""A document -> the same document with the references to its pictures up to date, and the pictures."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote

from cute_viz.documents.blocks import Block, blocks
from cute_viz.documents.draw import name_of, picture, words_of
from cute_viz.documents.markup import DocumentError, can_stand, is_file_name, one_name, why_not
from cute_viz.engine import Answer, Folder
from cute_viz.engine.address import page_link
from cute_viz.errors import CuteVizError, Span, boundary
from cute_viz.limits import held
from cute_viz.renderers import FORMATS, format_named
from cute_viz.renderers.said import described
from cute_viz.renderers.tex import shrunk
from cute_viz.spec import PACKAGED, Library

SHOWN = {  # the formats that a document shows, by its language, the best first
    "markdown": ("svg", "png"),
    "rest": ("svg", "png", "pdf"),
    "html": ("svg", "png"),
    "latex": ("pdf", "tikz", "png"),
}


@dataclass(slots=True)
class Embedded:
    """What became of a document.

    text: the document with its references. pictures: file name -> bytes. places: file name -> line of the block.
    changed: the lines of the blocks whose reference is not what it should be. failures: one error for each block that has one.
    ours: what the marks of the document say of the pictures that were written for it.
    """

    text: str
    pictures: dict[str, bytes] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    changed: list[int] = field(default_factory=list)
    failures: list[CuteVizError] = field(default_factory=list)
    ours: set[str] = field(default_factory=set)


def embed(
    text: str,
    language: str,
    stem: str,
    folder: str = "",
    format: str | None = None,
    name: str | None = None,
    library: Library = PACKAGED,
    page: str | None = None,
    files: Folder | None = None,
    force: bool = False,
    letters: str | None = None,
) -> Embedded:
    """Bring the pictures of a document up to date; every byte outside of the references stays.

    The comment that ends a picture gets a mark, hashes of the picture and its reference, by which a later run knows its own work.

    stem: begins the names of pictures that have none. folder: where they lie, as the document sees it. name: of the document, for
    messages. library: what names stand for. page: the address of a live page, which pictures then link to. files: where the files
    of addresses lie, None where none are read. force: what stands in place of a reference gives way, whoever wrote it. letters: px
    of the letters of cells, in every picture that has none of its own.

    Raises: DocumentError for a document whose pairs of comments do not match; what a single block gets wrong is in `failures`.
    """
    out = Embedded(text)
    pictures = _Pictures(language, stem, folder, format, out, library, page, files, letters)
    parts: list[str] = []
    done, line, at = 0, 1, 0
    try:
        found = blocks(text, language)
    except CuteVizError as error:
        raise error.but(name=name) from None
    for block in found:
        line, at = line + text.count("\n", at, block.at.start), block.at.start
        out.ours.update(block.mark.partition(" ")[0].split("+"))
        try:
            with boundary(), held():
                reference, picture_mark = pictures.reference(block, line)
            mark = f"{picture_mark} {_hash(_words(reference))}"
            new, old = _laid_out(text, block, reference, mark), text[block.inside.start : block.inside.end]
            if not force and _words(old.splitlines()) not in ("", _words(reference)) and not _is_ours(old, block):
                raise CuteVizError("this block is not as embed wrote it", hint=_OVERWRITE)
        except CuteVizError as error:
            out.failures.append(_located(error, block, text, name))
            continue
        if new != old or (block.paired and mark != block.mark):
            out.changed.append(line)
        parts += [text[done : block.inside.start], new]
        done = block.inside.end
        if block.paired:
            ending = re.sub(r"/cute-viz(?: *:.*?)?(?= *-->|$)", f"/cute-viz: {mark}", text[block.closing.start : block.closing.end])
            parts += [text[done : block.closing.start], ending]
            done = block.closing.end
    out.text = "".join([*parts, text[done:]])
    return out


_OVERWRITE = "move it out of the block; `cute-viz embed --force` replaces it"


def mark_of(data: bytes) -> str:
    """What a document says of a picture, by which a later run knows that it is unchanged."""
    return hashlib.sha256(data).hexdigest()[:16]


def _hash(words: str) -> str:
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:8]


def _words(lines: list[str]) -> str:
    """The lines of a reference, however they are indented and end."""
    return "\n".join(filter(None, (line.strip(" \t>") for line in lines)))


_REFERENCE = re.compile(  # what a reference looks like, to a block that has no mark yet
    r"\[?!\[.*\]\([^()\s]*\)(\]\(<[^<>]*>\))?|(<a [^<>]*>)?<img [^<>]*>(</a>)?|\.\. image:: .*|:(alt|target): .*"
    r"|(\\noindent)?(\\includegraphics\[.*\]|\\resizebox.*|\\input)\{[^{}]*\}+"
)


def _is_ours(inside: str, block: Block) -> bool:
    words = _words(inside.splitlines())
    if block.mark:
        return block.mark.partition(" ")[2] == _hash(words)
    return all(map(_REFERENCE.fullmatch, words.splitlines()))


class _Pictures:
    """What the blocks of a document draw, each different picture once."""

    def __init__(
        self,
        language: str,
        stem: str,
        folder: str,
        format: str | None,
        out: Embedded,
        library: Library,
        page: str | None,
        sources: Folder | None,
        letters: str | None,
    ) -> None:
        self.library, self.page, self.sources, self.letters = library, page, sources, letters
        self.language, self.stem, self.folder, self.format, self.out = language, stem, folder, format, out
        self.files: dict[str, str] = {}  # as `one_name` has them -> as first written
        self.drawn: dict[tuple[str, str], tuple[list[str], str]] = {}  # expression, options -> lines of its reference, mark

    def reference(self, block: Block, line: int) -> tuple[list[str], str]:
        """The lines that show a block's picture, and the mark of that; the picture itself goes to `out`."""
        asked = (block.expression, block.options[0])
        if asked not in self.drawn:
            self.drawn[asked] = self._draw(block, line)
        return self.drawn[asked]

    def _draw(self, block: Block, line: int) -> tuple[list[str], str]:
        language, out = self.language, self.out
        words = words_of(block.options[0])
        alt, given, formats = words.pop("alt", None), words.pop("name", None), words.pop("formats", None)
        asked = dict.fromkeys(re.split(r"[,\s]+", formats.strip(", "))) if formats else ()
        format, *others = asked or (self.format or SHOWN[language][0],)
        if format not in SHOWN[language]:
            raise CuteVizError(f"a {language} document cannot show {format!r}", hint=f"formats: {', '.join(SHOWN[language])}")
        for other in others:
            format_named(other)
        if given is not None and not is_file_name(given):
            raise CuteVizError(f"{given[:40]!r} cannot be the name of a file", hint=why_not(given))
        if self.letters is not None:
            words.setdefault("letters", self.letters)
        drawn = picture(block.expression, words, [format, *others], self.library, self.sources)
        hashed = hashlib.sha256(f"{block.expression}\n{sorted(words.items())}".encode("utf-8", "replace")).hexdigest()[:8]
        spec = name_of(drawn)
        named = given or (spec if spec is not None and is_file_name(spec) else None)
        stem = named or f"{self.stem}-{hashed}"
        file = stem + FORMATS[format].suffixes[0]
        path = f"{self.folder}/{file}" if self.folder else file
        if not can_stand(path, language):
            raise CuteVizError(
                f"{path!r} cannot be used in a {language} document",
                hint="give the block another `name=`, or the pictures another folder",
            )
        marks = []
        for each in (format, *others):
            file, data = stem + FORMATS[each].suffixes[0], drawn.write(each, fragment=each == "tikz")
            known = self.files.setdefault(one_name(file), file)
            if known != file or out.pictures.get(file, data) != data:
                raise CuteVizError(f"{file} is another picture at line {out.places[known]}", hint="give one of them another name=")
            out.pictures[file], out.places[file] = data, out.places.get(file, line)
            marks.append(mark_of(data))
        shown = drawn.printed if drawn.readings[0].file is not None else block.expression  # a page has no files
        options = {key: word for key, word in words.items() if key != "let"}
        link = page_link(self.page, shown, options) if self.page is not None and "beside" not in words else None
        return linked(language, reference(language, path, _alt(drawn) if alt is None else alt, format), link), "+".join(marks)


def reference(language: str, path: str, alt: str, format: str = "svg") -> list[str]:
    r"""The lines of a document that show a picture."""
    alt = " ".join(alt.split())
    if language == "markdown":
        escaped = re.sub(r"([\\`*_\[\]<>&~$])", r"\\\1", alt)
        return [f"![{escaped}]({quote(path)})"]
    if language == "html":
        return [f'<img src="{escape(quote(path))}" alt="{escape(alt)}">']
    if language == "rest":
        return ["", f".. image:: {path.replace(' ', chr(92) + ' ')}", f"   :alt: {alt}", ""]
    if format == "tikz":
        return [rf"\noindent\input{{{path}}}"]
    return [r"\noindent" + shrunk(rf"\includegraphics[alt={{{_tex(alt)}}}]{{{path}}}")]


def linked(language: str, lines: list[str], address: str | None) -> list[str]:
    """The lines of a reference, as a link where the language has pictures as links."""
    if address is None:
        return lines
    if language == "markdown":
        return [f"[{line}](<{address}>)" for line in lines]
    if language == "html":
        return [f'<a href="{escape(address)}">{line}</a>' for line in lines]
    if language == "rest":
        return [*lines[:-1], f"   :target: {address}", ""]
    return lines


def _alt(drawn: Answer) -> str:
    return described(drawn.figure, drawn.how).description or drawn.figure.title


def _laid_out(text: str, block: Block, lines: list[str], mark: str) -> str:
    """The reference as it is in the document, with its pair of comments where there was none."""
    prefix, newline = block.prefix, block.newline
    if not block.paired:
        lines = ["", "<!-- cute-viz -->", *lines, f"<!-- /cute-viz: {mark} -->"]
    elif block.inside.start and text[block.inside.start - 1] != "\n":
        return "".join(lines)  # within a line of HTML
    body = "".join((prefix + line).rstrip() + newline if line else prefix.rstrip() + newline for line in lines)
    if not block.paired and not text.endswith("\n", 0, block.inside.start):  # the document ends with its fence, without a newline
        body = newline + body[: -len(newline)]
    return body


def _located(error: CuteVizError, block: Block, text: str, name: str | None) -> CuteVizError:
    """The error with its place in the document: in the expression, at the options, or of the block."""
    if error.span is not None and error.text == block.expression.strip():
        shift = len(block.expression) - len(block.expression.lstrip())
        span = block.place(Span(error.span.start + shift, error.span.end + shift))
    else:
        span = block.at
    return DocumentError(error.message, text=text, span=span, hint=error.hint, name=name)


_TEX = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}


def _tex(text: str) -> str:
    return "".join(_TEX.get(char, f"\\{char}" if char in "{}$&#%_" else char) for char in text)
