"""A fence `cute-viz` for Markdown sites (MkDocs, Zensical): the picture as inline SVG, a mistake as its message in the page.

In mkdocs.yml:

    markdown_extensions:
      - pymdownx.superfences:
          custom_fences:
            - name: cute-viz
              class: cute-viz
              format: !!python/name:cute_viz.ext.markdown.formatter
              validator: !!python/name:cute_viz.ext.markdown.validator
"""

from __future__ import annotations

import logging
from html import escape
from typing import Any

from cute_viz.documents.draw import picture
from cute_viz.engine import Folder
from cute_viz.errors import CuteVizError, boundary
from cute_viz.spec import Library

_log = logging.getLogger("mkdocs.plugins.cute_viz")  # where `mkdocs build --strict` listens


def validator(language: str, inputs: dict[str, Any], options: dict[str, Any], attrs: dict[str, Any], md: Any) -> bool:
    """Take every option of the fence; `formatter` shows in the page which of them is wrong."""
    options.update(inputs)
    return True


def formatter(source: str, language: str, css_class: str, options: dict[str, Any], md: Any, **kwargs: Any) -> str:
    """The HTML of a block: the picture, or what is wrong with it. Options are those of `cute_viz.options`, and `let`.

    An address, `src/kernel.cu::sA`, is read in the folder in which the site is built.

    >>> formatter("(4,8", "cute-viz", "cute-viz", {}, None)  # doctest: +ELLIPSIS
    '<div class="cute-viz cute-viz-error" role="alert"><pre>&#x27;(&#x27; is never closed...
    """
    classes = " ".join((css_class, *(kwargs.get("classes") or ())))
    words = {key.replace("-", "_"): "true" if value in (True, None, "", key) else str(value) for key, value in options.items()}
    words |= {key: str(value) for key, value in (kwargs.get("attrs") or {}).items()}
    try:
        with boundary():
            svg = (
                picture(source, words, library=Library.of_environment(), folder=Folder("", "")).write("svg", fragment=True).decode()
            )
    except (CuteVizError, OSError) as error:
        said = error.explain("block") if isinstance(error, CuteVizError) else str(error)
        _log.warning("cute-viz: %s", said)
        return f'<div class="{escape(classes)} cute-viz-error" role="alert"><pre>{escape(said)}</pre></div>'
    return f'<div class="{escape(classes)}" style="overflow-x:auto">{svg}</div>'
