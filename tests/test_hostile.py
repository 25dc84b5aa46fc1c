"""What goes into a picture cannot break out of it: every string of a figure hostile, every format, read by strict parsers."""

from __future__ import annotations

import json
import re
import shutil
import unicodedata
from pathlib import Path
from xml.etree import ElementTree

import pytest
from docutils.core import publish_doctree
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tinyhtml5.parser import HTMLParser

from cute_viz.documents.embed import reference
from cute_viz.figures.load import from_dict
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.renderers import FORMATS, Options, render
from tests.commands import run
from tests.test_render_tikz import compile_tex

HOSTILE = {
    "an end of SVG": "</svg><script>alert(1)</script>",
    "an end of a script": "</script><script>alert(1)</script><!--",
    "an end of a title": "</title></style></textarea><img src=x onerror=alert(1)>",
    "an end of CDATA": "]]><a xmlns:x='y' onload=alert(1)>",
    "an end of an attribute": '" onmouseover="alert(1)" x=\'y\' `',
    "an entity": "&lt;script&gt; &#60; &amp;lt; &nosuch; %26",
    "a file for TeX": r"\input{/etc/passwd} \include{x} \openin5=/etc/passwd",
    "a shell for TeX": r"\immediate\write18{touch /tmp/broken} \directlua{os.execute('x')}",
    "an end of TeX": r"\end{document} } } $ $$ % # & ~ ^ _ \ \par^^M^^5cinput{x}",
    "escapes of a terminal": "\x1b[2J\x1b]0;title\x07\x9b31m\x1bP\x1b\\",
    "turned letters": "\u202eabc\u202c \u2066def\u2069 \u200f\u200b\ufeff",
    "what is no character": "\x00\x01\ud800 \udfff\ufffe\uffff\x7f\x85\u2028\u2029",
    "lines": "a\nb\r\nc\td",
    "Markdown": "![x](javascript:alert(1)) | --> ``` [a]: http://x <b>",
    "other scripts": "שלום 字 é Ж 🙂 a\u0301",
}


def hostile(words: str) -> Figure:
    """A figure each of whose strings are these words."""
    panel = Panel(
        caption=words,
        rows=2,
        cols=2,
        labels=(words, "1", words, "3"),
        paints=(0, 1, 0, -1),
        row_ruler=Ruler(words, (words, "1"), (2, 0, 2)),
        col_ruler=Ruler(words, (words, "1"), (2, 0, 2)),
        owners=((0, ((0, 0), (1, 0))),),
        boxes=((0, 0, 1, 2),),
        data={words: (words, 1, None, words)},
    )
    return Figure(
        kind=words,
        title=words,
        source=words,
        caption=words,
        description=words,
        paints=(Paint(0), Paint(1)),
        legends=(Legend(words, (LegendEntry(0, words, 2), LegendEntry(1, words, 1))),),
        panels=(panel,),
        notes=(words,),
        facts={words: words},
    )


def visible(words: str) -> str:
    """What a reader may see of words: characters that show, in a line."""
    return "".join(words.split())


SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "desc", "defs", "style", "pattern", "path", "rect", "text", "tspan", "g", "image"}


def check_svg(root: ElementTree.Element) -> None:
    """Elements and attributes that draw, references to ids of its own, and no more."""
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in ELEMENTS
        for name, value in element.attrib.items():
            assert not name.lower().startswith("on")
            if "href" in name:
                assert value.startswith(("#", "data:image/png;base64,"))
            assert "url(" not in value or re.fullmatch(r"url\(#\w+\)", value)


def commands(tex: str) -> set[str]:
    return set(re.findall(r"\\([A-Za-z@]+|\^\^)", tex))


