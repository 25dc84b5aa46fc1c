"""A step of an explanation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """What was done, and what it gave (None for a remark).

    title: what the value is called in a picture; "" for the words.
    """

    words: str
    value: object = None
    title: str = ""
