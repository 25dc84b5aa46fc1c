"""`cute-viz embed`: documents get references to their pictures, and every other byte stays."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from cute_viz.cli.embed import command
from cute_viz.documents.blocks import blocks
from cute_viz.documents.embed import embed, reference
from cute_viz.documents.markup import LANGUAGES
from cute_viz.errors import CuteVizError
from tests.commands import run
from tests.test_render_tikz import compile_tex

ROOT = Path(__file__).parent.parent
PAIRS = {
    "markdown": ("<!-- cute-viz: EXPR -->\n", "<!-- /cute-viz -->\n"),
    "html": ("<!-- cute-viz: EXPR -->\n", "<!-- /cute-viz -->\n"),
    "rest": (".. cute-viz: EXPR\n", ".. /cute-viz\n"),
    "latex": ("% cute-viz: EXPR\n", "% /cute-viz\n"),
}
SUFFIXES = {"markdown": ".md", "html": ".html", "rest": ".rst", "latex": ".tex"}


def run_embed(*args: object) -> Result:
    result = CliRunner().invoke(command, [str(arg) for arg in args], standalone_mode=False, catch_exceptions=False)
    if result.exception:
        raise result.exception
    return result


def unmarked(text: str) -> str:
    """A document without what embed notes of its own work."""
    return re.sub(r"/cute-viz: [0-9a-f]{16} [0-9a-f]{8}", "/cute-viz", text)


def fails(text: str, language: str = "markdown") -> str:
    """What is said of a document that cannot be brought up to date."""
    try:
        (error,) = embed(text, language, "x", name="doc").failures
    except CuteVizError as caught:
        error = caught
    return error.explain()


@pytest.mark.parametrize("language", PAIRS)
def test_a_pair_of_comments_gets_its_picture_and_keeps_it(language: str, tmp_path: Path) -> None:
    opening, closing = PAIRS[language]
    path = tmp_path / f"doc{SUFFIXES[language]}"
    path.write_text(
        "before\n\n" + opening.replace("EXPR", "((4,8),(2,2)):((32,1),(16,8)) | tile=16x8 name=c") + "old\n" + closing + "\nafter\n"
    )
    before = path.read_text()
    assert "not as embed wrote it" in run_embed(path).stderr
    assert path.read_text() == before
    assert [file for file in tmp_path.iterdir() if file != path] == []
    assert run_embed(path, "--force").return_value == 0
    text = path.read_text()
    assert " old " not in text
    assert text.startswith("before\n\n" + opening.partition("EXPR")[0])
    assert unmarked(text).endswith(closing + "\nafter\n")
    (picture,) = [file for file in tmp_path.iterdir() if file != path]
    assert picture.stem == "c"
    assert picture.name in text
    assert run_embed(path, "--check").return_value == 0
    assert run_embed(path).return_value == 0
    assert path.read_text() == text


def test_the_picture_is_that_of_render(tmp_path: Path) -> None:
    path = tmp_path / "doc.md"
    path.write_text("<!-- cute-viz: ((4,8),(2,2)):((32,1),(16,8)) | tile=16x8 view=both -->\n<!-- /cute-viz -->\n")
    run_embed(path, "--folder", "pictures")
    (picture,) = (tmp_path / "pictures").iterdir()
    args = ("render", "((4,8),(2,2)):((32,1),(16,8))", "--tile", "16x8", "--view", "both")
    assert picture.read_bytes() == run(*args, "-T", "svg").stdout
    assert re.fullmatch(r"doc-[0-9a-f]{8}\.svg", picture.name)
    assert f"](pictures/{picture.name})" in path.read_text()


def test_a_fence_gets_a_reference_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "doc.md"
    before = (
        "1. one\n\n   ```cute-viz tile=16x8\n   ((4,8),(2,2)):((32,1),(16,8))\n   ```\n\n2. two\n\n~~~~ cute-viz\nampere_gemm\n~~~~"
    )
    path.write_text(before)
    assert run_embed(path).return_value == 0
    text = path.read_text()
    plain = unmarked(text)
    assert re.search(r"\n   ```\n\n   <!-- cute-viz -->\n   !\[.*\]\(doc-\w+\.svg\)\n   <!-- /cute-viz -->\n\n2\. two", plain)
    assert plain.endswith("](ampere_gemm.svg)\n<!-- /cute-viz -->")
    assert run_embed(path, "--check").return_value == 0
    run_embed(path)
    assert path.read_text() == text
    edited = text.replace("16x8", "8x16", 1).replace("((4,8),(2,2)):((32,1),(16,8))", "(8,16):(1,8)")
    path.write_text(edited)
    assert run_embed(path, "--check").stdout.startswith(f"{path}:3: ")
    run_embed(path)
    assert path.read_text().count("<!-- cute-viz -->") == 2


def test_a_check_names_what_is_out_of_date(tmp_path: Path) -> None:
    path = tmp_path / "doc.md"
    path.write_text("\n\n<!-- cute-viz: (4,8):(8,1) | name=a -->\n![](a.svg)\n<!-- /cute-viz -->\n")
    before = path.read_bytes()
    result = run_embed(path, "--check")
    assert result.return_value == 1
    assert result.stdout.splitlines() == [f"{path}:3: {tmp_path}/a.svg is missing", f"{path}:3: the reference is out of date"]
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    run_embed(path)
    (tmp_path / "a.svg").write_text("another")
    assert run_embed(path, "--check").stdout == f"{path}:3: {tmp_path}/a.svg is out of date\n"


LEFT_ALONE = {
    "markdown": [
        "````\n```cute-viz\n(4)\n```\n````\n",
        "~~~\n<!-- cute-viz: (4) -->\n<!-- /cute-viz -->\n~~~\n",
        "text\n\n    <!-- cute-viz: (4) -->\n    <!-- /cute-viz -->\n",
        "text\n\n    ```cute-viz\n    (4)\n    ```\n",
        "in a line: `<!-- cute-viz: (4) -->`\n",
        "```{cute-viz}\n(4)\n```\n",
        "```cute-vizard\n(4)\n```\n",
        "<!-- cute-vizard: (4) -->\n",
        "<!--\n```cute-viz\n(4)\n```\n-->\n",
        "> ```\n> <!-- cute-viz: (4) -->\n> ```\n",
        "```` cute-viz: inline ````\n",
    ],
    "rest": [
        "::\n\n  .. cute-viz: (4)\n\n  .. /cute-viz\n",
        "text::\n\n  .. cute-viz: (4)\n",
        ".. code-block:: rst\n\n   .. cute-viz: (4)\n",
        ".. cute-viz:: (4)\n   :tile: 2x2\n",
    ],
    "latex": ["\\begin{verbatim}\n% cute-viz: (4)\n\\end{verbatim}\n", "\\begin{lstlisting}\n% cute-viz: (4)\n", "% cute-vizard\n"],
    "html": ["<script>\n<!-- cute-viz: (4) -->\n</script>\n", "<!-- cute-vizard -->", "<p>text</p>"],
}


@pytest.mark.parametrize(("language", "text"), [(language, text) for language, texts in LEFT_ALONE.items() for text in texts])
def test_what_is_shown_as_code_is_left_alone(language: str, text: str) -> None:
    done = embed(text, language, "x")
    assert done.text == text
    assert not done.pictures


LIVE = {
    "markdown": [
        "- item\n\n    ```cute-viz\n    (4)\n    ```\n",
        "> ```cute-viz\n> (4)\n> ```\n",
        "- ```cute-viz\n  (4)\n  ```\n",
        "   <!-- cute-viz: (4) -->\n   <!-- /cute-viz -->",
        "> <!-- cute-viz: (4) -->\n> <!-- /cute-viz -->\n",
        "```\ncode\n```\n<!--cute-viz: (4)-->\n<!--/cute-viz-->\n",
        "<!-- one --> text\n```cute-viz\n(4)\n```\n",
    ],
    "rest": [".. note::\n\n   .. cute-viz: (4)\n\n   .. /cute-viz\n", "text::\n\n  code\n\n.. cute-viz: (4)\n.. /cute-viz\n"],
    "latex": ["\\begin{figure}\n  % cute-viz: (4)\n  % /cute-viz\n\\end{figure}\n"],
    "html": ["<p><!-- cute-viz: (4) --><!-- /cute-viz --></p>", "<div>\n  <!-- cute-viz: (4) -->\n  <!-- /cute-viz -->\n</div>"],
}


@pytest.mark.parametrize(("language", "text"), [(language, text) for language, texts in LIVE.items() for text in texts])
def test_what_is_no_code_is_drawn_once(language: str, text: str) -> None:
    done = embed(text, language, "x")
    assert len(done.pictures) == 1
    assert not done.failures
    again = embed(done.text, language, "x")
    assert again.text == done.text
    assert again.changed == []
    prefix = re.match(r"[ >]*", text.split("\n")[-1 if language == "html" else 0])
    assert prefix is not None
    lines = [line for line in done.text.splitlines() if "x-" in line]
    assert len(lines) == 1


LINES = st.sampled_from(
    [
        "text",
        "",
        "  indented",
        "```",
        "> quote",
        "- item",
        "::",
        "\\begin{verbatim}",
        "<p>&amp;</p>",
        "\x0c",
        "é\u2028x",
        "<!-- c -->",
        "\t",
    ]
)


@given(st.lists(LINES, max_size=8), st.lists(LINES, max_size=8), st.sampled_from(["\n", "\r\n"]), st.sampled_from(sorted(PAIRS)))
def test_every_other_byte_stays(before: list[str], after: list[str], newline: str, language: str) -> None:
    opening, closing = PAIRS[language]
    text = newline.join([*before, opening.strip().replace("EXPR", "(4,8):(8,1) | alt=A name=a"), closing.strip(), *after])
    done = embed(text, language, "x", format="tikz" if language == "latex" else None)
    if not done.pictures:  # the block stands in what is shown as code
        assert done.text == text
        return
    shown = reference(
        language, f"a.{next(iter(done.pictures)).rpartition('.')[2]}", "A", "tikz" if "a.tex" in done.pictures else "svg"
    )
    changed = [*before, opening.strip().replace("EXPR", "(4,8):(8,1) | alt=A name=a"), *shown, closing.strip(), *after]
    assert unmarked(done.text) == newline.join(changed)


def test_byte_order_mark_and_line_ends_stay(tmp_path: Path) -> None:
    path = tmp_path / "doc.md"
    path.write_bytes("\ufeff<!-- cute-viz: (4,8) | name=a alt=A -->\r\n![B](b.svg)\n<!-- /cute-viz -->\r\nno newline".encode())
    assert run_embed(path).return_value == 0
    plain = unmarked(path.read_bytes().decode())
    assert plain == "\ufeff<!-- cute-viz: (4,8) | name=a alt=A -->\r\n![A](a.svg)\r\n<!-- /cute-viz -->\r\nno newline"


def test_what_is_no_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "doc.md"
    path.write_bytes(b"\xff\xfe")
    result = run_embed(path)
    assert result.return_value == 1
    assert f"error: {path}: this is not UTF-8" in result.stderr
    assert path.read_bytes() == b"\xff\xfe"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("\n<!-- cute-viz: (4,8):(8 -->\n<!-- /cute-viz -->", "doc:2:22", "'(' is never closed"),
        ("> ```cute-viz\n> a = (4,8)\n> composition(a, (3\n> ```\n", "doc:3:18", "'(' is never closed"),
        ("```cute-viz tile=9\n(4,8)\n```", "doc:1:4", "is not a tile"),
        ("```cute-viz tille=9\n(4,8)\n```", "doc:1:4", "there is no option 'tille'"),
        ("```cute-viz colour-by=row\n(4,8)\n```", "doc:1:4", "did you mean color-by?"),
        ("```cute-viz alt\n(4,8)\n```", "doc:1:4", "the option alt needs a value"),
        ("```cute-viz title='\n(4,8)\n```", "doc:1:4", "cannot be read"),
        ("```cute-viz\n\n```", "doc:1:4", "nothing to draw"),
        ("```cute-viz\n(4)", "doc:1:1", "never closed"),
        ("a\n<!-- cute-viz: (4) -->\n", "doc:2:1", "never closed"),
        ("a\n<!-- cute-viz: (4) -->\n<!-- cute-viz: (4) -->\n<!-- /cute-viz -->", "doc:2:1", "never closed"),
        ("a\n <!-- /cute-viz -->\n", "doc:2:2", "closing comment without an opening one"),
        ("<!-- cute-viz -->\n<!-- /cute-viz -->", "doc:1:1", "nothing to draw"),
        ("<!-- cute-viz: (4)\n-->\n", "doc:1:1", "does not end on its line"),
        ("<!-- cute-viz: (4) | name=../x -->\n<!-- /cute-viz -->", "doc:1:1", "cannot be the name of a file"),
        ("<!-- cute-viz: (4) | formats=gif -->\n<!-- /cute-viz -->", "doc:1:1", "cannot show 'gif'"),
        ("<!-- cute-viz: (4) | formats=svg,gif -->\n<!-- /cute-viz -->", "doc:1:1", "there is no format 'gif'"),
        ("<!-- cute-viz: no_such_spec -->\n<!-- /cute-viz -->", "doc:1:16", "no_such_spec"),
    ],
)
def test_errors_have_their_place(text: str, place: str, words: str) -> None:
    said = fails(text)
    assert said.startswith(f"{place}: "), said
    assert words in said


def test_one_failing_block_is_told_beside_the_others_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "doc.md"
    path.write_text("```cute-viz\n(4,\n```\n\n```cute-viz\n(4)\n```\n\n```cute-viz\n(4):(\n```\n")
    before = path.read_bytes()
    result = run_embed(path)
    assert result.return_value == 1
    assert [line.split(": ")[1] for line in result.stderr.splitlines() if line.startswith("error")] == [
        f"{path}:2:1",
        f"{path}:10:5",
    ]
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_two_pictures_of_one_name(tmp_path: Path) -> None:
    pair = "<!-- cute-viz: %s | name=a -->\n<!-- /cute-viz -->\n"
    assert "doc:3:1: a.svg is another picture at line 1" in fails(pair % "(4)" + pair % "(8)")
    assert not embed(pair % "(4)" + pair % "(4)", "markdown", "x").failures


def test_two_documents_with_one_name(tmp_path: Path) -> None:
    for name, text in (("a.md", "(4)"), ("b.md", "(8)"), ("c.md", "(4)")):
        (tmp_path / name).write_text(f"<!-- cute-viz: {text} | name=same -->\n<!-- /cute-viz -->\n")
    result = run_embed(*(tmp_path / name for name in ("a.md", "b.md", "c.md")))
    assert result.return_value == 1
    assert f"{tmp_path}/b.md:1: same.svg is another picture in {tmp_path}/a.md" in result.stderr
    assert (tmp_path / "same.svg").read_bytes() == run("render", "(4)", "-T", "svg").stdout
    assert run_embed(tmp_path / "a.md", tmp_path / "c.md", "--check").return_value == 0


def test_names_that_differ_in_case_alone_are_one(tmp_path: Path) -> None:
    pair = "<!-- cute-viz: (4,{}) | name={} -->\n<!-- /cute-viz -->\n"
    done = embed(pair.format(8, "Tile") + pair.format(2, "tile"), "markdown", "x")
    assert [failure.message for failure in done.failures] == ["tile.svg is another picture at line 1"]
    (tmp_path / "a.md").write_text(pair.format(8, "Tile"))
    (tmp_path / "b.md").write_text(pair.format(2, "tile"))
    assert "tile.svg is another picture in" in run_embed(tmp_path / "a.md", tmp_path / "b.md").stderr


def test_names_that_are_no_utf_8(tmp_path: Path) -> None:
    pair = "<!-- cute-viz: (4,8){} -->\n<!-- /cute-viz -->\n"
    path = tmp_path / "caf\udce9.md"
    path.write_text(pair.format(""))
    assert "cannot be used in a markdown document" in run_embed(path).stderr
    assert "cannot be used in a markdown document" in run_embed(path, "--folder", "f\udce9").stderr
    path.write_text(pair.format(" | name=grid"))
    assert run_embed(path).return_value == 0
    assert {one.name for one in tmp_path.iterdir()} == {path.name, "grid.svg"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("html", "<!-- cute-viz: " * 60_000),
        ("html", "<script>" * 100_000),
        ("html", "<!-- x -->" * 90_000),
        ("html", " " * 900_000 + "<!-- x -->"),
        ("markdown", "    <!--x-->\n" * 70_000),
        ("markdown", "- a\n" * 200_000),
        ("markdown", "> " * 400_000),
        ("markdown", "- " * 400_000),
        ("markdown", "```\n" * 200_000),
        ("markdown", "<!--" + " " * 900_000 + "-->"),
        ("rest", ".. cute-viz" + " " * 900_000 + "x"),
        ("rest", "::\n\n" * 200_000),
        ("latex", "%" * 900_000),
        ("latex", "\\begin{verbatim}\n" * 50_000),
    ],
)
def test_a_long_document_without_pictures(language: str, text: str) -> None:
    """One pass is enough; a second look at every mark would take hours."""
    assert blocks(text, language) == []


def test_many_references_to_one_picture() -> None:
    pair = "<!-- cute-viz: (4,4) | name=grid --><!-- /cute-viz -->\n"
    done = embed(pair * 2000, "html", "x")
    assert (list(done.pictures), len(done.changed), done.text.count("<img")) == (["grid.svg"], 2000, 2000)


def test_a_document_in_which_nothing_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("within a line <!-- cute-viz: (4,8) --> <!-- /cute-viz -->\n")
    result = run_embed(tmp_path / "a.md")
    assert "note: " in result.stderr
    assert "a line of its own" in result.stderr


def test_several_formats_are_written_and_the_first_is_shown(tmp_path: Path) -> None:
    document = tmp_path / "d.md"
    for layout in ("(2,2):(2,1)", "(2,2)"):
        pair = f"<!-- cute-viz: {layout} | name=p formats=svg,json -->"
        lines = document.read_text().splitlines()[1:] if document.exists() else ["<!-- /cute-viz -->"]
        document.write_text("\n".join([pair, *lines, ""]))
        assert run_embed(document).return_value == 0
        assert document.read_text().splitlines()[1].endswith("(p.svg)")
        assert {path.name for path in tmp_path.iterdir()} == {"d.md", "p.svg", "p.json"}
    assert "(2,2)" in (tmp_path / "p.json").read_text()
    (tmp_path / "p.json").write_text("mine")
    assert "p.json is not as embed wrote it" in run_embed(document).stderr


def test_a_file_that_the_document_does_not_show_is_somebody_elses(tmp_path: Path) -> None:
    document, picture = tmp_path / "d.md", tmp_path / "p.svg"
    document.write_text("<!-- cute-viz: (2,2) | name=p -->\n<!-- /cute-viz -->\n")
    picture.write_text("mine")
    assert "p.svg is not as embed wrote it" in run_embed(document).stderr
    assert picture.read_text() == "mine"
    document.write_text("![mine](p.svg)\n" + document.read_text())  # shown is not written
    assert "p.svg is not as embed wrote it" in run_embed(document).stderr
    picture.unlink()
    picture.symlink_to(tmp_path / "elsewhere")
    assert "p.svg is not as embed wrote it" in run_embed(document).stderr
    picture.unlink()
    (tmp_path / "x").touch()
    assert f"{tmp_path}/x is not a folder" in run_embed(document, "--folder", "x").stderr


def test_only_what_embed_wrote_is_overwritten(tmp_path: Path) -> None:
    """A picture that somebody has retouched, an alt text, prose where the reference was; and nothing is lost on the way."""
    document, picture = tmp_path / "d.md", tmp_path / "p.svg"
    document.write_text("<!-- cute-viz: (2,2) | name=p -->\n<!-- /cute-viz -->\n")
    assert run_embed(document).return_value == 0
    first, text = picture.read_bytes(), document.read_text()
    newer = text.replace("cute-viz: (2,2)", "cute-viz: (2,4)")
    for change in ("retouched", "prose", "alt", "mark"):
        document.write_text(newer)
        picture.write_bytes(first)
        if change == "retouched":
            picture.write_bytes(first.replace(b"</svg>", b"<g/></svg>"))
        elif change == "prose":
            document.write_text(newer.replace("p.svg)\n", "p.svg)\nNote: mine.\n"))
        elif change == "alt":
            document.write_text(newer.replace("![", "![mine: "))
        else:
            document.write_text(re.sub("/cute-viz: [0-9a-f]{4}", "/cute-viz: 0000", newer))
        before = document.read_bytes(), picture.read_bytes()
        result = run_embed(document)
        assert result.return_value == 1, change
        assert "not as embed wrote it" in result.stderr
        assert "--force" in result.stderr
        assert (document.read_bytes(), picture.read_bytes()) == before, change
        assert run_embed(document, "--force").return_value == 0
        assert picture.read_bytes() != first
        assert "mine" not in document.read_text()
    document.write_text(newer)  # as it was written before: no force is needed
    picture.write_bytes(first)
    assert run_embed(document).return_value == 0
    assert run_embed(document, "--check").return_value == 0
    document.write_text("| " + document.read_text().replace("\n", "\r\n> "))  # and other ends of lines are no change of words
    assert not embed(document.read_text().replace("| <", "> <"), "markdown", "d").failures


def test_usage(tmp_path: Path) -> None:
    (tmp_path / "doc.docx").touch()
    assert "unknown document suffix" in run_embed(tmp_path / "doc.docx").stderr
    (tmp_path / "doc.md").touch()
    result = run("embed", str(tmp_path / "doc.md"), "--folder", "/tmp")
    assert result.returncode == 2
    assert "--folder must be relative to the document" in result.stderr.decode()


HOSTILE = "a [b](c) *d* `e` <f> \"g\" & 'h' $i$ \\ # % _ ^ ~ {j}\nk"


def test_an_alt_text_is_text() -> None:
    from docutils.core import publish_doctree
    from docutils.nodes import image
    from markdown_it import MarkdownIt

    flat = " ".join(HOSTILE.split())
    (html,) = reference("html", "a b.svg", HOSTILE)
    seen: dict[str, str | None] = {}

    class Parser(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            seen.update(attrs)

    Parser().feed(html)
    assert seen == {"src": "a%20b.svg", "alt": flat}
    (markdown,) = reference("markdown", "a b.svg", HOSTILE)
    seen.clear()
    Parser().feed(MarkdownIt().renderInline(markdown))
    drops = "[" not in MarkdownIt().renderInline(r"![\[](x)")  # before 4.1 it lost escaped characters in an alt text
    assert seen == {"src": "a%20b.svg", "alt": seen["alt"] if drops else flat}
    rest = publish_doctree("\n".join(reference("rest", "a b.svg", HOSTILE)))
    (node,) = rest.findall(image)
    assert (node["uri"], node["alt"]) == ("a b.svg", flat)
    assert (
        r"\$i\$ \textbackslash{} \# \% \_ \textasciicircum{} \textasciitilde{} \{j\}"
        in reference("latex", "a.png", HOSTILE, "png")[0]
    )


@pytest.mark.parametrize(
    ("language", "stem", "folder"),
    [
        ("latex", r"a}\input{evil}{", ""),
        ("latex", "100%", ""),
        ("latex", "a", "b#c"),
        ("rest", "n\nl", ""),
        ("rest", "a\\b", ""),
        ("markdown", "a\x1b[2Jb", ""),
        ("html", "\u202egvs", ""),
    ],
)
def test_no_path_breaks_out(language: str, stem: str, folder: str) -> None:
    """The names of documents and folders are anybody's words, too."""
    begin, end = {"latex": ("% ", ""), "rest": (".. ", ""), "markdown": ("<!-- ", " -->"), "html": ("<!-- ", " -->")}[language]
    text = f"{begin}cute-viz: (2,2){end}\n{begin}/cute-viz{end}\n"
    (failure,) = embed(text, language, stem, folder).failures
    assert f"cannot be used in a {language} document" in failure.message
    assert not embed(text.replace("(2,2)", "(2,2) | name=x"), language, stem).failures


