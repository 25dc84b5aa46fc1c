"""Sphinx: the directive `cute-viz`, drawn as SVG in HTML, PDF in LaTeX, a text grid in text.

    extensions = ["cute_viz.ext.sphinx"]

`cute_viz_letters = 9` is the size in px of the letters of cells in all pictures.
In reST `.. cute-viz:: ((16,8),8):((64,1),8)` with options such as `:tile: 8x128`; in MyST a fence `{cute-viz}`.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import zlib
from collections.abc import Callable
from html import escape
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from cute_viz import __version__, files
from cute_viz.documents.draw import files_of, picture, words_of
from cute_viz.engine import Folder
from cute_viz.errors import CuteVizError, FigureError, Span, boundary
from cute_viz.options import NAMES, OPTIONS
from cute_viz.renderers import FORMATS
from cute_viz.renderers.inline import framed, inlined
from cute_viz.renderers.said import described
from cute_viz.renderers.tex import shrunk
from cute_viz.spec import Library

_log = logging.getLogger(__name__)
_WORDS = ("let", "beside", *NAMES, *(name for name in OPTIONS if name != "fragment"))
_LIGHT = ("alabaster", "classic", "sphinxdoc", "scrolls", "agogo", "traditional", "nature", "haiku", "pyramid", "bizstyle")
_PLAIN_THEMES = (*_LIGHT, "sphinx_rtd_theme")  # which have no dark pages, whatever the system prefers
_FORMATS = ("text", "svg")  # every builder may come, those of texts too: no images of cells without labels


class cute_viz(nodes.General, nodes.Inline, nodes.Element):
    """A picture in a document: the words that ask for it (`text`, `words`), its document, `alt`. It is drawn when it is written."""


class CuteVizDirective(SphinxDirective):
    """An expression or the name of a spec, as the argument or as the content; with content the argument holds options."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Callable[[str], Any]] | None] = {
        **dict.fromkeys((*_WORDS, *(word.replace("_", "-") for word in _WORDS)), directives.unchanged),
        "interactive": directives.flag,
        "alt": directives.unchanged,
        "caption": directives.unchanged,
        "align": lambda word: directives.choice(word, ("left", "center", "right")),
        "class": directives.class_option,
        "name": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """The node of the picture; where there is a mistake, a warning at its place, and what is wrong as a literal block."""
        argument, content = (self.arguments or [""])[0], "\n".join(self.content)
        text = content if content.strip() else argument
        words = {key: self.options[other] or "true" for key in _WORDS for other in {key, key.replace("_", "-")} & {*self.options}}
        try:
            with boundary():
                letters = self.config.cute_viz_letters
                whole = {} if letters is None else {"letters": str(letters)}
                words = {**whole, **(words_of(argument) if content.strip() else {}), **words}
                folder = _folder(self.env, self.env.docname)
                drawn = picture(text, words, _FORMATS, Library.of_environment(), folder)
                for path in files_of(drawn):
                    self.env.note_dependency(path)
        except (CuteVizError, OSError) as error:
            said = _said(error)
            source, line = self._place(error, bool(content.strip()))
            _log.warning("cute-viz: %s", said, location=f"{source}:{line}", type="cute_viz")
            return [nodes.literal_block(said, said, classes=["cute-viz-error"])]
        alt = self.options.get("alt") or described(drawn.figure, drawn.how).description
        node = cute_viz(text=text, words=words, docname=self.env.docname, alt=alt)
        node["classes"] = ["cute-viz", *self.options.get("class", [])]
        node["interactive"], node["said"] = "interactive" in self.options, "alt" in self.options
        self.set_source_info(node)
        shown = self._figure(node) if "caption" in self.options else node
        if "align" in self.options:
            shown["align"] = self.options["align"]
        self.add_name(shown)
        return [shown]

    def _figure(self, node: cute_viz) -> nodes.figure:
        words, messages = self.state.inline_text(self.options["caption"], self.lineno)
        caption = nodes.caption(self.options["caption"], "", *words)
        self.set_source_info(caption)
        return nodes.figure("", node, caption, *messages)

    def _place(self, error: BaseException, in_content: bool) -> tuple[str, int]:
        """File and line of a mistake: in the content that of the place in it, otherwise that of the directive."""
        source, line = self.get_source_info()
        if not in_content or not isinstance(error, CuteVizError) or error.text is None or error.span is None:
            return source, line
        whole = "\n".join(self.content)
        number = whole.count("\n", 0, whole.find(error.text) + error.span.start)
        inside, at = self.content.items[min(number, len(self.content) - 1)]
        if self.content.items[0][1] == 0 or at is None:  # MyST counts from the content's first line, reST from the file's
            return source, line + self.content_offset + 1 + number
        return inside or source, at + 1


