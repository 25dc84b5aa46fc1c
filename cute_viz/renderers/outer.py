"""The rulers of a grid of panels: what each row and each column of panels stands for."""

from __future__ import annotations

from collections.abc import Sequence

from cute_viz.figures.model import Figure
from cute_viz.renderers.frame import PanelFrame
from cute_viz.renderers.geometry import BOLD, CAPTION
from cute_viz.renderers.primitives import MIDDLE, MUTED, START, TEXT, Line

HIGH = 40.0  # px above the panels: a title and labels
WEIGHT = 600


class Outer:
    """The outer rulers of a figure whose panels stand at places: the room that they take, and their words."""

    def __init__(self, figure: Figure, frames: Sequence[PanelFrame], places: Sequence[tuple[float, float]], scale: float) -> None:
        titled = figure.kind != "journey" and any(panel.caption for panel in figure.panels)
        self.rulers = () if titled else figure.outer
        self.at = list(zip(figure.panels, frames, places, strict=True))
        self.scale = scale
        rows = self.rulers[0] if self.rulers else None
        words = [f"{rows.title} ↓", *rows.labels] if rows and rows.title else []
        self.left = max(map(len, words)) * CAPTION * BOLD + 8 if words else 0.0
        titled = bool(self.rulers and self.rulers[1].title)
        self.top = HIGH if titled else HIGH / 2 if self.rulers and any(self.rulers[1].labels) else 0.0

    def lines(self, x: float, y: float) -> list[Line]:
        """The words, of panels whose upper left corner without the rulers is at x, y."""
        if not self.rulers:
            return []
        rows, cols = self.rulers
        out = []
        if self.top:
            left = self.left + self.at[0][1].left * self.scale
            out += [Line(f"{cols.title} →", x + left, y + 8, CAPTION, MUTED)] if cols.title else []
            for panel, frame, (px, _) in self.at:
                if panel.place[0] == 0:
                    middle = px + (frame.left + panel.cols * frame.cell_w / 2) * self.scale
                    out.append(
                        Line(
                            cols.labels[panel.place[1]],
                            x + self.left + middle,
                            y + self.top - 14,
                            CAPTION,
                            TEXT,
                            False,
                            WEIGHT,
                            MIDDLE,
                        )
                    )
        if rows.title:
            out.append(Line(f"{rows.title} ↓", x, y + 26, CAPTION, MUTED))
            for panel, frame, (_, py) in self.at:
                if panel.place[1] == 0:
                    middle = self.top + py + (frame.top + panel.rows * frame.cell_h / 2) * self.scale
                    out.append(Line(rows.labels[panel.place[0]], x, y + middle, CAPTION, TEXT, False, WEIGHT, START))
        return out