def check(words: str, name: str) -> None:
    """One format: read by a strict parser, nothing in it that no plain figure has."""
    figure = hostile(words)
    for options in (Options(), Options(fragment=True), Options(theme="print")) if name not in ("png", "pdf") else (Options(),):
        data = render(figure, name, options)
        if name in ("png", "pdf"):
            assert not re.search(rb"/(JavaScript|JS|Launch|URI|OpenAction|AA)\b", data)
            continue
        text = data.decode("utf-8")
        assert not [c for c in text if (unicodedata.category(c) in ("Cc", "Cs") or c in "\ufffe\uffff") and c not in "\t\r\n"]
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", text)
        if name == "svg":
            root = ElementTree.fromstring(text)
            check_svg(root)
            if words.isprintable():
                assert visible(root.findtext(f"{SVG}title") or "") == visible(words)
        elif name == "html":
            parser = HTMLParser()
            page = parser.parse(text)
            assert parser.errors == []
            tags = [element.tag.rpartition("}")[2] for element in page.iter() if isinstance(element.tag, str)]
            assert tags.count("script") == 2
            assert not {"img", "a", "b", "iframe", "object", "link", "base"} & set(tags)
            assert not [key for element in page.iter() for key in element.attrib if str(key).lower().startswith("on")]
            check_svg(next(element for element in page.iter() if element.tag == f"{SVG}svg"))
        elif name == "json":
            assert json.loads(text)["title"] == words
            assert from_dict(json.loads(text)) == from_dict(json.loads(json.dumps(json.loads(text))))
        elif name == "tikz":
            assert commands(text) <= commands(render(hostile("plain"), "tikz", options).decode()) | TEX
        elif name == "text":
            assert not [c for c in text if not c.isprintable() and c != "\n"]
        else:
            pytest.fail(f"how is {name} read back strictly? tell it here")


# What letters and signs become in TeX: none of these reads, writes or defines.
TEX = {
    "textbackslash",
    "textasciicircum",
    "textasciitilde",
    "ldots",
    "times",
    "rightarrow",
    "downarrow",
    "cdot",
    "circ",
    "oslash",
    "otimes",
    "oplus",
}
TEX |= {"ss", "ae", "AE", "oe", "OE", "o", "O", "l", "L", "r", "c", "v"}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("what", HOSTILE)
def test_nothing_breaks_out(what: str, name: str) -> None:
    check(HOSTILE[what], name)


@given(st.text(max_size=30), st.sampled_from([name for name in FORMATS if name not in ("png", "pdf")]))
@settings(max_examples=60, deadline=None)
def test_no_text_breaks_out(words: str, name: str) -> None:
    check(words, name)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_tex_compiles_without_a_shell_and_reads_no_file(tmp_path: Path) -> None:
    compile_tex(render(hostile(" ".join(HOSTILE.values())), "tikz"), tmp_path)
    assert not Path("/tmp/broken").exists()


@pytest.mark.parametrize("what", HOSTILE)
def test_an_alt_text_is_one_picture_in_every_language(what: str) -> None:
    words = HOSTILE[what]
    for language in ("markdown", "html"):
        text = "\n".join(reference(language, "a b.svg", words))
        page = HTMLParser().parse(MarkdownIt("commonmark").render(text) if language == "markdown" else text)
        tags = [element.tag.rpartition("}")[2] for element in page.iter() if isinstance(element.tag, str)]
        assert tags == ["html", "head", "body", *(["p"] if language == "markdown" else []), "img"]
        (image,) = (element for element in page.iter() if element.tag.endswith("}img"))
        assert set(image.attrib) == {"src", "alt"}
        assert image.attrib["src"] == "a%20b.svg"
    tree = publish_doctree("\n".join(reference("rest", "a b.svg", words)), settings_overrides={"report_level": 5})
    assert [type(node).__name__ for node in tree.children] == ["image"]
    tex = "\n".join(reference("latex", "a b.pdf", words, "pdf"))
    assert commands(tex) <= {"includegraphics", "linewidth", "maxwidth", "ldots", "times"} | TEX | {"centering", "detokenize"}


def test_words_on_the_command_line(tmp_path: Path) -> None:
    """A title from the command line reaches each file as the words that it is."""
    for what, words in HOSTILE.items():
        if "\0" in words or "\ud800" in words:
            continue  # no argument of a process
        for suffix in ("svg", "html"):
            out = tmp_path / f"x.{suffix}"
            assert run("render", "(2,2)", "--title", words, "-o", str(out)).returncode == 0, what
            assert "<script>alert" not in out.read_text()
        shown = run("render", "(2,2)", "--title", words).stdout.decode()
        assert not [c for c in shown if not c.isprintable() and c != "\n"], what
