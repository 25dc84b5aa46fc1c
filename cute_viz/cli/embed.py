"""`cute-viz embed`: the pictures of documents, drawn from what the documents say and kept up to date."""

from __future__ import annotations

import os
from textwrap import fill

import click

from cute_viz.cli import output
from cute_viz.cli.words import DIR, Choice, Command, layouts_option
from cute_viz.documents.embed import SHOWN, Embedded, embed, mark_of
from cute_viz.documents.markup import LANGUAGES, one_name
from cute_viz.engine import Folder
from cute_viz.errors import CuteVizError
from cute_viz.files import decode, held, own_bytes, top_of, write
from cute_viz.limits import limit
from cute_viz.options import OPTIONS
from cute_viz.spec import Library
from cute_viz.spelling import count

PLACES = {  # where a comment is read, by language
    "markdown": "a comment must be on a line of its own, outside code",
    "rest": "a comment must be on a line of its own, outside literal blocks",
    "html": "a comment must be on one line, outside scripts and other comments",
    "latex": "a comment must be on a line of its own, outside verbatim text",
}
_WORDS = ", ".join((option.word or name).replace("_", "-") for name, option in OPTIONS.items())
EMBEDDED = tuple(dict.fromkeys(format_ for formats in SHOWN.values() for format_ in formats))


@click.command(
    cls=Command,
    epilog="Examples:\n"
    "  cute-viz embed notes.md\n"
    "  cute-viz embed notes.md --folder pictures && \\\n"
    "    cute-viz embed notes.md --folder pictures --check\n"
    "\nIn the document:\n"
    "  Markdown, MyST, HTML  <!-- cute-viz: (8,8):(8,1) | color-by=row name=tv -->\n"
    "                        <!-- /cute-viz -->\n"
    "                        <!-- cute-viz: kernel.cu::gemm_tn::sA | let=M:512 -->\n"
    "  Markdown, MyST        a fence ```cute-viz tile=8x128\n"
    "  reST                  .. cute-viz: (8,8):(8,1)      .. /cute-viz\n"
    "  LaTeX                 % cute-viz: ampere_gemm       % /cute-viz\n"
    f"Options of a block, as of render:\n{fill(_WORDS, 80, initial_indent='  ', subsequent_indent='  ')}\n"
    "  and beside=SOURCE, a second one; let=NAME:VALUE, name=, alt=, formats=",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(exists=True))
@click.option("--folder", default="", **DIR, help="Put pictures here, relative to the document")
@click.option("-T", "--format", "format_", type=Choice(EMBEDDED), metavar="FORMAT", help="Format; in LaTeX pdf or tikz")
@click.option("--page", metavar="URL", help="Link each picture to the live page at URL")
@click.option("--letters", metavar="PX", help="Letters of all cells: one size in the document")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a picture is out of date")
@click.option("--force", is_flag=True, help="Overwrite what somebody changed, and files that embed did not write")
@layouts_option
def command(
    files: tuple[str, ...],
    folder: str,
    format_: str | None,
    page: str | None,
    letters: str | None,
    check: bool,
    force: bool,
    library: Library,
) -> int:
    """Draw the pictures that Markdown, MyST, reST, HTML and LaTeX documents ask for, and keep their references and alt texts up to
    date.

    A block holds a source (an expression, a spec, or kernel.cu::sA) and options; let=M:512 sets a value, name= and alt= replace
    the file name and the alt text. The rest of the document stays the same, byte for byte. Only what embed wrote is overwritten:
    the comment that ends a block holds its hashes.
    """
    folder = folder.replace("\\", "/").rstrip("/") if folder != "/" else folder
    if os.path.isabs(folder):
        raise click.UsageError("--folder must be relative to the document, for example pictures or ../pictures")
    failed = False
    owners: dict[str, tuple[str, bytes]] = {}
    for path in dict.fromkeys(files):
        failed |= _one(path, "" if folder == "." else folder, format_, check, force, owners, library, page, letters)
    return 1 if failed else 0


