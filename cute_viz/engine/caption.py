"""What a picture without its surroundings does not say, as words to go beside it: title, caption, meaning of colours, notes."""

from __future__ import annotations

import re
from dataclasses import replace

from cute_viz.figures.model import Figure
from cute_viz.renderers import Options
from cute_viz.renderers.legend import told
from cute_viz.renderers.said import described
from cute_viz.renderers.targets import target_of

SUFFIXES = {"tikz": ".caption.tex", "pdf": ".caption.tex", "svg": ".caption.md", "png": ".caption.md", "html": ".caption.md"}


def caption_of(figure: Figure, format: str, options: Options) -> tuple[str, str] | None:
    r"""The suffix of the file that holds a picture's caption, and its text; None where the page says all. It has the title, and
    what is not in the picture: the meaning of colours where the page has no legend. In TeX it is a \caption, with a square of
    its colour before each entry of a legend; in Markdown a paragraph."""
    suffix = suffix_of(format, options)
    if not suffix:
        return None
    target, figure = target_of(options), described(figure, options)
    figure = replace(
        figure,
        source="" if target.head else figure.source,
        caption="" if target.head else figure.caption,
        legends=() if target.legend else tuple([legend for legend in told(figure) if legend.entries]),
        notes=() if target.notes else figure.notes,
    )
    if suffix.endswith("tex"):
        return suffix, _tex(figure, options)
    legends = [
        f"{_sentence(legend.title)[:-1]}: {', '.join(entry.label for entry in legend.entries)}." for legend in figure.legends
    ]
    words = (
        f"**{_plain(figure.title)}.**",
        f"`{figure.source}`",
        *map(_plain, (_sentence(figure.caption), *legends, *figure.notes)),
    )
    return suffix, " ".join(word for word in words if word.strip("*`.")) + "\n"


def suffix_of(format: str, options: Options) -> str:
    """The suffix of the file that holds the caption of a picture written in this way; "" for none."""
    whole = options.style == "cutlass" or target_of(options).is_whole
    return "" if whole else SUFFIXES.get(format, "")


def _sentence(words: str) -> str:
    code = re.match(r"\w+[.:_(\[<]\S", words) is not None  # an instruction or a name: it is no word
    return (words if code else words[:1].upper() + words[1:]) + ("" if words.endswith(".") or not words else ".")


def _plain(words: str) -> str:
    """Words in which Markdown finds no mark-up."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>&~$#|" else c for c in " ".join(words.split()))


def _tex(figure: Figure, options: Options) -> str:
    from cute_viz.renderers.colours import page_palette
    from cute_viz.renderers.tex import escape

    colours = page_palette(options)
    title, source = (re.sub(r"(,|\\_|\\})", r"\1\\allowbreak{}", escape(words)) for words in (figure.title, figure.source))
    parts = [
        *([f"\\textbf{{{title}.}}"] if title else []),
        *([f"\\texttt{{{source}}}."] if source else []),
        escape(_sentence(figure.caption)),
    ]
    for legend in figure.legends:
        entries = []
        for entry in legend.entries:
            fill = colours.fill(figure.paints[entry.paint])[1:].upper()
            entries.append(f"\\protect\\textcolor[HTML]{{{fill}}}{{\\protect\\rule{{1ex}}{{1ex}}}}~{escape(entry.label)}")
        parts.append(f"{escape(_sentence(legend.title)[:-1])}: {', '.join(entries)}.")
    words = "\n".join([part for part in (*parts, *map(escape, figure.notes)) if part])
    return f"\\caption[{{{title or source}}}]{{%\n{words}}}\n"