def _said(error: BaseException) -> str:
    """A mistake in words, with the line that has it; its number is that of the document and reported elsewhere."""
    if not isinstance(error, CuteVizError):
        return str(error)
    text, span = error.text, error.span
    if text is not None and span is not None:
        start = text.rfind("\n", 0, span.start) + 1
        text, span = text[start:].partition("\n")[0], Span(span.start - start, span.end - start)
    return CuteVizError(error.message, text=text, span=span, hint=error.hint).explain("block")


_OF_PAGES = ("theme", *NAMES, "target", "width", "cell", "letters")


def _known_to(format: str, words: dict[str, str]) -> dict[str, str]:
    """The words that a format uses: every builder draws the same block, whatever its pages can show."""
    unknown = () if format == "svg" else ("animate",) if FORMATS[format].pages else (*_OF_PAGES, "animate")
    return {key: word for key, word in words.items() if key not in unknown}


def _folder(env: Any, docname: str) -> Folder:
    """Where the files of addresses lie: beside the document, anywhere in the folder of the sources."""
    return Folder(os.path.dirname(env.doc2path(docname)), str(env.srcdir))


def _draw(writer: Any, node: cute_viz, format: str) -> bytes:
    """The picture in a format; in CuTe's own style where the format has it and the document asks for it. What a format cannot
    show is a warning at the block, and nothing is drawn there."""
    try:
        with boundary():
            folder = _folder(writer.builder.env, node["docname"])
            drawn = picture(node["text"], _known_to(format, node["words"]), _FORMATS, Library.of_environment(), folder)
            try:
                return drawn.write(format)
            except FigureError:
                return drawn.write(format, style="default")
    except (CuteVizError, OSError) as error:
        _log.warning("cute-viz: %s", _said(error), location=node, type="cute_viz")
        raise nodes.SkipNode from None


def _file(root: str, below: str, data: bytes, suffix: str) -> str:
    """Write a picture under the name of its hash into a folder of the output, whole or not at all; the name."""
    name = f"cute-viz-{hashlib.sha256(data).hexdigest()[:16]}{suffix}"
    folder = files.held(os.path.join(root, below), root)
    os.makedirs(folder, exist_ok=True)
    files.write(data, os.path.join(folder, name), root)
    return name


def _html(self: Any, node: cute_viz) -> None:
    """The picture in the text of the page, so that it follows the page's theme; an interactive one in a frame."""
    if self.config.html_theme in _PLAIN_THEMES and "theme" not in node["words"]:
        node["words"] = {**node["words"], "theme": "light"}
    if node["interactive"]:
        data = _draw(self, node, "html")
        name = _file(self.builder.outdir, self.builder.imagedir, data, ".html")
        picture = framed(data.decode(), node["alt"], source=posixpath.join(self.builder.imgpath, name))
    elif "style" in node["words"]:  # CuTe's own pictures are black on white, and as wide as where they are put
        name = _file(self.builder.outdir, self.builder.imagedir, _draw(self, node, "svg"), ".svg")
        picture = f'<img src="{escape(posixpath.join(self.builder.imgpath, name))}" alt="{escape(node["alt"])}">'
    else:
        picture = inlined(re.sub(r"^<\?xml.*?\?>\s*", "", _draw(self, node, "svg").decode()))
        if node["said"]:
            picture = re.sub(r' aria-labelledby="[^"]*"', f' aria-label="{escape(node["alt"])}"', picture, count=1)
    classes = [*node["classes"], *([f"align-{node['align']}"] if "align" in node else [])]
    self.body.append(self.starttag(node, "div", "", CLASS=" ".join(classes), style="overflow-x:auto") + picture + "</div>\n")
    raise nodes.SkipNode


def _latex(self: Any, node: cute_viz) -> None:
    name = _file(self.builder.outdir, "", _draw(self, node, "pdf"), ".pdf")
    picture = shrunk(f"\\includegraphics{{{name}}}")
    self.body.append(f"\n\\par\\noindent{picture}\\par\n")
    raise nodes.SkipNode


def _text(self: Any, node: cute_viz) -> None:
    self.new_state(0)
    self.add_text(_draw(self, node, "text").decode().rstrip())
    self.end_state(wrap=False)
    raise nodes.SkipNode


def _words(self: Any, node: cute_viz) -> None:
    """For writers that show no pictures: the alt text."""
    self.body.append(f"[{node['alt']}]")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive; Sphinx calls this."""
    others = (_words, None)
    app.add_node(cute_viz, html=(_html, None), latex=(_latex, None), text=(_text, None), man=others, texinfo=others)
    app.add_directive("cute-viz", CuteVizDirective)
    app.add_config_value("cute_viz_letters", None, "env")
    version = zlib.crc32(__version__.encode())  # another version may draw otherwise: what was read is read again
    return {"version": __version__, "env_version": version, "parallel_read_safe": True, "parallel_write_safe": True}