@pytest.mark.slow
@given(st.text(max_size=60), st.sampled_from(sorted(set(LANGUAGES.values()))))
def test_any_text_is_a_document(text: str, language: str) -> None:
    assert embed(text, language, "x").text == text or blocks(text, language)


def test_the_projects_own_documents() -> None:
    result = run_embed(ROOT / "README.md", ROOT / "CONTRIBUTING.md", "--folder", "gallery", "--check")
    assert result.return_value == 0, result.output


@pytest.mark.parametrize(
    ("language", "wanted"),
    [
        ("markdown", "[![A](x.svg)](<https://example.org/live/#source=(4,8):(8,1)&view=grid>)\n"),
        ("html", '<a href="https://example.org/live/#source=(4,8):(8,1)&amp;view=grid"><img src="x.svg" alt="A"></a>\n'),
        ("rest", "   :target: https://example.org/live/#source=(4,8):(8,1)&view=grid\n"),
        ("latex", "{x.pdf}}}\n"),
    ],
)
def test_pictures_link_to_the_live_page(language: str, wanted: str) -> None:
    begin, end = {"latex": ("% ", ""), "rest": (".. ", ""), "markdown": ("<!-- ", " -->"), "html": ("<!-- ", " -->")}[language]
    text = f"{begin}cute-viz: (4,8):(8,1) | view=grid name=x alt=A{end}\n{begin}/cute-viz{end}\n"
    done = embed(text, language, "x", page="https://example.org/live/")
    assert wanted in done.text
    assert embed(done.text, language, "x", page="https://example.org/live/").text == done.text


