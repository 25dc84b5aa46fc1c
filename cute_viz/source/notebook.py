"""Jupyter notebooks: the code of their cells as one text of Python, in which every place has its cell."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

from cute_viz.errors import MARK, NotationError, Span

_MAGIC = re.compile(r"(?m)^([ \t]*)(?:[%!?]|[\w.]+\?{1,2}[ \t]*$).*")
_RUNS_CODE = ("time", "timeit", "capture", "prun", "python", "python3", "debug")  # cell magics whose cell is Python


def is_notebook(text: str) -> bool:
    """Whether a text is a notebook."""
    return text.lstrip()[:1] == "{" and '"cells"' in text and '"nbformat"' in text


def code_of(text: str) -> str:
    r"""The code of a notebook, a line that names the cell before each: `# %% cell 3`, counted from 1, those of text among them.
    Commands of IPython (`%matplotlib inline`, `!pip`) and cells that are no Python become comments. Raises: NotationError for a
    text that is no notebook."""
    import json

    try:
        cells = json.loads(text)["cells"]
        sources = [(number, _source(cell)) for number, cell in enumerate(cells, 1) if cell["cell_type"] == "code"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        place = (
            Span(min(error.pos, len(text) - 1), min(error.pos, len(text) - 1) + 1)
            if isinstance(error, json.JSONDecodeError)
            else None
        )
        raise NotationError("this is not a notebook of Jupyter", text=text if place else None, span=place) from None
    return "".join(f"{MARK} {number}\n{_python(source)}\n" for number, source in sources)


def _source(cell: Any) -> str:
    """The text of a cell, one string or one for each line; what would look like the begin of a cell is indented."""
    lines = cell["source"]
    source = lines if isinstance(lines, str) else "".join(lines)
    return re.sub(rf"(?m)^(?={re.escape(MARK)})", " ", "\n".join(source.splitlines()))


def _python(source: str) -> str:
    """A cell as Python, line by line."""
    magic = re.match(r"\s*%%(\w*)", source)
    if magic is not None and magic[1] not in _RUNS_CODE:
        return _commented(source)
    if _parses(source):
        return source
    plain = _MAGIC.sub(lambda match: f"{match[1]}pass  # {match[0].strip()}", source)
    return plain if _parses(plain) else _commented(source)


def _commented(source: str) -> str:
    return re.sub(r"(?m)^", "# ", source)


def _parses(source: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
