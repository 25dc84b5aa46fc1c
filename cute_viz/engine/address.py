"""A picture -> the address of the live page that shows it, in words that a reader understands and no compression changes."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode

_MOST = 6000  # characters of a source that an address bears


def page_link(page: str, source: str, options: Mapping[str, object]) -> str | None:
    """The address of a page of `cute-viz serve` with a source and its options; None for a source that is too long."""
    if len(source) > _MOST:
        return None
    words = {"source": source, **{name: value for name, value in options.items() if value not in (None, False)}}
    return f"{page.partition('#')[0]}#{urlencode(words, quote_via=quote, safe='(),:@')}"