def test_for_is_the_word_of_a_place_and_beside_a_second_source() -> None:
    def pictures(options: str) -> list[bytes]:
        done = embed(f"<!-- cute-viz: (8,8):(8,1) | {options} -->\n<!-- /cute-viz -->\n", "markdown", "x")
        assert not done.failures
        return list(done.pictures.values())

    assert pictures("for=column") == pictures("target=column") != pictures("view=grid")
    (both,) = pictures("beside=(8,8):(1,8) diff view=grid")
    assert both == run("render", "(8,8):(8,1)", "(8,8):(1,8)", "--diff", "--view", "grid", "-T", "svg").stdout
    assert "beside needs a value" in fails("<!-- cute-viz: (8,8) | beside -->\n<!-- /cute-viz -->\n")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("format", ["pdf", "tikz"])
def test_pictures_in_an_article_keep_their_size_or_shrink(format: str, tmp_path: Path) -> None:
    """One as high as a column's float, one in a paragraph with its indent, and one wider than the text."""
    words = ("SM75_U32x4_LDSM_N | for=column", "(4,8):(8,1) | for=column", "(8,32):(32,1) | labels=full")
    blocks = [f"% cute-viz: {word} name=p{n}\n% /cute-viz\n\n" for n, word in enumerate(words)]
    blocks[0] = f"\\begin{{figure}}\\centering\n{blocks[0]}\\caption{{ldmatrix}}\\end{{figure}}\n"
    text = "\\documentclass{article}\\usepackage{tikz}\\begin{document}\n" + "".join(blocks) + "\\end{document}\n"
    done = embed(text, "latex", "x", format=format)
    for name, data in done.pictures.items():
        (tmp_path / name).write_bytes(data)
    measured = re.sub(r"(?m)^\\noindent.*$", r"\g<0>\\setbox0\\hbox{\g<0>}\\typeout{wide \\the\\wd0}", done.text)
    compile_tex(measured.encode(), tmp_path)
    log = (tmp_path / "x.log").read_text(errors="replace")
    assert "Overfull" not in log
    assert "Float too large" not in log
    high, small, wide = map(float, re.findall(r"(?m)^wide ([\d.]+)pt", log))
    assert abs(small - 238.9) < 1  # 318 px, as drawn
    assert high < small
    assert abs(wide - 345) < 0.1
