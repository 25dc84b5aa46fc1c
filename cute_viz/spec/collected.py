"""Mistakes that are collected, so that a file is read on past its first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from cute_viz.errors import CuteVizError

T = TypeVar("T")
U = TypeVar("U")


class Collector:
    """What meets mistakes. wrong: receives them; where it is None, the first is raised."""

    def __init__(self) -> None:
        self.wrong: list[CuteVizError] | None = None

    def tried(self, do: Callable[[], T], otherwise: U) -> T | U:
        """What a step gives; where mistakes are collected, `otherwise` for one that fails."""
        try:
            return do()
        except CuteVizError as error:
            self.refuse(error)
            return otherwise

    def refuse(self, error: CuteVizError) -> None:
        """Keep a mistake where they are collected; else raise it."""
        if self.wrong is None:
            raise error
        self.wrong.append(error)
