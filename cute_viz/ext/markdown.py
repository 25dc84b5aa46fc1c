"""A fence `cute-viz` for Markdown sites (MkDocs, Zensical): the picture as inline SVG, a mistake as its message in the page.

In mkdocs.yml, where the first line lets options stand without quotes, `tile=8x128`, which superfences alone leaves as code, and
`letters` is the size in px of the letters of cells in all pictures:

    markdown_extensions:
      - cute_viz.ext.markdown: {letters: 9}
      - pymdownx.superfences:
          custom_fences:
            - name: cute-viz
              class: cute-viz
              format: !!python/name:cute_viz.ext.markdown.formatter
              validator: !!python/name:cute_viz.ext.markdown.validator
"""

from __future__ import annotations

import logging
import re
from html import escape
from typing import Any

from cute_viz.documents.draw import picture
from cute_viz.engine import Folder
from cute_viz.errors import CuteVizError, boundary
from cute_viz.renderers.inline import framed, inlined
from cute_viz.spec import Library

_FENCE = re.compile(r"^(\s*(?:>\s*)*(?:`{3,}|~{3,})\s*)cute-viz[ \t]+([^{}\n]+)$")
_OPTION = re.compile(r"""([\w-]+)(?:=("[^"]*"|'[^']*'|\S+))?""")
_log = logging.getLogger("mkdocs.plugins.cute_viz")  # where `mkdocs build --strict` listens


def validator(language: str, inputs: dict[str, Any], options: dict[str, Any], attrs: dict[str, Any], md: Any) -> bool:
    """Take every option of the fence; `formatter` shows in the page which of them is wrong."""
    options.update(inputs)
    return True


def formatter(source: str, language: str, css_class: str, options: dict[str, Any], md: Any, **kwargs: Any) -> str:
    """The HTML of a block: the picture, or what is wrong with it. Options are those of `cute_viz.options`, `let`, and
    `interactive`, for a page with hover. An address, `src/kernel.cu::sA`, is read in the folder in which the site is built."""
    classes = " ".join((css_class, *(kwargs.get("classes") or ())))
    words = {key.replace("-", "_"): "true" if value in (True, None, "", key) else str(value) for key, value in options.items()}
    words |= {key: str(value) for key, value in (kwargs.get("attrs") or {}).items()}
    if (letters := getattr(md, "cute_viz_letters", None)) is not None:
        words.setdefault("letters", str(letters))
    interactive = words.pop("interactive", "") == "true"
    try:
        with boundary():
            drawn = picture(source, words, library=Library.of_environment(), folder=Folder("", ""))
            page = drawn.write("html").decode() if interactive else ""
            shown = framed(page, drawn.figure.title) if page else inlined(drawn.write("svg", fragment=True).decode())
    except (CuteVizError, OSError) as error:
        said = error.explain("block") if isinstance(error, CuteVizError) else str(error)
        _log.warning("cute-viz: %s", said)
        return f'<div class="{escape(classes)} cute-viz-error" role="alert"><pre>{escape(said)}</pre></div>'
    return f'<div class="{escape(classes)}" style="overflow-x:auto">{shown}</div>'


def quoted(line: str) -> str:
    r"""The first line of a block as superfences reads it: every option with a value in quotes."""
    found = _FENCE.match(line)
    if found is None:
        return line
    words = [(name.replace("-", "_"), value or '"true"') for name, value in _OPTION.findall(found[2])]
    said = [f"{name}={value}" if value[0] in "\"'" else f'{name}="{value}"' for name, value in words]
    return f"{found[1]}cute-viz {' '.join(said)}"


def makeExtension(letters: object = None, **_: Any) -> Any:
    """The extension of Markdown that puts options in quotes, before superfences looks for blocks. letters: px of those of cells."""
    from markdown.extensions import Extension
    from markdown.preprocessors import Preprocessor

    class PictureLines(Preprocessor):  # type: ignore[misc, unused-ignore]
        def run(self, lines: list[str]) -> list[str]:
            return [quoted(line) for line in lines]

    class Quoted(Extension):  # type: ignore[misc, unused-ignore]
        def extendMarkdown(self, md: Any) -> None:
            md.cute_viz_letters = letters
            md.preprocessors.register(PictureLines(md), "cute_viz_quoted", 30)  # superfences has 25

    return Quoted()