def _one(
    path: str,
    folder: str,
    format_: str | None,
    check: bool,
    force: bool,
    owners: dict[str, tuple[str, bytes]],
    library: Library,
    page: str | None,
    letters: str | None,
) -> bool:
    """Bring one document up to date, or report what is not; whether something was wrong.

    owners: the pictures of the documents before this one: file -> document and bytes.
    """
    if os.path.isdir(path):
        return _wrong("this is a folder", path, f"name its documents: {os.path.join(path, '*.md')}")
    stem, suffix = os.path.splitext(os.path.basename(path))
    language = LANGUAGES.get(suffix.lower())
    if language is None:
        return _wrong("unknown document suffix", path, f"one of {' '.join(LANGUAGES)}")
    at = os.path.join(os.path.dirname(path), folder)
    top = top_of(folder, os.path.dirname(path))
    try:
        held(at, top)
        mark, text = _read(path)
        beside = Folder(os.path.dirname(path), os.path.dirname(path))
        done = embed(text, language, stem, folder, format_, path, library, page, beside, force, letters)
    except CuteVizError as error:
        output.error(error, "block")
        return True
    for failure in done.failures:
        output.error(failure, "block")
    for file, data in done.pictures.items():
        owner, other = owners.setdefault(os.path.join(os.path.realpath(at or "."), one_name(file)), (path, data))
        if other != data:
            words = f"{file} is another picture in {owner}"
            return _wrong(words, f"{path}:{done.places[file]}", "give one of them another name=")
    if not done.pictures and not done.failures and "cute-viz:" in text:
        output.notes([f"{path}: no block was found; {PLACES[language]}"])
    if check:
        return _differs(path, at, done) or bool(done.failures)
    if done.failures:
        return True
    if not force and (strange := _stranger(at, done)):
        words = f"{os.path.join(at, strange)} is not as embed wrote it for this document"
        return _wrong(words, f"{path}:{done.places[strange]}", "give the block another name=; --force overwrites the file")
    if os.path.exists(at or ".") and not os.path.isdir(at or "."):
        return _wrong(f"{at} is not a folder", path, "--folder must be a folder for the pictures")
    if done.pictures:
        os.makedirs(at or ".", exist_ok=True)
    for file, data in done.pictures.items():
        output.write(data, os.path.join(at, file), top)
    if done.text != text:
        write((mark + done.text).encode(), path)  # whose words are the author's
    output.say(f"{path}: {count(len(done.pictures), 'picture')}, {count(len(done.changed), 'changed reference')}")
    return False


def _wrong(words: str, place: str, hint: str) -> bool:
    """Report one error; True, as something is wrong."""
    output.error(CuteVizError(words, name=place, hint=hint))
    return True


def _stranger(at: str, done: Embedded) -> str:
    """A file that would be replaced although no run wrote it so for this document: somebody's work. "" where there is none."""
    for file, data in done.pictures.items():
        there = os.path.join(at, file)
        old = own_bytes(there)
        if os.path.lexists(there) and old != data and (old is None or mark_of(old) not in done.ours):
            return file
    return ""


def _differs(path: str, at: str, done: Embedded) -> bool:
    """Report what is out of date."""
    stale = [(line, "the reference is out of date") for line in done.changed]
    for file, data in done.pictures.items():
        there = os.path.join(at, file)
        if not os.path.lexists(there):
            stale.append((done.places[file], f"{there} is missing"))
        elif own_bytes(there) != data:
            stale.append((done.places[file], f"{there} is out of date"))
    for line, words in sorted(stale):
        output.say(f"{path}:{line}: {words}", err=False)
    return bool(stale)


def _read(path: str) -> tuple[str, str]:
    """The byte order mark of a document, if it has one, and its text."""
    held(path, os.path.dirname(path))
    with open(path, "rb") as file:
        data = file.read(limit("file") + 1)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):  # what is written back is UTF-8
        raise CuteVizError("this is not UTF-8 but UTF-16 text", name=path, hint="save it as UTF-8")
    return "\ufeff" if data.startswith(b"\xef\xbb\xbf") else "", decode(data, path)
